/* eval.h - running the IR: with numbers and every check on, or on symbolic values to compare two
 * programs. docs/ir.md, Meaning and Domains.
 *
 * This is the reference that compiled runs are held against. Tensor statements mean these loops:
 * matmul starts at 0 of its result type T and does acc = T(acc + a * b) with k ascending; reduce
 * and allreduce with + start at 0 likewise, with any other operator at the first element; floats
 * that are not of the accumulator's type are cast to it first. */
#ifndef TD_EVAL_H
#define TD_EVAL_H

#include "eval/value/domain.h"
#include "eval/time/timed.h"
#include "ir/tensor.h"

/* One stream of a port argument: the tokens of each side in order, one more dimension in front
 * (T[n] or T[n][..]). */
typedef struct TdEvalPort {
  const TdTensor *in; /* what the program may get; NULL: nothing */
  TdTensor *out;      /* set by a run: what it put, NULL if nothing */
  int64_t consumed;   /* set by a run: tokens it got */
  /* With a clock: the cycle from which token k of the first ones may be got, or has its place. */
  const int64_t *ready;
  int64_t nready;
} TdEvalPort;

/* An argument of the root unit, by the type of its parameter. In symbolic runs an argument that is
 * all zeros is symbolic. */
typedef struct TdEvalArg {
  TdTensor *tensor;
  uint64_t scalar;  /* num.h */
  bool has_scalar;  /* symbolic runs: the scalar is concrete */
  TdEvalPort *port; /* one for each stream of the parameter's array, row-major */
} TdEvalArg;

/* Tensors of class state, by instance; carries them from run to run (state.c). */
typedef struct TdEvalState TdEvalState;
TdEvalState *td_state_new(TdArena *a);
/* Forgets everything: the next run starts from the declared values. */
void td_state_reset(TdEvalState *s);

/* Zeroed is the default. */
typedef struct TdEvalOptions {
  uint64_t steps;       /* most statements and elements of a run; 0: no limit */
  size_t bytes;         /* most memory of a run; 0: no limit */
  uint64_t seed;        /* of the fingerprints; draw it anew for each comparison */
  bool overflow;        /* report casts that change an integer */
  bool log;             /* report streams */
  bool drops_faults;    /* comparisons: the second program may do without a fault of the first */
  bool at_values;       /* comparisons: at other sizes than its own the second may fault */
  bool wide;            /* symbolic runs from associative on: see td_algebra_new */
  unsigned call;        /* symbolic runs: as many calls, on inputs of their own, come before */
  const TdTimes *times; /* runs on numbers: with a clock; NULL: without */
  const struct TdOuter *outer; /* tasks that the caller runs (outer.h); NULL: none */
  const struct TdWatch *watch; /* runs on numbers: who looks on (watch.h); NULL: nobody */
  struct TdKeep *keep;         /* with a clock: events to be kept (clock.h); NULL: none */
  /* With a clock and kept events: what answers for arguments, by the second contract; NULL: they
   * answer when the schedule has it. */
  const struct TdOffchip *memory;
  TdEvalState *state; /* NULL: states start from their declared values and are forgotten */
} TdEvalOptions;

/* A cast that changed an integer: where, the first time, and how often. */
typedef struct TdEvalOverflow {
  TdLoc loc;
  const TdType *type;
  const char *value; /* before the cast, as text */
  uint64_t count;
} TdEvalOverflow;

/* What passed through a stream: td_map_mix over the bits (num.h) of every element of every token,
 * in order, from 0. */
typedef struct TdEvalStream {
  const char *name; /* "Z[0]" */
  uint64_t tokens, hash;
} TdEvalStream;

typedef struct TdEvalResult {
  uint64_t steps;
  const TdEvalOverflow *overflow;
  size_t noverflow;
  const TdEvalStream *stream;
  size_t nstream;
  const TdTimed *timed; /* of a run with a clock; else NULL */
} TdEvalResult;

/* What helps where tasks wait for each other, one of them for a place in a stream. */
#define TD_EVAL_DEPTHS_HELP                                                                        \
  "d:depths(..), with these arguments, tells the depths that are enough, if any are"

/* Runs the root of p on numbers, all faults on. On success the tensors and ports hold the results;
 * on failure they are untouched and d says what happened where (kind limit, code "limit", when a
 * budget of o was spent). Everything is allocated in a, which the caller owns. */
bool td_eval_run(TdArena *a, const TdProg *p, TdEvalArg *arg, size_t narg, const TdEvalOptions *o,
                 TdDiag *d, TdEvalResult *result);

/* Runs p on symbolic values; cell[i] becomes the values that tensor parameter i holds at the end,
 * row-major (NULL for other parameters). Runs of one level and seed give comparable words. */
bool td_eval_symbolic(TdArena *a, const TdProg *p, TdLevel level, const TdEvalArg *concrete,
                      const TdEvalOptions *o, const TdValue **cell, TdDiag *d);

/* The same on the symbolic values of a domain, whose state is self. */
struct TdDomain;
bool td_eval_through(TdArena *a, const TdProg *p, const struct TdDomain *domain, void *self,
                     const TdEvalOptions *o, const TdValue **cell, TdDiag *d);

typedef enum { TD_EVAL_EQUAL, TD_EVAL_DIFFERS, TD_EVAL_NOT_DECIDED } TdEvalVerdict;

/* The first difference of two programs, or why there is no answer. */
typedef struct TdEvalAnswer {
  TdEvalVerdict verdict;
  const char *element; /* differs: "C[0][1]", "x: token 3, element 0", "x: tokens put" */
  unsigned param;      /* and where that is, for td_eval_explain: through all tokens of all */
  int64_t index;       /* streams of a port; -1: in a number of tokens */
  unsigned may_fault;  /* not decided: 1 or 2, the program that perhaps faults where the other does
                        * not, all else being equal; or 0 */
  bool has_state;      /* equal: for this call only, with states as the calls before left them */
  TdDiag diag;         /* not decided: the place and the reason; illegal: a program that faults */
} TdEvalAnswer;

/* Runs x and y at their own sizes on symbolic values and compares all that they leave. concrete has
 * an entry for each parameter, or is NULL; control must not depend on what is symbolic. From
 * associative on they are equal if they are with or without `wide`. */
TdEvalAnswer td_eval_compare(TdArena *a, const TdProg *x, const TdProg *y, TdLevel level,
                             const TdEvalArg *concrete, const TdEvalOptions *o);

/* The same without concrete arguments. What came out equal is remembered (proved.c). */
TdEvalAnswer td_eval_prove(TdArena *a, const TdProg *x, const TdProg *y, TdLevel level,
                           const TdEvalOptions *o);

/* The same on all bits of every value (bits.h), which decides strict equality where expressions
 * differ; what differs then may be equal all the same. */
TdEvalAnswer td_eval_decide(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                            const TdEvalOptions *o);

/* An element that two programs leave: number `index` of parameter `param`. */
typedef struct TdEvalElement {
  const TdProg *x, *y;
  unsigned param;
  int64_t index;
  const TdEvalArg *concrete;    /* as td_eval_compare has it */
  const TdEvalOptions *options; /* NULL: the default */
} TdEvalElement;

/* Writes at most 40 lines that show the element as both programs compute it. Returns false, with d
 * filled, when they cannot be run this way. */
bool td_eval_explain(TdArena *a, TdText *out, const TdEvalElement *e, TdDiag *d);

#endif
