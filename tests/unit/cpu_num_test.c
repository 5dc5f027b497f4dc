/* cpu_num_test.c - random expressions over all widths and classes of types: the emitted C, compiled
 * in memory and by the system's compiler, against ir/num.h, bit for bit. The system's compiler also
 * checks that nothing is undefined. Usage: cpu_num_test [seed] */
/* [slow] */
#include <math.h>
#include <stdlib.h>

#include "backends/cpu/cpu.h"
#include "tap.h"

enum { VALUES = 24, LEAVES = 10, TREES = 60 };

static TdSession *S;
static uint64_t seed = 0x9E3779B97F4A7C15u;

static uint64_t random_bits(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return seed * 0x2545F4914F6CDD1Du;
}

static int random_in(int lo, int hi) {
  return lo + (int)(random_bits() % (uint64_t)(hi - lo + 1));
}

/* A program under test: tensors of leaves and of results, and the expressions between. */
typedef struct Trial {
  TdStore *st;
  TdDiag none; /* refusals of promotion */
  TdSym loop;
  TdSym leaf[LEAVES], result[TREES];
  const TdType *of[LEAVES];
  const TdExpr *tree[TREES];
  TdTensor *in[LEAVES], *out[TREES];
  int nresult;
} Trial;

static const TdType *random_type(bool may_float) {
  int w = random_in(0, 3) ? random_in(1, 64) : 8 << random_in(0, 3), f = random_in(-8, w + 8);
  switch (random_in(0, may_float ? 11 : 7)) {
  case 0:
  case 1:
  case 2: return td_type_int(S, w);
  case 3:
  case 4: return td_type_uint(S, w);
  case 5: return td_type_fixed(S, true, w, f);
  case 6: return td_type_fixed(S, false, w, f);
  case 7: return random_in(0, 2) ? td_type_index(S) : td_type_bool(S);
  case 8: return td_type_float(S, 16);
  case 9: return td_type_bf16(S);
  case 10: return td_type_float(S, 32);
  default: return td_type_float(S, 64);
  }
}

/* A type with a random mode. */
static const TdType *random_target(void) {
  return td_type_with(S, random_type(true), random_in(0, 2) == 0, random_in(0, 1));
}

static double random_float(void) {
  static const double special[] = {0.0,      -0.0,      1,        -1,         0.5,     65504,
                                   65520,    0x1p-24,   0x1p-133, 0x1.8p-134, 3.4e38,  1e300,
                                   INFINITY, -INFINITY, NAN,      0x1p63,     -0x1p63, 0x1p64};
  if (random_in(0, 2) == 0) return special[random_in(0, 17)];
  double x = ldexp((double)(int64_t)random_bits(), random_in(-200, 20) - 63);
  return random_in(0, 2) ? x : ldexp(x, random_in(-40, 100));
}

/* A value of type t: random, small, or at an end. */
static uint64_t random_value(const TdType *t) {
  if (t->kind == TD_T_FLOAT) return td_num_wrap(t, td_num_of_double(random_float()));
  if (t->kind == TD_T_INDEX) return (uint64_t)random_in(-99, 99);
  uint64_t end = (uint64_t)1 << (t->w - 1);
  switch (random_in(0, 3)) {
  case 0: return td_num_wrap(t, end - (random_bits() & 1));
  case 1: return td_num_wrap(t, random_bits() % 5 - 2);
  default: return td_num_wrap(t, random_bits() >> random_in(0, 63));
  }
}

static const TdExpr *leaf(Trial *x) {
  TdArena *a = x->st->arena;
  int i = random_in(0, LEAVES);
  if (i == LEAVES) {
    const TdType *t = random_type(true);
    return td_expr_lit(a, t, random_value(t), (TdLoc){0});
  }
  const TdExpr *at = td_expr_var(a, x->loop, td_type_index(S), (TdLoc){0});
  return td_expr_load(a, x->leaf[i], x->of[i], &at, 1, (TdLoc){0});
}

static const TdExpr *random_tree(Trial *x, int depth);

/* e as type t, or NULL. */
static const TdExpr *cast(Trial *x, const TdType *t, const TdExpr *e) {
  x->none.kind = TD_OK;
  if (t->kind == TD_T_INDEX && e->type->w > 8) return NULL;
  if (!td_promote_cast(S, t, e->type, (TdLoc){0}, &x->none)) return NULL;
  return td_expr_cast(x->st->arena, t, e, false);
}

/* What a shift or slice takes as constants. */
static const TdExpr *number(Trial *x, int64_t v) {
  return td_expr_lit(x->st->arena, td_promote_literal(S, v), (uint64_t)v, (TdLoc){0});
}

