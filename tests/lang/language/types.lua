-- types.lua - types as values: printing, identity, shapes, modes, conversions, sizes, layouts.
local t = require "tap"
local tide = require "tide"
local i8, u8, i32, i64, u64 = tide.i8, tide.u8, tide.i32, tide.i64, tide.u64
local f16, bf16, f32, f64, bool = tide.f16, tide.bf16, tide.f32, tide.f64, tide.bool
local index = tide.index

t.test("types print as Lua that makes them", function()
  local env = setmetatable({tide = tide}, {__index = tide})
  local all = {
    i8, tide.i16, i32, i64, u8, tide.u16, tide.u32, u64, f16, bf16, f32, f64, bool, index,
    tide.int(5), tide.uint(1024), tide.fixed(8, 3), tide.ufixed(4, -2), tide.fixed(3, 9),
    u8:with {overflow = "saturate"},
    tide.fixed(8, 3):with {overflow = "saturate", rounding = "nearest"},
    i8[4], i8[4][0][7], tide.int(5):with {overflow = "saturate"}[2],
    tide.stream(f32), tide.stream(i8[4], {block = true})[3][2],
  }
  for _, T in ipairs(all) do
    t.eq(load("return " .. tostring(T), "type", "t", env)(), T, tostring(T))
  end
  t.eq(tostring(i8), "i8")
  t.eq(tostring(i8[4][7]), "i8[4][7]")
end)

t.test("equal types are one value", function()
  t.ok(tide.int(8) == i8 and tide.uint(8) == u8 and i8[2][3] == tide.int(8)[2][3])
  t.ok(i8[2] ~= i8[3] and i8[2] ~= u8[2] and f16 ~= bf16 and i8[1] ~= i8)
  t.ok(u8:with {overflow = "saturate"} ~= u8)
  t.ok(u8:with {overflow = "saturate"}:with {overflow = "wrap"} == u8)
  t.ok(tide.fixed(8, 0) ~= i8)
  local keys = {[i8[2]] = "found"}
  collectgarbage()
  t.eq(keys[i8[2]], "found")
end)

t.test("modes keep what they do not name", function()
  local T = tide.fixed(8, 3):with {overflow = "saturate"}:with {rounding = "nearest"}
  t.eq(tostring(T), 'tide.fixed(8, 3):with {overflow = "saturate", rounding = "nearest"}')
end)

t.test("fields of a type", function()
  t.eq({i8.kind, i8.bits, i8.signed}, {"int", 8, true})
  t.eq({u8.kind, u8.bits, u8.signed}, {"uint", 8, false})
  t.eq({tide.ufixed(9, 4).kind, tide.ufixed(9, 4).fraction}, {"ufixed", 4})
  t.eq({bf16.kind, bf16.bits, bool.kind, index.kind}, {"float", 16, "bool", "index"})
  t.eq(i8[2][3].shape, {2, 3})
  t.eq(i8[2][3].elem, i8)
  t.eq({i8[2].kind, tide.stream(i8[2]).kind, tide.stream(i8[2]).elem}, {"tensor", "stream", i8[2]})
  t.eq(i8.shape, {})
  t.fails(function() return i8.nothing end, {code = "no-method"})
end)

t.test("a scalar type converts numbers and booleans", function()
  t.eq({i8(127), i8(128), i8(-129), i8(300)}, {127, -128, 127, 44})
  t.eq({u8(-1), u64(-1), i64(math.mininteger)}, {255, -1, math.mininteger})
  t.eq({i8(2.9), i8(-2.9), i8(1e9), i8(-1e9), i8(0 / 0)}, {2, -2, 127, -128, 0})
  t.eq(math.type(i8(2.0)), "integer")
  local S = i8:with {overflow = "saturate"}
  t.eq({S(127), S(128), S(-129)}, {127, 127, -128})
  t.eq(f32(0.1), string.unpack("<f", string.pack("<f", 0.1)))
  t.eq({f16(1 / 3), bf16(1 / 3), f64(1 / 3)}, {0x555p-12, 0xabp-9, 1 / 3})
  t.eq({f16(65520), f16(-65519)}, {math.huge, -65504.0})
  t.eq(math.type(f32(3)), "float")
  t.eq({tide.fixed(8, 3)(1.3), tide.fixed(8, 3):with {rounding = "nearest"}(1.32)}, {1.25, 1.375})
  t.eq(tide.fixed(8, 3)(16), -16.0)
  t.eq({i8(true), f32(false), bool(true), index(7)}, {1, 0.0, true, 7})
end)

t.test("what a scalar type does not convert", function()
  t.fails(function() return bool(1) end, {kind = "usage", code = "needs-bool"})
  t.fails(function() return index(1.5) end, {code = "needs-cast"})
  t.fails(function() return i8 "3" end, {code = "arguments", match = "not a string"})
  t.fails(function() return i8(1, 2) end, {code = "arguments"})
  t.fails(function() return tide.int(65)(1) end, {code = "too-wide"})
  t.fails(function() return tide.stream(i8)() end, {code = "arguments"})
end)

