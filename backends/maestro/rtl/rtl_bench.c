/* rtl_bench.c - what stands around a system when it runs: a host that writes words of the memory
 * and registers from files, waits, reads words back, and writes what happened in each cycle. */
#include "backends/maestro/rtl/rtl.h"
#include "backends/verilog/verilog.h"

/* What stands between the host and the registers, by bus: nothing, or a master of AXI4-Lite. */
static const char plain_bus[] =
    "`define BUS assign read_ready = 1'b1;\n"
    "`define PINS .write_valid(writes), .write_ready(write_ready), \\\n"
    "    .write_number(write_list[at][47:32]), .write_data(write_list[at][31:0]), \\\n"
    "    .read_number(read_number), .read_data(read_data)\n";
static const char axi_bus[] =
    "// Writes and reads registers by AXI4-Lite; what is read is there when `read_ready` says so.\n"
    "module bench_axi #(parameter FIRST = 960) (\n"
    "  input wire clk, input wire rst,\n"
    "  input wire write_valid, output wire write_ready, input wire [15:0] write_number,\n"
    "  input wire reading, input wire [15:0] read_number,\n"
    "  output wire [17:0] awaddr, output wire awvalid, input wire awready,\n"
    "  output wire wvalid, input wire wready, input wire [1:0] bresp, input wire bvalid,\n"
    "  output wire [17:0] araddr, output wire arvalid, input wire arready,\n"
    "  input wire [1:0] rresp, input wire rvalid, output wire read_ready\n"
    ");\n"
    "  reg aw = 0, w = 0, ar = 0;\n"
    "  wire [15:0] wn = write_number - FIRST, rn = read_number - FIRST;\n"
    "  assign awaddr = {wn, 2'b00};\n"
    "  assign araddr = {rn, 2'b00};\n"
    "  assign awvalid = write_valid && !aw;\n"
    "  assign wvalid = write_valid && !w;\n"
    "  assign write_ready = bvalid;\n"
    "  assign arvalid = reading && !ar;\n"
    "  assign read_ready = rvalid;\n"
    "  always @(posedge clk) begin\n"
    "    aw <= !rst && !bvalid && (aw || (awvalid && awready));\n"
    "    w <= !rst && !bvalid && (w || (wvalid && wready));\n"
    "    ar <= !rst && !rvalid && (ar || (arvalid && arready));\n"
    "    if ((bvalid && bresp != 0) || (rvalid && rresp != 0)) $display(\"bus error\");\n"
    "  end\n"
    "endmodule\n"
    "`define BUS wire [17:0] awaddr, araddr; wire awvalid, awready, wvalid, wready, bvalid; \\\n"
    "  wire arvalid, arready, rvalid; wire [1:0] bresp, rresp; \\\n"
    "  bench_axi #(.FIRST(FIRST)) host (.clk(clk), .rst(rst), .write_valid(writes), \\\n"
    "    .write_ready(write_ready), .write_number(write_list[at][47:32]), \\\n"
    "    .reading(state == 3 || state == 5), .read_number(read_number), .awaddr(awaddr), \\\n"
    "    .awvalid(awvalid), .awready(awready), .wvalid(wvalid), .wready(wready), \\\n"
    "    .bresp(bresp), .bvalid(bvalid), .araddr(araddr), .arvalid(arvalid), \\\n"
    "    .arready(arready), .rresp(rresp), .rvalid(rvalid), .read_ready(read_ready));\n"
    "`define PINS .s_axi_awaddr(awaddr), .s_axi_awvalid(awvalid), .s_axi_awready(awready), \\\n"
    "    .s_axi_wdata(write_list[at][31:0]), .s_axi_wstrb(4'hf), .s_axi_wvalid(wvalid), \\\n"
    "    .s_axi_wready(wready), .s_axi_bresp(bresp), .s_axi_bvalid(bvalid), \\\n"
    "    .s_axi_bready(1'b1), .s_axi_araddr(araddr), .s_axi_arvalid(arvalid), \\\n"
    "    .s_axi_arready(arready), .s_axi_rdata(read_data), .s_axi_rresp(rresp), \\\n"
    "    .s_axi_rvalid(rvalid), .s_axi_rready(1'b1)\n";

static const char body[] =
    "  reg rst = 1;\n"
    "  reg [2:0] state = 0;\n"
    "  reg [63:0] now = 0, most = 64'd1 << 40;\n"
    "  reg [63:0] runs = 0;\n"
    "  reg traces = 1;\n"
    "  reg [31:0] at = 0, nimage = 0, nwrite = 0, nread = 0, wait_left = 0;\n"
    "  reg [PW-1:0] image_place [0:(1<<PW)-1];\n"
    "  reg [W-1:0] image_word [0:(1<<PW)-1];\n"
    "  reg [PW-1:0] read_place [0:(1<<PW)-1];\n"
    "  reg [47:0] write_list [0:65535];\n"
    "  string dir;\n"
    "  integer trace, out, file;\n"
    "  wire write_ready, read_ready, busy, fire;\n"
    "  wire [31:0] read_data;\n"
    "  wire [W-1:0] host_q;\n"
    "  wire [P-1:0] grant;\n"
    "  wire [B-1:0] bank;\n"
    "  wire [WORDS-1:0] words;\n"
    "  wire loads = state == 1 && at < nimage;\n"
    "  wire reads = state == 4 && at < nread;\n"
    "  wire writes = state == 2 && at < nwrite;\n"
    "  wire [15:0] read_number = state == 5 ? FIRST + N + 1 : FIRST + N;\n"
    "  `BUS\n";

