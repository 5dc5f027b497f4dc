-- kernels.lua - PolyBench: the time to HLS C++, with and without schedules; its kernels at LARGE beside the
-- same by hand in C, which must compute the same bits; and how the text of a systolic array grows.
local tide = require "tide"
local b = require "bench"
local polybench = require "polybench"
local reference = require "reference"
local f32, i8, i32, grid = tide.f32, tide.i8, tide.i32, tide.grid

-- The geometric mean of a list, and its greatest.
local function mean(list)
  local sum, most = 0, 0
  for _, v in ipairs(list) do sum, most = sum + math.log(v), math.max(most, v) end
  return math.exp(sum / #list), most
end

local plain, scheduled = {}, {}
for _, name in ipairs(polybench.names) do
  local case, z = require(name), polybench.extents(name, "medium")
  plain[#plain + 1] = b.median(5, function() return #case.kernel(f32, z):build({target = "hls"}).source end)
  if case.schedule then
    scheduled[#scheduled + 1] = b.median(5, function()
      local s = tide.schedule(case.kernel(f32, z))
      case.schedule(s, z)
      return #s:build({target = "hls"}).source
    end)
  end
end
local middle, most = mean(plain)
b.row("30 kernels from Lua source to HLS C++", middle, "ms", 20, ("at most %.1f ms; Allo 800 to 1,000 ms"):format(most))
middle, most = mean(scheduled)
b.row("13 with their schedules, all steps legal", middle, "ms", 100, ("at most %.1f ms"):format(most))

-- The HLS text of an array of n x n PEs: all but the calls of its region, without numbers and line breaks;
-- and how many lines it has.
local function systolic(n)
  local gemm = tide.kernel {A = i8[n][n], B = i8[n][n], C = i32[n][n], function(A, B, C)
    for i, j in grid(n, n, "PE") do
      for k = 0, n - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
  local s = tide.schedule(gemm)
  local _, a = s:buffer_at("A", "j")
  local _, w = s:buffer_at("B", "j")
  local pe = select(2, s:unfold "PE")
  s:relay(a, pe, {axis = 1}):relay(w, pe, {axis = 0})
  local text = s:build({target = "hls", tool = false}).source
  local functions = text:gsub("TIDE_TASK.-;", ""):gsub("%d+", ""):gsub("%s+", " ")
  return functions, select(2, text:gsub("\n", ""))
end
local small, few = systolic(4)
local great, many = systolic(16)
b.row("HLS text of 16 x 16 PEs over 4 x 4, but for calls", #great / #small, "x", 1,
  small == great and "equal but for constants" or "differs")
b.row("lines of HLS for a PE more: its call", (many - few) / (16 * 16 - 4 * 4), "")

-- Milliseconds of a call of f, the first of which compiles; the least of some where it is short. And what it leaves.
local function run(f, name)
  local least
  for round = 1, 6 do
    local _, args = polybench.make(name, {size = "large"})
    local ms = b.once(function() f(table.unpack(args)) end)
    if round > 1 or ms > 1000 then least = math.min(least or ms, ms) end
    if least and (least > 100 or round == 6) then return least, args end
  end
end

local ratios = {}
for _, name in ipairs(polybench.names) do
  local m = polybench.make(name, {size = "large"}):build {target = "cpu", tier = "cc"}
  local theirs, want = run(reference.kernel(name, {size = "large"}), name)
  local ours, got = run(m, name)
  for i, v in ipairs(want) do
    assert(type(v) ~= "userdata" or got[i]:equal(v), name .. " differs from the one by hand")
  end
  ratios[#ratios + 1] = ours / theirs
  b.row(name .. " LARGE, by hand " .. ("%.1f ms"):format(theirs), ours / theirs, "x")
end
b.row("geometric mean of 30", (mean(ratios)), "x", 1.05)
reference.close()
b.done "PolyBench"
