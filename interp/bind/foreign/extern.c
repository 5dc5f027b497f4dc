/* extern.c - tide.extern: a C function of a library or a source file as a unit. */
#include <string.h>

#include "backends/host/foreign.h"
#include "bind/foreign/callback.h"
#include "bind/foreign/signature.h"
#include "bind/program/unit.h"
#include "frontend/gen/irgen.h"

/* Whether a path is of C++. */
static bool is_cxx(const char *path) {
  static const char *const ends[] = {".cpp", ".cc", ".cxx", ".C", ".hpp", ".hh", ".hxx"};
  const char *end = path ? strrchr(path, '.') : NULL;
  for (size_t i = 0; end && i < sizeof ends / sizeof *ends; i++)
    if (strcmp(end, ends[i]) == 0) return true;
  return false;
}

/* What the table gives. */
typedef struct ExternTable {
  TdForeign foreign;
  const TdProg *model;
  TD_VEC(TdParam) params;
  const TdAst *ast;
  const TdAstExpr *text; /* the constructor, or NULL */
  TdDiag *diag;
} ExternTable;

/* Position of a field in the constructor: the order of C parameters. */
static size_t place_of(const TdAstExpr *t, const char *name) {
  for (size_t i = 0; t && i < t->table.n; i++)
    if (t->table.at[i].name && strcmp(t->table.at[i].name, name) == 0) return i;
  return SIZE_MAX;
}

static const char *string_field(lua_State *L, TdStore *st, const char *key) {
  const char *s = td_bind_opt_string(L, 1, key);
  return s ? td_arena_strdup(st->arena, s) : NULL;
}

/* The attributes of a parameter, or of the function, by the marks on a line of the constructor. */
static TdAttrs marks_at(lua_State *L, TdStore *st, const ExternTable *x, uint32_t line,
                        bool param) {
  bool last = line == x->text->last;
  const char *on = !param ? "KP" : last ? "PK" : "P";
  TdAttrs list = {0};
  if (!td_irgen_marks_at(st, x->ast, line, on, &list, x->diag)) td_bind_raise(L, x->diag);
  return list;
}

/* Adds a parameter before those that stand later in the text. */
static void add_param(lua_State *L, TdStore *st, ExternTable *x, const char *name,
                      const TdType *t) {
  TdSymKind kind = t->kind == TD_T_TENSOR ? TD_SYM_TENSOR : TD_SYM_SCALAR;
  if (t->kind == TD_T_PORT)
    td_bind_fail(L, "argument", "'%s': a foreign function takes tensors and scalars", name);
  size_t at = place_of(x->text, name);
  if (is_cxx(x->foreign.source)) {
    TdLoc none = {0};
    TdLoc loc = at == SIZE_MAX ? none : x->text->table.at[at].loc;
    TdParam p = {.sym = td_store_sym(st, name, kind), .type = t, .loc = loc};
    td_vec_push(st->arena, &x->params, p);
    return;
  }
  if (at == SIZE_MAX)
    td_bind_fail(L, "parameter-order",
                 "write the parameters of tide.extern in its table, in their order");
  TdParam p = {.sym = td_store_sym(st, name, kind), .type = t, .loc = x->text->table.at[at].loc};
  p.attrs = marks_at(L, st, x, p.loc.line, true);
  td_vec_push(st->arena, &x->params, p);
  for (size_t i = x->params.n - 1; i && place_of(x->text, x->params.at[i - 1].sym->name) > at;
       i--) {
    TdParam q = x->params.at[i - 1];
    x->params.at[i - 1] = x->params.at[i];
    x->params.at[i] = q;
  }
}

/* The parameters that a signature gives: the result as one element first, and what is called back
 * beside them. */
static void add_signature(lua_State *L, TdStore *st, ExternTable *x, const TdSignature *s) {
  TdBind *b = td_bind_enter(L);
  TdForeign *f = &x->foreign;
  TdLoc loc = x->text ? x->text->loc : (TdLoc){0};
  TdCallback *back = TD_NEWN(st->arena, TdCallback, s->nparam + 1);
  const int64_t one = 1;
  f->signature = true;
  f->callback = back;
  f->returns = s->result;
  if (s->result) {
    const TdType *t = td_type_tensor_of(b->session, s->result, 1, &one);
    TdParam p = {.sym = td_store_sym(st, "result", TD_SYM_TENSOR), .type = t, .loc = loc};
    td_vec_push(st->arena, &x->params, p);
  }
  for (size_t i = 0; i < s->nparam; i++) {
    const TdSignature *c = s->param[i].back;
    const TdType *t = s->param[i].type;
    if (c) {
      const TdType **param = TD_NEWN(st->arena, const TdType *, c->nparam + 1);
      for (size_t k = 0; k < c->nparam; k++) param[k] = c->param[k].type;
      back[f->ncallback++] = (TdCallback){i, c->result, param, c->nparam, 0};
      continue;
    }
    TdSymKind kind = t->kind == TD_T_TENSOR ? TD_SYM_TENSOR : TD_SYM_SCALAR;
    const char *name = td_text_fmt(st->arena, "x%zu", i + 1);
    TdParam p = {.sym = td_store_sym(st, name, kind), .type = t, .loc = loc};
    td_vec_push(st->arena, &x->params, p);
  }
}

