-- [slow]
-- DataMaestro as Verilog: random systems, jobs and paths in Icarus; values are the kernels', and in every cycle grants,
-- banks, counts of words and products are those of the model.
local t = require "tap"
local case = require "verilog_case"
local shell = require "shell"
local tide, maestro = require "tide", require "tide.maestro"
local random = require "maestro_systems"
local i8, i16, i32, grid, reduction, ext = tide.i8, tide.i16, tide.i32, tide.grid, tide.reduction, maestro.ext

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- Runs a job in the simulator and the kernel beside it.
local function agrees(sys, job, k, args, result)
  local want = {}
  for name, v in pairs(args) do want[name] = v:copy() end
  k(want)
  local r = sys:build { target = "verilog" }:run(job, args)
  t.eq(r.cycles, job:simulate().cycles)
  t.ok(args[result]:equal(want[result]), tostring(job))
end

local expected = { ["maestro-word"] = true, ["maestro-lanes"] = true, ["maestro-overlap"] = true,
  ["maestro-memory"] = true, ["maestro-loops"] = true, ["maestro-carry"] = true }

t.test("random arrays, memories, queues and jobs", function()
  local roll, pick = random.new(20254)
  local done = 0
  for _ = 1, 8 do
    local T = pick { i8, i8, i16 }
    local sys, m, n, k = random.system(roll, pick, T)
    for _ = 1, 2 do
      local M, N, K = roll(1, 3 * m), roll(1, 3 * n), roll(1, 4 * k)
      local f, args = random.product(roll, pick(random.kinds), T, M, N, K)
      local ok, job = pcall(sys.compile, sys, f, { m = "m", n = "n", k = "k",
        mode = { A = pick { "all", "half", "one" }, B = pick { "all", "half", "one" }, C = pick { "all", "half" } } })
      if ok then
        agrees(sys, job, f, args, "D")
        done = done + 1
      else
        t.ok(expected[job.code], tostring(job))
      end
    end
  end
  t.ok(done > 7, done)
end)

-- A reader R and a writer W of 4 channels of 8 bytes.
local function path(reads, writes, latency)
  return maestro.system {
    memory = maestro.memory { banks = 8, word = 8, rows = 128, latency = latency, modes = { all = 8, half = 4 } },
    R = maestro.reader { lanes = { 4 }, loops = 6, depth = 4, ext = reads },
    W = maestro.writer { lanes = { 4 }, loops = 4, depth = 2, ext = writes },
  }
end

t.test("paths through extensions, alone and chained, on either side", function()
  local pool = tide.kernel { name = "pool", I = i8[6][12][8], O = i8[3][6][8], function(I, O)
    for y, x, c in grid(3, 6, 8) do
      local acc = i8(-128)
      for a, b in reduction(2, 2) do acc = tide.max(acc, I[2 * y + a][2 * x + b][c]) end
      O[y][x][c] = acc
    end
  end }
  local sys = path({ ext.memset(), ext.maxpool() }, nil, 2)
  agrees(sys, sys:compile(pool, {}), pool, { I = tide.random(i8[6][12][8], 2), O = i8[3][6][8](0) }, "O")
  local wide = tide.kernel { name = "pool", I = i8[6][8][8], O = i8[3][4][8], function(I, O)
    for y, x, c in grid(3, 4, 8) do
      local acc = i8(-128)
      for a, b in reduction(2, 2) do acc = tide.max(acc, I[2 * y + a][2 * x + b][c]) end
      O[y][x][c] = acc
    end
  end }
  local args = { I = tide.random(i8[6][8][8], 1), O = i8[3][4][8](0) }
  agrees(sys, sys:compile(wide, {}), wide, args, "O")
  local function q(x)
    return i8(tide.max(-128, tide.min(127, tide.asr(x * tide.int(20)(70001) + (1 << 21), 22) - 3)))
  end
  local down = tide.kernel { name = "down", A = i32[12][16], O = i8[12][16], function(A, O)
    for y, x in grid(12, 16) do O[y][x] = q(A[y][x]) end
  end }
  local function numbers() return { A = tide.random(i32[12][16], 3, { lo = -9000, hi = 9000 }), O = i8[12][16](0) } end
  for _, s in ipairs { path { ext.rescale() }, path(nil, { ext.rescale() }, 3),
    path({ ext.transpose(4, 8, i8) }, { ext.rescale(), ext.maxpool() }) } do
    agrees(s, s:compile(down, {}), down, numbers(), "O")
  end
  local sum = tide.kernel { name = "sum", A = i8[8][16], B = i8[8][16], O = i32[8][16], function(A, B, O)
    for y, x in grid(8, 16) do O[y][x] = A[y][x] + B[y][x] end
  end }
  local add = path({ ext.add_wide() }, nil, 4)
  agrees(add, add:compile(sum, { mode = "half" }), sum, { A = tide.random(i8[8][16], 5), B = tide.random(i8[8][16], 6),
    O = i32[8][16](0) }, "O")
end)

