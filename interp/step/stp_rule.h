/* stp_rule.h - what the shape rules of the operators share: stp_rule_*.c. */
#ifndef TD_STP_RULE_H
#define TD_STP_RULE_H

#include "step/stp_graph.h"

/* What a rule works on. */
typedef struct TdStpRule {
  TdStpGraph *g;
  TdStpNode *n;
  TdDiag *d;
} TdStpRule;

/* Input i of the node. */
const TdStpStream *td_stp_rule_input(const TdStpRule *r, size_t i);
/* A stream in words. */
const char *td_stp_rule_shown(const TdStpRule *r, const TdStpStream *s);
/* The operator's name. */
const char *td_stp_rule_name(const TdStpRule *r);
/* A regular dimension. */
TdStpDim td_stp_rule_regular(const TdStpExpr *e);
/* A number as an expression. */
const TdStpExpr *td_stp_rule_number(const TdStpRule *r, int64_t v);
/* A new symbol for dimension dim of output `out` of the node; its number is *count. */
const TdStpExpr *td_stp_rule_fresh(const TdStpRule *r, const char *letter, uint32_t *count,
                                   size_t out, int dim, bool ragged);
/* The same, named R. */
const TdStpExpr *td_stp_rule_fresh_count(const TdStpRule *r, size_t out, int dim, bool ragged);
/* Room for n outputs. */
TdStpStream *td_stp_rule_outputs(TdStpRule *r, size_t n);
/* A type to be filled. */
TdStpType *td_stp_rule_new_type(const TdStpRule *r, TdStpKind kind);
/* Tiles of constant extents. */
const TdStpType *td_stp_rule_tile(const TdStpRule *r, const TdType *elem, int64_t rows,
                                  int64_t cols);
/* Selectors of some ways. */
const TdStpType *td_stp_rule_selector(const TdStpRule *r, int64_t ways);
/* Whether two dimensions cannot be equal. */
bool td_stp_rule_clash(TdStpDim a, TdStpDim b);
/* Refuses unless `rank` is in lo .. hi. */
bool td_stp_rule_check_rank(const TdStpRule *r, int64_t rank, int64_t lo, int64_t hi);
/* Refuses an input of another kind; what: the words for the one it takes. */
bool td_stp_rule_check_kind(const TdStpRule *r, size_t i, TdStpKind kind, const char *what);
/* Refuses inputs whose outer dimensions, from `from_a` and `from_b` on, differ. */
bool td_stp_rule_check_outer(const TdStpRule *r, size_t ia, int from_a, size_t ib, int from_b);
/* Copies dimensions from .. to - 1 of s behind those of out. */
void td_stp_rule_append(TdStpStream *out, const TdStpStream *s, int from, int to);
/* Refuses more dimensions than a stream has. */
bool td_stp_rule_check_room(const TdStpRule *r, int ndim);

/* The rules: each fills the node's outputs from its inputs, or refuses. */
bool td_stp_rule_load(TdStpRule *r);
bool td_stp_rule_load_at(TdStpRule *r);
bool td_stp_rule_store(TdStpRule *r);
bool td_stp_rule_store_at(TdStpRule *r);
bool td_stp_rule_selectors(TdStpRule *r);
bool td_stp_rule_values(TdStpRule *r);
bool td_stp_rule_sink(TdStpRule *r);
bool td_stp_rule_feedback(TdStpRule *r);
bool td_stp_rule_bufferize(TdStpRule *r);
bool td_stp_rule_streamify(TdStpRule *r);
bool td_stp_rule_partition(TdStpRule *r);
bool td_stp_rule_reassemble(TdStpRule *r);
bool td_stp_rule_eager_merge(TdStpRule *r);
bool td_stp_rule_parallelize(TdStpRule *r);
bool td_stp_rule_zip(TdStpRule *r);
bool td_stp_rule_map(TdStpRule *r);
bool td_stp_rule_accum(TdStpRule *r);
bool td_stp_rule_flat_map(TdStpRule *r);
bool td_stp_rule_flatten(TdStpRule *r);
bool td_stp_rule_reshape(TdStpRule *r);
bool td_stp_rule_promote(TdStpRule *r);
bool td_stp_rule_expand(TdStpRule *r);
bool td_stp_rule_rep(TdStpRule *r);
bool td_stp_rule_assume_shape(TdStpRule *r);

#endif
