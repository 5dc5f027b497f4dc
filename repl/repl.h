/* repl.h - the prompt: read an input, run it, again. */
#ifndef TD_REPL_H
#define TD_REPL_H

#include <stdbool.h>

struct lua_State;

/* Runs the prompt on standard input and output until Ctrl-D or :quit; with `resumes`, after the
 * inputs of the last session that was killed. Returns the exit status. */
int td_repl_run(struct lua_State *L, bool resumes);

#endif
