-- npu_steps.lua - ordinary designs on an NPU: the build adds the tasks that move data, and tells by which steps.
local npu_case = require "npu_case"
local t = require "tap"
local tide = require "tide"
local i8, i16, i32, f32, task, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.task, tide.grid

-- States that the NPU build of d, or of schedule s of it, gives the bits of the CPU. Returns the build.
local function same(d, types, s) return (npu_case.same(d, types, nil, s)) end

-- Dato's Fig. 7 on cores p x q, k in turns.
local function product(z)
  local M, N, K, T, R = z.M or 8, z.N or 8, z.K or 8, z.T or i8, z.R or i32
  local P, Q, L = z.P or 2, z.Q or 2, z.L or 2
  return tide.design(function(d)
    d.mul = task {
      map = {L, P, Q}, X = T[M][K]:layout "S1S0", Y = T[K][N]:layout "S0S2", Z = R[M][N]:layout "S1S2",
      function(X, Y, Z) Z:set(tide.allreduce(tide.matmul(X, Y), "+")) end,
    }
  end), {T[M][K], T[K][N], R[M][N]}
end

for name, z in pairs {
  ["Fig. 7"] = {}, ["oblong"] = {M = 4, N = 24, K = 12, P = 1, Q = 3, L = 3},
  ["16 bits"] = {T = i16, M = 12, P = 3, Q = 1},
  ["one row"] = {P = 1, Q = 2}, ["four turns"] = {K = 64, L = 4, M = 16, N = 16},
} do
  t.test("a product: " .. name, function()
    local d, types = product(z)
    local s = tide.schedule(d):bundle("mul", {axis = 0}):chain("mul", "mul_allreduce")
    local m = same(d, types, s)
    t.has(m.steps, 's:isolate(')
    t.eq(tide.schedule(d):bundle("mul", {axis = 0}):build {target = "cpu"}.steps, "")
  end)
end

t.test("the steps that are told lead to the same text", function()
  local fixed = tide.design(function(d)
    d.mul = task {
      map = {2, 2}, X = i8[8][8]:layout "S0R", Y = i8[8][8]:layout "RS1", Z = i32[8][8]:layout "S0S1",
      function(X, Y, Z)
        local sum = i32[4][4](0)
        for l in grid(2) do
          sum:set(sum + tide.matmul(X:slice({}, {l * 4, l * 4 + 4}), Y:slice({l * 4, l * 4 + 4}, {})))
        end
        Z:set(sum)
      end,
    }
  end)
  local m = same(fixed, {i8[8][8], i8[8][8], i32[8][8]})
  local again = load(m.steps)(fixed)
  t.eq(again:build {target = "npu"}.source, m.source)
  t.eq(again:build {target = "npu"}.steps, "")
end)

