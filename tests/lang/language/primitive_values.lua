-- primitive_values.lua - primitives, steps and recipes as values: their fields against what they do, steps taken again
-- on other schedules, recipes as methods; what is refused leaves a schedule as it was.
local t = require "tap"
local tide = require "tide"
local i32, grid = tide.i32, tide.grid

local function gemm(M, N, K)
  return tide.kernel { A = i32[M][K], B = i32[K][N], C = i32[M][N], name = "gemm", function(A, B, C)
    for i, j in grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end }
end

t.test("kinds of values", function()
  t.eq(type(tide.primitives.split), "userdata")
  t.eq(type(tide.schedule(gemm(4, 4, 4)):split("k", 2):steps()[1]), "userdata")
  local design = tide.design(function(d)
    local s = d:stream(i32, { 1 })
    t.eq(type(s), "userdata")
    local task = tide.task { map = { 1 }, A = i32[4], function(A) s[0]:put(A[0]) end }
    t.eq(type(task), "userdata")
    d.a = task
    d.b = tide.task { map = { 1 }, B = i32[4], function(B) B[0] = s[0]:get() end }
  end)
  t.eq(type(design), "userdata")
end)

t.test("every primitive of the registry is there, with its fields", function()
  local listed, n = {}, 0
  for _, p in ipairs(tide.primitives) do
    listed[p.name] = true
    for _, key in ipairs { "name", "group", "summary", "rewrite", "legal", "example" } do
      t.eq(type(p[key]), "string", key)
    end
    t.eq(type(p.args), "table")
    t.ok(#p.errors == 0 or type(p.errors[1]) == "string")
    t.has(tostring(p), p.summary)
    local grouped = false
    for _, q in ipairs(tide.primitives.groups[p.group]) do grouped = grouped or q == p end
    t.ok(grouped, p.name)
    n = n + 1
  end
  for _, r in ipairs(tide.registry().primitives) do
    local p = tide.primitives[r.name]
    t.ok(listed[r.name], r.name)
    t.eq({ p.summary, p.legal, p.group }, { r.summary, r.legal, r.on })
    t.eq(p.args, r.args)
  end
  t.ok(n >= 30)
end)

t.test("a primitive that needs an argument says so by the name of the field", function()
  for _, p in ipairs(tide.primitives.groups.loop) do
    local first = p.args[1]
    if first and first.place == "needed" then
      local e = t.fails(function() p(tide.schedule(gemm(4, 4, 4))) end, { kind = "usage" })
      t.has(tostring(e), first.name, p.name)
    end
  end
end)

t.test("a call of it is the method", function()
  local s, q = tide.schedule(gemm(4, 4, 8)), tide.schedule(gemm(4, 4, 8))
  local r, outer, inner = tide.primitives.split(s, "k", 4)
  q:split("k", 4)
  t.eq(r, s)
  t.eq({ outer, inner }, { "k_o", "k_i" })
  t.eq(tostring(s), tostring(q))
  t.eq(s:log(), q:log())
  local e = t.fails(function() tide.primitives.split(s, "x", 4) end)
  t.has(tostring(e), "no loop")
  t.fails(function() tide.primitives.split(3, "k", 4) end, { code = "argument" })
  t.has(tostring(t.fails(function() return tide.primitives.split.sumary end)), "no method or field 'sumary'")
end)

t.test("a step: primitive, arguments, names, verdict, difference", function()
  local s = tide.schedule(gemm(4, 4, 8))
  s:split("k", 4, { tail = "perfect" })
  s:reorder("k_o", "j")
  local step = s:steps()[1]
  t.eq(step.primitive, tide.primitives.split)
  t.eq(step.args, { loop = "k", factor = 4, tail = "perfect" })
  t.eq(step.names, { "k_o", "k_i" })
  t.eq({ step.number, step.call }, { 1, 'split("k", 4, {tail = "perfect"})' })
  t.eq(step.verdict, "strict")
  t.has(step.diff, "+")
  t.eq(s:steps()[2].args, { loops = { "k_o", "j" } })
  t.eq(tostring(s:steps()[2]), 'step 2: reorder("k_o", "j")')
end)

t.test("a step is taken on another schedule, or says why not", function()
  local s, other = tide.schedule(gemm(4, 4, 8)), tide.schedule(gemm(6, 8, 12))
  s:split("k", 4)
  s:reorder("k_o", "j")
  s:partition("A", { 1 }, { factor = 2 })
  for _, step in ipairs(s:steps()) do t.eq((step:apply(other)), other) end
  t.eq(#other:steps(), 3)
  t.eq(other:steps()[2].call, s:steps()[2].call)
  t.ok(other:verify())
  local before = tostring(other)
  local e = t.fails(function() s:steps()[1]:apply(other) end)
  t.has(tostring(e), "no loop")
  t.eq(tostring(other), before)
  t.fails(function() s:steps()[1]:apply(3) end)
end)

t.test("a step that was given a kernel is not taken elsewhere", function()
  local dot = tide.kernel { X = i32[8], Y = i32[8], Z = i32[1], name = "dot", function(X, Y, Z)
    for k = 0, 7 do Z[0] = Z[0] + X[k] * Y[k] end
  end }
  local user = tide.kernel { X = i32[8], Y = i32[8], Z = i32[1], name = "user", function(X, Y, Z)
    for k = 0, 7 do Z[0] = Z[0] + X[k] * Y[k] end
  end }
  local s = tide.schedule(user)
  s:inject("k", dot)
  local e = t.fails(function() s:steps()[1]:apply(tide.schedule(user)) end, { code = "step" })
  t.has(tostring(e), "inject was given a kernel")
end)

local rows = tide.recipe {
  name = "rows", summary = "Takes an output in rows of some elements.",
  args = { { name = "loop", help = "the loop of a row" }, { name = "n", help = "elements" } },
  apply = function(s, loop, n)
    local _, outer, inner = s:split(loop, n)
    s:reorder(inner, "k")
    return outer
  end,
}

t.test("a recipe is a method, a primitive, and logged as its steps", function()
  t.eq(type(rows), "userdata")
  t.eq(tide.primitives.rows, rows)
  t.eq({ rows.name, rows.group, rows.summary }, { "rows", "recipe", "Takes an output in rows of some elements." })
  local s, q = tide.schedule(gemm(4, 8, 8)), tide.schedule(gemm(4, 8, 8))
  q:split("j", 4)
  t.fails(function() q:reorder("j_i", "k_x") end)
  local r = tide.schedule(gemm(4, 8, 8))
  local same, outer = s:rows("j", 4)
  t.eq(same, s)
  t.eq(outer, "j_o")
  rows(r, "j", 4)
  t.eq(tostring(s), tostring(r))
  t.eq(#s:steps(), 2)
  t.has(s:log(), 's:split("j", 4)')
  t.eq(tostring(load(s:log())(gemm(4, 8, 8))), tostring(s))
  t.ok(s:verify())
  t.has(tostring(rows), "s:rows(loop, n)")
  t.has(tostring(rows), "the loop of a row")
end)

t.test("a recipe that fails leaves the schedule as it was", function()
  local s = tide.schedule(gemm(4, 8, 8))
  s:split("i", 2)
  local before = tostring(s)
  tide.recipe { name = "half", apply = function(x) x:split("j", 4) x:reorder("k", "no") end }
  t.fails(function() s:half() end)
  t.eq(tostring(s), before)
  t.eq(#s:steps(), 1)
end)

t.test("refused: recipes without a name or a function, of a name that is taken", function()
  local e = t.fails(function() tide.recipe { name = "x" } end, { code = "recipe" })
  t.has(e.help, "tide.recipe {name =")
  t.has(tostring(t.fails(function() tide.recipe { name = "split", apply = print } end, { code = "recipe" })),
    "schedules have a method 'split'")
  e = t.fails(function() tide.recipe { name = "a b", apply = print } end, { code = "recipe" })
  t.has(tostring(e), "'a b' is no name")
  t.ok(tide.recipe { name = "half", apply = function() end }, "a recipe may be made anew")
end)

t.done()
