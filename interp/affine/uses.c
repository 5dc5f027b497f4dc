/* uses.c - uses of a parameter, followed into calls and tasks. */
#include "affine/uses.h"

/* A search for the uses of one parameter. */
typedef struct Search {
  const TdProg *prog;
  TdSym param;
  unsigned use;
} Search;

static bool note_read(void *ud, const TdExpr *e) {
  Search *k = ud;
  if (e->sym == k->param) k->use |= TD_USES_READ;
  return true;
}

/* What is read to find the place `e`, and `use` of the place itself. */
static void note_place(Search *k, const TdExpr *e, unsigned use) {
  if (e->sym == k->param) k->use |= use;
  for (uint32_t i = 0; i < e->nkid; i++) td_walk_expr(e->kid[i], note_read, k);
}

static void note_call(Search *k, const TdStmt *s) {
  const TdUnit *u = td_prog_unit(k->prog, s->sym);
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    if (e->kind != TD_EXPR_VIEW)
      td_walk_expr(e, note_read, k);
    else
      note_place(k, e,
                 e->sym != k->param ? 0
                 : u                ? td_uses_param(k->prog, u, u->param[i].sym)
                                    : TD_USES_ALL);
  }
}

/* How the first expression of a statement is used, if it is a place. */
static unsigned use_of_place(const TdStmt *s) {
  switch (s->kind) {
  case TD_STMT_STORE:
  case TD_STMT_SET: return TD_USES_WRITE;
  case TD_STMT_GET: return TD_USES_GET;
  case TD_STMT_SLOT:
  case TD_STMT_PUT: return TD_USES_PUT;
  default: return 0;
  }
}

static bool note_stmt(void *ud, const TdStmt *s) {
  Search *k = ud;
  if (s->kind == TD_STMT_CALL) {
    note_call(k, s);
    return true;
  }
  unsigned place = use_of_place(s);
  bool fills = s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  for (uint32_t i = 0; i < s->nexpr; i++) {
    if (i == 0 && place)
      note_place(k, s->expr[i], place);
    else if (fills)
      note_place(k, s->expr[i], TD_USES_WRITE);
    else
      td_walk_expr(s->expr[i], note_read, k);
  }
  return true;
}

unsigned td_uses_param(const TdProg *p, const TdUnit *u, TdSym param) {
  TdCtx *ctx = p->store->session->ctx;
  Search k = {p, param, 0};
  if (u->foreign && !u->foreign->model) return TD_USES_ALL;
  if (u->foreign) {
    const TdUnit *model = td_prog_unit(p, u->foreign->model);
    return td_uses_param(p, model, model->param[td_unit_param(u, param) - u->param].sym);
  }
  td_ctx_enter(ctx);
  if (u->body) td_walk_stmt(ctx, u->body, note_stmt, &k);
  for (size_t r = 0; r < u->nrun; r++)
    for (size_t i = 0; i < u->run[r].nbind; i++) {
      const TdRunArg *bind = &u->run[r].bind[i];
      const TdUnit *task = td_prog_unit(p, u->run[r].unit);
      if (bind->arg == param) k.use |= td_uses_param(p, task, bind->param);
    }
  td_ctx_leave(ctx);
  return k.use;
}
