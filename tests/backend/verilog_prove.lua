-- verilog_prove.lua - [slow] m:prove: texts against their programs on all inputs, library modules by induction; a
-- text that is changed is told, what cannot be proved says so.
local shell = require "shell"
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i8, task, grid = tide.i8, tide.task, tide.grid

if not (case.has "yosys-smtbmc" and case.has "z3") then t.skip_all "yosys-smtbmc and z3 are not here" end

local function acc(n, factor)
  return tide.kernel {
    name = "acc", x = i8[n], y = i8[n],
    function(x, y) for i in grid(n) do y[i] = y[i] + x[i] * factor end end,
  }
end

local function pipe(n, depth)
  return tide.schedule(tide.design(function(d)
    local z = d:stream(i8, {depth = depth})
    d.src = task {X = i8[n], function(X) for k in grid(n) do z:put(X[k] + k) end end}
    d.dst = task {Y = i8[n], function(Y) for k in grid(n) do Y[k] = z:get() end end}
  end)):pipeline "src:k":pipeline "dst:k"
end

local function prove(p, options, control)
  return p:build {target = "verilog", seconds = 120, control = control}:prove(options)
end

t.test("kernels and designs are proved for all inputs", function()
  for _, q in ipairs {{4, 3}, {2, 5}} do
    t.eq(prove(acc(q[1], q[2])).acc, "proved")
    t.eq(prove(tide.schedule(acc(q[1], q[2])):pipeline "i").acc, "proved")
    for control, module in pairs {handshake = "tide_fifo", static = "tide_line"} do
      local r = prove(pipe(q[1], q[2]), nil, control)
      t.eq(r.design_top, "proved", tostring(r))
      t.eq(r[module], "proved")
    end
  end
  local k = tide.kernel {
    name = "turn", x = i8[3], y = i8[3], n = i8,
    function(x, y, n)
      local b = i8[3]()
      for i in grid(3) do b[2 - i] = x[i] + n end
      for i in grid(3) do if i < n then y[i] = b[i] // 3 end end
    end,
  }
  local r = prove(k)
  t.eq(r.turn, "proved", tostring(r))
  t.eq(r.tide_ram, "proved")
end)

t.test("fewer cycles than a call takes: it holds for those", function()
  t.eq(prove(acc(4, 3), {depth = 3}).acc, "holds for 3 cycles")
  t.eq(prove(acc(4, 3), {depth = 40}).acc, "proved")
end)

t.test("what data decides is not decided", function()
  local k = tide.kernel {name = "while_", x = i8[2], function(x) while x[0] > 0 do x[0] = x[0] - 1 end end}
  t.eq(prove(k).while_, "not decided")
  local large = tide.kernel {name = "big", x = i8[5000], function(x) for i in grid(5000) do x[i] = 1 end end}
  t.eq(prove(large).big, "not decided")
  local relay = tide.kernel {
    name = "relay", X = tide.stream(i8), Y = tide.stream(i8),
    function(X, Y) for _ in grid(3) do Y:put(X:get() + 1) end end,
  }
  t.eq(prove(relay).relay, "not decided")
  t.fails(function() prove(acc(2, 3), {depth = -1}) end, {code = "option-value"})
end)

t.test("a text that computes something else is found", function()
  local dir = t.tmp "tools"
  os.execute(("rm -rf %s && mkdir -p %s/bin"):format(dir, dir))
  local real = shell.output("command -v yosys"):gsub("%s+$", "")
  shell.write(dir .. "/bin/yosys", ("#!/bin/sh\nsed -i 's/y_q + mul/y_q - mul/' acc.sv\nexec %s \"$@\"\n"):format(real))
  shell.write(dir .. "/run.lua", [[
local tide = require "tide"
local k = tide.kernel {name = "acc", x = tide.i8[2], y = tide.i8[2], function(x, y)
  for i = 0, 1 do y[i] = y[i] + x[i] * 3 end
end}
local ok, e = pcall(function() return k:build {target = "verilog"}:prove() end)
print(ok, ok and e or e.code)]])
  os.execute(("chmod +x %s/bin/yosys"):format(dir))
  local text = shell.output(("PATH=%s/bin:$PATH TIDE_CACHE=%s %s %s 2>&1"):format(dir, shell.quote(dir),
    shell.quote(shell.program), shell.quote(dir .. "/run.lua")))
  t.has(text, "verilog-differs")
end)

t.done()
