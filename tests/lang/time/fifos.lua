-- fifos.lua - depths by rates and by runs with a clock: worked examples, chains, joins, random designs, deadlock.
-- [slow]
local t = require "tap"
local tide = require "tide"
local i32, task = tide.i32, tide.task

-- The text of a stage: each iteration, one in ii cycles, gets from all inputs and puts the sum to all outputs; a stage
-- without the one or the other reads or writes an argument.
local function stage(s, N)
  local gets, puts, param = {}, {}, nil
  for _, z in ipairs(s.from or {}) do gets[#gets + 1] = z .. ":get()" end
  for _, z in ipairs(s.to or {}) do puts[#puts + 1] = z .. ":put(x)" end
  if not s.from then param, gets[1] = "A_" .. s.name, "A_" .. s.name .. "[i]" end
  if not s.to then param, puts[1] = "B_" .. s.name, "B_" .. s.name .. "[i] = x" end
  return ("  d.%s = tide.task {%s\n    function(%s)\n      for i = 0, %d do --@ pipeline(%d)\n" ..
    "        local x = i32(%s)\n        %s\n      end\n    end}\n"):format(s.name,
    param and ("%s = i32[%d],"):format(param, N) or "", param or "", N - 1, s.ii, table.concat(gets, " + "),
    table.concat(puts, "\n        "))
end

-- A design of stages over streams; `depths` by name, else 2.
local function design(N, streams, stages, depths)
  local text = {"local tide = require 'tide'\nlocal i32 = tide.i32\nreturn tide.design(function(d)\n"}
  for _, z in ipairs(streams) do
    text[#text + 1] = ("  local %s = d:stream(i32, {depth = %d})\n"):format(z, depths and depths[z] or 2)
  end
  for _, s in ipairs(stages) do text[#text + 1] = stage(s, N) end
  text[#text + 1] = "end)\n"
  return assert(load(table.concat(text), "=design"))()
end

-- Rows by the name of the stream; the sum of the terms is what the depths differ by.
local function rows(r)
  local by_name = {}
  for _, x in ipairs(r.streams) do
    by_name[x.name] = x
    local sum = 0
    for _, term in ipairs(x.terms) do
      sum = sum + term.by
      t.has(tostring(r), ("%s: %+d %s: %s"):format(x.name, term.by, term.term, term.why))
    end
    t.eq(sum, x.timed - x.rates, "the terms of " .. x.name)
  end
  return by_name
end

-- Cycles that all tasks lose at these depths.
local function stalled(d, depths, device)
  local s = tide.schedule(d)
  for name, n in pairs(depths) do s:depth(name, n) end
  local m, args = s:build {target = "cpu", timed = true, device = device}, {}
  for i, p in ipairs(d.params) do args[i] = tide.random(p.type, i) end
  m(table.unpack(args))
  local sum = 0
  for _, x in ipairs(m.report.tasks) do sum = sum + x.stalled end
  return sum
end

-- The depths of the runs are enough, and one less of any is not.
local function check_timed(d, r, device)
  local deep, depths = {}, {}
  for _, x in ipairs(r.streams) do deep[x.name], depths[x.name] = math.max(1, x.tokens), x.timed end
  local without = stalled(d, deep, device)
  t.eq(stalled(d, depths, device), without, "depths of the runs")
  for name, n in pairs(depths) do
    if n > 1 then
      depths[name] = n - 1
      local ok, sum = pcall(stalled, d, depths, device)
      t.ok(not ok and sum.code == "deadlock" or ok and sum > without, "one less of " .. name)
      depths[name] = n
    end
  end
end

t.test("a fast source and a slow destination", function()
  local d = design(8, {"z"}, {{name = "p", ii = 1, to = {"z"}}, {name = "c", ii = 2, from = {"z"}}})
  local r = d:fifos {device = "ideal"}
  local z = rows(r).z
  t.eq({z.put, z.get}, {{tokens = 1, cycles = 1}, {tokens = 1, cycles = 2}})
  t.eq({z.from, z.to, z.tokens}, {"p", "c", 8})
  -- Eq. 4: 8 put in 8 cycles, 4 of them gone: 8 - 4 + 1. In the run the first is gone one cycle after its put: of 8, 4
  -- are gone when the last one comes, and the place of the fourth is free only the cycle after.
  t.eq({z.rates, z.timed, z.least}, {5, 5, 1})
  t.ok(tostring(r):find "^stream +tokens +put +get +rates +timed +least", "side by side")
  t.eq({z.terms[1].term, z.terms[2].term}, {"start", "registers"})
  t.has(tostring(r), "z: +1 registers: a place is free only the cycle after its token was got")
  t.eq({r.device, r.deadlock, r.feedback}, {"ideal", false, false})
  check_timed(d, r, "ideal")
  t.eq(d:rates {device = "ideal"}[1].depth, 5)
end)

t.test("a chain of three stages: the slowest sets the pace of all that follow", function()
  local d = design(24, {"y", "z"}, {{name = "a", ii = 3, to = {"y"}}, {name = "b", ii = 1, from = {"y"}, to = {"z"}},
    {name = "c", ii = 4, from = {"z"}}})
  local r = d:fifos {device = "ideal"}
  local x = rows(r)
  t.eq({x.y.get, x.z.put, x.z.get}, {{tokens = 1, cycles = 3}, {tokens = 1, cycles = 3}, {tokens = 1, cycles = 4}})
  -- 24 tokens in 72 cycles, 18 of them gone.
  t.eq({x.y.rates, x.z.rates}, {1, 7})
  check_timed(d, r, "ideal")
end)

t.test("rates of loops that are not pipelined, and of several tokens an iteration", function()
  local d = tide.design(function(d)
    local y, z = d:stream(i32), d:stream(i32)
    d.a = task {A = i32[12], function(A)
      for i = 0, 5 do --@ pipeline(3)
        y:put(A[2 * i])
        y:put(A[2 * i + 1])
      end
    end}
    d.b = task {function()
      for i = 0, 3 do
        local sum = i32(0)
        for k = 0, 2 do --@ pipeline(1)
          sum = sum + y:get()
        end
        z:put(sum)
      end
    end}
    d.c = task {B = i32[4], function(B)
      for i = 0, 3 do --@ pipeline(1)
        B[i] = z:get()
      end
    end}
  end)
  local by = {}
  for _, e in ipairs(d:rates {device = "ideal"}) do by[e.name] = e end
  t.eq(by.y.put, {tokens = 2, cycles = 3})
  t.eq({by.y.get.tokens, by.y.tokens, by.z.tokens, by.z.put.tokens}, {1, 12, 4, 1})
  t.ok(by.z.put.cycles >= 4.5, "three tokens of y for each, at 2 in 3 cycles")
  rows(d:fifos {device = "ideal"})
end)

-- a sends to c straight and through b, which hands nothing on before it has `ahead` tokens.
local function reconvergent(ahead, depth)
  return tide.design(function(d)
    local x, y, z = d:stream(i32, {depth = depth}), d:stream(i32), d:stream(i32)
    d.a = task {A = i32[16], function(A)
      for i = 0, 15 do --@ pipeline(1)
        x:put(A[i])
        y:put(A[i])
      end
    end}
    d.b = task {function()
      local held = i32[16](0)
      for n = 0, 16 // ahead - 1 do
        for i = 0, ahead - 1 do --@ pipeline(1)
          held[i] = y:get()
        end
        for i = 0, ahead - 1 do --@ pipeline(1)
          z:put(held[i])
        end
      end
    end}
    d.c = task {B = i32[16], function(B)
      for i = 0, 15 do --@ pipeline(1)
        B[i] = x:get() + z:get()
      end
    end}
  end, {check = false})
end

t.test("paths that meet again: depths by rates deadlock and are refused", function()
  local d = reconvergent(8, 16)
  local r = d:fifos {device = "ideal"}
  local x = rows(r)
  t.ok(x.x.least > 1, "the straight way must hold what the other keeps back")
  t.ok(x.x.rates < x.x.least, "which rates do not know")
  t.eq(r.deadlock, true)
  t.has(tostring(r), "rates: refused, these depths deadlock")
  t.eq(x.x.safe, x.x.least)
  local function at(depth)
    return pcall(stalled, reconvergent(8, 16), {x = depth, y = x.y.safe, z = x.z.safe}, "ideal")
  end
  t.eq({at(x.x.safe)}, {true, select(2, at(x.x.safe))})
  local ok, e = at(x.x.rates)
  t.eq({ok, e.code}, {false, "deadlock"})
  check_timed(d, r, "ideal")
  local twin = reconvergent(1, 16):fifos {device = "ideal"}
  t.eq({twin.deadlock, rows(twin).x.safe}, {false, rows(twin).x.rates})
end)

t.test("an array of streams, a schedule that has become a design, lanes", function()
  local M, N = 3, 16
  local d = tide.design(function(d)
    local Z = d:stream(i32, {M})
    local V = d:stream(i32[4]) --@ lanes(2)
    d.a = task {map = {M}, A = i32[M][N]:layout "S0R", function(A, m)
      for i = 0, N - 1 do --@ pipeline(1)
        Z[m]:put(A[0][i])
      end
    end}
    d.b = task {function()
      for i = 0, N - 1 do --@ pipeline(2)
        V:put(i32[4](Z[0]:get() + Z[1]:get() + Z[2]:get()))
      end
    end}
    d.c = task {B = i32[N][4], function(B)
      for i = 0, N - 1 do --@ pipeline(5)
        B[i]:set(V:get())
      end
    end}
  end)
  local r = d:fifos()
  t.eq({#r.streams, #d:rates(), r.device}, {2, 4, "u280"})
  rows(r)
  check_timed(d, r, "u280")
  local k = tide.kernel {A = i32[N], C = i32[N], function(A, C)
    local B = i32[N]()
    for i = 0, N - 1 do B[i] = A[i] + 1 end
    for n = 0, N - 1 do C[n] = B[n] * 2 end
  end}
  local s = tide.schedule(k):pipeline("i"):pipeline("n", 2):relay("B", "n")
  local x = rows(s:fifos {device = "ideal"}).B
  t.eq({x.rates, x.timed}, {9, 9})
  t.eq((s:depth("B", x.timed):verify()), "strict")
end)

t.test("a block stream: buffers are held to the end of their scope", function()
  local d = tide.design(function(d)
    local Z = d:stream(i32[8], {block = true, depth = 2})
    d.a = task {A = i32[4][8], function(A)
      for n = 0, 3 do
        local b = Z:slot()
        for i = 0, 7 do --@ pipeline(1)
          b[i] = A[n][i]
        end
        Z:put(b)
      end
    end}
    d.b = task {B = i32[4][8], function(B)
      for n = 0, 3 do
        local b = Z:get()
        for i = 0, 7 do --@ pipeline(1)
          B[n][i] = b[i] + 1
        end
      end
    end}
  end)
  local r = d:fifos {device = "ideal"}
  t.eq(rows(r).Z.timed, 2, "a double buffer")
  check_timed(d, r, "ideal")
end)

t.test("random designs", function()
  local state = 20
  local function random(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return (state >> 12) % n
  end
  local deeper, differ = 0, 0
  for _ = 1, 40 do
    local N, n, streams, stages = 4 + random(20), 2 + random(4), {}, {}
    for i = 1, n do stages[i] = {name = "s" .. i, ii = 1 + random(4)} end
    for i = 2, n do
      for _ = 0, random(2) do
        local from, z = stages[1 + random(i - 1)], ("z%d"):format(#streams)
        from.to, stages[i].from = from.to or {}, stages[i].from or {}
        streams[#streams + 1], from.to[#from.to + 1] = z, z
        table.insert(stages[i].from, 1 + random(#stages[i].from + 1), z)
      end
    end
    local d = design(N, streams, stages)
    local r = d:fifos {device = "ideal"}
    rows(r)
    check_timed(d, r, "ideal")
    for _, x in ipairs(r.streams) do
      deeper, differ = deeper + (x.timed > 2 and 1 or 0), differ + (x.timed ~= x.rates and 1 or 0)
    end
  end
  t.ok(deeper > 10 and differ > 10, "some need more than two places, some differ")
end)

t.test("circles", function()
  local function ring(II)
    return load(([[
      local tide = require "tide"
      local i32 = tide.i32
      return tide.design(function(d)
        local y, z = d:stream(i32), d:stream(i32)
        d.a = tide.task {A = i32[9], function(A)
          y:put(A[0])
          for i = 0, 7 do --@ pipeline(2)
            y:put(z:get() + A[i + 1])
          end
          A[0] = z:get()
        end}
        d.b = tide.task {function()
          for i = 0, 8 do --@ pipeline(%d)
            z:put(y:get())
          end
        end}
      end)]]):format(II), "=ring")()
  end
  for II = 1, 4 do
    local r = ring(II):fifos {device = "ideal"}
    t.eq(type(r.feedback), "boolean")
    t.eq(#r.streams, 2)
  end
end)

t.test("what the data decides needs data", function()
  local d = tide.design(function(d)
    local Z = d:stream(i32)
    d.a = task {A = i32[8], function(A)
      for i = 0, 7 do
        if A[i] > 0 then Z:put(A[i]) end
      end
      Z:put(-1)
    end}
    d.b = task {B = i32[9], function(B)
      local n, x = tide.index(0), Z:get()
      while x > 0 do --@ bound(9)
        B[n] = x
        n = n + 1
        x = Z:get()
      end
    end}
  end)
  local r = d:fifos {device = "ideal", args = {i32[8](3), i32[9](0)}}
  t.eq({r.streams[1].tokens, r.streams[1].rates, r.streams[1].least, #r.streams[1].terms}, {9, nil, nil, 0})
  t.ok(r.streams[1].timed >= 1, "by the run")
end)

t.test("wrong questions", function()
  local d = design(8, {"z"}, {{name = "p", ii = 1, to = {"z"}}, {name = "c", ii = 2, from = {"z"}}})
  local k = tide.kernel {A = i32[2], function(A) A[0] = 1 end}
  t.fails(function() k:fifos() end, {code = "argument"})
  t.fails(function() k:rates() end, {code = "argument"})
  t.fails(function() tide.schedule(k):fifos {} end, {code = "argument"})
  t.fails(function() d:fifos {devise = "ideal"} end, {kind = "usage"})
  t.fails(function() d:fifos {device = "nothing"} end, {kind = "usage"})
  t.fails(function() d:fifos {args = {1}} end, {kind = "usage"})
  t.fails(function() d:rates {args = {}} end, {kind = "usage"})
  t.fails(function() reconvergent(8, 16):rates {device = 3} end, {kind = "usage"})
end)

t.done()
