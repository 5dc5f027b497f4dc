/* clock.h - the timing model of designs, and the clock that each task of a run carries. Values and
 * times are independent: a run follows its own order, and its clocks tell when each thing happens
 * (docs/timing.md). Kahn networks are determinate, so these times are the least solution of
 *
 *   base     when cycle 0 of the schedule is: of straight code, or of an iteration. A task is a
 *            rigid pipe: what delays one operation shifts all that come after it. Iterations of a
 *            pipelined loop begin II apart from base to base.
 *   get      >= base + from of its firing, the get before it in the firing, the get before it on
 *            its stream + B, and the put of its token + B - 1 + latency of the stream
 *   start    >= base + at of the firing, the end (B - 1 later) of its gets, and done of the same
 *            firing F + 1 iterations back + 1; F = ceil(L / II). base follows it.
 *   put      >= start + L, the put before it in the firing, done of the firing before, the put
 *            before it on its stream + B, and the get of the token `depth` places earlier + B
 *   done     the end of its last put, at least start + L and done of the firing before
 *
 * A firing is gets that follow each other, what is computed of them, and the puts that follow;
 * from, at and L are those of ir/times.h. B are the beats of a token: one, or elements / lanes. A
 * token is visible the cycle after its last beat (latency 1), its place is free again the cycle
 * after its last beat was got.
 *
 * Straight code ends `length` cycles after its base, a pipelined loop as long after the base of its
 * last iteration, and both not before their last put is done. What comes next begins then, so
 * without waiting a task takes just the cycles of the estimate. A wait is charged to the operation
 * whose term decided; cycles = busy + stalled for each task.
 *
 * A block stream is two streams: full buffers, and free ones; slot gets from, and the end of the
 * scope of what was got puts to the latter. An allreduce ends the cycle after its last part came. A
 * design that is called starts with the call, which lasts until its last task has ended. */
#ifndef TD_EVAL_TIME_CLOCK_H
#define TD_EVAL_TIME_CLOCK_H

#include "eval/time/timed.h"

/* In place of a stream's number: none, an allreduce. */
#define TD_CLOCK_NOWHERE UINT32_MAX

/* Before everything: any sum with what programs hold stays below 0. */
#define TD_LONG_AGO (INT64_MIN / 4)

/* Something that a task does with stream `wire`, in the cycle of its own that it would have if it
 * never waited: what the second contract (fire.h) follows. */
typedef enum {
  TD_DOES_GET,
  TD_DOES_HOLD,
  TD_DOES_SLOT,
  TD_DOES_PUT,
  TD_DOES_PASS,
  TD_DOES_FREE,
  TD_DOES_ASK,    /* asks the memory for line n, as ask number `plus` / 2; odd: it writes */
  TD_DOES_ANSWER, /* what ask number n of the task reads is needed; `plus`: a cycle after */
  TD_DOES_SIGNAL, /* something is reached that tasks wait for: part of an allreduce, a call */
  TD_DOES_WAIT    /* .. `n` times, and then `plus` cycles more */
} TdDoes;
typedef struct TdDeed {
  int64_t local, wire; /* wire: for SIGNAL and WAIT the number of what is reached, ASK: the port */
  TdDoes does;         /* HOLD: a get that keeps the buffer; PASS: a put of a slot */
  int64_t n, plus;
} TdDeed;

/* Events that a run may still keep: the waits of tasks, the cycles of tokens. */
typedef struct TdKeep {
  int64_t left;  /* below 0: some were not kept */
  int64_t syncs; /* numbers given to what tasks wait for */
} TdKeep;

/* What compiled runs see of the clock of a stream, in their own memory: how often it moved a token,
 * and most tokens in it at the end of a cycle. */
#define TD_MOVED_FIELDS(X)                                                                         \
  X(int64_t puts)                                                                                  \
  X(int64_t gots)                                                                                  \
  X(int64_t most)
