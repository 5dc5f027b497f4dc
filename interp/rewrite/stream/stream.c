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
