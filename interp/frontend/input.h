/* input.h - inputs of the prompt: locals that persist, a last expression whose value is shown.
 * repl.md 4.6. */
#ifndef TD_INPUT_H
#define TD_INPUT_H

#include "frontend/ast.h"

/* What an input is compiled as. Both texts have the lines of the input, and all columns but those
   after an inserted word. */
typedef struct TdInputCode {
  const char *tree; /* what the kept source is parsed as: top-level `local` blanked */
  const char *lua;  /* what Lua runs: also `return` before a last expression */
  size_t ntree, nlua;
  bool shows; /* the values of the last expression, or of a last return, are to be shown */
} TdInputCode;

/* Rewrites the input `text`, whose tree (parsed with TD_PARSE_INPUT) is ast; texts are owned by a.
   False with d filled on a top-level <close>,
   and where a line is too long to tell columns. */
bool td_input_rewrite(TdArena *a, const char *text, size_t n, const TdAst *ast, TdInputCode *out,
                      TdDiag *d);

#endif
