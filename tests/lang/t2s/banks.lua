-- [slow]
-- banks.lua - T2S Funcs that data indexes, in PEs with a bank each, and externs that feed PEs: proved, run, timed, as
-- HLS C++, counted; mappings that are refused, each beside an accepted twin.
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, f32, stream = tide.i32, tide.f32, tide.stream
local Param, Const, Var, Func = t2s.Param, t2s.Const, t2s.Var, t2s.Func

-- Lanes that add to the elements that `at` tells: element 4 of 4 is the lane's own, or what `o.index` says.
local function histogram(o)
  local w, at = Param("w", o.type or f32, 2), Param("at", i32, 2)
  local N, E, P, Q = Param "N", Param "E", Const "P Q"
  local n, p, pp, e = Var "n p pp e"
  local h = Func("h", o.type or f32)
  local first = o.first or 0
  h[e] = first
  local index = (o.index or function(a, lane, lanes) return i32(a * lanes + lane) end)(at[n][p], p, P)
  h[index] = h[index] + w[n][p]
  if o.last then h[e] = h[e] * 2 + e end
  h:set_bounds(e, 0, E, n, 0, N, p, 0, P)
  h:tile(p, pp, Q):unroll(pp)
  if o.buffer ~= false then h:buffer(h) end
  return h
end

t.test("sums that data chooses: a bank for each PE", function()
  for _, c in ipairs {{P = 4, Q = 2}, {P = 4, Q = 4}, {P = 6, Q = 3}, {P = 3, Q = 1}} do
    local h = histogram {first = 5, last = true}
    local net, verdict = t2s.design(h, c)
    t.has(tostring(verdict), "proved: strict")
    t.eq(t2s.report(net).pes, {h_pe = c.Q, h_store = 1})
    local w, at = tide.random(f32[9][c.P], 1), tide.random(i32[9][c.P], 2, {lo = 0, hi = 5})
    local got, want = f32[5 * c.P + 2](0), f32[5 * c.P + 2](0)
    net {w = w, at = at, h = got}
    t2s.kernel(h, c) {w = w, at = at, h = want}
    t.ok(got:equal(want))
    for _, target in ipairs {{target = "hls"}, {target = "cpu", timed = true}} do
      got = f32[5 * c.P + 2](0)
      net:at {N = 9, E = 5 * c.P + 2}:build(target)(w, at, got)
      t.ok(got:equal(want), target.target)
    end
  end
end)

t.test("elements that two PEs write, PEs without banks", function()
  local shared = function(a) return a end
  t.fails(function() t2s.design(histogram {index = shared}, {P = 4, Q = 2}) end, {code = "t2s-bank", kind = "illegal"})
  t.ok(t2s.design(histogram {index = shared}, {P = 4, Q = 1}))
  t.fails(function() t2s.design(histogram {buffer = false}, {P = 4, Q = 2}) end, {code = "t2s-bank", kind = "illegal"})
  t.fails(function() t2s.design(histogram {}, {P = 4, Q = 3}) end, {code = "t2s-bank"})
end)

t.test("an element that two PEs write, for numbers that were not tried: the run faults, nothing is stored in silence",
  function()
    local h = histogram {index = function(a, lane, lanes)
      return i32(a * lanes + tide.select(a:gt(1000), 0, lane))
    end}
    local net, verdict = t2s.design(h, {P = 4, Q = 2})
    t.has(tostring(verdict), "proved: strict")
    for seed = 1, 8 do
      local at = tide.random(i32[5][4], seed, {lo = 0, hi = 9})
      local args = {w = tide.random(f32[5][4], 1), at = at, h = f32[5000](0)}
      at[seed % 5][seed % 4] = 1002
      net(args) -- one lane has it alone
      local want = f32[5000](0)
      t2s.kernel(h, {P = 4, Q = 2}) {w = args.w, at = at, h = want}
      t.ok(args.h:equal(want))
      at[(seed + 2) % 5][(seed + 2) % 4] = 1002
      net(args) -- two lanes of the same bank
      at[(seed + 1) % 5][(seed + 1) % 4] = 1002
      local e = t.fails(function() net(args) end, {code = "index-out-of-range"})
      t.has(tostring(e), "h_in_one_bank")
      t.fails(function() net:at {N = 5, E = 5000}:build {target = "cpu", timed = true}(args.w, at, args.h) end,
        {code = "index-out-of-range"})
    end
  end)

