-- screen.lua - a terminal for tests: tmux runs the prompt, keys go in, the screen comes out. Not a test itself.
local shell = require "shell"
local t = require "tap"

local M = {}
M.__index = M

local function tmux(self, ...)
  local words = { "tmux", "-L", self.socket }
  for _, w in ipairs { ... } do words[#words + 1] = shell.quote(w) end
  return shell.output(table.concat(words, " ") .. " 2>&1")
end

--- Whether tmux is here.
function M.available() return (select(2, shell.output "command -v tmux >/dev/null")) == 0 end

--- Ends a test file where tmux, or another program that it needs, is missing.
function M.need(program)
  for _, name in ipairs {"tmux", program} do
    if shell.output("command -v " .. name) == "" then t.skip_all(name .. " is not installed") end
  end
end

--- A terminal of that size that runs a command.
function M.open(command, columns, rows)
  local mine = os.tmpname()
  os.remove(mine)
  local self = setmetatable({ socket = "tide_" .. mine:match "[^/]*$" }, M)
  tmux(self, "-f", "/dev/null", "new-session", "-d", "-x", tostring(columns or 100), "-y",
    tostring(rows or 40), command)
  return self
end

--- Types text, and then the named keys ("Enter", "C-c"..).
function M:type(text, ...)
  if text ~= "" then tmux(self, "send-keys", "-l", "--", (text:gsub(";$", "\\;"))) end
  for _, key in ipairs { ... } do tmux(self, "send-keys", key) end
end

--- Pastes text as a terminal does, between marks.
function M:paste(text)
  local path = os.tmpname()
  shell.write(path, text)
  tmux(self, "load-buffer", path)
  tmux(self, "paste-buffer", "-p", "-d")
  os.remove(path)
end

--- Gives the window another size.
function M:resize(columns, rows) tmux(self, "resize-window", "-x", tostring(columns), "-y", tostring(rows)) end

--- Column and row of the cursor, from 0.
function M:cursor()
  local x, y = tmux(self, "display-message", "-p", "#{cursor_x} #{cursor_y}"):match "(%d+) (%d+)"
  return tonumber(x), tonumber(y)
end

--- The process that the terminal runs.
function M:process() return tonumber((tmux(self, "display-message", "-p", "#{pane_pid}"))) end

--- The device that the terminal is.
function M:device() return (tmux(self, "display-message", "-p", "#{pane_tty}"):gsub("%s", "")) end

--- All that was shown, with the rows that have scrolled away, and with colours when `coloured`.
function M:all(coloured)
  if coloured then return (tmux(self, "capture-pane", "-p", "-e", "-S", "-")) end
  return (tmux(self, "capture-pane", "-p", "-S", "-"))
end

--- What the screen shows.
function M:text() return (tmux(self, "capture-pane", "-p")) end

--- Waits until the screen shows the plain text; false after `seconds`. Returns the screen too.
function M:wait(text, seconds)
  local screen
  for _ = 1, (seconds or 10) * 20 do
    screen = self:text()
    if screen:find(text, 1, true) then return true, screen end
    os.execute "sleep 0.05"
  end
  return false, screen
end

--- Waits until the screen no longer shows the plain text; false after `seconds`.
function M:wait_gone(text, seconds)
  for _ = 1, (seconds or 10) * 20 do
    if not self:text():find(text, 1, true) then return true end
    os.execute "sleep 0.05"
  end
  return false
end

--- Has every byte that is sent to the terminal from now on be written to a file too.
function M:keep(path) tmux(self, "pipe-pane", "cat > " .. shell.quote(path)) end

function M:close() tmux(self, "kill-server") end

return M
