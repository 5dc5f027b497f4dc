-- [slow]
-- carried.lua - elements that go from one iteration of a loop to later ones, where few iterations of an inner loop or
-- several statements stand in its body: GCC 12 reads neighbours together, before they are written, at -O3 with AVX2
-- (docs/compilers.md). Tide's C must be right by the plain command.
-- TIDE_RANDOM=N makes N random kernels, TIDE_SEED=S starts at seed S.
local t = require "tap"
local batch = require "c_batch"
local tide = require "tide"
local campaign = require "campaign"

local PLAIN = "-O3 -march=native -mprefer-vector-width=512 -fno-math-errno"
local MARK = "td_in_turn();"

-- The text of a kernel in C, whose results by both compilers must be the evaluator's.
local function text_of(kernel, ...)
  local want, args = {}, {...}
  for i, x in ipairs(args) do want[i] = x:copy() end
  kernel:reference(table.unpack(want))
  for _, tier in ipairs {"tcc", "cc"} do
    local got = {}
    for i, x in ipairs(args) do got[i] = x:copy() end
    kernel:build {target = "cpu", tier = tier}(table.unpack(got))
    for i, x in ipairs(got) do t.ok(x:equal(want[i]), ("%s, argument %d\n%s"):format(tier, i, tostring(kernel))) end
  end
  return (kernel:build {target = "cpu"}.source:match "\nstatic void.*")
end

local function marked(kernel, ...)
  local text = text_of(kernel, ...)
  t.ok(text:find(MARK, 1, true), text)
end

local function unmarked(kernel, ...)
  local text = text_of(kernel, ...)
  t.ok(not text:find(MARK, 1, true), text)
end

