-- DataMaestro: random systems and jobs, and streamers in front of random arrays, as Verilog against the model, cycle by
-- cycle, and against the kernel. The last line says how many there were.
local t = require "tap"
local case = require "verilog_case"
local random = require "maestro_systems"
local times, seed = require "campaign".range(1)
local tide = require "tide"

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local count = { systems = 0, jobs = 0, fronts = 0, cycles = 0 }

t.test("random systems", function()
  local roll, pick = random.new(99 + seed)
  for _ = 1, 40 * times do
    local T = pick { tide.i8, tide.i8, tide.i16 }
    local sys, m, n, k = random.system(roll, pick, T)
    local m_build = sys:build { target = "verilog", bus = pick { "ready_valid", "axi_lite" } }
    count.systems = count.systems + 1
    for _ = 1, 5 do
      local f, args = random.product(roll, pick(random.kinds), T, roll(1, 3 * m), roll(1, 3 * n), roll(1, 4 * k))
      local ok, job = pcall(sys.compile, sys, f, { m = "m", n = "n", k = "k",
        mode = { A = pick { "all", "half", "one" }, B = pick { "all", "half", "one" }, C = pick { "all", "half" } } })
      if ok then
        local want = {}
        for name, v in pairs(args) do want[name] = v:copy() end
        f(want)
        local cycles = m_build:run(job, args).cycles
        t.eq(cycles, job:simulate().cycles)
        t.ok(args.D:equal(want.D), tostring(job))
        count.jobs, count.cycles = count.jobs + 1, count.cycles + cycles
      end
    end
  end
  t.ok(count.jobs > 100 * times, count.jobs)
end)

t.test("streamers in front of random arrays", function()
  local roll, pick = random.new(7 + seed)
  for _ = 1, 20 * times do
    local ok, f, A, B, C = pcall(random.front, roll, pick)
    if ok then
      local m = f:build { target = "verilog", bus = pick { "ready_valid", "axi_lite" } }
      m(A, B, C)
      t.ok(C:equal(tide.matmul(A, B)), tostring(f))
      count.fronts, count.cycles = count.fronts + 1, count.cycles + m.report.cycles
    end
  end
  t.ok(count.fronts > 2 * times, count.fronts)
end)

print(("# %d jobs on %d systems, %d fronts: %d cycles, all equal"):format(count.jobs, count.systems, count.fronts,
  count.cycles))
t.done()
