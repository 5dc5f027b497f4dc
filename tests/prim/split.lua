-- split.lua - split: accepted shapes, tails, names, refusals.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32 = tide.i32
local shape = prim.shape

prim.accepted("a perfect nest, factor divides", {
  of = shape.gemm, step = {"split", "k", 3}, has = {"for k_o = 0, ", "k_o * 3 + k_i < K"},
  other = {{M = 2, N = 3, K = 7}, {M = 1, N = 1, K = 1}, {M = 3, N = 2, K = 9}},
}, function(_, outer, inner) t.eq({outer, inner}, {"k_o", "k_i"}) end)
prim.accepted("a factor of 1: a loop of one", {
  of = shape.gemm, step = {"split", "k", 1}, has = {"for k_o = 0, K - 1", "for k_i = 0, 0"},
  other = {{M = 2, N = 3, K = 1}, {M = 1, N = 1, K = 4}},
})
prim.accepted("a perfect nest, outermost, with a tail that is cut", {
  of = shape.gemm, step = {"split", "i", 3, {tail = "cut"}}, has = {"for i_t = "},
  other = {{M = 7, N = 2, K = 2}, {M = 3, N = 2, K = 2}, {M = 2, N = 2, K = 2}},
})
prim.accepted("perfect adds an assumption on a size", {
  of = shape.gemm, step = {"split", "k", 2, {tail = "perfect"}},
  has = {"tide.assume(K % 2 == 0)"}, other = {{M = 2, N = 3, K = 8}},
})
prim.accepted("the outer loop of a triangle", {
  of = shape.triangle, step = {"split", "i", 4}, other = {{N = 9}, {N = 3}},
})
prim.accepted("the inner loop of a triangle", {
  of = shape.triangle, step = {"split", "j", 4}, other = {{N = 9}, {N = 4}},
})
prim.accepted("a loop that was split with a tail", {
  of = shape.gemm, before = function(s) s:split("k", 4) end, step = {"split", "k_i", 3},
  has = {"for k_i_o = "}, other = {{M = 2, N = 2, K = 9}},
})
prim.accepted("inside a callee", {
  of = shape.callee, step = {"split", "row:i", 2}, other = {{M = 2, N = 8}},
})
prim.accepted("one loop, two arrays, names given", {
  of = shape.scale, step = {"split", "i", 3, {names = {"tile", "lane"}}},
  has = {"for tile = ", "for lane = "}, other = {{N = 1}, {N = 12}},
}, function(_, outer, inner) t.eq({outer, inner}, {"tile", "lane"}) end)
prim.accepted("three dimensions", {
  of = shape.cube, step = {"split", "y", 2}, other = {{P = 1, Q = 5, R = 2}},
})
prim.accepted("a range that may be empty, cut", {
  of = function(z)
    local N = z.N or 9
    return tide.kernel {A = i32[N + 4], function(A)
      for i = 1, N - 2 do A[i] = A[i] + i end
    end}, {i32[N + 4]}
  end, step = {"split", "i", 3, {tail = "cut"}}, other = {{N = 0}, {N = 1}, {N = 2}, {N = 8}},
})
prim.accepted("a loop with a step and a lower bound", {
  of = function(z)
    local N = z.N or 11
    return tide.kernel {A = i32[N], function(A)
      for i = 2, N - 1, 3 do A[i] = A[i - 2] + i end
    end}, {i32[N]}
  end, step = {"split", "i", 2}, other = {{N = 5}, {N = 20}},
})

t.test("attributes go where the table says", function()
  local s = tide.schedule((shape.gemm {}))
  s:pipeline("k", 2):split("k", 3)
  t.has(tostring(s), "for k_i = 0, 2 do --@ pipeline(2)")
end)

prim.twins("perfect needs a factor that divides", {
  of = function(n)
    return tide.kernel {A = i32[12], function(A)
      for i = 0, n - 1 do A[i] = A[i] + 1 end
    end}, {i32[12]}
  end, no = 10, yes = 12, step = {"split", "i", 4, {tail = "perfect"}}, code = "not-divisible",
})
prim.twins("perfect of a range that no size fixes", {
  of = function(fours)
    local N = 8
    return tide.kernel {A = i32[N][4 * N], function(A)
      for i = 0, N - 1 do
        if fours then
          for j = 0, i * 4 - 1 do A[i][j] = A[i][j] + 1 end
        else
          for j = 0, i * 3 - 1 do A[i][j] = A[i][j] + 1 end
        end
      end
    end}, {i32[N][4 * N]}
  end, no = false, yes = true, step = {"split", "j", 4, {tail = "perfect"}}, code = "not-divisible",
})
prim.twins("a loop that is left by break", {
  of = function(column)
    return tide.kernel {A = i32[6], function(A)
      for i = 0, 5 do
        for j = 0, 5 do
          if j == column then break end
          A[j] = A[j] + i
        end
        if column == 3 then break end
      end
    end}, {i32[6]}
  end, no = 3, yes = 4, step = {"split", "i", 4}, code = "break",
})
prim.twins("a bound that the body writes", {
  of = function(same)
    return tide.kernel {A = i32[8], n = i32[1], m = i32[1], function(A, n, m)
      n[0] = 5
      for i = 0, n[0] - 1 do
        A[i] = i
        if same then n[0] = 3 else m[0] = 3 end
      end
    end}, {i32[8], i32[1], i32[1]}
  end, no = true, yes = false, step = {"split", "i", 2}, code = "bound-written",
  kind = "unsupported",
})
prim.refused("a factor of nothing", {
  of = shape.gemm, step = {"split", "k", 0}, kind = "usage", code = "factor"})
prim.refused("a factor as large as the loop", {
  of = shape.gemm, step = {"split", "k", 6}, kind = "usage", code = "factor"})
prim.refused("one name", {
  of = shape.gemm, step = {"split", "k", 2, {names = {"o"}}}, kind = "usage", code = "names"})
prim.refused("a name twice", {
  of = shape.gemm, step = {"split", "k", 2, {names = {"o", "o"}}}, kind = "usage", code = "names"})
prim.refused("a name that is taken", {
  of = shape.gemm, step = {"split", "k", 2, {names = {"o", "i"}}}, kind = "usage", code = "name"})
prim.refused("a name that is no name", {
  of = shape.gemm, step = {"split", "k", 2, {names = {"end", "o"}}}, kind = "usage",
  code = "name"})
prim.refused("a loop that is not there", {
  of = shape.gemm, step = {"split", "kk", 2}, kind = "usage", code = "no-loop", match = "'k'"})
prim.refused("a name that two loops have", {
  of = function()
    return tide.kernel {A = i32[4], function(A)
      for i = 0, 3 do A[i] = 1 end
      for i = 0, 3 do A[i] = A[i] + 2 end
    end}, {i32[4]}
  end, step = {"split", "i", 2}, kind = "usage", code = "ambiguous-loop", match = "i#2"})

t.done()
