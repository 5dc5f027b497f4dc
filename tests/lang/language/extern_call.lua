-- extern_call.lua - tide.extern by a signature: without a compiler, in the evaluator, in kernels and from Lua; results,
-- functions that C calls back, processes of their own, and what is refused.
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local f32, f64, i32, u64 = tide.f32, tide.f64, tide.i32, tide.u64

local function native(name, text)
  local source, object = t.tmp(name .. ".c"), t.tmp(name .. ".so")
  shell.write(source, text)
  local out, status = shell.output(("cc -O1 -shared -fPIC -o %s %s 2>&1"):format(shell.quote(object),
    shell.quote(source)))
  t.eq(status, 0, out)
  return object
end

local library = native("given", [[
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int8_t narrow(int8_t a, uint16_t b, float c, _Bool d) { return (int8_t)(a + b + (d ? c : -c)); }
uint64_t all_ones(void) { return ~(uint64_t)0; }
void scale(double *x, long n, double by) { for (long i = 0; i < n; i++) x[i] *= by; }
double sum(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
static int calls;
int count(void) { return ++calls; }
double integrate(double (*f)(double), double lo, double hi, int n) {
  double s = 0, h = (hi - lo) / n;
  for (int i = 0; i < n; i++) s += f(lo + (i + 0.5) * h) * h;
  return s;
}
static int after;
int was_after(void) { return after; }
int apply(int (*f)(int), int (*g)(int), int x) { int y = g(f(x)); after++; return y; }
static int deep(volatile int *x, int n) {
  volatile char frame[4096];
  frame[0] = (char)n;
  return n < 0 ? x[0] : deep(x, n + 1) + frame[0];
}
static void *crash(void *at) { *(volatile int *)at = 1; return 0; }
int end(int *x, int how) {
  pthread_t thread;
  x[0] = 1;
  switch (how) {
  case 1: exit(3);
  case 2: _exit(250);
  case 3: abort();
  case 4: pthread_create(&thread, 0, crash, (void *)8); pthread_join(thread, 0); break;
  case 5: return deep(x, 0);
  case 6: execl("/bin/true", "true", (char *)0); break;
  case 7: execl("/bin/sleep", "sleep", "1000", (char *)0); break;
  case 8: kill(getpid(), SIGKILL); break;
  case 9: for (;;) pause();
  }
  return how + 40;
}
]])
local function given(symbol, signature, options)
  local all = {library = library, symbol = symbol, signature}
  for k, v in pairs(options or {}) do all[k] = v end
  return tide.extern(all)
end

local hypot = tide.extern {library = "libm.so.6", symbol = "hypot", f64(f64, f64)}
local N = 5

t.test("a value comes back: from Lua, in a kernel on both tiers, in the evaluator", function()
  t.eq(hypot(3, 4), 5.0)
  local k = tide.kernel {x = f64[N], y = f64[N], function(x, y)
    for i = 0, N - 1 do y[i] = hypot(x[i], 4.0) + hypot(x[i] + 1.0, 0.0) end
  end}
  local x, want = tide.tensor(f64[N], {3, 0, -3, 1.5, 7}), {}
  for i = 0, N - 1 do want[i + 1] = hypot(x[i], 4) + hypot(x[i] + 1, 0) end
  local y = f64[N](0)
  k(x, y)
  t.eq(y:table(), want)
  y = f64[N](0)
  k:reference(x, y)
  t.eq(y:table(), want)
  for _, tier in ipairs {"tcc", "cc"} do
    y = f64[N](0)
    tide.schedule(k):build {target = "cpu", tier = tier}(x, y)
    t.eq(y:table(), want, tier)
  end
  t.eq(tostring(load(tostring(k))()), tostring(k))
  y = f64[N](0)
  load(tostring(k))()(x, y)
  t.eq(y:table(), want)
end)

t.test("numbers of each width, arrays, no arguments, no result", function()
  local narrow = given("narrow", tide.i8(tide.i8, tide.u16, f32, tide.bool))
  t.eq(narrow(-5, 3, 10.0, true), 8)
  t.eq(narrow(100, 100, 1.0, false), -57)
  t.eq(given("all_ones", u64())(), -1)
  local scale, sum = given("scale", tide.void(f64[3], tide.i64, f64)), given("sum", f64(f64[3], i32))
  local x = tide.tensor(f64[3], {1, 2, 3})
  scale(x, 2, 10)
  t.eq(x:table(), {10, 20, 3})
  t.eq(sum(x, 3), 33.0)
  local m = tide.tensor(f64[3][2], {{1, 2}, {3, 4}, {5, 6}})
  local column = m:slice({}, 1)
  scale(column, 3, 2)
  t.eq(m:table(), {{1, 4}, {3, 8}, {5, 12}})
  t.eq(tostring(tide.void(f64[3], i32(f32))), "tide.void(f64[3], i32(f32))")
end)

t.test("what a library keeps lasts from call to call, here and there", function()
  local count = given("count", i32())
  local from = count()
  local k = tide.kernel {x = i32[2], function(x) x[0] = count() x[1] = count() end}
  local x = i32[2](0)
  k(x)
  t.eq(x:table(), {from + 1, from + 2})
  k:reference(x)
  t.eq(x:table(), {from + 3, from + 4})
  local apart = given("count", i32(), {process = true})
  local first = apart()
  t.eq({apart(), count(), apart()}, {first + 1, from + 5, first + 2}, "each keeps its own")
end)

for _, process in ipairs {false, true} do
  local where = process and " in a process of its own" or ""
  local integrate = given("integrate", f64(f64(f64), f64, f64, i32), {process = process})
  local apply = given("apply", i32(i32(i32), i32(i32), i32), {process = process})

  t.test("C calls Lua functions" .. where, function()
    local n = 0
    t.ok(math.abs(integrate(function(x) n = n + 1 return x * x end, 0, 3, 300) - 9) < 1e-3)
    t.eq(n, 300)
    t.eq(apply(function(x) return x + 1 end, function(x) return x * 10 end, 4), 50)
    local function nested()
      return apply(function(x) return apply(function(y) return -y end, function(y) return y - 1 end, x) end,
        function(x) return 2 * x end, 4)
    end
    if process then t.fails(nested, {kind = "usage", code = "running"}) else t.eq(nested(), -10, "a call in a call") end
    local function twice(x) return 2 * x end
    local function inc(x) return x + 1 end
    local k = tide.kernel {x = i32[2], function(x) x[0] = apply(twice, inc, x[1]) x[1] = apply(inc, twice, x[0]) end}
    local x = tide.tensor(i32[2], {0, 3})
    k(x)
    t.eq(x:table(), {7, 16})
    x = tide.tensor(i32[2], {0, 3})
    k:reference(x)
    t.eq(x:table(), {7, 16})
  end)

  t.test("an error of one is held until C returns, and comes back as it was" .. where, function()
    local after = given("was_after", i32(), {process = process})
    local before, ran = after(), 0
    local ok, e = pcall(apply, function() error {mine = 7} end, function() ran = ran + 1 return 1 end, 1)
    t.eq({ok, e.mine, ran, after()}, {false, 7, 0, before + 1})
    ok, e = pcall(apply, function() error "no good" end, function(x) return x end, 1)
    t.ok(not ok)
    t.has(e, "extern_call.lua:")
    t.has(e, "no good")
    t.fails(function() apply(function() return "seven" end, function(x) return x end, 1) end,
      {code = "callback", match = "must give i32"})
    local function bad(x) return x .. {} end
    local function good(x) return x end
    local k = tide.kernel {x = i32[1], function(x) x[0] = apply(good, bad, 1) end}
    ok, e = pcall(k, i32[1](0))
    t.ok(not ok)
    t.has(tostring(e), "concatenate a table value")
    t.eq(apply(good, good, 5), 5, "the next call goes on")
    t.fails(function() apply(function() tide.kernel(3) end, good, 1) end, {kind = "usage"})
  end)
end

t.test("arrays of C are given to Lua as tensors", function()
  local qsort = tide.extern {library = "libc.so.6", symbol = "qsort", tide.void(i32[8], u64, u64, i32(i32[1], i32[1]))}
  for _, process in ipairs {false, true} do
    local sort = process and tide.extern {library = "libc.so.6", symbol = "qsort", process = true,
      tide.void(i32[8], u64, u64, i32(i32[1], i32[1]))} or qsort
    local v = tide.tensor(i32[8], {5, 3, 8, 1, 9, 2, 7, 4})
    sort(v, 8, 4, function(a, b) return a[0] - b[0] end)
    t.eq(v:table(), {1, 2, 3, 4, 5, 7, 8, 9})
  end
end)

t.test("a kernel that C is called from cannot be called back", function()
  local k
  local apply = given("apply", i32(i32(i32), i32(i32), i32))
  local function again(x) k(i32[1](0)) return x end
  k = tide.kernel {x = i32[1], name = "k", function(x) x[0] = apply(again, again, 1) end}
  t.fails(function() k(i32[1](0)) end, {code = "running"})
end)

t.test("a process of its own ends with its call: exit, abort, a thread, the stack, exec", function()
  local f = given("end", i32(i32[4], i32), {process = true})
  local plain = tide.kernel {x = i32[4], y = i32[1], how = i32, function(x, y, how) y[0] = f(x, how) end}
  local how = {{"foreign-exit", "status 3"}, {"foreign-exit", "status 250"}, {"crash", "SIGABRT"}, {"crash", "SIGSEGV"},
    {"crash", "SIGSEGV"}, {"foreign-exit", "status 0"}, {"foreign-exit", "another program"}, {"crash", "signal"}}
  local x = i32[4](9)
  for i, told in ipairs(how) do
    local e = t.fails(function() f(x, i) end, {kind = "illegal", code = told[1], match = told[2]})
    t.has(tostring(e), "f(x, i)")
    t.fails(function() plain(i32[4](0), i32[1](0), i) end, {code = told[1], match = told[2]})
    t.fails(function() plain:reference(i32[4](0), i32[1](0), i) end, {code = told[1], match = told[2]})
    t.eq(x[0], 9, "arrays are as they were")
    t.eq(f(i32[4](0), 0), 40, "the next call goes on")
  end
  local y = i32[1](0)
  plain(x, y, 0)
  t.eq({x[0], y[0]}, {1, 40})
end)

t.test("a fault here is told at its line, and that memory is no longer trusted", function()
  local f = given("end", i32(i32[4], i32))
  local e = t.fails(function() f(i32[4](0), 3) end, {kind = "illegal", code = "crash", match = "SIGABRT"})
  t.has(tostring(e), "can no longer be trusted")
  local k = tide.kernel {x = i32[4], y = i32[1], function(x, y) y[0] = f(x, 3) end}
  e = t.fails(function() k(i32[4](0), i32[1](0)) end, {code = "crash"})
  t.has(tostring(e), "y[0] = f(x, 3)")
  t.fails(function() k:reference(i32[4](0), i32[1](0)) end, {code = "crash"})
  t.eq(f(i32[4](0), 0), 40)
end)

t.test("signatures that are wrong are refused by name", function()
  local function refused(match, make, kind)
    t.fails(make, {kind = kind or "usage", code = "signature", match = match})
  end
  refused("parameter 2 is f16", function() f64(f64, tide.f16) end)
  refused("the result is bf16", function() tide.bf16(f64) end)
  refused("parameter 1 is tide.int%(12%)", function() f64(tide.int(12)) end)
  t.eq(tostring(f64(tide.i16)), "f64(i16)")
  refused("not f64%[3%]", function() f64[3](f64) end)
  refused("parameter 1 is a struct", function() f64({f64, f64}, f64) end, "unsupported")
  refused("parameter 2 is a pointer to pointers", function() f64(f64, "double **") end, "unsupported")
  refused("any number of arguments", function() i32(tide.u8[8], "...") end, "unsupported")
  t.eq(tostring(i32(tide.u8[8])), "i32(u8[8])")
  refused("'x' is a type beside a signature", function() given("sum", f64(f64[3], i32), {x = f64}) end)
  refused("'f' is a signature", function() tide.extern {library = library, f = f64(f64)} end)
  refused("takes a function itself", function() f64(f64(f64(f64))) end, "unsupported")
  t.fails(function() given("no_such", f64(f64))(1) end, {kind = "usage", code = "no-symbol", match = "'no_such'"})
  t.fails(function() given("no_such", f64(f64), {process = true})(1) end, {kind = "usage", code = "no-symbol"})
  t.fails(function() tide.extern {library = "libno.so.9", symbol = "f", f64()}() end,
    {kind = "usage", code = "no-symbol"})
  t.fails(function() hypot(1) end, {kind = "usage", code = "arguments"})
  t.fails(function() hypot(1, "x") end, {kind = "usage", code = "argument-type"})
  t.fails(function() tide.kernel {y = f64[1], function(y) y[0] = hypot(1.0) end} end, {code = "arguments"})
  t.eq(hypot(0, 1), 1.0)
end)

t.test("a model gives it meaning, its result first", function()
  local model = tide.kernel {result = f64[1], x = f64, y = f64, function(result, x, y)
    result[0] = math.sqrt(x * x + y * y)
  end}
  local f = tide.extern {library = "libm.so.6", symbol = "hypot", model = model, f64(f64, f64)}
  local k = tide.kernel {y = f64[N], function(y) for i = 0, N - 1 do y[i] = f(y[i], 2.0) end end}
  local plain = tide.kernel {y = f64[N], function(y) for i = 0, N - 1 do y[i] = math.sqrt(y[i] * y[i] + 4.0) end end}
  t.eq((tide.verify(k, plain)), "strict")
end)

t.done()
