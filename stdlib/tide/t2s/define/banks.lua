-- A Func that data indexes (y[at[c]] = y[at[c]] + ..) in PEs: each has a bank of its elements, with a flag for what it
-- wrote, and runs the lines that the loops in space are not in for itself; one task then stores each element from the
-- bank that was written. An element is taken to be of one bank: that is what the design is proved for.
local affine = require "tide.t2s.define.affine"
local arrays = require "tide.t2s.define.arrays"
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"

local banks = {}

local fail = expr.fail

local function refuse(place, text, help, kind) fail(place, "t2s-bank", text, help, kind) end

local function var(name) return expr.new { op = "var", name = name } end

-- A name that is not taken.
local function fresh(p, want)
  local name, n = want, 0
  while p.taken[name] do
    n = n + 1
    name = want .. "_" .. n
  end
  p.taken[name] = true
  return name
end

-- Whether data says which element a line writes.
local function is_scatter(s)
  for _, k in ipairs(s.kinds or {}) do
    if k == "data" then return true end
  end
  return false
end

-- The loops of a line: {var = its Var, name = in the text, lo =, trip = nodes, value = node of the Var}.
local function loops_of(p, s)
  local list = {}
  for n, d in ipairs(s.domain) do
    local lo, hi = affine.of(d.lo, p.values), affine.of(d.hi, p.values)
    list[n] = { var = s.vars[n], name = d.var.name, lo = d.lo, hi = d.hi,
      trip = lo and hi and affine.constant(affine.sub(hi, lo)) }
  end
  return list
end

