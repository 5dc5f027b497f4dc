-- templates.lua - templates: parameters by name, defaults, constraints refused by name at the caller's
-- line, schedules composed from those of what is called.
local t = require "tap"
local tide = require "tide"
local template = require "tide.template"
local nn, systolic = require "tide.nn", require "tide.systolic"
local i8, i16, f16, f32 = tide.i8, tide.i16, tide.f16, tide.f32
local grid = tide.grid

-- y = x * by on N elements, by blocks of B.
local scale = template {
  name = "scale", summary = "y = 3 x.",
  kernel = function(N, T)
    return tide.kernel {name = "scale", x = T[N], y = T[N], function(x, y)
      for i in grid(N) do y[i] = x[i] * 3 end
    end}
  end,
  schedule = function(s, B) s:split("i", B, {tail = "perfect"}):pipeline "i_i" end,
  N = template.size "elements", B = template.size("elements of a block", 4),
  T = template.type("of the elements", i8), where = {"N % B == 0", "is_integer(T) or T == f32"},
}

-- States that a call is refused at its own line in this file, with this text.
local function refused(call, code, message, help)
  local e = t.fails(call, {kind = "usage", code = code})
  t.eq(e.message, message)
  t.eq(e.line, debug.getinfo(call, "S").linedefined, "line")
  t.has(e.file, "templates.lua")
  if help then t.has(e.help, help) end
  return e
end

t.test("a kernel, and the schedule that belongs to it", function()
  local k = scale {N = 8}
  t.eq({k.sizes.N, tostring(k.params[1].type)}, {8, "i8[8]"})
  local s = template.schedule(k)
  t.eq(s:loops(), {"i_o", "i_i"})
  t.has(tostring(s), "for i_i = 0, 3 do --@ pipeline(1)")
  t.eq(s:verify(), "strict")
  t.eq(template.schedule(k):loops(), {"i_o", "i_i"}, "a schedule of its own each time")
  t.eq(tide.schedule(k):loops(), {"i"}, "the kernel stays as it is")
end)

t.test("a kernel that no template made has no schedule of one; an instance is made by the template", function()
  local k = tide.kernel {A = i8[3], function(A) for i in grid(3) do A[i] = 1 end end}
  for _, bad in ipairs {k, scale {N = 4}:as "mine", 5} do
    refused(function() template.schedule(bad) end, "template-kernel", "no template made this kernel", '"name"')
  end
  refused(function() return template.schedule() end, "template-kernel", "no template made this kernel")
  local s = template.schedule(scale({N = 8}, "mine"))
  t.has(tostring(s), "mine = tide.kernel")
  t.eq(s:loops(), {"i_o", "i_i"})
end)

t.test("a constraint is refused by name, its accepted twin is not", function()
  refused(function() return scale {N = 10} end, "constraint",
    "constraint `N % B == 0` of template scale: N = 10, B = 4")
  t.eq(scale {N = 10, B = 5}.sizes.N, 10)
  refused(function() return scale {N = 8, T = f16} end, "constraint",
    "constraint `is_integer(T) or T == f32` of template scale: T = f16")
  t.ok(scale {N = 8, T = f32})
  refused(function() systolic.gemm {M = 10, N = 4, K = 3} end, "constraint",
    "constraint `M % pm == 0` of template gemm: M = 10, pm = 4")
  t.ok(systolic.gemm {M = 10, N = 4, K = 3, pm = 5})
  refused(function() nn.linear {M = 1, N = 1, K = 1, T = i16, acc = i8} end, "constraint",
    "constraint `is_float(acc) == is_float(T) and acc.bits >= T.bits` of template linear: acc = i8, T = i16")
  t.ok(nn.linear {M = 1, N = 1, K = 1, T = i16, acc = i16})
end)

-- States that a template refuses arguments by a constraint whose text holds `text`.
local function broken(text, make, args)
  t.has(t.fails(function() make(args) end, {code = "constraint"}).message, text)
end

