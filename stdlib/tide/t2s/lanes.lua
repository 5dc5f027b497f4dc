-- vectorize: the innermost loop of a Func is lanes. A channel whose ends both have them carries them as one token;
-- where one end has them alone, or a clamp cuts tokens short, it stays a channel of elements, and the report says why.
local affine = require "tide.t2s.affine"
local directives = require "tide.t2s.directives"
local expr = require "tide.t2s.expr"

local lanes = {}

local fail, position = expr.fail, directives.position

local function refuse(place, text, help, kind) fail(place, "t2s-vectorize", text, help, kind) end

-- How often a loop of a Func's nest runs: a number, or nil.
local function extent(m, x)
  if x.size then return x.size end
  local lo, hi = x.lo and affine.of(x.lo, m.values), x.hi and affine.of(x.hi, m.values)
  return lo and hi and affine.constant(affine.sub(hi, lo))
end

-- The Var that a Func's directive vectorizes: its name and place; nil for none.
local function vectorized(def)
  local name, place
  for d in directives.each(def, "vectorize") do
    if name then refuse(d.place, ("%s has lanes already: %s"):format(def.name, name), "one loop is vectorized") end
    if d.args.n ~= 1 then refuse(d.place, "vectorize takes one Var", ("%s:vectorize(kkk)"):format(def.name)) end
    name, place = directives.var_name(d.args[1], d.place, "vectorize"), d.place
  end
  return name, place
end

-- The lanes of a Func, whose nest is `main` or that of the Func that it is isolated from: {var =, loop = entry, n =,
-- place =}, or nil.
local function lanes_of(m, def, main)
  local name, place = vectorized(def)
  if not name then return nil end
  local k = position(main, name, "var")
  if not k or directives.removed(def)[name] then
    refuse(place, ("%s has no loop %s"):format(def.name, name), "the innermost loop of the Func is vectorized")
  end
  if position(directives.unrolled(main.func or def), name) then
    refuse(place, ("%s of %s is in space"):format(name, def.name), "a loop in time is vectorized")
  end
  local n = extent(m, main[k])
  if not n then
    refuse(place, ("how often %s runs is not known"):format(name), "a Const, or the size of a tile, bounds it")
  end
  if k ~= #main then
    refuse(place, ("%s is not the innermost loop of %s"):format(name, def.name),
      ("%s is: reorder, or vectorize that"):format(main[#main].var), "unsupported")
  end
  return { var = name, loop = main[k], n = n, place = place }
end

-- Whether the innermost dimension of an operand is along a loop, of which `x` is a tile.
local function along(main, base, x)
  local whole = false
  for _, s in ipairs(main.stages) do
    expr.walk(s.rhs, function(y)
      local last = y.op == "ref" and y.base == base and y.idx[#y.idx]
      whole = whole or last and last.op == "var" and last.name == x.root
    end)
  end
  return whole
end

-- Makes the tokens of a channel those of lanes; the reason why not, or nil.
local function widen(m, c, x)
  if not c.name then return "a memory channel carries blocks" end
  if c.base.kind == "func" then return "results leave element by element" end
  if not m.main[c[2]] and not along(c.nest, c.base, x.loop) then
    return ("%s goes row by row, and %s is not along its rows"):format(c.base.name, x.var)
  end
  local ok, e = pcall(m.s.vectorize, m.s, c.name, { lanes = x.n })
  if ok then return nil end
  if type(e) == "string" or e.code ~= "lanes" then m.fail_at(x.place, e) end
  return e.message
end

--- Makes tokens of lanes in the channels of a mapping; m.left says what stays element by element.
function lanes.apply(m, order)
  local list, found, done, why = {}, {}, {}, {}
  local function look(def, main)
    if found[def] ~= nil or not main then return end
    list[#list + 1] = def
    found[def] = lanes_of(m, def, main) or false
  end
  for _, def in ipairs(order) do look(def, m.main[def]) end
  for _, c in ipairs(m.streams) do
    for n = 1, 2 do look(c[n], m.main[c[n]] or c.nest) end
    local x, y = found[c[1]], found[c[2]]
    if x and y and x.n == 1 and y.n == 1 then done[c[1]], done[c[2]] = true, true
    elseif x and y then
      local reason = x.n ~= y.n and "its ends have different lanes" or widen(m, c, x)
      if reason then why[c[1]] = reason else done[c[1]], done[c[2]] = true, true end
    end
  end
  for _, def in ipairs(list) do
    local x = found[def]
    if x and (why[def] or not done[def]) then
      m.left[#m.left + 1] = { what = ("%s:vectorize(%s)"):format(def.name, x.var), place = x.place,
        why = why[def] or "no channel of it has lanes at both ends" }
    end
  end
end

--- Refuses lanes where Funcs are kernels.
function lanes.refuse(order)
  for _, def in ipairs(order) do
    local name, place = vectorized(def)
    if name then refuse(place, ("%s is among Funcs that are kernels"):format(def.name), nil, "unsupported") end
  end
end

return lanes
