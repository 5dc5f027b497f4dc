-- What the directives of a Func say: chains that are isolated, relays, buffers, loops that are removed or in space.
local affine = require "tide.t2s.define.affine"
local expr = require "tide.t2s.define.expr"
local func = require "tide.t2s.define.func"

local directives = {}

local fail = expr.fail

--- The place of a value, or of the entry of which `key` has it, in a list.
function directives.position(list, v, key)
  for n, x in ipairs(list) do
    if (key and x[key] or x) == v then return n end
  end
end

--- Refuses a Var that is no loop; `nest` has those that there are, or their names.
function directives.no_loop(place, code, name, v, nest)
  local loops = {}
  for n, x in ipairs(nest) do loops[n] = x.var or x end
  local help = #loops > 0 and "its loops: " .. table.concat(loops, ", ") or nil
  fail(place, code, ("%s has no loop %s"):format(name, v), help)
end

--- The directives of a Func of that name, in order; those that stand for others as these, once they are expanded.
function directives.each(def, name)
  local n, list = 0, def.expanded or def.directives
  return function()
    while n < #list do
      n = n + 1
      if list[n].name == name then return list[n] end
    end
  end
end

--- The Vars that an operand's index depends on, tiled ones with all their levels.
function directives.uses_of(main, base)
  local roots, set = {}, {}
  for _, s in ipairs(main.stages) do
    expr.walk(s.rhs, function(y)
      if y.op == "ref" and y.base == base then
        for _, i in ipairs(y.idx) do
          expr.walk(i, function(v) if v.op == "var" then roots[v.name] = true end end)
        end
      end
    end)
  end
  for _, x in ipairs(main.tile_order) do set[x.var] = roots[x.root] end
  return set
end

--- The name of an argument that is a Var.
function directives.var_name(x, place, what)
  if expr.is(x) and x.op == "var" then return x.name end
  fail(place, "t2s-directive", ("%s takes Vars"):format(what))
end

--- What else makes loops space: functions of a Func that give Vars and their place, or nil.
directives.spaces = {}

