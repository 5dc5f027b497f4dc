/* coalesce.h - what coalesce found of a task on the host, and the two tasks that it makes of it. */
#ifndef TD_REWRITE_TASK_COALESCE_H
#define TD_REWRITE_TASK_COALESCE_H

#include "rewrite/task/isolate_cut.h"

/* A stream of the task's, which it moves one way. */
typedef struct TdCoalesceWay {
  const TdStream *was;
  TdStream now; /* between the host's task and the new one */
  bool out;     /* the task gets from it */
  bool same;    /* all instances along the axis move the same */
} TdCoalesceWay;

/* A block that the task moves: statements [lo, hi) of the block, the first of them its slot, or
 * get. */
typedef struct TdCoalesceMove {
  const TdStmt *take;
  size_t lo, hi, way;
} TdCoalesceMove;

typedef struct TdCoalesce {
  TdRewrite *r;
  TdMapping m;
  TdCut cut;      /* the kernel on the host, where it moves blocks */
  TdUnit *design; /* a copy, which gets what the step takes of the sizes */
  const TdRun *run;
  const TdUnit *kernel;
  int axis;
  int64_t n;      /* instances along it that become one */
  int64_t groups; /* of so many; 1: the axis goes */
  TdSym coord;    /* that counts instances, then groups */
  TD_VEC(TdCoalesceWay) way;
  TD_VEC(TdCoalesceMove) move;
} TdCoalesce;

/* An argument's dimension that the layout cuts along the axis; -1: none. */
int td_coalesce_cut_dim(const TdCoalesce *c, TdSym param);
/* Whether s takes, or gives away, the block of a move; all else fills or empties it. */
bool td_coalesce_is_end(const TdCoalesceMove *m, const TdStmt *s);
/* The extents of the map that is left; returns how many. */
int td_coalesce_keep_map(const TdCoalesce *c, const TdExpr **map);

/* The kernel of the host's task: without the id, its arguments' blocks those of all along it. */
const TdUnit *td_coalesce_host_kernel(const TdCoalesce *c);
TdRun td_coalesce_host_run(const TdCoalesce *c);
/* The task that stands between the host's and the others, for a stream; false with the diagnostic
 * filled. Its run: a column an id of the first axis. */
bool td_coalesce_memory_task(const TdCoalesce *c, size_t way, TdLifted *out);
TdRun td_coalesce_memory_run(const TdCoalesce *c, const TdLifted *l);

#endif
