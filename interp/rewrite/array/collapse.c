/* collapse.c - collapse: copies that only arrange elements go. */
#include "rewrite/array/collapse_nest.h"

enum { ARRAY };

static const TdProg *apply(TdRewrite *r) {
  TdDiag *diag = r->diag, no_stream = {.arena = r->arena};
  TdStreamAt stream;
  TdPlace at;
  r->diag = &no_stream;
  bool found = td_stream_find(r, r->arg[ARRAY].text, &stream);
  r->diag = diag;
  if (found) return td_token_collapse(r, &stream);
  if (!td_cursor_array(r->arena, r->prog, r->arg[ARRAY].text, NULL, &at, r->diag)) return NULL;
  return td_collapse_array(r, &at);
}

const TdPrim td_prim_collapse = {
    .name = "collapse",
    .on = "array",
    .summary = "Let go of a copy that only holds elements in another arrangement.",
    .args =
        {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED,
          "a local array or scalar that is filled by a copy or copied away at last, or a stream of "
          "tensors that are such copies",
          "local|stream"}},
    .rewrite = "for i, j: P[i // 8][j][i % 8] = A[i][j]; S(P[x][y][z])  =>  S(A[x * 8 + z][y]);  "
               "for i, j: P[j][i] = A[i][j]; Z:put(P); .. T = Z:get(); S(T[y][x])  =>  "
               "Z:put(A); .. T = Z:get(); S(T[x][y])",
    .legal = "the copy moves each element once; all uses come after a copy that fills the array "
             "(before one that takes it away), in one execution of the block around it; the "
             "elements of the other array are not touched otherwise meanwhile. Of a stream: one "
             "statement puts it, and what it puts is filled by such a copy",
    .errors = "not-an-array interface class whole elements not-a-copy index covers one-to-one "
              "scope leaves order dependence not-decided reassociation token ends",
    .example = "s:buffer_at(\"A\", \"i\"); s:buffer_at(\"A_i\", \"j\"); s:collapse(\"A_i\")",
    .apply = apply,
};
