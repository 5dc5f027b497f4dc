-- 35_bitonic_sort: eight tasks sort what they hold: in each step a task exchanges with the one whose id differs in one
-- bit, and keeps the lesser or the greater. Each stream has one task at either end, though no two steps join the same
-- pairs; the HLS C++ lists the streams of each task one by one.
-- Run: tide examples/35_bitonic_sort.lua [seed]     (default 1)
local tide = require "tide"
local i16, task = tide.i16, tide.task
local P, seed = 8, tonumber(arg[1] or 1)

local near, length = {}, {}                          -- of each step: how far the partner is, how much is being merged
for k = 1, 3 do
  for j = k - 1, 0, -1 do near[#near + 1], length[#length + 1] = 1 << j, 1 << k end
end
local S = #near
local bit, block = tide.tensor(i16[S], near), tide.tensor(i16[S], length)

local sort = tide.design(function(d)
  local Z = d:stream(i16, {S, P})
  d.cell = task {map = {P}, A = i16[P]:layout "S0", function(A, p)
    for s = 0, S - 1 do
      Z[s][p ~ bit[s]]:put(A[0])
      local other = Z[s][p]:get()
      local upper, falling = p // bit[s] % 2, p // block[s] % 2
      A[0] = tide.select(upper == falling, tide.min(A[0], other), tide.max(A[0], other))
    end
  end}
end)

local A = tide.random(i16[P], seed, {lo = -100, hi = 100})
local want = A:table()
table.sort(want)
local B = A:copy()
sort(A)
print("sorted:  " .. table.concat(A:table(), " "))
assert(A:equal(tide.tensor(i16[P], want)))

local hls = sort:build {target = "hls"}
hls(B)
assert(B:equal(A))
print("the HLS C++ sorts alike; a task of it:")
print(hls.source:match "(TIDE_TASK%(\"cell%[5%][^;]*;)")

--> sorted:  ...
--> the HLS C++ sorts alike; a task of it:
--> TIDE_TASK("cell[5]", ...
