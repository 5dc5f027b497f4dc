/* stp_rewrite.h - a step on a graph at work, and the next version that it edits. */
#ifndef TD_STP_REWRITE_H
#define TD_STP_REWRITE_H

#include "step/stp_kind.h"

/* All primitives on graphs, NULL at the end. */
extern const TdPrim *const td_stp_prims[];

typedef struct TdStpRewrite {
  TdStpGraph *g;  /* before; only its table of expressions grows */
  TdStore *store; /* of versions */
  TdArena *arena; /* scratch, gone when the step is over */
  const TdStpTools *tools;
  const TdArgValue *arg; /* parallel to the specs */
  TdDiag *diag;
  TD_VEC(const char *) made, note, relative;
} TdStpRewrite;

/* Refuses; false. */
bool td_stp_rewrite_refuse(TdStpRewrite *r, TdDiagKind kind, const char *code, TdLoc at,
                           const char *fmt, ...) TD_PRINTF(5, 6);
/* The node that text names, or NULL with the reason told. */
const TdStpNode *td_stp_rewrite_node(TdStpRewrite *r, const char *text);
/* A node by name, or all nodes of a name, in order; 0 with the reason told. */
size_t td_stp_rewrite_family(TdStpRewrite *r, const char *text, const TdStpNode *const **node);
/* The only reader of a node, or NULL: it has several, or is an output. */
const TdStpNode *td_stp_rewrite_reader(const TdStpRewrite *r, const TdStpNode *n);
/* A node's name in words. */
const char *td_stp_rewrite_name(const TdStpRewrite *r, const TdStpNode *n);

/* Refuses a step that changes when elements arrive, where a sum of floats shows that and the user
 * did not allow it. */
bool td_stp_rewrite_check_order(TdStpRewrite *r, bool allowed);
/* The graph with an integer option (its name in the table of operators, or NULL for one that all
 * have), at least 1, of a node or family set. */
const TdStpGraph *td_stp_rewrite_set_option(TdStpRewrite *r, const char *family, TdStpKey key,
                                            int64_t value, const char *name);

/* The nodes of the next version, in order. Until the end, refs are those of the version before, and
 * of nodes that were added. */
typedef struct TdStpEdit {
  TdStpRewrite *r;
  TD_VEC(TdStpNode *) node;   /* in order; NULL where one was removed */
  TD_VEC(TdStpNode *) by_uid; /* NULL where there is none any more */
  TD_VEC(TdStpRef) output;
} TdStpEdit;

/* All of r->g. */
TdStpEdit td_stp_edit_new(TdStpRewrite *r);
/* The node of a uid, to be changed. */
TdStpNode *td_stp_edit_node(TdStpEdit *e, uint32_t uid);
/* Adds a node before the node `at` (UINT32_MAX: at the end); its uid. Inputs are copied. */
uint32_t td_stp_edit_add(TdStpEdit *e, uint32_t at, const TdStpNode *n);
void td_stp_edit_remove(TdStpEdit *e, uint32_t uid);
/* Whoever read `from`, outputs of the graph included, reads `to`. */
void td_stp_edit_rewire(TdStpEdit *e, TdStpRef from, TdStpRef to);
/* Removes what nobody reads any more of the nodes that uid is made of, itself included; what writes
 * stays. */
void td_stp_edit_prune(TdStpEdit *e, uint32_t uid);
/* The graph, whose shapes are inferred again; inputs come before their readers. NULL: shapes do not
 * fit, which is told. */
const TdStpGraph *td_stp_edit_end(TdStpEdit *e);
/* The graph with the types of its tensors at these sizes; store: where it is made. NULL with the
 * reason told. */
const TdStpGraph *td_stp_edit_at_sizes(TdStpRewrite *r, const TdSize *size, size_t n);
/* Applies a change to a node by name, or to each of a family. NULL where the name or the change is
 * refused. */
typedef bool TdStpChange(TdStpRewrite *r, TdStpEdit *e, const TdStpNode *n);
const TdStpGraph *td_stp_edit_each(TdStpRewrite *r, const char *text, TdStpChange *change);

#endif
