/* prompt.h - what the files of the prompt's session share. */
#ifndef TD_BIND_PROMPT_H
#define TD_BIND_PROMPT_H

#include "bind/bind.h"
#include "history/prim.h"
#include "tide.h"

/* prompt.c: the registry field of the first value that an input showed. */
#define TD_PROMPT_KEPT "tide.replay" /* the list of inputs that were kept */
#define TD_PROMPT_ANSWER "tide.answer"
/* Pushes a function of the tutorial, "hear" only while a lesson is under way; false: none. */
bool td_command_push_tutorial(lua_State *L, const char *function);

/* Keeps the values from slot `first` to the top as answers: _ and _1, _2.. */
void td_prompt_keep(lua_State *L, int first);

/* show.c: that of the schedule that was shown last. */
#define TD_PROMPT_SCHEDULE "tide.last_schedule"

/* prompt.c: whether a function is where an input of the prompt begins. */
bool td_prompt_is_floor(lua_CFunction f);

/* interrupt.c */
/* Forgets a Ctrl-C that was handled. */
void td_prompt_clear(lua_State *L);
/* Lets the session go on where work that Ctrl-C ended kept what it had: the context was told so. */
void td_prompt_answered(lua_State *L);
/* Stops what runs in L, as Ctrl-C does. */
void td_prompt_interrupt(lua_State *L);
/* Replaces coroutine.resume and wrap so that Ctrl-C reaches the thread that runs. */
void td_prompt_open_coroutines(lua_State *L);

/* jupyter.c: whether the Jupyter kernel can be loaded; a is for what it looks for. */
bool td_jupyter_is_here(TdArena *a);

/* progress.c: session.progress(done, total). */
int td_progress_note(lua_State *L);

/* job.c: code that runs beside the prompt. */
/* Starts it in a copy of the session; returns its number, or raises. */
int td_job_start(lua_State *L, const char *code);
/* Ends the job of a number that runs and puts a line about it, or raises. */
void td_job_stop(lua_State *L, const char *number, TdText *text);
/* What can be read when a job has ended, or -1. */
int td_job_bell(void);
/* Puts what the jobs that have ended since printed, and how they ended. */
void td_job_hear(TdText *text);
/* Ends all. */
void td_job_close(void);

/* show.c: shows the value at idx as an echo; big values are capped unless `all`. */
void td_show_value(lua_State *L, TdText *out, int idx, bool all);
/* Puts changed lines, in colours where they are wanted. */
void td_show_diff(TdText *out, const char *diff);

/* page.c: prints a text, through a pager where it is longer than the window of a terminal. */
void td_page_put(lua_State *L, const char *text, size_t n);

/* help.c: help on a name; false when there is none. */
bool td_help_show(lua_State *L, TdText *out, const char *name);
/* help_module.c: the comment above the Lua function at idx; of the module at idx, a table, what its
 * file says at its head, and a line for each function. False when there is none. */
bool td_help_show_comment(lua_State *L, TdText *out, int idx);
bool td_help_show_module(lua_State *L, TdText *out, const char *name, int idx);
/* The modules of stdlib that users ask for, as require "tide.NAME"; NULL ends them. */
extern const char *const td_help_modules[];
/* Puts a line for each of them. */
void td_help_put_modules(lua_State *L, TdText *out);
/* Puts the lines of a source from `first` to `last`. */
void td_help_put_lines(TdText *out, const TdSources *s, uint32_t source, int first, int last);
/* What help says of a primitive. */
void td_help_put_primitive(TdText *out, const TdPrim *p);
/* Pushes {name, kind, place, help, words} for each argument of a primitive. */
void td_registry_push_arguments(lua_State *L, const TdPrim *p);
/* The source of the function, kernel, design or schedule that a global holds; false when there is
 * none. */
bool td_help_source(lua_State *L, TdText *out, const char *name);
/* Names that help knows: primitives, functions, methods, commands; i from 0, NULL after the last.
 */
const char *td_help_name(size_t i, const char **summary);