static void read_entry(lua_State *L, TdStore *st, ExternTable *x, const char *key) {
  static const char *const options[] = {"library", "source", "symbol", "pure",
                                        "model",   "name",   "process"};
  const TdType *t = td_bind_test_type(L, -1);
  if (t && x->foreign.signature)
    td_bind_fail(L, "signature", "'%s' is a type beside a signature, which has all of them", key);
  if (td_signature_test(L, -1))
    td_bind_refuse(L, TD_USAGE, "signature", "write it as a parameter of a signature",
                   "'%s' is a signature, which has no name in tide.extern", key);
  if (t) {
    add_param(L, st, x, key, t);
    return;
  }
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (strcmp(options[i], key) == 0) return;
  td_bind_fail(L, "option",
               "'%s' is neither a type nor an option of tide.extern (library, source, symbol, "
               "pure, model, process, name)",
               key);
}

static void read_table(lua_State *L, TdStore *st, ExternTable *x) {
  x->foreign.library = string_field(L, st, "library");
  x->foreign.source = string_field(L, st, "source");
  x->foreign.symbol = string_field(L, st, "symbol");
  x->foreign.pure = td_bind_opt_boolean(L, 1, "pure", false);
  x->foreign.process = td_bind_opt_boolean(L, 1, "process", false);
  if (!x->foreign.library == !x->foreign.source)
    td_bind_fail(L, "option", "tide.extern needs a library or a source, and not both");
  lua_getfield(L, 1, "model");
  if (!lua_isnil(L, -1)) x->model = td_bind_check_unit(L, -1);
  lua_pop(L, 1);
  lua_rawgeti(L, 1, 1);
  const TdSignature *s = td_signature_test(L, -1);
  if (s && is_cxx(x->foreign.source))
    td_bind_fail(L, "signature", "a C++ source says itself what its functions take");
  if (s) add_signature(L, st, x, s);
  lua_pop(L, 1);
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    bool first = s && lua_isinteger(L, -2) && lua_tointeger(L, -2) == 1;
    if (first) {
      lua_pop(L, 1);
      continue;
    }
    if (lua_type(L, -2) != LUA_TSTRING)
      td_bind_refuse(L, TD_USAGE, "argument", "f64(f64, i32[8]) is a signature",
                     "tide.extern takes a signature, and fields by name");
    read_entry(L, st, x, lua_tostring(L, -2));
    lua_pop(L, 1);
  }
}

/* Whether the model takes what the function takes. */
static void check_model(lua_State *L, const ExternTable *x) {
  const TdUnit *m = td_prog_root(x->model);
  bool same = m->nparam == x->params.n;
  TdSession *s = td_bind_enter(L)->session;
  for (size_t i = 0; same && i < m->nparam; i++)
    same = td_unit_type(s, m, m->param[i].type) == x->params.at[i].type;
  if (!same)
    td_bind_fail(L, "model", "the model '%s' does not take the parameters of the function",
                 m->sym->name);
}

/* tide.extern { library = or source =, symbol =, a signature or x = T[N], .., model = kernel, pure
 * =, process = }. */
static int l_extern(lua_State *L) {
  if (!lua_istable(L, 1)) return td_bind_misuse(L, 1, "tide.extern", "a table");
  lua_settop(L, 1);
  TdBind *b = td_bind_enter(L);
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  ExternTable x = {.diag = &d};
  const TdAstExpr *call = td_bind_call_expr(L, &x.ast);
  if (call && call->call.args.n == 1 && call->call.args.at[0]->kind == TD_AST_TABLE)
    x.text = call->call.args.at[0];
  TdStore *st = td_bind_push_store(L);
  int store = lua_gettop(L);
  read_table(L, st, &x);
  const char *name = td_bind_opt_string(L, 1, "name");
  if (!name && call) name = td_context_name(x.ast, call);
  if (!name) name = x.foreign.symbol ? x.foreign.symbol : "foreign";
  if (!x.foreign.symbol) x.foreign.symbol = td_arena_strdup(st->arena, name);
  bool cxx = is_cxx(x.foreign.source);
  if (cxx || (x.foreign.source && !x.params.n && !x.foreign.signature)) {
    TdBindIp in = {x.foreign.source, x.foreign.symbol, cxx, x.params.at, x.params.n};
    x.params.at = (TdParam *)(uintptr_t)td_bind_ip(L, st, &in, &x.params.n, &x.foreign);
  }
  TdUnits units = {.store = st};
  if (x.model) {
    check_model(L, &x);
    x.foreign.model = td_units_import(&units, x.model);
  }
  TdUnit *u = TD_NEW(st->arena, TdUnit);
  *u = (TdUnit){.kind = TD_UNIT_EXTERN, .param = x.params.at, .nparam = x.params.n};
  u->sym = td_units_name(&units, td_names_str(b->session->names, name));
  u->uid = td_store_uid(st);
  u->foreign = td_arena_copy(st->arena, &x.foreign, sizeof x.foreign);
  if (call) u->loc = call->loc;
  if (x.text) u->attrs = marks_at(L, st, &x, x.text->last, false);
  td_vec_push(st->arena, &units.list, u);
  const TdProg *p = td_prog_new(st, units.list.at, units.list.n);
  if (!td_bind_check_program(b, p, &d)) return td_bind_raise(L, &d);
  td_bind_push_unit(L, store, p);
  return 1;
}