--- The Vars of a Func that are in space, by unroll and the like, and the place of the first such directive.
function directives.unrolled(def)
  local list, where = {}, nil
  for _, of in ipairs(directives.spaces) do
    local vars, place = of(def)
    if vars then
      table.move(vars, 1, #vars, #list + 1, list)
      where = where or place
    end
  end
  for d in directives.each(def, "unroll") do
    where = where or d.place
    for n = 1, d.args.n do list[#list + 1] = directives.var_name(d.args[n], d.place, "unroll") end
  end
  return list, where
end

-- Lengthens a chain by what its far stages isolate on: p:isolate_producer_chain(A, q) where p is the first of A's.
local function peel(c, kind)
  for n = 1, 64 do
    local more
    for d in directives.each(c.stages[1], kind) do
      local x = d.args[1]
      local traced = getmetatable(x) and getmetatable(x).__traced
      x = traced and traced(x) or x
      if expr.is(x) and x.op == "ref" and x.base == c.of.base then more = d end
    end
    if not more then return end
    for k = more.args.n, 2, -1 do
      local g = func.record(more.args[k])
      if not g then fail(more.place, "t2s-isolate", ("argument %d is no Func"):format(k)) end
      table.insert(c.stages, 1, g)
    end
    if n == 64 then fail(more.place, "t2s-isolate", ("the chain of %s has no end"):format(c.of.base.name)) end
  end
end

--- The chains that directives of a kind isolate: a list {of = reference, stages = {def..}, place =}.
function directives.chains(def, kind)
  local list = {}
  for d in directives.each(def, kind) do
    local x = d.args[1]
    local traced = getmetatable(x) and getmetatable(x).__traced
    local c = { of = traced and traced(x) or x, stages = {}, place = d.place, def = def,
      seq = d.seq }
    if not expr.is(c.of) then fail(d.place, "t2s-isolate", "what is isolated is a Param or a Func") end
    for n = 2, d.args.n do
      local g = func.record(d.args[n])
      if not g then fail(d.place, "t2s-isolate", ("argument %d is no Func"):format(n)) end
      c.stages[#c.stages + 1] = g
    end
    if #c.stages == 0 then fail(d.place, "t2s-isolate", "an isolated chain has at least one Func") end
    list[#list + 1] = c
  end
  for _, c in ipairs(list) do peel(c, kind) end
  return list
end

--- What a relay directive of a Func is about, a Param or Func, and its direction: a number for each unrolled Var.
function directives.relayed(def, d)
  local x, v = d.args[1], d.args[2]
  local traced = getmetatable(x) and getmetatable(x).__traced
  x = traced and traced(x) or x
  if not (expr.is(x) and x.op == "ref") then fail(d.place, "t2s-relay", "what is relayed is a Param or a Func") end
  local space = directives.unrolled(def)
  if type(v) ~= "table" or #v ~= #space then
    fail(d.place, "t2s-relay", ("%s is unrolled along %d Var%s, and the relay of %s has %s numbers"):format(
      def.name, #space, #space == 1 and "" or "s", x.base.name, type(v) == "table" and #v or "no"),
      "one number for each unrolled Var")
  end
  for n, step in ipairs(v) do
    if not expr.is(step) and math.type(step) ~= "integer" then
      fail(d.place, "t2s-relay", ("number %d of the relay of %s is no whole one"):format(n, x.base.name))
    end
  end
  return x.base, v
end

--- The relay of an operand in a Func: axis (number of the unrolled Var) and direction, or nil.
function directives.relay_of(def, base)
  local found
  for d in directives.each(def, "relay") do
    local of, v = directives.relayed(def, d)
    if of == base then
      local axis, by
      for n, step in ipairs(v) do
        if step ~= 0 then
          if axis or math.type(step) ~= "integer" or math.abs(step) ~= 1 then
            fail(d.place, "t2s-relay", ("%s goes along one axis, by one PE"):format(base.name), nil, "unsupported")
          end
          axis, by = n, step
        end
      end
      if not axis then fail(d.place, "t2s-relay", ("the relay of %s goes nowhere"):format(base.name)) end
      found = { axis = axis - 1, back = by < 0 or nil, place = d.place }
    end
  end
  return found
end

-- What a directive buffer or linebuffer says: {var =, double =, register =, place =}.
local function buffer(d)
  local b = { place = d.place }
  for n = 2, d.args.n do
    local v = d.args[n]
    if v == "DOUBLE" then b.double = true
    elseif v == "REGISTER" then b.register = true
    elseif v ~= nil then b.var = directives.var_name(v, d.place, "buffer") end
  end
  return b
end

-- Whether a directive is about a Param or Func.
local function is_of(d, base)
  local x = d.args[1]
  local traced = getmetatable(x) and getmetatable(x).__traced
  x = traced and traced(x) or x
  return expr.is(x) and x.op == "ref" and x.base == base
end

--- The directive buffer or linebuffer of an operand in a Func, or nil.
function directives.buffer_of(def, base, name)
  for d in directives.each(def, name or "buffer") do
    if is_of(d, base) then return buffer(d) end
  end
end

--- The buffers of an operand in a stage, the outermost first by the loops of the chain's Func.
function directives.buffers_of(def, base, main)
  local list = {}
  local function rank(b) return b.var and directives.position(main.tile_order, b.var, "var") or 0 end
  for d in directives.each(def, "buffer") do
    local b = is_of(d, base) and buffer(d)
    local at = #list + 1
    while b and at > 1 and rank(list[at - 1]) > rank(b) do at = at - 1 end
    if b and list[at - 1] and rank(list[at - 1]) == rank(b) then
      fail(b.place, "t2s-buffer", ("%s buffers %s twice at one loop"):format(def.name, base.name))
    end
    if b then table.insert(list, at, b) end
  end
  return list
end

--- What a tile directive says: its Vars, how many of them are tiled, and its sizes.
function directives.tiled(d)
  local vars, sizes, place = {}, {}, d.place
  for n = 1, d.args.n do
    local x = d.args[n]
    if expr.is(x) and x.op == "var" then
      if #sizes > 0 then fail(place, "t2s-tile", "tile takes Vars, then sizes") end
      vars[#vars + 1] = x.name
    else sizes[#sizes + 1] = x end
  end
  local n = #vars - #sizes
  if n < 1 or #sizes % n ~= 0 or #sizes == 0 then
    fail(place, "t2s-tile", ("tile is given %d Vars and %d sizes"):format(#vars, #sizes),
      "as many Vars as loops that are tiled, then for each level as many new ones and sizes")
  end
  return vars, n, sizes
end

--- The same with its sizes as numbers, and how many levels deep.
function directives.levels(d, values)
  local vars, n, sizes = directives.tiled(d)
  for k, x in ipairs(sizes) do sizes[k] = directives.constant(x, values, d.place, "tile") end
  return vars, sizes, n, #sizes // n
end

--- The value of a Const or a number.
function directives.constant(x, values, place, what)
  local f = affine.of(expr.lift(x, place), values)
  local v = f and affine.constant(f)
  if not v then
    fail(place, "t2s-const", ("%s of %s has no value"):format(expr.text(expr.lift(x, place)), what),
      "give it one: t2s.design(F, {..})")
  end
  return v
end

--- The Vars that a stage removes.
function directives.removed(def)
  local set, place = {}, nil
  for d in directives.each(def, "remove") do
    place = place or d.place
    for n = 1, d.args.n do set[directives.var_name(d.args[n], d.place, "remove")] = true end
  end
  return set, place
end

return directives
