-- search.lua - automatic mapping: against all sequences of steps on small graphs, against mappings by hand on larger
-- ones, within its budgets, the same each time, and the same program on random data.
-- [slow]
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

for _, name in ipairs {"line", "workers", "pairs", "apart", "meeting"} do
  t.test("brute force finds nothing better by the clock of the u280: " .. name, function()
    local design, types = small[name]()
    local best = mappings.least(tide.schedule(design), types, {pes = 2, device = "u280"})
    if best == math.huge then
      t.fails(function() tide.schedule(design):search {pes = 2, device = "u280"} end, {code = "infeasible"})
      return
    end
    t.eq(mappings.cycles(searched(design, types, {pes = 2, device = "u280"}), types, "u280"), best)
  end)
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

-- ---- networks at their sizes, with a mapping by hand ----

-- Attention over `length` rows, in chunks of `T`: 44 nodes at 2048 and 512.
local function attention(length, D, T)
  local P = length // T
  return tide.design(function(d)
    local q, score = d:stream(f32[T][D], {P, P}), d:stream(f32[T][T], {P, P})
    local weight, part = d:stream(f32[T][T], {P, P}), d:stream(f32[T][D], {P, P})
    local scale, total = d:stream(f32[T], {P}), d:stream(f32[T], {P})
    d.rows = task {map = {P}, Q = f32[length][D]:layout "S0R", function(Q, i)
      for j in grid(P) do q[i][j]:put(Q) end
    end}
    d.scores = task {map = {P, P}, K = f32[D][length]:layout "RS1", function(K, i, j)
      score[i][j]:put(tide.matmul(q[i][j]:get(), K) * 0.125)
    end}
    d.softmax = task {map = {P}, function(i)
      local m, l = f32[T](-3e38), f32[T](0)
      for j in grid(P) do
        local s, w, e = score[i][j]:get(), f32[T][T](0), f32[T]()
        for r in grid(T, "rows") do
          local peak, sum = m[r], f32(0)
          for c in tide.reduction(T, "peak") do peak = tide.max(peak, s[r][c]) end
          for c in tide.reduction(T, "sum") do
            w[r][c] = tide.exp(s[r][c] - peak)
            sum = sum + w[r][c]
          end
          e[r] = tide.exp(m[r] - peak)
          l[r] = l[r] * e[r] + sum
          m[r] = peak
        end
        scale[i]:put(e)
        weight[i][j]:put(w)
      end
      total[i]:put(l)
    end}
    d.values = task {map = {P, P}, V = f32[length][D]:layout "S1R", function(V, i, j)
      part[i][j]:put(tide.matmul(weight[i][j]:get(), V))
    end}
    d.sums = task {map = {P}, O = f32[length][D]:layout "S0R", function(O, i)
      local out = f32[T][D](0)
      for j in grid(P) do
        local e, o = scale[i]:get(), part[i][j]:get()
        for r, c in grid(T, D) do out[r][c] = out[r][c] * e[r] + o[r][c] end
      end
      local l = total[i]:get()
      for r, c in grid(T, D) do O[r][c] = out[r][c] / l[r] end
    end}
  end)
end

-- y = (silu(x G) * (x U)) D over Q chunks of hidden units: 4 Q + 1 nodes.
local function feed_forward(R, M, H, Q)
  local h = H // Q
  return tide.design(function(d)
    local g, u = d:stream(f32[R][h], {Q}), d:stream(f32[R][h], {Q})
    local a, part = d:stream(f32[R][h], {Q}), d:stream(f32[R][M], {Q})
    d.gate = task {map = {Q}, X = f32[R][M], G = f32[M][H]:layout "RS0", function(X, G, j)
      g[j]:put(tide.matmul(X, G))
    end}
    d.up = task {map = {Q}, X = f32[R][M], U = f32[M][H]:layout "RS0", function(X, U, j)
      u[j]:put(tide.matmul(X, U))
    end}
    d.silu = task {map = {Q}, function(j)
      local x, y, z = g[j]:get(), u[j]:get(), f32[R][h]()
      for k, c in grid(R, h) do z[k][c] = x[k][c] / (1 + tide.exp(-x[k][c])) * y[k][c] end
      a[j]:put(z)
    end}
    d.down = task {map = {Q}, D = f32[H][M]:layout "S0R", function(D, j)
      part[j]:put(tide.matmul(a[j]:get(), D))
    end}
    d.sum = task {Y = f32[R][M], function(Y)
      local s = f32[R][M](0)
      for j in grid(Q) do s:set(s + part[j]:get()) end
      Y:set(s)
    end}
  end)
