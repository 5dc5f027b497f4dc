-- Funcs whose space loops carry values: their relays say which way these go from PE to PE, and the Func that they are
-- isolated into, the driver, sends what comes from outside the array and takes what leaves it.
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local transform = require "tide.t2s.map.transform"

local carried = {}

local fail = expr.fail
local chains, unrolled = directives.chains, directives.unrolled

--- The driver of a Func that carries values, if it has one, and its other producer chains.
function carried.driver_of(def)
  local found, others = nil, {}
  local function stage(c)
    if #c.stages > 1 then
      fail(c.place, "t2s-carried", ("%s, which it carries itself, goes through one Func: the driver"):format(def.name),
        nil, "unsupported")
    end
    found = found or c.stages[1]
    if c.stages[1] ~= found then
      fail(c.place, "t2s-carried", ("the boundary of %s is %s's, and its results go to %s"):format(def.name, found.name,
        c.stages[1].name), "one Func is the driver", "unsupported")
    end
  end
  for _, kind in ipairs { "isolate_producer_chain", "isolate_consumer_chain" } do
    for _, c in ipairs(chains(def, kind)) do
      if c.of.base == def then stage(c) end
    end
  end
  for _, c in ipairs(chains(def, "isolate_producer_chain")) do
    if c.of.base ~= def and not (found and #c.stages == 1 and c.stages[1] == found) then others[#others + 1] = c end
  end
  return found, others
end

-- The arrays that a Func's nest reads at other elements than it writes: a transform says which way they go.
local function carries(self, def)
  local main, list = self.main[def], {}
  for _, s in ipairs(main.stages) do
    expr.walk(s.rhs, function(y)
      if y.op ~= "ref" then return end
      for _, w in ipairs(main.stages) do
        local name = w.func == y.base and expr.text(w.lhs) ~= expr.text(y) and self.program.arrays[y.base].name
        if name and not directives.position(list, name) then list[#list + 1] = name end
      end
    end)
  end
  return list
end

-- The arrays that travel with a Func that carries values, and the way of each, in the order of the relays: its own, and
-- what the driver sends.
local function ways(self, def, driver, space)
  local arrays, by, given = {}, {}, {}
  local function way(base, vector)
    local a = self.program.arrays[base]
    arrays[#arrays + 1] = a.name
    table.move(vector, 1, #vector, #by + 1, by)
    given[base] = true
  end
  local driven, own = { [def] = true }, false
  for _, g in ipairs(def.group or {}) do driven[g] = true end
  for _, c in ipairs(chains(def, "isolate_producer_chain")) do
    if driver and c.stages[1] == driver and #c.stages == 1 then driven[c.of.base] = true end
  end
  for d in directives.each(def, "relay") do
    local base, vector = directives.relayed(def, d)
    if driven[base] then way(base, vector) end
  end
  local none = {}
  for n = 1, #space do none[n] = 0 end
  for _, c in ipairs(chains(def, "isolate_producer_chain")) do
    if driven[c.of.base] and not given[c.of.base] and c.of.base ~= def then way(c.of.base, none) end
  end
  for _, g in ipairs(def.group or { def }) do own = own or given[g] end
  if not own and transform.of(def) and not next(given) then return carries(self, def) end
  if not own then
    local text = "%s carries values along %s, and no relay of %s says which way"
    fail(select(2, unrolled(def)), "t2s-carried", text:format(def.name, table.concat(space, ", "), def.name),
      ("%s:relay(%s, {1, ..})"):format(def.name, def.name), "illegal")
  end
  return arrays, by
end

--- Gives space loops whose range depends on loops around them, as in a triangle, a PE for each iteration that there is.
function carried.widen(self, loops, place)
  for _, loop in ipairs(loops) do
    local ok, e = pcall(self.s.widen, self.s, loop)
    if not ok and (type(e) == "string" or e.code ~= "ranges") then self.fail_at(place, e) end
  end
end

-- Keeps the elements that an iteration of a task makes in registers until all that is sent of them is sent.
local function keep_elements(self, def, task)
  for _, f in ipairs(def.group or { def }) do
    local name, before = self:array_of(f), self.s
    self.s = before:fork()
    local ok, _, kept = pcall(self.s.buffer_at, self.s, name, self:innermost(task))
    local one = ok and tostring(self.s):find(("local %s = %%a%%w*%%("):format(kept))
    if not one then self.s = before end
  end
end

--- Makes the task of a Func whose space loops carry values: these go from neighbour to neighbour.
function carried.unfold(self, def, loops, place)
  local driver, space = carried.driver_of(def), (unrolled(def))
  carried.widen(self, loops, place)
  local links, by = ways(self, def, driver, space)
  local made = table.pack(self:step(place, "unfold", self.main[def][1].loop, { loops = loops,
    name = def.name .. "_pe", links = links, by = by, driver = driver and driver.name }))
  for n = driver and 3 or 2, made.n do
    for base, a in pairs(self.program.arrays) do
      local way = made[n]:match("^" .. a.name .. "_(%a+)")
      if way then self:note_stream(base, def, way == "pass" and def or driver or def, made[n]) end
    end
  end
  if not driver then keep_elements(self, def, made[1]) end
  return made[1]
end

-- The loops of a nest that are in space, or of which a tile is: a set of their names.
local function in_space(nest, def)
  local set, root = {}, {}
  for _, x in ipairs(nest) do root[x.var] = x.loop end
  for d in directives.each(def, "tile") do
    local vars, n = directives.tiled(d)
    for k = n + 1, #vars do root[vars[k]] = root[vars[(k - 1) % n + 1]] end
  end
  for _, v in ipairs((unrolled(def))) do set[root[v] or v] = true end
  return set
end

--- Whether the nest of a Func reads one of its own at an element of another instance than it writes, or at one of which
--- an instance is not told.
function carried.carries(nest, def)
  local space, by = in_space(nest, def), transform.of(def) and true
  for _, s in ipairs(nest.stages) do
    local left = expr.text(s.lhs)
    for _, other in ipairs(nest.stages) do
      if expr.any(s.rhs, function(y)
        if y.op ~= "ref" or y.base ~= other.func or y.base.kind ~= "func" then return false end
        if y.base == s.func and expr.text(y) == left then return false end
        local told = {}
        for n, x in ipairs(other.lhs.idx) do
          if x.op == "var" and expr.text(y.idx[n]) == x.name then told[x.name] = true end
        end
        for v in pairs(space) do
          if by or not told[v] then return true end
        end
        return false
      end) then return true end
    end
  end
  return false
end

--- Leaves the edges of a Func that carries values as they are: its first values are no part of its nest.
function carried.keep_edges(self, def)
  local main, list = self.main[def], {}
  main.carried = true
  for _, nest in ipairs(self.nests[def]) do
    local edge = false
    for _, k in ipairs(nest.stages[1].kinds) do edge = edge or k == "constant" end
    if not edge then list[#list + 1] = nest end
  end
  self.nests[def] = list
end

return carried
