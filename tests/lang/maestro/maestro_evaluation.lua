-- DataMaestro's ablation on every 20th workload of examples/maestro: what each step must gain, and what not.
package.path = "examples/maestro/?.lua;" .. package.path
local t = require "tap"
local workloads, steps = require "workloads", require "steps"

t.test("260 workloads in three groups", function()
  local n = {}
  for _, w in ipairs(workloads) do n[w.group] = (n[w.group] or 0) + 1 end
  t.eq(n, { G = 72, T = 72, V = 116 })
end)

-- By group, the least and the mean part of the MAC window at a step, and accesses.
local function run(name)
  local r = {}
  for _, step in ipairs(steps) do
    for i = 1, step.name:sub(1, #name) == name and #workloads or 0, 20 do
      local g = r[workloads[i].group] or { least = 1, sum = 0, n = 0, accesses = 0 }
      local window, _, accesses = steps.run(workloads[i], step)
      g.least, g.sum, g.n, g.accesses = math.min(g.least, window), g.sum + window, g.n + 1, g.accesses + accesses
      r[workloads[i].group], g.mean = g, (g.sum + window) / (g.n + 1)
    end
  end
  for _, g in pairs(r) do g.mean = g.sum / g.n end
  return r
end

t.test("steps of the ablation", function()
  local one, two, three, five, six, each = run "1 ", run "2 ", run "3 ", run "5 ", run "6 ", run "6'"
  for name in pairs(one) do t.ok(two[name].mean / one[name].mean > 1.65, name) end
  t.ok(three.T.accesses < two.T.accesses and three.T.mean < two.T.mean, "in fima, k stays in one group of banks")
  t.ok(five.V.accesses < 0.8 * two.V.accesses)
  t.eq({ six.G.least, six.T.least, each.G.least, each.T.least }, { 1, 1, 1, 1 })
  t.ok(six.V.mean < 0.99 and each.V.least >= 0.99, each.V.least)
end)

t.done()
