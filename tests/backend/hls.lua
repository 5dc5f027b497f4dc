-- hls.lua - the text of HLS C++: pragmas, names, types, calls, state; options; refusals.
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local i8, i16, i32, u8, f32, grid = tide.i8, tide.i16, tide.i32, tide.u8, tide.f32, tide.grid

-- The text of a program for hls; no tool runs.
local function source(program, options)
  options = options or {}
  options.target, options.tool = "hls", false
  return program:build(options).source
end

-- States that text has no such part.
local function lacks(text, part) t.ok(not text:find(part, 1, true), part .. " is in:\n" .. text) end

local function gemm_of(T, M, N, K)
  return tide.kernel {
    A = T[M][K], B = T[K][N], C = T[M][N], name = "gemm",
    function(A, B, C)
      for i, j in grid(M, N) do
        for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end,
  }
end

t.test("banks of a local, however it starts", function()
  for _, start in ipairs {"i32[8]()", "i32[8](0)", "i32[8](x)", "i32[8](x + 1)"} do
    local s = tide.schedule(load((([[
      local tide = require "tide"
      local i32, grid = tide.i32, tide.grid
      local k = tide.kernel {x = i32[8], y = i32[8], function(x, y)
        local z = START
        for i in grid(8, "a") do z[i] = x[i] end
        for i in grid(8, "b") do y[i] = z[7 - i] end
      end}
      return k]]):gsub("START", start)))())
    s:partition("z", {factor = 2})
    t.has(source(s), "#pragma HLS array_partition variable=z type=cyclic dim=1 factor=2")
  end
end)

t.test("unrolling and banks (Allo, Fig. 1): dimensions count from 1", function()
  local s = tide.schedule(gemm_of(f32, 32, 32, 32))
  s:unroll("k", 8)
  s:partition("A", 1, {factor = 8})
  s:partition("B", 0, {factor = 8})
  local text = source(s)
  t.has(text, "for (int k = 0; k < K; k++) {\n        #pragma HLS unroll factor=8\n")
  t.has(text, "#pragma HLS array_partition variable=A type=cyclic dim=2 factor=8")
  t.has(text, "#pragma HLS array_partition variable=B type=cyclic dim=1 factor=8")
  t.has(text, "#pragma HLS interface ap_memory port=A")
  t.has(text, "#pragma HLS interface m_axi port=C bundle=gmem_C offset=slave depth=1024")
  t.has(text, "#pragma HLS interface s_axilite port=return")
  t.has(text, "C[i][j] = C[i][j] + A[i][k] * B[k][j];")
end)

t.test("pipelining, complete unrolling, complete banks", function()
  local s = tide.schedule(gemm_of(i8, 4, 4, 4))
  s:pipeline("j", 2, {rewind = true})
  s:unroll("k")
  local _, buffer = s:buffer_at("C", "i")
  s:partition(buffer, 0)
  local text = source(s)
  t.has(text, "#pragma HLS pipeline II=2 rewind\n")
  t.has(text, "#pragma HLS unroll\n")
  t.has(text, ("#pragma HLS array_partition variable=%s type=complete dim=1\n"):format(buffer))
end)

t.test("the style of pipelines", function()
  local s = tide.schedule(gemm_of(i8, 4, 4, 4))
  s:pipeline("j", 2)
  for _, style in ipairs {"stp", "flp", "frp"} do
    t.has(s:build({target = "hls", style = style}).source, "#pragma HLS pipeline II=2 style=" .. style .. "\n")
  end
  t.has(s:build({target = "hls"}).source, "#pragma HLS pipeline II=2\n")
  t.fails(function() s:build {target = "hls", style = "stall"} end, {code = "option-value"})
end)

-- A kernel of one pipelined loop inside another: what it carries depends on the subscript.
local function carrying(shift, inner_only)
  return tide.kernel {
    A = i32[9][9], name = "carrying",
    function(A)
      for i = 0, 7 do
        if inner_only then A[0][8] = i end
        for j = 0, 7 do A[i][j] = A[i + shift][j] + 1 end
      end
    end,
  }
end

