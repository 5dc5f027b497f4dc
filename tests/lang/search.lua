-- search.lua - automatic mapping: against all sequences of steps on small graphs, against mappings by hand on larger
-- ones, within its budgets, the same each time, and the same program on random data.
local t = require "tap"
local mappings = require "mappings"
local prim = require "prim"
local tide = require "tide"
local i8, i16, i32, f32, task, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.task, tide.grid

-- States that a search keeps its promises: nodes, program, log. Returns the schedule.
local function searched(design, types, options)
  local s = tide.schedule(design):search(options)
  t.ok(s:graph().nodes <= options.pes, "nodes")
  local level, verdict = s:verify()
  t.eq(level, "strict", tostring(verdict))
  prim.runs_alike(design, s, types)
  local again = load(s:log())(design)
  t.eq(tostring(again), tostring(s), "the log rebuilds it")
  t.eq(tide.schedule(design):search(options):log(), s:log(), "the same each time")
  return s
end

-- ---- small designs: at most 6 nodes ----

local small = {}

-- A line of stages of other lengths.
function small.line()
  return tide.design(function(d)
    local a, b, c = d:stream(i32), d:stream(i32), d:stream(i32)
    d.load = task {A = i32[8], function(A) for n in grid(8) do a:put(A[n]) end end}
    d.twice = task {function() for _ in grid(8) do b:put(a:get() * 2) end end}
    d.slow = task {function()
      for _ in grid(8) do
        local x = b:get()
        local s = i32(0)
        for k in grid(6) do s = s + x * k end
        c:put(s)
      end
    end}
    d.save = task {B = i32[8], function(B) for n in grid(8) do B[n] = c:get() end end}
  end), {i32[8], i32[8]}
end

-- Workers between a splitter and a joiner.
function small.workers()
  local P = 3
  return tide.design(function(d)
    local a, b = d:stream(i32, {P}), d:stream(i32, {P})
    d.split = task {A = i32[P], function(A) for p in grid(P) do a[p]:put(A[p]) end end}
    d.work = task {map = {P}, function(p)
      local x = a[p]:get()
      local s = i32(0)
      for k in grid(5) do s = s + x * k end
      b[p]:put(s)
    end}
    d.join = task {B = i32[P], function(B) for p in grid(P) do B[p] = b[p]:get() end end}
  end), {i32[P], i32[P]}
end

-- Two grids, one fed by the other.
function small.pairs()
  return tide.design(function(d)
    local Z = d:stream(i16[2], {2})
    d.send = task {map = {2}, A = i16[4]:layout "S0", function(A, p) Z[p]:put(A + 1) end}
    d.take = task {map = {2}, B = i16[4]:layout "S0", function(B, p) B:set(Z[p]:get() * 2) end}
  end), {i16[4], i16[4]}
end

-- Nothing is connected.
function small.apart()
  return tide.design(function(d)
    d.one = task {map = {2}, A = f32[4]:layout "S0", function(A) A:set(A * 2) end}
    d.two = task {B = f32[9], function(B) B:set(B + 1) end}
    d.three = task {C = f32[6], function(C) C:set(C * C) end}
  end), {f32[4], f32[9], f32[6]}
end

-- Six nodes: two lines that meet.
function small.meeting()
  return tide.design(function(d)
    local a, b, c = d:stream(i32, {2}), d:stream(i32, {2}), d:stream(i32)
    d.load = task {map = {2}, A = i32[8]:layout "S0", function(A, p) for n in grid(4) do a[p]:put(A[n]) end end}
    d.work = task {map = {2}, function(p)
      for _ in grid(4) do
        local x = a[p]:get()
        b[p]:put(x * x + p)
      end
    end}
    d.add = task {function() for _ in grid(4) do c:put(b[0]:get() + b[1]:get()) end end}
    d.save = task {B = i32[4], function(B) for n in grid(4) do B[n] = c:get() end end}
  end), {i32[8], i32[4]}
end

for _, name in ipairs {"line", "workers", "pairs", "apart", "meeting"} do
  local make = small[name]
  for _, pes in ipairs {1, 2, 3, 6} do
    t.test(("brute force finds nothing better: %s on %d"):format(name, pes), function()
      local design, types = make()
      local best = mappings.least(tide.schedule(design), types, {pes = pes})
      if best == math.huge then
        t.fails(function() tide.schedule(design):search {pes = pes} end, {code = "infeasible"})
        return
      end
      t.eq(mappings.cycles(searched(design, types, {pes = pes}), types), best)
    end)
  end
