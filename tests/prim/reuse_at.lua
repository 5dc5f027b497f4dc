-- reuse_at.lua - reuse_at: line and window buffers, what is loaded once, and where nothing moves.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, i16, f32, grid = tide.i32, tide.i16, tide.f32, tide.grid

-- Sums of three neighbours.
local function line(z)
  local N = z.N or 10
  return tide.kernel {A = i32[N + 2], B = i32[N], function(A, B)
    for x = 0, N - 1 do B[x] = A[x] + A[x + 1] * 2 + A[x + 2] end
  end}, {i32[N + 2], i32[N]}
end

-- Rows of them.
local function blur(z)
  local M, N = z.M or 5, z.N or 8
  return tide.kernel {A = i32[M][N + 2], B = i32[M][N], function(A, B)
    for y, x in grid(M, N) do B[y][x] = A[y][x] + A[y][x + 1] + A[y][x + 2] end
  end}, {i32[M][N + 2], i32[M][N]}
end

-- A convolution that sums up where it stores, or in a scalar.
local function conv(z)
  local M, N, K = z.M or 6, z.N or 8, z.K or 3
  return tide.kernel {A = i16[M + K - 1][N + K - 1], W = i16[K][K], B = i32[M][N],
    function(A, W, B)
      for y, x in grid(M, N) do
        for r, c in grid(K, K) do B[y][x] = B[y][x] + A[y + r][x + c] * W[r][c] end
      end
    end}, {i16[M + K - 1][N + K - 1], i16[K][K], i32[M][N]}
end
local function conv_scalar()
  return tide.kernel {A = i32[10][10], B = i32[8][8], function(A, B)
    for y, x in grid(8, 8) do
      local v = i32(0)
      for r, c in grid(3, 3) do v = v + A[y + r][x + c] end
      B[y][x] = v
    end
  end}, {i32[10][10], i32[8][8]}
end

-- How often a text occurs in the printed form.
local function count(s, part)
  local _, n = tostring(s):gsub(part:gsub("%p", "%%%0"), "")
  return n
end

