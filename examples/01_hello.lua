-- 01_hello: a kernel is an ordinary Lua function on typed tensors; it runs, prints and loads back.
-- Run: tide examples/01_hello.lua
local tide = require "tide"
local i16, grid = tide.i16, tide.grid
local N = 8

local saxpy = tide.kernel {
  x = i16[N], y = i16[N], a = i16,
  function(x, y, a)
    for i in grid(N) do y[i] = y[i] + a * x[i] end
  end,
}

local x, y = tide.tensor(i16[N], { 1, 2, 3, 4, 5, 6, 7, 8 }), i16[N](100)
saxpy(x, y, 3)
print(y)

-- The printed form is Lua that loads back to the same program.
print(saxpy)
assert(tostring(load(tostring(saxpy))()) == tostring(saxpy))

--> i16[8] {103, 106, 109, 112, 115, 118, 121, 124}
--> ...
--> local saxpy = tide.kernel {
--> ...
