/* timed_print.c - what a run with a clock told, as a table: a row for each task and stream, or for
 * each run and array of streams where there are many. */
#include <string.h>

#include "eval/time/timed.h"

const char *const td_timed_stalls[TD_STALLS] = {"empty", "full", "allreduce", "memory"};

/* Rows of single tasks, or streams, and of runs; causes of stalls in a row. */
enum { MOST_SINGLE = 20, MOST_ROWS = 40, MOST_STALLS = 2, MOST_CAUSES = 64 };

/* One row: tasks next to each other that count as one. */
typedef struct Row {
  const char *name;
  int64_t n, busy, stalled;
  TdTimedStall cause[MOST_CAUSES]; /* by array of streams, the first that happened */
  size_t ncause;
} Row;

/* "97.5 %" of part in all. */
static const char *percent(TdArena *a, int64_t part, int64_t all) {
  int64_t tenths = all > 0 ? (part * 1000 + all / 2) / all : 0;
  return td_text_fmt(a, "%lld.%lld %%", (long long)(tenths / 10), (long long)(tenths % 10));
}

/* Whether two streams are of one array. */
static bool is_same_array(const TdTimedStream *x, const TdTimedStream *y) {
  size_t n = strcspn(x->name, "[");
  return n == strcspn(y->name, "[") && strncmp(x->name, y->name, n) == 0;
}

static bool is_same_cause(const TdTimed *t, const TdTimedStall *x, const TdTimedStall *y) {
  if (x->why != y->why) return false;
  if (x->stream >= t->nstream || y->stream >= t->nstream) return x->stream == y->stream;
  return is_same_array(&t->stream[x->stream], &t->stream[y->stream]);
}

static void add_task(const TdTimed *t, Row *r, const TdTimedTask *x) {
  r->n++;
  r->busy += x->busy;
  r->stalled += x->stalled;
  for (size_t i = 0; i < x->nstall; i++) {
    size_t k = 0;
    while (k < r->ncause && !is_same_cause(t, &r->cause[k], &x->stall[i])) k++;
    if (k == MOST_CAUSES) continue;
    if (k == r->ncause) {
      r->cause[r->ncause++] = x->stall[i];
      continue;
    }
    r->cause[k].cycles += x->stall[i].cycles;
  }
}

/* The causes of most stalls: "A empty 12, B full 3". */
static void put_causes(TdText *out, const TdTimed *t, Row *r) {
  for (int shown = 0; shown < MOST_STALLS; shown++) {
    TdTimedStall *most = NULL;
    for (size_t i = 0; i < r->ncause; i++)
      if (r->cause[i].cycles && (!most || r->cause[i].cycles > most->cycles)) most = &r->cause[i];
    if (!most) return;
    td_text_puts(out, shown ? ", " : "  ");
    if (most->stream < t->nstream) {
      const char *name = t->stream[most->stream].name;
      size_t n = r->n > 1 ? strcspn(name, "[") : strlen(name);
      td_text_putn(out, name, n);
      td_text_putc(out, ' ');
    }
    td_text_putf(out, "%s %lld", td_timed_stalls[most->why], (long long)most->cycles);
    most->cycles = 0;
  }
}

static void put_row(TdText *out, const TdTimed *t, Row *r) {
  const char *name =
      r->n > 1 ? td_text_fmt(out->arena, "%s x %lld", r->name, (long long)r->n) : r->name;
  td_text_putf(out, "%-20s %12lld %12lld %9s", name, (long long)r->busy, (long long)r->stalled,
               percent(out->arena, r->busy, r->n * t->cycles));
  put_causes(out, t, r);
  td_text_putc(out, '\n');
}

static void put_tasks(TdText *out, const TdTimed *t) {
  bool single = t->ntask <= MOST_SINGLE;
  td_text_putf(out, "%-20s %12s %12s %9s  %s\n", "task", "busy", "stalled", "used", "stalls");
  size_t rows = 0;
  for (size_t i = 0; i < t->ntask && rows < MOST_ROWS; rows++) {
    const TdTimedTask *first = &t->task[i];
    Row r = {.name = single ? first->name : first->run};
    do add_task(t, &r, &t->task[i++]);
    while (!single && i < t->ntask && strcmp(t->task[i].run, first->run) == 0);
    put_row(out, t, &r);
  }
}

static void put_streams(TdText *out, const TdTimed *t) {
  bool single = t->nstream <= MOST_SINGLE;
  td_text_putf(out, "%-20s %12s %12s %9s\n", "stream", "tokens", "most", "depth");
  size_t rows = 0;
  for (size_t i = 0; i < t->nstream && rows < MOST_ROWS; rows++) {
    const TdTimedStream *first = &t->stream[i];
    int64_t n = 0, tokens = 0, most = 0;
    do {
      tokens += t->stream[i].tokens;
      if (t->stream[i].most > most) most = t->stream[i].most;
      n++, i++;
    } while (!single && i < t->nstream && is_same_array(first, &t->stream[i]));
    int length = (int)(n > 1 ? strcspn(first->name, "[") : strlen(first->name));
    const char *name = td_text_fmt(out->arena, "%.*s", length, first->name);
    if (n > 1) name = td_text_fmt(out->arena, "%s x %lld", name, (long long)n);
    td_text_putf(out, "%-20s %12lld %12lld %9lld\n", name, (long long)tokens, (long long)most,
                 (long long)first->depth);
  }
}

void td_timed_print(TdText *out, const TdTimed *t) {
  int64_t could = 0;
  for (size_t i = 0; i < t->ntask; i++) could += t->task[i].multipliers;
  td_text_putf(out, "%s on %s: %lld cycles, %s %s used", t->design, t->target, (long long)t->cycles,
               could ? "multipliers" : "tasks",
               percent(out->arena, (int64_t)(t->utilisation * 1e6), 1000000));
  if (could && t->ntask > 1)
    td_text_putf(out, ", fill %lld, drain %lld", (long long)t->fill, (long long)t->drain);
  td_text_putc(out, '\n');
  if (t->memory.model)
    td_text_putf(out, "memory: %s, %lld requests, %lld bytes\n", t->memory.model,
                 (long long)t->memory.requests, (long long)t->memory.bytes);
  put_tasks(out, t);
  if (t->nstream) put_streams(out, t);
}
