-- [slow] verilog_programs.lua - every program of the tests of primitives, and PolyBench at tiny sizes, as Verilog in
-- Icarus: the check compares values and cycles with the timed run; what is refused is counted by its reason. Of
-- one kind that tests/known.md names, values are the same in fewer cycles; it is counted, too.
local t = require "tap"
local case = require "verilog_case"
local collect = require "collect"
local suite = require "polybench"

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- Codes of what need not be built; a timed run tells those that end otherwise.
local excused = {["not-built"] = true, ["zero-time"] = true, ["stream-slice"] = true}
local failed, refused, ran, MOST = {}, {}, 0, 50000
-- Programs of the kind that is known, and how many there may be.
local known, KNOWN = {}, 7

-- The reason of a refusal without the names of the program.
local function reason(e)
  return (e.code .. ": " .. e.message):gsub("'[^']*'", "'x'"):gsub("of [%w_]+, which", "of x, which")
end

-- Whether a condition of a task of the program is on its ids and numbers alone.
local function tests_ids(text)
  for body in text:gmatch "tide%.task (%b{})" do
    local given, ids = body:match "^(.-)function", {}
    for name in (body:match "function(%b())"):gmatch "[%a_][%w_]*" do
      ids[name] = not given:find("%f[%w_]" .. name .. " = ") and "id" or nil
    end
    for condition in body:gmatch "%f[%w_]if (.-) then" do
      local found, other = false, false
      for word in condition:gmatch "[%a_][%w_]*" do
        found = found or ids[word] ~= nil
        other = other or not (ids[word] or word == "and" or word == "or" or word == "not")
      end
      if found and not other then return true end
    end
  end
  return false
end

-- Whether e tells, as the check does once all values are the same, of fewer cycles than the timed run has, in a
-- program with conditions on ids: the module of a class of instances knows how they end.
local function is_known(p, e)
  if type(e) ~= "table" or e.code ~= "verilog-differs" or not tests_ids(tostring(p)) then return false end
  local timed, here = e.message:match "takes (%d+) cycles in the timed run, here (%d+)"
  if not timed then timed, here = e.message:match "in cycle (%d+) of the timed run, here in (%d+)" end
  return timed ~= nil and tonumber(here) < tonumber(timed)
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
  local list = is_known(p, e) and known or failed
  list[#list + 1] = name .. ": " .. tostring(e)
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

t.test(("%d programs run in their cycles"):format(ran - #known), function()
  t.ok(ran > 700, ran .. " ran")
  t.eq(table.concat(failed, "\n"), "")
end)

t.test(("%d programs with conditions on ids take fewer cycles"):format(#known), function()
  t.ok(#known <= KNOWN, table.concat(known, "\n"))
end)

t.done()
