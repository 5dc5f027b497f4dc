-- [slow]
-- verilog_boxes.lua - memories of designs as large as what an instance touches of an argument: ids with factors and
-- offsets, backwards, in several dimensions and accesses; all of a dimension where data or other ids name the element.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i16, i32, task, grid = tide.i16, tide.i32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local function numbers(type, seed) return tide.random(type, seed or 1, {lo = -90, hi = 90}) end

-- Runs the design and states the bits of an address of argument `name` in module pe.
local function bits(d, args, name, want)
  local _, m = case.run(d, args)
  local dir = t.tmp "boxes"
  os.execute("rm -rf " .. dir)
  m:write(dir)
  local text = io.open(dir .. "/pe.sv"):read "a"
  local range = text:match("wire ([%[%]%d:]*) ?" .. name .. "_[rw]addr")
  t.eq(range == "" and 1 or range and math.tointeger(range:match "%d+") + 1, want)
end

t.test("rows, parts of rows, every second one, backwards", function()
  for _, P in ipairs {2, 5} do
    bits(tide.design(function(d)
      d.pe = task {map = {P}, A = i32[P][6], function(A, p) for k in grid(6) do A[p][k] = A[p][k] + k end end}
    end), {numbers(i32[P][6])}, "A", 3)
    bits(tide.design(function(d)
      d.pe = task {map = {P}, A = i32[P * 4], function(A, p)
        for k in grid(4) do A[4 * p + k] = A[4 * p + k] + p end
      end}
    end), {numbers(i32[P * 4])}, "A", 2)
    bits(tide.design(function(d)
      d.pe = task {map = {P}, A = i32[2 * P][3], function(A, p)
        for k in grid(3) do A[2 * (P - 1 - p) + 1][k] = A[2 * (P - 1 - p)][k] * 2 end
      end}
    end), {numbers(i32[2 * P][3])}, "A", 3)
  end
end)

t.test("two dimensions of ids, one element, rows that overlap", function()
  for _, q in ipairs {{2, 3}, {3, 2}} do
    local P, Q = q[1], q[2]
    bits(tide.design(function(d)
      d.pe = task {map = {P, Q}, A = i16[P][Q], B = i32[P][Q], function(A, B, i, j)
        for k in grid(4) do B[i][j] = B[i][j] + A[i][j] * k end
      end}
    end), {numbers(i16[P][Q]), numbers(i32[P][Q], 2)}, "B", 1)
    bits(tide.design(function(d)
      d.pe = task {map = {P}, x = i32[P + 8], y = i32[P], function(x, y, p)
        for k in grid(8) do y[p] = y[p] + x[p + k] * k end
      end}
    end), {numbers(i32[P + 8]), numbers(i32[P], 2)}, "x", 3)
  end
end)

t.test("blocks of layouts, banks beside ids, pipelined", function()
  local P, K = 3, 4
  local d = tide.design(function(d)
    d.pe = task {map = {P}, A = (i32[2 * P][K]):layout "S0R", B = i32[P][K], function(A, B, p)
      for k in grid(K, "k") do B[p][k] = A[0][k] + A[1][k] end
    end}
  end)
  bits(tide.schedule(d):pipeline "pe:k", {numbers(i32[2 * P][K]), i32[P][K](0)}, "A", 3)
  bits(tide.schedule(d):pipeline "pe:k", {numbers(i32[2 * P][K]), i32[P][K](0)}, "B", 2)
end)

t.test("all of a dimension that data names, or ids in two ways", function()
  local P, K = 4, 4
  bits(tide.design(function(d)
    d.pe = task {map = {P}, X = i32[P][K], A = i32[P][16], function(X, A, p)
      for k in grid(K) do A[p][X[p][k] & 15] = k end
    end}
  end), {numbers(i32[P][K]), i32[P][16](0)}, "A", 4)
  bits(tide.design(function(d)
    d.pe = task {map = {P}, A = i32[2 * P], B = i32[P], function(A, B, p)
      B[p] = A[p] + A[2 * p]
    end}
  end), {numbers(i32[2 * P]), i32[P](0)}, "A", 3)
end)

t.done()
