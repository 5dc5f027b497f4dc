/* trial.c - sizes are searched like the figures of an odometer, over candidates that begin with
 * those at which quotients are two; loops are counted by walking through them on their bounds
 * alone. */
#include "trial.h"

#include "ir/at.h"
#include "ir/num/num.h"

enum { SMALLEST = 2, LARGEST = 13, MOST_PLAIN = 20, MOST_VALUES = 32, MOST_DIVISOR = 4096 };
/* How many choices are tried, and of how many loops are counted. */
enum { MOST_TRIES = 20000, MOST_COUNTS = 3000 };
/* Statements of a run that still takes no long time. */
enum { MOST_WORK = 1 << 20 };

/* How often each loop of a program runs at most; -1: not known. */
typedef struct TdTurns {
  TdArena *arena;
  TdSession *session;
  const TdUnit *unit;
  TdMap most;   /* uid -> trips + 1 */
  TdMap value;  /* symbol id -> value, of loop variables */
  TdMap known;  /* symbol id -> whether there is one */
  int64_t left; /* iterations to be walked */
} TdTurns;

/* The value of an integer expression; false if it is not known. */
static bool value_of(const TdTurns *t, const TdExpr *e, uint64_t *v) {
  uint64_t kid[4], known = 0;
  const TdType *of[4];
  TdFault fault = TD_FAULT_NONE;
  if (e->kind == TD_EXPR_LIT) return *v = e->u.bits, true;
  if (e->kind == TD_EXPR_SIZE) {
    const TdSize *s = td_unit_size(t->unit, e->u.name);
    return s && s->known && (*v = (uint64_t)s->value, true);
  }
  if (e->kind == TD_EXPR_VAR)
    return td_map_get(&t->known, e->sym->id, &known) && known &&
           td_map_get(&t->value, e->sym->id, v);
  if ((e->kind != TD_EXPR_OP && e->kind != TD_EXPR_CAST) || e->nkid > 4) return false;
  td_ctx_enter(t->session->ctx);
  bool ok = true;
  for (uint32_t i = 0; i < e->nkid && ok; i++) {
    of[i] = e->kid[i]->type;
    ok = of[i]->w <= 64 && value_of(t, e->kid[i], &kid[i]);
  }
  td_ctx_leave(t->session->ctx);
  if (!ok || e->type->w > 64) return false;
  *v = e->kind == TD_EXPR_CAST ? td_num_cast(e->type, of[0], kid[0], &fault)
                               : td_num_op(e->op, e->type, of, kid, (int)e->nkid, &fault);
  return fault == TD_FAULT_NONE;
}

static void walk(TdTurns *t, const TdStmt *s);

/* Walks the body of loop s for one value of its variable, or for one that is not known. */
static void walk_body(TdTurns *t, const TdStmt *s, bool known, int64_t v) {
  td_map_put(t->arena, &t->known, s->sym->id, known);
  td_map_put(t->arena, &t->value, s->sym->id, (uint64_t)v);
  walk(t, s->kid[0]);
}

/* Counts loop s, and walks it while there are iterations left to be walked; then once more. */
static void walk_loop(TdTurns *t, const TdStmt *s) {
  uint64_t lo, hi, was = 0;
  bool known = value_of(t, td_for_lo(s), &lo) && value_of(t, td_for_hi(s), &hi);
  bool seen = td_map_get(&t->most, s->uid, &was);
  if (!known) {
    td_map_put(t->arena, &t->most, s->uid, UINT64_MAX);
    walk_body(t, s, false, 0);
    return;
  }
  uint64_t span = (int64_t)lo < (int64_t)hi ? hi - lo : 0, step = (uint64_t)s->step;
  uint64_t trips = span / step + (span % step != 0);
  if (!seen || was < trips + 1) td_map_put(t->arena, &t->most, s->uid, trips + 1);
  for (uint64_t k = 0; k < trips; k++) {
    if (t->left-- <= 0) k = trips - 1;
    walk_body(t, s, true, (int64_t)(lo + k * step));
  }
}

static void walk(TdTurns *t, const TdStmt *s) {
  td_ctx_tick(t->session->ctx, 1);
  td_ctx_enter(t->session->ctx);
  if (s->kind == TD_STMT_FOR)
    walk_loop(t, s);
  else
    for (uint32_t i = 0; i < s->nkid; i++) walk(t, s->kid[i]);
  td_ctx_leave(t->session->ctx);
}

