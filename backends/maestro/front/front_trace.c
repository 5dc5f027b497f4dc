/* front_trace.c - what tasks that only load and put, or get and store, move: the tasks are run on
 * symbols, the fingerprint of each element of a tensor or token being known. */
#include "backends/maestro/front/front.h"

#include "base/ctx.h"

enum { SEED = 20504 };

/* A stream of the design while tasks are traced. */
typedef struct Line {
  TdMaestroEnd end;
  int64_t each, given;
  TD_VEC(TdValue) token; /* elements that were put */
} Line;

typedef struct Trace {
  TdMaestroFront *f;
  TdAsk q;
  TdArena *a;
  const TdUnit *u;
  void *domain;
  TdMap known; /* fingerprint -> parameter or line, and element */
  TD_VEC(Line) line;
  bool writes, listed;
  TdDiag *d;
} Trace;

/* A parameter or line beside an element of it as one word. */
static uint64_t pair(size_t what, int64_t element) {
  return (uint64_t)what << 40 | (uint64_t)element;
}

static TdValue symbol(const Trace *t, size_t what, int64_t element, const TdType *type) {
  return td_finger_domain.input(t->domain, (unsigned)what, element, type);
}

static void note_symbol(Trace *t, size_t what, int64_t element, const TdType *type) {
  td_map_put(t->a, &t->known, symbol(t, what, element, type).lo, pair(what, element));
}

/* The streamer of parameter p, or -1. */
static int streamer_of(const Trace *t, size_t p) {
  for (int i = 0; i < t->f->system.n; i++)
    if (t->f->feed[i].param == p) return i;
  return -1;
}

/* The parameter that the design's symbol is. */
static size_t param_of(const TdUnit *u, TdSym s) {
  size_t i = 0;
  while (i < u->nparam && u->param[i].sym != s) i++;
  return i;
}

/* Whether run r is given an argument of a streamer that writes, or that reads. */
static bool is_ours(const Trace *t, const TdRun *r, bool writes) {
  for (size_t i = 0; i < r->nbind; i++) {
    int k = streamer_of(t, param_of(t->u, r->bind[i].arg));
    if (k >= 0 && t->f->system.at[k].writer == writes) return true;
  }
  return false;
}

/* ---- what such a task may do ---- */

typedef struct Look {
  const Trace *t;
  const TdRun *run;
  const TdUnit *unit;
  TdSym sym; /* of which an access is looked for */
  TdLoc loc;
} Look;

static bool refuse_task(const Look *l, TdLoc loc, const char *does) {
  td_diag_set(l->t->d, TD_UNSUPPORTED, "maestro-front", loc, "task '%s' %s", l->run->sym->name,
              does);
  td_diag_help(l->t->d, l->t->writes
                            ? "a task in place of which a writer stands only gets and stores"
                            : "a task in place of which a reader stands only loads and puts");
  return false;
}

static bool look_at(void *ud, const TdStmt *s) {
  const Look *l = ud;
  if (s->kind == TD_STMT_GET && !l->t->writes) return refuse_task(l, s->loc, "gets from a stream");
  if ((s->kind == TD_STMT_PUT || s->kind == TD_STMT_SLOT) && l->t->writes)
    return refuse_task(l, s->loc, "puts to a stream");
  if ((s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET) && !l->t->writes &&
      td_unit_param(l->unit, s->expr[0]->sym))
    return refuse_task(l, s->loc, "stores to an argument");
  return true;
}

static bool find_access(void *ud, const TdExpr *e) {
  Look *l = ud;
  if ((e->kind == TD_EXPR_LOAD || e->kind == TD_EXPR_VIEW) && e->sym == l->sym && e->nkid &&
      !l->loc.line)
    l->loc = e->loc;
  return true;
}

/* Notes where the unit of a run has an argument of a streamer. */
static void find_accesses(const Trace *t, Look *l) {
  for (size_t i = 0; i < l->run->nbind; i++) {
    int k = streamer_of(t, param_of(t->u, l->run->bind[i].arg));
    if (k < 0) continue;
    l->sym = l->run->bind[i].param;
    l->loc = (TdLoc){0};
    td_walk_exprs(td_arena_ctx(t->a), l->unit->body, find_access, l);
    t->f->feed[k].loc = l->loc.line ? l->loc : l->run->loc;
    t->f->feed[k].run = l->run->sym->name;
  }
}

