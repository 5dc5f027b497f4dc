-- Graphs of STeP as the paper's artifact builds them, typed f32, and the settings of its figures for simulate.
--   local models = require "tide.step.models"
--   local g = models.moe({ B = 64, D = 4096, F = 14336, E = 8, k = 2, tf = 64, N = 16, bw = 4096 }, routing)
--   print(g:simulate(models.settings.fig9).cycles)
-- Loads come in the order in which the artifact's memory serves them.
local tide = require "tide"
local step = require "tide.step"

local f32, i32, fn = tide.f32, tide.i32, step.fn

---@class tide.step.models
local models = {}

-- What the figures were simulated with: bytes of an element, depth of FIFOs, bytes per cycle of a memory unit.
models.settings = {
  fig8 = { depth = 1, pmu = 256, memory = { channels = 8 } },
  fig9 = { depth = 2, pmu = 64, bytes = 2 },
  fig10 = { depth = 2, pmu = 64, bytes = 2 },
  fig10_qwen = { depth = 1024, pmu = 64, bytes = 2 },
  fig12 = { depth = 2, pmu = 64, bytes = 2 },
  fig13 = { depth = 2, pmu = 64, bytes = 2 },
  fig14 = { depth = 1, pmu = 64, bytes = 2 },
  fig15 = { depth = 1, pmu = 64, bytes = 2 },
  fig21 = { depth = 1, pmu = 64, bytes = 2 },
}

-- A tensor argument: the one given, or its type.
local function given(c, name, T) return c[name] or T end

--- The SwiGLU layer (Fig. 8): y = (silu(x Wg) * (x Wu)) Wd, in tiles of tm rows and tn columns.
---@param c table B, D, F, tm, tn, bw; x, wg, wu, wd, y: tensors, else their types
function models.swiglu(c)
  local B, D, F, tm, tn, bw = c.B, c.D, c.F, c.tm, c.tn, c.bw
  local down, across = B // tm, F // tn
  return step.graph(function()
    local shape = { down, across, 1 }
    local x = step.load(given(c, "x", f32[B][D]), { tile = { tm, D }, shape = shape, stride = { 1, 0, 1 }, ports = 4 })
    local weights = { tile = { D, tn }, shape = shape, stride = { 0, 1, across }, ports = 4 }
    local wg = step.load(given(c, "wg", f32[D][F]), weights)
    local wu = step.load(given(c, "wu", f32[D][F]), weights)
    local gate = x:zip(wg):map_accum(fn.matmul, { rank = 1, bw = bw })
    local up = x:zip(wu):map_accum(fn.matmul, { rank = 1, bw = bw })
    local h = gate:map(fn.silu, { bw = bw }):zip(up):map(fn.mul, { bw = bw }):reshape { chunk = 1, rank = 1 }
    local wd = step.load(given(c, "wd", f32[F][D]),
      { tile = { tn, D }, shape = { down, 1, across }, stride = { 0, 1, 1 }, ports = 4 })
    local y = h:zip(wd):map_accum(fn.matmul, { rank = 1, bw = bw, write_back = true })
    y:store(given(c, "y", f32[B][D]), { ports = 4 })
    return y
  end)
end

-- Per token its experts, ascending; per token and slot one.
local function selectors_of(routing, k)
  local multi, single = {}, {}
  for b, experts in ipairs(routing) do
    multi[b] = table.move(experts, 1, k, 1, {})
    table.sort(multi[b])
    single[b] = {}
    for slot = 1, k do single[b][slot] = { experts[slot] } end
  end
  return multi, single
end

-- The tokens of each expert as tiles: of N, the last filled; of all of them where N is nil.
local function pack(tokens, D, N)
  local tiles = {}
  for e, t in ipairs(tokens) do
    local pad = f32[1][D](0)
    local groups = N and t:reshape { chunk = N, pad = pad, outer = true }:flatten(1, 2)
      or t:reshape { chunk = 1, pad = pad, outer = true }:flatten(0, 1)
    local tile = groups:accum(fn.retile_row, { rank = 1 })
    tiles[e] = tile
  end
  return tiles
end

-- One load of weights for each region.
local function weights_of(refs, load)
  local list = {}
  for r, ref in ipairs(refs) do list[r] = load(ref, r) end
  return list
