-- The tables of what is shown by which test: each file that they name is there, and each test in it.
local t = require "tap"
local read = require "shell".read

-- What a row names: path, and a name in it or nil. "`a.lua`: one, two; `b.lua`" names three things.
local function named(row)
  local list = {}
  for path, rest in row:gmatch "`([%w_/]+%.%l+)`([^`|]*)" do
    local names = rest:match "^: (.-)[; ]*$"
    if not names then list[#list + 1] = {path} end
    for name in (names or ""):gmatch "[^,]+" do list[#list + 1] = {path, name:match "^%s*(.-)%s*$"} end
  end
  return list
end

-- States that all that a text names is there; returns how much that is.
local function check(text)
  local n = 0
  for row in text:gmatch "[^\n]+" do
    for _, x in ipairs(row:find "^|" and named(row) or {}) do
      local path, name = x[1], x[2]
      if path:find "/" then
        n = n + 1
        t.ok(read(path):find(name or "", 1, true), ("%s has no test '%s'"):format(path, name))
      end
    end
  end
  return n
end

for path, least in pairs {["examples/README.md"] = 60, ["tests/acceptance.md"] = 200, ["tests/fuzz/README.md"] = 8,
  ["tests/repl/README.md"] = 100} do
  t.test("what the tables of " .. path .. " name is there", function() t.ok(check(read(path)) > least) end)
end

t.test("a name that is not there is found", function()
  t.eq(named "| x | `a/b.lua`: one, two; `c/d.lua` |", {{"a/b.lua", "one"}, {"a/b.lua", "two"}, {"c/d.lua"}})
  t.ok(not pcall(check, "| x | `tests/house/features.lua`: " .. "no such " .. "test |"))
end)

t.done()
