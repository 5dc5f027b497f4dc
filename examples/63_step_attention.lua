-- 63_step_attention: decode attention over P regions; a request goes to the region that is free first (STeP, ASPLOS
-- 2026, section 5.4, Figs. 14 to 16). The cycle is legal since it passes an eager_merge and starts with P selectors in
-- turn; a region is free when its last K tile is loaded. Shapes alone.
-- Run: tide examples/63_step_attention.lua [requests regions]     (default 12 4)
local tide, step = require "tide", require "tide.step"
local f16, i32, fn = tide.f16, tide.i32, step.fn
local bw = 2048

--- lens: cached tokens of each request; R rows per KV tile, H query heads per KV head, D head size, P regions.
local function attention(lens, R, H, D, P)
  local B, longest = #lens, math.max(table.unpack(lens))
  local index, tiles, first = i32[B](), i32[B](), {}
  for b = 0, B - 1 do index[b], tiles[b] = b, (lens[b + 1] + R - 1) // R end
  for p = 1, P do first[p] = { p - 1 } end
  local pitch = (longest + R - 1) // R                                       -- KV tiles kept per request
  local turn, again = {}, {}                         -- P selectors come from `first`, the rest from `free`
  for b = 1, B do
    turn[b] = { b <= P and 0 or 1 }
    again[b] = { b <= B - P and 0 or 1 }             -- the last P regions to fall idle ask for nothing
  end
  return step.graph(function()
    local q = step.load(f16[B * H][D], { tile = { H, D } }):flatten(0, 1)    -- [B] of [H,D]
    local free = step.feedback("selector", { n = P })
    local start, whose = step.selectors(first, { n = P }), step.selectors(turn, { n = 2 })
    local go = step.reassemble({ start, free }, whose, { rank = 0 }):flatten(0, 1)         -- [B]
    local qs  = q:partition(go, { n = P })
    local ids = step.values(index):partition(go, { n = P })
    local ns  = step.values(tiles):partition(go, { n = P })

    local outs, idle = {}, {}
    for p = 1, P do
      local at = ids[p]:zip(ns[p]):flat_map(fn.cache_addresses(pitch), { rank = 1 })       -- [Dp, n]
      local k = at:load_at(f16[B * pitch * R][D], { tile = { R, D } })
      local v = at:load_at(f16[B * pitch * R][D], { tile = { R, D } })
      idle[p] = k:accum(fn.signal, { rank = 1 })                             -- one token per request: its K is loaded
      local e = qs[p]:promote { at = 0 }:expand(k, { rank = 1 }):zip(k)
                     :map(fn.matmul_t, { bw = bw }):map(fn.exp, { bw = bw })
      local sum = e:accum(fn.add, { rank = 1, bw = bw }):map(fn.row_sum, { bw = bw })
      outs[p] = e:zip(v):map_accum(fn.matmul, { rank = 1, bw = bw }):zip(sum)
                 :map(fn.div, { bw = bw, write_back = true })
      ids[p]:store_at(outs[p], f16[B * H][D]):sink()
    end
    local done, who = step.eager_merge(idle, { rank = 0 })
    local ask, over = table.unpack(who:partition(step.selectors(again, { n = 2 }), { n = 2 }))
    free:close(ask)
    done:sink()
    over:sink()
    return table.unpack(outs)
  end)
end

local B, P = tonumber(arg[1] or 12), tonumber(arg[2] or 4)
local pattern, lens = { 33, 500, 40, 64, 90, 31, 700, 64, 35, 80, 48, 96 }, {}
for b = 1, B do lens[b] = pattern[(b - 1) % #pattern + 1] end
local r = attention(lens, 32, 8, 64, P):simulate { depth = 1, pmu = 64 }
local served = 0
for p = 0, P - 1 do served = served + r.symbols["D" .. p] end
assert(served == B)                                  -- each request went to one region
if #arg == 0 then print(r.symbols.D0, r.symbols.D1, r.symbols.D2, r.symbols.D3) end --> 4	1	5	2
-- Without an eager_merge a cycle is refused.
local ok, err = pcall(step.graph, function()
  local loop = step.feedback("selector", { n = 2 })
  local first = step.selectors({ { 0 } }, { n = 2 })
  loop:close(step.reassemble({ loop, first }, first, { rank = 0 }):flatten(0, 1))
end)
assert(not ok)
print(err.code) --> step-cycle
