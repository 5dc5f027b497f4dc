-- partition.lua - partition: kinds, dimensions, arrays passed whole, refusals.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, grid = tide.i32, tide.grid
local shape = prim.shape

prim.accepted("all dimensions, completely", {
  of = shape.gemm, step = {"partition", "C"},
  has = {"C = i32[M][N], --@ partition(0, complete, 0) partition(1, complete, 0)"},
})
prim.accepted("cyclic because there is a factor", {
  of = shape.gemm, step = {"partition", "A", 1, {factor = 2}},
  has = {"A = i8[M][K], --@ partition(1, cyclic, 2)"}, other = {{K = 7}},
})
prim.accepted("blocks of two dimensions", {
  of = shape.cube, step = {"partition", "B", {0, 2}, {kind = "block", factor = 2}},
  has = {"--@ partition(0, complete, 0) partition(2, block, 2)"},
})
prim.accepted("another dimension, another kind", {
  of = shape.cube, before = function(s) s:partition("A", 2, {factor = 4}) end,
  step = {"partition", "A", 1, {kind = "complete"}},
  has = {"--@ partition(2, cyclic, 4) partition(1, complete, 0)"},
})
prim.accepted("a buffer", {
  of = shape.gemm, before = function(s) s:buffer_at("A", "i") end,
  step = {"partition", "A_i", 0, {factor = 3}},
  has = {"local A_i = i8[K]() --@ partition(0, cyclic, 3)"},
})
prim.accepted("after a split with a tail", {
  of = shape.gemm, before = function(s) s:split("k", 4) end, step = {"partition", "A", 1, {factor = 4}},
  other = {{M = 2, N = 2, K = 9}},
})
prim.accepted("a triangle's vector", {of = shape.triangle, step = {"partition", "x"}})
prim.accepted("an array of a callee that gets rows: so do the rows", {
  of = shape.callee, step = {"partition", "row:a", 0, {factor = 2}},
}, function(s) t.eq(select(2, tostring(s):gsub("partition", "")), 2) end)

-- Two results of one kernel feed another one.
local function chain(between)
  local N = 6
  local twice = tide.kernel {a = i32[N], b = i32[N], function(a, b)
    for i = 0, N - 1 do b[i] = a[i] * 2 end
  end}
  local sum = tide.kernel {p = i32[N], q = i32[N], r = i32[N], function(p, q, r)
    for i = 0, N - 1 do r[i] = p[i] + q[i] end
  end}
  local whole = tide.kernel {X = i32[N], Y = i32[N], Z = i32[N], W = i32[2][N],
    function(X, Y, Z, W)
      local u = i32[N]()
      local v = i32[N]()
      twice(X, u)
      twice(Y, v)
      if between then sum(u, v, W[0]) else sum(u, v, Z) end
    end}
  return whole, {i32[N], i32[N], i32[N], i32[2][N]}
end

