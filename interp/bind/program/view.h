/* view.h - what the files of the module tide.view share: programs as data for drawings and pages.
 */
#ifndef TD_BIND_PROGRAM_VIEW_H
#define TD_BIND_PROGRAM_VIEW_H

#include "bind/bind.h"

/* drawing.c: pushes the design that is p's root as {name, tasks, streams, arguments}; nil for
 * a kernel. */
void td_view_push_design(lua_State *L, const TdProg *p, size_t most);

#endif
