-- polybench.lua - the thirty kernels of PolyBench 4.2.1 as a user of Tide writes them.
--   local k, args = polybench.make("gemm")               -- f64, small sizes, random arguments
--   local k, args = polybench.make("gemm", {size = "medium", type = tide.f32, seed = 3})
-- Sizes are names of polybench.sizes, or tables.
local tide = require "tide"

local polybench = {names = {}, sizes = {small = {}, medium = {}}}

local source = {}
for _, folder in ipairs {"blas", "kernels", "solvers", "stencils", "medley"} do
  for name, make in pairs(require("polybench." .. folder)) do
    source[name] = make
    polybench.names[#polybench.names + 1] = name
  end
end
table.sort(polybench.names)

-- The extents by name: small ones that no two loops share, and those of MEDIUM_DATASET.
local extents = {
  correlation = {"M N", "5 7", "240 260"}, covariance = {"M N", "5 7", "240 260"},
  gemm = {"M N K", "4 5 6", "200 220 240"}, gemver = {"N", "6", "400"},
  gesummv = {"N", "6", "250"}, symm = {"M N", "5 4", "200 240"},
  syr2k = {"M N", "4 5", "200 240"}, syrk = {"M N", "4 5", "200 240"},
  trmm = {"M N", "5 4", "200 240"}, ["2mm"] = {"I J K L", "3 4 5 6", "180 190 210 220"},
  ["3mm"] = {"I J K L M", "3 4 5 6 7", "180 190 200 210 220"}, atax = {"M N", "5 6", "390 410"},
  bicg = {"M N", "5 6", "390 410"}, doitgen = {"R Q P", "3 4 5", "50 40 60"},
  mvt = {"N", "6", "400"}, cholesky = {"N", "6", "400"}, durbin = {"N", "7", "400"},
  gramschmidt = {"M N", "6 5", "200 240"}, lu = {"N", "6", "400"}, ludcmp = {"N", "6", "400"},
  trisolv = {"N", "7", "400"}, deriche = {"W H", "6 5", "720 480"},
  ["floyd-warshall"] = {"N", "6", "500"}, nussinov = {"N", "8", "500"},
  adi = {"S N", "2 6", "100 200"}, ["fdtd-2d"] = {"S X Y", "3 5 6", "100 200 240"},
  ["heat-3d"] = {"S N", "2 5", "100 40"}, ["jacobi-1d"] = {"S N", "3 8", "100 400"},
  ["jacobi-2d"] = {"S N", "2 6", "100 250"}, ["seidel-2d"] = {"S N", "2 6", "100 400"},
}
for name, e in pairs(extents) do
  for column, size in ipairs {"small", "medium"} do
    local z, value = {}, e[column + 1]:gmatch "%d+"
    for key in e[1]:gmatch "%a" do z[key] = math.tointeger(value()) end
    polybench.sizes[size][name] = z
  end
end

-- What makes the numbers of a solver stay finite: a large diagonal.
local dominant = {cholesky = "A", lu = "A", ludcmp = "A", trisolv = "L"}

-- Random arguments for the parameters of kernel `name`.
local function arguments(name, k, seed)
  local args = {}
  for i, p in ipairs(k.params) do
    if #p.type.shape == 0 then
      args[i] = i == 1 and 1.5 or 0.75
    elseif name == "nussinov" and p.name == "table" then
      args[i] = p.type(0)
    else
      local integer = tostring(p.type):find "^i"
      args[i] = tide.random(p.type, seed * 10 + i, integer and {lo = 0, hi = name == "nussinov" and 4 or
        999} or {lo = 0.1, hi = 1.0})
    end
    if dominant[name] == p.name then
      for d = 0, #args[i] - 1 do args[i][d][d] = args[i][d][d] + 2.0 * #args[i] end
    end
  end
  if name == "cholesky" then
    local A = args[1]
    for r = 0, #A - 1 do for c = 0, r - 1 do A[c][r] = A[r][c] end end
  end
  return args
end

--- Kernel `name` and a list of random arguments. o: size ("small" or "medium" or a table of
--- extents), type (tide.f64), seed (1).
function polybench.make(name, o)
  o = o or {}
  local size = o.size or "small"
  local z = type(size) == "table" and size or polybench.sizes[size][name]
  local k = source[name](o.type or tide.f64, z)
  return k, arguments(name, k, o.seed or 1)
end

return polybench
