-- Random graphs of STeP against a plain machine that is stepped cycle by cycle (tests/step_machine.lua): fills of all
-- streams are compared in every cycle.
local tide, step = require "tide", require "tide.step"
local campaign = require "campaign"
local t = require "tap"
local f32, fn = tide.f32, step.fn
local random = math.random

local machine = require "step_machine"
local wait, see, take, put = machine.wait, machine.see, machine.take, machine.put
local has_place, work, access, tiles = machine.has_place, machine.work, machine.access, machine.tiles

-- ---- graphs, in both ways at once ----

-- A stream of both: of the graph, and what gives it in the machine, by output.
local G = {}
G.__index = G

function G:name(what)
  self.count = self.count + 1
  return what .. self.count
end

local function of(s, x, out, width) return { s = s, x = x, out = out or 1, width = width, readers = {} } end

-- Node `run(x, inputs)` reads these streams.
function G:node(what, name, inputs, run, writes)
  local channels = {}
  local x = self.m:add(name, function(x) run(x, channels) end, writes)
  x.what = what
  for i, s in ipairs(inputs) do s.readers[#s.readers + 1] = { x = x, channels = channels, i = i } end
  self.all[#self.all + 1] = inputs
  return x
end

-- Streams are joined at the end, through a broadcast where several read one.
function G:join(streams)
  local depth = self.depth
  for _, s in ipairs(streams) do
    local from = s.x.name
    if #s.readers == 1 then
      local r = s.readers[1]
      local c = self.m:stream(from, r.x.name, s.depth or depth)
      s.x.ports[s.out], r.channels[r.i] = c, c
    else
      local c = self.m:stream(from, from, s.depth or depth)
      s.x.ports[s.out] = c
      local outs = {}
      local b = self.m:add(from, function(x)
        while true do
          local it = see(x.m, c)
          if not it then return end
          take(x.m, c)
          local ready
          repeat
            ready = true
            for _, d in ipairs(outs) do ready = ready and has_place(x.m, d) end
            if not ready then wait() end
          until ready
          for _, d in ipairs(outs) do put(x.m, d, it) end
        end
      end)
      for i, r in ipairs(s.readers) do
        local d = self.m:stream(from, r.x.name, s.depth or depth)
        outs[i], r.channels[r.i] = d, d
        b.ports[i] = d
      end
    end
  end
end

-- Cycles of a port for a tile.
local function access_cycles(g, it) return (it.cols * 4 + g.pmu - 1) // g.pmu end

-- Takes turns of ports, by port the cycles; the first cycle in which the longest of them may be under way.
local function turn(m, uses)
  local ends, most = m.now, 0
  for port, cycles in pairs(uses) do
    port.free = math.max(port.free, m.now) + cycles
    ends, most = math.max(ends, port.free), math.max(most, cycles)
  end
  while m.now < ends - most do wait() end
  return most
end

-- Cycles to read tiles from memory units: one after the other, those of a scratchpad in its turn.
local function fetch(g, m, ...)
  local own, uses, some = 0, {}, false
  for _, it in ipairs { ... } do
    if it.pad then
      local port = g.pads[it.pad].read
      uses[port], some = (uses[port] or 0) + access_cycles(g, it), true
    elseif it.mu then
      own = own + access_cycles(g, it)
    end
  end
  return math.max(own, some and turn(m, uses) or 0)
end

local function keep(g, s)
  g.streams[#g.streams + 1] = s
  return s
end

function G:load(n, width)
  local name, ports, ahead = self:name "load", random(1, 3), random(1, 4)
  local x = self:node("load", name, {}, function(x) tiles(x, nil, n, width, ports, ahead) end)
  local s = step.load(f32[n][width], { tile = { 1, width }, shape = { n }, stride = { 1 }, ports = ports, name = name,
    ahead = ahead })
  return keep(self, of(s, x, 1, width))
end

-- A sum with a tile that is loaded for each element: `load` by reference, then a map of two streams.
function G:plus(a)
  local name, ports, ahead, width = self:name "weights", random(1, 3), random(1, 4), a.width
  local x = self:node("load", name, { a }, function(x, c) tiles(x, c[1], nil, width, ports, ahead) end)
  local s = a.s:load(f32[1][width], { tile = { 1, width }, shape = {}, name = name, ports = ports, ahead = ahead })
  local w = keep(self, of(s, x, 1, width))
  return self:map(a, w)
end

function G:map(a, b)
  local name, bw = self:name "map", random(1, 16)
  local x = self:node("map", name, { a, b }, function(x, c)
    local m = x.m
    while true do
      local p = see(m, c[1])
      local q = b and see(m, c[2])
      if not p then return end
      local cycles = math.max(fetch(self, m, p, q), ((b and 1 or 8) * p.cols + bw - 1) // bw)
      work(m, cycles)
      put(m, x.ports[1], { cols = p.cols })
      take(m, c[1])
      if q then take(m, c[2]) end
    end
  end)
  local s = b and a.s:zip(b.s):map(fn.add, { bw = bw, name = name }) or a.s:map(fn.silu, { bw = bw, name = name })
  return keep(self, of(s, x, 1, a.width))
end

-- Each element n times, and their sum.
function G:again(a)
  local n, rep, sum, bw = random(1, 3), self:name "rep", self:name "sum", random(1, 8)
  local x = self:node("rep", rep, { a }, function(x, c)
    local m = x.m
    while true do
      local it = see(m, c[1])
      if not it then return end
      for i = 0, n - 1 do
        put(m, x.ports[1], { cols = it.cols, mu = it.mu, last = i == n - 1 }, m.now + i)
      end
      work(m, n)
      take(m, c[1])
    end
  end)
  local r = keep(self, of(a.s:rep(n, { name = rep }), x, 1, a.width))
  return self:fold(r, sum, bw)
end

-- Each element n times, in a buffer, which may lie in a scratchpad with others; it is read `times` over and summed.
function G:keep(a)
  local n, times, sum, bw = random(1, 3), random(1, 3), self:name "sum", random(1, 8)
  local rep, kept, again = self:name "rep", self:name "kept", self:name "again"
  local pad = ({ "p", "q", false })[random(3)]
  local x = self:node("rep", rep, { a }, function(x, c)
    local m = x.m
    while true do
      local it = see(m, c[1])
      if not it then return end
      for i = 0, n - 1 do
        put(m, x.ports[1], { cols = it.cols, mu = it.mu, pad = it.pad, last = i == n - 1 }, m.now + i)
      end
      work(m, n)
      take(m, c[1])
    end
  end)
  local r = keep(self, of(a.s:rep(n, { name = rep }), x, 1, a.width))
  local y = self:node("bufferize", kept, { r }, function(y, c)
    local m, list = y.m, {}
    while true do
      local it = see(m, c[1])
      if not it then return end
      if pad then turn(m, { [self.pads[pad].write] = access_cycles(self, it) }) end
      take(m, c[1])
      list[#list + 1] = { cols = it.cols, mu = it.mu, pad = pad or it.pad }
      if it.last then
        put(m, y.ports[1], { list = list })
        list = {}
      else
        work(m, 1)
      end
    end
  end)
  local b = keep(self, of(r.s:bufferize { rank = 1, place = pad or nil, name = kept }, y, 1, a.width))
  local z = self:node("streamify", again, { b }, function(z, c)
    local m = z.m
    while true do
      local it = see(m, c[1])
      if not it then return end
      for k = 1, times do
        for i, one in ipairs(it.list) do
          put(m, z.ports[1], { cols = one.cols, mu = one.mu, pad = one.pad, last = k == times and i == n })
          work(m, 1)
        end
      end
      take(m, c[1])
    end
  end)
  local s = keep(self, of(b.s:streamify { times = { times }, name = again }, z, 1, a.width))
  return self:fold(s, sum, bw, 2)
end

function G:fold(r, sum, bw, rank)
  local y = self:node("accum", sum, { r }, function(x, c)
    local m = x.m
    while true do
      local it = see(m, c[1])
      if not it then return end
      work(m, math.max(fetch(self, m, it), (it.cols + bw - 1) // bw))
      take(m, c[1])
      if it.last then put(m, x.ports[1], { cols = it.cols }) end
    end
  end)
  return keep(self, of(r.s:accum(fn.add, { rank = rank or 1, bw = bw, name = sum }), y, 1, r.width))
end

-- Selectors from a list: a generator for each reader.
function G:selectors(list, ways)
  local name = self:name "sel"
  local s = step.selectors(list, { n = ways, name = name })
  return {
    s = s, name = name,
    reader = function()
      local x = self:node("selectors", name, {}, function(x)
        for _, one in ipairs(list) do
          put(x.m, x.ports[1], { ways = one }, x.m.now + 1)
          work(x.m, 1)
        end
      end)
      return keep(self, of(s, x))
    end,
  }
end

function G:partition(a, sel, ways, depth)
  local name = self:name "part"
  local x = self:node("partition", name, { a, sel }, function(x, c)
    local m = x.m
    while true do
      local w = see(m, c[2])
      if not w then return end
      take(m, c[2])
      local it = see(m, c[1])
      work(m, it.cols and fetch(self, m, it) or 0)
      take(m, c[1])
      if #w.ways > 0 then work(m, 1) end
      for _, way in ipairs(w.ways) do put(m, x.ports[way + 1], { cols = it.cols, ways = it.ways }) end
    end
  end)
  local list = a.s:partition(sel.s, { n = ways, name = name, depth = depth })
  for i = 1, ways do
    list[i] = keep(self, of(list[i], x, i, a.width))
    list[i].depth = depth
  end
  return list
end

function G:reassemble(list, sel, order)
  local name = self:name "gather"
  local inputs = table.move(list, 1, #list, 1, {})
  inputs[#inputs + 1] = sel
  local x = self:node("reassemble", name, inputs, function(x, c)
    local m = x.m
    while true do
      local w = see(m, c[#c])
      if not w then return end
      take(m, c[#c])
      local left = table.move(w.ways, 1, #w.ways, 1, {})
      while #left > 0 do
        local first = order == "index" and 1 or nil
        while not first do -- the earliest of the heads that are seen
          for i, way in ipairs(left) do
            local it, best = c[way + 1].item[c[way + 1].head], first and c[left[first] + 1]
            if it and it.time <= m.now and not (best and best.item[best.head].time <= it.time) then first = i end
          end
          if not first then wait() end
        end
        local from = c[table.remove(left, first) + 1]
        local it = see(m, from)
        while m.now < it.time + 1 + fetch(self, it) do wait() end
        take(m, from)
        put(m, x.ports[1], { cols = it.cols, last = #left == 0 })
      end
    end
  end)
  local streams = {}
  for i, s in ipairs(list) do streams[i] = s.s end
  return keep(self, of(step.reassemble(streams, sel.s, { order = order, name = name }), x, 1, list[1].width))
end

function G:merge(list)
  local name = self:name "merge"
  local x = self:node("merge", name, list, function(x, c)
    local m = x.m
    while true do
      local first, over
      repeat
        first, over = nil, true
        for i, d in ipairs(c) do
          local it = d.item[d.head]
          if it and it.time <= m.now and (not first or it.time < c[first].item[c[first].head].time) then first = i end
          over = over and not it and d.closed and d.closed + 1 <= m.now
        end
        if not first and not over then wait() end
      until first or over
      if not first then return end
      put(m, x.ports[2], { ways = { first - 1 } })
      local it = take(m, c[first])
      put(m, x.ports[1], { cols = it.cols, mu = it.mu })
    end
  end)
  local streams = {}
  for i, s in ipairs(list) do streams[i] = s.s end
  local data, who = step.eager_merge(streams, { name = name })
  return keep(self, of(data, x, 1, list[1].width)), keep(self, of(who, x, 2))
end

function G:deal(a, n)
  local name = self:name "deal"
  local x = self:node("parallelize", name, { a }, function(x, c)
    local m, k = x.m, 0
    while true do
      local it = see(m, c[1])
      if not it then return end
      take(m, c[1])
      put(m, x.ports[k + 1], { cols = it.cols, mu = it.mu }, m.now + 1)
      k = (k + 1) % n
    end
  end)
  local list = a.s:parallelize(n, { name = name })
  for i = 1, n do list[i] = keep(self, of(list[i], x, i, a.width)) end
  return list
end

function G:sink(a)
  local name = self:name "sink"
  self:node("sink", name, { a }, function(x, c)
    while see(x.m, c[1]) do
      take(x.m, c[1])
      work(x.m, 1)
    end
  end)
  a.s:sink { name = name }
end

function G:store(a, n)
  local name, ports = self:name "store", random(1, 3)
  self:node("store", name, { a }, function(x, c)
    while see(x.m, c[1]) do
      access(x, 1, a.width, ports)
      take(x.m, c[1])
    end
  end, true)
  a.s:store(f32[n][a.width], { ports = ports, name = name })
end

-- Passes elements, as flatten does.
function G:pass(s, a)
  local name = self:name "pass"
  local x = self:node("flatten", name, { a }, function(x, c)
    while true do
      local it = see(x.m, c[1])
      if not it then return end
      take(x.m, c[1])
      put(x.m, x.ports[1], it)
    end
  end)
  return keep(self, of(s(name), x, 1, a.width))
end

local stages = { "map", "plus", "again", "keep", "route", "share", "loop" }
function G:stage(a, n, deep)
  local what = stages[random(deep > 0 and #stages or 4)]
  return self[what](self, a, nil, n, deep)
end

-- To ways of their own and together again.
function G:route(a, _, n, deep)
  local ways, list = random(2, 3), {}
  for i = 1, n do
    local set = {}
    for w = 0, ways - 1 do if random(2) == 1 then set[#set + 1] = w end end
    if #set == 0 then set[1] = random(0, ways - 1) end
    list[i] = set
  end
  local sel = self:selectors(list, ways)
  local parts = self:partition(a, sel.reader(), ways)
  for w, branch in ipairs(parts) do
    local own = 0
    for _, one in ipairs(list) do
      for _, k in ipairs(one) do own = own + (k == w - 1 and 1 or 0) end
    end
    parts[w] = self:stage(branch, own, deep - 1)
  end
  local out = self:reassemble(parts, sel.reader(), ({ "index", "arrival" })[random(2)])
  return self:fold(out, self:name "sum", random(1, 8))
end

-- Dealt out in turn, taken as they come.
function G:share(a, _, n, deep)
  local parts = self:deal(a, 2)
  for w, branch in ipairs(parts) do parts[w] = self:stage(branch, (n + 2 - w) // 2, deep - 1) end
  local data, who = self:merge(parts)
  self:sink(who)
  return data
end

-- Every element goes round once, through a feedback.
function G:loop(a, _, n)
  local once = {}
  for i = 1, 2 * n do once[i] = { 0 } end
  local again = { s = step.feedback(f32[1][a.width], { name = self:name "again" }), width = a.width, readers = {} }
  local data, who = self:merge { a, again }
  local every = self:selectors(once, 1)
  local h = self:map(self:partition(data, every.reader(), 1)[1])
  local sel = self:partition(who, every.reader(), 1)[1]
  local out = self:partition(h, sel, 2, n + 2)
  -- Of stream `again` the reader is that of the first way.
  out[1].readers = again.readers
  step.close(again.s, out[1].s)
  return out[2]
end

-- ---- comparing ----

-- Fills of a stream by cycle, from its changes.
local function changes(fills)
  local by, times, out, fill = {}, {}, {}, 0
  for _, x in ipairs(fills) do
    if not by[x[1]] then times[#times + 1] = x[1] end
    by[x[1]] = (by[x[1]] or 0) + x[2]
  end
  table.sort(times)
  for _, at in ipairs(times) do
    fill = fill + by[at]
    if by[at] ~= 0 then out[#out + 1] = at .. ":" .. fill end
  end
  return table.concat(out, " ")
end

-- The same of a report, read out of its waves, by stream.
local function waves(r)
  local id, out, now, order, last = {}, {}, 0, {}, {}
  for line in r:vcd():gmatch "[^\n]+" do
    local key = line:match "^%$var wire %d+ (%S+)"
    if key then
      order[#order + 1] = key
      id[key] = #order
    end
    now = tonumber(line:match "^#(%d+)") or now
    local bits, k = line:match "^b([01]+) (%S+)$"
    local fill = bits and id[k] and id[k] <= #r.streams and tonumber(bits, 2)
    if fill and fill ~= (last[k] or 0) then
      local list = out[id[k]] or {}
      list[#list + 1] = now .. ":" .. fill
      out[id[k]], last[k] = list, fill
    end
  end
  local by = {}
  for i, s in ipairs(r.streams) do
    by[s.name] = by[s.name] or {}
    table.insert(by[s.name], table.concat(out[i] or {}, " "))
  end
  for _, list in pairs(by) do table.sort(list) end
  return by
end

local function check(seed)
  math.randomseed(seed)
  local n, width = random(0, 7), ({ 4, 16, 20, 40 })[random(4)]
  local channels = random(1, 5)
  local depth = random(3) == 1 and 64 or random(2, 4)
  local g = setmetatable({ m = machine.new { channels = channels }, count = 0, streams = {}, all = {}, depth = depth,
    pmu = ({ 16, 64 })[random(2)], pads = {} }, G)
  for _, pad in ipairs { "p", "q" } do g.pads[pad] = { read = { free = 0 }, write = { free = 0 } } end
  local graph = step.graph(function()
    local s = g:load(n, width)
    for _ = 1, random(3) do s = g:stage(s, n, 2) end
    g:store(s, n)
  end)
  g:join(g.streams)
  local ok, r = pcall(graph.simulate, graph, { depth = depth, pmu = g.pmu, memory = { channels = channels } })
  local last = g.m:run(ok and r.cycles + 100 or 4000)
  if not ok then
    return last and ("the machine ends in %d: %s"):format(last, tostring(r)) or nil, true
  end
  if not last then return "the machine does not end" end
  local by = {}
  for _, c in ipairs(g.m.chan) do
    by[c.name] = by[c.name] or {}
    table.insert(by[c.name], changes(c.fills))
  end
  local seen = waves(r)
  for name, list in pairs(by) do
    table.sort(list)
    for i, want in ipairs(list) do
      if (seen[name] or {})[i] ~= want then
        return ("%s: %s, not %s"):format(name, (seen[name] or {})[i], want)
      end
    end
  end
  if last + 2 ~= r.cycles then return ("%d cycles, not %d"):format(r.cycles, last + 2) end
  return nil, false, #g.m.chan
end

t.test("random graphs, fill by fill", function()
  local count, first = campaign.range(150)
  local stopped, streams = 0, 0
  for seed = first, first + count - 1 do
    local ok, wrong, stops, n = pcall(check, seed)
    t.ok(ok and not wrong, ("seed %d: %s"):format(seed, tostring(wrong)))
    stopped, streams = stopped + (stops and 1 or 0), streams + (n or 0)
  end
  t.ok(stopped < count // 2 and streams > 8 * count, ("%d stop, %d streams"):format(stopped, streams))
end)

t.done()
