/* fit.c - a module around a top with few pins: its inputs are a chain of registers that is shifted
 * in, its outputs are caught in registers and shifted out, so that paths run between registers.
 * Banks with one writer are memories here, as long as they are not too large. */
#include <inttypes.h>

#include "backends/verilog/tool/ask.h"

typedef struct Fit {
  TdArena *arena;
  TdText decl, body, connect;
  int64_t in, out; /* bits so far */
  int64_t room;    /* bits that memories may still have */
} Fit;

enum { MOST_BITS = 100000 };

static void put_pin(Fit *f, const char *name, int64_t bits, bool input) {
  int64_t *at = input ? &f->in : &f->out;
  td_text_putf(&f->connect, ",\n    .%s(%s[%" PRId64 " +: %" PRId64 "])", name,
               input ? "held" : "said", *at, bits);
  *at += bits;
}

static int address_bits(const TdVlogArray *x) {
  int w = 1;
  while (w < 62 && (x->depth - 1) >> w) w++;
  return w;
}

/* A wire between the top and a memory. */
static void put_wire(Fit *f, const char *name, int64_t bits) {
  td_text_putf(&f->decl, "  wire [%" PRId64 ":0] %s;\n", bits - 1, name);
  td_text_putf(&f->connect, ",\n    .%s(%s)", name, name);
}

/* The pin `what` of ports n - 1 .. 0, one behind the other. */
static const char *all_ports(Fit *f, const char *bank, const char *what, size_t n) {
  TdText t = td_text_new(f->arena);
  for (size_t i = n; i-- > 0;)
    td_text_putf(&t, "%s%s", td_vunit_pin(f->arena, bank, what, i), i ? ", " : "");
  return td_text_str(&t);
}

/* A bit range of the chain. */
static const char *chain(Fit *f, int64_t bits) {
  f->in += bits;
  return td_text_fmt(f->arena, "held[%" PRId64 " +: %" PRId64 "]", f->in - bits, bits);
}

/* The bank as a memory: what the top does not write comes of the chain, what it writes is caught,
 * or nothing would need it. */
static void put_memory(Fit *f, const TdVlogArray *x, const char *n, size_t reads, bool writes) {
  int w = address_bits(x);
  for (size_t i = 0; i < reads; i++) {
    put_wire(f, td_vunit_pin(f->arena, n, "raddr", i), w);
    put_wire(f, td_vunit_pin(f->arena, n, "q", i), x->width);
    put_wire(f, td_vunit_pin(f->arena, n, "re", i), 1);
  }
  if (writes) {
    put_wire(f, td_vunit_pin(f->arena, n, "we", 0), 1);
    put_wire(f, td_vunit_pin(f->arena, n, "waddr", 0), w);
    put_wire(f, td_vunit_pin(f->arena, n, "d", 0), x->width);
  }
  const char *we = writes ? td_vunit_pin(f->arena, n, "we", 0) : chain(f, 1);
  const char *at = writes ? td_vunit_pin(f->arena, n, "waddr", 0) : chain(f, w);
  const char *d = writes ? td_vunit_pin(f->arena, n, "d", 0) : chain(f, x->width);
  td_text_putf(&f->body,
               "  tide_ram #(.W(%d), .D(%" PRId64 "), .A(%d), .R(%zu), .N(1)) %s_memory (\n"
               "    .clk(clk), .we(%s), .waddr(%s), .d(%s),\n",
               x->width, x->depth, w, reads ? reads : 1, n, we, at, d);
  if (reads)
    td_text_putf(&f->body, "    .re({%s}), .raddr({%s}), .q({%s}));\n",
                 all_ports(f, n, "re", reads), all_ports(f, n, "raddr", reads),
                 all_ports(f, n, "q", reads));
  else
    td_text_putf(&f->body, "    .re(1'b1), .raddr(%s), .q(said[%" PRId64 " +: %d]));\n",
                 chain(f, w), f->out, x->width);
  if (reads && writes)
    td_text_putf(&f->body, "  assign said[%" PRId64 " +: %d] = %s;\n", f->out, x->width,
                 td_vunit_pin(f->arena, n, "q", 0));
  f->out += reads && !writes ? 0 : x->width;
}

