-- Directives that stand for others: chains of Stensors (feed, drain), scatter and gather. They become isolation chains,
-- relays, buffers, removed loops and depths once the order of the Func's loops is known; t2s.directives prints these.
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local func = require "tide.t2s.define.func"
local stensor = require "tide.t2s.define.stensor"

local sugar = {}

local fail, position = expr.fail, directives.position

-- What is isolated or moved: the Param or Func of an argument.
local function base_of(x, d)
  local traced = getmetatable(x) and getmetatable(x).__traced
  x = traced and traced(x) or x
  if not (expr.is(x) and x.op == "ref") then
    fail(d.place, "t2s-stensor", ("%s takes a Param or a Func"):format(d.name))
  end
  return x
end

-- Adds a directive to a Func's list, in the place of d.
local function add(def, d, name, ...)
  def.expanded = def.expanded or table.move(def.directives, 1, #def.directives, 1, {})
  local at = #def.expanded + 1
  while at > 1 and def.expanded[at - 1].seq > d.seq do at = at - 1 end
  table.insert(def.expanded, at, { name = name, args = table.pack(...), place = d.place, seq = d.seq, of = d })
end

-- Whether a stage of a chain puts out a Var, too; none stands beyond the ends.
local function puts(s, v)
  for _, x in ipairs(s and s.item.out or {}) do
    if x.name == v.name then return true end
  end
  return not s
end

-- Whether a Func has a directive of that name about a Param or Func.
local function has(def, name, base)
  for d in directives.each(def, name) do
    local x = d.args[1]
    local traced = getmetatable(x) and getmetatable(x).__traced
    x = traced and traced(x) or x
    if expr.is(x) and x.op == "ref" and x.base == base then return true end
  end
  return false
end

-- A vector over the space loops of a Func: `step` at each of the named Vars, 0 elsewhere.
local function vector(space, vars, step)
  local out = {}
  for n, v in ipairs(space) do out[n] = position(vars, v) and step or 0 end
  return out
end

-- The stages of a chain with the depth of the channel behind each; items behind one another that are no stages add up.
local function stages_of(d, chain)
  local list = {}
  for _, x in ipairs(chain.items) do
    if x.kind ~= "FIFO" then list[#list + 1] = { item = x }
    elseif #list == 0 then
      fail(x.place, "t2s-stensor", "a FIFO stands behind a stage")
    else list[#list].depth = x.depth end
  end
  if #list == 0 then fail(d.place, "t2s-stensor", "a chain has at least one stage") end
  for n, s in ipairs(list) do
    local x = s.item
    x.func = x.func or func.new(x.name, nil, false, 0, {})
    s.def = x.func.def
    for k = 1, n - 1 do
      if list[k].item.name == x.name then
        fail(x.place, "t2s-stensor", ("two stages are named %s"):format(x.name))
      end
    end
  end
  return list
end

-- Splits what a stage puts out into space loops and lanes, and gives it these.
local function set_out(def, d, s, main, space)
  s.banks = {}
  for _, v in ipairs(s.item.out) do
    if not position(main.tile_order, v.name, "var") then
      directives.no_loop(s.item.place, "t2s-stensor", def.name, v.name, main.tile_order)
    end
    if position(space, v.name) then s.banks[#s.banks + 1] = v
    elseif s.lanes then
      fail(s.item.place, "t2s-stensor", ("%s has lanes along %s and along %s"):format(s.item.name, s.lanes.name,
        v.name), "one loop in time is lanes; others of out(..) are space loops of " .. def.name)
    else s.lanes = v end
  end
  if #s.banks > 0 then add(s.def, d, "unroll", table.unpack(s.banks)) end
  if s.lanes then add(s.def, d, "vectorize", s.lanes) end
end

-- The Vars of loops inside position k of a nest that `keep` does not hold of.
local function inside(main, k, keep)
  local out = {}
  for n = k + 1, #main.tile_order do
    local x = main.tile_order[n]
    if not keep(x) then out[#out + 1] = expr.new { op = "var", name = x.var } end
  end
  return out
end

-- Gives stages their buffers, and those before them the loops that a buffer makes needless.
local function set_scopes(def, d, list, of, main, uses)
  local before, needless = 0, {}
  for n, s in ipairs(list) do
    local v = s.item.scope
    if v then
      local k = position(main.tile_order, v.name, "var")
      if not k then directives.no_loop(s.item.place, "t2s-stensor", def.name, v.name, main.tile_order) end
      if k < before then
        fail(s.item.place, "t2s-stensor", ("the scope of %s, %s, is outside that of the stage before it"):format(
          s.item.name, v.name), "a stage that is nearer keeps less")
      end
      before = k
      if s.item.kind == "SRAM" then add(s.def, d, "buffer", of, v, "DOUBLE") else add(s.def, d, "buffer", of, v) end
      for m = 1, n - 1 do
        needless[m] = needless[m] or inside(main, k, function(x) return uses[x.var] end)
      end
    end
  end
  for m, vars in pairs(needless) do
    if #vars > 0 then add(list[m].def, d, "remove", table.unpack(vars)) end
  end
end

-- The space loops of a Func that an operand does not depend on, less those given.
local function shared(space, uses, less)
  local out = {}
  for _, v in ipairs(space) do
    local given = false
    for _, b in ipairs(less) do given = given or b.name == v end
    if not uses[v] and not given then out[#out + 1] = v end
  end
  return out
end

local make = {}

--- C:feed(A >> far >> .. >> near): the stages of an operand.
function make.feed(self, def, d)
  local chain = d.args[1]
  if not stensor.is(chain) or not chain.of then
    fail(d.place, "t2s-stensor", "feed takes a chain that begins with a Param", 'C:feed(A >> t2s.SRAM "feed")')
  end
  local of, main, space = chain.of, self.main[def], (directives.unrolled(def))
  local list, uses, funcs = stages_of(d, chain), directives.uses_of(main, of.base), {}
  for n, s in ipairs(list) do
    funcs[n] = s.item.func
    s.def.expanded = nil
  end
  add(def, d, "isolate_producer_chain", of, table.unpack(funcs))
  for n, s in ipairs(list) do
    set_out(def, d, s, main, space)
    if #s.banks == 1 and not puts(list[n - 1], s.banks[1]) then add(s.def, d, "relay", of, { 1 }) end
  end
  set_scopes(def, d, list, of, main, uses)
  local ways = shared(space, uses, {})
  if #ways == 1 and not has(def, "relay", of.base) then add(def, d, "relay", of, vector(space, ways, 1)) end
  for n, s in ipairs(list) do
    local next_func = list[n + 1] and list[n + 1].item.func or def.object
    if s.depth then add(s.def, d, "set_min_depth", of, next_func, s.depth) end
  end
end

--- C:drain(C >> near >> .. >> far): the stages of the result.
function make.drain(self, def, d)
  local chain = d.args[1]
  if not stensor.is(chain) or chain.of and chain.of.base ~= def then
    fail(d.place, "t2s-stensor", ("drain takes a chain of %s's own values"):format(def.name),
      ('%s:drain(%s >> t2s.REG "collect")'):format(def.name, def.name))
  end
  local of, main, space = expr.new { op = "ref", base = def, idx = {} }, self.main[def], (directives.unrolled(def))
  local list, funcs, left = stages_of(d, chain), {}, {}
  for n, s in ipairs(list) do
    funcs[#list - n + 1] = s.item.func
    s.def.expanded = nil
  end
  for _, x in ipairs(main.stages[1].lhs.idx) do
    expr.walk(x, function(y) if y.op == "var" then left[y.name] = true end end)
  end
  local sums = inside(main, 0, function(x) return left[x.root] end)
  add(def, d, "isolate_consumer_chain", of, table.unpack(funcs))
  for n, s in ipairs(list) do
    if s.item.scope then add(s.def, d, "buffer", of, s.item.scope) end
    if #sums > 0 then add(s.def, d, "remove", table.unpack(sums)) end
    set_out(def, d, s, main, space)
    if #s.banks == 1 and not puts(list[n + 1], s.banks[1]) then add(s.def, d, "relay", of, { -1 }) end
    if s.depth and list[n + 1] then add(s.def, d, "set_min_depth", of, list[n + 1].item.func, s.depth) end
  end
  local ways = shared(space, {}, list[1].banks)
  if #ways == 1 and not has(def, "relay", def) then add(def, d, "relay", of, vector(space, ways, -1)) end
end

-- The operand that comes to a Func from another one, or the Func itself.
local function carried_from(self, def, x)
  local from = x.base
  if from.kind ~= "func" then return x end
  for owner in pairs(self.main) do
    for _, kind in ipairs { "isolate_producer_chain", "isolate_consumer_chain" } do
      for _, c in ipairs(directives.chains(owner, kind)) do
        for n, stage in ipairs(c.stages) do
          local near = kind == "isolate_producer_chain" and (c.stages[n + 1] or owner) or c.stages[n + 1]
          if stage == from and near == def then return c.of end
        end
      end
    end
  end
  return x
end

-- A relay along one loop: up (from the first element on) or down.
local function along(self, def, d)
  local x, v, way = base_of(d.args[1], d), directives.var_name(d.args[2], d.place, d.name), d.args[3]
  local space = directives.unrolled(def)
  if way ~= nil and way ~= "UP" and way ~= "DOWN" then
    fail(d.place, "t2s-relay", ("%s goes t2s.UP or t2s.DOWN"):format(d.name))
  end
  if not position(space, v) then
    fail(d.place, "t2s-relay", ("%s along %s, along which %s is not unrolled"):format(d.name, v, def.name),
      ("%s:unroll(%s)"):format(def.name, v))
  end
  for _, e in ipairs(def.directives) do
    local again = e.name == d.name and e.seq < d.seq and carried_from(self, def, base_of(e.args[1], e))
    if again and again.base == carried_from(self, def, x).base then
      fail(d.place, "t2s-relay", ("%s of %s is given twice"):format(d.name, x.base.name))
    end
  end
  return carried_from(self, def, x), space, v, way == "DOWN" and -1 or 1
end

--- F:scatter(G, v [, t2s.DOWN]): what G gives arrives at the first element along v (the last one), each keeps its own
--- and passes the rest.
function make.scatter(self, def, d)
  local of, space, v, step = along(self, def, d)
  if of.base == def then fail(d.place, "t2s-relay", ("%s scatters what it is given"):format(def.name)) end
  add(def, d, "relay", of, vector(space, { v }, step))
end

--- F:gather(G, v [, t2s.DOWN]): results go along v to the last element (the first one), which hands on all.
function make.gather(self, def, d)
  local of, space, v, step = along(self, def, d)
  add(def, d, "relay", of, vector(space, { v }, step))
end

--- Expands the directives of a Func and of its stages.
function sugar.expand(self, def)
  local found, list = false, {}
  for _, d in ipairs(def.directives) do found = found or make[d.name] ~= nil end
  def.expanded = nil
  if not found then return end
  for _, d in ipairs(def.directives) do
    if not make[d.name] then list[#list + 1] = d end
  end
  def.expanded = list
  for _, d in ipairs(def.directives) do
    if make[d.name] then make[d.name](self, def, d) end
  end
end

--- Expands the directives of all Funcs of a mapping, and then those of the stages of their chains.
function sugar.expand_all(self, order)
  for _, def in ipairs(order) do sugar.expand(self, def) end
  local seen = {}
  for _, def in ipairs(order) do
    for _, kind in ipairs { "isolate_producer_chain", "isolate_consumer_chain" } do
      for _, c in ipairs(directives.chains(def, kind)) do
        for _, stage in ipairs(c.stages) do
          local more = not seen[stage]
          seen[stage] = true
          if more and not self.main[stage] then
            for _, d in ipairs(stage.directives) do
              if make[d.name] then
                local list = {}
                for _, e in ipairs(stage.expanded or stage.directives) do
                  if e ~= d then list[#list + 1] = e end
                end
                stage.expanded = list
                make[d.name](self, stage, d)
              end
            end
          end
        end
      end
    end
  end
end

return sugar
