-- extern_cpp.lua - tide.extern of C++: the signature is read from the source; calls, HLS builds, what is refused.
-- [slow]
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local i8, i32, u16, f32, f64 = tide.i8, tide.i32, tide.u16, tide.f32, tide.f64

-- A C++ source of this text; its path.
local count = 0
local function source(text, name)
  count = count + 1
  local path = t.tmp(name or ("ip" .. count .. ".cpp"))
  shell.write(path, "#include <cstdint>\n#include \"ap_int.h\"\n#include \"ap_fixed.h\"\n" .. text)
  return path
end

local function extern(text, options)
  local all = {source = source(text), name = "ip"}
  for k, v in pairs(options or {}) do all[k] = v end
  all.symbol = all.symbol or "f"
  return tide.extern(all)
end

local mac = [[
// mac(int a) is only a comment; "mac(" a text
#define N 8
namespace dsp { inline namespace v1 {} namespace deep {
typedef ap_int<12> acc_t;
using gain_t = ap_uint<2 + 2>;
constexpr int W = 5;
void mac(const int a[N], ap_int<W> b[N], acc_t &out, gain_t gain) {
#pragma HLS pipeline II=1
  acc_t sum = 0;
  for (int i = 0; i < N; i++) { sum += a[i] * b[i]; }
  out = sum * gain;
}
} }
]]

t.test("the parameters are those of the function; the printed form loads back", function()
  local path = source(mac)
  local f = tide.extern {source = path, symbol = "dsp::deep::mac"}
  local text = tostring(f)
  for _, part in ipairs {"a = i32[8]", "b = tide.int(5)[8]", "out = tide.int(12)[1]", "gain = tide.uint(4)",
    'symbol = "dsp::deep::mac"'} do t.has(text, part) end
  t.eq(tostring(load(text)()), text)
  t.eq(tostring(tide.extern {source = path, symbol = "mac", name = "f"}), text, "by its last name")
  local a, b, o = tide.random(i32[8], 1, {lo = -9, hi = 9}), tide.random(tide.int(5)[8], 2), tide.int(12)[1](0)
  local sum = 0
  for i = 0, 7 do sum = sum + a[i] * b[i] end
  f(a, b, o, 3)
  t.eq(o[0], ((sum * 3 + 2048) % 4096) - 2048)
  f {a = a, b = b, out = o, gain = 0}
  t.eq(o[0], 0)
end)

t.test("types: built-in, <stdint.h>, fixed-point, bool, arrays of two dimensions, pointers, references", function()
  local f = extern([[
    void f(signed char a[2][3], uint16_t b, const float &c, double d[2], bool flag, long long big[1],
           ap_fixed<8, 3> x[2], ap_ufixed<6, 2> y, unsigned (&r)[2], std::uint8_t *p, bool *q) {
      for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) a[i][j] = a[i][j] * 2 + i;
      d[0] = c; d[1] = b; big[0] = flag ? 1LL << 40 : -1;
      x[0] = x[1] + y; r[1] = r[0] + 1; p[3] = 7; q[1] = !q[0];
    }
  ]], {p = tide.u8[4], q = tide.bool[2]})
  local F, G = tide.fixed(8, 5), tide.ufixed(6, 4)
  local a, d, big = tide.tensor(i8[2][3], {{1, 2, 3}, {4, 5, 6}}), f64[2](0), tide.i64[1](0)
  local x, r, p, q = F[2](0.5), tide.u32[2](4), tide.u8[4](0), tide.bool[2](false)
  f(a, 65535, 0.25, d, true, big, x, 1.25, r, p, q)
  t.eq(a:table(), {{2, 4, 6}, {9, 11, 13}})
  t.eq({d[0], d[1], big[0], x[0], x[1], r[1], p[3], q[1]}, {0.25, 65535, 1 << 40, 1.75, 0.5, 5, 7, true})
  t.eq(tostring(G), "tide.ufixed(6, 4)")
  t.has(tostring(f), "y = tide.ufixed(6, 4)")
end)

