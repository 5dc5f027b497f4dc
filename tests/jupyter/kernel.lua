-- kernel.lua - the Jupyter kernel, driven by jupyter_client: its installation, and the tests beside this file.
local t = require "tap"
local shell = require "shell"
local quote = shell.quote

local tide = shell.output("realpath " .. quote(arg[-1])):match "[^\n]+"
local folder = t.tmp "jupyter"

-- What a command prints, both streams, and its exit status.
local function run(command) return shell.output(command .. " 2>&1") end

-- The files below a folder, by path.
local function files_below(path)
  return (shell.output(("cd %s && find . -type f | LC_ALL=C sort"):format(quote(path))))
end

t.test("--install writes where Jupyter looks", function()
  local files = "./kernels/tide/kernel.json\n./kernels/tide/logo-svg.svg\n"
  t.has(run(("%s kernel --install --prefix %s"):format(quote(tide), quote(folder))),
    "wrote " .. folder .. "/share/jupyter/kernels/tide/kernel.json\n")
  t.eq(files_below(folder .. "/share/jupyter"), files)
  t.has(shell.read(folder .. "/share/jupyter/kernels/tide/kernel.json"), tide)
  run(("JUPYTER_DATA_DIR=%s/data %s kernel --install"):format(quote(folder), quote(tide)))
  t.eq(files_below(folder .. "/data"), files)
  run(("env -u JUPYTER_DATA_DIR XDG_DATA_HOME=%s/x %s kernel --install --user"):format(quote(folder), quote(tide)))
  t.eq(files_below(folder .. "/x/jupyter"), files)
end)

t.test("wrong words, a folder that cannot be made, and a connection file that is none", function()
  for words in ("-; --install --prefix; --install --user x; --install x; a b; --instal"):gmatch "[^;]+" do
    t.eq(select(2, run(quote(tide) .. " kernel " .. words)), 2)
  end
  local out, status = run(quote(tide) .. " kernel --install --prefix /dev/null")
  t.eq(status, 1)
  t.has(out, "cannot make /dev/null/share/jupyter/kernels/tide")
end)

if run(quote(tide) .. " -e 'assert(not require [[tide.jupyter]].missing())'") ~= "" then
  t.skip("the kernel", "jupyter.so is not built (make kernel)")
  t.done()
end

t.test("a connection file that is none", function()
  local path = t.tmp "connection.json"
  local wrong = { [""] = "expected", ["{}"] = "no place for the channel of shell_port", ["["] = "expected",
    ['{"key": "k", "signature_scheme": "hmac-md5"}'] = "not hmac-md5", ['{"transport": "udp"}'] = "shell_port",
    ['{"ip": "999.0.0.1", "shell_port": 1, "control_port": 2, "stdin_port": 3, "iopub_port": 4, "hb_port": 5}'] =
      "tcp://999.0.0.1:1: " }
  for text, why in pairs(wrong) do
    shell.write(path, text)
    local out, status = run(("%s kernel %s"):format(quote(tide), quote(path)))
    t.eq(status, 1)
    t.has(out, why)
  end
end)

t.test("a library that is missing is named, with what to install", function()
  local none = folder .. "/none"
  shell.plant(none, { ["libzmq.so.5"] = "" })
  local out, status = run(("LD_LIBRARY_PATH=%s %s kernel x.json"):format(quote(none), quote(tide)))
  t.eq(status, 1)
  t.has(out, "libzmq.so.5")
  t.has(out, "apt-get install libzmq5 libjansson4 libssl3")
  t.eq(run(("LD_LIBRARY_PATH=%s %s -e 'print(tide.features().notebooks)'"):format(quote(none), quote(tide))), "false\n")
end)

t.test("the program itself needs none of the libraries", function()
  local needs = shell.output("ldd " .. quote(tide))
  for library in ("zmq jansson crypto cmark"):gmatch "%S+" do t.ok(not needs:find(library, 1, true), library) end
  t.eq(run(quote(tide) .. " -e 'print(tide.features().notebooks)'"), "true\n")
end)

-- The python3 that has Debian's packages, or nil.
local function find_python()
  for _, python in ipairs { "python3", "/usr/bin/python3" } do
    if select(2, run(python .. " -c 'import jupyter_kernel_test, nbconvert'")) == 0 then return python end
  end
end

local python = find_python()

-- Runs a file of tests in Python; each of its lines of TAP is a test here.
local function run_python(name)
  if not python then
    t.skip(name, "python3-jupyter-kernel-test or python3-nbconvert is not installed")
    return
  end
  local command = ("JUPYTER_PATH=%s/share/jupyter JUPYTER_CONFIG_DIR=%s IPYTHONDIR=%s PYTHONWARNINGS=ignore " ..
    "PYTHONDONTWRITEBYTECODE=1 TMPDIR=%s %s tests/jupyter/%s.py %s 2>%s"):format(quote(folder), quote(folder),
    quote(folder), quote(folder), python, name, quote(tide), quote(folder .. "/errors"))
  local out, notes, n = shell.output(command), "", 0
  for line in out:gmatch "[^\n]+" do
    local state, what = line:match "^(%l*%s?ok) %d+ %- (.*)$"
    if state then
      t.test(name .. ": " .. what, function() t.ok(state == "ok", notes) end)
      notes, n = "", n + 1
    else
      notes = notes .. line .. "\n"
    end
  end
  t.test(name .. ": all tests ran", function()
    t.ok(n > 0 and out:find("\n1..", 1, true), out .. (shell.read(folder .. "/errors") or ""))
  end)
end

for _, name in ipairs { "conformance", "cells", "wire", "notebooks" } do run_python(name) end
shell.output("rm -rf " .. quote(folder))
t.done()
