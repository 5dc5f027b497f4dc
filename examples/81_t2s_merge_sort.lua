-- 81_t2s_merge_sort: 2^L sorted streams merged by a tree of processing elements (T2S, Figs. 11 and 12). The element is
-- a kernel with stream parameters; the definition says which rows it takes, the mapping that each call is an element
-- and which way rows travel.
-- Run: tide examples/81_t2s_merge_sort.lua [L S]     (default 3 4)
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, kernel, stream = tide.i32, tide.kernel, tide.stream
local Param, Const, Var, Func = t2s.Param, t2s.Const, t2s.Var, t2s.Func

local merge = kernel {
  n = i32, p = stream(i32), q = stream(i32), o = stream(i32),
  function(n, p, q, o)
    local a, b, na, nb = i32(0), i32(0), i32(0), i32(0)
    local have_a, have_b = false, false
    for _ = 0, 2 * n - 1 do --@ pipeline(1)
      if na < n and not have_a then
        a = p:get()
        have_a = true
      end
      if nb < n and not have_b then
        b = q:get()
        have_b = true
      end
      if have_a and (not have_b or a <= b) then
        o:put(a)
        have_a = false
        na = na + 1
      else
        o:put(b)
        have_b = false
        nb = nb + 1
      end
    end
  end,
}

local input = Param("input", stream(i32), 1)
local L, S  = Const "L S"
local l, m  = Var "l m"
local out, loader = Func("out loader", stream(i32))
out[0][m] = merge(S, input[2 * m], input[2 * m + 1])
out[l][m] = merge(S << l, out[l - 1][2 * m], out[l - 1][2 * m + 1])
out:set_bounds(l, 0, L, m, 0, 1 << (L - 1 - l)):store(L - 1, 0)
out:isolate_producer_chain(input, loader)
out:unroll(l, m):relay(out, { 1, m // 2 - m }):set_min_depth(out, out, S << (l + 1))
loader:set_min_depth(input, out, S)

-- Sorts 2^levels streams of `tokens` by a design of its own.
local function run(levels, tokens)
  local net, verdict = t2s.design(out, { L = levels, S = tokens })
  local streams = 1 << levels
  local rows, sorted = tide.random(i32[streams][tokens], levels), i32[streams * tokens](0)
  for s = 0, streams - 1 do
    local row = rows[s]:table()
    table.sort(row)
    rows[s]:set(tide.tensor(i32[tokens], row))
  end
  net { input = rows, out = sorted }
  for k = 1, streams * tokens - 1 do assert(sorted[k - 1] <= sorted[k]) end
  local r, elements = t2s.report(net), 0
  for name, n in pairs(r.pes) do elements = elements + (name:find "^out_pe" and n or 0) end
  print(("%d streams of %d: %d elements, %d channels, sorted"):format(streams, tokens, elements, r.channels))
  return verdict
end

print(run(tonumber(arg[1] or 3), tonumber(arg[2] or 4)))
run(2, 7)
run(4, 3)
run(5, 2)
