/* token_run.h - the gets and puts of all instances, executed without data: the outcome does not
 * depend
 * on who goes first. Instances whose order the data decides are left out, and what they hold never
 * keeps others waiting. */
#ifndef TD_ANALYSIS_NET_TOKEN_RUN_H
#define TD_ANALYSIS_NET_TOKEN_RUN_H

#include "analysis/net/traffic.h"

typedef enum {
  TD_ORDER_DONE,  /* all instances ended */
  TD_ORDER_STUCK, /* none can go on */
  TD_ORDER_LONG   /* the budget is spent */
} TdOrderEnd;

/* One step of an instance: a kind of move before SEQ, or one of these. */
enum { TD_STEP_LOOP = TD_MOVE_SEQ, TD_STEP_TURN, TD_STEP_END };
typedef struct TdStep {
  uint8_t kind, level; /* level: of the counter of LOOP and TURN */
  uint32_t at;         /* channel, meeting, group; TURN: where its body begins */
  int64_t n;           /* how often the move, or the loop, goes on */
  const TdStmt *stmt;
} TdStep;

/* All that changes. Counters of loops that are not under way are 0. */
typedef struct TdOrderState {
  uint32_t *pc;           /* of each instance */
  int64_t *left;          /* turns of its move to come */
  int64_t *counter;       /* turns of its loops to come, the present one included */
  int64_t *full, *unused; /* of each channel: tokens, and places or buffers to take */
} TdOrderState;

/* A state that was passed, to find out when it comes again: Brent's algorithm. */
typedef struct TdOrderWatch {
  TdOrderState seen;
  bool set;
  uint64_t power, age;
} TdOrderWatch;

/* A meeting under way, as in eval/meeting.c. */
typedef struct TdOrderMeeting {
  uint32_t brought, leaving;
  bool open; /* somebody's part is left to the data: nobody waits */
  bool *here;
} TdOrderMeeting;

typedef struct TdOrder {
  TdArena *arena;
  const TdTraffic *net;
  TdCtx *ctx;
  bool partial; /* some instances are left out */
  bool leaps;   /* states can come again: no forks, no meetings */
  TD_VEC(TdStep) step;
  uint32_t *start;  /* of each instance, its first step; TD_TRAFFIC_NONE: left out */
  uint32_t *first;  /* and its first counter; one more entry ends the list */
  uint32_t *end[2]; /* of each channel: the instance that puts, and the one that gets */
  uint8_t *loose;   /* bit 0: it is never empty, bit 1: never full */
  TdOrderState now;
  uint32_t *waiter[2]; /* of each channel: who waits for a place, and for a token */
  uint32_t *queue, head, nqueue;
  bool *queued, *ended;
  uint32_t *running; /* of each group: instances that have not ended */
  TdOrderMeeting *meet;
  TdOrderWatch turn, lap;
  uint64_t steps; /* taken since the reset */
} TdOrder;

/* Prepares n; NULL when the programs of its instances are too long. */
TdOrder *td_token_run_new(TdArena *a, const TdTraffic *n);
/* To the start, with these depths of the lines (NULL: as declared). */
void td_token_run_reset(TdOrder *o, const int64_t *depth);
/* Goes on until the end, or for as many steps. */
TdOrderEnd td_token_run_go(TdOrder *o, uint64_t budget);
/* Gives each stream of a line `by` more places. */
void td_token_run_deepen(TdOrder *o, uint32_t line, int64_t by);
/* The first channel that holds a token, or TD_TRAFFIC_NONE. */
uint32_t td_token_run_leftover(const TdOrder *o);
/* What an instance waits for, or NULL; and who must do it, or TD_TRAFFIC_NONE. */
const TdStep *td_token_run_wait(const TdOrder *o, uint32_t inst);
uint32_t td_token_run_other(const TdOrder *o, uint32_t inst);

/* token_run_period.c: when the state of before has come again but for loop counters, repeats what
 * happened in
 * between as often as these allow. Called between rounds. */
void td_token_run_leap(TdOrder *o);
void td_token_run_forget(TdOrder *o);

#endif
