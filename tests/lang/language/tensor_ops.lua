-- tensor_ops.lua - operators, words, matmul and reduce on tensors outside kernels. Exactness is
-- held against Lua's own 64-bit integers.
local t = require "tap"
local tide = require "tide"
local p = require "programs"
local i8, u8, i16, i32, i64 = tide.i8, tide.u8, tide.i16, tide.i32, tide.i64
local f16, bf16, f32, f64, bool = tide.f16, tide.bf16, tide.f32, tide.f64, tide.bool

-- The values of a tensor of rank 1.
local function list(x) return x:table() end

t.test("operators give exact promoted types", function()
  local a, b = tide.random(i8[50], 1), tide.random(i8[50], 2)
  local u = tide.random(u8[50], 3)
  t.eq({(a + b).type, (a * b).type, (a - b).type}, {tide.int(9)[50], i16[50], tide.int(9)[50]})
  t.eq({(u + u).type, (u - u).type, (a + u).type},
    {tide.uint(9)[50], tide.int(9)[50], tide.int(10)[50]})
  t.eq({(-a).type, (~a).type, (a & u).type}, {tide.int(9)[50], i8[50], tide.int(9)[50]})
  t.eq({(a // 3).type, (a % 3).type, (a // i8[50](1)).type},
    {i8[50], tide.uint(2)[50], tide.int(9)[50]})
  t.eq({(a << 3).type, (u >> 1).type}, {tide.int(11)[50], u8[50]})
end)

t.test("operators agree with Lua's integers", function()
  local a, b, u = tide.random(i8[200], 1), tide.random(i8[200], 2), tide.random(u8[200], 3)
  for i = 0, 199 do if b[i] == 0 then b[i] = 1 end end
  local ops = {
    function(x, y) return x + y end, function(x, y) return x - y end,
    function(x, y) return x * y end, function(x, y) return x // y end,
    function(x, y) return x % y end, function(x, y) return x & y end,
    function(x, y) return x | y end, function(x, y) return x ~ y end,
    function(x) return -x end, function(x) return ~x end,
    function(x) return x + 1000 end, function(x) return -129 - x end,
    function(x) return x << 4 end, tide.min, tide.max, function(x) return tide.abs(x) end,
    function(x) return tide.asr(x, 2) end,
  }
  for k, op in ipairs(ops) do
    local got = op(a, b)
    for i = 0, 199 do t.eq(got[i], op(a[i], b[i]), "operator " .. k) end
  end
  local shifted, less = u >> 3, u - 255
  for i = 0, 199 do t.eq({shifted[i], less[i]}, {u[i] >> 3, u[i] - 255}) end
end)

t.test("floats round at every operator", function()
  local a, b = tide.random(f32[100], 1), tide.random(f32[100], 2)
  local sum, quotient, half = a + b, a / b, a + 0.1
  t.eq({sum.type, half.type, (a * 2).type, (f16[2](1) + bf16[2](1)).type},
    {f32[100], f32[100], f32[100], f32[2]})
  for i = 0, 99 do
    t.eq({sum[i], quotient[i], half[i]}, {f32(a[i] + b[i]), f32(a[i] / b[i]), f32(a[i] + f32(0.1))})
  end
  t.eq((i8[2](1) + 0.5).type, f32[2])
  t.eq((f64[2](1) + 0.1)[0], 1.1)
  t.eq((i32[1](16777217) + f32[1](0))[0], 16777216.0)
end)

t.test("fixed point operators", function()
  local T = tide.fixed(8, 3)
  local a = tide.tensor(T[2], {1.25, -2.5})
  t.eq({(a + a).type, (a * a).type}, {tide.fixed(9, 3)[2], tide.fixed(16, 6)[2]})
  t.eq(list(a * a), {1.5625, 6.25})
  t.eq(list(a + 1), {2.25, -1.5})
end)

t.test("words on tensors", function()
  local a = tide.tensor(i8[3], {-5, 0, 7})
  t.eq(list(tide.min(a, 3)), {-5, 0, 3})
  t.eq(list(tide.max(a, 1, tide.tensor(i8[3], {2, -1, 9}))), {2, 1, 9})
  t.eq(list(tide.select(tide.tensor(bool[3], {true, false, true}), a, -1)), {-5, -1, 7})
  t.eq(list(tide.select(true, a, 0)), {-5, 0, 7})
  t.eq(list(tide.bits(a, 0, 4)), {11, 0, 7})
  t.eq(tide.bits(a, 0, 4).type, tide.uint(4)[3])
  t.eq(list(tide.with_bits(a, 0, 2, 3)), {-5, 3, 7})
  t.eq(list(tide.bitcast(u8, a)), {251, 0, 7})
  t.eq(list(tide.bitcast(tide.u32, f32[1](1))), {0x3f800000})
  t.eq(list(tide.sqrt(tide.tensor(f32[2], {4, 2}))), {2.0, f32(math.sqrt(2))})
  t.eq(list(tide.fma(f32[1](2), 3, 4)), {10.0})
  t.eq(list(tide.floor(tide.tensor(f32[2], {1.5, -1.5}))), {1.0, -2.0})
  t.fails(function() return tide.sqrt(a) end, {code = "needs-cast"})
  t.fails(function() return tide.select(a, a, a) end, {code = "needs-bool"})
  t.fails(function() return tide.bits(a, 4, 9) end, {code = "bits-range"})
  t.fails(function() return tide.bits(a, 0.5, 2) end, {code = "bits-width"})
  t.fails(function() return tide.bitcast(tide.u16, a) end, {code = "bitcast-width"})
  t.fails(function() return tide.abs(a, a) end, {code = "arguments", match = "takes 1 argument"})
end)

t.test("what operators refuse", function()
  local a = i8[4](1)
  t.fails(function() return a / a end, {kind = "usage", code = "int-division"})
  t.fails(function() return a >> 1 end, {code = "signed-shift"})
  t.fails(function() return a + true end, {code = "bool-arithmetic"})
  t.fails(function() return a + "1" end, {code = "arguments", match = "a string"})
  t.fails(function() return a + i8[5](0) end, {code = "shapes"})
  t.fails(function() return a + i8[1][4](0) end, {code = "shapes"})
  t.fails(function() return f32[2](1) & 1 end, {code = "float-bits"})
  t.fails(function() return a << -1 end, {code = "negative-shift"})
  t.fails(function() return tide.asr(a, i8[4](-1)) end, {kind = "illegal", code = "negative-shift"})
  t.fails(function() return a // 0 end, {kind = "illegal", code = "zero-division"})
  t.fails(function() return a % tide.tensor(i8[4], {1, 1, 0, 1}) end, {code = "zero-division"})
  t.eq(list(f32[1](1) // 0), {math.huge})
end)

t.test("results beyond 64 bits are cut by a store or a conversion, nothing else", function()
  local a = tide.random(i64[20], 4)
  local p = a * a + 1
  t.eq(p.type, tide.int(129)[20])
  t.fails(function() return p[0] end, {kind = "usage", code = "too-wide"})
  t.fails(function() return p:table() end, {code = "too-wide"})
  t.fails(function() return p // 2 end, {code = "too-wide"})
  t.eq(tostring(p):sub(1, 30), "tide.int(129)[20] {..., ..., .")
  local r = i64[20](p)
  for i = 0, 19 do t.eq(r[i], a[i] * a[i] + 1) end
  local s = i32[20](0)
  s:set(p)
  t.eq(s[3], i32(a[3] * a[3] + 1))
end)

t.test("words on Lua numbers are Lua's", function()
  t.eq({tide.min(3, 1, 2), tide.max(1, 2.5), tide.abs(-3), tide.abs(-2.5)}, {1, 2.5, 3, 2.5})
  t.eq({math.type(tide.floor(2.5)), tide.floor(-2.5), tide.ceil(2.1), tide.floor(7)},
    {"integer", -3, 3, 7})
  t.eq({tide.floor(1e300), tide.abs(math.mininteger)}, {1e300, math.mininteger})
  for _, f in ipairs {"sqrt", "exp", "log", "sin", "cos"} do t.eq(tide[f](0.7), math[f](0.7), f) end
  t.eq({tide.tanh(0), tide.fma(2, 3, 4)}, {0.0, 10.0})
  t.eq({tide.asr(-8, 1), tide.asr(-1, 100), tide.asr(8, 64), tide.asr(5, 0)}, {-4, -1, 0, 5})
  t.eq({tide.bits(0xabcd, 4, 12), tide.bits(-1, 0, 64), tide.with_bits(0, 4, 8, 0x1f)},
    {0xbc, -1, 0xf0})
  t.eq({tide.bitcast(f32, 0x3f800000), tide.bitcast(tide.u32, 1.0), tide.bitcast(i8, 255),
    tide.bitcast(i64, -0.0), tide.bitcast(bool, 1)}, {1.0, 0x3f800000, -1, math.mininteger, true})
  t.eq({tide.select(true, 1, 2), tide.select(false, 1, 2)}, {1, 2})
  t.fails(function() return tide.select(1, 2, 3) end, {code = "needs-bool"})
  t.fails(function() return tide.asr(1, -1) end, {code = "negative-shift"})
  t.fails(function() return tide.asr(1.5, 1) end, {code = "arguments"})
  t.fails(function() return tide.bits(1, 0, 65) end, {code = "bits-range"})
  t.fails(function() return tide.bits(1, 3, 3) end, {code = "bits-range"})
  t.fails(function() return tide.bitcast(tide.int(24), 1.5) end, {code = "bitcast-width"})
  t.fails(function() return tide.min("1", 2) end, {code = "arguments"})
  t.fails(function() return tide.min(1) end, {code = "arguments"})
end)

t.test("matmul", function()
  local A, B = tide.random(i8[5][7], 1), tide.random(u8[7][3], 2)
  local C = tide.matmul(A, B)
  t.eq(C.type, i32[5][3])
  for i, j in tide.grid(5, 3) do
    local sum = 0
    for k = 0, 6 do sum = sum + A[i][k] * B[k][j] end
    t.eq(C[i][j], sum)
  end
  t.ok(tide.matmul(A, B, {acc = i8}):equal(i8[5][3](C)))
  t.ok(tide.matmul(B:transpose(), A:transpose()):equal(C:transpose()))
  t.eq(tide.matmul(i32[2][2](1 << 30), i32[2][2](4)):table()[1][1], 1 << 33)
  t.eq(tide.matmul(i8[2][0](0), i8[0][2](0)):table(), {{0, 0}, {0, 0}})
  t.fails(function() return tide.matmul(A, A) end, {kind = "usage", code = "shapes"})
  t.fails(function() return tide.matmul(A[0], B) end, {code = "shapes"})
  t.fails(function() return tide.matmul(A, 3) end, {code = "arguments"})
  t.fails(function() return tide.matmul(A, B, {ac = i8}) end, {code = "unknown-option"})
  t.fails(function() return tide.matmul(A, B, {acc = bool}) end, {code = "accumulator"})
  local q = tide.fixed(8, 3)[2][2](1)
  t.fails(function() return tide.matmul(q, q) end, {code = "needs-cast", match = "acc = T"})
  t.eq(tide.matmul(q, q, {acc = tide.fixed(20, 6)}):table(), {{2.0, 2.0}, {2.0, 2.0}})
end)

t.test("matmul saturates and rounds at every step", function()
  local S = i8:with {overflow = "saturate"}
  local A, B = tide.tensor(i8[1][3], {{100, 100, -100}}), i8[3][1](1)
  t.eq(tide.matmul(A, B, {acc = S})[0][0], 27)
  t.eq(tide.matmul(A, B, {acc = i8})[0][0], 100)
  local X, Y = tide.random(f32[4][30], 1), tide.random(f32[30][4], 2)
  local Z = tide.matmul(X, Y)
  t.eq(Z.type, f32[4][4])
  for i, j in tide.grid(4, 4) do
    local sum = 0
    for k = 0, 29 do sum = f32(sum + f32(X[i][k] * Y[k][j])) end
    t.eq(Z[i][j], sum)
  end
  t.eq(tide.matmul(f16[1][1](0.1), f16[1][1](1)).type, f32[1][1])
end)

t.test("reduce", function()
  local a = tide.tensor(i8[2][3], {{1, -2, 3}, {100, 100, 100}})
  t.eq({tide.reduce(a, "+", 1).type, list(tide.reduce(a, "+", 1))}, {i32[2], {2, 300}})
  t.eq(list(tide.reduce(a, "+", 0)), {101, 98, 103})
  t.eq(list(tide.reduce(a, "+", 1, {acc = i8})), {2, 44})
  t.eq({list(tide.reduce(a, "min", 0)), list(tide.reduce(a, "max", 1))}, {{1, -2, 3}, {3, 100}})
  t.eq(list(tide.reduce(a, "*", 1)), {-6, 1000000})
  t.eq({tide.reduce(a[0], "|", 0), tide.reduce(a[0], "~", 0), tide.reduce(a[0], "&", 0)},
    {1 | -2 | 3, 1 ~ -2 ~ 3, 1 & -2 & 3})
  t.eq(tide.reduce(f32[3](0.1), "+", 0), f32(f32(f32(0.1) + f32(0.1)) + f32(0.1)))
  t.eq(tide.reduce(i8[0](0), "+", 0), 0)
  t.eq(tide.reduce(i8[2][3][4](1), "+", 1).type, i32[2][4])
  t.fails(function() return tide.reduce(i8[2][0](0), "max", 1) end, {code = "empty-reduction"})
  t.fails(function() return tide.reduce(a, "-", 0) end, {code = "reduction"})
  t.fails(function() return tide.reduce(a, "+", 2) end, {code = "rank"})
  t.fails(function() return tide.reduce(a, "+") end, {code = "rank"})
  t.fails(function() return tide.allreduce(a, "+") end, {code = "only-in-task"})
end)

t.test("a vector becomes a scalar", function()
  local k = tide.kernel {A = i32[5], B = i32[4], function(A, B)
    B[0] = tide.reduce(A, "+", 0)
    if tide.reduce(A:slice({1, 4}), "max", 0) > 3 then B[1] = i32(tide.reduce(A, "min", 0) * 2) end
    for i = 2, 3 do B[i] = i32(B[i] + tide.reduce(A * A, "+", 0, {acc = i64})) end
  end}
  local _, B = p.same(k, tide.tensor(i32[5], {3, -4, 9, 1, 2}), i32[4](1))
  t.eq(list(B), {11, -8, 112, 112})
  local by_hand = tide.kernel {A = f32[5], B = f32[1], function(A, B)
    local sum = f32(0)
    for i = 0, 4 do sum = sum + A[i] end
    B[0] = sum
  end}
  t.eq(tide.verify(by_hand, tide.kernel {A = f32[5], B = f32[1], function(A, B)
    B[0] = tide.reduce(A, "+", 0)
  end}), "strict")
end)

t.test("of a part it is pending, and made whole by an allreduce", function()
  local function top(whole)
    return tide.design(function(d)
      d.part = tide.task {map = {2}, A = i32[6]:layout "S0", B = i32[2]:layout "S0", whole and function(A, B)
        B:set(tide.allreduce(i32[1](tide.reduce(A, "+", 0)), "+"))
      end or function(A, B)
        B[0] = tide.reduce(A, "+", 0)
      end}
    end)
  end
  local _, B = p.foreign(top(true), tide.tensor(i32[6], {1, 2, 3, 4, 5, 6}), i32[2](0))
  t.eq(list(B), {21, 21})
  t.fails(function() top(false) end, {code = "pending-sum"})
end)

t.done()
