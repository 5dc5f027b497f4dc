-- tide.explore: sweeps are the same for any number of jobs and go on where they were left; fronts and distances against
-- plain loops; a search finds what brute force finds; CSV and plots.
local tide, step = require "tide", require "tide.step"
local explore, csv, plot = require "tide.explore", require "tide.csv", require "tide.plot"
local models = require "tide.step.models"
local t = require "tap"

local function measured(p) return { cycles = p.a * 100 + #p.b, memory = 1000 // p.a, name = p.b .. '"\\\n,' } end

local over = { a = { 1, 2, 3, 4, 5 }, b = { "x", "yy" } }

t.test("a sweep has all points, in order, whatever the jobs", function()
  local one = explore.sweep { over = over, run = measured }
  t.eq(#one, 10)
  t.eq(one[4], { a = 2, b = "yy", cycles = 202, memory = 500, name = 'yy"\\\n,' })
  for _, jobs in ipairs { 2, 3, 16 } do t.eq(explore.sweep { over = over, run = measured, jobs = jobs }, one) end
  t.eq(explore.sweep { over = { a = {} }, run = measured }, {})
end)

t.test("a file keeps what was measured", function()
  local path = os.tmpname()
  local rows, n = explore.sweep { over = { a = { 1, 2 }, b = { "x" } }, run = measured, file = path }
  t.eq(n, 2)
  local told = 0
  local all, more = explore.sweep { over = over, run = measured, file = path, jobs = 2,
    progress = function(k, of) told = told + 1 t.ok(k <= of) end }
  t.eq(more, 8)
  t.eq(told, 8)
  t.eq(all, explore.sweep { over = over, run = measured })
  t.eq(all[1], rows[1])
  local _, again = explore.sweep { over = over, run = measured, file = path }
  t.eq(again, 0)
  local function other(p) return { cycles = p.a } end
  local _, others = explore.sweep { over = over, run = other, file = path }
  t.eq(others, 10, "another program has rows of its own")
  os.remove(path)
  local ok, err = pcall(explore.sweep, { over = over, run = measured, file = "/nowhere/x.db" })
  t.ok(not ok and (err.code == "sqlite" or err.code == "no-sqlite"), tostring(err))
end)

t.test("a point that fails is a row that says so; a process that ends is an error", function()
  local function run(p)
    if p.a == 2 then error("no tile of 2", 0) end
    return { cycles = p.a }
  end
  for _, jobs in ipairs { 1, 2 } do
    local rows = explore.sweep { over = { a = { 1, 2, 3 } }, run = run, jobs = jobs }
    t.eq(rows[2].error, "no tile of 2")
    t.eq(rows[3].cycles, 3)
  end
  local ok, err = pcall(explore.sweep, { over = { a = { 1, 2, 3 } }, jobs = 2, run = function(p)
    if p.a == 2 then os.exit(1, false) end
    return { cycles = p.a }
  end })
  t.ok(not ok and tostring(err):find("point 2 has ended", 1, true), tostring(err))
end)

t.test("fronts and distances", function()
  math.randomseed(3)
  for _ = 1, 50 do
    local rows = {}
    for i = 1, math.random(1, 12) do rows[i] = { cycles = math.random(1, 9), memory = math.random(1, 9) } end
    local front, want = explore.front(rows, { "cycles", "memory" }), {}
    for _, a in ipairs(rows) do
      local beaten = false
      for _, b in ipairs(rows) do
        local less = b.cycles < a.cycles or b.memory < a.memory
        beaten = beaten or b.cycles <= a.cycles and b.memory <= a.memory and less
      end
      if not beaten then want[#want + 1] = a end
    end
    t.eq(front, want)
    t.eq(explore.pid(front[1], rows, { "cycles", "memory" }), 1, "a row of the front is on it")
  end
  local base = { { cycles = 10, memory = 2 }, { cycles = 4, memory = 8 } }
  t.eq(explore.pid({ cycles = 4, memory = 2 }, base, { "cycles", "memory" }), 2.5)
end)

t.test("a search over steps finds what brute force finds, and prints it", function()
  local c, routing = { B = 16, D = 16, F = 32, E = 4, k = 2, tf = 16, N = 4, bw = 64 }, {}
  for b = 1, c.B do routing[b] = { b % 3, 3 } end
  local g = models.moe(c, routing)
  local o = { reassociate = true }
  local choices = {
    { false, { "retile", "tile", 2, o }, { "retile", "tile", 8, o }, { "retile", "tile", "dynamic", o } },
    { false, { "multiplex", "tile", "done", 2, o }, { "multiplex", "tile", "done", 1, o } },
  }
  local settings = { depth = 64 }
  local all = {}
  for _, x in ipairs(choices[1]) do
    for _, y in ipairs(choices[2]) do
      local s = tide.schedule(g)
      if x then s[x[1]](s, table.unpack(x, 2)) end
      if y then s[y[1]](s, table.unpack(y, 2)) end
      local r = s:simulate(settings)
      all[#all + 1] = { cycles = r.cycles, memory = r.memory }
    end
  end
  table.sort(all, function(a, b) return a.memory < b.memory end)
  for _, limit in ipairs { all[4].memory, all[#all].memory } do
    local least = math.huge
    for _, r in ipairs(all) do
      if r.memory <= limit then least = math.min(least, r.cycles) end
    end
    for _, jobs in ipairs { 1, 2 } do
      local best, s, text, rows = explore.search(g,
        { choices = choices, simulate = settings, memory = limit, jobs = jobs })
      t.eq(best.cycles, least)
      t.eq(#rows, 12)
      t.eq(s:simulate(settings).cycles, least)
      local again = load("local s = ... return " .. text)(tide.schedule(g))
      t.eq(again:simulate(settings).cycles, least, text)
    end
  end
  local none, why = explore.search(g, { choices = choices, simulate = settings, memory = 1 })
  t.ok(not none and why:find("no combination", 1, true))
end)

t.test("CSV: quotes, empty fields, heads", function()
  t.eq(csv.parse("a,b\n1,\"x,\"\"y\n\"\n,2\r\n"), { { a = "1", b = 'x,"y\n' }, { a = "", b = "2" } })
  t.eq(csv.parse("1,2\n3,4", { head = false, numbers = true }), { { 1, 2 }, { 3, 4 } })
  local rows = { { a = 1, b = 'q"' }, { a = 2.5, b = "x\ny" } }
  t.eq(csv.parse(csv.text(rows, { "a", "b" }), { numbers = true }), rows)
  t.eq(csv.text({}, { "a" }), "a\n")
  local ok, err = pcall(csv.parse, 'a\n"x')
  t.ok(not ok and err:find "not closed")
end)

t.test("bars and boxes of several groups stand side by side; names have one place for all groups", function()
  local rows = {}
  for i, tile in ipairs { "a", "b" } do
    for k = 1, 3 do rows[#rows + 1] = { tile = tile, size = 10 * k, cycles = i * k, model = "m" .. (4 - k * i % 3) } end
  end
  local bars = plot.script(rows, { x = "size", y = "cycles", kind = "bars", by = "tile", log = "xy" })
  t.ok(bars:find("set boxwidth 0.4", 1, true) and bars:find("'10' 1, '20' 2, '30' 3", 1, true), bars)
  t.ok(bars:find("\n0.8 1\n1.8 2\n2.8 3\ne\n1.2 2\n2.2 4\n3.2 6\ne\n", 1, true), bars)
  t.ok(not bars:find("logscale x", 1, true) and bars:find("logscale y", 1, true), bars)
  local box = plot.script(rows, { x = "size", y = "cycles", kind = "box", by = "tile" })
  t.ok(box:find("using (1):2 with boxplot", 1, true) and box:find("using (2):2 with boxplot", 1, true), box)
  local lines = plot.script(rows, { x = "model", y = "cycles", by = "tile" })
  t.ok(lines:find("'m3' 1, 'm2' 2, 'm4' 3", 1, true), lines)
  t.ok(lines:find("\n1 1\n2 2\n3 3\ne\n2 2\n1 4\n3 6\ne\n", 1, true), lines)
end)

t.test("Ctrl-C in a sweep: rows that were measured are kept, and not measured again", function()
  local folder = t.tmp "sweep"
  for jobs = 1, 2 do
    local db, flag, log = folder .. jobs .. ".db", folder .. jobs .. ".go", folder .. jobs .. ".log"
    local path = folder .. jobs .. ".lua"
    local script = assert(io.open(path, "w"))
    script:write(([[
local explore = require "tide.explore"
local rows = explore.sweep { over = { i = { 1, 2, 3, 4 } }, file = %q, jobs = %d, program = "p", run = function(p)
  local f = assert(io.open(%q, "a"))
  f:write(p.i, "\n")
  f:close()
  while p.i == 3 and not io.open(%q) do end
  return { v = p.i * 2 }
end }
for _, r in ipairs(rows) do io.write(r.v, " ") end
]]):format(db, jobs, log, flag))
    script:close()
    local tide_at = arg[-1] or "./tide"
    local wait = ("until grep -q 3 %q; do sleep 0.05; done; sleep 0.3"):format(log)
    os.execute((": >%q; %q %q >%q 2>&1 & p=$!; %s; kill -INT $p; wait $p"):format(log, tide_at, path, folder .. ".out",
      wait))
    assert(io.open(flag, "w")):close()
    local pipe = io.popen(("%q %q 2>&1"):format(tide_at, path))
    t.eq(pipe:read "a", "2 4 6 8 ")
    pipe:close()
    local count = {}
    for line in io.lines(log) do count[line] = (count[line] or 0) + 1 end
    t.eq(count["1"], 1)
    if jobs == 1 then t.eq({ count["2"], count["3"], count["4"] }, { 1, 2, 1 }) end
  end
end)

t.test("a plot's script, and its text where gnuplot is not", function()
  local rows = { { tile = 8, cycles = 100, memory = 5 }, { tile = 16, cycles = 60, memory = 9 } }
  local o = { x = "memory", y = "cycles", kind = "scatter", log = "xy", front = true, by = "tile" }
  local script = plot.script(rows, o)
  t.ok(script:find("set logscale x", 1, true) and script:find("tile = 8", 1, true) and script:find("Pareto", 1, true))
  t.ok(plot.script(rows, { x = "memory", y = "cycles", file = "it's.svg" }):find("set output 'it''s.svg'", 1, true))
  t.ok(#plot(rows, { x = "memory", y = "cycles" }) > 20)
  local ok, err = pcall(plot, rows, { x = "memory", y = "cycles", kind = "pie" })
  t.ok(not ok and tostring(err):find("lines, scatter", 1, true))
  t.ok(step)
end)

t.done()
