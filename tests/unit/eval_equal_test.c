/* eval_equal_test.c - programs compared on symbolic values: what is equal at which level, what is
 * not decided, and that no level calls equal what differs on numbers. */
/* [slow] */
#include "build_ir.h"
#include "eval/eval.h"

static TdEvalAnswer answer;
static uint64_t seed;

/* The strictest level at which x and y are equal; "differs", or "not-decided:line". */
static const char *level_of(const TdProg *x, const TdProg *y, const TdEvalArg *concrete) {
  for (int level = TD_LEVEL_STRICT; level <= TD_LEVEL_RING; level++) {
    TdEvalOptions o = {.seed = ++seed};
    answer = td_eval_compare(B.a, x, y, (TdLevel)level, concrete, &o);
    if (answer.verdict == TD_EVAL_EQUAL) return td_domain_level_name((TdLevel)level);
    if (answer.verdict == TD_EVAL_NOT_DECIDED)
      return td_text_fmt(B.a, "%s:%u", answer.diag.code, answer.diag.loc.line);
  }
  return "differs";
}

enum { M = 3, N = 2, K = 4 };
typedef struct Gemm {
  TdSym A, B, C, i, j, k;
  const TdType *a, *b, *c, *elem, *acc;
} Gemm;

static Gemm gemm(const TdType *elem, const TdType *acc) {
  return (Gemm){arg("A"),      arg("B"),      arg("C"),     loop("i"), loop("j"), loop("k"),
                T(elem, M, K), T(elem, K, N), T(acc, M, N), elem,      acc};
}

/* C[i][j] = C[i][j] + A[i][k] * B[k][j], or by fma. */
static const TdStmt *mac(const Gemm *g, const TdExpr *k, bool fused) {
  const TdExpr *a = LD(g->A, g->elem, var(g->i), k), *b = LD(g->B, g->elem, k, var(g->j));
  const TdExpr *c = LD(g->C, g->acc, var(g->i), var(g->j));
  return store(c, fused ? OP(FMA, a, b, c) : OP(ADD, c, OP(MUL, a, b)));
}

static const TdProg *gemm_prog(const Gemm *g, const TdStmt *body) {
  return PROG(KERNEL("gemm", BLOCK(body), P(g->A, g->a), P(g->B, g->b), P(g->C, g->c)));
}

/* The nest in the given order of loops, innermost body s. */
static const TdProg *nest(const Gemm *g, const char *order, const TdStmt *s) {
  for (size_t d = 3; d-- > 0;) {
    TdSym v = order[d] == 'i' ? g->i : order[d] == 'j' ? g->j : g->k;
    int64_t n = order[d] == 'i' ? M : order[d] == 'j' ? N : K;
    s = FOR(v, num(0), num(n), s);
  }
  return gemm_prog(g, s);
}

/* C[i][j] += (sum over even k) + (sum over odd k), each from zero. */
static const TdProg *two_sums(const Gemm *g) {
  TdSym s[] = {local("s"), local("t")};
  const TdStmt *add[2];
  for (int h = 0; h < 2; h++) {
    const TdExpr *k = OP(ADD, OP(MUL, var(g->k), num(2)), num(h));
    const TdExpr *a = LD(g->A, g->elem, var(g->i), k), *b = LD(g->B, g->elem, k, var(g->j));
    add[h] = store(get(s[h], g->acc), OP(ADD, get(s[h], g->acc), OP(MUL, a, b)));
  }
  const TdExpr *c = LD(g->C, g->acc, var(g->i), var(g->j));
  const TdExpr *sum = OP(ADD, get(s[0], g->acc), get(s[1], g->acc));
  return gemm_prog(
      g, FOR(g->i, num(0), num(M),
             FOR(g->j, num(0), num(N), declare(s[0], g->acc, lit(g->acc, 0)),
                 declare(s[1], g->acc, lit(g->acc, 0)),
                 FOR(g->k, num(0), num(K / 2), add[0], add[1]), store(c, OP(ADD, c, sum)))));
}

