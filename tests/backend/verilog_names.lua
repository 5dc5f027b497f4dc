-- [slow] verilog_names.lua - names of users that Verilog, the library or the bench have: each text defines a module
-- once, and Icarus takes it; options that would clash are refused.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i32, task, grid = tide.i32, tide.task, tide.grid

-- The modules of the library, as its sources define them.
local function library()
  local out = {}
  for _, name in ipairs {"library", "float"} do
    local f <close> = assert(io.open(("backends/verilog/library/%s.c"):format(name)))
    for module in f:read("a"):gmatch "module (tide_[%w_]+)" do out[#out + 1] = module end
  end
  return out
end

-- A build whose files define no module twice; its own modules by name.
local function modules(m)
  local dir, seen = t.tmp "verilog_names", {}
  os.execute("rm -rf " .. dir)
  m:write(dir)
  for file in io.lines(dir .. "/files.f") do
    for line in io.lines(dir .. "/" .. file) do
      local name = line:match "^module ([%w_]+)"
      if name then
        t.ok(not seen[name], name .. " is defined twice")
        seen[name] = true
      end
    end
  end
  return seen
end

-- A design with a FIFO whose tasks are called so.
local function pair(src, snk)
  return tide.design(function(d)
    local z = d:stream(i32, {depth = 2})
    d[src] = task {A = i32[4], function(A) for k in grid(4) do z:put(A[k]) end end}
    d[snk] = task {y = i32[4], logic = i32, function(y, logic) for k in grid(4) do y[k] = z:get() + logic end end}
  end)
end

local function kernel(name)
  return tide.kernel {name = name, x = i32[4], y = i32[4], clocked = i32, function(x, y, clocked)
    local reg = i32[4](1)
    for always in grid(4) do reg[always] = reg[always] + x[3 - always] end
    for logic in grid(4) do y[logic] = reg[logic] + clocked end
  end}
end

-- States that p runs to the values of the CPU.
local function runs(p, options)
  options.target, options.sim = "verilog", "icarus"
  local want, got = i32[4](0), i32[4](0)
  p:build {target = "cpu"}(tide.random(i32[4], 3), want, 7)
  p:build(options)(tide.random(i32[4], 3), got, 7)
  t.ok(want:equal(got), ("%s, not %s"):format(got, want))
end

t.test("tasks and kernels called as modules of the library are", function()
  local names = library()
  t.ok(#names > 20, "the library is read")
  for _, name in ipairs(names) do
    t.ok(modules(kernel(name):build {target = "verilog"})[name .. "_top"], name)
    t.ok(modules(pair(name, "sink"):build {target = "verilog"})[name .. "_top"], name)
  end
  t.ok(modules(kernel "tide_mine":build {target = "verilog"}).tide_mine)
end)

t.test("names of the bench, of pins, of SystemVerilog, in any case", function()
  local other = {"bench", "clocked", "tide_watch", "busy", "clk", "rst", "start", "always", "Logic", "x", "y_we",
    "sink"}
  for _, name in ipairs(other) do
    modules(kernel(name):build {target = "verilog"})
    modules(pair(name, "drain"):build {target = "verilog"})
    if case.has "iverilog" then
      runs(kernel(name), {})
      runs(pair(name, "drain"), {})
    end
  end
end)

t.test("tasks called as the top, or as what stands around it, are renamed", function()
  local m = modules(pair("own", "own_core"):build {target = "verilog", top = "own", clock = "c"})
  t.ok(m.own and m.own_core and m.own_task and m.own_core_task)
  if case.has "iverilog" then runs(pair("own", "own_core"), {top = "own", interface = "stream"}) end
end)

t.test("tops that are called as something else are refused; others are not", function()
  for _, name in ipairs {"tide_fifo", "tide_regs", "bench", "busy", "logic", "c"} do
    t.fails(function() kernel "f":build {target = "verilog", top = name, clock = "c"} end, {code = "option"})
  end
  kernel "f":build {target = "verilog", top = "tide_mine", clock = "c"}
end)

t.done()
