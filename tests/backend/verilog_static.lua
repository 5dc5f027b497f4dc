-- [slow] verilog_static.lua - Verilog without handshakes (`control = "static"`): arrays and random networks of regular
-- tasks run in the cycles of those with handshakes; what is not regular is refused; registers of a processing element.
local t = require "tap"
local case = require "verilog_case"
local campaign = require "campaign"
local tide = require "tide"
local i8, i16, i32, task, grid = tide.i8, tide.i16, tide.i32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- An array of P x Q elements that sum products of K pairs of T, passed on to the right and down.
local function array(P, Q, K, T, depth)
  return tide.design(function(d)
    local right = d:stream(T, {P, Q + 1}, {depth = depth or 2})
    local down = d:stream(T, {P + 1, Q}, {depth = depth or 2})
    d.west = task {map = {P}, X = T[P][K], function(X, r) for k in grid(K) do right[r][0]:put(X[r][k]) end end}
    d.north = task {map = {Q}, Y = T[K][Q], function(Y, c) for k in grid(K) do down[0][c]:put(Y[k][c]) end end}
    d.mac = task {map = {P, Q}, Z = i32[P][Q],
      function(Z, r, c)
        local sum = i32(0)
        for _ in grid(K, "k") do
          local x, y = right[r][c]:get(), down[r][c]:get()
          sum = sum + x * y
          if c < Q - 1 then right[r][c + 1]:put(x) end
          if r < P - 1 then down[r + 1][c]:put(y) end
        end
        Z[r][c] = sum
      end}
  end)
end

local function piped(d) return tide.schedule(d):pipeline "west:k":pipeline "north:k":pipeline "mac:k" end

-- Whether a build has no handshakes between tasks.
local function is_static(m) return m.files["tide_hold.sv"] ~= nil or m.files["tide_line.sv"] ~= nil end

