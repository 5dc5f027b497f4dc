-- npu_lines.lua - how many lines programs for NPUs are: few, and they run.
local lines = require "code_lines"
local t = require "tap"
local tide = require "tide"
local bf16, f32 = tide.bf16, tide.f32

t.test("a product: 8 lines, searched for", function() t.ok(#lines.gemm <= 8, #lines.gemm .. " lines") end)
t.test("a feed-forward layer: 14 lines", function() t.ok(#lines.ffn <= 14, #lines.ffn .. " lines") end)

t.test("attention: 44 lines, which give the bits of the CPU", function()
  t.ok(#lines.attention <= 44, #lines.attention .. " lines")
  local z = {tide = tide, task = tide.task, grid = tide.grid, bf16 = bf16, f32 = f32, N = 32, H = 2, D = 8, q = 8,
    k = 8, P = 4, J = 4, by = 0.25}
  local text = table.concat(lines.attention, "\n") .. "\nreturn attention, s"
  local attention, s = assert(load(text, "=attention", "t", setmetatable(z, {__index = _G})))()
  local function fresh()
    return tide.random(bf16[2][32][8], 1), tide.random(bf16[2][8][32], 2), tide.random(bf16[2][32][8], 3),
      bf16[2][32][8](0)
  end
  local Q, K, V, want = fresh()
  attention(Q, K, V, want)
  local O = bf16[2][32][8](0)
  s:build {target = "npu", tool = false, math = "host"}(Q, K, V, O)
  t.ok(O:equal(want), "other bits")
end)

t.done()
