-- unify.lua - unify: two kernels that share their loops and are told which one to be, and which calls
-- can be one.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, grid = tide.i32, tide.grid

local N = 4

-- Kernels over the same loops.
local function product()
  return tide.kernel {A = i32[N][N], B = i32[N][N], C = i32[N][N], name = "mm", function(A, B, C)
    for i, j in grid(N, N) do
      C[i][j] = 0
      for k = 0, N - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
end
local function sum()
  return tide.kernel {A = i32[N][N], B = i32[N][N], C = i32[N][N], name = "add", function(A, B, C)
    for i, j in grid(N, N) do C[i][j] = A[i][j] + B[i][j] end
  end}
end

-- Calls of both on parts of arrays, `order` being 1 for each product.
local function layers(order)
  return function()
    local mm, add = product(), sum()
    local n = #order
    local a, b, c, d = order[1], order[2], order[3] or 2, order[4] or 2
    return tide.kernel {X = i32[n][N][N], Y = i32[n][N][N], Z = i32[n][N][N], function(X, Y, Z)
      if a == 1 then mm(X[0], Y[0], Z[0]) else add(X[0], Y[0], Z[0]) end
      if b == 1 then mm(X[1], Y[1], Z[1]) else add(X[1], Y[1], Z[1]) end
      if c == 1 then mm(X[2], Y[2], Z[2]) elseif c == 0 then add(X[2], Y[2], Z[2]) end
      if d == 1 then mm(X[3], Y[3], Z[3]) elseif d == 0 then add(X[3], Y[3], Z[3]) end
    end}, {i32[n][N][N], i32[n][N][N], i32[n][N][N]}
  end
end

-- States that the loops of mm_add are these.
local function loops(s, want)
  for i, name in ipairs(want) do want[i] = "mm_add:" .. name end
  t.eq(s:loops(), want)
end

prim.accepted("two calls", {
  of = layers {1, 0}, step = {"unify", "mm", "add", 2},
  has = {"which[0] = 0", "which[1] = 1", "mm_add(which, X, Y, Z)", "if which[call] == 0 then",
    "Z[call][i][j] = X[call][i][j] + Y[call][i][j]"},
}, function(s, name)
  t.eq(name, "mm_add")
  loops(s, {"call", "i", "j", "k"})
end)
prim.accepted("three calls, in any order", {
  of = layers {0, 1, 0}, step = {"unify", "mm", "add", 3}, has = {"which[0] = 1", "which[1] = 0"},
})
prim.accepted("the first two of four, then the others", {
  of = layers {1, 0, 1, 0}, step = {"unify", "mm", "add", 2}, has = {"mm(X[2], Y[2], Z[2])"},
}, function(s)
  t.has(tostring(s), "add(X[3], Y[3], Z[3])")
end)
prim.accepted("scheduled before", {
  of = layers {1, 0, 1}, before = function(s)
    s:reorder("mm:j", "mm:i"):reorder("add:j", "add:i"):pipeline("add:i"):pipeline("mm:i")
  end, step = {"unify", "mm", "add", 3}, has = {"for j = 0, N - 1 do", "--@ pipeline(1)"},
}, function(s) loops(s, {"call", "j", "i", "k"}) end)
prim.accepted("after split: loops that differ stay apart", {
  of = layers {1, 0}, before = function(s) s:split("mm:i", 2) end, step = {"unify", "mm", "add", 2},
}, function(s) loops(s, {"call", "i_o", "i_i", "j", "k", "i", "j_1"}) end)
prim.accepted("a chain: what one writes the next one reads", {
  of = function()
    local mm, add = product(), sum()
    return tide.kernel {X = i32[4][N][N], W = i32[N][N], function(X, W)
      mm(X[0], W, X[1])
      add(X[1], W, X[2])
      mm(X[2], W, X[3])
    end}, {i32[4][N][N], i32[N][N]}
  end, step = {"unify", "mm", "add", 3}, has = {"X[call + 1][i][j]", "mm_add(which, X, W)"},
})
prim.accepted("kernels of other arrays, in a loop", {
  of = function()
    local up = tide.kernel {a = i32[N], name = "up", function(a)
      for i = 0, N - 1 do a[i] = a[i] + 1 end
    end}
    local turn = tide.kernel {b = i32[N], c = i32[N], name = "turn", function(b, c)
      for i = 0, N - 1 do b[i] = b[i] - c[N - 1 - i] end
    end}
    return tide.kernel {A = i32[3][N], B = i32[3][N], function(A, B)
      for r = 0, 2 do
        up(A[r])
        turn(B[r], A[r])
      end
    end}, {i32[3][N], i32[3][N]}
  end, step = {"unify", "up", "turn", 2}, has = {"A[r][i] = A[r][i] + 1"},
})
prim.accepted("equal statements are one", {
  of = function()
    local function make(name, by)
      return tide.kernel {a = i32[N], b = i32[N], name = name, function(a, b)
        for i = 0, N - 1 do
          b[i] = 5
          if by > 0 then b[i] = b[i] + a[i] else b[i] = b[i] - a[i] end
          a[i] = 7
        end
      end}
    end
    local plus, minus = make("plus", 1), make("minus", -1)
    return tide.kernel {A = i32[2][N], B = i32[2][N], function(A, B)
      plus(A[0], B[0])
      minus(A[1], B[1])
    end}, {i32[2][N], i32[2][N]}
  end, step = {"unify", "plus", "minus", 2},
}, function(s)
  local _, fives = tostring(s):gsub("= 5", "")
  local _, sevens = tostring(s):gsub("= 7", "")
  t.eq({fives, sevens}, {1, 1})
end)
prim.twins("calls that do not stand in a row", {
  of = function(between)
    local mm, add = product(), sum()
    return tide.kernel {X = i32[2][N][N], function(X)
      mm(X[0], X[0], X[1])
      if between then X[0][0][0] = 1 end
      add(X[0], X[0], X[1])
    end}, {i32[2][N][N]}
  end, no = true, yes = false, step = {"unify", "mm", "add", 2}, kind = "usage", code = "not-called",
})
prim.twins("arguments that do not move on by as much", {
  of = function(last)
    local mm, add = product(), sum()
    return tide.kernel {X = i32[9][N][N], Z = i32[9][N][N], function(X, Z)
      mm(X[0], X[1], Z[0])
      add(X[0], X[1], Z[1])
      mm(X[2], X[3], Z[2])
      mm(X[last], X[last + 1], Z[3])
    end}, {i32[9][N][N], i32[9][N][N]}
  end, no = 4, yes = 3, step = {"unify", "mm", "add", 4}, code = "arguments",
})
prim.twins("a kernel with a state", {
  of = function(kept)
    local total = tide.state(i32[1], 0)
    local count = tide.kernel {a = i32[N], name = "count", function(a)
      for i = 0, N - 1 do
        if kept then total[0] = total[0] + a[i] end
        a[i] = a[i] + i
      end
    end}
    local up = tide.kernel {a = i32[N], name = "up", function(a)
      for i = 0, N - 1 do a[i] = a[i] + 1 end
    end}
    return tide.kernel {A = i32[2][N], function(A)
      count(A[0])
      up(A[1])
    end}, {i32[2][N]}
  end, no = true, yes = false, step = {"unify", "count", "up", 2}, code = "state",
})
prim.twins("a kernel that returns early", {
  of = function(early)
    local find = tide.kernel {a = i32[N], name = "find", function(a)
      for i = 0, N - 1 do
        if early and a[i] == 0 then return end
        a[i] = 0
      end
    end}
    local up = tide.kernel {a = i32[N], name = "up", function(a)
      for i = 0, N - 1 do a[i] = a[i] + 1 end
    end}
    return tide.kernel {A = i32[2][N], function(A)
      find(A[0])
      up(A[1])
    end}, {i32[2][N]}
  end, no = true, yes = false, step = {"unify", "find", "up", 2}, code = "return",
})
prim.refused("a kernel and itself", {
  of = layers {1, 0}, step = {"unify", "mm", "mm", 2}, kind = "usage", code = "same"})
prim.refused("a single call", {
  of = layers {1, 0}, step = {"unify", "mm", "add", 1}, kind = "usage", code = "count"})
prim.refused("no such kernel", {
  of = layers {1, 0}, step = {"unify", "mm", "sub", 2}, kind = "usage", code = "no-unit"})

local function shapes(n)
  local function up(m, name)
    return tide.kernel {x = tide.i8[m], y = tide.i8[m], name = name, function(x, y)
      for i = 0, m - 1 do y[i] = x[i] + 1 end
    end}
  end
  local eight, other = up(8, "eight"), up(n, "other")
  return tide.kernel {X = tide.i8[8], Y = tide.i8[8], U = tide.i8[n], V = tide.i8[n], function(X, Y, U, V)
    eight(X, Y)
    other(U, V)
  end}, {tide.i8[8], tide.i8[8], tide.i8[n], tide.i8[n]}
end
prim.twins("parameters of other extents", {
  of = shapes, no = 6, yes = 8, step = {"unify", "eight", "other", 2}, code = "shape",
})
t.test("the refusal names both extents", function()
  local e = prim.refuse {of = function() return shapes(6) end, step = {"unify", "eight", "other", 2}, code = "shape"}
  t.has(e.message, "'x' of 'eight' has 8 elements in dimension 0, and 'x' of 'other' has 6")
end)

-- In the loop over both calls, the kernel that one of them calls may be passed one row twice in the call that it is
-- not called in: such a text would not load.
local function inner(data)
  local T = tide.i32[4]
  local add = tide.kernel {X = T, Y = T, name = "add", function(X, Y)
    for i = 0, 3 do X[i] = X[i] + Y[0] end
  end}
  local both = tide.kernel {X = T, Y = T, name = "both", function(X, Y)
    add(Y, X)
    for i = 0, 3 do X[i] = X[i] * Y[i] end
  end}
  local kernel = data and tide.kernel {A = tide.i32[5][4], c = tide.u8[1], function(A, c)
    add(A[c[0] % 2], A[2])
    both(A[2], A[3])
  end} or tide.kernel {A = tide.i32[5][4], function(A)
    add(A[1], A[2])
    both(A[2], A[3])
  end}
  return kernel, data and {tide.i32[5][4], tide.u8[1]} or {tide.i32[5][4]}
end
prim.twins("a call inside that may be passed one row twice", {
  of = inner, no = true, yes = false, step = {"unify", "add", "both", 2}, code = "overlap",
})

t.done()
