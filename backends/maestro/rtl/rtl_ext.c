/* rtl_ext.c - the text of extensions. rtl.c gives parameters. */
#include "backends/maestro/rtl/rtl.h"

/* The ports of an extension, behind its parameters: a clock, whether it is on, its registers, beats
 * that come and beats that go. */
#define PORTS                                                                                      \
  "  input  wire           clk,\n"                                                                 \
  "  input  wire           rst,\n"                                                                 \
  "  input  wire           on,\n"                                                                  \
  "  input  wire [127:0]   regs,\n"                                                                \
  "  input  wire           valid,\n"                                                               \
  "  output wire           ready,\n"                                                               \
  "  input  wire [IN-1:0]  word,\n"                                                                \
  "  output wire           out_valid,\n"                                                           \
  "  input  wire           out_ready,\n"                                                           \
  "  output wire [OUT-1:0] out\n"                                                                  \
  ");\n"

const char *const td_maestro_rtl_ext[] = {
    "// Two places between neighbours in a chain of extensions.\n"
    "module tide_dm_link #(parameter W = 64) (\n"
    "  input  wire         clk,\n"
    "  input  wire         rst,\n"
    "  input  wire         valid,\n"
    "  output wire         ready,\n"
    "  input  wire [W-1:0] word,\n"
    "  output wire         out_valid,\n"
    "  input  wire         out_ready,\n"
    "  output wire [W-1:0] out\n"
    ");\n"
    "  wire [1:0] count;\n"
    "  assign ready = count != 2'd2;\n"
    "  assign out_valid = count != 2'd0;\n"
    "  tide_dm_queue #(.W(W), .D(2), .C(2)) queue (\n"
    "    .clk(clk), .rst(rst), .put(valid && ready), .in(word), .take(out_valid && out_ready),\n"
    "    .out(out), .count(count));\n"
    "endmodule\n"
    "\n"
    "// Gathers `take` beats, then gives GIVE; it takes again with the last beat that it gives. "
    "`at` is\n"
    "// the beat that is taken, `left` those that are still to give.\n"
    "module tide_dm_gather #(parameter GIVE = 1) (\n"
    "  input  wire       clk,\n"
    "  input  wire       rst,\n"
    "  input  wire [8:0] take,\n"
    "  input  wire       valid,\n"
    "  output wire       ready,\n"
    "  output wire       put,\n"
    "  output reg  [8:0] at,\n"
    "  output wire       out_valid,\n"
    "  input  wire       out_ready,\n"
    "  output wire [8:0] beat\n"
    ");\n"
    "  reg [8:0] left;\n"
    "  wire last = at + 1 == take;\n"
    "  assign ready = left == 0 || (left == 1 && out_ready);\n"
    "  assign put = valid && ready;\n"
    "  assign out_valid = left != 0;\n"
    "  assign beat = GIVE[8:0] - left;\n"
    "  always @(posedge clk) begin\n"
    "    if (rst) begin\n"
    "      at <= 0;\n"
    "      left <= 0;\n"
    "    end else begin\n"
    "      if (put) at <= last ? 9'd0 : at + 1;\n"
    "      if (put && last) left <= GIVE[8:0];\n"
    "      else if (out_valid && out_ready) left <= left - 1;\n"
    "    end\n"
    "  end\n"
    "endmodule\n"
    "\n",
    "// Rows become columns: at once, or when all beats of the matrix are there.\n"
    "module tide_dm_transpose #(parameter IN = 512, OUT = 512, ROWS = 8, COLS = 8, E = 8) (\n" PORTS
    "  localparam BEATS = ROWS * COLS * E / IN;\n"
    "  wire [ROWS*COLS*E-1:0] from, turned;\n"
    "  genvar r, c;\n"
    "  generate for (r = 0; r < ROWS; r = r + 1) begin : row\n"
    "    for (c = 0; c < COLS; c = c + 1) begin : column\n"
    "      assign turned[(c*ROWS+r)*E +: E] = from[(r*COLS+c)*E +: E];\n"
    "    end\n"
    "  end endgenerate\n"
    "  generate if (BEATS == 1) begin : wired\n"
    "    assign from = word;\n"
    "    assign ready = out_ready;\n"
    "    assign out_valid = valid;\n"
    "    assign out = on ? turned : word;\n"
    "  end else begin : gathered\n"
    "    reg [ROWS*COLS*E-1:0] all;\n"
    "    wire ready_on, put, valid_on;\n"
    "    wire [8:0] at, beat;\n"
    "    assign from = all;\n"
    "    assign ready = on ? ready_on : out_ready;\n"
    "    assign out_valid = on ? valid_on : valid;\n"
    "    assign out = on ? turned[beat*IN +: IN] : word;\n"
    "    tide_dm_gather #(.GIVE(BEATS)) gather (\n"
    "      .clk(clk), .rst(rst), .take(BEATS[8:0]), .valid(valid && on), .ready(ready_on), "
    ".put(put),\n"
    "      .at(at), .out_valid(valid_on), .out_ready(out_ready), .beat(beat));\n"
    "    always @(posedge clk) if (put) all[at*IN +: IN] <= word;\n"
    "  end endgenerate\n"
    "endmodule\n"
    "\n",
    "// The low FROM bits, repeated.\n"
    "module tide_dm_broadcast #(parameter IN = 2048, OUT = 2048, FROM = 256, TO = 2048) (\n" PORTS
    "  assign ready = out_ready;\n"
    "  assign out_valid = valid;\n"
    "  assign out = on ? {(OUT/FROM){word[FROM-1:0]}} : word;\n"
    "endmodule\n"
    "\n"
    "// Every byte is that of the register.\n"
    "module tide_dm_memset #(parameter IN = 512, OUT = 512) (\n" PORTS
    "  assign ready = out_ready;\n"
    "  assign out_valid = valid;\n"
    "  assign out = on ? {(OUT/8){regs[7:0]}} : word;\n"
    "endmodule\n"
    "\n"
    "// The low half of a word, 4 bits to 8 with their sign.\n"
    "module tide_dm_int4_to_int8 #(parameter IN = 512, OUT = 512) (\n" PORTS
    "  assign ready = out_ready;\n"
    "  assign out_valid = valid;\n"
    "  genvar i;\n"
    "  generate for (i = 0; i < OUT / 8; i = i + 1) begin : element\n"
    "    assign out[i*8 +: 8] = on ? {{4{word[i*4+3]}}, word[i*4 +: 4]} : word[i*8 +: 8];\n"
    "  end endgenerate\n"
    "endmodule\n"
    "\n",
    "// Sums (MAX = 0) or maxima of as many words as the register says, elements of E bits kept in "
    "F.\n"
    "module tide_dm_fold #(parameter IN = 512, OUT = 512, E = 8, F = 8, SIGN = 1, MAX = 0) "
    "(\n" PORTS "  localparam COUNT = IN / E;\n"
    "  reg [COUNT*F-1:0] kept;\n"
    "  wire [8:0] take = regs[7:0] == 0 ? 9'd1 : {1'b0, regs[7:0]};\n"
    "  wire [8:0] at, beat;\n"
    "  wire ready_on, put, valid_on;\n"
    "  assign ready = on ? ready_on : out_ready;\n"
    "  assign out_valid = on ? valid_on : valid;\n"
    "  assign out = on ? kept[beat*OUT +: OUT] : word;\n"
    "  tide_dm_gather #(.GIVE(F / E)) gather (\n"
    "    .clk(clk), .rst(rst), .take(take), .valid(valid && on), .ready(ready_on), .put(put),\n"
    "    .at(at), .out_valid(valid_on), .out_ready(out_ready), .beat(beat));\n"
    "  genvar i;\n"
    "  generate for (i = 0; i < COUNT; i = i + 1) begin : element\n"
    "    wire [F+E-1:0] wide = {{F{SIGN != 0 && word[i*E+E-1]}}, word[i*E +: E]};\n"
    "    wire [F-1:0] x = wide[F-1:0], y = kept[i*F +: F];\n"
    "    wire greater = SIGN != 0 ? $signed(x) > $signed(y) : x > y;\n"
    "    wire [F-1:0] next = at == 0 ? x : MAX != 0 ? (greater ? x : y) : x + y;\n"
    "    always @(posedge clk) if (put) kept[i*F +: F] <= next;\n"
    "  end endgenerate\n"
    "endmodule\n"
    "\n",
    "// KIND 0: four words of 32 bits become one of 8; 1: the same by 16 bits of the multiplier; "
    "2: one\n"
    "// word of 8 bits becomes four of 32. Registers: zp_in, mult, zp_out, shift.\n"
    "module tide_dm_rescale #(parameter IN = 512, OUT = 512, KIND = 0) (\n" PORTS
    "  localparam TAKE = KIND == 2 ? 1 : 4, GIVE = KIND == 2 ? 4 : 1;\n"
    "  localparam COUNT = KIND == 2 ? IN / 8 : IN / 8, E = KIND == 2 ? 8 : 32, F = KIND == 2 ? 32 "
    ": 8;\n"
    "  reg [COUNT*E-1:0] all;\n"
    "  wire [COUNT*F-1:0] made;\n"
    "  wire [8:0] at, beat;\n"
    "  wire ready_on, put, valid_on;\n"
    "  wire [5:0] shift = regs[101:96];\n"
    "  wire [5:0] pre = KIND != 1 ? 6'd0 : shift < 6'd16 ? shift : 6'd16;\n"
    "  wire [5:0] rest = shift - pre;\n"
    "  wire [5:0] data = KIND != 1 ? 6'd0 : rest < 6'd8 ? rest : 6'd8;\n"
    "  wire [5:0] after = rest - data;\n"
    "  wire [31:0] cut = regs[63:32] >> pre;\n"
    "  wire signed [63:0] mult = {32'd0, KIND == 1 ? {16'd0, cut[15:0]} : cut};\n"
    "  wire signed [63:0] zp_in = {{32{regs[31]}}, regs[31:0]};\n"
    "  wire signed [63:0] zp_out = {{32{regs[95]}}, regs[95:64]};\n"
    "  assign ready = on ? ready_on : out_ready;\n"
    "  assign out_valid = on ? valid_on : valid;\n"
    "  assign out = on ? made[beat*OUT +: OUT] : word;\n"
    "  tide_dm_gather #(.GIVE(GIVE)) gather (\n"
    "    .clk(clk), .rst(rst), .take(TAKE[8:0]), .valid(valid && on), .ready(ready_on), "
    ".put(put),\n"
    "    .at(at), .out_valid(valid_on), .out_ready(out_ready), .beat(beat));\n"
    "  always @(posedge clk) if (put) all[at*IN +: IN] <= word;\n"
    "  genvar i;\n"
    "  generate for (i = 0; i < COUNT; i = i + 1) begin : element\n"
    "    wire signed [63:0] x = {{(64-E){all[i*E+E-1]}}, all[i*E +: E]};\n"
    "    wire signed [63:0] from = (x - zp_in) >>> data;\n"
    "    wire signed [63:0] product = from * mult;\n"
    "    wire [63:0] once = after == 0 ? 64'd0 : 64'd1 << (after - 6'd1);\n"
    "    wire [63:0] twice = KIND != 0 || shift < 6'd32 ? 64'd0 :\n"
    "                        product[63] ? -(64'd1 << 30) : 64'd1 << 30;\n"
    "    wire signed [63:0] rounded = product + once + twice;\n"
    "    wire signed [63:0] y = (rounded >>> after) + zp_out;\n"
    "    if (KIND == 2) begin : wide\n"
    "      assign made[i*F +: F] = y[F-1:0];\n"
    "    end else begin : narrow\n"
    "      assign made[i*F +: F] = y < -64'sd128 ? 8'h80 : y > 64'sd127 ? 8'h7f : y[7:0];\n"
    "    end\n"
    "  end endgenerate\n"
    "endmodule\n",
    NULL};

