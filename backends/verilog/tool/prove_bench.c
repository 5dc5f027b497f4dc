/* prove_bench.c - a top between memories of any content and the reference. */
#include <inttypes.h>

#include "backends/verilog/tool/prove.h"

enum { MOST_WORDS = 2048 };

typedef struct Bench {
  TdArena *arena;
  const TdVlogModule *top;
  TdText decl, body, connect;
  int64_t words;
} Bench;

static int address_bits(const TdVlogArray *x) {
  int w = 1;
  while (w < 62 && (x->depth - 1) >> w) w++;
  return w;
}

/* The name of word `at` of copy c of the bank called `bank`. */
static const char *word(Bench *b, const TdVlogArray *x, const char *bank, int64_t c, int64_t at) {
  return td_text_fmt(b->arena, "%s_mem[%" PRId64 "]", bank, c * x->depth + at);
}

/* Element number `n` of what the arguments hold at first. */
static const char *first(Bench *b, const TdVlogArray *x, int64_t n) {
  return td_text_fmt(b->arena, "%s_first[%" PRId64 " +: %d]", x->sym->name, n * x->width, x->width);
}

static const TdType *type_of(const Bench *b, TdSym sym) {
  const TdUnit *u = b->top->unit;
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].sym == sym) return u->param[i].type;
  return NULL;
}

/* The number, row-major, of the argument's element that element `index` of copy c is; -1: none. */
static int64_t element(const Bench *b, const TdVlogArray *x, int64_t c, const int64_t *index) {
  const TdType *t = type_of(b, x->sym);
  int64_t n = 0;
  for (int d = 0; d < x->rank; d++) {
    int64_t at = index[d] + x->lo[c * x->rank + d], extent = 1;
    if (!td_unit_value(b->top->unit, t->dim[d], &extent) || at < 0 || at >= extent) return -1;
    n = n * extent + at;
  }
  return n;
}

static bool next_index(const TdVlogArray *x, int64_t *index) {
  for (int d = x->rank; d-- > 0; index[d] = 0)
    if (++index[d] < x->extent[d]) return true;
  return false;
}

/* What the words hold before the start. */
static void put_load(Bench *b, const TdVlogArray *x) {
  for (int64_t c = 0; c < x->copies; c++) {
    int64_t index[TD_MAX_RANK] = {0}, bank, at;
    const TdType *e = x->state ? td_type_scalar(x->state->type) : NULL;
    const char *from = x->state ? x->state->data : NULL;
    do {
      td_verilog_locate(x, index, &bank, &at);
      const char *n = td_vunit_bank(b->arena, x, bank);
      int64_t k = e ? -1 : element(b, x, c, index);
      if (e) {
        td_text_putf(&b->body, "    if (rst) %s <= %d'h%" PRIx64 ";\n", word(b, x, n, c, at),
                     x->width, td_num_word(e, td_num_load(e, from)));
        from += td_type_bytes(e);
      } else if (k >= 0) {
        td_text_putf(&b->body, "    if (rst) %s <= %s;\n", word(b, x, n, c, at), first(b, x, k));
      }
      b->words++;
    } while (next_index(x, index));
  }
}

/* A wire of n parts, connected by its name. */
static const char *put_wire(Bench *b, const char *name, int64_t bits) {
  td_text_putf(&b->decl, "  wire [%" PRId64 ":0] %s;\n", bits - 1, name);
  td_text_putf(&b->connect, ",\n    .%s(%s)", name, name);
  return name;
}

/* A bank of all copies and its ports; the writes go to the body of a clocked block. */
static void put_bank(Bench *b, const TdVlogArray *x, int64_t bank, TdText *reads) {
  TdArena *a = b->arena;
  const char *n = td_vunit_bank(a, x, bank);
  int w = address_bits(x);
  td_text_putf(&b->decl, "  reg [%d:0] %s_mem [0:%" PRId64 "];\n", x->width - 1, n,
               x->copies * x->depth - 1);
  for (size_t i = 0; i < x->reads[bank]; i++) {
    const char *at = put_wire(b, td_vunit_pin(a, n, "raddr", i), x->copies * w);
    const char *q = put_wire(b, td_vunit_pin(a, n, "q", i), x->copies * x->width);
    const char *re = x->latency ? put_wire(b, td_vunit_pin(a, n, "re", i), x->copies) : NULL;
    for (int64_t c = 0; c < x->copies; c++) {
      const char *said = td_text_fmt(a, "%s_%" PRId64 "_said", q, c);
      const char *place = td_text_fmt(a, "%s_mem[%" PRId64 " + %s[%" PRId64 " +: %d]]", n,
                                      c * x->depth, at, c * w, w);
      if (re)
        td_text_putf(reads,
                     "  reg [%d:0] %s;\n  always @(posedge clk) if (%s[%" PRId64 "]) %s <= %s;\n",
                     x->width - 1, said, re, c, said, place);
      else
        td_text_putf(reads, "  wire [%d:0] %s = %s;\n", x->width - 1, said, place);
      td_text_putf(reads, "  assign %s[%" PRId64 " +: %d] = %s;\n", q, c * x->width, x->width,
                   said);
    }
  }
  for (size_t i = 0; i < x->writes[bank]; i++) {
    const char *we = put_wire(b, td_vunit_pin(a, n, "we", i), x->copies);
    const char *at = put_wire(b, td_vunit_pin(a, n, "waddr", i), x->copies * w);
    const char *d = put_wire(b, td_vunit_pin(a, n, "d", i), x->copies * x->width);
    for (int64_t c = 0; c < x->copies; c++)
      td_text_putf(&b->body,
                   "    if (!rst && %s[%" PRId64 "]) %s_mem[%" PRId64 " + %s[%" PRId64
                   " +: %d]] <= %s[%" PRId64 " +: %d];\n",
                   we, c, n, c * x->depth, at, c * w, w, d, c * x->width, x->width);
  }
}