t.test("half, and words of more than 64 bits: arrays, references, values; here and in HLS C++", function()
  local f = extern([[
    #include "hls_half.h"
    void f(half a[3], half h, half &sum, ap_uint<200> w[2], ap_int<70> v, ap_int<70> &minus) {
      sum = h;
      for (int i = 0; i < 3; i++) { sum = half(float(sum) + float(a[i])); a[i] = half(float(a[i]) * 2); }
      w[1].range(159, 80) = w[0].range(99, 20);
      minus = -v;
    }
  ]])
  local H, W, V = tide.f16, tide.uint(200), tide.int(70)
  t.has(tostring(f), "w = tide.uint(200)[2]")
  local k = tide.kernel {A = H[3], S = H[1], X = tide.u64[4], Y = tide.u64[4], M = tide.i64[2], name = "outer",
    function(A, S, X, Y, M)
      local w, m = W[2](0), V[1](0)
      for i = 0, 2 do w[0] = tide.with_bits(w[0], 64 * i, 64 * i + 64, X[i]) end
      f(A, 0.5, S, w, V(M[0]), m)
      for i = 0, 2 do Y[i] = tide.bits(w[1], 64 * i, 64 * i + 64) end
      Y[3] = tide.bits(m[0], 6, 70)
      M[1] = tide.i64(m[0])
    end}
  local function run(g)
    local A, S, Y = tide.tensor(H[3], {1, 2.5, -4}), H[1](0), tide.u64[4](0)
    local M = tide.tensor(tide.i64[2], {12345678901, 0})
    g(A, S, tide.random(tide.u64[4], 1), Y, M)
    return {A:table(), S[0], Y:table(), M[1]}
  end
  local s = tide.schedule(k)
  local want = run(k)
  t.eq({want[1], want[2], want[4]}, {{2.0, 5.0, -8.0}, 0.0, -12345678901})
  local x = tide.random(tide.u64[4], 1)
  t.eq({want[3][1], want[3][2] >> 16}, {0, ((x[0] >> 20 | x[1] << 44) & (1 << 48) - 1)})
  for _, tier in ipairs {"tcc", "cc"} do t.eq(run(s:build {target = "cpu", tier = tier}), want, tier) end
  t.eq(run(s:build {target = "hls"}), want, "HLS C++")
end)

t.test("in a process of its own, a function that ends it ends its call; one that does not goes on", function()
  local text = [[
    #include <cstdlib>
    #include <stdexcept>
    #include <unistd.h>
    struct Last { ~Last() { _exit(99); } };
    void f(int how, int x[1]) {
      static Last last;
      x[0] = how;
      switch (how) {
      case 1: exit(3);
      case 2: std::exit(-7);
      case 3: std::quick_exit(5);
      case 4: std::_Exit(6);
      case 5: _exit(7);
      case 6: std::terminate();
      case 7: throw std::runtime_error("nobody catches this");
      }
    }
  ]]
  local f = extern(text, {process = true})
  t.has(tostring(f), "process = true")
  local k = tide.kernel {how = i32, X = i32[1], name = "caller", function(how, X) f(how, X) end}
  local status = {99, 99, 5, 6, 7}
  for _, tier in ipairs {"tcc", "cc"} do
    local m = tide.schedule(k):build {target = "cpu", tier = tier}
    for how = 1, 7 do
      local e = t.fails(function() m(how, i32[1](0)) end, {kind = "illegal",
        code = status[how] and "foreign-exit" or "crash"})
      t.eq(e.file:match "[^/]+$", "extern_cpp.lua")
      t.has(e.message, status[how] and "'f' ended its process with status " .. status[how] or "SIGABRT")
      t.has(tostring(e), "function(how, X) f(how, X) end")
    end
    local x = i32[1](9)
    m(0, x)
    t.eq(x[0], 0, tier)
  end
  t.fails(function() f(1, i32[1](0)) end, {code = "foreign-exit"})
end)

t.test("in the HLS simulation a function that ends it is told by its status", function()
  local f = extern "#include <cstdlib>\nvoid f(int how, int x[1]) { x[0] = how + 1; if (how >= 0) exit(how); }"
  local m = tide.schedule(tide.kernel {how = i32, X = i32[1], name = "caller",
    function(how, X) f(how, X) end}):build {target = "hls"}
  for _, how in ipairs {0, 3, 4} do -- 3 and 4: as deadlocks and tokens left in streams
    local x = i32[1](9)
    t.fails(function() m(how, x) end, {kind = "illegal", code = "simulation-failed",
      match = "simulation ended with status " .. how})
    t.eq(x[0], 9)
  end
  local x = i32[1](9)
  m(-1, x)
  t.eq(x[0], 0)
end)

