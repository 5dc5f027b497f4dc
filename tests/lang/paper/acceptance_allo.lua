-- acceptance_allo.lua - what users of Allo would try first, case by case: the result equals a plain
-- reference, and the program has the structure that was asked for.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i16, i32, u8, f32 = tide.i8, tide.i16, tide.i32, tide.u8, tide.f32
local grid, reduction = tide.grid, tide.reduction

-- States that schedule s is proved to be kernel k (at `level`), and runs like it on data of these
-- types.
local function same(k, s, types, level)
  local got, verdict = s:verify()
  t.eq(got, level or "strict", tostring(verdict))
  if types then prim.runs_alike(k, s, types) end
end

-- How often a text occurs in the printed form.
local function count(s, part)
  local _, n = tostring(s):gsub(part:gsub("%p", "%%%0"), "")
  return n
end

-- Iterations and, of a pipelined loop, the initiation interval in the estimate of s.
local function row(s, name)
  local text = tostring(s:estimate())
  local n = text:match("\n *" .. name .. "[ +]+(%d+) ")
  local ii = text:match("\n *" .. name .. " +%d+ +(%d+) +%d+ +%d+ ")
  return tonumber(n), tonumber(ii)
end

-- A product of these types and sizes.
local function gemm(TA, TB, TC, M, N, K)
  return tide.kernel {A = TA[M][K], B = TB[K][N], C = TC[M][N], name = "gemm", function(A, B, C)
    for i, j in grid(M, N) do
      for k in reduction(K) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
end

t.test("A01: tiles of a product", function()
  local k = gemm(i32, i32, i32, 32, 32, 32)
  local s = tide.schedule(k)
  s:split("i", 8):split("j", 8):reorder("i_o", "j_o", "i_i", "j_i")
  t.eq(s:loops(), {"i_o", "j_o", "i_i", "j_i", "k"})
  for name, trip in pairs {i_o = 4, j_o = 4, i_i = 8, j_i = 8, k = 32} do
    t.eq((row(s, name)), trip, name)
  end
  same(k, s, {i32[32][32], i32[32][32], i32[32][32]})
end)

t.test("A02: a sum split evenly, and with a rest", function()
  local k = tide.kernel {A = i32[10][20], B = i32[10][20], C = i32[10][20], function(A, B, C)
    for i, j in grid(10, 20) do C[i][j] = A[i][j] + B[i][j] end
  end}
  local types = {i32[10][20], i32[10][20], i32[10][20]}
  local even = tide.schedule(k):split("j", 4)
  t.has(tostring(even), "for j_o = 0, 4 do")
  t.has(tostring(even), "for j_i = 0, 3 do")
  t.ok(not tostring(even):find " if ", "no guard")
  same(k, even, types)
  local rest = tide.schedule(k):split("j", 3)
  t.has(tostring(rest), "for j_o = 0, 6 do")
  t.has(tostring(rest), "if j_o * 3 + j_i < 20 then")
  same(k, rest, types)
  t.fails(function() tide.schedule(k):split("j", 0) end, {kind = "usage", code = "factor"})
end)

t.test("A03: four loops in other orders", function()
  local T = i32[10][20][30][40]
  local k = tide.kernel {A = T, B = T, function(A, B)
    for i, j, k, l in grid(10, 20, 30, 40) do B[i][j][k][l] = A[i][j][k][l] + 1 end
  end}
  local s = tide.schedule(k):reorder("k", "j")
  t.eq(s:loops(), {"i", "k", "j", "l"})
  same(k, s)
  local u = tide.schedule(k):reorder("l", "i")
  t.eq(u:loops(), {"l", "j", "k", "i"})
  same(k, u)
end)

t.test("A04: three loops as one", function()
  local k = gemm(i32, i32, i32, 32, 32, 32)
  local s = tide.schedule(k)
  local _, one = s:fuse("i", "j", "k")
  t.eq(s:loops(), {one})
  s:unroll(one)
  t.has(tostring(s), "--@ unroll(0)")
  s:undo():pipeline(one)
  t.eq((row(s, one)), 32768)
  same(k, s, {i32[32][32], i32[32][32], i32[32][32]})
end)

t.test("A05: a producer in its consumer", function()
  local T = i32[10][20][30]
  local function stages()
    return tide.kernel {A = T, C = T, function(A, C)
      local B = T()
      for i, j, m in grid(10, 20, 30, "first") do B[i][j][m] = A[i][j][m] * 2 end
      for i, j, m in grid(10, 20, 30, "second") do C[i][j][m] = B[i][j][m] + 1 end
    end}
  end
  for depth, loop in ipairs {"i", "j", "m"} do
    local k = stages()
    local s = tide.schedule(k)
    s:compute_at("first", "second/" .. loop)
    t.eq(#s:loops(), 6 - depth, "loops of one nest")
    same(k, s, {T, T})
  end
  local k = stages()
  local s = tide.schedule(k):compute_at("first", "second/m")
  s:fuse("i", "j"):split("m", 4):reorder("m_o", "i_j")
  same(k, s, {T, T})
  local chain = tide.kernel {A = T, D = T, function(A, D)
    local B, C = T(), T()
    for i, j, m in grid(10, 20, 30, "b") do B[i][j][m] = A[i][j][m] * 2 end
    for i, j, m in grid(10, 20, 30, "c") do C[i][j][m] = B[i][j][m] + 1 end
    for i, j, m in grid(10, 20, 30, "d") do D[i][j][m] = C[i][j][m] % 3 end
  end}
  local u = tide.schedule(chain):compute_at("b", "c/m"):compute_at("c", "d/m")
  t.eq(#u:loops(), 3)
  same(chain, u, {T, T})
end)

t.test("A06: loops marked in the source", function()
  local k = load([[
    local tide = require "tide"
    return tide.kernel {A = tide.i32[10][20], function(A)
      for i = 0, 9 do --@ unroll(2)
        for j = 0, 19 do --@ pipeline(4)
          A[i][j] = A[i][j] + 1
        end
      end
    end}]])()
  local text = tide.schedule(k):build {target = "hls"}.source
  for _, part in ipairs {"unroll factor=2", "pipeline II=4"} do t.has(text, "#pragma HLS " .. part) end
  local s = tide.schedule(k):pipeline("j"):unroll("i")
  t.has(tostring(s), "--@ unroll(0)")
  t.has(tostring(s), "--@ pipeline(1)")
end)

t.test("A07: rows of a product", function()
  local n = 128
  local k = gemm(f32, f32, f32, n, n, n)
  local s = tide.schedule(k):reorder("k", "j")
  local _, buffer = s:buffer_at("C", "i")
  for _, loop in ipairs {"j_init", "j", "j_back"} do s:pipeline(loop) end
  t.eq(s:loops(), {"i", "j_init", "k", "j", "j_back"})
  t.has(tostring(s), ("local %s = f32[N]()"):format(buffer))
  for _, loop in ipairs {"j_init", "j", "j_back"} do
    local trip, ii = row(s, loop)
    t.eq({trip, ii}, {n, 1}, loop)
  end
  same(k, s)
end)

t.test("A08: a buffer of what was there before", function()
  local k = gemm(f32, f32, f32, 8, 9, 7)
  local s = tide.schedule(k):reorder("k", "j"):buffer_at("C", "i")
  same(k, s, {f32[8][7], f32[7][9], f32[8][9]})
  local T = i32[3][4][6]
  local cube = tide.kernel {A = T, B = T, function(A, B)
    for x, y, z in grid(3, 4, 6) do B[x][y][z] = B[x][y][z] + A[x][y][z] end
  end}
  local u = tide.schedule(cube)
  local _, rest = u:buffer_at("B", "x")
  t.has(tostring(u), ("local %s = i32[4][6]()"):format(rest))
  same(cube, u, {T, T})
end)

t.test("A09: a row of a blur", function()
  local k = tide.kernel {A = i32[10][10], B = i32[10][8], function(A, B)
    for y, x in grid(10, 8) do B[y][x] = A[y][x] + A[y][x + 1] + A[y][x + 2] end
  end}
  local s = tide.schedule(k)
  local _, window = s:reuse_at("A", "x")
  t.has(tostring(s), ("local %s = i32[3]()"):format(window))
  t.eq(count(s, "= A[y]"), 2, "one element to fill it, one in each step")
  t.eq(count(s, "+ A[y]"), 0)
  same(k, s, {i32[10][10], i32[10][8]})
end)

-- A 3 x 3 convolution, summed up in a scalar or in place.
local function conv(scalar)
  return tide.kernel {A = i32[10][10], F = i32[3][3], B = i32[8][8], name = "conv", function(A, F, B)
    for y, x in grid(8, 8) do
      if scalar then
        local v = i32(0)
        for r, c in grid(3, 3) do v = v + A[y + r][x + c] * F[r][c] end
        B[y][x] = v
      else
        for r, c in grid(3, 3) do B[y][x] = B[y][x] + A[y + r][x + c] * F[r][c] end
      end
    end
  end}
end

for _, case in ipairs {"A10: lines and a window of a convolution",
  "A11: the same, summed up in place"} do
  t.test(case, function()
    local k = conv(case:find "A10" ~= nil)
    local s = tide.schedule(k)
    local _, lines = s:reuse_at("A", "y")
    local _, window = s:reuse_at(lines, "x")
    s:partition(lines, 0):partition(window):partition("F"):pipeline("x")
    t.has(tostring(s), ("local %s = i32[3][10]() --@ partition(0, complete, 0)"):format(lines))
    t.has(tostring(s), ("local %s = i32[3][3]() --@ partition(0, complete, 0) partition(1, complete, 0)")
      :format(window))
    t.eq(count(s, " A["), 3, "each element once: in the first lines, the first columns, or a step")
    t.eq({row(s, "x")}, {8, 1})
    same(k, s, {i32[10][10], i32[3][3], i32[8][8]})
  end)
end

t.test("A12: kinds of banks", function()
  local T = i32[8][8][8]
  local function cube()
    return tide.schedule(tide.kernel {A = T, B = T, name = "cube", function(A, B)
      for x, y, z in grid(8, 8, 8) do B[x][y][z] = A[x][y][z] + 1 end
    end})
  end
  local function pragmas(s)
    local list = {}
    for line in s:build {target = "hls"}.source:gmatch "array_partition ([^\n]*)" do
      list[#list + 1] = line
    end
    table.sort(list)
    return list
  end
  t.eq(pragmas(cube():partition("A", {1, 2})), {"variable=A type=complete dim=2",
    "variable=A type=complete dim=3"})
  t.eq(pragmas(cube():partition("A", {1, 2}, {kind = "block", factor = 4})),
    {"variable=A type=block dim=2 factor=4", "variable=A type=block dim=3 factor=4"})
  t.eq(pragmas(cube():partition("A", 0, {factor = 2}):partition("A", 1)),
    {"variable=A type=complete dim=2", "variable=A type=cyclic dim=1 factor=2"})
  for _, wrong in ipairs {{"A", {1, 1}}, {"A", 0, {kind = "cyclic"}}} do
    t.fails(function() cube():partition(table.unpack(wrong)) end, {kind = "usage"})
  end
  t.fails(function() cube():partition("A", 1):partition("A", 1) end, {code = "partitioned"})
  t.fails(function() cube():partition("A", 1):partition("A") end, {code = "partitioned"})
end)

t.test("A13: a partition goes where the array goes", function()
  local double = tide.kernel {a = i32[8], p = i32[8], q = i32[8], function(a, p, q)
    for i = 0, 7 do p[i], q[i] = a[i] * 2, a[i] * 3 end
  end}
  local add = tide.kernel {x = i32[8], y = i32[8], z = i32[8], function(x, y, z)
    for i = 0, 7 do z[i] = x[i] + y[i] end
  end}
  local top = tide.kernel {A = i32[8], C = i32[8], function(A, C)
    local P, Q = i32[8](), i32[8]()
    double(A, P, Q)
    add(P, Q, C)
  end}
  local s = tide.schedule(top):partition("P")
  for _, part in ipairs {"p = i32[8], --@", "x = i32[8], --@", "local P = i32[8]() --@"} do
    t.has(tostring(s), part .. " partition(0, complete, 0)")
  end
  same(top, s, {i32[8], i32[8]})
  -- One instance has one interface: two arrays that one parameter stands for lie alike.
  local twice = tide.kernel {A = i32[8], C = i32[8], function(A, C)
    local P, Q, R = i32[8](), i32[8](), i32[8]()
    double(A, P, Q)
    add(P, Q, R)
    add(R, P, C)
  end}
  local u = tide.schedule(twice):partition("P")
  for _, name in ipairs {"P", "R", "Q"} do
    t.has(tostring(u), "local " .. name .. " = i32[8]() --@ partition(0, complete, 0)")
  end
  same(twice, u, {i32[8], i32[8]})
end)

t.test("A14: an array under other indices", function()
  local k = tide.kernel {A = i32[10][10], C = i32[10][10], function(A, C)
    local B = i32[10][10]()
    for i, j in grid(10, 10) do B[i][j] = A[i][j] + 1 end
    for i, j in grid(10, 10) do C[i][j] = B[j][i] * 2 end
  end}
  local s = tide.schedule(k):reshape("B", {2, 5, 2, 5})
  t.has(tostring(s), "local B = i32[2][5][2][5]()")
  same(k, s, {i32[10][10], i32[10][10]})
end)

t.test("A15: a FIFO between two nests", function()
  local F = tide.fixed(12, 4)
  local T = F[10][20][30]
  local function stages(turned)
    return tide.kernel {A = T, C = T, function(A, C)
      local B = T()
      for i, j, m in grid(10, 20, 30, "first") do B[i][j][m] = A[i][j][m] + 1 end
      if turned then
        for j, i, m in grid(20, 10, 30, "second") do C[i][j][m] = B[i][j][m] + 1 end
      else
        for i, j, m in grid(10, 20, 30, "second") do C[i][j][m] = B[i][j][m] + 1 end
      end
    end}
  end
  local k = stages(false)
  local s = tide.schedule(k)
  s:relay("B", "second", {depth = 16})
  t.eq(count(s, ":put("), 1)
  t.eq(count(s, ":get()"), 1)
  t.has(tostring(s), "depth = 16")
  same(k, s, {T, T})
  local e = t.fails(function() tide.schedule(stages(true)):relay("B", "second") end,
    {kind = "illegal"})
  t.has(e.message, "B")
  t.eq(e.witness.array, "B")
end)

t.test("A16: FIFOs between functions, that fork and join", function()
  local function stage(name, f)
    return tide.kernel {a = i32[10][20], b = i32[10][20], name = name, function(a, b)
      for i, j in grid(10, 20) do b[i][j] = f(a[i][j]) end
    end}
  end
  local up = stage("up", function(x) return x + 1 end)
  local twice = stage("twice", function(x) return x * 2 end)
  local line = tide.kernel {A = i32[10][20], C = i32[10][20], function(A, C)
    local B = i32[10][20]()
    up(A, B)
    twice(B, C)
  end}
  local s = tide.schedule(line):relay("B", "twice", {depth = 1})
  t.has(tostring(s), "depth = 1")
  same(line, s, {i32[10][20], i32[10][20]})
  local both = tide.kernel {x = i32[10][20], y = i32[10][20], z = i32[10][20], function(x, y, z)
    for i, j in grid(10, 20) do z[i][j] = x[i][j] + y[i][j] end
  end}
  local join = tide.kernel {A = i32[10][20], E = i32[10][20], D = i32[10][20], function(A, E, D)
    local B, C = i32[10][20](), i32[10][20]()
    up(A, B)
    twice(E, C)
    both(B, C, D)
  end}
  local u = tide.schedule(join)
  for _, array in ipairs {"B", "C"} do u:relay(array, "both", {depth = 200}) end
  t.eq({count(u, "depth = 200"), count(u, "tide.task {")}, {2, 3})
  same(join, u, {i32[10][20], i32[10][20], i32[10][20]})
end)

t.test("A17: a schedule replayed where the kernel is called", function()
  local inner = gemm(i32, i32, i32, 32, 32, 32)
  local top = tide.kernel {A = i32[32][32], B = i32[32][32], C = i32[32][32], function(A, B, C)
    inner(A, B, C)
  end}
  local sub = tide.schedule(inner):reorder("k", "j"):partition("C", 1)
  sub:buffer_at("C", "i")
  sub:pipeline("j")
  local s = tide.schedule(top):compose(sub)
  t.eq(s:loops(), {"gemm:i", "gemm:j_init", "gemm:k", "gemm:j", "gemm:j_back"})
  t.eq(count(s, "C = i32[N][N], --@ partition(1, complete, 0)") +
    count(s, "C = i32[32][32], --@ partition(1, complete, 0)") +
    count(s, "C = i32[M][N], --@ partition(1, complete, 0)"), 2, "here and in the caller")
  same(top, s, {i32[32][32], i32[32][32], i32[32][32]})
end)

-- A systolic array of side T in tiles, as in the paper's figure 7.
local function tiled(M, N, K)
  local T = 4
  local array = tide.kernel {A = i8[T][K], B = i8[K][T], C = i16[T][T], name = "systolic",
    function(A, B, C)
      for i, j in grid(T, T, "PE") do
        for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end}
  return tide.kernel {A = i8[M][K], B = i8[K][N], C = i16[M][N], name = "tiled", function(A, B, C)
    for mi, ni in grid(M // T, N // T, "outer") do
      local a, b, c = i8[T][K](), i8[K][T](), i16[T][T](0)
      a:set(A:slice({T * mi, T * mi + T}, {}))
      b:set(B:slice({}, {T * ni, T * ni + T}))
      array(a, b, c)
      C:slice({T * mi, T * mi + T}, {T * ni, T * ni + T}):set(c)
    end
  end}
end

t.test("A18: two calls of one template, scheduled apart", function()
  local M, K, L, N = 8, 4, 4, 4
  local W1, W2 = tide.random(i8[K][L], 11), tide.random(i8[L][N], 12)
  local layer1, layer2 = tiled(M, L, K), tiled(M, N, L)
  local ffn1, ffn2 = layer1:as "FFN1", layer2:as "FFN2"
  local top = tide.kernel {X = i8[M][K], Y = i16[M][N], name = "ffn", function(X, Y)
    local Z, Zq = i16[M][L](0), i8[M][L]()
    ffn1(X, W1, Z)
    Zq:set(Z)
    ffn2(Zq, W2, Y)
  end}
  local s = tide.schedule(top)
  s:compose(tide.schedule(layer1):pipeline("systolic:k"), {id = "FFN1"})
  s:compose(tide.schedule(layer2):unroll("systolic:k", 2), {id = "FFN2"})
  t.eq({count(s, "--@ pipeline(1)"), count(s, "--@ unroll(2)")}, {1, 1})
  same(top, s)
  local X, Y = tide.random(i8[M][K], 3), i16[M][N](0)
  s(X, Y)
  for i = 0, M - 1 do
    for j = 0, N - 1 do
      local sum = 0
      for l = 0, L - 1 do
        local z = 0
        for k = 0, K - 1 do z = z + X[i][k] * W1[k][l] end
        sum = sum + i8(z) * W2[l][j]
      end
      t.eq(Y[i][j], i16(sum))
    end
  end
end)

t.test("A19: two kernels with line buffers, composed", function()
  local function blur(name, n)
    return tide.kernel {a = i32[n][n], b = i32[n - 2][n - 2], name = name, function(a, b)
      for y, x in grid(n - 2, n - 2) do
        b[y][x] = a[y][x] + a[y + 1][x + 1] + a[y + 2][x + 2]
      end
    end}
  end
  local first, second = blur("first", 10), blur("second", 8)
  local top = tide.kernel {A = i32[10][10], C = i32[6][6], function(A, C)
    local B = i32[8][8]()
    first(A, B)
    second(B, C)
  end}
  local function lines(k)
    local s = tide.schedule(k)
    local _, name = s:reuse_at("a", "y")
    s:reuse_at(name, "x")
    return s
  end
  local s = tide.schedule(top):compose(lines(first)):compose(lines(second))
  t.eq(count(s, "local a_y = i32[3][n]()"), 2)
  t.eq(count(s, "local a_y_x = i32[3][3]()"), 2)
  same(top, s, {i32[10][10], i32[6][6]})
end)

t.test("A20: templates", function()
  local function matmul(T, M, N, K)
    return tide.kernel {A = T[M][K], B = T[K][N], C = T[M][N], function(A, B, C)
      for i, j in grid(M, N) do
        for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end}
  end
  local one, two = matmul(f32, 4, 5, 6), matmul(i32, 7, 3, 2)
  local top = tide.kernel {A = f32[4][6], B = f32[6][5], C = f32[4][5], D = i32[7][2], E = i32[2][3],
    F = i32[7][3], function(A, B, C, D, E, F)
      one(A, B, C)
      two(D, E, F)
    end}
  local types = {f32[4][6], f32[6][5], f32[4][5], i32[7][2], i32[2][3], i32[7][3]}
  same(top, tide.schedule(top):reorder("matmul:k", "matmul:j"), types)
  local function grown(M, N)
    return tide.kernel {A = i32[M + 1][N * 2], function(A)
      for i, j in grid(M + 1, N * 2) do A[i][j] = A[i][j] + i - j end
    end}
  end
  t.has(tostring(grown(3, 4)), "A = i32[M + 1][2 * N]")
  local function size(T)
    local n = T == i8 and 16 or T == f32 and 20 or 64
    return tide.kernel {A = T[n], function(A)
      for i = 0, n - 1 do
        if T == i8 then A[i] = A[i] + 1 elseif T == f32 then A[i] = A[i] * 0.5 else A[i] = 7 end
      end
    end}
  end
  for T, what in pairs {[i8] = "A[i] + 1", [f32] = "A[i] * 0.5", [i32] = "= 7"} do
    t.has(tostring(size(T)), what)
  end
end)

t.test("A21: any width", function()
  local int, fixed = tide.int, tide.fixed
  local function reference(A, B, M, N, K, wrap)
    local list = {}
    for i = 0, M - 1 do
      list[i + 1] = {}
      for j = 0, N - 1 do
        local sum = 0
        for k = 0, K - 1 do sum = wrap(sum + A[i][k] * B[k][j]) end
        list[i + 1][j + 1] = sum
      end
    end
    return list
  end
  for _, w in ipairs {{5, 5, 14}, {3, 4, 9}, {8, 6, 10}, {7, 3, 6}} do
    local TA, TB, TC = int(w[1]), int(w[2]), int(w[3])
    local k = gemm(TA, TB, TC, 4, 4, 4)
    local A, B, C = tide.random(TA[4][4], 1), tide.random(TB[4][4], 2), TC[4][4](0)
    tide.schedule(k):reorder("j", "i")(A, B, C)
    t.eq(C:table(), reference(A, B, 4, 4, 4, TC))
  end
  local k = gemm(fixed(8, 3), fixed(8, 3), fixed(16, 2), 4, 4, 4)
  local A = tide.random(fixed(8, 3)[4][4], 1, {lo = -3, hi = 4})
  for i = 0, 3 do for j = 0, 3 do A[i][j] = math.floor(A[i][j]) end end
  local C = fixed(16, 2)[4][4](0)
  k(A, A, C)
  t.eq(C:table(), reference(A, A, 4, 4, 4, function(x) return x end))
end)

t.test("A22: bits", function()
  local k = tide.kernel {A = i32[4], B = tide.uint(2)[4], n = i32[1], d = tide.uint(1)[12], r = u8[2],
    x = f32[1], y = f32[1], function(A, B, n, d, r, x, y)
      for i = 0, 3 do A[i] = tide.with_bits(A[i], 0, 2, B[i]) end
      for b = 0, 11 do d[b] = tide.bits(n[0], b, b + 1) end
      local turned = u8(0)
      for b = 0, 7 do turned = tide.with_bits(turned, b, b + 1, tide.bits(r[0], 7 - b, 8 - b)) end
      r[1] = turned
      y[0] = tide.bitcast(f32, tide.bitcast(i32, x[0]))
    end}
  local A = tide.tensor(i32[4], {7, -8, 100, 0})
  local B = tide.tensor(tide.uint(2)[4], {0, 1, 2, 3})
  local n, d = tide.tensor(i32[1], {1234}), tide.uint(1)[12](0)
  local r, x, y = tide.tensor(u8[2], {0x16, 0}), tide.tensor(f32[1], {0.1}), f32[1](0)
  k(A, B, n, d, r, x, y)
  t.eq(A:table(), {4, -7, 102, 3})
  t.eq(d:table(), {0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0})
  t.eq(r[1], 0x68)
  t.eq(y[0], x[0])
end)

t.test("A23: a slice is unsigned", function()
  local k = tide.kernel {w = tide.uint(26)[4], flag = u8[4], name = "top", function(w, flag)
    for i = 0, 3 do
      local raw = tide.bits(w[i], 0, 16)
      if raw >> 15 == 1 then flag[i] = 1 else flag[i] = 0 end
    end
  end}
  local w = tide.tensor(tide.uint(26)[4], {0x0001, 0x8000, 0x7FFF, 0xFFFF})
  local flag, again = u8[4](9), u8[4](9)
  k(w, flag)
  t.eq(flag:table(), {0, 1, 0, 1})
  local hls = tide.schedule(k):build {target = "hls"}
  hls(w, again)
  t.eq(again:table(), {0, 1, 0, 1})
end)

t.test("A24: states", function()
  local function accumulator()
    local total = tide.state(i32[1], 0)
    return tide.kernel {x = i32[1], y = i32[1], function(x, y)
      total[0] = total[0] + x[0]
      y[0] = total[0]
    end}
  end
  local function feed(k, list, T)
    local x, y, out = T[1](0), T[1](0), {}
    for i, v in ipairs(list) do
      x[0] = v
      k(x, y)
      out[i] = y[0]
    end
    return out
  end
  t.eq(feed(accumulator(), {5, 10, 3}, i32), {5, 15, 18})
  local kept = tide.state(i32[4], 0)
  local average = tide.kernel {x = i32[1], y = i32[1], function(x, y)
    for i = 0, 2 do kept[i] = kept[i + 1] end
    kept[3] = x[0]
    local sum, n = i32(0), i32(0)
    for i = 0, 3 do
      sum = sum + kept[i]
      if kept[i] ~= 0 then n = n + 1 end
    end
    y[0] = sum // n
  end}
  t.eq(feed(average, {10, 20, 30, 40, 50}, i32), {10, 15, 20, 25, 35})
  local one = accumulator()
  local left, right = one:as "left", one:as "right"
  local top = tide.kernel {x = i32[1], y = i32[1], z = i32[1], function(x, y, z)
    left(x, y)
    if x[0] > 4 then right(x, z) end
  end}
  local s = tide.schedule(top)
  local x, y, z = i32[1](0), i32[1](0), i32[1](0)
  for _, v in ipairs {5, 2, 10} do
    x[0] = v
    s(x, y, z)
  end
  t.eq({y[0], z[0]}, {17, 15})
end)

t.test("A25: a systolic array from a product", function()
  local M, N, K = 2, 2, 2
  local k = tide.kernel {A = i8[M][K], B = i8[K][N], C = i16[M][N], name = "gemm", function(A, B, C)
    for i, j in grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
  local s = tide.schedule(k)
  local _, bufA = s:buffer_at("A", "j")
  local _, bufB = s:buffer_at("B", "j")
  local _, pe = s:unfold("PE", {0, 1})
  s:partition("C", {0, 1}):partition("A", 0):partition("B", 1)
  s:relay(bufA, pe, {axis = 1, depth = M + 1})
  s:relay(bufB, pe, {axis = 0, depth = N + 1})
  t.eq(#s:tasks() >= 4, true)
  t.has(tostring(s), "depth = 3")
  same(k, s, {i8[M][K], i8[K][N], i16[M][N]})
end)

t.done()
