-- cpu_flags.lua - how well the system's compiler is asked to compile: quickly where every loop moves tokens and no
-- clock counts them, as well as it can where some loop computes; the results are the same bits.
local t = require "tap"
local shell = require "shell"

local log = t.tmp "words"
local compiler = shell.write(t.tmp "compiler", ([[
#!/bin/sh
case "$*" in *--version*) ;; *) printf '%%s\n' "$@" | grep -e '^-O' -e '^-fno-tree' >> %s ;; esac
exec cc "$@"
]]):format(shell.quote(log)))
os.execute("chmod +x " .. shell.quote(compiler))

local QUICK = "-O2\n-fno-tree-vectorize\n-fno-tree-vrp\n"

-- Two stages of N tokens of type T between a source and a sink, with `work` on each token x of the second.
local PIPE = [[
local N, task = 50, tide.task
local function pipe(T, value, work, result)
  return tide.design(load(([=[
    local T, N, task, R = ...
    return function(d)
      local z = d:stream(T, {2, depth = 8})
      d.source = task {function() for i in grid(N) do z[0]:put(%s) end end}
      d.stage = task {function() for _ in grid(N) do local x = z[0]:get() %s end end}
      d.sink = task {out = R[N], function(out) for i in grid(N) do local x = z[1]:get() out[i] = %s end end}
    end
  ]=]):format(value, work, result or "x"))(T, N, task, result and i32 or T)), (result and i32 or T)[N]
end
]]

-- What a program, which makes a design or kernel and the type of its argument, is compiled with; it must do the same as
-- in memory.
local function level(program, options)
  os.remove(log)
  local text = PIPE .. ([[
    local unit, T = (function() %s end)()
    local a, b = T(0), T(0)
    unit:build {target = "cpu", tier = "tcc"}(a)
    unit:build {target = "cpu", tier = "cc" %s}(b)
    print(a:equal(b), tostring(a) ~= tostring(T(0)))
  ]]):format(program, options or "")
  local said = shell.output(("PATH=%s:$PATH TIDE_CC=compiler TIDE_CACHE=%s %s -e %s 2>&1"):format(
    shell.quote(compiler:match "^(.*)/compiler$"), shell.quote(t.tmp("cache" .. #program .. (options and "t" or ""))),
    shell.quote(shell.program), shell.quote(text)))
  t.eq(said, "true\ttrue\n", program)
  return shell.read(log)
end

local MOVES = 'return pipe(i32, "i32(i)", "z[1]:put(i32(x * 3 + 1))")'

t.test("every loop moves tokens: quickly", function()
  t.eq(level(MOVES), QUICK)
  t.eq(level 'return pipe(f32, "f32(i)", "if x > 7 then z[1]:put(x * x) else z[1]:put(x + 0.5) end")', QUICK)
end)

t.test("the same with a clock, and where a loop computes: as well as it can", function()
  t.eq(level(MOVES, ", timed = true"), "-O3\n")
  t.eq(level 'return pipe(i32, "i32(i)", "local s = i32(0) for k in grid(9) do s = i32(s + x * k) end z[1]:put(s)")',
    "-O3\n")
  t.eq(level 'return pipe(i32, "i32(i)", "local n = i32(x) while n > 3 do n = i32(n - 3) end z[1]:put(n)")', "-O3\n")
end)

t.test("tokens that are copied by loops: tensors, wide words", function()
  t.eq(level 'return pipe(i32[4], "i32[4](i)", "z[1]:put(x)", "x[2]")', "-O3\n")
  t.eq(level 'return pipe(tide.uint(96), "tide.uint(96)(i)", "z[1]:put(x)", "i32(tide.bits(x, 0, 30))")', "-O3\n")
end)

t.test("products that come back to what they are products of: no vectors of loops; others as ever", function()
  local head = 'local N = 40 return tide.kernel {A = i32[N], function(A) for i = 1, N - 1 do '
  t.eq(level(head .. "A[i] = i32(A[0] * A[0] + 1) A[0] = i32(A[i] + 2) end end}, i32[N]"),
    "-O3\n-fno-tree-loop-vectorize\n")
  t.eq(level(head .. "A[0] = i32((A[0] + 3) * 5) end end}, i32[N]"), "-O3\n")
  t.eq(level(head .. "local x = i32(i * i) A[0] = i32(A[0] + x * x + 1) end end}, i32[N]"), "-O3\n")
end)

t.test("copies of a block that instances hold, and kernels", function()
  t.eq(level [[
    return tide.design(function(d)
      local z = d:stream(i32, {2})
      d.give = task {map = {2}, function(p) for i in grid(4) do z[p]:put(i + 1) end end}
      d.take = task {map = {2}, B = i32[4]:layout "R", function(B, p) for i in grid(4) do B[i] = z[p]:get() end end}
    end), i32[4]
  ]], "-O3\n")
  t.eq(level 'return tide.kernel {A = i32[4], function(A) A[0] = 3 end}, i32[4]', "-O3\n")
end)

t.done()
