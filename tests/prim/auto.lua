-- auto: the steps of a schedule that was searched for: never worse than none, within what is allowed, each by the
-- primitives, the same each time.
-- [slow]
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i16, i32, f32, grid, task = tide.i16, tide.i32, tide.f32, tide.grid, tide.task

local function gemm(M, N, K)
  return tide.kernel {
    A = f32[M][K], B = f32[K][N], C = f32[M][N],
    function(A, B, C)
      for i, j in grid(M, N) do
        for k in tide.reduction(K) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end,
  }, {f32[M][K], f32[K][N], f32[M][N]}
end

local function conv(H, W, R)
  return tide.kernel {
    A = i16[H + R - 1][W + R - 1], K = i16[R][R], B = i32[H][W],
    function(A, K, B)
      for y, x in grid(H, W) do
        local s = i32(0)
        for r, c in grid(R, R) do s = s + A[y + r][x + c] * K[r][c] end
        B[y][x] = s
      end
    end,
  }, {i16[H + R - 1][W + R - 1], i16[R][R], i32[H][W]}
end

local function two_products(P, Q, R, S)
  return tide.kernel {
    A = i32[P][Q], B = i32[Q][R], C = i32[R][S], D = i32[P][S],
    function(A, B, C, D)
      local T = i32[P][R](0)
      for i, j, k in grid(P, R, Q) do T[i][j] = T[i][j] + A[i][k] * B[k][j] end
      for i, j, k in grid(P, S, R) do D[i][j] = D[i][j] + T[i][k] * C[k][j] end
    end,
  }, {i32[P][Q], i32[Q][R], i32[R][S], i32[P][S]}
end

local function stencil(n, times)
  return tide.kernel {
    A = f32[n][n], B = f32[n][n],
    function(A, B)
      for _ in grid(times) do
        for i = 1, n - 2 do
          for j = 1, n - 2 do
            B[i][j] = (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]) * 0.2
          end
        end
        for i = 1, n - 2 do
          for j = 1, n - 2 do A[i][j] = B[i][j] end
        end
      end
    end,
  }, {f32[n][n], f32[n][n]}
end

-- Searches a schedule with so many DSP; holds it against none, and against one by hand.
local function fast(name, dsp, hand, of)
  prim.accepted(name, {of = of, step = {"auto", {device = "u280", dsp = dsp, steps = 500}}}, function(s)
    local e = s:estimate {device = "u280"}
    local plain, by_hand = (of()):estimate {device = "u280"}, tide.schedule((of()))
    hand(by_hand)
    t.ok(e.cycles <= plain.cycles, "never worse than no schedule")
    t.ok(e.cycles <= by_hand:estimate({device = "u280"}).cycles, "nor than by hand")
    t.ok(e.dsp <= dsp, "DSP")
    local again = tide.schedule((of())):auto {device = "u280", dsp = dsp, steps = 500}
    t.eq(again:log(), s:log(), "the same each time")
    t.ok(not s:log():find("auto", 1, true), "the log has the steps")
    t.has(s:steps()[1].notes[2], "without these steps: " .. plain.cycles)
  end)
end

fast("a product", 60, function(s)
  s:reorder("k", "j")
  s:pipeline "j"
end, function() return gemm(12, 16, 20) end)
fast("a convolution", 40, function(s) s:pipeline "x" end, function() return conv(9, 11, 3) end)
fast("two products", 50, function(s) s:pipeline("k#1"):pipeline("k#2") end, function()
  return two_products(6, 7, 8, 9)
end)
fast("a stencil", 100, function(s) s:pipeline("j#1"):pipeline("j#2") end, function() return stencil(14, 3) end)
fast("the tasks of a design", 40, function() end, function()
  return tide.design(function(d)
    local z = d:stream(i32)
    d.send = task {A = i32[24], function(A) for i in grid(24) do z:put(A[i] * A[i]) end end}
    d.take = task {B = i32[24], function(B) for i in grid(24) do B[i] = z:get() + 1 end end}
  end), {i32[24], i32[24]}
end)

prim.accepted("threads of a CPU", {of = function() return gemm(40, 50, 30) end,
  step = {"auto", {target = "cpu", threads = 4}}}, function(s) t.has(s:log(), "s:parallel(") end)
prim.accepted("one thread is no reason for a parallel loop", {of = function() return gemm(40, 50, 30) end,
  step = {"auto", {target = "cpu", threads = 1}}}, function(s) t.ok(not s:log():find("parallel", 1, true)) end)

-- A multiplication of 32 bits, which takes 3 DSP however it is scheduled.
local function square()
  return tide.kernel {name = "square", A = i32[8], function(A) for i in grid(8) do A[i] = A[i] * A[i] end end}, {i32[8]}
end
local needs = (square()):estimate({device = "u280"}).dsp
prim.refused("DSP of which there are too few", {of = square, step = {"auto", {dsp = needs - 1}}, code = "infeasible",
  match = "no schedule of 'square' with"})
prim.accepted("as many DSP as it takes", {of = square, step = {"auto", {dsp = needs}}})
local function small() return gemm(3, 4, 5) end
prim.refused("a CPU without threads", {of = small, step = {"auto", {target = "cpu"}}, kind = "usage", code = "threads"})
prim.refused("threads of hardware", {of = small, step = {"auto", {threads = 2}}, kind = "usage", code = "target"})
prim.refused("DSP of a CPU", {of = small, step = {"auto", {target = "cpu", threads = 2, dsp = 4}}, kind = "usage",
  code = "target"})
prim.refused("no steps", {of = small, step = {"auto", {steps = 0}}, kind = "usage", code = "steps"})
prim.refused("no time", {of = small, step = {"auto", {seconds = 0}}, kind = "usage", code = "seconds"})
prim.refused("a size without a value", {
  of = function()
    return tide.kernel {A = i32[tide.size "n"], function(A) for i = 0, #A - 1 do A[i] = 1 end end}, {i32[4]}
  end,
  step = {"auto", {}}, kind = "usage", code = "size-unknown",
})

t.done()
