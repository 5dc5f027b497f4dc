/* cursor.c - names to things: "[unit:]..[band/]loop[#n]", arrays, units. docs/ir.md, Identity. */
#include <stdlib.h>
#include <string.h>

#include "ir/edit.h"

/* A spec cut into its parts; band is NULL when absent, ordinal 0. */
typedef struct Spec {
  const char *unit, *band, *name; /* unit: text before the last ':', or NULL */
  int ordinal;
} Spec;

static Spec parse_spec(TdArena *a, const char *text) {
  Spec s = {.name = text};
  const char *colon = strrchr(text, ':');
  if (colon) {
    s.unit = td_arena_strndup(a, text, (size_t)(colon - text));
    s.name = colon + 1;
  }
  const char *slash = strchr(s.name, '/');
  if (slash) {
    s.band = td_arena_strndup(a, s.name, (size_t)(slash - s.name));
    s.name = slash + 1;
  }
  const char *hash = strchr(s.name, '#');
  if (hash) {
    s.ordinal = atoi(hash + 1);
    s.name = td_arena_strndup(a, s.name, (size_t)(hash - s.name));
  }
  return s;
}

/* Name of the band a loop belongs to, or NULL. */
static const char *band_of(const TdStmt *loop) {
  const TdAttr *b = td_attrs_get(loop->attrs, TD_ATTR_BAND);
  return b ? b->arg[0].s : NULL;
}

typedef TD_VEC(TdPlace) Places;

typedef struct LoopSearch {
  TdArena *arena;
  const TdUnit *unit;
  const char *name, *band; /* NULL: any */
  int ordinal;
  Places found;
} LoopSearch;

static bool match_loop(void *ud, const TdStmt *s) {
  LoopSearch *q = ud;
  if (s->kind != TD_STMT_FOR) return true;
  const char *band = band_of(s);
  bool nameless = strcmp(s->sym->name, "_") == 0;
  if (nameless && (q->name || !band)) return true;
  if (q->band && !(band && strcmp(band, q->band) == 0)) return true;
  if (q->name && strcmp(s->sym->name, q->name) != 0) return true;
  if (q->ordinal && s->sym->ordinal != q->ordinal) return true;
  td_vec_push(q->arena, &q->found, ((TdPlace){q->unit, s, s->sym}));
  return true;
}

/* Adds to q->found the loops of one unit that match. */
static void search_unit(LoopSearch *q, const TdUnit *u) {
  q->unit = u;
  if (u->body) td_walk_stmt(td_arena_ctx(q->arena), u->body, match_loop, q);
}

/* The units that a unit part names (all when it is NULL): the last name of a path decides, outer
 * names must exist. */
static bool units_of(TdArena *a, const TdProg *p, const char *part, const TdUnit ***list, size_t *n,
                     TdDiag *d) {
  *list = TD_NEWN(a, const TdUnit *, p->nunit);
  *n = 0;
  if (!part) {
    for (size_t i = p->nunit; i-- > 0;) (*list)[(*n)++] = p->unit[i];
    return true;
  }
  const TdUnit *u;
  if (!td_cursor_unit(a, p, part, &u, d)) return false;
  (*list)[(*n)++] = u;
  return true;
}

/* "i#1 (line 3), i#2 (line 7)": what a name could mean. */
static const char *candidates(TdArena *a, const TdProg *p, const TdPlace *at, size_t n) {
  TdText t = td_text_new(a);
  for (size_t i = 0; i < n && i < 12; i++) {
    td_text_putf(&t, "%s%s", i ? ", " : "", td_cursor_spec(a, p, at[i].unit, at[i].stmt));
    if (at[i].stmt->loc.line) td_text_putf(&t, " (line %u)", at[i].stmt->loc.line);
  }
  if (n > 12) td_text_putf(&t, ", and %zu more", n - 12);
  return td_text_str(&t);
}

