/* fault_place.c - where the thing stands that a message of Lua names: the operand of the right
 * operator, call or index on the line. */
#include <string.h>

#include "bind/session/fault.h"

/* An operand, and what uses it. */
typedef struct Operand {
  const TdAstExpr *of, *user;
} Operand;

/* Looks for operands of one use. */
typedef struct Search {
  const TdLuaFault *fault;
  bool whole; /* lines that an expression spans count too */
  TD_VEC(Operand) found;
} Search;

static bool is_arithmetic(TdAstBinary op) {
  return op >= TD_AST_ADD && op <= TD_AST_POW;
}

static bool is_bitwise(TdAstBinary op) {
  return op >= TD_AST_BOR && op <= TD_AST_SHR;
}

static bool is_order(TdAstBinary op) {
  return op == TD_AST_LT || op == TD_AST_GT || op == TD_AST_LE || op == TD_AST_GE;
}

/* Whether a binary operator makes that use of its operands. */
static bool is_binary_use(TdAstBinary op, TdFaultUse use) {
  switch (use) {
  case TD_FAULT_ARITHMETIC: return is_arithmetic(op);
  case TD_FAULT_BITWISE: return is_bitwise(op);
  case TD_FAULT_CONCAT: return op == TD_AST_CONCAT;
  case TD_FAULT_COMPARE: return is_order(op);
  case TD_FAULT_DIVIDE: return op == TD_AST_IDIV || op == TD_AST_MOD;
  default: return false;
  }
}

static bool is_unary_use(TdAstUnary op, TdFaultUse use) {
  return (use == TD_FAULT_ARITHMETIC && op == TD_AST_NEG) ||
         (use == TD_FAULT_BITWISE && op == TD_AST_BNOT) ||
         (use == TD_FAULT_LENGTH && op == TD_AST_LEN);
}

/* The operands of e that a use is made of: at most two; returns how many. */
static size_t operands(const TdAstExpr *e, TdFaultUse use, const TdAstExpr *of[2]) {
  bool calls = use == TD_FAULT_CALL, indexes = use == TD_FAULT_INDEX;
  switch (e->kind) {
  case TD_AST_CALL: of[0] = e->call.callee; return calls;
  case TD_AST_METHOD: of[0] = calls ? e : e->call.callee; return calls || indexes;
  case TD_AST_FIELD: of[0] = e->field.of; return indexes;
  case TD_AST_INDEX: of[0] = e->index.of; return indexes;
  case TD_AST_UNARY: of[0] = e->unary.of; return is_unary_use(e->unary.op, use);
  case TD_AST_BINARY:
    of[0] = e->binary.left;
    of[1] = e->binary.right;
    return is_binary_use(e->binary.op, use) ? 2 : 0;
  default: return 0;
  }
}

/* Whether Lua calls an operand by a name: a key that is no constant text has none of its own. */
static bool is_called(const TdAstExpr *e, const char *name) {
  bool unknown = strcmp(name, "?") == 0 || strcmp(name, "integer index") == 0;
  switch (e->kind) {
  case TD_AST_NAME: return strcmp(e->name.id, name) == 0;
  case TD_AST_FIELD: return strcmp(e->field.key, name) == 0;
  case TD_AST_METHOD: return strcmp(e->call.method, name) == 0;
  case TD_AST_STRING: return strcmp(e->string.at, name) == 0;
  case TD_AST_INDEX: {
    const TdAstExpr *key = e->index.key->constant;
    return key && key->kind == TD_AST_STRING ? strcmp(key->string.at, name) == 0 : unknown;
  }
  default: return false;
  }
}

static const TdAstExpr *strip(const TdAstExpr *e) {
  while (e->kind == TD_AST_PAREN) e = e->paren;
  return e;
}

