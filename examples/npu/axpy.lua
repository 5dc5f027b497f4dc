-- N01: y = a x + b on 4 x 4 cores, a and b scalars that the host writes for each call.
-- Run: tide examples/npu/axpy.lua [N]     (default 4096)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, tide = require "show", require "tide"
local n = tonumber(arg[1] or 4096) // 16

for _, T in ipairs {tide.i32, tide.i16, tide.bf16} do
  local axpy = tide.design(function(d)
    d.axpy = tide.task {
      map = {4, 4}, a = T, b = T, x = T[4][4][n]:layout "S0S1R", y = T[4][4][n]:layout "S0S1R",
      function(a, b, x, y)
        for i in tide.grid(n) do y[0][0][i] = T(a * x[0][0][i] + b) end
      end,
    }
  end)
  show(tostring(T), axpy, {T == tide.bf16 and 1.5 or 3, 7, T[4][4][n], T[4][4][n]}, 2)
end

--> i32                      16 cores, ...
--> i16                      16 cores, ...
--> bf16                     16 cores, ...