/* Libraries of stdlib that know more names: each has help(name) and list(). */
#define TD_HELP_TEMPLATES "tide.template"
#define TD_HELP_CODES "tide.tool.codes"
/* Pushes what a function of such a library gives for `name` (may be NULL); nil if it fails. */
void td_help_push_library(lua_State *L, const char *module, const char *function, const char *name);

/* Function or method i with its usage and summary; NULL after the last. */
const char *td_help_function(size_t i, const char **usage, const char **summary);

/* Field i, "class.field", and class i, "tensor", with what its values are called; NULL after the
 * last. */
const char *td_help_member(size_t i, const char **summary);
const char *td_help_class_row(size_t i, const char **words);
/* Kind i of programs that have schedules; NULL after the last. */
const struct TdKind *td_help_kind(size_t i);

/* overview.c: the names of all there is, in groups; and the names of one group with their
 * summaries: a class, "functions", "commands", what primitives are on. False: it is no group. */
void td_overview_put(TdText *out);
bool td_overview_put_group(TdText *out, const char *name);

/* What values of a class, "tide.tensor", are called, and in *origin where they come from; NULL:
 * it is none of users. */
const char *td_help_class(const char *class, const char **origin);
/* The class that has a method or primitive of this name: what it is called, and in *origin where
 * its values come from; NULL: none. */
const char *td_help_owner(const char *method, const char **origin);

/* Where values come from that are called so: "a schedule"; or NULL. */
const char *td_help_origin(const char *words);
/* What a field of this name holds, by the first class that has one; or NULL. */
const char *td_help_field(const char *name);

/* setting.c */
typedef struct TdSetting {
  const char *name, *words, *summary;
  int initial;
} TdSetting;
/* TD_SETTINGS of them. */
extern const TdSetting td_settings[];
/* The setting of a name of n bytes, or NULL. */
const TdSetting *td_setting_find(const char *name, size_t n);
/* Has a setting be what a word says; false when it is none of its words. */
bool td_setting_take(TdBind *b, const TdSetting *s, const char *word);
/* "name is word". */
void td_setting_print(TdText *out, const TdBind *b, const TdSetting *s);

/* command.c: `:name args`. */
typedef enum {
  TD_TAKES_NOTHING,
  TD_TAKES_VALUE,    /* an expression, by default the last answer */
  TD_TAKES_SCHEDULE, /* the same, and maybe a number or another schedule behind a comma */
  TD_TAKES_CODE,     /* an expression or statements, needed */
  TD_TAKES_FILE,     /* a path, needed */
  TD_TAKES_NUMBER,   /* needed */
  TD_TAKES_SETTING,  /* a setting and a word, or less */
  TD_TAKES_WORD,     /* a word of the setting that is named like the command, or nothing */
  TD_TAKES_LESSON    /* next, stop, or nothing */
} TdCommandTakes;
typedef struct TdCommand {
  const char *name, *usage, *summary;
  TdCommandTakes takes;
  void (*run)(lua_State *L, const char *args, TdText *out);
} TdCommand;
extern const TdCommand td_commands[];
/* The command of a name without its colon, or NULL. */
const TdCommand *td_command_find(const char *name);
/* Runs a command with its arguments, or raises. */
void td_command_run(lua_State *L, const TdCommand *c, const char *args, TdText *out);

/* Pushes the values of Lua code, a list of expressions or else statements; returns how many. */
int td_command_push_values(lua_State *L, const char *code);

/* define.c: adds define, syntax and inspect to the table on top, the module tide.session. */
void td_define_functions(lua_State *L);

/* debug.c: runs code whose kernels and designs stop at statements. */
void td_debug_run(lua_State *L, const char *code, TdText *out);

/* replay.c: inputs that were run, for :save. */
/* Notes an input: whether it succeeded, or else changed something before it failed. */
void td_replay_note(lua_State *L, const char *text, size_t n, bool ok);
/* What failing inputs are measured by; pushes it, for td_replay_note, which pops it. */
void td_replay_mark(lua_State *L);
/* Notes that the input under way has an answer. */
void td_replay_note_answer(lua_State *L);
/* Adds inputs and script to the table on top, the module tide.session. */
void td_replay_functions(lua_State *L);
/* search.c: session.search {..}. */
int td_bind_search(lua_State *L);

#endif
