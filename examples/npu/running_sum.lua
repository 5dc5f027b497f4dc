-- N13: a running sum that a core keeps from call to call; m:reset() begins it again.
-- Run: tide examples/npu/running_sum.lua [N]     (default 64)
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, tide = require "show", require "tide"
local i32, grid = tide.i32, tide.grid
local n = tonumber(arg[1] or 64)

local seen = tide.state(i32[n], 0)
local running = tide.design(function(d)
  d.sum = tide.task {x = i32[n], y = i32[n], function(x, y)
    local a, b = i32[n](), i32[n]()
    for i in grid(n) do a[i] = x[i] end
    for i in grid(n) do
      seen[i] = seen[i] + a[i]
      b[i] = seen[i]
    end
    for i in grid(n) do y[i] = b[i] end
  end}
end)
local m = show("three calls", running, {i32[n], i32[n]}, 3)
m:reset()
local y = i32[n]()
m(i32[n](5), y)
print("after a reset: " .. y[0])

--> three calls ...
--> after a reset: 5
