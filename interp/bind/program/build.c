/* build.c - s:build {target = "hls", ..} in Lua: options checked against the backend's table,
 * and the module that comes of it: its text, files, report; written, called. */
#include <string.h>

#include "bind/program/memory.h"
#include "bind/program/unit.h"
#include "drive/build.h"

#define CLASS_BUILD "tide.build"

/* User values of a module: what its program lives in, the test bench's arguments, a memory. */
enum { STORE = 1, INPUTS, MEMORY, USER_VALUES = MEMORY };

typedef struct ModuleBox {
  TdArena *arena;
  TdModule *module; /* NULL until it is built */
  const TdProg *prog;
  TdBindMemory own; /* the memory of the user's */
} ModuleBox;

static int l_gc(lua_State *L) {
  ModuleBox *box = lua_touserdata(L, 1);
  td_arena_free(box->arena);
  box->arena = NULL;
  return 0;
}

static ModuleBox *check_module(lua_State *L, int idx) {
  ModuleBox *box = luaL_testudata(L, idx, CLASS_BUILD);
  if (!box || !box->module) td_bind_expect(L, idx, "a build");
  return box;
}

/* The names of all that can be said to a build for x, NULL-ended. */
static const char *const *option_names(TdArena *a, const TdBackend *x) {
  const char **name = TD_NEWN(a, const char *, x->noption + 3);
  for (size_t i = 0; i < x->noption; i++) name[i] = x->option[i].name;
  name[x->noption] = "target";
  name[x->noption + 1] = "inputs";
  return name;
}

/* Raises that the value on top of the stack is not what option o takes. */
static int wrong_option(lua_State *L, const TdOption *o, const char *wants) {
  return td_bind_fail(L, "option-value", "option '%s' (%s) is %s, not %s", o->name, o->help, wants,
                      td_bind_words(L, -1));
}

/* Raises that the word on top of the stack is none of those that option o takes. */
static int wrong_word(lua_State *L, TdArena *a, const TdOption *o) {
  TD_VEC(const char *) words = {0};
  const char *said = lua_tostring(L, -1);
  for (const char *w = o->initial; *w; w += strcspn(w, "|"), w += *w == '|')
    td_vec_push(a, &words, td_arena_strndup(a, w, strcspn(w, "|")));
  const char *near = td_text_nearest(said, words.at, words.n);
  return td_bind_refuse(L, TD_USAGE, "option-value",
                        near ? td_text_fmt(a, "did you mean '%s'?", near) : NULL,
                        "option '%s' (%s) is %s, not '%s'", o->name, o->help,
                        o->initial + (*o->initial == '|'), said);
}

/* The number on top of the stack as text, the same in every locale. */
static const char *number_text(lua_State *L, TdArena *a) {
  if (lua_isinteger(L, -1)) return td_text_fmt(a, "%lld", (long long)lua_tointeger(L, -1));
  TdText t = td_text_new(a);
  td_text_put_double(&t, lua_tonumber(L, -1));
  return td_text_str(&t);
}

/* Adds the list of cycles on top of the stack, "3,4,9". */
static void add_cycles(lua_State *L, TdText *t, const TdOption *o, const char *name) {
  lua_Integer last = 0, n = lua_istable(L, -1) ? (lua_Integer)lua_rawlen(L, -1) : -1;
  if (n < 0)
    td_bind_fail(L, "option-value", "option '%s': '%s' is no list of cycles", o->name, name);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, -1, i);
    if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < last)
      td_bind_fail(L, "option-value",
                   "option '%s': cycle %d of '%s' is no whole number from %d on, as the one before",
                   o->name, (int)i, name, (int)last);
    last = lua_tointeger(L, -1);
    td_text_putf(t, "%s%lld", i > 1 ? "," : "", (long long)last);
    lua_pop(L, 1);
  }
}

