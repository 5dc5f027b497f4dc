-- [slow] hls_tool.lua - around HLS C++: files written, Vitis HLS called where it is on PATH (a fake one
-- here), its report read; simulations that fail, compilers that are missing or wrong.
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local i8, i32, grid = tide.i8, tide.i32, tide.grid

local program, read, write = shell.program, shell.read, shell.write
local folder = t.tmp "hls"
shell.plant(folder, {})

-- What Lua code prints in a new process, with variables set, in another folder.
local number = 0
local function run(variables, code)
  number = number + 1
  local path = ("%s/run%d.lua"):format(folder, number)
  write(path, code)
  return (shell.output(("cd '%s' && env %s '%s' '%s' 2>&1"):format(folder, variables, program, path)))
end

-- A kernel, built for hls as m with these options, and what follows.
local function script(options, rest)
  return ([[
local tide = require "tide"
local i32 = tide.i32
local k = tide.kernel {A = i32[4], B = i32[4], name = "double", function(A, B)
  for i = 0, 3 do B[i] = A[i] * 2 end
end}
local m = k:build {target = "hls", %s}
%s]]):format(options, rest)
end

local function gemm()
  return tide.kernel {A = i8[4][4], B = i8[4][4], C = i32[4][4], name = "gemm", function(A, B, C)
    for i, j in grid(4, 4) do
      for k = 0, 3 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
end

t.test("files are written, each whole, and say what to run", function()
  local m = gemm():build {target = "hls", tool = false}
  local said = m:write(folder .. "/a b/gemm")
  t.has(said, "wrote 14 files to " .. folder .. "/a b/gemm; to synthesise, run `vitis_hls -f run.tcl`")
  for _, name in ipairs(m.files) do
    t.eq(read(folder .. "/a b/gemm/" .. name), m.files[name], name)
  end
  t.has(m.files["README.md"], "have never run Vitis HLS")
  t.eq(read(folder .. "/a b/gemm/kernel.cpp"), m.source)
  t.ok(os.execute(("make -s -C '%s/a b/gemm' TIDE_INCLUDE=\"$PWD/backends/hls/include\" " ..
    ">'%s/make.log' 2>&1"):format(folder, folder)), read(folder .. "/make.log"))
  t.has(read(folder .. "/make.log"), "C.want: 16 of 16 elements are right")
end)

t.test("the test bench notices a wrong number", function()
  local path = folder .. "/a b/gemm/data/C.want.dat"
  write(path, (read(path):gsub("^[^\n]*", "12345")))
  t.ok(not os.execute(("'%s/a b/gemm/tb' '%s/a b/gemm/data' >'%s/tb.log'"):format(folder, folder,
    folder)))
  t.has(read(folder .. "/tb.log"), "C.want: element 0 is ")
  t.has(read(folder .. "/tb.log"), "C.want: 15 of 16 elements are right")
end)

t.test("a test bench has the user's data, by position or by name", function()
  local A = tide.tensor(i8[4][4], {{1, 2, 3, 4}, {5, 6, 7, 8}, {0, 0, 0, 0}, {-1, -1, -1, -1}})
  local B, C = i8[4][4](1), i32[4][4](0)
  for _, inputs in ipairs {{A, B, C}, {A = A, B = B, C = C}} do
    local files = gemm():build {target = "hls", inputs = inputs}.files
    t.eq(files["data/A.dat"], "1\n2\n3\n4\n5\n6\n7\n8\n0\n0\n0\n0\n-1\n-1\n-1\n-1\n")
    t.has(files["data/C.want.dat"], "10\n10\n10\n10\n26\n")
  end
  t.fails(function() return gemm():build {target = "hls", inputs = {A, B}}.files end,
    {code = "arguments"})
end)

t.test("data steers a kernel: numbers on which it runs are found; else there is no test bench",
  function()
    local function gather(n)
      return tide.kernel {x = i32[n], at = tide.index[4], y = i32[4], function(x, at, y)
        for i = 0, 3 do y[i] = x[at[i] + n - 2] end
      end}
    end
    t.ok(gather(2):build {target = "hls"}.files["data/y.want.dat"])
    local none = tide.kernel {x = i32[2], y = i32[2], function(x, y)
      for i = 0, 1 do y[i] = x[i] // (x[i] - x[i]) end
    end}
    local files = none:build {target = "hls"}.files
    t.eq(files["tb.cpp"], nil)
    t.ok(not files["run.tcl"]:find "tb")
    local x = i32[2](1)
    t.fails(function() return none:build {target = "hls", inputs = {x, x:copy()}}.files end,
      {code = "zero-division"})
  end)

t.test("the same text in every process, folder and locale", function()
  local show = "for _, name in ipairs(m.files) do print(name) io.write(m.files[name]) end"
  local code = script("clock = 3.5", show)
  local text = run("LC_ALL=C", code)
  t.has(text, "create_clock -period 3.5")
  t.eq(run("LC_ALL=de_DE.UTF-8 HOME=/", code), text)
end)

t.test("what cannot be written is told, and nothing half written stays", function()
  local m = gemm():build {target = "hls", tool = false}
  write(folder .. "/plain", "a file")
  t.fails(function() m:write(folder .. "/plain") end, {code = "write", match = "plain"})
  t.eq(read(folder .. "/plain"), "a file")
  os.execute(("mkdir -p '%s/taken/kernel.cpp/x'"):format(folder))
  t.fails(function() m:write(folder .. "/taken") end, {code = "write", match = "kernel.cpp"})
  t.eq(read(folder .. "/taken/kernel.cpp.new"), nil)
end)

-- A report as Vitis HLS writes it, of a kernel whose loops are on these lines.
local function report(outer, inner)
  return ([[<?xml version="1.0" encoding="UTF-8"?>
<!-- made by hand -->
<profile>
  <ReportVersion><Version>2022.1</Version></ReportVersion>
  <UserAssignments>
    <unit>ns</unit><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>double</TopModelName>
    <TargetClockPeriod>10.00</TargetClockPeriod><ClockUncertainty>2.70</ClockUncertainty>
  </UserAssignments>
  <PerformanceEstimates>
    <SummaryOfTimingAnalysis><EstimatedClockPeriod>5.912</EstimatedClockPeriod>
    </SummaryOfTimingAnalysis>
    <SummaryOfOverallLatency><Best-caseLatency>41</Best-caseLatency>
      <Worst-caseLatency>57</Worst-caseLatency><Interval-min>42</Interval-min>
      <Interval-max>58</Interval-max></SummaryOfOverallLatency>
    <SummaryOfLoopLatency>
      <VITIS_LOOP_%d_1><Name>VITIS_LOOP_%d_1</Name><TripCount>4</TripCount>
        <Latency><range><min>40</min><max>56</max></range></Latency><InstanceList/>
        <VITIS_LOOP_%d_2><TripCount><range><min>1</min><max>4</max></range></TripCount>
          <PipelineII>1</PipelineII><PipelineDepth>6</PipelineDepth><Latency>9</Latency>
        </VITIS_LOOP_%d_2>
      </VITIS_LOOP_%d_1>
    </SummaryOfLoopLatency>
  </PerformanceEstimates>
  <AreaEstimates><Resources><BRAM_18K>2</BRAM_18K><DSP>3</DSP><FF>1200</FF><LUT>900</LUT>
    <URAM>0</URAM></Resources></AreaEstimates>
</profile>
]]):format(outer, outer, inner, inner, outer)
end

-- A folder with a program of this name on PATH; returns the value of PATH.
local function fake(name, body)
  local bin = folder .. "/bin_" .. name .. number
  os.execute("mkdir -p '" .. bin .. "'")
  write(bin .. "/" .. name, "#!/bin/sh\n" .. body)
  os.execute(("chmod +x '%s/%s'"):format(bin, name))
  return ("PATH='%s:%s'"):format(bin, os.getenv "PATH")
end

-- Prints all of a report, in order.
local show_report = [[
local function show(v, path)
  if type(v) ~= "table" then return print(path, v) end
  local keys = {}
  for key in pairs(v) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do show(v[key], path .. "." .. key) end
end
print(m.report)
print(m:write "out dir")
show(m.report, "report")
]]

-- The line of kernel.cpp on which the loop is.
local function loop_line()
  local text = run("LC_ALL=C", script("tool = false", "io.write(m.source)"))
  local _, n = text:sub(1, text:find "for %(int i"):gsub("\n", "")
  return n + 1
end

local facts = {"report.clock.estimated\t5.912", "report.clock.target\t10.0", "report.latency.max\t57",
  "report.latency.min\t41", "report.interval.max\t58", "report.loops.1.name\ti",
  "report.loops.1.trip\t4", "report.loops.1.latency.max\t56", "report.loops.2.ii\t1",
  "report.loops.2.trip.max\t4", "report.loops.2.depth\t6", "report.resources.bram\t2",
  "report.resources.dsp\t3", "report.resources.lut\t900", "report.top\tdouble"}

t.test("Vitis HLS is called with the script, and its report read", function()
  local line = loop_line()
  local path = fake("vitis_hls", ([[
test "$*" = "-f run.tcl" && test -f run.tcl && test -f data/A.dat || exit 9
mkdir -p hls/solution/syn/report
cat >hls/solution/syn/report/csynth.xml <<'XML'
%sXML
]]):format(report(line, line)))
  local said = run(path, script("", show_report))
  t.has(said, "nil\nwrote 13 files to out dir; vitis_hls ran in out dir\n")
  for _, fact in ipairs(facts) do t.has(said, fact .. "\n") end
end)

t.test("v++ is called where there is no vitis_hls", function()
  local line = loop_line()
  local path = fake("v++", ([[
test "$*" = "--compile --mode hls --config hls_config.cfg --work_dir hls" || exit 9
mkdir -p hls/hls/syn/report
cat >hls/hls/syn/report/csynth.xml <<'XML'
%sXML
]]):format(report(line, line)))
  local said = run(path, script("", show_report))
  t.has(said, "v++ ran in out dir\n")
  for _, fact in ipairs(facts) do t.has(said, fact .. "\n") end
end)

t.test("without the tool the message says what to run, and where", function()
  local said = run("LC_ALL=C", script("", show_report))
  if os.execute "command -v vitis_hls v++ >/dev/null" then return t.ok(said) end
  t.has(said, "vitis_hls is not on PATH: to synthesise, run `vitis_hls -f run.tcl` in out dir\n")
end)

-- Runs m:write and prints the error's kind, code and text.
local show_failure = [[
local ok, e = pcall(m.write, m, "out")
print(ok, e.kind, e.code)
print(e)
]]

t.test("a failure of the tool is shown with its errors", function()
  local path = fake("vitis_hls", 'echo "INFO: fine"\necho "ERROR: [HLS 200-70] no such part"\nexit 1\n')
  local said = run(path, script("", show_failure))
  t.has(said, "false\tillegal\ttool-failed\n")
  t.has(said, "vitis_hls failed (status 1); its log is out/vitis.log")
  t.has(said, "ERROR: [HLS 200-70] no such part")
end)

t.test("a tool that hangs is ended with all that it started", function()
  local mark = folder .. "/still"
  local path = fake("vitis_hls", ("(sleep 3; touch '%s') & sleep 60\n"):format(mark))
  local said = run(path, script("seconds = 1", show_failure))
  t.has(said, "false\tlimit\ttool-time\n")
  t.has(said, "vitis_hls did not end within 1 s")
  os.execute "sleep 3"
  t.eq(read(mark), nil)
end)

t.test("a report replaces the estimate, and what it does not tell stays", function()
  local k = tide.kernel {A = i32[4][4], name = "double", function(A)
    for i = 0, 3 do
      for j = 0, 3 do A[i][j] = A[i][j] * 2 end
    end
  end}
  local s = tide.schedule(k):pipeline("j", 3)
  local m = s:build {target = "hls", tool = false}
  local at, inner = folder .. "/reported", nil
  m:write(at)
  local line = 0
  for text in m.source:gmatch "[^\n]*" do
    line = line + 1
    if text:find "^ *for %(.* i = " then inner = line end
  end
  t.fails(function() s:estimate {report = at} end, {kind = "usage", code = "no-report"})
  t.fails(function() s:estimate {report = folder .. "/nowhere"} end, {code = "no-report"})
  os.execute(("mkdir -p '%s/hls/solution/syn/report'"):format(at))
  write(at .. "/hls/solution/syn/report/csynth.xml", report(inner, inner + 1))
  local plain, e = s:estimate(), s:estimate {report = at}
  t.eq({plain.source, e.source}, {"estimate", "csynth"})
  t.eq({e.cycles, e.dsp, e.bram, e.ff, e.lut}, {57, 3, 2, 1200, 900})
  t.ok(math.abs(e.ms - 57e-5) < 1e-9, e.ms)
  t.eq({e.loops.j.ii, e.loops.j.estimated, e.loops.j.depth, e.loops.j.cycles}, {1, 3, 6, 9})
  t.eq({e.loops.i.cycles, e.loops.j.why}, {56, plain.loops.j.why})
  t.has(tostring(e), "u280 at 100 MHz, as reported: 57 cycles")
  write(at .. "/hls/solution/syn/report/csynth.xml", "<profile></profile>")
  t.fails(function() s:estimate {report = at} end, {code = "no-report"})
end)

t.test("a tool that leaves no report, or a broken one", function()
  local path = fake("vitis_hls", "exit 0\n")
  t.has(run(path, script("", show_report)), "and left no report of a synthesis")
  path = fake("vitis_hls", "mkdir -p hls/solution/syn/report\n" ..
    "echo '<profile><UserAssignments><Part>' >hls/solution/syn/report/csynth.xml\n")
  t.has(run(path, script("", show_report)), "and left no report of a synthesis")
end)

-- Calls m and prints the error, or the result.
local show_call = [[
local A, B = tide.tensor(i32[4], {1, 2, 3, 4}), i32[4](0)
local ok, e = pcall(m, A, B)
print(ok, not ok and e.code)
print(ok and B or e)
]]

t.test("a simulation is compiled once", function()
  local cache = folder .. "/cache"
  local log = folder .. "/compiled"
  local path = fake("counting", ("echo >>'%s'\nexec g++ \"$@\"\n"):format(log))
  local variables = path .. " TIDE_CXX=counting TIDE_CACHE='" .. cache .. "'"
  for _ = 1, 2 do
    local said = run(variables, script("", show_call))
    t.has(said, "true\tfalse\n")
    t.has(said, "{2, 4, 6, 8}")
  end
  t.eq(read(log), "\n")
  local held = shell.output(("ls '%s'; stat -c %%a '%s'"):format(cache, cache))
  t.ok(held:match "^%x+%.hls\n700\n$", held)
end)

t.test("no compiler, one that refuses, one that hangs", function()
  local cache = "TIDE_CACHE='" .. folder .. "/cache2' "
  local said = run(cache .. "TIDE_CXX=no-such-compiler", script("", show_call))
  t.has(said, "false\tno-compiler\n")
  t.has(said, "TIDE_CXX")
  said = run(cache .. "TIDE_CXX='g++ -Dmain=int'", script("", show_call))
  t.has(said, "false\tcompiler-failed\n")
  t.has(said, "the C++ compiler refused the program: error:")
  t.has(said, "of it: int main(")
end)

t.test("a simulation that does not end", function()
  local said = run("TIDE_CACHE='" .. folder .. "/cache4'", [[
local tide = require "tide"
local i32 = tide.i32
local k = tide.kernel {A = i32[4], n = i32, function(A, n)
  while A[0] < n do A[1] = A[1] + 1 end
end}
local m = k:build {target = "hls", seconds = 1}
local A = i32[4](0)
m(A, 0)
local ok, e = pcall(m, A, 1)
print(ok, e.kind, e.code)
print(e)
]])
  t.has(said, "false\tlimit\thls-time\n")
  t.has(said, "did not end within 1 s")
end)

t.test("a program without its headers", function()
  local alone = folder .. "/alone"
  os.execute(("mkdir -p '%s' && cp '%s' '%s/tide' && cp -r stdlib '%s'"):format(alone, program, alone,
    alone))
  local path = folder .. "/alone.lua"
  write(path, [[
local k = require "tide".kernel {name = "k", function() end}
print(select(2, pcall(k.build, k, {target = "hls"})).code)
]])
  t.eq(shell.output(("cd '%s' && '%s/tide' '%s' 2>&1"):format(folder, alone, path)), "no-headers\n")
end)

t.test("a simulation that crashes does not end the session", function()
  local code = [[
local tide = require "tide"
local i32 = tide.i32
local k = tide.kernel {A = i32[4], n = i32, function(A, n) A[n] = 1 end}
local m = k:build {target = "hls"}
local A = i32[4](0)
local ok, e = pcall(m, A, 1 << 30)
print(ok, e.code)
print(e)
m(A, 2)
print(A)
]]
  local said = run("TIDE_CACHE='" .. folder .. "/cache3'", code)
  t.has(said, "false\tsimulation-failed\n")
  t.has(said, "ended by signal 11")
  t.has(said, "{0, 0, 1, 0}")
end)

t.test("arguments are checked before a call", function()
  local k = tide.kernel {A = i32[4], B = i32[4], n = tide.index, function(A, B, n)
    tide.assume(n % 2 == 0)
    for i = 0, 3 do B[i] = A[i] + n end
  end}
  local m = k:build {target = "hls", tool = false}
  local A, B = i32[4](1), i32[4](0)
  t.fails(function() m(A, A, 2) end, {code = "overlap"})
  t.fails(function() m(A, B, 3) end, {code = "assume"})
  t.fails(function() m(A, B) end, {code = "arguments"})
  t.fails(function() m(A, i8[4](0), 2) end, {code = "argument-type"})
  t.eq(B[0], 0)
  m(A, B, 2)
  t.eq(B[3], 3)
end)

t.done()