/* Collects the operands of the use on the line: those of the name, or all where there is none. */
static bool look_operand(void *ud, const TdAstExpr *e) {
  Search *s = ud;
  const TdLuaFault *f = s->fault;
  if (f->line < e->first || f->line > e->last) return true;
  const TdAstExpr *of[2];
  size_t n = operands(e, f->use, of);
  for (size_t i = 0; i < n; i++) {
    const TdAstExpr *operand = strip(of[i]), *at = f->name ? operand : e;
    bool fits = f->name ? is_called(operand, f->name) : i == 0;
    if (fits && (s->whole || at->loc.line == f->line))
      td_vec_push(f->arena, &s->found, ((Operand){operand, e}));
  }
  return true;
}

/* Whether an operand is known to be no nil. */
static bool has_value(const TdLuaFault *f, const TdAstExpr *e) {
  if (e->kind == TD_AST_METHOD || !td_fault_push_value(f, e)) return false;
  bool has = !lua_isnil(f->L, -1);
  lua_pop(f->L, 1);
  return has;
}

/* Drops the operands that have a value where Lua found nil. */
static void drop_valued(Search *s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->found.n; i++)
    if (!has_value(s->fault, s->found.at[i].of)) s->found.at[kept++] = s->found.at[i];
  s->found.n = kept;
}

const TdAstExpr *td_fault_operand(const TdLuaFault *f, const TdAstExpr **user) {
  const TdAst *ast = f->source ? td_bind_ast(f->L, f->source) : NULL;
  Search s = {.fault = f};
  TdAstVisitor v = {.expr = look_operand, .ud = &s};
  *user = NULL;
  if (!ast || !f->use || f->use == TD_FAULT_ARGUMENT) return NULL;
  td_walk_ast_block(&v, &ast->main->body);
  s.whole = s.found.n == 0;
  if (s.whole) td_walk_ast_block(&v, &ast->main->body);
  if (f->is_nil && s.found.n > 1) drop_valued(&s);
  if (s.found.n == 0 || (!f->name && s.found.n > 1)) return NULL;
  *user = s.found.at[0].user;
  return s.found.at[0].of;
}

/* Looks for the bounds of a loop that Lua complains about. */
typedef struct BoundSearch {
  const TdLuaFault *fault;
  bool is_iterator; /* what a `for .. in` runs over */
  size_t place;
  TdLoc found;
} BoundSearch;

static bool look_bound(void *ud, const TdAstStmt *s) {
  BoundSearch *b = ud;
  bool is_loop = s->kind == (b->is_iterator ? TD_AST_FOR_IN : TD_AST_FOR);
  if (is_loop && s->first == b->fault->line && b->place < s->each.over.n)
    b->found = s->each.over.at[b->place]->loc;
  return true;
}

/* The bound that "'for' limit must be a number" names; line 0: the message is about none. */
static TdLoc bound_place(const TdLuaFault *f, const TdAst *ast) {
  static const char *const bound[] = {"'for' initial", "'for' limit", "'for' step"};
  BoundSearch b = {.fault = f, .place = SIZE_MAX};
  for (size_t i = 0; i < sizeof bound / sizeof *bound; i++)
    if (strstr(f->message, bound[i])) b.place = i;
  b.is_iterator = strstr(f->message, "'for iterator'") != NULL;
  if (b.is_iterator) b.place = 0;
  TdAstVisitor v = {.stmt = look_bound, .ud = &b};
  if (b.place != SIZE_MAX) td_walk_ast_block(&v, &ast->main->body);
  return b.found;
}

TdLoc td_fault_place(const TdLuaFault *f, const TdAstExpr *operand, const TdAstExpr *user) {
  TdLoc line = {.source = f->source, .line = f->line};
  if (operand) return f->name ? operand->loc : user->loc;
  const TdAst *ast = f->source ? td_bind_ast(f->L, f->source) : NULL;
  if (!ast) return line;
  TdLoc bound = bound_place(f, ast);
  if (bound.line) return bound;
  const TdAstExpr *call = f->callee ? td_bind_find_call(ast, f->line, f->callee) : NULL;
  size_t i = (size_t)f->argument;
  if (!call) return line;
  return i && i <= call->call.args.n ? call->call.args.at[i - 1]->loc : call->loc;
}