typedef struct TdMoved {
#define X(field) field;
  TD_MOVED_FIELDS(X)
#undef X
} TdMoved;

/* The clock of one stream: cycles of the last `depth` puts, and gets, by the places of the tokens;
 * TD_LONG_AGO before the first. */
typedef struct TdWire {
  int64_t *put_at, *got_at;
  TdMoved *moved, own; /* own: what `moved` is unless a compiled run keeps it */
  int64_t number, depth, beats, latency;
  int64_t *freed_at;                 /* buffers of a block stream that were given back */
  int64_t freed, claims, last_claim; /* claims: places of a block stream taken for tokens to come */
  bool block, outside;               /* outside: its other end is ready, but for what follows */
  const int64_t *ready;              /* of the first nready tokens, from when on it is */
  int64_t nready;
  TdKeep *keep; /* NULL: nothing */
  TD_VEC(int64_t) every_put;
  TD_VEC(int64_t) every_got;
  TD_VEC(uint64_t) every_token; /* hashes of what was put; 0: not all of it was written */
} TdWire;

/* The cycle from which the end outside is ready for token k. */
static inline int64_t td_wire_outside(const TdWire *w, int64_t k) {
  return k < w->nready ? w->ready[k] : TD_LONG_AGO;
}

typedef enum { TD_FIRING_IDLE, TD_FIRING_GETS, TD_FIRING_PUTS } TdFiringPhase;

/* What made something late: a stream and why, as one number. */
#define TD_CAUSE(stream, why) ((int64_t)(stream)*4 + (why))

/* What compiled runs see of the clock of a task. */
#define TD_CLOCK_FIELDS(X)                                                                         \
  X(int64_t base)                                                                                  \
  X(int64_t done)      /* of the last firing that has ended */                                     \
  X(int64_t iteration) /* of the pipeline; -1: none yet */                                         \
  X(int64_t late)      /* cause of the last get that waited */                                     \
  X(int64_t held)      /* and of the last put */                                                   \
  X(int64_t multiplies)                                                                            \
  X(int phase)        /* TdFiringPhase */                                                          \
  X(int firing)       /* number in the iteration */                                                \
  X(int event)        /* of the leaf: what was met last, plus 1 */                                 \
  X(const void *leaf) /* TdTime of straight code or pipelined loop that runs, or NULL */           \
  X(int64_t *waiting) /* how often each firing took place, and the ends of the last ones */        \
  X(int64_t *ran)     /* how often each TdTimes.worker took place, by its number; or NULL */

/* A task's port of an argument: the line that it asked for last, and by which ask. */
typedef struct TdClockPort {
  const void *of;
  bool write;
  int64_t number, line, ask;
} TdClockPort;

/* What a task asks a memory off the chip for. */
typedef struct TdClockAsker {
  int64_t request; /* bytes of a line */
  int64_t *ports;  /* of all tasks, counted */
  TD_VEC(TdClockPort) port;
  int64_t asks;
  int64_t epoch;       /* of the piece of the schedule that runs */
  TD_VEC(int64_t) met; /* by access: the epoch in which it took place */
} TdClockAsker;

/* The clock of a task. */
typedef struct TdClock {
#define X(field) field;
  TD_CLOCK_FIELDS(X)
#undef X
  TdArena *arena;
  int64_t now;         /* when what comes next may begin, while nothing runs */
  int64_t begin, from; /* of the first call, and of this one */
  int64_t life;        /* cycles of earlier calls */
  int64_t away;        /* cycles in which designs ran that it called */
  size_t region;       /* depth of nesting of the loop that the pipeline runs for; or 0 */
  int64_t at, end;     /* last get or put of this firing, and when all of them are over */
  int64_t room;
  TD_VEC(TdTimedStall) stall;
  TD_VEC(TdTimedWait) wait;
  TD_VEC(TdDeed) deed;
  bool called;
  TdKeep *keep;        /* NULL: nothing */
  TdClockAsker *asker; /* NULL: memory takes the cycles of the schedule */
  int64_t stalled, multipliers;
  int64_t starts; /* when the first multiplication begins, for all that is known; or TD_LONG_AGO */
} TdClock;

