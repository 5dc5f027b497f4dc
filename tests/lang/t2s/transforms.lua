-- transforms.lua - space-time transforms of T2S in their three forms: acceptance 10 to 12 of the notes on T2S and the
-- like at other sizes and names, proved, counted and run; and those that are refused, each beside an accepted twin.
-- [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, f32, select = tide.i32, tide.f32, tide.select
local Param, Const, Var, Func = t2s.Param, t2s.Const, t2s.Var, t2s.Func

-- A convolution in one dimension as a recurrence; f gives its transform.
local function convolution(f, consts, names)
  local x, w, M, Q, c, q = Param("x", i32, 1), Param("w", i32, 1), Const "M", Const "Q", Var(names or "c q")
  local z = Func("z", i32)
  z[c][q] = select(q:eq(0), 0, z[c][q - 1]) + x[c + q] * w[q]
  z:set_bounds(c, 0, M, q, 0, Q)
  f(z, c, q)
  return z, consts or {M = 16, Q = 5}
end

-- A recurrence over n dimensions; f gives its transform, size its extent (nil: a size without a value).
local function cells(n, f)
  local i, j, k, N, A = Var "i", Var "j", Var "k", Const "N", Func("A", i32)
  if n == 2 then
    A[i][j] = select(i:eq(0), j, select(j:eq(0), i, A[i - 1][j] + A[i][j - 1]))
    A:set_bounds(i, 0, N, j, 0, N)
  else
    A[i][j][k] = select(i:eq(0), j, select(j:eq(0), i, select(k:eq(0), 1,
      A[i - 1][j][k] + A[i][j - 1][k] + A[i][j][k - 1])))
    A:set_bounds(i, 0, N, j, 0, N, k, 0, N)
  end
  f(A, i, j, k)
  return A
end

-- Proves a design, counts its elements and steps, and compares a run with the definition.
local function check(F, name, consts, pes, steps)
  local net, verdict = t2s.design(F, consts)
  t.has(tostring(verdict), "proved: strict")
  local r, k, args, want = t2s.report(net), t2s.kernel(F, consts), {}, {}
  t.eq(r.pes[name .. "_pe"], pes, "elements")
  t.eq(r.steps[name], steps, "steps")
  for n, q in ipairs(k.params) do
    args[n] = n < #k.params and tide.random(q.type, n, {lo = -9, hi = 9}) or q.type(0)
    want[n] = n < #k.params and args[n] or q.type(0)
  end
  net(table.unpack(args))
  k(table.unpack(want))
  t.ok(args[#args]:equal(want[#want]))
  return net
end

t.test("a recurrence whose space loops data drives", function()
  check(cells(2, function(A, i) A:space_time_transform(i) end), "A", {N = 10}, 10)
  check(cells(2, function(A, _, j) A:space_time_transform(j) end), "A", {N = 7}, 7)
  check(cells(3, function(A, i, j) A:space_time_transform(i, j) end), "A", {N = 4}, 16)
end)

t.test("schedules: factors of the space loops", function()
  check(cells(2, function(A, i) A:space_time_transform({i}, {2}) end), "A", {N = 10}, 10, 28)
  check(cells(3, function(A, i, j) A:space_time_transform({i, j}, {1, 2}) end), "A", {N = 10}, 100, 37)
  local net = check(cells(3, function(A, i, j) A:space_time_transform({j, i}, {1, 3}) end), "A", {N = 4}, 16, 16)
  t.has(tostring(net), "for k = j + i * 3, j + i * 3 + 3 do", "the bounds are the guards")
  check(convolution(function(z, c) z:space_time_transform({c}, {1}) end, nil, "u v"), "z", {M = 9, Q = 4}, 9, 12)
end)

-- {matrix, elements, steps} at 16 outputs and 5 taps.
local maps = {
  {{1, 0, 1, 1}, 16, 20},
  {{0, 1, 1, 1}, 5, 20},
  {{{1, 1}, {0, 1}}, 20, 5},
  {{1, 0, 0, 1}, 16, 5},
}

t.test("a convolution by matrices: four mappings", function()
  local p, tt = Var "p t"
  for _, m in ipairs(maps) do
    local z, consts = convolution(function(z, c, q) z:space_time_transform({c, q}, {p, tt}, m[1]) end)
    check(z, "z", consts, m[2], m[3])
  end
  local z = convolution(function(z, c, q) z:space_time_transform({c, q}, {p, tt}, {1, 1, 0, 1}) end, nil, "row tap")
  check(z, "z", {M = 7, Q = 3}, 9, 3)
end)

t.test("inverses: checked; fewer rows than loops need one", function()
  local p, tt = Var "p t"
  local function of(inverse)
    return (convolution(function(z, c, q) z:space_time_transform({c, q}, {p, tt}, {1, 0, 1, 1}, inverse) end))
  end
  check(of {p, tt - p}, "z", {M = 16, Q = 5}, 16, 20)
  t.fails(function() t2s.schedule(of {p, tt}, {M = 16, Q = 5}) end, {code = "t2s-transform", kind = "illegal"})
  t.fails(function() t2s.schedule(of {p}, {M = 16, Q = 5}) end, {code = "t2s-transform"})
  local function all(N, inverse)
    return cells(3, function(A, i, j, k)
      A:space_time_transform({i, j, k}, {p, tt}, {1, 0, 0, 1, N, 1}, inverse)
    end)
  end
  local net = check(all(6, {p, (tt - p) // 6, (tt - p) % 6}), "A", {N = 6}, 6, 41)
  t.has(tostring(net), "for j_k = 0, 35 do", "the loops of time are one")
  t.fails(function() t2s.schedule(all(6), {N = 6}) end, {code = "t2s-transform"})
  t.fails(function() t2s.schedule(all(5, {p, (tt - p) // 5, (tt - p) % 5}), {N = 6}) end, {code = "t2s-transform"})
end)

t.test("a system of equations", function()
  local i, j, M, N, X, Y = Var "i", Var "j", Const "M", Const "N", Func("X", i32), Func("Y", i32)
  X[i][j] = select(i:eq(0), j, X[i - 1][j] + 1)
  Y[i][j] = select(j:eq(0), i, Y[i][j - 1] + X[i][j])
  Y:merge_ures(X):set_bounds(i, 0, M, j, 0, N)
  Y:space_time_transform({j}, {2})
  local net, verdict = t2s.design(Y, {M = 5, N = 3})
  t.has(tostring(verdict), "proved: strict")
  t.eq(t2s.report(net).pes.Y_pe, 3)
  t.eq(t2s.report(net).steps.Y, 9)
end)

t.test("sums: elements by factors, their loops begin at their first step", function()
  local A, B, K = Param("A", f32, 2), Param("B", f32, 2), Param "K"
  local I, J, i, j, k, C, feed = Const "I", Const "J", Var "i", Var "j", Var "k", Func("C", f32), Func("feed", f32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
  C:isolate_producer_chain(A, feed):space_time_transform({i, j}, {1, 1}):relay(A, {0, 1})
  local net, verdict = t2s.design(C, {I = 3, J = 4})
  t.has(tostring(verdict), "proved: strict")
  t.eq(t2s.report(net).pes.C_pe, 12)
  t.eq(t2s.report(net).steps.C, "K + 5")
end)

local function refused(name, code, f)
  t.test(name, function()
    local z, consts = convolution(f)
    local e = t.fails(function() t2s.schedule(z, consts) end, {code = code})
    t.ok(e.line and e.line > 0, "the line of the directive")
  end)
end

local p, tt, s = Var "p t s"
refused("a second transform", "t2s-transform", function(z, c, q) z:space_time_transform(q):space_time_transform(c) end)
refused("all loops in space", "t2s-unroll", function(z, c, q) z:space_time_transform(c, q) end)
refused("a loop that is not there", "t2s-transform", function(z) z:space_time_transform(s) end)
refused("a matrix of another shape", "t2s-transform", function(z, c, q)
  z:space_time_transform({c, q}, {p, tt}, {1, 0, 1})
end)
refused("a matrix without an inverse", "t2s-transform", function(z, c, q)
  z:space_time_transform({c, q}, {p, tt}, {1, 1, 1, 1})
end)
refused("more new Vars than old ones", "t2s-transform", function(z, c, q)
  z:space_time_transform({c, q}, {p, s, tt}, {1, 0, 0, 1, 1, 1})
end)
refused("values that are there in no step before", "t2s-transform", function(z, c, q)
  z:space_time_transform({c, q}, {p, tt}, {0, 1, 1, 0})
end)
refused("values that are there too late", "t2s-transform", function(z, c, q)
  z:space_time_transform({c, q}, {p, tt}, {1, 0, 1, -1})
end)
refused("a factor for each Var", "t2s-transform", function(z, c) z:space_time_transform({c}, {1, 2}) end)
refused("names of loops", "t2s-directive", function(z) z:space_time_transform("c") end)

t.test("a schedule that comes too late, and one that just does", function()
  t.fails(function() t2s.schedule(cells(2, function(A, i) A:space_time_transform({i}, {0}) end), {N = 5}) end,
    {code = "t2s-transform"})
  check(cells(2, function(A, i) A:space_time_transform({i}, {1}) end), "A", {N = 5}, 5, 9)
end)

t.done()
