-- fuse.lua - fuse: nests that become one loop, loops in a row that become one.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32 = tide.i32
local shape = prim.shape

-- Two loops in a row over arrays of one range; the second reads the first one's result at i + d.
local function pair(d, z)
  local N = z and z.N or 6
  local pair = tide.kernel {A = i32[N + 2], B = i32[N + 2], C = i32[N + 2], function(A, B, C)
    for i = 1, N do B[i] = A[i] * 2 end
    for j = 1, N do C[j] = B[j + d] + 1 end
  end}
  return pair, {i32[N + 2], i32[N + 2], i32[N + 2]}
end

prim.accepted("a perfect nest of two", {
  of = shape.gemm, step = {"fuse", "i", "j"}, other = {{M = 2, N = 5, K = 3}},
  has = {"for i_j = 0, "},
}, function(_, name) t.eq(name, "i_j") end)
prim.accepted("a perfect nest of three", {
  of = shape.gemm, step = {"fuse", "i", "j", "k"}, has = {"for i_j_k = 0, "},
})
prim.accepted("three dimensions, the inner two", {
  of = shape.cube, step = {"fuse", "y", "v"}, other = {{P = 4, Q = 3, R = 5}},
})
prim.accepted("inside a callee", {
  of = shape.callee, step = {"fuse", "row:i", "row:j"}, other = {{M = 4, N = 5}, {M = 2, N = 9}},
})
prim.accepted("a loop that was split with a tail", {
  of = shape.scale, before = function(s) s:split("i", 3) end, step = {"fuse", "i_o", "i_i"},
  other = {{N = 1}, {N = 8}},
})
prim.accepted("loops with steps and lower bounds", {
  of = function()
    return tide.kernel {A = i32[9][9], function(A)
      for i = 1, 8, 3 do for j = 2, 8, 2 do A[i][j] = A[i][j] + i end end
    end}, {i32[9][9]}
  end, step = {"fuse", "i", "j"},
})
prim.accepted("two loops in a row", {
  of = function(z) return pair(0, z) end, step = {"fuse", "i", "j"}, other = {{N = 1}, {N = 9}},
}, function(s, name)
  t.eq(name, "i")
  t.eq(s:loops(), {"i"})
end)
prim.accepted("three loops in a row, locals in two of them", {
  of = function()
    return tide.kernel {A = i32[5], B = i32[5], C = i32[5], function(A, B, C)
      for i = 0, 4 do local x = A[i] B[i] = x + 1 end
      for j = 0, 4 do local x = B[j] C[j] = x * x end
      for k = 0, 4 do A[k] = C[k] end
    end}, {i32[5], i32[5], i32[5]}
  end, step = {"fuse", "i", "j", "k"},
})
prim.accepted("triangles in a row", {
  of = function(z)
    local N = z.N or 5
    return tide.kernel {A = i32[N][N], B = i32[N][N], function(A, B)
      for i = 0, N - 1 do for j = 0, i do A[i][j] = i + j end end
      for i = 0, N - 1 do for j = i, N - 1 do B[i][j] = A[i][0] + j end end
    end}, {i32[N][N], i32[N][N]}
  end, step = {"fuse", "i#1", "i#2"}, other = {{N = 1}, {N = 8}},
})
prim.accepted("a name of the second nest does not hide one of the first", {
  of = function()
    return tide.kernel {A = i32[4][4], B = i32[4][4], function(A, B)
      for i = 0, 3 do for j = 0, 3 do A[i][j] = i - j end end
      for j = 0, 3 do for i = 0, 3 do B[j][i] = A[j][i] end end
    end}, {i32[4][4], i32[4][4]}
  end, step = {"fuse", "i#1", "j#2"}, has = {"for i_1 = 0, 3 do", "B[i][i_1] = A[i][i_1]"},
})

