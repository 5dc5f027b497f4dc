-- unroll.lua - unroll: the attribute, and copies written out.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32 = tide.i32
local shape = prim.shape

-- How often a part occurs in text.
local function count(text, part) return select(2, text:gsub(part, "")) end

prim.accepted("the attribute, all of a loop", {
  of = shape.gemm, step = {"unroll", "k"}, has = {"--@ unroll(0)"}, other = {{K = 1}},
})
prim.accepted("the attribute, some copies, in a triangle", {
  of = shape.triangle, step = {"unroll", "j", 4}, has = {"--@ unroll(4)"}, other = {{N = 1}},
})
prim.accepted("the attribute on a collapsed nest", {
  of = shape.gemm, before = function(s) s:fuse("i", "j", "k") end, step = {"unroll", "i_j_k"},
  has = {"--@ unroll(0)"},
})
prim.accepted("the attribute on a call's loop", {of = shape.callee, step = {"unroll", "r", 2}})
prim.accepted("copies of a perfect nest's inner loop", {
  of = shape.gemm, step = {"unroll", "k", {replace = true}}, has = {"A[i][5] * B[5][j]"},
}, function(s)
  t.eq(count(tostring(s), "A%[i%]"), 6)
  t.has(tostring(s), "tide.assume(K == 6)")
end)
prim.accepted("copies of an outer loop, whose inner loops get names", {
  of = shape.cube, step = {"unroll", "x", {replace = true}},
}, function(s) t.eq(s:loops(), {"y", "v", "y_1", "v_1"}) end)
prim.accepted("copies of the inner loop of a split with a tail", {
  of = shape.gemm, before = function(s) s:split("k", 4) end,
  step = {"unroll", "k_i", {replace = true}}, other = {{M = 2, N = 2, K = 9}},
}, function(s) t.eq(count(tostring(s), "if k_o"), 4) end)
prim.accepted("some copies, the size a multiple", {
  of = shape.scale, before = function(s) s:split("i", 4) end,
  step = {"unroll", "i_i", 2, {replace = true}}, has = {"for i_i = 0, 3, 2 do"},
  other = {{N = 1}, {N = 9}},
})
prim.accepted("some copies of a loop over a size", {
  of = shape.gemm, step = {"unroll", "k", 3, {replace = true}}, has = {"tide.assume(K % 3 == 0)"},
  other = {{K = 3}, {M = 2, N = 3, K = 9}},
})
prim.accepted("copies inside a callee", {
  of = shape.callee, step = {"unroll", "row:j", {replace = true}}, other = {{M = 2, N = 7}},
})
prim.accepted("copies with locals keep apart", {
  of = function()
    return tide.kernel {A = i32[4], B = i32[4], function(A, B)
      for i = 0, 3 do
        local x = A[i] * 2
        B[i] = x + i
      end
    end}, {i32[4], i32[4]}
  end, step = {"unroll", "i", {replace = true}}, has = {"local x = ", "local x_3 = "},
})
prim.accepted("copies of a loop with a lower bound and a step", {
  of = function()
    return tide.kernel {A = i32[12], function(A)
      for i = 1, 11, 3 do A[i] = A[i - 1] + i end
    end}, {i32[12]}
  end, step = {"unroll", "i", {replace = true}}, has = {"A[10] = A[9] + i32(10)"},
})

prim.twins("a range that an outer loop decides", {
  of = function(square)
    return tide.kernel {A = i32[4][4], function(A)
      for i = 0, 3 do
        if square then
          for j = 0, 2 do A[i][j] = A[i][j] + 1 end
        else
          for j = 0, i do A[i][j] = A[i][j] + 1 end
        end
      end
    end}, {i32[4][4]}
  end, no = false, yes = true, step = {"unroll", "j", {replace = true}}, code = "trip-unknown",
})
prim.twins("a factor that does not divide", {
  of = function(n)
    return tide.kernel {A = i32[10], function(A)
      for i = 0, n - 1 do A[i] = A[i] + i end
    end}, {i32[10]}
  end, no = 10, yes = 9, step = {"unroll", "i", 3, {replace = true}}, code = "not-divisible",
})
prim.twins("a loop that is left by break", {
  of = function(at)
    return tide.kernel {A = i32[4], function(A)
      for i = 0, 3 do
        if at == 2 then break end
        A[i] = i
      end
    end}, {i32[4]}
  end, no = 2, yes = 9, step = {"unroll", "i", {replace = true}}, code = "break",
})
prim.twins("more copies than are written out", {
  of = function(n)
    return tide.kernel {A = i32[5000], function(A)
      for i = 0, n - 1 do A[i] = 1 end
    end}, {i32[5000]}
  end, no = 4097, yes = 200, step = {"unroll", "i", {replace = true}}, code = "too-many-copies",
  kind = "limit",
})
prim.refused("a negative factor", {
  of = shape.gemm, step = {"unroll", "k", -1}, kind = "usage", code = "factor"})
prim.refused("a loop that is not there", {
  of = shape.gemm, step = {"unroll", "q"}, kind = "usage", code = "no-loop"})

t.done()
