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
-- Traces in a folder, as the figures read them: routing of a layer, cached lengths of nine lists of requests.
local function traces(dir)
  local function write(name, columns, rows)
    local file = assert(io.open(("%s/%s.csv"):format(dir, name), "w"))
    file:write("name")
    for _, c in ipairs(columns) do file:write(",", c) end
    for i, row in ipairs(rows) do file:write("\n", i, ",", table.concat(row, ",")) end
    file:write "\n"
    file:close()
  end
  local function names(word, n)
    local list = {}
    for i = 1, n do list[i] = word .. i - 1 end
    return list
  end
  for _, B in ipairs { 64, 1024 } do
    write("expert_routing_mixtral_b" .. B, names("slot", 2), routing(B, 8, 2))
    write("expert_routing_qwen_b" .. B, names("slot", 8), routing(B, 128, 8))
  end
  local lists = {}
  for i = 1, 9 do
    lists[i] = {}
    for k = 1, 64 do lists[i][k] = math.random(200, 2000) end
  end
  write("kv_len_b64", names("len", 64), lists)
end

-- All figures by their example: seconds of the processor.
local function figures()
  local dir, total = os.tmpname() .. ".d", 0
  os.execute("mkdir " .. dir)
  traces(dir)
  for _, which in ipairs { "8", "9 model=mixtral", "9 model=qwen", "10 model=mixtral batch=1024",
    "10 model=qwen batch=1024", "12 model=qwen", "13 model=qwen", "14", "15", "17 model=mixtral", "17 model=qwen",
    "21" } do
    local run = ("%s examples/step_figures.lua %s data=%s >/dev/null"):format(arg[-1], which, dir)
    local pipe = io.popen(("bash -c 'TIMEFORMAT=%%U; time %s' 2>&1"):format(run))
    total = total + assert(tonumber(pipe:read "a"), which)
    pipe:close()
  end
  os.execute("rm -r " .. dir)
  return total
end

b.row("all figures, on drawn traces", figures(), "s", 60)
b.done "graphs of STeP"