/* The table {Z = {3, 4}, Y = {{1}, {}}} on top of the stack as lines "Z 3,4", "Y 1;". */
static const char *cycles_text(lua_State *L, TdArena *a, const TdOption *o) {
  TdText t = td_text_new(a);
  if (!lua_istable(L, -1)) wrong_option(L, o, "a table of lists");
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
    if (!name) td_bind_fail(L, "option-value", "option '%s' has its lists by name", o->name);
    bool list = lua_istable(L, -1), many = list && lua_rawgeti(L, -1, 1) == LUA_TTABLE;
    if (list) lua_pop(L, 1);
    td_text_putf(&t, "%s ", name);
    if (!many) add_cycles(L, &t, o, name);
    for (lua_Integer i = 1; many && i <= (lua_Integer)lua_rawlen(L, -1); i++) {
      if (i > 1) td_text_putc(&t, ';');
      lua_rawgeti(L, -1, i);
      add_cycles(L, &t, o, name);
      lua_pop(L, 1);
    }
    td_text_putc(&t, '\n');
  }
  return td_text_str(&t);
}

/* The value of option o on top of the stack, as text. */
static const char *option_text(lua_State *L, TdArena *a, const TdOption *o) {
  int type = lua_type(L, -1);
  switch (o->kind) {
  case TD_OPTION_BOOL:
    if (type != LUA_TBOOLEAN) wrong_option(L, o, "true or false");
    return lua_toboolean(L, -1) ? "true" : "false";
  case TD_OPTION_INT:
    if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 0) wrong_option(L, o, "a whole number");
    return number_text(L, a);
  case TD_OPTION_CYCLES: return cycles_text(L, a, o);
  case TD_OPTION_NUMBER:
    if (type != LUA_TNUMBER) wrong_option(L, o, "a number");
    return number_text(L, a);
  default: break;
  }
  if (type == LUA_TNUMBER) return number_text(L, a);
  if (type != LUA_TSTRING) wrong_option(L, o, strchr(o->initial, '|') ? o->initial : "a word");
  if (!td_text_is_listed(o->initial, lua_tostring(L, -1))) wrong_word(L, a, o);
  return td_arena_strdup(a, lua_tostring(L, -1));
}

const char **td_bind_option_values(lua_State *L, int idx, TdArena *a, const TdOption *o, size_t n) {
  const char **value = TD_NEWN(a, const char *, n);
  for (size_t i = 0; i < n; i++) {
    if (o[i].kind == TD_OPTION_MEMORY) continue;
    if (lua_getfield(L, idx, o[i].name) != LUA_TNIL) value[i] = option_text(L, a, &o[i]);
    lua_pop(L, 1);
  }
  return value;
}

