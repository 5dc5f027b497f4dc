-- The directives of a T2S mapping as steps of a schedule. The definition is a kernel whose loops have names of their
-- own; tile and reorder put each Func's loops in order, space loops outermost; unroll makes them a task (unfold);
-- what is isolated is buffered where it is used and leaves the task by relay or isolate, stage by stage. Directives are
-- sorted: their text order is that of the user, the order of the steps is one that is legal.
local between = require "tide.t2s.map.between"
local calls = require "tide.t2s.map.calls"
local carried = require "tide.t2s.map.carried"
local chain = require "tide.t2s.map.chain"
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local func = require "tide.t2s.define.func"
local lanes = require "tide.t2s.map.lanes"
local legal = require "tide.t2s.map.legal"
local merged = require "tide.t2s.map.merged"
local stages = require "tide.t2s.map.order"
local pace = require "tide.t2s.map.pace"
local sugar = require "tide.t2s.map.sugar"
local tide = require "tide"
local transform = require "tide.t2s.map.transform"

local schedule = {}

local fail = expr.fail
local position, var_name, unrolled = directives.position, directives.var_name, directives.unrolled
local chains, buffer_of = directives.chains, directives.buffer_of
local loop_at, first_loop = between.loop_at, between.first_loop

-- A mapping under way: s the schedule, values of Consts, nests by Func, names of loops in use.
local mapping = {}
mapping.__index = mapping
for name, method in pairs(chain) do mapping[name] = method end

-- Raises the refusal of a step at the directive's line.
local function at(place, ok, ...)
  if ok then return ... end
  local e = ...
  if not place or type(e) == "string" then error(e, 0) end
  fail(place, e.code or "t2s", e.message, e.help, ({ illegal = 1, usage = 1, unsupported = 1 })[e.kind] and e.kind)
end

-- Raises the refusal of a step at a directive's line.
function mapping.fail_at(place, e) at(place, false, e) end

-- Takes a step for a directive; returns what it made.
function mapping:step(place, name, ...)
  return select(2, at(place, pcall(self.s[name], self.s, ...)))
end

-- The name of the array of a Param or Func in the kernel.
function mapping:array_of(base) return self.program.arrays[base].name end

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
function mapping:constant(x, place, what) return directives.constant(x, self.values, place, what) end

-- Keeps the tile of a loop that a size bounds: what verify tries are multiples of it.
function mapping:note_tile(x, size)
  local name = x.hi and x.hi.op == "size" and tostring(x.hi.size)
  if name then self.tiles[name] = math.max(self.tiles[name] or 1, size) end
end

-- Makes an axis of one PE of a tile level of the size of the one around it; returns the level's loop and the axis.
function mapping:axis_of_one(place, loop, inner, size)
  if size == 1 then return nil, loop end
  local axis = self:fresh(loop)
  self:step(place, "split", loop, 1, { names = { inner, axis } })
  return inner, axis
end

