-- compute_at.lua - compute_at: nests merged, nests run again for what is read, refusals.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, f32, grid = tide.i32, tide.f32, tide.grid

-- B = 2A, then C = B + 1, in three dimensions.
local function two(z)
  local P, Q, R = z.P or 3, z.Q or 4, z.R or 5
  local two = tide.kernel {A = i32[P][Q][R], B = i32[P][Q][R], C = i32[P][Q][R],
    function(A, B, C)
      for i, j, k in grid(P, Q, R, "first") do B[i][j][k] = A[i][j][k] * 2 end
      for i, j, k in grid(P, Q, R, "second") do C[i][j][k] = B[i][j][k] + 1 end
    end}
  return two, {i32[P][Q][R], i32[P][Q][R], i32[P][Q][R]}
end
local small = {{P = 1, Q = 1, R = 1}, {P = 2, Q = 5, R = 3}}

-- How many loops of s stand in one nest from the outermost on.
local function shared(s)
  local depth = 0
  for line in tostring(s):match "function.*":gmatch "[^\n]+" do
    if line:find "^%s*for " then depth = depth + 1 elseif depth > 0 then return depth end
  end
end

for depth, loop in ipairs {"i", "j", "k"} do
  prim.accepted("equal ranges, depth " .. depth, {
    of = two, step = {"compute_at", "first", "second/" .. loop}, other = small,
  }, function(s) t.eq(#s:loops(), 6 - depth) end)
end
prim.accepted("by the array's name", {
  of = two, step = {"compute_at", "B", "second/k"}, other = small,
}, function(s)
  t.eq(shared(s), 3)
  s:split("j", 2):reorder("j_o", "i"):fuse("j_o", "i")
  t.eq(s:verify(), "strict")
end)
prim.accepted("a consumer that was split with a tail", {
  of = two, before = function(s) s:split("second/j", 3) end, step = {"compute_at", "B", "j_o"},
  other = small, has = {"for j = j_o * 3, tide.min(j_o * 3 + 3, Q) - 1 do"},
})
prim.accepted("a chain of three", {
  of = function(z)
    local N, M = z.N or 4, z.M or 3
    return tide.kernel {A = i32[N][M], B = i32[N][M], C = i32[N][M], D = i32[N][M],
      function(A, B, C, D)
        for i, j in grid(N, M, "p") do B[i][j] = A[i][j] + 1 end
        for i, j in grid(N, M, "q") do C[i][j] = B[i][j] * 3 end
        for i, j in grid(N, M, "r") do D[i][j] = C[i][j] % 3 end
      end}, {i32[N][M], i32[N][M], i32[N][M], i32[N][M]}
  end, before = function(s) s:compute_at("p", "q/j") end, step = {"compute_at", "C", "r/j"},
  other = {{N = 1, M = 6}},
}, function(s) t.eq(#s:loops(), 2) end)
prim.accepted("a triangle", {
  of = function(z)
    local N = z.N or 5
    return tide.kernel {A = i32[N][N], B = i32[N][N], function(A, B)
      for i = 0, N - 1 do for j = 0, i do A[i][j] = A[i][j] * 2 end end
      for x = 0, N - 1 do for y = 0, x do B[x][y] = A[x][y] - A[x][0] end end
    end}, {i32[N][N], i32[N][N]}
  end, step = {"compute_at", "i", "x"}, other = {{N = 1}, {N = 7}},
})
prim.accepted("a sum and what uses it", {
  of = function(z)
    local M, N, K = z.M or 3, z.N or 4, z.K or 5
    return tide.kernel {A = i32[M][K], B = i32[K][N], D = i32[M][N], function(A, B, D)
      local C = i32[M][N]()
      for i, j in grid(M, N) do
        C[i][j] = 0
        for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
      for x, y in grid(M, N) do D[x][y] = C[x][y] + 1 end
    end}, {i32[M][K], i32[K][N], i32[M][N]}
  end, step = {"compute_at", "C", "y"}, other = {{M = 1, N = 1, K = 1}, {K = 9}},
})
prim.accepted("a stencil on a local runs again where windows overlap", {
  of = function(z)
    local N = z.N or 7
    return tide.kernel {A = i32[N + 2], C = i32[N], function(A, C)
      local B = i32[N + 2]()
      for i = 0, N + 1 do B[i] = A[i] * 2 end
      for x = 0, N - 1 do C[x] = B[x] + B[x + 1] + B[x + 2] end
    end}, {i32[N + 2], i32[N]}
  end, step = {"compute_at", "B", "x"}, has = {"for i = x, x + 2 do"}, other = {{N = 1}, {N = 9}},
}, function(s) t.has(s:steps()[1].notes[1], "the part of 'B'") end)
prim.accepted("a part that sizes alone bound", {
  of = function(z)
    local N = z.N or 7
    return tide.kernel {A = i32[N], C = i32[3], function(A, C)
      local B = i32[N](5)
      for i = 0, N - 1 do B[i] = A[i] * 2 end
      for x = 0, 2 do
        for y = 0, 3 do if y < N then C[x] = C[x] + B[y] end end
      end
    end}, {i32[N], i32[3]}
  end, step = {"compute_at", "B", "x"}, other = {{N = 1}, {N = 3}, {N = 5}},
})
prim.accepted("inside a callee", {
  of = function()
    local f = tide.kernel {a = f32[6], b = f32[6], function(a, b)
      local u = f32[6]()
      for i = 0, 5 do u[i] = a[i] * 2 end
      for j = 0, 5 do b[j] = u[j] + u[5 - j] end
    end}
    return tide.kernel {A = f32[2][6], B = f32[2][6], function(A, B)
      for r = 0, 1 do f(A[r], B[r]) end
    end}, {f32[2][6], f32[2][6]}
  end, step = {"compute_at", "f:i", "f:j"},
})
prim.accepted("past a statement between", {
  of = function()
    return tide.kernel {A = i32[5], B = i32[5], C = i32[5], D = i32[2], function(A, B, C, D)
      for i = 0, 4 do B[i] = A[i] + 1 end
      D[0] = A[2]
      for j = 0, 4 do C[j] = B[j] end
    end}, {i32[5], i32[5], i32[5], i32[2]}
  end, step = {"compute_at", "B", "j"},
})
prim.accepted("names of the producer that the consumer has already", {
  of = function()
    return tide.kernel {A = i32[4][4], B = i32[4][4], C = i32[4][4], function(A, B, C)
      for i = 0, 3 do for j = 0, 3 do B[i][j] = A[i][j] + j end end
      for j = 0, 3 do for i = 0, 3 do C[j][i] = B[j][i] - i end end
    end}, {i32[4][4], i32[4][4], i32[4][4]}
  end, step = {"compute_at", "B", "j#2"}, has = {"for j_1 = 0, 3 do"},
})

-- C reads B at d, the nests are otherwise alike; B is used after them.
local function shifted(d)
  return tide.kernel {A = i32[8], B = i32[8], C = i32[8], function(A, B, C)
    for i = 1, 6 do B[i] = B[i] + A[i] end
    for j = 1, 6 do C[j] = B[j + d] end
  end}, {i32[8], i32[8], i32[8]}
end

prim.twins("what is read is computed later", {
  of = shifted, no = 1, yes = -1, step = {"compute_at", "B", "j"}, code = "dependence",
  witness = "B", match = "depends on what it held before",
})
prim.twins("an input that changes on the way", {
  of = function(at)
    return tide.kernel {A = i32[6], B = i32[6], C = i32[6], function(A, B, C)
      for i = 0, 5 do B[i] = A[i] + 1 end
      for j = 0, 5 do
        C[j] = B[j]
        A[(j + at) % 6] = 0
      end
    end}, {i32[6], i32[6], i32[6]}
  end, no = 1, yes = 0, step = {"compute_at", "B", "j"}, code = "dependence", witness = "A",
})
prim.twins("an output that would not be all written", {
  of = function(n)
    return tide.kernel {A = i32[6], B = i32[6], C = i32[6], function(A, B, C)
      for i = 0, 5 do B[i] = A[i] + 1 end
      for j = 0, n - 1 do C[j] = B[j] end
    end}, {i32[6], i32[6], i32[6]}
  end, no = 5, yes = 6, step = {"compute_at", "B", "j"}, code = "ranges",
  match = "not all of it would be written",
})
prim.twins("ranges that differ, of a sum that cannot run again", {
  of = function(n)
    return tide.kernel {A = i32[6], B = i32[6], C = i32[6], function(A, B, C)
      for i = 0, n - 1 do B[i] = B[i] + A[i] end
      for j = 0, 5 do C[j] = B[j] end
    end}, {i32[6], i32[6], i32[6]}
  end, no = 5, yes = 6, step = {"compute_at", "B", "j"}, code = "ranges",
})
prim.twins("a statement between that needs it", {
  of = function(at)
    return tide.kernel {A = i32[6], B = i32[7], C = i32[6], D = i32[1], function(A, B, C, D)
      for i = 0, 5 do B[i] = A[i] + 1 end
      D[0] = B[at]
      for j = 0, 5 do C[j] = B[j] end
    end}, {i32[6], i32[7], i32[6], i32[1]}
  end, no = 3, yes = 6, step = {"compute_at", "B", "j"}, code = "dependence", witness = "B",
})
prim.twins("a row that is computed later", {
  of = function(d)
    return tide.kernel {A = i32[6][4], B = i32[6][4], C = i32[6][4], function(A, B, C)
      for i, j in grid({1, 5}, 4) do B[i][j] = B[i][j] + A[i][j] end
      for x, y in grid({1, 5}, 4) do C[x][y] = B[x + d][y] end
    end}, {i32[6][4], i32[6][4], i32[6][4]}
  end, no = 1, yes = -1, step = {"compute_at", "B", "x"}, code = "dependence", witness = "B",
})
prim.twins("a row that a call computes later", {
  of = function(d)
    local add = tide.kernel {a = i32[4], b = i32[4], function(a, b)
      for n = 0, 3 do b[n] = b[n] + a[n] end
    end}
    return tide.kernel {A = i32[6][4], B = i32[6][4], C = i32[6][4], function(A, B, C)
      for i = 1, 4 do add(A[i], B[i]) end
      for x, y in grid({1, 5}, 4) do C[x][y] = B[x + d][y] end
    end}, {i32[6][4], i32[6][4], i32[6][4]}
  end, no = 1, yes = 0, step = {"compute_at", "i", "x"}, code = "dependence", witness = "B",
})
prim.twins("a loop under a condition", {
  of = function(always)
    return tide.kernel {A = i32[3][4], B = i32[3][4], C = i32[3][4], function(A, B, C)
      for i, k in grid(3, 4) do B[i][k] = B[i][k] + A[i][k] end
      for x = 0, 2 do
        if always then
          for y = 0, 3 do C[x][y] = B[x][y] end
        else
          if A[x][0] > 0 then for y = 0, 3 do C[x][y] = B[x][y] end end
        end
      end
    end}, {i32[3][4], i32[3][4], i32[3][4]}
  end, no = false, yes = true, step = {"compute_at", "B", "y"}, code = "not-a-nest",
})
prim.twins("a loop under a condition that the producer has, too", {
  of = function(n)
    return tide.kernel {A = i32[3][4], C = i32[3][4], function(A, C)
      for i = 0, 2 do
        if i < n then for k = 0, 3 do C[i][k] = A[i][k] * 3 end end
      end
      for x = 0, 2 do
        if x < 2 then for y = 0, 3 do C[x][y] = C[x][y] + 1 end end
      end
    end}, {i32[3][4], i32[3][4]}
  end, no = 3, yes = 2, step = {"compute_at", "i", "y"}, code = "not-a-nest",
})
prim.refused("the other way round", {
  of = two, step = {"compute_at", "second", "first/k"}, code = "comes-later"})
prim.refused("loops of one nest", {
  of = two, step = {"compute_at", "first/i", "first/k"}, code = "one-nest"})
prim.refused("an array that nothing before computes", {
  of = two, step = {"compute_at", "A", "second/k"}, code = "no-producer"})
prim.refused("nothing of that name", {
  of = two, step = {"compute_at", "Q", "second/k"}, kind = "usage", code = "no-loop"})
prim.refused("loops of two kernels", {
  of = prim.shape.callee, step = {"compute_at", "r", "row:i"}, kind = "usage", code = "units"})

t.done()