t.test("a transposer of several beats, 8 lanes of the quantiser, masks of 33 channels", function()
  local sys = maestro.system {
    memory = maestro.memory { banks = 16, word = 4, rows = 128, modes = { all = 16 } },
    array = maestro.array { m = 4, n = 4, k = 4, a = i16, b = i16, acc = i32, lanes = 8 },
    A = maestro.reader { lanes = { 4, 2 }, loops = 4, depth = 3, ext = { ext.transpose(4, 4, i16) } },
    B = maestro.reader { lanes = { 8 }, loops = 3, depth = 2 },
    E = maestro.writer { lanes = { 2, 2 }, loops = 3, depth = 1 },
  }
  local roll = random.new(7)
  local f, args = random.product(roll, "quantised", i16, 8, 12, 16)
  agrees(sys, sys:compile(f, { m = "m", n = "n", k = "k", order = { A = "m k -> k/4 m/4 k%4 m%4" } }), f, args, "D")
end)

-- A product with results of 8 bits; two of them, of which the second reads what the first wrote.
local function layer(M, N, K)
  return tide.kernel { name = "layer", A = i8[M][K], B = i8[K][N], D = i8[M][N], function(A, B, D)
    for m, n in grid(M, N) do
      local acc = i32(0)
      for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
      D[m][n] = i8(tide.max(-128, tide.min(127, tide.asr(acc * 3, 8))))
    end
  end }
end
local function two_layers(latency)
  local sys = maestro.system {
    memory = maestro.memory { banks = 8, word = 4, rows = 256, latency = latency, modes = { all = 8 } },
    array = maestro.array { m = 4, n = 4, k = 4, a = i8, b = i8, acc = i32, lanes = 4 },
    A = maestro.reader { lanes = { 4 }, loops = 4, depth = 3 },
    B = maestro.reader { lanes = { 4 }, loops = 4, depth = 2 },
    E = maestro.writer { lanes = { 4 }, loops = 4, depth = 1 },
  }
  local one, two = layer(8, 8, 12), layer(8, 4, 8)
  local order = { A = "m k -> m/4 k/4 m%4 k%4", D = "m n -> m/4 n/4 m%4 n%4" }
  local o = { m = "m", n = "n", k = "k", order = order, base = { A = 0, B = 256, E = 512 } }
  local jobs = { sys:compile(one, o) }
  o.base = { A = 512, B = 1024, E = 2048 }
  jobs[2] = sys:compile(two, o)
  local A, B, C = tide.random(i8[8][12], 1), tide.random(i8[12][8], 2), tide.random(i8[8][4], 3)
  local middle, want = i8[8][8](0), i8[8][4](0)
  one(A, B, middle)
  two(middle, C, want)
  return sys, jobs, function(run)
    local x, y = i8[8][8](0), i8[8][4](0)
    local r = run { { A, B, x }, { A = x, B = C, D = y } }
    t.eq(r.cycles, jobs[1]:simulate().cycles + jobs[2]:simulate().cycles)
    t.ok(x:equal(middle) and y:equal(want))
  end
