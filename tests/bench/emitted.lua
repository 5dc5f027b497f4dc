-- The C that Tide emits, compiled, against the same loops written by hand: gcc -O3 -march=native
-- -ffp-contract=off. A ratio under 1 is faster than by hand.
local b = require "bench"
local polybench = require "polybench"
local reference = require "reference"

-- Whether `run` got the program m to where it stays: compiled by the system's compiler.
local function settle(m, run)
  for _ = 1, 1000 do
    run(m)
    if m.report.tier == "cc" then return true end
  end
  return false
end

local log, count = 0, 0
for _, name in ipairs {"gemm", "2mm", "atax", "jacobi-2d", "cholesky", "correlation"} do
  local k, args = polybench.make(name, {size = "medium"})
  local f = reference.kernel(name, {size = "medium"})
  local function run(g)
    local own = {}
    for i, v in ipairs(args) do own[i] = type(v) == "userdata" and v:copy() or v end
    return b.once(function() g(table.unpack(own)) end), own
  end
  local m = k:build {target = "cpu"}
  assert(settle(m, run), name .. " stays in memory")
  local _, x = run(m)
  local _, y = run(f)
  for i, v in ipairs(x) do
    assert(type(v) ~= "userdata" or v:allclose(y[i]), name .. " differs from the one by hand")
  end
  local ours, theirs = {}, {}
  for i = 1, 9 do
    ours[i] = run(m)
    theirs[i] = run(f)
  end
  local ratio = b.spread(ours) / b.spread(theirs)
  log, count = log + math.log(ratio), count + 1
  b.row(("%s (by hand %.2f ms)"):format(name, (b.spread(theirs))), ratio, "", 1.2)
end
b.row("geometric mean", math.exp(log / count), "", 1.05)
reference.close()
b.done "emitted C, ratio of times"
