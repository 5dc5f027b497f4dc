-- The verbs of the command line: tide doc, check, kernel, init. Each returns its exit status.
local cli = {}

-- Says how a verb is used; returns the exit status.
local function usage(name)
  for _, verb in ipairs(require "tide".registry().verbs) do
    if verb.name == name then
      io.stderr:write("usage: tide ", name, verb.args and " " .. verb.args or "", "\n")
    end
  end
  return 2
end

--- tide doc [file.md ..]: the reference page; or a Markdown file run, checked, rendered.
function cli.doc(...) return require "tide.tool.doc".command(...) or usage "doc" end

--- tide check script.lua: runs the script with every schedule step followed by an equivalence check.
function cli.check(script, ...)
  if not script then return usage "check" end
  local tide = require "tide"
  tide.check(true)
  local chunk, why = loadfile(script)
  if not chunk then error(why, 0) end
  chunk(...)
  local steps = tide.check(false)
  print(("%d step%s proved"):format(steps, steps == 1 and "" or "s"))
  return 0
end

--- tide lsp: the language server; tide lsp --run path text: a run for it.
function cli.lsp(what, path, input)
  if what == "--run" and input then return require "tide.tool.lsp_run".run(path, input) end
  if what then return usage "lsp" end
  return require "tide.tool.lsp".serve(_G.arg[-1])
end

--- tide kernel connection.json, tide kernel --install: the Jupyter kernel.
function cli.kernel(...) return require "tide.tool.kernel".command(...) or usage "kernel" end

-- Writes a file and says so; one that is there already is left as it is, unless it is `ours` to renew.
local function write(path, text, ours)
  local old = not ours and io.open(path)
  if old then
    old:close()
    print(path .. " is there already")
    return
  end
  assert(require "tide.file".write(path, text))
  print("wrote " .. path)
end

--- tide init: the files that editors and luacheck expect in a design repository.
function cli.init(...)
  if ... then return usage "init" end
  write(".luacheckrc", 'std = "lua54"\nmax_line_length = 120\nignore = { "431" } -- kernel parameters\n')
  write(".luarc.json", '{ "runtime.version": "Lua 5.4", "workspace.library": [".tide"] }\n')
  assert(os.execute "mkdir -p .tide")
  write(".tide/tide.meta.lua", require "tide.tool.annotations".text(), true)
  return 0
end

return cli
