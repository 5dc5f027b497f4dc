/* parser.h - what parse.c, parse_expr.c and parse_stmt.c share.
 * Errors need no unwinding: after the first one every token is the end of the input, so the descent
 * comes to its end by itself, and the tree is dropped. */
#ifndef TD_FRONTEND_LUA_PARSER_H
#define TD_FRONTEND_LUA_PARSER_H

#include "frontend/lua/lex.h"
#include "frontend/lua/scope.h"

/* A block whose end has not come yet. */
typedef struct TdParserOpen {
  TdTokKind opener; /* EOF: the chunk */
  TdLoc loc;
} TdParserOpen;

typedef struct TdParser {
  TdArena *arena;
  TdDiag *diag;
  TdLexer lex;
  TdScope scope;
  TdToken tok, ahead; /* the token to parse; the one after it if has_ahead */
  bool has_ahead;
  bool is_input;      /* an input of the prompt: it may end with an expression */
  uint32_t prev_last; /* the line where the token before tok ends */
  TdParserOpen open;  /* the innermost */
  int level;          /* of statements and expressions in each other */
  /* lists under construction, those of outer nodes first */
  TD_VEC(const TdAstExpr *) exprs;
  TD_VEC(const TdAstStmt *) stmts;
  TD_VEC(const TdAstLocal *) locals;
  TD_VEC(TdAstItem) items;
  TD_VEC(TdAstArm) arms;
  TD_VEC(const TdAstFn *) functions;
} TdParser;

/* Moves what stack v holds above its first `base` into a list of its own. */
#define TD_PARSER_TAKE(p, v, base, list)                                                           \
  do {                                                                                             \
    (list)->n = (v)->n - (base);                                                                   \
    if ((list)->n)                                                                                 \
      (list)->at = td_arena_copy((p)->arena, (v)->at + (base), (list)->n * sizeof *(v)->at);       \
    (v)->n = (base);                                                                               \
  } while (0)

/* parse.c: tokens and errors. */

/* Steps to the next token. */
void td_parse_next(TdParser *p);
/* The kind of the token after this one. */
TdTokKind td_parse_ahead(TdParser *p);
/* Steps over a token of this kind if it is here, and returns whether it was. */
bool td_parse_accept(TdParser *p, TdTokKind kind);
/* Steps over a token of this kind, or reports that it is missing. */
void td_parse_expect(TdParser *p, TdTokKind kind);
/* The same for the token that closes what `opener` at `loc` began. */
void td_parse_close(TdParser *p, TdTokKind kind, TdTokKind opener, TdLoc loc);
/* Steps over a name and returns it; "?" after an error. */
const char *td_parse_name(TdParser *p);
/* Reports that this token cannot stand here: "<message> near <token>". Code "syntax", at the end
 * of the input "incomplete". */
void td_parse_unexpected(TdParser *p, const char *fmt, ...) TD_PRINTF(2, 3);
/* Reports an error at a place. */
void td_parse_error(TdParser *p, const char *code, TdLoc loc, const char *fmt, ...) TD_PRINTF(4, 5);
/* Counts a level of nesting, at most 199 as in Lua; "too-deep". */
void td_parse_enter(TdParser *p);
void td_parse_leave(TdParser *p, int levels);

/* parse_expr.c. None of these returns NULL. */

/* Parses an expression. */
const TdAstExpr *td_parse_expr(TdParser *p);
/* Parses the operators that follow operand e. */
const TdAstExpr *td_parse_expr_rest(TdParser *p, const TdAstExpr *e);
/* Parses one that a statement can begin with: a name or parentheses, then fields, calls... */
const TdAstExpr *td_parse_expr_suffixed(TdParser *p);
/* Parses one or more, separated by commas. */
TdAstExprs td_parse_expr_list(TdParser *p);
/* Puts e on the stack of expressions. (td_vec_push would look at the stack before a parse ends.) */
void td_parse_expr_push(TdParser *p, const TdAstExpr *e);
/* Parses a name as an expression; and `.name` or `:name` after an expression as a field of it. */
const TdAstExpr *td_parse_expr_name(TdParser *p);
const TdAstExpr *td_parse_expr_field(TdParser *p, const TdAstExpr *of);

/* parse_stmt.c. */

/* Parses the parameters and body of a function, up to its `end`. */
const TdAstFn *td_parse_stmt_function(TdParser *p, TdLoc loc, uint32_t line, const TdLoc *self);
/* Parses the statements of a body, up to what closes the block that `opener` at loc began. */
TdAstBlock td_parse_stmt_list(TdParser *p, TdTokKind opener, TdLoc loc);

#endif
