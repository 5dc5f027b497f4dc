-- The arrays of a T2S definition: what their indices reach, their extents and types; the tensors that kernels with
-- ports take.
local affine = require "tide.t2s.define.affine"
local expr = require "tide.t2s.define.expr"
local guard = require "tide.t2s.define.guard"
local tide = require "tide"

local arrays = {}

local fail, is_positive = expr.fail, affine.is_positive

-- Calls fn on each reference below a node.
function arrays.references(x, fn)
  expr.walk(x, function(y)
    if y.op == "ref" then fn(y) end
  end)
end

-- The greater of two scalar types: floats before integers, then the wider.
local function join(a, b)
  if not a or a == b then return b end
  local fa, fb = a.kind == "float", b.kind == "float"
  if fa ~= fb then return fa and a or b end
  return a.bits >= b.bits and a or b
end

-- The type of a Func: as declared, else what its right sides read, at least i32.
local function type_of(def, busy)
  if def.type then return def.type end
  busy = busy or {}
  if busy[def] then return nil end
  busy[def] = true
  local t
  for _, s in ipairs(def.stages) do
    if s.call then t = join(t, s.call.type) end
    expr.walk(s.rhs, function(y)
      if y.op == "cast" or y.op == "foreign" then
        t = join(t, y.type or y.foreign.type)
        return false
      end
      if y.op == "num" and math.type(y.value) == "float" then t = join(t, tide.f32) end
      if y.op == "call" then return false end
      if y.op == "ref" then
        local own = y.base.kind == "param" and y.base.type or y.base.kind == "func" and type_of(y.base, busy)
        if own then t = join(t, own) end
        return false
      end
    end)
  end
  busy[def] = nil
  if t and t.kind == "int" and t.bits < 32 then t = tide.i32 end
  return t or tide.i32
end

-- The greatest of forms, where each size is at least 1; nil if none is seen to be.
local function greatest(forms)
  for _, f in ipairs(forms) do
    local all = true
    for _, g in ipairs(forms) do all = all and is_positive(affine.sub(f, g)) end
    if all then return f end
  end
end

-- Notes the names of sizes in a form.
local function use_sizes(p, f)
  for k in pairs(f.t) do
    for name in k:gmatch "[%a_][%w_]*" do p.sizes[name] = true end
  end
end

-- Notes the names of sizes in a node.
function arrays.use_names(p, x)
  expr.walk(x, function(y)
    if y.op == "size" then affine.names(y.size, function(name) p.sizes[name] = true end) end
  end)
end

--- Whether a domain has a loop that never runs, whatever the sizes that have no values.
function arrays.is_empty(domain, values)
  for _, d in ipairs(domain) do
    local lo, hi = affine.of(d.lo, values), affine.of(d.hi, values)
    local trips = lo and hi and affine.constant(affine.sub(hi, lo))
    if trips and trips <= 0 then return true end
  end
  return false
end

-- The greatest (sign 1) or least values of an index of a stage, by its domain and by the facts of where it stands: one,
-- or those of operands that cannot be compared. None if one has none.
local function extremes(p, x, s, sign, facts)
  if x.op == "fn" and x.name == (sign > 0 and "max" or "min") then
    local list, more = extremes(p, x.args[1], s, sign, facts), extremes(p, x.args[2], s, sign, facts)
    return #list > 0 and #more > 0 and table.move(more, 1, #more, #list + 1, list) or {}
  end
  local best = affine.extreme(x, s.domain, sign, p.values)
  for _, f in ipairs(guard.ends(x, facts, s.domain, sign, p.values)) do
    if not best or is_positive(affine.scale(affine.sub(best, f), sign)) then best = f end
  end
  return { best }
end

