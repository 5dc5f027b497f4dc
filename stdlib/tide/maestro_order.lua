-- Orders of the operands of a job of tide.maestro, solved: blocks of the array's tiles with their outer digits in every
-- order, rows apart by a word more, planes of a stride. What takes the least memory comes first; the search ends when
-- the array never waits.
local core = require "tide.maestro.core"

local order = {}

local MOST = 24 -- orders that are tried for one operand

-- The dimensions and parts of an order's text.
local function parse(text)
  local left, right = text:match "^(.-)%->(.*)$"
  local names, parts = {}, {}
  for name in left:gmatch "%S+" do names[#names + 1] = name end
  for part in right:gmatch "%S+" do parts[#parts + 1] = part end
  return names, parts
end

local function text_of(names, parts) return table.concat(names, " ") .. " -> " .. table.concat(parts, " ") end

-- Calls visit with each order of list[1..n], that of the list first.
local function permute(list, n, visit)
  local taken, now = {}, {}
  local function descend()
    if #now == n then
      visit { table.unpack(now) }
      return
    end
    for i = 1, n do
      if not taken[i] then
        taken[i], now[#now + 1] = true, list[i]
        descend()
        taken[i], now[#now] = nil, nil
      end
    end
  end
  descend()
end

-- How many of the last parts are a word or tile: those of remainders.
local function tail(parts)
  local n = 0
  while n < #parts and n < 2 and parts[#parts - n]:find("%%") do n = n + 1 end
  return n
end

--- The orders that are tried for an operand whose tiles fit in `text`, best guess first. strides: of planes.
function order.candidates(text, strides)
  local names, parts = parse(text)
  local list, seen, inner = {}, {}, tail(parts)
  local function add(p)
    local s = text_of(names, p)
    if not seen[s] and #list < MOST then
      seen[s], list[#list + 1] = true, s
    end
  end
  permute(parts, #parts - inner, function(p)
    table.move(parts, #parts - inner + 1, #parts, #p + 1, p)
    add(p)
  end)
  for i = 1, #parts - inner do
    for _, s in ipairs(strides or {}) do
      if parts[i]:match "^[%w_]+$" then
        local p = { table.unpack(parts) }
        p[i] = parts[i] .. "/" .. s
        table.insert(p, i, parts[i] .. "%" .. s)
        add(p)
      end
    end
  end
  return list
end

-- Texts in quotes, by name.
local shown = {
  __tostring = function(t)
    local function entries(x)
      local keys, parts = {}, {}
      for k in pairs(x) do keys[#keys + 1] = k end
      table.sort(keys)
      for _, k in ipairs(keys) do
        parts[#parts + 1] = ("%s = %s"):format(k, type(x[k]) == "string" and ("%q"):format(x[k]) or x[k])
      end
      return "{ " .. table.concat(parts, ", ") .. " }"
    end
    return ("order = %s, mode = %s, base = %s"):format(entries(t.order), entries(t.mode), entries(t.base))
  end,
}

--- What reproduces a job: order by parameter, mode and base by streamer.
function order.solution(job)
  local r = setmetatable({ order = {}, mode = {}, base = {} }, shown)
  for _, x in ipairs(core.orders(job.core)) do
    if not r.order[x.param] then
      r.order[x.param], r.mode[x.streamer] = x.text, core.stream(job.core, x.streamer).mode
      r.base[x.streamer] = x.base
    end
  end
  return r
end

local function cycles_of(job)
  local r = job.report or job:simulate()
  return r.cycles, r.fires == r.window
end

-- The parameters whose order is asked for, and the request without them.
local function split_request(o)
  local given, asked = {}, {}
  if type(o.order) == "table" then
    for k, v in pairs(o.order) do
      if v == "best" then asked[k] = true else given[k] = v end
    end
  end
  return given, o.order == "best" and "all" or asked
end

--- Whether o asks for orders.
function order.is_asked(o)
  if o.order == "best" then return true end
  for _, v in pairs(type(o.order) == "table" and o.order or {}) do
    if v == "best" then return true end
  end
  return false
end

--- The job with the orders that take the fewest cycles: operand after operand, until none gets better.
--- compile(request) is the job of an order, or raises.
function order.best(o, compile)
  local given, asked = split_request(o)
  local function try(orders)
    local request = {}
    for k, v in pairs(o) do request[k] = v end
    request.order = orders
    local ok, r = pcall(compile, request)
    return ok and r or nil, r
  end
  local best, why = try(given)
  if not best then error(why, 0) end
  local least, done = cycles_of(best)
  local current = {}
  for k, v in pairs(given) do current[k] = v end
  for _, x in ipairs(done and {} or core.orders((best.jobs or { best })[1].core)) do
    if (asked == "all" or asked[x.param]) and not done and not x.text:find "_[mnk]" then
      for _, text in ipairs(order.candidates(x.text, { 2, 4 })) do
        local was = current[x.param]
        current[x.param] = text
        local job = try(current)
        local cycles, free
        if job then cycles, free = cycles_of(job) end
        if job and cycles < least then
          best, least, done = job, cycles, free
        else
          current[x.param] = was
        end
        if done then break end
      end
    end
  end
  if not best.jobs then best.solved = order.solution(best) end
  return best
end

return order
