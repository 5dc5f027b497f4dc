-- array.lua - a 16 x 16 output-stationary array from its source: loaded, checked, built by a tier, run.
return function(tier, K)
  local tide = require "tide"
  local i8, i32 = tide.i8, tide.i32
  local P = 16
  local array = dofile "tests/systolic_array.lua"(P, K, 1)
  local A, B, C = tide.random(i8[P][K], 1), tide.random(i8[K][P], 2), i32[P][P](0)
  tide.schedule(array):build {target = "cpu", tier = tier}(A, B, C)
  return C
end
