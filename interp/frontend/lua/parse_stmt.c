/* parse_stmt.c - statements, blocks and function bodies. */
#include <string.h>

#include "frontend/lua/parser.h"

/* Whether a token ends a block. */
static bool ends_block(TdTokKind kind) {
  return kind == TD_TOK_ELSE || kind == TD_TOK_ELSEIF || kind == TD_TOK_END || kind == TD_TOK_EOF ||
         kind == TD_TOK_UNTIL;
}

static void parse_statement(TdParser *p);

TdAstBlock td_parse_stmt_list(TdParser *p, TdTokKind opener, TdLoc loc) {
  TdAstBlock block = {.first = p->prev_last};
  TdParserOpen outer = p->open;
  size_t base = p->stmts.n;
  p->open = (TdParserOpen){opener, loc};
  for (bool returned = false; !returned && !ends_block(p->tok.kind);) {
    returned = p->tok.kind == TD_TOK_RETURN;
    parse_statement(p);
  }
  p->open = outer;
  block.last = p->tok.loc.line;
  TD_PARSER_TAKE(p, &p->stmts, base, &block);
  return block;
}

/* Parses statements with a scope of their own. */
static TdAstBlock parse_block(TdParser *p, TdTokKind opener, TdLoc loc) {
  TdScopeBlock scope;
  td_scope_open_block(&p->scope, &scope, false);
  TdAstBlock block = td_parse_stmt_list(p, opener, loc);
  td_scope_close_block(&p->scope);
  return block;
}

/* Declares the variable whose name is here, on top of the locals. */
static TdAstLocal *parse_local_name(TdParser *p) {
  TdLoc loc = p->tok.loc;
  TdAstLocal *v = td_scope_declare(&p->scope, td_parse_name(p), loc);
  td_vec_push(p->arena, &p->locals, v);
  return v;
}

/* The parameters of fn, without parentheses; all in scope at the end. */
static void parse_params(TdParser *p, TdAstFn *fn, const TdLoc *self) {
  size_t base = p->locals.n;
  if (self) {
    const char *name = td_names_str(p->lex.names, "self");
    const TdAstLocal *v = td_scope_declare(&p->scope, name, *self);
    td_vec_push(p->arena, &p->locals, v);
  }
  bool more = p->tok.kind != TD_TOK_RPAREN;
  while (more) {
    if (td_parse_accept(p, TD_TOK_DOTS))
      fn->is_vararg = true;
    else if (p->tok.kind == TD_TOK_NAME)
      parse_local_name(p);
    else
      td_parse_unexpected(p, "a parameter expected");
    more = !fn->is_vararg && td_parse_accept(p, TD_TOK_COMMA);
  }
  TD_PARSER_TAKE(p, &p->locals, base, &fn->params);
  td_scope_activate(&p->scope, fn->params.n);
}

const TdAstFn *td_parse_stmt_function(TdParser *p, TdLoc loc, uint32_t line, const TdLoc *self) {
  TdAstFn *fn = TD_NEW(p->arena, TdAstFn);
  *fn = (TdAstFn){.loc = loc, .line_defined = line, .outer = p->scope.fn->fn};
  fn->level = fn->outer->level + 1;
  td_vec_push(p->arena, &p->functions, fn);
  TdScopeFn scope;
  td_scope_open_fn(&p->scope, &scope, fn);
  td_parse_expect(p, TD_TOK_LPAREN);
  parse_params(p, fn, self);
  td_parse_expect(p, TD_TOK_RPAREN);
  fn->body = td_parse_stmt_list(p, TD_TOK_FUNCTION, loc);
  fn->last_line_defined = p->tok.last;
  td_parse_close(p, TD_TOK_END, TD_TOK_FUNCTION, loc);
  td_scope_close_fn(&p->scope);
  return fn;
}

