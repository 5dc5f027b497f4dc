-- [slow] npu_swiglu.lua - N10 at the sizes of a layer, 768 features to 3072: gate and up on two halves of the array in
-- one launch, with the device's products, beside two, between which both are in the host's memory.
local core = require "tide.npu.core"
local npu = require "tide.npu"
local npu_case = require "npu_case"
local t = require "tap"
local tide = require "tide"
local bf16, f32, task, grid = tide.bf16, tide.f32, tide.task, tide.grid

-- What a task on the host moves goes by memory tiles, of every second column from this one on.
local function hand_out(s, host, column)
  local _, mem = s:coalesce(host, {axis = 0})
  s:place(mem, {column, 1}, {by = {{2, 0}}})
end

-- The turns that tasks take, on 4 x 2 cores each.
local function turns(s, z)
  for _, name in ipairs {"gate", "up"} do
    if z.I > 1 then s:bundle(name, {axis = 0, factor = z.I}) end
    if z.J > 1 then s:bundle(name, {axis = 1, factor = z.J}) end
  end
end

-- The product of a task by the device's kernel, its factors from the host, on every second column from this one on.
local function inject(s, name, z, column)
  s:expand(name)
  local outer = core.products(s, name)[1].loop
  s:split(name .. ":k", z.k):reorder(name .. ":k_o", outer)
  local p = core.products(s, name)[1]
  local mm = npu.matmul {m = p.m, n = p.n, k = p.k, A = bf16, B = bf16, C = f32, name = "mm_" .. name}
  local _, _, a, b, c = s:inject(p.loop, mm, {reassociate = true})
  s:hoist(name .. ":" .. c, name .. ":k_o")
  for _, copy in ipairs {a, b} do hand_out(s, select(2, s:isolate(name .. ":" .. copy)), column) end
  s:place(name, {column, 2}, {by = {{0, 1}, {2, 0}}})
end

local one = [[local P, Q, m, n = 4 * z.I, 2 * z.J, z.m, z.n
  return tide.design(function(d)
    local half = d:stream(tide.f32[m][n], {P, Q})
    d.gate = task {map = {P, Q}, X = T[P * m][z.K]:layout "S0R", G = T[z.K][Q * n]:layout "RS1",
      function(X, G, i, j) half[i][j]:put(tide.matmul(X, G, {acc = tide.f32})) end}
    d.up = task {
      map = {P, Q}, X = T[P * m][z.K]:layout "S0R", U = T[z.K][Q * n]:layout "RS1", Y = T[P * m][Q * n]:layout "S0S1",
      function(X, U, Y, i, j)
        local sum, y = tide.f32[m][n](), T[m][n]()
        sum:set(tide.matmul(X, U, {acc = tide.f32}))
        local g = half[i][j]:get()
        for r, c in grid(m, n) do y[r][c] = T(g[r][c] / (1 + tide.exp(-g[r][c])) * sum[r][c]) end
        for r, c in grid(m, n) do Y[r][c] = y[r][c] end
      end,
    }
  end)]]

local function schedule(z)
  local s = tide.schedule(npu_case.chunk(one, z)())
  turns(s, z)
  if z.I > 1 then s:merge("half", {axis = 0, factor = z.I}) end
  if z.J > 1 then s:merge("half", {axis = 1, factor = z.J}) end
  for column, name in ipairs {"gate", "up"} do inject(s, name, z, column - 1) end
  hand_out(s, select(2, s:isolate "up:y"), 1)
  return s
end

-- Both products alone.
local two = [[local P, Q, m, n = 4 * z.I, 2 * z.J, z.m, z.n
  return tide.design(function(d)
    d.gate = task {
      map = {P, Q}, X = T[P * m][z.K]:layout "S0R", G = T[z.K][Q * n]:layout "RS1", H = R[P * m][Q * n]:layout "S0S1",
      function(X, G, H)
        local sum = R[m][n]()
        sum:set(tide.matmul(X, G, {acc = R}))
        for r, c in grid(m, n) do H[r][c] = sum[r][c] end
      end,
    }
    d.up = task {
      map = {P, Q}, X = T[P * m][z.K]:layout "S0R", U = T[z.K][Q * n]:layout "RS1", S = R[P * m][Q * n]:layout "S0S1",
      function(X, U, S)
        local sum = R[m][n]()
        sum:set(tide.matmul(X, U, {acc = R}))
        for r, c in grid(m, n) do S[r][c] = sum[r][c] end
      end,
    }
  end)]]

local function products(z)
  local s = tide.schedule(npu_case.chunk(two, z)())
  turns(s, z)
  for column, name in ipairs {"gate", "up"} do
    inject(s, name, z, column - 1)
    hand_out(s, select(2, s:isolate(name .. ":sum")), column - 1)
  end
  return s
end

t.test("one launch: the bits of the CPU", function()
  local z = {T = bf16, I = 1, J = 2, m = 8, n = 8, K = 32, k = 16}
  local M, N = 4 * z.I * z.m, 2 * z.J * z.n
  npu_case.same(npu_case.chunk(one, z)(), {bf16[M][z.K], bf16[z.K][N], bf16[z.K][N], bf16[M][N]},
    {tool = false, math = "host"}, schedule(z))
end)

-- What is left, element by element: with two factors each, memory tiles feed 12 cores at most.
local function gated(z)
  local M, N = 4 * z.I * z.m, 2 * z.J * z.n
  return tide.design(function(d)
    d.rows = task {
      map = {2, 4}, H = f32[M][N]:layout "S0S1", S = f32[M][N]:layout "S0S1", Y = bf16[M][N]:layout "S0S1",
      function(H, S, Y)
        for r, c in grid(M // 2, N // 4) do Y[r][c] = bf16(H[r][c] / (1 + tide.exp(-H[r][c])) * S[r][c]) end
      end,
    }
  end)
end

t.test("128 tokens, 768 features to 3072, on the model: one launch is faster than two", function()
  local model = core.model()
  local z = {T = bf16, R = f32, I = 1, J = 24, m = 32, n = 64, K = 768, k = 64}
  local function cycles(x) return x:build {target = "npu", tool = false}:simulate().cycles end
  local launch = 1000 * model.LAUNCH.value * model.CLOCK.value
  local fused, both, rest = cycles(schedule(z)), cycles(products(z)), cycles(gated(z))
  t.ok(fused + launch < both + rest + 2 * launch, ("%d cycles, beside %d and %d"):format(fused, both, rest))
  t.ok(fused > 128 * 768 * 3072 * 2 / 128 / 16, "no faster than the cores")
end)

t.done()
