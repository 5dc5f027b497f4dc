-- tensors.lua - tensors outside kernels: making, elements, views, stores, random numbers,
-- comparing, printing, iterators.
local t = require "tap"
local tide = require "tide"
local i8, u8, i16, i32, i64, u64 = tide.i8, tide.u8, tide.i16, tide.i32, tide.i64, tide.u64
local f16, bf16, f32, f64, bool = tide.f16, tide.bf16, tide.f32, tide.f64, tide.bool

-- The values of a tensor of rank 1.
local function list(x) return x:table() end

t.test("fill, declare, convert", function()
  local a = i8[2][3](7)
  t.eq(a:table(), {{7, 7, 7}, {7, 7, 7}})
  t.eq({#a, a.type, a.shape}, {2, i8[2][3], {2, 3}})
  t.eq(list(i8[3](300)), {44, 44, 44})
  t.eq(list(bool[2](true)), {true, true})
  t.eq(list(f32[2](1)), {1.0, 1.0})
  t.eq(list(u8[3](tide.tensor(i32[3], {-1, 256, 255}))), {255, 0, 255})
  t.eq(list(i8[2](tide.tensor(f32[2], {1.9, -1.9}))), {1, -1})
  t.eq(list(i8[2](tide.tensor(bool[2], {true, false}))), {1, 0})
  t.fails(function() return i8[2](1.5) end, {kind = "usage", code = "needs-cast"})
  t.fails(function() return i8[2](true) end, {code = "needs-cast"})
  t.fails(function() return bool[2](1) end, {code = "needs-cast"})
  t.fails(function() return i8[2]({1, 2}) end, {code = "arguments", match = "a table"})
  t.fails(function() return bool[2](i8[2](1)) end, {code = "needs-bool"})
  t.fails(function() return i8[2](i8[3](0)) end, {code = "shapes"})
end)

t.test("a declared tensor is written before it is read", function()
  local a = i8[2][3]()
  a[1][2] = 5
  t.eq(a[1][2], 5)
  t.fails(function() return a[1][1] end, {kind = "illegal", code = "uninitialised"})
  t.fails(function() return a:table() end, {code = "uninitialised", match = "element %[0%]%[0%]"})
  t.fails(function() return a + 1 end, {code = "uninitialised"})
  t.fails(function() i8[2][3](0):set(a) end, {code = "uninitialised"})
  t.fails(function() return a:equal(a) end, {code = "uninitialised"})
  t.fails(function() return i16[2][3](a) end, {code = "uninitialised"})
  local b = a:copy()
  t.fails(function() return b[1][1] end, {code = "uninitialised"})
  t.eq(b[1][2], 5)
  t.eq(tostring(a), "i8[2][3] {{?, ?, ?}, {?, ?, 5}}")
  a:set(0)
  t.eq(a:table(), {{0, 0, 0}, {0, 0, 0}})
end)

t.test("lists", function()
  local a = tide.tensor(i16[2][2][2], {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}})
  t.eq(a[1][0][1], 6)
  t.eq(a:table(), {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}})
  t.eq(tide.tensor(i8[2][0], {{}, {}}):table(), {{}, {}})
  local T = i8[2][3]
  local function refuse(l, match, code)
    t.fails(function() return tide.tensor(T, l) end,
      {kind = "usage", code = code or "list", match = match})
  end
  refuse({{1, 2, 3}}, "the list has length 1, not 2")
  refuse({{1, 2, 3}, {4, 5}}, "entry %[2%] has length 2, not 3")
  refuse({{1, 2, 3}, {4, 5, 6, 7}}, "entry %[2%] has length 4, not 3")
  refuse({{1, 2, 3}, 4}, "entry %[2%] is an integer, not a list of 3")
  refuse({{1, 2, 3}, {4, 5, 0.5}}, "entry %[2%]%[3%]: a float does not become i8", "needs-cast")
  refuse({{1, 2, 3}, {4, "5", 6}}, "entry %[2%]%[2%]: a string", "arguments")
  refuse({{1, 2, 3}, {4, {5}, 6}}, "entry %[2%]%[2%]: a table", "arguments")
  refuse({{true, 2, 3}, {4, 5, 6}}, "entry %[1%]%[1%]: a boolean", "needs-cast")
  refuse(nil, "the list is")
  t.fails(function() return tide.tensor(i8, {1}) end, {code = "arguments"})
end)

