-- outline.lua - outline: nests of every kind become kernels; scalars, states, jumps that cannot.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i16, i32, f32, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.grid
local shape = prim.shape

prim.accepted("the inner loop of a nest: outer variables come by value", {
  of = shape.gemm, step = {"outline", "k", "dot"}, other = {{M = 2, N = 3, K = 7}},
  has = {"local dot = tide.kernel {", "i = index,", "dot(C, i, j, A, B)"},
}, function(_, made) t.eq(made, "dot") end)
prim.accepted("all of a nest", {
  of = shape.gemm, step = {"outline", "i", "body"}, other = {{M = 3, N = 2, K = 1}},
})
prim.accepted("a triangle", {
  of = shape.triangle, step = {"outline", "j", "row"}, other = {{N = 9}},
})
prim.accepted("inside a callee", {of = shape.callee, step = {"outline", "row:j", "twice"}})
prim.accepted("three dimensions, one loop down", {
  of = shape.cube, step = {"outline", "y", "plane"},
})
prim.accepted("after split", {
  of = shape.gemm, before = function(s) s:split("k", 2) end, step = {"outline", "k_i", "pair"},
  has = {"k_o = index,"},
})
prim.accepted("an extent of a size that the loop does not name is a number there", {
  of = function()
    local N, M = 3, 8
    return tide.kernel {A = i32[N][M // 2], function(A)
      for i = 0, N - 1 do
        for j = 0, 3 do A[i][j] = A[i][j] + j end
        for m = 0, M - 1 do A[i][m // 2] = A[i][m // 2] * 3 end
      end
    end}, {i32[N][M // 2]}
  end,
  step = {"outline", "j", "four"}, has = {"A = i32[N][4],", "tide.assume(M == 8)"},
})
prim.accepted("a local buffer, a scalar that is read", {
  of = function()
    return tide.kernel {A = i32[6], B = i32[6], n = i16, function(A, B, n)
      local b = i32[6](2)
      local s = i32(i32(n) + 1)
      for i = 0, 5 do b[i] = b[i] * A[i] + s end
      B:set(b)
    end}, {i32[6], i32[6], 3}
  end,
  step = {"outline", "i", "scale"}, has = {"s = i32,"},
})
prim.accepted("a constant is copied, and stays where it is used too", {
  of = function()
    local w = tide.tensor(i8[4], {1, -2, 3, -4})
    return tide.kernel {A = i32[4], function(A)
      for i = 0, 3 do A[i] = A[i] * w[i] end
      for i = 0, 3 do A[i] = A[i] + w[3 - i] end
    end}, {i32[4]}
  end,
  step = {"outline", "i#1", "times"}, has = {"times(A)"},
})

prim.twins("a scalar that the nest assigns", {
  no = true, yes = false, code = "scalar", step = {"outline", "k", "sum"}, match = "'acc'",
  of = function(outside)
    return tide.kernel {A = i32[3][4], y = i32[3], function(A, y)
      for i = 0, 2 do
        if outside then
          local acc = i32(0)
          for k = 0, 3 do acc = i32(acc + A[i][k]) end
          y[i] = acc
        else
          local acc = i32[1](0)
          for k = 0, 3 do acc[0] = acc[0] + A[i][k] end
          y[i] = acc[0]
        end
      end
    end}, {i32[3][4], i32[3]}
  end,
})
prim.twins("a state that others use", {
  no = true, yes = false, code = "state", step = {"outline", "i", "f"}, undecided = false,
  of = function(shared)
    local seen = tide.state(i32[1], 0)
    return tide.kernel {A = i32[3], function(A)
      for i = 0, 2 do seen[0] = seen[0] + A[i] end
      if shared then A[0] = seen[0] else A[0] = 1 end
    end}, {i32[3]}
  end,
})
prim.twins("a return", {
  no = true, yes = false, code = "return", step = {"outline", "i", "f"},
  of = function(returns)
    return tide.kernel {A = i32[3], n = tide.index, function(A, n)
      for i = 0, 2 do
        if returns then
          if i == n then return end
        end
        A[i] = i
      end
    end}, {i32[3], 1}
  end,
})
for _, word in ipairs {"gemm", "A", "end"} do
  prim.refused("a kernel called " .. word, {
    of = shape.gemm, step = {"outline", "k", word}, kind = "usage", code = "name",
  })
end
prim.refused("a loop that is not there", {
  of = shape.gemm, step = {"outline", "kk", "f"}, kind = "usage", code = "no-loop",
})

t.test("floats keep their order", function()
  local k = tide.kernel {A = f32[5][6], y = f32[5], function(A, y)
    for i, j in grid(5, 6) do y[i] = y[i] + A[i][j] end
  end}
  local s = tide.schedule(k)
  s:outline("j", "row")
  t.eq((s:verify()), "strict")
end)

t.done()
