/* maestro_front.c - streamers in front of a design: made, looked at, run with a clock. */
#include <string.h>

#include "analysis/time/firing.h"
#include "backends/maestro/front/front.h"
#include "bind/program/maestro.h"
#include "bind/value/tensor.h"

#define CLASS_FRONT "tide.maestro.front"

/* User values: the system and the schedule. */
enum { SYSTEM = 1, SCHEDULE, USER_VALUES = SCHEDULE };

typedef struct FrontBox {
  TdArena *arena;
  TdMaestroFront *front; /* NULL until it is made */
} FrontBox;

static int l_gc(lua_State *L) {
  FrontBox *box = lua_touserdata(L, 1);
  td_arena_free(box->arena);
  *box = (FrontBox){0};
  return 0;
}

static const TdMaestroFront *check_front(lua_State *L, int idx) {
  FrontBox *box = luaL_testudata(L, idx, CLASS_FRONT);
  if (!box || !box->front) td_bind_expect(L, idx, "streamers in front of a design");
  return box->front;
}

/* The tensor parameter that each streamer is named after. */
static void find_params(lua_State *L, TdMaestroFront *f) {
  const TdUnit *u = td_prog_root(f->prog);
  for (int i = 0; i < f->system.n; i++) {
    size_t p = 0;
    while (p < u->nparam && strcmp(u->param[p].sym->name, f->system.at[i].name) != 0) p++;
    if (p == u->nparam || u->param[p].type->kind != TD_T_TENSOR)
      td_bind_maestro_fail(L, "maestro-front", "'%s' has no tensor '%s' to stream", u->sym->name,
                           f->system.at[i].name);
    f->feed[i].param = p;
  }
}

/* core.front(system, schedule, {order =, mode =, base =}) */
static int l_front(lua_State *L) {
  lua_settop(L, 3);
  const TdMaestroSystem *s = td_bind_check_maestro(L, 1);
  const TdProg *p = td_bind_test_schedule(L, 2);
  if (!p) p = td_bind_check_unit(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  TdBind *b = td_bind_enter(L);
  TdArena *work = td_bind_work(L, TD_WORK_BUILD);
  FrontBox *box = lua_newuserdatauv(L, sizeof *box, USER_VALUES);
  *box = (FrontBox){0};
  luaL_setmetatable(L, CLASS_FRONT);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, SYSTEM);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, SCHEDULE);
  box->arena = td_arena_new(b->ctx);
  TdMaestroFront *f = TD_NEW(box->arena, TdMaestroFront);
  *f = (TdMaestroFront){.system = *s, .prog = p};
  find_params(L, f);
  TdAsk q = {b->affine, box->arena, p, td_prog_root(p)};
  const char *const *by_param = td_bind_maestro_orders(L, box->arena, 3, q.unit);
  const char **order = TD_NEWN(work, const char *, s->n);
  for (int i = 0; i < s->n; i++) order[i] = by_param[f->feed[i].param];
  TdMaestroFrontAsk ask = {.order = order,
                           .mode = td_bind_maestro_modes(L, work, 3, s),
                           .base = td_bind_maestro_numbers(L, work, 3, "base", s)};
  TdDiag d = td_bind_diag(work);
  if (!td_maestro_front_make(f, q, &ask, &d)) return td_bind_maestro_raise(L, &d);
  box->front = f;
  td_bind_account(L);
  return 1;
}

/* core.front_streams(front): a list of the registers of its streamers, each with the argument's
 * order, its streams, their tokens and the tokens of each in a word. */
