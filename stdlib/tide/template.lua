-- Templates: kernels over types and sizes, under constraints, each with its schedule. What a template is stands in it
-- as data, which calls, help, completion and the reference page read.
--   local gemm = template {
--     name = "gemm", summary = "C = C + A B", kernel = function(M, N, K, T) .. return tide.kernel {..} end,
--     M = template.size "rows of A", .., T = template.type("of the elements", i8),
--     where = { "T == i8 or T == i16" }, schedule = function(s) s:pipeline "j" end,
--   }
--   local k = gemm {M = 4, N = 4, K = 8}          -- a kernel
--   local s = template.schedule(k)                -- with the schedule of its template
--   local head = gemm({M = 4, N = 4, K = 8}, "head")   -- an instance of its own under that name
-- The parameters of a template are those of its two functions, which get values by name; s is the schedule so far. The
-- first function returns a kernel, then the kernels of templates that it calls: their schedules are composed first.
local order = require "tide.order"
local tide = require "tide"
local refusal = require "tide.refusal"

local template, class = {}, { __name = "tide.template" }
local recipes = setmetatable({}, { __mode = "k" }) -- by kernel: the function that makes its schedule

-- The libraries that help and the reference page list.
template.libraries = { "nn", "systolic", "quant" }

-- What constraints may name beside the parameters of their template.
local words = {}
for _, T in ipairs { "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "f16", "bf16", "f32", "f64" } do
  words[T] = tide[T]
end
function words.is_float(T) return T.kind == "float" end
function words.is_integer(T) return T.kind == "int" or T.kind == "uint" end
function words.is_fixed(T) return T.kind == "fixed" or T.kind == "ufixed" end
function words.is_number(T) return T.kind ~= "bool" and T.bits <= 64 end

-- Kinds of parameters: what a value must be, in words and as a test.
local kinds = {
  size = { "an integer from 1", function(v) return math.type(v) == "integer" and v >= 1 end },
  count = { "an integer from 0", function(v) return math.type(v) == "integer" and v >= 0 end },
  type = { "a type of scalars", function(v)
    local has_kind, kind = pcall(function() return type(v) == "userdata" and v.kind end)
    return has_kind and kind and kind ~= "tensor" and kind ~= "stream"
  end },
  shape = { "a list of one to three integers from 1", function(v)
    if type(v) ~= "table" or #v < 1 or #v > 3 then return false end
    for i = 1, #v do
      if math.type(v[i]) ~= "integer" or v[i] < 1 then return false end
    end
    return true
  end },
  flag = { "true or false", function(v) return type(v) == "boolean" end },
}

-- A parameter of a kind: template.size("rows of A", 4), the second value being what it is if it is not given, or a
-- function that gives that from the values of the parameters before it.
for kind in pairs(kinds) do
  template[kind] = function(help, default) return { kind = kind, help = help, default = default } end
end

-- The types of sums of products, and what must hold of them.
template.factors = template.type("of the factors", tide.i8)
template.sums = template.type("of the sums: that of the factors if these are floats, else i32", function(values)
  return words.is_float(values.T) and values.T or tide.i32
end)
template.numbers = "is_number(T) and is_number(acc) and (is_fixed(acc) or not is_fixed(T))"
template.sums_hold = "is_float(acc) == is_float(T) and acc.bits >= T.bits"

-- The names of the parameters of a function, in order.
local function parameters_of(f)
  local names = {}
  for i = 1, debug.getinfo(f, "u").nparams do names[i] = debug.getlocal(f, i) end
  return names
end

-- Calls f with the values of its parameters.
local function call_by_name(f, values)
  local names, list = parameters_of(f), {}
  for i, name in ipairs(names) do list[i] = values[name] end
  return f(table.unpack(list, 1, #names))
end

-- Raises a usage error at the line that called the template.
local function fail(t, code, text, help)
  refusal.raise(code, (text:gsub("@", "template " .. t.name)), help)
end

-- A constraint's parameters, in the order in which it names them.
local function names_in(constraint, values)
  local seen, names = {}, {}
  for name in constraint:gmatch "[%a_][%w_]*" do
    if values[name] ~= nil and not seen[name] then seen[name], names[#names + 1] = true, name end
  end
  return names
end

-- Raises, naming it, if the values violate a constraint.
local function check_constraints(t, values)
  local env = setmetatable({}, { __index = function(_, name)
    if values[name] ~= nil then return values[name] end
    return words[name]
  end })
  for _, constraint in ipairs(t.where) do
    if not load("return " .. constraint, "=constraint", "t", env)() then
      local shown = {}
      for i, name in ipairs(names_in(constraint, values)) do shown[i] = name .. " = " .. tostring(values[name]) end
      fail(t, "constraint", ("constraint `%s` of @: %s"):format(constraint, table.concat(shown, ", ")))
    end
  end
end

-- Raises if the arguments hold a name that is no parameter.
local function check_names(t, args)
  local names, known = {}, {}
  for i, p in ipairs(t.params) do names[i], known[p.name] = p.name, true end
  for name in pairs(args) do
    if not known[name] then
      local near = refusal.nearest(tostring(name), names)
      fail(t, "template-argument", ("@ has no parameter '%s'"):format(name),
        near and ("did you mean '%s'?"):format(near) or t:usage())
    end
  end
end

-- The value of each parameter by name; raises for what is missing, unknown or of another kind.
local function values_of(t, args)
  if type(args) ~= "table" then fail(t, "template-argument", "@ takes a table of its parameters", t:usage()) end
  check_names(t, args)
  local values = {}
  for _, p in ipairs(t.params) do
    local v = args[p.name]
    if v == nil then v = type(p.default) == "function" and p.default(values) or p.default end
    if v == nil then fail(t, "template-argument", ("@ needs %s: %s"):format(p.name, p.help), t:usage()) end
    if not kinds[p.kind][2](v) then
      fail(t, "template-argument", ("%s of @ (%s) is %s, not %s"):format(p.name, p.help, kinds[p.kind][1], tostring(v)))
    end
    values[p.name] = v
  end
  return values
end

-- Raises if `name` cannot be that of an instance.
local function check_name(t, name)
  local is_name = type(name) == "string" and name:find "^[%a_][%w_]*$" and load("local " .. name)
  if name ~= nil and not is_name then
    fail(t, "name", ("an instance of @ has a name as in Lua, not %s"):format(tostring(name)))
  end
end

-- A kernel of the template with these values, as an instance of its own if it is given a name; its schedule is made
-- when it is asked for.
class.__call = refusal.entry(function(self, args, name)
  local values = values_of(self, args)
  check_constraints(self, values)
  check_name(self, name)
  local made = table.pack(call_by_name(self.kernel, values))
  if not pcall(tide.schedule, made[1]) then fail(self, "template-kernel", "the kernel of @ returns no kernel") end
  local kernel = name and made[1]:as(name) or made[1]
  recipes[kernel] = function(s)
    for i = 2, made.n do s:compose(template.schedule(made[i])) end
    if self.schedule then call_by_name(self.schedule, setmetatable({ s = s }, { __index = values })) end
  end
  return kernel
end)

--- The schedule of a kernel that a template made.
template.schedule = refusal.entry(function(kernel)
  if kernel == nil or not recipes[kernel] then
    refusal.raise("template-kernel", "no template made this kernel",
      "nn.linear({..}, \"name\") is an instance of its own; tide.schedule(k) starts without steps")
  end
  local s = tide.schedule(kernel)
  recipes[kernel](s)
  return s
end)

local methods = {}

--- How the template is called: "gemm {M =, N =, T = i8}".
function methods:usage()
  local list = {}
  for i, p in ipairs(self.params) do
    local default = type(p.default) == "function" and ".." or p.default
    list[i] = p.name .. " =" .. (default ~= nil and " " .. tostring(default) or "")
  end
  return ("%s {%s}"):format(self.name, table.concat(list, ", "))
end

function class.__index(_, key) return methods[key] end

-- What help says.
function class:__tostring()
  local lines = { self:usage(), "  " .. self.summary }
  for _, p in ipairs(self.params) do lines[#lines + 1] = ("  %-10s %s: %s"):format(p.name, p.kind, p.help) end
  for _, constraint in ipairs(self.where) do lines[#lines + 1] = "  constraint " .. constraint end
  return table.concat(lines, "\n")
end

-- Appends the parameters of f, described in spec, to the list of a template.
local function add_parameters(list, f, spec)
  for _, name in ipairs(f and parameters_of(f) or {}) do
    local p = spec[name]
    if name ~= "s" and not list[name] then
      if not p then error(("template %s: parameter '%s' is not described"):format(spec.name, name), 3) end
      list[name], list[#list + 1] = true, { name = name, kind = p.kind, help = p.help, default = p.default }
    end
  end
end

-- Raises if a constraint is no expression, or names what it cannot see.
local function check_constraint(spec, list, constraint)
  local _, why = load("return " .. constraint, "=constraint")
  for word in constraint:gmatch "%f[%w_.][%w_.]+" do
    local name = word:match "^[%a_][%w_]*"
    if not why and name and not list[name] and not words[name] and load("local " .. name) then
      why = ("'%s' is no parameter"):format(name)
    end
  end
  if why then error(("template %s: constraint `%s`: %s"):format(spec.name, constraint, why), 3) end
end

-- Makes a template of its description.
local function make(_, spec)
  for field, kind in pairs { name = "string", summary = "string", kernel = "function" } do
    if type(spec[field]) ~= kind then error(("a template has a %s, a %s"):format(field, kind), 2) end
  end
  local list = {}
  add_parameters(list, spec.kernel, spec)
  add_parameters(list, spec.schedule, spec)
  for _, constraint in ipairs(spec.where or {}) do check_constraint(spec, list, constraint) end
  for name, p in pairs(spec) do
    if type(p) == "table" and p.kind and not list[name] then
      error(("template %s: neither function takes '%s'"):format(spec.name, name), 2)
    end
  end
  local params = table.move(list, 1, #list, 1, {})
  return setmetatable({ name = spec.name, summary = spec.summary, params = params, where = spec.where or {},
    kernel = spec.kernel, schedule = spec.schedule }, class)
end

--- An empty library: a table that prints as the list of its templates, with `schedule`.
function template.library(name)
  local library = { schedule = template.schedule }
  return setmetatable(library, { __tostring = function()
    local lines = {}
    for key, t in pairs(library) do
      if getmetatable(t) == class then lines[#lines + 1] = ("  %-12s %s"):format(key, t.summary) end
    end
    table.sort(lines, order.bytes)
    return ("templates of %s (?name tells more):\n%s"):format(name, table.concat(lines, "\n"))
  end })
end

--- The templates of the libraries: a list of {name = "nn.gemm", summary =, template =}, by library and name.
function template.list()
  local all = {}
  for _, library in ipairs(template.libraries) do
    local names = {}
    for name, t in pairs(require("tide." .. library)) do
      if getmetatable(t) == class then names[#names + 1] = name end
    end
    table.sort(names, order.bytes)
    for _, name in ipairs(names) do
      local t = require("tide." .. library)[name]
      all[#all + 1] = { name = library .. "." .. name, summary = t.summary, template = t }
    end
  end
  return all
end

--- What help says of "nn.gemm", or of each "gemm"; nil if there is none.
function template.help(name)
  local found = {}
  for _, x in ipairs(template.list()) do
    if x.name == name or "tide." .. x.name == name or x.template.name == name then
      found[#found + 1] = "tide." .. x.name:gsub("[^.]*$", "") .. tostring(x.template)
    end
  end
  return found[1] and table.concat(found, "\n")
end

return setmetatable(template, { __call = make })