t.test("a list holds what its type does: no number is cut in silence", function()
  for _, x in ipairs {{i8, 128}, {i8, -129}, {u8, -1}, {u8, 256}, {i32, 1 << 31}, {tide.int(5), 16},
    {tide.fixed(8, 4), 8}, {tide.ufixed(8, 4), -1}, {tide.uint(70), -1}} do
    t.fails(function() tide.tensor(x[1][2], {0, x[2]}) end, {code = "out-of-range", match = "entry %[2%] is"})
  end
  for _, x in ipairs {{i8, 127}, {i8, -128}, {u8, 255}, {i32, (1 << 31) - 1}, {tide.int(5), -16}, {u64, -1},
    {i64, math.mininteger}} do
    t.eq(tide.tensor(x[1][2], {0, x[2]})[1], x[2])
  end
  t.eq(tide.tensor(tide.fixed(8, 4)[2], {-8, 7.9375}):table(), {-8.0, 7.9375})
  t.eq(tide.tensor((i8:with {overflow = "saturate"})[2], {0, 300})[1], 127)
  t.eq(tide.tensor(i8[1], {i8(300)})[0], 44)
end)

t.test("elements are bounds checked", function()
  local a = tide.tensor(i8[2][3], {{1, 2, 3}, {4, 5, 6}})
  t.eq({a[1][2], a[1.0][0]}, {6, 4})
  for _, i in ipairs {-1, 2, math.maxinteger, math.mininteger} do
    t.fails(function() return a[i] end,
      {kind = "illegal", code = "index-range", match = "dimension 0 has extent 2"})
  end
  t.fails(function() return a[1][3] end, {code = "index-range", match = "dimension 1 has extent 3"})
  t.fails(function() a[1][3] = 0 end, {code = "index-range", match = "index 3 .* dimension 1"})
  t.fails(function() return a[0.5] end, {code = "index-type", match = "a float"})
  t.fails(function() return a[{}] end, {code = "index-type"})
  t.fails(function() return a.shap end, {match = "did you mean"})
  t.fails(function() return a["0"] end, {code = "no-method"})
  t.fails(function() a[0] = 1 end, {code = "rank"})
  t.fails(function() a.name = 1 end, {code = "arguments"})
end)

t.test("a store casts to the element", function()
  local a = i8[1](0)
  for _, v in ipairs {127, 128, -129, 300, math.maxinteger} do
    a[0] = v
    t.eq(a[0], ((v + 128) & 255) - 128)
  end
  local S = i8:with {overflow = "saturate"}[1](0)
  S[0] = 300
  t.eq(S[0], 127)
  t.fails(function() a[0] = 1.0 end, {code = "needs-cast", match = "a float does not become i8"})
  t.fails(function() a[0] = true end, {code = "needs-cast"})
  t.fails(function() a[0] = nil end, {code = "arguments"})
  t.fails(function() bool[1](true)[0] = 1 end, {code = "needs-cast", match = "x ~= 0"})
  local q = tide.fixed(8, 3)[1](0)
  q[0] = 1.3
  t.eq(q[0], 1.25)
  local u = u64[1](-1)
  t.eq(u[0], -1)
  t.eq(tostring(u), "u64[1] {18446744073709551615}")
end)

t.test("rows are views, the same value each time", function()
  local row
  do
    local a = i16[2][3](0)
    row = a[1]
    t.ok(row == a[1] and row.type == i16[3])
    row[2] = 9
    t.eq(a[1][2], 9)
  end
  collectgarbage()
  collectgarbage()
  t.eq(row[2], 9)
end)