/* A slice, or a shift by a constant. */
static const TdExpr *with_constants(Trial *x, int op, const TdExpr *e) {
  int lo = random_in(0, 63), hi = random_in(lo + 1, 64);
  const TdExpr *kid[] = {e, number(x, lo), number(x, hi), NULL};
  const TdType *t = op == TD_OP_SHL ? td_promote_shl(S, e->type, lo, (TdLoc){0}, &x->none)
                                    : td_promote_bits(S, e->type, lo, hi, (TdLoc){0}, &x->none);
  if (!t) return NULL;
  if (op == TD_OP_SETBITS) {
    kid[3] = leaf(x);
    const TdType *of[] = {e->type, kid[1]->type, kid[2]->type, kid[3]->type};
    t = td_promote_op(S, op, of, 4, (TdLoc){0}, &x->none);
  }
  return t ? td_expr_op(x->st->arena, (TdOp)op, t, kid, td_ops[op].arity, (TdLoc){0}) : NULL;
}

/* A random operator on random operands, or NULL when it does not take them. An index stays small:
 * beside other data it counts as 32 bits, which programs prove. */
static const TdExpr *random_op(Trial *x, int depth) {
  int op = random_in(0, TD_OP_CEIL);
  const TdExpr *kid[4];
  const TdType *of[4];
  x->none.kind = TD_OK;
  bool libm = td_ops[op].rule == TD_RULE_FLOAT && op != TD_OP_SQRT;
  if (libm) return NULL;
  for (int i = 0; i < td_ops[op].arity; i++)
    kid[i] = random_tree(x, depth - 1), of[i] = kid[i]->type;
  bool slice = op == TD_OP_GETBITS || op == TD_OP_SETBITS;
  if (of[0]->kind == TD_T_INDEX && (op == TD_OP_SHL || slice)) return NULL;
  if (slice || (op == TD_OP_SHL && random_in(0, 1))) return with_constants(x, op, kid[0]);
  const TdType *t = NULL;
  if (op == TD_OP_BITCAST) {
    t = random_target();
    if (random_in(0, 1)) t = of[0]->w == 32 ? td_type_float(S, 32) : td_type_int(S, of[0]->w);
    if (of[0]->w > 64 || t->kind == TD_T_INDEX ||
        !td_promote_bitcast(t, of[0], (TdLoc){0}, &x->none))
      return NULL;
  } else {
    t = td_promote_op(S, op, of, td_ops[op].arity, (TdLoc){0}, &x->none);
  }
  return t && t->w <= 140 ? td_expr_op(x->st->arena, (TdOp)op, t, kid, td_ops[op].arity, (TdLoc){0})
                          : NULL;
}

static const TdExpr *random_tree(Trial *x, int depth) {
  if (depth <= 0) return leaf(x);
  for (int tries = 0; tries < 20; tries++) {
    const TdExpr *e =
        random_in(0, 3) ? random_op(x, depth) : cast(x, random_target(), random_tree(x, depth - 1));
    if (e) return e;
  }
  return leaf(x);
}

/* The value of e at element i of the leaves. */
static uint64_t reference(const Trial *x, const TdExpr *e, int64_t i) {
  TdFault fault;
  const TdType *t[4];
  uint64_t v[4];
  if (e->kind == TD_EXPR_LIT) return e->u.bits;
  if (e->kind == TD_EXPR_LOAD)
    for (int k = 0; k < LEAVES; k++)
      if (x->leaf[k] == e->sym) return td_tensor_get(x->in[k], &i);
  for (uint32_t k = 0; k < e->nkid; k++) t[k] = e->kid[k]->type, v[k] = reference(x, e->kid[k], i);
  if (e->kind == TD_EXPR_CAST) return td_num_cast(e->type, t[0], v[0], &fault);
  return td_num_op(e->op, e->type, t, v, (int)e->nkid, &fault);
}

/* Whether e can be a cell, as it is or cut by a cast. */
static const TdExpr *storable(Trial *x, const TdExpr *e) {
  if (e->type->w <= 64 && random_in(0, 1)) return e;
  for (int tries = 0; tries < 20; tries++) {
    const TdExpr *c = cast(x, random_target(), e);
    if (c) return c;
  }
  return e->type->w <= 64 ? e : NULL;
}

/* A kernel: for i: r0[i] = tree0; r1[i] = tree1; ... */
static const TdProg *program(Trial *x) {
  TdStore *st = x->st;
  TdParam param[LEAVES + TREES];
  const TdStmt *store[TREES];
  int64_t n = VALUES;
  TdLoc none = {0};
  const TdExpr *at = td_expr_var(st->arena, x->loop, td_type_index(S), none);
  for (int i = 0; i < LEAVES; i++)
    param[i] = (TdParam){.sym = x->leaf[i], .type = td_type_tensor_of(S, x->of[i], 1, &n)};
  for (int i = 0; i < x->nresult; i++) {
    const TdType *t = x->tree[i]->type;
    param[LEAVES + i] = (TdParam){.sym = x->result[i], .type = td_type_tensor_of(S, t, 1, &n)};
    store[i] =
        td_stmt_store(st, td_expr_load(st->arena, x->result[i], t, &at, 1, none), x->tree[i], none);
  }
  const TdStmt *body = td_stmt_block(st, store, (size_t)x->nresult, none);
  body = td_stmt_for(st, x->loop, td_expr_index(S, st->arena, 0, none),
                     td_expr_index(S, st->arena, n, none), 1, body, none);
  body = td_stmt_block(st, &body, 1, none);
  TdUnit u = {.kind = TD_UNIT_KERNEL, .sym = td_store_sym(st, "trial", TD_SYM_UNIT), .body = body};
  u.nparam = (size_t)(LEAVES + x->nresult);
  u.param = td_arena_copy(st->arena, param, u.nparam * sizeof *param);
  const TdUnit *unit = td_unit_copy(st, &u);
  return td_prog_new(st, &unit, 1);
}

