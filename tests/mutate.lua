-- mutate.lua - single faults planted in the printed form of a program, by kind.
--   for _, m in ipairs(mutate.all(text)) do m.kind, m.line, m.text end
--   for _, m in ipairs(mutate.all(text, mutate.tokens)) do .. end -- faults of puts and gets
local mutate = {}

-- The lines of text, without their ends.
local function split_lines(text)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

-- Where the statements are: the lines inside `function(..)`.
local function body(lines)
  local inside, list = false, {}
  for i, line in ipairs(lines) do
    if line:find "^%s*function%(" then inside = true end
    if inside and not line:find "function%(" then list[#list + 1] = i end
    if line:find "^%s*end,$" then inside = false end
  end
  return list
end

-- Whether a line is an assignment to an element or a local.
local function is_store(line)
  return line:find "^%s*[%w_]+[%[%]%w_ +*/%-]* = " and not line:find "^%s*local " and
    not line:find "^%s*for "
end

-- Every way to replace one match of pattern in the right-hand side of a store.
local function in_values(pattern, change)
  return function(line)
    if not is_store(line) then return {} end
    local list, at = {}, line:find(" = ", 1, true) + 3
    while true do
      local from, to = line:find(pattern, at)
      if not from then return list end
      local new = change(line:sub(from, to), line)
      if new then list[#list + 1] = line:sub(1, from - 1) .. new .. line:sub(to + 1) end
      at = from + 1
    end
  end
end

-- One replacement in a line that matches.
local function once(pattern, change)
  return function(line)
    local new, n = line:gsub(pattern, change, 1)
    return n == 1 and new ~= line and {new} or {}
  end
end

-- Another array name of the line in place of this one.
local function other_array(found, line)
  local name = found:match "^[%a_][%w_]*"
  for other in line:gmatch "([%a_][%w_]*)%[" do
    if other ~= name then return other .. found:sub(#name + 1) end
  end
end

-- Kinds of fault in one line: a function of the line that lists faulty lines.
local in_line = {
  {"index one more", in_values("%[[%a_][%w_]*%]", function(s) return s:sub(1, -2) .. " + 1]" end)},
  {"index one less", in_values("%[[%a_][%w_]*%]", function(s) return s:sub(1, -2) .. " - 1]" end)},
  {"subscripts swapped", in_values("%b[]%b[]", function(s)
    local a, b = s:match "^(%b[])(%b[])$"
    return a ~= b and b .. a
  end)},
  {"other array", in_values("%f[%w_][%a_][%w_]*%[", other_array)},
  {"add for subtract", in_values(" %- ", function() return " + " end)},
  {"subtract for add", in_values(" %+ ", function() return " - " end)},
  {"add for multiply", in_values(" %* ", function() return " + " end)},
  {"multiply for divide", in_values(" / ", function() return " * " end)},
  {"operands swapped", in_values("[%w_]+%b[]%b[] [%-/] [%w_]+%b[]%b[]", function(s)
    local a, op, b = s:match "^(.-) ([%-/]) (.*)$"
    return a ~= b and b .. " " .. op .. " " .. a
  end)},
  {"constant changed", in_values("%d%.%d+", function(s) return ("%.4f"):format(tonumber(s) + 0.25) end)},
  {"not accumulated", function(line)
    local place, rest = line:match "^%s*(.-) = (.*)$"
    if not (is_store(line) and rest:sub(1, #place + 3) == place .. " + ") then return {} end
    return {line:match "^%s*" .. place .. " = " .. rest:sub(#place + 4)}
  end},
  {"rounded to f32", function(line)
    local head, value = line:match "^(%s*[%w_]+%[.* = )(.*)$"
    return is_store(line) and head and {head .. "f64(tide.f32(" .. value .. "))"} or {}
  end},
  {"cut to i8", function(line)
    local head, value = line:match "^(%s*[%w_]+%[.* = )(.*)$"
    return is_store(line) and head and {head .. "tide.i8(" .. value .. ")"} or {}
  end},
  {"local of f32", once("^(%s*local [%w_]+ = )f64(.*)$", "%1tide.f32%2")},
  {"last iteration missing", once("^(%s*for [%w_]+ = [^,]*, [^,]*) do$", "%1 - 1 do")},
  {"first iteration missing", once("^(%s*for [%w_]+ = .-)(, .*) do$", "%1 + 1%2 do")},
  {"every second iteration", once("^(%s*for [%w_]+ = [^,]*, [^,]*) do$", "%1, 2 do")},
  {"guard negated", once("^(%s*)if (.*) then$", "%1if not (%2) then")},
  {"guard dropped", once("^(%s*)if .* then$", "%1if 0 == 0 then")},
  {"guard one less", once("^(%s*if .- < .-) then$", "%1 - 1 then")},
  {"min for max", in_values("math%.max", function() return "math.min" end)},
  {"max for min", in_values("math%.min", function() return "math.max" end)},
  {"without sqrt", in_values("math%.sqrt", function() return "" end)},
  {"statement missing", function(line) return is_store(line) and {""} or {} end},
}

-- A put or a get as a line of its own: its stream and the rest.
local PUT, GET = "^%s*([%w_]+[%[%]%w_ +*/%-]*):put(%b())$", "^%s*(.-) = ([%w_]+[%[%]%w_ +*/%-]*):get%(%)$"

-- Every way to change the value that a line puts.
local function in_put(change)
  return function(line)
    local stream, value = line:match(PUT)
    local new = stream and change(value:sub(2, -2))
    return new and {stream .. ":put(" .. new .. ")"} or {}
  end
end

-- Kinds of fault in one line that uses streams.
local in_token = {
  {"token missing", function(line) return line:match(PUT) and {""} or {} end},
  {"token twice", function(line) return line:match(PUT) and {line .. " " .. line} or {} end},
  {"token one more", in_put(function(v) return v .. " + 1" end)},
  {"token negated", in_put(function(v) return "-(" .. v .. ")" end)},
  {"token cut to i8", in_put(function(v) return "tide.i8(" .. v .. ")" end)},
  {"neighbour's stream", function(line)
    if not line:find ":put%(" and not line:find ":get%(" then return {} end
    local list = {}
    for at, index, after in line:gmatch "()%[([%w_]+)%]()" do
      list[#list + 1] = line:sub(1, at) .. "(" .. index .. " + 1) % 2" .. line:sub(after - 1)
    end
    return list
  end},
  {"read, not taken from the right place", function(line)
    local place = line:match(GET)
    local index = place and place:match "%[([%a_][%w_]*)%]"
    return index and {(line:gsub("%[" .. index .. "%]", "[0]", 1))} or {}
  end},
  {"tokens in reverse", once("^(%s*for [%w_]+ = )([^,]*), ([^,]*) do$", "%1%3, %2, -1 do")},
  {"last round missing", once("^(%s*for [%w_]+ = [^,]*, [^,]*) do$", "%1 - 1 do")},
  {"start value changed", once("^(%s*local [%w_]+ = )(%d+)$", "%1%2 + 1")},
  {"operands swapped", in_put(function(v)
    local new, n = v:gsub("^([%w_%[%]]+) %- ([%w_%[%]]+)", "%2 - %1")
    return n == 1 and new
  end)},
  {"condition negated", once("^(%s*)if (.*) then$", "%1if not (%2) then")},
}

-- Whether a line puts or gets and has no other effect than that and its store.
local function is_token(line) return line:find ":put%(" or line:find " = .*:get%(%)$" end

-- The line with the right-hand side of another.
local function with_value_of(line, other)
  local place, value = line:match "^(.- = )", other:match "^.- = (.*)$"
  return place and value and place .. value
end

--- Kinds of fault in statements, and in puts and gets: lists of a line's mutants, and what two
--- lines in a row become.
mutate.statements = {line = in_line, two = {
  {"statements swapped", function(a, b) if is_store(a) and is_store(b) then return b, a end end},
}}
mutate.tokens = {line = in_token, two = {
  {"tokens swapped", function(a, b) if a:match(PUT) and b:match(PUT) then return b, a end end},
  {"gets swapped", function(a, b)
    if is_token(a) and is_token(b) and not a:match(PUT) and not b:match(PUT) then
      return with_value_of(a, b), with_value_of(b, a)
    end
  end},
  {"put before what changes it", function(a, b)
    if not is_token(a) and a:find "^%s*[%w_]+ = " and b:match(PUT) then return b, a end
  end},
}}

-- The text whose lines from number i on are these.
local function with_lines(lines, i, ...)
  local copy = table.move(lines, 1, #lines, 1, {})
  for k = 1, select("#", ...) do copy[i + k - 1] = select(k, ...) end
  return table.concat(copy, "\n") .. "\n"
end

--- All mutants of a printed program: a list of {kind =, line =, text =}. kinds: mutate.statements
--- unless given.
function mutate.all(text, kinds)
  kinds = kinds or mutate.statements
  local lines, list = split_lines(text), {}
  local function add(kind, i, ...)
    if ... and table.concat({...}, "\n") ~= table.concat(lines, "\n", i, i + select("#", ...) - 1) then
      list[#list + 1] = {kind = kind, line = i, text = with_lines(lines, i, ...)}
    end
  end
  for _, i in ipairs(body(lines)) do
    for _, k in ipairs(kinds.line) do
      for _, line in ipairs(k[2](lines[i])) do add(k[1], i, line) end
    end
    for _, k in ipairs(kinds.two) do
      if lines[i + 1] then add(k[1], i, k[2](lines[i], lines[i + 1])) end
    end
  end
  return list
end

return mutate
