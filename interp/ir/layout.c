/* layout.c - descriptors with coordinates and axes: made of tensors, measured, compared, shown. */
#include "ir/layout.h"

#include <stdio.h>
#include <string.h>

bool td_layout_of_desc(const TdDesc *d, TdLayout *out) {
  if (d->n > TD_LAYOUT_RANK) return false;
  *out = (TdLayout){.at = *d, .rank = d->n};
  for (int k = 0; k <= d->n; k++) out->first[k] = k;
  return true;
}

int64_t td_layout_extent(const TdLayout *l, int r) {
  int64_t n = 1;
  for (int k = l->first[r]; k < l->first[r + 1]; k++) n *= l->at.at[k].n;
  return n;
}

int64_t td_layout_count(const TdLayout *l) {
  int64_t n = 1;
  for (int k = 0; k < l->at.n; k++) n *= l->at.at[k].n;
  return n;
}

int64_t td_layout_on(const TdLayout *l, int64_t place, int k) {
  for (int i = l->naxis; --i > k;) place /= l->axis[i].n;
  return k ? place % l->axis[k].n : place;
}

void td_layout_range(const TdLayout *l, int64_t *least, int64_t *most) {
  *least = *most = l->at.offset;
  for (int k = 0; k < l->at.n; k++)
    *(l->at.at[k].s < 0 ? least : most) += (l->at.at[k].n - 1) * l->at.at[k].s;
}

/* How dimension d of `extent` values is cut: values inside each part, and parts; 1: it is not. */
static bool measure_part(TdArena *a, const TdLayoutPart *p, int d, int64_t extent, int64_t *inside,
                         int64_t *parts, const char **why) {
  *parts = p->how == TD_LIES_WHOLE ? 1 : p->how == TD_LIES_COMPLETE ? extent : p->n;
  if (*parts < 1 || extent % *parts) {
    *why = td_text_fmt(a, "dimension %d has %lld elements, which %lld do not divide", d,
                       (long long)extent, (long long)*parts);
    return false;
  }
  *inside = extent / *parts;
  return true;
}

/* The distance between neighbours on the axis of part d, of those in `part`, where what lies inside
 * takes `inner` places. */
static int64_t axis_stride(const TdLayoutPart *part, const int64_t *parts, int rank, int d,
                           int64_t inner) {
  for (int k = 0; k < rank; k++)
    if (part[k].how != TD_LIES_WHOLE && part[k].place > part[d].place) inner *= parts[k];
  return inner;
}

/* Adds the axes of the parts in order, then the address, then the lane. */
static void name_axes(const TdLayoutPart *part, const int64_t *parts, int rank, int64_t local,
                      int64_t lanes, TdLayout *out) {
  for (int place = 0; place < TD_LAYOUT_AXES - 2; place++)
    for (int d = 0; d < rank; d++) {
      if (part[d].how == TD_LIES_WHOLE || part[d].place != place) continue;
      TdLayoutAxis *x = &out->axis[out->naxis++];
      snprintf(x->name, sizeof x->name, "%s", part[d].axis);
      x->n = parts[d];
    }
  if (!out->naxis && lanes == 1) return;
  out->axis[out->naxis++] = (TdLayoutAxis){"address", local / lanes};
  if (lanes > 1) out->axis[out->naxis++] = (TdLayoutAxis){"lane", lanes};
}

bool td_layout_spread(TdArena *a, const int64_t *extent, int rank, const TdLayoutPart *part,
                      int64_t lanes, TdLayout *out, const char **why) {
  int64_t inside[TD_LAYOUT_RANK] = {0}, parts[TD_LAYOUT_RANK], stride[TD_LAYOUT_RANK], local = 1;
  *out = (TdLayout){.rank = rank};
  for (int d = rank; d-- > 0; local *= inside[d]) {
    if (!measure_part(a, &part[d], d, extent[d], &inside[d], &parts[d], why)) return false;
    stride[d] = local;
  }
  if (rank && inside[rank - 1] % lanes) {
    *why = td_text_fmt(a, "dimension %d has %lld elements, which %lld do not divide", rank - 1,
                       (long long)inside[rank - 1], (long long)lanes);
    return false;
  }
  for (int d = 0; d < rank; d++) {
    TdDigit in = {inside[d], stride[d]};
    TdDigit over = {parts[d], axis_stride(part, parts, rank, d, local)};
    bool outer = part[d].how != TD_LIES_CYCLIC;
    out->first[d] = out->at.n;
    if (parts[d] == 1 && part[d].how == TD_LIES_WHOLE) {
      out->at.at[out->at.n++] = in;
      continue;
    }
    out->at.at[out->at.n++] = outer ? over : in;
    out->at.at[out->at.n++] = outer ? in : over;
  }
  out->first[rank] = out->at.n;
  name_axes(part, parts, rank, local, lanes, out);
  return true;
}

bool td_layout_same(const TdLayout *l, const TdLayout *m) {
  TdDesc x = td_desc_normal(&l->at), y = td_desc_normal(&m->at);
  bool same = x.offset == y.offset && x.n == y.n && l->naxis == m->naxis;
  for (int k = 0; same && k < x.n; k++) same = x.at[k].n == y.at[k].n && x.at[k].s == y.at[k].s;
  for (int k = 0; same && k < l->naxis; k++)
    same = l->axis[k].n == m->axis[k].n && strcmp(l->axis[k].name, m->axis[k].name) == 0;
  return same;
}

