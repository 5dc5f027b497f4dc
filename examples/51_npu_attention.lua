-- 51_npu_attention: attention on 4 x 4 cores of an NPU: a column of four cores has rows of queries, its cores scores,
-- softmax, values and their sum; keys and values are sent to all columns at once. Beside it a build for each kernel,
-- with scores and weights in memory, on the same model: no claim beside Dato's 2.81 over IRON.
-- Run: tide examples/51_npu_attention.lua [TOKENS HEADS]     (default 256 2, of 64 features, in bf16)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "npu/?.lua;" .. package.path
local product = require "product"
local tide = require "tide"
local npu, core = require "tide.npu", require "tide.npu.core"
local bf16, f32, task, grid = tide.bf16, tide.f32, tide.task, tide.grid
local N, H = tonumber(arg[1] or 256), tonumber(arg[2] or 2)
local D, q, k = 64, 32, 64
local P, J, by = N // q, N // k, 1 / math.sqrt(D)

-- Q, V and O of H heads of N rows; K turned round. Rows of queries in parts of q, of keys in parts of k.
local attention = tide.design(function(d)
  local score, weight = d:stream(f32[q][k], {H, P, J}), d:stream(bf16[q][k], {H, P, J})
  local part, scale = d:stream(f32[q][D], {H, P, J}), d:stream(f32[q], {H, P})
  local total = d:stream(f32[q], {H, P})
  d.scores = task {
    map = {H, P, J}, Q = bf16[H][N][D]:layout "S0S1R", K = bf16[H][D][N]:layout "S0RS2",
    function(Q, K, h, i, j) score[h][i][j]:put(tide.matmul(Q[0], K[0], {acc = f32}) * by) end,
  }
  d.softmax = task {map = {H, P}, function(h, i)
    local m, l = f32[q](-math.huge), f32[q](0)
    for j in grid(J) do
      local s, w, e = score[h][i][j]:get(), bf16[q][k](), f32[q]()
      for r in grid(q) do
        local peak, sum = m[r], f32(0)
        for c in grid(k) do peak = tide.max(peak, s[r][c]) end
        for c in grid(k) do
          w[r][c] = bf16(tide.exp(s[r][c] - peak))
          sum = sum + w[r][c]
        end
        e[r] = tide.exp(m[r] - peak)
        l[r] = l[r] * e[r] + sum
        m[r] = peak
      end
      scale[h][i]:put(e)
      weight[h][i][j]:put(w)
    end
    total[h][i]:put(l)
  end}
  d.values = task {map = {H, P, J}, V = bf16[H][N][D]:layout "S0S2R",
    function(V, h, i, j) part[h][i][j]:put(tide.matmul(weight[h][i][j]:get(), V[0], {acc = f32})) end}
  d.acc = task {map = {H, P}, O = bf16[H][N][D]:layout "S0S1R", function(O, h, i)
    local out, o = f32[q][D](0), bf16[q][D]()
    for j in grid(J) do
      local e, p = scale[h][i]:get(), part[h][i][j]:get()
      for r, c in grid(q, D) do out[r][c] = out[r][c] * e[r] + p[r][c] end
    end
    local l = total[h][i]:get()
    for r, c in grid(q, D) do o[r][c] = bf16(out[r][c] / l[r]) end
    for r, c in grid(q, D) do O[0][r][c] = o[r][c] end
  end}
end)

-- Four tasks of four cores each, products by instructions of blocks.
local function mapped()
  local s, turns = tide.schedule(attention), P // 4
  s:bundle("scores", {axis = 2}):bundle("values", {axis = 2})
  for _, name in ipairs {"score", "weight", "part"} do s:merge(name, {axis = 2}) end
  local function fold(step, names)
    for _, name in ipairs(names) do
      if turns > 1 then s[step](s, name, {axis = 1, factor = turns}) end
      s[step](s, name, {axis = 0})
    end
  end
  fold("bundle", {"scores", "softmax", "values", "acc"})
  fold("merge", {"score", "weight", "part", "scale", "total"})
  for _, name in ipairs {"scores", "values"} do
    s:expand(name)
    local p = core.products(s, name)[1]
    local block = npu.matmul {m = p.m, n = p.n, k = p.k, A = bf16, B = bf16, C = f32, name = "mm_" .. name}
    s:inject(p.loop, block, {reassociate = true})
  end
  s:collapse "scores:matmul":hoist("scores:A_1", "scores:j"):isolate "scores:A_1":isolate "acc:o"
  for _, name in ipairs {"scores:B_1", "values:B_1"} do
    local _, host = s:isolate(name)
    s:coalesce(host, {axis = 0})
  end
  for row, name in ipairs {"scores", "softmax", "values", "acc"} do s:place(name, {0, row + 1}, {by = {{1, 0}}}) end
  return s
end

-- Rows of N scores to weights, on 8 cores: so many streams come from memory, and go there.
local function softmax()
  return tide.design(function(d)
    d.softmax = task {
      map = {8}, X = f32[N][N]:layout "S0R", Y = bf16[N][N]:layout "S0R",
      function(X, Y)
        for i in grid(N // 8) do
          local x, y = f32[N](), bf16[N]()
          for c in grid(N) do x[c] = X[i][c] end
          local peak, sum = x[0], f32(0)
          for c in grid(N) do peak = tide.max(peak, x[c]) end
          for c in grid(N) do sum = sum + tide.exp(x[c] - peak) end
          for c in grid(N) do y[c] = bf16(tide.exp(x[c] - peak) / sum) end
          for c in grid(N) do Y[i][c] = y[c] end
        end
      end,
    }
  end)
end

local model = core.model()
local function ms(build, launches)
  return launches * (build:simulate().cycles / model.CLOCK.value / 1e6 + model.LAUNCH.value / 1e3)
end
local function built(s) return s:build {target = "npu", tool = false, math = "host"} end

local A, B, V = tide.random(bf16[H][N][D], 1), tide.random(bf16[H][D][N], 2), tide.random(bf16[H][N][D], 3)
local want, O = bf16[H][N][D](0), bf16[H][N][D](0)
attention(A, B, V, want)
local fused = built(mapped())
fused(A, B, V, O)
assert(O:equal(want), "other bits")

local z = {T = bf16, R = f32, M = N, k = 32}
local tile = math.min(64, N // 4)
local qk = product.mapped(product.with(z, {N = N, K = D, m = tile, n = tile}), "dma")
local pv = product.mapped(product.with(z, {N = D, K = N, m = tile, n = D // 4}), "dma")
local apart = ms(built(qk), H) + ms(built(softmax()), H) + ms(built(pv), H)
local together = ms(fused, 1)
print(("%d tokens, %d heads: %.2f ms in one launch, %.2f ms in %d: %.2f times"):format(N, H, together, apart, 3 * H,
  apart / together))

--> 256 tokens, 2 heads: ... ms in one launch, ... ms in 6: ... times
