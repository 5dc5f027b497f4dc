/* layout_algebra.c - layouts made of layouts. The method is that of descriptors (desc.c): each
 * operation works on digits; where a result must keep coordinates, digits that a normal form merged
 * are split again at their borders. */
#include "ir/layout.h"

/* Words for a refusal. */
static bool refuse(const char **why, const char *text) {
  *why = text;
  return false;
}

static bool too_many(const char **why) {
  return refuse(why, "the result has too many digits");
}

/* d with coordinates of these extents, digits split at their borders; false where a border cuts a
 * digit that has no such parts. */
static bool fit(const TdDesc *d, const int64_t *extent, int rank, TdLayout *out) {
  TdDesc x = td_desc_normal(d);
  int end[TD_LAYOUT_RANK + 1], k = x.n;
  bool fits = rank <= TD_LAYOUT_RANK;
  for (int r = rank; fits && r-- > 0;) {
    int64_t left = extent[r];
    while (fits && left > 1 && k > 0) {
      int64_t n = x.at[k - 1].n;
      if (n && left % n == 0) {
        left /= n;
        k--;
      } else {
        fits = n && n % left == 0 && td_desc_split(&x, k - 1, left);
        left = 1;
      }
    }
    fits = fits && left == 1;
    end[r] = x.n - k;
  }
  if (!fits || k != 0) return false;
  *out = (TdLayout){.at = x, .rank = rank};
  for (int r = 0; r < rank; r++) out->first[r] = x.n - end[r];
  out->first[rank] = x.n;
  return true;
}

/* The same; where it does not fit, each digit is a coordinate. */
static bool group(const TdDesc *d, const int64_t *extent, int rank, TdLayout *out) {
  TdDesc x = td_desc_normal(d);
  return fit(d, extent, rank, out) || td_layout_of_desc(&x, out);
}

/* The same, with the axes of `like`. */
static bool group_on(const TdDesc *d, const int64_t *extent, int rank, const TdLayout *like,
                     TdLayout *out, const char **why) {
  if (!group(d, extent, rank, out)) return too_many(why);
  out->naxis = like->naxis;
  for (int k = 0; k < like->naxis; k++) out->axis[k] = like->axis[k];
  return true;
}

bool td_layout_normal(TdArena *a, const TdLayout *l, TdLayout *out, const char **why) {
  (void)a;
  TdDesc d = td_desc_normal(&l->at);
  TdLayout flat;
  if (!td_layout_of_desc(&d, &flat)) return too_many(why);
  *out = *l;
  out->at = flat.at;
  out->rank = flat.rank;
  for (int k = 0; k <= flat.rank; k++) out->first[k] = k;
  return true;
}

/* The digit that keeps d from reaching [0, N) once, as words. */
static const char *inverse_blame(TdArena *a, const TdDesc *d) {
  TdDesc x = td_desc_normal(d);
  int64_t s = 1;
  bool used[TD_DESC_DIGITS] = {false};
  for (int i = 0; i < x.n; i++) {
    int k = 0, near = -1;
    for (; k < x.n; k++) {
      int64_t step = x.at[k].s < 0 ? -x.at[k].s : x.at[k].s;
      if (used[k]) continue;
      if (step == s) break;
      if (near < 0 || x.at[k].s < x.at[near].s) near = k;
    }
    if (k == x.n)
      return td_text_fmt(
          a, "digit (%lld, %lld) steps by %lld where the digits inside it end at %lld",
          (long long)x.at[near].n, (long long)x.at[near].s, (long long)x.at[near].s, (long long)s);
    used[k] = true;
    s *= x.at[k].n;
  }
  return td_text_fmt(a, "its places begin at %lld, not at 0", (long long)x.offset);
}

bool td_layout_inverse(TdArena *a, const TdLayout *l, TdLayout *out, const char **why) {
  TdDesc back;
  int64_t extent[TD_LAYOUT_AXES] = {td_layout_count(l)};
  if (!td_desc_inverse(&l->at, &back))
    return refuse(why, td_text_fmt(a, "it has no inverse: %s", inverse_blame(a, &l->at)));
  for (int k = 0; k < l->naxis; k++) extent[k] = l->axis[k].n;
  return group(&back, extent, l->naxis ? l->naxis : 1, out) || too_many(why);
}

/* Why l after m is no layout. */
static const char *compose_blame(TdArena *a, const TdLayout *l, const TdLayout *m, TdDescCarry c) {
  TdDesc y = td_desc_normal(&m->at);
  int64_t lo, hi, n = td_layout_count(l);
  td_layout_range(m, &lo, &hi);
  if (lo < 0 || hi >= n)
    return td_text_fmt(a, "the inner layout reaches places %lld to %lld, and the outer has %lld",
                       (long long)lo, (long long)hi, (long long)n);
  if (c.inner < 0 || c.inner >= y.n) return "the result is no list of digits";
  TdText t = td_text_new(a);
  td_text_putf(&t, "digit (%lld, %lld) of the inner layout carries", (long long)y.at[c.inner].n,
               (long long)y.at[c.inner].s);
  if (c.outer >= 0)
    td_text_putf(&t, " out of digit (%lld, %lld) of the outer", (long long)l->at.at[c.outer].n,
                 (long long)l->at.at[c.outer].s);
  td_text_puts(&t, ", so the result is no list of digits");
  return td_text_str(&t);
}

