-- Programs beyond the paper's, each with data against a plain reference: sizes, padding, empty rows, an empty batch.
local tide = require "tide"
local models = require "tide.step.models"
local t = require "tap"
local f32 = tide.f32

t.test("SpMM: rows without tiles, one tile, many", function()
  for _, case in ipairs { { { 2, 0, 3, 1 }, { 0, 5, 1, 2, 7, 3 }, 2, 4 }, { { 0, 0 }, {}, 4, 2 },
    { { 1 }, { 2 }, 1, 3 }, { { 3, 3, 0, 2, 1 }, { 0, 1, 2, 3, 4, 5, 6, 7, 0 }, 3, 5 } } do
    local counts, columns, T, D = table.unpack(case)
    local n, K = #counts, 8
    local values, x = tide.random(f32[math.max(#columns, 1) * T][T], 1), tide.random(f32[K * T][D], 2)
    local y = f32[n * T][D](7)
    local g = models.spmm({ T = T, D = D, K = K, bw = 16, values = values, x = x, y = y }, counts, columns)
    local _, report = g:run()
    local k = 0
    for r = 0, n - 1 do
      local want = {}
      for i = 0, T - 1 do
        want[i] = {}
        for j = 0, D - 1 do want[i][j] = 0 end
      end
      for _ = 1, counts[r + 1] do
        for i = 0, T - 1 do
          for j = 0, D - 1 do
            for e = 0, T - 1 do
              want[i][j] = want[i][j] + values[k * T + i][e] * x[columns[k + 1] * T + e][j]
            end
          end
        end
        k = k + 1
      end
      for i = 0, T - 1 do
        for j = 0, D - 1 do t.ok(math.abs(y[r * T + i][j] - want[i][j]) < 1e-4, ("%d %d %d"):format(r, i, j)) end
      end
    end
    t.eq(g:simulate().cycles, report.cycles)
    t.eq(g:traffic():at(report.symbols), report.traffic)
  end
end)

-- Attention of one request in double precision.
local function attend(q, k, v, D)
  local out, score, peak, sum = {}, {}, -math.huge, 0
  for j = 1, #k do
    score[j] = 0
    for e = 0, D - 1 do score[j] = score[j] + q[e] * k[j][e] end
    peak = math.max(peak, score[j])
  end
  for j = 1, #k do sum = sum + math.exp(score[j] - peak) end
  for e = 0, D - 1 do
    out[e] = 0
    for j = 1, #k do out[e] = out[e] + math.exp(score[j] - peak) / sum * v[j][e] end
  end
  return out
end

t.test("attention with an online softmax: scores beyond any exponential, requests without rows", function()
  for _, case in ipairs { { { 5, 0, 12, 1 }, 2, 4, 4, 1 }, { { 7, 3 }, 1, 8, 3, 60 }, { { 0 }, 2, 2, 2, 1 },
    { { 33, 64, 2 }, 3, 4, 16, 100 } } do
    local lens, H, D, R, scale = table.unpack(case)
    local n, all, first = #lens, 0, {}
    for i, len in ipairs(lens) do
      first[i] = all
      all = all + (len + R - 1) // R
    end
    local function big(T, seed)
      local x = tide.random(T, seed)
      for i, j in tide.grid(T.shape and T.shape[1] or n * H, D) do x[i][j] = x[i][j] * scale end
      return x
    end
    local q = big(f32[n * H][D], 1)
    local k, v = tide.random(f32[math.max(all, 1) * R][D], 2), tide.random(f32[math.max(all, 1) * R][D], 3)
    for i, j in tide.grid(math.max(all, 1) * R, D) do k[i][j] = k[i][j] * scale end
    local y = f32[n * H][D](7)
    local g = models.softmax_attention({ H = H, D = D, R = R, bw = 64, q = q, k = k, v = v, y = y }, lens)
    local report = select(-1, g:run())
    for i, len in ipairs(lens) do
      local ks, vs = {}, {}
      for row = 0, len - 1 do
        ks[row + 1], vs[row + 1] = k[first[i] * R + row], v[first[i] * R + row]
      end
      for a = 0, H - 1 do
        local want = attend(q[(i - 1) * H + a], ks, vs, D)
        for e = 0, D - 1 do
          local got = y[(i - 1) * H + a][e]
          t.ok(math.abs(got - want[e]) < 1e-3, ("%d %d %d: %g, %g"):format(i, a, e, got, want[e]))
        end
      end
    end
    t.eq(g:simulate().cycles, report.cycles)
    t.eq(g:flops():at(report.symbols), report.flops)
  end
end)

t.done()
