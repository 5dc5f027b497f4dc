/* search.c - rounds of a beam over the points of a space. */
#include "base/search.h"

#include <stdlib.h>

#include "base/alarm.h"
#include "base/attempt.h"

typedef TD_VEC(TdSearchPoint *) Points;

struct TdSearch {
  TdArena *arena;
  TdCtx *ctx;
  const TdSearchSpace *space;
  const TdSearchLimits *limits;
  TdSearchResult out;
  TdMap known; /* keys */
  Points start, made;
  const TdSearchPoint *best;
  size_t bytes, round; /* bytes: that were there when it began */
  bool over;
};

bool td_search_is_known(const TdSearch *q, uint64_t key) {
  return td_map_get(&q->known, key, NULL);
}

/* Negative: x is better. */
static int compare(const int64_t *x, const int64_t *y) {
  for (int i = 0; i < TD_SEARCH_COSTS; i++)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

/* Whether solution x is better than y, or than none. */
static bool is_better(const TdSearchPoint *x, const TdSearchPoint *y) {
  if (!y || x->exceeds != y->exceeds) return !y || y->exceeds;
  return compare(x->cost, y->cost) < 0;
}

/* For qsort: the earlier of points that rank alike goes first. */
static int compare_points(const void *x, const void *y) {
  const TdSearchPoint *a = *(TdSearchPoint *const *)x, *b = *(TdSearchPoint *const *)y;
  int order = compare(a->rank, b->rank);
  return order ? order : a->number < b->number ? -1 : 1;
}

static void end(TdSearch *q, TdSearchEnd why) {
  if (!q->over) q->out.end = why;
  q->over = true;
}

/* Ends the search for what asked the context to stop; whoever else asked is answered by his own. */
static void end_stopped(TdSearch *q, TdWhy why) {
  bool ours = why == TD_WHY_INTERRUPT || (why == TD_WHY_TIME && q->limits->seconds > 0);
  if (why == TD_WHY_MEMORY && q->best) {
    end(q, TD_SEARCH_MEMORY);
  } else if (ours && (q->best || why == TD_WHY_TIME)) {
    end(q, why == TD_WHY_TIME ? TD_SEARCH_SECONDS : TD_SEARCH_INTERRUPT);
    if (why == TD_WHY_TIME)
      td_ctx_clear_time(q->ctx);
    else
      td_ctx_clear_interrupt(q->ctx);
  } else {
    td_ctx_escape(q->ctx, why);
  }
}

/* A question to the space. */
typedef struct Ask {
  TdSearch *q;
  TdSearchPoint *x;
  bool open;
  TdSearchAnswer answer;
} Ask;

static void ask_space(void *ud) {
  Ask *k = ud;
  const TdSearchSpace *s = k->q->space;
  k->answer = k->open ? s->open(s->ud, k->x) : s->take(s->ud, k->q, k->x);
}

static TdSearchAnswer ask(TdSearch *q, TdSearchPoint *x, bool open) {
  Ask k = {q, x, open, TD_SEARCH_STOPPED};
  TdWhy why = td_ctx_why(q->ctx);
  if (td_ctx_must_stop(q->ctx)) {
    end_stopped(q, why);
    return TD_SEARCH_STOPPED;
  }
  bool done = true;
  if (q->space->core)
    done = td_attempt(q->ctx, ask_space, &k, &why);
  else
    ask_space(&k);
  if (done && k.answer != TD_SEARCH_STOPPED) return k.answer;
  end_stopped(q, done ? td_ctx_why(q->ctx) : why);
  return TD_SEARCH_STOPPED;
}

/* Whether a limit is reached. */
static bool is_spent(TdSearch *q) {
  size_t most = q->limits->bytes ? q->limits->bytes : (size_t)1 << 30;
  if (q->limits->steps && q->out.steps >= q->limits->steps) end(q, TD_SEARCH_STEPS);
  if (td_ctx_bytes(q->ctx) > q->bytes + most) end(q, TD_SEARCH_MEMORY);
  return q->over;
}

/* Shows the best cost so far where the work under way is shown. */
static void show(TdSearch *q) {
  td_ctx_begin_work(q->ctx, TD_WORK_SEARCH,
                    td_text_fmt(q->arena, "search, best so far %lld", (long long)q->best->cost[0]));
}

static void note(TdSearch *q) {
  if (q->limits->steps) td_ctx_note_work(q->ctx, q->out.steps, q->limits->steps);
}

/* The point that move number `move` of p leads to, made in the arena; NULL if there is none. */
static TdSearchPoint *try_move(TdSearch *q, const TdSearchPoint *p, size_t move) {
  TdSearchPoint x = {.from = p, .move = move, .floor = TD_SEARCH_UNKNOWN};
  q->out.steps++;
  note(q);
  if (ask(q, &x, false) != TD_SEARCH_MADE || td_search_is_known(q, x.key)) return NULL;
  TdSearchPoint *made = td_arena_copy(q->arena, &x, sizeof x);
  made->number = q->made.n;
  td_map_put(q->arena, &q->known, x.key, 1);
  td_vec_push(q->arena, &q->made, made);
  if (x.solves && is_better(&x, q->best)) {
    q->best = made;
    show(q);
  }
  return made;
}

/* Makes what all moves of p lead to, as far as the limits go. */
static void expand(TdSearch *q, TdSearchPoint *p) {
  if (!p->open && ask(q, p, true) == TD_SEARCH_STOPPED) return;
  p->open = true;
  while (p->tried < p->moves && !is_spent(q)) {
    TdSearchPoint *x = try_move(q, p, p->tried);
    if (q->over) return;
    p->tried++;
    if (x) td_vec_push(q->arena, &p->kid, x);
  }
}

/* Whether nothing that comes of x can be as good as what there is. */
static bool is_hopeless(const TdSearch *q, const TdSearchPoint *x) {
  bool sure = q->best && !q->best->exceeds && x->from;
  return sure && x->floor != TD_SEARCH_UNKNOWN && x->floor > q->best->cost[0];
}

/* The points that one move more leads to, the best `width` of them; *cut: others were left out. */
static Points next_level(TdSearch *q, Points level, size_t width, bool *cut) {
  Points next = {0};
  for (size_t i = 0; i < level.n && !q->over; i++) {
    TdSearchPoint *p = level.at[i];
    if (is_hopeless(q, p)) continue;
    expand(q, p);
    for (size_t k = 0; k < p->kid.n; k++) td_vec_push(q->arena, &next, p->kid.at[k]);
  }
  size_t n = 0;
  for (size_t i = 0; i < next.n; i++)
    if (!is_hopeless(q, next.at[i])) next.at[n++] = next.at[i];
  next.n = n;
  if (n) qsort(next.at, n, sizeof *next.at, compare_points);
  *cut |= n > width;
  if (n > width) next.n = width;
  return next;
}

/* The least floor of where the search begins. */
static int64_t bound_of(const TdSearch *q) {
  int64_t least = TD_SEARCH_UNKNOWN;
  for (size_t i = 0; i < q->start.n; i++) {
    int64_t f = q->start.at[i]->floor;
    if (f == TD_SEARCH_UNKNOWN) return f;
    if (i == 0 || f < least) least = f;
  }
  return least;
}

static void run(TdSearch *q) {
  for (size_t i = 0; i < q->space->starts && !is_spent(q); i++) {
    TdSearchPoint *x = try_move(q, NULL, i);
    if (x) td_vec_push(q->arena, &q->start, x);
  }
  q->out.bound = bound_of(q);
  for (size_t width = 1; !q->over; width *= 2) {
    bool cut = false;
    Points level = q->start;
    while (level.n && !q->over) level = next_level(q, level, width, &cut);
    if (!cut) end(q, TD_SEARCH_ALL);
    bool least = q->out.bound != TD_SEARCH_UNKNOWN && q->best && q->best->cost[0] <= q->out.bound;
    if (least && !q->best->exceeds) end(q, TD_SEARCH_BOUND);
  }
}

static void ring(void *ctx) {
  td_ctx_call_time(ctx);
}

/* An alarm that is stopped once: by the driver, or with its arena. */
typedef struct Timer {
  TdAlarm alarm;
  bool on;
} Timer;

static void stop_timer(void *timer) {
  Timer *t = timer;
  if (t->on) td_alarm_stop(&t->alarm);
  t->on = false;
}

TdSearchResult td_search_run(TdArena *a, const TdSearchSpace *space, TdSearchLimits limits) {
  TdCtx *c = td_arena_ctx(a);
  TdSearch q = {.arena = a, .ctx = c, .space = space, .limits = &limits};
  q.bytes = td_ctx_bytes(c);
  Timer *timer = TD_NEW(a, Timer);
  td_arena_defer(a, stop_timer, timer);
  if (limits.seconds > 0) timer->on = td_alarm_start(&timer->alarm, limits.seconds, ring, c);
  if (limits.seconds > 0 && !timer->on) td_ctx_escape(c, TD_WHY_MEMORY);
  TdWork outer = td_ctx_begin_work(c, TD_WORK_SEARCH, NULL);
  run(&q);
  td_ctx_end_work(c, outer);
  stop_timer(timer);
  if (limits.seconds > 0) td_ctx_clear_time(c);
  q.out.best = q.best;
  q.out.made = (const TdSearchPoint *const *)q.made.at;
  q.out.nmade = q.made.n;
  return q.out;
}

const TdSearchPoint **td_search_way(TdArena *a, const TdSearchPoint *x, size_t *n) {
  *n = 0;
  for (const TdSearchPoint *p = x; p && p->from; p = p->from) ++*n;
  const TdSearchPoint **way = TD_NEWN(a, const TdSearchPoint *, *n + 1);
  for (size_t i = *n; i-- > 0; x = x->from) way[i] = x;
  return way;
}

const char *td_search_end_name(TdSearchEnd end) {
  static const char *const names[] = {"all", "bound", "steps", "seconds", "interrupt", "memory"};
  return names[end];
}

void td_search_tell(TdText *out, const TdSearchResult *r, const TdSearchLimits *limits,
                    const char *unit) {
  const TdSearchPoint *x = r->best;
  td_text_putf(out, "the best of %lld tries", (long long)r->steps);
  if (x) td_text_putf(out, ": %lld %s", (long long)x->cost[0], unit);
  bool gap = x && r->end != TD_SEARCH_ALL && r->bound != TD_SEARCH_UNKNOWN && r->bound > 0;
  if (gap && x->cost[0] > r->bound)
    td_text_putf(out, ", %.1f %% above what is least at best, %lld",
                 100.0 * ((double)x->cost[0] / (double)r->bound - 1), (long long)r->bound);
  switch (r->end) {
  case TD_SEARCH_ALL: td_text_puts(out, "; there are no others"); break;
  case TD_SEARCH_BOUND: td_text_puts(out, "; none can take less"); break;
  case TD_SEARCH_STEPS: td_text_puts(out, "; more steps may find better"); break;
  case TD_SEARCH_SECONDS:
    td_text_putf(out, "; cut short after %g s: another run may end elsewhere", limits->seconds);
    break;
  case TD_SEARCH_INTERRUPT:
    td_text_puts(out, "; stopped by Ctrl-C, the best so far is kept");
    break;
  case TD_SEARCH_MEMORY: td_text_puts(out, "; stopped, since its memory is full"); break;
  }
}
