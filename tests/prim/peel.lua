-- peel.lua - peel: the first or last iterations of a loop as a loop of their own; what it lets fuse do.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, f32 = tide.i32, tide.f32
local shape = prim.shape
local at_end = {at = "end"}

prim.accepted("a perfect nest", {
  of = shape.gemm, step = {"peel", "k", 1}, has = {"for k_p = 0, 0 do", "for k = 1, K - 1 do"},
  other = {{M = 2, N = 3, K = 1}, {M = 2, N = 2, K = 0}, {M = 1, N = 2, K = 9}},
}, function(_, name) t.eq(name, "k_p") end)
prim.accepted("a perfect nest, at the end", {
  of = shape.gemm, step = {"peel", "k", 2, at_end}, has = {"for k = 0, K - 3 do", "for k_p = K - 2, K - 1 do"},
  other = {{M = 2, N = 3, K = 1}, {M = 2, N = 2, K = 0}, {M = 1, N = 2, K = 9}},
})
prim.accepted("the outer loop of a triangle", {
  of = shape.triangle, step = {"peel", "i", 2}, other = {{N = 1}, {N = 9}},
})
prim.accepted("the inner loop of a triangle", {
  of = shape.triangle, step = {"peel", "j", 3}, other = {{N = 1}, {N = 9}},
})
prim.accepted("the inner loop of a triangle, at the end", {
  of = shape.triangle, step = {"peel", "j", 3, at_end}, other = {{N = 1}, {N = 2}, {N = 9}},
})
prim.accepted("a loop that was split with a tail", {
  of = shape.scale, before = function(s) s:split("i", 3) end, step = {"peel", "i_o", 1, at_end},
  other = {{N = 1}, {N = 8}},
})
prim.accepted("inside a callee", {
  of = shape.callee, step = {"peel", "row:i", 2}, other = {{M = 1, N = 7}, {M = 2, N = 1}},
})
prim.accepted("two arrays", {of = shape.scale, step = {"peel", "i", 7}, other = {{N = 2}}})
local function stepped(z)
  local N = z.N or 20
  return tide.kernel {A = i32[N], function(A)
    for i = 2, N - 1, 3 do A[i] = A[i - 2] + i end
  end}, {i32[N]}
end
prim.accepted("a loop with a step", {of = stepped, step = {"peel", "i", 2}, other = {{N = 3}, {N = 8}, {N = 9}}})
prim.accepted("a loop with a step, at the end", {
  of = stepped, step = {"peel", "i", 2, at_end}, other = {{N = 3}, {N = 8}, {N = 9}},
})
prim.accepted("a loop that always runs has no guard", {
  of = function()
    return tide.kernel {A = i32[8], function(A) for i = 0, 7 do A[i] = i end end}, {i32[8]}
  end, step = {"peel", "i", 3, at_end},
}, function(s) t.ok(not tostring(s):find("if ", 1, true)) end)

-- B[i] = .. for i in 0..N, then C from B before it, which has no first element.
local function before(z)
  local N = z.N or 8
  return tide.kernel {A = f32[N], B = f32[N], C = f32[N], function(A, B, C)
    for i = 0, N - 1 do B[i] = A[i] * 2.0 end
    for j = 2, N - 1 do C[j] = B[j - 2] + 1.0 end
  end}, {f32[N], f32[N], f32[N]}
end
prim.accepted("ranges that differ by a peel are fused", {
  of = before, before = function(s) s:peel("i", 2) end,
  step = {"fuse", "i", "j"}, other = {{N = 1}, {N = 5}},
})
t.test("the refusal of fuse tells the peel", function()
  local e = prim.refuse {of = before, step = {"fuse", "i", "j"}, code = "ranges"}
  t.has(tostring(e), 's:peel("i", 2)')
end)

local function of(_, z) return shape.gemm(z or {}) end
for _, c in ipairs {
  {"nothing", {"peel", "k", 0}, {"peel", "k", 1}, "count"},
  {"more than it has", {"peel", "k", 7}, {"peel", "k", 6}, "count"},
  {"less than nothing", {"peel", "k", -1, at_end}, {"peel", "k", 1, at_end}, "count"},
  {"a loop that is not there", {"peel", "x", 1}, {"peel", "i", 1}, "no-loop"},
} do
  prim.twins(c[1], {of = of, no = 1, yes = 1, step = c[2], yes_step = c[3], code = c[4], kind = "usage"})
end
prim.twins("a loop that is left by break", {
  of = function(leave)
    return tide.kernel {A = i32[8], function(A)
      for i = 0, 7 do
        if leave then
          if A[i] < 0 then break end
        end
        A[i] = i
      end
    end}, {i32[8]}
  end, no = true, yes = false, step = {"peel", "i", 1}, code = "break",
})
prim.twins("a bound that the body writes", {
  of = function(writes)
    return tide.kernel {A = i32[8], n = i32[2], function(A, n)
      for i = 0, tide.min(tide.max(n[0], 0), 7) do
        A[i] = i
        if writes then n[0] = 1 else n[1] = 1 end
      end
    end}, {i32[8], i32[2]}
  end, no = true, yes = true, step = {"peel", "i", 1}, code = "bound-written", kind = "unsupported",
  yes_step = {"shift", "i", 1}, undecided = true,
})

t.done()
