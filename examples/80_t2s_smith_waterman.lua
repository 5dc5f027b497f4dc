-- 80_t2s_smith_waterman: a recurrence on an array of processing elements, tile by tile (T2S, Fig. 6). The definition
-- says what a cell is; the mapping says which loops are space, which way values travel, and that a driver owns the
-- boundary: what leaves the array at its edge comes back through it for a later tile.
-- Run: tide examples/80_t2s_smith_waterman.lua [I J II JJ]     (default 8 8 4 4)
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, max, select = tide.i32, tide.max, tide.select
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume

local T, S          = Param("T S", i32, 1)
local I, J          = Param "I J"
local II, JJ, MAX_J = Const "II JJ MAX_J"
local i, j, ii, jj  = Var "i j ii jj"
local A, driver     = Func "A driver"

local function cell(up, left, diag, t, s)
  return max(max(0, diag + select(t:eq(s), 2, -1)), max(up - 1, left - 1))
end
A[-1][-1] = 0
A[i][-1]  = 0
A[-1][j]  = 0
A[i][j]   = cell(A[i - 1][j], A[i][j - 1], A[i - 1][j - 1], T[i], S[j])
A:set_bounds(i, 0, I, j, 0, J):store(I - 1, J - 1)
assume.divisible(I, II, J, JJ)
assume(J:le(MAX_J))

A:tile(i, j, ii, jj, II, JJ)
A:isolate_producer_chain(S, driver)
 :isolate_producer_chain(T, driver)
 :isolate_producer_chain(A, driver)
 :isolate_consumer_chain(A, driver)
A:unroll(ii, jj)
 :relay(A, { 1, 0 }):relay(A, { 0, 1 }):relay(A, { 1, 1 })
 :relay(T, { 0, 1 }):relay(S, { 1, 0 })
 :buffer(A, j, t2s.REGISTER)

-- One mapping on arrays of several shapes, at several sizes each.
local function run(consts, sizes)
  local net, verdict = t2s.design(A, consts)
  local r = t2s.report(net)
  print(("%d x %d elements, %d channels: %s"):format(consts.II, consts.JJ, r.channels, verdict))
  for _, z in ipairs(sizes) do
    local M, N = z[1], z[2]
    local a, b, score, want = i32[M](), i32[N](), i32[1](0), i32[1](0)
    for n = 0, M - 1 do a[n] = (n * n * 3 + n) % 4 end
    for n = 0, N - 1 do b[n] = (n * 5 + n // 2) % 4 end
    net { T = a, S = b, I = M, J = N, A = score }
    t2s.kernel(A, consts) { T = a, S = b, I = M, J = N, A = want }
    assert(score[0] == want[0])
    print(("  %d x %d cells: score %d"):format(M, N, score[0]))
  end
  return net
end

local M, N, P, Q = tonumber(arg[1] or 8), tonumber(arg[2] or 8), tonumber(arg[3] or 4), tonumber(arg[4] or 4)
local net = run({ II = P, JJ = Q, MAX_J = 64 }, { { M, N }, { P, 3 * Q } })
run({ II = 2, JJ = 4, MAX_J = 64 }, { { 12, 16 }, { 2, 8 } })
run({ II = 3, JJ = 2, MAX_J = 64 }, { { 9, 6 }, { 6, 14 } })
run({ II = 5, JJ = 3, MAX_J = 64 }, { { 5, 9 }, { 15, 12 } })

-- Least depths: 1, but for what comes back at the bottom, which waits for a row of tiles.
local deep = {}
for stream, depth in pairs(net:at { I = M, J = N }:depths()) do
  if depth > 1 then deep[#deep + 1] = ("%s %d"):format(stream, depth) end
end
print("least depths above 1: " .. table.concat(deep, ", "))
