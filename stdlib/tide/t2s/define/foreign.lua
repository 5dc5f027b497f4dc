-- Foreign functions of numbers (tide.extern) in a definition: a call is a part of an expression, as of tide.sqrt.
local tide = require "tide"

local foreign = {}

local known = setmetatable({}, { __mode = "k" }) -- unit -> what foreign.of gives, or false

-- Reads the printed form of a unit: its types, a model, its declaration.
local function read(text)
  local name, body = text:match "\nlocal ([%a_][%w_]*) = (tide%.extern %b{})"
  local result, args = (body or ""):match "\n  ([%w_]+)(%b()),\n"
  if not result or result == "void" or args:find("[%[{]") or args:find("%(", 2) then return false end
  local own = text:match "\n\n(.*\nreturn [%w_]+)"
  return { name = name, text = ("local %s = (function()\n%s\nend)()"):format(name, own), type = tide[result] }
end

--- A foreign function that takes and gives numbers: {name =, text = its declaration, type = of what it gives}, or nil.
function foreign.of(unit)
  if known[unit] == nil then known[unit] = read(tostring(unit)) end
  return known[unit] or nil
end

return foreign