/* `<const>` or `<close>` after a local's name, if there is one. */
static TdAstAttrib parse_attrib(TdParser *p) {
  if (!td_parse_accept(p, TD_TOK_LT)) return TD_AST_PLAIN;
  TdLoc loc = p->tok.loc;
  const char *name = td_parse_name(p);
  td_parse_expect(p, TD_TOK_GT);
  if (strcmp(name, "const") == 0) return TD_AST_CONST;
  if (strcmp(name, "close") == 0) return TD_AST_CLOSE;
  td_parse_error(p, "attrib-unknown", loc, "unknown attribute '%s': only const and close exist",
                 name);
  return TD_AST_PLAIN;
}

/* Checks that n values can wait at once. */
static void check_values(TdParser *p, size_t n, TdLoc loc) {
  td_scope_reserve(&p->scope, n, loc);
  td_scope_release(&p->scope, n);
}

/* `name attrib, ... = values`, after `local`. */
static void parse_local(TdParser *p, TdAstStmt *s) {
  s->kind = TD_AST_LOCAL;
  size_t base = p->locals.n, closes = 0;
  TdAstLocal *v;
  do {
    v = parse_local_name(p);
    v->attrib = parse_attrib(p);
    if (v->attrib == TD_AST_CLOSE && closes++)
      td_parse_error(p, "close-repeated", v->loc,
                     "a second <close> variable in one local statement");
  } while (td_parse_accept(p, TD_TOK_COMMA));
  TD_PARSER_TAKE(p, &p->locals, base, &s->local.vars);
  TdAstExprs *values = &s->local.values;
  if (td_parse_accept(p, TD_TOK_ASSIGN)) {
    *values = td_parse_expr_list(p);
    check_values(p, values->n, s->loc);
  }
  if (v->attrib == TD_AST_CONST && values->n == s->local.vars.n)
    v->constant = values->at[values->n - 1]->constant;
  td_scope_activate(&p->scope, s->local.vars.n);
}

/* `function name (...) ... end`, after `local`. */
static void parse_local_function(TdParser *p, TdAstStmt *s) {
  s->kind = TD_AST_LOCAL_FUNCTION;
  TdLoc loc = p->tok.loc;
  td_parse_next(p);
  TdLoc name_loc = p->tok.loc;
  s->function.var = td_scope_declare(&p->scope, td_parse_name(p), name_loc);
  td_scope_activate(&p->scope, 1);
  s->function.fn = td_parse_stmt_function(p, loc, p->tok.last, NULL);
}

/* `function a.b:c (...) ... end` */
static void parse_define(TdParser *p, TdAstStmt *s) {
  s->kind = TD_AST_DEFINE;
  td_parse_next(p);
  const TdAstExpr *target = td_parse_expr_name(p);
  while (p->tok.kind == TD_TOK_DOT) target = td_parse_expr_field(p, target);
  bool is_method = p->tok.kind == TD_TOK_COLON;
  if (is_method) target = td_parse_expr_field(p, target);
  s->function.target = target;
  td_scope_assign(&p->scope, target);
  s->function.fn = td_parse_stmt_function(p, s->loc, s->loc.line, is_method ? &target->loc : NULL);
}

/* Adds a target to those of an assignment. */
static void add_target(TdParser *p, const TdAstExpr *e) {
  if (e->kind == TD_AST_NAME || e->kind == TD_AST_FIELD || e->kind == TD_AST_INDEX)
    td_scope_assign(&p->scope, e);
  else
    td_parse_error(p, "syntax", e->loc, "cannot assign to %s", td_ast_expr_words(e->kind));
  td_parse_expr_push(p, e);
}

/* `= values`, after the targets, which lie above `base` on the stack of expressions. */
static void parse_assigned(TdParser *p, TdAstStmt *s, size_t base) {
  s->kind = TD_AST_ASSIGN;
  TD_PARSER_TAKE(p, &p->exprs, base, &s->assign.targets);
  s->loc = p->tok.loc;
  td_parse_expect(p, TD_TOK_ASSIGN);
  s->assign.values = td_parse_expr_list(p);
  size_t n = s->assign.targets.n, values = s->assign.values.n;
  if (values != n) check_values(p, values > n ? values : n, s->loc);
}

