-- vectorize: the innermost loop of a Func is lanes. A channel whose ends both have them carries them as one token;
-- where one end has them alone, or a clamp cuts tokens short, it stays a channel of elements, and the report says why.
local affine = require "tide.t2s.define.affine"
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"

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

-- The dimension of an operand that is along a loop, of which `x` is a tile, and how many it has; nil for none or
-- several.
local function along(main, base, x)
  local found, rank
  for _, s in ipairs(main.stages) do
    expr.walk(s.rhs, function(y)
      if y.op ~= "ref" or y.base ~= base then return end
      rank = #y.idx
      for d, i in ipairs(y.idx) do
        local uses = expr.any(i, function(v) return v.op == "var" and v.name == x.root end)
        local whole = i.op == "var" and (found == nil or found == d)
        if uses then found = whole and d or 0 end
      end
    end)
  end
  if found and found > 0 then return found, rank end
end

-- How many facts of sizes a schedule assumes.
local function assumptions(s)
  local _, n = tostring(s):gsub("tide%.assume%(", "")
  return n
end

-- Keeps that lanes reach n elements of arrays of a task along a dimension, and that it has tokens of them.
local function note(m, task, rank, dim, n)
  m.banked[#m.banked + 1] = { task = task, rank = rank, dim = dim, n = n }
  if rank ~= 1 then m.banked[#m.banked + 1] = { task = task, rank = 1, dim = 0, n = n } end
end

--- Makes the lanes of the channel from stage `far` to `near` innermost in the copy of an operand, whose loops,
--- outermost first, are those of its dimensions: it is sent in the order of tokens. What the copy fills gets a bank for
--- each lane.
function lanes.copied(m, base, main, far, near, loops)
  local x = lanes_of(m, near, main)
  if not x or x.n == 1 then return end
  local d, rank = along(main, base, x.loop)
  local k = d == rank and #loops or d == 1 and 1 or #loops == rank and d or nil
  if not k then return end
  note(m, near.name, #loops, k - 1, x.n)
  if not lanes_of(m, far, main) then return end
  note(m, far.name, rank, d - 1, x.n)
  if far.host or k == #loops then return end
  local known, order = assumptions(m.s), { table.unpack(loops, k + 1) }
  local ok, _, outer, inner = pcall(m.s.split, m.s, loops[k], x.n, { tail = "perfect" })
  if not ok then return end
  if assumptions(m.s) > known then return m.s:undo() end
  local task = loops[k]:match "^.*:" or ""
  local function full(name) return name:find(":", 1, true) and name or task .. name end
  table.insert(order, 1, full(outer))
  order[#order + 1] = full(inner)
  if not pcall(m.s.reorder, m.s, table.unpack(order)) then m.s:undo() end
end

-- Gives arrays that lanes reach at once a bank for each lane, and makes tokens registers.
local function bank(m)
  for _, a in ipairs(#m.banked > 0 and m.s:arrays().array or {}) do
    local task, dims = a.name:match "^(.-):", {}
    for n in a.type:gmatch "%[(.-)%]" do dims[#dims + 1] = math.tointeger(tonumber(n)) or 0 end
    for _, b in ipairs(m.banked) do
      local of = task == b.task or m.filled[task] == b.task
      local extent = of and #dims == b.rank and dims[b.dim + 1]
      if extent and (extent == 0 or extent >= b.n) and a.banks[b.dim + 1] == "in one bank" then
        local banks = extent == b.n and { kind = "complete" } or { factor = b.n }
        local ok, e = pcall(m.s.partition, m.s, a.name, b.dim, banks)
        if not ok and e.code ~= "partitioned" then error(e, 0) end
      end
    end
  end
end

--- Sums the lanes of a Func, whose results are an array in a task, in a register, where what it sums to is one element
--- for all of them.
function lanes.sum(m, def, task, array)
  local main = m.main[def]
  local x = lanes_of(m, def, main)
  if not x or x.n == 1 then return end
  note(m, task, 1, 0, x.n)
  for _, s in ipairs(main.stages) do
    for _, i in ipairs(s.lhs.idx) do
      if expr.any(i, function(v) return v.op == "var" and v.name == x.loop.root end) then return end
    end
  end
  for k = #main - 1, 1, -1 do
    local loop = m:has_loop(task, main[k])
    if loop then return pcall(m.s.buffer_at, m.s, task .. ":" .. array, loop) end
  end
end

-- Makes the tokens of a channel those of lanes; the reason why not, or nil.
local function widen(m, c, x)
  if not c.name then return "a memory channel carries blocks" end
  if c.base.kind == "func" then return "results leave element by element" end
  if not m.main[c[2]] and not along(c.nest, c.base, x.loop) then
    return ("%s is along no dimension of %s"):format(x.var, c.base.name)
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
  bank(m)
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
