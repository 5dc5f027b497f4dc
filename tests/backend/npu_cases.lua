-- [slow] npu_cases.lua - programs that people put on NPUs, each an ordinary design with the steps that lead it there,
-- at three sizes and under other names: bits of the CPU, both texts the same, mlir-opt, the verifier.
local npu_case = require "npu_case"
local t = require "tap"
local tide = require "tide"
local i8, i16, i32, f32, bf16, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.bf16, tide.grid

local chunk, case, wide = npu_case.chunk, npu_case.case, npu_case.wide

case("N01: y = a x + b on 16 cores, a and b scalars of the call", {
  design = [[return tide.design(function(d)
    d.$axpy = task {
      map = {4, 4}, $a = T, $b = T, $x = T[4][4][z.n * z.m]:layout "S0S1R", $y = T[4][4][z.n * z.m]:layout "S0S1R",
      function($a, $b, $x, $y)
        for j, i in grid(z.n, z.m) do $y[0][0][j * z.m + i] = T($a * $x[0][0][j * z.m + i] + $b) end
      end,
    }
  end)]],
  steps = [[local s = ...
    for _, name in ipairs {"$x", "$y"} do
      local _, array = s:buffer_at("$axpy:" .. name, "$axpy:j")
      local _, host = s:isolate("$axpy:" .. array)
      s:coalesce(host, {axis = 1})
    end
    s:place("$axpy", {0, 2}, {by = {{1, 0}, {0, 1}}})]],
  types = function(z) return {z.T == bf16 and 1.5 or 3, 7, z.T[4][4][z.n * z.m], z.T[4][4][z.n * z.m]} end,
  sizes = {{T = i32, n = 2, m = 16}, {T = i16, n = 3, m = 8, axpy = "line", a = "slope", b = "start", x = "u", y = "v"},
    {T = bf16, n = 1, m = 64, axpy = "go", x = "y", y = "x"}},
  devices = {"npu1", "npu2"},
})

case("N02: softmax of rows, up to 10,000", {
  design = [[return tide.design(function(d)
    d.$softmax = task {
      map = {z.P}, $x = T[z.P * z.r][z.c]:layout "S0R", $y = T[z.P * z.r][z.c]:layout "S0R",
      function($x, $y)
        for i in grid(z.r) do
          local most, sum = tide.f32($x[i][0]), tide.f32(0)
          for j in grid(z.c) do most = tide.max(most, tide.f32($x[i][j])) end
          for j in grid(z.c) do sum = sum + tide.exp(tide.f32($x[i][j]) - most) end
          for j in grid(z.c) do $y[i][j] = T(tide.exp(tide.f32($x[i][j]) - most) / sum) end
        end
      end,
    }
  end)]],
  types = function(z) return {{z.T[z.P * z.r][z.c], wide}, z.T[z.P * z.r][z.c]} end,
  sizes = {{T = bf16, P = 4, r = 2, c = 32}, {T = bf16, P = 1, r = 5, c = 10, softmax = "rows", x = "score"},
    {T = f32, P = 3, r = 3, c = 7, y = "weight"}},
  options = {math = "host"},
  devices = {"npu1", "npu2"},
})