TdLayoutAnswer td_layout_overlap(TdArena *a, const TdLayout *l, const TdLayout *m,
                                 TdLayoutMeet *out) {
  int64_t lo[2], hi[2], n = td_layout_count(l), k = td_layout_count(m);
  if (!n || !k) return TD_LAYOUT_NO;
  td_layout_range(l, &lo[0], &hi[0]);
  td_layout_range(m, &lo[1], &hi[1]);
  if (hi[0] < lo[1] || hi[1] < lo[0]) return TD_LAYOUT_NO;
  if (n > TD_LAYOUT_MOST || k > TD_LAYOUT_MOST || hi[1] - lo[1] >= 8 * TD_LAYOUT_MOST)
    return TD_LAYOUT_TOO_LARGE;
  uint8_t *reached = TD_NEWN(a, uint8_t, (size_t)(hi[1] - lo[1]) + 1);
  for (int64_t i = 0; i < k; i++) reached[td_desc_place(&m->at, i) - lo[1]] = 1;
  for (int64_t i = 0; i < n; i++) {
    int64_t p = td_desc_place(&l->at, i), j = 0;
    if (p < lo[1] || p > hi[1] || !reached[p - lo[1]]) continue;
    while (td_desc_place(&m->at, j) != p) j++;
    *out = (TdLayoutMeet){i, j, p};
    return TD_LAYOUT_YES;
  }
  return TD_LAYOUT_NO;
}

/* The bank and the word in it of a place. */
static void reach(const TdLayout *l, int64_t place, int64_t banks, int64_t word, int64_t *bank,
                  int64_t *at) {
  if (banks) {
    *at = place / word - (place % word < 0);
    *bank = (*at % banks + banks) % banks;
    return;
  }
  *bank = *at = 0;
  for (int k = 0; k < l->naxis; k++) {
    int64_t v = td_layout_on(l, place, k);
    if (strncmp(l->axis[k].name, "bank", 4) == 0)
      *bank = *bank * l->axis[k].n + v;
    else if (strcmp(l->axis[k].name, "lane") != 0)
      *at = *at * l->axis[k].n + v;
  }
}

/* One cycle of lanes: how many words of bank[i] the lanes reach, at most; the pair is left in c. */
static int64_t count_ways(int64_t lanes, const int64_t *bank, const int64_t *at, int64_t *pair) {
  int64_t most = 1;
  for (int64_t i = 0; i < lanes; i++) {
    int64_t ways = 1, other = -1;
    for (int64_t j = i + 1; j < lanes; j++) {
      if (bank[j] != bank[i] || at[j] == at[i]) continue;
      int64_t k = i + 1;
      while (k < j && (bank[k] != bank[i] || at[k] != at[j])) k++;
      if (k < j) continue;
      if (other < 0) other = j;
      ways++;
    }
    if (ways <= most) continue;
    most = ways;
    pair[0] = i, pair[1] = other;
  }
  return most;
}

TdLayoutAnswer td_layout_conflict(TdArena *a, const TdLayout *l, int64_t lanes, int64_t banks,
                                  int64_t word, TdLayoutConflict *out) {
  int64_t n = td_layout_count(l);
  *out = (TdLayoutConflict){.ways = 1};
  if (n > TD_LAYOUT_MOST || lanes > 1024) return TD_LAYOUT_TOO_LARGE;
  int64_t *place = TD_NEWN(a, int64_t, lanes), *bank = TD_NEWN(a, int64_t, lanes),
          *at = TD_NEWN(a, int64_t, lanes), pair[2] = {0, 0};
  for (int64_t first = 0, cycle = 0; first < n; first += lanes, cycle++) {
    int64_t here = n - first < lanes ? n - first : lanes;
    td_ctx_tick(td_arena_ctx(a), 1);
    for (int64_t i = 0; i < here; i++) {
      place[i] = td_desc_place(&l->at, first + i);
      reach(l, place[i], banks, word, &bank[i], &at[i]);
    }
    int64_t ways = count_ways(here, bank, at, pair);
    out->cycles += ways > 1;
    if (ways <= out->ways) continue;
    out->ways = ways;
    out->cycle = cycle;
    out->bank = bank[pair[0]];
    for (int k = 0; k < 2; k++) out->lane[k] = pair[k], out->place[k] = place[pair[k]];
  }
  return out->ways > 1 ? TD_LAYOUT_YES : TD_LAYOUT_NO;
}

void td_layout_print(TdText *out, const TdLayout *l) {
  td_text_putc(out, '{');
  for (int r = 0; r < l->rank; r++) {
    int digits = l->first[r + 1] - l->first[r];
    td_text_puts(out, r ? ", " : "");
    if (digits != 1) td_text_putc(out, '{');
    for (int k = l->first[r]; k < l->first[r + 1]; k++)
      td_text_putf(out, "%s{%lld, %lld}", k > l->first[r] ? ", " : "", (long long)l->at.at[k].n,
                   (long long)l->at.at[k].s);
    if (digits != 1) td_text_putc(out, '}');
  }
  if (l->at.offset)
    td_text_putf(out, "%soffset = %lld", l->rank ? ", " : "", (long long)l->at.offset);
  if (l->naxis) td_text_puts(out, l->rank || l->at.offset ? ", place = {" : "place = {");
  for (int k = 0; k < l->naxis; k++)
    td_text_putf(out, "%s{\"%s\", %lld}", k ? ", " : "", l->axis[k].name, (long long)l->axis[k].n);
  td_text_puts(out, l->naxis ? "}}" : "}");
}
