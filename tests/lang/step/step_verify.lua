-- tide.verify of two STeP graphs, and s:verify() of a schedule of one: right rewrites are proved, wrong ones told.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, fn = tide.f32, step.fn

-- A layer of E experts of one product each, k a row. What `o` says is done in another way, right or wrong.
local function layer(c, o)
  local B, D, F, E = c.B, c.D, c.F, c.E
  local multi = {}
  for b = 1, B do multi[b] = table.move(c.routing[b], 1, c.k, 1, {}) end
  if o.reroute then multi[o.reroute] = { (multi[o.reroute][1] + 1) % E, table.unpack(multi[o.reroute], 3) } end
  return step.graph(function()
    local sel = step.selectors(multi, { n = E })
    local x = step.load(c.x, { tile = { 1, D } }):flatten(0, 1):partition(sel, { n = E })
    local outs = {}
    for e, rows in ipairs(x) do
      local n = o.rows or 3
      local tile = (n == "all" and rows:promote() or rows:reshape { chunk = n, pad = f32[1][D](0) })
        :accum(fn.retile_row, { rank = 1 })
      local W, tf = c.w[o.swap == e and e % E + 1 or e], o.tf or F
      local n_f = F // tf
      local shape, stride = { n_f }, { 1 }
      if o.drop == e then shape = { n_f - 1 } end
      if o.shuffle == e then stride = { 0 } end
      local w = tile:load(W, { tile = { D, tf }, shape = shape, stride = stride })
      local y = tile:rep(shape[1]):zip(w):map(fn.matmul, { bw = 64 })
      if o.act == e then y = y:map(fn.silu) end
      if o.twice == e then y = y:zip(y):map(fn.add) end
      y = y:accum(fn.retile_col, { rank = 1 })
      if o.leak == e then
        local all = step.values(tide.tensor(tide.i32[1], { o.rows or 3 }))
        y = y:zip(all:expand(y:promote(), { rank = 1 }):flatten(0, 0)):map(fn.set_offset)
      end
      outs[e] = y:flat_map(fn.split_rows)
    end
    if o.cross then outs[o.cross], outs[o.cross % E + 1] = outs[o.cross % E + 1], outs[o.cross] end
    local y = step.reassemble(outs, sel):accum(fn.add, { rank = 1 })
    if o.scale then y = y:zip(y):map(fn.mul) end
    y:promote { at = 0 }:flatten(0, 1):store(o.other and f32[B][F](0) or c.y)
  end)
end

local function settings(seed)
  math.randomseed(seed)
  local c = { B = math.random(6, 14), D = 4 * math.random(1, 3), F = 8, E = math.random(2, 4), w = {}, routing = {} }
  c.k = math.random(1, 2)
  for b = 1, c.B do
    local first = math.random(0, c.E - 1)
    c.routing[b] = { first, (first + math.random(1, c.E - 1)) % c.E }
  end
  for e = 1, c.E do
    c.w[e] = tide.random(f32[c.D][c.F], 10 * seed + e)
    c.routing[e][1], c.routing[e][2] = e - 1, e % c.E -- every expert has a row
  end
  c.x, c.y = tide.random(f32[c.B][c.D], seed), f32[c.B][c.F](0)
  return c
end

t.test("right rewrites are proved: other tiles of rows, and of columns by elements", function()
  for seed = 1, 8 do
    local c = settings(seed)
    local g = layer(c, {})
    for _, rows in ipairs { 1, 2, 5, "all" } do
      local level, verdict = tide.verify(g, layer(c, { rows = rows }))
      t.eq(level, "strict", tostring(verdict))
      t.ok(tostring(verdict):find("by rows", 1, true), tostring(verdict))
    end
    local level, verdict = tide.verify(g, layer(c, { tf = 2, rows = 4 }))
    t.eq(level, "strict", tostring(verdict))
    t.ok(tostring(verdict):find("by elements", 1, true), tostring(verdict))
  end
end)

