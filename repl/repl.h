/* repl.h - the prompt: read an input, run it, again. */
#ifndef TD_REPL_H
#define TD_REPL_H

struct lua_State;

/* Runs the prompt on standard input and output until Ctrl-D or :quit. Returns the exit status. */
int td_repl_run(struct lua_State *L);

#endif
