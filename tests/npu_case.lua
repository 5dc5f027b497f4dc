-- npu_case.lua - a design or schedule on an NPU: its build gives the bits of the CPU, its two texts say the same, and
-- pass mlir-opt where that is installed.
local shell = require "shell"
local t = require "tap"
local tide = require "tide"
local npu = require "tide.npu"

local M = {}

local opt = os.execute "command -v mlir-opt-19 >/dev/null 2>&1"

-- Arguments for a run: a type is filled at random, {type, fill} by a function of its number, all else is itself.
local function argument(T, i)
  if type(T) == "table" then return T[2](T[1], i) end
  if math.type(T) then return T end
  return tide.random(T, i)
end

-- Two equal lists of arguments.
local function arguments(types)
  local a, b = {}, {}
  for i, T in ipairs(types) do a[i], b[i] = argument(T, i), argument(T, i) end
  return a, b
end

-- States that mlir-opt takes the texts of an opened design: as they are, and with the signatures of the dialect.
local function passes(m, folder)
  if not opt then return end
  local plain = m:text "generic":gsub('"func%.call"', '"chk.call"')
  shell.write(folder .. "/plain.mlir", plain)
  shell.write(folder .. "/check.mlir", m:text "check")
  local quoted = shell.quote(folder)
  t.ok(os.execute("mlir-opt-19 --allow-unregistered-dialect " .. quoted .. "/plain.mlir -o /dev/null"), "mlir-opt")
  t.ok(os.execute("mlir-opt-19 --irdl-file=tests/npu/aie.irdl.mlir " .. quoted .. "/check.mlir -o /dev/null"),
    "mlir-opt with signatures")
end

-- States that d (and schedule s of it, if there is one), given arguments of `types`, does the same on the CPU and from
-- the texts of an NPU build with `options`, twice. Returns the build, and the design opened from its files.
function M.same(d, types, options, s)
  local o = {target = "npu"}
  for k, v in pairs(options or {}) do o[k] = v end
  local a, b = arguments(types)
  local built = (s or d):build(o)
  d(table.unpack(a))
  built(table.unpack(b))
  for i = 1, #types do
    if type(a[i]) == "userdata" then t.ok(a[i]:equal(b[i]), "argument " .. i .. " differs") end
  end
  local folder = t.tmp "npu_case"
  built:write(folder)
  local opened = npu.open(folder)
  passes(opened, folder)
  return built, opened, b
end

-- The function whose text this is, of the sizes z, where $word stands for z.word, or for itself.
function M.chunk(text, z)
  local source = text:gsub("%$(%w+)", function(word) return tostring(z[word] or word) end)
  local env = {z = z, tide = tide, task = tide.task, grid = tide.grid, T = z.T, R = z.R}
  return assert(load(source, "=" .. (z.name or "case"), "t", setmetatable(env, {__index = _G})))
end

-- A case: a design of a text, argument types, steps on a schedule, sizes, options of the build.
function M.case(name, x)
  for i, z in ipairs(x.sizes) do
    t.test(("%s, %d"):format(name, i), function()
      local d = M.chunk(x.design, z)()
      local s = tide.schedule(d)
      if x.steps then M.chunk(x.steps, setmetatable({s = s}, {__index = z}))(s) end
      for _, device in ipairs(x.devices or {"npu1"}) do
        local o = {device = device, tool = false}
        for k, v in pairs(x.options or {}) do o[k] = v end
        local m = M.same(d, x.types(z), o, s)
        local u = m:simulate().utilisation
        t.ok(u >= 0 and u <= 1, "utilisation " .. u)
      end
    end)
  end
end

-- Numbers up to 10,000 of either sign.
function M.wide(T, seed)
  local x = tide.random(T, seed)
  local extent = x.shape
  local function fill(part, d)
    for i in tide.grid(extent[d]) do
      if d < #extent then fill(part[i], d + 1) else part[i] = (part[i] % 1) * 20000 - 10000 end
    end
  end
  fill(x, 1)
  return x
end

-- Attention: a task for each head, block of queries and block of keys; scores, weights and parts of the result go by
-- streams.
M.attention = [[local H, N, D, q, k, causal = z.H, z.N, z.D, z.q, z.k, z.causal
  local P, J, by = N // q, N // k, 1 / math.sqrt(D)
  return tide.design(function(d)
    local $score, weight = d:stream(tide.f32[q][k], {H, P, J}), d:stream(T[q][k], {H, P, J})
    local part, scale = d:stream(tide.f32[q][D], {H, P, J}), d:stream(tide.f32[q], {H, P})
    local total = d:stream(tide.f32[q], {H, P})
    d.$scores = task {
      map = {H, P, J}, $Q = T[H][N][D]:layout "S0S1R", $K = T[H][D][N]:layout "S0RS2",
      function($Q, $K, h, i, j) $score[h][i][j]:put(tide.matmul($Q[0], $K[0], {acc = tide.f32}) * by) end,
    }
    d.$softmax = task {map = {H, P}, function(h, i)
      local m, l = tide.f32[q](-math.huge), tide.f32[q](0)
      for j in grid(J) do
        local s, w, e = $score[h][i][j]:get(), T[q][k](), tide.f32[q]()
        local x = tide.f32[q][k]()
        for r, c in grid(q, k) do
          x[r][c] = s[r][c]
          if causal and j * k + c > i * q + r then x[r][c] = -math.huge end
        end
        for r in grid(q) do
          local peak, sum = m[r], tide.f32(0)
          for c in grid(k) do peak = tide.max(peak, x[r][c]) end
          for c in grid(k) do
            w[r][c] = T(tide.exp(x[r][c] - peak))
            sum = sum + w[r][c]
          end
          e[r] = tide.exp(m[r] - peak)
          l[r] = l[r] * e[r] + sum
          m[r] = peak
        end
        scale[h][i]:put(e)
        weight[h][i][j]:put(w)
      end
      total[h][i]:put(l)
    end}
    d.values = task {map = {H, P, J}, $V = T[H][N][D]:layout "S0S2R",
      function($V, h, i, j) part[h][i][j]:put(tide.matmul(weight[h][i][j]:get(), $V[0], {acc = tide.f32})) end}
    d.acc = task {map = {H, P}, $O = T[H][N][D]:layout "S0S1R", function($O, h, i)
      local out, o = tide.f32[q][D](0), T[q][D]()
      for j in grid(J) do
        local e, p = scale[h][i]:get(), part[h][i][j]:get()
        for r, c in grid(q, D) do out[r][c] = out[r][c] * e[r] + p[r][c] end
      end
      local l = total[h][i]:get()
      for r, c in grid(q, D) do o[r][c] = T(out[r][c] / l[r]) end
      for r, c in grid(q, D) do $O[0][r][c] = o[r][c] end
    end}
  end)]]

return M
