/* maestro_report.c - runs of jobs without data: reports, predictions, waves. */
#include <stddef.h>
#include <string.h>

#include "backends/maestro/csr.h"
#include "backends/maestro/rtl/rtl.h"
#include "bind/program/maestro.h"
#include "bind/value/tensor.h"
#include "eval/time/timed.h"

static void set_integers(lua_State *L, const char *key, const int64_t *v, int n) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_pushinteger(L, (lua_Integer)v[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, key);
}

/* Sets a table of one count by the names of streamers. */
static void set_counts(lua_State *L, const TdMaestroSystem *s, const TdMaestroPattern *p,
                       const char *key, const TdMaestroReport *r, size_t offset) {
  lua_newtable(L);
  for (int i = 0; i < s->n; i++) {
    int64_t v;
    memcpy(&v, (const char *)&r->streamer[i] + offset, sizeof v);
    if (p[i].used) td_bind_set_integer(L, s->at[i].name, v);
  }
  lua_setfield(L, -2, key);
}

void td_bind_push_maestro(lua_State *L, const TdMaestroSystem *s, const TdMaestroPattern *p,
                          const TdMaestroReport *r) {
  static const char *const stall[] = {
#define TD_MAESTRO_STALL(id, name, summary) name,
#include "backends/maestro/stall.def"
  };
  lua_createtable(L, 0, 12);
  td_bind_set_integer(L, "cycles", r->cycles);
  td_bind_set_integer(L, "fires", r->fires);
  td_bind_set_integer(L, "window", r->fires ? r->last - r->first + 1 : 0);
  td_bind_set_integer(L, "first", r->first);
  td_bind_set_integer(L, "last", r->last);
  set_counts(L, s, p, "access", r, offsetof(TdMaestroCount, accesses));
  set_counts(L, s, p, "conflicts", r, offsetof(TdMaestroCount, conflicts));
  set_counts(L, s, p, "shared", r, offsetof(TdMaestroCount, shared));
  set_counts(L, s, p, "occupancy", r, offsetof(TdMaestroCount, occupancy));
  set_counts(L, s, p, "most", r, offsetof(TdMaestroCount, most));
  lua_newtable(L);
  for (int i = 0; i < TD_MAESTRO_STALLS; i++) td_bind_set_integer(L, stall[i], r->stall[i]);
  lua_setfield(L, -2, "stalls");
  set_integers(L, "banks", r->bank, (int)s->memory.banks);
  set_integers(L, "bank_conflicts", r->bank_conflicts, (int)s->memory.banks);
}

/* What runs the job at slot 1, and those of the list at slot 2 behind it. */
static TdMaestroRun run_of(lua_State *L, TdArena *a) {
  const TdMaestroJob *j = td_bind_check_maestro_job(L, 1)->job;
  TdMaestroRun run = {.ctx = td_bind_enter(L)->ctx,
                      .arena = a,
                      .system = j->system,
                      .pattern = j->pattern,
                      .work = j->work};
  run.nnext = lua_istable(L, 2) ? lua_rawlen(L, 2) : 0;
  TdMaestroNext *next = TD_NEWN(a, TdMaestroNext, run.nnext + 1);
  for (size_t i = 0; i < run.nnext; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    const TdMaestroJob *x = td_bind_check_maestro_job(L, -1)->job;
    if (x->system != j->system)
      td_bind_maestro_fail(L, "maestro-job", "jobs that overlap are of one system");
    next[i] = (TdMaestroNext){x->pattern, x->work, x->sums};
    lua_pop(L, 1);
  }
  run.next = next;
  return run;
}

/* core.simulate(job, next): the report of a run without data; jobs of the list `next` start as soon
 * as each streamer is done. */
static int l_simulate(lua_State *L) {
  TdArena *a = td_bind_work(L, TD_WORK_RUN);
  TdDiag d = td_bind_diag(a);
  TdMaestroReport *r = TD_NEW(a, TdMaestroReport);
  TdMaestroRun run = run_of(L, a);
  if (!td_maestro_model_run(&run, r, &d)) return td_bind_maestro_raise(L, &d);
  const TdMaestroJob *j = td_bind_check_maestro_job(L, 1)->job;
  td_bind_push_maestro(L, j->system, j->pattern, r);
  return 1;
}

/* core.predict(job): {cycles =, window =, lost =, exact =}. */
static int l_predict(lua_State *L) {
  TdArena *a = td_bind_work(L, TD_WORK_RUN);
  TdDiag d = td_bind_diag(a);
  TdMaestroRun run = run_of(L, a);
  TdMaestroLaw law;
  if (!td_maestro_predict(&run, &law, &d)) return td_bind_maestro_raise(L, &d);
  lua_createtable(L, 0, 4);
  td_bind_set_number(L, "cycles", law.cycles);
  td_bind_set_number(L, "window", law.window);
  td_bind_set_number(L, "lost", law.lost);
  td_bind_set_boolean(L, "exact", law.exact);
  return 1;
}