t.test("called from a kernel, with a model, in a task", function()
  local model = tide.kernel {a = i32[4], s = i32, function(a, s) for i = 0, 3 do a[i] = a[i] * s end end}
  local f = extern("void f(int *a, int s) { for (int i = 0; i < 4; i++) a[i] *= s; }", {a = i32[4], model = model})
  local k = tide.kernel {A = i32[3][4], function(A) for i = 0, 2 do f(A[i], i + 1) end end}
  local plain = tide.kernel {A = i32[3][4], function(A)
    for i = 0, 2 do
      for j = 0, 3 do A[i][j] = A[i][j] * (i + 1) end
    end
  end}
  local x = tide.random(i32[3][4], 1, {lo = -99, hi = 99})
  local y, z = x:copy(), x:copy()
  k(x)
  k:reference(y)
  plain(z)
  t.ok(x:equal(z) and y:equal(z))
  t.eq((tide.verify(k, plain)), "strict")
  local d = tide.design(function(d)
    local Z = d:stream(i32[4])
    d.a = tide.task {A = i32[3][4], function(A)
      for i = 0, 2 do Z:put(A[i]) end
    end}
    d.b = tide.task {B = i32[3][4], function(B)
      for i = 0, 2 do
        local v = Z:get()
        f(v, 5)
        B[i]:set(v)
      end
    end}
  end)
  local b = i32[3][4](0)
  d(z, b)
  t.ok(b:equal(z * 5))
  local h = i32[3][4](0)
  tide.schedule(d):build {target = "hls"}(z, h)
  t.ok(h:equal(b), "and in the simulation of its HLS C++")
end)

t.test("aliases of arrays: as rows, by pointer, by reference, of each other", function()
  local f = extern([[
    enum { W = 4 };
    typedef int row_t[W];
    using grid_t = row_t[3];
    typedef grid_t again_t;
    typedef ap_int<5> small_t[2][W - 1];
    void f(row_t a, const row_t b[2], row_t *c, row_t &d, again_t e, row_t (&g)[2], small_t h) {
      for (int i = 0; i < 4; i++) {
        a[i] += b[1][i];
        c[1][i] = 2 * a[i];
        d[i] = a[i] + 1;
        for (int k = 0; k < 3; k++) e[k][i] = k * a[i];
        g[1][i] = 10 * a[i];
      }
      h[1][2] = a[3];
    }]], {c = i32[3][4]})
  local types = {i32[4], i32[2][4], i32[3][4], i32[4], i32[3][4], i32[2][4], tide.int(5)[2][3]}
  for i, p in ipairs(f.params) do t.eq(tostring(p.type), tostring(types[i])) end
  local k = tide.kernel {a = types[1], b = types[2], c = types[3], d = types[4], e = types[5], g = types[6],
    h = types[7], function(a, b, c, d, e, g, h) f(a, b, c, d, e, g, h) end}
  local function run(program)
    local x = {}
    for i, type in ipairs(types) do x[i] = tide.random(type, i, {lo = -8, hi = 8}) end
    local b, first = x[2], x[1]:copy()
    program(table.unpack(x))
    local a, c, d, e, g = x[1], x[3], x[4], x[5], x[6]
    for i = 0, 3 do
      local sum = first[i] + b[1][i]
      t.eq({a[i], c[1][i], d[i], e[0][i], e[2][i], g[1][i]}, {sum, 2 * sum, sum + 1, 0, 2 * sum, 10 * sum})
    end
    t.eq(x[7][1][2], tide.int(5)(first[3] + b[1][3]))
  end
  run(f)
  run(k)
  run(tide.schedule(k):build {target = "hls"})
end)

-- Refused, with a code and what the message holds; the twin is accepted.
local function twins(name, no, yes, code, match, options, more)
  t.test(name, function()
    local e = t.fails(function() extern(no, options) end, {code = code})
    t.has(tostring(e), match)
    local given = {}
    for _, list in ipairs {options or {}, more or {}} do
      for k, v in pairs(list) do given[k] = v end
    end
    t.has(tostring(extern(yes, given)), "tide.extern")
  end)
end
twins("a function that is declared and not defined", "void f(int a[4]);\nvoid g(int a[4]) { f(a); }",
  "void f(int a[4]);\nvoid f(int a[4]) { a[0] = 1; }", "ip-function", "not defined in this source")
twins("an alias of an array, of another shape than the table's",
  "typedef int row_t[4];\nvoid f(row_t a[3]) { a[0][0] = 1; }",
  "typedef int row_t[5];\nvoid f(row_t a[3]) { a[0][0] = 1; }", "ip-type", "'a' is i32[3][4] here", {a = i32[3][5]})
twins("an alias of an array without extent", "typedef int row_t[];\nvoid f(row_t a[3]) { a[0][0] = 1; }",
  "typedef int row_t[2];\nvoid f(row_t a[3]) { a[0][0] = 1; }", "foreign-source", "incomplete element type 'row_t'")
