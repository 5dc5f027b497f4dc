-- Funcs that call kernels with ports, or have banks, or are fed by externs: each call is a processing element, each row
-- of tokens a stream. The loop along which a Func reads its own earlier rows is written out, the kernels are put in the
-- place of their calls, and `wire` makes tasks of the statements, joined by streams; what is isolated comes from a task
-- that loads it.
local affine = require "tide.t2s.define.affine"
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"

local calls = {}

local fail = expr.fail
local chains, position, unrolled = directives.chains, directives.position, directives.unrolled

--- Whether a program has stages that call kernels.
function calls.has(p)
  for _, group in ipairs(p.nests) do
    if group[1].call then return true end
  end
  return false
end

-- The references of a stage to what it reads.
local function reads(s)
  local list, left = {}, expr.text(s.lhs)
  for _, a in ipairs(s.call and s.call.args or { s.rhs }) do
    if not s.call or expr.text(a) ~= left then
      expr.walk(a, function(y) if y.op == "ref" then list[#list + 1] = y end end)
    end
  end
  return list
end

-- The Vars along which a stage reads rows of its own Func that are not in the dimension where it writes: by the
-- number of the dimension.
local function own_dimensions(p, s)
  local dims = {}
  for _, r in ipairs(reads(s)) do
    for n = 1, r.base == s.func and #r.idx or 0 do
      local d = affine.of(r.idx[n], p.values)
      local l = affine.of(s.lhs.idx[n], p.values)
      local apart = d and l and affine.constant(affine.sub(l, d))
      if apart and apart ~= 0 then dims[n] = true end
    end
  end
  return dims
end

-- The points of a stage's domain, as tables of values by Var; nil where a bound has no value.
local function points(p, s)
  local list = {}
  local function go(n, at)
    local d = s.domain[n]
    if not d then
      local copy = {}
      for k, v in pairs(at) do copy[k] = v end
      list[#list + 1] = copy
      return true
    end
    local lo, hi = affine.value(d.lo, at, p.values), affine.value(d.hi, at, p.values)
    if not lo or not hi then return false end
    for v = lo, hi - 1 do
      at[d.var.name] = v
      if not go(n + 1, at) then return false end
    end
    at[d.var.name] = nil
    return true
  end
  return go(1, {}) and list or nil
end

-- The values of indices at a point.
local function at_point(p, idx, at)
  local out = {}
  for n, x in ipairs(idx) do out[n] = affine.value(expr.lift(x), at, p.values) end
  return out
end

-- Checks a relay of a Func's own rows: each goes from the PE that makes it by the vector of that PE.
local function check_relay(p, def, d)
  local _, vector = directives.relayed(def, d)
  for _, group in ipairs(p.nests) do
    local s = group[1]
    for _, r in ipairs(s.func == def and reads(s) or {}) do
      for _, at in ipairs(r.base == def and points(p, s) or {}) do
        local from, to = at_point(p, r.idx, at), at_point(p, s.lhs.idx, at)
        local here = {}
        for _, other in ipairs(p.nests) do
          local o = other[1]
          for n, v in ipairs(o.func == def and o.kinds or {}) do
            if v == "var" then here[o.lhs.idx[n].name] = from[n] end
            for k, e in ipairs(o.domain) do
              if v == "var" and o.lhs.idx[n].name == e.var.name and o.vars then here[o.vars[k]] = from[n] end
            end
          end
        end
        for n = 1, #vector do
          local by = affine.value(expr.lift(vector[n]), here, p.values)
          if by ~= (to[n] or 0) - (from[n] or 0) then
            fail(d.place, "t2s-relay", ("%s goes from PE {%s} to PE {%s}, and the relay says %s along axis %d"):format(
              expr.text(r), table.concat(from, ", "), table.concat(to, ", "), by or "nothing", n - 1), nil, "illegal")
          end
        end
      end
    end
  end
end

-- Writes out the loops of a nest along which it reads its own Func's rows; returns how many nests it becomes, and the
-- values of those Vars in each.
local function write_out(m, p, nest, space)
  local s = nest.stages[1]
  local dims, copies = own_dimensions(p, s), { {} }
  for n = #nest, 1, -1 do
    local x = nest[n]
    local dim
    for k, y in ipairs(s.lhs.idx) do
      if y.op == "var" and y.name == x.loop then dim = k end
    end
    if dim and dims[dim] then
      local d = s.domain[n]
      local lo, hi = affine.value(d.lo, {}, p.values), affine.value(d.hi, {}, p.values)
      if not lo or not hi or not position(space, x.var) or n > 1 then
        fail(nest.place, "t2s-kernel", ("%s reads its own rows along %s: that is unrolled, has values and comes first")
          :format(s.func.name, x.var), ("%s:unroll(%s)"):format(s.func.name, x.var), "unsupported")
      end
      m:step(nest.place, "unroll", x.loop, nil, { replace = true })
      local all = {}
      for v = lo, hi - 1 do all[#all + 1] = { [x.var] = v } end
      copies = all
      x.gone = true
    end
  end
  for n, y in ipairs(s.lhs.idx) do
    local v = affine.of(y, p.values)
    local generic = s.func.stages[#s.func.stages].lhs.idx[n]
    if v and affine.constant(v) and generic.op == "var" then
      for _, c in ipairs(copies) do c[generic.name] = affine.constant(v) end
    end
  end
  return copies
end

-- All loops that stand where a name did: itself and its copies.
local function copies_of(s, name)
  local list = {}
  for _, l in ipairs(s:loops()) do
    local stem = l:match "^(.-)#%d+$" or l
    if stem == name or stem:match("^" .. name .. "_%d+$") then list[#list + 1] = l end
  end
  return list
end

-- The least depth that a directive asks of the streams that a task with those values of Vars writes.
local function depth_of(m, d, values)
  local at = {}
  for k, v in pairs(values) do at[k] = v end
  local v = affine.value(expr.lift(d.args[3], d.place), at, m.values)
  if not v then
    fail(d.place, "t2s-depth", ("%s has no value"):format(expr.text(expr.lift(d.args[3], d.place))),
      "it is made of Consts and of Vars that are written out", "unsupported")
  end
  return v
end

-- The Param or Func that a directive's argument is.
local function base_of(x)
  local traced = getmetatable(x) and getmetatable(x).__traced
  x = traced and traced(x) or x
  return expr.is(x) and x.op == "ref" and x.base or nil
end

-- Whether a stage has an element for each stream that it feeds: it is unrolled along loops that its Func is, and that
-- say which stream is read.
local function is_each(m, def, stage, base)
  local space, place = unrolled(stage)
  local tells = #space == 0
  for _, v in ipairs(space) do
    if not position(unrolled(def), v) then
      fail(place, "t2s-unroll", ("%s is not unrolled along %s, as %s is"):format(def.name, v, stage.name))
    end
    for _, nest in ipairs(m.nests[def]) do
      local k = position(nest, v, "var")
      for _, r in ipairs(k and reads(nest.stages[1]) or {}) do
        for _, x in ipairs(r.base == base and r.idx or {}) do
          tells = tells or expr.any(expr.lift(x), function(y) return y.op == "var" and y.name == nest[k].root end)
        end
      end
    end
  end
  if not tells then
    fail(place, "t2s-unroll", ("%s feeds the same streams along %s"):format(stage.name, table.concat(space, ", ")),
      ("the loops that tell which element of %s is read"):format(base.name), "illegal")
  end
  return #space > 0, place
end

-- Leads the Params of a Func through the one stage that they are isolated into.
local function feed(m, def, c)
  local stage = c.stages[1]
  if #c.stages > 1 or stage.host then
    fail(c.place, "t2s-kernel", ("%s comes from one Func on the device"):format(c.of.base.name), nil, "unsupported")
  end
  local depth
  for d in directives.each(stage, "set_min_depth") do
    if base_of(d.args[1]) == c.of.base then depth = depth_of(m, d, {}) end
  end
  local turns = false
  for _ in directives.each(stage, "reorder") do turns = true end
  local each, unroll = is_each(m, def, stage, c.of.base)
  if each and turns then
    fail(unroll, "t2s-unroll", ("%s is reordered: one element feeds the streams in turn"):format(stage.name),
      "leave out reorder or unroll", "illegal")
  end
  local made = table.pack(m:step(c.place, "wire", c.of.base.name, { names = { stage.name },
    depth = depth and math.max(depth, 2), turns = turns }))
  m:note_stream(c.of.base, stage, def, made[2])
  local rows
  for _, l in ipairs(each and m.s:loops() or {}) do rows = rows or l:match("^" .. stage.name .. ":") and l end
  if rows then m:step(unroll, "unfold", rows) end
end

-- Orders the nests of a Func whose lines call no kernel: space loops outermost.
local function place(m, def)
  for _, nest in ipairs(m.nests[def]) do
    local s = nest.stages[1]
    if s.call or s.custom then return end
  end
  m:tiles_of(def)
  m:place(def)
end

-- The names of the tasks that a Func's statements become, in order, and of the loops that are their axes.
local function stages_of(m, p, def, add)
  local space = unrolled(def)
  for _, nest in ipairs(m.nests[def]) do
    local custom = nest.stages[1].custom
    for _, name in ipairs(custom and custom.tasks or {}) do add(name, {}, def) end
    for _, v in ipairs(custom and custom.axes or {}) do add(nil, v) end
    for _, v in ipairs(custom and {} or write_out(m, p, nest, space)) do
      add(#space > 0 and def.name .. "_pe" or def.name, v, def)
    end
    for _, x in ipairs(nest) do
      if position(space, x.var) and not x.gone then add(nil, x.loop) end
    end
  end
end

-- Whether a Func's stage is an extern: its operands come from the statement that calls it.
local function is_extern(p, c)
  for _, e in ipairs(p.placed and p.placed.externs or {}) do
    if e.def == c.stages[1] then return true end
  end
end

-- Keeps a Param that a Func buffers in its tasks.
local function buffer(m, def, tasks)
  for d in directives.each(def, "buffer") do
    local base, v = base_of(d.args[1]), d.args[2]
    local b = base and base.kind == "param" and directives.buffer_of(def, base)
    for _, task in ipairs(b and tasks or {}) do
      local where = task
      for _, x in ipairs(v and m.main[def] or {}) do
        if x.var == b.var then where = task .. ":" .. x.loop end
      end
      if b.double or v and where == task then
        fail(d.place, "t2s-buffer", ("%s is buffered in a loop of %s, singly"):format(base.name, def.name), nil,
          "unsupported")
      end
      m:step(d.place, "buffer_at", base.name, where)
    end
  end
end

-- Buffers, channels of externs and their depths, once the tasks are there.
local function finish(m, p, order, tasks)
  for _, def in ipairs(order) do
    if m.main[def] and not m.main[def].stages[1].call then buffer(m, def, tasks[def] or {}) end
  end
  for _, e in ipairs(p.placed and p.placed.externs or {}) do
    for _, c in ipairs(e.channels) do m:note_stream(c.base, c.stage, c.reader, c.name) end
    m:set_depths(e.def)
  end
  for _, group in ipairs(p.nests) do
    local custom = group[1].custom
    for _, v in ipairs(custom and custom.side or {}) do m:step(group[1].place, "unroll", v) end
  end
  m.inner = p.placed and p.placed.inner
end

--- Makes the design of a program whose Funcs call kernels.
function calls.map(m, p, order)
  local names, values, arrays, axes, owner = {}, {}, {}, {}, {}
  m.calls = true
  for _, def in ipairs(order) do
    for d in directives.each(def, "relay") do check_relay(p, def, d) end
  end
  for _, def in ipairs(order) do
    place(m, def)
    stages_of(m, p, def, function(name, v, of)
      if not name then axes[#axes + 1] = v return end
      names[#names + 1], values[#values + 1], owner[#names + 1] = name, v, of
    end)
  end
  for _, c in ipairs(p.ports) do
    while pcall(m.s.inline, m.s, c.port.name) do end
  end
  if p.result.copied then names[#names + 1] = p.result.name .. "_store" end
  for _, a in ipairs(p.locals) do arrays[#arrays + 1] = a.name end
  local loops = {}
  for _, v in ipairs(axes) do
    for _, l in ipairs(copies_of(m.s, v)) do
      if not position(loops, l) then loops[#loops + 1] = l end
    end
  end
  local made = table.pack(m:step(m.main[order[#order]].place, "wire", arrays[1],
    { also = { table.unpack(arrays, 2) }, loops = loops, names = names }))
  local streams = made.n - #names
  for _, def in ipairs(order) do
    for d in directives.each(def, "set_min_depth") do
      for n = 1, base_of(d.args[1]) == def and #order == 1 and math.min(streams, #values) - 1 or 0 do
        local depth = depth_of(m, d, values[n])
        if depth > 2 then m:step(d.place, "depth", made[n], depth) end
      end
    end
    for _, c in ipairs(chains(def, "isolate_producer_chain")) do
      if not is_extern(p, c) then feed(m, def, c) end
    end
  end
  local tasks = {}
  for n, def in pairs(owner) do
    tasks[def] = tasks[def] or {}
    table.insert(tasks[def], made[streams + n])
  end
  finish(m, p, order, tasks)
end

return calls
