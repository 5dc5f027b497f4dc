-- tide doc: a Markdown file run, checked against what it records, and rendered as one page or one notebook.
local display = require "tide.display"
local file = require "tide.file"
local html = require "tide.tool.html"
local lesson = require "tide.tool.lesson"
local session = require "tide.session"

local doc = {}

local look = [[<style>
main { max-width: 50rem; margin: 0 auto; padding: 2.5rem 1.25rem 5rem }
h1 { font-size: 2rem; line-height: 1.2; letter-spacing: -.01em } h2 { margin-top: 2.4rem; font-size: 1.35rem }
h1, h2, h3 { text-wrap: balance } p, li { max-width: 44rem }
p code, li code, td code { background: var(--box); padding: .1em .3em; border-radius: 4px }
pre { overflow-x: auto; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 8px; margin: 1rem 0 }
pre.in { background: var(--box) }
pre.in + pre.out, pre.in + figure, pre.out + pre.in.on { margin-top: -1rem; border-top: 0 }
pre.in:has(+ pre.out), pre.in:has(+ figure) { border-radius: 8px 8px 0 0 }
pre.in + pre.out, figure { border-radius: 0 0 8px 8px } pre.out + figure { margin-top: -1rem; border-top: 0 }
pre.out { color: var(--soft) } pre.out.bad { color: var(--bad) }
pre .prompt { color: var(--accent); user-select: none }
figure { margin: 1rem 0; padding: 1rem; border: 1px solid var(--line); text-align: center }
table { border-collapse: collapse }
th, td { border-bottom: 1px solid var(--line); padding: .35em .8em; text-align: left }
blockquote { margin: 1rem 0; padding: .1rem 1rem; border-left: 3px solid var(--accent); color: var(--soft) }
</style>]]

-- What a step printed and showed; the drawing of a value that has one stands for its text.
local function result(step)
  local out, text = {}, step.output
  local mime, picture = display.picture(step.value, step.class, text)
  if mime == "image/svg+xml" then text = step.printed:gsub("%s+$", "") end
  if text ~= "" then
    text = step.class == "tide.schedule" and html.diff(text) or html.escape(text)
    out[1] = ('<pre class="out%s">%s</pre>'):format(step.ok and "" or " bad", text)
  end
  if mime == "image/svg+xml" then out[#out + 1] = "<figure>" .. picture .. "</figure>" end
  return table.concat(out)
end

-- A step of a transcript, its prompts not selectable.
local function prompted(step)
  local n = 0
  return (html.lua(step.input) .. "\n"):gsub("(.-)\n", function(line)
    n = n + 1
    return ('<span class="prompt">%s</span>%s\n'):format(n == 1 and "tide&gt; " or "  ..&gt; ", line)
  end)
end

-- A fence as HTML.
local function block(fence)
  if fence.flags.hide and fence.steps then return "" end
  local out = {}
  if fence.language == "tide" and fence.steps then
    for _, step in ipairs(fence.steps) do
      out[#out + 1] = '<pre class="in">' .. prompted(step) .. "</pre>" .. result(step)
    end
  elseif fence.language == "lua" then
    out[1] = '<pre class="in">' .. html.lua(table.concat(fence.lines, "\n")) .. "</pre>"
    for _, step in ipairs(fence.steps or {}) do out[#out + 1] = result(step) end
  else
    local class = fence.language == "out" and "out" or "in"
    out[1] = ('<pre class="%s">%s</pre>'):format(class, html.escape(table.concat(fence.lines, "\n")))
  end
  return table.concat(out)
end

-- The first heading of a file, or its name.
local function title_of(work)
  for _, item in ipairs(work.items) do
    local heading = item.text and item.text:match "^#%s+(.-)%s*$"
    if heading then return (heading:gsub("`", "")) end
  end
  return work.path:match "[^/]*$"
end

-- The page of a file that was run; nil and why when it cannot be rendered.
local function page(work)
  local prose, blocks = {}, {}
  for _, item in ipairs(work.items) do
    if item.text then
      prose[#prose + 1] = item.text
    elseif not (item.of and item.of.steps) then
      blocks[#blocks + 1] = block(item)
      prose[#prose + 1] = ("\n<!--block %d-->\n"):format(#blocks)
    end
  end
  local body, why = session.markdown(table.concat(prose, "\n"))
  if not body then return nil, why end
  body = body:gsub("<!%-%-block (%d+)%-%->", function(n) return blocks[tonumber(n)] end)
  return html.page(title_of(work), look, "<body><main>\n" .. body .. "</main></body>")
end

-- Writes a text to a file, or to standard output without one; nil and why not all of it.
local function write(path, text)
  if path then return file.write(path, text) end
  local ok, why = io.write(text)
  if ok then ok, why = io.stdout:flush() end
  return ok, why
end

-- Says what went wrong, in the order of the file.
local function report(work)
  table.sort(work.problems, function(a, b) return a.line < b.line end)
  for _, p in ipairs(work.problems) do
    io.stderr:write(("%s:%d: %s\n%s"):format(work.path, p.line, p.message, p.detail))
  end
  return #work.problems == 0
end

-- Writes what was printed into the file, if that changes it; false when it cannot.
local function update(work)
  local text = work:updated()
  if text == work.text then
    print(work.path .. " is up to date")
    return true
  end
  local ok, why = write(work.path, text)
  if not ok then
    io.stderr:write("tide doc: ", why, "\n")
    return false
  end
  print("updated " .. work.path)
  return true
end

-- What is written from the registry, by option.
local references = { ["--meta"] = "tide.tool.annotations", ["--man"] = "tide.tool.manual",
  ["--completion"] = "tide.tool.completion" }

-- The words of the command line: {file =, out =, check =, update =, ipynb =}, or nil.
local function read_words(...)
  local o, words, i = {}, { ... }, 1
  while words[i] do
    local name = words[i]:match "^%-%-?(%a+)$"
    if name == "o" and words[i + 1] then
      o.out, i = words[i + 1], i + 1
    elseif name == "check" or name == "update" or name == "ipynb" then
      o[name] = true
    elseif not name and not o.file then
      o.file = words[i]
    else
      return nil
    end
    i = i + 1
  end
  return o.file and o
end

-- Writes the page or the notebook that was asked for; false after saying why not.
local function render(work, o)
  local text, why
  if o.ipynb then
    text = require "tide.tool.notebook".text(work)
  elseif o.out or not (o.check or o.update) then
    text, why = page(work)
  else
    return true
  end
  if text then text, why = write(o.out, text) end
  if not text then io.stderr:write("tide doc: ", why, "\n") end
  return text
end

--- tide doc file.md ..: returns the exit status, or nil when it is used wrongly. Without a file, the reference page on
--- standard output.
function doc.command(...)
  local writer = select("#", ...) == 0 and "tide.tool.reference" or select("#", ...) == 1 and references[...]
  if writer then
    io.write(require(writer).text())
    return 0
  end
  local o = read_words(...)
  if not o then return nil end
  local found, work = pcall(lesson.read, o.file)
  if not found then
    io.stderr:write("tide doc: ", work, "\n")
    return 1
  end
  work:run()
  local n = o.check and work:check()
  local good = report(work)
  good = good and (not o.update or update(work))
  good = render(work, o) and good
  if n and good then print(("%s: %d blocks, as recorded"):format(o.file, n)) end
  return good and 0 or 1
end

return doc
