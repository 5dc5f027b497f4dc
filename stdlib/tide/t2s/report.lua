-- What a T2S design is made of, read from its printed form: tasks with their PEs, streams with elements. A channel is
-- an element of a stream between different tasks or different PEs; what carries blocks is a buffer that a task fills
-- for the next, or, from or to a host stage, a memory channel.
local report = {}

local kept = setmetatable({}, { __mode = "k" }) -- design -> {schedule, mapping}

--- Remembers the schedule of a design and what of its mapping was left out; returns the design.
function report.keep(net, s, m)
  kept[net] = { schedule = s, left = m.left, steps = m.steps, inner = m.inner or {} }
  return net
end

-- The product of the numbers in a list, as "2, 2".
local function product(list)
  local n = 1
  for x in list:gmatch "[^,%s]+" do n = n * (math.tointeger(tonumber(x)) or 0) end
  return n
end

-- The extents in the options of a stream: "{2, 2, depth = 2}" is "2, 2".
local function extents(options)
  local out = {}
  for x in (options or ""):gmatch "[^{},]+" do
    if not x:find "=" then out[#out + 1] = x:match "^%s*(.-)%s*$" end
  end
  return table.concat(out, ", ")
end

--- {pes = {task = n}, channels = n, memory = n, buffers = n, left = {..}, steps = {Func = steps of a transform}}: the report of a design.
function report.of(net)
  local text, of = tostring(net), kept[net] or {}
  local r = { pes = {}, channels = 0, memory = 0, buffers = 0, left = of.left or {}, steps = of.steps or {}, schedule = of.schedule }
  local block, task, host = {}, nil, {}
  for line in text:gmatch "[^\n]+" do
    local name, options = line:match "local ([%w_]+) = d:stream%(.-(%b{})%)"
    if name then
      local n = product(extents(options))
      for _, inside in ipairs(of.inner or {}) do n = inside == name and 0 or n end
      if options:find "block = true" then block[name] = n else r.channels = r.channels + n end
    end
    local started, marks = line:match "^  d%.([%w_]+) = tide%.task {(.*)$"
    if started then
      task = started
      r.pes[task] = 1
      host[task] = marks:find "@ host" and true
    end
    local map = task and line:match "^    map = (%b{}),"
    if map then r.pes[task] = product(map:sub(2, -2)) end
    for used in line:gmatch "([%w_]+)[%w_%[%]]*:[sgp][leu][oto]t?%(" do
      if block[used] and host[task] then
        r.memory = r.memory + block[used]
        block[used] = nil
      end
    end
  end
  for _, n in pairs(block) do r.buffers = r.buffers + n end
  return r
end

return report
