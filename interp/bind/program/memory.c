/* memory.c - the option `memory` of runs with a clock: a kind of memory, what is said of it, or a
 * user's own functions. */
#include "bind/program/memory.h"

#include <string.h>

enum { NAMES = TD_OFFCHIP_NFIELDS + 8 };

/* ---- memories of users ---- */

/* Pushes the user's function `key` and his table; false: there is none. */
static bool push_own(TdBindMemory *b, const char *key) {
  lua_State *L = b->L;
  luaL_checkstack(L, 8, "memory");
  if (lua_getfield(L, b->at, key) == LUA_TNIL) {
    lua_pop(L, 1);
    return false;
  }
  lua_pushvalue(L, b->at);
  return true;
}

/* The cycle on top of the stack, at least `least`, popped; nil: -1. */
static int64_t take_cycle(TdBindMemory *b, const char *of, int64_t least) {
  lua_State *L = b->L;
  lua_Integer t = -1;
  if (!lua_isnil(L, -1)) {
    if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < least)
      td_bind_refuse(L, TD_USAGE, "memory-answer",
                     "a request is answered in a cycle that is not before its own, or later (nil)",
                     "memory: %s gives %s, no cycle from %lld on", of, td_bind_words(L, -1),
                     (long long)least);
    t = lua_tointeger(L, -1);
  }
  lua_pop(L, 1);
  return t;
}

static void *own_open(TdArena *a, const TdOffchip *o) {
  TdBindMemory *b = o->own;
  (void)a;
  if (push_own(b, "reset")) lua_call(b->L, 1, 0);
  return b;
}

static int64_t own_request(void *state, const TdOffchipAsk *ask) {
  TdBindMemory *b = state;
  lua_State *L = b->L;
  push_own(b, "request");
  lua_createtable(L, 0, 6);
  td_bind_set_integer(L, "id", ask->id);
  td_bind_set_integer(L, "port", ask->port);
  td_bind_set_integer(L, "cycle", ask->cycle);
  td_bind_set_integer(L, "address", ask->address);
  td_bind_set_integer(L, "requests", ask->n);
  td_bind_set_boolean(L, "write", ask->write);
  lua_call(L, 2, 1);
  return take_cycle(b, "request", ask->cycle);
}

static int64_t own_cycles(void *state, int64_t until) {
  TdBindMemory *b = state;
  if (!push_own(b, "cycles")) return until;
  lua_pushinteger(b->L, until);
  lua_call(b->L, 2, 1);
  int64_t t = take_cycle(b, "cycles", 0);
  return t < 0 || t > until ? until : t;
}

static bool own_answer(void *state, int64_t *id, int64_t *cycle) {
  TdBindMemory *b = state;
  if (!push_own(b, "answer")) return false;
  lua_call(b->L, 1, 2);
  *id = lua_tointeger(b->L, -2);
  *cycle = take_cycle(b, "answer", 0);
  lua_pop(b->L, 1);
  return *cycle >= 0;
}

static const TdOffchipModel own = {.name = "own",
                                   .has = (uint64_t)1 << TD_OFFCHIP_REQUEST,
                                   .initial = {[TD_OFFCHIP_REQUEST] = 64},
                                   .open = own_open,
                                   .request = own_request,
                                   .cycles = own_cycles,
                                   .answer = own_answer};

/* ---- reading ---- */

static const TdOffchipModel *find_model(lua_State *L, const char *name) {
  const TdOffchipModel *m = td_offchip_find(name);
  if (m) return m;
  TdText all = td_text_new(td_bind_arena(L));
  for (size_t i = 0; td_offchip_models[i]; i++)
    td_text_putf(&all, "%s%s", i ? ", " : "", td_offchip_models[i]->name);
  td_bind_fail(L, "option-value", "there is no memory '%s' (%s)", name, td_text_str(&all));
  return NULL;
}

/* Takes field k of the table at idx, if it is there. */
static void take_field(lua_State *L, int idx, TdOffchip *o, int k) {
  const char *name = td_offchip_fields[k].name;
  int64_t least =
      k == TD_OFFCHIP_LATENCY || k == TD_OFFCHIP_STARTUP || k == TD_OFFCHIP_REFI ? 0 : 1;
  if (lua_getfield(L, idx, name) == LUA_TNIL) {
    lua_pop(L, 1);
    return;
  }
  if (!(o->model->has >> k & 1))
    td_bind_fail(L, "option-value", "memory '%s' has no '%s', which is %s", o->model->name, name,
                 td_offchip_fields[k].help);
  if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < least)
    td_bind_fail(L, "option-value", "option '%s' is an integer of at least %lld", name,
                 (long long)least);
  o->field[k] = lua_tointeger(L, -1);
  lua_pop(L, 1);
}

/* Whether the table at idx has a function `key`; raises where it is something else. */
static bool has_function(lua_State *L, int idx, const char *key) {
  int type = lua_getfield(L, idx, key);
  if (type != LUA_TNIL && type != LUA_TFUNCTION)
    td_bind_fail(L, "option-value", "memory: '%s' is a function, not %s", key,
                 td_bind_words(L, -1));
  lua_pop(L, 1);
  return type == LUA_TFUNCTION;
}

/* The names that a user's table may have are his; those of ours are checked. */
static void check_names(lua_State *L, int idx) {
  const char *names[NAMES] = {"model"};
  for (int k = 0; k < TD_OFFCHIP_NFIELDS; k++) names[k + 1] = td_offchip_fields[k].name;
  td_bind_check_options(L, idx, names);
}

void td_bind_take_memory(lua_State *L, int idx, TdOffchip *o, TdBindMemory *b) {
  const TdOffchipModel *was = o->model;
  if (lua_type(L, idx) == LUA_TSTRING) {
    *o = td_offchip_of(find_model(L, lua_tostring(L, idx)));
    return;
  }
  if (!lua_istable(L, idx))
    td_bind_fail(L, "option-value", "option 'memory' is a table, or a kind of memory, not %s",
                 td_bind_words(L, idx));
  bool mine = lua_getfield(L, idx, "request") == LUA_TFUNCTION;
  lua_pop(L, 1);
  bool later = has_function(L, idx, "cycles"), tells = has_function(L, idx, "answer");
  if (!mine && (later || tells || has_function(L, idx, "reset")))
    td_bind_fail(L, "option-value", "memory: a memory of your own has a function 'request'");
  if (later != tells) td_bind_fail(L, "option-value", "memory: 'cycles' and 'answer' go together");
  if (!mine) check_names(L, idx);
  const char *model = td_bind_opt_string(L, idx, "model");
  *o = td_offchip_of(mine ? &own : model ? find_model(L, model) : was);
  for (int k = 0; !mine && k < TD_OFFCHIP_NFIELDS; k++) take_field(L, idx, o, k);
  o->own = mine ? b : NULL;
  int64_t rest = o->field[TD_OFFCHIP_RFC] + o->field[TD_OFFCHIP_RP] + o->field[TD_OFFCHIP_RCD];
  if (o->field[TD_OFFCHIP_REFI] && o->field[TD_OFFCHIP_REFI] <= rest + o->field[TD_OFFCHIP_RAS])
    td_bind_fail(L, "option-value",
                 "memory: between refreshes, 'refi', there is no time for a row");
  *b = (TdBindMemory){L, lua_absindex(L, idx)};
}
