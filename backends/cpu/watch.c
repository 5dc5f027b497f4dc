/* watch.c - who touches the elements of arguments of designs: of two instances that run side by
 * side none may touch what the other writes. Instances are numbered as their designs start; those
 * of a design that a task runs know that task. */
#include <string.h>

#include "backends/cpu/load/code.h"

/* Who touched an element last: one that wrote it, and two that read it and run side by side. */
enum { WRITER, READER, OTHER, KINDS };
typedef struct Touch {
  int64_t who[KINDS]; /* 0: nobody */
  int place[KINDS];
} Touch;

/* Memory that is an argument of a design. */
typedef struct Range {
  struct td_span span;
  int64_t design; /* by number */
  Touch *touch;   /* of each element */
} Range;

/* A design that was started: its number, that of its first instance, and the instance that it runs
 * in (0: none). */
typedef struct Start {
  int64_t design, first, within, depth;
} Start;

struct td_watch {
  TdArena *arena;
  TD_VEC(Range) range;
  TD_VEC(Start) start;
  int64_t next; /* number of an instance */
  /* The first race: who came first and second, what they touched, and how. */
  const Range *raced;
  int64_t element, who[2], design[2], instance[2];
  int place[2];
  bool writes[2];
};

struct td_watch *td_cpu_watch_new(TdArena *a) {
  struct td_watch *w = TD_NEW(a, struct td_watch);
  w->arena = a;
  w->next = 1;
  return w;
}

/* The range that an address lies in, or NULL. */
static Range *range_of(struct td_watch *w, const void *at) {
  for (size_t i = 0; i < w->range.n; i++) {
    Range *r = &w->range.at[i];
    uintptr_t from = (uintptr_t)r->span.at;
    if ((uintptr_t)at - from < (uintptr_t)r->span.bytes) return r;
  }
  return NULL;
}

/* The start of the design that an instance is of. */
static const Start *start_of(const struct td_watch *w, int64_t who) {
  size_t lo = 0, hi = w->start.n;
  while (hi - lo > 1) {
    size_t mid = (lo + hi) / 2;
    if (w->start.at[mid].first <= who)
      lo = mid;
    else
      hi = mid;
  }
  return &w->start.at[lo];
}

void td_cpu_watch_open(struct td_run *run, const struct td_net *n) {
  struct td_watch *w = run->watch;
  Start s = {.design = n->number, .first = w->next, .within = run->who};
  s.depth = run->who ? start_of(w, run->who)->depth + 1 : 0;
  *n->first = w->next;
  w->next += n->tasks;
  td_vec_push(w->arena, &w->start, s);
  for (int64_t i = 0; i < n->spans; i++) {
    Range r = {.span = n->span[i], .design = n->number};
    if (r.span.bytes <= 0 || range_of(w, r.span.at)) continue;
    r.touch = TD_NEWN(w->arena, Touch, r.span.bytes / r.span.cell);
    td_vec_push(w->arena, &w->range, r);
  }
}

/* Whether two instances, or designs that they are in, run side by side; these are then in who. */
static bool are_apart(const struct td_watch *w, int64_t *who) {
  while (who[0] && who[1] && who[0] != who[1]) {
    const Start *x = start_of(w, who[0]), *y = start_of(w, who[1]);
    if (x == y) return true;
    int64_t depth[] = {x->depth, y->depth};
    if (depth[0] >= depth[1]) who[0] = x->within;
    if (depth[1] >= depth[0]) who[1] = y->within;
  }
  return false;
}

/* Whether `me` may not touch what `other` did. */
static bool clashes(const struct td_watch *w, int64_t other, int64_t me) {
  return other && other != me && are_apart(w, (int64_t[]){other, me});
}

