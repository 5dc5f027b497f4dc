-- Pieces of HTML that documents and the viewer share: escaping, Lua with its words marked, diffs, the look of a page.
local json = require "tide.json"

local html = {}

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

--- Text as HTML and XML show it: U+FFFD stands for what they know no letter of.
function html.escape(text)
  local known = json.utf8(text):gsub("[\0-\8\11\12\14-\31]", "\u{FFFD}"):gsub("\xEF\xBF[\xBE\xBF]", "\u{FFFD}")
  return (known:gsub('[&<>"]', entities))
end

local keywords, types = {}, {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true
  until while]]):gmatch "%S+" do keywords[word] = true end
for word in ("i8 i16 i32 i64 u8 u16 u32 u64 bool f16 bf16 f32 f64 index"):gmatch "%S+" do types[word] = true end

-- What begins at `at` in Lua source: its class and its last place.
local function token(source, at)
  local level = source:match("^%-%-%[(=*)%[", at) or source:match("^%[(=*)%[", at)
  local first = source:sub(at, at)
  if level then
    local _, last = source:find("]" .. level .. "]", at, true)
    return first == "-" and "c" or "s", last or #source
  elseif source:find("^%-%-@", at) then
    return "m", (source:find("\n", at, true) or #source + 1) - 1
  elseif source:find("^%-%-", at) then
    return "c", (source:find("\n", at, true) or #source + 1) - 1
  elseif first == '"' or first == "'" then
    local last = at + 1
    while last < #source and source:sub(last, last) ~= first do
      last = last + (source:sub(last, last) == "\\" and 2 or 1)
    end
    return "s", last
  end
  local _, last = source:find("^[%a_][%w_]*", at)
  if last then
    local word = source:sub(at, last)
    return keywords[word] and "k" or types[word] and "t" or "w", last
  end
  _, last = source:find("^%d[%w.]*", at)
  if last then return "n", last end
  return nil, at
end

--- Calls f(class, text) for each piece of Lua source in order. Classes: c comment, m mark (`--@`), s string, k keyword,
--- t type, w word, n number; nil for the rest.
function html.each_token(source, f)
  local at = 1
  while at <= #source do
    local class, last = token(source, at)
    f(class, source:sub(at, last))
    at = last + 1
  end
end

--- Lua source with its words marked.
function html.lua(source)
  local out = {}
  html.each_token(source, function(class, text)
    text = html.escape(text)
    out[#out + 1] = class and class ~= "w" and ('<span class="%s">%s</span>'):format(class, text) or text
  end)
  return table.concat(out)
end

--- Lines of output; those of a diff are marked as gone or new.
function html.diff(text)
  return (html.escape(text):gsub("([^\n]*)\n?", function(line)
    if line == "" then return nil end
    local class = line:find "^%- " and "del" or line:find "^%+ " and "ins" or line:find "^proved:" and "ok"
    return class and ('<span class="%s">%s</span>\n'):format(class, line) or nil
  end))
end

html.style = [[
:root { color-scheme: light dark; --bg: #fbfaf8; --fg: #23272e; --soft: #5f6772; --line: #dcd9d2; --box: #f3f1ec;
  --accent: #0b6e99; --k: #8a3b8f; --t: #0b6e99; --s: #2f7d32; --n: #a15c00; --c: #7b7f86; --m: #b3540e;
  --ins: #e2f3e0; --ins-fg: #1c6421; --del: #fbe4e1; --del-fg: #a3261b; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --bg: #16191d; --fg: #dfe3e8; --soft: #98a1ac; --line: #32383f;
  --box: #1e2227; --accent: #6cc4e8; --k: #d6a0dc; --t: #6cc4e8; --s: #93cf8f; --n: #e8b26a; --c: #868d96;
  --m: #f0a36b; --ins: #1c3323; --ins-fg: #9ad6a0; --del: #3d2222; --del-fg: #f1a29b; --bad: #ff8a80; } }
* { box-sizing: border-box }
body { margin: 0; background: var(--bg); color: var(--fg); font: 16px/1.6 system-ui, "Segoe UI", sans-serif }
code, pre, .mono { font-family: ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", Menlo, monospace; font-size: 13.5px }
pre { line-height: 1.45; margin: 0; tab-size: 2 }
a { color: var(--accent) }
.k { color: var(--k) } .t { color: var(--t) } .s { color: var(--s) } .n { color: var(--n) }
.c { color: var(--c); font-style: italic } .m { color: var(--m) } .ok { color: var(--ins-fg) }
.ins { color: var(--ins-fg); background: var(--ins) } .del { color: var(--del-fg); background: var(--del) }
]]

--- A whole page that needs nothing else; `head` goes behind the common style.
function html.page(title, head, body)
  return table.concat({ '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    "<title>" .. html.escape(title) .. "</title>", "<style>" .. html.style .. "</style>", head, "</head>", body,
    "</html>\n" }, "\n")
end

return html