/* The backend that the option table at idx names. */
static const TdBackend *check_target(lua_State *L, TdArena *a, int idx) {
  const TdBackend *const *all = td_build_targets();
  TdText names = td_text_new(a);
  TD_VEC(const char *) name = {0};
  for (; *all; all++) {
    td_vec_push(a, &name, (*all)->name);
    td_text_putf(&names, "%s%s", names.n ? ", " : "", (*all)->name);
  }
  const char *said = td_bind_opt_string(L, idx, "target");
  if (!said)
    td_bind_refuse(L, TD_USAGE, "target", "for example build {target = \"cpu\"}",
                   "a build needs a target (%s)", td_text_str(&names));
  const TdBackend *x = td_build_find(said);
  const char *near = td_text_nearest(said, name.at, name.n);
  if (!x)
    td_bind_fail(L, "target", "there is no target '%s' (%s)%s%s%s", said, td_text_str(&names),
                 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return x;
}

/* Keeps the arguments that a test bench is to have: a list, or a table by name. */
static void keep_inputs(lua_State *L, int options) {
  if (lua_getfield(L, options, "inputs") == LUA_TNIL) {
    lua_pop(L, 1);
    return;
  }
  luaL_checktype(L, -1, LUA_TTABLE);
  lua_setiuservalue(L, -2, INPUTS);
}

/* The memory that the options at slot 2 name, which the module on top keeps; NULL: none. */
static TdOffchip *take_memory(lua_State *L, ModuleBox *box, const TdBackend *x) {
  TdOffchip *memory = NULL;
  for (size_t i = 0; i < x->noption; i++) {
    if (x->option[i].kind != TD_OPTION_MEMORY) continue;
    if (lua_getfield(L, 2, x->option[i].name) == LUA_TNIL) {
      lua_pop(L, 1);
      continue;
    }
    memory = TD_NEW(box->arena, TdOffchip);
    *memory = td_offchip_of(td_offchip_models[0]);
    td_bind_take_memory(L, lua_gettop(L), memory, &box->own);
    lua_setiuservalue(L, -2, MEMORY);
  }
  return memory;
}

/* s:build {target =, ..}, of a kernel or schedule at slot 1. */
static int l_build(lua_State *L) {
  lua_settop(L, 2);
  const TdProg *p = td_bind_test_schedule(L, 1);
  if (!p) p = td_bind_check_unit(L, 1);
  if (!lua_istable(L, 2)) td_bind_misuse(L, 2, "unit:build", "a table of options");
  TdBind *b = td_bind_enter(L);
  TdArena *a = td_bind_work(L, TD_WORK_BUILD);
  TdDiag d = td_bind_diag(a);
  const TdBackend *x = check_target(L, a, 2);
  td_bind_check_options(L, 2, option_names(a, x));
  ModuleBox *box = lua_newuserdatauv(L, sizeof *box, USER_VALUES);
  memset(box, 0, sizeof *box);
  luaL_setmetatable(L, CLASS_BUILD);
  box->arena = td_arena_new(b->ctx);
  box->prog = p;
  keep_inputs(L, 2);
  lua_getiuservalue(L, 1, TD_UNIT_STORE);
  lua_setiuservalue(L, -2, STORE);
  const char **value = td_bind_option_values(L, 2, box->arena, x->option, x->noption);
  TdOffchip *memory = take_memory(L, box, x);
  p = td_bind_expand_math(L, box->arena, p, x, value);
  TdModule *m = td_build_new(box->arena, p, x, value, memory, &d);
  if (!m) return td_bind_raise(L, &d);
  box->module = m;
  td_bind_account(L);
  return 1;
}

/* The type of parameter i, a port, at the unit's sizes. */
static const TdType *port_type(lua_State *L, const TdUnit *u, size_t i) {
  return td_unit_type(td_bind_enter(L)->session, u, u->param[i].type);
}

/* The arguments from slot `first` on, for the root of p. */
static TdCallArg *collect(lua_State *L, TdArena *a, const TdProg *p, int first) {
  const TdUnit *u = td_prog_root(p);
  TdCallArg *arg = TD_NEWN(a, TdCallArg, u->nparam);
  for (size_t i = 0; i < u->nparam; i++) {
    if (u->param[i].type->kind == TD_T_TENSOR)
      arg[i].tensor = td_bind_check_tensor(L, first + (int)i);
    else if (u->param[i].type->kind == TD_T_PORT)
      arg[i].port = td_bind_ports_of(L, a, port_type(L, u, i), first + (int)i);
    else
      td_bind_to_bits(L, first + (int)i, u->param[i].type, &arg[i].scalar);
  }
  return arg;
}

/* Pushes tide.random(t, seed, {lo = 0, hi = 2} if small). */
static void push_random(lua_State *L, const TdType *t, int seed, bool small) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "tide");
  lua_getfield(L, -1, "random");
  lua_copy(L, -1, -3);
  lua_pop(L, 2);
  td_bind_push_type(L, t);
  lua_pushinteger(L, seed);
  if (small) {
    lua_createtable(L, 0, 2);
    lua_pushinteger(L, 0);
    lua_setfield(L, -2, "lo");
    lua_pushinteger(L, 2);
    lua_setfield(L, -2, "hi");
  }
  lua_call(L, small ? 3 : 2, 1);
}

/* Pushes random arguments for the root of p, integers below 2 if small. */
static void push_random_arguments(lua_State *L, const TdProg *p, bool small) {
  TdSession *s = td_bind_enter(L)->session;
  const TdUnit *u = td_prog_root(p);
  luaL_checkstack(L, (int)u->nparam + 8, "arguments");
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = td_unit_type(s, u, u->param[i].type);
    const TdType *elem = td_type_scalar(t);
    bool scalar = t == elem, number = td_type_is_integer(elem) || elem->kind == TD_T_INDEX;
    if (scalar) t = td_type_tensor_of(s, t, 1, &(int64_t){1});
    push_random(L, t, (int)i + 1, small && number && elem->w > 1);
    if (!scalar) continue;
    int64_t first = 0;
    td_bind_push_bits(L, elem, td_tensor_get(td_bind_check_tensor(L, -1), &first));
    lua_replace(L, -2);
  }
}

