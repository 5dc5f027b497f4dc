/* paste.h - pasted text as the user means it: without the prompts of the session it came from. */
#ifndef TD_PASTE_H
#define TD_PASTE_H

#include "base/text.h"

/* Returns a copy of n pasted bytes, owned by a: line ends become newlines, NULs are gone, and so
 * are the prompts that lines start with. */
TdText td_paste_clean(TdArena *a, const char *s, size_t n, const char *prompt, const char *more);

#endif
