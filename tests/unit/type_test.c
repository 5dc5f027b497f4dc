/* type_test.c - types: one pointer for equal types, their text, their measures, and whose memory
 * they are in. */
#include "base/base.h"
#include "ir/lin.h"
#include "ir/text/print.h"
#include "tap.h"

static TdSession *S;

static const TdExpr *size(TdArena *a, const char *name) {
  return td_expr_size(S, a, name, (TdLoc){1, 2, 3, 4});
}

static const TdExpr *op(TdArena *a, TdOp o, const TdExpr *x, const TdExpr *y) {
  return td_expr_op2(a, o, td_type_index(S), x, y);
}

static const TdExpr *number(TdArena *a, int64_t v) {
  return td_expr_index(S, a, v, (TdLoc){0});
}

static void is_type(const TdType *t, const char *want) {
  is_text(td_type_str(S->arena, t), want, want);
}

static void test_scalars(void) {
  is_type(td_type_int(S, 8), "i8");
  is_type(td_type_uint(S, 64), "u64");
  is_type(td_type_int(S, 5), "tide.int(5)");
  is_type(td_type_uint(S, 1024), "tide.uint(1024)");
  is_type(td_type_fixed(S, true, 8, 3), "tide.fixed(8, 3)");
  is_type(td_type_fixed(S, false, 8, -3), "tide.ufixed(8, -3)");
  is_type(td_type_float(S, 16), "f16");
  is_type(td_type_bf16(S), "bf16");
  is_type(td_type_float(S, 64), "f64");
  is_type(td_type_bool(S), "bool");
  is_type(td_type_index(S), "index");
  const TdType *u8 = td_type_uint(S, 8), *q = td_type_fixed(S, true, 8, 3);
  is_type(td_type_with(S, u8, true, false), "u8:with {overflow = \"saturate\"}");
  is_type(td_type_with(S, q, false, true), "tide.fixed(8, 3):with {rounding = \"nearest\"}");
  is_type(td_type_with(S, q, true, true),
          "tide.fixed(8, 3):with {overflow = \"saturate\", rounding = \"nearest\"}");
  ok(td_type_with(S, u8, false, true) == u8, "rounding means nothing to integers");
  ok(td_type_with(S, td_type_bf16(S), true, true) == td_type_bf16(S), "nor any mode to floats");
  ok(td_type_plain(S, td_type_with(S, q, true, true)) == q, "plain drops the mode");
}

/* All scalar types are made twice; equal ones must meet, others must not. */
static void test_interning(void) {
  enum { MADE = 5 * 1024 };
  static const TdType *made[MADE];
  bool equal = true, distinct = true;
  for (int w = 1; w <= 1024; w++) {
    const TdType *t[] = {td_type_int(S, w), td_type_uint(S, w), td_type_fixed(S, true, w, 0),
                         td_type_fixed(S, false, w, -w),
                         td_type_with(S, td_type_int(S, w), true, false)};
    memcpy(made + 5 * (w - 1), t, sizeof t);
    equal &= t[0] == td_type_int(S, w) && t[1] == td_type_uint(S, w) &&
             t[2] == td_type_fixed(S, true, w, 0) && t[3] == td_type_fixed(S, false, w, -w);
  }
  for (int i = 0; i < MADE; i++)
    for (int j = 0; j < i; j++) distinct &= made[i] != made[j] && made[i]->id != made[j]->id;
  ok(equal, "equal scalars are one");
  ok(distinct, "different scalars are not");
}

static void test_tensors(void) {
  TdArena *a = td_arena_new(S->ctx);
  const TdType *i8 = td_type_int(S, 8);
  const TdExpr *m = size(a, "M"), *k = size(a, "K"), *two = number(a, 2);
  const TdExpr *dim[] = {m, op(a, TD_OP_MUL, two, k)};
  const TdType *t = td_type_tensor(S, i8, 2, dim);
  is_type(t, "i8[M][2 * K]");
  const TdExpr *again[] = {size(a, "M"), op(a, TD_OP_ADD, size(a, "K"), size(a, "K"))};
  ok(td_type_tensor(S, i8, 2, again) == t, "K + K is 2 * K");
  const TdExpr *swapped[] = {dim[1], dim[0]};
  ok(td_type_tensor(S, i8, 2, swapped) != t, "the order of extents counts");
  const TdExpr *folded[] = {op(a, TD_OP_SUB, m, m), op(a, TD_OP_MUL, two, number(a, 3))};
  int64_t constant[] = {0, 6};
  ok(td_type_tensor(S, i8, 2, folded) == td_type_tensor_of(S, i8, 2, constant),
     "constant extents are folded");
  const TdExpr *half[] = {op(a, TD_OP_FLOORDIV, m, two)};
  const TdType *h = td_type_tensor(S, td_type_with(S, i8, true, false), 1, half);
  is_type(h, "i8:with {overflow = \"saturate\"}[M // 2]");
  is_type(td_type_reshape(S, t, td_type_bf16(S)), "bf16[M][2 * K]");
  ok(td_type_reshape(S, td_type_reshape(S, t, td_type_bf16(S)), i8) == t, "reshape and back");
  td_arena_free(a);
  is_type(t, "i8[M][2 * K]");
  ok(h->dim[0]->loc.source == 0 && h->dim[0]->kid[0]->loc.source == 0,
     "extents outlive the caller's arena and have no place");
}

