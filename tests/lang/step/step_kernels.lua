-- Kernels, schedules and designs as functions on tiles: values, operations counted in the IR, cycles by roofline,
-- estimate and run with a clock, valid rows, proofs by rows or whole, refusals with twins.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, i32, fn = tide.f32, tide.i32, step.fn
local m, n, k = tide.size "m", tide.size "n", tide.size "k"
local grid = tide.grid

local product = tide.kernel {
  name = "product", a = f32[m][k], b = f32[k][n], out = f32[m][n],
  function(a, b, out) out:set(tide.matmul(a, b)) end,
}
local square = tide.kernel {
  name = "square", out = f32[m][n], a = f32[m][n], -- the result is the one that is written, wherever it stands
  function(out, a) for i, j in grid(m, n) do out[i][j] = a[i][j] * a[i][j] + f32(1) end end,
}
local below = tide.kernel { -- each row with the one above: not by rows
  name = "below", a = f32[m][n], out = f32[m][n],
  function(a, out)
    for i, j in grid(m, n) do
      out[i][j] = a[i][j]
      if i > 0 then out[i][j] = a[i - 1][j] + a[i][j] end
    end
  end,
}
local numbered = tide.kernel { -- by the number of the row
  name = "numbered", a = f32[m][n], out = f32[m][n],
  function(a, out) for i, j in grid(m, n) do out[i][j] = a[i][j] * f32(i) end end,
}
local sum = tide.kernel {
  name = "sum", s = f32[m][n], a = f32[m][n], out = f32[m][n],
  function(s, a, out) for i, j in grid(m, n) do out[i][j] = s[i][j] + a[i][j] end end,
}

