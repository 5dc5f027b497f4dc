/* stream_depth.c - depth: how many tokens a stream holds. */
#include <string.h>

#include "rewrite/util.h"

enum { STREAM, DEPTH };

/* A stream and the design that declares it. */
typedef struct Found {
  const TdUnit *design;
  size_t at;
  size_t n; /* how many have the name */
} Found;

/* The streams called `name`, of one design or of all (NULL). */
static Found find(const TdProg *p, const TdUnit *only, const char *name) {
  Found f = {0};
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nstream; k++) {
      if ((only && only != p->unit[i]) || strcmp(p->unit[i]->stream[k].sym->name, name) != 0)
        continue;
      f = (Found){p->unit[i], k, f.n + 1};
    }
  return f;
}

/* "design:stream", or a stream of the root, or the only one of that name; false: refused. */
static bool find_stream(TdRewrite *r, Found *f) {
  const char *spec = r->arg[STREAM].text, *colon = strrchr(spec, ':');
  const TdUnit *only = NULL;
  TdLoc none = {0};
  if (colon) {
    const char *unit = td_arena_strndup(r->arena, spec, (size_t)(colon - spec));
    if (!td_cursor_unit(r->arena, r->prog, unit, &only, r->diag)) return false;
  }
  *f = find(r->prog, only ? only : td_prog_root(r->prog), colon ? colon + 1 : spec);
  if (!f->n && !only) *f = find(r->prog, NULL, spec);
  if (f->n == 1) return true;
  if (f->n)
    td_util_refuse(r, TD_USAGE, "ambiguous-stream", none,
                   "'%s' is a stream of several designs: say which, as in \"design:%s\"", spec,
                   spec);
  else
    td_util_refuse(r, TD_USAGE, "no-stream", none, "no stream named '%s' in '%s'", spec,
                   td_prog_root(r->prog)->sym->name);
  return false;
}

static const TdProg *apply(TdRewrite *r) {
  Found f;
  if (!find_stream(r, &f)) return NULL;
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

const TdPrim td_prim_stream_depth = {
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
