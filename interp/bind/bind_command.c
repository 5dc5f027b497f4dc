/* bind_command.c - the commands of the prompt: one table for running, help and completion. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bind/prompt.h"

const TdCommand *td_command_find(const char *name) {
  for (int i = 0; td_commands[i].name; i++)
    if (strcmp(td_commands[i].name, name) == 0) return &td_commands[i];
  return NULL;
}

/* Pushes the value of a Lua expression, by default the last answer. */
static void push_value(lua_State *L, const char *expr) {
  const char *code = lua_pushfstring(L, "return %s", *expr ? expr : "_");
  if (luaL_loadbufferx(L, code, strlen(code), "=tide:command", "t") != LUA_OK) lua_error(L);
  lua_remove(L, -2);
  lua_call(L, 0, 1);
}

/* Calls method `name` of the value of expr and puts its string result. */
static bool put_method(lua_State *L, const char *expr, const char *name, TdText *out) {
  push_value(L, expr);
  lua_getfield(L, -1, name);
  lua_insert(L, -2);
  lua_call(L, 1, 1);
  size_t n;
  const char *s = luaL_tolstring(L, -1, &n);
  td_text_putn(out, s, n);
  if (n && s[n - 1] != '\n') td_text_putc(out, '\n');
  lua_pop(L, 2);
  return true;
}

static bool run_show(lua_State *L, const char *args, TdText *out) {
  push_value(L, args);
  td_show_value(L, out, -1, true);
  if (out->n && out->at[out->n - 1] != '\n') td_text_putc(out, '\n');
  lua_pop(L, 1);
  return true;
}

static bool run_diff(lua_State *L, const char *args, TdText *out) {
  return put_method(L, args, "diff", out);
}

static bool run_log(lua_State *L, const char *args, TdText *out) {
  return put_method(L, args, "log", out);
}

static bool run_undo(lua_State *L, const char *args, TdText *out) {
  push_value(L, args);
  lua_getfield(L, -1, "undo");
  lua_insert(L, -2);
  lua_call(L, 1, 1);
  td_show_value(L, out, -1, false);
  lua_pop(L, 1);
  return true;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool run_time(lua_State *L, const char *args, TdText *out) {
  if (!*args) td_bind_fail(L, "argument", ":time takes an expression or call");
  double before = seconds();
  push_value(L, args);
  double ms = (seconds() - before) * 1e3;
  if (!lua_isnil(L, -1)) {
    td_show_value(L, out, -1, false);
    if (out->n && out->at[out->n - 1] != '\n') td_text_putc(out, '\n');
  }
  td_text_putf(out, "%d.%03d ms\n", (int)ms, (int)((ms - (int)ms) * 1000));
  lua_pop(L, 1);
  return true;
}

static bool run_check(lua_State *L, const char *args, TdText *out) {
  static const char *const modes[] = {"off", "quick", "on"};
  TdBind *b = td_bind_enter(L);
  int mode = *args ? -1 : b->check;
  for (int i = 0; i < 3; i++)
    if (strcmp(args, modes[i]) == 0) mode = i;
  if (mode < 0) td_bind_fail(L, "argument", ":check takes on, quick or off");
  b->check = mode;
  td_text_putf(out, "check is %s\n", modes[mode]);
  return true;
}

static bool run_quit(lua_State *L, const char *args, TdText *out) {
  (void)args, (void)out;
  lua_pushboolean(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "tide.quit");
  return true;
}

const TdCommand td_commands[] = {
    {"ir", "ir [expression]", "The whole printed program of a kernel or schedule (default: _).",
     run_show},
    {"show", "show [expression]", "A value in full (default: _).", run_show},
    {"diff", "diff [schedule]", "Lines that the last step changed.", run_diff},
    {"log", "log [schedule]", "The steps as Lua that rebuilds the schedule.", run_log},
    {"undo", "undo [schedule]", "Takes the last step back.", run_undo},
    {"time", "time expression", "Runs an expression and says how long it took.", run_time},
    {"check", "check [on|quick|off]",
     "Proves each step equal to the one before (quick: where it takes well under 100 ms).",
     run_check},
    {"quit", "quit", "Leaves the prompt (as Ctrl-D does).", run_quit},
    {NULL, NULL, NULL, NULL},
};
