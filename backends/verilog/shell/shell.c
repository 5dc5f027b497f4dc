/* shell.c - what stands around a top whose pins are not a memory's: clock and reset by the names
 * that are asked for; arrays in memories of their own, filled from AXI4-Stream before the start and
 * sent after the end, element by element, row-major; ends of streams as AXI4-Stream, whose valid
 * never waits for ready. A word of a memory has a bit more, which tells that the call wrote it: of
 * several instances' copies of an element that one is sent. */
#include <inttypes.h>
#include <string.h>

#include "backends/verilog/vname.h"
#include "backends/verilog/shell/shell.h"

typedef struct Shell {
  const TdShell *o;
  TdArena *arena;
  const TdVlogModule *core;
  TdText pins, body, connect;
  TdText loaded, sent,
      quiet; /* whether all that comes in is there; is sent; nothing is on its way */
  TD_VEC(TdVlogArray) array; /* as they are outside */
  TD_VEC(TdVlogArray) state; /* inside */
  TdText fills;              /* whether they fill */
  TdDiag *diag;
} Shell;

static bool refuse(Shell *s, const char *name, const char *what) {
  td_diag_set(s->diag, TD_UNSUPPORTED, "not-built", s->core->unit->loc,
              "interface = \"%s\" of '%s' is not built: %s", s->o->interface, name, what);
  td_diag_help(s->diag, "interface = \"ram\"");
  return false;
}

int64_t td_shell_bytes(int width) {
  int64_t n = 1;
  while (n * 8 < width) n *= 2;
  return n;
}

static int bits_below(int64_t n) {
  int w = 1;
  while (w < 62 && (n - 1) >> w) w++;
  return w;
}

/* A pin of the core: a wire, connected. */
static const char *wire(Shell *s, const char *name, int64_t bits) {
  td_text_line(&s->body, "wire [%" PRId64 ":0] %s;", bits - 1, name);
  td_text_putf(&s->connect, ",\n    .%s(%s)", name, name);
  return name;
}

/* A pin of the shell itself. */
static void pin(Shell *s, bool out, int64_t bits, const char *name) {
  td_text_putf(&s->pins, ",\n  %s wire [%" PRId64 ":0] %s", out ? "output" : "input ", bits - 1,
               name);
}

void td_shell_loop(TdText *o, int64_t count, const char *n, const char *what) {
  const char *i = td_text_fmt(o->arena, "%s_%s_i", n, what);
  td_text_line(o, "genvar %s;", i);
  td_text_line(o, "generate for (%s = 0; %s < %" PRId64 "; %s = %s + 1) begin : %s_%s", i, i, count,
               i, i, n, what);
  td_text_line(o, "  localparam G = %s;", i);
}

/* ---- arrays ---- */

/* Where the element that is loaded or sent lies in copy number G of array x: bank and place. */
static void put_place(Shell *s, const TdVlogArray *x, const char *arg) {
  TdText bank = td_text_new(s->arena), at = td_text_new(s->arena), in = td_text_new(s->arena);
  int64_t stride = 1, weight = 1;
  for (int d = x->rank; d-- > 0;) {
    int64_t n = x->banks[d], each = (x->extent[d] + n - 1) / n;
    TdText lo = td_text_new(s->arena);
    for (int64_t c = x->copies; c-- > 0;)
      td_text_putf(&lo, "32'd%" PRId64 "%s", x->lo[c * x->rank + d], c ? ", " : "");
    td_text_line(&s->body, "  localparam [%" PRId64 ":0] LO%d = {%s};", x->copies * 32 - 1, d,
                 td_text_str(&lo));
    td_text_line(&s->body, "  wire [31:0] j%d = %s_%d - LO%d[G*32 +: 32];", d, arg, d, d);
    const char *div = x->block[d] ? "%" : "/", *mod = x->block[d] ? "/" : "%";
    int64_t by = x->block[d] ? each : n;
    td_text_putf(&bank, "%sj%d %s 32'd%" PRId64 " * 32'd%" PRId64, bank.n ? " + " : "", d, mod, by,
                 stride);
    td_text_putf(&at, "%sj%d %s 32'd%" PRId64 " * 32'd%" PRId64, at.n ? " + " : "", d, div, by,
                 weight);
    td_text_putf(&in, " && j%d < 32'd%" PRId64, d, x->extent[d]);
    stride *= n;
    weight *= each;
  }
  td_text_line(&s->body, "  wire [31:0] bank = %s;", bank.n ? td_text_str(&bank) : "0");
  td_text_line(&s->body, "  wire [31:0] place = %s;", at.n ? td_text_str(&at) : "0");
  td_text_line(&s->body, "  wire held = 1'b1%s;", td_text_str(&in));
}

