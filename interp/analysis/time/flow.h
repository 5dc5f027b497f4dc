/* flow.h - operations of one iteration, when they happen, and how soon the next iteration may
 * start.
 */
#ifndef TD_ANALYSIS_TIME_FLOW_H
#define TD_ANALYSIS_TIME_FLOW_H

#include "base/base.h"

/* An operation: whole cycles from a clock edge and then a delay, or (0 stages) logic that follows
 * others in a cycle if it still fits. Its operands are nodes before it. Node 0 of a graph is what
 * is there from the start. */
typedef struct TdFlowNode {
  int32_t stages, delay;
  bool edge;          /* starts on a clock edge, as registers and memories do */
  uint32_t width;     /* bits of the value, 0 for none */
  uint32_t first, n;  /* operands, in operand[] */
  int64_t start, end; /* ps, as td_flow_settle left them */
  /* as it left them, too: the operand that came last, and whether that is a back edge */
  uint32_t last;
  bool back;
} TdFlowNode;

/* `to` waits for the end of `from`, `distance` iterations ago. It starts on a clock edge. */
typedef struct TdFlowBack {
  uint32_t from, to;
  int64_t distance;
} TdFlowBack;

typedef struct TdFlow {
  TdArena *arena;
  int64_t period; /* usable ps of a cycle */
  TD_VEC(TdFlowNode) node;
  TD_VEC(uint32_t) operand;
  TD_VEC(TdFlowBack) back;
} TdFlow;

/* A graph of node 0 alone. */
TdFlow td_flow_new(TdArena *a, int64_t period);
/* A new node that waits for n others; nodes 0 among them are left out. Returns its number. */
uint32_t td_flow_add(TdFlow *f, TdFlowNode x, const uint32_t *operand, size_t n);
/* Has the newest node wait for one more. */
void td_flow_after(TdFlow *f, uint32_t to, uint32_t from);
void td_flow_wait(TdFlow *f, uint32_t to, uint32_t from, int64_t distance);

/* A cycle of waiting: its nodes in order, its length in clock cycles and iterations. */
typedef struct TdFlowCycle {
  const uint32_t *node;
  size_t n;
  int64_t cycles, distance;
} TdFlowCycle;

/* The least interval >= `least` at which iterations can start. If that is not `least`, *why is a
 * cycle that needs it, owned by the arena. Leaves the least times at that interval in the nodes. */
int64_t td_flow_settle(TdFlow *f, int64_t least, TdFlowCycle *why);
/* Then moves what others wait for to as late as they allow, which takes the fewest registers; what
 * nothing waits for, and what later iterations wait for, stays. */
void td_flow_postpone(TdFlow *f);
/* Clock cycles from the start to the last end. */
int64_t td_flow_length(const TdFlow *f);
/* The clock cycle in which a time falls; an edge begins one. */
int64_t td_flow_cycle(const TdFlow *f, int64_t time);

#endif
