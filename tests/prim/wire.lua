-- wire: rows that are gone through in order become streams between tasks; rows that are not are refused, each beside an
-- accepted twin.
local t = require "tap"
local tide = require "tide"
local i32 = tide.i32

-- A kernel of three stages over N rows of M tokens: f fills X, g makes Y of X, h stores Y.
local function pipeline(o)
  local text = ([[
    local tide = require "tide"
    local i32 = tide.i32
    local N, M = 3, 4
    return tide.kernel {name = "chain", A = i32[N][M], B = i32[N][M], function(A, B)
      local X, Y = i32[N][M](0), i32[N][M](0)
      for r = 0, N - 1 do
        for c = 0, M - 1 do %s end
      end
      for r = 0, N - 1 do
        %s
      end
      for r = 0, N - 1 do
        for c = 0, M - 1 do %s end
      end
    end}]]):format(o.f or "X[r][c] = A[r][c] + 1", o.g or [[
        local at = i32(0)
        for c = 0, M - 1 do
          Y[r][c] = X[r][at] * 2
          at = at + 1
        end]], o.h or "B[r][c] = Y[r][c] - r")
  return tide.schedule(load(text)())
end

t.test("loops and counters: a task for each statement, a stream for each row", function()
  local s = pipeline {}
  local _, x, y, f, g, h = s:wire("X", {also = {"Y"}, names = {"f", "g", "h"}})
  t.eq({x, y, f, g, h}, {"X", "Y", "f", "g", "h"})
  t.eq(s:verify(), "strict")
  t.has(tostring(s), "X[r]:put(A[r][c] + 1)")
  t.has(tostring(s), "X[r]:get()")
  t.ok(not tostring(s):find "at = at", "no counter is left")
end)

