-- Systolic arrays: the examples at other sizes, on other arrays, with other memories. Each compares its result with
-- tide.matmul and fails if it differs; here it is what they print that is looked at.
-- [slow]
local tide = require "tide"
local t = require "tap"
local shell = require "shell"

local arrays = {"25_daisy_chain", "32_weight_stationary", "33_packed_array", "34_two_level_cache"}

-- What an example prints: all of it, and cycles, percent of the multipliers used, fill, drain, bodies. `sizes` are its
-- arguments, `memory` replaces what it says about the memory.
local function run(name, sizes, memory)
  local text, printed = shell.read(("examples/%s.lua"):format(name)), {}
  if memory then text = text:gsub("bytes_per_cycle%(64%) latency%(100%)", memory) end
  local env = setmetatable({arg = sizes}, {__index = _G})
  function env.print(...)
    for _, v in ipairs {...} do printed[#printed + 1] = tostring(v) end
  end
  assert(load(text, "=" .. name, "t", env))()
  local all = table.concat(printed, "\n")
  local r = {text = all, bodies = tonumber(all:match "(%d+) bodies")}
  r.cycles, r.used, r.fill, r.drain = all:match "(%d+) cycles, multipliers ([%d.]+) %% used, fill (%d+), drain (%d+)"
  for k, v in pairs(r) do r[k] = tonumber(v) or v end
  return r
end

for _, name in ipairs(arrays) do
  t.test(name .. " is exact: 3 x 5 x 7, 6 x 9 elements, sizes that are no multiple of a tile", function()
    for _, sizes in ipairs {{3, 5, 7, 4, 4}, {13, 20, 17, 6, 9}, {33, 18, 70, 16, 16}, {5, 4, 3, 1, 1}, {4, 9, 1, 3, 2},
      {1, 1, 1, 2, 2}} do
      local r = run(name, sizes)
      t.has(r.text, "compared with tide.matmul: equal")
      t.ok(r.bodies <= 14, r.bodies .. " bodies")
      t.ok(r.fill > 0 and r.drain > 0 and r.fill + r.drain < 2 * r.cycles)
    end
  end)
  t.test(name .. ": bodies do not grow with the array, the rate does with the work", function()
    local small, large = run(name, {64, 64, 64, 4, 4}), run(name, {64, 64, 64, 16, 16})
    t.eq(small.bodies, large.bodies)
    t.ok(small.used > 85, small.used)
    t.ok(run(name, {128, 128, 128, 16, 16}).used > large.used)
  end)
  t.test(name .. ": a slower memory makes it slower, but not by its latency in each tile", function()
    local sizes = {64, 64, 64, 4, 4}
    local near, far = run(name, sizes, "bytes_per_cycle(64)"), run(name, sizes, "bytes_per_cycle(64) latency(200)")
    t.ok(far.cycles >= near.cycles + 190 and far.cycles <= near.cycles + 2 * 210, far.cycles - near.cycles)
    t.ok(run(name, sizes, "bytes_per_cycle(1)").cycles > 1.3 * near.cycles)
  end)
end

t.test("what the clock says of a small array: fill, drain, when tasks start to multiply", function()
  local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid
  local K = 32
  local top = tide.design(function(d)
    local z, c = d:stream(i8, {4}), d:stream(i32, {3})
    d.feed = task {A = i8[K], function(A) for k in grid(K) do z[0]:put(A[k]) end end}
    d.mac = task {map = {3}, B = i8[3][K], function(B, p)
      local sum = i32(0)
      for k in grid(K, "k") do
        local x = z[p]:get()
        sum = sum + x * B[p][k]
        z[p + 1]:put(x)
      end
      c[p]:put(sum)
    end}
    d.last = task {C = i32[3], function(C)
      for _ in grid(K) do local _ = z[3]:get() end
      for p in grid(3) do C[p] = c[p]:get() end
    end}
  end)
  local reports = {}
  for _, tier in ipairs {"tcc", "cc", false} do
    local m = tide.schedule(top):pipeline("mac:k"):build {target = "cpu", timed = true, tier = tier or nil}
    m(tide.random(i8[K], 1), tide.random(i8[3][K], 2), i32[3](0))
    local r = m.report
    t.eq({r.fill, r.drain}, {3, r.cycles - r.tasks["mac[0]"].last - 1})
    t.eq({r.tasks["mac[0]"].starts, r.tasks["mac[1]"].starts, r.tasks["mac[2]"].starts}, {1, 2, 3})
    t.eq(r.tasks.feed.starts, nil)
    t.has(tostring(r), ("fill 3, drain %d"):format(r.drain))
    reports[#reports + 1] = tostring(r)
  end
  t.eq({reports[2], reports[3]}, {reports[1], reports[1]})
end)

t.test("the program for the CPU has a body for each class, whatever the array's extents", function()
  local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid
  local function lines(P)
    local top = tide.design(function(d)
      local a, b = d:stream(i8, {P, P}), d:stream(i8, {P, P})
      d.feed = task {map = {P}, A = i8[8][P], B = i8[8][P], function(A, B, i)
        for k in grid(8) do
          a[i][0]:put(A[k][i])
          b[0][i]:put(B[k][i])
        end
      end}
      d.pe = task {map = {P, P}, C = i32[P][P], function(C, i, j)
        for _ in grid(8) do
          local x, y = a[i][j]:get(), b[i][j]:get()
          C[i][j] = C[i][j] + x * y
          if j < P - 1 then a[i][j + 1]:put(x) end
          if i < P - 1 then b[i + 1][j]:put(y) end
        end
      end}
    end)
    t.eq(top:graph().bodies, 5)
    return select(2, top:build({target = "cpu"}).source:gsub("\n", ""))
  end
  t.eq(lines(32), lines(3))
end)

t.test("a token put into a row of an argument costs the bytes of a row", function()
  local i32, task, grid = tide.i32, tide.task, tide.grid
  local function cycles(rows)
    local top = tide.design(function(d)
      local z = d:stream(i32[4])
      d.send = task {A = i32[8][4], function(A) for n in grid(8, "n") do z:put(A[n]) end end}
      d.take = task {
        C = i32[rows][4], --@ bytes_per_cycle(16)
        function(C) for n in grid(8, "n") do C[n]:set(z:get()) end end,
      }
    end)
    local m = tide.schedule(top):pipeline("send:n"):pipeline("take:n"):build {target = "cpu", timed = true}
    m(tide.random(i32[8][4], 1), i32[rows][4](0))
    return m.report.cycles
  end
  t.eq({cycles(8), cycles(64)}, {9, 9})
end)

t.done()