end

t.test("sums that saturate, product by product", function()
  for _, T in ipairs { i8, tide.u8 } do
    local S = (T == i8 and i16 or tide.u16):with { overflow = "saturate" }
    local sys = maestro.system {
      memory = maestro.memory { banks = 8, word = 4, rows = 256, modes = { all = 8 } },
      array = maestro.array { m = 4, n = 4, k = 4, a = T, b = T, acc = S },
      A = maestro.reader { lanes = { 4 }, loops = 4, depth = 3 },
      B = maestro.reader { lanes = { 4 }, loops = 4, depth = 2 },
      D = maestro.writer { lanes = { 8 }, loops = 4, depth = 1 },
    }
    local k = tide.kernel { name = "sat", A = T[8][32], B = T[32][8], D = S[8][8], function(A, B, D)
      for m, n in grid(8, 8) do
        local acc = S(0)
        for kk in reduction(32) do acc = acc + A[m][kk] * B[kk][n] end
        D[m][n] = acc
      end
    end }
    agrees(sys, sys:compile(k, { m = "m", n = "n", k = "kk" }), k,
      { A = tide.random(T[8][32], 1), B = tide.random(T[32][8], 2), D = S[8][8](0) }, "D")
  end
end)

t.test("a multiplier and shift for each column, in jobs of as many columns as there are", function()
  local sys, mult, shift = two_layers(1), i16[12](0), i8[12](0)
  for n = 0, 11 do mult[n], shift[n] = 3 + n, 7 + n % 4 end
  local k = tide.kernel { name = "channels", A = i8[8][8], B = i8[8][12], D = i8[8][12], function(A, B, D)
    for m, n in grid(8, 12) do
      local acc = i32(0)
      for kk in reduction(8) do acc = acc + A[m][kk] * B[kk][n] end
      D[m][n] = i8(tide.max(-128, tide.min(127, tide.asr(acc * mult[n], shift[n]) + 2)))
    end
  end }
  local job = sys:compile(k, { m = "m", n = "n", k = "kk" })
  t.eq(#job.jobs, 3)
  local A, B, D, want = tide.random(i8[8][8], 1), tide.random(i8[8][12], 2), i8[8][12](0), i8[8][12](0)
  k(A, B, want)
  sys:build():run(job, A, B, D)
  t.ok(D:equal(want))
end)

t.test("multipliers and shifts that a call is given", function()
  local sys = maestro.system {
    memory = maestro.memory { banks = 8, word = 4, rows = 128, modes = { all = 8 } },
    array = maestro.array { m = 2, n = 4, k = 4, a = i8, b = i8, acc = i32, lanes = 8 },
    A = maestro.reader { lanes = { 2 }, loops = 4, depth = 3 },
    B = maestro.reader { lanes = { 4 }, loops = 3, depth = 2 },
    E = maestro.writer { lanes = { 2 }, loops = 3, depth = 1 },
  }
  for _, N in ipairs { 3, 4, 10 } do
    local k = tide.kernel { name = "given", A = i8[5][8], B = i8[8][N], mult = i16[N], shift = i8[N], D = i8[5][N],
      function(A, B, mult, shift, D)
        for m, n in grid(5, N) do
          local acc = i32(0)
          for k in reduction(8) do acc = acc + A[m][k] * B[k][n] end
          D[m][n] = i8(tide.max(-128, tide.min(127, tide.asr(acc * mult[n], shift[n]) + 2)))
        end
      end }
    local args = { A = tide.random(i8[5][8], 1), B = tide.random(i8[8][N], N), mult = i16[N](0), shift = i8[N](0),
      D = i8[5][N](0) }
    for n in grid(N) do args.mult[n], args.shift[n] = 9 + 13 * n, 9 + n % 3 end
    local job = sys:compile(k, { m = "m", n = "n", k = "k" })
    agrees(sys, job, k, args, "D")
    if N == 4 then
      t.has(sys:build():host({ job }, { args }), ("{%d, 0x%x}"):format(job:registers(args)[1].number,
        job:registers(args)[1].value))
      t.fails(function() sys:build():host { job } end, { code = "maestro-job", match = "argument 'mult'" })
    end
  end
end)

t.test("two jobs back to back, registers by both buses", function()
  for latency = 1, 2 do
    local sys, jobs, holds = two_layers(latency)
    for _, bus in ipairs { "ready_valid", "axi_lite" } do
      local m = sys:build { target = "verilog", bus = bus }
      holds(function(args) return m:chain(jobs, args) end)
    end
  end
  local sys, jobs = two_layers(1)
  t.eq(select(2, pcall(sys.build, sys, { bus = "pci" })).code, "maestro-build")
  local other = two_layers(1)
  t.eq(select(2, pcall(function() other:build():chain(jobs) end)).code, "maestro-job")
end)

local function host()
  local sys, jobs, holds = two_layers(1)
  local m, dir = sys:build { bus = "axi_lite" }, t.tmp "maestro_host"
  os.execute("mkdir -p " .. dir)
  m:write(dir)
  shell.write(dir .. "/host.c", m:host(jobs))
  t.ok(os.execute(("cc -std=c11 -Wall -Wextra -Werror -o %s/host %s/host.c"):format(dir, dir)))
  local writes = shell.output(dir .. "/host")
  holds(function(args) return m:chain(jobs, args, writes) end)
end
if case.has "cc" then
  t.test("a C host made of the header starts the layers", host)
else
  t.skip("a C host made of the header starts the layers", "cc is not here")
end

-- What a tool says of the Verilog of a system; "" if nothing.
local function said(sys, bus, command)
  local dir = t.tmp "maestro_lint"
  os.execute(("rm -rf %s && mkdir -p %s"):format(dir, dir))
  sys:build { bus = bus }:write(dir)
  return shell.output(("cd %s && (%s) 2>&1 | grep -E '%%Warning|%%Error|ERROR|found and reported' | head -5"):format(
    dir,
    command))
end

-- An array of T with sums of S, and a product on it that is made in type P.
local function array_of(T, S)
  local function words(count, type) return count * type.bits // 64 end
  return maestro.system {
    memory = maestro.memory { banks = 8, word = 8, rows = 64 },
    array = maestro.array { m = 2, n = 4, k = 4, a = T, b = T, acc = S },
    A = maestro.reader { lanes = { words(8, T) }, loops = 4, depth = 2 },
    B = maestro.reader { lanes = { words(16, T) }, loops = 4, depth = 2 },
    C = maestro.reader { lanes = { words(8, S) }, loops = 3, depth = 2 },
    D = maestro.writer { lanes = { words(8, S) }, loops = 3, depth = 2, shares = "C" },
  }
end

local function product_in(T, S, P)
  return tide.kernel { name = "product", A = T[5][8], B = T[8][6], C = S[5][6], D = S[5][6], function(A, B, C, D)
    for m, n in grid(5, 6) do
      local acc = C[m][n]
      for k in tide.reduction(8) do acc = acc + P(A[m][k]) * P(B[k][n]) end
      D[m][n] = acc
    end
  end }, { A = tide.random(T[5][8], 1), B = tide.random(T[8][6], 2), C = tide.random(S[5][6], 3), D = S[5][6](0) }
end

local function systems(check)
  local roll, pick = random.new(77)
  for n = 1, 2 do check(random.system(roll, pick, pick { i8, i16 }), n % 2 == 0 and "axi_lite" or "ready_valid") end
  check(path({ ext.memset(), ext.maxpool() }, { ext.int4_to_int8() }, 2), "ready_valid")
  check(path({ ext.transpose(4, 8, i8), ext.add_wide() }, { ext.add(i8) }), "ready_valid")
  check(path({ ext.rescale() }, { ext.rescale { efficient = true } }), "axi_lite")
  check(array_of(tide.bf16, tide.f32), "ready_valid")
end

if case.has "verilator" then
  t.test("Verilator's -Wall has nothing to say", function()
    systems(function(sys, bus)
      t.eq(said(sys, bus, "verilator --lint-only -Wall --top-module tide_dm_system tide_dm_*.v"), "")
    end)
  end)
else
  t.skip("Verilator's -Wall has nothing to say", "verilator is not here")
end
if case.has "yosys" then
  t.test("no loops, no wires with two drivers", function()
    systems(function(sys, bus)
      t.eq(said(sys, bus, "yosys -q -p 'read_verilog -sv tide_dm_*.v; hierarchy -top tide_dm_system; proc; "
        .. "check -assert'"),
        "")
    end)
  end)
else
  t.skip("no loops, no wires with two drivers", "yosys is not here")
end

t.test("jobs in parts; what has no module is refused", function()
  local roll, pick = random.new(3)
  local sys = random.system(roll, pick, i8)
  local f = random.product(roll, "zero", i8, 8, 8, 8)
  local job = sys:compile(f, { m = "m", n = "n", k = "k" })
  local other = path()
  t.eq(select(2, pcall(function() other:build():run(job) end)).code, "maestro-job")
  t.eq(select(2, pcall(function() sys:build { target = "hls" } end)).code, "maestro-build")
  t.eq(select(2, pcall(function() sys:build { sims = "icarus" } end)).code, "maestro-build")
  t.has(sys:header(), "TIDE_MAESTRO_A_BASE_LO = 960,")
end)

-- A convolution with groups, dilation and stride; depthwise where `depth` says.
local function grouped(G, OH, OW, CI, CO, R, step, dilation, depth)
  local H, W = step * (OH - 1) + dilation * (R - 1) + 1, step * (OW - 1) + dilation * (R - 1) + 1
  if depth then
    return tide.kernel { name = "depthwise", I = i8[H][W][CI], F = i8[R][R][CI], O = i32[OH][OW][CI],
      function(I, F, O)
        for y, x, c in grid(OH, OW, CI) do
          local acc = i32(0)
          for r, q in reduction(R, R) do
            acc = acc + I[y * step + r * dilation][x * step + q * dilation][c] * F[r][q][c]
          end
          O[y][x][c] = acc
        end
      end }, { I = tide.random(i8[H][W][CI], 1), F = tide.random(i8[R][R][CI], 2), O = i32[OH][OW][CI](0) }
  end
  return tide.kernel { name = "grouped", I = i8[H][W][G][CI], F = i8[G][CO][R][R][CI], O = i32[OH][OW][G][CO],
    function(I, F, O)
      for y, x, g, f in grid(OH, OW, G, CO) do
        local acc = i32(0)
        for r, q, c in reduction(R, R, CI) do
          acc = acc + I[y * step + r * dilation][x * step + q * dilation][g][c] * F[g][f][r][q][c]
        end
        O[y][x][g][f] = acc
      end
    end }, { I = tide.random(i8[H][W][G][CI], 1), F = tide.random(i8[G][CO][R][R][CI], 2),
    O = i32[OH][OW][G][CO](0) }
end

t.test("groups, dilation, depthwise, two loops across m or k, sizes that are no multiples", function()
  local sys = maestro.system {
    memory = maestro.memory { banks = 8, word = 4, rows = 512, modes = { all = 8, half = 4 } },
    array = maestro.array { m = 4, n = 4, k = 4, a = i8, b = i8, acc = i32 },
    A = maestro.reader { lanes = { 2, 2 }, loops = 7, depth = 3 },
    B = maestro.reader { lanes = { 4 }, loops = 6, depth = 3 },
    C = maestro.reader { lanes = { 4, 2, 2 }, loops = 5, depth = 2, mask = true },
    D = maestro.writer { lanes = { 4, 2, 2 }, loops = 5, depth = 2, shares = "C" },
  }
  local function run(o, ...)
    local k, args = grouped(...)
    o.n = o.n ~= "" and (o.n or "f") or nil
    agrees(sys, sys:compile(k, o), k, args, "O")
  end
  local loops = { "y", "x", "g", "f", "r", "q", "c" }
  run({ m = "x", k = "c", loops = loops }, 2, 2, 5, 3, 5, 2, 1, 2)
  run({ m = "y%2 x%2", k = "c", loops = loops }, 2, 3, 5, 4, 6, 3, 1, 1)
  run({ m = "x", k = "q%2 c%2", loops = loops }, 1, 2, 6, 2, 4, 3, 2, 1)
  run({ m = "x", n = "", loops = { "c", "y", "x", "r", "q" } }, 1, 3, 5, 3, nil, 2, 2, 1, true)
end)

t.test("arrays of floats: products and sums rounded in the kernel's order", function()
  local o = { m = "m", n = "n", k = "k" }
  for _, x in ipairs { { tide.bf16, tide.f32 }, { tide.f32, tide.f32 }, { tide.f16, tide.f16 }, { i8, tide.f32 } } do
    local T, S = table.unpack(x)
    local sys = array_of(T, S)
    local k, args = product_in(T, S, S)
    local job, want = sys:compile(k, o), args.D:copy()
    k { A = args.A, B = args.B, C = args.C, D = want }
    t.eq(sys:build():run(job, args).cycles, job:simulate().cycles)
    t.ok(args.D:equal(want), tostring(T))
  end
  local sys = array_of(tide.bf16, tide.f32)
  local k, args = product_in(tide.bf16, tide.f32, tide.bf16)
  t.fails(function() sys:build():run(sys:compile(k, o), args) end,
    { code = "maestro-rtl", match = "in the sums' type" })
  t.fails(function() array_of(tide.f32, i32):build() end, { code = "maestro-rtl", match = "and it has f32" })
end)

local script = [[
local tide, maestro = require "tide", require "tide.maestro"
local sys = maestro.system {
  memory = maestro.memory { banks = 4, word = 8, rows = 16, modes = { all = 4 } },
  R = maestro.reader { lanes = { 2 }, loops = 1, depth = 2 },
  W = maestro.writer { lanes = { 2 }, loops = 1, depth = 2 },
}
local k = tide.kernel { name = "copy", I = tide.i8[64], O = tide.i8[64], function(I, O)
  for x in tide.grid(64) do O[x] = I[x] end
end }
local I, O = tide.random(tide.i8[64], 1), tide.i8[64](0)
local ok, e = pcall(function() return sys:build():run(sys:compile(k, {}), I, O) end)
print(ok and (O:equal(I) and "equal" or "differs") or e.code, ok and "" or e)
]]

t.test("another cycle than the model's is told", function()
  local dir, real = t.tmp "rtl_tools", shell.output("command -v vvp"):gsub("%s+$", "")
  local function says(lines)
    os.execute(("rm -rf %s && mkdir -p %s/bin"):format(dir, dir))
    shell.write(dir .. "/bin/vvp", ("#!/bin/sh\n%s \"$@\" || exit 1\n%s\n"):format(real, lines))
    os.execute(("chmod +x %s/bin/*"):format(dir))
    shell.write(dir .. "/run.lua", script)
    return shell.output(("PATH=%s/bin:$PATH TIDE_CACHE=%s %s %s 2>&1"):format(dir, shell.quote(dir),
      shell.quote(shell.program), shell.quote(dir .. "/run.lua")))
  end
  t.has(says "true", "equal")
  local text = says "for f; do case $f in +dir=*) echo more >>\"${f#+dir=}/trace\";; esac; done"
  t.has(text, "maestro-differs")
  t.has(text, "the simulation more")
end)

t.done()
