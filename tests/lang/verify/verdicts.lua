-- [slow] Pairs of programs on which a verdict is easily wrong, short ones, which the evaluator compares, and
-- the same behind a loop that has them compiled.
local tide = require "tide"
local t = require "tap"

-- The kernel of these parameters, "A = f32[3], B = f32[1]", and statements.
local function kernel(parameters, body)
  local names = {}
  for name in parameters:gmatch "(%w+) =" do names[#names + 1] = name end
  return load(([[
    local tide = require "tide"
    local i8, u8, i32, i64, f16, f32, f64 = tide.i8, tide.u8, tide.i32, tide.i64, tide.f16, tide.f32, tide.f64
    return tide.kernel {%s, function(%s) %s end}]]):format(parameters, table.concat(names, ", "), body),
    "=pair")()
end

-- Work that is too long for the evaluator to be first.
local LONG = "for r = 0, 4999 do R[r] = r end "

-- States the level of a pair of bodies (nil: none), short and long; returns the last verdict.
local function level(parameters, first, second, want)
  t.eq(tide.verify(kernel(parameters, first), kernel(parameters, second)), want, first .. " | " .. second)
  local long = parameters .. ", R = i32[5000]"
  local got, verdict = tide.verify(kernel(long, LONG .. first), kernel(long, LONG .. second))
  t.eq(got, want, "long: " .. first .. " | " .. second)
  return tostring(verdict)
end

t.test("a sum in a narrower float, widened afterwards, is another sum", function()
  local function sum(narrow, wide)
    local parameters = ("A = %s[9], B = %s[1]"):format(narrow, wide)
    local body = "local s = %s(0.0) for i = 0, 8 do s = s + A[i] end B[0] = s"
    local right = "local s = %s(0.0) for i = 8, 0, -1 do s = s + A[i] end B[0] = s"
    t.has(level(parameters, body:format(wide), body:format(narrow), nil), "differs: B[0]")
    level(parameters, body:format(wide), right:format(wide), "associative")
  end
  sum("f16", "f32")
  sum("f32", "f64")
  local parameters = "A = f16[4], C = f16[4], B = f32[1]"
  t.has(level(parameters, "B[0] = f32(A[0]) * C[0]", "B[0] = A[0] * C[0]", nil), "differs: B[0]")
  level(parameters, "B[0] = f32(A[0]) * C[0] + A[1]", "B[0] = A[1] + C[0] * f32(A[0])", "strict")
  level("A = i8[2], B = f32[1]", "B[0] = f32(A[0] + A[1])", "B[0] = f32(A[0]) + f32(A[1])", "ring")
end)

t.test("numbers at the edges of a type tell expressions apart that agree on the others", function()
  local f = "A = f32[2], B = i32[1]"
  t.has(level(f, "B[0] = tide.select(A[0] == A[0], 1, 0)", "B[0] = 1", nil), "differs: B[0]")
  t.has(level(f, "B[0] = tide.select(not (A[0] < A[1]), 1, 0)", "B[0] = tide.select(A[1] <= A[0], 1, 0)", nil),
    "differs: B[0]")
  t.has(level("A = f32[1]", "A[0] = tide.sqrt(A[0] * A[0])", "A[0] = tide.abs(A[0])", nil), "differs: A[0]")
  level("A = i32[2]", "A[0] = tide.abs(A[0]) // 2", "A[0] = tide.abs(i32(-A[0])) // 2", "strict")
  level("A = i32[1], B = i64[1]", "B[0] = tide.abs(A[0])", "B[0] = tide.abs(i32(-A[0]))", "strict")
  t.has(level("A = i32[2]", "A[0] = A[0] * A[0] % 3", "A[0] = A[0] % 3 * A[0] % 3", nil),
    "not decided: A[0] is another expression")
  t.has(level("A = i32[1], B = i64[1]", "B[0] = tide.abs(A[0])", "B[0] = i32(tide.abs(A[0]))", nil),
    "differs: B[0]")
end)

t.test("programs with states are compared in several calls", function()
  local function counter(step, start)
    local seen = tide.state(tide.i32[1], start)
    return tide.kernel {A = tide.i32[2], B = tide.i32[1], function(A, B)
      B[0] = A[1] + seen[0]
      seen[0] = seen[0] + step * A[0]
    end}
  end
  local level, verdict = tide.verify(counter(1, 0), counter(1, 0))
  t.eq(level, "strict")
  t.has(tostring(verdict), "in the first 3 calls, as states last")
  level, verdict = tide.verify(counter(1, 0), counter(2, 0))
  t.eq(level, nil)
  t.has(tostring(verdict), "differs: B[0] at call 2")
  t.has(tostring(verdict), "(A of call 1)[0]")
  level, verdict = tide.verify(counter(1, 0), counter(1, 1))
  t.eq(level, nil)
  t.has(tostring(verdict), "differs: B[0]\n")
  local s = tide.schedule(counter(1, 0))
  t.eq(s:verify(), "strict")
end)

t.test("a loop under a condition on data is decided, if its bounds are numbers", function()
  local outside = "if n > 3 then for i = 0, 7 do A[i] = A[i] + n end end"
  level("A = i32[8], n = i32", outside, "for i = 0, 7 do if n > 3 then A[i] = A[i] + n end end", "strict")
  t.has(level("A = i32[8], n = i32", outside, "for i = 0, 6 do if n > 3 then A[i] = A[i] + n end end", nil),
    "differs: A[7]")
end)

t.test("what blocks a decision is named once, with what to do about it", function()
  local text = level("A = u8[8], B = i32[8]", "for i = 0, 7 do B[A[i] % 8] = i end",
    "for i = 7, 0, -1 do B[A[i] % 8] = i end", nil)
  t.has(text, "not decided: an index depends on symbolic values")
  t.ok(not text:find("not decided: not decided", 1, true))
  t.has(text, 'help: verify with what decides this at numbers: {concrete = {"A"}}')
  text = level("A = i32[8], n = i32", "if n > 3 then for i = 0, n do A[i] = 1 end end",
    "for i = 0, n do if n > 3 then A[i] = 1 end end", nil)
  t.has(text, 'not decided: a loop bound depends on')
  t.has(text, '{concrete = {"n"}}')
  text = level("A = i32[8], n = i32", "local m = n while m > 3 do m = m - 1 A[0] = m end", "A[0] = n", nil)
  t.has(text, 'not decided: the condition of a loop depends on')
  t.has(text, '{concrete = {"A", "n"')
end)

-- The design that passes on n[0] of 8 elements, and adds.
local function passes(added)
  return tide.design(function(d)
    local Z = d:stream(tide.i32, {depth = 4})
    d.feed = tide.task {A = tide.i32[8], n = tide.i32[1], function(A, n)
      for i = 0, 7 do if i < n[0] then Z:put(A[i]) end end
    end}
    d.drain = tide.task {B = tide.i32[8], n = tide.i32[1], function(B, n)
      for i = 0, 7 do if i < n[0] then B[i] = Z:get() + added end end
    end}
  end, {check = false})
end

t.test("arguments kept at numbers are drawn several times, and the verdict says so", function()
  local level, verdict = tide.verify(passes(0), passes(1), {concrete = {"n"}})
  t.eq(level, nil, "n[0] = 0, which its extent of 1 suggests, would pass no element on")
  t.has(tostring(verdict), "differs: B[0]")
  level, verdict = tide.verify(passes(1), passes(1), {concrete = {"n"}})
  t.eq(level, "strict")
  t.has(tostring(verdict), "; for 4 random values of n")
  level, verdict = tide.verify(passes(0), passes(1), {concrete = {n = tide.i32[1](0)}})
  t.eq(level, "strict")
  t.has(tostring(verdict), "; for the given numbers")
  level, verdict = tide.verify(passes(0), passes(1))
  t.eq(level, nil)
  t.has(tostring(verdict), "not decided: a put depends on a condition on symbolic values")
  t.has(tostring(verdict), '{concrete = {"n"}}')
end)

t.test("the first element that differs is told, with what computes it and where that stands", function()
  local parameters = "A = i32[4][6], B = i32[4][6]"
  local body = "for i = 0, 3 do for j = 0, 5 do B[i][j] = A[i][j] * 3 %s end end"
  local text = level(parameters, body:format "", body:format "if i * 6 + j >= 15 then B[i][j] = A[i][j] * 4 end", nil)
  t.has(text, "differs: B[2][3]\n")
  t.has(text, "first:  i32((A[2][3] * 3))")
  t.has(text, "second: i32((A[2][3] * 4))")
  t.ok(text:find "at pair#%d+:3:%d+:")
end)

t.test("programs that hold more than a comparison may are not decided", function()
  local function add(n)
    return tide.kernel {A = tide.i8[n][n], function(A)
      for i, j in tide.grid(n, n) do A[i][j] = A[i][j] + 1 end
    end}
  end
  local level, verdict = tide.verify(add(40000), add(40000):as "other")
  t.eq(level, nil)
  t.has(tostring(verdict), "not decided: limit of memory")
  t.has(tostring(verdict), "help: compare the programs at smaller sizes")
  t.eq(tide.verify(add(40), add(40):as "other"), "strict")
end)

t.test("what differs only where a float is no number is found", function()
  for _, pair in ipairs {
    {"B[0] = not (A[0] < A[1])", "B[0] = A[0] >= A[1]"},
    {"if A[0] > A[1] then B[0] = true else B[0] = false end", "B[0] = not (A[0] <= A[1])"},
    {"if A[0] > 0 then B[0] = true elseif A[0] <= 0 then B[0] = false end", "B[0] = A[0] > 0"},
  } do
    local function verdict(T)
      local parameters = ("A = %s[2], B = tide.bool[1]"):format(T)
      return tostring(select(2, tide.verify(kernel(parameters, pair[1]), kernel(parameters, pair[2]))))
    end
    for _, T in ipairs {"f16", "f32", "f64"} do t.has(verdict(T), "differs: B[0]") end
    local same = verdict "i32"
    t.ok(not same:find("differs", 1, true), same)
  end
end)

t.test("bits that are put past the end of a word do not come out again", function()
  local function puts(T, lo)
    return ("local x, v = A[0], tide.bits(V[0], 0, 4) for i = %d, %d do x = tide.with_bits(x, i, i + 4, v) " ..
      "B[0] = tide.bits(x, i, i + 4) end"):format(lo, lo), ("A = %s[1], V = u8[1], B = u8[1]"):format(T)
  end
  for T, w in pairs {u8 = 8, i32 = 32, i64 = 64} do
    local past, parameters = puts(T, w - 2)
    t.has(level(parameters, past, "B[0] = tide.bits(V[0], 0, 4)", nil), "differs: B[0]")
    local within = puts(T, w - 4)
    level(parameters, within, "B[0] = tide.bits(V[0], 0, 4)", "strict")
  end
end)

t.test("no two constants are one at a lower level, whatever they are", function()
  t.has(level("A = f32[2]", "A[0] = A[0] * 288230376151711744.0", "A[0] = A[0] * 27.0", nil), "differs: A[0]")
  t.has(level("A = i64[2]", "A[0] = A[0] * 288230376151711744", "A[0] = A[0] * 27", nil), "differs: A[0]")
  level("A = i64[2]", "A[0] = A[0] * 27 + A[0]", "A[0] = 28 * A[0]", "ring")
  level("A = f32[2]", "A[0] = A[0] * 0.25 + A[0] * 0.75", "A[0] = A[0]", "ring")
end)

t.test("associative regroups: it does not cancel, and 0.0 changes -0.0", function()
  level("A = f32[3]", "A[0] = (A[0] + A[1]) - A[0]", "A[0] = A[1]", "ring")
  level("A = i32[3]", "A[0] = (A[0] + A[1]) - A[0]", "A[0] = A[1]", "ring")
  level("A = f32[3]", "A[0] = A[0] + 0.0", "A[0] = A[0]", "ring")
  level("A = f32[3]", "A[0] = A[0] + -0.0", "A[0] = A[0]", "associative")
  level("A = f32[3]", "A[0] = A[0] + 0.0 + A[1]", "A[0] = (A[1] + 0.0) + (0.0 + A[0])", "associative")
  level("A = f32[3]", "A[0] = A[0] + (A[1] - A[2])", "A[0] = (A[0] + A[1]) - A[2]", "associative")
  level("A = f32[3]", "A[0] = A[0] - (A[1] - A[2])", "A[0] = (A[0] - A[1]) + A[2]", "associative")
  level("A = i32[3]", "A[0] = A[0] + 0 + A[1]", "A[0] = A[1] + A[0]", "associative")
end)

-- A sum over windows of K elements, whose terms are scaled.
local function windows(M, K, by)
  return tide.kernel {X = tide.i32[M], W = tide.i32[K], Y = tide.i32[M - K + 1], function(X, W, Y)
    for i = 0, M - K do
      for k = 0, K - 1 do Y[i] = Y[i] + X[i + k] * W[k] * by end
    end
  end}
end

t.test("each size that is tried has every loop run twice", function()
  local M, K = tide.size "M", tide.size "K"
  local level, verdict = tide.verify(windows(M, K, 1), windows(M, K, 2))
  t.eq(level, nil)
  t.has(tostring(verdict), "differs: Y[0]")
  level, verdict = tide.verify(windows(M, K, 3), windows(M, K, 3))
  t.eq(level, "strict")
  for m, k in verdict.sizes:gmatch "(%d+), [K= ]*(%d+)" do t.ok(tonumber(m) > tonumber(k) and tonumber(k) > 1) end
end)

-- Adds `by` to blocks of eight of an array whose size has no value.
local function blocks(n, by, times)
  return tide.kernel {A = tide.i32[n], function(A)
    for i = 0, n // 8 - 1 do
      for j = 0, 7 do A[i * 8 + j] = A[i * 8 + j] + by end
    end
    for i = 0, times do A[0] = A[0] + 1 end
  end}
end

t.test("a size without a value gets some that have every loop run twice", function()
  local n = tide.size "n"
  local level, verdict = tide.verify(blocks(n, 1, 3), blocks(n, 2, 3))
  t.eq(level, nil)
  t.has(tostring(verdict), "differs: A[0]")
  level, verdict = tide.verify(blocks(n, 1, 3), blocks(n, 1, 3))
  t.eq(level, "strict")
  t.has(tostring(verdict), "proved: strict, at n = 16")
  level, verdict = tide.verify(blocks(n, 1, n // 100000 - 1), blocks(n, 1, n // 100000 - 1))
  t.eq(level, nil)
  t.has(tostring(verdict), "not decided: no values were found for the sizes")
end)

t.test("the verdict says at which sizes, and of what else than was captured", function()
  local N = 8
  local function sums()
    return tide.kernel {A = tide.i32[N], B = tide.i32[N], function(A, B)
      local s = tide.i32(0)
      for i = 0, N - 1 do
        s = s + A[i]
        B[i] = s
      end
    end}
  end
  local function text(s) return tostring(select(2, s:verify())) end
  local s = tide.schedule(sums())
  s:split("i", 2)
  t.eq(text(s), "proved: strict, all sizes; run at N = 8 (and 3, 4)")
  s:retype("s", tide.i16)
  t.has(text(s), "; relative to retype s i32 -> i16")
  s = tide.schedule(sums())
  s:split("i", 2, {tail = "perfect"})
  t.has(text(s), "proved: strict, at N = 8 (and")
  t.has(text(s), "; relative to assume N % 2 == 0")
  s = tide.schedule(sums())
  s:unroll("i", {replace = true})
  t.has(text(s), "; relative to unroll i {replace}, assume ")
  t.eq(text(tide.schedule(kernel("A = i32[3]", "A[0] = 1"))), "proved: strict, at its own sizes")
end)

-- A copy of N numbers in tiles of 3, which reads `more` in places of a tile that may lie beyond the end.
local function tiles(more)
  return load(([[
    local tide = require "tide"
    local i32, N = tide.i32, tide.size "N"
    return tide.kernel {X = i32[N], Y = i32[N], function(X, Y)
      for x = 0, (N + 2) // 3 - 1 do
        for u = 0, 2 do
          if 3 * x + u < N then Y[3 * x + u] = X[3 * x + u] end
          if %s then local beside = X[3 * x + u] end
        end
      end
    end}]]):format(more))()
end

t.test("verify: a program that faults at some sizes alone is another program", function()
  local level, verdict = tide.verify(tiles "3 * x + u < N", tiles "u < 2")
  t.eq(level, nil)
  t.has(tostring(verdict), "differs: the second faults")
  t.has(tostring(verdict), "index out of range")
  t.has(tostring(select(2, tide.verify(tiles "u < 2", tiles "3 * x + u < N"))), "differs: the first faults")
  t.eq(tide.verify(tiles "3 * x + u < N", tiles "u < 2 and 3 * x + u < N"), "strict")
  t.eq(tide.verify(tiles "u < 1", tiles "u < 1 and 3 * x + u < N"), "strict")
end)

t.done()
