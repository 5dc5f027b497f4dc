-- [slow] verilog_math.lua - exp, log, sin, cos, tanh in integers (tide.core): their error over all words of f16 and
-- bf16 and some of f32; builds with `math = "core"` by Verilog, CPU and HLS give the same bits; what is refused.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local core = require "tide.core"
local nn = require "tide.nn"
local f16, bf16, f32, f64, u16, u32, grid = tide.f16, tide.bf16, tide.f32, tide.f64, tide.u16, tide.u32, tide.grid

-- tanh without cancellation.
local function tanh(x)
  if math.abs(x) < 1e-4 then return x - x ^ 3 / 3 end
  if math.abs(x) > 20 then return x > 0 and 1.0 or -1.0 end
  local a = math.exp(2 * x)
  return (a - 1) / (a + 1)
end
local function circle(f) return function(x) return math.abs(x) == math.huge and 0 / 0 or f(x) end end
local exact = {exp = math.exp, log = math.log, sin = circle(math.sin), cos = circle(math.cos), tanh = tanh}
local names = {"cos", "exp", "log", "sin", "tanh"}
-- A format: its type, its words, bits of the fraction, least exponent, greatest number.
local formats = {
  {f16, u16, 10, -14, 65504.0}, {bf16, u16, 7, -126, (2 - 2.0 ^ -7) * 2.0 ^ 127},
  {f32, u32, 23, -126, (2 - 2.0 ^ -23) * 2.0 ^ 127},
}

-- 2^e of the unit in the last place at v.
local function ulp(f, v)
  local e = f[4]
  v = math.abs(v)
  if v > 0 then
    e = math.floor(math.log(v, 2))
    e = v < 2.0 ^ e and e - 1 or v >= 2.0 ^ (e + 1) and e + 1 or e
  end
  return 2.0 ^ (math.max(e, f[4]) - f[3])
end

-- Words of a format: all of 16 bits, else half of them near 1.
local function words(f, n)
  local list = {}
  math.randomseed(5)
  for i = 1, n do
    list[i] = f[2] == u16 and i - 1 or i % 2 == 0 and math.random(0, 0xffffffff) or
      math.random(0, 1) << 31 | math.random(90, 140) << 23 | math.random(0, (1 << 23) - 1)
  end
  return tide.tensor(f[2][n], list)
end

-- The greatest error in units of the last place of function `name` on the words of f.
local function worst(f, name)
  local T, U, n = f[1], f[2], 65536
  local of = core.of(name, T)
  local k = tide.kernel {
    name = "all", w = U[n], x = T[n], y = T[n],
    function(w, x, y)
      for i in grid(n) do
        x[i] = tide.bitcast(T, w[i])
        y[i] = of(x[i])
      end
    end,
  }
  local x, y, most = T[n](0), T[n](0), 0
  k:build {target = "cpu"}(words(f, n), x, y)
  for i = 0, n - 1 do
    local want, got = exact[name](x[i]), y[i]
    if want ~= want or got ~= got then
      t.ok(want ~= want and got ~= got, ("%s(%s) is %s"):format(name, x[i], got))
    elseif math.abs(want) >= f[5] + ulp(f, f[5]) / 2 then
      t.eq(got, want > 0 and math.huge or -math.huge)
    else
      most = math.max(most, math.abs(got - want) / ulp(f, want))
    end
  end
  return most
end

for _, f in ipairs(formats) do
  t.test(("%s: at most 0.7 units in the last place"):format(f[1]), function()
    for _, name in ipairs(names) do
      local most = worst(f, name)
      t.ok(most <= 0.7, ("%s: %g"):format(name, most))
    end
  end)
end

-- A kernel over n words of f that applies all functions.
local function all_of(f, n)
  local T = f[1]
  return tide.kernel {
    name = "functions", w = f[2][n], y = T[n][5],
    function(w, y)
      for i in grid(n) do
        local x = tide.bitcast(T, w[i])
        y[i][0] = tide.exp(x)
        y[i][1] = tide.log(tide.abs(x))
        y[i][2] = tide.sin(x)
        y[i][3] = tide.cos(x)
        y[i][4] = tide.tanh(x)
      end
    end,
  }
end

