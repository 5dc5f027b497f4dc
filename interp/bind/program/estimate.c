/* estimate.c - s:estimate {target = "u280"}: what a program takes, as a table that draws
 * itself.
 */
#include "analysis/time/cost.h"
#include "bind/program/unit.h"
#include "drive/build.h"

#define CLASS_ESTIMATE "tide.estimate"
#define KEY_COMPARED "tide.estimate.compared" /* estimate -> {the schedule before, now} */

/* Pushes a loop as a table. */
static void push_loop(lua_State *L, const TdCostLoop *l) {
  lua_createtable(L, 0, 14);
  td_bind_set_string(L, "name", l->name);
  td_bind_set_integer(L, "line", l->loc.line);
  td_bind_set_integer(L, "level", l->level);
  td_bind_set_boolean(L, "pipelined", l->pipelined);
  td_bind_set_boolean(L, "flat", l->flat);
  if (l->least >= 0) {
    td_bind_set_integer(L, "least", l->least);
    td_bind_set_integer(L, "trip", l->most);
    td_bind_set_integer(L, "cycles", l->cycles);
  }
  td_bind_set_integer(L, "lanes", l->lanes);
  if (l->why) td_bind_set_string(L, "why", l->why);
  if (!l->pipelined) return;
  td_bind_set_integer(L, "asked", l->asked);
  td_bind_set_integer(L, "ii", l->ii);
  td_bind_set_integer(L, "depth", l->depth);
  if (l->estimated) td_bind_set_integer(L, "estimated", l->estimated);
  td_bind_set_string(L, "by", td_cost_by(l->by));
  td_bind_set_integer(L, "by_line", l->at.line);
}

