-- shared.lua - one argument that several instances write: what lies interleaved is accepted where it is disjoint, in
-- every tier; what is not is refused with the element and both instances. Each wrong design has a right twin.
-- [slow]
local t = require "tap"
local batch = require "hls_batch"
local tide = require "tide"
local i32, task, grid = tide.i32, tide.task, tide.grid
local P, N = 4, 32

-- Runs d by the reference and both compilers: all leave the same in A.
local function runs(d, T)
  local want = tide.random(T, 1)
  d:reference(want)
  for _, tier in ipairs {"tcc", "cc"} do
    local A = tide.random(T, 1)
    d:build {target = "cpu", tier = tier}(A)
    t.ok(A:equal(want), tier)
  end
end

-- build(x) for the wrong fact, refused with `clash` ({element, first, second}), and for the right one, which HLS takes
-- (hls = true) or refuses as shared-write.
local function twins(name, T, build, wrong, clash, right, hls)
  t.test(name, function()
    local e = t.fails(function() tide.design(build(wrong)) end, {kind = "illegal", code = "race"})
    t.eq({e.witness.element, e.witness.first.at, e.witness.second.at}, clash)
    t.has(e.message, clash[1])
    t.ok(e.line and e.help, "the line, and what helps")
    local d = tide.design(build(right))
    t.eq({d:check()}, {true}, "nothing is left open")
    runs(d, T)
    if hls then
      t.ok(batch.add(name, d))
    else
      t.fails(function() d:build {target = "hls"} end, {kind = "unsupported", code = "shared-write"})
    end
  end)
end

-- A task of P instances on A, as body(A, p) says.
local function tasks(T, body)
  return function(d) d.pe = task {map = {P}, A = T, body} end
end

