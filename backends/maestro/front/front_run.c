/* front_run.c - a design behind streamers, run with a clock: memory is stepped cycle by cycle, and
 * tasks run as far as the tokens of the cycles before let them. */
#include "backends/maestro/front/front.h"

#include <string.h>

#include "base/ctx.h"
#include "eval/time/clock.h"

enum { PATIENCE = 1000, MOST_KEPT = 1 << 22 };

typedef struct Runner {
  TdMaestroFrontRun *r;
  const TdMaestroFront *f;
  TdArena *a;
  TdMaestroModel *model;
  struct TdMachine *machine;
  struct TdChannel **line[TD_MAESTRO_STREAMERS]; /* of each end */
  int64_t *dealt[TD_MAESTRO_STREAMERS];          /* tokens of each end that moved */
  int64_t words[TD_MAESTRO_STREAMERS];           /* words that were taken or given */
  TdValue *token;
  TdValue *result[TD_MAESTRO_STREAMERS]; /* of writers: what each element got, if anything */
  int64_t idle;
  uint8_t *moves[TD_MAESTRO_STREAMERS]; /* of each end, in this cycle */
  int nmove;
  TdDiag *d;
} Runner;

/* Element `at` of argument p; 0 where there is none. */
static TdValue load(const Runner *x, const TdMaestroFeed *f, int64_t at) {
  const TdTensor *t = x->r->arg[f->param].tensor;
  int64_t index[TD_MAX_RANK] = {0};
  if (at < 0) return td_value_of(0);
  for (int d = td_tensor_rank(t); d-- > 0; at /= t->extent[d]) index[d] = at % t->extent[d];
  return td_value_of(td_tensor_get(t, index));
}

/* What writers were given, to the tensors. */
static void store_results(const Runner *x) {
  for (int i = 0; i < x->f->system.n; i++) {
    TdTensor *t = x->r->arg[x->f->feed[i].param].tensor;
    int64_t index[TD_MAX_RANK] = {0}, k = 0;
    if (!x->result[i]) continue;
    do {
      if (td_value_is_defined(x->result[i][k])) td_tensor_put(t, index, x->result[i][k].lo);
      k++;
    } while (td_tensor_next(t, index));
  }
}

/* Tokens of an end that are dealt of the words up to the one at hand, itself included. */
static int64_t limit_of(const Runner *x, int i) {
  const TdMaestroFeed *f = &x->f->feed[i];
  int64_t n = (x->words[i] + 1) * f->group;
  return n < f->tokens ? n : f->tokens;
}

/* Whether all of the word at hand is dealt. */
static bool is_dealt(const Runner *x, int i) {
  for (int64_t k = 0; k < x->f->feed[i].nend; k++)
    if (x->dealt[i][k] < limit_of(x, i)) return false;
  return true;
}

/* Moves the next token of end k between its stream and the word at hand, if it can. */
static bool deal(Runner *x, int i, int64_t k) {
  const TdMaestroFeed *f = &x->f->feed[i];
  int64_t now = td_maestro_model_now(x->model), t = x->dealt[i][k];
  struct TdChannel *c = x->line[i][k];
  bool writer = x->f->system.at[i].writer;
  if (t >= limit_of(x, i)) return false;
  if (writer ? !td_outer_has_token(c, now) : !td_outer_has_room(c, now)) return false;
  const int64_t *at = &f->at[(k * f->tokens + t) * f->each];
  if (writer) {
    td_outer_take(x->machine, c, now, x->token);
    for (int64_t e = 0; e < f->each; e++)
      if (at[e] >= 0) x->result[i][at[e]] = x->token[e];
  } else {
    for (int64_t e = 0; e < f->each; e++) x->token[e] = load(x, f, at[e]);
    td_outer_put(x->machine, c, now, x->token);
  }
  x->dealt[i][k]++;
  x->moves[i][k] = 1;
  return true;
}

/* The streams of a streamer in one cycle. The word of a reader leaves with its last token; that of
 * a writer is given in the cycle in which it is whole, or when there is room. */
static bool deal_word(Runner *x, int i) {
  const TdMaestroFeed *f = &x->f->feed[i];
  bool writer = x->f->system.at[i].writer, moved = false;
  if (x->words[i] == f->vectors) return false;
  if (!writer && !td_maestro_model_has_word(x->model, i)) return false;
  for (int64_t k = 0; k < f->nend; k++) moved |= deal(x, i, k);
  if (!is_dealt(x, i)) return moved;
  if (writer && !td_maestro_model_has_room(x->model, i)) return moved;
  if (writer)
    td_maestro_model_give(x->model, i);
  else
    td_maestro_model_take(x->model, i);
  x->words[i]++;
  return true;
}

