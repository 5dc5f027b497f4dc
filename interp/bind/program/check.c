/* check.c - designs checked when they are made, and on demand: d:check(), d:depths(). */
#include "analysis/net/depths.h"
#include "analysis/time/target.h"
#include "bind/program/unit.h"
#include "drive/admit.h"

enum { DEPTH_BUDGET = 1 << 28 };

void td_bind_check_design(lua_State *L, const TdProg *p) {
  int unit = lua_gettop(L);
  TdArena *a = td_bind_work(L, TD_WORK_CHECK);
  TdDiag d = td_bind_diag(a);
  TdAsk q = {td_bind_enter(L)->affine, a, p, td_prog_root(p)};
  const char *open;
  if (!td_admit_design(&q, &open, &d)) {
    if (!d.loc.source) d.loc = td_bind_caller(L);
    td_bind_push_failure(L, &d);
    lua_pushvalue(L, unit);
    lua_setfield(L, -2, "design");
    lua_error(L);
  }
  lua_closeslot(L, -1);
  td_bind_settop(L, unit);
}

/* Whether the options at idx mean the second contract: that of `contract`, else of `device`. */
static bool takes_fire(lua_State *L, int idx) {
  static const char *const contracts[] = {"latch", "fire", NULL};
  int said = td_bind_opt_word(L, idx, "contract", contracts, -1);
  int device = td_bind_opt_word(L, idx, "device", td_target_names, -1);
  if (said < 0 && device < 0)
    td_bind_fail(L, "option",
                 "say which contract: {contract = \"latch\"} or \"fire\", or a device");
  return said < 0 ? td_target_fires(td_target_find(td_target_names[device])) : said == 1;
}

/* d:check {contract =}: what a run of the design does by it. */
static int check_contract(lua_State *L) {
  static const char *const options[] = {"contract", "device", "args", NULL};
  td_bind_check_options(L, 2, options);
  bool fire = takes_fire(L, 2);
  td_stdlib_push_module(L, "tide.contract");
  lua_getfield(L, -1, "check");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_pushstring(L, fire ? "fire" : "latch");
  lua_call(L, 3, 1);
  return 1;
}

int td_bind_check_again(lua_State *L) {
  const TdProg *p = td_bind_check_unit(L, 1);
  if (lua_istable(L, 2)) return check_contract(L);
  TdArena *a = td_bind_work(L, TD_WORK_CHECK);
  TdDiag d = td_bind_diag(a);
  TdAsk q = {td_bind_enter(L)->affine, a, p, td_prog_root(p)};
  const char *open = NULL;
  if (q.unit->kind == TD_UNIT_DESIGN && !td_admit_design(&q, &open, &d)) {
    td_bind_push_failure(L, &d);
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, "design");
    return 2;
  }
  lua_pushboolean(L, 1);
  lua_pushstring(L, open);
  return 2;
}

/* The least depths of n's streams, by the order of gets and puts or, where data decides that, by
 * runs on arguments; *input tells which. False with d filled: there are none. */
static bool find_depths(TdTraffic *n, const TdEvalArg *arg, int64_t *depth, bool *input,
                        TdDiag *d) {
  TdOrder *o = n->open ? NULL : td_token_run_new(n->arena, n);
  *input = false;
  switch (o ? td_depths_least(o, NULL, depth, DEPTH_BUDGET) : TD_DEPTHS_UNKNOWN) {
  case TD_DEPTHS_FOUND: return true;
  case TD_DEPTHS_NONE:
    return td_diag_set(d, TD_ILLEGAL, "deadlock", (TdLoc){0},
                       "no depths let this design run to its end");
  case TD_DEPTHS_UNKNOWN: break;
  }
  *input = arg && !n->open;
  if (*input) return td_admit_depths(n->arena, n, arg, depth, d);
  td_diag_set(d, TD_UNSUPPORTED, "data", (TdLoc){0}, "%s",
              n->open ? n->open : "data decides the order of gets and puts");
  if (!n->open) td_diag_help(d, "d:depths(..), with arguments, tells those for one input");
  return false;
}

