/* flow.h - operations of one iteration, when they happen, which unit of what they share each of
 * them takes, and how soon the next iteration may start. A modulo schedule: list scheduling in the
 * order of the nodes, at the least interval that has one. */
#ifndef TD_ANALYSIS_TIME_FLOW_H
#define TD_ANALYSIS_TIME_FLOW_H

#include "base/base.h"

/* What a node waited for last. */
typedef enum { TD_VIA_OPERAND, TD_VIA_ORDER, TD_VIA_BACK } TdFlowVia;

/* An operation: whole cycles from a clock edge and then a delay, or (0 stages) logic that follows
 * others in a cycle if it still fits. Its operands are nodes before it. Node 0 of a graph is what
 * is there from the start. */
typedef struct TdFlowNode {
  int32_t stages, delay;
  bool edge;          /* starts on a clock edge, as registers and memories do */
  bool fixed;         /* td_flow_postpone leaves it */
  uint32_t width;     /* bits of the value, 0 for none */
  uint32_t firing;    /* of a token, or the last firing whose gets feed it, plus 1; 0: none */
  uint32_t first, n;  /* operands, in operand[] */
  uint32_t use, nuse; /* units that it takes, in use[] */
  int64_t start, end; /* ps, as td_flow_settle left them */
  /* as it left them, too: the node that it waited for last, how, and through which wait */
  uint32_t last, wait;
  TdFlowVia via;
  bool crowded; /* a unit was taken */
} TdFlowNode;

/* `to` waits for the end of `from`, or (`starts`) for `gap` cycles after the one in which it
 * starts; `distance` iterations ago. For the end of an earlier iteration it waits on a clock edge.
 */
typedef struct TdFlowWait {
  uint32_t from, to;
  int64_t distance, gap;
  bool starts;
} TdFlowWait;

/* An arm of a condition, within others: two of one condition never happen together. */
typedef struct TdFlowArm {
  const struct TdFlowArm *outer;
  uint32_t number, arm; /* number: of the condition */
} TdFlowArm;
bool td_flow_excludes(const TdFlowArm *x, const TdFlowArm *y);

/* Cycles from, from + 1 .. to - 1 in which a unit is taken. */
typedef struct TdFlowBusy {
  int64_t from, to;
  const TdFlowArm *arm;
} TdFlowBusy;
typedef TD_VEC(TdFlowBusy) TdFlowUnit;

/* Units of one kind: the ports of a bank, instances of an operator. */
typedef struct TdFlowPool {
  int64_t n;     /* 0: as many as are needed */
  bool few;      /* with n = 0: as few as the interval allows where that costs no time */
  bool loose;    /* what takes a unit waits for it by itself when iterations slip */
  bool uneven;   /* some use takes several cycles, or is under a condition */
  bool shared;   /* some use is under a condition */
  int64_t total; /* cycles of all its uses */
  int64_t units; /* as td_flow_pool_number left it: those that are used */
  /* of an attempt: units, 0 any number; those taken of each row, or unit by unit */
  int64_t limit;
  bool counted;
  TD_VEC(int64_t) taken;
  TD_VEC(TdFlowUnit) unit;
} TdFlowPool;

/* A node takes one unit of a pool for so many cycles, from its start on. */
typedef struct TdFlowUse {
  uint32_t node, pool;
  int64_t cycles;
  const TdFlowArm *arm;
  int64_t unit; /* as settled */
} TdFlowUse;

typedef struct TdFlow {
  TdArena *arena;
  int64_t period; /* usable ps of a cycle */
  int64_t ii;     /* as settled; 0: straight code */
  TD_VEC(TdFlowNode) node;
  TD_VEC(uint32_t) operand;
  TD_VEC(TdFlowWait) back, order; /* order: of one iteration, from an earlier to a later node */
  TD_VEC(TdFlowPool) pool;
  TD_VEC(TdFlowUse) use;
} TdFlow;

/* A graph of node 0 alone. */
TdFlow td_flow_new(TdArena *a, int64_t period);
/* A new node that waits for n others; nodes 0 among them are left out. Returns its number. */
uint32_t td_flow_add(TdFlow *f, TdFlowNode x, const uint32_t *operand, size_t n);
/* Has the newest node wait for one more. */
void td_flow_after(TdFlow *f, uint32_t to, uint32_t from);
/* Has a node wait for the end of another of an earlier iteration, on a clock edge. */
void td_flow_wait(TdFlow *f, uint32_t to, uint32_t from, int64_t distance);
/* Has a node wait in any way; of the same iteration and for a start it is the newest node. */
void td_flow_wait_for(TdFlow *f, TdFlowWait w);
/* A new pool; uses of a node are added one after the other. */
uint32_t td_flow_pool(TdFlow *f, TdFlowPool p);
void td_flow_use(TdFlow *f, uint32_t node, uint32_t pool, int64_t cycles, const TdFlowArm *arm);

/* A cycle of waiting: its nodes in order, its length in clock cycles and iterations. Without nodes:
 * `crowded` found no unit. */
typedef struct TdFlowCycle {
  const uint32_t *node;
  size_t n;
  int64_t cycles, distance;
  uint32_t crowded;
} TdFlowCycle;

/* The least interval >= `least` at which iterations can start, or (least 0) straight code, which
 * has none. If it is not `least`, *why is what needs it, owned by the arena. Leaves the least times
 * at that interval in the nodes, and units in the uses. */
int64_t td_flow_settle(TdFlow *f, int64_t least, TdFlowCycle *why);
/* Then moves what others wait for to as late as they allow, which takes the fewest registers; what
 * nothing waits for, what is fixed, and what later iterations wait for, stays; none begins after
 * cycle latest[]. */
void td_flow_postpone(TdFlow *f, const int64_t *latest);
/* Clock cycles from the start to the last end. */
int64_t td_flow_length(const TdFlow *f);
/* The clock cycle in which a time falls; an edge begins one. */
int64_t td_flow_cycle(const TdFlow *f, int64_t time);
/* Numbers the units that uses take, once all is placed. */
void td_flow_pool_number(TdFlow *f);
/* Whether two operations share a unit in different stages (of ii cycles each) of a pipeline, so
 * that iterations may slip by whole intervals only. */
bool td_flow_is_shared(const TdFlow *f);

/* ---- flow_pool.c, while it settles ---- */

/* Frees all units, for an attempt at f->ii. `few`: with the fewest units. */
void td_flow_pool_clear(TdFlow *f, bool few);
/* The first cycle from `cycle` on at which all units that node v takes are free, which it then
 * takes; -1: there is none. */
int64_t td_flow_pool_take(TdFlow *f, uint32_t v, int64_t cycle);
/* Gives the units back that v took at a cycle; whether it may have units at one, exactly. */
void td_flow_pool_give(TdFlow *f, uint32_t v, int64_t cycle);
bool td_flow_pool_fits(TdFlow *f, uint32_t v, int64_t cycle);
/* The last cycle before `cycle` at which node v may find its units: at those between, one of its
 * uses finds none. */
int64_t td_flow_pool_before(const TdFlow *f, uint32_t v, int64_t cycle);

#endif
