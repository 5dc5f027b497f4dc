/* bind.c - the session of a Lua state: entries, the way out of the core, errors, memory accounting.
 */
#include "bind/bind.h"
#include "bind/history/primitive.h"
#include "bind/program/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/alarm.h"
#include "backends/host/foreign.h"
#include "bind/foreign/callback.h"

#define KEY_BIND "tide.bind"
#define CLASS_BIND "tide.session"
#define CLASS_ARENA "tide.arena"
#define CLASS_ERROR "tide.error"

static int l_close_bind(lua_State *L) {
  TdBind *b = lua_touserdata(L, 1);
  td_session_free(b->session);
  td_ctx_free(b->ctx);
  b->session = NULL;
  b->ctx = NULL;
  return 0;
}

/* An arena of a C function, and the work that it does. */
typedef struct ArenaBox {
  TdArena *arena;
  TdCtx *works; /* NULL: none */
  TdWork outer;
} ArenaBox;

static int l_close_arena(lua_State *L) {
  ArenaBox *box = lua_touserdata(L, 1);
  td_arena_free(box->arena);
  if (box->works) td_ctx_end_work(box->works, box->outer);
  *box = (ArenaBox){0};
  return 0;
}

/* Its address is the error that td_bind_within catches. */
static char time_is_up;

/* Frees what the core was using and raises; called on the core's stack, which is abandoned. */
static void escape(void *ud, TdWhy why) {
  static const char *const code[] = {"memory", "budget", "interrupted", "too-deep"};
  static const char *const text[] = {"not enough memory", "the budget of work is spent",
                                     "interrupted", "nested too deeply"};
  TdBind *b = ud;
  td_arena_free_scratch(b->ctx);
  td_ctx_set_depth(b->ctx, 0);
  td_ctx_set_budget(b->ctx, 0);
  td_ctx_clear_interrupt(b->ctx);
  if (why == TD_WHY_TIME) {
    lua_pushlightuserdata(b->L, &time_is_up);
    lua_error(b->L);
  }
  if (why == TD_WHY_MEMORY) {
    lua_getfield(b->L, LUA_REGISTRYINDEX, "tide.no_memory");
    lua_error(b->L);
  }
  TdDiag d = {.kind = TD_LIMIT, .code = code[why], .message = text[why]};
  td_bind_raise(b->L, &d);
}

/* Has Lua make the class of its large buffers now. Lua keeps it before it has functions: made where
 * memory ends, it would stay without them, and no large text could be made any more. */
static void ready_buffers(lua_State *L) {
  static const char *const class = "_UBOX*";
  luaL_Buffer large;
  bool half =
      luaL_getmetatable(L, class) == LUA_TTABLE && lua_getfield(L, -1, "__close") == LUA_TNIL;
  if (half) {
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, class);
  }
  luaL_buffinitsize(L, &large, LUAL_BUFFERSIZE + 1);
  luaL_pushresultsize(&large, 0);
}

/* Makes the session of L; its userdata stays in the registry once it is whole. */
static TdBind *open_bind(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", l_close_bind}, {NULL, NULL}};
  int top = lua_gettop(L);
  ready_buffers(L);
  lua_settop(L, top);
  TdBind *b = lua_newuserdatauv(L, sizeof *b, 0);
  memset(b, 0, sizeof *b);
  td_bind_class(L, CLASS_BIND, meta, NULL);
  lua_setmetatable(L, -2);
  b->ctx = td_ctx_new();
  if (!b->ctx) luaL_error(L, "not enough memory");
  b->L = L;
  td_setting_reset(b);
  td_ctx_set_escape(b->ctx, escape, b);
  lua_createtable(L, 0, 3);
  lua_pushliteral(L, "limit");
  lua_setfield(L, -2, "kind");
  lua_pushliteral(L, "memory");
  lua_setfield(L, -2, "code");
  lua_pushliteral(L, "not enough memory");
  lua_setfield(L, -2, "message");
  luaL_setmetatable(L, CLASS_ERROR);
  lua_setfield(L, LUA_REGISTRYINDEX, "tide.no_memory");
  b->session = td_session_new(b->ctx);
  b->session->foreign = &td_foreign_host;
  td_callback_open(b);
  b->affine = td_affine_new(b->session->arena);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_BIND);
  return b;
}

TdBind *td_bind_enter(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_BIND);
  TdBind *b = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (!b) b = open_bind(L);
  if (!b->ctx) luaL_error(L, "the session is closed");
  b->L = L;
  return b;
}

