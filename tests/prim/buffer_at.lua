-- buffer_at.lua - buffer_at: what is declared, loaded and stored, and where it cannot be.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i32, f32, grid = tide.i8, tide.i32, tide.f32, tide.grid
local shape = prim.shape

-- States that the printed form of s has none of these parts.
local function lacks(s, ...)
  for _, part in ipairs {...} do
    t.ok(not tostring(s):find(part, 1, true), part .. " is in:\n" .. tostring(s))
  end
end

prim.accepted("in a kernel: what all of it touches", {
  of = shape.gemm, step = {"buffer_at", "B", "gemm"}, has = {"local B_gemm = i8[K][N]()"},
})
prim.accepted("a row that is read", {
  of = shape.gemm, step = {"buffer_at", "A", "i"}, other = {{M = 1, N = 1, K = 1}, {K = 9}},
  has = {"local A_i = i8[K]()", "A_i[k_init] = A[i][k_init]", "A_i[k] * B[k][j]"},
}, function(s, name)
  t.eq(name, "A_i")
  lacks(s, "_back")
end)
prim.accepted("a column that is read", {
  of = shape.gemm, step = {"buffer_at", "B", "j"}, has = {"B_j[k_init] = B[k_init][j]"},
})
prim.accepted("an element that is summed up", {
  of = shape.gemm, step = {"buffer_at", "C", "j"}, has = {"local C_j = C[i][j]", "C[i][j] = C_j"},
})
prim.accepted("an element that is summed up, as a tensor of one", {
  of = shape.gemm, step = {"buffer_at", "C", "j", {tensor = true}},
  has = {"local C_j = i32[1]()", "C[i][j + d1_back] = C_j[d1_back]"},
})
prim.accepted("a row that is summed up holds what was there", {
  of = shape.gemm, before = function(s) s:reorder("k", "j") end, step = {"buffer_at", "C", "i"},
  has = {"local C_i = i32[N]()", "C_i[j_init] = C[i][j_init]", "C[i][j_back] = C_i[j_back]"},
  other = {{M = 1, N = 7, K = 1}},
}, function(s) t.eq(s:loops(), {"i", "j_init", "k", "j", "j_back"}) end)
prim.accepted("a row that is all written is not loaded", {
  of = function(z)
    local M, N = z.M or 3, z.N or 4
    return tide.kernel {A = i32[M][N], B = i32[M][N], function(A, B)
      for i = 0, M - 1 do
        for j = 0, N - 1 do B[i][j] = 0 end
        for j = 0, N - 1 do B[i][j] = B[i][j] + A[i][N - 1 - j] end
      end
    end}, {i32[M][N], i32[M][N]}
  end, step = {"buffer_at", "B", "i", {name = "row"}}, other = {{M = 1, N = 9}},
  has = {"local row = i32[N]()", "B[i][j_back] = row[j_back]"},
}, function(s, name)
  t.eq(name, "row")
  lacks(s, "_init")
end)
prim.accepted("blocks of an array whose extent is a quotient", {
  of = function(z)
    local N = z.N or 13
    return tide.kernel {x = i8[N], y = i32[N // 3 * 4], function(x, y)
      for i = 0, N // 3 - 1 do
        for j = 0, 3 do y[4 * i + j] = y[4 * i + j] + x[3 * i] end
      end
    end}, {i8[N], i32[N // 3 * 4]}
  end, step = {"buffer_at", "y", "i"}, other = {{N = 3}, {N = 30}, {N = 4}},
  has = {"local y_i = i32[4]()", "y[i * 4 + j_back] = y_i[j_back]"},
})
prim.accepted("blocks that stick out of an array whose extent is a quotient", {
  of = function(z)
    local N = z.N or 13
    return tide.kernel {y = i32[N // 3], function(y)
      for i = 0, 5 do
        for j = 0, 3 do
          if 4 * i + j < N // 3 then y[4 * i + j] = i + j end
        end
      end
    end}, {i32[N // 3]}
  end, step = {"buffer_at", "y", "i"}, other = {{N = 3}, {N = 60}, {N = 20}},
  has = {"if i * 4 + j_back < N // 3 then"},
})
prim.accepted("part of a triangle, as far as it is read", {
  of = shape.triangle, step = {"buffer_at", "L", "i"}, has = {"for j_init = 0, i do"},
  other = {{N = 1}, {N = 9}},
})
prim.accepted("what a triangular solve reads, and the one element that it writes", {
  of = function(z)
    local N = z.N or 5
    return tide.kernel {L = f32[N][N], x = f32[N], b = f32[N], function(L, x, b)
      for i = 0, N - 1 do
        x[i] = b[i]
        for j = 0, i - 1 do x[i] = x[i] - L[i][j] * x[j] end
      end
    end}, {f32[N][N], f32[N], f32[N]}
  end, step = {"buffer_at", "x", "i"}, other = {{N = 1}, {N = 8}},
  has = {"for j_init = 0, i - 1 do", "for j_back = i, i do"},
})
prim.accepted("a tile whose tail sticks out", {
  of = shape.gemm, before = function(s) s:split("i", 3):split("k", 4) end,
  step = {"buffer_at", "A", "i_o"}, other = {{M = 7, N = 2, K = 9}, {M = 1, N = 1, K = 1}},
  has = {"local A_i_o = i8[3][K]()", "if i_o * 3 + i_i_init < M then"},
})
prim.accepted("an accumulated tile whose tail sticks out", {
  of = shape.gemm, before = function(s) s:split("i", 3):split("j", 2):reorder("j_o", "i_i") end,
  step = {"buffer_at", "C", "j_o"}, other = {{M = 7, N = 3, K = 2}},
  has = {"local C_j_o = i32[3][2]()", "if i_o * 3 + i_i_back < M then"},
})
prim.accepted("a remainder of two dimensions that is not square", {
  of = function()
    return tide.kernel {A = i32[3][4][6], B = i32[3][4][6], function(A, B)
      for x, y, z in grid(3, 4, 6) do B[x][y][z] = B[x][y][z] + A[x][y][z] end
    end}, {i32[3][4][6], i32[3][4][6]}
  end, step = {"buffer_at", "B", "x"}, has = {"local B_x = i32[4][6]()"},
})
prim.accepted("what is perhaps not written is loaded", {
  of = function()
    return tide.kernel {A = i32[3][4], B = i32[3][4], function(A, B)
      for i, j in grid(3, 4) do
        if A[i][j] > 0 then B[i][j] = A[i][j] end
      end
    end}, {i32[3][4], i32[3][4]}
  end, step = {"buffer_at", "B", "i"}, has = {"B_i[j_init] = B[i][j_init]"},
})
prim.accepted("what is written apart from what is read", {
  of = function(z)
    local N = z.N or 6
    return tide.kernel {A = i32[3][N], function(A)
      for i = 0, 2 do
        for j = 1, N - 1 do A[i][j] = A[i][0] + j end
      end
    end}, {i32[3][N]}
  end, step = {"buffer_at", "A", "i"}, other = {{N = 1}, {N = 9}},
  has = {"for j_back = 1, N - 1 do", "if j_init < 1 then"},
})
prim.accepted("a window", {
  of = function(z)
    local N = z.N or 8
    return tide.kernel {A = i32[N], B = i32[N], function(A, B)
      for i = 1, N - 2 do B[i] = A[i - 1] + A[i] * 2 + A[i + 1] end
    end}, {i32[N], i32[N]}
  end, step = {"buffer_at", "A", "i"}, has = {"local A_i = i32[3]()", "A_i[0] + A_i[1] * 2"},
  other = {{N = 3}, {N = 2}},
})
prim.accepted("a window whose ends are guarded by data", {
  of = function()
    return tide.kernel {A = i32[6], p = i32[6], B = i32[6], function(A, p, B)
      for i = 0, 5 do
        if p[i] > 100 then B[i] = A[i + 0] end
        for d = 0, 1 do if i + d < 6 then B[i] = B[i] + A[i + d] end end
      end
    end}, {i32[6], i32[6], i32[6]}
  end, step = {"buffer_at", "A", "i"}, has = {"if i + d_init < 6 then"},
})
prim.accepted("inside a callee", {
  of = shape.callee, step = {"buffer_at", "b", "row:i"}, has = {"local b_i = b[i]"},
  other = {{M = 2, N = 8}},
})
prim.accepted("a row passed to a call", {
  of = shape.callee, step = {"buffer_at", "B", "r"}, has = {"row(A[r], B_r)"},
  other = {{M = 5, N = 2}},
})
prim.accepted("a local array, a slice and a whole expression", {
  of = function()
    return tide.kernel {A = i32[4][6], B = i32[4][3], function(A, B)
      local T = i32[4][6](1)
      for i = 0, 3 do
        T[i]:set(A[i] * 2)
        B[i]:set(T:slice(i, {0, 6, 2}))
      end
    end}, {i32[4][6], i32[4][3]}
  end, step = {"buffer_at", "T", "i"}, has = {"local T_i = i32[6]()", "T_i:set(A[i] * 2)"},
})
prim.accepted("a scalar that is summed up", {
  of = function()
    return tide.kernel {A = i32[3][4], B = i32[1], function(A, B)
      local s = i32(0)
      for i = 0, 2 do for j = 0, 3 do s = s + A[i][j] end end
      B[0] = s
    end}, {i32[3][4], i32[1]}
  end, step = {"buffer_at", "s", "i"}, has = {"local s_i = s", "s = s_i"},
})
prim.accepted("a second buffer of the same loop", {
  of = shape.gemm, before = function(s) s:buffer_at("A", "j") end,
  step = {"buffer_at", "B", "j"}, has = {"k_init_1"},
}, function(s) t.eq(s:loops(), {"i", "j", "k_init_1", "k_init", "k"}) end)
prim.accepted("elements that data chooses, among all of them", {
  of = function()
    return tide.kernel {A = i32[8], p = i32[3], function(A, p)
      for i = 0, 2 do A[p[i] & 7] = A[p[i] & 7] + 1 end
    end}, {i32[8], i32[3]}
  end, step = {"buffer_at", "A", "i"}, undecided = true,
  has = {"local A_i = i32[8]()"},
})

prim.twins("an array that the loop names and never touches", {
  no = true, yes = false, code = "footprint", step = {"buffer_at", "A", "i"},
  of = function(never)
    return tide.kernel {A = i32[8], function(A)
      for i = 0, 3 do
        if never then
          for j = 5, 3 do A[j] = A[j] + i end
        else
          for j = 5, 6 do A[j] = A[j] + i end
        end
      end
    end}, {i32[8]}
  end,
})
prim.twins("a call that is passed more than it touches", {
  of = function(rows)
    local first = tide.kernel {a = i32[2][4], b = i32[4], function(a, b)
      for j = 0, 3 do b[j] = a[0][j] end
    end}
    local both = tide.kernel {a = i32[2][4], b = i32[4], function(a, b)
      for j = 0, 3 do b[j] = a[0][j] + a[1][j] end
    end}
    return tide.kernel {A = i32[2][4], B = i32[3][4], function(A, B)
      for r = 0, 2 do
        if rows == 1 then first(A, B[r]) else both(A, B[r]) end
      end
    end}, {i32[2][4], i32[3][4]}
  end, no = 1, yes = 2, step = {"buffer_at", "A", "r"}, code = "call",
})
prim.twins("an array that the loop makes", {
  of = function(inside)
    return tide.kernel {A = i32[3][4], B = i32[3][4], function(A, B)
      local outer = i32[4](0)
      for i = 0, 2 do
        local inner = i32[4](0)
        for j = 0, 3 do
          if inside then inner[j] = A[i][j] else outer[j] = A[i][j] end
          B[i][j] = inner[j] + outer[j]
        end
      end
    end}, {i32[3][4], i32[3][4]}
  end, no = true, yes = true, step = {"buffer_at", "inner", "i"}, code = "scope",
  yes_step = {"buffer_at", "inner", "j"},
})
prim.twins("a written array and an iteration that may end", {
  of = function(at)
    return tide.kernel {A = i32[5], function(A)
      for i = 0, 4 do
        A[i] = A[i] + 1
        if at == 3 then break end
        A[i] = A[i] * 2
      end
    end}, {i32[5]}
  end, no = 3, yes = 9, step = {"buffer_at", "A", "i"}, code = "break",
})
prim.twins("a local that may have no values yet", {
  of = function(filled)
    return tide.kernel {A = i32[4][4], C = i32[4][4], function(A, C)
      local B = i32[4][4]()
      if filled then B:set(7) end
      local T = i32[4][4](7)
      for i, j in grid(4, 4) do
        if filled then
          T[i][j] = A[i][j] * 2
          C[i][j] = T[i][j] - T[i][0]
        else
          B[i][j] = A[i][j] * 2
          C[i][j] = B[i][j] - B[i][0]
        end
      end
    end}, {i32[4][4], i32[4][4]}
  end, no = false, yes = true, step = {"buffer_at", "B", "j"}, code = "unwritten",
  yes_step = {"buffer_at", "T", "j"},
})
prim.accepted("a local without a first value that is read there", {
  of = function(z)
    local N = z.N or 4
    return tide.kernel {A = i32[N][N], C = i32[N], function(A, C)
      local s = i32[N]()
      for i = 0, N - 1 do s[i] = 0 end
      for i, j in grid(N, N) do s[i] = s[i] + A[i][j] end
      for i = 0, N - 1 do C[i] = s[i] end
    end}, {i32[N][N], i32[N]}
  end, step = {"buffer_at", "s", "i#2"}, has = {"local s_i = s[i]"}, other = {{N = 1}},
})
prim.twins("an array that the loop does not use", {
  of = function(used)
    return tide.kernel {A = i32[5], B = i32[5], function(A, B)
      B[0] = 1
      for i = 0, 4 do
        if used then A[i] = A[i] + B[i] else A[i] = A[i] + i end
      end
    end}, {i32[5], i32[5]}
  end, no = false, yes = true, step = {"buffer_at", "B", "i"}, kind = "usage", code = "untouched",
})
prim.refused("an array of another kernel", {
  of = shape.callee, step = {"buffer_at", "A", "row:i"}, kind = "usage", code = "units"})
prim.refused("no such array", {
  of = shape.gemm, step = {"buffer_at", "Q", "i"}, kind = "usage", code = "no-array"})
t.test("the arrays that there are", function()
  local k = tide.kernel {weights = i32[4], B = i32[4], function(weights, B)
    for i = 0, 3 do B[i] = weights[i] end
  end}
  local e = t.fails(function() tide.schedule(k):buffer_at("weight", "i") end, {code = "no-array"})
  t.has(e.message, "(arrays: weights, B)")
  t.has(e.help, "'weights'")
end)
prim.refused("a scalar parameter", {
  of = function()
    return tide.kernel {A = i32[4], x = i32, function(A, x)
      for i = 0, 3 do A[i] = x end
    end}, {i32[4], 7}
  end, step = {"buffer_at", "x", "i"}, kind = "usage", code = "not-an-array"})
prim.refused("a name that is taken", {
  of = shape.gemm, step = {"buffer_at", "A", "i", {name = "B"}}, kind = "usage", code = "name"})
prim.refused("a name of a type", {
  of = shape.gemm, step = {"buffer_at", "A", "i", {name = "i8"}}, kind = "usage", code = "name"})
prim.refused("a stream", {
  of = function()
    local k = tide.kernel {A = i8[4], Z = tide.stream(i8), function(A, Z)
      for i = 0, 3 do Z:put(A[i]) end
    end}
    return k, {}
  end, step = {"buffer_at", "Z", "i"}, kind = "usage", code = "not-an-array"})

t.test("a proof about the array is about the buffer", function()
  local k = tide.kernel {A = i32[4][4], function(A)
    for i = 0, 3 do --@ parallel
      for j = 0, 3 do A[i][j] = A[i][j] + 1 end
    end
  end}
  local s = tide.schedule(k)
  s:buffer_at("A", "i")
  t.has(tostring(s), "for i = 0, 3 do --@ parallel")
  local strided = tide.kernel {A = i32[9], function(A)
    for i = 0, 1 do --@ parallel
      for j = 0, 3 do A[2 * j + i] = A[2 * j + i] + 1 end
    end
  end}
  local u = tide.schedule(strided):buffer_at("A", "i")
  t.ok(not tostring(u):find "parallel", "iterations now store each other's elements")
  t.eq(u:verify(), "strict")
end)

t.test("constants and states stay at the start of the kernel", function()
  local function prefix(own)
    local st = tide.state(i32[1], tide.tensor(i32[1], {7}))
    local add = own and tide.kernel {name = "add", X = i32[4], function(X) X[0] = X[0] + st[0] end}
      or tide.kernel {name = "add", X = i32[4], function(X) X[0] = X[0] + 7 end}
    local s = tide.schedule(tide.kernel {name = "whole", A = i32[4], function(A) add(A) end})
    s:buffer_at("add:X", "add")
    t.eq(s:verify(), "strict")
    local again = load(tostring(s))()
    t.eq(tostring(again), tostring(s))
    local A = tide.tensor(i32[4], {1, 2, 3, 4})
    again(A)
    t.eq(A[0], 8)
  end
  prefix(true)
  prefix(false)
end)

t.done()
