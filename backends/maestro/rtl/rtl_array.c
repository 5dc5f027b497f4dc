/* rtl_array.c - the text of the array and its quantiser. rtl.c gives parameters. */
#include "backends/maestro/rtl/rtl.h"

#include <string.h>

#include "backends/verilog/verilog.h"
#include "ir/num/float.h"

const char *const td_maestro_rtl_array[] = {
    "// An output-stationary array: two stages of registers, products into accumulators, results "
    "to the\n"
    "// writer of sums or through the quantiser. A word of A has M rows of K, one of B N columns "
    "of K.\n"
    "module tide_dm_array #(parameter M = 8, N = 8, K = 8, AB = 8, BB = 8, SB = 32, ASIGN = 1,\n"
    "                       BSIGN = 1, SSIGN = 1, SAT = 0, LANES = 64) (\n"
    "  input  wire                clk,\n"
    "  input  wire                rst,\n"
    "  input  wire                start,\n"
    "  input  wire [31:0]         steps,\n"
    "  input  wire [31:0]         tiles,\n"
    "  input  wire                with_c,\n"
    "  input  wire                quantised,\n"
    "  input  wire [31:0]         zp_in,\n"
    "  input  wire [N*32-1:0]     mult,\n"
    "  input  wire [N*8-1:0]      shift,\n"
    "  input  wire [31:0]         zp_out,\n"
    "  input  wire [31:0]         lo,\n"
    "  input  wire [31:0]         hi,\n"
    "  input  wire                a_valid,\n"
    "  input  wire [M*K*AB-1:0]   a,\n"
    "  input  wire                b_valid,\n"
    "  input  wire [N*K*BB-1:0]   b,\n"
    "  output wire                ab_take,\n"
    "  input  wire                c_valid,\n"
    "  input  wire [M*N*SB-1:0]   c,\n"
    "  output wire                c_take,\n"
    "  input  wire                d_ready,\n"
    "  output wire [M*N*SB-1:0]   d,\n"
    "  output wire                d_put,\n"
    "  input  wire                e_ready,\n"
    "  output wire [M*N*8-1:0]    e,\n"
    "  output wire                e_put,\n"
    "  output wire                fire\n"
    ");\n"
    "  localparam Q = (M * N + LANES - 1) / LANES;\n"
    "  reg first_valid, second_valid, result, made;\n"
    "  reg [M*K*AB-1:0] a_first, a_second;\n"
    "  reg [N*K*BB-1:0] b_first, b_second;\n"
    "  reg [31:0] step, tile, work;\n"
    "  reg [M*N*SB-1:0] sum;\n"
    "  wire begins = step == 0;\n"
    "  // Results, from the last stage to the first.\n"
    "  assign e_put = made && e_ready;\n"
    "  wire quantiser_free = work == 0 && (!made || e_ready);\n"
    "  wire moves = result && (quantised ? quantiser_free : d_ready);\n"
    "  assign d_put = result && !quantised && d_ready;\n"
    "  assign d = sum;\n"
    "  wire free = !result || moves;\n"
    "  assign fire = free && second_valid && tile != tiles && (!begins || !with_c || c_valid);\n"
    "  assign c_take = fire && begins && with_c;\n"
    "  wire second_ready = !second_valid || fire;\n"
    "  wire moves_on = first_valid && second_ready;\n"
    "  wire first_ready = !first_valid || moves_on;\n"
    "  assign ab_take = first_ready && a_valid && b_valid;\n"
    "  wire ends = fire && step + 1 == steps;\n"
    "  always @(posedge clk) begin\n"
    "    if (rst || start) begin\n"
    "      first_valid <= 1'b0;\n"
    "      second_valid <= 1'b0;\n"
    "      result <= 1'b0;\n"
    "      step <= 0;\n"
    "      tile <= 0;\n"
    "    end else begin\n"
    "      if (fire) step <= ends ? 32'd0 : step + 1;\n"
    "      if (ends) tile <= tile + 1;\n"
    "      result <= ends || (result && !moves);\n"
    "      second_valid <= moves_on || (second_valid && !fire);\n"
    "      first_valid <= ab_take || (first_valid && !moves_on);\n"
    "    end\n"
    "    if (ab_take) begin\n"
    "      a_first <= a;\n"
    "      b_first <= b;\n"
    "    end\n"
    "    if (moves_on) begin\n"
    "      a_second <= a_first;\n"
    "      b_second <= b_first;\n"
    "    end\n"
    "  end\n",
    "  // Products.\n"
    "  genvar r, s;\n"
    "  generate for (r = 0; r < M; r = r + 1) begin : row\n"
    "    for (s = 0; s < N; s = s + 1) begin : column\n"
    "      wire [SB-1:0] first, next;\n"
    "      assign first = !begins ? sum[(r*N+s)*SB +: SB]\n"
    "                             : with_c ? c[(r*N+s)*SB +: SB] : {SB{1'b0}};\n"
    "      tide_dm_dot #(.K(K), .AB(AB), .BB(BB), .SB(SB), .ASIGN(ASIGN), .BSIGN(BSIGN),\n"
    "                    .SSIGN(SSIGN), .SAT(SAT)) dot (\n"
    "        .a(a_second[r*K*AB +: K*AB]), .b(b_second[s*K*BB +: K*BB]), .c(first), .z(next));\n"
    "      always @(posedge clk) if (fire) sum[(r*N+s)*SB +: SB] <= next;\n"
    "    end\n"
    "  end endgenerate\n"
    "  // The quantiser: LANES results a cycle.\n"
    "  reg [M*N*SB-1:0] kept;\n"
    "  reg [M*N*8-1:0] out;\n"
    "  assign e = out;\n",
    "  wire begins_work = result && quantised && quantiser_free;\n"
    "  wire [31:0] at = begins_work ? 32'd0 : Q - work;\n"
    "  wire [M*N*SB-1:0] from = begins_work ? sum : kept;\n"
    "  wire works = begins_work || work != 0;\n"
    "  wire [LANES*8-1:0] lanes;\n"
    "  always @(posedge clk) begin\n"
    "    if (rst || start) begin\n"
    "      work <= 0;\n"
    "      made <= 1'b0;\n"
    "    end else begin\n"
    "      if (begins_work) work <= Q - 1;\n"
    "      else if (work != 0) work <= work - 1;\n"
    "      made <= (begins_work && Q == 1) || work == 1 || (made && !e_ready);\n"
    "    end\n"
    "    if (begins_work) kept <= sum;\n"
    "  end\n"
    "  generate for (s = 0; s < LANES && s < M * N; s = s + 1) begin : lane\n"
    "    wire [31:0] index = at * LANES + s;\n"
    "    wire signed [63:0] x = {{(65-SB){from[index*SB + SB-1]}}, from[index*SB +: SB-1]};\n"
    "    wire [31:0] factor = mult[(index % N)*32 +: 32];\n"
    "    wire [5:0] places = shift[(index % N)*8 +: 6];\n"
    "    wire signed [63:0] product = (x - {{32{zp_in[31]}}, zp_in}) * {{32{factor[31]}}, "
    "factor};\n"
    "    wire signed [63:0] shifted = product >>> (places - 6'd1);\n"
    "    wire signed [31:0] low = shifted[31:0];\n"
    "    wire signed [31:0] half = low >>> 1;\n"
    "    wire signed [32:0] moved = {half[31], half} + {zp_out[31], zp_out};\n"
    "    wire below = moved < $signed({lo[31], lo}), above = moved > $signed({hi[31], hi});\n"
    "    assign lanes[s*8 +: 8] = below ? lo[7:0] : above ? hi[7:0] : moved[7:0];\n"
    "  end endgenerate\n"
    "  generate for (r = 0; r < M * N; r = r + 1) begin : element\n"
    "    always @(posedge clk)\n"
    "      if (works && at == r / LANES) out[r*8 +: 8] <= lanes[(r % LANES)*8 +: 8];\n"
    "  end endgenerate\n"
    "endmodule\n",
    NULL};