/* `targets = values`, after the first target. As in Lua, each further target is a level deeper. */
static void parse_assign(TdParser *p, TdAstStmt *s, const TdAstExpr *first) {
  size_t base = p->exprs.n;
  int levels = 0;
  add_target(p, first);
  for (; td_parse_accept(p, TD_TOK_COMMA); levels++) {
    add_target(p, td_parse_expr_suffixed(p));
    td_parse_enter(p);
  }
  parse_assigned(p, s, base);
  td_parse_leave(p, levels);
}

/* What follows the first expression of an input and a comma: more targets of an assignment, or more
 * values to show. */
static void parse_input_list(TdParser *p, TdAstStmt *s, const TdAstExpr *first) {
  size_t base = p->exprs.n;
  TdAstExprs rest;
  while (td_parse_accept(p, TD_TOK_COMMA)) td_parse_expr_push(p, td_parse_expr(p));
  TD_PARSER_TAKE(p, &p->exprs, base, &rest);
  if (p->tok.kind != TD_TOK_ASSIGN) {
    s->rest = rest;
    return;
  }
  add_target(p, first);
  for (size_t i = 0; i < rest.n; i++) add_target(p, rest.at[i]);
  parse_assigned(p, s, base);
}

/* Says that no statement begins here; a bracket that closes may come before an `end`. */
static void refuse_statement(TdParser *p) {
  TdTokKind kind = p->tok.kind;
  bool closes = kind == TD_TOK_RPAREN || kind == TD_TOK_RBRACE || kind == TD_TOK_RBRACKET;
  bool opened = p->open.opener != TD_TOK_EOF && !td_diag_failed(p->diag);
  td_parse_unexpected(p, "a statement expected");
  if (closes && opened)
    td_diag_note(p->diag, p->open.loc, "'%s' has no '%s' yet", td_lex_text(p->open.opener),
                 td_lex_text(p->open.opener == TD_TOK_REPEAT ? TD_TOK_UNTIL : TD_TOK_END));
}

/* Whether the input ends here, perhaps after one `;`. */
static bool is_at_end(TdParser *p) {
  return p->tok.kind == TD_TOK_EOF ||
         (p->tok.kind == TD_TOK_SEMI && td_parse_ahead(p) == TD_TOK_EOF);
}

/* An assignment or a call; at the end of an input of the prompt any expression. */
static void parse_expr_statement(TdParser *p, TdAstStmt *s) {
  bool plain = p->tok.kind == TD_TOK_NAME || p->tok.kind == TD_TOK_LPAREN;
  if (!plain && !p->is_input) refuse_statement(p);
  const TdAstExpr *e = plain ? td_parse_expr_suffixed(p) : td_parse_expr(p);
  bool listed = p->tok.kind == TD_TOK_COMMA && !p->is_input;
  if (plain && (p->tok.kind == TD_TOK_ASSIGN || listed)) {
    parse_assign(p, s, e);
    return;
  }
  if (p->is_input) e = td_parse_expr_rest(p, e);
  s->kind = TD_AST_EVAL;
  s->loc = e->loc;
  s->call = e;
  if (p->is_input && p->tok.kind == TD_TOK_COMMA) parse_input_list(p, s, e);
  if (s->kind == TD_AST_ASSIGN) return;
  bool call = s->rest.n == 0 && (e->kind == TD_AST_CALL || e->kind == TD_AST_METHOD);
  if (!call && !(p->is_input && is_at_end(p)))
    td_parse_unexpected(p, "%s alone is not a statement,", td_ast_expr_words(e->kind));
}

/* `do ... end` */
static void parse_do(TdParser *p, TdAstStmt *s) {
  s->kind = TD_AST_DO;
  td_parse_next(p);
  s->block = parse_block(p, TD_TOK_DO, s->loc);
  td_parse_close(p, TD_TOK_END, TD_TOK_DO, s->loc);
}

