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
  has = {"--@ partition(0, block, 2) partition(2, block, 2)"},
})
prim.accepted("another dimension, another kind", {
  of = shape.cube, before = function(s) s:partition("A", 2, {factor = 5}) end,
  step = {"partition", "A", 1, {kind = "complete"}},
  has = {"--@ partition(2, cyclic, 5) partition(1, complete, 0)"},
})
prim.accepted("a buffer", {
  of = shape.gemm, before = function(s) s:buffer_at("A", "i") end,
  step = {"partition", "A_i", 0, {factor = 3}},
  has = {"local A_i = i8[K]() --@ partition(0, cyclic, 3)"},
})
prim.accepted("a triangle's vector", {of = shape.triangle, step = {"partition", "x"}})
prim.accepted("an array of a callee that gets rows", {
  of = shape.callee, step = {"partition", "row:a", 0, {factor = 2}},
}, function(s) t.eq(select(2, tostring(s):gsub("partition", "")), 1) end)

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

prim.accepted("parts and transposes are other arrays", {
  of = function()
    local f = tide.kernel {a = i32[3][3], function(a)
      for i, j in grid(3, 3) do a[i][j] = a[i][j] + i end
    end}
    return tide.kernel {name = "parts", A = i32[3][3], B = i32[4][3], function(A, B)
      f(A:transpose())
      f(B:slice({0, 3}, {}))
    end}, {i32[3][3], i32[4][3]}
  end, step = {"partition", "f:a", 0},
}, function(s) t.eq(select(2, tostring(s):gsub("partition", "")), 1) end)

prim.twins("arrays that meet in a callee and differ", {
  of = function(rows) return chain(rows) end, no = false, yes = true,
  before = function(s) s:partition("Z", {kind = "block", factor = 2}) end,
  step = {"partition", "sum:r", 0, {factor = 3}}, code = "partitioned", kind = "usage",
})

t.test("a conflict names both arrays", function()
  local k = tide.kernel {X = i32[6], Y = i32[6], function(X, Y)
    for i = 0, 5 do Y[i] = X[i] end
  end}
  local text = [[
    local tide = require "tide"
    local i32 = tide.i32
    local f = tide.kernel {a = i32[6], --@ partition(0, block, 2)
      function(a) for i = 0, 5 do a[i] = a[i] + 1 end end}
    return tide.kernel {name = "top", X = i32[6], Y = i32[6], function(X, Y) f(X) f(Y) end}
  ]]
  local s = tide.schedule(load(text, "=conflict")())
  local before = tostring(s)
  local e = t.fails(function() s:partition("X", {factor = 3}) end,
    {kind = "illegal", code = "conflict"})
  t.has(e.message, "'X'")
  t.has(e.message, "'a' of 'f'")
  t.eq(tostring(s), before)
  s:partition("X", {factor = 2, kind = "block"})
  t.has(tostring(s), "Y = i32[6], --@ partition(0, block, 2)")
  t.ok(k, "a kernel")
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
  of = shape.cube, before = function(s) s:partition("A", 1, {factor = 2}) end,
  step = {"partition", "A"}, kind = "usage", code = "partitioned"})
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
