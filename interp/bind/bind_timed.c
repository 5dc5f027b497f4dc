/* bind_timed.c - what a run with a clock told, in Lua: m.report of a build {timed = true}, a table
   that draws itself. */
#include "bind/unit.h"
#include "eval/timed.h"

#define CLASS_TIMED "tide.timed"

static void set_integer(lua_State *L, const char *key, int64_t v) {
  lua_pushinteger(L, (lua_Integer)v);
  lua_setfield(L, -2, key);
}

static void set_number(lua_State *L, const char *key, double v) {
  lua_pushnumber(L, v);
  lua_setfield(L, -2, key);
}

static void set_string(lua_State *L, const char *key, const char *v) {
  lua_pushstring(L, v);
  lua_setfield(L, -2, key);
}

/* Pushes where a task stalled, as a list of {stream =, why =, cycles =}. */
static void push_stalls(lua_State *L, const TdTimed *t, const TdTimedTask *x) {
  static const char *const why[] = {"empty", "full", "allreduce"};
  lua_createtable(L, (int)x->nstall, 0);
  for (size_t i = 0; i < x->nstall; i++) {
    const TdTimedStall *s = &x->stall[i];
    lua_createtable(L, 0, 3);
    if (s->stream < t->nstream) set_string(L, "stream", t->stream[s->stream].name);
    set_string(L, "why", why[s->why]);
    set_integer(L, "cycles", s->cycles);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_task(lua_State *L, const TdTimed *t, const TdTimedTask *x) {
  lua_createtable(L, 0, 9);
  set_string(L, "name", x->name);
  set_integer(L, "first", x->begin);
  set_integer(L, "last", x->end - 1);
  set_integer(L, "busy", x->busy);
  set_integer(L, "stalled", x->stalled);
  set_number(L, "utilisation", t->cycles ? (double)x->busy / (double)t->cycles : 0);
  set_integer(L, "multiplies", x->multiplies);
  push_stalls(L, t, x);
  lua_setfield(L, -2, "stalls");
}

static void push_stream(lua_State *L, const TdTimedStream *x) {
  lua_createtable(L, 0, 4);
  set_string(L, "name", x->name);
  set_integer(L, "depth", x->depth);
  set_integer(L, "tokens", x->tokens);
  set_integer(L, "most", x->most);
}

/* Sets field `key` to the rows on top of the stack, which are also found by name there. */
static void add_row(lua_State *L, const char *name, size_t i) {
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, name);
  lua_rawseti(L, -2, (lua_Integer)i + 1);
}

void td_bind_push_timed(lua_State *L, const TdTimed *t) {
  TdText text = td_text_new(td_bind_arena(L));
  lua_createtable(L, 0, 6);
  set_integer(L, "cycles", t->cycles);
  set_number(L, "utilisation", t->utilisation);
  set_string(L, "device", t->target);
  lua_createtable(L, (int)t->ntask, (int)t->ntask);
  for (size_t i = 0; i < t->ntask; i++) {
    push_task(L, t, &t->task[i]);
    add_row(L, t->task[i].name, i);
  }
  lua_setfield(L, -2, "tasks");
  lua_createtable(L, (int)t->nstream, (int)t->nstream);
  for (size_t i = 0; i < t->nstream; i++) {
    push_stream(L, &t->stream[i]);
    add_row(L, t->stream[i].name, i);
  }
  lua_setfield(L, -2, "streams");
  td_timed_print(&text, t);
  set_string(L, "text", td_text_str(&text));
  luaL_setmetatable(L, CLASS_TIMED);
}

static int l_tostring(lua_State *L) {
  lua_getfield(L, 1, "text");
  return 1;
}

void td_bind_open_timed(lua_State *L) {
  static const luaL_Reg meta[] = {{"__tostring", l_tostring}, {NULL, NULL}};
  td_bind_class(L, CLASS_TIMED, meta, NULL);
  lua_pop(L, 1);
}
