/* isolate_cut.h - a task cut in two at a stream: what some statements of one of its blocks do goes
 * to a task of their own. */
#ifndef TD_REWRITE_TASK_ISOLATE_CUT_H
#define TD_REWRITE_TASK_ISOLATE_CUT_H

#include "rewrite/task/mapping.h"

/* What is cut out of a task, and where. */
typedef struct TdCut {
  TdRewrite *r;
  const TdUnit *design, *task;
  const TdRun *run;
  const TdStmt *decl; /* of the local */
  TdPath path;        /* from the body to the block that it is declared in */
  const TdStmt *block;
  size_t at, lo, hi; /* of the block: the declaration, and the statements [lo, hi) that move */
  bool out;          /* they empty it */
  TdSym other;       /* the parameter that they copy to, or the first that they copy from */
  TdStream stream;   /* the new one */
  /* Whether the old task keeps the local, to which it copies the token that fills it, before
   * statement `use`; and the statements [back_lo, back_hi) that empty the local to where it came
   * from, which go to the new task too, by a stream of their own. None: both are 0. */
  bool keep;
  size_t use, back_lo, back_hi;
  TdStream back;
  /* As the step was asked: the name of the new task (NULL: after what it moves), whether it stands
   * in the row of the memories, and not on the host, and how many tokens the stream holds. */
  const char *name;
  bool mem, device;
  int64_t depth;
} TdCut;

/* The task, with ids if its map has axes: c->task, of which c->run is. */
void td_cut_name_ids(TdCut *c);
/* A stream for each instance of the run, named like `like`. */
TdStream td_cut_stream(const TdCut *c, const char *like, const TdType *port, TdLoc loc);
/* The block as the old task has it: the declaration is the token, or takes it (c->keep), what moves
 * is gone. */
const TdStmt *td_cut_old_block(const TdCut *c);
/* The block as the new task has it: the token, and what moves. */
const TdStmt *td_cut_new_block(const TdCut *c);
/* A body of the new task: the block under the loops and conditions around c->block, which hold
 * nothing else then. The task is called `name`, or `<after>_<suffix>`; false with d filled. */
bool td_cut_lift(const TdCut *c, const TdStmt *block, TdSym after, const char *suffix,
                 TdLifted *out);
/* The program with this body for the old task and with the new one before it, or (`behind`) behind.
 */
const TdProg *td_cut_put(const TdCut *c, const TdStmt *body, const TdLifted *l, bool behind);

#endif
