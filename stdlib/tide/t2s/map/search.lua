-- t2s.search: the mapping of a Func with the fewest cycles within a number of elements, channels and buffers breaking
-- ties; or the sizes of a mapping as it is written. What is tried is a list of choices (space.lua), taken one by one;
-- the driver is that of all searches of Tide, which ranks what is not complete by work / elements and never goes below
-- that bound. A mapping costs what its design takes in a timed run at the sizes `at`.
local tide = require "tide"
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local lines = require "tide.t2s.map.lines"
local report = require "tide.t2s.map.report"
local session = require "tide.session"
local space = require "tide.t2s.map.space"
local trace = require "tide.trace"

local search = {}

local fail = expr.fail

local STEPS = 2000 -- that are tried by default
local FEW = 200    -- layouts of which all are tried; of more, those that may be better than what was found

local known = { pes = "integer", lanes = "integer", ports = "integer", buffers = "integer", at = "table",
  consts = "table", steps = "integer", seconds = "number", device = "string", bytes_per_cycle = "number",
  check = "boolean" }

-- Checks the options.
local function check(o)
  for name, v in pairs(o) do
    local want = known[name]
    if not want then
      fail(nil, "t2s-search", ("t2s.search has no option '%s'"):format(tostring(name)),
        "pes, lanes, ports, buffers, at, consts, steps, seconds, device, bytes_per_cycle, check")
    end
    local fits = type(v) == want
    if want == "integer" then fits = math.type(v) == "integer" and v >= (name == "buffers" and 0 or 1)
    elseif want == "number" then fits = type(v) == "number" and v > 0 end
    if not fits then
      local what = want == "table" and "a table of sizes" or want == "boolean" and "true or false"
        or want == "string" and "a name" or "a number above 0"
      fail(nil, "t2s-search", ("option %s of t2s.search is %s, not %s"):format(name, what, tostring(v)))
    end
  end
  for name, v in pairs(o.at or {}) do
    if math.type(v) ~= "integer" or v < 1 then
      fail(nil, "t2s-search", ("at gives %s no size"):format(tostring(name)), "at = {I = 16}")
    end
  end
end

-- Calls fn while Funcs have other directives.
local function with(order, fn, ...)
  local kept = {}
  for n, x in ipairs(order) do
    kept[n] = { x.def.directives, x.def.expanded }
    x.def.directives, x.def.expanded = x.list, nil
  end
  local out = table.pack(pcall(fn, ...))
  for n, x in ipairs(order) do x.def.directives, x.def.expanded = kept[n][1], kept[n][2] end
  if not out[1] then error(out[2], 0) end
  return table.unpack(out, 2, out.n)
end

-- The sizes of a program that have no value, at the sizes of the search.
local function open_sizes(p, at)
  local z
  for name in pairs(p.sizes) do
    if not p.values[name] then
      z = z or {}
      z[name] = at[name] or fail(nil, "t2s-search", ("the search needs a value of %s"):format(name),
        ("at = {%s = 16}"):format(name))
    end
  end
  return z
end