/* Which runs streamers do; false: one does more than streamers can. */
static bool choose_runs(Trace *t, bool *without) {
  for (size_t i = 0; i < t->u->nrun; i++) {
    Look l = {.t = t, .run = &t->u->run[i]};
    without[i] = !is_ours(t, l.run, t->writes);
    if (without[i]) continue;
    t->f->without[i] = true;
    l.unit = td_prog_unit(t->q.prog, l.run->unit);
    if (!l.unit || l.unit->kind != TD_UNIT_KERNEL)
      return refuse_task(&l, l.run->loc, "is no kernel");
    td_walk_stmt(td_arena_ctx(t->a), l.unit->body, look_at, &l);
    if (td_diag_failed(t->d)) return false;
    find_accesses(t, &l);
  }
  return true;
}

/* ---- the run ---- */

/* All streams of the design. */
static void list_lines(Trace *t, struct TdMachine *m) {
  for (size_t s = 0; s < t->u->nstream; s++)
    for (int64_t k = 0;; k++) {
      struct TdChannel *c = td_outer_stream(m, s, k);
      if (!c) break;
      td_vec_push(t->a, &t->line, ((Line){.end = {s, k}, .each = td_outer_elements(c)}));
    }
  t->listed = true;
}

static struct TdChannel *channel_of(struct TdMachine *m, const Line *l) {
  return td_outer_stream(m, l->end.stream, l->end.ordinal);
}

/* Takes all that was put. */
static bool take_tokens(void *ud, struct TdMachine *m, bool *more) {
  Trace *t = ud;
  if (!t->listed) list_lines(t, m);
  *more = false;
  for (size_t i = 0; i < t->line.n; i++) {
    Line *l = &t->line.at[i];
    struct TdChannel *c = channel_of(m, l);
    TdValue *token = TD_NEWN(t->a, TdValue, l->each);
    for (; td_outer_has_token(c, 0); *more = true) {
      td_outer_take(m, c, 0, token);
      for (int64_t e = 0; e < l->each; e++) td_vec_push(t->a, &l->token, token[e]);
    }
  }
  return true;
}

/* Gives a token to whoever waits for one. */
static bool give_tokens(void *ud, struct TdMachine *m, bool *more) {
  Trace *t = ud;
  if (!t->listed) list_lines(t, m);
  *more = false;
  for (size_t i = 0; i < t->line.n; i++) {
    Line *l = &t->line.at[i];
    struct TdChannel *c = channel_of(m, l);
    if (!td_outer_is_wanted(m, c) || !td_outer_has_room(c, 0)) continue;
    const TdType *type = td_type_scalar(t->u->stream[l->end.stream].type->elem);
    TdValue *token = TD_NEWN(t->a, TdValue, l->each);
    for (int64_t e = 0; e < l->each; e++) {
      int64_t element = l->given * l->each + e;
      token[e] = symbol(t, t->u->nparam + i, element, type);
      note_symbol(t, t->u->nparam + i, element, type);
    }
    l->given++;
    td_outer_put(m, c, 0, token);
    *more = true;
  }
  return true;
}

/* Runs the tasks of one side; cell[i]: what parameter i holds then. */
static bool run_tasks(Trace *t, const TdValue **cell) {
  bool *without = TD_NEWN(t->a, bool, t->u->nrun + 1);
  if (!choose_runs(t, without)) return false;
  TdOuter outer = {t, without, t->writes ? give_tokens : take_tokens};
  TdEvalOptions o = {.seed = SEED, .outer = &outer};
  TdDiag why = {.arena = t->a};
  if (td_eval_symbolic(t->a, t->q.prog, TD_LEVEL_STRICT, NULL, &o, cell, &why)) return true;
  td_diag_set(t->d, TD_UNSUPPORTED, "maestro-access", why.loc,
              "no streamer makes these addresses: %s", why.message);
  return false;
}

/* ---- what came of it ---- */

static int64_t count_of(const Trace *t, size_t p) {
  const TdType *type = td_unit_type(t->q.prog->store->session, t->u, t->u->param[p].type);
  int64_t n = 0;
  return type && type->kind == TD_T_TENSOR && td_type_count(type, &n) ? n : 0;
}

/* The elements of all tensors that tasks may load. */
static void note_params(Trace *t) {
  for (size_t p = 0; p < t->u->nparam; p++)
    for (int64_t k = 0, n = count_of(t, p); k < n; k++)
      note_symbol(t, p, k, td_type_scalar(t->u->param[p].type));
}