static void test_gemm(void) {
  for (int f = 0; f < 2; f++) {
    Gemm g = f ? gemm(B.f32, B.f32) : gemm(B.i8, B.i16);
    const TdProg *ijk = nest(&g, "ijk", mac(&g, var(g.k), false));
    const TdExpr *down = OP(SUB, num(K - 1), var(g.k));
    is_text(level_of(ijk, nest(&g, "kji", mac(&g, var(g.k), false)), NULL), "strict",
            "loops in another order");
    is_text(level_of(ijk, nest(&g, "ijk", mac(&g, down, false)), NULL), "associative",
            "k reversed");
    is_text(level_of(ijk, two_sums(&g), NULL), f ? "ring" : "associative",
            "two partial sums from 0");
    const TdStmt *s = mac(&g, var(g.k), false);
    const TdStmt *few = FOR(g.k, num(0), num(K - 1), s);
    const TdProg *cut = gemm_prog(&g, FOR(g.i, num(0), num(M), FOR(g.j, num(0), num(N), few)));
    is_text(level_of(ijk, cut, NULL), "differs", "k short by one");
    is_text(answer.element, "C[0][0]", "with the first element");
    if (f) is_text(level_of(ijk, nest(&g, "ijk", mac(&g, var(g.k), true)), NULL), "fused", "fma");
  }
  Gemm g = gemm(B.i8, B.i32);
  const TdExpr *mm[] = {whole(g.A, g.a), whole(g.B, g.b)};
  const TdExpr *product = td_expr_tensor(B.a, TD_OP_MATMUL, g.c, mm, 2, TD_OP_ADD, 0, here());
  const TdProg *set_form = gemm_prog(&g, set(whole(g.C, g.c), product));
  const TdStmt *zero = store(LD(g.C, g.acc, var(g.i), var(g.j)), lit(g.acc, 0));
  const TdStmt *sum = FOR(g.k, num(0), num(K), mac(&g, var(g.k), false));
  const TdStmt *loops = FOR(g.i, num(0), num(M), FOR(g.j, num(0), num(N), zero, sum));
  is_text(level_of(set_form, gemm_prog(&g, loops), NULL), "strict", "matmul and its loops");
}

/* One kernel over x[4] of type t that stores e to O[0]. */
typedef struct One {
  TdSym X, O;
  const TdType *in, *out;
} One;
static One one(const TdType *in, const TdType *out) {
  return (One){arg("X"), arg("O"), in, out};
}
static const TdExpr *x(const One *o, int64_t i) {
  return LD(o->X, o->in, num(i));
}
static const TdProg *body_prog(const One *o, const TdStmt *body) {
  return PROG(KERNEL("one", body, P(o->X, T(o->in, 4)), P(o->O, T(o->out, 1))));
}
static const TdProg *one_prog(const One *o, const TdExpr *e) {
  return body_prog(o, BLOCK(store(LD(o->O, o->out, num(0)), e)));
}

