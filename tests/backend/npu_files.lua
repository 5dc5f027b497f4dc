-- [slow] npu_files.lua - what an NPU build writes beside the design, and the vendor's tools where they are on PATH:
-- fakes of them are called, fail, take too long; host.cpp runs on a card that interprets the files.
local shell = require "shell"
local t = require "tap"
local tide = require "tide"

if os.execute "command -v g++ make >/dev/null 2>&1" ~= true then t.skip_all "g++ and make are not here" end

local folder = t.tmp "npu_files"
os.execute("mkdir -p " .. shell.quote(folder))

-- Rows on two cores; the loop that computes is on line 7.
local source = [[
local tide = require "tide"
local i16, task, grid = tide.i16, tide.task, tide.grid
return tide.design(function(d)
  d.rows = task {
    map = {2}, by = i16, A = i16[8][16]:layout "S0R", B = i16[8][16]:layout "S0R",
    function(by, A, B)
      for i, j in grid(4, 16) do
        B[i][j] = A[i][j] + A[i][0] * by
      end
    end,
  }
end)
]]
local path = shell.write(folder .. "/rows.lua", source)

local function design() return dofile(path) end

-- A folder of programs {name = body} on PATH: what the environment of a command is to be.
local number = 0
local function fakes(programs, more)
  number = number + 1
  local bin = ("%s/bin%d"):format(folder, number)
  for name, body in pairs(programs) do
    local file = bin .. "/" .. name
    os.execute("mkdir -p " .. shell.quote(file:match "^(.*)/"))
    shell.write(file, "#!/bin/sh\n" .. body)
    os.execute("chmod +x " .. shell.quote(file))
  end
  return ("PEANO=%s PATH=%s:%s %s"):format(shell.quote(bin .. "/peano"), shell.quote(bin),
    shell.quote(os.getenv "PATH"), more or "")
end

-- What a session in this environment prints that writes the build, with `options` as text, to a folder.
local function write(environment, options, to, of)
  local script = shell.write(folder .. "/script.lua", ([[
    local m = dofile(%q):build {target = "npu", %s}
    local ok, said = pcall(m.write, m, %q)
    print(ok and said or tostring(said))
  ]]):format(of or path, options or "", to or folder .. "/out"))
  return (shell.output(("%s %s %s 2>&1"):format(environment, shell.quote(shell.program), shell.quote(script))))
end

