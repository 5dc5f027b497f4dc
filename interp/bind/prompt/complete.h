/* complete.h - what the files of completion share. */
#ifndef TD_BIND_PROMPT_COMPLETE_H
#define TD_BIND_PROMPT_COMPLETE_H

#include "bind/prompt/prompt.h"
#include "repl/colour.h"

/* The tokens of an input before the cursor, blanks and comments aside; the string or the word that
 * the cursor is in is not among them. */
typedef struct TdBefore {
  const char *s;
  TdArena *arena;
  TD_VEC(TdColourToken) token;
  size_t from;     /* where what is to be completed begins */
  bool in_string;  /* inside a string */
  bool in_comment; /* or where nothing can be completed */
} TdBefore;

/* complete.c: cuts n bytes of text into the tokens before what is to be completed at their
 * end, which begins at or after `from`. */
TdBefore td_complete_read(TdArena *a, const char *text, size_t n, size_t from);

/* complete_call.c */
/* The innermost call whose arguments the cursor is in. */
typedef struct TdCallAround {
  size_t callee;    /* token of the name of the function or method */
  int argument;     /* its place, from 0 */
  size_t key;       /* token of the name before `=` in a table of options + 1, or 0 */
  bool in_table;    /* inside a table that is an argument, or in a table in that */
  bool wants_key;   /* a name of an option can stand here */
  bool wants_inner; /* a name in the table that an option is */
  size_t open;      /* token of the parenthesis; SIZE_MAX: f "x" or f {..} */
} TdCallAround;
/* Finds it; false when there is none. */
bool td_complete_find_call(const TdBefore *b, TdCallAround *c);
/* Adds what can stand there: names of the schedule that the call is made on, words, names of
 * options, files; false when nothing is known of it. */
bool td_complete_argument(lua_State *L, const TdBefore *b, const TdCallAround *c,
                          TdPromptItems *out);

/* complete_template.c */
/* Adds the names that a library of stdlib lists (TD_HELP_TEMPLATES), with their summaries. */
void td_complete_add_library(lua_State *L, const char *module, TdPromptItems *out);
/* Adds the parameters of the template whose path ends at token `callee`; false if it is none. */
bool td_complete_parameter(lua_State *L, const TdBefore *b, size_t callee, TdPromptItems *out);

/* complete.c */
void td_complete_add(TdPromptItems *out, const char *name, size_t n, const char *help);
/* Adds the words of a text, divided by the bytes of `by`. */
void td_complete_add_words(TdPromptItems *out, const char *words, const char *by, const char *help);
/* Adds the members of the value on top, which it pops: fields, or methods when `callable`. */
void td_complete_add_members(lua_State *L, bool callable, TdPromptItems *out);
/* Pushes the value of the dotted path that tokens [first, last] are, read raw, or nil. */
void td_complete_push_path(lua_State *L, const TdBefore *b, size_t first, size_t last);

/* complete_file.c */
/* Adds the files that a path, which begins at byte `from` of what is typed, can be. */
void td_complete_add_files(TdPromptItems *out, const char *path, size_t n);
/* Adds the files that the last word of a line of the shell can be, escaped or quoted as it is, and
 * says in `from` where it begins. */
void td_complete_add_shell_words(TdPromptItems *out, const char *line, size_t n);

#endif