end

-- Six nodes that nothing connects: the most ways there are.
t.test("six nodes, to the end", function()
  local design = tide.design(function(d)
    d.one = task {map = {6}, A = f32[12]:layout "S0", function(A) A:set(A * 2) end}
  end)
  local s = tide.schedule(design):search {pes = 4}
  t.ok(s:graph().nodes <= 4, "nodes")
end)

-- ---- larger designs, with a mapping by hand ----

local function by_hand(name, pes, make, map)
  t.test(("not worse than by hand: %s on %d"):format(name, pes), function()
    local design, types = make()
    local hand = tide.schedule(design)
    map(hand)
    t.ok(hand:graph().nodes <= pes, "the mapping by hand fits")
    local s = searched(design, types, {pes = pes})
    local got, want = mappings.cycles(s, types), mappings.cycles(hand, types)
    t.ok(got <= want, ("%d cycles, %d by hand"):format(got, want))
  end)
end

by_hand("blocks of a product", 10, function()
  local P, N = 8, 16
  return tide.design(function(d)
    local a = d:stream(i8[N // P][N], {P, P})
    d.feed = task {map = {P}, A = i8[N][N]:layout "S0R", function(A, i)
      for j in grid(P) do a[i][j]:put(A) end
    end}
    d.mm = task {
      map = {P, P}, B = i8[N][N]:layout "RS1", C = i32[N][N]:layout "S0S1",
      function(B, C, i, j) C:set(tide.matmul(a[i][j]:get(), B)) end,
    }
  end), {i8[N][N], i8[N][N], i32[N][N]}
end, function(s) s:bundle("mm", {axis = 1}):chain("feed", "mm") end)

by_hand("stages of a filter bank", 8, function()
  local C, N = 12, 10
  return tide.design(function(d)
    local x, y = d:stream(i32, {C}), d:stream(i32, {C})
    d.read = task {map = {C}, A = i16[C * N]:layout "S0", function(A, c)
      for n in grid(N) do x[c]:put(A[n]) end
    end}
    d.fir = task {map = {C}, function(c)
      local old = i32(0)
      for _ in grid(N) do
        local v = x[c]:get()
        y[c]:put(v * 3 + old)
        old = v
      end
    end}
    d.write = task {map = {C}, B = i32[C * N]:layout "S0", function(B, c)
      for n in grid(N) do B[n] = y[c]:get() end
    end}
  end), {i16[C * N], i32[C * N]}
end, function(s) s:chain("read", "fir"):chain("read", "write"):bundle("read", {factor = 2}) end)

by_hand("a sum of partial sums", 5, function()
  local P, N = 16, 64
  return tide.design(function(d)
    local part = d:stream(i32, {P})
    d.sum = task {map = {P}, A = i32[N]:layout "S0", function(A, p)
      local s = i32(0)
      for n in grid(N // P) do s = s + A[n] end
      part[p]:put(s)
    end}
    d.all = task {B = i32[1], function(B)
      local s = i32(0)
      for p in grid(P) do s = s + part[p]:get() end
      B[0] = s
    end}
  end), {i32[N], i32[1]}
end, function(s) s:bundle("sum", {factor = 4}) end)

by_hand("heavy and light stages", 6, function()
  local P = 8
  return tide.design(function(d)
    local x, y = d:stream(f32[4], {P}), d:stream(f32[4], {P})
    d.light = task {map = {P}, A = f32[4 * P]:layout "S0", function(A, p) x[p]:put(A * 2) end}
    d.heavy = task {map = {P}, function(p)
      local v = x[p]:get()
      local w = f32[4](0)
      for k in grid(12) do w:set(w * 0.5 + v * k) end
      y[p]:put(w)
    end}
    d.store = task {map = {P}, B = f32[4 * P]:layout "S0", function(B, p) B:set(y[p]:get()) end}
  end), {f32[4 * P], f32[4 * P]}
end, function(s)
  s:bundle("light"):bundle("store"):bundle("heavy", {factor = 2})
end)

by_hand("a tree of two levels", 7, function()
  local P = 4
  return tide.design(function(d)
    local x, y = d:stream(i32, {P, P}), d:stream(i32, {P})
    d.leaf = task {map = {P, P}, A = i32[P][P]:layout "S0S1", function(A, i, j)
      x[i][j]:put(A[0][0] * A[0][0])
    end}
    d.node = task {map = {P}, function(i)
      local s = i32(0)
      for j in grid(P) do s = s + x[i][j]:get() end
      y[i]:put(s)
    end}
    d.root = task {B = i32[1], function(B)
      local s = i32(0)
      for i in grid(P) do s = s + y[i]:get() end
      B[0] = s
    end}
  end), {i32[P][P], i32[1]}
end, function(s) s:bundle("leaf", {axis = 1}):chain("leaf", "node"):bundle("leaf", {factor = 2}) end)

by_hand("seven workers on three nodes", 5, function()
  local P = 7
  return tide.design(function(d)
    local x, y = d:stream(i32, {P}), d:stream(i32, {P})
    d.split = task {A = i32[P], function(A) for p in grid(P) do x[p]:put(A[p]) end end}
    d.work = task {map = {P}, function(p)
      local v, s = x[p]:get(), i32(0)
      for k in grid(50) do s = s + v * k end
      y[p]:put(s)
    end}
    d.join = task {B = i32[P], function(B) for p in grid(P) do B[p] = y[p]:get() end end}
  end), {i32[P], i32[P]}
end, function(s)
  s:bundle {"work[0]", "work[1]", "work[2]"}
  s:bundle {"work[3]", "work[4]"}
  s:bundle {"work[5]", "work[6]"}
end)

-- ---- budgets ----

local function vector(P)
  local N = 2 * P
  return tide.design(function(d)
    local Z = d:stream(i8[N // P], {P})
    d.send = task {map = {P}, A = i8[N]:layout "S0", function(A, p) Z[p]:put(A) end}
    d.take = task {map = {P}, B = i8[N]:layout "S0", function(B, p) B:set(Z[p]:get() + 1) end}
  end), {i8[N], i8[N]}
end

t.test("too long to run with a clock: estimates decide", function()
  local N = 700
  local design = tide.design(function(d)
    local Z = d:stream(i32, {4})
    d.long = task {map = {4}, A = i32[4]:layout "S0", function(A, p)
      local s = i32(0)
      for i in grid(N) do
        for j in grid(N) do s = s + A[0] * (i - j) end
      end
      Z[p]:put(s)
    end}
    d.short = task {map = {4}, B = i32[4]:layout "S0", function(B, p) B[0] = Z[p]:get() end}
  end)
  local s = tide.schedule(design):search {pes = 5}
  prim.runs_alike(design, s, {i32[4], i32[4]})
  t.eq(s:estimate().cycles, tide.schedule(design):bundle("short"):estimate().cycles)
end)

t.test("one PE", function()
  local s = searched(vector(12), {i8[24], i8[24]}, {pes = 1})
  t.eq({s:graph().nodes, s:graph().streams}, {1, 0})
end)

t.test("a PE for each node", function()
  local design, types = vector(12)
  local s = searched(design, types, {pes = 24})
  t.ok(mappings.cycles(s, types) <= mappings.cycles(tide.schedule(design), types), "cycles")
end)

t.test("ports of all nodes", function()
  local design, types = vector(12)
  local s = searched(design, types, {pes = 24, ports = {inputs = 4, outputs = 3}})
  local read, written = 0, 0
  for _, p in ipairs(s:graph().port) do
    read, written = read + (p.reads and 1 or 0), written + (p.writes and 1 or 0)
  end
  t.ok(read <= 4 and written <= 3, read .. " read, " .. written .. " written")
end)

t.test("ports of one node", function()
  local design, types = small.apart()
  local s = searched(design, types, {pes = 3, ports = {node_outputs = 1}})
  local of = {}
  for _, p in ipairs(s:graph().port) do
    if p.writes then of[p.node] = (of[p.node] or 0) + 1 end
  end
  for _, n in pairs(of) do t.eq(n, 1, "arguments that a node writes") end
end)

t.test("a budget of ports that no mapping keeps", function()
  local e = t.fails(function()
    tide.schedule((vector(12))):search {pes = 24, ports = {inputs = 0}}
  end, {kind = "illegal", code = "infeasible", prim = "search"})
  t.has(e.message, "keeps to the ports")
end)

t.test("thousands of tasks on 16 PEs", function()
  local s = searched(vector(4096), {i8[8192], i8[8192]}, {pes = 16})
  t.eq(s:graph().nodes, 16)
  t.ok(#tostring(s) < 2000, "the program is as long as for two tasks")
end)

t.done()
