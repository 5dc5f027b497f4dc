/* grid.c - tide.grid and tide.reduction as Lua iterators, and tide.assume. */
#include "bind/value/tensor.h"

/* Where an iteration is. The loops are in the order of the arguments; the last is innermost. */
typedef struct Loop {
  lua_Integer lo, hi, step, now;
} Loop;
typedef struct Grid {
  int n;
  bool over;
  Loop loop[];
} Grid;

/* Advances l within its range; false at its end, when it is at its start again. */
static bool advance(Loop *l) {
  bool more = (lua_Unsigned)l->hi - (lua_Unsigned)l->now > (lua_Unsigned)l->step;
  l->now = more ? l->now + l->step : l->lo;
  return more;
}

/* The iterator: all indices, or nothing at the end. Its upvalue is the grid. */
static int l_grid_next(lua_State *L) {
  Grid *g = lua_touserdata(L, lua_upvalueindex(1));
  if (g->over) return 0;
  luaL_checkstack(L, g->n, "grid");
  for (int d = 0; d < g->n; d++) lua_pushinteger(L, g->loop[d].now);
  int d = g->n - 1;
  while (d >= 0 && !advance(&g->loop[d])) d--;
  g->over = d < 0;
  return g->n;
}

/* The integer at the top of the stack, which is popped, or raises. */
static lua_Integer pop_integer(lua_State *L) {
  int whole = 0;
  lua_Integer v = lua_type(L, -1) == LUA_TNUMBER ? lua_tointegerx(L, -1, &whole) : 0;
  if (!whole)
    td_bind_refuse(L, TD_USAGE, "extent",
                   "an extent is an integer, a range {lo, hi} or {lo, hi, "
                   "step}, half open",
                   "%s is no extent", td_bind_words(L, lua_gettop(L)));
  lua_pop(L, 1);
  return v;
}

/* The loop that the argument at idx says, or raises. */
static Loop loop_of(lua_State *L, int idx) {
  Loop l = {.step = 1};
  if (!lua_istable(L, idx)) {
    lua_pushvalue(L, idx);
    l.hi = pop_integer(L);
    return l;
  }
  size_t n = lua_rawlen(L, idx);
  if (n < 2 || n > 3) td_bind_fail(L, "extent", "a range is {lo, hi} or {lo, hi, step}");
  lua_rawgeti(L, idx, 1);
  l.lo = l.now = pop_integer(L);
  lua_rawgeti(L, idx, 2);
  l.hi = pop_integer(L);
  if (n == 3) {
    lua_rawgeti(L, idx, 3);
    l.step = pop_integer(L);
  }
  if (l.step < 1) td_bind_fail(L, "extent", "the step of a range is at least 1");
  return l;
}

/* tide.grid(M, {lo, hi}, {lo, hi, step}, "band"): all index vectors, the last index fastest. */
static int l_grid(lua_State *L) {
  int n = lua_gettop(L);
  if (n && lua_type(L, n) == LUA_TSTRING) n--;
  if (!n)
    td_bind_fail(L, "arguments", "a grid has at least one extent%s",
                 lua_gettop(L) ? " before the name of its band" : "");
  Grid *g = lua_newuserdatauv(L, sizeof *g + (size_t)n * sizeof *g->loop, 0);
  g->n = n;
  g->over = false;
  for (int d = 0; d < n; d++) {
    g->loop[d] = loop_of(L, d + 1);
    g->over |= g->loop[d].lo >= g->loop[d].hi;
  }
  lua_pushcclosure(L, l_grid_next, 1);
  return 1;
}

/* tide.assume(condition): raises unless it holds. In the builder of a design the text is read,
 * since Lua cannot compare sizes without value. */
static int l_assume(lua_State *L) {
  if (!lua_toboolean(L, 1) && !td_bind_is_building(L))
    td_bind_refuse(L, TD_ILLEGAL, "assume", NULL, "this assumption does not hold");
  return 0;
}

/* Two functions, since the frontend tells them apart by value. */
void td_bind_open_grid(lua_State *L) {
  static const char *const names[] = {"grid", "reduction"};
  for (int i = 0; i < 2; i++) {
    lua_pushinteger(L, i);
    lua_pushcclosure(L, l_grid, 1);
    lua_setfield(L, -2, names[i]);
  }
  lua_pushcfunction(L, l_assume);
  lua_setfield(L, -2, "assume");
}
