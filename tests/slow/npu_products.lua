-- [slow] npu_products.lua - N06: products in four types on 4 x 4 cores, square and not: the bits of the CPU, the
-- objectFIFOs and the ports of memory tiles that such a mesh takes; larger ones on the model, without data.
local core = require "tide.npu.core"
local npu = require "tide.npu"
local npu_case = require "npu_case"
local t = require "tap"
local tide = require "tide"

local kinds = {
  {name = "i16", A = tide.i16, B = tide.i16, C = tide.i32, m = 32, n = 32, k = 32},
  {name = "bf16", A = tide.bf16, B = tide.bf16, C = tide.f32, m = 32, n = 32, k = 32},
  {name = "i8", A = tide.i8, B = tide.i8, C = tide.i32, m = 32, n = 64, k = 32},
  {name = "i8 x i4", A = tide.i8, B = tide.int(4), C = tide.i32, m = 32, n = 32, k = 64},
}

-- A product of these sizes, with the steps that lead it to 4 x 4 cores.
local function mapped(x, M, N, K)
  local m, n, k = x.m, x.n, x.k
  local d = tide.design(function(e)
    e.gemm = tide.task {
      map = {K // k, M // m, N // n}, A = x.A[M][K]:layout "S1S0", B = x.B[K][N]:layout "S0S2",
      C = x.C[M][N]:layout "S1S2",
      function(A, B, C) C:set(tide.allreduce(tide.matmul(A, B, {acc = x.C}), "+")) end,
    }
  end)
  local s = tide.schedule(d):bundle("gemm", {axis = 0}):chain("gemm", "gemm_allreduce")
  for axis, n in ipairs {M // x.m, N // x.n} do
    if n > 4 then s:bundle("gemm", {axis = axis - 1, factor = n // 4}) end
  end
  s:expand "gemm_part"
  s:collapse("gemm_part", {reassociate = true})
  local p = core.products(s, "gemm")[1]
  local mm = npu.matmul {m = p.m, n = p.n, k = p.k, A = x.A, B = x.B, C = x.C}
  local _, _, a, b, c = s:inject(p.loop, mm)
  s:hoist(c, "x"):collapse "acc"
  for i, copy in ipairs {a, b, c} do
    local _, host = s:isolate(copy, {depth = i == 3 and 1 or 2})
    s:coalesce(host, {axis = i == 1 and 1 or 0})
  end
  return d, s:place("gemm", {0, 2}, {by = {{0, 1}, {1, 0}}})
end

for _, x in ipairs(kinds) do
  for _, size in ipairs {{256, 256, 256}, {512, 256, 128}, {128, 512, 192}} do
    local M, N, K = table.unpack(size)
    t.test(("%s, %d x %d x %d"):format(x.name, M, N, K), function()
      local d, s = mapped(x, M, N, K)
      local built = npu_case.same(d, {x.A[M][K], x.B[K][N], x.C[M][N]}, {tool = false}, s)
      local fifos, into = 0, {}
      for to in built.source:gmatch "aie.objectfifo @[^(]*%(%%%w+[^{]*{([^}]*)}" do
        fifos = fifos + 1
        local tile = to:match "^%%(mem_%d)"
        if tile then into[tile] = (into[tile] or 0) + 1 end
      end
      t.eq(fifos, 36)
      t.eq(into, {mem_0 = 6, mem_1 = 6, mem_2 = 6, mem_3 = 6})
    end)
  end
  t.test(x.name .. ", 512 to 2048 rows on the model: cycles grow as they do", function()
    local first
    for _, M in ipairs {512, 1024, 2048} do
      local _, s = mapped(x, M, 1024, 512)
      local m = s:build {target = "npu", tool = false}
      local r = m:simulate()
      local _, ops = m.source:gsub("aiex%.npu", "")
      t.ok(ops <= 800, ops .. " operations in the sequence")
      first = first or r.cycles / M
      t.ok(math.abs(r.cycles / M / first - 1) < 0.15, ("%d rows: %d cycles"):format(M, r.cycles))
    end
  end)
end

t.done()
