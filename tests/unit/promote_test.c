/* promote_test.c - the promotion table cell by cell, each refusal beside what is accepted, and
 * casts and stores. */
#include "base/base.h"
#include "ir/expr.h"
#include "tap.h"

static TdSession *S;
static TdDiag D;

/* A scalar by its short name: "i8", "u3", "q8.3", "uq8.3", "f16", "bf16", "b", "x" for index. */
static const TdType *scalar(const char *name) {
  int w = 0, f = 0;
  if (sscanf(name, "uq%d.%d", &w, &f) == 2) return td_type_fixed(S, false, w, f);
  if (sscanf(name, "q%d.%d", &w, &f) == 2) return td_type_fixed(S, true, w, f);
  if (sscanf(name, "i%d", &w) == 1) return td_type_int(S, w);
  if (sscanf(name, "u%d", &w) == 1) return td_type_uint(S, w);
  if (sscanf(name, "f%d", &w) == 1) return td_type_float(S, w);
  if (strcmp(name, "bf16") == 0) return td_type_bf16(S);
  return name[0] == 'b' ? td_type_bool(S) : td_type_index(S);
}

/* Up to four types from names parted by spaces. */
static int scalars(const char *names, const TdType **t) {
  char name[4][16];
  int n = sscanf(names, "%15s %15s %15s %15s", name[0], name[1], name[2], name[3]);
  for (int i = 0; i < n; i++) t[i] = scalar(name[i]);
  return n;
}

/* The result of op on these operands is `want`, a type as it prints or the code of a refusal. */
static void is_op(int op, const char *operands, const char *want) {
  const TdType *t[4];
  int n = scalars(operands, t);
  D = (TdDiag){.arena = S->arena};
  const TdType *got = td_promote_op(S, op, t, n, (TdLoc){0}, &D);
  char name[100];
  snprintf(name, sizeof name, "%s %s: %s", td_ops[op].id, operands, want);
  is_text(got ? td_type_str(S->arena, got) : D.code, want, name);
  if (!got && (D.kind != TD_USAGE || !D.help)) ok(false, "a refusal is a usage error with help");
}

typedef struct Cell {
  int op;
  const char *operands, *want;
} Cell;

static void test_integers(void) {
  static const Cell cell[] = {
      {TD_OP_ADD, "u8 u3", "tide.uint(9)"},
      {TD_OP_ADD, "i8 i16", "tide.int(17)"},
      {TD_OP_ADD, "i8 u8", "tide.int(10)"},
      {TD_OP_SUB, "u8 u8", "tide.int(9)"},
      {TD_OP_SUB, "i8 u8", "tide.int(10)"},
      {TD_OP_MUL, "u8 u8", "u16"},
      {TD_OP_MUL, "i8 u8", "i16"},
      {TD_OP_MUL, "i64 i64", "tide.int(128)"},
      {TD_OP_FLOORDIV, "i8 u4", "i8"},
      {TD_OP_FLOORDIV, "u8 u16", "u8"},
      {TD_OP_FLOORDIV, "u8 i4", "tide.int(9)"},
      {TD_OP_FLOORDIV, "i64 i64", "tide.int(65)"},
      {TD_OP_MOD, "i64 u4", "tide.uint(4)"},
      {TD_OP_MOD, "u8 i4", "tide.int(4)"},
      {TD_OP_NEG, "u8", "tide.int(9)"},
      {TD_OP_NEG, "i8", "tide.int(9)"},
      {TD_OP_ABS, "i8", "u8"},
      {TD_OP_ABS, "u8", "u8"},
      {TD_OP_SHL, "i8 i32", "i8"},
      {TD_OP_SHR, "u8 i32", "u8"},
      {TD_OP_ASR, "i8 u3", "i8"},
      {TD_OP_ASR, "u8 u3", "u8"},
      {TD_OP_BAND, "u8 u16", "u16"},
      {TD_OP_BOR, "i8 u8", "tide.int(9)"},
      {TD_OP_BXOR, "i8 i9", "tide.int(9)"},
      {TD_OP_BNOT, "u5", "tide.uint(5)"},
      {TD_OP_MIN, "u8 u16", "u16"},
      {TD_OP_MAX, "i8 u8", "tide.int(9)"},
      {TD_OP_SELECT, "b i8 u8", "tide.int(9)"},
      {TD_OP_EQ, "i64 u64", "bool"},
      {TD_OP_LE, "i8 u3", "bool"},
      {TD_OP_SETBITS, "i8 i8 u3 u64", "i8"},
      {TD_OP_FLOOR, "i8", "i8"},
      {TD_OP_CEIL, "u8", "u8"},
      {TD_OP_MATMUL, "i8 u8", "i32"},
      {TD_OP_MATMUL, "i8 i32", "i64"},
      {TD_OP_REDUCE, "u16", "i32"},
      {TD_OP_ALLREDUCE, "u16", "u16"},
      {TD_OP_DIV, "i8 i8", "int-division"},
      {TD_OP_DIV, "x x", "int-division"},
      {TD_OP_SHR, "i8 u3", "signed-shift"},
      {TD_OP_SHR, "x u3", "signed-shift"},
      {TD_OP_SHL, "i8 f32", "needs-cast"},
      {TD_OP_FMA, "i8 i8 i8", "needs-cast"},
      {TD_OP_EXP, "i8", "needs-cast"},
      {TD_OP_NOT, "i8", "needs-bool"},
      {TD_OP_SELECT, "i8 i8 i8", "needs-bool"},
  };
  for (size_t i = 0; i < sizeof cell / sizeof *cell; i++)
    is_op(cell[i].op, cell[i].operands, cell[i].want);
}

