-- 84_t2s_spmv: a sparse matrix times a vector (T2S, Figs. 9 and 10): lanes that multiply, a process that fetches, one
-- that says which row an element is of, a bank of sums for each accumulator. The host turns rows of any length into
-- lanes: a free lane takes the next row, an empty row is one explicit zero, the last row of a lane is filled with zeros
-- (so x is finite), and there are at least as many rows as lanes.
-- Run: tide examples/84_t2s_spmv.lua [LANES BANKS]     (default 6 3)
local tide = require "tide"
local t2s = require "tide.t2s"
local f32, i32, kernel, stream = tide.f32, tide.i32, tide.kernel, tide.stream
local Param, Const, Var, Func = t2s.Param, t2s.Const, t2s.Var, t2s.Func

local values, x      = Param("values", f32, 2), Param("x", f32, 1)
local column, length = Param("column length", i32, 2)   -- column[t][p]; length[q][p] of the q-th row of lane p
local T, R           = Param "T R"
local LANES, BANKS   = Const "LANES BANKS"
local t, p, pp, m    = Var "t p pp m"

-- Says for each step of each lane which row its element is of; rows are numbered as lanes take them.
local number = kernel {
  take = stream(i32)[LANES], give = stream(i32)[LANES],
  function(take, give)
    local rest, mine, next_row = i32[LANES](0), i32[LANES](0), i32(0)
    for _ = 0, T - 1 do --@ pipeline(1)
      for s = 0, LANES - 1 do
        if rest[s] == 0 then
          rest[s] = take[s]:get()
          mine[s] = next_row
          next_row = next_row + 1
        end
        rest[s] = rest[s] - 1
        give[s]:put(mine[s])
      end
    end
  end,
}

-- Reads memory once, in the order of the steps; a row's length goes out when the row before it has ended.
local reader = kernel {
  cols = i32[T][LANES], vals = f32[T][LANES], lens = i32[T][LANES],
  to_cols = stream(i32)[LANES], to_vals = stream(f32)[LANES], to_lens = stream(i32)[LANES],
  function(cols, vals, lens, to_cols, to_vals, to_lens)
    local rest, row = i32[LANES](0), i32[LANES](0)
    for step = 0, T - 1 do --@ pipeline(1)
      for s = 0, LANES - 1 do
        if rest[s] == 0 then
          rest[s] = lens[row[s]][s]
          to_lens[s]:put(rest[s])
          row[s] = row[s] + 1
        end
        rest[s] = rest[s] - 1
        to_vals[s]:put(vals[step][s])
        to_cols[s]:put(cols[step][s])
      end
    end
  end,
}

local term, owner, sum, load = Func("term", f32), Func("owner", i32), Func("sum", f32), Func "load"
term[t][p]       = values[t][p] * x[column[t][p]]
owner[t][p]      = number(length)
sum[m]           = 0
sum[owner[t][p]] = sum[owner[t][p]] + term[t][p]
term :set_bounds(t, 0, T, p, 0, LANES)
owner:set_bounds(t, 0, T, p, 0, LANES)
sum  :set_bounds(m, 0, R + 1, t, 0, T, p, 0, LANES)
term:isolate_producer_chain(column, load):isolate_producer_chain(values, load)
owner:isolate_producer_chain(length, load)
sum:tile(p, pp, BANKS):unroll(pp):buffer(sum)
term:unroll(p):buffer(x)
load:define_extern(reader)

