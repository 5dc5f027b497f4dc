/* mlir_test.c - MLIR's tree and text: samples and 1,000 random designs are read back, and pass
 * mlir-opt with tests/npu/aie.irdl.mlir; texts that are none are refused with line and column. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "backends/npu/mlir/mlir.h"
#include "tap.h"
#include "trace.h"

static TdCtx *ctx;
static uint64_t seed = 5;
static char name[4][512];

/* The next random number below n. */
static int roll(int n) {
  return (int)trace_random(&seed, n);
}

/* The bytes of a file. */
static const char *bytes_of(TdArena *a, const char *path, size_t *n) {
  TdText t = td_text_new(a);
  FILE *f = fopen(path, "rb");
  for (int c; f && (c = fgetc(f)) != EOF;) td_text_putc(&t, (char)c);
  if (f) fclose(f);
  *n = t.n;
  return td_text_str(&t);
}

static const char *text_of(TdArena *a, const TdMlir *m, TdMlirForm form) {
  TdText t = td_text_new(a);
  td_mlir_print(&t, m, form);
  return td_text_str(&t);
}

/* Reads a text, which must be good. */
static TdMlir *reread(TdArena *a, const char *text, TdDiag *d) {
  *d = (TdDiag){.arena = a};
  TdMlir *m = td_mlir_read(a, 0, text, strlen(text), d);
  if (!m) printf("# %u:%u: %s\n", d->loc.line, d->loc.col, d->message);
  return m;
}

/* ---- random designs ---- */

typedef struct Made {
  TdMlir *m;
  TdMlirBlock *body;
  TdMlirValue *tile[8];
  int ntile, nfifo;
  const TdMlirType *index, *memref, *fifo, *view;
} Made;

static void set_int(TdMlir *m, TdMlirOp *op, const char *key, int64_t x, const char *type) {
  td_mlir_set(m, op, key, td_mlir_int(m, x, type));
}

static TdMlirOp *add(Made *g, TdMlirBlock *b, const char *op, TdMlirValue *v) {
  TdMlirOp *x = td_mlir_op(g->m, b, op);
  if (v) td_mlir_operand(g->m, x, v);
  return x;
}

static const TdMlirAttr *random_dims(Made *g) {
  int64_t num[8];
  int n = roll(5);
  for (int i = 0; i < 2 * n; i++) num[i] = 1 + roll(500);
  return td_mlir_ints(g->m, TD_MLIR_A_DIMS, num, (size_t)(2 * n), NULL);
}

static void add_tiles(Made *g) {
  g->ntile = 2 + roll(7);
  for (int i = 0; i < g->ntile; i++) {
    TdMlirOp *op = add(g, g->body, "aie.tile", NULL);
    set_int(g->m, op, "col", i % 4, "i32");
    set_int(g->m, op, "row", i < 4 ? 2 + roll(4) : roll(2), "i32");
    g->tile[i] = td_mlir_result(g->m, op, "tile", g->index);
  }
}

/* A FIFO from one tile to some, with dims for each. */
static void add_fifo(Made *g) {
  TdMlir *m = g->m;
  TdMlirOp *op = add(g, g->body, "aie.objectfifo", g->tile[roll(g->ntile)]);
  const TdMlirAttr *each[3], *depth[4];
  int n = 1 + roll(3);
  for (int i = 0; i < n; i++) {
    td_mlir_operand(m, op, g->tile[roll(g->ntile)]);
    each[i] = random_dims(g);
  }
  for (int i = 0; i <= n; i++) depth[i] = td_mlir_int(m, 1 + roll(4), "i32");
  snprintf(name[0], sizeof name[0], "f%d", g->nfifo++);
  td_mlir_set(m, op, "sym_name", td_mlir_string(m, name[0], strlen(name[0])));
  td_mlir_set(m, op, "elemType", td_mlir_type_attr(m, g->fifo));
  td_mlir_set(m, op, "elemNumber",
              roll(3) ? depth[0] : td_mlir_array(m, TD_MLIR_A_ARRAY, depth, (size_t)n + 1));
  td_mlir_set(m, op, "dimensionsToStream", random_dims(g));
  td_mlir_set(m, op, "dimensionsFromStreamPerConsumer",
              td_mlir_array(m, TD_MLIR_A_DIMS_LIST, each, (size_t)n));
  if (!roll(4)) set_int(m, op, "repeat_count", 1 + roll(255), "i32");
}

