-- systolic_array.lua - an output-stationary array of P x P for T tiles of depth K, which benches and counts run.
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid

return function(P, K, T)
  return tide.design(function(d)
    local fa, fb = d:stream(i8, {P, P + 1, depth = 4}), d:stream(i8, {P + 1, P, depth = 4})
    d.feed_a = task {map = {P}, A = i8[P][K], function(A, i)
      for _, k in grid(T, K) do fa[i][0]:put(A[i][k]) end
    end}
    d.feed_b = task {map = {P}, B = i8[K][P], function(B, j)
      for _, k in grid(T, K) do fb[0][j]:put(B[k][j]) end
    end}
    d.pe = task {map = {P, P}, C = i32[P][P], function(C, i, j)
      for _ in grid(T) do
        local c = i32(0)
        for _ in grid(K, "k") do
          local x, y = fa[i][j]:get(), fb[i][j]:get()
          c = c + x * y
          if j < P - 1 then fa[i][j + 1]:put(x) end
          if i < P - 1 then fb[i + 1][j]:put(y) end
        end
        C[i][j] = c
      end
    end}
  end)
end
