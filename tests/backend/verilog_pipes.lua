-- [slow]
-- verilog_pipes.lua - pipelined loops as Verilog that are left by break and return, of which what comes behind the
-- iteration that leaves has no effect; that run on in loops around them, though elements stay; in timed cycles.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i8, i16, i32, grid, task = tide.i8, tide.i16, tide.i32, tide.grid, tide.task

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local function words(n, seed) return tide.random(i32[n], seed or n, {lo = -9, hi = 9}) end

-- Rows that end early, each row's sum with what its end adds; at a sum's end all of it.
local function search(rows, n, stop)
  return tide.kernel {
    name = "search", x = i32[rows][n], y = i32[rows],
    function(x, y)
      for i in grid(rows) do
        for j in grid(n, "j") do
          if x[i][j] > stop then return end
          y[i] = y[i] + x[i][j]
          if x[i][j] < -6 then break end
          y[i] = y[i] + 1
        end
        y[i] = y[i] * 2
      end
      y[0] = -1
    end,
  }, {tide.random(i32[rows][n], n, {lo = -9, hi = 9}), i32[rows](0)}
end

t.test("break and return, at several intervals", function()
  for _, q in ipairs {{3, 6, 8}, {4, 9, 20}, {6, 5, 7}, {2, 4, -10}} do
    local k, args = search(q[1], q[2], q[3])
    for _, ii in ipairs {1, 3, 12} do case.run(tide.schedule(k):pipeline("j", ii), args) end
  end
end)

-- A copy that ends after the first element above a bound.
local function copy(n, bound, slow)
  return tide.kernel {
    name = "copy", x = i32[n], y = i32[n], count = i32[2],
    function(x, y, count)
      for j in grid(n, "j") do
        y[j] = x[j] * 3
        if slow then
          if i32(x[j] * x[j] * 5) > bound then break end
        else
          if x[j] > bound then break end
        end
        count[0] = j + 1
      end
      count[1] = 7
    end,
  }, {tide.random(i32[n], n, {lo = 0, hi = 30}), i32[n](0), i32[2](0)}
end

t.test("stores after a break is known to be met or not", function()
  for _, q in ipairs {{8, 20, false}, {8, 2000, true}, {5, 40, false}, {6, 0, true}, {7, 25, false}} do
    local k, args = copy(q[1], q[2], q[3])
    case.run(tide.schedule(k):pipeline "j", args)
    case.run(tide.schedule(k):pipeline("j", 2), args)
  end
end)

t.test("an element that stays, which only conditions write", function()
  for _, bound in ipairs {-20, 0, 20} do
    local k = tide.kernel {
      name = "last", x = i32[6], y = i32[1],
      function(x, y)
        for j in grid(6) do
          if x[j] < bound then y[0] = x[j] end
        end
      end,
    }
    case.run(tide.schedule(k):pipeline "j", {words(6, 3), i32[1](5)})
  end
end)

t.test("elements that stay are loaded and stored through two ports", function()
  for n = 1, 6 do
    local k = tide.kernel {
      name = "sums", x = i32[7], y = i32[n],
      function(x, y)
        for j in grid(7) do
          for i in grid(n) do y[i] = y[i] + x[j] * (i + 1) end
        end
      end,
    }
    local _, m = case.run(tide.schedule(k):unroll("i"):pipeline "j", {words(7), words(n, 3)})
    t.ok(not m.source:find "y_q2" and not m.source:find "y_we2", "at most two reads and two writes of a bank")
  end
end)

t.test("what is read stays behind no later write, however late its address is", function()
  for _, ii in ipairs {0, 1, 2} do
    local k = tide.kernel {
      name = "swap", A = i32[8], B = i32[8], y = i32[8],
      function(A, B, y)
        for j in grid(8) do
          local v = A[B[j] & 7]
          A[j] = j * 100
          y[j] = v * A[B[v & 7] & 7]
          A[v & 7] = 5
        end
      end,
    }
    local s = ii > 0 and tide.schedule(k):pipeline("j", ii) or k
    case.run(s, {words(8, 1), words(8, 2), i32[8](0)})
  end
end)

