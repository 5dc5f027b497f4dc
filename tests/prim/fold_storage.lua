-- fold_storage.lua - fold_storage: arrays whose elements die become scalars and windows; what keeps them alive.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i32, f32, grid = tide.i8, tide.i32, tide.f32, tide.grid
local shape = prim.shape

-- T is made and used, `back` elements later, in one loop.
local function window(back, z)
  local N = z and z.N or 20
  return tide.kernel {A = i32[N], B = i32[N], function(A, B)
    local T = i32[N]()
    for i = 0, N - 1 do
      T[i] = A[i] * 3
      if i >= back then B[i] = T[i] + T[i - back] end
    end
  end}, {i32[N], i32[N]}
end
local step = {"fold_storage", "T"}

prim.accepted("a scalar: elements of one iteration", {
  of = function(z)
    local N = z.N or 9
    return tide.kernel {A = i32[N], B = i32[N], function(A, B)
      local T = i32[N]()
      for i = 0, N - 1 do
        T[i] = A[i] * 3
        B[i] = T[i] + 1
      end
    end}, {i32[N], i32[N]}
  end, step = step, has = {"local T = i32()", "B[i] = T + 1"}, other = {{N = 1}, {N = 0}, {N = 30}},
})
prim.accepted("a perfect nest: buffers that are read in the loop that loads them", {
  of = shape.gemm, before = function(s) s:buffer_at("A", "j"):fuse("k_init", "k") end, step = {"fold_storage", "A_j"},
  has = {"local A_j = i8()"}, other = {{M = 2, N = 3, K = 1}, {M = 1, N = 2, K = 9}},
})
prim.accepted("a window of three", {
  of = function(z)
    local N = z.N or 12
    return tide.kernel {A = f32[N], B = f32[N], function(A, B)
      local T = f32[N]()
      for i = 0, N - 1 do T[i] = A[i] * 2.0 end
      for j = 1, N - 2 do B[j] = T[j - 1] + T[j] + T[j + 1] end
    end}, {f32[N], f32[N]}
  end,
  before = function(s)
    s:shift("j", 1):peel("i", 2):fuse("i", "j")
  end,
  step = step, has = {"local T = f32[3]()", "T[i % 3]"}, other = {{N = 3}, {N = 2}, {N = 30}},
})
prim.accepted("three lines of an image", {
  of = function(z)
    local H, W = z.H or 7, z.W or 5
    return tide.kernel {A = i32[H][W], B = i32[H][W], function(A, B)
      local T = i32[H][W]()
      for y = 0, H - 1 do
        for x = 0, W - 1 do T[y][x] = A[y][x] + 1 end
        if y >= 2 then
          for v = 0, W - 1 do B[y - 1][v] = T[y][v] + T[y - 1][v] + T[y - 2][v] end
        end
      end
    end}, {i32[H][W], i32[H][W]}
  end, step = step, has = {"local T = i32[3][W]()", "T[(y + 1) % 3][v]"}, other = {{H = 2, W = 3}, {H = 9, W = 1}},
})
prim.accepted("a row of which one element lives, in an array of many", {
  of = function(z)
    local M, N = z.M or 4, z.N or 5
    return tide.kernel {A = i32[M][N], B = i32[M][N], function(A, B)
      local T = i32[M][N]()
      for i, j in grid(M, N) do
        T[i][j] = A[i][j] * 2
        if j > 0 then B[i][j] = T[i][j] - T[i][j - 1] end
      end
    end}, {i32[M][N], i32[M][N]}
  end, step = step, has = {"local T = i32[2]()", "T[j % 2]"}, other = {{M = 1, N = 1}, {M = 5, N = 2}},
})
prim.accepted("a triangle", {
  of = function(z)
    local N = z.N or 6
    return tide.kernel {A = i32[N][N], x = i32[N], y = i32[N], function(A, x, y)
      local T = i32[N][N]()
      for i = 0, N - 1 do
        for j = 0, i do T[i][j] = A[i][j] * x[j] end
        for k = 0, i do y[i] = y[i] + T[i][i - k] end
      end
    end}, {i32[N][N], i32[N], i32[N]}
  end, step = step, has = {"local T = i32[N]()"}, other = {{N = 1}, {N = 9}},
})
prim.accepted("after a split with a tail", {
  of = function(z) return window(0, z) end, before = function(s) s:split("i", 3) end, step = step,
  has = {"local T = i32()"}, other = {{N = 1}, {N = 7}},
})
prim.accepted("inside a callee, once for each call", {
  of = function(z)
    local M, N = z.M or 3, z.N or 5
    local row = tide.kernel {a = i32[N], b = i32[N], function(a, b)
      local T = i32[N]()
      for i = 0, N - 1 do
        T[i] = a[i] * a[i]
        b[i] = T[i] + b[i]
      end
    end}
    return tide.kernel {A = i32[M][N], B = i32[M][N], function(A, B)
      for r = 0, M - 1 do row(A[r], B[r]) end
    end}, {i32[M][N], i32[M][N]}
  end, step = {"fold_storage", "row:T"}, other = {{M = 1, N = 1}},
})
prim.accepted("an array that is filled first", {
  of = function(z)
    local M, N = z.M or 4, z.N or 5
    return tide.kernel {A = i32[M][N], B = i32[M], function(A, B)
      for i = 0, M - 1 do
        local T = i32[N](7)
        for j = 0, N - 1 do
          if j > 1 then T[j] = A[i][j] B[i] = B[i] + T[j] end
        end
      end
    end}, {i32[M][N], i32[M]}
  end, step = step, has = {"local T = i32(7)"}, other = {{M = 1, N = 3}, {M = 1, N = 1}},
})
prim.twins("an array that is filled, of which not every element is written again", {
  of = function(all, z)
    local N = z and z.N or 5
    return tide.kernel {A = i32[N], B = i32[N], function(A, B)
      local T = i32[N](7)
      for j = 0, N - 1 do
        if all then
          T[j] = A[j]
        else
          if j < 2 then T[j] = A[j] end
        end
        B[j] = T[j]
      end
    end}, {i32[N], i32[N]}
  end, no = false, yes = true, step = step, code = "alive", witness = "T",
})
prim.accepted("values of the round before in time", {
  of = function(z)
    local N, R = z.N or 6, z.R or 4
    return tide.kernel {A = f32[N], function(A)
      local T = f32[R + 1][N]()
      for i = 0, N - 1 do T[0][i] = A[i] end
      for r = 0, R - 1 do
        for i = 0, N - 1 do T[r + 1][i] = T[r][N - 1 - i] * 0.5 + 1.0 end
      end
      for i = 0, N - 1 do A[i] = T[R][i] end
    end}, {f32[N]}
  end, step = step, has = {"local T = f32[2][N]()", "T[(r + 1) % 2][i]"},
  other = {{N = 1, R = 1}, {N = 3, R = 0}, {N = 5, R = 7}},
})
prim.accepted("two arrays, one of which stays", {
  of = function()
    return tide.kernel {A = i32[8], B = i32[8], function(A, B)
      local T, U = i32[8](), i32[8]()
      for i = 0, 7 do T[i] = A[i] + 1 U[i] = T[i] * 2 end
      for j = 0, 7 do B[j] = U[7 - j] end
    end}, {i32[8], i32[8]}
  end, step = step, has = {"local T = i32()", "local U = i32[8]()"},
})
prim.accepted("a partition stays with a dimension that stays", {
  of = function()
    return tide.kernel {A = i32[8][4], B = i32[8][4], function(A, B)
      local T = i32[8][4]()
      for i = 0, 7 do
        for j = 0, 3 do T[i][j] = A[i][j] + 1 end
        for j = 0, 3 do B[i][j] = T[i][3 - j] end
      end
    end}, {i32[8][4], i32[8][4]}
  end, before = function(s) s:partition("T", {0, 1}) end, step = step, has = {"i32[4]() --@ partition(0, complete, 0)"},
})
prim.accepted("the registers of Allo's Fig. 5", {
  of = function(z)
    local M, N, K = z.M or 3, z.N or 2, z.K or 5
    return tide.kernel {A = i8[M][K], B = i8[K][N], C = i32[M][N], function(A, B, C)
      for i, j in grid(M, N, "PE") do
        for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end}, {i8[M][K], i8[K][N], i32[M][N]}
  end,
  before = function(s)
    s:buffer_at("A", "j"):buffer_at("B", "j"):unfold("PE", {0, 1})
    s:relay("A_j", "PE", {axis = 1, depth = 2}):relay("B_j", "PE", {axis = 0, depth = 2})
    s:fuse("PE:k_init_1", "PE:k_init", "PE:k")
  end,
  step = {"fold_storage", "PE:A_j_1"}, has = {"local A_j_1 = i8()"},
})

