-- table.lua - the thirteen kernels that Allo schedules: the schedules of this folder beside Allo's (allo.lua), both as
-- Tide estimates them for the U280 at 300 MHz, and beside what Allo and ScaleHLS published.
-- Run: tide examples/polybench/table.lua [SIZE [clock]]     (default medium; `clock` runs both with a clock)
-- The figures of Allo count stages that overlap: `model` is how far the longest stage of its schedule is from them, by
-- the model of its reports (docs/estimate.md); `-` where what was synthesised, edited by hand, is another program.
local tide, suite, allo = require "tide", require "suite", require "allo"
local size, clock = arg[1] or "medium", arg[2] == "clock"

local edited = {atax = true, gesummv = true, symm = true}

-- The cycles of a run of s with a clock; `k` is the kernel whose parameters it has.
local function run(s, k, name)
  local like, given = suite.make(name, {size = size, type = tide.f32})
  local named, args = {}, {}
  for i, p in ipairs(like.params) do named[p.name] = given[i] end
  for i, p in ipairs(k.params) do args[i] = named[p.name:gsub("_copy$", "")] end
  local m = s:build {target = "cpu", timed = true, device = "u280"}
  m(table.unpack(args))
  return m.report.cycles
end

-- The cycles of the longest top loop of s, by the model of csynth reports.
local function longest(s)
  local most = 0
  for _, loop in ipairs(s:estimate {device = "u280-csynth"}.loops) do
    if loop.level == 0 then most = math.max(most, loop.cycles) end
  end
  return most
end

-- A number or nothing, as wide as its column.
local function cell(v) return v and ("%9d"):format(v) or (" "):rep(9) end

local heads = "%-12s %5s %7s   %-18s    %-18s %9s   %-18s   %s"
print(heads:format("at " .. size, "steps", "to HLS", "this folder", "Allo's schedule", "model", "Allo", "ScaleHLS"))
local pair = "   cycles       DSP"
print(heads:format("", "", "ms", pair, pair, "", pair, pair))
local good = 0
for _, name in ipairs(suite.names) do
  local published = allo.published[name]
  if published then
    local start = os.clock()
    local s, k = suite.schedule(name, size)
    s:build {target = "hls"}
    local ms = (os.clock() - start) * 1000
    local other, stages = allo[name](tide.f32, suite.extents(name, size))
    local ours, theirs = s:estimate(), other:estimate()
    local a, b = ours.cycles, theirs.cycles
    if clock then a, b = run(s, k, name), run(other, stages, name) end
    if a <= b and ours.dsp <= theirs.dsp then good = good + 1 end
    local model = size == "medium" and not edited[name] and longest(other) / published[1] - 1
    local row = {name, #s:steps(), ms, cell(a), cell(ours.dsp), cell(b), cell(theirs.dsp),
      model and ("%+.1f%%"):format(model * 100) or "-"}
    for n = 1, 4 do row[#row + 1] = cell(published[n]) end
    print(("%-12s %5d %7.1f %s %s   %s %s %8s   %s %s   %s %s"):format(table.unpack(row)))
  end
end
print(("%d of 13: no more cycles and no more DSP than Allo's schedule"):format(good))

--> at medium...
--> correlation ...498690...4168...
--> gemm ...239025...
--> 13 of 13: no more cycles and no more DSP than Allo's schedule
