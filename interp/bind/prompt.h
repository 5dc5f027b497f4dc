/* prompt.h - what the files of the prompt's session share. */
#ifndef TD_BIND_PROMPT_H
#define TD_BIND_PROMPT_H

#include "bind/bind.h"
#include "tide.h"

/* bind_prompt.c: the registry field of the first value that an input showed. */
#define TD_PROMPT_ANSWER "tide.answer"

/* bind_interrupt.c */
/* Forgets a Ctrl-C that was handled. */
void td_prompt_clear(lua_State *L);
/* Replaces coroutine.resume and wrap so that Ctrl-C reaches the thread that runs. */
void td_prompt_open_coroutines(lua_State *L);

/* bind_show.c: shows the value at idx as an echo; big values are capped unless `all`. */
void td_show_value(lua_State *L, TdText *out, int idx, bool all);

/* bind_help.c: help on a name; false when there is none. */
bool td_help_show(lua_State *L, TdText *out, const char *name);
/* Names that help knows: primitives, functions, methods, commands; i from 0, NULL after the last.
 */
const char *td_help_name(size_t i, const char **summary);

/* Function or method i with its usage and summary; NULL after the last. */
const char *td_help_function(size_t i, const char **usage, const char **summary);

/* bind_command.c: `:name args`. */
typedef struct TdCommand {
  const char *name, *usage, *summary;
  bool (*run)(lua_State *L, const char *args, TdText *out);
} TdCommand;
extern const TdCommand td_commands[];
const TdCommand *td_command_find(const char *name);

#endif
