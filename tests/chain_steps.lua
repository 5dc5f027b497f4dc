-- chain_steps.lua - kernels for random chains of steps, and the steps.
--   local chain = require "chain_steps"
--   for _, name in ipairs(chain.names) do local kernel, types, arrays = chain.kernels[name]() .. end
--   chain.random_step(schedule, arrays)  -- {primitive, arguments..}, by math.random
local prim = require "prim"
local tide = require "tide"
local i32, f32, grid = tide.i32, tide.f32, tide.grid

local M = {kernels = {}, names = {}}
local kernels = M.kernels

-- Kernels, the types of their arguments, and the arrays that steps may name.

function kernels.gemm()
  local k, types = prim.shape.gemm {}
  return k, types, {"A", "B", "C"}
end

function kernels.rows()
  local k, types = prim.shape.callee {}
  return k, types, {"A", "B", "row:a", "row:b"}
end

function kernels.solve()
  local N = 6
  return tide.kernel {L = f32[N][N], x = f32[N], b = f32[N], function(L, x, b)
    for i = 0, N - 1 do
      x[i] = b[i]
      for j = 0, i - 1 do x[i] = x[i] - L[i][j] * x[j] end
      x[i] = x[i] * L[i][i]
    end
  end}, {f32[N][N], f32[N], f32[N]}, {"L", "x", "b"}
end

function kernels.jacobi()
  local N, T = 6, 2
  return tide.kernel {A = f32[N][N], B = f32[N][N], function(A, B)
    for _ = 0, T - 1 do
      for i = 1, N - 2 do
        for j = 1, N - 2 do B[i][j] = A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] end
      end
      for x = 1, N - 2 do
        for y = 1, N - 2 do A[x][y] = B[x][y] + B[x - 1][y] + B[x][y + 1] end
      end
    end
  end}, {f32[N][N], f32[N][N]}, {"A", "B"}
end

function kernels.stages()
  local N, M = 5, 4
  return tide.kernel {A = i32[N][M], D = i32[N][M], function(A, D)
    local B = i32[N][M]()
    local C = i32[N][M]()
    for i, j in grid(N, M, "p") do B[i][j] = A[i][j] + 1 end
    for x, y in grid(N, M, "q") do C[x][y] = B[x][y] * 3 - B[x][0] end
    for u, v in grid(N, M, "r") do D[u][v] = C[u][v] + B[u][v] end
  end}, {i32[N][M], i32[N][M]}, {"A", "B", "C", "D"}
end

function kernels.conv()
  local N = 7
  return tide.kernel {A = f32[N][N], W = f32[3][3], B = f32[N - 2][N - 2], function(A, W, B)
    for y, x in grid(N - 2, N - 2) do
      local s = f32(0)
      for r, c in grid(3, 3) do s = s + A[y + r][x + c] * W[r][c] end
      B[y][x] = s
    end
  end}, {f32[N][N], f32[3][3], f32[N - 2][N - 2]}, {"A", "W", "B", "s"}
end

function kernels.cholesky()
  local N = 5
  return tide.kernel {A = f32[N][N], function(A)
    for i = 0, N - 1 do
      for j = 0, i - 1 do
        for k = 0, j - 1 do A[i][j] = A[i][j] - A[i][k] * A[j][k] end
        A[i][j] = A[i][j] * 2
      end
      for k = 0, i - 1 do A[i][i] = A[i][i] - A[i][k] * A[i][k] end
      A[i][i] = A[i][i] + 1
    end
  end}, {f32[N][N]}, {"A"}
end

local random = math.random
local function pick(list) return list[random(#list)] end

-- A random step.
function M.random_step(s, arrays)
  local loops = s:loops()
  if #loops == 0 then return {"partition", pick(arrays), 0} end
  local at = random(#loops)
  local here, beside = loops[at], loops[at + 1] or loops[1]
  return pick {
    {"split", here, random(2, 4), {tail = pick {"guard", "cut"}}},
    {"reorder", beside, here},
    {"reorder", pick(loops), here},
    {"fuse", here, beside},
    {"unroll", here, {replace = random() < 0.5}},
    {"unroll", here, 2, {replace = true}},
    {"parallel", here},
    {"shift", here, random(-2, 2)},
    {"skew", here, beside, pick {-1, 1, 2}},
    {"peel", here, random(2), {at = pick {"start", "end"}}},
    {"buffer_at", pick(arrays), here},
    {"reuse_at", pick(arrays), here},
    {"reshape", pick(arrays), {random(2, 6), random(2, 6)}},
    {"pack", pick(arrays), random(0, 1), pick {1, 2, 3}},
    {"bind", pick(arrays), {memory = pick {"bram", "register"}}},
    {"compute_at", pick(arrays), here},
    {"compute_at", pick(loops), here},
    {"fold_storage", pick(arrays)},
    {"inline", "row"},
    {"partition", pick(arrays), 0, {factor = 2}},
    {"pipeline", here},
  }
end

for name in pairs(kernels) do M.names[#M.names + 1] = name end
table.sort(M.names)
return M
