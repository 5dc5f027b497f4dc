/* depth.c - depth: how many tokens a stream holds. */
#include "rewrite/stream/stream.h"

enum { STREAM, DEPTH };

static const TdProg *apply(TdRewrite *r) {
  TdStreamAt f;
  if (!td_stream_find(r, r->arg[STREAM].text, &f)) return NULL;
  TdUnit *u = td_unit_copy(r->store, f.design);
  int64_t n = r->arg[DEPTH].integer;
  if (n < 1)
    return td_util_refuse(r, TD_USAGE, "depth", u->stream[f.at].loc,
                          "'%s' holds at least 1 token, not %lld", u->stream[f.at].sym->name,
                          (long long)n);
  TdStream *stream = td_arena_copy(r->store->arena, u->stream, u->nstream * sizeof *stream);
  stream[f.at].depth = td_util_const(r, n);
  u->stream = stream;
  return td_prog_with(r->prog, u);
}

const TdPrim td_prim_depth = {
    .name = "depth",
    .on = "stream",
    .summary = "Say how many tokens a stream holds.",
    .args = {{"stream", TD_ARG_STREAM, TD_ARG_NEEDED, "the stream", NULL},
             {"depth", TD_ARG_INT, TD_ARG_NEEDED, "tokens, at least 1", NULL}},
    .rewrite = "d:stream(T, {depth = 2})  =>  d:stream(T, {depth = n})",
    .legal = "always: values do not depend on depths; a depth at which the design would wait for "
             "ever is found when it is checked or run",
    .errors = "no-stream ambiguous-stream depth deadlock",
    .example = "s:buffer_at(\"A\", \"j\"):unfold(\"PE\"); s:relay(\"A_j\", \"PE\", {axis = 1}); "
               "s:depth(\"A_j\", 4)",
    .apply = apply,
};