/* Acquire, view and release of a FIFO in a block. */
static void add_use(Made *g, TdMlirBlock *b) {
  TdMlir *m = g->m;
  const TdMlirAttr *port = td_mlir_int(m, roll(2), "i32"), *size = td_mlir_int(m, 1, "i32");
  snprintf(name[0], sizeof name[0], "f%d", roll(g->nfifo));
  const TdMlirAttr *fifo = td_mlir_symbol(m, name[0]);
  TdMlirOp *get = add(g, b, "aie.objectfifo.acquire", NULL);
  TdMlirValue *s = td_mlir_result(m, get, "s", g->view);
  TdMlirOp *view = add(g, b, "aie.objectfifo.subview.access", s);
  set_int(m, view, "index", 0, "i32");
  td_mlir_result(m, view, "v", g->memref);
  TdMlirOp *give = add(g, b, "aie.objectfifo.release", NULL);
  for (int i = 0; i < 2; i++) {
    td_mlir_set(m, i ? give : get, "port", port);
    td_mlir_set(m, i ? give : get, "objFifo_name", fifo);
    td_mlir_set(m, i ? give : get, "size", size);
  }
}

/* Loops nested at random, with constants and uses. */
static void add_loops(Made *g, TdMlirBlock *b, TdMlirValue *bound, int depth) {
  for (int i = roll(3); i >= 0; i--) {
    if (depth && roll(2)) {
      TdMlirOp *loop = add(g, b, "scf.for", bound);
      td_mlir_operand(g->m, loop, bound);
      td_mlir_operand(g->m, loop, bound);
      TdMlirBlock *in = td_mlir_block(g->m, td_mlir_region(g->m, loop), NULL);
      td_mlir_argument(g->m, in, "i", g->index);
      add_loops(g, in, bound, depth - 1);
      td_mlir_op(g->m, in, "scf.yield");
    } else
      add_use(g, b);
  }
}

static void add_core(Made *g) {
  static const double odd[] = {0.1, -1.5, 1e300, INFINITY, -INFINITY, NAN, 3.0, 0};
  TdMlir *m = g->m;
  TdMlirOp *core = add(g, g->body, "aie.core", g->tile[roll(g->ntile)]);
  TdMlirBlock *b = td_mlir_block(m, td_mlir_region(m, core), NULL);
  TdMlirOp *one = add(g, b, "arith.constant", NULL), *f = add(g, b, "arith.constant", NULL);
  set_int(m, core, "stack_size", 1024 * (1 + roll(4)), "i32");
  td_mlir_set(m, core, "link_with", td_mlir_string(m, "a \"b\"\\\n\xC3.o", (size_t)roll(11)));
  set_int(m, one, "value", roll(100), "index");
  td_mlir_set(m, f, "value", td_mlir_float(m, odd[roll(8)], "f64"));
  TdMlirValue *v = td_mlir_result(m, one, "c", g->index);
  td_mlir_result(m, f, "c", td_mlir_scalar(m, "f64"));
  add_loops(g, b, v, 3);
  td_mlir_op(m, b, "aie.end");
  td_mlir_result(m, core, "core", g->index);
}

/* A memory with a chain of descriptors that returns to its first. */
static void add_memory(Made *g) {
  TdMlir *m = g->m;
  TdMlirValue *tile = g->tile[roll(g->ntile)];
  TdMlirOp *buffer = add(g, g->body, "aie.buffer", tile), *lock = add(g, g->body, "aie.lock", tile);
  TdMlirValue *data = td_mlir_result(m, buffer, "b", g->memref);
  TdMlirValue *l = td_mlir_result(m, lock, "l", g->index);
  TdMlirOp *mem = add(g, g->body, "aie.mem", tile);
  TdMlirRegion *r = td_mlir_region(m, mem);
  TdMlirBlock *b[6], *first = td_mlir_block(m, r, NULL);
  int n = 1 + roll(4);
  for (int i = 0; i <= n; i++) {
    snprintf(name[1], sizeof name[1], i < n ? "bd%d" : "end", i);
    b[i] = td_mlir_block(m, r, name[1]);
  }
  TdMlirOp *start = add(g, first, "aie.dma_start", NULL);
  set_int(m, start, "channel_dir", roll(2), "i32");
  set_int(m, start, "channel_index", roll(2), "i32");
  td_mlir_successor(m, start, b[0]);
  td_mlir_successor(m, start, b[n]);
  td_mlir_result(m, start, "d", td_mlir_scalar(m, "i1"));
  for (int i = 0; i < n; i++) {
    TdMlirOp *take = add(g, b[i], "aie.use_lock", l), *bd = add(g, b[i], "aie.dma_bd", data);
    set_int(m, take, "action", 1 + roll(2), "i32");
    set_int(m, take, "value", 1, "i32");
    set_int(m, bd, "len", 1 + roll(500), "i32");
    if (roll(2)) td_mlir_set(m, bd, "dimensions", random_dims(g));
    td_mlir_successor(m, add(g, b[i], "aie.next_bd", NULL), b[(i + 1) % n]);
  }
  td_mlir_op(m, b[n], "aie.end");
  td_mlir_result(m, mem, "m", g->index);
}

