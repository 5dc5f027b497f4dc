/* maestro_job.c - jobs of a system of streamers: compiled, looked at, run. */
#include <string.h>

#include "backends/maestro/csr.h"
#include "bind/program/maestro.h"
#include "bind/value/layout.h"
#include "bind/value/tensor.h"

/* User values of a job. */
enum { SYSTEM = 1, KERNEL, USER_VALUES = KERNEL };

static int l_gc(lua_State *L) {
  TdMaestroBox *box = lua_touserdata(L, 1);
  td_arena_free(box->arena);
  *box = (TdMaestroBox){0};
  return 0;
}

const TdMaestroBox *td_bind_check_maestro_job(lua_State *L, int idx) {
  TdMaestroBox *box = luaL_testudata(L, idx, TD_CLASS_MAESTRO_JOB);
  if (!box || !box->job) td_bind_expect(L, idx, "a job of a system of streamers");
  return box;
}

/* Pushes a job without content, of the system and kernel at these slots. */
static TdMaestroBox *push_job(lua_State *L, int system, int kernel, const TdProg *prog) {
  TdBind *b = td_bind_enter(L);
  TdMaestroBox *box = lua_newuserdatauv(L, sizeof *box, USER_VALUES);
  *box = (TdMaestroBox){.prog = prog};
  luaL_setmetatable(L, TD_CLASS_MAESTRO_JOB);
  lua_pushvalue(L, system);
  lua_setiuservalue(L, -2, SYSTEM);
  lua_pushvalue(L, kernel);
  lua_setiuservalue(L, -2, KERNEL);
  box->arena = td_arena_new(b->ctx);
  return box;
}

/* The string of field `key` of the table at idx, copied; NULL: none. */
static const char *copy_string(lua_State *L, TdArena *a, int idx, const char *key) {
  const char *s = td_bind_opt_string(L, idx, key);
  return s ? td_arena_strdup(a, s) : NULL;
}

/* The list of loops. */
static void read_loops(lua_State *L, TdArena *a, int idx, TdMaestroAsk *ask) {
  if (lua_getfield(L, idx, "loops") == LUA_TTABLE) {
    ask->nloop = lua_rawlen(L, -1);
    const char **name = TD_NEWN(a, const char *, ask->nloop);
    for (size_t i = 0; i < ask->nloop; i++) {
      if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TSTRING)
        td_bind_maestro_fail(L, "maestro-loop", "loops: a list of names of loops");
      name[i] = td_arena_strdup(a, lua_tostring(L, -1));
      lua_pop(L, 1);
    }
    ask->loop = name;
  }
  lua_pop(L, 1);
}

/* The iterations that run: a list of {name =, lo =, n =}. */
static void read_parts(lua_State *L, TdArena *a, int idx, TdMaestroAsk *ask) {
  ask->sums = td_bind_opt_boolean(L, idx, "sums", false);
  if (lua_getfield(L, idx, "parts") == LUA_TTABLE) {
    size_t n = lua_rawlen(L, -1);
    const char **name = TD_NEWN(a, const char *, n);
    int64_t *lo = TD_NEWN(a, int64_t, n), *count = TD_NEWN(a, int64_t, n);
    for (size_t i = 0; i < n; i++) {
      lua_rawgeti(L, -1, (lua_Integer)i + 1);
      luaL_checktype(L, -1, LUA_TTABLE);
      name[i] = copy_string(L, a, lua_gettop(L), "name");
      if (!name[i] || !td_bind_opt_integer(L, lua_gettop(L), "lo", &lo[i]) ||
          !td_bind_opt_integer(L, lua_gettop(L), "n", &count[i]))
        td_bind_maestro_fail(L, "maestro-loop", "parts: a list of {name =, lo =, n =}");
      lua_pop(L, 1);
    }
    ask->part = name;
    ask->lo = lo;
    ask->n = count;
    ask->nparts = n;
  }
  lua_pop(L, 1);
}

/* Raises for a key of the table of orders on top that is no parameter of u. */
static void check_orders(lua_State *L, const TdUnit *u) {
  int t = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, t)) {
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
    size_t i = 0;
    while (i < u->nparam && strcmp(u->param[i].sym->name, name) != 0) i++;
    if (i == u->nparam)
      td_bind_maestro_fail(L, "maestro-order", "order: '%s' has no parameter '%s'", u->sym->name,
                           name);
    const TdLayoutBox *box = td_bind_test_layout(L, -1);
    if (box && box->text && strchr(box->text, ':'))
      td_bind_maestro_fail(L, "maestro-order",
                           "the pads of a layout count elements, those of the order of '%s' bytes: "
                           "give a text",
                           name);
    td_bind_check_layout_fits(L, lua_gettop(L),
                              td_unit_type(td_bind_enter(L)->session, u, u->param[i].type));
    if (!td_bind_layout_text(L, lua_gettop(L)))
      td_bind_maestro_fail(L, "maestro-order",
                           "the order of '%s' is a text, \"m k -> m/8 k/8 m%%8 k%%8\"", name);
    lua_pop(L, 1);
  }
}

