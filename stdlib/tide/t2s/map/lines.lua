-- A mapping as text: the directives of a Func and of the Funcs of its chains, those that stand for others as these.
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local func = require "tide.t2s.define.func"

local lines = {}

local words = { DOUBLE = "t2s.DOUBLE", REGISTER = "t2s.REGISTER", HOST = "t2s.HOST", UP = "t2s.UP", DOWN = "t2s.DOWN" }

-- An argument of a directive as Lua.
local function text_of(x)
  local def = func.record(x)
  if def then return def.name end
  if expr.is(x) then return (expr.text(x):gsub("^%((.*)%)$", "%1")) end
  if type(x) == "table" and getmetatable(x) == nil then
    local out = {}
    for n, y in ipairs(x) do out[n] = text_of(y) end
    return "{" .. table.concat(out, ", ") .. "}"
  end
  return words[x] or tostring(x)
end

--- A directive as Lua: F:name(..).
function lines.of(def, d)
  local out = {}
  for n = 1, d.args.n do
    if d.args[n] ~= nil then out[#out + 1] = text_of(d.args[n]) end
  end
  return ("%s:%s(%s)"):format(def.name, d.name, table.concat(out, ", "))
end

--- The directives of Funcs, in the order given, and of the stages of their chains.
function lines.all(order)
  local seen, out, made = {}, {}, {}
  local function add(def)
    if seen[def] then return end
    seen[def] = true
    local list = def.expanded or def.directives
    for _, d in ipairs(list) do out[#out + 1] = lines.of(def, d) end
    for _, kind in ipairs { "isolate_producer_chain", "isolate_consumer_chain" } do
      for _, c in ipairs(directives.chains(def, kind)) do
        for _, stage in ipairs(c.stages) do
          if stage.seq == 0 and not seen[stage] then made[#made + 1] = stage.name end
          add(stage)
        end
      end
    end
  end
  for _, def in ipairs(order) do add(def) end
  if #made > 0 then
    table.insert(out, 1, ('local %s = t2s.Func "%s"'):format(table.concat(made, ", "), table.concat(made, " ")))
  end
  return table.concat(out, "\n")
end

return lines