t.test("a dependence is denied where it is proved absent, outer loops included", function()
  local free, bound = tide.schedule(carrying(0, false)), tide.schedule(carrying(1, false))
  free:pipeline "j"
  bound:pipeline "j"
  t.has(source(free), "#pragma HLS dependence variable=A inter false")
  lacks(source(bound), "dependence")
  local apart = tide.schedule(carrying(1, true))
  apart:pipeline "j"
  t.has(source(apart), "#pragma HLS dependence variable=A inter false")
end)

t.test("trip counts that Vitis cannot see", function()
  local k = tide.kernel {A = i32[8][8], function(A)
    for i = 0, 7 do
      for j = 0, i do A[i][j] = 1 end
    end
  end}
  local text = source(k)
  t.has(text, "#pragma HLS loop_tripcount min=1 max=8")
  local _, n = text:gsub("tripcount", "")
  t.eq(n, 1, "only of the inner loop")
end)

t.test("independent iterations are noted; kernels are inlined on request; memories are bound",
  function()
    local text = load([[
      local tide = require "tide"
      local i32 = tide.i32
      local part = tide.kernel {
        x = i32[8], name = "part",
        function(x) --@ inline
          for i = 0, 7 do x[i] = x[i] * 2 end
        end,
      }
      return tide.kernel {
        A = i32[4][8], name = "whole",
        function(A)
          for r = 0, 3 do --@ parallel
            local b = i32[8]() --@ storage(uram) ports(1) latency(2)
            for i = 0, 7 do b[i] = A[r][i] end
            part(A[r])
            for i = 0, 7 do A[r][i] = A[r][i] + b[i] end
          end
        end,
      }]])()
    text = source(text)
    t.has(text, "// parallel: its iterations are proved independent")
    t.has(text, "#pragma HLS bind_storage variable=b type=ram_1p impl=uram latency=2")
    t.has(text, "  part(A[r]);")
    t.has(text, "static void part(ap_int<32> x[8]) {\n  #pragma HLS inline\n")
  end)

t.test("every operator has its width", function()
  local k = tide.kernel {a = i8[4], b = u8[4], c = i32[4], d = i16[4], function(a, b, c, d)
    for i = 0, 3 do
      c[i] = c[i] + a[i] * b[i]
      d[i] = a[i] + b[i] - 1
      d[i] = (a[i] + b[i]) // 3
      a[i] = b[i] >> 2
      c[i] = tide.min(a[i], b[i])
      d[i] = i8:with {overflow = "saturate"}(d[i])
    end
  end}
  local text = source(k)
  t.has(text, "c[i] = c[i] + ap_int<16>(ap_int<16>(a[i]) * b[i]);")
  t.has(text, "d[i] = ap_int<11>(ap_int<11>(ap_int<10>(ap_int<10>(a[i]) + b[i])) - 1);")
  t.has(text, "tide::floor_div<ap_int<10>>(ap_int<10>(ap_int<10>(a[i]) + b[i]), 3)")
  t.has(text, "a[i] = b[i] >> 2;")
  t.has(text, "tide::min<ap_int<9>>(a[i], b[i])")
  t.has(text, "ap_int<8>(ap_fixed<8, 8, AP_TRN, AP_SAT>(d[i]))")
end)

t.test("types of the vendor, and bf16 as a word", function()
  local k = tide.kernel {
    q = tide.fixed(8, 3)[4], r = tide.ufixed(6, 8)[4], h = tide.f16[4], g = tide.bf16[4],
    d = tide.f64[4], b = tide.bool[4], n = tide.index[4],
    function(q, r, h, g, d, b, n)
      for i = 0, 3 do
        q[i] = q[i] + r[i]
        h[i] = h[i] * h[i]
        g[i] = g[i] + g[i]
        b[i] = d[i] < 1.0 and n[i] == i
      end
    end}
  local text = source(k)
  for _, part in ipairs {"ap_fixed<8, 5> q[4]", "const ap_ufixed<6, -2> r[4]", "half h[4]",
    "ap_uint<16> g[4]", "const double d[4]", "bool b[4]", "const int64_t n[4]",
    "h[i] = h[i] * h[i];", "tide::bf16_word(tide::bf16(tide::bf16_value(g[i]) + "} do
    t.has(text, part)
  end
end)