-- Random arguments of a kernel, the last one zeros, and the bytes of the narrowest element.
local function arguments(k)
  local args, least = {}, 8
  for n, q in ipairs(k.params) do
    least = math.min(least, (tonumber(tostring(q.type):match "^%a+(%d+)") or 32) // 8)
    args[n] = n < #k.params and tide.random(q.type, n, { lo = 0, hi = 7 }) or q.type(0)
  end
  return args, math.max(least, 1)
end

-- Runs a design with a clock; returns its cycles: not less than its traffic takes.
local function cycles_of(net, kernel, z, o)
  local x, args, least = z and net:at(z) or net, arguments(z and kernel:at(z) or kernel)
  local timed = x:build { target = "cpu", timed = true, device = o.device }
  timed(table.unpack(args))
  local cycles = timed.report.cycles
  if not o.bytes_per_cycle then return cycles end
  local moved = x:build { target = "cpu", timed = true, device = o.device,
    memory = { model = "slots", request = least } }
  moved(table.unpack(args))
  return math.max(cycles, math.ceil(moved.report.memory.bytes / o.bytes_per_cycle))
end

-- How many elements the Funcs of a mapping have.
local function elements_of(r, m)
  local pes = 0
  for _, f in ipairs(m.funcs) do pes = pes + (r.pes[f.name .. "_pe"] or 1) end
  return pes
end

-- What a mapping costs: {cycles =, channels =, ..}; nil and why where it is refused or beyond the limits. `pes`
-- tells its elements where they are known.
local function cost_of(tools, def, consts, extra, o, pes)
  local s, m = tools.scheduled(def, consts, extra, { pipeline = o.device ~= nil })
  local net = load(tostring(s), "=t2s." .. def.name)()
  local r = report.of(report.keep(net, s, m))
  if o.ports and r.ports > o.ports then return nil, "ports" end
  local buffers = r.buffers + r.memory
  pes = pes or elements_of(r, m)
  if o.pes and pes > o.pes then return nil, "elements" end
  if o.buffers and buffers > o.buffers then return nil, "buffers" end
  return { cycles = cycles_of(net, m.kernel, open_sizes(m.program, o.at), o), channels = r.channels,
    buffers = buffers, ports = r.ports, pes = pes, steps = r.steps[def.name], net = net, schedule = s, mapping = m }
end

local function costs(c) return { c.cycles, c.channels, c.buffers, c.ports, c.pes } end

-- Whether cost x is less.
local function is_less(x, y)
  local a, b = costs(x), costs(y)
  for n = 1, #a do
    if a[n] ~= b[n] then return a[n] < b[n] end
  end
  return x.number < y.number
end

-- Constants as Lua: {II = 4}.
local function text_of(consts)
  local names = {}
  for name in pairs(consts) do names[#names + 1] = name end
  table.sort(names)
  for n, name in ipairs(names) do names[n] = ("%s = %d"):format(name, consts[name]) end
  return "{" .. table.concat(names, ", ") .. "}"
end

-- The lines that make a design: assumptions, new Vars and Funcs, directives, constants.
local function lines_of(list, order, divided)
  local out, vars, seen = {}, {}, {}
  for _, f in ipairs(list) do
    for _, l in ipairs(f.loops) do seen[l.name] = true end
  end
  for _, x in ipairs(order) do
    for _, d in ipairs(x.list) do
      local function look(v)
        if expr.is(v) and v.op == "var" and not seen[v.name] then
          seen[v.name], vars[#vars + 1] = true, v.name
        elseif type(v) == "table" and not expr.is(v) and getmetatable(v) == nil then
          for _, y in ipairs(v) do look(y) end
        end
      end
      for n = 1, d.args.n do look(d.args[n]) end
    end
  end
  if #vars > 0 then
    out[#out + 1] = ('local %s = t2s.Var "%s"'):format(table.concat(vars, ", "), table.concat(vars, " "))
  end
  for _, x in ipairs(divided) do
    out[#out + 1] = ("t2s.assume.divisible(%s, %d)"):format(expr.text(x.size), x.by)
  end
  local defs = {}
  for n, x in ipairs(order) do defs[n] = x.def end
  if #defs > 0 then out[#out + 1] = lines.all(defs) end
  return table.concat(out, "\n"), ("local net, verdict = t2s.design(%s, %s)")
end

local result = {}
result.__index = result

function result.__tostring(r)
  local out = { r.text }
  if r.lines then
    out[#out + 1] = ("%d elements, %d channels, %d buffers, %d ports"):format(r.pes, r.channels, r.buffers, r.ports)
    out[#out + 1] = r.lines
  end
  return table.concat(out, "\n")
end

-- The result of a search: the best of what was found, all of it, the text of why it ended.
local function answer(tools, def, found, all, o)
  table.sort(all, is_less)
  local r = setmetatable({ ended = found.ended, tries = found.tries, text = found.text, bound = found.bound,
    all = all }, result)
  local best = all[1]
  if not best then
    fail(nil, "t2s-search", ("no mapping of %s was found: %s"):format(def.name, found.text), o.why, "illegal")
  end
  for _, key in ipairs { "cycles", "channels", "buffers", "ports", "pes", "steps", "lines", "consts" } do
    r[key] = best[key]
  end
  r.design, r.verdict = with(best.order, tools.design, def, best.consts, best.extra, o.check)
  for _, x in ipairs(all) do x.net, x.schedule, x.mapping, x.order, x.extra, x.number = nil, nil, nil, nil, nil, nil end
  return r
end

-- Starts the driver.
local function drive(o, moves, take, floor)
  return session.search { start = { { state = {}, key = "-", rank = { 0 }, floor = floor } },
    moves = moves, take = function(state, move) return take(state, move) end, steps = o.steps or STEPS,
    seconds = o.seconds }
end

-- Joins two tables of sizes.
local function joined(x, y)
  local out = {}
  for k, v in pairs(x) do out[k] = v end
  for k, v in pairs(y) do out[k] = v end
  return out
end

-- The sizes of assumptions as the program keeps them.
local function assumptions_of(divided, place)
  local out = {}
  for n, x in ipairs(divided) do
    local rest = expr.new { op = "%", a = x.size, b = expr.lift(x.by) }
    out[n] = { cond = expr.new { op = "==", a = rest, b = expr.lift(0) }, names = {}, place = place }
  end
  return out
end

-- The picks of the n-th Func among all: a layout, a way for each operand, the end, lanes.
local function picks_of(list, n, picks)
  local from = 1
  for k = 1, n - 1 do from = from + #list[k].operands + 3 end
  return table.move(picks, from, from + #list[n].operands + 2, 1, {})
end

-- What may be picked next: the Func whose pick it is and the choices; none where all is picked.
local function choices(list, picks, o)
  local left, used = #picks, 0
  for n, f in ipairs(list) do
    local own = picks_of(list, n, picks)
    if left < #f.operands + 3 then
      if left == 0 then return f, space.layouts(f, o.pes - used - (#list - n), o.lanes or #list > 1) end
      if left <= #f.operands then
        return f, space.ways(f, own[1], f.operands[left], o.buffers or o.bytes_per_cycle)
      end
      return f, left == #f.operands + 1 and space.ends(f, own[1]) or space.lanes(f, own[1], o.lanes or 1)
    end
    left, used = left - #f.operands - 3, used + own[1].pes
  end
  return nil, {}
end

-- The least cycles of what is picked: work of the slowest Func by its elements and lanes.
local function least_of(list, picks, o)
  local least = 0
  for n, f in ipairs(list) do
    local layout = picks_of(list, n, picks)[1]
    local by = (layout and layout.pes or o.pes) * (o.lanes or 1)
    least = math.max(least, -(-f.work // by))
  end
  return least
end

-- A mapping of all Funcs as directives, with what it assumes, its constants and lines.
local function mapped(tools, list, picks, def, o, place)
  local order, add = space.list(place)
  local x = { order = order, consts = tools.values(def, o.at), divided = {}, pes = 0 }
  for n, f in ipairs(list) do
    local own = picks_of(list, n, picks)
    space.directives(f, own, add)
    space.divided(f, own, x.divided)
    x.consts = joined(x.consts, space.fixed(f, own[1], o.at))
    x.matrix, x.pes = own[1].rows, x.pes + own[1].pes
  end
  x.extra = assumptions_of(x.divided, place)
  local text, line = with(order, lines_of, list, order, x.divided)
  x.lines = text .. "\n" .. line:format(def.name, text_of(x.consts))
  return x
end

-- Searches the mappings of a Func and of those that it reads.
local function mappings(tools, def, o, place)
  local list, all, why = space.read(def, tools.open(def, o.at), o.at), {}, nil
  local many = #select(2, choices(list, {}, o)) > FEW or #list > 1
  local function moves(picks) return select(2, choices(list, picks, o)) end
  local function take(picks, move)
    local next_picks, key = table.move(picks, 1, #picks, 1, {}), {}
    next_picks[#picks + 1] = move
    for n, x in ipairs(next_picks) do key[n] = type(x) == "table" and x.text or x end
    local point = { state = next_picks, key = table.concat(key, " ") }
    local least, first = least_of(list, next_picks, o), next_picks[1]
    point.rank = { least, -first.pes }
    if many then point.floor = least end
    if choices(list, next_picks, o) then return point end
    local x = mapped(tools, list, next_picks, def, o, place)
    local ok, c, limit = pcall(with, x.order, cost_of, tools, def, x.consts, x.extra, o, x.pes)
    if not ok then
      if type(c) == "string" then error(c, 0) end
      why = why or c.message
      return nil
    end
    if not c then
      why = why or ("all need more %s"):format(limit)
      return nil
    end
    for k, v in pairs(x) do c[k] = v end
    c.number, c.divided = #all + 1, nil
    all[#all + 1] = c
    point.cost, point.rank = costs(c), costs(c)
    return point
  end
  local found = drive(o, moves, take, many and least_of(list, {}, o) or nil)
  o.why = why
  return answer(tools, def, found, all, o)
end

-- Searches the values of constants of a mapping as it is written.
local function constants(tools, def, o)
  local names, all, why, fixed = {}, {}, nil, {}
  for name, list in pairs(o.consts) do
    if math.type(list) == "integer" then fixed[name] = list
    elseif type(list) == "table" and #list > 0 then names[#names + 1] = name
    else fail(nil, "t2s-search", ("consts gives %s no values"):format(tostring(name)), "consts = {II = {4, 8}}") end
  end
  table.sort(names)
  local function moves(picks) return names[#picks + 1] and o.consts[names[#picks + 1]] or {} end
  local function take(picks, v)
    local list = table.move(picks, 1, #picks, 1, {})
    list[#list + 1] = v
    local point = { state = list, key = table.concat(list, " "), rank = { 0 } }
    if #list < #names then return point end
    local consts = joined(fixed, {})
    for n, name in ipairs(names) do consts[name] = list[n] end
    local ok, c, limit = pcall(cost_of, tools, def, consts, {}, o)
    if not ok and type(c) == "string" then error(c, 0) end
    if not ok or not c then
      why = why or ok and ("all need more %s"):format(limit) or c.message
      return nil
    end
    c.number, c.order, c.consts, c.extra = #all + 1, {}, consts, {}
    c.lines = ("local net, verdict = t2s.design(%s, %s)"):format(def.name, text_of(consts))
    all[#all + 1] = c
    point.cost, point.rank = costs(c), costs(c)
    return point
  end
  if #names == 0 then fail(nil, "t2s-search", "consts gives no list", "consts = {II = {4, 8, 16}}") end
  local found = drive(o, moves, take)
  o.why = why
  return answer(tools, def, found, all, o)
end

--- Searches; tools are what tide.t2s gives: scheduled, design, open, values.
function search.run(tools, def, o)
  check(o)
  o = joined(o, { at = o.at or {} })
  if o.consts then return constants(tools, def, o) end
  if not o.pes then
    fail(nil, "t2s-search", "t2s.search needs a number of elements", "t2s.search(F, {pes = 16, at = ..})")
  end
  for _ in directives.each(def, "unroll") do
    fail(nil, "t2s-search", ("%s has a mapping already"):format(def.name),
      "consts = {II = {4, 8}} tunes it; a mapping is searched for a definition alone")
  end
  return mappings(tools, def, o, trace.place())
end

return search