/* Pushes the loops as a list, and under their names. */
static void push_loops(lua_State *L, const TdCost *c) {
  lua_createtable(L, (int)c->loop.n, (int)c->loop.n);
  for (size_t i = 0; i < c->loop.n; i++) {
    push_loop(L, &c->loop.at[i]);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, c->loop.at[i].name);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* Pushes the tasks of a design as a list. */
static void push_stages(lua_State *L, const TdCost *c) {
  lua_createtable(L, (int)c->stage.n, 0);
  for (size_t i = 0; i < c->stage.n; i++) {
    lua_createtable(L, 0, 3);
    td_bind_set_string(L, "name", c->stage.at[i].name);
    td_bind_set_integer(L, "instances", c->stage.at[i].instances);
    td_bind_set_integer(L, "cycles", c->stage.at[i].cycles);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* Pushes an estimate. */
static void push_estimate(lua_State *L, TdArena *a, const TdCost *c) {
  TdText t = td_text_new(a);
  td_cost_print(&t, c);
  lua_createtable(L, 0, 12);
  td_bind_set_string(L, "target", c->target->name);
  td_bind_set_string(L, "source", c->reported ? "csynth" : "estimate");
  td_bind_set_integer(L, "cycles", c->cycles);
  lua_pushnumber(L, c->ms);
  lua_setfield(L, -2, "ms");
  td_bind_set_number(L, "path", (double)c->path / 1000);
  td_bind_set_integer(L, "dsp", c->area.dsp);
  td_bind_set_integer(L, "bram", c->area.bram);
  td_bind_set_integer(L, "uram", c->area.uram);
  td_bind_set_integer(L, "ff", c->area.ff);
  td_bind_set_integer(L, "lut", c->area.lut);
  push_loops(L, c);
  lua_setfield(L, -2, "loops");
  push_stages(L, c);
  lua_setfield(L, -2, "tasks");
  td_bind_set_string(L, "text", td_text_str(&t));
  luaL_setmetatable(L, CLASS_ESTIMATE);
}

/* Keeps the two versions of the schedule at slot 1 that say, when the estimate on top of the stack
 * is printed, why it rose. */
static void keep_compared(lua_State *L) {
  int estimate = lua_gettop(L);
  if (!td_bind_push_compared(L, 1)) return;
  if (!luaL_getsubtable(L, LUA_REGISTRYINDEX, KEY_COMPARED)) {
    lua_createtable(L, 0, 1);
    td_bind_set_string(L, "__mode", "k");
    lua_setmetatable(L, -2);
  }
  lua_createtable(L, 2, 0);
  for (int i = 1; i <= 2; i++) {
    lua_pushvalue(L, estimate + i);
    lua_rawseti(L, -2, i);
  }
  lua_pushvalue(L, estimate);
  lua_insert(L, -2);
  lua_rawset(L, -3);
  lua_settop(L, estimate);
}

/* Puts why the estimate at slot 1, of a schedule, is above the one of that schedule before. */
static void put_rise(lua_State *L, TdText *out) {
  TdCost cost[2];
  luaL_getsubtable(L, LUA_REGISTRYINDEX, KEY_COMPARED);
  lua_pushvalue(L, 1);
  if (lua_rawget(L, -2) != LUA_TTABLE) return;
  int compared = lua_gettop(L);
  lua_getfield(L, 1, "target");
  const TdTarget *device = td_target_find(lua_tostring(L, -1));
  TdArena *a = td_bind_work(L, TD_WORK_ESTIMATE);
  for (int i = 0; i < 2; i++) {
    TdDiag d = td_bind_diag(a);
    lua_rawgeti(L, compared, i + 1);
    const TdProg *p = td_bind_test_schedule(L, -1);
    if (!td_cost_estimate(td_bind_enter(L)->affine, a, p, device, &cost[i], &d)) return;
  }
  td_cost_print_rise(out, &cost[0], &cost[1]);
}

/* Replaces the figures of an estimate by those of the tool's report in a folder; raises if it has
 * none. */
static void adopt_report(lua_State *L, TdArena *a, TdCost *c, const char *folder) {
  const char *lines = td_build_read_report(a, folder);
  if (!lines || !td_cost_adopt(c, a, lines))
    td_bind_fail(L, "no-report", "'%s' holds no report of Vitis HLS (csynth.xml)", folder);
}

/* The device that option table idx names, as `device` or, which is the older word, `target`. */
static const TdTarget *check_device(lua_State *L, int idx) {
  int u280 = td_target_find("u280")->id;
  if (lua_isnoneornil(L, idx)) return td_target_find(td_target_names[u280]);
  bool old = lua_getfield(L, idx, "target") != LUA_TNIL;
  lua_pop(L, 1);
  if (old)
    td_bind_warn(L,
                 "estimate {target =} is now {device =}, as in runs with a clock and in searches");
  return td_target_find(
      td_target_names[td_bind_opt_word(L, idx, old ? "target" : "device", td_target_names, u280)]);
}

int td_bind_estimate(lua_State *L) {
  static const char *const options[] = {"device", "target", "report", NULL};
  lua_settop(L, 2);
  const TdProg *p = td_bind_test_schedule(L, 1);
  if (!p) p = td_bind_check_unit(L, 1);
  TdBind *b = td_bind_enter(L);
  bool given = td_bind_check_options(L, 2, options);
  const TdTarget *device = check_device(L, 2);
  TdArena *a = td_bind_work(L, TD_WORK_ESTIMATE);
  TdDiag d = td_bind_diag(a);
  TdCost c;
  if (!td_cost_estimate(b->affine, a, p, device, &c, &d)) return td_bind_raise(L, &d);
  const char *folder = given ? td_bind_opt_string(L, 2, "report") : NULL;
  if (folder) adopt_report(L, a, &c, folder);
  push_estimate(L, a, &c);
  if (!folder && td_bind_test_schedule(L, 1)) keep_compared(L);
  return 1;
}

/* The table, and why it is above the one before: of the schedule where it was estimated last, or
 * before its last step. */
static int l_tostring(lua_State *L) {
  lua_settop(L, 1);
  TdText t = td_text_new(td_bind_arena(L));
  lua_getfield(L, 1, "text");
  td_text_puts(&t, luaL_optstring(L, -1, ""));
  put_rise(L, &t);
  lua_pushlstring(L, td_text_str(&t), t.n);
  return 1;
}

void td_bind_open_estimate(lua_State *L) {
  static const luaL_Reg meta[] = {{"__tostring", l_tostring}, {NULL, NULL}};
  td_bind_class(L, CLASS_ESTIMATE, meta, NULL);
  lua_pop(L, 1);
}
