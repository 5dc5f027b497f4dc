-- [slow] dato_clauses.lua - sentences about designs that no other test states: what examples/README.md says of them.
local t = require "tap"
local tide = require "tide"
local batch = require "hls_batch"
local i8, i32, f32, task, grid = tide.i8, tide.i32, tide.f32, tide.task, tide.grid

-- ---- verdicts without data ----


t.test("static verdicts never run data", function()
  local path = t.tmp ".c"
  local f = assert(io.open(path, "w"))
  f:write "#include <stdlib.h>\nvoid stop(int *x) { x[0] = 1; abort(); }\n"
  f:close()
  local stop = tide.extern {source = path, symbol = "stop", x = i32[1]}
  local function build(n)
    return function(d)
      local Z = d:stream(i32, {depth = 2})
      d.a = task {A = i32[1], B = i32[4], function(A, B)
        stop(A)
        B[0] = 1 // (A[0] - A[0])
        for k in grid(n) do Z:put(B[k % 4]) end
      end}
      d.b = task {C = i32[1], function(C) for _ in grid(1 << 40) do C[0] = C[0] + Z:get() end end}
    end
  end
  t.eq({tide.design(build(1 << 40)):check()}, {true}, "2^40 tokens, a division by zero, a crash")
  local e = t.fails(function() tide.design(build((1 << 40) + 1)) end, {kind = "illegal", code = "imbalance"})
  t.has(e.message, "1099511627777")
end)

-- ---- layouts ----

