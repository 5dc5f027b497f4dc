-- One run of a script for tide lsp, in a process of its own: its error, and what its variables hold at the end, as a
-- line of JSON behind a byte 1, so that what the script prints is nobody's.
local json = require "tide.json"
local tide = require "tide"
local view = require "tide.view"

local MOST = 4000 -- bytes that are said of a value

local run = {}

-- The types of the parameters of a kernel, as its text has them.
local function parameters(text)
  local out
  for name, type_text in text:gmatch "\n  ([%a_][%w_]*) = ([^\n]-),\n?%f[\n]" do
    out = out or {}
    out[name] = type_text
  end
  return out
end

-- What hover and completion say of a value; nil: nothing.
local function describe(name, v)
  local kind = view.name(v)
  if kind then
    local text = tostring(v):gsub("^local tide.-\n\n", ""):gsub("\n\nreturn [^\n]*\n?$", "")
    local steps = view.steps(v) and {}
    for i, step in ipairs(steps and v:steps() or {}) do
      steps[i] = ("%d  s:%s%s"):format(i, step.call, step.verdict and "   proved: " .. tostring(step.verdict) or "")
    end
    local loops = steps and v:loops() or nil
    return { name = kind, kind = steps and "schedule" or "unit", text = text:sub(1, MOST), steps = steps,
      params = parameters("\n" .. text), loops = loops and #loops > 0 and loops or nil }
  end
  local class = getmetatable(v) == false and tostring(v):match "^[^\n]*"
  if type(v) == "number" or type(v) == "string" or type(v) == "boolean" then
    return { kind = type(v), text = ("%s: %s %s"):format(name, math.type(v) or type(v), tostring(v)):sub(1, MOST) }
  end
  if type(v) == "userdata" then
    return { kind = "value", text = (name .. ": " .. (class or tostring(v))):sub(1, MOST) }
  end
  if type(v) == "table" or type(v) == "function" then return { kind = type(v), text = name .. ": a " .. type(v) } end
end

-- Adds what a name holds.
local function add(values, text, name, v)
  if name:find "^[%a_][%w_]*$" == nil or v == nil or values[name] then return end
  local ok, d = pcall(describe, name, v)
  if not ok or not d then return end
  local line = 1
  for s in (text .. "\n"):gmatch "([^\n]*)\n" do
    if s:find("%f[%w_]" .. name .. "%f[^%w_]%s*=[^=]") or s:find("%f[%w_]function%s+" .. name .. "%f[^%w_]") then
      d.line = line
      break
    end
    line = line + 1
  end
  d.line = d.line or 1
  values[name] = d
end

-- An error as the diagnostics of editors have it.
local function error_of(e)
  return json.read(require "tide.tool.diagnostics".text(e))
end

--- Runs the text in file `input` as the script at `path`; prints the line.
function run.run(path, input)
  local f = assert(io.open(input, "rb"))
  local text = f:read "a"
  f:close()
  package.path = path:match "^(.*)/" .. "/?.lua;" .. package.path
  local values, known = {}, {}
  for name in pairs(_G) do known[name] = true end
  local chunk, why = load(text:gsub("^#[^\n]*", ""), "@" .. path)
  local result = { values = values }
  _G.arg = { [0] = path }
  if chunk then
    -- The variables of the main chunk, where it ends or fails.
    local function collect(level)
      for i = 1, 250 do
        local name, v = debug.getlocal(level + 1, i)
        if not name then break end
        if name:sub(1, 1) ~= "(" then add(values, text, name, v) end
      end
    end
    local thread = coroutine.create(chunk)
    debug.sethook(thread, function()
      local info = debug.getinfo(2, "f")
      if info.func == chunk then collect(2) end
    end, "r")
    local ok, e = coroutine.resume(thread)
    if not ok then
      local level = 0
      while debug.getinfo(thread, level, "f") do
        local info = debug.getinfo(thread, level, "fl")
        if info.func == chunk then
          for i = 1, 250 do
            local name, v = debug.getlocal(thread, level, i)
            if not name then break end
            if name:sub(1, 1) ~= "(" then add(values, text, name, v) end
          end
          result.main = info.currentline
        end
        level = level + 1
      end
      result.error = error_of(e)
      result.error.main = result.main
    end
    for name, v in pairs(_G) do
      if not known[name] and type(name) == "string" and tide[name] ~= v then add(values, text, name, v) end
    end
  else
    result.error = error_of(why)
  end
  if next(values) == nil then result.values = nil end
  io.stdout:write("\n\1", json.text(result))
  io.stdout:flush()
  os.exit(0, false)
end

return run
