-- npu_math.lua - exp, log and tanh of an NPU's cores: within the stated units in the last place of the CPU's, or its
-- bits where the build says so.
local t = require "tap"
local tide = require "tide"
local f32, bf16 = tide.f32, tide.bf16

local n = 2048

-- The design that applies a function to n numbers of type T.
local function design(name, T)
  return load(([[
    local tide, n, T = ...
    return tide.design(function(d)
      d.go = tide.task {A = T[n], B = T[n], function(A, B)
        for i in tide.grid(n) do B[i] = T(tide.%s(A[i])) end
      end}
    end)]]):format(name), "=math")(tide, n, T or f32)
end

-- A float's place in the order of all floats.
local function place(x)
  local i = string.unpack("<i4", string.pack("<f", x))
  return i < 0 and -(i & 0x7FFFFFFF) or i
end

-- How far the NPU's results on these arguments are from the CPU's, at most.
local function distance(d, A, options)
  local B, C = f32[n](), f32[n]()
  local o = {target = "npu"}
  for k, v in pairs(options or {}) do o[k] = v end
  d(A, B)
  d:build(o)(A, C)
  local most = 0
  for i = 0, n - 1 do
    if B[i] == B[i] or C[i] == C[i] then most = math.max(most, math.abs(place(B[i]) - place(C[i]))) end
  end
  return most
end

-- Numbers between two, and what is odd.
local function numbers(lo, hi)
  local odd = {math.huge, -math.huge, 0 / 0, 0.0, -0.0, 1e-40, -1e-40, 88.72, 88.73, -87.4, -103.9, -105, 1, -1}
  math.randomseed(7)
  local A = f32[n]()
  for i = 0, n - 1 do A[i] = odd[i + 1] or lo + (hi - lo) * math.random() end
  return A
end

for name, ulp in pairs {exp = 2, log = 2, tanh = 4} do
  t.test(name .. " of f32", function()
    local d = design(name)
    local text = d:build {target = "npu"}.files["kernels.cc"]
    t.has(text, "tide_" .. name)
    for _, range in ipairs {{-104, 89}, {-2, 2}, {0.9, 1.1}, {0, 1e-3}, {0, 1e30}} do
      local far = distance(d, numbers(table.unpack(range)))
      t.ok(far <= ulp, ("%d units in %g .. %g"):format(far, range[1], range[2]))
    end
    t.eq(distance(d, numbers(-10, 10), {math = "host"}), 0)
    t.ok(not d:build({target = "npu", math = "host"}).files["kernels.cc"]:find "tide_", "its own")
  end)
end

t.test("not the same as the host's: the option does something", function()
  t.ok(distance(design "exp", numbers(-104, 89)) > 0, "no difference")
end)

t.test("bf16 rounds the difference away, nearly always", function()
  local d = design("exp", bf16)
  local A, B, C = tide.random(bf16[n], 3), bf16[n](), bf16[n]()
  d(A, B)
  d:build {target = "npu"}(A, C)
  local other = 0
  for i = 0, n - 1 do other = other + (B[i] ~= C[i] and 1 or 0) end
  t.ok(other < n // 50, other .. " differ")
  d:build {target = "npu", math = "host"}(A, C)
  t.ok(B:equal(C), "other bits")
end)

t.done()