t.test("indivisible shapes are refused with both numbers; divisible ones have local shapes", function()
  local function build(P, layout)
    return tide.design(function(d)
      d.a = task {map = {P}, A = i32[8][6]:layout(layout), function(A) A[0][0] = #A end}
    end)
  end
  local e = t.fails(function() build(3, "S0R") end, {kind = "illegal", code = "indivisible"})
  t.has(e.message, "8")
  t.has(e.message, "3")
  local A = i32[8][6](0)
  build(4, "S0R")(A)
  t.eq({A[0][0], A[2][0], A[6][0]}, {2, 2, 2}, "blocks of 2 x 6")
  build(3, "RS0")(A)
  t.eq({A[0][0], A[0][2], A[0][4]}, {8, 8, 8}, "blocks of 8 x 2")
end)

-- A task on two instances that sets C = i32[8] from A = i32[8][8], both with a layout.
local function over(layout, out, f)
  return tide.design(function(d)
    d.top = task {map = {2}, A = i32[8][8]:layout(layout), C = i32[8]:layout(out), function(A, C) C:set(f(A)) end}
  end)
end

t.test("the rule of reduce: along a whole dimension it is complete, along a cut one it is pending", function()
  local A = tide.random(i32[8][8], 1, {lo = -99, hi = 99})
  for _, op in ipairs {"+", "max", "min"} do
    local function reduced(x) return tide.reduce(x, op, 1) end
    local C, D = i32[8](0), i32[8](0)
    over("S0R", "S0", reduced)(A, C)
    local e = t.fails(function() over("RS0", "R", reduced) end, {kind = "illegal", code = "pending-sum"})
    t.has(e.message, op == "+" and "a pending sum over axis 0" or "a pending " .. op)
    t.has(e.help, "tide.allreduce")
    over("RS0", "R", function(x) return tide.allreduce(tide.reduce(x, op, 1), op) end)(A, D)
    t.ok(C:equal(D), op)
  end
end)

t.test("the rule of allreduce: by the operator of what is pending", function()
  local function by(op)
    return over("RS0", "R", function(x) return tide.allreduce(tide.reduce(x, "max", 1), op) end)
  end
  local e = t.fails(function() by "+" end, {kind = "illegal", code = "pending-sum"})
  t.has(e.message, "meets an allreduce by another operator")
  t.eq({by "max":check()}, {true})
end)

t.test("the rule of stores: a value cut along another axis than its place", function()
  local function build(layout)
    return tide.design(function(d)
      d.top = task {map = {2, 2}, A = i32[8]:layout "S0", C = i32[8]:layout(layout), function(A, C) C:set(A + 1) end}
    end)
  end
  local e = t.fails(function() build "S1" end, {kind = "illegal", code = "layout-mismatch"})
  t.has(e.message, "'C' takes a dimension cut along axis 0 into a dimension cut along axis 1")
  local A, C = tide.random(i32[8], 1), i32[8](0)
  build "S0"(A, C)
  t.ok(C:equal(i32[8](A + 1)))
end)

t.test("a collective is never silent: refused without it, printed with it, a task of the graph", function()
  local function build(f)
    return tide.design(function(d)
      d.mm = task {map = {2}, A = i8[4][8]:layout "RS0", B = i8[8][4]:layout "S0R", C = i32[4][4]:layout "RR",
        function(A, B, C) C:set(f(tide.matmul(A, B))) end}
      d.other = task {map = {2}, X = i32[2]:layout "S0", function(X) X[0] = X[0] + 1 end}
    end)
  end
  t.fails(function() build(function(x) return x end) end, {kind = "illegal", code = "pending-sum"})
  local d = build(function(x) return tide.allreduce(x, "+") end)
  t.has(tostring(d), "tide.allreduce(")
  t.eq(d:graph().nodes, 2 + 1 + 2)
  t.has(tostring(tide.schedule(d):bundle "other"), "d.mm_allreduce = tide.task")
end)

-- All collectives on one array: broadcast by R, scatter, gather, allreduce.
local function collectives()
  return tide.design(function(d)
    local down, up = d:stream(i32, {4}), d:stream(i32, {4})
    d.root = task {X = i32[4], Y = i32[4], function(X, Y)
      down:scatter(X)
      Y:set(up:gather())
    end}
    d.pe = task {map = {4}, W = i32[3]:layout "R", S = i32[1]:layout "R", function(W, S, p)
      local x, sum = down[p]:get(), i32[1](0)
      for k in grid(3) do sum[0] = sum[0] + W[k] * x end
      S:set(tide.allreduce(sum, "+"))
      up[p]:put(sum[0] + p)
    end}
  end)
end

t.test("scatter, gather, allreduce, and a broadcast by R: the same bits on CPU and in HLS C++", function()
  local W, X = tide.tensor(i32[3], {2, -3, 5}), tide.tensor(i32[4], {7, -1, 4, 9})
  local d = collectives()
  for _, tier in ipairs {"reference", "tcc", "cc", "hls"} do
    local S, Y = i32[1](0), i32[4](0)
    local run = tier == "hls" and d:build {target = "hls"} or tier ~= "reference" and
      d:build {target = "cpu", tier = tier} or function(...) d:reference(...) end
    run {X = X, Y = Y, W = W, S = S}
    t.eq({S[0], Y:table()}, {4 * 19, {28, -3, 18, 39}}, tier)
  end
  t.ok(batch.add("collectives", d))
end)

-- ---- language ----

t.test("tokens T[n] and lanes(n) side by side: the same values, fewer cycles", function()
  local function pipe(words, lanes)
    local text = [[
      local tide = require "tide"
      local i32, task, grid = tide.i32, tide.task, tide.grid
      return tide.design(function(d)
        local Z = d:stream(i32[4], {depth = 2})LANES
        d.a = task {A = i32[64], function(A) for i = 0, 15 do Z:put(A:slice({4 * i, 4 * i + 4})) end end}
        d.b = task {B = i32[64], function(B) for i = 0, 15 do B:slice({4 * i, 4 * i + 4}):set(Z:get()) end end}
      end)]]
    local scalars = text:gsub("i32%[4%], {depth", "i32, {depth"):gsub("15 do Z:put%b()", "63 do Z:put(A[i])")
      :gsub("15 do B.- end end}", "63 do B[i] = Z:get() end end}")
    local d = load(((words and text or scalars):gsub("LANES", lanes)))()
    local m = tide.schedule(d):build {target = "cpu", timed = true}
    local A, B = tide.random(i32[64], 1), i32[64](0)
    m(A, B)
    t.ok(A:equal(B))
    return m.report.cycles
  end
  local scalar, word, lanes = pipe(false, ""), pipe(true, ""), pipe(true, " --@ lanes(4)")
  t.ok(lanes < scalar and lanes <= word, ("%d, %d, %d"):format(scalar, word, lanes))
end)

t.test("a task without arguments, between two that have some; an argument that several tasks read", function()
  local top = tide.design(function(d)
    local x, y = d:stream(f32), d:stream(f32)
    d.first = task {A = f32[4], function(A) for i in grid(4) do x:put(A[i]) end end}
    d.middle = task {function() for _ in grid(4) do y:put(x:get() * 2) end end}
    d.last = task {A = f32[4], B = f32[4], function(A, B) for i in grid(4) do B[i] = y:get() - A[i] end end}
  end)
  local A, B = tide.random(f32[4], 1), f32[4](0)
  top(A, B)
  t.ok(A:equal(B))
  t.eq(#top.params, 2, "A is one argument")
end)

batch.test()
t.done()
