/* fit.c - a module around a top with few pins: its inputs are a chain of registers that is shifted
 * in, its outputs are caught in registers and shifted out, so that paths run between registers. */
#include <inttypes.h>

#include "backends/verilog/tool/ask.h"

typedef struct Fit {
  TdArena *arena;
  TdText connect;
  int64_t in, out; /* bits so far */
} Fit;

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

/* The ports of an array's banks. */
static void put_array(Fit *f, const TdVlogArray *x) {
  int w = address_bits(x);
  for (int64_t b = 0; b < x->nbank; b++) {
    const char *n = td_vunit_bank(f->arena, x, b);
    for (size_t i = 0; i < x->reads[b]; i++) {
      put_pin(f, td_vunit_pin(f->arena, n, "raddr", i), x->copies * w, false);
      put_pin(f, td_vunit_pin(f->arena, n, "q", i), x->copies * x->width, true);
      if (x->latency) put_pin(f, td_vunit_pin(f->arena, n, "re", i), x->copies, false);
    }
    for (size_t i = 0; i < x->writes[b]; i++) {
      put_pin(f, td_vunit_pin(f->arena, n, "we", i), x->copies, false);
      put_pin(f, td_vunit_pin(f->arena, n, "waddr", i), x->copies * w, false);
      put_pin(f, td_vunit_pin(f->arena, n, "d", i), x->copies * x->width, false);
    }
  }
}

const char *td_fit_module(TdArena *a, const TdVlogModule *top) {
  Fit f = {.arena = a, .connect = td_text_new(a)};
  put_pin(&f, "rst", 1, true);
  put_pin(&f, "start", 1, true);
  put_pin(&f, "busy", 1, false);
  for (size_t i = 0; i < top->ninput; i++)
    put_pin(&f, top->input[i].name, top->input[i].width, true);
  for (size_t i = 0; i < top->narray; i++) put_array(&f, &top->array[i]);
  return td_text_fmt(a,
                     "// %s between registers, for its clock: pins are shifted in and out.\n"
                     "module tide_fit (input wire clk, input wire next, input wire in, input wire "
                     "show, output wire out);\n"
                     "  reg [%" PRId64 ":0] held;\n"
                     "  wire [%" PRId64 ":0] said;\n"
                     "  reg [%" PRId64 ":0] caught;\n"
                     "  assign out = caught[0];\n"
                     "  always @(posedge clk) begin\n"
                     "    if (next) held <= {held, in};\n"
                     "    caught <= show ? said : caught >> 1;\n"
                     "  end\n"
                     "  %s top (.clk(clk)%s);\n"
                     "endmodule\n",
                     top->name, f.in - 1, f.out - 1, f.out - 1, top->name, td_text_str(&f.connect));
}
