-- Recurrences: what a Func reads of itself, or an equation of the others of its system, is computed by then.
local affine = require "tide.t2s.define.affine"
local arrays = require "tide.t2s.define.arrays"
local cases = require "tide.t2s.define.cases"
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"

local recurrence = {}

local fail, references = expr.fail, arrays.references

-- The constant distance of each index of a read of the Func's own from the left side; nil where it is none.
local function distances(s, r)
  local out = {}
  for n, x in ipairs(r.idx) do
    local f = affine.of(x, {})
    local l = affine.of(s.lhs.idx[n], {})
    out[n] = f and l and affine.constant(affine.sub(l, f))
    if out[n] == nil then return nil end
  end
  return out
end

--- Refuses reads of the Func's own that come before what they read, or that nothing defines at the edge.
function recurrence.check(p, s)
  if s.kinds and not cases.generic(s.func) or s.call then return end
  local guarded = {}
  expr.walk(s.rhs, function(y)
    if y.op == "fn" and y.name == "select" then
      for n = 2, #y.args do references(y.args[n], function(r) guarded[r] = true end) end
    end
  end)
  references(s.rhs, function(r)
    local d = r.base == s.func and distances(s, r)
    if not d or guarded[r] then return end
    local first
    for n, v in ipairs(d) do
      if v ~= 0 and not first then first = v end
      if v > 0 and s.kinds[n] == "var" then
        local lo
        for _, e in ipairs(s.domain) do if e.var.name == s.lhs.idx[n].name then lo = affine.of(e.lo, p.values) end end
        for k = 1, v do
          local at, covered = lo and affine.sub(lo, affine.form(k)), not lo
          for _, o in ipairs(s.func.stages) do
            local c = o.kinds[n] == "constant" and affine.of(o.lhs.idx[n], p.values)
            covered = covered or c and at and affine.decide("==", c, at) or false
          end
          if not covered then
            fail(s.place, "t2s-base", ("%s reads %s, and nothing defines it where %s = %s"):format(s.func.name,
              expr.text(r), s.lhs.idx[n].name, affine.text(lo)),
              ("give a first value, as %s[..][%s].. = 0"):format(s.func.name, affine.text(at)))
          end
        end
      end
    end
    if first and first < 0 then
      fail(s.place, "t2s-order", ("%s reads %s, which is computed later"):format(s.func.name, expr.text(r)),
        "a recurrence reads elements of earlier iterations", "illegal")
    end
    if not first and s.seq == s.func.stages[1].seq then
      fail(s.place, "t2s-base", ("%s reads its own element before it has a value"):format(s.func.name),
        "a line in front gives the first value: " .. expr.text(s.lhs) .. " = 0")
    end
  end)
end

-- Whether a node is a select without a value where its condition does not hold.
local function is_partial(x) return x.op == "fn" and x.name == "select" and #x.args == 2 end

--- Refuses what an equation reads of the others of its system: what no iteration before has computed, or what keeps no
-- value where a condition does not hold.
function recurrence.check_system(s)
  references(s.rhs, function(r)
    if r.base == s.func or not (s.func.group and directives.position(s.func.group, r.base)) then return end
    local g = cases.generic(r.base)
    if not g then return end
    if is_partial(g.rhs) then
      fail(s.place, "t2s-merge", ("%s reads %s, which has no value where its condition does not hold"):format(
        s.func.name, r.base.name), "select(c, a, b): outputs alone leave out b")
    end
    local place = {}
    for n, x in ipairs(g.lhs.idx) do place[x.name] = n end
    for _, d in ipairs(s.whole) do
      local n = place[d.var.name]
      local at = n and affine.of(r.idx[n], {})
      local by = at and affine.constant(affine.sub(affine.of(d.var, {}), at))
      if n and at and not by and r.idx[n].op == "var" then
        fail(s.place, "t2s-order", ("%s reads %s: another iteration's, which may come later"):format(s.func.name,
          expr.text(r)), ("equations of one system read %s at constant distances"):format(r.base.name), "illegal")
      end
      if not by or by > 0 then return end
      if by < 0 then
        fail(s.place, "t2s-order", ("%s reads %s, which is computed later"):format(s.func.name, expr.text(r)),
          "a recurrence reads elements of earlier iterations", "illegal")
      end
    end
    if g.seq > s.seq then
      fail(s.place, "t2s-order", ("%s reads %s, which the same iteration computes later"):format(s.func.name,
        expr.text(r)), ("equations of one system run in text order: the line of %s comes first"):format(r.base.name),
        "illegal")
    end
  end)
end

return recurrence
