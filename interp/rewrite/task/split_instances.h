/* split_instances.h - some instances of a task as a task of their own. */
#ifndef TD_REWRITE_TASK_SPLIT_INSTANCES_H
#define TD_REWRITE_TASK_SPLIT_INSTANCES_H

#include "rewrite/task/mapping.h"

/* Instances of a task, by its name: `base`, and if axis is not -1 those n at step along it. */
typedef struct TdFamily {
  const char *task;
  int64_t base[TD_MAX_RANK];
  int axis;
  int64_t step, n;
} TdFamily;
typedef TD_VEC(TdFamily) TdFamilies;

/* The name of the task in "gemm[0][*]". Owned by a. */
const char *td_split_instances_task(TdArena *a, const char *spec);
/* Whether a spec names instances, and not a task. */
bool td_split_instances_is_instance(const char *spec);
/* Adds the instances that "gemm[0][*]" names, one by one. False with r->diag filled when there are
 * none of that name. */
bool td_split_instances_parse(const TdMapping *m, const char *spec, TdFamilies *out);

/* Several instances (each alone, of one task, in order) as one family; false if they lie otherwise.
 */
bool td_split_instances_join(const TdMapping *m, const TdFamilies *all, TdFamily *out);

/* Makes r->prog one in which the family is a task of its own, whose ids are their number in it; a
 * task of a single instance stays as it is. Returns the name; NULL with r->diag filled when copies
 * of an argument stand in the way. */
const char *td_split_instances_peel(TdRewrite *r, const TdFamily *f);

#endif
