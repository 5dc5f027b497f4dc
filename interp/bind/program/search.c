/* search.c - the search driver for spaces that are written in Lua: libraries call
 *   session.search {start = list of points, moves = function(state) .. return list end,
 *                   take = function(state, move) .. return point or nil end,
 *                   steps =, seconds =, bytes =, unit = "cycles"}
 * A point is {state =, key = string, rank = {..}, cost = {..} or nil, floor = n or nil}: points of
 * equal keys are one; less rank goes first; what has a cost is a solution, and costs are compared
 * alike; floor: no solution from here on has a first cost below it. The result is {state =, cost =,
 * path = list of moves, tries =, ended = "all" or "bound", "steps", "seconds", "interrupt",
 * "memory", bound =, text =}; without a solution state is nil. */
#include <string.h>

#include "base/search.h"
#include "bind/prompt/prompt.h"

/* Stack slots: what is asked, all points by number, the moves from each. */
enum { ASKED = 1, POINTS, MOVES };

typedef struct LuaSpace {
  lua_State *L;
  lua_Integer n; /* points */
} LuaSpace;

static lua_Integer number_of(const TdSearchPoint *p) {
  return (lua_Integer)(intptr_t)p->is;
}

/* Calls the function with n arguments on top for one result; false when it was stopped. Other
 * errors go on to whoever called the search. */
static bool call(LuaSpace *s, int n) {
  lua_State *L = s->L;
  if (lua_pcall(L, n, 1, 0) == LUA_OK) return true;
  TdCtx *c = td_bind_enter(L)->ctx;
  if (td_prompt_was_interrupted()) td_ctx_interrupt(c);
  if (!td_ctx_must_stop(c)) lua_error(L);
  lua_pop(L, 1);
  return false;
}

/* The integers of field `key` of the point on top, rounded down; false if there are none. */
static bool read_costs(lua_State *L, const char *key, int64_t *out) {
  bool there = lua_getfield(L, -1, key) == LUA_TTABLE;
  for (int i = 0; there && i < TD_SEARCH_COSTS; i++) {
    lua_rawgeti(L, -1, i + 1);
    lua_Number x = lua_tonumber(L, -1);
    out[i] = lua_isinteger(L, -1) ? lua_tointeger(L, -1)
             : x >= 9e18          ? INT64_MAX
             : x <= -9e18         ? INT64_MIN + 1
                                  : (int64_t)x;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return there;
}

/* Takes the point on top, which is popped, as x. */
static TdSearchAnswer read_point(LuaSpace *s, const TdSearch *q, TdSearchPoint *x) {
  lua_State *L = s->L;
  size_t n;
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    return TD_SEARCH_NONE;
  }
  if (!lua_istable(L, -1)) td_bind_fail(L, "argument", "a point of a search is a table");
  lua_getfield(L, -1, "key");
  const char *key = lua_tolstring(L, -1, &n);
  if (!key) td_bind_fail(L, "argument", "a point of a search has a key");
  x->key = td_map_hash(key, n);
  lua_pop(L, 1);
  if (td_search_is_known(q, x->key)) {
    lua_pop(L, 1);
    return TD_SEARCH_NONE;
  }
  x->solves = read_costs(L, "cost", x->cost);
  if (!read_costs(L, "rank", x->rank)) memcpy(x->rank, x->cost, sizeof x->rank);
  if (lua_getfield(L, -1, "floor") == LUA_TNUMBER) x->floor = (int64_t)lua_tonumber(L, -1);
  lua_pop(L, 1);
  x->is = (void *)(intptr_t)++s->n;
  lua_rawseti(L, POINTS, s->n);
  return TD_SEARCH_MADE;
}

static void push_state(lua_State *L, const TdSearchPoint *p) {
  lua_rawgeti(L, POINTS, number_of(p));
  lua_getfield(L, -1, "state");
  lua_remove(L, -2);
}

static TdSearchAnswer open(void *ud, TdSearchPoint *p) {
  LuaSpace *s = ud;
  lua_State *L = s->L;
  lua_getfield(L, ASKED, "moves");
  push_state(L, p);
  if (!call(s, 1)) return TD_SEARCH_STOPPED;
  if (!lua_istable(L, -1)) td_bind_fail(L, "argument", "the moves of a search are a list");
  p->moves = lua_rawlen(L, -1);
  lua_rawseti(L, MOVES, number_of(p));
  return TD_SEARCH_MADE;
}

/* Pushes the move that led to x. */
static void push_move(lua_State *L, const TdSearchPoint *x) {
  lua_rawgeti(L, MOVES, number_of(x->from));
  lua_rawgeti(L, -1, (lua_Integer)x->move + 1);
  lua_remove(L, -2);
}

static TdSearchAnswer take(void *ud, const TdSearch *q, TdSearchPoint *x) {
  LuaSpace *s = ud;
  lua_State *L = s->L;
  if (!x->from) {
    lua_getfield(L, ASKED, "start");
    lua_rawgeti(L, -1, (lua_Integer)x->move + 1);
    lua_remove(L, -2);
    return read_point(s, q, x);
  }
  lua_getfield(L, ASKED, "take");
  push_state(L, x->from);
  push_move(L, x);
  return call(s, 2) ? read_point(s, q, x) : TD_SEARCH_STOPPED;
}

/* Sets a result's fields that a solution has. */
static void set_best(lua_State *L, TdArena *a, const TdSearchPoint *best) {
  size_t n;
  const TdSearchPoint **way = td_search_way(a, best, &n);
  push_state(L, best);
  lua_setfield(L, -2, "state");
  lua_rawgeti(L, POINTS, number_of(best));
  lua_getfield(L, -1, "cost");
  lua_remove(L, -2);
  lua_setfield(L, -2, "cost");
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    push_move(L, way[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "path");
}

static lua_Number read_limit(lua_State *L, const char *key) {
  lua_getfield(L, ASKED, key);
  lua_Number x = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return x > 0 ? x : 0;
}

int td_bind_search(lua_State *L) {
  luaL_checktype(L, ASKED, LUA_TTABLE);
  lua_settop(L, ASKED);
  lua_newtable(L);
  lua_newtable(L);
  TdArena *a = td_bind_arena(L);
  LuaSpace s = {.L = L};
  lua_getfield(L, ASKED, "start");
  TdSearchSpace space = {&s, lua_istable(L, -1) ? lua_rawlen(L, -1) : 0, open, take, false};
  lua_pop(L, 1);
  TdSearchLimits limits = {.steps = (uint64_t)read_limit(L, "steps"),
                           .seconds = read_limit(L, "seconds"),
                           .bytes = (size_t)read_limit(L, "bytes")};
  TdSearchResult out = td_search_run(a, &space, limits);
  td_prompt_answered(L);
  lua_getfield(L, ASKED, "unit");
  const char *unit = lua_isstring(L, -1) ? lua_tostring(L, -1) : "cycles";
  lua_createtable(L, 0, 8);
  TdText t = td_text_new(a);
  td_search_tell(&t, &out, &limits, unit);
  td_bind_set_string(L, "text", td_text_str(&t));
  td_bind_set_string(L, "ended", td_search_end_name(out.end));
  td_bind_set_integer(L, "tries", (int64_t)out.steps);
  if (out.bound != TD_SEARCH_UNKNOWN) td_bind_set_integer(L, "bound", out.bound);
  if (out.best) set_best(L, a, out.best);
  return 1;
}
