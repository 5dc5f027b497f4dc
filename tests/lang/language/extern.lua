-- tide.extern: C functions of a source file and of a shared object, called from Lua and from kernels.
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local f64, i32 = tide.f64, tide.i32
local N = 8

local source = t.tmp "axpy.c"
shell.write(source, [[
#include <stdint.h>
void axpy(int32_t n, double a, const double *x, double *y) {
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}
]])

local axpy = tide.extern { source = source, symbol = "axpy", n = i32, a = f64, x = f64[N], y = f64[N] }

t.test("called from Lua, by position and by name", function()
  local x, y = f64[N](1), f64[N](2)
  axpy(8, 0.5, x, y)
  t.eq(y:table(), { 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5 })
  axpy { n = 4, a = 1.0, x = x, y = y }
  t.eq(y:table(), { 3.5, 3.5, 3.5, 3.5, 2.5, 2.5, 2.5, 2.5 })
end)

t.test("called from a kernel", function()
  local k = tide.kernel { x = f64[N], y = f64[N], function(x, y) for _ = 1, 3 do axpy(8, 1.0, x, y) end end }
  local x, y = f64[N](1), f64[N](0)
  k(x, y)
  t.ok(y:equal(f64[N](3)))
  t.eq(tostring(load(tostring(k))()), tostring(k))
end)

t.test("of a shared object", function()
  local object = t.tmp "libaxpy.so"
  local out, status = shell.output(("cc -shared -fPIC -o %s %s 2>&1"):format(shell.quote(object), shell.quote(source)))
  t.eq(status, 0, out)
  local f = tide.extern { library = object, symbol = "axpy", n = i32, a = f64, x = f64[N], y = f64[N] }
  local x, y = f64[N](2), f64[N](0)
  f(8, 0.25, x, y)
  t.ok(y:equal(f64[N](0.5)))
end)

t.test("a model gives it meaning: the evaluator runs it, and verify looks through it", function()
  local model = tide.kernel {
    n = i32, a = f64, x = f64[N], y = f64[N],
    function(n, a, x, y) for i = 0, n - 1 do y[i] = y[i] + a * x[i] end end,
  }
  local f = tide.extern { source = source, symbol = "axpy", n = i32, a = f64, x = f64[N], y = f64[N], model = model }
  local k = tide.kernel { x = f64[N], y = f64[N], function(x, y) f(8, 2.0, x, y) end }
  local x, y, z = tide.random(f64[N], 1), f64[N](0), f64[N](0)
  k(x, y)
  k:reference(x, z)
  t.ok(y:equal(z))
  local plain = tide.kernel { x = f64[N], y = f64[N], function(x, y)
    for i = 0, N - 1 do y[i] = y[i] + 2.0 * x[i] end
  end }
  t.eq((tide.verify(k, plain)), "strict")
end)

t.test("symbols that the program around them has another use for", function()
  for _, symbol in ipairs { "run", "room", "state", "me", "arg", "k", "td_fault", "i", "A" } do
    local file = t.tmp("called_" .. symbol .. ".c")
    shell.write(file, ("void %s(int *a, int n) { a[0] += n; }\n"):format(symbol))
    local f = tide.extern { source = file, symbol = symbol, a = i32[1], n = i32 }
    local k = tide.kernel { A = i32[3][1], name = "k", function(A)
      for i = 0, 2 do f(A[i], i) end
    end }
    for _, tier in ipairs { "tcc", "cc" } do
      local x = i32[3][1](5)
      tide.schedule(k):build { target = "cpu", tier = tier }(x)
      t.eq(x:table(), { { 5 }, { 6 }, { 7 } }, symbol .. " in " .. tier)
    end
  end
end)

t.test("what is wrong is told", function()
  t.fails(function() tide.extern { symbol = "f", x = f64[N] } end, { kind = "usage", code = "option" })
  t.fails(function() tide.extern { source = source, sybmol = "axpy", x = f64[N] } end,
    { kind = "usage", code = "option" })
  t.fails(function() axpy(8, 0.5, f64[N + 1](0), f64[N](0)) end, { kind = "usage", code = "argument-type" })
  local wrong = tide.kernel { x = f64[N], function(x) x[0] = 1.0 end }
  t.fails(function()
    tide.extern { source = source, symbol = "axpy", n = i32, a = f64, x = f64[N], y = f64[N], model = wrong }
  end, { kind = "usage", code = "model" })
  local entries = { source = source, symbol = "axpy", n = i32, a = f64, x = f64[N], y = f64[N] }
  t.fails(function() tide.extern(entries) end, { kind = "usage", code = "parameter-order" })
end)

t.done()
