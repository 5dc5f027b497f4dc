-- lsp.lua - tide lsp by its protocol: a session of requests, and the client for Vim.
local json = require "tide.json"
local screen = require "screen"
local shell = require "shell"
local t = require "tap"
local quote = shell.quote

local home = t.tmp "lsp"

local design = [[
require "tide.globals"
local N = 8
local gemm = kernel {
  A = i8[N][N], B = i8[N][N], C = i32[N][N],
  function(A, B, C)
    for i, j in grid(N, N) do
      for k = 0, N - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end,
}
local s = schedule(gemm)
s:split("k", 4)
print("printed", s)
local T = i8[2][2](1)
]]

-- What the server answers to messages: responses by id, and notices in order. `text` goes to it as it is, else each
-- message is framed.
local function serve(messages, options)
  local input = t.tmp "lsp.in"
  local parts = {}
  for _, m in ipairs(messages) do
    if type(m) == "table" then
      m.jsonrpc = "2.0"
      local text = json.text(m)
      m = ("Content-Length: %d\r\n\r\n%s"):format(#text, text)
    end
    parts[#parts + 1] = m
  end
  shell.write(input, table.concat(parts))
  local out, status = shell.output(("%s%s lsp <%s 2>%s"):format(options or "", quote(shell.program), quote(input),
    quote(home .. ".err")))
  local by_id, notices, at = {}, {}, 1
  while at <= #out do
    local n, from = out:match("^Content%-Length: (%d+)\r\n\r\n()", at)
    if not n then t.eq(out:sub(at), "") break end
    local m = json.read(out:sub(from, from + n - 1))
    t.eq(m.jsonrpc, "2.0")
    if m.id and m.id ~= json.null then by_id[m.id] = m else notices[#notices + 1] = m end
    at = from + tonumber(n)
  end
  return by_id, notices, status
end

local uri = "file://" .. home .. "/design.lua"

local function initialize(how)
  return { id = 1, method = "initialize", params = {
    capabilities = how and { general = { positionEncodings = { how } } } or {},
    initializationOptions = { run = true } } }
end

local function open(text, at)
  return { method = "textDocument/didOpen", params = {
    textDocument = { uri = at or uri, languageId = "lua", version = 1, text = text } } }
end

-- A request at the place of the mark "§", which is taken out, of a text; the text without it.
local function at(id, method, text)
  local before = text:match "^(.-)§"
  local _, line = before:gsub("\n", "")
  local column = utf8.len(before:match "[^\n]*$")
  return { id = id, method = "textDocument/" .. method,
    params = { textDocument = { uri = uri }, position = { line = line, character = column } } }, (text:gsub("§", "", 1))
end

-- The result of one request at a mark.
local function ask(method, text)
  local request, plain = at(2, method, text)
  shell.plant(home, { ["design.lua"] = plain })
  local change = { method = "textDocument/didChange", params = { textDocument = { uri = uri, version = 2 },
    contentChanges = { { text = plain } } } }
  local last = { id = 9, method = "shutdown" }
  return serve({ initialize(), open(design), change, request, last, { method = "exit" } })[2].result
end

t.test("JSON is read as it is written, and what is none is refused", function()
  local v = { a = { 1, 2.5, "x\n\"\u{1F600}", true, json.null }, b = { c = -3 } }
  t.eq(json.text(json.read(json.text(v))), json.text(v))
  t.eq(json.read '"\\ud83d\\ude00\\u00e9\\/"', "\u{1F600}é/")
  t.eq(json.read ' [ ] ', {})
  for _, bad in ipairs { "", "{", "[1,]", '{"a" 1}', '"abc', "01", "nul", "[1] 2", '"\\x"', ("["):rep(300),
    '"\\u12"' } do
    t.ok(not pcall(json.read, bad), bad)
  end
end)

t.test("a session: initialize, open, shutdown, exit", function()
  shell.plant(home, { ["design.lua"] = design })
  local by_id, notices, status = serve { initialize(), { method = "initialized", params = {} }, open(design),
    { id = 2, method = "nothing/such" }, { id = 3, method = "shutdown" }, { id = 4, method = "textDocument/hover" },
    { method = "exit" } }
  local can = by_id[1].result.capabilities
  t.ok(can.hoverProvider and can.definitionProvider and can.completionProvider)
  t.eq(can.positionEncoding, "utf-16")
  t.eq(by_id[2].error.code, -32601)
  t.eq(by_id[3].result, json.null)
  t.eq(by_id[4].error.code, -32600)
  t.eq(notices[1].method, "textDocument/publishDiagnostics")
  t.eq(notices[1].params.diagnostics, {})
  t.eq(status, 0)
  t.eq(serve { initialize "utf-8" }[1].result.capabilities.positionEncoding, "utf-8")
  t.eq(select(3, serve { initialize(), { method = "exit" } }), 1, "exit without shutdown")
end)

t.test("diagnostics: of Lua at each change, of Tide after a run; columns in the client's units", function()
  shell.plant(home, { ["design.lua"] = design })
  local function said(text, ...)
    local _, notices = serve { initialize(), open(text), ... }
    return notices[#notices].params.diagnostics
  end
  local d = said "local x = = 3\n"[1]
  t.eq({ d.range.start.line, d.range.start.character, d.severity, d.source }, { 0, 10, 1, "tide" })
  d = said(design:gsub('"k", 4', '"z", 4'))[1]
  t.eq({ d.range.start.line, d.code }, { 11, "no-loop" })
  t.has(d.message, "no loop named 'z'")
  d = said('local x = "\u{1F600}é" .. nil_name.y\n')[1]
  t.eq(d.range.start.line, 0)
  d = said 'local s = "\u{1F600}" local x = = 1\n'[1]
  t.eq(d.range.start.character, 25, "a character beyond the first plane is two units")
  t.eq(#said(design:gsub('"k", 4', '"z", 4'), { method = "textDocument/didChange", params = {
    textDocument = { uri = uri, version = 2 }, contentChanges = { { text = design } } } }), 0)
  t.eq(#said("local x = = 3\n", { method = "textDocument/didClose", params = { textDocument = { uri = uri } } }), 0)
  d = said "while true do end\n"
  t.eq(#d, 0, "a run that does not end is ended")
end)

t.test("an error in another file is told where it came from", function()
  shell.plant(home, { ["design.lua"] = 'require "other"\n', ["other.lua"] = "\nerror 'broken'\n" })
  local _, notices = serve { initialize(), open 'require "other"\n' }
  local d = notices[#notices].params.diagnostics[1]
  t.eq(d.range.start.line, 0)
  t.has(d.message, "broken")
end)

t.test("a run that takes long holds up no answer", function()
  local slow = "local t = os.time() while os.time() < t + 8 do end\n"
  shell.plant(home, { ["design.lua"] = slow })
  local began = os.time()
  local request = { id = 2, method = "textDocument/completion",
    params = { textDocument = { uri = uri }, position = { line = 1, character = 0 } } }
  local change = { method = "textDocument/didChange", params = { textDocument = { uri = uri, version = 2 },
    contentChanges = { { text = slow .. "tide." } } } }
  local by_id, notices = serve { initialize(), open(slow), change, request, { id = 3, method = "shutdown" },
    { method = "exit" } }
  t.ok(by_id[2].result and by_id[3])
  t.eq(#notices, 2)
  t.ok(os.time() - began < 8)
end)

t.test("nothing runs where the client asks for no runs", function()
  local left = home .. "/left"
  shell.plant(home, { ["design.lua"] = "" })
  local text = ("io.open(%q, 'w'):close()\n"):format(left)
  local quiet = initialize()
  quiet.params.initializationOptions.run = false
  serve { quiet, open(text) }
  t.eq(shell.read(left), nil)
  serve { initialize(), open(text) }
  t.eq(shell.read(left), "")
end)

t.test("hover: types of values and parameters, help with legality", function()
  t.has(ask("hover", (design:gsub("schedule%(gemm%)", "schedule(ge§mm)"))).contents.value, "A = i8[N][N],")
  t.has(ask("hover", (design:gsub("A%[i%]%[k%]", "§A[i][k]"))).contents.value, "A: i8[N][N], a parameter of gemm")
  local split = ask("hover", (design:gsub("s:split", "s:sp§lit"))).contents.value
  t.has(split, "Split one loop into two nested loops.")
  t.has(split, "legal      always with guard or cut")
  t.has(ask("hover", (design:gsub("local s =", "local §s ="))).contents.value, '1  s:split("k", 4)')
  t.has(ask("hover", (design:gsub("local T", "local §T"))).contents.value, "i8[2][2]")
  t.has(ask("hover", (design:gsub("local N", "local §N"))).contents.value, "N: integer 8")
  t.has(ask("hover", (design:gsub("= kernel", "= ker§nel"))).contents.value, "tide.kernel")
  t.eq(ask("hover", "-- §what is this\n" .. design), json.null)
end)

-- Whether a list of completions has a word.
local function offers(list, word)
  for _, x in ipairs(list) do
    if x.label == word then return true end
  end
  return false
end

t.test("completion: names, methods, loops of the schedule in strings", function()
  t.ok(offers(ask("completion", design .. "ge§\n"), "gemm"))
  t.ok(offers(ask("completion", design .. "tide.ker§\n"), "kernel"))
  local loops = ask("completion", design .. 's:pipeline("§\n')
  t.ok(offers(loops, "k_o") or not loops[1], json.text(loops))
  loops = ask("completion", design .. '-- s:pipeline("§")\n')
  t.ok(offers(loops, "k_o") and offers(loops, "k_i") and not offers(loops, "k"), json.text(loops))
end)

t.test("definition: locals, parameters, globals, loops by name, modules", function()
  local function defined(text)
    local r = ask("definition", text)
    return r ~= json.null and { r.range.start.line, r.range.start.character } or nil
  end
  t.eq(defined((design:gsub("schedule%(gemm%)", "schedule(ge§mm)"))), { 2, 6 })
  t.eq(defined((design:gsub("A%[i%]%[k%]", "§A[i][k]"))), { 4, 11 })
  t.eq(defined((design:gsub("C%[i%]%[j%] =", "C[§i][j] ="))), { 5, 8 })
  t.eq(defined((design:gsub('"k", 4', '"§k", 4'))), { 6, 10 })
  t.eq(defined("f = 3\nlocal function g() return §f end\n"), { 0, 0 })
  t.eq(defined "print(§nothing)\n", nil)
  shell.plant(home, { ["design.lua"] = "", ["module.lua"] = "return {}\n" })
  local request, plain = at(2, "definition", 'local m = require "mod§ule"\n')
  t.eq(serve({ initialize(), open(plain), request })[2].result.uri, "file://" .. home .. "/module.lua")
end)

t.test("what is no message does not end the server", function()
  local by_id, notices = serve { "Content-Length: 3\r\n\r\n{a}", { id = 5, method = "textDocument/hover", params = {} },
    { method = "textDocument/didOpen", params = {} }, { id = 6, method = "shutdown" } }
  t.eq(notices[1].error.code, -32700)
  t.ok(by_id[5].error)
  t.eq(by_id[6].result, json.null)
end)

if shell.output "command -v vim" ~= "" and screen.available() then
  t.test("Vim: errors, types, completion, definitions", function()
    shell.plant(home, { ["design.lua"] = design:gsub('"k", 4', '"z", 4') })
    local command = ("cd %s && vim -u NORC -N -i NONE -n --cmd 'filetype plugin on'" ..
      " --cmd 'let g:tide_program=\"%s\"' --cmd 'set runtimepath+=%s/repl/editors/vim' design.lua"):format(quote(home),
      shell.program, shell.here)
    local term = screen.open(command, 100, 40)
    t.ok(term:wait("E>", 15), term:text())
    term:type(":lopen", "Enter")
    t.ok(term:wait "no loop named 'z'", term:text())
    term:type(":lclose", "Enter")
    term:type("/gemm)", "Enter")
    term:type("K", "")
    t.ok(term:wait "║", term:text())
    term:type("gd", "")
    t.ok(term:wait_gone "║", term:text())
    term:type(":echo 'line' line('.') 'end'", "Enter")
    t.ok(term:wait "line 3 end", term:text())
    term:type(":%s/\"z\"/\"k\"/", "Enter")
    term:type(":w", "Enter")
    t.ok(term:wait_gone "E>", term:text())
    term:type("Gotide.ker", "C-x", "C-o")
    t.ok(term:wait "tide.kernel", term:text())
    term:close()
  end)
end

t.done()
