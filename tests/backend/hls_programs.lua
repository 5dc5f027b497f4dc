-- hls_programs.lua - every kernel of the tests of primitives and of the language as HLS C++: it
-- compiles without a warning and computes what the program does.
local t = require "tap"
local batch = require "hls_batch"
local prim = require "prim"
local programs = require "programs"

-- What HLS does not take, by code.
local refused, excused = {}, {["no-streams"] = true, ["no-model"] = true, ["unbound-size"] = true}

-- Copies of arguments; nil where one is no tensor or number.
local function copies(...)
  local list = {...}
  for i, v in ipairs(list) do
    if type(v) == "userdata" then list[i] = v:copy() end
  end
  return list
end

-- Adds a program unless it is one that HLS does not take.
local function record(name, program, inputs)
  local passed, e = pcall(batch.add, name, program, inputs)
  if passed then return end
  local code = type(e) == "table" and e.code or tostring(e)
  if not excused[code] then refused[#refused + 1] = name .. ": " .. tostring(e) end
end

-- Runs a test file whose tests only record programs.
local function visit(path)
  local number = 0
  local real = {test = t.test, done = t.done, skip_all = t.skip_all}
  local test = ""
  function t.test(name, fn)
    test = path .. ": " .. name
    pcall(fn)
  end
  function t.done() end
  function prim.refuse() return {} end
  function prim.accept(c)
    local k, types = c.of(c.sizes or {})
    local s = require "tide".schedule(k)
    if c.before then c.before(s) end
    local made = {s[c.step[1]](s, table.unpack(c.step, 2))}
    local inputs = {}
    for i, T in ipairs(types) do
      inputs[i] = type(T) == "number" and T or require "tide".random(T, 7 * i)
    end
    number = number + 1
    record(test, s, inputs)
    return s, table.unpack(made, 2)
  end
  local function same(k, ...)
    record(test, k, copies(...))
    local list = copies(...)
    k:reference(table.unpack(list))
    return table.unpack(list)
  end
  programs.same, programs.close, programs.foreign = same, same, same
  programs.again = function(k) return k end
  programs.done = t.done
  pcall(dofile, path)
  for key, f in pairs(real) do t[key] = f end
end

-- The test files below a folder that use a module.
local function files(folder, module)
  local found = {}
  local pipe = assert(io.popen(("grep -l 'require \"%s\"' %s/*.lua | LC_ALL=C sort"):format(module,
    folder)))
  for path in pipe:lines() do found[#found + 1] = path end
  pipe:close()
  return found
end

for _, path in ipairs(files("tests/prim", "prim")) do visit(path) end
for _, path in ipairs(files("tests/lang", "programs")) do visit(path) end

t.test("HLS takes all that it should", function()
  t.eq(table.concat(refused, "\n"), "")
end)
batch.test()
t.done()
