-- layouts.lua - random pairs of layouts and operations on them against enumeration: what is made is the function that
-- enumeration gives; what is refused is none that so few digits say.
local t = require "tap"
local tide = require "tide"
local count, seed = require "campaign".range(10000)
local random = math.random

-- A random layout of at most `most` ordinals and its digits, coordinates of one or two digits; small: its places are
-- below `below`, if that is given.
local function draw(most, below)
  local list, n, flat = {}, 1, {}
  for _ = 1, random(1, 3) do
    local coordinate = {}
    for _ = 1, random(1, 2) do
      local size = random(1, 6)
      if n * size <= most then
        n = n * size
        coordinate[#coordinate + 1] = { size, random(0, 3) == 0 and random(-4, 12) or 0 }
        flat[#flat + 1] = coordinate[#coordinate]
      end
    end
    if #coordinate > 0 then list[#list + 1] = coordinate end
  end
  -- Most layouts are compact in some order of their digits.
  local order, step = {}, random(1, 3) == 1 and random(1, 3) or 1
  for i = 1, #flat do table.insert(order, random(1, #order + 1), i) end
  if random(1, 4) > 1 then
    for _, i in ipairs(order) do
      flat[i][2] = step
      step = step * flat[i][1]
    end
  end
  if below then
    local reach = 0
    for _, d in ipairs(flat) do
      if d[2] < 0 then d[2] = -d[2] end
      if reach + (d[1] - 1) * d[2] >= below then d[2] = 0 end
      reach = reach + (d[1] - 1) * d[2]
    end
  end
  return tide.layout(list), flat
end

-- The places of digits in order, by counting.
local function places(flat)
  local list = { 0 }
  for _, d in ipairs(flat) do
    local next_ = {}
    for _, p in ipairs(list) do
      for v = 0, d[1] - 1 do next_[#next_ + 1] = p + v * d[2] end
    end
    list = next_
  end
  return list
end

-- Whether a list of places is the sequence of some digits, by trying all ways to cut it.
local function is_digits(list)
  if #list <= 1 then return true end
  for inner = #list, 2, -1 do
    if #list % inner == 0 then
      local step, fits, outer = list[2] - list[1], true, {}
      for i = 0, #list - 1 do
        fits = fits and list[i + 1] == list[i // inner * inner + 1] + i % inner * step
        if i % inner == 0 then outer[#outer + 1] = list[i + 1] end
      end
      if fits then return is_digits(outer) end
    end
  end
  return false
end

local tally = {}
local function note(what) tally[what] = (tally[what] or 0) + 1 end

-- The result of an operation, or nil where it was refused for what it is.
local function try(f, code)
  local ok, got = pcall(f)
  if ok then return got end
  t.eq(type(got) == "table" and got.code, code, tostring(got))
end

local check = {}

function check.places(L, flat)
  local want = places(flat)
  t.eq(L:addresses(), want)
  t.eq(L:normal():addresses(), want)
  note "places"
end

function check.compose(L, flat)
  local M, inner = draw(60, #L)
  local of, want = places(flat), {}
  for i, p in ipairs(places(inner)) do want[i] = of[p + 1] end
  local got = try(function() return L:compose(M) end, "carry")
  if got then
    t.eq(got:addresses(), want, tostring(L) .. " after " .. tostring(M))
    note "compose"
  else
    t.ok(not is_digits(want), ("%s after %s is refused"):format(L, M))
    note "compose refused"
  end
end

function check.inverse(L, flat)
  local of, back, onto = places(flat), {}, true
  for i, p in ipairs(of) do
    onto = onto and p >= 0 and p < #of and not back[p + 1]
    back[p + 1] = i - 1
  end
  local got = try(function() return L:inverse() end, "no-inverse")
  t.eq(got ~= nil, onto, tostring(L))
  if got then t.eq(got:addresses(), back) end
  note(got and "inverse" or "inverse refused")
end

function check.complement(L, flat)
  local n = #L * random(1, 4)
  local got = try(function() return L:complement(n) end, "no-complement")
  if not got then return note "complement refused" end
  local seen = {}
  for _, p in ipairs(places(flat)) do seen[p] = true end
  local distinct = {}
  for p in pairs(seen) do distinct[#distinct + 1] = p end
  local reached, last = {}, -1
  for _, c in ipairs(got:addresses()) do
    t.ok(c > last, "it is ordered")
    last = c
    for _, p in ipairs(distinct) do
      t.ok(not reached[c + p], tostring(L))
      reached[c + p] = true
    end
  end
  for p = 0, n - 1 do t.ok(reached[p], ("%s leaves out %d of %d"):format(L, p, n)) end
  note "complement"
end

function check.permute(L)
  local order, shape = {}, L.shape
  for i = 1, #shape do table.insert(order, random(1, #order + 1), i - 1) end
  local got = L:permute(table.unpack(order))
  for _ = 1, 5 do
    local at, to = {}, {}
    for i, n in ipairs(shape) do at[i] = random(0, n - 1) end
    for k, i in ipairs(order) do to[k] = at[i + 1] end
    t.eq(got(table.unpack(to)), L(table.unpack(at)))
  end
  note "permute"
end

function check.tile(L)
  local size, shape = {}, L.shape
  for i, n in ipairs(shape) do
    local divisors = {}
    for d = 1, n do if n % d == 0 then divisors[#divisors + 1] = d end end
    size[i] = divisors[random(#divisors)]
  end
  local got = try(function() return L:tile(table.unpack(size)) end, "layout-tile")
  if not got then return note "tile refused" end
  for _ = 1, 5 do
    local at, to = {}, {}
    for i, n in ipairs(shape) do
      at[i] = random(0, n - 1)
      to[i], to[i + #shape] = at[i] // size[i], at[i] % size[i]
    end
    t.eq(got(table.unpack(to)), L(table.unpack(at)), tostring(L))
  end
  note "tile"
end

function check.slice(L)
  local shape, at, fixed = L.shape, {}, {}
  for i, n in ipairs(shape) do
    at[i] = random(0, n - 1)
    fixed[i] = random(1, 2) == 1 and at[i] or nil
  end
  local got = L:slice(table.unpack(fixed, 1, #shape))
  local rest = {}
  for i = 1, #shape do if not fixed[i] then rest[#rest + 1] = at[i] end end
  if #rest > 0 then t.eq(got(table.unpack(rest)), L(table.unpack(at))) else t.eq(got(0), L(table.unpack(at))) end
  note "slice"
end

function check.overlaps(L, flat)
  local digits, other = draw(60)
  digits = digits.digits
  digits.offset = random(-30, 30)
  local M, seen, meet = tide.layout(digits), {}, false
  for _, p in ipairs(places(flat)) do seen[p] = true end
  for _, p in ipairs(places(other)) do meet = meet or seen[p + digits.offset] == true end
  local got, at = L:overlaps(M)
  t.eq(got, meet)
  if got then t.eq({ L(at.left), M(at.right) }, { at.place, at.place }) end
  note(got and "overlaps" or "disjoint")
end

function check.equal(L, flat)
  local M, other = draw(60)
  local x, y = places(flat), places(other)
  local same = #x == #y
  for i = 1, #x do same = same and x[i] == y[i] end
  t.eq(L == M, same)
  t.ok(L == L:normal())
  note(same and "equal" or "other")
end

function check.conflicts(L, flat)
  local lanes, banks, word = random(1, 6), random(1, 6), random(1, 3)
  local of, worst, cycles = places(flat), 1, 0
  for first = 1, #of, lanes do
    local words, ways = {}, 1
    for i = first, math.min(first + lanes - 1, #of) do
      local w = of[i] // word
      words[w % banks] = words[w % banks] or {}
      words[w % banks][w] = true
    end
    for _, set in pairs(words) do
      local n = 0
      for _ in pairs(set) do n = n + 1 end
      ways = math.max(ways, n)
    end
    worst = math.max(worst, ways)
    cycles = cycles + (ways > 1 and 1 or 0)
  end
  local c = L:conflicts { lanes = lanes, banks = banks, word = word }
  t.eq(c and { c.ways, c.cycles } or { 1, 0 }, { worst, cycles })
  if c then
    local p, q = c.places[1] // word, c.places[2] // word
    t.ok(p ~= q and p % banks == c.bank and q % banks == c.bank, tostring(c))
  end
  note(c and "conflicts" or "no conflicts")
end

local names = {}
for name in pairs(check) do names[#names + 1] = name end
table.sort(names)

for i, name in ipairs(names) do
  t.test(("%s: %d random layouts from seed %d"):format(name, count // #names + 1, seed), function()
    for n = 1, count // #names + 1 do
      math.randomseed(seed + n, i)
      local ok, e = pcall(check[name], draw(200))
      if not ok then error(("case %d: %s"):format(n, tostring(e)), 0) end
    end
  end)
end

t.test("all answers occur", function()
  for _, what in ipairs { "compose", "compose refused", "inverse", "inverse refused", "complement",
    "complement refused", "overlaps", "disjoint", "equal", "other", "conflicts", "no conflicts" } do
    t.ok((tally[what] or 0) >= count // 10000, what)
  end
  for what, n in pairs(tally) do print(("# %s: %d"):format(what, n)) end
end)

t.done()