prim.accepted("a line of one dimension", {
  of = line, step = {"reuse_at", "A", "x"}, other = {{N = 1}, {N = 2}, {N = 17}},
  has = {"local A_x = i32[3]()", "A_x[x_shift] = A_x[x_shift + 1]", "A_x[2] = A[x + 2]",
    "A_x[0] + A_x[1] * 2 + A_x[2]"},
}, function(s, name)
  t.eq(name, "A_x")
  t.eq(count(s, "= A["), 2)
end)
prim.accepted("a row", {
  of = blur, step = {"reuse_at", "A", "x"}, has = {"local A_x = i32[3]()", "A_x[2] = A[y][x + 2]"},
  other = {{M = 1, N = 1}, {M = 3, N = 9}},
})
prim.accepted("lines of a convolution that sums up in place", {
  of = conv, step = {"reuse_at", "A", "y", {name = "lines"}}, other = {{M = 2, N = 3, K = 2}},
  has = {"local lines = i16[K]["},
}, function(_, name) t.eq(name, "lines") end)
prim.accepted("a window over lines", {
  of = conv_scalar, before = function(s) s:reuse_at("A", "y") end, step = {"reuse_at", "A_y", "x"},
  has = {"local A_y = i32[3][10]()", "local A_y_x = i32[3][3]()", "for x_load = 0, 1 do",
    "A_y[2][x + 2] = A[y + 2][x + 2]",
    "A_y_x[r_load][2] = A_y[r_load][x + 2]", "v + A_y_x[r][c]"},
}, function(s)
  t.eq(count(s, " A["), 3, "to fill the lines, for the first columns, then one element a step")
  s:partition("A_y", 0):partition("A_y_x"):pipeline("x")
  t.ok(tostring(s:estimate()):find "\n  x +8 +1 ", "the initiation interval is 1")
  t.eq(s:verify(), "strict")
end)
prim.accepted("a window of one row, without lines", {
  of = conv_scalar, step = {"reuse_at", "A", "x"}, has = {"local A_x = i32[3][3]()"},
})
prim.accepted("a loop that skips leaves gaps", {
  of = function(z)
    local N = z.N or 5
    return tide.kernel {A = i32[2 * N + 1], B = i32[N], function(A, B)
      for x = 0, N - 1 do B[x] = A[2 * x] + A[2 * x + 1] - A[2 * x + 2] end
    end}, {i32[2 * N + 1], i32[N]}
  end, step = {"reuse_at", "A", "x"}, other = {{N = 1}, {N = 8}},
  has = {"A_x[2] = A[0]", "A_x[0] = A_x[2]", "A_x[x_load + 1] = A[x * 2 + x_load + 1]"},
})
prim.accepted("a loop with a step", {
  of = function()
    return tide.kernel {A = i32[14], B = i32[12], function(A, B)
      for x = 1, 10, 3 do B[x] = A[x - 1] + A[x] + A[x + 2] + A[x + 3] end
    end}, {i32[14], i32[12]}
  end, step = {"reuse_at", "A", "x"}, has = {"local A_x = i32[5]()"},
})
prim.accepted("a box that moves down", {
  of = function()
    return tide.kernel {A = i32[11], B = i32[9], function(A, B)
      for x = 0, 8 do B[x] = A[8 - x] + A[9 - x] * 3 + A[10 - x] end
    end}, {i32[11], i32[9]}
  end, step = {"reuse_at", "A", "x"}, has = {"A_x[0] = A[8 - x]"},
})
prim.accepted("ends that the program guards", {
  of = function(z)
    local N = z.N or 11
    return tide.kernel {A = i32[N], B = i32[N], function(A, B)
      for x = 0, N - 1 do
        B[x] = A[x]
        if x > 0 then B[x] = B[x] + A[x - 1] end
        if x < N - 1 then B[x] = B[x] + A[x + 1] end
      end
    end}, {i32[N], i32[N]}
  end, step = {"reuse_at", "A", "x"}, other = {{N = 1}, {N = 2}, {N = 3}},
  has = {"if 1 <= x + x_shift then", "if x + 1 < N then"},
})
prim.accepted("three dimensions", {
  of = function()
    return tide.kernel {A = i32[6][5][7], B = i32[4][5][5], function(A, B)
      for x, y, z in grid(4, 5, 5) do B[x][y][z] = A[x][y][z] + A[x + 2][y][z + 2] end
    end}, {i32[6][5][7], i32[4][5][5]}
  end, step = {"reuse_at", "A", "x"}, has = {"local A_x = i32[3][5][7]()"},
}, function(s)
  s:reuse_at("A_x", "z")
  t.has(tostring(s), "local A_x_z = i32[3][3]()")
  t.eq(s:verify(), "strict")
end)
prim.accepted("taps whose number is a size", {
  of = function(z)
    local N, K = z.N or 7, z.K or 4
    return tide.kernel {A = i32[N + K], h = i32[K], B = i32[N], function(A, h, B)
      for x = 0, N - 1 do
        for k = 0, K - 1 do B[x] = B[x] + A[x + k] * h[k] end
      end
    end}, {i32[N + K], i32[K], i32[N]}
  end, step = {"reuse_at", "A", "x"}, other = {{N = 3, K = 1}, {N = 1, K = 6}},
  has = {"local A_x = i32[K]()", "A_x[K - 1] = A[x + K - 1]"},
}, function(s) t.eq(count(s, "if "), 0) end)
-- Rows that a kernel of fixed extents writes, `n` of them, where its caller's are sizes; and windows of rows.
local function framed(n)
  local H, O, rows = 5, 2, {n}
  local frame = tide.kernel {y = i32[7], function(y)
    for i in grid(rows[1]) do y[i] = i end
  end}
  local sums = tide.kernel {y = i32[7], z = i32[5][O], function(y, z)
    for p, o in grid(3, O) do z[p][o] = y[p] + y[p + 1] end
  end}
  return tide.kernel {z = i32[H][O], function(z)
    local y = i32[H + 2]()
    frame(y)
    sums(y, z)
  end}, {i32[H][O]}
end
prim.twins("a caller's array, of which a kernel of fixed extents has written all", {
  of = framed, no = 3, yes = 7, step = {"reuse_at", "sums:y", "sums:p"}, code = "unwritten",
})
-- Sums over windows of an array whose extent is a size of its own.
local function image(z)
  local H, P, R = z.H or 7, z.P or 4, z.R or 3
  return tide.kernel {A = i32[H], B = i32[P], function(A, B)
    for p, r in grid(P, R) do B[p] = B[p] + A[p + r] end
  end}, {i32[H], i32[P]}
