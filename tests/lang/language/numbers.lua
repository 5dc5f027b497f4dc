-- Integers of all widths, fixed point, floats, bits, intrinsics, conditions as values.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local i8, i16, i32, i64 = tide.i8, tide.i16, tide.i32, tide.i64
local u16, u32, u64 = tide.u16, tide.u32, tide.u64
local f16, bf16, f32, f64 = tide.f16, tide.bf16, tide.f32, tide.f64
local int, uint, fixed, ufixed = tide.int, tide.uint, tide.fixed, tide.ufixed

t.test("stores wrap or saturate at every width", function()
  for _, w in ipairs {1, 2, 3, 5, 7, 8, 13, 31, 32, 33, 47, 63, 64} do
    local S, U = int(w), uint(w)
    local X = int(w):with {overflow = "saturate"}
    local k = tide.kernel {A = i16[16], B = S[16], C = U[16], D = X[16], function(A, B, C, D)
      for i = 0, 15 do
        B[i] = A[i] * A[i] - A[i]
        C[i] = A[i]
        D[i] = A[i]
      end
    end}
    local A = tide.random(i16[16], w)
    local _, B, C, D = p.same(k, A, S[16](0), U[16](0), X[16](0))
    local half = w < 63 and 1 << (w - 1) or nil
    for i = 0, 15 do
      local x = A[i] * A[i] - A[i]
      if half then
        t.eq(B[i], ((x + half) % (2 * half)) - half)
        t.eq(C[i], A[i] % (2 * half))
        t.eq(D[i], math.max(-half, math.min(half - 1, A[i])))
      else
        t.eq(B[i], x)
        t.eq(C[i], w == 64 and A[i] or A[i] & math.maxinteger)
      end
    end
  end
end)

