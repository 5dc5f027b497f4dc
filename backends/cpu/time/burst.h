/* burst.h - a loop whose iterations run many at a visit, while it is written. */
#ifndef TD_CPU_TIME_BURST_H
#define TD_CPU_TIME_BURST_H

#include "backends/cpu/text.h"

enum { TD_CPU_MOST_ENDS = 16, TD_CPU_MOST_EVENTS = 64, TD_CPU_MOST_WHOLE = 16 };

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

/* A token that an iteration moves. */
typedef struct TdCpuEvent {
  const TdStmt *stmt;
  int end;
} TdCpuEvent;

typedef struct TdCpuBurst {
  const TdStmt *loop;
  TdCpuEnd end[TD_CPU_MOST_ENDS];
  TdCpuEvent event[TD_CPU_MOST_EVENTS];
  int n, nevent;
  const TdStmt *last_get; /* or NULL */
  const TdTime *time;     /* of the loop */
  const TdTime *leaf;     /* of an iteration */
  /* Iterations that find all rings full, or empty, and begin at their first place; 0: no number is
   * known beforehand. And whether those are being written, so that places are numbers. */
  int64_t whole;
  bool is_whole;
} TdCpuBurst;

/* The text, or 0 where the end need not be there. */
const char *td_cpu_burst_there(TdCpuProg *p, const TdCpuEnd *e, const char *text);
/* Where the next token of an end is, or goes, as a variable; and on to the one after. */
void td_cpu_burst_cursor(TdCpuProg *p, const TdCpuEnd *e);
/* How many iterations run, and where the token of iteration td_i is, as text. */
const char *td_cpu_burst_count(TdCpuProg *p, const TdCpuBurst *b);
const char *td_cpu_burst_place(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e);
void td_cpu_burst_next(TdCpuProg *p, const TdCpuEnd *e);

/* burst_clock.c: the recurrence of eval/clock.h written out for a loop of one firing. Whether
 * it takes the loop, which it then fills the times of. */
bool td_cpu_burst_clock_takes(const TdCpuProg *p, TdCpuBurst *b);
/* The clock of td_n iterations, whose tokens have not moved yet: values and times are independent.
 */
void td_cpu_burst_clock_put(TdCpuProg *p, const TdCpuBurst *b);
/* The clock of b->whole iterations in a block that stays open, which goes on unless one waits; then
 * td_whole is 0. */
void td_cpu_burst_clock_whole(TdCpuProg *p, const TdCpuBurst *b);
/* The cycle of the last put, or get, of the stream of an end, as text. */
const char *td_cpu_burst_clock_last(TdCpuProg *p, const TdCpuEnd *e, bool put);
/* burst_line.c: the same where no iteration waits: all events are on a straight line. Whether
 * the loop is of that kind; lines that set td_waits if an iteration waits; the clock if none does.
 */
bool td_cpu_burst_line_is(const TdCpuBurst *b);
void td_cpu_burst_line_look(TdCpuProg *p, const TdCpuBurst *b);
void td_cpu_burst_line_put(TdCpuProg *p, const TdCpuBurst *b);
bool td_cpu_burst_line_crowds(const TdCpuBurst *b, const TdCpuEnd *e);

#endif
