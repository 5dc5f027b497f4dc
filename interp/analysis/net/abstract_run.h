/* abstract_run.h - following one instance through its body by spans: what traffic.c, abstract_run.c
 * and wire.c
 * share. */
#ifndef TD_ANALYSIS_NET_ABSTRACT_RUN_H
#define TD_ANALYSIS_NET_ABSTRACT_RUN_H

#include "analysis/net/traffic.h"
#include "analysis/range/span.h"

/* Some streams: a box, and dimensions of which the data picks one place each. */
typedef struct TdWire {
  uint32_t chan; /* the first */
  bool none;     /* out of range where that need not be reached */
  uint8_t rank, nfree;
  int64_t extent[TD_MAX_RANK], stride[TD_MAX_RANK];
  int64_t free[TD_MAX_RANK], by[TD_MAX_RANK];
} TdWire;

/* A buffer of a block stream in the hands of the instance. */
typedef struct TdHeldWire {
  TdSym sym;
  TdWire wire;
  bool empty; /* taken by slot, not yet put */
  const TdStmt *stmt;
} TdHeldWire;

/* What a symbol stands for now. */
typedef struct TdKnown {
  TdSpan value;       /* scalars */
  const TdBlob *blob; /* constant tables */
  TdWire wire;        /* streams and ports */
} TdKnown;

typedef struct TdFollow {
  TdTraffic *net;
  TdSession *session;
  TdDiag *diag;
  bool meets;         /* some statement holds an allreduce */
  TdMap facts;        /* statement -> its TdFacts (abstract_run.c) */
  TdMap tables;       /* allreduce -> its meetings (traffic.c) */
  TdKnown *known;     /* by symbol id; a unit is never under way twice */
  const TdUnit *unit; /* whose statements are followed */
  uint32_t inst;      /* of the net */
  uint32_t first, of; /* the instances of its run */
  TD_VEC(TdHeldWire) held;
  unsigned loops;     /* that are followed once for all values of their variable */
  uint64_t undecided; /* not 0: these of them must be followed value by value */
  int maybe;          /* above 0: what is followed may not be reached */
  uint64_t steps;
  bool stop; /* refused, or too much to follow */
} TdFollow;

/* abstract_run.c: what the body of f's instance does; NULL when f stopped or is undecided. */
const TdMove *td_abstract_run_body(TdFollow *f, const TdUnit *u);
/* Whether running u touches streams, meets or starts a design. */
bool td_abstract_run_moves(TdFollow *f, const TdUnit *u);
/* The span of a scalar expression of f's unit. */
TdSpan td_abstract_run_span(TdFollow *f, const TdExpr *e);

/* wire.c: the streams that a VIEW denotes; false when f stopped or is undecided. */
bool td_wire_of(TdFollow *f, const TdExpr *view, TdWire *out);
/* What a GET, SLOT or PUT does. */
const TdMove *td_wire_move(TdFollow *f, const TdStmt *s);
/* Gives back what was taken since there were n buffers in hand. */
const TdMove *td_wire_release(TdFollow *f, size_t n);
/* Any number of puts and gets, in any order. */
const TdMove *td_wire_anything(TdFollow *f, const TdWire *w, const TdStmt *s);

/* traffic.c: starts design u, whose parameters are known, at statement s of f's instance (NULL: the
 * root); its number, or TD_TRAFFIC_NONE when f stopped or is undecided. */
uint32_t td_traffic_start(TdFollow *f, const TdUnit *u, const TdStmt *s);
/* The number of the meeting of f's run at an allreduce. */
uint32_t td_traffic_meet(TdFollow *f, const TdExpr *e);

#endif