bool td_layout_compose(TdArena *a, const TdLayout *l, const TdLayout *m, TdLayout *out,
                       const char **why) {
  TdDescCarry carry = {-1, -1};
  TdDesc d;
  int64_t extent[TD_LAYOUT_RANK];
  if (!td_desc_compose(&l->at, &m->at, &d, &carry))
    return refuse(why, compose_blame(a, l, m, carry));
  for (int r = 0; r < m->rank; r++) extent[r] = td_layout_extent(m, r);
  return group_on(&d, extent, m->rank, l, out, why);
}

/* Adds coordinate r of l to out. */
static bool put_coordinate(TdLayout *out, const TdLayout *l, int r) {
  if (out->rank == TD_LAYOUT_RANK) return false;
  for (int k = l->first[r]; k < l->first[r + 1]; k++) {
    if (out->at.n == TD_DESC_DIGITS) return false;
    out->at.at[out->at.n++] = l->at.at[k];
  }
  out->first[++out->rank] = out->at.n;
  return true;
}

/* l without coordinates. */
static TdLayout emptied(const TdLayout *l) {
  TdLayout x = *l;
  x.at.n = x.rank = x.first[0] = 0;
  return x;
}

bool td_layout_permute(TdArena *a, const TdLayout *l, const int64_t *order, int n, TdLayout *out,
                       const char **why) {
  bool seen[TD_LAYOUT_RANK] = {false};
  *out = emptied(l);
  if (n != l->rank)
    return refuse(why, td_text_fmt(a, "%d coordinates are given, and it has %d", n, l->rank));
  for (int k = 0; k < n; k++) {
    if (order[k] < 0 || order[k] >= n || seen[order[k]])
      return refuse(why, td_text_fmt(a, "coordinates are 0 to %d, each once, and %lld is not",
                                     n - 1, (long long)order[k]));
    seen[order[k]] = true;
    put_coordinate(out, l, (int)order[k]);
  }
  return true;
}

/* Coordinate r of l from lo on, n values, as digits; false where lo .. cuts digits apart. */
static bool cut_coordinate(const TdLayout *l, int r, int64_t lo, int64_t n, TdDesc *out) {
  TdDesc whole = {.n = l->first[r + 1] - l->first[r]}, part = {lo, 1, {{n, 1}}};
  TdDescCarry carry;
  for (int k = 0; k < whole.n; k++) whole.at[k] = l->at.at[l->first[r] + k];
  return td_desc_compose(&whole, &part, out, &carry);
}

bool td_layout_slice(TdArena *a, const TdLayout *l, const int64_t *lo, const int64_t *hi,
                     const bool *kept, TdLayout *out, const char **why) {
  *out = emptied(l);
  for (int r = 0; r < l->rank; r++) {
    int64_t extent = td_layout_extent(l, r);
    TdDesc d;
    if (lo[r] < 0 || hi[r] >= extent || lo[r] > hi[r])
      return refuse(why, td_text_fmt(a,
                                     "coordinate %d goes from 0 to %lld, and %lld to %lld are "
                                     "asked for",
                                     r, (long long)extent - 1, (long long)lo[r], (long long)hi[r]));
    if (lo[r] == 0 && hi[r] == extent - 1 && kept[r]) {
      if (!put_coordinate(out, l, r)) return too_many(why);
      continue;
    }
    if (!cut_coordinate(l, r, lo[r], hi[r] - lo[r] + 1, &d))
      return refuse(why, td_text_fmt(a, "%lld to %lld of coordinate %d are no list of digits",
                                     (long long)lo[r], (long long)hi[r], r));
    out->at.offset += d.offset;
    if (!kept[r]) continue;
    if (out->at.n + d.n > TD_DESC_DIGITS) return too_many(why);
    for (int k = 0; k < d.n; k++) out->at.at[out->at.n++] = d.at[k];
    out->first[++out->rank] = out->at.n;
  }
  return true;
}

bool td_layout_tile(TdArena *a, const TdLayout *l, const int64_t *size, TdLayout *out,
                    const char **why) {
  TdLayout inner = emptied(l);
  *out = emptied(l);
  for (int r = 0; r < l->rank; r++) {
    int64_t extent = td_layout_extent(l, r), parts[2] = {0, size[r]};
    TdDesc whole = {.n = l->first[r + 1] - l->first[r]};
    TdLayout two;
    if (size[r] < 1 || extent % size[r])
      return refuse(why, td_text_fmt(a,
                                     "coordinate %d has %lld values, which tiles of %lld do not "
                                     "divide",
                                     r, (long long)extent, (long long)size[r]));
    parts[0] = extent / size[r];
    for (int k = 0; k < whole.n; k++) whole.at[k] = l->at.at[l->first[r] + k];
    if (!fit(&whole, parts, 2, &two))
      return refuse(
          why, td_text_fmt(a, "tiles of %lld cut a digit of coordinate %d", (long long)size[r], r));
    if (!put_coordinate(out, &two, 0) || !put_coordinate(&inner, &two, 1)) return too_many(why);
  }
  for (int r = 0; r < inner.rank; r++)
    if (!put_coordinate(out, &inner, r)) return too_many(why);
  return true;
}