end
prim.accepted("a window of a size that is not related to the extent", {
  of = image, step = {"reuse_at", "A", "p"}, other = {{H = 9, P = 5, R = 5}, {H = 3, P = 3, R = 1}},
  has = {"local A_p = i32[R]()"},
})
prim.accepted("channels, of which there may be none, are moved without a guard", {
  of = function(z)
    local C = z.C or 2
    return tide.kernel {A = i32[7][C], B = i32[5], function(A, B)
      for p, r, c in grid(5, 3, C) do B[p] = B[p] + A[p + r][c] end
    end}, {i32[7][C], i32[5]}
  end, step = {"reuse_at", "A", "p"}, other = {{C = 1}, {C = 5}}, has = {"local A_p = i32[3][C]()"},
}, function(s) t.eq(count(s, "if "), 0) end)
prim.accepted("the outer loop of a split", {
  of = line, before = function(s) s:split("x", 4) end, step = {"reuse_at", "A", "x_o"},
  has = {"local A_x_o = i32[6]()"}, other = {{N = 1}, {N = 8}, {N = 9}},
})
prim.accepted("the inner loop of a split, after reorder", {
  of = blur, before = function(s) s:split("x", 4):reorder("x_o", "y") end,
  step = {"reuse_at", "A", "x_i"}, has = {"local A_x_i = i32[3]()"},
})
prim.accepted("in a callee", {
  of = function(z)
    local M, N = z.M or 3, z.N or 6
    local row = tide.kernel {a = f32[N + 2], b = f32[N], function(a, b)
      for x = 0, N - 1 do b[x] = a[x] + a[x + 1] * 0.5 + a[x + 2] end
    end}
    return tide.kernel {A = f32[M][N + 2], B = f32[M][N], function(A, B)
      for y = 0, M - 1 do row(A[y], B[y]) end
    end}, {f32[M][N + 2], f32[M][N]}
  end, step = {"reuse_at", "a", "row:x"}, has = {"local a_x = f32[3]()"},
})
prim.accepted("a row that a call reads", {
  of = function()
    local sum = tide.kernel {w = i32[3], b = i32[1], function(w, b)
      for k = 0, 2 do b[0] = b[0] + w[k] end
    end}
    return tide.kernel {A = i32[9], B = i32[7][1], function(A, B)
      for x = 0, 6 do sum(A:slice({x, x + 3}), B[x]) end
    end}, {i32[9], i32[7][1]}
  end, step = {"reuse_at", "A", "x"}, has = {"sum(A_x, B[x])"},
})
prim.accepted("an iteration may end early", {
  of = function()
    return tide.kernel {A = i32[9], B = i32[7], function(A, B)
      for x = 0, 6 do
        B[x] = A[x] + A[x + 1] + A[x + 2]
        if B[x] > 1000000000 then break end
      end
    end}, {i32[9], i32[7]}
  end, step = {"reuse_at", "A", "x"}, undecided = true,
})
prim.accepted("a loop that perhaps does not run", {
  of = function()
    return tide.kernel {A = i32[7], B = i32[7][5], function(A, B)
      for i = 0, 6 do
        for x = i, 4 do B[i][x] = A[x] + A[x + 1] + A[x + 2] end
      end
    end}, {i32[7], i32[7][5]}
  end, step = {"reuse_at", "A", "x"}, has = {"if i < 5 then"},
})
prim.twins("an array that the loop writes", {
  of = function(inplace)
    return tide.kernel {A = i32[9], B = i32[9], function(A, B)
      for x = 1, 7 do
        if inplace then A[x] = A[x - 1] + A[x + 1] else B[x] = A[x - 1] + A[x + 1] end
      end
    end}, {i32[9], i32[9]}
  end, no = true, yes = false, step = {"reuse_at", "A", "x"}, code = "written",
})
prim.twins("a box that does not move", {
  of = function(moves)
    return tide.kernel {A = i32[9], B = i32[7], function(A, B)
      for x = 0, 6 do
        if moves then B[x] = A[x] + A[x + 1] else B[x] = A[0] + A[1] + x end
      end
    end}, {i32[9], i32[7]}
  end, no = false, yes = true, step = {"reuse_at", "A", "x"}, code = "no-motion",
})
prim.twins("boxes that share nothing", {
  of = function(step)
    return tide.kernel {A = i32[9], B = i32[4], function(A, B)
      for x = 0, 3 do B[x] = A[step * x] + A[step * x + 1] end
    end}, {i32[9], i32[4]}
  end, no = 2, yes = 1, step = {"reuse_at", "A", "x"}, code = "no-overlap",
})
prim.twins("a box that moves along a diagonal", {
  of = function(diagonal)
    return tide.kernel {A = i32[9][9], B = i32[7], function(A, B)
      for x = 0, 6 do
        if diagonal then B[x] = A[x][x] + A[x + 1][x + 1]
        else B[x] = A[x][3] + A[x + 1][4] end
      end
    end}, {i32[9][9], i32[7]}
  end, no = true, yes = false, step = {"reuse_at", "A", "x"}, code = "motion",
})
prim.twins("a local that is not all written", {
  of = function(all)
    return tide.kernel {A = i32[9], B = i32[7], function(A, B)
      local T = i32[9]()
      for x = 0, 8 do if all or x < 8 then T[x] = A[x] end end
      for x = 0, 6 do
        B[x] = T[x]
        if A[x] > 0 and x * x < 36 then B[x] = T[x + 2] end
      end
    end}, {i32[9], i32[7]}
  end, no = false, yes = true, step = {"reuse_at", "T", "x#2"}, code = "unwritten",
})
prim.accepted("a local of which a condition says what is read", {
  of = function(z)
    local N = z.N or 5
    return tide.kernel {A = i32[N + 1], B = i32[N], function(A, B)
      for o = 0, (N + 3) // 4 - 1 do
        local T = i32[5]()
        for x = 0, tide.min(4, N - o * 4) do T[x] = A[o * 4 + x] end
        for w = 0, 1 do
          for x = 0, 1 do
            if o * 4 + w * 2 + x < N then B[o * 4 + w * 2 + x] = T[w * 2 + x] + T[w * 2 + x + 1] end
          end
        end
      end
    end}, {i32[N + 1], i32[N]}
  end, step = {"reuse_at", "T", "w"}, other = {{N = 1}, {N = 4}, {N = 7}, {N = 8}},
})
prim.twins("a call that is passed more than it reads", {
  of = function(part)
    local pick = tide.kernel {w = i32[part and 3 or 9], b = i32[1], x = i32, function(w, b, x)
      b[0] = w[part and 2 or x + 2] - w[part and 0 or x]
    end}
    return tide.kernel {A = i32[9], B = i32[7][1], function(A, B)
      for x = 0, 6 do
        if part then pick(A:slice({x, x + 3}), B[x], x) else pick(A, B[x], x) end
      end
    end}, {i32[9], i32[7][1]}
  end, no = false, yes = true, step = {"reuse_at", "A", "x"}, code = "call",
})
prim.refused("places that no box holds", {
  of = function(z)
    local N = z.N or 5
    return tide.kernel {A = i32[N * N], B = i32[N], function(A, B)
      for x = 0, N - 1 do B[x] = A[x * x] end
    end}, {i32[25], i32[5]}
  end, step = {"reuse_at", "A", "x"}, code = "no-motion"})
