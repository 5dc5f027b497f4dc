-- [slow] hls_dataflow.lua - the rules of docs/hls-dataflow.md: a design that breaks one is refused and told
-- why; its twin, one fact away, is written and computes what it should.
local t = require "tap"
local batch = require "hls_batch"
local tide = require "tide"
local i8, i32, uint = tide.i8, tide.i32, tide.uint
local task, grid, stream = tide.task, tide.grid, tide.stream
local N, P = 4, 2

-- Both twins: build(x), a builder or a program, for the fact x that is wrong, and for the one that
-- is right.
local function twins(name, code, build, wrong, right, says)
  t.test(name .. ": " .. code, function()
    local function design(x)
      local made = build(x)
      return type(made) == "function" and tide.design(made) or made
    end
    local d = design(wrong)
    local e = t.fails(function() d:build {target = "hls"} end, {kind = "unsupported", code = code})
    if says then t.has(tostring(e), says) end
    t.ok(e.help, "it says what helps")
    t.ok(batch.add(name, design(right)))
  end)
end

-- Rule 1: a call passes one stream, a row of an array of them, or a list.
local take = tide.kernel {Z = stream(i32), B = i32[1], function(Z, B) B[0] = B[0] + Z:get() end}
twins("a column of streams for a kernel", "stream-slice", function(direct)
  return function(d)
    local Z = d:stream(i32, {P, N})
    d.a = task {map = {P}, function(p) for k in grid(N) do Z[p][k]:put(i32(p + k)) end end}
    d.b = task {map = {N}, B = i32[N]:layout "S0", function(B, q)
      for k in grid(P) do
        if direct then B[0] = B[0] + Z[k][q]:get() else take(Z[k][q], B) end
      end
    end}
  end
end, false, true, "b is given a part of the streams Z")

twins("a stream that is none where nothing gets it", "stream-slice", function(loose)
  return function(d)
    local Z = d:stream(i32, {P - 1, depth = P})
    d.a = task {map = {P}, B = i32[P]:layout "S0", function(B, p)
      local x = i32(p)
      if loose then
        for k in grid(P) do if k < p then x = x + Z[p - 1]:get() end end
      else
        if p > 0 then for k in grid(P) do if k < p then x = x + Z[p - 1]:get() end end end
      end
      if p < P - 1 then for k in grid(P) do if k <= p then Z[p]:put(x) end end end
      B[0] = x
    end}
  end
end, true, false, "a[0] never comes here, where its index of Z would be -1")

-- Rule 2: a stream has one task at either end, as far as the calls tell. Streams in turn are listed one by one.
twins("streams in turn", "shared-end", function(block)
  return function(d)
    local Z = d:stream(i32[2], {P * N, block = block})
    d.a = task {map = {P}, function(p)
      local b = i32[2](p)
      for k in grid(N) do Z[p + k * P]:put(b) end
    end}
    d.b = task {B = i32[P * N][2], function(B) for k in grid(P * N) do B[k]:set(Z[k]:get()) end end}
  end
end, true, false, "a[0] and a[1] would both put to a stream of Z")

-- What an outlined loop leaves: a kernel that is given all streams, or all of an argument, and an id.
local function handed_on(name, code, build, says)
  twins(name, code, function(leaves)
    return function(d) build(d, leaves) end
  end, true, false, says)
end

handed_on("a kernel that is given all streams", "shared-end", function(d, leaves)
  local Z = d:stream(i32, {P, 3})
  local scale = tide.tensor(i32[3], {3, -1, 2})
  local fill = tide.kernel {Z = stream(i32)[P][3], A = i32[P][N], p = tide.index, function(Z, A, p)
    local last = A[p][N - 1]
    for k in grid(3) do
      if leaves and last == 77 then return end
      Z[p][k]:put(A[p][k] * scale[k] + last)
    end
  end}
  local through = tide.kernel {Z = stream(i32)[P][3], A = i32[P][N], p = tide.index, function(Z, A, p)
    fill(Z, A, p)
  end}
  d.a = task {map = {P}, A = i32[P][N], function(A, p) through(Z, A, p) end}
  d.b = task {map = {P}, B = i32[P][3], function(B, p)
    for k in grid(3) do B[p][k] = Z[p][k]:get() end
  end}
end, "a[0] and a[1] would both put to a stream of Z")