twins("a template", "template <class T> void f(T a[4]) { a[0] = 1; }", "void f(int a[4]) { a[0] = 1; }",
  "ip-template", "'f' is a template")
local loaded = "void f(int a[4]) { a[0] = 1; }\nvoid f(float a[4]) { a[0] = 1; }\nvoid f(struct S &s);"
twins("an overload", loaded, "void f(int a[4]) { a[0] = 1; }\nvoid g(float a[4]) { a[0] = 1; }", "ip-overload",
  "'f' is overloaded: a call from Tide could mean any of 3")
twins("an overload that the types say", loaded, loaded, "ip-overload", "x = f32[4]", {}, {a = f32[4]})
twins("overloads that the types do not tell apart", "void f(int *a, int b) {}\nvoid f(int *a, float b) {}",
  "void f(int *a, int b) {}\nvoid f(float *a, float b) {}", "ip-overload", "another one", {a = i32[4]})
twins("a declaration and its definition", "void f(int a[4]);\nvoid f(short a[4]) { a[0] = 1; }",
  "void f(int a[4]);\nvoid f(int a[4]) { a[0] = 1; }", "ip-overload", "another one")
twins("a result", "int f(int a[4]) { return a[0]; }", "static void f(int a[4]) { a[0] = 1; }", "ip-function",
  "returns a value (int)")
twins("a type that Tide has not", "struct S { int x; };\nvoid f(S a[4]) { a[0].x = 1; }",
  "struct S { int x; };\nvoid f(int a[4]) { S s = {1}; a[0] = s.x; }", "ip-type", "no type for 'S'")
twins("wider integers than words", "void f(ap_int<1025> a[4]) { a[0] = 1; }",
  "void f(ap_int<1024> a[4]) { a[0] = 1; }", "ip-type", "no type for 'ap_int<1025>'")
twins("wide fixed-point numbers", "void f(ap_fixed<65, 8> a[4]) { a[0] = 1; }",
  "void f(ap_fixed<64, 8> a[4]) { a[0] = 1; }", "ip-type", "no type for 'ap_fixed<65, 8>'")
local streams = "#include \"hls_stream.h\"\nvoid one(hls::stream<int> &s, int &b) { b = s.read(); }\n"
twins("a stream", streams .. "void f(hls::stream<int> &s, int &b) { one(s, b); }",
  streams .. "void f(int s[1], int &b) { hls::stream<int> x; x.write(s[0]); one(x, b); }", "ip-type",
  "fills the stream from it")
twins("modes of fixed-point numbers", "void f(ap_fixed<8, 4, AP_RND> a[4]) { a[0] = 1; }",
  "void f(ap_fixed<8, 4> a[4]) { a[0] = 1; }", "ip-type", "AP_RND")
twins("pointers to pointers", "void f(int **a) { **a = 1; }", "void f(int a[1][1]) { **a = 1; }", "ip-type",
  "pointers to pointers")
twins("an array of pointers", "void f(int *a[2]) { *a[0] = 1; }", "void f(int a[2][1]) { *a[0] = 1; }", "ip-type",
  "array of pointers")
twins("a parameter without a name", "void f(int [4]) {}", "void f(int a[4]) { a[0] = 1; }", "ip-type", "no name")
twins("an extent that is none", "void f(int a[0]) { a[0] = 1; }", "void f(int a[sizeof(int) / 4]) { a[0] = 1; }",
  "ip-type", "'a' is declared in a way")
local both = "namespace x { void f(int a[1]) { a[0] = 1; } }\nnamespace y { void f(int a[1]) { a[0] = 2; } }"
twins("two namespaces", both, both, "ip-function",
  "x::f or y::f", {}, {symbol = "y::f"})
twins("a pointer without a shape", "void f(int *a) { a[2] = 1; }", "void f(int *a) { a[2] = 1; }", "ip-shape",
  "a = i32[n]", {}, {a = i32[4]})
twins("an array without its first extent", "void f(int a[][3]) { a[1][2] = 1; }",
  "void f(int a[][3]) { a[1][2] = 1; }", "ip-shape", "'a'", {}, {a = i32[2][3]})
twins("another shape", "void f(int a[4]) { a[0] = 1; }", "void f(int a[5]) { a[0] = 1; }", "ip-type",
  "'a' is i32[4] here, not i32[5]", {a = i32[5]})
twins("another type", "void f(int a[4]) { a[0] = 1; }", "void f(float a[4]) { a[0] = 1; }", "ip-type",
  "'a' is i32[4] here, not f32[4]", {a = f32[4]})
twins("a parameter that is not there", "void f(int a[4]) { a[0] = 1; }", "void f(int b[4]) { b[0] = 1; }", "ip-type",
  "'f' has no parameter 'b'", {b = i32[4]})
