-- parallelize over the requests of a STeP graph: in turn, in blocks, to the region that is free first.
local tide, step = require "tide", require "tide.step"
local models = require "tide.step.models"
local t = require "tap"
local f32, i32, fn = tide.f32, tide.i32, step.fn

local from = { "q", "k", "v", "index", "tiles", "rows" }

local function lengths(n, seed)
  math.randomseed(seed)
  local lens = {}
  for i = 1, n do lens[i] = math.random(1, 200) end
  return lens
end

local function settings(P, by, block) return { H = 4, D = 16, R = 16, P = P, by = by, bw = 256, block = block } end

t.test("attention as it is built by hand: cycles, traffic, memory", function()
  for _, case in ipairs { { 12, 4 }, { 7, 2 }, { 5, 3 } } do
    local n, P = case[1], case[2]
    local lens = lengths(n, n)
    local serial = models.attention(settings(1, "block", n), lens)
    local block = (n + P - 1) // P
    for by, o in pairs { turn = { by = "turn" }, block = { by = "block", block = block },
      free = { by = "free", idle = "cached#1" } } do
      local s = tide.schedule(serial):parallelize(from, "sink", P, o)
      local x = s:simulate(models.settings.fig14)
      local y = models.attention(settings(P, by, block), lens):simulate(models.settings.fig14)
      t.eq(x.traffic, y.traffic, by)
      t.eq(x.memory, y.memory, by)
      t.ok(math.abs(x.cycles / y.cycles - 1) <= 0.005, ("%s: %d cycles, by hand %d"):format(by, x.cycles, y.cycles))
      t.eq(s:verify(), "strict", by)
    end
  end
end)

-- One request after the other: its row is loaded, scaled by its number of rows of a tensor, and stored.
local function rows(at, change)
  local n = #at
  local x, out = tide.random(f32[n][8], 1), f32[n + 2][8](0)
  return step.graph(function()
    local row = step.load(x, { tile = { 1, 8 }, shape = { n } })
    local index = step.values(tide.tensor(i32[n], at))
    local y = (change or function(v) return v:map(fn.exp) end)(row, index, out)
    local done = index:store_at(y, out)
    done:sink()
  end), out
end

t.test("rows with data are the same, wherever they are done", function()
  for _, P in ipairs { 1, 2, 3 } do
    for _, by in ipairs { "turn", "block", "free" } do
      local g, out = rows { 3, 0, 5, 2, 6 }
      g:run()
      local want = out:copy()
      for i = 0, 6 do
        for j = 0, 7 do out[i][j] = 0 end
      end
      local s = tide.schedule(g):parallelize({ "row", "index" }, { "done" }, P, { by = by, idle = by == "free" and
        "done" or nil })
      t.eq(s:verify(), "strict", by)
      s:run()
      t.ok(out:equal(want), by)
    end
  end
end)

local function refused(code, words, g, ...)
  local s = tide.schedule(g)
  local ok, err = pcall(s.parallelize, s, ...)
  t.ok(not ok and err.code == code and err.message:find(words, 1, true), tostring(err))
end

t.test("refused: one place for two requests, what another reads; twinned above", function()
  refused("step-apart", "writes tile 3 for request 0", rows { 3, 0, 3 }, { "row", "index" }, "done", 2)
  refused("step-apart", "may meet what 'done' writes", rows({ 3, 0, 1 }, function(v, _, out)
    return v:zip(v:load(out, { tile = { 1, 8 }, shape = { 1 } }):flatten(0, 1)):map(fn.add)
  end), { "row", "index" }, "done", 2)
  refused("step-apart", "writes to unknown places", step.graph(function()
    local row = step.load(f32[3][8], { tile = { 1, 8 }, shape = { 3 } })
    local index = step.values(tide.tensor(i32[3], { 0, 1, 2 }))
    local done = index:zip(index):map(fn.add):store_at(row, f32[6][8])
    done:sink()
  end), { "row", "index" }, "done", 2)
end)

t.test("refused: folds over requests, order of arrival, what does not come for each", function()
  refused("step-requests", "folds over several tiles", rows({ 0, 1, 2 }, function(v)
    return v:scan(fn.add, { rank = 1 })
  end), { "row", "index" }, "done", 2)
  local linear = step.graph(function()
    local row = step.load(f32[3][8], { tile = { 1, 8 } }):flatten(0, 1)
    row:map(fn.exp):store(f32[3][8])
  end)
  refused("step-requests", "writes in order of arrival", linear, "row", "map", 2)
  refused("step-idle", "needs idle", rows { 0, 1, 2 }, { "row", "index" }, "done", 2, { by = "free" })
  refused("step-requests", "is not made of the requests", rows { 0, 1, 2 }, { "row", "index" }, "row", 2)
end)

t.done()
