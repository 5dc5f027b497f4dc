-- for, grid, reduction, while, repeat, break, return, if, unrolled lists.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local i8, i32, i64, grid, reduction = tide.i8, tide.i32, tide.i64, tide.grid, tide.reduction

local N = 12
local A = tide.random(i8[N], 5)

-- What a kernel over A makes of twelve zeros; the same function gives the plain Lua answer.
local function check(fn)
  local k = tide.kernel {A = i8[N], B = i32[N], fn}
  local want = {}
  for i = 0, N - 1 do want[i] = 0 end
  fn(setmetatable({}, {__index = A, __len = function() return N end}), want)
  local got = select(2, p.same(k, A, i32[N](0)))
  t.eq(got:table(), table.move(want, 0, N - 1, 1, {}))
  return k
end

t.test("numeric for: steps up and down, zero trips, bounds read once", function()
  check(function(A, B)
    for i = 0, N - 1 do B[i] = A[i] end
    for i = N - 1, 0, -3 do B[i] = B[i] + i end
    for i = 1, N - 1, 4 do B[i] = B[i] * 2 end
    for i = 3, 2 do B[i] = 1000 end
    for i = 2, 3, -1 do B[i] = 1000 end
    for i = 5, 5 do B[i] = B[i] + 1 end
    for i = 7, 4, -100 do B[i] = B[i] + 3 end
    local n = 3
    for i = 0, n do
      n = n + 1
      B[i] = B[i] + n
    end
    for i = -2, 2, 2 do B[i + 2] = B[i + 2] - i end
  end)
end)

t.test("loops whose bounds are data", function()
  check(function(A, B)
    for i = 0, A[0] % 5 do
      for j = i, i + A[i] % 4 do B[j] = B[j] + i * j end
    end
    for i = A[1] % 8, 0, -2 do B[i] = B[i] + 1 end
  end)
end)

t.test("triangular and shifted loops", function()
  local k = check(function(A, B)
    for i = 0, N - 1 do
      for j = 0, i - 1 do B[i] = B[i] + A[j] end
      for j = i + 1, N - 1 do B[j] = B[j] - A[i] end
      for j = i // 2, i do B[j] = B[j] + 1 end
    end
  end)
  t.eq(k.sizes, {N = N})
end)

t.test("grid: extents, ranges, steps, bands, more extents than names", function()
  local k = tide.kernel {A = i8[N], B = i32[N], function(A, B)
    for i, j in grid(3, 4, "PE") do B[i * 4 + j] = A[i + j] end
    for i, j in grid({1, 3}, {0, 4, 2}) do B[i + j] = B[i + j] + i * 10 + j end
    for i in grid({2, N}, 2) do B[i] = B[i] + 1 end
    for k in reduction(5, "sum") do B[0] = B[0] + A[k] end
    for i in grid(0) do B[i] = 1000 end
    for i in grid {N - 2, N} do B[i] = -1 end
  end}
  local want = {}
  for i = 0, 2 do for j = 0, 3 do want[i * 4 + j] = A[i + j] end end
  for i = 1, 2 do for j = 0, 2, 2 do want[i + j] = want[i + j] + i * 10 + j end end
  for i = 2, N - 1 do want[i] = want[i] + 2 end
  for i = 0, 4 do want[0] = want[0] + A[i] end
  want[N - 2], want[N - 1] = -1, -1
  t.eq(select(2, p.same(k, A, i32[N](0))):table(), table.move(want, 0, N - 1, 1, {}))
  t.has(tostring(k), "--@ band(PE)")
  t.has(tostring(k), "--@ band(sum) reduction")
end)

t.test("while, repeat, break", function()
  check(function(A, B)
    local i = 0
    while i < N and A[i] < 100 do
      B[i] = A[i]
      i = i + 1
    end
    i = 0
    repeat
      local stop = i >= 4
      B[i] = B[i] + 1
      i = i + 1
    until stop
    while true do
      i = i - 1
      if i == 1 then break end
      B[i] = B[i] + 7
    end
    for j = 0, N - 1 do
      for m = 0, N - 1 do
        if m > j then break end
        B[m] = B[m] + 1
      end
      if j == 9 then break end
    end
    repeat
      i = i + 1
      if i > 100 then break end
    until i // 5 == 3
    B[11] = i
  end)
end)

t.test("return at once, and from inside", function()
  check(function(A, B)
    for i = 0, N - 1 do
      if i * i > 20 then
        B[0] = i
        return
      end
      B[i] = A[i]
    end
    B[1] = 99
  end)
  check(function(A, B)
    B[0] = A[0]
    do return end
    B[1] = 1
  end)
  check(function(A, B) end)
end)

