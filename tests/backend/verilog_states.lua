-- [slow] verilog_states.lua - states as memories inside the top: set after a reset, kept from call to call, in kernels
-- and designs, behind both interfaces; values and cycles are those of the timed run, call by call.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i8, i16, i32, task, grid = tide.i8, tide.i16, tide.i32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- States that p called `calls` times with what make(n) gives does what the timed run does, in Icarus (`both`: and in
-- Verilator); then again after a reset; and that linters have nothing to say.
local function same(p, calls, make, options)
  options = options or {}
  local device = options.device or "rtl"
  for _, sim in ipairs {"icarus", "verilator"} do
    if sim == "icarus" or options.both and case.has "verilator" then
      local timed = p:build {target = "cpu", timed = true, device = device}
      local m = p:build {target = "verilog", sim = sim, interface = options.interface or "ram", device = device}
      for round = 1, 2 do
        for n = 1, calls do
          local want, got = make(n), make(n)
          timed(table.unpack(want))
          m(table.unpack(got))
          t.eq(m.report.cycles, timed.report.cycles)
          for i, v in ipairs(want) do
            t.ok(v:equal(got[i]), ("%s, round %d, call %d: %s, not %s"):format(sim, round, n, got[i], v))
          end
        end
        timed:reset()
        m:reset()
      end
      case.lint(m)
    end
  end
end

-- Running sums of rows, a weight for each, and how often it was called.
local function sums(n, T)
  local first = {}
  for i = 1, n do first[i] = 3 * i - 7 end
  local calls, sum, weight = tide.state(i16[1], 3), tide.state(T[n], 1), tide.state(i8[n], first)
  return tide.kernel {
    name = "sums", x = T[n], y = i32[n],
    function(x, y)
      for i in grid(n) do
        sum[i] = sum[i] + x[i] * weight[i]
        y[i] = sum[i] * calls[0]
      end
      calls[0] = calls[0] + 1
    end,
  }
end

local function row(n, T)
  return function(seed) return {tide.random(T[n], seed), i32[n](0)} end
end

for _, o in ipairs {{2, i32}, {5, i16}, {16, i8}} do
  local n, T = o[1], o[2]
  t.test(("sums of %d %s over calls"):format(n, T), function()
    same(sums(n, T), 3, row(n, T), {both = n == 5})
    same(sums(n, T), 2, row(n, T), {interface = "stream", both = n == 2})
    same(tide.schedule(sums(n, T)):pipeline "i", 2, row(n, T), {device = "ice40"})
  end)
end

t.test("a state in banks, a tap line that shifts, answers at once on 'ideal'", function()
  for _, n in ipairs {4, 8} do
    local line = tide.state(i16[n], 0)
    local s = tide.schedule(tide.kernel {
      name = "fir", h = i8[n], x = i16[6], y = i32[6],
      function(h, x, y)
        for i = 0, 5 do
          for k = n - 1, 1, -1 do line[k] = line[k - 1] end
          line[0] = x[i]
          local s = i32(0)
          for k = 0, n - 1, 1 do s = s + line[k] * h[k] end
          y[i] = s
        end
      end,
    })
    local function make(seed) return {tide.random(i8[n], seed), tide.random(i16[6], seed + 9), i32[6](0)} end
    same(s, 3, make)
    same(s, 2, make, {interface = "stream"})
    same(s, 2, make, {device = "ideal"})
    same(s:partition("line", {factor = 2, kind = "cyclic"}), 2, make)
  end
end)

t.test("instances of a design have states of their own", function()
  for _, P in ipairs {1, 3} do
    local seen = tide.state(i32[2], 5)
    local p = tide.design(function(d)
      local z = d:stream(i32, {P}, {depth = 2})
      d.count = task {map = {P}, X = i16[P][4], function(X, i)
        for k in grid(4) do
          seen[k % 2] = seen[k % 2] + X[i][k]
          z[i]:put(seen[k % 2])
        end
      end}
      d.drain = task {map = {P}, Y = i32[P][4], function(Y, i)
        for k in grid(4) do Y[i][k] = z[i]:get() end
      end}
    end)
    local function make(seed) return {tide.random(i16[P][4], seed), i32[P][4](0)} end
    same(p, 3, make, {both = P == 3})
    same(p, 2, make, {interface = "stream"})
  end
end)

-- What a bench of one's own says: two calls, then a reset in the middle of the third, then a fourth.
local bench = [[
module own;
  reg clk = 0, rst = 1, start = 0;
  wire busy, x_re, y_re, y_we;
  wire [1:0] x_raddr, y_waddr;
  reg [31:0] x_q = 0;
  wire [31:0] y_d;
  reg [31:0] y [0:3];
  integer n;
  always #1 clk = !clk;
  top dut (.clk(clk), .rst(rst), .start(start), .busy(busy), .x_re(x_re), .x_raddr(x_raddr), .x_q(x_q),
    .y_we(y_we), .y_waddr(y_waddr), .y_d(y_d));
  always @(posedge clk) begin
    if (x_re) x_q <= 32'd1;
    if (y_we) y[y_waddr] <= y_d;
  end
  task call(input integer cycles);
    begin
      while (busy) @(negedge clk);
      start = 1;
      @(negedge clk) start = 0;
      for (n = 0; n < cycles && busy; n = n + 1) @(negedge clk);
      $display("%0d %0d", y[0], y[3]);
    end
  endtask
  initial begin
    repeat (3) @(negedge clk);
    rst = 0;
    call(1000);
    call(1000);
    call(8);
    rst = 1;
    @(negedge clk) rst = 0;
    call(1000);
    $finish;
  end
endmodule
]]

t.test("a reset in the middle of a call sets it again", function()
  local sum = tide.state(i32[4], 10)
  local m = tide.kernel {
    name = "top", x = i32[4], y = i32[4],
    function(x, y)
      for i in grid(4) do
        sum[i] = sum[i] + x[i]
        y[i] = sum[i]
      end
    end,
  }:build {target = "verilog"}
  local dir = t.tmp "verilog_states"
  os.execute("rm -rf " .. dir)
  m:write(dir)
  local f <close> = assert(io.open(dir .. "/own.sv", "w"))
  f:write(bench)
  f:close()
  local command = "cd %s && iverilog -g2012 -s own -o own $(cat files.f) own.sv 2>&1 && vvp -N own 2>&1"
  local p <close> = assert(io.popen(command:format(dir)))
  local said = {}
  for line in p:lines() do said[#said + 1] = line end
  t.eq({said[1], said[2], said[4]}, {"11 11", "12 12", "11 11"})
  t.ok(said[3] ~= "13 13", said[3])
end)

t.done()
