-- npu_case.lua - a design or schedule on an NPU: its build gives the bits of the CPU, its two texts say the same, and
-- pass mlir-opt where that is installed.
local lines = require "code_lines"
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

--- A design of text: a task on the host sends A, i32[4], by the first of streams of blocks of 4, and one puts what
--- comes by the last into B; `middle` is between. Its second argument is f there.
function M.around(streams, middle)
  local first, last = streams:match "^%w+", streams:match "%w+$"
  local each = {}
  for _ in streams:gmatch "%w+" do each[#each + 1] = "d:stream(i32[4], {block = true})" end
  return assert(load(([[
    local tide, f = ...
    local i32, task, grid = tide.i32, tide.task, tide.grid
    return tide.design(function(d)
      local %s = %s
      d.send = task { --@ host
        A = i32[4], function(A)
          local o = %s:slot()
          for i in grid(4) do o[i] = A[i] end
          %s:put(o)
        end}
      %s
      d.back = task { --@ host
        B = i32[4], function(B)
          local x = %s:get()
          for i in grid(4) do B[i] = x[i] end
        end}
    end)]]):format(streams, table.concat(each, ", "), first, first, middle, last), "=around"))
end

-- Text with `from` once, which becomes `to`.
local function edit(text, from, to)
  local at, last = text:find(from, 1, true)
  assert(at and not text:find(from, last + 1, true), from)
  return text:sub(1, at - 1) .. to .. text:sub(last + 1)
end

-- Attention as its example has it, of a type T and with rows that do not see those behind them, where z.causal says so;
-- its tasks, arguments and a stream may be named otherwise.
local function attention()
  local source = table.concat(lines.attention, "\n"):match "^(.-\nend%))"
  source = edit(source, "local attention = ", "return ")
  source = edit(source, "local s, w, e = score[h][i][j]:get(), bf16[q][k](), f32[q]()", [[
      local all, w, e, s = score[h][i][j]:get(), bf16[q][k](), f32[q](), f32[q][k]()
      for r, c in grid(q, k) do
        s[r][c] = all[r][c]
        if causal and j * k + c > i * q + r then s[r][c] = -math.huge end
      end]])
  for _, name in ipairs {"scores", "score", "softmax", "Q", "K", "V", "O"} do
    source = source:gsub("%f[%w_]" .. name .. "%f[^%w_]", "$" .. name)
  end
  return [[local H, N, D, q, k, causal, bf16, f32 = z.H, z.N, z.D, z.q, z.k, z.causal, z.T, tide.f32
    local P, J, by = N // q, N // k, 1 / math.sqrt(D)
    ]] .. source
end
M.attention = attention()

return M
