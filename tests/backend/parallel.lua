-- parallel.lua - loops marked parallel run on several threads, and compute the same bits as on one.
local t = require "tap"
local tide = require "tide"
local f32, grid = tide.f32, tide.grid

local M, N = 64, 48
local rows = tide.kernel {
  A = f32[M][N], B = f32[M][N], S = f32[M],
  function(A, B, S)
    for i = 0, M - 1 do
      for r, j in grid(200, N) do
        B[i][j] = B[i][j] * 0.75 + A[i][j] + r
        S[i] = S[i] + B[i][j]
      end
    end
  end,
}
local s = tide.schedule(rows):parallel "i"

-- Threads of this process.
local function threads()
  local f = assert(io.open "/proc/self/status")
  local n = f:read "a":match "Threads:%s*(%d+)"
  f:close()
  return tonumber(n)
end

-- What a build of s leaves in its arguments.
local function run(build)
  local A, B, S = tide.random(f32[M][N], 1), tide.random(f32[M][N], 2), f32[M](0)
  build(A, B, S)
  return {B, S}
end

local want = run(function(...) rows:reference(...) end)

-- States that s computes the same on so many threads (nil: all cores); returns how many there are more after it.
local function more_threads(n)
  local build, before = s:build {target = "cpu", tier = "cc", threads = n}, threads()
  for i, x in ipairs(run(build)) do t.ok(x:equal(want[i]), "argument " .. i) end
  return threads() - before
end

t.test("one thread", function() t.eq(more_threads(1), 0) end)

t.test("all cores, unless it is told otherwise", function()
  local pipe = assert(io.popen "getconf _NPROCESSORS_ONLN")
  local cores = pipe:read "n"
  pipe:close()
  t.eq(more_threads(nil), cores - 1)
  t.ok(more_threads(cores + 3) == 3, "more than there are cores")
end)

t.done()
