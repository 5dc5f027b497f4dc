-- walks.lua - T2S programs with names and sizes of their own, where two features meet that other tests have apart: an
-- operand's chain on an array that carries values in tiles that do not divide. Each runs as a definition, a design and
-- with a clock against loops in plain Lua. [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local case = require "t2s_case"
local i16, i32 = tide.i16, tide.i32
local max, select = tide.max, tide.select
local Param, Var, Func = t2s.Param, t2s.Var, t2s.Func
local rows, sum, try = case.rows, case.sum, case.try

local uneven = {{H = 3, W = 4}, {H = 4, W = 6}, {H = 1, W = 7}, {H = 2, W = 8}, {H = 3, W = 1}}

try("sums over rectangles: rows summed, then columns, an operand loaded apart", function(map)
  local V, H, W, y, x, xx = Param("V", i16, 2), Param "H", Param "W", Var "y x xx"
  local R, T, load = Func("R T load", i32)
  R[y][x] = select(x:eq(0), 0, R[y][x - 1]) + i32(V[y][x])
  T[y][x] = R[y][x] + select(y:eq(0), 0, T[y - 1][x])
  T:merge_ures(R):set_bounds(y, 0, H, x, 0, W)
  if map then T:tile(x, xx, 3):unroll(xx):relay(R, {1}):isolate_producer_chain(V, load) end
  return T, {}
end, uneven, function(a, z)
  return rows(z.H, z.W, function(y, x)
    return sum(0, y, function(u) return sum(0, x, function(v) return a.V[u][v] end) end)
  end)
end, nil, {builds = true})

try("the best way through a field: elements in tiles, the field loaded apart", function(map)
  local V, H, W, y, x, yy, xx = Param("V", i16, 2), Param "H", Param "W", Var "y x yy xx"
  local R, load = Func("R load", i32)
  R[y][x] = max(select(x:eq(0), 0, R[y][x - 1]), select(y:eq(0), 0, R[y - 1][x])) + i32(V[y][x])
  R:set_bounds(y, 0, H, x, 0, W)
  if map then
    R:tile(y, x, yy, xx, 2, 3):unroll(yy, xx):relay(R, {1, 0}):relay(R, {0, 1}):isolate_producer_chain(V, load)
  end
  return R, {}
end, uneven, function(a, z)
  local best = {}
  return rows(z.H, z.W, function(y, x)
    local at = y * z.W + x
    best[at] = math.max(x > 0 and best[at - 1] or 0, y > 0 and best[at - z.W] or 0) + a.V[y][x]
    return best[at]
  end)
end, nil, {builds = true})

for _, driven in ipairs {false, true} do
  local from = driven and "a driver sends" or "are in it"
  try(("a table whose edges %s, the field loaded apart"):format(from), function(map)
    local V, H, W, y, x, xx = Param("V", i16, 2), Param "H", Param "W", Var "y x xx"
    local D, load, edge = Func("D load edge", i32)
    D[-1][-1] = 0
    D[y][-1] = y
    D[-1][x] = 2 * x
    D[y][x] = max(D[y - 1][x], max(D[y][x - 1], D[y - 1][x - 1] - 1)) + i32(V[y][x])
    D:set_bounds(y, 0, H, x, 0, W)
    if map then
      D:tile(x, xx, 3):unroll(xx):relay(D, {1}):isolate_producer_chain(V, load)
      if driven then D:isolate_producer_chain(D, edge):isolate_consumer_chain(D, edge) end
    end
    return D, {}
  end, uneven, function(a, z)
    local d = {[-1] = {[-1] = 0}}
    for x = 0, z.W - 1 do d[-1][x] = 2 * x end
    for y = 0, z.H - 1 do
      d[y] = {[-1] = y}
      for x = 0, z.W - 1 do d[y][x] = math.max(d[y - 1][x], d[y][x - 1], d[y - 1][x - 1] - 1) + a.V[y][x] end
    end
    return rows(z.H, z.W, function(y, x) return d[y][x] end)
  end, nil, {builds = "clock"})
end

t.done()
