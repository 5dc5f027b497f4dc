-- Help at the prompt: words of other shells, what values can do, search, and that nothing is left out.
local shell = require "shell"
local t = require "tap"
local tide = require "tide"

-- What the prompt answers to inputs, one a line.
local function session(...) return shell.session(table.concat({ ... }, "\n")) end

t.test("help, exit and quit are what they are in other shells", function()
  t.eq(session "help", session "?")
  for _, form in ipairs { "help split", "help 'split'", 'help("split")', "help(split)" } do
    t.eq(session(form), session "?split", form)
  end
  for _, form in ipairs { "exit", "quit", "exit()", "  quit () " } do
    t.eq(session(form, "print 'still here'"), "", form)
  end
end)

t.test("a global of such a name, or any other text, is Lua", function()
  t.has(session("help = 3", "help"), "3")
  t.has(session("exit = 4", "exit", "print 'still here'"), "still here")
  t.has(session("function quit() return 5 end", "quit()", "6 + 1"), "7")
  t.has(session("exit + 1", "print 'still here'"), "still here")
  t.has(session("helpful", "1 + 1"), "2")
end)

t.test("?build lists targets and their options", function()
  local text = session "?build"
  for _, word in ipairs { "k:build", "s:build", "hls", "tier", "interface", "m_axi|ap_memory" } do t.has(text, word) end
end)

t.test("? is one page of names in groups, ?group says what each does", function()
  local page, lines = session "?", 0
  for line in page:gmatch "[^\n]*\n" do
    lines = lines + 1
    t.ok(#line <= 80 and not line:find " \n$", line)
  end
  t.ok(lines <= 50, lines)
  for _, p in ipairs(tide.registry().primitives) do t.ok(page:find("[ \n]" .. p.name .. "[ \n]"), p.name) end
  t.has(session "?loop", "Split one loop into two nested loops.")
  t.ok(not session "?loop":find "relay")
  t.has(session "?tensor", "The view with dimensions reversed.")
  t.has(session "?tensor", ".shape")
  t.has(session "?commands", "Takes the last step back")
end)

t.test("?modules lists the modules of stdlib; each tells what it is for, and its functions", function()
  local page, n = session "?modules", 0
  for name, text in page:gmatch "\n?  (%l%w*) +(%u[^\n]+)\n" do
    local said = session("?" .. name)
    local library = text:find "^A library of templates"
    t.has(said, library and name .. ": templates of tide." .. name or text)
    t.has(said, library and "?name tells more" or ("functions (?%s."):format(name))
    n = n + 1
  end
  t.ok(n >= 10, page)
  t.has(session "?modules", "DataMaestro")
  t.has(session "?t2s", "Const \"II JJ\" are sizes")
  t.eq(session("t2s = 3", "?t2s"):match "^[^\n]*", "t2s: 3")
end)

t.test("a value that ends an input is asked for at its line", function()
  t.has(session('m = require "tide.maestro"', "m.system { m = 8 }"), "    1 | m.system { m = 8 }")
end)

t.test("?x tells what a value is and can do", function()
  local text = session("x = i32[2](1)", "?x")
  t.has(text, "is a tensor")
  t.has(text, "transpose")
  t.has(text, "shape")
  t.ok(not session("x = 3", "?x"):find("methods", 1, true))
end)

t.test("a word that names nothing is searched for", function()
  t.has(session "?waves", "nothing is called 'waves'")
  t.has(session "?TOKENS", "design:stream")
  t.has(session "?waves", "timed:vcd")
  t.has(session "?zqzq", "there is no help on 'zqzq'")
end)

-- Names by which classes of the registry are documented.
local documented = { builder = "design", argument = "design" }

t.test("each method and field of a class has help", function()
  require "tide.step"
  local known = {}
  for _, f in ipairs(tide.registry().functions) do known[f.name] = true end
  local missing = {}
  for name, class in pairs(debug.getregistry()) do
    local owner = type(name) == "string" and name:match "^tide%.(%a+)$"
    for method in pairs(owner and type(class) == "table" and class.methods or {}) do
      local full = (documented[owner] or owner) .. ":" .. method
      local said = known[full] or session("?" .. full):find(full:match ":.*", 1, true)
      if not said then missing[#missing + 1] = full end
    end
  end
  t.eq(table.concat(missing, " "), "")
end)

t.test("types of parameters of kernels whose sizes are open are shown", function()
  local text = session("M = tide.size 'M'",
    "k = kernel {A = i8[M][4], function(A) for i = 0, M - 1 do A[i][0] = 1 end end};", "k.params[1].type",
    "k:at({M = 3}).params[1].type")
  t.has(text, "i8[M][4]")
  t.has(text, "i8[3][4]")
end)

t.done()
