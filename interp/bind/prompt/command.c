/* command.c - the commands of the prompt: one table for running, help and completion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alarm.h"
#include "bind/prompt/prompt.h"

#define KEY_LESSON "tide.lesson"
#define MOST_RUNS 100000
#define CHUNK "=tide:command" /* the name of what a command is given */

const TdCommand *td_command_find(const char *name) {
  for (int i = 0; td_commands[i].name; i++)
    if (strcmp(td_commands[i].name, name) == 0) return &td_commands[i];
  return NULL;
}

int td_command_push_values(lua_State *L, const char *code) {
  int top = lua_gettop(L);
  td_bind_keep_source(L, CHUNK, code, strlen(code));
  const char *list = lua_pushfstring(L, "return %s", code);
  if (luaL_loadbufferx(L, list, strlen(list), CHUNK, "t") != LUA_OK) {
    lua_pop(L, 1);
    if (luaL_loadbufferx(L, code, strlen(code), CHUNK, "t") != LUA_OK) lua_error(L);
  }
  lua_remove(L, -2);
  lua_call(L, 0, LUA_MULTRET);
  return lua_gettop(L) - top;
}

/* Pushes one value: of an expression, or the last answer. */
static void push_value(lua_State *L, const char *code) {
  int top = lua_gettop(L);
  td_command_push_values(L, *code ? code : "_");
  lua_settop(L, top + 1);
}

/* Pushes a schedule and what the arguments say behind it, nil for nothing: by default the schedule
 * that was shown last. */
static void push_schedule(lua_State *L, const char *name, const char *args) {
  int top = lua_gettop(L);
  if (*args) td_command_push_values(L, args);
  lua_settop(L, top + 2);
  if (!*args) {
    lua_getfield(L, LUA_REGISTRYINDEX, TD_PROMPT_SCHEDULE);
    lua_replace(L, top + 1);
  }
  if (td_bind_test_schedule(L, top + 1) || td_bind_test_graph_schedule(L, top + 1)) return;
  td_bind_fail(L, "argument", ":%s takes a schedule, not %s%s", name, td_bind_words(L, top + 1),
               *args ? "" : ": none was shown yet");
}

/* Calls method `name` of the schedule below the top with the value on top; pushes its result. */
static void call_method(lua_State *L, const char *name) {
  lua_getfield(L, -2, name);
  lua_pushvalue(L, -3);
  lua_pushvalue(L, -3);
  bool alone = lua_isnil(L, -1);
  if (alone) lua_pop(L, 1);
  lua_call(L, alone ? 1 : 2, 1);
}

static void end_line(TdText *out) {
  if (out->n && out->at[out->n - 1] != '\n') td_text_putc(out, '\n');
}

static void run_show(lua_State *L, const char *args, TdText *out) {
  push_value(L, args);
  td_show_value(L, out, -1, true);
  end_line(out);
}

static void run_diff(lua_State *L, const char *args, TdText *out) {
  push_schedule(L, "diff", args);
  call_method(L, "diff");
  td_show_diff(out, lua_tostring(L, -1));
}

static void run_log(lua_State *L, const char *args, TdText *out) {
  push_schedule(L, "log", args);
  lua_pushnil(L);
  lua_replace(L, -2);
  call_method(L, "steps");
  lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, -1, i);
    lua_getfield(L, -1, "call");
    td_text_putf(out, "%3d  s:%s\n", (int)i, lua_tostring(L, -1));
    lua_pop(L, 2);
  }
  if (!n) td_text_puts(out, "no steps yet\n");
}

/* Pushes the name of the global that holds the value at idx; false if none does. */
static bool push_name(lua_State *L, int idx) {
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    bool found =
        lua_type(L, -2) == LUA_TSTRING && lua_rawequal(L, -1, idx) && *lua_tostring(L, -2) != '_';
    if (!found) continue;
    lua_pop(L, 1);
    lua_remove(L, -2);
    return true;
  }
  lua_pop(L, 1);
  return false;
}

static void run_undo(lua_State *L, const char *args, TdText *out) {
  int s = lua_gettop(L) + 1;
  push_schedule(L, "undo", args);
  call_method(L, "undo");
  td_show_value(L, out, -1, false);
  end_line(out);
  if (!push_name(L, s)) return;
  const char *n = lua_isnil(L, s + 1) ? "" : lua_tostring(L, s + 1);
  const char *line = lua_pushfstring(L, "%s:undo(%s)", lua_tostring(L, -1), n);
  td_replay_mark(L);
  td_replay_note(L, line, strlen(line), true);
}

