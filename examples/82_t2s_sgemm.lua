-- 82_t2s_sgemm: a matrix product tiled twice, on an array with feeders, collectors and double buffers (T2S, Fig. 3).
-- The definition is two lines; the rest says which loops are space, what is isolated, how it travels, what is kept.
-- Run: tide examples/82_t2s_sgemm.lua [I J K]     (default 8 8 8, in multiples of 4)
local tide = require "tide"
local t2s = require "tide.t2s"
local f32 = tide.f32
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume
local HOST, DOUBLE = t2s.HOST, t2s.DOUBLE

local A, B    = Param("A B", f32, 2)
local I, J, K = Param "I J K"
local II, JJ, KK, III, JJJ, KKK = Const "II JJ KK III JJJ KKK"
local i, j, k, ii, jj, kk, iii, jjj, kkk = Var "i j k ii jj kk iii jjj kkk"
local C = Func("C", f32)

C[i][j] = 0
C[i][j] = C[i][j] + A[i][k] * B[k][j]
C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
assume.no_alias(A, B)
assume.divisible(I, II, II, III, J, JJ, JJ, JJJ, K, KK, KK, KKK)
C:tile(i, j, k, ii, jj, kk, iii, jjj, kkk, II, JJ, KK, III, JJJ, KKK)

local A_load, A_feed, B_load, B_feed, C_coll, C_unld = Func "A_load A_feed B_load B_feed C_coll C_unld"
local A_ser, B_ser, C_des = Func("A_ser B_ser C_des", HOST)
C:isolate_producer_chain(A, A_ser, A_load, A_feed)
 :isolate_producer_chain(B, B_ser, B_load, B_feed)
 :isolate_consumer_chain(C, C_des, C_unld, C_coll)
C:unroll(ii, jj):relay(A, { 0, 1 }):relay(B, { 1, 0 }):relay(C, { -1, 0 }):vectorize(kkk)
A_ser :remove(jjj, jj, j)
A_load:remove(jjj, jj):vectorize(kkk)
A_feed:unroll(ii):relay(A, { 1 }):buffer(A, ii, DOUBLE):vectorize(kkk)
B_ser :remove(iii, ii, i)
B_load:remove(iii, ii):vectorize(kkk)
B_feed:unroll(jj):relay(B, { 1 }):buffer(B, jj, DOUBLE):vectorize(kkk)
C_coll:remove(k, kk, kkk):reorder(jj, jjj, iii):unroll(jj):relay(C, { -1 })
C_unld:remove(k, kk, kkk):reorder(jj, jjj, iii)
C_des :remove(k, kk, kkk):reorder(jj, jjj, iii)

-- One design for each set of constants, which runs at all sizes that the tiles divide.
local function run(consts, sizes)
  local net, verdict = t2s.design(C, consts)
  local r = t2s.report(net)
  print(("%d channels, %d memory channels: %s"):format(r.channels, r.memory, verdict))
  for _, z in ipairs(sizes) do
    local M, N, L = z[1], z[2], z[3]
    local a, b, c = tide.random(f32[M][L], 1), tide.random(f32[L][N], 2), f32[M][N](0)
    net { A = a, B = b, I = M, J = N, K = L, C = c }
    assert(c:allclose(tide.matmul(a, b)))
    print(("  %d x %d x %d"):format(M, N, L))
  end
end

local size = { tonumber(arg[1] or 8), tonumber(arg[2] or 8), tonumber(arg[3] or 8) }
run({ II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2 }, { size, { 4, 12, 8 } })
run({ II = 6, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2 }, { { 12, 8, 8 } })
run({ II = 4, JJ = 8, KK = 6, III = 2, JJJ = 2, KKK = 3 }, { { 8, 16, 12 } })
run({ II = 6, JJ = 6, KK = 2, III = 3, JJJ = 2, KKK = 1 }, { { 6, 12, 4 } })
