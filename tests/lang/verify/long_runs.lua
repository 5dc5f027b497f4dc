-- long_runs.lua - tide.verify of tiles so large that two of each take long: one size after another has two tiles, the
-- others one, and a difference that shows from the second tile of one size on is still found. [slow]
local t = require "tap"
local tide = require "tide"

-- A product in tiles of `by` along each loop; `every` is said of the tiles of k in which sums begin at 0.
local function product(by, every)
  return load(([[
    local tide = require "tide"
    local i32, M, N, K = tide.i32, tide.size "M", tide.size "N", tide.size "K"
    return tide.kernel {A = i32[M][K], B = i32[K][N], C = i32[M][N], function(A, B, C)
      tide.assume(M %% BY == 0) tide.assume(N %% BY == 0) tide.assume(K %% BY == 0)
      for m, n in tide.grid(M // BY, N // BY) do
        for k = 0, K // BY - 1 do
          for mm, nn in tide.grid(BY, BY) do
            if %s then C[m * BY + mm][n * BY + nn] = 0 end
            for kk = 0, BY - 1 do
              local a, b = A[m * BY + mm][k * BY + kk], B[k * BY + kk][n * BY + nn]
              C[m * BY + mm][n * BY + nn] = C[m * BY + mm][n * BY + nn] + a * b
            end
          end
        end
      end
    end}]]):gsub("BY", by):format(every))()
end

t.test("tiles of which two each take long: two of one size at a time", function()
  local level, verdict = tide.verify(product(56, "k == 0"), product(56, "k < 1"))
  t.eq(level, "strict")
  t.has(tostring(verdict), "at M = 112, K = 56, N = 56 (and 56, 112, 56; 56, 56, 112)")
end)

t.test("small tiles: two of all at once", function()
  local _, verdict = tide.verify(product(4, "k == 0"), product(4, "k < 1"))
  t.has(tostring(verdict), "at M = 8, K = 8, N = 8 (and 12, 8, 8)")
end)

t.test("a difference from the second tile of one size on", function()
  for _, by in ipairs {4, 56} do
    local level, verdict = tide.verify(product(by, "k == 0"), product(by, "k >= 0"))
    t.eq(level, nil)
    t.has(tostring(verdict), "differs")
  end
end)

t.done()
