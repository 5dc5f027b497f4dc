/* collapse.c - collapse: copies that only arrange elements go. */
#include "rewrite/array/collapse_nest.h"

enum { ARRAY, REASSOCIATE };

/* The array as two that it holds in turn, or else as it is. */
static const TdProg *collapse_local(TdRewrite *r, const TdPlace *at) {
  TdDiag *diag = r->diag, quiet = {.arena = r->arena};
  size_t notes = r->note.n;
  r->diag = &quiet;
  const TdProg *p = td_collapse_lives(r, at);
  r->diag = diag;
  if (p) return p;
  r->note.n = notes;
  return td_collapse_array(r, at);
}

static const TdProg *apply(TdRewrite *r) {
  TdDiag *diag = r->diag, no_stream = {.arena = r->arena};
  TdStreamAt stream;
  TdPlace at;
  r->diag = &no_stream;
  bool found = td_stream_find(r, r->arg[ARRAY].text, &stream);
  r->diag = diag;
  if (found) return td_token_collapse(r, &stream);
  if (!td_cursor_array(r->arena, r->prog, r->arg[ARRAY].text, NULL, &at, r->diag)) return NULL;
  bool partial, reassociate = r->arg[REASSOCIATE].given && r->arg[REASSOCIATE].integer;
  const TdProg *p = td_collapse_partial(r, &at, reassociate, &partial);
  return partial ? p : collapse_local(r, &at);
}

const TdPrim td_prim_collapse = {
    .name = "collapse",
    .on = "array",
    .summary = "Let go of a copy that only holds elements in another arrangement.",
    .args =
        {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED,
          "a local array or scalar that is filled by a copy or copied away at last, or a stream of "
          "tensors that are such copies",
          "local|stream"},
         {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION, "accept another order of a sum of floats",
          NULL}},
    .rewrite =
        "for i, j: P[i // 8][j][i % 8] = A[i][j]; S(P[x][y][z])  =>  S(A[x * 8 + z][y]);  "
        "for i, j: P[j][i] = A[i][j]; Z:put(P); .. T = Z:get(); S(T[y][x])  =>  "
        "Z:put(A); .. T = Z:get(); S(T[x][y]);  P = 0; P[i] = P[i] + x; S[i] = S[i] + P[i]  =>  "
        "S[i] = S[i] + x",
    .legal =
        "the copy moves each element once; all uses come after a copy that fills the array "
        "(before one that takes it away), in one execution of the block around it; the "
        "elements of the other array are not touched otherwise meanwhile. Or the array starts with "
        "zeros, is only added to, and added to the other at last. Of a stream: one "
        "statement puts it, and what it puts is filled by such a copy",
    .errors = "not-an-array interface class whole elements not-a-copy index covers one-to-one "
              "scope leaves order dependence not-decided reassociation token ends",
    .example = "s:buffer_at(\"A\", \"i\"); s:buffer_at(\"A_i\", \"j\"); s:collapse(\"A_i\")",
    .apply = apply,
};
