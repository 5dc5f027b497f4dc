-- reshape.lua - reshape: the same elements under other indices, and which arrays can have them.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, i16, grid = tide.i32, tide.i16, tide.grid

-- A table between two nests.
local function stages(z)
  local M, N = z.M or 10, z.N or 6
  return tide.kernel {A = i32[M][N], B = i32[M][N], function(A, B)
    local T = i32[M][N]()
    for i, j in grid(M, N) do T[i][j] = A[i][j] * 3 - j end
    for u, v in grid(M, N) do B[u][v] = T[u][v] + T[M - 1 - u][v] end
  end}, {i32[M][N], i32[M][N]}
end

-- A line.
local function line(z)
  local N = z.N or 12
  return tide.kernel {A = i16[N], B = i16[N], function(A, B)
    local T = i16[N](7)
    for i = 1, N - 1 do T[i] = A[i] end
    for i = 0, N - 1 do B[i] = T[N - 1 - i] end
  end}, {i16[N], i16[N]}
end

prim.accepted("one dimension becomes two", {
  of = line, step = {"reshape", "T", {3, 4}}, has = {"local T = i16[3][4](7)", "T[i // 4][i % 4]"},
})
prim.accepted("two become one, whose sizes are assumed", {
  of = stages, step = {"reshape", "T", 60}, has = {"local T = i32[60]()", "T[i * 6 + j]",
    "tide.assume(M == 10)", "tide.assume(N == 6)"},
})
prim.accepted("a dimension that stays keeps its name", {
  of = stages, step = {"reshape", "T", {2, 5, 6}}, other = {{N = 6}}, sizes = {N = 6},
  has = {"local T = i32[2][5][N]()", "T[i // 5][i % 5][j]"},
}, function(s) t.ok(not tostring(s):find "assume%(N", "nothing of N is assumed") end)
prim.accepted("two become four", {
  of = stages, sizes = {M = 10, N = 10}, step = {"reshape", "T", {2, 5, 2, 5}},
  has = {"T[i // 5][i % 5][j // 5][j % 5]"},
})
prim.accepted("dimensions that share no boundary", {
  of = stages, sizes = {M = 4, N = 6}, step = {"reshape", "T", {6, 4}},
  has = {"local T = i32[6][4]()"},
})
prim.accepted("extents of one", {
  of = line, step = {"reshape", "T", {1, 12, 1}}, has = {"local T = i16[1][N][1](7)"},
})
prim.accepted("three become two", {
  of = function()
    return tide.kernel {A = i32[2][3][4], B = i32[2][3][4], function(A, B)
      local T = i32[2][3][4]()
      for x, y, z in grid(2, 3, 4) do T[x][y][z] = A[x][y][z] + 1 end
      for x, y, z in grid(2, 3, 4) do B[x][y][z] = T[1 - x][y][3 - z] end
    end}, {i32[2][3][4], i32[2][3][4]}
  end, step = {"reshape", "T", {6, 4}}, has = {"T[x * 3 + y][z]"},
})
prim.accepted("after split and reorder", {
  of = stages, before = function(s) s:split("i", 5):reorder("j", "i_o") end,
  step = {"reshape", "T", {2, 5, 6}}, has = {"T[i_o + i_i // 5][i_i % 5][j]"},
})
prim.accepted("in a callee", {
  of = function()
    local turn = tide.kernel {a = i32[8], b = i32[8], function(a, b)
      local T = i32[8]()
      for i = 0, 7 do T[i] = a[i] end
      for i = 0, 7 do b[i] = T[7 - i] end
    end}
    return tide.kernel {A = i32[3][8], B = i32[3][8], function(A, B)
      for r = 0, 2 do turn(A[r], B[r]) end
    end}, {i32[3][8], i32[3][8]}
  end, step = {"reshape", "turn:T", {2, 4}}, has = {"local T = i32[2][4]()"},
})
prim.accepted("tensor statements are written out", {
  of = function()
    return tide.kernel {A = i32[4][6], B = i32[4][6], function(A, B)
      local T = i32[4][6]()
      T:set(A * 2)
      B:set(T + 1)
    end}, {i32[4][6], i32[4][6]}
  end, step = {"reshape", "T", {24}}, has = {"local T = i32[24]()"},
})
prim.accepted("a partition stays with its dimension", {
  of = stages, before = function(s) s:partition("T", 1) end, step = {"reshape", "T", {2, 5, 6}},
  has = {"local T = i32[2][5][N]() --@ partition(2, complete, 0)"},
})
prim.accepted("a buffer", {
  of = prim.shape.gemm, sizes = {K = 6}, before = function(s) s:buffer_at("A", "i") end,
  step = {"reshape", "A_i", {2, 3}}, has = {"A_i[k // 3][k % 3]"},
})
prim.twins("another number of elements", {
  of = function(N, z) return line {N = z and z.N or N} end, no = 13, yes = 12,
  step = {"reshape", "T", {3, 4}}, code = "count",
})
prim.twins("a parameter", {
  of = function(param)
    return tide.kernel {A = i32[6], B = i32[6], function(A, B)
      local T = i32[6]()
      for i = 0, 5 do
        if param then A[i] = i else T[i] = i end
      end
      for i = 0, 5 do
        if param then B[i] = A[i] else B[i] = T[i] end
      end
    end}, {i32[6], i32[6]}
  end, no = true, yes = false, step = {"reshape", "A", {2, 3}}, yes_step = {"reshape", "T", {2, 3}},
  code = "interface",
})
prim.twins("an array that is passed on", {
  of = function(passed)
    local two = tide.kernel {a = i32[6], function(a) for i = 0, 5 do a[i] = 2 * i end end}
    return tide.kernel {B = i32[6], function(B)
      local T = i32[6]()
      if passed then two(T) else for i = 0, 5 do T[i] = 2 * i end end
      for i = 0, 5 do B[i] = T[i] end
    end}, {i32[6]}
  end, no = true, yes = false, step = {"reshape", "T", {2, 3}}, code = "whole",
})
prim.refused("a constant", {
  of = function()
    local W = tide.tensor(i32[4], {1, 2, 3, 4})
    return tide.kernel {B = i32[4], function(B) for i = 0, 3 do B[i] = W[i] end end}, {i32[4]}
  end, step = {"reshape", "W", {2, 2}}, code = "class"})
