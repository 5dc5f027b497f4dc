/* mistakes_test.c - what Tide says when a part of it gets what no other part should make: each is a
 * diagnostic of kind bug (or unsupported), beside a twin that is well formed. */
#include "backends/cpu/load/code.h"
#include "build_ir.h"
#include "eval/eval.h"
#include "frontend/capture.h"

/* A test: d has this code and kind. */
static void is_told(const TdDiag *d, TdDiagKind kind, const char *code, const char *name) {
  bool right = d->code && strcmp(d->code, code) == 0 && d->kind == kind;
  ok(right, name);
  if (!right) printf("# %s: %s\n", d->code ? d->code : "nothing", d->message ? d->message : "");
}

/* A test: the structure of p is refused, with a message that holds `what`; NULL: accepted. */
static void structure(const char *name, const TdProg *p, const char *what) {
  TdDiag d = {.arena = B.a};
  bool good = td_verify_prog(p, &d);
  if (!what) {
    ok(good, name);
    return;
  }
  is_told(&d, TD_BUG, "structure", name);
  ok(!good && d.message && strstr(d.message, what), "and says what");
  if (d.message && !strstr(d.message, what)) printf("# %s\n", d.message);
}

static void test_structure(void) {
  TdSym A = arg("A"), C = arg("C"), i = loop("i"), t = local("t");
  const TdType *four = T(B.i32, 4), *two = T(B.i32, 2, 2);
  const TdExpr *one = lit(B.i32, 1);
  structure("a store", PROG(KERNEL("k", BLOCK(store(LD(A, B.i32, num(0)), one)), P(A, four))),
            NULL);
  structure("a name out of scope",
            PROG(KERNEL("k", BLOCK(store(LD(C, B.i32, num(0)), one)), P(A, four))), "out of scope");
  structure("too few indices",
            PROG(KERNEL("k", BLOCK(store(LD(A, B.i32, num(0)), one)), P(A, two))),
            "wrong number of indices");
  structure("another element type",
            PROG(KERNEL("k", BLOCK(store(LD(A, B.i16, num(0)), one)), P(A, four))),
            "wrong element type");
  structure("an index that is none",
            PROG(KERNEL("k", BLOCK(store(LD(A, B.i32, one), one)), P(A, four))), "index");
  structure("a loop variable after its loop",
            PROG(KERNEL("k",
                        BLOCK(FOR(i, num(0), num(4), store(LD(A, B.i32, var(i)), one)),
                              store(LD(A, B.i32, var(i)), one)),
                        P(A, four))),
            "i");
  structure("a break outside loops", PROG(KERNEL("k", BLOCK(jump(TD_STMT_BREAK)), P(A, four))),
            "break");
  structure("a local declared in another block",
            PROG(KERNEL("k",
                        BLOCK(IF(lit(B.bit, 1), declare(t, B.i32, one)),
                              store(LD(A, B.i32, num(0)), get(t, B.i32))),
                        P(A, four))),
            "t");
  const TdStmt *bare = store(LD(A, B.i32, num(0)), one), *choice = IF(lit(B.bit, 1), bare);
  structure("a choice with a block", PROG(KERNEL("k", BLOCK(choice), P(A, four))), NULL);
  structure("a choice with a bare statement",
            PROG(KERNEL("k", BLOCK(td_stmt_with_kids(B.st, choice, &bare, 1)), P(A, four))),
            "no block");
  const TdStmt *twice = store(LD(A, B.i32, num(0)), one);
  structure("a statement that stands twice", PROG(KERNEL("k", BLOCK(twice, twice), P(A, four))),
            "");
}

/* A test: the C text of p is refused by this code; NULL: it is written. */
static void text(const char *name, const TdProg *p, TdDiagKind kind, const char *code) {
  TdArena *a = td_arena_new(B.ctx);
  TdDiag d = {.arena = B.a};
  const TdCpuText *made = td_cpu_text_of(a, p, (TdCpuExtra){0}, &d);
  if (code)
    is_told(&d, kind, code, name);
  else
    ok(made, name);
  td_arena_free(a);
}

