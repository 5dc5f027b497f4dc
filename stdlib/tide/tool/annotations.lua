-- Annotations for lua-language-server (LuaCATS), written from the registry that help and completion read. `make docs`
-- puts them into stdlib/tide.meta.lua, `tide init` into a folder of designs, so that it needs no path of one machine.
local template = require "tide.template"
local tide = require "tide"

local annotations = {}

-- Types by kinds of arguments; the other kinds are names.
local kinds = { int = "integer", ints = "integer|integer[]", names = "string|string[]", flag = "boolean",
  type = "tide.Type", schedule = "tide.Schedule", counts = "table<string, integer>" }

local classes = { unit = "tide.Unit", schedule = "tide.Schedule", step = "tide.Step",
  layout = "tide.Layout", tensor = "tide.Tensor", type = "tide.Type",
  graph = "tide.Graph", ["step.graph"] = "tide.StepGraph",
  build = "tide.Build", timed = "tide.Timed", design = "tide.Builder",
  stream = "tide.Stream", size = "tide.Size" }

-- The type of an argument of a primitive.
local function type_of(a)
  if a.kind == "word" then return '"' .. a.words:gsub("|", '"|"') .. '"' end
  return kinds[a.kind] or "string"
end

-- The name of an argument as a parameter of Lua.
local function parameter(a) return a.name == "function" and "fn" or a.name end