prim.refused("an array of another kernel", {
  of = prim.shape.callee, step = {"reuse_at", "A", "row:i"}, kind = "usage", code = "units"})
prim.refused("an array that the loop does not use", {
  of = prim.shape.gemm, before = function(s) s:split("k", 2) end,
  step = {"reuse_at", "A", "Q"}, kind = "usage", code = "no-loop"})
prim.refused("a scalar parameter", {
  of = function()
    return tide.kernel {A = i32[4], x = i32, function(A, x)
      for i = 0, 3 do A[i] = x end
    end}, {i32[4], 7}
  end, step = {"reuse_at", "x", "i"}, kind = "usage", code = "not-an-array"})
prim.refused("a name that is taken", {
  of = line, step = {"reuse_at", "A", "x", {name = "B"}}, kind = "usage", code = "name"})

prim.accepted("lines whose columns another loop does not sweep evenly", {
  of = function()
    return tide.kernel {A = i32[9][9], B = i32[7][7], function(A, B)
      for y = 0, 6 do
        for x = 0, y do B[y][x] = A[y][x] + A[y + 1][x + 1] + A[y + 2][x + 2] end
      end
    end}, {i32[9][9], i32[7][7]}
  end, step = {"reuse_at", "A", "y"}, has = {"for x_load = 0, 8 do"},
})
prim.accepted("lines that a loop left by break sweeps in part", {
  of = function()
    return tide.kernel {A = i32[9][9], n = i32[7], B = i32[7][7], function(A, n, B)
      for y = 0, 6 do
        for x = 0, 6 do
          if x > 3 and y == 2 then break end
          B[y][x] = A[y][x] + A[y + 2][x + 2] + n[y]
        end
      end
    end}, {i32[9][9], i32[7], i32[7][7]}
  end, step = {"reuse_at", "A", "y"}, has = {"for x_load = 0, 8 do"},
})
prim.accepted("rows of a plane, swept", {
  of = function()
    return tide.kernel {A = i32[6][7][5], B = i32[4][5][5], function(A, B)
      for x, y, z in grid(4, 5, 5) do B[x][y][z] = A[x][y][z] - A[x + 2][y + 2][z] end
    end}, {i32[6][7][5], i32[4][5][5]}
  end, step = {"reuse_at", "A", "x"}, has = {"A_x[2][y + 2][z_load_1] = A[x + 2][y + 2][z_load_1]"},
})
prim.twins("an array that is written ahead of what is kept, or in it", {
  of = function(ahead)
    return tide.kernel {A = i32[9], B = i32[7], C = i32[7], function(A, B, C)
      for x = 0, 6 do
        A[x + ahead] = B[x] * 3
        C[x] = A[x] + A[x + 1] - A[x + 2]
      end
    end}, {i32[9], i32[7], i32[7]}
  end, no = 1, yes = 2, step = {"reuse_at", "A", "x"}, code = "written",
})
prim.twins("the same, moving down", {
  of = function(ahead)
    return tide.kernel {A = i32[9], B = i32[7], C = i32[7], function(A, B, C)
      for x = 0, 6 do
        A[6 - x + ahead] = B[x] * 3
        C[x] = A[6 - x] + A[7 - x] - A[8 - x]
      end
    end}, {i32[9], i32[7], i32[7]}
  end, no = 1, yes = 0, step = {"reuse_at", "A", "x"}, code = "written",
})

