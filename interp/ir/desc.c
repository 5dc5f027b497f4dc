/* desc.c - descriptors: normal form, composition, inverse. */
#include "ir/desc.h"

#define MOST (INT64_C(1) << 62)

/* Places that a composition whose sums carry may enumerate. */
enum { MOST_PLACES = 1 << 12 };

TdDesc td_desc_row_major(const int64_t *extent, int rank) {
  TdDesc d = {.n = rank};
  int64_t s = 1;
  for (int k = rank; k-- > 0; s *= extent[k]) d.at[k] = (TdDigit){extent[k], s};
  return d;
}

bool td_desc_count(const TdDesc *d, int64_t *n) {
  *n = 1;
  for (int k = 0; k < d->n; k++) {
    if (d->at[k].n && *n > MOST / d->at[k].n) return false;
    *n *= d->at[k].n;
  }
  return true;
}

int64_t td_desc_place(const TdDesc *d, int64_t ordinal) {
  int64_t p = d->offset;
  for (int k = d->n; k-- > 0; ordinal /= d->at[k].n) p += ordinal % d->at[k].n * d->at[k].s;
  return p;
}

/* Adds a digit inside all others; false when there is no room. */
static bool push(TdDesc *d, TdDigit x) {
  if (x.n == 1) return true;
  TdDigit *last = d->n ? &d->at[d->n - 1] : NULL;
  if (last && last->s == x.n * x.s) {
    *last = (TdDigit){last->n * x.n, x.s};
    return true;
  }
  if (d->n == TD_DESC_DIGITS) return false;
  d->at[d->n++] = x;
  return true;
}

TdDesc td_desc_normal(const TdDesc *d) {
  TdDesc r = {.offset = d->offset};
  for (int k = 0; k < d->n; k++) {
    if (d->at[k].n == 0) return (TdDesc){.n = 1, .at = {{0, 0}}};
    push(&r, d->at[k]);
  }
  return r;
}

bool td_desc_is_identity(const TdDesc *d) {
  TdDesc r = td_desc_normal(d);
  return r.n == 0 || (r.n == 1 && r.at[0].s == 1);
}

bool td_desc_split(TdDesc *d, int k, int64_t inner) {
  TdDigit x = d->at[k];
  if (inner < 1 || x.n % inner || d->n == TD_DESC_DIGITS) return false;
  for (int i = d->n++; i > k + 1; i--) d->at[i] = d->at[i - 1];
  d->at[k] = (TdDigit){x.n / inner, x.s * inner};
  d->at[k + 1] = (TdDigit){inner, x.s};
  return true;
}

/* How many of n places, `step` apart in the list, are an arithmetic sequence from the first on. */
static int64_t prefix(const int64_t *place, int64_t n, int64_t step) {
  int64_t k = n > 1 ? 2 : n;
  while (k < n && place[k * step] - place[(k - 1) * step] == place[step] - place[0]) k++;
  return k;
}

bool td_desc_of_places(const int64_t *place, int64_t n, TdDesc *out) {
  TdDigit inside_out[TD_DESC_DIGITS];
  int digits = 0;
  int64_t step = 1;
  *out = (TdDesc){.offset = n ? place[0] : 0};
  if (!n) return push(out, (TdDigit){0, 0});
  while (step < n) {
    int64_t k = prefix(place, n / step, step);
    if (digits == TD_DESC_DIGITS || (n / step) % k) return false;
    inside_out[digits++] = (TdDigit){k, place[step] - place[0]};
    step *= k;
  }
  while (digits) push(out, inside_out[--digits]);
  for (int64_t i = 0; i < n; i++)
    if (td_desc_place(out, i) != place[i]) return false;
  return true;
}

/* A composition under way: what the digits of y add to each digit of x. */
typedef struct Compose {
  const TdDesc *x;
  TdDesc y; /* split as needed */
  int64_t weight[TD_DESC_DIGITS], least[TD_DESC_DIGITS], most[TD_DESC_DIGITS];
  TdDesc out;
  TdDescCarry *why;
} Compose;