-- tile(v.., levels.., sizes..): splits each loop level by level; the new loops stand level by level.
function mapping:tile(def, d)
  local vars, sizes, n, levels = directives.levels(d, self.values)
  local place, shared, space = d.place, 0, (unrolled(def))
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
          local inner, outer = self:fresh(v), block[l - 1][#block[l - 1]]
          self:note_tile(nest[k], sizes[c])
          local once = l > 1 and sizes[(l - 2) * n + c] == sizes[(l - 1) * n + c]
          if once and position(space, outer.var) then
            inner, outer.loop = self:axis_of_one(place, loop, inner, sizes[(l - 1) * n + c])
          elseif once then
            inner, outer.loop = loop, nil -- it would run once
          else
            self:step(place, "split", loop, sizes[(l - 1) * n + c], { names = { loop, inner } })
          end
          block[l][#block[l] + 1] = { var = v, loop = inner, root = nest[k].root,
            size = sizes[(l - 1) * n + c] // (l < levels and sizes[l * n + c] or 1) }
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
  if shared == 0 then directives.no_loop(place, "t2s-tile", def.name, vars[1], self.main[def]) end
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
        directives.no_loop(d.place, "t2s-reorder", def.name, want[n], nest)
      end
    end
    table.sort(places)
    for n, k in ipairs(places) do nest[k] = loops[n] end
    nest.tiled = true
  end
end

-- Puts the loops of a nest in order, space loops outermost.
function mapping:arrange(def, nest)
  local space, place = unrolled(def)
  local order = {}
  for _, v in ipairs(space) do
    local k = position(nest, v, "var")
    if k then order[#order + 1] = nest[k]
    elseif nest == self.main[def] then directives.no_loop(place, "t2s-unroll", def.name, v, nest) end
  end
  nest.space = #order
  for _, x in ipairs(nest) do
    if not position(space, x.var) then order[#order + 1] = x end
  end
  if nest.space == #order and nest == self.main[def] and #order > 0 then
    fail(place, "t2s-unroll", ("all loops of %s are in space"):format(def.name), "at least one loop gives the time")
  end
  for n, x in ipairs(order) do nest[n] = x end
  if nest.tiled or nest.space > 0 then self:order(nest, #nest, place) end
end

-- Puts the first n loops of a nest in the order that they have in its list: a step on those that move, so that bounds
-- of the others stay as they are.
function mapping:order(nest, n, place)
  local want, now = {}, {}
  for k = 1, n do want[#want + 1] = nest[k].loop end
  for _, l in ipairs(self.s:loops()) do
    if position(want, l) then now[#now + 1] = l end
  end
  local first, last = 1, #want
  while first < last and want[first] == now[first] do first = first + 1 end
  while last > first and want[last] == now[last] do last = last - 1 end
  if first < last then self:step(place or nest.place, "reorder", table.unpack(want, first, last)) end
end

-- Whether a Func is mapped: it has elements, or chains.
local function is_mapped(def)
  return #(unrolled(def)) + #chains(def, "isolate_producer_chain") + #chains(def, "isolate_consumer_chain") > 0
end

-- Moves the nests of first values into the main nest: behind the last loop that both have. Those of a Func that is not
-- mapped stay where they are if they cannot move.
function mapping:join(def)
  local main = self.main[def]
  for _, nest in ipairs(self.nests[def]) do
    if nest ~= main and #nest > 0 then
      local n = 0
      while n < #nest and main[n + 1] and nest[n + 1].var == main[n + 1].var do n = n + 1 end
      main.depth = math.min(main.depth or n, n)
      local loop = loop_at(main, n)
      local ok, e = true, nil
      if loop then ok, e = pcall(self.s.compute_at, self.s, first_loop(nest), loop) end
      if not ok and (is_mapped(def) or type(e) == "string" or e.kind ~= "illegal") then self.fail_at(main.place, e) end
      if not ok then main.depth = 0 end
    end
  end
  main.depth = main.depth or #main
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
  if not x.loop then return nil end
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

-- Tiles the nests of a Func.
function mapping:tiles_of(def)
  local main = self.main[def]
  for _, d in ipairs(def.directives) do
    if d.name == "tile" then self:tile(def, d) elseif d.name == "reorder" then self:reorder(def, d)
    elseif d.name == "space_time_transform" then transform.take(self, def, d) end
  end
  main.tile_order = table.move(main, 1, #main, 1, {})
end

-- Puts the loops of each nest of a Func in order, then first values beside the sums.
function mapping:place_apart(def)
  for _, nest in ipairs(self.nests[def]) do self:arrange(def, nest) end
  self:join(def)
end

-- The same in the other order, where sums that are empty for some elements make the ranges of a nest's loops smaller:
-- first values beside the sums, then the loops around both; `e` says why it was not done before.
function mapping:place_joined(def, e)
  local main = self.main[def]
  for _, nest in ipairs(self.nests[def]) do
    for n, x in ipairs(nest) do
      if not main[n] or main[n].var ~= x.var then error(e, 0) end
    end
  end
  main.depth = #main
  for _, nest in ipairs(self.nests[def]) do
    if nest ~= main and #nest > 0 then
      local first, last
      for _, l in ipairs(self.s:loops()) do
        first = first or position(nest, l, "loop") and l
        local k = position(main, l, "loop")
        last = k and k <= #nest and l or last
      end
      self:step(main.place, "compute_at", first, last)
      main.depth = math.min(main.depth, #nest)
    end
  end
  self:order(main, main.depth, (select(2, unrolled(def))))
end

-- The mapping of a Func alone: space loops outermost, first values beside the sums.
function mapping:place(def)
  local main = self.main[def]
  if main.carried then return self:place_stage(def) end
  local before = self.s
  self.s = before:fork()
  local ok, e = pcall(self.place_apart, self, def)
  if not ok and (type(e) == "string" or e.code ~= "ranges") then error(e, 0) end
  if not ok then
    self.s = before
    self:place_joined(def, e)
  end
  local last = main[main.depth]
  main.tile_depth = last and position(main.tile_order, last) or 0
end

-- The mapping of a Func among others: its elements are made in the order of its loops, which reductions are inside.
function mapping:place_stage(def)
  local main = self.main[def]
  for _, nest in ipairs(self.nests[def]) do
    if nest.tiled then self:order(nest, #nest) end
  end
  self:join(def)
  main.tile_depth = main.depth
end

-- The task that has a loop.
function mapping:task_of(x)
  for _, l in ipairs(self.s:loops()) do
    local task, loop = l:match "^(.-):([^:]+)$"
    if loop == x then return task end
  end
end

-- The depth of a stream: a number, or the text of one that sizes tell.
function mapping:depth_of(stream)
  local options = tostring(self.s):match(("local %s = d:stream(%%b())"):format(stream))
  local text = (options or ""):match "depth = ([^,}]+)"
  return math.tointeger(tonumber(text or 1)) or text
end

-- Gives streams the depths that a Func's directives ask for at least.
function mapping:set_depths(def)
  for d in directives.each(def, "set_min_depth") do
    local x, to = d.args[1], func.record(d.args[2])
    local traced = getmetatable(x) and getmetatable(x).__traced
    x = traced and traced(x) or x
    local n, found = self:constant(d.args[3], d.place, "set_min_depth"), {}
    if n < 1 then fail(d.place, "t2s-depth", ("a channel holds at least 1 token, not %d"):format(n)) end
    for _, c in ipairs(self.streams) do
      if c.base == x.base and (c[1] == def and c[2] == to or c[1] == to and c[2] == def) then found[#found + 1] = c end
    end
    if #found == 0 then
      fail(d.place, "t2s-depth", ("no channel carries %s from %s to %s"):format(x.base and x.base.name or "it",
        def.name, to and to.name or "what is no Func"))
    end
    for _, c in ipairs(found) do
      local has = c.name and self:depth_of(c.name)
      if has and math.type(has) ~= "integer" then
        self.left[#self.left + 1] = { what = ("set_min_depth(%s, %s, %d)"):format(x.base.name, to.name, n),
          why = ("%s holds %s tokens"):format(c.name, has), place = d.place }
      elseif has and n > has then
        self:step(d.place, "depth", c.name, n)
      end
    end
  end
end

-- Checks that the space loops of a Func are around its sums: unfold takes them out of the nest.
function mapping:check_space(def)
  local main, space = self.main[def], unrolled(def)
  local _, place = unrolled(def)
  for _, v in ipairs(space) do
    local k = position(main, v, "var")
    if not k then directives.no_loop(place, "t2s-unroll", def.name, v, main) end
    if k > main.depth then
      fail(place, "t2s-unroll", ("%s sums along %s, which is in space"):format(def.name, v), nil, "unsupported")
    end
  end
  if #space == #main and #space > 0 then
    fail(place, "t2s-unroll", ("all loops of %s are in space"):format(def.name), "at least one loop gives the time")
  end
end

-- How many loops are around what a Func reads of its own elements: as deep as its results are buffered.
local function carried_depth(main, def)
  local depth = main.depth
  for _, s in ipairs(main.stages) do
    expr.walk(s.rhs, function(y)
      if y.op ~= "ref" or y.base ~= def then return end
      for n, x in ipairs(s.lhs.idx) do
        local k = x.op == "var" and expr.text(y.idx[n]) ~= x.name and position(main, x.name, "root")
        if k then depth = math.min(depth, k - 1) end
      end
    end)
  end
  return depth
end

-- Buffers what leaves a Func, makes its tasks, and leads operands through their chains.
function mapping:spread(def)
  local main, space = self.main[def], (unrolled(def))
  local producers, consumers = chains(def, "isolate_producer_chain"), chains(def, "isolate_consumer_chain")
  local result
  local collector = #consumers == 0 and self:collector(def)
  if main.carried then consumers = {} end
  if collector then consumers = { collector } end
  if #consumers > 0 then
    local at = loop_at(main, carried_depth(main, def)) or self.program.result.name
    result = self:step(consumers[1].place, "buffer_at", self:array_of(def), at)
  end
  if main.carried then producers = select(2, carried.driver_of(def)) end
  for _, c in ipairs(producers) do
    c.buffer = self:step(c.place, "buffer_at", self:array_of(c.of.base), loop_at(main, #main))
  end
  local b = buffer_of(def, def)
  if b and not collector then
    local rest = (b.var and ", " .. b.var or "") .. (b.register and ", REGISTER" or "")
    self.left[#self.left + 1] = { what = ("%s:buffer(%s%s)"):format(def.name, def.name, rest), place = b.place }
  end
  local task = self:task_of(first_loop(main))
  if #space > 0 then
    local loops = {}
    for n, v in ipairs(space) do
      loops[n] = main[position(main, v, "var")].loop
      if not loops[n] then
        fail(select(2, unrolled(def)), "t2s-unroll", ("%s of %s runs once: its tile has the size of the one around it")
          :format(v, def.name), "leave it out of tile and unroll", "unsupported")
      end
    end
    legal.check_extents(self, def)
    local place = select(2, unrolled(def))
    if main.carried then task = carried.unfold(self, def, loops, place)
    else
      carried.widen(self, loops, place)
      task = self:step(place, "unfold", first_loop(main), { loops = loops, name = def.name .. "_pe" })
    end
  end
  if not task and #producers + #consumers > 0 then
    local place = (producers[1] or consumers[1]).place
    self:step(place, "dataflow")
    task = self:task_of(first_loop(main))
  end
  if task then lanes.sum(self, def, task, result or self:array_of(def)) end
  transform.finish(self, def, task)
  for _, c in ipairs(producers) do self:produce(c, task, c.buffer) end
  for _, c in ipairs(consumers) do self:consume(c, self:queue(c, task, result), result) end
end

-- The same of all Funcs that a channel ends at, and of those that compute.
function mapping:set_all_depths(order)
  local seen = {}
  local function set(def)
    if not seen[def] then
      seen[def] = true
      self:set_depths(def)
    end
  end
  for _, c in ipairs(self.streams) do
    set(c[1])
    set(c[2])
  end
  for _, def in ipairs(order) do set(def) end
end

--- The schedule of a kernel that write.kernel made of program p, by the directives of its Funcs; how: the options
--- pipeline and rewind of t2s.design.
function schedule.of(kernel, p, values, how)
  local m = setmetatable({ s = tide.schedule(kernel), values = values, nests = {}, main = {}, used = {},
    tiles = {}, left = {}, banked = {}, filled = {}, queues = {}, passes = {},
    shared = {}, hosts = {}, streams = {}, program = p }, mapping)
  local order = {}
  for _, group in ipairs(p.nests) do
    local first = group[1]
    local nest = { stages = group, place = first.place }
    for n, d in ipairs(first.domain) do
      nest[n] = { var = first.vars[n], loop = d.var.name, root = d.var.name, lo = d.lo, hi = d.hi }
      m.used[d.var.name] = true
    end
    local def = first.func.group and first.func.group[1] or first.func
    if not m.nests[def] then
      m.nests[def] = {}
      order[#order + 1] = def
    end
    table.insert(m.nests[def], nest)
    m.main[def] = nest
  end
  m.funcs = order
  if calls.has(p) or p.placed then
    lanes.refuse(order)
    calls.map(m, p, order)
    pace.take(m.s, how)
    return m.s, m
  end
  for _, def in ipairs(order) do
    if #(unrolled(def)) > 0 and carried.carries(m.main[def], def) then carried.keep_edges(m, def) end
  end
  for _, def in ipairs(order) do m:tiles_of(def) end
  sugar.expand_all(m, order)
  legal.check(m, order)
  local others
  order, others = merged.split(order)
  for _, def in ipairs(order) do
    if #order == 1 then m:place(def) else m:place_stage(def) end
    if #order > 1 or m.main[def].carried then m:check_space(def) end
  end
  merged.take(m, others)
  between.take(m, order)
  for _, def in ipairs(order) do
    m:spread(def)
  end
  m:share()
  m:set_all_depths(order)
  stages.check(m)
  lanes.apply(m, order)
  pace.take(m.s, how)
  return m.s, m
end

return schedule
