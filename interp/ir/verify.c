/* verify.c - the structure that every program must have: types, scopes, ranks, unique uids. A
 * failure is Tide's own bug. */
#include <string.h>

#include "ir/text/print.h"

typedef struct Checker {
  const TdProg *prog;
  const TdUnit *unit;
  size_t done; /* units before it: what it may use */
  TdArena *arena;
  TdDiag *d;
  TdMap type; /* symbol in scope -> its TdType */
  TdMap uid;
  TD_VEC(TdSym) scope; /* what is declared, in order */
  const TdStmt *at;
  bool in_loop;
  bool lowered; /* networks are calls that pass coordinates, and streams of any shape */
  size_t ndata; /* constants and states of the unit, so far */
} Checker;

/* Reports what is wrong at the statement under check. */
static bool bad(Checker *c, const char *what, const char *name) {
  TdLoc none = {0};
  return td_diag_set(c->d, TD_BUG, "structure", c->at ? c->at->loc : none, "in '%s': %s%s%s",
                     c->unit->sym->name, what, name ? " " : "", name ? name : "");
}

static void declare(Checker *c, TdSym s, const TdType *t) {
  td_map_putp(c->arena, &c->type, s, (void *)(uintptr_t)t);
  td_vec_push(c->arena, &c->scope, s);
}

static const TdType *type_of(const Checker *c, TdSym s) {
  return td_map_getp(&c->type, s);
}

static bool is_index_like(const TdExpr *e) {
  return e->type->kind == TD_T_INDEX;
}

static bool check_load(Checker *c, const TdExpr *e) {
  const TdType *t = type_of(c, e->sym);
  if (!t) return bad(c, "load of a name out of scope:", e->sym->name);
  uint32_t rank = t->kind == TD_T_TENSOR ? t->rank : 0;
  if (e->nkid != rank) return bad(c, "wrong number of indices for", e->sym->name);
  if (e->type != td_type_scalar(t)) return bad(c, "wrong element type of", e->sym->name);
  for (uint32_t i = 0; i < e->nkid; i++)
    if (!is_index_like(e->kid[i])) return bad(c, "an index is no index in", e->sym->name);
  return true;
}

static bool check_view(Checker *c, const TdExpr *e) {
  const TdType *t = type_of(c, e->sym);
  if (!t) return bad(c, "view of a name out of scope:", e->sym->name);
  if (c->lowered && t->kind == TD_T_PORT) return true;
  if (e->nkid != t->rank) return bad(c, "wrong rank of a view of", e->sym->name);
  if (e->type->elem != t->elem) return bad(c, "wrong element type of a view of", e->sym->name);
  bool seen[TD_MAX_RANK] = {false};
  int free = 0;
  for (uint32_t d = 0; d < e->nkid; d++) {
    int out = e->u.dim[d].out;
    if (out >= e->type->rank || (out >= 0 && seen[out]))
      return bad(c, "bad dimensions in a view of", e->sym->name);
    if (out >= 0) seen[out] = true, free++;
    if (!is_index_like(e->kid[d])) return bad(c, "an index is no index in", e->sym->name);
  }
  return free == e->type->rank || bad(c, "bad rank of a view of", e->sym->name);
}

static bool check_node(Checker *c, const TdExpr *e) {
  switch ((TdExprKind)e->kind) {
  case TD_EXPR_SIZE: return td_unit_size(c->unit, e->u.name) || bad(c, "unknown size", e->u.name);
  case TD_EXPR_VAR:
    return type_of(c, e->sym) == e->type || bad(c, "variable out of scope:", e->sym->name);
  case TD_EXPR_LOAD: return check_load(c, e);
  case TD_EXPR_VIEW: return check_view(c, e);
  case TD_EXPR_OP: return e->nkid == td_ops[e->op].arity || bad(c, "arity of", td_ops[e->op].lua);
  case TD_EXPR_CAST:
    return (e->type->kind == TD_T_TENSOR) == (e->kid[0]->type->kind == TD_T_TENSOR) ||
           bad(c, "a cast changes the rank", NULL);
  default: return true;
  }
}