/* Takes the offset of y apart into digits of x; false when it is out of range. */
static bool enter_offset(Compose *c) {
  int64_t rest = c->y.offset, w = 1;
  c->out.offset = c->x->offset;
  for (int k = c->x->n; k-- > 0; rest /= c->x->at[k].n, w *= c->x->at[k].n) {
    c->weight[k] = w;
    c->least[k] = c->most[k] = rest % c->x->at[k].n;
    c->out.offset += c->most[k] * c->x->at[k].s;
  }
  *c->why = (TdDescCarry){-1, -1};
  return c->y.offset >= 0 && rest == 0;
}

/* The outermost digit of x that a stride moves by whole steps; -1: none. */
static int digit_of(const Compose *c, int64_t s) {
  for (int k = 0; k < c->x->n; k++)
    if (c->x->at[k].n > 1 && s % c->weight[k] == 0) return k;
  return -1;
}

/* Adds digit i of y to the digit of x that it moves; a part that goes beyond that digit is split
 * off first, and stands at i then. */
static bool enter_digit(Compose *c, int i) {
  TdDigit y = c->y.at[i];
  if (y.n == 1 || y.s == 0) return push(&c->out, y);
  int k = digit_of(c, y.s);
  *c->why = (TdDescCarry){k, i};
  if (k < 0) return false;
  int64_t t = y.s / c->weight[k], by = t < 0 ? -t : t, room = c->x->at[k].n / by;
  if (k > 0 && y.n > room && room > 1 && c->x->at[k].n % by == 0 && y.n % room == 0)
    return td_desc_split(&c->y, i, room) && enter_digit(c, i);
  *(t < 0 ? &c->least[k] : &c->most[k]) += t * (y.n - 1);
  return c->least[k] >= 0 && c->most[k] < c->x->at[k].n &&
         push(&c->out, (TdDigit){y.n, t * c->x->at[k].s});
}

/* The composition, place by place. */
static bool enumerate(const TdDesc *x, const TdDesc *y, TdDesc *out) {
  int64_t n, all, place[MOST_PLACES];
  if (!td_desc_count(y, &n) || !td_desc_count(x, &all) || n > MOST_PLACES) return false;
  for (int64_t i = 0; i < n; i++) {
    int64_t k = td_desc_place(y, i);
    if (k < 0 || k >= all) return false;
    place[i] = td_desc_place(x, k);
  }
  return td_desc_of_places(place, n, out);
}

bool td_desc_compose(const TdDesc *x, const TdDesc *y, TdDesc *out, TdDescCarry *why) {
  Compose c = {.x = x, .y = td_desc_normal(y), .why = why};
  bool ok = enter_offset(&c);
  for (int i = 0; ok && i < c.y.n; i++) ok = enter_digit(&c, i);
  if (!ok) return enumerate(x, y, out);
  *out = td_desc_normal(&c.out);
  return true;
}

bool td_desc_inverse(const TdDesc *d, TdDesc *out) {
  TdDesc r = td_desc_normal(d);
  TdDigit inside_out[TD_DESC_DIGITS];
  int64_t weight[TD_DESC_DIGITS], w = 1, s = 1, first = r.offset;
  *out = (TdDesc){0};
  for (int k = r.n; k-- > 0; w *= r.at[k].n) {
    weight[k] = r.at[k].s < 0 ? -w : w;
    if (r.at[k].s >= 0) continue;
    r.at[k].s = -r.at[k].s;
    first -= r.at[k].s * (r.at[k].n - 1);
    out->offset += w * (r.at[k].n - 1);
  }
  for (int i = 0; i < r.n; i++, s *= inside_out[i - 1].n) {
    int k = 0;
    while (k < r.n && r.at[k].s != s) k++;
    if (k == r.n || r.at[k].n == 0) return false;
    inside_out[i] = (TdDigit){r.at[k].n, weight[k]};
    r.at[k].s = 0;
  }
  for (int i = r.n; i-- > 0;) push(out, inside_out[i]);
  return first == 0;
}

void td_desc_print(TdText *out, const TdDesc *d) {
  td_text_putf(out, "<%lld;%s", (long long)d->offset, d->n ? " " : "");
  for (int k = 0; k < d->n; k++)
    td_text_putf(out, "(%lld, %lld)", (long long)d->at[k].n, (long long)d->at[k].s);
  td_text_putc(out, '>');
}
