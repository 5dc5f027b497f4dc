/* stp_run.c - running graphs of STeP: kernels of functions, options, outputs, reports. */
#include <string.h>

#include "backends/cpu/cpu.h"
#include "bind/step/stp.h"
#include "bind/program/memory.h"
#include "bind/program/unit.h"
#include "ir/at.h"
#include "step/stp_depth.h"
#include "step/stp_metric.h"
#include "step/stp_run.h"

enum { MOST_ARGUMENTS = 18 };

static const char define_key, kernels_key;

/* ---- kernels ---- */

/* The kernels of a run: by function and type of element, then compiled by types of arguments. */
typedef TdStpKernels Kernels;

int td_stp_l_define(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &define_key);
  lua_newtable(L);
  Kernels *k = lua_newuserdatauv(L, sizeof *k, 0);
  *k = (Kernels){.L = L, .arena = td_bind_enter(L)->session->arena};
  lua_rawseti(L, -2, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kernels_key);
  return 0;
}

static uint64_t kernel_key(TdStpFnKind fn, const TdType *elem) {
  return (uint64_t)fn << 32 | elem->id;
}

/* Has the kernel of fn on elements of a type be known; the table of units is at slot `units`. */
static void need_kernel(lua_State *L, int units, Kernels *k, TdStpFnKind fn, const TdType *elem) {
  uint64_t key = kernel_key(fn, elem), found;
  if (td_map_get(&k->prog, key, &found)) return;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &define_key);
  lua_pushstring(L, td_stp_fns[fn].name);
  td_bind_push_type(L, elem);
  lua_call(L, 2, 1);
  const TdProg *p = td_bind_check_unit(L, -1);
  td_map_put(k->arena, &k->prog, key, (uint64_t)(uintptr_t)p);
  lua_rawseti(L, units, (lua_Integer)lua_rawlen(L, units) + 1);
}

static bool has_kernel(TdStpFnKind fn) {
  return fn <= TD_STP_FN_ROW_SUM;
}

const TdProg *td_stp_meaning(lua_State *L, const TdStpFn *f, const TdType *elem) {
  if (f->prog || !has_kernel(f->kind)) return f->prog;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &kernels_key);
  int units = lua_gettop(L);
  lua_rawgeti(L, units, 1);
  Kernels *k = lua_touserdata(L, -1);
  need_kernel(L, units, k, f->kind, elem);
  lua_settop(L, units - 1);
  uint64_t p = 0;
  td_map_get(&k->prog, kernel_key(f->kind, elem), &p);
  return (const TdProg *)(uintptr_t)p;
}

/* Has all kernels that a run of g calls be known: without data those on numbers. */
static Kernels *need_kernels(lua_State *L, const TdStpGraph *g, bool data) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &kernels_key);
  int units = lua_gettop(L);
  lua_rawgeti(L, units, 1);
  Kernels *k = lua_touserdata(L, -1);
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    if (!n->nout) continue;
    const TdStpType *t = n->out[0].type;
    if (t->kind == TD_STP_BUFFER && n->op == TD_STP_ACCUM) t = t->part[0];
    if (t->kind != TD_STP_TILE) continue;
    const TdType *elem = t->elem;
    if (!data && !td_type_is_integer(elem)) continue;
    bool calls = n->op == TD_STP_MAP || n->op == TD_STP_ACCUM || n->op == TD_STP_MAP_ACCUM ||
                 n->op == TD_STP_SCAN;
    if (calls && has_kernel(n->fn.kind)) need_kernel(L, units, k, n->fn.kind, elem);
    if (n->op == TD_STP_MAP_ACCUM) need_kernel(L, units, k, TD_STP_FN_ADD, elem);
  }
  lua_settop(L, units - 1);
  return k;
}

/* The kernel of fn at these types, compiled; NULL with d filled. */
static TdCpu *compiled(Kernels *k, TdStpFnKind fn, const TdType *const *type, size_t n, TdDiag *d) {
  uint64_t h = fn, found;
  for (size_t i = 0; i < n; i++) h = td_map_mix(h, (uint64_t)(uintptr_t)type[i]);
  if (td_map_get(&k->cpu, h, &found)) return (TdCpu *)(uintptr_t)found;
  uint64_t p = 0;
  td_map_get(&k->prog, kernel_key(fn, type[0]->elem), &p);
  const TdProg *at = td_at_arguments((const TdProg *)(uintptr_t)p, type, n, d);
  TdCpuOptions o = {.tier = TD_TIER_AUTO};
  TdCpu *cpu = at ? td_cpu_new(k->arena, at, &o, d) : NULL;
  if (cpu) td_map_put(k->arena, &k->cpu, h, (uint64_t)(uintptr_t)cpu);
  return cpu;
}

