-- step_figures: the figures of STeP (ASPLOS 2026) as tables, CSV: parameters, then cycles, traffic, memory of all
-- operators and of those that held an element, bytes moved, FLOPs per cycle allocated, utilisation.
-- Run: tide examples/step_figures.lua [8 | 9 | 10 | 12 | 13 | 14 | 15 | 17 | 21] [model=mixtral|qwen] [batch=n]
--        [tile=n] [data=dir] [jobs=n] [file=x.db] [memory=queue|banks|slots] [physical=n]
-- physical=16: every node of Fig. 8 on tiles of 16 x 16 (tile_all), as the HDL has them.
-- All but Fig. 8 read traces from data=dir: expert_routing_<model>_b<batch>, kv_len_b<batch>, .csv or .npy. Fig. 17 is
-- a layer of attention and one of experts, one after the other, on the first trace; the paper publishes no graph of it.
local tide = require "tide"
local models = require "tide.step.models"
local explore = require "tide.explore"

local figure, option = tonumber(arg[1] or 8), { model = "mixtral", batch = "64", data = "." }
for i = 2, #arg do
  local key, value = arg[i]:match "^(%w+)=(.*)$"
  if not key then error("options are key=value, not " .. arg[i], 0) end
  option[key] = value
end

-- The rows of a trace, .csv or .npy, and their names.
local function trace(name, prefix)
  local path = option.data .. "/" .. name
  local file = io.open(path .. ".csv")
  if file then file:close() end
  return models.trace(path .. (file and ".csv" or ".npy"), prefix)
end

local columns = { "cycles", "traffic", "memory", "memory_live", "moved", "allocated", "utilisation" }
local names, points = {}, {}
local function head(...) names = { ... } end

