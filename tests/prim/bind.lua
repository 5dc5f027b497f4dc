-- bind.lua - bind: what is marked, what that is in HLS and in the estimate, and who must agree.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, grid = tide.i32, tide.grid
local shape = prim.shape

-- A row that is read twice.
local function rows(z)
  local M, N = z.M or 4, z.N or 64
  return tide.kernel {A = i32[M][N], B = i32[M][N], function(A, B)
    local T = i32[N]()
    for i = 0, M - 1 do
      for j = 0, N - 1 do T[j] = A[i][j] end
      for k = 0, N - 1 do B[i][k] = T[k] + T[N - 1 - k] end
    end
  end}, {i32[M][N], i32[M][N]}
end

-- Two arrays that one callee sees under one name.
local function shared(text)
  return load([[
    local tide = require "tide"
    local i32 = tide.i32
    local f = tide.kernel {a = i32[6], ]] .. text .. [[
      function(a) for i = 0, 5 do a[i] = a[i] + 1 end end}
    return tide.kernel {name = "top", X = i32[6], Y = i32[6], function(X, Y) f(X) f(Y) end}
  ]], "=shared")(), {i32[6], i32[6]}
end

prim.accepted("a kind of memory", {
  of = rows, step = {"bind", "T", {memory = "uram"}}, has = {"i32[N]() --@ storage(uram)"},
  other = {{M = 1, N = 3}},
})
prim.accepted("ports and latency", {
  of = rows, step = {"bind", "T", {memory = "bram", ports = 1, latency = 3}},
  has = {"--@ storage(bram) ports(1) latency(3)"},
})
prim.accepted("a parameter", {
  of = shape.cube, step = {"bind", "A", {memory = "bram"}}, has = {"[R], --@ storage(bram)"},
})
prim.accepted("a buffer, after split and reorder", {
  of = shape.gemm, before = function(s)
    s:split("k", 2):reorder("k_o", "j"):buffer_at("A", "i")
  end, step = {"bind", "A_i", {memory = "lutram"}}, has = {"--@ storage(lutram)"},
})
prim.accepted("in a callee, and all that is passed to it", {
  of = function() return shared "" end, step = {"bind", "f:a", {memory = "uram", ports = 2}},
  has = {"a = i32[6], --@ storage(uram) ports(2)", "X = i32[6], --@ storage(uram) ports(2)",
    "Y = i32[6], --@ storage(uram) ports(2)"},
})
prim.accepted("again, otherwise", {
  of = rows, before = function(s) s:bind("T", {memory = "uram", ports = 1}) end,
  step = {"bind", "T", {memory = "bram"}}, has = {"--@ ports(1) storage(bram)"},
})
prim.twins("two names that disagree", {
  of = function(mark) return shared(mark) end, no = "--@ storage(lutram)\n",
  yes = "--@ storage(uram)\n", step = {"bind", "X", {memory = "uram"}}, code = "conflict",
})
prim.twins("a third port", {
  of = function() return rows {} end, no = 3, yes = 2, step = {"bind", "T", {ports = 3}},
  yes_step = {"bind", "T", {ports = 2}}, kind = "usage", code = "ports",
})
prim.twins("no cycle to read", {
  of = function() return rows {} end, no = 0, yes = 1, step = {"bind", "T", {latency = 0}},
  yes_step = {"bind", "T", {latency = 1}}, kind = "usage", code = "latency",
})
prim.refused("nothing asked for", {
  of = rows, step = {"bind", "T"}, kind = "usage", code = "option"})
prim.refused("a scalar", {
  of = function()
    return tide.kernel {A = i32[3], function(A)
      local x = i32(1)
      for i in grid(3) do x = x + A[i] end
      A[0] = x
    end}, {i32[3]}
  end, step = {"bind", "x", {memory = "bram"}}, kind = "usage", code = "not-an-array"})
t.test("a word that is none", function()
  local s = tide.schedule((rows {}))
  local e = t.fails(function() s:bind("T", {memory = "brom"}) end,
    {kind = "usage", code = "option"})
  t.has(e.message, "did you mean 'bram'")
end)

-- The schedule of rows with its inner loops pipelined.
local function pipelined(...)
  local s = tide.schedule((rows {}))
  s:pipeline("j"):pipeline("k")
  if ... then s:bind("T", ...) end
  return s
end

t.test("what the estimate makes of it", function()
  local plain, one = pipelined():estimate(), pipelined({ports = 1}):estimate()
  t.has(tostring(one), "has 1 port")
  t.ok(one.cycles > plain.cycles, "one port takes longer")
  local slow = pipelined({memory = "bram", latency = 9}):estimate()
  t.ok(slow.cycles > plain.cycles, "a slow memory takes longer")
  local function count(memory, what)
    local e = tostring(pipelined({memory = memory}):estimate())
    return tonumber(e:match(what .. " (%d+) of")) or 0
  end
  t.eq({count("lutram", "BRAM"), count("lutram", "URAM")}, {0, 0})
  t.ok(count("bram", "BRAM") > 0 and count("bram", "URAM") == 0, "in BRAM")
  t.ok(count("uram", "URAM") > 0 and count("uram", "BRAM") == 0, "in URAM")
end)

t.test("what HLS is told", function()
  local function text(...) return pipelined(...):build {target = "hls"}.source end
  t.has(text {memory = "uram", ports = 1, latency = 2},
    "#pragma HLS bind_storage variable=T type=ram_1p impl=uram latency=2")
  t.has(text {latency = 2}, "#pragma HLS bind_storage variable=T type=ram_2p latency=2")
  local registers = text {memory = "register"}
  t.has(registers, "#pragma HLS array_partition variable=T type=complete dim=0")
  t.ok(not registers:find "bind_storage", "registers are no memory")
end)

t.done()
