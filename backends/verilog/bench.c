/* bench.c - what stands around a top module when it runs: memories filled from files and written
 * back, a start, a count of cycles. Plain Verilog that Icarus and Verilator run alike. */
#include <inttypes.h>

#include <string.h>

#include "backends/verilog/verilog.h"
#include "backends/verilog/shell/shell.h"

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

typedef struct Bench {
  TdArena *arena;
  TdText decl, body, read, write, connect;
  TdText load; /* before the start, of calls after the first */
  bool bus;    /* the top's arrays and ends are on a bus */
} Bench;

/* A wire of so many bits for each copy, connected by its name. */
static const char *put_wire(Bench *t, const char *name, int64_t bits, const char *kind) {
  td_text_putf(&t->decl, "  %s [%" PRId64 ":0] %s;\n", kind, bits - 1, name);
  td_text_putf(&t->connect, ",\n    .%s(%s)", name, name);
  return name;
}

/* A bank of all copies, its ports, and how they act. */
static void put_bank(Bench *t, const TdVlogArray *x, int64_t b) {
  TdArena *a = t->arena;
  const char *n = td_vunit_bank(a, x, b);
  int w = bits_below(x->depth);
  int64_t c = x->copies;
  td_text_putf(&t->decl, "  reg [%d:0] %s_mem [0:%" PRId64 "];\n", x->width - 1, n,
               c * x->depth - 1);
  td_text_putf(&t->read, "    $readmemh($sformatf(\"%%s/%s.hex\", dir), %s_mem);\n", n, n);
  td_text_putf(&t->body,
               "  genvar %s_i;\n"
               "  generate for (%s_i = 0; %s_i < %" PRId64 "; %s_i = %s_i + 1) begin : %s_at\n",
               n, n, n, c, n, n, n);
  for (size_t i = 0; i < x->reads[b]; i++) {
    const char *addr = put_wire(t, td_vunit_pin(a, n, "raddr", i), c * w, "wire");
    const char *place = td_text_fmt(a, "%s_mem[%s_i*%" PRId64 " + 32'(%s[%s_i*%d +: %d])]", n, n,
                                    x->depth, addr, n, w, w);
    const char *q =
        put_wire(t, td_vunit_pin(a, n, "q", i), c * x->width, x->latency ? "reg" : "wire");
    const char *part = td_text_fmt(a, "%s[%s_i*%d +: %d]", q, n, x->width, x->width);
    if (x->latency > 1) {
      const char *re = put_wire(t, td_vunit_pin(a, n, "re", i), c, "wire");
      const char *way = td_text_fmt(a, "way%zu", i);
      td_text_putf(&t->body,
                   "    reg [%d:0] %s;\n"
                   "    wire [%d:0] %s_first = %s[%s_i] ? %s : %s[%d:0];\n"
                   "    always @(posedge clk) {%s, %s} <= {%s, %s_first};\n",
                   x->width * (x->latency - 1) - 1, way, x->width - 1, way, re, n, place, way,
                   x->width - 1, part, way, way, way);
    } else if (x->latency) {
      const char *re = put_wire(t, td_vunit_pin(a, n, "re", i), c, "wire");
      td_text_putf(&t->body, "    always @(posedge clk) if (%s[%s_i]) %s <= %s;\n", re, n, part,
                   place);
    } else {
      td_text_putf(&t->body, "    assign %s = %s;\n", part, place);
    }
  }
  if (x->writes[b]) td_text_puts(&t->body, "    always @(posedge clk) begin\n");
  for (size_t i = 0; i < x->writes[b]; i++) {
    const char *we = put_wire(t, td_vunit_pin(a, n, "we", i), c, "wire");
    const char *addr = put_wire(t, td_vunit_pin(a, n, "waddr", i), c * w, "wire");
    const char *d = put_wire(t, td_vunit_pin(a, n, "d", i), c * x->width, "wire");
    td_text_putf(&t->body,
                 "      if (%s[%s_i])\n"
                 "        %s_mem[%s_i*%" PRId64
                 " + 32'(%s[%s_i*%d +: %d])] <= %s[%s_i*%d +: %d];\n",
                 we, n, n, n, x->depth, addr, n, w, w, d, n, x->width, x->width);
  }
  if (x->writes[b]) td_text_puts(&t->body, "    end\n");
  td_text_puts(&t->body, "  end endgenerate\n");
  if (x->writes[b])
    td_text_putf(&t->write, "      $writememh($sformatf(\"%%s/%s.out\", dir), %s_mem);\n", n, n);
}