static bool visit_expr(void *ud, const TdExpr *e) {
  return check_node(ud, e);
}

static bool check_exprs(Checker *c, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (!td_walk_expr(s->expr[i], visit_expr, c)) return false;
  return true;
}

static bool same_or_scalar(const TdType *target, const TdType *value) {
  return value == target || value == td_type_scalar(target);
}

/* The unit of that symbol among those that come before the one under check, or NULL. */
static const TdUnit *earlier(const Checker *c, TdSym sym) {
  for (size_t i = 0; i < c->done; i++)
    if (c->prog->unit[i]->sym == sym) return c->prog->unit[i];
  return NULL;
}

static bool check_call(Checker *c, const TdStmt *s) {
  const TdUnit *u = earlier(c, s->sym);
  if (!u) return bad(c, "call of a unit that does not come before:", s->sym->name);
  size_t n = c->lowered && s->nexpr != u->nparam ? u->nparam + u->ncoord : u->nparam;
  if (s->nexpr != n) return bad(c, "wrong number of arguments for", s->sym->name);
  for (uint32_t i = 0; i < u->nparam; i++) {
    const TdType *p = u->param[i].type, *t = s->expr[i]->type;
    if (td_type_is_scalar(p) ? p != t : p->rank != t->rank || p->kind != t->kind)
      return bad(c, "argument of the wrong type for", u->param[i].sym->name);
  }
  return true;
}

/* What the kind of a statement asks of its slots. */
static bool check_slots(Checker *c, const TdStmt *s) {
  const TdType *stream;
  switch ((TdStmtKind)s->kind) {
  case TD_STMT_FOR:
    return (is_index_like(s->expr[0]) && is_index_like(s->expr[1]) && s->step > 0) ||
           bad(c, "bounds of loop", s->sym->name);
  case TD_STMT_WHILE:
  case TD_STMT_IF:
    return s->expr[0]->type->kind == TD_T_BOOL || bad(c, "a condition is no bool", NULL);
  case TD_STMT_LOCAL:
    if (s->init == TD_INIT_VALUE && s->expr[0]->type != s->type)
      return bad(c, "value of the wrong type for", s->sym->name);
    return s->init != TD_INIT_FILL || s->expr[0]->type == td_type_scalar(s->type) ||
           bad(c, "fill of the wrong type for", s->sym->name);
  case TD_STMT_STORE:
    return s->expr[0]->type == s->expr[1]->type ||
           bad(c, "store of the wrong type to", s->expr[0]->sym->name);
  case TD_STMT_SET:
    return same_or_scalar(s->expr[0]->type, s->expr[1]->type) ||
           bad(c, "set of the wrong type of", s->expr[0]->sym->name);
  case TD_STMT_GET:
  case TD_STMT_SLOT:
  case TD_STMT_PUT:
    stream = s->expr[0]->type;
    if (stream->kind != TD_T_PORT || stream->rank)
      return bad(c, "not one stream:", s->expr[0]->sym->name);
    if (s->kind == TD_STMT_PUT && s->expr[1]->type != stream->elem)
      return bad(c, "token of the wrong type for", s->expr[0]->sym->name);
    return s->kind == TD_STMT_PUT || s->type == stream->elem ||
           bad(c, "token type of", s->expr[0]->sym->name);
  case TD_STMT_CALL: return check_call(c, s);
  case TD_STMT_BREAK: return c->in_loop || bad(c, "break outside a loop", NULL);
  default: return true;
  }
}

static bool check_stmt(Checker *c, const TdStmt *s);

/* Whether what s holds are blocks, if s is none itself. */
static bool check_arms(Checker *c, const TdStmt *s) {
  for (uint32_t i = 0; s->kind != TD_STMT_BLOCK && i < s->nkid; i++)
    if (s->kid[i]->kind != TD_STMT_BLOCK) return bad(c, "a body is no block", NULL);
  return true;
}

/* Ends the scopes of what was declared since `mark`. */
static void leave_scope(Checker *c, size_t mark) {
  while (c->scope.n > mark) td_map_drop(&c->type, (uint64_t)(uintptr_t)c->scope.at[--c->scope.n]);
}