t.test("widths are checked", function()
  t.eq({tide.int(1).bits, tide.fixed(1, -1024).bits}, {1, 1})
  for _, w in ipairs {0, -1, 1025, 1.5, "8", math.maxinteger} do
    t.fails(function() return tide.int(w) end, {kind = "usage", code = "type-width"})
    t.fails(function() return tide.ufixed(w, 0) end, {code = "type-width"})
  end
  t.fails(function() return tide.fixed(8, 1025) end, {code = "type-width", match = "fraction"})
  t.fails(function() return tide.fixed(8) end, {code = "type-width"})
end)

t.test("modes are checked, with the nearest name", function()
  t.fails(function() return i8:with {overflov = "wrap"} end,
    {code = "unknown-option", match = "did you mean 'overflow'"})
  t.fails(function() return i8:with {overflow = "satrate"} end,
    {code = "option-value", match = "did you mean 'saturate'"})
  t.fails(function() return i8:with {overflow = 3} end, {code = "option-value"})
  t.fails(function() return i8:with {"saturate"} end, {code = "unknown-option"})
  t.fails(function() return i8:with() end, {code = "arguments"})
  t.fails(function() return i8:with {rounding = "nearest"} end,
    {code = "option-value", match = "i8"})
  t.fails(function() return f32:with {overflow = "saturate"} end, {code = "option-value"})
  t.fails(function() return i8[4]:with {overflow = "saturate"} end, {code = "arguments"})
end)

t.test("extents are checked", function()
  t.eq(i8[0].shape, {0})
  t.eq(i8[4.0], i8[4])
  t.fails(function() return i8[-1] end, {kind = "usage", code = "extent", match = "negative"})
  t.fails(function() return i8[1.5] end, {code = "extent"})
  t.fails(function() return i8[i8] end, {code = "extent", match = "a type"})
  local T = i8
  for _ = 1, 8 do T = T[2] end
  t.fails(function() return T[2] end, {code = "rank", match = "8 dimensions"})
  t.fails(function() return i8[2][tide.size "n"](0) end, {code = "unbound-size"})
  t.fails(function() return i8[1 << 40][1 << 40](0) end, {kind = "limit", code = "memory"})
  t.eq(i8[0][1 << 20]().shape, {0, 1 << 20})
  t.fails(function() return i8[0][1 << 40][1 << 40]() end, {code = "memory"})
end)

t.test("streams", function()
  t.fails(function() return tide.stream(tide.stream(i8)) end, {code = "arguments"})
  t.fails(function() return tide.stream(3) end, {code = "arguments", match = "an integer"})
  t.fails(function() return tide.stream(i8, {blok = true}) end,
    {code = "unknown-option", match = "did you mean 'block'"})
  t.fails(function() return tide.stream(i8, 3) end, {code = "arguments"})
  t.ok(tide.stream(i8, {block = false}) == tide.stream(i8))
end)

t.test("sizes without a value", function()
  local n, m = tide.size "n", tide.size "m"
  t.ok(n == tide.size "n" and n ~= m and i8[n] == i8[tide.size "n"])
  t.eq(tostring(n * 2 + m // 4 - 1), "2 * n + m // 4 - 1")
  t.eq(tostring(i8[n][2 * n + 1]), "i8[n][2 * n + 1]")
  t.ok(n + 1 == 1 + n and 2 * (n + 1) == 2 * n + 2 and n % 8 == n % 8)
  t.eq({n - n, n * 0 + 3}, {0, 3})
  t.ok(-n == 0 - n)
  t.eq(i8[n][4].shape, {n, 4})
  for _, bad in ipairs {"", "1n", "a b", "end", "n\0", "in"} do
    t.fails(function() return tide.size(bad) end, {kind = "usage", code = "arguments"})
  end
  t.ok(tide.size "ending" and tide.size "_1")
  t.fails(function() return tide.size(3) end, {code = "arguments"})
  t.fails(function() return n * m end, {code = "not-affine"})
  t.fails(function() return 8 // n end, {code = "not-affine"})
  t.fails(function() return n % 0 end, {code = "not-affine"})
  t.fails(function() return n // -2 end, {code = "not-affine"})
  t.fails(function() return n + 1.5 end, {code = "arguments", match = "a float"})
end)

t.test("layouts", function()
  local A = i8[4][6]:layout "S0R"
  t.eq({A.type, A.text, tostring(A)}, {i8[4][6], "S0R", 'tide.i8[4][6]:layout "S0R"'})
  t.eq(i8[tide.size "n"]:layout("R").text, "R")
  t.fails(function() return i8[4]:layout "S0R" end,
    {kind = "usage", code = "layout", match = "has 1"})
  t.fails(function() return i8[4]:layout "S" end, {code = "layout", match = "S<axis"})
  t.fails(function() return i8[4]:layout "X" end, {code = "layout"})
  t.fails(function() return i8[4]:layout(0) end, {code = "layout"})
  t.fails(function() return i8:layout "R" end, {code = "layout"})
end)

t.done()
