-- N14: a constant table of 1 KiB in each core, looked up by what the core is and what comes.
-- Run: tide examples/npu/table.lua [N]     (default 1024)
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, tide = require "show", require "tide"
local i32, grid = tide.i32, tide.grid
local n = tonumber(arg[1] or 1024)

local known = tide.random(i32[256], 9)
local lookup = tide.design(function(d)
  d.look = tide.task {map = {4}, x = i32[n]:layout "S0", y = i32[n]:layout "S0", function(x, y, p)
    for i in grid(n // 4) do y[i] = known[(i * 7 + p * 64) % 256] - x[i] end
  end}
end)
local m = show("a table", lookup, {i32[n], i32[n]})
print(select(2, m.source:gsub("aie.buffer[^\n]*dense", "")) .. " cores have it")

--> a table ...
--> 4 cores have it
