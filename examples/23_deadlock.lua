-- 23_deadlock: two mistakes with streams (Dato, Fig. 5), told when the design is made, without running it.
-- Run: tide examples/23_deadlock.lua
local tide = require "tide"
local f32, task = tide.f32, tide.task
local N = 4

-- Two puts for each get.
local _, why = pcall(tide.design, function(d)
  local s = d:stream(f32, { depth = N })
  d.func0 = task {
    x = f32[N],
    function(x)
      for i = 0, N - 1 do
        s:put(x[i])
        s:put(x[i])
      end
    end,
  }
  d.func1 = task {
    y = f32[N],
    function(y)
      for i = 0, N - 1 do y[i] = s:get() end
    end,
  }
end)
print(why)
assert(why.code == "imbalance")

-- A ring; `first` is what func0 does first.
local function ring(depth, first)
  return function(d)
    local sAB, sBA = d:stream(f32, { depth = depth }), d:stream(f32, { depth = depth })
    d.func0 = task {
      function()
        for i = 0, N - 1 do
          if first == "put" then
            sAB:put(f32(i))
            local _ = sBA:get() -- got and not used: only as `_`
          else
            sAB:put(sBA:get())
          end
        end
      end,
    }
    d.func1 = task {
      function()
        for _ = 0, N - 1 do
          local b = sAB:get()
          sBA:put(b)
        end
      end,
    }
  end
end

_, why = pcall(tide.design, ring(N, "get"))
print(why)
assert(why.code == "deadlock")

assert(pcall(tide.design, ring(1, "put")))
print "a ring that puts before it gets is fine, at depth 1 too"

--> ...error: stream s is out of balance: func0 puts 2 * N = 8, func1 gets N = 4
--> ...
--> ...error: deadlock: func0 -> sBA -> func1 -> sAB -> func0
--> ...
--> a ring that puts before it gets is fine, at depth 1 too
