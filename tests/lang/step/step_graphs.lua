-- Graphs of STeP: what is refused, at building and at run, each beside a twin that is accepted and differs in one fact;
-- times of isolated accesses; symbols and metrics; the printed form; deadlock.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, i32, fn = tide.f32, tide.i32, step.fn

-- A stream of n tiles [1, width] of numbers.
local function rows(n, width) return step.load(tide.random(f32[n][width], 1), { tile = { 1, width } }):flatten(0, 1) end

-- The code of the error of a graph, or of its run on shapes.
local function code_of(build)
  local ok, g = pcall(step.graph, build)
  if not ok then return g.code, g end
  local ran, r = pcall(g.run, g)
  return not ran and r.code or "none", r
end

-- wrong(code, refused, accepted): two builders.
local function wrong(name, code, refused, accepted)
  t.test(name, function()
    local got, err = code_of(refused)
    t.eq(got, code, tostring(err))
    t.ok(err.line and err.line > 0, "it has a line")
    local twin, why = code_of(accepted)
    t.eq(twin, "none", tostring(why))
  end)
end

wrong("a fold of more dimensions than there are", "step-rank",
  function() return rows(4, 8):accum(fn.add, { rank = 1 }) end,
  function() return rows(4, 8):promote():accum(fn.add, { rank = 1 }) end)

wrong("tiles whose inner extents differ", "step-function",
  function() return rows(4, 8):zip(rows(4, 16)):map(fn.matmul_t) end,
  function() return rows(4, 8):zip(rows(4, 8)):map(fn.matmul_t) end)

wrong("streams of different shapes", "step-shape",
  function() return rows(4, 8):zip(rows(5, 8)):map(fn.add) end,
  function() return rows(4, 8):zip(rows(4, 8)):map(fn.add) end)

wrong("a stream that nobody reads", "step-unread",
  function() rows(4, 8) end,
  function() rows(4, 8):sink() end)

wrong("an unread way of a partition", "step-unread",
  function() return rows(2, 8):partition(step.selectors({ { 0 }, { 1 } }, { n = 2 }))[1] end,
  function() return table.unpack(rows(2, 8):partition(step.selectors({ { 0 }, { 1 } }, { n = 2 }))) end)

wrong("tiles that do not cut a tensor", "step-tile",
  function() step.load(f32[4][8](0), { tile = { 3, 8 } }):sink() end,
  function() step.load(f32[4][8](0), { tile = { 2, 8 } }):sink() end)

wrong("an affine read beyond its tensor", "step-address",
  function() step.load(f32[4][8](0), { tile = { 1, 8 }, shape = { 5 }, stride = { 1 } }):sink() end,
  function() step.load(f32[4][8](0), { tile = { 1, 8 }, shape = { 5 }, stride = { 0 } }):sink() end)

