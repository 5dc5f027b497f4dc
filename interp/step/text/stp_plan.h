/* stp_plan.h - how a graph is printed: its loops, the variable of each node, and what an input is
 * called where it is read. */
#ifndef TD_STP_PLAN_H
#define TD_STP_PLAN_H

#include "step/text/stp_fold.h"

/* A node of the text: the nodes of a graph that it stands for. */
typedef struct TdStpLine {
  const TdStpItem *item;
  const TdStpItem *loop[TD_STP_NEST]; /* around it, outermost first */
  size_t nloop, total;                /* total: nodes that it stands for */
  const char *var;
  bool table; /* var is a list of streams: they are read outside of their iteration */
} TdStpLine;

/* An argument of the printed chunk: a tensor, or a kernel. */
typedef struct TdStpDatum {
  const TdTensor *tensor;
  const TdProg *prog;
} TdStpDatum;

typedef struct TdStpPlan {
  TdArena *arena;
  const TdStpGraph *g;
  TdStpItem *item;
  size_t nitem;
  TD_VEC(TdStpLine) line;
  size_t *place;             /* by uid: in the order */
  uint32_t *line_of, *which; /* by place: the line, and which of its nodes */
  TD_VEC(TdStpDatum) data;   /* the chunk's arguments */
  TD_VEC(const char *) size; /* sizes without values, in types of tensors */
  bool fields;               /* variables are fields of a table: more than Lua has locals */
} TdStpPlan;

/* The plan of a finished graph, owned by a. */
TdStpPlan td_stp_plan_make(TdArena *a, const TdStpGraph *g);
/* The node that line l stands for in iteration k of all, counted through. */
const TdStpNode *td_stp_plan_node(const TdStpPlan *p, const TdStpLine *l, size_t k);
/* The line of an item. */
const TdStpLine *td_stp_plan_line(const TdStpPlan *p, const TdStpItem *item);
/* The loop variable of nest level k. */
const char *td_stp_plan_counter(size_t k);

/* The variable of a line, "n.tile", without an index. */
void td_stp_plan_put_variable(TdText *out, const TdStpPlan *p, const TdStpLine *l, bool second);
/* Stream r, as line `at` reads it where it stands for one node; and inputs first .. first + n - 1
 * of the nodes of a line, as a list. */
void td_stp_plan_put_ref(TdText *out, const TdStpPlan *p, TdStpRef r);
void td_stp_plan_put_input(TdText *out, const TdStpPlan *p, const TdStpLine *at, size_t input);
void td_stp_plan_put_inputs(TdText *out, const TdStpPlan *p, const TdStpLine *at, size_t first,
                            size_t n);
/* A list of streams outside of all loops. */
void td_stp_plan_put_list(TdText *out, const TdStpPlan *p, const TdStpRef *r, size_t n);
/* The index of a line's own nodes, "[i]"; values[k] of its node k, 0-based, as an index that begins
 * at 1: an expression of the loop variables, or an entry of a list. */
void td_stp_plan_put_own(TdText *out, const TdStpPlan *p, const TdStpLine *l);
void td_stp_plan_put_index(TdText *out, const TdStpPlan *p, const TdStpLine *l,
                           const int64_t *value);
/* The number of a tensor, or a program, among the chunk's arguments. */
size_t td_stp_plan_data(const TdStpPlan *p, const void *of);
/* Whether tensors print as they are: zeros, and small ones of integers outside of loops. */
bool td_stp_plan_is_zero(const TdTensor *t);
bool td_stp_plan_is_literal(const TdStpLine *l, const TdTensor *t);

#endif
