/* classes.h - instances of a run that one body serves: every condition on coordinates has the same
 * truth in all of them, so the same statements and streams are left. */
#ifndef TD_ANALYSIS_NET_CLASSES_H
#define TD_ANALYSIS_NET_CLASSES_H

#include "ir/ir.h"

#define TD_CLASSES_EMPTY UINT32_MAX

/* The instances of a run, numbered in lexicographic order of their ids, by class; classes in order
 * of their first instance. */
typedef struct TdClasses {
  uint32_t n, instances;
  const uint32_t *of;    /* class of each instance; EMPTY: no statement is left */
  const uint32_t *first; /* first instance of each class */
  const uint32_t *count; /* how many it has */
} TdClasses;

/* The classes of run r of `design`, at its sizes; false when its map has no values, or is too
 * large. Owned by a. */
bool td_classes_of(TdArena *a, const TdProg *p, const TdUnit *design, const TdRun *r,
                   TdClasses *out);
/* What becomes of a statement in an instance: of a condition on coordinates only the arm that is
 * taken is left, a loop that never runs is gone. */
typedef enum { TD_FATE_STAYS, TD_FATE_GONE, TD_FATE_THEN, TD_FATE_ELSE } TdFate;
/* The fates of the statements of r's kernel in instance i, by uid, of those that do not stay: the
 * same for all instances of a class. The map's memory is a's. False where r runs no kernel. */
bool td_classes_fates(TdArena *a, const TdProg *p, const TdUnit *design, const TdRun *r, uint32_t i,
                      TdMap *fate);
/* The instance of class c that follows `after`; UINT32_MAX at the end. */
uint32_t td_classes_next(const TdClasses *x, uint32_t c, uint32_t after);
/* The ids of instance number i of a run. */
void td_classes_ids(const TdUnit *design, const TdRun *r, uint32_t i, int64_t *id);

#endif
