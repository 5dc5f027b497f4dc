/* fault.c - an error of plain Lua that nobody caught becomes a diagnostic: its line, a caret
 * where Lua's message names something, who called, and the name that was meant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bind/session/fault.h"
#include "bind/prompt/prompt.h"
#include "frontend/lua/habit.h"
#include "tide.h"

#define MOST_CALLERS 4
#define MOST_LEVELS 1000 /* of the stack that are looked at */

/* How Lua's messages begin, and what they are about. */
static const struct {
  const char *phrase;
  TdFaultUse use;
} phrases[] = {{"attempt to call ", TD_FAULT_CALL},
               {"attempt to index ", TD_FAULT_INDEX},
               {"attempt to perform arithmetic on ", TD_FAULT_ARITHMETIC},
               {"attempt to perform bitwise operation on ", TD_FAULT_BITWISE},
               {"number has no integer representation", TD_FAULT_BITWISE},
               {"attempt to concatenate ", TD_FAULT_CONCAT},
               {"attempt to get length of ", TD_FAULT_LENGTH},
               {"attempt to compare ", TD_FAULT_COMPARE},
               {"attempt to perform 'n", TD_FAULT_DIVIDE},
               {"attempt to divide by zero", TD_FAULT_DIVIDE},
               {"bad argument #", TD_FAULT_ARGUMENT}};

/* What stands in quotes at the end of "a nil value (field 'name')", or NULL. */
static const char *quoted_name(TdArena *a, const char *message) {
  const char *open = strrchr(message, '('), *from = open ? strchr(open, '\'') : NULL;
  size_t n = strlen(message);
  if (!from || n < 2 || strcmp(message + n - 2, "')") != 0 || message + n - 2 <= from) return NULL;
  return td_arena_strndup(a, from + 1, (size_t)(message + n - 2 - from - 1));
}

/* Fills in what the message says. */
static void read_message(TdLuaFault *f) {
  for (size_t i = 0; i < sizeof phrases / sizeof *phrases && !f->use; i++)
    if (strncmp(f->message, phrases[i].phrase, strlen(phrases[i].phrase)) == 0)
      f->use = phrases[i].use;
  if (f->use == TD_FAULT_ARGUMENT) f->argument = atoi(strchr(f->message, '#') + 1);
  f->name = quoted_name(f->arena, f->message);
  f->is_nil = strstr(f->message, "a nil value") != NULL;
}

/* Finds the function whose line the text begins with; false when none on the stack is it. */
static bool find_level(TdLuaFault *f, const char *text) {
  lua_Debug ar;
  char place[LUA_IDSIZE + 32];
  for (int level = 0; level < MOST_LEVELS && lua_getstack(f->L, level, &ar); level++) {
    lua_getinfo(f->L, "Sl", &ar);
    if (ar.currentline <= 0) continue;
    int n = snprintf(place, sizeof place, "%s:%d: ", ar.short_src, ar.currentline);
    if (n <= 0 || strncmp(text, place, (size_t)n) != 0) continue;
    f->level = level;
    f->source = td_bind_level_source(f->L, level);
    f->line = (uint32_t)ar.currentline;
    f->message = td_arena_strdup(f->arena, text + n);
    if (level && lua_getstack(f->L, level - 1, &ar) && lua_getinfo(f->L, "n", &ar) && ar.name)
      f->callee = td_arena_strdup(f->arena, ar.name);
    return true;
  }
  return false;
}

/* Finds the chunk that "name:line: " at the text's beginning names; false when none has it. */
static bool find_chunk(TdLuaFault *f, const char *text) {
  const TdSources *sources = td_bind_enter(f->L)->session->sources;
  for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ':')) {
    char *end;
    unsigned long line = strtoul(at + 1, &end, 10);
    if (end == at + 1 || strncmp(end, ": ", 2) != 0) continue;
    f->source = td_sources_find_short(sources, text, (size_t)(at - text), LUA_IDSIZE);
    f->line = (uint32_t)line;
    f->message = td_arena_strdup(f->arena, end + 2);
    return f->source != 0;
  }
  return false;
}