t.test("the compiler's and HLS's texts have the bits of libtcc's", function()
  for _, f in ipairs(formats) do
    local n = 300
    local k, w, want = all_of(f, n), words(f, n), f[1][n][5](0)
    k:build {target = "cpu", math = "core", tier = "tcc"}(w, want)
    for _, options in ipairs {{target = "cpu", tier = "cc"}, {target = "hls"}} do
      options.math = "core"
      local got = f[1][n][5](0)
      k:build(options)(w, got)
      t.ok(got:equal(want), options.target)
    end
    local other = f[1][n][5](0)
    k:build {target = "cpu"}(w, other)
    t.ok(f[1] ~= f32 or not other:equal(want), "the library's bits are others")
  end
end)

t.test("a function in a place of every kind", function()
  local n = 3
  local k = tide.kernel {
    name = "places", x = f32[n], y = f32[n], m = tide.i32[4],
    function(x, y, m)
      for i = 0, tide.i32(tide.exp(x[0])) do m[i] = m[i] + tide.i32(tide.log(x[1])) end
      if tide.sin(x[1]) > 0 and tide.cos(x[1]) < 1 then y[0] = tide.exp(tide.log(x[2])) end
      y[tide.i32(tide.tanh(x[2])) + 1] = tide.exp(x[0]) + tide.exp(x[0])
      y:set(tide.tanh(y) * 2)
    end,
  }
  local x, y, z = tide.tensor(f32[n], {0.5, 20.5, 0.25}), f32[n](1), f32[n](1)
  local a, b = tide.i32[4](0), tide.i32[4](0)
  k:build {target = "cpu", math = "core"}(x, y, a)
  k(x, z, b)
  t.ok(a:equal(b))
  for i = 0, n - 1 do t.ok(math.abs(y[i] - z[i]) < 1e-6, tostring(y) .. tostring(z)) end
  if case.has "iverilog" then case.run(k, {x, f32[n](1), tide.i32[4](0)}) end
end)

t.test("what cannot be computed before its statement, and f64, are refused; their twins are not", function()
  local function test(held)
    return tide.kernel {
      name = "steps", x = f32[1],
      function(x)
        local e = tide.exp(x[0])
        while (held and e or tide.exp(x[0])) < 9 do
          x[0] = x[0] + 1
          e = tide.exp(x[0])
        end
      end,
    }
  end
  local function guarded(first)
    return tide.kernel {
      name = "guarded", x = f32[4], y = f32[4],
      function(x, y)
        for i in grid(4) do
          if first then
            if i < 3 and tide.exp(x[0]) > 1 then y[i] = 1 end
          elseif i < 3 and tide.exp(x[i + 1]) > 1 then
            y[i] = 1
          end
        end
      end,
    }
  end
  local function half(T)
    return tide.kernel {name = "half", x = T[2], function(x) x[0] = tide.tanh(x[1]) end}
  end
  local core_options = {target = "cpu", math = "core"}
  local e = t.fails(function() test(false):build(core_options) end, {code = "not-built"})
  t.has(e.message, "'exp' in integers is not built in the test of a loop")
  e = t.fails(function() guarded(false):build(core_options) end, {code = "not-built"})
  t.has(e.message, "read only if")
  e = t.fails(function() half(f64):build {target = "verilog"} end, {code = "not-built"})
  t.has(e.message, "'tanh' of f64 in integers")
  local x = f32[1](0)
  test(true):build(core_options)(x)
  t.eq(x[0], 3.0)
  guarded(true):build(core_options)(f32[4](1), f32[4](0))
  half(f32):build {target = "verilog"}
  t.fails(function() half(f32):build {target = "cpu", math = "cores"} end, {code = "option-value"})
end)

if not case.has "iverilog" then t.done() return end

t.test("functions as Verilog", function()
  for _, f in ipairs(formats) do
    local n = f[1] == f32 and 9 or 5
    case.run(all_of(f, n), {words(f, n), f[1][n][5](0)})
  end
end)

t.test("softmax and GELU as Verilog", function()
  for _, size in ipairs {{2, 8}, {3, 5}} do
    local M, N = size[1], size[2]
    case.run(nn.softmax {M = M, N = N}, {tide.random(f32[M][N], 1, {lo = -4, hi = 4}), f32[M][N](0)})
    local s = nn.schedule(nn.gelu {shape = {M, N}})
    local X = tide.random(f32[M][N], 2, {lo = -4, hi = 4})
    case.run(s, {X, f32[M][N](0)}, {sim = M == 2 and case.has "verilator" and "verilator" or "icarus"})
  end
end)

t.done()