/* "no loop named 'x'" with the loops there are and the nearest of them. */
static bool no_such_loop(TdArena *a, const TdProg *p, const char *spec, TdDiag *d) {
  const char *const *specs;
  size_t n = td_cursor_list_loops(a, p, &specs);
  TdText t = td_text_new(a);
  for (size_t i = 0; i < n && i < 20; i++) td_text_putf(&t, "%s%s", i ? ", " : "", specs[i]);
  if (n > 20) td_text_puts(&t, ", ...");
  TdLoc none = {0};
  td_diag_set(d, TD_USAGE, "no-loop", none, "no loop named '%s' in '%s' (loops: %s)", spec,
              td_prog_root(p)->sym->name, n ? td_text_str(&t) : "none");
  const char *near = td_text_nearest(spec, specs, n);
  if (near) td_diag_help(d, "did you mean '%s'?", near);
  return false;
}

/* All loops that a spec can mean. In the units named; without a unit, the root's loops win over
 * others. */
static bool find_loops(TdArena *a, const TdProg *p, const char *spec, bool as_band, Places *out,
                       TdDiag *d) {
  Spec s = parse_spec(a, spec);
  const TdUnit **unit;
  size_t n;
  if (!units_of(a, p, s.unit, &unit, &n, d)) return false;
  LoopSearch q = {.arena = a, .ordinal = s.ordinal};
  q.band = as_band ? s.name : s.band;
  q.name = as_band ? NULL : s.name;
  for (size_t i = 0; i < n; i++) {
    search_unit(&q, unit[i]);
    if (q.found.n && !s.unit && i == 0) break;
  }
  out->at = q.found.at;
  out->n = q.found.n;
  return true;
}

/* The loops of one band, all of one unit: cut at the first loop that is not inside the one before.
 */
static size_t nest_length(const TdPlace *at, size_t n, TdCtx *c) {
  size_t len = n ? 1 : 0;
  while (len < n && td_edit_find(c, at[len - 1].stmt, at[len].stmt->uid)) len++;
  return len;
}

bool td_cursor_loop(TdArena *a, const TdProg *p, const char *spec, TdPlace *out, TdDiag *d) {
  Places found;
  if (!find_loops(a, p, spec, false, &found, d)) return false;
  if (!found.n && !find_loops(a, p, spec, true, &found, d)) return false;
  if (!found.n) return no_such_loop(a, p, spec, d);
  if (found.n > 1) {
    TdLoc none = {0};
    return td_diag_set(d, TD_USAGE, "ambiguous-loop", none, "'%s' fits %zu loops: %s", spec,
                       found.n, candidates(a, p, found.at, found.n));
  }
  *out = found.at[0];
  return true;
}

bool td_cursor_band(TdArena *a, const TdProg *p, const char *spec, TdPlace **out, size_t *n,
                    TdDiag *d) {
  Places found;
  if (!find_loops(a, p, spec, true, &found, d)) return false;
  if (!found.n) {
    *out = TD_NEW(a, TdPlace);
    *n = 1;
    return td_cursor_loop(a, p, spec, *out, d);
  }
  *out = found.at;
  *n = nest_length(found.at, found.n, td_arena_ctx(a));
  if (*n == found.n) return true;
  TdLoc none = {0};
  return td_diag_set(d, TD_USAGE, "ambiguous-loop", none, "'%s' fits several bands: %s", spec,
                     candidates(a, p, found.at, found.n));
}

typedef struct LocalSearch {
  const char *name;
  const TdUnit *unit;
  TdPlace found;
  size_t n;
} LocalSearch;

static bool match_local(void *ud, const TdStmt *s) {
  LocalSearch *q = ud;
  bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  if (!declares || !s->sym || strcmp(s->sym->name, q->name) != 0) return true;
  q->found = (TdPlace){q->unit, s, s->sym};
  q->n++;
  return true;
}

