/* input.h - inputs of the prompt: locals that persist, a last expression whose value is shown. */
#ifndef TD_FRONTEND_LUA_INPUT_H
#define TD_FRONTEND_LUA_INPUT_H

#include "frontend/lua/ast.h"

/* What stands before a last expression. A variable to be closed keeps `return f()` from being a
 * tail call, which would lose the line of the input. */
#define TD_INPUT_RETURNS "local tide_input <close> = nil return "

/* What an input is compiled as. Both texts have the lines of the input, and all columns but those
 * after an inserted word. */
typedef struct TdInputCode {
  const char *tree; /* what the kept source is parsed as: top-level `local` blanked */
  const char *lua;  /* what Lua runs: also TD_INPUT_RETURNS before a last expression */
  size_t ntree, nlua;
  bool shows; /* the values of the last expression, or of a last return, are to be shown */
} TdInputCode;

/* Rewrites the input `text`, whose tree (parsed with TD_PARSE_INPUT) is ast; texts are owned by a.
 * False with d filled on a top-level <close>,
 * and where a line is too long to tell columns. */
bool td_input_rewrite(TdArena *a, const char *text, size_t n, const TdAst *ast, TdInputCode *out,
                      TdDiag *d);

/* What an input ends with. */
typedef enum {
  TD_INPUT_NONE,  /* no value */
  TD_INPUT_CALL,  /* one call, which may be a statement */
  TD_INPUT_CALLS, /* expressions with calls in them */
  TD_INPUT_VALUE, /* expressions without */
  TD_INPUT_RETURN /* a return statement */
} TdInputLast;

/* An input as a piece of a script whose variables are global. */
typedef struct TdInputScript {
  const char *text; /* top-level `local` and attributes left out */
  size_t n, at;     /* at: where the last statement begins, unless it is NONE */
  TdInputLast last;
  bool shows;
} TdInputScript;

/* The same of an input for a script; as td_input_rewrite. */
bool td_input_script(TdArena *a, const char *text, size_t n, const TdAst *ast, TdInputScript *out,
                     TdDiag *d);

#endif