local peano = [[
while [ $# -gt 0 ]; do [ "$1" = -o ] && : >"$2"; shift; done
]]
local aiecc = [[
printf '00000001\n' >insts.txt
pwd >design.xclbin
]]

t.test("files of a build", function()
  local m = design():build {target = "npu", tool = false}
  m:write(folder .. "/plain")
  for _, name in ipairs {"design.mlir", "design.generic.mlir", "kernels.cc", "Makefile", "host.cpp", "report.json",
    "schedule.lua", "data/by.txt", "data/A.txt", "data/B.txt", "data/B.want.txt"} do
    t.ok(shell.read(folder .. "/plain/" .. name), name)
  end
  t.eq(shell.read(folder .. "/plain/data/A.want.txt"), nil)
  local text = m.files["report.json"]:gsub("%[", "{"):gsub("%]", "}"):gsub('("[%w ]+"):', "[%1] =")
  local report = assert(load("return " .. text))()
  t.eq(report.device, "npu1")
  t.has(report.note, "No tool of the vendor")
  local cores = 0
  for _, tile in ipairs(report.tiles) do
    t.ok(tile.bytes[1] <= tile.bytes[2] or tile.row == 0, tile.name)
    cores = cores + (tile.row >= 2 and 1 or 0)
  end
  t.eq(cores, 2)
  t.eq(#report.objectfifos, 4)
  t.ok(report.kernels[1].line > 0, "no line")
  local s = assert(load(m.files["schedule.lua"]))()
  t.eq(s:build({target = "npu"}).files["design.mlir"], m.files["design.mlir"])
  t.ok(m.steps ~= "", "no steps")
end)

t.test("without a tool the build says what to call", function()
  t.has(write("", "", folder .. "/none"), "no tool of the vendor ran: aiecc.py is not on PATH; `make -C")
end)

t.test("Peano and aiecc are called", function()
  local log = folder .. "/calls"
  local note = ('echo "$0 $*" >>%s\n'):format(shell.quote(log))
  local environment = fakes {["peano/bin/clang++"] = note .. peano, ["aiecc.py"] = note .. aiecc}
  t.has(write(environment), "aiecc.py made design.xclbin")
  local calls = shell.read(log)
  t.has(calls, "clang++ --target=aie2-none-unknown-elf -O2 -std=c++20")
  t.has(calls, "--aie-generate-xclbin --no-compile-host --xclbin-name=design.xclbin")
  t.has(calls, "--npu-insts-name=insts.txt design.mlir")
  t.has(write(environment, "tool = false", folder .. "/off"), "no tool of the vendor ran")
  t.eq(shell.read(folder .. "/off/design.xclbin"), nil)
end)

t.test("errors of tools are told by the user's lines", function()
  local text = design():build({target = "npu"}).files
  local function line_of(name, what)
    local _, n = text[name]:sub(1, text[name]:find(what, 1, true)):gsub("\n", "")
    return n + 1
  end
  local at = line_of("design.mlir", "func.call @")
  local bad = ("echo 'design.mlir:%d:9: error: a bad call'\nexit 1\n"):format(at)
  local said = write(fakes({["peano/bin/clang++"] = peano, ["aiecc.py"] = bad}), "", folder .. "/bad1")
  t.has(said, "aiecc.py failed")
  t.has(said, "rows.lua:7:")
  t.has(said, "a bad call")
  at = line_of("kernels.cc", "void rows_0")
  bad = ("echo 'kernels.cc:%d:5: error: no such thing' >&2\nexit 1\n"):format(at + 2)
  said = write(fakes({["peano/bin/clang++"] = bad, ["aiecc.py"] = aiecc}), "", folder .. "/bad2")
  t.has(said, "rows.lua:7:")
  t.has(said, "no such thing")
end)

t.test("a tool that hangs", function()
  local said = write(fakes {["peano/bin/clang++"] = peano, ["aiecc.py"] = "sleep 60\n"}, "seconds = 1",
    folder .. "/late")
  t.has(said, "aiecc.py did not end within 1 s")
end)

-- An environment in which XRT is the stub card, which runs the design beside design.xclbin.
local function card()
  local xrt = folder .. "/xrt"
  shell.output(("mkdir -p %s/lib && ln -sfn %s/tests/npu/card %s/include && ar rc %s/lib/libxrt_coreutil.a"):format(
    shell.quote(xrt), shell.quote(shell.here), shell.quote(xrt), shell.quote(xrt)))
  local program = ("%s %s"):format(shell.program, shell.here .. "/tests/npu/card/card.lua")
  return fakes({["peano/bin/clang++"] = peano, ["aiecc.py"] = aiecc, ["xrt-smi"] = ""},
    ("XRT=%s CARD=%s"):format(shell.quote(xrt), shell.quote(program)))
end

t.test("the host program runs on a card that interprets, and compares", function()
  local environment = card()
  t.has(write(environment, "", folder .. "/card"), "the card gave the bits that are wanted")
  t.has(shell.read(folder .. "/card/xrt-smi.log"), "PASS")
  local out = shell.quote(folder .. "/card")
  local want = folder .. "/card/data/B.want.txt"
  local words = shell.read(want)
  shell.write(want, (words:gsub("%x%x%x%x\n$", "7777\n")))
  local said, status = shell.output(("%s make -C %s run 2>&1"):format(environment, out))
  t.ok(status ~= 0, "a wrong word passed")
  t.has(said, "B: element 127 differs")
  t.has(said, "FAIL")
  shell.write(want, words)
  t.eq(select(2, shell.output(("%s make -C %s run 2>&1"):format(environment, out))), 0)
end)

t.test("several launches: the program's own array stays on the card", function()
  local chain = shell.write(folder .. "/chain.lua", [[
local tide = require "tide"
local i16, task, grid = tide.i16, tide.task, tide.grid
local double = tide.design(function(d)
  d.rows = task {map = {2}, x = i16[8][4]:layout "S0R", y = i16[8][4]:layout "S0R", function(x, y)
    for i, j in grid(4, 4) do y[i][j] = x[i][j] * 2 end
  end}
end)
return tide.kernel {name = "chain", A = i16[8][4], B = i16[8][4], function(A, B)
  local between = i16[8][4]()
  double(A, between)
  double(between, B)
end}
]])
  local out = folder .. "/launches"
  t.has(write(card(), "", out, chain), "the card gave the bits that are wanted")
  t.has(shell.read(out .. "/host.cpp"), '{"between", 32, 2, true, true},')
  t.ok(not io.open(out .. "/data/between.txt"), "data of an array that stays on the card")
end)

t.test("the user's data are the test bench's", function()
  local A, B = tide.i16[8][16](2), tide.i16[8][16](0)
  local m = design():build {target = "npu", tool = false, inputs = {3, A, B}}
  m:write(folder .. "/given")
  t.eq(shell.read(folder .. "/given/data/A.txt"):sub(1, 10), "0002\n0002\n")
  t.eq(shell.read(folder .. "/given/data/B.want.txt"):sub(1, 10), "0008\n0008\n")
end)

t.done()
