-- start.lua - the start file of the prompt, its switches, and what a session that is hung up leaves.
local t = require "tap"
local shell = require "shell"
local quote = shell.quote

local home = t.tmp "home"

-- What the prompt prints for an input, with a start file, an environment and options.
local function prompt(start, environment, options, input)
  shell.plant(home, { [".config/tide/init.lua"] = start, ["other.lua"] = "greeting = 'other'" })
  local path = t.tmp "input"
  shell.write(path, input or "greeting\n")
  local out = shell.output(("env HOME=%s XDG_CONFIG_HOME= %s %s %s -i <%s 2>&1"):format(quote(home), environment,
    quote(arg[-1]), options, quote(path)))
  return out
end

t.test("the start file runs before the first input, with tide's names", function()
  t.eq(prompt("greeting = tostring(i8)", "", ""), '"i8"\n')
end)

t.test("-E and an empty TIDE_INIT switch it off; TIDE_INIT names another", function()
  t.eq(prompt("greeting = 'hello'", "", "-E"), "nil\n")
  t.eq(prompt("greeting = 'hello'", "TIDE_INIT=", ""), "nil\n")
  t.eq(prompt("greeting = 'hello'", "TIDE_INIT=" .. quote(home .. "/other.lua"), ""), '"other"\n')
end)

t.test("an error in it is told and the prompt opens", function()
  local out = prompt("greeting = 'hello' error 'no'", "", "")
  t.has(out, "init.lua:1:20: error: no")
  t.ok(out:find '\n"hello"\n$')
end)

t.test("scripts do not read it", function()
  t.eq(prompt("print 'hello'", "", "-e 'print(1)'", ""), "1\nhello\n")
  shell.plant(home, { [".config/tide/init.lua"] = "print 'hello'", ["s.lua"] = "print 'script'" })
  t.eq(shell.output(("env HOME=%s %s %s"):format(quote(home), quote(arg[-1]), quote(home .. "/s.lua"))), "script\n")
end)

if shell.output "command -v tmux" == "" then
  t.skip("hang-up", "tmux is not installed")
  t.done()
end

t.test("a session that is hung up while an input runs leaves its history", function()
  local history, socket = t.tmp "history", quote(t.tmp "tmux")
  local absolute = arg[-1]:sub(1, 1) == "/" and arg[-1] or "./" .. arg[-1]:gsub("^%./", "")
  local function tmux(words) return (shell.output(("tmux -S %s -f /dev/null %s 2>&1"):format(socket, words))) end
  tmux(("new-session -d -x 80 -y 24 env TIDE_HISTORY=%s TIDE_INIT= %s"):format(quote(history), quote(absolute)))
  local pid
  for _ = 1, 100 do
    pid = tmux "display-message -p '#{pane_pid}'":match "%d+"
    if tmux "capture-pane -p":find "tide>" then break end
    shell.output "sleep 0.05"
  end
  tmux "send-keys -l 'kept = 6 * 7'"
  tmux "send-keys Enter"
  tmux "send-keys -l 'while true do end'"
  tmux "send-keys Enter"
  for _ = 1, 100 do
    if (shell.read(history) or ""):find "while true" then break end
    shell.output "sleep 0.05"
  end
  shell.output("kill -HUP " .. pid)
  for _ = 1, 100 do
    if shell.output("kill -0 " .. pid .. " 2>&1") ~= "" then break end
    shell.output "sleep 0.05"
  end
  local gone = shell.output("kill -0 " .. pid .. " 2>&1") ~= ""
  tmux "kill-server"
  t.ok(gone, "the program still runs")
  t.has(shell.read(history), "kept = 6 * 7")
  t.has(shell.read(history), "while true do end")
end)

t.done()
