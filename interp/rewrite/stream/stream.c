/* stream.c - streams by name. */
#include "rewrite/stream/stream.h"

#include <string.h>

/* The last stream called `name` of one design or of all (NULL), in *f; returns how many there are.
 */
static size_t find(const TdProg *p, const TdUnit *only, const char *name, TdStreamAt *f) {
  size_t n = 0;
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nstream; k++) {
      if ((only && only != p->unit[i]) || strcmp(p->unit[i]->stream[k].sym->name, name) != 0)
        continue;
      *f = (TdStreamAt){p->unit[i], k};
      n++;
    }
  return n;
}

bool td_stream_find(TdRewrite *r, const char *spec, TdStreamAt *f) {
  const char *colon = strrchr(spec, ':');
  const TdUnit *only = NULL;
  TdLoc none = {0};
  if (colon) {
    const char *unit = td_arena_strndup(r->arena, spec, (size_t)(colon - spec));
    if (!td_cursor_unit(r->arena, r->prog, unit, &only, r->diag)) return false;
  }
  size_t n = find(r->prog, only ? only : td_prog_root(r->prog), colon ? colon + 1 : spec, f);
  if (!n && !only) n = find(r->prog, NULL, spec, f);
  if (n == 1) return true;
  if (n)
    td_util_refuse(r, TD_USAGE, "ambiguous-stream", none,
                   "'%s' is a stream of several designs: say which, as in \"design:%s\"", spec,
                   spec);
  else
    td_util_refuse(r, TD_USAGE, "no-stream", none, "no stream named '%s' in '%s'", spec,
                   td_prog_root(r->prog)->sym->name);
  return false;
}

/* A search for what names a stream. */
typedef struct Uses {
  TdSym stream;
  size_t named, moved;
  TdLoc loc;
} Uses;

static bool count_named(void *ud, const TdExpr *e) {
  Uses *u = ud;
  if (e->sym != u->stream) return true;
  u->named++;
  u->loc = e->loc;
  return true;
}

static bool count_moved(void *ud, const TdStmt *s) {
  Uses *u = ud;
  if (s->kind != TD_STMT_GET && s->kind != TD_STMT_PUT && s->kind != TD_STMT_SLOT) return true;
  const TdExpr *e = s->expr[0];
  bool one = e->sym == u->stream && e->kind == TD_EXPR_VIEW;
  for (uint32_t d = 0; one && d < e->nkid; d++) one = e->u.dim[d].out < 0;
  u->moved += one;
  return true;
}

bool td_stream_is_only_moved(TdRewrite *r, const TdUnit *u, TdSym stream, TdLoc *loc) {
  Uses use = {.stream = stream, .loc = u->loc};
  td_walk_exprs(r->session->ctx, u->body, count_named, &use);
  td_walk_stmt(r->session->ctx, u->body, count_moved, &use);
  *loc = use.loc;
  return use.named == use.moved;
}
