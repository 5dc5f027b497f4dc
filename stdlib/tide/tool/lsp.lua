-- tide lsp: a server of the Language Server Protocol (3.17) on standard input and output. It tells errors of Lua while
-- one types, and those of Tide, with types of values for hover, from a run of the script in a process of its own when
-- it is opened or saved (initializationOptions {run = false} turns that off); completion and help are the prompt's.
local json = require "tide.json"
local session = require "tide.session"

local lsp = {}

local ERROR, WARNING = 1, 2 -- severities
local SECONDS = 10 -- that a run may take
local PATIENCE = 4 -- seconds that a request waits for the run of its document

local documents = {} -- by URI: {text =, version =, lines =, run =, under_way =}
local running = {} -- runs under way, the oldest first: {uri =, text =, input =, output =, pipe =}
local state = { encoding = "utf-16", runs = true }

-- ---- places: lines from 0, columns in units of the client; here lines and columns from 1, in bytes ----

local function lines_of(text)
  local lines, from = {}, 1
  while true do
    local stop = text:find("\n", from, true)
    lines[#lines + 1] = (text:sub(from, stop and stop - 1):gsub("\r$", ""))
    if not stop then return lines end
    from = stop + 1
  end
end

-- Units of a string in the client's encoding.
local function units(s)
  if state.encoding == "utf-8" then return #s end
  local n = 0
  for _, c in utf8.codes(json.utf8(s)) do n = n + (c > 0xFFFF and 2 or 1) end
  return n
end

-- Bytes of a line before a column in units.
local function bytes(line, column)
  if state.encoding == "utf-8" then return math.min(column, #line) end
  local n, at = 0, 0
  for c in line:gmatch(utf8.charpattern) do
    if n >= column then break end
    n, at = n + (#c == 4 and 2 or 1), at + #c
  end
  return math.min(at, #line)
end

-- The place of the client for a line and a column in bytes, from 1.
local function place(document, line, column)
  local text = document.lines[line] or ""
  return { line = line - 1, character = units(text:sub(1, math.max(0, math.min(column - 1, #text)))) }
end

-- The range of the word at a line and column.
local function range(document, line, column)
  line = math.max(1, math.min(line or 1, #document.lines))
  column = math.max(1, column or 1)
  local word = (document.lines[line] or ""):match("^[%w_]+", column) or " "
  return { start = place(document, line, column), ["end"] = place(document, line, column + #word) }
end

-- Line and byte of a request's position, from 1; and the byte in the whole text.
local function position(document, params)
  local p = params.position
  local line = document.lines[p.line + 1] or ""
  local column = bytes(line, p.character)
  local offset = 0
  for i = 1, p.line do offset = offset + #(document.lines[i] or "") + 1 end
  return p.line + 1, column + 1, offset + column
end

-- ---- paths ----

local function path_of(uri)
  local path = uri:match "^file://[^/]*(/.*)$"
  return path and (path:gsub("%%(%x%x)", function(h) return string.char(tonumber(h, 16)) end))
end

local function uri_of(path)
  if not path:find "^/" then path = state.folder .. "/" .. path end
  return "file://" .. path:gsub("[^%w/%-_.~]", function(c) return ("%%%02X"):format(c:byte()) end)
end

local function quote(s) return "'" .. s:gsub("'", "'\\''") .. "'" end

-- ---- transport ----

local function send(message)
  message.jsonrpc = "2.0"
  local text = json.text(message)
  io.stdout:write(("Content-Length: %d\r\n\r\n"):format(#text), text)
  io.stdout:flush()
end

-- The next message, or nil at the end of the input; an error where it is no message.
local function receive()
  local length
  for line in io.stdin:lines() do
    line = line:gsub("\r$", "")
    if line == "" and length then
      local text = io.stdin:read(length)
      return text and #text == length and json.read(text) or nil
    end
    length = tonumber(line:lower():match "^content%-length: *(%d+)") or length
  end
  return nil
end

-- ---- diagnostics ----

-- A diagnostic for an error {line =, col =, message =, code =, help =}.
local function diagnostic(document, e, severity)
  local message = e.message or "error"
  if e.help then message = message .. "\nhelp: " .. e.help end
  return { range = range(document, e.line, e.column or e.col), severity = severity or ERROR, source = "tide",
    code = e.code, message = message }
end

local function publish(uri, list)
  local document = documents[uri]
  send { method = "textDocument/publishDiagnostics",
    params = { uri = uri, version = document and document.version, diagnostics = #list > 0 and list or json.list } }
end

-- Starts a run of the text by `tide lsp --run` in a process of its own, whose end ends the pipe.
local function start(uri, path)
  local r = { uri = uri, text = documents[uri].text, input = os.tmpname(), output = os.tmpname() }
  local f = assert(io.open(r.input, "wb"))
  f:write(r.text)
  f:close()
  local command = "cd %s && timeout -k 1 %d %s lsp --run %s %s 2>/dev/null </dev/null 3>&1 >%s &"
  r.pipe = io.popen(command:format(quote(path:match "^(.*)/"), SECONDS, quote(state.program), quote(path),
    quote(r.input), quote(r.output)))
  documents[uri].under_way = r
  running[#running + 1] = r
end

-- Diagnoses a document: what is no Lua, else what the last run of this text said.
local function diagnose(uri)
  local document, list = documents[uri], {}
  local wrong, path = session.syntax(document.text), path_of(uri)
  if wrong then list[1] = diagnostic(document, wrong) end
  local e = not wrong and document.said == document.text and document.run and document.run.error
  if e then
    local here = not e.file or e.file == path
    local d = diagnostic(document, here and e or { line = e.main, message = e.message, code = e.code, help = e.help })
    local related = {}
    if not here and e.line then table.insert(e.notes, 1, { file = e.file, line = e.line, column = e.column,
      message = e.message }) end
    for _, note in ipairs(e.notes or {}) do
      if note.file and note.line then
        local at = { line = note.line - 1, character = math.max(0, (note.column or 1) - 1) }
        related[#related + 1] = { message = note.message or "",
          location = { uri = uri_of(note.file), range = { start = at, ["end"] = at } } }
      end
    end
    d.relatedInformation = #related > 0 and related or nil
    list[1] = d
  end
  for _, w in ipairs(not wrong and document.said == document.text and document.run and document.run.warnings or {}) do
    list[#list + 1] = diagnostic(document, w, WARNING)
  end
  publish(uri, list)
end

-- Ends a run's part in `running`; returns its output so far.
local function close(r)
  for i, other in ipairs(running) do
    if other == r then table.remove(running, i) end
  end
  r.pipe:close()
  local f = assert(io.open(r.output))
  local text = f:read "a"
  f:close()
  os.remove(r.input)
  os.remove(r.output)
  return text
end

-- Takes in what a run gave, {error =, values =}, unless a later one of its document began.
local function finish(r)
  local text, document = close(r), documents[r.uri]
  if not document or document.under_way ~= r then return end
  local ok, result = pcall(json.read, text:match "\n?\1(.*)$" or "")
  document.run, document.said, document.under_way = ok and result or { values = {} }, r.text, nil
  diagnose(r.uri)
end

-- Diagnoses a document, and runs it if it is Lua; what the run says follows.
local function examine(uri)
  diagnose(uri)
  local path = path_of(uri)
  if state.runs and path and not session.syntax(documents[uri].text) then start(uri, path) end
end

-- A document with what its run gave, if that ends soon; nil: it is not open.
local function settled(uri)
  local document = documents[uri]
  local r = document and document.under_way
  if r and session.wait(PATIENCE, r.pipe) then finish(r) end
  return document
end

local function take(uri, version, text)
  local document = documents[uri] or {}
  document.text, document.version, document.lines = text, version, lines_of(text)
  documents[uri] = document
end

-- ---- requests ----

local requests, notices = {}, {}

function requests.initialize(params)
  local offered = params.capabilities and params.capabilities.general
  for _, encoding in ipairs(offered and offered.positionEncodings or {}) do
    if encoding == "utf-8" then state.encoding = "utf-8" end
  end
  local options = params.initializationOptions
  if type(options) == "table" and options.run == false then state.runs = false end
  return {
    capabilities = {
      positionEncoding = state.encoding,
      textDocumentSync = { openClose = true, change = 1, save = { includeText = false } },
      hoverProvider = true, definitionProvider = true,
      completionProvider = { triggerCharacters = { ".", ":", '"', "'", "{", "(" } },
    },
    serverInfo = { name = "tide", version = require "tide".features().version },
  }
end

function requests.shutdown()
  state.ended = true
  return json.null
end

-- The word at a place, and the line.
local function word_at(document, line, column)
  local text = document.lines[line] or ""
  local from = column
  while from > 1 and text:sub(from - 1, from - 1):find "[%w_]" do from = from - 1 end
  return text:match("^[%a_][%w_]*", from), text, from
end

-- The type of parameter `name` of the last kernel or task that begins above a line.
local function parameter(document, name, line)
  local best
  for _, v in pairs(document.run and document.run.values or {}) do
    if v.params and v.params[name] and v.line <= line and (not best or v.line > best.line) then best = v end
  end
  return best and ("%s: %s, a parameter of %s"):format(name, best.params[name], best.name)
end

requests["textDocument/hover"] = function(params)
  local document = settled(params.textDocument.uri)
  if not document then return json.null end
  local line, column, offset = position(document, params)
  local word, text, from = word_at(document, line, column)
  if not word then return json.null end
  local out = {}
  local member = text:sub(1, from - 1):find "[.:]%s*$"
  local value = not member and document.run and document.run.values[word]
  local said = not member and parameter(document, word, line)
  if said then
    out[1] = said
  elseif value then
    out[1] = value.text
    if value.steps and #value.steps > 0 then out[#out + 1] = "steps:\n" .. table.concat(value.steps, "\n") end
  end
  if member or not out[1] then out[#out + 1] = session.inspect(document.text, offset) end
  if not out[1] then return json.null end
  return { contents = { kind = "markdown", value = "```\n" .. table.concat(out, "\n") .. "\n```" },
    range = range(document, line, from) }
end

-- Kinds of completions: a function where it can be called, else a word.
requests["textDocument/completion"] = function(params)
  local document = settled(params.textDocument.uri)
  if not document then return json.list end
  local line, column = position(document, params)
  local items, seen = {}, {}
  local text = document.lines[line]:sub(1, column - 1)
  local function add(word, kind)
    if not seen[word] then
      seen[word] = true
      items[#items + 1] = { label = word, kind = kind, insertText = word }
    end
  end
  local prefix = text:match "[%a_][%w_]*$" or ""
  local before = text:sub(1, #text - #prefix)
  local owner = before:match "([%a_][%w_]*)%s*[.:]%s*$"
  local value = owner and document.run and document.run.values[owner]
  -- The loops of a schedule, in a string of a call on it.
  local on, method = before:match "([%a_][%w_]*):([%a_][%w_]*)[^%w_].-[\"'][^\"']*$"
  local schedule = on and document.run and document.run.values[on]
  if schedule and schedule.loops and method then
    for _, loop in ipairs(schedule.loops) do add(loop, 6) end
    for _, array in ipairs(schedule.arrays or {}) do add(array, 5) end
  end
  if value then for _, m in ipairs(value.members or {}) do if m:find(prefix, 1, true) == 1 then add(m, 2) end end end
  if not owner and not schedule then
    for name in pairs(document.run and document.run.values or {}) do
      if name:find(prefix, 1, true) == 1 then add(name, 6) end
    end
  end
  for _, word in ipairs((session.complete(text))) do add(word, owner and 2 or 3) end
  table.sort(items, function(a, b) return a.label < b.label end)
  return #items > 0 and items or json.list
end

requests["textDocument/definition"] = function(params)
  local uri = params.textDocument.uri
  local document = documents[uri]
  if not document then return json.null end
  local line, column = position(document, params)
  local at, where = session.define(document.text, line, column)
  local word, text = word_at(document, line, column)
  local module = text and text:match "require%s*%(?%s*[\"']([^\"']+)[\"']"
  if not at and module and word and text:find(module, 1, true) then
    local folder = (path_of(uri) or ""):match "^(.*)/" or "."
    local path = package.searchpath(module, folder .. "/?.lua;" .. package.path)
    if path then
      local start = { line = 0, character = 0 }
      return { uri = uri_of(path), range = { start = start, ["end"] = start } }
    end
  end
  if not at and word then -- a loop by its name in a string of a step
    for i, s in ipairs(document.lines) do
      local from = s:match("%f[%w_]for%s+[%w_,%s]-()%f[%w_]" .. word .. "%f[^%w_]%s*[,=i]")
      if from and not at then at, where = i, from end
    end
  end
  if not at then return json.null end
  return { uri = uri, range = range(document, at, where) }
end

-- ---- notices ----

notices["textDocument/didOpen"] = function(params)
  local d = params.textDocument
  take(d.uri, d.version, d.text)
  examine(d.uri)
end

notices["textDocument/didChange"] = function(params)
  local changes = params.contentChanges
  take(params.textDocument.uri, params.textDocument.version, changes[#changes].text)
  diagnose(params.textDocument.uri)
end

notices["textDocument/didSave"] = function(params)
  if documents[params.textDocument.uri] then examine(params.textDocument.uri) end
end

notices["textDocument/didClose"] = function(params)
  documents[params.textDocument.uri] = nil
  publish(params.textDocument.uri, {})
end

function notices.exit() state.exits = true end

-- Answers a message.
local function answer(message)
  local id, method = message.id, message.method
  if not method then return end
  if id == nil then
    if notices[method] then notices[method](message.params or {}) end
    return
  end
  if state.ended then
    send { id = id, error = { code = -32600, message = "the server was shut down" } }
  elseif not requests[method] then
    send { id = id, error = { code = -32601, message = "there is no method " .. method } }
  else
    local ok, result = pcall(requests[method], message.params or {})
    if ok then
      send { id = id, result = result }
    else
      local why = tostring(type(result) == "table" and result.message or result)
      send { id = id, error = { code = -32603, message = why } }
    end
  end
end

--- Serves a client until it says exit; returns the exit status: 0 after a shutdown, else 1.
function lsp.serve(program)
  require "tide.globals" -- for completion and help, which know globals
  local pipe = io.popen "pwd -P"
  state.folder = pipe:read "l"
  pipe:close()
  state.program = program:find "^[^/].*/" and state.folder .. "/" .. program or program
  io.stdin:setvbuf "no"
  while not state.exits do
    while running[1] and session.wait(nil, io.stdin, running[1].pipe) == 2 do finish(running[1]) end
    local ok, message = pcall(receive)
    if not ok then
      send { id = json.null, error = { code = -32700, message = tostring(message) } }
    elseif message == nil then
      break
    elseif type(message) == "table" then
      local good, why = pcall(answer, message)
      if not good then io.stderr:write("tide lsp: ", tostring(why), "\n") end
    end
  end
  while running[1] and not state.exits and session.wait(nil, running[1].pipe) do finish(running[1]) end
  while running[1] do close(running[1]) end
  return state.ended and 0 or 1
end

return lsp
