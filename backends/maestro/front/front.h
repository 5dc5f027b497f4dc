/* front.h - streamers in front of a design: tasks that only load from one argument and put, or get
 * and store, become streamers; the rest of the design runs as it is. What a task puts is found by
 * running it on symbols, so that its form does not matter: a token is elements of the argument, and
 * zeros. What a streamer makes of that is a word of all its streams' tokens side by side, whose
 * addresses are fitted to loops. A word is dealt out token by token to the streams, which stay. */
#ifndef TD_MAESTRO_FRONT_H
#define TD_MAESTRO_FRONT_H

#include "affine/access.h"
#include "eval/outer.h"
#include "ir/order.h"
#include "ir/times.h"
#include "backends/maestro/maestro.h"
#include "backends/verilog/verilog.h"

/* A stream whose one end is a streamer's. */
typedef struct TdMaestroEnd {
  size_t stream;   /* of the design's */
  int64_t ordinal; /* in its array */
} TdMaestroEnd;

/* What passes between an argument and its streams. */
typedef struct TdMaestroFeed {
  size_t param;
  const TdType *elem;
  int64_t size; /* bytes of an element */
  TdMaestroEnd *end;
  int64_t nend, tokens, each; /* streams; tokens of each; elements of a token */
  int64_t *at;     /* [end][token][element] -> element of the argument; -1: a zero, or dropped */
  TdLoc loc;       /* an access of the argument */
  const char *run; /* the task that has it */
  /* the fit */
  const char *text; /* its order */
  TdOrderBytes order;
  int64_t bytes;   /* of its region, with what is read or written beside it */
  int64_t region;  /* where that begins */
  int64_t group;   /* tokens of a stream in a word */
  bool streams_in; /* the streams of each token are neighbours, not the tokens of each stream */
  bool backward;   /* the last token of a stream comes first in a word */
  int64_t vectors; /* words */
} TdMaestroFeed;

typedef struct TdMaestroFront {
  TdMaestroSystem system; /* a streamer for each feed */
  const TdProg *prog;
  TdMaestroFeed feed[TD_MAESTRO_STREAMERS];
  TdMaestroPattern pattern[TD_MAESTRO_STREAMERS];
  bool *without; /* runs that streamers do */
} TdMaestroFront;

/* What the user says of it, by streamers. */
typedef struct TdMaestroFrontAsk {
  const char *const *order; /* NULL: one that fits is found */
  const int *mode;          /* -1: the first */
  const int64_t *base;      /* -1: behind those before */
} TdMaestroFrontAsk;

/* Fills `feed` and `without` of f, whose system and program are set; false with d filled. */
bool td_maestro_front_trace(TdMaestroFront *f, TdAsk q, TdDiag *d);
/* Fits the pattern of streamer i to an order, or to one that is found. */
bool td_maestro_front_fit(TdMaestroFront *f, int i, const char *order, TdArena *a, TdDiag *d);
/* Where an element lies in the region of its argument. */
int64_t td_maestro_front_byte(const TdMaestroFeed *f, int64_t element);
/* All of it: traced, fitted, placed. */
bool td_maestro_front_make(TdMaestroFront *f, TdAsk q, const TdMaestroFrontAsk *ask, TdDiag *d);

/* Runs it on tensors, by parameter, with a clock; everything is in arena a. */
typedef struct TdMaestroFrontRun {
  const TdMaestroFront *front;
  const TdTimes *times;
  TdEvalArg *arg; /* of all parameters of the design */
  TdMaestroReport *report;
  const TdTimed *timed;
  /* Each cycle, with a bit for each end that moved a token, by feeds; or NULL. */
  void (*watch)(void *ud, const TdMaestroCycle *c, const uint8_t *moves, int nmove);
  void *ud;
} TdMaestroFrontRun;
bool td_maestro_front_run(TdMaestroFrontRun *r, TdArena *a, TdDiag *d);

/* front_rtl.c: streamers and the rest of the design as one text. */
typedef struct TdMaestroFrontText {
  const TdFile *file; /* the top first */
  size_t nfile;
  const char *bench;
  int moves; /* ends that move tokens */
  const TdVlogModule *design;
} TdMaestroFrontText;
/* Writes it; false with d filled. */
bool td_maestro_front_text(const TdMaestroFront *f, const TdTarget *target, TdAffine *affine,
                           bool axi, TdArena *a, TdMaestroFrontText *out, TdDiag *d);

/* front_sim.c: runs that on tensors in a simulator, each cycle against the run with a clock. */
typedef struct TdMaestroFrontSim {
  const TdMaestroFront *front;
  const TdTarget *target;
  TdAffine *affine;
  const TdTimes *times;
  TdEvalArg *arg;
  const char *sim;
  int seconds;
  bool axi, check;
  int64_t cycles;
} TdMaestroFrontSim;
/* Fills `cycles`; the results are in the tensors of `arg`. */
bool td_maestro_front_sim(TdMaestroFrontSim *x, TdArena *a, TdDiag *d);

#endif
