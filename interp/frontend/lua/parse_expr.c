/* parse_expr.c - expressions. */
#include "frontend/lua/fold.h"
#include "frontend/lua/parser.h"

/* A new node whose text begins on line `first`. */
static TdAstExpr *new_expr(TdParser *p, TdAstExprKind kind, TdLoc loc, uint32_t first) {
  TdAstExpr *e = TD_NEW(p->arena, TdAstExpr);
  e->kind = kind;
  e->loc = loc;
  e->first = first;
  return e;
}

void td_parse_expr_push(TdParser *p, const TdAstExpr *e) {
  td_vec_push(p->arena, &p->exprs, e);
}

/* Ends e at the token before this one, and returns it. */
static const TdAstExpr *finish(const TdParser *p, TdAstExpr *e) {
  e->last = p->prev_last;
  return e;
}

/* A node for the one token that is here. */
static TdAstExpr *new_here(TdParser *p, TdAstExprKind kind) {
  return new_expr(p, kind, p->tok.loc, p->tok.loc.line);
}

/* Steps over the one token that is e, a literal. */
static const TdAstExpr *finish_literal(TdParser *p, TdAstExpr *e) {
  e->constant = e;
  td_parse_next(p);
  return finish(p, e);
}

const TdAstExpr *td_parse_expr_name(TdParser *p) {
  TdAstExpr *e = new_here(p, TD_AST_NAME);
  const char *id = td_parse_name(p);
  e->name = td_scope_resolve(&p->scope, id, e->loc);
  if (e->name.binding != TD_AST_IS_GLOBAL) e->constant = e->name.var->constant;
  return finish(p, e);
}

/* `( expression )` */
static const TdAstExpr *parse_paren(TdParser *p) {
  TdAstExpr *e = new_here(p, TD_AST_PAREN);
  td_parse_next(p);
  e->paren = td_parse_expr(p);
  e->constant = e->paren->constant;
  td_parse_close(p, TD_TOK_RPAREN, TD_TOK_LPAREN, e->loc);
  return finish(p, e);
}

/* `. name`, or `: name` of a function's name, after `of`. */
const TdAstExpr *td_parse_expr_field(TdParser *p, const TdAstExpr *of) {
  td_parse_next(p);
  TdAstExpr *e = new_expr(p, TD_AST_FIELD, p->tok.loc, of->first);
  e->field.of = of;
  e->field.key = td_parse_name(p);
  return finish(p, e);
}

/* `[ key ]` after `of`. */
static const TdAstExpr *parse_index(TdParser *p, const TdAstExpr *of) {
  TdAstExpr *e = new_expr(p, TD_AST_INDEX, p->tok.loc, of->first);
  td_parse_next(p);
  e->index.of = of;
  e->index.key = td_parse_expr(p);
  td_parse_close(p, TD_TOK_RBRACKET, TD_TOK_LBRACKET, e->loc);
  return finish(p, e);
}

static const TdAstExpr *parse_table(TdParser *p);

/* A string that is here. */
static const TdAstExpr *parse_string(TdParser *p) {
  TdAstExpr *e = new_here(p, TD_AST_STRING);
  e->string.at = p->tok.string.at;
  e->string.n = p->tok.string.n;
  return finish_literal(p, e);
}

/* The arguments of a call: a list in parentheses, a table or a string. */
static TdAstExprs parse_args(TdParser *p) {
  TdAstExprs args = {0};
  TdLoc loc = p->tok.loc;
  size_t base = p->exprs.n;
  switch (p->tok.kind) {
  case TD_TOK_LPAREN:
    td_parse_next(p);
    if (p->tok.kind != TD_TOK_RPAREN) args = td_parse_expr_list(p);
    td_parse_close(p, TD_TOK_RPAREN, TD_TOK_LPAREN, loc);
    return args;
  case TD_TOK_STRING: td_parse_expr_push(p, parse_string(p)); break;
  case TD_TOK_LBRACE: td_parse_expr_push(p, parse_table(p)); break;
  default: td_parse_unexpected(p, "arguments expected"); break;
  }
  TD_PARSER_TAKE(p, &p->exprs, base, &args);
  return args;
}

