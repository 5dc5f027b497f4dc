-- tide.step.models with data against plain Lua, at several sizes, padded, with an expert that nobody asks for; static,
-- dynamic and multiplexed graphs give the same; closed forms of traffic and memory.
local tide, step = require "tide", require "tide.step"
local models = require "tide.step.models"
local t = require "tap"
local f32 = tide.f32

local function silu(x) return x / (1 + math.exp(-x)) end

-- x[b] of a tensor times matrix w, in plain Lua.
local function times(x, w)
  local out = {}
  for j = 0, w.shape[2] - 1 do
    local sum = 0
    for i = 1, #x do sum = sum + x[i] * w[i - 1][j] end
    out[j + 1] = sum
  end
  return out
end

-- silu(x Wg) * (x Wu) times Wd for one row.
local function expert(x, wg, wu, wd)
  local g, u = times(x, wg), times(x, wu)
  for i = 1, #g do g[i] = silu(g[i]) * u[i] end
  return times(g, wd)
end

local function row(x, b) return x:slice(b):table() end

local function close(y, b, want)
  for i, v in ipairs(want) do
    local got = y[b][i - 1]
    t.ok(math.abs(got - v) <= 1e-3 + 1e-3 * math.abs(v), ("row %d, column %d: %g, not %g"):format(b, i - 1, got, v))
  end
end

t.test("swiglu at three sizes", function()
  for _, c in ipairs {
    { B = 4, D = 8, F = 16, tm = 2, tn = 4, bw = 64 }, { B = 6, D = 4, F = 8, tm = 3, tn = 8, bw = 16 },
    { B = 1, D = 8, F = 8, tm = 1, tn = 2, bw = 16 },
  } do
    c.x, c.wg = tide.random(f32[c.B][c.D], 1), tide.random(f32[c.D][c.F], 2)
    c.wu, c.wd, c.y = tide.random(f32[c.D][c.F], 3), tide.random(f32[c.F][c.D], 4), f32[c.B][c.D](0)
    models.swiglu(c):run { depth = 2 }
    for b = 0, c.B - 1 do close(c.y, b, expert(row(c.x, b), c.wg, c.wu, c.wd)) end
  end
end)

-- The layer's rows in plain Lua.
local function layer(c, routing)
  local rows = {}
  for b = 0, c.B - 1 do
    rows[b] = {}
    for i = 1, c.D do rows[b][i] = 0 end
    for slot = 1, c.k do
      local e = routing[b + 1][slot] + 1
      for i, v in ipairs(expert(row(c.x, b), c.all.gate[e], c.all.up[e], c.all.down[e])) do
        rows[b][i] = rows[b][i] + v * c.weights[b][slot - 1]
      end
    end
  end
  return rows
end

-- Weights of all experts as the layer takes them; those of a region stand one below the other, tile by tile.
local function weigh(c)
  c.x, c.weights, c.y = tide.random(f32[c.B][c.D], 1), tide.random(f32[c.B][c.k], 2), f32[c.B][c.D](0)
  c.all = { up = {}, gate = {}, down = {} }
  for e = 1, c.E do
    c.all.up[e], c.all.gate[e] = tide.random(f32[c.D][c.F], 3 * e), tide.random(f32[c.D][c.F], 3 * e + 1)
    c.all.down[e] = tide.random(f32[c.F][c.D], 3 * e + 2)
  end
end

local function regions(c)
  local share, n_f = c.E // c.P, c.F // c.tf
  for name, rows_of in pairs { up = c.D, gate = c.D, down = c.tf } do
    c[name] = c.all[name]
    if share > 1 then
      c[name] = {}
      for r = 1, c.P do
        local width = name == "down" and c.D or c.tf
        local w = f32[share * n_f * rows_of][width](0)
        for e = 0, share - 1 do
          local from = c.all[name][(r - 1) * share + e + 1]
          for f = 0, n_f - 1 do
            local at = (e * n_f + f) * rows_of
            local tile = name == "down" and from:slice({ f * c.tf, (f + 1) * c.tf })
              or from:slice({}, { f * c.tf, (f + 1) * c.tf })
            w:slice({ at, at + rows_of }):set(tile)
          end
        end
        c[name][r] = w
      end
    end
  end
end

