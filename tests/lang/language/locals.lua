-- Locals, assignments and the order in which Lua evaluates.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local i8, i16, i32, u8 = tide.i8, tide.i16, tide.i32, tide.u8
local f32, f64, index = tide.f32, tide.f64, tide.index

local N = 8
local A = tide.random(i8[N], 1)

-- Runs a kernel over A and eight results.
local function run(fn)
  local k = tide.kernel {A = i8[N], B = i32[N], fn}
  return select(2, p.same(k, A, i32[N](0))):table()
end

t.test("literals, typed values and operators give locals their types", function()
  local b = run(function(A, B)
    local lit, typed, op = 3, i16(300), A[0] + A[1]
    lit = lit + A[2]
    typed = typed + A[3]
    op = A[0] - A[1]
    B[0], B[1], B[2] = lit, typed, op
    local flag = false
    flag = A[0] > 0 or flag
    if flag then B[3] = 1 end
    local big = tide.u64(1)
    big = big << 40
    B[4] = i32(big >> 38)
  end)
  t.eq(b[1], 3 + A[2])
  t.eq(b[2], 300 + A[3])
  t.eq(b[3], A[0] - A[1])
  t.eq(b[5], 4)
end)

t.test("a typed local wraps as a store does", function()
  local k = tide.kernel {B = i32[4], function(B)
    local x, s, u = i8(100), tide.int(5):with {overflow = "saturate"}(3), u8(250)
    for _ = 1, 3 do
      x = x + 100
      s = s + 7
      u = u + 10
    end
    B[0], B[1], B[2] = x, s, u
  end}
  t.eq(p.foreign(k, i32[4](0)):table(), {(100 + 300 + 128) % 256 - 128, 15, (250 + 30) % 256, 0})
end)

t.test("a typed local takes what wider operands make, its printed form too", function()
  local k = tide.kernel {X = tide.i64[4], Y = f64[4], B = i32[4], F = f32[4], function(X, Y, B, F)
    local sum, mean = i32(0), f32(0)
    for i = 0, 3 do
      sum = sum + X[i]
      mean = mean + Y[i]
      B[i], F[i] = sum, mean
    end
  end}
  p.same(k, tide.random(tide.i64[4], 1), tide.random(f64[4], 2), i32[4](0), f32[4](0))
end)

t.test("constants of a local keep its type", function()
  local k = tide.kernel {F = f32[6], D = f64[2], function(F, D)
    local c = 0.1
    local d = c * 3.0
    F[0], F[1], F[2], F[3] = d, d * c, c // 0.01, c % 0.01
    D[0] = c
    local n = 2147483647
    D[1] = n + n
  end}
  local v = tide.kernel {F = f32[6], D = f64[2], function(F, D)
    local c, d = f32(0.1), f32(0)
    d = c * f32(3.0)
    F[0], F[1], F[2], F[3] = d, d * c, c // f32(0.01), c % f32(0.01)
    D[0] = c
    D[1] = 4294967294.0
  end}
  local F, D = p.foreign(k, f32[6](0), f64[2](0))
  local G, E = p.foreign(v, f32[6](0), f64[2](0))
  t.ok(F:equal(G), tostring(F) .. tostring(G))
  t.ok(D:equal(E), tostring(D) .. tostring(E))
end)

t.test("several values: places, then values, then stores from the last", function()
  local b = run(function(A, B)
    local a, b = 0, 1
    for i = 0, N - 1 do
      B[i] = a
      a, b = b, a + b
    end
    B[0], B[1] = B[1], B[0]
    local i = 2
    i, B[i] = i + 1, 77
    B[3], B[3] = 5, 6
    B[i], i = i, 7
    B[7], B[6], B[5] = B[5], B[7], B[6]
    a, b, i = A[0], A[1], A[2]
    B[4] = a + b * i
  end)
  local function lua(B)
    local a, b = 0, 1
    for i = 0, N - 1 do
      B[i] = a
      a, b = b, a + b
    end
    B[0], B[1] = B[1], B[0]
    local i = 2
    i, B[i] = i + 1, 77
    B[3], B[3] = 5, 6
    B[i], i = i, 7
    B[7], B[6], B[5] = B[5], B[7], B[6]
    a, b, i = A[0], A[1], A[2]
    B[4] = a + b * i
    return table.move(B, 0, 7, 1, {})
  end
  t.eq(b, lua {})
end)

