/* stmt.c - conditions, jumps, blocks; what a kernel may not contain. */
#include <string.h>

#include "frontend/gen/irgen.h"

static bool lower_arms(TdIrgen *l, const TdAstStmt *s, size_t i);

/* The arms from i on as a block of their own. */
static const TdStmt *lower_rest(TdIrgen *l, const TdAstStmt *s, size_t i) {
  bool otherwise = i < s->arms.n && !s->arms.at[i].cond;
  if (otherwise) return td_irgen_body(l, &s->arms.at[i].body, s->loc);
  TdStmts list = {0}, *out = l->out;
  l->out = &list;
  bool ok = lower_arms(l, s, i);
  l->out = out;
  td_irgen_hide_all(l, &list);
  return ok ? td_stmt_block(l->store, list.at, list.n, s->loc) : NULL;
}

/* `if c then arm else the arms after it end`. */
static bool lower_branch(TdIrgen *l, const TdAstStmt *s, size_t i, const TdExpr *c) {
  const TdAstArm *arm = &s->arms.at[i];
  TdResults result[2];
  const TdStmt *block[2] = {td_irgen_body(l, &arm->body, arm->cond->loc), NULL};
  if (!block[0]) return false;
  result[0] = td_irgen_take_results(l);
  block[1] = lower_rest(l, s, i + 1);
  if (!block[1]) return false;
  result[1] = td_irgen_take_results(l);
  if (result[0].returned != result[1].returned)
    return td_irgen_fail(l, "return", s->loc, "an inlined function returns at its end only");
  if (result[0].returned && !td_irgen_join_results(l, result, block, s->loc)) return false;
  const TdStmt *otherwise = block[1]->nkid ? block[1] : NULL;
  td_irgen_emit(l, td_stmt_if(l->store, c, block[0], otherwise, arm->cond->loc));
  return true;
}

/* Arm i of an if and those after it; a constant condition keeps one arm. */
static bool lower_arms(TdIrgen *l, const TdAstStmt *s, size_t i) {
  if (i == s->arms.n) return true;
  const TdAstArm *arm = &s->arms.at[i];
  if (!arm->cond) return td_irgen_scope(l, &arm->body, false, s->loc);
  TdVal cond = td_irgen_settle(l, td_irgen_expr_or_nil(l, arm->cond), "got");
  if (!td_irgen_ok(&cond)) return false;
  if (cond.kind == TD_V_CONST) {
    td_irgen_pin(l, &cond, 1);
    if (td_value_is_number(&cond.c)) return td_irgen_to_bool(l, cond) != NULL;
    return td_value_truth(&cond.c) ? td_irgen_scope(l, &arm->body, false, arm->cond->loc)
                                   : lower_arms(l, s, i + 1);
  }
  const TdExpr *c = td_irgen_to_bool(l, cond);
  return c && lower_branch(l, s, i, c);
}

static bool lower_break(TdIrgen *l, const TdAstStmt *s) {
  if (l->frame->jump == TD_AT_GRID) {
    td_irgen_fail(l, "break-grid", s->loc,
                  "break would leave one loop here, and all of the grid in "
                  "Lua");
    td_diag_help(l->diag, "write the loops one inside the other");
    return false;
  }
  if (l->frame->jump == TD_AT_UNROLLED)
    return td_irgen_fail(l, "break-unrolled", s->loc, "break cannot leave a list that is unrolled");
  td_irgen_emit(l, td_stmt_jump(l->store, TD_STMT_BREAK, s->loc));
  return true;
}

static bool lower_call_stmt(TdIrgen *l, const TdAstStmt *s) {
  TdVal v = td_irgen_expr(l, s->call);
  if (v.kind == TD_V_GET || v.kind == TD_V_FRESH) v = td_irgen_settle(l, v, "_");
  return td_irgen_ok(&v);
}

static bool refuse(TdIrgen *l, const TdAstStmt *s, const char *help) {
  td_irgen_fail(l, "not-in-kernel", s->loc, "%s is not allowed in a kernel",
                td_ast_stmt_words(s->kind));
  if (help) td_diag_help(l->diag, "%s", help);
  return false;
}

#define MANY_LOCALS 100 /* in one block; Lua allows 200 */

