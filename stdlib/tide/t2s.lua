-- T2S: a temporal definition, in stages that run in text order, and the directives of a spatial mapping.
--   local t2s = require "tide.t2s"
--   local A, B = t2s.Param("A B", f32, 2)
--   local I, J, K = t2s.Param "I J K"
--   local i, j, k = t2s.Var "i j k"
--   local C = t2s.Func("C", f32)
--   C[i][j] = 0
--   C[i][j] = C[i][j] + A[i][k] * B[k][j]
--   C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
--   t2s.kernel(C) {A = a, B = b, C = c}          -- the definition as a kernel
local tide = require "tide"
local expr = require "tide.t2s.define.expr"
local func = require "tide.t2s.define.func"
local lift = require "tide.t2s.define.lift"
local lines = require "tide.t2s.map.lines"
local report = require "tide.t2s.map.report"
local program = require "tide.t2s.define.program"
local schedule = require "tide.t2s.map.schedule"
local search = require "tide.t2s.map.search"
local stensor = require "tide.t2s.define.stensor"
local trace = require "tide.trace"
local traps = require "tide.t2s.define.traps"
local write = require "tide.t2s.define.write"

---@class tide.t2s
local t2s = {}

local fail = expr.fail

--- Where a Func runs, and what a buffer is.
t2s.HOST, t2s.DOUBLE, t2s.REGISTER = "HOST", "DOUBLE", "REGISTER"
--- Which way scatter and gather go along a loop: to its last element, to its first.
t2s.UP, t2s.DOWN = "UP", "DOWN"
--- Stages of chains that F:feed and F:drain take: t2s.SRAM "feed":scope(k):out(ii), t2s.FIFO(64).
t2s.DRAM, t2s.SRAM, t2s.REG, t2s.FIFO = stensor.DRAM, stensor.SRAM, stensor.REG, stensor.FIFO

--- t2s.select(c, a, b); without b, an output keeps its value where c does not hold.
t2s.select = function(c, a, b) return expr.apply("select", c, a, b) end

local made = {} -- how often a name was declared: what tells apart definitions that use one name
local made_const = {} -- name -> which declaration of it was a Const
local declared = 0

-- Whether a value is a type.
local function is_type(v) return type(v) == "userdata" and pcall(tide.stream, v) or tostring(v):find "^tide%.stream" end