-- Splits the loops of a line level by level; `by` gets the nodes of what was split.
local function tile(p, def, d, loops, by)
  local vars, sizes, n, levels = directives.levels(d, p.values)
  local first, block = nil, {}
  for l = 0, levels do block[l] = {} end
  for c = 1, n do
    local k = directives.position(loops, vars[c], "var")
    if k then
      first = math.min(first or k, k)
      local x, sum = loops[k], loops[k].lo
      local trip = x.trip
      for l = 0, levels do
        local size = l < levels and sizes[l * n + c] or 1
        if not trip or trip % size ~= 0 then
          refuse(d.place, ("%s of %s is not known to be divisible by %d"):format(vars[c], def.name, size),
            "its extent is made of Consts that the sizes of tile divide", "unsupported")
        end
        local y = { var = vars[l * n + c], name = l == 0 and x.name or fresh(p, vars[l * n + c]), lo = expr.lift(0),
          trip = trip // size }
        y.hi = expr.lift(y.trip)
        block[l][#block[l] + 1] = y
        local part = size > 1 and expr.new { op = "*", a = var(y.name), b = expr.lift(size) } or var(y.name)
        sum = expr.new { op = "+", a = sum, b = part }
        trip = size
      end
      for name, v in pairs(by) do
        by[name] = expr.map(v, function(z) return z.op == "var" and z.name == x.name and sum or nil end)
      end
      by[x.name] = by[x.name] or sum
      x.gone = true
    end
  end
  if not first then return end
  local out = {}
  for k, x in ipairs(loops) do
    if k == first then
      for l = 0, levels do table.move(block[l], 1, #block[l], #out + 1, out) end
    end
    if not x.gone then out[#out + 1] = x end
  end
  for k = 1, #out do loops[k] = out[k] end
end

-- Puts the named loops, innermost first, in the places that they hold.
local function reorder(d, loops)
  local places, list = {}, {}
  for n = d.args.n, 1, -1 do
    local k = directives.position(loops, directives.var_name(d.args[n], d.place, "reorder"), "var")
    if k then
      places[#places + 1] = k
      list[#list + 1] = loops[k]
    end
  end
  table.sort(places)
  for n, k in ipairs(places) do loops[k] = list[n] end
end

-- The loops of a line as the Func's tile and reorder order them, and nodes for the Vars that were split.
local function mapped(p, def, s)
  local loops, by = loops_of(p, s), {}
  for _, d in ipairs(def.directives) do
    if d.name == "tile" then tile(p, def, d, loops, by) elseif d.name == "reorder" then reorder(d, loops) end
  end
  return loops, by
end

-- Takes the loops in space out of a line's; they must all be there in one that data indexes, in others none.
local function take_axes(def, s, loops, space, place)
  local axes, rest = {}, {}
  for _, x in ipairs(loops) do
    local k = directives.position(space, x.var)
    if k then axes[k] = x else rest[#rest + 1] = x end
  end
  local n = 0
  for k = 1, #space do n = n + (axes[k] and 1 or 0) end
  if is_scatter(s) and n < #space then
    refuse(place, ("%s has no loop %s"):format(expr.text(s.lhs), table.concat(space, " and ")))
  end
  if not is_scatter(s) and n > 0 then
    refuse(place, ("%s is in space in a line of %s that data does not index"):format(space[1], def.name),
      nil, "unsupported")
  end
  for _, x in ipairs(axes) do
    if not x.trip then refuse(place, ("how many %s %s has is no constant"):format(x.var, def.name)) end
  end
  return axes, rest
end

-- Writes loops, what fn(indent) writes inside, and their ends.
local function nest(w, t, loops, indent, fn)
  local inner = indent
  for _, x in ipairs(loops) do
    w.out(("%sfor %s = %s, %s do"):format(inner, x.name, t.bound(w.p, x.lo), t.bound(w.p, x.hi, true)), w.place)
    inner = inner .. "  "
  end
  fn(inner)
  for _ in ipairs(loops) do
    inner = inner:sub(3)
    w.out(inner .. "end")
  end
end

-- Whether a line sets each element of a bank before any is read: plain indices, each over a whole dimension.
local function sets_all(p, b, one)
  local s = one.stage
  local reads = expr.any(s.rhs, function(y) return y.op == "ref" and y.base == s.func end)
  if is_scatter(s) or reads or #one.loops ~= #s.lhs.idx then return false end
  for n, x in ipairs(s.lhs.idx) do
    local to, loop = x.op == "var" and one.by[x.name] or x, one.loops[n]
    local whole = arrays.is_whole(p, loop.lo, loop.hi, b.array.extents[n])
    if not whole or to.op ~= "var" or to.name ~= loop.name then return false end
  end
  return true
end

-- Writes a line on the bank: its data indices are read once; `clears`: it sets the flags of its elements, too.
local function line(w, t, b, one, indent, clears)
  local s, own, idx = one.stage, expr.text(one.stage.lhs), {}
  local function sub(x) return expr.map(x, function(y) return y.op == "var" and one.by[y.name] or nil end) end
  w.place = s.place
  nest(w, t, one.loops, indent, function(inner)
    for n, x in ipairs(s.lhs.idx) do
      idx[n] = sub(x)
      if s.kinds[n] == "data" then
        local name = b.at[n]
        w.out(("%slocal %s = %s"):format(inner, name, t.text_of(w.p, idx[n])), s.place)
        idx[n] = var(name)
      end
    end
    local to = expr.new { op = "ref", base = b.base, idx = idx }
    local rhs = expr.map(s.rhs, function(y)
      return y.op == "ref" and y.base == s.func and expr.text(y) == own and to or nil
    end)
    t.assign(w, t.text_of(w.p, to), sub(rhs), inner, {})
    if (is_scatter(s) or clears) and #b.axes > 0 then
      local flag = t.text_of(w.p, expr.new { op = "ref", base = b.flag, idx = idx })
      w.out(("%s%s = %s"):format(inner, flag, tostring(not clears)), s.place)
    end
  end)
end

-- The loops over all elements of a bank, and the text of their indices.
local function elements(b)
  local loops, text = {}, {}
  for n, f in ipairs(b.array.extents) do
    loops[n] = { name = b.dim[n], lo = expr.lift(0), hi = b.node(f) }
    text[n] = "[" .. b.dim[n] .. "]"
  end
  return loops, table.concat(text)
end

local function extents_of(list)
  local out = {}
  for n, f in ipairs(list) do out[n] = "[" .. affine.text(f) .. "]" end
  return table.concat(out)
end

-- Writes the PEs: bank and flags, all lines, what goes to the task that stores.
local function write_elements(w, t, b)
  local pe, own, at = {}, extents_of(b.array.extents), {}
  for n, x in ipairs(b.axes) do
    pe[n] = { name = x.name, lo = x.lo, hi = x.hi }
    at[n] = "[" .. x.name .. "]"
  end
  w.place = b.place
  local function body(indent)
    local clears = sets_all(w.p, b, b.lines[1])
    w.out(("%slocal %s = %s%s(%s)"):format(indent, b.base.name, tostring(b.array.type), own, clears and "" or "0"),
      b.place)
    if #pe > 0 then
      w.out(("%slocal %s = bool%s(%s)"):format(indent, b.flag.name, own, clears and "" or "false"), b.place)
    end
    for n, one in ipairs(b.lines) do line(w, t, b, one, indent, clears and n == 1) end
    local loops, idx = elements(b)
    nest(w, t, loops, indent, function(inner)
      if #pe == 0 then
        w.out(("%s%s%s = %s%s"):format(inner, b.array.name, idx, b.base.name, idx), b.place)
        return
      end
      local to = table.concat(at) .. idx
      w.out(("%s%s%s = %s%s"):format(inner, b.sent, to, b.base.name, idx), b.place)
      w.out(("%s%s%s = %s%s"):format(inner, b.told, to, b.flag.name, idx), b.place)
    end)
  end
  if #pe > 0 then return nest(w, t, pe, "    ", body) end
  w.out "    do"
  body "      "
  w.out "    end"
end

-- Writes the task that stores: each element from the bank that was written, the first if none was. Where
-- several were, the run faults: how many is then the index of a place that is not there.
local function write_store(w, t, b)
  local loops, idx = elements(b)
  local pe, at, first = {}, {}, {}
  for n, x in ipairs(b.axes) do
    pe[n] = { name = b.pe[n], lo = x.lo, hi = x.hi }
    at[n], first[n] = "[" .. b.pe[n] .. "]", b.pe[n] .. " == 0"
  end
  w.place = b.place
  nest(w, t, loops, "    ", function(indent)
    w.out(("%slocal %s = %s(0)"):format(indent, b.value, tostring(b.array.type)), b.place)
    w.out(("%slocal %s = bool[2](false)"):format(indent, b.alone), b.place)
    w.out(("%slocal %s = i32(0)"):format(indent, b.writers), b.place)
    nest(w, t, pe, indent, function(inner)
      local from = table.concat(at) .. idx
      w.out(("%slocal %s = %s%s"):format(inner, b.one, b.sent, from), b.place)
      w.out(("%slocal %s = %s%s"):format(inner, b.has, b.told, from), b.place)
      w.out(("%sif %s or %s then"):format(inner, b.has, table.concat(first, " and ")), b.place)
      w.out(("%s  %s = %s"):format(inner, b.value, b.one), b.place)
      w.out(("%s  if %s then %s = %s + 1 end"):format(inner, b.has, b.writers, b.writers), b.place)
      w.out(inner .. "end")
    end)
    w.out(("%s%s[%s] = true"):format(indent, b.alone, b.writers), b.place)
    w.out(("%s%s%s = %s"):format(indent, b.array.name, idx, b.value), b.place)
  end)
end

-- Checks a line of a Func with banks: each element is made of itself alone.
local function check_line(s)
  local own = expr.text(s.lhs)
  if #s.guards > 0 then
    refuse(s.place, ("%s has cases, and a line that data indexes"):format(s.func.name), nil, "unsupported")
  end
  if expr.any(s.rhs, function(y) return y.op == "ref" and y.base == s.func and expr.text(y) ~= own end) then
    refuse(s.place, ("%s reads another element than it writes, and its PEs have banks"):format(s.func.name), nil,
      "illegal")
  end
end

-- The bank form of a Func: its nests become one.
local function make(p, def, groups, node)
  local space, place = directives.unrolled(def)
  local a, name = p.arrays[def], def.name
  local b = { lines = {}, axes = {}, array = a, node = node, at = {}, dim = {}, pe = {}, place = groups[1][1].place,
    inner = {} }
  if #space > 0 and not directives.buffer_of(def, def) then
    refuse(place, ("the PEs of %s write it where data says"):format(name), ("a bank each: %s:buffer(%s)"):format(name,
      name), "illegal")
  end
  for n = 1, def.rank do
    if (a.shift[n] or 0) > 0 then refuse(b.place, ("%s has a halo"):format(name), nil, "unsupported") end
    b.at[n], b.dim[n] = fresh(p, "at"), fresh(p, "element")
  end
  for _, group in ipairs(groups) do
    for _, s in ipairs(group) do
      check_line(s)
      local loops, by = mapped(p, def, s)
      local axes, rest = take_axes(def, s, loops, space, place or s.place)
      if is_scatter(s) then
        for n, x in ipairs(axes) do
          local was = b.axes[n]
          if was and was.trip ~= x.trip then refuse(s.place, "two lines have other extents in space") end
          if was then by[x.name] = var(was.name) else b.axes[n] = x end
        end
      end
      b.lines[#b.lines + 1] = { stage = s, loops = rest, by = by }
    end
  end
  b.base = { kind = "func", name = fresh(p, name .. "_bank") }
  b.flag = { kind = "func", name = fresh(p, name .. "_set") }
  p.arrays[b.base], p.arrays[b.flag] = { name = b.base.name, shift = {} }, { name = b.flag.name, shift = {} }
  b.value, b.one, b.has = fresh(p, "value"), fresh(p, "one"), fresh(p, "has")
  b.alone, b.writers = fresh(p, name .. "_in_one_bank"), fresh(p, "banks")
  if #space > 0 then
    b.sent, b.told = fresh(p, name .. "_banks"), fresh(p, name .. "_sets")
    local extents = {}
    for n, x in ipairs(b.axes) do
      b.pe[n] = fresh(p, "bank")
      extents[n] = affine.form(x.trip)
    end
    table.move(a.extents, 1, #a.extents, #extents + 1, extents)
    p.locals[#p.locals + 1] = { name = b.sent, type = a.type, extents = extents, place = b.place }
    p.locals[#p.locals + 1] = { name = b.told, type = "bool", zero = "false", extents = extents, place = b.place }
    b.inner = { b.sent, b.told }
  end
  return b
end

--- Gives banks to the Funcs of a program that data indexes; returns the streams that are inside such a Func.
function banks.make(p, node)
  local nests, inner, groups, last = {}, {}, {}, {}
  for n, group in ipairs(p.nests) do
    local def = group[1].func
    groups[def] = groups[def] or {}
    table.insert(groups[def], group)
    if is_scatter(group[1]) then groups[def].scatter = true end
    last[def] = n
  end
  for n, group in ipairs(p.nests) do
    local def = group[1].func
    if not groups[def].scatter then nests[#nests + 1] = group
    elseif n == last[def] then
      local b = make(p, def, groups[def], node)
      local axes, side = {}, {} -- the banks are read side by side
      for k, x in ipairs(b.axes) do
        axes[k] = x.name
        if x.trip > 1 then side[#side + 1] = b.pe[k] end
      end
      local tasks = #axes > 0 and { def.name .. "_pe", def.name .. "_store" } or { def.name }
      local s = { func = def, domain = {}, vars = {}, kinds = {}, guards = {}, place = b.place, rhs = expr.lift(0),
        custom = { tasks = tasks, axes = axes, side = side, write = function(w, t)
          write_elements(w, t, b)
          if #axes > 0 then write_store(w, t, b) end
        end } }
      nests[#nests + 1] = { s }
      table.move(b.inner, 1, #b.inner, #inner + 1, inner)
    end
  end
  p.nests = nests
  return inner
end

return banks
