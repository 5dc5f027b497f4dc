-- N02: softmax of rows of scores that reach 10,000 either way: the greatest is taken away first. A sum of floats goes
-- one by one as it is; in sixteen parts, which rfactor makes of it, it is a loop of vectors, in another order.
-- Run: tide examples/npu/softmax.lua [ROWS COLUMNS]     (default 64 256)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, tide = require "show", require "tide"
local bf16, f32, grid = tide.bf16, tide.f32, tide.grid
local rows, n = tonumber(arg[1] or 64), tonumber(arg[2] or 256)

local softmax = tide.design(function(d)
  d.softmax = tide.task {
    map = {8}, x = bf16[rows][n]:layout "S0R", y = bf16[rows][n]:layout "S0R",
    function(x, y)
      for i in grid(rows // 8) do
        local v, w, most, sum = f32[n](), f32[n](), f32(-1e30), f32(0)
        for j in grid(n) do v[j] = f32(x[i][j]) * 20000 - 10000 end
        for top in grid(n) do most = tide.max(most, v[top]) end
        for j in grid(n) do w[j] = tide.exp(v[j] - most) end
        for all in grid(n) do sum = sum + w[all] end
        local by = 1 / sum
        for j in grid(n) do y[i][j] = bf16(w[j] * by) end
      end
    end,
  }
end)
local types = {bf16[rows][n], bf16[rows][n]}
local _, one = show("one by one", softmax, types)

local s = tide.schedule(softmax):split("softmax:all", 16, {tail = "perfect"})
s:rfactor("softmax:all_i", {reassociate = true})
local _, parts = show("in sixteen parts", s, types)
assert(parts.cycles < one.cycles)

--> one by one ...
--> in sixteen parts ...
