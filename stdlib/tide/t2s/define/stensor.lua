-- Stensors: where an operand or a result is kept on its way, as a chain that F:feed and F:drain take.
--   C:feed(A >> t2s.DRAM "load":out(kkk) >> t2s.FIFO(256) >> t2s.SRAM "feed":scope(k):out(kkk, iii))
--   C:drain(C >> t2s.REG "collect":out(jj) >> t2s.DRAM "unload")
-- A stage is a Func of that name: DRAM, SRAM or REG; scope(v) keeps what the loop v needs (SRAM twice over), out(..)
-- are its lanes and the space loops of its banks; FIFO(n) is the least depth of the channel where it stands.
-- t2s.directives prints the directives that a chain stands for.
local expr = require "tide.t2s.define.expr"
local func = require "tide.t2s.define.func"
local trace = require "tide.trace"

local stensor = {}

local fail = expr.fail
local meta = {}
local methods = {}

-- A chain of one stage or FIFO.
local function chain(item) return setmetatable({ items = { item } }, meta) end

function stensor.is(v) return type(v) == "table" and getmetatable(v) == meta end

-- A constructor of stages of a kind.
local function stage_of(kind)
  return function(name)
    local f = func.record(name) and name
    if not f and type(name) ~= "string" then
      fail(nil, "t2s-stensor", ("t2s.%s takes the name of a stage"):format(kind), ('t2s.%s "feed"'):format(kind))
    end
    return chain { kind = kind, name = f and f.def.name or name, func = f, out = {}, place = trace.place() }
  end
end

stensor.DRAM, stensor.SRAM, stensor.REG = stage_of "DRAM", stage_of "SRAM", stage_of "REG"

--- A channel of at least so many tokens.
function stensor.FIFO(n)
  if not expr.is(n) and math.type(n) ~= "integer" and type(n) ~= "userdata" then
    fail(nil, "t2s-stensor", "t2s.FIFO takes a number of tokens", "t2s.FIFO(256)")
  end
  return chain { kind = "FIFO", depth = n, place = trace.place() }
end

-- The stage that a method is called on: the last of the chain.
local function last(c, what)
  local x = c.items[#c.items]
  if x.kind == "FIFO" then fail(nil, "t2s-stensor", ("a FIFO has no %s"):format(what), "it is said of a stage") end
  return x
end

--- The loop around what the stage keeps at a time.
function methods:scope(v)
  local x = last(self, "scope")
  if x.scope then fail(nil, "t2s-stensor", ("%s has a scope already"):format(x.name)) end
  if not (expr.is(v) and v.op == "var") then fail(nil, "t2s-stensor", "scope takes a Var") end
  x.scope = v
  return self
end

--- The loops that are lanes and banks of the stage.
function methods:out(...)
  local x = last(self, "out")
  for _, v in ipairs { ... } do
    if not (expr.is(v) and v.op == "var") then fail(nil, "t2s-stensor", "out takes Vars") end
    x.out[#x.out + 1] = v
  end
  return self
end

meta.__index = methods
function meta.__tostring() return "a chain of Stensors" end

--- Joins what is in front, a Param, a Func or a chain, to a chain.
function meta.__shr(a, b)
  if not stensor.is(b) then fail(nil, "t2s-stensor", "behind a stage of a chain stands another", 't2s.SRAM "feed"') end
  local out = setmetatable({ items = {} }, meta)
  if stensor.is(a) then
    out.of = a.of
    table.move(a.items, 1, #a.items, 1, out.items)
  else
    out.of = expr.lift(a)
    if out.of.op ~= "ref" or #out.of.idx > 0 then
      fail(nil, "t2s-stensor", "a chain begins with a Param or a Func", "A >> ..")
    end
  end
  if b.of then fail(nil, "t2s-stensor", "a chain begins once") end
  table.move(b.items, 1, #b.items, #out.items + 1, out.items)
  return out
end

expr.chained = function(a, b) return stensor.is(b) and meta.__shr(a, b) or nil end

return stensor