case("N03: layernorm, gamma and beta by way of a neighbour", {
  design = [[return tide.design(function(d)
    local $s = d:stream(T[z.c], {z.P, block = true})
    d.$params = task {
      map = {z.P}, $gamma = T[z.c], $beta = T[z.c],
      function($gamma, $beta, p)
        local g, b = T[z.c](), T[z.c]()
        for j in grid(z.c) do g[j] = $gamma[j] end
        for j in grid(z.c) do b[j] = $beta[j] end
        local o = $s[p]:slot()
        for j in grid(z.c) do o[j] = g[j] end
        $s[p]:put(o)
        local q = $s[p]:slot()
        for j in grid(z.c) do q[j] = b[j] end
        $s[p]:put(q)
      end,
    }
    d.$norm = task {
      map = {z.P}, $x = T[z.P * z.r][z.c]:layout "S0R", $y = T[z.P * z.r][z.c]:layout "S0R",
      function($x, $y, p)
        local g, b = $s[p]:get(), $s[p]:get()
        for i in grid(z.r) do
          local u, v = T[z.c](), T[z.c]()
          for j in grid(z.c) do u[j] = $x[i][j] end
          local w = tide.f32[2]()
          w[0] = 0
          w[1] = 0
          for j in grid(z.c) do w[0] = w[0] + tide.f32(u[j]) / z.c end
          for j in grid(z.c) do w[1] = w[1] + (tide.f32(u[j]) - w[0]) * (tide.f32(u[j]) - w[0]) end
          for j in grid(z.c) do
            v[j] = T((tide.f32(u[j]) - w[0]) / tide.sqrt(w[1] / z.c + 1e-5) * tide.f32(g[j]) + tide.f32(b[j]))
          end
          for j in grid(z.c) do $y[i][j] = v[j] end
        end
      end,
    }
  end)]],
  steps = [[local s = ...
    for _, name in ipairs {"$params:g", "$params:b"} do
      local _, host = s:isolate(name)
      s:coalesce(host, {axis = 0})
    end
    s:isolate "$norm:u"
    s:isolate "$norm:v"
    s:place("$norm", {0, 2}, {by = {{1, 0}}})
    s:place("$params", {0, 3}, {by = {{1, 0}}})]],
  types = function(z) return {z.T[z.c], z.T[z.c], z.T[z.P * z.r][z.c], z.T[z.P * z.r][z.c]} end,
  sizes = {{T = f32, P = 4, r = 3, c = 16},
    {T = bf16, P = 2, r = 2, c = 32, norm = "ln", params = "affine", x = "rows"},
    {T = f32, P = 1, r = 5, c = 6, s = "affine", gamma = "by", beta = "plus"}},
})

local gemv = {
  design = [[return tide.design(function(d)
    d.$gemv = task {
      map = {z.P}, $A = T[z.P * z.m][z.n]:layout "S0R", $x = T[z.n], $y = R[z.P * z.m]:layout "S0",
      function($A, $x, $y)
        for i in grid(z.m) do
          local sum = R(0)
          for j in grid(z.n) do sum = sum + R($A[i][j]) * R($x[j]) end
          $y[i] = sum
        end
      end,
    }
  end)]],
  types = function(z) return {z.T[z.P * z.m][z.n], z.T[z.n], z.R[z.P * z.m]} end,
  sizes = {{T = i8, R = i32, P = 4, m = 4, n = 64}, {T = bf16, R = f32, P = 2, m = 8, n = 24, gemv = "mv", A = "W"},
    {T = i16, R = i32, P = 3, m = 4, n = 10, x = "v", y = "u"}, {T = i8, R = i32, P = 16, m = 4, n = 8}},
  devices = {"npu1", "npu2"},
}
case("N04: GEMV", gemv)

t.test("N04: 2048 x 2048 on 16 cores, by what four of the host's channels carry; the vector is sent once", function()
  local model = require "tide.npu.core".model()
  for _, z in ipairs {{T = i8, R = i32, bytes = 1}, {T = bf16, R = f32, bytes = 2}} do
    z.P, z.m, z.n = 16, 128, 2048
    local m = chunk(gemv.design, z)():build {target = "npu", tool = false}
    t.has(m.steps, 's:hoist("gemv:x_i", "gemv:i")')
    t.has(m.steps, 's:coalesce("A_in", {axis = 0, factor = 4})')
    local carried = z.bytes * 2048 * 2048 / m:simulate().cycles
    t.ok(carried > 0.9 * 4 * model.STREAM.value, carried .. " bytes a cycle")
  end
end)