/* Kids of a statement, in a scope that ends with it. The condition of a repeat sees the locals of
 * its body. */
static bool check_kids(Checker *c, const TdStmt *s) {
  size_t mark = c->scope.n;
  bool loop = c->in_loop, ok = true;
  c->in_loop |= s->kind == TD_STMT_FOR || s->kind == TD_STMT_WHILE;
  if (s->kind == TD_STMT_FOR) declare(c, s->sym, td_type_index(c->prog->store->session));
  if (s->kind == TD_STMT_WHILE && s->post) {
    for (uint32_t i = 0; ok && i < s->kid[0]->nkid; i++) ok = check_stmt(c, s->kid[0]->kid[i]);
    c->at = s;
    ok = ok && check_exprs(c, s);
  } else {
    for (uint32_t i = 0; ok && i < s->nkid; i++) ok = check_stmt(c, s->kid[i]);
  }
  c->in_loop = loop;
  leave_scope(c, mark);
  return ok;
}

static bool check_stmt(Checker *c, const TdStmt *s) {
  TdCtx *ctx = td_arena_ctx(c->arena);
  td_ctx_enter(ctx);
  c->at = s;
  bool ok = !td_map_get(&c->uid, s->uid, NULL) || bad(c, "a statement occurs twice", NULL);
  td_map_put(c->arena, &c->uid, s->uid, 1);
  c->ndata += s->kind == TD_STMT_LOCAL && s->cls != TD_LOCAL_AUTO;
  bool post = s->kind == TD_STMT_WHILE && s->post;
  ok = ok && (post || check_exprs(c, s)) && check_slots(c, s);
  ok = ok && check_arms(c, s) && (!s->nkid || check_kids(c, s));
  bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  if (ok && declares && s->sym) declare(c, s->sym, s->type);
  td_ctx_leave(ctx);
  return ok;
}

static bool check_unit(Checker *c) {
  const TdUnit *u = c->unit;
  const TdType *index = td_type_index(c->prog->store->session);
  for (size_t i = 0; i < u->nparam; i++) declare(c, u->param[i].sym, u->param[i].type);
  for (size_t i = 0; i < u->ncoord; i++) declare(c, u->coord[i], index);
  for (size_t i = 0; i < u->nassert; i++)
    if (!td_walk_expr(u->assert_[i], visit_expr, c)) return false;
  for (size_t i = 0; i < u->nrun; i++)
    if (!earlier(c, u->run[i].unit))
      return bad(c, "its kernel does not come before task", u->run[i].sym->name);
  if (!u->body) return true;
  c->ndata = 0;
  if (!check_stmt(c, u->body)) return false;
  c->at = u->body;
  return c->lowered || c->ndata == td_stmt_preamble(u->body) ||
         bad(c, "a constant or state behind other statements", NULL);
}

/* Streams of the designs are visible in their tasks. */
static void declare_streams(Checker *c) {
  for (size_t i = 0; i < c->prog->nunit; i++)
    for (size_t k = 0; k < c->prog->unit[i]->nstream; k++)
      declare(c, c->prog->unit[i]->stream[k].sym, c->prog->unit[i]->stream[k].type);
}

static bool verify(const TdProg *p, bool lowered, TdDiag *d) {
  TdArena *a = td_arena_scratch(p->store->session->ctx);
  Checker c = {.prog = p, .arena = a, .d = d, .lowered = lowered};
  bool ok = true;
  for (size_t i = 0; ok && i < p->nunit; i++) {
    c.unit = p->unit[i];
    c.done = i;
    c.type = (TdMap){0};
    c.scope.n = 0;
    declare_streams(&c);
    ok = check_unit(&c);
  }
  td_arena_free(a);
  return ok;
}

bool td_verify_prog(const TdProg *p, TdDiag *d) {
  return verify(p, false, d);
}

bool td_verify_lowered(const TdProg *p, TdDiag *d) {
  return verify(p, true, d);
}
