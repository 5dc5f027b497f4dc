/* maestro.c - tide.maestro.core: systems of streamers from tables. stdlib's tide.maestro makes
 * the tables. */
#include "analysis/time/firing.h"
#include "analysis/time/target.h"
#include "bind/program/maestro.h"
#include "drive/build.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

typedef struct SystemBox {
  TdArena *arena;
  TdMaestroSystem *system;
} SystemBox;

/* What a number of field.def is of. */
typedef enum { MEMORY, STREAMER, ARRAY } Of;
enum { NONE = -1 };

static const struct Field {
  uint8_t of;
  const char *name;
  size_t offset;
  int64_t lo, hi, initial;
  bool power;
  const char *help;
} fields[] = {
#define MEMORY_STRUCT TdMaestroMemory
#define STREAMER_STRUCT TdMaestroStreamer
#define ARRAY_STRUCT TdMaestroArray
#define TD_MAESTRO_FIELD(of, name, field, lo, hi, initial, power, help)                            \
  {of, name, offsetof(of##_STRUCT, field), lo, hi, initial, power, help},
#include "backends/maestro/field.def"
};

int td_bind_maestro_raise(lua_State *L, TdDiag *d) {
  if (!d->loc.source) d->loc = td_bind_user(L);
  return td_bind_raise(L, d);
}

int td_bind_maestro_fail(lua_State *L, const char *code, const char *fmt, ...) {
  TdDiag d = td_bind_diag(td_bind_arena(L));
  va_list ap;
  va_start(ap, fmt);
  td_diag_vset(&d, TD_USAGE, code, td_bind_user(L), fmt, ap);
  va_end(ap);
  return td_bind_raise(L, &d);
}

const TdMaestroSystem *td_bind_check_maestro(lua_State *L, int idx) {
  SystemBox *box = luaL_testudata(L, idx, TD_CLASS_MAESTRO_SYSTEM);
  if (!box || !box->system) td_bind_expect(L, idx, "a system of streamers");
  return box->system;
}

static int l_gc(lua_State *L) {
  SystemBox *box = lua_touserdata(L, 1);
  td_arena_free(box->arena);
  *box = (SystemBox){0};
  return 0;
}

/* Reads one number of the table at idx into the struct at `into`. */
static void read_field(lua_State *L, int idx, const struct Field *f, const char *what, void *into) {
  int64_t v = f->initial;
  lua_getfield(L, idx, f->name);
  bool given = !lua_isnil(L, -1);
  if (given && lua_isinteger(L, -1)) v = lua_tointeger(L, -1);
  bool wrong = given
                   ? !lua_isinteger(L, -1) || v < f->lo || v > f->hi || (f->power && (v & (v - 1)))
                   : v == NONE;
  if (wrong)
    td_bind_maestro_fail(L, "maestro-field", "%s.%s: %s; %s: a %s from %lld to %lld", what, f->name,
                         given ? luaL_tolstring(L, -1, NULL) : "not given", f->help,
                         f->power ? "power of two" : "whole number", (long long)f->lo,
                         (long long)f->hi);
  lua_pop(L, 1);
  memcpy((char *)into + f->offset, &v, sizeof v);
}

static void read_fields(lua_State *L, int idx, Of of, const char *what, void *into) {
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (fields[i].of == of) read_field(L, idx, &fields[i], what, into);
}

/* Raises that a field of `what` is wrong. */
static int wrong(lua_State *L, const char *what, const char *field, const char *wants) {
  return td_bind_maestro_fail(L, "maestro-field", "%s.%s: %s", what, field, wants);
}

/* Pushes field `key` of the table at idx, a table; raises unless it has 1 to `most` entries. */
static int push_list(lua_State *L, int idx, const char *what, const char *key, int most) {
  if (lua_getfield(L, idx, key) != LUA_TTABLE) wrong(L, what, key, "a list");
  int n = (int)lua_rawlen(L, -1);
  if (n < 1 || n > most) wrong(L, what, key, lua_pushfstring(L, "a list of 1 to %d entries", most));
  return n;
}

/* The modes: a list of {name =, banks =}, those of most banks first. */
static void read_modes(lua_State *L, TdArena *a, int idx, TdMaestroMemory *m) {
  m->nmode = push_list(L, idx, "memory", "modes", TD_MAESTRO_MODES);
  for (int i = 0; i < m->nmode; i++) {
    lua_rawgeti(L, -1, i + 1);
    const char *name = td_bind_opt_string(L, lua_gettop(L), "name");
    if (!name || !td_bind_opt_integer(L, lua_gettop(L), "banks", &m->mode[i].banks))
      wrong(L, "memory", "modes", "banks of a group by the name of a mode");
    m->mode[i].name = td_arena_strdup(a, name);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* The kind of an extension by name. */
static int find_ext(lua_State *L, const char *name) {
  for (int k = 0; k < TD_MAESTRO_EXT_KINDS; k++)
    if (k != TD_MAESTRO_EXT_USER && strcmp(td_maestro_ext_info[k].name, name) == 0) return k;
  return wrong(L, "ext", name, "there is no such extension");
}

/* The Verilog of a kernel: its modules, without benches and scripts. */
static bool build_user(TdArena *a, TdMaestroUser *u, TdDiag *d) {
  const TdBackend *x = td_build_find("verilog");
  const char **value = TD_NEWN(a, const char *, x->noption);
  size_t n;
  TdModule *m = td_build_new(a, u->prog, x, value, NULL, d);
  if (!m) return false;
  const TdFile *all = td_build_files(m, &n);
  TdFile *file = TD_NEWN(a, TdFile, n);
  for (size_t i = 0; i < n; i++) {
    const char *dot = strrchr(all[i].name, '.');
    if (dot && strcmp(dot, ".sv") == 0 && strcmp(all[i].name, "bench.sv") != 0)
      file[u->nfile++] = all[i];
  }
  u->file = file;
  return true;
}

/* A kernel or schedule on top of the stack as an extension. */
static void read_user(lua_State *L, TdArena *a, const char *what, TdMaestroExt *x) {
  const TdProg *p = td_bind_test_schedule(L, -1);
  TdMaestroUser *u = TD_NEW(a, TdMaestroUser);
  TdDiag d = td_bind_diag(a);
  if (!p) p = td_bind_test_unit(L, lua_gettop(L));
  if (!p) wrong(L, what, "ext", "a list of extensions and kernels");
  *u = (TdMaestroUser){.prog = p};
  const TdTimes *times =
      td_firing_times(td_bind_enter(L)->affine, a, u->prog, td_target_find("rtl"), &d);
  if (!times || !td_maestro_user_read(u, times, a, &d) || !build_user(a, u, &d))
    td_bind_maestro_raise(L, &d);
  x->kind = TD_MAESTRO_EXT_USER;
  x->user = u;
}

/* An extension on top of the stack: {name =, arg1, arg2, ..}, or a kernel. */
static void read_ext(lua_State *L, TdArena *a, const char *what, TdMaestroExt *x) {
  int idx = lua_gettop(L);
  if (lua_isuserdata(L, idx)) {
    read_user(L, a, what, x);
    return;
  }
  const char *name = lua_istable(L, idx) ? td_bind_opt_string(L, idx, "name") : NULL;
  if (!name) wrong(L, what, "ext", "a list of extensions and kernels");
  x->kind = (uint8_t)find_ext(L, name);
  const char *args = td_maestro_ext_info[x->kind].args;
  for (int i = 0, n = 0; args[i]; i++) {
    lua_rawgeti(L, idx, i + 1);
    if (args[i] == 'o' && lua_isnil(L, -1)) {
      x->type = td_type_int(td_bind_enter(L)->session, 8);
    } else if (args[i] == 't' || args[i] == 'o') {
      x->type = td_bind_test_type(L, -1);
      if (!x->type || !td_type_is_scalar(x->type)) wrong(L, what, name, "it takes a scalar type");
    } else {
      int whole;
      x->arg[n++] = lua_tointegerx(L, -1, &whole);
      if (!whole || x->arg[n - 1] < 1 || x->arg[n - 1] > 1 << 20)
        wrong(L, what, name, "it takes positive numbers");
    }
    lua_pop(L, 1);
  }
}

static void read_lanes(lua_State *L, int idx, TdMaestroStreamer *s) {
  s->nlane = push_list(L, idx, s->name, "lanes", TD_MAESTRO_DIMS);
  for (int i = 0; i < s->nlane; i++) {
    int whole;
    lua_rawgeti(L, -1, i + 1);
    s->lane[i] = lua_tointegerx(L, -1, &whole);
    if (!whole || s->lane[i] < 1 || s->lane[i] > TD_MAESTRO_CHANNELS)
      wrong(L, s->name, "lanes", "spatial bounds whose product is 1 to 64 channels");
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* A streamer: the table at the top of the stack, but for what it shares. */
static void read_streamer(lua_State *L, TdArena *a, TdMaestroStreamer *s) {
  int idx = lua_gettop(L);
  s->name = td_arena_strdup(a, td_bind_opt_string(L, idx, "name"));
  s->writer = td_bind_opt_boolean(L, idx, "writer", false);
  s->mask = td_bind_opt_boolean(L, idx, "mask", false);
  s->byte_mask = td_bind_opt_boolean(L, idx, "byte_mask", false);
  s->addr_full = td_bind_opt_boolean(L, idx, "addr_full", false);
  s->data_full = td_bind_opt_boolean(L, idx, "data_full", s->writer);
  s->shares = s->from = NONE;
  read_fields(L, idx, STREAMER, s->name, s);
  read_lanes(L, idx, s);
  lua_getfield(L, idx, "ext");
  s->next = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  if (s->next > TD_MAESTRO_EXTS) wrong(L, s->name, "ext", "more extensions than a streamer has");
  for (int i = 0; i < s->next; i++) {
    lua_rawgeti(L, -1, i + 1);
    read_ext(L, a, s->name, &s->ext[i]);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* The other streamer that field `key` of streamer i, the table on top, names; NONE: no name. */
static int read_other(lua_State *L, const TdMaestroSystem *s, int i, const char *key) {
  const char *name = td_bind_opt_string(L, lua_gettop(L), key);
  int k = name ? td_maestro_system_find(s, name) : NONE;
  if (name && (k < 0 || k == i))
    wrong(L, s->at[i].name, key, lua_pushfstring(L, "there is no other streamer '%s'", name));
  return k;
}

/* A system of a reader and a writer is a path between them, where nobody says so. */
static void join_both(TdMaestroSystem *s) {
  TdMaestroStreamer *w = &s->at[s->at[0].writer ? 0 : 1];
  if (w->from < 0 && !s->array.here) w->from = w == s->at ? 1 : 0;
}

/* All streamers, then whose ports they use. */
static void read_streamers(lua_State *L, TdArena *a, TdMaestroSystem *s) {
  s->n = push_list(L, 1, "system", "streamers", TD_MAESTRO_STREAMERS);
  for (int i = 0; i < s->n; i++) {
    lua_rawgeti(L, -1, i + 1);
    read_streamer(L, a, &s->at[i]);
    lua_pop(L, 1);
  }
  for (int i = 0; i < s->n; i++) {
    lua_rawgeti(L, -1, i + 1);
    s->at[i].shares = read_other(L, s, i, "shares");
    s->at[i].from = read_other(L, s, i, "from");
    lua_pop(L, 1);
  }
  s->front = td_bind_opt_boolean(L, 1, "front", false);
  if (!s->front && s->n == 2 && s->at[0].writer != s->at[1].writer) join_both(s);
  lua_pop(L, 1);
}

/* A scalar type of the table at idx. */
static const TdType *read_type(lua_State *L, int idx, const char *key) {
  lua_getfield(L, idx, key);
  const TdType *t = td_bind_test_type(L, -1);
  if (!t || !td_type_is_number(t) || t->w > 64) wrong(L, "array", key, "a type of numbers");
  lua_pop(L, 1);
  return t;
}

static void read_array(lua_State *L, TdMaestroArray *x) {
  if (lua_getfield(L, 1, "array") == LUA_TTABLE) {
    int idx = lua_gettop(L);
    x->here = true;
    read_fields(L, idx, ARRAY, "array", x);
    x->a = read_type(L, idx, "a");
    x->b = read_type(L, idx, "b");
    x->acc = read_type(L, idx, "acc");
  }
  lua_pop(L, 1);
}

/* core.system {memory =, array =, streamers =, priority =} */
static int l_system(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  TdBind *b = td_bind_enter(L);
  SystemBox *box = lua_newuserdatauv(L, sizeof *box, 1);
  *box = (SystemBox){0};
  luaL_setmetatable(L, TD_CLASS_MAESTRO_SYSTEM);
  lua_pushvalue(L, 1); /* has the kernels that are extensions */
  lua_setiuservalue(L, -2, 1);
  box->arena = td_arena_new(b->ctx);
  TdMaestroSystem *s = TD_NEW(box->arena, TdMaestroSystem);
  if (lua_getfield(L, 1, "memory") != LUA_TTABLE)
    wrong(L, "system", "memory", "a maestro.memory {..}");
  read_fields(L, lua_gettop(L), MEMORY, "memory", &s->memory);
  read_modes(L, box->arena, lua_gettop(L), &s->memory);
  lua_pop(L, 1);
  read_array(L, &s->array);
  read_streamers(L, box->arena, s);
  s->priority = td_bind_opt_boolean(L, 1, "priority", false);
  TdDiag d = td_bind_diag(box->arena);
  if (!td_maestro_system_check(s, &d)) return td_bind_maestro_raise(L, &d);
  box->system = s;
  td_bind_account(L);
  lua_settop(L, 2);
  return 1;
}

/* core.exts(): name -> arguments, "nnt". */
static int l_exts(lua_State *L) {
  lua_newtable(L);
  for (int k = 0; k < TD_MAESTRO_EXT_KINDS; k++) {
    if (k == TD_MAESTRO_EXT_USER) continue;
    lua_createtable(L, 0, 2);
    td_bind_set_string(L, "args", td_maestro_ext_info[k].args);
    td_bind_set_string(L, "summary", td_maestro_ext_info[k].summary);
    lua_setfield(L, -2, td_maestro_ext_info[k].name);
  }
  return 1;
}

static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {{"system", l_system}, {"exts", l_exts}, {NULL, NULL}};
  luaL_newlib(L, functions);
  td_bind_open_maestro_job(L);
  td_bind_open_maestro_front(L);
  return 1;
}

void td_bind_open_maestro(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", l_gc}, {NULL, NULL}};
  td_bind_class(L, TD_CLASS_MAESTRO_SYSTEM, meta, NULL);
  lua_pop(L, 1);
  td_bind_set_module(L, "tide.maestro.core", l_load);
}