static void test_fixed(void) {
  static const Cell cell[] = {
      {TD_OP_ADD, "q8.3 q8.5", "tide.fixed(11, 5)"},
      {TD_OP_ADD, "uq8.3 uq8.5", "tide.ufixed(11, 5)"},
      {TD_OP_ADD, "uq8.3 q8.3", "tide.fixed(10, 3)"},
      {TD_OP_ADD, "i8 q8.3", "tide.fixed(12, 3)"},
      {TD_OP_ADD, "q8.-3 q8.10", "tide.fixed(22, 10)"},
      {TD_OP_SUB, "uq8.3 uq8.3", "tide.fixed(9, 3)"},
      {TD_OP_MUL, "q8.3 q8.5", "tide.fixed(16, 8)"},
      {TD_OP_DIV, "q8.3 q8.5", "tide.fixed(14, 3)"},
      {TD_OP_DIV, "i8 uq8.5", "tide.fixed(14, 0)"},
      {TD_OP_DIV, "q8.3 q8.-9", "tide.fixed(1, 3)"},
      {TD_OP_DIV, "q32.16 q32.16", "tide.fixed(49, 16)"},
      {TD_OP_DIV, "q48.16 q32.16", "too-wide"},
      {TD_OP_NEG, "uq8.3", "tide.fixed(9, 3)"},
      {TD_OP_ABS, "q8.3", "tide.ufixed(8, 3)"},
      {TD_OP_SHR, "uq8.3 u3", "tide.ufixed(8, 3)"},
      {TD_OP_SHR, "q8.3 u3", "signed-shift"},
      {TD_OP_MIN, "q8.3 i8", "tide.fixed(11, 3)"},
      {TD_OP_LT, "q8.3 u64", "bool"},
      {TD_OP_FLOOR, "q8.3", "tide.int(5)"},
      {TD_OP_CEIL, "q8.3", "tide.int(6)"},
      {TD_OP_CEIL, "uq8.9", "tide.uint(1)"},
      {TD_OP_CEIL, "q8.9", "tide.int(2)"},
      {TD_OP_FLOORDIV, "q8.3 i8", "fixed-division"},
      {TD_OP_MOD, "q8.3 q8.3", "fixed-division"},
      {TD_OP_BAND, "q8.3 i8", "fixed-bits"},
      {TD_OP_BNOT, "q8.3", "fixed-bits"},
      {TD_OP_MATMUL, "q8.3 q8.3", "needs-cast"},
  };
  for (size_t i = 0; i < sizeof cell / sizeof *cell; i++)
    is_op(cell[i].op, cell[i].operands, cell[i].want);
}

