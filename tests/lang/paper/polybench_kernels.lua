-- The thirty kernels of PolyBench: run in all ways that must agree, then every loop split with a
-- tail, which is proved and run again.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local polybench = require "polybench"

for _, name in ipairs(polybench.names) do
  t.test(name, function()
    local k, args = polybench.make(name)
    local want = table.pack(p.close(k, table.unpack(args)))
    local s = tide.schedule(k)
    for _, loop in ipairs(s:loops()) do s:split(loop, 2) end
    t.eq(s:verify(), "strict")
    local _, again = polybench.make(name)
    s(table.unpack(again))
    for i = 1, want.n do
      if type(want[i]) == "userdata" then t.ok(again[i]:equal(want[i]), "argument " .. i) end
    end
  end)
end

p.done()
