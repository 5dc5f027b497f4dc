-- Equations that decide whether an isolated operand is read: they are evaluated where it is loaded, too, so that the
-- producer sends what is used and no more. A condition is cloned by writing the equation's right side in its place;
-- that it is the same definition is proved with the design.
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local tide = require "tide"

local clone = {}

-- The one equation of a Func that loops alone decide, in plain Vars: its stage, or nil.
local function equation(def)
  local s = #def.stages == 1 and not def.group and def.stages[1]
  if not s or s.call or s.rhs.op == "call" then return nil end
  for _, k in ipairs(s.kinds) do
    if k ~= "var" then return nil end
  end
  local data = expr.any(s.rhs, function(y)
    return y.op == "ref" and (y.base == def or y.base.kind ~= "func" or not equation(y.base))
  end)
  return not data and s or nil
end

-- A node with the right sides of equations in the place of their elements.
local function written_out(x)
  return expr.map(x, function(y)
    local s = y.op == "ref" and y.base.kind == "func" and equation(y.base)
    if not s then return nil end
    local by = {}
    for n, v in ipairs(s.lhs.idx) do by[v.name] = written_out(y.idx[n]) end
    local rhs = expr.map(s.rhs, function(v) return v.op == "var" and by[v.name] or nil end)
    local type, now = y.base.type or tide.i32, written_out(rhs)
    return type.kind == "int" and type.bits >= 32 and now or expr.apply("cast", type, now)
  end)
end

-- What a Func isolates.
local function isolated(def)
  local set = {}
  for _, c in ipairs(directives.chains(def, "isolate_producer_chain")) do set[c.of.base] = true end
  return set
end

--- The right side of a stage, with the conditions under which isolated operands are read written out; whether any was.
function clone.conditions(s)
  local set, any = isolated(s.func), false
  if not next(set) then return s.rhs, false end
  local function out(x)
    return expr.map(x, function(y)
      if y.op ~= "fn" or y.name ~= "select" then return nil end
      local reads = expr.any(y, function(z) return z.op == "ref" and set[z.base] end)
      local cond = y.args[1]
      local decided = reads and expr.any(cond, function(z) return z.op == "ref" end)
      if decided then
        local now = written_out(cond)
        if not expr.any(now, function(z) return z.op == "ref" end) then cond, any = now, true end
      end
      local args = { cond, out(y.args[2]), y.args[3] and out(y.args[3]) }
      return expr.new { op = "fn", name = "select", args = args }
    end)
  end
  local rhs = out(s.rhs)
  if any then return rhs, true end
  return s.rhs, false
end

return clone