/* Whether a test bench can have random arguments: not of words beyond 64 bits, nor too many. */
static bool fits_bench(lua_State *L, const TdProg *p) {
  enum { MOST = 1 << 22 };
  TdSession *s = td_bind_enter(L)->session;
  const TdUnit *u = td_prog_root(p);
  int64_t sum = 0, count = 0;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = td_unit_type(s, u, u->param[i].type);
    if (!t || td_type_scalar(t)->w > 64 || !td_type_count(t, &count)) return false;
    sum += count;
  }
  return sum <= MOST;
}

/* Pushes the arguments that the user gave for the test bench; whether there are any. */
static bool push_given(lua_State *L, const TdProg *p, int idx) {
  int first = lua_gettop(L) + 1;
  if (lua_getiuservalue(L, idx, INPUTS) != LUA_TTABLE) {
    lua_pop(L, 1);
    return false;
  }
  lua_Integer n = (lua_Integer)lua_rawlen(L, first);
  luaL_checkstack(L, (int)n + 8, "arguments");
  for (lua_Integer i = 1; i <= n; i++) lua_rawgeti(L, first, i);
  if (n)
    lua_remove(L, first);
  else
    td_bind_name_arguments(L, p, first);
  td_bind_check_arguments(L, p, first);
  return true;
}

/* Gives the test bench of the module at slot 1 its data: the user's arguments, or random ones on
 * which the program runs; if there are none it goes. */
static void find_data(lua_State *L, ModuleBox *box) {
  if (!td_build_wants_data(box->module)) return;
  TdArena *a = td_bind_work(L, TD_WORK_BUILD);
  int first = lua_gettop(L) + 1;
  TdDiag d = td_bind_diag(a);
  if (push_given(L, box->prog, 1)) {
    if (!td_build_set_data(box->module, collect(L, a, box->prog, first), &d)) td_bind_raise(L, &d);
    td_bind_settop(L, first - 1);
    return;
  }
  for (int small = 0; small < 2 && fits_bench(L, box->prog); small++) {
    TdDiag why = td_bind_diag(a);
    push_random_arguments(L, box->prog, small);
    bool ok = td_build_set_data(box->module, collect(L, a, box->prog, first), &why);
    td_bind_settop(L, first - 1);
    if (ok) return;
    if (why.kind == TD_LIMIT) td_bind_raise(L, &why);
  }
  if (!td_build_drop_data(box->module, &d)) td_bind_raise(L, &d);
}

/* m:write(folder): what was done, and what is left to do. */
static int l_write(lua_State *L) {
  ModuleBox *box = check_module(L, 1);
  const char *folder = luaL_checkstring(L, 2), *said;
  find_data(L, box);
  TdDiag d = td_bind_diag(td_bind_work(L, TD_WORK_BUILD));
  if (!td_build_write(box->module, folder, &said, &d)) return td_bind_raise(L, &d);
  td_bind_account(L);
  lua_pushstring(L, said);
  return 1;
}

/* m(A, B, C). */
static int l_call(lua_State *L) {
  ModuleBox *box = check_module(L, 1);
  td_bind_name_arguments(L, box->prog, 2);
  td_bind_check_arguments(L, box->prog, 2);
  TdArena *a = td_bind_work(L, TD_WORK_RUN);
  TdDiag d = td_bind_diag(a);
  const TdUnit *u = td_prog_root(box->prog);
  const TdCallArg *arg = collect(L, a, box->prog, 2);
  lua_getiuservalue(L, 1, MEMORY);
  box->own = (TdBindMemory){L, lua_gettop(L)};
  if (!td_build_call(box->module, arg, &d)) return td_bind_raise(L, &d);
  for (size_t i = 0; i < u->nparam; i++)
    if (arg[i].port) td_bind_return_tokens(L, port_type(L, u, i), arg[i].port, 2 + (int)i);
  td_bind_account(L);
  return 0;
}

/* m:simulate(): the report of a run without data. */
static int l_simulate(lua_State *L) {
  ModuleBox *box = check_module(L, 1);
  TdDiag d = td_bind_diag(td_bind_work(L, TD_WORK_RUN));
  const TdTimed *t = td_build_simulate(box->module, &d);
  if (!t) return td_bind_raise(L, &d);
  td_bind_account(L);
  td_bind_push_timed(L, t, 1);
  return 1;
}

static int l_reset(lua_State *L) {
  td_build_reset(check_module(L, 1)->module);
  lua_settop(L, 1);
  return 1;
}

