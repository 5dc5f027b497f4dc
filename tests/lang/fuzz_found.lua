-- fuzz_found.lua - programs that tests/fuzz found to go wrong, each cut to its smallest.
local t = require "tap"
local tide = require "tide"

-- States that a kernel's printed form loads back to the same text.
local function reloads(kernel)
  t.eq(tostring(load(tostring(kernel))()), tostring(kernel))
end

t.test("a type with modes is written inside a kernel as it is outside", function()
  local S = tide.i8:with {overflow = "saturate"}
  reloads(tide.kernel {
    A = S[4],
    function(A)
      local b = S[4](0)
      for i = 0, 3 do
        b[i] = S(A[i] * 3)
        A[i] = b[i]
      end
    end,
  })
  local k = tide.kernel {
    A = tide.i8[1],
    function(A) A[0] = tide.i8(tide.i8:with {overflow = "saturate"}(A[0] * 3)) end,
  }
  local x = tide.tensor(tide.i8[1], {100})
  k(x)
  t.eq(x[0], 127)
end)

t.test("modes that a type cannot have are refused inside a kernel", function()
  local function with(source)
    return function()
      load("local tide = require 'tide'; return tide.kernel { A = tide.f32[1], function(A) " ..
        "A[0] = " .. source .. "(A[0]) end }")()
    end
  end
  t.fails(with "tide.f32:with {overflow = 'saturate'}", {kind = "usage", code = "option-value"})
  t.fails(with "tide.i8:with {overflow = 'crash'}", {kind = "usage", code = "option-value"})
  t.fails(with "tide.i8:with {overflows = 'wrap'}", {kind = "usage", code = "option"})
  t.fails(with "tide.i8:without {}", {kind = "usage", code = "method"})
end)

t.done()
