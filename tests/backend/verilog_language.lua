-- [slow]
-- verilog_language.lua - statements of the language as Verilog: fills, whole arrays, tables, states, loops and tests
-- that data decides, jumps, calls; each at two sizes, in the values and cycles of the timed run.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i8, i16, i32, grid = tide.i8, tide.i16, tide.i32, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- States that f(n) runs for each n of a list.
local function each(name, list, f)
  t.test(name, function()
    for _, n in ipairs(list) do case.run(f(n)) end
  end)
end

local function words(n, seed) return tide.random(i32[n], seed or 1, {lo = -9, hi = 9}) end

each("arrays that are filled, set and multiplied", {3, 5}, function(n)
  return tide.kernel {
    name = "whole", x = i32[n][4], y = i32[n][4], z = i32[n][n],
    function(x, y, z)
      local b = i32[n][4](7)
      b:set(x + b)
      y:set(b * x)
      local c = i32[4][n](x[0][1])
      z:set(tide.matmul(y, c))
    end,
  }, {tide.random(i32[n][4], 1), i32[n][4](0), i32[n][n](0)}
end)

each("arrays in registers are filled at once", {4, 6}, function(n)
  local k = tide.kernel {
    name = "window", x = i16[n], y = i16[n],
    function(x, y)
      local w = i16[n](3)
      for i in grid(n) do w[n - 1 - i] = w[n - 1 - i] + x[i] end
      for i in grid(n) do y[i] = w[i] end
    end,
  }
  return tide.schedule(k):partition("w", 0), {tide.random(i16[n], 1), i16[n](0)}
end)

each("constant tables, in memories and registers", {3, 7}, function(n)
  local taps, few = tide.random(i8[n], 5), tide.random(i8[n][2], 6)
  return tide.kernel {
    name = "fir", x = i32[n + 4], y = i32[5],
    function(x, y)
      for i in grid(5) do
        local s = i32(0)
        for k in grid(n) do s = s + taps[k] * x[i + k] - few[k][i % 2] end
        y[i] = s
      end
    end,
  }, {words(n + 4), i32[5](0)}
end)

t.test("states keep what earlier calls left, and forget it on reset", function()
  for _, n in ipairs {2, 5} do
    local calls, sum = tide.state(i32[1], 3), tide.state(i32[n], 1)
    local k = tide.kernel {
      name = "count", x = i32[n], y = i32[n],
      function(x, y)
        for i in grid(n) do
          sum[i] = sum[i] + x[i]
          y[i] = sum[i] * calls[0]
        end
        calls[0] = calls[0] + 1
      end,
    }
    local m, x = k:build {target = "verilog", sim = "icarus"}, words(n)
    local function call()
      local y = i32[n](0)
      m(x, y)
      return y:table()
    end
    local first, second = call(), call()
    t.eq(first[1], (1 + x[0]) * 3)
    t.eq(second[n], (1 + 2 * x[n - 1]) * 4)
    m:reset()
    t.eq(call(), first)
  end
end)

each("loops that data ends: while, repeat", {4, 9}, function(n)
  return tide.kernel {
    name = "search", x = i32[n], y = i32[3],
    function(x, y)
      local i, k = i32(0), i32(0)
      while i < n and x[i] > -7 do
        y[0] = y[0] + x[i]
        i = i + 1
      end
      while x[0] > 100 do y[1] = 1 end
      repeat
        y[2] = y[2] + k * k
        k = k + 1
      until k * k > n
    end,
  }, {words(n, n), i32[3](0)}
end)

each("bounds from memory, parameters and loops", {4, 7}, function(n)
  return tide.kernel {
    name = "rows", ptr = i32[n + 1], x = i32[n], y = i32[n], m = i32,
    function(ptr, x, y, m)
      for i in grid(n) do
        for k = ptr[i], ptr[i + 1] - 1 do y[i] = y[i] + k * x[i] end
        for k = i, m - 1 do y[i] = y[i] - k end
      end
    end,
  }, {tide.tensor(i32[n + 1], (function()
    local p, at = {}, 0
    for i = 1, n + 1 do
      p[i] = at
      at = at + (i * 5) % 4
    end
    return p
  end)()), words(n), i32[n](0), n - 2}
end)

