-- Expressions of T2S definitions: traced values, made by Lua's operators, by Tide's functions and casts, and by sizes.
-- A node is a table {op = , args..}: "num" value, "size" size, "var" var, "ref" base idx, an operator of two operands
-- a b, "neg" a, "fn" name args, "foreign" name foreign args, "cast" type a, "call" unit args. What is indexed by
-- anything but a text is a reference.
local cures = require "tide.t2s.define.cures"
local foreign = require "tide.t2s.define.foreign"
local trace = require "tide.trace"
local traps = require "tide.t2s.define.traps"

local expr = {}

local node = {} -- metatable of nodes
expr.meta = node

--- Raises an error at a place that was kept, by default where the user's code called; what helps is that of its code
--- where it is not said.
function expr.fail(place, code, text, help, kind)
  trace.refuse(place or trace.place(), kind or "usage", code, text, help or cures[code])
end

local fail = expr.fail

-- Whether a value is a size of the session.
local function is_size(v)
  return type(v) == "userdata" and pcall(function() return v.eq end) and type(v.eq) == "function"
end

function expr.is(v) return type(v) == "table" and getmetatable(v) == node end

local function new(fields)
  traps.note(expr.is)
  return setmetatable(fields, node)
end
expr.new = new

--- A value as a node; refuses what has no meaning in a definition.
function expr.lift(v, place)
  if expr.is(v) then return v end
  if type(v) == "number" then return new { op = "num", value = v } end
  if type(v) == "boolean" then return new { op = "bool", value = v } end
  if is_size(v) then return new { op = "size", size = v } end
  if type(v) == "table" and getmetatable(v) and getmetatable(v).__traced then return getmetatable(v).__traced(v) end
  fail(place, "t2s-operand", ("a definition is made of Params, Consts, Vars, Funcs and numbers, not of %s")
    :format(type(v) == "userdata" and tostring(v) or type(v) == "nil" and "nil" or "a " .. type(v)),
    "what is read is declared by t2s.Param, what is computed by t2s.Func")
end

local lift = expr.lift

local function binary(op)
  return function(a, b) return new { op = op, a = lift(a), b = lift(b) } end
end

local operators = { "+", "-", "*", "//", "%", "<<", ">>", "&", "|", "~", "/" }
local events = { "add", "sub", "mul", "idiv", "mod", "shl", "shr", "band", "bor", "bxor", "div" }
local tests = { eq = "==", ne = "~=", lt = "<", le = "<=", gt = ">", ge = ">=" }
local apply = {} -- what a word does to its arguments

--- What is made of a node and what stands behind `>>`, if that is no number; set by tide.t2s.define.stensor.
function expr.chained() end

for n, op in ipairs(operators) do
  apply[op] = binary(op)
  node["__" .. events[n]] = apply[op]
end
-- `A >> stage` makes a chain of Stensors, a shift otherwise.
function node.__shr(a, b) return expr.chained(a, b) or apply[">>"](a, b) end
local methods = {}
for word, op in pairs(tests) do
  apply[word] = binary(op)
  methods[word] = apply[word]
end
function node.__unm(a) return new { op = "neg", a = lift(a) } end
function node.__bnot(a) return new { op = "not", a = lift(a) } end

-- A test that Lua makes at once is none of the definition.
local function trap(symbol, method)
  return function()
    fail(nil, "t2s-compare", ("Lua's `%s` tests now; it is no part of the definition"):format(symbol),
      ("write x:%s(y), as in t2s.select(x:%s(y), a, b)"):format(method, method))
  end
end

node.__eq, node.__lt, node.__le = trap("==", "eq"), trap("<", "lt"), trap("<=", "le")
function node.__len() fail(nil, "t2s-operand", "`#` has no meaning in a definition", "write the size's name") end
function node.__concat() fail(nil, "t2s-operand", "`..` has no meaning in a definition") end
function node.__call() fail(nil, "t2s-operand", "Funcs and Params are indexed: A[i][j]") end
function node.__tostring(x) return expr.text(x) end
function node.__traced(x) return x end