static void add_sequence(Made *g) {
  static const char *const key[] = {"static_offsets", "static_sizes", "static_strides"};
  TdMlir *m = g->m;
  TdMlirOp *s = add(g, g->body, "aie.runtime_sequence", NULL);
  TdMlirBlock *b = td_mlir_block(m, td_mlir_region(m, s), NULL);
  const TdMlirType *i64 = td_mlir_scalar(m, "i64"), *i32 = td_mlir_scalar(m, "i32");
  TdMlirValue *host = td_mlir_argument(m, b, "A", g->memref);
  int64_t one[] = {1, 0, 0, 0};
  td_mlir_set(m, s, "sym_name", td_mlir_string(m, "sequence", 8));
  for (int i = roll(6); i >= 0; i--) {
    TdMlirOp *op = add(g, b, "aiex.npu.dma_memcpy_nd", host);
    set_int(m, op, "id", roll(16), "i64");
    td_mlir_set(m, op, "metadata", td_mlir_symbol(m, "f0"));
    td_mlir_set(m, op, "operandSegmentSizes", td_mlir_ints(m, TD_MLIR_A_INTS, one, 4, i32));
    for (int k = 0; k < 3; k++) {
      int64_t num[] = {roll(64), roll(1 << 20), roll(1024), roll(1024)};
      td_mlir_set(m, op, key[k], td_mlir_ints(m, TD_MLIR_A_INTS, num, 4, i64));
    }
    if (roll(2)) td_mlir_set(m, op, "issue_token", td_mlir_bool(m, true));
    td_mlir_set(m, add(g, b, "aiex.npu.dma_wait", NULL), "symbol", td_mlir_symbol(m, "f0"));
  }
}

static TdMlir *random_design(TdArena *a) {
  static const char *const element[] = {"i8", "i16", "i32", "bf16", "f32", "ui8", "si16", "f64"};
  Made g = {.m = td_mlir_new(a)};
  TdMlir *m = g.m;
  TdMlirOp *device = td_mlir_op(m, td_mlir_body(m->module), "aie.device");
  int64_t shape[] = {1 + roll(64), 1 + roll(64), 1 + roll(8)};
  set_int(m, device, "device", 4 + roll(5), "i32");
  td_mlir_set(m, device, "sym_name", td_mlir_string(m, "main", 4));
  g.body = td_mlir_block(m, td_mlir_region(m, device), NULL);
  g.index = td_mlir_scalar(m, "index");
  g.memref = td_mlir_shaped(m, TD_MLIR_MEMREF, shape, (size_t)roll(4),
                            td_mlir_scalar(m, element[roll(8)]));
  g.fifo = td_mlir_dialect_type(m, "aie.objectfifo", g.memref);
  g.view = td_mlir_dialect_type(m, "aie.objectfifosubview", g.memref);
  add_tiles(&g);
  for (int i = roll(4); i >= 0; i--) add_fifo(&g);
  for (int i = roll(3); i > 0; i--) add_core(&g);
  for (int i = roll(3); i > 0; i--) add_memory(&g);
  add_sequence(&g);
  td_mlir_op(m, g.body, "aie.end");
  return m;
}

/* ---- tests ---- */

/* Whether both texts of a tree give the tree again, and it the texts. */
static bool returns(TdArena *a, const TdMlir *m) {
  static const TdMlirForm form[] = {TD_MLIR_GENERIC, TD_MLIR_PRETTY};
  bool same = true;
  for (int i = 0; i < 2; i++) {
    TdDiag d;
    const char *text = text_of(a, m, form[i]);
    const TdMlir *again = reread(a, text, &d);
    same = same && again && td_mlir_same(m, again) && strcmp(text, text_of(a, again, form[i])) == 0;
  }
  return same;
}

/* Appends both forms of a tree to two files of mlir-opt's, which splits them; calls look for their
 * function in vain where a device is no symbol table. */
static void append(TdArena *a, FILE *const *f, const TdMlir *m) {
  for (int i = 0; i < 2; i++) {
    const char *s = text_of(a, m, i ? TD_MLIR_CHECK : TD_MLIR_GENERIC), *call;
    for (; !i && (call = strstr(s, "\"func.call\"")); s = call + 11)
      fprintf(f[0], "%.*s\"no.call\"", (int)(call - s), s);
    fprintf(f[i], "%s// -----\n", s);
  }
}