static size_t count_locals(const TdStmts *list, size_t from) {
  size_t n = 0;
  for (size_t i = from; i < list->n; i++) n += list->at[i]->kind == TD_STMT_LOCAL;
  return n;
}

/* Closes the statements since `from`, which came from one statement, in a block of their own where
 * their locals would become too many for the block around. */
static void close_off(TdIrgen *l, size_t from, TdLoc loc) {
  if (l->out->n == from) return;
  TdStmts part = {.at = l->out->at + from, .n = l->out->n - from};
  if (!count_locals(&part, 0) || count_locals(l->out, 0) <= MANY_LOCALS) return;
  td_irgen_hide_all(l, &part);
  const TdStmt *block = td_stmt_block(l->store, part.at, part.n, loc);
  l->out->n = from;
  td_irgen_emit(l, block);
}

/* An assignment or call. */
static bool lower_simple(TdIrgen *l, const TdAstStmt *s) {
  size_t from = l->out->n;
  if (s->kind == TD_AST_ASSIGN ? !td_irgen_assign(l, s) : !lower_call_stmt(l, s)) return false;
  close_off(l, from, s->loc);
  return true;
}

/* do .. end; one around a return alone is how Lua writes a return before other statements. */
static bool lower_do(TdIrgen *l, const TdAstStmt *s) {
  const TdAstBlock *b = &s->block;
  if (b->n == 1 && b->at[0]->kind == TD_AST_RETURN) return td_irgen_return(l, b->at[0]);
  return td_irgen_scope(l, b, true, s->loc);
}

/* The cases of td_irgen_stmt. */
static bool lower_any(TdIrgen *l, const TdAstStmt *s) {
  if (l->frame->results.returned)
    return td_irgen_fail(l, "return", s->loc, "code after a return of an inlined function");
  switch (s->kind) {
  case TD_AST_LOCAL: return td_irgen_local_stmt(l, s);
  case TD_AST_ASSIGN:
  case TD_AST_EVAL: return lower_simple(l, s);
  case TD_AST_DO: return lower_do(l, s);
  case TD_AST_IF: return lower_arms(l, s, 0);
  case TD_AST_WHILE:
  case TD_AST_REPEAT:
  case TD_AST_FOR:
  case TD_AST_FOR_IN: return td_irgen_loop(l, s);
  case TD_AST_RETURN: return td_irgen_return(l, s);
  case TD_AST_BREAK: return lower_break(l, s);
  case TD_AST_EMPTY: return true;
  case TD_AST_GOTO: return refuse(l, s, "use while, repeat and break");
  case TD_AST_LABEL: return refuse(l, s, NULL);
  case TD_AST_LOCAL_FUNCTION:
  case TD_AST_DEFINE: return refuse(l, s, "define the function outside the kernel and call it");
  }
  return false;
}

/* Puts what is marked on the statement's line, and was not taken, on the last of what was emitted
 * since `from`. */
static bool mark_last(TdIrgen *l, const TdAstStmt *s, size_t from) {
  TdAttrs attrs = {0};
  if (l->out->n == from) return true;
  if (!td_irgen_marks(l, s->loc.line, 'X', &attrs)) return false;
  const TdStmt **last = &l->out->at[l->out->n - 1];
  TdAttrs all = (*last)->attrs;
  for (size_t i = 0; i < attrs.n; i++) all = td_attrs_add(l->arena, all, attrs.at[i]);
  if (attrs.n) *last = td_stmt_with_attrs(l->store, *last, all);
  return true;
}

/* Says why a number of the statement is a float, where floats are refused. */
static void explain_long_number(TdIrgen *l) {
  static const char *const codes[] = {"needs-cast", "index-type", "float-bits"};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    if (strcmp(l->diag->code, codes[i]) != 0) continue;
    l->diag->help = "the greatest integer is 9223372036854775807; 0x8000000000000000 is the least";
    td_diag_note(l->diag, l->long_number,
                 "this integer does not fit 64 bits, so Lua reads it as a float");
  }
  l->long_number = (TdLoc){0};
}

bool td_irgen_stmt(TdIrgen *l, const TdAstStmt *s) {
  td_ctx_tick(l->session->ctx, 1);
  size_t from = l->out->n;
  l->long_number = (TdLoc){0};
  if (lower_any(l, s)) return mark_last(l, s, from);
  if (l->long_number.line) explain_long_number(l);
  return false;
}
