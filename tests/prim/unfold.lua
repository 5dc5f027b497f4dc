-- unfold: bands of every kernel become grids of instances; dependences between them are refused.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i32, f32, grid = tide.i8, tide.i32, tide.f32, tide.grid
local shape = prim.shape

prim.accepted("gemm", {
  of = shape.gemm, step = {"unfold", "PE"},
  other = {{M = 2, N = 3, K = 7}, {M = 1, N = 1, K = 1}},
  has = {
    "tide.design(function(d)", "d.PE = tide.task {", "map = {M, N}", "function(C, A, B, i, j)",
  },
}, function(_, task) t.eq(task, "PE") end)
prim.accepted("one axis of two", {
  of = shape.gemm, step = {"unfold", "PE", {1}}, has = {"map = {N}", "for i = 0, M - 1 do"},
})
prim.accepted("gemm, k outermost, then moved in", {
  of = function()
    return tide.kernel {A = i8[3][4], B = i8[4][2], C = i32[3][2], function(A, B, C)
      for q = 0, 3 do
        for y, x in grid(3, 2, "cell") do C[y][x] = C[y][x] + A[y][q] * B[q][x] end
      end
    end}, {i8[3][4], i8[4][2], i32[3][2]}
  end,
  before = function(s) s:reorder("y", "x", "q") end, step = {"unfold", "cell"},
})
prim.accepted("gemv", {
  of = function(z)
    local M, K = z.M or 4, z.K or 3
    return tide.kernel {A = f32[M][K], x = f32[K], y = f32[M], function(A, x, y)
      for r in grid(M, "row") do
        for k = 0, K - 1 do y[r] = y[r] + A[r][k] * x[k] end
      end
    end}, {f32[M][K], f32[K], f32[M]}
  end,
  step = {"unfold", "row"}, other = {{M = 1, K = 6}},
})
prim.accepted("a convolution, and a range that does not begin at 0", {
  of = function(z)
    local N = z.N or 9
    return tide.kernel {x = i32[N], w = i32[3], y = i32[N], function(x, w, y)
      for i in grid({1, N - 1}, "tap") do
        for k = 0, 2 do y[i] = y[i] + x[i + k - 1] * w[k] end
      end
    end}, {i32[N], i32[3], i32[N]}
  end,
  step = {"unfold", "tap"}, other = {{N = 5}},
})
prim.accepted("a stencil row in a time loop calls a design", {
  of = function()
    return tide.kernel {a = i32[6], b = i32[6], function(a, b)
      for time = 0, 2 do
        for i in grid({1, 5}, "cell") do b[i] = a[i - 1] + a[i] + a[i + 1] + time end
        a:set(b)
      end
    end}, {i32[6], i32[6]}
  end,
  step = {"unfold", "cell"}, has = {"for time = 0, 2 do", "local time = d:arg(index)"},
})
prim.accepted("A^T B with a buffer in each instance", {
  of = function(z)
    local K, M, N = z.K or 4, z.M or 2, z.N or 3
    return tide.kernel {U = i8[K][M], V = i8[K][N], W = i32[M][N], function(U, V, W)
      for c, r in grid(N, M, "mac") do
        for q = 0, K - 1 do W[r][c] = W[r][c] + U[q][r] * V[q][c] end
      end
    end}, {i8[K][M], i8[K][N], i32[M][N]}
  end,
  before = function(s) s:buffer_at("W", "r"):buffer_at("U", "r") end, step = {"unfold", "mac"},
  other = {{K = 1, M = 3, N = 2}},
})
prim.accepted("inside a callee", {of = shape.callee, step = {"unfold", "row:i"}})