/* The arguments of a call of `callee`, or of a method (from its ':') of it. */
static const TdAstExpr *parse_call(TdParser *p, const TdAstExpr *callee) {
  bool is_method = p->tok.kind == TD_TOK_COLON;
  TdAstExpr *e = new_expr(p, is_method ? TD_AST_METHOD : TD_AST_CALL, callee->loc, callee->first);
  e->call.callee = callee;
  if (is_method) {
    td_parse_next(p);
    e->loc = p->tok.loc;
    e->call.method = td_parse_name(p);
  }
  size_t own = is_method ? 2 : 1;
  td_scope_reserve(&p->scope, own, e->loc);
  e->call.args = parse_args(p);
  td_scope_reserve(&p->scope, e->call.args.n, e->loc);
  td_scope_release(&p->scope, own + e->call.args.n);
  return finish(p, e);
}

const TdAstExpr *td_parse_expr_suffixed(TdParser *p) {
  const TdAstExpr *e;
  switch (p->tok.kind) {
  case TD_TOK_NAME: e = td_parse_expr_name(p); break;
  case TD_TOK_LPAREN: e = parse_paren(p); break;
  default: td_parse_unexpected(p, "an expression expected"); return new_here(p, TD_AST_NIL);
  }
  for (;;) {
    switch (p->tok.kind) {
    case TD_TOK_DOT: e = td_parse_expr_field(p, e); break;
    case TD_TOK_LBRACKET: e = parse_index(p, e); break;
    case TD_TOK_COLON:
    case TD_TOK_LPAREN:
    case TD_TOK_STRING:
    case TD_TOK_LBRACE: e = parse_call(p, e); break;
    default: return e;
    }
  }
}

/* One item of a table constructor. */
static TdAstItem parse_item(TdParser *p) {
  TdAstItem item = {.loc = p->tok.loc};
  if (p->tok.kind == TD_TOK_NAME && td_parse_ahead(p) == TD_TOK_ASSIGN) {
    item.name = td_parse_name(p);
    td_parse_next(p);
  } else if (td_parse_accept(p, TD_TOK_LBRACKET)) {
    item.key = td_parse_expr(p);
    td_parse_close(p, TD_TOK_RBRACKET, TD_TOK_LBRACKET, item.loc);
    td_parse_expect(p, TD_TOK_ASSIGN);
  }
  item.value = td_parse_expr(p);
  if (!item.name && !item.key) item.loc = item.value->loc;
  return item;
}

/* How many items Lua gathers in registers before it puts them into the table. */
#define ITEMS_AT_ONCE 50

/* `{ items }` */
static const TdAstExpr *parse_table(TdParser *p) {
  TdAstExpr *e = new_here(p, TD_AST_TABLE);
  size_t base = p->items.n, waiting = 0;
  td_parse_next(p);
  td_scope_reserve(&p->scope, 1, e->loc);
  while (p->tok.kind != TD_TOK_RBRACE) {
    TdAstItem item = parse_item(p);
    td_vec_push(p->arena, &p->items, item);
    if (!td_parse_accept(p, TD_TOK_COMMA) && !td_parse_accept(p, TD_TOK_SEMI)) break;
    if (item.name || item.key || p->tok.kind == TD_TOK_RBRACE) continue;
    td_scope_reserve(&p->scope, 1, item.loc);
    if (++waiting < ITEMS_AT_ONCE) continue;
    td_scope_release(&p->scope, waiting);
    waiting = 0;
  }
  td_scope_release(&p->scope, waiting + 1);
  td_parse_close(p, TD_TOK_RBRACE, TD_TOK_LBRACE, e->loc);
  TD_PARSER_TAKE(p, &p->items, base, &e->table);
  return finish(p, e);
}

/* `function ( parameters ) body end`; Lua takes the line of the '(' for the function's. */
static const TdAstExpr *parse_function(TdParser *p) {
  TdAstExpr *e = new_here(p, TD_AST_FUNCTION);
  td_parse_next(p);
  e->fn = td_parse_stmt_function(p, e->loc, p->tok.last, NULL);
  return finish(p, e);
}

/* `...` */
static const TdAstExpr *parse_vararg(TdParser *p) {
  TdAstExpr *e = new_here(p, TD_AST_VARARG);
  if (!p->scope.fn->fn->is_vararg)
    td_parse_error(p, "vararg-outside", e->loc, "'...' outside a function that takes '...'");
  td_parse_next(p);
  return finish(p, e);
}

/* Whether the text of a number is digits and nothing else. */
static bool has_digits_alone(const TdToken *t) {
  const char *s = t->at;
  while (s < t->end && td_lex_is_digit(*s)) s++;
  return s == t->end;
}

