-- Sweeps over points, kept in a file: graphs, designs, whatever a function measures.
--   local rows = explore.sweep { over = { tile = { 8, 16 } }, run = function(p) return layer(p.tile):simulate() end,
--     keep = { "cycles", "memory" }, file = "sweep.db", jobs = 2 }
--   explore.front(rows, { "cycles", "memory" })
local tide = require "tide"
local csv = require "tide.csv"
local json = require "tide.json"
local order = require "tide.order"
local rows_of = require "tide.rows"

local explore = {}

-- The names of a table, sorted.
local function names_of(t)
  local list = {}
  for k in pairs(t) do list[#list + 1] = k end
  table.sort(list, order.bytes)
  return list
end

--- All points of lists by name, the last name (of `names`, else in order of the alphabet) fastest.
function explore.points(over, names)
  names = names or names_of(over)
  local list = { {} }
  for _, name in ipairs(names) do
    local more = {}
    for _, p in ipairs(list) do
      for _, v in ipairs(over[name] or error(("sweep: over has no '%s'"):format(name), 2)) do
        local q = {}
        for k, x in pairs(p) do q[k] = x end
        q[name] = v
        more[#more + 1] = q
      end
    end
    list = more
  end
  return list, names
end

-- What a point is known by: its values, the program that measures it, the version of Tide.
local function key_of(o, p, names)
  local parts = { tide.version and tostring(tide.version) or "", o.program and tostring(o.program)
    or string.dump(o.run) }
  for _, name in ipairs(names) do parts[#parts + 1] = name .. "=" .. json.text(p[name]) end
  local h, k = 5381, 52711
  local text = table.concat(parts, "\0")
  for i = 1, #text do
    h = (h * 33 ~ text:byte(i)) & 0xffffffffffff
    k = (k * 31 + text:byte(i)) & 0xffffffffffff
  end
  return ("%012x%012x"):format(h, k)
end

local Memory = {}
Memory.__index = Memory
function Memory:get(key) return self[key] end
function Memory:put(key, _, result) self[key] = result end
function Memory.close() end

local File = {}
File.__index = File

local function open_file(path)
  local self = setmetatable({ db = rows_of.open(path) }, File)
  self.db:run "create table if not exists rows (key text primary key, point text, result text)"
  return self
end

function File:get(key)
  local found = self.db:run("select result from rows where key = ?", key)
  return found[1] and found[1][1]
end

function File:put(key, point, result)
  self.db:run("insert or replace into rows values (?, ?, ?)", key, point, result)
end

function File:close() self.db:close() end

local unescaped = { n = "\n", r = "\r", t = "\t", b = "\b", f = "\f" }

-- A JSON object of numbers, strings and booleans.
local function read_object(text)
  local row, at = {}, 2
  local function read_string()
    local from, stop = at + 1, at
    repeat
      stop = text:find('["\\]', stop + 1)
      if text:sub(stop, stop) == "\\" then stop = stop + 1 end
    until text:sub(stop, stop) == '"' and text:sub(stop - 1, stop - 1) ~= "\\" or stop > #text
    at = stop + 1
    return (text:sub(from, stop - 1):gsub("\\(u?)(%x?%x?%x?%x?)(.?)", function(u, hex, c)
      if u == "u" and #hex == 4 then return utf8.char(tonumber(hex, 16)) .. c end
      local all = u .. hex .. c
      return (unescaped[all:sub(1, 1)] or all:sub(1, 1)) .. all:sub(2)
    end))
  end
  while text:sub(at, at) == '"' do
    local key = read_string()
    at = text:match("^: ()", at)
    if text:sub(at, at) == '"' then
      row[key] = read_string()
    else
      local word, after = text:match("^([^,}]+)()", at)
      at = after
      row[key] = word == "true" or (word ~= "false" and tonumber(word) or false)
    end
    at = text:match("^, ()", at) or at
  end
  return row
end

-- Measures a point: the result as a line of JSON, {"error": ..} where it fails.
local function measure(o, p)
  local ok, r = pcall(o.run, p)
  if not ok then return json.text { error = tostring(type(r) == "table" and r.message or r) } end
  local kept = {}
  if o.keep then
    for _, k in ipairs(o.keep) do kept[k] = r[k] end
  elseif type(r) == "table" then
    for k, v in pairs(r) do
      local plain = type(v) == "number" or type(v) == "string" or type(v) == "boolean"
      if type(k) == "string" and plain then kept[k] = v end
    end
  else
    kept.value = r
  end
  return json.text(kept)
end

-- Measures the points, `jobs` of them at a time, in processes; done(i, line) in the order of points.
local function measure_all(o, points, done)
  local jobs = math.max(1, math.min(o.jobs or 1, #points))
  if jobs == 1 then
    for i, p in ipairs(points) do done(i, measure(o, p)) end
    return
  end
  local workers = {}
  for j = 1, jobs do
    workers[j] = rows_of.spawn(function(out)
      for i = j, #points, jobs do out:write(measure(o, points[i]), "\n") end
    end)
  end
  local failed
  for i = 1, #points do
    local line = not failed and workers[(i - 1) % jobs + 1]:read "l"
    if not line then failed = failed or i else done(i, line) end
  end
  for _, w in ipairs(workers) do w:close() end
  if failed then error(("sweep: the process that measures point %d has ended"):format(failed), 0) end
end

--- Measures all points; those that the file has are not measured again. Rows have the point's values and the
--- result's, in the order of points, whatever the number of jobs.
---@param o table over = lists by name; names = their order; run = function of a point; keep = names that a row keeps;
---  file = "x.db"; csv = "x.csv"; jobs = processes; program = what run measures, as text;
---  progress = function(n, all, seconds left)
function explore.sweep(o)
  if type(o) ~= "table" or type(o.over) ~= "table" or type(o.run) ~= "function" then
    error("sweep takes { over = lists by name, run = a function of a point }", 2)
  end
  local points, names = explore.points(o.over, o.names)
  local store = o.file and open_file(o.file) or setmetatable({}, Memory)
  local lines, missing, at = {}, {}, {}
  for i, p in ipairs(points) do
    lines[i] = store:get(key_of(o, p, names))
    if not lines[i] then
      missing[#missing + 1] = p
      at[#missing] = i
    end
  end
  local since, measured = os.time(), 0
  measure_all(o, missing, function(k, line)
    local i = at[k]
    lines[i] = line
    store:put(key_of(o, points[i], names), json.text(points[i]), line)
    measured = measured + 1
    if o.progress then
      local took = os.time() - since
      o.progress(measured, #missing, took * (#missing - measured) / measured)
    end
  end)
  store:close()
  local rows, columns = {}, table.move(names, 1, #names, 1, {})
  local seen = {}
  for i, p in ipairs(points) do
    local row = read_object(lines[i])
    for _, k in ipairs(o.keep or names_of(row)) do
      if not seen[k] then
        seen[k] = true
        columns[#columns + 1] = k
      end
    end
    for k, v in pairs(p) do row[k] = v end
    rows[i] = row
  end
  if o.csv then csv.write(o.csv, rows, columns) end
  return rows, measured
end

-- Whether a is at least as good as b in all, and better in one.
local function dominates(a, b, objectives)
  local better = false
  for _, k in ipairs(objectives) do
    if a[k] > b[k] then return false end
    better = better or a[k] < b[k]
  end
  return better
end

--- The rows that no other is better than in all objectives, which are to be small; in their order.
function explore.front(rows, objectives)
  local front = {}
  for _, a in ipairs(rows) do
    local best = true
    for _, k in ipairs(objectives) do best = best and type(a[k]) == "number" end
    for _, b in ipairs(rows) do
      if not best then break end
      local comparable = true
      for _, k in ipairs(objectives) do comparable = comparable and type(b[k]) == "number" end
      best = not (comparable and dominates(b, a, objectives))
    end
    if best then front[#front + 1] = a end
  end
  return front
end

--- The Pareto Improvement Distance of a row from the front of others: above 1 it lies beyond that front, by the factor
--- in the objective in which some row of the front is nearest (STeP, section B.4).
function explore.pid(row, others, objectives)
  local least = math.huge
  for _, q in ipairs(explore.front(others, objectives)) do
    local most = 0
    for _, k in ipairs(objectives) do most = math.max(most, q[k] / row[k]) end
    least = math.min(least, most)
  end
  return least
end

-- A step as it is written.
local function step_text(step)
  local parts = {}
  for i = 2, #step do
    local v = step[i]
    if type(v) == "table" then
      local fields = {}
      for _, k in ipairs(names_of(v)) do fields[#fields + 1] = ("%s = %s"):format(k, json.text(v[k])) end
      parts[#parts + 1] = "{ " .. table.concat(fields, ", ") .. " }"
    else
      parts[#parts + 1] = type(v) == "string" and ("%q"):format(v) or tostring(v)
    end
  end
  return (":%s(%s)"):format(step[1], table.concat(parts, ", "))
end

--- Tries all combinations of steps, one choice of each list (false: no step): the fastest graph that keeps to the
--- memory. Returns its row, the schedule, the text of its steps, and all rows.
---@param program any a graph
---@param o table choices = lists of steps { "retile", "tile", 8 } or false; memory =, jobs =, file =; simulate =
---  options
function explore.search(program, o)
  local over, names = {}, {}
  for i, list in ipairs(o.choices) do
    names[i] = ("choice%d"):format(i)
    over[names[i]] = {}
    for k = 1, #list do over[names[i]][k] = k end
  end
  local function taken(p)
    local s, text = tide.schedule(program), {}
    for i, name in ipairs(names) do
      local step = o.choices[i][p[name]]
      if step then
        s[step[1]](s, table.unpack(step, 2))
        text[#text + 1] = step_text(step)
      end
    end
    return s, "s" .. table.concat(text)
  end
  local rows = explore.sweep { over = over, names = names, jobs = o.jobs, file = o.file,
    program = tostring(program) .. json.text(o.choices) .. json.text(o.simulate or {}),
    keep = { "cycles", "memory", "traffic", "steps", "error" },
    run = function(p)
      local s, text = taken(p)
      local r = s:simulate(o.simulate)
      return { cycles = r.cycles, memory = r.memory, traffic = r.traffic, steps = text }
    end }
  local best
  for _, row in ipairs(rows) do
    if row.cycles and row.memory <= (o.memory or math.huge) and (not best or row.cycles < best.cycles
      or row.cycles == best.cycles and row.memory < best.memory) then best = row end
  end
  if not best then return nil, ("no combination keeps to %s bytes"):format(o.memory), nil, rows end
  local s, text = taken(best)
  return best, s, text, rows
end

return explore
