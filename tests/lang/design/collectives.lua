-- Collectives: an allreduce is a task and streams of its own where a step, a graph, the compiled run
-- or HLS C++ needs it; the reference run has its instances meet. Both give the same bits.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local i8, i16, i32, f32, task, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.task, tide.grid

-- Adds to a design a task that has nothing to do with its others, so that a bundle of it leaves
-- them alone but makes their collectives explicit.
local function beside(d)
  d.other = task {map = {2}, X = i32[2]:layout "S0", function(X) X[0] = X[0] + 1 end}
end

-- States that a design runs alike in every way, with its collectives meeting or explicit; the
-- printed form of the explicit one.
local function explicit(build, ...)
  local top = tide.design(function(d)
    build(d)
    beside(d)
  end)
  p.foreign(top, ...)
  local s = tide.schedule(top)
  s:bundle("other")
  t.eq(s:verify(), "strict")
  p.foreign(load(tostring(s))(), ...)
  return tostring(s), top:graph()
end

t.test("a sum that the task ends by storing is stored by the collector", function()
  local M, N, K = 4, 6, 8
  local text, graph = explicit(function(d)
    d.mm = task {map = {2, 2, 3}, A = i8[M][K]:layout "S1S0", B = i8[K][N]:layout "S0S2",
      C = i32[M][N]:layout "S1S2", function(A, B, C) C:set(tide.allreduce(tide.matmul(A, B), "+")) end}
  end, tide.random(i8[M][K], 1), tide.random(i8[K][N], 2), i32[M][N](0), i32[2](0))
  t.has(text, "d.mm_allreduce = tide.task {\n    map = {2, 3},\n    C = C:layout \"S0S1\",")
  t.ok(not text:find "mm_sum")
  t.eq({graph.nodes, graph.streams}, {12 + 6 + 2, 12})
end)

t.test("a sum that the task goes on with comes back", function()
  local text = explicit(function(d)
    d.r = task {map = {4}, A = f32[4][8]:layout "S0R", B = f32[4][8]:layout "S0R", function(A, B)
      local sum = tide.allreduce(A, "+")
      B:set(A - sum)
    end}
  end, tide.random(f32[4][8], 1), f32[4][8](0), i32[2](0))
  t.has(text, "r_part[x]:put(A)")
  t.has(text, "local sum = r_sum[x]:get()")
end)

t.test("maximum and minimum begin with the first part, a sum with zero", function()
  for _, op in ipairs {"max", "min", "+"} do
    explicit(function(d)
      d.r = task {map = {3}, A = f32[3][2]:layout "S0R", B = f32[3][2]:layout "S0R", function(A, B)
        B:set(tide.allreduce(A, op))
      end}
    end, tide.tensor(f32[3][2], {{-1, -0.0}, {-3, -0.0}, {-2, -0.0}}), f32[3][2](0), i32[2](0))
  end
end)

t.test("several rounds, two collectives, ids that the task names", function()
  local text = explicit(function(d)
    d.r = task {map = {2, 3}, A = i16[6][6]:layout "S0S1", B = i32[2][3]:layout "S0S1",
      function(A, B, i, j)
        local sum = i32(0)
        for n in grid(3) do
          local low = tide.allreduce(A:slice({n, n + 1}, {0, 1}), "min")
          local all = tide.allreduce(A:slice({n, n + 1}, {}), "+")
          sum = sum + low[0][0] * (n + 1) + all[0][1] * (i + j)
        end
        B[0][0] = sum
      end}
  end, tide.random(i16[6][6], 1), i32[2][3](0), i32[2](0))
  t.has(text, "d.r_allreduce = ")
  t.has(text, "d.r_allreduce_1 = ")
end)

t.test("under control that data decides the instances go on meeting", function()
  local function tasks(guarded)
    local top = tide.design(function(d)
      d.r = task {map = {2}, A = i32[2][4]:layout "S0R", N = i32[1], B = i32[2][4]:layout "S0R",
        function(A, N, B)
          if guarded and N[0] > 0 then B:set(tide.allreduce(A, "+")) end
          if not guarded then B:set(tide.allreduce(A, "+")) end
        end}
    end, {check = false})
    return top:graph().nodes
  end
  t.eq(tasks(false), 3)
  t.eq(tasks(true), 2)
end)

