-- [slow] hls_numbers.lua - random expressions over all widths and kinds of types as HLS C++, against the
-- compiled run, bit for bit. Usage: hls_numbers.lua [seed [kernels]]
local t = require "tap"
local batch = require "hls_batch"
local tide = require "tide"

local seed = tonumber(arg[1] or 1)
local kernels = tonumber(arg[2] or 4)
math.randomseed(seed)

local COUNT, RESULTS = 12, 60
local widths = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64}
local floats = {"f16", "bf16", "f32", "f64"}
local random = math.random

local function pick(list) return list[random(#list)] end

local function width() return random(4) == 1 and random(64) or pick(widths) end

-- The text of a random type of a kind: "int", "fixed", "float", "bool".
local function type_text(kind)
  if kind == "float" then return "tide." .. pick(floats) end
  if kind == "bool" then return "tide.bool" end
  local u, w = pick {"", "u"}, width()
  if kind == "fixed" then return ("tide.%sfixed(%d, %d)"):format(u, w, random(-6, w + 6)) end
  return ("tide.%sint(%d)"):format(u, w)
end

-- The same with a mode of casting.
local function target_text(kind)
  local text = type_text(kind)
  if kind ~= "int" and kind ~= "fixed" or random(3) > 1 then return text end
  local nearest = random(2) == 1 and ', rounding = "nearest"' or ""
  return ('%s:with {overflow = "%s"%s}'):format(text, pick {"wrap", "saturate"}, nearest)
end

local function evaluate(text) return load("local tide = ... return " .. text)(tide) end

-- The leaves: arrays of each kind; those called n hold no zero, so that one may divide by them.
local function make_leaves()
  local leaves = {int = {}, fixed = {}, float = {}, bool = {}, list = {}}
  local function add(kind, name, text)
    local leaf = {name = name, text = text, kind = kind}
    table.insert(leaves[kind], leaf)
    table.insert(leaves.list, leaf)
  end
  for i = 1, 8 do add("int", "x" .. i, type_text "int") end
  for i = 1, 5 do add("fixed", "q" .. i, type_text "fixed") end
  for i, name in ipairs(floats) do add("float", "y" .. i, "tide." .. name) end
  add("bool", "b1", "tide.bool")
  leaves.divisor = {name = "n1", text = type_text "int", kind = "int"}
  leaves.quotient = {name = "n2", text = "tide.fixed(9, 4)", kind = "fixed"}
  table.insert(leaves.list, leaves.divisor)
  table.insert(leaves.list, leaves.quotient)
  return leaves
end

-- Special values of floats, put between random ones.
local special = {0.0, -0.0, 1.0, -1.0, 0.5, 65504.0, 65520.0, 2.0 ^ -24, 2.0 ^ -133, 3.4e38, 1e300,
  math.huge, -math.huge, 0 / 0, 2.0 ^ 63, -2.0 ^ 63, 2.0 ^ 64, 1e-320}

-- The data of a leaf.
local function data_of(leaf, number)
  local T = evaluate(leaf.text)
  local x = tide.random(T[COUNT], seed * 1000 + number)
  for i = 0, COUNT - 1 do
    if leaf.kind == "float" and random(2) == 1 then
      x[i] = pick(special)
    elseif leaf.kind == "float" then
      x[i] = x[i] * 2.0 ^ random(-30, 40)
    elseif leaf.name:find "^n" and x[i] == 0 then
      x[i] = leaf.kind == "int" and T(1) == 1 and 1 or leaf.kind == "int" and -1 or 0.5
    end
  end
  return x
end

-- Expressions: one function for each kind, of the depth that is left.
local make = {}

local function expression(leaves, kind, depth) return make[kind](leaves, depth) end

local function leaf_text(leaves, kind)
  local l = pick(leaves[kind])
  return l.name .. "[i]"
end

function make.bool(leaves, depth)
  if depth == 0 or random(5) == 1 then return leaf_text(leaves, "bool") end
  local d = depth - 1
  if random(4) == 1 then
    return ("(%s %s %s)"):format(make.bool(leaves, d), pick {"and", "or", "==", "~="},
      make.bool(leaves, d))
  end
  if random(6) == 1 then return ("(not %s)"):format(make.bool(leaves, d)) end
  local kind = pick {"int", "int", "fixed", "float"}
  local other = kind == "float" and kind or pick {kind, kind, "int"}
  return ("(%s %s %s)"):format(expression(leaves, kind, d), pick {"==", "~=", "<", "<=", ">", ">="},
    expression(leaves, other, d))
end

-- A conversion to a kind.
local function conversion(leaves, kind, d)
  local from = pick {"int", "fixed", "float", "int"}
  if kind == "int" and random(8) == 1 then from = "bool" end
  return ("%s(%s)"):format("(" .. target_text(kind) .. ")", expression(leaves, from, d))
end

local function literal(kind)
  if kind == "int" then return tostring(pick {0, 1, 2, 3, 7, 100, -1, -5, 255, 70000}) end
  return tostring(pick {0.5, 1.0, -2.25, 3.75})
end

function make.int(leaves, depth)
  if depth == 0 then
    return random(5) == 1 and literal "int" or random(12) == 1 and "i" or leaf_text(leaves, "int")
  end
  local d, n = depth - 1, random(14)
  local function x() return make.int(leaves, random(0, d)) end
  if n <= 4 then return ("(%s %s %s)"):format(x(), pick {"+", "-", "*"}, x()) end
  if n == 5 then return ("(%s %s n1[i])"):format(x(), pick {"//", "%"}) end
  if n == 6 then return ("(%s %s %d)"):format(x(), pick {"//", "%"}, pick {1, 2, 3, 8, 10, -3}) end
  if n == 7 then return ("(%s %s %s)"):format(x(), pick {"&", "|", "~"}, x()) end
  if n == 8 then return pick {"(-%s)", "(~%s)", "tide.abs(%s)"}:format(x()) end
  if n == 9 then return ("tide.%s(%s, %s)"):format(pick {"min", "max"}, x(), x()) end
  if n == 10 then
    local count = random(2) == 1 and random(0, 9) or "tide.uint(7)(" .. x() .. ")"
    return pick {"(%s << %s)", "(%s >> %s)", "tide.asr(%s, %s)"}:format(x(), count)
  end
  if n == 11 then
    local lo = random(0, 6)
    local bits = ("tide.bits(%s, %d, %d)"):format(x(), lo, lo + random(8))
    if random(2) == 1 then return bits end
    return ("tide.with_bits(%s, %d, %d, %s)"):format(x(), lo, lo + random(8), x())
  end
  if n == 12 then
    return ("tide.select(%s, %s, %s)"):format(make.bool(leaves, d), x(), x())
  end
  if n == 13 then
    return ("tide.%s(%s)"):format(pick {"floor", "ceil"}, make.fixed(leaves, d))
  end
  return conversion(leaves, "int", d)
end

function make.fixed(leaves, depth)
  if depth == 0 then return leaf_text(leaves, "fixed") end
  local d, n = depth - 1, random(9)
  local function x() return make.fixed(leaves, random(0, d)) end
  local function y() return random(4) == 1 and make.int(leaves, 0) or x() end
  if n <= 3 then return ("(%s %s %s)"):format(x(), pick {"+", "-", "*"}, y()) end
  if n == 4 then return ("(%s / n2[i])"):format(x()) end
  if n == 5 then return pick {"(-%s)", "tide.abs(%s)"}:format(x()) end
  if n == 6 then return ("tide.%s(%s, %s)"):format(pick {"min", "max"}, x(), y()) end
  if n == 7 then
    return pick {"(%s << %d)", "tide.asr(%s, %d)"}:format(x(), random(0, 9))
  end
  if n == 8 then
    return ("tide.select(%s, %s, %s)"):format(make.bool(leaves, d), x(), y())
  end
  return conversion(leaves, "fixed", d)
end

function make.float(leaves, depth)
  if depth == 0 then return leaf_text(leaves, "float") end
  local d, n = depth - 1, random(9)
  local function x() return make.float(leaves, random(0, d)) end
  local function y() return random(4) == 1 and literal "float" or x() end
  if n <= 3 then return ("(%s %s %s)"):format(x(), pick {"+", "-", "*", "/"}, y()) end
  if n == 4 then return ("(%s %s %s)"):format(x(), pick {"//", "%"}, y()) end
  if n == 5 then
    return pick {"(-%s)", "tide.abs(%s)", "tide.floor(%s)", "tide.ceil(%s)", "tide.sqrt(%s)",
      "tide.exp(%s)", "tide.tanh(%s)"}:format(x())
  end
  if n == 6 then return ("tide.%s(%s, %s)"):format(pick {"min", "max"}, x(), y()) end
  if n == 7 then return ("tide.fma(%s, %s, %s)"):format(x(), x(), x()) end
  if n == 8 then
    return ("tide.select(%s, %s, %s)"):format(make.bool(leaves, d), x(), x())
  end
  return conversion(leaves, "float", d)
end

-- Words as other types of their width.
local function reinterpreted(leaves)
  local from = pick(leaves.list)
  local w = evaluate(from.text)
  local bits = from.text:match "%((%d+)" or from.text:match "(%d+)$" or 1
  local to = pick {"tide.int(%d)", "tide.uint(%d)", "tide.fixed(%d, 3)", "tide.ufixed(%d, 3)"}
  if bits == "32" or bits == "64" or bits == "16" then to = pick {to, "tide.f" .. bits} end
  return w and to:format(bits), ("tide.bitcast(%s, %s[i])"):format(to:format(bits), from.name)
end

-- Source of a kernel of the leaves and these results: {text of type, expression}.
local function source(leaves, results)
  local lines = {"local tide = ...\nreturn tide.kernel {\n"}
  local names = {}
  local function parameter(name, text)
    lines[#lines + 1] = ("  %s = (%s)[%d],\n"):format(name, text, COUNT)
    names[#names + 1] = name
  end
  for _, l in ipairs(leaves.list) do parameter(l.name, l.text) end
  for i, r in ipairs(results) do parameter("r" .. i, r[1]) end
  lines[#lines + 1] = ("  name = 'numbers',\n  function(%s)\n    for i = 0, %d do\n"):format(
    table.concat(names, ", "), COUNT - 1)
  for i, r in ipairs(results) do lines[#lines + 1] = ("      r%d[i] = %s\n"):format(i, r[2]) end
  lines[#lines + 1] = "    end\n  end\n}\n"
  return table.concat(lines)
end

-- A result that the language accepts: a store of an expression, converted where it must be.
local function make_result(leaves)
  for _ = 1, 50 do
    local kind = pick {"int", "int", "int", "fixed", "fixed", "float", "float", "bool"}
    local T, e = type_text(kind), expression(leaves, kind, random(3))
    if random(12) == 1 then
      T, e = reinterpreted(leaves)
    elseif kind ~= "bool" and random(3) == 1 then
      e = ("(%s)(%s)"):format(target_text(kind), e)
    end
    if pcall(load(source(leaves, {{T, e}})), tide) then return {T, e} end
  end
  return {"tide.i32", "i + 0"}
end

-- A kernel of random results, and the arguments of a call.
local function make_kernel(number)
  local leaves = make_leaves()
  local results, inputs = {}, {}
  for i = 1, RESULTS do results[i] = make_result(leaves) end
  for i, l in ipairs(leaves.list) do inputs[i] = data_of(l, number * 50 + i) end
  for _, r in ipairs(results) do
    local T = evaluate(r[1])
    inputs[#inputs + 1] = T == tide.bool and T[COUNT](false) or T[COUNT](0)
  end
  return load(source(leaves, results), "=numbers" .. number)(tide), inputs
end

for number = 1, kernels do
  local k, inputs = make_kernel(number)
  batch.add(("kernel %d of seed %d"):format(number, seed), k, inputs)
end
batch.test(2)
t.done()
