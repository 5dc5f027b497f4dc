-- comments.lua - comments of C that take several lines have a star in front of each.
local tree = require "lint.tree"

-- Whether a comment begins in a line and goes on in the next.
local function is_open(line)
  local at = line:match ".*()/%*"
  return at ~= nil and not line:find("*/", at + 2, true) and not line:sub(1, at):find '"[^"]*$'
end

local function check_stars(report)
  for _, path in ipairs(tree.matching("%.[ch]$", "%.cpp$", "%.def$")) do
    local inside = false
    for n, line in ipairs(tree.lines(path)) do
      if inside and not line:find "^ +%*" then report(path, n, "a line of a comment without a star") end
      if inside then inside = not line:find("*/", 1, true) else inside = is_open(line) end
    end
  end
end

return {{"comments of several lines have a star in front of each", check_stars}}