t.test("if, elseif, else", function()
  check(function(A, B)
    for i = 0, N - 1 do
      if A[i] > 50 then
        B[i] = 1
      elseif A[i] > 0 then
        B[i] = 2
      elseif not (A[i] > -50 or i == 3) then
        B[i] = 3
      else
        local x = A[i] * 2
        B[i] = x
      end
    end
  end)
end)

t.test("an upvalue that is nil is false, and equal to nil alone: a template's option that was not given", function()
  local function make(n, twice, bias)
    return tide.kernel {A = i32[n], function(A)
      for i = 0, n - 1 do
        if twice then A[i] = A[i] * 2 elseif not bias and twice == nil then A[i] = A[i] + 1 end
        if (bias) ~= nil then A[i] = A[i] + (bias or 7) end
        A[i] = A[i] * (bias or 3)
        if bias and A[i] > 20 then A[i] = 0 end
      end
    end}
  end
  for _, given in ipairs {{}, {true}, {nil, 5}, {true, 5}} do
    local k = make(4, given[1], given[2])
    local A, B = tide.tensor(i32[4], {1, 2, 3, 4}), tide.tensor(i32[4], {1, 2, 3, 4})
    k(A)
    k:native(B)
    t.ok(A:equal(B), tostring(k))
  end
  t.eq(tostring(make(4)):find("if", 1, true), nil)
end)

t.test("a branch on constants keeps one arm", function()
  local flag, taps = false, {1, 2}
  local k = check(function(A, B)
    if flag then
      B[0] = taps.nosuch()
    elseif #taps == 2 then
      local x = A[1]
      B[0] = x
    else
      B[0] = A.bad
    end
    local x = A[2]
    B[1] = x
    B[2] = flag and A[0] or A[3]
    if N > 4 and not flag then B[3] = 1 end
    while flag do B[4] = 1 end
  end)
  t.eq(k.sizes, {})
end)

t.test("ipairs unrolls lists of numbers, tensors, functions and lists", function()
  local rows = {tide.tensor(i8[2], {3, 4}), tide.tensor(i8[2], {5, 6})}
  local fns = {
    function(x) return x + 1 end,
    function(x) return x * 2 end,
    math.abs,
  }
  local none = {}
  local pairs_of = {{0, 10}, {3, 20}, {at = 1, 7}}
  local k = tide.kernel {A = i8[N], B = i32[N], function(A, B)
    for k, x in ipairs(none) do B[k] = x end
    for k, x in ipairs(pairs_of) do B[k] = x[1] + #pairs_of end
    for k, row in ipairs(rows) do B[k + 3] = row[0] * row[1] end
    for k, f in ipairs(fns) do
      local y = f(A[k])
      B[k + 6] = y
    end
    for _, x in ipairs(pairs_of) do for i, y in ipairs(x) do B[0] = B[0] + x[1] * i + y end end
  end}
  local B = select(2, p.same(k, A, i32[N](0)))
  local sum = 0
  for _, x in ipairs(pairs_of) do for i, y in ipairs(x) do sum = sum + x[1] * i + y end end
  t.eq(B:table(), {sum, 3, 6, 10, 12, 30, 0, A[1] + 1, A[2] * 2, math.abs(A[3]), 0, 0})
end)

t.test("loop variables in arithmetic are i32, indices as wide as asked", function()
  local k = tide.kernel {B = i64[4], function(B)
    for i = 0, 3 do
      B[i] = i64(i) * 3000000000 + i
      local j = i
      j = j + 1
      B[i] = B[i] + j * i
    end
  end}
  local want = {}
  for i = 0, 3 do want[i + 1] = i * 3000000000 + i + (i + 1) * i end
  t.eq(p.same(k, i64[4](0)):table(), want)
end)

t.test("loops of one name are numbered in source order", function()
  local k = tide.kernel {B = i32[4], function(B)
    for i = 0, 3 do B[i] = 1 end
    for i = 0, 3 do B[i] = B[i] + 1 end
  end}
  local s = tide.schedule(k)
  t.ok(s:can("pipeline", "i#2", 1))
  t.ok(not s:can("pipeline", "i", 1))
  p.same(k, i32[4](0))
end)

t.test("zero-size tensors", function()
  local Z = 0
  local k = tide.kernel {A = i32[Z], B = i32[Z][4], C = i32[1], function(A, B, C)
    for i = 0, Z - 1 do A[i] = 1 end
    for i, j in grid(Z, 4) do B[i][j] = A[i] end
    local s = i32[Z](3)
    s:set(A)
    C[0] = #A
  end}
  p.same(k, i32[0](), i32[0][4](), i32[1](5))
end)

p.done()
