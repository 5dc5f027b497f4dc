-- Every node, operator, attribute and class in one printed text, which loads and prints the same.
local tide = require "tide"
local t = require "tap"

local zoo = [=[
local tide = require "tide"
local i8, i16, i32, i64, u8, u16, u32, u64, bool, f16, bf16, f32, f64, index = tide.i8, tide.i16,
  tide.i32, tide.i64, tide.u8, tide.u16, tide.u32, tide.u64, tide.bool, tide.f16, tide.bf16,
    tide.f32, tide.f64, tide.index
local large_1 = ...

local n = tide.size "n"
local types = tide.kernel {
  a = u64[n][2 * n + 1], --@ apart(1)
  b = tide.int(5):with {overflow = "saturate"}[n],
  c = tide.fixed(8, 3):with {overflow = "saturate", rounding = "nearest"}[3],
  d = tide.ufixed(12, -2)[2][2][2],
  e = f16[4],
  f = bf16[4],
  g = bool[4],
  h = index,
  s = tide.uint(100),
  t = tide.fixed(64, 20)[2],
  function(a, b, c, d, e, f, g, h, s, t) --@ inline cost(1, 2, 3)
    tide.assume(n % 2 == 0)
    tide.assume(2 <= n and h < n)
    for i = 0, n - 1 do
      a[i][2 * i + 1] = 0xffffffffffffffff
      b[i] = -3
    end
    a[h][0] = u64(0x8000000000000001) + u64(tide.bits(s, 0, 20))
    c[0] = tide.fixed(8, 3)(0.125)
    c[1] = 2
    t[0] = tide.bitcast(tide.fixed(64, 20), tide.int(64)(0x7ffffffffffffff1))
    d[1][0][1] = d[0][0][0]
    e[0] = math.huge
    e[1] = -math.huge
    e[2] = (0/0)
    f[0] = -0.0
    g[0] = true
    local wide = s
    wide = tide.with_bits(wide, 3, 8, 9)
  end,
}

local N, M = 8, 4
local operators = tide.kernel {
  A = i8[N], --@ partition(0, cyclic, 2) order("m -> m/2 m%2") storage(bram) ports(2) latency(2)
  F = f32[N],
  Q = tide.fixed(8, 3)[N],
  R = i64[N],
  x = u8,
  function(A, F, Q, R, x)
    for i = 0, N - 1 do --@ pipeline(1) rewind dep(R, none)
      R[i] = A[i] + x - A[i] * A[i]
      R[i] = A[i] // 3 + A[i] % 5 + -A[i] + tide.abs(A[i])
      R[i] = (x << 3) + (x >> 2) + tide.asr(A[i], x & 3)
      R[i] = A[i] & x | A[i] ~ ~A[i]
      R[i] = tide.min(A[i], x) + tide.max(A[i], 3) + tide.select(A[i] == x, A[i], x)
      R[i] = tide.bits(A[i], 2, 6) + tide.with_bits(A[i], 0, 2, x) + tide.bitcast(i8, x)
      F[i] = F[i] / f32(3.5) + tide.fma(F[i], F[i], 0.25) + tide.sqrt(F[i])
      F[i] = tide.exp(F[i]) + tide.log(F[i]) + tide.sin(F[i]) + tide.cos(F[i]) + tide.tanh(F[i])
      F[i] = tide.floor(F[i]) + tide.ceil(F[i]) - F[i] // 2.0 - F[i] % 2.0
      Q[i] = Q[i] / tide.fixed(8, 3)(2) + tide.floor(Q[i])
      if A[i] < x and A[i] <= 3 or not (A[i] ~= 4) then
        R[i] = i32(A[i] == 0) + i
      end
    end
  end,
}

local place = tide.kernel {
  X = i32[M][N],
  Y = i32[N],
  Z = i32[N][M],
  function(X, Y, Z)
    local copy = X[1]:copy() --@ storage(lutram)
    local view = X[2] + Y
    local none = i32[N]()
    none:set(view)
    Z:set(X:transpose())
    X:slice({1, M}, {0, N, 2}):set(X:slice({0, M - 1}, {1, N, 2}) * 2)
    X:slice({}, 3):set(Z[3])
    Z:slice({2, 5}, 1):set(copy:slice({0, 3}))
    Y:set(i32[N](tide.reduce(X, "+", 0)))
    X:slice({}, {0, M}):set(tide.matmul(X, Z, {acc = i32}))
    X[0]:set(i32[N](i8[N](Y)))
    Y:set(tide.reduce(X, "max", 0, {acc = i32}))
    Y:set(7)
  end,
}

local small = tide.tensor(i8[2][2], {{1, -2}, {3, 4}}) --@ storage(lutram)
local large = large_1
local count = tide.state(i32[2], tide.tensor(i32[2], {0, 5}))
local jump = tide.kernel {
  A = i8[8],
  B = i32[8],
  k = i32,
  function(A, B, k)
    local k_1 = k
    local i = 0
    while i < 8 and A[i] ~= 0 do --@ bound(8)
      if A[i] == 5 then
        break
      elseif A[i] == 6 then
        do return end
      else
        B[i] = large[i] + small[1][0]
      end
      i = i + 1
    end
    repeat --@ bound(3)
      local last = k_1 < 3
      k_1 = k_1 - 1
    until last
    do
      local k_2 = i32(5)
      count[0] = count[0] + k_2
    end
    for _ = 0, 1 do --@ unroll(0) band(PE) reduction
      B[0] = count[0] + k_1 --@ at("user.lua", 3, 4)
    end
    for j = 2, 7, 3 do --@ parallel
      B[j] = 1
    end
    return
  end,
}

local outside = tide.extern {
  source = "void outside(int *x) { x[0] = 1; }",
  symbol = "outside",
  x = i32[4],
}

local calls = tide.kernel {
  A = i8[N],
  B = i32[N],
  W = i32[2][4],
  Z = tide.stream(i32[4])[2],
  function(A, B, W, Z)
    jump(A, B, 3)
    outside(W[1])
    outside(B:slice({0, 4}))
    Z[0]:put(W[0])
    Z[1]:put(W[0] + 1)
  end,
}

local P = 2
local zoo = tide.design(function(d)
  tide.assume(n % 2 == 0)
  local X = d:arg(i32[n]) --@ bytes_per_cycle(8)
  local A = d:arg(i8[8])
  local Y = d:arg(i32[2 * P][4])
  local W, V = d:arg(i32[2][4]), d:arg(i32[2][4])
  local s = d:stream(i32[4], {P, 2, depth = 2, block = true}) --@ lanes(2) min_depth(1) impl(srl)
  local q = d:stream(i8, {depth = 3})
  d.fill = tide.task { --@ place(0, 1) autorun
    map = {P, 2},
    Y = Y:layout "S0R",
    function(Y, i, j)
      local b = s[i][j]:slot()
      b:set(Y[0])
      s[i][j]:put(b)
      if i == 0 and j == 0 then
        q:put(1)
      end
    end,
  }
  d.use = tide.task { --@ host
    X = X,
    A = A,
    function(X, A)
      for i = 0, P - 1 do
        for j = 0, 1 do
          local b = s[i][j]:get()
          X[0] = X[0] + b[0]
        end
      end
      A[0] = q:get()
    end,
  }
  d.sum = tide.task {
    map = {2},
    W = W:layout "S0R",
    V = V:layout "S0R",
    function(W, V, t)
      V[0]:set(tide.allreduce(W[0], "+"))
    end,
  }
end)

]=]

