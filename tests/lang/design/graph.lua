-- graph.lua - the task graph as a value: counts, lists, the table, DOT that parses back, SVG that is well formed.
local t = require "tap"
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid

-- P producers, a consumer of all that they send, N tokens each; a task of its own draws nothing.
local function fan_in(P, N)
  return tide.design(function(d)
    local Z = d:stream(i32[2], {P, depth = 3})
    d.send = task {map = {P}, A = i32[P * N][2]:layout "S0R", function(A, p)
      for n in grid(N) do Z[p]:put(A[n]) end
    end}
    d.sum = task {B = i32[N][2], function(B)
      for n in grid(N) do
        local s = i32[2](0)
        for p in grid(P) do s:set(s + Z[p]:get()) end
        B[n]:set(s)
      end
    end}
  end)
end

-- Nodes and edges of Graphviz text, as it is written back.
local function parse_dot(text)
  local nodes, edges = {}, {}
  for line in text:gmatch "[^\n]+" do
    local from, to = line:match '^  "([^"]+)" %-> "([^"]+)" %[label="[^"]+"%];$'
    local node = line:match '^  "([^"]+)";$'
    if from then edges[#edges + 1] = from .. " -> " .. to end
    if node then nodes[#nodes + 1] = node end
  end
  return nodes, edges
end

-- The names of all elements of an XML text, which must close as they open.
local function parse_xml(text)
  local open, seen = {}, {}
  local rest = text:gsub("<([^<>]+)>", function(tag)
    local close, name, empty = tag:match "^(/?)([%w]+).-(/?)$"
    if close == "/" then
      t.eq(table.remove(open), name, "closing tag")
    else
      seen[name] = (seen[name] or 0) + 1
      if empty == "" then open[#open + 1] = name end
    end
    return ""
  end)
  t.eq(#open, 0, "open tags")
  t.ok(not rest:find "[<>&]", "bare markup")
  return seen
end

t.test("counts and lists", function()
  local g = fan_in(3, 4):graph()
  t.eq({g.nodes, g.streams, g.tokens, g.ports}, {4, 3, 12, 4})
  t.eq(g.node[4], {name = "sum", task = "sum", body = 0})
  t.eq(g.edge[2], {stream = "Z[1]", from = "send[1]", to = "sum", tokens = 4})
  t.eq(g.port[1], {node = "send[0]", argument = "A", reads = true, writes = false})
  t.eq(g.port[4], {node = "sum", argument = "B", reads = false, writes = true})
end)

t.test("the table has a line for each task and array of streams", function()
  t.eq(tostring(fan_in(3, 4):graph()), [[
fan_in: 4 nodes, 4 ports, 3 streams, 12 tokens
  task send {3}: 3 nodes  reads A
  task sum: 1 node  writes B
  stream Z: send -> sum, 3 of i32[2], depth 3, 12 tokens
]])
end)

t.test("DOT, parsed back", function()
  local g = fan_in(3, 4):graph()
  local nodes, edges = parse_dot(g:dot())
  t.eq(nodes, {"send[0]", "send[1]", "send[2]", "sum"})
  t.eq(edges, {"send[0] -> sum", "send[1] -> sum", "send[2] -> sum"})
  nodes, edges = parse_dot(g:dot {by = "task"})
  t.eq({nodes, edges}, {{"send x 3", "sum"}, {"send x 3 -> sum"}})
end)

t.test("SVG, well formed", function()
  local g = fan_in(5, 2):graph()
  local seen = parse_xml(g:svg())
  t.eq({seen.rect, seen.text}, {6, 6 + 2 * 5}, "instances, their streams, and the type and depth of each")
  seen = parse_xml(g:svg {by = "task"})
  t.eq({seen.rect, seen.text}, {1 + 2 + 1 + 1, 1 + 2 * 2 + 1 + 2 * 2 - 1},
    "A, send (many), sum, B; their lines and edges, of which one says nothing")
end)

t.test("instances that do nothing are no nodes", function()
  local top = tide.design(function(d)
    d.some = task {map = {4}, A = i8[4], function(A, p)
      if p > 1 then A[p] = A[p] + 1 end
    end}
  end)
  t.eq({top:graph().nodes, tide.schedule(top):tasks()}, {2, {"some[2]", "some[3]"}})
end)

t.test("data decides how many tokens there are", function()
  local top = tide.design(function(d)
    local Z, n = d:stream(i32), d:stream(i32)
    d.send = task {A = i32[8], function(A)
      local count = i32(0)
      for i in grid(8) do
        if A[i] > 0 then
          count = count + 1
          Z:put(A[i])
        end
      end
      n:put(count)
    end}
    d.sink = task {B = i32[8], function(B)
      local left = 0
      for i in grid(8) do
        if B[i] > left then B[i] = Z:get() end
      end
      B[0] = n:get()
    end}
  end, {check = false})
  local g = top:graph()
  t.eq(g.tokens, nil)
  t.has(tostring(g), "0 to 8 tokens")
end)

-- Figure 9 of Allo: what one kernel writes another reads, through an array of the caller.
local function multiply_add()
  local mul = tide.kernel {A = i32[8], B = i32[8], C = i32[8], function(A, B, C)
    for i = 0, 7 do C[i] = A[i] * B[i] end
  end}
  local add = tide.kernel {A = i32[8], D = i32[8], function(A, D)
    for i = 0, 7 do D[i] = A[i] + 1 end
  end}
  return tide.kernel {name = "top", A = i32[8], B = i32[8], D = i32[2][8], function(A, B, D)
    local C = i32[8]()
    mul(A, B, C)
    add(C, D[1])
  end}
end

t.test("the arrays of a program and where they are passed", function()
  local s = tide.schedule(multiply_add()):partition("top:C")
  local g = s:arrays()
  t.eq({#g.array, #g.pass}, {9, 5})
  local C = g.array[9]
  t.eq({C.name, C.type, C.banks}, {"top:C", "i32[8]", {"complete"}})
  t.eq(tostring(C.layout), 'tide.layout.partition(tide.i32[8], {0}, {kind = "complete"})')
  t.eq(g.array[8].banks, {"in one bank", "in one bank"})
  t.eq({g.pass[4].array, g.pass[4].as}, {"top:C", "add:A"})
  t.has(tostring(g), "    C: i32[8], complete\n      as mul:C\n      as add:A\n")
  local nodes, edges = parse_dot(g.dot)
  t.eq(#nodes, 9)
  t.eq({edges[3], edges[4]}, {"mul:C complete -> top:C complete", "top:C complete -> add:A complete"})
  t.eq(parse_xml(g.svg).rect, 9)
  local none = tide.kernel {function() end}
  t.eq({#none:arrays().array, parse_xml(none:arrays().svg).rect}, {0, nil})
end)

t.test("the arguments of a design and its tasks", function()
  local g = fan_in(3, 4):arrays()
  t.eq(#g.pass, 1, "a layout cuts the other")
  t.eq({g.pass[1].array, g.pass[1].as}, {"fan_in:B", "sum:B"})
end)

t.test("a kernel has none", function()
  local k = tide.kernel {A = i8[2], function(A) A[0] = 1 end}
  t.fails(function() k:graph() end, {kind = "usage", code = "argument"})
end)

t.test("a stream without a consumer has no graph", function()
  local top = tide.design(function(d)
    local Z = d:stream(i8)
    d.send = task {A = i8[2], function(A) Z:put(A[0]) end}
  end, {check = false})
  t.fails(function() top:graph() end, {kind = "illegal", code = "no-consumer"})
end)

t.test("no graph where the data picks one of very many streams", function()
  local function scatter(N)
    return tide.design(function(d)
      local Z = d:stream(tide.i32, {N})
      d.a = tide.task {A = tide.i32[8], function(A)
        for i = 0, 7 do Z[A[i]]:put(1) end
      end}
      d.b = tide.task {map = {N}, B = tide.i32[N], function(B, n) B[n] = Z[n]:get() end}
    end, {check = false})
  end
  local e = t.fails(function() scatter(5000):graph() end, {kind = "unsupported", code = "open"})
  t.has(e.message, "the data picks one of too many streams")
  t.eq(scatter(50):graph().nodes, 51)
end)

t.done()