/* An error that a coroutine's function passed on has the place of its own call in front: a note. */
static void note_outer(TdLuaFault *f, TdDiag *d) {
  TdLuaFault inner = {.L = f->L, .level = -1, .arena = f->arena};
  if (!find_chunk(&inner, f->message)) return;
  td_diag_note(d, (TdLoc){.source = f->source, .line = f->line}, "called here");
  *f = inner;
}

/* What the parser says of a chunk that Lua could not compile, also where Lua noticed it later. */
static bool find_syntax(TdLuaFault *f, TdDiag *d) {
  TdDiag said = td_bind_diag(f->arena);
  if (f->level >= 0 || td_bind_parse(f->L, f->source, &said) || said.loc.line > f->line)
    return false;
  *d = said;
  d->kind = TD_LUA;
  return true;
}

/* Whether the function at a level is where an input of the prompt begins. */
static bool is_floor(lua_State *L, lua_Debug *ar) {
  lua_getinfo(L, "f", ar);
  bool is = td_prompt_is_floor(lua_tocfunction(L, -1));
  lua_pop(L, 1);
  return is;
}

/* Adds the calls that led to the function of the fault, those of a recursion once. */
static void add_callers(const TdLuaFault *f, TdDiag *d) {
  lua_Debug ar;
  TdLoc last = {0};
  int first = f->level + 1, end = first + MOST_LEVELS;
  for (int level = first; f->level >= 0 && level < end && lua_getstack(f->L, level, &ar); level++) {
    if (is_floor(f->L, &ar)) return;
    TdLoc loc = td_bind_level_call(f->L, level);
    bool again = loc.source == last.source && loc.line == last.line && loc.col == last.col;
    if (!loc.source || again) continue;
    last = loc;
    if (d->notes.n == MOST_CALLERS) {
      td_diag_note(d, (TdLoc){0}, "from more calls");
      return;
    }
    td_diag_note(d, loc, "called here");
  }
}

/* Adds what would help where a name is nil. */
static void help_with(const TdLuaFault *f, const TdAstExpr *operand, TdDiag *d) {
  const char *meant = operand ? td_fault_meant(f, operand) : NULL, *habit = td_habit_word(f->name);
  bool ours = meant && strncmp(meant, "tide.", 5) == 0 && strcmp(meant + 5, f->name) == 0;
  if (habit)
    td_diag_help(d, "%s", habit);
  else if (meant)
    td_diag_help(d, "did you mean '%s'?%s", meant,
                 ours ? " (`require \"tide.globals\"` makes it global)" : "");
  else if (td_help_field(f->name))
    td_diag_help(d, "%s: %s", f->name, td_help_field(f->name));
}

/* Makes the error at slot 1 a table if it is a text with a place in a chunk that is kept. */
static int l_describe(lua_State *L) {
  TdLuaFault f = {.L = L, .level = -1, .arena = td_bind_arena(L)};
  const char *text = lua_tostring(L, 1);
  if ((!find_level(&f, text) && !find_chunk(&f, text)) || !f.source) {
    lua_settop(L, 1);
    return 1;
  }
  TdDiag d = td_bind_diag(f.arena);
  note_outer(&f, &d);
  read_message(&f);
  if (!find_syntax(&f, &d)) {
    const TdAstExpr *user, *operand = td_fault_operand(&f, &user);
    td_diag_set(&d, TD_LUA, "error", td_fault_place(&f, operand, user), "%s", td_fault_words(&f));
    if (f.is_nil && f.name) help_with(&f, operand, &d);
    add_callers(&f, &d);
  }
  td_bind_push_failure(L, &d);
  return 1;
}

int td_fault_handle(lua_State *L) {
  lua_settop(L, 1);
  if (lua_type(L, 1) != LUA_TSTRING || !lua_checkstack(L, LUA_MINSTACK)) return 1;
  lua_pushcfunction(L, l_describe);
  lua_pushvalue(L, 1);
  if (lua_pcall(L, 1, 1, 0) == LUA_OK) lua_replace(L, 1);
  lua_settop(L, 1);
  return 1;
}
