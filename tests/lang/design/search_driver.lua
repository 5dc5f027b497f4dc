-- search_driver.lua - the driver of searches by itself, on spaces written in Lua: to the end, by steps, by time, with a
-- bound, and what goes wrong in a space.
local t = require "tap"
local session = require "tide.session"

-- Paths through a grid of weights, right or down; the least sum of all of them.
local function paths(n, seed)
  local weight, least = {}, {}
  for i = 1, n do
    weight[i], least[i] = {}, {}
    for j = 1, n do
      seed = (seed * 1103515245 + 12345) % (1 << 31)
      weight[i][j] = seed >> 16 & 63
      local up, left = i > 1 and least[i - 1][j], j > 1 and least[i][j - 1]
      least[i][j] = weight[i][j] + (up and left and math.min(up, left) or up or left or 0)
    end
  end
  local function point(i, j, sum)
    return {state = {i, j, sum}, key = ("%d %d %d"):format(i, j, sum), rank = {sum},
      cost = i == n and j == n and {sum} or nil, floor = sum}
  end
  return {
    start = {point(1, 1, weight[1][1])},
    moves = function() return {"down", "right"} end,
    take = function(s, move)
      local i, j = s[1] + (move == "down" and 1 or 0), s[2] + (move == "right" and 1 or 0)
      if i > n or j > n then return nil end
      return point(i, j, s[3] + weight[i][j])
    end,
  }, least[n][n], weight
end

t.test("to the end: the least of all, and the way there", function()
  for seed = 1, 40 do
    local n = 2 + seed % 4
    local space, least, weight = paths(n, seed)
    local r = session.search(space)
    t.eq({r.ended, r.cost[1]}, {"all", least})
    t.eq(#r.path, 2 * (n - 1))
    local i, j, sum = 1, 1, weight[1][1]
    for _, move in ipairs(r.path) do
      if move == "down" then i = i + 1 else j = j + 1 end
      sum = sum + weight[i][j]
    end
    t.eq(sum, least)
  end
end)

t.test("steps: the same each time, and more are not worse", function()
  local last = math.huge
  for _, steps in ipairs {30, 60, 120, 240, 480} do
    local space = paths(12, 7)
    space.steps = steps
    local one, two = session.search(space), session.search(space)
    t.eq(one.path, two.path)
    t.ok(one.tries <= steps)
    if one.cost then
      t.ok(one.cost[1] <= last, "not worse")
      last = one.cost[1]
    end
  end
  t.ok(last < math.huge)
end)

t.test("seconds cut it short, and the result says so", function()
  local space = paths(400, 3)
  space.seconds = 0.5
  local take = space.take
  function space.take(s, move)
    local start = os.clock()
    while os.clock() - start < 1e-4 do end
    return take(s, move)
  end
  local r = session.search(space)
  t.eq(r.ended, "seconds")
  t.has(r.text, "cut short after 0.5 s")
end)

t.test("nothing is below the bound", function()
  local space = paths(5, 9)
  space.start[1].floor = 1
  t.eq(session.search(space).bound, 1)
  local _, least = paths(5, 9)
  space.start[1].floor = least
  t.ok(({bound = true, all = true})[session.search(space).ended])
end)

t.test("no solution", function()
  local r = session.search {start = {{state = 1, key = "a", rank = {1}}}, moves = function() return {1} end,
    take = function() return nil end}
  t.eq({r.state == nil, r.ended, r.tries}, {true, "all", 2})
end)

t.test("an error of the space is the caller's; the next search works", function()
  local space = paths(4, 1)
  local take = space.take
  space.seconds = 5
  function space.take() error "a mistake" end
  local ok, message = pcall(session.search, space)
  t.ok(not ok)
  t.has(message, "a mistake")
  space.take = take
  t.eq(session.search(space).ended, "all")
  space.moves = function() return 3 end
  t.fails(function() session.search(space) end, {kind = "usage", code = "argument"})
end)

t.done()