prim.accepted("an array passed whole takes the others along", {
  of = function() return chain(false) end, step = {"partition", "u", 0, {factor = 3}},
}, function(s)
  local text = tostring(s)
  for _, line in ipairs {"local u = i32[N]()", "local v = i32[N]()", "b = i32[N],", "p = i32[N],",
    "q = i32[N],"} do
    t.has(text, line .. " --@ partition(0, cyclic, 3)")
  end
  t.eq(select(2, text:gsub("partition", "")), 5)
  t.eq(#s:steps()[1].notes, 4)
end)

-- A callee that gets a transpose, a range of rows, every other column.
local function parts()
  local f = tide.kernel {a = i32[4][4], function(a)
    for i, j in grid(4, 4) do a[i][j] = a[i][j] + i end
  end}
  return tide.kernel {name = "parts", A = i32[4][4], B = i32[8][4], C = i32[4][8],
    function(A, B, C)
      f(A:transpose())
      f(B:slice({0, 4}, {}))
      f(C:slice({}, {0, 8, 2}))
    end}, {i32[4][4], i32[8][4], i32[4][8]}
end
prim.accepted("a transpose has the other dimension, a range the same turns of banks", {
  of = parts, step = {"partition", "f:a", 0, {factor = 2}},
  has = {"A = i32[4][4], --@ partition(1, cyclic, 2)\n", "B = i32[8][4], --@ partition(0, cyclic, 2)\n",
    "C = i32[4][8], --@ partition(0, cyclic, 2)\n"},
})
prim.accepted("blocks of a range are no blocks of the whole", {
  of = parts, step = {"partition", "f:a", 0, {kind = "block", factor = 2}},
  has = {"A = i32[4][4], --@ partition(1, block, 2)\n", "B = i32[8][4], --@ partition(0, complete, 0)\n",
    "C = i32[4][8], --@ partition(0, block, 2)\n"},
})
prim.accepted("elements some apart need banks of their own", {
  of = parts, step = {"partition", "f:a", 1, {factor = 2}},
  has = {"A = i32[4][4], --@ partition(0, cyclic, 2)\n", "C = i32[4][8], --@ partition(1, complete, 0)\n"},
})
prim.accepted("more banks than a part needs do no harm", {
  of = parts, step = {"partition", "B", 0, {kind = "block", factor = 2}},
}, function(s) t.eq(select(2, tostring(s):gsub("partition", "")), 1) end)

-- What a chain of steps makes of the only dimension of an array of 24.
local function meets(name, steps, want, note)
  prim.accepted(name, {
    of = function()
      local f = tide.kernel {a = i32[24], function(a)
        for i = 0, 23 do a[i] = a[i] + i end
      end}
      return tide.kernel {name = "top", X = i32[24], Y = i32[24], function(X, Y) f(X) f(Y) end},
        {i32[24], i32[24]}
    end,
    before = function(s)
      for i = 1, #steps - 1 do s:partition(table.unpack(steps[i])) end
    end,
    step = {"partition", table.unpack(steps[#steps])},
  }, function(s)
    t.eq(select(2, tostring(s):gsub(want:gsub("%p", "%%%0"), "")), 3, "a, X and Y")
    if note then t.has(table.concat(s:steps()[#steps].notes, "\n"), note) end
  end)
end
local function cyclic(n) return {factor = n} end
local function block(n) return {kind = "block", factor = n} end
meets("cyclic 4 and 6 meet in 12", {{"X", 0, cyclic(4)}, {"Y", 0, cyclic(6)}},
  "partition(0, cyclic, 12)", "'X' of 'top' is cyclic 12 in dimension 0, where it was cyclic 4")
meets("cyclic 8 and 9 meet in one bank each", {{"X", 0, cyclic(8)}, {"Y", 0, cyclic(9)}},
  "partition(0, complete, 0)")
meets("block 2 and 3 meet in 6", {{"f:a", 0, block(2)}, {"Y", 0, block(3)}}, "partition(0, block, 6)")
meets("cyclic 4 and block 2 meet in one bank each", {{"X", 0, cyclic(4)}, {"f:a", 0, block(2)}},
  "partition(0, complete, 0)")
meets("blocks that do not divide meet in one bank each", {{"X", 0, block(5)}, {"Y", 0, block(10)}},
  "partition(0, complete, 0)")
meets("a finer one takes over", {{"X", 0, cyclic(2)}, {"Y", 0, cyclic(8)}}, "partition(0, cyclic, 8)")
meets("as many banks as elements", {{"X", 0, cyclic(24)}}, "partition(0, complete, 0)")
for name, coarse in pairs {["a coarser one gains nothing"] = cyclic(2), ["nor does the same"] = cyclic(8)} do
  prim.refused(name, {
    of = function()
      return tide.kernel {A = i32[24], function(A)
        for i = 0, 23 do A[i] = A[i] + 1 end
      end}, {i32[24]}
    end,
    before = function(s) s:partition("A", 0, cyclic(8)) end, step = {"partition", "A", 0, coarse},
    kind = "usage", code = "partitioned", match = "cyclic 8 in dimension 0 already",
  })
end

prim.accepted("arrays that meet in a callee", {
  of = function() return chain(false) end,
  before = function(s) s:partition("Z", {kind = "block", factor = 2}) end,
  step = {"partition", "sum:r", 0, {factor = 3}}, has = {"Z = i32[N], --@ partition(0, complete, 0)"},
})

t.test("two schedules that share an array are composed in one layout", function()
  local N = 24
  local first = tide.kernel {a = i32[N], b = i32[N], function(a, b)
    for i = 0, N - 1 do b[i] = a[i] * 2 end
  end}
  local second = tide.kernel {p = i32[N], q = i32[N], function(p, q)
    for i = 0, N - 1 do q[i] = p[i] + 1 end
  end}
  local top = tide.kernel {A = i32[N], C = i32[N], function(A, C)
    local T = i32[N]()
    first(A, T)
    second(T, C)
  end}
  local one = tide.schedule(first):partition("b", {factor = 4})
  local s = tide.schedule(top):compose(one)
  s:compose(tide.schedule(second):partition("p", {factor = 6}))
  for _, line in ipairs {"b = i32[N],", "p = i32[N],", "local T = i32[N]()"} do
    t.has(tostring(s), line .. " --@ partition(0, cyclic, 12)")
  end
  t.eq((s:verify()), "strict")
  t.eq(tostring(load(s:log())(top)), tostring(s), "the log")
  -- A step that the other schedule has made already does nothing, here and in the log.
  local u = tide.schedule(top):compose(one):compose(tide.schedule(second):partition("p", {factor = 4}))
  t.has(tostring(u), "local T = i32[N]() --@ partition(0, cyclic, 4)")
  t.eq(tostring(load(u:log())(top)), tostring(u), "the log")
end)

-- An interface as it is written: the caller's array and the callee's parameter with their marks.
local function written(caller, callee)
  return load(([[
    local tide = require "tide"
    local i32 = tide.i32
    local f = tide.kernel {a = i32[8], %s
      function(a) for i = 0, 7 do a[i] = a[i] + 1 end end}
    return tide.kernel {name = "top", X = i32[8], %s
      function(X) f(X) end}
  ]]):format(callee, caller), "=written")()
end
t.test("a caller offers what its callee needs", function()
  local c4, c2 = "--@ partition(0, cyclic, 4)", "--@ partition(0, cyclic, 2)"
  local e = t.fails(function() tide.schedule(written(c2, c4)):build {target = "hls"} end,
    {kind = "illegal", code = "interface"})
  t.has(e.message, "'X' of 'top' is cyclic 2 in dimension 0, but is passed as 'a' of 'f', " ..
    "which needs cyclic 4")
  t.eq({e.file, e.line}, {"written", 6})
  t.has(e.help, [[s:partition("top:X", 0, {kind = "cyclic", factor = 4})]])
  for _, both in ipairs {{c4, c4}, {c4, c2}, {"--@ partition(0, complete, 0)", c4}, {c2, ""}} do
    t.ok(tide.schedule(written(both[1], both[2])):build {target = "hls"}, both[1])
  end
  t.fails(function() tide.schedule(written("", c4)):build {target = "hls"} end, {code = "interface"})
  t.fails(function()
    tide.schedule(written("--@ partition(0, block, 2)", c2)):build {target = "hls"}
  end, {code = "interface"})
  -- The step that the help names makes it one layout.
  local s = tide.schedule(written(c2, c4)):partition("top:X", 0, {kind = "cyclic", factor = 4})
  t.eq(select(2, s:build {target = "hls"}.source:gsub("type=cyclic dim=1 factor=4", "")), 2)
end)

t.test("one function has one set of pragmas, whatever its callers ask for", function()
  local s = tide.schedule((chain(false))):partition("twice:b", 0, cyclic(2)):partition("r", 0, cyclic(3))
  local source = s:build {target = "hls"}.source
  local seen = {}
  for name, text in source:gmatch "array_partition variable=(%w+) (type=[^\n]*)" do
    seen[name] = (seen[name] or "") .. text
  end
  t.eq(seen, {u = "type=cyclic dim=1 factor=2", v = "type=cyclic dim=1 factor=2",
    b = "type=cyclic dim=1 factor=2", p = "type=cyclic dim=1 factor=2",
    q = "type=cyclic dim=1 factor=2", r = "type=cyclic dim=1 factor=3", Z = "type=cyclic dim=1 factor=3"})
  t.eq((s:verify()), "strict")
end)

local function wrong(name, code, ...)
  prim.refused(name, {of = shape.cube, step = {"partition", ...}, kind = "usage", code = code})
end
wrong("no such array", "no-array", "Q")
wrong("no such dimension", "dimension", "A", 3)
wrong("a negative dimension", "dimension", "A", -1)
wrong("a dimension twice", "dimension", "A", {1, 1})
wrong("no dimension", "dimension", "A", {}, {factor = 2})
wrong("cyclic without a factor", "factor", "A", 0, {kind = "cyclic"})
wrong("block without a factor", "factor", "A", 0, {kind = "block"})
wrong("complete with a factor", "factor", "A", 0, {kind = "complete", factor = 2})
wrong("one bank", "factor", "A", 0, {factor = 1})
wrong("no bank", "factor", "A", 0, {factor = 0})
wrong("more banks than elements", "factor", "A", 1, {kind = "block", factor = 4})
prim.refused("a dimension again", {
  of = shape.cube, before = function(s) s:partition("A", 1) end, step = {"partition", "A", 1},
  kind = "usage", code = "partitioned"})
prim.refused("all dimensions after one of them", {
  of = shape.cube, before = function(s) s:partition("A", 1) end,
  step = {"partition", "A"}, kind = "usage", code = "partitioned"})
prim.accepted("all dimensions after some banks of one of them", {
  of = shape.cube, before = function(s) s:partition("A", 2, {factor = 2}) end,
  step = {"partition", "A"},
  has = {"--@ partition(2, complete, 0) partition(0, complete, 0) partition(1, complete, 0)"}})
prim.refused("a scalar", {
  of = function()
    return tide.kernel {A = i32[3], function(A)
      local x = i32(1)
      for i in grid(3) do x = x + A[i] end
      A[0] = x
    end}, {i32[3]}
  end, step = {"partition", "x"}, kind = "usage", code = "not-an-array"})

prim.twins("a name that two arrays have", {
  no = true, yes = false, kind = "usage", code = "ambiguous-array", step = {"partition", "row"},
  of = function(twice)
    return tide.kernel {A = i32[3], function(A)
      for i in grid(3) do
        local row = i32[2](i)
        A[i] = A[i] + row[1]
      end
      if twice then
        local row = i32[2](1)
        A[0] = row[0]
      end
    end}, {i32[3]}
  end,
})

t.done()