t.test("names that C++, its library or Vitis have taken", function()
  local I, EOF, register = 4, 3, 2
  local main = tide.kernel {
    int = i8[I][EOF], min = i32[register], half = i32[I], std = i8[I], a__b = i32[I],
    function(int, min, half, std, a__b)
      for class = 0, I - 1 do
        local NULL = int[class][0] + std[class]
        half[class] = NULL
        for template = 0, EOF - 1 do a__b[class] = a__b[class] + int[class][template] end
        local exp = std[class] * 2
        a__b[class] = a__b[class] + exp
      end
      for max = 0, register - 1 do min[max] = max end
    end,
  }
  local m = main:build {target = "hls", tool = false}
  t.has(m.source, 'extern "C" void main_1(const ap_int<8> int_1[4][3], ap_int<32> min[2], ')
  t.has(m.source, "for (int class_1 = 0; class_1 < 4; class_1++)")
  t.has(m.source, "ap_int<9> NULL_1 = ")
  t.has(m.source, "ap_int<10> exp = ")
  local args = {tide.random(i8[4][3], 1), tide.random(i32[2], 2), tide.random(i32[4], 3),
    tide.random(i8[4], 4), tide.random(i32[4], 5)}
  local want = {}
  for i, x in ipairs(args) do want[i] = x:copy() end
  main(table.unpack(want))
  m(table.unpack(args))
  for i, x in ipairs(args) do t.ok(x:equal(want[i]), "argument " .. i) end
end)

t.test("sizes are constants by name", function()
  local M, time = 8, 4
  local k = tide.kernel {A = i32[M][time], function(A)
    for i, j in grid(M, time) do A[i][j] = i * j end
  end}
  local files = k:build {target = "hls", tool = false}.files
  t.has(files["kernel.h"], "constexpr int M = 8;\n")
  lacks(files["kernel.h"], "constexpr int time")
  t.has(files["kernel.cpp"], "ap_int<32> A[M][4]")
end)

t.test("constants are tables, with braces for each dimension", function()
  local w = tide.tensor(i8[2][3], {{1, -2, 3}, {4, 5, -6}})
  local k = tide.kernel {y = i32[2], function(y)
    for i, j in grid(2, 3) do y[i] = y[i] + w[i][j] end
  end}
  t.has(source(k), "static const ap_int<8> w[2][3] = {{1, -2, 3}, {4, 5, -6}};")
end)

-- A kernel with a state that another calls on rows and on columns.
local function with_state()
  local sum = tide.state(i32[2], 5)
  local add = tide.kernel {x = i32[4], name = "add", function(x)
    for i = 0, 3 do
      sum[0] = sum[0] + x[i]
      x[i] = sum[0] + sum[1]
    end
  end}
  return tide.kernel {A = i32[4][6], B = i32[6][4], name = "both", function(A, B)
    add(A:transpose()[1])
    add(B[2])
    for j = 0, 5 do add(A:slice({}, j)) end
  end}
end

t.test("rows are passed as they are, other views as the whole and where they begin; state is static",
  function()
    local text = source(with_state())
    t.has(text, "static ap_int<32> add_sum[2] = {5, 5};")
    t.has(text, "#pragma HLS reset variable=add_sum")
    t.has(text, "static void add(ap_int<32> x[4], ap_int<32> sum[2])")
    t.has(text, "static void add_1(ap_int<32> x[4][6], int x_1, ap_int<32> sum[2])")
    t.has(text, "add(B[2], add_sum);")
    t.has(text, "add_1(A, j, add_sum);")
  end)

t.test("state lasts from call to call until reset", function()
  local k = with_state()
  local m = k:build {target = "hls", tool = false}
  local A, B = tide.random(i32[4][6], 1, {lo = -9, hi = 9}), tide.random(i32[6][4], 2, {lo = -9, hi = 9})
  local C, D = A:copy(), B:copy()
  for _ = 1, 2 do
    k(A, B)
    m(C, D)
    t.ok(A:equal(C) and B:equal(D))
  end
  k:reset()
  t.eq(m:reset(), m)
  k(A, B)
  m(C, D)
  t.ok(A:equal(C) and B:equal(D))
end)

