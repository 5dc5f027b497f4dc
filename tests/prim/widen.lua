-- widen.lua - widen: a loop whose range depends on loops around it gets one range, its body a condition; what it lets
-- reorder and unfold do.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32 = tide.i32
local shape = prim.shape

prim.accepted("a triangle", {
  of = shape.triangle, step = {"widen", "j"}, has = {"for j = 0, N - 1 do", "if j < i + 1 then"},
  other = {{N = 1}, {N = 9}},
})
prim.accepted("a triangle from its diagonal on", {
  of = function(z)
    local N = z.N or 6
    return tide.kernel {A = i32[N][N], function(A)
      for i = 0, N - 1 do
        for j = i, N - 1 do A[i][j] = A[i][j] + i * j end
      end
    end}, {i32[N][N]}
  end, step = {"widen", "j"}, has = {"if i <= j then"}, other = {{N = 1}, {N = 9}},
})
prim.accepted("a loop that depends on another that does", {
  of = function(z)
    local N = z.N or 5
    return tide.kernel {A = i32[N], function(A)
      for i = 0, N - 1 do
        for j = 0, i do
          A[j] = A[j] + 1
          for k = j, i do A[k] = A[k] + i - j end
        end
      end
    end}, {i32[N]}
  end, step = {"widen", "k"}, has = {"for k = 0, N - 1 do", "if j <= k and k < i + 1 then"}, other = {{N = 1}, {N = 8}},
})
prim.accepted("a band", {
  of = function(z)
    local N = z.N or 7
    return tide.kernel {A = i32[N][N], function(A)
      for i = 0, N - 1 do
        for j = tide.max(0, i - 1), tide.min(N - 1, i + 2) do A[i][j] = A[i][j] + i end
      end
    end}, {i32[N][N]}
  end, step = {"widen", "j"}, has = {"for j = 0, N - 1 do"}, other = {{N = 1}, {N = 2}, {N = 9}},
})
prim.accepted("a loop below a tile", {
  of = shape.triangle, before = function(s) s:split("i", 4) end, step = {"widen", "j"}, other = {{N = 1}, {N = 9}},
})
prim.accepted("a loop that is left by break", {
  of = function()
    return tide.kernel {A = i32[6], function(A)
      for i = 0, 5 do
        for j = 0, i do
          if A[j] > 1000 then break end
          A[j] = A[j] + i
        end
      end
    end}, {i32[6]}
  end, step = {"widen", "j"}, undecided = true,
})

t.test("what it is for: a triangle's inner loop becomes tasks", function()
  local function schedule()
    return tide.schedule((tide.kernel {A = i32[4][4], function(A)
      for k = 0, 3 do
        for i = k, 3 do A[k][i] = A[k][i] * 3 end
      end
    end}))
  end
  local s = schedule()
  t.fails(function() s:unfold("k", {loops = {"i"}, name = "row"}) end, {code = "extent"})
  s:widen("i"):unfold("k", {loops = {"i"}, name = "row"})
  t.has(tostring(s), "map = {4}")
  t.eq((s:verify()), "strict")
end)

prim.refused("a loop whose range depends on no other", {of = shape.triangle, step = {"widen", "i"}, code = "ranges"})
prim.refused("a loop with a step", {
  of = function()
    return tide.kernel {A = i32[9], function(A)
      for i = 0, 8 do for j = i, 8, 2 do A[j] = A[j] + i end end
    end}, {i32[9]}
  end, step = {"widen", "j"}, kind = "unsupported", code = "step",
})
prim.refused("a range that is not affine", {
  of = function()
    return tide.kernel {A = i32[9], function(A)
      for i = 0, 2 do for j = 0, i * i do A[j] = A[j] + i end end
    end}, {i32[9]}
  end, step = {"widen", "j"}, kind = "unsupported", code = "bounds",
})
prim.refused("a range that the data decides", {
  of = function()
    return tide.kernel {A = i32[9], n = i32[9], function(A, n)
      for i = 0, 8 do for j = i, n[i] do A[i] = A[i] + j end end
    end}, {i32[9], i32[9]}
  end, step = {"widen", "j"}, kind = "unsupported", code = "bounds",
})
prim.refused("a range that its body changes", {
  of = function()
    return tide.kernel {n = i32[9], function(n)
      for i = 0, 8 do for j = i, n[0] do n[0] = j end end
    end}, {i32[9]}
  end, step = {"widen", "j"}, kind = "unsupported", code = "bound-written",
})
prim.refused("a loop around it whose range the body changes", {
  of = function()
    return tide.kernel {c = i32[5], function(c)
      for i = 0, c[0] - 1 do for j = i, i + 1 do c[0] = c[0] + j end end
    end}, {i32[5]}
  end, step = {"widen", "j"}, kind = "unsupported", code = "bound-written",
})

t.done()
