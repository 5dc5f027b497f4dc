-- directives.lua - each directive on definitions of one, two and three dimensions and on a triangle: what is taken is
-- proved and equal to the definition; its twin, which differs in one fact, is refused with a code at its line. [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local i32 = tide.i32
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume

-- Definitions: F, its loops outermost first, an operand that does not depend on the loop `free`, sizes.
local shapes = {}

shapes["1-D"] = function()
  local x, c, N, i = Param("x", i32, 1), Param("c", i32, 1), Param "N", Var "i"
  local F = Func("F", i32)
  F[i] = x[i] * c[0] + 1
  F:set_bounds(i, 0, N)
  return {F = F, loops = {i}, op = c, free = i, size = N, at = {{N = 4}, {N = 8}}, last = {N - 1}, past = {N}}
end

shapes["2-D"] = function()
  local x, w, N, M, i, j = Param("x", i32, 2), Param("w", i32, 1), Param "N", Const "M", Var "i j"
  local F = Func("F", i32)
  F[i] = 0
  F[i] = F[i] + x[i][j] * w[j]
  F:set_bounds(i, 0, N, j, 0, M)
  return {F = F, loops = {i, j}, op = w, free = i, size = N, at = {{N = 4}, {N = 8}}, last = {N - 1}, past = {N},
    consts = {M = 4}}
end

shapes["3-D"] = function()
  local A, B, N, K, M = Param("A", i32, 2), Param("B", i32, 2), Param "N", Param "K", Const "M"
  local i, j, k = Var "i j k"
  local F = Func("F", i32)
  F[i][j] = 0
  F[i][j] = F[i][j] + A[j][k] * B[i][k]
  F:set_bounds(i, 0, N, j, 0, K, k, 0, M)
  return {F = F, loops = {i, j, k}, op = A, free = i, size = N, at = {{N = 4, K = 3}, {N = 2, K = 5}},
    last = {N - 1, K - 1}, past = {N - 1, K}, consts = {M = 4}}
end

shapes.triangle = function()
  local L, x, N, i, j = Param("L", i32, 2), Param("x", i32, 1), Param "N", Var "i j"
  local F = Func("F", i32)
  F[i] = 0
  F[i] = F[i] + L[i][j] * x[j]
  F:set_bounds(i, 0, N, j, 0, i + 1)
  return {F = F, loops = {i, j}, op = x, free = i, size = N, at = {{N = 4}, {N = 6}}, last = {N - 1}, past = {N}}
end

-- The shape with its outermost loop in tiles of 2, and those in space; a chain of its operand.
local function tiled(s)
  s.ii = Var "ii"
  assume.divisible(s.size, 2)
  s.F:tile(s.loops[1], s.ii, 2)
end
local function spread(s)
  tiled(s)
  s.F:unroll(s.ii)
end
local function chained(s, n)
  spread(s)
  s.near, s.far = Func "near far"
  if n == 2 then s.F:isolate_producer_chain(s.op, s.far, s.near) else s.F:isolate_producer_chain(s.op, s.near) end
  s.F:relay(s.op, {1})
end

local none = Var "none" -- a loop that nothing has

-- Each directive: its code where it is refused, and what is said, rightly or not.
local rows = {
  {"set_bounds", "t2s-bounds", function(s, right) if not right then s.F:set_bounds(s.loops[1], 0, 3) end end},
  {"tile", "t2s-tile", function(s, right) s.F:tile(right and s.loops[1] or none, Var "ii", 2) end},
  {"reorder", "t2s-reorder", function(s, right)
    tiled(s)
    s.F:reorder(s.ii, right and s.loops[1] or none)
  end},
  {"unroll", "t2s-unroll", function(s, right)
    tiled(s)
    s.F:unroll(right and s.ii or none)
  end},
  {"isolate_producer_chain", "t2s-isolate", function(s, right)
    spread(s)
    s.F:isolate_producer_chain(right and s.op or Param("q", i32, 1), Func "near")
  end},
  {"isolate_consumer_chain", "t2s-isolate", function(s, right)
    spread(s)
    s.F:isolate_consumer_chain(right and s.F or s.op, Func "near")
  end},
  {"relay", "t2s-relay", function(s, right)
    spread(s)
    s.F:isolate_producer_chain(s.op, Func "near"):relay(s.op, right and {-1} or {0})
  end},
  {"relay of a result", "t2s-relay", function(s, right)
    spread(s)
    s.F:isolate_consumer_chain(s.F, Func "near"):relay(right and s.F or s.op, {-1})
  end},
  {"buffer", "t2s-buffer", function(s, right)
    chained(s, 2)
    s.near:buffer(s.op, right and s.loops[1] or none)
  end},
  {"buffer DOUBLE", "t2s-buffer", function(s, right)
    chained(s, 2)
    s.near:buffer(s.op, right and s.loops[1] or none, t2s.DOUBLE)
  end},
  {"remove", "t2s-remove", function(s, right)
    chained(s, 2)
    s.far:remove(s.free)
    if right then s.near:buffer(s.op) end
  end},
  {"set_min_depth", "t2s-depth", function(s, right)
    chained(s, 1)
    s.near:set_min_depth(s.op, right and s.F or Func "other", 5)
  end},
  {"store", "t2s-store", function(s, right) s.F:store(table.unpack(right and s.last or s.past)) end},
  {"vectorize", "t2s-vectorize", function(s, right)
    chained(s, 1)
    local inner = s.loops[#s.loops]
    s.F:vectorize(right and inner or none)
    s.near:vectorize(inner)
  end},
}

-- Without a loop of a known length inside, there are no lanes.
local lanes = {["2-D"] = true, ["3-D"] = true}

for _, name in ipairs {"1-D", "2-D", "3-D", "triangle"} do
  for _, row in ipairs(rows) do
    t.test(("%s, %s"):format(row[1], name), function()
      local wrong = shapes[name]()
      local consts = wrong.consts or {}
      local e = t.fails(function()
        row[3](wrong, false)
        t2s.design(wrong.F, consts)
      end, {code = row[2]})
      t.ok(e.line and e.line > 0, "at the user's line")
      local right = shapes[name]()
      row[3](right, true)
      if row[1] == "vectorize" and not lanes[name] then
        t.fails(function() t2s.design(right.F, consts) end, {code = "t2s-vectorize"})
        return
      end
      local net, verdict = t2s.design(right.F, consts)
      t.has(tostring(verdict), "proved: strict")
      for _, z in ipairs(right.at) do
        local at, k, args, want = net:at(z), t2s.kernel(right.F, consts):at(z), {}, {}
        for n, q in ipairs(k.params) do
          args[n] = n < #k.params and tide.random(q.type, n, {lo = -9, hi = 9}) or q.type(0)
          want[n] = n < #k.params and args[n] or q.type(0)
        end
        at(table.unpack(args))
        k(table.unpack(want))
        t.ok(args[#args]:equal(want[#want]))
      end
    end)
  end
end

t.done()
