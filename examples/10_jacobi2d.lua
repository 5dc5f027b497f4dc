-- 10_jacobi2d: PolyBench jacobi-2d with a line and a window buffer (Allo, PLDI 2024, section 8.2): reuse_at twice.
-- Run: tide examples/10_jacobi2d.lua [T N]     (default 20 30)
-- Each element of the input is read from memory once a sweep; the inner loop starts an iteration every cycle.
local tide = require "tide"
local f32, grid = tide.f32, tide.grid
local T, N = tonumber(arg[1] or 20), tonumber(arg[2] or 30)

local sweep = tide.kernel {
  src = f32[N][N], dst = f32[N][N],
  function(src, dst)
    for i, j in grid({ 1, N - 1 }, { 1, N - 1 }) do
      dst[i][j] = 0.2 * (src[i][j] + src[i][j - 1] + src[i][j + 1] + src[i + 1][j] + src[i - 1][j])
    end
  end,
}
local jacobi = tide.kernel {
  A = f32[N][N], B = f32[N][N],
  function(A, B)
    for _ in grid(T) do
      sweep(A, B)
      sweep(B, A)
    end
  end,
}

-- Three lines of the input that move down with i; in them a window of 3 x 3 that moves right with j.
local w = tide.schedule(sweep)
local _, lines = w:reuse_at("src", "i")
local _, window = w:reuse_at(lines, "j")
w:partition(lines, 0):partition(window)
for _, loop in ipairs { "j_init", "j_load", "d0_init", "j" } do w:pipeline(loop) end
print(w)

-- Both calls of the sweep get that schedule; the whole is the same program, bit for bit.
local s = tide.schedule(jacobi):compose(w)
local level, verdict = s:verify()
print(verdict)
assert(level == "strict")

local A, B = tide.random(f32[N][N], 1), tide.random(f32[N][N], 2)
local A2, B2 = A:copy(), B:copy()
s(A, B)
jacobi:native(A2, B2)
assert(A:allclose(A2) and B:allclose(B2))
print("the schedule and plain Lua agree")

print(w:estimate())

--> local tide = ...
--> ...
-->     local src_i = f32[3][N]() --@ partition(0, complete, 0)
--> ...
-->       local src_i_j = f32[3][3]() --@ partition(0, complete, 0) partition(1, complete, 0)
--> ...
--> proved: strict
--> ...