/* The pins of ports of bank n as one word, from the highest port down; `own` in place of port 0. */
static const char *ports(Shell *s, const char *n, const char *what, size_t count, int64_t bits,
                         const char *own) {
  TdText t = td_text_new(s->arena);
  td_text_puts(&t, "{");
  for (size_t i = count; i-- > 1;)
    td_text_putf(&t, "%s[G*%" PRId64 " +: %" PRId64 "], ", td_vunit_pin(s->arena, n, what, i), bits,
                 bits);
  td_text_putf(&t, "%s}", own);
  return td_text_str(&t);
}

/* What port 0 is given: the shell's own while it has the memory, else the core's. */
static const char *either(Shell *s, const char *when, const char *own, const char *pin_name,
                          bool has, int64_t bits) {
  const char *none = td_text_fmt(s->arena, "{%" PRId64 "{1'b0}}", bits);
  const char *core =
      td_text_fmt(s->arena, "%s[G*%" PRId64 " +: %" PRId64 "]", pin_name, bits, bits);
  return td_text_fmt(s->arena, "%s ? %s : %s", when, own, has ? core : none);
}

/* The words that ports write, each marked as written by the call. */
static const char *written(Shell *s, const char *n, size_t count, int w, const char *arg) {
  TdText t = td_text_new(s->arena);
  td_text_puts(&t, "{");
  for (size_t i = count; i-- > 1;)
    td_text_putf(&t, "1'b1, %s[G*%d +: %d], ", td_vunit_pin(s->arena, n, "d", i), w, w);
  const char *core = td_text_fmt(s->arena, "{1'b1, %s_d[G*%d +: %d]}", n, w, w);
  td_text_putf(&t, "tide_loading ? {1'b0, %s_in_tdata[%d:0]} : %s}", arg, w - 1,
               count ? core : td_text_fmt(s->arena, "{%d{1'b0}}", w + 1));
  return td_text_str(&t);
}

