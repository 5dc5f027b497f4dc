-- races.lua - two instances that data alone leads to one element, which one of them writes: every run tells the element
-- and both; on data that keeps them apart it ends like the reference, in every tier.
-- [slow]
local t = require "tap"
local tide = require "tide"
local i32, f16, task, grid = tide.i32, tide.f16, tide.task, tide.grid
local P, N = 4, 8

local function copies(args)
  local list = {}
  for i, a in ipairs(args) do list[i] = a:copy() end
  return list
end

-- The ways to run d: a plain call, both compilers, and with a clock where a design stands by itself.
local function ways(d, untimed)
  local all = {call = d, schedule = tide.schedule(d)}
  for _, tier in ipairs {"tcc", "cc"} do
    all[tier] = d:build {target = "cpu", tier = tier}
    if not untimed then all["timed " .. tier] = d:build {target = "cpu", timed = true, tier = tier} end
  end
  return all
end

-- Design d, which check leaves open, fails on `bad` with the clash {element, first, second} and ends on `good`.
local function shape(name, d, good, bad, clash, untimed)
  t.test(name, function()
    local ok, open = d:check()
    t.eq(ok, true)
    t.has(open, "share an element")
    local want = copies(good)
    d:reference(table.unpack(want))
    t.fails(function() d:reference(table.unpack(copies(bad))) end, {kind = "illegal", code = "race"})
    for how, run in pairs(ways(d, untimed)) do
      local got = copies(good)
      run(table.unpack(got))
      for i in ipairs(got) do t.ok(got[i]:equal(want[i]), how) end
      local e = t.fails(function() run(table.unpack(copies(bad))) end, {kind = "illegal", code = "race"})
      local w = e.witness
      local who = {w.first.at, w.second.at}
      table.sort(who)
      t.eq({w.element, table.unpack(who)}, clash, how)
      t.has(e.message, clash[1])
      t.ok(e.line == w.second.line and w.first.line and e.help, "places and what helps")
      got = copies(good)
      run(table.unpack(got))
      for i in ipairs(got) do t.ok(got[i]:equal(want[i]), how .. ", after the failure") end
    end
  end)
end

local function list(...) return tide.tensor(i32[select("#", ...)], {...}) end

shape("a scatter through a table", tide.design(function(d)
  d.pe = task {map = {P}, at = i32[P], B = i32[N], function(at, B, p) B[at[p]] = p end}
end), {list(4, 2, 0, 7), i32[N](9)}, {list(4, 2, 7, 4), i32[N](9)}, {"B[4]", "pe[0]", "pe[3]"})

shape("a scatter through tokens", tide.design(function(d)
  local z = d:stream(i32, {P, depth = 2})
  d.send = task {at = i32[P], function(at) for p in grid(P) do z[p]:put(at[p]) end end}
  d.pe = task {map = {P}, B = i32[2][N], function(B, p)
    local x = z[p]:get()
    B[1][x] = B[1][x] + 1
  end}
end), {list(4, 2, 0, 7), i32[2][N](9)}, {list(1, 5, 7, 5), i32[2][N](9)}, {"B[1][5]", "pe[1]", "pe[3]"})

shape("one reads what another writes", tide.design(function(d)
  d.pe = task {map = {P}, at = i32[P], B = i32[N], function(at, B, p) B[p] = B[at[p]] + 1 end}
end), {list(4, 1, 7, 5), i32[N](9)}, {list(4, 1, 1, 5), i32[N](9)}, {"B[1]", "pe[1]", "pe[2]"})

-- Two may read an element; a third that writes it then clashes with either.
shape("one writes what two have read", tide.design(function(d)
  d.pe = task {map = {P}, at = i32[P], B = i32[N], C = i32[P], function(at, B, C, p)
    C[p] = B[0]
    if at[p] >= 0 then B[at[p]] = p end
  end}
end), {list(-1, -1, 3, 2), i32[N](9), i32[P](0)}, {list(-1, -1, 0, 2), i32[N](9), i32[P](0)},
  {"B[0]", "pe[0]", "pe[2]"})

local function histogram(own)
  return tide.design(function(d)
    d.pe = task {map = {2}, X = i32[2 * N]:layout "S0", H = i32[2 * N], function(X, H, p)
      for n in grid(N) do
        local b = own and p * N + X[n] % N or X[n] % N
        H[b] = H[b] + 1
      end
    end}
  end)
