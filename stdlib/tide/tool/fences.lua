-- A Markdown file as prose and fenced blocks, and back to text. What documents and notebooks read.
local fences = {}

-- The opening of a fence: its indentation, marks and words; nil for any other line.
local function opening(line)
  local indent, marks, info = line:match "^( ? ? ?)(```+)%s*([^`]*)$"
  if not marks then indent, marks, info = line:match "^( ? ? ?)(~~~+)%s*(.*)$" end
  return indent, marks, info
end

-- Whether a line closes the fence that `marks` opened.
local function closes(line, marks)
  local found = line:match("^ ? ? ?(%" .. marks:sub(1, 1) .. "+)%s*$")
  return found and #found >= #marks
end

-- The lines of a text; a last line needs no newline.
local function split(text)
  local lines = {}
  for line in (text:gsub("\n$", "") .. "\n"):gmatch "(.-)\r?\n" do lines[#lines + 1] = line end
  return lines
end
fences.split = split

-- The fence that opens at line n: {language, flags, marks, indent, line, lines}; and the line after it.
local function read(lines, n)
  local indent, marks, info = opening(lines[n])
  local language, rest = info:match "^(%S*)%s*(.-)%s*$"
  local fence = { language = language, flags = {}, words = {}, info = info, marks = marks, indent = indent, line = n,
    lines = {} }
  for word in rest:gmatch "[^%s,]+" do
    fence.flags[word], fence.words[#fence.words + 1] = true, word
  end
  n = n + 1
  while lines[n] and not closes(lines[n], marks) do
    table.insert(fence.lines, (lines[n]:gsub("^" .. (" ?"):rep(#indent), "")))
    n = n + 1
  end
  return fence, n + 1
end

-- Whether only blank lines lie from item `from` to the end of the list.
local function is_blank_since(items, from)
  for i = from, #items do
    if items[i].language or items[i].text:find "%S" then return false end
  end
  return true
end

--- The items of a file in order: {text =, line =} for a line of prose, or a fence. An `out` fence that follows a `lua`
--- fence, with nothing between them, is that fence's field `recorded`, and names it in its field `of`.
function fences.parse(text)
  local lines, items, n, last = split(text), {}, 1, nil
  while lines[n] do
    if opening(lines[n]) then
      local fence
      fence, n = read(lines, n)
      if fence.language == "out" and last and is_blank_since(items, last + 1) then
        items[last].recorded, fence.of = fence, items[last]
      end
      items[#items + 1] = fence
      last = fence.language == "lua" and #items or nil
    else
      items[#items + 1] = { text = lines[n], line = n }
      n = n + 1
    end
  end
  return items
end

-- Marks longer than any run of them in the lines.
local function marks_for(marks, lines)
  for _, line in ipairs(lines) do
    local run = line:match("^%s*(%" .. marks:sub(1, 1) .. "+)")
    if run and #run >= #marks then marks = run .. marks:sub(1, 1) end
  end
  return marks
end

--- The text of a fence.
function fences.write(fence)
  local marks, out = marks_for(fence.marks, fence.lines), {}
  out[1] = fence.indent .. marks .. fence.info
  for _, line in ipairs(fence.lines) do out[#out + 1] = line == "" and "" or fence.indent .. line end
  out[#out + 1] = fence.indent .. marks
  return table.concat(out, "\n")
end

--- An `out` fence for `text`, beside the fence that printed it.
function fences.output(beside, text)
  return { language = "out", info = "out", flags = {}, words = {}, marks = beside.marks, indent = beside.indent,
    line = beside.line, lines = split(text), of = beside }
end

return fences
