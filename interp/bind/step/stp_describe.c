/* stp_describe.c - a graph as data: its nodes in order, what they read, what they give. */
#include <string.h>

#include "bind/step/stp.h"
#include "bind/program/unit.h"
#include "step/stp_metric.h"

static void push_integers(lua_State *L, const int64_t *v, int n) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_pushinteger(L, v[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

/* Pushes the extents of dimensions, the innermost first. */
static void push_extents(lua_State *L, const TdStpDim *dim, int n) {
  lua_createtable(L, n, 0);
  for (int k = 0; k < n; k++) {
    td_stp_push_expr(L, dim[k].extent);
    lua_rawseti(L, -2, k + 1);
  }
}

/* Pushes {kind, type, rows, cols, ways, parts, shape} of an element's type; shape of buffers. */
static void push_type(lua_State *L, const TdStpType *t) {
  static const char *const kinds[] = {"tile", "buffer", "selector", "tuple"};
  luaL_checkstack(L, 6, "types");
  lua_createtable(L, 0, 7);
  td_bind_set_string(L, "kind", kinds[t->kind]);
  if (t->elem) {
    td_bind_push_type(L, t->elem);
    lua_setfield(L, -2, "type");
    td_stp_push_expr(L, t->rows);
    lua_setfield(L, -2, "rows");
    td_stp_push_expr(L, t->cols);
    lua_setfield(L, -2, "cols");
  }
  td_bind_set_integer(L, "ways", t->ways);
  lua_createtable(L, (int)t->nparts, 0);
  for (size_t i = 0; i < t->nparts; i++) {
    push_type(L, t->part[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "parts");
  push_extents(L, t->dim, t->ndim);
  lua_setfield(L, -2, "shape");
}

/* Pushes a stream: its type, and the extents of its dimensions. */
static void push_stream(lua_State *L, const TdStpStream *s) {
  push_type(L, s->type);
  push_extents(L, s->dim, s->ndim);
  lua_setfield(L, -2, "dims");
}

/* Sets a tensor argument: its type, and its data where it has some. */
static void set_tensor(lua_State *L, const char *key, const TdStpTensor *t) {
  if (!t->type) return;
  lua_createtable(L, 0, 3);
  td_bind_push_type(L, t->type);
  lua_setfield(L, -2, "type");
  td_bind_set_integer(L, "id", t->id);
  if (t->data) {
    td_stp_push_datum(L, 1, (TdStpDatum){t->data, NULL});
    lua_setfield(L, -2, "data");
    lua_pushlightuserdata(L, t->data);
    lua_setfield(L, -2, "key");
  }
  lua_setfield(L, -2, key);
}

/* Sets the selectors of a list: rows of 0 and 1. */
static void set_selectors(lua_State *L, const TdStpSelectors *s) {
  if (!s) return;
  lua_createtable(L, (int)s->n, 0);
  for (size_t i = 0; i < s->n; i++) {
    lua_createtable(L, 1, 0);
    for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++) {
      lua_pushinteger(L, s->index[k]);
      lua_rawseti(L, -2, (lua_Integer)(k - s->first[i]) + 1);
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "selectors");
  push_integers(L, s->extent, s->ndim);
  lua_setfield(L, -2, "extents");
}

/* Sets the terms of a node in the metrics, and how many elements it takes, or gives as a source. */
static void set_metrics(lua_State *L, TdStpGraph *g, const TdStpNode *n) {
  TdStpMetric o = {.as = TD_STP_AS_TYPES};
  const TdStpStream *s = n->nin ? td_stp_graph_stream(g, n->in[0]) : &n->out[0];
  td_stp_push_expr(L, td_stp_shape_count(g, s, 0));
  lua_setfield(L, -2, "elements");
  td_stp_push_expr(L, td_stp_metric_flops_of(g, n, o));
  lua_setfield(L, -2, "flops");
  td_stp_push_expr(L, td_stp_metric_traffic_of(g, n, o));
  lua_setfield(L, -2, "traffic");
  td_stp_push_expr(L, td_stp_metric_memory_of(g, n, o));
  lua_setfield(L, -2, "memory");
}

static void push_node(lua_State *L, TdArena *a, TdStpGraph *g, const TdStpNode *n) {
  lua_createtable(L, 0, 28);
  set_metrics(L, g, n);
  td_bind_set_string(L, "name", td_stp_graph_name(a, n));
  td_bind_set_string(L, "op", td_stp_ops[n->op].name);
  td_bind_set_integer(L, "id", n->uid + 1);
  td_bind_set_integer(L, "line", n->loc.line);
  lua_createtable(L, (int)n->nin, 0);
  for (size_t i = 0; i < n->nin; i++) {
    TdStpRef r = td_stp_graph_source(g, n->in[i]);
    int64_t at[] = {r.uid + 1, r.out + 1};
    push_integers(L, at, 2);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "ins");
  lua_createtable(L, (int)n->nout, 0);
  for (size_t i = 0; i < n->nout; i++) {
    push_stream(L, &n->out[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "outs");
  for (int k = 0; k < TD_STP_KEYS; k++)
    if (n->has >> k & 1) td_bind_set_integer(L, td_stp_key_name((TdStpKey)k), n->opt[k]);
  if (n->place) td_bind_set_string(L, "place", n->place);
  td_bind_set_integer(L, "lo", n->lo);
  td_bind_set_integer(L, "hi", n->hi);
  int64_t tile[] = {n->rows, n->cols};
  push_integers(L, tile, 2);
  lua_setfield(L, -2, "tile");
  push_integers(L, n->shape, n->nshape);
  lua_setfield(L, -2, "shape");
  push_integers(L, n->stride, n->nview ? n->nview : n->nshape);
  lua_setfield(L, -2, "stride");
  push_integers(L, n->view, n->nview);
  lua_setfield(L, -2, "view");
  td_bind_set_boolean(L, "has_ref", n->has_ref);
  td_bind_set_boolean(L, "has_valid", n->has_valid);
  td_bind_set_boolean(L, "is_empty_init", n->is_empty_init);
  set_tensor(L, "tensor", &n->tensor);
  set_tensor(L, "extra", &n->extra);
  set_selectors(L, n->sel);
  if (n->fn.name) td_bind_set_string(L, "fn", n->fn.prog ? "kernel" : td_stp_fns[n->fn.kind].name);
  if (n->fn.name) td_bind_set_integer(L, "factor", n->fn.n);
  if (!n->fn.prog) return;
  td_stp_push_kept(L, n->fn.prog);
  lua_setfield(L, -2, "kernel");
  td_bind_set_integer(L, "result", n->fn.result + 1);
  td_bind_set_boolean(L, "by_rows", td_stp_kernel_is_by_rows(&n->fn));
}

/* step.kernel_at(k, T1, .. Tn): the kernel at the sizes that these types of arguments give. */
int td_stp_l_kernel_at(lua_State *L) {
  const TdProg *p = td_bind_check_unit(L, 1);
  const TdType *type[TD_STP_KERNEL_SIZES + 8];
  size_t n = (size_t)lua_gettop(L) - 1;
  if (n > TD_STP_KERNEL_SIZES) td_bind_fail(L, "step-argument", "too many arguments");
  for (size_t i = 0; i < n; i++) type[i] = td_bind_test_type(L, (int)i + 2);
  TdDiag d = td_bind_diag(td_bind_arena(L));
  const TdProg *at = td_at_arguments(p, type, n, &d);
  if (!at) td_bind_raise(L, &d);
  lua_getiuservalue(L, 1, TD_UNIT_STORE);
  td_bind_push_unit(L, lua_gettop(L), at);
  return 1;
}

/* step.describe(g): {nodes, symbols, outputs}. */
int td_stp_l_describe(lua_State *L) {
  TdStpGraph *g = td_stp_check_program(L, 1);
  TdArena *a = td_bind_arena(L);
  lua_createtable(L, 0, 3);
  lua_createtable(L, (int)g->node.n, 0);
  for (size_t i = 0; i < g->node.n; i++) {
    push_node(L, a, g, g->node.at[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "nodes");
  lua_createtable(L, (int)g->symbol.n, 0);
  for (size_t i = 0; i < g->symbol.n; i++) {
    const TdStpSymbol *s = &g->symbol.at[i];
    lua_createtable(L, 0, 4);
    td_bind_set_string(L, "name", s->name);
    td_bind_set_integer(L, "node", s->of.uid + 1);
    td_bind_set_integer(L, "out", s->of.out + 1);
    td_bind_set_integer(L, "dim", s->dim);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "symbols");
  lua_createtable(L, (int)g->output.n, 0);
  for (size_t i = 0; i < g->output.n; i++) {
    TdStpRef r = td_stp_graph_source(g, g->output.at[i]);
    int64_t at[] = {r.uid + 1, r.out + 1};
    push_integers(L, at, 2);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "outputs");
  return 1;
}