/* Whether mlir-opt takes a file. */
static bool passes(const char *path, const char *flag) {
  char command[1200];
  snprintf(command, sizeof command, "mlir-opt-19 %s --split-input-file %s -o /dev/null", flag,
           path);
  return system(command) == 0;
}

static const char irdl[] = "--irdl-file=tests/npu/aie.irdl.mlir";

static void test_samples(FILE *const *f) {
  static const char *const path[] = {"tests/npu/matmul.mlir", "tests/npu/passthrough.mlir"};
  for (int i = 0; i < 2; i++) {
    TdArena *a = td_arena_new(ctx);
    size_t n;
    TdDiag d;
    const char *text = bytes_of(a, path[i], &n), *body = strchr(text, '\n');
    TdMlir *m = reread(a, text, &d);
    ok(m && returns(a, m), path[i]);
    if (m && body) is_text(text_of(a, m, TD_MLIR_GENERIC), body + 1, "its text is the same again");
    TdMlirForm form = i ? TD_MLIR_PRETTY_1_0 : TD_MLIR_PRETTY; /* the second has a row of v1.0 */
    const char *generic = m ? strstr(text_of(a, m, form), "\"(") : "";
    ok(!generic, "dialect.def spells all of it");
    if (generic) printf("# %.80s\n", generic - 40);
    if (m) append(a, f, m);
    td_arena_free(a);
  }
}

static void test_random(FILE *const *f, int cases) {
  int wrong = 0;
  for (int i = 0; i < cases; i++) {
    TdArena *a = td_arena_new(ctx);
    TdMlir *m = random_design(a);
    wrong += !returns(a, m);
    append(a, f, m);
    td_arena_free(a);
  }
  ok(!wrong, "1,000 random trees are read back from their text");
}

/* Versions spell a sequence and a device each their own way. */
static void test_versions(void) {
  TdArena *a = td_arena_new(ctx);
  size_t n;
  TdDiag d;
  const TdMlir *m = reread(a, bytes_of(a, "tests/npu/passthrough.mlir", &n), &d);
  const char *now = text_of(a, m, TD_MLIR_PRETTY), *then = text_of(a, m, TD_MLIR_PRETTY_1_0);
  ok(strstr(now, " aie.runtime_sequence @") && strstr(now, ") @main {"), "v1.3");
  ok(strstr(then, " aiex.runtime_sequence @") && !strstr(then, "@main"), "v1.0");
  td_arena_free(a);
}

/* Mutations of one byte: an error with a place inside, or a tree that returns. */
static void test_mutations(int cases) {
  int wrong = 0, refused = 0;
  TdArena *all = td_arena_new(ctx);
  size_t n[4];
  TdDiag none;
  const char *text[] = {bytes_of(all, "tests/npu/matmul.mlir", &n[0]),
                        bytes_of(all, "tests/npu/passthrough.mlir", &n[1]), NULL, NULL};
  for (int i = 0; i < 2; i++) {
    text[i + 2] = text_of(all, reread(all, text[i], &none), TD_MLIR_PRETTY);
    n[i + 2] = strlen(text[i + 2]);
  }
  for (int i = 0; i < cases; i++) {
    static const char mark[] = "(){}[]<>%^@#!\"\\:=,.-0x9a \n";
    TdArena *a = td_arena_new(ctx);
    TdDiag d = {.arena = a};
    char *s = td_arena_strndup(a, text[i % 4], n[i % 4]);
    size_t length = roll(8) ? n[i % 4] : (size_t)roll((int)n[i % 4]);
    for (int k = roll(3); k >= 0; k--) s[roll((int)n[i % 4])] = mark[roll((int)sizeof mark)];
    TdMlir *m = td_mlir_read(a, 1, s, length, &d);
    refused += !m;
    wrong += m ? !returns(a, m) : !d.message || d.loc.line < 1 || d.loc.col < 1;
    td_arena_free(a);
  }
  ok(!wrong && refused > cases / 4, "mutated texts are refused with their place, or return");
  td_arena_free(all);
}

/* A refused text, where and why; its twin is accepted. */
static void refuses(const char *text, uint32_t line, uint16_t col, const char *why,
                    const char *twin) {
  TdArena *a = td_arena_new(ctx);
  TdDiag d = {.arena = a};
  bool refused = !td_mlir_read(a, 1, text, strlen(text), &d) && strcmp(d.code, "mlir-text") == 0;
  ok(refused && d.loc.line == line && d.loc.col == col && strcmp(d.message, why) == 0, why);
  if (refused) printf("# %u:%u: %s\n", d.loc.line, d.loc.col, d.message);
  ok(reread(a, twin, &d) != NULL, "its twin is read");
  td_arena_free(a);
}

