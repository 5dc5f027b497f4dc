/* unit.c - kernels in Lua: tide.kernel, calls, native runs, other sizes and names. */
#include <string.h>

#include "bind/program/trace.h"
#include "bind/program/unit.h"
#include "frontend/lua/lex.h"
#include "ir/at.h"

static int l_store_gc(lua_State *L) {
  TdStore **s = lua_touserdata(L, 1);
  td_store_free(*s);
  *s = NULL;
  return 0;
}

TdStore *td_bind_push_store(lua_State *L) {
  TdBind *b = td_bind_enter(L);
  TdStore **box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = NULL;
  luaL_setmetatable(L, TD_CLASS_STORE);
  *box = td_store_new(b->session);
  return *box;
}

void td_bind_push_unit(lua_State *L, int store, const TdProg *p) {
  store = lua_absindex(L, store);
  TdUnitBox *box = lua_newuserdatauv(L, sizeof *box, TD_UNIT_USER_VALUES);
  box->prog = p;
  lua_pushvalue(L, store);
  lua_setiuservalue(L, -2, TD_UNIT_STORE);
  luaL_setmetatable(L, TD_CLASS_UNIT);
  td_bind_account(L);
}

const TdProg *td_bind_test_unit(lua_State *L, int idx) {
  TdUnitBox *box = luaL_testudata(L, idx, TD_CLASS_UNIT);
  return box ? box->prog : NULL;
}

const TdProg *td_bind_check_unit(lua_State *L, int idx) {
  const TdProg *p = td_bind_test_unit(L, idx);
  if (!p) td_bind_expect(L, idx, "a kernel or design");
  return p;
}

/* What tide.kernel was given, collected from its table. */
typedef struct KernelTable {
  int function; /* stack index of the function */
  const char *name;
  TD_VEC(TdCaptureParam) params;
} KernelTable;

/* The string at idx as the name of a unit; raises unless it is one in Lua. */
static const char *check_name(lua_State *L, int idx) {
  size_t n;
  const char *name = luaL_checklstring(L, idx, &n);
  if (!td_lex_is_name(name, n)) td_bind_fail(L, "name", "'%s' is not a name as in Lua", name);
  return td_names_str(td_bind_enter(L)->session->names, name);
}

static int compare_params(const TdCaptureParam *x, const TdCaptureParam *y) {
  return strcmp(x->name, y->name);
}

/* Says that the value on top is no type and `key` no option, or not what the option takes. */
static void refuse_entry(lua_State *L, const char *key) {
  static const char *const options[] = {"name"};
  const char *near = td_text_nearest(key, options, 1);
  if (strcmp(key, "name") == 0)
    td_bind_fail(L, "option", "the name of a kernel is a string, not %s", td_bind_words(L, -1));
  bool quoted = lua_type(L, -1) == LUA_TSTRING;
  const char *help = near ? td_text_fmt(td_bind_arena(L), "did you mean '%s'?", near)
                     : quoted
                         ? td_text_fmt(td_bind_arena(L), "a type stands without quotes: %s = %s",
                                       key, lua_tostring(L, -1))
                         : "types are i32, f32[8][8], tide.int(5) and the like";
  td_bind_refuse(L, TD_USAGE, "option", help,
                 "'%s' is neither a type nor an option of tide.kernel (name)", key);
}

/* Options and parameters of the table at index 1; the order of lua_next does not matter, since
 * parameters are sorted. */
static void read_entries(lua_State *L, TdBind *b, TdArena *a, KernelTable *k) {
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING) {
      const char *key = lua_tostring(L, -2);
      const TdType *t = td_bind_test_type(L, -1);
      if (t) {
        TdCaptureParam p = {.name = td_names_str(b->session->names, key), .type = t};
        td_vec_push(a, &k->params, p);
      } else if (strcmp(key, "name") == 0 && lua_type(L, -1) == LUA_TSTRING) {
        k->name = check_name(L, -1);
      } else {
        refuse_entry(L, key);
      }
    } else if (lua_isfunction(L, -1) && !k->function) {
      lua_pushvalue(L, -1);
      lua_replace(L, 2);
      k->function = 2;
    } else {
      td_bind_fail(L, "argument",
                   "tide.kernel takes one function, after the types of its parameters");
    }
    lua_pop(L, 1);
  }
  if (!k->function)
    td_bind_refuse(L, TD_USAGE, "argument", "tide.kernel {A = i32[8], function(A) .. end}",
                   "tide.kernel needs a function");
  for (size_t i = 1; i < k->params.n; i++)
    for (size_t m = i; m && compare_params(&k->params.at[m - 1], &k->params.at[m]) > 0; m--) {
      TdCaptureParam t = k->params.at[m];
      k->params.at[m] = k->params.at[m - 1];
      k->params.at[m - 1] = t;
    }
}

