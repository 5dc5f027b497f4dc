-- 30_timed_systolic: an output-stationary array run with a clock: cycles, stalls, fills, a timeline.
-- Run: tide examples/30_timed_systolic.lua
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid
local P, K = 4, 32

local array = tide.design(function(d)
  local a, b = d:stream(i8, { P, P + 1 }), d:stream(i8, { P + 1, P })
  d.feed_a = task { map = { P }, A = i8[P][K],
    function(A, i) for k in grid(K) do a[i][0]:put(A[i][k]) end end }
  d.feed_b = task { map = { P }, B = i8[K][P],
    function(B, j) for k in grid(K) do b[0][j]:put(B[k][j]) end end }
  d.pe = task { map = { P, P }, C = i32[P][P],
    function(C, i, j)
      local c = i32(0)
      for _ in grid(K, "k") do
        local x, y = a[i][j]:get(), b[i][j]:get()
        c = c + x * y
        if j < P - 1 then a[i][j + 1]:put(x) end
        if i < P - 1 then b[i + 1][j]:put(y) end
      end
      C[i][j] = c
    end }
end)

local A, B, C = tide.random(i8[P][K], 1), tide.random(i8[K][P], 2), i32[P][P](0)
local run = tide.schedule(array):pipeline("pe:k"):build { target = "cpu", timed = true }
run(A, B, C)
assert(C:equal(tide.matmul(A, B)))

-- The last product is made in cycle K + 2 P - 2; one cycle more stores it.
local report = run.report
print(report.cycles, K + 2 * P)
assert(report.cycles == K + 2 * P)

-- What a corner waits for is the skew of the array.
for _, stall in ipairs(report.tasks["pe[3][3]"].stalls) do print(stall.stream, stall.why, stall.cycles) end
assert(report.tasks["pe[3][3]"].stalled == 2 * (P - 1))
print(report:timeline(40))

--> 40	40
--> ...
