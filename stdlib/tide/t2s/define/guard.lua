-- What the conditions of selects say of the indices in their arms: forms that are at least 0 there, by which an index
-- that would reach beyond a tensor does not.
local affine = require "tide.t2s.define.affine"
local expr = require "tide.t2s.define.expr"

local guard = {}

local inverse = { ["=="] = "~=", ["~="] = "==", ["<"] = ">=", [">="] = "<", [">"] = "<=", ["<="] = ">" }

-- The forms that are at least 0 where x op y holds of two forms; `==` and `<=` have them, `~=` at the end of a range.
local function of_test(op, x, y, ends)
  local d, one = affine.sub(x, y), affine.form(1)
  local minus = affine.sub(y, x)
  if op == "==" then return { d, minus } end
  if op == ">=" then return { d } end
  if op == ">" then return { affine.sub(d, one) } end
  if op == "<=" then return { minus } end
  if op == "<" then return { affine.sub(minus, one) } end
  local least, most = ends(d, -1), ends(d, 1)
  if least and affine.constant(least) == 0 then return { affine.sub(d, one) } end
  if most and affine.constant(most) == 0 then return { affine.sub(minus, one) } end
  return {}
end

-- A form that is at least 0 with the common divisor of its factors taken out.
local function reduced(f)
  local common = 0
  for _, v in pairs(f.t) do
    local a, b = common, v
    while b ~= 0 do a, b = b, a % b end
    common = math.abs(a)
  end
  return common > 1 and affine.floor(f, common) or f
end

-- Adds what holds where a condition is `truth`.
local function add(facts, cond, truth, values, ends)
  local op = cond.op
  if op == "not" then return add(facts, cond.a, not truth, values, ends) end
  if op == "&" and truth or op == "|" and not truth then
    add(facts, cond.a, truth, values, ends)
    return add(facts, cond.b, truth, values, ends)
  end
  if not inverse[op] then return end
  local x, y = affine.of(cond.a, values), affine.of(cond.b, values)
  for _, f in ipairs(x and y and of_test(truth and op or inverse[op], x, y, ends) or {}) do
    facts[#facts + 1] = reduced(f)
  end
end

--- Whether a comparison holds over all of a domain (true), nowhere (false), or that is not known (nil).
function guard.truth(cond, domain, values)
  local x = inverse[cond.op] and affine.of(cond.a, values)
  local y = x and affine.of(cond.b, values)
  if not y then return nil end
  local function ends(f, sign) return affine.extreme_of(f, domain, sign, values) end
  local function always(op)
    if op == "~=" then return always "<" or always ">" end
    for _, f in ipairs(of_test(op, x, y, ends)) do
      local least = ends(f, -1)
      if not (least and affine.is_positive(least)) then return false end
    end
    return true
  end
  if always(cond.op) then return true end
  if always(inverse[cond.op]) then return false end
end

--- Whether a condition holds, by look(cond) of it or of what `&`, `|` and `~` make it of; else nil, and a part of it
--- that look does not know.
function guard.decide(cond, look)
  local truth = look(cond)
  if truth ~= nil then return truth end
  if cond.op == "not" then
    local inner, open = guard.decide(cond.a, look)
    if inner ~= nil then return not inner end
    return nil, open
  end
  if cond.op ~= "&" and cond.op ~= "|" then return nil, cond end
  local absorbs = cond.op == "|"
  local a, first = guard.decide(cond.a, look)
  local b, second = guard.decide(cond.b, look)
  if a == absorbs or b == absorbs then return absorbs end
  if a ~= nil and b ~= nil then return not absorbs end
  return nil, first or second
end

--- Calls fn(reference, facts) on each reference below a node; `domain` has its Vars.
function guard.references(x, domain, values, fn)
  local function ends(f, sign) return affine.extreme_of(f, domain, sign, values) end
  local function walk(y, facts)
    if y.op == "ref" then fn(y, facts) end
    local chosen = y.op == "fn" and y.name == "select" and expr.is_test(y.args[1])
    for n, z in ipairs(expr.operands(y)) do
      local inner = facts
      if chosen and n > 1 then
        inner = table.move(facts, 1, #facts, 1, {})
        add(inner, y.args[1], n == 2, values, ends)
      end
      walk(z, inner)
    end
  end
  walk(x, {})
end

-- Calls fn with the form of an index, and with what makes of its end that of the index: `//` by a number does not
-- change which end is the greatest.
local function inside(x, values, fn)
  local n = x.op == "//" and affine.of(x.b, values)
  n = n and affine.constant(n)
  if n and n > 0 then
    return inside(x.a, values, function(f, back) fn(f, function(e) return affine.floor(back(e), n) end) end)
  end
  local f = affine.of(x, values)
  if f then fn(f, function(e) return e end) end
end

--- The end of an index by each fact that bounds it: forms of which the closest holds; sign 1 the greatest value.
function guard.ends(x, facts, domain, sign, values)
  local out = {}
  inside(x, values, function(f, back)
    for _, g in ipairs(facts) do
      for _, d in ipairs(domain) do
        local key = d.var.name .. "'"
        local a, b = f.t[key], g.t[key]
        local e = a and b and a % b == 0 and a // b * sign < 0
          and affine.extreme_of(affine.sub(f, affine.scale(g, a // b)), domain, sign, values)
        if e then out[#out + 1] = back(e) end
      end
    end
  end)
  return out
end

return guard
