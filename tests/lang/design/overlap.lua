-- [slow] Views of one array whose places data decides: what is written shares no element with another
-- argument or operand, which every run looks at before C may rest on it.
local tide = require "tide"
local t = require "tap"
local i8, i16, i32, i64, index = tide.i8, tide.i16, tide.i32, tide.i64, tide.index

local function list(...) return tide.tensor(i32[select("#", ...)], {...}) end

-- The ways to run a program, by name.
local function tiers(k, hls)
  local all = {tcc = k:build {target = "cpu", tier = "tcc"}, cc = k:build {target = "cpu", tier = "cc"}}
  if hls then all.hls = k:build {target = "hls"} end
  return all
end

-- How a run of k on copies of A and p ends: a code, or what A holds then.
local function ends(run, A, p)
  A = A:copy()
  local passed, e = pcall(run, A, p:copy())
  if not passed and type(e) == "string" then error(e) end
  return passed and A:table() or e.code
end

-- States that all runs of k end as the reference run does, on A and each p; counts overlaps.
local function agree(k, A, ps, hls)
  local all, overlaps = tiers(k, hls), 0
  for i, p in ipairs(ps) do
    local want = ends(function(...) k:reference(...) end, A, p)
    if want == "overlap" then overlaps = overlaps + 1 end
    for name, run in pairs(all) do t.eq(ends(run, A, p), want, name .. ", " .. i) end
  end
  return overlaps
end

local f = tide.kernel {name = "f", a = i32[4], b = i32[4], function(a, b)
  for i = 0, 3 do a[i] = b[i] + a[0] end
end}

t.test("rows of a call", function()
  local k = tide.kernel {A = i32[4][4], p = i32[2], function(A, p) f(A[p[0]], A[p[1]]) end}
  t.eq(agree(k, tide.random(i32[4][4], 1), {list(1, 2), list(1, 1), list(3, 0)}, true), 1)
end)

t.test("slices of a call, by index parameters too", function()
  local k = tide.kernel {A = i32[16], p = i32[2], function(A, p)
    f(A:slice({p[0], p[0] + 4}), A:slice({p[1], p[1] + 4}))
  end}
  local A = tide.random(i32[16], 2)
  t.eq(agree(k, A, {list(0, 4), list(0, 3), list(5, 5), list(12, 8), list(4, 7)}, true), 3)
  local n = tide.kernel {A = i32[16], n = index, function(A, n)
    f(A:slice({0, 4}), A:slice({n, n + 4}))
  end}
  for name, run in pairs(tiers(n, true)) do
    run(A:copy(), 4)
    t.fails(function() run(A:copy(), 3) end, {code = "overlap"}, name)
  end
end)

t.test("what is only read may be passed twice", function()
  local sum = tide.kernel {name = "sum", c = i32[4], a = i32[4], b = i32[4], function(c, a, b)
    for i = 0, 3 do c[i] = a[i] + b[i] end
  end}
  local k = tide.kernel {A = i32[4][4], p = i32[2], function(A, p)
    local c = i32[4]()
    sum(c, A[p[0]], A[p[1]])
    for i = 0, 3 do A[0][i] = c[i] end
  end}
  t.eq(agree(k, tide.random(i32[4][4], 3), {list(1, 2), list(1, 1)}, true), 0)
end)

t.test("a call in a call, and in a loop", function()
  local g = tide.kernel {name = "g", B = i32[4][4], m = index, n = index, function(B, m, n)
    f(B[m], B[n])
  end}
  local k = tide.kernel {A = i32[4][4], p = i32[2], function(A, p)
    for i = 0, 1 do g(A, i, p[i]) end
  end}
  t.eq(agree(k, tide.random(i32[4][4], 4), {list(1, 2), list(0, 2), list(3, 1), list(2, 3)}, true), 2)
end)

t.test("a tensor statement: elsewhere it faults, in place it does not", function()
  local k = tide.kernel {A = i32[16], p = i32[2], function(A, p)
    A:slice({p[0], p[0] + 4}):set(A:slice({p[1], p[1] + 4}) + 1)
  end}
  t.eq(agree(k, tide.random(i32[16], 5), {list(0, 4), list(0, 3), list(5, 5), list(3, 4)}, true), 2)
end)

t.test("matmul and reduce", function()
  local mm = tide.kernel {A = i32[6][4], p = i32[2], function(A, p)
    A:slice({p[0], p[0] + 2}, {}):set(tide.matmul(A:slice({p[1], p[1] + 2}, {0, 2}), A:slice({4, 6}, {})))
  end}
  t.eq(agree(mm, tide.random(i32[6][4], 6, {lo = -9, hi = 9}),
    {list(0, 2), list(0, 1), list(3, 1), list(2, 2)}, true), 3)
  local sum = tide.kernel {A = i32[6][4], p = i32[2], function(A, p)
    A[p[0]]:set(tide.reduce(A:slice({p[1], p[1] + 2}, {}), "+", 0))
  end}
  t.eq(agree(sum, tide.random(i32[6][4], 7, {lo = -9, hi = 9}), {list(0, 1), list(2, 1), list(5, 0)}, true), 1)
end)

t.test("an index that the statement writes is read before", function()
  local k = tide.kernel {A = i32[16], p = i32[2], function(A, p)
    A:slice({A[0], A[0] + 4}):set(p[0])
    A:slice({A[15] % 4, A[15] % 4 + 4}):set(A:slice({A[1] % 4 + 8, A[1] % 4 + 12}) + A[2])
  end}
  local A = tide.random(i32[16], 8, {lo = 0, hi = 7})
  A[0] = 0
  t.eq(agree(k, A, {list(9, 9), list(2, 0)}, true), 0)
end)

