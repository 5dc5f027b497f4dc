/* stp_schedule.c - schedules of STeP graphs: the methods that they have besides those of all. */
#include "bind/step/stp.h"
#include "bind/program/memory.h"
#include "bind/program/unit.h"
#include "history/schedule.h"
#include "base/alarm.h"
#include "step/stp_kind.h"

enum { PROOF_SECONDS = 20 }; /* of the proof that a program is a function */

static const TdProg *meaning(void *ud, const TdStpFn *f, const TdType *elem) {
  return td_stp_meaning(ud, f, elem);
}

static bool function(void *ud, const TdProg *p, TdStpFn *f, TdDiag *d) {
  return td_stp_as_function(ud, p, f, d);
}

/* Whether both are the same by the verdict of tide.verify. */
static bool same(void *ud, TdArena *a, const TdProg *x, const TdProg *y, bool sums,
                 const char **why) {
  TdEvalOptions o = {0};
  TdBindTime time = {td_alarm_now(), PROOF_SECONDS};
  TdCheck c = td_bind_check_same(ud, a, x, y, NULL, o, time);
  TdLevel most = sums ? TD_LEVEL_ASSOCIATIVE : TD_LEVEL_STRICT;
  if (c.verdict == TD_EVAL_EQUAL && c.level <= most) return true;
  *why = c.verdict == TD_EVAL_EQUAL     ? "it adds in another order"
         : c.verdict == TD_EVAL_DIFFERS ? td_text_fmt(a, "%s differs, %s", c.element, c.shown)
                                        : c.diag.message;
  return false;
}

TdStpProver td_stp_prover(lua_State *L) {
  return (TdStpProver){L, meaning, same};
}

void *td_stp_push_tools(lua_State *L, const TdVersion *v) {
  struct Tools {
    TdStpTools tools;
    TdBindMemory own;
  } *t = lua_newuserdatauv(L, sizeof *t, 0);
  TdStpTools *x = &t->tools;
  *x = (TdStpTools){
      .calls = td_stp_calls(L, v->prog, false), .proof = td_stp_prover(L), .function = function};
  x->given = lua_getiuservalue(L, 1, TD_UNIT_STATE) == LUA_TTABLE;
  if (x->given) x->run = td_stp_take_run(L, lua_gettop(L), &t->own);
  return t;
}

void td_stp_set_settings(lua_State *L, int idx) {
  TdBindMemory own;
  int top = lua_gettop(L);
  td_stp_take_run(L, idx, &own);
  lua_settop(L, top);
  lua_pushvalue(L, idx);
  lua_setiuservalue(L, -2, TD_UNIT_STATE);
}

/* s:graph(): the graph as it is now. */
static int l_graph(lua_State *L) {
  return td_stp_push_copy(L, td_stp_check_program(L, 1), 1);
}

const luaL_Reg td_stp_methods[] = {{"run", td_stp_l_run},
                                   {"simulate", td_stp_l_simulate},
                                   {"traffic", td_stp_l_traffic},
                                   {"memory", td_stp_l_memory},
                                   {"flops", td_stp_l_flops},
                                   {"check", td_stp_l_check},
                                   {"dot", td_stp_l_dot},
                                   {"svg", td_stp_l_svg},
                                   {"html", td_stp_l_html},
                                   {"constants", td_stp_l_constants},
                                   {"design", td_stp_l_design},
                                   {"metric", td_stp_l_metric},
                                   {"intensity", td_stp_l_intensity},
                                   {NULL, NULL}};
const luaL_Reg td_stp_schedule_methods[] = {
    {"graph", l_graph}, {"verify", td_bind_verify_graph_schedule}, {NULL, NULL}};
