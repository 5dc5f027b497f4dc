/* npu.c - the module tide.npu.core: devices as data, and what tasks of a schedule are. */
#include <string.h>

#include "affine/access.h"
#include "analysis/net/devices.h"
#include "analysis/order/effects.h"
#include "bind/program/unit.h"
#include "rewrite/prim.h"

/* ---- devices ---- */

static void push_macs(lua_State *L, int generation) {
  lua_newtable(L);
  for (int i = 0, n = 0; i < TD_MACS; i++) {
    const TdMac *x = &td_macs[i];
    if (x->generation != generation) continue;
    lua_createtable(L, 0, 7);
    td_bind_set_string(L, "a", x->a);
    td_bind_set_string(L, "b", x->b);
    td_bind_set_string(L, "c", x->c);
    td_bind_set_integer(L, "macs", x->macs);
    td_bind_set_integer(L, "r", x->r);
    td_bind_set_integer(L, "s", x->s);
    td_bind_set_integer(L, "t", x->t);
    lua_rawseti(L, -2, ++n);
  }
}

/* core.device(name): {cols =, rows =, cores =, bytes =, macs = {..}}, or nil. */
static int l_device(lua_State *L) {
  const TdDevice *d = td_device_find(luaL_checkstring(L, 1));
  if (!d) {
    lua_pushnil(L);
    lua_pushliteral(L, TD_DEVICE_NAMES);
    return 2;
  }
  lua_createtable(L, 0, 6);
  td_bind_set_integer(L, "cols", d->cols);
  td_bind_set_integer(L, "rows", d->rows);
  td_bind_set_integer(L, "cores", d->cols * (d->rows - 2));
  td_bind_set_integer(L, "bytes", td_tiles[TD_TILE_CORE].bytes);
  push_macs(L, d->generation);
  lua_setfield(L, -2, "macs");
  return 1;
}

/* core.model(): {BANDWIDTH = {value =, unit =, what =}, ..}. */
static int l_model(lua_State *L) {
  lua_newtable(L);
  for (int i = 0; i < TD_MODELS; i++) {
    lua_createtable(L, 0, 3);
    td_bind_set_number(L, "value", td_model[i].value);
    td_bind_set_string(L, "unit", td_model[i].unit);
    td_bind_set_string(L, "what", td_model[i].what);
    lua_setfield(L, -2, td_model[i].name);
  }
  return 1;
}

/* ---- tasks ---- */

static void set_extents(lua_State *L, const char *key, const TdUnit *u, const TdExpr *const *e,
                        int n) {
  lua_createtable(L, n, 0);
  for (int d = 0; d < n; d++) {
    int64_t v = 0;
    td_unit_value(u, e[d], &v);
    lua_pushinteger(L, (lua_Integer)v);
    lua_rawseti(L, -2, d + 1);
  }
  lua_setfield(L, -2, key);
}

/* Sets `elem` and `shape` of a type, at the sizes of u. */
static void set_type(lua_State *L, TdArena *a, const TdUnit *u, const TdType *t) {
  td_bind_set_string(L, "elem", td_type_str(a, td_type_scalar(t)));
  if (t->kind == TD_T_TENSOR) set_extents(L, "shape", u, t->dim, t->rank);
}

/* A list of locals on top of the stack. */
typedef struct Locals {
  lua_State *L;
  TdArena *arena;
  const TdUnit *unit;
  lua_Integer n;
} Locals;

static bool look_local(void *ud, const TdStmt *s) {
  Locals *k = ud;
  if (s->kind != TD_STMT_LOCAL || s->cls != TD_LOCAL_AUTO || s->type->kind != TD_T_TENSOR)
    return true;
  lua_createtable(k->L, 0, 3);
  td_bind_set_string(k->L, "name", s->sym->name);
  set_type(k->L, k->arena, k->unit, s->type);
  lua_rawseti(k->L, -2, ++k->n);
  return true;
}