t.test("scalars by value, loops that end early, words of 16 bits", function()
  local f16, bf16 = tide.f16, tide.bf16
  local k = tide.kernel {
    n = i32, s = f16, z = bf16, x = f16[8], y = bf16[8], out = i32[1],
    function(n, s, z, x, y, out)
      local i = 0
      while i < n do --@ bound(8)
        x[i] = x[i] * s
        y[i] = y[i] / z
        if x[i] < 0.0 then break end
        i = i + 1
      end
      repeat i = i - 1 until i <= 2
      out[0] = i
    end}
  t.has(source(k), "#pragma HLS loop_tripcount max=8")
  local m = k:build {target = "hls", tool = false}
  local x, y = tide.random(f16[8], 4, {lo = 0, hi = 9}), tide.random(bf16[8], 5)
  local x2, y2, a, b = x:copy(), y:copy(), i32[1](0), i32[1](0)
  k(8, 1.5, 3, x, y, a)
  m {n = 8, s = 1.5, z = 3, x = x2, y = y2, out = b}
  t.ok(x:equal(x2) and y:equal(y2) and a:equal(b))
end)

t.test("options say what is written", function()
  local m = gemm_of(i8, 4, 4, 4):build {target = "hls", top = "accelerator", part = "xc7z020clg400-1",
    clock = "300MHz", interface = "ap_memory", flow = "cosim", tool = false}
  t.has(m.source, 'extern "C" void accelerator(')
  t.has(m.source, "#pragma HLS interface ap_memory port=C")
  lacks(m.source, "axi")
  local tcl = m.files["run.tcl"]
  for _, part in ipairs {"set_top accelerator\n", "set_part {xc7z020clg400-1}\n",
    "create_clock -period 300MHz\n", "add_files -tb tb.cpp\nadd_files -tb data\n",
    "csim_design\ncsynth_design\ncosim_design\nexit\n"} do
    t.has(tcl, part)
  end
  t.has(m.files["hls_config.cfg"], "part=xc7z020clg400-1\n\n[hls]\nclock=300MHz\n")
  local bare = gemm_of(i8, 4, 4, 4):build {target = "hls", testbench = false, clock = 3.5}
  lacks(bare.files["run.tcl"], "tb")
  t.has(bare.files["run.tcl"], "create_clock -period 3.5\ncsynth_design\nexit\n")
  t.eq(bare.files["tb.cpp"], nil)
  t.eq(bare.target, "hls")
end)

t.test("options that are not", function()
  local k = gemm_of(i8, 4, 4, 4)
  local function build(o) return function() k:build(o) end end
  t.fails(build {target = "hls", clok = 3}, {code = "unknown-option", match = "clock"})
  t.fails(build {target = "hsl"}, {code = "target", match = "did you mean 'hls'"})
  t.fails(build {}, {code = "target"})
  t.fails(build {target = "hls", interface = "axi"}, {code = "option-value", match = "m_axi|ap_memory"})
  t.fails(build {target = "hls", testbench = 1}, {code = "option-value", match = "true or false"})
  t.fails(build {target = "hls", seconds = 1.5}, {code = "option-value", match = "whole number"})
  t.fails(build {target = "hls", clock = "fast"}, {code = "option", match = "300MHz"})
  t.fails(build {target = "hls", part = "a b"}, {code = "option", match = "device"})
  t.fails(build {target = "hls", top = "a b"}, {code = "option", match = "a name"})
  t.fails(function() k:build() end, {code = "argument"})
end)

t.test("what HLS does not take", function()
  local copy = tide.kernel {Z = tide.stream(i32), A = i32[4], function(Z, A)
    for i = 0, 3 do A[i] = Z:get() end
  end}
  t.fails(function() source(copy) end, {kind = "unsupported", code = "no-streams"})
  local d = tide.design(function(d)
    local Z = d:stream(i32)
    d.a = tide.task {A = i32[4], function(A) copy(Z, A) end}
    d.b = tide.task {B = i32[4], function(B) for i = 0, 3 do Z:put(B[i]) end end}
  end)
  t.has(source(d), "copy(Z, A);")
  local n = tide.size "n"
  local open = tide.kernel {A = i32[n], function(A) for i = 0, n - 1 do A[i] = i end end}
  local e = t.fails(function() source(open) end, {kind = "unsupported", code = "unbound-size"})
  t.has(e.help, "open:at {n = 64}")
  t.has(source(open:at {n = 4}), "ap_int<32> A[n]")
end)