static void test_refused(void) {
  refuses("\"m\"() ({\n  \"a\"(%x) : (i8) -> ()\n}) : () -> ()", 2, 7,
          "%x is not defined before it is used",
          "\"m\"() ({\n  %x = \"b\"() : () -> i8\n  \"a\"(%x) : (i8) -> ()\n}) : () -> ()");
  refuses("\"m\"() ({\n^b:\n  \"a\"()[^c] : () -> ()\n}) : () -> ()", 3, 3,
          "no block ^c in this region", "\"m\"() ({\n^b:\n  \"a\"()[^b] : () -> ()\n}) : () -> ()");
  refuses("module {\n  %t = aie.tile(0, 9 : i32)\n}", 2, 22, "expected ')'",
          "module {\n  %t = aie.tile(0, 9)\n}");
  refuses("module {\n  aie.tyle(0, 1)\n}", 2, 3,
          "'aie.tyle' is no operation that dialect v1.3 spells so", "module {\n  aie.end\n}");
  refuses("module {\n  aie.device(npu9) {\n}}", 2, 14, "'npu9' is no device",
          "module {\n  aie.device(npu2) {\n}}");
  refuses("module {\n  aie.tile(0, 1)\n}", 2, 3, "aie.tile gives one result",
          "module {\n  %t = aie.tile(0, 1)\n}");
  refuses("\"m\"() <{a = 300 : i8}> : () -> ()", 1, 13, "a number that its type i8 does not hold",
          "\"m\"() <{a = 255 : i8}> : () -> ()");
  refuses("\"m\"() <{a = 1, a = 2}> : () -> ()", 1, 18, "a is set twice",
          "\"m\"() <{a = 1, b = 2}> : () -> ()");
  refuses("\"m\"() <{a = dense<[1, 2]> : tensor<3xi8>}> : () -> ()", 1, 41,
          "elements that are not of this type",
          "\"m\"() <{a = dense<[1, 2]> : tensor<2xi8>}> : () -> ()");
}

/* What signatures do not allow fails, or mlir-opt would tell us nothing. */
static void test_opt(void) {
  TdArena *a = td_arena_new(ctx);
  size_t n;
  const char *text = bytes_of(a, "tests/npu/matmul.mlir", &n);
  static const char *const broken[][2] = {{"id = 3 : i64", "id = 17 : i64"},
                                          {"sym_name = \"inB\"", "sym_name = \"inA\""},
                                          {"port = 1 : i32, ", ""}};
  for (int i = 0; i < 3; i++) {
    TdText t = td_text_new(a);
    TdDiag d;
    const char *at = strstr(text, broken[i][0]);
    td_text_putn(&t, text, (size_t)(at - text));
    td_text_putf(&t, "%s%s", broken[i][1], at + strlen(broken[i][0]));
    FILE *f = fopen(name[3], "w");
    fputs(text_of(a, reread(a, td_text_str(&t), &d), TD_MLIR_CHECK), f);
    fclose(f);
    strcat(name[3], " 2>/dev/null");
    ok(!passes(name[3], irdl), broken[i][0]);
    *strchr(name[3], ' ') = 0;
  }
  td_arena_free(a);
}

int main(void) {
  FILE *f[2];
  const char *dir = getenv("TMPDIR");
  for (int i = 0; i < 4; i++)
    snprintf(name[i], sizeof name[i], "%.480s/mlir%d-%d", dir ? dir : "/tmp", (int)getpid(), i);
  char path[2][sizeof name[0]];
  for (int i = 0; i < 2; i++) f[i] = fopen(memcpy(path[i], name[i + 2], sizeof path[i]), "w");
  ctx = td_ctx_new();
  test_refused();
  test_versions();
  test_samples(f);
  test_random(f, 1000);
  for (int i = 0; i < 2; i++) fclose(f[i]);
  test_mutations(4000);
  if (system("command -v mlir-opt-19 >/dev/null")) {
    printf("ok %d - mlir-opt-19 # SKIP no tool: mlir-opt-19\n", ++tap_tests);
  } else {
    ok(passes(path[0], "--allow-unregistered-dialect"), "mlir-opt reads the texts");
    ok(passes(path[1], irdl), "mlir-opt finds the signatures right");
    test_opt();
  }
  for (int i = 0; i < 2; i++) remove(path[i]);
  td_ctx_free(ctx);
  return done_testing();
}
