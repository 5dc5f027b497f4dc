-- DataMaestro, section IV-D: what the streamers of the evaluation system are made of, by yosys on generic gates: cells
-- and flip-flops of each module, the parts of streamer A beside the paper's shares (which are areas in 22 nm), and the
-- address generation by two counters for each loop beside one counter with dividers.
-- Run: tide examples/maestro/area.lua
-- [slow]
local maestro = require "tide.maestro"

local build = maestro.reference():build { target = "verilog" }
local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir -p " .. folder)

local function write(name, text)
  local f <close> = assert(io.open(folder .. "/" .. name, "w"))
  f:write(text)
end

local file = {}
for _, x in ipairs(build.files) do file[x.name] = x.text end

-- Cells and flip-flops of each module below a top, counted as often as it is there: a table by name of the module, of
-- which queues are told apart by who holds them.
io.stdout:setvbuf "line"
local function synthesise(text, top, parameters)
  write("design.v", text)
  local chparam = {}
  for name, v in pairs(parameters or {}) do chparam[#chparam + 1] = ("-chparam %s %s"):format(name, v) end
  table.sort(chparam)
  write("run.ys", ("read_verilog -sv design.v\nhierarchy -top %s %s\nproc\nopt -fast\nmemory\nopt -fast\ntechmap\n" ..
    "opt -fast\ntee -o stat stat\n"):format(top, table.concat(chparam, " ")))
  os.execute(("cd %s && yosys -q run.ys >log 2>&1"):format(folder))
  local f = io.open(folder .. "/stat")
  if not f then return nil end
  local own, module, counts, stack = {}, nil, {}, {}
  for line in f:lines() do
    local name = line:match "^=== (.-) ===$"
    if name then
      module = name
      own[module] = own[module] or { cells = 0, ff = 0 }
    elseif module == "design hierarchy" then
      local indent, sub, n = line:match "^(%s+)(%S+)%s+(%d+)$"
      if sub and own[sub] then
        local depth = #indent
        while #stack > 0 and stack[#stack].depth >= depth do stack[#stack] = nil end
        local times = tonumber(n) * (#stack > 0 and stack[#stack].times or 1)
        stack[#stack + 1] = { depth = depth, times = times }
        counts[#counts + 1] = { name = sub, times = times }
      end
    elseif module then
      local kind, n = line:match "^%s+(%$_%S+)%s+(%d+)$"
      if kind then
        own[module].cells = own[module].cells + n
        if kind:find "DFF" then own[module].ff = own[module].ff + n end
      end
    end
  end
  f:close()
  if #counts == 0 then counts[1] = { name = module, times = 1 } end -- one module alone
  local sum = { cells = 0, ff = 0, of = {} }
  for _, x in ipairs(counts) do
    local name, o = x.name:match "tide_dm_([%w_]+)$" or x.name, own[x.name]
    local to = sum.of[name] or { cells = 0, ff = 0, list = {} }
    sum.of[name] = to
    to.list[#to.list + 1] = { cells = o.cells * x.times, ff = o.ff * x.times }
    for _, key in ipairs { "cells", "ff" } do
      to[key], sum[key] = to[key] + o[key] * x.times, sum[key] + o[key] * x.times
    end
  end
  return sum
end

-- The parameters of an instance in the top's text.
local function parameters_of(instance)
  local module, list = file["tide_dm_system.v"]:match("(tide_dm_%w+) #(%b()) " .. instance .. " ")
  local r = {}
  for name, v in list:gmatch "%.(%w+)%((%d+)%)" do r[name] = v end
  return module, r
end

if not os.execute "command -v yosys >/dev/null" then
  print "yosys is not here"
  os.exit(0)
end

print(("%-10s %8s %8s"):format("streamer", "cells", "FF"))
local parts, whole = nil, 0
for _, name in ipairs { "A", "B", "C", "D", "E" } do
  local module, p = parameters_of(name .. "_" .. (name < "D" and "reader" or "writer"))
  local r = assert(synthesise(file["tide_dm_stream.v"], module, p))
  print(("%-10s %8d %8d"):format(name, r.cells, r.ff))
  whole = whole + r.cells
  if name == "A" then parts = r end
end
local turn = assert(synthesise(file["tide_dm_ext.v"] .. file["tide_dm_stream.v"], "tide_dm_transpose", {}))
print(("all five   %8d; a transposer %d"):format(whole, turn.cells))

-- The array's 64 sums of 8 products each: what the streamers stand beside, without memory, crossbar and quantiser.
local dot = assert(synthesise(file["tide_dm_dot.v"], "tide_dm_dot", {}))
print(("streamers' share of the cells of streamers and products: %.2f %% (paper: 6.43, with memory)"):format(
  100 * whole / (whole + 64 * dot.cells)))

-- The two queues of a channel: the one of words is the larger.
local queues = parts.of.queue.list
table.sort(queues, function(x, y) return x.cells > y.cells end)
local all = parts.cells + turn.cells
local agu = { cells = parts.of.agu.cells + queues[2].cells, ff = parts.of.agu.ff + queues[2].ff }
print(("\nstreamer A, cells: part of %d       here %%  paper %% of area"):format(all))
for _, row in ipairs {
  { "data FIFOs", queues[1].cells, 87.76 },
  { "AGU, with its queues of addresses", agu.cells, 10 },
  { "transposer", turn.cells, 1.75 },
  { "credits and requests (MIC)", parts.of.read_channel.cells + parts.of.reader.cells, 1.04 },
  { "lanes and remapper", parts.of.lanes.cells + parts.of.remap.cells, 0.49 },
} do
  print(("%-36s %7.2f %9.2f"):format(row[1], 100 * row[2] / all, row[3]))
end
print(("AGU of 6 loops and 8 channels with its queues: %d flip-flops"):format(agu.ff))

-- One counter, from which a loop's index is divided out, for one loop of counts of 16 bits; the same by two counters.
local divided = [[
module divided #(parameter AW = 17, B = 16) (
  input wire clk, input wire rst, input wire tick, input wire [B-1:0] inner, input wire [B-1:0] bound,
  input wire [AW-1:0] stride, output wire [AW-1:0] address);
  reg [B-1:0] at;
  wire [B-1:0] index = at / inner % bound;
  assign address = index * stride;
  always @(posedge clk) if (rst) at <= 0; else if (tick) at <= at + 1;
endmodule
module counted #(parameter AW = 17, B = 16) (
  input wire clk, input wire rst, input wire tick, input wire [B-1:0] inner, input wire [B-1:0] bound,
  input wire [AW-1:0] stride, output reg [AW-1:0] address);
  reg [B-1:0] at;
  wire last = at + 1'b1 == bound;
  always @(posedge clk)
    if (rst) begin
      at <= 0;
      address <= 0;
    end else if (tick) begin
      at <= last ? 0 : at + 1'b1;
      address <= last ? 0 : address + stride;
    end
endmodule
]]
local one, two = assert(synthesise(divided, "divided")), assert(synthesise(divided, "counted"))
print(("a loop's part of an address: %d cells by two counters, %d by dividing a counter"):format(two.cells, one.cells))
os.execute("rm -rf " .. folder)

--> streamer      cells       FF
--> ...
--> AGU of 6 loops and 8 channels with its queues: 1391 flip-flops
--> a loop's part of an address: ... cells by two counters, ... by dividing a counter
