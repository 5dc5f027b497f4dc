/* worker.h - the thread of Lua: runs cells, completes and explains, by the prompt's own functions.
 */
#ifndef TD_REPL_JUPYTER_WORKER_H
#define TD_REPL_JUPYTER_WORKER_H

#include "repl/jupyter/mailbox.h"

struct lua_State;

/* Answers what is asked until nothing more comes. */
void td_worker_run(struct lua_State *L, TdMailbox *asks, TdMailbox *tells);

#endif