/* Gives each parameter the place and text of its type in the source. */
static void locate_params(KernelTable *k, const TdFnContext *ctx) {
  for (size_t i = 0; i < k->params.n; i++) {
    const TdAstItem *item = td_context_item(ctx->table, k->params.at[i].name);
    if (!item) continue;
    k->params.at[i].loc = item->loc;
    k->params.at[i].source = item->value;
  }
}

/* tide.kernel { types by parameter name, function }. */
static int l_kernel(lua_State *L) {
  if (!lua_istable(L, 1)) return td_bind_misuse(L, 1, "tide.kernel", "a table");
  lua_settop(L, 1);
  lua_pushnil(L); /* 2: the function */
  TdBind *b = td_bind_enter(L);
  TdArena *a = td_bind_work(L, TD_WORK_CAPTURE);
  TdDiag d = td_bind_diag(a);
  KernelTable k = {0};
  read_entries(L, b, a, &k);
  const TdAst *ast;
  const TdAstFn *fn;
  if (!td_bind_function(L, k.function, &ast, &fn, &d)) return td_bind_raise(L, &d);
  TdFnContext ctx = td_context_of(ast, fn);
  locate_params(&k, &ctx);
  lua_newtable(L);
  int anchor = lua_gettop(L);
  TdHost host = td_bind_host(L, anchor);
  TdCapture c = {.session = b->session,
                 .host = &host,
                 .fn = td_bind_handle(L, anchor, k.function),
                 .ast = ast,
                 .source = fn,
                 .name = k.name     ? k.name
                         : ctx.name ? ctx.name
                                    : "kernel",
                 .param = k.params.at,
                 .nparam = k.params.n};
  TdStore *st = td_bind_push_store(L);
  int store = lua_gettop(L);
  TdUnits units = {.store = st};
  if (!td_capture_kernel(&c, &units, &d)) return td_bind_raise(L, &d);
  const TdProg *p = td_prog_prune(td_prog_new(st, units.list.at, units.list.n));
  if (!td_bind_check_program(b, p, &d)) return td_bind_raise(L, &d);
  td_bind_push_unit(L, store, p);
  lua_pushvalue(L, k.function);
  lua_setiuservalue(L, -2, TD_UNIT_FUNCTION);
  return 1;
}

static int l_unit_tostring(lua_State *L) {
  const TdProg *p = td_bind_check_unit(L, 1);
  TdText t = td_text_new(td_bind_arena(L));
  td_print_prog(&t, p);
  lua_pushlstring(L, td_text_str(&t), t.n);
  return 1;
}

static int l_unit_call(lua_State *L) {
  const TdProg *p = td_bind_check_unit(L, 1);
  if (td_bind_has_traced(L)) return td_bind_trace(L, "call");
  if (td_bind_call_sized(L, p)) return 0;
  TdBind *b = td_bind_enter(L);
  lua_getiuservalue(L, 1, TD_UNIT_FUNCTION);
  if (b->native && lua_isfunction(L, -1)) {
    const char *outer = b->native;
    lua_replace(L, 1);
    b->native = td_bind_state_path(b, outer, p);
    lua_call(L, lua_gettop(L) - 1, 0);
    b->native = outer;
    return 0;
  }
  lua_pop(L, 1);
  if (td_prog_root(p)->kind == TD_UNIT_EXTERN) return td_bind_call_extern(L, p);
  td_bind_run(L, p, 1, 2);
  return 0;
}

/* Copies of the tensors among the arguments, in their places; the originals move behind them. */
static int copy_arguments(lua_State *L, int first, int last) {
  luaL_checkstack(L, last + 8, "arguments");
  for (int i = first; i <= last; i++) {
    lua_pushvalue(L, i);
    TdTensorBox *box = td_bind_test_tensor(L, i);
    if (!box) continue;
    TdTensor *copy = td_bind_push_tensor(L, box->tensor->type, true);
    td_tensor_copy(td_bind_enter(L)->ctx, copy, box->tensor);
    lua_replace(L, i);
  }
  return last + 1;
}

