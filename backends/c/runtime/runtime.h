/* runtime.h - what emitted programs and their caller share: one struct, and the text that programs
 * may use. */
#ifndef TD_CPU_RUNTIME_H
#define TD_CPU_RUNTIME_H

#include "base/base.h"

/* The first argument of every emitted function, field by field. */
#define TD_CPU_RUN_FIELDS(X)                                                                       \
  X(const volatile int *interrupt) /* not 0: stop */                                               \
  X(volatile int fault)            /* TdCpuFault of the first that happened */                     \
  X(int place)                     /* where: number in the table of places */                      \
  X(volatile int foreign)          /* 1 + place of the foreign call under way; 0: none */          \
  X(volatile int callee)           /* and the number of its function among */                      \
  X(const void *const *fn)         /* the addresses of foreign functions */                        \
  X(int64_t value[2])              /* what: the index and the extent */                            \
  X(const void *const *table)      /* constants that are too large for the text */                 \
  X(const uint64_t *key)           /* random words of fingerprints */                              \
  X(void *watch)                   /* struct td_watch of a run that watches who touches what */    \
  X(int64_t who)                   /* the instance that goes on, in such a run */                  \
  X(int slow)                      /* tasks move single tokens, not bursts */                      \
  X(void *const *callees)          /* and the TdForeignFn of those that are called by */           \
  X(void (*call)(struct td_run *, void *const *))                                                  \
  X(const struct td_host *host) /* what runs networks */                                           \
  X(const void *timed)          /* struct td_timed of a run with a clock */                        \
  X(int blocked) /* tasks that wait, of which these are the first; or streams that hold tokens */  \
  X(int64_t wait[16][6])      /* run, instance, place, stream, fill, depth */                      \
  X(int held)                 /* streams that hold tokens when it fails, or the first */           \
  X(int64_t hold[8][4])       /* stream, fill, place of the oldest, depth */                       \
  X(const void *token[8])     /* its cells */                                                      \
  X(const int64_t *buffer[8]) /* which of them is where; NULL: in order */

struct td_run {
#define X(field) field;
  TD_CPU_RUN_FIELDS(X)
#undef X
};

/* A stream of tokens, oldest at out; its number tells which it is. Programs with a clock append the
 * cycles of the last puts and then gets, by the places of tokens, and what has moved. */
#define TD_CPU_RING_FIELDS(X)                                                                      \
  X(void *token)                                                                                   \
  X(int64_t in)                                                                                    \
  X(int64_t out)                                                                                   \
  X(int64_t fill)                                                                                  \
  X(int64_t depth)                                                                                 \
  X(int64_t number)

/* Where a task goes on (-1: it ended), and what it waits for: the first field of its frame. */
#define TD_CPU_TASK_FIELDS(X)                                                                      \
  X(int at)                                                                                        \
  X(int place)                                                                                     \
  X(const struct td_ring *ring)

/* The instances of a run of a design; `turn` has all of them go on, and returns whether one moved a
 * token (1) and how many ended (times 2). */
#define TD_CPU_PART_FIELDS(X)                                                                      \
  X(int64_t n)                                                                                     \
  X(int64_t number) /* of the run */                                                               \
  X(void *frame)                                                                                   \
  X(int64_t frame_bytes)                                                                           \
  X(void *memory) /* their states, or NULL */                                                      \
  X(int64_t (*turn)(struct td_run *, const struct td_part *))

/* An array of streams: rings, or pools, and their tokens. A pool is a ring of full buffers, one of
 * free ones, whose number is ~number, and a pointer to the buffers; `list` has both rings' tokens.
 */
#define TD_CPU_RINGS_FIELDS(X)                                                                     \
  X(int64_t n)                                                                                     \
  X(int64_t number) /* of the first among all streams, and */                                      \
  X(int64_t wire)   /* among the design's */                                                       \
  X(int64_t depth)                                                                                 \
  X(int64_t place)                                                                                 \
  X(void *ring)                                                                                    \
  X(int64_t bytes)      /* of a ring or pool */                                                    \
  X(int64_t ring_bytes) /* of a ring */                                                            \
  X(void *token)                                                                                   \
  X(int64_t token_bytes) /* of all tokens of a stream */                                           \
  X(int64_t *list)       /* NULL: rings */

/* An argument of a design: where it lies, its bytes, those of an element, its parameter by number.
 */
#define TD_CPU_SPAN_FIELDS(X)                                                                      \
  X(const void *at)                                                                                \
  X(int64_t bytes)                                                                                 \
  X(int64_t cell)                                                                                  \
  X(int64_t param)