-- Tiles at addresses that a tensor gives.
local function addressed(list)
  return step.values(tide.tensor(i32[#list], list))
end

wrong("an address outside its tensor", "step-address",
  function() addressed({ 0, 4 }):load_at(f32[4][8](0), { tile = { 1, 8 } }):sink() end,
  function() addressed({ 0, 3 }):load_at(f32[4][8](0), { tile = { 1, 8 } }):sink() end)

wrong("one address written twice", "step-twice",
  function() addressed({ 1, 1 }):store_at(rows(2, 8), f32[4][8](0)):sink() end,
  function() addressed({ 1, 2 }):store_at(rows(2, 8), f32[4][8](0)):sink() end)

wrong("more addresses than tiles", "step-pairs",
  function() addressed({ 0, 1, 2 }):store_at(rows(2, 8), f32[4][8](0)):sink() end,
  function() addressed({ 0, 1 }):store_at(rows(2, 8), f32[4][8](0)):sink() end)

-- The rows that go to way 0 of selectors, whose number no type knows.
local function routed(list)
  local parts = rows(#list, 8):partition(step.selectors(list, { n = 2 }))
  parts[2]:sink()
  return parts[1]
end

wrong("pairs that end apart", "step-pairs",
  function() return routed({ { 0 }, { 0 }, { 1 } }):zip(routed({ { 0 }, { 1 }, { 1 } })):map(fn.add) end,
  function() return routed({ { 0 }, { 0 }, { 1 } }):zip(routed({ { 0 }, { 1 }, { 0 } })):map(fn.add) end)

wrong("selectors end before what they route", "step-left",
  function() return table.unpack(routed({ { 0 }, { 0 } }):partition(step.selectors({ { 0 } }, { n = 2 }))) end,
  function() return table.unpack(routed({ { 0 }, { 1 } }):partition(step.selectors({ { 0 } }, { n = 2 }))) end)

wrong("a shape that is not so", "step-assume",
  function() return step.reassemble(rows(2, 8):partition(step.selectors({ { 0, 1 }, { 1 } }, { n = 2 })),
    step.selectors({ { 0, 1 }, { 1 } }, { n = 2 })):assume_shape { 2, 1 } end,
  function() return step.reassemble(rows(2, 8):partition(step.selectors({ { 0 }, { 1 } }, { n = 2 })),
    step.selectors({ { 0 }, { 1 } }, { n = 2 })):assume_shape { 2, 1 } end)

wrong("a last chunk without a fill", "step-pad",
  function() return rows(5, 8):reshape { chunk = 2 } end,
  function() return rows(5, 8):reshape { chunk = 2, pad = f32[1][8](0) } end)

wrong("a number of ways that is not that of the selectors", "step-selector",
  function() return table.unpack(rows(1, 8):partition(step.selectors({ { 0 } }, { n = 2 }), { n = 3 })) end,
  function() return table.unpack(rows(1, 8):partition(step.selectors({ { 0 } }, { n = 2 }), { n = 2 })) end)

wrong("a buffer whose inner dimension data decides", "step-shape",
  function()
    local x = routed({ { 0 }, { 1 } }):map(fn.silu):promote { at = 0 }
    local lens = step.values(i32[2](1))
    local list = lens:zip(lens):flat_map(fn.cache_addresses(1), { rank = 1 }):rep(2):flatten(0, 0)
    x:sink()
    return list:promote { at = 2 }:flatten(0, 0):bufferize { rank = 3 }:streamify { times = { 1 } }
  end,
  function() return rows(2, 8):promote { at = 0 }:bufferize { rank = 1 }:streamify { times = { 1 } } end)

wrong("a loop that is never closed", "step-open",
  function() return step.feedback("selector", { n = 2 }) end,
  function() rows(1, 8):sink() end)

-- A loop through a reassemble or through an eager_merge.
local function looped(through)
  local loop = step.feedback("selector", { n = 1 })
  local start = step.selectors({ { 0 } }, { n = 1 })
  local sel = through(loop, start)
  loop:close(sel)
end

wrong("a cycle that no eager_merge cuts", "step-cycle",
  function()
    looped(function(loop, start) return step.reassemble({ loop }, start):flatten(0, 1) end)
  end,
  function()
    looped(function(loop, start)
      local data, who = step.eager_merge({ rows(1, 8) })
      data:sink()
      loop:sink()
      start:sink()
      return who
    end)
  end)

wrong("numbers where tiles of floats are wanted", "step-function",
  function() return addressed({ 1 }):map(fn.silu) end,
  function() return rows(1, 8):map(fn.silu) end)

wrong("selectors where tiles are wanted", "step-type",
  function() step.store(step.selectors({ { 0 } }, { n = 1 }), f32[1][8](0)) end,
  function() step.store(rows(1, 8), f32[1][8](0)) end)

wrong("an argument of another kind", "step-argument",
  function() return rows(1, 8):rep(0) end,
  function() return rows(1, 8):rep(1) end)

wrong("a loop closed with another stream", "step-shape",
  function()
    local loop = step.feedback("selector", { n = 2 })
    loop:close(step.selectors({ { 0 } }, { n = 3 }))
    loop:sink()
  end,
  function()
    local loop = step.feedback("selector", { n = 2 })
    loop:close(step.selectors({ { 0 } }, { n = 2 }))
    loop:sink()
  end)

t.test("operators outside of a graph, graphs inside of graphs, loops closed twice, other results", function()
  t.eq(select(2, pcall(step.sink, nil)).code, "step-outside")
  for _, x in ipairs { 3, "x", {} } do t.eq(select(2, pcall(step.graph, x)).code, "argument") end
  t.eq(select(2, pcall(step.graph, function() step.graph(function() end) end)).code, "step-nested")
  t.eq(select(2, pcall(step.graph, function() return 1 end)).code, "step-output")
  t.eq(select(2, pcall(step.graph, function()
    local loop = step.feedback("selector", { n = 2 })
    local x = step.selectors({ { 0 } }, { n = 2 })
    loop:close(x)
    loop:close(x)
  end)).code, "step-close")
  t.eq(select(2, pcall(step.graph, function() rows(1, 8):rep(2, { dept = 3 }) end)).code, "unknown-option")
  t.ok(step.graph(function() rows(1, 8):sink() end), "and after them a graph is built")
end)

t.test("a run with data needs data; on shapes it does not", function()
  local g = step.graph(function() return step.load(f32[2][8], { tile = { 1, 8 } }) end)
  t.eq(select(2, pcall(g.run, g)).code, "step-data")
  t.ok(g:simulate().cycles > 0)
end)

t.test("an access takes 19 cycles, n requests of p a cycle ceil(n / p) + 18", function()
  local function cycles(rows_in, cols, ports)
    local g = step.graph(function()
      step.load(f32[rows_in][cols], { tile = { rows_in, cols }, ports = ports }):sink()
    end)
    return g:simulate { memory = { channels = 1 << 20 } }.tasks.load.last + 1
  end
  t.eq(cycles(1, 1), 19)
  t.eq(cycles(1, 16), 19)
  t.eq(cycles(1, 17), 20)
  t.eq(cycles(4, 32, 2), 4 + 18)
  t.eq(cycles(5, 32, 4), 3 + 18)
end)

t.test("bytes are those of the types, unless said", function()
  local g = step.graph(function() step.load(f32[4][24], { tile = { 1, 24 } }):store(f32[4][24]) end)
  local r = g:simulate()
  t.eq({ r.traffic, r.moved }, { 2 * 4 * 24 * 4, 2 * 4 * 128 })
  r = g:simulate { bytes = 2 }
  t.eq({ r.traffic, r.moved }, { 2 * 4 * 24 * 2, 2 * 4 * 64 })
  t.eq({ g:traffic(), g:traffic { bytes = 2 }, g:traffic { as = "artifact", bytes = 2 } }, { 768, 384, 576 })
end)

t.test("symbols: named by the control, measured, in the metrics", function()
  local g = step.graph(function()
    local sel = step.selectors({ { 0 }, { 1 }, { 0, 1 }, {} }, { n = 2 })
    local a = rows(4, 8):partition(sel)
    local b = rows(4, 16):partition(sel)
    t.eq(tostring(a[2].shape[1]), "D1")
    t.ok(a[2].shape[1] == b[2].shape[1], "partitions by one control share symbols")
    local tile = a[1]:reshape { chunk = 4, pad = f32[1][8](0) }:accum(fn.retile_row, { rank = 1 })
    t.eq(tostring(tile.shape[1]), "ceil(D0 / 4)")
    t.eq(tile.type, "[4, 8] f32")
    tile:load(f32[8][64](0), { tile = { 8, 64 } }):sink()
    tile:sink()
    for _, x in ipairs { a[2], b[1], b[2] } do x:sink() end
  end)
  local _, r = nil, g:simulate()
  t.eq({ r.symbols.D0, r.symbols.D1 }, { 2, 2 })
  t.eq(tostring(g:traffic()), "2048 * ceil(D0 / 4) + 384")
  t.eq(g:traffic():at(r.symbols), r.traffic)
  t.eq(g:traffic():at { D0 = 9 }, 3 * 2048 + 384)
end)

t.test("the printed form loads back", function()
  local g = step.graph(function()
    local sel = step.selectors({ { 0 }, { 1 }, { 0, 1 } }, { n = 2 })
    local outs = {}
    for e, x in ipairs(step.load(f32[3][8], { tile = { 1, 8 } }):flatten(0, 1):partition(sel)) do
      local tile = x:reshape { chunk = 2, pad = f32[1][8](0), outer = true }:accum(fn.retile_row, { rank = 1 })
      local w = tile:load(f32[8][8], { tile = { 8, 4 }, depth = 3 }):flatten(0, 1):flatten(1, 2)
      local two = tile:rep(2)
      outs[e] = two:flatten(1, 2):zip(w:flatten(0, 1):reshape { chunk = 2 })
        :map(fn.matmul, { bw = 64, write_back = true }):accum(fn.retile_col, { rank = 1 }):flat_map(fn.split_rows)
    end
    return step.reassemble(outs, sel, { order = "index" })
  end)
  local again = assert(load(tostring(g)))()
  t.eq(tostring(again), tostring(g))
  t.eq(again:simulate().cycles, g:simulate().cycles)
end)

t.test("routing alone can stop a graph of static tiles, and dynamic tiles end it", function()
  local function layer(n)
    local list = { { 0, 1 } }
    for b = 2, 256 do list[b] = { 0 } end
    return step.graph(function()
      local sel = step.selectors(list, { n = 2 })
      local outs = {}
      for e, x in ipairs(step.load(f32[256][8], { tile = { 1, 8 } }):flatten(0, 1):partition(sel)) do
        local groups = n and x:reshape { chunk = n, pad = f32[1][8](0) } or x:promote()
        outs[e] = groups:accum(fn.retile_row, { rank = 1 }):flat_map(fn.split_rows)
      end
      step.reassemble(outs, sel):accum(fn.add, { rank = 1 }):store(f32[256][8])
    end)
  end
  local g = layer(4)
  local ok, err = pcall(g.simulate, g, { depth = 2 })
  t.ok(not ok)
  t.eq(err.code, "step-deadlock")
  t.ok(#err.notes >= 3, "it tells who waits for whom")
  local least = tonumber(tostring(err):match "depth = (%d+), where streams say none, is the least")
  t.ok(least and g:simulate({ depth = least }).cycles > 0, tostring(err))
  t.ok(not pcall(g.simulate, g, { depth = least - 1 }))
  t.ok(g:simulate({ depth = 256 }).cycles > 0)
  t.ok(layer():simulate({ depth = 2 }).cycles > 0, "dynamic tiles close when the tokens end")
end)

t.test("a merge takes chunks in order of arrival, ties by index", function()
  local g = step.graph(function()
    local slow = step.values(tide.tensor(i32[2], { 10, 11 }))
    local late = step.load(tide.tensor(i32[1][1], { { 20 } }), { tile = { 1, 1 } }):flatten(0, 1)
    local data, who = step.eager_merge({ late, slow })
    return data, who
  end)
  local data, who = g:run { lists = true }
  t.eq(data, { 10, 11, 20 })
  t.eq(who, { { 1 }, { 1 }, { 0 } })
end)

t.test("depth and name are options of every operator", function()
  local g = step.graph(function() return rows(2, 8):map(fn.silu, { name = "act", depth = 7 }) end)
  t.ok(tostring(g):find("act", 1, true) and tostring(g):find("depth = 7", 1, true))
end)

t.test("a report draws itself and its waves", function()
  local r = step.graph(function() rows(4, 8):map(fn.silu, { bw = 1 }):sink() end):simulate()
  t.ok(tostring(r):find "cycles")
  t.ok(r:vcd():find "timescale")
  t.eq(r.flops, 4 * 8 * 8)
  t.eq(r.allocated, 1)
  t.eq(r.tasks.map.busy, 4 * 64)
end)

t.test("a report names the memory where that is what stalls", function()
  local r = step.graph(function() step.load(f32[64][1024], { tile = { 1, 1024 } }):sink() end):simulate()
  local stalls = r.tasks.load.stalls
  t.eq(stalls[1].why, "memory")
  t.ok(tostring(r):find("memory " .. stalls[1].cycles, 1, true) and not tostring(r):find "null")
end)

t.test("sizes without values: shapes and metrics over them, g:at gives values", function()
  local n, m = tide.size "n", tide.size "m"
  local open = step.graph(function()
    local x = step.load(f32[n][m * 4], { tile = { 2, 4 } })
    x:map(fn.silu, { bw = 4 }):flatten(0, 1):sink()
    return x
  end)
  t.eq(tostring(open:traffic()), "32 * m * ceil(n / 2)")
  t.eq(tostring(open.outputs[1]), "[ceil(n / 2), m] of [2, 4] f32")
  for _, size in ipairs { { 2, 1 }, { 8, 3 }, { 0, 2 }, { 6, 0 } } do
    local at = { n = size[1], m = size[2] }
    local g = open:at(at)
    local same = step.graph(function()
      local x = step.load(f32[size[1]][size[2] * 4], { tile = { 2, 4 } })
      x:map(fn.silu, { bw = 4 }):flatten(0, 1):sink()
      return x
    end)
    t.eq(tostring(g), tostring(same))
    local r = g:simulate()
    t.eq(r.cycles, same:simulate().cycles)
    t.eq(open:traffic():at(at), r.traffic)
    t.eq(open:flops():at(at), r.flops)
  end
  t.eq(tostring(open:at { n = 6 }:at { m = 2 }), tostring(open:at { n = 6, m = 2 }))
  t.eq(load(tostring(open))():at { n = 6, m = 2 }:simulate().cycles, open:at { n = 6, m = 2 }:simulate().cycles)
  local function refused(words, f, ...)
    local ok, e = pcall(f, ...)
    t.ok(not ok and tostring(e):find(words, 1, true), tostring(e))
  end
  refused("have no values: g:at {..} gives some [step-size]", open.simulate, open)
  refused("have no values: g:at {..} first [step-size]", function() tide.schedule(open):bw("x", 2) end)
  refused("no tensor of the graph has 'q' [step-size]", open.at, open, { n = 2, q = 1 })
  refused("a size is not negative: n = -2 [step-size]", open.at, open, { n = -2 })
  refused("do not cut f32[7][4 * m] evenly [step-tile]", open.at, open, { n = 7 })
  refused("tile = {rows, cols} is needed", step.graph, function() step.load(f32[n][4]):sink() end)
end)

t.done()
