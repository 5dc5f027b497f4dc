-- can.lua - s:can of every primitive of the registry, with arguments that are missing, too many or of the wrong kind:
-- nil and the very error that the method raises, and the schedule is what it was.
-- [slow]
local t = require "tap"
local tide = require "tide"
local i32, grid = tide.i32, tide.grid

local function schedule()
  local k = tide.kernel {name = "k", A = i32[4][6], B = i32[4][6], function(A, B)
    local C = i32[4][6]()
    for i, j in grid(4, 6) do C[i][j] = A[i][j] + 1 end
    for x, y in grid(4, 6) do B[x][y] = C[x][y] * 2 end
  end}
  return tide.schedule(k)
end

-- A value of each kind of argument, as the registry calls it, and one that no argument can be.
local right = {
  loop = "i", band = "i", array = "A", unit = "k", stream = "C", name = "fresh", int = 2, ints = {0},
  names = {"fresh"}, flag = true, type = i32, counts = {}, schedule = schedule(), kernel = schedule(),
}
local wrong = print

-- States that can() answers with the error that the method raises.
local function alike(what, name, ...)
  local s = schedule()
  local text, log = tostring(s), s:log()
  local answer = table.pack(pcall(s.can, s, name, ...))
  t.ok(answer[1], what .. ": can() raised " .. tostring(answer[2]))
  local done, raised = pcall(s[name], s, ...)
  if answer[2] then
    t.ok(done, what .. ": " .. tostring(raised))
    return true
  end
  t.eq({answer.n, answer[2], done}, {3, nil, false}, what)
  local e = answer[3]
  t.eq({e.kind, e.code, e.message}, {raised.kind, raised.code, raised.message}, what)
  t.eq({tostring(s), s:log()}, {text, log}, what .. ": a refused step changes nothing")
  return false, e
end

for _, p in ipairs(tide.registry().primitives) do
  t.test(p.name, function()
    local given = {}
    for n, arg in ipairs(p.args) do
      if arg.place == "option" then
        local ok, e = alike("option " .. arg.name, p.name, table.unpack(given, 1, #given))
        t.ok(ok or e.kind ~= "bug")
        local all = {table.unpack(given)}
        all[#all + 1] = {[arg.name] = wrong}
        t.eq(alike("a wrong " .. arg.name, p.name, table.unpack(all)), false)
      else
        local ok, e = alike("without " .. arg.name, p.name, table.unpack(given))
        if arg.place == "needed" then
          t.eq({ok, e and e.kind, e and e.code}, {false, "usage", "argument"})
          t.has(e.message, arg.name)
        end
        local bad = {table.unpack(given)}
        bad[n] = wrong
        ok, e = alike("a wrong " .. arg.name, p.name, table.unpack(bad))
        t.eq({ok, e and e.kind}, {false, "usage"})
        t.ok(right[arg.kind] ~= nil, "no value of kind " .. arg.kind)
        given[n] = right[arg.kind]
      end
    end
    local many = {table.unpack(given)}
    for _ = 1, 9 do many[#many + 1] = wrong end
    t.eq(alike("too many", p.name, table.unpack(many)), false)
    given[#given + 1] = {no_such_option = 1}
    t.eq(alike("an unknown option", p.name, table.unpack(given)), false)
  end)
end

t.test("what is no primitive", function()
  local s = schedule()
  for _, name in ipairs {"splitt", 3, false, {}} do
    local ok, e = s:can(name, "i")
    t.eq({ok, e.kind}, {nil, "usage"})
  end
  local ok, e = s:can()
  t.eq({ok, e.kind, e.code}, {nil, "usage", "argument"})
  t.eq(s:can("split", "i", 2), true)
end)

t.done()
