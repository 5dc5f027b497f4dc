-- DataMaestro, section IV: the ablation of Fig. 7 on 260 workloads: mean, quartiles and least utilisation of the MAC
-- window of each group at each step, accesses, and each step's gain beside the paper's.
-- Run: tide examples/maestro/evaluate.lua [EVERY] [ROWS] [FOLDER]
--   (EVERY n-th workload, default 1; ROWS of the memory, 512; FOLDER: bars of the means and boxes of V as SVG)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local plot = require "tide.plot"
local workloads, steps = require "workloads", require "steps"
local every, rows = tonumber(arg[1] or 1), tonumber(arg[2])

-- What the paper says of a step against the one before, in its words; the figures are its own.
local paper = {
  ["2 prefetch"] = "1.65 to 2.21 x", ["3 transposer"] = "1.16 x on T", ["4 broadcast"] = "up to 1.09 x",
  ["5 implicit im2col"] = "1.19 x on V", ["6 best mode"] = "G, T 100 %, V 92.03 %; 2.89 x in all",
}

local function mean(list)
  local sum = 0
  for _, v in ipairs(list) do sum = sum + v end
  return #list > 0 and sum / #list or 0
end

local function quartile(list, q) return list[math.max(1, math.ceil(#list * q / 4))] or 0 end

-- Runs one step; by group the sorted parts of the MAC window, and accesses.
local function run_step(step)
  local groups = {}
  for i = 1, #workloads, every do
    local w = workloads[i]
    local g = groups[w.group] or { window = {}, active = {}, accesses = 0, strides = { {}, {} } }
    groups[w.group] = g
    local window, active, accesses = steps.run(w, step, rows)
    g.window[#g.window + 1], g.active[#g.active + 1] = window, active
    g.accesses = g.accesses + accesses
    if w.s then table.insert(g.strides[w.s], window) end
  end
  for _, g in pairs(groups) do table.sort(g.window) end
  return groups
end

print(("%-20s %-2s %7s %7s %7s %7s %7s %7s %9s %6s"):format("step", "", "mean %", "min", "1/4", "1/2", "3/4", "active",
  "accesses", "gain"))
local before, first
local bars, boxes = {}, {}
for _, step in ipairs(steps) do
  local groups = run_step(step)
  first = first or groups
  for _, name in ipairs { "G", "T", "V" } do
    local g = groups[name]
    if g then
      local u = g.window
      bars[#bars + 1] = { step = step.name:match "^%S+", group = name, mean = 100 * mean(u) }
      for _, x in ipairs(name == "V" and u or {}) do
        boxes[#boxes + 1] = { step = step.name:match "^%S+", utilisation = 100 * x }
      end
      local strides = name == "V" and ("  stride 1: %.2f, stride 2: %.2f"):format(100 * mean(g.strides[1]),
        100 * mean(g.strides[2])) or ""
      local label = name == "G" and step.name or ""
      print(("%-20s %-2s %7.2f %7.2f %7.2f %7.2f %7.2f %7.2f %9.3f %6.2f%s"):format(label, name,
        100 * mean(u), 100 * u[1], 100 * quartile(u, 1), 100 * quartile(u, 2), 100 * quartile(u, 3),
        100 * mean(g.active), g.accesses / first[name].accesses, before and mean(u) / mean(before[name].window) or 1,
        strides))
    end
  end
  if paper[step.name] then print("                        paper: " .. paper[step.name]) end
  before = groups
end

-- Fig. 7 as bars, and how the convolutions spread.
if arg[3] then
  plot.draw(bars, { x = "step", y = "mean", by = "group", kind = "bars", title = "utilisation by step, %",
    file = arg[3] .. "/steps.svg" })
  plot.draw(boxes, { x = "step", y = "utilisation", kind = "box", title = "convolutions by step, %",
    file = arg[3] .. "/convolutions.svg" })
end
