-- STeP, streaming tensor programs: graphs of operators on streams of tiles, with dynamic shapes and routing, simulated
-- with a clock. Operators are functions of this module and methods of streams; `step.operators()` lists them.
--   local step = require "tide.step"
--   local g = step.graph(function() return step.load(f32[8][64], { tile = { 1, 64 } }):map(step.fn.silu) end)
--   print(g, g:simulate().cycles, g:traffic())
local tide = require "tide"
local step = require "tide.step.core"

local m, n, k = tide.size "m", tide.size "n", tide.size "k"
local grid = tide.grid

-- The functions on tiles, each a kernel: what it computes is its meaning.
local meaning = {}

function meaning.matmul(T)
  return tide.kernel {
    name = "matmul", a = T[m][k], b = T[k][n], out = T[m][n],
    function(a, b, out) out:set(tide.matmul(a, b)) end,
  }
end

function meaning.matmul_t(T)
  return tide.kernel {
    name = "matmul_t", a = T[m][k], b = T[n][k], out = T[m][n],
    function(a, b, out) out:set(tide.matmul(a, b:transpose())) end,
  }
end

function meaning.mul(T)
  return tide.kernel {
    name = "mul", a = T[m][n], b = T[m][n], out = T[m][n],
    function(a, b, out) for i, j in grid(m, n) do out[i][j] = a[i][j] * b[i][j] end end,
  }
end

function meaning.div(T)
  return tide.kernel {
    name = "div", a = T[m][n], b = T[m][n], out = T[m][n],
    function(a, b, out) for i, j in grid(m, n) do out[i][j] = a[i][j] / b[i][j] end end,
  }
end

function meaning.add(T)
  return tide.kernel {
    name = "add", a = T[m][n], b = T[m][n], out = T[m][n],
    function(a, b, out) for i, j in grid(m, n) do out[i][j] = a[i][j] + b[i][j] end end,
  }
end

function meaning.silu(T)
  return tide.kernel {
    name = "silu", a = T[m][n], out = T[m][n],
    function(a, out)
      for i, j in grid(m, n) do out[i][j] = a[i][j] / (T(1) + tide.exp(T(0) - a[i][j])) end
    end,
  }
end

function meaning.exp(T)
  return tide.kernel {
    name = "exp", a = T[m][n], out = T[m][n],
    function(a, out) for i, j in grid(m, n) do out[i][j] = tide.exp(a[i][j]) end end,
  }
end

function meaning.row_sum(T)
  return tide.kernel {
    name = "row_sum", a = T[m][n], out = T[m][1],
    function(a, out)
      for i in grid(m) do
        local sum = T(0)
        for j = 0, n - 1 do sum = sum + a[i][j] end
        out[i][0] = sum
      end
    end,
  }
end

step.define(function(name, T) return meaning[name](T) end)

-- The cycles of a run with a clock of a kernel, schedule or design on tensors of these types.
step.timing(function(unit, device, ...)
  local arguments = { ... }
  for i, T in ipairs(arguments) do arguments[i] = T(0) end
  local run = tide.schedule(unit):build { target = "cpu", timed = true, device = device }
  run(table.unpack(arguments))
  return run.report.cycles
end)

--- Adds a metric: g:metric(name) is the sum of what f gives for each node of an operator, f(node) a number or an
--- expression of node.elements, .flops, .traffic, .memory and the other fields of step.describe.
---@param name string
---@param terms table<string, function> by operator
function step.metric(name, terms) require("tide.step.metrics").add(name, terms) end

return step