/* The runs that `:time 100x code` asks for, 1 without; *code goes behind them. */
static long runs_of(lua_State *L, const char **code) {
  char *end;
  long n = strtol(*code, &end, 10);
  if (end == *code || *end != 'x' || (end[1] && end[1] != ' ')) return 1;
  if (n < 1 || n > MOST_RUNS)
    td_bind_fail(L, "argument", ":time runs code from 1x to %dx times, not %.*s", MOST_RUNS,
                 (int)(end + 1 - *code), *code);
  *code = end + 1 + strspn(end + 1, " ");
  return n;
}

/* Milliseconds to the microsecond, the same in every locale. */
static void put_ms(TdText *out, double ms) {
  td_text_putf(out, "%d.%03d ms", (int)ms, (int)((ms - (int)ms) * 1000));
}

static int by_time(const void *x, const void *y) {
  double d = *(const double *)x - *(const double *)y;
  return d < 0 ? -1 : d > 0;
}

/* Puts what a run took, or the least, median and greatest of several. */
static void put_times(TdText *out, double *ms, long n) {
  qsort(ms, (size_t)n, sizeof *ms, by_time);
  if (n > 1) td_text_puts(out, "least ");
  put_ms(out, ms[0]);
  if (n > 1) {
    td_text_puts(out, ", median ");
    put_ms(out, ms[n / 2]);
    td_text_puts(out, ", greatest ");
    put_ms(out, ms[n - 1]);
    td_text_putf(out, " of %ld runs", n);
  }
  td_text_putc(out, '\n');
}

static void run_time(lua_State *L, const char *args, TdText *out) {
  long runs = runs_of(L, &args);
  double *ms = TD_NEWN(out->arena, double, runs);
  int top = lua_gettop(L), n = 0;
  for (long i = 0; i < runs; i++) {
    lua_settop(L, top);
    double before = td_alarm_now();
    n = td_command_push_values(L, args);
    ms[i] = (td_alarm_now() - before) * 1e3;
  }
  if (n && !lua_isnil(L, -n)) {
    td_show_value(L, out, -n, false);
    end_line(out);
    td_prompt_keep(L, top + 1);
  }
  put_times(out, ms, runs);
}

bool td_command_push_tutorial(lua_State *L, const char *function) {
  if (strcmp(function, "hear") == 0) {
    bool begun = lua_getfield(L, LUA_REGISTRYINDEX, KEY_LESSON) == LUA_TFUNCTION;
    if (!begun) lua_pop(L, 1);
    return begun;
  }
  td_stdlib_push_module(L, "tide.tool.tutorial");
  lua_getfield(L, -1, "hear");
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_LESSON);
  lua_getfield(L, -1, function);
  lua_remove(L, -2);
  return true;
}

static void run_tutorial(lua_State *L, const char *args, TdText *out) {
  if (*args && strcmp(args, "next") != 0 && strcmp(args, "stop") != 0)
    td_bind_fail(L, "argument", ":tutorial takes next, stop or nothing, not '%s'", args);
  td_command_push_tutorial(L, "command");
  lua_pushstring(L, args);
  lua_call(L, 1, 1);
  td_text_puts(out, lua_tostring(L, -1));
}

/* Has a setting be what a word says, if there is one; says what it is. */
static void change_setting(lua_State *L, const TdSetting *s, const char *word, TdText *out) {
  TdBind *b = td_bind_enter(L);
  if (*word && !td_setting_take(b, s, word))
    td_bind_fail(L, "argument", "%s is one of %s, not '%s'", s->name, s->words, word);
  td_setting_print(out, b, s);
}

static void run_set(lua_State *L, const char *args, TdText *out) {
  size_t n = strcspn(args, " \t");
  const TdSetting *s = td_setting_find(args, n);
  if (s) {
    change_setting(L, s, args + n + strspn(args + n, " \t"), out);
    return;
  }
  if (n) td_bind_fail(L, "argument", "there is no setting '%s'; :set lists them", args);
  for (int i = 0; i < TD_SETTINGS; i++) td_setting_print(out, td_bind_enter(L), &td_settings[i]);
}

static void run_check(lua_State *L, const char *args, TdText *out) {
  change_setting(L, &td_settings[TD_SET_CHECK], args, out);
}

static void run_trace(lua_State *L, const char *args, TdText *out) {
  change_setting(L, &td_settings[TD_SET_TRACE], args, out);
}

