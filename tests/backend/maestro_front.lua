-- [slow]
-- maestro.front as Verilog: streamers and the rest of a design as one text, each cycle of which (grants, banks, words,
-- tokens) and each value is that of the run with a clock.
local t = require "tap"
local case = require "verilog_case"
local random = require "maestro_systems"
local shell = require "shell"
local tide, maestro = require "tide", require "tide.maestro"
local i8, i16, i32, grid, task = tide.i8, tide.i16, tide.i32, tide.grid, tide.task

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- Runs a front on arguments in a simulator, and with a clock; the results are equal to `want`.
local function agrees(f, o, result, want, ...)
  o.target = "verilog"
  local m, c = f:build(o), f:build { target = "cpu", timed = true, device = o.device or "rtl" }
  m(...)
  t.ok(result:equal(want), tostring(f))
  c(...)
  t.eq(m.report.cycles, c.report.cycles)
  return m
end

t.test("random arrays, sizes, words and modes", function()
  local roll, pick = random.new(2026)
  local done = 0
  for n = 1, 24 do
    local ok, f, A, B, C = pcall(random.front, roll, pick)
    if ok then
      agrees(f, { bus = n % 3 == 0 and "axi_lite" or nil }, C, tide.matmul(A, B), A, B, C)
      done = done + 1
    end
  end
  t.ok(done > 8, done)
end)

t.test("rows that are dropped lie in words of their own", function()
  local f = maestro.front(random.array_design(1, 12, 4, 4, 2, 1), {
    memory = random.memory(4), mode = "half",
    A = maestro.reader { lanes = { 1 }, loops = 6, depth = 2 },
    B = maestro.reader { lanes = { 1 }, loops = 6, depth = 2 },
    C = maestro.writer { lanes = { 2 }, loops = 6, depth = 2 },
  })
  for _, stride in ipairs(f:stream "C".strides) do t.eq(stride % 4, 0, tostring(f)) end
  local A, B, C = tide.random(i8[1][4], 1), tide.random(i8[4][12], 2), i32[1][12](0)
  agrees(f, {}, C, tide.matmul(A, B), A, B, C)
end)

local function plain(z, I, i) z:put(I[i]) end
local function kept(O, y, i) O[i] = y:get() end

t.test("words of several tokens, what is left over, memories of any latency, devices", function()
  for n, x in ipairs { { i8, 31, 4, 2 }, { i16, 17, 8, 1 }, { i8, 8, 4, 2 }, { i32, 21, 4, 2 } } do
    local T, count, word, lanes = table.unpack(x)
    local f = maestro.front(random.copy_design(T, count, plain, kept), {
      memory = maestro.memory { banks = 4, word = word, rows = 64, latency = n, modes = { all = 4, one = 1 } },
      I = maestro.reader { lanes = { lanes }, loops = 2, depth = n % 2 + 1 },
      O = maestro.writer { lanes = { lanes }, loops = 2, depth = n % 3 + 1, cut = n % 2 == 0 and "pipe" or "full" },
    })
    local I, O = tide.random(T[count], n), T[count](0)
    agrees(f, { device = n % 2 == 0 and "ideal" or "u280" }, O, I, I, O)
  end
end)

