-- [slow]
-- verilog_blocks.lua - block streams as Verilog: buffers that are taken and handed over, held, given back; rows of
-- streams, banks, two buffers at once, several steps; bits and cycles of timed runs, each put and get in its cycle.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i16, i32, task, grid = tide.i16, tide.i32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local function numbers(type, seed) return tide.random(type, seed or 1, {lo = -90, hi = 90}) end

-- n blocks of B elements; the reader goes through each backwards.
local function hand_over(n, B, depth)
  return tide.design(function(d)
    local Z = d:stream(i32[B], {depth = depth, block = true})
    d.src = task {X = i32[n][B], function(X)
      for i in grid(n) do
        local to = Z:slot()
        for k in grid(B, "k") do to[k] = X[i][k] * 3 end
        Z:put(to)
      end
    end}
    d.dst = task {Y = i32[n][B], function(Y)
      for i in grid(n) do
        local from = Z:get()
        for k in grid(B, "k") do Y[i][k] = from[B - 1 - k] + from[k] end
      end
    end}
  end), {numbers(i32[n][B]), i32[n][B](0)}
end

t.test("a block is handed over, at depths 1 to 3", function()
  for _, q in ipairs {{3, 4, 1}, {5, 3, 2}, {7, 5, 3}} do
    local d, args = hand_over(q[1], q[2], q[3])
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("src:k"):pipeline("dst:k"), args)
    case.run(tide.schedule(d):pipeline("dst:k", 3), args)
  end
end)

t.test("in Verilator", function()
  if not case.has "verilator" then return t.ok(true) end
  local d, args = hand_over(4, 6, 2)
  case.run(tide.schedule(d):pipeline("src:k"):pipeline("dst:k"), args, {sim = "verilator"})
end)

-- Each of R rows has a stream of its own, which a loop names; each reader has its own.
local function rows(n, R, B, depth)
  return tide.design(function(d)
    local row = d:stream(i16[B], {R, depth = depth, block = true})
    d.cut = task {X = i16[n][R][B], function(X)
      for i, r in grid(n, R) do
        local to = row[r]:slot()
        for k in grid(B, "k") do to[k] = X[i][r][k] + 1 end
        row[r]:put(to)
      end
    end}
    d.feed = task {map = {R}, Y = i32[R][n][B], function(Y, r)
      for i in grid(n) do
        local from = row[r]:get()
        for k in grid(B, "k") do Y[r][i][k] = from[k] * from[0] end
      end
    end}
  end), {numbers(i16[n][R][B]), i32[R][n][B](0)}
end

t.test("rows of block streams, which loops and ids name", function()
  for _, q in ipairs {{2, 3, 4, 2}, {3, 2, 3, 1}, {2, 4, 2, 3}} do
    local d, args = rows(q[1], q[2], q[3], q[4])
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("cut:k"):pipeline("feed:k"), args)
  end
end)

t.test("two buffers at once, of one stream and of two", function()
  for _, q in ipairs {{3, 4, 2}, {4, 2, 3}} do
    local n, B, depth = q[1], q[2], q[3]
    local d = tide.design(function(d)
      local Z, W = d:stream(i32[B], {depth = depth, block = true}), d:stream(i32[B], {depth = 1, block = true})
      d.src = task {X = i32[2 * n][B], function(X)
        for i in grid(2 * n) do
          local to = Z:slot()
          for k in grid(B, "k") do to[k] = X[i][k] end
          Z:put(to)
        end
      end}
      d.add = task {function()
        for _ in grid(n) do
          local one, other, sum = Z:get(), Z:get(), W:slot()
          for k in grid(B, "k") do sum[k] = one[k] * other[B - 1 - k] end
          W:put(sum)
        end
      end}
      d.dst = task {Y = i32[n], function(Y)
        for i in grid(n) do
          local got = W:get()
          Y[i] = got[0] - got[B - 1]
        end
      end}
    end)
    local args = {numbers(i32[2 * n][B]), i32[n](0)}
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("add:k"), args)
  end
end)

t.test("banks, registers, a block that is worked on in place, scopes in conditions", function()
  for _, marks in ipairs {"", " --@ partition(0, cyclic, 2)", " --@ partition(0, complete, 0)"} do
    local text = ([[
      local tide = require "tide"
      local i32, task, grid = tide.i32, tide.task, tide.grid
      return tide.design(function(d)
        local Z = d:stream(i32[6], {depth = 2, block = true})
        d.src = task {X = i32[5][6], function(X)
          for i in grid(5) do
            local to = Z:slot()%s
            for k in grid(6) do to[k] = X[i][k] end
            for k in grid(5) do to[k + 1] = to[k + 1] + to[k] end
            Z:put(to)
          end
        end}
        d.dst = task {C = i32[5], Y = i32[5][6], function(C, Y)
          for i in grid(5) do
            if C[i] > 0 then
              local from = Z:get()%s
              for k in grid(3, "k") do Y[i][2 * k] = from[2 * k] + from[2 * k + 1] end
            else
              local from = Z:get()%s
              Y[i][0] = from[5]
            end
          end
        end}
      end)]]):format(marks, marks, marks)
    local d = assert(load(text))()
    local args = {numbers(i32[5][6]), tide.tensor(i32[5], {1, 0, 0, 1, 1}), i32[5][6](0)}
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("dst:k"), args)
  end
end)

-- A design whose one task has the body; the other puts, or gets, n blocks of 4.
local function of(source, n, text)
  return assert(load(([[
    local tide = require "tide"
    local i32, task, grid = tide.i32, tide.task, tide.grid
    return tide.design(function(d)
      local Z = d:stream(i32[4], {depth = 2, block = true})
      d.src = task {X = i32[%d][4], function(X)
        for i in grid(%d, "i") do %s end
      end}
      d.dst = task {Y = i32[%d], function(Y)
        for i in grid(%d, "i") do %s end
      end}
    end)]]):format(n, n, source, n, n, text)))()
end
local fills = "local to = Z:slot(); for k in grid(4) do to[k] = X[i][k] end; Z:put(to)"

t.test("what is refused has a twin", function()
  local verilog = {target = "verilog", sim = "icarus"}
  local good = of(fills, 3, "local from = Z:get(); Y[i] = from[0] + from[3]")
  case.run(good, {numbers(i32[3][4]), i32[3](0)})
  local piped = tide.schedule(good):pipeline("dst:i")
  t.fails(function() piped:build(verilog) end, {code = "not-built", match = "hands blocks over"})
  local copied = "local to = i32[4](0); to[1] = X[i][1]; Z:put(to)"
  local put = of(copied, 3, "local from = Z:get(); Y[i] = from[1]")
  t.fails(function() put:build(verilog) end, {code = "not-built", match = "copied as it is put"})
  local left = of(fills, 3,
    "local from = Z:get(); for k in grid(4) do if from[k] > 0 then break end; Y[i] = k end; if i > 1 then break end")
  t.fails(function() left:build(verilog) end, {code = "not-built", match = "out of the scope of a block"})
end)

t.done()
