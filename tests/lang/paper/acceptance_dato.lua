-- The acceptance cases of dataflow designs that Allo's repository tests and ours must pass: each
-- checks the result against plain arithmetic, and the structure of the design.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local i16, i32, f32, task, grid = tide.i16, tide.i32, tide.f32, tide.task, tide.grid

-- A tensor of small numbers, whose products fit i32.
local function small_numbers(T, seed) return tide.random(T, seed, {lo = -9, hi = 9}) end

-- States that a design computes C = A B, in every way that must agree.
local function multiplies(d, A, B, C)
  local _, _, got = p.foreign(d, A, B, C)
  t.ok(got:equal(tide.matmul(A, B)) or got:allclose(tide.matmul(A, B)))
end

t.test("A26: a producer and a consumer over 16 x 16 floats, depth 4; puts on even columns only", function()
  local top = tide.design(function(d)
    local Z = d:stream(f32, {depth = 4})
    d.producer = task {A = f32[16][16], function(A)
      for i, j in grid(16, 16) do Z:put(A[i][j]) end
    end}
    d.consumer = task {B = f32[16][16], function(B)
      for i, j in grid(16, 16) do B[i][j] = Z:get() + 1 end
    end}
  end)
  local A = tide.random(f32[16][16], 1)
  local _, B = p.foreign(top, A, f32[16][16](0))
  t.ok(B:equal(f32[16][16](A + 1)))
  local twice = tide.design(function(d)
    local Z = d:stream(f32, {depth = 4})
    d.producer = task {A = f32[16][16], function(A)
      for i, j in grid(16, 16) do
        if j % 2 == 0 then
          Z:put(A[i][j])
          Z:put(A[i][j + 1])
        end
      end
    end}
    d.consumer = task {B = f32[16][16], function(B)
      for i, j in grid(16, 16) do B[i][j] = Z:get() + 1 end
    end}
  end)
  t.eq(tide.verify(top, twice), "strict")
end)