t.test("division and remainder are Lua's", function()
  local k = tide.kernel {A = i8[9], B = i8[9], Q = i16[9][9], R = i16[9][9], function(A, B, Q, R)
    for i = 0, 8 do
      for j = 0, 8 do
        if B[j] ~= 0 then
          Q[i][j] = A[i] // B[j]
          R[i][j] = A[i] % B[j] + A[i] // 3 + A[i] % -5
        end
      end
    end
  end}
  local edge = tide.tensor(i8[9], {-128, -127, -8, -1, 0, 1, 7, 126, 127})
  local _, _, Q, R = p.same(k, edge, edge, i16[9][9](0), i16[9][9](0))
  for i = 0, 8 do
    for j = 0, 8 do
      if edge[j] ~= 0 then
        t.eq(Q[i][j], edge[i] // edge[j])
        t.eq(R[i][j], edge[i] % edge[j] + edge[i] // 3 + edge[i] % -5)
      end
    end
  end
end)

t.test("bits: operators, shifts, slices", function()
  local k = tide.kernel {A = u16[8], S = i16[8], B = u32[8], C = i32[8], function(A, S, B, C)
    for i = 0, 7 do
      B[i] = (A[i] & 0xff00 | 0x0f) ~ (A[i] >> 3) + (A[i] << 4)
      C[i] = tide.asr(S[i], i) - (S[i] & A[i]) + ~S[i]
      B[i] = tide.with_bits(B[i], 4, 8, A[i])
      B[i] = B[i] + tide.bits(A[i], i, i + 5)
      C[i] = C[i] + tide.bits(S[i], 3, 9)
    end
  end}
  local A, S = tide.random(u16[8], 1), tide.random(i16[8], 2)
  local _, _, B, C = p.foreign(k, A, S, u32[8](0), i32[8](0))
  for i = 0, 7 do
    local b = ((A[i] & 0xff00 | 0x0f) ~ (A[i] >> 3) + (A[i] << 4)) & 0xffffffff
    b = b & ~0xf0 | (A[i] & 15) << 4
    local b5 = (A[i] >> i) & 31
    t.eq(B[i], (b + b5) & 0xffffffff)
    local c = (S[i] // (1 << i)) - (S[i] & A[i]) + ~S[i]
    t.eq(C[i], c + ((S[i] >> 3) & 63))
  end
end)

t.test("bitcast keeps every bit", function()
  local k = tide.kernel {F = f32[4], I = i32[4], H = f16[4], U = u16[4], function(F, I, H, U)
    for i = 0, 3 do
      I[i] = tide.bitcast(i32, F[i])
      U[i] = tide.bitcast(u16, H[i])
    end
    F[3] = tide.bitcast(f32, I[0]) + tide.bitcast(f32, i32(0x40000000))
  end}
  local F = tide.tensor(f32[4], {1.0, -2.5, 0.0, 7.0})
  local f, I, _, U = p.foreign(k, F, i32[4](0), tide.tensor(f16[4], {1, 0.5, -1, 65504}), u16[4](0))
  t.eq(I:table(), {0x3f800000, 0xc0200000 - (1 << 32), 0, 0x40e00000})
  t.eq(U:table(), {0x3c00, 0x3800, 0xbc00, 0x7bff})
  t.eq(f[3], 3.0)
end)

t.test("fixed point: exact sums and products, floor and nearest stores", function()
  local Q, N, W = fixed(8, 3), fixed(8, 3):with {rounding = "nearest"}, ufixed(12, 8)
  local k = tide.kernel {A = Q[6], B = Q[6], S = fixed(10, 3)[6], P = fixed(20, 6)[6], R = Q[6], E
    = N[6],
    U = W[6], I = i16[6], function(A, B, S, P, R, E, U, I)
      for i = 0, 5 do
        S[i] = A[i] + B[i]
        P[i] = A[i] * B[i]
        R[i] = A[i] * B[i]
        E[i] = A[i] * B[i]
        U[i] = tide.abs(A[i])
        I[i] = i16(A[i]) + tide.floor(B[i]) - tide.ceil(A[i])
        if A[i] < B[i] and A[i] ~= 2 then I[i] = I[i] + 100 end
      end
    end}
  local A = tide.tensor(Q[6], {1.125, -3.5, 15.875, -16, 0.25, 2})
  local B = tide.tensor(Q[6], {2.25, 1.375, 15.875, -16, -0.125, 7})
  local _, _, S, P, R, E, U, I = p.foreign(k, A, B, fixed(10, 3)[6](0), fixed(20, 6)[6](0),
    Q[6](0), N[6](0),
    W[6](0), i16[6](0))
  local function wrap(x) return (x + 16) % 32 - 16 end
  for i = 0, 5 do
    local x = A[i] * B[i] * 8
    t.eq(S[i], A[i] + B[i])
    t.eq(P[i], A[i] * B[i])
    t.eq(R[i], wrap(math.floor(x) / 8))
    local even = math.floor(x + 0.5)
    if x % 1 == 0.5 then even = even - even % 2 end
    t.eq(E[i], wrap(even / 8))
    t.eq(U[i], math.abs(A[i]) % 16)
    local less = A[i] < B[i] and A[i] ~= 2 and 100 or 0
    t.eq(I[i], math.floor(A[i]) + math.floor(B[i]) - math.ceil(A[i]) + less)
  end
end)

t.test("floats round at every operation of their type", function()
  for _, T in ipairs {f16, bf16, f32, f64} do
    local k = tide.kernel {A = T[8], B = T[8], C = T[8], function(A, B, C)
      for i = 0, 7 do
        C[i] = (A[i] + B[i]) * A[i] - B[i] / (A[i] * A[i] + 1)
        C[i] = tide.sqrt(tide.abs(C[i])) + tide.min(A[i], 0.5) - math.max(B[i], -A[i], 0.25)
        C[i] = A[i] > B[i] and C[i] or -C[i]
      end
    end}
    local A, B = tide.random(T[8], 3), tide.random(T[8], 4)
    local C = select(3, p.close(k, A, B, T[8](0)))
    for i = 0, 7 do
      local function r(x) return T(x) end
      local c = r(r(r(A[i] + B[i]) * A[i]) - r(B[i] / r(r(A[i] * A[i]) + 1)))
      c = r(r(r(math.sqrt(math.abs(c))) + math.min(A[i], 0.5)) - math.max(B[i], -A[i], 0.25))
      t.eq(C[i], A[i] > B[i] and c or -c)
    end
  end
end)

t.test("intrinsics of tide and of math are the same", function()
  local a = tide.kernel {A = f64[4], B = f64[4], function(A, B)
    for i = 0, 3 do
      B[i] = tide.exp(A[i]) + tide.log(tide.abs(A[i]) + 1) + tide.sin(A[i]) * tide.cos(A[i]) +
        tide.floor(A[i]) + tide.ceil(A[i]) + tide.max(A[i], 0.1) + tide.sqrt(2)
    end
  end}
  local b = tide.kernel {A = f64[4], B = f64[4], function(A, B)
    for i = 0, 3 do
      B[i] = math.exp(A[i]) + math.log(math.abs(A[i]) + 1) + math.sin(A[i]) * math.cos(A[i]) +
        math.floor(A[i]) + math.ceil(A[i]) + math.max(A[i], 0.1) + math.sqrt(2)
    end
  end}
  local A = tide.random(f64[4], 7, {lo = -3, hi = 3})
  local _, x = p.close(a, A, f64[4](0))
  local _, y = p.close(b, A, f64[4](0))
  t.ok(x:equal(y))
  for i = 0, 3 do
    local v = A[i]
    local want = math.exp(v) + math.log(math.abs(v) + 1) + math.sin(v) * math.cos(v) +
      math.floor(v) +
      math.ceil(v) + math.max(v, 0.1) + math.sqrt(2)
    t.ok(math.abs(x[i] - want) < 1e-9)
  end
end)

t.test("fma rounds once, tanh, select, min of many", function()
  local k = tide.kernel {A = f32[4], B = f32[4], I = i32[4], function(A, B, I)
    for i = 0, 3 do
      B[i] = tide.fma(A[i], A[i], -1) + tide.select(A[i] > 0, tide.tanh(A[i]), 0)
      I[i] = tide.min(I[i], 7, i + 2, 100) + tide.select(i % 2 == 0, 10, 20)
    end
  end}
  local A = tide.tensor(f32[4], {1.0000001, -0.5, 0.25, 3})
  local _, B, I = p.close(k, A, f32[4](0), tide.tensor(i32[4], {9, -9, 5, 1}))
  t.eq(I:table(), {12, 11, 14, 21})
  t.ok(math.abs(B[2] - (0.0625 - 1 + (math.exp(0.5) - 1) / (math.exp(0.5) + 1))) < 1e-6)
end)

t.test("c and a or b chooses numbers, and computes only what is wanted", function()
  local k = tide.kernel {A = i8[8], B = i32[8], function(A, B)
    for i = 0, 7 do
      B[i] = i > 0 and A[i - 1] or 7
      B[i] = B[i] + (A[i] ~= 0 and 100 // A[i] or -1)
      B[i] = A[i] > 3 and (i > 2 and 1 or 2) or (i == 1 and B[i] or 4)
      local c = A[i] > 3 and i > 2 or i == 1 and not (A[i] == 5)
      B[i] = c and B[i] + 1 or B[i]
      local d = i < 7 and A[i + 1] > 2 or i == 7
      if d then B[i] = B[i] * 10 end
    end
  end}
  local A = tide.tensor(i8[8], {0, 5, -3, 9, 0, 1, 4, 2})
  local B = select(2, p.same(k, A, i32[8](0)))
  for i = 0, 7 do
    local b = A[i] > 3 and (i > 2 and 1 or 2) or (i == 1 and 20 or 4)
    local c = A[i] > 3 and i > 2 or i == 1 and not (A[i] == 5)
    b = c and b + 1 or b
    if i < 7 and A[i + 1] > 2 or i == 7 then b = b * 10 end
    t.eq(B[i], b)
  end
end)

t.test("literals at the edges", function()
  local k = tide.kernel {A = i64[6], U = u64[6], F = f64[8], H = f16[2], function(A, U, F, H)
    A[0], A[1], A[2] = math.mininteger, math.maxinteger, -1
    A[3] = i64(-5) // i64(3)
    A[4] = A[0] + math.mininteger
    U[0], U[1], U[2] = -1, 0x8000000000000000, u64(-2)
    U[3] = U[0] + 0xffffffffffffff
    F[0], F[1], F[2], F[3] = 1 / 0, -1 / 0, -0.0, 1e300
    F[4], F[5], F[6], F[7] = 0.1, 5e-324, 2 ^ 53, 9007199254740993
    H[0], H[1] = 65504, 1e-8
  end}
  local A, U, F = p.same(k, i64[6](0), u64[6](0), f64[8](0), f16[2](0))
  t.eq(A:table(), {math.mininteger, math.maxinteger, -1, -2, 0, 0})
  t.eq(U:table(), {-1, math.mininteger, -2, 0xfffffffffffffe, 0, 0})
  t.eq(F:table(), {math.huge, -math.huge, -0.0, 1e300, 0.1, 5e-324, 2.0 ^ 53, 9007199254740992.0})
end)

t.test("words wider than 64 bits move, slice and combine bits", function()
  local W = uint(100)
  local k = tide.kernel {A = u64[3], B = u64[3], function(A, B)
    local w = W(A[0])
    w = tide.with_bits(w, 64, 100, A[1])
    B[0] = tide.bits(w, 0, 64)
    B[1] = tide.bits(w, 60, 100)
    local v = w & W(A[2])
    B[2] = tide.bits(v, 0, 64)
  end}
  p.again(k)
end)

t.test("a bare literal that a variable shifts left is i32", function()
  local k = tide.kernel {A = i64[8], T = i32[2], n = i32, function(A, T, n)
    local w, m = 1 << n, 2
    A[0], A[1], A[2], A[3] = 1 << n, -3 << n, w, 5 << (n + 1)
    A[4] = 1 << m
    A[5] = 5000000000 << n
    A:slice({6, 8}):set(1 << T)
  end}
  local A = p.foreign(k, i64[8](0), tide.tensor(i32[2], {0, 30}), 4)
  t.eq(A:table(), {16, -48, 16, 160, 4, 5000000000 * 16 & (1 << 33) - 1, 1, 1 << 30})
end)

t.test("shifts by a loop's variable are the same where it has become a number, also when printed and loaded", function()
  local k = tide.kernel {A = i32[4], B = i8[4], function(A, B)
    for s = 0, 3 do A[s] = (1 << s) + (B[s] << s) end
  end}
  local s = tide.schedule(k):unroll("s", {replace = true})
  local loaded = load(tostring(s))()
  t.eq({(s:verify()), (tide.verify(loaded, k))}, {"strict", "strict"})
  local A, B = i32[4](0), tide.tensor(i8[4], {100, 100, 100, -100})
  loaded(A, B)
  t.eq(A:table(), {101, 2 + 200 - 256, 4 + 400 - 512, 8 - 800 + 768})
end)

p.done()