prim.twins("a value that is not there yet", {
  of = pair, no = 1, yes = -1, step = {"fuse", "i", "j"}, code = "dependence", witness = "B",
})
prim.twins("a value that is overwritten before it is read", {
  of = function(d)
    return tide.kernel {A = i32[8], B = i32[8], function(A, B)
      for i = 1, 6 do B[i] = A[i + d] * 2 end
      for j = 1, 6 do A[j] = j end
    end}, {i32[8], i32[8]}
  end, no = -1, yes = 1, step = {"fuse", "i", "j"}, code = "dependence", witness = "A",
})
prim.twins("a value that is overwritten by an older one", {
  of = function(d)
    return tide.kernel {A = i32[8], B = i32[8], function(A, B)
      for i = 1, 6 do B[i] = A[i] end
      for j = 1, 6 do B[j + d] = j end
    end}, {i32[8], i32[8]}
  end, no = 1, yes = -1, step = {"fuse", "i", "j"}, code = "dependence", witness = "B",
})
prim.twins("a row that is not there yet, the outer loops of two nests", {
  of = function(d)
    return tide.kernel {A = i32[6][4], B = i32[6][4], C = i32[6][4], function(A, B, C)
      for i, j in tide.grid({1, 5}, 4) do B[i][j] = A[i][j] + j end
      for x, y in tide.grid({1, 5}, 4) do C[x][y] = B[x + d][y] end
    end}, {i32[6][4], i32[6][4], i32[6][4]}
  end, no = 1, yes = -1, step = {"fuse", "i", "x"}, code = "dependence", witness = "B",
})
prim.twins("a row that is not there yet, in calls", {
  of = function(d)
    local twice = tide.kernel {a = i32[4], b = i32[4], function(a, b)
      for n = 0, 3 do b[n] = a[n] * 2 end
    end}
    local again = twice:as "again"
    return tide.kernel {A = i32[6][4], B = i32[6][4], C = i32[6][4], function(A, B, C)
      for i = 1, 4 do twice(A[i], B[i]) end
      for j = 1, 4 do again(B[j + d], C[j]) end
    end}, {i32[6][4], i32[6][4], i32[6][4]}
  end, no = 1, yes = 0, step = {"fuse", "i", "j"}, code = "dependence", witness = "B",
})
prim.twins("a range that depends on an outer loop", {
  of = function(square)
    return tide.kernel {A = i32[5][5], function(A)
      for i = 0, 4 do
        if square then
          for j = 0, 4 do A[i][j] = A[i][j] + 1 end
        else
          for j = 0, i do A[i][j] = A[i][j] + 1 end
        end
      end
    end}, {i32[5][5]}
  end, no = false, yes = true, step = {"fuse", "i", "j"}, code = "not-rectangular",
})
prim.twins("a condition between the loops of a nest", {
  of = function(of_data)
    return tide.kernel {A = i32[5][4], n = i32[1], function(A, n)
      for i = 0, 4 do
        if of_data then
          if i < n[0] then
            for j = 0, 3 do A[i][j] = A[i][j] + 1 end
          end
        else
          if i % 2 == 1 then
            for j = 0, 3 do A[i][j] = A[i][j] + 1 end
          end
        end
      end
    end}, {i32[5][4], i32[1]}
  end, no = true, yes = false, step = {"fuse", "i", "j"}, code = "not-adjacent",
})
prim.accepted("a nest of three with conditions on indices between", {
  of = function(z)
    local N = z.N or 7
    return tide.kernel {A = i32[N][4][3], function(A)
      for i = 0, N - 1 do
        for j = 0, 3 do
          if i * 2 + j < N then
            if j ~= 2 then
              for k = 0, 2 do A[i][j][k] = A[i][j][k] * 3 + i + k end
            end
          end
        end
      end
    end}, {i32[N][4][3]}
  end, step = {"fuse", "i", "j", "k"}, other = {{N = 1}, {N = 12}},
})
prim.twins("ranges that are not equal", {
  of = function(last)
    return tide.kernel {A = i32[6], B = i32[6], function(A, B)
      for i = 0, 5 do A[i] = i end
      for j = 0, last - 1 do B[j] = A[j] end
    end}, {i32[6], i32[6]}
  end, no = 5, yes = 6, step = {"fuse", "i", "j"}, code = "ranges",
})
prim.twins("something between the loops", {
  of = function(between)
    return tide.kernel {A = i32[6], B = i32[6], function(A, B)
      for i = 0, 5 do A[i] = i end
      if between then B[0] = A[3] end
      for j = 0, 5 do B[j] = B[j] + A[j] end
    end}, {i32[6], i32[6]}
  end, no = true, yes = false, step = {"fuse", "i", "j"}, code = "not-adjacent",
})
t.test("a nest from the inside out: the help says how", function()
  local k = tide.kernel {A = i32[6][4], function(A) for i, j in tide.grid(6, 4) do A[i][j] = i + j end end}
  local e = t.fails(function() tide.schedule(k):fuse("j", "i") end, {code = "not-adjacent"})
  t.has(e.help, "outermost loop first")
  tide.schedule(k):fuse("i", "j")
end)
prim.twins("a loop that is left by break", {
  of = function(at)
    return tide.kernel {A = i32[4], B = i32[4], function(A, B)
      for i = 0, 3 do A[i] = i end
      for j = 0, 3 do
        if at == 2 then break end
        B[j] = A[j]
      end
    end}, {i32[4], i32[4]}
  end, no = 2, yes = 9, step = {"fuse", "i", "j"}, code = "break",
})
prim.twins("an inner range that data decides", {
  of = function(fixed)
    return tide.kernel {A = i32[4][4], n = i32[1], function(A, n)
      n[0] = 3
      for i = 0, 3 do
        if fixed then
          for j = 0, 2 do A[i][j] = i end
        else
          for j = 0, n[0] - 1 do A[i][j] = i end
        end
      end
    end}, {i32[4][4], i32[1]}
  end, no = false, yes = true, step = {"fuse", "i", "j"}, code = "trip-unknown",
})
prim.refused("one loop", {
  of = shape.gemm, step = {"fuse", "i"}, kind = "usage", code = "arguments"})
