-- tide kernel: the Jupyter kernel as front ends know it, its installation, and the session that its cells run in.
local file = require "tide.file"
local front = require "tide.front"
local json = require "tide.json"
local jupyter = require "tide.jupyter"

local kernel = {}

--- What a notebook and kernel.json say of the kernel, and of the language of its cells.
kernel.spec = { name = "tide", display_name = "Tide", language = "lua" }
kernel.language = { name = "lua", version = _VERSION:match "%d.*", mimetype = "text/x-lua", file_extension = ".lua",
  pygments_lexer = "lua", codemirror_mode = "lua" }

-- The content of kernel_info_reply.
local function info()
  local version = require "tide".features().version
  return json.text { status = "ok", protocol_version = "5.3", implementation = "tide", implementation_version = version,
    banner = ("Tide %s: ? lists what there is, ?name explains it"):format(version), language_info = kernel.language,
    debugger = false, help_links = json.list }
end

-- The folder of the user's kernels, as `jupyter --paths` finds it.
local function user_folder()
  local data = os.getenv "JUPYTER_DATA_DIR"
  if data and data ~= "" then return data end
  local share = os.getenv "XDG_DATA_HOME"
  return (share and share ~= "" and share or (os.getenv "HOME" or "") .. "/.local/share") .. "/jupyter"
end

local logo = [[
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="12" fill="#0b6e99"/>
<g fill="none" stroke="#fff" stroke-width="5" stroke-linecap="round"><path d="M10 24q11-11 22 0t22 0"/>
<path d="M10 36q11-11 22 0t22 0" opacity=".8"/><path d="M10 48q11-11 22 0t22 0" opacity=".6"/></g></svg>
]]

-- Writes the files that make front ends find this program; returns their folder.
local function install(prefix)
  local folder = (prefix and prefix .. "/share/jupyter" or user_folder()) .. "/kernels/" .. kernel.spec.name
  local made = os.execute(("mkdir -p '%s'"):format((folder:gsub("'", "'\\''"))))
  if not made then error("cannot make " .. folder, 0) end
  assert(file.write(folder .. "/logo-svg.svg", logo))
  assert(file.write(folder .. "/kernel.json", json.text({ argv = { jupyter.program(), "kernel", "{connection_file}" },
    display_name = kernel.spec.display_name, language = kernel.spec.language, interrupt_mode = "signal",
    metadata = { debugger = false } }, true) .. "\n"))
  return folder
end

-- The value that a format of io.read makes of a typed line.
local function convert(line, format)
  format = format:gsub("^%*", "")
  if format == "n" then return tonumber(line) end
  return format:find "^L" and line .. "\n" or line
end

-- io.read that asks the front end, a line for each format.
local function read(...)
  local values, formats = {}, { ... }
  for i = 1, math.max(#formats, 1) do
    local line, why = front.ask()
    if not line then error("io.read: " .. why, 2) end
    values[i] = convert(line, formats[i] or "l")
  end
  return table.unpack(values, 1, math.max(#formats, 1))
end

-- Serves the front ends of a connection file; returns the exit status.
local function serve(connection)
  require "tide.display"
  io.read = read -- luacheck: ignore 122
  os.exit = function() error("a cell does not end the kernel; :quit does", 2) end -- luacheck: ignore 122
  local served, why = jupyter.serve(connection, info())
  if served then return 0 end
  io.stderr:write("tide kernel: ", why, "\n")
  return 1
end

-- The prefix among the words behind --install, nil for the user's folder; false when they are wrong.
local function read_install(words)
  local joined = table.concat(words, "=", 2)
  if joined == "" or joined == "--user" then return nil end
  return joined:match "^%-%-prefix=(.+)" or false
end

--- tide kernel ..: returns the exit status, or nil when it is used wrongly.
function kernel.command(...)
  local words = { ... }
  if words[1] == "-f" then table.remove(words, 1) end
  if words[1] ~= "--install" then return #words == 1 and not words[1]:find "^%-" and serve(words[1]) or nil end
  local prefix = read_install(words)
  if prefix == false then return nil end
  local installed, folder = pcall(install, prefix)
  if not installed then
    io.stderr:write("tide kernel: ", folder, "\n")
    return 1
  end
  print("wrote " .. folder .. "/kernel.json")
  local why = jupyter.missing()
  if why then print("the kernel cannot run yet: " .. why) end
  return 0
end

return kernel
