-- [slow]
-- verilog_ids.lua - tasks with conditions on their ids as Verilog: around all of the body, around gets and puts, in
-- loops that are pipelined and not, with arms of other lengths; bits and cycles of timed runs.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i32, task, grid = tide.i32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local function numbers(type, seed) return tide.random(type, seed or 1, {lo = -90, hi = 90}) end

t.test("one instance does nothing", function()
  for _, q in ipairs {{3, 4, 1}, {4, 3, 0}, {2, 5, 1}} do
    local P, K, idle = q[1], q[2], q[3]
    local d = tide.design(function(d)
      d.pe = task {map = {P}, Y = i32[P][K], function(Y, p)
        for k in grid(K, "k") do
          if p ~= idle then Y[p][k] = Y[p][k] * 3 + k end
        end
      end}
    end)
    case.run(d, {numbers(i32[P][K])})
    case.run(tide.schedule(d):pipeline("pe:k"), {numbers(i32[P][K])})
  end
end)

-- A chain of P tasks of which the first gets nothing, the last puts nothing.
local function chain(P, K, each)
  return tide.design(function(d)
    local Z = d:stream(i32, {P, depth = 2})
    d.pe = task {map = {P}, X = i32[P][K], Y = i32[K], function(X, Y, p)
      for k in grid(K, "k") do
        local u = X[p][k] // 3
        if p > 0 then u = Z[p - 1]:get() end
        if each and p == 1 then u = i32(u * u + k) end
        if p < P - 1 then Z[p]:put(u + X[p][k]) else Y[k] = u * 2 end
      end
    end}
  end), {numbers(i32[P][K]), i32[K](0)}
end

t.test("ends of a chain, arms of other lengths", function()
  for _, q in ipairs {{3, 4, false}, {4, 6, true}, {2, 5, true}} do
    local d, args = chain(q[1], q[2], q[3])
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("pe:k"), args)
    case.run(tide.schedule(d):pipeline("pe:k", 3), args)
  end
end)

t.test("an if around all of a task, with loops under it", function()
  for _, q in ipairs {{2, 3}, {3, 5}} do
    local P, K = q[1], q[2]
    local d = tide.design(function(d)
      local Z = d:stream(i32, {P, depth = 1})
      d.send = task {map = {P}, X = i32[P][K], function(X, p)
        if p ~= P - 1 then
          for k in grid(K, "k") do Z[p]:put(X[p][k] + p) end
        else
          for k in grid(K, "last") do Z[p]:put(X[p][k] // 7) end
        end
      end}
      d.take = task {map = {P}, Y = i32[P][K], function(Y, p)
        for k in grid(K, "k") do Y[p][k] = Z[p]:get() end
      end}
    end)
    local args = {numbers(i32[P][K]), i32[P][K](0)}
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("send:k#1"), args)
  end
end)

t.done()
