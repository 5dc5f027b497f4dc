-- shift.lua - shift: the range of a loop moves by a number; what it lets fuse do.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, f32 = tide.i32, tide.f32
local shape = prim.shape

prim.accepted("a perfect nest", {
  of = shape.gemm, step = {"shift", "k", 3}, has = {"for k = 3, K + 2 do", "A[i][k - 3]"},
  other = {{M = 2, N = 3, K = 1}, {M = 1, N = 2, K = 9}},
})
prim.accepted("the outer loop of a triangle, backward", {
  of = shape.triangle, step = {"shift", "i", -2}, has = {"for i = -2, N - 3 do"}, other = {{N = 1}, {N = 9}},
})
prim.accepted("the inner loop of a triangle", {
  of = shape.triangle, step = {"shift", "j", 1}, other = {{N = 1}, {N = 9}},
})
prim.accepted("a loop that was split with a tail", {
  of = shape.scale, before = function(s) s:split("i", 3) end, step = {"shift", "i_i", 5},
  other = {{N = 1}, {N = 8}},
})
prim.accepted("inside a callee", {of = shape.callee, step = {"shift", "row:i", 4}, other = {{M = 1, N = 7}}})
prim.accepted("two arrays, a variable that is data", {
  of = shape.scale, step = {"shift", "i", 1000}, has = {"+ (i - 1000)"}, other = {{N = 2}},
})
prim.accepted("a loop with a step", {
  of = function()
    return tide.kernel {A = i32[20], function(A)
      for i = 2, 19, 3 do A[i] = A[i - 2] + i end
    end}, {i32[20]}
  end, step = {"shift", "i", -1}, has = {"for i = 1, 18, 3 do"},
})
prim.accepted("a loop that is left by break, and one whose bound its body writes", {
  of = function()
    return tide.kernel {A = i32[9], p = i32[1], function(A, p)
      for i = 0, tide.min(tide.max(p[0], 0), 8) do
        p[0] = i
        if A[i] < 0 then break end
        A[i] = i
      end
    end}, {i32[9], i32[1]}
  end, step = {"shift", "i", 2}, undecided = true,
})

-- B[i] = .. for i in 0..N, then C from B at the same place, over a range that begins one later.
local function later(z)
  local N = z.N or 8
  return tide.kernel {A = f32[N], B = f32[N], C = f32[N + 1], function(A, B, C)
    for i = 0, N - 1 do B[i] = A[i] * 2.0 end
    for j = 1, N do C[j] = B[j - 1] + 1.0 end
  end}, {f32[N], f32[N], f32[N + 1]}
end
prim.accepted("ranges that differ by a shift are fused", {
  of = later, before = function(s) s:shift("j", -1) end,
  step = {"fuse", "i", "j"}, other = {{N = 1}, {N = 5}},
})
t.test("the refusal of fuse tells the shift", function()
  local e = prim.refuse {of = later, step = {"fuse", "i", "j"}, code = "ranges"}
  t.has(tostring(e), 's:shift("j", -1)')
end)
-- B from A, then C from both neighbours in B.
local function stencil(z)
  local N = z.N or 12
  return tide.kernel {A = f32[N], B = f32[N], C = f32[N], function(A, B, C)
    for i = 0, N - 1 do B[i] = A[i] * 2.0 end
    for j = 1, N - 2 do C[j] = B[j - 1] + B[j + 1] end
  end}, {f32[N], f32[N], f32[N]}
end
prim.refused("a stencil is not fused where a neighbour is still to come", {
  of = stencil, before = function(s) s:peel("i", 1):peel("i", 1, {at = "end"}) end, step = {"fuse", "i", "j"},
  code = "dependence", witness = "B",
})
prim.accepted("it is where the shift waits for it", {
  of = stencil, before = function(s) s:shift("j", 1):peel("i", 2) end, step = {"fuse", "i", "j"},
  other = {{N = 5}, {N = 2}},
})

local function of(_, z) return shape.gemm(z or {}) end
for _, c in ipairs {
  {"by nothing", {"shift", "k", 0}, {"shift", "k", 1}, "amount"},
  {"farther than an index goes", {"shift", "k", 1 << 40}, {"shift", "k", 1 << 20}, "amount"},
  {"farther back", {"shift", "k", -(1 << 62)}, {"shift", "k", -5}, "amount"},
  {"a loop that is not there", {"shift", "x", 1}, {"shift", "i", 1}, "no-loop"},
  {"a loop of a kernel that is not there", {"shift", "f:i", 1}, {"shift", "gemm:i", 1}, "no-unit"},
} do
  prim.twins(c[1], {of = of, no = 1, yes = 1, step = c[2], yes_step = c[3], code = c[4], kind = "usage"})
end
prim.twins("a name that two loops have", {
  of = function()
    return tide.kernel {A = i32[4], function(A)
      for i = 0, 3 do A[i] = i end
      for i = 0, 3 do A[i] = A[i] * 2 end
    end}, {i32[4]}
  end, no = 1, yes = 1, step = {"shift", "i", 1}, yes_step = {"shift", "i#2", 1}, code = "ambiguous-loop",
  kind = "usage",
})

t.done()
