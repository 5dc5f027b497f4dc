/* farkas.c - interval reasoning from the innermost column outwards, with a little search. */
#include "analysis/range/farkas.h"

/* Rows that one search may try. */
enum { FUEL = 64 };

typedef struct Search {
  TdArena *a;
  const TdSys *const *facts;
  size_t n;
  int fuel;
  TdAff *out; /* collects bounds; NULL: looks for a proof */
  const bool *drop;
  size_t found, most;
} Search;

/* f bounds `times` times the form that is asked about. */
static bool search(Search *p, TdAff f, int64_t times);

/* Which of f's columns goes first, as an index: the innermost loop or latest existential column,
 * then (when bounds are wanted) the innermost parameter to drop, else the last. f.n: none. */
static uint32_t next_column(const Search *p, TdAff f) {
  if (f.n && f.m[f.n - 1].col >= 0) return f.n - 1;
  if (!p->out) return f.n ? f.n - 1 : 0;
  uint32_t i = 0;
  while (i < f.n && !(p->drop && p->drop[-1 - f.m[i].col])) i++;
  return i;
}

/* Goes on with row r, taking away a column, which has coefficient k in f and `by` in r. Where `by`
 * does not divide k, s * f is looked at; s * f + s - 1 >= 0 is as good a proof over the integers.
 */
static bool use_row(Search *p, TdAff f, int64_t times, int64_t k, TdRow r, int64_t by) {
  if ((k > 0) != (by > 0)) {
    if (!r.eq) return false;
    by = -by;
    r.f = td_sys_scale(p->a, -1, r.f, 0);
  }
  int64_t size = by < 0 ? -by : by, s = size / td_sys_gcd64(k, by), scaled;
  if (p->fuel-- <= 0 || !td_sys_mul64(k, s, &scaled) || !td_sys_mul64(times, s, &times))
    return false;
  if (s > 1) f = td_sys_scale(p->a, s, f, p->out ? 0 : s - 1);
  return search(p, td_sys_plus(p->a, f, -(scaled / by), r.f), times);
}

/* Notes the bound f / times, if that is a form. Whether enough were found. */
static bool collect(Search *p, TdAff f, int64_t times) {
  TdMono *m = td_arena_copy(p->a, f.m, f.n * sizeof *m);
  for (uint32_t i = 0; i < f.n; i++) {
    if (m[i].coef % times) return false;
    m[i].coef /= times;
  }
  p->out[p->found++] = (TdAff){.c = -td_sys_floor64(-f.c, times), .m = m, .n = f.n};
  return p->found == p->most;
}

/* Whether the search can stop. Rows serve for the column that goes first in them. */
static bool search(Search *p, TdAff f, int64_t times) {
  if (f.bad) return false;
  uint32_t at = next_column(p, f);
  if (at == f.n && !p->out) return f.c >= 0;
  if (at == f.n) return collect(p, f, times);
  for (size_t i = 0; i < p->n; i++)
    for (size_t r = 0; r < p->facts[i]->row.n; r++) {
      TdRow row = p->facts[i]->row.at[r];
      uint32_t by = next_column(p, row.f);
      if (by < row.f.n && row.f.m[by].col == f.m[at].col &&
          use_row(p, f, times, f.m[at].coef, row, row.f.m[by].coef))
        return true;
    }
  return false;
}

bool td_farkas_follows(TdArena *a, const TdSys *const *facts, size_t n, TdAff f) {
  for (size_t i = 0; i < n; i++)
    if (facts[i]->bad) return false;
  TdMark m = td_arena_mark(a);
  Search p = {.a = a, .facts = facts, .n = n, .fuel = FUEL};
  bool ok = search(&p, f, 1);
  td_arena_release(a, m);
  return ok;
}

size_t td_farkas_lower(TdArena *a, const TdSys *const *facts, size_t n, TdAff f, const bool *drop,
                       TdAff *out, size_t most) {
  Search p = {.a = a, .facts = facts, .n = n, .fuel = FUEL, .out = out, .drop = drop, .most = most};
  for (size_t i = 0; i < n; i++)
    if (facts[i]->bad) return 0;
  search(&p, f, 1);
  return p.found;
}
