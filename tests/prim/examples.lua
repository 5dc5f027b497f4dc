-- examples.lua - the example of each primitive runs: on s, a schedule of gemm, or on blur, a schedule
-- of sums of neighbours.
local t = require "tap"
local tide = require "tide"

local M, N, K = 16, 16, 16
local gemm = tide.kernel {
  A = tide.f32[M][K], B = tide.f32[K][N], C = tide.f32[M][N],
  function(A, B, C)
    for i, j in tide.grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end,
}

local sums = tide.kernel {
  A = tide.f32[M][N + 2], B = tide.f32[M][N],
  function(A, B)
    for y, x in tide.grid(M, N) do B[y][x] = A[y][x] + A[y][x + 1] + A[y][x + 2] end
  end,
}

for _, p in ipairs(tide.registry().primitives) do
  t.test("the example of " .. p.name, function()
    local s, blur = tide.schedule(gemm), tide.schedule(sums)
    local env = setmetatable({s = s, gemm = gemm, blur = blur, tide = tide}, {__index = _G})
    local before = tostring(s) .. tostring(blur)
    assert(load(p.example, "=example", "t", env))()
    t.has(p.example, p.name .. "(")
    t.ok(tostring(s) .. tostring(blur) ~= before or p.name == "inline", "it changes nothing")
    t.ok(s:verify() and blur:verify(), "it is proved")
  end)
end

t.test("every argument of every primitive has a kind, a place and help", function()
  for _, p in ipairs(tide.registry().primitives) do
    for _, a in ipairs(p.args) do
      local all = a.name and a.kind and a.place and a.help
      t.ok(all, ("%s: %s"):format(p.name, a.name))
    end
  end
end)

t.done()