-- Output-stationary on a grid of (R + 2) x (S + 2) of one task: sums stay, both operands move; feeders at two borders,
-- drains at the others, nothing in the corners; C tile by tile.
local function bordered(T, M, N, K, R, S)
  return tide.design(function(d)
    tide.assume(M % R == 0)
    tide.assume(N % S == 0)
    local a, b = d:stream(T, {R, S + 1, depth = 2}), d:stream(T, {R + 1, S, depth = 2})
    d.pe = task {map = {R + 2, S + 2}, A = T[M][K], B = T[K][N], C = T[M][N], function(A, B, C, i, j)
      for mt, nt in grid(M // R, N // S) do
        if i > 0 and i <= R and j > 0 and j <= S then
          local sum = T(0)
          for _ in grid(K) do
            local x, y = a[i - 1][j - 1]:get(), b[i - 1][j - 1]:get()
            sum = sum + x * y
            a[i - 1][j]:put(x)
            b[i][j - 1]:put(y)
          end
          C[mt * R + i - 1][nt * S + j - 1] = sum
        elseif j == 0 and i > 0 and i <= R then
          for k in grid(K) do a[i - 1][0]:put(A[mt * R + i - 1][k]) end
        elseif i == 0 and j > 0 and j <= S then
          for k in grid(K) do b[0][j - 1]:put(B[k][nt * S + j - 1]) end
        elseif j == S + 1 and i > 0 and i <= R then
          for _ in grid(K) do local _ = a[i - 1][S]:get() end
        elseif i == R + 1 and j > 0 and j <= S then
          for _ in grid(K) do local _ = b[R][j - 1]:get() end
        end
      end
    end}
  end)
end

-- The calls of a region: a list of {instance, function, arguments}.
local function calls(d)
  local list = {}
  for instance, name, args in d:build {target = "hls"}.source:gmatch 'TIDE_TASK%("([^"]+)", ([%w_]+)%)%(([^\n]*)%);' do
    list[#list + 1] = {instance, name, select(2, args:gsub(",", "")) + 1}
  end
  return list
end

t.test("A27: an output-stationary array with borders, no corners, counts that balance", function()
  for _, z in ipairs {{2, 2, 2}, {4, 4, 2}, {3, 5, 7}} do
    local M, N, K = z[1], z[2], z[3]
    local top = bordered(i32, M, N, K, M, N)
    local g = top:graph()
    t.eq({g.nodes, g.bodies, g.streams}, {M * N + 2 * M + 2 * N, 5, M * (N + 1) + (M + 1) * N})
    t.eq(g.tokens, g.streams * K)
    multiplies(top, small_numbers(i32[M][K], 1), small_numbers(i32[K][N], 2), i32[M][N](0))
  end
  for _, call in ipairs(calls(bordered(i32, 2, 2, 2, 2, 2))) do
    for _, corner in ipairs {"pe[0][0]", "pe[0][3]", "pe[3][0]", "pe[3][3]"} do t.ok(call[1] ~= corner, corner) end
  end
  t.fails(function()
    tide.design(function(d)
      local a = d:stream(i32, {depth = 2})
      d.feed = task {A = i32[2], function(A) for k in grid(2) do a:put(A[k]) end end}
      d.drain = task {function() for _ in grid(3) do local _ = a:get() end end}
    end)
  end, {kind = "illegal"})
end)

-- An output-stationary array of R x S that computes C tile by tile.
local function tiled(M, N, K, R, S)
  return tide.design(function(d)
    tide.assume(M % R == 0)
    tide.assume(N % S == 0)
    local a, b = d:stream(i32, {R, S, depth = 2}), d:stream(i32, {R, S, depth = 2})
    local c = d:stream(i32, {R, S, depth = 2})
    d.load_A = task {A = i32[M][K], function(A)
      for mt, _, k, i in grid(M // R, N // S, K, R) do a[i][0]:put(A[mt * R + i][k]) end
    end}
    d.load_B = task {B = i32[K][N], function(B)
      for _, nt, k, j in grid(M // R, N // S, K, S) do b[0][j]:put(B[k][nt * S + j]) end
    end}
    d.pe = task {map = {R, S}, function(i, j)
      for _ in grid(M // R * (N // S)) do
        local sum = i32(0)
        for _ in grid(K) do
          local x, y = a[i][j]:get(), b[i][j]:get()
          sum = sum + x * y
          if j < S - 1 then a[i][j + 1]:put(x) end
          if i < R - 1 then b[i + 1][j]:put(y) end
        end
        c[i][j]:put(sum)
      end
    end}
    d.store_C = task {C = i32[M][N], function(C)
      for mt, nt, i, j in grid(M // R, N // S, R, S) do
        C[mt * R + i][nt * S + j] = c[i][j]:get()
      end
    end}
  end)
end

t.test("A28: a tiled output-stationary array, on 4 x 4 PEs and on one, of which five functions are left", function()
  local A, B = small_numbers(i32[16][16], 1), small_numbers(i32[16][16], 2)
  local big, small = bordered(i32, 16, 16, 16, 4, 4), bordered(i32, 16, 16, 16, 1, 1)
  t.eq({big:graph().nodes, big:graph().bodies, small:graph().nodes, small:graph().bodies}, {32, 5, 5, 5})
  multiplies(big, A, B, i32[16][16](0))
  multiplies(small, A, B, i32[16][16](0))
  t.eq(tide.verify(big, small), "strict")
  t.eq(tide.verify(big, tiled(16, 16, 16, 4, 4)), "strict")
  -- Each is passed the matrix that it uses and its own ends of streams.
  t.eq(calls(small), {{"pe[0][1]", "pe", 2}, {"pe[1][0]", "pe_1", 2}, {"pe[1][1]", "pe_2", 5}, {"pe[1][2]", "pe_3", 1},
    {"pe[2][1]", "pe_4", 1}})
  -- Allo's functions take all three matrices, and their ends of streams: 4, 4, 7, 4 and 4 arguments.
  local ends = {}
  for args in small:build {target = "hls"}.source:gmatch 'TIDE_TASK%("pe[^"]+", [%w_]+%)%(([^\n]*)%);' do
    local own = 0
    for arg in args:gmatch "[^, ]+" do own = own + (arg:find "^[ABC]$" and 0 or 1) end
    ends[#ends + 1] = 3 + own
  end
  t.eq(ends, {4, 4, 7, 4, 4})
end)

t.test("A29: a weight-stationary array: sums move down, the first row gets none, the last one writes", function()
  local M, N, K = 4, 4, 4
  local top = tide.design(function(d)
    local a, sum = d:stream(f32, {K, N + 1, depth = 2}), d:stream(f32, {K - 1, N, depth = 2})
    d.pe = task {map = {K, N + 2}, A = f32[M][K], B = f32[K][N], C = f32[M][N], function(A, B, C, k, n)
      if n == 0 then
        for m in grid(M) do a[k][0]:put(A[m][k]) end
      elseif n == N + 1 then
        for _ in grid(M) do local _ = a[k][N]:get() end
      else
        local w = B[k][n - 1]
        for m in grid(M) do
          local x, above = a[k][n - 1]:get(), f32(0)
          a[k][n]:put(x)
          if k > 0 then above = sum[k - 1][n - 1]:get() end
          if k < K - 1 then sum[k][n - 1]:put(above + x * w) else C[m][n - 1] = above + x * w end
        end
      end
    end}
  end)
  local g = top:graph()
  t.eq({g.nodes, g.bodies, g.streams}, {K * (N + 2), 5, K * (N + 1) + (K - 1) * N})
  local A, B = tide.random(f32[M][K], 1), tide.random(f32[K][N], 2)
  local _, _, C = p.foreign(top, A, B, f32[M][N](0))
  t.ok(C:allclose(tide.matmul(A, B)))
end)

t.test("A30: a split K, whose pairs exchange a block once; a GEMV of two", function()
  local N = 16
  local pairs_of_K = tide.design(function(d)
    local half = d:stream(i32[8][8], {2, 2})
    d.lower = task {map = {2, 2}, A = i32[N][N]:layout "S0R", B = i32[N][N]:layout "RS1",
      function(A, B, i, j)
        half[i][j]:put(tide.matmul(A:slice({}, {0, 8}), B:slice({0, 8}, {})))
      end}
    d.upper = task {map = {2, 2}, A = i32[N][N]:layout "S0R", B = i32[N][N]:layout "RS1",
      C = i32[N][N]:layout "S0S1", function(A, B, C, i, j)
        C:set(half[i][j]:get() + tide.matmul(A:slice({}, {8, 16}), B:slice({8, 16}, {})))
      end}
  end)
  local A, B = small_numbers(i32[N][N], 1), small_numbers(i32[N][N], 2)
  multiplies(pairs_of_K, A, B, i32[N][N](0))
  local gemv = tide.design(function(d)
    local Aarg, xarg = d:arg(i32[N][N]), d:arg(i32[N])
    local part = d:stream(i32[N])
    d.first = task {A = Aarg, x = xarg, function(A, x)
      local y = i32[N](0)
      for i, k in grid(N, 8) do y[i] = y[i] + A[i][k] * x[k] end
      part:put(y)
    end}
    d.second = task {A = Aarg, x = xarg, y = i32[N], function(A, x, y)
      local z = part:get()
      for i in grid(N) do
        y[i] = z[i]
        for k in grid(8) do y[i] = y[i] + A[i][8 + k] * x[8 + k] end
      end
    end}
  end)
  local x = small_numbers(i32[N], 3)
  local _, _, y = p.foreign(gemv, A, x, i32[N](0))
  for i = 0, N - 1 do
    local want = 0
    for k = 0, N - 1 do want = want + A[i][k] * x[k] end
    t.eq(y[i], want)
  end
end)

t.test("A31: blocks of 4 x 4 int16, rows of floats, two streams side by side", function()
  local top = tide.design(function(d)
    local Z, Y = d:stream(i16[4][4], {depth = 2}), d:stream(f32[8])
    d.send = task {A = i16[3][4][4], x = f32[2][8], function(A, x)
      for n in grid(3) do Z:put(A[n]) end
      for n in grid(2) do Y:put(x[n]) end
    end}
    d.take = task {B = i16[3][4][4], y = f32[2][8], function(B, y)
      for n in grid(3) do B[n]:set(Z:get() + 1) end
      for n in grid(2) do
        local v = Y:get()
        for i in grid(8) do y[n][i] = 2 * v[i] + 1 end
      end
    end}
  end)
  local A, x = tide.random(i16[3][4][4], 1), tide.random(f32[2][8], 2)
  local _, _, B, y = p.foreign(top, A, x, i16[3][4][4](0), f32[2][8](0))
  t.ok(B:equal(i16[3][4][4](A + 1)))
  for n, i in grid(2, 8) do t.eq(y[n][i], 2 * x[n][i] + 1) end
  local text = top:build {target = "hls"}.source
  t.has(text, "hls::stream<hls::vector<ap_int<16>, 16>, 2> Z;")
  t.has(text, "hls::stream<hls::vector<float, 8>, 2> Y;")
end)

-- A layer: rows of X from one stream, rows of max(X W, 0) or of X W into another.
local function layer(d, name, rows, I, O, from, to, relu)
  d[name] = task {W = d:arg(f32[I][O]), function(W)
    for _ in grid(rows) do
      local x, y = f32[I](), f32[O](0)
      for k in grid(I) do x[k] = from:get() end
      for i in grid(I, "i") do
        for o in grid(O, "o") do y[o] = y[o] + x[i] * W[i][o] end
      end
      for k in grid(O) do
        if relu then to:put(tide.max(y[k], 0)) else to:put(y[k]) end
      end
    end
  end}
end

t.test("A32: an MLP of three kernels, FIFOs of a batch of rows, each pipelined", function()
  local BS, widths = 2, {256, 128, 64, 2}
  local top = tide.design(function(d)
    local S = {}
    for l = 1, 4 do S[l] = d:stream(f32, {depth = BS * widths[l]}) end
    local S1, S2, S3, S4 = S[1], S[2], S[3], S[4]
    d.load = task {X = f32[BS][256], function(X)
      for b, i in grid(BS, 256) do S1:put(X[b][i]) end
    end}
    layer(d, "first", BS, 256, 128, S1, S2, true)
    layer(d, "second", BS, 128, 64, S2, S3, true)
    layer(d, "third", BS, 64, 2, S3, S4, false)
    d.store = task {Y = f32[BS][2], function(Y)
      for b, i in grid(BS, 2) do Y[b][i] = S4:get() end
    end}
  end)
  local s = tide.schedule(top)
  for _, name in ipairs {"first", "second", "third"} do
    local lanes = name == "third" and 2 or 8
    s:pipeline(name .. ":i"):unroll(name .. ":o", lanes):partition(name .. ":y", {factor = lanes})
  end
  t.eq(s:verify(), "strict")
  for mark, n in pairs {["pipeline%(1%)"] = 3, ["unroll%(8%)"] = 2, ["partition%(0, cyclic, 8%)"] = 2} do
    t.eq({mark, select(2, tostring(s):gsub(mark, ""))}, {mark, n}, tostring(s))
  end
  local text = s:build {target = "hls", testbench = false}.source
  t.eq(select(2, text:gsub("#pragma HLS pipeline II=1", "")), 3)
  t.has(text, "#pragma HLS array_partition variable=y type=cyclic dim=1 factor=8")
  t.has(text, "hls::stream<float, 512>")
  local X, W = tide.random(f32[BS][256], 1), {}
  for l = 1, 3 do W[l] = tide.random(f32[widths[l]][widths[l + 1]], l + 1) end
  local Y = f32[BS][2](0)
  s(W[1], W[2], W[3], X, Y)
  for b = 0, BS - 1 do
    local row = {}
    for i = 0, 255 do row[i] = X[b][i] end
    for l = 1, 3 do
      local nextrow = {}
      for o = 0, widths[l + 1] - 1 do
        local sum = 0.0
        for i = 0, widths[l] - 1 do sum = sum + row[i] * W[l][i][o] end
        nextrow[o] = l < 3 and math.max(sum, 0.0) or sum
      end
      row = nextrow
    end
    for o = 0, 1 do t.ok(math.abs(Y[b][o] - row[o]) <= 1e-4 * math.max(1, math.abs(row[o])), Y[b][o]) end
  end
end)

t.test("A33: two instances run one inner design, on 2 x 2 and on 4 x 4 PEs", function()
  local A, B = small_numbers(i32[16][16], 1), small_numbers(i32[16][16], 2)
  local small, large = tiled(16, 16, 16, 2, 2), tiled(16, 16, 16, 4, 4)
  local top = tide.design(function(d)
    local a, b = d:arg(i32[16][16]), d:arg(i32[16][16])
    d.first = task {A = a, B = b, C = i32[16][16], function(A, B, C) small(A, B, C) end}
    d.second = task {A = a, B = b, D = i32[16][16], function(A, B, D) large(A, B, D) end}
  end)
  local _, _, C, D = p.foreign(top, A, B, i32[16][16](0), i32[16][16](0))
  t.ok(C:equal(tide.matmul(A, B)) and D:equal(C))
end)

t.test("A34: two tasks whose parameters have one name are bound to different arguments", function()
  local top = tide.design(function(d)
    local A, B = d:arg(i32[4]), d:arg(i32[4])
    d.first = task {X = A, function(X) for i in grid(4) do X[i] = i + 1 end end}
    d.second = task {X = B, function(X) for i in grid(4) do X[i] = 10 * (i + 1) end end}
  end)
  local A, B = p.foreign(top, i32[4](0), i32[4](0))
  t.eq(A:table(), {1, 2, 3, 4})
  t.eq(B:table(), {10, 20, 30, 40})
end)

t.test("A35: a vector add on four instances: plain, bundles of 4, of 2 + 2, of bundles", function()
  local top = tide.design(function(d)
    d.add = task {map = {4}, A = i32[1024]:layout "S0", B = i32[1024]:layout "S0",
      C = i32[1024]:layout "S0", function(A, B, C) C:set(A + B) end}
  end)
  local A, B = tide.random(i32[1024], 1), tide.random(i32[1024], 2)
  local function nodes(steps)
    local s = tide.schedule(top)
    steps(s)
    t.eq(s:verify(), "strict")
    local C = i32[1024](0)
    s(A, B, C)
    t.ok(C:equal(i32[1024](A + B)))
    return s:graph().nodes
  end
  t.eq(nodes(function() end), 4)
  t.eq(nodes(function(s) s:bundle("add") end), 1)
  t.eq(nodes(function(s) s:bundle("add", {factor = 2}) end), 2)
  t.eq(nodes(function(s)
    s:bundle("add", {factor = 2})
    s:bundle("add")
  end), 1)
end)

-- A product of N x N on 2 x 2, whose blocks have `rows` rows as far as the body knows.
local function blocks_of(N, rows)
  return tide.design(function(d)
    d.mm = task {map = {2, 2}, A = i32[N][N]:layout "S1R", B = i32[N][N]:layout "RS0",
      C = i32[N][N]:layout "S1S0", function(A, B, C)
        for i, j in grid(rows, 32) do
          C[i][j] = 0
          for k in grid(64) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
        end
      end}
  end)
end

t.test("A36: a GEMM of 64^3 on 2 x 2: bundle rows; local shapes 32 x 64, 64 x 32, 32 x 32", function()
  local N = 64
  local top = blocks_of(N, 32)
  t.fails(function() blocks_of(N, 33) end, {kind = "illegal", code = "index-range"})
  local text = top:build {target = "hls", testbench = false}.source
  for _, block in ipairs {"A[32][64];", "B[64][32];", "C[32][32];"} do t.has(text, block) end
  local A, B = small_numbers(i32[N][N], 1), small_numbers(i32[N][N], 2)
  multiplies(top, A, B, i32[N][N](0))
  local function check(nodes, steps)
    local s = tide.schedule(top)
    steps(s)
    t.eq(s:graph().nodes, nodes)
    t.eq(s:verify(), "strict")
    local C = i32[N][N](0)
    s(A, B, C)
    t.ok(C:equal(tide.matmul(A, B)))
  end
  check(2, function(s) s:bundle("mm", {axis = 0}) end)
  check(2, function(s) s:bundle("mm", {axis = 1}) end)
  check(1, function(s)
    local _, upper = s:chain("mm[0][0]", "mm[0][1]")
    local _, lower = s:chain("mm[1][0]", "mm[1][1]")
    t.eq(s:graph().nodes, 2)
    s:bundle {upper, lower}
  end)
end)

-- Products of a split K, each added to what the one before it sends, over one array of streams.
local function split_K(M, N, K, P)
  local Kp = K // P
  return tide.design(function(d)
    local A, B, Z = d:arg(i16[M][K]), d:arg(i16[K][N]), d:stream(i32[M][N], {P - 1})
    local function product(A, B, q)
      return tide.matmul(A:slice({}, {q * Kp, q * Kp + Kp}), B:slice({q * Kp, q * Kp + Kp}, {}))
    end
    d.leaf0 = task {A = A, B = B, function(A, B) Z[0]:put(product(A, B, 0)) end}
    for q = 1, P - 2 do
      d["leaf" .. q] = task {A = A, B = B, function(A, B)
        Z[q]:put(Z[q - 1]:get() + product(A, B, q))
      end}
    end
    d["leaf" .. P - 1] = task {A = A, B = B, C = i32[M][N], function(A, B, C)
      C:set(Z[P - 2]:get() + product(A, B, P - 1))
    end}
  end)
end

t.test("A37: a split K of four: chained, one node without streams is left", function()
  local M, N, K, P = 32, 32, 128, 4
  local s = tide.schedule(split_K(M, N, K, P))
  t.eq(s:graph().nodes, 4)
  for q = 1, P - 1 do s:chain("leaf0", "leaf" .. q) end
  t.eq(s:graph().nodes, 1)
  t.eq(s:graph().streams, 0)
  t.eq(s:verify(), "strict")
  local A, B, C = tide.random(i16[M][K], 1), tide.random(i16[K][N], 2), i32[M][N](0)
  s(A, B, C)
  t.ok(C:equal(tide.matmul(A, B)))
end)

t.test("A38: two layers in tensor parallel: chained and bundled, X W1 W2 exactly", function()
  local N = 8
  local top = tide.design(function(d)
    local h, part = d:stream(i32[N][N // 2], {2}), d:stream(i32[N][N], {2})
    local X = d:arg(i32[N][N])
    d.up = task {map = {2}, X = X, W1 = i32[N][N]:layout "RS0", function(X, W1, q)
      h[q]:put(tide.matmul(X, W1))
    end}
    d.down = task {map = {2}, W2 = i32[N][N]:layout "S0R", function(W2, q)
      part[q]:put(tide.matmul(h[q]:get(), W2))
    end}
    d.add = task {Y = i32[N][N], function(Y)
      local y = i32[N][N](0)
      for q in grid(2) do y:set(y + part[q]:get()) end
      Y:set(y)
    end}
  end)
  local X, W1, W2 = small_numbers(i32[N][N], 1), small_numbers(i32[N][N], 2), small_numbers(i32[N][N], 3)
  local want = tide.matmul(tide.matmul(X, W1), W2)
  local function check(steps, nodes)
    local s = tide.schedule(top)
    for _, step in ipairs(steps) do s[step[1]](s, table.unpack(step, 2)) end
    t.eq(s:graph().nodes, nodes)
    t.eq(s:verify(), "strict")
    local Y = i32[N][N](0)
    s(X, W1, W2, Y)
    t.ok(Y:equal(want))
  end
  check({}, 5)
  check({{"chain", "up", "down"}}, 3)
  check({{"bundle", "up"}, {"bundle", "down"}}, 3)
  check({{"chain", "up", "down"}, {"bundle", "up"}, {"chain", "up", "add"}}, 1)
end)

t.test("A39: four pipes of 32 gathered and scattered back; bundled sources give the same rows", function()
  local top = tide.design(function(d)
    local into, out = d:stream(i32[32], {4}), d:stream(i32[32], {4})
    d.source = task {map = {4}, A = i32[4][32]:layout "S0R", function(A, q) into[q]:put(A[0]) end}
    d.middle = task {function()
      local all = into:gather()
      out:scatter(all * 2)
    end}
    d.sink = task {map = {4}, B = i32[4][32]:layout "S0R", function(B, q) B[0]:set(out[q]:get()) end}
  end)
  local A = tide.random(i32[4][32], 1)
  local _, B = p.foreign(top, A, i32[4][32](0))
  t.ok(B:equal(i32[4][32](A * 2)))
  local s = tide.schedule(top)
  s:bundle("source")
  s:bundle("sink")
  t.eq(s:graph().nodes, 3)
  t.eq(s:verify(), "strict")
end)

p.done()
