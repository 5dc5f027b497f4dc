/* travel.c - which instances' parts are in a value: a set for each local and each channel, found by
 * walking all instances until no one waits for a token that nobody has put yet. */
#include "analysis/net/travel.h"

enum { MOST_ALONG = 64, MOST_INSTANCES = 4096 };
typedef enum { DONE, WAITS, FAILS } Outcome;

typedef struct Travel {
  TdArena *a;
  const TdProg *prog;
  const TdUnit *design, *task;
  const TdRun *run;
  int axis;
  TdTravelIsPart is_part;
  void *ud;
  int64_t extent[TD_MAX_RANK], at[TD_MAX_RANK]; /* of the map; the instance */
  uint64_t own, all;
  TdMap local; /* TdSym -> set */
  TdMap token; /* hash of a channel -> set, plus 1 */
  bool fails;
} Travel;

/* A coordinate as its number. */
static const TdExpr *fix(void *ud, const TdExpr *e) {
  const Travel *t = ud;
  if (e->kind != TD_EXPR_VAR) return e;
  for (size_t d = 0; d < t->task->ncoord; d++)
    if (t->task->coord[d] == e->sym)
      return td_expr_index(t->prog->store->session, t->a, t->at[d], e->loc);
  return e;
}

/* The value of an index or condition for the instance; false if data or loops decide it. */
static bool value_of(Travel *t, const TdExpr *e, int64_t *v) {
  return td_unit_value(t->task, td_walk_map_expr(t->a, e, fix, t), v) ||
         td_unit_value(t->design, td_walk_map_expr(t->a, e, fix, t), v);
}

/* The set of a value. */
static uint64_t set_of(Travel *t, const TdExpr *e) {
  uint64_t sum = 0, k;
  if (e->kind == TD_EXPR_LOAD || e->kind == TD_EXPR_VIEW)
    return td_map_get(&t->local, (uint64_t)(uintptr_t)e->sym, &sum) ? sum : 0;
  for (uint32_t i = 0; i < e->nkid; i++) {
    k = set_of(t, e->kid[i]);
    bool adds = e->kind == TD_EXPR_CAST || (e->kind == TD_EXPR_OP && e->op == TD_OP_ADD) ||
                (e->kind == TD_EXPR_OP && e->op == TD_OP_MUL && !(sum && k));
    t->fails |= k && (!adds || (sum & k & ~t->own));
    sum |= k;
  }
  if (e->kind == TD_EXPR_TENSOR && t->is_part(t->ud, e, t->axis)) sum |= t->own;
  return sum;
}

static void put_local(Travel *t, TdSym sym, uint64_t set) {
  td_map_put(t->a, &t->local, (uint64_t)(uintptr_t)sym, set);
}

/* The channel that a stream end denotes for the instance; false if it is not known. */
static bool channel_of(Travel *t, const TdExpr *end, uint64_t *key) {
  *key = td_map_mix((uint64_t)(uintptr_t)end->sym, 1);
  for (uint32_t d = 0; d < end->nkid; d++) {
    int64_t v;
    if (!value_of(t, end->kid[d], &v)) return false;
    *key = td_map_mix(*key, (uint64_t)v);
  }
  return true;
}

static Outcome walk(Travel *t, const TdStmt *s);

static Outcome walk_kids(Travel *t, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nkid; i++) {
    Outcome o = walk(t, s->kid[i]);
    if (o != DONE) return o;
  }
  return DONE;
}

static Outcome walk_get(Travel *t, const TdStmt *s) {
  uint64_t key, set;
  if (!channel_of(t, s->expr[0], &key)) return FAILS;
  if (!td_map_get(&t->token, key, &set)) return WAITS;
  put_local(t, s->sym ? s->sym : s->expr[1]->sym, set - 1);
  return DONE;
}

static Outcome walk_put(Travel *t, const TdStmt *s) {
  uint64_t key, set = set_of(t, s->expr[1]), was;
  if (!channel_of(t, s->expr[0], &key)) return set ? FAILS : DONE;
  if (td_map_get(&t->token, key, &was) && was != set + 1) return FAILS;
  td_map_put(t->a, &t->token, key, set + 1);
  return DONE;
}

/* A value goes to an argument, whole or not at all a sum, or to a local. */
static Outcome walk_write(Travel *t, const TdStmt *s) {
  uint64_t set = set_of(t, s->expr[1]);
  TdSym to = s->expr[0]->sym;
  if (td_unit_param(t->task, to)) return set == 0 || set == t->all ? DONE : FAILS;
  if (s->kind == TD_STMT_STORE) set |= set_of(t, s->expr[0]);
  put_local(t, to, set);
  return DONE;
}

static Outcome walk_kind(Travel *t, const TdStmt *s) {
  int64_t v;
  switch (s->kind) {
  case TD_STMT_LOCAL: put_local(t, s->sym, s->nexpr ? set_of(t, s->expr[0]) : 0); return DONE;
  case TD_STMT_STORE:
  case TD_STMT_SET: return walk_write(t, s);
  case TD_STMT_GET: return walk_get(t, s);
  case TD_STMT_PUT: return walk_put(t, s);
  case TD_STMT_IF:
    if (!value_of(t, s->expr[0], &v)) return FAILS;
    return v ? walk(t, s->kid[0]) : s->nkid > 1 ? walk(t, s->kid[1]) : DONE;
  case TD_STMT_FOR:
  case TD_STMT_BLOCK: return walk_kids(t, s);
  default: return FAILS;
  }
}

static Outcome walk(Travel *t, const TdStmt *s) {
  TdCtx *c = t->prog->store->session->ctx;
  td_ctx_tick(c, 1);
  td_ctx_enter(c);
  Outcome o = walk_kind(t, s);
  td_ctx_leave(c);
  return t->fails ? FAILS : o;
}

/* Walks instance number i. */
static Outcome walk_instance(Travel *t, int64_t i) {
  for (int d = t->run->rank; d-- > 0; i /= t->extent[d]) t->at[d] = i % t->extent[d];
  t->own = UINT64_C(1) << t->at[t->axis];
  t->local = (TdMap){0};
  return walk(t, t->task->body);
}

bool td_travel_complete(TdArena *a, const TdProg *p, const TdUnit *design, const TdRun *run,
                        int axis, TdTravelIsPart is_part, void *ud) {
  Travel t = {.a = a, .prog = p, .design = design, .run = run, .axis = axis, .is_part = is_part};
  int64_t n = 1;
  t.ud = ud;
  t.task = td_prog_unit(p, run->unit);
  for (int d = 0; d < run->rank; d++) {
    if (!td_unit_value(design, run->map[d], &t.extent[d]) || t.extent[d] < 1) return false;
    if (t.extent[d] > MOST_INSTANCES || (n *= t.extent[d]) > MOST_INSTANCES) return false;
  }
  if (t.extent[axis] > MOST_ALONG || t.task->ncoord < (size_t)run->rank) return false;
  t.all = UINT64_MAX >> (MOST_ALONG - t.extent[axis]);
  bool *done = TD_NEWN(a, bool, (size_t)n), moved = true;
  int64_t left = n;
  while (left && moved) {
    moved = false;
    for (int64_t i = 0; i < n; i++) {
      Outcome o = done[i] ? WAITS : walk_instance(&t, i);
      if (o == FAILS) return false;
      if (o == WAITS) continue;
      done[i] = moved = true;
      left--;
    }
  }
  return left == 0;
}