t.test("arrays run in the cycles of those with handshakes, twice", function()
  for _, q in ipairs {{4, 4, 16, i8}, {2, 3, 7, i16}, {1, 5, 4, i8}, {3, 1, 9, i8, 4}} do
    local P, Q, K, T, depth = table.unpack(q)
    local s = piped(array(P, Q, K, T, depth))
    local X, Y, cycles = tide.random(T[P][K], 1), tide.random(T[K][Q], 2), {}
    for _, control in ipairs {"handshake", "static", "auto"} do
      local m = s:build {target = "verilog", sim = "icarus", control = control}
      t.eq(is_static(m), control ~= "handshake")
      for _ = 1, 2 do
        local Z = i32[P][Q](0)
        m(X, Y, Z)
        t.ok(Z:equal(tide.matmul(X, Y)))
      end
      cycles[#cycles + 1] = m.report.cycles
      case.lint(m)
    end
    t.eq(cycles[2], cycles[1])
    t.eq(cycles[3], cycles[1])
  end
end)

t.test("an element takes one multiplier and at most 32 registers", function()
  if not case.has "yosys" then t.skip "yosys is not here" return end
  for _, q in ipairs {{2, 2, 8}, {3, 2, 100}} do
    local m = piped(array(q[1], q[2], q[3], i8)):build {target = "verilog"}
    local line
    local cost = m:cost {flow = "xilinx"}
    for _, x in ipairs(cost.modules) do if x.name == "tide_line" then line = x.ff end end
    for _, x in ipairs(cost.modules) do
      if x.name:find "^mac" then
        t.eq(x.dsp, 1)
        t.ok(x.ff + 2 * line <= 32, ("%s: %d + 2 * %d"):format(x.name, x.ff, line))
      end
    end
  end
end)

t.test("what is not regular is refused; where handshakes may be, it has them", function()
  local function pair(put, get, step, head)
    local n = 6
    return tide.schedule(tide.design(function(d)
      local z = d:stream(i32, {depth = 2})
      d.src = task {X = i32[n], load(("local z, n, grid = ... return function(X) for k in grid(n) do %s end end")
        :format(put))(z, n, grid)}
      d.dst = task {Y = i32[n], load(("local z, n, grid = ... return function(Y) %s for k in grid(n) do %s end end")
        :format(head or "", get))(z, n, grid)}
    end)):pipeline "src:k":pipeline("dst:k", step or 1)
  end
  local good = {"z:put(X[k])", "Y[k] = z:get()"}
  local cases = {
    {good[1], good[2], 2, why = "its ends move at different rates"},
    {"if X[k] > 0 then z:put(X[k]) else z:put(1) end", good[2], why = "move no token"},
    {good[1], good[2], nil, "while Y[0] > 5 do Y[0] = Y[0] - 1 end", why = "control before it depends"},
    {"z:put(X[k])", "Y[k] = Y[k] + z:get()"},
    good,
  }
  for _, c in ipairs(cases) do
    local s = pair(c[1], c[2], c[3], c[4])
    local function build(control) return s:build {target = "verilog", sim = "icarus", control = control} end
    if c.why then
      local e = t.fails(function() build "static" end, {code = "not-static"})
      t.has(e.message, c.why)
    else
      build "static"
    end
    local m = build "auto"
    t.eq(is_static(m), c.why == nil)
    m(tide.random(i32[6], 1), tide.random(i32[6], 2, {lo = 0, hi = 9}))
  end
  local open = tide.design(function(d)
    local X, Y = d:arg(tide.stream(i32)), d:arg(tide.stream(i32))
    d.one = task {X = X, Y = Y, function(X, Y) for _ in grid(3, "k") do Y:put(X:get() + 1) end end}
  end)
  local e = t.fails(function()
    tide.schedule(open):pipeline "one:k":build {target = "verilog", control = "static"}
  end, {code = "not-static"})
  t.has(e.message, "end of the design")
  t.fails(function() tide.schedule(open):build {target = "verilog", control = "statik"} end, {code = "option-value"})
end)

-- The source of a network: tasks with one interval that get from earlier ones and put to later ones.
local function network(random, n)
  local head, text, free, ends = {}, {}, {}, 0
  local function pick(...) return (select(random(1, select("#", ...)), ...)) end
  local function take() return table.remove(free, random(1, #free)) end
  local function add(name, params, args, gets, puts, value)
    local body = {}
    for i, z in ipairs(gets) do body[i] = ("local v%d = %s:get()"):format(i, z) end
    body[#body + 1] = "local u = " .. value
    for _ = 1, puts do
      local z = ("s%d"):format(#head + 1)
      head[#head + 1] = ("local %s = d:stream(i32, {depth = %d}) %s"):format(z, random(1, 6),
        pick("", "", "", "--@ latency(3)"))
      body[#body + 1] = ("%s:put(%s)"):format(z, pick("u", "i32(u * 3)", "-u"))
      free[#free + 1] = z
    end
    if args:find "Y" then body[#body + 1] = args .. "[k] = u" end
    text[#text + 1] = ("d.%s = task {%sfunction(%s) for k in grid(%d, 'k') do %s end end}"):format(name, params, args,
      n, table.concat(body, " "))
  end
  for i = 1, random(1, 2) do
    add("src" .. i, ("X%d = i32[%d], "):format(i, n), "X" .. i, {}, random(1, 5) == 1 and 2 or 1,
      (pick("X[k]", "X[k] * X[k]"):gsub("X", "X" .. i)))
  end
  for i = 1, random(1, 5) do
    local gets = {take()}
    if #free > 0 and random(1, 2) == 1 then gets[2] = take() end
    add("mid" .. i, "", "", gets, random(1, 3) == 1 and 2 or 1,
      gets[2] and pick("v1 + v2", "i32(v1 * v2)") or pick("v1", "i32(v1 * v1)", "v1 // 3"))
  end
  while #free > 0 do
    ends = ends + 1
    add("dst" .. ends, ("Y%d = i32[%d], "):format(ends, n), "Y" .. ends, {take()}, 0, pick("v1", "i32(v1 * 7)"))
  end
  return ("local tide = require 'tide'\nlocal i32, task, grid = tide.i32, tide.task, tide.grid\n" ..
    "return tide.design(function(d)\n%s\n%s\nend)"):format(table.concat(head, "\n"), table.concat(text, "\n"))
end

local count, first = campaign.range(24)
t.test(("%d random networks run in their cycles"):format(count), function()
  local static = 0
  for seed = first, first + count - 1 do
    math.randomseed(seed)
    local n, step = math.random(1, 12), math.random(1, 3)
    local source = network(math.random, n)
    local s = tide.schedule(assert(load(source))())
    for name in source:gmatch "d%.(%w+) = task" do s:pipeline(name .. ":k", step) end
    local args = {}
    for kind in source:gmatch "([XY])%d = i32" do
      args[#args + 1] = kind == "X" and tide.random(i32[n], seed, {lo = -90, hi = 90}) or i32[n](0)
    end
    local ok, e = pcall(function()
      local m = s:build {target = "verilog", sim = "icarus", most = 10000}
      static = static + (is_static(m) and 1 or 0)
      m(table.unpack(args))
    end)
    local alike = ok or type(e) == "table" and e.code == "deadlock"
    if not alike then t.ok(false, seed .. ": " .. tostring(e) .. source) end
  end
  t.ok(static * 4 > count, static .. " without handshakes")
end)

t.done()
