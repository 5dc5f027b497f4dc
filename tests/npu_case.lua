-- npu_case.lua - a design or schedule on an NPU: its build gives the bits of the CPU, its two texts say the same, and
-- pass mlir-opt where that is installed.
local shell = require "shell"
local t = require "tap"
local tide = require "tide"
local npu = require "tide.npu"

local M = {}

local opt = os.execute "command -v mlir-opt-19 >/dev/null 2>&1"

-- Arguments for a run: a type is filled at random, {type, fill} by a function of its number, all else is itself.
local function argument(T, i)
  if type(T) == "table" then return T[2](T[1], i) end
  if math.type(T) then return T end
  return tide.random(T, i)
end

-- Two equal lists of arguments.
local function arguments(types)
  local a, b = {}, {}
  for i, T in ipairs(types) do a[i], b[i] = argument(T, i), argument(T, i) end
  return a, b
end

-- States that mlir-opt takes the texts of an opened design: as they are, and with the signatures of the dialect.
local function passes(m, folder)
  if not opt then return end
  local plain = m:text "generic":gsub('"func%.call"', '"chk.call"')
  shell.write(folder .. "/plain.mlir", plain)
  shell.write(folder .. "/check.mlir", m:text "check")
  local quoted = shell.quote(folder)
  t.ok(os.execute("mlir-opt-19 --allow-unregistered-dialect " .. quoted .. "/plain.mlir -o /dev/null"), "mlir-opt")
  t.ok(os.execute("mlir-opt-19 --irdl-file=tests/npu/aie.irdl.mlir " .. quoted .. "/check.mlir -o /dev/null"),
    "mlir-opt with signatures")
end

-- States that d (and schedule s of it, if there is one), given arguments of `types`, does the same on the CPU and from
-- the texts of an NPU build with `options`, twice. Returns the build, and the design opened from its files.
function M.same(d, types, options, s)
  local o = {target = "npu"}
  for k, v in pairs(options or {}) do o[k] = v end
  local a, b = arguments(types)
  local built = (s or d):build(o)
  d(table.unpack(a))
  built(table.unpack(b))
  for i = 1, #types do
    if type(a[i]) == "userdata" then t.ok(a[i]:equal(b[i]), "argument " .. i .. " differs") end
  end
  local folder = t.tmp "npu_case"
  built:write(folder)
  local opened = npu.open(folder)
  passes(opened, folder)
  return built, opened, b
end

return M