/* The same of a kernel that a user gave. */
static TdCpu *compiled_kernel(Kernels *k, const TdStpFn *f, const TdType *const *type, size_t n,
                              TdDiag *d) {
  uint64_t h = (uint64_t)(uintptr_t)f->prog, found;
  for (size_t i = 0; i < n; i++) h = td_map_mix(h, (uint64_t)(uintptr_t)type[i]);
  if (td_map_get(&k->cpu, h, &found)) return (TdCpu *)(uintptr_t)found;
  const TdProg *at = td_at_arguments(f->prog, type, n, d);
  TdCpuOptions o = {.tier = TD_TIER_AUTO};
  TdCpu *cpu = at ? td_cpu_new(k->arena, at, &o, d) : NULL;
  if (cpu) td_map_put(k->arena, &k->cpu, h, (uint64_t)(uintptr_t)cpu);
  return cpu;
}

static bool call_kernel(void *ud, const TdStpNode *node, TdStpFnKind fn, TdTensor *arg, size_t narg,
                        TdTensor *out, TdDiag *d) {
  const TdType *type[MOST_ARGUMENTS];
  TdCallArg call[MOST_ARGUMENTS] = {{0}};
  bool own = fn == TD_STP_FN_KERNEL;
  size_t result = own ? (size_t)node->fn.result : narg;
  for (size_t i = 0; i <= narg; i++) {
    TdTensor *t = i == result ? out : &arg[i < result ? i : i - 1];
    type[i] = t->type;
    call[i].tensor = t;
  }
  TdCpu *cpu =
      own ? compiled_kernel(ud, &node->fn, type, narg + 1, d) : compiled(ud, fn, type, narg + 1, d);
  return cpu && td_cpu_call(cpu, call, narg + 1, d);
}

/* ---- options ---- */

/* An integer option of at least `least`. */
static void take(lua_State *L, int idx, const char *key, int64_t least, int64_t *v) {
  int64_t was = *v;
  if (!td_bind_opt_integer(L, idx, key, v) || (*v < least && *v != was))
    td_bind_fail(L, "option-value", "option '%s' is an integer of at least %lld", key,
                 (long long)least);
}

TdStpOptions td_stp_take_run(lua_State *L, int idx, TdBindMemory *own) {
  static const char *const names[] = {"depth", "pmu", "bytes", "memory", "lists", "order", NULL};
  static const char *const orders[] = {"arrival", "index", NULL};
  TdStpOptions o = td_stp_run_defaults();
  o.keep = true;
  if (!td_bind_check_options(L, idx, names)) return o;
  if (lua_getfield(L, idx, "depth") == LUA_TBOOLEAN && !lua_toboolean(L, -1))
    o.depth = 0;
  else
    take(L, idx, "depth", 1, &o.depth);
  lua_pop(L, 1);
  take(L, idx, "pmu", 1, &o.pmu);
  take(L, idx, "bytes", 1, &o.bytes);
  o.by_index = td_bind_opt_word(L, idx, "order", orders, 0) == 1;
  if (lua_getfield(L, idx, "memory") != LUA_TNIL)
    td_bind_take_memory(L, lua_gettop(L), &o.memory, own);
  return o;
}

/* ---- outputs ---- */

static void push_lists(lua_State *L, const TdStpToken *token, size_t n, const TdStpType *type,
                       int ndim);

/* Pushes a token of an output: a tensor, a number, a list of indices, the list of a tuple's parts,
 * a buffer's lists. */