end

-- Searches a network on so many PEs of a device within 60 s, and holds it against a mapping by hand.
local function network(name, nodes, design, pes, device, map)
  t.test(("%s, %d nodes on %d PEs of %s"):format(name, nodes, pes, device or "any device"), function()
    local hand, start = tide.schedule(design), os.clock()
    t.eq(design:graph().nodes, nodes)
    map(hand)
    t.ok(hand:graph().nodes <= pes, "the mapping by hand fits")
    local s = tide.schedule(design):search {pes = pes, device = device}
    t.ok(os.clock() - start < 60, "seconds")
    t.ok(s:graph().nodes <= pes, "nodes")
    local clock = {target = device or "u280"}
    local got, want = s:estimate(clock).cycles, hand:estimate(clock).cycles
    t.ok(got <= want, ("%d cycles, %d by hand"):format(got, want))
    t.eq(tostring(load(s:log())(design)), tostring(s), "the log rebuilds it")
    local status = io.open "/proc/self/status"
    local most = status and tonumber(status:read("a"):match "VmHWM:%s*(%d+) kB")
    if status then status:close() end
    t.ok(not most or most < 1 << 20, "a gigabyte")
  end)
end

network("attention over 2048", 44, attention(2048, 64, 512), 16, "u280", function(s)
  s:bundle("scores", {axis = 1}):bundle("values", {axis = 1}):chain("rows", "scores")
end)
network("attention over 2048", 44, attention(2048, 64, 512), 8, nil, function(s)
  s:bundle("scores", {axis = 1}):bundle("values", {axis = 1}):chain("rows", "scores")
  s:chain("rows", "softmax"):chain("values", "sums")
end)
network("a feed-forward network of LLaMA", 33, feed_forward(128, 4096, 11008, 8), 9, "u280", function(s)
  s:chain("gate", "up"):chain("gate", "silu"):chain("gate", "down")
end)
network("a feed-forward network of LLaMA", 33, feed_forward(128, 4096, 11008, 8), 16, nil, function(s)
  s:chain("gate", "up"):chain("gate", "silu"):bundle("down", {factor = 2})
end)
network("a feed-forward network of LLaMA", 33, feed_forward(128, 4096, 11008, 8), 5, "ideal", function(s)
  s:chain("gate", "up"):chain("gate", "silu"):chain("gate", "down"):bundle("gate", {factor = 2})
end)

t.test("smaller ones are the same programs before and after", function()
  local D, n = 4, 8
  searched(attention(n, D, 4), {f32[n][D], f32[D][n], f32[n][D], f32[n][D]}, {pes = 5, device = "u280"})
  local R, M, H = 3, 4, 8
  searched(feed_forward(R, M, H, 4), {f32[R][M], f32[M][H], f32[M][H], f32[H][M], f32[R][M]},
    {pes = 6, device = "u280"})
end)

-- ---- the clock of a device ----

