/* stmt.c - the store, and constructors of statements. */
#include "ir/stmt.h"

#include <assert.h>
#include <string.h>

/* An empty store whose memory is a. */
static TdStore *store_in(TdArena *a, TdSession *s) {
  TdStore *st = TD_NEW(a, TdStore);
  *st = (TdStore){.session = s, .arena = a, .next_uid = 1, .next_sym = 1};
  return st;
}

TdStore *td_store_new(TdSession *s) {
  TdStore *st = store_in(td_arena_scratch(s->ctx), s);
  td_arena_keep(st->arena);
  return st;
}

TdStore *td_store_inner(TdArena *a, TdSession *s) {
  return store_in(td_arena_inner(a), s);
}

void td_store_free(TdStore *st) {
  if (st) td_arena_free(st->arena);
}

TdSym td_store_sym_ordinal(TdStore *st, const char *name, TdSymKind k, int ordinal) {
  TdSymbol *s = TD_NEW(st->arena, TdSymbol);
  s->name = td_names_str(st->session->names, name);
  s->id = st->next_sym++;
  s->kind = (uint16_t)k;
  s->ordinal = (uint16_t)ordinal;
  return s;
}

TdSym td_store_sym(TdStore *st, const char *name, TdSymKind k) {
  return td_store_sym_ordinal(st, name, k, 0);
}

uint32_t td_store_uid(TdStore *st) {
  return st->next_uid++;
}

/* A new statement with copies of the given slots. */
static TdStmt *node(TdStore *st, TdStmtKind kind, const TdExpr *const *e, size_t ne,
                    const TdStmt *const *kid, size_t nk, TdLoc loc) {
  TdStmt *s = TD_NEW(st->arena, TdStmt);
  s->kind = (uint8_t)kind;
  s->uid = td_store_uid(st);
  s->loc = loc;
  s->nexpr = (uint32_t)ne;
  s->nkid = (uint32_t)nk;
  s->expr = td_arena_copy(st->arena, e, ne * sizeof *e);
  s->kid = td_arena_copy(st->arena, kid, nk * sizeof *kid);
  return s;
}

const TdStmt *td_stmt_for(TdStore *st, TdSym v, const TdExpr *lo, const TdExpr *hi, int64_t step,
                          const TdStmt *body, TdLoc loc) {
  assert(step > 0 && body->kind == TD_STMT_BLOCK);
  const TdExpr *e[] = {lo, hi};
  TdStmt *s = node(st, TD_STMT_FOR, e, 2, &body, 1, loc);
  s->sym = v;
  s->step = step;
  return s;
}

const TdStmt *td_stmt_while(TdStore *st, const TdExpr *cond, const TdStmt *body, bool post,
                            TdLoc loc) {
  assert(body->kind == TD_STMT_BLOCK);
  TdStmt *s = node(st, TD_STMT_WHILE, &cond, 1, &body, 1, loc);
  s->post = post;
  return s;
}

const TdStmt *td_stmt_if(TdStore *st, const TdExpr *cond, const TdStmt *then,
                         const TdStmt *otherwise, TdLoc loc) {
  assert(then->kind == TD_STMT_BLOCK && (!otherwise || otherwise->kind == TD_STMT_BLOCK));
  const TdStmt *kid[] = {then, otherwise};
  return node(st, TD_STMT_IF, &cond, 1, kid, otherwise ? 2 : 1, loc);
}

const TdStmt *td_stmt_local(TdStore *st, TdSym v, const TdType *t, TdLocalInit init,
                            const TdExpr *value, TdLoc loc) {
  assert((init == TD_INIT_NONE) == (value == NULL));
  TdStmt *s = node(st, TD_STMT_LOCAL, &value, value ? 1 : 0, NULL, 0, loc);
  s->sym = v;
  s->type = t;
  s->init = (uint8_t)init;
  return s;
}

const TdStmt *td_stmt_data(TdStore *st, TdSym v, TdLocalClass cls, const TdBlob *blob, TdLoc loc) {
  TdStmt *s = node(st, TD_STMT_LOCAL, NULL, 0, NULL, 0, loc);
  s->sym = v;
  s->type = blob->type;
  s->cls = (uint8_t)cls;
  s->blob = blob;
  return s;
}

