-- fma.lua - fma: products and sums of one float type; verify says fused.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, f16, f32, f64, grid = tide.i32, tide.f16, tide.f32, tide.f64, tide.grid

local function close(a, b) return a:allclose(b) end

local function gemm(T, U, z)
  local M, N, K = z and z.M or 3, z and z.N or 4, z and z.K or 5
  local gemm = tide.kernel {A = T[M][K], B = T[K][N], C = U[M][N], function(A, B, C)
    for i, j, k in grid(M, N, K) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
  end}
  return gemm, {T[M][K], T[K][N], U[M][N]}
end

local function accepted(name, c)
  c.level, c.equal, c.step = "fused", close, c.step or {"fma"}
  prim.accepted(name, c)
end

accepted("a perfect nest", {
  of = function(z) return gemm(f32, f32, z) end,
  has = {"C[i][j] = tide.fma(A[i][k], B[k][j], C[i][j])"}, other = {{M = 1, N = 2, K = 7}},
})
accepted("doubles, after a split with a tail", {
  of = function(z) return gemm(f64, f64, z) end, before = function(s) s:split("k", 2) end,
  other = {{M = 2, N = 2, K = 9}},
})
accepted("half precision", {of = function(z) return gemm(f16, f16, z) end})
accepted("a triangle, the product on the left", {
  of = function(z)
    local N = z.N or 6
    return tide.kernel {A = f32[N][N], x = f32[N], y = f32[N], function(A, x, y)
      for i = 0, N - 1 do for j = 0, i do y[i] = A[i][j] * x[j] + y[i] end end
    end}, {f32[N][N], f32[N], f32[N]}
  end, has = {"tide.fma(A[i][j], x[j], y[i])"}, other = {{N = 2}},
})
accepted("a polynomial and two products", {
  of = function()
    return tide.kernel {A = f32[8], B = f32[8], function(A, B)
      for i = 0, 7 do
        B[i] = (A[i] * 2 + 3) * A[i] + 1
        A[i] = A[i] * A[i] + B[i] * B[i]
      end
    end}, {f32[8], f32[8]}
  end, has = {"tide.fma(tide.fma(A[i], 2.0, 3.0), A[i], 1.0)"},
})
accepted("the loop named, and only that", {
  of = function()
    return tide.kernel {A = f32[4], B = f32[4], function(A, B)
      for i = 0, 3 do A[i] = A[i] * 3 + 1 end
      for j = 0, 3 do B[j] = B[j] * 3 + 1 end
    end}, {f32[4], f32[4]}
  end, step = {"fma", "j"}, has = {"A[i] = A[i] * 3.0 + 1.0", "B[j] = tide.fma(B[j], 3.0, 1.0)"},
})
accepted("a callee's loop", {
  of = function()
    local axpy = tide.kernel {x = f32[5], y = f32[5], a = f32, function(x, y, a)
      for i = 0, 4 do y[i] = a * x[i] + y[i] end
    end}
    return tide.kernel {X = f32[2][5], Y = f32[2][5], function(X, Y)
      for r = 0, 1 do axpy(X[r], Y[r], X[0][r]) end
    end}, {f32[2][5], f32[2][5]}
  end, step = {"fma", "axpy:i"},
})
accepted("whole tensors", {
  of = function()
    return tide.kernel {A = f32[5], B = f32[5], C = f32[5], function(A, B, C)
      C:set(A * B + C)
    end}, {f32[5], f32[5], f32[5]}
  end, has = {"C:set(tide.fma(A, B, C))"},
})

prim.twins("integers", {
  of = function(T) return gemm(T, T) end, no = i32, yes = f32, step = {"fma"}, kind = "usage",
  code = "nothing-to-fuse", level = "fused", equal = close,
})
prim.twins("a product that is rounded before it is added", {
  of = function(T) return gemm(T, f32) end, no = f16, yes = f32, step = {"fma"}, kind = "usage",
  code = "nothing-to-fuse", level = "fused", equal = close,
})
prim.twins("a difference", {
  of = function(plus)
    return tide.kernel {A = f32[4], function(A)
      for i = 0, 3 do
        if plus then A[i] = A[i] * 2 + 1 else A[i] = A[i] * 2 - 1 end
      end
    end}, {f32[4]}
  end, no = false, yes = true, step = {"fma"}, kind = "usage", code = "nothing-to-fuse",
  level = "fused", equal = close,
})
prim.refused("once is enough", {
  of = function() return gemm(f32, f32) end, before = function(s) s:fma() end, step = {"fma"},
  kind = "usage", code = "nothing-to-fuse"})
prim.refused("a loop without a product", {
  of = function()
    return tide.kernel {A = f32[4], function(A)
      for i = 0, 3 do A[i] = A[i] + 1 end
      for j = 0, 3 do A[j] = A[j] * 2 + 1 end
    end}, {f32[4]}
  end, step = {"fma", "i"}, kind = "usage", code = "nothing-to-fuse"})
prim.refused("a loop that is not there", {
  of = function() return gemm(f32, f32) end, step = {"fma", "q"}, kind = "usage",
  code = "no-loop"})

t.done()
