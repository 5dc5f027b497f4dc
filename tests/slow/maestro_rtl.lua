-- DataMaestro: random systems and jobs as Verilog against the model, cycle by cycle, and against the kernel.
local t = require "tap"
local case = require "verilog_case"
local random = require "maestro_systems"
local times, seed = require "campaign".range(1)
local tide = require "tide"

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

t.test("random systems", function()
  local roll, pick = random.new(99 + seed)
  local done = 0
  for _ = 1, 40 * times do
    local T = pick { tide.i8, tide.i8, tide.i16 }
    local sys, m, n, k = random.system(roll, pick, T)
    local m_build = sys:build { target = "verilog" }
    for _ = 1, 5 do
      local f, args = random.product(roll, pick(random.kinds), T, roll(1, 3 * m), roll(1, 3 * n), roll(1, 4 * k))
      local ok, job = pcall(sys.compile, sys, f, { m = "m", n = "n", k = "k",
        mode = { A = pick { "all", "half", "one" }, B = pick { "all", "half", "one" }, C = pick { "all", "half" } } })
      if ok then
        local want = {}
        for name, v in pairs(args) do want[name] = v:copy() end
        f(want)
        t.eq(m_build:run(job, args).cycles, job:simulate().cycles)
        t.ok(args.D:equal(want.D), tostring(job))
        done = done + 1
      end
    end
  end
  t.ok(done > 100 * times, done)
end)

t.done()
