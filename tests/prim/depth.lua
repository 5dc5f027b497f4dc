-- depth.lua - depth: streams hold what they are told to, if the design still runs.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i32 = tide.i8, tide.i32

-- Two stages, and a stream of scalars or of blocks between them.
local function stages()
  return tide.kernel {a = i32[6], b = i32[6], function(a, b)
    local m = i32[6]()
    for i = 0, 5 do m[i] = a[i] + 1 end
    for n = 0, 5 do b[n] = m[n] * 2 end
  end}, {i32[6], i32[6]}
end

-- A first stage that puts to two streams in turn, and a second that gets all of one first.
local function crossed()
  return tide.kernel {a = i32[6], b = i32[6], function(a, b)
    local c, d = i32[6](), i32[6]()
    for i = 0, 5 do
      c[i] = a[i]
      d[i] = a[i] * 2
    end
    for n = 0, 5 do b[n] = c[n] + d[5 - n] end
  end}, {i32[6], i32[6]}
end

prim.accepted("a stream of blocks", {
  of = stages, before = function(s) s:dataflow() end, step = {"depth", "m_s", 1},
  has = {"depth = 1, block = true"},
})
prim.accepted("a stream of scalars", {
  of = stages, before = function(s) s:relay("m", "n") end, step = {"depth", "m", 7},
  has = {"depth = 7"},
})
prim.accepted("an array of streams", {
  of = function()
    return tide.kernel {A = i8[3][4], y = i32[3][2], function(A, y)
      for i, j in tide.grid(3, 2, "PE") do
        for k = 0, 3 do y[i][j] = y[i][j] + A[i][k] end
      end
    end}, {i8[3][4], i32[3][2]}
  end,
  before = function(s)
    s:buffer_at("A", "j"):unfold("PE")
    s:relay("A_j", "PE", {axis = 1})
  end,
  step = {"depth", "A_j", 5}, has = {"{3, 2, depth = 5}"},
})
prim.accepted("the stream of a design that is called", {
  of = function()
    local inner = stages()
    return tide.kernel {a = i32[6], b = i32[6], function(a, b)
      inner(a, b)
      b[0] = 1
    end}, {i32[6], i32[6]}
  end,
  before = function(s) s:dataflow("stages") end, step = {"depth", "stages:m_s", 4},
})
prim.accepted("a stream that no other design has", {
  of = function()
    local inner = stages()
    return tide.kernel {a = i32[6], b = i32[6], function(a, b)
      inner(a, b)
      b[0] = 1
    end}, {i32[6], i32[6]}
  end,
  before = function(s) s:dataflow("stages") end, step = {"depth", "m_s", 3},
})

prim.refused("fewer tokens than the design needs", {
  of = crossed, before = function(s) s:relay("c", "n", {depth = 6}) end, step = {"depth", "c", 4},
  code = "deadlock",
})
prim.refused("no token at all", {
  of = stages, before = function(s) s:dataflow() end, step = {"depth", "m_s", 0},
  kind = "usage", code = "depth",
})
prim.refused("a stream that is not there", {
  of = stages, before = function(s) s:dataflow() end, step = {"depth", "m", 2},
  kind = "usage", code = "no-stream",
})
prim.refused("a kernel has no streams", {
  of = stages, step = {"depth", "m_s", 2}, kind = "usage", code = "no-stream",
})
prim.refused("a stream of several designs", {
  of = function()
    local one, two = stages(), stages()
    one, two = one:as "one", two:as "two"
    return tide.kernel {a = i32[6], b = i32[6], function(a, b)
      one(a, b)
      two(a, b)
    end}, {i32[6], i32[6]}
  end,
  before = function(s) s:dataflow("one"):dataflow("two") end, step = {"depth", "m_s", 3},
  kind = "usage", code = "ambiguous-stream",
})
t.test("the least depth is enough", function()
  local s = tide.schedule((crossed()))
  s:relay("c", "n", {depth = 6}):depth("c", 6)
  t.eq((s:verify()), "strict")
end)

t.done()