/* The text of a user's kernel behind the ports of an extension: beats of a call are gathered, the
 * kernel is started, and WAIT cycles after the last one came what it put is given. */
static const char user_body[] =
    "  reg [TAKE*IN-1:0] all;\n"
    "  reg [GIVE*OUT-1:0] made;\n"
    "  reg [8:0] at, left;\n"
    "  reg [31:0] rest, got, gone;\n"
    "  reg start;\n"
    "  wire runs = rest != 0;\n"
    "  wire ready_on = !runs && (left == 0 || (left == 1 && out_ready));\n"
    "  wire takes = on && valid && ready_on, last = takes && at + 1 == TAKE;\n"
    "  wire take, put;\n"
    "  wire [TOUT-1:0] token;\n"
    "  assign ready = on ? ready_on : out_ready;\n"
    "  assign out_valid = on ? left != 0 : valid;\n"
    "  assign out = on ? made[(GIVE - left)*OUT +: OUT] : word;\n"
    "  always @(posedge clk) begin\n"
    "    if (rst) begin\n"
    "      at <= 0;\n"
    "      left <= 0;\n"
    "      rest <= 0;\n"
    "      got <= 0;\n"
    "      gone <= 0;\n"
    "      start <= 1'b0;\n"
    "    end else begin\n"
    "      if (takes) at <= last ? 9'd0 : at + 1;\n"
    "      start <= last;\n"
    "      rest <= last ? WAIT : runs ? rest - 1 : 0;\n"
    "      if (rest == 1) left <= GIVE[8:0];\n"
    "      else if (on && left != 0 && out_ready) left <= left - 1;\n"
    "      got <= last ? 0 : got + {31'd0, take};\n"
    "      gone <= last ? 0 : gone + {31'd0, put};\n"
    "    end\n"
    "    if (takes) all[at*IN +: IN] <= word;\n"
    "    if (put) made[gone*TOUT +: TOUT] <= token;\n"
    "  end\n";

