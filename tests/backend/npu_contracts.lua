-- [slow] npu_contracts.lua - the contracts of tide.npu on a core: what they compute on the CPU is what their C++ does,
-- which two compilers take; a nest that computes the same is replaced by each.
local npu = require "tide.npu"
local npu_case = require "npu_case"
local shell = require "shell"
local t = require "tap"
local tide = require "tide"
local i8, i32, f32, bf16 = tide.i8, tide.i32, tide.f32, tide.bf16

-- A design whose one task gives kernel k arrays of these {type, how}: copied "in" or "out", or a "sum", which is out
-- and begins with 1, or "fixed", 1 as well, which is no argument. Returns it, and the types of its arguments.
local function on_core(k, args)
  local params, locals, fill, back, outer, inner, types = {}, {}, {}, {}, {}, {}, {}
  local env = {tide = tide, k = k}
  for i, a in ipairs(args) do
    local shape, at = a[1].shape, ""
    local loop, extents = {}, {}
    for d, extent in ipairs(shape) do
      loop[d], extents[d] = "i" .. d, tostring(extent)
      at = ("%s[i%d]"):format(at, d)
    end
    local head = ("for %s in tide.grid(%s) do "):format(table.concat(loop, ", "), table.concat(extents, ", "))
    env["T" .. i] = a[1]
    inner[i] = "u" .. i
    locals[i] = ("local u%d = T%d(%s)"):format(i, i, (a[2] == "sum" or a[2] == "fixed") and "1" or "")
    if a[2] == "in" then fill[#fill + 1] = ("%su%d%s = A%d%s end"):format(head, i, at, i, at) end
    if a[2] == "out" or a[2] == "sum" then back[#back + 1] = ("%sA%d%s = u%d%s end"):format(head, i, at, i, at) end
    if a[2] ~= "fixed" then
      params[#params + 1] = ("A%d = T%d"):format(i, i)
      outer[#outer + 1] = "A" .. i
      types[#types + 1] = a[1]
    end
  end
  local form = "return tide.design(function(d) d.go = tide.task {%s, function(%s)\n%s\n%s\nk(%s)\n%s\nend} end)"
  local text = form:format(
    table.concat(params, ", "), table.concat(outer, ", "), table.concat(locals, "\n"), table.concat(fill, "\n"),
    table.concat(inner, ", "), table.concat(back, "\n"))
  return assert(load(text, "=on_core", "t", env))(), types
end

local function compiles(m)
  local folder = t.tmp "npu_contracts"
  m:write(folder)
  for _, cxx in ipairs {"g++", "clang++"} do
    if os.execute("command -v " .. cxx .. " >/dev/null 2>&1") then
      local flags = "-std=c++20 -Wall -Wextra -Werror -O1 -c -o /dev/null -Ibackends/npu/include"
      t.ok(os.execute(("%s %s %s/kernels.cc"):format(cxx, flags, shell.quote(folder))), cxx)
    end
  end
end

for name, x in pairs {
  init_softmax = {npu.init_softmax {r = 4}, {{f32[4], "out"}, {f32[4], "out"}}},
  online_softmax = {npu.online_softmax {r = 4, c = 8, T = bf16},
    {{f32[4][8], "in"}, {bf16[4][8], "out"}, {f32[4], "fixed"}, {f32[4], "sum"}, {f32[4], "fixed"}}},
  rescale = {npu.rescale {r = 4, c = 8}, {{f32[4], "in"}, {f32[4][8], "sum"}}},
  layernorm = {npu.layernorm {r = 2, c = 16, T = bf16},
    {{bf16[2][16], "in"}, {bf16[16], "in"}, {bf16[16], "fixed"}, {bf16[2][16], "out"}}},
  gelu = {npu.gelu {n = 16, T = bf16}, {{bf16[16], "in"}, {bf16[16], "out"}}},
  gemv = {npu.gemv {m = 4, n = 32, T = i8, acc = i32}, {{i8[4][32], "in"}, {i8[32], "in"}, {i32[4], "sum"}}},
  conv = {npu.conv {h = 4, w = 4, c = 4, f = 2, k = 3, T = i8, acc = i32},
    {{i8[4][4][4], "in"}, {i8[2][3][3][4], "in"}, {i32[2][2][2], "sum"}}},
  matmul_i8_i4 = {npu.matmul {m = 4, n = 8, k = 16, A = i8, B = tide.int(4), C = i32},
    {{i8[1][2][4][8], "in"}, {tide.int(4)[2][1][8][8], "in"}, {i32[1][1][4][8], "sum"}}},
  matmul_bf16 = {npu.matmul {m = 4, n = 4, k = 16, A = bf16, B = bf16, C = f32},
    {{bf16[1][2][4][8], "in"}, {bf16[2][1][8][4], "in"}, {f32[1][1][4][4], "sum"}}},
} do
  t.test(name, function()
    local d, types = on_core(x[1], x[2])
    compiles((npu_case.same(d, types, {tool = false, math = "host"})))
  end)
end

t.test("scale, by a scalar of the call", function()
  local k = npu.scale {n = 16, T = f32}
  local d = tide.design(function(e)
    e.go = tide.task {by = f32, x = f32[16], y = f32[16], function(by, x, y)
      local u = f32[16]()
      for i in tide.grid(16) do u[i] = x[i] end
      k(by, u)
      for i in tide.grid(16) do y[i] = u[i] end
    end}
  end)
  compiles((npu_case.same(d, {1.5, f32[16], f32[16]}, {tool = false})))
end)

t.test("a contract takes the place of a nest that computes the same, and of no other", function()
  local function rows(z)
    return tide.kernel {name = "rows", A = i8[4][32], x = i8[32], y = i32[4], function(A, x, y)
      for i, j in tide.grid(4, 32) do y[i] = y[i] + A[i][j] * x[(j + z.plus) % 32] end
    end}
  end
  local gemv = npu.gemv {m = 4, n = 32, T = i8, acc = i32}
  local s = tide.schedule(rows {plus = 0})
  t.has(tostring(s:inject("i", gemv)), "gemv(")
  t.fails(function() tide.schedule(rows {plus = 1}):inject("i", gemv) end, {code = "differs"})
end)

t.done()
