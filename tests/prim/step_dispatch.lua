-- dispatch: regions that parallelize made take requests in turn, or when they are free.
local tide, step = require "tide", require "tide.step"
local models = require "tide.step.models"
local t = require "tap"
local f32, i32, fn = tide.f32, tide.i32, step.fn

local from = { "q", "k", "v", "index", "tiles", "rows" }
local function attention(n, P, seed)
  math.randomseed(seed)
  local lens = {}
  for i = 1, n do lens[i] = math.random(1, 200) end
  local function settings(by) return { H = 4, D = 16, R = 16, P = P, by = by, bw = 256, block = n } end
  local c = settings "block"
  c.P = 1
  return models.attention(c, lens), function(by) return models.attention(settings(by), lens) end
end

t.test("from turn to free: the cycles of the graph that is built so", function()
  for _, case in ipairs { { 12, 4 }, { 7, 2 }, { 5, 3 } } do
    local serial, built = attention(case[1], case[2], case[1])
    local s = tide.schedule(serial):parallelize(from, "sink", case[2], { by = "turn" })
    local turn = s:simulate(models.settings.fig14)
    s:dispatch("q_dealt", "free", { idle = "cached" })
    local free, hand = s:simulate(models.settings.fig14), built "free":simulate(models.settings.fig14)
    t.eq(free.traffic, hand.traffic)
    t.eq(free.memory, hand.memory)
    t.ok(math.abs(free.cycles / hand.cycles - 1) <= 0.005, ("%d cycles, by hand %d"):format(free.cycles, hand.cycles))
    t.eq((s:verify()), "strict")
    s:dispatch("q_dealt", "turn")
    t.eq(s:simulate(models.settings.fig14).cycles, turn.cycles)
    t.eq((s:verify()), "strict")
  end
end)

t.test("from free to turn", function()
  local serial, built = attention(9, 3, 5)
  local s = tide.schedule(serial):parallelize(from, "sink", 3, { by = "free", idle = "cached#1" })
  s:dispatch("cached#1", "turn")
  local x, y = s:simulate(models.settings.fig14), built "turn":simulate(models.settings.fig14)
  t.ok(math.abs(x.cycles / y.cycles - 1) <= 0.005, ("%d cycles, by hand %d"):format(x.cycles, y.cycles))
  t.eq((s:verify()), "strict")
end)

-- n rows in two regions, each row by itself; change(x) is what a region does more.
local function rows(change, join)
  return step.graph(function()
    local x = step.load(f32[6][8], { tile = { 1, 8 }, shape = { 6 } })
    local index, done = step.values(tide.tensor(i32[6], { 0, 1, 2, 3, 4, 5 })), {}
    local out, at = x:parallelize(2), index:parallelize(2)
    for q = 1, 2 do done[q] = change(out[q]) end
    if join then return join(done, at) end
    for q = 1, 2 do at[q]:store_at(done[q], f32[6][8]):sink() end
  end)
end

local function plain(x) return x:map(fn.silu, { name = "act" }) end

local function refused(words, g, ...)
  local s = tide.schedule(g)
  local ok, err = pcall(s.dispatch, s, ...)
  t.ok(not ok and err.code == "step-dispatch" and err.message:find(words, 1, true), tostring(err))
end

t.test("refused: folds over requests, who took a request, no idle token; accepted without", function()
  local s = tide.schedule(rows(plain)):dispatch("act#1", "free", { idle = "act" })
  t.eq((s:verify()), "strict")
  refused("needs idle", rows(plain), "act#1", "free")
  local function scan(x) return x:scan(fn.add, { rank = 1, name = "scan" }) end
  refused("folds over several", rows(scan), "scan#1", "free", { idle = "scan" })
  refused("reads what several regions make", rows(plain, function(done, at)
    at[1]:sink()
    at[2]:sink()
    return done[1]:zip(done[2]):map(fn.add)
  end), "act#1", "free", { idle = "act" })
  refused("is not of all regions", rows(plain), "act#1", "free", { idle = "act#1" })
  refused("is dealt out so", rows(plain), "act#1", "turn")
  refused("is of no region", rows(plain), "x", "free", { idle = "act" })
end)

t.done()
