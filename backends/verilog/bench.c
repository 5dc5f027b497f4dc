/* bench.c - what stands around a top module when it runs: memories filled from files and written
 * back, a start, a count of cycles. Plain Verilog that Icarus and Verilator run alike. */
#include <inttypes.h>

#include "backends/verilog/verilog.h"

void td_verilog_locate(const TdVlogArray *x, const int64_t *index, int64_t *bank, int64_t *at) {
  int64_t weight = 1, stride = 1;
  *bank = *at = 0;
  for (int d = x->rank; d-- > 0;) {
    int64_t each = (x->extent[d] + x->banks[d] - 1) / x->banks[d];
    int64_t b = x->block[d] ? index[d] / each : index[d] % x->banks[d];
    int64_t o = x->block[d] ? index[d] % each : index[d] / x->banks[d];
    *bank += b * stride;
    *at += o * weight;
    stride *= x->banks[d];
    weight *= each;
  }
}

static int bits_below(int64_t n) {
  int w = 1;
  while (w < 62 && (n - 1) >> w) w++;
  return w;
}

/* "A", or "A_3" where there are more banks. */
static const char *bank_name(TdArena *a, const TdVlogArray *x, int64_t b) {
  return x->nbank > 1 ? td_text_fmt(a, "%s_%" PRId64, x->name, b) : x->name;
}

static const char *port(TdArena *a, const char *bank, const char *what, size_t i) {
  return i ? td_text_fmt(a, "%s_%s%zu", bank, what, i) : td_text_fmt(a, "%s_%s", bank, what);
}

typedef struct Bench {
  TdArena *arena;
  TdText decl, body, read, write, connect;
} Bench;

/* A bank, its ports, and how they act. */
static void put_bank(Bench *t, const TdVlogArray *x, int64_t b) {
  const char *n = bank_name(t->arena, x, b);
  int w = bits_below(x->depth);
  td_text_putf(&t->decl, "  reg [%d:0] %s_mem [0:%" PRId64 "];\n", x->width - 1, n, x->depth - 1);
  td_text_putf(&t->read, "    $readmemh($sformatf(\"%%s/%s.hex\", dir), %s_mem);\n", n, n);
  for (size_t i = 0; i < x->reads[b]; i++) {
    const char *q = port(t->arena, n, "q", i), *addr = port(t->arena, n, "raddr", i);
    const char *re = port(t->arena, n, "re", i);
    td_text_putf(&t->decl, "  wire [%d:0] %s;\n", w - 1, addr);
    td_text_putf(&t->connect, ",\n    .%s(%s), .%s(%s)", addr, addr, q, q);
    if (x->latency) {
      td_text_putf(&t->decl, "  wire %s;\n  reg [%d:0] %s;\n", re, x->width - 1, q);
      td_text_putf(&t->connect, ", .%s(%s)", re, re);
      td_text_putf(&t->body, "  always @(posedge clk) if (%s) %s <= %s_mem[%s];\n", re, q, n, addr);
    } else {
      td_text_putf(&t->decl, "  wire [%d:0] %s = %s_mem[%s];\n", x->width - 1, q, n, addr);
    }
  }
  for (size_t i = 0; i < x->writes[b]; i++) {
    const char *d = port(t->arena, n, "d", i), *addr = port(t->arena, n, "waddr", i);
    const char *we = port(t->arena, n, "we", i);
    td_text_putf(&t->decl, "  wire %s;\n  wire [%d:0] %s;\n  wire [%d:0] %s;\n", we, w - 1, addr,
                 x->width - 1, d);
    td_text_putf(&t->connect, ",\n    .%s(%s), .%s(%s), .%s(%s)", we, we, addr, addr, d, d);
    td_text_putf(&t->body, "  always @(posedge clk) if (%s) %s_mem[%s] <= %s;\n", we, n, addr, d);
  }
  if (x->writes[b])
    td_text_putf(&t->write, "      $writememh($sformatf(\"%%s/%s.out\", dir), %s_mem);\n", n, n);
}

/* A scalar argument. */
static void put_scalar(Bench *t, const TdParam *p) {
  const char *n = p->sym->name;
  td_text_putf(&t->decl, "  reg [%d:0] %s_arg [0:0];\n", (int)p->type->w - 1, n);
  td_text_putf(&t->read, "    $readmemh($sformatf(\"%%s/%s.hex\", dir), %s_arg);\n", n, n);
  td_text_putf(&t->connect, ",\n    .%s(%s_arg[0])", n, n);
}

const char *td_verilog_bench(TdArena *a, const TdVlogModule *top) {
  Bench t = {.arena = a};
  TdText out = td_text_new(a);
  t.decl = td_text_new(a);
  t.body = td_text_new(a);
  t.read = td_text_new(a);
  t.write = td_text_new(a);
  t.connect = td_text_new(a);
  for (size_t i = 0; i < top->unit->nparam; i++)
    if (top->unit->param[i].type->kind != TD_T_TENSOR) put_scalar(&t, &top->unit->param[i]);
  for (size_t i = 0; i < top->narray; i++)
    for (int64_t b = 0; b < top->array[i].nbank; b++) put_bank(&t, &top->array[i], b);
  td_text_putf(&out,
               "// A bench for %s: run with +dir=FOLDER, which holds a file of hexadecimal words\n"
               "// for each memory; what is written comes back as .out, the cycles as cycles.\n"
               "module bench (input wire clk);\n"
               "  reg [31:0] now = 0;\n"
               "  reg [63:0] cycles = 0;\n"
               "  reg rst = 1, start = 0;\n"
               "  wire busy;\n"
               "  string dir;\n"
               "  integer file;\n"
               "%s%s"
               "  %s dut (.clk(clk), .rst(rst), .start(start), .busy(busy)%s);\n"
               "  initial begin\n"
               "    if ($value$plusargs(\"dir=%%s\", dir) == 0) dir = \".\";\n"
               "%s"
               "  end\n"
               "  always @(posedge clk) begin\n"
               "    now <= now + 1;\n"
               "    rst <= now < 2;\n"
               "    start <= now == 3;\n"
               "    if (busy && now > 4) cycles <= cycles + 1;\n"
               "    if (now > 5 && !busy) begin\n"
               "      file = $fopen($sformatf(\"%%s/cycles\", dir), \"w\");\n"
               "      $fdisplay(file, \"%%0d\", cycles);\n"
               "      $fclose(file);\n"
               "%s"
               "      $finish;\n"
               "    end\n"
               "  end\n"
               "endmodule\n"
               "\n"
               "`ifdef TIDE_CLOCK\n"
               "// The same with a clock of its own.\n"
               "module clocked;\n"
               "  reg clk = 0;\n"
               "  always #1 clk = !clk;\n"
               "  bench run (.clk(clk));\n"
               "endmodule\n"
               "`endif\n",
               top->name, td_text_str(&t.decl), td_text_str(&t.body), top->name,
               td_text_str(&t.connect), td_text_str(&t.read), td_text_str(&t.write));
  return td_text_str(&out);
}
