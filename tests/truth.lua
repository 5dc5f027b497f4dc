-- truth.lua - what data says of two programs: runs on five random inputs, by the evaluator and then by the system's
-- compiler.
--   local runs = truth.runs(p, inputs)            -- inputs(seed): a list of arguments, new each time
--   local differ = truth.differ(runs, q)          -- does q leave other results, or only q fault?
--   truth.test()                                  -- the compiler says the same of all that ran to their end
local batch = require "c_batch"
local t = require "tap"

local truth = {}

local SEEDS = 5
local differs = {} -- by name: what the evaluator says of the programs in the batch

--- Five random inputs, each followed by what p leaves of them.
function truth.runs(p, inputs)
  local runs = {}
  for seed = 1, SEEDS do
    local before, after = inputs(seed), inputs(seed)
    p:reference(table.unpack(after))
    runs[2 * seed - 1], runs[2 * seed] = before, after
  end
  return runs
end

local function copies(args)
  local list = {}
  for i, v in ipairs(args) do list[i] = type(v) == "userdata" and v:copy() or v end
  return list
end

local function equal(a, b) return a:equal(b) end

--- Whether q leaves results that are not the same as in these runs, or faults in one. same(a, b) compares tensors:
--- bits, unless given; then the compiler is not asked.
function truth.differ(runs, q, same)
  local differ = false
  for r = 1, #runs, 2 do
    local args = copies(runs[r])
    if not pcall(q.reference, q, table.unpack(args)) then return true end
    for i, v in ipairs(runs[r + 1]) do
      differ = differ or type(v) == "userdata" and not (same or equal)(v, args[i])
    end
  end
  if same then return differ end
  local name = ("%d: %s"):format(batch.count() + 1, tostring(q))
  batch.add(name, q, table.unpack(runs))
  differs[name] = differ
  return differ
end

--- A test: compiled, the programs leave other results where the evaluator said so, and nowhere else.
function truth.test()
  batch.others("by the system's compiler: other results where the evaluator has them", "-O0", function(others)
    local ran = 0
    for name, differ in pairs(differs) do
      t.eq(others[name] == true, differ, name)
      ran = ran + 1
    end
    t.eq(ran, batch.count())
  end)
end

return truth