static void test_ports(void) {
  const TdType *f32 = td_type_float(S, 32);
  const TdExpr *n[] = {size(S->arena, "N")};
  int64_t four[] = {4};
  const TdType *token = td_type_tensor_of(S, f32, 1, four);
  const TdType *port = td_type_port(S, token, 1, n, false);
  is_type(td_type_port(S, f32, 0, NULL, false), "tide.stream(f32)");
  is_type(port, "tide.stream(f32[4])[N]");
  is_type(td_type_port(S, token, 1, n, true), "tide.stream(f32[4], {block = true})[N]");
  ok(td_type_port(S, token, 1, n, false) == port && td_type_port(S, token, 1, n, true) != port,
     "a block port is another type");
  ok(td_type_scalar(port) == f32 && td_type_scalar(f32) == f32, "the scalar of a port");
}

static void test_predicates(void) {
  const TdType *u = td_type_uint(S, 3), *q = td_type_fixed(S, true, 8, 3);
  const TdType *index = td_type_index(S), *b = td_type_bool(S);
  int64_t two[] = {2};
  const TdType *t = td_type_tensor_of(S, u, 1, two);
  ok(td_type_is_integer(u) && !td_type_is_integer(q) && !td_type_is_integer(index), "integers");
  ok(td_type_is_fixed(q) && !td_type_is_fixed(u), "fixed point");
  ok(td_type_is_signed(q) && !td_type_is_signed(u), "signs");
  ok(td_type_is_scalar(b) && !td_type_is_scalar(t), "scalars");
  ok(td_type_is_number(index) && !td_type_is_number(b) && !td_type_is_number(t), "numbers");
  static const int row[][2] = {{1, 1},  {8, 1},  {9, 2},   {16, 2},   {17, 4},    {32, 4},
                               {33, 8}, {64, 8}, {65, 16}, {128, 16}, {1024, 128}};
  bool bytes = td_type_bytes(b) == 1 && td_type_bytes(index) == 8 && td_type_bytes(t) == 1;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    bytes &= td_type_bytes(td_type_uint(S, row[i][0])) == (size_t)row[i][1];
  ok(bytes, "bytes");
}

static void test_counts(void) {
  const TdType *f32 = td_type_float(S, 32);
  int64_t n = 0, shape[] = {3, 5, 7}, none[] = {1 << 30, 1 << 30, 1 << 30, 0};
  int64_t huge[] = {(int64_t)1 << 31, (int64_t)1 << 31, 2}, negative[] = {-1};
  ok(td_type_count(f32, &n) && n == 1, "a scalar is one element");
  ok(td_type_count(td_type_tensor_of(S, f32, 3, shape), &n) && n == 105, "3 * 5 * 7");
  ok(td_type_count(td_type_tensor_of(S, f32, 4, none), &n) && n == 0, "an empty tensor");
  ok(td_type_count(td_type_tensor_of(S, f32, 2, huge), &n) && n == (int64_t)1 << 62, "2^62");
  ok(!td_type_count(td_type_tensor_of(S, f32, 3, huge), &n), "not 2^63");
  ok(!td_type_count(td_type_tensor_of(S, f32, 1, negative), &n), "a negative extent");
  const TdExpr *dim[] = {size(S->arena, "M")};
  const TdType *t = td_type_tensor(S, f32, 1, dim);
  ok(!td_type_count(t, &n) && !td_type_extent(t, 0, &n), "an extent that is a size");
  ok(td_type_extent(td_type_tensor_of(S, f32, 3, shape), 2, &n) && n == 7, "a constant extent");
}

/* A million look-ups of a shape add nothing to the session. */
static void test_memory(void) {
  int64_t shape[] = {64, 64};
  const TdType *first = td_type_tensor_of(S, td_type_int(S, 8), 2, shape);
  size_t before = td_arena_bytes(S->arena);
  bool one = true;
  for (int i = 0; i < 1000000; i++)
    one &= td_type_tensor_of(S, td_type_int(S, 8), 2, shape) == first;
  ok(one && td_arena_bytes(S->arena) == before, "look-ups take no memory");
}

int main(void) {
  TdCtx *c = td_ctx_new();
  S = td_session_new(c);
  test_scalars();
  test_interning();
  test_tensors();
  test_ports();
  test_predicates();
  test_counts();
  test_memory();
  size_t live = td_ctx_bytes(c);
  td_session_free(S);
  ok(live > 0 && td_ctx_bytes(c) == 0, "a session leaves nothing behind");
  td_ctx_free(c);
  return done_testing();
}
