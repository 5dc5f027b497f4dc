-- recurrences.lua - T2S Funcs whose space loops carry values: Smith-Waterman's array under drawn names, sizes and
-- orders, counted, run, timed and as HLS C++; a longest common subsequence, a table without a driver; and mappings
-- that are refused, each beside its accepted twin. [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local studies = require "t2s_studies"
local i32, select = tide.i32, tide.select
local align, cells = studies.align, studies.cells
local Param, Const, Var, Func = t2s.Param, t2s.Const, t2s.Var, t2s.Func

-- Runs a design at a size and states that it computes what the definition does.
local function check(net, A, q, c, M, N)
  local a, b = tide.random(i32[M], M, {lo = 0, hi = 3}), tide.random(i32[N], N, {lo = 0, hi = 3})
  local function run(f)
    local out = i32[1](-1)
    f {[q .. "T"] = a, [q .. "S"] = b, [q .. "A"] = out, I = M, J = N}
    return out[0]
  end
  t.eq(run(net), run(t2s.kernel(A, c)))
end

t.test("Smith-Waterman: proved at all sizes, counted, the score of the paper's strings", function()
  local c = {II = 4, JJ = 4, MAX_J = 16}
  local A = align {}
  local net, verdict = t2s.design(A, c)
  t.has(tostring(verdict), "proved: strict, all sizes")
  local r = t2s.report(net)
  t.eq(r.pes.A_pe, 16)
  t.eq(r.channels, 23 + 57 + 8, "from the driver, between PEs, back")
  local a, b, out = i32[8](), i32[8](), i32[1](0)
  for n = 0, 7 do a[n], b[n] = (n * n * 3 + n) % 4, (n * 5 + n // 2) % 4 end
  net {T = a, S = b, I = 8, J = 8, A = out}
  t.eq(out[0], 4)
  for _, target in ipairs {{target = "hls"}, {target = "cpu", timed = true}} do
    local got = i32[1](0)
    net:at {I = 8, J = 8}:build(target)(a, b, got)
    t.eq(got[0], 4, target.target)
  end
  t.fails(function() net {T = i32[6](), S = b, A = out} end, {kind = "illegal"})
  t.fails(function() net {T = a, S = i32[20](), A = out} end, {kind = "illegal"})
end)

t.test("least depths: one, but for a row of tiles at the bottom; one less where the right goes first", function()
  for first = 0, 1 do
    for _, J in ipairs {8, 12, 16} do
      local net = t2s.design((align {right_first = first > 0}), {II = 4, JJ = 4, MAX_J = 16}, {check = false})
      local most, n = 0, 0
      for _, depth in pairs(net:at {I = 8, J = J}:depths()) do
        most = math.max(most, depth)
        n = n + (depth > 1 and 1 or 0)
      end
      t.eq(most, math.max(J // 4 - first, 1), ("J = %d"):format(J))
      t.eq(n, most > 1 and 1 or 0)
    end
  end
end)

t.test("other names, tiles, orders of directives", function()
  local state = 5
  local function draw(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n + 1
  end
  for seed = 1, 5 do
    local c = {II = draw(3) + 1, JJ = draw(3) + 1, MAX_J = 40}
    local A, q = align {prefix = ("ab"):rep(seed), turn = draw(3), first = draw(5) - 1, turned = seed % 2 == 0,
      cell = seed > 2 and cells.common or nil}
    check(t2s.design(A, c), A, q, c, c.II * (draw(2) + 1), c.JJ * (draw(3) + 1))
  end
end)

t.test("without divisible sizes: clamps, proved, at sizes below and above a tile", function()
  local c = {II = 4, JJ = 4, MAX_J = 16}
  local A, q = align {divisible = false}
  local net, verdict = t2s.design(A, c)
  t.has(tostring(verdict), "proved: strict, all sizes")
  for _, z in ipairs {{9, 7}, {3, 2}, {5, 13}, {8, 8}} do check(net, A, q, c, z[1], z[2]) end
end)

t.test("the whole table as the result", function()
  local A = align {store = false}
  local net = t2s.design(A, {II = 2, JJ = 3, MAX_J = 16})
  local a, b = tide.random(i32[4], 1, {lo = 0, hi = 3}), tide.random(i32[6], 2, {lo = 0, hi = 3})
  local got, want = i32[4][6](0), i32[4][6](0)
  net {T = a, S = b, A = got, I = 4, J = 6}
  t2s.kernel(A, {II = 2, JJ = 3, MAX_J = 16}) {T = a, S = b, A = want, I = 4, J = 6}
  t.ok(got:equal(want))
end)

local function refused(name, code, o)
  t.test(name, function()
    local e = t.fails(function() t2s.schedule((align(o)), {II = 4, JJ = 4, MAX_J = 16}) end, {code = code})
    t.ok(e.line and e.line > 0)
  end)
end

for n = 1, 3 do refused("a relay that is missing: " .. n, "way", {without = n}) end
refused("relays of the operands the other way", "way", {wrong = function(T) return T, {1, 0} end, without = 4})
refused("an operand that goes two ways", "way", {wrong = function(T) return T, {1, 0} end})
refused("a relay that no value takes", "way", {wrong = function(_, _, A) return A, {2, 0} end})
refused("results for another Func than the boundary's", "t2s-carried", {other = true})

t.test("operands without a relay: a channel for each PE", function()
  local net = t2s.design((align {without = 4}), {II = 2, JJ = 3, MAX_J = 16})
  t.has(tostring(net), "local T_in = d:stream(i32, {2, 3, depth = 2})")
end)

-- A recurrence; `way` is the relay of its values.
local function recurrence(way)
  local N, M, i, j, A, driver = Param "N", Const "M", Var "i", Var "j", Func("A driver", i32)
  A[-1][j] = 0
  A[i][j] = A[i - 1][j] + 1
  A:set_bounds(i, 0, N, j, 0, M)
  A:isolate_producer_chain(A, driver)
  A:unroll(i)
  return way and A:relay(A, way) or A
end

t.test("a carried value needs a way, and space its extent", function()
  t.fails(function() t2s.schedule(recurrence(), {M = 3, N = 4}) end, {code = "t2s-carried"})
  local out = i32[4][3](0)
  t2s.design(recurrence {1}, {M = 3, N = 4}) {A = out}
  t.eq(out[3][2], 4)
end)

t.test("a system of a pipeline of one axis, fed by a Func of its own", function()
  local x, w, N, M, i, j = Param("x", i32, 1), Param("w", i32, 1), Param "N", Const "M", Var "i j"
  local z = Func("z", i32)
  z[i][j] = select(j:eq(0), 0, z[i][j - 1]) + x[i + j] * w[j]
  z:set_bounds(i, 0, N, j, 0, M):unroll(j):relay(z, {1})
  local net, verdict = t2s.design(z, {M = 3})
  t.has(tostring(verdict), "proved")
  local X, W, got, want = tide.random(i32[9], 1), tide.random(i32[3], 2), i32[7][3](0), i32[7][3](0)
  net {x = X, w = W, z = got, N = 7}
  t2s.kernel(z, {M = 3}) {x = X, w = W, z = want, N = 7}
  t.ok(got:equal(want))
end)

t.done()
