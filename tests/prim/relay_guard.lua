-- relay_guard.lua - relay: operands that are moved under clamps of tiles which differ from instance to instance, before
-- and after, at sizes below, at and above a tile; and what is not there without them.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32 = tide.i32

-- A product whose rows and columns are tiled by `by`, which does not divide them.
local function product(by)
  return function(z)
    local M, N, K = z.M or 5, z.N or 7, z.K or 3
    return tide.kernel {A = i32[M][K], B = i32[K][N], C = i32[M][N], function(A, B, C)
      for i = 0, M - 1 do
        for j = 0, N - 1 do
          for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
        end
      end
    end}, {i32[M][K], i32[K][N], i32[M][N]}
  end, function(s)
    s:split("i", by, {names = {"i", "ii"}}):split("j", by, {names = {"j", "jj"}})
    s:reorder("ii", "jj", "i", "j", "k"):buffer_at("A", "k")
    s:buffer_at("B", "k")
    s:unfold("ii", {loops = {"ii", "jj"}, name = "pe"})
  end
end

local small = {{M = 1, N = 1, K = 1}, {M = 2, N = 4}, {M = 3, N = 2}, {M = 8, N = 5}}
for by = 2, 3 do
  local of, before = product(by)
  prim.accepted(("rows go along columns: tiles of %d"):format(by), {
    of = of, before = before, step = {"relay", "A_k", "pe", {axis = 1, map = {0}}}, other = small,
  })
  prim.accepted(("columns go along rows: tiles of %d"):format(by), {
    of = of, before = function(s)
      before(s)
      s:relay("A_k", "pe", {axis = 1, name = "rows", map = {0}})
    end, step = {"relay", "B_k", "pe", {axis = 0, map = {1}}}, other = small,
  })
  prim.accepted(("one feeder for all instances: tiles of %d"):format(by), {
    of = of, before = before, step = {"relay", "A_k", "pe", {axis = 1, map = {}}}, other = small,
  }, function(s) t.has(tostring(s), "for ii_1 = 0") end)
end

prim.twins("an element that the condition keeps from being past the end", {
  no = 0, yes = 4, code = "access", step = {"relay", "x_q", "pe", {axis = 0}},
  match = "differs from neighbour to neighbour",
  before = function(s) s:buffer_at("x", "q"):unfold("p", {loops = {"p"}, name = "pe"}) end,
  of = function(more)
    return tide.kernel {x = i32[6 + more], y = i32[3][8], function(x, y)
      for p = 0, 2 do
        for k = 0, 7 do
          if k + p < 6 then for q = 0, 1 do y[p][k] = y[p][k] + x[k] * q end end
        end
      end
    end}, {i32[6 + more], i32[3][8]}
  end,
})

-- Rows of a triangle, each of which reads one element more or less.
local function triangle(falling)
  return function(z)
    local N = z.N or 4
    return tide.kernel {x = i32[N], y = i32[N], function(x, y)
      for i = 0, N - 1 do
        local from = falling and i or 0
        for j = from, falling and N - 1 or i do y[i] = y[i] + x[j] * (i + 1) end
      end
    end}, {i32[N], i32[N]}
  end
end
for _, axis in ipairs {0, -1} do
  prim.accepted("ranges that grow along the axis " .. axis, {
    of = triangle(false), before = function(s) s:buffer_at("x", "j"):unfold("i", {loops = {"i"}, name = "row"}) end,
    step = {"relay", "x_j", "row", {axis = axis, map = {}}}, other = {{N = 1}, {N = 7}},
  })
end
prim.twins("a range of which it is not known where it ends in another instance", {
  no = true, yes = false, code = "access", step = {"relay", "x_j", "row", {axis = 0, map = {}}},
  before = function(s) s:buffer_at("x", "j"):unfold("i", {loops = {"i"}, name = "row"}) end,
  of = function(square)
    return tide.kernel {x = i32[16], y = i32[4], function(x, y)
      for i = 0, 3 do
        if square then
          for j = 0, i * i do y[i] = y[i] + x[j] end
        else
          for j = 0, i * 3 do y[i] = y[i] + x[j] end
        end
      end
    end}, {i32[16], i32[4]}
  end,
})

t.done()
