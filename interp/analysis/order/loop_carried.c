/* loop_carried.c - dependences of one tree as it stands. */
#include "analysis/order/loop_carried.h"

/* A query under way; `a` is scratch memory. */
typedef struct Carry {
  const TdAsk *q;
  TdArena *a;
  TdSpace *space;
  TdLeaves *l;
  const TdNest *context;
  const TdCell *only; /* the cell that is asked about, or NULL for all */
  size_t common;      /* 1: iterations of the outermost loop differ; 0: no loop in common */
  TdVerdict v;
} Carry;

/* The leaves of n consecutive statements and the facts at them; freed with the arena a. */
static Carry begin(const TdAsk *q, const TdStmt *const *root, size_t n) {
  Carry k = {.q = q, .a = td_arena_scratch(td_affine_ctx(q->affine))};
  k.space = td_access_space(k.a);
  TdNestMaker m = {q->prog->store->session, k.space, &(TdEnv){.unit = q->unit}};
  k.context = td_nest_context(&m, root[0]);
  k.l = td_access_list(q, k.space, root, n);
  return k;
}

/* Notes the conflicts of two leaves at the iterations that k speaks of. */
static bool check_conflict(void *ud, TdConflict *c) {
  Carry *k = ud;
  if (k->only && c->a->cell != k->only) return true;
  if (k->common)
    td_sys_lt(k->a, &c->sys, td_conflict_loop_was(c, false, 0), td_conflict_loop_was(c, true, 0));
  return td_verdict_broken(&k->v, c, true);
}

/* Checks leaves [x0, x1) against [y0, y1); false when nothing worse can come. */
static bool check_pairs(Carry *k, size_t x0, size_t x1, size_t y0, size_t y1) {
  for (size_t i = x0; i < x1; i++)
    for (size_t j = y0; j < y1; j++) {
      const TdLeaf *x = &k->l->at.at[i], *y = &k->l->at.at[j];
      if (!td_conflict_visit(k->q, k->l, k->context, (TdInstance){x, x, NULL},
                             (TdInstance){y, y, NULL}, check_conflict, k))
        return false;
    }
  return true;
}

/* Where the leaves of the body of k's loop start: after those of its header. */
static size_t body_start(const Carry *k) {
  size_t i = 0;
  while (i < k->l->at.n && k->l->at.at[i].nest->nloop == 0) i++;
  return i;
}

/* Whether the iterations of k's loop are statements of their own; else notes that they are not. */
static bool is_open(Carry *k) {
  for (size_t i = body_start(k); i < k->l->at.n; i++)
    if (k->l->at.at[i].nseen == 0) {
      td_verdict_unknown(&k->v, "the loop may end early");
      return false;
    }
  return true;
}

TdVerdict td_loop_carried_loop(const TdAsk *q, const TdStmt *loop) {
  Carry k = begin(q, &loop, 1);
  size_t from = body_start(&k), n = k.l->at.n;
  k.common = 1;
  if (is_open(&k)) check_pairs(&k, from, n, from, n);
  td_arena_free(k.a);
  return k.v;
}

size_t td_loop_carried_free(const TdAsk *q, const TdStmt *loop, const TdSym **sym) {
  Carry k = begin(q, &loop, 1);
  size_t from = body_start(&k), n = k.l->at.n;
  TD_VEC(TdSym) found = {0};
  TdMap seen = {0};
  k.common = 1;
  for (size_t i = from; i < n && is_open(&k); i++)
    for (size_t x = 0; x < k.l->at.at[i].naccess; x++) {
      const TdAccess *acc = &k.l->at.at[i].access[x];
      k.only = acc->cell;
      if (!acc->write || acc->cell->nest || acc->cell->kind != TD_CELL_MEMORY ||
          td_map_getp(&seen, k.only))
        continue;
      td_map_putp(k.a, &seen, k.only, &k);
      k.v = (TdVerdict){0};
      if (check_pairs(&k, from, n, from, n) && k.v.kind == TD_VERDICT_LEGAL)
        td_vec_push(q->arena, &found, k.only->sym);
    }
  td_arena_free(k.a);
  *sym = found.at;
  return found.n;
}

TdVerdict td_loop_carried_exchange(const TdAsk *q, const TdStmt *first, const TdStmt *second) {
  Carry k = begin(q, (const TdStmt *[]){first, second}, 2);
  check_pairs(&k, 0, k.l->start[1], k.l->start[1], k.l->at.n);
  td_arena_free(k.a);
  return k.v;
}
