-- t2s_case.lua - T2S programs held against plain Lua: tables with indices from 0, sums, and a run of the definition and
-- of its design at several sizes, each beside what a function of the arguments says.
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"

local case = {}

--- A list of fn(n) of n from 0 on.
function case.row(n, fn)
  local out = {}
  for k = 1, n do out[k] = fn(k - 1) end
  return out
end

--- The same in two dimensions.
function case.rows(n, m, fn) return case.row(n, function(r) return case.row(m, function(c) return fn(r, c) end) end) end

--- The sum of fn(n) of n from lo to hi, or what `by` makes of all.
function case.sum(lo, hi, fn, by, first)
  local s = first or 0
  for n = lo, hi do
    local x = fn(n)
    s = by and by(s, x) or not by and s + x
  end
  return s
end

-- Whether a result is a list of numbers, floats nearly.
local function is_same(got, want)
  if type(want) ~= "table" then
    return got == want or type(want) == "number" and math.abs(got - want) <= 1e-4 * math.max(1, math.abs(want))
  end
  for n, x in ipairs(want) do
    if not is_same(got[n], x) then return false end
  end
  return #got == #want
end

-- A tensor's elements with indices from 0.
local function zero_based(x)
  if type(x) ~= "table" then return x end
  local out = {}
  for n, y in ipairs(x) do out[n - 1] = zero_based(y) end
  return out
end

-- A tensor of zeros.
local function zeros(type)
  if tostring(type):find "^bool" then return type(false) end
  return type(0)
end

-- What runs of a design besides: with a clock, and at the first sizes as HLS C++.
local function builds(at, seed, hls)
  local list = {{what = "design", unit = at}, {what = "clock", unit = at:build {target = "cpu", timed = true}}}
  if hls and seed == 1 then list[3] = {what = "HLS", unit = at:build {target = "hls"}} end
  return list
end

--- Runs the definition and the design that make(map) gives at sizes z of a list, each against want(arguments by name,
--- z); `draw` is what arguments are drawn from, o.builds asks for runs with a clock and, at the first sizes, of HLS
--- (o.builds = "clock": not that). Returns the design and the verdict.
function case.run(make, list, want, draw, o)
  local F, consts = make(true)
  local net, verdict = t2s.design(F, consts)
  t.has(tostring(verdict), "proved: strict")
  for seed, z in ipairs(list) do
    local k, at = t2s.kernel(make(false), consts), net
    if next(z) then k, at = k:at(z), net:at(z) end
    local args, named = {}, {}
    for n, q in ipairs(k.params) do
      local last = n == #k.params
      local tensor = tostring(q.type):find "%["
      args[n] = last and zeros(q.type) or not tensor and n + 0.5
        or tide.random(q.type, 9 * seed + n, draw or {lo = -9, hi = 9})
      named[q.name] = not last and zero_based(type(args[n]) == "userdata" and args[n]:table() or args[n]) or nil
    end
    local out = k.params[#k.params].type
    local runs = o and o.builds and builds(at, seed, o.builds ~= "clock") or {{what = "design", unit = at}}
    table.insert(runs, 1, {what = "definition", unit = k})
    for _, x in ipairs(runs) do
      args[#args] = zeros(out)
      x.unit(table.unpack(args))
      t.ok(is_same(args[#args]:table(), want(named, z)), ("%s of sizes %d"):format(x.what, seed))
    end
  end
  return net, verdict
end

--- The same as a test.
function case.try(name, ...)
  local args = table.pack(...)
  t.test(name, function() case.run(table.unpack(args, 1, args.n)) end)
end

return case
