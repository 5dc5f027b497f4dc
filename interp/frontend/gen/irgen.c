/* irgen.c - failures, statements and blocks of the lowering. */
#include "frontend/gen/irgen.h"

/* Fills the diagnostic with a usage error; returns false. */
bool td_irgen_fail(TdIrgen *l, const char *code, TdLoc loc, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  td_diag_vset(l->diag, TD_USAGE, code, loc, fmt, ap);
  va_end(ap);
  return false;
}

/* The value of an expression that failed. */
TdVal td_irgen_failed(void) {
  return (TdVal){.kind = TD_V_FAILED};
}

/* Whether v is a value. */
bool td_irgen_ok(const TdVal *v) {
  return v->kind != TD_V_FAILED;
}

/* Appends s to the statements under way; NULL is nothing. */
void td_irgen_emit(TdIrgen *l, const TdStmt *s) {
  if (s) td_vec_push(l->arena, l->out, s);
}

/* Makes Lua variable v stand for b in the frame; returns the binding. */
TdBinding *td_irgen_bind(TdIrgen *l, const TdAstLocal *v, TdBinding b) {
  TdBinding *copy = td_arena_copy(l->arena, &b, sizeof b);
  td_map_putp(l->arena, &l->frame->bound, v, copy);
  return copy;
}

bool td_irgen_block(TdIrgen *l, const TdAstBlock *b) {
  td_ctx_enter(l->session->ctx);
  bool ok = true;
  for (size_t i = 0; ok && i < b->n; i++) ok = td_irgen_stmt(l, b->at[i]);
  td_ctx_leave(l->session->ctx);
  return ok;
}

const TdStmt *td_irgen_body(TdIrgen *l, const TdAstBlock *b, TdLoc loc) {
  TdStmts list = {0}, *out = l->out;
  l->out = &list;
  bool ok = td_irgen_block(l, b);
  l->out = out;
  td_irgen_hide_all(l, &list);
  return ok ? td_stmt_block(l->store, list.at, list.n, loc) : NULL;
}

/* Whether one of the statements declares a name. */
static bool declares_any(const TdStmts *list) {
  for (size_t i = 0; i < list->n; i++) {
    uint8_t kind = list->at[i]->kind;
    if (kind == TD_STMT_LOCAL || kind == TD_STMT_SLOT) return true;
    if (kind == TD_STMT_GET && list->at[i]->sym) return true;
  }
  return false;
}

bool td_irgen_scope(TdIrgen *l, const TdAstBlock *b, bool always, TdLoc loc) {
  TdStmts list = {0}, *out = l->out;
  l->out = &list;
  bool ok = td_irgen_block(l, b);
  l->out = out;
  if (!ok) return false;
  bool open = l->frame->results.returned || (!always && !declares_any(&list));
  for (size_t i = 0; open && i < list.n; i++) td_irgen_emit(l, list.at[i]);
  if (open) return true;
  td_irgen_hide_all(l, &list);
  td_irgen_emit(l, td_stmt_block(l->store, list.at, list.n, loc));
  return true;
}
