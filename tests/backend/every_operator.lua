-- every_operator.lua - every operator on every pair of widths, both signs, and every cast, fixed point too: libtcc,
-- the system's compiler and HLS C++ (these two on a part in which each operator meets each width on each side) against
-- the reference run, whose numbers tests/unit/num_test.c checks against big integers.
-- [slow]
local t = require "tap"
local c_batch = require "c_batch"
local hls_batch = require "hls_batch"
local tide = require "tide"

local widths = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64}
local COUNT = 6 -- elements of each operand

-- Types as text: integers of all widths, then fixed point of some formats.
local integers, fixed = {}, {}
for _, w in ipairs(widths) do
  for _, u in ipairs {"", "u"} do
    integers[#integers + 1] = ("tide.%sint(%d)"):format(u, w)
    fixed[#fixed + 1] = ("tide.%sfixed(%d, %d)"):format(u, w, w // 2)
  end
end

local function evaluate(text) return load("local tide = ... return " .. text)(tide) end

-- An array of both ends of a type, what is beside them, what is small, and random values; none is zero.
local function operand(text)
  local T, w = evaluate(text), tonumber(text:match "(%d+)")
  local words = tide.random(tide.uint(w)[COUNT], w)
  for i, v in ipairs {1 << (w - 1), (1 << (w - 1)) - 1, -1, 1} do words[i - 1] = v end
  for i = 0, COUNT - 1 do
    if words[i] == 0 then words[i] = 1 end
  end
  return tide.bitcast(T, words)
end

local binary = {
  integers = {"A[i] + B[j]", "A[i] - B[j]", "A[i] * B[j]", "A[i] // B[j]", "A[i] % B[j]", "A[i] & B[j]", "A[i] | B[j]",
    "A[i] ~ B[j]", "tide.min(A[i], B[j])", "tide.max(A[i], B[j])", "tide.select(A[i] == B[j], 1, 0)",
    "tide.select(A[i] ~= B[j], 1, 0)", "tide.select(A[i] < B[j], 1, 0)", "tide.select(A[i] <= B[j], A[i], B[j])"},
  fixed = {"A[i] + B[j]", "A[i] - B[j]", "A[i] * B[j]", "A[i] / B[j]", "tide.min(A[i], B[j])", "tide.max(A[i], B[j])",
    "tide.select(A[i] == B[j], 1, 0)", "tide.select(A[i] < B[j], 1, 0)"},
}
local unary = {
  integers = {"-A[i]", "~A[i]", "tide.abs(A[i])", "A[i] << 3", "A[i] << tide.uint(3)(j)", "tide.asr(A[i], 1)",
    "tide.asr(A[i], tide.uint(7)(j * 13))", "A[i] >> 1", "A[i] >> tide.uint(7)(j * 13)", "tide.bits(A[i], 0, 1)",
    "tide.with_bits(A[i], 0, 1, B[j])"},
  fixed = {"-A[i]", "tide.abs(A[i])", "A[i] << 3", "tide.asr(A[i], 2)", "tide.floor(A[i])", "tide.ceil(A[i])"},
}

local to_floats = {"tide.f16(A[i])", "tide.bf16(A[i])", "tide.f32(A[i])", "tide.f64(A[i])"}
local modes = {
  integers = {"", ':with {overflow = "saturate"}'},
  fixed = {"", ':with {overflow = "saturate"}', ':with {rounding = "nearest"}',
    ':with {overflow = "saturate", rounding = "nearest"}'},
}

-- Where results go: by the words of a type, an array with an element for each pair of elements.
local results = {integers = "i64", fixed = "tide.fixed(64, 32)", floats = "f64"}

-- A kernel on a left type: statements with right types, of which each gets an array.
local Kernel = {}
Kernel.__index = Kernel

local function new(kind, left)
  local self = {kind = kind, left = left, rights = {}, lines = {}, n = {integers = 0, fixed = 0, floats = 0}}
  return setmetatable(self, Kernel)
end

-- The name of the array of a right type.
function Kernel:right(text)
  local name = "B" .. text:gsub("%W", "_")
  if not self.rights[name] then
    self.rights[name] = text
    table.insert(self.rights, name)
  end
  return name
end

-- Adds the statement that keeps an expression on A[i] and B[j], whose B has the right type.
function Kernel:add(expression, right, kind)
  local e = expression:gsub("%f[%w]B%f[%W]", right and self:right(right) or "B")
  self.lines[#self.lines + 1] = ("%s[%d][i][j] = %s"):format(kind, self.n[kind], e)
  self.n[kind] = self.n[kind] + 1
end

-- The source of the kernel, as a chunk that takes tide.
function Kernel:text()
  local names, types = {"A"}, {("A = %s[%d]"):format(self.left, COUNT)}
  for _, name in ipairs(self.rights) do
    names[#names + 1] = name
    types[#types + 1] = ("%s = %s[%d]"):format(name, self.rights[name], COUNT)
  end
  for _, kind in ipairs {"integers", "fixed", "floats"} do
    if self.n[kind] > 0 then
      names[#names + 1] = kind
      types[#types + 1] = ("%s = %s[%d][%d][%d]"):format(kind, results[kind], self.n[kind], COUNT, COUNT)
    end
  end
  return ([[local tide = ... local i64, f64 = tide.i64, tide.f64
    return tide.kernel {name = "left", %s, function(%s)
      for i, j in tide.grid(%d, %d) do
        %s
      end
    end}]]):format(table.concat(types, ", "), table.concat(names, ", "), COUNT, COUNT, table.concat(self.lines, "\n"))
end

-- The kernel, and arguments for it.
function Kernel:build()
  local k, args = assert(load(self:text(), "=operators"))(tide), {operand(self.left)}
  for _, name in ipairs(self.rights) do args[#args + 1] = operand(self.rights[name]) end
  for _, kind in ipairs {"integers", "fixed", "floats"} do
    if self.n[kind] > 0 then
      args[#args + 1] = load("local tide = ... local i64, f64 = tide.i64, tide.f64 return " .. results[kind])(tide)
        [self.n[kind]][COUNT][COUNT](0)
    end
  end
  return k, args
end

-- Whether a product or quotient of fixed point fits where results go; others are refused.
local function fits(expression, left, right)
  local one = new("fixed", left)
  one:add(expression, right, "fixed")
  local passed, e = pcall(one.build, one)
  if not passed then t.eq(e.code, "too-wide", tostring(e)) end
  return passed
end

-- The kernel of the l-th left type of a kind; each statement has `most` of the 28 right types.
local function operators_on(kind, l, most)
  local types = {integers = integers, fixed = fixed}
  local left = types[kind][l]
  local k, n = new(kind, left), 0
  local function each(fn)
    n = n + 1
    for m = 1, most do fn((l + 5 * n + m) % #integers + 1) end
  end
  for _, e in ipairs(binary[kind]) do
    each(function(r)
      local wide = kind == "fixed" and e:find "[*/]" and not fits(e, left, fixed[r])
      if not wide then k:add(e, types[kind][r], kind) end
    end)
  end
  for _, e in ipairs(unary[kind]) do
    local signed = not left:find "uint" and e:find ">>"
    if not signed then k:add(e, e:find "B" and integers[l], kind) end
  end
  for _, to in ipairs {"integers", "fixed"} do
    for _, mode in ipairs(modes[to]) do
      each(function(r) k:add(("(%s%s)(A[i])"):format(types[to][r], mode), nil, to) end)
    end
  end
  for _, e in ipairs(to_floats) do k:add(("f64(%s)"):format(e), nil, "floats") end
  return k
end

-- Copies of arguments, as a program leaves them.
local function after(args, run)
  local list = {}
  for i, x in ipairs(args) do list[i] = x:copy() end
  run(table.unpack(list))
  return list
end

-- Runs the operators of a left type, all pairs in memory; a part goes to the other compilers.
local function check(kind, l)
  local all = operators_on(kind, l, #integers)
  local k, args = all:build()
  local want = after(args, function(...) k:reference(...) end)
  local got = after(args, k:build {target = "cpu", tier = "tcc"})
  for i, x in ipairs(want) do t.ok(got[i]:equal(x), ("%s: argument %d"):format(all.left, i)) end
  local part, inputs = operators_on(kind, l, 1):build()
  c_batch.add(all.left, part, inputs, after(inputs, function(...) part:reference(...) end))
  hls_batch.add(all.left, part, inputs)
  return #all.lines
end

for _, kind in ipairs {"integers", "fixed"} do
  t.test(kind .. ": all pairs of types in memory", function()
    local count = 0
    for l = 1, #integers do count = count + check(kind, l) end
    print(("# %d operators and casts"):format(count))
    t.ok(count > 10000, count .. " operators")
  end)
end
c_batch.test("by the system's compiler", "-O1 -fsanitize=undefined -fno-sanitize-recover")
hls_batch.test(14, {quick = true})
t.done()