/* The ports of a module that adds K products to a sum, one after the other. */
static const char dot_ports[] =
    "module tide_dm_dot #(parameter K = 8, AB = 8, BB = 8, SB = 32, ASIGN = 1, BSIGN = 1,\n"
    "                     SSIGN = 1, SAT = 0) (\n"
    "  input  wire [K*AB-1:0] a,\n"
    "  input  wire [K*BB-1:0] b,\n"
    "  input  wire [SB-1:0]   c,\n"
    "  output wire [SB-1:0]   z\n"
    ");\n";

static const char dot_integers[] =
    "  // Sums are exact, then cut to SB bits, or kept within their type (SAT).\n"
    "  localparam WIDE = SB + AB + BB + 1;\n"
    "  localparam signed [WIDE-1:0] ONE = 1;\n"
    "  localparam signed [WIDE-1:0] MOST = (ONE << (SSIGN != 0 ? SB - 1 : SB)) - ONE;\n"
    "  localparam signed [WIDE-1:0] LEAST = SSIGN != 0 ? -(ONE << (SB - 1)) : ONE - ONE;\n"
    "  reg [SB-1:0] next;\n"
    "  reg signed [WIDE-1:0] x, y, exact;\n"
    "  integer i;\n"
    "  assign z = next;\n"
    "  always @* begin\n"
    "    next = c;\n"
    "    for (i = 0; i < K; i = i + 1) begin\n"
    "      x = {{(WIDE-AB){ASIGN != 0 && a[i*AB + AB-1]}}, a[i*AB +: AB]};\n"
    "      y = {{(WIDE-BB){BSIGN != 0 && b[i*BB + BB-1]}}, b[i*BB +: BB]};\n"
    "      exact = {{(WIDE-SB){SSIGN != 0 && next[SB-1]}}, next} + x * y;\n"
    "      if (SAT != 0 && exact > MOST) next = MOST[SB-1:0];\n"
    "      else if (SAT != 0 && exact < LEAST) next = LEAST[SB-1:0];\n"
    "      else next = exact[SB-1:0];\n"
    "    end\n"
    "  end\n"
    "endmodule\n";