static void test_levels(void) {
  const TdType *u8 = td_type_uint(B.s, 8), *sat = td_type_with(B.s, B.i8, true, false);
  One o = one(B.i8, B.i8), w = one(B.i8, B.i16), p = one(B.f32, B.f32), r = one(B.i8, B.i32);
#define CHECK(q, a, b, level, name)                                                                \
  is_text(level_of(one_prog(&q, a), one_prog(&q, b), NULL), level, name)
  CHECK(o, OP(ADD, x(&o, 0), x(&o, 1)), OP(ADD, x(&o, 1), x(&o, 0)), "strict", "a + b and b + a");
  CHECK(o, OP(SUB, x(&o, 0), x(&o, 1)), OP(SUB, x(&o, 1), x(&o, 0)), "differs", "a - b and b - a");
  const TdExpr *xy = OP(ADD, x(&o, 0), x(&o, 1)), *yz = OP(ADD, x(&o, 1), x(&o, 2));
  CHECK(o, OP(ADD, cast(B.i8, xy), x(&o, 2)), OP(ADD, x(&o, 0), cast(B.i8, yz)), "associative",
        "sums that wrap at every store regroup");
  const TdExpr *wide = OP(ADD, x(&w, 0), x(&w, 1));
  CHECK(w, OP(ADD, cast(B.i8, wide), x(&w, 2)), OP(ADD, wide, x(&w, 2)), "differs",
        "but not when the sum is wider than the wrap");
  CHECK(o, OP(ADD, cast(sat, xy), x(&o, 2)), OP(ADD, x(&o, 0), cast(sat, yz)), "differs",
        "nor when it saturates");
  CHECK(w, cast(u8, wide), cast(B.i8, wide), "differs", "wrapped to signed and unsigned");
  CHECK(o, OP(MIN, OP(MIN, x(&o, 0), x(&o, 1)), x(&o, 2)),
        OP(MIN, x(&o, 1), OP(MIN, x(&o, 2), x(&o, 0))), "associative", "min regroups");
  CHECK(o, OP(MAX, cast(B.i8, xy), x(&o, 2)), OP(MAX, xy, x(&o, 2)), "differs",
        "max sees what a wrap cut off");
  CHECK(r, OP(MUL, x(&r, 0), OP(ADD, x(&r, 1), x(&r, 2))),
        OP(ADD, OP(MUL, x(&r, 0), x(&r, 1)), OP(MUL, x(&r, 2), x(&r, 0))), "ring", "factoring");
  CHECK(p, OP(MUL, x(&p, 0), OP(ADD, x(&p, 1), x(&p, 2))),
        OP(ADD, OP(MUL, x(&p, 0), x(&p, 1)), OP(MUL, x(&p, 2), x(&p, 0))), "ring",
        "factoring of floats");
  CHECK(p, OP(MUL, x(&p, 0), lit(B.f32, 2)), OP(ADD, x(&p, 0), x(&p, 0)), "ring",
        "2 * x and x + x");
  CHECK(p, OP(FMA, lit(B.f32, 2), lit(B.f32, 3), x(&p, 0)), OP(ADD, lit(B.f32, 6), x(&p, 0)),
        "fused", "fma of constants");
  const TdExpr *nan = OP(DIV, lit(B.f32, 0), lit(B.f32, 0));
  CHECK(p, OP(ADD, x(&p, 0), nan), OP(ADD, x(&p, 0), OP(NEG, nan)), "strict", "NaNs are one value");
  CHECK(p, OP(SUB, x(&p, 0), x(&p, 0)), lit(B.f32, 0), "ring", "x - x and 0");
}

static uint64_t random_word(void) {
  return td_domain_random(77, ++seed);
}

/* A random expression over the inputs of o. */
static const TdExpr *random_expr(const One *o, int depth) {
  const TdType *u8 = td_type_uint(B.s, 8), *types[] = {B.i8, u8, B.i16, td_type_int(B.s, 4)};
  if (!depth)
    return random_word() % 8 ? x(o, (int64_t)(random_word() % 3))
                             : lit(B.i8, (int64_t)(random_word() % 5) - 2);
  const TdExpr *a = random_expr(o, depth - 1), *b = random_expr(o, depth - 1);
  switch (random_word() % 8) {
  case 0: return td_expr_cast(B.a, types[random_word() % 4], a, false);
  case 1: return OP(SUB, a, b);
  case 2: return OP(MUL, a, b);
  case 3: return OP(NEG, a);
  case 4: {
    const TdOp more[] = {TD_OP_MAX, TD_OP_MIN, TD_OP_BAND, TD_OP_BOR, TD_OP_BXOR};
    return op(more[random_word() % 5], 2, EXPRS(a, b));
  }
  default: return OP(ADD, a, b);
  }
}

/* What p leaves in O[0] for inputs v. */
static uint64_t number(const One *o, const TdProg *p, const int64_t *v) {
  TdTensor *in = td_tensor_new(B.a, T(o->in, 4), false),
           *out = td_tensor_new(B.a, T(o->out, 1), false);
  for (int64_t i = 0; i < 4; i++) td_tensor_put(in, &i, (uint64_t)v[i]);
  TdEvalArg arg[] = {{.tensor = in}, {.tensor = out}};
  TdDiag d = {.arena = B.a};
  TdEvalResult result;
  td_eval_run(B.a, p, arg, 2, NULL, &d, &result);
  return td_tensor_get(out, &(int64_t){0});
}

/* For programs over the inputs of o: what is equal at a level is equal on numbers, and at the next
 * level. */
