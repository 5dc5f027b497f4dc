/* bd.h - descriptors as the dimensions of buffer descriptors (BDs) of a DMA. */
#ifndef TD_NPU_BD_H
#define TD_NPU_BD_H

#include "analysis/net/devices.h"
#include "ir/desc.h"

enum { TD_BD_DIMS = 4 };

/* Dimensions of a BD, outermost first; those of a shim, where outer[0..nouter) are left: places
 * from which it starts again, one task each. The first dimension of four is the iteration. */
typedef struct TdBd {
  int n;
  TdDigit at[TD_BD_DIMS];
  int nouter;
  TdDigit outer[TD_DESC_DIGITS];
  int64_t tasks; /* how often it starts */
} TdBd;

/* The BD of least tasks for a descriptor of elements of so many bytes on a kind of tile: only shims
 * start more than once. False with *why, a rule that all ways break. */
bool td_bd_of(const TdDesc *d, int64_t bytes, TdTileKind kind, TdBd *out, const char **why);

/* Whether n dimensions, outermost first, are such as they stand; of a shim the first of four is the
 * iteration. False with *why. */
bool td_bd_check(const TdDigit *at, int n, int64_t bytes, TdTileKind kind, const char **why);

#endif
