-- Graphs of STeP as the paper's artifact builds them, typed f32, and the settings of its figures for simulate.
--   local models = require "tide.step.models"
--   local g = models.moe({ B = 64, D = 4096, F = 14336, E = 8, k = 2, tf = 64, N = 16, bw = 4096 }, routing)
--   print(g:simulate(models.settings.fig9).cycles)
-- Loads come in the order in which the artifact's memory serves them.
local tide = require "tide"
local step = require "tide.step"
local csv = require "tide.csv"

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

-- Raises, at the caller of a model, where one of these entries is no integer of at least 1.
local function need(model, c, names, level)
  for name in names:gmatch "%w+" do
    local v = type(c) == "table" and c[name]
    if math.type(v) ~= "integer" or v < (name == "B" and 0 or 1) then
      error(("models.%s needs %s, an integer of at least %d"):format(model, name, name == "B" and 0 or 1), level)
    end
  end
end

--- The SwiGLU layer (Fig. 8): y = (silu(x Wg) * (x Wu)) Wd, in tiles of tm rows and tn columns.
---@param c table B, D, F, tm, tn, bw; x, wg, wu, wd, y: tensors, else their types
function models.swiglu(c)
  need("swiglu", c, "B D F tm tn", 3)
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

-- Per token its experts, ascending; per token and slot one, as a tensor where there is no token.
local function selectors_of(routing, k)
  local multi, single = {}, #routing > 0 and {} or i32[0][k](0)
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

