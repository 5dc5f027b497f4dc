-- Every operator of STeP on streams of rank up to 3 with extents 0 to 2, empty and ragged ones too, against nested Lua
-- lists: what it means there is written here, a few lines each.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local u64, fn = tide.u64, step.fn

-- ---- streams: numbers in nested lists, ragged where lengths say so ----

local random = math.random
math.randomseed(20)

-- A tensor of the extents with elements 0 to `most`, and the same as nested lists.
local function numbers(extents, most)
  local T = u64
  for _, n in ipairs(extents) do T = T[n] end
  local function fill(level)
    local list = {}
    for i = 1, extents[level] do
      if level == #extents then list[i] = random(0, most) else list[i] = fill(level + 1) end
    end
    return list
  end
  local lists = fill(1)
  local function set(x, list)
    for i, v in ipairs(list) do
      if type(v) == "table" then set(x[i - 1], v) else x[i - 1] = v end
    end
  end
  local x = T(0)
  set(x, lists)
  return x, lists
end

-- Applies f to every list of `depth` levels of lists within a list of `ndim` levels.
local function each(list, ndim, depth, f)
  if ndim == depth then return f(list) end
  local out = {}
  for i, v in ipairs(list) do out[i] = each(v, ndim - 1, depth, f) end
  return out
end

-- A random stream inside a graph: the stream, its lists, its dimensions.
local function stream()
  local extents = {}
  for i = 1, random(1, 3) do extents[i] = random(0, 2) end
  local x, lists = numbers(extents, 2)
  local ndim, s = #extents, step.values(x)
  while ndim < 3 and random(2) == 1 do -- v becomes v, v + 1 .. 2 v - 1
    s = s:zip(s):flat_map(fn.cache_addresses(1), { rank = 1 })
    lists = each(lists, ndim, 1, function(list)
      local out = {}
      for i, v in ipairs(list) do
        out[i] = {}
        for k = 0, v - 1 do out[i][k + 1] = v + k end
      end
      return out
    end)
    ndim = ndim + 1
  end
  return s, lists, ndim
end

local function copy(v, n)
  local list = {}
  for i = 1, n do list[i] = v end
  return list
end