static const char instance[] =
    "  `DUT dut (\n"
    "    .clk(clk), .rst(rst), .busy(busy), `PINS, .host(loads || reads),\n"
    "    .host_write(loads), .host_place(loads ? image_place[at] : read_place[at]),\n"
    "    .host_data(image_word[at]), .host_q(host_q), .trace_grant(grant), .trace_bank(bank),\n"
    "    .trace_words(words), .trace_fire(fire)";

static const char start[] =
    "  initial begin\n"
    "    if ($value$plusargs(\"dir=%s\", dir) == 0) dir = \".\";\n"
    "    if ($value$plusargs(\"most=%d\", most) == 0) most = 64'd1 << 40;\n"
    "    if ($value$plusargs(\"trace=%d\", traces) == 0) traces = 1;\n"
    "    if ($value$plusargs(\"image=%d\", nimage) == 0) nimage = 0;\n"
    "    if ($value$plusargs(\"write=%d\", nwrite) == 0) nwrite = 0;\n"
    "    if ($value$plusargs(\"read=%d\", nread) == 0) nread = 0;\n"
    "    if (nimage != 0) $readmemh($sformatf(\"%s/place.hex\", dir), image_place, 0, nimage - "
    "1);\n"
    "    if (nimage != 0) $readmemh($sformatf(\"%s/word.hex\", dir), image_word, 0, nimage - 1);\n"
    "    if (nwrite != 0) $readmemh($sformatf(\"%s/write.hex\", dir), write_list, 0, nwrite - 1);\n"
    "    if (nread != 0) $readmemh($sformatf(\"%s/read.hex\", dir), read_place, 0, nread - 1);\n"
    "    trace = $fopen($sformatf(\"%s/trace\", dir), \"w\");\n"
    "    out = $fopen($sformatf(\"%s/out\", dir), \"w\");\n";

static const char steps[] =
    "  always @(posedge clk) begin\n"
    "    now <= now + 1;\n"
    "    if (now > 2) rst <= 0;\n"
    "    if (busy && state > 1) runs <= runs + 1;\n"
    "    if (busy && state > 1 && traces) $fdisplay(trace, \"%h %h %b %h\", grant, bank, fire, "
    "words);\n"
    "    case (state)\n"
    "      0: if (now > 4) state <= 1;\n"
    "      1: if (at < nimage) at <= at + 1;\n"
    "         else begin at <= 0; state <= 2; end\n"
    "      2: if (at < nwrite) begin if (write_ready) at <= at + 1; end\n"
    "         else begin at <= 0; state <= 3; end\n"
    "      3: if (read_ready && read_data == 0) begin state <= 4; wait_left <= LAT; end\n"
    "      4: if (wait_left != 0) wait_left <= wait_left - 1;\n"
    "         else if (at < nread) begin\n"
    "           $fdisplay(out, \"%h\", host_q);\n"
    "           at <= at + 1;\n"
    "           wait_left <= LAT;\n"
    "         end else state <= 5;\n"
    "      default: if (read_ready) begin\n"
    "        file = $fopen($sformatf(\"%s/cycles\", dir), \"w\");\n"
    "        $fdisplay(file, \"%0d\", runs);\n"
    "        $fclose(file);\n"
    "        $fclose(trace);\n"
    "        $fclose(out);\n";

static const char finish[] = "        $finish;\n"
                             "      end\n"
                             "    endcase\n"
                             "    if (now == most) begin\n"
                             "      $display(\"hang\");\n"
                             "      $finish;\n"
                             "    end\n"
                             "  end\n"
                             "endmodule\n";

const char *td_maestro_rtl_bench(const TdMaestroSystem *s, bool axi, const TdMaestroDut *dut,
                                 TdArena *a) {
  TdMaestroShape x = td_maestro_rtl_shape(s, a);
  TdText t = td_text_new(a);
  TdVlogPins pins = {"", "", "", "", ""};
  if (dut) pins = td_verilog_bench_pins(a, dut->design);
  td_text_puts(&t, axi ? axi_bus : plain_bus);
  td_text_putf(&t, "`define DUT %s\n", dut ? dut->module : "tide_dm_system");
  td_text_puts(&t, "// A host beside a system: run with +dir=FOLDER.\n"
                   "module bench (input wire clk);\n");
  td_text_putf(&t, "  localparam PW = %d, W = %d, P = %d, B = %d, N = %d;\n", x.place, (int)x.width,
               s->ports, (int)s->memory.banks, x.registers);
  td_text_putf(&t, "  localparam WORDS = %d, LAT = %d, FIRST = 960;\n",
               s->n * (int)x.count + (dut ? dut->moves : 0), (int)s->memory.latency);
  const char *const piece[] = {body,  pins.decl, instance,  pins.connect, ");\n",     pins.body,
                               start, pins.read, "  end\n", steps,        pins.write, finish};
  for (size_t i = 0; i < sizeof piece / sizeof *piece; i++) td_text_puts(&t, piece[i]);
  td_text_puts(&t, td_verilog_library_clock);
  return td_text_str(&t);
}
