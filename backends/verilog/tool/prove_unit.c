/* prove_unit.c - what modules of the library promise, as properties inside of them. */
#include "backends/verilog/tool/prove.h"

/* Any token that is put: it is taken once, in its turn, and is what was put. */
static const char fifo[] = "  (* anyseq *) wire pick;\n"
                           "  reg began = 0, tracked = 0;\n"
                           "  reg [B-1:0] ahead;\n"
                           "  reg [W-1:0] kept;\n"
                           "  always @(posedge clk) began <= 1;\n"
                           "  always @* begin\n"
                           "    assume(rst == !began);\n"
                           "    assume(!put || room);\n"
                           "    assume(!take || valid);\n"
                           "    if (began) assert(count <= D);\n"
                           "    if (began && tracked) begin\n"
                           "      assert(ahead < count);\n"
                           "      assert(token[ahead] == kept);\n"
                           "      if (take && ahead == 0) assert(out == kept);\n"
                           "    end\n"
                           "  end\n"
                           "  always @(posedge clk) begin\n"
                           "    if (rst) tracked <= 0;\n"
                           "    else if (tracked && take) begin\n"
                           "      tracked <= ahead != 0;\n"
                           "      ahead <= ahead - 1'b1;\n"
                           "    end else if (!tracked && put && pick) begin\n"
                           "      tracked <= 1;\n"
                           "      kept <= in;\n"
                           "      ahead <= last;\n"
                           "    end\n"
                           "  end\n";

/* Any token that is put: it comes out L cycles later, as it was. */
static const char line[] = "  (* anyseq *) wire pick;\n"
                           "  reg began = 0, tracked = 0;\n"
                           "  reg [7:0] age;\n"
                           "  reg [W-1:0] kept;\n"
                           "  always @(posedge clk) began <= 1;\n"
                           "  always @* begin\n"
                           "    assume(rst == !began);\n"
                           "    if (began && tracked) begin\n"
                           "      assert(age < L);\n"
                           "      assert(there[age]);\n"
                           "      assert(token[age*W +: W] == kept);\n"
                           "      if (age == L - 1) assert(valid && out == kept);\n"
                           "    end\n"
                           "  end\n"
                           "  always @(posedge clk) begin\n"
                           "    if (rst) tracked <= 0;\n"
                           "    else if (tracked) begin\n"
                           "      tracked <= age != L - 1;\n"
                           "      age <= age + 1'b1;\n"
                           "    end else if (put && pick) begin\n"
                           "      tracked <= 1;\n"
                           "      kept <= in;\n"
                           "      age <= 0;\n"
                           "    end\n"
                           "  end\n";

/* What was taken stays until it is used. */
static const char hold[] = "  reg began = 0, tracked = 0;\n"
                           "  reg [W-1:0] kept;\n"
                           "  always @(posedge clk) began <= 1;\n"
                           "  always @* begin\n"
                           "    assume(rst == !began);\n"
                           "    if (began) assert(tracked == got);\n"
                           "    if (began && tracked) assert(valid && out == kept && !took);\n"
                           "    if (began && took) assert(out == token);\n"
                           "  end\n"
                           "  always @(posedge clk) begin\n"
                           "    if (rst || done) tracked <= 0;\n"
                           "    else if (took) begin\n"
                           "      tracked <= 1;\n"
                           "      kept <= token;\n"
                           "    end\n"
                           "  end\n";

/* Any word: it holds what was written last, the last port counting, and reads give it. */
static const char ram[] = "  (* anyconst *) reg [A-1:0] here;\n"
                          "  reg known = 0, asked = 0;\n"
                          "  reg [W-1:0] kept, wanted;\n"
                          "  always @* assume(here < D);\n"
                          "  integer p;\n"
                          "  always @(posedge clk) begin\n"
                          "    for (p = 0; p < N; p = p + 1)\n"
                          "      if (we[p] && waddr[p*A +: A] == here) begin\n"
                          "        known <= 1;\n"
                          "        kept <= d[p*W +: W];\n"
                          "      end\n"
                          "    asked <= known && re[R-1] && raddr[(R-1)*A +: A] == here;\n"
                          "    wanted <= kept;\n"
                          "  end\n"
                          "  always @* begin\n"
                          "    if (known) assert(mem[here] == kept);\n"
                          "    if (asked) assert(q[(R-1)*W +: W] == wanted);\n"
                          "  end\n";

const TdProveUnit td_prove_units[] = {
    {"tide_fifo", "-set W 3 -set D 1", fifo},
    {"tide_fifo", "-set W 3 -set D 2", fifo},
    {"tide_fifo", "-set W 3 -set D 5", fifo},
    {"tide_line", "-set W 3 -set L 1", line},
    {"tide_line", "-set W 3 -set L 4", line},
    {"tide_hold", "-set W 3", hold},
    {"tide_ram", "-set W 3 -set D 5 -set A 3 -set R 2 -set N 2", ram},
    {NULL, NULL, NULL},
};