twins("no such function", "void g(int a[4]) { a[0] = 1; }", "void f(int a[4]) { a[0] = 1; }", "ip-function",
  "has no function 'f'")
twins("what does not compile", "void f(int a[4]) {\n  a[0] = missing;\n}", "void f(int a[4]) {\n  a[0] = 1;\n}",
  "foreign-source", "  a[0] = missing;")

-- A function whose parameters are these, after a text; it is tide.extern's `f`.
local function parameters(list, before, options)
  return tostring(extern((before or "") .. "\nvoid f(" .. list .. ") {}", options))
end

t.test("extents are what the compiler takes them for: precedence, macros, conditions, namespaces", function()
  local text = parameters("int a[2 + 3 * 4], int b[(2 + 3) * 4], int c[20 - 4 - 3], int d[-3 + 5], int e[7 / 2], " ..
    "int f[1 << 3], int g[17 % 5], ap_int<1 + 2 * 3> h, ap_fixed<8, -2> i")
  for _, part in ipairs {"a = i32[14]", "b = i32[20]", "c = i32[13]", "d = i32[2]", "e = i32[3]", "f = i32[8]",
    "g = i32[2]", "h = tide.int(7)", "i = tide.fixed(8, 10)"} do t.has(text, part) end
  text = parameters("T a[N], T b[M], T c[TWICE(3)]",
    "#define N 4 * 2\n#define M (N + 1)\n#define TWICE(x) \\\n  ((x) * 2)\n#define T int")
  for _, part in ipairs {"a = i32[8]", "b = i32[9]", "c = i32[6]"} do t.has(text, part) end
  local either = "#define N 64\n#else\n#define N 16\n#endif"
  t.has(parameters("int a[N]", "#ifndef SMALL\n" .. either), "a = i32[64]")
  t.has(parameters("int a[N]", "#ifdef SMALL\n" .. either), "a = i32[16]")
  text = parameters("int a[M], int b[K], int c[COLS], int d[LAST]",
    "const int N = 3; constexpr int M = N * 2 - 1; static const unsigned K = 4; enum { ROWS = 2, COLS, LAST = M };")
  for _, part in ipairs {"a = i32[5]", "b = i32[4]", "c = i32[3]", "d = i32[5]"} do t.has(text, part) end
  t.has(tostring(extern [[
    const int N = 2;
    namespace a { namespace c { const int N = 4; typedef short t; void f(t x[N]) {} } }
    namespace b { const int N = 8; typedef float t; }
  ]]), "x = i16[4]")
end)

t.test("qualifiers and attributes; constants and types from a header", function()
  local text = parameters("int *__restrict a, const int *const b, volatile int *c, int const *d, " ..
    "[[maybe_unused]] size_t n", "__attribute__((noinline))", {a = i32[1], b = i32[2], c = i32[3], d = i32[4]})
  for _, part in ipairs {"a = i32[1]", "b = i32[2]", "c = i32[3]", "d = i32[4]", "n = u64"} do t.has(text, part) end
  local header = t.tmp "types.h"
  shell.write(header, "#pragma once\n#include \"ap_int.h\"\n#define LEN 3\ntypedef ap_int<12> acc_t;\n" ..
    "void f(acc_t a[LEN]);\nvoid g(struct S *a);\n")
  local f = extern "#include \"types.h\"\nvoid f(acc_t a[LEN]) { a[LEN - 1] = a[0] * 2; }"
  t.has(tostring(f), "a = tide.int(12)[3]")
  local a = tide.tensor(tide.int(12)[3], {1025, 0, 0})
  f(a)
  t.eq(a[2], -2046)
  local e = t.fails(function() extern("#include \"types.h\"", {symbol = "g"}) end, {code = "ip-type"})
  t.eq({e.file, e.line, e.col}, {header, 6, 8})
end)

t.test("headers of headers, in other folders: read as the compiler does, and taken along", function()
  local folder = t.tmp "deep"
  shell.output("mkdir -p " .. shell.quote(folder) .. "/types")
  shell.write(folder .. "/types/all.h", "#include \"word.h\"\n#include \"../size.h\"\n")
  shell.write(folder .. "/types/word.h", "typedef short word;\n")
  shell.write(folder .. "/size.h", "enum { SIZE = 3 };\n")
  shell.write(folder .. "/f.cpp", "#include \"types/all.h\"\nvoid f(word a[SIZE]) { a[2] = a[0] + 1; }")
  local f = tide.extern {source = folder .. "/f.cpp", symbol = "f"}
  t.has(tostring(f), "a = i16[3]")
  local m = tide.schedule(tide.kernel {A = tide.i16[3], function(A) f(A) end}):build {target = "hls"}
  local names = table.concat(m.files, " ")
  for _, name in ipairs {"f.cpp", "types/all.h", "types/word.h", " size.h"} do t.has(names, name) end
  local a = tide.i16[3](6)
  m(a)
  t.eq(a[2], 7)
end)

