-- suite.lua - the thirty kernels of PolyBench 4.2.1, each in a file of its name, with sizes and arguments.
--   local suite = require "suite"
--   local k, args = suite.make("gemm")             -- f64, tiny sizes, random arguments
--   local k, args = suite.make("gemm", {size = "medium", type = tide.f32, seed = 3})
-- Sizes are those of PolyBench, mini to large, and tiny, where no two loops run equally often; or a
-- table of extents.
local tide = require "tide"

local suite = {names = {
  "2mm", "3mm", "adi", "atax", "bicg", "cholesky", "correlation", "covariance", "deriche", "doitgen", "durbin",
  "fdtd-2d", "floyd-warshall", "gemm", "gemver", "gesummv", "gramschmidt", "heat-3d", "jacobi-1d", "jacobi-2d", "lu",
  "ludcmp", "mvt", "nussinov", "seidel-2d", "symm", "syr2k", "syrk", "trisolv", "trmm",
}}

--- The extents of a case by name, at a size.
function suite.extents(name, size)
  local case = require(name)
  local value, z = case[size]:gmatch "%d+", {}
  for key in case.extents:gmatch "%a" do z[key] = math.tointeger(value()) end
  return z
end

-- One argument: parameter `p`, the i-th of a case.
local function argument(case, p, i, seed)
  if #p.type.shape == 0 then return i == 1 and 1.5 or 0.75 end
  if p.name == "table" then return p.type(0) end
  local range = {lo = 0.1, hi = 1.0}
  if tostring(p.type):find "^i" then range = {lo = 0, hi = case.letters or 999} end
  local a = tide.random(p.type, seed * 10 + i, range)
  if case.dominant == p.name then
    for d = 0, #a - 1 do a[d][d] = a[d][d] + 2.0 * #a end
  end
  return a
end

--- Kernel `name` and a list of random arguments. o: size ("tiny"), type (tide.f64), seed (1).
function suite.make(name, o)
  o = o or {}
  local case, size = require(name), o.size or "tiny"
  local z = type(size) == "table" and size or suite.extents(name, size)
  local k, args = case.kernel(o.type or tide.f64, z), {}
  for i, p in ipairs(k.params) do args[i] = argument(case, p, i, o.seed or 1) end
  if case.symmetric then
    local A = args[1]
    for r = 0, #A - 1 do for c = 0, r - 1 do A[c][r] = A[r][c] end end
  end
  return k, args
end

-- The type of a case's elements: f32 on an FPGA, else what plain Lua computes in.
local function element(case) return case.schedule and tide.f32 or tide.f64 end

-- Runs schedule s of a case beside its kernel k: compiled, and as plain Lua if it is small.
local function compare(case, s, k, z, small)
  local function run(f)
    local _, args = suite.make(case.name, {size = z, type = element(case)})
    f(table.unpack(args))
    return args
  end
  local got, want = run(s), run(k)
  local native = small and run(function(...) k:native(...) end)
  for i, v in ipairs(want) do
    local same = type(v) ~= "userdata" or got[i]:equal(v) and (not native or native[i]:allclose(v))
    assert(same, case.name .. ": argument " .. i .. " differs")
  end
  print(case.name .. ": the schedule computes what its kernel does" .. (small and ", and plain Lua" or ""))
end

--- The schedule of a case at a size, and its kernel; with no steps if none is of record.
function suite.schedule(name, size)
  local case, z = require(name), suite.extents(name, size)
  local k = case.kernel(element(case), z)
  local s = tide.schedule(k)
  if case.schedule then case.schedule(s, z) end
  return s, k
end

--- Proves that s is the same program after each of its steps; returns how many it has.
function suite.prove(s)
  local steps = #s:steps()
  for n = 1, steps do
    local level, verdict = s:at(n):verify()
    assert(level == "strict", tostring(verdict))
  end
  return steps
end

--- If the file of a case is the program that runs, shows the case at the size that is asked for.
function suite.show(case)
  if debug.getinfo(2, "S").source ~= "@" .. arg[0] then return end
  package.loaded[case.name] = case
  local size = arg[1] or "mini"
  if not ({mini = 1, small = 1, medium = 1})[size] then
    io.stderr:write("usage: tide ", arg[0], " [mini, small or medium]\n")
    os.exit(2)
  end
  local s, k = suite.schedule(case.name, size)
  print(s)
  local small = size ~= "medium"
  if small and case.schedule then print(("%d steps, each proved: strict"):format(suite.prove(s))) end
  compare(case, s, k, suite.extents(case.name, size), small)
  print(s:estimate())
end

return suite
