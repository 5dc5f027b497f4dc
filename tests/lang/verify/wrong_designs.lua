-- wrong_designs.lua - designs a token, a depth or an order away from right ones (Dato, 3.3, Fig. 5): each is refused
-- when it is made, with the stream, both tasks, the counts or the cycle, and lines; its twin runs, in both tiers alike.
local t = require "tap"
local tide = require "tide"
local i8, i32, task, grid, stream = tide.i8, tide.i32, tide.task, tide.grid, tide.stream
local N, P = 6, 3

local counts = {token = 0, depth = 0, order = 0}

-- away: what build(wrong) and build(right) differ by; says: what the refusal of the wrong one must hold.
local function twins(away, name, build, wrong, right, ...)
  local says = {...}
  counts[away] = counts[away] + 1
  t.test(away .. ": " .. name, function()
    local code = away == "token" and "imbalance" or "deadlock"
    local e = t.fails(function() tide.design(build(wrong)) end, {kind = "illegal", code = code})
    for _, x in ipairs(says) do t.has(e.message, x) end
    t.ok(#e.notes >= (name:find "itself" and 1 or 2), "a note for either task")
    t.ok(e.notes[1].line > 0 and e.line > 0, "with lines")
    local d = tide.design(build(right))
    t.eq({d:check()}, {true})
    local A, B = tide.random(i32[N], 1), i32[N](0)
    local C = i32[N](0)
    d:reference(A, B)
    d(A, C)
    t.ok(B:equal(C), "both tiers alike")
  end)
end

-- Tasks at both ends of what `body` does with A and B.
local function ends(put, get, options, T)
  return function(d)
    local s = d:stream(T or i32, options)
    d.a = task {A = i32[N], function(A) put(s, A) end}
    d.b = task {B = i32[N], function(B) get(s, B) end}
  end
end
local function put_all(s, A) for i in grid(N) do s:put(A[i]) end end
local function get_all(s, B) for i in grid(N) do B[i] = s:get() end end

-- ---- a token ----

twins("token", "one put more", function(n)
  return ends(function(s, A) for i in grid(n) do s:put(A[i % N]) end end, get_all)
end, N + 1, N, "stream s", "a puts n = 7", "b gets N = 6")
twins("token", "one get more", function(n)
  return ends(put_all, function(s, B) for i in grid(n) do B[i % N] = s:get() end end)
end, N + 1, N, "stream s", "a puts N = 6", "b gets n = 7")
twins("token", "twice in each turn", function(n)
  return ends(function(s, A) for i in grid(N) do for _ in grid(n) do s:put(A[i]) end end end, get_all)
end, 2, 1, "stream s", "12", "6")
twins("token", "one before the loop", function(from)
  return ends(function(s, A) s:put(A[0]) for i = from, N - 1 do s:put(A[i]) end end, get_all)
end, 0, 1, "stream s", "7", "6")
twins("token", "a triangle", function(n)
  return ends(function(s, A) for i in grid(4) do for k in grid(i) do s:put(A[k]) end end end,
    function(s, B) for i in grid(n) do B[i] = s:get() end end)
end, N - 1, N, "stream s", "6", "5")
twins("token", "a guard on the variable", function(first)
  return ends(function(s, A) for i in grid(N) do if i >= first then s:put(A[i]) end end end,
    function(s, B) for i in grid(N - 1) do B[i] = s:get() end end)
end, 2, 1, "stream s", "4", "5")
twins("token", "arms of a condition on data", function(n)
  return ends(function(s, A)
    for i in grid(N) do if A[i] > 0 then s:put(A[i]) else for _ in grid(1) do s:put(-A[i]) end end end
    for _ in grid(n) do if A[0] > 0 then s:put(1) else s:put(2) end end
  end, get_all)
end, 1, 0, "stream s", "7", "6")
twins("token", "a while loop whose counter is known", function(n)
  return ends(function(s, A)
    local k = i32(0)
    while k < n do
      s:put(A[k % N])
      k = k + 1
    end
  end, get_all)
end, N - 1, N, "stream s", "5", "6")
twins("token", "tensors", function(n)
  return ends(function(s, A) for i in grid(n) do s:put(A:slice({2 * (i % 3), 2 * (i % 3) + 2})) end end,
    function(s, B) for i in grid(N // 2) do B:slice({2 * i, 2 * i + 2}):set(s:get()) end end, {}, i32[2])
end, N // 2 + 1, N // 2, "stream s", "4", "3")
local send = tide.kernel {s = stream(i32), A = i32[N], n = i32, function(s, A, n)
  for i in grid(n) do s:put(A[i % N]) end
end}
twins("token", "a kernel that takes the end", function(n)
  return ends(function(s, A) send(s, A, n) end, get_all)
end, N + 1, N, "stream s", "7", "6")
twins("token", "one instance of three", function(last)
  return function(d)
    local s = d:stream(i32, {P})
    d.a = task {map = {P}, A = i32[N]:layout "S0", function(A, p)
      for i in grid(2) do s[p]:put(A[i]) end
      if p == last then s[p]:put(1) end
    end}
    d.b = task {map = {P}, B = i32[N]:layout "S0", function(B, p) for i in grid(2) do B[i] = s[p]:get() end end}
  end
end, P - 1, P, "stream s[2]", "a[2] puts 3", "b[2] gets 2")

-- ---- a depth ----

twins("depth", "all of one stream before the other", function(depth)
  return function(d)
    local x, y = d:stream(i32, {depth = depth}), d:stream(i32, {depth = 1})
    d.a = task {A = i32[N], function(A) put_all(x, A) put_all(y, A) end}
    d.b = task {B = i32[N], function(B) for i in grid(N) do B[i] = y:get() - x:get() * 2 end end}
  end
end, N - 1, N, "a -> x -> b -> y -> a")
twins("depth", "a path that lags behind another", function(depth)
  return function(d)
    local x, y, z = d:stream(i32, {depth = depth}), d:stream(i32, {depth = 1}), d:stream(i32, {depth = 1})
    d.a = task {A = i32[N], function(A) for i in grid(N) do y:put(A[i]) x:put(A[i]) end end}
    d.sum = task {function()
      for _ in grid(N // 3) do
        local u, v, w = y:get(), y:get(), y:get()
        z:put(u + v + w)
      end
    end}
    d.b = task {B = i32[N], function(B)
      for i in grid(N // 3) do
        local all = z:get()
        for k in grid(3) do B[3 * i + k] = all - x:get() end
      end
    end}
  end
end, 1, 2, "a -> x -> b -> z -> sum -> y -> a")
twins("depth", "a ring that is three ahead", function(depth)
  return function(d)
    local x, y = d:stream(i32, {depth = 1}), d:stream(i32, {depth = depth})
    d.a = task {A = i32[N], B = i32[N], function(A, B)
      for i in grid(4) do x:put(A[i]) end
      for i in grid(N - 4) do
        B[i] = y:get()
        x:put(A[i + 4])
      end
      for i in grid(4) do B[N - 4 + i] = y:get() end
    end}
    d.b = task {function() for _ in grid(N) do y:put(x:get() + 1) end end}
  end
end, 1, 2, "x")
twins("depth", "two buffers of a block stream at once", function(depth)
  return function(d)
    local s = d:stream(i32[2], {depth = depth, block = true})
    d.a = task {A = i32[N], function(A)
      local x, y = s:slot(), s:slot()
      for i in grid(2) do
        x[i] = A[i]
        y[i] = A[i + 2]
      end
      s:put(x)
      s:put(y)
    end}
    d.b = task {B = i32[N], function(B)
      for n in grid(2) do
        local x = s:get()
        for i in grid(2) do B[2 * n + i] = x[i] end
      end
    end}
  end
end, 1, 2, "a")
twins("depth", "halves that are taken in turn", function(depth)
  return function(d)
    local s = d:stream(i32, {2, depth = depth})
    d.a = task {A = i32[N], function(A) for h, i in grid(2, N // 2) do s[h]:put(A[h * (N // 2) + i]) end end}
    d.b = task {B = i32[N], function(B)
      for i in grid(N // 2) do
        B[2 * i] = s[0]:get()
        B[2 * i + 1] = s[1]:get()
      end
    end}
  end
end, 1, 2, "a -> s[0] -> b -> s[1] -> a")
twins("depth", "tokens that are tensors", function(depth)
  return function(d)
    local x, y = d:stream(i32[2], {depth = depth}), d:stream(i8, {depth = 1})
    d.a = task {A = i32[N], function(A)
      for i in grid(N // 2) do x:put(A:slice({2 * i, 2 * i + 2})) end
      y:put(i8(A[0]))
    end}
    d.b = task {B = i32[N], function(B)
      local by = y:get()
      for i in grid(N // 2) do B:slice({2 * i, 2 * i + 2}):set(x:get() * by) end
    end}
  end
end, N // 2 - 1, N // 2, "a -> x -> b -> y -> a")

-- ---- an order ----

twins("order", "a ring that gets first", function(first)
  return function(d)
    local x, y = d:stream(i32, {depth = 1}), d:stream(i32, {depth = 1})
    d.a = task {A = i32[N], B = i32[N], function(A, B)
      for i in grid(N) do
        if first == "get" then B[i] = y:get() end
        x:put(A[i])
        if first == "put" then B[i] = y:get() end
      end
    end}
    d.b = task {function() for _ in grid(N) do y:put(x:get() * 3) end end}
  end
end, "get", "put", "a -> y -> b -> x -> a")
twins("order", "two gets", function(swap)
  return function(d)
    local x, y = d:stream(i32, {depth = 1}), d:stream(i32, {depth = 1})
    d.a = task {A = i32[N], function(A) for i in grid(N // 2) do x:put(A[i]) x:put(A[i + 3]) y:put(A[i]) end end}
    d.b = task {B = i32[N], function(B)
      for i in grid(N // 2) do
        local late = i32(0)
        if swap then late = y:get() end
        B[i] = x:get() - x:get()
        if not swap then late = y:get() end
        B[i + 3] = late
      end
    end}
  end
end, true, false, "a -> x -> b -> y -> a")
twins("order", "two puts", function(swap)
  return function(d)
    local x, y = d:stream(i32, {depth = 2}), d:stream(i32, {depth = 2})
    d.a = task {A = i32[N], function(A)
      if swap then put_all(x, A) put_all(y, A) else put_all(y, A) put_all(x, A) end
    end}
    d.b = task {B = i32[N], function(B) get_all(y, B) for i in grid(N) do B[i] = B[i] - x:get() end end}
  end
end, true, false, "a -> x -> b -> y -> a")
twins("order", "neighbours that exchange", function(first)
  return function(d)
    local s = d:stream(i32, {2, depth = 1})
    d.pe = task {map = {2}, A = i32[N]:layout "S0", B = i32[N]:layout "S0", function(A, B, p)
      for i in grid(N // 2) do
        if p < first then s[p]:put(A[i]) end
        B[i] = s[1 - p]:get()
        if p >= first then s[p]:put(A[i]) end
      end
    end}
  end
end, 0, 1, "pe[0]", "pe[1]")
twins("order", "a chain closed on itself", function(starts)
  return function(d)
    local s = d:stream(i32, {P, depth = 1})
    d.pe = task {map = {P}, A = i32[N]:layout "S0", B = i32[N]:layout "S0", function(A, B, p)
      if p == starts then
        s[(p + 1) % P]:put(A[0])
        B[0] = s[p]:get()
      else
        B[0] = s[p]:get()
        s[(p + 1) % P]:put(A[0] + B[0])
      end
    end}
  end
end, P, 0, "pe[0]", "pe[1]", "pe[2]")
twins("order", "an answer before its question", function(swap)
  return function(d)
    local ask, answer = d:stream(i32), d:stream(i32)
    d.client = task {B = i32[N], function(B)
      for i in grid(N) do
        if swap then B[i] = answer:get() end
        ask:put(i32(N - 1 - i))
        if not swap then B[i] = answer:get() end
      end
    end}
    d.memory = task {A = i32[N], function(A) for _ in grid(N) do answer:put(A[ask:get() % N]) end end}
  end
end, true, false, "client -> answer -> memory -> ask -> client")
twins("order", "a get before an allreduce", function(early)
  return function(d)
    local s = d:stream(i32, {depth = 1})
    d.pe = task {map = {2}, A = i32[N]:layout "S0", B = i32[N]:layout "S0", function(A, B, p)
      if early and p == 1 then B[0] = s:get() end
      local sum = tide.allreduce(A, "+")
      B:set(i32[N // 2](sum))
      if p == 0 then s:put(A[0]) end
      if not early and p == 1 then B[0] = s:get() end
    end}
  end
end, true, false, "pe[")

t.test("twenty of them, of all kinds", function()
  t.ok(counts.token + counts.depth + counts.order >= 20)
  for _, n in pairs(counts) do t.ok(n >= 6) end
end)

t.done()