-- All elements of nested lists, in order.
local function leaves(list, out)
  out = out or {}
  if type(list) ~= "table" then out[#out + 1] = list return out end
  for _, v in ipairs(list) do leaves(v, out) end
  return out
end

local function sum(list)
  local s = 0
  for _, v in ipairs(leaves(list)) do s = s + v end
  return s
end

-- Builds a graph of one operator on a random stream and compares what it gives with lists; f returns the stream and
-- the lists, or nil where the operator does not fit.
local function check(name, f, times, deep)
  t.test(name, function()
    local done = 0
    for case = 1, times or 150 do
      local want
      local ok, g = pcall(step.graph, function()
        local s, lists, ndim = stream()
        local out
        out, want = f(s, lists, ndim)
        return out or s
      end)
      if not ok then error(g) end
      if want then
        done = done + 1
        local got, r = g:run { lists = true, depth = not deep and random(1, 3) }
        t.eq(got, want, ("case %d: %s"):format(case, tostring(g)))
        local depth = not deep and 2
        local _, same = g:run { depth = depth }
        t.eq(g:simulate { depth = depth }.cycles, same.cycles, "cycles of run and simulate")
        t.ok(r.cycles > 0)
        local again = assert(load(tostring(g)))(g:constants())
        t.eq(again:run { lists = true, depth = false }, want, "its text loads back")
      end
    end
    t.ok(done > 20, "too few cases fit")
  end)
end

-- ---- the operators ----

check("streams as they are", function(s, lists) return s, lists end)

check("flatten joins dimensions", function(s, lists, ndim)
  local lo = random(0, ndim - 1)
  local hi = random(lo, ndim - 1)
  local function join(list, levels)
    if levels == 0 then return list end
    local out = {}
    for _, v in ipairs(list) do
      for _, w in ipairs(join(v, levels - 1)) do out[#out + 1] = w end
    end
    return out
  end
  return s:flatten(lo, hi), each(lists, ndim, hi + 1, function(list) return join(list, hi - lo) end)
end)

check("promote inserts a dimension", function(s, lists, ndim)
  local at = random(0, ndim)
  if at == ndim then
    if #lists == 0 then return s:promote(), {} end
    return s:promote(), { lists }
  end
  if at == 0 then
    return s:promote { at = 0 }, each(lists, ndim, 1, function(list)
      local out = {}
      for i, v in ipairs(list) do out[i] = { v } end
      return out
    end)
  end
  return s:promote { at = at }, each(lists, ndim, at, function(list) return { list } end)
end)

check("rep repeats elements", function(s, lists, ndim)
  local n = random(1, 3)
  return s:rep(n), each(lists, ndim, 1, function(list)
    local out = {}
    for i, v in ipairs(list) do out[i] = copy(v, n) end
    return out
  end)
end)

check("reshape splits dimension 0 and pads", function(s, lists, ndim)
  local n = random(1, 3)
  return s:reshape { chunk = n, pad = u64[1][1](7) }, each(lists, ndim, 1, function(list)
    local out = {}
    for i = 1, #list, n do
      local group = {}
      for k = i, i + n - 1 do group[#group + 1] = list[k] or 7 end
      out[#out + 1] = group
    end
    return out
  end)
end)

check("reshape with an outermost dimension", function(s, lists, ndim)
  if ndim ~= 1 then return end
  local n, out = random(1, 3), {}
  for i = 1, #lists, n do
    local group = {}
    for k = i, i + n - 1 do group[#group + 1] = lists[k] or 7 end
    out[#out + 1] = group
  end
  return s:reshape { chunk = n, pad = u64[1][1](7), outer = true }, #out > 0 and { out } or {}
end, 400)

check("accum folds inner dimensions", function(s, lists, ndim)
  if ndim < 2 then return end
  local b = random(1, ndim - 1)
  return s:accum(fn.add, { rank = b }), each(lists, ndim, b + 1, function(list)
    local out = {}
    for i, v in ipairs(list) do out[i] = sum(v) end
    return out
  end)
end, 300)

check("accum from a start that is given", function(s, lists, ndim)
  if ndim < 2 then return end
  return s:accum(fn.add, { rank = 1, init = u64[1][1](100) }), each(lists, ndim, 2, function(list)
    local out = {}
    for i, v in ipairs(list) do out[i] = 100 + sum(v) end
    return out
  end)
end, 300)

for _, emit in ipairs { "after", "before" } do
  check("scan emits the state " .. emit, function(s, lists, ndim)
    local b = random(1, ndim)
    return s:scan(fn.add, { rank = b, emit = emit }), each(lists, ndim, b, function(list)
      local state = 0
      local function run(v)
        if type(v) ~= "table" then
          local was = state
          state = state + v
          return emit == "after" and state or was
        end
        local out = {}
        for i, w in ipairs(v) do out[i] = run(w) end
        return out
      end
      return run(list)
    end)
  end)
end

check("zip and map", function(s, lists, ndim)
  return s:zip(s):map(fn.add):zip(s):map(fn.cache_slot(10)), each(lists, ndim, 1, function(list)
    local out = {}
    for i, v in ipairs(list) do out[i] = 21 * v end
    return out
  end)
end)

check("map_accum sums products", function(s, lists, ndim)
  if ndim < 2 then return end
  return s:zip(s):map_accum(fn.mul, { rank = 1 }), each(lists, ndim, 2, function(list)
    local out = {}
    for i, v in ipairs(list) do
      out[i] = 0
      for _, x in ipairs(v) do out[i] = out[i] + x * x end
    end
    return out
  end)
end, 300)

check("flat_map of rank 0 grows the inner dimension", function(s, lists, ndim)
  return s:zip(s):flat_map(fn.cache_addresses(1)), each(lists, ndim, 1, function(list)
    local out = {}
    for _, v in ipairs(list) do
      for k = 0, v - 1 do out[#out + 1] = v + k end
    end
    return out
  end)
end)

check("bufferize and streamify, some times over", function(s, lists, ndim)
  if ndim < 2 then return end
  local n = random(1, 2)
  return s:bufferize { rank = 1 }:streamify { times = { n } }, each(lists, ndim, 2, function(list)
    local out = {}
    for i, v in ipairs(list) do out[i] = copy(v, n) end
    return out
  end)
end, 300)

check("streamify by a reference", function(s, lists, ndim)
  if ndim < 2 then return end
  local ref = s:accum(fn.add, { rank = 1 })
  local many = ref:zip(ref):flat_map(fn.cache_addresses(1), { rank = 1 })
  return s:bufferize { rank = 1 }:streamify { ref = many }, each(lists, ndim, 2, function(list)
    local out = {}
    for i, v in ipairs(list) do out[i] = copy(v, sum(v)) end
    return out
  end)
end, 300)

-- Regular streams alone: buffers of one shape. Lists of the extents with the elements at the strides.
local function read(flat, extents, strides, level, at)
  if level > #extents then return flat[at + 1] end
  local out = {}
  for i = 0, extents[level] - 1 do out[i + 1] = read(flat, extents, strides, level + 1, at + i * strides[level]) end
  return out
end

check("streamify reads by extents and strides", function(s)
  s:sink()
  local a, b, c = random(0, 2), random(1, 3), random(1, 3)
  local x, lists = numbers({ a, b, c }, 9)
  local buffers = step.values(x):bufferize { rank = 2 }
  local extents, strides, reach = {}, {}, 0
  for d = 1, random(1, 3) do
    extents[d] = random(1, 3)
    strides[d] = extents[d] == 1 and random(0, 9) or random(0, (b * c - 1 - reach) // (extents[d] - 1))
    reach = reach + (extents[d] - 1) * strides[d]
  end
  local n = random(2) == 1 and random(1, 2) or nil
  return buffers:streamify { times = n and { n }, shape = extents, stride = strides }, each(lists, 3, 2, function(list)
    local own = read(leaves(list), extents, strides, 1, 0)
    return n and copy(own, n) or own
  end)
end)

check("streamify once", function(s, lists, ndim)
  if ndim < 2 then return end
  return s:bufferize { rank = 1 }:streamify(), lists
end)

check("pairs and buffers come out as lists", function(s, lists, ndim)
  if random(2) == 1 then
    return s:zip(s), each(lists, ndim, 1, function(list)
      local out = {}
      for i, v in ipairs(list) do out[i] = { v, v } end
      return out
    end)
  end
  if ndim < 2 then return end
  return s:bufferize { rank = 1 }, lists
end)

check("expand repeats along a reference", function(s, lists, ndim)
  local ref = s:zip(s):flat_map(fn.cache_addresses(1), { rank = 1 })
  return s:promote { at = 0 }:expand(ref, { rank = 1 }), each(lists, ndim, 1, function(list)
    local out = {}
    for i, v in ipairs(list) do out[i] = copy(v, v) end
    return out
  end)
end)

-- Selectors for the elements of a list: lists of the same shape.
local function selectors_for(list, ways, most)
  local out = {}
  for i = 1, #list do
    local set = {}
    for w = 0, ways - 1 do
      if #set < most and random(2) == 1 then set[#set + 1] = w end
    end
    out[i] = set
  end
  return out
end

check("partition copies chunks to what is selected, reassemble brings them back", function(s, lists, ndim)
  if #lists == 0 then return end
  local ways = 3
  local route = selectors_for(lists, ways, 3)
  local sel = step.selectors(route, { n = ways })
  local parts = s:partition(sel, { n = ways, rank = ndim - 1 })
  local out = {}
  for i, v in ipairs(lists) do out[i] = copy(v, #route[i]) end
  return step.reassemble(parts, sel, { rank = ndim - 1, order = random(2) == 1 and "index" or "arrival" }), out
end, 300, true)

check("partition of a routed stream: one way of it", function(s, lists, ndim)
  if #lists == 0 then return end
  local route = selectors_for(lists, 2, 2)
  local parts = s:partition(step.selectors(route, { n = 2 }), { rank = ndim - 1 })
  parts[1]:sink()
  local out = {}
  for i, v in ipairs(lists) do
    for _, w in ipairs(route[i]) do
      if w == 1 then out[#out + 1] = v end
    end
  end
  return parts[2], out
end, 300)

check("parallelize deals out in turn, eager_merge takes what comes", function(s, lists, ndim)
  local parts = s:parallelize(2)
  local data, who = step.eager_merge(parts, { rank = ndim - 1 })
  local back = step.reassemble(data:partition(who, { rank = ndim - 1 }), who, { rank = ndim - 1 })
  local out = {}
  for i, v in ipairs(lists) do out[i] = { v } end
  return back, out
end)

-- What is refused, beside a twin that is not.
local function refused(code, words, f)
  local ok, e = pcall(step.graph, f)
  t.ok(not ok and tostring(e):find(code, 1, true) and tostring(e):find(words, 1, true), tostring(e))
end

t.test("refused: reads beyond a buffer, extents of nothing, too many parts", function()
  local x = numbers({ 2, 6 }, 9)
  local function reads(o) return function() return step.values(x):bufferize { rank = 1 }:streamify(o) end end
  step.graph(reads { shape = { 3, 2 }, stride = { 1, 3 } })
  refused("step-address", "number 6, and the buffer has 6", reads { shape = { 3, 2 }, stride = { 1, 4 } })
  step.graph(reads { times = { 1 } })
  refused("step-argument", "extents of at least 1", reads { times = { 0 } })
  step.graph(reads { shape = { 2, 2 }, stride = { 2, 1 } })
  refused("step-argument", "as many integers", reads { shape = { 2, 2 }, stride = { 2 } })
  local function parts(n)
    return function()
      local y, z = step.values(x), step.values(x)
      for _ = 2, n do y = y:zip(z) end
      return y
    end
  end
  t.eq(#step.graph(parts(8)):run({ lists = true })[1][1], 8)
  refused("step-rank", "at most 8 parts", parts(9))
  local function once(shape)
    return function() return step.values(x):load(tide.f32[2][2](1), { tile = { 2, 2 }, shape = shape }) end
  end
  t.eq(#step.graph(once {}).outputs[1].shape, 2)
  t.eq(#step.graph(once { 1 }).outputs[1].shape, 3)
  refused("step-argument", "at least one dimension", function()
    return step.load(tide.f32[2][2](1), { tile = { 2, 2 }, shape = {} })
  end)
end)

t.test("refused: streams of other types where one goes on, a tile function for parts", function()
  local function joins(T, rows, merges)
    return function()
      local y = step.load(T[rows][2](1), { tile = { rows, 2 } }):flatten(0, 1)
      local z = step.load(tide.f32[1][2](1), { tile = { 1, 2 } }):flatten(0, 1)
      if not merges then return step.reassemble({ y, z }, step.selectors({ { 0, 1 } }, { n = 2 })) end
      return step.eager_merge { y, z }
    end
  end
  for _, merges in ipairs { false, true } do
    step.graph(joins(tide.f32, 1, merges))
    refused("step-shape", "do not fit", joins(tide.i32, 1, merges))
    refused("step-shape", "do not fit", joins(tide.f32, 2, merges))
  end
  local function goes_round(T)
    return function()
      local loop = step.feedback(tide.f32[1][2])
      local y, who = step.eager_merge { step.load(tide.f32[1][2](1), { tile = { 1, 2 } }):flatten(0, 1), loop }
      who:sink()
      step.close(loop, T and step.load(T(1)):flatten(0, 1) or y)
      if T then y:sink() end
    end
  end
  step.graph(goes_round())
  refused("step-shape", "the loop was opened as", goes_round(tide.i32[1][2]))
  local m, n = tide.size "m", tide.size "n"
  local relu = tide.kernel {
    name = "relu", a = tide.f32[m][n], out = tide.f32[m][n],
    function(a, out) for i, j in tide.grid(m, n) do out[i][j] = tide.max(a[i][j], 0) end end,
  }
  local function calls(flat)
    return function()
      local y = step.load(tide.f32[2][2](1), { tile = { 2, 2 } })
      return flat and y:flat_map(relu) or y:map(relu)
    end
  end
  step.graph(calls(false))
  refused("step-function", "a kernel gives one tile for each", calls(true))
end)

t.test("refused: other first values, options of nothing, selectors of several ways, division of integers", function()
  local x, own = numbers({ 2, 6 }, 9)
  local function starts(init)
    return function() return step.values(x):accum(fn.add, { rank = 1, init = init }) end
  end
  t.eq((step.graph(starts(u64[1][1](5))):run { lists = true })[1], sum(own[1]) + 5)
  refused("step-shape", "init is u64[2][1]", starts(u64[2][1](5)))
  refused("step-shape", "init is i32[1][1]", starts(tide.i32[1][1](5)))
  for _, key in ipairs { "ports", "depth" } do
    local function option(v)
      return function() return step.load(tide.f32[2][2](1), { tile = { 2, 2 }, [key] = v }) end
    end
    step.graph(option(1))
    refused("step-argument", "is at least 1", option(0))
  end
  local function addresses(list)
    return step.graph(function()
      return step.selectors(list, { n = 2 }):flat_map(fn.addresses(2), { rank = 1 })
    end):run { lists = true }
  end
  t.eq((addresses { { 1 }, { 0 } }), { { 2, 3 }, { 0, 1 } })
  for _, list in ipairs { { { 0, 1 }, { 0 } }, { {}, { 0 } } } do
    local ok, e = pcall(addresses, list)
    t.ok(not ok and tostring(e):find "step%-function", tostring(e))
  end
  local function halves(T)
    return function()
      local y = step.load(T[2][2](1), { tile = { 2, 2 } })
      return y:zip(y):map(fn.div)
    end
  end
  step.graph(halves(tide.f32))
  refused("step-function", "it takes floats", halves(tide.i32))
end)

t.test("inputs and outputs of a graph; an order of arrival for a run", function()
  local x, T = numbers({ 3 }, 9), tide.f32[2][2]
  local g = step.graph(function()
    step.load(T, { tile = { 2, 2 } }):sink()
    return step.values(x), step.values(x)
  end)
  t.eq(#g.inputs, 2)
  t.ok(g.inputs[1] == T and g.inputs[2] == x)
  t.eq(#g.outputs, 2)
  local function merged(o)
    return step.graph(function()
      local late = step.load(tide.u64[1][1](7), { tile = { 1, 1 } }):flatten(0, 1)
      return step.reassemble({ late, step.values(tide.u64[1](0)) }, step.selectors({ { 0, 1 } }, { n = 2 }))
    end):run(o)
  end
  t.eq((merged { lists = true }), { { 0, 7 } })
  t.eq((merged { lists = true, order = "index" }), { { 7, 0 } })
end)

t.done()
