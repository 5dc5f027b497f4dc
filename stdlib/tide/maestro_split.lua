-- Jobs of tide.maestro that one run of the registers cannot do, as several: each loop in parts, as few as it takes.
-- Where what reduces is cut, sums go on from the result, through C.
local core = require "tide.maestro.core"

local split = {}

local MOST = 12 -- 2 to this are the most jobs
local GOOD = 0.99 -- of the MAC window: a job that reaches it is not split

-- Refusals that smaller operands or shorter loops may help against.
local helped = {
  ["maestro-memory"] = true, ["maestro-overlap"] = true, ["maestro-loops"] = true, ["maestro-columns"] = true,
}

-- All ways to cut loops in two `left` times in all, those that cut outer loops and no sums first.
local function each_cut(loops, left, i, cuts, visit)
  if i > #loops then
    if left > 0 then return end
    return visit(cuts)
  end
  for n = left, 0, -1 do
    if n == 0 or (1 << (n - 1)) < loops[i].extent then
      cuts[i] = n
      local r = each_cut(loops, left - n, i + 1, cuts, visit)
      if r then return r end
    end
  end
end

-- The loops in the order in which they are cut.
local function cuttable(kernel, o)
  local all, list, tile = core.loops(kernel), {}, { each = {} }
  for _, key in ipairs { "m", "n", "k" } do
    for name in (o[key] or ""):gmatch "[%a_][%w_]*" do tile[name] = true end
  end
  for _, reduces in ipairs { false, true } do
    for _, l in ipairs(all) do
      if l.reduces == reduces then list[#list + 1] = l end
    end
  end
  return list, tile
end

-- Iterations of each part of a loop: as even as whole tiles allow, or as many as tile.each[loop] says.
local function length(l, cut, tile)
  if tile.each[l.name] then return tile.each[l.name] end
  local n = (l.extent + (1 << cut) - 1) >> cut
  if tile[l.name] and n > 8 then n = (n + 7) // 8 * 8 end
  return n
end

-- The parts of all loops, sums innermost, so that they go on at once.
local function parts_of(loops, cuts, tile)
  local list, part = {}, {}
  local function descend(i)
    if i > #loops then
      local p = {}
      for k, x in ipairs(part) do
        p[k] = { name = x.name, lo = x.lo, n = x.n }
        p.sums = p.sums or x.reduces and x.lo > 0
      end
      list[#list + 1] = p
      return
    end
    local l, n = loops[i], length(loops[i], cuts[i], tile)
    for lo = 0, l.extent - 1, n do
      part[i] = { name = l.name, lo = lo, n = math.min(n, l.extent - lo), reduces = l.reduces }
      descend(i + 1)
    end
  end
  descend(1)
  return list
end

-- The job of a part; nil and why where it is refused, for a reason that smaller parts may help against, or `lenient`.
local function attempt(compile, part, lenient)
  local ok, r = pcall(compile, part)
  if ok then return r end
  if type(r) ~= "table" or not (lenient and r.code or helped[r.code]) then error(r, 0) end
  return nil, r
end

-- The jobs of all parts; nil where one of them is refused too.
local function compile_all(compile, parts, lenient)
  local jobs = {}
  for i, part in ipairs(parts) do
    jobs[i] = attempt(compile, part, lenient)
    if not jobs[i] then return nil end
    local key = {}
    for k, x in ipairs(part) do key[k] = x.n end
    jobs[i].shape = table.concat(key, " ") .. tostring(part.sums)
  end
  return jobs
end

-- In words: which loops were cut.
local function note(loops, cuts, tile)
  local parts = {}
  for i, l in ipairs(loops) do
    local n = length(l, cuts[i], tile)
    if n < l.extent then
      parts[#parts + 1] = ("%s by %d%s"):format(l.name, n, l.reduces and " with sums through C" or "")
    end
  end
  return table.concat(parts, ", ")
end

-- The split in at most four jobs whose MAC windows are the shortest; nil where none is shorter than that of the whole.
local function shorter(kernel, o, compile, whole)
  local loops, tile = cuttable(kernel, o)
  local found, least = nil, whole.report.window
  for total = 1, 2 do
    each_cut(loops, total, 1, {}, function(cuts)
      if least == whole.report.fires then return true end
      local jobs = compile_all(compile, parts_of(loops, cuts, tile), true)
      local r = jobs and split.simulate(jobs)
      if r and r.window < least then found, least = { jobs = jobs, note = note(loops, cuts, tile) }, r.window end
    end)
    if found then return found end
  end
end

--- The job that compile(nil) is, or a list of jobs of parts: where the whole is too large, or where its best modes
--- reach less than GOOD of the MAC window and parts reach more. columns: of the array.
function split.compile(kernel, o, columns, compile)
  local whole, why = attempt(compile, nil)
  if whole then
    local poor = o.mode == "best" and whole.report.utilisation < GOOD
    return poor and shorter(kernel, o, compile, whole) or whole
  end
  local loops, tile = cuttable(kernel, o)
  local first = 1
  if why.code == "maestro-columns" then first, tile.each[o.n] = 0, columns end
  for total = first, MOST do
    local found = each_cut(loops, total, 1, {}, function(cuts)
      local parts = parts_of(loops, cuts, tile)
      if not attempt(compile, parts[1]) then return nil end
      local jobs = compile_all(compile, parts, true)
      return jobs and { jobs = jobs, note = note(loops, cuts, tile) }
    end)
    if found then return found end
  end
  error(why, 0)
end

-- Adds the counts of table b to those of a.
local function add(a, b)
  for k, v in pairs(b) do
    if type(v) == "table" then
      a[k] = add(a[k] or {}, v)
    elseif math.type(v) == "integer" then
      a[k] = (a[k] or 0) + v
    end
  end
  return a
end

--- The sum of the reports of all jobs; those of one shape are run once.
function split.simulate(jobs)
  local sum, known = {}, {}
  if jobs[1].options and jobs[1].options.overlap then
    local rest = {}
    for i = 2, #jobs do rest[i - 1] = jobs[i].core end
    sum = core.simulate(jobs[1].core, rest)
    sum.jobs = #jobs
    return sum
  end
  for _, j in ipairs(jobs) do
    known[j.shape] = known[j.shape] or core.simulate(j.core)
    add(sum, known[j.shape])
  end
  sum.first, sum.last, sum.jobs = nil, nil, #jobs
  return sum
end

--- The addresses of all jobs, one after the other.
function split.addresses(jobs, name)
  local i, next_address = 1, core.addresses(jobs[1].core, name)
  return function()
    while true do
      local a = next_address()
      if a then return a end
      i = i + 1
      if not jobs[i] then return nil end
      next_address = core.addresses(jobs[i].core, name)
    end
  end
end

return split