/* Moves the digit of the least stride among digits k .. n - 1 to k. */
static void least_first(TdDesc *d, int k) {
  for (int i = k + 1; i < d->n; i++)
    if (d->at[i].s < d->at[k].s) {
      TdDigit x = d->at[i];
      d->at[i] = d->at[k];
      d->at[k] = x;
    }
}

/* Adds the digit of the complement between places `from`, which are full, and `to`. */
static bool fill_gap(TdDesc *inside_out, int64_t from, int64_t to) {
  if (to % from || inside_out->n == TD_DESC_DIGITS) return false;
  if (to != from) inside_out->at[inside_out->n++] = (TdDigit){to / from, from};
  return true;
}

/* d's digits turned round. */
static TdDesc reversed(const TdDesc *d) {
  TdDesc r = {.n = d->n};
  for (int k = 0; k < d->n; k++) r.at[k] = d->at[d->n - 1 - k];
  return td_desc_normal(&r);
}

bool td_layout_complement(TdArena *a, const TdLayout *l, int64_t n, TdLayout *out,
                          const char **why) {
  TdDesc x = td_desc_normal(&l->at), inside_out = {0};
  int64_t full = 1;
  for (int k = 0; k < x.n; k++) {
    least_first(&x, k);
    TdDigit g = x.at[k];
    if (g.s == 0) continue;
    if (g.s < full || !fill_gap(&inside_out, full, g.s))
      return refuse(why, td_text_fmt(a,
                                     "digit (%lld, %lld) does not fit on the %lld places inside "
                                     "it, so it has no complement",
                                     (long long)g.n, (long long)g.s, (long long)full));
    full = g.n * g.s;
  }
  if (n > full && inside_out.n < TD_DESC_DIGITS)
    inside_out.at[inside_out.n++] = (TdDigit){(n + full - 1) / full, full};
  TdDesc d = reversed(&inside_out);
  return td_layout_of_desc(&d, out) || too_many(why);
}

/* A layout of two coordinates: all digits of x, then those of y. */
static bool pair(const TdLayout *x, const TdLayout *y, TdLayout *out) {
  if (x->at.n + y->at.n > TD_DESC_DIGITS) return false;
  *out = (TdLayout){.at = x->at, .rank = 2, .first = {0, x->at.n, x->at.n + y->at.n}};
  for (int k = 0; k < y->at.n; k++) out->at.at[out->at.n++] = y->at.at[k];
  return true;
}

bool td_layout_divide(TdArena *a, const TdLayout *l, const TdLayout *m, TdLayout *out,
                      const char **why) {
  TdLayout rest, both;
  if (!td_layout_complement(a, m, td_layout_count(l), &rest, why)) return false;
  if (!pair(&rest, m, &both)) return too_many(why);
  both.at.offset = m->at.offset;
  return td_layout_compose(a, l, &both, out, why);
}

bool td_layout_product(TdArena *a, const TdLayout *l, const TdLayout *m, TdLayout *out,
                       const char **why) {
  TdLayout rest, copies;
  int64_t lo, hi, n = td_layout_count(l);
  td_layout_range(m, &lo, &hi);
  if (lo < 0 || hi >= (INT64_C(1) << 56) / (n ? n : 1))
    return refuse(why, td_text_fmt(a, "the copies would go to places %lld to %lld times %lld",
                                   (long long)lo, (long long)hi, (long long)n));
  if (!td_layout_complement(a, l, n * (hi + 1), &rest, why)) return false;
  if (!td_layout_compose(a, &rest, m, &copies, why)) return false;
  if (!pair(&copies, l, out)) return too_many(why);
  out->at.offset = l->at.offset + copies.at.offset;
  return true;
}

bool td_layout_compose_each(TdArena *a, const TdLayout *l, const TdLayout *const *m, int n,
                            TdLayout *out, const char **why) {
  *out = emptied(l);
  if (n != l->rank)
    return refuse(why,
                  td_text_fmt(a, "%d layouts are given, and it has %d coordinates", n, l->rank));
  for (int r = 0; r < n; r++) {
    TdLayout one = {.rank = 1, .first = {0, l->first[r + 1] - l->first[r]}}, made;
    one.at.n = one.first[1];
    for (int k = 0; k < one.at.n; k++) one.at.at[k] = l->at.at[l->first[r] + k];
    if (!td_layout_compose(a, &one, m[r], &made, why)) return false;
    out->at.offset += made.at.offset;
    if (out->rank == TD_LAYOUT_RANK || out->at.n + made.at.n > TD_DESC_DIGITS) return too_many(why);
    for (int k = 0; k < made.at.n; k++) out->at.at[out->at.n++] = made.at.at[k];
    out->first[++out->rank] = out->at.n;
  }
  return true;
}
