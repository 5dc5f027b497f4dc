-- Sizes: kept names, pinned ones, other values, sizes without value, assumptions.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local i8, i32, grid = tide.i8, tide.i32, tide.grid

t.test("gemm keeps its names and runs at other sizes", function()
  local M, N, K = 3, 4, 5
  local gemm = tide.kernel {
    A = i8[M][K], B = i8[K][N], C = i32[M][N],
    function(A, B, C)
      for i, j in grid(M, N) do
        for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end,
  }
  t.eq(gemm.sizes, {M = 3, N = 4, K = 5})
  t.has(tostring(gemm), "for k = 0, K - 1 do")
  p.same(gemm, tide.random(i8[3][5], 1), tide.random(i8[5][4], 2), i32[3][4](0))
  local at = gemm:at {M = 7, N = 5, K = 9}
  t.eq(at.sizes, {M = 7, N = 5, K = 9})
  local A, B = tide.random(i8[7][9], 1), tide.random(i8[9][5], 2)
  local C = i32[7][5](0)
  at:reference(A, B, C)
  local sum = 0
  for k = 0, 8 do sum = sum + A[6][k] * B[k][4] end
  t.eq(C[6][4], sum)
  p.again(at)
  t.eq(gemm:at({M = 2}).sizes, {M = 2, N = 4, K = 5})
end)

