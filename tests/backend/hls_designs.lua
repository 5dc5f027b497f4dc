-- [slow] hls_designs.lua - designs as HLS C++: those of the tests of streams and of Dato's listings compile
-- without a warning and compute, task beside task on streams of the declared depth, what they
-- should; the text does not grow with the grid.
local t = require "tap"
local batch = require "hls_batch"
local tide = require "tide"
local i8, i32, f32, bf16 = tide.i8, tide.i32, tide.f32, tide.bf16
local task, grid = tide.task, tide.grid

-- Adds a design with random arguments, unless it is the one with an allreduce under a condition.
local refused, excused = {}, {collective = 1}
local function record(name, design)
  local passed, e = pcall(batch.add, name, design)
  if passed then return end
  excused[e.code] = (excused[e.code] or 0) - 1
  if excused[e.code] < 0 then refused[#refused + 1] = name .. ": " .. tostring(e) end
end

-- Runs a test file that makes designs; those that are accepted are recorded. What it only times, of a
-- thousand million tokens, is not made.
local function visit(path)
  local real, make, test = {test = t.test, done = t.done, least_time = t.least_time}, tide.design, ""
  function t.test(name, fn)
    test = path .. ": " .. name
    pcall(fn)
  end
  function t.done() end
  function t.least_time() return 0 end
  function tide.design(build, options)
    local d = make(build, options)
    if not options then record(test, d) end
    return d
  end
  pcall(dofile, path)
  tide.design, t.test, t.done, t.least_time = make, real.test, real.done, real.least_time
end

visit "tests/lang/design/streams.lua"

-- Dato, Fig. 2(c), with tasks of other names.
local function pipe(M, P, first, second)
  return tide.design(function(d)
    local Z = d:stream(i8[M // P], {P, depth = 2})
    d[first] = task {map = {P}, A = i8[M]:layout "S0", function(A, p) Z[p]:put(A) end}
    d[second] = task {map = {P}, B = i8[M]:layout "S0", function(B, p) B:set(Z[p]:get() + 1) end}
  end)
end
for _, z in ipairs {{16, 2}, {12, 3}, {200, 2}, {5, 5}, {7, 1}} do
  record("Fig. 2", pipe(z[1], z[2], "producer", "consumer"))
  record("Fig. 2, renamed", pipe(z[1], z[2], "zeta", "alpha"))
end

-- Dato, Fig. 7: products of blocks, whose sums are pending over the first axis.
local function blocks(M, N, K, Pk, Pm, Pn)
  return tide.design(function(d)
    d.gemm = task {map = {Pk, Pm, Pn}, A = i8[M][K]:layout "S1S0", B = i8[K][N]:layout "S0S2",
      C = i32[M][N]:layout "S1S2",
      function(A, B, C) C:set(tide.allreduce(tide.matmul(A, B), "+")) end}
  end)
end
record("Fig. 7", blocks(8, 8, 8, 2, 2, 2))
record("Fig. 7", blocks(6, 4, 9, 3, 2, 1))

-- Dato, Fig. 10: flash attention.
local function attention(N, D, Tq, Tkv)
  local P0, P1, scaled = N // Tq, N // Tkv, 1 / math.sqrt(D)
  return tide.design(function(d)
    local q, score = d:stream(bf16[Tq][D], {P0, P1}), d:stream(f32[Tq][Tkv], {P0, P1})
    local weight, part = d:stream(bf16[Tq][Tkv], {P0, P1}), d:stream(f32[Tq][D], {P0, P1})
    local scale, total = d:stream(f32[Tq], {P0}), d:stream(f32[Tq], {P0})
    d.send_q = task {map = {P0}, Q = bf16[N][D]:layout "S0R", function(Q, i)
      for j in grid(P1) do q[i][j]:put(Q) end
    end}
    d.gemm0 = task {map = {P0, P1}, K = bf16[D][N]:layout "RS1", function(K, i, j)
      score[i][j]:put(tide.matmul(q[i][j]:get(), K) * scaled)
    end}
    d.softmax = task {map = {P0}, function(i)
      local m, l = f32[Tq](-math.huge), f32[Tq](0)
      for j in grid(P1) do
        local s, w, e = score[i][j]:get(), bf16[Tq][Tkv](), f32[Tq]()
        for r in grid(Tq) do
          local peak, sum = m[r], f32(0)
          for c in tide.reduction(Tkv) do peak = tide.max(peak, s[r][c]) end
          for c in tide.reduction(Tkv) do
            w[r][c] = tide.exp(s[r][c] - peak)
            sum = sum + w[r][c]
          end
          e[r] = tide.exp(m[r] - peak)
          l[r] = l[r] * e[r] + sum
          m[r] = peak
        end
        scale[i]:put(e)
        weight[i][j]:put(w)
      end
      total[i]:put(l)
    end}
    d.gemm1 = task {map = {P0, P1}, V = bf16[N][D]:layout "S1R", function(V, i, j)
      part[i][j]:put(tide.matmul(weight[i][j]:get(), V))
    end}
    d.acc = task {map = {P0}, O = bf16[N][D]:layout "S0R", function(O, i)
      local out = f32[Tq][D](0)
      for j in grid(P1) do
        local e, o = scale[i]:get(), part[i][j]:get()
        for r, c in grid(Tq, D) do out[r][c] = out[r][c] * e[r] + o[r][c] end
      end
      local l = total[i]:get()
      for r, c in grid(Tq, D) do O[r][c] = out[r][c] / l[r] end
    end}
  end)
end
record("Fig. 10", attention(16, 4, 8, 4))

-- Dato, appendix A: an array fed and drained by daisy chains.
local function daisy_chain(M, N, K, Rt, Ct)
  local tiles = M // Rt * (N // Ct)
  return tide.design(function(d)
    local L2_A, L2_B = d:stream(i8[Rt], {Rt, depth = 4}), d:stream(i8[Ct], {Ct, depth = 4})
    local fifo_A, fifo_B = d:stream(i8, {Rt, Ct}), d:stream(i8, {Rt, Ct})
    local L1_C, L2_C = d:stream(i8[Rt], {Rt, Ct}), d:stream(i8[Rt], {Ct, depth = 4})
    d.load_A = task {A = i8[M * K // Rt][Rt], function(A)
      for mt, _, k in grid(M // Rt, N // Ct, K) do L2_A[0]:put(A[mt * K + k]) end
    end}
    d.load_B = task {B = i8[K * N // Ct][Ct], function(B)
      for _, nt, k in grid(M // Rt, N // Ct, K) do L2_B[0]:put(B[nt * K + k]) end
    end}
    d.feed_A = task {map = {Rt}, function(i)
      for _ in grid(tiles * K) do
        local word = L2_A[i]:get()
        fifo_A[i][0]:put(word[i])
        if i < Rt - 1 then L2_A[i + 1]:put(word) end
      end
    end}
    d.feed_B = task {map = {Ct}, function(j)
      for _ in grid(tiles * K) do
        local word = L2_B[j]:get()
        fifo_B[0][j]:put(word[j])
        if j < Ct - 1 then L2_B[j + 1]:put(word) end
      end
    end}
    d.pe = task {map = {Rt, Ct}, function(i, j)
      for _ in grid(tiles) do
        local c, column = i8(0), i8[Rt](0)
        for _ in grid(K) do
          local a, b = fifo_A[i][j]:get(), fifo_B[i][j]:get()
          c = c + a * b
          if j < Ct - 1 then fifo_A[i][j + 1]:put(a) end
          if i < Rt - 1 then fifo_B[i + 1][j]:put(b) end
        end
        if i > 0 then column:set(L1_C[i - 1][j]:get()) end
        column[i] = c
        L1_C[i][j]:put(column)
      end
    end}
    d.drain = task {map = {Ct}, function(j)
      for _ in grid(tiles) do
        L2_C[j]:put(L1_C[Rt - 1][j]:get())
        if j > 0 then for _ in grid(j) do L2_C[j]:put(L2_C[j - 1]:get()) end end
      end
    end}
    d.store_C = task {C = i8[M * N // Rt][Rt], function(C)
      for mt, nt, n in grid(M // Rt, N // Ct, Ct) do
        C[mt * N + nt * Ct + Ct - 1 - n]:set(L2_C[Ct - 1]:get())
      end
    end}
  end)
end
record("appendix A", daisy_chain(8, 12, 5, 4, 3))
record("appendix A", daisy_chain(4, 4, 3, 2, 2))

-- d:arg, a kernel with ports and a scalar, a design run by the tasks of another.
local function reader(n, arg, out)
  return task {src = arg, function(src) for i in grid(n) do out:put(src[i]) end end}
end
local function both(n)
  local scale = tide.kernel {p = tide.stream(i32), q = tide.stream(i32), by = i32,
    function(p, q, by) for _ in grid(n) do q:put(p:get() * by) end end}
  local weighted_sum = tide.design(function(d)
    local X, Y, Z, by = d:arg(i32[n]), d:arg(i32[n]), d:arg(i32[n]), d:arg(i32)
    local x, y, y3 = d:stream(i32), d:stream(i32), d:stream(i32, {depth = 4})
    d.read_x, d.read_y = reader(n, X, x), reader(n, Y, y)
    d.triple = task {by = by, function(by) scale(y, y3, by) end}
    d.sum = task {dst = Z, function(dst) for i in grid(n) do dst[i] = x:get() + y3:get() end end}
  end)
  return tide.design(function(d)
    d.half = task {map = {2}, A = i32[2 * n]:layout "S0", B = i32[2 * n]:layout "S0",
      C = i32[2 * n]:layout "S0", by = i32, function(A, B, C, by) weighted_sum(A, B, C, by) end}
  end)
end
record("a design in a design", both(8))
record("a design in a design", both(3))

-- Allo, Fig. 5: an array from a GEMM by steps.
local function systolic(M, N, K)
  local gemm = tide.kernel {A = i8[M][K], B = i8[K][N], C = tide.i16[M][N], function(A, B, C)
    for i, j in grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
  local s = tide.schedule(gemm)
  local _, a = s:buffer_at("A", "j")
  local _, b = s:buffer_at("B", "j")
  local _, pe = s:unfold("PE", {0, 1})
  s:partition("C", {0, 1}):partition("A", 0):partition("B", 1)
  s:relay(a, pe, {axis = 1, depth = M + 1})
  s:relay(b, pe, {axis = 0, depth = N + 1})
  return s
end
record("Allo, Fig. 5", systolic(4, 4, 4))
record("Allo, Fig. 5", systolic(3, 5, 7))

-- An unfolded loop within others: each instance has the columns of its id, of rows that the caller chooses.
local function columns(by)
  local s = tide.schedule(tide.kernel {A = i32[4][6], B = i32[4][12], function(A, B)
    for i = 0, 3 do
      for j = 0, 5 do
        B[i][2 * j] = A[i][j] + 1
        if i >= by then B[i - by][2 * j + 1] = A[i][j] * 3 end
      end
    end
  end})
  s:unfold "j"
  return s
end
record("columns of an argument", columns(0))
record("columns of an argument, rows under a condition", columns(1))

-- A slot that another stream gets a copy of, and then (`own`) its own, or nobody.
local function copied(own)
  return tide.design(function(d)
    local Z, Y = d:stream(i32[2], {block = true}), d:stream(i32[2], {2, block = true})
    d.a = task {A = i32[5], function(A)
      for n in grid(5) do
        local x = Y[0]:slot()
        x[0] = A[n]
        x[1] = 1
        Z:put(x)
        if own then Y[0]:put(x) else Y[0]:put(i32[2](7)) end
        Y[1]:put(i32[2](A[n]))
      end
    end}
    d.b = task {B = i32[5][2], function(B)
      for n in grid(5) do
        local z, u, v = Z:get(), Y[0]:get(), Y[1]:get()
        B[n][0] = z[0] * 100 + u[0] * 10 + v[0]
        B[n][1] = z[1] + u[1] + v[1]
      end
    end}
  end)
end
for _, own in ipairs {true, false} do
  batch.add("a slot that another stream gets", copied(own), {tide.random(i32[5], 3), i32[5][2](0)})
end

t.test("HLS takes all that it should", function()
  t.eq(table.concat(refused, "\n"), "")
end)
-- Blocks of 8 that pairs of tasks hand over: attributes of the buffer that is filled, and of the one that is read;
-- through a kernel that fills it, or not.
local function handing_over(filled, read, through)
  local text = ([[
local tide = ...
local i32, task, grid = tide.i32, tide.task, tide.grid
local fill = tide.kernel {Z = tide.stream(i32[2][8], {block = true}), A = i32[2][8], function(Z, A)
  local b = Z:slot() FILLED
  for i, j in grid(2, 8) do b[i][j] = A[i][j] * 3 - j end
  Z:put(b)
end}
return tide.design(function(d)
  local Z = d:stream(i32[2][8], {2, block = true})
  d.a = task {map = {2}, A = i32[6][8]:layout "S0R", function(A, p)
    for n in grid(3) do
      BODY
    end
  end}
  d.b = task {map = {2}, B = i32[6][8]:layout "S0R", function(B, p)
    for n in grid(3) do
      local b = Z[p]:get() READ
      for j in grid(8) do B[n][j] = b[0][j] + b[1][7 - j] end
    end
  end}
end)]]):gsub("BODY", through and "fill(Z[p], A:slice({0, 2}, {}))" or [[
local b = Z[p]:slot() FILLED
for i, j in grid(2, 8) do b[i][j] = A[n][j] * 3 - i end
Z[p]:put(b)]]):gsub("FILLED", filled):gsub("READ", read)
  return assert(load(text, "=blocks"))(tide)
end

t.test("a stream of blocks has the banks that its buffers ask for", function()
  local function banks(...)
    local m = batch.add("banks of blocks", handing_over(...))
    local found = {}
    for line in m.source:gmatch "#pragma HLS (array_partition[^\n]*)" do found[#found + 1] = line end
    return found
  end
  local cyclic = "--@ partition(1, cyclic, 4)"
  local want = {"array_partition variable=Z[0] type=cyclic dim=2 factor=4",
    "array_partition variable=Z[1] type=cyclic dim=2 factor=4"}
  t.eq(banks("", "", false), {})
  t.eq(banks(cyclic, "", false), want)
  t.eq(banks("", cyclic, false), want)
  t.eq(banks(cyclic, "", true), want)
  t.eq(banks(cyclic, "--@ partition(1, cyclic, 2)", false), want)
  t.eq(banks(cyclic, "--@ partition(1, block, 2), partition(0, complete, 0)", false),
    {"array_partition variable=Z[0] type=complete dim=2", "array_partition variable=Z[0] type=complete dim=1",
     "array_partition variable=Z[1] type=complete dim=2", "array_partition variable=Z[1] type=complete dim=1"})
end)

batch.test()

t.test("states of instances last from call to call, each its own; reset", function()
  local count = tide.state(i32[1], 5)
  local d = tide.design(function(d)
    d.b = task {map = {2}, B = i32[2]:layout "S0", function(B, p)
      count[0] = count[0] + B[0] * (p + 1)
      B[0] = count[0]
    end}
  end)
  local m, want, got = d:build {target = "hls"}, i32[2](0), i32[2](0)
  for _ = 1, 3 do
    want:set(i32[2](1))
    got:set(i32[2](1))
    d:reference(want)
    m(got)
    t.eq(got:table(), want:table())
  end
  t.eq(got:table(), {8, 11})
  m:reset()
  got:set(i32[2](1))
  m(got)
  t.eq(got:table(), {6, 7})
end)

-- The text of a build without its calls, every number being 0.
local function bodies(s)
  local text = s:build {target = "hls", testbench = false}.source
  return (text:gsub("\n  TIDE_TASK%b()%b();", ""):gsub("%d+", "0")), select(2, text:gsub("\n", ""))
end

t.test("the text grows with the grid by its calls alone", function()
  local small, lines = bodies(systolic(4, 4, 4))
  local large, more = bodies(systolic(16, 16, 4))
  t.eq(large, small)
  t.ok(more - lines <= 2 * (16 * 16 + 16 + 16), "two lines for each instance")
end)

t.test("the text is the same every time", function()
  local function text() return both(4):build {target = "hls"}.source end
  local first = text()
  for _ = 1, 3 do
    collectgarbage()
    t.eq(text(), first)
  end
end)

t.test("what is written", function()
  local files = systolic(4, 4, 4):build {target = "hls"}.files
  t.has(files["kernel.cpp"], "#pragma HLS dataflow")
  t.has(files["kernel.h"], '#include "tide_dataflow.h"')
  t.ok(files["tide_dataflow.h"] and files["tb.cpp"] and files["data/C.want.dat"])
  t.has(files["README.md"], "side by side")
  t.ok(not files["data/A.want.dat"], "what is only read has no expected value")
end)

t.done()
