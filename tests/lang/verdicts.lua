-- Pairs of programs on which a verdict is easily wrong, short ones, which the evaluator compares, and
-- the same behind a loop that has them compiled.
local tide = require "tide"
local t = require "tap"

-- The kernel of these parameters, "A = f32[3], B = f32[1]", and statements.
local function kernel(parameters, body)
  local names = {}
  for name in parameters:gmatch "(%w+) =" do names[#names + 1] = name end
  return load(([[
    local tide = require "tide"
    local i8, u8, i32, i64, f16, f32, f64 = tide.i8, tide.u8, tide.i32, tide.i64, tide.f16, tide.f32, tide.f64
    return tide.kernel {%s, function(%s) %s end}]]):format(parameters, table.concat(names, ", "), body),
    "=pair")()
end

-- Work that is too long for the evaluator to be first.
local LONG = "for r = 0, 4999 do R[r] = r end "

-- States the level of a pair of bodies (nil: none), short and long; returns the last verdict.
local function level(parameters, first, second, want)
  t.eq(tide.verify(kernel(parameters, first), kernel(parameters, second)), want, first .. " | " .. second)
  local long = parameters .. ", R = i32[5000]"
  local got, verdict = tide.verify(kernel(long, LONG .. first), kernel(long, LONG .. second))
  t.eq(got, want, "long: " .. first .. " | " .. second)
  return tostring(verdict)
end

t.test("a sum in a narrower float, widened afterwards, is another sum", function()
  local function sum(narrow, wide)
    local parameters = ("A = %s[9], B = %s[1]"):format(narrow, wide)
    local body = "local s = %s(0.0) for i = 0, 8 do s = s + A[i] end B[0] = s"
    local right = "local s = %s(0.0) for i = 8, 0, -1 do s = s + A[i] end B[0] = s"
    t.has(level(parameters, body:format(wide), body:format(narrow), nil), "differs: B[0]")
    level(parameters, body:format(wide), right:format(wide), "associative")
  end
  sum("f16", "f32")
  sum("f32", "f64")
  local parameters = "A = f16[4], C = f16[4], B = f32[1]"
  t.has(level(parameters, "B[0] = f32(A[0]) * C[0]", "B[0] = A[0] * C[0]", nil), "differs: B[0]")
  level(parameters, "B[0] = f32(A[0]) * C[0] + A[1]", "B[0] = A[1] + C[0] * f32(A[0])", "strict")
  level("A = i8[2], B = f32[1]", "B[0] = f32(A[0] + A[1])", "B[0] = f32(A[0]) + f32(A[1])", "ring")
end)

t.done()
