-- seeds.lua KIND FOLDER - what libFuzzer starts from: printed programs, or .npy files.
package.path = "tests/?.lua;" .. package.path
local tide = require "tide"
local kind, folder = arg[1], arg[2]

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "wb"))
  file:write(text)
  file:close()
end

if kind == "npy" then
  for i, T in ipairs {tide.i8, tide.u16, tide.i64, tide.f16, tide.f32, tide.f64, tide.bool} do
    tide.random(T[3][2], i):save(folder .. "/" .. i .. ".npy")
    tide.random(T[1], i):save(folder .. "/" .. i .. "v.npy")
  end
else
  local polybench = require "polybench"
  for _, name in ipairs(polybench.names) do write(name, tostring((polybench.make(name)))) end
  write("pipe", [[
local tide = require "tide"
local i8 = tide.i8
return tide.design(function(d)
  local A = d:arg(i8[4])
  local Z = d:stream(i8, {2, depth = 2})
  d.a = tide.task {map = {2}, A = A, function(A, t) for i = 0, 1 do Z[t]:put(A[2 * t + i]) end end}
  d.b = tide.task {map = {2}, B = (i8[4]):layout "S0", function(B, t)
    for i = 0, 1 do B[i] = Z[t]:get() + 1 end
  end}
end)
]])
end
