-- Case splits: lines that give single elements, as A[0] = 1, are taken from the domain of the generic line.
local affine = require "tide.t2s.define.affine"
local arrays = require "tide.t2s.define.arrays"
local expr = require "tide.t2s.define.expr"

local cases = {}

--- The stage of a Func that has a Var in each dimension; nil where none has.
function cases.generic(def)
  for _, s in ipairs(def.stages) do
    local all = true
    for _, k in ipairs(s.kinds) do all = all and k == "var" end
    if all then return s end
  end
end

-- Whether a stage reads the element that it writes.
local function reads_own(s)
  local own, left = false, expr.text(s.lhs)
  arrays.references(s.rhs, function(r) own = own or r.base == s.func and expr.text(r) == left end)
  return own
end

--- Takes the elements of case splits from the domain of a generic stage: an edge is cut off, the rest guarded.
function cases.split(p, def)
  local g = cases.generic(def)
  if not g then return end
  local points = {}
  for _, s in ipairs(def.stages) do
    local coords = {}
    for n, k in ipairs(s.kinds) do
      local x = s.lhs.idx[n]
      if k == "constant" then coords[#coords + 1] = { dim = n, at = affine.of(x, p.values), node = x } end
    end
    if #coords > 0 and not reads_own(s) then points[#points + 1] = { coords = coords, place = s.place } end
  end
  for _, s in ipairs(def.stages) do
    local all = true
    for _, k in ipairs(s.kinds) do all = all and k == "var" end
    if all then
      local left = {}
      for _, point in ipairs(points) do left[#left + 1] = point end
      local changed = true
      while changed do
        changed = false
        for n = #left, 1, -1 do
          local outside, tests, edge = false, {}, nil
          for _, c in ipairs(left[n].coords) do
            local d
            for _, e in ipairs(s.domain) do if e.var.name == s.lhs.idx[c.dim].name then d = e end end
            local lo, hi = affine.of(d.lo, p.values), affine.of(d.hi, p.values)
            if c.at and lo and affine.decide("<", c.at, lo) or c.at and hi and affine.decide(">=", c.at, hi) then
              outside = true
            end
            tests[#tests + 1] = ("%s ~= %s"):format(d.var.name, expr.text(c.node))
            if #left[n].coords == 1 and c.at then
              if lo and affine.decide("==", c.at, lo) then edge = { d, "lo", 1 }
              elseif hi and affine.decide("==", c.at, affine.sub(hi, affine.form(1))) then edge = { d, "hi", -1 } end
            end
          end
          if outside then table.remove(left, n)
          elseif edge then
            local d, key, by = edge[1], edge[2], edge[3]
            d[key] = expr.new { op = "+", a = d[key], b = expr.lift(by) }
            table.remove(left, n)
            changed = true
          else left[n].guard = table.concat(tests, " or ") end
        end
      end
      for _, point in ipairs(left) do s.guards[#s.guards + 1] = point.guard end
    end
  end
end

return cases