const char *const *td_bind_maestro_orders(lua_State *L, TdArena *a, int idx, const TdUnit *u) {
  const char **order = TD_NEWN(a, const char *, u->nparam);
  if (lua_getfield(L, idx, "order") == LUA_TTABLE) {
    int t = lua_gettop(L);
    check_orders(L, u);
    for (size_t i = 0; i < u->nparam; i++) {
      lua_getfield(L, t, u->param[i].sym->name);
      const char *text = lua_isnil(L, -1) ? NULL : td_bind_layout_text(L, lua_gettop(L));
      order[i] = text ? td_arena_strdup(a, text) : NULL;
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
  return order;
}

const int *td_bind_maestro_modes(lua_State *L, TdArena *a, int idx, const TdMaestroSystem *s) {
  int *mode = TD_NEWN(a, int, s->n);
  for (int i = 0; i < s->n; i++) mode[i] = -1;
  if (lua_getfield(L, idx, "mode") != LUA_TTABLE) {
    lua_pop(L, 1);
    return mode;
  }
  for (int i = 0; i < s->n; i++) {
    const char *name = td_bind_opt_string(L, lua_gettop(L), s->at[i].name);
    for (int k = 0; name && k < s->memory.nmode; k++)
      if (strcmp(s->memory.mode[k].name, name) == 0) mode[i] = k;
    if (name && mode[i] < 0)
      td_bind_maestro_fail(L, "maestro-mode", "streamer %s: the memory has no mode '%s'",
                           s->at[i].name, name);
  }
  lua_pop(L, 1);
  return mode;
}

const int64_t *td_bind_maestro_numbers(lua_State *L, TdArena *a, int idx, const char *key,
                                       const TdMaestroSystem *s) {
  int64_t *base = TD_NEWN(a, int64_t, s->n);
  lua_getfield(L, idx, key);
  int t = lua_gettop(L);
  for (int i = 0; i < s->n; i++) {
    base[i] = -1;
    if (!lua_istable(L, t)) continue;
    lua_getfield(L, t, s->at[i].name);
    bool given = !lua_isnil(L, -1);
    lua_pop(L, 1);
    if (given && (!td_bind_opt_integer(L, t, s->at[i].name, &base[i]) || base[i] < 0))
      td_bind_maestro_fail(L, "maestro-base", "streamer %s: '%s' is a number from 0", s->at[i].name,
                           key);
  }
  lua_pop(L, 1);
  return base;
}

/* The kernel of this name among a streamer's extensions; -1: there is none. */
static int find_user(const TdMaestroStreamer *s, const char *name) {
  for (int k = 0; k < s->next; k++)
    if (s->ext[k].user && strcmp(s->ext[k].user->name, name) == 0) return k;
  return -1;
}

/* The kernels that are on, by streamer: lists of names in field `ext`. */
static const uint32_t *read_exts(lua_State *L, TdArena *a, int idx, const TdMaestroSystem *s) {
  uint32_t *on = TD_NEWN(a, uint32_t, s->n);
  lua_getfield(L, idx, "ext");
  int t = lua_gettop(L);
  for (int i = 0; i < s->n && lua_istable(L, t); i++) {
    if (lua_getfield(L, t, s->at[i].name) == LUA_TTABLE)
      for (lua_Integer n = 1; lua_rawgeti(L, -1, n) == LUA_TSTRING; n++) {
        int k = find_user(&s->at[i], lua_tostring(L, -1));
        if (k < 0)
          td_bind_maestro_fail(L, "maestro-field", "ext: streamer %s has no kernel '%s'",
                               s->at[i].name, lua_tostring(L, -1));
        on[i] |= UINT32_C(1) << k;
        lua_pop(L, 1);
      }
    lua_settop(L, t);
  }
  lua_settop(L, t - 1);
  return on;
}

/* core.compile(system, kernel, {m =, n =, k =, loops =, order =, mode =, base =}) */
static int l_compile(lua_State *L) {
  lua_settop(L, 3);
  const TdMaestroSystem *s = td_bind_check_maestro(L, 1);
  const TdProg *p = td_bind_test_schedule(L, 2);
  if (!p) p = td_bind_check_unit(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  TdArena *work = td_bind_work(L, TD_WORK_BUILD);
  TdMaestroBox *box = push_job(L, 1, 2, p);
  TdAsk q = {td_bind_enter(L)->affine, box->arena, p, td_prog_root(p)};
  TdMaestroAsk ask = {.spatial = {copy_string(L, box->arena, 3, "m"),
                                  copy_string(L, box->arena, 3, "n"),
                                  copy_string(L, box->arena, 3, "k")}};
  read_loops(L, box->arena, 3, &ask);
  read_parts(L, box->arena, 3, &ask);
  ask.order = td_bind_maestro_orders(L, box->arena, 3, q.unit);
  ask.mode = td_bind_maestro_modes(L, work, 3, s);
  ask.base = td_bind_maestro_numbers(L, work, 3, "base", s);
  ask.ext = read_exts(L, work, 3, s);
  TdDiag d = td_bind_diag(work);
  TdMaestroJob *job = TD_NEW(box->arena, TdMaestroJob);
  if (!td_maestro_job_compile(s, &q, &ask, job, &d)) return td_bind_maestro_raise(L, &d);
  box->job = job;
  td_bind_account(L);
  return 1;
}

/* core.place(job, {mode =, base =}): the same job with its operands elsewhere. */
static int l_place(lua_State *L) {
  lua_settop(L, 2);
  const TdMaestroBox *from = td_bind_check_maestro_job(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  TdArena *work = td_bind_arena(L);
  lua_getiuservalue(L, 1, SYSTEM);
  lua_pushvalue(L, 1); /* owns what the new job shares with it */
  TdMaestroBox *box = push_job(L, lua_gettop(L) - 1, lua_gettop(L), from->prog);
  TdMaestroJob *job = td_arena_copy(box->arena, from->job, sizeof *job);
  const TdMaestroSystem *s = job->system;
  TdMaestroAsk ask = {.mode = td_bind_maestro_modes(L, work, 2, s),
                      .base = td_bind_maestro_numbers(L, work, 2, "base", s),
                      .group = td_bind_maestro_numbers(L, work, 2, "group", s)};
  TdDiag d = td_bind_diag(work);
  if (!td_maestro_job_place(job, &ask, &d) || !td_maestro_job_check(job, td_bind_enter(L)->ctx, &d))
    return td_bind_push_failure(L, &d);
  box->job = job;
  return 1;
}

static void set_integers(lua_State *L, const char *key, const int64_t *v, int n) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_pushinteger(L, (lua_Integer)v[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, key);
}

/* The streamer that slot idx names. */
static int check_streamer(lua_State *L, int idx, const TdMaestroSystem *s) {
  const char *name = luaL_checkstring(L, idx);
  int i = td_maestro_system_find(s, name);
  if (i < 0) td_bind_maestro_fail(L, "maestro-streamer", "the system has no streamer '%s'", name);
  return i;
}

void td_bind_push_pattern(lua_State *L, const TdMaestroSystem *s, int i,
                          const TdMaestroPattern *p) {
  lua_createtable(L, 0, 10);
  td_bind_set_string(L, "name", s->at[i].name);
  td_bind_set_integer(L, "base", p->base);
  set_integers(L, "lanes", s->at[i].lane, s->at[i].nlane);
  set_integers(L, "lane_strides", p->lane_stride, s->at[i].nlane);
  set_integers(L, "bounds", p->bound, (int)s->at[i].loops);
  set_integers(L, "strides", p->stride, (int)s->at[i].loops);
  td_bind_set_string(L, "mode", s->memory.mode[p->mode].name);
  td_bind_set_integer(L, "mask", (int64_t)p->mask);
  lua_newtable(L);
  for (int k = 0, n = 0; k < s->at[i].next; k++) {
    if (!(p->ext >> k & 1)) continue;
    const TdMaestroExt *x = &s->at[i].ext[k];
    lua_pushstring(L, x->user ? x->user->name : td_maestro_ext_info[x->kind].name);
    lua_rawseti(L, -2, ++n);
  }
  lua_setfield(L, -2, "ext");
}

/* core.stream(job, name): its registers; nil where it is off. */
static int l_stream(lua_State *L) {
  const TdMaestroJob *j = td_bind_check_maestro_job(L, 1)->job;
  int i = check_streamer(L, 2, j->system);
  if (!j->pattern[i].used) return 0;
  td_bind_push_pattern(L, j->system, i, &j->pattern[i]);
  return 1;
}

/* core.decode(system, values): the streamers that the values of all registers, in order, start. */
static int l_decode(lua_State *L) {
  const TdMaestroSystem *s = td_bind_check_maestro(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  TdArena *a = td_bind_arena(L);
  const TdMaestroCsrs *map = td_maestro_csr_map(s, a);
  TdDiag d = td_bind_diag(a);
  uint32_t *value = TD_NEWN(a, uint32_t, map->n);
  if (lua_rawlen(L, 2) != map->n)
    td_bind_maestro_fail(L, "maestro-csr", "%llu values, and the system has %llu registers",
                         (unsigned long long)lua_rawlen(L, 2), (unsigned long long)map->n);
  for (size_t i = 0; i < map->n; i++) {
    int whole;
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    lua_Integer v = lua_tointegerx(L, -1, &whole);
    if (!whole || v < 0 || v > UINT32_MAX)
      td_bind_maestro_fail(L, "maestro-csr", "%s: a register has 32 bits", map->at[i].name);
    value[i] = (uint32_t)v;
    lua_pop(L, 1);
  }
  TdMaestroPattern *p = TD_NEWN(a, TdMaestroPattern, s->n);
  if (!td_maestro_csr_decode(s, map, value, p, &d)) return td_bind_maestro_raise(L, &d);
  lua_newtable(L);
  for (int i = 0; i < s->n; i++) {
    if (!p[i].used) continue;
    td_bind_push_pattern(L, s, i, &p[i]);
    lua_setfield(L, -2, s->at[i].name);
  }
  return 1;
}

/* core.csr(job): a list of {number =, name =, value =}, in the order in which they are written. */
static int l_csr(lua_State *L) {
  const TdMaestroJob *j = td_bind_check_maestro_job(L, 1)->job;
  const TdMaestroCsrs *map = td_maestro_csr_map(j->system, td_bind_arena(L));
  lua_createtable(L, (int)map->n, 0);
  for (size_t i = 0; i < map->n; i++) {
    lua_createtable(L, 0, 3);
    td_bind_set_integer(L, "number", map->at[i].number);
    td_bind_set_string(L, "name", map->at[i].name);
    td_bind_set_integer(L, "value", td_maestro_csr_value(j->system, j->pattern, &map->at[i]));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* core.nest(job): {name =, extent =, reduces =, tile =} of each loop, outermost first; work. */
static int l_nest(lua_State *L) {
  const TdMaestroJob *j = td_bind_check_maestro_job(L, 1)->job;
  lua_createtable(L, j->nest.nloop, 2);
  for (int i = 0; i < j->nest.nloop; i++) {
    const TdMaestroLoop *l = &j->nest.loop[j->temporal[i]];
    lua_createtable(L, 0, 4);
    td_bind_set_string(L, "name", l->name);
    td_bind_set_integer(L, "extent", l->extent);
    td_bind_set_integer(L, "tile", j->tile[j->temporal[i]]);
    td_bind_set_boolean(L, "reduces", l->reduces);
    lua_rawseti(L, -2, i + 1);
  }
  td_bind_set_integer(L, "steps", j->work.steps);
  td_bind_set_integer(L, "tiles", j->work.tiles);
  return 1;
}

/* core.loops(kernel): {name =, extent =, reduces =} of each loop of a sum of products. */
static int l_loops(lua_State *L) {
  lua_settop(L, 1);
  const TdProg *p = td_bind_test_schedule(L, 1);
  if (!p) p = td_bind_check_unit(L, 1);
  TdArena *a = td_bind_arena(L);
  TdAsk q = {td_bind_enter(L)->affine, a, p, td_prog_root(p)};
  TdDiag d = td_bind_diag(a);
  TdMaestroNest *n = TD_NEW(a, TdMaestroNest);
  if (!(td_maestro_nest_moves(&q) ? td_maestro_nest_read_path(&q, n, &d)
                                  : td_maestro_nest_read(&q, n, &d)))
    return td_bind_maestro_raise(L, &d);
  lua_createtable(L, n->nloop, 0);
  for (int i = 0; i < n->nloop; i++) {
    lua_createtable(L, 0, 3);
    td_bind_set_string(L, "name", n->loop[i].name);
    td_bind_set_integer(L, "extent", n->loop[i].extent);
    td_bind_set_boolean(L, "reduces", n->loop[i].reduces);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* core.operands(job): the streamers whose operands have places of their own. */
static int l_operands(lua_State *L) {
  const TdMaestroJob *j = td_bind_check_maestro_job(L, 1)->job;
  lua_newtable(L);
  for (int role = 0, n = 0; role < TD_MAESTRO_ROLES; role++) {
    if (!j->stream[role].used || td_maestro_job_shares(j, role) || role == TD_MAESTRO_OTHER)
      continue;
    lua_pushstring(L, j->system->at[j->stream[role].streamer].name);
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

/* core.spread(job, name, mode): first and last bank of a group, cycles of one wide word, whether a
 * group has room. */
static int l_spread(lua_State *L) {
  const TdMaestroJob *j = td_bind_check_maestro_job(L, 1)->job;
  int i = check_streamer(L, 2, j->system), k = 0;
  const char *mode = luaL_checkstring(L, 3);
  while (k < j->system->memory.nmode && strcmp(j->system->memory.mode[k].name, mode) != 0) k++;
  if (k == j->system->memory.nmode)
    td_bind_maestro_fail(L, "maestro-mode", "the memory has no mode '%s'", mode);
  TdMaestroSpread s = td_maestro_job_spread(j, i, k);
  lua_pushinteger(L, (lua_Integer)s.lo);
  lua_pushinteger(L, (lua_Integer)s.hi);
  lua_pushinteger(L, (lua_Integer)s.cycles);
  lua_pushboolean(L, s.fits);
  return 4;
}

/* Going through the addresses of a streamer. */
typedef struct Walk {
  const TdMaestroJob *j;
  const TdMaestroStreamer *s;
  const TdMaestroPattern *p;
  TdMaestroAgu agu;
  int channel;
} Walk;

/* The next physical address; nothing after the last. */
static int l_next(lua_State *L) {
  Walk *w = lua_touserdata(L, lua_upvalueindex(1));
  while (w->agu.busy) {
    if (w->channel == w->s->channels) {
      w->channel = 0;
      td_maestro_agu_tick(&w->agu);
      continue;
    }
    int c = w->channel++;
    if (!(w->p->mask >> c & 1)) continue;
    int64_t at = w->agu.address + td_maestro_agu_lane(w->s, w->p, c);
    lua_pushinteger(L, td_maestro_agu_physical(&w->j->system->memory, w->p->mode, at));
    return 1;
  }
  return 0;
}

/* core.addresses(job, name): an iterator. */
static int l_addresses(lua_State *L) {
  const TdMaestroJob *j = td_bind_check_maestro_job(L, 1)->job;
  int i = check_streamer(L, 2, j->system);
  Walk *w = lua_newuserdatauv(L, sizeof *w, 1);
  *w = (Walk){.j = j, .s = &j->system->at[i], .p = &j->pattern[i]};
  w->agu = td_maestro_agu_start(w->s, w->p);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  lua_pushcclosure(L, l_next, 1);
  return 1;
}

/* core.run(job, arguments ..): the tensors of the kernel's parameters. */
static int l_run(lua_State *L) {
  const TdMaestroBox *box = td_bind_check_maestro_job(L, 1);
  const TdUnit *u = td_prog_root(box->prog);
  td_bind_name_arguments(L, box->prog, 2);
  td_bind_check_arguments(L, box->prog, 2);
  TdArena *a = td_bind_work(L, TD_WORK_RUN);
  TdDiag d = td_bind_diag(a);
  TdTensor **param = TD_NEWN(a, TdTensor *, u->nparam);
  for (size_t i = 0; i < u->nparam; i++) param[i] = td_bind_check_tensor(L, 2 + (int)i);
  for (int role = 0; role < TD_MAESTRO_ROLES; role++)
    if (box->job->stream[role].used && td_maestro_job_reads(role))
      td_bind_check_written(L, param[box->job->stream[role].x->param]);
  const int given[] = {box->job->work.given.mult, box->job->work.given.shift};
  for (int i = 0; i < 2; i++)
    if (given[i]) td_bind_check_written(L, param[given[i] - 1]);
  if (!td_maestro_data_run(box->job, a, param, &d)) return td_bind_maestro_raise(L, &d);
  td_bind_account(L);
  return 0;
}

void td_bind_open_maestro_job(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", l_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"compile", l_compile}, {"place", l_place},
                                       {"stream", l_stream},   {"addresses", l_addresses},
                                       {"run", l_run},         {"operands", l_operands},
                                       {"spread", l_spread},   {"nest", l_nest},
                                       {"loops", l_loops},     {"csr", l_csr},
                                       {"decode", l_decode},   {NULL, NULL}};
  td_bind_class(L, TD_CLASS_MAESTRO_JOB, meta, NULL);
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
  td_bind_open_maestro_report(L);
}