/* Has it count how often each piece of the schedule runs; then what that is of each kind of work.
 */
void td_clock_work(TdClock *c, const TdTimes *t);
int64_t *td_clock_worked(TdArena *a, const TdClock *c, const TdTimes *t);
/* Starts a call of the task at a cycle; then ends it. */
void td_clock_start(TdClock *c, int64_t cycle);
void td_clock_stop(TdClock *c);
/* Before a statement that t begins with: what runs ends unless the statement is part of it. */
void td_clock_before(TdClock *c, const TdTime *t);
/* Enters a loop of time t (or NULL) with so many around it, itself included; returns what its
 * iterations are given to, or NULL. */
const TdTime *td_clock_enter(TdClock *c, const TdTime *t, size_t depth);
/* Begins iteration n (from 0) of what td_clock_enter returned; or does n of them in which no token
 * moves and nothing else has a time of its own. */
void td_clock_iterate(TdClock *c, const TdTime *loop, uint64_t n);
void td_clock_pass(TdClock *c, const TdTime *loop, uint64_t n);
/* The test of a loop that td_clock_enter returned fails. */
void td_clock_test(TdClock *c, const TdTime *loop);
/* Leaves all loops down to a depth of nesting, that one included; not those that are copies. */
void td_clock_leave(TdClock *c, size_t depth);
/* Ends what runs, unless it is a pipelined loop; the cycle then. */
int64_t td_clock_close(TdClock *c);
/* Waits until a cycle, stalled or not. */
void td_clock_await(TdClock *c, int64_t cycle, bool stalls);
/* Of the second contract: the task reaches what number `sync` stands for; goes on `plus` cycles
 * after n have. 0: nothing. */
void td_clock_signal(TdClock *c, int64_t sync);
void td_clock_wait(TdClock *c, int64_t sync, int64_t n, int64_t plus);
/* Access number `access` of what runs takes place, of an address of argument `of`. */
bool td_clock_is_met(const TdClock *c, size_t access);
void td_clock_ask(TdClock *c, size_t access, const void *of, int64_t address);
/* Ends the firing at hand; charges cycles to a cause. */
void td_clock_settle(TdClock *c);
void td_clock_charge(TdClock *c, int64_t from, int64_t cycles, int64_t cause);

/* A token moves, by statement s; each end in the order in which its task does it. get: the buffer
 * of a block stream is held, or free again; slot: takes a place for a token to come; put: into a
 * place that was taken, or one that it takes; free: the scope of a buffer ends. */
void td_clock_get(TdClock *c, TdWire *w, bool held, const void *s);
void td_clock_slot(TdClock *c, TdWire *w, const void *s);
void td_clock_put(TdClock *c, TdWire *w, bool taken, const void *s);
void td_clock_free(TdClock *c, TdWire *w);
/* The other end of a stream without a clock of its own: the cycle from which a token more has its
 * place, from which the next one is there; it is put, is got. */
int64_t td_wire_room(const TdWire *w);
int64_t td_wire_token(const TdWire *w);
void td_wire_put(TdArena *a, TdWire *w, int64_t cycle);
void td_wire_get(TdArena *a, TdWire *w, int64_t cycle);
/* Raises w->most by what is known once token k is put. */
void td_clock_count(TdWire *w, int64_t k);

/* What they tell in the end, names left out. */
TdTimedTask td_clock_task(const TdClock *c);
TdTimedStream td_clock_stream(const TdWire *w);

/* The clocks of n streams of so many tokens, their beats, latency and kind filled in; before
 * anything happened. */
void td_clock_open(TdArena *a, TdWire *w, int64_t n, int64_t depth);
void td_clock_empty(TdWire *w);

#endif