/* A design; where arguments are watched, those, and what numbers its instances go on from. */
#define TD_CPU_NET_FIELDS(X)                                                                       \
  X(const struct td_part *part)                                                                    \
  X(int64_t parts)                                                                                 \
  X(const struct td_rings *stream)                                                                 \
  X(int64_t streams)                                                                               \
  X(int64_t tasks)                                                                                 \
  X(int place)                                                                                     \
  X(int64_t number)                                                                                \
  X(const struct td_span *span)                                                                    \
  X(int64_t spans)                                                                                 \
  X(int64_t *first)

/* net.c: opens the streams of a design; runs its tasks, and returns whether all ended;
 * or has each go on once (of *more that have not ended), and returns whether any moved a token.
 * watch.c: notes that the element there is touched, by a write or not, at a place of the
 * program; returns where it is. */
#define TD_CPU_HOST_FIELDS(X)                                                                      \
  X(void (*open)(struct td_run *, const struct td_net *))                                          \
  X(int (*run)(struct td_run *, const struct td_net *))                                            \
  X(int (*visit)(struct td_run *, const struct td_net *, int64_t *))                               \
  X(void *(*touch)(struct td_run *, const void *, int, int))

#define X(field) field;
struct td_ring {
  TD_CPU_RING_FIELDS(X)
};
struct td_task {
  TD_CPU_TASK_FIELDS(X)
};
struct td_part {
  TD_CPU_PART_FIELDS(X)
};
struct td_rings {
  TD_CPU_RINGS_FIELDS(X)
};
struct td_span {
  TD_CPU_SPAN_FIELDS(X)
};
struct td_net {
  TD_CPU_NET_FIELDS(X)
};
struct td_host {
  TD_CPU_HOST_FIELDS(X)
};
#undef X

extern const struct td_host td_cpu_net_host;

/* watch.c: who touched what in a run, all owned by a. */
struct td_watch *td_cpu_watch_new(TdArena *a);
/* Gives the instances of a design that starts their numbers, and looks at its arguments. */
void td_cpu_watch_open(struct td_run *run, const struct td_net *n);
void *td_cpu_watch_touch(struct td_run *run, const void *at, int write, int place);

/* The clocks of a run: of tasks, run by run, of streams, times and statements by number, and
 * what eval/clock.h does with them. A cause is TD_CAUSE. */
struct td_clock;
struct td_wire;
#define TD_CPU_TIMED_FIELDS(X)                                                                     \
  X(struct td_clock *const *clock)                                                                 \
  X(struct td_wire *const *wire)                                                                   \
  X(const void *const *known)                                                                      \
  X(void (*before)(struct td_clock *, const void *))                                               \
  X(const void *(*enter)(struct td_clock *, const void *, int64_t))                                \
  X(void (*iterate)(struct td_clock *, const void *, int64_t))                                     \
  X(void (*pass)(struct td_clock *, const void *, int64_t))                                        \
  X(void (*test)(struct td_clock *, const void *))                                                 \
  X(void (*leave)(struct td_clock *, int64_t))                                                     \
  X(void (*settle)(struct td_clock *))                                                             \
  X(void (*charge)(struct td_clock *, int64_t, int64_t, int64_t))                                  \
  X(void (*get)(struct td_clock *, struct td_wire *, int, const void *))                           \
  X(void (*slot)(struct td_clock *, struct td_wire *, const void *))                               \
  X(void (*put)(struct td_clock *, struct td_wire *, int, const void *))                           \
  X(void (*free)(struct td_clock *, struct td_wire *))                                             \
  X(void (*count)(struct td_wire *, int64_t))                                                      \
  X(int64_t *(*open)(struct td_wire *, void *))

struct td_timed {
#define X(field) field;
  TD_CPU_TIMED_FIELDS(X)
#undef X
};

/* Faults, by the numbers that emitted programs report. */
typedef enum {
  TD_CPU_OK,
  TD_CPU_ZERO_DIVISION,
  TD_CPU_INDEX,
  TD_CPU_DEADLOCK,
  TD_CPU_LEFTOVER,
  TD_CPU_CRASH,   /* by signal value[0]; set by the caller */
  TD_CPU_COPIES,  /* of a run, by number, and an instance, whose copy of a block is another */
  TD_CPU_RACE,    /* which the watch knows */
  TD_CPU_ASSUME,  /* of a unit, by number, its assumption */
  TD_CPU_OVERLAP, /* of views, by number */
  TD_CPU_FOREIGN  /* TdForeignEnd of the function `callee`: value[0], value[1] */
} TdCpuFault;

/* prelude.c: puts in front of `body` the types, and what it uses of the run time (with what that
 * uses), in a fixed order. Owned by a. */
const char *td_prelude_add(TdArena *a, const char *body);
/* prelude_word.c: the run time of words of more than 64 bits, if `body` has them. */
const char *td_prelude_word_text(const char *body);
/* Whether the run time has a function of this name, as floor and exp. */
bool td_prelude_has(const char *name);

#endif