static void sound_for(One o) {
  enum { PROGRAMS = 140, POINTS = 12 };
  const TdProg *p[PROGRAMS];
  uint64_t at[PROGRAMS][POINTS];
  for (int i = 0; i < PROGRAMS; i++) p[i] = one_prog(&o, random_expr(&o, 1 + i % 3));
  for (int k = 0; k < POINTS; k++) {
    int64_t v[4];
    for (int i = 0; i < 4; i++) v[i] = (int64_t)td_num_wrap(o.in, random_word());
    for (int i = 0; i < PROGRAMS; i++) at[i][k] = number(&o, p[i], v);
  }
  bool sound = true, grows = true;
  int equal[4] = {0};
  for (int i = 0; i < PROGRAMS; i++)
    for (int j = 0; j < i; j++) {
      TdMark mark = td_arena_mark(B.a);
      bool last = false;
      for (int l = 0; l <= TD_LEVEL_RING; l++) {
        TdEvalOptions opt = {.seed = ++seed};
        bool now =
            td_eval_compare(B.a, p[i], p[j], (TdLevel)l, NULL, &opt).verdict == TD_EVAL_EQUAL;
        grows &= now || !last;
        equal[l] += now;
        sound &= !now || memcmp(at[i], at[j], sizeof at[i]) == 0;
        last = now;
      }
      td_arena_release(B.a, mark);
    }
  ok(sound, "random programs that are called equal are equal on numbers");
  ok(grows, "and at every further level");
  ok(equal[0] > 0 && equal[2] > equal[1] && equal[3] > equal[2],
     "and the levels find more and more");
  printf("# equal pairs: %d strict, %d fused, %d associative, %d ring\n", equal[0], equal[1],
         equal[2], equal[3]);
}

static void test_soundness(void) {
  sound_for(one(B.i8, B.i16));
  sound_for(one(B.i16, B.i64));
  sound_for(one(B.i16, B.i8));
}

/* An `if` on symbolic values against the selects that it means. */
static void test_merge(void) {
  One o = one(B.i32, B.i32);
  const TdExpr *out = LD(o.O, B.i32, num(0)), *c = OP(LT, x(&o, 0), x(&o, 1)),
               *d = OP(LT, x(&o, 1), x(&o, 2));
  TdSym t = local("t"), k = loop("k");
  const TdStmt *both =
      td_stmt_if(B.st, c, BLOCK(store(out, x(&o, 2))), BLOCK(store(out, x(&o, 3))), here());
  is_text(
      level_of(body_prog(&o, BLOCK(both)), one_prog(&o, OP(SELECT, c, x(&o, 2), x(&o, 3))), NULL),
      "strict", "an if merges by select");
  const TdStmt *nested = IF(c, declare(t, B.i32, x(&o, 2)), IF(d, store(get(t, B.i32), x(&o, 3))),
                            store(out, get(t, B.i32)));
  const TdExpr *inner = OP(SELECT, d, x(&o, 3), x(&o, 2));
  is_text(level_of(body_prog(&o, BLOCK(store(out, x(&o, 0)), nested)),
                   one_prog(&o, OP(SELECT, c, inner, x(&o, 0))), NULL),
          "strict", "with a local and a nested if");
  is_text(level_of(body_prog(&o, BLOCK(store(out, x(&o, 0)), nested)),
                   one_prog(&o, OP(SELECT, d, inner, x(&o, 0))), NULL),
          "differs", "but not with another condition");
  const TdStmt *other = td_stmt_if(B.st, c, BLOCK(store(get(t, B.i32), x(&o, 1))),
                                   BLOCK(store(out, x(&o, 3))), here());
  const TdStmt *arms = BLOCK(declare(t, B.i32, x(&o, 0)), store(out, x(&o, 2)), other);
  is_text(level_of(body_prog(&o, arms), one_prog(&o, OP(SELECT, c, x(&o, 2), x(&o, 3))), NULL),
          "strict", "with writes of one arm only");
  B.line = 6;
  c = OP(LT, x(&o, 0), x(&o, 1));
  const TdStmt *undecided[] = {
      IF(c, FOR(k, num(0), cast(B.idx, x(&o, 0)), store(out, x(&o, 0)))),
      IF(c, jump(TD_STMT_RETURN)),
      WHILE(c, store(out, x(&o, 0))),
      store(LD(o.O, B.i32, cast(B.idx, x(&o, 0))), x(&o, 1)),
      IF(c, store(out, LD(o.X, B.i32, num(9)))),
      IF(OP(AND, c, OP(LT, LD(o.X, B.i32, num(9)), x(&o, 0))), store(out, x(&o, 0))),
  };
  B.line = 1;
  for (size_t i = 0; i < sizeof undecided / sizeof *undecided; i++) {
    const TdProg *p = body_prog(&o, BLOCK(undecided[i]));
    is_text(level_of(p, p, NULL), "not-decided:6", "control or an index on symbolic values");
  }
  TdTensor *in = td_tensor_new(B.a, T(B.i32, 4), false);
  TdEvalArg concrete[] = {{.tensor = in}, {0}};
  const TdProg *p = body_prog(&o, BLOCK(store(out, LD(o.X, B.i32, cast(B.idx, x(&o, 0))))));
  is_text(level_of(p, p, NULL), "strict", "an index that chooses what is read");
  is_text(level_of(p, one_prog(&o, x(&o, 0)), concrete), "strict", "unless they are kept concrete");
  const TdProg *bad = one_prog(&o, LD(o.X, B.i32, num(9)));
  is_text(level_of(bad, bad, NULL), "index-out-of-range:1", "a fault is no answer");
  TdEvalOptions few = {.steps = 2};
  const TdProg *many = body_prog(&o, BLOCK(FOR(k, num(0), num(9), store(out, x(&o, 0)))));
  answer = td_eval_compare(B.a, many, many, TD_LEVEL_STRICT, NULL, &few);
  ok(answer.verdict == TD_EVAL_NOT_DECIDED && answer.diag.kind == TD_LIMIT,
     "nor is a spent budget");
  answer = td_eval_compare(B.a, many, many, TD_LEVEL_STRICT, NULL, &(TdEvalOptions){.bytes = 1});
  ok(answer.verdict == TD_EVAL_NOT_DECIDED && answer.diag.kind == TD_LIMIT,
     "nor is memory that ran out");
}