-- Calls fn on each name of a list in a text; returns what it returns.
local function each(names, what, fn)
  if type(names) ~= "string" then
    fail(nil, "t2s-name", ("t2s.%s takes names in a text"):format(what), ('t2s.%s "i j k"'):format(what))
  end
  local out = {}
  for name in names:gmatch "%S+" do
    if not name:match "^[%a_][%w_]*$" or not load("local " .. name .. " = 0") then
      fail(nil, "t2s-name", ("'%s' is no name as in Lua"):format(name))
    end
    declared = declared + 1
    made[name] = declared
    out[#out + 1] = fn(name, declared)
  end
  if #out == 0 then fail(nil, "t2s-name", ("t2s.%s is given no name"):format(what)) end
  return table.unpack(out)
end

-- Checks an argument that is a type if it is given.
local function check_type(v, what, which)
  if v ~= nil and not is_type(v) then
    fail(nil, "t2s-type", ("the %s argument of t2s.%s is a type, not %s"):format(which or "second", what, tostring(v)))
  end
end

--- t2s.cast(T, n): a number of a type, as T(x) is of what is traced.
function t2s.cast(type, n)
  check_type(type, "cast", "first")
  return expr.apply("cast", type, expr.lift(n))
end

--- Param "I J" are sizes; Param("A", f32, 2) is a tensor of two dimensions; Param("alpha", f32) a scalar.
function t2s.Param(names, type, rank)
  check_type(type, "Param")
  if rank ~= nil and (math.type(rank) ~= "integer" or rank < 0) then
    fail(nil, "t2s-rank", "the rank of a Param is a whole number")
  end
  local stream = type and type.kind == "stream"
  local size = not rank and (not type or type.kind == "int")
  return each(names, "Param", function(name, seq)
    if size then return tide.size(name) end
    local base = { name = name, type = stream and type.elem or type, stream = stream, rank = rank or 0, kind = "param",
      seq = seq }
    return expr.new { op = "ref", base = base, idx = {} }
  end)
end

--- Const "II JJ" are sizes that get their values from t2s.kernel and t2s.design.
function t2s.Const(names)
  return each(names, "Const", function(name, seq)
    made_const[name] = seq
    return tide.size(name)
  end)
end

--- Var "i j k": loop indices, as values of the given type if there is one.
function t2s.Var(names, type)
  check_type(type, "Var")
  return each(names, "Var", function(name) return expr.new { op = "var", name = name, type = type } end)
end

--- Func "f g", Func("C", f32), Func("A_ser", t2s.HOST): what is computed.
function t2s.Func(names, type, place)
  local host = type == t2s.HOST or place == t2s.HOST
  if type == t2s.HOST then type = nil end
  check_type(type, "Func")
  local stream = type and type.kind == "stream"
  local since = setmetatable({}, { __index = function() return 0 end })
  for k, v in pairs(made) do since[k] = v end
  return each(names, "Func", function(name, seq)
    local f = func.new(name, stream and type.elem or type, host, seq, since)
    f.def.stream = stream
    return f
  end)
end

local assumptions = {} -- all that were made, in order

-- Keeps an assumption with the generation of the names that it mentions.
local function keep(cond, place)
  local names = {}
  expr.walk(cond, function(x)
    if x.op == "size" then
      for name in tostring(x.size):gmatch "[%a_][%w_]*" do names[name] = made[name] or 0 end
    end
  end)
  assumptions[#assumptions + 1] = { cond = cond, names = names, place = place }
end

local assume = {}

--- assume.divisible(I, II, J, JJ): each size by the one behind it.
function assume.divisible(...)
  local args, place = table.pack(...), trace.place()
  if args.n == 0 or args.n % 2 ~= 0 then
    fail(place, "t2s-assume", "assume.divisible takes pairs: a size, and what it is divisible by")
  end
  for n = 1, args.n, 2 do
    local rest = expr.new { op = "%", a = expr.lift(args[n], place), b = expr.lift(args[n + 1], place) }
    if rest.b.op == "num" and rest.b.value <= 0 then
      fail(place, "t2s-assume", ("nothing is divisible by %s"):format(expr.text(rest.b)))
    end
    keep(expr.new { op = "==", a = rest, b = expr.lift(0) }, place)
  end
end

--- assume.no_alias(A, B): these never overlap; a call that gives overlapping ones is refused.
function assume.no_alias(...)
  local apart = {}
  for n, x in ipairs { ... } do
    local def = func.record(x)
    if not (expr.is(x) and x.op == "ref" and x.base.kind == "param") and not def then
      fail(nil, "t2s-assume", ("argument %d of assume.no_alias is no Param and no Func"):format(n))
    end
    apart[def or x.base] = true
  end
  assumptions[#assumptions + 1] = { apart = apart, names = {}, place = trace.place() }
end

--- assume(cond): a fact of sizes, as J:le(16), checked before each run.
t2s.assume = setmetatable(assume, { __call = function(_, ...)
  local place = trace.place()
  for _, cond in ipairs { ... } do
    if not expr.is(cond) or not expr.is_test(cond) then
      fail(place, "t2s-assume", "assume takes tests of sizes", "t2s.assume(J:le(16))")
    end
    if expr.any(cond, function(x) return x.op == "var" or x.op == "ref" end) then
      fail(place, "t2s-assume", ("%s is no fact of sizes"):format(expr.text(cond)), "t2s.assume(J:le(16))")
    end
    keep(cond, place)
  end
end })

-- Checks what t2s.kernel and its like are given; returns the record of the Func.
local function check_call(f, consts, what)
  local def = func.record(f)
  if not def then fail(nil, "t2s-func", ("t2s.%s takes a Func"):format(what)) end
  if consts ~= nil and type(consts) ~= "table" then
    fail(nil, "t2s-const", ("t2s.%s takes a table of constants"):format(what), ("t2s.%s(F, {II = 4})"):format(what))
  end
  traps.around(def)
  for name, v in pairs(consts or {}) do
    if type(name) ~= "string" or math.type(v) ~= "integer" then
      fail(nil, "t2s-const", ("the value of %s is a whole number"):format(tostring(name)), "t2s.kernel(F, {II = 4})")
    end
    if not made[name] then fail(nil, "t2s-const", ("no Const or Param is named '%s'"):format(name)) end
  end
  return def
end

--- The definition of F as a kernel; consts = {II = 4} gives sizes their values.
function t2s.kernel(f, consts)
  return (write.kernel(check_call(f, consts, "kernel"), consts or {}, assumptions))
end

-- The schedule of a Func, and its mapping; `extra` are assumptions besides.
local function scheduled(def, consts, extra, how)
  local all = assumptions
  if extra and #extra > 0 then
    all = table.move(assumptions, 1, #assumptions, 1, {})
    table.move(extra, 1, #extra, #all + 1, all)
  end
  local kernel, p = write.kernel(def, consts, all, true, true)
  local s, m = schedule.of(kernel, p, consts, how or {})
  m.kernel, m.program = (p.placed or p.cloned) and write.kernel(def, consts, all, true) or kernel, p
  m.start = kernel
  return s, m
end

-- The sizes of a program that have no value, each as large as `times` tiles say.
local function outer_sizes(m, times)
  local z = {}
  for name in pairs(m.program.sizes) do
    if not m.program.values[name] then z[name] = m.tiles[name] and times * m.tiles[name] or times + 1 end
  end
  return z
end

-- The least numbers of tokens that kernels take from the streams at the edge; nil if none up to a limit will do.
local function tokens_of(m, z)
  local zeros, names = {}, {}
  local function runs()
    local k = m.kernel:at(z)
    for n, q in ipairs(k.params) do zeros[n] = q.type(0) end
    return (pcall(k, table.unpack(zeros)))
  end
  for name in pairs(m.program.sizes) do
    if name:find "_tokens$" and not m.program.values[name] then names[#names + 1] = name end
  end
  if not next(z) then return z end
  table.sort(names)
  local tokens = 0
  repeat
    tokens = tokens + 1
    for _, name in ipairs(names) do z[name] = tokens end
    if tokens > 1024 then return nil end
  until runs()
  for _, name in ipairs(names) do
    z[name] = 1
    while not runs() do z[name] = z[name] + 1 end
  end
  return z
end

-- Whether the values of a parameter are whole numbers, which control may depend on.
local function is_whole(q)
  local elem = tostring(q.type):match "^%a+"
  return elem == "i" or elem == "u" or elem == "bool"
end

-- Sets the sizes that tensors given for parameters tell.
local function told_sizes(m, concrete, z)
  for _, q in ipairs(m.kernel.params) do
    local v = concrete[q.name]
    local got = type(v) == "userdata" and tostring(v.type):gmatch "%[(%d+)%]" or function() end
    for want in tostring(q.type):gmatch "%[(.-)%]" do
      local n = got()
      if n and z[want] then z[want] = math.tointeger(tonumber(n)) end
    end
  end
  return z
end

-- Whether the definition runs at sizes: on the numbers that are given, else on some small ones.
local function runs_at(m, z, concrete)
  local k = next(z) and m.kernel:at(z) or m.kernel
  local least = math.maxinteger -- below which tide.verify draws, too
  for _, q in ipairs(k.params) do
    for n in tostring(q.type):gmatch "%[(%d+)%]" do
      if n ~= "1" then least = math.min(least, math.tointeger(tonumber(n))) end
    end
  end
  for seed = 0, 4 do
    local args = {}
    for n, q in ipairs(k.params) do
      local drawn = tostring(q.type):find "%[" and is_whole(q)
      args[n] = concrete[q.name] or drawn and (seed < 2 and q.type(seed)
        or tide.random(q.type, seed, { lo = 0, hi = least })) or q.type(0)
    end
    if not pcall(k, table.unpack(args)) then return false end
  end
  return true
end

-- Sizes at which a definition whose data chooses elements runs: one of those that nothing tells, or all, larger.
local function room_for(m, concrete)
  local told = told_sizes(m, concrete, outer_sizes(m, 1))
  local open, names = outer_sizes(m, 1), {}
  for name, v in pairs(told) do
    if open[name] == v and not name:find "_tokens$" then names[#names + 1] = name end
  end
  table.sort(names)
  for factor = 1, 7 do
    for n = 1, #names + 1 do
      local z = {}
      for name, v in pairs(told) do z[name] = v end
      for k, name in ipairs(names) do
        if n > #names or k == n then z[name] = z[name] << (factor - 1) end
      end
      if runs_at(m, z, concrete) then return z end
    end
  end
  return told
end

-- Verifies a design whose control depends on data: for numbers that are given or drawn.
local function verified_for(net, m, concrete)
  local z = not (m.calls and not m.program.placed) and room_for(m, concrete or {}) or tokens_of(m, outer_sizes(m, 1))
  local x, y = net, m.kernel
  if z and next(z) then x, y = net:at(z), m.kernel:at(z) end
  if not concrete then
    concrete = {}
    for n = 1, #m.program.params - 1 do
      local q = y.params[n]
      if is_whole(q) then concrete[#concrete + 1] = q.name end
    end
  end
  return tide.verify(x, y, { concrete = concrete })
end

-- Verifies a design: at all sizes, or else where outer sizes are one and two tiles.
local function verified(net, s, m, concrete)
  local level, verdict
  if not m.program.placed then
    level, verdict = s:verify()
    if level and m.program.cloned then
      local same, why = tide.verify(m.start, m.kernel)
      if not same then return same, why end
    end
    if level then return level, verdict end
  end
  local sizes = tostring(verdict):find "no values were found"
  local open = not sizes and tostring(verdict):find "not decided"
  if concrete or m.calls or open then return verified_for(net, m, concrete) end
  if not sizes then return level, verdict end
  for times = 1, 2 do
    local z = outer_sizes(m, times)
    level, verdict = tide.verify(net:at(z), m.kernel:at(z))
    if not level then break end
  end
  return level, verdict
end

--- The schedule that F's directives are steps of.
function t2s.schedule(f, consts)
  return (scheduled(check_call(f, consts, "schedule"), consts or {}))
end

--- The directives of F and of the Funcs that it reads or that its values pass, as text: those that stand for others
--- (feed, drain, scatter, gather) as these.
function t2s.directives(f, consts)
  local _, m = scheduled(check_call(f, consts, "directives"), consts or {})
  return lines.all(m.funcs)
end

-- As t2s.design, of a record, with assumptions besides.
local function designed(def, consts, options, extra)
  local s, m = scheduled(def, consts, extra, options)
  local net, verdict = load(tostring(s), "=t2s." .. def.name)(), nil
  if options.check ~= false then
    local level
    level, verdict = verified(net, s, m, options.concrete)
    if not level then
      local place = def.stages[#def.stages].place
      if m.inner and #m.inner > 0 then
        fail(place, "t2s-bank", tostring(verdict), "an element is of one bank: one PE writes it", "illegal")
      end
      fail(place, "t2s-design", tostring(verdict), nil, "illegal")
    end
  end
  return report.keep(net, s, m), verdict, m
end

-- Checks the options of t2s.design.
local function check_options(options)
  if options ~= nil and type(options) ~= "table" then
    fail(nil, "t2s-option", "the options of t2s.design are a table", "t2s.design(F, {}, {check = false})")
  end
  local known = { concrete = "table", check = "boolean", pipeline = "boolean", rewind = "boolean" }
  for name, v in pairs(options or {}) do
    if not known[name] then
      fail(nil, "t2s-option", ("t2s.design has no option '%s'"):format(tostring(name)),
        "concrete, check, pipeline, rewind")
    end
    if type(v) ~= known[name] then
      fail(nil, "t2s-option", ("option %s of t2s.design is a %s, not %s"):format(name, known[name], tostring(v)))
    end
  end
end

--- The design that F's directives make, proved equal to the definition, and the verdict. options: concrete = tensors,
--- check = false, pipeline = false (the loops of tasks stay as the directives leave them), rewind = false (a pipeline
--- drains before its loop begins again, as Verilog wants it).
function t2s.design(f, consts, options)
  local def = check_call(f, consts, "design")
  check_options(options)
  local net, verdict, m = designed(def, consts or {}, options or {})
  for mapped in pairs(m.main) do mapped.designed = true end
  return net, verdict
end

-- What the search asks of this file.
local tools = {
  scheduled = scheduled,
  open = function(def, values) return program.open(def, values, assumptions) end,
  design = function(def, consts, extra, check) return designed(def, consts, { check = check }, extra) end,
}

-- The sizes among `at` that are Consts: their values are part of a design.
function tools.values(def, at)
  local p, out = program.open(def, {}, assumptions), {}
  for name, v in pairs(at) do
    if p.sizes[name] and made_const[name] == made[name] then out[name] = v end
  end
  return out
end

--- The mapping of F with the fewest cycles on at most options.pes elements at the sizes options.at; or, of the mapping
--- that F has, the best of the values options.consts. The result prints the lines that give the design.
function t2s.search(f, options)
  local definition
  if type(f) == "userdata" then definition, f = t2s.definition(f) end
  local r = search.run(tools, check_call(f, nil, "search"), options or {})
  if definition then
    r.definition = definition
    r.lines = definition:gsub("return [%w_]+\n$", "") .. r.lines
  end
  return r
end

--- A kernel as a T2S definition: its text, and its Func; proved equal.
function t2s.definition(kernel)
  local text = lift.text(kernel)
  local f = assert(load(text, "=t2s.definition", "t"))()
  local equal, verdict = tide.verify(t2s.kernel(f), kernel)
  if not equal then fail(nil, "t2s-lift", tostring(verdict), "the result is the last parameter", "unsupported") end
  return text, f
end

--- What a design is made of: PEs, channels, buffers.
t2s.report = report.of

return t2s
