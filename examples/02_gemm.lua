-- 02_gemm: an int8 matrix product from its Lua source to a verified schedule, a CPU run and HLS C++.
-- Run: tide examples/02_gemm.lua [M N K [seed]]     (default 64 64 64 1)
-- Each step prints what it changed and how it was verified; a step that would be wrong is refused with a witness.
local tide = require "tide"
local i8, i32, grid = tide.i8, tide.i32, tide.grid
local M, N, K = tonumber(arg[1] or 64), tonumber(arg[2] or 64), tonumber(arg[3] or 64)
local seed = tonumber(arg[4] or 1)
local dir = "build/02_gemm"

-- Inputs, written first and read back.
os.execute("mkdir -p " .. dir)
tide.random(i8[M][K], seed):save(dir .. "/A.npy")
tide.random(i8[K][N], seed + 1):save(dir .. "/B.npy")
local A, B = tide.load(dir .. "/A.npy", i8[M][K]), tide.load(dir .. "/B.npy", i8[K][N])

local gemm = tide.kernel {
  A = i8[M][K], B = i8[K][N], C = i32[M][N],
  function(A, B, C)
    for i, j in grid(M, N) do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end,
}

-- A step of the schedule: prints its diff and its verification; keeps a row for the table at the end.
local s, rows = tide.schedule(gemm), {}
local function step(name, ...)
  local made = table.pack(s[name](s, ...))
  local steps, diff = s:steps(), s:diff()
  local call, ms = steps[#steps].call, steps[#steps].ms
  local level, verdict = s:verify()
  local _, changed = diff:gsub("%f[^\n\0][-+] ", "")
  print("s:" .. call)
  io.write(diff)
  print("  " .. tostring(verdict) .. "\n")
  assert(level, "the step is not proved")
  rows[#rows + 1] = { call = call, ms = ms, level = level, changed = changed }
  return table.unpack(made, 2, made.n)
end

local tile = math.max(2, math.min(8, M // 2, N // 2))
local i_o, i_i = step("split", "i", tile)
local j_o, j_i = step("split", "j", tile)
step("reorder", i_o, j_o, i_i, j_i)
step("reorder", "k", j_i)
local C_i = step("buffer_at", "C", i_i)
step("partition", C_i, 0)
step("partition", "B", 1, { factor = tile })
step("pipeline", "k")
step("unroll", j_i)

-- A step that would be wrong: the recurrence below runs along i, and j may not go outside it.
local sums = tide.kernel {
  S = i32[M][N],
  function(S)
    for i, j in grid({ 1, M }, { 0, N - 1 }) do S[i][j] = S[i][j] + S[i - 1][j + 1] end
  end,
}
local t = tide.schedule(sums)
local ok, why = t:can("reorder", "j", "i")
assert(not ok and why.kind == "illegal")
print(('t:reorder("j", "i") is refused: element %s, i and j swap %s and %s'):format(
  why.witness.element, why.witness.first.at, why.witness.second.at))
print(why)

-- The CPU, the Lua function itself, and three loops of plain Lua agree bit for bit.
local C, native = i32[M][N](0), i32[M][N](0)
s(A, B, C)
gemm:native(A, B, native)
assert(C:equal(native))
for i = 0, M - 1 do
  for j = 0, N - 1 do
    local sum = 0
    for k = 0, K - 1 do sum = sum + A[i][k] * B[k][j] end
    assert(C[i][j] == sum)
  end
end
print(("CPU run of %d x %d x %d equals the native run and the reference"):format(M, N, K))

-- HLS C++, written, compiled here against Tide's own headers, and compared.
local hls = s:build { target = "hls" }
hls:write(dir)
local H = i32[M][N](0)
hls(A, B, H)
assert(H:equal(C))
print("HLS C++ in " .. dir .. " gives the same " .. M * N .. " numbers\n")

print(("%-42s %9s  %-12s %s"):format("step", "legality", "equivalence", "lines changed"))
for _, r in ipairs(rows) do
  print(("%-42s %6.2f ms  %-12s %d"):format(r.call, r.ms, r.level, r.changed))
end

--> ...
--> t:reorder("j", "i") is refused: element S[...
--> ...
--> CPU run of ... equals the native run and the reference
--> HLS C++ in build/02_gemm gives the same ... numbers
--> ...
