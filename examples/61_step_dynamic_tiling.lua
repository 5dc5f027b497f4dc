-- 61_step_dynamic_tiling: the MoE layer with static tiles of N tokens, and with one tile for each active expert (STeP,
-- ASPLOS 2026, section 5.2, Figs. 9 and 10). Dynamic tiling is promote in place of reshape; what it saves in off-chip
-- traffic is in the expressions: ceil(D / N) becomes [D > 0].
-- Run: tide examples/61_step_dynamic_tiling.lua [tokens experts]     (default 16 4)
local tide, step = require "tide", require "tide.step"
local f16, fn = tide.f16, step.fn

--- c: B tokens, D hidden, F intermediate, E experts, k per token, tf tile of F; N tokens per tile, nil = dynamic.
local function moe_layer(c, routing)
  local n_f, N = c.F // c.tf, c.N
  local multi, single = {}, {}                       -- per token; per (token, slot)
  for b, experts in ipairs(routing) do
    multi[b] = table.move(experts, 1, c.k, 1, {})
    table.sort(multi[b])
    single[b] = {}
    for slot, e in ipairs(experts) do single[b][slot] = { e } end
  end
  return step.graph(function()
    local sel, one_hot = step.selectors(multi, { n = c.E }), step.selectors(single, { n = c.E })
    local tokens  = step.load(f16[c.B][c.D], { tile = { 1, c.D } }):flatten(0, 1):partition(sel, { n = c.E })
    local weights = step.load(f16[c.B][c.k], { tile = { 1, 1 } }):partition(one_hot, { n = c.E })
    local outs = {}
    for e, t in ipairs(tokens) do
      local groups = N and t:reshape { chunk = N, pad = f16[1][c.D](0) } or t:promote()
      local tile = groups:accum(fn.retile_row, { rank = 1 })
      local up   = tile:load(f16[c.D][c.F], { tile = { c.D, c.tf } }):flatten(0, 1)
      local gate = tile:load(f16[c.D][c.F], { tile = { c.D, c.tf } }):flatten(0, 1)
      local down = tile:load(f16[c.F][c.D], { tile = { c.tf, c.D } }):flatten(0, 1)
      local each = tile:rep(n_f)
      local h = each:zip(gate):map(fn.matmul, { bw = c.bw }):map(fn.silu, { bw = c.bw })
                    :zip(each:zip(up):map(fn.matmul, { bw = c.bw })):map(fn.mul, { bw = c.bw })
      local rows = h:zip(down):map_accum(fn.matmul, { rank = 1, bw = c.bw }):flat_map(fn.split_rows)
      outs[e] = weights[e]:zip(rows):map(fn.mul, { bw = c.bw })
    end
    local out = step.reassemble(outs, sel, { rank = 0 }):accum(fn.add, { rank = 1 })
    out:store(f16[c.B][c.D])
    return out
  end)
end

local c = { D = 64, F = 128, k = 2, tf = 32, bw = 1024 }
c.B, c.E = tonumber(arg[1] or 16), tonumber(arg[2] or 4)
local routing, count = {}, {}
for e = 1, c.E do count[e] = 0 end
for b = 0, c.B - 1 do
  routing[b + 1] = { b % c.E, (b + 1 + b // c.E % (c.E - 1)) % c.E }
  for _, e in ipairs(routing[b + 1]) do count[e + 1] = count[e + 1] + 1 end
end
for _, N in ipairs { 4, 8, false } do
  c.N = N or nil
  local g, tiles = moe_layer(c, routing), 0
  for _, n in ipairs(count) do tiles = tiles + (N and (n + N - 1) // N or n > 0 and 1 or 0) end
  local r = g:simulate { depth = 2, pmu = 64 }
  assert(r.traffic == 6 * c.D * c.F * tiles + 4 * c.B * c.D + 2 * c.B * c.k)
  assert(g:traffic():at(r.symbols) == r.traffic)
  if not N then print(g:traffic { live = true } == g:traffic()) end --> true
end
-- An expert has so many ways as the selectors say: another number is refused.
local ok, err = pcall(step.graph, function()
  step.load(f16[4][8], { tile = { 1, 8 } }):partition(step.selectors({ { { 0 } } }, { n = 2 }), { n = 3 })
end)
assert(not ok)
print(err.code) --> step-selector

