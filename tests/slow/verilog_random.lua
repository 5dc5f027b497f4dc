-- verilog_random.lua - random kernels as Verilog, run in Icarus: the check compares values and cycles with the timed
-- run; what is refused is refused by name.
local t = require "tap"
local case = require "verilog_case"
local generator = require "generator"

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local count, first = require "campaign".range(300)

t.test(("%d random kernels run in their cycles"):format(count), function()
  local ran = 0
  for seed = first, first + count - 1 do
    local program = generator.program(seed)
    local k = load(program.text())()
    local built, m = pcall(k.build, k, {target = "verilog", sim = "icarus", most = 1000000})
    if built then
      local ok, e = pcall(m, table.unpack(program.arguments()))
      t.ok(ok, ("seed %d: %s"):format(seed, tostring(e)))
      ran = ran + 1
    else
      t.eq(m.code, "not-built", ("seed %d: %s"):format(seed, tostring(m)))
    end
  end
  t.ok(ran > count * 0.9, ("%d of %d ran"):format(ran, count))
end)

t.done()