static int l_gc(lua_State *L) {
  TdTimedOwner *o = lua_touserdata(L, 1);
  td_arena_free(o->arena);
  *o = (TdTimedOwner){0};
  return 0;
}

/* core.timed(job): the run as one with a clock, whose waves can be written. */
static int l_timed(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", l_gc}, {NULL, NULL}};
  const TdMaestroBox *box = td_bind_check_maestro_job(L, 1);
  lua_settop(L, 1);
  TdBind *b = td_bind_enter(L);
  TdTimedOwner *o = lua_newuserdatauv(L, sizeof *o, 0);
  *o = (TdTimedOwner){0};
  td_bind_class(L, TD_CLASS_TIMED_OWNER, meta, NULL);
  lua_setmetatable(L, -2);
  o->arena = td_arena_new(b->ctx);
  TdDiag d = td_bind_diag(o->arena);
  TdMaestroRun run = run_of(L, o->arena);
  TdMaestroReport *r = TD_NEW(o->arena, TdMaestroReport);
  o->timed = td_maestro_trace(&run, td_prog_root(box->prog)->sym->name, r, o->arena, &d);
  if (!o->timed) return td_bind_maestro_raise(L, &d);
  td_bind_push_timed(L, o->timed, 2);
  return 1;
}

void td_bind_push_files(lua_State *L, const TdFile *file, size_t n) {
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_createtable(L, 0, 2);
    td_bind_set_string(L, "name", file[i].name);
    td_bind_set_string(L, "text", file[i].text);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* core.files(system, axi): {name =, text =} of each file of its Verilog, the top first; the bench.
 */
static int l_files(lua_State *L) {
  const TdMaestroSystem *s = td_bind_check_maestro(L, 1);
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  size_t n;
  const TdFile *file = td_maestro_rtl_files(s, lua_toboolean(L, 2), a, &n, &d);
  if (!file) return td_bind_maestro_raise(L, &d);
  td_bind_push_files(L, file, n);
  lua_pushstring(L, td_maestro_rtl_bench(s, lua_toboolean(L, 2), NULL, a));
  return 2;
}

/* The tensors of the table at idx for a job's kernel: by name, or in order. NULL: there is none. */
static TdTensor *const *tensors_of(lua_State *L, TdArena *a, const TdProg *p, int idx) {
  if (!lua_istable(L, idx)) return NULL;
  int top = lua_gettop(L);
  size_t n = lua_rawlen(L, idx);
  if (n == 0) lua_pushvalue(L, idx);
  for (size_t i = 0; i < n; i++) lua_rawgeti(L, idx, (lua_Integer)i + 1);
  td_bind_name_arguments(L, p, top + 1);
  td_bind_check_arguments(L, p, top + 1);
  const TdUnit *u = td_prog_root(p);
  TdTensor **param = TD_NEWN(a, TdTensor *, u->nparam);
  for (size_t i = 0; i < u->nparam; i++) param[i] = td_bind_check_tensor(L, top + 1 + (int)i);
  lua_settop(L, top);
  return param;
}

/* core.sim({jobs}, {tensors of each}, {sim =, seconds =, check =, axi =, writes =}): the cycles of
 * a simulation of the Verilog; results are in the tensors. A job without tensors has a memory of
 * zeros. */
static int l_sim(lua_State *L) {
  lua_settop(L, 3);
  for (int i = 1; i <= 3; i++) luaL_checktype(L, i, LUA_TTABLE);
  int64_t seconds = 600, cycles = 0;
  td_bind_opt_integer(L, 3, "seconds", &seconds);
  const char *sim = td_bind_opt_string(L, 3, "sim");
  TdMaestroSim x = {.n = lua_rawlen(L, 1), .seconds = (int)seconds};
  x.sim = sim && strcmp(sim, "verilator") == 0 ? "verilator" : "icarus";
  x.check = td_bind_opt_boolean(L, 3, "check", true);
  x.axi = td_bind_opt_boolean(L, 3, "axi", false);
  x.arena = td_bind_work(L, TD_WORK_RUN);
  lua_getfield(L, 3, "writes"); /* stays on the stack */
  x.writes = lua_tostring(L, -1);
  TdMaestroSimJob *at = TD_NEWN(x.arena, TdMaestroSimJob, x.n + 1);
  for (size_t i = 0; i < x.n; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    const TdMaestroBox *box = td_bind_check_maestro_job(L, -2);
    at[i].job = box->job;
    at[i].param = tensors_of(L, x.arena, box->prog, lua_gettop(L));
    x.system = box->job->system;
    lua_pop(L, 2);
  }
  x.at = at;
  TdDiag d = td_bind_diag(x.arena);
  if (!td_maestro_sim_run(&x, &cycles, &d)) return td_bind_maestro_raise(L, &d);
  lua_pushinteger(L, (lua_Integer)cycles);
  return 1;
}

static void push_register(lua_State *L, const TdMaestroCsr *r) {
  lua_createtable(L, 0, 3);
  td_bind_set_integer(L, "number", r->number);
  td_bind_set_string(L, "name", r->name);
}

/* core.registers(system): {number =, name =} of all, those of the array behind the two that are
 * read only. */
static int l_registers(lua_State *L) {
  const TdMaestroSystem *s = td_bind_check_maestro(L, 1);
  TdArena *a = td_bind_arena(L);
  const TdMaestroCsrs *list[2] = {td_maestro_csr_map(s, a), td_maestro_csr_extra(s, a)};
  lua_newtable(L);
  lua_Integer n = 0;
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < list[k]->n; i++) {
      push_register(L, &list[k]->at[i]);
      lua_rawseti(L, -2, ++n);
    }
  return 1;
}

