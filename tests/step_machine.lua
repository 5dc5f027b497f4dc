-- step_machine.lua - a plain machine for graphs of STeP, stepped cycle by cycle: every operator is a routine that acts
-- in a cycle or waits for the next, streams are lists of elements with the cycle in which each is seen, the memory
-- serves what was handed over in a cycle before the next comes. tests/slow/step_stepped.lua holds graphs against it.
local M = {}
M.__index = M

local function machine(o)
  return setmetatable({ now = 0, o = o, node = {}, chan = {}, free = {}, at = 0, n = 0 }, M)
end

-- A node: a routine, stepped once a cycle. Readers of the memory come before writers.
function M:add(name, run, writes)
  local x = { name = name, m = self, ports = {}, writes = writes }
  x.routine = coroutine.create(function() run(x) x.over = self.now end)
  self.node[#self.node + 1] = x
  return x
end

-- A stream from a node to another, called as the report calls it.
function M:stream(from, to, depth)
  local c = { name = from .. " -> " .. to, depth = depth, item = {}, head = 1, put = 0, got = {}, fills = {} }
  self.chan[#self.chan + 1] = c
  return c
end

local wait = coroutine.yield

-- The head of a stream when it is seen; nil a cycle after its end.
local function see(m, c)
  while true do
    local x = c.item[c.head]
    if x and x.time <= m.now then return x end
    if not x and c.closed and c.closed + 1 <= m.now then return nil end
    wait()
  end
end

local function take(m, c)
  local x = c.item[c.head]
  c.head = c.head + 1
  c.got[#c.got + 1] = m.now
  c.fills[#c.fills + 1] = { m.now + 1, -1 }
  return x
end

-- A place is free a cycle after its element was taken; the element is seen in cycle `at`, the next at the earliest.
local function put(m, c, x, at)
  at = at or m.now
  if c.depth then
    local function has_room()
      local got = c.got[c.put - c.depth + 1]
      return c.put < c.depth or got and got + 1 <= m.now
    end
    while not has_room() do wait() end
  end
  local own = {}
  for k, v in pairs(x) do own[k] = v end
  own.time = math.max(at, m.now + 1)
  c.put = c.put + 1
  c.item[#c.item + 1] = own
  c.fills[#c.fills + 1] = { own.time, 1 }
end

local function has_place(m, c)
  local taken = c.got[c.put - (c.depth or 0) + 1]
  return not c.depth or c.put < c.depth or (taken and taken + 1 <= m.now)
end

local function work(_, cycles)
  for _ = 1, cycles do wait() end
end

local function close(x)
  for _, c in ipairs(x.ports) do c.closed = x.m.now end
end

-- Asks for a tile: `ports` requests a cycle from the next on; back when all are answered.
local function access(x, rows, cols, ports)
  local m = x.m
  x.asks = { left = rows * ((cols * 4 + 63) // 64), next = m.now + 1, ports = ports, last = 0 }
  while x.asks.left > 0 or m.now < x.asks.last + 1 do wait() end
end

-- Tiles of a row, n of them or one for each element of c, up to `ahead` under way.
local function tiles(x, c, n, width, ports, ahead)
  local m, ring, asked = x.m, {}, 0
  while true do
    while ring[1] and ring[1].left == 0 and m.now >= ring[1].last + 1 and has_place(m, x.ports[1]) do
      put(m, x.ports[1], { cols = width, mu = true })
      table.remove(ring, 1)
    end
    local over = not c and asked == n
    if #ring < ahead and not over and not (x.asks and x.asks.left > 0) then
      local it = c and c.item[c.head]
      over = c and not it and c.closed and c.closed + 1 <= m.now
      if not c or (it and it.time <= m.now) then
        if c then take(m, c) end
        x.asks = { left = (width * 4 + 63) // 64, next = m.now + 1, ports = ports, last = 0 }
        ring[#ring + 1], asked = x.asks, asked + 1
      end
    end
    if over and #ring == 0 then return end
    wait()
  end
end

-- Hands over what is asked for in this cycle, readers first.
function M:serve()
  local o = self.o
  self.at, self.n = (self.at + self.n) % o.channels, 0
  for pass = 1, 2 do
    for _, x in ipairs(self.node) do
      local a = x.asks
      if a and a.left > 0 and a.next <= self.now and (pass == 2) == (x.writes or false) then
        for _ = 1, math.min(a.left, a.ports) do
          self.at = (self.at + self.n) % o.channels
          self.n = self.n + 1
          local from = math.max(self.free[self.at] or 0, self.now + 1)
          self.free[self.at] = from + 2
          a.last = math.max(a.last, from + 16)
          a.left = a.left - 1
        end
        a.next = self.now + 1
      end
    end
  end
end

-- All cycles; the last in which something happened, or nil: nothing goes on.
function M:run(most)
  local last = 0
  while self.now < most do
    self:serve()
    local left = 0
    for _, x in ipairs(self.node) do
      if coroutine.status(x.routine) ~= "dead" then
        local ok, err = coroutine.resume(x.routine)
        if not ok then error(err) end
        left = left + (coroutine.status(x.routine) ~= "dead" and 1 or 0)
      end
    end
    for _, x in ipairs(self.node) do
      if x.over and not x.closed then
        x.closed = true
        close(x)
        last = math.max(last, x.over)
      end
    end
    if left == 0 then return last end
    self.now = self.now + 1
  end
end

return { new = machine, wait = wait, see = see, take = take, put = put, has_place = has_place, work = work,
  access = access, tiles = tiles }