t.test("names that hide others", function()
  local M = N
  local b = run(function(A, B)
    local N, x = i32(2), A[0]
    for i = 0, #A - 1 do B[i] = A[i] + N end
    do
      local x = x + 1
      local y = x
      B[0] = B[0] + x + y
    end
    do
      local A = B[1] + M
      B[1] = A
    end
    for x = 0, 1 do
      local x = x + 1
      B[2] = B[2] + x
    end
    B[3] = x
  end)
  t.eq(b[1], A[0] + 2 + 2 * (A[0] + 1))
  t.eq(b[2], A[1] + 2 + N)
  t.eq(b[3], A[2] + 2 + 3)
  t.eq(b[4], A[0])
end)

t.test("parameters and callees that share names with types, sizes and each other", function()
  local tools = {scale = tide.kernel {A = i32[4], function(A) for i = 0, 3 do A[i] = A[i] * 2 end
    end}}
  local M = 4
  local k = tide.kernel {A = i32[M], scale = i32, i8 = i32, M = i32, function(A, scale, i8, M)
    tools.scale(A)
    for i = 0, #A - 1 do A[i] = A[i] + scale * i8 + M end
  end}
  t.eq(p.same(k, tide.tensor(i32[4], {1, 2, 3, 4}), 10, 5, 1):table(), {53, 55, 57, 59})
end)

t.test("local tensors are new each time, or empty, or copies", function()
  local b = run(function(A, B)
    for i = 0, 3 do
      local s = i32[3](i)
      s[1] = s[1] + A[i]
      local e = i32[2]()
      e[0] = s[1]
      e[1] = s[2]
      local c = e:copy()
      e[0] = 99
      local w = i32[2](e)
      B[i] = c[0] * 2 + c[1] + w[0]
    end
    local sum = B:slice({0, 2}) + B:slice({2, 4})
    B:slice({4, 6}):set(sum)
    B[6] = sum[1]
  end)
  local want = {}
  for i = 0, 3 do want[i + 1] = 2 * (i + A[i]) + i + 99 end
  want[5], want[6] = want[1] + want[3], want[2] + want[4]
  want[7], want[8] = want[6], 0
  t.eq(b, want)
end)

t.test("a scalar parameter may be assigned", function()
  local k = tide.kernel {n = i32, m = index, B = i32[2], function(n, m, B)
    while n > 10 do n = n - m end
    B[0] = n
    m = m + 1
    B[1] = m
  end}
  t.eq(select(3, p.same(k, 47, 6, i32[2](0))):table(), {5, 7})
end)

t.test("a local that was a condition, an index, or a chosen number", function()
  local b = run(function(A, B)
    local c = A[0] > A[1]
    local k = c and 1 or 2
    local at = #A - k
    B[at] = A[at]
    local x = i32(A[0])
    if not c then x = -x end
    B[0] = x
    local j = i32(1)
    while A[j] < 100 and j < 7 do j = j + 1 end
    B[j] = B[j] + 5
  end)
  t.ok(#b == 8)
end)

t.test("what is evaluated first is read first", function()
  local function bump(B) B[0] = B[0] + 1 return 2 end
  local function both(B) B[0] = B[0] * 3 return B[0], B[1] end
  local function pick(B) B[2] = 1 return 1 end
  local b = run(function(A, B)
    B[1] = B[0] + bump(B)
    B[2] = bump(B) + B[0]
    B[3] = B[0] * bump(B) + B[0] * bump(B)
    B[4], B[5] = both(B)
    B[2] = 3
    B[B[2]] = pick(B)
    B[6] = math.max(B[0], bump(B))
  end)
  local B = {[0] = 0, 0, 0, 0, 0, 0, 0, 0}
  B[1] = B[0] + bump(B)
  B[2] = bump(B) + B[0]
  B[3] = B[0] * bump(B) + B[0] * bump(B)
  B[4], B[5] = both(B)
  B[2] = 3
  B[B[2]] = pick(B)
  B[6] = math.max(B[0], bump(B))
  t.eq(b, table.move(B, 0, 7, 1, {}))
end)

t.test("<const> and integer constants", function()
  local depth <const> = 3
  local b = run(function(A, B)
    local two <const> = 2
    for i = 0, depth do B[i] = two * depth end
  end)
  t.eq(b, {6, 6, 6, 6, 0, 0, 0, 0})
end)

t.test("more locals than one block holds", function()
  local lines = {}
  for i = 1, 150 do lines[i] = ("B[%d] = f(A[%d], B[%d]) + f(A[0], A[1])"):format(i % 8, i % 7, i
    % 5) end
  local chunk = assert(load([[
    local tide = ...
    local function f(x, y) local z = x + y if z > 0 then return z - 1 else return i32(y) end end
    i32 = tide.i32
    return tide.kernel {A = tide.i8[8], B = tide.i32[8], function(A, B)
    ]] .. table.concat(lines, "\n") .. " end}", "=many"))
  p.same(chunk(tide), A, i32[8](0))
end)

p.done()
