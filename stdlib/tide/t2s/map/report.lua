-- What a T2S design is made of, read from its printed form: tasks with their PEs, streams with elements. A channel is
-- an element of a stream between different tasks or different PEs; what carries blocks is a buffer that a task fills
-- for the next, or, from or to a host stage, a memory channel; a drain's own queue is inside its Func.
local report = {}

local kept = setmetatable({}, { __mode = "k" }) -- design -> {schedule, mapping}

--- Remembers the schedule of a design and what of its mapping was left out; returns the design.
function report.keep(net, s, m)
  kept[net] = { schedule = s, left = m.left, steps = m.steps, hosts = m.hosts or {},
    queues = m.queues or {}, inner = m.inner or {} }
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

-- What keeps a task from running without being started, or nil: a tensor, a size, a buffer.
local function holds(task, sizes)
  for _, line in ipairs(task) do
    local arg = line:match "^    ([%w_]+) = [%w_]+,"
    if arg then return ("it has the tensor %s"):format(arg) end
    local slot = line:match "local ([%w_]+) = [%w_%[%]]+:slot%(" or line:match "local ([%w_]+) = [%w_]+%[.*%]%(%S*%)"
    if slot and not line:find ":get%(" then return ("it has the buffer %s"):format(slot) end
    if not line:find "tide.assume" then
      for word in line:gsub("%-%-.*", ""):gmatch "%f[%w_][%a_][%w_]*" do
        if sizes[word] then return ("how often it runs depends on %s"):format(word) end
      end
    end
  end
end

--- {pes = {task = n}, channels = n, memory = n, buffers = n, left = {..}, steps = {Func = steps of a transform},
--- autorun = {task = true, or why it has to be started}, ports = ends at tensors}: the report of a design.
function report.of(net)
  local text, of = tostring(net), kept[net] or {}
  local r = { pes = {}, channels = 0, memory = 0, buffers = 0, left = of.left or {}, steps = of.steps or {},
    schedule = of.schedule }
  local block, token, task, host, lines, sizes = {}, {}, nil, {}, {}, {}
  for name in text:gmatch 'tide%.size "([%w_]+)"' do sizes[name] = true end
  for line in text:gmatch "[^\n]+" do
    local name, options = line:match "local ([%w_]+) = d:stream%(.-(%b{})%)"
    if name then
      local n = product(extents(options))
      for _, inside in ipairs(of.inner or {}) do n = inside == name and 0 or n end
      if options:find "block = true" then block[name] = n else token[name] = n end
    end
    local started, marks = line:match "^  d%.([%w_]+) = tide%.task {(.*)$"
    if started then
      task = started
      r.pes[task], lines[task] = 1, {}
      host[task] = marks:find "@ host" and true or (of.hosts or {})[task]
    end
    if task and not started then table.insert(lines[task], line) end
    local map = task and line:match "^    map = (%b{}),"
    if map then r.pes[task] = product(map:sub(2, -2)) end
    for used in line:gmatch "([%w_]+)[%w_%[%]]*:[sgp][leu][oto]t?%(" do
      if host[task] then
        r.memory = r.memory + (block[used] or token[used] or 0)
        block[used], token[used] = nil, nil
      elseif task and of.queues and of.queues[task] and block[used] then block[used] = 0 end
    end
  end
  r.autorun, r.ports = {}, 0
  for name, list in pairs(lines) do
    for _, line in ipairs(list) do
      if line:find "^    [%w_]+ = [%a_]" then r.ports = r.ports + r.pes[name] end
    end
    r.autorun[name] = host[name] and "it runs on the host" or holds(list, sizes) or true
  end
  for _, n in pairs(token) do r.channels = r.channels + n end
  for _, n in pairs(block) do r.buffers = r.buffers + n end
  return r
end

return report
