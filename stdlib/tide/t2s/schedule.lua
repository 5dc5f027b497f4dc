-- The directives of a T2S mapping as steps of a schedule. The definition is a kernel whose loops have names of their
-- own; tile and reorder put each Func's loops in order, space loops outermost; unroll makes them a task (unfold);
-- what is isolated is buffered where it is used and leaves the task by relay or isolate, stage by stage. Directives are
-- sorted: their text order is that of the user, the order of the steps is one that is legal.
local affine = require "tide.t2s.affine"
local expr = require "tide.t2s.expr"
local func = require "tide.t2s.func"
local tide = require "tide"

local schedule = {}

local fail = expr.fail

-- A mapping under way: s the schedule, values of Consts, nests by Func, names of loops in use, stage of a chain -> task.
local mapping = {}
mapping.__index = mapping

-- Raises the refusal of a step at the directive's line.
local function at(place, ok, ...)
  if ok then return ... end
  local e = ...
  if not place or type(e) == "string" then error(e, 0) end
  fail(place, e.code or "t2s", e.message, e.help, ({ illegal = 1, usage = 1, unsupported = 1 })[e.kind] and e.kind)
end

-- Takes a step for a directive; returns what it made.
function mapping:step(place, name, ...)
  return select(2, at(place, pcall(self.s[name], self.s, ...)))
end

-- A name for a loop like `want` that no other has.
function mapping:fresh(want)
  local name, n = want, 0
  while self.used[name] do
    n = n + 1
    name = want .. "_" .. n
  end
  self.used[name] = true
  return name
end

-- The value of a Const or a number.
function mapping:constant(x, place, what)
  local f = affine.of(expr.lift(x, place), self.values)
  local v = f and affine.constant(f)
  if not v then
    fail(place, "t2s-const", ("%s of %s has no value"):format(expr.text(expr.lift(x, place)), what),
      "give it one: t2s.design(F, {..})")
  end
  return v
end

local function position(list, v, key)
  for n, x in ipairs(list) do
    if (key and x[key] or x) == v then return n end
  end
end

-- The directives of a Func of that name, in order.
local function directives(def, name)
  local n = 0
  return function()
    while n < #def.directives do
      n = n + 1
      local d = def.directives[n]
      if d.name == name then return d end
    end
  end
end
schedule.directives = directives

local function var_name(x, place, what)
  if expr.is(x) and x.op == "var" then return x.name end
  fail(place, "t2s-directive", ("%s takes Vars"):format(what))
end

