/* cpu_refuse_test.c - what the CPU refuses, each beside a program that it takes; foreign functions.
 */
#include <stdlib.h>
#include <unistd.h>

#include "backends/cpu/cpu.h"
#include "build_ir.h"

/* Whether p is refused by this code (NULL: taken). */
static void refused(const char *name, const TdProg *p, const char *code) {
  TdArena *a = td_arena_new(B.ctx);
  TdDiag d = {.arena = a};
  TdBuild b = {.prog = p, .arena = a, .diag = &d};
  bool taken = td_backend_cpu.validate(&b);
  bool right = code ? !taken && strcmp(d.code, code) == 0 && d.help : taken;
  ok(right, name);
  if (!right) printf("# %s: %s\n", d.code ? d.code : "taken", d.message ? d.message : "");
  td_arena_free(a);
}

static const TdType *row4(void) {
  return T(B.i32, 4);
}

/* x[0] = 1. */
static const TdUnit *one(const char *name) {
  TdSym x = arg("x");
  return KERNEL(name, BLOCK(store(LD(x, B.i32, num(0)), lit(B.i32, 1))), P(x, row4()));
}

/* A design whose task runs k on the whole argument, by a layout over a map of n. */
static TdUnit *design(const TdUnit *k, int64_t n, const char *layout, bool bound, const TdType *t) {
  TdSym A = arg("A");
  TdUnit *d = UNIT(DESIGN, "top", P(A, t));
  if (bound)
    add_run(d, k, MAP(n), BIND({k->param[0].sym, A, layout}));
  else
    add_run(d, k, MAP(n), 0, NULL);
  return d;
}

static void test_designs(void) {
  const TdUnit *k = one("k");
  TdUnit *d = design(k, 1, NULL, true, row4());
  refused("a design of one task", PROG(k, d), NULL);
  refused("a parameter without argument", PROG(k, design(k, 1, NULL, false, row4())),
          "unbound-parameter");
  TdSym x = arg("x");
  refused("a design called by a kernel",
          PROG(k, d, KERNEL("caller", BLOCK(CALL(d, whole(x, row4()))), P(x, row4()))), NULL);
  refused("a kernel called by a kernel",
          PROG(k, KERNEL("caller", BLOCK(CALL(k, whole(x, row4()))), P(x, row4()))), NULL);
  refused("copies that are written", PROG(k, design(k, 2, "R", true, row4())), NULL);
  refused("blocks that are written", PROG(k, design(k, 2, "S0", true, T(B.i32, 8))), NULL);
}

/* A task that gets from (or puts to) a stream of rows into memory that is there. */
static const TdProg *getter(bool buffers) {
  TdSym Z = stream("Z"), x = arg("x"), y = arg("x"), A = arg("A"), C = arg("C");
  TdUnit *d = UNIT(DESIGN, "top", P(A, row4()), P(C, row4()));
  const TdType *port = add_stream(d, Z, row4(), 1, 1, buffers);
  const TdExpr *z = element_of(Z, port, num(0));
  const TdStmt *into = td_stmt_get(B.st, z, NULL, row4(), whole(x, row4()), here());
  const TdUnit *g = KERNEL("g", BLOCK(into), P(x, row4()));
  const TdUnit *p = KERNEL("p", BLOCK(put(z, whole(y, row4()))), P(y, row4()));
  add_run(d, p, 0, NULL, BIND({y, A, NULL}));
  add_run(d, g, 0, NULL, BIND({x, C, NULL}));
  return PROG(g, p, d);
}

static void test_streams(void) {
  refused("a get into an array", getter(false), NULL);
  refused("a buffer got into an array", getter(true), "block-into-place");
  TdSym Z = stream("Z"), v = local("v"), x = arg("x");
  const TdType *port = td_type_port(B.s, B.i32, 0, NULL, false);
  const TdStmt *body = BLOCK(take(v, td_expr_whole(B.s, B.a, Z, port, here())),
                             store(LD(x, B.i32, num(0)), get(v, B.i32)));
  refused("streams given by Lua", PROG(KERNEL("k", body, P(Z, port), P(x, row4()))), "no-streams");
}

/* A kernel of a matrix whose extent is a size, known or not. */
static const TdProg *sized(bool known) {
  TdSym x = arg("x");
  const TdExpr *dim = td_expr_size(B.s, B.a, "N", here());
  const TdType *t = td_type_tensor(B.s, B.i32, 1, &dim);
  TdUnit *u =
      td_unit_copy(B.st, KERNEL("k", BLOCK(store(LD(x, B.i32, num(0)), lit(B.i32, 1))), P(x, t)));
  TdSize *size = TD_NEW(B.a, TdSize);
  *size = (TdSize){.name = td_names_str(B.s->names, "N"), .known = known, .value = 4};
  u->size = size, u->nsize = 1;
  return PROG(u);
}