prim.refused("a scalar", {
  of = function()
    return tide.kernel {B = i32[4], function(B)
      local x = i32(3)
      for i = 0, 3 do B[i] = x end
    end}, {i32[4]}
  end, step = {"reshape", "x", {1}}, kind = "usage", code = "not-an-array"})
prim.refused("the same extents", {
  of = line, step = {"reshape", "T", {12}}, kind = "usage", code = "extents"})
prim.refused("an extent of none", {
  of = line, step = {"reshape", "T", {0, 12}}, kind = "usage", code = "extents"})
prim.refused("too many dimensions", {
  of = line, step = {"reshape", "T", {12, 1, 1, 1, 1, 1, 1, 1, 1}}, kind = "usage",
  code = "extents"})
prim.refused("a size without a value", {
  of = function()
    local n = tide.size "n"
    return tide.kernel {A = i32[n], B = i32[n], function(A, B)
      local T = i32[n]()
      for i = 0, n - 1 do T[i] = A[i] end
      for i = 0, n - 1 do B[i] = T[i] end
    end}, {}
  end, step = {"reshape", "T", {4, 2}}, code = "extent-unknown"})

t.test("an index that is out of range and then in range is noted", function()
  local function notes(of, extents)
    local s = tide.schedule(of)
    s:reshape("T", extents)
    return table.concat(s:steps()[1].notes, "\n")
  end
  local function part(data)
    return tide.kernel {A = i32[3][4], c = tide.u8[1], B = i32[1], function(A, c, B)
      local T = i32[3][4]()
      for i, j in tide.grid(3, 4) do T[i][j] = A[i][j] end
      B[0] = T[1][data and c[0] or c[0] % 4]
    end}
  end
  t.has(notes(part(true), {12}), "no longer checked: whether indices of 'T'")
  t.eq(notes(part(false), {12}), "")
  t.eq(notes(part(true), {1, 3, 4}), "")
end)

t.done()
