/* stp.c - graphs and streams of STeP in Lua: step.graph, fields of streams, methods. */
#include <string.h>

#include "bind/step/stp.h"
#include "bind/program/unit.h"
#include "history/schedule.h"
#include "step/stp_arrival.h"
#include "step/stp_rewrite.h"
#include "step/text/stp_print.h"

static const char building_key, module_key;

/* ---- graphs ---- */

static int l_graph_gc(lua_State *L) {
  TdStpBox *b = lua_touserdata(L, 1);
  td_arena_free(b->arena);
  b->arena = NULL;
  return 0;
}

static TdStpBox *check_graph(lua_State *L, int idx) {
  TdStpBox *b = luaL_testudata(L, idx, TD_CLASS_STP_GRAPH);
  if (!b) td_bind_expect(L, idx, "a STeP graph");
  return b;
}

TdStpGraph *td_stp_test_program(lua_State *L, int idx) {
  const TdSchedule *s = td_bind_test_graph_schedule(L, idx);
  if (s) return (TdStpGraph *)(uintptr_t)s->now->prog;
  TdStpBox *b = luaL_testudata(L, idx, TD_CLASS_STP_GRAPH);
  if (b && !b->done) td_bind_fail(L, "step-argument", "this graph is still being built");
  return b ? b->graph : NULL;
}

TdStpGraph *td_stp_check_program(lua_State *L, int idx) {
  TdStpGraph *g = td_stp_test_program(L, idx);
  if (!g) td_bind_expect(L, idx, "a STeP graph, or a schedule of one");
  return g;
}

/* Pushes an empty graph. */
static TdStpBox *push_graph(lua_State *L) {
  TdBind *b = td_bind_enter(L);
  TdStpBox *box = lua_newuserdatauv(L, sizeof *box, 1);
  memset(box, 0, sizeof *box);
  luaL_setmetatable(L, TD_CLASS_STP_GRAPH);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  box->arena = td_arena_new(b->ctx);
  box->graph = td_stp_graph_new(box->arena, b->session, td_stp_exprs(L));
  return box;
}

int td_stp_push_copy(lua_State *L, const TdStpGraph *g, int keeper) {
  keeper = lua_absindex(L, keeper);
  TdStpBox *b = push_graph(L);
  b->graph = td_stp_graph_copy(b->arena, g);
  b->done = true;
  lua_getiuservalue(L, -1, 1);
  lua_pushvalue(L, keeper);
  lua_rawseti(L, -2, 1);
  lua_pop(L, 1);
  td_bind_account(L);
  return 1;
}

TdStpBox *td_stp_push_building(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &building_key);
  TdStpBox *b = luaL_testudata(L, -1, TD_CLASS_STP_GRAPH);
  if (!b)
    td_bind_refuse(L, TD_USAGE, "step-outside", "local g = step.graph(function() ... end)",
                   "operators make nodes inside of step.graph only");
  return b;
}

/* Adds the streams from slot `first` on as outputs. */
static void take_outputs(lua_State *L, TdStpBox *b, int first) {
  for (int i = first; i <= lua_gettop(L); i++) {
    TdStpStreamBox *s = td_stp_test_stream(L, i);
    if (!s || s->box != b)
      td_bind_fail(L, "step-output", "the function of step.graph returns its streams, not %s",
                   td_bind_words(L, i));
    td_vec_push(b->arena, &b->graph->output, s->ref);
  }
}

/* step.graph(build) */
static int l_graph(lua_State *L) {
  if (!lua_isfunction(L, 1))
    td_bind_fail(L, "argument", "step.graph takes a function that makes streams, not %s",
                 td_bind_words(L, 1));
  lua_settop(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &building_key);
  if (!lua_isnil(L, -1)) td_bind_fail(L, "step-nested", "a graph is not built inside of another");
  lua_settop(L, 1);
  TdStpBox *b = push_graph(L);
  lua_pushvalue(L, 2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &building_key);
  lua_pushvalue(L, 1);
  int status = lua_pcall(L, 0, LUA_MULTRET, 0);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &building_key);
  if (status != LUA_OK) return lua_error(L);
  take_outputs(L, b, 3);
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  if (!td_stp_graph_finish(b->graph, &d)) td_bind_raise(L, &d);
  b->done = true;
  lua_pushvalue(L, 2);
  td_bind_account(L);
  return 1;
}