/* Counts what `name` can mean in u and keeps one of them. */
static size_t find_array(TdCtx *c, const TdUnit *u, const char *name, TdPlace *out) {
  for (size_t i = 0; i < u->nparam; i++)
    if (strcmp(u->param[i].sym->name, name) == 0) {
      *out = (TdPlace){u, NULL, u->param[i].sym};
      return 1;
    }
  LocalSearch q = {.name = name, .unit = u};
  if (u->body) td_walk_stmt(c, u->body, match_local, &q);
  if (q.n) *out = q.found;
  return q.n;
}

/* The names of arrays. */
typedef struct ArrayNames {
  TdArena *arena;
  TD_VEC(const char *) list;
} ArrayNames;

static bool add_local(void *ud, const TdStmt *s) {
  ArrayNames *x = ud;
  if (s->kind == TD_STMT_LOCAL && s->type->kind == TD_T_TENSOR)
    td_vec_push(x->arena, &x->list, s->sym->name);
  return true;
}

/* Says that u has no array of a name, and which there are. */
static bool refuse_array(TdArena *a, const TdUnit *u, const char *name, TdDiag *d) {
  ArrayNames x = {.arena = a};
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].type->kind == TD_T_TENSOR) td_vec_push(a, &x.list, u->param[i].sym->name);
  if (u->body) td_walk_stmt(td_arena_ctx(a), u->body, add_local, &x);
  TdText t = td_text_new(a);
  for (size_t i = 0; i < x.list.n && i < 20; i++)
    td_text_putf(&t, "%s%s", i ? ", " : "", x.list.at[i]);
  if (x.list.n > 20) td_text_puts(&t, ", ...");
  TdLoc none = {0};
  td_diag_set(d, TD_USAGE, "no-array", none, "no array named '%s' in '%s' (arrays: %s)", name,
              u->sym->name, x.list.n ? td_text_str(&t) : "none");
  const char *near = td_text_nearest(name, x.list.at, x.list.n);
  if (near) td_diag_help(d, "did you mean '%s'?", near);
  return false;
}

bool td_cursor_array(TdArena *a, const TdProg *p, const char *spec, const TdUnit *beside,
                     TdPlace *out, TdDiag *d) {
  TdCtx *c = td_arena_ctx(a);
  TdLoc none = {0};
  Spec s = parse_spec(a, spec);
  const TdUnit *named = NULL;
  if (s.unit && !td_cursor_unit(a, p, s.unit, &named, d)) return false;
  const TdUnit *first[] = {named ? named : beside, named ? NULL : td_prog_root(p)};
  for (int i = 0; i < 2; i++) {
    size_t n = first[i] ? find_array(c, first[i], s.name, out) : 0;
    if (n == 1) return true;
    if (n > 1)
      return td_diag_set(d, TD_USAGE, "ambiguous-array", none, "'%s' is declared %zu times in '%s'",
                         s.name, n, first[i]->sym->name);
  }
  size_t total = 0;
  for (size_t i = 0; !named && i < p->nunit; i++) total += find_array(c, p->unit[i], s.name, out);
  if (total == 1) return true;
  if (total > 1)
    return td_diag_set(d, TD_USAGE, "ambiguous-array", none,
                       "'%s' is found in several units: say which, as in \"unit:%s\"", spec,
                       s.name);
  return refuse_array(a, named ? named : td_prog_root(p), s.name, d);
}

static bool is_called(const TdUnit *u, const char *name, size_t n) {
  const char *names[] = {u->sym->name, u->stem};
  for (int i = 0; i < 2; i++)
    if (names[i] && strlen(names[i]) == n && strncmp(names[i], name, n) == 0) return true;
  return false;
}

typedef struct CalleeSearch {
  const TdProg *prog;
  const char *name;
  size_t n;
  const TdUnit *found;
} CalleeSearch;

static bool look_callee(void *ud, const TdStmt *s) {
  CalleeSearch *q = ud;
  const TdUnit *u = s->kind == TD_STMT_CALL ? td_prog_unit(q->prog, s->sym) : NULL;
  if (u && is_called(u, q->name, q->n)) q->found = u;
  return !q->found;
}

/* The unit called `name` that `from` calls or runs, directly or through others; NULL if there is
 * none. */