-- Adds to an array the reach of an index in a dimension: 1 more than its greatest value.
local function reach(p, a, n, x, s, facts)
  a.reach[n] = a.reach[n] or {}
  if expr.any(x, function(y) return y.op == "ref" end) then return end
  local highest = extremes(p, x, s, 1, facts)
  if #highest == 0 and arrays.is_empty(s.domain, p.values) then return end
  if #highest == 0 then
    fail(s.place, "t2s-size", ("how far index %s of %s reaches is not affine in the sizes"):format(expr.text(x),
      a.base.name),
      "give them values: t2s.kernel(F, {..})")
  end
  local list = a.reach[n]
  for _, hi in ipairs(highest) do list[#list + 1] = affine.add(hi, affine.form(1)) end
  for _, lo in ipairs(extremes(p, x, s, -1, facts)) do
    local least = affine.constant(lo)
    if least and least < (a.low[n] or 0) then
      a.low[n] = least
      a.low_place = s.place
    end
  end
end

-- Adds to an array the reach of a stage's Var in a dimension before case splits: what lies beyond is a halo.
local function reach_inside(p, a, n, s)
  if s.kinds[n] == "constant" or expr.any(s.lhs.idx[n], function(y) return y.op == "ref" end) then return end
  local hi = affine.extreme(s.lhs.idx[n], s.whole, 1, p.values)
  if not hi then return end
  a.inside[n] = a.inside[n] or {}
  table.insert(a.inside[n], affine.add(hi, affine.form(1)))
end

-- Visits every read and write of a stage: fn(reference, whole, written, facts); facts are what conditions around it
-- say, if `values` are given.
function arrays.accesses(s, fn, values)
  if s.call then
    for _, a in ipairs(s.call.args) do
      if a.op == "ref" then
        fn(a, s.call)
        for _, x in ipairs(a.idx) do arrays.references(x, function(r) fn(r) end) end
      else arrays.references(a, function(r) fn(r) end) end
    end
    if not s.call.whole then return end
  elseif values then
    guard.references(s.rhs, s.domain, values, function(r, facts) fn(r, nil, nil, facts) end)
  else arrays.references(s.rhs, function(r) fn(r) end) end
  fn(s.lhs, nil, true)
  for _, x in ipairs(s.lhs.idx) do arrays.references(x, function(r) fn(r) end) end
end

-- The extents of the array of streams that a whole array is bound to in a call.
local function dims_of(call, r)
  for n, a in ipairs(call.args) do
    if rawequal(a, r) then return call.port.params[n].dims or {} end
  end
  return {}
end

-- The arrays of the program, with what is known of their extents.
function arrays.find(p)
  for _, s in ipairs(p.stages) do
    arrays.accesses(s, function(r, call, written, facts)
      local b = r.base
      local a = p.arrays[b]
      if not a then
        a = { base = b, name = b.name, reach = {}, low = {}, shift = {}, inside = {}, place = s.place }
        p.arrays[b] = a
        p.list[#p.list + 1] = a
      end
      if b.kind == "func" and not written and not call then return end
      for n, x in ipairs(r.idx) do
        reach(p, a, n, x, s, facts or {})
        if written then reach_inside(p, a, n, s) end
      end
      if call and #r.idx == 0 and b.kind == "param" then
        for n, d in ipairs(dims_of(call, r)) do
          a.reach[n + 1] = { affine.of(expr.lift(math.tointeger(tonumber(d)) or tide.size(d)), p.values) }
        end
      end
      if call and r.base == s.func then
        if not call.whole then
          local hi = affine.extreme(call.tokens, s.domain, 1, p.values)
          if not hi then
            fail(s.place, "t2s-size", ("how many tokens %s has is not affine in the sizes"):format(b.name),
              "give them values: t2s.kernel(F, {..})")
          end
          a.tokens = a.tokens or {}
          a.tokens[#a.tokens + 1] = hi
        end
      end
    end, p.values)
  end
end

-- A size that only a tensor tells.
local function free(p, name)
  p.sizes[name] = true
  return affine.form(0, { [name] = 1 })
end

--- The extent of dimension n of a result: without its halo.
function arrays.extent_inside(a, n)
  local f = affine.sub(a.extents[n], affine.form(a.shift[n]))
  return a.inside[n] and greatest(a.inside[n]) or f, f
end

--- Sets the extents of an array.
function arrays.set_extents(p, a)
  local b, rank = a.base, a.base.rank
  a.extents = {}
  for n = 1, rank do
    local forms, low = a.reach[n] or {}, a.low[n] or 0
    if low < 0 and b.kind == "param" then
      fail(a.low_place, "t2s-index", ("an index of %s goes down to %d"):format(b.name, low), "tensors begin at 0")
    end
    a.shift[n] = -low
    local f = #forms > 0 and greatest(forms) or #forms == 0 and a.told and a.told[n] or nil
    if not f then
      if b.kind == "func" and #forms > 0 then
        fail(a.place, "t2s-size", ("the lines of %s reach extents that cannot be compared: %s and %s"):format(b.name,
          affine.text(forms[1]), affine.text(forms[#forms])), "give the sizes values")
      end
      f = free(p, ("%s_%d"):format(b.name, n - 1))
      for _, other in ipairs(forms) do p.least[#p.least + 1] = { f, other, a.place } end
    end
    a.extents[n] = affine.add(f, affine.form(-low))
  end
  if b.stream then
    local f = a.tokens and greatest(a.tokens) or not a.tokens and free(p, b.name .. "_tokens")
    if not f then
      fail(a.place, "t2s-size", ("the tokens of %s cannot be compared"):format(b.name), "give the sizes values")
    end
    a.extents[rank + 1] = f
  end
  for _, f in ipairs(a.extents) do use_sizes(p, f) end
  a.type = b.kind == "func" and type_of(b) or b.type
end

function arrays.type_text(type, extents)
  local out = {}
  for n, f in ipairs(extents) do out[n] = "[" .. affine.text(f) .. "]" end
  return tostring(type) .. table.concat(out)
end

-- The tensor types of the parameters of each kernel that is called.
function arrays.port_types(p)
  for _, s in ipairs(p.stages) do
    if s.call then
      local o, types = s.call.port, {}
      for _, q in ipairs(o.params) do
        if q.stream then
          local dims = {}
          for n, d in ipairs(q.dims) do dims[n] = "[" .. d .. "]" end
          local tokens = q == s.call.written and s.call.whole and s.call.tokens
          local f = tokens and affine.of(tokens, p.values)
          local extent = f and affine.text(f) or ("tide.size %q"):format(o.name .. "_" .. q.name)
          types[q.name] = q.elem .. "[" .. extent .. "]" .. table.concat(dims)
        end
      end
      p.ports[#p.ports + 1] = { port = o, types = types }
    end
  end
end

--- Whether bounds are those of a dimension of some extent.
function arrays.is_whole(p, lo, hi, extent)
  local first, last = affine.of(lo, p.values), affine.of(hi, p.values)
  return first and last and affine.constant(first) == 0 and affine.constant(affine.sub(last, extent)) == 0
end

-- Whether a reference reads what line s wrote in an earlier iteration of its loops; nil where in the same one.
local function is_earlier(p, s, ref)
  for _, d in ipairs(s.domain) do
    for n, x in ipairs(s.lhs.idx) do
      local from, to = affine.of(x, p.values), affine.of(ref.idx[n], p.values)
      local by = from and to and affine.constant(affine.sub(to, from))
      if x.op == "var" and x.name == d.var.name and by ~= 0 then return by ~= nil and by < 0 end
    end
  end
end

-- The first line that writes a Func, if nothing reads an element of it before that is written.
local function first_line(p, base)
  local s, early = nil, false
  for _, group in ipairs(p.nests) do
    local inside = s == nil
    for _, x in ipairs(group) do
      if inside and not s and x.func == base then s = x end
    end
    local behind = false
    for _, x in ipairs(inside and group or {}) do
      early = early or x.call ~= nil
      arrays.references(x.rhs, function(y)
        if y.base ~= base then return end
        local earlier = s and is_earlier(p, s, y)
        early = early or not s or earlier == false or earlier == nil and not behind
      end)
      behind = behind or x == s
    end
  end
  return not early and s or nil
end

--- Whether the first line of a Func writes all elements of its array, each in an iteration of its own, before any is
--- read.
function arrays.is_covered(p, a)
  local s, seen = first_line(p, a.base), {}
  if not s or s.call or #s.guards > 0 or #a.extents ~= #s.lhs.idx then return false end
  for n, x in ipairs(s.lhs.idx) do
    local d
    for _, y in ipairs(s.domain) do d = x.op == "var" and y.var.name == x.name and y or d end
    local whole = d and not seen[d] and (a.shift[n] or 0) == 0 and arrays.is_whole(p, d.lo, d.hi, a.extents[n])
    if not whole then return false end
    seen[d] = true
  end
  return true
end

return arrays
