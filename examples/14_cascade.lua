-- 14_cascade: two matrix products of any size on arrays of a fixed one, from templates over types and shapes, scheduled
-- apart and joined by a FIFO (Allo, PLDI 2024, Fig. 7 and 8).
-- Run: tide examples/14_cascade.lua [M K L N T]     (default 16 8 8 8 8: rows, features, hidden units, results, side of
-- the arrays, which divides M, L and N)
local tide = require "tide"
local i8, i16, i32, f32, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.grid
local M, K, L = tonumber(arg[1] or 16), tonumber(arg[2] or 8), tonumber(arg[3] or 8)
local N, T = tonumber(arg[4] or 8), tonumber(arg[5] or 8)

-- C = C + A B on one array.
local function systolic(TA, TB, TC, M, N, K)
  return tide.kernel {
    A = TA[M][K], B = TB[K][N], C = TC[M][N],
    function(A, B, C)
      for i, j in grid(M, N, "PE") do
        for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end,
  }
end

-- C = A B, tile by tile.
local function tiled_systolic(TA, TB, TC, M, N, K)
  assert(TC == i16 or TC == i32 or TC == f32, "sums are i16, i32 or f32")
  assert(M % T == 0 and N % T == 0, "whole tiles only")
  local array = systolic(TA, TB, TC, T, T, K)
  return tide.kernel {
    A = TA[M][K], B = TB[K][N], C = TC[M][N],
    function(A, B, C)
      for mi, ni in grid(M // T, N // T, "outer") do
        local a, b, c = TA[T][K](), TB[K][T](), TC[T][T](0)
        a:set(A:slice({ T * mi, T * mi + T }, {}))
        b:set(B:slice({}, { T * ni, T * ni + T }))
        array(a, b, c)
        C:slice({ T * mi, T * mi + T }, { T * ni, T * ni + T }):set(c)
      end
    end,
  }
end

for _, case in ipairs { { i8, i8, i16, 2 * T, 3 * T, K }, { f32, f32, f32, T, T, K } } do
  local TA, TB, TC, m, n, k = table.unpack(case)
  local A, B = tide.random(TA[m][k], 1), tide.random(TB[k][n], 2)
  local C, want = TC[m][n](0), TC[m][n](0)
  tiled_systolic(table.unpack(case))(A, B, C)
  systolic(table.unpack(case)):native(A, B, want)
  assert(C:allclose(want))
  print(("%s %d x %d x %d in tiles of %d: right"):format(TA, m, n, k, T))
end
print(select(2, pcall(tiled_systolic, i8, i8, i16, 2 * T - 1, T, K)))

-- Two layers of one template: calls that are instances of their own, so that each has its own schedule.
local W1, W2 = tide.random(i8[K][L], 11), tide.random(i8[L][N], 12)
local layer1, layer2 = tiled_systolic(i8, i8, i16, M, L, K), tiled_systolic(i8, i8, i16, M, N, L)
local ffn1, ffn2 = layer1:as "FFN1", layer2:as "FFN2"
local ffn = tide.kernel {
  X = i8[M][K], Y = i16[M][N],
  function(X, Y)
    local Z, Zq = i16[M][L](0), i8[M][L]()
    ffn1(X, W1, Z)
    Zq:set(Z) -- the one place where i16 is cut to i8
    ffn2(Zq, W2, Y)
  end,
}

local top = tide.schedule(ffn)
top:compose(tide.schedule(layer1):pipeline("systolic:k"), { id = "FFN1" })
top:compose(tide.schedule(layer2):unroll("systolic:k", 4), { id = "FFN2" })
top:relay("Zq", "FFN2", { depth = 2 * L }):dataflow()
print(select(2, top:verify()))

local X, Y, want = tide.random(i8[M][K], 3), i16[M][N](0), i16[M][N](0)
top(X, Y)
ffn:native(X, want)
assert(Y:equal(want))
print("the cascade and plain Lua agree")

--> i8 16 x 24 x 8 in tiles of 8: right
--> f32 8 x 8 x 8 in tiles of 8: right
--> ...whole tiles only
--> proved: strict...
--> the cascade and plain Lua agree
