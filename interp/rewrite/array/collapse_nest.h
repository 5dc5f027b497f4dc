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

/* token_layout.c: r->prog where the tokens of a stream, which a copy arranges before they are put,
 * travel
 * in the arrangement that they are copied from, and that copy is gone; NULL with r->diag filled. */
const TdProg *td_token_collapse(TdRewrite *r, const TdStreamAt *stream);

#endif
