-- drawing.lua - designs drawn by tasks: everything is there, nothing lies on anything else, or outside.
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local drawing = require "tide.tool.drawing"
local i8, task, grid = tide.i8, tide.task, tide.grid

-- Designs by what is hard about them.
local designs = {}

designs["a chain with a bypass"] = function(d)
  local Z, Y, W = d:stream(i8), d:stream(i8), d:stream(i8)
  d.a = task { A = i8[4], function(A) for i in grid(4) do Z:put(A[i]) Y:put(A[i]) end end }
  d.b = task { function() for _ in grid(4) do W:put(i8(Z:get() + 1)) end end }
  d.c = task { C = i8[4], function(C) for i in grid(4) do C[i] = W:get() + Y:get() end end }
end

designs["a ring"] = function(d)
  local to, back = d:stream(i8), d:stream(i8)
  d.one = task { function() for i in grid(4) do to:put(i8(i)) local _ = back:get() end end }
  d.two = task { function() for _ in grid(4) do back:put(to:get()) end end }
end

designs["instances that feed each other"] = function(d)
  local line = d:stream(i8, { 5 })
  d.pe = task { map = { 4 }, A = i8[4], function(A, p)
    local x = i8(1)
    if p > 0 then x = line[p]:get() end
    A[p] = x
    if p < 3 then line[p + 1]:put(x) end
  end }
end

designs["wide names"] = function(d)
  local a_stream_with_a_long_name = d:stream(i8[4], { depth = 4 })
  d.source = task { A = i8[4][4], function(A) for i in grid(4) do a_stream_with_a_long_name:put(A[i]) end end }
  d.sink = task { B = i8[4][4], function(B) for i in grid(4) do B[i]:set(a_stream_with_a_long_name:get()) end end }
end

designs["four of a kind between two"] = function(d)
  local to, from = d:stream(i8, { 4 }), d:stream(i8, { 4 })
  d.split = task { A = i8[4], function(A) for i in grid(4) do to[i]:put(A[i]) end end }
  for k = 0, 3 do d["work" .. k] = task { function() from[k]:put(i8(to[k]:get() * 2)) end } end
  d.join = task { B = i8[4], function(B) for i in grid(4) do B[i] = from[i]:get() end end }
end

