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
  -- Once an offset to a null pointer: a first statement that becomes none.
  write("nothing", [[
local tide = require "tide"
return tide.kernel {A = tide.i8[4], function(A) tide.f64(0.0) end}
]])
  write("types", [[
local tide = require "tide"
local i7, u3, i8, i32, f16, index, bool = tide.int(7), tide.uint(3), tide.i8, tide.i32, tide.f16, tide.index, tide.bool
local q = tide.fixed(8, 3)
local sub = tide.kernel {X = i32[4], n = i32, function(X, n) X[0] = X[0] + n end}
return tide.kernel {A = i32[4], B = q[2][4], D = f16[4], W = tide.uint(64)[2], c = u3,
  function(A, B, D, W, c)
    local T = i32[4](0)
    local x = i7(0)
    for i, j in tide.grid(2, 4) do --@ pipeline(2)
      B[i][j] = B[i][j] * q(0.5) + q(c)
      if i < j then T[j] = A[j] // 3 else T[j] = A[j] % 5 end
    end
    while x < 3 do
      x = x + 1
      if A[0] > 7 then break end
    end
    for i = 3, 0, -1 do D[i] = tide.select(A[i] > 0, D[i], f16(1.5)) end
    W[0] = tide.with_bits(W[1], 4, 8, 3)
    A[1] = i32(tide.bits(W[0], 0, 7)) ~ (T[2] << 1)
    sub(A, T[3])
  end}
]])
end