-- The lanes of a matrix, a list of rows {{column, value}, ..}: tensors, steps, rows with those that fill up.
local function encode(matrix, lanes)
  local slot, all = {}, math.max(#matrix, lanes)
  for s = 1, lanes do slot[s] = { elements = {}, lengths = {} } end
  local step, row = 0, 1
  while row <= all do
    for s = 1, lanes do
      if #slot[s].elements == step and row <= all then
        local elements = matrix[row] and #matrix[row] > 0 and matrix[row] or { { 0, 0 } }
        table.move(elements, 1, #elements, #slot[s].elements + 1, slot[s].elements)
        table.insert(slot[s].lengths, #elements)
        row = row + 1
      end
    end
    step = step + 1
  end
  local steps = 0
  for s = 1, lanes do steps = math.max(steps, #slot[s].elements) end
  local v, c, l = f32[steps][lanes](0), i32[steps][lanes](0), i32[steps][lanes](0)
  for s = 1, lanes do
    for k, e in ipairs(slot[s].elements) do c[k - 1][s - 1], v[k - 1][s - 1] = e[1], e[2] end
    local n = #slot[s].lengths
    slot[s].lengths[n] = slot[s].lengths[n] + steps - #slot[s].elements
    for k, count in ipairs(slot[s].lengths) do l[k - 1][s - 1] = count end
  end
  return { values = v, column = c, length = l, T = steps, R = all }
end

-- A random matrix: rows of 0 to `most` elements, the row `long` of `columns`.
local function random_matrix(rows, columns, most, long, seed)
  local n = tide.random(i32[rows], seed, { lo = 0, hi = most + 1 })
  local data = tide.random(f32[rows][columns], seed + 1)
  local matrix = {}
  for r = 1, rows do
    matrix[r] = {}
    local count = r == long and columns or n[r - 1]
    for k = 1, count do
      local c = r == long and k - 1 or (k * 7 + r * 3 + seed) % columns
      matrix[r][k] = { c, data[r - 1][c] }
    end
  end
  return matrix
end

-- Multiplies by a design, beside the sum of each row in order.
local function multiply(net, lanes, matrix, columns)
  local args, vector = encode(matrix, lanes), tide.random(f32[columns], columns)
  args.x, args.sum = vector, f32[args.R + 1](0)
  net(args)
  for r, row in ipairs(matrix) do
    local want = f32(0)
    for _, e in ipairs(row) do want = f32(want + f32(e[2] * vector[e[1]])) end
    assert(args.sum[r - 1] == want, ("row %d"):format(r - 1))
  end
  return args
end

local lanes, accumulators = tonumber(arg[1] or 6), tonumber(arg[2] or 3)
local net, verdict = t2s.design(sum, { LANES = lanes, BANKS = accumulators })
print(verdict)
print(("%d lanes, %d accumulators, %d channels"):format(lanes, accumulators, t2s.report(net).channels))
multiply(net, lanes, { {}, {}, {} }, 3)                            -- fewer rows than lanes, all empty
multiply(net, lanes, { { { 4, 2.5 } } }, 5)                        -- one element
multiply(net, lanes, random_matrix(17, 9, 3, 5, 2), 9)             -- one long row
for seed = 1, 200 do
  multiply(net, lanes, random_matrix(1 + seed * 5 % 23, 11, seed % 6, 0, seed), 11)
end

-- Least depths, and cycles of a long run: the bank of each accumulator is cleared before and stored behind it.
local even = {}
for r = 1, 4 * lanes do
  even[r] = {}
  for k = 1, 128 do even[r][k] = { (k * 5 + r) % 16, k % 7 - 3 } end
end
local long = multiply(net, lanes, even, 16)
local sized = net:at { T = long.T, R = long.R, x_0 = 16 }
local input = { long.values, long.x, long.column, long.length, long.sum }
for name, depth in pairs(sized:depths(table.unpack(input))) do assert(depth == 1, name) end
local clock = sized:build { target = "cpu", timed = true }
clock(table.unpack(input))
print(("%d elements in %d cycles, %d of them around the sums"):format(lanes * long.T, clock.report.cycles,
  2 * (long.R + 1)))
local given = encode(random_matrix(9, 7, 4, 2, 3), lanes)
print(select(2, t2s.design(sum, { LANES = lanes, BANKS = accumulators },
  { concrete = { column = given.column, length = given.length } })))
