-- The faults that `make fuzz-plants` plants fit the tree: a text that is not there, or twice, would plant nothing.
local shell = require "shell"
local t = require "tap"

for _, fault in ipairs(dofile "tests/fuzz/faults.lua") do
  t.test("where it goes is there once: " .. fault[1], function()
    for i = 2, #fault do
      local file, from, to = table.unpack(fault[i])
      local text = shell.read(file)
      local at, last = text:find(from, 1, true)
      t.ok(at and not text:find(from, last + 1, true), file .. ": " .. from)
      t.ok(from ~= to, "it changes the text")
    end
  end)
end

t.done()
