-- stream_designs.lua - random designs of tasks and streams, for tests: chains of tasks that map, pick, drop, double,
-- fork and join tokens, in one or two firings, some with tensors of several beats or in blocks; intervals 1 to 7,
-- depths 1 to 5; from arrays, or between streams of the top that are ready when tables say so.
--   local designs = require "stream_designs"
--   designs.run(seed, {target = "verilog"})  -- builds it, and calls it
local tide = require "tide"

local designs = {}

local state
local function random(lo, hi)
  state = (state * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
  return lo + (state >> 33) % (hi - lo + 1)
end
local function pick(list) return list[random(1, #list)] end

-- What is computed of a token.
local function value(u)
  return pick {"%s", "%s * 3 + 1", "i32(%s * %s)", "%s // 3", "i32(%s * 5) * 7", "-%s", "i32(i32(%s * %s) * 3) // 5"}
    :gsub("%%s", u)
end

local text, streams, loops, depth

-- A stream with a depth of its own.
local function stream(token, marks)
  local name = ("s%d"):format(#streams + 1)
  depth = random(1, 5)
  local block = marks == "block"
  streams[#streams + 1] = ("    local %s = d:stream(%s, {depth = %d%s}) %s"):format(name, token or "i32", depth,
    block and ", block = true" or "", block and "" or marks or "")
  return name
end

-- A task whose loop of n iterations has a body; `head`: its parameters.
local function task(name, params, args, n, body)
  text[#text + 1] = ("    d.%s = task {%sfunction(%s) for k in grid(%d, \"k\") do %s end end}"):format(name, params,
    args, n, body)
  loops[#loops + 1] = name .. ":k"
end

-- Tasks of one kind between streams: each returns the stream it puts to, and how many tokens.
local kinds = {}
function kinds.map(name, from, n)
  local to = stream()
  task(name, "", "", n, ("local u = %s:get(); %s:put(%s)"):format(from, to, value "u"))
  return to, n
end
function kinds.two(name, from, n)
  if n % 2 == 1 then return kinds.map(name, from, n) end
  local to = stream()
  local last = pick {"%s:put(u + v)", "if v > 0 then %s:put(v) else %s:put(u) end"}
  task(name, "", "", n // 2, ("local u = %s:get(); %s:put(%s); local v = %s:get(); %s"):format(from, to, value "u",
    from, (last:gsub("%%s", to))))
  return to, n
end
function kinds.pick(name, from, n)
  local to = stream()
  task(name, "", "", n, ("local u = %s:get(); if u %% 3 == 0 then %s:put(%s) else %s:put(%s) end"):format(from, to,
    value "u", to, value "u"))
  return to, n
end
function kinds.drop(name, from, n)
  local to, by = stream(), random(2, 3)
  task(name, "", "", n, ("local u = %s:get(); if k %% %d == 0 then %s:put(%s) end"):format(from, by, to, value "u"))
  return to, (n + by - 1) // by
end
function kinds.double(name, from, n)
  local to = stream()
  task(name, "", "", n, ("local u = %s:get(); %s:put(u); %s:put(%s)"):format(from, to, to, value "u"))
  return to, 2 * n
end
function kinds.fork(name, from, n)
  local x, y, to = stream(), stream(), stream()
  task(name, "", "", n, ("local u = %s:get(); %s:put(%s); %s:put(%s)"):format(from, x, value "u", y, value "u"))
  task(name .. "_join", "", "", n, ("local v = %s:get(); local w = %s:get(); %s:put(v - w)"):format(x, y, to))
  return to, n
end
function kinds.part(name, from, n)
  local x, y, to = stream(), stream(), stream()
  task(name, "", "", n, ("local u = %s:get(); if k %% 2 == 0 then %s:put(%s) else %s:put(%s) end"):format(from, x,
    value "u", y, value "u"))
  task(name .. "_join", "", "", n,
    ("local v = i32(0); if k %% 2 == 0 then v = %s:get() else v = %s:get() end; %s:put(%s)"):format(x, y, to,
      value "v"))
  return to, n
end
function kinds.tensor(name, from, n)
  local w, marks = random(2, 4), pick {"", "--@ lanes(1)", "--@ lanes(2)", "--@ latency(3)", "--@ lanes(1) latency(2)"}
  local x, to = stream(("i32[%d]"):format(w), marks), stream()
  task(name, "", "", n, ("local u = %s:get(); local r = i32[%d](1); for j in grid(%d) do r[j] = u * j end; %s:put(r)")
    :format(from, w, w, x))
  task(name .. "_sum", "", "", n, ("local v = %s:get(); %s:put(v[0] - v[%d])"):format(x, to, w - 1))
  return to, n
end
-- Tokens in blocks of w, taken apart in another order by a task that may hold two of them.
function kinds.block(name, from, n)
  local w = random(2, 4)
  if n % w > 0 then return kinds.map(name, from, n) end
  local x, blocks, twice = stream(("i32[%d]"):format(w), "block"), n // w, random(0, 2) == 0
  local half = twice and blocks % 2 == 0 and depth > 1
  local to = stream()
  text[#text + 1] = ("    d.%s = task {function() for b in grid(%d) do local t = %s:slot(); " ..
    "for q in grid(%d, \"q\") do t[q] = %s:get() end; %s:put(t) end end}"):format(name, blocks, x, w, from, x)
  local takes = ("for q in grid(%d, \"q\") do %s:put(v[%d - q] - %s) end"):format(w, to, w - 1,
    pick {"0", "b", "v[0]"})
  text[#text + 1] = ("    d.%s_cut = task {function() for b in grid(%d) do local v%s = %s:get()%s; %s end end}"):format(
    name, half and blocks // 2 or blocks, half and ", u" or "", x, half and (", %s:get()"):format(x) or "",
    half and takes .. " " .. takes:gsub("v%[", "u[") or takes)
  loops[#loops + 1] = name .. ":q"
  if not half then loops[#loops + 1] = name .. "_cut:q" end
  return to, n
end

local names = {}
for name in pairs(kinds) do names[#names + 1] = name end
table.sort(names)

-- The source of a design, its schedule in steps, the tokens that come and go, whether as streams of the top.
local function draw(seed)
  state = seed * 7919 + 1
  text, streams, loops = {}, {}, {}
  local n = random(3, 12)
  local from, first, open = stream(), n, random(0, 2) == 0
  local put = open and "%s:put(X:get())" or pick {"%s:put(X[k])", "%s:put(X[k] * X[k])",
    "if X[k] > 0 then %s:put(X[k]) else %s:put(k) end"}
  task("src", open and "X = X, " or ("X = i32[%d], "):format(n), "X", n, (put:gsub("%%s", from)))
  for i = 1, random(1, 3) do from, n = kinds[pick(names)](("t%d"):format(i), from, n) end
  if open then
    streams[#streams + 1] = "    local X, Y = d:arg(tide.stream(i32)), d:arg(tide.stream(i32))"
    task("dst", "Y = Y, ", "Y", n, ("Y:put(%s:get())"):format(from))
  else
    task("dst", ("Y = i32[%d], "):format(n), "Y", n, ("Y[k] = %s:get()"):format(from))
  end
  local source = ("local tide = require 'tide'\nlocal i32, task, grid = tide.i32, tide.task, tide.grid\n" ..
    "return tide.design(function(d)\n%s\n%s\nend)"):format(table.concat(streams, "\n"), table.concat(text, "\n"))
  local steps = {}
  for _, name in ipairs(loops) do
    if random(0, 3) > 0 then steps[#steps + 1] = {name, pick {1, 1, 1, 2, 3, 4, 5, 6, 7}} end
  end
  return source, steps, first, n, open
end

-- A table of cycles that do not fall.
local function table_of(n)
  local list, at = {}, 0
  for k = 1, random(0, n) do
    at = at + (random(0, 2) == 0 and random(0, 9) or random(0, 1))
    list[k] = at
  end
  return list
end


--- Builds the design of a seed, and calls what was built.
function designs.run(seed, options)
  local source, steps, n, m, open = draw(seed)
  local s, o = tide.schedule(assert(load(source))()), {}
  for key, v in pairs(options) do o[key] = v end
  for _, step in ipairs(steps) do s:pipeline(step[1], step[2]) end
  if open then o.ready = {X = table_of(n), Y = table_of(m)} end
  local built, X = s:build(o), tide.random(tide.i32[n], seed, {lo = -90, hi = 90})
  if open then
    built(X:table(), {})
  else
    built(X, tide.i32[m](0))
  end
end

--- Runs `count` designs from a seed on; what failed, by line, and how many were refused.
function designs.campaign(first, count, options)
  local failed, refused = {}, 0
  for seed = first, first + count - 1 do
    local ok, e = pcall(designs.run, seed, options)
    local code = not ok and type(e) ~= "string" and e.code
    if code == "not-built" or code == "deadlock" then refused = refused + 1 end
    if not ok and code ~= "not-built" and code ~= "deadlock" then
      failed[#failed + 1] = ("seed %d: %s"):format(seed, tostring(e))
    end
  end
  return table.concat(failed, "\n"), refused
end

return designs