static bool step_words(void *ud, TdMaestroModel *m, bool writers) {
  Runner *x = ud;
  bool moved = false;
  x->model = m;
  for (int i = 0; i < x->f->system.n; i++)
    if (x->f->system.at[i].writer == writers) moved |= deal_word(x, i);
  return moved;
}

/* Finds the channels of all ends. */
static void find_lines(Runner *x, struct TdMachine *m) {
  x->machine = m;
  for (int i = 0; i < x->f->system.n; i++)
    for (int64_t k = 0; k < x->f->feed[i].nend; k++)
      x->line[i][k] = td_outer_stream(m, x->f->feed[i].end[k].stream, x->f->feed[i].end[k].ordinal);
}

/* Whether all words have passed. */
static bool is_over(const Runner *x) {
  for (int i = 0; i < x->f->system.n; i++)
    if (x->words[i] < x->f->feed[i].vectors) return false;
  return !td_maestro_model_is_busy(x->model);
}

/* Whether a token or place is known to come. */
static bool awaits(const Runner *x) {
  for (int i = 0; i < x->f->system.n; i++)
    for (int64_t k = 0; k < x->f->feed[i].nend; k++) {
      const struct TdChannel *c = x->line[i][k];
      if (x->dealt[i][k] < limit_of(x, i) &&
          (x->f->system.at[i].writer ? td_outer_has_token(c, INT64_MAX)
                                     : td_outer_has_room(c, INT64_MAX)))
        return true;
    }
  return false;
}

/* A cycle of the memory, when no task goes on in the cycles before. */
static bool step(void *ud, struct TdMachine *m, bool *more) {
  Runner *x = ud;
  if (!x->machine) find_lines(x, m);
  memset(x->moves[0], 0, (size_t)x->nmove);
  x->idle = td_maestro_model_cycle(x->model) ? 0 : x->idle + 1;
  *more = !is_over(x) && (x->idle < PATIENCE || awaits(x));
  return true;
}

static void open(Runner *x) {
  const TdMaestroFront *f = x->f;
  int64_t most = 1;
  for (int i = 0; i < f->system.n; i++) x->nmove += (int)f->feed[i].nend;
  x->moves[0] = TD_NEWN(x->a, uint8_t, x->nmove);
  for (int i = 1; i < f->system.n; i++) x->moves[i] = x->moves[i - 1] + f->feed[i - 1].nend;
  for (int i = 0; i < f->system.n; i++) {
    x->line[i] = TD_NEWN(x->a, struct TdChannel *, f->feed[i].nend);
    x->dealt[i] = TD_NEWN(x->a, int64_t, f->feed[i].nend);
    if (f->feed[i].each > most) most = f->feed[i].each;
    if (f->system.at[i].writer)
      x->result[i] = TD_NEWN(x->a, TdValue, td_tensor_count(x->r->arg[f->feed[i].param].tensor));
  }
  x->token = TD_NEWN(x->a, TdValue, most);
}

static void watch(void *ud, const TdMaestroCycle *c) {
  const Runner *x = ud;
  x->r->watch(x->r->ud, c, x->moves[0], x->nmove);
}

bool td_maestro_front_run(TdMaestroFrontRun *r, TdArena *a, TdDiag *d) {
  Runner x = {.r = r, .f = r->front, .a = a, .d = d};
  const TdMaestroFront *f = r->front;
  TdMaestroOuter words = {&x, step_words};
  TdMaestroRun run = {.ctx = td_arena_ctx(a),
                      .arena = a,
                      .system = &f->system,
                      .pattern = f->pattern,
                      .outer = &words,
                      .watch = r->watch ? watch : NULL,
                      .ud = &x};
  TdOuter outer = {&x, f->without, step};
  TdKeep keep = {.left = MOST_KEPT};
  TdEvalOptions o = {.times = r->times, .keep = &keep, .outer = &outer};
  TdEvalResult result;
  r->report = TD_NEW(a, TdMaestroReport);
  open(&x);
  x.model = td_maestro_model_new(&run, r->report);
  if (!td_eval_run(a, f->prog, r->arg, td_prog_root(f->prog)->nparam, &o, d, &result)) return false;
  if (!is_over(&x))
    return td_diag_set(d, TD_ILLEGAL, "maestro-stuck", (TdLoc){0},
                       "nothing moves any more after cycle %lld: the tasks have ended, and "
                       "streamers wait for tokens or places",
                       (long long)(r->report->cycles - x.idle));
  store_results(&x);
  TdTimed *timed = td_arena_copy(a, result.timed, sizeof *timed);
  if (r->report->cycles > timed->cycles) timed->cycles = r->report->cycles;
  r->timed = timed;
  return true;
}
