-- :reload: a file is run anew in an environment of its own, and the steps of the schedules of its kernels are applied
-- again to what it makes now.
local order = require "tide.order"
local tide = require "tide"
local view = require "tide.view"

local reload = {}

-- The kernels and designs by name among the values of a file, those that it returned and its globals; a schedule where
-- there is nothing else of the name.
local function units_of(values)
  local units, any = {}, false
  for _, v in pairs(values) do
    local name = view.name(v)
    if name and not (units[name] and view.steps(v)) then units[name] = v end
    any = any or name ~= nil
  end
  return units, any
end

local function is_there(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

-- Runs a file; its globals and the values that it returns, or nil and why not. What is no Lua raises, for a caret.
local function run(path)
  local globals = setmetatable({}, { __index = _G })
  local chunk, why = loadfile(path, "t", globals)
  if not chunk and is_there(path) then error(why, 0) end
  if not chunk then return nil, why end
  local returned = table.pack(chunk())
  if #returned == 1 and type(returned[1]) == "table" and not view.name(returned[1]) then returned = returned[1] end
  setmetatable(globals, nil)
  return globals, returned
end

-- The first line of an error.
local function first_line(e) return (tostring(type(e) == "table" and e.message or e):match "[^\n]*") end

-- How many steps two schedules have in common from the start.
local function common(old, new)
  local n = 0
  while n < #old and n < #new and old[n + 1].call == new[n + 1].call do n = n + 1 end
  return n
end

-- Applies the steps of a schedule to what a file made now, a kernel or a schedule that has some of them already. The
-- new schedule, and a line for each step that does not apply.
local function again(schedule, made)
  local is_unit = not view.steps(made)
  local new, lost, steps = is_unit and tide.schedule(made) or made:fork(), {}, schedule:steps()
  local first = common(steps, new:steps())
  if first < #new:steps() then return new, { "  its steps are now those of the file" }, #steps end
  for i = first + 1, #steps do
    local apply = assert(load("local s, tide = ... s:" .. steps[i].call, "=step " .. i))
    local ok, e = pcall(apply, new, tide)
    if not ok then
      lost[#lost + 1] = ("  %d  s:%s does not apply: %s"):format(i, steps[i].call, first_line(e))
    end
  end
  return new, lost, #steps
end

-- The names of the session's globals that hold kernels or schedules, in order.
local function names()
  local list = {}
  for name, v in pairs(_G) do
    if type(name) == "string" and not name:match "^_%d?$" and view.name(v) then list[#list + 1] = name end
  end
  table.sort(list, order.bytes)
  return list
end

-- Puts what a file made, its globals first, in the place of what the session held of it; the lines to say of it, and
-- the names that were so replaced.
local function replace(path, globals, units)
  local out, done = {}, {}
  for _, name in ipairs(names()) do
    local old = _G[name]
    local new = view.file(old) == path and (view.name(globals[name]) and globals[name] or units[view.name(old)])
    if new and view.steps(old) then
      local lost, n
      _G[name], lost, n = again(old, new)
      out[#out + 1] = ("%s: %d of %d step%s apply again"):format(name, n - #lost, n, n == 1 and "" or "s")
      table.move(lost, 1, #lost, #out + 1, out)
    elseif new then
      _G[name] = new
      out[#out + 1] = name .. ": new"
    end
    done[name] = new and true
  end
  return out, done
end

--- Runs a file anew. Its globals become those of the session; kernels, designs and schedules that the session has of
--- it are replaced by those of the same name. Returns what to say of it, or nil and why not.
function reload.reload(path)
  local globals, returned = run(path)
  if not globals then return nil, returned end
  local values = {}
  for _, list in ipairs { globals, returned } do
    local keys = {}
    for key in pairs(list) do keys[#keys + 1] = key end
    table.sort(keys, function(a, b) return order.bytes(tostring(a), tostring(b)) end)
    for _, key in ipairs(keys) do values[#values + 1] = list[key] end
  end
  local units, any = units_of(values)
  if not any and next(globals) == nil then
    return nil, path .. " made nothing that stays: it sets no global and returns no kernel, design or schedule"
  end
  local out, done = replace(path, globals, units)
  for name, v in pairs(globals) do
    if not done[name] then _G[name] = v end
  end
  return table.concat(out, "\n") .. (#out > 0 and "\n" or "") .. "reloaded " .. path .. "\n"
end

return reload
