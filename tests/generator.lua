-- generator.lua - random kernels as Lua source, from a seed.
--   local program = require "generator" .program(seed)
--   program.text()             -- a chunk that returns the kernel
--   program.mode               -- "int" (k:native is exact), "fixed" or "float"
--   program.tensors            -- {name =, type =, shape =} of its parameters, in order
--   program.arguments()        -- fresh random tensors for them
--   program.statements         -- a tree {text =, body = {..}, last =}; entries may be taken out
-- Every index stays in range, no divisor is 0, no value needs more than 60 bits, and locals are
-- assigned converted values only, so that Lua's numbers agree. Names of `w` count bits as signed.
local tide = require "tide"

local random = math.random

local function pick(list) return list[random(#list)] end

local function chance(percent) return random(100) <= percent end

local MOST_BITS = 26 -- of an operand; fixed point has fewer, which keeps products in a double

-- A scalar type of a kind: {text =, kind =, w =, unsigned =}.
local function scalar_type(kind)
  if kind == "float" then return {text = pick {"f32", "f64"}, kind = "float", w = 0} end
  local w, unsigned = random(2, 20), chance(40)
  local mode = chance(15) and ":with {overflow = \"saturate\"}" or ""
  if kind == "fixed" then
    local f = random(1, w - 1)
    local word = unsigned and "ufixed" or "fixed"
    return {text = ("tide.%s(%d, %d)%s"):format(word, w, f, mode), kind = "fixed", w = w + 1,
      unsigned = unsigned}
  end
  local text = ("tide.%s(%d)%s"):format(unsigned and "uint" or "int", w, mode)
  if mode == "" and chance(40) then
    w = pick {8, 16}
    text = (unsigned and "u" or "i") .. w
  end
  return {text = text, kind = "int", w = unsigned and w + 1 or w, bits = w, unsigned = unsigned}
end

-- The kinds of values in a mode, the first most often.
local kinds = {int = {"int"}, fixed = {"int", "fixed"}, float = {"int", "float"}}

local G = {}
G.__index = G

-- A name that was not used.
function G:name(stem)
  self.names = self.names + 1
  return stem .. "_" .. self.names
end

-- An index below `extent`.
function G:index(extent)
  local fits = {}
  for _, v in ipairs(self.vars) do
    if v.lo >= 0 and v.hi < extent then fits[#fits + 1] = v.name end
  end
  if #fits > 0 and chance(60) then return pick(fits) end
  if #self.vars > 0 and chance(60) then
    local v = pick(self.vars).name
    return ("(%s%s) %% %d"):format(v, pick {"", " + 1", " * 2", " - 3"}, extent)
  end
  if chance(15) then return ("(%s) %% %d"):format(self:leaf("int").text, extent) end
  return tostring(random(0, extent - 1))
end

-- An element of a tensor, as text.
function G:element(tensor)
  local text = tensor.name
  for _, extent in ipairs(tensor.shape) do text = text .. "[" .. self:index(extent) .. "]" end
  return text
end

-- Tensors whose elements have one of some kinds.
local function of_kind(list, kind)
  local found = {}
  for _, x in ipairs(list) do
    if x.type.kind == kind then found[#found + 1] = x end
  end
  return found
end

local numbers = {int = {"0", "1", "2", "3", "7", "-1", "-4", "100"},
  fixed = {"1", "2", "-3"}, float = {"0.5", "-2.25", "3.0", "0.1"}}

-- A literal, loop variable, local or element of a kind.
function G:leaf(kind)
  local tensors, locals = of_kind(self.tensors, kind), of_kind(self.locals, kind)
  local which = random(10)
  if which <= 2 then return {text = pick(numbers[kind]), kind = kind, w = 8} end
  if which <= 4 and kind == "int" and #self.vars > 0 then
    local v = pick(self.vars).name
    if chance(50) then return {text = v, kind = kind, w = 33} end
    return {text = ("tide.int(7)(%s)"):format(v), kind = kind, w = 7}
  end
  if which <= 6 and #locals > 0 then
    local x = pick(locals)
    return {text = x.name, kind = kind, w = x.type.w, type = x.type}
  end
  if #tensors == 0 or self.leaves > 2 then return {text = pick(numbers[kind]), kind = kind, w = 8}
    end
  self.leaves = self.leaves + 1
  local x = pick(tensors)
  local e = {text = self:element(x), kind = kind, w = x.type.w, type = x.type}
  self.leaves = self.leaves - 1
  return e
end

-- e cut to few bits where it has many.
function G:cut(e)
  if e.kind == "float" or e.w <= self.most then return e end
  local t = scalar_type(e.kind)
  return {text = ("%s(%s)"):format(t.text, e.text), kind = e.kind, w = t.w}
end

-- How each operator makes an expression of an integer: {text, bits} of operands x and y.
local integer_ops = {
  function(x, y) return ("(%s + %s)"):format(x.text, y.text), math.max(x.w, y.w) + 1 end,
  function(x, y) return ("(%s - %s)"):format(x.text, y.text), math.max(x.w, y.w) + 1 end,
  function(x, y) return ("(%s) * (%s)"):format(x.text, y.text), x.w + y.w end,
  function(x) return ("(%s) // %d"):format(x.text, pick {1, 2, 3, 7, -2, -5}), x.w + 1 end,
  function(x) return ("(%s) %% %d"):format(x.text, pick {1, 2, 5, 8, -3}), 5 end,
  function(x, y) return ("(%s & %s)"):format(x.text, y.text), math.max(x.w, y.w) end,
  function(x, y) return ("(%s | %s)"):format(x.text, y.text), math.max(x.w, y.w) end,
  function(x, y) return ("(%s ~ %s)"):format(x.text, y.text), math.max(x.w, y.w) end,
  function(x) local c = random(0, 4) return ("(%s << %d)"):format(x.text, c), x.w + c end,
  function(x) return ("tide.asr(%s, %d)"):format(x.text, random(0, 6)), x.w end,
  function(x, y) return ("half(%s, %s)"):format(x.text, y.text), math.max(x.w, y.w) + 3 end,
  function(x, y) return ("larger(%s, %s)"):format(x.text, y.text), math.max(x.w, y.w) end,
}

-- Those that integers, fixed point and floats share.
local common_ops = {
  function(x, y) return ("(%s + %s)"):format(x.text, y.text), math.max(x.w, y.w) + 12 end,
  function(x, y) return ("(%s - %s)"):format(x.text, y.text), math.max(x.w, y.w) + 12 end,
  function(x, y) return ("(%s) * (%s)"):format(x.text, y.text), x.w + y.w end,
  function(x) return ("-(%s)"):format(x.text), x.w + 1 end,
  function(x) return ("tide.abs(%s)"):format(x.text), x.w + 1 end,
  function(x, y) return ("tide.min(%s, %s)"):format(x.text, y.text), math.max(x.w, y.w) + 12 end,
  function(x, y) return ("math.max(%s, %s)"):format(x.text, y.text), math.max(x.w, y.w) + 12 end,
}

local float_ops = {
  function(x, y) return ("(%s) / (tide.abs(f64(%s)) + 1.5)"):format(x.text, y.text), 0 end,
  function(x) return ("tide.sqrt(tide.abs(%s))"):format(x.text), 0 end,
}

-- Bits of an element or local whose width is known, or NULL.
function G:bits()
  local x = self:leaf "int"
  if not (x.type and x.type.bits) then return nil end
  local lo = random(0, x.type.bits - 1)
  local hi = random(lo + 1, x.type.bits)
  if chance(30) and x.type.unsigned then
    return {text = ("tide.with_bits(%s, %d, %d, %s)"):format(x.text, lo, hi, self:leaf "int".text),
      kind = "int", w = x.w}
  end
  return {text = ("tide.bits(%s, %d, %d)"):format(x.text, lo, hi), kind = "int", w = hi - lo + 1}
end

-- An expression of a kind.
function G:expr(kind, depth)
  if depth == 0 or chance(20) then return self:leaf(kind) end
  local which = random(12)
  if which == 1 then
    local c = self:condition(1)
    local x, y = self:cut(self:expr(kind, depth - 1)), self:cut(self:expr(kind, depth - 1))
    local form = chance(50) and "tide.select(%s, %s, %s)" or "(%s and %s or %s)"
    return {text = form:format(c, x.text, y.text), kind = kind, w = math.max(x.w, y.w) + 12}
  elseif which == 2 and kind == "int" then
    return self:bits() or self:leaf(kind)
  end
  local x = self:cut(self:expr(kind == "int" and "int" or pick(kinds[self.mode]), depth - 1))
  local y = self:cut(self:expr(kind, depth - 1))
  if kind ~= "int" then x, y = y, x end
  local ops = chance(50) and (kind == "int" and integer_ops or kind == "float" and float_ops)
    or common_ops
  local text, w = pick(ops)(x, y)
  return {text = text, kind = kind, w = w}
end

-- A condition.
function G:condition(depth)
  if depth > 0 and chance(30) then
    local join = pick {"(%s and %s)", "(%s or %s)", "not (%s) and %s"}
    return join:format(self:condition(depth - 1), self:condition(depth - 1))
  end
  local kind = pick(kinds[self.mode])
  return ("%s %s %s"):format(self:expr(kind, 1).text, pick {"<", "<=", ">", ">=", "==", "~="},
    self:expr(kind, 1).text)
end

-- A value for a cell of type t, in text.
function G:value(t)
  local kind = t.kind
  if kind ~= "int" and chance(30) then kind = "int" end
  return self:expr(kind, random(1, 3)).text
end

-- Runs fn with what it declares forgotten afterwards; returns the statements that it adds.
function G:inside(fn)
  local nvars, nlocals, ntensors = #self.vars, #self.locals, #self.tensors
  local body = {}
  fn(body)
  for i = #self.vars, nvars + 1, -1 do self.vars[i] = nil end
  for i = #self.locals, nlocals + 1, -1 do self.locals[i] = nil end
  for i = #self.tensors, ntensors + 1, -1 do self.tensors[i] = nil end
  return body
end

-- A block of statements.
function G:block(depth)
  return self:inside(function(body)
    for _ = 1, random(1, depth > 0 and 3 or 2) do self:statement(body, depth) end
  end)
end

local statements = {}

function statements.store(g, body)
  local x = pick(g.tensors)
  body[#body + 1] = {text = ("%s = %s"):format(g:element(x), g:value(x.type))}
end

function statements.swap(g, body)
  local x = pick(g.tensors)
  local a, b = g:element(x), g:element(x)
  body[#body + 1] = {text = ("%s, %s = %s, %s"):format(a, b, b, a)}
end

function statements.declare(g, body)
  local name, t = g:name "v", scalar_type(pick(kinds[g.mode]))
  body[#body + 1] = {text = ("local %s = %s(%s)"):format(name, t.text, g:value(t))}
  g.locals[#g.locals + 1] = {name = name, type = t, assigned = true}
end

function statements.assign(g, body)
  local x = #g.locals > 0 and pick(g.locals)
  if not x or not x.assigned then return statements.store(g, body) end
  body[#body + 1] = {text = ("%s = %s(%s)"):format(x.name, x.type.text, g:value(x.type))}
end

function statements.operator(g, body)
  local name, e = g:name "e", g:expr("int", 2)
  body[#body + 1] = {text = ("local %s = %s + 1"):format(name, g:cut(e).text)}
  g.locals[#g.locals + 1] = {name = name, type = {kind = "int", w = math.max(e.w, 33) + 1}}
end

-- The bounds of a loop: text, and the least and greatest value of its variable.
function G:range()
  local outer = #self.vars > 0 and chance(40) and pick(self.vars)
  if outer and outer.lo >= 0 then
    if chance(50) then return "0, " .. outer.name, 0, outer.hi end
    return outer.name .. ", 5", outer.lo, math.max(5, outer.hi)
  end
  local lo, n = random(-1, 2), random(0, 5)
  if chance(20) then return ("%d, %d, -%d"):format(lo + n, lo, random(1, 2)), lo, lo + n end
  if chance(20) then return ("%d, %d, %d"):format(lo, lo + n, random(2, 3)), lo, lo + n end
  return ("%d, %d"):format(lo, lo + n), lo, lo + n
end

statements["for"] = function(g, body, depth)
  local name = g:name "i"
  local text, lo, hi = g:range()
  local node = {text = ("for %s = %s do"):format(name, text), last = "end"}
  node.body = g:inside(function(inner)
    g.vars[#g.vars + 1] = {name = name, lo = lo, hi = hi}
    for _ = 1, random(1, 3) do g:statement(inner, depth - 1) end
    if chance(10) then
      inner[#inner + 1] = {text = ("if %s then break end"):format(g:condition(0))}
    end
  end)
  body[#body + 1] = node
end

function statements.grid(g, body, depth)
  local a, b, m, n = g:name "i", g:name "i", random(1, 4), random(1, 4)
  local node = {text = ("for %s, %s in tide.grid(%d, {1, %d}) do"):format(a, b, m, n + 1), last =
    "end"}
  node.body = g:inside(function(inner)
    g.vars[#g.vars + 1] = {name = a, lo = 0, hi = m - 1}
    g.vars[#g.vars + 1] = {name = b, lo = 1, hi = n}
    for _ = 1, random(1, 2) do g:statement(inner, depth - 1) end
  end)
  body[#body + 1] = node
end

statements["if"] = function(g, body, depth)
  local node = {text = ("if %s then"):format(g:condition(1)), last = "end"}
  node.body = g:block(depth - 1)
  if chance(40) then
    node.body[#node.body + 1] = {text = chance(50) and "else" or
      ("elseif %s then"):format(g:condition(0)), body = g:block(depth - 1)}
  end
  body[#body + 1] = node
end

statements["while"] = function(g, body, depth)
  local n = g:name "n"
  local loop = chance(50)
  body[#body + 1] = {text = ("local %s = 0"):format(n)}
  local node = {text = loop and ("while %s < %d do"):format(n, random(0, 4)) or "repeat"}
  node.body = g:block(depth - 1)
  node.fixed = ("%s = %s + 1"):format(n, n)
  node.last = loop and "end" or ("until %s >= %d or %s"):format(n, random(1, 4), g:condition(0))
  body[#body + 1] = node
end

function statements.tensor(g, body)
  local t = scalar_type(pick(kinds[g.mode]))
  local x = {name = g:name "w", type = t, shape = {random(1, 5)}}
  body[#body + 1] = {text = ("local %s = %s[%d](%s)"):format(x.name, t.text, x.shape[1],
    g:value(t))}
  g.tensors[#g.tensors + 1] = x
end

function statements.view(g, body)
  local of = pick(g.tensors)
  local x = {name = g:name "r", type = of.type}
  if #of.shape == 2 then
    x.shape = {of.shape[2]}
    body[#body + 1] = {text = ("local %s = %s[%s]"):format(x.name, of.name, g:index(of.shape[1]))}
  else
    local n = random(1, of.shape[1])
    local lo = random(0, of.shape[1] - n)
    x.shape = {n}
    body[#body + 1] = {text = ("local %s = %s:slice({%d, %d})"):format(x.name, of.name, lo, lo + n)}
  end
  g.tensors[#g.tensors + 1] = x
end

function statements.set(g, body)
  local x = pick(g.tensors)
  local value = chance(50) and ("%s(%s)"):format(x.type.text, g:value(x.type))
    or ("%s:copy()"):format(x.name)
  body[#body + 1] = {text = ("%s:set(%s)"):format(x.name, value)}
end

function statements.call(g, body)
  local x = g.params[1]
  local row = #x.shape == 2 and ("%s[%s]"):format(x.name, g:index(x.shape[1])) or x.name
  if not g.callee then return statements.store(g, body) end
  body[#body + 1] = {text = ("callee(%s, i16(%s))"):format(row, g:expr("int", 1).text)}
end

local simple = {"store", "store", "store", "assign", "declare", "swap", "operator", "tensor",
  "view",
  "set", "call"}
local compound = {"for", "for", "for", "if", "if", "while", "grid"}

-- Adds one statement, or a declaration and one.
function G:statement(body, depth)
  local name = depth > 0 and chance(45) and pick(compound) or pick(simple)
  statements[name](self, body, depth)
end

-- A generator over fresh parameters.
local function new(mode, params)
  local g = setmetatable({mode = mode, names = 0, leaves = 0, vars = {}, locals = {}, params =
    params,
    tensors = {table.unpack(params)}, most = mode == "fixed" and 18 or MOST_BITS}, G)
  return g
end

-- A tree of statements as lines.
local function write(list, out, indent)
  for _, s in ipairs(list) do
    local arm = s.text:match "^else"
    out[#out + 1] = (arm and indent:sub(3) or indent) .. s.text
    if s.body then
      write(s.body, out, arm and indent or indent .. "  ")
      if s.fixed then out[#out + 1] = indent .. "  " .. s.fixed end
    end
    if s.last then out[#out + 1] = indent .. s.last end
  end
end

local function type_of(x)
  local text = x.type.text
  for _, extent in ipairs(x.shape) do text = text .. "[" .. extent .. "]" end
  return text
end

local head = [[
local tide = require "tide"
local i8, i16, u8, u16, f32, f64 = tide.i8, tide.i16, tide.u8, tide.u16, tide.f32, tide.f64
local function half(x, y) local z = x * 2 - y return z end
local function larger(x, y) if x > y then return x else return y end end
]]

-- The text of a kernel over g's parameters.
local function kernel(name, g, extra, body)
  local out, names = {("local %s = tide.kernel {"):format(name)}, {}
  for _, x in ipairs(g.params) do
    out[#out + 1] = ("  %s = %s,"):format(x.name, type_of(x))
    names[#names + 1] = x.name
  end
  if extra then
    out[#out + 1] = "  k = i16,"
    names[#names + 1] = "k"
  end
  out[#out + 1] = ("  function(%s)"):format(table.concat(names, ", "))
  write(body, out, "    ")
  out[#out + 1] = "  end,\n}\n"
  return table.concat(out, "\n")
end

local M = {}

local types = setmetatable({tide = tide}, {__index = function(_, k) return tide[k] end})

-- Random tensors for parameters.
local function arguments(params)
  local args = {}
  for i, x in ipairs(params) do
    args[i] = tide.random(load("return " .. type_of(x), "=type", "t", types)(), i)
  end
  return args
end

-- Copies of tensors.
function M.copies(args)
  local list = {}
  for i, x in ipairs(args) do list[i] = x:copy() end
  return list
end

function M.program(seed)
  math.randomseed(seed)
  local mode = pick {"int", "int", "int", "fixed", "float"}
  local params = {}
  for i = 1, random(2, 3) do
    local shape = chance(50) and {random(1, 6), random(1, 6)} or {random(1, 9)}
    params[i] = {name = ("ABC"):sub(i, i), type = scalar_type(pick(kinds[mode])), shape = shape}
  end
  local first = params[1]
  local callee
  if chance(50) then
    local inner = new(mode, {{name = "X", type = first.type, shape = {first.shape[#first.shape]}}})
    inner.locals[1] = {name = "k", type = {text = "i16", kind = "int", w = 16, bits = 16}}
    callee = {g = inner, body = inner:block(2)}
  end
  local g = new(mode, params)
  g.callee = callee
  local body = g:inside(function(list) for _ = 1, random(2, 6) do g:statement(list, 3) end end)
  return {mode = mode, tensors = params, statements = body,
    arguments = function() return arguments(params) end, text = function()
    local inner = callee and kernel("callee", callee.g, true, callee.body) or ""
    return head .. inner .. kernel("made", g, false, body) .. "return made\n"
  end}
end

return M