/* Raises if the function on top has an upvalue that is a size without a value. */
static void check_sizes_known(lua_State *L) {
  const char *name;
  for (int i = 1; (name = lua_getupvalue(L, -1, i)); i++) {
    if (td_bind_test_size(L, -1))
      td_bind_fail(L, "native", "'%s' is a size without a value, with which Lua cannot compute",
                   name);
    lua_pop(L, 1);
  }
}

/* k:native(...): the Lua function itself on copies of the tensors; their contents are written back
 * at the end. */
static int l_unit_native(lua_State *L) {
  const TdProg *p = td_bind_check_unit(L, 1);
  lua_getiuservalue(L, 1, TD_UNIT_FUNCTION);
  if (!lua_isfunction(L, -1))
    return td_bind_fail(L, "native", "'%s' has no Lua function to run%s",
                        td_prog_root(p)->sym->name,
                        lua_isboolean(L, -1) ? " at sizes other than the function's own" : "");
  check_sizes_known(L);
  lua_replace(L, 1);
  td_bind_name_arguments(L, p, 2);
  int n = lua_gettop(L) - 1;
  td_bind_check_arguments(L, p, 2);
  int originals = copy_arguments(L, 2, n + 1);
  td_bind_work(L, TD_WORK_RUN);
  lua_pushvalue(L, 1);
  for (int i = 0; i < n; i++) lua_pushvalue(L, 2 + i);
  TdBind *b = td_bind_enter(L);
  const char *outer = b->native;
  b->native = td_bind_state_path(b, NULL, p);
  int status = lua_pcall(L, n, 0, 0);
  b->native = outer;
  if (status != LUA_OK) return lua_error(L);
  for (int i = 0; i < n; i++) {
    TdTensorBox *to = td_bind_test_tensor(L, originals + 1 + i),
                *from = td_bind_test_tensor(L, 2 + i);
    if (to && from) td_tensor_copy(td_bind_enter(L)->ctx, to->tensor, from->tensor);
  }
  return 0;
}

TdSize *td_bind_read_sizes(lua_State *L, TdArena *a, int idx, size_t *n) {
  TdBind *b = td_bind_enter(L);
  TD_VEC(TdSize) v = {0};
  luaL_checktype(L, idx, LUA_TTABLE);
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    int ok = 0;
    lua_Integer x = lua_tointegerx(L, -1, &ok);
    if (lua_type(L, -2) != LUA_TSTRING || !ok)
      td_bind_fail(L, "argument", "sizes are given by name, as in {M = 5}");
    TdSize z = {td_names_str(b->session->names, lua_tostring(L, -2)), true, x};
    td_vec_push(a, &v, z);
    lua_pop(L, 1);
  }
  for (size_t i = 1; i < v.n; i++)
    for (size_t m = i; m && strcmp(v.at[m - 1].name, v.at[m].name) > 0; m--) {
      TdSize t = v.at[m];
      v.at[m] = v.at[m - 1];
      v.at[m - 1] = t;
    }
  *n = v.n;
  return v.at;
}

/* Whether one of u's values is among the n sizes as another value. */
static bool changes_value(const TdUnit *u, const TdSize *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const TdSize *own = td_unit_size(u, list[i].name);
    if (own && own->known && own->value != list[i].value) return true;
  }
  return false;
}

/* k:at {M = 5}: the program at other sizes. */
static int l_unit_at(lua_State *L) {
  const TdProg *p = td_bind_check_unit(L, 1);
  TdBind *b = td_bind_enter(L);
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  size_t n;
  TdSize *list = td_bind_read_sizes(L, a, 2, &n);
  const TdProg *at = td_at_sizes(p, list, n, &d);
  if (!at || !td_bind_check_program(b, at, &d)) return td_bind_raise(L, &d);
  lua_getiuservalue(L, 1, TD_UNIT_STORE);
  td_bind_push_unit(L, -1, at);
  if (changes_value(td_prog_root(p), list, n))
    lua_pushboolean(L, false);
  else
    lua_getiuservalue(L, 1, TD_UNIT_FUNCTION);
  lua_setiuservalue(L, -2, TD_UNIT_FUNCTION);
  return 1;
}

/* p, whose units are not shared yet, as the instance `name`: its root is called so. */
static const TdProg *as_instance(const TdProg *p, const char *name) {
  const TdUnit **list = TD_NEWN(p->store->arena, const TdUnit *, p->nunit);
  for (size_t i = 0; i < p->nunit; i++) {
    TdUnit *u = td_unit_copy(p->store, p->unit[i]);
    u->instance = name;
    list[i] = u;
  }
  ((TdSymbol *)(uintptr_t)td_prog_root(p)->sym)->name = name;
  return td_prog_new(p->store, list, p->nunit);
}

