-- [slow]
-- verilog_devices.lua - the word `device` of Verilog builds: on ice40 in its own cycles, on ideal without time between
-- registers, or refused where that cannot be.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i8, i16, i32, f32, task, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local function saxpy(n)
  return tide.kernel {
    name = "saxpy", x = i16[n], y = i16[n], a = i16,
    function(x, y, a)
      for i in grid(n) do y[i] = y[i] + a * x[i] end
    end,
  }, {tide.random(i16[n], 1), tide.random(i16[n], 2), 3}
end

local function gemm(m, n, k)
  local f = tide.kernel {
    name = "gemm", A = i8[m][k], B = i8[k][n], C = i32[m][n],
    function(A, B, C)
      for i, j in grid(m, n) do
        for l = 0, k - 1 do C[i][j] = C[i][j] + A[i][l] * B[l][j] end
      end
    end,
  }
  return f, {tide.random(i8[m][k], 1), tide.random(i8[k][n], 2), i32[m][n](0)}
end

local function pipe(n, depth)
  return tide.design(function(d)
    local z = d:stream(i16, {depth = depth})
    d.src = task {X = i16[n], function(X) for k in grid(n) do z:put(X[k] * 3) end end}
    d.dst = task {Y = i32[n], function(Y) for k in grid(n) do Y[k] = z:get() + k end end}
  end), {tide.random(i16[n], 3), i32[n](0)}
end

t.test("on ice40, in other cycles than on rtl", function()
  for _, n in ipairs {4, 9} do
    local k, args = saxpy(n)
    case.run(k, args, {device = "ice40"})
    local s = tide.schedule(k):pipeline "i"
    local slow = case.run(s, args, {device = "ice40"})
    t.ok(slow > case.run(s, args), "the products of rtl fit into the cycle of a read")
    case.run(tide.schedule((gemm(2, 3, n))):pipeline "l", select(2, gemm(2, 3, n)), {device = "ice40"})
    local d, tokens = pipe(n, 2)
    case.run(tide.schedule(d):pipeline "src:k":pipeline "dst:k", tokens, {device = "ice40"})
  end
  local f = tide.kernel {x = f32[4], y = f32[4], function(x, y) for i in grid(4) do y[i] = x[i] * x[i] + y[i] end end}
  case.run(f, {tide.random(f32[4], 1), tide.random(f32[4], 2)}, {device = "ice40"})
end)

t.test("the estimate and the timed run take the same word", function()
  local e = saxpy(8):estimate {device = "ice40"}
  t.eq(e.target, "ice40")
  t.ok(e.path > 10 and e.path <= 16, e.path)
  local wide = tide.kernel {x = tide.i64[8], function(x) for i in grid(8) do x[i] = x[i] + i end end}
  t.ok(wide:estimate {device = "ice40"}.path > saxpy(8):estimate {device = "rtl"}.path)
end)

t.test("on ideal control takes no time: a cycle for each iteration", function()
  for _, n in ipairs {5, 8} do
    local k, args = saxpy(n)
    t.eq(case.run(k, args, {device = "ideal"}), n)
    t.eq(case.run(tide.schedule(k):pipeline "i", args, {device = "ideal"}), n)
    local f, matrices = gemm(3, 4, n)
    t.eq(case.run(f, matrices, {device = "ideal"}), 12 * n)
    t.eq(case.run(tide.schedule(f):unroll "l", matrices, {device = "ideal"}), 12)
    local d, tokens = pipe(n, 2)
    t.eq(case.run(d, tokens, {device = "ideal"}), n + 1)
  end
end)

-- Refuses p on ideal with a place; on rtl it runs.
local function zero_time(p, args, word)
  local e = t.fails(function() p:build {target = "verilog", device = "ideal"} end, {code = "zero-time"})
  t.has(e.help, 'device = "rtl"')
  t.has(tostring(e), word)
  case.run(p, args)
end

t.test("what takes no time there and needs some in hardware is refused", function()
  local rows = tide.kernel {
    name = "rows", p = i32[5], x = i32[8], y = i32[4],
    function(p, x, y)
      for i in grid(4) do
        for k = p[i], p[i + 1] - 1 do y[i] = y[i] + x[k] end
      end
    end,
  }
  zero_time(rows, {tide.tensor(i32[5], {0, 2, 2, 2, 7}), tide.random(i32[8], 1), i32[4](0)}, "'k'")
  local back = tide.kernel {
    name = "back", A = i32[8], b = i32[8], y = i32[8],
    function(A, b, y)
      for i in grid(8) do
        A[b[i]] = i
        y[i] = A[7 - b[i]]
      end
    end,
  }
  zero_time(back, {i32[8](3), tide.tensor(i32[8], {1, 2, 3, 7, 5, 6, 4, 0}), i32[8](0)}, "reads what is stored")
  zero_time(tide.schedule((gemm(2, 2, 3))):pipeline "l", select(2, gemm(2, 2, 3)), "'l'")
end)

t.done()
