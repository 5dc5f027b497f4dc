-- How deep the streams of a design should be, told twice: by the rates of the estimate (Allo 6.5, eq. 2 to 4) and by
-- runs with a clock; and which assumption of the first the second does not share. d:fifos() and s:fifos() call it.
local tide = require "tide"

local fifos = {}

local UNKNOWN = 1 << 16 -- a depth beyond what is put, where the data decides that

local report = {}
report.__index = report

-- The parameters of a program, by its printed form.
local function params(program) return load(tostring(program))(program:constants()).params end

-- Arguments for a run: those given, or random ones.
local function arguments(schedule, given)
  if given then return given end
  local args = {}
  for i, p in ipairs(params(schedule)) do
    local scalar = not tostring(p.type):find "%["
    local t = tide.random(scalar and p.type[1] or p.type, i)
    args[i] = scalar and t[0] or t
  end
  return args
end

-- A run with a clock of the schedule with these depths by stream; its report, and the cycles that its tasks stalled.
-- nil where a depth is refused or the run deadlocks.
local function run(job, depths, trace)
  local s = job.schedule:fork()
  for _, stream in ipairs(job.streams) do
    local ok, why = s:can("depth", stream, depths[stream])
    if not ok and why.code == "deadlock" then return nil end
    s:depth(stream, depths[stream])
  end
  local m, args = s:build { target = "cpu", timed = true, device = job.device, trace = trace }, {}
  for i, v in ipairs(job.args) do args[i] = type(v) == "userdata" and v:copy() or v end
  local ok, why = pcall(m, table.unpack(args))
  if not ok and why.code == "deadlock" then return nil end
  if not ok then error(why, 0) end
  local stalled = 0
  for _, task in ipairs(m.report.tasks) do stalled = stalled + task.stalled end
  return m.report, stalled
end

-- Whether tasks stall no longer with these depths than without a limit.
local function enough(job, depths)
  local r, stalled = run(job, depths)
  return r and stalled <= job.stalled
end

-- Depths that are enough, of which no one can be less while the others are kept. What is enough stays so when any
-- stream is deeper, so one pass finds them.
local function least_timed(job, depths)
  while not enough(job, depths) do
    for _, s in ipairs(job.streams) do depths[s] = math.min(job.most[s], depths[s] * 2) end
  end
  for _, s in ipairs(job.streams) do
    local lo, hi = 1, depths[s]
    while lo < hi do
      depths[s] = (lo + hi) // 2
      if enough(job, depths) then hi = depths[s] else lo = depths[s] + 1 end
    end
    depths[s] = hi
  end
  return depths
end

-- Cycles from token to token of a channel in a run.
local function interval(span, tokens) return tokens > 1 and (span[2] - span[1]) / (tokens - 1) or 0 end

-- The depth of eq. 4 at the intervals that a run had.
local function depth_at(put, get, tokens)
  if get <= put then return 1 end
  return tokens - (tokens * put) // get + 1 | 0
end

-- What a channel does in the run without limits, and what of it the rates do not know.
local function measure(edge, stream)
  local put, get = interval(stream.puts, edge.tokens), interval(stream.gots, edge.tokens)
  return { put = put, get = get, paced = depth_at(put, get, edge.tokens), most = stream.most, room = stream.room,
    late = stream.gots[1] - stream.puts[1] }
end

-- "a put every 2 cycles".
local function every(what, cycles) return ("a %s every %.4g cycles"):format(what, cycles) end

