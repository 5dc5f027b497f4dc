-- [slow] Random programs on words of 65 to 1024 bits - moves, casts, slices with known and variable places,
-- words put together, & | ~, choices - whose results are the same in the checked
-- run, in memory, by the system's compiler and as HLS C++. WIDE_ROUNDS and WIDE_SEED make it longer.
local tide = require "tide"
local t = require "tap"
local batch = require "hls_batch"

local random = math.random
local rounds = tonumber(os.getenv "WIDE_ROUNDS") or 24
math.randomseed(tonumber(os.getenv "WIDE_SEED") or 7)

local EDGES = {65, 66, 95, 96, 97, 127, 128, 129, 191, 192, 193, 255, 256, 257, 511, 512, 513, 1023, 1024}
local function wide()
  local w = random(3) == 1 and EDGES[random(#EDGES)] or random(65, 1024)
  return ("tide.%s(%d)"):format(random(2) == 1 and "int" or "uint", w), w
end

-- Writers of random expressions over the words and numbers that are in scope.
local Scope = {}
Scope.__index = Scope

function Scope:leaf()
  return self.words[random(#self.words)]
end

-- A place of n bits in a word of w; it may lie past the end.
local function place(w, n)
  if random(3) > 1 then return tostring(random(0, w - 1)) end
  return ("(N[%d] %% %d)"):format(random(0, 3), w + (random(4) == 1 and n or 0))
end

-- Random bits of a word, at most 64 of them unless `long`.
function Scope:bits(long)
  local x = self:leaf()
  local n = random(1, long and x.w or 64)
  local lo = place(x.w, n)
  if lo:match "^%d+$" then
    lo = tonumber(lo)
    local hi = math.min(lo + n, x.w)
    return ("tide.bits(%s, %d, %d)"):format(x.text, lo, hi), hi - lo
  end
  return ("tide.bits(%s, %s, %s + %d)"):format(x.text, lo, lo, n), n
end

-- A random word, by so many operators above each other.
function Scope:word(depth)
  local kind = random(depth > 0 and 9 or 2)
  if kind <= 2 then return self:leaf().text end
  if kind == 3 then return ("~%s"):format(self:word(depth - 1)) end
  if kind <= 5 then
    return ("(%s %s %s)"):format(self:word(depth - 1), ({"&", "|", "~"})[random(3)], self:word(depth - 1))
  end
  if kind == 6 then return ("%s(%s)"):format(wide(), self:word(depth - 1)) end
  if kind == 7 then
    return ("tide.select(N[%d] < N[%d], %s, %s)"):format(random(0, 3), random(0, 3), self:word(depth - 1),
      self:word(depth - 1))
  end
  if kind == 8 then
    local x, n = self:leaf(), random(1, 64)
    local lo = random(0, x.w - 1)
    n = math.min(n, x.w - lo)
    return ("tide.with_bits(%s, %d, %d, %s)"):format(x.text, lo, lo + n, self:bits(false))
  end
  return (self:bits(true))
end

-- The source of a random kernel.
local function source()
  local a, wa = wide()
  local b, wb = wide()
  local c, wc = wide()
  local l, wl = wide()
  local scope = setmetatable({words = {{text = "A[i]", w = wa}, {text = "B[i]", w = wb}, {text = "A[2 - i]", w = wa},
    {text = "C[i]", w = wc}}}, Scope)
  local out = {}
  local function add(...) out[#out + 1] = ("      " .. select(1, ...)):format(select(2, ...)) end
  add("local x = %s(%s)", l, scope:word(1))
  scope.words[#scope.words + 1] = {text = "x", w = wl}
  for _ = 1, random(1, 3) do
    local kind = random(5)
    if kind == 1 then add("x = %s(%s)", l, scope:word(2)) end
    if kind == 2 then add("C[i] = %s(%s)", c, scope:word(2)) end
    if kind == 3 then add("x = tide.with_bits(x, %s, %s)", (function()
      local n, lo = random(1, 64), random(0, wl - 1)
      return ("%d, %d"):format(lo, math.min(lo + n, wl))
    end)(), (scope:bits(false))) end
    if kind == 4 then add("if N[%d] < N[%d] then x = %s(%s) else C[i] = %s(%s) end", random(0, 3), random(0, 3), l,
      scope:word(1), c, scope:word(1)) end
    if kind == 5 then add("T[i] = x x = %s(T[%d])", l, 0) end
  end
  add("D[i] = D[i] ~ tide.u64(%s)", (scope:bits(false)))
  add("C[i] = %s(%s)", c, scope:word(3))
  add("D[i] = D[i] ~ tide.u64(tide.bits(x, 0, 1))")
  return ([[
    local tide = require "tide"
    return tide.kernel {name = "wide", A = %s[3], B = %s[3], C = %s[3], D = tide.u64[3], N = tide.i32[4],
      function(A, B, C, D, N)
      local T = %s[3](0)
      for i = 0, 2 do
%s
      end
    end}]]):format(a, b, c, l, table.concat(out, "\n"))
end

local function width(T)
  return tonumber(tostring(T):match "int%((%d+)%)")
end

-- A kernel between words W of a type and their parts S of 64 bits: a statement for each part.
local function parts_of(T, statement)
  local out = {}
  for lo = 0, width(T) - 1, 64 do
    local of = {PART = lo // 64, LO = lo, HI = math.min(lo + 64, width(T))}
    out[#out + 1] = statement:gsub("%u%u+", of)
  end
  return load(("local tide = require 'tide' return tide.kernel {name = 'parts', W = %s, S = tide.u64[3][16], " ..
    "function(W, S) for i = 0, 2 do %s end end}"):format(T, table.concat(out, " ")), "=parts")()
end

-- Words of a type with random bits; those of a tensor in parts.
local function drawn(T, seed)
  if (width(T) or 0) <= 64 then return tide.random(T, seed) end
  local W = T(0)
  parts_of(T, "W[i] = tide.with_bits(W[i], LO, HI, S[i][PART])"):reference(W, tide.random(tide.u64[3][16], seed))
  return W
end

local function shown(x)
  if (width(x.type) or 0) <= 64 then return x:table() end
  local S = tide.u64[3][16](0)
  parts_of(x.type, "S[i][PART] = tide.bits(W[i], LO, HI)"):reference(x, S)
  return S:table()
end

-- Arguments of a kernel, drawn with a seed.
local function arguments(k, seed)
  local list = {}
  for i, p in ipairs(k.params) do
    list[i] = p.name == "N" and tide.random(p.type, seed, {lo = 0, hi = 2000}) or drawn(p.type, seed * 8 + i)
  end
  return list
end

local function copies(list)
  local to = {}
  for i, x in ipairs(list) do to[i] = x:copy() end
  return to
end

local tried = 0
t.test("random programs on wide words give the same in every tier", function()
  for round = 1, rounds do
    local text = source()
    local ok, k = pcall(load(text, "=wide"))
    if ok then
      tried = tried + 1
      local given = arguments(k, round)
      local want = copies(given)
      k:reference(table.unpack(want))
      for i, x in ipairs(want) do want[i] = shown(x) end
      for _, tier in ipairs {"tcc", "cc"} do
        if tier == "tcc" or round % 4 == 0 then
          local got = copies(given)
          k:build {target = "cpu", tier = tier}(table.unpack(got))
          for i, x in ipairs(got) do t.eq(shown(x), want[i], ("%s, argument %d of\n%s"):format(tier, i, text)) end
        end
      end
      local got = copies(given)
      local runs, why = pcall(k.native, k, table.unpack(got))
      if runs then
        for i, x in ipairs(got) do t.eq(shown(x), want[i], ("native, argument %d of\n%s"):format(i, text)) end
      else
        t.ok(why.kind == "unsupported" or why.kind == "usage", tostring(why))
      end
      batch.add("wide " .. round, k, given)
    else
      t.ok(k.kind == "usage" or k.kind == "illegal", tostring(k) .. text)
    end
  end
  t.ok(tried * 2 > rounds, ("%d of %d programs were taken"):format(tried, rounds))
end)

batch.test(rounds, {quick = true})

t.done()
