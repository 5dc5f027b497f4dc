-- The cost of a call of C: direct from compiled code, through libffi from Lua, and in a process of its own.
local tide = require "tide"
local b = require "bench"
local f64 = tide.f64

local hypot = tide.extern {library = "libm.so.6", symbol = "hypot", f64(f64, f64)}
local MANY = 100000

-- Nanoseconds of one of n calls.
local function each(n, call) return b.median(7, function() for _ = 1, n do call() end end) * 1e6 / n end

local inside = tide.kernel {x = f64[1], function(x) for _ = 1, MANY do x[0] = hypot(x[0], 1.0) end end}
local plain = tide.kernel {x = f64[1], function(x) for _ = 1, MANY do x[0] = math.sqrt(x[0] * x[0] + 1.0) end end}
local empty = tide.kernel {x = f64[1], name = "empty", function(x) x[0] = 1.0 end}
local x = f64[1](0)
local run, same = (tide.schedule(inside):build {target = "cpu", tier = "cc"}),
  (tide.schedule(plain):build {target = "cpu", tier = "cc"})
b.row("a direct call in a compiled kernel", each(1, function() run(x) end) / MANY, "ns")
b.row("the same written in the kernel", each(1, function() same(x) end) / MANY, "ns")
b.row("a call through libffi from Lua", each(20000, function() hypot(3.0, 4.0) end) / 1000, "us")
b.row("a call of a compiled kernel, by its own signature", each(20000, function() empty(x) end) / 1000, "us")
-- Wall time, because two processes share the work: of a program with many calls, less one with few.
local function wall(declare, call)
  local function program(n) return ("'%s' -e '%s for _ = 1, %d do %s end'"):format(arg[-1], declare, n, call) end
  return (b.command(5, program(5001)) - b.command(5, program(1))) / 5
end
b.row("a call in a process of its own", wall([[local f = tide.extern {library = "libm.so.6", symbol = "hypot",
  process = true, f64(f64, f64)}]], "f(3.0, 4.0)"), "us", 200)
b.row("the same with 4 KiB there and back", wall([[local v = i32[1024](7) local f = tide.extern {
  library = "libc.so.6", symbol = "memfrob", process = true, tide.void(i32[1024], i64)}]], "f(v, 4096)"), "us", 200)
b.done()
