-- npu_place.lua - cores for tasks without marks: no other places have fewer streams beyond a tile's channels, or
-- shorter ways, by trying them all on small designs.
local npu_case = require "npu_case"
local t = require "tap"
local tide = require "tide"
local i32 = tide.i32

-- Numbers from 0 to n - 1 in a fixed order.
local function numbers(seed)
  return function(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % n
  end
end

-- The text of a design of n tasks: each gets a block by each edge to it, or from the host, and puts their sum, and its
-- number, to each edge from it, or to the host.
local function text(n, edges)
  local streams, tasks = {}, {}
  for e in ipairs(edges) do streams[e] = ("local Z%d = d:stream(i32[4], {block = true})"):format(e) end
  for k = 1, n do
    local body, sum, puts, parameter = {}, {}, {}, {}
    for e, edge in ipairs(edges) do
      if edge[2] == k then
        body[#body + 1] = ("local x%d = Z%d:get()"):format(e, e)
        sum[#sum + 1] = ("x%d[i]"):format(e)
      end
      if edge[1] == k then puts[#puts + 1] = e end
    end
    if #sum == 0 then
      parameter = {("A%d = i32[3][4]"):format(k), "A" .. k}
      body[#body + 1] = ("local a%d = i32[4]() for i in grid(4) do a%d[i] = A%d[x][i] end"):format(k, k, k)
      sum[1] = ("a%d[i]"):format(k)
    end
    for _, e in ipairs(puts) do
      local all = table.concat(sum, " + ")
      body[#body + 1] = ("local o%d = Z%d:slot() for i in grid(4) do o%d[i] = i32(%s + %d) end Z%d:put(o%d)")
        :format(e, e, e, all, k, e, e)
    end
    if #puts == 0 then
      parameter = {("B%d = i32[3][4]"):format(k), "B" .. k}
      local all = table.concat(sum, " + ")
      body[#body + 1] = ("local b%d = i32[4]() for i in grid(4) do b%d[i] = %s end"):format(k, k, all)
      body[#body + 1] = ("for i in grid(4) do B%d[x][i] = b%d[i] end"):format(k, k)
    end
    tasks[k] = ("d.t%d = task {%s%s function(%s) for x in grid(3) do\n%s\nend end}"):format(k, parameter[1] or "",
      parameter[1] and "," or "", parameter[2] or "", table.concat(body, "\n"))
  end
  return ([[local tide = ... local i32, task, grid = tide.i32, tide.task, tide.grid
    return tide.design(function(d)
      %s
      %s
    end)]]):format(table.concat(streams, "\n"), table.concat(tasks, "\n"))
end

-- A design of n tasks, without circles: each has at most two streams in and out. Nil: it has a task alone, or more
-- arguments than the host may give.
local function draw(n, seed)
  local rng, edges, ins, outs, hosts = numbers(seed), {}, {}, {}, 0
  for k = 1, n do ins[k], outs[k] = 0, 0 end
  for _ = 1, n + rng(n) do
    local a, b = 1 + rng(n), 1 + rng(n)
    if a < b and outs[a] < 2 and ins[b] < 2 then
      edges[#edges + 1] = {a, b}
      outs[a], ins[b] = outs[a] + 1, ins[b] + 1
    end
  end
  for k = 1, n do
    if ins[k] == 0 and outs[k] == 0 then return nil end
    hosts = hosts + (ins[k] == 0 and 1 or 0) + (outs[k] == 0 and 1 or 0)
  end
  if hosts <= 5 then return edges, hosts end
end

-- What places cost, {col, row} of each task: streams beyond the two channels of a tile, then ways.
local function cost(n, edges, at)
  local use, sum = {}, 0
  local function dma(k, way)
    local key = k .. way
    use[key] = (use[key] or 0) + 1
    if use[key] > 2 then sum = sum + 1000 end
  end
  local into, from = {}, {}
  for _, e in ipairs(edges) do
    into[e[2]], from[e[1]] = true, true
    local way = math.abs(at[e[1]][1] - at[e[2]][1]) + math.abs(at[e[1]][2] - at[e[2]][2])
    if way > 1 then
      sum = sum + 1 + way
      dma(e[1], "out")
      dma(e[2], "in")
    end
  end
  for k = 1, n do
    if not into[k] then sum = sum + 1 + at[k][2] dma(k, "in") end
    if not from[k] then sum = sum + 1 + at[k][2] dma(k, "out") end
  end
  return sum
end

-- The least cost of all places on so many columns.
local function least(n, edges, cols)
  local at, taken, best = {}, {}, math.huge
  local function try(k)
    if k > n then
      best = math.min(best, cost(n, edges, at))
      return
    end
    for col = 0, cols - 1 do
      for row = 2, 5 do
        local tile = col * 8 + row
        if not taken[tile] then
          taken[tile], at[k] = true, {col, row}
          try(k + 1)
          taken[tile] = nil
        end
      end
    end
  end
  try(1)
  return best
end

-- The places of a design's tasks, by what their cores call.
local function places(m, n)
  local at = {}
  for core, body in m.source:gmatch "aie%.core%(%%core_(%d+_%d+)%)(.-)aie%.end" do
    local col, row = core:match "(%d+)_(%d+)"
    local task = body:match "func%.call @t(%d+)_"
    at[tonumber(task)] = {tonumber(col), tonumber(row)}
  end
  for k = 1, n do t.ok(at[k], "task " .. k .. " has a place") end
  return at
end

t.test("places of 50 small designs cost as little as any", function()
  local count, built = 0, 0
  for seed = 1, 2000 do
    local n = 3 + seed % 3
    local edges, hosts = draw(n, seed)
    if edges and count < 50 then
      count = count + 1
      local cols = n < 5 and 2 or 1 + seed % 2
      if n > 4 * cols then cols = 2 end
      local d = load(text(n, edges), "=drawn")(tide)
      local ok, m = pcall(d.build, d, {target = "npu", device = cols == 1 and "npu1_1col" or "npu1_2col", tool = false})
      local best = least(n, edges, cols)
      if not ok then
        t.ok(best >= 1000 or hosts > 4, tostring(m))
      else
        built = built + 1
        t.eq(cost(n, edges, places(m, n)), best, "seed " .. seed)
      end
    end
  end
  t.eq(count, 50)
  t.ok(built > 40, built)
end)

t.test("a third input comes from a neighbour: marks that forbid it are refused", function()
  local edges = {{1, 4}, {2, 4}, {3, 4}, {4, 5}}
  local source = text(5, edges)
  local d = load(source, "=three")(tide)
  local types = {}
  for k = 1, 4 do types[k] = i32[3][4] end
  npu_case.same(d, types, {tool = false})
  local far = tide.schedule(d)
  for k, at in ipairs {{0, 5}, {1, 5}, {2, 5}, {3, 2}, {2, 2}} do far:place("t" .. k, at) end
  t.has(tostring(t.fails(function() far:build {target = "npu"} end, {code = "npu-limit"})), "asked for 3")
end)

t.done()
