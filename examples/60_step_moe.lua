-- 60_step_moe: a two-expert MoE of streaming tensor programs (STeP, ASPLOS 2026, Fig. 7 and Listing 1): rows are routed
-- to experts at run time, packed into tiles of four, multiplied, taken apart and put back in order. Shapes have symbols
-- for what only data knows: D0 and D1 are the rows of each branch.
-- Run: tide examples/60_step_moe.lua [rows width]     (default 10 64)
local tide, step = require "tide", require "tide.step"
local f32, fn = tide.f32, step.fn
local E = 2
local rows_in, width = tonumber(arg[1] or 10), tonumber(arg[2] or 64)

local x = tide.random(f32[rows_in][width], 1)
local W = { tide.random(f32[width][4 * width], 2), tide.random(f32[width][4 * width], 3) }
local expert, pattern = {}, { 0, 1, 1, 0, 0, 1, 0, 0, 1, 0 }
for r = 1, rows_in do expert[r] = pattern[(r - 1) % #pattern + 1] end
local y = f32[rows_in][4 * width](0)

local moe = step.graph(function()
  local rows, route = step.load(x, { tile = { 1, width } }), {}                 -- [rows, 1]
  for r, e in ipairs(expert) do route[r] = { e } end
  local sel = step.selectors(route, { n = E })                               -- [rows]

  local outs = {}
  for e, branch in ipairs(rows:partition(sel, { n = E, rank = 1 })) do       -- [De, 1]
    local packed = branch:flatten(0, 1):reshape { chunk = 4, pad = f32[1][width](0) }
                         :accum(fn.retile_row, { rank = 1 })                 -- [ceil(De/4)] of [4,64]
    local weight = packed:load(W[e], { tile = { width, width } }):flatten(0, 1)    -- [ceil(De/4), 4] of [64,64]
    outs[e] = packed:promote { at = 0 }:expand(weight, { rank = 1 }):zip(weight)
                    :map(fn.matmul, { bw = 1024 })                           -- [ceil(De/4), 4] of [4,64]
                    :accum(fn.retile_col, { rank = 1 })                      -- [ceil(De/4)] of [4,256]
                    :flat_map(fn.split_rows)                                 -- [De] of [1,256]
  end
  local out = step.reassemble(outs, sel, { rank = 0 }):assume_shape(rows.shape)   -- [rows, R] -> [rows, 1]
  out:store(y)
  return out
end)

local _, report = moe:run()
for r = 0, rows_in - 1 do
  local want = tide.matmul(x:slice({ r, r + 1 }), W[expert[r + 1] + 1])
  assert(y:slice({ r, r + 1 }):allclose(want, { rtol = 1e-4, atol = 1e-4 }))
end
if #arg == 0 then
  print(moe:traffic()) --> 65536 * ceil(D0 / 4) + 65536 * ceil(D1 / 4) + 12800
  print(moe:traffic():at(report.symbols), report.traffic) --> 209408	209408
  print(moe:memory { as = "artifact" }) --> 46336
end
-- Tiles of the weights that do not cut them evenly are refused, with both shapes.
local ok, err = pcall(step.graph, function() step.load(W[1], { tile = { width, 3 * width } }):sink() end)
assert(not ok)
print(err.code) --> step-tile
