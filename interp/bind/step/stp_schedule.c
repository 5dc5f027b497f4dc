/* stp_schedule.c - schedules of STeP graphs: the methods that they have besides those of all. */
#include "bind/step/stp.h"
#include "bind/program/unit.h"
#include "history/schedule.h"
#include "step/stp_kind.h"

void *td_stp_push_tools(lua_State *L, const TdVersion *v) {
  TdStpTools *t = lua_newuserdatauv(L, sizeof *t, 0);
  t->calls = td_stp_calls(L, v->prog, false);
  return t;
}

/* s:graph(): the graph as it is now. */
static int l_graph(lua_State *L) {
  return td_stp_push_copy(L, td_stp_check_program(L, 1), 1);
}

const luaL_Reg td_stp_methods[] = {{"graph", l_graph},
                                   {"run", td_stp_l_run},
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
                                   {"verify", td_bind_verify_graph_schedule},
                                   {NULL, NULL}};
