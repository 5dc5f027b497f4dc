-- What goes from Func to Func of a mapping: the elements of one are sent by streams to the one that reads them, in the
-- order in which they are read; else the array is handed over when it is complete.
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"

local between = {}

local fail, position, unrolled = expr.fail, directives.position, directives.unrolled

--- The innermost of the first n loops of a nest that runs more than once.
function between.loop_at(nest, n)
  while n > 0 and not nest[n].loop do n = n - 1 end
  return n > 0 and nest[n].loop or nil
end

--- The outermost loop of a nest.
function between.first_loop(nest)
  for _, x in ipairs(nest) do
    if x.loop then return x.loop end
  end
end

-- Whether a Func's stages read another.
local function reads(nest, def)
  for _, s in ipairs(nest.stages) do
    if expr.any(s.rhs, function(y) return y.op == "ref" and y.base == def end) then return true end
  end
end

-- Whether two Funcs have the same tiles as far as either has loops in space, so that their PEs pair off.
local function are_paired(from, to, own, others)
  local last = 0
  for n, x in ipairs(from) do last = position(own, x.var) and n or last end
  for n, x in ipairs(to) do last = position(others, x.var) and math.max(n, last) or last end
  for n = 1, last do
    if not (from[n] and to[n]) or from[n].size ~= to[n].size then return false end
  end
  return true
end

-- Makes streams, as many as both have PEs, of what a Func sends to the one that reads it; returns their name.
local function pair(self, def, reader)
  local from, to, place = self.main[def], self.main[reader], self.main[reader].place
  local own, others, loops = unrolled(def), unrolled(reader), {}
  if not are_paired(from.tile_order, to.tile_order, own, others) then
    fail(place, "t2s-tile", ("the tiles of %s and %s differ"):format(def.name, reader.name), nil, "illegal")
  end
  local around = between.loop_at(from, from.depth)
  if from.depth < #from and not around then
    fail(place, "t2s-isolate", ("no loop is around all lines of %s"):format(def.name), "first values by a select",
      "illegal")
  end
  if from.depth < #from then self:step(from.place, "buffer_at", self:array_of(def), around) end
  local stream = self:step(place, "relay", self:array_of(def), between.first_loop(to))
  for n, x in ipairs(from.tile_order) do
    local y = to.tile_order[n]
    if position(own, x.var) or y and position(others, y.var) then loops[#loops + 1] = x.loop end
  end
  table.sort(loops, function(x, y)
    local function rank(l)
      return position(own, from.tile_order[position(from.tile_order, l, "loop")].var) or #own + 1
    end
    return rank(x) < rank(y)
  end)
  if #loops > 0 then self:step(place, "deal", stream, loops) end
  return stream
end

-- The elements of a Func go to the one that reads it: by streams where they are sent in the order in which they are
-- read, else all at once, which the report tells.
local function connect(self, def, reader)
  local before = self.s
  self.s = before:fork()
  local ok, made = pcall(pair, self, def, reader)
  if ok then return self:note_stream(def, def, reader, made) end
  if type(made) == "string" or made.kind ~= "illegal" and made.kind ~= "unsupported" then error(made, 0) end
  self.s = before
  self.left[#self.left + 1] = { what = ("%s to %s by channels"):format(def.name, reader.name), why = made.message,
    place = self.main[reader].place }
end

--- Connects the Funcs of a mapping, in the order in which they are computed, each with the first one that reads it.
function between.take(m, order)
  for n = 1, #order - 1 do
    local reader
    for k = n + 1, #order do
      if reads(m.main[order[k]], order[n]) then reader = reader or order[k] end
    end
    if reader then connect(m, order[n], reader) end
  end
end

return between
