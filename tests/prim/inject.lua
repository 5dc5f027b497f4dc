-- inject: kernels of a library in the place of nests that compute the same: orders, tiles, scalars, what differs.
local t = require "tap"
local prim = require "prim"
local shell = require "shell"
local tide = require "tide"
local i8, i16, i32, f32, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.grid

-- A product to be tiled; its operands as they are, or the second one transposed.
local function gemm(z)
  local M, N, K, T, U = z.M or 8, z.N or 12, z.K or 6, z.T or i8, z.U or i32
  return tide.kernel {name = "gemm", A = T[M][K], B = T[K][N], C = U[M][N], function(A, B, C)
    for i, j, k in grid(M, N, K) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
  end}, {T[M][K], T[K][N], U[M][N]}
end
local function gemm_bt()
  return tide.kernel {name = "gemm", A = i8[8][6], B = i8[12][6], C = i32[8][12], function(A, B, C)
    for i, j, k in grid(8, 12, 6) do C[i][j] = C[i][j] + A[i][k] * B[j][k] end
  end}, {i8[8][6], i8[12][6], i32[8][12]}
end

-- Products of 4 x 3 and 3 x 4.
local function product(T, U)
  return tide.kernel {name = "mm", A = T[4][3], B = T[3][4], C = U[4][4], function(A, B, C)
    for m, n, k in grid(4, 4, 3) do C[m][n] = C[m][n] + A[m][k] * B[k][n] end
  end}
end
local mm = product(i8, i32)

