/* rtl_csr.c - the text of the registers, and the buses that they are written by. rtl.c gives
 * parameters. */
#include "backends/maestro/csr.h"
#include "backends/maestro/rtl/rtl.h"

const char *const td_maestro_rtl_csr[] = {
    "// The registers of a system. Those written while it runs are of the next job; a start copies "
    "all,\n"
    "// and waits while it runs. The two behind the start are read only: busy, cycles.\n"
    "module tide_dm_csr #(parameter N = 8, EXTRA = 0, FIRST = 960) (\n"
    "  input  wire                    clk,\n"
    "  input  wire                    rst,\n"
    "  input  wire                    write_valid,\n"
    "  output wire                    write_ready,\n"
    "  input  wire [15:0]             write_number,\n"
    "  input  wire [31:0]             write_data,\n"
    "  input  wire [15:0]             read_number,\n"
    "  output reg  [31:0]             read_data,\n"
    "  input  wire                    busy,\n"
    "  output reg                     go,\n"
    "  output wire [(N+EXTRA)*32-1:0] value\n"
    ");\n"
    "  reg [31:0] next [0:N+EXTRA-1];\n"
    "  reg [31:0] cycles;\n"
    "  reg going;\n"
    "  wire runs = busy || go || going;\n"
    "  wire starts = write_number == FIRST + N - 1 && write_data != 0;\n"
    "  assign write_ready = !(starts && runs);\n"
    "  wire writes = write_valid && write_ready;\n"
    "  always @(posedge clk) begin\n"
    "    if (rst) begin\n"
    "      go <= 1'b0;\n"
    "      going <= 1'b0;\n"
    "      cycles <= 0;\n"
    "    end else begin\n"
    "      go <= writes && starts;\n"
    "      going <= go;\n"
    "      if (writes && starts) cycles <= 0;\n"
    "      else if (busy) cycles <= cycles + 1;\n"
    "    end\n"
    "  end\n"
    "  genvar g;\n"
    "  generate for (g = 0; g < N + EXTRA; g = g + 1) begin : one\n"
    "    localparam [15:0] NUMBER = FIRST + g + (g < N ? 0 : 2);\n"
    "    reg [31:0] now;\n"
    "    assign value[g*32 +: 32] = now;\n"
    "    always @(posedge clk) begin\n"
    "      if (rst) next[g] <= 0;\n"
    "      else if (writes && write_number == NUMBER) next[g] <= write_data;\n"
    "      if (rst) now <= 0;\n"
    "      else if (writes && starts) now <= next[g];\n"
    "    end\n"
    "  end endgenerate\n"
    "  integer i;\n"
    "  always @* begin\n"
    "    read_data = 0;\n"
    "    if (read_number == FIRST + N) read_data = {31'd0, runs};\n"
    "    if (read_number == FIRST + N + 1) read_data = cycles;\n"
    "    for (i = 0; i < N + EXTRA; i = i + 1)\n"
    "      if ({16'd0, read_number} == FIRST + i + (i < N ? 0 : 2)) read_data = next[i];\n"
    "  end\n"
    "endmodule\n"
    "\n",
    "// A slave of AXI4-Lite in front of them: register n is the word at 4 * (n - FIRST). A write "
    "of\n"
    "// less than a word is refused (SLVERR); one of a start waits while a job runs.\n"
    "module tide_dm_axi #(parameter FIRST = 960) (\n"
    "  input  wire        clk,\n"
    "  input  wire        rst,\n"
    "  input  wire [17:0] s_axi_awaddr,\n"
    "  input  wire        s_axi_awvalid,\n"
    "  output wire        s_axi_awready,\n"
    "  input  wire [31:0] s_axi_wdata,\n"
    "  input  wire [3:0]  s_axi_wstrb,\n"
    "  input  wire        s_axi_wvalid,\n"
    "  output wire        s_axi_wready,\n"
    "  output wire [1:0]  s_axi_bresp,\n"
    "  output wire        s_axi_bvalid,\n"
    "  input  wire        s_axi_bready,\n"
    "  input  wire [17:0] s_axi_araddr,\n"
    "  input  wire        s_axi_arvalid,\n"
    "  output wire        s_axi_arready,\n"
    "  output wire [31:0] s_axi_rdata,\n"
    "  output wire [1:0]  s_axi_rresp,\n"
    "  output wire        s_axi_rvalid,\n"
    "  input  wire        s_axi_rready,\n"
    "  output wire        write_valid,\n"
    "  input  wire        write_ready,\n"
    "  output wire [15:0] write_number,\n"
    "  output wire [31:0] write_data,\n"
    "  output wire [15:0] read_number,\n"
    "  input  wire [31:0] read_data\n"
    ");\n"
    "  reg has_address, has_data, done, bad, asked, answered;\n"
    "  reg [15:0] address, from;\n"
    "  reg [31:0] data, answer;\n"
    "  reg [3:0] bytes;\n"
    "  wire whole = bytes == 4'hf;\n"
    "  wire both = has_address && has_data && !done;\n"
    "  wire ends = both && (!whole || write_ready);\n"
    "  assign s_axi_awready = !has_address;\n"
    "  assign s_axi_wready = !has_data;\n"
    "  assign s_axi_bvalid = done;\n"
    "  assign s_axi_bresp = {bad, 1'b0};\n"
    "  assign s_axi_arready = !asked && !answered;\n"
    "  assign s_axi_rvalid = answered;\n"
    "  assign s_axi_rdata = answer;\n"
    "  assign s_axi_rresp = 2'b00;\n"
    "  assign write_valid = both && whole;\n"
    "  assign write_number = address;\n"
    "  assign write_data = data;\n"
    "  assign read_number = from;\n"
    "  always @(posedge clk) begin\n"
    "    if (rst) begin\n"
    "      has_address <= 1'b0;\n"
    "      has_data <= 1'b0;\n"
    "      done <= 1'b0;\n"
    "      asked <= 1'b0;\n"
    "      answered <= 1'b0;\n"
    "    end else begin\n"
    "      if (s_axi_awvalid && s_axi_awready) has_address <= 1'b1;\n"
    "      else if (ends) has_address <= 1'b0;\n"
    "      if (s_axi_wvalid && s_axi_wready) has_data <= 1'b1;\n"
    "      else if (ends) has_data <= 1'b0;\n"
    "      if (ends) done <= 1'b1;\n"
    "      else if (s_axi_bready) done <= 1'b0;\n"
    "      asked <= s_axi_arvalid && s_axi_arready;\n"
    "      if (asked) answered <= 1'b1;\n"
    "      else if (s_axi_rready) answered <= 1'b0;\n"
    "    end\n"
    "    if (s_axi_awvalid && s_axi_awready) address <= s_axi_awaddr[17:2] + FIRST[15:0];\n"
    "    if (s_axi_wvalid && s_axi_wready) data <= s_axi_wdata;\n"
    "    if (s_axi_wvalid && s_axi_wready) bytes <= s_axi_wstrb;\n"
    "    if (ends) bad <= !whole;\n"
    "    if (s_axi_arvalid && s_axi_arready) from <= s_axi_araddr[17:2] + FIRST[15:0];\n"
    "    if (asked) answer <= read_data;\n"
    "  end\n"
    "endmodule\n",
    NULL};

