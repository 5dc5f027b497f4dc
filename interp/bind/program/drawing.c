/* drawing.c - a design as data, its tasks and what passes between them as they are declared,
 * which stdlib's tide.tool.drawing draws. */
#include <string.h>

#include "lower/lower.h"
#include "analysis/order/effects.h"
#include "analysis/net/graph.h"
#include "bind/program/view.h"

/* An index expression as it is written: a bare number, or over sizes. */
static const char *index_text(TdArena *a, const TdExpr *e) {
  int64_t v;
  return td_expr_is_const(e, &v) ? td_text_fmt(a, "%lld", (long long)v) : td_print_expr_str(a, e);
}

/* Pushes "[P][Q]", the extents as they are written. */
static void push_extents(lua_State *L, TdArena *a, const TdExpr *const *dim, int rank) {
  TdText t = td_text_new(a);
  for (int i = 0; i < rank; i++) td_text_putf(&t, "[%s]", index_text(a, dim[i]));
  lua_pushlstring(L, td_text_str(&t), t.n);
}

/* Pushes {name, argument, layout, read, write} for each parameter of a task. */
static void push_bindings(lua_State *L, const TdRun *r, const TdEffect *effect, size_t n) {
  lua_createtable(L, (int)r->nbind, 0);
  for (size_t i = 0; i < r->nbind; i++) {
    const TdEffect *e = td_effects_find(effect, n, r->bind[i].param);
    lua_createtable(L, 0, 5);
    td_bind_set_string(L, "name", r->bind[i].param->name);
    td_bind_set_string(L, "argument", r->bind[i].arg->name);
    if (r->bind[i].layout) td_bind_set_string(L, "layout", r->bind[i].layout);
    lua_pushboolean(L, e && e->read);
    lua_setfield(L, -2, "read");
    lua_pushboolean(L, e && e->write);
    lua_setfield(L, -2, "write");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* Pushes the names of the streams that a task puts to, or gets from. */
static void push_ends(lua_State *L, const TdEffect *effect, size_t n, TdCellKind kind) {
  lua_newtable(L);
  for (size_t i = 0, k = 0; i < n; i++) {
    if (effect[i].kind != kind || effect[i].inside) continue;
    lua_pushstring(L, effect[i].sym->name);
    lua_rawseti(L, -2, (lua_Integer)++k);
  }
}

/* Pushes {name, map, bindings, puts, gets} of a task. */
static void push_task(lua_State *L, TdAsk q, const TdRun *r) {
  const TdEffect *effect = NULL;
  q.unit = td_prog_unit(q.prog, r->unit);
  size_t n = q.unit->body ? td_effects_of(&q, q.unit->body, &effect) : 0;
  lua_createtable(L, 0, 5);
  td_bind_set_string(L, "name", r->sym->name);
  push_extents(L, q.arena, r->map, r->rank);
  lua_setfield(L, -2, "map");
  push_bindings(L, r, effect, n);
  lua_setfield(L, -2, "bindings");
  push_ends(L, effect, n, TD_CELL_PUT);
  lua_setfield(L, -2, "puts");
  push_ends(L, effect, n, TD_CELL_GET);
  lua_setfield(L, -2, "gets");
}

/* Sets the name of the task that a node is an instance of, unless it is outside. */
static void set_task(lua_State *L, const TdGraph *g, const char *key, uint32_t node) {
  if (node != TD_TRAFFIC_NONE)
    td_bind_set_string(L, key, g->design->run[g->node.at[node].run].sym->name);
}

/* Whether edge i of g has the stream and the tasks of an edge before it. */
static bool is_repeated(const TdGraph *g, size_t i) {
  const TdGraphEdge *e = &g->edge.at[i];
  for (size_t k = i; k-- > 0;) {
    const TdGraphEdge *x = &g->edge.at[k];
    if (g->net->chan.at[x->chan].line != g->net->chan.at[e->chan].line) return false;
    bool from = x->from == e->from || (x->from != TD_TRAFFIC_NONE && e->from != TD_TRAFFIC_NONE &&
                                       g->node.at[x->from].run == g->node.at[e->from].run);
    bool to = x->to == e->to || (x->to != TD_TRAFFIC_NONE && e->to != TD_TRAFFIC_NONE &&
                                 g->node.at[x->to].run == g->node.at[e->to].run);
    if (from && to) return true;
  }
  return false;
}

/* Pushes {from, to} for each two tasks of which instances are joined by a stream of this name. */
static void push_ways(lua_State *L, const TdGraph *g, const char *name) {
  lua_newtable(L);
  for (size_t i = 0, n = 0; i < g->edge.n; i++) {
    const TdGraphEdge *e = &g->edge.at[i];
    bool here = strcmp(g->net->line.at[g->net->chan.at[e->chan].line].sym->name, name) == 0;
    if (!here || is_repeated(g, i)) continue;
    lua_createtable(L, 0, 2);
    set_task(L, g, "from", e->from);
    set_task(L, g, "to", e->to);
    lua_rawseti(L, -2, (lua_Integer)++n);
  }
}

/* Pushes {name, type, extents, depth, ways} of a stream; ways where the graph (NULL: none) tells
 * them. */
static void push_stream(lua_State *L, TdArena *a, const TdStream *s, const TdGraph *g) {
  lua_createtable(L, 0, 5);
  td_bind_set_string(L, "name", s->sym->name);
  td_bind_set_string(L, "type", td_type_str(a, s->type->elem));
  push_extents(L, a, s->type->dim, s->type->rank);
  lua_setfield(L, -2, "extents");
  td_bind_set_string(L, "depth", index_text(a, s->depth));
  if (!g) return;
  push_ways(L, g, s->sym->name);
  lua_setfield(L, -2, "ways");
}

/* The graph of the design that is q's root, its collectives explicit; NULL where it has none. */
static const TdGraph *graph_of(TdAsk q) {
  TdGraph *g = TD_NEW(q.arena, TdGraph);
  TdDiag quiet = {.arena = q.arena};
  q.prog = td_lower_collectives(q.arena, q.prog);
  q.unit = td_prog_root(q.prog);
  return td_graph_of(&q, g, &quiet) ? g : NULL;
}

/* Pushes {name, tasks, streams, arguments, ntask, nstream} of a design; of tasks and streams the
 * first `most`. */
static void push_design(lua_State *L, const TdAsk *q, size_t most) {
  const TdUnit *u = q->unit;
  const TdGraph *g = u->nstream ? graph_of(*q) : NULL;
  lua_createtable(L, 0, 6);
  td_bind_set_integer(L, "ntask", (int64_t)u->nrun);
  td_bind_set_integer(L, "nstream", (int64_t)u->nstream);
  td_bind_set_string(L, "name", u->sym->name);
  lua_createtable(L, (int)u->nrun, 0);
  for (size_t i = 0; i < u->nrun && i < most; i++) {
    push_task(L, *q, &u->run[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "tasks");
  lua_createtable(L, (int)u->nstream, 0);
  for (size_t i = 0; i < u->nstream && i < most; i++) {
    push_stream(L, q->arena, &u->stream[i], g);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "streams");
  lua_createtable(L, (int)u->nparam, 0);
  for (size_t i = 0; i < u->nparam; i++) {
    lua_createtable(L, 0, 2);
    td_bind_set_string(L, "name", u->param[i].sym->name);
    td_bind_set_string(L, "type", td_type_str(q->arena, u->param[i].type));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "arguments");
}

void td_view_push_design(lua_State *L, const TdProg *p, size_t most) {
  TdArena *a = td_bind_arena(L);
  TdAsk q = {td_bind_enter(L)->affine, a, p, td_prog_root(p)};
  if (q.unit->kind == TD_UNIT_DESIGN)
    push_design(L, &q, most);
  else
    lua_pushnil(L);
  lua_closeslot(L, -2);
  lua_remove(L, -2);
}