/* Bank number b of array x: a memory for each copy. */
static void put_bank(Shell *s, const TdVlogArray *x, int64_t b, const char *arg) {
  TdArena *a = s->arena;
  const char *n = td_vunit_bank(a, x, b);
  int aw = bits_below(x->depth), w = x->width;
  size_t r = x->reads[b], k = x->writes[b], reads = r ? r : 1, writes = k ? k : 1;
  int64_t c = x->copies;
  for (size_t i = 0; i < r; i++) {
    wire(s, td_vunit_pin(a, n, "re", i), c);
    wire(s, td_vunit_pin(a, n, "raddr", i), c * aw);
    wire(s, td_vunit_pin(a, n, "q", i), c * w);
  }
  for (size_t i = 0; i < k; i++) {
    wire(s, td_vunit_pin(a, n, "we", i), c);
    wire(s, td_vunit_pin(a, n, "waddr", i), c * aw);
    wire(s, td_vunit_pin(a, n, "d", i), c * w);
  }
  TdText *o = &s->body;
  td_text_line(o, "wire [%" PRId64 ":0] %s_here;", c - 1, n);
  td_text_line(o, "wire [%" PRId64 ":0] %s_word;", c * (w + 1) - 1, n);
  td_shell_loop(o, c, n, "at");
  put_place(s, x, arg);
  td_text_line(o, "  wire hit = held && bank == 32'd%" PRId64 ";", b);
  td_text_line(o, "  wire [%zu:0] q;", reads * (size_t)(w + 1) - 1);
  td_text_line(o, "  assign %s_here[G] = hit;", n);
  td_text_line(o, "  assign %s_word[G*%d +: %d] = q[%d:0];", n, w + 1, w + 1, w);
  for (size_t i = 0; i < r; i++)
    td_text_line(o, "  assign %s[G*%d +: %d] = q[%zu +: %d];", td_vunit_pin(a, n, "q", i), w, w,
                 i * (size_t)(w + 1), w);
  const char *own = td_text_fmt(a, "place[%d:0]", aw - 1);
  td_text_line(o, "  tide_ram #(.W(%d), .D(%" PRId64 "), .A(%d), .R(%zu), .N(%zu)) ram (.clk(clk),",
               w + 1, x->depth, aw, reads, writes);
  td_text_line(o, "      .re(%s),",
               ports(s, n, "re", r, 1,
                     either(s, "tide_sending", "1'b1", td_vunit_pin(a, n, "re", 0), r, 1)));
  td_text_line(o, "      .raddr(%s),",
               ports(s, n, "raddr", r, aw,
                     either(s, "tide_sending", own, td_vunit_pin(a, n, "raddr", 0), r, aw)));
  td_text_line(o, "      .q(q),");
  const char *takes = td_text_fmt(a, "hit && %s_in_tvalid && %s_in_tready", arg, arg);
  td_text_line(
      o, "      .we(%s),",
      ports(s, n, "we", k, 1, either(s, "tide_loading", takes, td_vunit_pin(a, n, "we", 0), k, 1)));
  td_text_line(o, "      .waddr(%s),",
               ports(s, n, "waddr", k, aw,
                     either(s, "tide_loading", own, td_vunit_pin(a, n, "waddr", 0), k, aw)));
  td_text_line(o, "      .d(%s));", written(s, n, k, w, arg));
  td_text_line(o, "  wire unused_ok = &{1'b0, place, q, %s_here, %s_word};", n, n);
  td_text_line(o, "end endgenerate");
}

/* The element that is sent: of the copies that hold it one that the call wrote, if any. */
static void put_choice(Shell *s, const TdVlogArray *out, const char *arg, TdSym sym) {
  TdText *o = &s->body;
  int w = out->width;
  td_text_line(o, "reg [%d:0] %s_value;", w, arg);
  td_text_line(o, "reg %s_found;", arg);
  td_text_line(o, "always @* begin : %s_choice", arg);
  td_text_line(o, "  integer c;");
  td_text_line(o, "  %s_value = 0;", arg);
  td_text_line(o, "  %s_found = 1'b0;", arg);
  for (size_t i = 0; i < s->core->narray; i++) {
    const TdVlogArray *x = &s->core->array[i];
    for (int64_t b = 0; b < x->nbank && x->sym == sym; b++) {
      const char *n = td_vunit_bank(s->arena, x, b);
      const char *word = td_text_fmt(s->arena, "%s_word[c*%d +: %d]", n, w + 1, w + 1);
      td_text_line(o, "  for (c = 0; c < %" PRId64 "; c = c + 1)", x->copies);
      td_text_line(
          o, "    if (%s_here[c] && !%s_value[%d] && (!%s_found || %s_word[c*%d + %d])) begin", n,
          arg, w, arg, n, w + 1, w);
      td_text_line(o, "      %s_value = %s;", arg, word);
      td_text_line(o, "      %s_found = 1'b1;", arg);
      td_text_line(o, "    end");
    }
  }
  td_text_line(o, "end");
}

