-- :save: the inputs of a session as a script that makes the same programs in a new process.
local order = require "tide.order"
local session = require "tide.session"
local tide = require "tide"
local write = require "tide.file".write

local replay = {}

-- Whether a name is one that answers have, and the number of the answer.
local function answer(name)
  local n = name:match "^_([1-9]?)$"
  return n and (tonumber(n) or 1)
end

-- How many answers the pieces use, 0: none.
local function answers_used(pieces)
  local most = 0
  for _, piece in ipairs(pieces) do
    for name in pairs(piece.names) do most = math.max(most, answer(name) or 0) end
  end
  return most
end

-- "_1, _2 = " for n answers; for none, what makes a statement of expressions that nothing uses.
local function receiver(n)
  local names = {}
  for i = 1, n do names[i] = "_" .. i end
  return n > 0 and table.concat(names, ", ") .. " = " or "local _ = "
end

-- A piece as statements, n answers kept; nil when it does nothing.
local function statements(input, piece, n)
  local head, tail = piece.text:sub(1, piece.at), piece.text:sub(piece.at + 1)
  if piece.last == "return" then tail = tail:gsub("^return%s*;?%s*", "") end
  local keeps = piece.shows and n > 0 and (input.shown or not input.ok)
  if piece.last == "none" or piece.last == "call" and not keeps then return piece.text end
  if tail:match "^%s*$" or piece.last == "value" and not keeps then
    return head:match "%S" and head or nil
  end
  return head .. receiver(keeps and n or 0) .. tail .. (keeps and "\n_ = _1" or "")
end

-- A text without the blanks at its ends.
local function trim(text) return (text:gsub("^%s*\n", ""):gsub("%s+$", "")) end

-- The lines of one input in the script, or nil.
local function lines(input, piece, n)
  local text = statements(input, piece, n)
  if not text or trim(text) == "" then return nil end
  text = trim(text)
  if input.interrupted then return "-- interrupted: " .. text:gsub("\n", "\n-- ") end
  if not input.ok then return "pcall(function() -- it failed after it had changed something\n" .. text .. "\nend)" end
  return piece.loose and "do local function input()\n" .. text .. "\nend input() end" or text
end

-- The words of a set in order, "a b c".
local function words(set)
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list, order.bytes)
  return list
end

-- The first lines: what the variables are, and the names of tide that are used.
local function head(pieces, n)
  local assigned, used, start = {}, {}, {}
  for i = 1, n do assigned["_" .. i] = true end
  for _, piece in ipairs(pieces) do
    for name, is_assigned in pairs(piece.names) do
      if is_assigned or answer(name) then assigned[name] = true end
    end
  end
  assigned.tide = nil
  for _, piece in ipairs(pieces) do
    for name in pairs(piece.names) do
      local ours = tide[name] ~= nil
      if ours and assigned[name] then
        start[name] = true
      elseif ours and _G[name] == tide[name] then
        used[name] = true
      end
    end
  end
  local out = { "-- The inputs of a session of Tide, in order.", "-- luacheck: ignore 2 3 4 5 6" }
  if next(assigned) then out[#out + 1] = "-- luacheck: globals " .. table.concat(words(assigned), " ") end
  out[#out + 1] = 'local tide = require "tide"'
  for _, name in ipairs(words(used)) do out[#out + 1] = ("local %s = tide.%s"):format(name, name) end
  for _, name in ipairs(words(start)) do out[#out + 1] = ("%s = tide.%s"):format(name, name) end
  return table.concat(out, "\n")
end

--- The script that replays inputs {text =, ok =, interrupted =, shown =}, and of how many of them it is made.
function replay.script(inputs)
  local pieces, out = {}, {}
  for i, input in ipairs(inputs) do pieces[i] = session.script(input.text) end
  local n = answers_used(pieces)
  for i, input in ipairs(inputs) do out[#out + 1] = lines(input, pieces[i], n) end
  table.insert(out, 1, head(pieces, n))
  return table.concat(out, "\n\n") .. "\n", #out - 1
end

-- Files that this session wrote, and the one that it was asked to write over.
local written, asked = {}, nil

-- Whether a file of others is at the path.
local function is_foreign(path)
  local f = not written[path] and io.open(path)
  if f then f:close() end
  return f
end

--- Writes the script of this session; what to say of it, or nil and why not. A file that is there, and which this
--- session did not write, is written over when asked for twice in a row.
function replay.save(path)
  if is_foreign(path) and asked ~= path then
    asked = path
    return nil, ("%s is there already: `:save %s` once more writes over it"):format(path, path)
  end
  local text, n = replay.script(session.inputs())
  local ok, why = write(path, text)
  if not ok then return nil, why end
  written[path], asked = true, nil
  return ("saved %d input%s to %s\n"):format(n, n == 1 and "" or "s", path)
end

return replay