t.test("a diagonal, of few columns", function()
  for _, T in ipairs {tide.i8, tide.i32, tide.f32, tide.f64} do
    for _, N in ipairs {4, 5, 7} do
      marked(tide.kernel {X = T[20][N], function(X)
        for i = 1, 19 do
          for j = 1, N - 1 do X[i][j] = X[i - 1][j - 1] end
        end
      end}, tide.random(T[20][N], N))
      marked(tide.kernel {X = T[20][7], function(X)
        for i = 1, 19 do
          for j = 1, 4 do X[i][j] = X[i - 1][j // 2] end
        end
      end}, tide.random(T[20][7], N))
    end
  end
end)

t.test("the same through a call, and as statements", function()
  local i32, W = tide.i32, 7
  local row = tide.kernel {name = "row", P = i32[W], Q = i32[W], function(P, Q)
    for j = 1, 4 do Q[j] = P[j - 1] end
  end}
  marked(tide.kernel {X = i32[20][W], function(X)
    for i = 1, 19 do row(X[i - 1], X[i]) end
  end}, tide.random(i32[20][W], 3))
  marked(tide.kernel {X = i32[80], Y = i32[80], Z = i32[80], function(X, Y, Z)
    for i = 1, 38 do
      Y[2 * i] = X[2 * i - 2]
      X[2 * i + 1] = Z[2 * i]
      Y[2 * i + 1] = X[2 * i - 1]
    end
  end}, tide.random(i32[80], 1), tide.random(i32[80], 2), tide.random(i32[80], 3))
end)

t.test("by proofs, which run compiled", function()
  local N, M = 3000, 5
  local k = tide.kernel {X = tide.f32[N][M], function(X)
    for i = 1, N - 1 do
      for j = 1, M - 1 do X[i][j] = X[i - 1][j - 1] + 1 end
    end
  end}
  local s = tide.schedule(k)
  s:split("i", 7)
  t.eq(s:verify(), "strict")
end)

t.test("vectors stay where nothing is carried, or the loop around keeps its inner loop", function()
  local f32, N = tide.f32, 40
  unmarked(tide.kernel {C = f32[N][8], A = f32[N], B = f32[N][8], function(C, A, B)
    for i = 0, N - 1 do
      for k = 0, N - 1 do
        for j = 0, 7 do C[i][j] = C[i][j] + A[k] * B[k][j] end
      end
    end
  end}, tide.random(f32[N][8], 1), tide.random(f32[N], 2), tide.random(f32[N][8], 3))
  unmarked(tide.kernel {A = f32[N][N], function(A)
    for k = 0, N - 1 do
      for i = k + 1, N - 1 do
        for j = k + 1, N - 1 do A[i][j] = A[i][j] - A[i][k] * A[k][j] end
      end
    end
  end}, tide.random(f32[N][N], 1))
  unmarked(tide.kernel {A = f32[N][8], function(A)
    for i = 0, N - 1 do
      for j = 1, 7 do A[i][j] = A[i][j - 1] + 1 end
    end
  end}, tide.random(f32[N][8], 1))
  unmarked(tide.kernel {A = f32[N], B = f32[N], function(A, B)
    for i = 1, N - 1 do
      A[i] = B[i] + 1
      B[i] = A[i - 1] * 2
    end
  end}, tide.random(f32[N], 1), tide.random(f32[N], 2))
end)

-- A random kernel as text: an array that is written from itself in a loop of few iterations, or by several statements.
local function program(seed)
  local state = seed * 2654435761 % 4294967296
  local function draw(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n
  end
  local function pick(list) return list[draw(#list) + 1] end
  local T = pick {"i8", "i16", "i32", "f32", "f64", "u64", "int(24)"}
  local W, flat = pick {4, 5, 7, 8, 12}, draw(3) == 0
  local lo, n = draw(3), pick {2, 3, 4, 4, 5, 6, 8}
  local function column(j)
    local k = draw(4)
    return k == 0 and ("(%s) // 2"):format(j) or k == 1 and ("%s + 1"):format(j) or k == 2 and ("%s - 1"):format(j) or j
  end
  local function place(i, j)
    return flat and ("X[(%s) * %d + %s]"):format(i, W, j) or ("X[%s][%s]"):format(i, j)
  end
  local function value(j)
    local a = place(pick {"i - 1", "i - 1", "i", "i - 2", "i + 1"}, column(j))
    local k = draw(4)
    return k == 0 and a or k == 1 and a .. " + 1" or k == 2 and a .. " + Y[i]" or
      ("%s + %s"):format(a, place("i - 1", column(j)))
  end
  local body = {}
  if draw(3) > 0 then
    body[1] = ("for j = %d, %d do"):format(lo + 1, lo + n)
    for _ = 1, 1 + draw(2) do body[#body + 1] = ("%s = T(%s)"):format(place("i", "j"), value "j") end
    body[#body + 1] = "end"
  else
    for _ = 1, 2 + draw(4) do
      body[#body + 1] = ("%s = T(%s)"):format(place("i", lo + 1 + draw(n)), value(tostring(lo + 1 + draw(n))))
    end
  end
  local columns, R = 14, 24
  return ([[
    local tide = ...
    local T = tide.%s
    return tide.kernel {X = T%s, Y = T[%d], function(X, Y)
      for i = 2, %d do
        %s
      end
    end}, T%s, T[%d] ]]):format(T, flat and ("[%d]"):format(R * W + 20) or ("[%d][%d]"):format(R, columns), R, R - 2,
    table.concat(body, "\n        "), flat and ("[%d]"):format(R * W + 20) or ("[%d][%d]"):format(R, columns), R)
end

local count, first = campaign.range(300)
for seed = first, first + count - 1 do
  local text = program(seed)
  local k, X, Y = assert(load(text))(tide)
  X, Y = tide.random(X, seed), tide.random(Y, seed + 1)
  local want = X:copy()
  k:reference(want, Y:copy())
  batch.add(text, k, {X, Y}, {want, Y})
end
t.test("random kernels are made", function() t.eq(batch.count(), count) end)
batch.test("by the plain command", PLAIN)
batch.test("with vectors of 32 bytes", "-O3 -mavx2")

t.done()
