/* which.h - which of several functions on a line a closure is. */
#ifndef TD_BIND_WHICH_H
#define TD_BIND_WHICH_H

#include "bind/bind.h"

/* The function among n, in the order of source `id`, that the closure at idx was made by; NULL
 * where that cannot be told. Leaves an arena on the stack. */
const TdAstFn *td_which_function(lua_State *L, int idx, uint32_t id, const TdAstFn *const *fn,
                                 size_t n);

#endif
