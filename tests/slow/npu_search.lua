-- [slow] npu_search.lua - the search for a schedule against brute force: of 50 small designs no mapping onto the cores,
-- in any of the forms, takes fewer cycles than what the search finds among those that it looks at first.
local t = require "tap"
local tide = require "tide"
local i8, i16, i32, bf16, f32, task, grid = tide.i8, tide.i16, tide.i32, tide.bf16, tide.f32, tide.task, tide.grid

local seed = 5
local function roll(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return 1 + seed // 65536 % n
end
local function pick(list) return list[roll(#list)] end

local kinds = {{i16, i32, 4, 4, 4}, {i8, i32, 4, 8, 8}, {bf16, f32, 4, 4, 8}}

-- A product in tiles of a few blocks.
local function product()
  local T, R, r, c, d = table.unpack(pick(kinds))
  local P, Q, X = pick {1, 2, 3, 4, 6, 8}, pick {1, 2, 4, 5, 8}, pick {2, 3, 4}
  local m, n, k = r * roll(3), c * roll(3), d * roll(2)
  return tide.design(function(e)
    e.mul = task {
      map = {X, P, Q}, A = T[P * m][X * k]:layout "S1S0", B = T[X * k][Q * n]:layout "S0S2",
      C = R[P * m][Q * n]:layout "S1S2",
      function(A, B, C) C:set(tide.allreduce(tide.matmul(A, B, {acc = R}), "+")) end,
    }
  end), ("%s, %d x %d x %d tiles of %d x %d x %d"):format(T, P, Q, X, m, n, k)
end

-- Rows, each its own.
local function rows()
  local P, m, n = pick {1, 2, 3, 4, 6, 8, 12}, 1 + roll(4), 4 * roll(6)
  return tide.design(function(e)
    e.rows = task {
      map = {P}, x = i32[P * m][n]:layout "S0R", y = i32[P * m][n]:layout "S0R",
      function(x, y)
        for i, j in grid(m, n) do y[i][j] = x[i][j] * 3 + i end
      end,
    }
  end), ("%d times %d rows of %d"):format(P, m, n)
end

local function cycles(design, grids)
  local s = tide.schedule(design):search {device = "npu1", reassociate = true, grids = grids, steps = 1000}
  return s:build {target = "npu", tool = false}:simulate().cycles
end

for i = 1, 50 do
  local design, name = (i % 3 == 0 and rows or product)()
  t.test(("%d: %s"):format(i, name), function()
    local found, least = cycles(design), cycles(design, 1000)
    t.ok(found == least, ("%d cycles, where %d do"):format(found, least))
  end)
end

t.done()
