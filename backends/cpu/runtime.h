/* runtime.h - what emitted programs and their caller share: one struct, and the text that programs
   may use. */
#ifndef TD_CPU_RUNTIME_H
#define TD_CPU_RUNTIME_H

#include "base/base.h"

/* The first argument of every emitted function, field by field. */
#define TD_CPU_RUN_FIELDS(X)                                                                       \
  X(const volatile int *interrupt) /* not 0: stop */                                               \
  X(volatile int fault)            /* TdCpuFault of the first that happened */                     \
  X(int place)                     /* where: number in the table of places */                      \
  X(volatile int foreign)          /* 1 + place of the foreign call under way; 0: none */          \
  X(int64_t value[2])              /* what: the index and the extent */                            \
  X(const void *const *table)      /* constants that are too large for the text */                 \
  X(const uint64_t *key)           /* random words of fingerprints */                              \
  X(int slow)                      /* tasks move single tokens, not bursts */                      \
  X(const void *timed)             /* struct td_timed of a run with a clock */                     \
  X(int blocked)                   /* tasks that wait, of which these are the first */             \
  X(int64_t wait[16][6])           /* run, instance, place, stream, fill, depth */                 \
  X(int held)                      /* streams that hold tokens when it fails, or the first */      \
  X(int64_t hold[8][4])            /* stream, fill, place of the oldest, depth */                  \
  X(const void *token[8])          /* its cells */                                                 \
  X(const int64_t *buffer[8])      /* which of them is where; NULL: in order */

struct td_run {
#define X(field) field;
  TD_CPU_RUN_FIELDS(X)
#undef X
};

/* The clocks of a run: of tasks, run by run, of streams, the times of statements by number, and
   what eval/clock.h does with them. A cause is TD_CAUSE. */
struct td_clock;
struct td_wire;
#define TD_CPU_TIMED_FIELDS(X)                                                                     \
  X(struct td_clock *const *clock)                                                                 \
  X(struct td_wire *const *wire)                                                                   \
  X(const void *const *time)                                                                       \
  X(void (*before)(struct td_clock *, const void *))                                               \
  X(const void *(*enter)(struct td_clock *, const void *, int64_t))                                \
  X(void (*iterate)(struct td_clock *, const void *, int64_t))                                     \
  X(void (*pass)(struct td_clock *, const void *, int64_t))                                        \
  X(void (*leave)(struct td_clock *, int64_t))                                                     \
  X(void (*settle)(struct td_clock *))                                                             \
  X(void (*charge)(struct td_clock *, int64_t, int64_t, int64_t))                                  \
  X(void (*get)(struct td_clock *, struct td_wire *, int))                                         \
  X(void (*slot)(struct td_clock *, struct td_wire *))                                             \
  X(void (*put)(struct td_clock *, struct td_wire *, int))                                         \
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
  TD_CPU_CRASH, /* by a signal, which is value[0]; set by the caller */
  TD_CPU_COPIES /* of a run, by number, and an instance, whose copy of a block is another */
} TdCpuFault;

/* prelude.c: puts in front of `body` the types, and what it uses of the run time (with what that
   uses), in a fixed order. Owned by a. */
const char *td_prelude_add(TdArena *a, const char *body);
/* prelude_word.c: the run time of words of more than 64 bits, if `body` has them. */
const char *td_prelude_word_text(const char *body);
/* Whether the run time has a function of this name, as floor and exp. */
bool td_prelude_has(const char *name);

#endif