/* Pushes a box with a fresh arena, to be closed. */
static ArenaBox *push_arena(lua_State *L) {
  static const luaL_Reg meta[] = {
      {"__gc", l_close_arena}, {"__close", l_close_arena}, {NULL, NULL}};
  TdBind *b = td_bind_enter(L);
  ArenaBox *box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = (ArenaBox){0};
  td_bind_class(L, CLASS_ARENA, meta, NULL);
  lua_setmetatable(L, -2);
  lua_toclose(L, -1);
  box->arena = td_arena_new(b->ctx);
  return box;
}

TdArena *td_bind_arena(lua_State *L) {
  return push_arena(L)->arena;
}

TdArena *td_bind_work(lua_State *L, TdWorkKind kind) {
  ArenaBox *box = push_arena(L);
  TdCtx *c = td_bind_enter(L)->ctx;
  box->outer = td_ctx_begin_work(c, kind, NULL);
  box->works = c;
  return box->arena;
}

/* What is to be done within a time. */
typedef struct Within {
  void (*fn)(void *ud);
  void *ud;
} Within;

static int l_within(lua_State *L) {
  const Within *w = lua_touserdata(L, 1);
  td_bind_enter(L);
  w->fn(w->ud);
  return 0;
}

static void call_time(void *ctx) {
  td_ctx_call_time(ctx);
}

bool td_bind_within(lua_State *L, double seconds, void (*fn)(void *ud), void *ud) {
  TdCtx *c = td_bind_enter(L)->ctx;
  Within w = {fn, ud};
  TdAlarm alarm;
  luaL_checkstack(L, 2, NULL);
  lua_pushcfunction(L, l_within);
  lua_pushlightuserdata(L, &w);
  if (!td_alarm_start(&alarm, seconds, call_time, c)) td_ctx_escape(c, TD_WHY_MEMORY);
  int status = lua_pcall(L, 1, 0, 0);
  td_alarm_stop(&alarm);
  td_ctx_clear_time(c);
  if (status == LUA_OK) return true;
  if (lua_touserdata(L, -1) != &time_is_up) lua_error(L);
  lua_pop(L, 1);
  return false;
}

void td_bind_settop(lua_State *L, int top) {
  for (int i = lua_gettop(L); i > top; i--)
    if (luaL_testudata(L, i, CLASS_ARENA)) lua_closeslot(L, i);
  lua_settop(L, top);
}

TdDiag td_bind_diag(TdArena *a) {
  return (TdDiag){.arena = a};
}

/* Sets file, line and col of the table on top from a place. */
static void set_place(lua_State *L, const TdBind *b, TdLoc loc) {
  if (!loc.source) return;
  td_bind_set_string(L, "file", td_sources_name(b->session->sources, loc.source));
  lua_pushinteger(L, loc.line);
  lua_setfield(L, -2, "line");
  lua_pushinteger(L, loc.col);
  lua_setfield(L, -2, "col");
}

static void set_notes(lua_State *L, const TdBind *b, const TdDiag *d) {
  lua_createtable(L, (int)d->notes.n, 0);
  for (size_t i = 0; i < d->notes.n; i++) {
    lua_createtable(L, 0, 4);
    td_bind_set_string(L, "message", d->notes.at[i].text);
    set_place(L, b, d->notes.at[i].loc);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "notes");
}

static void set_instance(lua_State *L, const TdBind *b, const char *key, TdLoc loc,
                         const char *at) {
  lua_createtable(L, 0, 4);
  set_place(L, b, loc);
  td_bind_set_string(L, "at", at);
  lua_setfield(L, -2, key);
}

static void set_witness(lua_State *L, const TdBind *b, const TdWitness *w) {
  lua_createtable(L, 0, 4);
  td_bind_set_string(L, "array", w->array);
  td_bind_set_string(L, "element", w->element);
  set_instance(L, b, "first", w->first, w->first_at);
  set_instance(L, b, "second", w->second, w->second_at);
  lua_setfield(L, -2, "witness");
}

/* Pushes the error table of d, its drawn text included. */
static void push_error(lua_State *L, TdBind *b, const TdDiag *d) {
  lua_createtable(L, 0, 12);
  td_bind_set_string(L, "kind", td_diag_kind_name(d->kind));
  td_bind_set_string(L, "code", d->code);
  td_bind_set_string(L, "message", d->message);
  td_bind_set_string(L, "prim", d->prim);
  td_bind_set_string(L, "help", d->help);
  td_bind_set_string(L, "state", d->state);
  set_place(L, b, d->loc);
  set_notes(L, b, d);
  if (d->witness) set_witness(L, b, d->witness);
  TdArena *a = td_bind_arena(L);
  TdText text = td_text_new(a);
  td_diag_print(&text, d, b->session->sources);
  lua_pushlstring(L, td_text_str(&text), text.n);
  lua_setfield(L, -3, "text");
  lua_closeslot(L, -1);
  lua_pop(L, 1);
  luaL_setmetatable(L, CLASS_ERROR);
}