t.test("steps that are alike, and others", function()
  local function k(s, u)
    return tide.kernel {A = i32[64], p = i32[2], function(A, p)
      f(A:slice({p[0], p[0] + 3 * s + 1, s}), A:slice({p[1], p[1] + 3 * u + 1, u}))
    end}
  end
  for _, steps in ipairs {{2, 2}, {3, 3}, {2, 3}, {4, 6}, {1, 5}} do
    local ps = {}
    for i = 1, 60 do ps[i] = tide.random(i32[2], i * 7 + steps[2], {lo = 0, hi = 30}) end
    local n = agree(k(steps[1], steps[2]), tide.random(i32[64], 9), ps)
    t.ok(n > 0 and n < 60, n)
  end
end)

t.test("columns, transposed, and a box of another shape", function()
  local g = tide.kernel {name = "g", a = i32[2][3], b = i32[2][3], function(a, b)
    for i, j in tide.grid(2, 3) do a[i][j] = b[i][j] + 1 end
  end}
  local k = tide.kernel {A = i32[8][8], p = i32[4], function(A, p)
    g(A:slice({p[0], p[0] + 2}, {p[1], p[1] + 3}), A:slice({p[2], p[2] + 3}, {p[3], p[3] + 2}):transpose())
  end}
  local ps = {}
  for i = 1, 60 do ps[i] = tide.random(i32[4], i, {lo = 0, hi = 5}) end
  local n = agree(k, tide.random(i32[8][8], 10), ps)
  t.ok(n > 0 and n < 60, n)
end)

t.test("in a task, with a clock, and in a parallel loop", function()
  local function of(s, device)
    local run = s:build {target = "cpu", tier = "tcc", device = device}
    local A = tide.random(i32[4][4], 11)
    run(A, list(1, 2))
    t.fails(function() run(A, list(3, 3)) end, {code = "overlap"})
    t.fails(function() s:reference(A, list(3, 3)) end, {code = "overlap"})
  end
  local d = tide.design(function(d)
    d.w = tide.task {A = i32[4][4], p = i32[2], function(A, p) f(A[p[0]], A[p[1]]) end}
  end)
  of(d)
  of(d, "ideal")
  local s = tide.schedule(tide.kernel {A = i32[4][4], p = i32[2], function(A, p)
    for _ = 0, 0 do f(A[p[0]], A[p[1]]) end
  end})
  of(s)
  local par = tide.schedule(tide.kernel {B = i32[8][4][4], p = i32[2], function(B, p)
    for x = 0, 7 do f(B[x][p[0]], B[x][p[1]]) end
  end})
  par:parallel "x"
  for _, tier in ipairs {"tcc", "cc"} do
    local run = par:build {target = "cpu", tier = tier}
    run(i32[8][4][4](1), list(0, 3))
    t.fails(function() run(i32[8][4][4](1), list(2, 2)) end, {code = "overlap"})
  end
end)

t.test("what is proved to be apart is not looked at", function()
  local function looks(k) return k:build {target = "cpu"}.source:find("td_apart", 1, true) ~= nil end
  t.eq(looks(tide.kernel {A = i32[8][4], function(A)
    for i = 0, 6 do f(A[i], A[i + 1]) end
    A:slice({0, 4}, {}):set(A:slice({4, 8}, {}) + 1)
    A:set(A + 1)
  end}), false)
  t.eq(looks(tide.kernel {A = i32[8][4], n = index, function(A, n)
    tide.assume(n > 0, n < 8)
    f(A[0], A[n])
  end}), false)
  t.eq(looks(tide.kernel {A = i32[8][4], n = index, function(A, n) f(A[0], A[n]) end}), true)
end)

t.test("other types, and 64 bit places", function()
  local function of(T, P)
    local g = tide.kernel {name = "g", a = T[2], b = T[2], function(a, b)
      for i = 0, 1 do a[i] = b[1 - i] end
    end}
    return tide.kernel {A = T[9], p = P[2], function(A, p)
      local m, n = index(p[0]), index(p[1])
      g(A:slice({m, m + 2}), A:slice({n, n + 2}))
    end}
  end
  for _, T in ipairs {i8, i16, i64, tide.f32} do
    for _, P in ipairs {tide.u8, i64} do
      local k = of(T, P)
      local ps = {}
      for i, v in ipairs {{0, 2}, {3, 4}, {7, 6}, {7, 5}} do ps[i] = tide.tensor(P[2], v) end
      t.eq(agree(k, tide.random(T[9], 12), ps), 2)
    end
  end
end)

t.test("what always meets is refused at once, its twin is not", function()
  local function of(second)
    return tide.kernel {A = i32[8][4], n = index, function(A, n)
      tide.assume(n >= 0, n < 7)
      f(A[n], A[n + second])
    end}
  end
  t.fails(function() of(0) end, {code = "overlap", kind = "illegal"})
  of(1)
end)

t.test("inline says that it no longer looks", function()
  local s = tide.schedule(tide.kernel {A = i32[4][4], p = i32[2], function(A, p) f(A[p[0]], A[p[1]]) end})
  s:inline "f"
  t.has(table.concat(s:steps()[1].notes, "\n"), "no longer checked")
end)
t.done()
