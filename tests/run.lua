-- run.lua - runs every test in a process of its own, some at a time, and prints one TAP stream.
--   lua5.4 tests/run.lua [--tide PROGRAM] [--build FOLDER] [--filter TEXT] [--no-skip]
--                        [--limit SECONDS] [--jobs N] [--quick]
-- Tests are found by their folder. The last line is `N passed, N failed`. A test that takes more than two seconds on an
-- idle machine lies in tests/slow or says [slow] in its head; --quick leaves those out, and what needs a build.
package.path = "tests/?.lua;" .. package.path
local result = require "result"
local shell = require "shell"

local quote, output = shell.quote, shell.output

local option = {tide = nil, build = "build/release", filter = "", limit = "600", jobs = nil}

-- Reads the command line into `option`.
local function read_arguments()
  local i = 1
  while arg[i] do
    local name = arg[i]:match "^%-%-(%a+)$"
    if arg[i] == "--no-skip" or arg[i] == "--quick" then
      option[arg[i]:sub(3):gsub("-", "_")], i = true, i + 1
    elseif name and arg[i + 1] then
      option[name], i = arg[i + 1], i + 2
    else
      io.stderr:write("run.lua: what is " .. arg[i] .. "?\n")
      os.exit(2)
    end
  end
end

-- The program that runs Lua tests, or nil.
local function tide() return option.tide and quote(option.tide) end

-- The program that runs this file: what tests of the tree itself need, also where tide is missing.
local function this_lua() return quote(arg[-1]) end

-- A function that names the program built from a test's source.
local function built(path) return quote(option.build .. "/" .. path:gsub("%.%w+$", "")) end

-- The command that compares what a document prints with what it records.
local function checker() return option.tide and quote(option.tide) .. " doc --check" end

-- Where tests lie: folder, name, how they are judged, and the program that runs them.
local kinds = {
  {"tests/unit", "*.c", "tap", built},
  {"tests/slow", "*.c", "tap", built},
  {"tests/slow", "*.lua", "tap", tide, script = true},
  {"tests/house", "*.lua", "tap", this_lua, script = true},
  {"tests/lang", "*.lua", "tap", tide, script = true},
  {"tests/prim", "*.lua", "tap", tide, script = true},
  {"tests/reject", "*.lua", "tap", tide, script = true},
  {"tests/repl", "*.lua", "tap", tide, script = true},
  {"tests/jupyter", "*.lua", "tap", tide, script = true},
  {"tests/backend", "*_test.cpp", "tap", built},
  {"tests/backend", "*.lua", "tap", tide, script = true},
  {"tests/fuzz", "*_test.lua", "tap", tide, script = true},
  {"examples", "*.lua", "example", tide, script = true},
  {"examples", "*.md", "document", checker, script = true},
  {"docs", "*.md", "document", checker, script = true},
  {".", "README.md", "document", checker, script = true},
}

-- Whether a quick run leaves a test out.
local function is_slow(path)
  return path:find "^tests/slow/" or path:find "_test%.cpp$" or shell.read(path):sub(1, 600):find("[slow]", 1, true)
end

