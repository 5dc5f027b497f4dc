-- Graphs of STeP beyond the paper's, for tide.step.models: a sparse product, attention with an online softmax, early
-- exit by feedback.
local tide = require "tide"
local step = require "tide.step"

local f32, i32, fn = tide.f32, tide.i32, step.fn

local programs = {}

-- A tensor argument: the one given, or its type.
local function given(c, name, T) return c[name] or T end

--- y = A x of a sparse A in tiles of T x T: counts[r] tiles in tile row r, their tile columns in `columns`, row by
--- row. Rows without tiles give zeros.
---@param c table T, D: columns of x; K: tile rows of x; bw; values [#columns * T][T], x [K * T][D], y: tensors
---@param counts integer[]
---@param columns integer[]
function programs.spmm(c, counts, columns)
  local T, D, n, pitch = c.T, c.D, #counts, 1
  for _, k in ipairs(counts) do pitch = math.max(pitch, k) end
  -- The tiles of row r are at r * pitch and behind it.
  local at, place, column, k = i32[n](0), i32[n * pitch][1](0), i32[n * pitch][1](0), 0
  for r, count in ipairs(counts) do
    at[r - 1] = r - 1
    for i = 0, count - 1 do
      local slot = (r - 1) * pitch + i
      k = k + 1
      place[slot][0], column[slot][0] = k - 1, columns[k]
    end
  end
  return step.graph(function()
    local rows, many = step.values(at, { name = "rows" }), step.values(tide.tensor(i32[n], counts), { name = "counts" })
    local slot = rows:zip(many):flat_map(fn.cache_addresses(pitch), { rank = 1 })
    local a = slot:load_at(place, { tile = { 1, 1 } }):load_at(given(c, "values", f32[math.max(k, 1) * T][T]),
      { tile = { T, T } })
    local b = slot:load_at(column, { tile = { 1, 1 } }):load_at(given(c, "x", f32[c.K * T][D]), { tile = { T, D } })
    local y = a:zip(b):map_accum(fn.matmul, { rank = 1, bw = c.bw })
    y:store(given(c, "y", f32[n * T][D]))
    return y
  end)
end

local h, d, r, w = tide.size "h", tide.size "d", tide.size "r", tide.size "w"

-- One tile of keys and values into the state: in its columns the sum of values, then the sum of weights, the peak.
local online = tide.kernel {
  name = "online", state = f32[h][w], q = f32[h][d], k = f32[r][d], v = f32[r][d], out = f32[h][w],
  function(state, q, k, v, out)
    for i = 0, h - 1 do
      local score, peak = f32[r](0), state[i][d + 1]
      for j = 0, r - 1 do
        local s = f32(0)
        for e = 0, d - 1 do s = s + q[i][e] * k[j][e] end
        score[j] = s
        peak = tide.max(peak, s)
      end
      local scale = tide.exp(state[i][d + 1] - peak)
      local sum = state[i][d] * scale
      for e = 0, d - 1 do out[i][e] = state[i][e] * scale end
      for j = 0, r - 1 do
        local weight = tide.exp(score[j] - peak)
        sum = sum + weight
        for e = 0, d - 1 do out[i][e] = out[i][e] + weight * v[j][e] end
      end
      out[i][d] = sum
      out[i][d + 1] = peak
    end
  end,
}

-- What the state stands for: values over weights; zeros where nothing came.
local function ended(D)
  return tide.kernel {
    name = "ended", state = f32[h][D + 2], out = f32[h][D],
    function(state, out)
      for i = 0, h - 1 do
        for e = 0, D - 1 do
          out[i][e] = 0
          if state[i][D] > 0 then out[i][e] = state[i][e] / state[i][D] end
        end
      end
    end,
  }
end

--- Attention of each request over its own cached rows, with an online softmax: scores of any size. A request without
--- rows gives zeros.
---@param c table H, D, R: rows of a tile of the cache; bw; q [n * H][D], k, v [tiles * R][D], y: tensors, else types
---@param lens integer[] cached rows of each request; request i has ceil(lens[i] / R) tiles, one request after the other
function programs.softmax_attention(c, lens)
  local H, D, R, n = c.H, c.D, c.R, #lens
  local at, tiles, pitch, all = i32[n](0), i32[n](0), 1, 0
  for i, len in ipairs(lens) do
    at[i - 1], tiles[i - 1] = i - 1, (len + R - 1) // R
    pitch = math.max(pitch, tiles[i - 1])
  end
  local place, valid = i32[n * pitch][1](0), i32[n * pitch][1](0)
  for i, len in ipairs(lens) do
    for k = 0, tiles[i - 1] - 1 do
      local slot = (i - 1) * pitch + k
      place[slot][0], valid[slot][0] = all, math.min(R, len - k * R)
      all = all + 1
    end
  end
  local start = f32[H][D + 2](0)
  for i = 0, H - 1 do start[i][D + 1] = -3e38 end
  local cache = f32[math.max(all, 1) * R][D]
  return step.graph(function()
    local slot = step.values(at, { name = "index" }):zip(step.values(tiles, { name = "tiles" }))
      :flat_map(fn.cache_addresses(pitch), { rank = 1 })
    local number, rows = slot:load_at(place, { tile = { 1, 1 } }), slot:load_at(valid, { tile = { 1, 1 } })
    local function side(name)
      return number:load_at(given(c, name, cache), { tile = { R, D } }):zip(rows):map(fn.set_offset)
    end
    local k, v = side "k", side "v"
    local q = step.load(given(c, "q", f32[n * H][D]), { tile = { H, D } }):expand(k, { rank = 1 })
    local y = q:zip(k):zip(v):accum(online, { rank = 1, init = start, bw = c.bw }):map(ended(D), { bw = c.bw })
    y:store(given(c, "y", f32[n * H][D]))
    return y
  end)
end

-- ---- early exit ----

local u64 = tide.u64

--- y[b] = the layer h -> silu(h W) applied passes[b] times to row b of x. Rows that need another pass go round by a
--- feedback and meet new ones as they come; each carries a ticket, its number and the passes that are left.
---@param c table D, bw; x [n][D], w [D][D], y [n][D]: tensors, else their types
---@param passes integer[] at least 1 each
function programs.early_exit(c, passes)
  local n, D, total, most = #passes, c.D, 0, 0
  for b, count in ipairs(passes) do
    if math.type(count) ~= "integer" or count < 1 then
      error(("models.early_exit: row %d makes %s passes, at least 1"):format(b, count), 2)
    end
    total, most = total + count, math.max(most, count)
  end
  local K, ticket, once = most + 1, u64[n](0), {}
  for b, count in ipairs(passes) do ticket[b - 1] = (b - 1) * K + count end
  for i = 1, total do once[i] = { 0 } end
  local function number(name, f)
    return tide.kernel { name = name, t = u64[1][1], out = u64[1][1], f }
  end
  local after = number("after", function(t, out) out[0][0] = t[0][0] - u64(1) end)
  local way = number("way", function(t, out) out[0][0] = tide.min(t[0][0] % K, u64(1)) end)
  local whose = number("whose", function(t, out) out[0][0] = t[0][0] // K end)
  return step.graph(function()
    local rows = step.load(given(c, "x", f32[n][D]), { tile = { 1, D } }):flatten(0, 1)
    local tickets = step.values(ticket)
    local again, left = step.feedback(f32[1][D]), step.feedback(u64[1][1])
    local merged, who = step.eager_merge { rows, again }
    -- As many as there are passes in all: then the loop ends.
    local every = step.selectors(once, { n = 1 })
    local h, from = merged:partition(every, { n = 1 })[1], who:partition(every, { n = 1 })[1]
    local now = step.reassemble({ tickets, left }, from):flatten(0, 1):map(after)
    local sel = now:map(way):map(fn.one_hot(2))
    local w = h:load(given(c, "w", f32[D][D]), { tile = { D, D } }):flatten(0, 1):flatten(0, 1)
    local next = h:zip(w):map(fn.matmul, { bw = c.bw }):map(fn.silu, { bw = c.bw })
    -- All rows may go round at once.
    local out = next:partition(sel, { n = 2, depth = n + 1 })
    local ids = now:partition(sel, { n = 2, depth = n + 1 })
    again:close(out[2])
    -- Tickets go round in the order of their rows; a merge of one input cuts their cycle.
    local round, one = step.eager_merge { ids[2] }
    one:sink()
    left:close(round)
    ids[1]:map(whose):store_at(out[1], given(c, "y", f32[n][D])):sink()
  end)
end

return programs