end
local numbers = tide.random(i32[2 * N], 3, {lo = 0, hi = 100})
shape("a histogram of common bins", histogram(false),
  {list(0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7), i32[2 * N](0)},
  {list(0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 1, 4, 5, 6, 7), i32[2 * N](0)}, {"H[1]", "pe[0]", "pe[1]"})

t.test("the same in bins of its own for each", function()
  local d, want = histogram(true), i32[2 * N](0)
  d:reference(numbers, want)
  for how, run in pairs(ways(d)) do
    local H = i32[2 * N](0)
    run(numbers, H)
    t.ok(H:equal(want), how)
  end
end)

shape("in a called kernel that is given a row", (function()
  local add = tide.kernel {R = f16[3], x = f16, function(R, x) for k in grid(3) do R[k] = R[k] + x end end}
  return tide.design(function(d)
    d.pe = task {map = {P}, at = i32[P]:layout "S0", B = f16[N][3], function(at, B, p) add(B[at[0]], p * 0.5) end}
  end)
end)(), {list(4, 2, 0, 7), f16[N][3](1)}, {list(4, 2, 7, 2), f16[N][3](1)}, {"B[2][0]", "pe[1]", "pe[3]"})

shape("whole rows at once", tide.design(function(d)
  d.pe = task {map = {P}, at = i32[P], B = i32[N][2], function(at, B, p) B[at[p]]:set(i32[2](p)) end}
end), {list(4, 2, 0, 7), i32[N][2](1)}, {list(3, 2, 3, 7), i32[N][2](1)}, {"B[3][0]", "pe[0]", "pe[2]"})

shape("two tasks, of which one goes as far as data says", tide.design(function(d)
  d.up = task {n = i32[1], B = i32[N], function(n, B)
    local k = i32(0)
    while k < n[0] do
      B[k] = k
      k = i32(k + 1)
    end
  end}
  d.down = task {B = i32[N], function(B) for k in grid(2) do B[N - 1 - k] = 5 end end}
end), {list(6), i32[N](9)}, {list(7), i32[N](9)}, {"B[6]", "down", "up"})

shape("in a parallel loop", tide.design(function(d)
  d.pe = task {map = {P}, at = i32[P]:layout "S0", B = i32[N][N], function(at, B)
    for k in grid(N) do --@ parallel
      B[at[0]][k] = k
    end
  end}
end), {list(4, 2, 0, 7), i32[N][N](0)}, {list(0, 1, 2, 1), i32[N][N](0)}, {"B[1][0]", "pe[1]", "pe[3]"})

-- Each instance of `outer` runs `inner` twice, one run after the other: those may touch one element, and what other
-- instances of outer do not.
local function nested()
  local inner = tide.design(function(d)
    d.one = task {map = {2}, at = i32[2], B = i32[N], function(at, B, q) B[at[q]] = B[at[q]] + q + 1 end}
  end)
  return tide.design(function(d)
    d.outer = task {map = {2}, at = i32[2][2], B = i32[N], function(at, B, p)
      for _ in grid(2) do inner(at[p], B) end
    end}
  end)
end
local function pairs_of(...) return tide.tensor(i32[2][2], {{(select(1, ...)), (select(2, ...))}, {select(3, ...)}}) end
shape("between instances that run designs", nested(), {pairs_of(0, 1, 2, 3), i32[N](0)},
  {pairs_of(0, 1, 2, 1), i32[N](0)}, {"B[1]", "outer[0]", "outer[1]"}, true)
shape("in a design that an instance runs", nested(), {pairs_of(0, 1, 2, 3), i32[N](0)},
  {pairs_of(0, 0, 2, 1), i32[N](0)}, {"B[0]", "one[0]", "one[1]"}, true)

t.test("a design that is decided is not watched", function()
  local d = tide.design(function(x)
    x.pe = task {map = {P}, at = i32[P], B = i32[N], function(at, B, p) B[p] = at[p] end}
  end)
  t.eq({d:check()}, {true})
  local B = i32[N](0)
  d(list(4, 4, 4, 4), B)
  t.eq(B:table(), {4, 4, 4, 4, 0, 0, 0, 0})
end)

t.done()
