-- [slow] verilog_interface.lua - tops behind AXI4-Stream (`interface = "stream"`), driven through it with pauses:
-- values, cycles of the call, linters; names of clock and reset; places in comments; what is refused.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i8, i16, i32, f32, task, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- States that s gives behind an interface, by each simulator there is, what it does with the pins of memories.
local function same(s, interface, make)
  local plain = s:build {target = "verilog", sim = "icarus"}
  local want = make()
  plain(table.unpack(want))
  for _, sim in ipairs {"icarus", "verilator"} do
    if sim == "icarus" or case.has "verilator" then
      local m, got = s:build {target = "verilog", sim = sim, interface = interface}, make()
      m(table.unpack(got))
      t.eq(m.report.cycles, plain.report.cycles)
      for i, v in ipairs(want) do
        local alike = math.type(v) or type(v) == "table" or v:equal(got[i])
        t.ok(alike, ("argument %d: %s, not %s"):format(i, got[i], v))
      end
      case.lint(m)
    end
  end
end

-- Rows of weights times columns, from a row on.
local function rows(n, m, T)
  return tide.schedule(tide.kernel {
    name = "rows", x = T[n][m], w = T[m], y = i32[n], from = i16,
    function(x, w, y, from)
      for i in grid(n) do
        for j in grid(m) do y[i] = y[i] + x[i][j] * w[j] end
        if i < from then y[i] = -1 end
      end
    end,
  }):pipeline "j"
end

local function array(P, K)
  return tide.schedule((case.array(P, K, 2))):pipeline "pe:k":pipeline "feed_a:k":pipeline "feed_b:k"
end

t.test("arrays of kernels come and go as streams of elements", function()
  for _, q in ipairs {{6, 3, i8}, {4, 5, tide.int(11)}} do
    local n, m, T = table.unpack(q)
    same(rows(n, m, T), "stream", function()
      return {tide.random(T[n][m], 1), tide.random(T[m], 2), tide.random(i32[n], 3), 2}
    end)
  end
  local banked = tide.schedule(tide.kernel {
    name = "banked", x = i16[8], y = i16[3][4],
    function(x, y)
      for i in grid(3) do
        for j in grid(4) do y[i][j] = y[i][j] + x[i + j] end
      end
    end,
  }):partition("y", 1, {factor = 2}):partition("x", 0, {kind = "block", factor = 4}):unroll("j", 2)
  same(banked, "stream", function() return {tide.random(i16[8], 1), tide.random(i16[3][4], 2)} end)
end)

t.test("each instance of a design has its memory; what one of them wrote goes out", function()
  for _, q in ipairs {{2, 5}, {3, 4}} do
    local P, K = q[1], q[2]
    same(array(P, K), "stream", function()
      return {tide.random(i8[P][K], 1), tide.random(i8[K][P], 2), tide.random(i32[P][P], 3)}
    end)
  end
  local blocks = tide.schedule(tide.design(function(d)
    d.twice = task {map = {2}, X = f32[6]:layout "S0", Y = f32[6]:layout "S0",
      function(X, Y, p) for i in grid(3) do Y[i] = X[i] * 2 + f32(p) end end}
  end))
  same(blocks, "stream", function() return {tide.random(f32[6], 1), tide.random(f32[6], 2)} end)
end)

t.test("streams of the top are AXI4-Stream", function()
  for _, n in ipairs {5, 9} do
    local s = tide.schedule(tide.design(function(d)
      local X, Y = d:arg(tide.stream(i16)), d:arg(tide.stream(i32))
      d.one = task {X = X, Y = Y, W = i32[n], function(X, Y, W) for k in grid(n) do Y:put(X:get() * W[k]) end end}
    end)):pipeline "one:k"
    local X, W = tide.random(i16[n], 4), tide.random(i32[n], 5)
    for _, sim in ipairs {"icarus", "verilator"} do
      if sim == "icarus" or case.has "verilator" then
        local m, Y = s:build {target = "verilog", sim = sim, interface = "stream", check = false}, {}
        m(X:table(), Y, W)
        for k = 1, n do t.eq(Y[k], (X[k - 1] * W[k - 1] + (1 << 31)) % (1 << 32) - (1 << 31)) end
        case.lint(m)
      end
    end
  end
end)

t.test("clock, reset and places are as they are asked for", function()
  local s = rows(3, 2, i8)
  local function args() return tide.random(i8[3][2], 1), tide.random(i8[2], 2), tide.random(i32[3], 3), 1 end
  for _, interface in ipairs {"ram", "stream"} do
    local m = s:build {target = "verilog", sim = "icarus", interface = interface, clock = "aclk", reset = "areset_n",
      top = "outer"}
    m(args())
    t.has(m.source, "input  wire aclk,\n  input  wire areset_n,")
    t.has(m.files["outer.sdc"], "get_ports aclk")
    case.lint(m)
  end
  t.has(s:build({target = "verilog"}).source, "verilog_interface.lua:")
  local bare = s:build {target = "verilog", location = false}
  t.ok(not bare.source:find ".lua:", bare.source)
  bare(args())
end)

t.test("names that are none or taken, slow memories, and ready lists behind a bus are refused", function()
  local s = rows(3, 2, i8)
  local function build(o)
    o.target = "verilog"
    return s:build(o)
  end
  t.has(t.fails(function() build {clock = "2x"} end, {code = "option"}).message, "'clock'")
  t.has(t.fails(function() build {reset = "module"} end, {code = "option"}).message, "'reset'")
  t.has(t.fails(function() build {clock = "from"} end, {code = "option"}).message, "nothing else has")
  t.fails(function() build {clock = "a", reset = "a"} end, {code = "option"})
  build {clock = "a", reset = "b"}
  t.fails(function() build {interface = "bus"} end, {code = "option-value"})
  local slow = tide.kernel {name = "slow", x = i8[4], y = i8[4],
    function(x, y) for i in grid(4) do y[i] = x[i] end end}
  local e = t.fails(function()
    tide.schedule(slow):bind("x", {latency = 3}):build {target = "verilog", interface = "stream"}
  end, {code = "not-built"})
  t.has(e.message, "one cycle")
  tide.schedule(slow):build {target = "verilog", interface = "stream"}
end)

t.done()
