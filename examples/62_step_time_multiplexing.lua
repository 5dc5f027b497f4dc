-- 62_step_time_multiplexing: P regions, each shared by E / P experts; inputs and weights come to the region (STeP,
-- ASPLOS 2026, section 5.3, Figs. 11 to 13). An eager_merge takes the tiles as they come and tells whence, which says
-- where the weights lie and where the result goes back.
-- Run: tide examples/62_step_time_multiplexing.lua [tokens experts]     (default 16 4)
local tide, step = require "tide", require "tide.step"
local f16, fn = tide.f16, step.fn

local function moe_multiplexed(c, P, multi)
  local n_f, share = c.F // c.tf, c.E // P           -- experts r * share .. r * share + share - 1 meet in region r
  return step.graph(function()
    local sel = step.selectors(multi, { n = c.E })
    local tokens = step.load(f16[c.B][c.D], { tile = { 1, c.D } }):flatten(0, 1):partition(sel, { n = c.E })
    local outs = {}
    for r = 0, P - 1 do
      local tiles = {}
      for e = 1, share do
        tiles[e] = tokens[r * share + e]:reshape { chunk = c.N, pad = f16[1][c.D](0) }
                                        :accum(fn.retile_row, { rank = 1 })
      end
      local tile, who = step.eager_merge(tiles, { rank = 0 })
      local where = who:flat_map(fn.addresses(n_f), { rank = 1 })            -- [tiles, F / tf]
      local up   = where:load_at(f16[share * n_f * c.D][c.tf], { tile = { c.D, c.tf } })
      local gate = where:load_at(f16[share * n_f * c.D][c.tf], { tile = { c.D, c.tf } })
      local down = where:load_at(f16[share * c.F][c.D], { tile = { c.tf, c.D } })
      local each = tile:rep(n_f)
      local h = each:zip(gate):map(fn.matmul, { bw = c.bw }):map(fn.silu, { bw = c.bw })
                    :zip(each:zip(up):map(fn.matmul, { bw = c.bw })):map(fn.mul, { bw = c.bw })
      local done = h:zip(down):map_accum(fn.matmul, { rank = 1, bw = c.bw })
      for e, own in ipairs(done:partition(who, { n = share })) do outs[r * share + e] = own:flat_map(fn.split_rows) end
    end
    local out = step.reassemble(outs, sel, { rank = 0 }):accum(fn.add, { rank = 1 })
    out:store(f16[c.B][c.D])
    return out
  end)
end

local c = { D = 64, F = 96, tf = 48, N = 4, bw = 1024 }
c.B, c.E = tonumber(arg[1] or 16), tonumber(arg[2] or 4)
local multi = {}
for b = 0, c.B - 1 do multi[b + 1] = { b % c.E } end
local memory = {}
for P = 1, c.E do
  if c.E % P == 0 then
    local r = moe_multiplexed(c, P, multi):simulate { depth = 2, pmu = 64 }
    assert(r.allocated == (5 * P + 0) * c.bw and r.cycles > 0)
    memory[#memory + 1] = r.memory
  end
end
for i = 2, #memory do assert(memory[i - 1] < memory[i]) end -- fewer regions hold less
if #arg == 0 then print(table.unpack(memory)) end --> 21888	41344	80256
-- A merge of streams of tuples and of tiles is refused.
local ok, err = pcall(step.graph, function()
  local x = step.load(f16[4][8], { tile = { 1, 8 } }):flatten(0, 1)
  step.eager_merge({ x, x:zip(x) }, { rank = 0 })
end)
assert(not ok)
print(err.code) --> step-shape
