-- step_figures: the figures of STeP (ASPLOS 2026) as tables, CSV: parameters, then cycles, traffic, memory of all
-- operators and of those that held an element, bytes moved, FLOPs per cycle allocated, utilisation.
-- Run: tide examples/step_figures.lua [8 | 9 | 10 | 12 | 13 | 14 | 15 | 21] [model=mixtral|qwen] [batch=n] [tile=n]
--        [data=dir]
-- All but Fig. 8 read traces from data=dir: expert_routing_<model>_b<batch>.csv, kv_len_b<batch>.csv.
local models = require "tide.step.models"

local figure, option = tonumber(arg[1] or 8), { model = "mixtral", batch = "64", data = "." }
for i = 2, #arg do
  local key, value = arg[i]:match "^(%w+)=(.*)$"
  if not key then error("options are key=value, not " .. arg[i], 0) end
  option[key] = value
end

-- The lines of a CSV file behind its head, as lists of fields.
local function csv(name)
  local path, rows = option.data .. "/" .. name, {}
  local file = io.open(path) or error(path .. " is not there: say data=dir", 0)
  for line in file:lines() do
    local row = {}
    for field in line:gmatch "[^,\r]+" do row[#row + 1] = field end
    rows[#rows + 1] = row
  end
  file:close()
  return rows
end

local columns = { "cycles", "traffic", "memory", "memory_live", "moved", "allocated", "utilisation" }
local function head(...) print(table.concat({ ... }, ",") .. "," .. table.concat(columns, ",")) end
local function row(report, ...)
  local line = { ... }
  for i, name in ipairs(columns) do
    local v = report[name]
    line[select("#", ...) + i] = math.type(v) == "float" and ("%.6f"):format(v) or tostring(v)
  end
  print(table.concat(line, ","))
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
      local g = models.swiglu { B = 64, D = 256, F = 512, tm = tm, tn = tn, bw = 4096 }
      row(g:simulate(models.settings.fig8), tm, tn)
    end
  end
end

-- The dimensions that the options name, and the routing of their trace.
local function layer(tf, bw)
  local d = dims[option.model] or error("model=mixtral or model=qwen", 0)
  local B = tonumber(option.batch)
  local routing = csv(("expert_routing_%s_b%d.csv"):format(option.model, B))
  table.remove(routing, 1)
  for b, fields in ipairs(routing) do
    local experts = {}
    for slot = 2, #fields do experts[slot - 1] = tonumber(fields[slot]) end
    routing[b] = experts
  end
  return { B = B, D = d.D, F = d.F, E = d.E, k = d.k, tf = tf, bw = bw }, routing
end

local function tiling(settings)
  local c, routing = layer(64)
  head("model", "batch", "tile")
  local tiles, n = {}, c.B == 64 and 8 or 16
  while n <= c.B do tiles[#tiles + 1] = n n = 2 * n end
  tiles[#tiles + 1] = false
  if option.tile then tiles = { tonumber(option.tile) or false } end
  for _, N in ipairs(tiles) do
    c.N, c.bw = N or nil, N and 4096 or 6400
    row(models.moe(c, routing):simulate(settings), option.model, c.B, N or "dynamic")
  end
end

local function multiplexing()
  local c, routing = layer(48, 1024)
  head("model", "batch", "tile", "regions")
  for _, N in ipairs(option.tile and { tonumber(option.tile) or false } or { 32, false }) do
    local P = c.E
    while P >= 4 do
      c.N, c.P = N or nil, P
      row(models.moe(c, routing):simulate(models.settings.fig12), option.model, c.B, N or "dynamic", P)
      P = P // 2
    end
  end
end

local function attention(lengths)
  local traces = csv(("kv_len_b%s.csv"):format(option.batch))
  head("trace", "requests", "dispatch")
  for i = 2, #traces do
    local lens = {}
    for k = 6, #traces[i] do lens[#lens + 1] = tonumber(traces[i][k]) end
    for _, n in ipairs(lengths or { #lens }) do
      for _, by in ipairs { "block", "turn", "free" } do
        local c = { H = 8, D = 64, R = 32, P = 4, by = by, bw = 2048 }
        if n <= #lens then
          local g = models.attention(c, table.move(lens, 1, n, 1, {}))
          row(g:simulate(models.settings.fig14), traces[i][1], n, by)
        end
      end
    end
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
  [21] = function() attention() end,
}
if not figures[figure] then error("figures are 8, 9, 10, 12, 13, 14, 15 and 21", 0) end
figures[figure]()