/* `while cond do ... end` */
static void parse_while(TdParser *p, TdAstStmt *s) {
  TdScopeBlock scope;
  s->kind = TD_AST_WHILE;
  td_parse_next(p);
  s->loop.cond = td_parse_expr(p);
  td_scope_open_block(&p->scope, &scope, true);
  td_parse_expect(p, TD_TOK_DO);
  s->loop.body = parse_block(p, TD_TOK_WHILE, s->loc);
  td_parse_close(p, TD_TOK_END, TD_TOK_WHILE, s->loc);
  td_scope_close_block(&p->scope);
}

/* `repeat ... until cond`, the condition in the scope of the body. */
static void parse_repeat(TdParser *p, TdAstStmt *s) {
  TdScopeBlock loop, body;
  s->kind = TD_AST_REPEAT;
  td_scope_open_block(&p->scope, &loop, true);
  td_scope_open_block(&p->scope, &body, false);
  td_parse_next(p);
  s->loop.body = td_parse_stmt_list(p, TD_TOK_REPEAT, s->loc);
  td_parse_close(p, TD_TOK_UNTIL, TD_TOK_REPEAT, s->loc);
  s->loop.cond = td_parse_expr(p);
  td_scope_close_block(&p->scope);
  td_scope_close_block(&p->scope);
}

/* `if ... elseif ... else ... end` */
static void parse_if(TdParser *p, TdAstStmt *s) {
  s->kind = TD_AST_IF;
  size_t base = p->arms.n;
  do {
    td_parse_next(p);
    TdAstArm arm = {.cond = td_parse_expr(p)};
    td_parse_expect(p, TD_TOK_THEN);
    arm.body = parse_block(p, TD_TOK_IF, s->loc);
    td_vec_push(p->arena, &p->arms, arm);
  } while (p->tok.kind == TD_TOK_ELSEIF);
  if (td_parse_accept(p, TD_TOK_ELSE)) {
    TdAstArm arm = {.body = parse_block(p, TD_TOK_IF, s->loc)};
    td_vec_push(p->arena, &p->arms, arm);
  }
  td_parse_close(p, TD_TOK_END, TD_TOK_IF, s->loc);
  TD_PARSER_TAKE(p, &p->arms, base, &s->arms);
}

/* `= start, limit, step` */
static TdAstExprs parse_range(TdParser *p) {
  TdAstExprs range = {0};
  size_t base = p->exprs.n;
  td_parse_expect(p, TD_TOK_ASSIGN);
  td_parse_expr_push(p, td_parse_expr(p));
  td_parse_expect(p, TD_TOK_COMMA);
  td_parse_expr_push(p, td_parse_expr(p));
  if (td_parse_accept(p, TD_TOK_COMMA)) td_parse_expr_push(p, td_parse_expr(p));
  TD_PARSER_TAKE(p, &p->exprs, base, &range);
  return range;
}

/* How many variables of its own Lua keeps for a loop. */
enum { HIDDEN_FOR = 3, HIDDEN_FOR_IN = 4 };

/* The variables of a loop and what they run over; returns the number of hidden variables. */
static size_t parse_for_head(TdParser *p, TdAstStmt *s) {
  size_t base = p->locals.n;
  TdTokKind after = td_parse_ahead(p);
  bool is_range = after == TD_TOK_ASSIGN;
  s->kind = is_range ? TD_AST_FOR : TD_AST_FOR_IN;
  size_t hidden = is_range ? HIDDEN_FOR : HIDDEN_FOR_IN;
  td_scope_declare_hidden(&p->scope, hidden, p->tok.loc);
  parse_local_name(p);
  if (is_range) {
    s->each.over = parse_range(p);
  } else {
    while (td_parse_accept(p, TD_TOK_COMMA)) parse_local_name(p);
    if (!td_parse_accept(p, TD_TOK_IN)) td_parse_unexpected(p, "'=' or 'in' expected");
    s->each.over = td_parse_expr_list(p);
  }
  TD_PARSER_TAKE(p, &p->locals, base, &s->each.vars);
  return hidden;
}

