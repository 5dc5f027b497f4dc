-- waves.lua - what is drawn and dumped of runs whose tasks have names that formats keep for themselves: waves are read
-- back by a reader of their own, pictures are well-formed.
-- [slow]
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local i32, f32, task, grid = tide.i32, tide.f32, tide.task, tide.grid

-- A dump as IEEE 1364 has it (18.2): its signals {name, bits, changes = {{cycle, value}}} and its last cycle.
local keyword = {}
for w in ("$comment $timescale $scope $upscope $var $enddefinitions $dumpvars"):gmatch "%S+" do keyword[w] = true end
local function read_vcd(text)
  local word = text:gmatch "%S+"
  local by_code, named, now, last = {}, {}, nil, nil
  local function section()
    local list = {}
    for w in word do
      if w == "$end" then return list end
      assert(not keyword[w], "a keyword inside a section: " .. w)
      list[#list + 1] = w
    end
    error "a section without $end"
  end
  local scopes, defined = 0, false
  for w in word do
    if w == "$scope" then
      assert(#section() == 2)
      scopes = scopes + 1
    elseif w == "$upscope" then
      assert(#section() == 0)
      scopes = scopes - 1
    elseif w == "$var" then
      local v = section()
      assert(#v == 4 and v[1] == "wire" and scopes == 1, table.concat(v, " "))
      assert(v[4]:find "^[%a_][%w_]*$", "not a plain name: " .. v[4])
      assert(not by_code[v[3]] and not named[v[4]], "twice: " .. v[4])
      by_code[v[3]] = {name = v[4], bits = tonumber(v[2]), changes = {}}
      named[v[4]] = by_code[v[3]]
    elseif w == "$enddefinitions" then
      assert(#section() == 0 and scopes == 0)
      defined = true
    elseif w == "$comment" or w == "$timescale" then
      section()
    elseif w:sub(1, 1) == "#" then
      now = assert(math.tointeger(w:sub(2)))
      assert(defined and (not last or now > last), "time goes on")
      last = now
    else
      local bits, signal = assert(w:match "^b([01]+)$", w), by_code[word()]
      assert(now and #bits <= signal.bits)
      signal.changes[#signal.changes + 1] = {now, tonumber(bits, 2)}
    end
  end
  return named, last
end

-- Fails unless the elements of a picture are closed in turn, and marks in text and attributes are entities.
local function check_xml(text)
  local open = {}
  local rest = text:gsub("<(/?)([%a]+)([^<>]*)>", function(close, name, inner)
    local attributes = inner:gsub('%s+[%w%-:]+="[^"<]*"', "")
    assert(attributes:find "^%s*/?$", "attributes: " .. inner)
    if close == "/" then
      assert(table.remove(open) == name, "closed out of turn: " .. name)
    elseif inner:sub(-1) ~= "/" then
      open[#open + 1] = name
    end
    return ""
  end)
  assert(#open == 0, "left open: " .. tostring(open[1]))
  rest = rest:gsub("&%a+;", "")
  assert(not rest:find "[&<]" and not rest:find "[\0-\8\14-\31]" and utf8.len(text), rest)
end

-- Runs a design with a clock; its waves and pictures can be read. Returns the signals and the report.
local function drawn(design, ...)
  local m = tide.schedule(design):build {target = "cpu", timed = true, trace = true}
  m(...)
  local path = t.tmp "waves"
  m.report:vcd(path)
  local signals, last = read_vcd(shell.read(path))
  t.eq(last, m.report.cycles)
  m.report:svg(path)
  check_xml(shell.read(path))
  check_xml(tide.schedule(design):graph():svg())
  t.has(m.report:timeline(30), "not running")
  for _, s in ipairs(m.report.streams) do
    local most = 0
    for _, c in ipairs((signals[s.name:gsub("%]", ""):gsub("%[", "_")] or {changes = {}}).changes) do
      most = math.max(most, c[2])
    end
    t.ok(most <= s.depth, "no more than the depth")
  end
  return signals, m.report
end

t.test("names with blanks, marks, $end, letters beyond ASCII and bytes that are none", function()
  local signals, report = drawn(tide.design(function(d)
    local z = d:stream(i32)
    d['t <&> "x" $end'] = task {function() for i in grid(3) do z:put(i) end end}
    d["ü[0] \\ \xff\n"] = task {B = i32[3], function(B) for i in grid(3) do B[i] = z:get() end end}
  end), i32[3](0))
  t.ok(signals.z and signals.t______x___end)
  local rows = {}
  for line in report:timeline(10):gmatch "[^\n]+" do rows[#rows + 1] = line end
  t.ok(#rows >= 3)
end)

t.test("names that waves cannot tell apart get numbers", function()
  local signals = drawn(tide.design(function(d)
    local z_0, z = d:stream(i32), d:stream(i32, {2})
    d.t_0 = task {function() for i in grid(3) do z_0:put(i) z[0]:put(i) z[1]:put(i) end end}
    d.t = task {map = {2}, B = i32[2][3], function(B, p) for i in grid(3) do B[p][i] = z[p]:get() end end}
    d.v = task {C = i32[3], function(C) for i in grid(3) do C[i] = z_0:get() end end}
  end), i32[2][3](0), i32[3](0))
  t.ok(signals.z_0 and signals.z_0_2 and signals.z_1 and signals.t_0 and signals.t_0_2 and signals.t_1)
end)

t.test("no cycle at all, one cycle, one task", function()
  drawn(tide.design(function(d) d.t = task {function() end} end))
  drawn(tide.design(function(d)
    local z = d:stream(i32)
    d.t = task {function() for i in grid(0) do z:put(i) end end}
    d.u = task {B = i32[3], function(B) for i in grid(0) do B[i] = z:get() end end}
  end), i32[3](0))
  drawn(tide.design(function(d) d.t = task {B = i32[1], function(B) B[0] = 1 end} end), i32[1](0))
end)

t.test("tokens that are tensors, wide words, blocks; designs inside; thousands of instances", function()
  local T = tide.uint(96)
  drawn(tide.design(function(d)
    local z, y = d:stream(T[2], {2, depth = 1}), d:stream(f32[4], {depth = 2, block = true})
    d.t = task {A = T[2], F = f32[4], function(A, F) for _ in grid(3) do z[0]:put(A) z[1]:put(A) y:put(F) end end}
    d.v = task {B = T[2], G = f32[4], function(B, G)
      for _ in grid(3) do B:set(z[0]:get()) B:set(z[1]:get()) G:set(y:get()) end
    end}
  end), T[2](3), f32[4](1), T[2](3), f32[4](1))
  local inner = tide.design(function(d)
    local z = d:stream(i32)
    d.a = task {A = i32[3], function(A) for i in grid(3) do z:put(A[i]) end end}
    d.b = task {B = i32[3], function(B) for i in grid(3) do B[i] = z:get() end end}
  end)
  drawn(tide.design(function(d)
    d.t = task {map = {2}, A = i32[3], B = i32[2][3], function(A, B, p) inner(A, B[p]) inner(A, B[p]) end}
  end), i32[3](1), i32[2][3](1))
  drawn(tide.design(function(d)
    local z = d:stream(i32, {1001})
    d.t = task {map = {1000}, function(p)
      local v = i32(0)
      if p > 0 then v = z[p]:get() end
      z[p + 1]:put(v)
    end}
    d.f = task {B = i32[1], function(B) B[0] = z[1000]:get() end}
  end, {check = false}), i32[1](0))
end)

-- The cycles for which a signal has each value, up to the last one.
local function spent(signal, last)
  local cycles = {}
  for i, c in ipairs(signal.changes) do
    local to = signal.changes[i + 1] and signal.changes[i + 1][1] or last
    cycles[c[2]] = (cycles[c[2]] or 0) + to - c[1]
  end
  return cycles
end

-- The steps of each stream of a picture: {x, y} from where its line begins to its end.
local function lines_of(svg)
  local all = {}
  for x, y, rest, stop in svg:gmatch '<path [^>]- d="M(%d+) (%d+)([^"]-)H(%d+)"/>' do
    local line = {{tonumber(x), tonumber(y)}}
    for at, to in rest:gmatch "H([%d.]+)V(%d+)" do line[#line + 1] = {tonumber(at), tonumber(to)} end
    line.stop = tonumber(stop)
    all[#all + 1] = line
  end
  return all
end

t.test("a run of 120,000 cycles: waves tell what the report does, pictures are whole and stay small", function()
  local n = 40000
  local design = tide.design(function(d)
    local go, back = d:stream(i32, {depth = 4}), d:stream(i32)
    d.ask = task {Y = i32[n], function(Y)
      for i = 0, n - 1 do
        go:put(i)
        Y[i] = back:get()
      end
    end}
    d.answer = task {function() for _ in grid(n) do back:put(go:get()) end end}
  end)
  local signals, report = drawn(design, i32[n](0))
  t.ok(report.cycles >= 100000)
  for _, x in ipairs(report.streams) do
    local most, rises = 0, 0
    for _, c in ipairs(signals[x.name].changes) do
      most, rises = math.max(most, c[2]), rises + (c[2] > 0 and 1 or 0)
    end
    t.eq({most, rises}, {x.most, x.tokens})
    t.eq(signals[x.name].changes[2 * n + 1][2], 0)
  end
  for _, x in ipairs(report.tasks) do
    local cycles = spent(signals[x.name], report.cycles)
    t.eq({cycles[1], cycles[2]}, {x.busy, x.stalled})
  end
  local svg = report:svg()
  t.ok(#svg < 100000, #svg)
  local lines = lines_of(svg)
  t.eq(#lines, 2)
  for _, line in ipairs(lines) do
    t.ok(line[#line][1] >= 879 and line.stop == 880, "the line goes on to the end")
    t.eq(line[#line][2], line[1][2])
  end
  t.ok(#report:timeline(1000) < 10000)
end)

t.test("the picture has an axis of cycles, fills of streams, and shows a part of the run", function()
  local n = 40
  local _, report = drawn(tide.design(function(d)
    local z = d:stream(i32, {depth = 4})
    d.a_task_of_a_rather_long_name = task {function() for i in grid(n) do z:put(i) end end}
    d.get = task {Y = i32[1], function(Y) for _ in grid(n) do Y[0] = Y[0] + z:get() // 3 end end}
  end), i32[1](0))
  local svg = report:svg()
  local ticks = {}
  for x in svg:gmatch '<text text%-anchor="middle"[^>]*>(%d+)</text>' do ticks[#ticks + 1] = tonumber(x) end
  t.ok(#ticks >= 3 and #ticks <= 12 and ticks[1] == 0, svg:sub(1, 400))
  for k = 3, #ticks do t.eq(ticks[k] - ticks[k - 1], ticks[2]) end
  t.has(svg, ("z %d/4"):format(report.streams.z.most))
  t.ok(svg:find "<title>busy, cycles %d+ to %d+</title>")
  local wide, left = svg:match 'viewBox="0 0 (%d+) ', svg:match '<rect x="(%d+)'
  t.ok(tonumber(left) >= 6 * #"a_task_of_a_rather_long_name" and tonumber(wide) >= tonumber(left) + 760)
  local part = report:svg {from = 10, to = 20}
  t.has(part, "cycles, from 10 to 20")
  t.eq(part:match '<text text%-anchor="middle"[^>]*>(%d+)</text>', "10")
  t.eq(report:svg {from = 0, to = report.cycles}, svg)
  local path = t.tmp "part.svg"
  report:svg(path, {from = 10, to = 20})
  t.eq(shell.read(path), part)
  for _, o in ipairs {{from = -1}, {from = 5, to = 5}, {to = report.cycles + 1}, {from = "x"}} do
    t.fails(function() report:svg(o) end, {kind = "usage", code = "option"})
  end
end)

t.test("tokens that come and go within a point of the picture are seen, and gone", function()
  local n = 50000
  local function busy(v) return v * 3 + 1 end
  local _, report = drawn(tide.design(function(d)
    local z = d:stream(i32, {depth = 4})
    local function work(X) for i in grid(n) do X[0] = busy(X[0]) + i end end
    d.t = task {X = i32[1], function(X)
      work(X)
      for k in grid(4) do z:put(k) end
      work(X)
      z:put(X[0])
    end}
    d.u = task {Y = i32[1], function(Y) for _ in grid(5) do Y[0] = Y[0] + z:get() end end}
  end), i32[1](0), i32[1](0))
  local line, x = lines_of(report:svg())[1], report.streams.z
  t.ok(x.puts[2] - x.puts[1] > n)
  local middle
  for _, step in ipairs(line) do
    if step[1] < 870 then middle = step end
  end
  t.ok(#line >= 4)
  t.eq(middle[2], line[1][2])
end)

t.test("a deadlock in the middle of a long run with a clock leaves report, file and session as they were", function()
  local n, at = 10000, 7000
  local m = tide.schedule(tide.design(function(d)
    local a, b = d:stream(i32), d:stream(i32)
    d.src = task {function()
      for i in grid(n) do
        for k in grid(4) do a:put(4 * i + k) end
        b:put(i)
      end
    end}
    d.dst = task {first = i32[n], Y = i32[n], function(first, Y)
      for i in grid(n) do
        if first[i] > 0 then Y[i] = b:get() end
        for _ in grid(4) do Y[i] = Y[i] + a:get() end
        if first[i] == 0 then Y[i] = Y[i] + b:get() end
      end
    end}
  end)):build {target = "cpu", timed = true, trace = true}
  local first, Y, path = i32[n](0), i32[n](0), t.tmp "waves"
  m(first, Y)
  local before, waves = m.report, m.report:vcd()
  before:vcd(path)
  first[at] = 1
  for _ = 1, 2 do
    local why = t.fails(function() m(first, Y):vcd(path) end, {kind = "illegal", code = "deadlock"})
    local text = tostring(why)
    t.has(text, "wait cycle: src -> a -> dst -> b -> src")
    t.has(text, ("src at i = %d, k = 2 waits to put to a, which holds 2 of 2 tokens"):format(at))
    t.has(text, ("dst at i = %d waits to get from b, which holds 0 of 2 tokens"):format(at))
    t.has(text, ("a holds %d, %d"):format(4 * at, 4 * at + 1))
  end
  t.eq(m.report, nil)
  t.fails(function() before:vcd(path) end, {kind = "usage", code = "old-report"})
  t.ok(shell.read(path) == waves)
  first[at] = 0
  m(first, Y)
  t.eq(tostring(m.report), tostring(before))
  t.ok(m.report:vcd() == waves)
end)

t.done()