/* A while that sums a row in its condition, or before it. */
static const TdProg *summing(bool in_condition, TdOp how) {
  TdSym x = arg("x"), s = local("s");
  const TdExpr *sum =
      td_expr_tensor(B.a, how, B.i32, EXPRS(whole(x, row4())), 1, TD_OP_ADD, 0, here());
  const TdStmt *less = store(LD(x, B.i32, num(0)), lit(B.i32, 0));
  const TdStmt *body = in_condition ? BLOCK(WHILE(OP(LT, lit(B.i32, 9), sum), less))
                                    : BLOCK(declare(s, B.i32, sum),
                                            WHILE(OP(LT, lit(B.i32, 9), get(s, B.i32)), less));
  return PROG(KERNEL("k", body, P(x, row4())));
}

static void test_expressions(void) {
  refused("a size with its value", sized(true), NULL);
  refused("a size without", sized(false), "unbound-size");
  refused("a sum before a loop", summing(false, TD_OP_REDUCE), NULL);
  refused("a sum in its condition", summing(true, TD_OP_REDUCE), "tensor-condition");
  refused("an allreduce in a kernel", summing(false, TD_OP_ALLREDUCE), "collective");
  TdSym x = arg("x");
  const TdType *wide[] = {td_type_int(B.s, 65), td_type_fixed(B.s, true, 65, 1)};
  for (int i = 0; i < 2; i++)
    refused("elements of 65 bits",
            PROG(KERNEL("k", BLOCK(store(LD(x, wide[i], num(0)), lit(wide[i], 1))),
                        P(x, T(wide[i], 4)))),
            i ? "too-wide" : NULL);
}

/* A foreign function that doubles four numbers, called on a row or a column of a matrix. */
static const TdProg *foreign(const char *source, const char *symbol, bool column) {
  TdSym x = arg("x"), m = arg("m");
  TdForeign *f = TD_NEW(B.a, TdForeign);
  *f = (TdForeign){.source = source, .symbol = symbol};
  TdUnit *u = UNIT(EXTERN, "double4", P(x, row4()));
  u->foreign = f;
  const TdType *t = T(B.i32, 4, 4);
  const TdExpr *c = td_expr_view(B.a, m, row4(), EXPRS(num(0), num(1)),
                                 (TdViewDim[]){{1, 0}, {1, -1}}, 2, here());
  return PROG(u, KERNEL("k", BLOCK(CALL(u, column ? c : row(m, t, num(2)))), P(m, t)));
}

static void test_foreign(void) {
  char folder[] = "/tmp/tide-foreign-XXXXXX", path[64];
  if (!mkdtemp(folder)) return;
  snprintf(path, sizeof path, "%s/twice.c", folder);
  static const char text[] = "void twice4(int *x) { for (int i = 0; i < 4; i++) x[i] *= 2; }\n";
  FILE *file = fopen(path, "w");
  ok(file && fputs(text, file) >= 0 && fclose(file) == 0, "a source of C");
  refused("a foreign function on a row", foreign(path, "twice4", false), NULL);
  refused("a foreign function on a column", foreign(path, "twice4", true), "strided-extern");
  for (int tier = TD_TIER_TCC; tier <= TD_TIER_CC; tier++) {
    TdArena *a = td_arena_new(B.ctx);
    TdDiag d = {.arena = a};
    TdCpuOptions o = {.tier = (TdTier)tier};
    TdTensor *m = td_tensor_new(a, T(B.i32, 4, 4), false);
    int64_t in[] = {2, 3}, out[] = {1, 3};
    td_tensor_fill(B.ctx, m, 5);
    TdCpu *c = td_cpu_new(a, foreign(path, "twice4", false), &o, &d);
    bool good = c && td_cpu_call(c, &(TdCallArg){.tensor = m}, 1, &d);
    ok(good && td_tensor_get(m, in) == 10 && td_tensor_get(m, out) == 5, "is called");
    if (!good) printf("# %s\n", d.message);
    TdProg *p = td_arena_copy(a, foreign(NULL, "cos_of_nothing", false), sizeof(TdProg));
    TdForeign *f = td_arena_copy(a, p->unit[0]->foreign, sizeof *f);
    f->library = "libm.so.6";
    TdUnit *u = td_unit_copy(B.st, p->unit[0]);
    u->foreign = f;
    d = (TdDiag){.arena = a};
    const TdProg *q = PROG(u, p->unit[1]);
    if (tier == TD_TIER_TCC)
      ok(!td_cpu_new(a, q, &o, &d) && strcmp(d.code, "no-symbol") == 0,
         "a function that is not there");
    td_arena_free(a);
  }
  unlink(path);
  rmdir(folder);
}

int main(void) {
  build_open();
  test_designs();
  test_streams();
  test_expressions();
  test_foreign();
  build_close();
  return done_testing();
}
