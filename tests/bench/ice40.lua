-- ice40.lua - delays of device "ice40" against yosys and nextpnr: the longest path of kernels on which the row of
-- targets.def was fitted, and of others.
--   LUA_PATH='tests/?.lua;;' ./tide tests/bench/ice40.lua
local tide = require "tide"
local i8, i16, i32, i64, u32, int = tide.i8, tide.i16, tide.i32, tide.i64, tide.u32, tide.int

-- Element by element: a type of what is read, one of what is written, an expression of x, z and the index.
local function kernel(name, T, R, expression, n)
  local make = load(([[
    local tide, T, R, n = ...
    return tide.kernel {name = "%s", x = T[n], z = T[n], y = R[n], function(x, z, y)
      for i = 0, n - 1 do y[i] = %s end
    end}]]):format(name, expression))
  return tide.schedule(make(tide, T, R, n or 8)):pipeline "i"
end

local fitted = {
  {"add8", i8, i8, "x[i] + z[i]"},
  {"add16", i16, i16, "x[i] + z[i]"},
  {"add32", i32, i32, "x[i] + z[i]"},
  {"add64", i64, i64, "x[i] + z[i]"},
  {"mul8", i8, i16, "x[i] * z[i]"},
  {"mul12", int(12), i32, "x[i] * z[i]"},
  {"mul16", i16, i32, "x[i] * z[i]"},
  {"max8", i8, i8, "tide.max(x[i], z[i])"},
  {"max32", i32, i32, "tide.max(x[i], z[i])"},
  {"xor32", i32, i32, "x[i] ~ z[i]"},
  {"shift32", u32, u32, "x[i] << (z[i] & 31)"},
  {"sum32", i32, i32, "(x[i] + z[i]) ~ (x[i] + 9)"},
}
local others = {
  {"sub12", int(12), int(12), "x[i] - z[i]"},
  {"add24", int(24), int(24), "x[i] + z[i]"},
  {"add48", int(48), int(48), "x[i] + z[i]"},
  {"mul6", int(6), i16, "x[i] * z[i]"},
  {"mul10", int(10), i32, "x[i] * z[i]"},
  {"mul14", int(14), i32, "x[i] * z[i]"},
  {"mac8", i8, i32, "x[i] * z[i] + x[i]"},
  {"min16", i16, i16, "tide.min(x[i], z[i])"},
  {"less32", i32, i8, "tide.select(x[i] < z[i], 1, 3)"},
  {"relu16", i16, i16, "tide.max(x[i] + z[i], 0)"},
  {"shift16", tide.u16, tide.u16, "x[i] << (z[i] & 15)"},
  {"mean8", tide.u8, tide.u8, "(x[i] + z[i] + 1) >> 1"},
}

local function show(title, list)
  local errors = {}
  print(title)
  for _, c in ipairs(list) do
    local s = kernel(table.unpack(c))
    local m = s:build {target = "verilog", device = "ice40", seconds = 120}
    local ns = 1000 / m:cost {flow = "ice40", pnr = true}.mhz
    local estimate = s:estimate {device = "ice40"}.path
    local e = (estimate - ns) / ns
    errors[#errors + 1] = math.abs(e)
    print(("  %-10s %6.2f ns by nextpnr, %6.2f ns estimated  %+4.0f %%"):format(c[1], ns, estimate, 100 * e))
  end
  table.sort(errors)
  print(("  median %.0f %%, worst %.0f %%"):format(100 * errors[#errors // 2 + 1], 100 * errors[#errors]))
end

show("fitted", fitted)
show("others", others)