-- Columns that move to the right, sums that stay: the tasks of the array store those themselves.
local function systolic(M, N, K)
  local s = tide.schedule(tide.kernel { name = "wave", X = i8[M][K], W = i8[K][N], Z = i16[M][N], function(X, W, Z)
    for i, j in grid(M, N, "cell") do
      for k = 0, K - 1 do Z[i][j] = Z[i][j] + X[i][k] * W[k][j] end
    end
  end })
  local _, row = s:buffer_at("X", "j")
  local _, column = s:buffer_at("W", "j")
  local _, cell = s:unfold("cell", { 0, 1 })
  s:partition("Z", { 0, 1 }):partition("X", 0):partition("W", 1)
  s:relay(row, cell, { axis = 1, depth = M + 1 })
  s:relay(column, cell, { axis = 0, depth = N + 1 })
  return maestro.front(s, { memory = random.memory(4), mode = "half",
    X = maestro.reader { lanes = { M }, loops = 3, depth = 4 },
    W = maestro.reader { lanes = { N // 4 }, loops = 3, depth = 4 } })
end

t.test("arrays of the design that no streamer has; twice; a scalar", function()
  local f = systolic(3, 8, 12)
  local X, W, Z = tide.random(i8[3][12], 1), tide.random(i8[12][8], 2), i16[3][8](0)
  local want = i16[3][8](0)
  for i, j in grid(3, 8) do
    local sum = 0
    for k in grid(12) do sum = sum + X[i][k] * W[k][j] end
    want[i][j] = (sum + 32768) % 65536 - 32768
  end
  local m = f:build { target = "verilog" }
  m(X, W, Z)
  t.ok(Z:equal(want))
  local cycles = m.report.cycles
  Z = i16[3][8](0)
  m(X, W, Z)
  t.ok(Z:equal(want) and m.report.cycles == cycles)
  local n = 24
  local scaled = maestro.front(tide.design(function(d)
    local z, y = d:stream(i32), d:stream(i32)
    d.load = task { I = i32[n], function(I) for i in grid(n) do z:put(I[i]) end end }
    d.scale = task { by = i32, function(by) for _ in grid(n) do y:put(i32(z:get() * by)) end end }
    d.store = task { O = i32[n], function(O) for i in grid(n) do O[i] = y:get() end end }
  end), { memory = random.memory(4), I = maestro.reader { lanes = { 2 }, loops = 1, depth = 2 },
    O = maestro.writer { lanes = { 2 }, loops = 1, depth = 2 } })
  local I, O = tide.random(i32[n], 5, { lo = -999, hi = 999 }), i32[n](0)
  scaled:build { target = "verilog" } { I = I, O = O, by = -7 }
  for i in grid(n) do t.eq(O[i], -7 * I[i]) end
end)

-- An example up to the check of its streamers, which run as Verilog, at other sizes than its own.
local function example(name, ...)
  local text = shell.read("examples/" .. name .. ".lua"):match "^(.-)\n  print%(front%)"
  local changed, n = text:gsub("front:build %b{}", 'front:build { target = "verilog" }')
  t.eq(n, 1)
  local code = changed .. "\nend"
  local env = setmetatable({ arg = { ... }, print = function() end }, { __index = _G })
  assert(load(code, "@" .. name, "t", env))()
end

t.test("examples: weights that stay, words along k", function()
  example("32_weight_stationary", 6, 8, 7, 4, 4)
  example("33_packed_array", 6, 5, 12, 4, 4, 4)
end)

t.test("one text, which Verilator's -Wall and yosys have nothing to say of", function()
  if not case.has "verilator" then return end
  local f = systolic(2, 4, 8)
  local X, W, Z = tide.random(i8[2][8], 1), tide.random(i8[8][4], 2), i16[2][4](0)
  local m = f:build { target = "verilog", sim = "verilator" }
  m(X, W, Z)
  t.eq(m.report.sim, "verilator")
  local dir = t.tmp "front"
  os.execute(("rm -rf %s && mkdir -p %s"):format(dir, dir))
  m:write(dir)
  local list = {}
  for i, x in ipairs(m.files) do list[i] = shell.quote(dir .. "/" .. x.name) end
  local files = table.concat(list, " ")
  t.eq(shell.output(("verilator --lint-only -Wall --top-module tide_dm_front %s 2>&1"):format(files)), "")
  if not case.has "yosys" then return end
  local said = shell.output(("yosys -q -p 'read_verilog -sv %s; hierarchy -top tide_dm_front; proc; flatten; opt_clean;"
    .. " check -assert' 2>&1"):format(files))
  t.ok(not said:find "ERROR" and not said:find "found", said)
end)

t.test("what is not built, and options by field, each beside its twin", function()
  local function lanes(name)
    return maestro.front(tide.design(function(d)
      local halves = d:stream(i8[4], { depth = 2 }) --@ lanes(2)
      local whole, x = d:stream(i8[4], { depth = 2 }), d:stream(i8[4])
      d.load_H = task { H = i8[8][4], function(H) for i in grid(8) do halves:put(H[i]) end end }
      d.load_J = task { J = i8[8][4], function(J) for i in grid(8) do whole:put(J[i]) end end }
      d.mid = task { function() for _ in grid(8) do
        local a, b = whole:get(), halves:get()
        local c = i8[4](0)
        for v in grid(4) do c[v] = a[v] + b[v] end
        x:put(c)
       end end }
      d.store_P = task { P = i8[8][4], function(P) for i in grid(8) do P[i]:set(x:get()) end end }
    end), { memory = random.memory(4), [name] = maestro.reader { lanes = { 1 }, loops = 2, depth = 2 } })
  end
  t.fails(function() lanes "H":build { target = "verilog" } end,
    { code = "maestro-rtl", match = "tokens move in several beats" })
  t.ok(lanes "J":build { target = "verilog" })
  local f = maestro.front(random.copy_design(i32, 8, plain, kept), {
    memory = random.memory(4), I = maestro.reader { lanes = { 1 }, loops = 1, depth = 2 },
    O = maestro.writer { lanes = { 1 }, loops = 1, depth = 2 },
  })
  for _, x in ipairs {
    { { sim = "vcs" }, "sim is", { sim = "icarus" } }, { { bus = "ahb" }, "bus is", { bus = "axi_lite" } },
    { { device = "xyz" }, "no device 'xyz'", { device = "ice40" } },
    { { check = 1 }, "check is a boolean", { check = false } }, { { timed = true }, "no option 'timed'", {} },
  } do
    x[1].target, x[3].target = "verilog", "verilog"
    t.fails(function() f:build(x[1]) end, { code = "maestro-build", match = x[2] })
    t.ok(f:build(x[3]))
  end
end)

t.done()
