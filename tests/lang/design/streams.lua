-- streams.lua - what tide.design refuses: each wrong design has a right twin one fact away.
local t = require "tap"
local tide = require "tide"
local i8, i32, f32 = tide.i8, tide.i32, tide.f32
local task, grid, stream = tide.task, tide.grid, tide.stream
local N, P = 4, 3

-- Both twins: `build(x)` for the fact x that is wrong, and for the one that is right.
local function twins(name, code, build, wrong, right)
  t.test(name .. ": " .. code, function()
    local e = t.fails(function() tide.design(build(wrong)) end, {kind = "illegal", code = code})
    t.ok(tostring(e.design):find "tide.design", "the refused design can be printed")
    t.ok(e.line and e.line > 0, "the error has a line")
    local kept = tide.design(build(wrong), {check = false})
    local ok, why = kept:check()
    t.ok(ok == nil and why.code == code, "d:check() says the same")
    local d = tide.design(build(right))
    t.eq({d:check()}, {true})
  end)
end

-- A task that puts n tokens to s, and one that gets m.
local function puts(s, n)
  return task { function() for i in grid(n) do s:put(i32(i)) end end }
end
local function gets(s, m)
  return task { function() for _ in grid(m) do local _ = s:get() end end }
end

twins("a token too many", "imbalance", function(n)
  return function(d)
    local s = d:stream(i32)
    d.a, d.b = puts(s, n), gets(s, N)
  end
end, N + 1, N)

twins("a token too few", "imbalance", function(n)
  return function(d)
    local s = d:stream(i32)
    d.a, d.b = puts(s, N), gets(s, n)
  end
end, N + 1, N)

