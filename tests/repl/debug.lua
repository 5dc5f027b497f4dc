-- debug.lua - :debug steps a kernel or a design by statement, with breakpoints at lines, values and streams.
local screen = require "screen"
local shell = require "shell"
local t = require "tap"
local session = shell.session

local gemm = [[
gemm = tide.kernel {
  A = i8[2][3], B = i8[3][2], C = i32[2][2],
  function(A, B, C)
    for i, j in grid(2, 2) do
      local acc = 0
      for k = 0, 2 do
        acc = acc + A[i][k] * B[k][j]
      end
      C[i][j] = acc
    end
  end,
}
A, B, C = tide.tensor(i8[2][3], {{1, 2, 3}, {4, 5, 6}}), tide.tensor(i8[3][2], {{1, 2}, {3, 4}, {5, 6}}), i32[2][2](0);
]]

local pair = [[
d = tide.design(function(d)
  local Z = d:stream(i32, {2, depth = 2})
  d.put = tide.task {A = i32[4], function(A)
    for i = 0, 3 do Z[i % 2]:put(A[i] + 1) end
  end}
  d.get = tide.task {B = i32[4], function(B)
    for i = 0, 3 do B[i] = Z[i % 2]:get() end
  end}
end)
A, B = tide.tensor(i32[4], {1, 2, 3, 4}), i32[4](0);
]]

t.test("steps by statement, and tells what each wrote", function()
  local out = session(gemm .. ":debug gemm(A, B, C)\nstep\ns\n\n\n\n\nc\nC\n")
  t.has(out, "gemm\n     4 |     for i, j in grid(2, 2) do\n")
  t.has(out, "gemm: i = 0, j = 0, k = 0\n     7 |         acc = acc + A[i][k] * B[k][j]\n")
  t.has(out, "acc = 1\ngemm: i = 0, j = 0, k = 1\n")
  t.has(out, "the run ended; its arguments are written\ni32[2][2]\n[0]  22  28\n[1]  49  64\n")
end)

t.test("next goes over inner loops, out leaves them", function()
  local out = session(gemm .. ":debug gemm(A, B, C)\nbreak 6\nc\nn\nq\n")
  t.has(out, "stopped: line 6\ngemm: i = 0, j = 0\n")
  t.has(out, "gemm: i = 0, j = 0\n     9 |       C[i][j] = acc\n")
  t.has(session(gemm .. ":debug gemm(A, B, C)\nb 7\nc\ndelete\nout\nout\nprint acc\nq\n"), "acc = 22\n")
end)

t.test("breakpoints at lines, at changes, at values; print and display", function()
  local out = session(gemm .. ":debug gemm(A, B, C)\nbreak C[1][0]\nbreak\nc\nprint\nprint A[i][2]\nprint C\nq\n")
  t.has(out, "1  C[1][0]\n")
  t.has(out, "stopped: C[1][0]: 0 -> 49\n")
  t.has(out, "C[1][0] = 49\n")
  t.has(out, "i = 1\nj = 1\n")
  t.has(out, "A[i][2] = 6\n")
  t.has(out, "C = \n  [0] {22, 28}\n  [1] {49, 0}\n")
  out = session(gemm .. ":debug gemm(A, B, C)\nbreak acc = 7\ndisplay acc\nc\nc\n")
  t.has(out, "stopped: acc = 7: 1 -> 7\n")
  t.eq(select(2, out:gsub("stopped", "")), 1, out)
end)

