-- tile_all: every node of a graph on the physical tile. The same traffic, the same values but for the order of sums;
-- no tile is larger than the physical one but in what is put together for an output.
local tide, step = require "tide", require "tide.step"
local models = require "tide.step.models"
local t = require "tap"
local f32, fn = tide.f32, step.fn

local function load(rows, cols, tile, seed, o)
  o = o or {}
  o.tile = tile
  return step.load(tide.random(f32[rows][cols], seed), o)
end

-- Whether the tiles of all streams fit, but for those of names that end in "_sum", which join outputs.
local function fits(g, rows, cols)
  for line in tostring(g):gmatch "[^\n]+" do
    local r, c = line:match "%-%- %[.-%] of %[(%d+), (%d+)%]"
    local joins = line:find "fn.retile_"
    if r and not joins and (tonumber(r) > rows or tonumber(c) > cols) then return false, line end
  end
  return true
end

local function check(g, tile, verdict)
  local s = tide.schedule(g):tile_all(tile)
  t.eq(s:verify(), verdict or "strict", tostring(s))
  t.ok(fits(s:graph(), table.unpack(tile)))
  t.eq(s:traffic(), g:traffic())
  local a, b = g:run { depth = 16 }, s:run { depth = 16 }
  t.ok(b:allclose(a, { rtol = 1e-5, atol = 1e-5 }), tostring(s))
  local r = s:simulate { depth = 16 }
  t.eq(select(-1, s:run { depth = 16 }).cycles, r.cycles)
  t.eq(r.traffic, g:simulate({ depth = 16 }).traffic)
  local again = assert(_G.load(tostring(s)))(s:graph():constants())
  t.eq(again:simulate({ depth = 16 }).cycles, r.cycles, "its text loads back")
  return s
end

t.test("functions of elements, with operands that repeat", function()
  for _, tile in ipairs { { 2, 2 }, { 1, 4 }, { 4, 2 }, { 8, 8 } } do
    for _, extents in ipairs { { 4, 8 }, { 1, 8 }, { 4, 1 }, { 1, 1 } } do
      check(step.graph(function()
        local x, y = load(8, 16, { 4, 8 }, 1), load(2 * extents[1], 2 * extents[2], extents, 2)
        return x:map(fn.silu, { bw = 8 }):zip(y:map(fn.exp)):map(fn.mul, { bw = 8 })
      end), tile)
    end
  end
end)

t.test("products: rows, columns, terms, second operands loaded and made", function()
  for _, case in ipairs { { 4, 8, 4 }, { 2, 4, 8 }, { 8, 2, 4 }, { 4, 4, 2 }, { 2, 2, 2 }, { 6, 2, 4 } } do
    local m, k, n = table.unpack(case)
    for made = 0, 2 do
      local g = step.graph(function()
        local x = load(2 * m, k, { m, k }, 1)
        local w = load(made == 2 and n or k, made == 2 and k or n, made == 2 and { n, k } or { k, n }, 2,
          { shape = { 2, 1 }, stride = { 0, 1 } })
        if made == 1 then w = w:map(fn.exp) end
        local y = x:zip(w):map(made == 2 and fn.matmul_t or fn.matmul, { bw = 16 })
        return y
      end)
      check(g, { 2, 2 }, k > 2 and "associative" or nil)
    end
  end
end)

t.test("sums of products over one list and several, of tiles, of rows", function()
  for _, rank in ipairs { 1, 2 } do
    for _, case in ipairs { { 4, 4, 4 }, { 2, 4, 2 }, { 4, 2, 2 } } do
      local m, k, n = table.unpack(case)
      check(step.graph(function()
        local x = load(8 * m, 3 * k, { m, k }, 1, { shape = { 2, 4, 3 }, stride = { 12, 3, 1 } })
        local w = load(3 * k, n, { k, n }, 2, { shape = { 2, 4, 3 }, stride = { 0, 0, 1 } })
        return x:zip(w):map_accum(fn.matmul, { rank = rank, bw = 32, write_back = true })
      end), { 2, 2 }, k > 2 and "associative" or nil)
    end
  end
  for _, across in ipairs { 2, 4, 8 } do
    check(step.graph(function()
      return load(8, 2 * across, { 4, across }, 1):accum(fn.add, { rank = 1, bw = 4 }):map(fn.row_sum, { bw = 2 })
    end), { 2, 2 }, across > 2 and "associative" or nil)
  end
end)

t.test("tiles that are routed, repeated, expanded, dealt out and dimensions in between", function()
  check(step.graph(function()
    local x = load(12, 4, { 4, 4 }, 1):flatten(0, 1)
    local sel = step.selectors({ { 0 }, { 1 }, { 0, 1 } }, { n = 2 })
    local a, b = table.unpack(x:partition(sel))
    local y = step.reassemble({ a:map(fn.exp), b:map(fn.silu) }, sel, { order = "index" }):accum(fn.add, { rank = 1 })
    y = y:promote { at = 0 }:expand(load(12, 8, { 4, 4 }, 2), { rank = 1 }):rep(2):flatten(0, 1)
    return (y:reshape { chunk = 2 })
  end), { 2, 2 })
  check(step.graph(function()
    local x = load(16, 4, { 4, 4 }, 1):flatten(0, 1)
    local ways = x:parallelize(2)
    for i, w in ipairs(ways) do
      local ref = w:load(tide.random(f32[4][4], 3), { tile = { 4, 4 } }):flatten(0, 1):flatten(0, 1)
      ways[i] = w:zip(ref):map(fn.matmul, { bw = 8 })
    end
    return step.reassemble(ways, step.selectors({ { 0 }, { 1 }, { 0 }, { 1 } }, { n = 2 })):flatten(0, 1)
  end), { 2, 2 }, "associative")
end)