/* The same as pins. */
static void put_pins(Fit *f, const TdVlogArray *x, const char *n, size_t reads, size_t writes) {
  int w = address_bits(x);
  for (size_t i = 0; i < reads; i++) {
    put_pin(f, td_vunit_pin(f->arena, n, "raddr", i), x->copies * w, false);
    put_pin(f, td_vunit_pin(f->arena, n, "q", i), x->copies * x->width, true);
    if (x->latency) put_pin(f, td_vunit_pin(f->arena, n, "re", i), x->copies, false);
  }
  for (size_t i = 0; i < writes; i++) {
    put_pin(f, td_vunit_pin(f->arena, n, "we", i), x->copies, false);
    put_pin(f, td_vunit_pin(f->arena, n, "waddr", i), x->copies * w, false);
    put_pin(f, td_vunit_pin(f->arena, n, "d", i), x->copies * x->width, false);
  }
}

/* The banks of an array. */
static void put_array(Fit *f, const TdVlogArray *x) {
  for (int64_t b = 0; b < x->nbank; b++) {
    const char *n = td_vunit_bank(f->arena, x, b);
    int64_t bits = x->depth * x->width;
    if (x->latency && x->copies == 1 && x->writes[b] <= 1 && bits <= f->room) {
      put_memory(f, x, n, x->reads[b], x->writes[b] == 1);
      f->room -= bits;
    } else {
      put_pins(f, x, n, x->reads[b], x->writes[b]);
    }
  }
}

/* The end of a stream. */
static void put_end(Fit *f, const TdVlogPort *p) {
  bool put = p->put;
  put_pin(f, td_text_fmt(f->arena, put ? "%s_room" : "%s_valid", p->name), p->count, true);
  put_pin(f, td_text_fmt(f->arena, put ? "%s_put" : "%s_take", p->name), p->count, false);
  put_pin(f, td_text_fmt(f->arena, "%s_data", p->name), p->count * p->width, !put);
}

const char *td_fit_module(TdArena *a, const TdVlogModule *top) {
  Fit f = {.arena = a, .room = MOST_BITS};
  f.decl = td_text_new(a);
  f.body = td_text_new(a);
  f.connect = td_text_new(a);
  put_pin(&f, "rst", 1, true);
  put_pin(&f, "start", 1, true);
  put_pin(&f, "busy", 1, false);
  for (size_t i = 0; i < top->ninput; i++)
    put_pin(&f, top->input[i].name, top->input[i].width, true);
  for (size_t i = 0; i < top->narray; i++) put_array(&f, &top->array[i]);
  for (size_t i = 0; i < top->nport; i++) put_end(&f, &top->port[i]);
  return td_text_fmt(a,
                     "// %s between registers, for its clock: pins are shifted in and out.\n"
                     "module tide_fit (input wire clk, input wire next, input wire in, input wire "
                     "show, output wire out);\n"
                     "  reg [%" PRId64 ":0] held;\n"
                     "  wire [%" PRId64 ":0] said;\n"
                     "  reg [%" PRId64 ":0] caught;\n"
                     "  assign out = caught[0];\n%s%s"
                     "  always @(posedge clk) begin\n"
                     "    if (next) held <= {held, in};\n"
                     "    caught <= show ? said : caught >> 1;\n"
                     "  end\n"
                     "  %s top (.clk(clk)%s);\n"
                     "endmodule\n",
                     top->name, f.in - 1, f.out - 1, f.out - 1, td_text_str(&f.decl),
                     td_text_str(&f.body), top->name, td_text_str(&f.connect));
}
