-- N03: layernorm with gamma and beta: a core has two ports in and three inputs, so a core above it hands out the two
-- that all rows share, by memory that neighbours share.
-- Run: tide examples/npu/layernorm.lua [ROWS COLUMNS]     (default 64 128)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, tide = require "show", require "tide"
local bf16, f32, grid = tide.bf16, tide.f32, tide.grid
local rows, n = tonumber(arg[1] or 64), tonumber(arg[2] or 128)

local layernorm = tide.design(function(d)
  local scale, shift = d:stream(bf16[n], {4, block = true}), d:stream(bf16[n], {4, block = true})
  d.params = tide.task {
    map = {4}, gamma = bf16[n], beta = bf16[n],
    function(gamma, beta, p)
      local g, b = scale[p]:slot(), shift[p]:slot()
      for j in grid(n) do g[j] = gamma[j] end
      for j in grid(n) do b[j] = beta[j] end
      scale[p]:put(g)
      shift[p]:put(b)
    end,
  }
  d.norm = tide.task {
    map = {4}, x = bf16[rows][n]:layout "S0R", y = bf16[rows][n]:layout "S0R",
    function(x, y, p)
      local g, b = scale[p]:get(), shift[p]:get()
      for i in grid(rows // 4) do
        local mean, var = f32(0), f32(0)
        for j in grid(n) do mean = mean + f32(x[i][j]) end
        mean = mean / n
        for j in grid(n) do var = var + (f32(x[i][j]) - mean) * (f32(x[i][j]) - mean) end
        local by = 1 / tide.sqrt(var / n + 1e-5)
        for j in grid(n) do y[i][j] = bf16((f32(x[i][j]) - mean) * by * f32(g[j]) + f32(b[j])) end
      end
    end,
  }
end)
local s = tide.schedule(layernorm)
s:place("norm", {0, 2}, {by = {{1, 0}}}):place("params", {0, 3}, {by = {{1, 0}}})
local m = show("layernorm", s, {bf16[n], bf16[n], bf16[rows][n], bf16[rows][n]})
print(m.steps)

--> layernorm ...
