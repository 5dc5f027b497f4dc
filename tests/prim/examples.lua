-- examples.lua - the example of each primitive runs on the gemm that the reference page shows.
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

for _, p in ipairs(tide.registry().primitives) do
  t.test("the example of " .. p.name, function()
    local s = tide.schedule(gemm)
    local env = setmetatable({s = s, gemm = gemm, tide = tide}, {__index = _G})
    local before = tostring(s)
    assert(load(p.example, "=example", "t", env))()
    t.has(p.example, p.name .. "(")
    t.ok(tostring(s) ~= before or p.name == "inline", "it changes nothing")
    t.ok(s:verify(), "it is proved")
  end)
end

t.done()
