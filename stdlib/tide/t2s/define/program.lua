-- What a definition comes to before it is written: the Funcs that F needs, their stages with the domains that case
-- splits leave, types, arrays with extents, parameters, nests.
local affine = require "tide.t2s.define.affine"
local arrays = require "tide.t2s.define.arrays"
local cases = require "tide.t2s.define.cases"
local clone = require "tide.t2s.define.clone"
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local port = require "tide.t2s.define.port"
local recurrence = require "tide.t2s.define.recurrence"
local tide = require "tide"

local program = {}

local fail, references, use_names, accesses = expr.fail, arrays.references, arrays.use_names, arrays.accesses
local type_text = arrays.type_text

-- The stages of a Func; `mapped`: conditions of what is isolated are written out, which p notes.
local function stages_of(p, def, mapped)
  local list = {}
  for n, s in ipairs(def.stages) do
    list[n] = {}
    for k, v in pairs(s) do list[n][k] = v end
    list[n].guards = {}
    local cloned
    if mapped then list[n].rhs, cloned = clone.conditions(s) end
    p.cloned = p.cloned or cloned
  end
  return list
end

-- Collects the Funcs that def reads, itself too, with their stages.
local function collect(p, def, mapped, seen, list)
  if seen[def] then return list end
  seen[def] = stages_of(p, def, mapped)
  for _, s in ipairs(seen[def]) do
    local function look(r)
      if r.base.kind ~= "func" then return end
      if #r.base.stages == 0 then
        fail(s.place, "t2s-undefined", ("Func %s has no definition"):format(r.base.name),
          ("write %s[..] = .."):format(r.base.name))
      end
      collect(p, r.base, mapped, seen, list)
    end
    references(s.lhs, look)
    references(s.rhs, look)
  end
  for _, g in ipairs(def.group or {}) do collect(p, g, mapped, seen, list) end
  table.move(seen[def], 1, #seen[def], #list + 1, list)
  return list
end

-- The bounds of a Var in a stage, or raises.
local function bounds_of(def, name, place)
  local b = def.bounds[name]
  for _, g in ipairs(def.group or {}) do b = b or g.bounds[name] end
  if not b then
    fail(place, "t2s-bounds", ("Var %s of %s has no bounds"):format(name, def.name),
      ("%s:set_bounds(%s, 0, ..)"):format(def.name, name))
  end
  return b
end

-- Substitutes nodes for Vars by name.
local function substitute(x, by)
  if not next(by) then return x end
  return expr.map(x, function(y) return y.op == "var" and by[y.name] or nil end)
end

-- Puts the loops of an equation of a system in the order of the one with the most dimensions: an output that drops some
-- has the loops of the others.
local function in_group_order(def, names)
  local rank = {}
  local function use(name)
    if not rank[name] then
      rank[name] = #rank + 1
      rank[#rank + 1] = name
    end
  end
  local first
  for _, d in ipairs(def.group) do
    local g = cases.generic(d)
    if g and (not first or #g.lhs.idx > #first.lhs.idx) then first = g end
  end
  for _, x in ipairs(first and first.lhs.idx or {}) do use(x.name) end
  for _, d in ipairs(def.group) do
    for _, name in ipairs(d.order) do use(name) end
  end
  table.sort(names, function(x, y) return rank[x] < rank[y] end)
end

-- The domain of a stage: its left side's Vars, then those of the right side in the order of set_bounds.
local function domain_of(s)
  local def, names, has, by = s.func, {}, {}, {}
  local function use(name)
    if not has[name] then names[#names + 1] = name end
    has[name] = true
  end
  local g = cases.generic(def)
  for n, x in ipairs(s.lhs.idx) do
    if s.kinds[n] == "var" then use(x.name) end
    if s.kinds[n] == "constant" and g then by[g.lhs.idx[n].name] = x end
  end
  local inside = {}
  local function look(y) if y.op == "var" then inside[y.name] = true end end
  expr.walk(s.rhs, look)
  expr.walk(s.lhs, look)
  for _, d in ipairs(def.group or { def }) do
    for _, name in ipairs(d.order) do if inside[name] then use(name) end end
  end
  for name in pairs(inside) do bounds_of(def, name, s.place) end
  if def.group then in_group_order(def, names) end
  local domain = {}
  for _, name in ipairs(names) do
    local b = bounds_of(def, name, s.place)
    domain[#domain + 1] = { var = b.var, lo = substitute(b.lo, by), hi = substitute(b.hi, by) }
    local order = {}
    for m = 1, #domain - 1 do order[domain[m].var.name] = true end
    for _, e in ipairs { domain[#domain].lo, domain[#domain].hi } do
      expr.walk(e, function(y)
        if y.op == "var" and not order[y.name] then
          fail(b.place, "t2s-bounds", ("the bounds of %s use %s, which is not a loop around it"):format(name, y.name))
        end
        if y.op == "ref" then fail(b.place, "t2s-bounds", "bounds are made of sizes and Vars") end
      end)
    end
  end
  s.domain, s.bound, s.whole = domain, by, {}
  for n, d in ipairs(domain) do s.whole[n] = { var = d.var, lo = d.lo, hi = d.hi } end
end

-- Drops lines that call kernels for no element, as where case splits leave none: no PE is made of them.
local function drop_empty(p, own)
  for n = #p.stages, 1, -1 do
    local s = p.stages[n]
    if s.rhs.op == "call" and #own[s.func] > 1 and arrays.is_empty(s.domain, p.values) then
      table.remove(p.stages, n)
      table.remove(own[s.func], directives.position(own[s.func], s))
    end
  end
end

-- Binds the arguments of a stage that calls a kernel to its parameters.
local function bind_call(p, s)
  local c = s.rhs
  local o = port.open(c.unit, p.values, c.place)
  p.calls[o.name] = (p.calls[o.name] or -1) + 1
  if p.calls[o.name] > 0 then o.name = o.name .. "_" .. p.calls[o.name] end
  local scalars, streams, args, written = {}, {}, {}, nil
  for _, a in ipairs(c.args) do
    local list = a.op == "ref" and (a.base.stream or a.base.kind == "func" or a.base.rank > 0) and streams or scalars
    list[#list + 1] = a
  end
  local ns, nr, env = #scalars, #streams, {}
  for _, q in ipairs(o.params) do
    if q.stream and q.puts then
      if written then
        fail(s.place, "t2s-kernel", ("kernel '%s' writes two streams"):format(o.name), "one stream is the value")
      end
      written = q
      args[#args + 1] = false
    else
      local list = q.stream and streams or scalars
      local a = table.remove(list, 1)
      if not a then
        fail(s.place, "t2s-kernel", ("kernel '%s' takes %s '%s', which is not given"):format(o.name,
          q.stream and "a stream" or "a scalar", q.name))
      end
      if not q.stream then env[q.name] = a end
      args[#args + 1] = a
    end
  end
  if not written then fail(s.place, "t2s-kernel", ("kernel '%s' writes no stream"):format(o.name)) end
  if #scalars + #streams > 0 then
    fail(s.place, "t2s-kernel", ("kernel '%s' takes %d scalars and %d streams, and is given %d and %d"):format(o.name,
      ns - #scalars, nr - #streams, ns, nr))
  end
  local whole = not s.func.stream
  for n, a in ipairs(args) do
    if a == false then args[n] = whole and expr.new { op = "ref", base = s.func, idx = {} } or s.lhs end
  end
  if written.count == nil or written.count:find "data" then
    fail(s.place, "t2s-kernel", ("how many tokens kernel '%s' puts on '%s' depends on data"):format(o.name,
      written.name),
      "both arms of an if put as many tokens")
  end
  setmetatable(env, { __index = function(_, name) return p.values[name] or tide.size(name) end })
  local chunk = load("return " .. written.count, "=count", "t", env)
  local tokens = chunk and expr.lift(chunk(), s.place)
  if not tokens then fail(s.place, "t2s-kernel", ("the tokens of kernel '%s' are not counted"):format(o.name)) end
  s.call = { port = o, args = args, written = written, whole = whole, tokens = tokens, type = tide[written.elem]
    or load("return " .. written.elem, "=type", "t", { tide = tide })() }
end

-- The result: a parameter of the Func's name, and how it is copied out of a local array.
local function set_result(p, def)
  local a = p.arrays[def]
  local stored, extents, halo = def.stored, {}, false
  for n = 1, def.rank do
    local inside, all = arrays.extent_inside(a, n)
    halo = halo or a.shift[n] > 0 or affine.text(inside) ~= affine.text(all)
  end
  p.result = { name = def.name, loops = {}, copied = halo or stored or def.stream }
  if stored and #stored.idx ~= def.rank then
    fail(stored.place, "t2s-store", ("%s has %d dimensions, and store is given %d indices"):format(def.name, def.rank,
      #stored.idx))
  end
  for n, f in ipairs(a.extents) do
    if stored and n <= def.rank then
      local at = affine.of(stored.idx[n], p.values)
      if at then at = affine.add(at, affine.form(a.shift[n])) end
      local past = at and affine.decide(">=", at, f)
      if past or at and affine.decide("<", at, affine.form(a.shift[n])) then
        fail(stored.place, "t2s-store", ("%s is no element of %s: its extent is %s"):format(expr.text(stored.idx[n]),
          def.name, affine.text(affine.sub(f, affine.form(a.shift[n])))))
      end
      p.result.loops[n] = { fixed = at and affine.text(at) or expr.text(stored.idx[n]) }
      use_names(p, stored.idx[n])
    else
      local extent = n <= def.rank and arrays.extent_inside(a, n) or f
      p.result.loops[n] = { extent = extent }
      extents[#extents + 1] = extent
    end
  end
  if #extents == 0 then extents[1] = affine.form(1) end
  if p.result.copied then
    a.name = def.name .. "_all"
    p.locals[#p.locals + 1] = a
  end
  return { name = def.name, type = type_text(a.type, extents), place = def.stages[1].place }
end

-- The parameters of the kernel in the order of their declaration, the result last.
local function set_params(p, def)
  local list = {}
  for _, a in ipairs(p.list) do
    if a.base.kind == "param" then list[#list + 1] = a end
  end
  table.sort(list, function(a, b) return a.base.seq < b.base.seq end)
  local seen = {}
  for _, a in ipairs(p.list) do
    if seen[a.name] then fail(a.place, "t2s-name", ("two Funcs or Params are named %s"):format(a.name)) end
    seen[a.name] = true
  end
  for _, a in ipairs(list) do
    p.params[#p.params + 1] = { name = a.name, type = type_text(a.type, a.extents), place = a.place }
  end
  for _, a in ipairs(p.list) do
    if a.base.kind == "func" and a.base ~= def then p.locals[#p.locals + 1] = a end
  end
  p.params[#p.params + 1] = set_result(p, def)
end

-- Stages in nests: one each, equations that were merged together behind their first values.
local function set_nests(p)
  local open = {}
  for _, s in ipairs(p.stages) do
    local group = s.func.group
    local all = group and s.domain[1] and not s.call
    for _, k in ipairs(s.kinds) do all = all and k == "var" end
    local nest = all and open[group]
    if nest then
      nest[#nest + 1] = s
      if #s.domain > #nest[1].domain then
        fail(s.place, "t2s-merge", ("%s has loops that %s has not"):format(s.func.name, nest[1].func.name))
      end
    else
      nest = { s }
      if all then open[group] = nest end
      p.nests[#p.nests + 1] = nest
    end
  end
  -- A merged nest runs where its last equation stands, behind all first values.
  for _, nest in pairs(open) do
    for n = #p.nests, 1, -1 do
      if p.nests[n] == nest then table.remove(p.nests, n) end
    end
    local at = #p.nests + 1
    local last = 0
    for _, s in ipairs(nest) do last = math.max(last, s.seq) end
    for n = #p.nests, 1, -1 do if p.nests[n][1].seq > last then at = n end end
    table.insert(p.nests, at, nest)
  end
end

-- Refuses a read of a Func whose lines all come later, unless both are merged.
local function check_order(p)
  local first = {}
  for _, s in ipairs(p.stages) do first[s.func] = first[s.func] or s.seq end
  for _, s in ipairs(p.stages) do
    accesses(s, function(r, _, written)
      local b = r.base
      if written or b.kind ~= "func" or b == s.func or first[b] < s.seq then return end
      if b.group and b.group == s.func.group then return end
      fail(s.place, "t2s-order", ("%s reads %s, which is defined later"):format(s.func.name, b.name),
        ("define it first; equations of one system are merged: %s:merge_ures(%s)"):format(s.func.name, b.name))
    end)
  end
end

--- Gives the loops of all nests names of their own: those of each Func's last nest keep theirs if they can. Stages
--- keep the names of their Vars in `vars`.
function program.rename(p)
  local used, last, order = {}, {}, {}
  for _, a in ipairs(p.list) do used[a.name] = true end
  for n, nest in ipairs(p.nests) do last[nest[1].func] = n end
  for n = #p.nests, 1, -1 do
    if last[p.nests[n][1].func] == n then order[#order + 1] = p.nests[n] end
  end
  for n, nest in ipairs(p.nests) do
    if last[nest[1].func] ~= n then order[#order + 1] = nest end
  end
  for _, nest in ipairs(order) do
    local by, text = {}, {}
    for _, d in ipairs(nest[1].domain) do
      local name, k = d.var.name, 0
      while used[name] do
        k = k + 1
        name = d.var.name .. "_" .. k
      end
      used[name] = true
      if name ~= d.var.name then
        by[d.var.name] = expr.new { op = "var", name = name, type = d.var.type }
        text[d.var.name] = name
      end
    end
    for _, s in ipairs(nest) do
      s.vars = {}
      for k, d in ipairs(s.domain) do
        s.vars[k] = d.var.name
        d.lo, d.hi, d.var = substitute(d.lo, by), substitute(d.hi, by), by[d.var.name] or d.var
      end
      s.lhs, s.rhs = substitute(s.lhs, by), substitute(s.rhs, by)
      for k, a in ipairs(s.call and s.call.args or {}) do s.call.args[k] = substitute(a, by) end
      for k, g in ipairs(s.guards) do s.guards[k] = g:gsub("%f[%w_][%a_][%w_]*", text) end
    end
  end
end

--- Whether all sizes in a node are sizes of the program.
function program.has_sizes(p, x)
  local has = false
  local foreign = expr.any(x, function(y)
    if y.op ~= "size" then return y.op == "ref" or y.op == "var" end
    affine.names(y.size, function(name)
      has = has or p.sizes[name] and not p.values[name]
    end)
    local unknown = false
    affine.names(y.size, function(name) unknown = unknown or not (p.sizes[name] or p.values[name]) end)
    return unknown
  end)
  return has and not foreign
end

--- A node of sizes as Lua, those with values as numbers.
function program.plain(x, values)
  if x.op == "size" then
    local f = affine.of(x, values)
    return "(" .. affine.text(f) .. ")"
  end
  if x.op == "num" or x.op == "bool" then return expr.text(x) end
  if x.op == "not" then return "(not " .. program.plain(x.a, values) .. ")" end
  local op = x.op == "&" and "and" or x.op == "|" and "or" or x.op
  return "(" .. program.plain(x.a, values) .. " " .. op .. " " .. program.plain(x.b, values) .. ")"
end

-- The assumptions that speak of this program's sizes, and of no later ones of the same names.
local function own_assumptions(def, all)
  local out = {}
  for _, a in ipairs(all) do
    local own = not a.apart
    for name, at in pairs(a.names) do own = own and def.made[name] == at end
    if own then out[#out + 1] = a end
  end
  return out
end

-- By name of an array of p, the numbers of the assumptions that it is apart from others.
local function groups_apart(p, all)
  local groups, n = {}, 0
  for _, a in ipairs(all) do
    n = n + (a.apart and 1 or 0)
    for base in pairs(a.apart or {}) do
      local own = p.arrays[base] and base.name
      if own then groups[own] = groups[own] and groups[own] .. ", " .. n or tostring(n) end
    end
  end
  return groups
end

--- Reads the definition of def at the values of its sizes; `mapped`: as its mapping starts from it; `narrow` may tell
--- extents of Params.
function program.open(def, values, all, mapped, narrow)
  if #def.stages == 0 then fail(nil, "t2s-undefined", ("Func %s has no definition"):format(def.name)) end
  local p = { values = values, stages = {}, arrays = {}, list = {}, sizes = {}, least = {}, ports = {}, calls = {},
    locals = {},
    params = {}, nests = {}, assumptions = own_assumptions(def, all) }
  collect(p, def, mapped, {}, p.stages)
  table.sort(p.stages, function(a, b) return a.seq < b.seq end)
  local own = {}
  for _, s in ipairs(p.stages) do
    own[s.func] = own[s.func] or {}
    table.insert(own[s.func], s)
    domain_of(s)
  end
  for d, stages in pairs(own) do cases.split(p, setmetatable({ stages = stages }, { __index = d })) end
  drop_empty(p, own)
  for _, s in ipairs(p.stages) do
    if s.rhs.op == "call" then bind_call(p, s) end
    for _, d in ipairs(s.domain) do
      use_names(p, d.lo)
      use_names(p, d.hi)
    end
    use_names(p, s.lhs)
    use_names(p, s.rhs)
  end
  for _, s in ipairs(p.stages) do
    if not s.call then
      recurrence.check(p, s)
      recurrence.check_system(s)
    end
  end
  check_order(p)
  arrays.find(p)
  p.apart = groups_apart(p, all)
  if narrow then narrow(p) end
  for _, a in ipairs(p.list) do arrays.set_extents(p, a) end
  arrays.port_types(p)
  set_params(p, def)
  set_nests(p)
  for _, l in ipairs(p.least) do
    local left = expr.lift(tide.size(affine.text(l[1])))
    local cond = expr.new { op = ">=", a = left, b = program.node(l[2]) }
    p.assumptions[#p.assumptions + 1] = { cond = cond, place = l[3], names = {} }
  end
  return p
end

--- A form as a node.
function program.node(f)
  local x = expr.lift(f.c)
  for k, v in pairs(f.t) do
    x = expr.new { op = "+", a = x, b = expr.new { op = "*", a = expr.lift(tide.size(k)), b = expr.lift(v) } }
  end
  return x
end

return program
