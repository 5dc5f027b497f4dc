/* ready.c - lists of cycles, read once and shared by all runs. */
#include "eval/time/ready.h"

#include <stdlib.h>
#include <string.h>

/* Refuses a name that is no stream's; lists those that are. */
static bool refuse(TdDiag *d, const TdUnit *u, const char *name) {
  TdText all = td_text_new(d->arena);
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].type->kind == TD_T_PORT)
      td_text_putf(&all, "%s%s", all.n ? ", " : "", u->param[i].sym->name);
  return td_diag_set(d, TD_USAGE, "ready", u->loc, "'%s' is no stream of the top of %s (%s)", name,
                     u->sym->name, all.n ? td_text_str(&all) : "it has none");
}

/* The streams of a parameter. */
static int64_t streams_of(const TdUnit *u, const TdParam *p) {
  int64_t n = 1, extent = 0;
  for (int k = 0; k < p->type->rank; k++)
    if (td_unit_value(u, p->type->dim[k], &extent)) n *= extent;
  return n;
}

/* The lists of a line up to `end`. */
static TdReady *read_lists(TdArena *a, const char *s, const char *end, int64_t streams) {
  TdReady *r = TD_NEW(a, TdReady);
  int64_t k = 0;
  r->streams = 1;
  for (const char *c = s; c < end; c++) r->streams += *c == ';';
  if (r->streams > streams) return NULL;
  r->cycle = TD_NEWN(a, const int64_t *, r->streams);
  r->n = TD_NEWN(a, int64_t, r->streams);
  for (; k < r->streams; k++) {
    TD_VEC(int64_t) list = {0};
    while (s < end && *s != ';') {
      char *next;
      td_vec_push(a, &list, strtoll(s, &next, 10));
      s = next + (*next == ',');
    }
    s++;
    r->cycle[k] = list.at;
    r->n[k] = (int64_t)list.n;
  }
  return r;
}

TdReady *const *td_ready_read(TdArena *a, const TdProg *p, const char *text, TdDiag *d) {
  const TdUnit *u = td_prog_root(p);
  TdReady **all = TD_NEWN(a, TdReady *, u->nparam + 1);
  while (*text) {
    const char *blank = strchr(text, ' '), *end = strchr(text, '\n');
    const char *name = td_arena_strndup(a, text, (size_t)(blank - text));
    size_t i = 0;
    while (i < u->nparam &&
           (u->param[i].type->kind != TD_T_PORT || strcmp(u->param[i].sym->name, name) != 0))
      i++;
    if (i == u->nparam) return refuse(d, u, name) ? all : NULL;
    int64_t n = streams_of(u, &u->param[i]);
    all[i] = read_lists(a, blank + 1, end, n);
    if (!all[i]) {
      td_diag_set(d, TD_USAGE, "ready", u->param[i].loc,
                  "'%s' is %lld stream%s, which has no more lists", name, (long long)n,
                  n == 1 ? "" : "s");
      return NULL;
    }
    text = end + 1;
  }
  return all;
}

void td_ready_give(const TdReady *r, TdEvalPort *port) {
  for (int64_t i = 0; r && i < r->streams; i++) {
    port[i].ready = r->cycle[i];
    port[i].nready = r->n[i];
  }
}
