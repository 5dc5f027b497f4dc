-- pipeline.lua - pipeline: an attribute, so only its arguments can be wrong.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local shape = prim.shape

prim.accepted("a perfect nest's inner loop", {
  of = shape.gemm, step = {"pipeline", "k"}, has = {"for k = 0, K - 1 do --@ pipeline(1)"},
  other = {{M = 1, N = 1, K = 1}},
})
prim.accepted("an interval", {
  of = shape.gemm, step = {"pipeline", "j", 4}, has = {"--@ band(PE) pipeline(4)"},
})
prim.accepted("a triangle, rewinding", {
  of = shape.triangle, step = {"pipeline", "j", 2, {rewind = true}},
  has = {"--@ pipeline(2) rewind"},
})
prim.accepted("after a split with a tail", {
  of = shape.gemm, before = function(s) s:split("k", 4) end, step = {"pipeline", "k_i"},
  has = {"for k_i = 0, 3 do --@ pipeline(1)"},
})
prim.accepted("inside a callee", {of = shape.callee, step = {"pipeline", "row:j"}})
prim.accepted("one loop, two arrays", {of = shape.scale, step = {"pipeline", "i", 1}})
prim.accepted("three dimensions", {of = shape.cube, step = {"pipeline", "v", 3}})
prim.accepted("again, with another interval and no rewinding", {
  of = shape.scale, before = function(s) s:pipeline("i", 4, {rewind = true}) end,
  step = {"pipeline", "i", 2},
}, function(s)
  t.has(tostring(s), "--@ pipeline(2)\n")
  t.ok(not tostring(s):find "rewind", "rewind stays")
end)

t.test("a bare band of one loop names its loop", function()
  local k = tide.kernel {A = tide.i32[4], function(A)
    for i in tide.grid(4, "lane") do A[i] = i end
  end}
  t.has(tostring(tide.schedule(k):pipeline "lane"), "--@ band(lane) pipeline(1)")
end)

prim.refused("an interval of nothing", {
  of = shape.gemm, step = {"pipeline", "k", 0}, kind = "usage", code = "ii"})
prim.refused("a negative interval", {
  of = shape.gemm, step = {"pipeline", "k", -2}, kind = "usage", code = "ii", match = "-2"})
prim.refused("a loop that is not there", {
  of = shape.gemm, step = {"pipeline", "kk"}, kind = "usage", code = "no-loop",
  match = "did you mean 'k'?"})
prim.refused("a loop of a kernel that is not there", {
  of = shape.callee, step = {"pipeline", "raw:i"}, kind = "usage", code = "no-unit",
  match = "did you mean 'row'?"})
prim.refused("a name that two loops have", {
  of = function()
    return tide.kernel {A = tide.i32[4], function(A)
      for i = 0, 3 do A[i] = 1 end
      for i = 0, 3 do A[i] = A[i] + 2 end
    end}, {tide.i32[4]}
  end, step = {"pipeline", "i"}, kind = "usage", code = "ambiguous-loop", match = "i#1"})

t.test("arguments of a wrong kind", function()
  local s = tide.schedule((shape.gemm {}))
  t.fails(function() s:pipeline("k", 1.5) end, {kind = "usage", code = "argument"})
  t.fails(function() s:pipeline() end, {kind = "usage", code = "argument"})
  t.fails(function() s:pipeline("k", 1, {rewind = 1}) end, {kind = "usage", code = "argument"})
  t.fails(function() s:pipeline("k", 1, {rewnid = true}) end, {kind = "usage", match = "rewind"})
end)

t.done()