-- The part of the zoo that is reached from a unit, as a program.
local function load_part(name)
  local large = tide.random(tide.i8[100], 1)
  local text = zoo .. "return " .. name .. "\n"
  local chunk, why = load(text, "=zoo")
  t.ok(chunk, why)
  return chunk(large)
end

local printed = "" -- of all roots

for _, name in ipairs {"types", "operators", "place", "jump", "outside", "calls", "zoo"} do
  t.test(name .. " loads and prints as itself", function()
    local k = load_part(name)
    local text = tostring(k)
    printed = printed .. text
    local again = load(text, "=again")(k:constants())
    t.eq(tostring(again), text)
  end)
end

-- Names in the first column of a table of the core.
local function names_of(path, pattern)
  local list = {}
  for line in io.lines(path) do
    local name = line:match(pattern)
    if name then list[#list + 1] = name end
  end
  t.ok(#list > 15, path)
  return list
end

t.test("every attribute is in it", function()
  for _, name in ipairs(names_of("interp/ir/attrs.def", '^TD_ATTR%([%w_]+,%s*"([%w_]+)"')) do
    t.has(printed, name)
  end
end)

t.test("every operator is in it", function()
  for _, name in ipairs(names_of("interp/ir/ops.def", '^TD_OP%([%w_]+,%s*"([^"]+)"')) do
    t.has(printed, name)
  end
end)

t.done()
