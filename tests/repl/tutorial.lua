-- The lesson at the prompt: all that it asks for can be typed, in its own words or others; it notices what is missing.
local fences = require "tide.tool.fences"
local shell = require "shell"
local t = require "tap"

-- The blocks of the first lesson, as it asks for them.
local function blocks()
  local list = {}
  for _, item in ipairs(fences.parse(shell.read "examples/lessons/1_first_kernel.md")) do
    if item.language == "lua" and not item.flags.hide and not item.flags.skip then
      list[#list + 1] = table.concat(item.lines, "\n")
    end
  end
  return list
end

t.test("typed block by block, the lesson comes to its end", function()
  local list = blocks()
  local said = shell.session("tutorial\n" .. table.concat(list, "\n") .. "\n6 * 7\n")
  t.has(said, "A kernel is an ordinary Lua function")
  t.has(said, "That was the first lesson")
  t.ok(not said:find("not what the lesson waits for", 1, true), said)
  t.has(said:match "That was the first lesson.*", "\n42\n")
end)

t.test("other words for the same do; something else is told, once a block's lines are typed", function()
  local list = blocks()
  local rest = table.concat(list, "\n", 1, 2)
  local same = shell.session("tutorial\n" .. rest ..
    "\nx = tide.tensor(f32[N], {0, 1, 2, 3, 4, 5, 6, 7})\nq = f32[8](10) saxpy(2, x, q) y = q\nq\n")
  t.has(same, "runs as the plain Lua function")
  local other = shell.session("tutorial\n" .. rest .. "\nx = 1\ny = 2\n3\n4\n")
  t.has(other, "not what the lesson waits for")
  t.ok(not other:find("runs as the plain Lua function", 1, true))
end)

t.test("it is told again, goes on, and ends", function()
  local said = shell.session "tutorial\ntutorial\n:tutorial next\n:tutorial stop\n:tutorial stop\n1 + 1\n"
  t.eq(select(2, said:gsub("local N = 8", "")), 2)
  t.has(said, "Ask the kernel what it is")
  t.has(said, "The lesson is over")
  t.has(said, "There is no lesson under way")
  t.ok(not said:find("not what the lesson", 1, true))
  t.has(shell.session ":tutorial again", "takes next, stop or nothing")
  t.has(shell.session "tutorial = 3\ntutorial", "3")
end)

t.done()