t.test("moe: static, dynamic, multiplexed, with an idle expert", function()
  for seed, c in ipairs {
    { B = 7, D = 4, F = 8, E = 4, k = 2, tf = 4, bw = 16 }, { B = 5, D = 6, F = 6, E = 6, k = 1, tf = 2, bw = 16 },
    { B = 9, D = 4, F = 4, E = 2, k = 2, tf = 4, bw = 16 },
  } do
    math.randomseed(seed)
    local routing, count = {}, {}
    for e = 0, c.E - 1 do count[e] = 0 end
    for b = 1, c.B do
      local first = math.random(0, c.E - 2)
      routing[b] = c.k == 2 and { first, c.E == 2 and 1 - first or (first + 1) % (c.E - 1) } or { first }
      for _, e in ipairs(routing[b]) do count[e] = count[e] + 1 end
    end
    weigh(c)
    local want = layer(c, routing)
    for _, N in ipairs { 1, 3, 8, false } do
      for P = 1, c.E do
        if c.E % P == 0 then
          c.N, c.P = N or nil, P
          regions(c)
          c.y:set(0)
          local g = models.moe(c, routing)
          local _, r = g:run { depth = 64 }
          for b = 0, c.B - 1 do close(c.y, b, want[b]) end
          t.eq(g:simulate { depth = 64 }.cycles, r.cycles)
          t.eq(g:traffic():at(r.symbols), r.traffic)
          local tiles = 0
          for _, n in pairs(count) do tiles = tiles + (N and (n + N - 1) // N or n > 0 and 1 or 0) end
          t.eq(r.traffic, 4 * (3 * c.D * c.F * tiles + 2 * c.B * c.D + c.B * c.k))
          if P == c.E then
            local held = N and c.E * N or c.B * c.k
            t.eq(r.memory, 4 * (3 * held * c.D + c.E * 3 * c.tf * c.D + 3 * c.D + 1))
          end
        end
      end
    end
  end
end)

t.test("what depends on arrival is named", function()
  local c = { B = 4, D = 4, F = 4, E = 4, k = 2, tf = 2, bw = 16, P = 2, N = 2 }
  local routing = { { 0, 1 }, { 2, 3 }, { 1, 2 }, { 0, 3 } }
  local ok, list = models.moe(c, routing):check()
  t.ok(ok)
  t.eq(#list, 1, "the merges' own selectors put chunks back; the gathered rows are summed in floats")
  t.eq(list[1].shows:match "^%a+", "accum")
  c.k = 1
  t.eq(#select(2, models.moe(c, { { 0 }, { 2 }, { 1 }, { 3 } }):check()), 0, "one-hot selectors gather one chunk each")
end)

t.test("attention: every request is served once, at any dispatch", function()
  local lens = { 33, 500, 40, 64, 90, 31, 7, 64, 35, 1, 48, 96 }
  local tiles = 0
  for _, len in ipairs(lens) do tiles = tiles + (len + 32) // 32 end
  for _, by in ipairs { "block", "turn", "free" } do
    for _, P in ipairs { 2, 4 } do
      local g = models.attention({ H = 8, D = 64, R = 32, P = P, by = by, block = 3, bw = 2048 }, lens)
      local r = g:simulate(models.settings.fig14)
      local each = 32 * 64 * 2
      t.eq(r.traffic, 2 * tiles * each + 2 * #lens * each + #lens * (2 * 8 * 64 + 2 * 64) * 2)
    end
  end
end)

t.test("figures: the settings are those of options", function()
  for name, o in pairs(models.settings) do
    local g = step.graph(function() step.load(f32[2][8], { tile = { 1, 8 } }):sink() end)
    t.ok(g:simulate(o).cycles > 19, name)
  end
end)

t.test("attention over more regions than requests: each has one, or none", function()
  local lens = { 3, 20, 100, 4, 5 }
  for B = 1, #lens do
    local own = table.move(lens, 1, B, 1, {})
    local cycles = {}
    for _, by in ipairs { "turn", "free" } do
      local c = { H = 4, D = 16, R = 16, P = 4, by = by, bw = 512 }
      cycles[by] = models.attention(c, own):simulate(models.settings.fig14).cycles
    end
    t.ok(math.abs(cycles.turn - cycles.free) <= cycles.turn // 5,
      ("%d requests: %d, %d"):format(B, cycles.turn, cycles.free))
  end
end)

t.done()
