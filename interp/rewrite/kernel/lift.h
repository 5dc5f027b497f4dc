/* lift.h - statements become a kernel of their own: what they use from outside is passed to it. */
#ifndef TD_REWRITE_KERNEL_LIFT_H
#define TD_REWRITE_KERNEL_LIFT_H

#include "rewrite/util.h"

/* What a lifted kernel takes from where it came: parameter i of `unit` is arg[i] there, and was
 * called was[i]. */
typedef struct TdLifted {
  const TdUnit *unit;
  const TdExpr *const *arg;
  const TdSym *was;
} TdLifted;

/* Makes n consecutive statements of u a kernel called `name` (a name that no unit has). Arrays and
 * streams come whole, scalars by value; constants and states are its own copies; statements keep
 * their uids. False with r->diag filled: a scalar from outside is written, a state is used outside
 * too, both ends of a stream are used, control leaves the statements. */
bool td_lift(TdRewrite *r, const TdUnit *u, const TdStmt *const *s, size_t n, const char *name,
             TdLifted *out);

/* The ids of a task: variables, as many as its map has axes. */
typedef struct TdTaskIds {
  const TdSym *coord;
  size_t n;
} TdTaskIds;

/* The same for a task, whose ids come last. */
bool td_lift_task(TdRewrite *r, const TdUnit *u, const TdStmt *const *s, size_t n, const char *name,
                  TdTaskIds ids, TdLifted *out);

/* u without the constants, states and sizes that nothing in it uses any more. */
const TdUnit *td_lift_tidy(TdRewrite *r, const TdUnit *u);

/* Whether a name that was given, if any, can be a unit's. False: r->diag says so ("name"). */
bool td_lift_check_name(TdRewrite *r, const TdArgValue *name);
/* A name like `want`, a name, that no unit of p has and that can be printed. */
const char *td_lift_unit_name(TdRewrite *r, const TdProg *p, const char *want);

/* How often s calls a unit; one of those calls, or NULL. */
size_t td_lift_calls(TdRewrite *r, const TdStmt *s, TdSym unit);
const TdStmt *td_lift_call(TdRewrite *r, const TdStmt *s, TdSym unit);

/* p with each unit after those that it uses, in order of first use from the root: the order in
 * which a printed chunk loads. */
const TdProg *td_lift_in_order(TdRewrite *r, const TdProg *p);

#endif
