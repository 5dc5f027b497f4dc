/* line.h - Tide's line editor: multi-line input on a terminal, plain lines elsewhere. */
#ifndef TD_LINE_H
#define TD_LINE_H

#include "base/text.h"
#include "base/vec.h"
#include "repl/style.h"

typedef struct TdLine TdLine;

typedef enum {
  TD_INPUT_WHOLE, /* Enter submits */
  TD_INPUT_MORE,  /* Enter begins another line */
  TD_INPUT_WRONG  /* no line could complete it: Enter submits, so that the error is shown */
} TdInputState;

/* One completion: what replaces the range, what the list shows (NULL: the same), and a line about
 * it (or NULL). */
typedef struct TdLineItem {
  const char *insert, *shown, *help;
} TdLineItem;

/* Completions of the text in [from, to); strings are owned by `arena` or live longer. */
typedef struct TdLineItems {
  TdArena *arena;
  size_t from, to;
  TD_VEC(TdLineItem) items;
} TdLineItems;

/* What the editor asks about the language. Any may be NULL. Texts hold n bytes, are not
 * NUL-terminated and may be broken in any way. */
typedef struct TdLineHooks {
  void *ud;
  TdInputState (*state)(void *ud, const char *text, size_t n);
  /* How many spaces the line that starts at offset `line` should begin with, given what it holds.
   */
  int (*indent)(void *ud, const char *text, size_t n, size_t line);
  void (*highlight)(void *ud, const char *text, size_t n, TdSpans *out);
  /* The partner of the bracket at offset `at`, if that is one. */
  bool (*match)(void *ud, const char *text, size_t n, size_t at, size_t *partner);
  void (*complete)(void *ud, const char *text, size_t n, size_t cursor, TdLineItems *out);
  /* Text that could follow the end of a draft which nothing in the history continues. */
  void (*hint)(void *ud, const char *text, size_t n, TdText *out);
} TdLineHooks;

typedef enum { TD_LINE_TEXT, TD_LINE_EOF, TD_LINE_INTERRUPTED } TdLineResult;

/* Returns an editor between two file descriptors, with the history that the environment names.
 * Hooks must live as long; td_line_free frees it. */
TdLine *td_line_new(TdCtx *c, const TdLineHooks *hooks, int in, int out);
void td_line_free(TdLine *l);

/* Reads one input, whose lines begin with `prompt` and `more` (without escapes). *text is the
 * input, valid until the next call; it holds no NUL but its last. EOF: Ctrl-D on nothing, or the
 * end of the file. INTERRUPTED: Ctrl-C. Raw mode is over when it returns or escapes. */
TdLineResult td_line_read(TdLine *l, const char *prompt, const char *more, const char **text,
                          size_t *n);

/* Shows n bytes of whole lines above the prompt, or just writes them when there is none. */
void td_line_print_above(TdLine *l, const char *text, size_t n);

/* Has ready(ud) called whenever fd is readable while an input is read; -1 ends that. */
void td_line_watch(TdLine *l, int fd, void (*ready)(void *ud), void *ud);

/* Switches ghost text; it is on at first. */
void td_line_set_ghost(TdLine *l, bool on);

/* For help: the name of key i ("C-a") and what it does; NULL after the last. */
const char *td_line_key(size_t i, const char **help);

#endif
