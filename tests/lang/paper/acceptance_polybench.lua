-- [slow] acceptance_polybench.lua - case A40 of what users of Allo would try: kernels of PolyBench at their MINI
-- sizes with the schedules of Allo's artifact, proved, and run beside the plain kernel.
local t = require "tap"
local polybench = require "polybench"
local shell = require "shell"
local tide = require "tide"
local f32 = tide.f32

-- A test of one kernel at these sizes.
local function case(name, size, schedule)
  t.test("A40: " .. name, function()
    local k, args = polybench.make(name, {size = size, type = f32})
    local s = tide.schedule(k)
    schedule(s)
    local level, verdict = s:verify()
    t.eq(level, "strict", tostring(verdict))
    local want = {}
    for i, v in ipairs(args) do want[i] = type(v) == "userdata" and v:copy() or v end
    k(table.unpack(want))
    s(table.unpack(args))
    for i, v in ipairs(want) do
      if type(v) == "userdata" then t.ok(args[i]:equal(v), "argument " .. i) end
    end
  end)
end

case("gemm", {M = 20, N = 25, K = 30}, function(s)
  local _, C = s:buffer_at("C", "i")
  s:pipeline("j#1"):pipeline("j#2"):partition(C, 0, {factor = 5}):unroll("j#2", 5)
  s:partition("B", 1, {factor = 5})
end)
case("2mm", {I = 16, J = 18, K = 22, L = 24}, function(s)
  for n, array in ipairs {"tmp", "D"} do
    s:reorder("k#" .. n, "j#" .. n)
    local _, buffer = s:buffer_at(array, "i#" .. n)
    s:pipeline("j#" .. n)
    s:partition(buffer)
  end
end)
case("atax", {M = 38, N = 42}, function(s)
  s:split("j#1", 6):pipeline("j#2"):unroll("j#2", 6)
  local _, y = s:buffer_at("y", "i#2")
  s:partition(y, 0, {factor = 6}):partition("A", 1, {factor = 6})
end)
case("bicg", {M = 38, N = 42}, function(s)
  local _, q = s:buffer_at("q", "i#2")
  for _, j in ipairs {"j#1", "j#2"} do s:pipeline(j):unroll(j, 2) end
  s:partition("s", 0, {factor = 2})
  t.eq(q, "q_i")
end)
case("jacobi-2d", {S = 4, N = 30}, function(s)
  for n, array in ipairs {"A", "B"} do
    local _, lines = s:reuse_at(array, "i#" .. n)
    local _, window = s:reuse_at(lines, "j#" .. n)
    s:partition(lines, 0):partition(window):pipeline("j#" .. n)
  end
  local _, loops = tostring(s:estimate()):gsub("\n +j#?%d? +28 +1 ", "")
  t.eq(loops, 2, "both start an iteration in each cycle")
end)
case("symm", {M = 20, N = 30}, function(s)
  s:buffer_at("A", "i")
  s:pipeline("k"):unroll("k", 2)
end)

for _, how in ipairs {"small", "small clock", "medium"} do
  t.test("thirteen schedules beside Allo's at " .. how, function()
    local out = shell.output(shell.quote(shell.program) .. " examples/polybench/table.lua " .. how)
    t.has(out, "13 of 13: no more cycles and no more DSP")
  end)
end

t.done()
