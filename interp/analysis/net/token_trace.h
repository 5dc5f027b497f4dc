/* token_trace.h - what an instance does to streams, without data: a program of gets and puts, as a
 * tree
 * whose equal parts are one node. */
#ifndef TD_ANALYSIS_NET_TOKEN_TRACE_H
#define TD_ANALYSIS_NET_TOKEN_TRACE_H

#include "ir/ir.h"

typedef enum {
  TD_MOVE_GET,    /* takes a token; its place comes free */
  TD_MOVE_PUT,    /* takes a free place and fills it */
  TD_MOVE_SLOT,   /* takes a free buffer of a block stream */
  TD_MOVE_HAND,   /* puts it; never waits */
  TD_MOVE_HOLD,   /* takes a full buffer and keeps it */
  TD_MOVE_FREE,   /* gives a buffer back; never waits */
  TD_MOVE_JOIN,   /* brings a part to a meeting, and waits for all others */
  TD_MOVE_LEAVE,  /* takes the result of a meeting */
  TD_MOVE_FORK,   /* runs the instances of a network to their end */
  TD_MOVE_SEQ,    /* the kids, one after the other; none: nothing */
  TD_MOVE_REPEAT, /* the kid, `lo` times, or as the data says up to `hi` times */
  TD_MOVE_CHOICE  /* one of the kids, as the data says */
} TdMoveKind;

/* From lo to hi; INT64_MAX is "any number". */
typedef struct TdRange {
  int64_t lo, hi;
} TdRange;

/* How many tokens pass through a channel. */
typedef struct TdCount {
  uint32_t channel;
  TdRange put, get;
} TdCount;

typedef struct TdMove TdMove;
struct TdMove {
  uint8_t kind; /* TdMoveKind */
  bool fixed;   /* the data has no say */
  uint32_t at;  /* number of the channel, meeting or network */
  uint32_t n;
  const TdStmt *stmt; /* that moves, or NULL */
  int64_t lo, hi;     /* of REPEAT */
  uint64_t length;    /* of the tree, written out */
  const TdMove *const *kid;
  const TdCount *count; /* channels ascending; none without a token */
  size_t ncount;
  const TdMove *next; /* of the same hash */
};

/* Makes nodes: equal ones are one pointer. Zeroed but for the arena it is empty. */
typedef struct TdMoves {
  TdArena *arena;
  TdMap map; /* hash -> TdMove * */
} TdMoves;

/* A sequence of no moves. */
const TdMove *td_token_trace_nothing(TdMoves *m);
/* One of the kinds before FORK. */
const TdMove *td_token_trace_event(TdMoves *m, TdMoveKind kind, uint32_t at, const TdStmt *s);
/* The instances of a network, which together move `count`; a node of its own each time. */
const TdMove *td_token_trace_fork(TdMoves *m, uint32_t network, const TdStmt *s,
                                  const TdCount *count, size_t n);
/* n moves in a row; what repeats in it becomes a REPEAT. */
const TdMove *td_token_trace_seq(TdMoves *m, const TdMove *const *kid, size_t n);
const TdMove *td_token_trace_repeat(TdMoves *m, const TdMove *x, int64_t lo, int64_t hi);
/* x or y. Arms that do the same become one of them. */
const TdMove *td_token_trace_choice(TdMoves *m, const TdMove *x, const TdMove *y);

/* What x does to a channel, or NULL. */
const TdCount *td_token_trace_count(const TdMove *x, uint32_t channel);

#endif