end

--- The MoE layer (Figs. 9, 10); with P < E regions that E / P experts share each (Figs. 12, 13).
---@param c table B, D, F, E, k, tf, N (nil: dynamic), P, bw; x, weights, y: tensors; up, gate, down: lists of tensors
---@param routing integer[][] per token the experts of its k slots
function models.moe(c, routing)
  local B, D, F, E, k, tf, bw = c.B, c.D, c.F, c.E, c.k, c.tf, c.bw
  local P, n_f = c.P or E, F // tf
  local share = E // P
  local multi, single = selectors_of(routing, k)
  return step.graph(function()
    local sel, one_hot = step.selectors(multi, { n = E }), step.selectors(single, { n = E })
    local x = step.load(given(c, "x", f32[B][D]), { tile = { 1, D } }):flatten(0, 1)
    local tiles, who = pack(x:partition(sel, { n = E }), D, c.N), {}
    local refs = tiles
    if share > 1 then
      local merged = {}
      refs = {}
      for r = 1, P do
        merged[r], who[r] = step.eager_merge(table.move(tiles, (r - 1) * share + 1, r * share, 1, {}), { rank = 0 })
        refs[r] = who[r]:flat_map(fn.addresses(n_f), { rank = 1 })
      end
      tiles = merged
    end
    local function load(name, rows, cols, tile, shape)
      return weights_of(refs, function(ref, r)
        local T = c[name] and c[name][r]
        if share > 1 then return ref:load_at(T or f32[share * n_f * tile[1]][tile[2]], { tile = tile }) end
        return ref:load(T or f32[rows][cols], { tile = tile, shape = shape }):flatten(0, 1)
      end)
    end
    local up = load("up", D, F, { D, tf }, { n_f, 1 })
    local gate = load("gate", D, F, { D, tf }, { n_f, 1 })
    local down = load("down", F, D, { tf, D }, { n_f, 1 })
    local weights = step.load(given(c, "weights", f32[B][k]), { tile = { 1, 1 } }):partition(one_hot, { n = E })
    local outs = {}
    for r, tile in ipairs(tiles) do
      local each = tile:rep(n_f)
      local a = each:zip(up[r]):map(fn.matmul, { bw = bw })
      local b = each:zip(gate[r]):map(fn.matmul, { bw = bw }):map(fn.silu, { bw = bw })
      local h = a:zip(b):map(fn.mul, { bw = bw })
      local done = h:zip(down[r]):map_accum(fn.matmul, { rank = 1, bw = bw })
      local own = share > 1 and done:partition(who[r], { n = share }) or { done }
      for e, rows in ipairs(own) do
        local expert = (r - 1) * share + e
        outs[expert] = weights[expert]:zip(rows:flat_map(fn.split_rows)):map(fn.mul, { bw = bw })
      end
    end
    local y = step.reassemble(outs, sel, { rank = 0 }):accum(fn.add, { rank = 1, bw = bw }):reshape { chunk = 1 }
    y:store(given(c, "y", f32[B][D]))
    return y
  end)
end

-- ---- attention ----

