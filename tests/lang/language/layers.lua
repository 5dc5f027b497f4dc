-- layers.lua - each template of stdlib at three shapes and two types: it computes what plain Lua
-- does, its schedule is proved, and takes fewer cycles than the loops as they stand.
local t = require "tap"
local cases = require "layer_cases"
local template = require "tide.template"
local tide = require "tide"

-- The tensors of a list by the names of a kernel's parameters, as nested lists.
local function by_name(kernel, args)
  local x = {}
  for i, p in ipairs(kernel.params) do x[p.name] = args[i]:table() end
  return x
end

-- Runs a program on copies of the arguments; gives the tensor named `result`.
local function result_of(program, kernel, args, result)
  local copies, got = {}, nil
  for i, p in ipairs(kernel.params) do
    copies[i] = args[i]:copy()
    if p.name == result then got = copies[i] end
  end
  program(table.unpack(copies))
  return got
end

for _, c in ipairs(cases) do
  for n, shape in ipairs(c.shapes) do
    for _, types in ipairs(c.types) do
      local z = cases.join(shape, types)
      t.test(("%s %d, %s"):format(c.name, n, types.T or "integers"), function()
        local k = c.template(z)
        local s = template.schedule(k)
        local level, verdict = s:verify()
        t.eq(level, "strict", tostring(verdict))
        local args = cases.arguments(k, 10 * n)
        local got = result_of(s, k, args, c.result)
        local want = tide.tensor(got.type, c.want(z, by_name(k, args)))
        t.ok(got:allclose(want), ("%s\nand not\n%s"):format(got, want))
        t.ok(result_of(k, k, args, c.result):equal(got), "the schedule computes something else")
      end)
    end
  end
end

t.test("attention with a cache: token by token, beyond the tokens that it keeps, and from the start again", function()
  local quant, i8 = require "tide.quant", tide.i8
  for n, z in ipairs {{L = 3, D = 6, heads = 2, shift = 6}, {L = 1, D = 2, shift = 2}, {L = 4, D = 4, shift = 9}} do
    local s, other = quant.schedule(quant.cached_attention(z)), quant.cached_attention(z)
    local X = tide.random(i8[9][3 * z.D], n)
    local rows = X:table()
    local function token(f, i)
      local y = i8[1][z.D]()
      f(X:slice({i - 1, i}, {}), y)
      return y:table()[1]
    end
    for i = 1, 9 do
      local seen = {table.unpack(rows, math.max(1, i - z.L + 1), i)}
      t.eq(token(s, i), cases.attend(z, rows[i], seen), ("token %d of %d that stay"):format(i, z.L))
    end
    t.eq(token(other, 5), cases.attend(z, rows[5], {rows[5]}), "a kernel has a state of its own")
    s:reset()
    t.eq(token(s, 2), cases.attend(z, rows[2], {rows[2]}), "after reset")
    local whole = i8[z.L][z.D]()
    quant.attention(cases.join(z, {causal = true}))(X:slice({0, z.L}, {}), whole)
    s:reset()
    for i = 1, z.L do t.eq(token(s, i), whole:table()[i], "as of a whole text at once") end
  end
end)

t.test("schedules take fewer cycles", function()
  for _, c in ipairs(cases) do
    local z = cases.join(c.shapes[1], c.types[1])
    local k = c.template(z)
    local before, after = tide.schedule(k):estimate().cycles, template.schedule(k):estimate().cycles
    t.ok(after < before, ("%s: %d cycles instead of %d"):format(c.name, after, before))
  end
end)

t.test("no template is left out, and kernels are named as their templates", function()
  local seen = {}
  for _, c in ipairs(cases) do
    seen[c.name] = true
    local k = c.template(cases.join(c.shapes[1], c.types[1]))
    t.has(tostring(k), ("%s = tide.kernel"):format(c.template.name))
  end
  for _, x in ipairs(template.list()) do t.ok(seen[x.name], x.name .. " is not tested") end
end)

t.done()
