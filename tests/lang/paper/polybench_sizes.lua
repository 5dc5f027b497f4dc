-- [slow] The thirty kernels of PolyBench at its sizes: MINI and SMALL beside plain Lua, MEDIUM beside the same
-- kernels by hand in C, bit by bit; make bench goes on at LARGE.
local t = require "tap"
local polybench = require "polybench"
local reference = require "reference"

-- The arguments of a kernel after a call of f.
local function after(f, name, size)
  local _, args = polybench.make(name, {size = size})
  f(table.unpack(args))
  return args
end

-- States that two lists of arguments hold the same.
local function agree(got, want, same)
  for i, v in ipairs(want) do
    if type(v) == "userdata" then t.ok(same(got[i], v), "argument " .. i) end
  end
end

local function equal(a, b) return a:equal(b) end
local function close(a, b) return a:allclose(b) end

for _, name in ipairs(polybench.names) do
  for _, size in ipairs {"mini", "small"} do
    t.test(name .. ", " .. size .. ": beside plain Lua", function()
      local k = polybench.make(name, {size = size})
      agree(after(k, name, size), after(function(...) k:native(...) end, name, size), close)
    end)
  end
  t.test(name .. ", medium: beside C by hand", function()
    local by_hand = reference.kernel(name, {size = "medium"})
    local k = polybench.make(name, {size = "medium"})
    agree(after(k, name, "medium"), after(by_hand, name, "medium"), equal)
  end)
end

reference.close()
t.done()