-- The attributes of all elements of that name.
local function elements(svg, name)
  local list = {}
  for text in svg:gmatch("<" .. name .. "( [^>]*)") do
    local e = {}
    for key, value in text:gmatch '([%w%-]+)="([^"]*)"' do e[key] = tonumber(value) or value end
    list[#list + 1] = e
  end
  return list
end

-- The boxes of nodes; the second of two that stand for many is left out.
local function boxes(svg)
  local list = {}
  for _, r in ipairs(elements(svg, "rect")) do
    local last = list[#list]
    if last and last.x == r.x + 4 and last.y == r.y + 4 then list[#list] = nil end
    list[#list + 1] = r
  end
  return list
end

local names = {}
for name in pairs(designs) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local build = designs[name]
  t.test(name, function()
    local d = tide.design(build)
    local svg = drawing.tasks(d)
    local w, h = svg:match 'viewBox="0 0 (%d+) (%d+)"'
    local list = boxes(svg)
    for i, a in ipairs(list) do
      t.ok(a.x >= 0 and a.y >= 0 and a.x + a.width <= tonumber(w) and a.y + a.height <= tonumber(h), "a box outside")
      for k = i + 1, #list do
        local b = list[k]
        t.ok(a.x + a.width < b.x or b.x + b.width < a.x or a.y + a.height < b.y or b.y + b.height < a.y, "two overlap")
      end
    end
    for _, node in ipairs(d:graph().node) do t.has(svg, ">" .. node.task) end
    for _, edge in ipairs(d:graph().edge) do t.has(svg, ">" .. edge.stream:match "^[%w_]+") end
    t.eq(d:graph():svg { by = "task" }, svg)
  end)
end

t.test("each stream is an arrow, each argument too", function()
  local svg = drawing.tasks(tide.design(designs["a chain with a bypass"]))
  local heads = 0
  for _, path in ipairs(elements(svg, "path")) do heads = heads + (path["marker-end"] and 1 or 0) end
  t.eq(heads, 3 + 2)
end)

t.test("an arrow joins tasks of which instances are joined, not all that name the stream", function()
  local function drawn(last)
    return drawing.tasks(tide.design(function(d)
      local Z = d:stream(i8, { 2 })
      d.pe = task { map = { 2 }, A = i8[2], function(A, P)
        if P == 0 then Z[1]:put(A[0]) end
        if P == last then Z[0]:put(A[1]) end
      end }
      d.one = task { B = i8[1], function(B) B[0] = Z[1]:get() end }
      d.two = task { C = i8[1], function(C) if C[0] == 0 then C[0] = 1 end C[0] = Z[0]:get() end }
      d.none = task { map = { 2 }, A = i8[2], function(A, P)
        if P > 1 then Z[0]:put(A[0]) end
        if P > 1 then A[P] = Z[1]:get() end
      end }
    end))
  end
  local arrows = 0
  for _ in drawn(1):gmatch ">Z%[2%]" do arrows = arrows + 1 end
  t.eq(arrows, 2)
end)

t.test("a stream that nobody gets from, in a design that is refused", function()
  local d = tide.design(function(d)
    local s = d:stream(i8)
    d.only = task { function() s:put(1) end }
  end, { check = false })
  t.has(drawing.tasks(d), ">nobody<")
end)

t.test("names with quotes, marks and bytes that are no letters are drawn, by task and by instance", function()
  local function drawn(one, two)
    local g = tide.design(function(d)
      local z = d:stream(i8)
      d[one] = task { function() for i in grid(3) do z:put(i8(i)) end end }
      d[two] = task { B = i8[3], function(B) for i in grid(3) do B[i] = z:get() end end }
    end):graph()
    return g:svg { by = "task" }, g:svg { by = "instance" }
  end
  for _, svg in ipairs { drawn('<a> "b" \\', "\xC3\xBC\xFF\1.") } do
    t.ok(utf8.len(svg), "letters")
    t.has(svg, ">&lt;a&gt; &quot;b&quot; \\</text>")
    t.has(svg, ">\u{FC}\u{FFFD}\u{FFFD}.</text>")
    t.eq(select(2, svg:gsub('class="edge"', "")) >= 1, true, "arrows")
  end
  for _, svg in ipairs { drawn("a", "\u{FC}.") } do t.has(svg, ">\u{FC}.</text>") end
end)

t.test("a schedule is drawn as it is now, a kernel is not", function()
  local k = tide.kernel { A = i8[4], B = i8[4], function(A, B) for i in grid(4) do B[i] = A[i] end end }
  t.eq(drawing.tasks(k), nil)
  t.has(drawing.tasks(tide.schedule(tide.design(designs["a ring"]))), ">one<")
end)

t.test("without Graphviz there are text and DOT, and a message", function()
  local script = shell.write(t.tmp "plain.lua", [[
    local tide = require "tide"
    local g = tide.design(function(d) d.a = tide.task {function() end} end):graph()
    print(#g:dot() > 20, tostring(g):match "^[^\n]+")
    for _, by in ipairs {"task", "instance"} do
      local ok, e = pcall(g.svg, g, {by = by})
      print(ok, e.kind, e.code, e.help)
    end
  ]])
  local refused = "false\tunsupported\tno-graphviz\tapt-get install graphviz; text and :dot() need nothing\n"
  local text = shell.output(("GVBINDIR=/nowhere %s %s 2>&1"):format(shell.quote(shell.program), shell.quote(script)))
  t.has(text, "true\t")
  t.has(text, refused .. refused)
end)

t.test("streams are labelled with type, depth and, of a run, the most that they held", function()
  local d = tide.design(function(d)
    local link = d:stream(tide.i16, {2, depth = 3})
    d.put = tide.task {map = {2}, A = tide.i16[8], function(A, i) for k in tide.grid(4) do link[i]:put(A[k]) end end}
    d.get = tide.task {map = {2}, B = tide.i16[8]:layout "S0", function(B, i)
      for k in tide.grid(4) do B[k] = link[i]:get() end
    end}
  end)
  t.has(d:graph():svg {by = "task"}, ">i16, depth 3</text>")
  t.has(d:graph():svg(), ">i16, depth 3</text>")
  local m = d:build {target = "cpu", timed = true}
  m(tide.i16[8](1), tide.i16[8](0))
  local most = 0
  for _, x in ipairs(m.report.streams) do
    most = math.max(most, x.most)
    t.ok(d:graph():svg {run = m.report}:find((">%s, 4 tokens</text>\n<text [^>]*>i16, depth 3, held %d</text>"):format(
      x.name:gsub("[%[%]]", "%%%0"), x.most)), x.name)
  end
  t.has(d:graph():svg {by = "task", run = m.report}, (">i16, depth 3, held %d</text>"):format(most))
  t.fails(function() d:graph():svg {run = 3} end, {kind = "usage", code = "option"})
  t.fails(function() d:graph():dot {run = m.report} end, {kind = "usage", code = "unknown-option"})
end)

t.done()