/* R[i] = A[i] * 3 through a stream of depth 2 and two tasks, against a loop. */
static void test_design(void) {
  TdSym A = arg("A"), R = arg("R"), DA = arg("A"), DR = arg("R"), Z = stream("Z"), i = loop("i"),
        v = local("v");
  const TdType *row = T(B.i8, 5);
  TdUnit *d = UNIT(DESIGN, "top", P(DA, row), P(DR, row));
  const TdType *port = add_stream(d, Z, B.i8, 1, 2, false);
  const TdExpr *z = element_of(Z, port, num(0)), *a = LD(A, B.i8, var(i)), *r = LD(R, B.i8, var(i));
  TdUnit *send = KERNEL("send", BLOCK(FOR(i, num(0), num(5), put(z, a))), P(A, row));
  const TdStmt *scale = store(r, OP(MUL, get(v, B.i8), lit(B.i8, 3)));
  TdUnit *keep = KERNEL("keep", BLOCK(FOR(i, num(0), num(5), take(v, z), scale)), P(R, row));
  add_run(d, send, 0, NULL, BIND({A, DA, NULL}));
  add_run(d, keep, 0, NULL, BIND({R, DR, NULL}));
  const TdStmt *loop_form = FOR(i, num(0), num(5), store(r, OP(MUL, a, lit(B.i8, 3))));
  const TdProg *net = PROG(send, keep, d);
  is_text(level_of(net, PROG(KERNEL("f", BLOCK(loop_form), P(A, row), P(R, row))), NULL), "strict",
          "a design and the loop it came from");
  const TdStmt *other = FOR(i, num(0), num(5), store(r, OP(MUL, a, lit(B.i8, 4))));
  is_text(level_of(net, PROG(KERNEL("f", BLOCK(other), P(A, row), P(R, row))), NULL), "differs",
          "and another");
  TdSym S = local("S");
  static const int8_t zero[] = {0};
  const TdProg *st = PROG(KERNEL(
      "s",
      BLOCK(state(S, T(B.i8, 1), zero, 1), store(r = LD(R, B.i8, num(0)), LD(S, B.i8, num(0)))),
      P(A, row), P(R, row)));
  level_of(st, st, NULL);
  ok(answer.verdict == TD_EVAL_EQUAL && answer.has_state, "a state is mentioned");
}

