-- collect.lua - the programs of other test files, which are run here only to find them.
--   collect.each(record)   -- record(name, program, inputs) for every program
--   collect.prim(record)   -- for those of tests/prim alone
-- Programs are what tests of primitives accept, after the step, and what tests of the language run.
local t = require "tap"
local prim = require "prim"
local programs = require "programs"
local tide = require "tide"

local collect = {}

-- Copies of arguments.
function collect.copies(...)
  local list = {...}
  for i, v in ipairs(list) do
    if type(v) == "userdata" then list[i] = v:copy() end
  end
  return list
end

-- Random arguments of these types, numbers as they are.
local function random(types)
  local list = {}
  for i, T in ipairs(types) do list[i] = type(T) == "number" and T or tide.random(T, 7 * i) end
  return list
end

-- The kernel at the sizes that its arguments of these types tell.
local function at_arguments(k, types)
  local sizes = {}
  for i, p in ipairs(k.params) do
    for d, extent in ipairs(types[i] and p.type.shape or {}) do
      if k.sizes[tostring(extent)] == false then sizes[tostring(extent)] = types[i].shape[d] end
    end
  end
  return next(sizes) and k:at(sizes) or k
end

-- Runs a test file whose tests only record programs; returns how many tests failed to.
local function visit(path, record)
  local real, failed, test = {test = t.test, done = t.done, skip_all = t.skip_all}, 0, ""
  function t.test(name, fn)
    test = path .. ": " .. name
    if not pcall(fn) then failed = failed + 1 end
  end
  function t.done() end
  function prim.refuse() return {} end
  function prim.accept(c)
    local k, types = c.of(c.sizes or {})
    local s = tide.schedule(at_arguments(k, types))
    if c.before then c.before(s) end
    local made = {s[c.step[1]](s, table.unpack(c.step, 2))}
    record(test, s, random(types))
    return s, table.unpack(made, 2)
  end
  local function same(k, ...)
    record(test, k, collect.copies(...))
    local list = collect.copies(...)
    k:reference(table.unpack(list))
    return table.unpack(list)
  end
  programs.same, programs.close, programs.foreign = same, same, same
  programs.again = function(k) return k end
  programs.done = t.done
  pcall(dofile, path)
  for key, f in pairs(real) do t[key] = f end
  return failed
end

-- The test files below a folder that use a module.
local function files(folder, module)
  local found = {}
  local pipe = assert(io.popen(([[grep -rl 'require "%s"' %s | LC_ALL=C sort]]):format(module, folder)))
  for path in pipe:lines() do found[#found + 1] = path end
  pipe:close()
  return found
end

function collect.prim(record)
  for _, path in ipairs(files("tests/prim", "prim")) do visit(path, record) end
end

function collect.each(record)
  collect.prim(record)
  for _, path in ipairs(files("tests/lang", "programs")) do visit(path, record) end
end

return collect
