/* mapping.h - tasks of a design on their way to fewer processing elements: what bundle, chain and
 * place share. */
#ifndef TD_REWRITE_TASK_MAPPING_H
#define TD_REWRITE_TASK_MAPPING_H

#include "analysis/net/graph.h"
#include "rewrite/kernel/lift.h"

/* A design and its graph; `prog` has it as its root. */
typedef struct TdMapping {
  TdRewrite *r;
  const TdUnit *design;
  const TdProg *prog;
  TdGraph graph;
} TdMapping;

/* The design that has a task called `name`, and the run; NULL with r->diag filled when none, or
 * more than one, has it, or the graph cannot be told. */
const TdRun *td_mapping_open(TdRewrite *r, const char *name, TdMapping *m);
/* Another task of the same design. */
const TdRun *td_mapping_task(const TdMapping *m, const char *name);
/* The kernel of a run, of which no other task is made; NULL with the diag filled. */
const TdUnit *td_mapping_kernel(const TdMapping *m, const TdRun *run);
/* The extents of a run's map, and how many instances that makes. */
int64_t td_mapping_extents(const TdMapping *m, const TdRun *run, int64_t *extent);
/* The node of an instance of a run by its ids, or TD_TRAFFIC_NONE if it does nothing. */
uint32_t td_mapping_node(const TdMapping *m, const TdRun *run, const int64_t *id);

/* The axis that a layout names for dimension d, or -1. */
int td_mapping_axis(const char *layout, int d);
/* The value of an extent of kernel k's; *design is a copy of the design, which gets what that takes
 * of the sizes as an assumption. */
int64_t td_mapping_block(const TdMapping *m, const TdUnit *k, const TdExpr *dim, TdUnit *design);
/* u, made from a kernel of the design, with the sizes of both. */
void td_mapping_join_sizes(const TdMapping *m, TdUnit *u);

/* The program with the design replaced by u, and kernels by those of the n units. */
const TdProg *td_mapping_put(const TdMapping *m, const TdUnit *u, const TdUnit *const *kernel,
                             size_t n);

/* Whether all instances of the new design run to their end as far as can be told without data;
 * UNKNOWN: data decides the order. */
typedef enum { TD_MAPPING_ENDS, TD_MAPPING_STUCK, TD_MAPPING_UNKNOWN } TdMappingEnd;
TdMappingEnd td_mapping_end(const TdMapping *m, const TdProg *p);

/* Whether a kernel returns in the middle of what it does. */
bool td_mapping_returns(TdRewrite *r, const TdUnit *kernel);

#endif