/* Notes the first race: with the one that touched t as kind k. */
static void note(struct td_run *run, const Range *r, const Touch *t, int k, bool write, int place) {
  struct td_watch *w = run->watch;
  if (run->fault) return;
  w->raced = r;
  w->element = t - r->touch;
  w->who[0] = t->who[k], w->who[1] = run->who;
  are_apart(w, w->who);
  for (int i = 0; i < 2; i++) {
    const Start *s = start_of(w, w->who[i]);
    w->design[i] = s->design;
    w->instance[i] = w->who[i] - s->first;
  }
  w->place[0] = t->place[k], w->place[1] = place;
  w->writes[0] = k == WRITER, w->writes[1] = write;
  run->place = place;
  run->fault = TD_CPU_RACE;
}

void *td_cpu_watch_touch(struct td_run *run, const void *at, int write, int place) {
  struct td_watch *w = run->watch;
  Range *r = run->who ? range_of(w, at) : NULL;
  union {
    const void *given;
    void *there;
  } element = {at};
  if (!r) return element.there;
  Touch *t = &r->touch[((const char *)at - (const char *)r->span.at) / r->span.cell];
  int64_t me = run->who;
  for (int k = WRITER; k <= (write ? OTHER : WRITER); k++)
    if (clashes(w, t->who[k], me)) note(run, r, t, k, write, place);
  int k = write ? WRITER : clashes(w, t->who[READER], me) ? OTHER : READER;
  if (k != OTHER || !clashes(w, t->who[OTHER], me)) t->who[k] = me, t->place[k] = place;
  return element.there;
}

/* "pe[0]": one of the two that raced. */
static const char *instance(const TdCpuText *text, const struct td_watch *w, int i, TdArena *a) {
  const TdUnit *d = text->design[w->design[i]].unit;
  int64_t at = w->instance[i];
  for (size_t k = 0; k < d->nrun; k++) {
    int64_t n = 1, extent = 0;
    for (int x = 0; x < d->run[k].rank; x++)
      n *= td_unit_value(d, d->run[k].map[x], &extent) ? extent : 1;
    if (at < n) return td_cpu_code_instance(a, d, &d->run[k], at);
    at -= n;
  }
  return d->sym->name;
}

/* "B[1][2]": the element; without indices where the argument is a view of something else. */
static const char *element(const TdCpuText *text, TdSession *s, const struct td_watch *w,
                           TdArena *a) {
  const TdUnit *d = text->design[w->raced->design].unit;
  const TdParam *x = &d->param[w->raced->span.param];
  const TdType *t = td_unit_type(s, d, x->type);
  TdText out = td_text_new(a);
  td_text_puts(&out, x->sym->name);
  int64_t at[TD_MAX_RANK], rest = w->element, extent = 1, count = 0;
  const int64_t held = w->raced->span.bytes / w->raced->span.cell;
  if (!td_type_count(t, &count) || count != held)
    return td_text_fmt(a, "an element of %s", x->sym->name);
  for (int k = t->rank - 1; k >= 0; k--) {
    td_type_extent(t, k, &extent);
    at[k] = rest % extent;
    rest /= extent;
  }
  for (int k = 0; k < t->rank; k++) td_text_putf(&out, "[%lld]", (long long)at[k]);
  return td_text_str(&out);
}

bool td_cpu_watch_tell(const TdCpuText *text, TdSession *s, const struct td_run *run, TdDiag *d) {
  const struct td_watch *w = run->watch;
  const char *what = element(text, s, w, d->arena);
  const char *who[] = {instance(text, w, 0, d->arena), instance(text, w, 1, d->arena)};
  bool both = w->writes[0] && w->writes[1];
  TdLoc first = text->place[w->place[0]], second = text->place[w->place[1]];
  td_diag_set(d, TD_ILLEGAL, "race", second, "%s is written by %s and %s %s", what,
              who[!w->writes[0]], both ? "by" : "read by", who[w->writes[0]]);
  td_diag_help(d, "pass it through a stream, or give each instance its own part");
  const TdUnit *u = text->design[w->raced->design].unit;
  td_diag_witness(d, (TdWitness){u->param[w->raced->span.param].sym->name, what, first, second,
                                 who[0], who[1]});
  return false;
}
