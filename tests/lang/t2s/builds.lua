-- builds.lua - the five studies of the T2S paper built for hardware: HLS C++ and Verilog give the bits of the
-- definition in their simulators, Verilog in the cycles of the run with a clock; what Verilog refuses says so. [slow]
local case = require "verilog_case"
local studies = require "t2s_studies"
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local f32, i32 = tide.f32, tide.i32

if not case.has "verilator" and not case.has "iverilog" then t.skip_all "no simulator of Verilog is here" end

local small = {lo = -8, hi = 8}

-- Runs builds of a design of F: as HLS C++ and as Verilog, with the options `verilog` of it, or, where that is a text,
-- refused with this code. args are those of the definition by name, the result under `result`.
local function built(F, consts, args, result, verilog)
  local net = t2s.design(F, consts, {rewind = false, check = false})
  local sizes, list, want, zero = {}, {}, args[result]:copy(), args[result]:copy()
  for name, x in pairs(args) do
    if math.type(x) then sizes[name] = x end
  end
  if next(sizes) then net = net:at(sizes) end
  for n, p in ipairs(net.params) do list[n] = args[p.name] end
  local given = {}
  for name, x in pairs(args) do given[name] = name == result and want or x end
  t2s.kernel(F, consts)(given)
  for _, target in ipairs {"hls", "verilog"} do
    local got = zero:copy()
    list[#list] = got
    local options = {target = target}
    for name, x in pairs(target == "verilog" and type(verilog) == "table" and verilog or {}) do options[name] = x end
    local function run() net:build(options)(table.unpack(list)) end
    if target == "verilog" and type(verilog) == "string" then
      t.fails(run, {code = verilog})
    else
      run()
      t.ok(got:equal(want), target)
    end
  end
end

t.test("Smith-Waterman, fed back through its driver", function()
  for n, z in ipairs {{8, 8, 4, 4}, {12, 16, 2, 4}, {9, 6, 3, 2}} do
    local A, q = studies.align {prefix = ("q"):rep(n)}
    local I, J = z[1], z[2]
    built(A, {II = z[3], JJ = z[4], MAX_J = 64}, {I = I, J = J, [q .. "T"] = tide.random(i32[I], 1, {lo = 0, hi = 4}),
      [q .. "S"] = tide.random(i32[J], 2, {lo = 0, hi = 4}), [q .. "A"] = i32[1](0)}, q .. "A", {})
  end
end)

t.test("SGEMM with stages on the host; Verilog of its lanes is refused", function()
  for n, c in ipairs {{II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2}, {II = 6, JJ = 4, KK = 4, III = 2, JJJ = 2,
    KKK = 2}} do
    for _, lanes in ipairs {false, true} do
      local C, q = studies.sgemm {prefix = (lanes and "p" or "q"):rep(n), lanes = lanes}
      local I, J, K = 2 * c.II, 2 * c.JJ, 2 * c.KK
      built(C, c, {I = I, J = J, K = K, [q .. "A"] = tide.random(f32[I][K], 1),
        [q .. "B"] = tide.random(f32[K][J], 2), [q .. "C"] = f32[I][J](0)}, q .. "C",
        lanes and "not-built" or {})
    end
  end
end)

t.test("convolution and ReLU, with its output buffer", function()
  for n, c in ipairs {{S = 1, Tof = 4, Toy = 4, Pof = 2, Poy = 2, Pox = 2}, {S = 2, Tof = 6, Toy = 2, Pof = 3, Poy = 2,
    Pox = 1}} do
    local z = {Nof = 2 * c.Tof, Noy = c.Toy, Nox = 2 * c.Pox, Nif = 2, Nky = 2, Nkx = 3}
    local relu, q = studies.convolution {prefix = ("q"):rep(n), kept = function(v) return v.y end}
    local rows, columns = (z.Noy - 1) * c.S + z.Nky, (z.Nox - 1) * c.S + z.Nkx
    local args = {[q .. "input"] = tide.random(i32[z.Nif][rows][columns], 1, small),
      [q .. "weight"] = tide.random(i32[z.Nof][z.Nif][z.Nky][z.Nkx], 2, small),
      [q .. "bias"] = tide.random(i32[z.Nof], 3, small), [q .. "relu"] = i32[z.Nof][z.Noy][z.Nox](0)}
    for k, v in pairs(z) do args[k] = v end
    built(relu, c, args, q .. "relu", {})
  end
end)

t.test("SpMV: HLS; Verilog of the process that numbers rows is refused", function()
  for n, c in ipairs {{LANES = 4, BANKS = 2}, {LANES = 3, BANKS = 3}} do
    local sum, q = studies.spmv {prefix = ("q"):rep(n)}
    local args = studies.rows(q, 9, c.LANES, 5, 7, n)
    args[q .. "x_0"] = 7
    built(sum, c, args, q .. "sum", "not-built")
  end
end)

t.test("merge sort", function()
  for n, z in ipairs {{3, 4}, {2, 5}, {4, 2}} do
    local L, S = z[1], z[2]
    local out, q = studies.tree {prefix = ("q"):rep(n)}
    built(out, {L = L, S = S}, {[q .. "input_tokens"] = S, [q .. "input"] = studies.sorted_rows(1 << L, S, n),
      [q .. "out"] = i32[S << L](0)}, q .. "out", {})
  end
end)

t.done()