function node.__index(x, key)
  if type(key) == "string" then return methods[key] end
  if rawget(x, "op") ~= "ref" then fail(nil, "t2s-index", ("%s has no elements"):format(expr.text(x))) end
  local idx = table.move(x.idx, 1, #x.idx, 1, {})
  idx[#idx + 1] = lift(key)
  if x.base.rank and #idx > x.base.rank then
    fail(nil, "t2s-rank", ("%s has %d dimension%s, and is given %d indices"):format(x.base.name, x.base.rank,
      x.base.rank == 1 and "" or "s", #idx))
  end
  return new { op = "ref", base = x.base, idx = idx }
end

function node.__newindex(x, key, value)
  if type(key) == "string" then
    fail(nil, "t2s-field", ("'%s' is no field of %s"):format(key, expr.text(x)), "a definition writes F[i][j] = ..")
  end
  if rawget(x, "op") ~= "ref" or not x.base.define then
    fail(nil, "t2s-write", ("%s is read-only"):format(expr.text(x)), "what is computed is a t2s.Func")
  end
  x.base:define(node.__index(x, key), value)
end

--- tide.select(c, a, b), and t2s.select(c, a) of an output, which keeps its value where c does not hold.
function apply.select(c, a, b)
  if type(c) == "boolean" then
    fail(nil, "t2s-compare", "the condition was decided by Lua before the definition saw it",
      "write i:eq(0), not i == 0")
  end
  return new { op = "fn", name = "select", args = { lift(c), lift(a), b ~= nil and lift(b) or nil } }
end

function apply.cast(type, a) return new { op = "cast", type = type, a = lift(a) } end

function apply.call(unit, ...)
  local args, own = table.pack(...), foreign.of(unit)
  for n = 1, args.n do args[n] = lift(args[n]) end
  if own then return new { op = "foreign", name = own.name, foreign = own, args = args } end
  return new { op = "call", unit = unit, args = args, place = trace.place() }
end

--- What tide.trace calls: an operator, a cast, a function or a kernel on traced values.
function expr.apply(word, ...)
  if apply[word] then return apply[word](...) end
  local args = { ... }
  for n, x in ipairs(args) do args[n] = lift(x) end
  return new { op = "fn", name = word, args = args }
end

--- The operands of a node, in order.
function expr.operands(x)
  if x.op == "ref" then return x.idx end
  if x.args then return x.args end
  return { rawget(x, "a"), rawget(x, "b") }
end

--- Calls fn on a node and on all below it, from the left; fn returns false to pass over what is below.
function expr.walk(x, fn)
  if fn(x) == false then return end
  for _, y in ipairs(expr.operands(x)) do expr.walk(y, fn) end
end

--- Whether fn holds of a node or of one below it.
function expr.any(x, fn)
  local found = false
  expr.walk(x, function(y)
    found = found or fn(y)
    return not found
  end)
  return found
end

--- Copies a node with other leaves: fn returns what stands for a node, or nil.
function expr.map(x, fn)
  local other = fn(x)
  if other then return other end
  local copy = {}
  for k, v in pairs(x) do copy[k] = v end
  for _, field in ipairs { "a", "b" } do
    if copy[field] then copy[field] = expr.map(copy[field], fn) end
  end
  for _, field in ipairs { "idx", "args" } do
    if copy[field] then
      local list = {}
      for n, y in ipairs(copy[field]) do list[n] = expr.map(y, fn) end
      copy[field] = list
    end
  end
  return new(copy)
end

local function list(nodes, how, ref)
  local out = {}
  for n, x in ipairs(nodes) do out[n] = expr.text(x, how, ref) end
  return out
end

--- A node as Lua: `ref(x, indices)` writes a reference, `var(v)` a Var used as a value.
function expr.text(x, ref, var)
  local op = x.op
  local function text(y) return expr.text(y, ref, var) end
  if op == "num" then return x.value == x.value and x.value // 1 ~= x.value and ("%.17g"):format(x.value)
    or math.type(x.value) == "float" and ("%.1f"):format(x.value) or tostring(x.value) end
  if op == "bool" then return tostring(x.value) end
  if op == "size" then return tostring(x.size):find "[^%w_]" and "(" .. tostring(x.size) .. ")" or tostring(x.size) end
  if op == "var" then return var and var(x) or x.name end
  if op == "ref" then
    local idx = list(x.idx, ref)
    if ref then return ref(x, idx) end
    return x.base.name .. (#idx > 0 and "[" .. table.concat(idx, "][") .. "]" or "")
  end
  if op == "neg" then return "(-" .. text(x.a) .. ")" end
  if op == "not" then return "(not " .. text(x.a) .. ")" end
  if op == "cast" then return tostring(x.type) .. "(" .. text(x.a) .. ")" end
  if op == "call" then return x.unit.name .. "(" .. table.concat(list(x.args, ref, var), ", ") .. ")" end
  if op == "foreign" then return x.name .. "(" .. table.concat(list(x.args, ref, var), ", ") .. ")" end
  if op == "fn" then return "tide." .. x.name .. "(" .. table.concat(list(x.args, ref, var), ", ") .. ")" end
  return "(" .. text(x.a) .. " " .. (op == "&" and expr.is_test(x) and "and" or op == "|" and expr.is_test(x) and "or"
    or op) .. " " .. text(x.b) .. ")"
end

local is_test = { ["=="] = true, ["~="] = true, ["<"] = true, ["<="] = true, [">"] = true, [">="] = true,
  ["not"] = true, bool = true }

--- Whether a node is a boolean: & | ~ of tests are and, or, not.
function expr.is_test(x)
  if x.op == "&" or x.op == "|" then return expr.is_test(x.a) and expr.is_test(x.b) end
  return is_test[x.op] or false
end

return expr
