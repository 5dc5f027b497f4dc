-- [slow] npu_programs.lua - what people write first for an NPU, as it comes, at two sizes: the build adds all that
-- moves data, and gives the bits of the CPU.
local npu_case = require "npu_case"
local t = require "tap"
local tide = require "tide"
local i8, u8, i16, i32, f32, bf16 = tide.i8, tide.u8, tide.i16, tide.i32, tide.f32, tide.bf16
local task, grid = tide.task, tide.grid

-- A program: `make` adds its task to the design of a size, and returns the types of the arguments.
local function program(name, sizes, make, options)
  for i, z in ipairs(sizes) do
    t.test(("%s, %d"):format(name, i), function()
      local types
      local d = tide.design(function(e) types = make(e, z) end)
      npu_case.same(d, types, options)
    end)
  end
end

program("FIR", {{P = 4, n = 24, k = 6, T = i32}, {P = 2, n = 10, k = 3, T = f32}}, function(e, z)
  local P, n, K, T = z.P, z.n, z.k, z.T
  e.fir = task {map = {P}, x = T[P * n + K - 1], h = T[K], y = T[P * n]:layout "S0", function(x, h, y, p)
    for i in grid(n) do
      local sum = T(0)
      for k in grid(K) do sum = sum + x[p * n + i + k] * h[k] end
      y[i] = sum
    end
  end}
  return {T[P * n + K - 1], T[K], T[P * n]}
end)

program("an outer product", {{m = 4, n = 6, P = 2, Q = 2}, {m = 8, n = 4, P = 1, Q = 3}}, function(e, z)
  local m, n, P, Q = z.m, z.n, z.P, z.Q
  e.outer = task {map = {P, Q}, u = i16[P * m]:layout "S0", v = i16[Q * n]:layout "S1",
    M = i32[P * m][Q * n]:layout "S0S1",
    function(u, v, M) for i, j in grid(m, n) do M[i][j] = u[i] * v[j] end end}
  return {i16[P * m], i16[Q * n], i32[P * m][Q * n]}
end)

program("the greatest of each row, and where it is", {{P = 2, r = 4, c = 12}, {P = 3, r = 1, c = 7}}, function(e, z)
  local P, r, c = z.P, z.r, z.c
  e.peak = task {map = {P}, x = f32[P * r][c]:layout "S0R", top = f32[P * r]:layout "S0", at = i32[P * r]:layout "S0",
    function(x, top, at)
      for i in grid(r) do
        local most, where = x[i][0], i32(0)
        for j in grid(c) do
          if x[i][j] > most then
            most = x[i][j]
            where = i32(j)
          end
        end
        top[i] = most
        at[i] = where
      end
    end}
  return {f32[P * r][c], f32[P * r], i32[P * r]}
end)

program("a transpose on the core", {{P = 2, r = 4, c = 12, T = i8}, {P = 1, r = 6, c = 4, T = i16}}, function(e, z)
  local P, r, c, T = z.P, z.r, z.c, z.T
  e.turn = task {map = {P}, x = T[P * r][c]:layout "S0R", y = T[c][P * r]:layout "RS0", function(x, y)
    for i, j in grid(r, c) do y[j][i] = x[i][j] end
  end}
  return {T[P * r][c], T[c][P * r]}
end)

program("a running sum", {{n = 64, T = i32}, {n = 30, T = i16}}, function(e, z)
  local n, T = z.n, z.T
  e.scan = task {x = T[n], y = T[n], function(x, y)
    local sum = T(0)
    for i in grid(n) do
      sum = T(sum + x[i])
      y[i] = sum
    end
  end}
  return {T[n], T[n]}
end)