handed_on("a kernel that is given all that tasks write", "shared-write", function(d, leaves)
  local double = tide.kernel {A = i32[P][N], B = i32[P][N], p = tide.index, first = i32, function(A, B, p, first)
    for k in grid(N) do
      if leaves and first == 77 then return end
      B[p][k] = A[p][k] * 2 + first
    end
  end}
  d.a = task {map = {P}, A = i32[P][N], B = i32[P][N], function(A, B, p) double(A, B, p, A[p][0]) end}
end, "a[0] and a[1] both write in B")

t.test("what a loop that was outlined before it was unfolded leaves", function()
  local k = tide.kernel {name = "sums", A = i8[P][N], B = i8[N][P], C = i32[P][P], function(A, B, C)
    for i, j in grid(P, P, "pe") do
      for k in tide.reduction(N) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
  local s = tide.schedule(k)
  s:outline("k", "dot")
  s:unfold("pe", {0, 1})
  t.has(tostring(s), "dot(C, i, j, A, B)")
  t.eq(s:verify(), "strict")
  t.ok(batch.add("outlined", s))
end)

-- Partners are chosen by a bit of the id: each stream has one task at either end, in no box of its own.
local function butterfly(form)
  local S, Q = 3, 8
  return tide.design(function(d)
    local Z = d:stream(i32, form == "flat" and {S * Q} or {S, Q})
    local bit = tide.tensor(i8[S], {1, 2, 4})
    d.sum = task {map = {Q}, A = i32[Q]:layout "S0", function(A, p)
      for s = 0, S - 1 do
        if form == "flat" then
          Z[s * Q + (p ~ (1 << s))]:put(A[0])
          A[0] = A[0] + Z[s * Q + p]:get()
        elseif form == "table" then
          Z[s][p ~ bit[s]]:put(A[0])
          A[0] = A[0] + Z[s][p]:get()
        elseif form == "back" then
          for e = 3 * (S - 1), 0, -3 do
            if e == 3 * s then Z[e // 3][(p + 1 + e // 3) % Q]:put(A[0]) end
          end
          A[0] = A[0] + Z[s][p]:get()
        else
          local q = p ~ (1 << s)
          Z[s][q]:put(A[0])
          A[0] = A[0] + Z[s][p]:get()
        end
      end
    end}
  end)
end

t.test("streams of a butterfly are listed one by one", function()
  for _, form in ipairs {"plain", "flat", "table", "back"} do
    local d = butterfly(form)
    local m = batch.add("butterfly", d)
    t.has(m.source, "tide::write_of(")
    t.has(m.source, 'TIDE_TASK("sum[7]", sum)(Z')
    local A, want = tide.random(i32[8], 1), 0
    for p = 0, 7 do want = want + A[p] end
    d(A)
    for p = 0, 7 do t.ok(form == "back" or A[p] == i32(want)) end
  end
end)

-- Rule 3: a channel joins two tasks; tokens that a task keeps for itself are a stream of its own.
twins("a task that feeds itself blocks", "self-stream", function(block)
  return function(d)
    local Z = d:stream(i32[N], {block = block})
    d.a = task {A = i32[N], B = i32[N], function(A, B)
      Z:put(A)
      local b = Z:get()
      for k in grid(N) do B[k] = b[k] + 1 end
    end}
  end
end, true, false, "they go from task to task")

-- Rule 4: an element of an argument is stored by one task.
twins("elements written in turn", "shared-write", function(turn)
  return function(d)
    d.a = task {map = {P}, R = i32[P * N], function(R, p)
      for k in grid(N) do R[k * P + (p + turn * k) % P] = i32(k) end
    end}
  end
end, 1, 0, "a[0] and a[1] both write in R")

t.test("a short block at the end has one function more, however many instances there are", function()
  for _, n in ipairs {4, 32} do
    local m = batch.add("a short block of " .. n, tide.design(function(d)
      d.a = task {map = {n}, R = i32[8 * n - 3], function(R, p)
        for i = 8 * p, tide.min(8 * p + 8, 8 * n - 3) - 1 do R[i] = R[i] + p end
      end}
    end))
    local _, bodies = m.source:gsub("static void a[_%d]*%(", "")
    t.eq(bodies, 2)
  end
end)

-- Blocks of up to 16 sizes: a function for the instances of each.
twins("a triangle written row by row", "shared-write", function(rows)
  return function(d)
    d.a = task {map = {rows}, R = i32[153], function(R, p)
      for k in grid(p + 1) do R[p * (p + 1) // 2 + k] = i32(k) end
    end}
  end
end, 17, 16,
  "a[0] and a[1] both write in R, in parts that no box around each tells apart: their boxes are of several sizes")

-- Where blocks begin may be any function of the ids that the indices say.
t.test("blocks of tiles that one id counts", function()
  local m = batch.add("one id for two dimensions", tide.design(function(d)
    d.a = task {map = {6}, A = i32[4][9], B = i32[4][9], function(A, B, t)
      for r, c in grid(2, 3) do
        B[t // 3 * 2 + r][t % 3 * 3 + c] = A[t // 3 * 2 + 1 - r][t % 3 * 3 + c] + A[t // 3 * 2][t % 3 * 3]
      end
    end}
    d.b = task {map = {6}, C = i32[2][3], function(C, t) C[t // 3][t % 3] = C[t // 3][t % 3] + t end}
  end))
  t.has(m.source, "ap_int<32> A[2][3];")
  t.has(m.source, "ap_int<32> C[1][1];")
end)

-- Rule 5: a task that works on a block hands it back at its end: no loop is left by a return.
twins("a task that returns", "early-return", function(loop)
  return function(d)
    d.a = task {map = {P}, A = i32[P]:layout "S0", B = i32[P]:layout "S0", function(A, B)
      if loop then
        for _ in grid(N) do
          if A[0] > 3 then return end
          B[0] = B[0] + A[0]
        end
      else
        if A[0] > 3 then return end
        for _ in grid(N) do B[0] = B[0] + A[0] end
      end
    end}
  end
end, true, false)

t.test("returns in arms of arms, whose blocks are handed back", function()
  local d = tide.design(function(d)
    d.a = task {map = {8}, A = i32[8]:layout "S0", B = i32[8]:layout "S0", function(A, B, p)
      B[0] = 1
      if A[0] > 0 then
        if A[0] > 40 then return end
        B[0] = B[0] + 10
        do
          local twice = A[0] * 2
          if twice > 40 then B[0] = twice return else B[0] = B[0] + 100 end
        end
        B[0] = B[0] + 1000
      else
        if p > 4 then B[0] = p end
        return
      end
      B[0] = B[0] + 10000
    end}
  end)
  t.ok(batch.add("returns", d))
  t.ok(not d:build {target = "hls"}.source:find "return;")
end)

-- Rule 6: a design that a task runs is a region of its own: it is given whole arrays or rows.
local chain = tide.design(function(d)
  local Z = d:stream(i32)
  d.a = task {A = i32[N], function(A) for k in grid(N) do Z:put(A[k]) end end}
  d.b = task {B = i32[N], function(B) for k in grid(N) do B[k] = Z:get() + 1 end end}
end)
twins("a column for a design", "view-of-design", function(row)
  return function(d)
    d.a = task {A = i32[N][N], B = i32[N][N], function(A, B)
      if row then chain(A[1], B[2]) else chain(A:slice({}, 1), B[2]) end
    end}
  end
end, false, true)

-- Rule 7: state belongs to a task of the outermost region.
local function counting(inside, through_kernel)
  local kernel = through_kernel == true
  local count = tide.state(i32[1], 5)
  local add = tide.kernel {A = i32[1], function(A)
    count[0] = count[0] + 1
    A[0] = A[0] + count[0]
  end}
  local inner = tide.design(function(d)
    d.a = task {A = i32[1], function(A) if inside then add(A) else A[0] = A[0] + 1 end end}
  end)
  local through = tide.kernel {A = i32[1], function(A) inner(A) end}
  return function(d)
    d.half = task {map = {P}, A = i32[P]:layout "S0", function(A)
      if kernel then through(A) else inner(A) end
      if not inside then add(A) end
    end}
  end
end
twins("state of a design that a task runs", "inner-state", counting, true, false)
twins("the same through a kernel", "inner-state", function(inside)
  return counting(inside, true)
end, true, false)

twins("of a design that two kernels call", "inner-state", function(both)
  local count = tide.state(i32[1], 5)
  local inner = tide.design(function(d)
    d.a = task {A = i32[1], function(A)
      count[0] = count[0] + 1
      A[0] = A[0] + count[0]
    end}
  end)
  local first = tide.kernel {A = i32[1], function(A) inner(A) end}
  local second = tide.kernel {A = i32[1], function(A)
    if both then inner(A) else first(A) end
  end}
  return tide.kernel {A = i32[2][1], function(A)
    if both then first(A[0]) else second(A[0]) end
    second(A[1])
  end}
end, true, false)

t.test("states of one name are several, of tasks, designs and kernels", function()
  local function named(by)
    local sum = tide.state(i32[1], by)
    return tide.design(function(d)
      d.take = task {map = {2}, A = i32[2]:layout "S0", function(A)
        sum[0] = sum[0] * by + A[0]
        A[0] = sum[0]
      end}
      d.more = task {B = i32[1], function(B)
        sum[0] = sum[0] + by
        B[0] = sum[0]
      end}
    end)
  end
  local first, second = named(2), named(3)
  t.ok(batch.add("states", tide.kernel {A = i32[2][2], B = i32[2][1], function(A, B)
    first(A[0], B[0])
    second(A[1], B[1])
    first(A[1], B[1])
  end}))
end)

-- Rule 8: a region calls at most 16384 tasks.
twins("a grid of many tasks", "instances", function(n)
  return function(d)
    d.a = task {map = {n, n}, C = i32[n][n], function(C, i, j) C[i][j] = C[i][j] + 1 end}
  end
end, 130, 3)

-- Rule 9: instances meet in an allreduce of the task itself.
local meet = tide.kernel {x = i32[1], function(x) x:set(tide.allreduce(x, "+")) end}
twins("an allreduce in a kernel that a task calls", "collective", function(itself)
  return function(d)
    d.a = task {map = {P}, x = i32[P]:layout "S0", function(x)
      if itself then x:set(tide.allreduce(x, "+")) else meet(x) end
    end}
  end
end, false, true)

t.test("what is accepted because it has a form that calls can pass", function()
  local function design(build)
    local d = tide.design(build)
    t.ok(batch.add("accepted", d))
    return d:build {target = "hls"}.source
  end
  -- The other order of dimensions is the declaration's: the ids come first.
  t.has(design(function(d)
    local Z = d:stream(i32, {N, P})
    d.a = task {map = {P}, function(p) for k in grid(N) do Z[k][p]:put(i32(p + k)) end end}
    d.b = task {B = i32[N][P], function(B) for k, p in grid(N, P) do B[k][p] = Z[k][p]:get() end end}
  end), "hls::stream<ap_int<32>, 2> Z[2][4];")
  -- A part of a dimension is a digit of it.
  t.has(design(function(d)
    local x, y = d:stream(i32, {4}), d:stream(uint(1), {2})
    d.c = task {A = i32[2], map = {2}, function(A, p) y[p]:put(uint(1)(A[p])) end}
    d.a = task {map = {2}, function(p)
      local at = tide.index(y[p]:get())
      x[2 * p + at]:put(1)
      x[2 * p + 1 - at]:put(2)
    end}
    d.b = task {map = {4}, B = i32[4]:layout "S0", function(B, p) B[0] = x[p]:get() end}
  end), "hls::stream<ap_int<32>, 2> x[2][2];")
  -- Streams that cross are listed.
  t.has(design(function(d)
    local Z = d:stream(i8, {P, N})
    d.a = task {map = {P}, function(p) for k in grid(N) do Z[p][k]:put(i8(p + k)) end end}
    d.b = task {map = {N}, B = i8[N]:layout "S0", function(B, q)
      for k in grid(P) do B[0] = B[0] + Z[k][q]:get() end
    end}
  end), "tide::read_of(k, Z_0, Z_1)")
  -- A task's own tokens are a stream of its own, as deep as it was.
  t.has(design(function(d)
    local Z = d:stream(i32, {depth = N})
    d.a = task {B = i32[N], function(B)
      for k in grid(N) do Z:put(i32(k)) end
      for k in grid(N) do B[k] = Z:get() end
    end}
  end), "hls::stream<ap_int<32>, 4> Z;")
end)

t.test("the kind of FIFO that a stream asks for", function()
  local d = tide.design(function(d)
    local Z = d:stream(i32, {2, depth = 8}) --@ impl(srl)
    d.a = task {function() Z[1]:put(3) end}
    d.b = task {B = i32[1], function(B) B[0] = Z[1]:get() end}
  end)
  t.has(d:build {target = "hls"}.source,
    "Z[2];\n  #pragma HLS bind_storage variable=Z type=fifo impl=srl")
end)

-- Rule 10: extents have values.
twins("a length that no call has given", "unbound-size", function(open)
  local n = open and tide.size "n" or N
  return function(d)
    local z = d:stream(i32)
    d.a = task {A = i32[n], function(A) for k in grid(n) do z:put(A[k]) end end}
    d.b = task {B = i32[n], function(B) for k in grid(n) do B[k] = z:get() + 1 end end}
  end
end, true, false, "give every size a value")

-- Rule 11: buffers do not lead back.
twins("a ring of blocks", "block-feedback", function(block)
  return function(d)
    local x, y = d:stream(i32[N], {block = block}), d:stream(i32[N], {block = block})
    d.a = task {A = i32[N], function(A)
      x:put(A)
      local back = y:get()
      for k in grid(N) do A[k] = back[k] end
    end}
    d.b = task {function()
      local b = x:get()
      local c = i32[N](0)
      for k in grid(N) do c[k] = b[k] + 1 end
      y:put(c)
    end}
  end
end, true, false, "leads back to an earlier task")

-- Rule 12: a region declares its streams.
twins("a design on streams of its caller", "no-streams", function(design)
  local one = tide.kernel {X = stream(i32), Y = stream(i32), function(X, Y)
    for _ in grid(N) do Y:put(X:get() + 1) end
  end}
  local part = design and tide.design(function(d)
    local X, Y = d:arg(stream(i32)), d:arg(stream(i32))
    d.a = task {X = X, Y = Y, function(X, Y) one(X, Y) end}
  end) or one
  return function(d)
    local x, y = d:stream(i32), d:stream(i32)
    d.a = task {A = i32[N], function(A) for k in grid(N) do x:put(A[k]) end end}
    d.b = task {function() part(x, y) end}
    d.c = task {B = i32[N], function(B) for k in grid(N) do B[k] = y:get() end end}
  end
end, true, false, "takes streams from outside")

-- Rule 13: copies of a block are equal, whoever stores it.
t.test("copies that are written: copies-differ", function()
  local function design(differ)
    return tide.design(function(d)
      d.a = task {map = {P}, A = i32[N]:layout "R", B = i32[N]:layout "R", function(A, B, p)
        for k in grid(N) do B[k] = A[k] * 2 end
        if differ then B[0] = B[0] + p end
      end}
    end)
  end
  local e = t.fails(function() design(true):build {target = "hls"} end, {kind = "illegal", code = "copies-differ"})
  t.ok(e.help, "it says what helps")
  t.ok(batch.add("copies", design(false)))
end)

t.test("a stream that leads back is said", function()
  local function ring(back)
    local d = tide.design(function(d)
      local x, y = d:stream(i32), d:stream(i32)
      d.a = task {A = i32[N], function(A)
        for k in grid(N) do
          x:put(A[k])
          if back then A[k] = y:get() end
        end
      end}
      d.b = task {B = i32[N], function(B)
        for k in grid(N) do
          B[k] = x:get()
          if back then y:put(B[k] * 2) end
        end
      end}
    end)
    t.ok(batch.add("ring", d))
    return d:build {target = "hls"}.source
  end
  t.has(ring(true), "// feedback: y; ")
  t.ok(not ring(false):find "feedback")
end)

t.test("a depth bug shows in the simulation, and what is left over", function()
  local function top(depth, last)
    return tide.design(function(d)
      local x, y = d:stream(i32, {2, depth = depth}), d:stream(i32, {depth = 1})
      d.a = task {function()
        for _ in grid(N) do x[1]:put(1) end
        for _ in grid(N) do y:put(1) end
      end}
      d.b = task {R = i32[1], function(R)
        for _ in grid(last) do R[0] = R[0] + y:get() + x[1]:get() end
      end}
    end, {check = false}):build {target = "hls"}
  end
  local R = i32[1](0)
  top(N, N)(R)
  t.eq(R[0], 2 * N)
  local e = t.fails(function() top(N - 1, N)(R) end, {kind = "illegal", code = "deadlock"})
  t.eq(e.notes[1].message, "task a waits to write stream x[1] (fill 3 of 3)")
  t.eq(e.notes[2].message, "task b waits to read stream y (fill 0 of 1)")
  e = t.fails(function() top(N, N - 1)(R) end, {kind = "illegal", code = "leftover"})
  t.eq(e.notes[1].message, "stream x[1] holds 1 of 4 tokens")
end)

batch.test()
t.done()
