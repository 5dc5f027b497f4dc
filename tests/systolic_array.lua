-- systolic_array.lua - an output-stationary array of P x P for T tiles of depth K, which tests and benches run; of i8
-- and i32 and with streams of depth 4, unless o = {element =, sum =, depth = {of A's, of B's}} says otherwise.
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid

return function(P, K, T, o)
  o = o or {}
  local element, sum, depth = o.element or i8, o.sum or i32, o.depth or {4, 4}
  return tide.design(function(d)
    local fa = d:stream(element, {P, P + 1, depth = depth[1]})
    local fb = d:stream(element, {P + 1, P, depth = depth[2]})
    d.feed_a = task {map = {P}, A = element[P][K], function(A, i)
      for _, k in grid(T, K) do fa[i][0]:put(A[i][k]) end
    end}
    d.feed_b = task {map = {P}, B = element[K][P], function(B, j)
      for _, k in grid(T, K) do fb[0][j]:put(B[k][j]) end
    end}
    d.pe = task {map = {P, P}, C = sum[P][P], function(C, i, j)
      for _ in grid(T) do
        local c = sum(0)
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