twins("a triangle of tokens", "imbalance", function(n)
  return function(d)
    local s = d:stream(i32)
    d.a = task { function() for i in grid(N) do for _ in grid(i) do s:put(i32(i)) end end end }
    d.b = gets(s, n)
  end
end, N * (N + 1) // 2, N * (N - 1) // 2)

twins("a guard on the loop variable", "imbalance", function(first)
  return function(d)
    local s = d:stream(i32)
    d.a = task { function() for i in grid(N) do if i >= first then s:put(i32(i)) end end end }
    d.b = gets(s, N - 1)
  end
end, 2, 1)

twins("arms that differ", "imbalance", function(n)
  return function(d)
    local s, q = d:stream(i32), d:stream(i32)
    d.a = puts(q, 1)
    d.b = task { function()
      if q:get() > 0 then s:put(1) else for _ in grid(1) do s:put(2) end end
    end }
    d.c = gets(s, n)
  end
end, 2, 1)

twins("one instance of many", "imbalance", function(last)
  return function(d)
    local s = d:stream(i32, {P})
    d.a = task { map = {P}, function(p) s[p]:put(1); if p == last then s[p]:put(2) end end }
    d.b = task { map = {P}, function(p) local _ = s[p]:get() end }
  end
end, P - 1, P)

twins("a ring that gets first", "deadlock", function(first)
  return function(d)
    local ab, ba = d:stream(i32, {depth = 1}), d:stream(i32, {depth = 1})
    d.a = task { function() for _ in grid(N) do
      if first == "get" then ab:put(ba:get()) else ab:put(1); local _ = ba:get() end
    end end }
    d.b = task { function() for _ in grid(N) do ba:put(ab:get()) end end }
  end
end, "get", "put")

twins("a stream one token too shallow", "deadlock", function(depth)
  return function(d)
    local x, y = d:stream(i32, {depth = depth}), d:stream(i32, {depth = 1})
    d.a = task { function()
      for _ in grid(N) do x:put(1) end
      for _ in grid(N) do y:put(1) end
    end }
    d.b = task { function() for _ in grid(N) do
      local _ = y:get()
      local _ = x:get()
    end end }
  end
end, N - 1, N)

twins("a chain closed on itself", "deadlock", function(starts)
  return function(d)
    local s = d:stream(i32, {P, depth = 1})
    d.pe = task { map = {P}, function(p)
      if p == starts then s[(p + 1) % P]:put(1); local _ = s[p]:get()
      else s[(p + 1) % P]:put(s[p]:get()) end
    end }
  end
end, P, 0)

twins("the order of two gets", "deadlock", function(swap)
  return function(d)
    local x, y = d:stream(i32, {depth = 1}), d:stream(i32, {depth = 1})
    d.a = task { function() for _ in grid(2) do x:put(1) end; y:put(1) end }
    d.b = task { function()
      if swap then local _ = y:get() end
      for _ in grid(2) do local _ = x:get() end
      if not swap then local _ = y:get() end
    end }
  end
end, true, false)

twins("two producers", "producers", function(k)
  return function(d)
    local s = d:stream(i32, {2})
    d.a = task { function() s[0]:put(1) end }
    d.b = task { function() s[k]:put(1); if k == 0 then s[1]:put(2) end end }
    d.c = task { function() local _ = s[0]:get(); local _ = s[1]:get() end }
  end
end, 0, 1)

twins("two consumers", "consumers", function(k)
  return function(d)
    local s = d:stream(i32, {2})
    d.a = task { function() s[0]:put(1); s[1]:put(1) end }
    d.b = task { map = {2}, function(p) local _ = s[p * k]:get() end }
  end
end, 0, 1)

twins("merges that share an input", "consumers", function(step)
  local merge = tide.kernel { p = stream(i32), q = stream(i32), r = stream(i32),
    function(p, q, r) r:put(p:get() + q:get()) end }
  return function(d)
    local x, y = d:stream(i32, {8}), d:stream(i32, {4})
    d.a = task { map = {8}, function(i) x[i]:put(1) end }
    d.m = task { map = {4}, function(m)
      if step == 2 then merge(x[2 * m], x[2 * m + 1], y[m]) else merge(x[m], x[m + 1], y[m]) end
    end }
    d.b = task { map = {4}, function(i) local _ = y[i]:get() end }
  end
end, 1, 2)

twins("nobody gets", "no-consumer", function(n)
  return function(d)
    local s = d:stream(i32, {P + 1})
    d.a = task { map = {P}, function(p) s[p]:put(1) end }
    d.b = task { map = {n}, function(p) local _ = s[p]:get() end }
  end
end, P - 1, P)

twins("nobody puts", "no-producer", function(n)
  return function(d)
    local s = d:stream(i32, {P + 1})
    d.a = task { map = {P}, function(p) s[p]:put(1) end }
    d.b = task { map = {n}, function(p) local _ = s[p]:get() end }
  end
end, P + 1, P)

twins("a stream that is not there", "stream-range", function(n)
  return function(d)
    local s = d:stream(i32, {P})
    d.a = task { map = {P}, function(p) if p + 1 < n then s[p + 1]:put(1) end end }
    d.b = task { map = {P - 1}, function(p) local _ = s[p + 1]:get() end }
  end
end, P + 1, P)

twins("two instances that write one element", "race", function(by)
  return function(d)
    d.pe = task { map = {N}, R = i32[N], function(R, p) R[p // by] = i32(p) end }
  end
end, 2, 1)

twins("two instances of a row that write one element", "race", function(by)
  return function(d)
    d.pe = task { map = {N, N}, R = i32[N * N], function(R, p, q) R[p * N + q * by] = i32(q) end }
  end
end, 0, 1)

twins("a read of what another task writes", "race", function(at)
  return function(d)
    d.a = task { R = i32[2 * N], function(R) for i in grid(N) do R[i] = 1 end end }
    d.b = task { R = i32[2 * N], S = i32[1], function(R, S) S[0] = R[at] end }
  end
end, N - 1, N)

twins("a pending sum that is stored", "pending-sum", function(reduced)
  return function(d)
    d.gemm = task { map = {2, 2}, A = i8[8][8]:layout "S1S0", B = i8[8][8]:layout "S0R",
      C = i32[8][8]:layout "S1R",
      function(A, B, C)
        if reduced then C:set(tide.allreduce(tide.matmul(A, B), "+"))
        else C:set(tide.matmul(A, B)) end
      end }
  end
end, false, true)

twins("a constant added to a pending sum", "pending-sum", function(late)
  return function(d)
    d.gemm = task { map = {2}, A = i8[8][8]:layout "RS0", B = i8[8][8]:layout "S0R",
      C = i32[8][8]:layout "RR",
      function(A, B, C)
        if late then C:set(tide.allreduce(tide.matmul(A, B), "+") + 1)
        else C:set(tide.allreduce(tide.matmul(A, B) + 1, "+")) end
      end }
  end
end, false, true)

twins("a maximum of pending sums", "pending-sum", function(op)
  return function(d)
    d.top = task { map = {2}, A = f32[8][8]:layout "RS0", m = f32[8]:layout "R",
      function(A, m) m:set(tide.allreduce(tide.reduce(A, "+", 1), op)) end }
  end
end, "max", "+")

twins("operands that are cut otherwise", "layout-mismatch", function(axis)
  return function(d)
    d.add = task { map = {2, 2}, A = i32[8][8]:layout "S0S1",
      B = i32[8][8]:layout("S" .. axis .. "S" .. 1 - axis), C = i32[8][8]:layout "S0S1",
      function(A, B, C) C:set(i32[4][4](A + B)) end }
  end
end, 1, 0)

twins("what matmul contracts is cut otherwise", "layout-mismatch", function(axis)
  return function(d)
    d.gemm = task { map = {2, 2}, A = i8[8][8]:layout "RS0",
      B = i8[8][8]:layout("S" .. axis .. "R"), C = i32[8][8]:layout "RR",
      function(A, B, C) C:set(tide.allreduce(tide.matmul(A, B), "+")) end }
  end
end, 1, 0)

t.test("an allreduce combines over the axes in which its operand is pending", function()
  local A, B = tide.random(i8[8][8], 1), tide.random(i8[8][8], 2)
  local top = tide.design(function(d)
    d.gemm = task { map = {2, 2, 4}, A = i8[8][8]:layout "S1S0", B = i8[8][8]:layout "S0S2",
      C = i32[8][8]:layout "S1S2",
      function(A, B, C) C:set(tide.allreduce(tide.matmul(A, B), "+")) end }
  end)
  local C = i32[8][8](0)
  top:reference(A, B, C)
  t.ok(C:equal(tide.matmul(A, B)))
end)

-- The parts of a product over axis 0, put through f before they are stored.
local function parts(f)
  return function(d)
    d.gemm = task { map = {2}, A = f32[8][8]:layout "RS0", B = f32[8][8]:layout "S0R",
      C = f32[8][8]:layout "RR", function(A, B, C) C:set(f(A, B)) end }
  end
end

t.test("what acts on each part as on the whole keeps a sum pending", function()
  local matmul, sum = tide.matmul, function(x) return tide.allreduce(x, "+") end
  for _, f in ipairs {
    function(A, B) return sum(matmul(A, B) * 3) end,
    function(A, B) return sum(-matmul(A, B) / 2) end,
    function(A, B) return sum(matmul(A, B) + matmul(A, B)) end,
    function(A, B) return sum(matmul(matmul(A, B), f32[8][8](1))) end,
    function(A, B) return sum(matmul(A, B)) * sum(matmul(A, B)) end,
  } do
    t.eq({tide.design(parts(f)):check()}, {true})
  end
  for _, f in ipairs {
    function(A, B) return sum(matmul(A, B) * matmul(A, B)) end,
    function(A, B) return sum(1 / matmul(A, B)) end,
    function(A, B) return sum(tide.exp(matmul(A, B))) end,
    function(A, B) return sum(tide.max(matmul(A, B), 0)) end,
    function(A, B) return sum(matmul(matmul(A, B), matmul(A, B))) end,
    function(A, B) return sum(matmul(A, B)) + matmul(A, B) end,
  } do
    t.fails(function() tide.design(parts(f)) end, {code = "pending-sum"})
  end
end)

t.test("a pending sum is known in a local, a loop and a kernel that is called", function()
  local add = tide.kernel { x = f32[8][8], y = f32[8][8], function(x, y) y:set(x + y) end }
  local function through(how, whole)
    return function(d)
      d.gemm = task { map = {2}, A = f32[8][8]:layout "RS0", B = f32[8][8]:layout "S0R",
        C = f32[8][8]:layout "RR",
        function(A, B, C)
          local acc, p = f32[8][8](0), tide.matmul(A, B)
          if how == "loop" then
            for _ in grid(2) do acc:set(acc + p) end
          else
            add(p, acc)
          end
          if whole then C:set(tide.allreduce(acc, "+")) else C:set(acc) end
        end }
    end
  end
  for _, how in ipairs {"loop", "call"} do
    local e = t.fails(function() tide.design(through(how, false)) end, {code = "pending-sum"})
    t.eq(e.help, 'write tide.allreduce(acc, "+")')
    t.ok(tide.design(through(how, true)))
  end
end)

twins("slots of a block stream", "deadlock", function(depth)
  return function(d)
    local s = d:stream(i32[N], {depth = depth, block = true})
    d.a = task { function()
      for _ in grid(N) do
        local x, y = s:slot(), s:slot()
        for i in grid(N) do x[i] = 1; y[i] = 2 end
        s:put(x)
        s:put(y)
      end
    end }
    d.b = task { R = i32[N], function(R)
      for _ in grid(2 * N) do
        local x = s:get()
        for i in grid(N) do R[i] = R[i] + x[i] end
      end
    end }
  end
end, 1, 2)

t.test("who waits for a free buffer is told how those there are are used", function()
  local function build(d)
    local s = d:stream(i32[N], {depth = 1, block = true})
    d.a = task { function()
      for _ in grid(N) do
        local x, y = s:slot(), s:slot()
        for i in grid(N) do x[i] = 1; y[i] = 2 end
        s:put(x)
        s:put(y)
      end
    end }
    d.b = task { R = i32[N], function(R)
      for _ in grid(2 * N) do
        local x = s:get()
        for i in grid(N) do R[i] = R[i] + x[i] end
      end
    end }
  end
  local function waits(run)
    local e = t.fails(run, {kind = "illegal", code = "deadlock"})
    for _, note in ipairs(e.notes) do
      if note.message:find "free buffer" then return note.message end
    end
  end
  local used = " waits for a free buffer of s (1 in all: 0 full, 1 taken)"
  t.eq(waits(function() tide.design(build) end), "a" .. used)
  local top = tide.design(build, {check = false})
  t.has(waits(function() top:reference(i32[N](0)) end), used)
  t.eq(waits(function() top:build {target = "cpu"}(i32[N](0)) end),
    "a waits for a free buffer of s (1 in all)")
end)

twins("an allreduce that one instance stays away from", "deadlock", function(last)
  return function(d)
    d.pe = task { map = {P}, R = i32[P]:layout "S0", function(R, p)
      local x = i32[1](1)
      if p <= last then R:set(tide.allreduce(x, "+")) end
    end }
  end
end, P - 2, P - 1)

twins("a design run by tasks of another", "deadlock", function(first)
  local inner = tide.design(function(d)
    local x, y = d:stream(i32, {depth = 1}), d:stream(i32, {depth = 1})
    d.a = task { function()
      if first == "get" then x:put(y:get()) else x:put(1); local _ = y:get() end
    end }
    d.b = task { function() y:put(x:get()) end }
  end, {check = false})
  return function(d) d.half = task { map = {2}, function() inner() end } end
end, "get", "put")

twins("a design whose sizes are scalars of each call", "imbalance", function(more)
  local inner = tide.design(function(d)
    local s, put, got = d:stream(i32), d:arg(i32), d:arg(i32)
    d.a = task { n = put, function(n) for _ in grid(n) do s:put(1) end end }
    d.b = task { m = got, function(m) for _ in grid(m) do local _ = s:get() end end }
  end)
  return function(d)
    d.pe = task { map = {2}, function(p)
      for i in grid(3) do
        if i == 2 then inner(i32(p + i), i32(p + i + more)) else inner(2, 2) end
      end
    end }
  end
end, 1, 0)

t.test("a design without tasks is right", function()
  t.eq({tide.design(function() end):check()}, {true})
end)

t.test("an imbalance tells both counts over sizes, and both lines", function()
  local e = t.fails(function() tide.design(function(d)
    local s = d:stream(f32, {depth = N})
    d.func0 = task { function() for _ = 0, N - 1 do s:put(f32(0)); s:put(f32(1)) end end }
    d.func1 = task { y = f32[N], function(y) for i = 0, N - 1 do y[i] = s:get() end end }
  end) end, {code = "imbalance"})
  t.has(e.message, "stream s is out of balance: func0 puts 2 * N = 8, func1 gets N = 4")
  t.eq({e.notes[1].message, e.notes[2].message}, {"func0 puts here", "func1 gets here"})
  t.eq(e.notes[2].line, e.notes[1].line + 1)
end)

t.test("a deadlock tells the cycle, the fills and the depths that help", function()
  local e = t.fails(function() tide.design(function(d)
    local x, y = d:stream(i32, {depth = 2}), d:stream(i32, {depth = 1})
    d.a = task { function() for _ in grid(5) do x:put(1) end; y:put(1) end }
    d.b = task { function() local _ = y:get(); for _ in grid(5) do local _ = x:get() end end }
  end) end, {code = "deadlock", message = "deadlock: a -> x -> b -> y -> a"})
  t.eq(e.notes[1].message, "a waits to put to x, which holds 2/2")
  t.eq(e.notes[2].message, "b waits to get from y, which holds 0/1")
  t.eq(e.help, "it would run with x of depth 5")
  local f = t.fails(function() tide.design(function(d)
    local x, y = d:stream(i32), d:stream(i32)
    d.a = task { function() x:put(y:get()) end }
    d.b = task { function() y:put(x:get()) end }
  end) end, {code = "deadlock"})
  t.has(f.help, "no depth helps")
end)

t.test("two ends tell both instances and both lines", function()
  local e = t.fails(function() tide.design(function(d)
    local s = d:stream(i32, {2})
    d.a = task { map = {2}, function(p) s[p // 2]:put(1) end }
    d.b = task { function() local _ = s[0]:get(); local _ = s[0]:get() end }
  end) end, {code = "producers"})
  t.has(e.message, "stream s[0] has two producers, a[0] and a[1]")
  t.eq(#e.notes, 2)
end)

t.test("what data decides is left to the run, and said", function()
  local d = tide.design(function(d)
    local x, y = d:stream(i32, {depth = 8}), d:stream(i32, {2, depth = 8})
    d.a = task { A = i32[N], function(A) for i in grid(N) do x:put(A[i]) end end }
    d.split = task { function()
      for _ in grid(N) do
        local v = x:get()
        if v > 0 then y[0]:put(v) else y[1]:put(v) end
      end
    end }
    d.b = task { R = i32[2], function(R)
      for k, _ in grid(2, 2) do R[k] = R[k] + y[k]:get() end
    end }
  end)
  local ok, open = d:check()
  t.eq(ok, true)
  t.has(open, "split")
  local A, R = i32[N](0), i32[2](0)
  for i, v in ipairs {5, -1, -2, 7} do A[i - 1] = v end
  d(A, R)
  t.eq({R[0], R[1]}, {12, -3})
  t.fails(function() A[0] = -1; d(A, R) end, {code = "deadlock"})
end)

t.test("a deadlock beside a task that data decides is still found", function()
  t.fails(function() tide.design(function(d)
    local x, y, z = d:stream(i32), d:stream(i32), d:stream(i32)
    d.a = task { function() x:put(y:get()) end }
    d.b = task { function() y:put(x:get()) end }
    d.c = task { A = i32[1], function(A) if A[0] > 0 then z:put(1) end end }
    d.e = task { function() local _ = z:get() end }
  end) end, {code = "deadlock", message = "deadlock: a -> y -> b -> x -> a"})
end)

t.test("a stream that data picks must be the instance's own", function()
  local function pick(n)
    return function(d)
      local x, y = d:stream(i32, {4}), d:stream(tide.uint(1), {2})
      d.c = task { A = i32[2], map = {2}, function(A, p) y[p]:put(tide.uint(1)(A[p])) end }
      d.a = task { map = {2}, function(p) x[n * p + tide.index(y[p]:get())]:put(1) end }
      d.b = task { map = {4}, function(p) local _ = x[p]:get() end }
    end
  end
  t.fails(function() tide.design(pick(1)) end, {code = "producers"})
  t.ok(tide.design(pick(2)))
end)

t.test("a refused design of {check = false} is refused by its run", function()
  local d = tide.design(function(d)
    local s = d:stream(i32, {depth = 4})
    d.a, d.b = puts(s, 3), gets(s, 2)
  end, {check = false})
  t.fails(function() d() end, {code = "leftover"})
  t.fails(function() tide.design(function() end, {checked = false}) end, {code = "unknown-option"})
end)

-- A G x G array whose PEs get K tokens from above and from the left.
local function array(G, K)
  return tide.design(function(d)
    local A, B = d:stream(i8, {G, G}), d:stream(i8, {G, G})
    d.a = task { map = {G}, function(i) for _ in grid(K) do A[i][0]:put(i8(1)) end end }
    d.b = task { map = {G}, function(j) for _ in grid(K) do B[0][j]:put(i8(1)) end end }
    d.pe = task { map = {G, G}, C = i32[G][G], function(C, i, j)
      local c = i32(0)
      for _ in grid(K) do
        local a, b = A[i][j]:get(), B[i][j]:get()
        c = c + a * b
        if j < G - 1 then A[i][j + 1]:put(a) end
        if i < G - 1 then B[i + 1][j]:put(b) end
      end
      C[i][j] = c
    end }
  end)
end

t.test("the check of a grid is linear in its tasks, and does not see tokens one by one", function()
  local function time(G, K) return t.least_time(function() array(G, K) end) end
  local small = time(32, 256)
  t.ok(time(64, 256) < 10 * small)
  t.ok(time(32, 1 << 20) < 3 * small)
end)

t.done()
