-- shell.lua - commands and files, for the runner, the linter and the tests of the house.
local M = {}

-- A word of a shell command.
function M.quote(word) return "'" .. word:gsub("'", "'\\''") .. "'" end

-- What a shell command prints, and its exit status (128 + n when killed by signal n).
function M.output(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  local _, how, n = pipe:close()
  return text, how == "signal" and 128 + n or n
end

-- The whole of a file, or nil.
function M.read(path)
  local f = io.open(path, "rb")
  if not f then return nil end
  local text = f:read "a"
  f:close()
  return text
end

-- Makes a file hold a text; returns its path.
function M.write(path, text)
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

-- The folder that tests run in, and the tide that runs this one: absolute paths.
M.here = M.output "pwd -P":match "[^\n]+"
M.program = arg and arg[-1] and (arg[-1]:find "^/" and arg[-1] or M.here .. "/" .. arg[-1])

-- Standard output and error of the inputs, sent to one session of the prompt.
function M.session(inputs)
  local path = os.tmpname()
  M.write(path, inputs)
  local text = M.output(("%s -i <%s 2>&1"):format(M.quote(M.program), M.quote(path)))
  os.remove(path)
  return text
end

-- Makes a folder, new and empty, of the files {path = text}; its name may hold spaces.
function M.plant(folder, files)
  M.output("rm -rf " .. M.quote(folder) .. " && mkdir -p " .. M.quote(folder))
  for path, text in pairs(files) do
    local below = path:match "^(.*)/"
    if below then M.output("mkdir -p " .. M.quote(folder .. "/" .. below)) end
    M.write(folder .. "/" .. path, text)
  end
end

return M