-- The sum of what the experts of each row of x make of it, by weights that come per slot.
local function experts(c, x, routing)
  local D, F, E, k, tf, bw = c.D, c.F, c.E, c.k, c.tf, c.bw
  local P, n_f = c.P or E, F // tf
  local share = E // P
  local multi, single = selectors_of(routing, k)
  local sel, one_hot = step.selectors(multi, { n = E }), step.selectors(single, { n = E })
  local tiles, who = pack(x(sel), D, c.N), {}
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
  local weights = step.load(given(c, "weights", f32[#routing][k]), { tile = { 1, 1 } })
    :partition(one_hot, { n = E })
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
  local all = step.reassemble(outs, sel, { rank = 0, name = "reassemble" })
  return all:accum(fn.add, { rank = 1, bw = bw, name = "accum" })
end

-- Raises where the fields of a layer of experts do not fit each other or its routing.
local function check_experts(model, c, routing)
  need(model, c, "B D F E k tf", 4)
  if c.F % c.tf ~= 0 then error(("models.%s: tf = %d does not cut F = %d"):format(model, c.tf, c.F), 3) end
  if c.P and (math.type(c.P) ~= "integer" or c.P < 1 or c.E % c.P ~= 0) then
    error(("models.%s: P regions share E = %d experts evenly, not %s"):format(model, c.E, c.P), 3)
  end
  if type(routing) ~= "table" or #routing ~= c.B then
    error(("models.%s: routing has %s tokens, and B is %d"):format(model, type(routing) == "table" and #routing or "no",
      c.B), 3)
  end
  for b, slots in ipairs(routing) do
    if #slots < c.k then error(("models.%s: token %d has %d experts, k is %d"):format(model, b, #slots, c.k), 3) end
  end
end

--- The MoE layer (Figs. 9, 10); with P < E regions that E / P experts share each (Figs. 12, 13).
---@param c table B, D, F, E, k, tf, N (nil: dynamic), P, bw; x, weights, y: tensors; up, gate, down: lists of tensors
---@param routing integer[][] per token the experts of its k slots
function models.moe(c, routing)
  check_experts("moe", c, routing)
  local B, D, E = c.B, c.D, c.E
  return step.graph(function()
    local function x(sel)
      return step.load(given(c, "x", f32[B][D]), { tile = { 1, D } }):flatten(0, 1):partition(sel, { n = E })
    end
    local y = experts(c, x, routing):reshape { chunk = 1 }
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
  return list, math.max(pitch, 1)
end

local function values_of(list, key)
  local t = i32[#list](0)
  for i, request in ipairs(list) do t[i - 1] = request[key] end
  return step.values(t, { name = key })
end

-- The streams that a request comes with: rank 1 the tiles, rank 0 the numbers.
local tiled, numbers = { "q", "k", "v" }, { "index", "tiles", "rows" }

-- The tiles of some requests, of a tensor that has `each` rows for each of all of them, or of a type.
local function rows_of(c, name, list, each)
  local all = c[name]
  if not all then return f32[#list * each][c.D] end
  if #list == c.requests then return all end
  local own = f32[#list * each][c.D](0)
  for i, request in ipairs(list) do
    for h = 0, each - 1 do
      for d = 0, c.D - 1 do own[(i - 1) * each + h][d] = all[request.index * each + h][d] end
    end
  end
  return own
end

local function sources(list, c)
  local s = {
    q = step.load(rows_of(c, "q", list, c.H), { tile = { c.H, c.D } }),
    k = step.load(rows_of(c, "k", list, 1), { tile = { 1, c.D } }),
    v = step.load(rows_of(c, "v", list, 1), { tile = { 1, c.D } }),
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
    if #own > 0 then regions[#regions + 1] = sources(own, c) end
  end
  return regions
end

-- The streams of all requests, each dealt out over the regions by split(stream, rank).
local function deal(s, c, split)
  local regions = {}
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

-- A request to the region that is free first: P selectors in turn, then those of the regions that fall idle. The
-- streams come of `streams`; then what closes the loop, and the selectors, of this depth.
local function by_free(n, c, streams, depth)
  local first, turn, again = {}, {}, {}
  for p = 1, math.min(c.P, n) do first[p] = { p - 1 } end
  for b = 1, n do
    turn[b] = { b <= c.P and 0 or 1 }
    again[b] = { b <= n - c.P and 0 or 1 }
  end
  local free = step.feedback("selector", { n = c.P })
  local start, whose = step.selectors(first, { n = c.P }), step.selectors(turn, { n = 2 })
  local go = step.reassemble({ start, free }, whose, { rank = 0 }):flatten(0, 1, { depth = depth })
  local regions = deal(streams(), c, function(x, rank) return x:partition(go, { n = c.P, rank = rank }) end)
  return regions, function(idle)
    local done, who = step.eager_merge(idle, { rank = 0 })
    local ask, over = table.unpack(who:partition(step.selectors(again, { n = 2 }), { n = 2 }))
    free:close(ask)
    done:sink()
    over:sink()
  end, go
end

-- What each region makes of its requests, tiles of [H, D], which `take` is given as they are made; `close` what tells
-- when a region has read its cache.
local function attend(c, regions, pitch, close, take)
  local bw, cache = c.bw, f32[(c.requests * pitch + 1) * c.R][c.D]
  local idle, outs = {}, {}
  for p, s in ipairs(regions) do
    -- The cached tiles of a side with the new row in the last, which is written back.
    local function side(name, tells)
      local tensor = given(c, name .. "_cache", cache)
      local at = s.index:zip(s.tiles):flat_map(fn.cache_addresses(pitch), { rank = 1 })
      local cached = at:load_at(tensor, { tile = { c.R, c.D }, base = 1 })
      if tells then idle[p] = cached:accum(fn.signal, { rank = 1 }) end
      local sel = s.tiles:flat_map(fn.last_tile, { rank = 1 })
      local part = cached:partition(sel, { n = 2 })
      local last = part[1]:zip(s.rows):map(fn.set_offset):zip(s[name]:flatten(0, 1)):map(fn.append_row)
      s.index:zip(s.tiles):map(fn.cache_slot(pitch)):store_at(last, tensor):sink()
      return step.reassemble({ last, part[2] }, sel, { rank = 0 }):flatten(0, 1)
    end
    local K, V = side("k", close), side("v")
    local e = s.q:expand(K, { rank = 1 }):zip(K):map(fn.matmul_t, { bw = bw }):map(fn.exp, { bw = bw })
    local sum = e:accum(fn.add, { rank = 1, bw = bw }):map(fn.row_sum, { bw = bw })
    outs[p] = e:zip(V):map_accum(fn.matmul, { rank = 1, bw = bw }):zip(sum)
      :map(fn.div, { bw = bw, write_back = true })
    if take then take(s.index, outs[p]) end
  end
  if close then close(idle) end
  return outs
end

-- Raises where the fields of attention do not fit; a copy of them with the number of requests.
local function check_attention(model, c, lens)
  need(model, c, "H D R P", 4)
  if c.by ~= "block" and c.by ~= "turn" and c.by ~= "free" then
    error(("models.%s: by is \"block\", \"turn\" or \"free\", not %q"):format(model, tostring(c.by)), 3)
  end
  for b, len in ipairs(lens) do
    if math.type(len) ~= "integer" or len < 0 then
      error(("models.%s: request %d has %s cached rows"):format(model, b, len), 3)
    end
  end
  return setmetatable({ requests = #lens }, { __index = c })
end

--- Decode attention over P regions with the new row appended to the cache (Figs. 14, 15, 21). Request b has the
--- ceil((lens[b] + 1) / R) tiles of the caches from 1 + (b - 1) * pitch on, pitch the most that a request has; tile 0
--- is no request's. Softmax without its maximum.
---@param c table H, D, R, P, by = "block" | "turn" | "free", block = 16, bw; q, y: [n * H][D], k, v: [n][D], k_cache,
--- v_cache: [(n * pitch + 1) * R][D], tensors (by block copies of q, k, v), else their types
---@param lens integer[] cached rows of each request
function models.attention(c, lens)
  c = check_attention("attention", c, lens)
  local list, pitch = requests_of(lens, c.R)
  return step.graph(function()
    local regions, close
    if c.by == "block" then
      regions = by_block(list, c, c.block or 16)
    elseif c.by == "turn" then
      regions = deal(sources(list, c), c, function(x, rank) return x:parallelize(c.P, { rank = rank }) end)
    else
      regions, close = by_free(#list, c, function() return sources(list, c) end)
    end
    local y = given(c, "y", f32[#list * c.H][c.D])
    return table.unpack(attend(c, regions, pitch, close, function(index, out) index:store_at(out, y):sink() end))
  end)
end

-- ---- a layer of a decoder ----

-- H tiles of D columns of a row, from column `from` on, one below the other; and a row of such tiles.
local function heads(width, from, H, D)
  return tide.kernel {
    name = "heads", row = f32[1][width], out = f32[H][D],
    function(row, out)
      for h = 0, H - 1 do
        for d = 0, D - 1 do out[h][d] = row[0][from + h * D + d] end
      end
    end,
  }
end
local function beside(H, D)
  return tide.kernel {
    name = "beside", tile = f32[H][D], out = f32[1][H * D],
    function(tile, out)
      for h = 0, H - 1 do
        for d = 0, D - 1 do out[0][h * D + d] = tile[h][d] end
      end
    end,
  }
end

-- The rows of tiles times weights.
local function project(x, w, bw)
  local each = x:load(w):flatten(0, 1):flatten(0, 1)
  return x:zip(each):map(fn.matmul, { bw = bw }):flat_map(fn.split_rows)
end

-- The streams of requests, whose tiles come of rows of queries, keys and values side by side.
local function taken_apart(row, list, a)
  local width, s = (a.H + 2) * a.D, {}
  s.q = row:map(heads(width, 0, a.H, a.D)):promote { at = 0 }
  s.k = row:map(heads(width, a.H * a.D, 1, a.D)):promote { at = 0 }
  s.v = row:map(heads(width, (a.H + 1) * a.D, 1, a.D)):promote { at = 0 }
  for _, key in ipairs(numbers) do s[key] = values_of(list, key) end
  return s
end

--- A layer of a decoder: queries, keys and values of the rows of x, in `split` tiles of rows; attention over the
--- cached rows and the new one; its projection; a mixture of experts (Fig. 17, whose graph the paper does not
--- publish). Without norms and residuals, as the paper names none.
---@param c table as for moe; split = 4; attention: as for attention; x, y: [B][D], w_qkv: [D][(H + 2) * d], w_o:
--- [H * d][D], tensors, else their types
---@param routing integer[][] per token the experts of its k slots
---@param lens integer[] cached rows of each token's request
function models.decoder(c, routing, lens)
  check_experts("decoder", c, routing)
  local a = check_attention("decoder", c.attention, lens)
  if #lens ~= c.B then error(("models.decoder: lens has %d requests, and B is %d"):format(#lens, c.B), 2) end
  local B, D, bw, split = c.B, c.D, c.bw, c.split or 4
  local list, pitch = requests_of(lens, a.R)
  local rows = B > 0 and B % split == 0 and B // split or 1
  return step.graph(function()
    local x = step.load(given(c, "x", f32[B][D]), { tile = { rows, D } }):flatten(0, 1)
    local row = project(x, given(c, "w_qkv", f32[D][(a.H + 2) * a.D]), bw):assume_shape { B }
    local function streams() return taken_apart(row, list, a) end
    local regions, close, sel
    if a.by == "free" then
      regions, close, sel = by_free(B, a, streams, a.P)
    else
      local block, way = a.by == "block" and (a.block or 16) or 1, {}
      for b = 1, B do way[b] = { (b - 1) // block % a.P } end
      sel = step.selectors(way, { n = a.P })
      regions = deal(streams(), a, function(s, rank)
        if block == 1 then return s:parallelize(a.P, { rank = rank }) end
        return s:partition(sel, { n = a.P, rank = rank })
      end)
    end
    local outs = attend(a, regions, pitch, close)
    local seen = step.reassemble(outs, sel, { rank = 0 }):flatten(0, 1):map(beside(a.H, a.D))
    local tile = seen:reshape { chunk = rows, pad = f32[1][a.H * a.D](0) }:accum(fn.retile_row, { rank = 1 })
    local token = project(tile, given(c, "w_o", f32[a.H * a.D][D]), bw):assume_shape { B }
    local y = experts(c, function(by) return token:partition(by, { n = c.E }) end, routing):reshape { chunk = 1 }
    y:store(given(c, "y", f32[B][D]))
    return y
  end)
end

--- The rows of a trace, lists of integers: experts of tokens, lengths of requests. A .npy file holds them as an array
--- of integers of one or two dimensions; of a CSV file they are the columns whose names begin with `prefix`, up to
--- the first that is empty.
---@param path string
---@param prefix? string of CSV columns: "slot", "len"
---@return integer[][] rows, string[]? names the first column, of a CSV file
function models.trace(path, prefix)
  if path:find "%.npy$" then
    local x = tide.load(path)
    if #x.shape > 2 then error(("models.trace: '%s' has %d dimensions, not one or two"):format(path, #x.shape), 2) end
    local rows = #x.shape == 1 and { x:table() } or x:table()
    for i, row in ipairs(rows) do
      for k, v in ipairs(row) do
        row[k] = math.tointeger(v) or error(("models.trace: row %d has %s, no integer"):format(i, v), 2)
      end
    end
    return rows
  end
  local rows, head = csv.read(path)
  local lists, names = {}, {}
  for i, row in ipairs(rows) do
    local list = {}
    for _, name in ipairs(head) do
      if name:find(prefix or "", 1, true) == 1 and row[name] ~= nil and row[name] ~= "" then
        list[#list + 1] = math.tointeger(tonumber(row[name]))
          or error(("models.trace: row %d has %s in column %s, no integer"):format(i, row[name], name), 2)
      end
    end
    lists[i], names[i] = list, row[head[1]]
  end
  return lists, names
end

for name, f in pairs(require "tide.step.programs") do models[name] = f end

return models