t.test("a loop that ends early beside a collective is none of its business", function()
  local function tasks(around)
    local top = tide.design(function(d)
      d.r = task {map = {2}, A = i32[2][4]:layout "S0R", B = i32[2][4]:layout "S0R", function(A, B)
        local n = i32(0)
        for k = 0, 3 do
          if A[0][k] > 5 then break end
          n = n + 1
          if around then B:set(tide.allreduce(A, "+")) end
        end
        if not around then B:set(tide.allreduce(A, "+")) end
        B[0][0] = B[0][0] + n
      end}
    end, {check = false})
    return top:graph().nodes, top
  end
  local n, top = tasks(false)
  t.eq(n, 3)
  p.foreign(top, tide.random(i32[2][4], 1, {lo = 0, hi = 9}), i32[2][4](0))
  t.eq((tasks(true)), 2)
end)

t.test("bundle and chain over a collective: Dato, Fig. 7, at other sizes and names", function()
  for _, z in ipairs {{8, 8, 8, 2, 2, 2}, {6, 4, 12, 4, 3, 2}, {5, 7, 9, 3, 1, 1}} do
    local M, N, K, Pk, Pm, Pn = table.unpack(z)
    local top = tide.design(function(d)
      d.product = task {map = {Pk, Pm, Pn}, L = i8[M][K]:layout "S1S0", R = i8[K][N]:layout "S0S2",
        O = i32[M][N]:layout "S1S2", function(L, R, O)
          O:set(tide.allreduce(tide.matmul(L, R), "+"))
        end}
    end)
    local s = tide.schedule(top)
    local parts, tiles = Pk * Pm * Pn, Pm * Pn
    t.eq(s:graph().nodes, parts + tiles)
    s:bundle("product", {axis = 0})
    t.eq(s:graph().nodes, tiles + tiles)
    t.eq(s:verify(), "strict")
    s:chain("product", "product_allreduce")
    t.eq(s:graph().nodes, tiles)
    t.eq(s:verify(), "strict")
    local A, B, C = tide.random(i8[M][K], 1), tide.random(i8[K][N], 2), i32[M][N](0)
    s(A, B, C)
    t.ok(C:equal(tide.matmul(A, B)))
  end
end)

-- SUMMA with a running block: the parts of a sum go from column to column, and column 0 alone stores. `how`: what is
-- handed on, and who stores.
local function summa(P, how)
  local M, N, K = 6, 4, 12
  local m = M // P
  local top = tide.design(function(d)
    local Z = d:stream(i32[M // P][N], {P, P, depth = 2})
    d.gemm = task {
      map = {P, P}, A = i32[M][K]:layout "S0S1", B = i32[K][N]:layout "S1R", C = i32[M][N],
      function(A, B, C, i, j)
        local run, part = i32[M // P][N](0), tide.matmul(A, B)
        if j < P - 1 then run:set(Z[i][j]:get()) end
        if how == "twice" then run:set(run + run + part) else run:set(run + part) end
        if j > 0 then
          if how == "own" then Z[i][j - 1]:put(part) else Z[i][j - 1]:put(run) end
        end
        if how == "middle" then
          if j == 1 then C:slice({i * m, i * m + m}, {}):set(run) end
        else
          if j == 0 then C:slice({i * m, i * m + m}, {}):set(run) end
        end
      end,
    }
  end)
  local A, B = tide.random(i32[M][K], 1, {lo = -9, hi = 9}), tide.random(i32[K][N], 2, {lo = -9, hi = 9})
  local C = i32[M][N](0)
  top(A, B, C)
  return C:equal(tide.matmul(A, B))
end

t.test("a sum whose parts travel by streams is complete at the end", function()
  for _, P in ipairs {2, 3, 6} do t.ok(summa(P, "run")) end
  t.ok(summa(2, "own"), "of two, each hands on its own part")
end)
for _, how in ipairs {"own", "twice", "middle"} do
  t.test("a sum that is not complete where it is stored: " .. how, function()
    t.fails(function() summa(3, how) end, {kind = "illegal", code = "pending-sum"})
  end)
end

p.done()
