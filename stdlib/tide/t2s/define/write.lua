-- A T2S definition as a kernel: its stages in text order, each a nest of its Vars, written in the printed form and
-- loaded. Arrays have the extents that the indices reach; what has a halo, is stored in part or is a stream is kept in
-- a local array first.
local affine = require "tide.t2s.define.affine"
local arrays = require "tide.t2s.define.arrays"
local banks = require "tide.t2s.define.banks"
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"
local extern = require "tide.t2s.define.extern"
local guard = require "tide.t2s.define.guard"
local port = require "tide.t2s.define.port"
local program = require "tide.t2s.define.program"
local tide = require "tide"

local write = {}

local fail = expr.fail

-- The text of a node where references are elements of the arrays of p.
local function text_of(p, x)
  return expr.text(x, function(r, idx)
    local a = p.arrays[r.base]
    local out = {}
    for n, t in ipairs(idx) do
      local shift = a.shift and a.shift[n] or 0
      out[n] = "[" .. (shift > 0 and t .. " + " .. shift or t) .. "]"
    end
    return a.name .. table.concat(out)
  end, function(v) return v.type and tostring(v.type) .. "(" .. v.name .. ")" or v.name end)
end

-- Whether a node is a test that the loops decide.
local function is_case(x)
  return not expr.any(x, function(y) return y.op == "ref" end)
end

-- The first select in a node that loops decide and whose arms read something.
local function case_in(x)
  local found
  expr.walk(x, function(y)
    if found then return false end
    if y.op == "fn" and y.name == "select" and is_case(y.args[1])
      and (not y.args[3] or expr.any(y, function(z) return z.op == "ref" end)) then
      found = y
      return false
    end
  end)
  return found
end

local MOST = 3 -- conditions of one line that become branches as they stand; more are taken apart

-- Tells a line's conditions apart: into the comparisons that they are made of where there are many, so that those of
-- one window share branches; the domain decides some.
local function conditions(w, rhs, domain)
  local n, seen = 0, {}
  expr.walk(rhs, function(y)
    local cond = y.op == "fn" and y.name == "select" and is_case(y.args[1]) and text_of(w.p, y.args[1])
    if cond and not seen[cond] then n = n + 1 end
    seen[cond or ""] = true
  end)
  return n > MOST and domain or nil
end

