-- [slow] faults.lua - wrong mappings slipped in below the front end: in the text of proved designs of three studies a
-- relay is swapped, a token lost, a drain ends early or late, loops of one end change places, a buffer keeps what it
-- had. 60 of them are drawn by seed, those that a run on random numbers tells, too; each is caught when the design is
-- made or when it is compared with the definition.
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local studies = require "t2s_studies"

-- The lines of a text, and those of tasks that run on the device.
local function lines_of(text)
  local lines, device, host = {}, {}, false
  for line in text:gmatch "([^\n]*)\n" do
    lines[#lines + 1] = line
    if line:match "^  d%.[%w_]+ = tide%.task {" then host = line:find "@ host" ~= nil end
    if not host then device[#device + 1] = #lines end
  end
  return lines, device
end

local function joined(lines) return table.concat(lines, "\n") .. "\n" end

-- The lines with another one at n; false takes it away.
local function with(lines, n, line)
  local out = table.move(lines, 1, #lines, 1, {})
  if line then out[n] = line else table.remove(out, n) end
  return joined(out)
end

local function swapped(lines, n)
  local out = table.move(lines, 1, #lines, 1, {})
  out[n], out[n + 1] = out[n + 1], out[n]
  return joined(out)
end

-- Each kind of fault at a line: the text with it, or nil where the line has no place for it.
local kinds = {
  {"swapped relay", function(lines, n)
    local line = lines[n]
    local changed = line:gsub("([%w_]+)(%b[])(%b[])(:[gp][eu]t%()", function(name, x, y, call)
      return x ~= y and name .. y .. x .. call or nil
    end)
    if changed == line and line:find ":[gp][eu]t%(" then
      changed = line:gsub("([%w_]+)%[([%w_]+) %+ 1%](:[gp][eu]t%()", "%1[%2]%3")
    end
    return changed ~= line and with(lines, n, changed)
  end},
  {"lost token", function(lines, n)
    return lines[n]:match "^%s*[%w_%[%] +-]+:put%(" and with(lines, n, false)
  end},
  {"drain off by one", function(lines, n)
    local line, from = lines[n], lines[n]:match "^%s*for [%w_]+_of[%w_]* = ([%w_]+), "
    if not from then return nil end
    return with(lines, n, from == "0" and line:gsub(", (%d+) do", function(hi) return (", %d do"):format(hi - 1) end, 1)
      or line:gsub("= ([%w_]+), ", "= %1 + 1, ", 1))
  end},
  {"order of tiles", function(lines, n)
    local x, y = lines[n]:match "^%s*for ([%w_]+) = ", (lines[n + 1] or ""):match "^%s*for ([%w_]+) = "
    if not (x and y) or lines[n + 1]:find("%f[%w_]" .. x .. "%f[^%w_]") then return nil end
    return swapped(lines, n)
  end},
  {"stale buffer", function(lines, n)
    local got = (lines[n + 1] or ""):match "^%s*local [%w_]+ = .*:get%(%)"
    return lines[n]:match "^%s*for " and got and swapped(lines, n)
  end},
}

-- A stream of numbers below n.
local function draws(seed)
  local state = seed
  return function(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n + 1
  end
end

-- Whether a run on random numbers, too, tells a text from the definition: not all that is written otherwise is a fault.
local function is_fault(text, kernel, z)
  local made, net = pcall(load(text, "=fault"))
  if not made then return true end
  local args, want = {}, {}
  for n, q in ipairs(kernel.params) do
    args[n] = n < #kernel.params and tide.random(q.type, n, {lo = 0, hi = 3}) or q.type(0)
    want[n] = n < #kernel.params and args[n] or q.type(0)
  end
  kernel(table.unpack(want))
  local ran = pcall(function() net:at(z)(table.unpack(args)) end)
  return not ran or not args[#args]:equal(want[#want])
end

-- How a design with a fault is found out, or nil.
local function caught(text, kernel, z)
  local made, net = pcall(load(text, "=fault"))
  if not made then return net.code or "refused" end
  local ok, level = pcall(function() return tide.verify(net:at(z), kernel) end)
  if not ok then return level.code or "refused" end
  return level == nil and "differs" or level == false and "differs" or nil
end

local cases = {
  {"sgemm", 24, {}, {II = 4, JJ = 6, KK = 4, III = 2, JJJ = 3, KKK = 2}, {I = 8, J = 12, K = 8}},
  {"convolution", 20, {}, {S = 1, Tof = 4, Toy = 4, Pof = 2, Poy = 2, Pox = 2},
    {Nof = 8, Noy = 8, Nox = 4, Nif = 2, Nky = 3, Nkx = 2}},
  {"align", 16, {store = false}, {II = 2, JJ = 3, MAX_J = 16}, {I = 4, J = 9}},
}

local total, of = 0, {}
for n, case in ipairs(cases) do
  t.test(("%d faults in the mapping of %s are caught"):format(case[2], case[1]), function()
    local F = studies[case[1]](case[3])
    local net, verdict = t2s.design(F, case[4], {pipeline = false})
    t.has(tostring(verdict), "proved: strict")
    local kernel, text, draw = t2s.kernel(F, case[4]):at(case[5]), tostring(net), draws(11 * n)
    local lines, device = lines_of(text)
    local all, used = {}, {}
    for k, kind in ipairs(kinds) do
      all[k] = {}
      for _, at in ipairs(device) do
        local faulty = kind[2](lines, at)
        if faulty and faulty ~= text then table.insert(all[k], {at, faulty}) end
      end
    end
    local found, tries = 0, 0
    while found < case[2] and tries < 2000 do
      tries = tries + 1
      local k = tries % #kinds + 1
      local fault = #all[k] > 0 and all[k][draw(#all[k])]
      if fault and not used[fault[2]] and is_fault(fault[2], kernel, case[5]) then
        used[fault[2]] = true
        found = found + 1
        local how = caught(fault[2], kernel, case[5])
        t.ok(how, ("%s in line %d: %s"):format(kinds[k][1], fault[1], lines[fault[1]]))
        of[kinds[k][1]] = (of[kinds[k][1]] or 0) + 1
      end
    end
    t.eq(found, case[2])
    total = total + found
  end)
end

t.test("60 faults of five kinds", function()
  t.eq(total, 60)
  for _, kind in ipairs(kinds) do t.ok((of[kind[1]] or 0) >= 4, kind[1]) end
end)

t.done()