static int fraction(const TdType *t) {
  return td_num_float_format(t).precision - 1;
}

/* Factor `name`, of type t, of product i as a float of the sum's type. */
static void put_factor(TdText *text, const char *name, int i, const TdType *t, const TdType *sum) {
  int p = fraction(sum), e = sum->w - 1 - p;
  td_text_putf(text, "  wire [SB-1:0] %s%d;\n", name, i);
  if (td_type_is_integer(t))
    td_text_putf(text, "  tide_itof #(.W(%d), .S(%d), .E(%d), .M(%d)) %s%d_float (", t->w,
                 td_type_is_signed(t), e, p, name, i);
  else
    td_text_putf(text, "  tide_ftof #(.E(%d), .M(%d), .F(%d), .N(%d)) %s%d_float (",
                 t->w - 1 - fraction(t), fraction(t), e, p, name, i);
  td_text_putf(text, ".x(%s[%d:%d]), .z(%s%d));\n", name, (i + 1) * t->w - 1, i * t->w, name, i);
}

const char *td_maestro_rtl_dot(const TdMaestroArray *x, TdArena *a) {
  TdText t = td_text_new(a);
  td_text_puts(&t, "// The sum c with K products on it, in order.\n");
  td_text_puts(&t, dot_ports);
  if (!x->here || td_type_is_integer(x->acc)) {
    td_text_puts(&t, dot_integers);
    return td_text_str(&t);
  }
  int p = fraction(x->acc), e = x->acc->w - 1 - p;
  td_text_puts(&t, "  wire [SB-1:0] sum0 = c;\n");
  for (int i = 0; i < x->k; i++) {
    put_factor(&t, "a", i, x->a, x->acc);
    put_factor(&t, "b", i, x->b, x->acc);
    td_text_putf(&t, "  wire [SB-1:0] product%d, sum%d;\n", i, i + 1);
    td_text_putf(&t,
                 "  tide_fmul #(.E(%d), .M(%d)) multiply%d (.x(a%d), .y(b%d), .z(product%d));\n", e,
                 p, i, i, i, i);
    td_text_putf(&t, "  tide_fadd #(.E(%d), .M(%d)) add%d (.x(sum%d), .y(product%d), .z(sum%d));\n",
                 e, p, i, i, i, i + 1);
  }
  td_text_putf(&t, "  assign z = sum%d;\nendmodule\n", (int)x->k);
  for (const TdFile *f = td_verilog_floats; f->name; f++)
    if (strstr(td_text_str(&t), f->name)) td_text_puts(&t, f->text);
  return td_text_str(&t);
}