/* A scalar argument. */
static void put_scalar(Bench *t, const TdVlogInput *p) {
  const char *n = p->name;
  td_text_putf(&t->decl, "  reg [%d:0] %s_arg [0:0];\n", p->width - 1, n);
  td_text_putf(&t->read, "    $readmemh($sformatf(\"%%s/%s.hex\", dir), %s_arg);\n", n, n);
  td_text_putf(&t->connect, ",\n    .%s(%s_arg[0])", n, n);
}

/* An end of streams: a file for each says from which cycle on a token may move, and of those that
 * come in what they are; the cycles in which they do are written to another. On a bus valid and
 * ready are told at all times, and a token moves where both are. Verilator forgets a file that
 * nothing but $fscanf reads, so a run that hangs tells its number. */
static void put_end(Bench *t, const TdVlogPort *p) {
  TdArena *a = t->arena;
  const char *n = p->name;
  int64_t bits = t->bus ? 8 * ((p->width + 7) / 8) : p->width;
  const char *theirs = t->bus ? p->put ? "tvalid" : "tready" : p->put ? "put" : "take";
  const char *own = t->bus ? p->put ? "tready" : "tvalid" : p->put ? "room" : "valid";
  const char *data = td_text_fmt(a, t->bus ? "%s_tdata" : "%s_data", n);
  put_wire(t, td_text_fmt(a, "%s_%s", n, theirs), p->count, "wire");
  put_wire(t, td_text_fmt(a, "%s_%s", n, own), p->count, "wire");
  put_wire(t, data, p->count * bits, "wire");
  td_text_putf(&t->body,
               "  genvar %s_i;\n"
               "  generate for (%s_i = 0; %s_i < %" PRId64 "; %s_i = %s_i + 1) begin : %s_end\n"
               "    reg [63:0] from = 0, at;\n"
               "    reg [%d:0] token = 0, next;\n"
               "    reg have = %d;\n"
               "    integer ready, moved, found;\n"
               "    wire moves = %s_%s[%s_i]%s;\n",
               n, n, n, p->count, n, n, n, p->width - 1, p->put, n, theirs, n,
               t->bus ? td_text_fmt(a, " && %s_%s[%s_i]", n, own, n) : "");
  td_text_putf(&t->body, "    assign %s_%s[%s_i] = have && cycles >= from%s;\n", n, own, n,
               t->bus && p->put ? " && chance[2]" : "");
  if (!p->put)
    td_text_putf(&t->body,
                 "    assign %s[%s_i*%" PRId64 " +: %" PRId64 "] = %" PRId64 "'(token);\n", data, n,
                 bits, bits, bits);
  td_text_putf(&t->body,
               "    always @(posedge clk) if (now == 0) begin\n"
               "      ready = $fopen($sformatf(\"%%s/%s_%%0d.ready\", dir, %s_i), \"r\");\n"
               "      moved = $fopen($sformatf(\"%%s/%s_%%0d.moved\", dir, %s_i), \"w\");\n"
               "    end\n"
               "    always @(posedge clk) begin\n"
               "      if (now == most) $display(\"open: %%0d\", ready);\n"
               "      if (now == 1 || moves) begin\n",
               n, n, n, n);
  if (p->put)
    td_text_puts(&t->body, "        found = $fscanf(ready, \"%d\", at);\n"
                           "        from <= found == 1 ? at : 0;\n");
  else
    td_text_puts(&t->body, "        found = $fscanf(ready, \"%d %h\", at, next);\n"
                           "        have <= found == 2;\n"
                           "        from <= at;\n"
                           "        token <= next;\n");
  td_text_putf(&t->body,
               "      end\n"
               "      if (moves) $fwrite(moved, \"%%0d %%h\\n\", cycles, %s[%s_i*%" PRId64
               " +: %d]);\n"
               "    end\n"
               "  end endgenerate\n",
               data, n, bits, p->width);
}