/* `for i = start, limit, step do ... end` and `for a, b in ... do ... end` */
static void parse_for(TdParser *p, TdAstStmt *s) {
  TdScopeBlock loop, body;
  td_scope_open_block(&p->scope, &loop, true);
  td_parse_next(p);
  td_scope_activate(&p->scope, parse_for_head(p, s));
  td_parse_expect(p, TD_TOK_DO);
  td_scope_open_block(&p->scope, &body, false);
  td_scope_activate(&p->scope, s->each.vars.n);
  s->each.body = parse_block(p, TD_TOK_FOR, s->loc);
  td_scope_close_block(&p->scope);
  td_parse_close(p, TD_TOK_END, TD_TOK_FOR, s->loc);
  td_scope_close_block(&p->scope);
}

/* `return values;` */
static void parse_return(TdParser *p, TdAstStmt *s) {
  s->kind = TD_AST_RETURN;
  td_parse_next(p);
  if (!ends_block(p->tok.kind) && p->tok.kind != TD_TOK_SEMI) s->values = td_parse_expr_list(p);
  if (s->values.n > 1) check_values(p, s->values.n, s->loc);
  td_parse_accept(p, TD_TOK_SEMI);
}

/* `break` */
static void parse_break(TdParser *p, TdAstStmt *s) {
  s->kind = TD_AST_BREAK;
  td_parse_next(p);
  if (!td_scope_label_in_loop(&p->scope))
    td_parse_error(p, "break-outside", s->loc, "break outside a loop");
}

/* `goto name` */
static void parse_goto(TdParser *p, TdAstStmt *s) {
  s->kind = TD_AST_GOTO;
  td_parse_next(p);
  s->loc = p->tok.loc;
  s->jump.name = td_parse_name(p);
  td_scope_label_goto(&p->scope, s);
}

/* `::name::`, and the labels and ';' that follow it, which are a level deeper, as in Lua. */
static void parse_label(TdParser *p, TdAstStmt *s) {
  s->kind = TD_AST_LABEL;
  td_parse_next(p);
  s->loc = p->tok.loc;
  s->label = td_parse_name(p);
  td_parse_expect(p, TD_TOK_DCOLON);
  s->last = p->prev_last;
  size_t label = td_scope_label_declare(&p->scope, s);
  while (p->tok.kind == TD_TOK_SEMI || p->tok.kind == TD_TOK_DCOLON) parse_statement(p);
  td_scope_label_place(&p->scope, label, ends_block(p->tok.kind) && p->tok.kind != TD_TOK_UNTIL);
}

/* Parses a statement by the word it begins with. */
static void parse_kind(TdParser *p, TdAstStmt *s) {
  switch (p->tok.kind) {
  case TD_TOK_SEMI:
    s->kind = TD_AST_EMPTY;
    td_parse_next(p);
    break;
  case TD_TOK_IF: parse_if(p, s); break;
  case TD_TOK_WHILE: parse_while(p, s); break;
  case TD_TOK_DO: parse_do(p, s); break;
  case TD_TOK_FOR: parse_for(p, s); break;
  case TD_TOK_REPEAT: parse_repeat(p, s); break;
  case TD_TOK_FUNCTION: parse_define(p, s); break;
  case TD_TOK_LOCAL:
    td_parse_next(p);
    if (p->tok.kind == TD_TOK_FUNCTION)
      parse_local_function(p, s);
    else
      parse_local(p, s);
    break;
  case TD_TOK_DCOLON: parse_label(p, s); break;
  case TD_TOK_RETURN: parse_return(p, s); break;
  case TD_TOK_BREAK: parse_break(p, s); break;
  case TD_TOK_GOTO: parse_goto(p, s); break;
  default: parse_expr_statement(p, s); break;
  }
}

/* Parses a statement onto the stack of statements. */
static void parse_statement(TdParser *p) {
  TdAstStmt *s = TD_NEW(p->arena, TdAstStmt);
  s->loc = s->begin = p->tok.loc;
  s->first = p->tok.loc.line;
  td_vec_push(p->arena, &p->stmts, s);
  td_ctx_tick(td_arena_ctx(p->arena), 1);
  td_parse_enter(p);
  parse_kind(p, s);
  td_parse_leave(p, 1);
  if (!s->last) s->last = p->prev_last;
}