t.test("a foreign kernel is its model", function()
  local double = tide.kernel {x = i32[4], name = "double", function(x)
    for i = 0, 3 do x[i] = x[i] + x[i] end
  end}
  local path = shell.write(t.tmp "twice.c",
    "#include <stdint.h>\nvoid twice(int32_t *x) { for (int i = 0; i < 4; i++) x[i] *= 2; }\n")
  local function calling(model)
    local twice = tide.extern {source = path, symbol = "twice", x = i32[4], model = model}
    return tide.kernel {A = i32[4], function(A) twice(A) end}
  end
  t.has(source(calling(double)), "double_1(A);")
  t.fails(function() source(calling(nil)) end, {kind = "unsupported", code = "no-model"})
end)

t.test("the CPU is a target like another", function()
  local k = gemm_of(i8, 4, 4, 4)
  local m = k:build {target = "cpu"}
  local A, B, C, D = tide.random(i8[4][4], 1), tide.random(i8[4][4], 2), i8[4][4](0), i8[4][4](0)
  m(A, B, C)
  k(A, B, D)
  t.ok(C:equal(D) and #m.source > 0)
  t.eq(m.target, "cpu")
end)

t.test("what is known of the memory behind an argument is said of its port", function()
  local function text(mark, options)
    local k = assert(load(([[local tide = ... return tide.kernel {name = "f",
      A = tide.i32[8], %s
      B = tide.i32[8], function(A, B) for i = 0, 7 do B[i] = A[i] + 1 end end}]]):format(mark), "=f"))(tide)
    options = options or {}
    options.target, options.tool = "hls", false
    return k:build(options).source
  end
  local plain = "#pragma HLS interface m_axi port=A bundle=gmem_A offset=slave depth=8"
  t.has(text "", plain .. "\n")
  t.has(text "--@ latency(100)", plain .. " latency=100\n")
  t.has(text("--@ latency(2) ports(1)", {interface = "ap_memory"}),
    "#pragma HLS interface ap_memory port=A storage_type=ram_1p latency=2\n")
  t.has(text("", {interface = "ap_memory"}), "#pragma HLS interface ap_memory port=A\n")
  t.ok(not text "--@ latency(100)":find "bind_storage")
  -- Of a design, whether a task has the argument to itself or shares it.
  local function pair(share)
    return assert(load(([[local tide, map = ... return tide.design(function(d)
      d.f = tide.task {map = map,
        A = tide.i32[8]:layout "S0", --@ latency(100)
        B = tide.i32[8]:layout "S0",
        function(A, B) B:set(A + 1) end}
    end)]]), "=f"))(tide, {share and 2 or 1}):build {target = "hls", tool = false}.source
  end
  for _, share in ipairs {false, true} do
    t.has(pair(share), plain .. " latency=100\n")
    t.ok(not pair(share):find "bind_storage")
  end
end)

t.test("no two underscores in a row are made", function()
  local k = tide.kernel {name = "f", A = tide.i32[2], function(A)
    for _ = 0, 1 do
      for _ = 0, 1 do A[0] = A[0] + 1 end
    end
  end}
  local text = k:build {target = "hls", tool = false}.source
  t.has(text, "for (int _1 = 0;")
  t.ok(not text:find("__", 1, true))
end)

t.test("a scalar that is given itself, once all is folded, is given nothing", function()
  local function text(T)
    local k = tide.kernel {name = "f", X = T[2], function(X)
      local v = T(X[0])
      v = T(tide.abs(v))
      X[1] = v
    end}
    return k:build {target = "hls", tool = false}.source
  end
  t.ok(not text(tide.uint(17)):find("v = v;", 1, true))
  t.has(text(tide.int(17)), "v = tide::magnitude")
end)

t.test("a parameter is said to be unused where all that used it is folded", function()
  local f = tide.kernel {name = "f", X = tide.i32[2], k = tide.i32, function(X, k)
    if k <= k then X[0] = X[0] + 1 end
  end}
  local used = tide.kernel {name = "f", X = tide.i32[2], k = tide.i32, function(X, k)
    if k <= X[1] then X[0] = X[0] + 1 end
  end}
  t.has(f:build {target = "hls", tool = false}.source, "(void)k;")
  t.ok(not used:build {target = "hls", tool = false}.source:find("(void)", 1, true))
end)

t.done()
