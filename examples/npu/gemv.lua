-- N04: a matrix times a vector: each element of the matrix is used once, so the host's memory is what it takes. Four
-- channels of the host carry less than its memory gives; there are eight, one a core, and the vector goes ahead of a
-- core's rows on the same one.
-- Run: tide examples/npu/gemv.lua [ROWS COLUMNS]     (default 256 512)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, tide = require "show", require "tide"
local model = require "tide.npu.core".model()
local rows, n = tonumber(arg[1] or 256), tonumber(arg[2] or 512)

local function gemv(T, R)
  return tide.design(function(d)
    d.gemv = tide.task {
      map = {8}, A = T[rows][n]:layout "S0R", x = T[n], y = R[rows]:layout "S0",
      function(A, x, y)
        local v, part = T[n](), R[rows // 8]()
        do
          local first = T[n]()
          for j in tide.grid(n) do first[j] = x[j] end
          for j in tide.grid(n) do v[j] = first[j] end
        end
        for i in tide.grid(rows // 8) do
          local row, sum = T[n](), R(0)
          for j in tide.grid(n) do row[j] = A[i][j] end
          for all in tide.grid(n) do sum = sum + R(row[all]) * R(v[all]) end
          part[i] = sum
        end
        for i in tide.grid(rows // 8) do y[i] = part[i] end
      end,
    }
  end)
end

for _, x in ipairs {{tide.i8, tide.i32}, {tide.bf16, tide.f32}} do
  local T, R = x[1], x[2]
  local d = gemv(T, R)
  local s = tide.schedule(d)
  if R == tide.f32 then -- sixteen sums side by side
    s:split("gemv:all", 16, {tail = "perfect"}):rfactor("gemv:all_i", {reassociate = true})
  end
  for _, array in ipairs {"first", "row", "part"} do s:isolate("gemv:" .. array) end
  s:chain("x_in", "A_in"):merge {"first_s", "row_s"}
  local _, r = show(tostring(T), s, {T[rows][n], T[n], R[rows]})
  local bytes = rows * n * (T == tide.i8 and 1 or 2)
  print(("  %.0f %% of the memory's bandwidth"):format(100 * bytes / r.cycles / model.BANDWIDTH.value))
end

--> i8                        8 cores, ...
--> ... of the memory's bandwidth
--> bf16                      8 cores, ...
