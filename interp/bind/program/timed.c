/* timed.c - what a run with a clock told, in Lua: m.report of a build {timed = true}, a table
 * that draws itself. */
#include <string.h>

#include "analysis/time/target.h"
#include "bind/program/unit.h"
#include "eval/time/wave.h"

#define CLASS_TIMED "tide.timed"

/* Pushes where a task stalled, as a list of {stream =, why =, cycles =}. */
static void push_stalls(lua_State *L, const TdTimed *t, const TdTimedTask *x) {
  lua_createtable(L, (int)x->nstall, 0);
  for (size_t i = 0; i < x->nstall; i++) {
    const TdTimedStall *s = &x->stall[i];
    lua_createtable(L, 0, 3);
    if (s->stream < t->nstream) td_bind_set_string(L, "stream", t->stream[s->stream].name);
    td_bind_set_string(L, "why", td_timed_stalls[s->why]);
    td_bind_set_integer(L, "cycles", s->cycles);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_task(lua_State *L, const TdTimed *t, const TdTimedTask *x) {
  lua_createtable(L, 0, 10);
  td_bind_set_string(L, "name", x->name);
  td_bind_set_integer(L, "first", x->begin);
  td_bind_set_integer(L, "last", x->end - 1);
  td_bind_set_integer(L, "busy", x->busy);
  td_bind_set_integer(L, "stalled", x->stalled);
  td_bind_set_number(L, "utilisation", t->cycles ? (double)x->busy / (double)t->cycles : 0);
  td_bind_set_integer(L, "multiplies", x->multiplies);
  if (x->multiplies) td_bind_set_integer(L, "starts", x->starts);
  push_stalls(L, t, x);
  lua_setfield(L, -2, "stalls");
}

/* Sets a list of the first and the last of n cycles. */
static void set_span(lua_State *L, const char *key, const int64_t *at, size_t n) {
  lua_createtable(L, 2, 0);
  lua_pushinteger(L, (lua_Integer)at[0]);
  lua_rawseti(L, -2, 1);
  lua_pushinteger(L, (lua_Integer)at[n - 1]);
  lua_rawseti(L, -2, 2);
  lua_setfield(L, -2, key);
}

/* Pushes a stream; `kept`: with what its events tell. */
static void push_stream(lua_State *L, const TdTimedStream *x, bool kept) {
  lua_createtable(L, 0, 7);
  if (kept && x->nput) set_span(L, "puts", x->put, x->nput);
  if (kept && x->ngot) set_span(L, "gots", x->got, x->ngot);
  if (kept && td_timed_room(x)) td_bind_set_integer(L, "room", td_timed_room(x));
  td_bind_set_string(L, "name", x->name);
  td_bind_set_integer(L, "depth", x->depth);
  td_bind_set_integer(L, "tokens", x->tokens);
  td_bind_set_integer(L, "most", x->most);
}

/* Sets field `key` to the rows on top of the stack, which are also found by name there. */
static void add_row(lua_State *L, const char *name, size_t i) {
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, name);
  lua_rawseti(L, -2, (lua_Integer)i + 1);
}

/* Remembers in the class that the report on top of the stack is of the build at idx. */
static void keep_owner(lua_State *L, int idx) {
  luaL_getmetatable(L, CLASS_TIMED);
  lua_getfield(L, -1, "owner");
  lua_pushvalue(L, -3);
  lua_pushvalue(L, idx);
  lua_rawset(L, -3);
  lua_pop(L, 2);
}

/* Adds what the run would do where pipelines stall as a whole. */
static void set_fire(lua_State *L, const TdTimed *t, TdTimedFire fire) {
  lua_createtable(L, 0, 4);
  if (fire.hangs) {
    td_bind_set_boolean(L, "hangs", true);
    td_bind_set_string(L, "task", t->task[fire.task].name);
    td_bind_set_string(L, "stream", t->stream[fire.stream].name);
    td_bind_set_string(L, "why", fire.why == TD_STALL_EMPTY ? "empty" : "full");
  } else {
    td_bind_set_boolean(L, "hangs", false);
    td_bind_set_integer(L, "cycles", fire.cycles);
  }
  lua_setfield(L, -2, "fire");
}

/* Adds what a memory was asked. */
static void push_memory(lua_State *L, const TdTimedMemory *m) {
  if (!m->model) return;
  lua_createtable(L, 0, 3);
  td_bind_set_string(L, "model", m->model);
  td_bind_set_integer(L, "requests", m->requests);
  td_bind_set_integer(L, "bytes", m->bytes);
  lua_setfield(L, -2, "memory");
}

void td_bind_push_timed(lua_State *L, const TdTimed *t, int build) {
  TdText text = td_text_new(td_bind_arena(L));
  lua_createtable(L, 0, 9);
  td_bind_set_integer(L, "run", (int64_t)t->run);
  td_bind_set_integer(L, "cycles", t->cycles);
  td_bind_set_number(L, "utilisation", t->utilisation);
  td_bind_set_integer(L, "fill", t->fill);
  td_bind_set_integer(L, "drain", t->drain);
  td_bind_set_string(L, "device", t->target);
  if (t->fire.known) set_fire(L, t, t->fire);
  push_memory(L, &t->memory);
  lua_createtable(L, (int)t->ntask, (int)t->ntask);
  for (size_t i = 0; i < t->ntask; i++) {
    push_task(L, t, &t->task[i]);
    add_row(L, t->task[i].name, i);
  }
  lua_setfield(L, -2, "tasks");
  lua_createtable(L, (int)t->nstream, (int)t->nstream);
  for (size_t i = 0; i < t->nstream; i++) {
    push_stream(L, &t->stream[i], t->kept);
    add_row(L, t->stream[i].name, i);
  }
  lua_setfield(L, -2, "streams");
  td_timed_print(&text, t);
  td_bind_set_string(L, "text", td_text_str(&text));
  luaL_setmetatable(L, CLASS_TIMED);
  keep_owner(L, build);
}

/* What the report at slot 1 was made of, which is of the last run of its build. */
static const TdTimed *check_last(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  if (!lua_getmetatable(L, 1) || lua_getfield(L, -1, "owner") != LUA_TTABLE)
    td_bind_fail(L, "argument", "a report of a run with a clock is expected");
  lua_pushvalue(L, 1);
  lua_rawget(L, -2);
  const TdTimedOwner *owner = luaL_testudata(L, -1, TD_CLASS_TIMED_OWNER);
  const TdTimed *t = owner ? owner->timed : td_bind_build_timed(L, -1);
  lua_getfield(L, 1, "run");
  if (!t || (int64_t)t->run != lua_tointeger(L, -1))
    td_bind_fail(L, "old-report", "this report is of an earlier run, whose events are gone");
  lua_settop(L, 2);
  return t;
}

/* The same; raises if its events are not there. */
static const TdTimed *check_events(lua_State *L) {
  const TdTimed *t = check_last(L);
  if (!t->kept)
    td_bind_fail(L, "no-events",
                 "this run was too long to keep its events: run it at smaller sizes");
  return t;
}

/* Writes text to the file named at slot 2 and returns the report; without a name, returns the text.
 */
static int write_text(lua_State *L, const TdText *text) {
  if (lua_isnil(L, 2)) {
    lua_pushlstring(L, td_text_str(text), text->n);
    return 1;
  }
  td_bind_write(L, luaL_checkstring(L, 2), td_text_str(text), text->n);
  td_bind_settop(L, 1);
  return 1;
}

static int l_vcd(lua_State *L) {
  const TdTimed *t = check_events(L);
  TdText text = td_text_new(td_bind_arena(L));
  td_wave_vcd(&text, t);
  return write_text(L, &text);
}

/* r:svg(path, {from =, to =}): the run, or those cycles of it; either argument may be left out. */
static int l_svg(lua_State *L) {
  static const char *const options[] = {"from", "to", NULL};
  int64_t from = 0, to = -1;
  if (lua_istable(L, 2)) {
    lua_pushnil(L);
    lua_insert(L, 2);
  }
  lua_settop(L, 3);
  td_bind_check_options(L, 3, options);
  bool known = td_bind_opt_integer(L, 3, "from", &from) && td_bind_opt_integer(L, 3, "to", &to);
  const TdTimed *t = check_events(L);
  if (to < 0) to = t->cycles;
  if (!known || from < 0 || (to <= from && from > 0) || to > t->cycles)
    td_bind_fail(L, "option", "from and to are cycles of the run, of which there are %lld",
                 (long long)t->cycles);
  TdText text = td_text_new(td_bind_arena(L));
  td_wave_svg(&text, t, from, to);
  return write_text(L, &text);
}

/* r:timeline(width): the rows as a string. */
static int l_timeline(lua_State *L) {
  const TdTimed *t = check_events(L);
  lua_Integer width = luaL_optinteger(L, 2, TD_WAVE_WIDTH);
  if (width < 1 || width > 1000) td_bind_fail(L, "argument", "a timeline has 1 to 1000 columns");
  TdText text = td_text_new(td_bind_arena(L));
  td_wave_timeline(&text, t, (int)width);
  lua_pushstring(L, td_text_str(&text));
  return 1;
}

/* Pushes report.energy, which the report keeps: by tide.energy, of what each task did. */
static int push_energy(lua_State *L) {
  const TdTimed *t = check_last(L);
  if (!t->nkind) return 0;
  td_stdlib_push_module(L, "tide.energy");
  lua_getfield(L, -1, "of");
  lua_pushstring(L, t->target);
  lua_createtable(L, (int)t->ntask, 0);
  for (size_t i = 0; i < t->ntask; i++) {
    lua_createtable(L, 0, 2);
    td_bind_set_string(L, "name", t->task[i].name);
    lua_createtable(L, 0, (int)t->nkind);
    for (size_t k = 0; k < t->nkind; k++)
      if (t->task[i].work[k]) td_bind_set_integer(L, t->kind[k], t->task[i].work[k]);
    lua_setfield(L, -2, "counts");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_call(L, 2, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, 1, "energy");
  return 1;
}

/* Pushes report.fire, which the report keeps, of runs that kept their events. */
static int push_fire(lua_State *L) {
  const TdTimed *t = check_last(L);
  if (!t->events) return 0;
  TdTimedFire fire = td_timed_fire(td_bind_arena(L), t);
  td_bind_settop(L, 1);
  set_fire(L, t, fire);
  lua_getfield(L, 1, "fire");
  return 1;
}

static int l_index(lua_State *L) {
  if (strcmp(luaL_checkstring(L, 2), "fire") == 0) return push_fire(L);
  if (strcmp(luaL_checkstring(L, 2), "energy") == 0) return push_energy(L);
  return td_bind_method(L, CLASS_TIMED, luaL_checkstring(L, 2));
}

/* Whether the device of the report at slot 1 stalls pipelines as a whole. */
static bool is_of_fire(lua_State *L) {
  lua_getfield(L, 1, "device");
  const TdTarget *t = lua_isstring(L, -1) ? td_target_find(lua_tostring(L, -1)) : NULL;
  lua_pop(L, 1);
  return t && td_target_fires(t);
}

/* Whether it hangs there, by the events of the last run; then what report.fire tells is pushed. */
static bool hangs(lua_State *L) {
  lua_pushcfunction(L, push_fire);
  lua_pushvalue(L, 1);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK || !lua_istable(L, -1)) return false;
  lua_getfield(L, -1, "hangs");
  bool does = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return does;
}

/* The text, and who waits for ever by the contract of the device. */
static int l_tostring(lua_State *L) {
  lua_settop(L, 1);
  if (!is_of_fire(L) || !hangs(L)) {
    lua_getfield(L, 1, "text");
    return 1;
  }
  static const char *const fields[] = {"task", "stream", "why"};
  const char *said[3];
  for (int i = 0; i < 3; i++) {
    lua_getfield(L, 2, fields[i]);
    said[i] = lua_tostring(L, -1);
  }
  lua_getfield(L, 1, "device");
  lua_getfield(L, 1, "text");
  lua_pushfstring(L,
                  "%shangs where pipelines stall as a whole: %s waits for ever, %s is %s; "
                  "d:depths {device = \"%s\", ..} are depths at which it does not\n",
                  lua_tostring(L, -1), said[0], said[1], said[2], lua_tostring(L, -2));
  return 1;
}

/* A weak table of reports, by which methods find their builds. */
static void open_owners(lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  lua_pushstring(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "owner");
}

void td_bind_open_timed(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", l_index}, {"__tostring", l_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"vcd", l_vcd}, {"svg", l_svg}, {"timeline", l_timeline}, {NULL, NULL}};
  td_bind_class(L, CLASS_TIMED, meta, methods);
  open_owners(L);
  lua_pop(L, 1);
}
