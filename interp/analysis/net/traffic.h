/* traffic.h - a design at its sizes: streams, instances, and what each instance does to the
 * streams. */
#ifndef TD_ANALYSIS_NET_TRAFFIC_H
#define TD_ANALYSIS_NET_TRAFFIC_H

#include "analysis/net/token_trace.h"

/* A declared stream (or port of the root), with constant extents. All its elements have one depth.
 */
typedef struct TdLine {
  TdSym sym;
  TdLoc loc;
  const TdType *type;
  int64_t depth;
  bool outside; /* a port of the root: its other end is not known */
} TdLine;

/* One stream. */
typedef struct TdChan {
  uint32_t line, group;
  int64_t ordinal; /* in the array of its line */
} TdChan;

#define TD_TRAFFIC_NONE UINT32_MAX

/* A design under way: the root, or the design that one instance calls at one place. */
typedef struct TdGroup {
  const TdUnit *design;
  uint32_t caller;   /* instance, or TD_TRAFFIC_NONE */
  uint32_t first, n; /* its instances */
} TdGroup;

/* An instance of a run. */
typedef struct TdInst {
  const TdRun *run;
  const TdUnit *kernel;
  uint32_t group;
  uint8_t rank;
  int64_t id[TD_MAX_RANK];
  const TdMove *move;
} TdInst;

/* An allreduce of a run, where instances meet that differ only in the axes it combines over. */
typedef struct TdMeet {
  const TdExpr *expr;
  uint32_t n;
  const uint32_t *inst; /* ascending */
} TdMeet;

typedef struct TdTraffic {
  TdArena *arena;
  const TdProg *prog;
  TdMoves moves;
  TD_VEC(TdLine) line;
  TD_VEC(TdChan) chan;
  TD_VEC(TdGroup) group; /* the first is the root */
  TD_VEC(TdInst) inst;   /* groups in order; in each as they are started */
  TD_VEC(TdMeet) meet;
  const char *open; /* NULL, or why the rest says nothing */
} TdTraffic;

/* The net of the design that is p's root, owned by a. NULL, with d filled, when an instance surely
 * uses a stream that is not there. */
TdTraffic *td_traffic_of(TdArena *a, const TdProg *p, TdDiag *d);

/* "pe[0][1]", with the instance around it: "half[1]:read"; "Z[0]". Owned by a. */
const char *td_traffic_inst_name(TdArena *a, const TdTraffic *n, uint32_t inst);
const char *td_traffic_chan_name(TdArena *a, const TdTraffic *n, uint32_t chan);

/* The place of an instance among those of a meeting; m->n: it is none of them. */
uint32_t td_traffic_seat(const TdMeet *m, uint32_t inst);
/* The first statement by which an instance puts to a channel, or gets from it; NULL if none. */
const TdStmt *td_traffic_stmt(const TdTraffic *n, uint32_t inst, uint32_t chan, bool put);

typedef TD_VEC(const TdStmt *) TdNetStmts;

/* All such statements, each once, owned by a. Of arms that move the same, one stands for both. */
TdNetStmts td_traffic_stmts(TdArena *a, const TdTraffic *n, uint32_t inst, uint32_t chan, bool put);

#endif
