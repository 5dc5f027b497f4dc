/* paste.h - pasted text as the user means it: without the prompts and output of the session it came
 * from. */
#ifndef TD_PASTE_H
#define TD_PASTE_H

#include "base/text.h"

/* The inputs in n pasted bytes, owned by a; *count is at least 1. Line ends become newlines, NULs
 * are gone, and so are the prompts that lines start with. A paste that begins with `prompt` is a
 * session: each `prompt` begins an input, lines with `more` go on with it, and all other lines,
 * which it printed, are left out. Any other paste is one input. */
TdText *td_paste_inputs(TdArena *a, const char *s, size_t n, const char *prompt, const char *more,
                        size_t *count);

#endif