/* Counters over the elements of an argument; its pins; when it is loaded, and sent. */
static void put_counters(Shell *s, const TdVlogArray *x, const char *n, bool sends) {
  TdText *o = &s->body;
  int64_t bits = 8 * td_shell_bytes(x->width);
  pin(s, false, bits, td_text_fmt(s->arena, "%s_in_tdata", n));
  td_text_putf(&s->pins, ",\n  input  wire %s_in_tvalid,\n  output wire %s_in_tready", n, n);
  if (sends) {
    pin(s, true, bits, td_text_fmt(s->arena, "%s_out_tdata", n));
    td_text_putf(&s->pins, ",\n  output wire %s_out_tvalid,\n  input  wire %s_out_tready", n, n);
    td_text_putf(&s->pins, ",\n  output wire %s_out_tlast", n);
  }
  for (int d = 0; d < x->rank; d++) td_text_line(o, "reg [31:0] %s_%d;", n, d);
  td_text_line(o, "reg %s_over;", n);
  if (sends) td_text_line(o, "reg %s_there;", n);
  TdText last = td_text_new(s->arena);
  for (int d = 0; d < x->rank; d++)
    td_text_putf(&last, " && %s_%d == 32'd%" PRId64, n, d, x->extent[d] - 1);
  td_text_line(o, "wire %s_last = 1'b1%s;", n, td_text_str(&last));
  td_text_line(o, "wire %s_unused_ok = &{1'b0, %s_in_tdata};", n, n);
  td_text_line(o, "assign %s_in_tready = tide_loading && !%s_over;", n, n);
  const char *sent = "1'b0";
  if (sends) {
    td_text_line(o, "assign %s_out_tvalid = tide_sending && !%s_over && %s_there;", n, n, n);
    td_text_line(o, "assign %s_out_tlast = %s_last;", n, n);
    sent = td_text_fmt(s->arena, "%s_out_tvalid && %s_out_tready", n, n);
  }
  td_text_line(o, "wire %s_moves = (%s_in_tvalid && %s_in_tready) || (%s);", n, n, n, sent);
  td_text_line(o, "always @(posedge clk) begin");
  if (sends) td_text_line(o, "  %s_there <= tide_sending && !%s_moves;", n, n);
  td_text_line(o, "  if (rst || tide_turns) begin");
  for (int d = 0; d < x->rank; d++) td_text_line(o, "    %s_%d <= 0;", n, d);
  td_text_line(o, "    %s_over <= 1'b0;", n);
  td_text_line(o, "  end else if (%s_moves) begin", n);
  td_text_line(o, "    %s_over <= %s_last;", n, n);
  TdText carry = td_text_new(s->arena);
  for (int d = x->rank; d-- > 0;) {
    td_text_line(o, "    %s%s_%d <= %s_%d == 32'd%" PRId64 " ? 0 : %s_%d + 1;", td_text_str(&carry),
                 n, d, n, d, x->extent[d] - 1, n, d);
    td_text_putf(&carry, "if (%s_%d == 32'd%" PRId64 ") ", n, d, x->extent[d] - 1);
  }
  td_text_line(o, "  end");
  td_text_line(o, "end");
  td_text_putf(&s->loaded, " && %s_over", n);
  if (sends) td_text_putf(&s->sent, " && %s_over", n);
}

/* An argument as it is outside: one bank, row-major. */
static TdVlogArray outside(Shell *s, const TdVlogArray *x, const TdParam *p) {
  TdVlogArray o = {
      .sym = x->sym, .name = td_vname_plain(s->arena, p->sym->name), .width = x->width};
  o.latency = 1;
  o.depth = o.nbank = o.copies = 1;
  o.rank = x->rank;
  o.reads = TD_NEWN(s->arena, size_t, 1);
  o.writes = TD_NEWN(s->arena, size_t, 1);
  o.lo = TD_NEWN(s->arena, int64_t, TD_MAX_RANK);
  for (int d = 0; d < x->rank; d++) {
    o.extent[d] = x->extent[d];
    td_unit_value(s->core->unit, p->type->dim[d], &o.extent[d]);
    o.banks[d] = 1;
    o.depth *= o.extent[d];
  }
  return o;
}