prim.refused("loops of two kernels", {
  of = shape.callee, step = {"fuse", "r", "row:i"}, kind = "usage", code = "units"})

t.test("a proof that holds no more goes", function()
  local s = tide.schedule((pair(-1)))
  s:parallel "i":parallel "j":fuse("i", "j")
  t.ok(not tostring(s):find "parallel", "still parallel")
  t.has(s:steps()[3].notes[1], "no longer parallel")
  s:undo()
  local same = tide.schedule((pair(0))):parallel "i":parallel "j":fuse("i", "j")
  t.has(tostring(same), "--@ parallel")
end)

prim.accepted("what stands between two loops goes after them", {
  of = function(z)
    local N = z.N or 6
    return tide.kernel {A = i32[N], B = i32[N], C = i32[N], function(A, B, C)
      for i = 0, N - 1 do A[i] = A[i] * 2 end
      for k = 0, N - 1 do C[k] = B[k] + A[k] end
      for j = 0, N - 1 do A[j] = A[j] + 1 end
      for v = 0, N - 1 do B[v] = A[v] end
    end}, {i32[N], i32[N], i32[N]}
  end, step = {"fuse", "j", "v"}, other = {{N = 1}},
})
local function apart(used, z)
  local N = z and z.N or 6
  return tide.kernel {A = i32[N], B = i32[N], C = i32[N], function(A, B, C)
    for i = 0, N - 1 do A[i] = A[i] * 2 end
    local x = i32(7)
    for k = 0, N - 1 do
      if used then C[k] = A[N - 1 - k] + x else C[k] = B[k] + x end
    end
    for j = 0, N - 1 do B[j] = A[j] + C[0] + x end
  end}, {i32[N], i32[N], i32[N]}
end
prim.twins("what stands between two loops goes before them, with what it declares", {
  of = apart, no = true, yes = false, step = {"fuse", "i", "j"}, code = "not-adjacent",
})

t.done()
