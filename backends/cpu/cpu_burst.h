/* cpu_burst.h - a loop whose iterations run many at a visit, while it is written. */
#ifndef TD_CPU_BURST_H
#define TD_CPU_BURST_H

#include "backends/cpu/cpu_text.h"

enum { TD_CPU_MOST_ENDS = 16 };

/* One end of a stream that every iteration uses, or none does. */
typedef struct TdCpuEnd {
  const TdStmt *stmt; /* the first that uses it */
  const TdExpr *cond[4];
  bool truth[4]; /* of the conditions around it */
  int nest;
  bool put;
  int64_t each;           /* tokens an iteration */
  const char *ring;       /* what it is, as text */
  const char *name;       /* and its pointer in the burst */
  const char *depth;      /* as text */
  int64_t beats, latency; /* of runs with a clock */
} TdCpuEnd;

typedef struct TdCpuBurst {
  const TdStmt *loop;
  TdCpuEnd end[TD_CPU_MOST_ENDS];
  int n;
  const TdStmt *last_get; /* or NULL */
  bool surely;            /* it happens in all iterations */
  const TdTime *time;     /* of the loop */
  const TdTime *leaf;     /* of an iteration */
} TdCpuBurst;

/* cpu_burst_clock.c: the recurrence of eval/clock.h written out for a loop of one firing, on copies
   of what it changes; nothing where there is no clock. Whether it takes the loop, which it then
   fills the times of. */
bool td_cpu_burst_clock_takes(const TdCpuProg *p, TdCpuBurst *b);
/* Lines before all iterations and after them; at the start and end of each; where a token moves. */
void td_cpu_burst_clock_open(TdCpuProg *p, const TdCpuBurst *b);
void td_cpu_burst_clock_close(TdCpuProg *p, const TdCpuBurst *b);
void td_cpu_burst_clock_iterate(TdCpuProg *p, const TdCpuBurst *b);
void td_cpu_burst_clock_end(TdCpuProg *p, const TdCpuBurst *b);
void td_cpu_burst_clock_move(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e, const TdStmt *s);

#endif
