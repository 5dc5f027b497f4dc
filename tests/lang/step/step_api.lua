-- What tide.step has, row by row: help at the prompt, an example or a document that uses it, a test that does. And the
-- functions on tiles that models alone use, against plain Lua.
local tide, step = require "tide", require "tide.step"
local shell = require "shell"
local t = require "tap"
local f32, u64, fn = tide.f32, tide.u64, step.fn

-- The text of all files whose names these patterns of the shell find.
local function text_of(patterns)
  local list, all = io.popen("ls " .. patterns), {}
  for path in list:lines() do
    local file = assert(io.open(path))
    all[#all + 1] = file:read "a"
    file:close()
  end
  list:close()
  return table.concat(all, "\n")
end

-- What is called: operators as functions of the module or methods, functions of step.fn, methods of graphs.
local rows = {}
for _, o in ipairs(step.operators()) do rows[#rows + 1] = { "step." .. o.name, "[:.]" .. o.name .. " ?[({\"]" } end
for _, f in ipairs(step.functions()) do rows[#rows + 1] = { "step.fn." .. f.name, "fn%." .. f.name .. "%f[^%w_]" } end
for _, name in ipairs { "graph", "close", "metric", "operators", "functions" } do
  rows[#rows + 1] = { "step." .. name, "step%." .. name .. " ?[({\"]" }
end
for _, name in ipairs { "run", "simulate", "traffic", "memory", "flops", "intensity", "metric", "check", "at", "design",
  "svg", "dot", "html", "constants" } do
  rows[#rows + 1] = { "step.graph:" .. name, ":" .. name .. " ?[({\"]" }
end
rows[#rows + 1] = { "step.fn.empty", "fn%.empty" }

t.test("each row has help, an example and a test", function()
  local examples = text_of "examples/*.lua examples/*.md docs/*.md stdlib/tide/step/models.lua"
  local tests = text_of "tests/lang/step/*.lua tests/prim/step_*.lua"
  local asked = {}
  for i, r in ipairs(rows) do asked[i] = "?" .. r[1] .. "\nprint '-- next'" end
  local answers = shell.session(table.concat(asked, "\n"))
  local i = 0
  for answer in answers:gmatch "(.-)%-%- next" do
    i = i + 1
    local name = rows[i][1]
    local other = answer:find "nothing is called" or answer:find "function:" or answer:find "error:"
    t.ok(#answer > 40 and not other, name .. ": " .. answer)
    t.ok(examples:find(rows[i][2]), "no example of " .. name)
    t.ok(tests:find(rows[i][2]), "no test of " .. name)
  end
  t.eq(i, #rows)
end)

t.test("?step.flatten shows its row of the table", function()
  local answer = shell.session "?step.flatten"
  for _, o in ipairs(step.operators()) do
    if o.name == "flatten" then
      for _, key in ipairs { "args", "help", "meaning", "shape", "cycles", "bytes" } do t.has(answer, o[key]) end
    end
  end
  t.has(shell.session "?step.load", "ahead:int")
end)

t.test("rows and columns: row_sum, set_offset, append_row", function()
  local x, row = tide.random(f32[4][3], 1), tide.random(f32[1][3], 2)
  local g = step.graph(function()
    local a = step.load(x, { tile = { 4, 3 } }):flatten(0, 1)
    local cut = a:zip(step.values(tide.tensor(u64[1], { 2 }))):map(fn.set_offset)
    local more = cut:zip(step.load(row, { tile = { 1, 3 } }):flatten(0, 1)):map(fn.append_row)
    return a:map(fn.row_sum), more:map(fn.row_sum):flat_map(fn.split_rows)
  end)
  local sums, parts = g:run { lists = true }
  local want = {}
  for i = 0, 3 do
    local m = i == 2 and row[0] or x[i]
    want[i] = m[0] + m[1] + m[2]
  end
  local whole = sums[1]
  for i = 0, 3 do
    local m = x[i]
    t.ok(math.abs(whole[i][0] - (m[0] + m[1] + m[2])) < 1e-6)
  end
  t.eq(#parts, 3, "two rows are valid, and one more")
  for i = 1, 3 do t.ok(math.abs(parts[i][0][0] - want[i - 1]) < 1e-6, i) end
end)

t.test("selectors and numbers: last_tile, one_hot, signal, addresses", function()
  local lengths = tide.tensor(u64[3], { 3, 1, 2 })
  local ways, hot, groups, at = step.graph(function()
    local n = step.values(lengths)
    local some = n:zip(n):flat_map(fn.cache_addresses(1), { rank = 1 })
    local one = n:map(fn.one_hot(4))
    return n:flat_map(fn.last_tile, { rank = 1 }), one, some:accum(fn.signal, { rank = 1 }),
      one:flat_map(fn.addresses(2), { rank = 1 })
  end):run { lists = true }
  t.eq(ways, { { { 1 }, { 1 }, { 0 } }, { { 0 } }, { { 1 }, { 0 } } })
  t.eq(hot, { { 3 }, { 1 }, { 2 } })
  t.eq(groups, { 1, 1, 1 })
  t.eq(at, { { 6, 7 }, { 2, 3 }, { 4, 5 } })
end)

t.done()
