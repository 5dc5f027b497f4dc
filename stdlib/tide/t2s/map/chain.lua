-- The chains of a mapping: an operand leaves its Func by one task for each stage, from the Func to the stage that
-- loads; results leave by one for each, to the stage that stores. These are methods of a mapping (schedule.lua).
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local func = require "tide.t2s.define.func"
local lanes = require "tide.t2s.map.lanes"

local chain = {}

local fail = expr.fail
local position, unrolled = directives.position, directives.unrolled
local relay_of, buffer_of, removed = directives.relay_of, directives.buffer_of, directives.removed
local buffers_of = directives.buffers_of

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

-- The name of the task of a stage that passes on an operand: that of the stage, or, where it has one already, one that
-- is made part of it at the end (share).
function chain:task_for(stage, base, place)
  if not self.passes[stage] then
    self.passes[stage] = true
    return stage.name
  end
  local name = self:fresh(stage.name .. "_" .. base.name)
  self.shared[#self.shared + 1] = { stage = stage, base = base, part = name, place = place }
  return name
end

-- Makes stages of several operands one task each, the far ones first.
function chain:share()
  for n = #self.shared, 1, -1 do
    local x = self.shared[n]
    local ok, e = pcall(self.s.chain, self.s, x.stage.name, x.part)
    if not ok and (type(e) == "string" or e.code ~= "not-decided" and e.code ~= "deadlock") then
      self.fail_at(x.place, e)
    elseif not ok then
      fail(x.place, "t2s-isolate", ("%s passes on %s in other loops than what it has besides"):format(x.stage.name,
        x.base.name), "a Func for each operand, or a kernel: define_extern", "unsupported")
    end
  end
end

-- One stage of a producer chain: `local_` of task `cur`, whose Func is `near`, is fed by a task of its own.
function chain:feed(c, stage, near, cur, buffer, space)
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
  local place, stream = r and r.place or c.place, nil
  local name = self:task_for(stage, c.of.base, c.place)
  if stage.host then
    self.hosts[name] = true
    self:pass(place, cur, buffer, name, "host")
  else
    stream = self:step(place, "relay", buffer, cur, { axis = r and r.axis or -1, back = r and r.back, name = name,
      map = keep })
  end
  self:note_stream(c.of.base, stage, near, stream, c.main, c.def)
  return name, axes
end

-- Keeps the name of the stream that carries an operand between two Funcs, whichever way.
function chain:note_stream(base, one, other, stream, nest, def)
  self.streams[#self.streams + 1] = { base = base, one, other, name = stream, nest = nest, main_func = def }
end

-- Makes a task of each element's results that go from element to element: it is a block that the element leaves to it,
-- and the next sums begin while it waits for its turn. Returns the task that has the results.
function chain:queue(c, task, result)
  if not relay_of(c.def, c.of.base) then return task end
  local name = self:fresh(c.def.name .. "_out")
  local ok, e = pcall(self.s.isolate, self.s, task .. ":" .. result, name, { place = "device" })
  if ok then
    self.queues[name] = true
    return name
  end
  if type(e) == "string" or e.code ~= "not-an-array" then self.fail_at(c.place, e) end
  return task
end

-- Makes the copy of a task's buffer a task: a block of elements is handed over (true), a single one goes by a stream.
function chain:pass(place, task, buffer, name, where)
  local ok, e = pcall(self.s.isolate, self.s, task .. ":" .. buffer, name, { place = where })
  if ok then return true end
  if type(e) == "string" or e.code ~= "not-an-array" then self.fail_at(place, e) end
  self:step(place, "relay", buffer, task, { axis = -1, name = name })
end

-- The loop of a stage's task at which it holds an operand when no buffer says: what the next stage has no use for again
-- and again stays with a host stage; else one element.
function chain:held_at(c, task, next_stage, set)
  if not (next_stage and next_stage.host) then return self:innermost(task) end
  local outer
  for _, x in ipairs(c.main.tile_order) do
    if set[x.var] then break end
    outer = x.var
  end
  return self:period(c.main, outer, task)
end

-- Keeps windows of a stage's buffer; those with gaps between them have nothing to keep.
function chain:hold_window(c, stage, task, buffer)
  local line = buffer_of(stage, c.of.base, "linebuffer")
  if not line then return end
  local window = self:period(c.main, line.var, task)
  if not window then directives.no_loop(line.place, "t2s-buffer", stage.name, line.var, c.main.tile_order) end
  local ok, e = pcall(self.s.reuse_at, self.s, task .. ":" .. buffer, window)
  if ok then return end
  if type(e) == "string" or e.code ~= "no-overlap" then self.fail_at(line.place, e) end
  self.left[#self.left + 1] = { what = ("%s:linebuffer(%s, %s)"):format(stage.name, c.of.base.name, line.var),
    why = ("windows along %s share no element"):format(line.var), place = line.place }
end

-- Buffers an operand of a stage at a loop of its task, copied in the order of the tokens that `far` sends.
function chain:hold_at(c, place, stage, where, far)
  local known, copied = {}, {}
  for _, l in ipairs(self.s:loops()) do known[l] = true end
  local buffer = self:step(place, "buffer_at", self:array_of(c.of.base), where)
  for _, l in ipairs(self.s:loops()) do
    if not known[l] then copied[#copied + 1] = l end
  end
  if far then lanes.copied(self, c.of.base, c.main, far, stage, copied) end
  return buffer
end

-- Buffers an operand in a stage's task for its next neighbour, the innermost buffer first; returns the name of the
-- local, and the task that has it.
function chain:hold(c, stage, task, next_stage)
  local list, name = buffers_of(stage, c.of.base, c.main), self:array_of(c.of.base)
  local set = next_stage and check_removed(c, next_stage) or {}
  if #list == 0 then
    local buffer = self:hold_at(c, c.place, stage, self:held_at(c, task, next_stage, set), next_stage)
    self:hold_window(c, stage, task, buffer)
    return buffer, task
  end
  local buffer
  for n = #list, 1, -1 do
    local b = list[n]
    local where = self:period(c.main, b.var, task)
    if not where then directives.no_loop(b.place, "t2s-buffer", stage.name, b.var, c.main.tile_order) end
    buffer = self:hold_at(c, b.place, stage, where, next_stage)
    if n == #list then self:hold_window(c, stage, task, buffer) end
    if b.double then
      local fill = self:fresh(stage.name .. "_fill")
      local block = self:pass(b.place, task, buffer, fill, "device")
      self.filled[fill] = stage.name
      task = fill
      if not block then buffer = self:step(b.place, "buffer_at", name, self:innermost(task)) end
    end
  end
  return buffer, task
end

-- A producer chain, from the Func to the stage that loads.
function chain:produce(c, task, buffer)
  local near, cur, space = c.def, task, (unrolled(c.def))
  c.main = self.main[c.def]
  c.uses = directives.uses_of(c.main, c.of.base)
  for n = #c.stages, 1, -1 do
    local stage = c.stages[n]
    cur, space = self:feed(c, stage, near, cur, buffer, space)
    near = stage
    if n > 1 then buffer, cur = self:hold(c, stage, cur, c.stages[n - 1]) end
  end
end

--- The chain that F:buffer(F, v) stands for: what F's elements send is collected, then stored; nil where another Func
--- reads it, where it travels, or where nothing says so.
function chain:collector(def)
  local found
  for d in directives.each(def, "buffer") do
    if func.record(d.args[1]) == def then found = d end
  end
  if not found or self.main[def].carried or directives.buffer_of(def, def).register then return nil end
  for _, other in ipairs(self.funcs) do
    for _, s in ipairs(other ~= def and self.main[other].stages or {}) do
      if expr.any(s.rhs, function(y) return y.op == "ref" and y.base == def end) then return nil end
    end
  end
  local stage = { name = self:fresh(def.name .. "_buffer"), directives = { found }, stages = {} }
  return { of = expr.new { op = "ref", base = def, idx = {} }, stages = { stage }, place = found.place, def = def }
end

-- Makes the copy out of a stage's own buffer a task, which empties one bank while the other fills.
function chain:drained(c, place, task, buffer, stage)
  local name = self:fresh(stage.name .. "_drain")
  local block = self:pass(place, task, buffer, name, "device")
  self.filled[name] = stage.name
  if block then return name, buffer end
  return name, self:step(place, "buffer_at", self:array_of(c.of.base), self:innermost(name))
end

-- A consumer chain, from the Func to the stage that stores.
function chain:consume(c, task, buffer)
  local near, cur, space = c.def, task, (unrolled(c.def))
  c.main, c.uses = self.main[c.def], {}
  for n = #c.stages, 1, -1 do
    local stage = c.stages[n]
    cur, space = self:feed(c, stage, near, cur, buffer, space)
    near = stage
    local b = buffer_of(stage, c.of.base)
    if n > 1 or b then
      local m, where = c.main, self:innermost(cur)
      if b then
        where = self:period(m, b.var, cur)
        if not where then directives.no_loop(b.place, "t2s-buffer", stage.name, b.var, c.main.tile_order) end
      elseif c.stages[n - 1].host then where = self:period(m, m.tile_order[math.max(m.tile_depth, 1)].var, cur) end
      local place = b and b.place or c.place
      buffer = self:step(place, "buffer_at", self:array_of(c.of.base), where)
      if b and b.double then cur, buffer = self:drained(c, place, cur, buffer, stage) end
    end
  end
end

return chain
