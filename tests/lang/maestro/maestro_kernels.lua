-- DataMaestro: kernels of the user's as extensions. Results are those of the kernel on what the extension makes; cycles
-- and Verilog come of its own Verilog build. Each refusal has a twin that is accepted.
-- [slow]
local tide, maestro = require "tide", require "tide.maestro"
local t = require "tap"
local case = require "verilog_case"
local i8, i16, i32, grid, reduction, ext = tide.i8, tide.i16, tide.i32, tide.grid, tide.reduction, maestro.ext

-- In a call n tokens of w elements, halved; pipelined, if that is said.
local function halve(T, w, n, pipelined)
  local k = tide.kernel { name = "halve", X = tide.stream(T[w]), Z = tide.stream(T[w]), function(X, Z)
    for _ in grid(n, "n") do
      local v = X:get()
      local r = T[w]()
      for i in grid(w, "i") do r[i] = tide.asr(v[i], 1) end
      Z:put(r)
    end
  end }
  return pipelined and tide.schedule(k):unroll("i") or k
end

-- A reader and a writer of two channels of 8 bytes.
local function path(reads, writes)
  return maestro.system {
    memory = maestro.memory { banks = 8, word = 8, rows = 64 },
    R = maestro.reader { lanes = { 2 }, loops = 3, depth = 2, ext = reads },
    W = maestro.writer { lanes = { 2 }, loops = 3, depth = 2, ext = writes },
  }
end

local function copy(T, N)
  return tide.kernel { name = "copy", I = T[N], O = T[N], function(I, O)
    for x in grid(N) do O[x] = I[x] end
  end }, tide.random(T[N], 1)
end

-- Runs a copy through a kernel that stands behind `where`; in the simulator too, whose every cycle is compared.
local function agrees(sys, T, N, where)
  local k, I = copy(T, N)
  local job, O, Q = sys:compile(k, { ext = { [where] = { "halve" } } }), T[N](0), T[N](0)
  local r = job:run(I, O)
  local right = true
  for x in grid(N) do right = right and O[x] == I[x] // 2 end
  t.ok(right, tostring(job))
  if not case.has "iverilog" then return r end
  t.eq(sys:build():run(job, I, Q).cycles, r.cycles)
  t.ok(Q:equal(O))
  return r
end

t.test("behind a reader, before a writer, beside others", function()
  local slow = agrees(path { halve(i8, 16, 1) }, i8, 128, "R")
  agrees(path(nil, { halve(i8, 16, 2) }), i8, 128, "W")
  agrees(path({ halve(i16, 2, 4), ext.maxpool(i16) }, { ext.memset() }), i16, 64, "R")
  local fast = agrees(path { halve(i8, 16, 4, true) }, i8, 128, "R")
  t.ok(fast.cycles < slow.cycles, ("%d, %d"):format(fast.cycles, slow.cycles))
end)

t.test("one that is off is a wire", function()
  local sys, k, I = path { halve(i8, 16, 1) }, copy(i8, 128)
  local plain, O = path(), i8[128](0)
  local r = sys:compile(k, {}):run(I, O)
  t.ok(O:equal(I))
  t.eq(r.cycles, plain:compile(k, {}):simulate().cycles)
end)

t.test("before an array: the product of what it makes", function()
  local function system(a)
    return maestro.system {
      memory = maestro.memory { banks = 16, word = 8, rows = 64 },
      array = maestro.array { m = 2, n = 2, k = 8, a = i8, b = i8, acc = i32 },
      A = maestro.reader { lanes = { 2 }, loops = 4, depth = 4, ext = a },
      B = maestro.reader { lanes = { 2 }, loops = 4, depth = 4 },
      D = maestro.writer { lanes = { 2 }, loops = 4, depth = 2 },
    }
  end
  local k = tide.kernel { name = "gemm", A = i8[6][16], B = i8[16][4], D = i32[6][4], function(A, B, D)
    for m, n in grid(6, 4) do
      local acc = i32(0)
      for l in reduction(16) do acc = acc + A[m][l] * B[l][n] end
      D[m][n] = acc
    end
  end }
  local A, B, D, want = tide.random(i8[6][16], 1), tide.random(i8[16][4], 2), i32[6][4](0), i32[6][4](0)
  local sys, o = system { halve(i8, 16, 1, true) }, { m = "m", n = "n", k = "l" }
  o.ext = { A = { "halve" } }
  local job = sys:compile(k, o)
  local r = job:run { A = A, B = B, D = D }
  local half = A:copy()
  for m, l in grid(6, 16) do half[m][l] = half[m][l] // 2 end
  k { A = half, B = B, D = want }
  t.ok(D:equal(want))
  t.eq(job:stream "A".ext, { "halve" })
  if case.has "iverilog" then
    local Q = i32[6][4](0)
    t.eq(sys:build():run(job, { A = A, B = B, D = Q }).cycles, r.cycles)
    t.ok(Q:equal(want))
  end
end)

t.test("kernels that no extension can be", function()
  local function refused(match, make)
    t.fails(function() path { make } end, { code = "maestro-field", match = match })
  end
  t.ok(path { halve(i8, 16, 1) })
  refused("tokens of a call are no multiple of the word", halve(i8, 12, 1))
  refused("two streams", (copy(i8, 16)))
  refused("it branches", tide.kernel { name = "clip", X = tide.stream(i16[8]), Z = tide.stream(i16[8]),
    function(X, Z)
      local v = X:get()
      if v[0] > 0 then v[0] = 1 end
      Z:put(v)
    end })
  refused("gets from one stream and puts to the other", tide.kernel { name = "sink", X = tide.stream(i16[8]),
    Z = tide.stream(i16[8]), function(X, Z)
      local v, w = X:get(), Z:get()
      v[0] = w[0]
    end })
  local sys, k = path { halve(i8, 16, 3) }, copy(i8, 128)
  t.fails(function() sys:compile(k, { ext = { R = { "halve" } } }) end, { code = "maestro-beats" })
  t.ok(sys:compile((copy(i8, 192)), { ext = { R = { "halve" } } }))
  t.fails(function() sys:compile(k, { ext = { R = { "half" } } }) end,
    { code = "maestro-field", match = "has no kernel 'half'" })
end)

t.done()
