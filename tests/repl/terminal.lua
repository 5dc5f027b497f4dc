-- terminal.lua - every row of "By row of the table of features" in README.md, typed and pasted into a terminal: at 20,
-- 80 and 200 columns, in C.UTF-8, in C, and in a locale with a decimal comma, nine sessions side by side. README.md
-- beside it says where each point of the prompt is shown.
-- [slow]
local t = require "tap"
local screen = require "screen"
local shell = require "shell"
local quote, program = shell.quote, shell.program

screen.need()

local PATIENCE = 20 -- seconds
local home = t.tmp "terminal"
shell.plant(home, {})

-- The environment of each locale; nil for one that cannot be made here.
local locales = { ["C.UTF-8"] = "LC_ALL=C.UTF-8", C = "LC_ALL=C" }
local comma = home .. "/locales"
if select(2, shell.output(("mkdir -p %s && localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>&1"):format(quote(comma),
  quote(comma)))) == 0 then
  locales.comma = ("LOCPATH=%s LC_ALL=de_DE.UTF-8"):format(quote(comma))
end

-- A text without blanks: what is shown does not depend on where rows are wrapped.
local function squeeze(text) return (text:gsub("%s+", "")) end

local Session = {}
Session.__index = Session

-- Opens a session; it yields while it waits, so that the others go on.
local function open(name, environment, columns)
  local folder = ("%s/%s_%d"):format(home, name, columns)
  shell.plant(folder, {})
  local command = ("cd %s && exec env -u NO_COLOR %s TIDE_HISTORY=%s TIDE_INIT= TIDE_PAGER= %s"):format(quote(folder),
    environment,
    quote(folder .. "/history"), quote(program))
  return setmetatable({ name = ("%s, %d columns"):format(name, columns), folder = folder, columns = columns,
    term = screen.open(command, columns, 120) }, Session)
end

-- Waits until the terminal has shown a text since the last mark.
function Session:sees(text, seconds)
  local want, start = squeeze(text), os.time()
  while os.time() - start < (seconds or PATIENCE) do
    if squeeze(self.term:text()):find(want, 1, true) then return end
    coroutine.yield()
  end
  error(("no %q in:\n%s"):format(text, self.term:text():gsub("\n+$", "")), 2)
end

-- Waits until a text has gone from the screen.
function Session:sees_no(text)
  local start = os.time()
  while os.time() - start < PATIENCE do
    if not squeeze(self.term:text()):find(squeeze(text), 1, true) then return end
    coroutine.yield()
  end
  error(("%q is still in:\n%s"):format(text, self.term:text()), 2)
end

-- Types an input, waits until the terminal has it, and presses Enter; then waits for an answer.
function Session:input(text, answer)
  self.term:type(text)
  self:sees(text)
  self.term:type("", "Enter")
  if answer then self:sees(answer) end
end

function Session:keys(...) self.term:type("", ...) end
function Session:text(text) self.term:type(text) end

-- Leaves what is typed, and empties the screen.
function Session:clear()
  self.term:type("", "C-c")
  self.term:type("", "C-l")
end

local kernel = [[
gemm = tide.kernel {
  A = i8[4][4], B = i8[4][4], C = i16[4][4],
  function(A, B, C)
    for i, j in grid(4, 4, "PE") do
      for k = 0, 3 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end,
}]]

local design = [[
top = tide.design(function(d)
  local Z = d:stream(i8, {4, depth = 2})
  d.left = tide.task { map = {4}, A = i8[4]:layout "S0", function(A, t) Z[t]:put(A[0]) end }
  d.right = tide.task { map = {4}, B = i8[4]:layout "S0", function(B, t) B[0] = Z[t]:get() end }
end)]]

