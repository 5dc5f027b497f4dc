-- A plain kernel as a T2S definition: its printed form is read line by line; an element that a nest writes becomes a
-- Func, a scalar that an inner loop adds to a Func over the loops around, branches become selects. What has no such
-- form (an element written twice by one nest, a while, a call) is refused at its line.
local expr = require "tide.t2s.define.expr"

local lift = {}

-- ---- expressions: trees {op =, ..} of the printed form

local levels = { { "or" }, { "and" }, { "<", ">", "<=", ">=", "~=", "==" }, { "|" }, { "~" }, { "&" }, { "<<", ">>" },
  { "+", "-" }, { "*", "//", "%", "/" } }

local function refuse(w, text, help)
  local message = ("%s has no T2S definition: line '%s' %s"):format(w.name, w.line, text)
  expr.fail(nil, "t2s-lift", message, help, "unsupported")
end

-- The words of a text.
local function tokens(w, text)
  local out, at = {}, 1
  while at <= #text do
    local from, to = text:find("^%s+", at)
    if from then at = to + 1 end
    if at > #text then break end
    local word = text:match("^%d+%.?%d*[eE]?[%+%-]?%d*", at) or text:match("^[%a_][%w_%.]*", at)
    if word and word:match "^%d" then word = text:match("^%d+%.%d+[eE][%+%-]?%d+", at) or text:match("^%d+%.%d+", at)
      or text:match("^%d+", at) end
    word = word or text:match("^[<>=~]=", at) or text:match("^//", at) or text:match("^<<", at) or text:match("^>>", at)
      or text:match("^[%+%-%*/%%&|~<>%(%)%[%],]", at)
    if not word then refuse(w, "is not read at '" .. text:sub(at) .. "'") end
    out[#out + 1] = word
    at = at + #word
  end
  return out
end

local binary

local function unary(w, t)
  local word = t[t.at]
  if word == "not" or word == "-" or word == "~" then
    t.at = t.at + 1
    return { op = "unary", word = word, a = unary(w, t) }
  end
  t.at = t.at + 1
  if word == "(" then
    local x = binary(w, t, 1)
    t.at = t.at + 1
    return x
  end
  if not word then refuse(w, "ends early") end
  if word:match "^%d" then return { op = "num", text = word } end
  if word == "true" or word == "false" then return { op = "num", text = word } end
  if t[t.at] == "(" then
    local call = { op = "call", name = word, args = {} }
    repeat
      t.at = t.at + 1
      call.args[#call.args + 1] = binary(w, t, 1)
    until t[t.at] ~= ","
    t.at = t.at + 1
    return call
  end
  local ref = { op = "ref", name = word, idx = {} }
  while t[t.at] == "[" do
    t.at = t.at + 1
    ref.idx[#ref.idx + 1] = binary(w, t, 1)
    t.at = t.at + 1
  end
  return ref
end

function binary(w, t, level)
  if level > #levels then return unary(w, t) end
  local a = binary(w, t, level + 1)
  local again = true
  while again do
    again = false
    for _, op in ipairs(levels[level]) do
      if t[t.at] == op then
        t.at = t.at + 1
        a, again = { op = "binary", word = op, a = a, b = binary(w, t, level + 1) }, true
        break
      end
    end
  end
  return a
end

local function parse(w, text)
  local t = tokens(w, text)
  t.at = 1
  local x = binary(w, t, 1)
  if t[t.at] then refuse(w, "is not read at '" .. t[t.at] .. "'") end
  return x
end

-- A tree with others for what fn says.
local function map(x, fn)
  local other = fn(x)
  if other then return other end
  local copy = {}
  for k, v in pairs(x) do copy[k] = v end
  if copy.a then copy.a = map(copy.a, fn) end
  if copy.b then copy.b = map(copy.b, fn) end
  for _, key in ipairs { "idx", "args" } do
    if copy[key] then
      local list = {}
      for n, y in ipairs(copy[key]) do list[n] = map(y, fn) end
      copy[key] = list
    end
  end
  return copy
end

local tests = { ["=="] = "eq", ["~="] = "ne", ["<"] = "lt", ["<="] = "le", [">"] = "gt", [">="] = "ge" }
local turned = { ["=="] = "==", ["~="] = "~=", ["<"] = ">", ["<="] = ">=", [">"] = "<", [">="] = "<=" }
local logic = { ["and"] = "&", ["or"] = "|" }

local show

local function list(w, items)
  local out = {}
  for n, y in ipairs(items) do out[n] = show(w, y) end
  return table.concat(out, ", ")
end

local function closed(w, x)
  local text = show(w, x)
  return (x.op == "binary" and not tests[x.word] or x.op == "unary") and "(" .. text .. ")" or text
end

-- A tree in the words of a definition.
function show(w, x)
  if x.op == "num" then return x.text end
  if x.op == "ref" then
    local out = { x.name }
    for n, y in ipairs(x.idx) do out[n + 1] = "[" .. show(w, y) .. "]" end
    return table.concat(out)
  end
  if x.op == "call" then
    local word = x.name == "tide.select" and "t2s.select" or x.name
    local type = word:match "^[iuf]%d+$" or word == "bf16" or word == "bool"
    if type and x.args[1].op == "num" then return ("t2s.cast(tide.%s, %s)"):format(word, list(w, x.args)) end
    if type then word = "tide." .. word end
    return ("%s(%s)"):format(word, list(w, x.args))
  end
  if x.op == "unary" then return (x.word == "not" and "~" or x.word) .. closed(w, x.a) end
  if tests[x.word] then
    if x.a.op == "num" then return ("%s:%s(%s)"):format(closed(w, x.b), tests[turned[x.word]], show(w, x.a)) end
    return ("%s:%s(%s)"):format(closed(w, x.a), tests[x.word], show(w, x.b))
  end
  return ("%s %s %s"):format(closed(w, x.a), logic[x.word] or x.word, closed(w, x.b))
end

-- ---- statements

local function num(n) return { op = "num", text = tostring(n) } end

-- x + n as a tree, sums with numbers folded.
local function plus(x, n)
  if n == 0 then return x end
  if x.op == "num" and math.tointeger(tonumber(x.text)) then return num(math.tointeger(tonumber(x.text)) + n) end
  if x.op == "binary" and (x.word == "+" or x.word == "-") and x.b.op == "num" then
    local k = math.tointeger(tonumber(x.b.text)) * (x.word == "+" and 1 or -1) + n
    if k == 0 then return x.a end
    return { op = "binary", word = k > 0 and "+" or "-", a = x.a, b = num(math.abs(k)) }
  end
  return { op = "binary", word = n > 0 and "+" or "-", a = x, b = num(math.abs(n)) }
end

-- The Var and the number of an index Var + number; nil of another.
local function offset(w, x)
  if x.op == "ref" and w.vars[x.name] and #x.idx == 0 then return x.name, 0 end
  local sum = x.op == "binary" and (x.word == "+" or x.word == "-") and x.b.op == "num"
  if sum and x.a.op == "ref" and w.vars[x.a.name] then
    return x.a.name, math.tointeger(tonumber(x.b.text)) * (x.word == "+" and 1 or -1)
  end
end

-- An expression of the kernel with loops from 0 and scalars as what they are.
local resolve
function resolve(w, x)
  return map(x, function(y)
    local sum = y.op == "binary" and (y.word == "+" or y.word == "-") and y.b.op == "num" and y.b.text:match "^%d+$"
    if sum then return plus(resolve(w, y.a), math.tointeger(tonumber(sum)) * (y.word == "+" and 1 or -1)) end
    if y.op ~= "ref" then return nil end
    if #y.idx == 0 then
      local s, shift = w.scalars[y.name], w.shift[y.name]
      if shift and shift ~= 0 then return plus({ op = "ref", name = y.name, idx = {} }, shift) end
      if not s then return nil end
      if not s.func then return s.value end
      local idx = {}
      for n = 1, s.depth do idx[n] = { op = "ref", name = w.loops[n].name, idx = {} } end
      return { op = "ref", name = y.name, idx = idx }
    end
    local idx = {}
    for n, z in ipairs(y.idx) do idx[n] = resolve(w, z) end
    return { op = "ref", name = y.name, idx = idx }
  end)
end

-- The conditions around a line as one, or nil.
local function condition(w, from)
  local c
  for n = from or 1, #w.ifs do
    local x = w.ifs[n].cond
    if w.ifs[n].other then x = { op = "unary", word = "not", a = x } end
    c = c and { op = "binary", word = "and", a = c, b = x } or x
  end
  return c
end

-- The record of what is written, with the loops of its first line.
local function target(w, name)
  local f = w.funcs[name]
  if not f then
    f = { name = name, lines = {}, loops = {}, seen = {} }
    w.funcs[name] = f
    w.order[#w.order + 1] = f
  end
  for _, l in ipairs(w.loops) do
    if not f.seen[l.name] then
      f.seen[l.name] = l.text
      f.loops[#f.loops + 1] = l
    elseif f.seen[l.name] ~= l.text then
      refuse(w, ("has a loop %s with other bounds than before"):format(l.name))
    end
  end
  return f
end

-- Adds a line, or the other arm of the one before.
local function add(w, f, idx, rhs)
  local last, cond = f.lines[#f.lines], condition(w)
  if cond then
    local open = w.ifs[#w.ifs]
    if last and last.open and last.open.id == open.id and open.other then
      last.rhs = map(last.rhs, function(y) return y.hole and rhs or nil end)
      last.open = nil
      return
    end
    for n = 1, #w.ifs - 1 do
      if not w.ifs[n].other then refuse(w, "is under two conditions") end
    end
    if open.other then
      if not (last and last.open) then refuse(w, "is under a condition, and the other arm writes nothing") end
    end
    local hole = { op = "num", text = "?", hole = true }
    local case = { op = "call", name = "tide.select", args = { open.cond, rhs, hole } }
    if last and last.open and #w.ifs > 1 then
      last.rhs = map(last.rhs, function(y) return y.hole and case or nil end)
      last.open = open
      return
    end
    f.lines[#f.lines + 1] = { idx = idx, rhs = case, open = open, seq = w.seq }
    return
  end
  f.lines[#f.lines + 1] = { idx = idx, rhs = rhs, seq = w.seq }
end

-- An assignment to an element.
local function store(w, left, rhs)
  local f, idx, shifts = target(w, left.name), {}, {}
  for n, x in ipairs(left.idx) do
    local v, k = offset(w, x)
    if not v then refuse(w, ("writes at %s, which is no loop and a number"):format(show(w, x))) end
    idx[n], shifts[n] = { op = "ref", name = v, idx = {} }, k
  end
  if not f.shifts then f.shifts = shifts end
  for n, k in ipairs(shifts) do
    if f.shifts[n] ~= k then refuse(w, "writes at another distance than the line before") end
  end
  add(w, f, idx, rhs)
end

-- An assignment to a scalar: its value from here on, or a line of a Func if an inner loop makes it.
local function set(w, name, rhs)
  local s = w.scalars[name]
  if not s then refuse(w, ("writes %s, which is no local"):format(name)) end
  if #w.loops == s.depth and not s.func then
    local c = condition(w, s.ifs + 1)
    s.value = c and { op = "call", name = "tide.select", args = { c, rhs, s.value } } or rhs
    return
  end
  local kept = w.loops
  local idx = {}
  for n = 1, s.depth do idx[n] = { op = "ref", name = w.loops[n].name, idx = {} } end
  if not s.func then
    s.func = true
    w.loops = table.move(kept, 1, s.depth, 1, {})
    local f = target(w, name)
    f.lines[1] = { idx = idx, rhs = s.value, seq = w.seq }
    w.seq = w.seq + 1
    w.loops = kept
    rhs = map(rhs, function(y) return rawequal(y, s.value) and { op = "ref", name = name, idx = idx } or nil end)
  end
  add(w, target(w, name), idx, rhs)
end

-- A loop that begins.
local function loop(w, name, lo, hi)
  local from = resolve(w, parse(w, lo))
  local last = plus(resolve(w, parse(w, hi)), 1)
  local n = from.op == "num" and math.tointeger(tonumber(from.text))
  w.vars[name] = true
  w.shift[name] = n or 0
  if n then from, last = num(0), plus(last, -n) end
  local l = { name = name, from = from, last = last }
  l.text = show(w, from) .. " " .. show(w, last)
  w.loops[#w.loops + 1] = l
  if not w.named[name] then
    w.named[name] = true
    w.names[#w.names + 1] = name
  end
end

local count = 0

-- Reads the head of a loop; false if the line is none.
local function read_loop(w, line)
  local v, bounds = line:match "^for ([%w_]+) = (.+) do$"
  if not v then return false end
  local depth, at = 0, nil
  for k = 1, #bounds do
    local c = bounds:sub(k, k)
    depth = depth + (c == "(" and 1 or c == ")" and -1 or 0)
    if c == "," and depth == 0 then
      if at then refuse(w, "goes by steps") end
      at = k
    end
  end
  w.blocks[#w.blocks + 1] = "for"
  loop(w, v, bounds:sub(1, at - 1), bounds:sub(at + 1))
  return true
end

-- Reads what begins, turns or ends a block; false if the line is none of these.
local function read_block(w, line)
  local cond = line:match "^if (.+) then$"
  local again = line:match "^elseif (.+) then$"
  if cond then
    count = count + 1
    w.blocks[#w.blocks + 1] = "if"
    w.ifs[#w.ifs + 1] = { cond = resolve(w, parse(w, cond)), id = count, first = true }
    return true
  end
  if again or line == "else" then
    w.ifs[#w.ifs].other = true
    if again then
      count = count + 1
      w.blocks[#w.blocks] = w.blocks[#w.blocks] .. "+"
      w.ifs[#w.ifs + 1] = { cond = resolve(w, parse(w, again)), id = count }
    end
    return true
  end
  if line ~= "end" then return false end
  local block = table.remove(w.blocks)
  if block == "for" then table.remove(w.loops) end
  if block and block:find "^if" then
    for _ = 1, #block - 1 do table.remove(w.ifs) end
  end
  return true
end

-- Reads the declaration of a local; false if the line is none.
local function read_local(w, line)
  local name, init = line:match "^local ([%w_]+) = [%w_%.]+%((.*)%)$"
  if name and not line:match "^local [%w_]+ = [%w_%.]+%b[]" then
    w.scalars[name] = { depth = #w.loops, value = init == "" and num(0) or resolve(w, parse(w, init)), ifs = #w.ifs }
    return true
  end
  local array, zero = line:match "^local ([%w_]+) = [%w_]+%b[][%[%]%w_%s%+%-%*/]*%((.*)%)$"
  if array then
    w.zero[array] = zero ~= "" and zero or nil
    w.types[array] = line:match "= ([%w_]+)"
    return true
  end
  name, init = line:match "^local ([%w_]+) = (.+)$"
  if name then
    w.scalars[name] = { depth = #w.loops, value = resolve(w, parse(w, init)), ifs = #w.ifs }
    return true
  end
  return false
end

-- Reads a line of the body.
local function read(w, line)
  w.line, w.seq = line, w.seq + 1
  if read_loop(w, line) or read_block(w, line) or read_local(w, line) or line:match "^tide%.assume" then return end
  local left, right = line:match "^([^=]+[^=<>~])= *([^=].*)$"
  if not left then refuse(w, "is no assignment, loop or branch") end
  local l, r = parse(w, left), resolve(w, parse(w, right))
  if #l.idx > 0 then
    for n, x in ipairs(l.idx) do l.idx[n] = resolve(w, x) end
    return store(w, l, r)
  end
  set(w, l.name, r)
end

-- A read of what a Func writes at a distance: an element before the first is the array's first value.
local function shifted(w, x)
  return map(x, function(y)
    local f = y.op == "ref" and #y.idx > 0 and w.funcs[y.name]
    if not f then return nil end
    local idx, edge = {}, nil
    for n, z in ipairs(y.idx) do
      local at = plus(shifted(w, z), -(f.shifts and f.shifts[n] or 0))
      idx[n] = at
      local v, k = offset(w, at)
      if v and k < 0 and w.zero[y.name] then
        local test = { op = "binary", word = "<", a = { op = "ref", name = v, idx = {} }, b = num(-k) }
        edge = edge and { op = "binary", word = "or", a = edge, b = test } or test
      end
    end
    local ref = { op = "ref", name = y.name, idx = idx }
    if not edge then return ref end
    return { op = "call", name = "tide.select", args = { edge,
      { op = "call", name = w.types[y.name], args = { num(w.zero[y.name]) } }, ref } }
  end)
end

-- Gives a Func that is only copied the name of the copy.
local function rename(w)
  for k = #w.order, 1, -1 do
    local f = w.order[k]
    local x = #f.lines == 1 and f.lines[1].rhs
    local g = x and x.op == "ref" and w.funcs[x.name]
    local same = g and g ~= f and #x.idx == #f.lines[1].idx
    for n, y in ipairs(same and x.idx or {}) do
      same = same and y.op == "ref" and y.name == f.lines[1].idx[n].name
    end
    if same then
      for _, l in ipairs(g.lines) do
        l.rhs = map(l.rhs, function(y)
          return y.op == "ref" and y.name == g.name and { op = "ref", name = f.name, idx = y.idx } or nil
        end)
      end
      w.types[f.name] = w.types[f.name] or w.types[g.name]
      f.lines, f.loops = g.lines, g.loops
      table.remove(w.order, 1)
      for n, o in ipairs(w.order) do if o == g then table.remove(w.order, n) end end
      if not w.order[1] or w.order[#w.order] ~= f then
        for n = #w.order, 1, -1 do if w.order[n] == f then table.remove(w.order, n) end end
        w.order[#w.order + 1] = f
      end
    end
  end
end

--- The T2S definition of a kernel as text, whose last name is the Func that is its result.
function lift.text(kernel)
  local text = tostring(kernel)
  local w = { name = kernel.name or "the kernel", line = "", seq = 0, vars = {}, sizes = {}, scalars = {}, shift = {},
    loops = {}, ifs = {}, blocks = {}, funcs = {}, order = {}, zero = {}, types = {}, names = {}, named = {} }
  local params, inside, done = {}, false, false
  for line in text:gmatch "[^\n]+" do
    line = line:gsub("%s*%-%-@.*$", ""):gsub("%s*%-%-.*$", "")
    for name in line:gmatch 'tide%.size "([%w_]+)"' do w.sizes[name] = true end
    local p, type, dims = line:match "^  ([%w_]+) = ([%w_]+)([%[%]%w_%s%+%-%*/]*),$"
    if p and not inside and p ~= "name" then
      local rank = select(2, dims:gsub("%[", ""))
      params[#params + 1] = { name = p, type = type, rank = rank }
      w.types[p] = type
    elseif line:match "^  function" then inside = true
    elseif inside and line == "  end," then done = true
    elseif inside and not done and line:match "%S" then read(w, line:match "^%s*(.-)%s*$") end
  end
  if not inside then refuse(w, "is not a kernel of one function") end
  for _, f in ipairs(w.order) do
    for _, l in ipairs(f.lines) do
      if l.open then refuse(w, ("leaves %s as it was under a condition"):format(f.name)) end
      l.rhs = shifted(w, l.rhs)
    end
  end
  rename(w)
  return lift.print(w, params)
end

-- The names of a table, in order.
local function sorted(t)
  local out = {}
  for k in pairs(t) do out[#out + 1] = k end
  table.sort(out)
  return out
end

--- The text of what was read.
function lift.print(w, params)
  local out, all = { 'local tide = require "tide"', 'local t2s = require "tide.t2s"' }, {}
  local function declare(what, names, rest)
    if #names > 0 then
      local line = 'local %s = t2s.%s("%s"%s)'
      out[#out + 1] = line:format(table.concat(names, ", "), what, table.concat(names, " "), rest)
    end
  end
  declare("Param", sorted(w.sizes), "")
  for _, p in ipairs(params) do
    if not w.funcs[p.name] then declare("Param", { p.name }, (", tide.%s, %d"):format(p.type, p.rank)) end
  end
  declare("Var", w.names, "")
  for _, f in ipairs(w.order) do
    declare("Func", { f.name }, w.types[f.name] and (", tide.%s"):format(w.types[f.name]) or "")
    for _, l in ipairs(f.lines) do all[#all + 1] = { f = f, l = l } end
  end
  table.sort(all, function(x, y) return x.l.seq < y.l.seq end)
  for _, x in ipairs(all) do
    out[#out + 1] = ("%s = %s"):format(show(w, { op = "ref", name = x.f.name, idx = x.l.idx }), show(w, x.l.rhs))
  end
  for _, f in ipairs(w.order) do
    local bounds = {}
    for _, l in ipairs(f.loops) do
      bounds[#bounds + 1] = ("%s, %s, %s"):format(l.name, show(w, l.from), show(w, l.last))
    end
    if #bounds > 0 then out[#out + 1] = ("%s:set_bounds(%s)"):format(f.name, table.concat(bounds, ", ")) end
  end
  local last = w.order[#w.order]
  if not last then refuse(w, "writes nothing") end
  out[#out + 1] = ("return %s"):format(last.name)
  return table.concat(out, "\n") .. "\n"
end

return lift