static void test_floats_and_others(void) {
  static const Cell cell[] = {
      {TD_OP_ADD, "f16 f32", "f32"},
      {TD_OP_ADD, "f16 bf16", "f32"},
      {TD_OP_MUL, "bf16 bf16", "bf16"},
      {TD_OP_DIV, "i64 f16", "f16"},
      {TD_OP_DIV, "f64 q8.3", "f64"},
      {TD_OP_FLOORDIV, "f32 u8", "f32"},
      {TD_OP_FMA, "f16 i8 bf16", "f32"},
      {TD_OP_TANH, "bf16", "bf16"},
      {TD_OP_CEIL, "f16", "f16"},
      {TD_OP_MATMUL, "bf16 bf16", "f32"},
      {TD_OP_REDUCE, "f64", "f64"},
      {TD_OP_EQ, "f16 u64", "bool"},
      {TD_OP_SHL, "f32 u3", "float-bits"},
      {TD_OP_BXOR, "u32 f32", "float-bits"},
      {TD_OP_SETBITS, "f32 u3 u3 u8", "float-bits"},
      {TD_OP_AND, "b b", "bool"},
      {TD_OP_NOT, "b", "bool"},
      {TD_OP_EQ, "b b", "bool"},
      {TD_OP_SELECT, "b b b", "bool"},
      {TD_OP_REDUCE, "b", "bool"},
      {TD_OP_LT, "b b", "bool-arithmetic"},
      {TD_OP_ADD, "b b", "bool-arithmetic"},
      {TD_OP_ADD, "b i8", "bool-arithmetic"},
      {TD_OP_EQ, "b u1", "bool-arithmetic"},
      {TD_OP_SELECT, "b b i8", "bool-arithmetic"},
      {TD_OP_BAND, "b b", "bool-arithmetic"},
      {TD_OP_MATMUL, "b b", "bool-arithmetic"},
      {TD_OP_AND, "b i8", "needs-bool"},
      {TD_OP_ADD, "x x", "index"},
      {TD_OP_FLOORDIV, "x x", "index"},
      {TD_OP_BAND, "x x", "index"},
      {TD_OP_MIN, "x x", "index"},
      {TD_OP_NEG, "x", "index"},
      {TD_OP_SHL, "x u8", "index"},
      {TD_OP_SELECT, "b x x", "index"},
      {TD_OP_ADD, "x i8", "tide.int(33)"},
      {TD_OP_MUL, "u8 x", "tide.int(40)"},
      {TD_OP_ADD, "x f32", "f32"},
      {TD_OP_LT, "x i64", "bool"},
  };
  for (size_t i = 0; i < sizeof cell / sizeof *cell; i++)
    is_op(cell[i].op, cell[i].operands, cell[i].want);
}

static void test_wide(void) {
  static const Cell cell[] = {
      {TD_OP_ADD, "i128 i64", "tide.int(129)"},
      {TD_OP_MUL, "i128 i64", "tide.int(192)"},
      {TD_OP_BAND, "u512 u512", "tide.uint(512)"},
      {TD_OP_BNOT, "u512", "tide.uint(512)"},
      {TD_OP_SELECT, "b i128 i8", "tide.int(128)"},
      {TD_OP_NEG, "i128", "tide.int(129)"},
      {TD_OP_SETBITS, "u512 u9 u9 u64", "tide.uint(512)"},
      {TD_OP_LT, "i128 i64", "too-wide"},
      {TD_OP_LT, "i64 i64", "bool"},
      {TD_OP_FLOORDIV, "i65 i8", "too-wide"},
      {TD_OP_MOD, "i8 u65", "too-wide"},
      {TD_OP_MIN, "i65 i8", "too-wide"},
      {TD_OP_ABS, "i65", "too-wide"},
      {TD_OP_SHR, "u65 u3", "too-wide"},
      {TD_OP_ADD, "i65 f32", "too-wide"},
      {TD_OP_FLOOR, "q65.3", "too-wide"},
      {TD_OP_MUL, "i1000 i25", "too-wide"},
      {TD_OP_MUL, "i1000 i24", "tide.int(1024)"},
      {TD_OP_SELECT, "b u1024 i8", "too-wide"},
      {TD_OP_MUL, "q8.600 q8.600", "too-wide"},
      {TD_OP_MATMUL, "i65 i8", "too-wide"},
  };
  for (size_t i = 0; i < sizeof cell / sizeof *cell; i++)
    is_op(cell[i].op, cell[i].operands, cell[i].want);
}

