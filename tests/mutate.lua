-- mutate.lua - single faults planted in the printed form of a program, by kind.
--   for _, m in ipairs(mutate.all(text)) do m.kind, m.line, m.text end
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
  {"last iteration missing", once("^(%s*for [%w_]+ = [^,]*, [^,]*) do$", "%1 - 1 do")},
  {"first iteration missing", once("^(%s*for [%w_]+ = .-)(, .*) do$", "%1 + 1%2 do")},
  {"every second iteration", once("^(%s*for [%w_]+ = [^,]*, [^,]*) do$", "%1, 2 do")},
  {"guard negated", once("^(%s*)if (.*) then$", "%1if not (%2) then")},
  {"guard one less", once("^(%s*if .- < .-) then$", "%1 - 1 then")},
  {"min for max", in_values("math%.max", function() return "math.min" end)},
  {"max for min", in_values("math%.min", function() return "math.max" end)},
  {"without sqrt", in_values("math%.sqrt", function() return "" end)},
  {"statement missing", function(line) return is_store(line) and {""} or {} end},
}

local function with_line(lines, i, text)
  local copy = table.move(lines, 1, #lines, 1, {})
  copy[i] = text
  return table.concat(copy, "\n") .. "\n"
end

--- All mutants of a printed program: a list of {kind =, line =, text =}.
function mutate.all(text)
  local lines, list = split_lines(text), {}
  for _, i in ipairs(body(lines)) do
    for _, k in ipairs(in_line) do
      for _, line in ipairs(k[2](lines[i])) do
        list[#list + 1] = {kind = k[1], line = i, text = with_line(lines, i, line)}
      end
    end
    if is_store(lines[i]) and lines[i + 1] and is_store(lines[i + 1]) then
      local swapped = table.move(lines, 1, #lines, 1, {})
      swapped[i], swapped[i + 1] = lines[i + 1], lines[i]
      list[#list + 1] = {kind = "statements swapped", line = i, text = table.concat(swapped, "\n") .. "\n"}
    end
  end
  return list
end

return mutate
