-- What a definition's indices reach: affine forms in sizes and Vars, and their least and greatest values over a domain.
-- A form is {c = constant, t = {name = factor}}; `//` by a number stands as a name of its own. Vars are eliminated from
-- the innermost outwards, each by the bound that its factor's sign asks for, so triangles are exact. What is no affine
-- form is enumerated, which needs the values of its sizes.
local expr = require "tide.t2s.define.expr"

local affine = {}

local POINTS = 1000000

local function form(c, t) return { c = c, t = t or {} } end

local function add(a, b, sign)
  local t = {}
  for k, v in pairs(a.t) do t[k] = v end
  for k, v in pairs(b.t) do
    t[k] = (t[k] or 0) + sign * v
    if t[k] == 0 then t[k] = nil end
  end
  return form(a.c + sign * b.c, t)
end

local function scale(a, n)
  local t = {}
  if n ~= 0 then for k, v in pairs(a.t) do t[k] = v * n end end
  return form(a.c * n, t)
end

local function constant(a) return next(a.t) == nil and a.c or nil end
affine.constant, affine.form, affine.scale = constant, form, scale

function affine.sub(a, b) return add(a, b, -1) end
function affine.add(a, b) return add(a, b, 1) end

--- A form as Lua.
function affine.text(a)
  local names, out = {}, {}
  for k in pairs(a.t) do names[#names + 1] = k end
  table.sort(names)
  for _, k in ipairs(names) do
    local f = a.t[k]
    local item = (f == 1 or f == -1) and k or math.abs(f) .. " * " .. k
    out[#out + 1] = (#out > 0 and (f < 0 and " - " or " + ") or f < 0 and "-" or "") .. item
  end
  if a.c ~= 0 or #out == 0 then
    out[#out + 1] = #out > 0 and (a.c < 0 and " - " or " + ") .. math.abs(a.c) or tostring(a.c)
  end
  return table.concat(out)
end

-- The floor of a form by n > 0: what n divides, and the floor of the rest.
local function floor(a, n)
  local whole, rest = form(a.c // n), form(a.c % n)
  for k, v in pairs(a.t) do
    if v % n == 0 then whole.t[k] = v // n else rest.t[k] = v end
  end
  if not next(rest.t) then return whole end
  if not next(whole.t) then whole.c, rest.c = 0, a.c end
  return add(whole, form(0, { ["((" .. affine.text(rest) .. ") // " .. n .. ")"] = 1 }), 1)
end
affine.floor = floor

local of

-- Arithmetic on forms, for the text of sizes.
local arithmetic = {}
arithmetic.__index = arithmetic
local function wrap(a) return setmetatable(a, arithmetic) end
local function open(v) return type(v) == "number" and form(v) or v end
function arithmetic.__add(a, b) return wrap(add(open(a), open(b), 1)) end
function arithmetic.__sub(a, b) return wrap(add(open(a), open(b), -1)) end
function arithmetic.__unm(a) return wrap(scale(a, -1)) end
function arithmetic.__mul(a, b)
  a, b = open(a), open(b)
  return wrap(constant(a) and scale(b, a.c) or scale(a, b.c))
end
function arithmetic.__idiv(a, b) return wrap(floor(open(a), open(b).c)) end
function arithmetic.__mod(a, b) return wrap(add(open(a), scale(floor(open(a), open(b).c), open(b).c), -1)) end

-- The form of a size, whose names may have values.
local function of_size(size, values)
  local env = setmetatable({}, { __index = function(_, name)
    return wrap(values[name] and form(values[name]) or form(0, { [name] = 1 }))
  end })
  return open(load("return " .. tostring(size), "=size", "t", env)())
end

--- Calls fn with the names in a size.
function affine.names(size, fn)
  for name in tostring(size):gmatch "[%a_][%w_]*" do fn(name) end
end

local by = {
  ["+"] = function(a, b) return add(a, b, 1) end,
  ["-"] = function(a, b) return add(a, b, -1) end,
  ["*"] = function(a, b) return constant(a) and scale(b, a.c) or constant(b) and scale(a, b.c) or nil end,
  ["//"] = function(a, b) return constant(b) and b.c > 0 and floor(a, b.c) or nil end,
  ["%"] = function(a, b)
    local f = constant(b) and b.c > 0 and floor(a, b.c)
    return f and add(a, scale(f, b.c), -1) or nil
  end,
  ["<<"] = function(a, b) return constant(b) and b.c >= 0 and b.c < 63 and scale(a, 1 << b.c) or nil end,
  [">>"] = function(a, b) return constant(b) and constant(a) and form(a.c >> b.c) or nil end,
}

--- The form of a node, in names of sizes and in Vars (the nodes themselves), or nil.
function of(x, values)
  if x.op == "num" then return math.type(x.value) == "integer" and form(x.value) or nil end
  if x.op == "size" then return of_size(x.size, values) end
  if x.op == "var" then return form(0, { [x.name .. "'"] = 1 }) end
  if x.op == "neg" then
    local a = of(x.a, values)
    return a and scale(a, -1)
  end
  local op = by[x.op]
  local a, b = op and of(x.a, values), op and of(x.b, values)
  return a and b and op(a, b) or nil
end

affine.of = of

local choices = { max = 1, min = -1 } -- functions that give one of their operands: the greater, or the less

-- The value of a node where Vars and sizes have values; nil where something has none.
local function value(x, at, values)
  if x.op == "var" then return at[x.name] end
  if x.op == "num" then return x.value end
  if x.op == "size" then return constant(of_size(x.size, values)) end
  if x.op == "neg" then
    local a = value(x.a, at, values)
    return a and -a
  end
  if x.op == "fn" and choices[x.name] then
    local a, b = value(x.args[1], at, values), value(x.args[2], at, values)
    return a and b and math[x.name](a, b)
  end
  if not by[x.op] then return nil end
  local a, b = value(x.a, at, values), value(x.b, at, values)
  if not (a and b) then return nil end
  local r = by[x.op](form(a), form(b))
  return r and r.c
end

affine.value = value

-- Calls fn at every point of the domain; false where a bound has no value, or points are too many.
local function enumerate(domain, n, at, values, fn, left)
  if n > #domain then
    fn(at)
    left[1] = left[1] - 1
    return left[1] > 0
  end
  local d = domain[n]
  local lo, hi = value(d.lo, at, values), value(d.hi, at, values)
  if not (lo and hi) then return false end
  for v = lo, hi - 1 do
    at[d.var.name] = v
    if not enumerate(domain, n + 1, at, values, fn, left) then return false end
  end
  at[d.var.name] = nil
  return true
end

-- The Vars of the domain that a node needs, with those of their bounds, in order.
local function needed(x, domain)
  local has = {}
  local function look(y)
    if y.op == "var" then has[y.name] = true end
  end
  expr.walk(x, look)
  for n = #domain, 1, -1 do
    if has[domain[n].var.name] then
      expr.walk(domain[n].lo, look)
      expr.walk(domain[n].hi, look)
    end
  end
  local out = {}
  for _, d in ipairs(domain) do
    if has[d.var.name] then out[#out + 1] = d end
  end
  return out
end

-- The end of a form over the domain: sign 1 the greatest, -1 the least; nil if a bound is no form, or a name of its own
-- has a Var in it.
local function extreme_form(f, domain, sign, values)
  for n = #domain, 1, -1 do
    local d, key = domain[n], domain[n].var.name .. "'"
    local factor = f.t[key]
    if factor then
      local up = factor * sign > 0
      local bound = of(up and d.hi or d.lo, values)
      if not bound then return nil end
      if up then bound = add(bound, form(1), -1) end
      f = add(add(f, form(0, { [key] = factor }), -1), scale(bound, factor), 1)
    end
  end
  for k in pairs(f.t) do
    if k:find("'", 1, true) then return nil end
  end
  return f
end

affine.extreme_of = extreme_form

-- Whether a form is at least 0 where each size is at least 1.
function affine.is_positive(f)
  local least = f.c
  for _, v in pairs(f.t) do
    if v < 0 then return false end
    least = least + v
  end
  return least >= 0
end

-- The end of a max or min of two nodes: that of the operand which decides.
local function choice(x, domain, sign, values)
  local a, b = affine.extreme(x.args[1], domain, sign, values), affine.extreme(x.args[2], domain, sign, values)
  local way = choices[x.name]
  if a and b and affine.is_positive(scale(add(a, b, -1), way)) then return a end
  if a and b and affine.is_positive(scale(add(b, a, -1), way)) then return b end
  return way ~= sign and (a or b) or nil
end

-- The same by the operands of a node: exact but where they depend on one another.
local function by_operands(x, domain, sign, values)
  local n = x.op == "%" and of(x.b, values)
  if n and constant(n) and constant(n) > 0 then return form(sign > 0 and n.c - 1 or 0) end
  if x.op == "fn" and choices[x.name] then return choice(x, domain, sign, values) end
  if x.op ~= "+" and x.op ~= "-" then return nil end
  local minus = x.op == "-" and -1 or 1
  local a, b = affine.extreme(x.a, domain, sign, values), affine.extreme(x.b, domain, minus * sign, values)
  return a and b and add(a, b, minus)
end

--- The greatest (sign 1) or least (-1) value of a node over a domain, a list {var =, lo =, hi =}, as a form; nil and
--- the names that need values.
function affine.extreme(x, domain, sign, values)
  local f = of(x, values)
  f = f and extreme_form(f, domain, sign, values)
  if f then return f end
  local n = x.op == "//" and of(x.b, values)
  if n and constant(n) and constant(n) > 0 then
    local a = affine.extreme(x.a, domain, sign, values)
    if a then return floor(a, n.c) end
  end
  local best
  local whole = enumerate(needed(x, domain), 1, {}, values, function(at)
    local v = value(x, at, values)
    if v and (not best or (v - best) * sign > 0) then best = v end
  end, { POINTS })
  if whole and best then return form(best) end
  return by_operands(x, domain, sign, values)
end

--- Whether `a op b` holds of two forms; nil if their difference is no number.
function affine.decide(op, a, b)
  local d = affine.constant(affine.sub(a, b))
  if not d then return nil end
  if op == "==" then return d == 0 elseif op == "~=" then return d ~= 0 elseif op == "<" then return d < 0
  elseif op == "<=" then return d <= 0 elseif op == ">" then return d > 0 elseif op == ">=" then return d >= 0 end
end

return affine