t.test("more rows than are kept", function()
  local n = 20000
  local a = i32[n][2](0)
  for i = 0, n - 1 do a[i][1] = i end
  local sum = 0
  for i = 0, n - 1 do sum = sum + a[i][1] end
  t.eq(sum, n * (n - 1) // 2)
  local held = a[n - 1]
  collectgarbage()
  t.ok(held == a[n - 1])
end)

t.test("slices", function()
  local a = i32[6][8](0)
  for i, j in tide.grid(6, 8) do a[i][j] = 10 * i + j end
  t.eq(a:slice({1, 3}, {0, 8, 3}):table(), {{10, 13, 16}, {20, 23, 26}})
  t.eq(list(a:slice({1, 6, 2}, 7)), {17, 37, 57})
  t.eq(list(a:slice(2)), {20, 21, 22, 23, 24, 25, 26, 27})
  t.eq({a:slice(2, 3), a:slice().type, a:slice({}, {}).type}, {23, i32[6][8], i32[6][8]})
  t.eq(a:slice({2, 2}).type, i32[0][8])
  t.eq(a:slice({0, 6}, 3):slice({0, 6, 2}):table(), {3, 23, 43})
  a:slice({0, 2}, {0, 2}):set(-1)
  t.eq({a[0][0], a[1][1], a[1][2], a[2][0]}, {-1, -1, 12, 20})
  local d = i8[4]()
  d:slice({1, 3}):set(1)
  t.fails(function() return d[0] end, {code = "uninitialised"})
  t.eq({d[1], d[2]}, {1, 1})
  for _, r in ipairs {{0, 7}, {-1, 2}, {3, 2}, {7, 7}} do
    t.fails(function() return a:slice(r) end,
      {kind = "illegal", code = "index-range", match = "dimension 0 has extent 6"})
  end
  t.fails(function() return a[0]:slice({0, 9}) end, {code = "index-range", match = "dimension 1"})
  t.fails(function() return a:slice({}, 8) end, {code = "index-range", match = "dimension 1"})
  t.fails(function() return a:slice({0, 2, 0}) end, {code = "slice"})
  t.fails(function() return a:slice({1}) end, {code = "slice"})
  t.fails(function() return a:slice({0, 1.5}) end, {code = "slice"})
  t.fails(function() return a:slice("all") end, {code = "slice"})
  t.fails(function() return a:slice({}, {}, {}) end, {code = "rank"})
end)

t.test("a step past the end of a huge range", function()
  local a = i8[4](3)
  t.eq(list(a:slice({0, 4, math.maxinteger})), {3})
end)

t.test("transpose", function()
  local a = tide.tensor(i8[2][3], {{1, 2, 3}, {4, 5, 6}})
  local b = a:transpose()
  t.eq(b:table(), {{1, 4}, {2, 5}, {3, 6}})
  b[2][0] = 9
  t.eq(a[0][2], 9)
  t.eq(b:slice({1, 3}, 1):table(), {5, 6})
  local c = tide.random(i8[2][3][4], 1)
  t.eq({c:transpose().type, c:transpose()[3][2][1]}, {i8[4][3][2], c[1][2][3]})
end)

t.test("set", function()
  local a = i8[4](0)
  a:set(tide.tensor(i32[4], {1, 200, 300, -1}))
  t.eq(list(a), {1, -56, 44, -1})
  a:slice({1, 4}):set(a:slice({0, 3}))
  t.eq(list(a), {1, 1, -56, 44})
  a:slice({0, 3}):set(a:slice({1, 4}))
  t.eq(list(a), {1, -56, 44, 44})
  local m = tide.tensor(i8[2][2], {{1, 2}, {3, 4}})
  m:set(m:transpose())
  t.eq(m:table(), {{1, 3}, {2, 4}})
  local f = f32[4](0)
  f:set(a)
  t.eq(list(f), {1.0, -56.0, 44.0, 44.0})
  t.fails(function() a:set(f) end, {code = "needs-cast", match = "f32 does not become i8"})
  t.fails(function() a:set(0.5) end, {code = "needs-cast"})
  t.fails(function() a:set(bool[4](true)) end, {code = "needs-cast"})
  t.fails(function() bool[4](true):set(a) end, {code = "needs-cast"})
  t.fails(function() a:set(i8[3](0)) end, {code = "shapes", match = "i8%[4%] and i8%[3%]"})
  t.fails(function() a:set() end, {code = "arguments"})
  t.fails(function() a:set {1, 2, 3, 4} end, {code = "arguments"})
end)

t.test("state", function()
  local s = tide.state(i32[2], 5)
  s[0] = 1
  s:reset()
  t.eq(list(s), {5, 5})
  local u = tide.state(i8[2][2], {{1, 2}, {3, 4}})
  u:set(0)
  u:reset()
  t.eq(u:table(), {{1, 2}, {3, 4}})
  t.eq(list(tide.state(i16[2], i8[2](3))), {3, 3})
  t.fails(function() i8[2](0):reset() end, {code = "not-a-state"})
  t.fails(function() u[0]:reset() end, {code = "not-a-state"})
  t.fails(function() return tide.state(i8[2]) end, {code = "arguments"})
  t.fails(function() return tide.state(i8, 0) end, {code = "arguments"})
end)

t.test("random: the same on every machine", function()
  t.eq(tostring(tide.random(u64[3], 0)),
    "u64[3] {16294208416658607535, 7960286522194355700, 487617019471545679}")
  t.eq(list(tide.random(i8[8], 1)), list(i8[8](tide.random(u64[8], 1))))
  t.eq(list(tide.random(f64[1], 0)), {(0xe220a8397b1dcdaf >> 11) * 0x1p-52 - 1})
end)

t.test("random: ranges are half open and all values occur", function()
  local function extremes(T, range)
    local seen, x = {}, tide.random(T[4000], 3, range)
    for i = 0, 3999 do seen[x[i]] = true end
    local keys = {}
    for k in pairs(seen) do keys[#keys + 1] = k end
    table.sort(keys)
    return keys
  end
  t.eq(extremes(i8, {lo = -2, hi = 3}), {-2, -1, 0, 1, 2})
  t.eq(#extremes(u8), 256)
  t.eq(extremes(tide.int(2)), {-2, -1, 0, 1})
  t.eq(extremes(tide.fixed(8, 1), {lo = -1, hi = 1}), {-1.0, -0.5, 0.0, 0.5})
  t.eq(extremes(i8, {lo = 127, hi = 128}), {127})
  local h = extremes(f16, {lo = 0, hi = 1})
  t.ok(h[1] >= 0 and h[#h] < 1 and h[1] < 0.01 and h[#h] > 0.99)
  local d = extremes(bf16)
  t.ok(d[1] >= -1 and d[#d] < 1 and d[1] < -0.95 and d[#d] > 0.95)
  local b, n = tide.random(bool[1000], 9), 0
  for i = 0, 999 do n = n + (b[i] and 1 or 0) end
  t.ok(n > 400 and n < 600)
  local x = tide.random(i64[100], 1, {lo = math.mininteger, hi = math.maxinteger})
  t.ok(not x:equal(tide.random(i64[100], 2, {lo = math.mininteger, hi = math.maxinteger})))
end)

t.test("random: what is refused", function()
  local function refuse(T, range, code)
    t.fails(function() return tide.random(T[4], 1, range) end,
      {kind = "usage", code = code or "range"})
  end
  refuse(i8, {lo = 0, hi = 129})
  refuse(i8, {lo = -129, hi = 0})
  refuse(u8, {lo = -1, hi = 4})
  refuse(u64, {lo = -1, hi = 4})
  refuse(i8, {lo = 3, hi = 3})
  refuse(i8, {lo = 3})
  refuse(i8, {lo = "0", hi = 1})
  refuse(f32, {lo = 0, hi = math.huge})
  refuse(f32, {lo = 0 / 0, hi = 1})
  refuse(f32, {lo = 1, hi = 1})
  refuse(bool, {lo = 0, hi = 1})
  refuse(i8, {low = 0, hi = 1}, "unknown-option")
  refuse(tide.int(65), nil, "too-wide")
  t.fails(function() return tide.random(i8[4]) end, {code = "arguments"})
  t.fails(function() return tide.random(i8, 1) end, {code = "arguments"})
end)

t.test("equal", function()
  local a = tide.tensor(i8[2][2], {{1, 2}, {3, 4}})
  t.eq(a:equal(a:copy()), true)
  t.eq(a:equal(i64[2][2](a)), true)
  t.eq({a:equal(tide.tensor(i8[2][2], {{1, 2}, {3, 5}}))}, {false, "element [1][1] is 4, not 5"})
  t.eq({a:equal(i8[4](0))}, {false, "shapes differ: i8[2][2] and i8[4]"})
  t.eq(a:equal(bool[2][2](true)), false)
  t.eq(a:transpose():equal(tide.tensor(i8[2][2], {{1, 3}, {2, 4}})), true)
  t.eq(f32[1](0 / 0):equal(f32[1](0 / 0)), true)
  t.eq({f32[1](0.0):equal(f32[1](-0.0)), (u64[1](-1):equal(i64[1](-1)))}, {true, false})
  t.eq(i8[0](0):equal(i8[0](0)), true)
  t.fails(function() return a:equal(1) end, {code = "arguments"})
end)

t.test("allclose", function()
  local function close(T, x, y, options) return (T[1](x):allclose(T[1](y), options)) end
  t.eq({close(f32, 1, 1.00019), close(f32, 1, 1.00021), close(f32, 0, 9.9e-5)}, {true, false, true})
  t.eq({close(f16, 1, 1.0195), close(bf16, 1, 1.03), close(f64, 1, 1 + 1e-9)}, {true, false, false})
  t.eq({close(i32, 100, 100), close(i32, 100, 101)}, {true, false})
  t.eq({close(i32, 100, 101, {atol = 1}), close(i32, 100, 102, {atol = 1})}, {true, false})
  t.eq({close(f32, 1, 1.01, {rtol = 0.1}), close(f32, 1, 1.0001, {rtol = 0, atol = 0})},
    {true, false})
  t.eq(f32[1](1):allclose(f64[1](1.0001)), true)
  t.eq(f32[1](1):allclose(i8[1](1)), true)
  t.eq({close(f32, math.huge, math.huge), close(f32, math.huge, -math.huge)}, {true, false})
  t.eq({close(f32, 0 / 0, 0 / 0), close(f32, 0 / 0, 1), close(f32, 1, math.huge)},
    {true, false, false})
  t.eq(select(2, f32[1](1):allclose(f32[1](2))), "element [0] is 1.0, not 2.0")
  t.fails(function() return close(f32, 1, 1, {tol = 1}) end, {code = "unknown-option"})
  t.fails(function() return close(f32, 1, 1, {rtol = -1}) end, {code = "option-value"})
end)

t.test("copies are their own", function()
  local a = tide.tensor(i8[2][3], {{1, 2, 3}, {4, 5, 6}})
  local b = a:transpose():copy()
  a[0][0] = 9
  t.eq(b:table(), {{1, 4}, {2, 5}, {3, 6}})
end)

t.test("grid and reduction", function()
  local function all(...)
    local r = {}
    for i, j, k in tide.grid(...) do r[#r + 1] = table.concat({i, j, k}, ",") end
    return table.concat(r, " ")
  end
  t.eq(all(2, 3), "0,0 0,1 0,2 1,0 1,1 1,2")
  t.eq(all({1, 3}, {0, 7, 3}, "PE"), "1,0 1,3 1,6 2,0 2,3 2,6")
  t.eq(all(2, 1, {5, 6}), "0,0,5 1,0,5")
  t.eq({all(0), all(3, 0), all(0, 3), all({2, 2}), all({3, 1}), all(-1)}, {"", "", "", "", "", ""})
  t.eq(all({math.maxinteger - 3, math.maxinteger, 2}),
    math.maxinteger - 3 .. " " .. math.maxinteger - 1)
  t.eq(all({math.mininteger, math.maxinteger, math.maxinteger}),
    math.mininteger .. " " .. -1 .. " " .. math.maxinteger - 1)
  local sum = 0
  for k in tide.reduction(4) do sum = sum + k end
  t.eq(sum, 6)
  t.fails(function() tide.grid() end, {kind = "usage", code = "arguments"})
  t.fails(function() tide.grid("PE") end, {code = "arguments"})
  t.fails(function() tide.grid(1.5) end, {code = "extent"})
  t.fails(function() tide.grid({1}) end, {code = "extent"})
  t.fails(function() tide.grid({0, 4, 0}) end, {code = "extent"})
  t.fails(function() tide.grid(tide.size "n") end, {code = "extent", match = "a size"})
end)

t.test("assume", function()
  t.eq(select("#", tide.assume(8 % 4 == 0)), 0)
  t.fails(function() tide.assume(8 % 3 == 0) end, {kind = "illegal", code = "assume"})
end)

t.test("tostring is one line", function()
  t.eq(tostring(tide.tensor(i8[2][3], {{1, 2, 3}, {4, 5, 6}})), "i8[2][3] {{1, 2, 3}, {4, 5, 6}}")
  t.eq(tostring(i8[10](1)), "i8[10] {1, 1, 1, 1, 1, 1, 1, 1, ...}")
  t.eq(tostring(i8[4][4](1)), "i8[4][4] {{1, 1, 1, 1}, {1, 1, 1, 1}, ...}")
  t.eq(tostring(f32[2](0.5)), "f32[2] {0.5, 0.5}")
  t.eq(tostring(i8[0](0)), "i8[0] {}")
  t.eq(tostring(i8[2][0](0)), "i8[2][0] {{}, {}}")
  t.ok(#tostring(i8[1 << 20][0](0)) < 100)
  t.ok(#tostring(i8[1 << 20][0][5](0)) < 100)
end)

-- What a tensor's show prints.
local function shown(x)
  local text
  local keep = print
  print = function(s) text = s end
  x:show()
  print = keep
  return text
end

t.test("show aligns rows", function()
  t.eq(shown(tide.tensor(i8[2][3], {{1, -20, 3}, {4, 5, 100}})),
    "i8[2][3]\n[0]  1  -20    3\n[1]  4    5  100")
  t.eq(shown(i8[3](7)), "i8[3]\n7  7  7")
  t.eq(shown(i8[2][1][2](7)), "i8[2][1][2]\n[0][0]  7  7\n[1][0]  7  7")
  t.eq(shown(i8[11][1](7)):match "\n(%[9%][^\n]*)\n(%[10%][^\n]*)$", "[9]   7")
  t.eq(shown(i8[2]()), "i8[2]\n?  ?")
  t.eq(shown(i8[0](0)), "i8[0]")
  t.eq(shown(i8[2][0](0)), "i8[2][0]")
end)

t.test("show is capped", function()
  local text = shown(i8[300][300](1))
  t.ok(#text <= 20480 and #text > 19000)
  local left = tonumber(text:match "\n%.%.%. (%d+) more$")
  local _, ones = text:gsub("  1", "")
  t.eq(left + ones, 300 * 300)
  t.ok(#shown(i8[100000][1](1)) <= 20480)
end)

t.test("a tensor of 10^9 elements is printed as fast as one of 10^6", function()
  local made, big = pcall(function() return i8[1000][1000][1000](0) end)
  if not made then return t.eq(big.kind, "limit") end
  big[999][999][999] = 5
  t.eq(big[999][999][999], 5)
  t.has(shown(big), "more")
  t.has(tostring(big), "...")
  local small = i8[1][1000][1000](0)
  local function time(x) return t.least_time(function() return shown(x), tostring(x) end) end
  t.ok(time(big) < 20 * time(small))
end)

t.test("the collector knows of the memory of tensors", function()
  for _ = 1, 3000 do i8[1000000]() end
  t.ok(true)
end)

t.test("a finalizer that outlives its tensors is refused, not crashed", function()
  local seen = {}
  do
    local late = setmetatable({}, {__gc = function(self)
      seen[#seen + 1] = pcall(function() return self.x[0], self.row[0] end)
    end})
    late.x = i8[4](1)
    late.row = i8[2][4](1)[1]
  end
  collectgarbage()
  collectgarbage()
  t.eq(#seen, 1)
end)

t.test("metamethods refuse other values", function()
  local mt = debug.getmetatable(i8[2](0))
  for _, name in ipairs {"__index", "__newindex", "__len", "__tostring"} do
    for _, v in ipairs {io.stdout, {}, 3, i8} do
      t.fails(function() return mt[name](v, 0, 0) end, {kind = "usage"})
    end
  end
  t.eq(getmetatable(i8[2](0)), false)
end)

t.done()
