-- Funcs of T2S: their stages, bounds and directives. A stage is one line of the definition, {func =, lhs =, rhs =,
-- place =, seq =}; stages run in text order. Directives are kept in text order, {name =, args =, place =}.
local expr = require "tide.t2s.define.expr"
local refusal = require "tide.refusal"
local trace = require "tide.trace"
local traps = require "tide.t2s.define.traps"

local func = {}

local fail, lift = expr.fail, expr.lift
local meta = {}
local methods = {}
local count, directed = 0, 0 -- of stages, of directives

local function is_var(x) return x.op == "var" end
local function is_ref(x) return x.op == "ref" end

--- The record of a Func; refuses what is none.
function func.record(v)
  return type(v) == "table" and getmetatable(v) == meta and rawget(v, "def") or nil
end

-- What an index on the left says: "var", "constant" or "data".
local function kind_of(x)
  if is_var(x) then return "var" end
  if expr.any(x, is_ref) then return "data" end
  return not expr.any(x, is_var) and "constant" or nil
end

-- Checks the left side of a stage; returns the kinds of its indices.
local function check_left(def, lhs, place)
  local kinds, seen = {}, {}
  for n, x in ipairs(lhs.idx) do
    kinds[n] = kind_of(x)
    if not kinds[n] then
      fail(place, "t2s-left", ("the left side of %s has index %s"):format(def.name, expr.text(x)),
        "its indices are Vars and constants; shift the right side instead")
    end
    if kinds[n] == "var" and seen[x.name] then
      fail(place, "t2s-left", ("Var %s stands twice on the left side of %s"):format(x.name, def.name))
    end
    if kinds[n] == "var" then seen[x.name] = true end
  end
  if def.rank and def.rank ~= #lhs.idx then
    fail(place, "t2s-rank", ("%s has %d dimensions in its first line, and %d here"):format(def.name, def.rank,
      #lhs.idx))
  end
  return kinds
end

-- Checks that what a stage reads has all its indices.
local function check_reads(x, place, whole)
  expr.walk(x, function(y)
    if y.op == "call" then
      if not rawequal(y, x) then
        fail(place, "t2s-kernel", "a kernel's value is a whole right side", "give it a Func of its own")
      end
      for _, a in ipairs(y.args) do check_reads(a, place, true) end
      return false
    end
    if is_ref(y) and y.base.rank and #y.idx ~= y.base.rank and not whole then
      fail(place, "t2s-rank", ("%s has %d dimension%s, and %s is given"):format(y.base.name, y.base.rank,
        y.base.rank == 1 and "" or "s", #y.idx == 0 and "no index" or #y.idx == 1 and "one index"
        or #y.idx .. " indices"))
    end
  end)
end

-- Adds the stage lhs = rhs.
local function define(def, lhs, rhs)
  local place = trace.place()
  traps.check(place)
  local kinds = check_left(def, lhs, place)
  rhs = lift(rhs, place)
  if not def.rank then def.rank = #lhs.idx end
  check_reads(rhs, place)
  for _, x in ipairs(lhs.idx) do check_reads(x, place) end
  count = count + 1
  def.stages[#def.stages + 1] = { func = def, lhs = lhs, kinds = kinds, rhs = rhs, place = place, seq = count }
end

--- A Func of that name: type nil is inferred; host if it runs on the host.
function func.new(name, type, host, seq, made)
  local def = { name = name, type = type, host = host, stages = {}, bounds = {}, order = {}, directives = {},
    define = define, seq = seq, made = made, kind = "func" }
  def.object = setmetatable({ def = def }, meta)
  return def.object
end

function meta.__index(f, key)
  local def = rawget(f, "def")
  if type(key) == "string" then
    if methods[key] then return methods[key] end
    local names = {}
    for name in pairs(methods) do names[#names + 1] = name end
    table.sort(names)
    local near = refusal.nearest(key, names)
    fail(nil, "t2s-field", ("Func %s has no '%s'"):format(def.name, key),
      near and ("did you mean '%s'?"):format(near) or "an element is F[i][j]")
  end
  return expr.new { op = "ref", base = def, idx = { lift(key) } }
end

function meta.__newindex(f, key, value)
  local def = rawget(f, "def")
  if type(key) == "string" then
    fail(nil, "t2s-field", ("'%s' is no field of Func %s"):format(key, def.name), "a definition writes F[i][j] = ..")
  end
  define(def, meta.__index(f, key), value)
end

-- A Func by itself is no value.
local function whole(f, other)
  local def = func.record(f) or func.record(other)
  fail(nil, "t2s-operand", ("Func %s is used without indices"):format(def.name),
    ("an element: %s[i][j]"):format(def.name))
end
for _, event in ipairs { "add", "sub", "mul", "div", "idiv", "mod", "shl", "band", "bor", "bxor", "lt", "le", "call",
  "unm", "bnot", "len", "concat" } do
  meta["__" .. event] = whole
end

function meta.__tostring(f) return "Func " .. f.def.name end
function meta.__traced(f) return expr.new { op = "ref", base = f.def, idx = {} } end

--- F:set_bounds(v, lo, hi, ..): half-open, in the order of the loops of a reduction.
function methods:set_bounds(...)
  local args, def, place = table.pack(...), self.def, trace.place()
  if args.n == 0 or args.n % 3 ~= 0 then
    fail(place, "t2s-bounds", "set_bounds takes a Var, its first value and its end, for each Var",
      "C:set_bounds(i, 0, I, j, 0, J)")
  end
  for n = 1, args.n, 3 do
    local v = expr.is(args[n]) and args[n].op == "var" and args[n]
    if not v then fail(place, "t2s-bounds", ("argument %d of set_bounds is no Var"):format(n)) end
    if def.bounds[v.name] then
      fail(place, "t2s-bounds", ("Var %s of %s has bounds already"):format(v.name, def.name))
    end
    def.bounds[v.name] = { var = v, lo = lift(args[n + 1], place), hi = lift(args[n + 2], place), place = place }
    def.order[#def.order + 1] = v.name
  end
  return self
end

--- F:store(X, Y): only that element is the result.
function methods:store(...)
  local args, place = table.pack(...), trace.place()
  for n = 1, args.n do
    args[n] = lift(args[n], place)
    if expr.any(args[n], is_var) then fail(place, "t2s-store", "the element that is stored has constant indices") end
  end
  self.def.stored = { idx = args, place = place }
  return self
end

--- F:merge_ures(G, ..): equations of one system, in one nest; the last ones may be outputs.
function methods:merge_ures(...)
  local place, group = trace.place(), { self.def }
  for n, g in ipairs { ... } do
    local def = func.record(g)
    if not def then fail(place, "t2s-merge", ("argument %d of merge_ures is no Func"):format(n)) end
    group[#group + 1] = def
  end
  local seen = {}
  if #group == 1 then fail(place, "t2s-merge", "merge_ures takes the other Funcs of the system") end
  for _, def in ipairs(group) do
    if seen[def] or def.group then
      fail(place, "t2s-merge", seen[def] and ("%s merges with itself"):format(def.name)
        or ("%s is merged already"):format(def.name))
    end
    if #def.stages == 0 then fail(place, "t2s-merge", ("%s has no definition"):format(def.name)) end
    seen[def] = true
  end
  for _, def in ipairs(group) do def.group = group end
  return self
end

-- Directives that say nothing without arguments.
local needs = { tile = true, reorder = true, unroll = true, remove = true, vectorize = true, buffer = true,
  linebuffer = true, set_min_depth = true }

--- Directives that t2s.kernel does not need: kept in text order, to become steps of a schedule.
func.directives = { "tile", "reorder", "unroll", "remove", "vectorize", "isolate_producer_chain",
  "isolate_consumer_chain", "buffer", "linebuffer", "relay", "set_min_depth", "define_extern", "space_time_transform",
  "scatter", "gather", "feed", "drain", "compute_at" }

for _, name in ipairs(func.directives) do
  methods[name] = function(self, ...)
    local def = func.record(self)
    if not def then fail(nil, "t2s-method", ("directives are methods: F:%s(..)"):format(name)) end
    if def.designed then
      fail(nil, "t2s-directive", ("%s is of a design already: its directives come before t2s.design"):format(def.name),
        "the design does not change any more")
    end
    if needs[name] and select("#", ...) == 0 then
      fail(nil, "t2s-directive", ("%s is given nothing"):format(name))
    end
    directed = directed + 1
    def.directives[#def.directives + 1] = { name = name, args = table.pack(...), place = trace.place(),
      seq = directed }
    return self
  end
end

return func