/* A bank of a state inside the top: what an earlier call left goes in, what is there comes out. */
static void put_state(Bench *t, const TdVlogArray *x, int64_t b) {
  const char *n = td_vunit_bank(t->arena, x, b);
  td_text_putf(&t->decl, "  reg [%d:0] %s_mem [0:%" PRId64 "];\n", x->width - 1, n,
               x->copies * x->depth - 1);
  td_text_putf(&t->load, "      $readmemh($sformatf(\"%%s/%s.hex\", dir), %s_mem);\n", n, n);
  td_inside_peek(t->arena, x, b, true, &t->load);
  td_inside_peek(t->arena, x, b, false, &t->write);
  td_text_putf(&t->write, "      $writememh($sformatf(\"%%s/%s.out\", dir), %s_mem);\n", n, n);
}

/* An array behind AXI4-Stream: its elements come and go with pauses; valid stays until ready. */
static void put_flow(Bench *t, const TdVlogArray *x) {
  TdArena *a = t->arena;
  const char *n = x->name;
  int64_t bits = 8 * td_shell_bytes(x->width);
  td_text_putf(&t->decl, "  reg [%d:0] %s_mem [0:%" PRId64 "];\n", x->width - 1, n, x->depth - 1);
  td_text_putf(&t->read, "    $readmemh($sformatf(\"%%s/%s.hex\", dir), %s_mem);\n", n, n);
  put_wire(t, td_text_fmt(a, "%s_in_tdata", n), bits, "wire");
  put_wire(t, td_text_fmt(a, "%s_in_tvalid", n), 1, "wire");
  put_wire(t, td_text_fmt(a, "%s_in_tready", n), 1, "wire");
  td_text_putf(&t->body,
               "  reg [63:0] %s_sent = 0, %s_got = 0;\n"
               "  reg %s_offer = 0;\n"
               "  assign %s_in_tvalid = %s_offer;\n"
               "  assign %s_in_tdata = %" PRId64 "'(%s_mem[32'(%s_sent)]);\n"
               "  always @(posedge clk) begin\n"
               "    %s_offer <= (%s_offer && !%s_in_tready) || (chance[0] && begun[0] &&\n"
               "        %s_sent + 64'(%s_offer) < %" PRId64 ");\n"
               "    if (%s_in_tvalid && %s_in_tready) %s_sent <= %s_sent + 1;\n"
               "  end\n",
               n, n, n, n, n, n, bits, n, n, n, n, n, n, n, x->depth, n, n, n, n);
  if (!*x->writes) return;
  put_wire(t, td_text_fmt(a, "%s_out_tdata", n), bits, "wire");
  put_wire(t, td_text_fmt(a, "%s_out_tvalid", n), 1, "wire");
  put_wire(t, td_text_fmt(a, "%s_out_tready", n), 1, "wire");
  put_wire(t, td_text_fmt(a, "%s_out_tlast", n), 1, "wire");
  td_text_putf(&t->body,
               "  assign %s_out_tready = chance[1];\n"
               "  always @(posedge clk) if (%s_out_tvalid && %s_out_tready) begin\n"
               "    %s_mem[32'(%s_got)] <= %s_out_tdata[%d:0];\n"
               "    %s_got <= %s_got + 1;\n"
               "    if (%s_out_tlast != (%s_got == %" PRId64 ")) $display(\"tlast of %s\");\n"
               "  end\n",
               n, n, n, n, n, n, x->width - 1, n, n, n, n, x->depth - 1, n);
  td_text_putf(&t->write, "      $writememh($sformatf(\"%%s/%s.out\", dir), %s_mem);\n", n, n);
}