t.test("designs: which task runs, streams and what they hold, a break at a stream", function()
  local out = session(pair .. ":debug d(A, B)\nbreak Z[1]\nc\n" ..
    "tasks\nstreams\nbreak Z\ns\nc\nstreams\nc\ndelete\nc\nB\n")
  t.has(out, "stopped: Z[1] is used\nput: i = 1\n")
  t.has(out, "* put, line 4\n")
  t.has(out, "Z[0] holds 1 of 2 tokens: 2; 1 put, 0 got\nZ[1] holds 0 of 2 tokens; 0 put, 0 got\n")
  t.has(out, "get: i = 0\n")
  t.has(out, "the run ended; its arguments are written\ni32[4] {2, 3, 4, 5}\n")
  t.has(session(pair .. ":debug d(A, B)\nb 7\nc\ntasks\nq\n"), "* get, line 7")
end)

t.test("quit, the end of the input and errors leave the session whole, and arguments as they were", function()
  local zero = "i32[2][2]\n[0]  0  0\n[1]  0  0\n"
  local out = session(gemm .. ":debug gemm(A, B, C)\nbreak C[1][0]\nc\n" ..
    "quit\nC\n1 + 1\n:debug gemm(A, B, C)\nc\nC[1][1]\n")
  t.has(out, "the run was ended; its arguments are as before\n" .. zero .. "2\n")
  t.has(out, "are written\n64\n")
  t.has(session(gemm .. ":debug gemm(A, B, C)\nstep\n"), "the run was ended")
  out = session(gemm .. ":debug ok, e = pcall(gemm, A, B, C)\nq\ne.code == '" .. "ended" .. "'\n")
  t.has(out, "the run was ended; its arguments are as before\ntrue\n")
  t.has(session(gemm .. ":debug gemm(A, B)\n1 + 1\n"), "'gemm' takes 3 arguments, not 2")
  t.has(session ":debug 1 + 1\n1\n", "nothing was run by statements: :debug takes a call, as k(A, B)")
  t.has(session ":debug\n", ":debug takes an expression or call: :debug k(A, B)")
  out = session(gemm .. ":debug gemm(A, B, C)\nfrob\nbreak C[9\nbreak C[z]\nprint nix\nprint C[7][0]\nhelp\nq\n2 + 3\n")
  t.has(out, "there is no 'frob' here")
  t.has(out, "an index ends with ']'")
  t.has(out, "'z' is no number and no variable here")
  t.has(out, "there is no 'nix' here")
  t.has(out, "there is no 'C[7][0]' here")
  t.has(out, "to the next statement of this task")
  t.has(out, "\n5\n")
end)

t.test("schedules are stepped as they are now; a fault is told at its place", function()
  local out = session(gemm .. 's = tide.schedule(gemm);\ns:unroll "k";\n:debug s(A, B, C)\nc\nC\n')
  t.has(out, "[0]  22  28")
  out = session("k = tide.kernel {c = i32[1], x = i32[4], function(c, x) x[c[0]] = 1 end};\n"
    .. "c, x = i32[1](9), i32[4](0);\n:debug k(c, x)\nc\nx\n")
  t.has(out, "[index-out-of-range]")
  t.has(out, "i32[4] {0, 0, 0, 0}")
end)

if screen.available() then
  t.test("at a terminal Ctrl-C at a stop, and while the run goes on, ends it", function()
    local term = screen.open("env TIDE_HISTORY= TIDE_INIT= " .. shell.quote(shell.program), 100, 40)
    assert(term:wait "tide>")
    term:type("k = tide.kernel {x = i32[4], function(x) for i = 0, 100000000 do x[i % 4] = i32(i) end end}", "Enter")
    term:type("x = i32[4](7);", "Enter")
    term:type(":debug k(x)", "Enter")
    t.ok(term:wait "debug>", term:text())
    term:type("", "C-c")
    t.ok(term:wait "the run was ended", term:text())
    term:type(":debug k(x)", "Enter")
    t.ok(term:wait "debug>")
    term:type("c", "Enter")
    os.execute "sleep 0.5"
    term:type("", "C-c")
    t.ok(term:wait "interrupted", term:text())
    term:type("x[0] + 1", "Enter")
    t.ok(term:wait "\n8\n", term:text())
    term:close()
  end)
end

t.done()