static void push_token(lua_State *L, const TdStpToken *t, const TdStpType *type) {
  luaL_checkstack(L, 2 * TD_STP_RANK + 8, "lists");
  if (type->kind == TD_STP_BUFFER) {
    push_lists(L, t->part, t->nparts, type->part[0], type->ndim);
    return;
  }
  if (type->kind == TD_STP_TUPLE) {
    lua_createtable(L, (int)t->nparts, 0);
    for (size_t i = 0; i < t->nparts; i++) {
      push_token(L, &t->part[i], type->part[i]);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return;
  }
  if (t->nindex >= 0) {
    lua_createtable(L, (int)t->nindex, 0);
    for (int64_t i = 0; i < t->nindex; i++) {
      lua_pushinteger(L, t->index[i]);
      lua_rawseti(L, -2, i + 1);
    }
    return;
  }
  if (t->rows == 1 && t->cols == 1 && t->elem->kind != TD_T_FLOAT) {
    td_bind_push_bits(L, t->elem, (uint64_t)t->number);
    return;
  }
  int64_t extent[] = {t->rows, t->cols};
  TdSession *s = td_bind_enter(L)->session;
  TdTensor *x = td_bind_push_tensor(L, td_type_tensor_of(s, t->elem, 2, extent), false);
  memcpy(x->data, t->data, (size_t)(t->rows * t->cols) * td_type_bytes(t->elem));
}

/* Appends the value on top to the list below it. */
static void append(lua_State *L) {
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* Pushes n tokens of a type as nested lists of ndim dimensions. The outermost list ends with the
 * last of them, whether a stop says so (a buffer's) or not. */
static void push_lists(lua_State *L, const TdStpToken *token, size_t n, const TdStpType *type,
                       int ndim) {
  int closed = ndim - 1; /* levels up to it are closed; their lists lie on the stack */
  luaL_checkstack(L, 2 * TD_STP_RANK + 8, "lists");
  lua_newtable(L);
  for (size_t i = 0; i < n; i++) {
    const TdStpToken *t = &token[i];
    for (int to = t->from ? t->from : 1; closed >= to; closed--) lua_newtable(L);
    if (!t->from) {
      push_token(L, t, type);
      append(L);
    }
    for (; closed < t->stop && closed < ndim - 1; closed++) append(L);
  }
  for (; closed < ndim - 1; closed++) append(L);
}

/* Whether all lists of a level are of one length, and all tiles of one shape; the extents,
 * outermost first. */
static bool is_regular(const TdStpOutput *out, int ndim, int64_t *extent) {
  int64_t open[TD_STP_RANK + 2] = {0}, fixed[TD_STP_RANK + 2];
  const TdStpToken *first = NULL;
  for (int l = 0; l <= TD_STP_RANK; l++) fixed[l] = -1;
  for (size_t i = 0; i < out->token.n; i++) {
    const TdStpToken *t = &out->token.at[i];
    if (t->from) return false;
    if (!first) first = t;
    if (t->rows != first->rows || t->cols != first->cols) return false;
    open[0]++;
    for (int l = 1; l <= t->stop; l++) {
      if (fixed[l] >= 0 && fixed[l] != open[l - 1]) return false;
      fixed[l] = open[l - 1];
      open[l - 1] = 0;
      open[l]++;
    }
  }
  for (int l = 1; l < ndim; l++) extent[ndim - l] = fixed[l];
  extent[0] = open[ndim - 1];
  return first && first->data && first->elem;
}

/* Pushes an output as one tensor where it is regular, else as lists. */
static void push_output(lua_State *L, const TdStpOutput *out, const TdStpStream *s, bool lists) {
  int64_t extent[TD_STP_RANK + 2];
  int ndim = s->ndim;
  if (lists || ndim + 2 > TD_MAX_RANK || !is_regular(out, ndim, extent)) {
    push_lists(L, out->token.at, out->token.n, s->type, ndim);
    return;
  }
  const TdStpToken *t = &out->token.at[0];
  extent[ndim] = t->rows;
  extent[ndim + 1] = t->cols;
  TdSession *own = td_bind_enter(L)->session;
  TdTensor *x = td_bind_push_tensor(L, td_type_tensor_of(own, t->elem, ndim + 2, extent), false);
  size_t each = (size_t)(t->rows * t->cols) * td_type_bytes(t->elem);
  for (size_t i = 0; i < out->token.n; i++) memcpy(x->data + i * each, out->token.at[i].data, each);
}

/* ---- reports ---- */

static int l_owner_gc(lua_State *L) {
  TdTimedOwner *o = lua_touserdata(L, 1);
  td_arena_free(o->arena);
  o->arena = NULL;
  return 0;
}

/* Pushes what keeps a report's events. */
static TdTimedOwner *push_owner(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", l_owner_gc}, {NULL, NULL}};
  TdTimedOwner *o = lua_newuserdatauv(L, sizeof *o, 0);
  *o = (TdTimedOwner){0};
  td_bind_class(L, TD_CLASS_TIMED_OWNER, meta, NULL);
  lua_setmetatable(L, -2);
  o->arena = td_arena_new(td_bind_enter(L)->ctx);
  return o;
}

/* Pushes the report of a run, kept by the owner at its slot. */
static void push_report(lua_State *L, const TdStpGraph *g, const TdStpReport *r, int owner) {
  td_bind_push_timed(L, &r->timed, owner);
  td_bind_set_integer(L, "traffic", r->traffic);
  td_bind_set_integer(L, "memory", r->memory);
  td_bind_set_integer(L, "memory_live", r->memory_live);
  td_bind_set_integer(L, "moved", r->moved);
  td_bind_set_integer(L, "flops", r->flops);
  td_bind_set_integer(L, "useful", r->useful);
  td_bind_set_integer(L, "allocated", r->allocated);
  lua_createtable(L, 0, (int)g->symbol.n);
  for (size_t i = 0; i < g->symbol.n; i++)
    td_bind_set_integer(L, g->symbol.at[i].name, r->symbol[i]);
  lua_setfield(L, -2, "symbols");
}

/* Refuses a run with data where a load has only a type. */
static void check_data(lua_State *L, const TdStpGraph *g) {
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    if ((n->op != TD_STP_LOAD && n->op != TD_STP_LOAD_AT) || n->tensor.data) continue;
    TdArena *a = td_bind_arena(L);
    TdDiag d = td_bind_diag(a);
    td_diag_set(&d, TD_USAGE, "step-data", n->loc,
                "'%s' reads %s, a type: a run with data needs a tensor", td_stp_graph_name(a, n),
                td_type_str(a, n->tensor.type));
    td_diag_help(&d, "g:simulate runs on shapes alone");
    td_bind_raise(L, &d);
  }
}

TdStpCalls td_stp_calls(lua_State *L, const TdStpGraph *g, bool data) {
  Kernels *k = need_kernels(L, g, data);
  k->L = L;
  return (TdStpCalls){k, call_kernel, td_stp_kernel_cycles};
}

/* One run; with data it returns outputs before the report. */
static int run(lua_State *L, bool data) {
  TdStpGraph *g = td_stp_check_program(L, 1);
  TdBindMemory own;
  lua_settop(L, 2);
  if (lua_isnil(L, 2) && td_bind_test_graph_schedule(L, 1)) {
    lua_getiuservalue(L, 1, TD_UNIT_STATE);
    lua_replace(L, 2);
  }
  TdStpOptions o = td_stp_take_run(L, 2, &own);
  bool lists = td_bind_opt_boolean(L, 2, "lists", false);
  o.data = data;
  if (data) check_data(L, g);
  TdStpCalls calls = td_stp_calls(L, g, data);
  TdTimedOwner *owner = push_owner(L);
  int at = lua_gettop(L);
  TdArena *a = td_bind_work(L, TD_WORK_SIMULATE);
  TdDiag d = td_bind_diag(a);
  TdStpReport *r = TD_NEW(owner->arena, TdStpReport);
  if (!td_stp_run(a, owner->arena, g, &o, &calls, r, &d)) {
    td_stp_depth_tell(a, g, &o, &calls, &d);
    td_bind_raise(L, &d);
  }
  owner->timed = &r->timed;
  push_report(L, g, r, at);
  int report = lua_gettop(L), count = 1;
  luaL_checkstack(L, (int)g->output.n + 8, "outputs");
  for (size_t i = 0; data && i < g->output.n; i++, count++)
    push_output(L, &r->output[i], td_stp_graph_stream(g, g->output.at[i]), lists);
  lua_pushvalue(L, report);
  return count;
}

int td_stp_l_run(lua_State *L) {
  return run(L, true);
}

int td_stp_l_simulate(lua_State *L) {
  return run(L, false);
}

/* ---- metrics ---- */

static TdStpMetric take_metric(lua_State *L) {
  static const char *const names[] = {"as", "bytes", "live", NULL};
  static const char *const as[] = {"artifact", "fifos", "paper", NULL};
  TdStpMetric o = {.as = TD_STP_AS_TYPES};
  if (!td_bind_check_options(L, 2, names)) return o;
  o.as = (TdStpAs)td_bind_opt_word(L, 2, "as", as, TD_STP_AS_TYPES);
  take(L, 2, "bytes", 1, &o.bytes);
  o.live = td_bind_opt_boolean(L, 2, "live", false);
  return o;
}

int td_stp_l_traffic(lua_State *L) {
  TdStpGraph *g = td_stp_check_program(L, 1);
  td_stp_push_expr(L, td_stp_metric_traffic(g, take_metric(L)));
  return 1;
}

int td_stp_l_memory(lua_State *L) {
  TdStpGraph *g = td_stp_check_program(L, 1);
  td_stp_push_expr(L, td_stp_metric_memory(g, take_metric(L)));
  return 1;
}

int td_stp_l_flops(lua_State *L) {
  td_stp_push_expr(L, td_stp_metric_flops(td_stp_check_program(L, 1)));
  return 1;
}
