-- [slow] npu_attention.lua - attention of tiles that cores hold, with the device's products, for 128 to 4096 tokens:
-- the steps, the build and a run of the model without data; cycles grow with the square of the tokens.
local npu = require "tide.npu"
local npu_case = require "npu_case"
local core = require "tide.npu.core"
local t = require "tap"
local tide = require "tide"
local bf16, f32 = tide.bf16, tide.f32

local function attention(z)
  local source = npu_case.attention:gsub("%$(%w+)", "%1")
  local env = setmetatable({z = z, tide = tide, task = tide.task, grid = tide.grid, T = z.T}, {__index = _G})
  return assert(load(source, "=attention", "t", env))()
end

-- The steps of N09 with products of the device.
local function schedule(z)
  local s, turns = tide.schedule(attention(z)), z.N // z.q // 4
  s:bundle("scores", {axis = 2}):bundle("values", {axis = 2})
  for _, name in ipairs {"score", "weight", "part"} do s:merge(name, {axis = 2}) end
  for _, name in ipairs {"scores", "softmax", "values", "acc"} do
    if turns > 1 then s:bundle(name, {axis = 1, factor = turns}) end
    s:bundle(name, {axis = 0})
  end
  for _, name in ipairs {"score", "weight", "part", "scale", "total"} do
    if turns > 1 then s:merge(name, {axis = 1, factor = turns}) end
    s:merge(name, {axis = 0})
  end
  for _, name in ipairs {"scores", "values"} do
    s:expand(name)
    local p = core.products(s, name)[1]
    s:inject(p.loop, npu.matmul {m = p.m, n = p.n, k = p.k, A = bf16, B = bf16, C = f32, name = "mm_" .. name},
      {reassociate = true})
  end
  s:collapse "scores:matmul":hoist("scores:A_1", "scores:j"):isolate "scores:A_1":isolate "acc:o"
  for _, name in ipairs {"scores:B_1", "values:B_1"} do
    local _, host = s:isolate(name)
    s:coalesce(host, {axis = 0})
  end
  for row, name in ipairs {"scores", "softmax", "values", "acc"} do s:place(name, {0, row + 1}, {by = {{1, 0}}}) end
  return s
end

t.test("128 tokens: the bits of the CPU", function()
  local z = {T = bf16, H = 2, N = 128, D = 16, q = 16, k = 32, causal = true}
  local A = bf16[z.H][z.N][z.D]
  npu_case.same(attention(z), {A, bf16[z.H][z.D][z.N], A, A}, {tool = false, math = "host"}, schedule(z))
end)

t.test("128 to 4096 tokens of 64 features on the model, without data", function()
  local last
  for _, N in ipairs {128, 512, 2048, 4096} do
    local z = {T = bf16, H = 2, N = N, D = 64, q = 32, k = 64, causal = false}
    local r = schedule(z):build {target = "npu", tool = false}:simulate()
    if last then
      local grown = r.cycles / last.cycles / (N / last.N) ^ 2
      t.ok(grown > (last.N < 512 and 0.5 or 0.9) and grown < 1.02, ("%d tokens: %f"):format(N, grown))
    end
    last = {N = N, cycles = r.cycles}
  end
end)

t.test("12 heads of 64 features, causal or not: at most twice as long as six", function()
  for _, causal in ipairs {false, true} do
    local function cycles(H)
      local z = {T = bf16, H = H, N = 128, D = 64, q = 32, k = 64, causal = causal}
      return schedule(z):build {target = "npu", tool = false}:simulate().cycles
    end
    local ratio = cycles(12) / cycles(6)
    t.ok(ratio > 1.7 and ratio < 2.02, ratio .. " times")
  end
end)

t.done()
