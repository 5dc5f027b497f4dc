-- Metrics of STeP graphs that a user adds, and operational intensity: step.metric, g:metric, g:intensity.
local core = require "tide.step.core"

local metrics = {}
local terms = {}

local operators = {}
for _, o in ipairs(core.operators()) do operators[o.name] = true end

--- Adds a metric: a function of a node for each operator that counts.
function metrics.add(name, by_operator)
  if type(name) ~= "string" or type(by_operator) ~= "table" then
    error("step.metric takes a name and functions by operator", 3)
  end
  for op, f in pairs(by_operator) do
    if not operators[op] then error(("step.metric: there is no operator '%s'"):format(op), 3) end
    if type(f) ~= "function" then error(("step.metric: what counts for '%s' is a function"):format(op), 3) end
  end
  terms[name] = by_operator
end

--- The sum of a metric over the nodes of a graph.
function metrics.of(g, name)
  local f = terms[name] or error(("there is no metric '%s': step.metric adds one"):format(tostring(name)), 2)
  local sum = 0
  for _, node in ipairs(core.describe(g).nodes) do
    if f[node.op] then sum = sum + f[node.op](node) end
  end
  return sum
end

local Ratio = {}
Ratio.__index = Ratio

function Ratio.__tostring(r) return ("(%s) / (%s)"):format(r.flops, r.traffic) end

--- The value at values of the symbols: a number, or what is left.
function Ratio:at(symbols)
  if type(symbols) ~= "table" then error("at takes a table of values by name, {D0 = 4}", 2) end
  local a, b = self.flops:at(symbols), self.traffic:at(symbols)
  if math.type(a) and math.type(b) then return a / b end
  return setmetatable({ flops = a, traffic = b }, Ratio)
end

--- Operational intensity: operations for each byte that comes from off-chip memory or goes there.
function metrics.intensity(g)
  return setmetatable({ flops = g:flops(), traffic = g:traffic() }, Ratio)
end

return metrics