/* A line of a bus, as the slave sees it. */
typedef struct Line {
  const char *name;
  int width;
  bool out;
} Line;
static const Line plain[] = {{"write_valid", 1, false},   {"write_ready", 1, true},
                             {"write_number", 16, false}, {"write_data", 32, false},
                             {"read_number", 16, false},  {"read_data", 32, true}};
static const Line axi_lite[] = {
    {"s_axi_awaddr", 18, false}, {"s_axi_awvalid", 1, false}, {"s_axi_awready", 1, true},
    {"s_axi_wdata", 32, false},  {"s_axi_wstrb", 4, false},   {"s_axi_wvalid", 1, false},
    {"s_axi_wready", 1, true},   {"s_axi_bresp", 2, true},    {"s_axi_bvalid", 1, true},
    {"s_axi_bready", 1, false},  {"s_axi_araddr", 18, false}, {"s_axi_arvalid", 1, false},
    {"s_axi_arready", 1, true},  {"s_axi_rdata", 32, true},   {"s_axi_rresp", 2, true},
    {"s_axi_rvalid", 1, true},   {"s_axi_rready", 1, false}};

void td_maestro_rtl_pins(TdVlModule *m, TdVlItem *x, bool axi) {
  const Line *line = axi ? axi_lite : plain;
  size_t n = axi ? sizeof axi_lite / sizeof *axi_lite : sizeof plain / sizeof *plain;
  for (size_t i = 0; i < n; i++) {
    TdVlSig *s = line[i].out ? td_vtree_output(m, line[i].name, line[i].width)
                             : td_vtree_input(m, line[i].name, line[i].width);
    td_vtree_connect(m, x, line[i].name, td_vtree_sig(m, s));
  }
}

TdVlItem *td_maestro_rtl_bus(TdVlModule *m, TdVlItem *x, bool axi) {
  if (!axi) {
    td_maestro_rtl_pins(m, x, false);
    return NULL;
  }
  TdVlItem *bus = td_vtree_instance(m, "tide_dm_axi", "bus");
  td_vtree_param(m, bus, "FIRST", TD_MAESTRO_CSR_FIRST);
  td_maestro_rtl_pins(m, bus, true);
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    const TdVl *s = td_vtree_sig(m, td_vtree_wire(m, plain[i].name, plain[i].width));
    td_vtree_connect(m, bus, plain[i].name, s);
    td_vtree_connect(m, x, plain[i].name, s);
  }
  return bus;
}