/* All memories of an argument, and what fills and sends it. */
static bool put_argument(Shell *s, size_t first) {
  const TdVlogArray *x = &s->core->array[first];
  const TdParam *p = td_unit_param(s->core->unit, x->sym);
  if (x->width > 64) return refuse(s, x->name, "its elements have more than 64 bits");
  TdVlogArray out = outside(s, x, p);
  for (size_t i = first; i < s->core->narray; i++)
    for (int64_t b = 0; b < s->core->array[i].nbank && s->core->array[i].sym == x->sym; b++)
      *out.writes += s->core->array[i].writes[b];
  td_vec_push(s->arena, &s->array, out);
  put_counters(s, &out, out.name, *out.writes > 0);
  for (size_t i = first; i < s->core->narray; i++) {
    const TdVlogArray *y = &s->core->array[i];
    if (y->sym == x->sym && y->latency != 1)
      return refuse(s, x->name, "reads of it do not take one cycle");
    for (int64_t b = 0; b < y->nbank && y->sym == x->sym; b++) put_bank(s, y, b, out.name);
  }
  if (!*out.writes) return true;
  put_choice(s, &out, out.name, x->sym);
  td_text_line(&s->body, "assign %s_out_tdata = %" PRId64 "'(%s_value[%d:0]);", out.name,
               8 * td_shell_bytes(x->width), out.name, x->width - 1);
  return true;
}

/* ---- streams ---- */

/* An end of streams as AXI4-Stream: what comes out waits in a FIFO, so that valid asks nobody. */
static void put_port(Shell *s, const TdVlogPort *p) {
  TdArena *a = s->arena;
  TdText *o = &s->body;
  const char *n = p->name;
  int64_t bits = 8 * ((p->width + 7) / 8);
  wire(s, td_text_fmt(a, p->put ? "%s_put" : "%s_take", n), p->count);
  wire(s, td_text_fmt(a, p->put ? "%s_room" : "%s_valid", n), p->count);
  wire(s, td_text_fmt(a, "%s_data", n), p->count * p->width);
  pin(s, p->put, p->count, td_text_fmt(a, "%s_tvalid", n));
  pin(s, !p->put, p->count, td_text_fmt(a, "%s_tready", n));
  pin(s, p->put, p->count * bits, td_text_fmt(a, "%s_tdata", n));
  td_shell_loop(o, p->count, n, "end");
  if (p->put) {
    td_text_line(o, "  wire [%d:0] token;", p->width - 1);
    td_text_line(o, "  tide_fifo #(.W(%d), .D(2)) fifo (.clk(clk), .rst(rst),", p->width);
    td_text_line(o, "      .put(%s_put[G]), .room(%s_room[G]), .in(%s_data[G*%d +: %d]),", n, n, n,
                 p->width, p->width);
    td_text_line(o,
                 "      .valid(%s_tvalid[G]), .take(%s_tvalid[G] && %s_tready[G]), .out(token));",
                 n, n, n);
    td_text_line(o, "  assign %s_tdata[G*%" PRId64 " +: %" PRId64 "] = %" PRId64 "'(token);", n,
                 bits, bits, bits);
    td_text_putf(&s->quiet, " && !(|%s_tvalid)", n);
  } else {
    td_text_line(o, "  assign %s_valid[G] = %s_tvalid[G] && tide_running;", n, n);
    td_text_line(o, "  assign %s_tready[G] = %s_take[G];", n, n);
    td_text_line(o, "  assign %s_data[G*%d +: %d] = %s_tdata[G*%" PRId64 " +: %d];", n, p->width,
                 p->width, n, bits, p->width);
  }
  td_text_line(o, "end endgenerate");
}

