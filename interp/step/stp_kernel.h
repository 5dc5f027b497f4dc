/* stp_kernel.h - kernels and designs as functions on tiles. Parameters that are read are the parts
 * of an element in order, in a fold the state first; the one that is written is the result. */
#ifndef TD_STP_KERNEL_H
#define TD_STP_KERNEL_H

#include "step/stp_graph.h"

#define TD_STP_KERNEL_SIZES 12

/* The sizes of a kernel that have no value, and what they are in a call. */
typedef struct TdStpSizes {
  size_t n;
  const char *name[TD_STP_KERNEL_SIZES];
  const TdStpExpr *expr[TD_STP_KERNEL_SIZES]; /* while a graph is built */
  int64_t full[TD_STP_KERNEL_SIZES];          /* at run: of whole tiles, of what is valid */
  int64_t valid[TD_STP_KERNEL_SIZES];
} TdStpSizes;

/* Whether a program may stand for a function: all parameters are matrices, one is written. `result`
 * is the number of that one, by td_effects_written. */
bool td_stp_kernel_check(const TdProg *p, const bool *written, int *result, TdDiag *d);
/* The type of what node n's kernel makes of parts; NULL with d filled. */
const TdStpType *td_stp_kernel_type(TdStpGraph *g, const TdStpNode *n, const TdStpType *const *part,
                                    size_t nparts, TdDiag *d);
/* Operations of one call on such parts, counted in its IR; NULL with d filled where data decides
 * their number. */
const TdStpExpr *td_stp_kernel_flops(TdStpGraph *g, const TdStpNode *n,
                                     const TdStpType *const *part, size_t nparts, TdDiag *d);
/* The same at sizes that are known; -1: d tells. */
int64_t td_stp_kernel_work(TdStpGraph *g, const TdStpFn *f, const TdStpSizes *s, TdDiag *d);

/* Parameter i of those that are read; their number. */
const TdParam *td_stp_kernel_read(const TdStpFn *f, size_t i);
size_t td_stp_kernel_reads(const TdStpFn *f);
const TdParam *td_stp_kernel_result(const TdStpFn *f);
/* Extent `dim` of a parameter at the sizes of a call; -1: unknown. */
int64_t td_stp_kernel_extent(const TdStpFn *f, const TdParam *p, int dim, const TdStpSizes *s,
                             bool valid);
/* The size that extent `dim` of a parameter is: its place in s, adding it; -1: it is none without
 * value. */
int td_stp_kernel_size(const TdStpFn *f, const TdParam *p, int dim, TdStpSizes *s);

/* stp_kernel_rows.c: whether row i of the result is made of rows i alone, whatever i is, of those
 * parameters that have as many rows, and of the others. */
bool td_stp_kernel_is_by_rows(const TdStpFn *f);
/* Whether a parameter has the rows of the result. */
bool td_stp_kernel_has_rows(const TdStpFn *f, const TdParam *p);

#endif