/* k:as "name": the same kernel as its own instance, with its own copies of what it calls. */
static int l_unit_as(lua_State *L) {
  const TdProg *p = td_bind_check_unit(L, 1);
  const char *name = check_name(L, 2);
  TdStore *st = td_bind_push_store(L);
  int store = lua_gettop(L);
  const TdProg *copy = td_clone_prog(st, p, false);
  td_bind_push_unit(L, store, as_instance(copy, name));
  lua_getiuservalue(L, 1, TD_UNIT_FUNCTION);
  lua_setiuservalue(L, -2, TD_UNIT_FUNCTION);
  return 1;
}

/* k.sizes: values by name; false for a size without value. */
static void push_sizes(lua_State *L, const TdUnit *u) {
  lua_createtable(L, 0, (int)u->nsize);
  for (size_t i = 0; i < u->nsize; i++) {
    if (u->size[i].known)
      lua_pushinteger(L, u->size[i].value);
    else
      lua_pushboolean(L, 0);
    lua_setfield(L, -2, u->size[i].name);
  }
}

/* k.params: a list of {name =, type =}, types at the sizes' values, or as declared where one has
 * none. */
static void push_params(lua_State *L, const TdProg *p) {
  const TdUnit *u = td_prog_root(p);
  lua_createtable(L, (int)u->nparam, 0);
  for (size_t i = 0; i < u->nparam; i++) {
    lua_createtable(L, 0, 2);
    lua_pushstring(L, u->param[i].sym->name);
    lua_setfield(L, -2, "name");
    const TdType *known = td_unit_type(p->store->session, u, u->param[i].type);
    td_bind_push_type(L, known ? known : u->param[i].type);
    lua_setfield(L, -2, "type");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* k:constants(): the arguments that the printed chunk wants. */
static int l_unit_constants(lua_State *L) {
  const TdProg *p = td_bind_check_unit(L, 1);
  return td_bind_push_constants(L, p);
}

int td_bind_push_constants(lua_State *L, const TdProg *p) {
  TdArena *a = td_bind_arena(L);
  const TdBlob *const *blob;
  size_t n = td_print_constants(a, p, &blob);
  luaL_checkstack(L, (int)n + 4, "constants");
  for (size_t i = 0; i < n; i++) {
    TdTensor *t = td_bind_push_tensor(L, blob[i]->type, false);
    memcpy(t->data, blob[i]->data,
           (size_t)blob[i]->count * td_type_bytes(td_type_scalar(blob[i]->type)));
  }
  return (int)n;
}

static int l_unit_reference(lua_State *L) {
  return td_bind_reference(L, td_bind_check_unit(L, 1));
}

static int l_unit_index(lua_State *L) {
  const TdProg *p = td_bind_check_unit(L, 1);
  const char *key = luaL_checkstring(L, 2);
  if (strcmp(key, "sizes") == 0) {
    push_sizes(L, td_prog_root(p));
    return 1;
  }
  if (strcmp(key, "params") == 0) {
    push_params(L, p);
    return 1;
  }
  if (strcmp(key, "name") == 0) {
    lua_pushstring(L, td_prog_root(p)->sym->name);
    return 1;
  }
  return td_bind_method(L, TD_CLASS_UNIT, key);
}

void td_bind_open_unit(lua_State *L) {
  static const luaL_Reg store_meta[] = {{"__gc", l_store_gc}, {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__index", l_unit_index},
                                  {"__call", l_unit_call},
                                  {"__tostring", l_unit_tostring},
                                  {NULL, NULL}};
  static const luaL_Reg methods[] = {{"native", l_unit_native},
                                     {"at", l_unit_at},
                                     {"as", l_unit_as},
                                     {"constants", l_unit_constants},
                                     {"reset", td_bind_reset},
                                     {"reference", l_unit_reference},
                                     {"check", td_bind_check_again},
                                     {"depths", td_bind_check_depths},
                                     {"estimate", td_bind_estimate},
                                     {"arrays", td_bind_arrays},
                                     {"fifos", td_bind_fifos},
                                     {"graph", td_bind_graph},
                                     {"rates", td_bind_rates},
                                     {NULL, NULL}};
  td_bind_class(L, TD_CLASS_STORE, store_meta, NULL);
  td_bind_class(L, TD_CLASS_UNIT, meta, methods);
  td_bind_class_fields(L, "sizes params name");
  lua_pop(L, 2);
  lua_pushcfunction(L, l_kernel);
  lua_setfield(L, -2, "kernel");
}