/* Calls function `name` of a module of stdlib with the arguments; its result is what to show. */
static void call_module(lua_State *L, const char *module, const char *name, const char *args,
                        TdText *out) {
  td_stdlib_push_module(L, module);
  lua_getfield(L, -1, name);
  lua_pushstring(L, args);
  lua_call(L, 1, 2);
  if (lua_isnil(L, -2)) td_bind_fail(L, "file", "%s", lua_tostring(L, -1));
  td_text_puts(out, lua_tostring(L, -2));
}

static void run_save(lua_State *L, const char *args, TdText *out) {
  call_module(L, "tide.tool.replay", "save", args, out);
}

static void run_reload(lua_State *L, const char *args, TdText *out) {
  call_module(L, "tide.tool.reload", "reload", args, out);
}

static void run_debug(lua_State *L, const char *args, TdText *out) {
  td_debug_run(L, args, out);
}

static void run_job(lua_State *L, const char *args, TdText *out) {
  td_text_putf(out, "[%d] runs: %s\n", td_job_start(L, args), args);
}

static void run_stop(lua_State *L, const char *args, TdText *out) {
  td_job_stop(L, args, out);
}

static void run_quit(lua_State *L, const char *args, TdText *out) {
  (void)args, (void)out;
  lua_pushboolean(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "tide.quit");
}

/* What a command that must be given something takes, or NULL. */
static const char *needs(const TdCommand *c) {
  return c->takes == TD_TAKES_CODE     ? "an expression or call"
         : c->takes == TD_TAKES_FILE   ? "the path of a file"
         : c->takes == TD_TAKES_NUMBER ? "a number"
                                       : NULL;
}

void td_command_run(lua_State *L, const TdCommand *c, const char *args, TdText *out) {
  if (c->takes == TD_TAKES_NOTHING && *args)
    td_bind_fail(L, "argument", ":%s takes no arguments", c->name);
  if (needs(c) && !*args)
    td_bind_fail(L, "argument", ":%s takes %s: :%s", c->name, needs(c), c->usage);
  int top = lua_gettop(L);
  luaL_checkstack(L, 16, "command");
  c->run(L, args, out);
  td_bind_settop(L, top);
}

const TdCommand td_commands[] = {
    {"ir", "ir [value]", "The whole printed program of a kernel or schedule (default: _).",
     TD_TAKES_VALUE, run_show},
    {"show", "show [value]", "A value in full (default: _).", TD_TAKES_VALUE, run_show},
    {"diff", "diff [schedule[, step or schedule]]",
     "Lines that the last step changed, or all since a step, or from another schedule.",
     TD_TAKES_SCHEDULE, run_diff},
    {"log", "log [schedule]", "The steps, numbered; s:log() is Lua that rebuilds the schedule.",
     TD_TAKES_SCHEDULE, run_log},
    {"undo", "undo [schedule[, steps]]", "Takes the last step back, or more.", TD_TAKES_SCHEDULE,
     run_undo},
    {"time", "time [100x] code",
     "Runs an expression or statements, once or so often, and says how long it took.",
     TD_TAKES_CODE, run_time},
    {"save", "save file.lua", "Writes the inputs so far as a script that replays them.",
     TD_TAKES_FILE, run_save},
    {"reload", "reload file.lua",
     "Runs a file anew, applies the steps of its schedules again, says which do not apply.",
     TD_TAKES_FILE, run_reload},
    {"set", "set [name [word]]", "Settings: all, one, or one that is changed.", TD_TAKES_SETTING,
     run_set},
    {"check", "check [off|quick|on]",
     "Proves each step equal to the one before (quick: where it takes well under 100 ms).",
     TD_TAKES_WORD, run_check},
    {"trace", "trace [off|on]", "Shows each step of a schedule when it is taken, also in a file.",
     TD_TAKES_WORD, run_trace},
    {"debug", "debug k(A, B)",
     "Runs a kernel or design by the reference, statement by statement: breakpoints, values, "
     "streams.",
     TD_TAKES_CODE, run_debug},
    {"job", "job code", "Runs code in a copy of the session, beside the prompt; jobs() lists them.",
     TD_TAKES_CODE, run_job},
    {"stop", "stop number", "Ends a job.", TD_TAKES_NUMBER, run_stop},
    {"tutorial", "tutorial [next|stop]",
     "The first lesson, step by step: tells what to type, and looks at it.", TD_TAKES_LESSON,
     run_tutorial},
    {"quit", "quit", "Leaves the prompt (as Ctrl-D does).", TD_TAKES_NOTHING, run_quit},
    {NULL, NULL, NULL, TD_TAKES_NOTHING, NULL},
};
