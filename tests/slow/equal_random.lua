-- Random pairs of expressions on two bytes: what verify says of a pair, and what all 65536 inputs say.
local tide = require "tide"
local t = require "tap"

local random = math.random

local LEAVES = {"x", "y", "x", "y", "1", "2", "3", "7", "8", "-4"}
local BINARY = {"%s + %s", "%s - %s", "%s * %s", "%s & %s", "%s | %s", "%s ~ %s", "tide.min(%s, %s)",
  "tide.max(%s, %s)"}
local UNARY = {"-(%s)", "~(%s)", "tide.abs(%s)", "(%s) << 1", "tide.asr(%s, 1)", "tide.asr(%s, 3)", "(%s) // 4",
  "(%s) % 8", "(%s) // -2", "(%s) % -4", "tide.i8(%s)", "tide.u8(%s)", "tide.bits(%s, 0, 3)", "tide.bits(%s, 1, 2)",
  "(%s) * 4",
  "tide.i8:with {overflow = 'saturate'}(%s)", "tide.i16(%s)"}
local COMPARE = {"%s < %s", "%s <= %s", "%s == %s", "%s ~= %s", "not (%s < %s)", "not (%s == %s)"}
local JOIN = {"%s and %s", "%s or %s", "not (%s and %s)", "not (%s or %s)"}

-- One of a list, filled in. Not by format: a text may hold a %.
local function fill(list, ...)
  local operands, n = {...}, 0
  return (list[random(#list)]:gsub("%%s", function()
    n = n + 1
    return "(" .. operands[n] .. ")"
  end))
end

local number

-- A random condition.
local function condition(depth)
  if depth > 0 and random(4) == 1 then return fill(JOIN, condition(depth - 1), condition(depth - 1)) end
  return fill(COMPARE, number(depth - 1), number(depth - 1))
end

-- A random number of so many operators above each other.
function number(depth)
  if depth <= 0 or random(8) == 1 then return LEAVES[random(#LEAVES)] end
  local kind = random(5)
  if kind <= 2 then return fill(BINARY, number(depth - 1), number(depth - 1)) end
  if kind <= 4 then return fill(UNARY, number(depth - 1)) end
  return fill({"tide.select(%s, %s, %s)"}, condition(depth - 1), number(depth - 1), number(depth - 1))
end

-- A text with one name, number or operator changed, which sometimes changes nothing.
local function changed(text)
  local swaps = {{"x", "y"}, {"<=", "<"}, {"min", "max"}, {"and", "or"}, {"8", "7"}, {"4", "2"}, {"1", "2"}, {"+", "-"},
    {"& ", "| "}, {"u8", "i8"}, {"i16", "i8"}, {"//", "%"}, {"==", "<="}}
  for _ = 1, 20 do
    local swap = swaps[random(#swaps)]
    local at = text:find(swap[1], random(#text), true)
    if at then return text:sub(1, at - 1) .. swap[2] .. text:sub(at + #swap[1]) end
  end
  return text
end

-- The kernel that stores an expression for every pair of n bytes, or nil if it is refused.
local function kernel(text, n)
  local chunk = load(([[
    local tide = require "tide"
    return tide.kernel {X = tide.i8[%d], Y = tide.i8[%d], B = tide.i8[%d], function(X, Y, B)
      for i = 0, %d do
        local x, y = X[i], Y[i]
        B[i] = tide.i8(@)
      end
    end}]]):format(n, n, n, n - 1):gsub("@", function() return text end), "=random")
  local ok, k = pcall(chunk)
  return ok and k
end

local N = 65536
local X, Y = tide.tensor(tide.i8[N], (function()
  local x = {}
  for i = 0, N - 1 do x[i + 1] = (i & 255) - 128 end
  return x
end)()), tide.tensor(tide.i8[N], (function()
  local y = {}
  for i = 0, N - 1 do y[i + 1] = (i >> 8) - 128 end
  return y
end)())

-- What an expression gives on all inputs.
local function values(text)
  local B = tide.i8[N](0)
  kernel(text, N)(X, Y, B)
  return B
end

-- Verdicts on a pair, counted by what all inputs say.
local counts = {}
local function take(first, second)
  local one, other = kernel(first, 2), kernel(second, 2)
  if not one or not other then return end
  local same = values(first):equal(values(second))
  local level, verdict = tide.verify(one, other)
  local said = level and "proved" or tostring(verdict):match "^%a+"
  local key = (same and "same " or "other ") .. said
  counts[key] = (counts[key] or 0) + 1
  t.ok(said ~= (same and "differs" or "proved"), first .. " | " .. second .. ": " .. key)
end

t.test("verdicts on random pairs are what all inputs say", function()
  local rounds, seed = require "campaign".range(60)
  math.randomseed(13 + seed)
  for _ = 1, rounds do
    local text = number(3)
    take(text, changed(text))
    take(number(1), number(1))
  end
  for k, n in pairs(counts) do print("# " .. k .. ": " .. n) end
  t.ok((counts["same proved"] or 0) > 0)
  t.ok((counts["same not"] or 0) * 9 <= (counts["same proved"] or 0), "nine of ten equal pairs are decided")
end)

t.done()