/* Pushes the parameters of a run: {name =, argument =, layout =, written =, elem =, shape =}. */
static void push_arguments(lua_State *L, TdArena *a, const TdProg *p, const TdRun *run) {
  const TdUnit *u = td_prog_unit(p, run->unit);
  TdAsk q = {td_bind_enter(L)->affine, a, p, u};
  const bool *written = td_effects_written(&q);
  lua_createtable(L, (int)run->nbind, 0);
  for (size_t i = 0; i < run->nbind; i++) {
    const TdRunArg *b = &run->bind[i];
    const TdParam *x = td_unit_param(u, b->param);
    lua_createtable(L, 0, 6);
    td_bind_set_string(L, "name", b->param->name);
    td_bind_set_string(L, "argument", b->arg->name);
    if (b->layout) td_bind_set_string(L, "layout", b->layout);
    td_bind_set_boolean(L, "written", x && written[x - u->param]);
    if (x) set_type(L, a, u, x->type);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* core.tasks(schedule): a list of {name =, host =, placed =, map = {..}, arguments = {..}, locals =
 * {{name =, elem =, shape =}, ..}}. */
static int l_tasks(lua_State *L) {
  const TdProg *p = td_bind_check_schedule(L, 1)->now->prog;
  TdArena *a = td_bind_work(L, TD_WORK_CHECK);
  const TdUnit *d = td_prog_root(p);
  lua_createtable(L, (int)d->nrun, 0);
  for (size_t i = 0; i < d->nrun; i++) {
    const TdRun *run = &d->run[i];
    const TdUnit *u = td_prog_unit(p, run->unit);
    Locals k = {.L = L, .arena = a, .unit = u};
    lua_createtable(L, 0, 6);
    td_bind_set_string(L, "name", run->sym->name);
    td_bind_set_boolean(L, "host", td_attrs_get(run->attrs, TD_ATTR_HOST) != NULL);
    td_bind_set_boolean(L, "placed", td_attrs_get(run->attrs, TD_ATTR_PLACE) != NULL);
    set_extents(L, "map", d, run->map, run->rank);
    push_arguments(L, a, p, run);
    lua_setfield(L, -2, "arguments");
    lua_newtable(L);
    if (u->body) td_walk_stmt(td_arena_ctx(a), u->body, look_local, &k);
    lua_setfield(L, -2, "locals");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* ---- products ---- */

/* A list of products on top of the stack. */
typedef struct Products {
  lua_State *L;
  TdArena *arena;
  const TdProg *prog;
  const TdUnit *unit;
  lua_Integer n;
} Products;

static const TdExpr *bare(const TdExpr *e) {
  while (e->kind == TD_EXPR_CAST) e = e->kid[0];
  return e;
}

/* The one of three loops that both expressions use and the third does not; -1: there is none. */
static int shared(const TdStmt *const *loop, const TdExpr *x, const TdExpr *y, const TdExpr *z) {
  for (int i = 0; i < 3; i++)
    if (td_walk_uses_expr(x, loop[i]->sym) && td_walk_uses_expr(y, loop[i]->sym) &&
        !td_walk_uses_expr(z, loop[i]->sym))
      return i;
  return -1;
}

/* Pushes {loop =, a =, b =, c =, m =, n =, k =} for a nest of three loops that adds products. */
static bool push_product(Products *p, const TdStmt *nest) {
  const TdStmt *loop[3], *s = nest;
  int64_t trip[3] = {0};
  bool ring;
  for (int i = 0; i < 3; i++) {
    if (s->kind != TD_STMT_FOR || td_for_body(s)->nkid != 1 || s->step != 1 ||
        !td_unit_value(p->unit, td_for_hi(s), &trip[i]))
      return false;
    loop[i] = s;
    s = td_for_body(s)->kid[0];
  }
  if (s->kind != TD_STMT_STORE || td_access_accumulates(s->expr[1], s->expr[0], &ring) != TD_OP_ADD)
    return false;
  const TdExpr *sum = bare(s->expr[1]);
  if (sum->kind != TD_EXPR_OP || sum->op != TD_OP_ADD) return false;
  const TdExpr *x = bare(sum->kid[0]), *y = bare(sum->kid[1]);
  const TdExpr *product = td_equal_expr(x, s->expr[0]) ? y : x;
  if (product->kind != TD_EXPR_OP || product->op != TD_OP_MUL) return false;
  x = bare(product->kid[0]);
  y = bare(product->kid[1]);
  int m = shared(loop, s->expr[0], x, y), n = shared(loop, s->expr[0], y, x),
      k = shared(loop, x, y, s->expr[0]);
  if (m < 0 || n < 0 || k < 0) return false;
  lua_createtable(p->L, 0, 8);
  td_bind_set_string(p->L, "loop", td_cursor_spec(p->arena, p->prog, p->unit, nest));
  td_bind_set_string(p->L, "a", td_type_str(p->arena, x->type));
  td_bind_set_string(p->L, "b", td_type_str(p->arena, y->type));
  td_bind_set_string(p->L, "c", td_type_str(p->arena, s->expr[0]->type));
  td_bind_set_string(p->L, "sum", s->expr[0]->sym->name);
  td_bind_set_integer(p->L, "m", trip[m]);
  td_bind_set_integer(p->L, "n", trip[n]);
  td_bind_set_integer(p->L, "k", trip[k]);
  return true;
}

static bool look_product(void *ud, const TdStmt *s) {
  Products *p = ud;
  if (push_product(p, s)) lua_rawseti(p->L, -2, ++p->n);
  return true;
}

/* core.products(schedule, task): the products of matrices in its body, as loops. */
static int l_products(lua_State *L) {
  const TdProg *p = td_bind_check_schedule(L, 1)->now->prog;
  const char *task = luaL_checkstring(L, 2);
  const TdUnit *d = td_prog_root(p);
  Products k = {.L = L, .arena = td_bind_work(L, TD_WORK_CHECK), .prog = p};
  lua_newtable(L);
  for (size_t i = 0; i < d->nrun; i++) {
    if (strcmp(d->run[i].sym->name, task) != 0) continue;
    k.unit = td_prog_unit(p, d->run[i].unit);
    if (k.unit->body) td_walk_stmt(td_arena_ctx(k.arena), k.unit->body, look_product, &k);
  }
  return 1;
}

/* ---- the search ---- */

bool td_bind_npu_search(lua_State *L, const TdPrim *prim) {
  if (strcmp(prim->name, "search") != 0 || !lua_istable(L, 2)) return false;
  lua_getfield(L, 2, "device");
  bool npu = lua_type(L, -1) == LUA_TSTRING && td_device_find(lua_tostring(L, -1));
  lua_pop(L, 1);
  if (!npu) return false;
  td_stdlib_push_module(L, "tide.npu");
  lua_getfield(L, -1, "search");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 0);
  lua_settop(L, 1);
  return true;
}

static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {{"device", l_device},       {"model", l_model},
                                       {"tasks", l_tasks},         {"products", l_products},
                                       {"open", td_bind_npu_open}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

void td_bind_open_npu(lua_State *L) {
  td_bind_open_npu_run(L);
  td_bind_set_module(L, "tide.npu.core", l_load);
}
