/* rates.c - d:rates {device =}: the streams of a design with the rates of the estimate and the
 * depths that they ask for; d:fifos(), which stdlib's tide.fifos makes of these and of runs. */
#include "analysis/time/rates.h"
#include "bind/program/unit.h"

/* Sets a rate as {tokens =, cycles =}. */
static void set_rate(lua_State *L, const char *key, TdRate r) {
  if (!r.tokens) return;
  lua_createtable(L, 0, 2);
  td_bind_set_integer(L, "tokens", r.tokens);
  if (r.cycles % r.per == 0)
    td_bind_set_integer(L, "cycles", r.cycles / r.per);
  else
    td_bind_set_number(L, "cycles", (double)r.cycles / (double)r.per);
  lua_setfield(L, -2, key);
}

static void set_end(lua_State *L, TdArena *a, const TdTraffic *n, const char *key, uint32_t inst) {
  if (inst != TD_TRAFFIC_NONE) td_bind_set_string(L, key, td_traffic_inst_name(a, n, inst));
}

/* The name by which s:depth finds the stream that a channel is one of. */
static const char *line_name(TdArena *a, const TdTraffic *n, uint32_t chan) {
  const TdUnit *design = n->group.at[n->chan.at[chan].group].design;
  const char *name = n->line.at[n->chan.at[chan].line].sym->name;
  bool root = design == n->group.at[0].design;
  return root ? name : td_text_fmt(a, "%s:%s", design->sym->name, name);
}

static void push_edge(lua_State *L, TdArena *a, const TdTraffic *n, const TdRatesEdge *e) {
  const TdLine *line = &n->line.at[n->chan.at[e->chan].line];
  lua_createtable(L, 0, 9);
  td_bind_set_string(L, "name", td_traffic_chan_name(a, n, e->chan));
  td_bind_set_string(L, "stream", line_name(a, n, e->chan));
  td_bind_set_boolean(L, "block", line->type->block);
  set_end(L, a, n, "from", e->from);
  set_end(L, a, n, "to", e->to);
  if (e->volume >= 0) td_bind_set_integer(L, "tokens", e->volume);
  if (e->depth) td_bind_set_integer(L, "depth", e->depth);
  set_rate(L, "put", e->put);
  set_rate(L, "get", e->get);
}

/* The design, or what the schedule at slot 1 has made of its kernel; raises if it is none. */
static const TdProg *check_design(lua_State *L) {
  const TdProg *p = td_bind_test_schedule(L, 1);
  if (!p) p = td_bind_check_unit(L, 1);
  if (td_prog_root(p)->kind != TD_UNIT_DESIGN)
    td_bind_fail(L, "argument", "a kernel has no streams of its own");
  return p;
}

int td_bind_rates(lua_State *L) {
  static const char *const options[] = {"device", NULL};
  lua_settop(L, 2);
  const TdProg *p = check_design(L);
  TdArena *a = td_bind_work(L, TD_WORK_ESTIMATE);
  TdDiag d = td_bind_diag(a);
  TdAsk q = {td_bind_enter(L)->affine, a, p, td_prog_root(p)};
  TdRates r;
  int u280 = td_target_find("u280")->id;
  bool given = td_bind_check_options(L, 2, options);
  int at = given ? td_bind_opt_word(L, 2, "device", td_target_names, u280) : u280;
  TdTraffic *n = td_traffic_of(a, p, &d);
  if (n && n->open) td_diag_set(&d, TD_UNSUPPORTED, "data", (TdLoc){0}, "%s", n->open);
  if (!n || n->open || !td_rates_of(&q, n, td_target_find(td_target_names[at]), &r, &d))
    return td_bind_raise(L, &d);
  lua_createtable(L, (int)r.edge.n, 1);
  for (size_t i = 0; i < r.edge.n; i++) {
    push_edge(L, a, n, &r.edge.at[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  td_bind_set_boolean(L, "feedback", r.feedback);
  return 1;
}

int td_bind_fifos(lua_State *L) {
  static const char *const options[] = {"args", "device", NULL};
  lua_settop(L, 2);
  check_design(L);
  if (td_bind_check_options(L, 2, options)) td_bind_opt_word(L, 2, "device", td_target_names, 0);
  td_stdlib_push_module(L, "tide.fifos");
  lua_getfield(L, -1, "report");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_pushboolean(L, td_bind_test_schedule(L, 1) != NULL);
  lua_call(L, 3, 1);
  return 1;
}
