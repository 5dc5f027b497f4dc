/* scope.h - what names mean while a chunk is parsed: variables, upvalues, labels, Lua's limits. */
#ifndef TD_FRONTEND_LUA_SCOPE_H
#define TD_FRONTEND_LUA_SCOPE_H

#include "frontend/lua/ast.h"

/* The limits of Lua 5.4 as it is built everywhere. */
#define TD_SCOPE_MAX_LOCALS 200
#define TD_SCOPE_MAX_UPVALS 255
#define TD_SCOPE_MAX_REGISTERS 255

/* A block being parsed; lives in the frame of the function that parses it. */
typedef struct TdScopeBlock {
  struct TdScopeBlock *outer;                 /* within the same function */
  size_t variables, registers, labels, gotos; /* how many there were before */
  bool is_loop;
} TdScopeBlock;

/* A function being parsed. */
typedef struct TdScopeFn {
  struct TdScopeFn *outer;
  TdAstFn *fn;
  TdScopeBlock *block, body;
  size_t first, first_label; /* its own are from here on */
  size_t variables;          /* in scope */
  size_t registers;          /* surely taken by them and by pending values */
  TD_VEC(const TdAstLocal *) upvals;
} TdScopeFn;

typedef struct TdScopeLabel {
  const TdAstStmt *stmt;
  size_t variables; /* in scope at the label */
} TdScopeLabel;

typedef struct TdScopeGoto {
  TdAstStmt *stmt;
  size_t variables;
} TdScopeGoto;

typedef struct TdScope {
  TdArena *arena;
  TdDiag *diag;
  const char *env; /* the name "_ENV" */
  TdScopeFn chunk; /* what is around the main function: the variable _ENV */
  TdScopeFn *fn;
  TD_VEC(TdAstLocal *) variables; /* NULL: one that Lua keeps for a loop */
  TD_VEC(TdScopeLabel) labels;
  TD_VEC(TdScopeGoto) gotos; /* those that have not met their label */
} TdScope;

/* Prepares s; codes of the errors below go to diag. s is not moved afterwards. */
void td_scope_open(TdScope *s, TdArena *a, TdNames *names, TdDiag *diag);

/* Enters and leaves a function, whose body is a block. Leaving settles fn->upvals and reports a
 * goto whose label does not exist ("goto-undefined"). */
void td_scope_open_fn(TdScope *s, TdScopeFn *f, TdAstFn *fn);
void td_scope_close_fn(TdScope *s);

/* Enters and leaves a block. */
void td_scope_open_block(TdScope *s, TdScopeBlock *b, bool is_loop);
void td_scope_close_block(TdScope *s);

/* Declares a variable that is not yet in scope ("too-many-locals" at `loc`); n that Lua keeps for a
 * loop, which no name finds; and brings the next n declared into scope. */
TdAstLocal *td_scope_declare(TdScope *s, const char *name, TdLoc loc);
void td_scope_declare_hidden(TdScope *s, size_t n, TdLoc loc);
void td_scope_activate(TdScope *s, size_t n);

/* What a name means here; makes upvalues. "too-many-upvalues" at `loc`. */
TdAstName td_scope_resolve(TdScope *s, const char *id, TdLoc loc);

/* Notes that an expression is assigned to. "const-assign" when it is a constant variable. */
void td_scope_assign(TdScope *s, const TdAstExpr *target);

/* Counts n values that wait in registers, and gives them back. "too-many-values" at `loc`. */
void td_scope_reserve(TdScope *s, size_t n, TdLoc loc);
void td_scope_release(TdScope *s, size_t n);

/* A label, in two steps: it is declared ("label-repeated"), and, when what follows is known,
 * reached by the gotos before it ("goto-scope"). `last`: nothing but labels and ';' follows in the
 * block. */
size_t td_scope_label_declare(TdScope *s, const TdAstStmt *label);
void td_scope_label_place(TdScope *s, size_t label, bool last);
/* A goto, which is given its label now or when that comes. */
void td_scope_label_goto(TdScope *s, TdAstStmt *stmt);
/* Whether a break would have a loop to leave. */
bool td_scope_label_in_loop(const TdScope *s);

#endif