t.test("each element is loaded once", function()
  local s = tide.schedule((conv_scalar()))
  local _, lines = s:reuse_at("A", "y")
  s:reuse_at(lines, "x")
  t.eq(count(s, "= A["), 3)
  t.has(tostring(s), "for r_init = 0, 1 do\n      for x_init = 0, 9 do")
  t.has(tostring(s), "for x_load = 0, 1 do")
  t.has(tostring(s), "A_y[2][x + 2] = A[y + 2][x + 2]")
end)

-- Halide's sliding window: what compute_at has each iteration compute anew is computed once.
local function produced(what)
  return function(z)
    local N = z.N or 9
    return tide.kernel {A = i32[N], B = i32[N - 2], function(A, B)
      local T = i32[N]()
      if what == "summed" then
        for i = 0, N - 1 do
          T[i] = 0
          for k = 0, 2 do T[i] = T[i] + A[i] * k end
        end
      elseif what == "own" then
        for i = 0, N - 1 do T[i] = A[i] * 3 + i end
      else
        for i = 0, N - 1 do T[i] = A[i] * 3 end
      end
      for j = 0, N - 3 do B[j] = T[j] + T[j + 1] * 2 + T[j + 2] end
    end}, {i32[N], i32[N - 2]}
  end
end
for _, what in ipairs {"plain", "summed", "own"} do
  prim.accepted("a window that is computed in the loop: " .. what, {
    of = produced(what), before = function(s) s:compute_at("T", "j") end, step = {"reuse_at", "T", "j"},
    has = {"local T_j = i32[3]()", "for i = j + 2, j + 2 do"}, other = {{N = 3}, {N = 20}},
  }, function(s)
    s:fold_storage("T")
    t.eq((s:verify()), "strict")
  end)
end
prim.accepted("rows that are computed in the loop", {
  of = function(z)
    local H, W = z.H or 5, z.W or 6
    return tide.kernel {A = i32[H + 2][W + 2], O = i32[H][W], function(A, O)
      local B = i32[H + 2][W]()
      for y, x in grid(H + 2, W) do B[y][x] = A[y][x] + A[y][x + 1] + A[y][x + 2] end
      for v, u in grid(H, W) do O[v][u] = B[v][u] + B[v + 1][u] + B[v + 2][u] end
    end}, {i32[H + 2][W + 2], i32[H][W]}
  end, before = function(s) s:compute_at("B", "v") end, step = {"reuse_at", "B", "v"},
  other = {{H = 1, W = 1}, {H = 7, W = 2}}, has = {"for y = v + 2, v + 2 do"},
})
-- The window is computed from `from`: A, which nothing changes, or B, which the loop writes; times what `by` says.
local function computed(changes, by)
  return function()
    return tide.kernel {A = i32[9], B = i32[9], C = i32[7], function(A, B, C)
      local T = i32[9]()
      for j = 0, 6 do
        for i = j, j + 2 do
          if changes then T[i] = B[i] * 3 elseif by then T[i] = A[i] * j else T[i] = A[i] * 3 end
        end
        C[j] = T[j] + T[j + 1] - T[j + 2]
        B[j] = C[j]
      end
    end}, {i32[9], i32[9], i32[7]}
  end
end
prim.twins("a window of what the loop changes", {
  of = function(changes) return computed(changes)() end, no = true, yes = false, step = {"reuse_at", "T", "j"},
  code = "written",
})
prim.twins("a window that is another one in each iteration", {
  of = function(by) return computed(false, by)() end, no = true, yes = false, step = {"reuse_at", "T", "j"},
  code = "written",
})

t.done()