t.test("40 wrong rewrites are told", function()
  local kinds = { "swap", "drop", "shuffle", "act", "twice", "cross", "scale", "reroute", "other" }
  local told = 0
  for seed = 1, 45 do
    local c = settings(seed)
    local kind = kinds[seed % #kinds + 1]
    local o = { rows = ({ 2, 4, "all" })[seed % 3 + 1], tf = 4, [kind] = seed % c.E + 1 }
    if kind == "cross" then c.k = 1 end -- of two experts that both are asked, any order is right
    if kind == "drop" then o.drop = nil o.swap = seed % c.E + 1 end
    local level, verdict = tide.verify(layer(c, { tf = 4 }), layer(c, o))
    t.eq(level, nil, kind .. ": " .. tostring(verdict))
    t.ok(tostring(verdict):find "^differs", tostring(verdict))
    told = told + 1
  end
  t.ok(told >= 40)
end)

t.test("a dropped last tile, padding that leaks", function()
  local x, y = tide.random(f32[5][4], 1), f32[5][8](0)
  local w = tide.random(f32[4][8], 2)
  local function graph(n, leaks)
    return step.graph(function()
      local rows = step.load(x, { tile = { 1, 4 } }):flatten(0, 1)
      local tile = rows:reshape { chunk = 2, pad = f32[1][4](0) }:accum(fn.retile_row, { rank = 1 })
      local tiles = step.load(w, { tile = { 4, 2 }, shape = { 3, n }, stride = { 0, 1 } })
      local z = tile:rep(n):zip(tiles):map(fn.matmul):accum(fn.retile_col, { rank = 1 })
      if leaks then z = z:zip(step.values(tide.tensor(tide.i32[3], { 2, 2, 2 }))):map(fn.set_offset) end
      return z:flat_map(fn.split_rows)
    end)
  end
  t.eq(tide.verify(graph(4), graph(4)), "strict")
  t.eq(tide.verify(graph(4), graph(3)), nil)
  t.eq(tide.verify(graph(4), graph(4, true)), nil)
  t.eq(y[0][0], 0, "nothing runs on data")
end)

t.test("a sum in another order is equal at level associative", function()
  local x = tide.random(f32[2][8], 1)
  local function graph(first, second)
    return step.graph(function()
      local a = step.load(x, { tile = { 2, 4 }, shape = { 1 } })
      local b = step.load(x, { tile = { 2, 4 }, shape = { 2 }, stride = { 1 } })
      local part = { a, b:promote():accum(fn.add, { rank = 1 }), a:map(fn.exp) }
      return part[first]:zip(part[second]):map(fn.add):zip(part[6 - first - second]):map(fn.add)
    end)
  end
  t.eq(tide.verify(graph(1, 2), graph(2, 1)), "strict", "a + b is b + a")
  t.eq(tide.verify(graph(1, 2), graph(2, 3)), "associative")
end)

t.test("schedules are verified against what they began with", function()
  local c = settings(3)
  local s = tide.schedule(layer(c, {}))
  t.eq(s:verify(), "strict")
  t.eq(tide.verify(s, layer(c, { rows = 2 })), "strict")
  t.eq(tide.verify(layer(c, { swap = 1 }), s), nil)
  local ok, err = pcall(tide.verify, s, 3)
  t.ok(not ok and tostring(err):find("a STeP graph", 1, true), tostring(err))
end)

t.test("pairs and buffers that are returned are compared part by part", function()
  local x, z = tide.random(f32[2][3], 1), tide.random(f32[2][3], 2)
  local function graph(y, n, buffers)
    return step.graph(function()
      local a, b = step.load(x, { tile = { 1, 1 } }), step.load(y, { tile = { 1, 1 } })
      for _ = 1, n do b = b:map(fn.exp) end
      if not buffers then return a:zip(b) end
      a:sink()
      return b:bufferize { rank = 1 }
    end)
  end
  for _, buffers in ipairs { false, true } do
    t.eq(tide.verify(graph(z, 1, buffers), graph(z, 1, buffers)), "strict")
    t.eq(tide.verify(graph(z, 1, buffers), graph(z, 2, buffers)), nil)
    t.eq(tide.verify(graph(z, 1, buffers), graph(x, 1, buffers)), nil)
  end
end)

t.done()