program("a convolution of a picture", {{h = 8, w = 8, k = 3, P = 2}, {h = 6, w = 5, k = 2, P = 1}}, function(e, z)
  local h, w, K, P = z.h, z.w, z.k, z.P
  e.conv = task {map = {P}, x = i32[h + K - 1][w + K - 1], f = i32[K][K], y = i32[h][w]:layout "S0R",
    function(x, f, y, p)
      for i, j in grid(h // P, w) do
        local sum = i32(0)
        for u, v in grid(K, K) do sum = sum + x[p * (h // P) + i + u][j + v] * f[u][v] end
        y[i][j] = sum
      end
    end}
  return {i32[h + K - 1][w + K - 1], i32[K][K], i32[h][w]}
end)

program("a layernorm", {{P = 2, r = 4, c = 20}, {P = 1, r = 3, c = 6}}, function(e, z)
  local P, r, c = z.P, z.r, z.c
  e.norm = task {map = {P}, x = bf16[P * r][c]:layout "S0R", y = bf16[P * r][c]:layout "S0R", function(x, y)
    for i in grid(r) do
      local sum, var = f32(0), f32(0)
      for j in grid(c) do sum = sum + f32(x[i][j]) end
      local mean = sum / c
      for j in grid(c) do var = var + (f32(x[i][j]) - mean) * (f32(x[i][j]) - mean) end
      local by = 1 / tide.sqrt(var / c + 1e-5)
      for j in grid(c) do y[i][j] = bf16((f32(x[i][j]) - mean) * by) end
    end
  end}
  return {bf16[P * r][c], bf16[P * r][c]}
end)

program("a softmax in place", {{P = 2, r = 4, c = 16}, {P = 1, r = 2, c = 5}}, function(e, z)
  local P, r, c = z.P, z.r, z.c
  e.soft = task {map = {P}, x = f32[P * r][c]:layout "S0R", function(x)
    for i in grid(r) do
      local most, sum = x[i][0], f32(0)
      for j in grid(c) do most = tide.max(most, x[i][j]) end
      for j in grid(c) do
        x[i][j] = tide.exp(x[i][j] - most)
        sum = sum + x[i][j]
      end
      for j in grid(c) do x[i][j] = x[i][j] / sum end
    end
  end}
  return {f32[P * r][c]}
end, {math = "host"})

program("pairs that turn, in place", {{P = 2, r = 4, c = 8}, {P = 1, r = 3, c = 2}}, function(e, z)
  local P, r, c = z.P, z.r, z.c
  e.rope = task {map = {P}, x = f32[P * r][2 * c]:layout "S0R", cos = f32[c], sin = f32[c], function(x, cos, sin)
    for i, j in grid(r, c) do
      local a, b = x[i][2 * j], x[i][2 * j + 1]
      x[i][2 * j] = a * cos[j] - b * sin[j]
      x[i][2 * j + 1] = a * sin[j] + b * cos[j]
    end
  end}
  return {f32[P * r][2 * c], f32[c], f32[c]}
end)

program("a mask of data", {{P = 2, n = 24}, {P = 1, n = 20}}, function(e, z)
  local P, n = z.P, z.n
  e.mask = task {map = {P}, x = i16[P * n]:layout "S0", on = i8[P * n]:layout "S0", y = i16[P * n]:layout "S0",
    function(x, on, y)
      for i in grid(n) do
        if on[i] > 0 then y[i] = x[i] end
      end
    end}
  return {i16[P * n], i8[P * n], i16[P * n]}
end)

program("a dot product, one number", {{n = 64, T = i16, R = i32}, {n = 10, T = f32, R = f32}}, function(e, z)
  local n, T, R = z.n, z.T, z.R
  e.dot = task {x = T[n], y = T[n], r = R[1], function(x, y, r)
    local sum = R(0)
    for i in grid(n) do sum = sum + R(x[i]) * R(y[i]) end
    r[0] = sum
  end}
  return {T[n], T[n], R[1]}
end)

program("counts of values", {{n = 64, b = 8}, {n = 30, b = 3}}, function(e, z)
  local n, b = z.n, z.b
  e.count = task {x = i32[n], h = i32[b], function(x, h)
    for i in grid(n) do h[x[i] % b] = h[x[i] % b] + 1 end
  end}
  return {i32[n], i32[b]}
end)

program("numbers to 8 bits and back", {{P = 2, n = 32}, {P = 1, n = 12}}, function(e, z)
  local P, n = z.P, z.n
  e.quantise = task {map = {P}, x = f32[P * n]:layout "S0", q = i8[P * n]:layout "S0", y = bf16[P * n]:layout "S0",
    function(x, q, y)
      for i in grid(n) do
        q[i] = i8(tide.max(tide.min(tide.floor(x[i] * 50 + 0.5), 127), -128))
        y[i] = bf16(f32(q[i]) * 0.02)
      end
    end}
  return {f32[P * n], i8[P * n], bf16[P * n]}
end)

program("the greatest of four pixels", {{P = 2, r = 2, c = 8}, {P = 1, r = 3, c = 4}}, function(e, z)
  local P, r, c = z.P, z.r, z.c
  e.pool = task {map = {P}, x = u8[2 * P * r][2 * c]:layout "S0R", y = u8[P * r][c]:layout "S0R", function(x, y)
    for i, j in grid(r, c) do
      y[i][j] = tide.max(tide.max(x[2 * i][2 * j], x[2 * i][2 * j + 1]),
        tide.max(x[2 * i + 1][2 * j], x[2 * i + 1][2 * j + 1]))
    end
  end}
  return {u8[2 * P * r][2 * c], u8[P * r][c]}
end)

program("rows that a table's numbers choose", {{n = 8, v = 16, c = 4}, {n = 5, v = 3, c = 2}}, function(e, z)
  local n, v, c = z.n, z.v, z.c
  e.embed = task {id = i32[n], table = f32[v][c], y = f32[n][c], function(id, table, y)
    for i, j in grid(n, c) do y[i][j] = table[id[i] % v][j] end
  end}
  return {i32[n], f32[v][c], f32[n][c]}
end)

program("a sum over rows, then over columns", {{m = 8, n = 12}, {m = 3, n = 5}}, function(e, z)
  local m, n = z.m, z.n
  e.atax = task {A = f32[m][n], x = f32[n], y = f32[n], function(A, x, y)
    local u = f32[m](0)
    for i, j in grid(m, n) do u[i] = u[i] + A[i][j] * x[j] end
    for j in grid(n) do y[j] = 0 end
    for i, j in grid(m, n) do y[j] = y[j] + A[i][j] * u[i] end
  end}
  return {f32[m][n], f32[n], f32[n]}
end)

program("a triangular system", {{n = 8}, {n = 5}}, function(e, z)
  local n = z.n
  e.solve = task {L = f32[n][n], b = f32[n], x = f32[n], function(L, b, x)
    for i in grid(n) do
      local sum = b[i]
      for j = 0, i - 1 do sum = sum - L[i][j] * x[j] end
      x[i] = sum / (L[i][i] + 2)
    end
  end}
  return {f32[n][n], f32[n], f32[n]}
end)

program("bubbles, in place", {{n = 16}, {n = 9}}, function(e, z)
  local n = z.n
  e.sort = task {x = i32[n], function(x)
    for _, i in grid(n, n - 1) do
      if x[i] > x[i + 1] then
        local a = x[i]
        x[i] = x[i + 1]
        x[i + 1] = a
      end
    end
  end}
  return {i32[n]}
end)

program("products of matrices, one a core", {{P = 4, n = 8}, {P = 2, n = 6}}, function(e, z)
  local P, n = z.P, z.n
  e.batch = task {map = {P}, A = f32[P][n][n]:layout "S0RR", B = f32[P][n][n]:layout "S0RR",
    C = f32[P][n][n]:layout "S0RR",
    function(A, B, C)
      for i, j in grid(n, n) do
        local sum = f32(0)
        for k in grid(n) do sum = sum + A[0][i][k] * B[0][k][j] end
        C[0][i][j] = sum
      end
    end}
  return {f32[P][n][n], f32[P][n][n], f32[P][n][n]}
end)

program("three tasks in a row", {{n = 8, m = 8}, {n = 6, m = 3}}, function(e, z)
  local n, m = z.n, z.m
  local a, b = e:stream(i32[n], {block = true}), e:stream(i32[n], {block = true})
  e.first = task {x = i32[m * n], function(x)
    for k in grid(m) do
      local o = a:slot()
      for i in grid(n) do o[i] = x[k * n + i] + 1 end
      a:put(o)
    end
  end}
  e.turn = task {function()
    for _ in grid(m) do
      local v, o = a:get(), b:slot()
      for i in grid(n) do o[i] = v[n - 1 - i] * 2 end
      b:put(o)
    end
  end}
  e.last = task {y = i32[m * n], function(y)
    for k in grid(m) do
      local v = b:get()
      for i in grid(n) do y[k * n + i] = v[i] - 3 end
    end
  end}
  return {i32[m * n], i32[m * n]}
end)

-- Blocks some elements of which nothing reads come whole.
local function corner(z)
  return function(e)
    local P, r, c, from, T = z.P, z.r, z.c, z.from, z.T
    e.corner = task {map = {P}, x = T[P * r][c]:layout "S0R", y = T[P * r][c]:layout "S0R", function(x, y)
      for i, j in grid(r, c) do
        if i + j >= from then
          if z.keeps then y[i][j] = T(y[i][j] + x[i][c - 1 - j] * 3) else y[i][j] = x[i][j] end
        end
      end
    end}
    return {T[P * r][c], T[P * r][c]}
  end
end
program("a part of each block, in place", {{P = 2, r = 4, c = 6, from = 2, keeps = true, T = f32},
  {P = 3, r = 2, c = 10, from = 5, keeps = true, T = i16}}, function(e, z) return corner(z)(e) end)
program("a part of each block, the rest of which stays", {{P = 1, r = 4, c = 6, from = 2, keeps = false, T = f32},
  {P = 4, r = 2, c = 12, from = 3, keeps = false, T = i32}}, function(e, z) return corner(z)(e) end)

-- What is refused, beside the above.
t.test("an argument that is no words of 4 bytes", function()
  local d = tide.design(function(e)
    e.odd = task {x = i8[7], y = i8[7], function(x, y) for i in grid(7) do y[i] = i8(x[i] * 3) end end}
  end)
  t.fails(function() d:build {target = "npu"} end, {code = "npu-dma"})
end)

t.done()