/* Kernels with ports: what they put, and how much they get. */
static void test_ports(void) {
  TdSym X = stream("X"), Y = stream("Y"), v = local("v"), w = local("w");
  const TdType *port = td_type_port(B.s, B.i8, 0, NULL, false);
  const TdStmt *gets = take(v, whole(X, port)), *more = take(w, whole(X, port));
  const TdStmt *sends = put(whole(Y, port), get(v, B.i8)),
               *sends_w = put(whole(Y, port), get(w, B.i8));
  const TdProg *p[] = {
      PROG(KERNEL("p", BLOCK(gets, more, sends, sends_w), P(X, port), P(Y, port))),
      PROG(KERNEL("p", BLOCK(gets, sends, more, sends_w), P(X, port), P(Y, port))),
      PROG(KERNEL("p", BLOCK(gets, more, sends_w, sends), P(X, port), P(Y, port))),
      PROG(KERNEL("p", BLOCK(gets, more, sends), P(X, port), P(Y, port))),
  };
  is_text(level_of(p[0], p[1], NULL), "strict", "gets and puts of other streams commute");
  is_text(level_of(p[0], p[2], NULL), "differs", "puts of one stream do not");
  is_text(answer.element, "Y: token 0, element 0", "with the token");
  is_text(level_of(p[0], p[3], NULL), "differs", "nor does their number");
  is_text(answer.element, "Y: tokens put", "which is said");
}

/* Words of separate runs can be compared when level and seed are one. */
static void test_images(void) {
  Gemm g = gemm(B.i8, B.i16);
  const TdStmt *s = mac(&g, var(g.k), false);
  const TdProg *p[] = {nest(&g, "ijk", s), nest(&g, "kij", s)};
  const TdValue *cell[3][3];
  TdDiag d = {.arena = B.a};
  for (unsigned i = 0; i < 3; i++) {
    TdEvalOptions o = {.seed = 5 + i / 2};
    ok(td_eval_symbolic(B.a, p[i % 2], TD_LEVEL_STRICT, NULL, &o, cell[i], &d), "a symbolic run");
  }
  ok(!memcmp(cell[0][2], cell[1][2], sizeof(TdValue[M * N])), "gives the same words for equals");
  ok(memcmp(cell[0][2], cell[2][2], sizeof(TdValue[M * N])), "and others for another seed");
}

static void test_explain(void) {
  Gemm g = gemm(B.i8, B.i16);
  B.line = 2;
  const TdProg *up = nest(&g, "ijk", mac(&g, var(g.k), false));
  B.line = 4;
  const TdProg *down = nest(&g, "ijk", mac(&g, OP(SUB, num(K - 1), var(g.k)), false));
  B.line = 1;
  TdText out = td_text_new(B.a);
  TdDiag d = {.arena = B.a};
  ok(td_eval_explain(B.a, &out, &(TdEvalElement){.x = up, .y = down, .param = 2, .index = 3}, &d),
     "an element is explained");
  const char *text = td_text_str(&out);
  int lines = 0;
  for (const char *s = text; *s; s++) lines += *s == '\n';
  ok(lines <= 40, "in at most 40 lines");
  const char *want[] = {"C[1][1] is computed as", "(A[1][3] * B[3][1])", "(A[1][0] * B[0][1])",
                        "test:2:1", "test:4:1"};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++)
    ok(strstr(text, want[i]) != NULL, want[i]);
  One o = one(B.i8, B.i8);
  TdText deep = td_text_new(B.a);
  const TdExpr *a = OP(MUL, x(&o, 0), OP(ADD, x(&o, 1), x(&o, 2))),
               *b = OP(MUL, x(&o, 0), OP(SUB, x(&o, 1), x(&o, 2)));
  td_eval_explain(B.a, &deep,
                  &(TdEvalElement){.x = one_prog(&o, a), .y = one_prog(&o, b), .param = 1}, &d);
  const char *cut = strstr(td_text_str(&deep), "they differ in");
  ok(cut && !strstr(cut, "X[0]"), "what both share is left out");
}

int main(void) {
  void (*const test[])(void) = {test_gemm,   test_levels, test_soundness, test_merge,
                                test_design, test_ports,  test_images,    test_explain};
  for (size_t i = 0; i < sizeof test / sizeof *test; i++) {
    build_open();
    test[i]();
    build_close();
  }
  return done_testing();
}
