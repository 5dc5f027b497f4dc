-- [slow] npu_random.lua - random designs in NPU form: blocks shared, handed out or joined by a memory tile or not,
-- arranged on the way or not, one core or two behind each other, in random types and sizes: the text's run gives the
-- bits of the CPU. More: make slow TIMES=.
local campaign = require "campaign"
local npu_case = require "npu_case"
local t = require "tap"
local tide = require "tide"

local types = {tide.i8, tide.i16, tide.i32, tide.f32}

-- What cores make of a block x[r][c] in o[r][c], at i, j in turn k.
local expressions = {"x[i][j] * 3 + k", "x[i][C - 1 - j] - x[i][j]", "x[R - 1 - i][j] + i * j", "x[i][j]",
  "tide.max(x[i][j], x[i][0])", "x[i][j] + seen[0][0]"}

-- Adds the host task that reads A and, where blocks are shared or handed out, the memory task behind it.
local function add_reads(add, z)
  local whole = z.kind == "parts" and "T[P * R][C]" or "T[R][C]"
  if z.kind == "own" then
    add [[
  d.read = task { --@ host
    map = {P}, A = T[P * R][K * C]:layout "S0R",
    function(A, p)
      for k in grid(K) do
        local o = core[p]:slot()
        for i, j in grid(R, C) do o[i][j] = A[i][k * C + j] end
        core[p]:put(o)
      end
    end}]]
  else
    add(([[
  local far = d:stream(%s, {block = true, depth = %d})
  d.read = task { --@ host
    A = T[P * R][K * C],
    function(A)
      for k in grid(K) do
        local o = far:slot()
        for i, j in grid(%s, C) do o[i][j] = A[i][k * C + j] end
        far:put(o)
      end
    end}
  d.hand = task { --@ place(0, 1)
    function()
      for _ in grid(K) do
        local x = far:get()
        for p in grid(P) do
          local o = core[p]:slot()
          for i, j in grid(R, C) do o[i][j] = x[%s][%s] end
          core[p]:put(o)
        end
      end
    end}]]):format(whole, z.depth, z.kind == "parts" and "P * R" or "R",
      z.kind == "parts" and "p * R + i" or z.flip and "i % 2 * (R // 2) + i // 2" or "i", "j"))
  end
end

-- Adds the cores: one or two behind each other.
local function add_cores(add, z)
  add(([[
  d.work = task {
    map = {P},
    function(p)
      local seen = T[1][1](0)
      for k in grid(K) do
        local x, o = core[p]:get(), %s[p]:slot()
        for i, j in grid(R, C) do o[i][j] = T(%s) end
        seen[0][0] = T(seen[0][0] + x[0][0])
        %s[p]:put(o)
      end
    end}]]):format(z.two and "mid" or "back", expressions[z.one], z.two and "mid" or "back"))
  if z.two then
    add(([[
  d.more = task {
    map = {P},
    function(p)
      local seen = T[1][1](1)
      for k in grid(K) do
        local x, o = mid[p]:get(), back[p]:slot()
        for i, j in grid(R, C) do o[i][j] = T(%s) end
        back[p]:put(o)
      end
    end}]]):format(expressions[z.two]))
  end
end

-- Adds the host task that writes B, behind a memory task that joins blocks or not.
local function add_writes(add, z)
  if z.joins then
    add(([[
  local out = d:stream(T[P * R][C], {block = true, depth = %d})
  d.join = task { --@ place(1, 1)
    function()
      for _ in grid(K) do
        local o = out:slot()
        for p in grid(P) do
          local x = back[p]:get()
          for i, j in grid(R, C) do o[p * R + i][j] = x[i][j] end
        end
        out:put(o)
      end
    end}
  d.write = task { --@ host
    B = T[P * R][K * C],
    function(B)
      for k in grid(K) do
        local x = out:get()
        for i, j in grid(P * R, C) do B[i][k * C + j] = x[i][j] end
      end
    end}]]):format(z.depth))
  else
    add [[
  d.write = task { --@ host
    map = {P}, B = T[P * R][K * C]:layout "S0R",
    function(B, p)
      for k in grid(K) do
        local x = back[p]:get()
        for i, j in grid(R, C) do B[i][k * C + j] = x[i][j] end
      end
    end}]]
  end
end

-- The text of a design: host tasks and cores of P lanes; z says how blocks go in and out.
local function source(z)
  local text = {"return tide.design(function(d)"}
  local function add(...) text[#text + 1] = (...) end
  for _, name in ipairs {"core", "back", z.two and "mid"} do
    add(("  local %s = d:stream(T[R][C], {P, block = true, depth = %d})"):format(name, z.depth))
  end
  add_reads(add, z)
  add_cores(add, z)
  add_writes(add, z)
  add "end)"
  return table.concat(text, "\n")
end

local function design(seed)
  math.randomseed(seed)
  local T = types[math.random(#types)]
  local word = tostring(T) == "i8" and 4 or tostring(T) == "i16" and 2 or 1
  local z = {T = T, P = math.random(4), R = math.random(4), C = word * math.random(6), K = math.random(5),
    depth = math.random(3), kind = ({"own", "same", "parts"})[math.random(3)], one = math.random(#expressions),
    two = math.random(2) == 1 and math.random(#expressions) or nil, joins = math.random(2) == 1,
    flip = math.random(2) == 1}
  z.flip = z.flip and z.R % 2 == 0
  local env = setmetatable({tide = tide, task = tide.task, grid = tide.grid}, {__index = _G})
  for k, v in pairs(z) do env[k] = v end
  local d = assert(load(source(z), "=random" .. seed, "t", env))()
  return d, {T[z.P * z.R][z.K * z.C], T[z.P * z.R][z.K * z.C]}, z
end

t.test("random designs in NPU form", function()
  local count, first = campaign.range(40)
  for seed = first, first + count - 1 do
    local d, of, z = design(seed)
    local ok, e = pcall(npu_case.same, d, of, {tool = false, device = seed % 3 == 0 and "npu2" or "npu1"})
    if not ok then
      local what = {}
      for k, v in pairs(z) do what[#what + 1] = ("%s = %s"):format(k, tostring(v)) end
      table.sort(what)
      t.ok(false, ("seed %d, %s: %s"):format(seed, table.concat(what, ", "), tostring(e)))
    end
  end
end)

t.done()
