/* extern.c - tide.extern: a C function of a library or a source file as a unit. */
#include <string.h>

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

static void read_entry(lua_State *L, TdStore *st, ExternTable *x, const char *key) {
  static const char *const options[] = {"library", "source", "symbol", "pure", "model", "name"};
  const TdType *t = td_bind_test_type(L, -1);
  if (t) {
    add_param(L, st, x, key, t);
    return;
  }
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (strcmp(options[i], key) == 0) return;
  td_bind_fail(L, "option",
               "'%s' is neither a type nor an option of tide.extern (library, source, symbol, "
               "pure, model, name)",
               key);
}

static void read_table(lua_State *L, TdStore *st, ExternTable *x) {
  x->foreign.library = string_field(L, st, "library");
  x->foreign.source = string_field(L, st, "source");
  x->foreign.symbol = string_field(L, st, "symbol");
  x->foreign.pure = td_bind_opt_boolean(L, 1, "pure", false);
  if (!x->foreign.library == !x->foreign.source)
    td_bind_fail(L, "option", "tide.extern needs a library or a source, and not both");
  lua_getfield(L, 1, "model");
  if (!lua_isnil(L, -1)) x->model = td_bind_check_unit(L, -1);
  lua_pop(L, 1);
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      td_bind_fail(L, "argument", "tide.extern takes fields by name only");
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

/* tide.extern { library = or source =, symbol =, x = T[N], .., model = kernel, pure = }. */
static int l_extern(lua_State *L) {
  if (!lua_istable(L, 1)) return td_bind_fail(L, "argument", "tide.extern takes a table");
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
  if (is_cxx(x.foreign.source)) {
    TdBindIp in = {x.foreign.source, x.foreign.symbol, x.params.at, x.params.n};
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

const TdProg *td_bind_callable(const TdProg *p) {
  const TdUnit *f = td_prog_root(p);
  if (f->kind != TD_UNIT_EXTERN) return p;
  TdStore *st = p->store;
  TdParam *param = TD_NEWN(st->arena, TdParam, f->nparam);
  const TdExpr **arg = TD_NEWN(st->arena, const TdExpr *, f->nparam);
  for (size_t i = 0; i < f->nparam; i++) {
    param[i] = f->param[i];
    param[i].sym = td_store_sym(st, f->param[i].sym->name, (TdSymKind)f->param[i].sym->kind);
    arg[i] = td_type_is_scalar(param[i].type)
                 ? td_expr_var(st->arena, param[i].sym, param[i].type, f->loc)
                 : td_expr_whole(st->session, st->arena, param[i].sym, param[i].type, f->loc);
  }
  TdLoc caller = {0}; /* of this call, which is in Lua */
  const TdStmt *call = td_stmt_call(st, f->sym, arg, f->nparam, caller);
  TdUnit *u = TD_NEW(st->arena, TdUnit);
  *u = (TdUnit){.kind = TD_UNIT_KERNEL, .param = param, .nparam = f->nparam, .loc = f->loc};
  u->sym = td_store_sym(st, td_text_fmt(st->arena, "call_%s", f->sym->name), TD_SYM_UNIT);
  u->uid = td_store_uid(st);
  u->body = td_stmt_block(st, &call, 1, f->loc);
  const TdUnit **list = TD_NEWN(st->arena, const TdUnit *, p->nunit + 1);
  memcpy(list, p->unit, p->nunit * sizeof *list);
  list[p->nunit] = u;
  return td_prog_new(st, list, p->nunit + 1);
}

void td_bind_open_extern(lua_State *L) {
  lua_pushcfunction(L, l_extern);
  lua_setfield(L, -2, "extern");
}
