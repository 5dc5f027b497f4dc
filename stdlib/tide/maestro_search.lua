-- Which mode and which group of banks each operand of a job of tide.maestro gets: combinations are ranked by the banks
-- that streamers have in common and those that the channels of one collide in, and the best ones are run; all
-- of them where there are few.
local core = require "tide.maestro.core"

local search = {}

local TRIED, BEAM = 12, 64 -- placements that are run, and kept on the way
local FEW, ACCESSES = 2048, 100000 -- all are run where there are so few, of so many accesses in all

-- Modes in which every operand has the whole memory.
function search.roomy(sys)
  local r = {}
  for name, v in pairs(sys.fields) do
    if type(v) == "table" and name ~= "memory" and name ~= "array" then r[name] = sys.modes[1].name end
  end
  return r
end

-- The places that a streamer's operand may have: mode, group, its banks, and how many cycles one wide word takes.
local function options(job, name, modes)
  local list, sys = {}, job.system
  for _, mode in ipairs(sys.modes) do
    local named = not modes
    for _, m in ipairs(modes or {}) do named = named or m == mode.name end
    local lo, hi, cycles, fits
    if named then lo, hi, cycles, fits = core.spread(job.core, name, mode.name) end
    for group = 0, fits and sys.memory.banks // mode.banks - 1 or -1 do
      list[#list + 1] = { mode = mode.name, group = group, lo = group * mode.banks + lo, hi = group * mode.banks + hi,
        cycles = cycles }
    end
  end
  return list
end

-- Banks that two places have in common.
local function common(x, y) return math.max(0, math.min(x.hi, y.hi) - math.max(x.lo, y.lo) + 1) end

-- What speaks against a choice of places: a word of A or B that takes longer than a cycle is the worst, then banks that
-- A or B share, then how long the others take.
local function badness(names, choice)
  local sum = 0
  for i, x in ipairs(choice) do
    local fast = names[i] == "A" or names[i] == "B"
    sum = sum + (x.cycles - 1) * (fast and 1000 or 1)
    for k = 1, i - 1 do
      local both = common(x, choice[k])
      if both > 0 and (fast or names[k] == "A" or names[k] == "B") then sum = sum + 100 + both end
    end
  end
  return sum
end

-- Choices of places, best first, as far as they are kept: operand by operand, the BEAM best so far go on, or all where
-- they are FEW (`all`). What comes first among equals stays first.
local function choices(job, names, modes_of)
  local beam, lists, count = { { at = {}, bad = 0, nr = 1 } }, {}, 1
  for i, name in ipairs(names) do
    lists[i] = options(job, name, modes_of(name))
    count = count * #lists[i]
  end
  local width = math.max(BEAM, count <= FEW and count or 0)
  for i, list in ipairs(lists) do
    local grown = {}
    for _, c in ipairs(beam) do
      for _, x in ipairs(list) do
        local at = { table.unpack(c.at) }
        at[i] = x
        grown[#grown + 1] = { at = at, bad = badness(names, at), nr = #grown }
      end
    end
    table.sort(grown, function(x, y) return x.bad < y.bad or x.bad == y.bad and x.nr < y.nr end)
    beam = table.move(grown, 1, math.min(#grown, width), 1, {})
  end
  beam.all = count <= FEW
  return beam
end

-- The streamers of a job whose operands have places of their own.
local function placed_streamers(job)
  return core.operands(job.core)
end

-- The choice as core.place takes it.
local function where(names, choice)
  local mode, group = {}, {}
  for i, name in ipairs(names) do mode[name], group[name] = choice.at[i].mode, choice.at[i].group end
  return { mode = mode, group = group }
end

-- The best of the first placements that fit, or of all that there are time for: the job, its report, its modes. One in
-- which nothing collides is the best there is.
local function try(job, place, names, list, tries)
  local best, report, mode, why
  local left, free = list.all and ACCESSES or 0, false
  for _, choice in ipairs(list) do
    if tries <= 0 and left <= 0 or report and report.utilisation == 1 and (free or not list.all) then break end
    local w = where(names, choice)
    local candidate, refused = place(job, w)
    why = why or refused
    if candidate then
      local r = candidate:simulate()
      tries, left, free = tries - 1, left - r.accesses, free or choice.bad == 0
      if not report or r.cycles < report.cycles then best, report, mode = candidate, r, w.mode end
    end
  end
  return best, report, mode, why
end

--- The job with the modes and groups that take the fewest cycles; one mode for all, in the groups that nobody chose,
--- is among those that are tried.
function search.best(job, place)
  local names = placed_streamers(job)
  local best, report, _, why = try(job, place, names, choices(job, names, function() return nil end), TRIED)
  for _, mode in ipairs(job.system.modes) do
    if report and report.utilisation == 1 then break end
    local same = {}
    for _, name in ipairs(names) do same[name] = mode.name end
    local candidate = place(job, { mode = same })
    local r = candidate and candidate:simulate()
    if r and (not report or r.cycles < report.cycles) then best, report = candidate, r end
  end
  if not best then error(why, 0) end
  return best
end

--- All combinations of modes, best first.
function search.sweep(job, place, modes)
  local names, found, mode = placed_streamers(job), {}, {}
  local function descend(i)
    if i > #names then
      local list = choices(job, names, function(name) return { mode[name] } end)
      local _, report, chosen = try(job, place, names, list, 2)
      if report then found[#found + 1] = { mode = chosen, report = report, nr = #found } end
      return
    end
    for _, m in ipairs(job.system.modes) do
      local named = not modes
      for _, x in ipairs(modes or {}) do named = named or x == m.name end
      if named then
        mode[names[i]] = m.name
        descend(i + 1)
      end
    end
  end
  descend(1)
  table.sort(found, function(x, y)
    local a, b = x.report.cycles, y.report.cycles
    return a < b or a == b and x.nr < y.nr
  end)
  return found
end

return search