prim.twins("the last element of a window too small for a fold", {
  of = window, no = 19, yes = 18, step = step, code = "alive", witness = "T",
})
prim.twins("elements that another loop reads", {
  of = function(later, z)
    local N = z and z.N or 6
    return tide.kernel {A = i32[N], B = i32[N], function(A, B)
      local T = i32[N]()
      for i = 0, N - 1 do
        T[i] = A[i] * 2
        if not later then B[i] = T[i] end
      end
      if later then
        for j = 0, N - 1 do B[j] = T[j] end
      end
    end}, {i32[N], i32[N]}
  end, no = true, yes = false, step = step, code = "alive", witness = "T",
})
prim.twins("an element that is written under a condition on data", {
  of = function(data, z)
    local N = z and z.N or 6
    return tide.kernel {A = i32[N], B = i32[N], function(A, B)
      local T = i32[N](0)
      for i = 0, N - 1 do
        if data then
          if A[i] > 0 then T[i] = A[i] end
        else
          if i < N then T[i] = A[i] end
        end
        B[i] = T[i]
      end
    end}, {i32[N], i32[N]}
  end, no = true, yes = false, step = step, code = "alive", witness = "T",
})
prim.twins("an index that data decides", {
  of = function(data, z)
    local N = z and z.N or 6
    return tide.kernel {A = i32[N], p = i32[N], B = i32[N], function(A, p, B)
      local T = i32[N](0)
      for i = 0, N - 1 do
        T[i] = A[i]
        if data then B[i] = T[tide.min(tide.max(p[i], 0), N - 1)] else B[i] = T[i] + p[i] end
      end
    end}, {i32[N], i32[N], i32[N]}
  end, no = true, yes = false, step = step, code = "alive", witness = "T",
})
prim.twins("a parameter", {
  of = function(mine)
    return tide.kernel {A = i32[6], B = i32[6], function(A, B)
      local T = i32[6]()
      for i = 0, 5 do
        if mine then
          T[i] = A[i] * 2
          B[i] = T[i]
        else
          A[i] = A[i] * 2
          T[i] = A[i]
          B[i] = T[i]
        end
      end
    end}, {i32[6], i32[6]}
  end, no = false, yes = true, step = {"fold_storage", "A"}, yes_step = step, code = "interface",
})
prim.twins("a scalar", {
  of = function(_, z) return window(1, z) end, no = 1, yes = 1,
  before = function(s) s:buffer_at("A", "i") end, step = {"fold_storage", "A_i"}, yes_step = step,
  code = "not-an-array", kind = "usage",
})
prim.twins("a row that is passed on", {
  of = function(passed)
    local sum = tide.kernel {a = i32[4], b = i32[1], function(a, b)
      for k = 0, 3 do b[0] = b[0] + a[k] end
    end}
    return tide.kernel {A = i32[5][4], B = i32[5][1], function(A, B)
      local T = i32[5][4]()
      for i = 0, 4 do
        for j = 0, 3 do T[i][j] = A[i][j] * 2 end
        if passed then sum(T[i], B[i]) else for k = 0, 3 do B[i][0] = B[i][0] + T[i][k] end end
      end
    end}, {i32[5][4], i32[5][1]}
  end, no = true, yes = false, step = step, code = "whole",
})
prim.twins("a loop that may end early", {
  of = function(leaves)
    return tide.kernel {A = i32[8], B = i32[8], function(A, B)
      local T = i32[8]()
      for i = 0, 7 do
        T[i] = A[i]
        if leaves then
          if A[i] < 0 then break end
        end
        B[i] = T[i]
      end
    end}, {i32[8], i32[8]}
  end, no = true, yes = false, step = step, code = "not-decided",
})
t.test("the witness tells the write and the read", function()
  local e = prim.refuse {of = function(z) return window(19, z) end, step = step, code = "alive", witness = "T"}
  t.eq({e.witness.element, e.witness.first.at, e.witness.second.at}, {"T[0]", "i = 19", "i = 19"})
end)

t.test("an index that no longer counts is noted where it may be out of range", function()
  local function notes(data)
    local s = tide.schedule(tide.kernel {c = tide.u8[1], B = i32[1], function(c, B)
      local T = i32[7](0)
      B[0] = T[data and c[0] or c[0] % 7]
    end})
    s:fold_storage "T"
    return table.concat(s:steps()[1].notes, "\n")
  end
  t.has(notes(true), "no longer checked: whether indices of 'T'")
  t.eq(notes(false), "")
end)

t.done()
