-- pager.lua - what is longer than the window goes through a pager, at a terminal only.
local screen = require "screen"
local shell = require "shell"
local t = require "tap"

screen.need "less"

-- A prompt in a window of 20 rows, with that in its environment.
local function open(environment)
  local term = screen.open("env " .. environment .. " TIDE_HISTORY= TIDE_INIT= " .. shell.quote(shell.program), 80, 20)
  assert(term:wait "tide>")
  return term
end

t.test("help and :show that are longer than the window wait in a pager, shorter ones do not", function()
  local term = open "-u PAGER -u LESS"
  term:type("?", "Enter")
  t.ok(term:wait "\n:", term:text())
  t.ok(not term:text():find(":tutorial", 1, true))
  t.has(term:text(), "?name explains")
  term:type("q", "")
  assert(term:wait "\ntide>", term:text())
  term:type("1 + 41", "Enter")
  t.ok(term:wait "\n42\n", term:text())
  term:type("?split", "Enter")
  t.ok(term:wait 's:split("k", 8)')
  term:type("x = {} for i = 1, 400 do x[i] = i * 1000 end", "Enter")
  term:type(":show x", "Enter")
  t.ok(term:wait "\n:", term:text())
  term:type("G", "")
  t.ok(term:wait "400000", term:text())
  term:type("q", "")
  term:type(":set pager off", "Enter")
  t.ok(term:wait "pager is off", term:text())
  term:type(":show x", "Enter")
  t.ok(term:wait "}\ntide>", term:text())
  term:close()
end)

t.test("Ctrl-C in the pager leaves the session whole; $TIDE_PAGER is another, or none", function()
  local term = open "-u PAGER -u LESS"
  term:type("?", "Enter")
  assert(term:wait "\n:", term:text())
  term:type("", "C-c")
  os.execute "sleep 0.5"
  term:type("q", "")
  assert(term:wait "\ntide>", term:text())
  term:type("6 * 7", "Enter")
  t.ok(term:wait "\n42\n", term:text())
  term:close()
  for _, own in ipairs { "TIDE_PAGER='cat -n'", "PAGER='cat -n'" } do
    term = open(own)
    term:type("?", "Enter")
    t.ok(term:wait "  commands of the prompt:", term:text())
    term:close()
  end
  for _, none in ipairs { "TIDE_PAGER=", "-u PAGER PATH=/nowhere", "TERM=dumb" } do
    term = open(none)
    term:type("?", "Enter")
    t.ok(term:wait ":undo", term:text())
    t.ok(term:wait "!line\ntide>", term:text())
    term:close()
  end
end)

t.test("no pager where nobody reads", function()
  t.has(shell.session "?\n", "!line\n")
end)

t.done()