-- A Func on lanes whose operands a kernel loads; `o` changes parts of it.
local function loaded(o)
  local A, B = Param("A", f32, 2), Param("B", o.type or i32, 2)
  local N, P = Param "N", Const "P"
  local n, p = Var "n p"
  local kernel = o.kernel or tide.kernel {b = i32[N][P], a = f32[N][P], tb = stream(i32)[P], ta = stream(f32)[P],
    function(b, a, tb, ta)
      for c = 0, N - 1 do
        for s = 0, P - 1 do
          tb[s]:put(b[c][s])
          ta[s]:put(a[c][s])
        end
      end
    end}
  local y, load = Func("y", f32), Func "load"
  local more = o.more and A[n][0] or 0
  y[n][p] = A[n][p] * B[n][p] + more
  y:set_bounds(n, 0, N, p, 0, P)
  if o.swap then y:isolate_producer_chain(A, load):isolate_producer_chain(B, load)
  else y:isolate_producer_chain(B, load):isolate_producer_chain(A, load) end
  if o.one ~= true then y:unroll(p) end
  if o.depth then load:set_min_depth(A, y, o.depth) end
  load:define_extern(kernel)
  return y
end

t.test("an extern that loads two operands", function()
  local y = loaded {depth = 7}
  local net, verdict = t2s.design(y, {P = 3})
  t.has(tostring(verdict), "proved: strict")
  t.has(tostring(net), "depth = 7")
  t.eq(t2s.report(net).channels, 6)
  local A, B, got, want = tide.random(f32[8][3], 1), tide.random(i32[8][3], 2, {lo = -9, hi = 9}), f32[8][3](0),
    f32[8][3](0)
  t2s.kernel(y, {P = 3}) {A = A, B = B, y = want}
  for _, target in ipairs {{target = "cpu"}, {target = "cpu", timed = true}, {target = "hls"}} do
    got = f32[8][3](0)
    net:at {N = 8}:build(target)(A, B, got)
    t.ok(got:equal(want), target.target)
  end
end)

local function refused(name, o, consts)
  t.test(name, function()
    local e = t.fails(function() t2s.design(loaded(o), consts or {P = 3}) end, {code = "t2s-extern"})
    t.ok(e.line and e.line > 0)
  end)
end

refused("operands in another order than the parameters", {swap = true})
refused("an operand that is read in two places", {more = true})
refused("two loops in time", {one = true})
refused("no kernel", {kernel = 3})
refused("a stream too few", {kernel = tide.kernel {a = f32[3][3], b = i32[3][3], ta = stream(f32)[3],
  function(a, b, ta)
    for c = 0, 2 do
      for s = 0, 2 do ta[s]:put(a[c][s] * b[c][s]) end
    end
  end}})

t.test("an extern that sends another order than is read is refused, its values compared", function()
  local P, N = Const "P", Param "N"
  local wrong = tide.kernel {b = i32[N][P], a = f32[N][P], tb = stream(i32)[P], ta = stream(f32)[P],
    function(b, a, tb, ta)
      for c = 0, N - 1 do
        for s = 0, P - 1 do
          tb[s]:put(b[N - 1 - c][s])
          ta[s]:put(a[c][s])
        end
      end
    end}
  t.fails(function() t2s.design(loaded {kernel = wrong}, {P = 3}) end, {code = "t2s-design", kind = "illegal"})
end)

t.done()