-- "{ names?: string, tail?: .. }" of the options of a primitive, or nil.
local function options_of(p)
  local list = {}
  for _, a in ipairs(p.args) do
    if a.place == "option" then list[#list + 1] = ("%s?: %s"):format(a.name, type_of(a)) end
  end
  return #list > 0 and "{ " .. table.concat(list, ", ") .. " }" or nil
end

-- A method for a primitive: its summary, rewrite and legality, and a line for each argument. Options behind any number
-- of names are among these.
local function primitive(p, out)
  local names, options = {}, options_of(p)
  local function put(name, mark, kind, help)
    names[#names + 1] = name
    out[#out + 1] = ("---@param %s%s %s %s"):format(name, mark, kind, help)
  end
  out[#out + 1] = ("\n---%s\n---\n---`%s`\n---\n---Legal %s."):format(p.summary, p.rewrite, p.legal)
  for _, a in ipairs(p.args) do
    if a.place == "rest" then
      put("...", "", type_of(a) .. (options and "|" .. options or ""), a.help)
    elseif a.place ~= "option" then
      put(parameter(a), a.place == "optional" and "?" or "", type_of(a), a.help)
    end
  end
  if options and names[#names] ~= "..." then put("options", "?", options, "") end
  out[#out + 1] = "---@return tide.Schedule schedule itself, then the names that were made\n---@return string ..."
  out[#out + 1] = ("function Schedule:%s(%s) end"):format(p.name, table.concat(names, ", "))
end

-- What functions and methods return, where that is a class of Tide; the others return any value.
local results = { ["tide.kernel"] = "tide.Unit", ["tide.design"] = "tide.Unit", ["tide.extern"] = "tide.Unit",
  ["tide.schedule"] = "tide.Schedule", ["tide.tensor"] = "tide.Tensor", ["tide.random"] = "tide.Tensor",
  ["tide.load"] = "tide.Tensor", ["tide.state"] = "tide.Tensor", ["tide.matmul"] = "tide.Tensor",
  ["tide.int"] = "tide.Type", ["tide.uint"] = "tide.Type", ["tide.fixed"] = "tide.Type", ["tide.ufixed"] = "tide.Type",
  ["unit:build"] = "tide.Build", ["schedule:build"] = "tide.Build", ["design:stream"] = "tide.Stream",
  ["unit:at"] = "tide.Unit", ["unit:as"] = "tide.Unit", ["unit:graph"] = "tide.Graph",
  ["schedule:undo"] = "tide.Schedule", ["schedule:at"] = "tide.Schedule", ["schedule:fork"] = "tide.Schedule",
  ["schedule:graph"] = "tide.Graph", ["schedule:log"] = "string", ["schedule:diff"] = "string",
  ["schedule:loops"] = "string[]", ["tensor:slice"] = "tide.Tensor", ["tensor:copy"] = "tide.Tensor",
  ["tensor:transpose"] = "tide.Tensor", ["tensor:equal"] = "boolean", ["tensor:allclose"] = "boolean",
  ["step.graph:at"] = "tide.StepGraph", ["step.graph:dot"] = "string", ["step.graph:svg"] = "string",
  ["tide.step.graph"] = "tide.StepGraph",
  ["type:with"] = "tide.Type", ["graph:dot"] = "string", ["graph:svg"] = "string",
  ["tide.layout"] = "tide.Layout", ["layout:compose"] = "tide.Layout", ["layout:inverse"] = "tide.Layout",
  ["layout:permute"] = "tide.Layout", ["layout:tile"] = "tide.Layout", ["layout:slice"] = "tide.Layout" }

-- A function or method, whose usage stands in its comment.
local function documented(f, out)
  local class, name = f.name:match "^([%w_.]+)[:.]([%w_]+)$"
  local owner = class:find "^tide" and class .. "." or classes[class] and classes[class]:match "%.(%w+)$" .. ":"
  if not owner then return end
  out[#out + 1] = ("\n---%s\n---\n---`%s`\n---@return %s\nfunction %s%s(...) end"):format(f.summary, f.usage,
    results[f.name] or "any", owner, name)
end

-- Types by kinds of parameters of templates.
local template_kinds = { size = "integer", count = "integer", type = "tide.Type", shape = "integer[]",
  flag = "boolean" }

-- A template of a library: its summary, constraints and parameters, of which those with a default may be left out.
local function templated(name, t, out)
  local fields = {}
  for i, p in ipairs(t.params) do
    fields[i] = ("%s%s: %s"):format(p.name, p.default == nil and "" or "?", template_kinds[p.kind])
  end
  out[#out + 1] = ("\n---%s\n---\n---`%s`"):format(t.summary, t:usage())
  for _, constraint in ipairs(t.where) do out[#out + 1] = ("---\n---Constraint `%s`."):format(constraint) end
  out[#out + 1] = ("---@param parameters { %s }\n---@param instance? string a name of its own"):format(
    table.concat(fields, ", "))
  out[#out + 1] = ("---@return tide.Unit\nfunction %s(parameters, instance) end"):format(name)
end

-- The libraries of templates; the modules say of themselves that they are these classes.
local function libraries(out)
  for _, name in ipairs(template.libraries) do
    out[#out + 1] = ("\n---@class tide.%s\nlocal %s = {}"):format(name, name)
    out[#out + 1] = ("\n---The schedule of a template, for a kernel of it.\n---@param kernel tide.Unit\n" ..
      "---@return tide.Schedule\nfunction %s.schedule(kernel) end"):format(name)
  end
  for _, x in ipairs(template.list()) do templated(x.name, x.template, out) end
end

local head = [[
---@meta tide
-- Written by `tide doc --meta` from Tide's registry; not to be edited.

---@class tide.Type
---@field [integer] tide.Type
---@overload fun(x?: any): any
local Type = {}

---@class tide.Tensor
---@field type tide.Type
---@field shape integer[]
---@field [integer] any
---@operator add(any): tide.Tensor
---@operator sub(any): tide.Tensor
---@operator mul(any): tide.Tensor
---@operator div(any): tide.Tensor
---@operator unm: tide.Tensor
local Tensor = {}

---A built program, called like the kernel.
---@class tide.Build
---@field source string
---@field files string[]
---@field target string
---@field report any
---@overload fun(...: any)
local Build = {}

---What a timed run tells.
---@class tide.Timed
---@field cycles integer
local Timed = {}

---What the function of a design gets.
---@class tide.Builder
local Builder = {}

---A stream of a design, or an array of streams.
---@class tide.Stream
---@field [integer] tide.Stream
local Stream = {}

---A size without a value.
---@class tide.Size
local Size = {}

---A kernel, a design or a foreign function.
---@class tide.Unit
---@field sizes table<string, integer>
---@overload fun(...: any)
local Unit = {}

---@class tide.Schedule
---@overload fun(...: any)
local Schedule = {}

---@class tide.Graph
local Graph = {}

---A graph of tide.step.
---@class tide.StepGraph
---@overload fun(...: any)
local StepGraph = {}

---@class tide
local tide = {}
]]

-- The types that are fields of the module.
local function scalars(out)
  for _, name in ipairs { "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "f16", "bf16", "f32", "f64",
    "index" } do
    out[#out + 1] = ("---@type tide.Type\ntide.%s = nil"):format(name)
  end
end

--- The text of the file.
function annotations.text()
  local r, out = tide.registry(), { head }
  scalars(out)
  for _, f in ipairs(r.functions) do documented(f, out) end
  for _, p in ipairs(r.primitives) do primitive(p, out) end
  libraries(out)
  out[#out + 1] = "\nreturn tide"
  return table.concat(out, "\n") .. "\n"
end

return annotations