-- The same with A by columns in pairs of rows, and C transposed.
local packed = tide.kernel {
  name = "packed",
  A = i8[2][3][2], --@ order("m k -> m/2 k m%2")
  B = i8[3][4], --@ order("k n -> k n") lanes(4)
  C = i32[4][4], --@ order("m n -> n m")
  function(A, B, C)
    for m, n, k in grid(4, 4, 3) do C[n][m] = C[n][m] + A[m // 2][k][m % 2] * B[k][n] end
  end,
}

prim.accepted("a product in tiles", {
  of = gemm, step = {"inject", "i", mm},
  has = {"mm(A:slice({i_o * 4, i_o * 4 + 4}, {k_o * 3, k_o * 3 + 3})", "tide.assume(K % 3 == 0)"},
}, function(s, name, copy)
  t.eq({name, copy}, {"mm"})
  t.has(s:log(), 's:split("k", 3, {tail = "perfect"})')
  local again = load(s:log())(gemm {})
  t.eq(tostring(again), tostring(s))
end)
prim.accepted("orders: the operands are arranged before and after", {
  of = gemm, step = {"inject", "i", packed},
  has = {"local A_1 = i8[2][3][2]()", "A_1[m // 2][k][m % 2] = A[i_o * 4 + m][k_o * 3 + k]",
    "local B_1 = i8[3][4]()", "= C_1["},
}, function(_, ...) t.eq({...}, {"packed", "A_1", "B_1", "C_1"}) end)
prim.accepted("a transposed operand: a view of it", {
  of = gemm_bt, step = {"inject", "i", mm}, has = {"B:slice({j_o * 4, j_o * 4 + 4}, "
    .. "{k_o * 3, k_o * 3 + 3}):transpose()"},
})
prim.accepted("a tile that was made before", {
  of = gemm, before = function(s)
    s:split("i", 4, {tail = "perfect"}):split("j", 4, {tail = "perfect"}):split("k", 3, {tail = "perfect"})
    s:reorder("i_o", "j_o", "k_o", "i_i", "j_i", "k_i")
  end, step = {"inject", "i_i", mm},
})
prim.accepted("under a loop of one turn", {
  of = function()
    return tide.kernel {name = "rows", A = i8[2][12][3], B = i8[3][4], C = i32[12][4], function(A, B, C)
      for h = 1, 1 do
        for i, j, k in grid(4, 4, 3) do
          C[h * 4 + i][j] = C[h * 4 + i][j] + A[h][h * 8 - 4 + i][k] * B[k][j]
        end
      end
    end}, {i8[2][12][3], i8[3][4], i32[12][4]}
  end, step = {"inject", "i", mm}, has = {"mm(A:slice(h, {h * 8 - 4, h * 8}, {}), B, C:slice("},
})
prim.accepted("all of a kernel, at its sizes", {
  of = function() return gemm {M = 4, N = 4, K = 3} end, step = {"inject", "i", mm},
  has = {"tide.assume(M == 4)", "tide.assume(K == 3)"},
})
prim.accepted("operands in buffers", {
  of = gemm, before = function(s)
    s:split("i", 4, {tail = "perfect"}):split("j", 4, {tail = "perfect"}):split("k", 3, {tail = "perfect"})
    s:reorder("i_o", "j_o", "k_o", "i_i", "j_i", "k_i"):buffer_at("C", "j_o"):buffer_at("A", "k_o")
  end, step = {"inject", "i_i", mm}, has = {"mm(A_k_o, B:slice("},
})
prim.accepted("two nests, one kernel of the library", {
  of = function()
    return tide.kernel {name = "both", A = i8[4][3], B = i8[3][4], C = i32[4][4], D = i32[4][4],
      function(A, B, C, D)
        for i, j, k in grid(4, 4, 3) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
        for u, v, w in grid(4, 4, 3) do D[v][u] = D[v][u] + A[u][w] * B[w][v] end
      end}, {i8[4][3], i8[3][4], i32[4][4], i32[4][4]}
  end,
  before = function(s) s:inject("i", mm) end, step = {"inject", "u", mm},
  has = {"mm(A, B, C)", "mm(A, B, D:transpose())"},
})
local axpy = tide.kernel {name = "axpy", a = i32, x = i32[4], y = i32[4], function(a, x, y)
  for i = 0, 3 do y[i] = y[i] + a * x[i] end
end}
prim.accepted("a scalar, and rows", {
  of = function()
    return tide.kernel {s = i32, X = i32[5][4], Y = i32[5][4], function(s, X, Y)
      for r, c in grid(5, 4) do Y[r][c] = Y[r][c] + s * X[4 - r][c] end
    end}, {7, i32[5][4], i32[5][4]}
  end, step = {"inject", "c", axpy}, has = {"axpy(s, X[4 - r], Y[r])"},
})
prim.accepted("columns in vectors are brought together", {
  of = function()
    return tide.kernel {X = i32[4][5], Y = i32[4][5], function(X, Y)
      for c, r in grid(5, 4) do Y[r][c] = X[r][c] * 3 end
    end}, {i32[4][5], i32[4][5]}
  end, step = {"inject", "r", tide.kernel {
    name = "triple",
    x = i32[4], --@ lanes(4)
    y = i32[4],
    function(x, y) for i = 0, 3 do y[i] = x[i] * 3 end end,
  }}, has = {"x_1[x_0] = X[x_0][c]", "triple(x_1, Y:slice({}, c))"},
})

local function of_product(facts) return function(fact) return gemm(facts[fact]) end end
prim.twins("a shape that the tiles do not divide", {
  of = of_product {no = {M = 9}, yes = {M = 8}}, no = "no", yes = "yes", step = {"inject", "i", mm},
  code = "shape", match = "i8[9][6], read",
})
prim.twins("elements of another type", {
  of = of_product {no = {T = i16}, yes = {T = i8}}, no = "no", yes = "yes",
  step = {"inject", "i", product(i8, i32)}, code = "shape",
})
prim.twins("elements of another type, in the right shape", {
  of = of_product {no = {M = 4, N = 4, K = 3, T = i16}, yes = {M = 4, N = 4, K = 3}}, no = "no",
  yes = "yes", step = {"inject", "i", mm}, code = "type",
})

-- A kernel of one nest, and a library that differs from it in one fact.
local function line(body)
  return function(fact)
    return tide.kernel {name = "line", A = i32[4][3], B = i32[3][4], C = i32[4][4], function(A, B, C)
      for i, j in grid(4, 4) do body(fact, A, B, C, i, j) end
    end}, {i32[4][3], i32[3][4], i32[4][4]}
  end
end
local function library(body)
  return tide.kernel {name = "lib", A = i32[4][3], B = i32[3][4], C = i32[4][4], function(A, B, C)
    for i, j in grid(4, 4) do body(A, B, C, i, j) end
  end}
end
local function first(A, B, C, i, j) C[i][j] = A[i][0] * B[0][j] + A[i][2] * B[2][j] end
prim.twins("another meaning: the element and both expressions are shown", {
  of = line(function(fact, A, B, C, i, j)
    if fact == "no" then C[i][j] = A[i][0] * B[0][j] - A[i][2] * B[2][j] else first(A, B, C, i, j) end
  end), no = "no", yes = "yes", step = {"inject", "i", library(first)}, code = "differs",
  match = "C[0][0] differs",
})
prim.accepted("floats in another order, if they may be", {
  of = function()
    return tide.kernel {name = "sum", A = f32[6], y = f32[1], function(A, y)
      for i = 0, 5 do y[0] = y[0] + A[5 - i] end
    end}, {f32[6], f32[1]}
  end, step = {"inject", "i", tide.kernel {name = "total", A = f32[6], y = f32[1], function(A, y)
    for i = 0, 5 do y[0] = y[0] + A[i] end
  end}, {reassociate = true}}, level = "associative",
  equal = function(a, b) return a:allclose(b, {rtol = 1e-4, atol = 1e-4}) end,
})
prim.twins("floats in another order", {
  of = function(fact)
    return tide.kernel {name = "sum", A = f32[6], y = f32[1], function(A, y)
      if fact == "no" then
        for i = 0, 5 do y[0] = y[0] + A[5 - i] end
      else
        for i = 0, 5 do y[0] = y[0] + A[i] end
      end
    end}, {f32[6], f32[1]}
  end, no = "no", yes = "yes", code = "differs", step = {"inject", "i", tide.kernel {
    name = "lib", A = f32[6], y = f32[1],
    function(A, y) for i = 0, 5 do y[0] = y[0] + A[i] end end,
  }},
})
prim.twins("an operand too many", {
  of = line(function(fact, A, B, C, i, j)
    if fact == "no" then C[i][j] = A[i][0] * B[0][j] + A[i][2] * B[2][j] + i * 0 + B[0][0] * 0
    else first(A, B, C, i, j) end
  end), no = "yes", yes = "yes", step = {"inject", "i", tide.kernel {
    name = "lib", A = i32[4][3], C = i32[4][4],
    function(A, C) for i, j in grid(4, 4) do C[i][j] = A[i][0] + j end end}},
  yes_step = {"inject", "i", library(first)}, code = "operands",
})

-- A contract and its twin.
local function contract(no, yes, code, match)
  return {of = function() return gemm {M = 4, N = 4, K = 3} end, no = 1, yes = 1, code = code,
    step = {"inject", "i", no}, yes_step = {"inject", "i", yes}, match = match}
end
local function with_order(order, A)
  local source = ([[
local tide = require "tide"
local i8, i32, grid = tide.i8, tide.i32, tide.grid
return tide.kernel {
  name = "lib",
  A = i8%s, --@ %s
  B = i8[3][4],
  C = i32[4][4],
  function(A, B, C)
    for m, n, k in grid(4, 4, 3) do C[m][n] = C[m][n] + A[m // 2][k][m %% 2] * B[k][n] end
  end,
}]]):format(A or "[2][3][2]", order)
  return load(source)()
end
local good = with_order 'order("m k -> m/2 k m%2")'
prim.twins("an order of other parts", contract(with_order 'order("m k -> m/3 k m%3")', good, "layout"))
prim.twins("an order of other dimensions", contract(with_order 'order("m k -> m k")', good, "layout"))
prim.twins("an order that is not what the kernel computes on",
  contract(with_order('order("m k -> m%2 k m/2")', "[2][3][2]"), good, "differs"))
prim.twins("an order that cannot be read", contract(with_order 'order("m, k")', good, "layout"))
prim.twins("vectors that are wider than a row",
  contract(with_order 'order("m k -> m/2 k m%2") lanes(4)',
    with_order 'order("m k -> m/2 k m%2") lanes(2)', "width", "vectors of 4"))
prim.twins("names that disagree", contract(load([[
local tide = require "tide"
local i8, i32, grid = tide.i8, tide.i32, tide.grid
return tide.kernel {
  name = "lib",
  A = i8[4][3], --@ order("m k -> m k")
  B = i8[3][4], --@ order("m n -> m n")
  C = i32[4][4],
  function(A, B, C)
    for m, n, k in grid(4, 4, 3) do C[m][n] = C[m][n] + A[m][k] * B[k][n] end
  end,
}]])(), mm, "layout"))

local source = t.tmp "mm.c"
shell.write(source, [[
#include <stdint.h>
void mm(const int8_t *A, const int8_t *B, int32_t *C) {
  for (int m = 0; m < 4; m++)
    for (int n = 0; n < 4; n++)
      for (int k = 0; k < 3; k++) C[n * 4 + m] += A[m / 2 * 6 + k * 2 + m % 2] * B[k * 4 + n];
}
]])
local foreign = tide.extern {
  source = source, symbol = "mm", model = packed,
  A = i8[2][3][2], --@ order("m k -> m/2 k m%2")
  B = i8[3][4], --@ order("k n -> k n") lanes(4)
  C = i32[4][4], --@ order("m n -> n m")
} --@ cost(4, 12, 8)
prim.twins("a foreign function without a model", contract(tide.extern {
  source = source, symbol = "mm", A = i8[4][3], B = i8[3][4], C = i32[4][4],
}, foreign, "no-model", "model"))
prim.accepted("a C function in the place of tiles", {
  of = gemm, step = {"inject", "i", foreign}, has = {"--@ cost(4, 12, 8)", "lanes(4)"},
})
prim.twins("a name that another kernel has", {
  of = function(other)
    local helper = tide.kernel {name = other and "mm" or "helper", C = i32[4][4], function(C)
      for i = 0, 3 do C[i][i] = 1 end
    end}
    return tide.kernel {name = "top", A = i8[4][3], B = i8[3][4], C = i32[4][4], function(A, B, C)
      helper(C)
      for i, j, k in grid(4, 4, 3) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end}, {i8[4][3], i8[3][4], i32[4][4]}
  end, no = true, yes = false, step = {"inject", "i", mm}, kind = "usage", code = "name",
})
prim.refused("a nest of data-dependent places", {
  of = function()
    return tide.kernel {x = i32[4], y = i32[4], function(x, y)
      for i = 0, 3 do y[x[i]] = i end
    end}, {i32[4], i32[4]}
  end, step = {"inject", "i", axpy}, code = "operands"})
prim.refused("a design", {
  of = function() return gemm {} end,
  step = {"inject", "i", tide.design(function(d)
    d.one = tide.task {x = i32[4], function(x) for i = 0, 3 do x[i] = i end end}
  end)}, code = "operands"})

t.test("the cost in the contract is what estimates count", function()
  local function cycles(cost)
    local text = [[
local tide, source, model = ...
local i8, i32 = tide.i8, tide.i32
local mm = tide.extern {
  source = source, symbol = "mm", model = model,
  A = i8[2][3][2], --@ order("m k -> m/2 k m%2")
  B = i8[3][4], --@ order("k n -> k n") lanes(4)
  C = i32[4][4], --@ order("m n -> n m")
} --@ COST
return mm]]
    local mm_of = load((text:gsub("COST", cost)))(tide, source, packed)
    local s = tide.schedule(gemm {})
    s:inject("i", mm_of)
    local e = s:estimate()
    return {e.cycles, e.dsp}
  end
  local fast, slow = cycles "cost(4, 12, 8)", cycles "cost(104, 112, 9)"
  t.eq({slow[1] - fast[1], fast[2], slow[2]}, {2 * 3 * 2 * 100, 8, 9})
end)

t.test("buffers that inject makes collapse with others to one copy", function()
  local s = tide.schedule(gemm {})
  s:inject("i", packed)
  s:buffer_at("A", "i_o")
  s:collapse "A_i_o"
  t.has(tostring(s), "A_1[m // 2][k][m % 2] = A[")
  t.eq(s:verify(), "strict")
end)

t.test("what was proved once is taken again, of the same two programs at the same level alone", function()
  local function total(by)
    return tide.kernel {name = "total", A = f32[6], y = f32[1], function(A, y)
      for i = 0, 5 do y[0] = y[0] + A[i] * by end
    end}
  end
  local function try(by, flag)
    local s = tide.schedule(tide.kernel {name = "sum", A = f32[6], y = f32[1], function(A, y)
      for i = 0, 5 do y[0] = y[0] + A[5 - i] * 2 end
    end})
    local ok, e = pcall(s.inject, s, "i", total(by), {reassociate = flag})
    return ok and "taken" or e.code
  end
  t.eq({try(2, true), try(2, true), try(2), try(3, true), try(2, true)},
    {"taken", "taken", "differs", "differs", "taken"})
end)

-- A product of a part of the rows and columns, as many as quotients of sizes say.
local function part(z)
  local M, N, K = z.M or 8, z.N or 12, z.K or 3
  return tide.kernel {name = "part", A = i8[M][K], B = i8[K][N], C = i32[M][N], function(A, B, C)
    local c = i32[M // 2][N // 3](0)
    for i, j, k in grid(M // 2, N // 3, K) do c[i][j] = c[i][j] + A[i][k] * B[k][j] end
    for x, y in grid(M // 2, N // 3) do C[x][y] = c[x][y] end
  end}, {i8[M][K], i8[K][N], i32[M][N]}
end
prim.accepted("a nest whose extents are quotients of sizes, at their values", {
  of = part, step = {"inject", "i", mm},
  has = {"mm(A:slice({0, 4}, {0, 3}), B:slice({0, 3}, {0, 4}), c:slice({0, 4}, {0, 4}))"},
})
prim.refused("its twin, of other values", {
  of = function() return part {M = 10} end, step = {"inject", "i", mm}, code = "operands",
  match = "takes what the nest",
})

t.done()
