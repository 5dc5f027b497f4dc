-- 85_t2s_search: a convolution in one dimension as a recurrence, by four matrices of space and time, then by what a
-- search finds in a number of elements; and a plain kernel whose definition and mapping the search prints.
-- Run: tide examples/85_t2s_search.lua [OUTPUTS TAPS]     (default 16 5)
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, select = tide.i32, tide.select

local M, Q = tonumber(arg[1] or 16), tonumber(arg[2] or 5)
local x, w = t2s.Param("x w", i32, 1)
local OUTPUTS, TAPS = t2s.Param "OUTPUTS TAPS"
local c, q, p, t = t2s.Var "c q p t"

local function convolution()
  local z = t2s.Func("z", i32)
  z[c][q] = select(q:eq(0), 0, z[c][q - 1]) + x[c + q] * w[q]
  return z:set_bounds(c, 0, OUTPUTS, q, 0, TAPS)
end

-- Outputs stay, weights stay, inputs stay, all in one step of each output.
for _, matrix in ipairs { { 1, 0, 1, 1 }, { 0, 1, 1, 1 }, { 1, 1, 0, 1 }, { 1, 0, 0, 1 } } do
  local z = convolution()
  z:space_time_transform({ c, q }, { p, t }, matrix)
  local net, verdict = t2s.design(z, { OUTPUTS = M, TAPS = Q })
  local r = t2s.report(net)
  print(("%s: %d elements, %d steps, %d channels, %s"):format(table.concat(matrix, " "), r.pes.z_pe, r.steps.z,
    r.channels, verdict))
end

local found = t2s.search(convolution(), { pes = Q, at = { OUTPUTS = M, TAPS = Q } })
print(found)
assert(found.cycles * Q >= M * Q)

local R, C = tide.size "R", tide.size "C"
local product = tide.kernel { A = i32[R][C], v = i32[C], y = i32[R], function(A, v, y)
  for row in tide.grid(R) do
    local sum = i32(0)
    for col in tide.grid(C) do sum = sum + A[row][col] * v[col] end
    y[row] = sum
  end
end }
print(t2s.search(product, { pes = 4, ports = 6, at = { R = 16, C = 12 } }))
