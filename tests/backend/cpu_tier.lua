-- cpu_tier.lua - a program that is called often moves from memory to the system's compiler, beside
-- its calls, with its states as they were and the same results.
local tide = require "tide"
local t = require "tap"
local grid, f32, i32 = tide.grid, tide.f32, tide.i32

-- A kernel that keeps numbers of several types from call to call.
local function filter()
  local past, count, odd = tide.state(f32[40], 0.5), tide.state(i32[3], 7), tide.state(tide.int(5)[9], 1)
  return tide.kernel {A = f32[300][40], B = f32[40], function(A, B)
    local sum = f32[40](0)
    for i, j in grid(300, 40) do sum[j] = sum[j] + A[i][j] * past[j] end
    for j = 0, 39 do
      past[j] = past[j] * 0.75 + sum[j] / 3.0
      B[j] = past[j] + f32(count[j % 3])
    end
    count[1] = count[1] * 3 + 1
    odd[count[0] % 9] = odd[0] + 11
    B[0] = B[0] + f32(odd[count[0] % 9])
  end}
end

local function build(tier) return filter():build {target = "cpu", tier = tier} end

-- Calls m until its tier is `tier`, but not for ever, and a reference beside it; the calls made.
local function call_until(m, tier, reference, A)
  local calls, limit = 0, os.time() + 120
  repeat
    local B, R = f32[40](0), f32[40](0)
    m(A, B)
    reference(A, R)
    calls = calls + 1
    if not B:equal(R) then error(("call %d: %s, not %s"):format(calls, tostring(B), tostring(R))) end
  until m.report.tier == tier or os.time() > limit
  return calls
end

local A = tide.random(f32[300][40], 3)

t.test("what is called often is compiled well beside the calls; states and results stay", function()
  local m, reference = build(), build "tcc"
  t.eq(m.report, nil)
  call_until(m, "tcc", reference, A)
  t.eq(m.report.tier, "tcc")
  local calls = call_until(m, "cc", reference, A)
  t.eq(m.report.tier, "cc")
  t.ok(calls > 1, "little work was compiled well at once")
  call_until(m, "cc", reference, A)
  t.eq(reference.report.tier, "tcc")
  m:reset()
  reference:reset()
  call_until(m, "cc", reference, A)
end)

t.test("more than 2^31 elements, which the compiler in memory does not know", function()
  local N = 2147483648 + 16
  local k = tide.kernel {out = i32[3], n = tide.index, function(out, n)
    local X = tide.i8[N]()
    for i = N - 4, N - 1 do X[i] = i % 100 end
    X[n] = 7
    out[0], out[1], out[2] = X[N - 1], X[N - 3], X[n]
  end}
  local m, out = k:build {target = "cpu"}, i32[3](0)
  m(out, N - 5)
  t.eq(tostring(out), "i32[3] {63, 61, 7}")
  t.eq(m.report.tier, "cc")
  t.fails(function() k:build {target = "cpu", tier = "tcc"}(out, N - 5) end, {code = "compiler-failed"})
end)

-- Rows through a stream of this depth.
local function deep(depth)
  return tide.design(function(d)
    local Z = d:stream(i32[4], {depth = depth})
    d.send = tide.task {A = i32[16][4], function(A) for i in tide.grid(16) do Z:put(A[i]) end end}
    d.take = tide.task {B = i32[16][4], function(B) for i in tide.grid(16) do B[i]:set(Z:get()) end end}
  end)
end

t.test("a stream as deep as memory that is never touched runs; one beyond all memory is refused", function()
  local A, B = tide.random(i32[16][4], 1, {lo = -99, hi = 99}), i32[16][4](0)
  deep(1 << 28)(A, B)
  t.ok(B:equal(A))
  for _, depth in ipairs {1 << 40, 1 << 60, 1 << 62} do
    local said = t.fails(function() deep(depth)(A, B) end, {kind = "limit", code = "memory"})
    t.has(tostring(said), "stream Z, " .. depth .. " deep, takes 1 TiB or more")
  end
end)

t.test("a program that begins anew begins in memory, and finds the object of the other in the folder", function()
  local m, reference = build(), build "cc"
  call_until(m, "cc", reference, A)
  t.eq(reference.report.tier, "cc")
end)

t.test("much work goes to the system's compiler at once", function()
  local k = tide.kernel {B = i32[4], function(B)
    for i, j in grid(3000, 3000) do B[0] = B[0] + i32(i * j % 7) end
  end}
  local m, B = k:build {target = "cpu"}, i32[4](0)
  m(B)
  t.eq(m.report.tier, "cc")
  local few = tide.kernel {B = i32[4], function(B)
    for i, j in grid(3, 3000) do B[0] = B[0] + i32(i * j % 7) end
  end}
  m = few:build {target = "cpu"}
  m(B)
  t.eq(m.report.tier, "tcc")
end)

t.test("designs move too", function()
  local function make()
    return tide.design(function(d)
      local Z = d:stream(i32)
      d.from = tide.task {A = i32[2000], function(A)
        for i = 0, 1999 do Z:put(A[i] * 3) end
      end}
      d.to = tide.task {B = i32[2000], function(B)
        for i = 0, 1999 do B[i] = B[i] + Z:get() end
      end}
    end)
  end
  local m, reference = make():build {target = "cpu"}, make():build {target = "cpu", tier = "tcc"}
  local X, limit = tide.random(i32[2000], 5), os.time() + 120
  local B, R = i32[2000](0), i32[2000](0)
  repeat
    m(X, B)
    reference(X, R)
  until m.report.tier == "cc" or os.time() > limit
  m(X, B)
  reference(X, R)
  t.eq(m.report.tier, "cc")
  t.ok(B:equal(R))
end)

t.done()
