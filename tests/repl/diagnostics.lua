-- diagnostics.lua - what the program tells other programs: errors as JSON, the program after each step in files.
local t = require "tap"
local shell = require "shell"
local quote = shell.quote

local program = quote(arg[-1])
local script = t.tmp "design.lua"

local wrong = [[
local tide = require "tide"
local i8, grid = tide.i8, tide.grid
local k = tide.kernel { S = i8[8][8], function(S)
  for i, j in grid({1, 8}, {0, 7}) do S[i][j] = S[i - 1][j + 1] end
end }
local s = tide.schedule(k)
s:split("i", 2, { names = { "o", "p" } })
s:reorder("j", "p")
]]

-- Runs the program with options and a script; returns its standard output, its standard error and its exit status.
local function run(options, text)
  local errors = t.tmp "errors"
  shell.write(script, text)
  local out, status = shell.output(("%s %s %s 2>%s"):format(program, options, quote(script), quote(errors)))
  return out, shell.read(errors), status
end

-- Lines of JSON as Python reads them, each shown by a Python expression on d.
local function read_json(text, expression)
  local path = t.tmp "lines"
  shell.write(path, text)
  return (shell.output(("python3 -c %s <%s 2>&1"):format(quote("import json, sys\nfor line in sys.stdin:\n  " ..
    "d = json.loads(line)\n  print(" .. expression .. ")"), quote(path))))
end

t.test("an error is one line of JSON with its place, kind, code, notes and witness", function()
  local out, errors, status = run("--diagnostics=json", wrong)
  t.eq({ out, status }, { "", 1 })
  t.eq(read_json(errors, 'd["file"] == "' .. script .. '", d["line"], d["column"], d["kind"], d["code"], d["prim"]'),
    "True 8 3 illegal dependence reorder\n")
  t.eq(read_json(errors, 'd["message"], d["notes"][0]["line"], d["witness"]["element"], d["witness"]["first"]["line"]'),
    "the order j outside p breaks a dependence on 'S' 4 S[1][1] 4\n")
end)

t.test("help is there when the error has it, and not otherwise", function()
  local twin = wrong:gsub('"j", "p"', '"j", "pp"')
  local _, errors = run("--diagnostics json", twin)
  t.eq(read_json(errors, 'd["kind"], "help" in d'), "usage True\n")
  _, errors = run("--diagnostics=json", wrong)
  t.eq(read_json(errors, '"help" in d'), "False\n")
end)

t.test("errors of plain Lua, and text that is not UTF-8", function()
  local _, errors = run("--diagnostics=json", "\nlocal x = nil + 1")
  t.eq(read_json(errors, 'd["line"], d["kind"], d["message"]'),
    "2 lua this value is nil: arithmetic takes numbers and tensors\n")
  _, errors = run("--diagnostics=json", "x x")
  t.eq(read_json(errors, 'd["line"], d["kind"]'), "1 lua\n")
  _, errors = run("--diagnostics=json", "error 'a\\xff\"\\n\\1b'")
  t.eq(read_json(errors, 'd["line"], repr(d["message"])'), "1 'a\239\191\189\"\\n\\x01b'\n")
end)

t.test("inputs of the prompt, and tide check", function()
  local input = t.tmp "input"
  shell.write(input, "nil + 1\ni8[\n\n]\n40 + 2\n")
  local errors = t.tmp "errors"
  local out = shell.output(("%s --diagnostics=json -i <%s 2>%s"):format(program, quote(input), quote(errors)))
  t.eq(out, "42\n")
  t.eq(read_json(shell.read(errors), 'd["file"], d["kind"]'), "tide:1 lua\ntide:2 usage\n")
  shell.write(script, wrong)
  shell.output(("%s --diagnostics=json check %s 2>%s"):format(program, quote(script), quote(errors)))
  t.eq(read_json(shell.read(errors), 'd["code"]'), "dependence\n")
end)

t.test("--dump-ir: the program as captured and after each step, as Lua that loads", function()
  local folder = t.tmp "dump"
  run("--dump-ir=" .. quote(folder), wrong)
  t.eq(shell.output("ls " .. quote(folder)), "0001_k_captured.lua\n0002_k_split.lua\n")
  local text = shell.read(folder .. "/0002_k_split.lua")
  t.has(text, '-- split("i", 2, {names = {"o", "p"}})\n')
  t.eq(tostring(t.ok(load(text))()), (text:gsub("^[^\n]*\n", "")))
end)

t.test("--dump-ir: what each pass makes of a program that is built", function()
  local folder = t.tmp "passes"
  run("--dump-ir=" .. quote(folder), [[
local tide = require "tide"
local i32, grid = tide.i32, tide.grid
local d = tide.design(function(d)
  local z = d:stream(i32)
  d.a = tide.task {A = i32[8], function(A) for i in grid(8) do z:put(A[i]) end end}
  d.b = tide.task {B = i32[8], function(B) for i in grid(8) do B[i] = z:get() end end}
end)
tide.schedule(d):build {target = "hls", testbench = false}
]])
  t.eq(shell.output("ls " .. quote(folder)), "0001_d_captured.lua\n0002_d_networks.lua\n0003_d_calls.lua\n")
  t.has(shell.read(folder .. "/0002_d_networks.lua"), "a(A, z)")
end)

t.test("--dump-ir: a folder that cannot be made", function()
  local _, errors, status = run("--dump-ir=/no/such/folder", "print 'not run'")
  t.eq(status, 1)
  t.has(errors, "--dump-ir: /no/such/folder: No such file or directory")
end)

t.test("--dump-ir: a file that cannot be written ends the step", function()
  local folder = t.tmp "dump"
  shell.plant(folder, { ["0002_k_split.lua/x"] = "" })
  local _, errors, status = run("--diagnostics=json --dump-ir=" .. quote(folder), wrong)
  t.eq(status, 1)
  t.eq({ read_json(errors, 'd["code"], d["line"], end=""'):match "(%w+) (%d+)" }, { "dump", "7" })
end)

t.done()