t.test("types that a template does not compute with are refused by its constraints, not inside it", function()
  local quant = require "tide.quant"
  local fixed, wide = tide.fixed(8, 4), tide.int(65)
  local shape = {2}
  local numbers = "is_number(T) and is_number(acc) and (is_fixed(acc) or not is_fixed(T))"
  for _, T in ipairs {tide.bool, wide, fixed} do
    for _, make in ipairs {nn.gemm, nn.linear, systolic.array, systolic.gemm} do
      broken(numbers, make, {M = 4, N = 4, K = 2, T = T})
    end
    for _, make in ipairs {nn.gemv, systolic.gemv} do
      broken(numbers, make, {M = 4, K = 2, T = T})
    end
    broken(numbers, nn.conv2d, {H = 2, W = 2, C = 1, R = 2, S = 2, O = 1, T = T})
  end
  t.ok(nn.gemm {M = 1, N = 1, K = 1, T = fixed, acc = tide.fixed(20, 8)})
  for _, T in ipairs {tide.bool, wide} do
    for _, make in ipairs {nn.relu, nn.add} do broken("`is_number(T)`", make, {shape = shape, T = T}) end
    broken("`is_number(T)`", nn.maxpool2d, {H = 2, W = 2, C = 1, R = 2, S = 2, T = T})
  end
  t.ok(nn.relu {shape = shape, T = fixed} and nn.add {shape = shape, T = fixed})
  broken("T ~= bool", nn.pad2d, {H = 1, W = 1, C = 1, T = tide.bool})
  t.ok(nn.pad2d {H = 1, W = 1, C = 1, T = wide})
  -- the score of what is not seen, -2^30, would not be far enough from the others
  broken("`shift <= 20`", quant.attention, {L = 2, D = 2, shift = 21, causal = true})
  t.ok(quant.attention {L = 2, D = 2, shift = 20, causal = true})
end)

t.test("the caret is under the call, in a chunk as in a file", function()
  local chunk = 'local nn = require "tide.nn"\nlocal k =\n  nn.softmax {M = 2, N = 3, T = require "tide".i8}\n'
  local e = t.fails(function() load(chunk, "=mine")() end, {code = "constraint", line = 3, col = 6, file = "mine"})
  t.has(tostring(e), "mine:3:6: error: constraint `is_float(T)` of template softmax: T = i8")
  t.has(tostring(e), "nn.softmax {M = 2, N = 3, T")
end)