-- Products of 8 x 8 x 16 in tokens, a cycle each on ideal hardware, beside loops of 100.
local function products()
  local m, n, k = 8, 8, 16
  return tide.design(function(d)
    local a, b = d:stream(f32[m][n], {4}), d:stream(i32, {4})
    d.mm = task {map = {4}, A = f32[4 * m][k]:layout "S0R", B = f32[k][n], function(A, B, i)
      a[i]:put(tide.matmul(A, B))
    end}
    d.save = task {map = {4}, C = f32[4 * m][n]:layout "S0R", function(C, i) C:set(a[i]:get()) end}
    d.count = task {map = {4}, function(i)
      local s = i32(0)
      for x in grid(100) do s = s + x * i end
      b[i]:put(s)
    end}
    d.keep = task {map = {4}, D = i32[4]:layout "S0", function(D, i) D[0] = b[i]:get() end}
  end), {f32[4 * m][k], f32[k][n], f32[4 * m][n], i32[4]}
end

t.test("each device has the mapping that suits it", function()
  local design, types = products()
  local ideal = tide.schedule(design):search {pes = 6, device = "ideal"}
  local u280 = tide.schedule(design):search {pes = 6, device = "u280"}
  local function cycles(s, device) return mappings.cycles(s, types, device) end
  t.ok(cycles(u280, "u280") < cycles(ideal, "u280"), "u280")
  t.ok(cycles(ideal, "ideal") < cycles(u280, "ideal"), "ideal")
  local s = tide.schedule(design):search {pes = 6}
  t.eq(cycles(s, "ideal"), cycles(ideal, "ideal"), "without a device small ones run on ideal hardware")
end)

-- Multipliers side by side: more than a device has until instances take turns.
local function multipliers(P, lanes)
  return tide.design(function(d)
    local z = d:stream(f32, {P})
    d.mul = task {map = {P}, A = f32[P * lanes]:layout "S0", function(A, p)
      local s = f32(0)
      for i = 0, lanes - 1 do --@ unroll(0)
        s = s + A[i] * A[i]
      end
      z[p]:put(s)
    end}
    d.all = task {B = f32[P], function(B) for p in grid(P) do B[p] = z[p]:get() end end}
  end)
end

t.test("the DSP of a device are kept, and named", function()
  local design = multipliers(12, 128)
  local plain = design:estimate {device = "u280"}
  local s = tide.schedule(multipliers(4, 128)):search {device = "u280"}
  t.ok(s:estimate {device = "u280"}.dsp <= 9024)
  t.eq(s:log():match "bundle" or "none", "none", "what fits stays as it is")
  if plain.dsp > 9024 then
    s = tide.schedule(design):search {device = "u280"}
    t.ok(s:estimate {device = "u280"}.dsp <= 9024, "DSP")
    t.has(table.concat(s:steps()[1].notes, "\n"), "bound by DSP of u280")
  end
end)

-- ---- budgets ----

t.test("steps decide, everywhere alike; few steps find something", function()
  local design = attention(64, 8, 16)
  local logs = {}
  for _, steps in ipairs {60, 60, 400} do
    local s = tide.schedule(design):search {pes = 16, device = "u280", steps = steps}
    logs[#logs + 1] = s:log()
    t.has(s:steps()[1].notes[1], ("best of %d tries"):format(steps))
    t.has(s:steps()[1].notes[1], "more steps may find better")
  end
  t.eq(logs[1], logs[2])
end)

t.test("seconds cut it short, and the result says so", function()
  local s = tide.schedule(attention(2048, 64, 512)):search {pes = 30, device = "u280", steps = 1 << 40, seconds = 1.5}
  t.has(s:steps()[1].notes[1], "cut short after 1.5 s")
  t.ok(s:graph().nodes <= 30)
end)

t.test("what is left of a bound", function()
  local s = tide.schedule(attention(2048, 64, 512)):search {pes = 16, device = "u280", steps = 50}
  t.has(s:steps()[1].notes[1], "% above what is least at best")
  s = tide.schedule((small.line())):search {pes = 3}
  t.has(s:steps()[1].notes[1], "there are no others")
end)


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