static const TdUnit *find_below(TdCtx *c, const TdProg *p, const TdUnit *from, const char *name,
                                size_t n) {
  CalleeSearch q = {p, name, n, NULL};
  if (from->body) td_walk_stmt(c, from->body, look_callee, &q);
  for (size_t i = 0; !q.found && i < from->nrun; i++)
    if (strlen(from->run[i].sym->name) == n && strncmp(from->run[i].sym->name, name, n) == 0)
      q.found = td_prog_unit(p, from->run[i].unit);
  for (size_t i = 0; !q.found && i < from->nrun; i++)
    q.found = find_below(c, p, td_prog_unit(p, from->run[i].unit), name, n);
  return q.found;
}

/* The unit that a whole part of a path names by itself: its own name, a task of the root, or the
 * only one of that stem. */
static const TdUnit *find_anywhere(TdCtx *c, const TdProg *p, const char *name, size_t n) {
  const TdUnit *by_stem = NULL;
  size_t stems = 0;
  for (size_t i = 0; i < p->nunit; i++) {
    const char *own = p->unit[i]->sym->name;
    if (strlen(own) == n && strncmp(own, name, n) == 0) return p->unit[i];
    if (is_called(p->unit[i], name, n)) by_stem = p->unit[i], stems++;
  }
  const TdUnit *below = find_below(c, p, td_prog_root(p), name, n);
  return below ? below : stems == 1 ? by_stem : NULL;
}

bool td_cursor_unit(TdArena *a, const TdProg *p, const char *spec, const TdUnit **out, TdDiag *d) {
  TdLoc none = {0};
  TdCtx *c = td_arena_ctx(a);
  *out = NULL;
  for (const char *part = spec;;) {
    size_t n = strcspn(part, ":");
    *out = *out ? find_below(c, p, *out, part, n) : find_anywhere(c, p, part, n);
    if (!*out || !part[n]) break;
    part += n + 1;
  }
  if (*out) return true;
  const char **names = TD_NEWN(a, const char *, p->nunit);
  for (size_t i = 0; i < p->nunit; i++) names[i] = p->unit[i]->sym->name;
  td_diag_set(d, TD_USAGE, "no-unit", none, "no kernel or task named '%s' in '%s'", spec,
              td_prog_root(p)->sym->name);
  const char *near = td_text_nearest(spec, names, p->nunit);
  if (near) td_diag_help(d, "did you mean '%s'?", near);
  return false;
}

/* How many loops of u carry this name. */
static size_t count_loops(TdArena *a, const TdUnit *u, const char *name) {
  LoopSearch q = {.arena = a, .name = name};
  search_unit(&q, u);
  return q.found.n;
}

const char *td_cursor_spec(TdArena *a, const TdProg *p, const TdUnit *u, const TdStmt *loop) {
  TdText t = td_text_new(a);
  if (u != td_prog_root(p)) td_text_putf(&t, "%s:", u->sym->name);
  if (strcmp(loop->sym->name, "_") == 0) {
    td_text_puts(&t, band_of(loop) ? band_of(loop) : "_");
    return td_text_str(&t);
  }
  bool many = count_loops(a, u, loop->sym->name) > 1;
  if (many && !loop->sym->ordinal && band_of(loop)) td_text_putf(&t, "%s/", band_of(loop));
  td_text_puts(&t, loop->sym->name);
  if (many && loop->sym->ordinal) td_text_putf(&t, "#%d", loop->sym->ordinal);
  return td_text_str(&t);
}

size_t td_cursor_list_loops(TdArena *a, const TdProg *p, const char *const **specs) {
  TD_VEC(const char *) list = {0};
  for (size_t i = p->nunit; i-- > 0;) {
    LoopSearch q = {.arena = a};
    search_unit(&q, p->unit[i]);
    for (size_t k = 0; k < q.found.n; k++)
      td_vec_push(a, &list, td_cursor_spec(a, p, p->unit[i], q.found.at[k].stmt));
  }
  *specs = (const char *const *)list.at;
  return list.n;
}
