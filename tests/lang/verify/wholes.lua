-- How verify decides where what statements compute counts as single operators first (term.c): on programs that
-- are long enough to be compiled, whose expressions are the same, or equal, or not.
local tide = require "tide"
local t = require "tap"
local f32, index, grid = tide.f32, tide.index, tide.grid

-- A stencil of 30 x 30 points, ten times, by an expression.
local function stencil(point)
  local k = tide.kernel {A = f32[32][32], B = f32[32][32], function(A, B)
    for _ = 1, 10 do
      for i, j in grid({1, 31}, {1, 31}) do B[i][j] = point(A, i, j) end
      for i, j in grid({1, 31}, {1, 31}) do A[i][j] = point(B, i, j) end
    end
  end}
  return k
end

local function five(A, i, j) return 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]) end

t.test("the same expressions in other loops", function()
  local k = stencil(five)
  local s = tide.schedule(k)
  s:reorder("j#1", "i#1"):split("j#2", 7)
  t.eq(tide.verify(k, s), "strict")
end)

t.test("an expression that is equal though it is another", function()
  t.eq(tide.verify(stencil(five), stencil(function(A, i, j)
    return (A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]) * 0.2
  end)), "strict")
  t.eq(tide.verify(stencil(five), stencil(function(A, i, j)
    return 0.2 * (A[i][j] + A[i][j - 1] + (A[i][j + 1] + A[i + 1][j]) + A[i - 1][j])
  end)), "associative")
end)

t.test("an expression of which a part is a local", function()
  local parted = tide.kernel {A = f32[32][32], B = f32[32][32], function(A, B)
    for _ = 1, 10 do
      for i, j in grid({1, 31}, {1, 31}) do
        local row = A[i][j] + A[i][j - 1] + A[i][j + 1]
        B[i][j] = 0.2 * (row + A[i + 1][j] + A[i - 1][j])
      end
      for i, j in grid({1, 31}, {1, 31}) do A[i][j] = five(B, i, j) end
    end
  end}
  t.eq(tide.verify(stencil(five), parted), "strict")
end)

t.test("expressions that differ: an operand, a constant, two operands of a difference", function()
  local wrong = {
    function(A, i, j) return 0.2 * (A[i][j] + A[i][j - 1] + A[i][j - 1] + A[i + 1][j] + A[i - 1][j]) end,
    function(A, i, j) return 0.25 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]) end,
    function(A, i, j) return 0.2 * (A[i][j] - A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]) end,
  }
  for n, point in ipairs(wrong) do
    local level, verdict = tide.verify(stencil(five), stencil(point))
    t.eq(level, nil, tostring(n))
    t.has(tostring(verdict), "[1]")
  end
end)

-- r[i] = 2 * (x[at[i]] + x[at[i] + 1]) + x[at[i]] by numbers from a table.
local function looked_up(forward)
  local k = tide.kernel {x = f32[100], at = index[8000], r = f32[8000], function(x, at, r)
    for n = 0, 7999 do
      local i = forward and n or 7999 - n
      r[i] = 2.0 * (x[at[i]] + x[at[i] + 1]) + x[at[i]]
    end
  end}
  return k
end

t.test("cells beside an index that data choose are looked up as each is: outside the array is an error", function()
  local at = index[8000](0)
  for i = 0, 7999 do at[i] = i * 7 % 99 end
  t.eq(tide.verify(looked_up(true), looked_up(false), {concrete = {at = at}}), "strict")
  at[4321] = 99
  local level, verdict = tide.verify(looked_up(true), looked_up(false), {concrete = {at = at}})
  t.eq(level, nil)
  t.has(tostring(verdict), "100")
end)

t.test("programs of other arguments", function()
  local function sum(n, m)
    local k = tide.kernel {x = f32[n], function(x)
      for i, j in grid(m, m) do x[i] = x[i] + x[j] end
    end}
    return k
  end
  for _, n in ipairs {100, 300} do
    local level, verdict = tide.verify(sum(n, 100), sum(400 - n, 100))
    t.eq(level, nil)
    t.has(tostring(verdict), "do not take the same arguments")
  end
  t.eq(tide.verify(sum(300, 100), sum(300, 100)), "strict")
end)

t.done()
