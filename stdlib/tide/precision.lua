-- What other types cost on given data: the largest error of each argument that two programs leave behind.
--   local precision = require "tide.precision"
--   print(precision(gemm, s, A, B, C))     -- gemm, and a schedule that retypes it, on copies of A, B, C
local precision = {}

local report = {}
report.__index = report

--- One line for each argument.
function report:__tostring()
  local lines = {}
  for i, r in ipairs(self) do
    local at = #r.at > 0 and (" at [%s]"):format(table.concat(r.at, "][")) or ""
    lines[i] = ("%s: %s instead of %s: largest error %g%s, largest value %g"):format(r.name, r.type, r.was, r.error, at,
      r.largest)
  end
  return table.concat(lines, "\n")
end

-- The parameters of a kernel, design or schedule, by its printed form.
local function params(program) return load(tostring(program))(program:constants()).params end

-- A copy of each argument in the type that its parameter has.
local function converted(args, list)
  local copies = {}
  for i, p in ipairs(list) do
    local v = args[i]
    local tensor = type(v) == "userdata"
    copies[i] = tensor and (tostring(v.type) == tostring(p.type) and v:copy() or p.type(v)) or v
  end
  return copies
end

-- Compares nested lists x and y of numbers below index `at`; notes in r the largest difference and value.
local function compare(x, y, at, r)
  if type(x) == "table" then
    for i = 1, #x do
      at[#at + 1] = i - 1
      compare(x[i], y[i], at, r)
      at[#at] = nil
    end
    return
  end
  local off = x == y and 0 or math.abs(x - y)
  r.largest = math.max(r.largest, math.abs(x))
  if off > r.error or off ~= off then r.error, r.at = off, table.move(at, 1, #at, 1, {}) end
end

--- Runs both programs on copies of the arguments, converted to the types of each; returns a list with an entry
--- {name, was, type, error, at, largest} for each tensor: the largest absolute error, where it is, and the largest
--- absolute value of the first program. Its tostring is a line for each.
function precision.compare(first, second, ...)
  local args, of_first, of_second = { ... }, params(first), params(second)
  local x, y = converted(args, of_first), converted(args, of_second)
  first(table.unpack(x, 1, #of_first))
  second(table.unpack(y, 1, #of_second))
  local list = setmetatable({}, report)
  for i, p in ipairs(of_first) do
    if type(x[i]) == "userdata" then
      local r = { name = p.name, was = tostring(p.type), type = tostring(of_second[i].type), error = 0, at = {},
        largest = 0 }
      compare(x[i]:table(), y[i]:table(), {}, r)
      list[#list + 1] = r
    end
  end
  return list
end

return setmetatable(precision, { __call = function(_, ...) return precision.compare(...) end })
