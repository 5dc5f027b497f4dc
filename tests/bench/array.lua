-- array.lua - a 16 x 16 output-stationary array from its source: loaded, checked, built by a tier, run.
return function(tier, K)
  local tide = require "tide"
  local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid
  local P = 16
  local array = tide.design(function(d)
    local a, b = d:stream(i8, {P, P + 1, depth = 4}), d:stream(i8, {P + 1, P, depth = 4})
    d.feed_a = task {map = {P}, A = i8[P][K], function(A, i) for k in grid(K) do a[i][0]:put(A[i][k]) end end}
    d.feed_b = task {map = {P}, B = i8[K][P], function(B, j) for k in grid(K) do b[0][j]:put(B[k][j]) end end}
    d.pe = task {map = {P, P}, C = i32[P][P], function(C, i, j)
      local c = i32(0)
      for _ in grid(K, "k") do
        local x, y = a[i][j]:get(), b[i][j]:get()
        c = c + x * y
        if j < P - 1 then a[i][j + 1]:put(x) end
        if i < P - 1 then b[i + 1][j]:put(y) end
      end
      C[i][j] = c
    end}
  end)
  local A, B, C = tide.random(i8[P][K], 1), tide.random(i8[K][P], 2), i32[P][P](0)
  tide.schedule(array):build {target = "cpu", tier = tier}(A, B, C)
  return C
end
