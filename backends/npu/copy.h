/* copy.h - which elements a copy moves: loops over stores of elements as they are. */
#ifndef TD_NPU_COPY_H
#define TD_NPU_COPY_H

#include "backends/npu/form.h"

/* What a copy moves: pairs of places in two arrays. */
typedef struct TdNpuPairs {
  TdSym to, from;
  bool shifts; /* loops outside only shift it */
  size_t n;
  int64_t *dst, *src;
} TdNpuPairs;

/* The copies of an instance. */
typedef struct TdNpuCopies {
  TdNpuForm *f;
  uint32_t inst;
  TdMap at;    /* loop -> value */
  TdMap block; /* symbol -> type of the block that it is */
  TdMap pairs; /* statement -> TdNpuPairs */
} TdNpuCopies;

/* What copy s moves where loops have the values of `at`: pairs, and how far from there; NULL with
 * the form's diagnostic filled. */
const TdNpuPairs *td_npu_copy_pairs(TdNpuCopies *w, const TdStmt *s, int64_t *dst, int64_t *src);

#endif
