-- The systolic arrays of the examples at 16 x 16, from 64^3 to 1024^3: what part of the multipliers is used, with fill
-- and drain; the work is exact, or the example fails.
local b = require "bench"

for _, name in ipairs {"25_daisy_chain", "32_weight_stationary", "33_packed_array", "34_two_level_cache"} do
  for _, n in ipairs {64, 256, 1024} do
    local run = assert(io.popen(("bash -c 'time ./tide examples/%s.lua %d %d %d 16 16' 2>&1"):format(name, n, n, n)))
    local said = run:read "a"
    run:close()
    local used, fill, drain = said:match "multipliers ([%d.]+) %% used, fill (%d+), drain (%d+)"
    local minutes, seconds = said:match "user%s+(%d+)m([%d.]+)s"
    b.row(("%s %d^3"):format(name, n), tonumber(used) or 0, "%", n == 1024 and 98 or nil,
      ("fill %s, drain %s, %.1f s"):format(fill, drain, minutes * 60 + seconds), true)
  end
end
b.done "systolic arrays"
