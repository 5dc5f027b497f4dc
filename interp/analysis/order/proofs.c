/* proofs.c - attributes that state a proof are as good as the proof: asked again. */
#include "analysis/order/proofs.h"

#include "analysis/order/effects.h"
#include "analysis/order/loop_carried.h"

bool td_proofs_has(const TdAttr *x) {
  return x->kind == TD_ATTR_PARALLEL || x->kind == TD_ATTR_DEP;
}

/* Whether a loop carries no dependence on the array. */
static bool is_free(const TdAsk *q, const TdStmt *loop, TdSym array) {
  const TdSym *free_of;
  size_t n = td_loop_carried_free(q, loop, &free_of);
  for (size_t i = 0; i < n; i++)
    if (free_of[i] == array) return true;
  return false;
}

/* The first stream that a loop puts to or gets from, or NULL. */
static TdSym stream_of(const TdAsk *q, const TdStmt *loop) {
  const TdEffect *e;
  size_t n = td_effects_of(q, loop, &e);
  for (size_t i = 0; i < n; i++)
    if (e[i].kind == TD_CELL_PUT || e[i].kind == TD_CELL_GET) return e[i].sym;
  return NULL;
}

bool td_proofs_parallel(const TdAsk *q, const TdStmt *loop, TdDiag *d) {
  TdVerdict v = td_loop_carried_loop(q, loop);
  TdSym stream = stream_of(q, loop);
  if (v.kind == TD_VERDICT_REASSOC) {
    v.kind = TD_VERDICT_ILLEGAL;
    v.exact = true;
  }
  const char *what = td_text_fmt(d->arena, "running '%s' in parallel", loop->sym->name);
  if (!td_verdict_accept(&v, false, d, loop->loc, what)) return false;
  if (!stream) return true;
  td_diag_set(d, TD_ILLEGAL, "stream", loop->loc,
              "iterations of '%s' use '%s': in another order tasks may wait for each other",
              loop->sym->name, stream->name);
  td_diag_help(d, "unfold makes them instances, each of which waits for itself");
  return false;
}

bool td_proofs_holds(const TdAsk *q, const TdStmt *loop, const TdAttr *x) {
  if (x->kind == TD_ATTR_DEP) return is_free(q, loop, x->arg[0].sym);
  return x->kind != TD_ATTR_PARALLEL ||
         (td_loop_carried_loop(q, loop).kind == TD_VERDICT_LEGAL && !stream_of(q, loop));
}

/* A unit whose loops are looked at. */
typedef struct Proofs {
  const TdAsk *q;
  TdDiag *d;
} Proofs;

static bool check_loop(void *ud, const TdStmt *s) {
  Proofs *k = ud;
  for (size_t i = 0; s->kind == TD_STMT_FOR && i < s->attrs.n; i++) {
    const TdAttr *x = &s->attrs.at[i];
    if (td_proofs_holds(k->q, s, x)) continue;
    if (x->kind == TD_ATTR_PARALLEL)
      td_proofs_parallel(k->q, s, k->d);
    else
      td_diag_set(k->d, TD_ILLEGAL, "dependence", s->loc,
                  "'%s' is not free of dependences on '%s', as its attribute states", s->sym->name,
                  x->arg[0].sym->name);
    return false;
  }
  return true;
}

bool td_proofs_check(const TdAsk *q, TdDiag *d) {
  Proofs k = {q, d};
  return !q->unit->body || td_walk_stmt(td_affine_ctx(q->affine), q->unit->body, check_loop, &k);
}
