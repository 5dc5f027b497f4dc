/* stp.h - what the files about STeP share. */
#ifndef TD_BIND_PROGRAM_STP_H
#define TD_BIND_PROGRAM_STP_H

#include "bind/bind.h"
#include "step/stp_prove.h"
#include "step/stp_run.h"
#include "step/text/stp_plan.h"

#define TD_CLASS_STP_GRAPH "tide.step.graph"
#define TD_CLASS_STP_STREAM "tide.step.stream"
#define TD_CLASS_STP_FN "tide.step.fn"
#define TD_CLASS_STP_EXPR "tide.step.expr"

/* A graph; its user value 1 keeps the tensors and kernels that it has. */
typedef struct TdStpBox {
  TdArena *arena;
  TdStpGraph *graph;
  TdMap sites; /* from line and operator to its calls */
  uint32_t nsite;
  bool done; /* built */
} TdStpBox;

/* A stream; its user value 1 is the graph. */
typedef struct TdStpStreamBox {
  TdStpBox *box;
  TdStpRef ref;
} TdStpStreamBox;

/* stp.c */
/* The finished graph at idx, itself or as a schedule has it now; NULL, or raises. */
TdStpGraph *td_stp_test_program(lua_State *L, int idx);
TdStpGraph *td_stp_check_program(lua_State *L, int idx);
/* Pushes a graph that is a copy of g; the value at `keeper` holds its tensors. */
int td_stp_push_copy(lua_State *L, const TdStpGraph *g, int keeper);
/* The graph under way, pushed; raises where there is none. */
TdStpBox *td_stp_push_building(lua_State *L);
TdStpStreamBox *td_stp_test_stream(lua_State *L, int idx);
int td_stp_l_check(lua_State *L);
/* Pushes a stream of the graph at idx. */
void td_stp_push_stream(lua_State *L, int graph, TdStpRef r);

/* Writes the row of an operator or function, "step.flatten" or "step.fn.matmul"; false: it is none.
 */
bool td_stp_show_help(TdText *out, const char *name);

/* stp_site.c: the call of operator `name` that runs: its place, site and name. */
typedef struct TdStpSite {
  TdLoc loc;
  uint32_t id;
  const char *name; /* NULL: the text binds it to none */
} TdStpSite;
TdStpSite td_stp_site(lua_State *L, TdStpBox *b, const char *name);

/* stp_op.c: a function for each operator, set in the table on top. */
void td_stp_set_operators(lua_State *L);

/* stp_expr.c */
TdStpExprs *td_stp_exprs(lua_State *L);
void td_stp_push_expr(lua_State *L, const TdStpExpr *e);
/* The number or expression at idx, or NULL. */
const TdStpExpr *td_stp_test_expr(lua_State *L, int idx);
void td_stp_open_expr(lua_State *L);

/* stp_schedule.c: methods of graphs and of schedules of them, and of schedules besides; what steps
 * from version v of the schedule at slot 1 ask, pushed. */
struct TdVersion;
extern const luaL_Reg td_stp_methods[], td_stp_schedule_methods[];
void *td_stp_push_tools(lua_State *L, const struct TdVersion *v);
/* Proofs that functions on tiles are one function. */
TdStpProver td_stp_prover(lua_State *L);
/* Keeps the table at idx as the settings of the runs of the schedule on top. */
void td_stp_set_settings(lua_State *L, int idx);

/* stp_run.c: the options of a run, a table at idx or nothing; a memory of the user's stays on the
 * stack. */
struct TdBindMemory;
TdStpOptions td_stp_take_run(lua_State *L, int idx, struct TdBindMemory *own);
/* g:run, g:simulate, g:traffic, g:memory, g:flops. */
int td_stp_l_run(lua_State *L);
int td_stp_l_simulate(lua_State *L);
int td_stp_l_traffic(lua_State *L);
int td_stp_l_memory(lua_State *L);
int td_stp_l_flops(lua_State *L);
/* stp_kernel.c: the kernel, schedule or design at idx as a function; pushes the unit that it is. */
TdStpFn td_stp_take_kernel(lua_State *L, int idx);
/* The kernels that runs call, kept as long as L lives. */
typedef struct TdStpKernels {
  lua_State *L;
  TdArena *arena;
  TdMap prog, cpu, cycles;
} TdStpKernels;
/* The cycles of node n's kernel at sizes, for TdStpCalls. */
int64_t td_stp_kernel_cycles(void *kernels, const TdStpNode *n, const TdStpSizes *s, TdDiag *d);
/* Keeps the unit at idx for as long as L lives. */
void td_stp_keep_unit(lua_State *L, int idx);
/* A program as a function; false with d filled. */
bool td_stp_as_function(lua_State *L, const TdProg *p, TdStpFn *f, TdDiag *d);
/* The kernel that defines a function of step.fn, or the function's own; NULL: there is none. */
const TdProg *td_stp_meaning(lua_State *L, const TdStpFn *f, const TdType *elem);
/* Pushes the unit of a kernel that a graph has. */
void td_stp_push_kept(lua_State *L, const TdProg *p);
/* timing(f): f(unit, device, types) is the cycles of a run with a clock. */
int td_stp_l_timing(lua_State *L);

/* stp_describe.c: step.describe(g), a graph as data. */
int td_stp_l_describe(lua_State *L);
int td_stp_l_kernel_at(lua_State *L);
/* g:design(): stdlib makes it. */
int td_stp_l_design(lua_State *L);
int td_stp_l_metric(lua_State *L);
int td_stp_l_intensity(lua_State *L);

/* stp_draw.c: g:dot, g:svg, g:html, g:constants; pushes what a graph or schedule has: the tensor
 * that it was given, or a copy of one that a step made. */
void td_stp_push_datum(lua_State *L, int graph, TdStpDatum x);
int td_stp_l_dot(lua_State *L);
int td_stp_l_svg(lua_State *L);
int td_stp_l_html(lua_State *L);
int td_stp_l_constants(lua_State *L);
/* How runs of g call kernels: those it needs with or without data; lives as long as L. */
TdStpCalls td_stp_calls(lua_State *L, const TdStpGraph *g, bool data);
/* define(f): f(name, T) is the kernel of step.fn[name] on elements of type T. */
int td_stp_l_define(lua_State *L);

#endif
