-- 20_flash_attention: attention as five tasks on streams of chunks (Dato, Fig. 10), any length, causal or not, mapped
-- by hand and by search; the online softmax never overflows.
-- Run: tide examples/20_flash_attention.lua
-- [slow]
local tide = require "tide"
local f32, task, grid, reduction = tide.f32, tide.task, tide.grid, tide.reduction
local max, exp, matmul = tide.max, tide.exp, tide.matmul
local LOWEST = -3e38 -- a running maximum that is left alone gives exp(0) = 1, not a NaN

-- O = softmax(Q K^T / sqrt(D)) V for n rows of D, in chunks of T rows; what is behind row n of the arguments, which
-- have whole chunks, is masked, and with `causal` what a row may not see.
local function attention(n, D, T, causal)
  local P = (n + T - 1) // T
  local N, scale_by = P * T, 1 / math.sqrt(D)
  return tide.design(function(d)
    local q, score = d:stream(f32[T][D], {P, P}), d:stream(f32[T][T], {P, P})
    local weight, part = d:stream(f32[T][T], {P, P}), d:stream(f32[T][D], {P, P})
    local scale, total = d:stream(f32[T], {P}), d:stream(f32[T], {P})
    d.send_q = task {map = {P}, Q = f32[N][D]:layout "S0R", function(Q, i)
      for j in grid(P) do q[i][j]:put(Q) end
    end}
    d.gemm0 = task {map = {P, P}, K = f32[D][N]:layout "RS1", function(K, i, j)
      score[i][j]:put(matmul(q[i][j]:get(), K) * scale_by)
    end}
    d.softmax = task {map = {P}, function(i)
      local m, l = f32[T](LOWEST), f32[T](0)
      for j in grid(P) do
        local s, w, e = score[i][j]:get(), f32[T][T](0), f32[T]()
        for r in grid(T, "rows") do
          local peak, sum = m[r], f32(0)
          for c in reduction(T, "peak") do
            if j * T + c < n and (not causal or j * T + c <= i * T + r) then peak = max(peak, s[r][c]) end
          end
          for c in reduction(T, "sum") do
            if j * T + c < n and (not causal or j * T + c <= i * T + r) then
              w[r][c] = exp(s[r][c] - peak)
              sum = sum + w[r][c]
            end
          end
          e[r] = exp(m[r] - peak)
          l[r] = l[r] * e[r] + sum
          m[r] = peak
        end
        scale[i]:put(e)
        weight[i][j]:put(w)
      end
      total[i]:put(l)
    end}
    d.gemm1 = task {map = {P, P}, V = f32[N][D]:layout "S1R", function(V, i, j)
      part[i][j]:put(matmul(weight[i][j]:get(), V))
    end}
    d.acc = task {map = {P}, O = f32[N][D]:layout "S0R", function(O, i)
      local out = f32[T][D](0)
      for j in grid(P) do
        local e, o = scale[i]:get(), part[i][j]:get()
        for r, c in grid(T, D) do out[r][c] = out[r][c] * e[r] + o[r][c] end
      end
      local l = total[i]:get()
      for r, c in grid(T, D) do O[r][c] = out[r][c] / l[r] end
    end}
  end), N
end

-- The same for the first n rows, in double precision.
local function reference(Q, K, V, n, D, causal)
  local O = f32[n][D](0)
  for i = 0, n - 1 do
    local s, peak, sum = {}, -math.huge, 0
    for j = 0, causal and i or n - 1 do
      s[j] = 0
      for c = 0, D - 1 do s[j] = s[j] + Q[i][c] * K[c][j] / math.sqrt(D) end
      peak = math.max(peak, s[j])
    end
    for j, x in pairs(s) do
      s[j] = math.exp(x - peak)
      sum = sum + s[j]
    end
    for c = 0, D - 1 do
      local o = 0
      for j = 0, #s do o = o + s[j] / sum * V[j][c] end
      O[i][c] = o
    end
  end
  return O
end

-- Runs a length unmapped, mapped by hand and (pes) by search, on scores of about +-`size`.
local function run(n, D, T, causal, size, pes)
  local top, N = attention(n, D, T, causal)
  local hand = tide.schedule(top)
  hand:bundle("gemm0", {axis = 1}):bundle("gemm1", {axis = 1}):chain("send_q", "gemm0")
  local found = pes and tide.schedule(top):search {pes = pes} or hand
  local bound = math.sqrt(size)
  local Q = tide.random(f32[N][D], 1, {lo = -bound, hi = bound})
  local K = tide.random(f32[D][N], 2, {lo = -bound, hi = bound})
  local V = tide.random(f32[N][D], 3)
  local O, by_hand, by_search = f32[N][D](0), f32[N][D](0), f32[N][D](0)
  top(Q, K, V, O)
  hand {Q = Q, K = K, V = V, O = by_hand}
  found {Q = Q, K = K, V = V, O = by_search}
  local want = reference(Q, K, V, n, D, causal)
  assert(O:slice({0, n}, {}):allclose(want, {rtol = 1e-3, atol = 1e-3}), "another result")
  assert(by_hand:equal(O) and by_search:equal(O), "a mapping gives another result")
  assert(not pes or found:graph().nodes <= pes)
  print(("%d rows in chunks of %d%s, scores to %g: %d nodes, %d by hand"):format(n, T,
    causal and ", causal" or "", size, top:graph().nodes, hand:graph().nodes))
end

run(16, 8, 8, false, 1, 6)
run(32, 8, 8, false, 1e4)
run(37, 8, 8, false, 1)
run(37, 8, 8, true, 1e4)
run(5, 4, 8, true, 1, 2)

--> 16 rows in chunks of 8, scores to 1: 14 nodes, 8 by hand
--> 32 rows in chunks of 8, scores to 10000: 44 nodes, 16 by hand
--> 37 rows in chunks of 8, scores to 1: 65 nodes, 20 by hand
--> 37 rows in chunks of 8, causal, scores to 10000: 65 nodes, 20 by hand
--> 5 rows in chunks of 8, causal, scores to 1: 5 nodes, 4 by hand
