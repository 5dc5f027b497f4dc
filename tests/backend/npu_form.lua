-- npu_form.lua - designs in NPU form: their text passes mlir-opt where it is installed, and runs to the bits of the
-- CPU; what no NPU can do is refused.
local t = require "tap"
local npu_case = require "npu_case"
local tide = require "tide"
local i8, i16, i32, f32, task, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.task, tide.grid

-- States that a design or schedule, given tensors of `types`, does the same on the CPU and from the text of an NPU
-- build with `options`. Returns the text.
local function same(d, types, options) return select(2, npu_case.same(d, types, options)):text "generic" end

-- A product of blocks on P x Q cores, I x J turns of each, L steps: rows of X go to rows of cores, columns of Y to
-- columns, in tiles of r x r that the DMA arranges on the way; a column's results leave together.
local source = [[
local tide, z = ...
local i16, i32, task, grid = tide.i16, tide.i32, tide.task, tide.grid
local T, R = z.T or i16, z.R or i32
local m, n, k, P, Q = z.m or 8, z.n or 8, z.k or 8, z.P or 2, z.Q or 2
local I, J, L, r = z.I or 2, z.J or 1, z.L or 2, z.r or 4
local M, N, K = m * P * I, n * Q * J, k * L
return tide.design(function(d)
  local x2, x1 = d:stream(T[m][k], {P, block = true}), d:stream(T[m // r][k // r][r][r], {P, Q, block = true})
  local y2, y1 = d:stream(T[k][n], {Q, block = true}), d:stream(T[k // r][n // r][r][r], {P, Q, block = true})
  local s1, s2 = d:stream(R[m][n], {P, Q, block = true}), d:stream(R[P * m][n], {Q, block = true})
  d.left = task { --@ host
    map = {P}, X = T[M][K]:layout "S0R",
    function(X, p)
      for i, _, l in grid(I, J, L) do
        local b = x2[p]:slot()
        for u, v in grid(m, k) do b[u][v] = X[i * m + u][l * k + v] end
        x2[p]:put(b)
      end
    end,
  }
  d.hand_left = task { --@ place(0, 1, 1, 0)
    map = {P},
    function(p)
      for _ in grid(I * J * L) do
        local b = x2[p]:get()
        for q in grid(Q) do
          local o = x1[p][q]:slot()
          for u, v in grid(m, k) do o[u // r][v // r][u % r][v % r] = b[u][v] end
          x1[p][q]:put(o)
        end
      end
    end,
  }
  d.right = task { --@ host
    map = {Q}, Y = T[K][N]:layout "RS0",
    function(Y, q)
      for _, j, l in grid(I, J, L) do
        local b = y2[q]:slot()
        b:set(Y:slice({l * k, l * k + k}, {j * n, j * n + n}))
        y2[q]:put(b)
      end
    end,
  }
  d.hand_right = task { --@ place(0, 1, 1, 0)
    map = {Q},
    function(q)
      for _ in grid(I * J * L) do
        local b = y2[q]:get()
        for p in grid(P) do
          local o = y1[p][q]:slot()
          for u, v in grid(k, n) do o[u // r][v // r][u % r][v % r] = b[u][v] end
          y1[p][q]:put(o)
        end
      end
    end,
  }
  d.mul = task { --@ place(0, 2, 0, 1, 1, 0)
    map = {P, Q},
    function(p, q)
      for _ in grid(I * J) do
        local o = s1[p][q]:slot()
        o:set(0)
        for _ in grid(L) do
          local a, b = x1[p][q]:get(), y1[p][q]:get()
          for u, v, w in grid(m, n, k) do
            o[u][v] = R(o[u][v] + a[u // r][w // r][u % r][w % r] * b[w // r][v // r][w % r][v % r])
          end
        end
        s1[p][q]:put(o)
      end
    end,
  }
  d.join = task { --@ place(0, 1, 1, 0)
    map = {Q},
    function(q)
      for _ in grid(I * J) do
        local o = s2[q]:slot()
        for p in grid(P) do
          local b = s1[p][q]:get()
          for u, v in grid(m, n) do o[p * m + u][v] = b[u][v] end
        end
        s2[q]:put(o)
      end
    end,
  }
  d.out = task { --@ host
    map = {Q}, S = R[M][N]:layout "RS0",
    function(S, q)
      for i, j in grid(I, J) do
        local b = s2[q]:get()
        for p, u, v in grid(P, m, n) do S[(p * I + i) * m + u][j * n + v] = b[p * m + u][v] end
      end
    end,
  }
end), {T[m * P * I][k * L], T[k * L][n * Q * J], R[m * P * I][n * Q * J]}
]]
local function product(z) return assert(load(source, "=product"))(tide, z) end

t.test("a product of 2 x 2 cores: 14 objectFIFOs", function()
  local d, types = product {}
  local text = same(d, types)
  local n = 0
  for _ in text:gmatch '"aie%.objectfifo"%(' do n = n + 1 end
  t.eq(n, 14)
end)
for name, z in pairs {
  ["one core"] = {P = 1, Q = 1}, ["more turns"] = {I = 3, J = 2, L = 5},
  ["oblong"] = {P = 1, Q = 3, m = 4, n = 12, k = 8},
  ["8 bits"] = {T = i8, m = 8, n = 16, k = 12}, ["floats"] = {T = f32, R = f32, r = 2, m = 6, n = 4, k = 2},
  ["no turns"] = {I = 1, J = 1, L = 1},
} do
  t.test("a product: " .. name, function() same(product(z)) end)
end
t.test("columns of other devices", function()
  same((product {Q = 2}), select(2, product {Q = 2}), {device = "npu1_2col"})
  same((product {P = 1, Q = 8}), select(2, product {P = 1, Q = 8}), {device = "npu2"})
end)

-- Sums of rows and their shifts, made by steps from an ordinary design.
local function rows(z)
  local P, m, n = z.P or 2, z.m or 4, z.n or 8
  local T = z.T or i32
  return tide.design(function(d)
    d.pe = task {
      map = {P}, A = T[P * m][n]:layout "S0R", B = T[P * m][n]:layout "S0R",
      function(A, B)
        for i in grid(m) do
          local a, b = T[n](), T[n]()
          for j in grid(n) do a[j] = A[i][j] end
          for j in grid(n) do b[j] = T(a[j] + a[n - 1 - j] * i) end
          for j in grid(n) do B[i][j] = b[j] end
        end
      end,
    }
  end), {T[P * m][n], T[P * m][n]}
end

t.test("made by isolate, with no task in the row of the memories", function()
  for _, z in ipairs {{}, {P = 4, m = 3, n = 2}, {T = i16, n = 6}, {T = i8, n = 12, P = 3}} do
    local d, types = rows(z)
    same(tide.schedule(d):isolate("a"):isolate("b"), types)
  end
end)
t.test("made by isolate, by way of the memories", function()
  local d, types = rows {}
  local s = tide.schedule(d):isolate("a"):isolate("b")
  s:isolate("a_s", {place = "mem"})
  same(s, types)
end)

-- Rows that go from one task to the next by a stream; `put` and `get` are statements on the row `a`, `x` and `b`.
local function tensors(put, get, stream)
  return load(([[local tide = ...
    local i32, task, grid = tide.i32, tide.task, tide.grid
    return tide.design(function(d)
      local Z = d:stream(STREAM)
      d.from = task {A = i32[3][4], function(A)
        for i in grid(3) do
          local x = i32[4]()
          for j in grid(4) do x[j] = A[i][j] end
          PUT
        end
      end}
      d.to = task {B = i32[3][4], function(B)
        for i in grid(3) do
          GET
          for j in grid(4) do B[i][j] = b[j] end
        end
      end}
    end)]]):gsub("%u%u%u+", {PUT = put, GET = get, STREAM = stream or "i32[4]"}), "=tensors")(tide)
end
t.test("streams of tensors are blocks: filled and read in place, or copied", function()
  local types, got = {i32[3][4], i32[3][4]}, "local b = Z:get()"
  for _, put in ipairs {"Z:put(x)", "Z:put(x * 2 + 1)", "local y = i32[4](7) y[i] = x[i] Z:put(y)",
    "local y = i32[4]() y:set(x) Z:put(y) y[0] = 9", "local y = i32[4]() y:set(x) if i < 5 then Z:put(y) end"} do
    local s = tide.schedule(tensors(put, got))
    if put:find "*" then s:expand "from" end
    same(s, types)
  end
  for _, get in ipairs {"local b = Z:get() b[i] = 5", "local b = i32[4](3) b:set(Z:get())",
    "local c = i32[2][4](1) c[1]:set(Z:get()) local b = i32[4]() b:set(c[1] + c[0])"} do
    same(tensors("Z:put(x)", get), types)
  end
end)

-- Refusals, each beside what is built.
local function refused(d, code, match, options)
  local o = {target = "npu"}
  for k, v in pairs(options or {}) do o[k] = v end
  local e = t.fails(function() d:build(o) end, {code = code})
  t.has(tostring(e), match)
end

t.test("rows of no whole words", function()
  local d = rows {T = i8, m = 1, n = 6}
  refused(tide.schedule(d):isolate("a"):isolate("b"), "npu-dma", "whole words")
  local wider, types = rows {T = i8, m = 1, n = 8}
  same(tide.schedule(wider):isolate("a"):isolate("b"), types)
end)
t.test("a column that a device does not have", function()
  refused((product {Q = 3}), "npu-place", "columns 0 to 1", {device = "npu1_2col"})
end)
t.test("more streams than the shims have channels", function()
  local d = rows {P = 9}
  local s = tide.schedule(d):isolate("a"):isolate("b")
  refused(s, "npu-channels", "no channel left")
  d = rows {P = 8}
  tide.schedule(d):isolate("a"):isolate("b"):build {target = "npu"}
end)
t.test("more streams than switches have ports: results of three cores into the one memory tile below them", function()
  local function made(P)
    local d = tide.design(function(e)
      e.pe = task {map = {P}, B = i32[P][4]:layout "S0R", C = i32[P][4]:layout "S0R", function(B, C, p)
        local b, c = i32[4](), i32[4]()
        for j in grid(4) do
          b[j] = j + p
          c[j] = j * p
        end
        for j in grid(4) do B[0][j] = b[j] end
        for j in grid(4) do C[0][j] = c[j] end
      end}
    end)
    local s = tide.schedule(d)
    for _, name in ipairs {"b", "c"} do
      local _, host = s:isolate(name)
      s:coalesce(host, {axis = 0})
    end
    return s, {i32[P][4], i32[P][4]}
  end
  refused((made(3)), "npu-route", "leave the tile at column 0, row 2 to the south, which has 4 ports: 'c_s_0', 'c_s_1'",
    {device = "npu1_1col"})
  local s, types = made(2)
  same(s, types, {device = "npu1_1col"})
  s, types = made(3)
  same(s, types)
end)
t.test("more memory than a core has, more channels, more arguments", function()
  local function big(n)
    local d = tide.design(function(e)
      e.go = task {A = i32[n], B = i32[n], function(A, B)
        local a, b = i32[n](), i32[n]()
        a:set(A)
        for i in grid(n) do b[i] = a[n - 1 - i] end
        B:set(b)
      end}
    end)
    return tide.schedule(d):isolate("a"):isolate("b"), {i32[n], i32[n]}
  end
  refused(big(4096), "npu-limit", "has 65536 bytes of memory, and is asked for 66560")
  same(big(4032))
  local function sums(n)
    local text = {}
    for i = 1, n do text[i] = ("local a%d = i32[8]() a%d:set(A%d)"):format(i, i, i) end
    local args, types, add, list = {}, {}, {}, {}
    for i = 1, n do
      args[i], types[i], add[i], list[i] = "A" .. i, "A" .. i .. " = i32[8]", "a" .. i .. "[i]", i32[8]
    end
    list[n + 1] = i32[8]
    local s = tide.schedule(load(([[local tide = ...
      local i32, task, grid = tide.i32, tide.task, tide.grid
      return tide.design(function(d)
        d.go = task {%s, B = i32[8], function(%s, B)
          %s
          local b = i32[8]()
          for i in grid(8) do b[i] = %s end
          B:set(b)
        end}
      end)]]):format(table.concat(types, ", "), table.concat(args, ", "), table.concat(text, "\n"),
      table.concat(add, " + ")), "=sums")(tide))
    for i = 1, n do s:isolate("a" .. i) end
    return s:isolate "b", list
  end
  refused(sums(3), "npu-limit", "DMA channels to write to it, and is asked for 3")
  same(sums(2))
end)
-- A design of this text; what is in angle brackets is one of two texts.
local function design(text, second)
  local chosen = text:gsub("<(.-)|(.-)>", second and "%2" or "%1")
  return load("local tide = ... local i32, task, grid = tide.i32, tide.task, tide.grid " .. chosen, "=design")(tide)
end
local blocks = [[
  return tide.design(function(d)
    local S, T = d:stream(i32[8], {block = true, depth = 4}), d:stream(i32[8], {block = true, depth = 4})
    d.first = task { --@ host
      A = i32[4][8], function(A)
        for x in grid(4) do
          local a = S:slot()
          for i in grid(8) do a[i] = A[x][i] end
          S:put(a)
        end
      end}
    %s
    d.last = task { --@ host
      B = i32[%d][8], function(B)
        for x in grid(%d) do
          local a = T:get()
          for i in grid(8) do B[x][i] = a[i] end
        end
      end}
  end)]]
local function twins(code, match, body, n)
  local text = blocks:format(body, n, n)
  refused(design(text), code, match)
  same(design(text, true), {i32[4][8], i32[n][8]})
end
t.test("a scalar that outlives moves of blocks", function()
  twins("npu-scalar", "'s' is a scalar", [[d.core = task {function()
    local o = T:slot()
    <local s = i32(0)|local s = i32[1](0)>
    for x in grid(4) do
      local a = S:get()
      <s = i32(s + a[x])|s[0] = i32(s[0] + a[x])>
    end
    for i in grid(8) do o[i] = <s|s[0]> end
    T:put(o)
  end}]], 1)
end)
t.test("blocks that go back in another order", function()
  twins("npu-window", "before an older one", [[d.core = task {function()
    for x in grid(2) do
      local o = T:slot()
      local p = S:get()
      <for _ in grid(1) do|local q = S:get()>
        <local q = S:get()|>
        for i in grid(8) do o[i] = p[i] + q[i] * x end
      <end|>
      T:put(o)
    end
  end}]], 2)
end)
t.test("a memory that arranges its blocks in other ways", function()
  twins("npu-link", "the same way each time", [[d.middle = task { --@ place(0, 1)
    function()
      for x in grid(4) do
        local a, o = S:get(), T:slot()
        for i in grid(8) do o[i] = a[<(i + 4 * (x % 2)) % 8|i % 2 * 4 + i // 2>] end
        T:put(o)
      end
    end}]], 4)
end)
t.test("sizes without values", function()
  local function lines(n)
    return tide.design(function(d)
      local S = d:stream(i32[n], {block = true})
      d.first = task {A = i32[n], function(A)
        local a = S:slot()
        for i in grid(n) do a[i] = A[i] end
        S:put(a)
      end}
      d.second = task {B = i32[n], function(B)
        local p = S:get()
        for i in grid(n) do B[i] = p[i] end
      end}
    end)
  end
  refused(lines(tide.size "n"), "npu-size", "sizes without values")
  same(lines(8), {i32[8], i32[8]})
end)
t.test("values that are computed on the host", function()
  local function host(value)
    return load(([[local tide = ...
      local i32, task, grid = tide.i32, tide.task, tide.grid
      return tide.design(function(d)
        local Z, Y = d:stream(i32[4], {block = true}), d:stream(i32[4], {block = true})
        d.go = task { --@ host
          A = i32[4], function(A)
            local o = Z:slot()
            for i in grid(4) do o[i] = VALUE end
            Z:put(o)
          end}
        d.core = task {function()
          local x, o = Z:get(), Y:slot()
          for i in grid(4) do o[i] = x[3 - i] * 2 end
          Y:put(o)
        end}
        d.back = task { --@ host
          B = i32[4], function(B)
            local x = Y:get()
            B:set(x)
          end}
      end)]]):gsub("VALUE", value), "=host")(tide)
  end
  refused(host "A[i] + 1", "npu-copy", "does more than copy")
  same(host "A[i]", {i32[4], i32[4]})
end)

t.done()
