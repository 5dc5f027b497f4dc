-- The figures of simulation: a pipe of tokens, and a systolic array without and with a clock. The peer
-- needs libsystemc-dev.
local tide = require "tide"
local b = require "bench"
local systolic = require "systolic_array"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid

-- The most work a second of some calls of f, each of so much work, in millions.
local function rate(work, f)
  local best = 0
  for _ = 1, 7 do best = math.max(best, work / b.once(f) / 1e3) end
  return best
end

-- Producer, eight stages, consumer.
local function pipe(N, S)
  return tide.design(function(d)
    local z = d:stream(i32, {S + 1, depth = 16})
    d.source = task {function() for i in grid(N) do z[0]:put(i32(i)) end end}
    d.stage = task {map = {S}, function(s)
      for _ in grid(N) do z[s + 1]:put(i32(z[s]:get() + 1)) end
    end}
    d.sink = task {out = i32[1], function(out)
      local sum = i32(0)
      for _ in grid(N) do sum = i32(sum + z[S]:get()) end
      out[0] = sum
    end}
  end)
end

-- What the same does in SystemC here, in millions a second; nil without SystemC.
local function systemc(name, n)
  local out = os.tmpname()
  local source = ("tests/bench/%s_systemc.cpp"):format(name)
  local built = os.execute(("c++ -O3 %s -lsystemc -o %s 2>/dev/null"):format(source, out))
  local run = built and assert(io.popen(("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 %s %d"):format(out, n)))
  local v = run and tonumber(run:read "a":match "[%d.]+%s*$")
  if run then run:close() end
  os.remove(out)
  return v
end

-- A figure beside that of SystemC, and how often that.
local function beside(what, got, unit, target, peer, noted)
  b.row(what, got, unit, target, ("SystemC %.1f%s"):format(peer or noted, peer and " here" or ""), true)
  b.row("  times SystemC", got / (peer or noted), "", 5, "", true)
end

-- Memory that this process holds, in MB.
local function resident()
  local status = assert(io.open "/proc/self/status")
  local kb = status:read "a":match "VmRSS:%s*(%d+)"
  status:close()
  return kb / 1024
end

local N, P, K, T = 4000000, 16, 256, 200
local sum = i32[1](0)
local pipe_peer, array_peer = systemc("pipe", 1000000), systemc("systolic", 10)
local tokens = tide.schedule(pipe(N, 8)):build {target = "cpu", tier = "cc"}
tokens(sum)
beside("pipe of ten processes, depth 16", rate(N, function() tokens(sum) end), "M tokens/s", 40, pipe_peer, 7.9)
local line = tide.schedule(pipe(N, 8))
for s = 0, 7 do line:chain("source", ("stage[%d]"):format(s)) end
line:chain("source", "sink")
local chained = line:build {target = "cpu", tier = "cc"}
chained(sum)
b.row("  chained into one task", rate(N, function() chained(sum) end), "M tokens/s", 400, "", true)

local A, B, C = tide.random(i8[P][K], 1), tide.random(i8[K][P], 2), i32[P][P](0)
local s = tide.schedule(systolic(P, K, T)):pipeline("pe:k")
local plain = s:build {target = "cpu", tier = "cc"}
local timed = s:build {target = "cpu", tier = "cc", timed = true}
plain(A, B, C)
timed(A, B, C)
assert(C:equal(tide.matmul(A, B)))
local work = P * P * K * T
beside("systolic 16 x 16, K = 256, depth 4", rate(work, function() plain(A, B, C) end), "M MAC/s", 200, array_peer, 26)
b.row("  with a clock", rate(work, function() timed(A, B, C) end), "M MAC/s", 150, "", true)
b.row("  of it, multipliers busy", timed.report.utilisation * 100, "%")

local small = io.open("tests/bench/array.lua"):read "a"
b.row("from source to result, in process", b.median(5, function() load(small)()("tcc", K) end), "ms", 15)
b.row("the same with the system's compiler", b.fresh(5, 'dofile "tests/bench/array.lua"("cc", 256)'), "ms", 100,
  ("the compiler on an empty file %.0f ms"):format(b.compiler()))

local function elaborated(what, target, make)
  collectgarbage()
  local before, d = resident(), nil
  local ms = b.once(function()
    d = make()
    assert(tide.schedule(d):graph().nodes > 0)
  end)
  b.row(what, ms / 1000, "s", target, ("%.0f MB"):format(resident() - before))
end
for _, n in ipairs {16, 32, 64} do
  elaborated(("grid of %d x %d, checked, its graph"):format(n, n), n == 64 and 5 or nil, function()
    return systolic(n, K, 1)
  end)
end

-- The graph of a product of n^3 in blocks of 128.
local function blocks(n)
  local E = n // 128
  return tide.design(function(d)
    local part = d:stream(i32[128][128], {E, E, E})
    d.mm = task {map = {E, E, E}, A = i8[n][n]:layout "S0S2", B = i8[n][n]:layout "S2S1", function(A, B, i, j, k)
      part[i][j][k]:put(tide.matmul(A, B))
    end}
    d.sum = task {map = {E, E}, C = i32[n][n]:layout "S0S1", function(C, i, j)
      local s = i32[128][128](0)
      for k in grid(E) do s:set(s + part[i][j][k]:get()) end
      C:set(s)
    end}
  end)
end
for _, n in ipairs {1024, 2048} do
  elaborated(("product of %d^3 in blocks, checked, its graph"):format(n), n == 2048 and 5 or nil, function()
    return blocks(n)
  end)
end
b.done "simulation"