t.test("outer loops as axes, depths, and then arguments from tasks that load them", function()
  local s = pipeline {}
  local loops = {}
  for _, l in ipairs(s:loops()) do if l:match "^r" then loops[#loops + 1] = l end end
  s:wire("X", {also = {"Y"}, loops = loops, names = {"f", "g", "h"}, depth = 3})
  t.has(tostring(s), "X = d:stream(i32, {N, depth = 3})")
  t.has(tostring(s), "map = {N}")
  t.eq(s:verify(), "strict")
  local turns = s:fork()
  s:wire("A", {names = {"load"}})
  t.eq(s:verify(), "strict")
  turns:wire("A", {names = {"load"}, turns = true, depth = 1})
  t.eq(turns:verify(), "strict")
  t.has(tostring(turns), "for token = 0, M - 1 do\n        for row")
  for name, depth in pairs(load(tostring(turns))():depths()) do t.eq(depth, 1, name) end
end)

t.test("a stream that counters of an array move on", function()
  local k = tide.kernel {A = i32[5][3], B = i32[5][3], function(A, B)
    local X = i32[5][3](0)
    local rest = i32[3](0)
    for i = 0, 4 do
      for s = 0, 2 do X[i][s] = A[i][s] + rest[s] end
    end
    for i = 0, 4 do
      for s = 0, 2 do B[i][s] = X[i][s] + rest[s] end
    end
  end}
  t.fails(function() tide.schedule(k):wire "X" end, {code = "shared"})
  local e = tide.kernel {A = i32[5][3], B = i32[5][3], function(A, B)
    local X = i32[5][3](0)
    for i = 0, 4 do
      for s = 0, 2 do X[i][s] = A[i][s] end
    end
    for _ = 0, 0 do
      local at = i32[3](0)
      for i = 0, 4 do
        for s = 0, 2 do
          if i >= 0 then
            B[i][s] = X[at[s]][s] + s
            at[s] = at[s] + 1
          end
        end
      end
    end
  end}
  local s = tide.schedule(e)
  s:wire "X"
  t.eq(s:verify(), "strict")
end)

-- A stage with a local in front of it that `extra` may use, too.
local function with_local(extra, loops)
  local k = tide.kernel {A = i32[5][3], B = i32[5][3], function(A, B)
    local X = i32[5][3](0)
    for i = 0, 4 do
      for s = 0, 2 do X[i][s] = A[i][s] end
    end
    local total = i32[3](0)
    for s = 0, 2 do
      for i = 0, 4 do
        total[s] = total[s] + X[i][s]
        B[i][s] = total[s]
      end
    end
    extra(B, total)
  end}
  local s = tide.schedule(k)
  s:wire("X", {loops = loops})
  return s
end

t.test("a local of one stage goes with it", function()
  local s = with_local(function() end)
  t.eq(s:verify(), "strict")
  t.eq(with_local(function(B, total) B[0][0] = total[0] end):verify(), "strict")
  t.eq(with_local(function(B, total) for s = 0, 2 do B[0][s] = total[s] end end):verify(), "strict")
  t.fails(function() with_local(function() end, {"s#2"}) end, {code = "shared"})
end)

local function refused(name, code, o, array)
  t.test(name, function()
    local e = t.fails(function() pipeline(o):wire(array or "X", {also = o.also or {"Y"}}) end, {code = code})
    t.ok(e.line and e.line > 0)
  end)
end

refused("a counter that goes by two", "order", {g = [[
        local at = i32(0)
        for c = 0, M // 2 - 1 do
          Y[r][c] = X[r][at] * 2
          at = at + 2
        end]]})
refused("a counter that begins at 1", "order", {g = [[
        local at = i32(1)
        for c = 0, M - 2 do
          Y[r][c] = X[r][at] * 2
          at = at + 1
        end]]})
refused("a counter that is used otherwise too", "order", {g = [[
        local at = i32(0)
        for c = 0, M - 1 do
          Y[r][c] = X[r][at] * at
          at = at + 1
        end]]})
refused("a counter that is not moved on by each use", "order", {g = [[
        local at = i32(0)
        for c = 0, M - 2 do
          Y[r][c] = X[r][at]
          at = at + 1
          Y[r][c] = Y[r][c] + X[r][at]
        end]]})
refused("a row read backwards", "order", {h = "B[r][c] = Y[r][M - 1 - c]"})
refused("a row read twice", "order", {h = "for _ = 0, 1 do B[r][c] = Y[r][c] end"})
refused("a row read where a condition holds", "order", {h = "if c < 2 then B[r][c] = Y[r][c] end"})
refused("an array between the stages that is not named", "shared", {also = {}})
refused("no local array", "not-an-array", {}, "A")

t.test("arrays that one statement reads and writes, in whichever order they are named", function()
  for _, right in ipairs {"X[r][c]", "X[r][c] * 2", "i32(i8(X[r][c]))"} do
    for _, names in ipairs {{"X", "Y"}, {"Y", "X"}} do
      local s = tide.schedule(load(([[
        local tide = require "tide"
        local i32, i8 = tide.i32, tide.i8
        return tide.kernel {name = "chain", A = i32[3][4], B = i32[3][4], function(A, B)
          local X, Y = i32[3][4](0), i32[3][4](0)
          for r = 0, 2 do for c = 0, 3 do X[r][c] = A[r][c] + 1 end end
          for r = 0, 2 do for c = 0, 3 do Y[r][c] = %s end end
          for r = 0, 2 do for c = 0, 3 do B[r][c] = Y[r][c] end end
        end}]]):format(right))())
      s:wire(names[1], {also = {names[2]}})
      t.eq(s:verify(), "strict", right)
      t.has(tostring(s), "X[r]:get()")
    end
  end
end)

t.test("names that no task can have are refused", function()
  for _, name in ipairs {":", "end", "", "1st"} do
    t.fails(function() pipeline {}:wire("X", {also = {"Y"}, names = {"f", name}}) end, {code = "name"})
  end
  local s = pipeline {}
  s:wire("X", {also = {"Y"}, names = {"f", "ends", "chain"}})
  t.has(tostring(s), "d.chain = tide.task {")
  t.eq(s:verify(), "strict")
end)

t.test("tasks leave alone what another one writes, also where data places the view", function()
  local function take(read, to)
    local s = tide.schedule(load(([[
      local tide = require "tide"
      local i32 = tide.i32
      local take = tide.kernel {X = i32[4], Y = i32[4], function(X, Y) X[0] = Y[1] end}
      return tide.kernel {name = "k", A = i32[3][4], B = i32[3][4], D = i32[4], p = i32[1], function(A, B, D, p)
        %s
        local row = i32[3][4]()
        for r = 0, 2 do for c = 0, 3 do row[r][c] = r + c end end
        for r = 0, 2 do for c = 0, 3 do %s[r][c] = row[r][c] end end
      end}]]):format(read, to))())
    s:wire "row"
    return s
  end
  for _, read in ipairs {"take(D, A[p[0]])", "D[0] = A[p[0]][1]", "for r = 0, 2 do D[r] = A[r][0] end"} do
    t.fails(function() take(read, "A") end, {code = "shared", match = "'A' is written by one task"})
    local s = take(read, "B")
    t.eq(s:verify {concrete = {p = tide.tensor(tide.i32[1], {2})}}, "strict")
  end
end)

t.test("an array that nothing uses has no rows", function()
  local function take(used)
    local s = tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {name = "k", B = tide.i32[3][4], C = tide.i32[3][4], function(B, C)
        local spare = tide.i32[3][4](0)
        for r = 0, 2 do for c = 0, 3 do %s = r + c end end
        for r = 0, 2 do for c = 0, 3 do B[r][c] = %s end end
      end}]]):format(used and "spare[r][c]" or "C[r][c]", used and "spare[r][c]" or "r"))())
    s:wire "spare"
    return s
  end
  t.fails(function() take(false) end, {code = "elements", match = "'spare' has no element that is used"})
  t.eq(take(true):verify(), "strict")
  local function load_of(used)
    local s = tide.schedule(tide.design(function(d)
      local A, B = d:arg(i32[4]), d:arg(i32[4])
      if used then
        d.f = tide.task {A = A, B = B, function(A, B) for c = 0, 3 do B[c] = A[c] end end}
      else
        d.f = tide.task {B = B, function(B) for c = 0, 3 do B[c] = c end end}
      end
    end))
    s:wire "A"
    return s
  end
  t.fails(function() load_of(false) end, {code = "elements", match = "'A' has no element that is used"})
  t.eq(load_of(true):verify(), "strict")
end)

t.test("a row for each instance: one that several instances read is refused", function()
  local k = tide.kernel {name = "k", A = i32[3][4], B = i32[3][2][4], function(A, B)
    for r = 0, 2 do
      for q = 0, 1 do
        for c = 0, 3 do B[r][q][c] = A[r][c] + q end
      end
    end
  end}
  local s = tide.schedule(k)
  s:unfold("r", {loops = {"r", "q"}, name = "pe"})
  t.fails(function() s:wire "A" end, {kind = "illegal"})
  local one = tide.schedule(k)
  one:unfold("r", {loops = {"r"}, name = "pe"})
  t.fails(function() one:wire "A" end, {code = "order"})
end)

t.done()
