-- step.lua - graphs of STeP on one core: to build and rewrite a layer of 128 experts, to prove a step, to simulate the
-- layers of Mixtral and Qwen. Routing is drawn, as the artifact's traces are no part of the tree.
local tide = require "tide"
local models = require "tide.step.models"
local b = require "bench"

-- k of E experts for each of n tokens.
local function routing(n, E, k)
  math.randomseed(5)
  local list = {}
  for i = 1, n do
    local seen = {}
    list[i] = {}
    while #list[i] < k do
      local e = math.random(0, E - 1)
      if not seen[e] then
        seen[e] = true
        table.insert(list[i], e)
      end
    end
  end
  return list
end

local function qwen(B, N)
  return models.moe({ B = B, D = 2048, F = 768, E = 128, k = 8, tf = 64, N = N, bw = 4096 }, routing(B, 128, 8))
end

local function mixtral(B, N)
  return models.moe({ B = B, D = 4096, F = 14336, E = 8, k = 2, tf = 64, N = N, bw = 4096 }, routing(B, 8, 2))
end

-- The most that this process held so far, in MB.
local function peak()
  for line in io.lines "/proc/self/status" do
    local kb = line:match "^VmHWM:%s+(%d+)"
    if kb then return tonumber(kb) / 1024 end
  end
end

local function simulate(what, g, settings)
  b.row("simulate: " .. what, b.once(function() g:simulate(settings) end), "ms")
end

simulate("Mixtral b64, tiles of 16", mixtral(64, 16), models.settings.fig9)
b.row("most memory of that", peak(), "MB", 64)
simulate("Qwen b64, tiles of 8", qwen(64, 8), models.settings.fig10)
simulate("Qwen b64, dynamic", qwen(64), models.settings.fig10)

local g
b.row("Qwen's layer of 128 experts, built", b.median(5, function() g = qwen(64, 8) end), "ms", 50)
b.row("a step on it: bw of a family", b.median(5, function() tide.schedule(g):bw("a", 2048) end), "ms", 100)
local s = tide.schedule(g)
b.row("retile of its 128 experts to dynamic tiles", b.once(function()
  s:retile("tile", "dynamic", { reassociate = true })
end), "ms")
b.row("verify of that", b.once(function() assert(s:verify()) end), "ms", 2000)
b.done "graphs of STeP"
