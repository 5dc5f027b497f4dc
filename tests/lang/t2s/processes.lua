-- processes.lua - T2S Funcs that call kernels with ports: merge trees under other names and sizes, counted, run, timed
-- and as HLS C++, leaf depths; chains of another kernel; mappings that are refused, each beside its accepted twin.
-- [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local studies = require "t2s_studies"
local i32, stream = tide.i32, tide.stream
local Param, Var, Func = t2s.Param, t2s.Var, t2s.Func

local tree, sorted_rows = studies.tree, studies.sorted_rows

-- Runs a tree and states that its result is sorted and what the definition gives.
local function check(o, L, S)
  local out, q = tree(o)
  local net, verdict = t2s.design(out, {L = L, S = S})
  t.has(tostring(verdict), "proved: strict")
  local rows = sorted_rows(1 << L, S, L)
  local got, want = i32[(1 << L) * S](0), i32[(1 << L) * S](0)
  net {[q .. "input"] = rows, [q .. "out"] = got}
  t2s.kernel(out, {L = L, S = S}) {[q .. "input"] = rows, [q .. "out"] = want}
  t.ok(got:equal(want))
  for k = 1, (1 << L) * S - 1 do t.ok(got[k - 1] <= got[k]) end
  return net, rows, want
end

t.test("merge sort: proved for drawn streams, counted, timed, as HLS C++", function()
  local net, rows, want = check({}, 3, 4)
  local r = t2s.report(net)
  t.eq(r.channels, 8 + 6 + 1)
  t.eq({r.pes.out_pe, r.pes.out_pe_1, r.pes.out_pe_2}, {4, 2, 1})
  for _, target in ipairs {{target = "hls"}, {target = "cpu", timed = true}} do
    local got = i32[32](0)
    net:at {input_tokens = 4}:build(target)(rows, got)
    t.ok(got:equal(want), target.target)
  end
end)

t.test("other names, numbers of streams, tokens", function()
  check({prefix = "a"}, 2, 5)
  check({prefix = "bc", turns = true}, 4, 2)
  check({relay = false}, 2, 3)
end)

t.test("a tree of one PE: the line that reads the tree's own rows makes none", function()
  for _, o in ipairs {{}, {prefix = "d", turns = true}, {relay = false}} do
    local net = check(o, 1, 5)
    t.eq(t2s.report(net).channels, 2 + 0 + 1)
  end
end)

t.test("least leaf depth: a stream but one token, with one loader", function()
  for _, S in ipairs {3, 5} do
    local out = tree {shallow = true}
    local net = t2s.design(out, {L = 3, S = S}, {check = false}):at {input_tokens = S}
    local most = 0
    local disjoint = i32[8][S](0)
    for s = 0, 7 do for k = 0, S - 1 do disjoint[s][k] = k * 8 + s end end
    for name, depth in pairs(net:depths(disjoint, i32[8 * S](0))) do
      if name:find "^input" then most = math.max(most, depth) else t.eq(depth, 1, name) end
    end
    t.eq(most, S - 1)
  end
end)

local function refused(name, code, o)
  t.test(name, function()
    local e = t.fails(function() t2s.schedule((tree(o)), {L = 3, S = 4}) end, {code = code})
    t.ok(e.line and e.line > 0)
  end)
end

t.test("a loader for each stream, one for all in turn, or stream by stream", function()
  local cycles = {}
  for n, o in ipairs {{}, {turns = true}, {each = function(_, m) return m end}} do
    local net, rows = check(o, 3, 32)
    t.eq(t2s.report(net).pes.loader, o.each and 8 or 1)
    local m = net:at {input_tokens = 32}:build {target = "cpu", timed = true}
    m(rows, i32[256](0))
    cycles[n] = m.report.cycles
  end
  t.ok(cycles[1] > cycles[2] and cycles[2] > cycles[3], table.concat(cycles, " "))
  t.ok(256 / cycles[3] > 0.95, tostring(cycles[3]))
  check({each = function(l, m) return l, m end, prefix = "e"}, 2, 5)
end)

refused("loaders for each stream that take turns", "t2s-unroll", {turns = true, each = function(_, m) return m end})
refused("loaders along a loop that does not tell which stream", "t2s-unroll", {each = function(l) return l end})

refused("a relay to another element than reads the row", "t2s-relay", {
  relay = function(m) return {1, m // 2 - m + 1} end})
refused("a relay with too few numbers", "t2s-relay", {relay = function() return {1} end})
refused("a Func's own rows along a loop that is no space", "t2s-kernel", {relay = false,
  space = function(_, m) return {m} end})

t.test("a kernel on each row: rows of any number, a Func that is no tree", function()
  local twice = tide.kernel {name = "twice", p = stream(i32), o = stream(i32), function(p, o)
    for _ = 0, 3 do o:put(p:get() * 2) end
  end}
  local N, input, out, m = Param "N", Param("input", stream(i32), 1), Func("out", stream(i32)), Var "m"
  out[m] = twice(input[m])
  out:set_bounds(m, 0, N)
  local net, verdict = t2s.design(out)
  t.has(tostring(verdict), "proved: strict")
  local rows, got = tide.random(i32[5][4], 1), i32[5][4](0)
  net {input = rows, out = got}
  for r = 0, 4 do for k = 0, 3 do t.eq(got[r][k], i32(rows[r][k] * 2)) end end
end)

t.done()