/* ---- the module ---- */

/* What the phases are: one after the other, each until it is over. */
static void put_phases(Shell *s) {
  TdText *o = &s->body;
  td_text_line(o, "// idle, arrays come in, the call runs, arrays go out");
  td_text_line(o, "reg [1:0] tide_phase;");
  td_text_line(o, "reg tide_first;");
  td_text_line(o, "wire tide_loading = tide_phase == 2'd1, tide_running = tide_phase == 2'd2, "
                  "tide_sending = tide_phase == 2'd3;");
  td_text_line(o, "wire core_busy;");
  td_text_line(o, "wire core_start = tide_running && tide_first;");
  td_text_line(
      o, "wire tide_turns = (tide_loading && tide_loaded) || (tide_phase == 2'd0 && start) ||");
  td_text_line(o, "    (tide_running && !tide_first && !core_busy && tide_quiet) || (tide_sending "
                  "&& tide_sent);");
  td_text_line(o, "always @(posedge clk) begin");
  td_text_line(o, "  if (rst) tide_phase <= 2'd0;");
  td_text_line(o, "  else if (tide_turns) tide_phase <= tide_phase + 2'd1;");
  td_text_line(o, "  tide_first <= tide_turns && tide_loading;");
  td_text_line(o, "  if (rst || core_start) cycles <= 0;");
  td_text_line(o, "  else if (core_busy) cycles <= cycles + 64'd1;");
  td_text_line(o, "end");
  td_text_puts(o, "`ifdef TIDE_EVENTS\n");
  td_text_line(o, "always @(posedge clk) if (core_start) $display(\"start %%0d\", $time);");
  td_text_puts(o, "`endif\n");
}

/* The pins of a memory's interface, handed on. */
static void put_through(Shell *s) {
  const TdVlogModule *m = s->core;
  for (size_t i = 0; i < m->narray; i++) {
    const TdVlogArray *x = &m->array[i];
    if (x->state) continue;
    td_vec_push(s->arena, &s->array, *x);
    const struct {
      const char *word;
      int64_t bits;
      bool out;
    } way[] = {{"re", 1, true}, {"raddr", bits_below(x->depth), true}, {"q", x->width, false},
               {"we", 1, true}, {"waddr", bits_below(x->depth), true}, {"d", x->width, true}};
    for (int64_t b = 0; b < x->nbank; b++)
      for (int k = x->latency ? 0 : 1; k < 6; k++)
        for (size_t j = 0; j < (k < 3 ? x->reads[b] : x->writes[b]); j++) {
          const char *n = td_vunit_pin(s->arena, td_vunit_bank(s->arena, x, b), way[k].word, j);
          pin(s, way[k].out, way[k].bits * x->copies, n);
          td_text_putf(&s->connect, ",\n    .%s(%s)", n, n);
        }
  }
  for (size_t i = 0; i < m->nport; i++) {
    const TdVlogPort *p = &m->port[i];
    const char *const word[] = {p->put ? "put" : "take", p->put ? "room" : "valid", "data"};
    for (int k = 0; k < 3; k++) {
      const char *n = td_text_fmt(s->arena, "%s_%s", p->name, word[k]);
      pin(s, k == 0 || (k == 2 && p->put), p->count * (k == 2 ? p->width : 1), n);
      td_text_putf(&s->connect, ",\n    .%s(%s)", n, n);
    }
  }
}