/* What a value is: true with *what and *element, or *element -1 for 0. */
static bool find_value(const Trace *t, TdValue v, size_t *what, int64_t *element) {
  uint64_t found;
  *what = SIZE_MAX;
  *element = -1;
  if (td_value_is_concrete(v) && !td_value_is_wide(v)) return v.lo == 0;
  if (!td_value_is_symbolic(v) || !td_map_get(&t->known, v.lo, &found)) return false;
  *what = (size_t)(found >> 40);
  *element = (int64_t)(found & ((UINT64_C(1) << 40) - 1));
  return true;
}

static bool refuse_stream(Trace *t, const Line *l, TdLoc loc, const char *why) {
  return td_diag_set(t->d, TD_UNSUPPORTED, "maestro-front", loc, "stream '%s': %s",
                     t->u->stream[l->end.stream].sym->name, why);
}

/* The streamer whose argument the tokens of a line are of; -1: refused, or it has none. */
static int feeder_of(Trace *t, const Line *l) {
  int feed = -1;
  for (size_t e = 0; e < l->token.n; e++) {
    size_t what;
    int64_t element;
    TdLoc loc = t->u->stream[l->end.stream].loc;
    if (!find_value(t, l->token.at[e], &what, &element)) {
      refuse_stream(t, l, loc, "its tokens are computed, not loaded: that stays a task");
      return -1;
    }
    if (what == SIZE_MAX) continue;
    int k = streamer_of(t, what);
    if (k >= 0 && (feed < 0 || feed == k)) {
      feed = k;
      continue;
    }
    refuse_stream(t, l, loc,
                  k < 0 ? td_text_fmt(t->a,
                                      "its tokens have elements of '%s', for which there is "
                                      "no reader",
                                      t->u->param[what].sym->name)
                        : "its tokens have elements of two arguments");
    return -1;
  }
  return feed;
}

/* Adds a line to its feed; all lines of a feed have as many tokens of as many elements. */
static bool add_line(Trace *t, const Line *l, TdMaestroFeed *f, int64_t tokens) {
  if (t->u->stream[l->end.stream].type->block)
    return refuse_stream(t, l, f->loc, "streams of blocks hand over buffers, not words");
  if (f->nend && (f->tokens != tokens || f->each != l->each))
    return refuse_stream(t, l, f->loc,
                         td_text_fmt(t->a,
                                     "%lld tokens, and another one of '%s' has %lld: all "
                                     "streams of a streamer have as many",
                                     (long long)tokens, t->u->param[f->param].sym->name,
                                     (long long)f->tokens));
  f->tokens = tokens;
  f->each = l->each;
  f->end[f->nend++] = l->end;
  return true;
}

static void new_feed_ends(Trace *t, TdMaestroFeed *f) {
  f->end = TD_NEWN(t->q.arena, TdMaestroEnd, t->line.n + 1);
}

/* The tokens that were put, by feeds. */
static bool read_tokens(Trace *t) {
  for (int i = 0; i < t->f->system.n; i++)
    if (!t->f->system.at[i].writer) new_feed_ends(t, &t->f->feed[i]);
  for (size_t i = 0; i < t->line.n; i++) {
    const Line *l = &t->line.at[i];
    if (!l->token.n) continue;
    int k = feeder_of(t, l);
    if (td_diag_failed(t->d)) return false;
    if (k < 0) return refuse_stream(t, l, t->u->loc, "its tokens are zeros alone");
    if (!add_line(t, l, &t->f->feed[k], (int64_t)l->token.n / l->each)) return false;
  }
  for (int i = 0; i < t->f->system.n; i++) {
    TdMaestroFeed *f = &t->f->feed[i];
    if (t->f->system.at[i].writer) continue;
    f->at = TD_NEWN(t->q.arena, int64_t, f->nend * f->tokens * f->each + 1);
    int64_t n = 0;
    for (size_t k = 0; k < t->line.n; k++) {
      const Line *l = &t->line.at[k];
      if (!l->token.n || feeder_of(t, l) != i) continue;
      for (size_t e = 0; e < l->token.n; e++) {
        size_t what;
        find_value(t, l->token.at[e], &what, &f->at[n++]);
      }
    }
  }
  return true;
}