-- A product on a mesh of P x Q cores, by steps: blocks of m x k and k x n, in turns; z.axes: along which blocks of X, Y
-- and Z are put together.
local function mesh(z)
  local m, n, k, P, Q, I, J, L = z.m or 4, z.n or 8, z.k or 4, z.P or 4, z.Q or 4, z.I or 2, z.J or 1, z.L or 2
  local M, N, K, T, R = m * P * I, n * Q * J, k * L, z.T or i16, z.R or i32
  local d = tide.design(function(e)
    e.mul = task {
      map = {K // k, M // m, N // n}, X = T[M][K]:layout "S1S0", Y = T[K][N]:layout "S0S2",
      Z = R[M][N]:layout "S1S2",
      function(X, Y, Z) Z:set(tide.allreduce(tide.matmul(X, Y), "+")) end,
    }
  end)
  local s = tide.schedule(d):bundle("mul", {axis = 0}):chain("mul", "mul_allreduce")
  s:bundle("mul", {axis = 0, factor = I}):bundle("mul", {axis = 1, factor = J}):expand "mul_part"
  s:buffer_at("mul:X", "x"):buffer_at("mul:Y", "x")
  local _, x_in = s:isolate "mul:X_x"
  local _, y_in = s:isolate "mul:Y_x"
  local _, z_out = s:isolate("acc", {depth = 1})
  local axes = z.axes or {1, 0, 0}
  for i, name in ipairs {x_in, y_in, z_out} do s:coalesce(name, {axis = axes[i]}) end
  s:place("mul", {0, 2}, {by = {{0, 1}, {1, 0}}})
  return d, {T[M][K], T[K][N], R[M][N]}, s
end

t.test("a product on a mesh, by hand: each operand is sent once, each column's results leave together", function()
  local d, types, s = mesh {}
  local m = same(d, types, s)
  t.eq(m.steps, "")
  local n = 0
  for _ in m.source:gmatch 'aie%.objectfifo @' do n = n + 1 end
  t.eq(n, 4 + 4 + 4 + 4 + 16 + 4)
  same(mesh {P = 2, Q = 3, I = 1, J = 2, L = 3})
  for i = 0, 7 do same(mesh {P = 2, Q = 2, axes = {i // 4, i // 2 % 2, i % 2}}) end
  same(mesh {T = i8, k = 8, P = 3, Q = 2, I = 2, J = 2})
end)

t.test("one loop over vectors", function()
  for _, T in ipairs {i32, i16, i8, f32} do
    local d = tide.design(function(e)
      e.axpy = task {
        map = {2}, x = T[64]:layout "S0", y = T[64]:layout "S0", z = T[64]:layout "S0",
        function(x, y, z) for i in grid(32) do z[i] = T(x[i] * 3 + y[i]) end end,
      }
    end)
    same(d, {T[64], T[64], T[64]})
  end
end)

t.test("a pipeline of two cores", function()
  local d = tide.design(function(e)
    local S = e:stream(i32[8], {block = true})
    e.first = task {A = i32[4][8], function(A)
      for i in grid(4) do
        local o = S:slot()
        for j in grid(8) do o[j] = A[i][j] * 2 end
        S:put(o)
      end
    end}
    e.second = task {B = i32[4][8], function(B)
      for i in grid(4) do
        local x = S:get()
        for j in grid(8) do B[i][j] = x[7 - j] + i end
      end
    end}
  end)
  same(d, {i32[4][8], i32[4][8]})
end)

t.test("a core goes where data says in what it holds", function()
  local d = tide.design(function(e)
    e.go = task {A = i32[8], x = i32[8], B = i32[8], function(A, x, B)
      for i in grid(8) do B[i] = A[x[i] % 8] end
    end}
  end)
  same(d, {i32[8], i32[8], i32[8]})
end)

t.test("a core holds all that it touches where no part of it moves alone", function()
  local function rows(n)
    return tide.design(function(e)
      e.gemv = task {
        map = {4}, A = i16[4 * n][36]:layout "S0R", x = i16[36], y = i32[4 * n]:layout "S0",
        function(A, x, y)
          for i in grid(n) do
            local sum = i32(0)
            for k in grid(36) do sum = sum + A[i][k] * x[k] end
            y[i] = sum
          end
        end,
      }
    end), {i16[4 * n][36], i16[36], i32[4 * n]}
  end
  for _, n in ipairs {5, 6, 7} do t.has(same(rows(n)).steps, "isolate") end
  local scan = tide.design(function(e)
    e.scan = task {x = i32[40], y = i32[40], function(x, y)
      local sum = i32(0)
      for i in grid(40) do
        sum = sum + x[i]
        y[i] = sum
      end
    end}
  end)
  t.has(same(scan, {i32[40], i32[40]}).steps, 's:buffer_at("scan:x", "scan")')
  local maxima = tide.design(function(e)
    e.maxima = task {map = {2}, x = i8[8][20]:layout "S0R", y = i8[8]:layout "S0", function(x, y)
      for i in grid(4) do
        local most = i8(-128)
        for j in grid(20) do most = tide.max(most, x[i][j]) end
        y[i] = most
      end
    end}
  end)
  same(maxima, {i8[8][20], i8[8]})
end)

t.test("what is larger than a core stays where it is, and is refused", function()
  local function gather(n)
    return tide.design(function(e)
      e.go = task {A = i32[n], x = i32[8], B = i32[8], function(A, x, B)
        for i in grid(8) do B[i] = A[x[i] % n] end
      end}
    end)
  end
  local e = t.fails(function() gather(1 << 16):build {target = "npu"} end, {code = "npu-form"})
  t.has(tostring(e), "touches the argument 'A'")
  same(gather(1 << 8), {i32[1 << 8], i32[8], i32[8]})
end)

-- y = y + a x on P cores, in parts of arrays, with tail t.
local function axpy(P, T, n)
  return tide.design(function(e)
    e.axpy = task {map = {P}, x = T[P * n]:layout "S0", y = T[P * n]:layout "S0", function(x, y)
      for i in grid(n) do y[i] = T(y[i] + x[i] * 3) end
    end}
  end), {T[P * n], T[P * n]}
end
t.test("arguments that cores change in place", function()
  t.has(same(axpy(2, i32, 32)).steps, 'isolate("axpy:y_i')
  same(axpy(1, i16, 10))
  same(axpy(4, f32, 24))
  local function rms(r, c)
    return tide.design(function(e)
      e.norm = task {map = {2}, v = f32[2 * r][c]:layout "S0R", g = f32[c], function(v, g)
        for i in grid(r) do
          local sum = f32(0)
          for j in grid(c) do sum = sum + v[i][j] * v[i][j] end
          local by = 1 / tide.sqrt(sum / c + 1e-5)
          for j in grid(c) do v[i][j] = v[i][j] * by * g[j] end
        end
      end}
    end), {f32[2 * r][c], f32[c]}
  end
  same(rms(4, 16))
  same(rms(3, 7))
end)

t.test("what the host sends again after it came back would have to wait: refused", function()
  local function blocks(ahead)
    return tide.design(function(e)
      local S, Z = e:stream(i32[4], {block = true}), e:stream(i32[4], {block = true})
      e.io = task { --@ host
        y = i32[20], function(y)
          for b in grid(4) do
            local s = S:slot()
            for j in grid(4) do s[j] = y[b * 4 + j] end
            S:put(s)
            local q = Z:get()
            for j in grid(4) do y[(b + ahead) * 4 + j] = q[j] end
          end
        end,
      }
      e.core = task {function()
        for b in grid(4) do
          local z, s = Z:slot(), S:get()
          for j in grid(4) do z[j] = s[j] * 3 + b end
          Z:put(z)
        end
      end}
    end)
  end
  same(blocks(0), {i32[20]})
  t.fails(function() blocks(1):build {target = "npu"} end, {code = "npu-sequence", match = "that it wrote before"})
end)

-- Operands of an elementwise function on P x Q cores, of types Ts, n elements each.
local function elementwise(P, Q, n, Ts, R)
  return tide.design(function(e)
    e.all = task {
      map = {P, Q}, a = Ts[1][P][Q][n]:layout "S0S1R", b = Ts[2][P][Q][n]:layout "S0S1R",
      c = Ts[3][P][Q][n]:layout "S0S1R", y = R[P][Q][n]:layout "S0S1R",
      function(a, b, c, y)
        for i in grid(n) do y[0][0][i] = R(a[0][0][i] * b[0][0][n - 1 - i] - c[0][0][i]) end
      end,
    }
  end), {Ts[1][P][Q][n], Ts[2][P][Q][n], Ts[3][P][Q][n], R[P][Q][n]}
end
local function pair(P, Q, n, T)
  return tide.design(function(e)
    e.two = task {
      map = {P, Q}, u = T[P][Q][n]:layout "S0S1R", v = T[P][Q][n]:layout "S0S1R", w = T[P][Q][n]:layout "S0S1R",
      function(u, v, w)
        for i in grid(n) do w[0][0][i] = T(u[0][0][i] * 2 + v[0][0][i]) end
      end,
    }
  end), {T[P][Q][n], T[P][Q][n], T[P][Q][n]}
end
t.test("operands of one type come by one stream, where 16 cores have too few", function()
  local m = same(pair(4, 4, 32, i32))
  t.has(m.steps, "s:merge({")
  t.has(m.steps, "depth = 4")
  same(pair(4, 4, 10, i16))
  t.has(same(elementwise(4, 4, 12, {i16, i16, i16}, i16)).steps, "depth = 6")
  t.ok(not same(pair(2, 2, 32, i32)).steps:find("s:merge({", 1, true))
  t.fails(function() elementwise(4, 4, 12, {i16, i32, i8}, i32):build {target = "npu"} end, {code = "npu-channels"})
end)

t.test("what a core has no port for comes by way of another", function()
  t.has(same(elementwise(2, 2, 12, {i16, i32, f32}, f32)).steps, '{place = "device"}')
  same(elementwise(1, 1, 20, {i8, i32, i16}, i32))
end)

t.test("a product that adds to its argument", function()
  local function add(P, Q, m, n, k)
    return tide.design(function(e)
      e.add = task {
        map = {P, Q}, A = i16[P * m][k]:layout "S0R", B = i16[k][Q * n]:layout "RS1",
        C = i32[P * m][Q * n]:layout "S0S1",
        function(A, B, C)
          for i, j, x in grid(m, n, k) do C[i][j] = C[i][j] + A[i][x] * B[x][j] end
        end,
      }
    end), {i16[P * m][k], i16[k][Q * n], i32[P * m][Q * n]}
  end
  same(add(2, 2, 8, 8, 16))
  same(add(1, 3, 4, 6, 10))
  t.fails(function() add(4, 4, 8, 8, 16):build {target = "npu"} end, {code = "npu-channels"})
end)

t.test("a product that sets its argument, of 16 KiB too, which a core holds once", function()
  local function set(m, n, k)
    return tide.design(function(e)
      e.set = task {
        map = {2, 2}, A = i16[2 * m][k]:layout "S0R", B = i16[k][2 * n]:layout "RS1",
        C = i32[2 * m][2 * n]:layout "S0S1",
        function(A, B, C) C:set(tide.matmul(A, B)) end,
      }
    end), {i16[2 * m][k], i16[k][2 * n], i32[2 * m][2 * n]}
  end
  t.ok(not same(set(8, 12, 6)).steps:find("depth = 1", 1, true))
  t.has(same(set(64, 64, 8)).steps, "depth = 1")
  t.fails(function() set(72, 64, 8):build {target = "npu"} end, {code = "npu-form"})
end)

t.done()
