-- contracts.lua - the second contract of hardware, pipelines that stall as a whole: random networks
-- against a machine that is stepped cycle by cycle, and what hangs there only.
local t = require "tap"
local tide = require "tide"
local i32 = tide.i32

-- Streams go from a task to a later one; an iteration of a task moves a token of each of its streams, II cycles after
-- the one before.
local function draw(random)
  local net = {n = random(1, 12), task = {}, stream = {}}
  for i = 1, random(2, 5) do net.task[i] = {ii = random(1, 7), ops = {}} end
  for i = 1, random(1, 7) do
    local from = random(1, #net.task - 1)
    local s = {name = "s" .. i, depth = random(1, 5), latency = random(1, 3), put = {}, got = {}}
    net.stream[i] = s
    table.insert(net.task[from].ops, {s, true})
    table.insert(net.task[random(from + 1, #net.task)].ops, {s, false})
  end
  for i = #net.task, 1, -1 do
    if #net.task[i].ops == 0 then table.remove(net.task, i) end
  end
  for _, x in ipairs(net.task) do
    table.sort(x.ops, function(a, b)
      if a[2] ~= b[2] then return not a[2] end
      return a[1].name < b[1].name
    end)
  end
  return net
end

local function source(net)
  local out = {'local tide = require "tide"', "local i32 = tide.i32", "return tide.design(function(d)"}
  local function line(...) out[#out + 1] = string.format(...) end
  for _, s in ipairs(net.stream) do
    line("  local %s = d:stream(i32, {depth = %d}) --@ latency(%d)", s.name, s.depth, s.latency)
  end
  for i, x in ipairs(net.task) do
    line("  d.t%d = tide.task {function()", i)
    line("    for k = 0, %d do --@ pipeline(%d)", net.n - 1, x.ii)
    for _, o in ipairs(x.ops) do
      line(o[2] and "      %s:put(i32(k))" or "      local _ = %s:get()", o[1].name)
    end
    line("    end\n  end}")
  end
  line "end)"
  return table.concat(out, "\n")
end

-- Whether everything of an iteration may happen in this cycle.
local function may(x, now)
  for _, o in ipairs(x.ops) do
    local s, freed = o[1], 0
    for _, g in ipairs(s.got) do freed = freed + (g < now and 1 or 0) end
    if o[2] and #s.put - freed >= s.depth then return false end
    local k = #s.got + 1
    if not o[2] and not (s.put[k] and s.put[k] + s.latency <= now) then return false end
  end
  return true
end

-- A counter for each task that stands still while it may not go on.
local function step(net)
  for _, x in ipairs(net.task) do x.counter, x.done = 0, 0 end
  for now = 0, 3000 do
    local left, moved = false, {}
    for _, x in ipairs(net.task) do
      if x.done < net.n then
        left = true
        local due = x.counter == x.done * x.ii
        if not due or may(x, now) then
          if due then
            moved[#moved + 1] = x
            x.done = x.done + 1
          end
          x.counter = x.counter + 1
          if x.done == net.n then x.ended = now + 1 end
        end
      end
    end
    for _, x in ipairs(moved) do
      for _, o in ipairs(x.ops) do table.insert(o[2] and o[1].put or o[1].got, now) end
    end
    if not left then
      local last = 0
      for _, x in ipairs(net.task) do last = math.max(last, x.ended) end
      return last
    end
  end
end

t.test("random networks: cycles as a machine of counters that stand still", function()
  local seed, compared = 11, 0
  local function random(lo, hi)
    seed = (seed * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
    return lo + (seed >> 33) % (hi - lo + 1)
  end
  for _ = 1, 150 do
    local net = draw(random)
    local ok, d = pcall(assert(load(source(net))))
    if ok then
      local m = d:build {target = "cpu", timed = true}
      m()
      local want = step(net)
      t.eq({m.report.fire.hangs, m.report.fire.cycles}, {want == nil, want}, source(net))
      compared = compared + 1
    end
  end
  t.ok(compared > 100, compared)
end)

local pair = [[
local tide = require "tide"
local i32 = tide.i32
return tide.design(function(d)
  local a = d:stream(i32, {depth = $D})
  local b = d:stream(i32, {depth = $D})
  d.source = tide.task {function()
    for i = 0, 7 do --@ pipeline(1)
      a:put(i32(i))
      b:put(i32(i))
    end
  end}
  d.sink = tide.task {function()
    for i = 0, 3 do
      local _ = a:get()
      local _ = a:get()
      local _ = b:get()
      local _ = b:get()
    end
  end}
end)]]

t.test("two puts of a stage against a, a, b, b: latches run at depth 1, a pipeline that stalls hangs", function()
  local one, two = load((pair:gsub("$D", "1")))(), load((pair:gsub("$D", "2")))()
  t.ok(not one:check({contract = "latch"}).hangs)
  local hang = one:check {contract = "fire"}
  t.eq({hang.hangs, hang.task, hang.stream, hang.why}, {true, "source", "b", "full"})
  t.has(tostring(hang), "source waits for ever, b is full")
  t.eq(two:check({contract = "fire"}).hangs, false, "two places are enough")
  t.ok(one:check(), "and without a contract it is the check of before")
end)

t.test("a report says who waits for ever where the device's pipelines stall as a whole", function()
  for device, hangs in pairs {u280 = true, ideal = false, rtl = false} do
    for depth = 1, 2 do
      local m = tide.schedule(load((pair:gsub("$D", tostring(depth))))()):build {
        target = "cpu", timed = true, device = device}
      m()
      local told = tostring(m.report):find("source waits for ever, b is full; d:depths {device = \"u280\"", 1, true)
      t.eq(told ~= nil, hangs and depth == 1, device .. depth)
      local old = m.report
      m()
      t.has(tostring(old), "task", "of an earlier run what is known")
    end
  end
end)

t.test("a run that stops names the depths of its device's contract", function()
  local function stops()
    return tide.design(function(d)
      local a, b = d:stream(i32, {depth = 1}), d:stream(i32, {depth = 1})
      d.source = tide.task {function()
        for i = 0, 7 do a:put(i32(i)) end
        for i = 0, 7 do b:put(i32(i)) end
      end}
      d.sink = tide.task {function()
        for _ = 0, 7 do
          local _ = b:get()
          local _ = a:get()
        end
      end}
    end, {check = false})
  end
  for device, fires in pairs {u280 = true, rtl = false} do
    for _, tier in ipairs {"auto", "tcc"} do
      local m = tide.schedule(stops()):build {target = "cpu", timed = true, device = device, tier = tier}
      local ok, err = pcall(m)
      t.eq({ok, err.code}, {false, "deadlock"})
      t.eq(tostring(err):find('d:depths {device = "u280"', 1, true) ~= nil, fires, tostring(err))
      t.has(tostring(err), "d:depths")
    end
  end
end)

local function report(d, ...)
  local m = tide.schedule(d):build {target = "cpu", timed = true}
  m(...)
  return m.report
end

t.test("a design that a task calls begins with its call in both contracts, and the call ends with it", function()
  for depth = 1, 3 do
    local inner = load((pair:gsub("$D", tostring(depth))))()
    local outer = tide.design(function(d)
      d.t = tide.task {function()
        inner()
        inner()
      end}
    end)
    local one, two = report(inner), report(outer)
    t.eq({two.cycles, two.fire.hangs}, {2 * one.cycles, depth == 1})
    if depth == 1 then
      t.eq({two.fire.task, two.fire.stream, two.fire.why}, {"t:source", "b", "full"})
    else
      t.eq(two.fire.cycles, 2 * one.fire.cycles)
    end
  end
end)

t.test("an allreduce waits for the last part by the contract, and takes as long in both", function()
  local function parts(n, slow, meet)
    return tide.design(function(d)
      local z = d:stream(i32, {2, depth = 1})
      d.source = tide.task {function()
        for i = 0, n - 1 do --@ pipeline(1)
          z[0]:put(i32(i))
          z[1]:put(i32(i))
        end
      end}
      d.part = tide.task {map = {2}, C = i32[2], function(C, p)
        local x = i32[2](0)
        for _ = 0, n - 1 do
          x[0] = x[0] + z[p]:get()
          if p == 1 then
            for _ = 0, slow do x[1] = x[1] + x[0] end
          end
        end
        if p == 0 then
          for _ = 0, 49 do x[1] = x[1] + x[0] end
        end
        if meet then x:set(tide.allreduce(x, "+")) end
        if p == 0 then C:set(x) end
      end}
    end, {check = false})
  end
  local apart = 0
  for _, n in ipairs {1, 3, 5} do
    for _, slow in ipairs {0, 3, 9} do
      local r, m = report(parts(n, slow, false), i32[2](0)), report(parts(n, slow, true), i32[2](0))
      t.eq({m.cycles - r.cycles, m.fire.cycles - r.fire.cycles}, {3, 3}, n .. " " .. slow)
      apart = apart + (r.fire.cycles > r.cycles and 1 or 0)
    end
  end
  t.ok(apart > 4, "and the second is later where a put waits for another stream's place")
end)

t.test("depths by the second contract: none hangs, one less of any does", function()
  local d = load((pair:gsub("$D", "1")))()
  t.eq(d:depths(), {a = 1, b = 1})
  t.eq(d:depths {contract = "latch"}, {a = 1, b = 1})
  local depths, bits, input = d:depths {contract = "fire"}
  t.eq({depths.a + depths.b, bits, input}, {3, 96, "for this input"})
  local function hangs(with)
    local s = tide.schedule(d)
    for name, n in pairs(with) do s:depth(name, n) end
    local m = s:build {target = "cpu", timed = true, device = "u280"}
    m()
    return m.report.fire.hangs
  end
  t.eq(hangs(depths), false)
  for name, n in pairs(depths) do
    local less = {a = depths.a, b = depths.b}
    less[name] = n - 1
    t.ok(n == 1 or hangs(less), name)
  end
  t.eq(d:depths({contract = "fire", unit = "bits"}).a, 32 * depths.a)
  t.fails(function() d:depths {contract = "wait"} end, {match = "unknown contract 'wait'"})
  t.fails(function() d:depths {contract = "fire", depth = 3} end, {code = "unknown-option"})
end)

t.test("a contract that there is none of", function()
  local d = load((pair:gsub("$D", "1")))()
  t.fails(function() d:check {contract = "wait"} end, {match = "unknown contract 'wait'"})
  t.fails(function() d:check {contract = "fire", device = "u2800"} end, {match = "did you mean 'u280'"})
end)

t.test("a device has its contract: Vitis's pipelines stall as a whole, those of rtl do not", function()
  local d = tide.design(function(d)
    local x, y = d:stream(i32, { depth = 1 }), d:stream(i32, { depth = 1 })
    d.a = tide.task { function()
      for k = 0, 7 do --@ pipeline(1)
        x:put(i32(k))
        y:put(i32(k))
      end
    end }
    d.b = tide.task { function()
      for _ = 0, 3 do --@ pipeline(4)
        local _ = x:get()
        local _ = x:get()
        local _ = y:get()
        local _ = y:get()
      end
    end }
  end)
  t.eq(d:check({ device = "u280" }).hangs, d:check({ contract = "fire", device = "u280" }).hangs)
  t.eq(d:check({ device = "u280" }).contract, "fire")
  t.eq(d:check({ device = "rtl" }).contract, "latch")
  t.eq(d:check({ device = "rtl" }).hangs, false)
  t.eq(d:check({ device = "u280", contract = "latch" }).contract, "latch")
  t.eq((d:depths { device = "u280" }), (d:depths { contract = "fire", device = "u280" }))
  t.eq((d:depths { device = "rtl" }), (d:depths()))
  t.fails(function() d:check {} end, { code = "option", match = "or a device" })
  t.fails(function() d:depths { device = "u281" } end, { match = "u280" })
end)

t.done()