/* Rules that need constants. */
static void test_constants(void) {
  D = (TdDiag){.arena = S->arena};
  TdLoc at = {0};
  const TdType *i8 = td_type_int(S, 8), *q = td_type_fixed(S, true, 8, 3);
  const TdType *u26 = td_type_uint(S, 26), *f32 = td_type_float(S, 32);
  ok(td_promote_shl(S, i8, 3, at, &D) == td_type_int(S, 11), "i8 << 3");
  ok(td_promote_shl(S, q, 3, at, &D) == td_type_fixed(S, true, 11, 3), "fixed << 3");
  ok(td_promote_shl(S, td_type_index(S), 3, at, &D) == td_type_index(S), "index << 3");
  ok(td_promote_bits(S, u26, 20, 26, at, &D) == td_type_uint(S, 6), "bits 20 to 26 of u26");
  ok(td_promote_bits(S, q, 0, 8, at, &D) == td_type_uint(S, 8), "the word of fixed point");
  ok(td_promote_bits(S, td_type_uint(S, 512), 64, 96, at, &D) == td_type_uint(S, 32),
     "bits of a wide word");
  ok(td_promote_bitcast(f32, td_type_uint(S, 32), at, &D), "bitcast of 32 bits");
  ok(!td_diag_failed(&D), "none of these fails");
  ok(!td_promote_shl(S, i8, -1, at, &D) && strcmp(D.code, "negative-shift") == 0, "i8 << -1");
  static const int64_t range[][2] = {{20, 27}, {3, 3}, {-1, 3}};
  for (size_t i = 0; i < 3; i++) {
    D = (TdDiag){.arena = S->arena};
    ok(!td_promote_bits(S, u26, range[i][0], range[i][1], at, &D) &&
           strcmp(D.code, "bits-range") == 0,
       "bits that u26 has not");
  }
  D = (TdDiag){.arena = S->arena};
  ok(!td_promote_bits(S, f32, 0, 3, at, &D) && strcmp(D.code, "float-bits") == 0, "bits of f32");
  D = (TdDiag){.arena = S->arena};
  ok(!td_promote_shl(S, i8, 5000000000, at, &D) && strcmp(D.code, "too-wide") == 0, "i8 << 5e9");
  D = (TdDiag){.arena = S->arena};
  ok(!td_promote_bitcast(f32, i8, at, &D) && strcmp(D.code, "bitcast-width") == 0,
     "bitcast of 8 bits to 32");
}

/* Whether to(x) of a `from` is accepted, or the code of its refusal. */
static void is_cast(const char *to, bool saturate, const char *from, const char *want) {
  const TdType *t = scalar(to);
  if (saturate) t = td_type_with(S, t, true, false);
  D = (TdDiag){.arena = S->arena};
  bool fine = td_promote_cast(S, t, scalar(from), (TdLoc){0}, &D);
  char name[100];
  snprintf(name, sizeof name, "cast %s to %s%s: %s", from, to, saturate ? " saturated" : "", want);
  is_text(fine ? "yes" : D.code, want, name);
}

static void test_casts(void) {
  is_cast("i8", false, "f32", "yes");
  is_cast("u64", true, "q64.1000", "yes");
  is_cast("bf16", false, "u64", "yes");
  is_cast("f32", false, "b", "yes");
  is_cast("b", false, "b", "yes");
  is_cast("b", false, "i8", "needs-bool");
  is_cast("x", false, "u64", "yes");
  is_cast("x", false, "f32", "needs-cast");
  is_cast("i64", false, "i128", "yes");
  is_cast("i64", true, "i128", "too-wide");
  is_cast("i64", true, "i64", "yes");
  is_cast("f64", false, "i65", "too-wide");
  is_cast("f64", false, "i64", "yes");
  is_cast("q33.16", false, "q66.32", "yes");
  is_cast("q49.16", false, "q66.32", "too-wide");
  is_cast("i128", false, "i8", "yes");
  is_cast("i128", true, "i8", "too-wide");
  is_cast("i128", false, "f32", "too-wide");
}

/* Pairs "to from" that hold or store; the second list does not. */
static void test_relations(void) {
  static const char *const holds[] = {
      "i9 u8",     "u8 u8",       "i8 i8",        "q8.3 i5",   "q8.3 q8.3",    "uq8.-2 uq3.-5",
      "f16 i12",   "f16 u11",     "bf16 u8",      "f32 i25",   "f32 u24",      "f64 i54",
      "f32 f16",   "f32 bf16",    "f64 f32",      "x i64",     "i64 x",        "b b",
      "f16 q2.24", "f16 uq11.-5", "f64 q54.1000", "u8 uq4.-4", "f32 uq1.-127", "q16.8 u7"};
  static const char *const not [] = {
      "i8 u8",   "u8 i8",    "u8 u9",     "q8.3 i6",     "q8.3 q8.4",  "i8 q8.1",      "f16 i13",
      "f16 u12", "f16 bf16", "bf16 f16",  "f32 u25",     "f16 f32",    "i64 f16",      "x u64",
      "u1 b",    "b u1",     "f16 q2.25", "f16 uq11.-6", "f16 q12.-5", "f32 uq1.-128", "u8 uq4.-5"};
  for (size_t i = 0; i < sizeof holds / sizeof *holds; i++) {
    const TdType *t[4];
    scalars(holds[i], t);
    ok(td_promote_holds(t[0], t[1]), holds[i]);
  }
  for (size_t i = 0; i < sizeof not / sizeof *not ; i++) {
    const TdType *t[4];
    scalars(not [i], t);
    ok(!td_promote_holds(t[0], t[1]), not [i]);
  }
  static const char *const stores[] = {"i8 u64", "q8.3 i8", "f16 i64", "f16 q8.3",  "f16 f64",
                                       "b b",    "i32 x",   "x i8",    "uq8.3 q9.1"};
  static const char *const refused[] = {"i8 q8.3", "i8 f32", "q8.3 f16", "b i8", "i8 b", "x f32"};
  for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
    const TdType *t[4];
    scalars(stores[i], t);
    ok(td_promote_can_store(t[0], t[1]), stores[i]);
  }
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    const TdType *t[4];
    scalars(refused[i], t);
    ok(!td_promote_can_store(t[0], t[1]), refused[i]);
  }
}

