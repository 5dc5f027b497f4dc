-- The search for a schedule on an NPU: how many turns each axis of a task's map takes, then the steps to NPU form, in
-- some variants; what costs least on the device's model of time, without data, wins. The driver is that of all
-- searches.
local tide = require "tide"
local core = require "tide.npu.core"
local session = require "tide.session"
local refusal = require "tide.refusal"

local search = {}

-- Takes a step and keeps it in `did`; nil and the error where it is refused.
local function step(state, name, ...)
  local s = state.s
  local made = table.pack(pcall(s[name], s, ...))
  if not made[1] then return nil, made[2] end
  state.did[#state.did + 1] = table.pack(name, ...)
  return table.unpack(made, 2, made.n)
end

local function fork(state)
  return { s = state.s:fork(), did = { table.unpack(state.did) }, device = state.device, options = state.options,
    key = state.key, form = state.form }
end

local function task_of(state, name)
  for _, t in ipairs(core.tasks(state.s)) do
    if t.name == name then return t end
  end
end

-- Names of tasks that are on cores, in order.
local function cores_of(state)
  local names = {}
  for _, t in ipairs(core.tasks(state.s)) do
    if not t.host then names[#names + 1] = t.name end
  end
  return names
end

-- ---- mapping

-- An axis of a task's map that none of the arrays that it writes is cut along: its instances add up.
local function reduced_axis(task)
  for axis = 0, #task.map - 1 do
    local named, written = false, false
    for _, a in ipairs(task.arguments) do
      written = written or a.written
      named = named or a.written and (not a.layout or a.layout:find("S" .. axis, 1, true))
    end
    if written and not named then return axis end
  end
end

-- Instances of a design that are on cores.
local function instances_of(state)
  local all = 0
  for _, t in ipairs(core.tasks(state.s)) do
    local n = t.host and 0 or 1
    for _, e in ipairs(t.map) do n = n * e end
    all = all + n
  end
  return all
end

-- Whether all instances of a design fit on the device's cores.
local function fits(state) return instances_of(state) <= state.device.cores end

-- Folds each axis that only adds up, and the task that adds.
local function fold(state)
  for _, name in ipairs(cores_of(state)) do
    local axis = reduced_axis(task_of(state, name))
    if axis and step(state, "bundle", name, { axis = axis }) then step(state, "chain", name, name .. "_allreduce") end
  end
end

-- The ways to give the axes of a map to so many rows and columns: lists of instances along each axis.
local function grids(map, rows, cols, cores)
  local list = {}
  local function grow(at, d, n)
    if d > #map then
      list[#list + 1] = at
      return
    end
    for p = math.min(map[d], cores // n), 1, -1 do
      if map[d] % p == 0 then
        local next = { table.unpack(at) }
        next[d] = p
        grow(next, d + 1, n * p)
      end
    end
  end
  grow({}, 1, 1)
  local function size(g)
    local n, flat = 1, 0
    for _, p in ipairs(g) do n, flat = n * p, flat + p end
    local placed = #g == 2 and (g[1] <= rows and g[2] <= cols or g[2] <= rows and g[1] <= cols)
    return n, placed and 1 or 0, -flat
  end
  table.sort(list, function(x, y)
    local a, b = { size(x) }, { size(y) }
    for i = 1, 3 do
      if a[i] ~= b[i] then return a[i] > b[i] end
    end
    return table.concat(x, " ") < table.concat(y, " ")
  end)
  return list
end

-- Mappings of a state: lists of {task, extents}; one list each.
local function mappings(state, most)
  local names, list = cores_of(state), {}
  if #names == 1 then
    local d = state.device
    for i, g in ipairs(grids(task_of(state, names[1]).map, d.rows - 2, d.cols, d.cores)) do
      if i > most then break end
      list[#list + 1] = { { names[1], g } }
    end
  else
    list[1] = {}
  end
  return list
end

-- Gives each task of a mapping its extents.
local function map(state, mapping)
  for _, m in ipairs(mapping) do
    local task = task_of(state, m[1])
    local axis = 0
    for d, p in ipairs(m[2]) do
      local factor = task.map[d] // p
      if factor > 1 and p > 1 then
        if not step(state, "bundle", m[1], { axis = axis, factor = factor }) then return nil end
      elseif factor > 1 then
        if not step(state, "bundle", m[1], { axis = axis }) then return nil end
      end
      axis = axis + (factor > 1 and p == 1 and 0 or 1)
    end
  end
  if not fits(state) then return step(state, "search", { pes = state.device.cores }) end
  return state
end

-- ---- the form

local function count(shape)
  local n = 1
  for _, e in ipairs(shape) do n = n * e end
  return n
end

-- Sums of parts join their sums: of two locals of one type, the inner one.
local function join_sums(state, name)
  local again = true
  while again do
    again = false
    local locals = task_of(state, name).locals
    for i = #locals, 2, -1 do
      for k = 1, i - 1 do
        if locals[i].elem == locals[k].elem and count(locals[i].shape) == count(locals[k].shape) and not again then
          local spec = ("%s:%s"):format(name, locals[i].name)
          again = step(state, "collapse", spec, { reassociate = state.options.reassociate or nil }) ~= nil
        end
      end
    end
  end
end

-- The loops of a task, as specs.
local function loops_of(state, name)
  local list = {}
  for _, spec in ipairs(state.s:loops()) do
    local unit = spec:match "^(.-):"
    if not unit or unit == name then list[#list + 1] = spec end
  end
  return list
end

-- Takes a local out of the outermost loop that it may leave.
local function hoist(state, name, array)
  for _, loop in ipairs(loops_of(state, name)) do
    if step(state, "hoist", ("%s:%s"):format(name, array), loop) then return true end
  end
end

-- The type of this name.
local function type_of(name) return tide[name] or tide.int(tonumber(name:match "%d+")) end

-- Each product is left to a kernel of the device; its copies leave what loops they can.
local function inject(npu, state, name)
  for _, p in ipairs(core.products(state.s, name)) do
    local made, mm = pcall(npu.matmul, { device = state.options.device, m = p.m, n = p.n, k = p.k, A = type_of(p.a),
      B = type_of(p.b), C = type_of(p.c) })
    if made then
      local got = table.pack(step(state, "inject", p.loop, mm,
        { reassociate = state.options.reassociate or nil }))
      if got[1] then
        for i = 3, got.n do hoist(state, name, got[i]) end
        step(state, "collapse", ("%s:%s"):format(name, p.sum))
      end
    end
  end
end

-- The bytes of a core's locals at these depths.
local function bytes_of(state, name, depth)
  local bytes = 0
  for _, l in ipairs(task_of(state, name).locals) do
    local bits = tonumber(l.elem:match "%d+") or 32
    bytes = bytes + count(l.shape) * ((bits + 7) // 8) * depth
  end
  return bytes
end

-- What fills locals from arguments and empties them becomes tasks on the host, with results in one block where a core
-- has no room for two of each. Returns their names.
local function isolate(state, name)
  local hosts, depth = {}, bytes_of(state, name, 2) + 1024 <= state.device.bytes and 2 or 1
  for _, l in ipairs(task_of(state, name).locals) do
    local spec = ("%s:%s"):format(name, l.name)
    local _, host = step(state, "isolate", spec)
    local made = host and task_of(state, host)
    local first = made and made.arguments[1]
    if first and depth == 1 and first.written then
      state.s:undo()
      state.did[#state.did] = nil
      _, host = step(state, "isolate", spec, { depth = 1 })
    end
    if made then hosts[#hosts + 1] = host end
  end
  return hosts
end

-- One stream for several: equal blocks along an axis that no layout of the task has, or neighbours along the first.
local function coalesce(state, host)
  local task = task_of(state, host)
  if #task.map == 0 then return end
  local used, written = {}, false
  for _, a in ipairs(task.arguments) do
    written = written or a.written
    for axis = 0, #task.map - 1 do
      used[axis] = used[axis] or a.layout ~= nil and a.layout:find("S" .. axis, 1, true) ~= nil
    end
  end
  for axis = 0, #task.map - 1 do
    if not written and not used[axis] then return step(state, "coalesce", host, { axis = axis }) end
  end
  return step(state, "coalesce", host, { axis = state.form.axis })
end

-- Rows along the first axis and columns along the second, or the other way round.
local function place(state, name)
  local m, rows, cols = task_of(state, name).map, state.device.rows - 2, state.device.cols
  if #m == 2 and m[1] <= rows and m[2] <= cols then
    return step(state, "place", name, { 0, 2 }, { by = { { 0, 1 }, { 1, 0 } } })
  elseif #m == 2 and m[2] <= rows and m[1] <= cols then
    return step(state, "place", name, { 0, 2 }, { by = { { 1, 0 }, { 0, 1 } } })
  elseif #m == 1 and m[1] <= cols then
    return step(state, "place", name, { 0, 2 }, { by = { { 1, 0 } } })
  elseif #m == 1 and m[1] <= rows then
    return step(state, "place", name, { 0, 2 }, { by = { { 0, 1 } } })
  end
end

-- Brings a mapped design to NPU form, as `form` says.
local function bring(npu, state)
  for _, name in ipairs(cores_of(state)) do
    step(state, "expand", name)
    join_sums(state, name)
    if state.form.inject then inject(npu, state, name) end
    local hosts = isolate(state, name)
    if state.form.coalesce then
      for _, host in ipairs(hosts) do coalesce(state, host) end
    end
    if #cores_of(state) == 1 or #task_of(state, name).map > 0 then place(state, name) end
  end
end

-- ---- the search

-- The variants of the form that are tried.
local forms = {
  { inject = true, coalesce = true, axis = 0 },
  { inject = true, coalesce = true, axis = 1 },
  { inject = false, coalesce = true, axis = 0 },
  { inject = false, coalesce = false, axis = 0 },
}

-- ---- bounds

-- The products that a core makes in a cycle at most, of the types of what a design's tasks hold.
local function rate_of(state)
  local held, most = {}, 1
  for _, t in ipairs(core.tasks(state.s)) do
    for _, list in ipairs { t.arguments, t.locals } do
      for _, x in ipairs(list) do held[(x.elem or ""):gsub("^tide%.int%([2-7]%)$", "i8")] = true end
    end
  end
  for _, row in ipairs(state.device.macs) do
    if held[row.a] and held[row.b] then most = math.max(most, row.macs * core.model().VECTOR.value) end
  end
  return most
end

-- Notes in `known` what a build of a form was found to take: the least cycles, and what its other mappings do too: the
-- products that all forms make, the cycles that cores compute with or without kernels of the device.
local function note(known, form, report)
  local products, busy = 0, 0
  for _, t in ipairs(report.tasks) do products, busy = products + t.multiplies, busy + t.busy end
  known.products = math.max(known.products, products)
  known.busy[form.inject] = math.min(known.busy[form.inject] or math.huge, busy)
  known.least = math.min(known.least or math.huge, report.cycles)
end

-- Whether a mapped design can take no less in a form than what is known: its cores cannot multiply as fast, or compute
-- for longer. What is around the loops of a task differs by mapping, so that half of that is counted.
local function is_slower(known, state, form)
  local cores = instances_of(state)
  local bound = math.max(known.products / rate_of(state), (known.busy[form.inject] or 0) / 2)
  return known.least and bound / cores >= known.least
end

-- What a design takes on the model.
local function simulate(state)
  return state.s:build { target = "npu", device = state.options.device, tool = false }:simulate()
end

-- Its cycles; nil and why: it cannot be built, or does not end. Builds are large: none outlives its figure.
local function cycles_of(state, known)
  local ok, result = pcall(function()
    local report = simulate(state)
    note(known, state.form, report)
    return report.cycles
  end)
  collectgarbage()
  if ok then return result end
  return nil, result
end

local MOST_GRIDS = 5

-- What the search of a schedule comes to: the best state, or nil and the last reason. `known` has the least cycles of
-- the searches before this one, of which only the best is asked for.
local function best_of(npu, s, options, known)
  local device = core.device(options.device)
  local first = { s = s:fork(), did = {}, device = device, options = options, key = "" }
  local why
  known.products, known.busy = 0, {}
  fold(first)
  local function moves(state)
    local list = {}
    if state.mapped then
      for i in ipairs(forms) do list[i] = { form = i } end
    else
      for i, m in ipairs(mappings(state, options.grids or MOST_GRIDS)) do list[i] = { mapping = m, number = i } end
    end
    return list
  end
  local function take(state, move)
    local next = fork(state)
    if move.mapping then
      next.mapped, next.key = map(next, move.mapping) ~= nil, ("map %d"):format(move.number)
      return next.mapped and { state = next, key = next.key, rank = { 0, move.number } } or nil
    end
    if is_slower(known, next, forms[move.form]) then
      why = "the cores would compute for longer than what was found takes"
      return nil
    end
    next.form = forms[move.form]
    bring(npu, next)
    next.key = ("%s form %d %s"):format(state.key, move.form, next.s:log())
    local cycles, reason = cycles_of(next, known)
    why, next.cycles = cycles and why or reason, cycles
    return cycles and { state = next, key = next.key, rank = { 1, cycles }, cost = { cycles } } or nil
  end
  local function open(state) return state.form and {} or moves(state) end
  local r = session.search { start = { { state = first, key = "start", rank = { 0 } } }, moves = open, take = take,
    steps = options.steps or 64, seconds = options.seconds, unit = "cycles" }
  if r.state then return r.state, r end
  return nil, why
end

--- The steps of the fastest schedule that is found, taken on s.
function search.run(npu, s, options)
  if not core.device(options.device) then
    refusal.raise("device", ("there is no NPU '%s'"):format(tostring(options.device)))
  end
  local known = { device = true, reassociate = true, steps = true, seconds = true, grids = true }
  for k in pairs(options) do
    if not known[k] then refusal.raise("option", ("a search for an NPU takes no option '%s'"):format(k)) end
  end
  local found, why = best_of(npu, s, options, {})
  if not found then
    refusal.raise("infeasible", "no schedule for " .. options.device .. " was found",
      why and "the last one: " .. tostring(why):match "[^\n]*")
  end
  for _, call in ipairs(found.did) do s[call[1]](s, table.unpack(call, 2, call.n)) end
  return s
end

-- Combinations of the tile sizes, in order of their lists.
local function combinations(tiles, names)
  local list = { {} }
  for _, name in ipairs(names) do
    local grown = {}
    for _, c in ipairs(list) do
      for _, v in ipairs(tiles[name]) do
        local next = { table.unpack(c) }
        next[#next + 1] = v
        grown[#grown + 1] = next
      end
    end
    list = grown
  end
  return list
end

--- See tide.npu.tune.
function search.tune(npu, make, sizes, tiles, options)
  local names, known, why = { "m", "n", "k" }, {}, nil
  local ask = { device = options.device or "npu1", reassociate = options.reassociate ~= false, grids = options.grids }
  local start = combinations(tiles, names)
  local list = {}
  for i, c in ipairs(start) do
    list[i] = { state = { tile = c }, key = table.concat(c, " "), rank = { i } }
  end
  local function moves(state) return state.cycles and {} or { 1 } end
  local function take(state)
    local args = { table.unpack(sizes) }
    for i, v in ipairs(state.tile) do
      args[#args + 1] = v
      if sizes[i] and sizes[i] % v ~= 0 then
        why = why or ("tiles of %d do not divide %d"):format(v, sizes[i])
        return nil
      end
    end
    local ok, design = pcall(make, table.unpack(args))
    if not ok then
      why = design
      return nil
    end
    local found, reason = best_of(npu, tide.schedule(design), ask, known)
    if not found then
      why = reason
      return nil
    end
    return { state = { tile = state.tile, cycles = found.cycles, found = found }, cost = { found.cycles },
      key = "found " .. table.concat(state.tile, " "), rank = { found.cycles } }
  end
  local r = session.search { start = list, moves = moves, take = take, steps = options.steps or 2 * #list + 8,
    seconds = options.seconds, unit = "cycles" }
  if not r.state then
    refusal.raise("infeasible", "no tile sizes fit " .. ask.device,
      why and "the last ones: " .. tostring(why):match "[^\n]*")
  end
  local best = { report = simulate(r.state.found), schedule = r.state.found.s, tried = #list, text = r.text }
  for i, name in ipairs(names) do best[name] = r.state.tile[i] end
  return best
end

return search