-- The tests that the filter lets pass: {path =, judge =, command =, number =, source =}.
local function find_tests()
  local tests = {}
  for _, kind in ipairs(kinds) do
    local folder, name, judge, program = table.unpack(kind)
    local depth = folder == "." and " -maxdepth 1" or ""
    local found = output(("find %s%s -name '%s' 2>/dev/null | LC_ALL=C sort"):format(folder, depth,
      name))
    for path in found:gmatch "[^\n]+" do
      path = path:gsub("^%./", "")
      local source = judge == "example" and shell.read(path)
      if path:find(option.filter, 1, true) and not (option.quick and is_slow(path)) then
        local test = {path = path, judge = judge, source = source, number = #tests + 1}
        local run = program(path)
        test.command = run and (kind.script and run .. " " .. quote(path) or run)
        tests[#tests + 1] = test
      end
    end
  end
  return tests
end

-- The folder of one run's files: N.out, N.err, N.tmp for test N.
local function folder() return option.build .. "/tests/run" end

-- The shell line that runs a test and then prints its number, exit status and milliseconds.
local function job(test)
  local base = folder() .. "/" .. test.number
  local command = test.command
  return (([[mkdir @base.tmp; t=$(date +%s%N); TMPDIR="$PWD/@base.tmp" ]] ..
    [[timeout -k 5 @limit @command </dev/null >@base.out 2>@base.err; r=$?; ]] ..
    [[echo @number $r $((($(date +%s%N) - t) / 1000000))]]):gsub("@(%a+)",
    {base = base, number = test.number, limit = option.limit, command = command}))
end

-- Starts all tests that have a program, `jobs` at a time; returns the pipe on which they report.
local function start(tests)
  output("rm -rf " .. quote(folder()) .. " && mkdir -p " .. quote(folder() .. "/home"))
  local jobs = {}
  for _, test in ipairs(tests) do
    if test.command then jobs[#jobs + 1] = job(test) .. "\n" end
  end
  shell.write(folder() .. "/jobs", table.concat(jobs))
  return assert(io.popen((([[LUA_PATH_5_4="tests/?.lua;;" HOME="$PWD/@run/home" ]] ..
    [[XDG_CACHE_HOME="$PWD/@run/cache" xargs -a @run/jobs -d '\n' -n 1 -P @jobs sh -c]])
    :gsub("@(%a+)", {run = folder(), jobs = option.jobs or "$(nproc)"}))))
end

-- The results of a test that has ended.
local function judge(test)
  local base = folder() .. "/" .. test.number
  local out, err = shell.read(base .. ".out"), shell.read(base .. ".err")
  if test.judge == "tap" then
    return result.tap(out, err, test.status, (output("ls -A " .. base .. ".tmp")))
  end
  if test.judge == "document" then return result.document(err, test.status) end
  return result.example(test.source, out, err, test.status)
end

local count = {pass = 0, fail = 0, skip = 0}
local named = {fail = {}, skip = {}} -- what the end of the stream repeats

-- Prints a test's results as TAP and counts them.
local function print_results(test, results)
  print(("# %s%s"):format(test.path, test.ms and (" (%.1f s)"):format(test.ms / 1000) or ""))
  for _, r in ipairs(results) do
    local state = r.state
    count[state] = count[state] + 1
    local number = count.pass + count.fail + count.skip
    local skip = state == "skip" and " # SKIP " .. r.why or ""
    local line = ("%d - %s: %s%s"):format(number, test.path, r.name, skip)
    print((state == "fail" and "not ok " or "ok ") .. line)
    if state == "fail" then
      for _, note in ipairs(r.notes) do print("# " .. note:gsub("^#%s?", "")) end
    end
    if named[state] then table.insert(named[state], line) end
  end
  io.stdout:flush()
end

-- Runs the tests; prints each one's results, in order, as soon as those before it are printed.
local function run(tests)
  local reports, nth = start(tests), 1
  local function print_ready()
    while tests[nth] and (tests[nth].status or not tests[nth].command) do
      local test = tests[nth]
      local missing = {{name = "all", state = "skip", why = "tide is not built", notes = {}}}
      print_results(test, test.command and judge(test) or missing)
      nth = nth + 1
    end
  end
  print_ready()
  for line in reports:lines() do
    local number, status, ms = line:match "^(%d+) (%d+) (%d+)$"
    local test = tests[tonumber(number)]
    test.status, test.ms = tonumber(status), tonumber(ms)
    print_ready()
  end
  reports:close()
  assert(nth > #tests, "a test did not report its end")
end

-- Names again what failed and what was skipped, and prints the closing line.
local function close()
  print("1.." .. count.pass + count.fail + count.skip)
  for _, line in ipairs(named.fail) do print("# failed " .. line) end
  for _, line in ipairs(named.skip) do print("# skipped " .. line) end
  if option.no_skip and count.skip > 0 then
    print("# a SKIP counts as a failure here")
    count.fail, count.skip = count.fail + count.skip, 0
  end
  local skipped = count.skip > 0 and (", %d skipped"):format(count.skip) or ""
  print(("%d passed, %d failed%s"):format(count.pass, count.fail, skipped))
end

read_arguments()
run(find_tests())
close()
os.exit(count.fail == 0 and count.pass > 0, true)