/* Pushes depths by name, and the bits of them all. */
static void push_depths(lua_State *L, const TdTraffic *n, const int64_t *depth, bool in_bits) {
  const uint64_t *bits = td_depths_line_bits(n, depth);
  lua_createtable(L, 0, (int)n->line.n);
  for (size_t i = 0; i < n->line.n; i++) {
    lua_pushinteger(L, in_bits ? (lua_Integer)bits[i] : depth[i]);
    lua_setfield(L, -2, n->line.at[i].sym->name);
  }
  lua_pushinteger(L, (lua_Integer)td_depths_bits(n, depth));
}

/* Takes a last argument {unit = "tokens" or "bits"} off the stack; whether bits are asked for. */
static bool take_unit(lua_State *L) {
  static const char *const options[] = {"unit", NULL}, *const units[] = {"tokens", "bits", NULL};
  int top = lua_gettop(L);
  if (top < 2 || !lua_istable(L, top)) return false;
  bool given = lua_getfield(L, top, "unit") == LUA_TSTRING;
  lua_settop(L, top);
  if (!given) return false;
  td_bind_check_options(L, top, options);
  bool bits = td_bind_opt_word(L, top, "unit", units, 0) == 1;
  lua_settop(L, top - 1);
  return bits;
}

/* d:depths {contract = "fire"}: raises the least depths by runs; or leaves them ("latch"). Pushes
 * the new ones by name. */
static void raise_depths(lua_State *L, const TdTraffic *n, int64_t *depth, int options) {
  td_stdlib_push_module(L, "tide.contract");
  lua_getfield(L, -1, "depths");
  lua_pushvalue(L, 1);
  lua_createtable(L, 0, (int)n->line.n);
  for (size_t i = 0; i < n->line.n; i++) td_bind_set_integer(L, n->line.at[i].sym->name, depth[i]);
  lua_pushvalue(L, options);
  lua_call(L, 3, 1);
  for (size_t i = 0; i < n->line.n; i++) {
    lua_getfield(L, -1, n->line.at[i].sym->name);
    depth[i] = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
}

/* d:depths {contract =, device =, args =, unit =}. */
static int depths_by_contract(lua_State *L, const TdProg *p) {
  static const char *const options[] = {"contract", "device", "args", "unit", NULL};
  static const char *const units[] = {"tokens", "bits", NULL};
  td_bind_check_options(L, 2, options);
  bool fire = takes_fire(L, 2);
  bool in_bits = td_bind_opt_word(L, 2, "unit", units, 0) == 1, input;
  TdArena *a = td_bind_work(L, TD_WORK_CHECK);
  TdDiag d = td_bind_diag(a);
  TdTraffic *n = td_traffic_of(a, p, &d);
  if (!n) return td_bind_raise(L, &d);
  int64_t *depth = TD_NEWN(a, int64_t, n->line.n);
  if (!find_depths(n, NULL, depth, &input, &d)) return td_bind_push_failure(L, &d);
  if (fire) raise_depths(L, n, depth, 2);
  push_depths(L, n, depth, in_bits);
  if (fire) lua_pushliteral(L, "for this input");
  return fire ? 3 : 2;
}

int td_bind_check_depths(lua_State *L) {
  const TdProg *p = td_bind_check_unit(L, 1);
  if (lua_gettop(L) == 2 && lua_istable(L, 2)) {
    bool asks =
        lua_getfield(L, 2, "contract") != LUA_TNIL || lua_getfield(L, 2, "device") != LUA_TNIL;
    lua_settop(L, 2);
    if (asks && td_prog_root(p)->kind == TD_UNIT_DESIGN) return depths_by_contract(L, p);
  }
  bool in_bits = take_unit(L);
  if (td_prog_root(p)->kind != TD_UNIT_DESIGN)
    return td_bind_fail(L, "argument", "a kernel has no streams of its own");
  const TdEvalArg *arg = lua_gettop(L) > 1 ? td_bind_eval_arguments(L, p, 2, &p) : NULL;
  TdArena *a = td_bind_work(L, TD_WORK_CHECK);
  TdDiag d = td_bind_diag(a);
  bool input;
  TdTraffic *n = td_traffic_of(a, p, &d);
  if (!n) return td_bind_raise(L, &d);
  int64_t *depth = TD_NEWN(a, int64_t, n->line.n);
  if (!find_depths(n, arg, depth, &input, &d)) return td_bind_push_failure(L, &d);
  push_depths(L, n, depth, in_bits);
  if (input) lua_pushliteral(L, "for this input");
  return input ? 3 : 2;
}