/* What runs the core by itself between memories. */
static bool put_stream(Shell *s) {
  const TdVlogModule *m = s->core;
  td_text_puts(&s->pins, ",\n  output reg [63:0] cycles");
  td_text_line(&s->body, "wire tide_loaded, tide_sent, tide_quiet;");
  put_phases(s);
  for (size_t i = 0; i < m->narray; i++) {
    size_t first = 0;
    while (m->array[first].sym != m->array[i].sym) first++;
    if (first == i && !m->array[i].state && !put_argument(s, i)) return false;
  }
  for (size_t i = 0; i < m->nport; i++) put_port(s, &m->port[i]);
  td_text_line(&s->body, "assign tide_loaded = 1'b1%s;", td_text_str(&s->loaded));
  td_text_line(&s->body, "assign tide_sent = 1'b1%s;", td_text_str(&s->sent));
  td_text_line(&s->body, "assign tide_quiet = 1'b1%s;", td_text_str(&s->quiet));
  return true;
}

/* The states' memories; busy while they fill. Where the top is the memory's own interface, tells
 * when it starts. */
static void put_states(Shell *s, const char *busy, bool tells) {
  for (size_t i = 0; i < s->core->narray; i++) {
    if (!s->core->array[i].state) continue;
    td_vec_push(s->arena, &s->state, s->core->array[i]);
    td_inside_put(&s->core->array[i], &s->body, &s->connect, &s->fills);
  }
  td_text_line(&s->body, "assign busy = %s%s;", busy, td_text_str(&s->fills));
  if (!tells) return;
  td_text_puts(&s->body, "`ifdef TIDE_EVENTS\n");
  td_text_line(&s->body, "always @(posedge clk) if (start) $display(\"start %%0d\", $time);");
  td_text_puts(&s->body, "`endif\n");
}

bool td_shell_is_low(const char *reset) {
  size_t n = strlen(reset);
  return n > 2 && strcmp(reset + n - 2, "_n") == 0;
}

const TdVlogModule *td_shell_module(TdArena *a, const TdShell *o, const TdVlogModule *core,
                                    TdDiag *d) {
  Shell s = {.o = o, .arena = a, .core = core, .diag = d};
  TdText *const text[] = {&s.pins, &s.body, &s.connect, &s.loaded, &s.sent, &s.quiet, &s.fills};
  for (size_t i = 0; i < sizeof text / sizeof *text; i++) *text[i] = td_text_new(a);
  s.body.indent = 1;
  bool ram = strcmp(o->interface, "ram") == 0;
  for (size_t i = 0; i < core->ninput; i++) {
    const TdVlogInput *x = &core->input[i];
    pin(&s, false, x->width, x->name);
    td_text_putf(&s.connect, ",\n    .%s(%s)", x->name, x->name);
  }
  if (ram) {
    td_text_line(&s.body, "wire core_busy;");
    put_through(&s);
  } else if (!put_stream(&s)) {
    return NULL;
  }
  put_states(&s, ram ? "core_busy" : "tide_phase != 2'd0", ram);
  TdVlogModule *out = td_arena_copy(a, core, sizeof *core);
  bool low = td_shell_is_low(o->reset);
  TdText t = td_text_new(a);
  td_text_putf(&t,
               "// %s: %s, interface \"%s\"\nmodule %s (\n  input  wire %s,\n  input  wire %s,\n",
               o->name, core->name, o->interface, o->name, o->clock, o->reset);
  td_text_putf(&t, "  input  wire start,\n  output wire busy%s\n);\n", td_text_str(&s.pins));
  if (strcmp(o->clock, "clk") != 0) td_text_putf(&t, "  wire clk = %s;\n", o->clock);
  if (strcmp(o->reset, "rst") != 0)
    td_text_putf(&t, "  wire rst = %s%s;\n", low ? "~" : "", o->reset);
  td_text_putf(&t,
               "%s  %s core (.clk(clk), .rst(rst), .start(%s), .busy(core_busy)%s);\n"
               "endmodule\n",
               td_text_str(&s.body), core->name, ram ? "start" : "core_start",
               td_text_str(&s.connect));
  out->name = o->name;
  out->text = td_text_str(&t);
  out->array = s.array.at;
  out->narray = s.array.n;
  out->state = s.state.at;
  out->nstate = s.state.n;
  return out;
}
