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

local function silu(x) return x / (1 + math.exp(-x)) end

-- A row times a matrix.
local function times(row, w)
  local out = {}
  for j = 0, w.shape[2] - 1 do
    out[j + 1] = 0
    for i, v in ipairs(row) do out[j + 1] = out[j + 1] + v * w[i - 1][j] end
  end
  return out
end

local function close(x, at, want, what)
  for i, v in ipairs(want) do
    local got = x[at][i - 1]
    t.ok(math.abs(got - v) <= 1e-3 + 1e-3 * math.abs(v), ("%s, row %d: %g, not %g"):format(what, at, got, v))
  end
end

local function row(x, at) return x:slice(at):table() end

-- Caches of requests with their rows in their tiles, as models.attention wants them; the tiles of one.
local function caches(lens, R, D, seed)
  local pitch = 1
  for _, len in ipairs(lens) do pitch = math.max(pitch, (len + R) // R) end
  return tide.random(f32[(#lens * pitch + 1) * R][D], seed), pitch
end

-- One request with its new row: what each head sees, from the caches before the run.
local function request(q, k, v, kept, first, len, a)
  local out = {}
  for h = 0, a.H - 1 do
    local sum, weight = {}, 0
    for d = 1, a.D do sum[d] = 0 end
    for j = 0, len do
      local key = j < len and row(kept.k, first + j) or k
      local value = j < len and row(kept.v, first + j) or v
      local s = 0
      for d = 1, a.D do s = s + q[h + 1][d] * key[d] end
      weight = weight + math.exp(s)
      for d = 1, a.D do sum[d] = sum[d] + math.exp(s) * value[d] end
    end
    out[h + 1] = {}
    for d = 1, a.D do out[h + 1][d] = sum[d] / weight end
  end
  return out
end

local ways = { { by = "turn" }, { by = "free" }, { by = "block", block = 2 } }

t.test("decode attention: values and caches, at any dispatch, an empty batch, requests without rows", function()
  for _, case in ipairs { { { 3, 5, 0, 9, 4 }, 2, 4, 4, 2 }, { { 1 }, 1, 2, 3, 2 }, { {}, 2, 4, 4, 2 },
    { { 7, 8, 15, 16, 17, 2 }, 3, 5, 8, 3 } } do
    local lens, H, D, R, P = table.unpack(case)
    local n = #lens
    for _, way in ipairs(ways) do
      local k_cache, pitch = caches(lens, R, D, 4)
      local v_cache = caches(lens, R, D, 5)
      local kept = { k = k_cache:copy(), v = v_cache:copy() }
      local c = { H = H, D = D, R = R, P = P, by = way.by, block = way.block, bw = 32, k_cache = k_cache,
        v_cache = v_cache, q = tide.random(f32[n * H][D], 1), k = tide.random(f32[n][D], 2),
        v = tide.random(f32[n][D], 3), y = f32[n * H][D](7) }
      local g = models.attention(c, lens)
      local r = select(-1, g:run { depth = 1 })
      for b, len in ipairs(lens) do
        local q, first = {}, (1 + (b - 1) * pitch) * R
        for h = 1, H do q[h] = row(c.q, (b - 1) * H + h - 1) end
        local want = request(q, row(c.k, b - 1), row(c.v, b - 1), kept, first, len, c)
        for h = 1, H do close(c.y, (b - 1) * H + h - 1, want[h], way.by) end
        close(k_cache, first + len, row(c.k, b - 1), "the cache")
        close(v_cache, first + len, row(c.v, b - 1), "the cache")
      end
      t.eq(g:simulate({ depth = 1 }).cycles, r.cycles)
    end
  end
end)

t.test("a layer of a decoder: padded, an idle expert, an empty batch, any dispatch", function()
  for _, case in ipairs { { 4, 6, 8, 3, 2, 4, nil, 2, 3 }, { 5, 4, 6, 4, 1, 2, 2, 1, 4 }, { 0, 4, 6, 4, 1, 2, 2, 1, 4 },
    { 8, 8, 4, 4, 2, 4, 3, 2, 2 } } do
    local B, D, F, E, k, tf, N, H, d = table.unpack(case, 1, 9)
    for _, way in ipairs(ways) do
      local lens, routing = {}, {}
      for b = 1, B do
        lens[b] = (b * 5) % 11
        routing[b] = {}
        for s = 1, k do routing[b][s] = (b + s) % (E - 1) end
      end
      local k_cache, pitch = caches(lens, 4, d, 4)
      local v_cache = caches(lens, 4, d, 5)
      local kept = { k = k_cache:copy(), v = v_cache:copy() }
      local c = { B = B, D = D, F = F, E = E, k = k, tf = tf, N = N, bw = 64, x = tide.random(f32[B][D], 1),
        w_qkv = tide.random(f32[D][(H + 2) * d], 2), w_o = tide.random(f32[H * d][D], 3), y = f32[B][D](7),
        weights = tide.random(f32[B][k], 6), up = {}, gate = {}, down = {} }
      for e = 1, E do
        c.up[e], c.gate[e] = tide.random(f32[D][F], 10 + e), tide.random(f32[D][F], 20 + e)
        c.down[e] = tide.random(f32[F][D], 30 + e)
      end
      c.attention = { H = H, D = d, R = 4, P = 2, by = way.by, block = way.block, k_cache = k_cache, v_cache = v_cache }
      local g = models.decoder(c, routing, lens)
      local r = select(-1, g:run())
      for b = 1, B do
        local all, q = times(row(c.x, b - 1), c.w_qkv), {}
        for h = 1, H do q[h] = table.move(all, (h - 1) * d + 1, h * d, 1, {}) end
        local new = table.move(all, H * d + 1, (H + 1) * d, 1, {})
        local value = table.move(all, (H + 1) * d + 1, (H + 2) * d, 1, {})
        local seen = {}
        for _, part in ipairs(request(q, new, value, kept, (1 + (b - 1) * pitch) * 4, lens[b], c.attention)) do
          table.move(part, 1, d, #seen + 1, seen)
        end
        local token, want = times(seen, c.w_o), {}
        for i = 1, D do want[i] = 0 end
        for s = 1, k do
          local e = routing[b][s] + 1
          local up, gate = times(token, c.up[e]), times(token, c.gate[e])
          for i = 1, F do up[i] = up[i] * silu(gate[i]) end
          for i, v in ipairs(times(up, c.down[e])) do want[i] = want[i] + v * c.weights[b - 1][s - 1] end
        end
        close(c.y, b - 1, want, way.by)
      end
      t.eq(g:simulate().cycles, r.cycles)
      t.eq(g:traffic():at(r.symbols), r.traffic)
    end
  end
end)

t.test("early exit by feedback: rows that go round, none, many", function()
  for _, case in ipairs { { { 1, 3, 2, 1 }, 4 }, { { 1 }, 3 }, { { 5, 5, 1, 1, 1, 2, 9 }, 8 }, { {}, 4 } } do
    local passes, D = table.unpack(case)
    local n = #passes
    local c = { D = D, bw = 8, x = tide.random(f32[n][D], 1), w = tide.random(f32[D][D], 2), y = f32[n][D](7) }
    local g = models.early_exit(c, passes)
    local _, r = pcall(g.run, g)
    for b, count in ipairs(passes) do
      local h = row(c.x, b - 1)
      for _ = 1, count do
        h = times(h, c.w)
        for i, v in ipairs(h) do h[i] = silu(v) end
      end
      close(c.y, b - 1, h, "a row")
    end
    t.eq(g:simulate().cycles, r.cycles)
    t.eq(load(tostring(g))(g:constants()):simulate().cycles, r.cycles, "its text loads back")
  end
end)

t.test("models refuse fields that do not fit, at the caller", function()
  local moe = { B = 1, D = 4, F = 6, E = 4, k = 1, tf = 2, bw = 8 }
  local a = { H = 1, D = 2, R = 2, P = 1, by = "turn", bw = 8 }
  local function with(c, key, v)
    local own = {}
    for k, x in pairs(c) do own[k] = x end
    own[key] = v
    return own
  end
  local function refused(words, f, ...)
    local arguments = { ... }
    local ok, e = pcall(function()
      local g = f(table.unpack(arguments))
      return g
    end)
    t.ok(not ok and tostring(e):find(words, 1, true) and tostring(e):find("step_programs.lua", 1, true), tostring(e))
  end
  models.moe(moe, { { 3 } })
  refused("needs tf, an integer", models.moe, with(moe, "tf"), { { 3 } })
  refused("tf = 4 does not cut F = 6", models.moe, with(moe, "tf", 4), { { 3 } })
  refused("P regions share E = 4 experts evenly, not 3", models.moe, with(moe, "P", 3), { { 3 } })
  refused("routing has 2 tokens, and B is 1", models.moe, moe, { { 3 }, { 1 } })
  refused("token 1 has 0 experts", models.moe, moe, { {} })
  models.attention(a, { 3 })
  refused("needs R", models.attention, with(a, "R", 0), { 3 })
  refused('not "blocks"', models.attention, with(a, "by", "blocks"), { 3 })
  refused("request 1 has -1 cached rows", models.attention, a, { -1 })
  refused("lens has 2 requests, and B is 1", models.decoder, with(moe, "attention", a), { { 3 } }, { 1, 2 })
  models.early_exit({ D = 2, bw = 1 }, { 1 })
  refused("row 2 makes 0 passes", models.early_exit, { D = 2, bw = 1 }, { 1, 0 })
end)

t.test("traces of CSV and .npy are the same", function()
  local base = os.tmpname()
  local rows = { { 3, 1 }, { 0, 2 }, { 5, 4 } }
  local file = assert(io.open(base .. ".csv", "w"))
  file:write "token,slot0,slot1,note\n"
  for i, list in ipairs(rows) do file:write(("t%d,%d,%d,7\n"):format(i, list[1], list[2])) end
  file:close()
  tide.tensor(tide.i64[3][2], rows):save(base .. ".npy")
  local lists, names = models.trace(base .. ".csv", "slot")
  t.eq(lists, rows)
  t.eq(names, { "t1", "t2", "t3" })
  t.eq((models.trace(base .. ".npy")), rows)
  tide.tensor(tide.i64[3], { 9, 8, 7 }):save(base .. ".npy")
  t.eq((models.trace(base .. ".npy")), { { 9, 8, 7 } })
  tide.tensor(f32[2], { 1, 2.5 }):save(base .. ".npy")
  local ok, e = pcall(models.trace, base .. ".npy")
  t.ok(not ok and tostring(e):find("row 1 has 2.5, no integer", 1, true), tostring(e))
  ok, e = pcall(models.trace, base .. ".csv", "token")
  t.ok(not ok and tostring(e):find("row 1 has t1 in column token", 1, true), tostring(e))
  for _, ending in ipairs { "", ".csv", ".npy" } do os.remove(base .. ending) end
end)

t.done()