t.test("N04: 2048 x 2048 on 8 cores, a channel each, on which the vector goes first: what memory gives", function()
  local model = require "tide.npu.core".model()
  for _, z in ipairs {{T = i8, R = i32, bytes = 1}, {T = bf16, R = f32, bytes = 2}} do
    local n, P = 2048, 8
    local s = tide.schedule(tide.design(function(d)
      d.gemv = tide.task {
        map = {P}, A = z.T[n][n]:layout "S0R", x = z.T[n], y = z.R[n]:layout "S0",
        function(A, x, y)
          local v, part = z.T[n](), z.R[n // P]()
          do
            local first = z.T[n]()
            for j in grid(n) do first[j] = x[j] end
            for j in grid(n) do v[j] = first[j] end
          end
          for i in grid(n // P) do
            local row, sum = z.T[n](), z.R(0)
            for j in grid(n) do row[j] = A[i][j] end
            for all in grid(n) do sum = sum + z.R(row[all]) * z.R(v[all]) end
            part[i] = sum
          end
          for i in grid(n // P) do y[i] = part[i] end
        end,
      }
    end))
    if z.R == f32 then s:split("gemv:all", 16, {tail = "perfect"}):rfactor("gemv:all_i", {reassociate = true}) end
    for _, array in ipairs {"first", "row", "part"} do s:isolate("gemv:" .. array) end
    s:chain("x_in", "A_in"):merge {"first_s", "row_s"}
    local carried = z.bytes * n * n / s:build {target = "npu", tool = false}:simulate().cycles
    t.ok(carried > 0.9 * model.BANDWIDTH.value, carried .. " bytes a cycle")
  end
end)

case("N06, N16: a product on one core, then on 1 x 4, 2 x 4 and 4 x 4 of the same design", {
  design = [[return tide.design(function(d)
    d.$gemm = task {
      map = {z.K // z.k, 4, 4}, $A = T[4 * z.m][z.K]:layout "S1S0", $B = T[z.K][4 * z.n]:layout "S0S2",
      $C = R[4 * z.m][4 * z.n]:layout "S1S2",
      function($A, $B, $C) $C:set(tide.allreduce(tide.matmul($A, $B, {acc = R}), "+")) end,
    }
  end)]],
  steps = [[local s = ...
    s:bundle("$gemm", {axis = 0}):chain("$gemm", "$gemm_allreduce")
    if z.J > 1 then s:bundle("$gemm", z.J < 4 and {axis = 1, factor = z.J} or {axis = 1}) end
    if z.I > 1 then s:bundle("$gemm", z.I < 4 and {axis = 0, factor = z.I} or {axis = 0}) end
    s:expand "$gemm_part"
    s:buffer_at("$gemm:$A", "x"):buffer_at("$gemm:$B", "x")
    local _, a = s:isolate "$gemm:$A_x"
    local _, b = s:isolate "$gemm:$B_x"
    local _, c = s:isolate("acc", {depth = 1})
    if z.J < 4 and z.I < 4 then
      s:coalesce(a, {axis = 1}):coalesce(b, {axis = 0}):coalesce(c, {axis = 0})
      s:place("$gemm", {0, 2}, {by = {{0, 1}, {1, 0}}})
    elseif z.J < 4 then
      s:coalesce(a, {axis = 0}):place("$gemm", {0, 2}, {by = {{1, 0}}})
    else
      s:place("$gemm", {0, 2})
    end]],
  types = function(z) return {z.T[4 * z.m][z.K], z.T[z.K][4 * z.n], z.R[4 * z.m][4 * z.n]} end,
  sizes = {{T = i16, R = i32, m = 4, n = 8, k = 4, K = 8, I = 1, J = 1},
    {T = i16, R = i32, m = 4, n = 8, k = 4, K = 8, I = 2, J = 1, gemm = "mm", A = "X", B = "Y", C = "Z"},
    {T = i16, R = i32, m = 4, n = 8, k = 4, K = 8, I = 4, J = 1},
    {T = i16, R = i32, m = 4, n = 8, k = 4, K = 8, I = 4, J = 4},
    {T = i8, R = i32, m = 8, n = 4, k = 12, K = 24, I = 1, J = 2, gemm = "product"},
    {T = bf16, R = f32, m = 2, n = 6, k = 8, K = 16, I = 2, J = 2, C = "out"}},
})

case("N07: a transposed factor of 32 bits, by DMA", {
  design = [[return tide.design(function(d)
    d.$turn = task {
      map = {z.P}, $A = T[z.n][z.P * z.m]:layout "RS0", $B = T[z.P * z.m][z.n]:layout "S0R",
      function($A, $B)
        local a, b = T[z.m][z.n](), T[z.m][z.n]()
        for i, j in grid(z.m, z.n) do a[i][j] = $A[j][i] end
        for i, j in grid(z.m, z.n) do b[i][j] = T(a[i][j] * 3) end
        for i, j in grid(z.m, z.n) do $B[i][j] = b[i][j] end
      end,
    }
  end)]],
  types = function(z) return {z.T[z.n][z.P * z.m], z.T[z.P * z.m][z.n]} end,
  sizes = {{T = i32, P = 2, m = 8, n = 4}, {T = f32, P = 1, m = 3, n = 5, turn = "flip", A = "X"},
    {T = i32, P = 4, m = 2, n = 16, B = "out"}},
})

case("N08: convolution of 3 x 3, rows of the halo read twice by the host", {
  design = [[return tide.design(function(d)
    d.$conv = task {
      map = {z.P}, $x = T[(z.P * z.h - 1) * z.stride + 3][z.w][z.c], $f = T[3][3][z.c],
      $y = R[z.P * z.h][z.v]:layout "S0R",
      function($x, $f, $y, p)
        local k = T[3][3][z.c]()
        for u, v, q in grid(3, 3, z.c) do k[u][v][q] = $f[u][v][q] end
        for i in grid(z.h) do
          local rows, out = T[3][z.w][z.c](), R[z.v]()
          for u, j, q in grid(3, z.w, z.c) do rows[u][j][q] = $x[(p * z.h + i) * z.stride + u][j][q] end
          for j in grid(z.v) do out[j] = 0 end
          for j, u, v, q in grid(z.v, 3, 3, z.c) do
            out[j] = out[j] + R(rows[u][j * z.stride + v][q]) * R(k[u][v][q])
          end
          for j in grid(z.v) do $y[i][j] = out[j] end
        end
      end,
    }
  end)]],
  steps = [[local s = ...
    local _, filter = s:isolate "$conv:k"
    s:coalesce(filter, {axis = 0})
    s:isolate "$conv:rows"
    s:isolate "$conv:out"]],
  types = function(z)
    return {z.T[(z.P * z.h - 1) * z.stride + 3][z.w][z.c], z.T[3][3][z.c], z.R[z.P * z.h][z.v]}
  end,
  sizes = {{T = i8, R = i32, P = 4, h = 2, w = 10, v = 8, c = 4, stride = 1},
    {T = i8, R = i32, P = 2, h = 3, w = 11, v = 5, c = 8, stride = 2, conv = "blur", x = "image", f = "taps"},
    {T = i16, R = i32, P = 3, h = 1, w = 6, v = 4, c = 2, stride = 1, y = "image"}},
})

local function attention_types(z)
  return {{z.T[z.H][z.N][z.D], wide}, z.T[z.H][z.D][z.N], z.T[z.H][z.N][z.D], z.T[z.H][z.N][z.D]}
end

case("N09: attention, rows of queries in columns of four cores, streams merged, keys and values sent once", {
  design = npu_case.attention,
  steps = [[local s = ...
    local turns = z.N // z.q // z.cols
    s:bundle("$scores", {axis = 2}):bundle("values", {axis = 2})
    for _, name in ipairs {"$scores", "$softmax", "values", "acc"} do
      s:bundle(name, {axis = 1, factor = turns}):bundle(name, {axis = 0})
    end
    for _, name in ipairs {"$score", "weight", "part"} do s:merge(name, {axis = 2}) end
    for _, name in ipairs {"$score", "weight", "part", "scale", "total"} do
      s:merge(name, {axis = 1, factor = turns}):merge(name, {axis = 0})
    end
    s:expand "$scores":expand "values"
    s:buffer_at("$scores:$Q", "$scores:i_i"):buffer_at("$scores:$K", "$scores:j"):buffer_at("values:$V", "values:j")
    s:isolate "$scores:$Q_i_i":isolate "acc:o"
    for _, name in ipairs {"$scores:$K_j", "values:$V_j"} do
      local _, host = s:isolate(name)
      s:coalesce(host, {axis = 0})
    end
    for row, name in ipairs {"$scores", "$softmax", "values", "acc"} do
      s:place(name, {0, row + 1}, {by = {{1, 0}}})
    end]],
  types = attention_types,
  sizes = {{T = bf16, H = 2, N = 32, D = 8, q = 4, k = 8, cols = 4, causal = false},
    {T = bf16, H = 1, N = 16, D = 4, q = 4, k = 4, cols = 2, causal = true, scores = "qk", Q = "queries", score = "x"},
    {T = f32, H = 3, N = 24, D = 2, q = 2, k = 12, cols = 4, causal = true, softmax = "soft", V = "values_of"}},
  options = {math = "host"},
  devices = {"npu1", "npu2"},
})

case("N10: SwiGLU, gate and up on two halves of the array in one launch, the gate by way of a neighbour", {
  design = [[local P, Q, m, n, K = 4 * z.I, 2 * z.J, z.m, z.n, z.K
    return tide.design(function(d)
      local $half = d:stream(tide.f32[m][n], {P, Q})
      d.$gate = task {map = {P, Q}, $X = T[P * m][K]:layout "S0R", $G = T[K][Q * n]:layout "RS1",
        function($X, $G, i, j) $half[i][j]:put(tide.matmul($X, $G, {acc = tide.f32})) end}
      d.up = task {
        map = {P, Q}, $X = T[P * m][K]:layout "S0R", U = T[K][Q * n]:layout "RS1", Y = T[P * m][Q * n]:layout "S0S1",
        function($X, U, Y, i, j)
          local sum, y = tide.f32[m][n](), T[m][n]()
          sum:set(tide.matmul($X, U, {acc = tide.f32}))
          local g = $half[i][j]:get()
          for r, c in grid(m, n) do y[r][c] = T(g[r][c] / (1 + tide.exp(-g[r][c])) * sum[r][c]) end
          for r, c in grid(m, n) do Y[r][c] = y[r][c] end
        end,
      }
    end)]],
  steps = [[local s = ...
    for _, name in ipairs {"$gate", "up"} do
      if z.I > 1 then s:bundle(name, {axis = 0, factor = z.I}) end
      if z.J > 1 then s:bundle(name, {axis = 1, factor = z.J}) end
    end
    if z.I > 1 then s:merge("$half", {axis = 0, factor = z.I}) end
    if z.J > 1 then s:merge("$half", {axis = 1, factor = z.J}) end
    local function hand_out(host, column)
      local _, mem = s:coalesce(host, {axis = 0})
      s:place(mem, {column, 1}, {by = {{2, 0}}})
    end
    for column, x in ipairs {{"$gate", "$G"}, {"up", "U"}} do
      local name = x[1]
      s:expand(name):split(name .. ":k", z.k):reorder(name .. ":k_o", name .. ":i_1")
      for _, a in ipairs {"$X", x[2]} do
        s:buffer_at(name .. ":" .. a, name .. ":k_o")
        local _, host = s:isolate(name .. ":" .. a .. "_k_o")
        hand_out(host, column - 1)
      end
      s:place(name, {column - 1, 2}, {by = {{0, 1}, {2, 0}}})
    end
    local _, y = s:isolate "up:y"
    hand_out(y, 1)]],
  types = function(z)
    local T, M, N = z.T, 4 * z.I * z.m, 2 * z.J * z.n
    return {T[M][z.K], T[z.K][N], T[z.K][N], T[M][N]}
  end,
  sizes = {{T = bf16, I = 1, J = 1, m = 2, n = 4, K = 16, k = 4},
    {T = bf16, I = 2, J = 1, m = 4, n = 2, K = 8, k = 2, gate = "swish", half = "gated", X = "hidden", G = "W1"},
    {T = f32, I = 1, J = 3, m = 1, n = 5, K = 6, k = 3, G = "by"}},
  options = {math = "host"},
  devices = {"npu1", "npu2"},
})

case("N11: layernorm, GEMM, GELU, GEMM of a GPT-2 block, weights of 4 bits as tables of the cores", {
  design = [[local quant = require "tide.quant"
    local M, D, H = z.M, z.D, z.H
    local function weights(K, N, seed)
      local scale = math.floor(65536 * 32 / (184 * math.sqrt(K)))
      return {W = quant.pack(tide.random(tide.int(4)[K][N], seed):table()),
        b = tide.random(tide.i32[N], seed + 1, {lo = -2000, hi = 2000}),
        m = tide.random(tide.u16[N], seed + 2, {lo = scale // 2, hi = scale})}
    end
    local g, b = tide.random(tide.i16[D], 3, {lo = 24, hi = 40}), tide.random(tide.i8[D], 4, {lo = -4, hi = 4})
    local up, down = weights(D, H, 30), weights(H, D, 40)
    local $norm, gelu = quant.layernorm({M = M, N = D}, "$norm"), quant.gelu {shape = {M, H}}
    local first = quant.linear({M = M, K = D, N = H, shift = 16}, "first")
    local $second = quant.linear({M = M, K = H, N = D, shift = 16}, "$second")
    return tide.kernel {
      name = "$mlp", $X = tide.i8[M][D], Y = tide.i8[M][D],
      function($X, Y)
        local e, u, v = tide.i8[M][D](), tide.i8[M][H](), tide.i8[M][H]()
        $norm($X, g, b, e)
        first(e, up.W, up.b, up.m, u)
        gelu(u, v)
        $second(v, down.W, down.b, down.m, Y)
      end,
    }]],
  steps = "(...):dataflow()",
  types = function(z) return {i8[z.M][z.D], i8[z.M][z.D]} end,
  sizes = {{M = 4, D = 8, H = 32}, {M = 3, D = 4, H = 12, norm = "ln", second = "out", X = "x", mlp = "block"},
    {M = 6, D = 12, H = 16, mlp = "ffn"}},
  devices = {"npu1", "npu2"},
})

case("N13: a running sum in a state", {
  design = [[local $seen = tide.state(T[z.n], z.start)
    return tide.design(function(d)
      d.$run = task {$x = T[z.n], $y = T[z.n], function($x, $y)
        local a, b = T[z.n](), T[z.n]()
        for i in grid(z.n) do a[i] = $x[i] end
        for i in grid(z.n) do
          $seen[i] = T($seen[i] + a[i])
          b[i] = $seen[i]
        end
        for i in grid(z.n) do $y[i] = b[i] end
      end}
    end)]],
  types = function(z) return {z.T[z.n], z.T[z.n]} end,
  sizes = {{T = i32, n = 8, start = 5}, {T = f32, n = 3, start = 0.5, run = "mean", seen = "sums"},
    {T = i16, n = 12, start = -1, x = "now"}},
})

case("N14: a constant table by id", {
  design = [[local $table = tide.random(T[z.k], 5)
    return tide.design(function(d)
      d.$map = task {
        map = {z.P}, $x = T[z.P * z.n]:layout "S0", $y = T[z.P * z.n]:layout "S0",
        function($x, $y, p)
          for i in grid(z.n) do $y[i] = $table[(i * 7 + p * 3) % z.k] - $x[i] end
        end,
      }
    end)]],
  types = function(z) return {z.T[z.P * z.n], z.T[z.P * z.n]} end,
  sizes = {{T = i32, P = 4, n = 16, k = 256}, {T = f32, P = 2, n = 4, k = 10, map = "look", table = "known"},
    {T = i32, P = 1, n = 4, k = 1, y = "out"}},
})

case("N15: a pipeline of neighbours", {
  design = [[return tide.design(function(d)
    local $S = d:stream(T[z.n], {3, block = true})
    d.$first = task {$A = T[z.m][z.n], function($A)
      for i in grid(z.m) do
        local o = $S[0]:slot()
        for j in grid(z.n) do o[j] = T($A[i][j] * 2) end
        $S[0]:put(o)
      end
    end}
    d.$second = task {map = {2}, function(p)
      for i in grid(z.m) do
        local x, o = $S[p]:get(), $S[p + 1]:slot()
        for j in grid(z.n) do o[j] = T(x[z.n - 1 - j] + p) end
        $S[p + 1]:put(o)
      end
    end}
    d.$last = task {$B = T[z.m][z.n], function($B)
      for i in grid(z.m) do
        local x = $S[2]:get()
        for j in grid(z.n) do $B[i][j] = T(x[j] * 3) end
      end
    end}
  end)]],
  steps = [[local s = ...
    s:place("$first", {1, 2}):place("$second", {1, 3}, {by = {{0, 1}}}):place("$last", {1, 5})]],
  types = function(z) return {z.T[z.m][z.n], z.T[z.m][z.n]} end,
  sizes = {{T = i32, m = 4, n = 8}, {T = i16, m = 3, n = 2, first = "a", second = "b", last = "c", S = "line"},
    {T = f32, m = 7, n = 5, A = "u", B = "v"}},
})

-- What a case alone tells.

t.test("N05: Dato's Fig. 7 as listed, and with bundle and chain by hand", function()
  for _, z in ipairs {{n = 8, P = 2}, {n = 24, P = 2}, {n = 16, P = 4}} do
    local d = tide.design(function(e)
      e.gemm = tide.task {
        map = {2, z.P, 2}, A = i8[z.n][z.n]:layout "S1S0",
        B = i8[z.n][z.n]:layout "S0S2", C = i32[z.n][z.n]:layout "S1S2",
        function(A, B, C) C:set(tide.allreduce(tide.matmul(A, B), "+")) end,
      }
    end)
    local s = tide.schedule(d):bundle("gemm", {axis = 0}):chain("gemm", "gemm_allreduce")
    local types = {i8[z.n][z.n], i8[z.n][z.n], i32[z.n][z.n]}
    local by_hand, listed = npu_case.same(d, types, {tool = false}, s), npu_case.same(d, types, {tool = false})
    t.has(listed.steps, 's:chain("gemm", "gemm_allreduce")')
    t.eq(listed.source, by_hand.source)
    t.eq(listed.steps:find "coalesce" ~= nil, z.P > 2, "streams are put together where there are too many")
  end
end)

t.test("N09: attention after bundle alone: the build adds the rest", function()
  for _, z in ipairs {{T = bf16, H = 1, N = 32, D = 8, q = 8, k = 8, causal = false},
    {T = f32, H = 1, N = 16, D = 4, q = 8, k = 2, causal = true}} do
    local d = chunk(npu_case.attention, z)()
    local s = tide.schedule(d):bundle("scores", {axis = 2}):bundle("values", {axis = 2})
    local m = npu_case.same(d, attention_types(z), {tool = false, math = "host"}, s)
    t.has(m.steps, 's:merge("weight", {axis = 2})')
    t.has(m.steps, 's:place("K_in_mem"')
  end
end)

t.test("N07: bytes are refused, and arranged by a core", function()
  local function turn(whole)
    return chunk([[return tide.design(function(d)
      d.turn = task {A = T[16][8], B = T[8][16], function(A, B)
        local a, b = T[8][16](), T[8][16]()
        local raw = T[16][8]()
        if z.whole then for i, j in grid(16, 8) do raw[i][j] = A[i][j] end end
        if z.whole then for i, j in grid(8, 16) do a[i][j] = raw[j][i] end end
        if not z.whole then for i, j in grid(8, 16) do a[i][j] = A[j][i] end end
        for i, j in grid(8, 16) do b[i][j] = T(a[i][j] + 1) end
        for i, j in grid(8, 16) do B[i][j] = b[i][j] end
      end}
    end)]], {T = i8, whole = whole})()
  end
  local e = t.fails(function() turn(false):build {target = "npu"} end, {code = "npu-dma"})
  t.has(tostring(e), "no whole words of 4 bytes")
  npu_case.same(turn(true), {i8[16][8], i8[8][16]}, {tool = false})
end)

t.test("N01: scalars that are too wide, or asked for before the call has begun", function()
  local function line(T, early)
    return chunk([[return tide.design(function(d)
      local Z, Y = d:stream(tide.i32[4], {block = true}), d:stream(tide.i32[4], {block = true})
      d.go = task { --@ host
        A = tide.i32[4], function(A)
          local o = Z:slot()
          for i in grid(4) do o[i] = A[i] end
          Z:put(o)
        end}
      d.core = task {by = T, function(by)
        local o = Y:slot()
        if z.early then for i in grid(4) do o[i] = tide.i32(by) end end
        local x = Z:get()
        if z.early then for i in grid(4) do o[i] = o[i] + x[i] end end
        if not z.early then for i in grid(4) do o[i] = x[i] + tide.i32(by) end end
        Y:put(o)
      end}
      d.back = task { --@ host
        B = tide.i32[4], function(B)
          local x = Y:get()
          for i in grid(4) do B[i] = x[i] end
        end}
    end)]], {T = T, early = early or false})()
  end
  local types = {i32[4], 5, i32[4]}
  t.fails(function() line(tide.i64):build {target = "npu"} end, {code = "npu-scalar", match = "32 bits"})
  t.fails(function() line(i32, true):build {target = "npu"} end,
    {code = "npu-scalar", match = "before its first block"})
  npu_case.same(line(i32), types, {tool = false})
  npu_case.same(line(i16), types, {tool = false})
end)

t.test("N13: three calls, and from the start again", function()
  local seen = tide.state(i32[4], 1)
  local d = tide.design(function(e)
    e.sum = tide.task {x = i32[4], y = i32[4], function(x, y)
      local a, b = i32[4](), i32[4]()
      for i in tide.grid(4) do a[i] = x[i] end
      for i in tide.grid(4) do
        seen[i] = seen[i] + a[i]
        b[i] = seen[i]
      end
      for i in tide.grid(4) do y[i] = b[i] end
    end}
  end)
  local m = d:build {target = "npu"}
  local x, y = i32[4](2), i32[4]()
  for k = 1, 3 do
    m(x, y)
    t.eq(y[3], 1 + 2 * k)
  end
  m:reset()
  m(x, y)
  t.eq(y[0], 3)
end)

t.done()
