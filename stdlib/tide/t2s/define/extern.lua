-- define_extern: an isolated Func is a kernel. Its tensor parameters are the operands that are isolated into it, its
-- written streams their channels, both in the order of isolation. The program gets a call of the kernel in front of
-- what reads, and arrays of tokens between: [token][element of the reader].
local affine = require "tide.t2s.define.affine"
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local port = require "tide.t2s.define.port"
local tide = require "tide"

local extern = {}

local fail = expr.fail

local function refuse(place, text, help, kind) fail(place, "t2s-extern", text, help, kind) end

-- The Funcs of a program that have stages, each once.
local function funcs(p)
  local list, seen = {}, {}
  for _, s in ipairs(p.stages) do
    if not seen[s.func] then list[#list + 1] = s.func end
    seen[s.func] = true
  end
  return list
end

-- The one kernel that stands for a Func, and the place of the directive; nil for none.
local function kernel_of(def)
  local unit, place
  for d in directives.each(def, "define_extern") do
    if unit then refuse(d.place, ("%s is a kernel already"):format(def.name)) end
    unit, place = d.args[1], d.place
    if not (type(unit) == "userdata" and pcall(function() return #unit.params + #unit.sizes end)) then
      refuse(place, "define_extern takes a kernel with stream parameters")
    end
  end
  return unit, place
end

-- The operands that are isolated into externs: a list of {def =, unit =, place =, port =, operands = {chain..}}.
local function find(p)
  local list, by, all = {}, {}, {}
  for _, def in ipairs(funcs(p)) do
    local _, place = kernel_of(def)
    if place then
      refuse(place, ("%s computes: define_extern stands for a Func that others are isolated into"):format(def.name),
        nil, "unsupported")
    end
    for _, c in ipairs(directives.chains(def, "isolate_producer_chain")) do all[#all + 1] = c end
  end
  table.sort(all, function(a, b) return a.seq < b.seq end)
  for _, c in ipairs(all) do
    for _, stage in ipairs(c.stages) do
      local unit, place = kernel_of(stage)
      if unit and (#c.stages > 1 or stage.host) then
        refuse(place, ("%s is alone in its chain, on the device"):format(stage.name), nil, "unsupported")
      end
      if unit and not by[stage] then
        by[stage] = { def = stage, unit = unit, place = place, operands = {}, port = port.open(unit, p.values, place) }
        list[#list + 1] = by[stage]
      end
      if unit then table.insert(by[stage].operands, c) end
    end
  end
  return list
end

-- The parameters of an extern by kind, checked against its operands.
local function parameters(e)
  local tensors, streams = {}, {}
  for _, q in ipairs(e.port.params) do
    if q.stream and q.reads then refuse(e.place, ("kernel '%s' reads stream '%s'"):format(e.port.name, q.name)) end
    local list = q.stream and streams or tensors
    if not q.stream and q.type.kind ~= "tensor" then
      refuse(e.place, ("kernel '%s' takes scalar '%s'"):format(e.port.name, q.name), "a size outside the kernel",
        "unsupported")
    end
    list[#list + 1] = q
  end
  for what, list in pairs { tensors = tensors, streams = streams } do
    if #list ~= #e.operands then
      refuse(e.place, ("%d operands are isolated into %s, and kernel '%s' has %d %s"):format(#e.operands, e.def.name,
        e.port.name, #list, what), "a tensor and a stream for each, in the order of isolation")
    end
  end
  for n, c in ipairs(e.operands) do
    local base, q = c.of.base, tensors[n]
    local elem, extents = tostring(q.type):match "^(%w+)(.*)$"
    if base.kind ~= "param" or base.stream then
      refuse(c.place, ("%s is no Param of elements"):format(base.name), nil, "unsupported")
    end
    local _, rank = extents:gsub("%[", "")
    for _, t in ipairs { elem, streams[n].elem } do
      if t ~= tostring(base.type) or rank ~= base.rank then
        refuse(e.place, ("operand %d of %s is %s, %s of %d dimensions, and kernel '%s' has %s and %s"):format(n,
          e.def.name, base.name, tostring(base.type), base.rank, e.port.name, tostring(q.type),
          tostring(streams[n].type)), "parameters are in the order of isolation")
      end
    end
  end
  return tensors, streams
end

--- Gives Params the extents that externs say, where the definition leaves them open.
function extern.narrow(p)
  for _, e in ipairs(find(p)) do
    local tensors = parameters(e)
    for n, c in ipairs(e.operands) do
      local a, k = p.arrays[c.of.base], 0
      if a then
        a.told = a.told or {}
        for d in tostring(tensors[n].type):gmatch "%[(.-)%]" do
          k = k + 1
          local chunk = load("return " .. d, "=size", "t", setmetatable({}, { __index = function(_, name)
            return p.values[name] or tide.size(name)
          end }))
          a.told[k] = affine.of(expr.lift(chunk()), p.values)
        end
      end
    end
  end
end

-- The one stage of a Func that reads a Param, and the reference; other places are refused.
local function reading(p, c)
  local found, ref
  for _, s in ipairs(p.stages) do
    local function look(y)
      if y.op ~= "ref" or y.base ~= c.of.base then return end
      if ref and (found ~= s or expr.text(ref) ~= expr.text(y)) then
        refuse(c.place, ("%s reads %s in two places"):format(c.def.name, c.of.base.name), nil, "unsupported")
      end
      found, ref = s, y
    end
    if s.func == c.def then
      for _, a in ipairs(s.call and s.call.args or { s.rhs }) do expr.walk(a, look) end
    end
  end
  if not ref then refuse(c.place, ("%s reads no %s"):format(c.def.name, c.of.base.name)) end
  return found, ref
end

-- An index that begins at 0.
local function from_zero(d, p)
  local lo = affine.of(d.lo, p.values)
  if lo and affine.constant(lo) == 0 then return d.var end
  return expr.new { op = "-", a = d.var, b = d.lo }
end

-- The extents of a channel and the indices by which a stage reads it: token, then the elements of its Func.
local function shape(p, c, s, stream)
  if s.call then
    if #s.call.args == 0 or not s.call.whole then
      refuse(c.place, ("%s takes rows of %s"):format(c.def.name, c.of.base.name), nil, "unsupported")
    end
    return p.arrays[c.of.base].extents, {}
  end
  local space = directives.unrolled(c.def)
  local time, dims, idx = nil, {}, {}
  for n, d in ipairs(s.domain) do
    local k = directives.position(space, s.vars[n])
    if k then dims[k] = d
    elseif time then
      refuse(c.place, ("%s has loops %s and %s in time; one counts the tokens of %s"):format(c.def.name,
        time.var.name, d.var.name, c.of.base.name), nil, "unsupported")
    else time = d end
  end
  if not time then refuse(c.place, ("%s has no loop in time"):format(c.def.name)) end
  local extents = {}
  table.insert(dims, 1, time)
  for n, d in ipairs(dims) do
    local lo, hi = affine.of(d.lo, p.values), affine.of(d.hi, p.values)
    if not lo or not hi then refuse(c.place, ("how far %s goes is not affine"):format(d.var.name)) end
    extents[n], idx[n] = affine.sub(hi, lo), from_zero(d, p)
  end
  for n = 2, math.max(#extents, #stream.dims + 1) do
    local own, of = stream.dims[n - 1], extents[n] and affine.constant(extents[n])
    if tonumber(own) ~= of then
      refuse(c.place, ("%s has %s elements, and stream '%s' is %s"):format(c.def.name, of or "no",
        stream.name, tostring(stream.type)), "a stream for each element of the Func that reads")
    end
  end
  return extents, idx
end

-- The channel of an operand: an array that the reader's stage reads instead.
local function channel(p, e, c, stream)
  local s = reading(p, c)
  local extents, idx = shape(p, c, s, stream)
  local name, k = e.def.name .. "_" .. c.of.base.name, 0
  while p.taken[name] do
    k = k + 1
    name = ("%s_%s_%d"):format(e.def.name, c.of.base.name, k)
  end
  p.taken[name] = true
  local base = { kind = "func", name = name, rank = #extents, stages = {} }
  local a = { base = base, name = name, extents = extents, shift = {}, type = c.of.base.type, place = c.place }
  p.arrays[base] = a
  table.insert(p.locals, 1, a)
  local to = expr.new { op = "ref", base = base, idx = idx }
  local function swap(y) return y.op == "ref" and y.base == c.of.base and to or nil end
  if s.call then
    for n, x in ipairs(s.call.args) do s.call.args[n] = expr.map(x, swap) end
  else s.rhs = expr.map(s.rhs, swap) end
  e.channels[#e.channels + 1] = { base = c.of.base, stage = e.def, reader = c.def, name = name }
  return name
end

--- Puts the calls of externs into a program, in front of its nests; returns the externs.
function extern.isolate(p)
  local list = find(p)
  for n, e in ipairs(list) do
    local _, streams = parameters(e)
    local o, args, types = e.port, {}, {}
    p.calls[o.name] = (p.calls[o.name] or -1) + 1
    if p.calls[o.name] > 0 then o.name = o.name .. "_" .. p.calls[o.name] end
    e.channels = {}
    for k, c in ipairs(e.operands) do
      local q = streams[k]
      args[q.name] = channel(p, e, c, q)
      local dims = #q.dims > 0 and "[" .. table.concat(q.dims, "][") .. "]" or ""
      types[q.name] = ("%s[tide.size %q]%s"):format(q.elem, o.name .. "_" .. q.name, dims)
    end
    local text, k = {}, 0
    for _, q in ipairs(o.params) do
      if not q.stream then k = k + 1 end
      text[#text + 1] = args[q.name] or e.operands[k].of.base.name
    end
    p.ports[#p.ports + 1] = { port = o, types = types }
    local line = ("    %s(%s)"):format(o.name, table.concat(text, ", "))
    local s = { func = e.def, domain = {}, vars = {}, kinds = {}, guards = {}, place = e.place, rhs = expr.lift(0),
      custom = { tasks = { e.def.name }, axes = {}, write = function(w) w.out(line, e.place) end } }
    table.insert(p.nests, n, { s })
  end
  return list
end

return extern