/* The tensors of a job's kernel, on the stack from idx on. */
static TdTensor *const *call_tensors(lua_State *L, TdArena *a, const TdMaestroBox *box, int idx) {
  const TdUnit *u = td_prog_root(box->prog);
  TdTensor **param = TD_NEWN(a, TdTensor *, u->nparam);
  for (size_t i = 0; i < u->nparam; i++) param[i] = td_bind_check_tensor(L, idx + (int)i);
  return param;
}

/* core.work(job, arguments ..): the registers of the array, as core.csr has those of the streamers;
 * arguments: where values of columns are among them. */
static int l_work(lua_State *L) {
  const TdMaestroBox *box = td_bind_check_maestro_job(L, 1);
  const TdMaestroJob *j = box->job;
  const TdMaestroGiven *g = &j->work.given;
  bool called = lua_gettop(L) > 1;
  if (called) {
    td_bind_name_arguments(L, box->prog, 2);
    td_bind_check_arguments(L, box->prog, 2);
  } else if (g->mult || g->shift) {
    td_bind_maestro_fail(
        L, "maestro-job",
        "values of columns are the argument '%s': job:registers(..) with the "
        "kernel's arguments has them",
        td_prog_root(box->prog)->param[(g->mult ? g->mult : g->shift) - 1].sym->name);
  }
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  TdMaestroWork work = j->work;
  if (called && !td_maestro_scale_fill(j, call_tensors(L, a, box, 2), &work, &d))
    return td_bind_maestro_raise(L, &d);
  const TdMaestroCsrs *list = td_maestro_csr_extra(j->system, a);
  lua_newtable(L);
  for (size_t i = 0; i < list->n; i++) {
    push_register(L, &list->at[i]);
    td_bind_set_integer(L, "value", td_maestro_csr_work(&work, &list->at[i]));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* core.orders(job): a list of {streamer =, param =, text =, bytes =, padded =} of its operands;
 * trimmed: only what the nest touches of them is in memory. */
static int l_orders(lua_State *L) {
  const TdMaestroJob *j = td_bind_check_maestro_job(L, 1)->job;
  lua_newtable(L);
  for (int role = 0, n = 0; role < TD_MAESTRO_ROLES; role++) {
    const TdMaestroStream *x = &j->stream[role];
    if (!x->used) continue;
    lua_createtable(L, 0, 4);
    td_bind_set_string(L, "streamer", j->system->at[x->streamer].name);
    td_bind_set_string(L, "param", x->x->sym->name);
    td_bind_set_string(L, "text", x->text);
    td_bind_set_integer(L, "bytes", x->order.bytes);
    td_bind_set_integer(L, "base", x->base);
    td_bind_set_integer(L, "rank", x->x->rank);
    td_bind_set_boolean(L, "padded", x->padded);
    lua_rawseti(L, -2, ++n);
  }
  td_bind_set_boolean(L, "trimmed", j->trimmed);
  return 1;
}

/* core.image(job, arguments ..): {address =, word =} of the words to write before it starts, by
 * physical address; a word is its bytes. */
static int l_image(lua_State *L) {
  const TdMaestroBox *box = td_bind_check_maestro_job(L, 1);
  const TdMaestroMemory *m = &box->job->system->memory;
  td_bind_name_arguments(L, box->prog, 2);
  td_bind_check_arguments(L, box->prog, 2);
  TdArena *a = td_bind_work(L, TD_WORK_RUN);
  TdTensor *const *param = call_tensors(L, a, box, 2);
  int64_t bytes = td_maestro_system_bytes(m);
  uint8_t *memory = TD_NEWN(a, uint8_t, bytes), *touched = TD_NEWN(a, uint8_t, bytes);
  td_maestro_data_image(box->job, a, param, memory, touched);
  lua_newtable(L);
  lua_Integer n = 0;
  for (int64_t at = 0; at < bytes; at += m->word) {
    if (!memchr(touched + at, 1, (size_t)m->word)) continue;
    lua_createtable(L, 0, 2);
    td_bind_set_integer(L, "address", at);
    lua_pushlstring(L, (const char *)memory + at, (size_t)m->word);
    lua_setfield(L, -2, "word");
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

void td_bind_open_maestro_report(lua_State *L) {
  static const luaL_Reg functions[] = {{"simulate", l_simulate}, {"predict", l_predict},
                                       {"timed", l_timed},       {"files", l_files},
                                       {"sim", l_sim},           {"registers", l_registers},
                                       {"work", l_work},         {"orders", l_orders},
                                       {"image", l_image},       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
