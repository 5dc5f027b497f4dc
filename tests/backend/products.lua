-- [slow]
-- products.lua - integers that are folded into one element by loops: what GCC 12 makes of `x = x * x` at -O3 where a
-- conversion or another product comes first (each lane squares for itself), and random statements of that kind. Tide's
-- command must be right for every program that the plain one gets wrong (docs/compilers.md).
-- `TIDE_RANDOM=N` makes N random kernels, TIDE_SEED=S starts at seed S.
local t = require "tap"
local batch = require "c_batch"
local tide = require "tide"
local campaign = require "campaign"

local PLAIN = "-O3 -march=native -mprefer-vector-width=512 -fno-math-errno"

-- States that a kernel, compiled by both compilers, leaves what the evaluator leaves there.
local function same(kernel, ...)
  local want, args = {}, {...}
  for i, x in ipairs(args) do want[i] = x:copy() end
  kernel:reference(table.unpack(want))
  for _, tier in ipairs {"tcc", "cc"} do
    local got = {}
    for i, x in ipairs(args) do got[i] = x:copy() end
    kernel:build {target = "cpu", tier = tier}(table.unpack(got))
    for i, x in ipairs(got) do
      t.ok(x:equal(want[i]), ("%s, argument %d: %s is not %s\n%s"):format(tier, i, tostring(x), tostring(want[i]),
        tostring(kernel)))
    end
  end
  return want
end

t.test("a square, in two loops and in one", function()
  for _, T in ipairs {tide.i32, tide.i64, tide.u32} do
    for _, N in ipairs {4, 40} do
      local k = tide.kernel {A = T[1], function(A)
        for _ = 0, N - 1 do
          for _ = 0, 1 do A[0] = T(A[0] * A[0]) end
        end
      end}
      local one = tide.kernel {A = T[1], function(A)
        for _ = 0, N - 1 do A[0] = T(A[0] * A[0]) end
      end}
      same(k, tide.tensor(T[1], {3}))
      same(one, tide.tensor(T[1], {3}))
    end
  end
  t.eq(same(tide.kernel {A = tide.i32[1], function(A)
    for _ = 0, 3 do
      for _ = 0, 1 do A[0] = tide.i32(A[0] * A[0]) end
    end
  end}, tide.tensor(tide.i32[1], {8}))[1][0], 0)
end)

t.test("a square of a product, through locals and through calls", function()
  local u32, i32 = tide.u32, tide.i32
  local scaled = tide.kernel {A = u32[1], B = u32[4], function(A, B)
    for _ = 0, 39 do
      local y = u32(A[0] * 3)
      A[0] = u32(y * y)
    end
    for i = 0, 3 do
      local y = u32(A[0] * B[i])
      A[0] = u32(y * y)
    end
  end}
  same(scaled, tide.tensor(u32[1], {5}), tide.tensor(u32[4], {3, 5, 7, 9}))
  local square = tide.kernel {name = "square", X = i32[1], Y = i32[1], function(X, Y) Y[0] = i32(X[0] * X[0]) end}
  local calls = tide.kernel {A = i32[1], B = i32[1], function(A, B)
    for _ = 0, 39 do
      square(A, B)
      A[0] = B[0]
    end
  end}
  same(calls, tide.tensor(i32[1], {3}), tide.tensor(i32[1], {0}))
end)

-- A random kernel as text: a few statements on elements of A, a local, an array B that is only read.
local function program(seed)
  local state = seed * 2654435761 % 4294967296
  local function draw(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n
  end
  local function pick(list) return list[draw(#list) + 1] end
  local T = pick {"i32", "i32", "u32", "i64", "u64", "i16", "u8", "int(24)", "i32:saturate()", "fixed(32, 8)"}
  local leaf = {"A[0]", "A[0]", "A[1]", "x", "B[i]", "3"}
  local function value(depth)
    if depth == 0 or draw(5) == 0 then return pick(leaf) end
    local a, b = value(depth - 1), value(depth - 1)
    local op = pick {"*", "*", "*", "+", "-", "min", "max", "twice", "narrow"}
    if op == "min" or op == "max" then return ("tide.%s(%s, %s)"):format(op, a, b) end
    if op == "twice" then return ("T(%s) * T(%s)"):format(a, a) end
    if op == "narrow" then return ("T(%s)"):format(a) end
    return ("(%s %s %s)"):format(a, op, b)
  end
  local inner = pick {1, 2, 3}
  local lines = {"local tide = ...", "local T = tide." .. T, ("local M, N = %d, %d"):format(pick {1, 2, 5, 16},
    pick {3, 4, 8, 17, 40}), "return tide.kernel {A = T[2], B = T[N], function(A, B)", "  local x = T(1)",
    "  for h = 0, M - 1 do for i = 0, N - 1 do",
    ("  for j = 0, %d do"):format(inner - 1)}
  for _ = 1, 1 + draw(3) do
    lines[#lines + 1] = ("    %s = T(%s)"):format(pick {"A[0]", "A[0]", "A[1]", "x"}, value(1 + draw(2)))
  end
  lines[#lines + 1] = "  end end end"
  lines[#lines + 1] = "  A[1] = T(A[1] + x)"
  lines[#lines + 1] = "end}"
  return table.concat(lines, "\n"), T
end

local count, first = campaign.range(300)
local kernels = {}
for seed = first, first + count - 1 do
  local text, T = program(seed)
  local made, k = pcall(function() return load(text)(tide) end)
  if made then
    local type = load("local tide = ... return tide." .. T)(tide)
    local N = tonumber(text:match "local M, N = %d+, (%d+)")
    local A, B = tide.random(type[2], seed), tide.random(type[N], seed + 1)
    local want = A:copy()
    k:reference(want, B:copy())
    local name = "seed " .. seed
    kernels[name] = {k, A, B}
    batch.add(name, k, {A, B}, {want, B})
  end
end

t.test("random kernels are made", function()
  t.ok(batch.count() * 10 > count * 8, ("%d of %d"):format(batch.count(), count))
end)
batch.others("are right by Tide's command where the plain one is wrong", PLAIN, function(names)
  local n = 0
  for name in pairs(names) do
    same(table.unpack(kernels[name]))
    n = n + 1
  end
  t.ok(n <= batch.count(), n)
end)
batch.test("without vectors", "-O2 -fno-tree-vectorize")

t.done()