-- The rows of the table, in its order: what is typed, and what must be seen. Each is a fact about what a user sees.
local rows = {
  { "Start", function(s)
    s:sees "Tide 0."
    s:sees "tide>"
  end },
  { "Multi-line editor, auto-indent, highlight, brace match, undo", function(s)
    s:text "for n = 1, 2 do"
    s:keys "Enter"
    s:sees "  ..>   "
    s:text "print(('n%dn'):format(n * 7))"
    s:keys("Enter")
    s:text "end"
    s:sees "..> end"
    s:keys "Enter"
    s:sees "n14n"
    if s.columns >= 80 then
      s:text "x = (1 + [2])"
      s:sees "(1 + [2])"
      t.ok(s.term:all(true):find "\27%[[%d;]*4[%d;]*m%(", s.term:all(true))
      s:keys "C-c"
    end
    s:text "undone"
    s:sees "undone"
    s:keys "C-_"
    s:sees_no "undone"
    s:text "'日本' .. 'e\u{301}' .. '👩‍👩‍👧'"
    s:keys("Left", "BSpace", "Home", "Right", "Right", "Delete", "End", "Enter")
    s:input("'bytes ' .. #_", "bytes 6")
  end },
  { "Multi-line editor: a paste with prompts, as one input", function(s)
    s.term:paste("tide> " .. kernel:gsub("\n", "\n  ..> ") .. "\n")
    s:sees "end,"
    s:keys "Enter"
    s:input("gemm.sizes == nil, 'pasted'", '"pasted"')
  end },
  { "Multi-line editor: the window takes other sizes", function(s)
    s:text "print('one ' .. 'two ' .. 'three ' .. 'four')"
    s.term:resize(s.columns // 2 + 3, 20)
    s:keys("Left")
    s.term:resize(s.columns, 120)
    s:keys("End", "Enter")
    s:sees "one two three four"
  end },
  { "Locals survive; last expression echoed; `;` silences", function(s)
    s:input "local kept <const> = 40"
    s:input("kept + 2.5", "42.5")
    s:input "kept + 1;"
    s:input("_ * 2", "85.0")
  end },
  { "Help `?x`, source `??x`, `x?` too", function(s)
    s:input("?split", "Split one loop into two")
    s:input("reorder?", "Put the loops of a nest")
    s:input("??gemm", "for i, j in grid(4, 4")
    s:input("?", ":undo")
  end },
  { "Commands `:name`, shell `!cmd`", function(s)
    s:input "s = tide.schedule(gemm);"
    s:input 's:split("k", 2);'
    s:input(":log s", '1  s:split("k", 2)')
    s:input(":diff s", "for k_o = 0, 1 do")
    s:input(":undo s", "for k = 0, 3 do")
    s:input(":ir gemm", "C[i][j] = C[i][j]")
    s:input(":time 6 * 7", " ms")
    s:input(":set ghost", "ghost is on")
    s:input(":tiem 1", "did you mean ':time'")
    s:input("!echo from_$((40 + 2))", "from_42")
  end },
  { "Completion: names, fields, methods, options, inside strings", function(s)
    s:text "gem"
    s:keys "Tab"
    s:sees "tide> gemm"
    s:keys "C-c"
    s:text 's:unfold("P'
    s:keys "Tab"
    s:sees 's:unfold("PE'
    s:keys "C-c"
    s:text 's:split("'
    s:keys("Tab", "Tab")
    s:sees "i  j  k"
    s:keys "C-c"
    s:text 's:split("k", 2, {ta'
    s:keys "Tab"
    s:sees "{tail"
    s:keys "C-c"
  end },
  { "History: prefix on Up, ghost text, C-r", function(s)
    s:input("'unique' .. 1", "unique1")
    s:input "'other' .. 2"
    s:text "'uni"
    s:sees "'unique' .. 1"
    s:keys("Right", "Enter")
    s:text "'uni"
    s:keys("Up", "BSpace")
    s:text "9"
    s:keys "Enter"
    s:sees "unique9"
    s:keys "C-r"
    s:sees "search:"
    s:text "oth2"
    s:sees "'other' .. 2"
    s:keys("Enter")
    s:keys("Enter")
    s:sees '"other2"'
    s:input(":set ghost off", "ghost is off")
    s:input(":set ghost on", "ghost is on")
  end },
  { "Echo of a schedule step, undo, at, compare", function(s)
    s:input("s = tide.schedule(gemm)", nil)
    s:input('s:reorder("k", "j")', "proved: strict")
    t.ok(s.term:all(true):find("\27[32m+", 1, true), "no colours")
    s:input("print(s:log())", 's:reorder("k", "j")')
    s:input("#s:steps(), #s:at(0):steps()", "1	0")
    s:input("r = s:fork():undo();", nil)
    s:input("tide.diff(r, s)", "for j = 0, 3 do")
    s:input("s:diff(r) == tide.diff(r, s)", "true")
  end },
  { "Save a session", function(s)
    s:input(":save all.lua", "to all.lua")
    t.has(shell.read(s.folder .. "/all.lua"), 's:reorder("k", "j")')
    s:input("!" .. "luacheck --std lua54 --no-config -q all.lua | tail -1", "0 warnings")
  end },
  { "Print after every step", function(s)
    s:input(":trace on", "trace is on")
    s:input('s:fork():pipeline("j");', 'step 2: pipeline("j"')
    s:input(":trace off", "trace is off")
  end },
  { "IR viewer", function(s)
    s:input 's:html "page.html"'
    s:input("'html' .. #io.open('page.html'):read(20)", "html20")
    t.ok(#shell.read(s.folder .. "/page.html") < 200 * 1024)
  end },
  { "Graph view", function(s)
    s.term:paste(design)
    s:sees "end)"
    s:keys "Enter"
    s:input("top", "A -> left[4] -> Z")
    s:input("top:graph():svg():sub(1, 4)", '"<svg"')
  end },
  { "Values", function(s)
    s:input("i8[1000][1000](1)", "[999]  1  1  1")
    s:input("f32[2](0.5)", "f32[2] {0.5, 0.5}")
    s:input("('y'):rep(9999)", "(9999 bytes)")
    s:input(":show ('q'):rep(300)", ("q"):rep(300))
    s:input("#_1", "9999")
  end },
  { "Errors", function(s)
    s:input('s:reorder("i", "nope")', "no loop named 'nope'")
    s:sees "^~~~"
    s:input("nil + 1", "is nil: arithmetic takes")
    s:input("error {why = 'table'}", 'error: {why = "table"}')
    s:input("'still ' .. 'here'", "still here")
  end },
  { "Verify at each step", function(s)
    s:input(":check on", "check is on")
    s:input('s:fork():unroll("k")', "proved: strict")
    s:input("s:verify()", '"strict"')
    s:input(":check quick", "check is quick")
  end },
  { "Simulation", function(s)
    s:input("A, B = random(i8[4], 1), i8[4](0)")
    s:input("m = top:build {target = 'cpu', timed = true, device = 'ideal'} m(A, B) A:equal(B)", "true")
    s:input("m.report", "cycles")
  end },
  { "Long work: progress, Ctrl-C", function(s)
    s:input "big = tide.kernel {x = i32[1], function(x) for i, j in grid(100000, 100000) do x[0] = x[0] + 1 end end}"
    s:input "big:reference(i32[1](0))"
    s:sees "reference run"
    s:keys "C-c"
    s:sees "interrupted"
    s:input("'goes ' .. 'on'", "goes on")
  end },
  { "Long work: jobs print above the prompt; jobs()", function(s)
    s:input(":job print('from the job') 40 + 2", "[1] runs")
    s:text "typing ="
    s:sees "[1] done after"
    s:sees "from the job"
    s:sees "tide> typing ="
    s:keys "C-c"
    s:input("jobs()", "[1] done after")
    s:input(":job while true do end", "[2] runs")
    s:input(":stop 2", "[2] stopped after")
  end },
  { "Reload", function(s)
    local text = kernel:gsub("^gemm =", "return"):gsub("i8%[", "tide.i8["):gsub("i16", "tide.i16")
    text = "local tide = require 'tide'\n" .. text:gsub("in grid", "in tide.grid") .. "\n"
    shell.write(s.folder .. "/k.lua", text)
    s:input 'k = dofile "k.lua"'
    s:input "ks = tide.schedule(k);"
    s:input 'ks:split("k", 2);'
    s:input(":reload k.lua", "ks: 1 of 1 step apply again")
    s:input("!sed -i 's/k = 0, 3/q = 0, 3/; s/\\[k\\]/[q]/g' k.lua", nil)
    s:input(":reload k.lua", "does not apply: no loop named 'k'")
  end },
  { "Notebook", function(s)
    shell.write(s.folder .. "/l.md", "```lua\n1.5 + 1\n```\n\n```out\n2.5\n```\n")
    s:input("!" .. shell.quote(program) .. " doc --check l.md", "as recorded")
  end },
  { "Job control: stopped and brought back", function(s)
    s:text "before"
    s:sees "tide> before"
    s:keys "C-z"
    for _ = 1, 8 do coroutine.yield() end
    shell.output("kill -CONT " .. s.term:process())
    s:text "_stop"
    s:sees "before_stop"
    s:keys "C-c"
  end },
  { "Ctrl-D leaves", function(s)
    s:text ""
    s:keys "C-d"
    local start = os.time()
    while s.term:process() and os.time() - start < PATIENCE do coroutine.yield() end
    t.ok(not s.term:process(), "the program still runs")
    t.has(shell.read(s.folder .. "/history"), "'unique' .. 1")
  end },
}

local sessions = {}
for name, environment in pairs(locales) do
  for _, columns in ipairs { 20, 80, 200 } do sessions[#sessions + 1] = open(name, environment, columns) end
end
table.sort(sessions, function(a, b) return a.name < b.name end)
if not locales.comma then t.skip("in a locale with a decimal comma", "localedef or its sources are not installed") end

-- Runs a row in all sessions side by side; why it fails in each that fails.
local function run(row)
  local threads, why = {}, {}
  for i, s in ipairs(sessions) do
    threads[i] = coroutine.create(function()
      if row ~= rows[1][2] then s:clear() end
      row(s)
    end)
  end
  repeat
    local busy = false
    for i, co in ipairs(threads) do
      local ok, e = true, nil
      if coroutine.status(co) == "suspended" then ok, e = coroutine.resume(co) end
      busy = busy or coroutine.status(co) == "suspended"
      if not ok then why[#why + 1] = sessions[i].name .. ": " .. tostring(e) end
    end
    if busy then os.execute "sleep 0.05" end
  until not busy
  return table.concat(why, "\n")
end

for _, row in ipairs(rows) do
  t.test(row[1], function() t.eq(run(row[2]), "") end)
end

for _, s in ipairs(sessions) do s.term:close() end
t.done()