static void test_emission(void) {
  TdSym A = arg("A"), C = arg("C");
  const TdType *four = T(B.i32, 4);
  const TdStmt *good = store(LD(A, B.i32, num(0)), lit(B.i32, 1));
  text("a kernel", PROG(KERNEL("k", BLOCK(good), P(A, four))), TD_OK, NULL);
  text("a name that is not declared",
       PROG(KERNEL("k", BLOCK(store(LD(A, B.i32, num(0)), get(C, B.i32))), P(A, four))), TD_BUG,
       "unnamed");
  const TdStmt *tensor = td_stmt_store(B.st, LD(A, B.i32, num(0)), whole(A, four), here());
  text("a tensor stored in an element", PROG(KERNEL("k", BLOCK(tensor), P(A, four))),
       TD_UNSUPPORTED, "tensor-in-scalar");
}

/* What compilers and runs say. */
static void test_runs(void) {
  TdArena *a = td_arena_new(B.ctx);
  TdCpuCode code;
  TdDiag d = {.arena = a};
  TdCpuInput wrong = {.text = "int x;\nint y = ; int z;\n"};
  if (td_cpu_tcc_is_there()) {
    ok(!td_cpu_tcc_compile(a, &wrong, &code, &d), "a text that is no C");
    is_told(&d, TD_BUG, "compiler-failed", "is refused in memory");
    ok(d.notes.n == 1 && strstr(d.notes.at[0].text, "line 2 of it: int y = ;"), "with its line");
  }
  TdSym A = arg("A");
  const TdProg *p =
      PROG(KERNEL("k", BLOCK(store(LD(A, B.i32, num(0)), lit(B.i32, 1))), P(A, T(B.i32, 4))));
  const TdCpuText *made = td_cpu_text_of(a, p, (TdCpuExtra){0}, &(TdDiag){.arena = a});
  static const TdLoc place[1];
  TdCpuText said = *made;
  said.place = place;
  for (int fault = 1; fault < 100; fault += 98) {
    struct td_run run = {.fault = fault};
    TdDiag why = {.arena = a};
    td_cpu_code_tell(&said, B.s, td_prog_root(p), &run, &why);
    is_told(&why, fault == 1 ? TD_ILLEGAL : TD_BUG, fault == 1 ? "zero-division" : "fault",
            fault == 1 ? "a fault of a run" : "one that nobody knows");
  }
  td_arena_free(a);
}

static void fail_badly(struct td_run *run, volatile int *at) {
  run->place = 0;
  *at = 1;
}

/* Code that Tide made, and that crashes without the help of a foreign function. */
static void test_crash(void) {
  TdSym A = arg("A");
  const TdProg *p =
      PROG(KERNEL("k", BLOCK(store(LD(A, B.i32, num(0)), lit(B.i32, 1))), P(A, T(B.i32, 4))));
  int good;
  void *at[] = {&good, (void *)(uintptr_t)64};
  void (*const fn)(struct td_run *, volatile int *) = fail_badly;
  TdCpuCode code = {0};
  memcpy(&code.root, &fn, sizeof fn);
  TdFfi *two_pointers = td_ffi_new(B.a, NULL, (TdFfiType[2]){{0}, {0}}, 2);
  TdCpuText said = {.place = &(TdLoc){0}, .nplace = 1};
  for (int i = 0; i < 2; i++) {
    struct td_run run = {0};
    TdDiag d = {.arena = B.a};
    struct td_run *first = &run;
    td_cpu_code_run(&code, two_pointers, &run, (void *[]){&first, at + i});
    if (!run.fault)
      ok(i == 0 && good == 1, "code that runs");
    else if (!td_cpu_code_tell(&said, B.s, td_prog_root(p), &run, &d))
      is_told(&d, TD_BUG, "crash", "code that crashes");
  }
}