-- Rows of x to E branches in tiles of N; f(tile, w) is what a branch does.
local function layer(c, f)
  local list, x = {}, c.x
  for r = 1, c.n do list[r] = { (r * 2 + r // 3) % c.E } end
  return step.graph(function()
    local sel, outs = step.selectors(list, { n = c.E }), {}
    for e, b in ipairs(step.load(x, { tile = { 1, c.D } }):flatten(0, 1):partition(sel)) do
      local tile = b:reshape { chunk = c.N, pad = f32[1][c.D](0) }:accum(fn.retile_row, { rank = 1 })
      local function weights() return tile:load(c.w, { tile = { c.D, c.F } }):flatten(0, 2) end
      outs[e] = f(tile, weights):flat_map(fn.split_rows)
    end
    return step.reassemble(outs, sel)
  end)
end

local function sizes(n, E, D, F, N)
  return { n = n, E = E, D = D, F = F, N = N, x = tide.random(f32[n][D], 1), w = tide.random(f32[D][F], 2) }
end

t.test("a kernel has the values, the operations and the cycles of the function that it is", function()
  for _, c in ipairs { sizes(9, 2, 8, 4, 4), sizes(7, 3, 4, 8, 2) } do
    local own = layer(c, function(tile, w) return tile:zip(w()):map(product, { bw = 16 }):map(square) end)
    local given = layer(c, function(tile, w) return tile:zip(w()):map(fn.matmul, { bw = 16 }):map(fn.silu) end)
    local out, r = own:run { lists = true }
    local want = tide.matmul(c.x, c.w)
    for i = 1, c.n do
      for j = 0, c.F - 1 do t.ok(math.abs(out[i][1][0][j] - (want[i - 1][j] ^ 2 + 1)) < 1e-4) end
    end
    t.eq(own:flops():at(r.symbols), r.flops)
    t.eq(own:simulate().cycles, r.cycles)
    t.eq(given:simulate().cycles, r.cycles)
  end
end)

t.test("operations are counted in the IR: triangles, halves, designs", function()
  local triangle = tide.kernel {
    name = "triangle", a = f32[m][n], out = f32[m][n],
    function(a, out)
      for i, j in grid(m, n) do out[i][j] = a[i][j] end
      for i = 0, m - 1 do
        for j = 0, i do out[i][0] = out[i][0] * a[i][0] end
      end
    end,
  }
  local g = layer(sizes(9, 2, 8, 8, 4), function(tile) return tile:map(triangle) end)
  local r = select(-1, g:run())
  t.eq(r.flops, g:flops():at(r.symbols))
  t.eq(r.flops // (4 * 5 // 2), r.symbols.D0 // 4 + (r.symbols.D0 % 4 > 0 and 1 or 0) +
    r.symbols.D1 // 4 + (r.symbols.D1 % 4 > 0 and 1 or 0))
  local d = step.graph(function() -- the number of rows comes from data
    local x = step.load(tide.random(f32[5][4], 1), { tile = { 1, 4 } }):flatten(0, 1)
    local one, two = table.unpack(x:partition(step.selectors({ { 0 }, { 1 }, { 0 }, { 0 }, { 1 } }, { n = 2 })))
    return one:promote():accum(fn.retile_row, { rank = 1 }):map(triangle), two
  end)
  r = select(-1, d:run())
  t.eq(r.flops, 3 * 4 // 2)
  t.eq(d:flops():at(r.symbols), r.flops)
end)

t.test("a fold has the state first", function()
  local x = tide.random(f32[3][4], 1)
  local g = step.graph(function()
    return step.load(x, { tile = { 1, 4 } }):flatten(0, 1):promote():accum(sum, { rank = 1 })
  end)
  local out = g:run()
  for j = 0, 3 do t.ok(math.abs(out[0][0][j] - (x[0][j] + x[1][j] + x[2][j])) < 1e-6) end
end)

-- A 4 x 4 array of tasks that multiplies tiles of 4 x 8 and 8 x 4.
local function array(M, K, N)
  local gemm = tide.kernel {
    name = "gemm", A = f32[M][K], B = f32[K][N], C = f32[M][N],
    function(A, B, C)
      for i, j in grid(M, N, "PE") do
        for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end,
  }
  local s = tide.schedule(gemm)
  local _, row = s:buffer_at("A", "j")
  local _, column = s:buffer_at("B", "j")
  local _, pe = s:unfold("PE", { 0, 1 })
  s:partition("C", { 0, 1 }):partition("A", 0):partition("B", 1)
  s:relay(row, pe, { axis = 1, depth = M + 1 }):relay(column, pe, { axis = 0, depth = N + 1 })
  return s
end

t.test("a systolic array stands for a product, with its own cycles", function()
  local a, b = tide.random(f32[4][8], 1), tide.random(f32[8][4], 2)
  local function graph(f, o)
    return step.graph(function()
      return step.load(a, { tile = { 4, 8 } }):zip(step.load(b, { tile = { 8, 4 } })):map(f, o)
    end)
  end
  local s = array(4, 8, 4)
  local design = graph(s, { bw = 32 })
  local out, r = design:run()
  local want = tide.matmul(a, b)
  for i, j in grid(4, 4) do t.ok(math.abs(out[0][0][i][j] - want[i][j]) < 1e-5) end
  t.eq(r.flops, 2 * 4 * 8 * 4)
  t.eq(r.cycles, select(-1, graph(fn.matmul, { bw = 32 }):run()).cycles)
  local base = graph(s, { time = "roofline", bw = 1 }):simulate().cycles - 2 * 4 * 8 * 4
  local timed = s:build { target = "cpu", timed = true, device = "rtl" }
  timed(a, b, f32[4][4](0))
  local cost = graph(s, { time = "timed", device = "rtl" }):simulate().cycles - base
  t.eq(cost, timed.report.cycles)
  cost = graph(s, { time = "estimate", device = "u280" }):simulate().cycles - base
  t.eq(cost, s:estimate({ device = "u280" }).cycles)
end)

t.test("steps ask whether a kernel treats rows by themselves", function()
  local c = sizes(9, 2, 8, 8, 4)
  for _, f in ipairs { square, below, numbered } do
    local g = layer(c, function(tile) return tile:map(f) end)
    local s = tide.schedule(g)
    local ok, err = pcall(s.retile, s, "tile", 2)
    t.eq(ok, f == square, tostring(err))
    if ok then
      t.eq((s:verify()), "strict")
    else
      t.ok(tostring(err):find("does not treat each row", 1, true), tostring(err))
    end
  end
  local one = layer(c, function(tile) return tile:map(below) end)
  local two = layer(sizes(9, 2, 8, 8, 2), function(tile) return tile:map(below) end)
  t.eq((tide.verify(one, layer(c, function(tile) return tile:map(below) end))), "strict")
  t.eq((tide.verify(one, two)), nil)
  t.eq((tide.verify(one, layer(c, function(tile) return tile:map(square) end))), nil)
end)

-- refused, accepted: functions in a map on tiles [1, 4]; the words of the refusal.
local function twins(name, words, refused, accepted, o)
  t.test(name, function()
    local function build(f)
      return pcall(step.graph, function()
        return step.load(tide.random(f32[2][4], 1), { tile = { 1, 4 } }):map(f, o)
      end)
    end
    local ok, err = build(refused)
    t.ok(not ok and tostring(err):find(words, 1, true), tostring(err))
    ok, err = build(accepted)
    t.ok(ok, tostring(err))
  end)
end

local function unary(spec, f)
  spec[#spec + 1] = f
  return tide.kernel(spec)
end
local function pass(a, out) for i, j in grid(m, n) do out[i][j] = a[i][j] end end

twins("parts that do not come", "it reads 2, and 1 come", product, square)
twins("another type of elements", "'a' is of i32",
  unary({ name = "of_i32", a = i32[m][n], out = i32[m][n] }, pass),
  unary({ name = "of_f32", a = f32[m][n], out = f32[m][n] }, pass))
twins("another fixed extent", "'a' has 5 columns, not 4",
  unary({ name = "five", a = f32[m][5], out = f32[m][5] }, function(a, out)
    for i, j in grid(m, 5) do out[i][j] = a[i][j] end
  end),
  unary({ name = "four", a = f32[m][4], out = f32[m][4] }, function(a, out)
    for i, j in grid(m, 4) do out[i][j] = a[i][j] end
  end))
twins("two results", "writes 'b' and 'out'",
  tide.kernel { name = "both", a = f32[m][n], b = f32[m][n], out = f32[m][n], function(a, b, out)
    for i, j in grid(m, n) do b[i][j] = a[i][j] out[i][j] = a[i][j] end
  end }, square)
twins("a parameter that is no matrix", "is no tile",
  tide.kernel { name = "vector", a = f32[m][n], v = f32[n], out = f32[m][n], function(a, v, out)
    for i, j in grid(m, n) do out[i][j] = a[i][j] * v[j] end
  end }, square)
twins("time of a function of step.fn", "time is of kernels", fn.silu, square, { time = "estimate" })

t.test("a run with a clock that stops at a fault", function()
  local function cycles(add)
    local quotient = tide.kernel { name = "quotient", a = i32[m][n], out = i32[m][n], function(a, out)
      for i, j in grid(m, n) do out[i][j] = i32(7 // (a[i][j] + add)) end
    end }
    return pcall(function()
      return step.graph(function()
        return step.load(i32[8][4], { tile = { 8, 4 } }):map(quotient, { time = "timed" })
      end):simulate().cycles
    end)
  end
  t.ok(cycles(1))
  local ok, err = cycles(0)
  t.ok(not ok and err.code == "step-time", tostring(err))
end)

t.test("fixed rows take whole tiles alone", function()
  local function fixed(N)
    return tide.kernel { name = "fixed", a = f32[N][8], out = f32[N][8], function(a, out)
      for i, j in grid(N, 8) do out[i][j] = a[i][j] + f32(1) end
    end }
  end
  local c = sizes(9, 2, 8, 8, 4)
  local ok, err = pcall(function() layer(c, function(tile) return tile:map(fixed(4)) end):run() end)
  t.ok(not ok and err.code == "step-function" and tostring(err):find("are valid", 1, true), tostring(err))
  c = sizes(9, 2, 8, 8, 1)
  layer(c, function(tile) return tile:map(fixed(1)) end):run()
end)

t.done()
