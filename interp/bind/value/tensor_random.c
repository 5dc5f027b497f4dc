/* tensor_random.c - tide.random: numbers that depend on the seed alone, on every machine.
 * The draws of a tensor are the outputs of SplitMix64 (Steele, Lea, Flood 2014) from the state
 * `seed`, in row-major order. An integer, fixed-point or bool element is the low bits of one; in a
 * range it is lo + draw mod (hi - lo), where draws above the last whole multiple of hi - lo are
 * skipped. A float is lo + u * (hi - lo), u being the top bits of a draw, as many as the type has,
 * as a fraction; what rounds up to hi is drawn again. */
#include <math.h>

#include "bind/value/tensor.h"
#include "ir/num/float.h"

/* How elements are drawn. */
typedef struct Draw {
  const TdType *type;
  uint64_t state;
  uint64_t lo, span;         /* not floats: from lo on, this many; span 0 is every word */
  double from, width, below; /* floats */
  int bits;
} Draw;

/* The next output of SplitMix64. */
static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static uint64_t draw_word(Draw *d) {
  uint64_t word = next(&d->state);
  if (!d->span) return td_num_wrap(d->type, word);
  uint64_t whole = UINT64_MAX / d->span * d->span;
  while (word >= whole) word = next(&d->state);
  return d->lo + word % d->span;
}

static uint64_t draw_float(Draw *d, TdCtx *ctx) {
  for (;; td_ctx_tick(ctx, 1)) {
    double step = ldexp((double)(next(&d->state) >> (64 - d->bits)), -d->bits) * d->width;
    double x = td_num_round(d->type, d->from + step);
    if (x < d->below) return td_num_of_double(x);
  }
}

static int refuse_range(lua_State *L, const TdType *t) {
  return td_bind_fail(L, "range", "{lo = , hi = } are numbers, lo below hi, in the range of %s",
                      td_type_str(td_bind_arena(L), t));
}

/* Pushes the bound `key` of the option table at idx, a number, or raises. */
static void push_bound(lua_State *L, int idx, const char *key, const TdType *t) {
  if (lua_getfield(L, idx, key) != LUA_TNUMBER) refuse_range(L, t);
}

static double float_bound(lua_State *L, int idx, const char *key, const TdType *t) {
  push_bound(L, idx, key, t);
  double x = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return x;
}

/* The bound `key` as a word of t, an integer or fixed type: the first that is not below it. */
static int64_t word_bound(lua_State *L, int idx, const char *key, const TdType *t) {
  push_bound(L, idx, key, t);
  bool exact = t->f == 0 && lua_isinteger(L, -1);
  int64_t v = exact ? lua_tointeger(L, -1) : 0;
  double x = ceil(ldexp(lua_tonumber(L, -1), t->f));
  if (!exact && !(fabs(x) < 0x1p63)) refuse_range(L, t);
  lua_pop(L, 1);
  return exact ? v : (int64_t)x;
}

/* Whether v is a word of t. */
static bool is_word(const TdType *t, int64_t v) {
  bool is_signed = td_type_is_signed(t) || t->kind == TD_T_INDEX;
  return td_num_wrap(t, (uint64_t)v) == (uint64_t)v && (v >= 0 || is_signed);
}

/* Reads {lo, hi} at idx. */
static void read_range(lua_State *L, int idx, Draw *d) {
  const TdType *t = d->type;
  if (t->kind == TD_T_BOOL) refuse_range(L, t);
  if (t->kind == TD_T_FLOAT) {
    d->from = float_bound(L, idx, "lo", t);
    d->below = float_bound(L, idx, "hi", t);
    d->width = d->below - d->from;
    if (!(td_num_round(t, d->from) < d->below) || isinf(d->width)) refuse_range(L, t);
    return;
  }
  int64_t lo = word_bound(L, idx, "lo", t), hi = word_bound(L, idx, "hi", t);
  if (lo >= hi || !is_word(t, lo) || !is_word(t, hi - 1)) refuse_range(L, t);
  d->lo = (uint64_t)lo;
  d->span = (uint64_t)hi - (uint64_t)lo;
}

/* tide.random(T[M][N], seed, {lo = , hi = }): half open. */
static int l_random(lua_State *L) {
  static const char *const options[] = {"lo", "hi", NULL};
  lua_settop(L, 3);
  const TdType *t = td_bind_check_type(L, 1);
  if (t->kind != TD_T_TENSOR)
    td_bind_fail(L, "arguments", "a tensor type is expected here, not %s",
                 td_type_str(td_bind_arena(L), t));
  if (!lua_isinteger(L, 2))
    td_bind_fail(L, "arguments", "the seed is an integer, not %s", td_bind_words(L, 2));
  Draw d = {.type = t->elem, .state = (uint64_t)lua_tointeger(L, 2)};
  if (t->elem->w > 64)
    td_bind_fail(L, "too-wide", "elements have at most 64 bits, those of %s have more",
                 td_type_str(td_bind_arena(L), t));
  bool is_float = t->elem->kind == TD_T_FLOAT;
  if (is_float) d.bits = td_num_float_format(t->elem).precision;
  if (td_bind_check_options(L, 3, options))
    read_range(L, 3, &d);
  else
    d.from = -1, d.width = 2, d.below = 1;
  td_bind_work(L, TD_WORK_TENSOR);
  TdTensor *x = td_bind_push_tensor(L, t, false);
  TdCtx *ctx = td_bind_enter(L)->ctx;
  unsigned char *p = x->data;
  size_t bytes = td_type_bytes(t);
  for (int64_t n = td_tensor_count(x); n > 0; n--, p += bytes) {
    td_ctx_tick(ctx, 1);
    td_num_store(t->elem, p, is_float ? draw_float(&d, ctx) : draw_word(&d));
  }
  return 1;
}

void td_bind_open_random(lua_State *L) {
  lua_pushcfunction(L, l_random);
  lua_setfield(L, -2, "random");
}
