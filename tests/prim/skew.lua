-- skew.lua - skew: the range of an inner loop moves with an outer one; wavefronts.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, f32, grid = tide.i32, tide.f32, tide.grid
local shape = prim.shape

-- Gauss-Seidel in one dimension: T sweeps.
local function seidel(z)
  local N, T = z.N or 9, z.T or 4
  return tide.kernel {A = f32[N], function(A)
    for t = 0, T - 1 do -- luacheck: ignore 213
      for i = 1, N - 2 do A[i] = (A[i - 1] + A[i] + A[i + 1]) * 0.5 end
    end
  end}, {f32[N]}
end

prim.accepted("a perfect nest", {
  of = shape.gemm, step = {"skew", "i", "k", 1}, has = {"for k = i, K + i - 1 do", "A[i][k - i]"},
  other = {{M = 2, N = 3, K = 1}, {M = 3, N = 2, K = 9}},
})
prim.accepted("two loops up", {of = shape.cube, step = {"skew", "x", "v", 2}, other = {{P = 4, Q = 2, R = 3}}})
prim.accepted("a triangle, backward", {
  of = shape.triangle, step = {"skew", "i", "j", -1}, has = {"for j = 0 - i, 0 do"}, other = {{N = 1}, {N = 9}},
})
prim.accepted("loops of a split with a tail", {
  of = shape.scale, before = function(s) s:split("i", 3) end, step = {"skew", "i_o", "i_i", 3},
  other = {{N = 1}, {N = 8}},
})
prim.accepted("inside a callee", {
  of = shape.callee, step = {"skew", "row:i", "row:j", 2}, other = {{M = 1, N = 7}},
})
prim.accepted("an imperfect nest, an outer loop with a step", {
  of = function()
    return tide.kernel {A = i32[9][9], B = i32[9], function(A, B)
      for i = 0, 8, 2 do
        B[i] = i
        for j = i, 8, 3 do A[i][j] = A[i][j] + B[i] end
        B[i] = B[i] + A[i][i]
      end
    end}, {i32[9][9], i32[9]}
  end, step = {"skew", "i", "j", -1},
})
prim.accepted("a wavefront: Seidel, skewed, is turned", {
  of = seidel, before = function(s) s:skew("t", "i", 2) end, step = {"reorder", "i", "t"},
  other = {{N = 3, T = 1}, {N = 12, T = 7}, {N = 5, T = 2}},
}, function(s)
  s:parallel("t")
  t.ok(s:verify())
end)
prim.accepted("time tiles of Seidel", {
  of = seidel, before = function(s) s:split("t", 2):skew("t_i", "i", 2):reorder("i", "t_i"):split("i", 3) end,
  step = {"reorder", "t_i", "i_i"}, other = {{N = 11, T = 5}},
})
prim.accepted("a wavefront in two dimensions", {
  of = function(z)
    local N = z.N or 6
    return tide.kernel {A = i32[N][N], function(A)
      for i, j in grid({1, N}, {1, N}) do A[i][j] = A[i - 1][j] + A[i][j - 1] end
    end}, {i32[N][N]}
  end, before = function(s) s:skew("i", "j", 1):reorder("j", "i") end, step = {"parallel", "i"},
  other = {{N = 2}, {N = 9}},
})

prim.twins("a skew that is not enough for the order", {
  of = function(_, z) return seidel(z or {}) end, no = 1, yes = 1, step = {"reorder", "i", "t"},
  yes_step = {"skew", "t", "i", 2}, code = "dependence", witness = "A",
})
prim.twins("a wavefront that carries", {
  of = function(by)
    return tide.kernel {A = i32[7][9], function(A)
      for i, j in grid({1, 6}, {1, 6}) do A[i][j] = A[i - 1][j + by] + A[i][j - 1] end
    end}, {i32[7][9]}
  end, no = 2, yes = 1, before = function(s) s:skew("i", "j", 1) end, step = {"reorder", "j", "i"},
  yes_step = {"reorder", "j", "i"}, code = "dependence", witness = "A",
})
local function of(_, z) return shape.gemm(z or {}) end
for _, c in ipairs {
  {"by nothing", {"skew", "i", "k", 0}, {"skew", "i", "k", 1}, "amount", "usage"},
  {"too far", {"skew", "i", "k", 1 << 40}, {"skew", "i", "k", 7}, "amount", "usage"},
  {"inside out", {"skew", "k", "i", 1}, {"skew", "i", "k", 1}, "not-a-nest"},
  {"a loop with itself", {"skew", "k", "k", 1}, {"skew", "j", "k", 1}, "not-a-nest"},
  {"a loop that is not there", {"skew", "i", "x", 1}, {"skew", "i", "j", 1}, "no-loop", "usage"},
} do
  prim.twins(c[1], {of = of, no = 1, yes = 1, step = c[2], yes_step = c[3], code = c[4], kind = c[5]})
end
prim.twins("loops in a row", {
  of = function(nested)
    return tide.kernel {A = i32[4][4], function(A)
      for i = 0, 3 do
        A[i][0] = i
        if nested then
          for j = 0, 3 do A[i][j] = j end
        end
      end
      if not nested then
        for j = 0, 3 do A[0][j] = j end
      end
    end}, {i32[4][4]}
  end, no = false, yes = true, step = {"skew", "i", "j", 1}, code = "not-a-nest",
})

t.done()
