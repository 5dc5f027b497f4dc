-- [slow] Runs with a clock: random networks against a machine stepped cycle by cycle, kernels against their
-- estimates, every attribute that is about time, reports, waves, timelines.
local tide = require "tide"
local t = require "tap"
local shell = require "shell"
local i8, i32, f32, task, grid = tide.i8, tide.i32, tide.f32, tide.task, tide.grid

-- The report of one run of s on these arguments.
local function report(s, options, ...)
  local o = {target = "cpu", timed = true}
  for k, v in pairs(options) do o[k] = v end
  local m = s:build(o)
  m(...)
  return m.report
end

-- ---- random networks ----

-- Streams go from a task to a later one; each task moves a token of each of its streams an iteration.
local function draw(random)
  local net = {n = random(1, 20), task = {}, stream = {}}
  for i = 1, random(2, 6) do net.task[i] = {ii = random(1, 4), gets = {}, puts = {}} end
  for i = 1, random(1, 9) do
    local from = random(1, #net.task - 1)
    local s = {name = "s" .. i, depth = random(1, 4), latency = random(1, 3), beats = 1, elements = 1}
    if random(1, 3) == 1 then
      s.elements = random(2, 6)
      s.lanes = random(1, 4)
      s.beats = (s.elements + s.lanes - 1) // s.lanes
    end
    net.stream[i] = s
    table.insert(net.task[from].puts, s)
    table.insert(net.task[random(from + 1, #net.task)].gets, s)
  end
  for i = #net.task, 1, -1 do
    local x = net.task[i]
    if #x.gets + #x.puts == 0 then table.remove(net.task, i) end
  end
  return net
end

local function source(net)
  local out = {'local tide = require "tide"', "local i32 = tide.i32", "local net = tide.design(function(d)"}
  local function line(...) out[#out + 1] = string.format(...) end
  for _, s in ipairs(net.stream) do
    local token = s.elements > 1 and "i32[" .. s.elements .. "]" or "i32"
    line("  local %s = d:stream(%s, {depth = %d}) --@ latency(%d)%s", s.name, token, s.depth, s.latency,
      s.lanes and " lanes(" .. s.lanes .. ")" or "")
  end
  for i, x in ipairs(net.task) do
    line("  d.t%d = tide.task {function()", i)
    line("    for k = 0, %d do --@ pipeline(%d)", net.n - 1, x.ii)
    for _, s in ipairs(x.gets) do line("      local _ = %s:get()", s.name) end
    for _, s in ipairs(x.puts) do
      if s.elements > 1 then
        line("      local v%s = i32[%d](k)", s.name, s.elements)
        line("      %s:put(v%s)", s.name, s.name)
      else
        line("      %s:put(i32(k))", s.name)
      end
    end
    line("    end\n  end}")
  end
  line "end)"
  line "return net"
  return table.concat(out, "\n")
end

-- ---- a machine that is stepped cycle by cycle ----

-- Whether stream s, of which m was made so far, lets a token out, or in.
local function may_get(s, m, now)
  local k = #m.got + 1
  return m.put[k] and m.put[k] + s.beats - 1 + s.latency <= now and
    (k == 1 or m.got[k - 1] + s.beats <= now)
end

local function may_put(s, m, now)
  local k, freed = #m.put, 0
  for _, g in ipairs(m.got) do freed = freed + (g + s.beats <= now and 1 or 0) end
  return k - freed < s.depth and (k == 0 or m.put[k] + s.beats <= now)
end

-- Puts of the last start, one after the other.
local function put_all(x, made, now)
  while x.put and x.put < #x.puts do
    local s = x.puts[x.put + 1]
    if not may_put(s, made[s], now) then return end
    table.insert(made[s].put, now)
    x.out, x.put = math.max(x.out, now + s.beats - 1), x.put + 1
  end
  if x.put then x.done, x.put, x.finished = math.max(x.done, x.out), nil, x.finished + 1 end
end

-- A cycle of task x: gets one after the other into latches, a start when all are there and the puts of
-- the start before are done. x.ii and x.length: of the schedule.
local function advance(x, n, made, now)
  put_all(x, made, now)
  while x.started < n and x.got < #x.gets and now >= x.base do
    local s = x.gets[x.got + 1]
    if not may_get(s, made[s], now) then break end
    table.insert(made[s].got, now)
    x.got, x.over = x.got + 1, math.max(x.over, now + s.beats - 1)
  end
  local due, free = math.max(x.base + x.at, x.over), not x.put and now > x.done
  if x.started < n and x.got == #x.gets and now >= due and free then
    x.stalled = x.stalled + now - (x.base + x.at)
    x.base, x.over, x.got, x.started, x.put, x.out = now - x.at + x.ii, -1, 0, x.started + 1, 0, now
    put_all(x, made, now)
  end
  if x.finished == n and not x.ended then
    local last = x.base - x.ii + x.length
    x.ended = math.max(last, x.done + 1)
    x.stalled = x.stalled + x.ended - last
  end
end

-- All cycles of a network: puts and gets of each stream.
local function step(net)
  local made, now, left = {}, 0, true
  for _, s in ipairs(net.stream) do made[s] = {put = {}, got = {}, most = 0} end
  for _, x in ipairs(net.task) do
    x.at, x.base, x.over, x.done, x.stalled, x.ended = 0, 0, -1, -1, 0, nil
    x.got, x.started, x.put, x.finished = 0, 0, nil, 0 -- gets, starts, puts of the last one, all done
    for _, s in ipairs(x.gets) do x.at = math.max(x.at, s.beats - 1) end
  end
  while left and now < 5000 do
    left = false
    for _, x in ipairs(net.task) do
      advance(x, net.n, made, now)
      left = left or not x.ended
    end
    for _, s in ipairs(net.stream) do
      made[s].most = math.max(made[s].most, #made[s].put - #made[s].got)
    end
    now = now + 1
  end
  return made
end

-- The fill of every stream at every cycle, read back from a dump.
local function read_fills(path)
  local name, most, level = {}, {}, {}
  for l in io.lines(path) do
    local code, variable = l:match "^%$var wire %d+ (%S+) (%S+) %$end"
    if code then name[code] = variable end
    local bits, of = l:match "^b([01]+) (%S+)"
    if bits then
      local v = tonumber(bits, 2)
      level[name[of]] = v
      most[name[of]] = math.max(most[name[of]] or 0, v)
    end
  end
  return most, level
end

t.test("200 random networks: cycles, stalls and fills as a machine stepped cycle by cycle", function()
  local seed, stalls = 7, 0
  local function random(lo, hi)
    seed = (seed * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
    return lo + (seed >> 33) % (hi - lo + 1)
  end
  local path = os.tmpname()
  for case = 1, 200 do
    local net = draw(random)
    local text = source(net)
    local s = tide.schedule(assert(load(text))())
    local e = s:estimate {device = "ideal"}
    for i, x in ipairs(net.task) do
      local l = e.loops["t" .. i .. ":k"]
      x.ii, x.length = l.ii, l.depth
    end
    local r = report(s, {})
    if case % 4 == 0 then t.eq(tostring(report(s, {tier = "tcc"})), tostring(r), text) end
    local made, cycles = step(net), 0
    for i, x in ipairs(net.task) do
      cycles = math.max(cycles, x.ended)
      stalls = stalls + x.stalled
      t.eq({i, r.tasks["t" .. i].stalled, r.tasks["t" .. i].last + 1}, {i, x.stalled, x.ended}, text)
      t.eq(r.tasks["t" .. i].busy, x.ended - x.stalled)
    end
    t.eq(r.cycles, cycles, text)
    r:vcd(path)
    local most, last = read_fills(path)
    for _, x in ipairs(net.stream) do
      local row = r.streams[x.name]
      t.eq({x.name, row.tokens, row.most}, {x.name, net.n, made[x].most}, text)
      t.eq({case, most[x.name], last[x.name]}, {case, row.most, 0})
    end
  end
  os.remove(path)
  t.ok(stalls > 1000)
end)

-- ---- without waiting ----

t.test("kernels take just the cycles of their estimates", function()
  local M, N, K = 6, 5, 9
  local gemm = tide.kernel {A = f32[M][K], B = f32[K][N], C = f32[M][N], function(A, B, C)
    for i, j in grid(M, N) do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
  local triangle = tide.kernel {A = i32[8][8], function(A)
    for i = 0, 7 do
      for j = i, 7 do
        if A[i][j] > 0 then
          for k = 0, 3 do A[i][j] = A[i][j] + k end
        end
      end
    end
  end}
  local copy = tide.kernel {A = i8[4][8], B = i8[4][8], function(A, B) B:set(A) end}
  local twice = tide.kernel {A = i8[4][8], B = i8[4][8], function(A, B)
    copy(A, B)
    for i = 0, 3 do B[i][0] = 1 end
    copy(A, B)
  end}
  local function same(s, ...)
    for _, device in ipairs {"ideal", "u280"} do
      t.eq({device, report(s, {device = device}, ...).cycles},
        {device, s:estimate {device = device}.cycles}, tostring(s))
    end
  end
  local A, B, C = tide.random(f32[M][K], 1), tide.random(f32[K][N], 2), f32[M][N](0)
  local function of(k) return tide.schedule(k) end
  same(of(gemm), A, B, C)
  same(of(gemm):pipeline("k"), A, B, C)
  same(of(gemm):reorder("k", "j"):pipeline("j", 3), A, B, C)
  same(of(gemm):reorder("k", "j"):pipeline("j"):partition("C", 1):unroll("j", 2), A, B, C)
  same(of(gemm):unroll("k"):pipeline("j"), A, B, C)
  local s = of(gemm)
  s:buffer_at("C", "i")
  same(s:reorder("k", "j"):pipeline("j"), A, B, C)
  same(of(triangle), i32[8][8](1))
  same(of(twice), tide.random(i8[4][8], 1), i8[4][8](0))
end)

-- ---- compiled ----

-- Runs s by the evaluator and compiled, on both devices; their reports and results must be the same.
local function same_compiled(s, ...)
  for _, device in ipairs {"ideal", "u280"} do
    local m = s:build {target = "cpu", timed = true, device = device, tier = "tcc"}
    local x, y = {}, {}
    for i, v in ipairs {...} do x[i], y[i] = v:copy(), v:copy() end
    local told = tostring(report(s, {device = device, trace = true}, table.unpack(x)))
    m(table.unpack(y))
    t.eq(tostring(m.report), told)
    for i, v in ipairs(x) do t.ok(v:equal(y[i]), tostring(s)) end
    t.fails(function() m.report:timeline() end, {code = "no-events"})
  end
end

local N, P, K = 24, 4, 20
local array = require "systolic_array"(P, K, 1, {element = f32, sum = f32, depth = {3, 1}})

local scale = tide.kernel {p = tide.stream(i32), q = tide.stream(i32), by = i32, function(p, q, by)
  for _ in grid(N) do q:put(p:get() * by) end
end}
local sum = tide.kernel {x = i32[4], y = i32[1], function(x, y)
  for i = 0, 3 do y[0] = y[0] + x[i] end
end}
local mixed = tide.design(function(d)
  local x, y, z = d:stream(i32, {depth = 2}), d:stream(i32), d:stream(i32[4], {block = true})
  d.read = task {X = i32[N], function(X)
    for i = 0, N - 1, 2 do
      x:put(X[i])
      x:put(X[i + 1])
    end
  end}
  d.triple = task {function() scale(x, y, 3) end}
  d.fill = task {function()
    for _ in grid(N // 4) do
      local b = z:slot()
      for j = 0, 3 do b[j] = y:get() end
      z:put(b)
    end
  end}
  d.use = task {Y = i32[N // 4], function(Y)
    local n = i32(0)
    while n < N // 4 do
      local b, s = z:get(), i32[1](0)
      if n % 2 == 0 then
        sum(b, s)
      else
        for i = 0, 3 do
          if b[i] > 0 then s[0] = s[0] + b[i] end
        end
      end
      Y[n] = s[0]
      n = n + 1
    end
  end}
end)

-- Sums that move down: only some instances get one, after what all get; the first row, and the odd column, none.
local columns = tide.design(function(d)
  local a, sum = d:stream(i32, {3, 4, depth = 2}), d:stream(i32, {3, 3, depth = 1})
  d.feed = task {map = {3}, A = i32[3][N]:layout "S0R", function(A, i)
    for k in grid(N) do a[i][0]:put(A[0][k]) end
  end}
  d.pe = task {map = {3, 3}, function(i, j)
    for k in grid(N, "k") do
      local above = i32(k)
      if j < 2 then above = a[i][j]:get() a[i][j + 1]:put(above) end
      if i > 0 then above = above + sum[i - 1][j]:get() end
      sum[i][j]:put(above * (j + 1))
    end
  end}
  d.out = task {map = {3}, C = i32[3][N]:layout "S0R", function(C, j)
    for k in grid(N, "k") do C[0][k] = sum[2][j]:get() end
  end}
  d.rest = task {map = {3}, function(i) for _ in grid(N) do local _ = a[i][2]:get() end end}
end)

t.test("compiled runs tell what the evaluator tells", function()
  local A, B, C = tide.random(f32[P][K], 1), tide.random(f32[K][P], 2), f32[P][P](0)
  same_compiled(tide.schedule(array), A, B, C)
  same_compiled(tide.schedule(array):pipeline("pe:k"):pipeline("feed_a:k", 2), A, B, C)
  same_compiled(tide.schedule(columns), tide.random(i32[3][N], 1, {lo = -9, hi = 9}), i32[3][N](0))
  same_compiled(tide.schedule(columns):pipeline("pe:k"):pipeline("out:k", 2),
    tide.random(i32[3][N], 2, {lo = -9, hi = 9}), i32[3][N](0))
  same_compiled(tide.schedule(mixed), tide.random(i32[N], 1, {lo = -9, hi = 9}), i32[N // 4](0))
end)

-- ---- what is about time ----

-- A source and a sink of N tokens, as text, so that marks can be set.
local function pair(options)
  local text = ([[
    local tide = require "tide"
    local i32 = tide.i32
    local net = tide.design(function(d)
      local A = d:arg(i32[24]) --@ $ARG
      local z = d:stream($TOKEN, {depth = $DEPTH}) --@ $STREAM
      d.source = tide.task {A = A, function(A)
        for k = 0, 23 do --@ pipeline($SOURCE)
          $PUT
        end
      end}
      d.sink = tide.task {B = i32[24], function(B)
        for k = 0, 23 do --@ pipeline($SINK)
          local v = z:get()
          B[k] = $VALUE
        end
      end}
    end)
    return net]]):gsub("%$(%u+)", options):gsub("%-%-@ %s*\n", "\n")
  return tide.schedule(assert(load(text))())
end

local function cycles(changes)
  local o = {ARG = "", TOKEN = "i32", DEPTH = "2", STREAM = "", SOURCE = "1", SINK = "1",
    PUT = "z:put(A[k])", VALUE = "v"}
  for k, v in pairs(changes) do o[k] = v end
  local B = i32[24](0)
  local r = report(pair(o), {}, tide.random(i32[24], 1), B)
  return r.cycles, r
end

t.test("intervals, depths, latencies, lanes and ports of arguments change cycles", function()
  local base, r = cycles {}
  t.eq(base, 25) -- 24 tokens, each seen one cycle later
  t.eq({r.streams.z.most, r.tasks.sink.stalled, r.tasks.source.stalled}, {1, 1, 0})
  t.eq((cycles {SOURCE = "3"}), 24 * 3 - 2 + 1)
  local slow = {cycles {SINK = "3"}}
  t.eq(slow[1], 24 * 3 - 2 + 1)
  t.eq({slow[2].streams.z.most, slow[2].tasks.source.stalls[1].why}, {2, "full"})
  t.eq((cycles {DEPTH = "1"}), 48) -- put, get, put: a place is free the cycle after
  t.eq((cycles {STREAM = "latency(5)", DEPTH = "8"}), 24 + 5)
  t.eq((cycles {STREAM = "latency(5)"}), 11 * 6 + 1 + 5 + 1) -- two places for what is under way
  local vector = {TOKEN = "i32[4]", PUT = "z:put(i32[4](k))", VALUE = "v[0]"}
  t.eq((cycles(vector)), 25)
  vector.STREAM = "lanes(2)"
  local narrow = {cycles(vector)}
  t.ok(narrow[1] > 24 * 2, "two beats a token")
  vector.STREAM = "lanes(1)"
  t.ok(cycles(vector) > narrow[1] + 24, "four beats a token")
  t.eq((cycles {ARG = "bytes_per_cycle(4)"}), base)
  t.eq((cycles {ARG = "bytes_per_cycle(2)"}), base + 23 + 1) -- a word is there a cycle after its first half
  t.ok(cycles {ARG = "bytes_per_cycle(1)"} > base + 3 * 23)
  t.ok(cycles {ARG = "latency(20)"} >= base + 20)
end)

t.test("instances that share an argument take turns at its port", function()
  local function cycles(P, width)
    local text = [[
      local tide, P = ...
      local i32, task, grid = tide.i32, tide.task, tide.grid
      return tide.design(function(d)
        local A = d:arg(i32[8][64]) --@ bytes_per_cycle(WIDTH)
        local z = d:stream(i32, {P})
        d.read = task {map = {P}, A = A, function(A, p)
          for k in grid(64, "k") do z[p]:put(A[p][k]) end
        end}
        d.sum = task {map = {P}, B = i32[P]:layout "S0", function(B, p)
          local s = i32(0)
          for _ in grid(64, "k") do s = s + z[p]:get() end
          B[0] = s
        end}
      end)]]
    local s = tide.schedule(assert(load((text:gsub("WIDTH", width)), "=shared"))(tide, P))
    s:pipeline("read:k"):pipeline("sum:k")
    local r = report(s, {}, tide.random(i32[8][64], 1), i32[P](0))
    if P * 4 > width then
      t.has(tostring(s:estimate()), ("A: 1 elements through a port of %d bytes a cycle, for 1 of %d tasks")
        :format(width, P))
    end
    return r.cycles
  end
  local alone = cycles(1, 4)
  t.eq({cycles(2, 8), cycles(8, 32)}, {alone, alone})
  for turns, got in pairs {[2] = cycles(2, 4), [4] = cycles(8, 8), [8] = cycles(8, 4)} do
    t.ok(got >= alone + (turns - 1) * 63 and got <= alone + (turns - 1) * 64, got)
  end
end)

t.test("block streams: a second buffer lets filling and using overlap", function()
  local function ping_pong(depth)
    return tide.design(function(d)
      local z = d:stream(i32[16], {depth = depth, block = true})
      d.fill = task {A = i32[4][16], function(A)
        for i = 0, 3 do
          local b = z:slot()
          for j = 0, 15 do b[j] = A[i][j] end
          z:put(b)
        end
      end}
      d.use = task {B = i32[4][16], function(B)
        for i = 0, 3 do
          local b = z:get()
          for j = 0, 15 do B[i][j] = b[j] end
        end
      end}
    end)
  end
  local function run(depth)
    return report(tide.schedule(ping_pong(depth)), {}, tide.random(i32[4][16], 1), i32[4][16](0))
  end
  local one, two = run(1), run(2)
  t.ok(one.cycles >= 2 * 4 * 16, "one buffer: they take turns")
  t.ok(two.cycles <= 5 * 16 + 16, "two: one buffer behind the other")
  t.eq({one.streams.z.tokens, two.streams.z.tokens}, {4, 4})
end)

t.test("a block is handed over as it is, whatever it holds", function()
  local function cycles(n)
    local d = tide.design(function(d)
      local X, Y = d:arg(i32[n]), d:arg(i32[n])
      local z = d:stream(i32[n], {depth = 2, block = true})
      d.fill = task {X = X, function(X)
        for _ = 0, 3 do
          local b = z:slot()
          for k = 0, n - 1 do --@ pipeline(1)
            b[k] = X[k]
          end
          z:put(b)
        end
      end}
      d.take = task {Y = Y, function(Y)
        for _ = 0, 3 do
          local b = z:get()
          for k = 0, n - 1 do --@ pipeline(1)
            Y[k] = b[k]
          end
        end
      end}
    end)
    return d:estimate {device = "u280"}.cycles - 4 * n
  end
  t.eq(cycles(256), cycles(16))
end)

t.test("designs in tasks start with their call; an allreduce ends after its last part", function()
  local inner = tide.design(function(d)
    local X, Y = d:arg(i32[8]), d:arg(i32[8])
    local z = d:stream(i32)
    d.a = task {X = X, function(X) for i = 0, 7 do z:put(X[i]) end end}
    d.b = task {Y = Y, function(Y) for i = 0, 7 do Y[i] = z:get() end end}
  end)
  local outer = tide.design(function(d)
    d.twice = task {A = i32[8], B = i32[8], function(A, B)
      inner(A, B)
      inner(A, B)
    end}
  end)
  local r = report(tide.schedule(outer), {}, tide.random(i32[8], 1), i32[8](0))
  t.eq(r.cycles, 2 * 9)
  local parts = tide.design(function(d)
    d.part = task {map = {2}, A = i32[4]:layout "S0", C = i32[2], function(A, C, i)
      local x = i32[2](0)
      for _ = 0, 9 + 20 * i do x[0] = x[0] + A[0] end
      x:set(tide.allreduce(x, "+"))
      if i == 0 then C:set(x) end
    end}
  end, {check = false})
  local s = report(tide.schedule(parts), {}, tide.random(i32[4], 1), i32[2](0))
  t.fails(function() report(tide.schedule(parts), {tier = "tcc"}, tide.random(i32[4], 1), i32[2](0)) end,
    {code = "timed-allreduce"})
  t.eq(s.tasks["part[1]"].stalled, 1)
  t.eq(s.tasks["part[0]"].stalled, 21)
  t.eq(s.tasks["part[0]"].stalls[1].why, "allreduce")
end)

-- ---- reports ----

t.test("the same bits, the same report, the same dump every time", function()
  local function run()
    local _, r = cycles {SINK = "2", DEPTH = "3"}
    local path = os.tmpname()
    r:vcd(path)
    local text = shell.read(path)
    os.remove(path)
    return tostring(r) .. r:timeline() .. text
  end
  t.eq(run(), run())
end)

t.test("a report tells of its own run; the timeline and the picture of it", function()
  local m = pair {ARG = "", TOKEN = "i32", DEPTH = "2", STREAM = "", SOURCE = "1", SINK = "2",
    PUT = "z:put(A[k])", VALUE = "v"}:build {target = "cpu", timed = true}
  local A, B = tide.random(i32[24], 1), i32[24](0)
  t.eq(m.report, nil)
  m(A, B)
  t.ok(B:equal(A))
  local r = m.report
  local rows = r:timeline(24)
  t.ok(rows:find "source  ##", rows)
  t.ok(rows:find("sink    ####", 1, true), rows)
  local path = os.tmpname()
  r:svg(path)
  t.ok(shell.read(path):find "</svg>\n$")
  os.remove(path)
  t.ok(tostring(r):find("net on ideal: 48 cycles", 1, true), tostring(r))
  m(A, B)
  t.fails(function() r:timeline() end, {code = "old-report"})
  t.fails(function() m.report:vcd "/no/such/folder/x" end, {code = "write"})
  t.fails(function() m.report:timeline(0) end, {code = "argument"})
end)

t.test("a run that is too long keeps its figures, not its events", function()
  local function events(N)
    local m = tide.design(function(d)
      local Z = d:stream(i32)
      d.a = task {A = i32[1], function(A) for _ = 0, N - 1 do Z:put(A[0]) end end}
      d.b = task {B = i32[1], function(B) for _ = 0, N - 1 do B[0] = Z:get() end end}
    end):build {target = "cpu", timed = true}
    m(i32[1](1), i32[1](0))
    t.ok(m.report.cycles >= N)
    return m.report:timeline()
  end
  t.ok(events(1000))
  t.fails(function() events(2200000) end, {kind = "usage", code = "no-events"})
end)

t.test("a deadlock shows what the streams hold", function()
  local stuck = tide.design(function(d)
    local x, y = d:stream(i32, {depth = 2}), d:stream(i32)
    d.a = task {function()
      for i = 0, 3 do x:put(i32(i)) end
      y:put(i32(1))
    end}
    d.b = task {function()
      local _ = y:get()
      for _ = 0, 3 do local _ = x:get() end
    end}
  end, {check = false})
  local ok, why = pcall(report, tide.schedule(stuck), {})
  t.ok(not ok and why.code == "deadlock")
  t.ok(tostring(why):find("x holds 0, 1", 1, true), tostring(why))
end)

t.done()