-- tile(v.., levels.., sizes..): splits each loop level by level; the new loops stand level by level.
function mapping:tile(def, d)
  local vars, sizes, place = {}, {}, d.place
  for n = 1, d.args.n do
    local x = d.args[n]
    if expr.is(x) and x.op == "var" then
      if #sizes > 0 then fail(place, "t2s-tile", "tile takes Vars, then sizes") end
      vars[#vars + 1] = x.name
    else sizes[#sizes + 1] = self:constant(x, place, "tile") end
  end
  local n = #vars - #sizes
  if n < 1 or #sizes % n ~= 0 or #sizes == 0 then
    fail(place, "t2s-tile", ("tile is given %d Vars and %d sizes"):format(#vars, #sizes),
      "as many Vars as loops that are tiled, then for each level as many new ones and sizes")
  end
  local levels, shared = #sizes // n, 0
  for _, nest in ipairs(self.nests[def] or {}) do
    local first, block = nil, {}
    for l = 0, levels do block[l] = {} end
    for c = 1, n do
      local k = position(nest, vars[c], "var")
      if k then
        first = math.min(first or k, k)
        shared = shared + 1
        local loop = nest[k].loop
        block[0][#block[0] + 1] = nest[k]
        for l = 1, levels do
          local v = vars[l * n + c]
          if position(nest, v, "var") then
            fail(place, "t2s-tile", ("%s has a loop %s already"):format(def.name, v))
          end
          local inner = self:fresh(v)
          self:step(place, "split", loop, sizes[(l - 1) * n + c], { names = { loop, inner } })
          block[l][#block[l] + 1] = { var = v, loop = inner, root = nest[k].root }
          loop = inner
        end
      end
    end
    local out = {}
    for k, x in ipairs(nest) do
      if k == first then
        for l = 0, levels do table.move(block[l], 1, #block[l], #out + 1, out) end
      end
      if not position(block[0], x) then out[#out + 1] = x end
    end
    for k = #out, 1, -1 do nest[k] = out[k] end
    nest.tiled = true
  end
  if shared == 0 then fail(place, "t2s-tile", ("%s has no loop %s"):format(def.name, vars[1])) end
end

-- reorder(a, b, ..): innermost first, in the places that they hold.
function mapping:reorder(def, d)
  local want = {}
  for n = 1, d.args.n do want[n] = var_name(d.args[n], d.place, "reorder") end
  for _, nest in ipairs(self.nests[def] or {}) do
    local places, loops = {}, {}
    for n = #want, 1, -1 do
      local k = position(nest, want[n], "var")
      if k then
        places[#places + 1] = k
        loops[#loops + 1] = nest[k]
      elseif nest == self.main[def] then
        fail(d.place, "t2s-reorder", ("%s has no loop %s"):format(def.name, want[n]))
      end
    end
    table.sort(places)
    for n, k in ipairs(places) do nest[k] = loops[n] end
    nest.tiled = true
  end
end

-- The Vars of a Func's unroll directives, and their place.
local function unrolled(def)
  local list, where = {}, nil
  for d in directives(def, "unroll") do
    where = where or d.place
    for n = 1, d.args.n do list[#list + 1] = var_name(d.args[n], d.place, "unroll") end
  end
  return list, where
end
schedule.unrolled = unrolled

-- Puts the loops of a nest in order, space loops outermost.
function mapping:arrange(def, nest)
  local space, place = unrolled(def)
  local order = {}
  for _, v in ipairs(space) do
    local k = position(nest, v, "var")
    if k then order[#order + 1] = nest[k]
    elseif nest == self.main[def] then fail(place, "t2s-unroll", ("%s has no loop %s"):format(def.name, v)) end
  end
  nest.space = #order
  for _, x in ipairs(nest) do
    if not position(space, x.var) then order[#order + 1] = x end
  end
  if nest.space == #order and nest == self.main[def] and #order > 0 then
    fail(place, "t2s-unroll", ("all loops of %s are in space"):format(def.name), "at least one loop gives the time")
  end
  for n, x in ipairs(order) do nest[n] = x end
  if #nest < 2 or not (nest.tiled or nest.space > 0) then return end
  local loops = {}
  for n, x in ipairs(nest) do loops[n] = x.loop end
  self:step(place or nest.place, "reorder", table.unpack(loops))
end

-- Moves the nests of first values into the main nest: behind the last loop that both have.
function mapping:join(def)
  local main = self.main[def]
  for _, nest in ipairs(self.nests[def]) do
    if nest ~= main and #nest > 0 then
      local n = 0
      while n < #nest and main[n + 1] and nest[n + 1].var == main[n + 1].var do n = n + 1 end
      main.depth = math.min(main.depth or n, n)
      if n > 0 then self:step(main.place, "compute_at", nest[1].loop, main[n].loop) end
    end
  end
  main.depth = main.depth or #main
end

-- The chains that directives of a kind isolate: a list {of = reference, stages = {def..}, place =}.
local function chains(def, kind)
  local list = {}
  for d in directives(def, kind) do
    local x = d.args[1]
    local traced = getmetatable(x) and getmetatable(x).__traced
    local c = { of = traced and traced(x) or x, stages = {}, place = d.place, def = def }
    if not expr.is(c.of) then fail(d.place, "t2s-isolate", "what is isolated is a Param or a Func") end
    for n = 2, d.args.n do
      local g = func.record(d.args[n])
      if not g then fail(d.place, "t2s-isolate", ("argument %d is no Func"):format(n)) end
      c.stages[#c.stages + 1] = g
    end
    if #c.stages == 0 then fail(d.place, "t2s-isolate", "an isolated chain has at least one Func") end
    list[#list + 1] = c
  end
  return list
end
schedule.chains = chains

-- The relay of an operand in a Func: axis (number of the unrolled Var) and direction, or nil.
local function relay_of(def, base)
  local found
  for d in directives(def, "relay") do
    local x = d.args[1]
    local traced = getmetatable(x) and getmetatable(x).__traced
    x = traced and traced(x) or x
    if expr.is(x) and x.op == "ref" and x.base == base then
      local space, v = unrolled(def), d.args[2]
      if type(v) ~= "table" or #v ~= #space then
        fail(d.place, "t2s-relay", ("%s is unrolled along %d Var%s, and the relay of %s has %s numbers"):format(
          def.name, #space, #space == 1 and "" or "s", base.name, type(v) == "table" and #v or "no"),
          "one number for each unrolled Var")
      end
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

-- The directive buffer or linebuffer of an operand in a Func: {var =, double =, place =}, or nil.
local function buffer_of(def, base, name)
  for d in directives(def, name or "buffer") do
    local x = d.args[1]
    local traced = getmetatable(x) and getmetatable(x).__traced
    x = traced and traced(x) or x
    if expr.is(x) and x.op == "ref" and x.base == base then
      local b = { place = d.place }
      for n = 2, d.args.n do
        local v = d.args[n]
        if v == "DOUBLE" then b.double = true
        elseif v == "REGISTER" then b.register = true
        elseif v ~= nil then b.var = var_name(v, d.place, "buffer") end
      end
      return b
    end
  end
end

-- The Vars that a stage removes.
local function removed(def)
  local set, place = {}, nil
  for d in directives(def, "remove") do
    place = place or d.place
    for n = 1, d.args.n do set[var_name(d.args[n], d.place, "remove")] = true end
  end
  return set, place
end

-- The innermost time loop at or around a Var, in the order of the main nest of a chain's Func: a loop of the task, or
-- the task itself.
function mapping:period(main, v, task)
  local order = main.tile_order
  local k = v and position(order, v, "var")
  if v and not k then return nil end
  for n = k or 0, 1, -1 do
    local x = order[n]
    local loop = self:has_loop(task, x)
    if loop then return loop end
  end
  return task
end

-- "task:loop" if the task has a loop of that name.
function mapping:has_loop(task, x)
  local name = task .. ":" .. x.loop
  for _, l in ipairs(self.s:loops()) do
    if l == name then return name end
  end
end

-- The innermost loop of a task, or the task itself.
function mapping:innermost(task)
  local last = task
  for _, l in ipairs(self.s:loops()) do
    if l:match "^[^:]+" == task then last = l end
  end
  return last
end

-- The Vars among the removed ones that the operand's index uses.
local function check_removed(c, stage)
  local set, place = removed(stage)
  for v in pairs(set) do
    if c.uses[v] then
      fail(place, "t2s-remove", ("%s of %s depends on %s"):format(c.of.base.name, stage.name, v),
        "only loops that the operand does not depend on are removed")
    end
  end
  return set, place
end

-- One stage of a producer chain: `local_` of task `cur`, whose Func is `near`, is fed by a task of its own.
function mapping:feed(c, stage, near, cur, buffer, space)
  local r = relay_of(near, c.of.base)
  local keep, own = {}, unrolled(stage)
  local axes = {}
  for n, v in ipairs(space) do
    if not (r and n - 1 == r.axis) and position(own, v) then
      keep[#keep + 1] = n - 1
      axes[#axes + 1] = v
    end
  end
  for _, v in ipairs(own) do
    if not position(axes, v) then
      fail(c.place, "t2s-unroll", ("%s is not unrolled along %s where it feeds %s"):format(stage.name, v, near.name),
        nil, "unsupported")
    end
  end
  local place = r and r.place or c.place
  if stage.host then
    self:step(place, "isolate", cur .. ":" .. buffer, stage.name)
  else
    self:step(place, "relay", buffer, cur, { axis = r and r.axis or -1, back = r and r.back, name = stage.name,
      map = keep })
  end
  return stage.name, axes
end

-- Buffers an operand in a stage's task for its next neighbour; returns the name of the local.
function mapping:hold(c, stage, task, next_stage)
  local b, name = buffer_of(stage, c.of.base), c.of.base.name
  local set = next_stage and check_removed(c, next_stage) or {}
  local main = c.main
  local where
  if b then
    where = self:period(main, b.var, task)
    if not where then fail(b.place, "t2s-buffer", ("%s has no loop %s"):format(stage.name, b.var)) end
  elseif next_stage and next_stage.host then
    local outer
    for _, x in ipairs(main.tile_order) do
      if set[x.var] then break end
      outer = x.var
    end
    where = self:period(main, outer, task)
  else
    where = self:innermost(task)
  end
  local buffer = self:step(b and b.place or c.place, "buffer_at", name, where)
  if b and b.double then
    self:step(b.place, "isolate", task .. ":" .. buffer, stage.name .. "_fill", { place = "device" })
    return buffer, stage.name .. "_fill"
  end
  return buffer, task
end

-- The Vars that an operand's index depends on, tiled ones with all their levels.
local function uses_of(main, base)
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

-- A producer chain, from the Func to the stage that loads.
function mapping:produce(c, task, buffer)
  local near, cur, space = c.def, task, (unrolled(c.def))
  c.main = self.main[c.def]
  c.uses = uses_of(c.main, c.of.base)
  for n = #c.stages, 1, -1 do
    local stage = c.stages[n]
    cur, space = self:feed(c, stage, near, cur, buffer, space)
    near = stage
    if n > 1 then buffer, cur = self:hold(c, stage, cur, c.stages[n - 1]) end
  end
end

-- A consumer chain, from the Func to the stage that stores.
function mapping:consume(c, task, buffer)
  local near, cur, space = c.def, task, (unrolled(c.def))
  c.main, c.uses = self.main[c.def], {}
  for n = #c.stages, 1, -1 do
    local stage = c.stages[n]
    cur, space = self:feed(c, stage, near, cur, buffer, space)
    near = stage
    if n > 1 then
      local m, where = c.main, self:innermost(cur)
      if c.stages[n - 1].host then where = self:period(m, m.tile_order[math.max(m.tile_depth, 1)].var, cur) end
      buffer = self:step(c.place, "buffer_at", c.of.base.name, where)
    end
  end
end

-- The mapping of a Func that is one nest.
function mapping:place(def)
  local main = self.main[def]
  for _, d in ipairs(def.directives) do
    if d.name == "tile" then self:tile(def, d) elseif d.name == "reorder" then self:reorder(def, d) end
  end
  main.tile_order = table.move(main, 1, #main, 1, {})
  for _, nest in ipairs(self.nests[def]) do self:arrange(def, nest) end
  self:join(def)
  local last = main[main.depth]
  main.tile_depth = 0
  for n, x in ipairs(main.tile_order) do
    if last and x.loop == last.loop then main.tile_depth = n end
  end
end

-- Buffers what leaves a Func, makes its tasks, and leads operands through their chains.
function mapping:spread(def)
  local main, space = self.main[def], (unrolled(def))
  local producers, consumers = chains(def, "isolate_producer_chain"), chains(def, "isolate_consumer_chain")
  local result
  if #consumers > 0 then
    result = self:step(consumers[1].place, "buffer_at", def.name, main[main.depth].loop)
  end
  for _, c in ipairs(producers) do
    c.buffer = self:step(c.place, "buffer_at", c.of.base.name, main[#main].loop)
  end
  local task = def.name .. "_pe"
  if #space > 0 then
    local loops = {}
    for n = 1, #space do loops[n] = main[n].loop end
    self:step(select(2, unrolled(def)), "unfold", loops[1], { loops = loops, name = task })
  end
  for _, c in ipairs(producers) do self:produce(c, task, c.buffer) end
  for _, c in ipairs(consumers) do self:consume(c, task, result) end
end

--- The schedule of a kernel that write.kernel made of program p, by the directives of its Funcs.
function schedule.of(kernel, p, values)
  local m = setmetatable({ s = tide.schedule(kernel), values = values, nests = {}, main = {}, used = {} }, mapping)
  local order = {}
  for _, group in ipairs(p.nests) do
    local first = group[1]
    local nest = { stages = group, place = first.place }
    for n, d in ipairs(first.domain) do
      nest[n] = { var = first.vars[n], loop = d.var.name, root = d.var.name }
      m.used[d.var.name] = true
    end
    local def = first.func
    if not m.nests[def] then
      m.nests[def] = {}
      order[#order + 1] = def
    end
    table.insert(m.nests[def], nest)
    m.main[def] = nest
  end
  for _, def in ipairs(order) do m:place(def) end
  for _, def in ipairs(order) do m:spread(def) end
  return m.s
end

return schedule
