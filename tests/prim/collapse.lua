-- collapse.lua - collapse: arrays that only hold others' elements in another arrangement go, alone and in
-- random chains of tile, pack and transpose.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, i16, grid, task = tide.i32, tide.i16, tide.grid, tide.task

-- A matrix in tiles of 4 x 8, from which a product is summed.
local function tiled(z)
  local M, K = z.M or 8, z.K or 16
  return tide.kernel {A = i16[M][K], y = i32[M], function(A, y)
    local P = i16[M // 4][K // 8][4][8]()
    for io, ko, ii, ki in grid(M // 4, K // 8, 4, 8) do P[io][ko][ii][ki] = A[io * 4 + ii][ko * 8 + ki] end
    for i = 0, M - 1 do
      for k = 0, K - 1 do y[i] = y[i] + P[i // 4][k // 8][i % 4][k % 8] * (k + 1) end
    end
  end}, {i16[M][K], i32[M]}
end

-- A result in tiles, copied to its rows.
local function untiled(z)
  local M = z.M or 8
  return tide.kernel {A = i32[M][M], C = i32[M][M], function(A, C)
    local P = i32[M // 4][4][M](0)
    for i, j, k in grid(M, M, 3) do P[i // 4][i % 4][j] = P[i // 4][i % 4][j] + A[i][j] * k end
    for i, j in grid(M, M) do C[j][i] = P[i // 4][i % 4][j] end
  end}, {i32[M][M], i32[M][M]}
end

-- One array through a copy `fill`, read by `use`.
local function through(T, fill, use)
  return tide.kernel {A = i32[4][6], B = i32[4][6], function(A, B)
    local P = T()
    fill(A, P)
    use(A, B, P)
  end}, {i32[4][6], i32[4][6]}
end
local function plain(A, P) for i, j in grid(4, 6) do P[j][i] = A[i][j] end end
local function double(_, B, P) for i, j in grid(4, 6) do B[i][j] = P[j][i] * 2 end end

prim.accepted("tiles read by rows", {
  of = tiled, step = {"collapse", "P"}, has = {"A[i][k] * (k + 1)"},
}, function(s) t.ok(not tostring(s):find("P", 1, true)) end)
prim.accepted("tiles written, copied away transposed: their first values go there", {
  of = untiled, step = {"collapse", "P"}, has = {"C[j][i] + A[i][j] * k", "tide.assume(M % 4 == 0)"},
})
prim.accepted("a transpose, at all sizes", {
  of = function(z)
    local M, N = z.M or 4, z.N or 6
    return tide.kernel {A = i32[M][N], B = i32[M][N], function(A, B)
      local P = i32[N][M]()
      for i, j in grid(M, N) do P[j][i] = A[i][j] end
      for i, j in grid(M, N) do B[i][j] = P[N - 1 - j][i] end
    end}, {i32[M][N], i32[M][N]}
  end, other = {{M = 3, N = 5}}, step = {"collapse", "P"}, has = {"A[i][N - j - 1]"},
})
prim.accepted("rows upside down", {
  of = function()
    return through(i32[4][6], function(A, P) for i, j in grid(4, 6) do P[3 - i][5 - j] = A[i][j] end end,
      function(_, B, P) for i, j in grid(4, 6) do B[i][j] = P[i][j] end end)
  end, step = {"collapse", "P"}, has = {"A[3 - i][5 - j]"},
})
prim.accepted("a tile in each turn of a loop", {
  of = function()
    return tide.kernel {A = i32[16][4], y = i32[16], function(A, y)
      for b = 0, 3 do
        local P = i32[4][4]()
        for i, j in grid(4, 4) do P[j][i] = A[b * 4 + i][j] end
        for i, j in grid(4, 4) do y[b * 4 + i] = y[b * 4 + i] + P[j][i] end
      end
    end}, {i32[16][4], i32[16]}
  end, step = {"collapse", "P"}, has = {"A[b * 4 + i][j]"},
})
prim.accepted("between two tensor statements", {
  of = function()
    return through(i32[6][4], function(A, P) P:set(A:transpose()) end,
      function(_, B, P) B:set(P:transpose() + 1) end)
  end, step = {"collapse", "P"},
})
prim.accepted("one line at a time in one nest", {
  of = function()
    return tide.kernel {A = i32[4][6], B = i32[4][6], function(A, B)
      local P = i32[4]()
      for j = 0, 5 do
        for i = 0, 3 do P[3 - i] = A[i][j] end
        for i = 0, 3 do B[i][j] = P[i] + P[3 - i] end
      end
    end}, {i32[4][6], i32[4][6]}
  end, step = {"collapse", "P"}, has = {"A[3 - i][j] + A[i][j]"},
})
prim.accepted("an element in each iteration", {
  of = function()
    return tide.kernel {A = i32[8], B = i32[8], function(A, B)
      local P = i32[8]()
      for i = 0, 7 do
        P[i] = A[7 - i]
        B[i] = P[i] + i
      end
    end}, {i32[8], i32[8]}
  end, step = {"collapse", "P"}, has = {"B[i] = A[7 - i] + i"},
})
prim.accepted("a line that is read by all", {
  of = function()
    return tide.kernel {A = i32[3][4], B = i32[3][4], function(A, B)
      local P = i32[4]()
      for i = 0, 3 do P[i] = A[1][i] end
      for i, j in grid(3, 4) do B[i][j] = P[j] * A[i][j] end
    end}, {i32[3][4], i32[3][4]}
  end, step = {"collapse", "P"}, has = {"A[1][j] * A[i][j]"},
})
prim.accepted("tokens of a stream, unpacked as they come", {
  of = function()
    return tide.design(function(d)
      local Z = d:stream(i32, {depth = 4})
      d.send = task {A = i32[4][6], function(A)
        local P = i32[2][2][2][3]()
        for io, jo, ii, ji in grid(2, 2, 2, 3) do P[io][jo][ii][ji] = A[io * 2 + ii][jo * 3 + ji] end
        for io, jo, ii, ji in grid(2, 2, 2, 3) do Z:put(P[io][jo][ii][ji]) end
      end}
      d.take = task {B = i32[4][6], function(B)
        local Q = i32[2][2][2][3]()
        for io, jo, ii, ji in grid(2, 2, 2, 3) do Q[io][jo][ii][ji] = Z:get() end
        for i, j in grid(4, 6) do B[i][j] = Q[i // 2][j // 3][i % 2][j % 3] end
      end}
    end), {i32[4][6], i32[4][6]}
  end,
  before = function(s) s:collapse("send:P") end, step = {"collapse", "take:Q"},
  has = {"Z:put(A[io * 2 + ii][jo * 3 + ji])", "B[ii + io * 2][ji + jo * 3] = Z:get()"},
})

-- A buffer of one element is a scalar.
local function product()
  local M, N, K = 4, 5, 3
  return tide.kernel {A = i16[M][K], B = i16[K][N], C = i32[M][N], function(A, B, C)
    for i, j in grid(M, N) do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}, {i16[M][K], i16[K][N], i32[M][N]}
end
prim.accepted("a scalar that buffer_at made, loaded and stored back", {
  of = product, before = function(s) s:buffer_at("C", "j") end, step = {"collapse", "C_j"},
  has = {"C[i][j] = C[i][j] + A[i][k] * B[k][j]"},
})
prim.accepted("a scalar that buffer_at made, only read", {
  of = product, before = function(s) s:buffer_at("A", "k") end, step = {"collapse", "A_k"},
  has = {"C[i][j] = C[i][j] + A[i][k] * B[k][j]"},
})
prim.twins("a scalar whose element changes before it is used", {
  of = function(other)
    return tide.kernel {A = i32[2], B = i32[2], function(A, B)
      local x = A[0]
      A[other] = B[1]
      B[0] = x * 2
    end}, {i32[2], i32[2]}
  end, no = 0, yes = 1, step = {"collapse", "x"}, code = "dependence", witness = "A",
})
prim.twins("a scalar that is none of the elements", {
  of = function(sum)
    return tide.kernel {A = i32[4], B = i32[4], function(A, B)
      for i = 0, 3 do
        local x = A[i]
        if sum then x = x + 1 end
        B[i] = x * 2
      end
    end}, {i32[4], i32[4]}
  end, no = true, yes = false, step = {"collapse", "x"}, code = "not-a-copy",
})
prim.twins("what it is filled with changes before it is used", {
  of = function(changes)
    return tide.kernel {A = i32[4], B = i32[4], function(A, B)
      local P = i32[4]()
      for i = 0, 3 do P[i] = A[3 - i] end
      for i = 0, 3 do
        if changes then A[i] = i else B[i] = 7 end
      end
      for i = 0, 3 do B[i] = P[i] + 1 end
    end}, {i32[4], i32[4]}
  end, no = true, yes = false, step = {"collapse", "P"}, code = "dependence", witness = "A",
})
prim.twins("where it goes is read before", {
  of = function(reads)
    return tide.kernel {A = i32[4], B = i32[4], y = i32[4], function(A, B, y)
      local P = i32[4]()
      for i = 0, 3 do
        P[i] = A[i] * 2
        if reads then y[i] = B[3 - i] else y[i] = A[3 - i] end
      end
      for i = 0, 3 do B[i] = P[i] end
    end}, {i32[4], i32[4], i32[4]}
  end, no = true, yes = false, step = {"collapse", "P"}, code = "dependence", witness = "B",
})
prim.twins("a second write", {
  of = function(again)
    return through(i32[6][4], plain, function(_, B, P)
      if again then P[0][0] = 5 else B[0][0] = 5 end
      for i, j in grid(4, 6) do B[i][j] = P[j][i] * 2 end
    end)
  end, no = true, yes = false, step = {"collapse", "P"}, code = "not-a-copy",
})
prim.twins("a copy that computes", {
  of = function(computes)
    return through(i32[6][4], function(A, P)
      for i, j in grid(4, 6) do
        if computes then P[j][i] = A[i][j] + 1 else P[j][i] = A[i][j] end
      end
    end, double)
  end, no = true, yes = false, step = {"collapse", "P"}, code = "not-a-copy",
})
prim.twins("elements that keep their first value", {
  of = function(part)
    return tide.kernel {A = i32[8], B = i32[8], function(A, B)
      local P = i32[8](0)
      for i = 0, part and 6 or 7 do P[i] = A[i] end
      for i = 0, 7 do B[i] = P[i] + 1 end
    end}, {i32[8], i32[8]}
  end, no = true, yes = false, step = {"collapse", "P"}, code = "covers",
})
prim.twins("elements that are not copied away", {
  of = function(part)
    return tide.kernel {A = i32[8], B = i32[8], function(A, B)
      local P = i32[8](0)
      for i = 0, 7 do P[i] = A[i] + 1 end
      for i = 0, part and 6 or 7 do B[i] = P[i] end
    end}, {i32[8], i32[8]}
  end, no = true, yes = false, step = {"collapse", "P"}, code = "covers",
})
prim.twins("one element for several", {
  of = function(sums)
    return tide.kernel {A = i32[4][4], B = i32[8], function(A, B)
      local P = i32[4][4]()
      for i, j in grid(4, 4) do
        if sums then P[i][(i + j) % 4] = A[i][j] else P[i][3 - j] = A[i][j] end
      end
      for i = 0, 3 do B[i] = P[i][i] end
    end}, {i32[4][4], i32[8]}
  end, no = true, yes = false, step = {"collapse", "P"}, code = "index",
})
prim.twins("used before it is filled, in the next iteration", {
  of = function(before)
    return tide.kernel {A = i32[4][4], B = i32[4][4], function(A, B)
      local P = i32[4]()
      for i = 0, 3 do P[i] = A[0][i] end
      for r = 0, 3 do
        if before then
          for i = 0, 3 do B[r][i] = P[i] end
          for i = 0, 3 do A[r][i] = r end
        else
          for i = 0, 3 do B[r][i] = P[i] end
        end
      end
    end}, {i32[4][4], i32[4][4]}
  end, no = true, yes = false, step = {"collapse", "P"}, code = "dependence", witness = "A",
})
prim.twins("used outside of the loop that fills it", {
  of = function(outside)
    return tide.kernel {A = i32[4][4], B = i32[4], function(A, B)
      local P = i32[4]()
      for r = 0, 3 do
        for i = 0, 3 do P[i] = A[r][i] end
        if not outside then for i = 0, 3 do B[i] = B[i] + P[i] end end
      end
      if outside then for i = 0, 3 do B[i] = P[i] * 2 end end
    end}, {i32[4][4], i32[4]}
  end, no = true, yes = false, step = {"collapse", "P"}, code = "scope",
})
prim.twins("used at another element than the iteration fills", {
  of = function(other)
    return tide.kernel {A = i32[8], B = i32[8], function(A, B)
      local P = i32[8]()
      for i = 0, 7 do
        P[i] = A[i]
        B[i] = P[other and i // 2 or i]
      end
    end}, {i32[8], i32[8]}
  end, no = true, yes = false, step = {"collapse", "P"}, code = "scope",
})
prim.twins("copied to one element from two", {
  of = function(two)
    return tide.kernel {A = i32[8], B = i32[8], function(A, B)
      local P = i32[8]()
      for i = 0, 7 do P[i] = A[i] + 1 end
      for i = 0, 7 do
        if two then B[i // 2] = P[i] else B[7 - i] = P[i] end
      end
    end}, {i32[8], i32[8]}
  end, no = true, yes = false, step = {"collapse", "P"}, code = "one-to-one",
})
prim.twins("the kernel may return before the copy", {
  of = function(returns)
    return tide.kernel {A = i32[8], B = i32[8], n = i32, function(A, B, n)
      local P = i32[8](0)
      for i = 0, 7 do P[i] = A[i] + 1 end
      if n < 3 then
        if returns then return end
        P[0] = 3
      end
      for i = 0, 7 do B[i] = P[i] end
    end}, {i32[8], i32[8], 5}
  end, no = true, yes = false, step = {"collapse", "P"}, code = "leaves",
})
prim.refused("a parameter", {of = tiled, step = {"collapse", "A"}, code = "interface"})
prim.refused("a scalar argument", {
  of = function()
    return tide.kernel {B = i32[4], x = i32, function(B, x)
      for i = 0, 3 do B[i] = x end
    end}, {i32[4], 3}
  end, step = {"collapse", "x"}, kind = "usage", code = "not-an-array"})
-- A tile in each turn of a loop, passed to a kernel that adds it to another tile.
local function passed(tiled)
  local add = tide.kernel {a = i32[2][2][4], b = i32[2][2][4], function(a, b)
    for x, y, v in grid(2, 2, 4) do b[x][y][v] = b[x][y][v] + a[x][y][v] end
  end}
  return tide.kernel {A = i32[4][8], B = i32[2][2][4], function(A, B)
    local P = i32[2][2][4]()
    for x, y, v in grid(2, 2, 4) do
      if tiled then P[x][y][v] = A[x * 2 + y][v] else P[x][y][v] = A[y * 2][x * 4 + v] end
    end
    add(P, B)
  end}, {i32[4][8], i32[2][2][4]}
end
local function columns(z)
  local add = tide.kernel {a = i32[3][4], b = i32[3][4], function(a, b)
    for x, y in grid(3, 4) do b[x][y] = b[x][y] + a[x][y] end
  end}
  return tide.kernel {A = i32[4][z], B = i32[4][z], function(A, B)
    for c = 0, z // 3 - 1 do
      local P = i32[3][4]()
      local Q = i32[3][4](0)
      for x, y in grid(3, 4) do P[x][y] = A[y][c * 3 + x] end
      add(P, Q)
      for x, y in grid(3, 4) do B[y][c * 3 + x] = Q[x][y] end
    end
  end}, {i32[4][z], i32[4][z]}
end
prim.accepted("a buffer that is passed on: a view takes its place", {
  of = function() return columns(6) end, step = {"collapse", "P"},
  has = {"A:slice({}, {c * 3, c * 3 + 3}):transpose()"},
})
prim.accepted("a result that is made by a call", {
  of = function() return columns(6) end, step = {"collapse", "Q"},
  has = {"B:slice({}, {c * 3, c * 3 + 3}):transpose()"},
})
prim.refused("an array that is passed on in an arrangement that no view has", {
  of = function() return passed(true) end, step = {"collapse", "P"}, code = "whole"})
prim.accepted("once the call is inlined, it has", {
  of = function() return passed(true) end, before = function(s) s:inline "add" end,
  step = {"collapse", "P"},
})

-- A buffer that is loaded, added to and stored; `early`: it holds something before; `turned`: it is loaded backwards.
local function buffered(early, turned)
  return tide.kernel {A = i32[4][6], B = i32[4][6], function(A, B)
    for i = 0, 3 do
      local P = i32[6]()
      if early then for j = 0, 5 do P[j] = A[i][j] + 1 end end
      for j = 0, 5 do
        if turned then P[j] = B[i][5 - j] else P[j] = B[i][j] end
      end
      for j = 0, 5 do
        if A[i][j] > 0 then P[j] = P[j] + A[i][j] end
      end
      for j = 0, 5 do B[i][j] = P[j] end
    end
  end}, {i32[4][6], i32[4][6]}
end
prim.accepted("a buffer that is loaded from where it is stored: both copies go", {
  of = function()
    return tide.kernel {A = i32[4][6], B = i32[6][5], C = i32[4][5], function(A, B, C)
      for i, j, k in grid(4, 5, 6) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end}, {i32[4][6], i32[6][5], i32[4][5]}
  end, before = function(s) s:buffer_at("C", "i") end, step = {"collapse", "C_i"},
  has = {"C[i][j] = C[i][j] + A[i][k] * B[k][j]"},
}, function(s) t.ok(not tostring(s):find("C_i", 1, true)) end)
prim.twins("loaded in the order in which it is stored", {
  of = function(turned) return buffered(false, turned) end, no = true, yes = false,
  step = {"collapse", "P"}, code = "dependence", witness = "B",
})
prim.twins("loaded before it is computed", {
  of = function(early) return buffered(early, false) end, no = true, yes = false,
  step = {"collapse", "P"}, code = "dependence", witness = "B",
})

-- Rows of A, in tiles, through a stream of blocks; `z` says how they are put and got.
local function blocks(z)
  local computes, several = z.computes or false, z.several or false
  return tide.design(function(d)
    local Z = d:stream(i32[2][3][4][8], {several and 2 or 1, depth = 2})
    d.send = task {A = i32[32][24], function(A)
      for b in grid(4) do
        local P = i32[2][3][4][8]()
        for io, jo, ii, ji in grid(2, 3, 4, 8) do
          if computes then P[io][jo][ii][ji] = A[b * 8 + io * 4 + ii][jo * 8 + ji] + 1
          else P[io][jo][ii][ji] = A[b * 8 + io * 4 + ii][jo * 8 + ji] end
        end
        Z[0]:put(P)
        if several then Z[1]:put(P) end
      end
    end}
    d.take = task {B = i32[24][32], function(B)
      for b in grid(4) do
        local T = Z[0]:get()
        local U = i32[24][8]()
        for j, i in grid(24, 8) do U[j][i] = T[i // 4][j // 8][i % 4][j % 8] end
        if several then
          local V = Z[1]:get()
          for j, i in grid(24, 8) do U[j][i] = V[i // 4][j // 8][i % 4][j % 8] end
        end
        for j, i in grid(24, 8) do B[j][b * 8 + i] = U[j][i] * 2 end
      end
    end}
  end), {i32[32][24], i32[24][32]}
end
prim.accepted("packed before a stream and unpacked after it", {
  of = function() return blocks {} end, step = {"collapse", "Z"},
  has = {"Z[0]:put(A:slice({b * 8, b * 8 + 8}, {}))", "U[j][i] = T[i][j]", "d:stream(i32[8][24]"},
}, function(s)
  local notes = table.concat(s:steps()[1].notes, "\n")
  t.has(notes, "'T' is 'Z' at <0; (2, 96)(3, 8)(4, 24)(8, 1)>")
  t.has(notes, "'U' is 'Z' at <0; (24, 1)(8, 24)>")
end)
prim.accepted("and what unpacked it vanishes too", {
  of = function() return blocks {} end, before = function(s) s:collapse "Z" end,
  step = {"collapse", "take:U"}, has = {"B[j][b * 8 + i] = T[i][j] * 2"},
})
prim.accepted("a transpose on the way to two tasks' streams of one array, each its own", {
  of = function()
    return tide.design(function(d)
      local X, Y = d:stream(i32[6][4]), d:stream(i32[4][6])
      d.turn = task {A = i32[4][6], function(A)
        local P = i32[6][4]()
        for i, j in grid(4, 6) do P[j][i] = A[i][j] end
        X:put(P)
      end}
      d.back = task {function()
        local T = X:get()
        local Q = i32[4][6]()
        for i, j in grid(4, 6) do Q[i][j] = T[j][i] end
        Y:put(Q)
      end}
      d.take = task {B = i32[4][6], function(B) B:set(Y:get() + 1) end}
    end), {i32[4][6], i32[4][6]}
  end, before = function(s) s:collapse "X" end, step = {"collapse", "Y"}, has = {"Y:put(T)"},
})
prim.twins("tokens that are computed", {
  of = function(computes) return blocks {computes = computes} end, no = true, yes = false,
  step = {"collapse", "Z"}, code = "not-a-copy",
})
prim.twins("put twice", {
  of = function(several) return blocks {several = several} end, no = true, yes = false,
  step = {"collapse", "Z"}, code = "ends",
})
prim.refused("elements", {
  of = function()
    return tide.design(function(d)
      local Z = d:stream(i32)
      d.send = task {A = i32[4], function(A) for i in grid(4) do Z:put(A[i]) end end}
      d.take = task {B = i32[4], function(B) for i in grid(4) do B[i] = Z:get() end end}
    end), {i32[4], i32[4]}
  end, step = {"collapse", "Z"}, code = "token"})
prim.twins("changed between the copy and the put", {
  of = function(changes)
    return tide.design(function(d)
      local Z = d:stream(i32[6][4])
      d.send = task {A = i32[4][6], function(A)
        local P = i32[6][4]()
        for i, j in grid(4, 6) do P[j][i] = A[i][j] end
        if changes then A[0][0] = 1 end
        Z:put(P)
      end}
      d.take = task {B = i32[6][4], function(B)
        local T = Z:get()
        B:set(T)
      end}
    end), {i32[4][6], i32[6][4]}
  end, no = true, yes = false, step = {"collapse", "Z"}, code = "dependence", witness = "A",
})

-- Chains: each array is the one before with a dimension tiled or two in turn; a seed decides.

local seed = 1
local function roll(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % n
end

-- All index vectors of a box.
local function indices(extents)
  local all = {{}}
  for _, n in ipairs(extents) do
    local longer = {}
    for _, i in ipairs(all) do
      for v = 0, n - 1 do longer[#longer + 1] = table.move(i, 1, #i, 1, {[#i + 1] = v}) end
    end
    all = longer
  end
  return all
end

-- The ordinal of the element at these indices (as text) in extents e, as text.
local function ordinal(at, e)
  local sum = "0"
  for d = 1, #e do sum = ("(%s) * %d + %s"):format(sum, e[d], at[d]) end
  return sum
end

-- The text of a copy from `from` to `to` after a random step on the extents e, which it changes; place[x] lists where
-- in A the elements of x come from.
local function link(from, to, e, place)
  local at, loops = {}, {}
  for d = 1, #e do at[d], loops[d] = "i" .. d, e[d] end
  local source = table.concat(at, "][")
  local d = 1 + roll(#e)
  local tile = e[d] % 2 == 0 and 2 or 3
  if roll(2) == 0 and #e < 5 and e[d] % tile == 0 and e[d] > tile then
    table.insert(at, d, at[d] .. " // " .. tile)
    at[d + 1] = at[d + 1] .. " % " .. tile
    table.insert(e, d, e[d] // tile)
    e[d + 1] = tile
  else
    local other = 1 + roll(#e)
    at[d], at[other] = at[other], at[d]
    e[d], e[other] = e[other], e[d]
  end
  local target = table.concat(at, "][")
  local names = {}
  for k = 1, #loops do names[k] = "i" .. k end
  local move = load(("local %s = ... return %s, %s"):format(table.concat(names, ", "), ordinal(at, e),
    ordinal(names, loops)))
  place[to] = {}
  for _, i in ipairs(indices(loops)) do
    local k, was = move(table.unpack(i))
    place[to][k] = place[from][was]
  end
  return ("    local %s = i32[%s]()\n    for %s in grid(%s) do %s[%s] = %s[%s] end\n"):format(to,
    table.concat(e, "]["), table.concat(names, ", "), table.concat(loops, ", "), to, target, from, source)
end

-- States that a note of a step, "'x' is 'y' at <o; (n, s)..>", holds for each element.
local function check_note(note, place)
  local x, y, offset, digits = note:match "^'(%w+)' is '(%w+)' at <(%-?%d+);(.*)>$"
  if not x then return 0 end
  local extents, strides = {}, {}
  for n, s in digits:gmatch "%((%d+), (%-?%d+)%)" do
    extents[#extents + 1], strides[#strides + 1] = tonumber(n), tonumber(s)
  end
  local all = indices(extents)
  t.eq(#all, #place[x] + 1, note)
  for k, i in ipairs(all) do
    local at = tonumber(offset)
    for d = 1, #i do at = at + i[d] * strides[d] end
    t.eq(place[x][k - 1], place[y][at], note)
  end
  return 1
end

t.test("random chains vanish, and each step says where what is left lies", function()
  local collapsed, checked = 0, 0
  for _ = 1, 500 do
    local e, text, from, n, place = {4, 6}, {}, "A", 1 + roll(5), {A = {}}
    for k = 0, 23 do place.A[k] = k end
    for k = 1, n do
      text[k] = link(from, "P" .. k, e, place)
      from = "P" .. k
    end
    local names = {}
    for d = 1, #e do names[d] = "x" .. d end
    local list = table.concat(names, "][")
    local shape = table.concat(e, "][")
    local source = ([[
local tide = require "tide"
local i32, grid = tide.i32, tide.grid
return tide.kernel {name = "chain", A = i32[4][6], B = i32[%s], function(A, B)
%s    for %s in grid(%s) do B[%s] = %s[%s] * 3 end
end}]]):format(shape, table.concat(text), table.concat(names, ", "), table.concat(e, ", "), list, from, list)
    local s = tide.schedule(load(source)())
    local order = {}
    for k = 1, n do table.insert(order, 1 + roll(k), k) end
    for _, k in ipairs(order) do
      s:collapse("P" .. k)
      collapsed = collapsed + 1
    end
    for _, step in ipairs(s:steps()) do
      for _, note in ipairs(step.notes) do checked = checked + check_note(note, place) end
    end
    t.eq(s:verify(), "strict", source)
    t.ok(not tostring(s):find "P%d", "all is gone")
    t.ok(not tostring(s):find "local P", tostring(s))
  end
  t.ok(collapsed > 100 and checked > collapsed + 500, ("%d arrays, %d notes"):format(collapsed, checked))
end)

t.done()
