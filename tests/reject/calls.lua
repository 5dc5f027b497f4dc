-- Calls of functions, kernels and streams; bounds, aliasing, kernels as tide.kernel is given them.
local t = require "tap"
local r = require "refused"

r.bodies {
  -- Lua functions
  {"arguments", "B[0] = §add(n)", "B[0] = add(n, 1)"},
  {"not-a-value", "B[0] = add(n, §set4(T, 1))", "B[0] = add(n, 1)"},

  -- kernels
  {"arguments", "§set4(B)", "set4(B:slice({0, 4}), 1)"},
  {"argument-type", "set4(§B, 1)", "set4(B:slice({0, 4}), 1)"},
  {"argument-type", "set4(F:§slice({0, 4}), 1)", "set4(B:slice({0, 4}), 1)"},
  {"argument-type", "set4(§n, 1)", "set4(M[0], 1)"},
  {"argument-type", "send(§B)", "set4(M[0], 1)"},
  {"needs-cast", "set4(M[0], §x)", "set4(M[0], i32(x))"},
  {"assign-constant", "set4(§T, 1)", "set4(S, 1)", help = "state"},
  {"overlap", "add4(M[0], §M[0])", "add4(M[0], M[1])", kind = "illegal", help = "copy"},
  {"overlap", "add4(B:slice({0, 4}), B:§slice({3, 7}))",
    "add4(B:slice({0, 4}), B:slice({4, 8}))", kind = "illegal"},
  {"overlap", "add4(B:slice({0, 8, 2}), B:slice({2, 8, 1}):§slice({0, 4}))",
    "add4(B:slice({0, 8, 2}), B:slice({1, 8, 2}))", kind = "illegal"},
  {"overlap", "for i = 0, 3 do add4(M[i], M[3 - i]) add4(M[i], §M[0]) end",
    "for i = 0, 1 do add4(M[i], M[3 - i]) end", kind = "illegal"},
  {"overlap", "for i = 0, 3 do for k = 0, i do add4(M[i], §M[k]) end end",
    "for i = 0, 3 do for k = 0, i - 1 do add4(M[i], M[k]) end end", kind = "illegal"},
  {"overlap", "read4(M[0], M[1], M[1]:§slice({2, 3}))", "read4(M[0], M[0], M[1]:slice({2, 3}))",
    kind =
    "illegal"},

  -- bounds
  {"index-range", "for i = 0, N do B[§i] = 1 end", "for i = 0, N - 1 do B[i] = 1 end", kind =
    "illegal"},
  {"index-range", "for i = 0, 7 do B[i] = A[i §+ 1] end", "for i = 0, 6 do B[i] = A[i + 1] end",
    kind =
    "illegal"},
  {"index-range", "B[§8] = 1", "B[7] = 1", kind = "illegal"},
  {"index-range", "B[§-1] = 1", "B[0] = 1", kind = "illegal"},
  {"index-range", "M[1][§4] = 1", "M[1][3] = 1", kind = "illegal"},
  {"index-range", "for i = 0, 3 do for k = 0, i + 1 do M[i][§k] = 1 end end",
    "for i = 0, 3 do for k = 0, i do M[i][k] = 1 end end", kind = "illegal"},
  {"index-range", "for i = 7, -1, -1 do B[§i] = 1 end", "for i = 7, 0, -1 do B[i] = 1 end", kind =
    "illegal"},
  {"index-range", "for i = 0, 7 do if i > 3 then B[i §+ 4] = 1 end end",
    "for i = 0, 7 do if i < 4 then B[i + 4] = 1 end end", kind = "illegal"},
  {"index-range", "A:slice({§0, 9}):set(1)", "A:slice({0, 8}):set(1)", kind = "illegal"},
  {"index-range", "A:slice({1, 9, 4}):set(1)\nA:slice({§0, 12, 4}):set(1)",
    "A:slice({1, 9, 4}):set(1)", kind = "illegal"},
  {"index-range", "local r = M[§4]\nr[0] = 1", "local r = M[3]\nr[0] = 1", kind = "illegal"},
  {"index-range", "B[0] = T[§4]", "B[0] = T[3]", kind = "illegal"},
  {"index-range", "local v = i32[3](0)\nv[§3] = 1", "local v = i32[4](0)\nv[3] = 1", kind =
    "illegal"},
  {"index-range", "set4(M[§4], 1)", "set4(M[3], 1)", kind = "illegal"},
  {"index-wide", "for i = 0, 7 do B[i] = n + i §* 1000000000 end",
    "for i = 0, 7 do B[i] = n + i * 100000000 end",
    kind = "illegal", help = "i64"},

  -- tide.assume
  {"assume", "tide.assume(A§[0] > 1)", "tide.assume(n > 1)"},
  {"assume", "tide.assume(§n)", "tide.assume(n > 0)"},
  {"assume", "tide.assume(N §> 9)", "tide.assume(N > 7)", kind = "illegal"},
}