t.test("a loop that is always left", function()
  for n = 1, 3 do
    local k = tide.kernel {
      name = "first", x = i32[n], y = i32[n],
      function(x, y)
        for j in grid(n, "j") do
          y[j] = x[j] + 1
          if x[j] > 4 then break end
          y[0] = y[0] * 5
          if n > 0 then return end
        end
        y[n - 1] = 11
      end,
    }
    for seed = 1, 3 do case.run(tide.schedule(k):pipeline "j", {words(n, seed), i32[n](0)}) end
  end
end)

-- Tokens until one that says it is the last.
local function tokens(n, depth, feed)
  return tide.design(function(d)
    local Z, W = d:stream(i32, {depth = depth}), d:stream(i32, {depth = depth})
    d.send = task {X = i32[n], function(X)
      for k in grid(n, "k") do
        Z:put(X[k])
        if X[k] > 8 then break end
      end
      Z:put(100)
    end}
    d.pass = task {function()
      for _ in grid(n + 1, "k") do
        local v = Z:get()
        if v == 100 then break end
        if feed then W:put(i32(v * v)) end
        W:put(v)
      end
      W:put(-1)
    end}
    d.take = task {Y = i32[2 * n + 2], function(Y)
      for k in grid(2 * n + 2, "k") do
        local v = W:get()
        if v == -1 then return end
        Y[k] = v
      end
      Y[0] = 3
    end}
  end), {tide.random(i32[n], n, {lo = 0, hi = 10}), i32[2 * n + 2](0)}
end

t.test("tokens until a mark", function()
  for _, q in ipairs {{6, 2, false}, {8, 1, true}, {5, 4, true}} do
    local d, args = tokens(q[1], q[2], q[3])
    local s = tide.schedule(d)
    for _, step in ipairs {"send:k", "pass:k", "take:k"} do s = s:pipeline(step) end
    case.run(s, args)
  end
end)

-- A kernel of rows with j in them, which runs on from row to row unless `left`.
local function rows(left)
  return tide.schedule(tide.kernel {
    name = "rows", x = i16[4][5], y = i16[4][5],
    function(x, y)
      for i in grid(4) do
        for j in grid(5, "j") do
          y[i][j] = x[i][j] + 1
          if left then
            if x[i][j] > 2 then break end
          end
        end
      end
    end,
  }):pipeline "j", {tide.random(i16[4][5], 1, {lo = 0, hi = 5}), i16[4][5](0)}
end

t.test("a loop drains from row to row if it may be left, else it runs on", function()
  local s, args = rows(true)
  case.run(s, args)
  t.has(tostring(s:estimate()), "not flattened: a 'break' leaves 'j'")
  s, args = rows(false)
  case.run(s, args)
  t.ok(not tostring(s:estimate()):find "not flattened")
end)

local function gemm(I, K, J, T)
  return tide.kernel {
    name = "gemm", A = T[I][K], B = T[K][J], C = i32[I][J],
    function(A, B, C)
      for i, k, j in grid(I, K, J) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end,
  }, {tide.random(T[I][K], I), tide.random(T[K][J], J), i32[I][J](0)}
end

t.test("what stays in an inner loop is read in each iteration where it runs on", function()
  for _, q in ipairs {{2, 3, 8, i16}, {3, 2, 5, i8}, {2, 2, 3, i16}, {3, 4, 16, i32}} do
    local k, args = gemm(table.unpack(q))
    case.run(tide.schedule(k):pipeline "j", args)
    case.run(tide.schedule(k):pipeline("j", 2), args)
  end
end)

-- a[i] beside `reads` elements of a that move with j: more than its ports, once it is read each time.
local function products(reads)
  return tide.schedule(tide.kernel {
    name = "products", a = i16[12], C = i32[4][6],
    function(a, C)
      for i, j in grid(4, 6) do
        if reads == 2 then
          C[i][j] = a[i] * a[j] + a[j + 3]
        else
          C[i][j] = a[i] * a[j]
        end
      end
    end,
  }):pipeline "j", {tide.random(i16[12], 1), i32[4][6](0)}
end

t.test("it drains where those reads take longer", function()
  local s, args = products(2)
  case.run(s, args)
  t.has(tostring(s:estimate()), "not flattened: a: 3 accesses to one bank, which has 2 ports")
  s, args = products(1)
  case.run(s, args)
  t.ok(not tostring(s:estimate()):find "not flattened")
end)

t.done()