t.test("arguments: missing, unknown, of another kind", function()
  local usage = "scale {N =, T = i8, B = 4}"
  refused(function() scale {} end, "template-argument", "template scale needs N: elements", usage)
  refused(function() scale {N = 8, b = 2} end, "template-argument", "template scale has no parameter 'b'", usage)
  refused(function() nn.attention {L = 8, D = 8, head = 2} end, "template-argument",
    "template attention has no parameter 'head'", "did you mean 'heads'?")
  refused(function() scale {8} end, "template-argument", "template scale has no parameter '1'", usage)
  for _, v in ipairs {0, -1, 2.5, "8", i8} do
    refused(function() scale {N = v} end, "template-argument",
      ("N of template scale (elements) is an integer from 1, not %s"):format(v))
  end
  for _, v in ipairs {8, "i8", i8[2], tide.stream(i8)} do
    refused(function() scale {N = 8, T = v} end, "template-argument",
      ("T of template scale (of the elements) is a type of scalars, not %s"):format(v))
  end
  refused(function() scale(8) end, "template-argument", "template scale takes a table of its parameters", usage)
  for _, v in ipairs {3, {}, {1, 2, 3, 4}, {0}, {2, "x"}} do
    local e = t.fails(function() nn.relu {shape = v} end, {code = "template-argument"})
    t.has(e.message, "shape of template relu (extents of the arrays, one to three) is a list of one to three integers")
  end
  t.ok(nn.relu {shape = {1, 2, 3}} and scale {N = 8.0 // 1 | 0})
end)

t.test("a type by default: of sums, that of the factors if they are floats", function()
  t.eq(tostring(nn.gemm {M = 1, N = 1, K = 1}.params[3].type), "i32[1][1]")
  t.eq(tostring(nn.gemm {M = 1, N = 1, K = 1, T = f32}.params[3].type), "f32[1][1]")
end)

t.test("names of instances, lists with holes, functions that return no kernel: at the caller's line", function()
  for _, name in ipairs {5, "", "a b", "end", {}} do
    refused(function() scale({N = 8}, name) end, "name",
      ("an instance of template scale has a name as in Lua, not %s"):format(tostring(name)))
  end
  t.has(tostring(scale({N = 8}, "end_")), "end_ = tide.kernel")
  t.has(t.fails(function() nn.relu {shape = {1, nil, 3}} end, {code = "template-argument"}).message, "a list of one to")
  for _, made in ipairs {5, false} do
    local function kernel(N) return N and made end
    local none = template {name = "none", summary = "", kernel = kernel, N = template.size "n"}
    refused(function() none {N = 3} end, "template-kernel", "the kernel of template none returns no kernel")
  end
end)

t.test("what is wrong with a template is said when it is made", function()
  local function says(text, spec)
    local made, e = pcall(template, spec)
    t.ok(not made)
    t.has(e, text)
  end
  local function kernel(N) return N end
  says("template bad: parameter 'N' is not described", {name = "bad", summary = "", kernel = kernel})
  says("a template has a summary, a string", {name = "bad", kernel = kernel})
  says("template bad: neither function takes 'n'", {name = "bad", summary = "", kernel = kernel,
    N = template.size "n", n = template.size "n"})
  says("template bad: constraint `N %`", {name = "bad", summary = "", kernel = kernel, N = template.size "n",
    where = {"N %"}})
  says("template bad: constraint `N < M`: 'M' is no parameter", {name = "bad", summary = "", kernel = kernel,
    N = template.size "n", where = {"N.x == 0x1f and not true", "N < M"}})
end)

t.test("bottom-up: schedules of the templates that a kernel calls, and a template of templates", function()
  local mlp = template {
    name = "mlp", summary = "Y = (max(X W + b, 0)) V + c",
    kernel = function(M, D, H)
      local up, act, down = nn.linear {M = M, K = D, N = H}, nn.relu {shape = {M, H}, T = tide.i32},
        nn.linear {M = M, K = H, N = D, T = tide.i32}
      return tide.kernel {name = "mlp", X = i8[M][D], W = i8[D][H], b = tide.i32[H], V = tide.i32[H][D],
        c = tide.i32[D], Y = tide.i32[M][D], function(X, W, b, V, c, Y)
          local h, a = tide.i32[M][H](), tide.i32[M][H]()
          up(X, W, b, h)
          act(h, a)
          down(a, V, c, Y)
        end}, up, act, down
    end,
    schedule = function(s) s:dataflow():relay("h", "relu"):relay("a", "linear_1") end,
    M = template.size "rows", D = template.size "features", H = template.size "hidden units",
  }
  local k = mlp {M = 3, D = 4, H = 5}
  local s = template.schedule(k)
  local level, verdict = s:verify()
  t.eq(level, "strict", tostring(verdict))
  t.eq({s:graph().nodes, s:graph().streams}, {3, 2})
  local _, buffers = tostring(s):gsub("local Y_i = i32%[N%]%(%)", "")
  t.eq(buffers, 2, "each layer has its own schedule")
end)

t.test("two kernels of one name: each schedule goes to its own", function()
  local first, second = nn.gemv {M = 2, K = 3}, nn.gemv {M = 3, K = 2, T = i16}
  local k = tide.kernel {A = i8[2][3], B = i16[3][2], x = i8[3], y = tide.i32[2], z = tide.i32[3],
    function(A, B, x, y, z)
      local w = i16[2]()
      first(A, x, y)
      w:set(y)
      second(B, w, z)
    end}
  for _, order in ipairs {{first, second}, {second, first}} do
    local s = tide.schedule(k)
    for _, part in ipairs(order) do s:compose(template.schedule(part)) end
    local _, n = tostring(s):gsub("for i = 0, M %- 1 do %-%-@ pipeline%(1%)", "")
    t.eq(n, 2, tostring(s))
    t.eq(s:verify(), "strict")
  end
end)

t.done()