twins("element by element", i32[N], function(by)
  return tasks(i32[N], function(A, p) for i in grid(N // P) do A[i * by + p] = A[i * by + p] + i end end)
end, P - 1, {"A[3]", "pe[0]", "pe[3]"}, P, true)

twins("a loop that strides", i32[N], function(by)
  return tasks(i32[N], function(A, p) for i = p, N - 1, by do A[i] = A[i] * 2 + p end end)
end, P - 1, {"A[3]", "pe[0]", "pe[3]"}, P, true)

twins("from the end", i32[N], function(shift)
  return tasks(i32[N], function(A, p) for i in grid(N // P) do A[N - 1 - i * P - p % shift] = i end end)
end, P - 1, {"A[31]", "pe[0]", "pe[3]"}, P, true)

twins("slices with a step", i32[N], function(first)
  return tasks(i32[N], function(A, p)
    A:slice({first * p, first * p + N - P + 1, P}):set(A:slice({first * p, first * p + N - P + 1, P}) + p)
  end)
end, 0, {"A[0]", "pe[0]", "pe[1]"}, 1, true)

local double = tide.kernel {X = i32[N // P], by = i32, function(X, by)
  for i in grid(N // P) do X[i] = X[i] * 2 + by end
end}
twins("slices for a kernel", i32[N], function(by)
  return tasks(i32[N], function(A, p) double(A:slice({p // by, p // by + N - P + 1, P}), p) end)
end, 2, {"A[0]", "pe[0]", "pe[1]"}, 1, true)

twins("columns of a matrix", i32[8][N], function(by)
  return tasks(i32[8][N], function(A, p) for r, i in grid(8, N // P) do A[r][i * P + p // by] = r + i end end)
end, 3, {"A[0][0]", "pe[0]", "pe[1]"}, 1, true)

twins("both axes of a grid", i32[8][8], function(by)
  return function(d)
    d.pe = task {map = {2, 2}, A = i32[8][8], function(A, p, q)
      for r, c in grid(4, 4) do A[2 * r + p][2 * c + q * by] = r + c + p end
    end}
  end
end, 0, {"A[0][0]", "pe[0][0]", "pe[0][1]"}, 1, true)

twins("two tasks, even and odd", i32[N], function(odd)
  return function(d)
    d.even = task {A = i32[N], function(A) for i in grid(N // 2) do A[2 * i] = i end end}
    d.odd = task {A = i32[N], function(A) for i in grid(N // 2) do A[2 * i + odd] = -i end end}
  end
end, 0, {"A[0]", "even", "odd"}, 1, true)

twins("a read of another's element", i32[N], function(by)
  return tasks(i32[N], function(A, p) for i in grid(N // P) do A[i * P + p] = A[i * P + (p + by) % P] + 1 end end)
end, 1, {"A[1]", "pe[0]", "pe[1]"}, P, true)

-- The last instances write fewer: those of one size are served by one function.
twins("a short block at the end", i32[30], function(more)
  return tasks(i32[30], function(A, p)
    for i = 8 * p, tide.min(8 * p + 8 + more, 30) - 1 do A[i] = A[i] * 2 + p end
  end)
end, 1, {"A[8]", "pe[0]", "pe[1]"}, 0, true)

twins("a short block at the end, under a guard, of which some is written", i32[30], function(by)
  return tasks(i32[30], function(A, p)
    for k = 0, 7 do
      if by * p + k < 30 and k ~= 2 then A[by * p + k] = p + k end
    end
  end)
end, 7, {"A[7]", "pe[0]", "pe[1]"}, 8, true)

twins("an instance for which nothing is left", i32[22], function(by)
  return tasks(i32[22], function(A, p)
    for k = 0, 7 do
      if by * p + k < 22 then A[by * p + k] = A[by * p + k] + p end
    end
  end)
end, 7, {"A[7]", "pe[0]", "pe[1]"}, 8, true)

twins("in turn, some once less", i32[30], function(by)
  return tasks(i32[30], function(A, p) for i = p, 29, by do A[i] = A[i] * 2 + p end end)
end, P - 1, {"A[3]", "pe[0]", "pe[3]"}, P, true)

twins("tiles that a matrix cuts on both sides", i32[7][10], function(by)
  return function(d)
    d.pe = task {map = {2, 3}, A = i32[7][10], function(A, p, q)
      for r, c in grid(4, 4) do
        if 4 * p + r < 7 and by * q + c < 10 then A[4 * p + r][by * q + c] = A[4 * p + r][by * q + c] + p - q end
      end
    end}
  end
end, 3, {"A[0][3]", "pe[0][0]", "pe[0][1]"}, 4, true)

twins("a short block that a neighbour's result goes on from", i32[30], function(more)
  return function(d)
    local z = d:stream(i32, {P + 1})
    d.first = task {function() z[0]:put(1) end}
    d.pe = task {map = {P}, A = i32[30], function(A, p)
      local sum = z[p]:get()
      for i = 8 * p, tide.min(8 * p + 8 + more, 30) - 1 do
        A[i] = A[i] + sum
        sum = A[i]
      end
      z[p + 1]:put(sum)
    end}
    d.last = task {function() local _ = z[P]:get() end}
  end
end, 1, {"A[8]", "pe[0]", "pe[1]"}, 0, true)

twins("in turn, some only once", i32[6], function(by)
  return tasks(i32[6], function(A, p) for i = p, 5, by do A[i] = A[i] * 2 + p end end)
end, P - 1, {"A[3]", "pe[0]", "pe[3]"}, P, true)

-- Disjoint, but not by boxes.
twins("diagonals", i32[8][8], function(by)
  return tasks(i32[8][8], function(A, p)
    for r, h in grid(8, 2) do A[r][(p * by + r + 4 * h) % 8] = r + p end
  end)
end, 4, {"A[0][0]", "pe[0]", "pe[1]"}, 1, false)

twins("blocks in turn", i32[N], function(n)
  return tasks(i32[N], function(A, p) for b, i in grid(N // (2 * P), n) do A[b * 2 * P + 2 * p + i] = p end end)
end, 3, {"A[2]", "pe[0]", "pe[1]"}, 2, false)

twins("under a guard", i32[N], function(more)
  return tasks(i32[N], function(A, p)
    for i in grid(N) do if i % P == p or i % P == p + more then A[i] = A[i] + p end end
  end)
end, 1, {"A[1]", "pe[0]", "pe[1]"}, P, false)

-- What no footprint tells is followed without data: tables, counters, loops whose conditions are known.
local places = tide.tensor(i32[P], {3, 1, 0, 2})
twins("a table of places", i32[N], function(by)
  return tasks(i32[N], function(A, p) for i in grid(N // P) do A[i * P + places[p] // by] = i end end)
end, 2, {"A[0]", "pe[1]", "pe[2]"}, 1, false)

local starts = tide.tensor(i32[P + 1], {0, 3, 10, 11, N})
twins("blocks of other lengths, from a table", i32[N], function(more)
  return tasks(i32[N], function(A, p)
    for i = starts[p], tide.min(starts[p + 1] + more, N) - 1 do A[i] = A[i] + p end
  end)
end, 1, {"A[3]", "pe[0]", "pe[1]"}, 0, true)

twins("a counter", i32[N], function(by)
  return tasks(i32[N], function(A, p)
    local at = i32(p)
    while at < N do
      A[at] = A[at] + p
      at = at + by
    end
  end)
end, P - 1, {"A[3]", "pe[0]", "pe[3]"}, P, false)

twins("a read where a counter leads", i32[N], function(by)
  return tasks(i32[N], function(A, p)
    local at = i32(p)
    for _ in grid(N // P) do
      A[at] = A[(at + by) % N] + 1
      at = at + P
    end
  end)
end, 2, {"A[4]", "pe[0]", "pe[2]"}, P, false)

-- S instances, of which each writes where k says.
local function decided_by_data(k)
  return tide.design(function(d)
    d.pe = task {map = {P}, A = i32[N], at = i32[P]:layout "S0", function(A, at, p)
      if k == "guard" then
        if at[0] > 0 then A[0] = p end
      elseif k == "one guard" then
        if p == 1 then A[0] = 1 elseif p == 0 and at[0] > 0 then A[0] = 2 end
      elseif k == "index" then
        A[at[0] % N] = p
      else
        A[0] = p
      end
    end}
  end)
end

t.test("what data decides is no refusal, and is said", function()
  for _, k in ipairs {"guard", "one guard", "index"} do
    local ok, open = decided_by_data(k):check()
    t.eq(ok, true)
    t.eq(open, "whether tasks share an element of 'A' depends on data")
  end
  t.fails(function() decided_by_data "always" end, {kind = "illegal", code = "race"})
end)

t.test("a run that looks names the element and both instances", function()
  local function run(list)
    decided_by_data "index":reference(i32[N](0), tide.tensor(i32[P], list))
  end
  run {4, 5, 6, 7}
  local e = t.fails(function() run {4, 5, 6, 4} end, {kind = "illegal", code = "race"})
  t.has(e.message, "A[4] is written by pe[0] and by pe[3]")
  t.eq({e.witness.element, e.witness.first.at, e.witness.second.at}, {"A[4]", "pe[0]", "pe[3]"})
end)

t.test("a state may lead elsewhere in a later call: that stays open", function()
  local first = tide.state(i32[1], 0)
  local top = tide.design(function(d)
    d.pe = task {map = {2}, A = i32[4], function(A, p)
      A[(2 * p + first[0]) % 4] = p
      if p == 0 then first[0] = 2 end
    end}
  end)
  local ok, open = top:check()
  t.eq({ok, open}, {true, "whether tasks share an element of 'A' depends on data"})
end)

batch.test()
t.done()