static void test_literals(void) {
  static const struct {
    int64_t v;
    const char *want;
  } row[] = {{0, "tide.uint(1)"},   {1, "tide.uint(1)"},          {2, "tide.uint(2)"}, {255, "u8"},
             {256, "tide.uint(9)"}, {-1, "tide.int(1)"},          {-2, "tide.int(2)"}, {-128, "i8"},
             {-129, "tide.int(9)"}, {INT64_MAX, "tide.uint(63)"}, {INT64_MIN, "i64"}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const TdType *t = td_promote_literal(S, row[i].v);
    is_text(td_type_str(S->arena, t), row[i].want, row[i].want);
    ok(td_promote_is_least(t, (uint64_t)row[i].v), "is the least");
  }
  ok(td_promote_is_least(td_type_uint(S, 64), UINT64_MAX), "u64 for the largest of 64 bits");
  ok(!td_promote_is_least(td_type_uint(S, 8), 1), "u8 is not the least for 1");
  ok(!td_promote_is_least(td_type_int(S, 1), 0), "an int is not the least for 0");
}

static void test_joins(void) {
  const TdType *sat = td_type_with(S, td_type_int(S, 8), true, false);
  ok(td_promote_join(S, sat, sat) == td_type_int(S, 8), "results have no mode");
  ok(td_promote_join(S, scalar("f16"), scalar("bf16")) == scalar("f32"), "f16 and bf16");
  ok(td_promote_join(S, scalar("x"), scalar("x")) == scalar("x"), "index and index");
  ok(td_promote_join(S, scalar("x"), scalar("u8")) == scalar("i32"), "index and data");
  ok(!td_promote_join(S, scalar("b"), scalar("u8")), "bool and number");
  ok(td_promote_accumulator(S, scalar("u31")) == scalar("i32") &&
         td_promote_accumulator(S, scalar("u32")) == scalar("i64") &&
         td_promote_accumulator(S, scalar("bf16")) == scalar("f32") &&
         !td_promote_accumulator(S, scalar("q8.3")),
     "accumulators");
}

/* What a user reads. */
static void test_messages(void) {
  const TdType *t[] = {scalar("i8"), scalar("u8")};
  D = (TdDiag){.arena = S->arena};
  td_promote_op(S, TD_OP_DIV, t, 2, (TdLoc){0}, &D);
  is_text(D.message, "`/` cannot take i8 and u8", "the operator and its operands");
  is_text(D.help, "use // or a cast", "what to do");
  td_promote_op(S, TD_OP_EXP, t, 1, (TdLoc){0}, &D);
  is_text(D.code, "int-division", "the first error wins");
  D = (TdDiag){.arena = S->arena};
  td_promote_op(S, TD_OP_EXP, t, 1, (TdLoc){0}, &D);
  is_text(D.message, "tide.exp cannot take i8", "a call");
  D = (TdDiag){.arena = S->arena};
  td_promote_cast(S, scalar("b"), t[0], (TdLoc){0}, &D);
  is_text(D.message, "i8 is not converted to bool", "a cast");
}

int main(void) {
  TdCtx *c = td_ctx_new();
  S = td_session_new(c);
  test_integers();
  test_fixed();
  test_floats_and_others();
  test_wide();
  test_constants();
  test_casts();
  test_relations();
  test_literals();
  test_joins();
  test_messages();
  td_session_free(S);
  td_ctx_free(c);
  return done_testing();
}
