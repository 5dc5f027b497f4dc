-- session.lua - a session that uses all parts of Tide; what it makes is kept in the table it is
-- given, so that the probe can look at it when something failed.
-- luacheck: globals alone
local made = ...
local tide = require "tide"
local i8, i32, f32, grid, task = tide.i8, tide.i32, tide.f32, tide.grid, tide.task

made.tide = tide
local M, N, K = 4, 3, 6
made.gemm = tide.kernel {A = i8[M][K], B = i8[K][N], C = i32[M][N], function(A, B, C)
  for i, j in grid(M, N) do
    for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
  end
end}
local s = tide.schedule(made.gemm)
made.schedule = s
s:split("k", 4)
s:reorder("k_o", "i", "j", "k_i")
local _, tile = s:buffer_at("B", "k_o")
s:partition(tile, 1)
s:pipeline("k_i")
s:unroll("j")
assert(s:verify() == "strict")
made.refused = select(2, s:can("reorder", "k_i", "k_o"))

local A, B, C = tide.random(i8[M][K], 1), tide.random(i8[K][N], 2), i32[M][N](0)
made.gemm:reference(A, B, C)
s(A, B, C)
made.C = C
made.text = tostring(s)
made.again = load(made.text)()
made.log = tostring(s:log())
made.hls = s:build {target = "hls"}
made.estimate = s:estimate {device = "u280"}

made.design = tide.design(function(d)
  local Z = d:stream(f32, {2, depth = 2})
  d.feed = task {A = f32[6], function(A)
    for i = 0, 2 do
      Z[0]:put(A[2 * i])
      Z[1]:put(A[2 * i + 1])
    end
  end}
  d.scale = task {map = {2}, B = (f32[2]):layout "S0", function(B, t)
    local sum = f32(0)
    for _ = 0, 2 do sum = sum + Z[t]:get() end
    B[0] = sum
  end}
end)
made.sums = f32[2](0)
made.design(tide.random(f32[6], 3), made.sums)
made.graph = tostring(made.design)
assert(not pcall(tide.kernel, {A = i32[4], function(A) A[4] = 1 end}))

alone(true)
made.file = os.tmpname()
C:save(made.file)
made.loaded = tide.load(made.file)
os.remove(made.file)
alone(false)
made.sum = i32[M][N](C + 1)
made.row = tostring(C[1])

local f = s:fork()
f:undo(2)
f:unroll("j", 3)
made.fork = f
made.diff = f:diff(1, 2)
local wrong = tide.kernel {A = i8[M][K], B = i8[K][N], C = i32[M][N], function(A, B, C)
  for i, j in grid(M, N) do
    for k = 1, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
  end
end}
local level, verdict = tide.verify(made.gemm, wrong)
assert(level == nil)
made.verdict = tostring(verdict)

local row = tide.schedule(made.gemm)
local _, part = row:buffer_at("A", "i")
row:partition(part)
row:unfold("i")
made.unfolded = row
assert(row:verify() == "strict")
