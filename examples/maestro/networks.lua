-- DataMaestro, Table III: four networks of 8-bit layers, batch 1, on the evaluation system, cut into jobs that fit its
-- memory. Three parts of the multipliers' time, kept apart: true products of all cycles (U_mac), products of whole
-- tiles of all cycles (U_tot), and of the cycles from a job's first product to its last (U_stall), which is the
-- paper's. Moving data in and out of the memory is not counted.
-- Run: tide examples/maestro/networks.lua [LANES] [NAME]   (LANES of the quantiser: 64 or 8)
-- [slow]
local tide, maestro = require "tide", require "tide.maestro"
local core = require "tide.maestro.core"
local i8, i16, i32, grid, reduction = tide.i8, tide.i16, tide.i32, tide.grid, tide.reduction
local lanes = tonumber(arg[1] or 64)
local KIB = 1024

-- Layers: { "conv", OH, OW, Cin, Cout, R, stride, times } and { "gemm", M, N, K, times }.
local function conv(size, ci, co, r, s, times) return { "conv", size, size, ci, co, r, s, times or 1 } end
local function gemm(m, n, k, times) return { "gemm", m, n, k, times or 1 } end

local networks = {
  { name = "ResNet-18", paper = 95.45, conv(112, 3, 64, 7, 2), conv(56, 64, 64, 3, 1, 4), conv(28, 64, 128, 3, 2),
    conv(28, 64, 128, 1, 2), conv(28, 128, 128, 3, 1, 3), conv(14, 128, 256, 3, 2), conv(14, 128, 256, 1, 2),
    conv(14, 256, 256, 3, 1, 3), conv(7, 256, 512, 3, 2), conv(7, 256, 512, 1, 2), conv(7, 512, 512, 3, 1, 3),
    gemm(1, 1000, 512) },
  { name = "VGG-16", paper = 100.00, conv(224, 3, 64, 3, 1), conv(224, 64, 64, 3, 1), conv(112, 64, 128, 3, 1),
    conv(112, 128, 128, 3, 1), conv(56, 128, 256, 3, 1), conv(56, 256, 256, 3, 1, 2), conv(28, 256, 512, 3, 1),
    conv(28, 512, 512, 3, 1, 2), conv(14, 512, 512, 3, 1, 3), gemm(1, 4096, 25088), gemm(1, 4096, 4096),
    gemm(1, 1000, 4096) },
}

