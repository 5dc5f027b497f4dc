-- memory.lua - `memory =` of runs with a clock: slots, a queue, banks, a user's own; the same answers for kernels,
-- designs and graphs of STeP; what is refused.
local t = require "tap"
local tide, step = require "tide", require "tide.step"
local f32, fn = tide.f32, step.fn

-- The artifact's queue in Lua: request i of a cycle goes i channels after the one before it.
local function queue(o)
  local m = { channels = o.channels or 32, latency = 2, interval = 2, startup = 14, log = {} }
  function m.reset(q)
    q.free, q.now, q.n, q.at = {}, -1, 0, 0
  end
  function m.request(q, r)
    local last = 0
    q.log[#q.log + 1] = r
    if r.cycle ~= q.now then
      q.now, q.at, q.n = r.cycle, (q.at + q.n) % q.channels, 0
    end
    for _ = 1, r.requests do
      q.at, q.n = (q.at + q.n) % q.channels, q.n + 1
      local at = math.max(q.free[q.at] or 0, r.cycle + 1)
      q.free[q.at] = at + q.interval
      last = math.max(last, at)
    end
    return last + q.latency + q.startup
  end
  return m
end

-- The same answers, told only once time has gone on.
local function deferred(of)
  local m = { of = of }
  function m.reset(q) of:reset() q.open, q.done = {}, {} end
  function m.request(q, r)
    q.open[#q.open + 1] = { r.id, of:request(r) }
  end
  function m.cycles(q, till)
    local first
    for i, x in ipairs(q.open) do
      if not first or x[2] < q.open[first][2] then first = i end
    end
    if not first or q.open[first][2] > till then return till end
    local x = table.remove(q.open, first)
    q.done[1] = x
    return x[2]
  end
  function m.answer(q)
    local x = table.remove(q.done)
    if x then return x[1], x[2] end
  end
  return m
end

local function axpy(n)
  local k = tide.kernel { name = "axpy", x = f32[n], y = f32[n], function(x, y)
    for i = 0, n - 1 do y[i] = y[i] + x[i] * 2.0 end
  end }
  return tide.schedule(k):pipeline("i", 1)
end

local function report(s, n, memory, device)
  local m = s:build { target = "cpu", timed = true, device = device or "rtl", memory = memory }
  local x, y = tide.random(f32[n], 1), tide.random(f32[n], 2)
  local want = y:copy()
  s:build { target = "cpu" }(x, want)
  m(x, y)
  t.ok(y:equal(want), "values do not depend on the memory")
  return m.report
end

-- Two tasks that read side by side, joined by a stream.
local function pair(n, depth)
  return tide.design(function(d)
    local z = d:stream(f32, { depth = depth })
    d.load = tide.task { a = f32[n], function(a)
      for i = 0, n - 1 do z:put(a[i] * 2.0) end --@ pipeline(1)
    end }
    d.sum = tide.task { b = f32[n], c = f32[n], function(b, c)
      for i = 0, n - 1 do c[i] = b[i] + z:get() end --@ pipeline(1)
    end }
  end)
end

local function product(n, ports)
  local x, w, y = tide.random(f32[16][n], 1), tide.random(f32[n][32], 2), f32[16][32](0)
  return step.graph(function()
    local a = step.load(x, { tile = { 8, n }, shape = { 2, 2, 1 }, stride = { 1, 0, 1 } })
    local b = step.load(w, { tile = { n, 16 }, shape = { 2, 2, 1 }, stride = { 0, 1, 1 }, ports = ports })
    a:zip(b):map_accum(fn.matmul, { rank = 1, bw = 512 }):store(y, { ports = ports })
  end)
end

t.test("a kernel under the four: slots change nothing, a queue in Lua is the queue", function()
  for _, n in ipairs { 1, 16, 40, 64 } do
    for _, device in ipairs { "ideal", "rtl", "u280" } do
      local s = axpy(n)
      local m = s:build { target = "cpu", timed = true, device = device }
      m(tide.random(f32[n], 1), tide.random(f32[n], 2))
      local lines = (n * 4 + 63) // 64
      local slots = report(s, n, "slots", device)
      t.ok(slots.cycles - m.report.fire.cycles <= 1, "slots")
      t.eq(slots.memory.requests, 3 * lines)
      local a = report(s, n, { model = "queue", channels = 4 }, device)
      local b = report(s, n, queue { channels = 4 }, device)
      local c = report(s, n, deferred(queue { channels = 4 }), device)
      t.eq(a.cycles, b.cycles)
      t.eq(a.cycles, c.cycles)
      t.ok(a.cycles > slots.cycles, "a queue takes time")
      t.eq(a.memory.bytes, 3 * lines * 64)
      t.eq(a.tasks[1].busy + a.tasks[1].stalled, a.cycles)
      t.ok(report(s, n, "banks", device).cycles > slots.cycles, "banks take time")
    end
  end
end)

t.test("STeP asks the same memory: a queue in Lua is the queue, told at once or later", function()
  for _, ports in ipairs { 1, 3, 4 } do
    for _, channels in ipairs { 1, 3, 8 } do
      local g = product(64, ports)
      local a = g:simulate { memory = { channels = channels } }
      t.eq(g:simulate({ memory = queue { channels = channels } }).cycles, a.cycles)
      t.eq(g:simulate({ memory = deferred(queue { channels = channels }) }).cycles, a.cycles)
      t.eq(select(-1, g:run { memory = queue { channels = channels } }).cycles, a.cycles)
    end
  end
end)

-- What a task waited for the memory.
local function waited(task)
  local sum = 0
  for _, s in ipairs(task.stalls) do sum = sum + (s.why == "memory" and s.cycles or 0) end
  return sum
end

t.test("a kernel and a graph that ask the same get the same answers", function()
  local n = 16
  local copy = tide.schedule(tide.kernel { name = "copy", x = f32[n], y = f32[n], function(x, y)
    for i = 0, n - 1 do y[i] = x[i] end
  end }):pipeline("i", 1)
  local x, y = tide.random(f32[1][n], 1), f32[1][n](0)
  local g = step.graph(function() step.load(x, { tile = { 1, n } }):store(y) end)
  local slow = { { model = "queue", latency = 50 }, { model = "banks", cl = 30, cwl = 9 } }
  for _, model in ipairs { "queue", "banks", table.unpack(slow) } do
    local r = g:simulate { memory = model }
    local read, write = waited(r.tasks.load) - 2, waited(r.tasks.store) - 2
    t.ok(read > 0 and write > 0)
    local own = { request = function(_, ask) return ask.cycle + (ask.write and write or read) end }
    t.eq(report(copy, n, model).cycles, report(copy, n, own).cycles)
  end
end)

t.test("a design: tasks share what answers", function()
  for _, n in ipairs { 32, 48 } do
    local d = pair(n, 4)
    local function run(memory)
      local m = tide.schedule(d):build { target = "cpu", timed = true, device = "rtl", memory = memory }
      m(tide.random(f32[n], 1), tide.random(f32[n], 2), f32[n](0))
      return m.report
    end
    local own = queue { channels = 2 }
    local a, b, c = run { model = "queue", channels = 2 }, run(own), run(deferred(queue { channels = 2 }))
    t.eq(a.cycles, b.cycles)
    t.eq(a.cycles, c.cycles)
    t.ok(a.cycles > run("slots").cycles, "it takes time")
    t.eq(a.streams.z.tokens, n)
    local cycle, ports = 0, {}
    for _, r in ipairs(own.log) do
      t.ok(r.cycle >= cycle, "cycles do not fall")
      cycle, ports[r.port] = r.cycle, true
    end
    t.eq(#own.log, 3 * n * 4 // 64)
    t.ok(ports[0] and ports[1] and ports[2], "a port for each argument of a task")
    t.ok(run { model = "banks", channels = 1 }.cycles > a.streams.z.tokens, "banks")
  end
end)

-- Several loads of large tiles side by side, with others that begin in between.
local function bursts(random)
  local count = random(1, 6)
  return step.graph(function()
    for _ = 1, count do
      local rows, n = random(20, 400), random(1, 3)
      local width = ({ 4, 16, 40, 96 })[random(4)]
      step.load(f32[rows * n][width], { tile = { rows, width }, ports = random(1, 6), ahead = random(1, 2) })
        :map(fn.exp, { bw = random(50, 4000) }):store(f32[rows * n][width], { ports = random(1, 4) })
    end
  end)
end

t.test("steady bursts are skipped by periods: the same cycles as a queue that is stepped", function()
  local seed = 3
  local function random(lo, hi)
    if not hi then lo, hi = 1, lo end
    seed = (seed * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
    return lo + (seed >> 33) % (hi - lo + 1)
  end
  for case = 1, 60 do
    local g, channels = bursts(random), random(1, 40)
    local o = { depth = random(1, 4), memory = { model = "queue", channels = channels } }
    local a = g:simulate(o)
    o.memory = queue { channels = channels }
    local b = g:simulate(o)
    t.eq(a.cycles, b.cycles, ("case %d, %d channels"):format(case, channels))
    for i, x in ipairs(a.tasks) do t.eq({ x.first, x.last }, { b.tasks[i].first, b.tasks[i].last }, x.name) end
  end
end)

t.test("the queue in closed form", function()
  -- One load of n requests, `ports` a cycle, no channel busy: the last answer comes ceil(n / ports) + 18 cycles later.
  for _, ports in ipairs { 1, 2, 4 } do
    for _, rows in ipairs { 1, 3, 8 } do
      local g = step.graph(function() step.load(f32[rows][64], { tile = { rows, 64 }, ports = ports }):sink() end)
      local r = g:simulate { memory = { channels = 1 << 10 } }
      t.eq(r.tasks.load.last + 1, (rows * 4 + ports - 1) // ports + 18)
    end
  end
  -- Five channels: the one of the last request of each hand-over.
  local log = {}
  local q = queue { channels = 5 }
  q.reset(q)
  local places = { { 1, 4 }, { 1, 3 }, { 2, 2 }, { 5, 1 } }
  for k, x in ipairs(places) do
    q:request { cycle = x[1], requests = x[2] }
    log[k] = q.at
  end
  -- Cycle 1: 0, 1, 3, 6 = 1, then 5 = 0, 5 = 0, 6 = 1. Cycle 2 begins 7 on: 8 = 3, then 4. Cycle 5 begins 2 on: 1.
  t.eq(log, { 1, 1, 4, 1 })
end)

-- Turns of each port in Lua, request by request: what the model of C has in closed form for a whole tile.
local function turns(latency, interval)
  local m = {}
  function m.reset(q) q.next = {} end
  function m.request(q, r)
    local first = math.max(q.next[r.port] or r.cycle, r.cycle)
    q.next[r.port] = first + r.requests * interval
    return q.next[r.port] - interval + latency
  end
  return m
end

t.test("slots in closed form", function()
  math.randomseed(11)
  for case = 1, 40 do
    local ports, rows, cols, n = math.random(5), math.random(7), math.random(3) * 8, math.random(6)
    local function graph()
      local x, y = f32[n * rows][cols](1), f32[n * rows][cols](0)
      return step.graph(function()
        step.load(x, { tile = { rows, cols }, ports = ports }):map(fn.silu, { bw = 8 }):store(y, { ports = ports })
      end)
    end
    local latency, interval = math.random(9), math.random(3)
    local slots = { model = "slots", latency = latency, interval = interval }
    local a, b = graph():simulate { memory = slots }, graph():simulate { memory = turns(latency, interval) }
    t.eq(a.cycles, b.cycles, ("case %d"):format(case))
    t.eq(a.moved, b.moved)
  end
end)

t.test("banks: an open row, a closed one, one that is in the way, a refresh", function()
  -- One load at a time: its stall is what the memory takes, less one.
  local function wait(o, shape, stride)
    local x, y = f32[1 << 10][1 << 8](0), f32[64][16](0)
    o.model, o.channels = "banks", o.channels or 1
    local g = step.graph(function()
      step.load(x, { tile = { 1, 16 }, shape = shape, stride = stride }):sink()
    end)
    t.eq(y[0][0], 0)
    local r = g:simulate { memory = o }
    return r.tasks.load.last + 1
  end
  -- A request goes out after a cycle, arrives after one more: activate, read, data; it is seen a cycle later.
  local first = 1 + 1 + 7 + 7 + 4 + 1
  t.eq(wait({}, { 1 }, { 1 }), first)
  t.eq(wait({ rcd = 10 }, { 1 }, { 1 }), first + 3)
  -- The next line of the same row: no activate.
  local hit = 1 + 1 + 7 + 4 + 1
  t.eq(wait({}, { 2 }, { 1 }), first + hit)
  -- Another row of the same bank: tiles of 64 bytes, 32 of a row, 2 halves, 4 groups, 2 banks.
  local far = 32 * 2 * 4 * 2
  t.eq(wait({}, { 2 }, { far }), first + 1 + 1 + 7 + 7 + 7 + 4 + 1)
  t.ok(wait({ ras = 40, rc = 60 }, { 2 }, { far }) > wait({}, { 2 }, { far }), "the row stays open for ras")
  -- A refresh closes all rows and takes its time.
  local without = wait({ refi = 0 }, { 64 }, { 1 })
  t.ok(wait({ refi = 200 }, { 64 }, { 1 }) > without + 4 * 160, "refreshes")
  t.eq(wait({ refi = 1 << 30 }, { 64 }, { 1 }), without)
end)

t.test("refused beside accepted twins", function()
  local s, g = axpy(16), product(16, 1)
  local function both(code, memory, word)
    t.fails(function() report(s, 16, memory) end, { code = code, match = word })
    t.fails(function() g:simulate { memory = memory } end, { code = code, match = word })
  end
  both("option-value", "bank", "slots, queue, banks")
  both("option-value", { model = "banks", latency = 3 }, "no 'latency'")
  both("option-value", { model = "queue", channels = 0 }, "at least 1")
  both("unknown-option", { model = "queue", channel = 2 }, "channels")
  both("option-value", { model = "banks", refi = 100 }, "no time")
  both("option-value", { answer = function() end }, "'request'")
  both("option-value", { model = "slots", request = 0 }, "at least 1")
  both("option-value", { request = function() return 1 << 20 end, cycles = function() end }, "go together")
  both("memory-answer", { request = function(_, r) return r.cycle - 1 end }, "no cycle")
  t.fails(function() g:simulate { memory = { request = function() end } } end, { code = "memory-answer" })
  local never = { request = function() end }
  t.fails(function() report(s, 16, never) end, { code = "memory-hangs", match = "an answer" })
  local function without() s:build { target = "cpu", memory = "queue" } end
  t.fails(without, { code = "memory-clock", match = "timed = true" })
  t.ok(not pcall(report, s, 16, { request = function() error "of the user" end }), "his errors pass")
  t.ok(report(s, 16, "queue").cycles > 0 and g:simulate({ memory = "banks" }).cycles > 0, "twins")
  t.ok(report(s, 16, { model = "queue", channels = 1 }).cycles > 0, "twins")
  local lines, words = report(s, 16, "slots").memory, report(s, 16, { model = "slots", request = 4 }).memory
  t.ok(words.requests > lines.requests and words.bytes == 4 * words.requests, "twins")
  t.ok(report(s, 16, { request = function(_, r) return r.cycle end }).cycles > 0, "twins")
end)

t.done()