t.test("names that become the same get another _", function()
  local f = extern("void f(const int in[2], int in_) { const_cast<int *>(in)[0] = in_; }")
  t.has(tostring(f), "in__ = i32[2],\n  in_ = i32,")
  t.eq(tostring(load(tostring(f))()), tostring(f))
end)

t.test("errors point into the C++ source", function()
  local path = source("\nvoid f(int a[4],\n       float **q) {}\n")
  local e = t.fails(function() tide.extern {source = path, symbol = "f"} end, {code = "ip-type"})
  t.eq({e.file, e.line, e.col}, {path, 6, 8})
  local wrong = source("void f(int a[4]) {\n  a[0] = missing;\n}")
  e = t.fails(function() tide.extern {source = wrong, symbol = "f"} end, {code = "foreign-source"})
  t.eq({e.file, e.line, e.col}, {wrong, 5, 10})
  t.has(e.message, "missing")
  t.fails(function() tide.extern {source = "no/such.cpp", symbol = "f"} end, {code = "foreign-file"})
  local ok = extern "void f(int a[4]) { a[0] = 1; }"
  t.fails(function() ok(i32[5](0)) end, {code = "argument-type"})
  t.fails(function() ok(f32[4](0)) end, {code = "argument-type"})
  t.fails(function() ok() end, {code = "arguments"})
  t.fails(function() tide.kernel {A = f32[4], function(A) ok(A) end} end, {kind = "usage"})
end)

t.test("an overload is called by the types that the table gives", function()
  local text = "void f(int a[2]) { a[1] = a[0] + 1; }\nvoid f(float a[2]) { a[1] = a[0] / 2; }\n" ..
    "void f(int a[2], int b) { a[1] = b; }"
  local x, y = i32[2](5), f32[2](5)
  extern(text, {a = f32[2]})(y)
  extern(text, {a = i32[2], b = i32})(x, 7)
  t.eq({x:table(), y:table()}, {{5, 7}, {5.0, 2.5}})
  t.fails(function() extern(text, {a = i32[2]}) end, {code = "ip-overload"})
  local f = extern(text, {a = f32[2]})
  t.eq(tostring(load(tostring(f))()), tostring(f), "the printed form says which")
end)

t.test("what clang says of the source: its place, and notes", function()
  local path = source("namespace a { int x; }\nnamespace b { int x; }\nusing namespace a;\nusing namespace b;\n" ..
    "void f(int a[4]) {\n  a[0] = x;\n}")
  local e = t.fails(function() tide.extern {source = path, symbol = "f"} end, {code = "foreign-source"})
  t.eq({e.file, e.line, e.col, e.message}, {path, 9, 10, "reference to 'x' is ambiguous"})
  for _, line in ipairs {"4 | namespace a { int x; }", "5 | namespace b { int x; }"} do t.has(tostring(e), line) end
  e = t.fails(function() extern("#include \"none.h\"\nvoid f(int a[4]) {}") end, {code = "foreign-source"})
  t.eq({e.line, e.message}, {4, "'none.h' file not found"})
end)

t.test("a C source says itself what a function takes, where the table does not", function()
  local function c(text, options)
    options.source = shell.write(t.tmp("plain" .. tostring(text):len() .. ".c"), text)
    options.symbol = "f"
    return tide.extern(options)
  end
  local text = "#include <stdint.h>\n#define N 4\nenum { M = N / 2 };\ntypedef int8_t row[M];\n" ..
    "void f(const row a[N], uint16_t k, double *restrict s) {\n" ..
    "  for (int i = 0; i < N; i++) *s += a[i][1] * k;\n}"
  t.fails(function() c(text, {}) end, {code = "ip-shape"})
  local f = c(text:gsub("%*restrict s", "s[1]"):gsub("%*s", "s[0]"), {})
  for _, part in ipairs {"a = i8[4][2]", "k = u16", "s = f64[1]"} do t.has(tostring(f), part) end
  t.eq(tostring(load(tostring(f))()), tostring(f))
  local s = f64[1](0.5)
  f(i8[4][2](3), 10, s)
  t.eq(s[0], 120.5)
  t.fails(function() c("float f(float x) { return x; }", {}) end, {code = "ip-function", match = "give its signature"})
  t.eq(c("double f(double x) { return -x; }", {f64(f64)})(2), -2.0)
  t.fails(function() c("struct S { int x; };\nvoid f(struct S s) {}", {}) end, {code = "ip-type", match = "'struct S'"})
end)

