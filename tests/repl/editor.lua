-- editor.lua - what is written from the registry for editors and shells: annotations, man page, completion, init.
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local quote = shell.quote

local program = quote(arg[-1])
local registry = tide.registry()

-- What `tide doc` prints with an option.
local function doc(option)
  local text, status = shell.output(program .. " doc " .. option)
  t.eq(status, 0)
  return text
end

t.test("annotations: one function for each name of the registry, parameters as they are called", function()
  local text = doc "--meta"
  t.ok(load(text))
  for _, p in ipairs(registry.primitives) do
    local block, names = text:match("\n\n(%-%-%-" .. p.summary:gsub("%p", "%%%0") .. "\n.-)\nfunction Schedule:" ..
      p.name .. "%((.-)%) end")
    t.ok(block and not block:find "\nfunction", p.name)
    local last = 0
    for name in names:gmatch "[%w_.]+" do
      last = t.ok(block:find("\n---@param " .. name, last + 1, true), p.name .. ": " .. name)
    end
    for _, a in ipairs(p.args) do
      local shown = { option = a.name .. "?: ", rest = "@param ... " }
      t.has(block, shown[a.place] or "@param " .. a.name)
    end
  end
  for _, f in ipairs(registry.functions) do t.ok(text:find(f.summary, 1, true), f.name) end
end)

t.test("annotations: a function for each template, with its parameters", function()
  local text = require "tide.tool.annotations".text()
  for _, x in ipairs(require "tide.template".list()) do
    t.has(text, ("function %s(parameters, instance) end"):format(x.name))
    t.has(text, x.template.summary)
  end
  t.has(text, "---@param parameters { H: integer, W: integer, C: integer, before?: integer, after?: integer, " ..
    "T?: tide.Type }")
  t.has(text, "---Constraint `N % unroll == 0`.")
  t.ok(load(text), "it is Lua")
end)

t.test("annotations: words are a choice, kinds are types", function()
  local text = doc "--meta"
  t.has(text, '---@param options? { names?: string|string[], tail?: "guard"|"cut"|"perfect" }')
  t.has(text, "---@param factor integer iterations of the inner loop\n")
  t.has(text, "\nfunction Schedule:split(loop, factor, options) end\n")
  t.has(text, "\nfunction Unit:native(...) end\n")
end)

t.test("the man page names every option, verb, primitive, command and variable", function()
  local page = doc "--man"
  local man = shell.output "command -v man" ~= ""
  local path = t.tmp "tide.1"
  shell.write(path, page)
  if man then t.eq(shell.output("man --warnings -E UTF-8 -l " .. quote(path) .. " 2>&1 >/dev/null"), "") end
  local plain = page:gsub("\\%-", "-"):gsub("\\e", "\\")
  for _, list in ipairs { "options", "verbs", "primitives", "commands", "keys", "environment" } do
    for _, x in ipairs(registry[list]) do
      t.has(plain, "\n.B " .. (list == "commands" and ":" .. x.usage or list == "options" and x.letter and
        "-" .. x.letter or list == "options" and "--" .. x.name or x.name))
      t.has(plain, x.summary)
    end
  end
end)

-- What bash offers after the words of a command line, the last of them unfinished.
local function offers(line)
  local path = t.tmp "tide.bash"
  shell.write(path, doc "--completion")
  local words, n = {}, 0
  for word in (line .. "\n"):gmatch "([^ \n]*)[ \n]" do
    words[#words + 1], n = quote(word), n + 1
  end
  local script = (". %s; COMP_WORDS=(%s); COMP_CWORD=%d; _tide; printf '%%s\\n' \"${COMPREPLY[@]}\" | sort"):format(
    quote(path), table.concat(words, " "), n - 1)
  return (shell.output("cd examples && bash -c " .. quote(script) .. " 2>&1"):gsub("\n$", ""):gsub("\n", " "))
end

t.test("completion: verbs, options, options of a verb, files", function()
  t.eq(offers "tide in", "init")
  t.eq(offers "tide --d", "--diagnostics= --dump-ir=")
  t.eq(offers "tide doc --c", "--check --completion")
  t.eq(offers "tide doc lessons/1", "lessons/1_first_kernel.md")
  t.eq(offers "tide 01", "01_hello.lua")
end)

t.test("tide init: files for luacheck and the language server; what is there stays", function()
  local folder = t.tmp "designs"
  shell.plant(folder, { [".luacheckrc"] = "mine" })
  local out, status = shell.output(("cd %s && %s init"):format(quote(folder), quote(shell.program)))
  t.eq({ out, status }, { ".luacheckrc is there already\nwrote .luarc.json\nwrote .tide/tide.meta.lua\n", 0 })
  t.eq(shell.read(folder .. "/.luacheckrc"), "mine")
  t.eq(shell.read(folder .. "/.tide/tide.meta.lua"), doc "--meta")
  t.has(shell.read(folder .. "/.luarc.json"), '"workspace.library": [".tide"]')
end)

local written = { ["docs/tide.1"] = "--man", ["stdlib/tide.meta.lua"] = "--meta", ["docs/tide.bash"] = "--completion",
  ["build/docs/reference.md"] = "" }

t.test("make docs writes what the registry says, where it belongs", function()
  local folder, root = t.tmp "made", shell.here
  shell.plant(folder, {})
  local path = arg[-1]:gsub("^" .. root:gsub("%p", "%%%0") .. "/", ""):gsub("^%./", "")
  local said, status = shell.output(("MAKEFLAGS= make -s -o %s TIDE=%s docs OUT=%s 2>&1"):format(
    quote(path), quote(path), quote(folder)))
  t.eq({ said, status }, { "", 0 })
  local n = 0
  for file, option in pairs(written) do
    local text = shell.read(folder .. "/" .. file)
    t.ok(text and #text > 100, file)
    t.eq(text, doc(option), file)
    n = n + 1
  end
  t.eq(shell.output(("find %s -type f | wc -l"):format(quote(folder))), n .. "\n")
end)

t.test("what make docs wrote here is not old", function()
  local old = {}
  for path, option in pairs(written) do
    local made = shell.read(path)
    if made and not path:find "^build/" and made ~= doc(option) then old[#old + 1] = path end
  end
  t.eq(old, {}, "make docs")
end)

t.done()