int td_bind_push_failure(lua_State *L, const TdDiag *d) {
  TdBind *b = td_bind_enter(L);
  lua_pushnil(L);
  push_error(L, b, d);
  return 2;
}

int td_bind_raise(lua_State *L, const TdDiag *d) {
  TdBind *b = td_bind_enter(L);
  TdDiag copy = *d;
  if (strcmp(d->code, TD_FOREIGN_HELD) == 0) return td_callback_raise(L);
  if (!copy.loc.source) copy.loc = td_bind_caller(L);
  push_error(L, b, &copy);
  return lua_error(L);
}

int td_bind_fail(lua_State *L, const char *code, const char *fmt, ...) {
  TdDiag d = td_bind_diag(td_bind_arena(L));
  va_list ap;
  va_start(ap, fmt);
  td_diag_vset(&d, TD_USAGE, code, td_bind_caller(L), fmt, ap);
  va_end(ap);
  return td_bind_raise(L, &d);
}

void td_bind_account(lua_State *L) {
  TdBind *b = td_bind_enter(L);
  size_t now = td_ctx_bytes(b->ctx);
  if (now < b->told) b->told = now;
  if (now - b->told < 65536) return;
  lua_gc(L, LUA_GCSTEP, (int)((now - b->told) >> 10));
  b->told = td_ctx_bytes(b->ctx);
}

void td_bind_class(lua_State *L, const char *name, const luaL_Reg *meta, const luaL_Reg *methods) {
  if (luaL_getmetatable(L, name) != LUA_TNIL) return;
  lua_pop(L, 1);
  lua_newtable(L);
  td_bind_set_string(L, "__name", name);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  luaL_setfuncs(L, meta, 0);
  if (methods) {
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_setfield(L, -2, "methods");
  }
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, name);
}

void td_bind_class_fields(lua_State *L, const char *fields) {
  td_bind_set_string(L, "fields", fields);
}

const char *td_bind_opt_string(lua_State *L, int idx, const char *key) {
  if (!lua_istable(L, idx)) return NULL;
  lua_getfield(L, idx, key);
  const char *s = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  lua_pop(L, 1);
  return s;
}

bool td_bind_opt_integer(lua_State *L, int idx, const char *key, int64_t *v) {
  if (!lua_istable(L, idx)) return true;
  lua_getfield(L, idx, key);
  int ok = 0;
  lua_Integer x = lua_type(L, -1) == LUA_TNUMBER ? lua_tointegerx(L, -1, &ok) : 0;
  bool none = lua_isnil(L, -1);
  lua_pop(L, 1);
  if (ok) *v = x;
  return ok || none;
}

bool td_bind_opt_boolean(lua_State *L, int idx, const char *key, bool otherwise) {
  if (!lua_istable(L, idx)) return otherwise;
  lua_getfield(L, idx, key);
  bool v = lua_isnil(L, -1) ? otherwise : lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return v;
}

static int l_error_tostring(lua_State *L) {
  lua_getfield(L, 1, "text");
  if (lua_isnil(L, -1)) lua_getfield(L, 1, "message");
  return 1;
}

int luaopen_tide(lua_State *L);

/* The module: types, tensors, kernels, schedules; stdlib adds the rest. */
int luaopen_tide(lua_State *L) {
  const char *file = lua_tostring(L, 2);
  if (file && *file != ':') td_version_note_module(L, file);
  static const luaL_Reg error_meta[] = {{"__tostring", l_error_tostring}, {NULL, NULL}};
  td_bind_class(L, CLASS_ERROR, error_meta, NULL);
  lua_pop(L, 1);
  td_bind_enter(L);
  lua_newtable(L);
  td_bind_open_source(L);
  td_show_open(L);
  td_stdlib_open(L);
  td_stdlib_open_globals(L);
  td_bind_open_type(L);
  td_bind_open_tensor(L);
  td_bind_open_unit(L);
  td_bind_open_design(L);
  td_bind_open_extern(L);
  td_bind_open_signature(L);
  td_bind_open_verify(L);
  td_bind_open_estimate(L);
  td_bind_open_graph(L);
  td_bind_open_arrays(L);
  td_bind_open_timed(L);
  td_bind_open_schedule(L);
  td_bind_open_build(L);
  td_bind_open_registry(L);
  td_bind_open_primitive(L);
  td_bind_open_taken(L);
  td_bind_open_session(L);
  td_bind_open_front(L);
  td_bind_open_jupyter(L);
  td_bind_open_view(L);
  td_bind_open_job(L);
  td_bind_open_write(L);
  td_bind_open_maestro(L);
  td_bind_open_npu(L);
  td_bind_open_refuse(L);
  td_bind_open_trace(L);
  td_bind_open_version(L);
  td_bind_open_stp(L);
  td_bind_open_rows(L);
  return 1;
}