r.chunks {
  -- what tide.kernel is given
  {"no-type", "tide.kernel {A = i32[4], function(A, §C) end}",
    "tide.kernel {A = i32[4], C = i32, function(A, C) end}", help = "C = i32[8]"},
  {"no-type", "tide.kernel {Acc = i32[4], B = i32, function(§Axc, B) end}",
    "tide.kernel {Axc = i32[4], B = i32, function(Axc, B) end}", help = "'Acc'"},
  {"name", "tide.kernel {A = i32[4], function(A, §A) end}", "tide.kernel {A = i32[4], B = i32[4], function(A, B) end}"},
  {"no-parameter", "tide.kernel {A = i32[4], §C = i32, function(A) end}",
    "tide.kernel {A = i32[4], function(A) end}"},
  {"name", "tide.kernel {tide = i32, function(§tide) end}",
    "tide.kernel {tid = i32, function(tid) end}"},
  {"name", "local n = tide.size 'n'\ntide.kernel {A = i32[n], n = i32, function(A, §n) end}",
    "local n = tide.size 'n'\ntide.kernel {A = i32[n], m = i32, function(A, m) end}"},
  {"name", "tide.§kernel {name = 'my kernel', function() end}",
    "tide.kernel {name = 'my_kernel', function() end}"},
  {"name", "tide.§kernel {name = 'end', function() end}",
    "tide.kernel {name = 'ends', function() end}"},
  {"name", "add4:§as 'a b'", "add4:as 'a_b'"},
  {"option", "tide.§kernel {speed = 3, function() end}",
    "tide.kernel {name = 'speed', function() end}"},
  {"option", "tide.§kernel {nme = 'a', function() end}", "tide.kernel {name = 'a', function() end}", help = "'name'"},
  {"option", "tide.§kernel {name = 3, function() end}",
    "tide.kernel {name = 'three', function() end}"},
  {"argument", "tide.§kernel {A = i32}", "tide.kernel {A = i32, function(A) end}"},
  {"argument", "tide.§kernel(3)", "tide.kernel {function() end}"},
  {"argument", "tide.§kernel {add, add, A = i32}",
    "tide.kernel {x = i32, y = i32, add4 and function(x, y) end}"},
  {"no-source", "tide.§kernel {print}", "tide.kernel {function() end}"},
  {"no-source", "tide.§kernel {load(string.dump(function() end, true))}",
    "tide.kernel {load(string.dump(function() end))}"},
  {"ambiguous-function",
    "§local f, g = function(A) A[0] = 1 end, " .. (" "):rep(70000) .. "function(A) A[0] = 2 end\n"
      .. "tide.kernel {A = i32[1], f}",
    "local f, g = function(A) A[0] = 1 end, " .. (" "):rep(60000) .. "function(A) A[0] = 2 end\n"
      .. "tide.kernel {A = i32[1], f}"},
  {"no-source",
    "local f = load(string.dump(add, true))\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = §f(A[0], 1) end}",
    "local f = load(string.dump(add))\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0], 1) end}"},
  {"not-in-kernel",
    "local function f(...) return 1 end\ntide.kernel {A = i32[1], function(A) A[0] = §f(1) end}",
    "local function f(x) return 1 end\ntide.kernel {A = i32[1], function(A) A[0] = f(1) end}"},
  {"return",
    "local function f(x)\n§if x > 0 then return 1 end\nlocal y = 2\nend\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}",
    "local function f(x)\nif x > 0 then return 1 else return 2 end\nend\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}"},
  {"return",
    "local function f(x)\nfor i = 0, 3 do §return i end\nend\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}",
    "local function f(x)\nfor i = 0, 3 do x = i end\nreturn x\nend\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}"},
  {"return",
    "local function f(x)\n§if x > 0 then return 1, 2 else return 3 end\nend\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}",
    "local function f(x)\nif x > 0 then return 1, 2 else return 3, 4 end\nend\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}"},
  {"join",
    "local function f(x)\n§if x > 0 then return 1 else return x > 1 end\nend\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}",
    "local function f(x)\nif x > 0 then return 1 else return x end\nend\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}"},
  {"return",
    "local function f(x)\ndo return x end\n§local y = 1\nend\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}",
    "local function f(x)\ndo return x end\nend\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}"},

  {"recursion",
    "local function f(x) return §f(x) end\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}",
    "local function f(x) return add(x, 1) end\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}"},
  {"recursion",
    "local f\nlocal function g(x) return §f(x) end\nf = function(x) return g(x) end\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}",
    "local f\nlocal function g(x) return add(x, 1) end\nf = function(x) return g(x) end\n"
      .. "tide.kernel {A = i32[1], function(A) A[0] = f(A[0]) end}"},

  -- marks
  {"attribute",
    "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do §--@ pipelin(1)\nend end}",
    "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do --@ pipeline(1)\nend end}", help =
    "pipeline"},
  {"attribute", "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do §--@ pipeline\nend end}",
    "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do --@ pipeline(2)\nend end}"},
  {"attribute",
    "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do §--@ pipeline(one)\nend end}",
    "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do --@ pipeline(3)\nend end}"},
  {"attribute",
    "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do §--@ storage(bram)\nend end}",
    "tide.kernel {A = i32[4], function(A)\nlocal b = i32[2](0) --@ storage(bram)\nend}"},
  {"attribute", "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do §--@ pipeline(0)\nend end}",
    "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do --@ pipeline(1)\nend end}", help = "interval"},
  {"attribute", "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do §--@ parallel(2)\nend end}",
    "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do --@ parallel\nend end}"},
  {"attribute", "tide.kernel {\nA = i32[4], §--@ partition(0, cyclics, 2)\nfunction(A) end}",
    "tide.kernel {\nA = i32[4], --@ partition(0, cyclic, 2)\nfunction(A) end}"},
  {"attribute", "tide.kernel {\n§A = i32[4], --@ partition(1, cyclic, 2)\nfunction(A) end}",
    "tide.kernel {\nA = i32[4][4], --@ partition(1, cyclic, 2)\nfunction(A) end}"},
  {"attribute", "tide.kernel {\n§A = i32[4], --@ partition(0, block, 5)\nfunction(A) end}",
    "tide.kernel {\nA = i32[5], --@ partition(0, block, 5)\nfunction(A) end}"},
  {"attribute", "tide.kernel {\n§A = i32[4], --@ partition(0, block, 0)\nfunction(A) end}",
    "tide.kernel {\nA = i32[4], --@ partition(0, complete, 0)\nfunction(A) end}"},
  {"attribute", "tide.kernel {\n§A = i32[4], --@ partition(0, complete, 2)\nfunction(A) end}",
    "tide.kernel {\nA = i32[4], --@ partition(0, block, 2)\nfunction(A) end}"},
  {"attribute", "tide.kernel {\n§A = i32[4], --@ partition(0, block, 2) partition(0, cyclic, 2)\nfunction(A) end}",
    "tide.kernel {\nA = i32[4][4], --@ partition(0, block, 2) partition(1, cyclic, 2)\nfunction(A) end}"},
  {"attribute", "tide.kernel {A = i32[4], function(A)\n§local B = i32[4](0) --@ partition(1, block, 2)\nend}",
    "tide.kernel {A = i32[4], function(A)\nlocal B = i32[4](0) --@ partition(0, block, 2)\nend}"},
  {"dependence", "tide.kernel {A = i32[8], function(A)\n§for i = 1, 7 do --@ parallel\nA[i] = A[i - 1]\nend end}",
    "tide.kernel {A = i32[8], function(A)\nfor i = 1, 7 do --@ parallel\nA[i] = A[i] + 1\nend end}",
    kind = "illegal"},
  {"dependence", "tide.kernel {A = i32[8], function(A)\n§for i = 1, 7 do --@ dep(A, inter)\nA[i] = A[i - 1]\nend end}",
    "tide.kernel {A = i32[8], function(A)\nfor i = 1, 7 do --@ dep(A, inter)\nA[i] = A[i] + 1\nend end}",
    kind = "illegal"},
  {"attribute", "tide.kernel {A = i32[4], function(A)\n§--@ pipeline(1)\nend}",
    "tide.kernel {A = i32[4], function(A)\n-- pipeline(1)\nend}"},
  {"attribute", "tide.kernel {A = i32[4], function(A)\nA[0] = 1 §--@ parallel\nend}",
    "tide.kernel {A = i32[4], function(A)\nA[0] = 1 --@ at(\"a\", 1, 1)\nend}"},
  {"attribute",
    "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do §--@ dep(C, none)\nA[i] = 1 end end}",
    "tide.kernel {A = i32[4], function(A)\nfor i = 0, 3 do --@ dep(A, none)\nA[i] = 1 end end}"},
  {"attribute", "tide.kernel {A = i32[4], §--@ unroll(2)\nfunction(A) end}",
    "tide.kernel {A = i32[4], --@ storage(bram)\nfunction(A) end}"},
  {"attribute", "tide.kernel {A = i32[4], function(A)\nlocal c = 3 §--@ storage(bram)\nend}",
    "tide.kernel {A = i32[4], function(A)\nlocal c = i32[3](0) --@ storage(bram)\nend}"},

  -- ports and streams outside a design
  {"port-direction",
    "tide.kernel {§Z = tide.stream(i32), function(Z) Z:put(1)\nlocal v = Z:get()\nZ:put(v) end}",
    "tide.kernel {Z = tide.stream(i32), Y = tide.stream(i32), function(Z, Y) Z:put(1)\n"
      .. "local v = Y:get()\nZ:put(v) end}"},
  {"port-direction",
    "local get = tide.kernel {X = tide.stream(i32), Y = i32[1], function(X, Y) Y[0] = X:get() "
      .. "end}\ntide.kernel {§Z = tide.stream(i32), Y = i32[1], function(Z, Y) send(Z) get(Z, Y) "
      .. "end}",
    "local get = tide.kernel {X = tide.stream(i32), Y = i32[1], function(X, Y) Y[0] = X:get() "
      .. "end}\ntide.kernel {Z = tide.stream(i32), Y = i32[1], function(Z, Y) get(Z, Y) get(Z, Y) "
      .. "end}"},
  {"unused-get", "tide.kernel {Z = tide.stream(i32), function(Z) local §v = Z:get() end}",
    "tide.kernel {Z = tide.stream(i32), function(Z) local _ = Z:get() end}", help = "_"},
  {"unused-get", "tide.kernel {Z = tide.stream(i32), function(Z) local §v = Z:get() v = 1 end}",
    "tide.kernel {Z = tide.stream(i32), A = i32[1], function(Z, A) local v = Z:get() A[0] = v "
      .. "end}"},
  {"not-a-scalar",
    "tide.kernel {Z = tide.stream(i32), A = i32[1], function(Z, A) A[0] = §Z end}",
    "tide.kernel {Z = tide.stream(i32), A = i32[1], function(Z, A) A[0] = Z:get() end}", help =
    ":get()"},
  {"rank", "tide.kernel {Z = tide.stream(i32)[2], function(Z) Z:§put(1) end}",
    "tide.kernel {Z = tide.stream(i32)[2], function(Z) Z[0]:put(1) end}"},
  {"rank", "tide.kernel {Z = tide.stream(i32), function(Z) Z[§0]:put(1) end}",
    "tide.kernel {Z = tide.stream(i32), function(Z) Z:put(1) end}"},
  {"slot", "tide.kernel {Z = tide.stream(i32[2]), function(Z) local b = Z:§slot() Z:put(b) end}",
    "tide.kernel {Z = tide.stream(i32[2]), function(Z) local b = i32[2](0) Z:put(b) end}"},
  {"method", "tide.kernel {Z = tide.stream(i32), function(Z) Z:§peek() end}",
    "tide.kernel {Z = tide.stream(i32), function(Z) Z:get() end}"},
  {"arguments", "tide.kernel {Z = tide.stream(i32), function(Z) Z:§put() end}",
    "tide.kernel {Z = tide.stream(i32), function(Z) Z:put(1) end}"},
  {"arguments", "tide.kernel {Z = tide.stream(i32), function(Z) local _ = Z:§get(1) end}",
    "tide.kernel {Z = tide.stream(i32), function(Z) local _ = Z:get() end}"},
  {"needs-cast", "tide.kernel {Z = tide.stream(i32), x = f32, function(Z, x) Z:put(§x) end}",
    "tide.kernel {Z = tide.stream(f32), x = f32, function(Z, x) Z:put(x) end}"},
  {"shapes", "tide.kernel {Z = tide.stream(i32[2]), A = i32[3], function(Z, A) Z:§put(A) end}",
    "tide.kernel {Z = tide.stream(i32[3]), A = i32[3], function(Z, A) Z:put(A) end}"},

  {"not-in-kernel", "tide.kernel {Z = i32[1], §function(Z, ...) Z[0] = 1 end}",
    "tide.kernel {Z = i32[1], function(Z) Z[0] = 1 end}"},

  -- calls from outside
  {"outside-task", "tide.design(function(d) local s = d:stream(i32) d.a = tide.task {Z = i32[1], "
    .. "function(Z) s:put(1) Z[0] = s:get() end}\ns:§put(1) end)",
    "tide.design(function(d) local s = d:stream(i32) d.a = tide.task {Z = i32[1], "
    .. "function(Z) s:put(1) Z[0] = s:get() end} end)"},
  {"arguments", "i32§[2] {1, 2}", "tide.tensor(i32[2], {1, 2})", help = "tide.tensor"},
  {"argument", "tide.schedule(add4).§split('i', 2)", "tide.schedule(add4):split('i', 2)", help = "x:name"},
  {"no-method", "local n = i32[4].§shap", "local n = i32[4].shape", help = "shape"},
  {"no-method", "add4:§natve()", "add4:native(i32[4](0), i32[4](0))", help = "native"},
  {"type-element", "local T = i32[4]\nT§[1] = 2", "local T = i32[4](0)\nT[1] = 2", help = "T(0)"},
  {"argument-type", "§add4(i32[4](0), i32[5](0))", "add4(i32[4](0), i32[4](0))"},
  {"argument-type", "§add4(i32[4](0), 3)", "add4(i32[4](0), i32[4](0))"},
  {"arguments", "§add4(i32[4](0))", "add4(i32[4](0), i32[4](0))"},
  {"argument", "§add4 {X = i32[4](0), Z = i32[4](0)}", "add4 {X = i32[4](0), Y = i32[4](0)}"},
  {"argument-type", "§send(3)", "send({})"},
  {"argument", "add4:§at {4}", "add4:at {}"},
  {"argument", "add4:§at {M = 0.5}", "add4:at {}"},
  {"native",
    "tide.design(function(d) d.a = tide.task {A = i32[1], function(A) A[0] = 1 end} "
      .. "end):§native(i32[1](0))",
    "tide.kernel {A = i32[1], function(A) A[0] = 1 end}:native(i32[1](0))"},
}

t.done()