/* The files by name, and their names as a list. */
static void push_files(lua_State *L, ModuleBox *box) {
  find_data(L, box);
  size_t n;
  const TdFile *f = td_build_files(box->module, &n);
  lua_createtable(L, (int)n, (int)n);
  for (size_t i = 0; i < n; i++) {
    lua_pushstring(L, f[i].text);
    lua_setfield(L, -2, f[i].name);
    lua_pushstring(L, f[i].name);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* Pushes a word of a path or a value: a number if it is one. */
static void push_word(lua_State *L, const char *s, size_t n) {
  lua_pushlstring(L, s, n);
  if (lua_stringtonumber(L, lua_tostring(L, -1))) lua_remove(L, -2);
}

/* Sets the value at a path of names joined by '.' in the table on top; tables on the way are made.
 */
static void set_path(lua_State *L, const char *path, size_t n, const char *value, size_t nvalue) {
  size_t len = 0;
  while (len < n && path[len] != '.') len++;
  push_word(L, path, len);
  if (len == n) {
    push_word(L, value, nvalue);
    lua_rawset(L, -3);
    return;
  }
  lua_pushvalue(L, -1);
  if (lua_rawget(L, -3) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -5);
  }
  set_path(L, path + len + 1, n - len - 1, value, nvalue);
  lua_pop(L, 2);
}

TdModule *td_bind_check_build(lua_State *L, int idx) {
  return check_module(L, idx)->module;
}

void td_bind_set_path(lua_State *L, const char *line, size_t n) {
  enum { WORDS = 64 }; /* of a path, four places each */
  size_t path = strcspn(line, " ");
  luaL_checkstack(L, 4 * WORDS, "a report");
  if (path < n) set_path(L, line, path, line + path + 1, n - path - 1);
}

const TdTimed *td_bind_build_timed(lua_State *L, int idx) {
  return td_build_timed(check_module(L, idx)->module);
}

/* What the last run told about time, or the tool's report as a table, or nil. */
static void push_report(lua_State *L, const TdModule *m) {
  const TdTimed *timed = td_build_timed(m);
  const char *report = td_build_report(m);
  if (timed) {
    td_bind_push_timed(L, timed, 1);
    return;
  }
  if (!report) {
    lua_pushnil(L);
    return;
  }
  lua_newtable(L);
  for (const char *s = report; *s;) {
    size_t n = strcspn(s, "\n");
    td_bind_set_path(L, s, n);
    s += n + (s[n] == '\n');
  }
}

static int l_index(lua_State *L) {
  ModuleBox *box = check_module(L, 1);
  const char *key = luaL_checkstring(L, 2);
  size_t n;
  if (strcmp(key, "source") == 0)
    lua_pushstring(L, td_build_files(box->module, &n)->text);
  else if (strcmp(key, "files") == 0)
    push_files(L, box);
  else if (strcmp(key, "target") == 0)
    lua_pushstring(L, td_build_target(box->module)->name);
  else if (strcmp(key, "steps") == 0)
    lua_pushstring(L, td_build_steps(box->module));
  else if (strcmp(key, "report") == 0)
    push_report(L, box->module);
  else
    return td_bind_method(L, CLASS_BUILD, key);
  return 1;
}

static int l_tostring(lua_State *L) {
  ModuleBox *box = check_module(L, 1);
  lua_pushfstring(L, "%s of %s", td_build_target(box->module)->name,
                  td_prog_root(box->prog)->sym->name);
  return 1;
}

void td_bind_open_build(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", l_gc},
                                  {"__index", l_index},
                                  {"__call", l_call},
                                  {"__tostring", l_tostring},
                                  {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"write", l_write}, {"reset", l_reset}, {"simulate", l_simulate}, {NULL, NULL}};
  static const char *const classes[] = {TD_CLASS_UNIT, TD_CLASS_SCHEDULE};
  td_bind_class(L, CLASS_BUILD, meta, methods);
  td_bind_add_questions(L);
  td_bind_class_fields(L, "source files target report steps");
  lua_pop(L, 1);
  for (int i = 0; i < 2; i++) {
    luaL_getmetatable(L, classes[i]);
    lua_getfield(L, -1, "methods");
    lua_pushcfunction(L, l_build);
    lua_setfield(L, -2, "build");
    lua_pop(L, 2);
  }
}
