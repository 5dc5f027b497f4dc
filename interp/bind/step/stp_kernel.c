/* stp_kernel.c - kernels, schedules and designs as functions of STeP, and their cycles. */
#include "analysis/order/effects.h"
#include "analysis/time/cost.h"
#include "bind/step/stp.h"
#include "bind/program/unit.h"

static const char timing_key, kept_key;

/* Compiled kernels are found by their units. */
void td_stp_keep_unit(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kept_key) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &kept_key);
  }
  lua_pushvalue(L, idx);
  lua_rawsetp(L, -2, td_bind_check_unit(L, idx));
  lua_pop(L, 1);
}

bool td_stp_as_function(lua_State *L, const TdProg *p, TdStpFn *f, TdDiag *d) {
  TdAsk q = {td_bind_enter(L)->affine, d->arena, p, td_prog_root(p)};
  *f = (TdStpFn){.kind = TD_STP_FN_KERNEL, .prog = p, .name = td_prog_root(p)->sym->name};
  return td_stp_kernel_check(p, td_effects_written(&q), &f->result, d);
}

void td_stp_push_kept(lua_State *L, const TdProg *p) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &kept_key);
  lua_rawgetp(L, -1, p);
  lua_remove(L, -2);
}

TdStpFn td_stp_take_kernel(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  const TdProg *p = td_bind_test_schedule(L, idx);
  if (!p) p = td_bind_check_unit(L, idx);
  lua_getiuservalue(L, idx, TD_UNIT_STORE);
  td_bind_push_unit(L, lua_gettop(L), p);
  lua_remove(L, -2);
  td_stp_keep_unit(L, -1);
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  TdStpFn f;
  if (!td_stp_as_function(L, p, &f, &d)) td_bind_raise(L, &d);
  lua_closeslot(L, -1);
  lua_pop(L, 1);
  return f;
}

int td_stp_l_timing(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &timing_key);
  return 0;
}

/* The cycles of a run with a clock, which Lua makes. */
static int64_t timed(lua_State *L, const TdStpFn *f, const TdType *const *type, size_t n,
                     const char *device, TdDiag *d) {
  int top = lua_gettop(L);
  int64_t cycles = -1;
  const TdProg *at = td_at_arguments(f->prog, type, n, d);
  if (!at) return -1;
  luaL_checkstack(L, (int)n + 8, "a run with a clock");
  lua_rawgetp(L, LUA_REGISTRYINDEX, &timing_key);
  td_stp_push_kept(L, f->prog);
  lua_getiuservalue(L, -1, TD_UNIT_STORE);
  td_bind_push_unit(L, lua_gettop(L), at);
  lua_replace(L, -3);
  lua_pop(L, 1);
  lua_pushstring(L, device);
  for (size_t i = 0; i < n; i++) td_bind_push_type(L, type[i]);
  if (lua_pcall(L, (int)n + 2, 1, 0) == LUA_OK)
    cycles = (int64_t)lua_tointeger(L, -1);
  else
    td_diag_set(d, TD_ILLEGAL, "step-time", d->loc, "%s has no run with a clock: %s", f->name,
                luaL_tolstring(L, -1, NULL));
  lua_settop(L, top);
  return cycles;
}

int64_t td_stp_kernel_cycles(void *kernels, const TdStpNode *n, const TdStpSizes *s, TdDiag *d) {
  TdStpKernels *k = kernels;
  const TdUnit *u = td_prog_root(n->fn.prog);
  const TdType **type = TD_NEWN(d->arena, const TdType *, u->nparam);
  bool estimates = n->opt[TD_STP_KEY_TIME] == 1, given = n->has >> TD_STP_KEY_DEVICE & 1;
  const char *device = given       ? td_target_names[n->opt[TD_STP_KEY_DEVICE]]
                       : estimates ? "u280"
                                   : NULL;
  uint64_t h = td_map_mix((uint64_t)(uintptr_t)n->fn.prog, (uint64_t)(uintptr_t)device), found;
  h = td_map_mix(h, (uint64_t)n->opt[TD_STP_KEY_TIME]);
  TdSession *session = td_bind_enter(k->L)->session;
  for (size_t i = 0; i < u->nparam; i++) {
    int64_t extent[2];
    for (int q = 0; q < 2; q++) extent[q] = td_stp_kernel_extent(&n->fn, &u->param[i], q, s, false);
    type[i] = td_type_tensor_of(session, u->param[i].type->elem, 2, extent);
    h = td_map_mix(h, (uint64_t)(uintptr_t)type[i]);
  }
  if (td_map_get(&k->cycles, h, &found)) return (int64_t)found;
  int64_t cycles = -1;
  d->loc = n->loc;
  if (estimates) {
    const TdProg *at = td_at_arguments(n->fn.prog, type, u->nparam, d);
    TdCost c;
    const TdTarget *t = td_target_find(device);
    TdAffine *affine = td_bind_enter(k->L)->affine;
    if (at && td_cost_estimate(affine, d->arena, at, t, &c, d)) cycles = c.cycles;
  } else {
    cycles = timed(k->L, &n->fn, type, u->nparam, device, d);
  }
  if (cycles >= 0) td_map_put(k->arena, &k->cycles, h, (uint64_t)cycles);
  return cycles;
}
