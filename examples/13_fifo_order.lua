-- 13_fifo_order: a FIFO between two matrix products needs both to agree on the order of its elements (Allo, PLDI
-- 2024, Fig. 6). Whichever step would make them differ is refused, and the schedule stays as it was.
-- Run: tide examples/13_fifo_order.lua [M N K P]     (default 8 10 12 6)
local tide = require "tide"
local f32, grid = tide.f32, tide.grid
local M, N = tonumber(arg[1] or 8), tonumber(arg[2] or 10)
local K, P = tonumber(arg[3] or 12), tonumber(arg[4] or 6)

local first = tide.kernel {
  A = f32[M][K], B = f32[K][N], C = f32[M][N],
  function(A, B, C)
    for i, j in grid(M, N) do
      local sum = f32(0)
      for k = 0, K - 1 do sum = sum + A[i][k] * B[k][j] end
      C[i][j] = sum
    end
  end,
}
local second = tide.kernel {
  C = f32[M][N], D = f32[N][P], E = f32[M][P],
  function(C, D, E)
    for i, j in grid(M, P) do
      for k = 0, N - 1 do E[i][j] = E[i][j] + C[i][k] * D[k][j] end
    end
  end,
}
local both = tide.kernel {
  A = f32[M][K], B = f32[K][N], D = f32[N][P], E = f32[M][P],
  function(A, B, D, E)
    local C = f32[M][N]()
    first(A, B, C)
    second(C, D, E)
  end,
}

-- The second product reads each element of C once, in the order in which the first one writes them.
local s = tide.schedule(both)
s:reorder("second:k", "second:j"):buffer_at("second:E", "second:i")
s:relay("C", "second")
print(select(2, s:verify()))

local A, B = tide.random(f32[M][K], 1), tide.random(f32[K][N], 2)
local D, E, want = tide.random(f32[N][P], 3), f32[M][P](0), f32[M][P](0)
both(A, B, D, want)
s:build { target = "hls" }(A, B, D, E)
assert(E:equal(want))
print("the HLS C++ with the FIFO gives the same bits")

-- Now the first one would write column by column.
local before = tostring(s)
local ok, why = pcall(s.reorder, s, "first:j", "first:i")
assert(not ok and tostring(s) == before)
print(why)

-- The other way round it is the FIFO that is refused.
local t = tide.schedule(both):reorder("first:j", "first:i"):reorder("second:k", "second:j")
print(select(2, t:can("relay", "C", "second")).message)

--> proved: strict...
--> the HLS C++ with the FIFO gives the same bits
--> ...breaks a dependence on 'C': 'first' would put its elements over j, i, and 'second' gets them over i, k
--> ...
-->   first  ...at i = 0, j = 1
-->   second ...at i = 1, j = 0
--> 'first' writes C[i][j] over j, i, 'second' reads C[i][k] over i, k...
