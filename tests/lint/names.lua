-- names.lua - what a file exports is its own noun, declared in a header; every function has a head.
local tree = require "lint.tree"

-- Adds "print_expr" and "print" for the words of a name.
local function add_leading_words(nouns, name)
  local words = ""
  for word in name:gmatch "[^_]+" do
    words = words == "" and word or words .. "_" .. word
    nouns[words] = true
  end
end

-- The tag that declares each function and variable, and which types each header defines (as
-- nouns). A table *.def declares the functions that it names.
local function read_headers()
  local declared, types = {}, {}
  for _, path in ipairs(tree.matching "%.def$") do
    for name in tree.code(path):gmatch "%f[%w]td_[%w_]+" do
      declared[name] = {path = path, line = 1}
    end
  end
  for _, tag in ipairs(tree.tags()) do
    if tag.path:find "%.h$" then
      if tag.kind == "prototype" or tag.kind == "externvar" then
        declared[tag.name] = declared[tag.name] or tag
      elseif tag.kind == "typedef" then
        local noun = tag.name:gsub("^Td", ""):gsub("(%l)(%u)", "%1_%2"):lower()
        types[tag.path] = types[tag.path] or {}
        add_leading_words(types[tag.path], noun)
      end
    end
  end
  return declared, types
end

-- The nouns that a file may export: leading words of its name, alone or behind the names of folders
-- that it lies in (show.c of bind/prompt is about `show`, `bind_show`, `prompt_show`), the same of the
-- declaring header's name, and the types that this header defines.
local function nouns_of(path, header, types)
  local nouns = {}
  local function add(file)
    local folders, stem = file:match "^(.*)/([^/]+)%.%a+$"
    add_leading_words(nouns, stem)
    for folder in folders:gmatch "[^/]+" do
      add_leading_words(nouns, stem:gsub("^" .. folder .. "_", ""))
      local behind = {}
      add_leading_words(behind, stem)
      for noun in pairs(behind) do nouns[folder .. "_" .. noun] = true end
    end
  end
  add(path)
  if header then
    add(header)
    for noun in pairs(types[header] or {}) do nouns[noun] = true end
  end
  return nouns
end

-- Whether td_NAME begins with one of the nouns, or is the plural of one.
local function fits(name, nouns)
  local words = name:match "^td_(.*)$"
  while words and words ~= "" do
    if nouns[words] or nouns[words:match "^(.*)s$"] then return true end
    words = words:match "^(.*)_[^_]*$"
  end
  return false
end

-- Names that C, Lua and the C library give.
local given = {main = true, luaopen_tide = true}

-- Exported functions and variables of the program.
local function check_exports(report)
  local declared, types = read_headers()
  for _, tag in ipairs(tree.tags()) do
    local core = tag.path:find "^interp/" or tag.path:find "^backends/" or tag.path:find "^repl/"
    local exported = (tag.kind == "function" or tag.kind == "variable") and not tag.hidden
    if core and exported and tag.path:find "%.c$" and not given[tag.name] then
      local header = declared[tag.name]
      local nouns = nouns_of(tag.path, header and header.path, types)
      if tag.path:find "^interp/rewrite/" then nouns.prim = true end
      if tag.path:find "^backends/" then nouns.backend = true end
      if tag.path:find "^interp/bind/" then nouns.bind = true end
      if not fits(tag.name, nouns) then
        report(tag.path, tag.line, ("exports %s, which is not its noun"):format(tag.name))
      elseif tag.kind == "function" and not header then
        report(tag.path, tag.line, ("%s is in no header: make it static"):format(tag.name))
      end
    end
  end
end

-- How often each C file, table and header has a td_ word, as code or as a string for dlsym: word ->
-- {path = times}.
local function users()
  local found = {}
  for _, path in ipairs(tree.matching("%.[ch]$", "%.cpp$", "%.def$")) do
    local function count(name)
      found[name] = found[name] or {}
      found[name][path] = (found[name][path] or 0) + 1
    end
    tree.code(path):gsub("%f[%w_]td_[%w_]+", count)
    tree.text(path):gsub('"(td_[%w_]+)"', count)
  end
  return found
end

-- A function that a header declares is called from another file than its own, or by a macro or an
-- inline function of the header.
local function check_users(report)
  local declared, user, n = read_headers(), users(), 0
  for _, tag in ipairs(tree.functions()) do
    local header = declared[tag.name]
    if header and header.kind == "prototype" and user[tag.name] and not tag.hidden then
      local used = user[tag.name][header.path] > 1
      for path in pairs(user[tag.name]) do
        used = used or path ~= tag.path and path ~= header.path
      end
      n = n + 1
      if not used then
        report(header.path, header.line, tag.name .. " is used in its own file at most: make it static")
      end
    end
  end
  return n .. " functions"
end

-- Whether a comment ends right above a definition, whose type may have a line of its own.
local function has_head(lines, line)
  local above = lines[line - 1] or ""
  if above:find "^[%w_ *]+$" and above:find "%S" then above = lines[line - 2] or "" end
  return above:find "%*/%s*$" ~= nil
end

-- The same of a declaration in a header, where one comment may head a group of them.
local function is_described(tag)
  local lines, line = tree.lines(tag.path), tag.line
  while line > 1 and lines[line - 1]:find "[%w;,)]$" and not lines[line - 1]:find "%*/$" do
    line = line - 1
  end
  return has_head(lines, line)
end

-- A file opens with a comment; every declaration in a header has one, and three of four functions have one, there or
-- above them.
local function check_heads(report)
  local declared = read_headers()
  for _, path in ipairs(tree.matching("%.[ch]$", "%.cpp$", "%.def$", "%.lua$", "%.sh$", "%.py$")) do
    local lines = tree.lines(path)
    local first = lines[lines[1]:find "^#!" and 2 or 1]
    local script = path:find "%.sh$" or path:find "%.py$"
    if not first:find(script and '^[#"]' or path:find "%.lua$" and "^%-%-" or "^/[*/]") then
      report(path, 1, "does not open with a line that says its purpose")
    end
  end
  for _, tag in ipairs(tree.tags()) do
    local own = tag.kind == "prototype" and tag.name:find "^td_" and not tag.path:find "/include/"
    if own and tag.path:find "%.h$" and not is_described(tag) then
      report(tag.path, tag.line, ("%s has no comment above it, or above its group"):format(tag.name))
    end
  end
  local all, commented = 0, 0
  for _, tag in ipairs(tree.functions()) do
    if tag.path:find "%.c$" and not tag.path:find "^tests/" then
      local header = declared[tag.name]
      all = all + 1
      if has_head(tree.lines(tag.path), tag.line) or header and is_described(header) then
        commented = commented + 1
      end
    end
  end
  if commented * 4 < all * 3 then
    report("interp", 1, "fewer than three in four functions have a head comment")
  end
  return ("%.0f %% of %d functions"):format(100 * commented / math.max(all, 1), all)
end

return {
  {"names: a file exports td_<its noun>_..., declared in a header", check_exports},
  {"exports: what a header declares is used by another file", check_users},
  {"heads: files and what headers declare have a comment, and so have three functions in four", check_heads},
}