t.test("what is not affine pins a size", function()
  local M, N, P, Q, S = 4, 6, 2, 3, 5
  local list = {10, 20, 30, 40, 50}
  local k = tide.kernel {A = i32[M][N], B = i32[2 * M + 1][N // P], function(A, B)
    for i = 0, M * Q - 1 do A[i % M][0] = i end
    for i = 0, 2 * M do B[i][1] = list[S] end
    if N > 3 then A[0][1] = Q * Q end
  end}
  t.eq(k.sizes.M, 4)
  t.eq(k.sizes.S, nil)
  p.same(k, i32[4][6](0), i32[9][3](0))
end)

t.test("a name is a size only where it is one", function()
  local M, n, unused = 4, 4, 9
  local k = tide.kernel {A = i32[M], function(A)
    for i = 0, n - 1 do A[i] = unused + M end
  end}
  t.eq(k.sizes, {M = 4, n = 4})
  p.same(k, i32[4](0))
  local q = tide.kernel {A = i32[4], function(A) A[0] = M + unused end}
  t.eq(q.sizes, {})
end)

t.test("bare names in the types of parameters are sizes, also of functions around", function()
  local function make(m)
    local two = 2 * m
    return tide.kernel {A = i32[m][two], B = i32[m + two], function(A, B)
      for i = 0, #A - 1 do B[i] = A[i][0] + #B end
    end}
  end
  local k = make(3)
  t.eq(k.sizes.m, 3)
  p.same(k, tide.random(i32[3][6], 3, {lo = 0, hi = 9}), i32[9](0))
end)

t.test("global sizes", function()
  local chunk = assert(load([[
    local tide = require "tide"
    COUNT = 5
    return tide.kernel {A = tide.i32[COUNT], function(A) for i = 0, COUNT - 1 do A[i] = i end end}
  ]], "=globals"))
  local k = chunk()
  t.eq(k.sizes, {COUNT = 5})
  p.same(k, i32[5](0))
end)

t.test("sizes without value come from the arguments", function()
  local n, m = tide.size "n", tide.size "m"
  local k = tide.kernel {A = i32[n][m], B = i32[n], function(A, B)
    for i = 0, n - 1 do
      for j = 0, m - 1 do B[i] = B[i] + A[i][j] end
    end
  end}
  t.eq(k.sizes, {n = false, m = false})
  for _, shape in ipairs {{2, 3}, {5, 1}, {1, 7}} do
    local a, b = shape[1], shape[2]
    local A, B = tide.random(i32[a][b], a, {lo = -5, hi = 5}), i32[a](0)
    local _, got = p.foreign(k, A, B)
    local sum = 0
    for j = 0, b - 1 do sum = sum + A[a - 1][j] end
    t.eq(got[a - 1], sum)
  end
  local at = k:at {n = 4}
  t.eq(at.sizes, {n = 4, m = false})
  t.fails(function() k(i32[2][3](0), i32[3](0)) end, {code = "argument-type"})
end)

t.test("assumptions are facts, checked at each call", function()
  local n = tide.size "n"
  local k = tide.kernel {A = i32[n], step = i32, function(A, step)
    tide.assume(n % 4 == 0, n >= 4)
    tide.assume(step > 0 and step < 5)
    for i = 0, n // 4 - 1 do A[4 * i] = step end
  end}
  t.has(tostring(k), "tide.assume(n % 4 == 0)")
  local A = p.foreign(k, i32[8](0), 3)
  t.eq(A:table(), {3, 0, 0, 0, 3, 0, 0, 0})
  t.fails(function() k(i32[6](0), 3) end, {kind = "illegal"})
  t.fails(function() k:reference(i32[8](0), 7) end, {})
end)

t.test("a size that shares its name with a parameter stays a number", function()
  local M = 4
  local k = tide.kernel {M = i32, A = i32[M], function(M, A)
    for i = 0, #A - 1 do A[i] = M end
  end}
  t.eq(k.sizes, {})
  t.eq(select(2, p.same(k, 9, i32[4](0))):table(), {9, 9, 9, 9})
end)

t.test("equal extents make equal types, however they are written", function()
  local M, N = tide.size "M", tide.size "N"
  t.eq(i32[M + N], i32[N + M])
  t.eq(i32[2 * M - N + 3][N], i32[3 - N + M + M][N])
  t.eq(i32[(M + N) // 2 + N % 4], i32[N % 4 + (N + M) // 2])
  t.ok(i32[M - N] ~= i32[N - M])
  t.ok(i32[M + 2 * N] ~= i32[2 * M + N])
  local k = tide.kernel {a = i32[M], b = i32[N], c = i32[M + N], function(a, b, c)
    local d = i32[N + M](0)
    for i = 0, #a - 1 do d[i] = a[i] end
    for i = 0, #b - 1 do d[M + i] = b[i] end
    c:set(d)
  end}
  local c = p.foreign(k, tide.tensor(i32[2], {1, 2}), tide.tensor(i32[1], {3}), i32[3](0))
  t.ok(c)
end)

t.test("a state lasts from call to call, whatever the sizes of a call", function()
  local n = tide.size "n"
  local function counter()
    local count = tide.state(tide.i32[2], 0)
    return tide.kernel {A = tide.i32[n], function(A)
      count[1] = count[1] + 1
      for i = 0, n - 1 do A[i] = A[i] + count[1] end
    end}
  end
  local compiled, reference = counter(), counter()
  for call, size in ipairs {3, 5, 3, 5, 4} do
    local A, B = tide.i32[size](0), tide.i32[size](0)
    compiled(A)
    reference:reference(B)
    t.eq({A[0], A:equal(B)}, {call, true})
  end
end)

t.test("Lua cannot compute with a size without a value, which is said by its name", function()
  local n = tide.size "n"
  local k = tide.kernel {A = tide.i32[n], function(A) for i = 0, n - 1 do A[i] = i end end}
  for _, at in ipairs {k, k:at {n = 4}} do
    local e = t.fails(function() at:native(tide.i32[4](0)) end, {code = "native"})
    t.has(e.message, "'n'")
  end
  local m = 4
  tide.kernel {A = tide.i32[m], function(A) for i = 0, m - 1 do A[i] = i end end}:native(tide.i32[4](0))
end)

t.test("a build at sizes without a value says which, and what to write", function()
  local n, m, w = tide.size "n", tide.size "m", 4
  local k = tide.kernel {A = i32[n][m][w], B = i32[n], function(A, B)
    for i, j, l in grid(n, m, w) do B[i] = B[i] + A[i][j][l] end
  end}
  local A, B = tide.random(i32[3][5][4], 1), i32[3](0)
  k(A, B)
  for _, how in ipairs {{target = "cpu"}, {target = "cpu", timed = true}, {target = "hls"}} do
    for _, x in ipairs {k, tide.schedule(k)} do
      local e = t.fails(function() x:build(how) end, {kind = "unsupported", code = "unbound-size"})
      t.has(e.help, "k:at {n = 64, m = 64}; a call takes them from its tensors")
    end
    t.has(t.fails(function() k:at {n = 3}:build(how) end, {code = "unbound-size"}).help, "k:at {m = 64};")
    local C = i32[3](0)
    k:at {n = 3, m = 5}:build(how)(A, C)
    t.ok(C:equal(B))
  end
end)

p.done()