/* Counts the loops of p. */
static void count(TdTurns *t, TdArena *a, const TdProg *p) {
  t->arena = a;
  t->session = p->store->session;
  for (size_t i = 0; i < p->nunit; i++) {
    t->unit = p->unit[i];
    t->left = 2000;
    if (t->unit->body) walk(t, t->unit->body);
  }
}

/* Loops of a program asked whether they run often enough. */
typedef struct Enough {
  const TdTurns *turns, *own; /* own: NULL if a loop is to run twice whatever it does there */
} Enough;

static bool has_no_size(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_SIZE && e->kind != TD_EXPR_VAR;
}

static bool is_fixed(const TdExpr *e) {
  return td_walk_expr(e, has_no_size, NULL);
}

static bool runs_twice(void *ud, const TdStmt *s) {
  const Enough *e = ud;
  uint64_t most = 0, own = 0;
  if (s->kind != TD_STMT_FOR || (is_fixed(td_for_lo(s)) && is_fixed(td_for_hi(s)))) return true;
  td_map_get(&e->turns->most, s->uid, &most);
  if (e->own) td_map_get(&e->own->most, s->uid, &own);
  return most >= 3 || (e->own && most >= own);
}

/* Whether every loop of p runs often enough. */
static bool enough(const TdProg *p, Enough *e) {
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body && !td_walk_stmt(p->store->session->ctx, p->unit[i]->body, runs_twice, e))
      return false;
  return true;
}

/* Whether every loop of p runs twice somewhere; or, if own is given, as often as there. */
static bool all_twice(TdArena *a, const TdProg *p, const TdTurns *own) {
  TdTurns turns = {0};
  Enough e = {&turns, own};
  count(&turns, a, p);
  return enough(p, &e);
}

/* The sizes in an expression, and the least common multiple of what they are divided by. */
typedef struct Divisors {
  const TdTrial *trial;
  int64_t *by; /* of each size of the trial */
} Divisors;

static int64_t multiple(int64_t x, int64_t y) {
  int64_t a = x, b = y;
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return x / a <= MOST_DIVISOR / y ? x / a * y : x;
}

/* A divisor for every size in an expression. */
typedef struct Divide {
  Divisors *in;
  int64_t by;
} Divide;

static bool divide_size(void *ud, const TdExpr *e) {
  const Divide *d = ud;
  for (size_t i = 0; e->kind == TD_EXPR_SIZE && i < d->in->trial->n; i++)
    if (d->in->trial->size[i].name == e->u.name) d->in->by[i] = multiple(d->in->by[i], d->by);
  return true;
}

static void divide(Divisors *in, const TdExpr *e, int64_t by) {
  Divide d = {in, by};
  if (by > 1 && by <= MOST_DIVISOR) td_walk_expr(e, divide_size, &d);
}

static bool find_divisor(void *ud, const TdExpr *e) {
  int64_t by;
  if (e->kind == TD_EXPR_OP && (e->op == TD_OP_FLOORDIV || e->op == TD_OP_MOD) &&
      e->kid[1]->kind == TD_EXPR_LIT && (by = (int64_t)e->kid[1]->u.bits) > 1)
    divide(ud, e->kid[0], by);
  return true;
}

static bool find_step(void *ud, const TdStmt *s) {
  if (s->kind == TD_STMT_FOR && s->step > 1) divide(ud, td_for_hi(s), s->step);
  return true;
}

/* Finds the divisors in p. */
static void find_divisors(Divisors *d, const TdProg *p) {
  TdCtx *c = td_arena_ctx(d->trial->arena);
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = p->unit[i];
    for (size_t k = 0; k < u->nassert; k++) td_walk_expr(u->assert_[k], find_divisor, d);
    for (size_t k = 0; k < u->nparam; k++)
      for (int r = 0; r < u->param[k].type->rank; r++)
        td_walk_expr(u->param[k].type->dim[r], find_divisor, d);
    if (!u->body) continue;
    td_walk_exprs(c, u->body, find_divisor, d);
    td_walk_stmt(c, u->body, find_step, d);
  }
}

