-- 21_swiglu: two feed-forward networks as tasks on blocks of rows and chunks of hidden units, folded onto fewer nodes:
-- y = (silu(x G) * (x U)) D, and an MLP y = relu(x A + a) B + b.
-- Run: tide examples/21_swiglu.lua
local tide = require "tide"
local f32, task, grid, matmul = tide.f32, tide.task, tide.grid, tide.matmul

-- R rows of M features through H hidden units: P blocks of rows, Q chunks of hidden units.
local function swiglu(R, M, H, P, Q)
  local r, h = R // P, H // Q
  return tide.design(function(d)
    local g, u = d:stream(f32[r][h], {P, Q}), d:stream(f32[r][h], {P, Q})
    local a, part = d:stream(f32[r][h], {P, Q}), d:stream(f32[r][M], {P, Q})
    d.gate = task {map = {P, Q}, X = f32[R][M]:layout "S0R", G = f32[M][H]:layout "RS1", function(X, G, i, j)
      g[i][j]:put(matmul(X, G))
    end}
    d.up = task {map = {P, Q}, X = f32[R][M]:layout "S0R", U = f32[M][H]:layout "RS1", function(X, U, i, j)
      u[i][j]:put(matmul(X, U))
    end}
    d.silu = task {map = {P, Q}, function(i, j)
      local x, y, z = g[i][j]:get(), u[i][j]:get(), f32[r][h]()
      for k, c in grid(r, h) do z[k][c] = x[k][c] / (1 + tide.exp(-x[k][c])) * y[k][c] end
      a[i][j]:put(z)
    end}
    d.down = task {map = {P, Q}, D = f32[H][M]:layout "S1R", function(D, i, j)
      part[i][j]:put(matmul(a[i][j]:get(), D))
    end}
    d.sum = task {map = {P}, Y = f32[R][M]:layout "S0R", function(Y, i)
      local s = f32[r][M](0)
      for j in grid(Q) do s:set(s + part[i][j]:get()) end
      Y:set(s)
    end}
  end)
end

-- The layers of an MLP, one block of rows a task.
local function mlp(R, M, H, N, P)
  local r = R // P
  return tide.design(function(d)
    local hidden = d:stream(f32[r][H], {P})
    d.first = task {map = {P}, X = f32[R][M]:layout "S0R", A = f32[M][H], a = f32[H], function(X, A, a, i)
      local y = matmul(X, A)
      for k, c in grid(r, H) do y[k][c] = tide.max(y[k][c] + a[c], 0) end
      hidden[i]:put(y)
    end}
    d.second = task {map = {P}, B = f32[H][N], b = f32[N], Y = f32[R][N]:layout "S0R", function(B, b, Y, i)
      local y = matmul(hidden[i]:get(), B)
      for k, c in grid(r, N) do Y[k][c] = y[k][c] + b[c] end
    end}
  end)
end

-- Product of two tensors as Lua numbers.
local function product(x, y, n, m, l)
  local z = {}
  for i = 0, n - 1 do
    z[i] = {}
    for j = 0, l - 1 do
      local s = 0
      for k = 0, m - 1 do s = s + x[i][k] * y[k][j] end
      z[i][j] = s
    end
  end
  return z
end

-- Runs a design and a schedule of it on the same data; the last argument is the result, which both must agree on to the
-- last bit and with want[i][j] within f32.
local function check(name, top, s, types, want)
  local x, y = {}, {}
  for i, T in ipairs(types) do x[i], y[i] = tide.random(T, i), tide.random(T, i) end
  top(table.unpack(x))
  s(table.unpack(y))
  local got, mapped, right = x[#x], y[#y], x[#x]:copy()
  for i, row in pairs(want(x)) do
    for j, v in pairs(row) do right[i][j] = v end
  end
  assert(got:allclose(right, {rtol = 1e-4, atol = 1e-4}), "another result")
  assert(mapped:equal(got), "the mapping gives another result")
  print(("%s: %d nodes, %d streams; mapped: %d, %d"):format(name, top:graph().nodes, top:graph().streams,
    s:graph().nodes, s:graph().streams))
end

for _, size in ipairs {{8, 4, 8, 2, 2}, {12, 5, 18, 3, 3}} do
  local R, M, H, P, Q = table.unpack(size)
  local top = swiglu(R, M, H, P, Q)
  local s = tide.schedule(top)
  for _, name in ipairs {"gate", "up", "silu", "down"} do s:bundle(name, {axis = 1}) end
  s:chain("gate", "up"):chain("gate", "silu"):chain("down", "sum")
  check("swiglu", top, s, {f32[R][M], f32[M][H], f32[M][H], f32[H][M], f32[R][M]}, function(x)
    local g, u = product(x[1], x[2], R, M, H), product(x[1], x[3], R, M, H)
    for i = 0, R - 1 do
      for j = 0, H - 1 do g[i][j] = g[i][j] / (1 + math.exp(-g[i][j])) * u[i][j] end
    end
    return product(g, x[4], R, H, M)
  end)
end

do
  local R, M, H, N, P = 8, 6, 10, 3, 4
  local top = mlp(R, M, H, N, P)
  local s = tide.schedule(top):chain("first", "second"):bundle("first", {factor = 2})
  check("mlp", top, s, {f32[R][M], f32[M][H], f32[H], f32[H][N], f32[N], f32[R][N]}, function(x)
    local h = product(x[1], x[2], R, M, H)
    for i = 0, R - 1 do
      for j = 0, H - 1 do h[i][j] = math.max(h[i][j] + x[3][j], 0) end
    end
    local y = product(h, x[4], R, H, N)
    for i = 0, R - 1 do
      for j = 0, N - 1 do y[i][j] = y[i][j] + x[5][j] end
    end
    return y
  end)
end

--> swiglu: 18 nodes, 16 streams; mapped: 4, 4
--> swiglu: 39 nodes, 36 streams; mapped: 6, 9
--> mlp: 8 nodes, 4 streams; mapped: 2, 0
