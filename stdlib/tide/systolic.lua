-- Systolic arrays as templates: grids of processing elements through which operands travel. Schedules alone make them
-- of plain products: each element's own copy of its operands (buffer_at), the grid of tasks (unfold), copies handed on
-- from neighbour to neighbour (relay), and one loop that receives, hands on and multiplies in each cycle (fuse).
--   local systolic = require "tide.systolic"
--   local k = systolic.gemm {M = 16, N = 16, K = 32, pm = 4, pn = 4}
--   local s = systolic.schedule(k)
local tide = require "tide"
local template = require "tide.template"

local grid, reduction = tide.grid, tide.reduction
local size = template.size

---@class tide.systolic
local systolic = template.library "tide.systolic"

local K, T, acc = size "terms of a sum", template.factors, template.sums

-- C = C + A B on M x N elements.
systolic.array = template {
  name = "array", summary = "C = C + A B: rows of A travel to the right, columns of B down, sums stay.",
  kernel = function(M, N, K, T, acc)
    return tide.kernel {
      name = "array", A = T[M][K], B = T[K][N], C = acc[M][N],
      function(A, B, C)
        for i, j in grid(M, N, "PE") do
          for k in reduction(K) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
        end
      end,
    }
  end,
  schedule = function(s)
    local _, row = s:buffer_at("A", "j")
    local _, column = s:buffer_at("B", "j")
    s:unfold("PE", { 0, 1 }):partition("C", { 0, 1 }):partition("A", 0):partition("B", 1)
    s:relay(row, "PE", { axis = 1 }):relay(column, "PE", { axis = 0 })
    s:fuse("PE:k_init_1", "PE:k_init", "PE:k"):pipeline "PE:k_init_1"
    s:pipeline "A_feed:k_init":pipeline "B_feed:k_init_1"
  end,
  M = size "rows of elements", N = size "columns of elements", K = K, T = T, acc = acc,
  where = { template.numbers, template.sums_hold },
}

-- C = A B of any size, tile by tile on one array. Rows of A are read once, in order, so that they may come as a stream;
-- where those of C shall go on as one, buffer_at("C", "m") puts their tiles together.
systolic.gemm = template {
  name = "gemm", summary = "C = A B, tile by tile on an array of pm x pn elements.",
  kernel = function(M, N, K, pm, pn, T, acc)
    local array = systolic.array { M = pm, N = pn, K = K, T = T, acc = acc }
    return tide.kernel {
      name = "gemm", A = T[M][K], B = T[K][N], C = acc[M][N],
      function(A, B, C)
        tide.assume(M % pm == 0 and N % pn == 0)
        for m in grid(M // pm) do
          local a = T[pm][K]()
          for ai, ak in grid(pm, K) do a[ai][ak] = A[pm * m + ai][ak] end
          for n in grid(N // pn) do
            local b, c = T[K][pn](), acc[pm][pn]()
            for bk, bj in grid(K, pn) do b[bk][bj] = B[bk][pn * n + bj] end
            for zi, zj in grid(pm, pn) do c[zi][zj] = 0 end
            array(a, b, c)
            for ci, cj in grid(pm, pn) do C[pm * m + ci][pn * n + cj] = c[ci][cj] end
          end
        end
      end,
    }, array
  end,
  schedule = function(s)
    for _, loop in ipairs { "ak", "bj", "zj", "cj" } do s:pipeline(loop) end
  end,
  M = size "rows of A", N = size "columns of B", K = K, pm = size("rows of elements", 4),
  pn = size("columns of elements", 4), T = T, acc = acc,
  where = { template.numbers, template.sums_hold, "M % pm == 0", "N % pn == 0" },
}

-- y = y + A x on M elements.
systolic.gemv = template {
  name = "gemv", summary = "y = y + A x: x travels along the elements, each of which has a row of A and its sum.",
  kernel = function(M, K, T, acc)
    return tide.kernel {
      name = "gemv", A = T[M][K], x = T[K], y = acc[M],
      function(A, x, y)
        for i in grid(M, "PE") do
          for k in reduction(K) do y[i] = y[i] + A[i][k] * x[k] end
        end
      end,
    }
  end,
  schedule = function(s)
    local _, copy = s:buffer_at("x", "i")
    s:unfold("PE", { 0 }):partition("y", 0):partition("A", 0):relay(copy, "PE", { axis = 0 })
    s:fuse("PE:k_init", "PE:k"):pipeline "PE:k_init":pipeline "x_feed:k_init"
  end,
  M = size "rows of A: elements", K = K, T = T, acc = acc, where = { template.numbers, template.sums_hold },
}

return systolic
