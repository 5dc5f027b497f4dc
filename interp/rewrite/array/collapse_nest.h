/* collapse_nest.h - arrays that only hold others' elements in another arrangement go, in a unit or
 * along
 * a stream. */
#ifndef TD_REWRITE_ARRAY_COLLAPSE_NEST_H
#define TD_REWRITE_ARRAY_COLLAPSE_NEST_H

#include "rewrite/array/copy.h"
#include "rewrite/stream/stream.h"

/* r->prog without the local array, or scalar, which is one of one element; NULL with r->diag
 * filled. */
const TdProg *td_collapse_array(TdRewrite *r, const TdPlace *at);

/* The place of a local; of a scalar, such as a buffer of one element is, as an array of one, in a
 * unit where it is declared so. */
TdPlace td_collapse_place(TdRewrite *r, const TdPlace *at);

/* split_lives.c: the same for one that a copy overwrites whole: what it holds before and behind
 * that goes apart. NULL: it is none, or one of the two does not go; r->diag may tell. */
const TdProg *td_collapse_lives(TdRewrite *r, const TdPlace *at);

/* partial_sum.c: r->prog without the local array, a sum that is added to another array at last,
 * which is added to at once. NULL with r->diag filled; or (*is false) it is none. */
const TdProg *td_collapse_partial(TdRewrite *r, const TdPlace *at, bool reassociate, bool *is);

/* token_layout.c: r->prog where the tokens of a stream, which a copy arranges before they are put,
 * travel
 * in the arrangement that they are copied from, and that copy is gone; NULL with r->diag filled. */
const TdProg *td_token_collapse(TdRewrite *r, const TdStreamAt *stream);

#endif
