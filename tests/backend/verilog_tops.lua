-- [slow]
-- verilog_tops.lua - tops with streams as Verilog: ends outside that are ready when a table says so, in the bench as in
-- the timed run, of kernels and designs; the check compares tokens and cycles.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local seed = 11
local function random(lo, hi)
  seed = (seed * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
  return lo + (seed >> 33) % (hi - lo + 1)
end

-- A table of cycles that do not fall.
local function draw(n)
  local list, at = {}, 0
  for k = 1, random(0, n) do
    at = at + (random(0, 2) == 0 and random(0, 9) or random(0, 1))
    list[k] = at
  end
  return list
end

local function tokens(n)
  local list = {}
  for i = 1, n do list[i] = random(-50, 50) end
  return list
end

-- Runs p with several tables; the check holds it against the timed run.
local function run(p, times, n, names, arguments)
  local m
  for _ = 1, times do
    local ready = {}
    for _, name in ipairs(names) do ready[name] = draw(n) end
    m = p:build {target = "verilog", sim = "icarus", ready = ready}
    m(table.unpack(arguments()))
    t.ok(m.report.cycles > n)
  end
  case.lint(m)
end

local function scale(n, ii)
  local k = tide.kernel {name = "scale", X = tide.stream(i32), Z = tide.stream(i32), function(X, Z)
    for _ in grid(n, "i") do
      local v = X:get()
      Z:put(v * v * v)
    end
  end}
  return ii and tide.schedule(k):pipeline("i", ii) or k
end

t.test("a kernel between two streams outside", function()
  for _, q in ipairs {{6, 1}, {9, 2}, {5, 3}, {7}} do
    run(scale(q[1], q[2]), 3, q[1], {"X", "Z"}, function() return {tokens(q[1]), {}} end)
  end
  local m, Z = scale(4, 1):build {target = "verilog", sim = "icarus", ready = {Z = {0, 40}}}, {}
  m({1, 2, 3, 4}, Z)
  t.eq(Z, {1, 8, 27, 64})
  t.ok(m.report.cycles > 40)
end)

t.test("puts under conditions, two streams", function()
  for _, ii in ipairs {1, 2} do
    local n = 12
    local k = tide.kernel {
      name = "part", X = tide.stream(i32), even = tide.stream(i32), odd = tide.stream(i32),
      function(X, even, odd)
        for _ in grid(n, "i") do
          local v = X:get()
          if v % 2 == 0 then even:put(v * v) end
          if v % 3 > 0 then odd:put(v) end
        end
      end,
    }
    run(tide.schedule(k):pipeline("i", ii), 4, n, {"X", "even", "odd"}, function() return {tokens(n), {}, {}} end)
  end
end)

t.test("rows of streams and tokens that are tensors", function()
  for _, P in ipairs {2, 3} do
    local n = 4
    local k = tide.kernel {
      name = "rows", X = tide.stream(i8[3])[P], Z = tide.stream(i32)[P],
      function(X, Z)
        for _ in grid(n) do
          for p in grid(P) do
            local v = X[p]:get()
            Z[P - 1 - p]:put(v[0] * v[1] - v[2])
          end
        end
      end,
    }
    local X, Z, ready = {}, {}, {X = {}, Z = {}}
    for p = 1, P do
      X[p], Z[p], ready.X[p], ready.Z[p] = {}, {}, draw(n), draw(n)
      for i = 1, n do X[p][i] = tide.tensor(i8[3], {i, p, -i * p}) end
    end
    local m = k:build {target = "verilog", sim = "icarus", ready = ready}
    m(X, Z)
    t.eq(Z[1], {2 * P, 4 * P, 6 * P, 8 * P})
    case.lint(m)
  end
end)

t.test("a design that takes streams", function()
  for _, q in ipairs {{5, 1}, {8, 2}} do
    local n = q[1]
    local d = tide.design(function(d)
      local X, Y = d:arg(tide.stream(i32)), d:arg(tide.stream(i32))
      local Z = d:stream(i32, {depth = q[2]})
      d.first = task {X = X, function(X) for _ in grid(n, "k") do Z:put(X:get() * 3) end end}
      d.second = task {Y = Y, function(Y) for _ in grid(n, "k") do Y:put(Z:get() + 1) end end}
    end)
    run(d, 3, n, {"X", "Y"}, function() return {tokens(n), {}} end)
    run(tide.schedule(d):pipeline("first:k"), 3, n, {"X", "Y"}, function() return {tokens(n), {}} end)
  end
end)

t.test("a name that is no stream of the top is refused, one that is is not", function()
  t.fails(function() scale(3):build {target = "verilog", ready = {Y = {1}}} end, {code = "ready"})
  t.ok(scale(3):build {target = "verilog", ready = {Z = {1}}})
end)

t.done()
