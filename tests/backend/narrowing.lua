-- narrowing.lua - doubles that are made floats and doubles again are rounded, whatever a compiler makes of the loops
-- around: GCC 12 drops the rounding where it makes vectors of straight code.
local t = require "tap"
local tide = require "tide"
local f32, f64 = tide.f32, tide.f64

-- States that the program by both compilers leaves in A, of floats, what the evaluator leaves there.
local function same(kernel, A, B)
  local want = A:copy()
  kernel:reference(want, B)
  for _, tier in ipairs {"tcc", "cc"} do
    local got = A:copy()
    kernel:build {target = "cpu", tier = tier}(got, B)
    t.ok(got:equal(want), tier)
  end
end

t.test("sums over a short row, rounded in each iteration", function()
  for n = 2, 9 do
    local k = tide.kernel {
      A = f32[n], B = f64[n],
      function(A, B)
        for _ = 0, 4 do
          for j = 0, n - 1 do A[j] = f32(A[j] + B[0] * B[j]) end
        end
      end,
    }
    for seed = 1, 5 do same(k, tide.random(f32[n], seed), tide.random(f64[n], seed)) end
  end
end)

t.test("an unrolled loop, and one of pairs", function()
  local N = 16
  local k = tide.kernel {
    A = f32[N], B = f64[N],
    function(A, B)
      for i = 0, N - 1 do
        local x = f64(f32(A[i] * B[i])) * B[N - 1 - i]
        A[i] = f32(x)
      end
    end,
  }
  local pairs_of = tide.kernel {
    A = f32[N], B = f64[N],
    function(A, B)
      for i = 0, N // 2 - 1 do
        A[2 * i] = f32(f64(f32(A[2 * i] + B[2 * i])) * B[2 * i])
        A[2 * i + 1] = f32(f64(f32(A[2 * i + 1] + B[2 * i + 1])) * B[2 * i + 1])
      end
    end,
  }
  local s = tide.schedule(k)
  s:split("i", 8):unroll("i_i")
  local unrolled = load(tostring(s))()
  for seed = 1, 5 do
    local A, B = tide.random(f32[N], seed), tide.random(f64[N], seed)
    same(k, A, B)
    same(unrolled, A, B)
    same(pairs_of, A, B)
  end
end)

t.done()
