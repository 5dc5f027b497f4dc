/* token_trace.c - the nodes of token_trace.h and what they add up to. */
#include "analysis/net/token_trace.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/range/span.h"

enum { LONGEST_PERIOD = 8 };

static uint64_t mix_pointer(uint64_t h, const void *p) {
  return td_map_mix(h, (uint64_t)(uintptr_t)p);
}

static uint64_t hash_of(const TdMove *x) {
  uint64_t h = td_map_mix(x->kind, x->at);
  h = mix_pointer(h, x->stmt);
  h = td_map_mix(td_map_mix(h, (uint64_t)x->lo), (uint64_t)x->hi);
  for (uint32_t i = 0; i < x->n; i++) h = mix_pointer(h, x->kid[i]);
  return h;
}

static bool equal(const TdMove *x, const TdMove *y) {
  return x->kind == y->kind && x->at == y->at && x->stmt == y->stmt && x->lo == y->lo &&
         x->hi == y->hi && x->n == y->n &&
         (!x->n || !memcmp(x->kid, y->kid, x->n * sizeof *x->kid));
}

/* The node like x that was made before, or NULL; *h is x's hash. */
static const TdMove *find(const TdMoves *m, const TdMove *x, uint64_t *h) {
  *h = hash_of(x);
  uint64_t first = 0;
  if (!td_map_get(&m->map, *h, &first)) return NULL;
  for (const TdMove *y = (const TdMove *)(uintptr_t)first; y; y = y->next)
    if (equal(x, y)) return y;
  return NULL;
}

/* Keeps a copy of x, which is new. */
static const TdMove *keep(TdMoves *m, TdMove x, uint64_t h) {
  uint64_t first = 0;
  td_map_get(&m->map, h, &first);
  x.next = (const TdMove *)(uintptr_t)first;
  if (x.n) x.kid = td_arena_copy(m->arena, x.kid, x.n * sizeof(TdMove *));
  const TdMove *y = td_arena_copy(m->arena, &x, sizeof x);
  td_map_put(m->arena, &m->map, h, (uint64_t)(uintptr_t)y);
  return y;
}

static TdRange range_plus(TdRange x, TdRange y) {
  return (TdRange){td_span_plus(x.lo, y.lo), td_span_plus(x.hi, y.hi)};
}