-- What each request has: its number, its tiles with the new row, the valid rows of the last before it comes.
local function requests_of(lens, R)
  local list, pitch = {}, 0
  for b, len in ipairs(lens) do
    list[b] = { index = b - 1, tiles = (len + R) // R, rows = len % R }
    pitch = math.max(pitch, list[b].tiles)
  end
  return list, pitch
end

local function values_of(list, key)
  local t = i32[#list](0)
  for i, request in ipairs(list) do t[i - 1] = request[key] end
  return step.values(t, { name = key })
end

-- The streams that a request comes with: rank 1 the tiles, rank 0 the numbers.
local tiled, numbers = { "q", "k", "v" }, { "index", "tiles", "rows" }

local function sources(list, H, D)
  local n = #list
  local s = {
    q = step.load(f32[n * H][D], { tile = { H, D } }),
    k = step.load(f32[n][D], { tile = { 1, D } }),
    v = step.load(f32[n][D], { tile = { 1, D } }),
  }
  for _, key in ipairs(numbers) do s[key] = values_of(list, key) end
  return s
end

-- Requests in blocks of `block` to region after region.
local function by_block(list, c, block)
  local regions = {}
  for p = 0, c.P - 1 do
    local own = {}
    for b, request in ipairs(list) do
      if (b - 1) // block % c.P == p then own[#own + 1] = request end
    end
    if #own > 0 then regions[#regions + 1] = sources(own, c.H, c.D) end
  end
  return regions
end

-- The streams of all requests, each dealt out over the regions by split(stream, rank).
local function deal(list, c, split)
  local s, regions = sources(list, c.H, c.D), {}
  for p = 1, c.P do regions[p] = {} end
  local function put(keys, rank)
    for _, key in ipairs(keys) do
      for p, x in ipairs(split(s[key], rank)) do regions[p][key] = x end
    end
  end
  put(tiled, 1)
  put(numbers, 0)
  return regions
end

-- A request to the region that is free first: P selectors in turn, then those of the regions that fall idle.
local function by_free(list, c)
  local first, turn, again = {}, {}, {}
  for p = 1, math.min(c.P, #list) do first[p] = { p - 1 } end
  for b = 1, #list do
    turn[b] = { b <= c.P and 0 or 1 }
    again[b] = { b <= #list - c.P and 0 or 1 }
  end
  local free = step.feedback("selector", { n = c.P })
  local start, whose = step.selectors(first, { n = c.P }), step.selectors(turn, { n = 2 })
  local go = step.reassemble({ start, free }, whose, { rank = 0 }):flatten(0, 1)
  local regions = deal(list, c, function(x, rank) return x:partition(go, { n = c.P, rank = rank }) end)
  return regions, function(idle)
    local done, who = step.eager_merge(idle, { rank = 0 })
    local ask, over = table.unpack(who:partition(step.selectors(again, { n = 2 }), { n = 2 }))
    free:close(ask)
    done:sink()
    over:sink()
  end
end

--- Decode attention over P regions with the new row appended to the cache (Figs. 14, 15, 21). Tile 0 of the cache is
--- no request's.
---@param c table H, D, R, P, by = "block" | "turn" | "free", block = 16, bw
---@param lens integer[] cached rows of each request
function models.attention(c, lens)
  local list, pitch = requests_of(lens, c.R)
  local bw, cache = c.bw, f32[(#lens * pitch + 1) * c.R][c.D]
  return step.graph(function()
    local regions, close
    if c.by == "block" then
      regions = by_block(list, c, c.block or 16)
    elseif c.by == "turn" then
      regions = deal(list, c, function(x, rank) return x:parallelize(c.P, { rank = rank }) end)
    else
      regions, close = by_free(list, c)
    end
    local idle, outs = {}, {}
    for p, s in ipairs(regions) do
      -- The cached tiles of a side with the new row in the last, which is written back.
      local function side(new, tells)
        local at = s.index:zip(s.tiles):flat_map(fn.cache_addresses(pitch), { rank = 1 })
        local cached = at:load_at(cache, { tile = { c.R, c.D }, base = 1 })
        if tells then idle[p] = cached:accum(fn.signal, { rank = 1 }) end
        local sel = s.tiles:flat_map(fn.last_tile, { rank = 1 })
        local part = cached:partition(sel, { n = 2 })
        local last = part[1]:zip(s.rows):map(fn.set_offset):zip(new:flatten(0, 1)):map(fn.append_row)
        s.index:zip(s.tiles):map(fn.cache_slot(pitch)):store_at(last, cache):sink()
        return step.reassemble({ last, part[2] }, sel, { rank = 0 }):flatten(0, 1)
      end
      local K, V = side(s.k, close), side(s.v)
      local e = s.q:expand(K, { rank = 1 }):zip(K):map(fn.matmul_t, { bw = bw }):map(fn.exp, { bw = bw })
      local sum = e:accum(fn.add, { rank = 1, bw = bw }):map(fn.row_sum, { bw = bw })
      outs[p] = e:zip(V):map_accum(fn.matmul, { rank = 1, bw = bw }):zip(sum)
        :map(fn.div, { bw = bw, write_back = true })
      s.index:store_at(outs[p], f32[#lens * c.H][c.D]):sink()
    end
    if close then close(idle) end
    return table.unpack(outs)
  end)
end

for name, f in pairs(require "tide.step.programs") do models[name] = f end

return models