-- Writes target = rhs; cases that the loops decide become branches, so that no arm reads beyond an array. `known` has
-- what is decided, by text; `domain` is given where conditions are taken apart.
local function assign(w, target, rhs, indent, known, domain)
  local case = case_in(rhs)
  if not case then
    w.out(("%s%s = %s"):format(indent, target, text_of(w.p, rhs)), w.place)
    return
  end
  local function look(cond)
    local truth = known[text_of(w.p, cond)]
    if truth == nil and domain then truth = guard.truth(cond, domain, w.p.values) end
    return truth
  end
  local truth, open = guard.decide(case.args[1], look)
  if truth ~= nil then
    local chosen = case.args[truth and 2 or 3]
    local other = chosen and expr.map(rhs, function(y) return rawequal(y, case) and chosen or nil end)
    return other and assign(w, target, other, indent, known, domain)
  end
  local cond, out, rest = text_of(w.p, domain and open or case.args[1]), w.out, {}
  out(("%sif %s then"):format(indent, cond))
  known[cond] = true
  assign(w, target, rhs, indent .. "  ", known, domain)
  known[cond] = false
  w.out = function(line, place) rest[#rest + 1] = { line, place } end
  assign(w, target, rhs, indent .. "  ", known, domain)
  w.out, known[cond] = out, nil
  if #rest > 0 then out(indent .. "else") end
  for _, line in ipairs(rest) do out(line[1], line[2]) end
  out(indent .. "end")
end

-- A bound as text.
local function bound(p, x, less)
  local f = affine.of(x, p.values)
  if f and less then f = affine.sub(f, affine.form(1)) end
  if f then return (affine.text(f):gsub("'", "")) end
  x = expr.map(x, function(y)
    local size = y.op == "size" and affine.of(y, p.values)
    return size and affine.constant(size) and expr.lift(affine.constant(size)) or nil
  end)
  return less and text_of(p, x) .. " - 1" or text_of(p, x)
end

-- Writes the body of a stage: an assignment, or a call.
local function body(w, s, indent)
  local p = w.p
  w.place = s.place
  if s.call then
    local args = {}
    for n, a in ipairs(s.call.args) do args[n] = text_of(p, a) end
    w.out(("%s%s(%s)"):format(indent, s.call.port.name, table.concat(args, ", ")), s.place)
  else
    assign(w, text_of(p, s.lhs), s.rhs, indent, {}, conditions(w, s.rhs, s.domain))
  end
end

-- What the writers of stages that are no lines of the definition use.
local tools = { text_of = text_of, bound = bound, assign = assign }

-- Writes stages that share a nest.
local function nest(w, group)
  if group[1].custom then return group[1].custom.write(w, tools) end
  local first, indent = group[1], "    "
  local domain = first.call and first.call.whole and {} or first.domain
  for _, d in ipairs(domain) do
    w.out(("%sfor %s = %s, %s do"):format(indent, d.var.name, bound(w.p, d.lo), bound(w.p, d.hi, true)), first.place)
    indent = indent .. "  "
  end
  for _, s in ipairs(group) do
    local inner = indent
    for _, g in ipairs(s.guards) do
      w.out(("%sif %s then"):format(inner, g), s.place)
      inner = inner .. "  "
    end
    body(w, s, inner)
    for n = #s.guards, 1, -1 do w.out(indent .. ("  "):rep(n - 1) .. "end") end
  end
  for n = #domain, 1, -1 do w.out("    " .. ("  "):rep(n - 1) .. "end") end
end

local function extents_text(a)
  local out = {}
  for n, f in ipairs(a.extents) do out[n] = "[" .. affine.text(f) .. "]" end
  return table.concat(out)
end

-- Copies what is the result out of its local array.
local function copy_out(w, result)
  local a, r = w.p.arrays[result], w.p.result
  local from, to, indent = a.name, r.name, "    "
  for n, f in ipairs(r.loops) do
    local v = "at_" .. n
    if f.fixed then from = ("%s[%s]"):format(from, f.fixed)
    else
      w.out(("%sfor %s = 0, %s - 1 do"):format(indent, v, affine.text(f.extent)))
      indent = indent .. "  "
      from = ("%s[%s%s]"):format(from, v, (a.shift[n] or 0) > 0 and " + " .. a.shift[n] or "")
      to = ("%s[%s]"):format(to, v)
    end
  end
  if to == r.name then to = to .. "[0]" end
  w.out(("%s%s = %s"):format(indent, to, from), result.stages[1].place)
  while #indent > 4 do
    indent = indent:sub(3)
    w.out(indent .. "end")
  end
end

-- Writes the assumptions of which all names are known; one that does not hold is refused.
local function assumptions(w)
  local p = w.p
  for _, a in ipairs(p.assumptions) do
    local c = a.cond
    local left, right = c.a and affine.of(c.a, p.values), c.b and affine.of(c.b, p.values)
    local truth = left and right and affine.decide(c.op, left, right)
    if truth == false then
      fail(a.place, "t2s-assume", ("the assumption does not hold: %s is %s, %s is %s"):format(expr.text(c.a),
        affine.text(left), expr.text(c.b), affine.text(right)), nil, "illegal")
    end
    local affine_in = left and right or not c.a
    if truth == nil and affine_in and program.has_sizes(p, c) then
      w.out(("    tide.assume(%s)"):format(program.plain(c, p.values)))
    end
  end
end

-- Adds in front the locals that the text uses: types, and sizes by their names.
local function head(lines, p)
  local text, names, out = table.concat(lines, "\n"), {}, { 'local tide = require "tide"' }
  for word in text:gmatch "%f[%w_%.][%a_][%w_]*" do names[word] = true end
  for word in pairs(names) do
    local known = word:match "^[iuf]%d+$" or word == "bf16" or word == "bool"
    if known and pcall(function() return tide[word] end) then
      out[#out + 1] = ("local %s = tide.%s"):format(word, word)
    end
  end
  for name in pairs(p.sizes) do
    out[#out + 1] = p.values[name] and ("local %s = %d"):format(name, p.values[name])
      or ("local %s = tide.size %q"):format(name, name)
  end
  table.sort(out, function(a, b) return (a:find "require" and "" or a) < (b:find "require" and "" or b) end)
  return out
end

-- Writes the foreign functions and the kernels with ports that the stages call, each once.
local function ports(w)
  local seen = {}
  for _, s in ipairs(w.p.stages) do
    expr.walk(s.rhs, function(x)
      local f = x.op == "foreign" and x.foreign
      if f and seen[f.name] and seen[f.name] ~= f.text then
        fail(s.place, "t2s-name", ("two foreign functions are named %s"):format(f.name))
      end
      for line in (f and not seen[f.name] and f.text .. "\n" or ""):gmatch "(.-)\n" do w.out(line) end
      if f then seen[f.name] = f.text end
    end)
  end
  for _, c in ipairs(w.p.ports) do port.write(c.port, c.types, w.out) end
end

-- Loads the text; an error of it is told at the line of the definition that it comes from.
local function open(text, places, name)
  local chunk = assert(load(text, "=t2s." .. name, "t"))
  local ok, k = pcall(chunk)
  if ok then return k end
  local line = tonumber(tostring(k):match "^t2s[^\n]-:(%d+):")
  local place = line and places[line]
  if not place or type(k) ~= "userdata" and type(k) ~= "table" then error(k, 0) end
  fail(place, k.code or "t2s", k.message, k.help, ({ illegal = 1, usage = 1, unsupported = 1 })[k.kind] and k.kind)
end

-- Makes of the definition's program that of its PEs: externs are called, what data indexes has banks.
local function place_elements(p)
  p.taken = {}
  for _, a in ipairs(p.list) do p.taken[a.name] = true end
  for _, s in ipairs(p.stages) do
    for _, d in ipairs(s.domain) do p.taken[d.var.name] = true end
  end
  local scatter = false
  for _, s in ipairs(p.stages) do
    local placed = #p.ports > 0 or #(directives.unrolled(s.func)) > 0
    for _, k in ipairs(s.kinds) do scatter = scatter or k == "data" and placed end
  end
  local externs = extern.isolate(p)
  if scatter or #externs > 0 then
    p.placed = { externs = externs, inner = banks.make(p, program.node) }
  end
end

--- The kernel of a Func's definition, and the program that it was written from; `apart` gives its loops names of their
--- own, `placed` has externs and banks in it.
function write.kernel(def, consts, all, apart, placed)
  local p = program.open(def, consts, all, placed, apart and extern.narrow)
  if apart then program.rename(p) end
  if placed then place_elements(p) end
  local lines, places = {}, {}
  local function out(line, place)
    lines[#lines + 1] = line
    places[#lines] = place
  end
  local w = { p = p, out = out }
  ports(w)
  out(("local %s_kernel = tide.kernel {"):format(def.name))
  out(("  name = %q,"):format(def.name))
  local names = {}
  for _, q in ipairs(p.params) do
    names[#names + 1] = q.name
    local groups = p.apart[q.name]
    out(("  %s = %s,%s"):format(q.name, q.type, groups and (" --@ apart(%s)"):format(groups) or ""), q.place)
  end
  out(("  function(%s)"):format(table.concat(names, ", ")))
  assumptions(w)
  for _, a in ipairs(p.locals) do
    local zero = a.zero or a.base and arrays.is_covered(p, a) and "" or "0"
    out(("    local %s = %s%s(%s)"):format(a.name, tostring(a.type), extents_text(a), zero), a.place)
  end
  for _, group in ipairs(p.nests) do nest(w, group) end
  if p.result.copied then copy_out(w, def) end
  out "  end,"
  out "}"
  out(("return %s_kernel"):format(def.name))
  local first = head(lines, p)
  local moved = {}
  for n, place in pairs(places) do moved[n + #first] = place end
  for n, place in pairs(places) do
    if place.line > 0 and not lines[n]:find "%-%-@" and not lines[n]:match "[,{]$" then
      lines[n] = ("%s --@ at(%q, %d, %d)"):format(lines[n], place.name, place.line, place.column)
    end
  end
  local text = table.concat(first, "\n") .. "\n" .. table.concat(lines, "\n") .. "\n"
  return open(text, moved, def.name), p
end

return write
