-- Random graphs of STeP, of packing, routing, products, sums and loads by reference: values against plain loops, a run
-- with data and one on shapes, expressions at the symbols that were seen against what was measured, the printed form.
local tide, step = require "tide", require "tide.step"
local campaign = require "campaign"
local t = require "tap"
local f32, fn = tide.f32, step.fn

local WIDTH, random = 8, math.random

-- A list of n selectors of ways 0 .. ways - 1, ascending, at least `least` of them.
local function routing(n, ways, most)
  local list = {}
  for i = 1, n do
    local set, one = {}, {}
    for _ = 1, random(1, most) do set[random(0, ways - 1)] = true end
    for w = 0, ways - 1 do if set[w] then one[#one + 1] = w end end
    list[i] = one
  end
  return list
end

-- Each stage takes a stream of rows and its rows in Lua; it gives both. All of them work row by row.
local stages = {}
local function stage(x, rows, deep)
  local pick = stages[random(deep > 0 and #stages or #stages - 1)]
  return pick(x, rows, deep)
end

local function map_rows(rows, f)
  local out = {}
  for i, row in ipairs(rows) do
    out[i] = {}
    for k = 1, WIDTH do out[i][k] = f(row[k]) end
  end
  return out
end

local function pack(x)
  local packed = x:reshape { chunk = random(1, 4), pad = f32[1][WIDTH](0) }
  return packed:accum(fn.retile_row, { rank = 1 })
end

function stages.silu(x, rows)
  return x:map(fn.silu, { bw = random(1, 16) }), map_rows(rows, function(v) return v / (1 + math.exp(-v)) end)
end

function stages.pack(x, rows)
  return pack(x):flat_map(fn.split_rows), rows
end

-- A product with weights that each tile loads, in tiles of columns.
function stages.product(x, rows)
  local W = tide.random(f32[WIDTH][WIDTH], random(1 << 20), { lo = -1, hi = 1 })
  local tile = pack(x)
  local w = tile:load(W, { tile = { WIDTH, WIDTH }, ports = random(1, 4) }):flatten(0, 1):flatten(0, 1)
  local out = {}
  for i, row in ipairs(rows) do
    out[i] = {}
    for j = 0, WIDTH - 1 do
      local sum = 0
      for k = 0, WIDTH - 1 do sum = sum + row[k + 1] * W[k][j] end
      out[i][j + 1] = sum
    end
  end
  return tile:zip(w):map(fn.matmul, { bw = random(8, 64) }):flat_map(fn.split_rows), out
end

-- Each row n times, and their sum.
function stages.again(x, rows)
  local n = random(1, 3)
  return x:rep(n):accum(fn.add, { rank = 1, bw = random(1, 8) }), map_rows(rows, function(v) return n * v end)
end

-- Through dimensions and back.
function stages.shape(x, rows)
  return x:promote { at = 0 }:flatten(0, 1), rows
end

-- To ways of their own and together again: a sum where a row goes more than one.
function stages.route(x, rows, deep)
  local ways = random(2, 3)
  local list = routing(#rows, ways, random(2))
  local sel, outs, of = step.selectors(list, { n = ways }), {}, {}
  for w, branch in ipairs(x:partition(sel, { n = ways })) do
    local own = {}
    for i, one in ipairs(list) do
      for _, k in ipairs(one) do if k == w - 1 then own[#own + 1] = rows[i] end end
    end
    outs[w], of[w] = stage(branch, own, deep - 1)
  end
  local at, out = {}, {}
  for i, one in ipairs(list) do
    out[i] = {}
    for k = 1, WIDTH do out[i][k] = 0 end
    for _, w in ipairs(one) do
      at[w] = (at[w] or 0) + 1
      for k = 1, WIDTH do out[i][k] = out[i][k] + of[w + 1][at[w]][k] end
    end
  end
  return step.reassemble(outs, sel, { order = "index" }):accum(fn.add, { rank = 1, bw = 8 }), out
end

for _, name in ipairs { "silu", "pack", "product", "again", "shape", "route" } do stages[#stages + 1] = stages[name] end

local function graph(n)
  local x, y = tide.random(f32[n][WIDTH], random(1 << 20), { lo = -1, hi = 1 }), f32[n][WIDTH](0)
  local rows = {}
  for i = 1, n do
    rows[i] = {}
    for k = 1, WIDTH do rows[i][k] = x[i - 1][k - 1] end
  end
  local g = step.graph(function()
    local s = step.load(x, { tile = { 1, WIDTH } }):flatten(0, 1)
    for _ = 1, random(4) do s, rows = stage(s, rows, 2) end
    s:store(y)
  end)
  return g, y, rows
end

local function number(e, r) return math.type(e) and e or e:at(r.symbols) end

local function check(seed)
  math.randomseed(seed)
  local n = random(1, 9)
  local g, y, rows = graph(n)
  local o = { depth = 64, memory = ({ "queue", "banks", "slots" })[random(3)] }
  local r = g:run(o)
  for i, row in ipairs(rows) do
    for k, v in ipairs(row) do
      local got = y[i - 1][k - 1]
      if math.abs(got - v) > 1e-4 * (1 + math.abs(v)) then return ("seed %d: y[%d][%d]"):format(seed, i, k) end
    end
  end
  local shapes = g:simulate(o)
  if shapes.cycles ~= r.cycles then return ("seed %d: %d and %d cycles"):format(seed, r.cycles, shapes.cycles) end
  for _, name in ipairs { "traffic", "memory", "flops" } do
    local e = name == "memory" and g:memory { as = "artifact" } or g[name](g)
    local v = number(e, r)
    if v ~= r[name] then return ("seed %d: %s is %s, and was %s"):format(seed, name, v, r[name]) end
  end
  local again = load(tostring(g))(g:constants())
  if tostring(again) ~= tostring(g) then return ("seed %d: another text"):format(seed) end
  if again:simulate(o).cycles ~= r.cycles then return ("seed %d: the printed form has other cycles"):format(seed) end
end

t.test("random graphs", function()
  local count, first = campaign.range(500)
  for seed = first, first + count - 1 do
    local ok, wrong = pcall(check, seed)
    t.ok(ok and not wrong, tostring(wrong) .. " (seed " .. seed .. ")")
  end
end)

t.done()