const TdStmt *td_stmt_store(TdStore *st, const TdExpr *place, const TdExpr *value, TdLoc loc) {
  assert(place->kind == TD_EXPR_LOAD);
  const TdExpr *e[] = {place, value};
  return node(st, TD_STMT_STORE, e, 2, NULL, 0, loc);
}

const TdStmt *td_stmt_set(TdStore *st, const TdExpr *view, const TdExpr *value, TdLoc loc) {
  assert(view->kind == TD_EXPR_VIEW);
  const TdExpr *e[] = {view, value};
  return node(st, TD_STMT_SET, e, 2, NULL, 0, loc);
}

const TdStmt *td_stmt_get(TdStore *st, const TdExpr *stream, TdSym declares, const TdType *t,
                          const TdExpr *place, TdLoc loc) {
  assert((declares != NULL) == (place == NULL));
  const TdExpr *e[] = {stream, place};
  TdStmt *s = node(st, TD_STMT_GET, e, place ? 2 : 1, NULL, 0, loc);
  s->sym = declares;
  s->type = t;
  return s;
}

const TdStmt *td_stmt_slot(TdStore *st, const TdExpr *stream, TdSym declares, const TdType *t,
                           TdLoc loc) {
  TdStmt *s = node(st, TD_STMT_SLOT, &stream, 1, NULL, 0, loc);
  s->sym = declares;
  s->type = t;
  return s;
}

const TdStmt *td_stmt_put(TdStore *st, const TdExpr *stream, const TdExpr *value, TdLoc loc) {
  const TdExpr *e[] = {stream, value};
  return node(st, TD_STMT_PUT, e, 2, NULL, 0, loc);
}

const TdStmt *td_stmt_call(TdStore *st, TdSym unit, const TdExpr *const *arg, size_t n, TdLoc loc) {
  TdStmt *s = node(st, TD_STMT_CALL, arg, n, NULL, 0, loc);
  s->sym = unit;
  return s;
}

const TdStmt *td_stmt_jump(TdStore *st, TdStmtKind break_or_return, TdLoc loc) {
  return node(st, break_or_return, NULL, 0, NULL, 0, loc);
}

const TdStmt *td_stmt_block(TdStore *st, const TdStmt *const *kid, size_t n, TdLoc loc) {
  return node(st, TD_STMT_BLOCK, NULL, 0, kid, n, loc);
}

const TdStmt *td_stmt_with_kids(TdStore *st, const TdStmt *s, const TdStmt *const *kid, size_t n) {
  TdStmt *copy = td_arena_copy(st->arena, s, sizeof *s);
  copy->nkid = (uint32_t)n;
  copy->kid = td_arena_copy(st->arena, kid, n * sizeof *kid);
  return copy;
}

const TdStmt *td_stmt_with_exprs(TdStore *st, const TdStmt *s, const TdExpr *const *e, size_t n) {
  TdStmt *copy = td_arena_copy(st->arena, s, sizeof *s);
  copy->nexpr = (uint32_t)n;
  copy->expr = td_arena_copy(st->arena, e, n * sizeof *e);
  return copy;
}

const TdStmt *td_stmt_with_attrs(TdStore *st, const TdStmt *s, TdAttrs attrs) {
  TdStmt *copy = td_arena_copy(st->arena, s, sizeof *s);
  copy->attrs = attrs;
  return copy;
}

const char *td_stmt_overlap(TdArena *a, const TdStmt *call, uint32_t i, uint32_t k) {
  return td_text_fmt(a, "arguments %u and %u of %s share memory, and one of them is written", i + 1,
                     k + 1, call->sym->name);
}

size_t td_stmt_preamble(const TdStmt *body) {
  size_t n = 0;
  while (n < body->nkid && body->kid[n]->kind == TD_STMT_LOCAL &&
         body->kid[n]->cls != TD_LOCAL_AUTO)
    n++;
  return n;
}