-- A transformer of L blocks: tokens, width 768, 12 heads of 64.
local function transformer(name, paper, S, extra)
  local t = { name = name, paper = paper, gemm(S, 2304, 768, 12), gemm(S, S, 64, 144), gemm(S, 64, S, 144),
    gemm(S, 768, 768, 12), gemm(S, 3072, 768, 12), gemm(S, 768, 3072, 12) }
  for _, x in ipairs(extra) do t[#t + 1] = x end
  networks[#networks + 1] = t
end
transformer("ViT-B/16", 99.98, 197, { gemm(196, 768, 768), gemm(1, 1000, 768) })
transformer("BERT-Base, 128 tokens", 97.85, 128, { gemm(1, 768, 768) })
transformer("BERT-Base, 512 tokens", 97.85, 512, { gemm(1, 768, 768) })

-- The evaluation system with channels in two dimensions, so that eight rows of A are four pixels of two lines, or eight
-- of one.
local ext = maestro.ext
local sys = maestro.reference {
  array = maestro.array { m = 8, n = 8, k = 8, a = i8, b = i8, acc = i32, lanes = lanes },
  A = maestro.reader { lanes = { 4, 2 }, loops = 6, depth = 8, ext = { ext.transpose(8, 8, i8) } },
  C = maestro.reader { lanes = { 4, 4, 2 }, loops = 3, depth = 2, mask = true, ext = { ext.broadcast(256, 2048) } },
  D = maestro.writer { lanes = { 4, 4, 2 }, loops = 3, depth = 2, shares = "C" },
  E = maestro.writer { lanes = { 4, 2 }, loops = 3, depth = 2 },
}

local function up(x, n) return (x + n - 1) // n * n end

local function quantise(x) return i8(tide.max(-128, tide.min(127, tide.asr(x * i16(3), 8)))) end

-- Ways to lay a convolution across the array: m, lines and pixels of a tile; k, pixels and channels of a word. A word
-- of several pixels must begin where a word of the image does: at a stride that is so many of them.
local function ways(CI, s)
  local list, packed = {}, 1
  while packed < CI do packed = 2 * packed end
  if packed >= 8 or s * packed % 8 ~= 0 then packed = 8 end
  for _, m in ipairs { { "ox", 1, 8 }, { "oy%2 ox%4", 2, 4 } } do
    list[#list + 1] = { m = m[1], lines = m[2], pixels = m[3], channels = packed, points = 8 // packed,
      k = packed == 8 and "ci" or ("kx%%%d ci%%%d"):format(8 // packed, packed) }
  end
  return list
end

-- Products of tiles of a convolution that is laid out in a way.
local function products(OH, OW, CI, CO, R, way)
  return up(OH, way.lines) * up(OW, way.pixels) // 8 * (up(CO, 8) // 8) * R * (up(R, way.points) // way.points)
    * (up(CI, way.channels) // way.channels)
end

-- Pixels of a line of the image in memory: where two lines are read at once, so many that four words of each lie in
-- different banks of eight.
local function pitch(W, way)
  return way.lines == 1 and up(W, 2 * way.points) or up(W + 4, 8) - 4
end

-- A convolution of rows of results and some channels: of all that reduce, with a bias and the quantiser; or of a part
-- of them, whose sums go on from those before, in 32 bits.
local function conv_kernel(OH, OW, CI, CO, R, s, whole, way)
  local H, W = s * (OH - 1) + R, s * (OW - 1) + R
  local c, p = way.channels, way.points
  local order = { O = "y x n -> n/8 y x n%8", I = ("y x c -> c/%d y x%%%d c%%%d"):format(c, pitch(W, way), c),
    F = p == 1 and "n y x c -> n/8 c/8 y x n%8 c%8" or ("n y x c -> n/8 y x/%d n%%8 x%%%d c%%%d"):format(p, p, c) }
  local loops = { "oy", "ox", "co", "ci", "ky", "kx" }
  local o = { m = way.m, n = "co", k = way.k, loops = loops, order = order, mode = "best" }
  if whole then
    order.B = "n -> n"
    return tide.kernel { name = "conv", I = i8[H][W][CI], F = i8[CO][R][R][CI], B = i32[CO], O = i8[OH][OW][CO],
      function(I, F, B, O)
        for oy, ox, co in grid(OH, OW, CO) do
          local acc = B[co]
          for ky, kx, ci in reduction(R, R, CI) do acc = acc + I[oy * s + ky][ox * s + kx][ci] * F[co][ky][kx][ci] end
          O[oy][ox][co] = quantise(acc)
        end
      end }, o
  end
  return tide.kernel { name = "conv", I = i8[H][W][CI], F = i8[CO][R][R][CI], O = i32[OH][OW][CO],
    function(I, F, O)
      for oy, ox, co, ky, kx, ci in grid(OH, OW, CO, R, R, CI) do
        O[oy][ox][co] = O[oy][ox][co] + I[oy * s + ky][ox * s + kx][ci] * F[co][ky][kx][ci]
      end
    end }, o
end

local function gemm_kernel(M, N, K, whole)
  local order = { A = "m k -> m/8 k/8 m%8 k%8", B = "k n -> n/8 k/8 n%8 k%8", D = "m n -> m/8 n/8 m%8 n%8" }
  local o = { m = "m", n = "n", k = "k", order = order, mode = "best" }
  if whole then
    order.C = "n -> n"
    return tide.kernel { name = "gemm", A = i8[M][K], B = i8[K][N], C = i32[N], D = i8[M][N], function(A, B, C, D)
      for m, n in grid(M, N) do
        local acc = C[n]
        for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = quantise(acc)
      end
    end }, o
  end
  return tide.kernel { name = "gemm", A = i8[M][K], B = i8[K][N], D = i32[M][N], function(A, B, D)
    for m, n, k in grid(M, N, K) do D[m][n] = D[m][n] + A[m][k] * B[k][n] end
  end }, o
end

-- Whether operands of so many bytes fit the quarters of the memory, one of A and B perhaps two of them.
local function fits(a, b, out)
  local q = 32 * KIB
  return a <= q and b <= q and out <= 2 * q - 1024 or a <= 2 * q and b <= q and out <= q - 1024 or
    a <= q and b <= 2 * q and out <= q - 1024
end

-- Lengths to cut a dimension of n into: whole multiples of `unit`, the longest first.
local function lengths(n, unit)
  local list = {}
  for parts = 1, n // unit do
    local len = up((n + parts - 1) // parts, unit)
    if len ~= list[#list] then list[#list + 1] = len end
  end
  return list
end

-- Pieces of n of length len: { length, how many } of the whole ones and the rest.
local function pieces(n, len)
  local list = {}
  if n // len > 0 then list[1] = { len, n // len } end
  if n % len > 0 then list[#list + 1] = { n % len, 1 } end
  return list
end

-- The cut of a layer into the fewest cycles of jobs: what(rows, columns, depth) is the bytes of a job's operands.
local function choose(rows, columns, depth, row_unit, depth_unit, what)
  local best, least
  for _, d in ipairs(lengths(depth, depth_unit)) do
    for _, r in ipairs(lengths(rows, row_unit)) do
      for _, c in ipairs(lengths(columns, 8)) do
        if fits(what(r, c, d, d < depth)) then
          local jobs = -(-rows // r) * -(-columns // c) * -(-depth // d)
          if not least or jobs < least then best, least = { r, c, d }, jobs end
          break
        end
      end
    end
  end
  return best
end

local known = {}

-- Cycles of one job, of one more behind it that overlaps, and of its MAC window.
local function measure(key, make)
  if not known[key] then
    local kernel, o = make()
    local job = sys:compile(kernel, o)
    local list = job.jobs or { job }
    local r = { cycles = 0, window = 0, fires = 0, behind = 0 }
    for _, one in ipairs(list) do
      local s = one:simulate()
      local more = core.simulate(one.core, { one.core })
      r.cycles, r.window, r.fires = r.cycles + s.cycles, r.window + s.window, r.fires + s.fires
      r.behind = r.behind + more.cycles - s.cycles
    end
    known[key] = r
  end
  return known[key]
end

local function add(sum, r, times)
  for _, k in ipairs { "cycles", "window", "fires", "behind" } do sum[k] = sum[k] + r[k] * times end
  sum.jobs = sum.jobs + times
end

-- Runs the jobs of a layer; adds to sum.
local function run(layer, sum)
  local isconv = layer[1] == "conv"
  local times = layer[#layer]
  local rows, columns, depth, cut, make
  if isconv then
    local _, OH, OW, CI, CO, R, s = table.unpack(layer)
    sum.macs = sum.macs + times * OH * OW * CI * CO * R * R
    local way
    for _, w in ipairs(ways(CI, s)) do
      if not way or products(OH, OW, CI, CO, R, w) < products(OH, OW, CI, CO, R, way) then way = w end
    end
    rows, columns, depth = up(OH, way.lines), up(CO, 8), up(CI, way.channels)
    OW = up(OW, way.pixels)
    cut = choose(rows, columns, depth, way.lines, way.channels, function(r, c, d, parts)
      return (s * (r - 1) + R) * pitch(s * (OW - 1) + R, way) * d, c * d * R * up(R, way.points),
        r * OW * c * (parts and 4 or 1)
    end)
    make = function(r, c, d, whole) return conv_kernel(r, OW, d, c, R, s, whole, way) end
  else
    local _, M, N, K = table.unpack(layer)
    sum.macs = sum.macs + times * M * N * K
    rows, columns, depth = up(M, 8), up(N, 8), up(K, 8)
    cut = choose(rows, columns, depth, 8, 8, function(r, c, d, parts)
      return r * d, c * d, r * c * (parts and 4 or 1)
    end)
    make = gemm_kernel
  end
  assert(cut, "a layer does not fit")
  for _, r in ipairs(pieces(rows, cut[1])) do
    for _, c in ipairs(pieces(columns, cut[2])) do
      for _, d in ipairs(pieces(depth, cut[3])) do
        local whole = cut[3] == depth
        local key = { layer[1], r[1], c[1], d[1], tostring(whole) }
        if isconv then table.move({ layer[3], layer[4], layer[6], layer[7] }, 1, 4, #key + 1, key) end
        add(sum, measure(table.concat(key, " "), function() return make(r[1], c[1], d[1], whole) end),
          times * r[2] * c[2] * d[2])
      end
    end
  end
end

print(("%-22s %8s %8s %8s %10s %9s   %s"):format("", "U_stall", "U_tot", "U_mac", "overlapped", "jobs",
  "paper's U_stall"))
for _, net in ipairs(networks) do
  if not arg[2] or net.name:find(arg[2], 1, true) then
    local sum = { cycles = 0, window = 0, fires = 0, behind = 0, jobs = 0, macs = 0 }
    for _, layer in ipairs(net) do run(layer, sum) end
    print(("%-22s %8.2f %8.2f %8.2f %10.2f %9d   %.2f"):format(net.name, 100 * sum.fires / sum.window,
      100 * sum.fires / sum.cycles, 100 * sum.macs / (512 * sum.cycles), 100 * sum.fires / sum.behind, sum.jobs,
      net.paper))
  end
end
