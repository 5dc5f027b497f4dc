-- [slow] verilog_programs.lua - every program of the tests of primitives, and PolyBench at tiny sizes, as Verilog in
-- Icarus: the check compares values and cycles with the timed run; what is refused is counted by its reason.
local t = require "tap"
local case = require "verilog_case"
local collect = require "collect"
local suite = require "polybench"

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- Codes of what need not be built; a timed run tells those that end otherwise.
local excused = {["not-built"] = true, ["zero-time"] = true, ["stream-slice"] = true, ["shared-end"] = true}
local failed, refused, ran, MOST = {}, {}, 0, 50000

-- The reason of a refusal without the names of the program.
local function reason(e)
  return (e.code .. ": " .. e.message):gsub("'[^']*'", "'x'"):gsub("of [%w_]+, which", "of x, which")
end

local function record(name, p, args)
  local timed = p:build {target = "cpu", timed = true, device = "rtl"}
  local copies = collect.copies(table.unpack(args))
  if not pcall(function() timed(table.unpack(copies)) end) or timed.report.cycles > MOST then return end
  local built, m = pcall(p.build, p, {target = "verilog", sim = "icarus", most = MOST * 2, seconds = 300})
  if not built then
    local code = type(m) == "table" and m.code or "?"
    if not excused[code] then failed[#failed + 1] = name .. ": " .. tostring(m) end
    if excused[code] then refused[reason(m)] = (refused[reason(m)] or 0) + 1 end
    return
  end
  local ok, e = pcall(function() m(table.unpack(args)) end)
  ran = ran + 1
  if ok then return end
  failed[#failed + 1] = name .. ": " .. tostring(e)
end

collect.prim(record)
for _, name in ipairs(suite.names) do
  local k, args = suite.make(name)
  record("polybench " .. name, k, args)
end

local why = {}
for text, n in pairs(refused) do why[#why + 1] = ("%4d %s"):format(n, text) end
table.sort(why, function(a, b) return a > b end)
for _, line in ipairs(why) do print("# refused " .. line) end

t.test(("%d programs run in their cycles"):format(ran), function()
  t.ok(ran > 700, ran .. " ran")
  t.eq(table.concat(failed, "\n"), "")
end)

t.done()