-- The terms by which the depth of the runs differs from the one of the rates, as a list of {term, by, why}; they sum
-- up to the difference.
local function terms_of(row, edge, seen)
  local list = {}
  local function add(term, by, why, ...)
    if by ~= 0 then list[#list + 1] = { term = term, by = by, why = why:format(...) } end
  end
  add("rates", seen.paced - row.rates, "in the run %s, %s; by the estimate %s, %s", every("put", seen.put),
    every("get", seen.get), every("put", edge.put.cycles / edge.put.tokens),
    every("get", edge.get.cycles / edge.get.tokens))
  add("start", seen.most - seen.paced, "rates start both sides at once and keep their pace; here the first get is %d "
    .. "cycles after the first put, and tokens come and go unevenly", seen.late)
  local room = seen.room or seen.most
  add("registers", room - seen.most, "a place is free only the cycle after its token was got")
  if seen.room then
    add("slack", row.timed - room, "puts may wait there without a task losing a cycle")
  else
    add("buffers", row.timed - room, "a buffer that was got is held to the end of its scope")
  end
  return list
end

-- One row for each stream, of the channel of it that holds most.
local function make_rows(job, edges, first, least)
  local rows, by_name = {}, {}
  for _, e in ipairs(edges) do
    local stream = first.streams[e.name]
    local known = e.depth and stream and stream.puts and stream.gots
    local row = by_name[e.stream]
    if not row then
      row = { name = e.stream, least = least and least[e.stream], timed = job.timed[e.stream], tokens = 0 }
      rows[#rows + 1], by_name[e.stream] = row, row
    end
    row.tokens = math.max(row.tokens, e.tokens or stream and stream.tokens or 0)
    row.rates = e.depth and math.max(e.depth, row.rates or 0) or row.rates
    local seen = known and measure(e, stream)
    if seen and (not row.seen or (seen.room or seen.most) > (row.seen.room or row.seen.most)) then
      row.seen, row.edge, row.from, row.to, row.put, row.get = seen, e, e.from, e.to, e.put, e.get
    end
    row.from, row.to = row.from or e.from, row.to or e.to
  end
  return rows, by_name
end

-- "1 in 2".
local function rate_text(r) return r and ("%d in %.4g"):format(r.tokens, r.cycles) or "?" end

--- A table with a line for each stream, and below it what makes depths differ.
function report:__tostring()
  local lines = { ("%-12s %8s %11s %11s %7s %7s %7s   %s"):format("stream", "tokens", "put", "get", "rates", "timed",
    "least", "ends") }
  for _, r in ipairs(self.streams) do
    lines[#lines + 1] = ("%-12s %8d %11s %11s %7s %7d %7s   %s -> %s"):format(r.name, r.tokens, rate_text(r.put),
      rate_text(r.get), r.rates or "?", r.timed, r.least or "?", r.from or "outside", r.to or "outside")
  end
  for _, r in ipairs(self.streams) do
    for _, x in ipairs(r.terms) do
      lines[#lines + 1] = ("%s: %+d %s: %s"):format(r.name, x.by, x.term, x.why)
    end
  end
  if self.feedback then
    lines[#lines + 1] = "rates: streams lead round in a circle at rates that do not agree, so that none is steady"
  end
  if self.deadlock then
    lines[#lines + 1] = "rates: refused, these depths deadlock: they know nothing of the order of tokens; at least "
      .. "the least depths, which are in `safe`, are needed"
  end
  return table.concat(lines, "\n")
end

-- Marks depths by rates that deadlock, and gives each stream one that does not.
local function refuse_deadlock(job, r)
  local depths, any = {}, false
  for _, row in ipairs(r.streams) do
    depths[row.name] = row.rates or job.most[row.name]
    any = any or row.rates ~= nil
  end
  r.deadlock = any and not run(job, depths)
  for _, row in ipairs(r.streams) do
    row.safe = row.rates and (r.deadlock and math.max(row.rates, row.least or row.timed) or row.rates)
  end
end

--- Both depths of each stream: a table {streams, feedback, deadlock, device}; a stream has name, from, to, tokens, put
--- and get (rates: {tokens, cycles}), rates, timed, least, safe, and terms.
function fifos.report(program, options, is_schedule)
  options = options or {}
  local s = is_schedule and program:fork() or tide.schedule(program)
  local device = options.device or "u280"
  local edges = s:rates { device = device }
  local job = { schedule = s, device = device, args = arguments(s, options.args), streams = {}, most = {} }
  for _, e in ipairs(edges) do
    if not job.most[e.stream] then job.streams[#job.streams + 1] = e.stream end
    job.most[e.stream] = math.max(job.most[e.stream] or 1, e.tokens or UNKNOWN)
  end
  local least, why = fifos.least(program, is_schedule)
  if not least and why.code ~= "data" then error(why, 0) end
  local first
  first, job.stalled = run(job, job.most, true)
  local depths = {}
  for _, e in ipairs(edges) do
    local x = first.streams[e.name]
    if x and not e.tokens then job.most[e.stream] = math.max(1, x.tokens) end
    depths[e.stream] = math.max(depths[e.stream] or 1, x and (x.room or x.most) or 1)
  end
  job.timed = least_timed(job, depths)
  local r = setmetatable({ feedback = edges.feedback, device = device, cycles = first.cycles }, report)
  r.streams = make_rows(job, edges, first, least)
  for _, row in ipairs(r.streams) do
    row.terms = row.seen and terms_of(row, row.edge, row.seen) or {}
    row.seen, row.edge = nil, nil
  end
  refuse_deadlock(job, r)
  return r
end

--- What a run of a schedule is given: `given`, or something of each parameter's type.
fifos.arguments = arguments

--- The least depths at which the design runs to its end, or nil and an error.
function fifos.least(program, is_schedule)
  if is_schedule then program = load(tostring(program))(program:constants()) end
  return program:depths()
end

return fifos