/* Has the sum of what copies changed be compared: `now` is element k of argument x, at the end. */
static void put_compare(Bench *b, const TdVlogArray *x, TdText *out) {
  for (int64_t c = 0; c < x->copies; c++) {
    int64_t index[TD_MAX_RANK] = {0}, bank, at;
    do {
      td_verilog_locate(x, index, &bank, &at);
      int64_t k = element(b, x, c, index);
      const char *n = td_vunit_bank(b->arena, x, bank);
      if (k < 0 || !x->writes[bank]) continue;
      td_text_putf(out, "    if (%s != %s) %s_now[%" PRId64 " +: %d] = %s;\n", word(b, x, n, c, at),
                   first(b, x, k), x->sym->name, k * x->width, x->width, word(b, x, n, c, at));
    } while (next_index(x, index));
  }
}

/* The arguments: what they hold at first, now, and by the reference. */
static void put_arguments(Bench *b, TdText *reference, TdText *now, TdText *check) {
  const TdUnit *u = b->top->unit;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = u->param[i].type, *e = td_type_scalar(t);
    const char *n = u->param[i].sym->name;
    int64_t count = 1, extent;
    for (int d = 0; d < t->rank; d++)
      if (td_unit_value(u, t->dim[d], &extent)) count *= extent;
    int64_t top = count * e->w - 1;
    td_text_putf(&b->decl, "  (* anyconst *) reg [%" PRId64 ":0] %s_first;\n", top, n);
    td_text_putf(reference, "%s.%s(%s_first)", i ? ", " : "", n, n);
    if (t->kind != TD_T_TENSOR) continue;
    td_text_putf(&b->decl, "  reg [%" PRId64 ":0] %s_now;\n  wire [%" PRId64 ":0] %s_last;\n", top,
                 n, top, n);
    td_text_putf(reference, ", .%s_last(%s_last)", n, n);
    td_text_putf(now, "    %s_now = %s_first;\n", n, n);
    for (size_t k = 0; k < b->top->narray; k++)
      if (b->top->array[k].sym == u->param[i].sym) put_compare(b, &b->top->array[k], now);
    td_text_putf(check, "    if (done) assert(%s_now == %s_last);\n", n, n);
  }
}

const char *td_prove_bench(TdArena *a, const TdVlogModule *top, int64_t most) {
  Bench b = {.arena = a, .top = top};
  b.decl = td_text_new(a);
  b.body = td_text_new(a);
  b.connect = td_text_new(a);
  TdText reads = td_text_new(a), reference = td_text_new(a), now = td_text_new(a),
         check = td_text_new(a);
  for (size_t i = 0; i < top->ninput; i++)
    td_text_putf(&b.connect, ",\n    .%s(%s_first[%d:0])", top->input[i].name,
                 top->input[i].sym->name, top->input[i].width - 1);
  for (size_t i = 0; i < top->narray; i++) put_load(&b, &top->array[i]);
  if (b.words > MOST_WORDS) return NULL;
  for (size_t i = 0; i < top->narray; i++)
    for (int64_t k = 0; k < top->array[i].nbank; k++) put_bank(&b, &top->array[i], k, &reads);
  put_arguments(&b, &reference, &now, &check);
  return td_text_fmt(a,
                     "// %s from reset, on memories of any content, beside the reference.\n"
                     "module tide_prove (input wire clk);\n"
                     "  reg [31:0] step = 0;\n"
                     "  always @(posedge clk) step <= step + 1;\n"
                     "  wire rst = step == 0, start = step == 1, busy, done = step > 2 && !busy;\n"
                     "%s%s"
                     "  tide_reference reference (%s);\n"
                     "  %s top (.clk(clk), .rst(rst), .start(start), .busy(busy)%s);\n"
                     "  always @(posedge clk) begin\n%s  end\n"
                     "  always @* begin\n%s%s"
                     "`ifdef TIDE_ENDS\n"
                     "    if (step == %" PRId64 ") assert(done);\n"
                     "`endif\n"
                     "  end\n"
                     "endmodule\n",
                     top->name, td_text_str(&b.decl), td_text_str(&reads), td_text_str(&reference),
                     top->name, td_text_str(&b.connect), td_text_str(&b.body), td_text_str(&now),
                     td_text_str(&check), most);
}