/* Arrays and scalars. */
static Bench open_bench(TdArena *a, const TdVlogModule *top, bool bus) {
  Bench t = {.arena = a, .bus = bus};
  t.decl = td_text_new(a);
  t.body = td_text_new(a);
  t.read = td_text_new(a);
  t.write = td_text_new(a);
  t.connect = td_text_new(a);
  t.load = td_text_new(a);
  for (size_t i = 0; i < top->ninput; i++) put_scalar(&t, &top->input[i]);
  for (size_t i = 0; i < top->narray && t.bus; i++) put_flow(&t, &top->array[i]);
  for (size_t i = 0; i < top->narray && !t.bus; i++)
    for (int64_t b = 0; b < top->array[i].nbank; b++) put_bank(&t, &top->array[i], b);
  for (size_t i = 0; i < top->nstate; i++)
    for (int64_t b = 0; b < top->state[i].nbank; b++) put_state(&t, &top->state[i], b);
  return t;
}

TdVlogPins td_verilog_bench_pins(TdArena *a, const TdVlogModule *top) {
  Bench t = open_bench(a, top, false);
  return (TdVlogPins){td_text_str(&t.decl), td_text_str(&t.body), td_text_str(&t.read),
                      td_text_str(&t.write), td_text_str(&t.connect)};
}

const char *td_verilog_bench(TdArena *a, const TdVlogModule *top, const TdShell *o) {
  Bench t = open_bench(a, top, strcmp(o->interface, "ram") != 0);
  TdText out = td_text_new(a);
  for (size_t i = 0; i < top->nport; i++) put_end(&t, &top->port[i]);
  td_text_putf(&out,
               "// A bench for %s: run with +dir=FOLDER, which holds a file of hexadecimal words\n"
               "// for each memory; what is written comes back as .out, the cycles as cycles.\n"
               "module bench (input wire clk);\n"
               "  reg [63:0] now = 0, most = 64'd1 << 40;\n"
               "  %s [63:0] cycles%s;\n"
               "  reg [15:0] chance = 16'hace1;\n"
               "  reg rst = 1, start = 0;\n"
               "  reg [2:0] begun = 0; // the start was so many cycles ago\n"
               "  wire busy;\n"
               "  wire go = now > 2 && !begun[0] && !busy;\n"
               "  string dir;\n"
               "  integer file, k;\n"
               "%s%s"
               "  %s dut (.%s(clk), .%s(%srst), .start(start), .busy(busy)%s%s);\n"
               "  initial begin\n"
               "    if ($value$plusargs(\"dir=%%s\", dir) == 0) dir = \".\";\n"
               "    if ($value$plusargs(\"most=%%d\", most) == 0) most = 64'd1 << 40;\n"
               "  end\n"
               "  always @(posedge clk) begin\n"
               "    now <= now + 1;\n"
               "    chance <= {chance[14:0], ^(chance & 16'hb400)};\n"
               "    if (now == most) begin\n"
               "      $display(\"hang\");\n"
               "      $finish;\n"
               "    end\n"
               "    rst <= now < 2;\n"
               "    start <= go;\n"
               "    begun <= {begun[1:0], begun[0] || go};\n"
               "    if (now == 2) begin // what registers hold before reset may write to memories\n"
               "%s"
               "    end\n"
               "%s"
               "    if (go && $test$plusargs(\"later\") != 0) begin\n"
               "%s"
               "    end\n"
               "    if (begun[2] && !busy) begin\n"
               "      file = $fopen($sformatf(\"%%s/cycles\", dir), \"w\");\n"
               "      $fdisplay(file, \"%%0d\", cycles);\n"
               "      $fclose(file);\n"
               "%s"
               "      $finish;\n"
               "    end\n"
               "  end\n"
               "endmodule\n"
               "%s",
               top->name, t.bus ? "wire" : "reg", t.bus ? "" : " = 0", td_text_str(&t.decl),
               td_text_str(&t.body), top->name, o->clock, o->reset,
               td_shell_is_low(o->reset) ? "!" : "", t.bus ? ", .cycles(cycles)" : "",
               td_text_str(&t.connect), td_text_str(&t.read),
               t.bus ? "" : "    if (busy && begun[1]) cycles <= cycles + 1;\n",
               td_text_str(&t.load), td_text_str(&t.write), td_verilog_library_clock);
  return td_text_str(&out);
}