/* An operand without operators. */
static const TdAstExpr *parse_simple(TdParser *p) {
  TdAstExpr *e;
  switch (p->tok.kind) {
  case TD_TOK_NIL: return finish_literal(p, new_here(p, TD_AST_NIL));
  case TD_TOK_TRUE:
  case TD_TOK_FALSE:
    e = new_here(p, TD_AST_BOOL);
    e->boolean = p->tok.kind == TD_TOK_TRUE;
    return finish_literal(p, e);
  case TD_TOK_INT:
    e = new_here(p, TD_AST_INT);
    e->integer = p->tok.integer;
    return finish_literal(p, e);
  case TD_TOK_FLOAT:
    e = new_here(p, TD_AST_FLOAT);
    e->number = p->tok.number;
    e->is_long = has_digits_alone(&p->tok);
    return finish_literal(p, e);
  case TD_TOK_STRING: return parse_string(p);
  case TD_TOK_DOTS: return parse_vararg(p);
  case TD_TOK_LBRACE: return parse_table(p);
  case TD_TOK_FUNCTION: return parse_function(p);
  default: return td_parse_expr_suffixed(p);
  }
}

/* Whether a token is a unary operator; if so *op is that. */
static bool is_unary(TdTokKind kind, TdAstUnary *op) {
  switch (kind) {
  case TD_TOK_NOT: *op = TD_AST_NOT; return true;
  case TD_TOK_SUB: *op = TD_AST_NEG; return true;
  case TD_TOK_BXOR: *op = TD_AST_BNOT; return true;
  case TD_TOK_LEN: *op = TD_AST_LEN; return true;
  default: return false;
  }
}

/* Whether a token is a binary operator; if so *op is that. */
static bool is_binary(TdTokKind kind, TdAstBinary *op) {
#define CASE(name, text, left, right)                                                              \
  case TD_TOK_##name: *op = TD_AST_##name; return true;
  switch (kind) {
    TD_AST_BINARIES(CASE)
  default: return false;
  }
#undef CASE
}

#define PRIORITY(name, text, left, right) [TD_AST_##name] = {left, right},
static const struct { int left, right; } priority[] = {TD_AST_BINARIES(PRIORITY)};
#undef PRIORITY

static const TdAstExpr *parse_operand(TdParser *p, int limit);

/* A unary operator and its operand. */
static const TdAstExpr *parse_unary(TdParser *p, TdAstUnary op) {
  TdAstExpr *e = new_here(p, TD_AST_UNARY);
  td_parse_next(p);
  e->unary.op = op;
  e->unary.of = parse_operand(p, TD_AST_UNARY_PRIORITY);
  e->constant = td_fold_unary(p->arena, op, e->unary.of->constant);
  return finish(p, e);
}

/* The binary operator that is here and its right operand, after `left`. */
static const TdAstExpr *parse_binary(TdParser *p, TdAstBinary op, const TdAstExpr *left) {
  TdAstExpr *e = new_expr(p, TD_AST_BINARY, p->tok.loc, left->first);
  td_parse_next(p);
  e->binary.op = op;
  e->binary.left = left;
  e->binary.right = parse_operand(p, priority[op].right);
  e->constant = td_fold_binary(p->arena, op, left->constant, e->binary.right->constant);
  return finish(p, e);
}

/* An expression of the operators that bind tighter than `limit`. */
static const TdAstExpr *parse_operand(TdParser *p, int limit) {
  TdAstUnary unary;
  TdAstBinary binary;
  td_parse_enter(p);
  const TdAstExpr *e = is_unary(p->tok.kind, &unary) ? parse_unary(p, unary) : parse_simple(p);
  while (is_binary(p->tok.kind, &binary) && priority[binary].left > limit)
    e = parse_binary(p, binary, e);
  td_parse_leave(p, 1);
  return e;
}

const TdAstExpr *td_parse_expr_rest(TdParser *p, const TdAstExpr *e) {
  TdAstBinary binary;
  while (is_binary(p->tok.kind, &binary)) e = parse_binary(p, binary, e);
  return e;
}

const TdAstExpr *td_parse_expr(TdParser *p) {
  return parse_operand(p, 0);
}

TdAstExprs td_parse_expr_list(TdParser *p) {
  TdAstExprs list = {0};
  size_t base = p->exprs.n, waiting = 0;
  for (;; waiting++) {
    const TdAstExpr *e = td_parse_expr(p);
    td_parse_expr_push(p, e);
    if (!td_parse_accept(p, TD_TOK_COMMA)) break;
    td_scope_reserve(&p->scope, 1, e->loc);
  }
  td_scope_release(&p->scope, waiting);
  TD_PARSER_TAKE(p, &p->exprs, base, &list);
  return list;
}