/* What calls the function of an extern from Lua; kept with its userdata. */
typedef struct Caller {
  TdArena *arena;
  TdForeignFn *fn;
} Caller;

static int l_caller_gc(lua_State *L) {
  Caller *c = lua_touserdata(L, 1);
  td_arena_free(c->arena);
  c->arena = NULL;
  return 0;
}

/* The function of the extern at slot 1, found at its first call. */
static TdForeignFn *function_of(lua_State *L, const TdProg *p) {
  static const luaL_Reg meta[] = {{"__gc", l_caller_gc}, {NULL, NULL}};
  TdBind *b = td_bind_enter(L);
  lua_getiuservalue(L, 1, TD_UNIT_FUNCTION);
  Caller *c = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (c && c->fn) return c->fn;
  c = lua_newuserdatauv(L, sizeof *c, 0);
  *c = (Caller){0};
  td_bind_class(L, "tide.caller", meta, NULL);
  lua_setmetatable(L, -2);
  c->arena = td_arena_new(b->ctx);
  lua_setiuservalue(L, 1, TD_UNIT_FUNCTION);
  TdDiag d = td_bind_diag(td_bind_arena(L));
  c->fn = td_foreign_host.open(c->arena, b->session, td_prog_root(p), &d);
  if (!c->fn) td_bind_raise(L, &d);
  return c->fn;
}

/* Takes the functions that are to be called back out of the arguments from slot 2 on. */
static void take_functions(lua_State *L, const TdForeign *f, int *fn) {
  for (size_t i = f->ncallback; i-- > 0;) {
    int idx = 2 + (int)f->callback[i].at;
    if (!lua_isfunction(L, idx))
      td_bind_fail(L, "argument-type", "argument %d of '%s' is a function, not %s", idx - 1,
                   f->symbol, td_bind_words(L, idx));
    fn[i] = td_callback_keep(L, idx);
    lua_remove(L, idx);
  }
}

int td_bind_call_extern(lua_State *L, const TdProg *p) {
  const TdForeign *f = td_prog_root(p)->foreign;
  const TdType *result = f->returns ? td_type_scalar(td_prog_root(p)->param[0].type) : NULL;
  int fn[TD_FOREIGN_MOST];
  if (f->ncallback) take_functions(L, f, fn);
  td_bind_name_arguments(L, p, 2);
  if (result) {
    td_bind_push_tensor(L, td_prog_root(p)->param[0].type, false);
    lua_insert(L, 2);
  }
  td_bind_check_arguments(L, p, 2);
  const TdUnit *u = td_prog_root(p);
  TdForeignFn *found = function_of(L, p);
  TdArena *a = td_bind_work(L, TD_WORK_RUN);
  TdDiag d = td_bind_diag(a);
  void *at[TD_FOREIGN_MOST];
  TdTensor *from[TD_FOREIGN_MOST], *dense[TD_FOREIGN_MOST];
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = u->param[i].type;
    uint64_t bits = 0;
    from[i] = dense[i] = NULL;
    if (td_type_is_scalar(t)) {
      td_bind_to_bits(L, 2 + (int)i, t, &bits);
      at[i] = td_arena_alloc(a, sizeof bits);
      td_num_store(t, at[i], bits);
      continue;
    }
    from[i] = dense[i] = td_bind_check_tensor(L, 2 + (int)i);
    if (!td_tensor_is_dense(from[i])) {
      dense[i] = td_tensor_new(a, from[i]->type, false);
      td_tensor_copy(td_arena_ctx(a), dense[i], from[i]);
    }
    at[i] = dense[i]->data;
  }
  TdForeignEnd end = td_foreign_host.call(found, at, f->ncallback ? fn : NULL);
  for (size_t i = 0; i < u->nparam; i++) {
    if (from[i] != dense[i]) td_tensor_copy(td_arena_ctx(a), from[i], dense[i]);
    if (from[i] && from[i]->written) memset(from[i]->written, 1, (size_t)td_tensor_count(from[i]));
  }
  if (end.how && !td_foreign_host.tell(td_bind_enter(L)->session, u, end, (TdLoc){0}, &d))
    td_bind_raise(L, &d);
  if (!result) return 0;
  td_bind_push_bits(L, result, td_num_load(result, at[0]));
  return 1;
}

void td_bind_open_extern(lua_State *L) {
  lua_pushcfunction(L, l_extern);
  lua_setfield(L, -2, "extern");
}
