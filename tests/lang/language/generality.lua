-- The tests of generality of the IR, by the numbers of tests/acceptance.md. 2 is tests/unit/num_test.c, 13 and the
-- network model of 14 are unit tests too.
local tide = require "tide"
local t = require "tap"
local shell = require "shell"
local p = require "programs"
local i8, i32, index, grid = tide.i8, tide.i32, tide.index, tide.grid

local function gemm_of(M, N, K)
  local gemm = tide.kernel {A = i8[M][K], B = i8[K][N], C = i32[M][N], function(A, B, C)
    for i, j in grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
  return gemm
end

-- A schedule's step refused as illegal; its error.
local function refused(s, code, ...)
  local args = table.pack(...)
  return t.fails(function() s[args[1]](s, table.unpack(args, 2, args.n)) end,
    {kind = "illegal", code = code})
end

local function capture_refused(code, spec)
  return t.fails(function() tide.kernel(spec) end, {code = code})
end

t.test("3: sizes keep their names, take other values, and are assumed to divide", function()
  local gemm = gemm_of(8, 16, 24)
  local text = tostring(gemm)
  for _, name in ipairs {"M", "N", "K"} do t.has(text, name .. " - 1") end
  p.foreign(gemm:at {M = 7, N = 5, K = 9}, tide.random(i8[7][9], 1), tide.random(i8[9][5], 2), i32[7][5](0))
  local s = tide.schedule(gemm)
  s:split("k", 8, {tail = "perfect"})
  t.has(tostring(s), "tide.assume(K % 8 == 0)")
  local again = load(tostring(s))()
  p.foreign(again:at {K = 16}, tide.random(i8[8][16], 1), tide.random(i8[16][16], 2), i32[8][16](0))
  t.fails(function() again:at {K = 9} end, {kind = "illegal", code = "assume"})
end)

t.test("4: sizes without values, a triangle: bounds proved, reorder decided for all", function()
  local I, J = tide.size "I", tide.size "J"
  local tri = tide.kernel {A = i32[I][J], B = i32[I][J], function(A, B)
    tide.assume(I <= J)
    for i = 0, I - 1 do
      for j = 0, i do B[i][j] = B[i][j] + A[i][j] * 2 end
    end
  end}
  local s = tide.schedule(tri)
  s:reorder("j", "i")
  for _, z in ipairs {{1, 1}, {3, 5}, {6, 6}} do
    local A, B = tide.random(i32[z[1]][z[2]], 1), tide.random(i32[z[1]][z[2]], 2)
    local C = B:copy()
    tri(A, B)
    s(A, C)
    t.ok(B:equal(C))
  end
  capture_refused("index-range", {A = i32[I][J], function(A)
    for i = 0, I do for j = 0, J - 1 do A[i][j] = 0 end end
  end})
end)

t.test("5: a tensor declared in a loop is private to the iteration", function()
  local function scratch(inside)
    local k = inside and tide.kernel {A = i32[4][8], B = i32[4], function(A, B)
      for i = 0, 3 do
        local s = i32[8]()
        for j = 0, 7 do s[j] = A[i][j] * 2 end
        for j = 0, 7 do B[i] = B[i] + s[7 - j] end
      end
    end} or tide.kernel {A = i32[4][8], B = i32[4], function(A, B)
      local s = i32[8]()
      for i = 0, 3 do
        for j = 0, 7 do s[j] = A[i][j] * 2 end
        for j = 0, 7 do B[i] = B[i] + s[7 - j] end
      end
      B[0] = B[0] + s[0]
    end}
    return k
  end
  local s = tide.schedule(scratch(true))
  s:parallel "i"
  t.eq(s:verify(), "strict")
  local e = refused(tide.schedule(scratch(false)), nil, "parallel", "i")
  t.ok(e.witness.first.at ~= e.witness.second.at, tostring(e))
  local early = tide.kernel {B = i32[8], function(B)
    local s = i32[8]()
    for i = 0, 7 do B[i] = s[i] end
  end}
  local fault = t.fails(function() early:reference(i32[8](0)) end, {kind = "illegal"})
  t.has(tostring(fault), "for i = 0, 7 do B[i] = s[i] end")
end)

t.test("6: one array passed twice: read, yes; written, no; views by what they share", function()
  local add = tide.kernel {x = i32[4], y = i32[4], z = i32[4], function(x, y, z)
    for i = 0, 3 do z[i] = x[i] + y[i] end
  end}
  p.same(tide.kernel {A = i32[4], B = i32[4], function(A, B) add(A, A, B) end},
    tide.random(i32[4], 1), i32[4](0))
  capture_refused("overlap", {A = i32[4], B = i32[4], function(A, B) add(A, B, A) end})
  p.same(tide.kernel {A = i32[12], function(A)
    add(A:slice {0, 4}, A:slice {4, 8}, A:slice {8, 12})
  end}, tide.random(i32[12], 1))
  capture_refused("overlap", {A = i32[12], function(A)
    add(A:slice {0, 4}, A:slice {2, 6}, A:slice {5, 9})
  end})
end)

t.test("7: data-dependent indices, while, break and return stay one statement", function()
  local gather = tide.kernel {x = i32[8], col = index[8], y = i32[6], function(x, col, y)
    for i = 0, 5 do
      for j = 0, 7 do y[i] = y[i] + x[col[j]] end
    end
  end}
  local col = tide.tensor(index[8], {3, 1, 4, 1, 5, 0, 2, 6})
  p.same(gather, tide.random(i32[8], 1), col, i32[6](0))
  local s = tide.schedule(gather)
  s:split("i", 4)
  s:split("j", 3)
  t.eq(s:verify(), "strict")
  t.eq(s:verify {concrete = {"col"}}, "strict")
  t.eq(s:verify {concrete = {col = col}}, "strict")
  local scatter = tide.kernel {x = i32[8], col = index[8], y = i32[8], function(x, col, y)
    for i = 0, 5 do
      for j = 0, 7 do y[col[j]] = x[j] + i end
    end
  end}
  local e = refused(tide.schedule(scatter), nil, "reorder", "j", "i")
  t.has(tostring(e), "y[col[j]]")
  local level, verdict = tide.schedule(scatter):verify()
  t.eq(level, nil)
  t.has(tostring(verdict), "not decided")
  local stops = tide.kernel {x = i32[8], y = i32[1], function(x, y)
    local n = 0
    while n < 8 do
      if x[n] < 0 then break end
      n = n + 1
    end
    if n == 8 then return end
    for i = 0, 7 do y[0] = y[0] + x[i] end
  end}
  p.same(stops, tide.random(i32[8], 3), i32[1](0))
end)

t.test("8: puts to one stream element keep their order", function()
  local function source(way)
    local make = {
      one = function(Z) for i = 0, 2 do for j = 0, 3 do Z[0]:put(i * 4 + j) end end end,
      each = function(Z) for i = 0, 2 do for j = 0, 3 do Z[i]:put(j) end end end,
    }
    local k = tide.kernel {Z = tide.stream(i32)[3], make[way], name = "source"}
    return k
  end
  local e = refused(tide.schedule(source "one"), nil, "reorder", "j", "i")
  t.has(tostring(e), "Z[0]")
  local s = tide.schedule(source "each")
  s:reorder("j", "i")
end)

t.test("9: a tensor statement is its loops", function()
  local M, N, K = 3, 4, 5
  local whole = tide.kernel {A = i8[M][K], B = i8[K][N], D = i32[M][N], C = i32[M][N],
    function(A, B, D, C) C:set(tide.matmul(A, B) + D) end}
  local nest = tide.kernel {A = i8[M][K], B = i8[K][N], D = i32[M][N], C = i32[M][N],
    function(A, B, D, C)
      for i, j in grid(M, N) do
        local acc = i32(0)
        for k = 0, K - 1 do acc = acc + A[i][k] * B[k][j] end
        C[i][j] = acc + D[i][j]
      end
    end}
  t.eq(tide.verify(whole, nest), "strict")
  local args = {tide.random(i8[M][K], 1), tide.random(i8[K][N], 2), tide.random(i32[M][N], 3), i32[M][N](0)}
  local C = p.same(whole, table.unpack(args))
  t.ok(select(4, p.same(nest, table.unpack(args))):equal(select(4, p.same(whole, table.unpack(args)))), C)
end)

t.test("10: a kernel with ports, alone and as four instances", function()
  local merge = tide.kernel {a = tide.stream(i32), b = tide.stream(i32), c = tide.stream(i32), n = index,
    function(a, b, c, n)
      local x, y = i32(0), i32(0)
      x = a:get()
      y = b:get()
      for _ = 1, 2 * n do
        if x <= y then
          c:put(x)
          x = a:get()
        else
          c:put(y)
          y = b:get()
        end
      end
    end}
  local a, b, c = {1, 4, 9, 100}, {2, 3, 8, 100}, {}
  merge:reference(a, b, c, 3)
  t.eq(c, {1, 2, 3, 4, 8, 9})
  local function tree(left)
    local N = 4
    return tide.design(function(d)
      local X, Y = d:stream(i32, {8}), d:stream(i32, {2, 2})
      d.feed = tide.task {map = {8}, A = i32[8][N]:layout "S0R", function(A, q)
        for i = 0, N - 1 do X[q]:put(A[0][i]) end
        X[q]:put(1000000)
      end}
      d.m = left == "shared" and
        tide.task {map = {4}, function(m) merge(X[m // 2], X[2 * m + 1], Y[m // 2][m % 2], N) end} or
        tide.task {map = {4}, function(m) merge(X[2 * m], X[2 * m + 1], Y[m // 2][m % 2], N) end}
      d.out = tide.task {map = {2, 2}, B = i32[2][2][2 * N]:layout "S0S1R", function(B, i, j)
        for k = 0, 2 * N - 1 do B[0][0][k] = Y[i][j]:get() end
      end}
    end)
  end
  local A, B = tide.random(i32[8][4], 1, {lo = 0, hi = 100}), i32[2][2][8](0)
  local rows = A:table()
  for _, row in ipairs(rows) do table.sort(row) end
  local sorted = tide.tensor(i32[8][4], rows)
  tree "own"(sorted, B)
  for m = 0, 3 do
    local want = table.move(rows[2 * m + 2], 1, 4, 5, rows[2 * m + 1])
    table.sort(want)
    t.eq(B[m // 2][m % 2]:table(), want)
  end
  local e = t.fails(function() tree "shared" end, {kind = "illegal"})
  t.has(tostring(e), "m[0]")
  t.has(tostring(e), "m[1]")
end)

t.test("11: block streams: ping-pong at depth 1 and 2; slots count in deadlock", function()
  local N, B = 6, 4
  local function pingpong(depth, held)
    return tide.design(function(d)
      local Z = d:stream(i32[B], {depth = depth, block = true})
      d.fill = held and tide.task {A = i32[N][B], function(A)
        for i = 0, N // 2 - 1 do
          local a, b = Z:slot(), Z:slot()
          for j = 0, B - 1 do a[j], b[j] = A[2 * i][j] * 2, A[2 * i + 1][j] * 2 end
          Z:put(a)
          Z:put(b)
        end
      end} or tide.task {A = i32[N][B], function(A)
        for i = 0, N - 1 do
          local b = Z:slot()
          for j = 0, B - 1 do b[j] = A[i][j] * 2 end
          Z:put(b)
        end
      end}
      d.use = tide.task {C = i32[N], function(C)
        for i = 0, N - 1 do
          local b = Z:get()
          for j = 0, B - 1 do C[i] = C[i] + b[j] end
        end
      end}
    end)
  end
  local A, C, D = tide.random(i32[N][B], 1), i32[N](0), i32[N](0)
  pingpong(1)(A, C)
  for i = 0, N - 1 do
    for j = 0, B - 1 do D[i] = D[i] + A[i][j] * 2 end
  end
  t.ok(C:equal(D))
  for _, held in ipairs {false, true} do
    C:set(0)
    pingpong(2, held)(A, C)
    t.ok(C:equal(D))
  end
  local e = t.fails(function() pingpong(1, true) end, {kind = "illegal", code = "deadlock"})
  t.has(tostring(e), "depth 2")
end)

t.test("12: rings: put first runs, get first names its cycle; counts of both ends", function()
  local function ring(first)
    return tide.design(function(d)
      local X, Y = d:stream(i32, {depth = 1}), d:stream(i32, {depth = 1})
      d.a = first == "put" and tide.task {A = i32[1], function(A)
        for _ = 1, 5 do
          X:put(A[0])
          A[0] = Y:get()
        end
      end} or tide.task {A = i32[1], function(A)
        for _ = 1, 5 do
          A[0] = Y:get()
          X:put(A[0])
        end
      end}
      d.b = tide.task {function()
        for _ = 1, 5 do
          local v = X:get()
          Y:put(v + 1)
        end
      end}
    end)
  end
  local A = i32[1](1)
  ring "put"(A)
  t.eq(A:table(), {6})
  local e = t.fails(function() ring "get" end, {kind = "illegal", code = "deadlock"})
  t.has(tostring(e), "a -> Y -> b -> X -> a")
  local N = 6
  e = t.fails(function()
    tide.design(function(d)
      local X = d:stream(i32, {depth = 1})
      d.a = tide.task {A = i32[2 * N], function(A) for i = 0, 2 * N - 1 do X:put(A[i]) end end}
      d.b = tide.task {B = i32[N], function(B) for i = 0, N - 1 do B[i] = X:get() end end}
    end)
  end, {kind = "illegal"})
  t.has(tostring(e), "a puts 2 * N = 12")
  t.has(tostring(e), "b gets N = 6")
end)

t.test("all sizes: never said when a step used a value", function()
  local N, M = 64, 64
  local function all_sizes(fn, ...)
    local s = tide.schedule(tide.kernel {A = i32[N], B = i32[M], fn})
    s[(...)](s, select(2, ...))
    local level, verdict = s:verify()
    t.eq(level, "strict")
    t.eq(tostring(verdict):find "all sizes" ~= nil, verdict.all_sizes)
    return verdict.all_sizes
  end
  local function two(A, B)
    for i = 0, N - 1 do A[i] = A[i] + 1 end
    for j = 0, M - 1 do B[j] = B[j] + 1 end
  end
  t.eq(all_sizes(two, "split", "i", 8), true)
  t.eq(all_sizes(two, "split", "i", 8, {tail = "perfect"}), false)
  t.eq(all_sizes(two, "fuse", "i", "j"), false)
  t.eq(all_sizes(function(A, B)
    for i = 0, N - 1 do A[i] = A[i] + 1 end
    for j = 0, N - 1 do B[j] = B[j] + 1 end
  end, "fuse", "i", "j"), true)
  local s = tide.schedule(tide.kernel {A = i32[N], function(A)
    for i = 0, N - 1 do
      if N > 32 then A[i] = A[i] + 1 end
    end
  end})
  s:split("i", 8)
  local _, verdict = s:verify()
  t.eq(verdict.all_sizes, false)
end)

-- A step that is legal, chosen by the generator among those that can() accepts.
local function random_step(s, draw)
  local loops = s:loops()
  local function any() return loops[draw(#loops)] end
  local steps = {
    function() return "split", any(), draw(4) + 1 end,
    function() return "reorder", any(), any() end,
    function() return "fuse", any(), any() end,
    function() return "pipeline", any() end,
    function() return "unroll", any() end,
    function() return "parallel", any() end,
  }
  for _ = 1, 60 do
    local step = table.pack(steps[draw(#steps)]())
    if s:can(table.unpack(step, 1, step.n)) then return step end
  end
end

t.test("15: ten random legal steps: undo, the log in a new process, instances apart", function()
  local seed = 7
  local function draw(n)
    seed = seed * 6364136223846793005 + 1442695040888963407
    return (seed >> 33) % n + 1
  end
  local path = t.tmp "log.lua"
  for round = 1, 6 do
    local s = tide.schedule(gemm_of(4, 5, 6))
    local texts = {[0] = tostring(s)}
    for n = 1, 10 do
      local step = random_step(s, draw)
      if not step then break end
      s[step[1]](s, table.unpack(step, 2, step.n))
      texts[n] = tostring(s)
    end
    t.ok(s:verify(), s:log())
    shell.write(path, ("local k = load(%q)()\nlocal s = load(%q)(k)\nio.write(tostring(s))\n"):format(texts[0],
      s:log()))
    t.eq(shell.output(("'%s' '%s' 2>&1"):format(arg[-1], path)), texts[#texts], "round " .. round)
    for n = #texts - 1, 0, -1 do t.eq(tostring(s:undo()), texts[n]) end
  end
end)

t.done()
