-- hls_schedules.lua - random schedules as HLS C++: kernels whose loops and arrays go through random steps, into tasks,
-- streams, buffers and calls; what is written compiles without a warning and computes what the CPU does.
local t = require "tap"
local batch = require "hls_batch"
local tide = require "tide"
local i8, i16, i32, f32, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.grid
local random = math.random
local count, first = require "campaign".range(60)

local function pick(list) return list[random(#list)] end

-- Kernels over elements of type T, with results of type U, at some extents.
local shape = {}

function shape.product(T, U, M, N, K)
  return tide.kernel {name = "k", A = T[M][K], B = T[K][N], C = U[M][N], function(A, B, C)
    for i, j in grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = U(C[i][j] + A[i][k] * B[k][j]) end
    end
  end}
end

function shape.outer(T, U, M, N, K)
  return tide.kernel {name = "k", A = T[K][M], B = T[K][N], C = U[M][N], function(A, B, C)
    for k = 0, K - 1 do
      for i, j in grid(M, N) do C[i][j] = U(C[i][j] + A[k][i] * B[k][j]) end
    end
  end}
end

function shape.two(T, U, M, N)
  return tide.kernel {name = "k", A = T[M][N], B = T[M][N], C = U[M][N], function(A, B, C)
    local X = U[M][N]()
    for i, j in grid(M, N, "first") do X[i][j] = U(A[i][j] * B[i][j]) end
    for p, q in grid(M, N, "second") do C[p][q] = U(X[p][q] + C[p][q]) end
  end}
end

function shape.four(T, U, M)
  return tide.kernel {name = "k", A = T[M], C = U[M], D = U[M], function(A, C, D)
    local X = U[M]()
    local Y = U[M]()
    for i = 0, M - 1 do X[i] = U(A[i] + A[i]) end
    for j = 0, M - 1 do Y[j] = U(X[j] * A[j]) end
    for k = 0, M - 1 do C[k] = U(Y[k] - X[k]) end
    for l = 0, M - 1 do D[l] = U(Y[l] + l) end
  end}
end

function shape.window(T, U, M, N)
  return tide.kernel {name = "k", A = T[M + 2][N + 2], W = T[3][3], C = U[M][N], function(A, W, C)
    for i, j in grid(M, N, "PE") do
      local s = U(0)
      for r, c in tide.reduction(3, 3) do s = U(s + A[i + r][j + c] * W[r][c]) end
      C[i][j] = s
    end
  end}
end

local function random_kernel()
  local T, U = table.unpack(pick {{i8, i16}, {i16, i32}, {tide.int(5), tide.int(21)}, {tide.uint(7), i16}, {f32, f32},
    {tide.fixed(12, 4), tide.fixed(24, 6)}})
  return shape[pick {"product", "outer", "two", "four", "window"}](T, U, random(2, 4), random(2, 5), random(2, 4))
end

-- A call of a primitive: of loop `a` and `b` and array `x`.
local steps = {
  function(s, a) s:split(a, random(2, 3), {tail = pick {"guard", "cut"}}) end,
  function(s, a, b) s:reorder(a, b) end,
  function(s, a, b) s:fuse(a, b) end,
  function(s, a) s:unroll(a) end,
  function(s, a) s:pipeline(a) end,
  function(s, _, _, x) s:partition(x, random(0, 1), {factor = 2}) end,
  function(s, a, _, x) s:buffer_at(x, a) end,
  function(s, a, _, x) s:reuse_at(x, a) end,
  function(s, _, _, x) s:collapse(x) end,
  function(s, a) s:outline(a, "part" .. #s:steps()) end,
  function(s) s:dataflow() end,
  function(s, a) s:unfold(pick {"PE", "first", "second", a}, pick {{0, 1}, {0}, {1}, nil}) end,
  function(s, a, _, x)
    s:relay(x, pick {"PE", "second", "k_1", "k_2", "k_3", a}, {axis = pick {0, 1, nil}, depth = random(1, 5)})
  end,
  function(s) s:bundle(pick {"PE", "first", "second"}, {axis = random(0, 1)}) end,
}
local arrays = {"A", "B", "C", "D", "X", "Y", "W", "A_i", "A_j", "A_k", "B_i", "B_j", "B_k", "C_i", "C_j", "X_i"}

-- Whether `s`, after random steps, of which many do not apply, becomes HLS C++; the code of the refusal if not.
local function try(name, s)
  for _ = 1, random(2, 40) do
    local loops = s:loops()
    if #loops > 0 then pcall(pick(steps), s, tostring(pick(loops)), tostring(pick(loops)), pick(arrays)) end
  end
  local ok, m = pcall(batch.add, name, s)
  if ok then return m.source:find("#pragma HLS dataflow", 1, true) and "design" or "kernel" end
  return type(m) == "table" and m.code or tostring(m)
end

t.test(("HLS takes %d random schedules from seed %d"):format(count, first), function()
  local found = {design = 0, kernel = 0}
  for seed = first, first + count - 1 do
    math.randomseed(seed)
    local what = try("seed " .. seed, tide.schedule(random_kernel()))
    found[what] = (found[what] or 0) + 1
  end
  local refused = found["shared-write"] or 0 -- docs/hls-dataflow.md, rule 4
  t.eq(found.design + found.kernel + refused, count, "other codes")
  t.ok(found.design * 3 > count and refused * 5 < count, ("%d designs, %d refused"):format(found.design, refused))
end)

batch.test(60, {quick = true, flags = "-Wno-unused-but-set-variable -Wno-unused-variable"})
t.done()