/* The line and element of a token that a cell of a result holds, or -1: it was not stored. */
static bool read_cell(Trace *t, size_t p, int64_t k, TdValue v, size_t *line, int64_t *element) {
  size_t what;
  *element = -1;
  if (td_value_same(v, symbol(t, p, k, td_type_scalar(t->u->param[p].type)))) return true;
  if (!find_value(t, v, &what, element) || what == SIZE_MAX || what < t->u->nparam)
    return td_diag_set(t->d, TD_UNSUPPORTED, "maestro-front", t->f->feed[streamer_of(t, p)].loc,
                       "'%s' gets what is computed, not what came: that stays a task",
                       t->u->param[p].sym->name);
  *line = what - t->u->nparam;
  return true;
}

/* The elements that the tokens of a writer end in. */
static bool read_cells(Trace *t, int i, const TdValue *cell) {
  TdMaestroFeed *f = &t->f->feed[i];
  int64_t n = count_of(t, f->param), element;
  size_t line = 0;
  int *mine = TD_NEWN(t->a, int, t->line.n + 1); /* 1 + end */
  new_feed_ends(t, f);
  for (int64_t k = 0; k < n; k++) {
    if (!read_cell(t, f->param, k, cell[k], &line, &element)) return false;
    if (element >= 0) mine[line] = 1;
  }
  for (size_t l = 0; l < t->line.n; l++) {
    if (!mine[l]) continue;
    if (!add_line(t, &t->line.at[l], f, t->line.at[l].given)) return false;
    mine[l] = (int)f->nend;
  }
  int64_t all = f->nend * f->tokens * f->each;
  f->at = TD_NEWN(t->q.arena, int64_t, all + 1);
  for (int64_t k = 0; k < all; k++) f->at[k] = -1;
  for (int64_t k = 0; k < n; k++) {
    if (!read_cell(t, f->param, k, cell[k], &line, &element)) return false;
    if (element >= 0) f->at[(mine[line] - 1) * f->tokens * f->each + element] = k;
  }
  return true;
}

/* Lines from which a drain took, but nothing reached a result. */
static bool check_lines(Trace *t) {
  for (size_t l = 0; l < t->line.n; l++) {
    bool found = false;
    for (int i = 0; i < t->f->system.n; i++)
      for (int64_t k = 0; k < t->f->feed[i].nend; k++)
        found |= t->f->feed[i].end[k].stream == t->line.at[l].end.stream &&
                 t->f->feed[i].end[k].ordinal == t->line.at[l].end.ordinal;
    if (t->line.at[l].given && !found)
      return refuse_stream(t, &t->line.at[l], t->u->stream[t->line.at[l].end.stream].loc,
                           "its tokens are not stored");
  }
  return true;
}

/* One side: readers, or writers. */
static bool trace_side(TdMaestroFront *f, TdAsk q, bool writes, TdDiag *d) {
  Trace t = {.f = f, .q = q, .a = td_arena_inner(q.arena), .u = q.unit, .writes = writes, .d = d};
  const TdValue **cell = TD_NEWN(t.a, const TdValue *, q.unit->nparam + 1);
  bool any = false;
  for (int i = 0; i < f->system.n; i++) any |= f->system.at[i].writer == writes;
  if (!any) return true;
  t.domain = td_finger_new(t.a, SEED);
  if (!writes) note_params(&t);
  if (!run_tasks(&t, cell)) return false;
  if (!writes) return read_tokens(&t);
  for (int i = 0; i < f->system.n; i++)
    if (f->system.at[i].writer && !read_cells(&t, i, cell[f->feed[i].param])) return false;
  return check_lines(&t);
}

bool td_maestro_front_trace(TdMaestroFront *f, TdAsk q, TdDiag *d) {
  f->without = TD_NEWN(q.arena, bool, q.unit->nrun + 1);
  if (!trace_side(f, q, false, d) || !trace_side(f, q, true, d)) return false;
  for (int i = 0; i < f->system.n; i++) {
    TdMaestroFeed *x = &f->feed[i];
    x->elem = td_type_scalar(q.unit->param[x->param].type);
    x->size = (int64_t)td_type_bytes(x->elem);
    if (x->nend) continue;
    return td_diag_set(d, TD_UNSUPPORTED, "maestro-front", q.unit->loc, "'%s': no task %s it",
                       q.unit->param[x->param].sym->name,
                       f->system.at[i].writer ? "stores to" : "loads from");
  }
  return true;
}