/* Candidates of a size, under way. */
typedef struct Values {
  int64_t *at, most;
  size_t n;
} Values;

static void add_value(Values *v, int64_t x) {
  if (x >= SMALLEST && x <= v->most) v->at[v->n++] = x;
}

/* The candidates of size i, which is divided by `by`, best first: different ones for different
 * sizes and runs, so that swapped extents show. One that is divided by as much as it
 * is becomes no greater: tiles of all there is are another program where there is more. */
static void list_values(TdTrial *t, size_t i, int run, int64_t by) {
  static const int64_t first[2][4] = {{3, 5, 2, 7}, {4, 3, 6, 5}}, few[2][2] = {{3, 2}, {2, 3}};
  int64_t more = 1 + ((int64_t)i + run) % 2;
  Values v = {TD_NEWN(t->arena, int64_t, MOST_VALUES), INT64_MAX, 0};
  if (by > 1 && t->known && by >= t->own[i]) v.most = t->own[i];
  for (int64_t k = more; by > 1 && k <= 4; k++) add_value(&v, by + k);
  for (int64_t k = 2; by > 1 && k <= 5; k++) {
    add_value(&v, k * by);
    add_value(&v, k * by + 1);
  }
  add_value(&v, t->divided ? few[run % 2][i % 2] : first[run % 2][i % 4]);
  for (int64_t k = SMALLEST; k <= LARGEST; k++) add_value(&v, k);
  for (int64_t k = LARGEST + 1; by == 1 && k <= MOST_PLAIN; k++) add_value(&v, k);
  if (!v.n) v.at[v.n++] = t->own[i];
  t->value[i] = v.at;
  t->nvalue[i] = v.n;
}

/* The sizes that x and y have in common with equal values. */
static void find_common(TdTrial *t) {
  const TdUnit *x = td_prog_root(t->x), *y = td_prog_root(t->y);
  t->size = TD_NEWN(t->arena, TdSize, x->nsize);
  t->known = true;
  for (size_t i = 0; i < x->nsize; i++) {
    const TdSize *other = td_unit_size(y, x->size[i].name);
    if (!other || other->known != x->size[i].known || other->value != x->size[i].value) continue;
    t->size[t->n++] = x->size[i];
  }
  for (size_t i = 0; i < x->nsize; i++) t->known &= x->size[i].known;
  for (size_t i = 0; i < y->nsize; i++) t->known &= y->size[i].known;
  t->all = t->n == x->nsize && t->n == y->nsize;
}

static void take_turn(TdTrial *t) {
  const TdSize *now = td_arena_copy(t->arena, t->size, t->n * sizeof *t->size);
  td_vec_push(t->arena, &t->done, now);
}

TdTrial td_trial_new(TdArena *a, const TdProg *x, const TdProg *y) {
  TdTrial t = {.arena = a, .x = x, .y = y};
  find_common(&t);
  t.value = TD_NEWN(a, const int64_t *, t.n + 1);
  t.nvalue = TD_NEWN(a, size_t, t.n + 1);
  t.own = TD_NEWN(a, int64_t, t.n + 1);
  for (size_t i = 0; i < t.n; i++) t.own[i] = t.size[i].value;
  if (t.known) take_turn(&t);
  return t;
}

/* Whether these sizes had their turn. */
static bool had_turn(const TdTrial *t) {
  bool had = false;
  for (size_t k = 0; k < t->done.n && !had; k++) {
    had = true;
    for (size_t i = 0; i < t->n; i++) had &= t->done.at[k][i].value == t->size[i].value;
  }
  return had;
}

/* Both programs at the trial's sizes; false when an assumption of one does not hold there. */
static bool resize(const TdTrial *t, const TdProg **x, const TdProg **y) {
  TdDiag quiet = {.arena = t->arena};
  *x = td_at_sizes(t->x, t->size, t->n, &quiet);
  *y = *x ? td_at_sizes(t->y, t->size, t->n, &quiet) : NULL;
  return *y != NULL;
}

/* Advances the sizes' places among their candidates like an odometer; false at the end. */
static bool advance(TdTrial *t, size_t *place) {
  for (size_t i = 0; i < t->n; i++) {
    place[i] = place[i] + 1 < t->nvalue[i] ? place[i] + 1 : 0;
    t->size[i].value = t->value[i][place[i]];
    if (place[i]) return true;
  }
  return false;
}

