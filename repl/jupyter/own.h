/* own.h - JSON values that live as long as an arena. */
#ifndef TD_REPL_JUPYTER_OWN_H
#define TD_REPL_JUPYTER_OWN_H

#include <jansson.h>

#include "base/arena.h"

/* Hands a new reference, which may be NULL, to a. Returns it. */
json_t *td_own(TdArena *a, json_t *j);

#endif
