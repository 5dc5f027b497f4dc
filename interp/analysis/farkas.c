/* farkas.c - interval reasoning from the innermost column outwards, with a little search. */
#include "analysis/farkas.h"

/* Rows that one search may try. */
enum { FUEL = 64 };

typedef struct Search {
  TdArena *a;
  const TdSys *const *facts;
  size_t n;
  int fuel;
  TdAff *out; /* collects bounds over parameters; NULL: looks for a proof */
  size_t found, most;
} Search;

static bool search(Search *p, TdAff f);

/* Goes on from f >= 0 with row r, which ends in the same column, taking that column away. Where
   r's coefficient does not divide f's, a proof is sought of s * f + s - 1 >= 0, which is the same
   over the integers. */
static bool use_row(Search *p, TdAff f, TdRow r) {
  int64_t k = f.m[f.n - 1].coef, by = r.f.m[r.f.n - 1].coef;
  if ((k > 0) != (by > 0)) {
    if (!r.eq) return false;
    by = -by;
    r.f = td_sys_scale(p->a, -1, r.f, 0);
  }
  int64_t size = by < 0 ? -by : by, s = size / td_sys_gcd64(k, by), times;
  if (p->fuel-- <= 0 || (s > 1 && p->out) || !td_sys_mul64(k, s, &times)) return false;
  if (s > 1) f = td_sys_scale(p->a, s, f, s - 1);
  return search(p, td_sys_plus(p->a, f, -(times / by), r.f));
}

/* Whether the search can stop. */
static bool search(Search *p, TdAff f) {
  if (f.bad) return false;
  if (!p->out && !f.n) return f.c >= 0;
  if (p->out && (!f.n || f.m[f.n - 1].col < 0)) {
    p->out[p->found++] = f;
    return p->found == p->most;
  }
  int32_t col = f.m[f.n - 1].col;
  for (size_t i = 0; i < p->n; i++)
    for (size_t r = 0; r < p->facts[i]->row.n; r++) {
      TdRow row = p->facts[i]->row.at[r];
      if (row.f.n && row.f.m[row.f.n - 1].col == col && use_row(p, f, row)) return true;
    }
  return false;
}

bool td_farkas_follows(TdArena *a, const TdSys *const *facts, size_t n, TdAff f) {
  for (size_t i = 0; i < n; i++)
    if (facts[i]->bad) return false;
  TdMark m = td_arena_mark(a);
  Search p = {.a = a, .facts = facts, .n = n, .fuel = FUEL};
  bool ok = search(&p, f);
  td_arena_release(a, m);
  return ok;
}

size_t td_farkas_lower(TdArena *a, const TdSys *const *facts, size_t n, TdAff f, TdAff *out,
                       size_t most) {
  Search p = {.a = a, .facts = facts, .n = n, .fuel = FUEL, .out = out, .most = most};
  for (size_t i = 0; i < n; i++)
    if (facts[i]->bad) return 0;
  search(&p, f);
  return p.found;
}