-- A row: its parameters, and what is simulated.
local function row(measure, ...) points[#points + 1] = { measure = measure, ... } end

-- A run, its traffic counted as the artifact does: stores have the bytes of their type.
local function simulate(g, settings)
  if option.memory then
    local own = { model = option.memory, channels = (settings.memory or {}).channels }
    if option.memory == "slots" then own = { model = "slots", latency = 16 } end
    local with = { memory = own }
    for k, v in pairs(settings) do with[k] = with[k] or v end
    settings = with
  end
  local r, out = g:simulate(settings), {}
  for _, k in ipairs(columns) do out[k] = r[k] end
  out.flops = r.flops
  local traffic = g:traffic { as = "artifact", bytes = settings.bytes }
  out.traffic = math.type(traffic) and traffic or traffic:at(r.symbols)
  return out
end

-- Simulates all rows, and prints them.
local function print_rows()
  local over = {}
  for i in ipairs(points) do over[i] = i end
  local rows = explore.sweep { over = { row = over }, keep = columns, jobs = tonumber(option.jobs or 1),
    file = option.file, program = table.concat(arg, " "), run = function(p) return points[p.row].measure() end }
  print(table.concat(names, ",") .. "," .. table.concat(columns, ","))
  for i, r in ipairs(rows) do
    if r.error then error(r.error, 0) end
    local line = table.move(points[i], 1, #points[i], 1, {})
    for _, name in ipairs(columns) do
      local v = r[name]
      line[#line + 1] = name == "utilisation" and ("%.6f"):format(v) or tostring(v)
    end
    for k, v in ipairs(line) do line[k] = tostring(v) end
    print(table.concat(line, ","))
  end
end

-- Dimensions of the models, tile of F and the tiles of tokens that the figures try.
local dims = {
  mixtral = { D = 4096, F = 14336, E = 8, k = 2 },
  qwen = { D = 2048, F = 768, E = 128, k = 8 },
}

local function swiglu()
  head("tile_m", "tile_n")
  for _, tm in ipairs { 16, 32, 64 } do
    for _, tn in ipairs { 16, 32, 64, 128, 256 } do
      row(function()
        local g = models.swiglu { B = 64, D = 256, F = 512, tm = tm, tn = tn, bw = 4096 }
        local n = tonumber(option.physical)
        if n then g = tide.schedule(g):tile_all({ n, n }):graph() end
        return simulate(g, models.settings.fig8)
      end, tm, tn)
    end
  end
end

-- The dimensions that the options name, and the routing of their trace.
local function layer(tf, bw)
  local d = dims[option.model] or error("model=mixtral or model=qwen", 0)
  local B = tonumber(option.batch)
  local routing = trace(("expert_routing_%s_b%d"):format(option.model, B), "slot")
  return { B = B, D = d.D, F = d.F, E = d.E, k = d.k, tf = tf, bw = bw }, routing
end

-- The settings of a layer with some of them others.
local function with(c, changes)
  local own = {}
  for k, v in pairs(c) do own[k] = v end
  for k, v in pairs(changes) do own[k] = v end
  return own
end

local function tiling(settings)
  local c, routing = layer(64)
  head("model", "batch", "tile")
  local tiles, n = {}, c.B == 64 and 8 or 16
  while n <= c.B do tiles[#tiles + 1] = n n = 2 * n end
  tiles[#tiles + 1] = false
  if option.tile then tiles = { tonumber(option.tile) or false } end
  for _, N in ipairs(tiles) do
    local own = with(c, { N = N or nil, bw = N and 4096 or 6400 })
    row(function() return simulate(models.moe(own, routing), settings) end, option.model, c.B, N or "dynamic")
  end
end

local function multiplexing()
  local c, routing = layer(48, 1024)
  head("model", "batch", "tile", "regions")
  for _, N in ipairs(option.tile and { tonumber(option.tile) or false } or { 32, false }) do
    local P = c.E
    while P >= 4 do
      local own = with(c, { N = N or nil, P = P })
      row(function() return simulate(models.moe(own, routing), models.settings.fig12) end, option.model, c.B,
        N or "dynamic", P)
      P = P // 2
    end
  end
end

-- The cached lengths of the requests of each trace.
local function traces_of()
  local lists, names = trace("kv_len_b" .. option.batch, "len")
  for i, lens in ipairs(lists) do lists[i] = { name = names and names[i] or i, lens = lens } end
  return lists
end

local function attend(lens, by)
  local c = { H = 8, D = 64, R = 32, P = 4, by = by, bw = 2048 }
  return simulate(models.attention(c, lens), models.settings.fig14)
end

local function attention(lengths)
  head("trace", "requests", "dispatch")
  for _, trace in ipairs(traces_of()) do
    for _, n in ipairs(lengths or { #trace.lens }) do
      for _, by in ipairs { "block", "turn", "free" } do
        if n <= #trace.lens then
          row(function() return attend(table.move(trace.lens, 1, n, 1, {}), by) end, trace.name, n, by)
        end
      end
    end
  end
end

-- Tiles that have the memory, and the speed, of dynamic ones; regions of the dynamic layer.
local matched = { mixtral = { memory = 16, speed = 32, regions = 8 }, qwen = { memory = 8, speed = 64, regions = 16 } }

local function end_to_end()
  local m = matched[option.model]
  local c, routing = layer(option.model == "qwen" and 48 or 64)
  local trace = traces_of()[1]
  head("model", "variant")
  local variants = { { "static_mem_matched", m.memory, "turn" }, { "static_perf_matched", m.speed, "turn" },
    { "dynamic", false, "free" } }
  for _, v in ipairs(variants) do
    local own = with(c, { N = v[2] or nil, bw = v[2] and 4096 or 6400, P = not v[2] and m.regions or nil })
    row(function()
      local a, b = attend(trace.lens, v[3]), simulate(models.moe(own, routing), models.settings.fig9)
      local sum = {}
      for _, k in ipairs(columns) do sum[k] = a[k] + b[k] end
      sum.utilisation = (a.flops + b.flops) / (sum.cycles * sum.allocated)
      return sum
    end, option.model, v[1])
  end
end

local figures = {
  [8] = swiglu,
  [9] = function() tiling(models.settings.fig9) end,
  [10] = function() tiling(option.model == "qwen" and models.settings.fig10_qwen or models.settings.fig10) end,
  [12] = multiplexing,
  [13] = multiplexing,
  [14] = function() attention() end,
  [15] = function() attention { 16, 32, 48, 64 } end,
  [17] = end_to_end,
  [21] = function() attention() end,
}
if not figures[figure] then error("figures are 8, 9, 10, 12, 13, 14, 15, 17 and 21", 0) end
figures[figure]()
print_rows()