-- A product in tiles, whose loops inside tiles become axes: those around and between them go into each instance.
local function tiled(z)
  local M, N, K = z.M or 4, z.N or 6, z.K or 5
  return tide.kernel {A = i8[M][K], B = i8[K][N], C = i32[M][N], function(A, B, C)
    for to in grid(M // 2) do
      for y in grid(2) do
        for uo in grid(N // 3) do
          for x in grid(3) do
            for q in grid(K) do
              C[to * 2 + y][uo * 3 + x] = C[to * 2 + y][uo * 3 + x] + A[to * 2 + y][q] * B[q][uo * 3 + x]
            end
          end
        end
      end
    end
  end}, {i8[M][K], i8[K][N], i32[M][N]}
end
prim.accepted("loops at any depth of a nest", {
  of = tiled, step = {"unfold", "to", {loops = {"y", "x"}, name = "cell"}},
  has = {"d.cell = tide.task {", "map = {2, 3}", "function(C, A, B, y, x)", "for uo = 0, N // 3 - 1 do"},
  other = {{M = 2, N = 3, K = 1}},
}, function(_, task) t.eq(task, "cell") end)
prim.refused("a loop at some depth that carries a dependence", {
  of = tiled, step = {"unfold", "to", {loops = {"y", "q"}}}, code = "dependence", witness = "C",
})
prim.refused("a loop that is not of the nest", {
  of = tiled, step = {"unfold", "uo", {loops = {"y", "x"}}}, code = "imperfect",
})
-- A nest that a loop's condition, or one of data, interrupts.
local function clamped(data)
  return function(z)
    local N = z.N or 7
    return tide.kernel {A = i32[N], B = i32[N], function(A, B)
      for o = 0, (N + 3) // 4 - 1 do
        for y = 0, 1 do
          for u = 0, 1 do
            if data then
              if A[0] > 0 then for r = 0, 0 do B[r] = 1 end end
            elseif o * 4 + y * 2 + u < N then
              for r = 0, 0 do B[o * 4 + y * 2 + u + r] = A[o * 4 + y * 2 + u] end
            end
          end
        end
      end
    end}, {i32[N], i32[N]}
  end
end
prim.accepted("an axis below a condition of loops", {
  of = clamped(false), step = {"unfold", "o", {loops = {"u", "r"}}}, other = {{N = 1}, {N = 4}, {N = 9}},
})
prim.refused("an axis below a condition of data", {
  of = clamped(true), step = {"unfold", "o", {loops = {"u", "r"}}}, code = "imperfect",
})

prim.twins("iterations that depend on each other", {
  no = -1, yes = 0, code = "dependence", witness = "a", step = {"unfold", "i"},
  of = function(by)
    return tide.kernel {a = i32[6], function(a)
      for i = 1, 5 do a[i] = a[i + by] + 1 end
    end}, {i32[6]}
  end,
})
prim.twins("a scalar of all iterations", {
  no = true, yes = false, code = "dependence", witness = "tmp", step = {"unfold", "i"},
  of = function(outside)
    return tide.kernel {a = i32[6], function(a)
      local tmp = i32[1](0)
      for i = 0, 5 do
        if outside then
          tmp[0] = a[i]
          a[i] = tmp[0] * 2
        else
          a[i] = a[i] * 2 + tmp[0]
        end
      end
    end}, {i32[6]}
  end,
})
prim.twins("an extent that another axis decides", {
  no = function()
    return tide.kernel {a = i32[4][4], function(a)
      for i = 0, 3 do --@ band(tri)
        for j = 0, i do a[i][j] = i + j end --@ band(tri)
      end
    end}
  end,
  yes = function()
    return tide.kernel {a = i32[4][4], function(a)
      for i, j in grid(4, 4, "tri") do a[i][j] = i + j end
    end}
  end,
  code = "extent", step = {"unfold", "tri"},
  of = function(make) return make(), {i32[4][4]} end,
})
prim.twins("more than the next loop", {
  no = true, yes = false, code = "imperfect", step = {"unfold", "B"},
  of = function(more)
    return tide.kernel {a = i32[3][4], b = i32[3], function(a, b)
      for i = 0, 2 do --@ band(B)
        for j = 0, 3 do a[i][j] = i * j end --@ band(B)
        if more then b[i] = i end
      end
    end}, {i32[3][4], i32[3]}
  end,
})
prim.twins("a first iteration in memory that an instance writes", {
  no = true, yes = false, code = "bound-written", kind = "unsupported", step = {"unfold", "i"},
  of = function(writes)
    return tide.kernel {a = i32[6], b = i32[2], function(a, b)
      for i = b[0] % 3, b[0] % 3 + 3 do
        a[i] = i
        if writes then b[0] = 1 end
      end
    end}, {i32[6], i32[2]}
  end, undecided = true,
})
for _, name in ipairs {"i/j", "end", "1st"} do
  prim.refused("a task that is called " .. name, {
    of = shape.gemm, step = {"unfold", "i", {0}, {name = name}}, kind = "usage", code = "name",
  })
end
prim.refused("the reduction of a gemm", {
  of = shape.gemm, before = function(s) s:reorder("k", "i", "j") end, step = {"unfold", "k"},
  code = "dependence", witness = "C",
})
prim.refused("an axis that is not there", {
  of = shape.gemm, step = {"unfold", "PE", {2}}, kind = "usage", code = "axes",
})

-- A layout gives each instance its block; along an axis that it does not name each would have a copy.
prim.accepted("a task that writes the block of a layout", {
  of = function()
    return tide.design(function(d)
      d.go = tide.task {map = {2}, A = tide.i32[8]:layout "S0", C = tide.i32[8]:layout "S0", function(A, C)
        for k = 0, 3 do C[k] = A[k] * 2 end
      end}
    end), {tide.i32[8], tide.i32[8]}
  end,
  step = {"unfold", "k"},
})

-- The size of the new axis is one that only the task has.
prim.accepted("a task whose size the design does not have", {
  of = function()
    local N = 6
    return tide.kernel {B = tide.i32[6], C = tide.i32[N], function(B, C)
      for j = 0, N - 1 do B[j] = B[j] * 2 end
      C[0] = B[0]
    end}, {tide.i32[6], tide.i32[N]}
  end,
  before = function(s) s:outline("j", "part"):dataflow("part") end, step = {"unfold", "j"},
})

-- At other sizes than its own a task may have no instances, and the run no memory of its own.
t.test("a task without instances at other sizes runs compiled", function()
  local function fill(N, body)
    return load(([[
      local tide = require "tide"
      local N = %d
      return tide.kernel {name = "fill", B = tide.i32[N + 1][2], function(B)
        for i = 0, N do
          for j = 0, 1 do %s end
        end
      end}]]):format(N, body))()
  end
  for _, body in ipairs {"B[i][j] = i + 10 * j", "B[i][j] = B[i][j] * 3", ""} do
    local s = tide.schedule(fill(6, body))
    s:split("i", 2, {tail = "cut"})
    s:unfold("i_t", {name = "rest"})
    local start, want = tide.random(i32[6][2], 1), i32[6][2](0)
    want:set(start)
    fill(5, body)(want)
    for _, tier in ipairs {"tcc", "cc"} do
      local B = i32[6][2](0)
      B:set(start)
      load(tostring(s))():at {N = 5}:build {target = "cpu", tier = tier}(B)
      t.ok(B:equal(want), tier .. ": " .. body)
    end
    t.eq(s:verify(), "strict")
  end
end)

t.done()