-- Runs tide.extern of a source in a new process, in which a library stands in the place of libclang.
local function with_library(text, lua)
  local folder = t.tmp "library"
  shell.output("mkdir -p " .. shell.quote(folder))
  shell.write(folder .. "/lib.c", text)
  for _, name in ipairs {"", "-11", "-12", "-13", "-14", "-15", "-16", "-17", "-18", "-19", "-20", "-21", "-22"} do
    shell.output(("cc -shared -fPIC -o %s/libclang%s.so.1 %s/lib.c"):format(shell.quote(folder), name,
      shell.quote(folder)))
  end
  local path = source("void f(int a[4]) { a[0] = " .. count .. "; }")
  local script = shell.write(t.tmp "script.lua", ("local tide, path = require \"tide\", %q\n"):format(path) .. lua)
  return shell.output(("LD_LIBRARY_PATH=%s timeout 60 %s %s 2>&1"):format(shell.quote(folder),
    shell.quote(shell.program), shell.quote(script)))
end
local refused = [[
  local ok, e = pcall(tide.extern, {source = path, symbol = "f"})
  print(ok, e.kind, e.code, e.message, e.help)
]]

t.test("without libclang, and with one that crashes, the extern is refused and the session goes on", function()
  t.has(with_library("int nothing;", refused), "false\tunsupported\tno-clang\tdeclarations are read by libclang, " ..
    "which is not here\tapt-get install libclang1-14 libclang-common-14-dev")
  local text = "#include <stdlib.h>\n__attribute__((constructor)) static void now(void) { %s; }"
  t.has(with_library(text:format "abort()", refused), "clang-failed\tlibclang was ended by signal 6 on this source")
  t.has(with_library(text:format "*(volatile int *)8 = 1", refused), "ended by signal 11")
  t.has(with_library(text:format "exit(9)", refused), "gave up on this source with status 9")
end)

t.test("Ctrl-C ends what libclang works at", function()
  local text = "#include <unistd.h>\n__attribute__((constructor)) static void now(void) { for (;;) pause(); }"
  local out = with_library(text, [[
    os.execute("(sleep 1; kill -INT " .. io.open("/proc/self/stat"):read "a":match "^%d+" .. ") &")
    local began = os.time()
    tide.extern {source = path, symbol = "f"}
    print "went on"
  ]])
  t.has(out, "interrupted")
  t.eq(out:find("went on", 1, true), nil)
end)

t.test("names that Lua has another use for", function()
  local f = extern("void f(const int in[2], int end[2], int source) { end[0] = in[0] + source; }", {in_ = i32[2]})
  local text = tostring(f)
  for _, name in ipairs {"in_", "end_", "source_"} do t.has(text, "  " .. name .. " = i32") end
  t.eq(tostring(load(text)()), text)
  local b = i32[2](0)
  f {in_ = i32[2](4), end_ = b, source_ = 3}
  t.eq(b[0], 7)
end)

t.test("a crash inside is an error of the call", function()
  local f = extern "void f(int a[4]) { if (a[0]) *(volatile int *)0 = 1; a[1] = 2; }"
  t.fails(function() f(i32[4](1)) end, {code = "crash"})
  local a = i32[4](0)
  f(a)
  t.eq(a[1], 2)
end)

t.test("a source that changes is compiled again; what it includes counts", function()
  local header = t.tmp "scale.h"
  shell.write(header, "#define BY 2\n")
  local path = source("#include \"scale.h\"\nvoid f(int a[2]) { a[1] = a[0] * BY; }")
  local function second()
    local a = i32[2](21)
    local f = tide.extern {source = path, symbol = "f"}
    f(a)
    local k = tide.kernel {A = i32[2], function(A) f(A) end}
    local b = i32[2](21)
    local m = tide.schedule(k):build {target = "hls"}
    m(b)
    t.eq(b[1], a[1], "in HLS C++ too")
    return a[1], m
  end
  t.eq((second()), 42)
  shell.write(header, "#define BY 3\n")
  local v, m = second()
  t.eq(v, 63)
  local files = {}
  for _, name in ipairs(m.files) do files[name] = true end
  t.eq({files["scale.h"], files["kernel.cpp"]}, {true, true})
  local folder = t.tmp "below"
  shell.output("mkdir -p " .. shell.quote(folder))
  shell.write(folder .. "/f.cpp", "#include \"../scale.h\"\nvoid f(int a[2]) { a[1] = a[0] * BY; }")
  t.fails(function() tide.extern {source = folder .. "/f.cpp", symbol = "f"} end, {code = "ip-include"})
end)