static int l_streams(lua_State *L) {
  const TdMaestroFront *f = check_front(L, 1);
  lua_createtable(L, f->system.n, 0);
  for (int i = 0; i < f->system.n; i++) {
    const TdMaestroFeed *x = &f->feed[i];
    td_bind_push_pattern(L, &f->system, i, &f->pattern[i]);
    td_bind_set_string(L, "order", x->text);
    td_bind_set_integer(L, "streams", x->nend);
    td_bind_set_integer(L, "tokens", x->tokens);
    td_bind_set_integer(L, "group", x->group);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int l_gc_timed(lua_State *L) {
  TdTimedOwner *o = lua_touserdata(L, 1);
  td_arena_free(o->arena);
  *o = (TdTimedOwner){0};
  return 0;
}

/* Pushes what will own the report of a run. */
static TdTimedOwner *push_owner(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", l_gc_timed}, {NULL, NULL}};
  TdTimedOwner *o = lua_newuserdatauv(L, sizeof *o, 0);
  *o = (TdTimedOwner){0};
  td_bind_class(L, TD_CLASS_TIMED_OWNER, meta, NULL);
  lua_setmetatable(L, -2);
  o->arena = td_arena_new(td_bind_enter(L)->ctx);
  return o;
}

/* The front at 1 with its arguments, from idx to the top of the stack, checked. */
static const TdMaestroFront *check_call(lua_State *L, int idx) {
  const TdMaestroFront *f = check_front(L, 1);
  td_bind_name_arguments(L, f->prog, idx);
  td_bind_check_arguments(L, f->prog, idx);
  return f;
}

/* The arguments from idx on. */
static TdEvalArg *read_arguments(lua_State *L, TdArena *a, const TdMaestroFront *f, int idx) {
  const TdUnit *u = td_prog_root(f->prog);
  TdEvalArg *arg = TD_NEWN(a, TdEvalArg, u->nparam + 1);
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = td_unit_type(td_bind_enter(L)->session, u, u->param[i].type);
    if (t->kind == TD_T_TENSOR) {
      arg[i].tensor = td_bind_check_tensor(L, idx + (int)i);
    } else {
      td_bind_to_bits(L, idx + (int)i, t, &arg[i].scalar);
      arg[i].has_scalar = true;
    }
  }
  return arg;
}

static const TdTarget *check_device(lua_State *L, const char *device) {
  const TdTarget *t = td_target_find(device);
  if (!t) td_bind_maestro_fail(L, "maestro-build", "there is no device '%s'", device);
  return t;
}

/* core.front_run(front, device, arguments ..): the report with a clock, that of the memory. */
static int l_run(lua_State *L) {
  const TdTarget *target = check_device(L, luaL_checkstring(L, 2));
  const TdMaestroFront *f = check_call(L, 3);
  TdArena *work = td_bind_work(L, TD_WORK_RUN);
  TdMaestroFrontRun r = {.front = f, .arg = read_arguments(L, work, f, 3)};
  TdTimedOwner *o = push_owner(L);
  int owner = lua_gettop(L);
  TdDiag d = td_bind_diag(o->arena);
  r.times = td_firing_times(td_bind_enter(L)->affine, o->arena, f->prog, target, &d);
  if (!r.times || !td_maestro_front_run(&r, o->arena, &d)) return td_bind_maestro_raise(L, &d);
  o->timed = r.timed;
  td_bind_push_timed(L, r.timed, owner);
  td_bind_push_maestro(L, &f->system, f->pattern, r.report);
  return 2;
}

/* core.front_files(front, {device =, axi =}): the files of both as Verilog, the bench. */
static int l_files(lua_State *L) {
  const TdMaestroFront *f = check_front(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  const TdTarget *target = check_device(L, td_bind_opt_string(L, 2, "device"));
  TdArena *a = td_bind_work(L, TD_WORK_BUILD);
  TdDiag d = td_bind_diag(a);
  TdMaestroFrontText t = {0};
  bool axi = td_bind_opt_boolean(L, 2, "axi", false);
  if (!td_maestro_front_text(f, target, td_bind_enter(L)->affine, axi, a, &t, &d))
    return td_bind_maestro_raise(L, &d);
  td_bind_push_files(L, t.file, t.nfile);
  lua_pushstring(L, t.bench);
  return 2;
}

/* core.front_sim(front, {device =, sim =, seconds =, check =, axi =}, arguments ..): the cycles of
 * both in a simulator; results are in the tensors. */
static int l_sim(lua_State *L) {
  luaL_checktype(L, 2, LUA_TTABLE);
  TdMaestroFrontSim x = {.front = check_call(L, 3), .affine = td_bind_enter(L)->affine};
  TdArena *a = td_bind_work(L, TD_WORK_RUN);
  x.arg = read_arguments(L, a, x.front, 3);
  x.target = check_device(L, td_bind_opt_string(L, 2, "device"));
  int64_t seconds = 600;
  td_bind_opt_integer(L, 2, "seconds", &seconds);
  x.seconds = (int)seconds;
  x.sim = td_bind_opt_string(L, 2, "sim");
  x.check = td_bind_opt_boolean(L, 2, "check", true);
  x.axi = td_bind_opt_boolean(L, 2, "axi", false);
  TdDiag d = td_bind_diag(a);
  x.times = td_firing_times(x.affine, a, x.front->prog, x.target, &d);
  if (!x.times || !td_maestro_front_sim(&x, a, &d)) return td_bind_maestro_raise(L, &d);
  lua_pushinteger(L, (lua_Integer)x.cycles);
  return 1;
}

void td_bind_open_maestro_front(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", l_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"front", l_front},   {"front_streams", l_streams},
                                       {"front_run", l_run}, {"front_files", l_files},
                                       {"front_sim", l_sim}, {NULL, NULL}};
  td_bind_class(L, CLASS_FRONT, meta, NULL);
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
}