static int l_graph_tostring(lua_State *L) {
  TdStpBox *b = check_graph(L, 1);
  TdText t = td_text_new(td_bind_arena(L));
  td_stp_print(&t, b->graph);
  lua_pushstring(L, td_text_str(&t));
  return 1;
}

/* Pushes the list of streams that a graph returns. */
static int push_outputs(lua_State *L, const TdStpBox *b) {
  lua_createtable(L, (int)b->graph->output.n, 0);
  for (size_t i = 0; i < b->graph->output.n; i++) {
    td_stp_push_stream(L, 1, b->graph->output.at[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static bool reads_tensor(const TdStpNode *n) {
  return n->op == TD_STP_LOAD || n->op == TD_STP_LOAD_AT || n->op == TD_STP_VALUES;
}

/* Whether a node before the i-th reads the same tensor. */
static bool is_read_before(const TdStpGraph *g, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (reads_tensor(g->node.at[k]) && g->node.at[k]->tensor.data == g->node.at[i]->tensor.data)
      return true;
  return false;
}

/* Pushes the tensors that a graph reads, each once, in order of calls; of loads without data their
 * types. */
static int push_inputs(lua_State *L, const TdStpBox *b) {
  const TdStpGraph *g = b->graph;
  lua_Integer count = 0;
  lua_newtable(L);
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpTensor *t = &g->node.at[i]->tensor;
    if (!reads_tensor(g->node.at[i]) || (t->data && is_read_before(g, i))) continue;
    if (t->data)
      td_stp_push_datum(L, 1, (TdStpDatum){.tensor = t->data});
    else
      td_bind_push_type(L, t->type);
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

/* Pushes the names of all nodes, in order of calls. */
static int push_nodes(lua_State *L, const TdStpBox *b) {
  TdArena *a = td_bind_arena(L);
  lua_createtable(L, (int)b->graph->node.n, 0);
  for (size_t i = 0; i < b->graph->node.n; i++) {
    lua_pushstring(L, td_stp_graph_name(a, b->graph->node.at[i]));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static int l_graph_index(lua_State *L) {
  TdStpBox *b = check_graph(L, 1);
  const char *key = luaL_checkstring(L, 2);
  if (strcmp(key, "inputs") == 0) return push_inputs(L, b);
  if (strcmp(key, "outputs") == 0) return push_outputs(L, b);
  if (strcmp(key, "nodes") == 0) return push_nodes(L, b);
  return td_bind_method(L, TD_CLASS_STP_GRAPH, key);
}

/* g:at {B = 64}: the graph at these sizes. */
static int l_graph_at(lua_State *L) {
  TdStpBox *b = check_graph(L, 1);
  if (!b->done) td_bind_fail(L, "step-argument", "this graph is still being built");
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  size_t n;
  const TdSize *list = td_bind_read_sizes(L, a, 2, &n);
  TdStpRewrite r = {.g = b->graph, .arena = a, .diag = &d};
  r.store = td_store_inner(a, b->graph->session);
  const TdStpGraph *g = td_stp_edit_at_sizes(&r, list, n);
  if (!g) td_bind_raise(L, &d);
  return td_stp_push_copy(L, g, 1);
}

/* g:check(): true, then a list of what depends on arrival. What a graph is refused for was found
 * when it was made. */
int td_stp_l_check(lua_State *L) {
  TdArena *a = td_bind_arena(L);
  TdStpArrivals found = td_stp_arrival_of(a, td_stp_check_program(L, 1));
  lua_pushboolean(L, 1);
  lua_createtable(L, (int)found.at.n, 0);
  for (size_t i = 0; i < found.at.n; i++) {
    const TdStpArrival *x = &found.at.at[i];
    lua_createtable(L, 0, 2);
    td_bind_set_string(L, "node", td_stp_graph_name(a, x->source));
    td_bind_set_string(L, "shows", td_stp_graph_name(a, x->shows));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 2;
}

/* ---- streams ---- */

TdStpStreamBox *td_stp_test_stream(lua_State *L, int idx) {
  return luaL_testudata(L, idx, TD_CLASS_STP_STREAM);
}

void td_stp_push_stream(lua_State *L, int graph, TdStpRef r) {
  graph = lua_absindex(L, graph);
  TdStpStreamBox *s = lua_newuserdatauv(L, sizeof *s, 1);
  *s = (TdStpStreamBox){check_graph(L, graph), r};
  lua_pushvalue(L, graph);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, TD_CLASS_STP_STREAM);
}

/* Pushes the shape, outermost dimension first. */
static int push_shape(lua_State *L, const TdStpStream *s) {
  lua_createtable(L, s->ndim, 0);
  for (int k = s->ndim; k-- > 0;) {
    td_stp_push_expr(L, s->dim[k].extent);
    lua_rawseti(L, -2, s->ndim - k);
  }
  return 1;
}

static int l_stream_index(lua_State *L) {
  TdStpStreamBox *s = luaL_checkudata(L, 1, TD_CLASS_STP_STREAM);
  const char *key = luaL_checkstring(L, 2);
  const TdStpStream *x = td_stp_graph_stream(s->box->graph, s->ref);
  if (strcmp(key, "shape") == 0) return push_shape(L, x);
  TdText t = td_text_new(td_bind_arena(L));
  if (strcmp(key, "rank") == 0) {
    lua_pushinteger(L, x->ndim - 1);
  } else if (strcmp(key, "type") == 0) {
    td_stp_shape_print_type(&t, x->type);
    lua_pushstring(L, td_text_str(&t));
  } else if (strcmp(key, "name") == 0) {
    const TdStpNode *n = td_stp_graph_node(s->box->graph, s->ref.uid);
    lua_pushstring(L, td_stp_graph_name(t.arena, n));
  } else {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &module_key);
    if (lua_getfield(L, -1, key) == LUA_TNIL) return td_bind_method(L, TD_CLASS_STP_STREAM, key);
  }
  return 1;
}

static int l_stream_tostring(lua_State *L) {
  TdStpStreamBox *s = luaL_checkudata(L, 1, TD_CLASS_STP_STREAM);
  lua_pushstring(L, td_stp_shape_str(td_bind_arena(L), td_stp_graph_stream(s->box->graph, s->ref)));
  return 1;
}

/* ---- functions ---- */

static int l_fn_tostring(lua_State *L) {
  const TdStpFn *f = luaL_checkudata(L, 1, TD_CLASS_STP_FN);
  lua_pushstring(L, f->name);
  return 1;
}

static void push_fn(lua_State *L, TdStpFnKind kind, int64_t n) {
  TdBind *b = td_bind_enter(L);
  const char *name = kind == TD_STP_FNS ? "empty" : td_stp_fns[kind].name;
  if (n)
    lua_pushfstring(L, "fn.%s(%I)", name, (LUAI_UACINT)n);
  else
    lua_pushfstring(L, "fn.%s", name);
  name = td_names_str(b->session->names, lua_tostring(L, -1));
  lua_pop(L, 1);
  TdStpFn *f = lua_newuserdatauv(L, sizeof *f, 0);
  *f = (TdStpFn){.kind = kind, .n = n, .name = name};
  luaL_setmetatable(L, TD_CLASS_STP_FN);
}

/* fn.addresses(n) and the others with a number. */
static int l_numbered(lua_State *L) {
  TdStpFnKind kind = (TdStpFnKind)lua_tointeger(L, lua_upvalueindex(1));
  bool whole = lua_type(L, 1) == LUA_TNUMBER && lua_isinteger(L, 1);
  if (!whole || lua_tointeger(L, 1) < 1)
    td_bind_fail(L, "step-argument", "fn.%s takes an integer of at least 1, not %s",
                 td_stp_fns[kind].name, whole ? lua_tostring(L, 1) : td_bind_words(L, 1));
  push_fn(L, kind, lua_tointeger(L, 1));
  return 1;
}

/* Sets the table of functions in the module on top. */
static void set_functions(lua_State *L) {
  lua_newtable(L);
  for (int k = 0; k < TD_STP_FN_KERNEL; k++) {
    if (k == TD_STP_FN_ADDRESSES || k == TD_STP_FN_CACHE_ADDRESSES || k == TD_STP_FN_CACHE_SLOT ||
        k == TD_STP_FN_ONE_HOT) {
      lua_pushinteger(L, k);
      lua_pushcclosure(L, l_numbered, 1);
    } else {
      push_fn(L, (TdStpFnKind)k, 0);
    }
    lua_setfield(L, -2, td_stp_fns[k].name);
  }
  push_fn(L, TD_STP_FNS, 0);
  lua_setfield(L, -2, "empty");
  lua_setfield(L, -2, "fn");
}

/* ---- help ---- */

/* The rows of the operators, for docs and completion. */
static int l_operators(lua_State *L) {
  lua_createtable(L, TD_STP_OPS, 0);
  for (int k = 0; k < TD_STP_OPS; k++) {
    const TdStpOpRow *o = &td_stp_ops[k];
    lua_createtable(L, 0, 9);
    td_bind_set_string(L, "name", o->name);
    td_bind_set_string(L, "group", o->group);
    td_bind_set_string(L, "args", o->args);
    td_bind_set_string(L, "options", o->options);
    td_bind_set_string(L, "shape", o->shape);
    td_bind_set_string(L, "meaning", o->meaning);
    td_bind_set_string(L, "cycles", o->cycles);
    td_bind_set_string(L, "bytes", o->bytes);
    td_bind_set_string(L, "help", o->help);
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

/* The same of the functions. */
static int l_functions(lua_State *L) {
  lua_createtable(L, TD_STP_FN_KERNEL, 0);
  for (int k = 0; k < TD_STP_FN_KERNEL; k++) {
    const TdStpFnRow *f = &td_stp_fns[k];
    lua_createtable(L, 0, 5);
    td_bind_set_string(L, "name", f->name);
    td_bind_set_integer(L, "parts", f->parts);
    td_bind_set_string(L, "place", f->place);
    td_bind_set_string(L, "flops", f->flops);
    td_bind_set_string(L, "help", f->help);
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

bool td_stp_show_help(TdText *out, const char *name) {
  if (strncmp(name, "step.", 5) != 0) return false;
  const char *fn = strncmp(name, "step.fn.", 8) == 0 ? name + 8 : NULL;
  for (int k = 0; fn && k < TD_STP_FN_KERNEL; k++) {
    const TdStpFnRow *f = &td_stp_fns[k];
    if (strcmp(f->name, fn) != 0) continue;
    td_text_putf(out, "step.fn.%s\n  %s\n  FLOPs: %s\n", f->name, f->help, f->flops);
    return true;
  }
  for (int k = 0; !fn && k < TD_STP_OPS; k++) {
    const TdStpOpRow *o = &td_stp_ops[k];
    if (strcmp(o->name, name + 5) != 0) continue;
    td_text_putf(out, "step.%s(%s)\n  %s\n  %s\n", o->name, o->args, o->help, o->meaning);
    if (*o->options) td_text_putf(out, "  options: %s depth:int name:word\n", o->options);
    td_text_putf(out, "  shape:   %s\n  cycles:  %s\n  bytes:   %s\n",
                 *o->shape ? o->shape : "as it is", o->cycles, o->bytes);
    return true;
  }
  return false;
}

static void open_classes(lua_State *L) {
  static const luaL_Reg graph_meta[] = {{"__gc", l_graph_gc},
                                        {"__index", l_graph_index},
                                        {"__tostring", l_graph_tostring},
                                        {NULL, NULL}};
  static const luaL_Reg stream_meta[] = {
      {"__index", l_stream_index}, {"__tostring", l_stream_tostring}, {NULL, NULL}};
  static const luaL_Reg fn_meta[] = {{"__tostring", l_fn_tostring}, {NULL, NULL}};
  static const luaL_Reg none[] = {{NULL, NULL}};
  static const luaL_Reg own_methods[] = {{"at", l_graph_at}, {NULL, NULL}};
  td_bind_class(L, TD_CLASS_STP_GRAPH, graph_meta, td_stp_methods);
  lua_getfield(L, -1, "methods");
  luaL_setfuncs(L, own_methods, 0);
  lua_pop(L, 1);
  td_bind_class_fields(L, "inputs outputs nodes");
  td_bind_class(L, TD_CLASS_STP_STREAM, stream_meta, none);
  td_bind_class_fields(L, "shape type rank name");
  td_bind_class(L, TD_CLASS_STP_FN, fn_meta, none);
  lua_pop(L, 3);
  td_stp_open_expr(L);
}

static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {{"graph", l_graph},
                                       {"operators", l_operators},
                                       {"functions", l_functions},
                                       {"define", td_stp_l_define},
                                       {"timing", td_stp_l_timing},
                                       {"describe", td_stp_l_describe},
                                       {"kernel_at", td_stp_l_kernel_at},
                                       {NULL, NULL}};
  open_classes(L);
  luaL_newlib(L, functions);
  td_stp_set_operators(L);
  set_functions(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &module_key);
  return 1;
}

void td_bind_open_stp(lua_State *L) {
  td_bind_set_module(L, "tide.step.core", l_load);
}