static void fill(Trial *x) {
  for (int i = 0; i < LEAVES; i++) {
    static const char *const name[] = {"int",  "register", "I",    "EOF", "main",
                                       "a__b", "td_x",     "M_PI", "_",   "while"};
    x->of[i] = i < 4 ? td_type_float(S, 16 << i % 3) : random_type(true);
    if (i == 3) x->of[i] = td_type_bf16(S);
    x->leaf[i] = td_store_sym(x->st, name[i], TD_SYM_TENSOR);
    int64_t n = VALUES;
    x->in[i] = td_tensor_new(x->st->arena, td_type_tensor_of(S, x->of[i], 1, &n), false);
    for (int64_t k = 0; k < n; k++) td_tensor_put(x->in[i], &k, random_value(x->of[i]));
  }
  for (int i = 0; i < TREES; i++) {
    const TdExpr *e = storable(x, random_tree(x, random_in(1, 4)));
    if (!e) continue;
    int r = x->nresult++;
    int64_t n = VALUES;
    x->tree[r] = e;
    x->result[r] = td_store_sym(x->st, "r", TD_SYM_TENSOR);
    x->out[r] = td_tensor_new(x->st->arena, td_type_tensor_of(S, e->type, 1, &n), false);
  }
}

/* Runs the program by one compiler; returns how many results are wrong, -1 when it cannot run. */
static long wrong_of(Trial *x, const TdProg *p, TdTier tier, long *results) {
  TdArena *a = td_arena_new(S->ctx);
  TdDiag d = {.arena = a};
  TdCpuOptions o = {.tier = tier};
  TdCallArg arg[LEAVES + TREES] = {{0}};
  long wrong = 0;
  TdCpu *c = td_cpu_new(a, p, &o, &d);
  for (int i = 0; i < LEAVES; i++) arg[i].tensor = x->in[i];
  for (int i = 0; i < x->nresult; i++) arg[LEAVES + i].tensor = x->out[i];
  if (!c || (!td_cpu_call(c, arg, (size_t)(LEAVES + x->nresult), &d) &&
             strcmp(d.code, "zero-division") != 0)) {
    printf("# %s\n", d.message);
    for (size_t i = 0; i < d.notes.n; i++) printf("#   %s\n", d.notes.at[i].text);
    td_arena_free(a);
    return -1;
  }
  for (int r = 0; r < x->nresult; r++)
    for (int64_t i = 0; i < VALUES; i++, ++*results) {
      uint64_t want = td_num_wrap(x->tree[r]->type, reference(x, x->tree[r], i));
      uint64_t got = td_tensor_get(x->out[r], &i);
      if (got == want || wrong++ > 2) continue;
      printf("# %s: %s at %lld gave %llx, not %llx\n", tier == TD_TIER_CC ? "cc" : "tcc",
             td_print_expr_str(a, x->tree[r]), (long long)i, (unsigned long long)got,
             (unsigned long long)want);
    }
  td_arena_free(a);
  return wrong;
}

/* `rounds` programs by one compiler. */
static void trials(TdTier tier, int rounds, const char *name) {
  long wrong = 0, results = 0;
  for (int i = 0; i < rounds && wrong == 0; i++) {
    Trial x = {.st = td_store_new(S)};
    x.none.arena = x.st->arena;
    x.loop = td_store_sym(x.st, "i", TD_SYM_LOOP);
    fill(&x);
    wrong += wrong_of(&x, program(&x), tier, &results);
    td_store_free(x.st);
  }
  char line[120];
  snprintf(line, sizeof line, "%s (%ld results)", name, results);
  ok(results && wrong == 0, line);
}

int main(int argc, char **argv) {
  if (argc > 1) seed ^= strtoull(argv[1], NULL, 0) * 0x9E3779B97F4A7C15u;
  TdCtx *c = td_ctx_new();
  S = td_session_new(c);
  if (td_ctx_bytes(c) == 0) return 1;
  trials(TD_TIER_TCC, 40, "in memory");
  setenv("TIDE_CC", "cc -O1", 1);
  trials(TD_TIER_CC, 2, "by the system's compiler");
#ifdef __SANITIZE_ADDRESS__
  setenv("TIDE_CC", "cc -fsanitize=address,undefined -fno-sanitize-recover=all", 1);
#else
  setenv("TIDE_CC", "cc -fsanitize=undefined -fsanitize-undefined-trap-on-error", 1);
#endif
  trials(TD_TIER_CC, 2, "with nothing undefined");
  td_session_free(S);
  td_ctx_free(c);
  return done_testing();
}
