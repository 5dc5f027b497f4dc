-- F:compute_at(G, v): a Func is computed inside a loop of the one that reads it, by the same elements, as much as an
-- iteration of the loop needs and no more kept than that.
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local func = require "tide.t2s.define.func"

local merged = {}

local fail = expr.fail

-- Directives that a Func without elements of its own has no use for.
local needless = { "unroll", "space_time_transform", "isolate_producer_chain", "isolate_consumer_chain", "relay",
  "feed", "drain" }

--- Where a Func is computed, {into =, var =, place =}, or nil.
function merged.of(def)
  local found
  for d in directives.each(def, "compute_at") do
    if found then fail(d.place, "t2s-compute", ("%s is computed in %s already"):format(def.name, found.into.name)) end
    local into = func.record(d.args[1])
    if not into or into == def then
      fail(d.place, "t2s-compute", ("%s is computed in a loop of another Func"):format(def.name), "F:compute_at(G, v)")
    end
    found = { into = into, var = directives.var_name(d.args[2], d.place, "compute_at"), place = d.place }
  end
  if not found then return nil end
  for _, name in ipairs(needless) do
    for d in directives.each(def, name) do
      fail(d.place, "t2s-compute", ("%s is computed by the elements of %s: no %s of its own"):format(def.name,
        found.into.name, name))
    end
  end
  return found
end

--- The Funcs of a list that have elements of their own, and the others.
function merged.split(order)
  local own, others = {}, {}
  for _, def in ipairs(order) do
    local list = merged.of(def) and others or own
    list[#list + 1] = def
  end
  return own, others
end

-- Whether some stage reads a Func.
local function reads(nest, def)
  for _, s in ipairs(nest.stages) do
    if expr.any(s.rhs, function(y) return y.op == "ref" and y.base == def end) then return true end
  end
  return false
end

--- Moves Funcs into the loops that they are computed in, the last one first.
function merged.take(self, others)
  for n = #others, 1, -1 do
    local def = others[n]
    local at = merged.of(def)
    local nest = self.main[at.into]
    for reader, other in pairs(self.main) do
      if reader ~= def and reader ~= at.into and reads(other, def) then
        fail(at.place, "t2s-compute", ("%s reads %s, too"):format(reader.name, def.name),
          "what is computed in a loop is read there alone", "illegal")
      end
    end
    local k = nest and directives.position(nest, at.var, "var")
    if not k then directives.no_loop(at.place, "t2s-compute", at.into.name, at.var, nest or {}) end
    if k < (nest.space or #directives.unrolled(at.into)) then
      fail(at.place, "t2s-compute", ("%s is outside space loops of %s"):format(at.var, at.into.name),
        "each element computes what it needs: a loop at or inside the last space loop", "illegal")
    end
    self:place_stage(def)
    local array = self.program.arrays[def].name
    self:step(at.place, "compute_at", array, nest[k].loop)
    pcall(self.s.fold_storage, self.s, array) -- what is alive all along stays as it is
    local space = nest.space or #directives.unrolled(at.into)
    if space > 0 then self:step(at.place, "parallel", nest[space].loop) end -- its own in each element
  end
end

return merged
