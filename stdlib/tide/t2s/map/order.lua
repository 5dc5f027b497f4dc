-- reorder of a stage that is isolated from a Func: the order in which it passes elements on. It is that of its task's
-- loops, which relays and buffers made; a directive that asks for it holds, one that asks for another is refused.
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"

local order = {}

local fail = expr.fail

-- The Var of which a task's loop is a copy: one of a Func's nests has a loop of that name, with what relay and buffers
-- put behind it.
local function var_of(nests, loop)
  for _, nest in ipairs(nests) do
    for _, x in ipairs(nest) do
      local rest = x.loop and loop:sub(1, #x.loop) == x.loop and loop:sub(#x.loop + 1)
      for _, suffix in ipairs { "", "_of", "_back", "_init", "_load" } do
        if rest and rest:match("^" .. suffix .. "_?%d*$") then return x.var end
      end
    end
  end
end

-- The Vars of the loops of a stage's tasks, outermost first.
local function passed(m, stage, nests)
  local list = {}
  for _, l in ipairs(m.s:loops()) do
    local task, loop = l:match "^(.-):([^:]+)$"
    local v = task == stage.name and var_of(nests, loop:gsub("#%d+$", ""))
    if v then list[#list + 1] = v end
  end
  return list
end

-- Checks one directive of a stage that is on the device.
local function check(m, stage, d, nests)
  local list, last = passed(m, stage, nests), nil
  for n = 1, d.args.n do
    local v = directives.var_name(d.args[n], d.place, "reorder")
    local known = false
    for _, nest in ipairs(nests) do known = known or directives.position(nest, v, "var") end
    if not known or directives.removed(stage)[v] then
      directives.no_loop(d.place, "t2s-reorder", stage.name, v, list)
    end
    local k = directives.position(list, v)
    if k and last and k > last then
      fail(d.place, "t2s-reorder", ("%s passes elements on in the order %s"):format(stage.name,
        table.concat(list, ", ")), "reorder names the innermost loop first", "unsupported")
    end
    last = k or last
  end
end

--- Checks the reorder directives of all stages of a mapping.
function order.check(m)
  local seen = {}
  for _, c in ipairs(m.streams) do
    local stage = c[1]
    for d in directives.each(stage, "reorder") do
      if not seen[stage] and c.nest and not m.main[stage] and not stage.host then
        check(m, stage, d, m.nests[c.main_func] or {})
      end
    end
    seen[stage] = true
  end
end

return order
