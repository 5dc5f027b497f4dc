-- reference.lua - kernels of PolyBench by hand: tests/polybench/reference.h, compiled as Tide compiles.
--   local reference = require "reference"
--   local f = reference.kernel("gemm", {size = "medium"})   -- called like the kernel of the suite
--   reference.close()                                       -- removes what was compiled
local tide = require "tide"
local polybench = require "polybench"

local reference = {}

local compiler = os.getenv "TIDE_CC" or "cc"
local flags = "-std=c11 -O3 -march=native -ffp-contract=off -fno-math-errno -shared -fPIC -I."
local objects = {}

-- What the function of a case is called in C.
local function symbol(name)
  return (name:gsub("^(%d)mm$", "mm%1"):gsub("-", "_"))
end

-- The C function `by_hand` with the parameters of kernel k, which calls the one by hand at extents z: a
-- compiler sees them as constants, as it does in what Tide emits.
local function wrapper(name, k, z)
  local given, passed = {}, {}
  for key in require(name).extents:gmatch "%a" do passed[#passed + 1] = tostring(z[key]) end
  for i, p in ipairs(k.params) do
    given[i] = (#p.type.shape == 0 and "T a%d" or "void *a%d"):format(i)
    passed[#passed + 1] = "a" .. i
  end
  return ([[
#include "tests/polybench/reference.h"
void by_hand(%s);
void by_hand(%s) { %s(%s); }
]]):format(table.concat(given, ", "), table.concat(given, ", "), symbol(name), table.concat(passed, ", "))
end

-- Compiles C source; returns the path of the shared object.
local function compile(source, T)
  local path = os.tmpname()
  objects[#objects + 1] = path
  local pipe = assert(io.popen(("%s %s -DT=%s -x c - -o '%s' -lm"):format(compiler, flags, T, path), "w"))
  pipe:write(source)
  assert(pipe:close(), "the reference does not compile")
  return path
end

--- Kernel `name` of the suite, by hand, as an extern. o: size and type as for suite.make.
function reference.kernel(name, o)
  local T = o.type or tide.f64
  local z = type(o.size) == "table" and o.size or polybench.extents(name, o.size)
  local k = require(name).kernel(T, z)
  local spec = {library = compile(wrapper(name, k, z), T == tide.f32 and "float" or "double"), symbol = "by_hand"}
  local words, types = {}, {}
  for i, p in ipairs(k.params) do
    types[i] = p.type
    words[i] = (", %s = T[%d]"):format(p.name, i)
  end
  local text = "local tide, spec, T = ...\nreturn tide.extern {library = spec.library, symbol = spec.symbol%s}"
  return assert(load(text:format(table.concat(words)), "=reference"))(tide, spec, types)
end

--- Removes what was compiled.
function reference.close()
  for _, path in ipairs(objects) do os.remove(path) end
  objects = {}
end

return reference