/* Searches the candidates; own: what loops of both do at their own sizes, where that is enough. */
static bool search(TdTrial *t, const TdTurns *own, const TdProg **x, const TdProg **y) {
  size_t *place = TD_NEWN(t->arena, size_t, t->n + 1);
  for (size_t i = 0; i < t->n; i++) {
    t->size[i].known = true;
    t->size[i].value = t->value[i][0];
  }
  for (int tries = 0, counts = 0; tries < MOST_TRIES && counts < MOST_COUNTS; tries++) {
    td_ctx_tick(td_arena_ctx(t->arena), 1);
    bool may = !had_turn(t) && resize(t, x, y);
    if (may && all_twice(t->arena, *x, own) && all_twice(t->arena, *y, own ? own + 1 : NULL)) {
      take_turn(t);
      return true;
    }
    counts += may;
    if (!advance(t, place)) return false;
  }
  return false;
}

/* How many statements run inside s, its loops as often as they do at most. */
static int64_t work_in(const TdTurns *t, const TdStmt *s) {
  int64_t sum = s->nkid == 0;
  uint64_t most = 1;
  td_ctx_enter(t->session->ctx);
  for (uint32_t i = 0; i < s->nkid && sum < MOST_WORK; i++) sum += work_in(t, s->kid[i]);
  td_ctx_leave(t->session->ctx);
  if (s->kind != TD_STMT_FOR || !td_map_get(&t->most, s->uid, &most) || most > MOST_WORK)
    return sum;
  return sum * (int64_t)(most - 1);
}

/* Whether a run of some unit of the program takes long. */
static bool is_long(TdTrial *t, const TdProg *p) {
  TdTurns turns = {0};
  count(&turns, t->arena, p);
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body && work_in(&turns, p->unit[i]->body) >= MOST_WORK) return true;
  return false;
}

bool td_trial_apart(TdTrial *t, const TdProg *chosen, const TdProg **x, const TdProg **y,
                    size_t *n) {
  TdTurns first = {0}, second = {0};
  Enough of_x = {&first, NULL}, of_y = {&second, NULL};
  int64_t *value = TD_NEWN(t->arena, int64_t, t->n + 1);
  *n = 0;
  if (!t->divided || !is_long(t, chosen)) return false;
  for (size_t i = 0; i < t->n; i++) value[i] = t->size[i].value;
  for (size_t i = 0; i < t->n; i++) {
    if (value[i] == t->by[i]) continue;
    for (size_t k = 0; k < t->n; k++)
      t->size[k].value = k == i || t->by[k] == 1 ? value[k] : t->by[k];
    if (!resize(t, &x[*n], &y[*n])) return false;
    count(&first, t->arena, x[*n]);
    count(&second, t->arena, y[(*n)++]);
  }
  return *n > 1 && enough(t->x, &of_x) && enough(t->y, &of_y);
}

bool td_trial_next(TdTrial *t, int run, const TdProg **x, const TdProg **y) {
  Divisors d = {t, TD_NEWN(t->arena, int64_t, t->n + 1)};
  t->by = d.by;
  for (size_t i = 0; i < t->n; i++) d.by[i] = 1;
  find_divisors(&d, t->x);
  find_divisors(&d, t->y);
  for (size_t i = 0; i < t->n; i++) t->divided |= d.by[i] > 1;
  for (size_t i = 0; i < t->n; i++) list_values(t, i, run, d.by[i]);
  if (!t->n) return false;
  if (search(t, NULL, x, y)) return true;
  if (!t->known) return false;
  TdTurns own[2] = {{0}, {0}};
  count(&own[0], t->arena, t->x);
  count(&own[1], t->arena, t->y);
  return search(t, own, x, y);
}

const char *td_trial_text(TdArena *a, const TdUnit *u, bool names) {
  TdText t = td_text_new(a);
  for (size_t i = 0; i < u->nsize; i++) {
    if (!u->size[i].known) continue;
    if (t.n) td_text_puts(&t, ", ");
    if (names) td_text_putf(&t, "%s = ", u->size[i].name);
    td_text_putf(&t, "%lld", (long long)u->size[i].value);
  }
  return td_text_str(&t);
}