each("a pipelined loop of as many iterations as data says", {5, 8}, function(n)
  local k = tide.kernel {
    name = "some", count = i32[1], x = i32[n], y = i32[n],
    function(count, x, y)
      for i = 1, count[0] do y[i] = x[i] * x[i - 1] end
    end,
  }
  return tide.schedule(k):pipeline("i"), {tide.tensor(i32[1], {n - 2}), words(n), i32[n](0)}
end)

each("conditions from data around loops", {4, 6}, function(n)
  return tide.kernel {
    name = "choose", x = i32[n], y = i32[n],
    function(x, y)
      for i in grid(n) do
        if x[i] > 2 then
          for j in grid(3) do y[i] = y[i] + j end
        elseif x[i] * x[i] > 30 then
          for j in grid(2) do y[i] = y[i] - x[j] end
        end
      end
    end,
  }, {words(n, 3), i32[n](0)}
end)

local function search(n, pipelined)
  local k = tide.kernel {
    name = "jump", x = i32[n][n], y = i32[n],
    function(x, y)
      for i in grid(n) do
        for j in grid(n, "j") do
          if x[i][j] > 8 then return end
          y[i] = y[i] + x[i][j]
          if x[i][j] < -6 then break end
          y[i] = y[i] + 1
        end
        y[i] = y[i] * 2
      end
      y[0] = -1
    end,
  }
  return pipelined and tide.schedule(k):pipeline("j") or k, {tide.random(i32[n][n], n, {lo = -9, hi = 9}), i32[n](0)}
end
each("break and return", {3, 6, 7}, search)
t.test("a pipelined loop that rewinds is refused", function()
  local function rows(options)
    local k = tide.kernel {
      name = "rows", x = i32[4][5], y = i32[4][5],
      function(x, y)
        for i in grid(4) do
          for j in grid(5, "j") do y[i][j] = x[i][j] * 3 end
        end
      end,
    }
    local s = tide.schedule(k)
    return options and s:pipeline("j", 1, options) or s:pipeline("j", 1)
  end
  t.fails(function() rows({rewind = true}):build {target = "verilog"} end, {code = "not-built", match = "rewinds"})
  case.run(rows(), {tide.random(i32[4][5], 1), i32[4][5](0)})
end)

each("bounds that are the greater of two, around what they are added to", {6, 9}, function(n)
  local k = tide.kernel {
    name = "tri", L = i16[n][n], x = i32[n], y = i32[n],
    function(L, x, y)
      for i in grid(n) do
        for j = tide.max(0, i - 2), i do y[i] = y[i] + L[i][j] * x[j] end
      end
    end,
  }
  return k, {tide.random(i16[n][n], 1), words(n), i32[n](0)}
end)

each("a break out of copies side by side leaves them all", {4, 6}, function(n)
  local k = tide.kernel {
    name = "first", x = i32[2 * n], y = i32[3],
    function(x, y)
      for i in grid(2) do
        for j in grid(n, "j") do
          if x[i * n + j] < -2 then break end
          y[i] = y[i] + x[i * n + j]
        end
        y[2] = y[2] + 1
      end
    end,
  }
  return tide.schedule(k):unroll("j"), {words(2 * n, 4), i32[3](0)}
end)

local function caller(n)
  local scale = tide.kernel {
    name = "scale", a = i32[n], by = i32,
    function(a, by)
      for i in grid(n) do
        if a[i] == 100 then return end
        a[i] = a[i] * by
      end
    end,
  }
  local twice = tide.kernel {
    name = "twice", a = i32[n], b = i32[n], at = i32,
    function(a, b, at)
      scale(a, b[at])
      scale(b, a[0])
    end,
  }
  return tide.kernel {
    name = "main", x = i32[3][n], y = i32[n],
    function(x, y)
      for i in grid(3) do twice(x[i], y, i) end
      scale(x[1], 5)
    end,
  }, {tide.random(i32[3][n], 1, {lo = -3, hi = 3}), tide.random(i32[n], 2, {lo = -3, hi = 3})}
end
each("calls of calls, on rows and with values from memory", {4, 5}, caller)

t.test("a call of foreign code without a model is refused, a kernel is not", function()
  local f = tide.extern {name = "ext", x = i32[4], source = "void ext(int *x) { x[0] = 1; }"}
  local k = tide.kernel {name = "k", x = i32[4], function(x) for _ in grid(2) do f(x) end end}
  local e = t.fails(function() k:build {target = "verilog"} end, {code = "not-built"})
  t.has(e.message, "ext")
end)

t.done()