static void test_types(void) {
  TdDiag d = {.arena = B.a};
  ok(!td_promote_op(B.s, TD_OP_BITCAST, (const TdType *[]){B.i32}, 1, here(), &d), "a bitcast");
  is_told(&d, TD_BUG, "no-rule", "has no type by its operand");
}

static void test_explanations(void) {
  TdSym A = arg("A"), t = arg("A");
  const TdProg *p[2];
  for (int i = 0; i < 2; i++)
    p[i] = PROG(KERNEL("k", BLOCK(store(LD(i ? t : A, B.i32, num(0)), lit(B.i32, i))),
                       P(i ? t : A, T(B.i32, 4))));
  for (int index = 0; index < 8; index += 7) {
    TdArena *a = td_arena_new(B.ctx);
    TdText out = td_text_new(a);
    TdDiag d = {.arena = B.a};
    bool good =
        td_eval_explain(a, &out, &(TdEvalElement){.x = p[0], .y = p[1], .index = index}, &d);
    if (index)
      is_told(&d, TD_USAGE, "no-element", "an element beyond the array");
    else
      ok(good, "an element is explained");
    td_arena_free(a);
  }
  TdArena *a = td_arena_new(B.ctx);
  TdText out = td_text_new(a);
  TdDiag d = {.arena = B.a};
  TdSym u = arg("A");
  const TdProg *other =
      PROG(KERNEL("k", BLOCK(store(LD(u, B.i32, num(0)), lit(B.i32, 1))), P(u, T(B.i32, 5))));
  ok(!td_eval_explain(a, &out, &(TdEvalElement){.x = p[0], .y = other}, &d),
     "programs of other arrays");
  is_told(&d, TD_USAGE, "parameters", "are not compared");
  td_arena_free(a);
}

/* Runs A[i] = 1 of four elements on a tensor of n, in at most so many steps. */
static TdDiag evaluated(int64_t n, uint64_t steps) {
  TdSym A = arg("A"), i = loop("i");
  const TdProg *p =
      PROG(KERNEL("k", BLOCK(FOR(i, num(0), num(4), store(LD(A, B.i32, var(i)), lit(B.i32, 1)))),
                  P(A, T(B.i32, 4))));
  TdDiag d = {.arena = B.a};
  TdEvalArg arg = {.tensor = td_tensor_new(B.a, T(B.i32, n), false)};
  TdEvalOptions o = {.steps = steps};
  TdEvalResult result;
  td_eval_run(B.a, p, &arg, 1, &o, &d, &result);
  return d;
}

static void test_evaluation(void) {
  TdDiag good = evaluated(4, 100), shape = evaluated(5, 100), limit = evaluated(4, 3);
  ok(!td_diag_failed(&good), "a run");
  is_told(&shape, TD_USAGE, "shape", "a tensor of another shape");
  is_told(&limit, TD_LIMIT, "limit", "more steps than a run may take");
}

/* An attempt that has the sizes change `*left` times more. */
static const TdUnit *restless(void *left, TdSizes *z, TdUnits *units, TdDiag *d) {
  static TdUnit u;
  int *n = left;
  (void)units, (void)d;
  z->changed = (*n)-- > 0;
  return &u;
}

static void test_sizes(void) {
  for (int times = 3; times < 2000; times += 1990) {
    int left = times;
    TdUnits units = {.store = B.st};
    TdDiag d = {.arena = B.a};
    const TdUnit *u = td_capture_settle(&units, restless, &left, here(), &d);
    if (times == 3)
      ok(u, "sizes that settle");
    else
      is_told(&d, TD_BUG, "sizes", "sizes that never settle");
  }
}

int main(void) {
  build_open();
  test_structure();
  test_emission();
  test_runs();
  test_crash();
  test_types();
  test_explanations();
  test_sizes();
  test_evaluation();
  build_close();
  return done_testing();
}