static TdRange range_join(TdRange x, TdRange y) {
  return (TdRange){x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
}

/* x, for each of lo to hi times. */
static TdRange range_times(TdRange x, int64_t lo, int64_t hi) {
  return (TdRange){td_span_times(x.lo, lo), x.hi ? td_span_times(x.hi, hi) : 0};
}

static int by_channel(const void *a, const void *b) {
  const TdCount *x = a, *y = b;
  return x->channel < y->channel ? -1 : x->channel > y->channel;
}

/* Adds up what all kids move. */
static void count_seq(TdArena *a, TdMove *x) {
  size_t n = 0, k = 0;
  for (uint32_t i = 0; i < x->n; i++) n += x->kid[i]->ncount;
  TdCount *c = TD_NEWN(a, TdCount, n);
  for (uint32_t i = 0; i < x->n; k += x->kid[i++]->ncount)
    if (x->kid[i]->ncount) memcpy(c + k, x->kid[i]->count, x->kid[i]->ncount * sizeof *c);
  if (n) qsort(c, n, sizeof *c, by_channel);
  size_t out = 0;
  for (size_t i = 0; i < n; i++) {
    if (!out || c[out - 1].channel != c[i].channel) {
      c[out++] = c[i];
      continue;
    }
    c[out - 1].put = range_plus(c[out - 1].put, c[i].put);
    c[out - 1].get = range_plus(c[out - 1].get, c[i].get);
  }
  x->count = c;
  x->ncount = out;
}

static void count_repeat(TdArena *a, TdMove *x) {
  const TdMove *body = x->kid[0];
  TdCount *c = TD_NEWN(a, TdCount, body->ncount);
  for (size_t i = 0; i < body->ncount; i++) {
    c[i].channel = body->count[i].channel;
    c[i].put = range_times(body->count[i].put, x->lo, x->hi);
    c[i].get = range_times(body->count[i].get, x->lo, x->hi);
  }
  x->count = c;
  x->ncount = body->ncount;
}

/* What either of two kids may move. */
static void count_choice(TdArena *a, TdMove *x) {
  const TdMove *l = x->kid[0], *r = x->kid[1];
  TdCount *c = TD_NEWN(a, TdCount, l->ncount + r->ncount);
  size_t i = 0, k = 0, n = 0;
  while (i < l->ncount || k < r->ncount) {
    bool left = i < l->ncount && (k == r->ncount || l->count[i].channel <= r->count[k].channel);
    bool right = k < r->ncount && (i == l->ncount || r->count[k].channel <= l->count[i].channel);
    TdCount y = left ? l->count[i++] : (TdCount){.channel = r->count[k].channel};
    TdCount z = right ? r->count[k++] : (TdCount){0};
    c[n++] = (TdCount){y.channel, range_join(y.put, z.put), range_join(y.get, z.get)};
  }
  x->count = c;
  x->ncount = n;
}

const TdMove *td_token_trace_nothing(TdMoves *m) {
  return td_token_trace_seq(m, NULL, 0);
}

const TdMove *td_token_trace_event(TdMoves *m, TdMoveKind kind, uint32_t at, const TdStmt *s) {
  TdMove x = {.kind = (uint8_t)kind, .fixed = true, .at = at, .stmt = s, .length = 1};
  uint64_t h;
  const TdMove *old = find(m, &x, &h);
  if (old) return old;
  bool puts = kind == TD_MOVE_PUT || kind == TD_MOVE_HAND;
  bool gets = kind == TD_MOVE_GET || kind == TD_MOVE_HOLD;
  TdCount c = {.channel = at, .put = {puts, puts}, .get = {gets, gets}};
  if (puts || gets || kind == TD_MOVE_SLOT) {
    x.count = td_arena_copy(m->arena, &c, sizeof c);
    x.ncount = 1;
  }
  return keep(m, x, h);
}

const TdMove *td_token_trace_fork(TdMoves *m, uint32_t network, const TdStmt *s,
                                  const TdCount *count, size_t n) {
  TdMove x = {.kind = TD_MOVE_FORK, .fixed = true, .at = network, .stmt = s, .length = 1};
  x.count = n ? td_arena_copy(m->arena, count, n * sizeof *count) : NULL;
  x.ncount = n;
  return td_arena_copy(m->arena, &x, sizeof x);
}

const TdMove *td_token_trace_repeat(TdMoves *m, const TdMove *body, int64_t lo, int64_t hi) {
  bool nested = body->kind == TD_MOVE_REPEAT && body->lo == body->hi && lo == hi;
  if (hi <= 0 || !body->length) return td_token_trace_nothing(m);
  if (lo == 1 && hi == 1) return body;
  if (nested && td_span_times(lo, body->lo) < INT64_MAX)
    return td_token_trace_repeat(m, body->kid[0], lo * body->lo, lo * body->lo);
  TdMove x = {.kind = TD_MOVE_REPEAT, .fixed = body->fixed && lo == hi, .n = 1, .kid = &body};
  x.lo = lo;
  x.hi = hi;
  x.length = body->length + 2;
  uint64_t h;
  const TdMove *old = find(m, &x, &h);
  if (old) return old;
  count_repeat(m->arena, &x);
  return keep(m, x, h);
}

/* The moves of a row, taken in one by one. */
typedef struct Row {
  TdMoves *moves;
  TD_VEC(const TdMove *) at;
} Row;

/* x and the same again, as a repetition of x's body; NULL if y is something else. */
static const TdMove *merge(TdMoves *m, const TdMove *x, const TdMove *y) {
  bool fx = x->kind == TD_MOVE_REPEAT && x->lo == x->hi;
  bool fy = y->kind == TD_MOVE_REPEAT && y->lo == y->hi;
  const TdMove *bx = fx ? x->kid[0] : x, *by = fy ? y->kid[0] : y;
  int64_t n = td_span_plus(fx ? x->lo : 1, fy ? y->lo : 1);
  return bx == by && n < INT64_MAX ? td_token_trace_repeat(m, bx, n, n) : NULL;
}

static void push(Row *r, const TdMove *x) {
  if (x->kind == TD_MOVE_SEQ) {
    for (uint32_t i = 0; i < x->n; i++) push(r, x->kid[i]);
    return;
  }
  const TdMove *both = r->at.n ? merge(r->moves, r->at.at[r->at.n - 1], x) : NULL;
  if (both)
    r->at.at[r->at.n - 1] = both;
  else
    td_vec_push(r->moves->arena, &r->at, x);
}

/* The shortest period p of n moves that is worth a repetition; n if there is none. */
static size_t period_of(const TdMove *const *at, size_t n) {
  for (size_t p = 1; p <= LONGEST_PERIOD && p * 2 <= n; p++) {
    size_t i = p;
    while (i < n && at[i] == at[i - p]) i++;
    if (i == n) return p;
  }
  return n;
}

/* A row of kids as it is. */
static const TdMove *make_seq(TdMoves *m, const TdMove *const *kid, size_t n) {
  if (n == 1) return kid[0];
  TdMove x = {.kind = TD_MOVE_SEQ, .fixed = true, .n = (uint32_t)n, .kid = kid};
  uint64_t h;
  const TdMove *old = find(m, &x, &h);
  if (old) return old;
  for (size_t i = 0; i < n; i++) {
    x.fixed &= kid[i]->fixed;
    x.length += kid[i]->length;
  }
  count_seq(m->arena, &x);
  return keep(m, x, h);
}

const TdMove *td_token_trace_seq(TdMoves *m, const TdMove *const *kid, size_t n) {
  size_t p = period_of(kid, n), times = n ? n / p : 0, rest = times > 1 ? times * p : 0;
  Row r = {.moves = m};
  if (rest)
    push(&r,
         td_token_trace_repeat(m, td_token_trace_seq(m, kid, p), (int64_t)times, (int64_t)times));
  while (rest < n) {
    size_t same = 1;
    while (rest + same < n && kid[rest + same] == kid[rest]) same++;
    push(&r, td_token_trace_repeat(m, kid[rest], (int64_t)same, (int64_t)same));
    rest += same;
  }
  return make_seq(m, r.at.at, r.at.n);
}

/* Whether the moves are the same, wherever they stand in the source. */
static bool same_move(const TdMove *x, const TdMove *y) {
  if (x == y) return true;
  bool same =
      x->kind == y->kind && x->at == y->at && x->lo == y->lo && x->hi == y->hi && x->n == y->n;
  for (uint32_t i = 0; same && i < x->n; i++) same = same_move(x->kid[i], y->kid[i]);
  return same;
}

const TdMove *td_token_trace_choice(TdMoves *m, const TdMove *x, const TdMove *y) {
  if (same_move(x, y)) return x;
  TdMove c = {.kind = TD_MOVE_CHOICE, .n = 2, .kid = (const TdMove *[]){x, y}};
  c.length = x->length + y->length + 1;
  uint64_t h;
  const TdMove *old = find(m, &c, &h);
  if (old) return old;
  count_choice(m->arena, &c);
  return keep(m, c, h);
}

const TdCount *td_token_trace_count(const TdMove *x, uint32_t channel) {
  TdCount key = {.channel = channel};
  return x->ncount ? bsearch(&key, x->count, x->ncount, sizeof key, by_channel) : NULL;
}