const char *td_maestro_rtl_user(const TdMaestroUser *u, TdArena *a) {
  TdText t = td_text_new(a);
  td_text_putf(&t, "// Kernel %s as an extension.\n", u->name);
  td_text_putf(
      &t,
      "module tide_dm_user_%s #(parameter IN = 64, OUT = 64, TAKE = 1, GIVE = 1, WAIT = 1) "
      "(\n" PORTS,
      u->name);
  td_text_putf(&t, "  localparam TIN = %d, NIN = %d, TOUT = %d;\n", (int)u->in.bits, (int)u->in.n,
               (int)u->out.bits);
  td_text_puts(&t, user_body);
  td_text_putf(&t,
               "  %s kernel (\n"
               "    .clk(clk), .rst(rst), .start(start), .busy(), .%s_valid(runs && got < NIN),\n"
               "    .%s_data(all[got*TIN +: TIN]), .%s_take(take), .%s_room(1'b1), .%s_put(put),\n"
               "    .%s_data(token));\n"
               "endmodule\n",
               u->name, u->in.name, u->in.name, u->in.name, u->out.name, u->out.name, u->out.name);
  return td_text_str(&t);
}

const char *td_maestro_rtl_ext_module(TdVlModule *m, const TdMaestroExt *x, TdVlItem *i) {
  td_vtree_param(m, i, "IN", x->in);
  td_vtree_param(m, i, "OUT", x->out);
  switch (x->kind) {
  case TD_MAESTRO_EXT_USER:
    td_vtree_param(m, i, "TAKE", x->take);
    td_vtree_param(m, i, "GIVE", x->give);
    td_vtree_param(m, i, "WAIT", x->wait);
    return td_text_fmt(m->arena, "tide_dm_user_%s", x->user->name);
  case TD_MAESTRO_EXT_TRANSPOSE:
    td_vtree_param(m, i, "ROWS", x->arg[0]);
    td_vtree_param(m, i, "COLS", x->arg[1]);
    td_vtree_param(m, i, "E", x->type->w);
    return "tide_dm_transpose";
  case TD_MAESTRO_EXT_BROADCAST:
    td_vtree_param(m, i, "FROM", x->arg[0]);
    td_vtree_param(m, i, "TO", x->arg[1]);
    return "tide_dm_broadcast";
  case TD_MAESTRO_EXT_MEMSET: return "tide_dm_memset";
  case TD_MAESTRO_EXT_INT4: return "tide_dm_int4_to_int8";
  case TD_MAESTRO_EXT_MAXPOOL:
  case TD_MAESTRO_EXT_ADD:
  case TD_MAESTRO_EXT_ADD_WIDE:
    td_vtree_param(m, i, "E", x->type->w);
    td_vtree_param(m, i, "F", x->kind == TD_MAESTRO_EXT_ADD_WIDE ? 32 : x->type->w);
    td_vtree_param(m, i, "SIGN", td_type_is_signed(x->type));
    td_vtree_param(m, i, "MAX", x->kind == TD_MAESTRO_EXT_MAXPOOL);
    return "tide_dm_fold";
  default:
    td_vtree_param(m, i, "KIND",
                   x->kind == TD_MAESTRO_EXT_RESCALE_UP          ? 2
                   : x->kind == TD_MAESTRO_EXT_RESCALE_EFFICIENT ? 1
                                                                 : 0);
    return "tide_dm_rescale";
  }
}
