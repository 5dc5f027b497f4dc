/* tide.h - the one public header: how a program that embeds Lua gets Tide, and what a prompt needs
 * of it. */
#ifndef TIDE_H
#define TIDE_H

#include "base/text.h"
#include "base/vec.h"

struct lua_State;

/* Opens the module "tide" and leaves its table on the stack (for luaL_requiref or package.preload).
 */
int luaopen_tide(struct lua_State *L);

/* ---- what the command line asks for ---- */

/* bind/bind_report.c: pops the error on top of the stack. Its text is the error as drawn, or as one
 * line of JSON once that was asked for, without a newline at its end; td_report_error writes it to
 * standard error. */
const char *td_report_text(struct lua_State *L, TdArena *a);
void td_report_error(struct lua_State *L);
void td_report_as_json(struct lua_State *L);

/* bind/bind_fault.c: a message handler for lua_pcall: an error of plain Lua becomes a table as
 * those of Tide are, with its place, the calls that led to it and the name that was meant; what is
 * no such text stays as it is. */
int td_fault_handle(struct lua_State *L);

/* bind/bind_dump.c: has every schedule write its program after each step to a numbered file in dir,
 * which is made if need be. */
void td_dump_to(struct lua_State *L, const char *dir);

/* bind/bind_progress.c: has long work tell of itself on standard error, if that is a terminal. */
void td_progress_open(struct lua_State *L);

/* ---- a prompt's session (bind/bind_prompt.c) ---- */

typedef enum { TD_PROMPT_WHOLE, TD_PROMPT_MORE, TD_PROMPT_WRONG } TdPromptState;

/* Pushes and returns the libraries in use with their versions, for `tide -v`. */
const char *td_prompt_libraries(struct lua_State *L);

/* Makes tide's names global where Lua has none, and keeps inputs apart. */
void td_prompt_open(struct lua_State *L);
/* The context of L's session: what Ctrl-C interrupts. */
TdCtx *td_prompt_ctx(struct lua_State *L);

/* Whether the n bytes at text are a whole input. */
TdPromptState td_prompt_state(struct lua_State *L, const char *text, size_t n);

/* What an input gave. The caller sets the arena, which owns the strings, and may set the number. */
typedef struct TdPromptResult {
  TdArena *arena;
  int number;        /* the least that its chunk is named with, "tide:7"; 0: the next */
  int values;        /* how many it has to show */
  const char *shown; /* their echo, "" when there is none; without a newline at its end */
  const char *page;  /* help that was asked for, ends with a newline; NULL: none */
  const char *error; /* as it is drawn, without a newline at its end; NULL: it succeeded */
  const char *code;  /* of the error: "interrupted", a diagnostic's, or NULL */
} TdPromptResult;

/* Runs an input: Lua, `?name`, `name?`, `:command` or `!shell`. What it prints goes to standard
 * output; its values and its error are in out. Returns whether it succeeded; an error never ends
 * the session. */
bool td_prompt_eval(struct lua_State *L, const char *text, size_t n, TdPromptResult *out);

/* The same for a terminal: values go to standard output, an error to standard error. */
bool td_prompt_run(struct lua_State *L, const char *text, size_t n);

/* Calls run(L, a, ud), in which the core may escape, with an arena for as long as it runs; false
 * after reporting why it did not return. */
typedef void TdPromptCall(struct lua_State *L, TdArena *a, void *ud);
bool td_prompt_guard(struct lua_State *L, TdPromptCall *run, void *ud);

/* What can be read when a job has ended, or -1; and, owned by a, what to tell of those. */
int td_prompt_bell(void);
const char *td_prompt_hear(TdArena *a, size_t *n);
/* Ends all jobs. */
void td_prompt_close(void);

/* Appends a line that the user types behind a prompt; false: Ctrl-C, or there is no more. */
typedef bool TdPromptAsk(void *ud, const char *prompt, TdText *line);
/* Has :debug ask by this; NULL: it cannot. */
void td_prompt_set_asker(TdPromptAsk *ask, void *ud);

/* Whether ghost text is wanted. */
bool td_prompt_has_ghost(struct lua_State *L);

/* Whether a journal is wanted; how many of the session's inputs a script of it would have. */
bool td_prompt_has_journal(struct lua_State *L);
size_t td_prompt_kept(struct lua_State *L);
/* Has os.exit call fn(ud) first. */
void td_prompt_at_exit(void (*fn)(void *ud), void *ud);

/* Whether an input asked to leave. */
bool td_prompt_quits(struct lua_State *L);

/* What may stand in the range [from, cursor) of an input. */
typedef struct TdPromptItem {
  const char *insert, *help; /* help: a line about it, or NULL */
} TdPromptItem;
typedef struct TdPromptItems {
  TdArena *arena; /* owns the strings; the caller sets it */
  size_t from;
  TD_VEC(TdPromptItem) list;
} TdPromptItems;

/* Fills out with completions of the text before byte `cursor`. Runs no user code. */
void td_prompt_complete(struct lua_State *L, const char *text, size_t cursor, TdPromptItems *out);

/* bind/bind_inspect.c: appends what help knows of the name at byte `cursor` of an input, or of the
 * call around it; false when there is none. */
bool td_prompt_inspect(struct lua_State *L, const char *text, size_t n, size_t cursor, TdText *out);

/* Has SIGINT stop what runs in L (on), or end the process as usual (off). */
void td_prompt_watch(struct lua_State *L, bool on);
/* Whether SIGINT came since it was last watched. */
bool td_prompt_was_interrupted(void);

/* ---- a front end that shows more than text (bind/bind_front.c) ---- */

/* A value in one of its forms. */
typedef struct TdForm {
  const char *mime, *data;
  size_t n;
} TdForm;
typedef struct TdForms {
  TdArena *arena;
  TD_VEC(TdForm) list;
} TdForms;

/* What a front end does for the input that runs. */
typedef struct TdFront {
  void *ud;
  /* Shows a value; id NULL, or what it may be shown anew by; update: in place of what has this id.
   */
  void (*show)(void *ud, const TdForms *forms, const char *id, bool update);
  /* Takes away what the input showed; wait: when it shows something new. */
  void (*clear)(void *ud, bool wait);
  /* Appends a line that the user typed; or returns why there is none. */
  const char *(*ask)(void *ud, const char *prompt, TdText *line);
} TdFront;

/* Has the module tide.front reach a front end, which must outlive L; NULL: the terminal. */
void td_front_set(struct lua_State *L, const TdFront *front);

/* Puts the forms of the value that the last input showed as that text. */
void td_front_forms(struct lua_State *L, const char *shown, TdForms *out);

#endif