t.test("the SwiGLU layer at several sizes: what it stores", function()
  for _, c in ipairs { { B = 8, D = 8, F = 16, tm = 4, tn = 8 }, { B = 4, D = 4, F = 4, tm = 4, tn = 4 },
    { B = 8, D = 4, F = 8, tm = 2, tn = 4 }, { B = 8, D = 8, F = 16, tm = 8, tn = 16 } } do
    c.bw, c.y = 64, f32[c.B][c.D](0)
    c.x, c.wg = tide.random(f32[c.B][c.D], 1), tide.random(f32[c.D][c.F], 2)
    c.wu, c.wd = tide.random(f32[c.D][c.F], 3), tide.random(f32[c.F][c.D], 4)
    local g = models.swiglu(c)
    g:run()
    local want = c.y:copy()
    check(g, { 2, 2 }, "associative")
    t.ok(c.y:allclose(want, { rtol = 1e-5, atol = 1e-5 }))
    t.eq(tide.schedule(g):tile_all({ 64, 64 }):verify(), "strict", "nothing to cut")
  end
end)

t.test("parts are under way together, operands in scratchpads of their own", function()
  local o = models.settings.fig8
  for _, case in ipairs { { 16, 16 }, { 16, 64 }, { 32, 16 } } do
    local g = models.swiglu { B = 64, D = 128, F = 256, tm = case[1], tn = case[2], bw = 4096 }
    local s = tide.schedule(g):tile_all { 16, 16 }
    local a, b = g:simulate(o).cycles, s:simulate(o).cycles
    t.ok(b > 0.95 * a and b < 1.1 * a, ("%d x %d: %d, whole tiles %d"):format(case[1], case[2], b, a))
    local places, buffers = {}, 0
    for place in tostring(s:graph()):gmatch 'place = "([^"]*)"' do
      t.ok(not places[place], place)
      places[place], buffers = true, buffers + 1
    end
    t.ok(buffers > 1, tostring(s:graph()))
  end
end)

t.test("refused, by node: others than products, sums and functions of elements; twinned", function()
  local function refused(words, build, tile, code)
    local s = tide.schedule(step.graph(build))
    local ok, err = pcall(s.tile_all, s, tile or { 2, 2 })
    t.ok(not ok and err.code == (code or "step-tile") and err.message:find(words, 1, true), tostring(err))
  end
  local function accepted(build, tile) tide.schedule(step.graph(build)):tile_all(tile or { 2, 2 }) end
  local function maps(extent)
    return function() return load(extent, extent, { extent, extent }, 1):map(fn.exp) end
  end
  accepted(maps(4))
  refused("'load' has tiles that the physical tile does not cut evenly", maps(5))
  refused("takes {rows, cols}, each at least 1", maps(4), { 2 }, "step-option")
  refused("takes {rows, cols}, each at least 1", maps(4), { 0, 2 }, "step-option")
  local function product(rows)
    return function() return load(4, 4, { 4, 4 }, 1):zip(load(4, rows, { 4, rows }, 2)):map(fn.matmul) end
  end
  accepted(product(4))
  refused("needs physical tiles with as many rows as columns", product(4), { 4, 2 })
  local function reshapes(n)
    return function()
      local x, fill = load(8, 4, { 4, 4 }, 1):flatten(0, 1):reshape { chunk = 2 }
      if n > 1 then return x, fill end
      return x
    end
  end
  accepted(reshapes(1))
  refused("tells which of its tiles are fill", reshapes(2))
  local function stores(cols)
    return function() load(4, 8, { 4, 4 }, 1):store(f32[8 * 4 // cols][cols]) end
  end
  accepted(stores(4))
  refused("writes tiles that are neither as wide as the tensor nor one part high", stores(8))
  local function packs(n)
    return function() return load(4, n, { 1, n }, 1, { shape = { 2, 2 } }):accum(fn.retile_row, { rank = 1 }) end
  end
  accepted(packs(2))
  refused("folds tiles in a way that has no parts", packs(4))
  local function splits(n)
    return function() return load(2, n, { 2, n }, 1):flat_map(fn.split_rows) end
  end
  accepted(splits(2))
  refused("is an operator whose tiles have no parts", splits(4))
  refused("has tiles whose extents data decides", function()
    local x = load(3, 2, { 1, 2 }, 1):flatten(0, 1):partition(step.selectors({ { 0 }, { 1 }, { 0 } }, { n = 2 }))
    x[2]:sink()
    return x[1]:promote():accum(fn.retile_row, { rank = 1 })
  end)
  local function starts(init)
    return function() return load(4, 4, { 4, 4 }, 1):accum(fn.add, { rank = 1, init = init }) end
  end
  accepted(starts())
  refused("folds tiles in a way that has no parts", starts(f32[4][4](1)))
end)

t.done()
