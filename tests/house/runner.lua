-- runner.lua - what tests/run.lua makes of programs that pass, fail, skip, crash, hang or say
-- nothing.
local t = require "tap"
local shell = require "shell"
local result = require "result"

-- The states and names of the results of a program, as one text.
local function read(out, status, left, err)
  local parts = {}
  for _, r in ipairs(result.tap(out, err or "", status or 0, left or "")) do
    parts[#parts + 1] = r.state .. ":" .. r.name .. (r.why and "(" .. r.why .. ")" or "")
  end
  return table.concat(parts, " ")
end

t.test("points, skips and the plan are read", function()
  t.eq(read "ok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no tool\n1..3\n",
    "pass:a fail:b skip:c(no tool)")
  t.eq(read "1..0 # SKIP no tool\n", "skip:all(no tool)")
end)

t.test("a program that says nothing, or too little, fails", function()
  t.eq(read "", "fail:ended without a plan")
  t.eq(read "1..0\n", "fail:all(states no test)")
  t.eq(read "ok 1 - a\n", "pass:a fail:ended without a plan")
  t.eq(read "ok 1 - a\n1..2\n", "pass:a fail:planned 2 tests, ran 1")
  t.eq(read "Bail out! why\n1..1\n", "fail:Bail out! why")
end)

t.test("a bad end fails whatever was printed", function()
  t.eq(read("ok 1 - a\n1..1\n", 139), "pass:a fail:killed by signal 11")
  t.eq(read("ok 1 - a\n1..1\n", 1), "pass:a fail:exit status 1")
  t.eq(read("ok 1 - a\n1..1\n", 124), "pass:a fail:stopped at the time limit")
  t.eq(read("not ok 1 - a\n1..1\n", 1), "fail:a")
  t.eq(read("ok 1 - a\n1..1\n", 0, "x\ny\n"), "pass:a fail:left temporary files: x y")
end)

-- Whether an example that prints `out` passes.
local function example(source, out, status)
  return result.example(source, out, "", status or 0)[1].state == "pass"
end

t.test("an example prints its comments, in order", function()
  local source = "print(1) --> one (1)\nprint(2)\n--> took ... ms\n"
  t.ok(example(source, "one (1)\nit took 3.5 ms\n"))
  t.ok(not example(source, "it took 3.5 ms\none (1)\n"))
  t.ok(not example(source, "one (1)\n"))
  t.ok(not example(source, "one (1)\ntook 3 ms\n", 1))
end)

local root = t.tmp "a tree"
local head = 'local t = require "tap"\n'

shell.plant(root, {
  ["tests/run.lua"] = shell.read "tests/run.lua",
  ["tests/result.lua"] = shell.read "tests/result.lua",
  ["tests/shell.lua"] = shell.read "tests/shell.lua",
  ["tests/tap.lua"] = shell.read "tests/tap.lua",
  ["tests/lang/a slow.lua"] = head .. [[
os.execute "sleep 0.3"
t.test("good", function() t.eq({1, {x = 2}}, {1, {x = 2}}) end)
t.done()
]],
  ["tests/lang/bad.lua"] = head .. [[
t.test("equal", function() t.eq({1, {x = 2}}, {1, {x = 3}}) end)
t.test("empty", function() end)
t.test("fails", function()
  t.fails(function() error {kind = "usage", code = "b"} end, {kind = "usage", code = "b"})
end)
t.test("fails otherwise", function()
  t.fails(function() error {kind = "usage", code = "b"} end, {code = "c"})
end)
t.done()
]],
  ["tests/lang/hang.lua"] = "while true do end\n",
  ["tests/lang/skip.lua"] = head .. 't.skip_all "no tool"\n',
  ["examples/e.lua"] = "print(6 * 7) --> 42\n",
  ["README.md"] = "Text\n",
  ["doc"] = 'io.stderr:write(table.concat(arg, " "), ":11: not as recorded\\n") os.exit(1)\n',
})

-- What the runner prints for the tree above, and its exit status.
local function run(arguments)
  return shell.output(("cd %s && mkdir -p build && lua5.4 tests/run.lua --tide lua5.4 --limit 1 " ..
    "--build build --jobs 2 %s 2>&1"):format(shell.quote(root), arguments))
end

t.test("a run is told in order and closed by the counts", function()
  local out, status = run ""
  t.eq(status, 1)
  local found, missing = result.in_order(out, {"ok 1 - tests/lang/a slow.lua: good\n",
    "not ok 2 - tests/lang/bad.lua: equal", "{1, {x = 2}}, want {1, {x = 3}}",
    "not ok 3 - tests/lang/bad.lua: empty", "the test states no fact",
    "ok 4 - tests/lang/bad.lua: fails\n", "not ok 5 - tests/lang/bad.lua: fails otherwise",
    "not ok 6 - tests/lang/hang.lua: stopped at the time limit",
    "ok 7 - tests/lang/skip.lua: all # SKIP no tool", "ok 8 - examples/e.lua: runs",
    "not ok 9 - README.md: prints what it records", "exit status 1", "--check README.md:11: not as",
    "# failed 2 - tests/lang/bad.lua: equal", "# skipped 7 - tests/lang/skip.lua"})
  t.ok(found, tostring(missing) .. " is missing in:\n" .. out)
  t.ok(out:find "\n3 passed, 5 failed, 1 skipped\n$", out)
end)

t.test("a skipped test fails under --no-skip", function()
  local out, status = run "--filter skip --no-skip"
  t.eq(status, 1)
  t.ok(out:find "\n0 passed, 1 failed\n$", out)
end)

t.test("a filter that nothing passes is a failure", function()
  local out, status = run "--filter nothing"
  t.eq(status, 1)
  t.ok(out:find "\n0 passed, 0 failed\n$", out)
end)

t.done()
