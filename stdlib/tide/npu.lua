--- AMD's NPUs: contracts of kernels that their cores have instructions for, the search for a schedule, and for tile
--- sizes.
---   local mm = npu.matmul { m = 64, n = 64, k = 64, A = i16, B = i16, C = i32 }
---   local _, name, a, b, c = s:inject("i", mm)
---   local best = npu.tune(product, { 512, 512, 512 }, { m = { 32, 64 }, n = { 32, 64 }, k = { 64 } })
local tide = require "tide"
local core = require "tide.npu.core"
local refusal = require "tide.refusal"
local search = require "tide.npu_search"

---@class tide.npu
local npu = {}

-- The table of a device.
local function device_of(name)
  local device, names = core.device(name or "npu1")
  if device then return device end
  refusal.raise("device", ("there is no NPU '%s'"):format(tostring(name)), "there are " .. names:gsub("|", ", "))
end

-- The kernel that this text returns, given `env` by name.
local function kernel(text, env)
  local names, values = {}, {}
  for k in pairs(env) do names[#names + 1] = k end
  table.sort(names)
  for i, k in ipairs(names) do values[i] = env[k] end
  local chunk = ("local tide, %s = ...\nreturn %s"):format(table.concat(names, ", "), text)
  return assert(load(chunk, "=npu"))(tide, table.unpack(values))
end

-- The row of a device for factors and sum of these types, which has blocks. A sum of integers may be as short as the
-- first factor: it wraps.
local function row_of(device, a, b, c)
  for _, row in ipairs(device.macs) do
    local own = c == a and row.c == "i32"
    if row.a == a and row.b == b and (row.c == c or own) and row.r > 0 then return row, own end
  end
end

local function types_of(device)
  local list = {}
  for _, row in ipairs(device.macs) do
    if row.r > 0 then list[#list + 1] = ("%s x %s into %s"):format(row.a, row.b, row.c) end
  end
  return table.concat(list, ", ")
end

-- The name of a type in the tables of devices: integers below 8 bits are in cells of 8.
local function word_of(T) return (tostring(T):gsub("^tide%.int%([2-7]%)$", "i8")) end

--- A product that cores multiply in blocks: C[m][n] = C + A[m][k] * B[k][n] with orders "m k -> m/r k/s m%r k%s" and
--- so on. Fields m, n, k, A, B, C (types), device, name.
function npu.matmul(o)
  local device = device_of(o.device)
  local a, b, c = word_of(o.A), word_of(o.B), word_of(o.C)
  local row, own = row_of(device, a, b, c)
  if not row then
    refusal.raise("npu-type", ("cores of %s multiply no %s x %s into %s"):format(o.device or "npu1", a, b, c),
      "they multiply " .. types_of(device))
  end
  for name, block in pairs { m = row.r, n = row.t, k = row.s } do
    if math.type(o[name]) ~= "integer" or o[name] < 1 or o[name] % block ~= 0 then
      refusal.raise("npu-shape", ("%s = %s is no multiple of %d, a block of %s x %s"):format(name, tostring(o[name]),
        block, a, b))
    end
  end
  local cast = c == "f32" and "C_" or ""
  local text = [[tide.kernel {
  name = name,
  A = A_[m // R][k // S][R][S], --@ order("m k -> m/R k/S m%R k%S")
  B = B_[k // S][n // T][S][T], --@ order("k n -> k/S n/T k%S n%T")
  C = C_[m // R][n // T][R][T], --@ order("m n -> m/R n/T m%R n%T")
  function(A, B, C)
    for mo, no, ko, mi, ni, ki in tide.grid(m // R, n // T, k // S, R, T, S) do
      C[mo][no][mi][ni] = WRAP(C[mo][no][mi][ni] + CAST(A[mo][ko][mi][ki]) * CAST(B[ko][no][ki][ni]))
    end
  end,
}]]
  text = text:gsub("CAST", cast):gsub("WRAP", own and "C_" or "")
  text = text:gsub("%f[%w]([RST])%f[%W]", { R = row.r, S = row.s, T = row.t })
  local name = o.name or ("matmul_%s_%s_%dx%dx%d"):format(a, b, o.m, o.n, o.k)
  return kernel(text, { name = name, m = o.m, n = o.n, k = o.k, A_ = o.A, B_ = o.B, C_ = o.C })
end

--- y = y * by, n elements of type T.
function npu.scale(o)
  return kernel([[tide.kernel {name = "scale", by = T, y = T[n], function(by, y)
    for i = 0, n - 1 do y[i] = y[i] * by end
  end}]], { T = o.T, n = o.n })
end

--- y += A * x, of m rows of n elements of type T; sums of type acc.
function npu.gemv(o)
  return kernel([[tide.kernel {name = "gemv", A = T[m][n], x = T[n], y = U[m], function(A, x, y)
    for i, j in tide.grid(m, n) do y[i] = y[i] + A[i][j] * x[j] end
  end}]], { T = o.T, U = o.acc, m = o.m, n = o.n })
end

--- The start of a softmax by parts over r rows: the greatest so far, and the sum, in f32.
function npu.init_softmax(o)
  return kernel([[tide.kernel {name = "init_softmax", most = tide.f32[r], sum = tide.f32[r], function(most, sum)
    for i = 0, r - 1 do
      most[i] = low
      sum[i] = 0
    end
  end}]], { r = o.r, low = -math.huge })
end

--- A part of a softmax: c columns of scores become weights of type T; most, sum are brought up to date, by tells what
--- was made before is to be multiplied with.
function npu.online_softmax(o)
  return kernel([[tide.kernel {name = "online_softmax", score = tide.f32[r][c], weight = T[r][c],
    most = tide.f32[r], sum = tide.f32[r], by = tide.f32[r],
    function(score, weight, most, sum, by)
      for i = 0, r - 1 do
        local peak, all = most[i], tide.f32(0)
        for j = 0, c - 1 do peak = tide.max(peak, score[i][j]) end
        for j = 0, c - 1 do
          weight[i][j] = T(tide.exp(score[i][j] - peak))
          all = all + weight[i][j]
        end
        by[i] = tide.exp(most[i] - peak)
        sum[i] = sum[i] * by[i] + all
        most[i] = peak
      end
    end}]], { r = o.r, c = o.c, T = o.T })
end

--- Rows of y times by, each its own.
function npu.rescale(o)
  return kernel([[tide.kernel {name = "rescale", by = tide.f32[r], y = tide.f32[r][c], function(by, y)
    for i, j in tide.grid(r, c) do y[i][j] = y[i][j] * by[i] end
  end}]], { r = o.r, c = o.c })
end

--- Rows of x with mean 0 and variance 1, times gamma, plus beta; in f32.
function npu.layernorm(o)
  return kernel([[tide.kernel {name = "layernorm", x = T[r][c], gamma = T[c], beta = T[c], y = T[r][c],
    function(x, gamma, beta, y)
      for i = 0, r - 1 do
        local mean, var = tide.f32(0), tide.f32(0)
        for j = 0, c - 1 do mean = mean + x[i][j] end
        mean = mean / c
        for j = 0, c - 1 do var = var + (x[i][j] - mean) * (x[i][j] - mean) end
        local by = 1 / tide.sqrt(var / c + eps)
        for j = 0, c - 1 do y[i][j] = T((x[i][j] - mean) * by * gamma[j] + beta[j]) end
      end
    end}]], { r = o.r, c = o.c, T = o.T, eps = o.eps or 1e-5 })
end

--- GELU by tanh, n elements of type T.
function npu.gelu(o)
  return kernel([[tide.kernel {name = "gelu", x = T[n], y = T[n], function(x, y)
    for i = 0, n - 1 do
      local v = tide.f32(x[i])
      y[i] = T(0.5 * v * (1 + tide.tanh(0.7978845608 * (v + 0.044715 * v * v * v))))
    end
  end}]], { n = o.n, T = o.T })
end

--- A convolution of an image of h x w pixels of c channels with f filters of k x k: sums of type acc.
function npu.conv(o)
  return kernel([[tide.kernel {name = "conv", x = T[h][w][c], f = T[f_][k][k][c], y = U[h - k + 1][w - k + 1][f_],
    function(x, f, y)
      for i, j, o, u, v, z in tide.grid(h - k + 1, w - k + 1, f_, k, k, c) do
        y[i][j][o] = y[i][j][o] + x[i + u][j + v][z] * f[o][u][v][z]
      end
    end}]], { T = o.T, U = o.acc, h = o.h, w = o.w, c = o.c, f_ = o.f, k = o.k })
end

--- The design that m:write(folder) wrote: m(A, B, C) runs it and m:simulate() times it, from its files alone.
function npu.open(folder) return core.open(folder) end

--- The schedule that the search finds for a schedule (or design) on options.device, as s:search {device =} does.
function npu.search(s, options) return search.run(npu, s, options) end

--- Tries make(sizes.., m, n, k) for all lists of tile sizes: {m =, n =, k =, schedule =, report =, tried =} of the
--- fastest on the model of options.device.
function npu.tune(make, sizes, tiles, options) return search.tune(npu, make, sizes, tiles, options or {}) end

return npu