t.test("HLS C++ of a kernel that calls it: written, compiled, run; types that differ are copied", function()
  local path = source(mac, "mac.cpp")
  local f = tide.extern {source = path, symbol = "mac"}
  local k = tide.kernel {A = i32[3][8], B = tide.int(5)[8], O = tide.int(12)[3][1], function(A, B, O)
    for i = 0, 2 do f(A[i], B, O[i], 2) end
  end}
  local m = tide.schedule(k):build {target = "hls"}
  t.has(m.source, '#include "mac.cpp"')
  t.has(m.source, "dsp::deep::mac(ip_p0, p1, p2[0], p3);")
  local A, B = tide.random(i32[3][8], 1), tide.random(tide.int(5)[8], 2)
  local x, y = tide.int(12)[3][1](0), tide.int(12)[3][1](0)
  k(A, B, x)
  m(A, B, y)
  t.ok(x:equal(y))
  local folder = t.tmp "out"
  m:write(folder)
  for _, cxx in ipairs {"g++", "clang++"} do
    local _, missing = shell.output("command -v " .. cxx)
    local command = "make -B -C %s CXX=%s CXXFLAGS='-O1 -Wall' TIDE_INCLUDE=\"$PWD/backends/hls/include\" 2>&1"
    local out, status = shell.output(command:format(shell.quote(folder), cxx))
    t.ok(missing ~= 0 or status == 0, out)
  end
  local columns = tide.kernel {A = i32[8][3], B = tide.int(5)[8], O = tide.int(12)[1], function(A, B, O)
    f(A:transpose()[0], B, O, 2)
  end}
  t.fails(function() tide.schedule(columns):build {target = "hls"} end, {code = "ip-view"})
end)

t.test("a function called as what Tide writes is", function()
  for _, symbol in ipairs {"run", "kernel", "tide_ip", "k", "p0", "i0"} do
    local f = extern("void " .. symbol .. "(int a[1], int n) { a[0] += n; }", {symbol = symbol})
    local k = tide.kernel {A = i32[3][1], name = "k", function(A)
      for i = 0, 2 do f(A[i], i) end
    end}
    local x, y = i32[3][1](5), i32[3][1](5)
    k(x)
    tide.schedule(k):build {target = "hls"}(y)
    t.eq({x:table(), y:table()}, {{{5}, {6}, {7}}, {{5}, {6}, {7}}}, symbol)
  end
end)

t.test("two functions of one source", function()
  local path = source("void f(float a[4], float s) { for (int i = 0; i < 4; i++) a[i] *= s; }\n" ..
    "void g(float a[4], int n) { a[n] = 0; }")
  local f, g = tide.extern {source = path, symbol = "f"}, tide.extern {source = path, symbol = "g"}
  local k = tide.kernel {A = f32[4], function(A)
    f(A, 0.5)
    g(A, 3)
  end}
  local m = tide.schedule(k):build {target = "hls"}
  t.eq(select(2, m.source:gsub("#include \"ip%d+.cpp\"", "")), 1)
  local x, y = f32[4](3), f32[4](3)
  k(x)
  m(y)
  t.eq({x:table(), y:table()}, {{1.5, 1.5, 1.5, 0.0}, {1.5, 1.5, 1.5, 0.0}})
  t.eq(tostring(u16), "u16")
end)

t.test("two sources of one name", function()
  local function of(folder, text)
    shell.output("mkdir -p " .. shell.quote(t.tmp(folder)))
    shell.write(t.tmp(folder) .. "/same.cpp", text)
    return t.tmp(folder) .. "/same.cpp"
  end
  local function build(second)
    local f = tide.extern {source = of("one", "void f(int a[2]) { a[0] = 1; }"), symbol = "f"}
    local g = tide.extern {source = of("two", second), symbol = second:match "void (%w+)"}
    local k = tide.kernel {A = i32[2], function(A)
      f(A)
      g(A)
    end}
    local m, a = tide.schedule(k):build {target = "hls"}, i32[2](0)
    m(a)
    return a[0]
  end
  t.fails(function() build "void g(int a[2]) { a[1] = 1; }" end, {code = "ip-files"})
  t.eq(build "void f(int a[2]) { a[0] = 1; }", 1, "the same text is the same file")
end)

t.done()
