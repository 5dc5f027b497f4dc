/* vname.h - what may be a name in Verilog. */
#ifndef TD_VNAME_H
#define TD_VNAME_H

#include "base/base.h"

/* Whether a word belongs to Verilog, SystemVerilog or VHDL tools, in any case of its letters. */
bool td_vname_is_reserved(const char *s);
/* s with letters, digits and underscores only, not beginning with a digit or underscore. */
const char *td_vname_plain(TdArena *a, const char *s);

/* Whether a module of a user may not be called so: it is a word, or called so is another. */
bool td_vname_is_module(const char *s);
/* A module's name for a unit: s, plain, with `_top` behind it where that is taken. */
const char *td_vname_module(TdArena *a, const char *s);
/* A design's pin for a scalar argument: s, plain, with `_in` behind it where that is taken. */
const char *td_vname_scalar(TdArena *a, const char *s);

#endif
