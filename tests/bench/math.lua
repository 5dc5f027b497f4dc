-- math.lua - the greatest error of tide.core's functions over all words of f32, in units of the last place, beside the
-- C library's of f64.
--   LUA_PATH='tests/?.lua;;' ./tide tests/bench/math.lua [words, 2^32]
local tide = require "tide"
local core = require "tide.core"
local f32, f64, u32, u64, i64, grid = tide.f32, tide.f64, tide.u32, tide.u64, tide.i64, tide.grid

local part = 1 << 24
local words = math.tointeger(tonumber(arg[1] or 1 << 32))
local stride = (1 << 32) // words -- words that are left out between two

for _, name in ipairs {"exp", "log", "sin", "cos", "tanh"} do
  local of, exact = core.of(name, f32), tide[name]
  local k = tide.kernel {
    name = "error", first = u32, most = f64[2],
    function(first, most)
      for i in grid(part) do
        local x = tide.bitcast(f32, u32(first + u32(i) * stride))
        local got, want = f64(of(x)), exact(f64(x))
        local e = i64(tide.bits(tide.bitcast(u64, want), 52, 63))
        if e < 1023 + 128 and want == want then
          local unit = tide.bitcast(f64, u64(u64(tide.max(e, 897) - 23) << 52))
          local off = tide.abs(got - want) / unit
          if off > most[0] or off ~= off then
            most[0] = off
            most[1] = x
          end
        end
      end
    end,
  }
  local m, most, since = k:build {target = "cpu", tier = "cc"}, f64[2](0), os.clock()
  for first = 0, (words + part - 1) // part - 1 do m(first * part * stride, most) end
  print(("%-5s %.4f units at %.9g, %.0f s"):format(name, most[0], most[1], os.clock() - since))
end
