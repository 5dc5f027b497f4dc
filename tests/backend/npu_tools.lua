-- npu_tools.lua - what an NPU build cannot run: kernels that do not load, functions without a model, blocks whose
-- number data decides; each beside what runs.
local shell = require "shell"
local npu_case = require "npu_case"
local t = require "tap"
local tide = require "tide"
local i32, task, grid = tide.i32, tide.task, tide.grid

if os.execute "command -v g++ >/dev/null 2>&1" ~= true then t.skip_all "g++ is not here" end

-- A host task hands three blocks to a core, which doubles them.
local function line()
  return load([[local tide = ...
    local i32, task, grid = tide.i32, tide.task, tide.grid
    return tide.design(function(d)
      local Z, Y = d:stream(i32[4], {block = true}), d:stream(i32[4], {block = true})
      d.go = task { --@ host
        A = i32[3][4], function(A)
          for k in grid(3) do
            local o = Z:slot()
            for i in grid(4) do o[i] = A[k][i] end
            Z:put(o)
          end
        end}
      d.core = task {function()
        for k in grid(3) do
          local x, o = Z:get(), Y:slot()
          for i in grid(4) do o[i] = x[i] * 2 end
          Y:put(o)
        end
      end}
      d.back = task { --@ host
        B = i32[3][4], function(B)
          for k in grid(3) do
            local x = Y:get()
            for i in grid(4) do B[k][i] = x[i] end
          end
        end}
    end)]], "=line")
end

local script = [[
local tide = require "tide"
local d = ...
local m = d:build {target = "npu"}
local A, B = tide.random(tide.i32[3][4], 1), tide.i32[3][4](0)
local ok, e = pcall(m, A, B)
print(ok and "ran" or e.code, ok and (B[2][1] - 2 * A[2][1]) % (1 << 32) or e)
]]

t.test("the text that the machine's test reads is what is built", function()
  t.eq(line()(tide):build({target = "npu"}).files["design.generic.mlir"], shell.read "tests/npu/line.mlir")
end)

t.test("kernels that cannot be loaded", function()
  local dir = t.tmp "npu_tools"
  os.execute(("mkdir -p %s"):format(shell.quote(dir)))
  shell.write(dir .. "/cxx", [[#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = -o ] && : >"$2"; shift; done
]])
  os.execute(("chmod +x %s"):format(shell.quote(dir .. "/cxx")))
  local d = line()(tide)
  shell.write(dir .. "/run.lua", ("local d = (load %q)(require 'tide')\n"):format(tostring(d)) ..
    script:gsub("local d = %.%.%.\n", ""))
  local function says(cxx)
    return shell.output(("TIDE_CXX=%s TIDE_CACHE=%s %s %s 2>&1"):format(shell.quote(cxx), shell.quote(dir),
      shell.quote(shell.program), shell.quote(dir .. "/run.lua")))
  end
  t.has(says(dir .. "/cxx"), "npu-load")
  os.execute(("rm -f %s/*.so"):format(shell.quote(dir)))
  t.has(says "g++", "ran\t0")
end)

t.test("a function without a model, and a kernel", function()
  local foreign = tide.extern {library = "libm.so.6", symbol = "abs", i32(i32)}
  local d = npu_case.around("Z, Y", [[
      d.core = task {function()
        local x, o = Z:get(), Y:slot()
        for i in grid(4) do o[i] = f(x[i]) end
        Y:put(o)
      end}]])
  t.fails(function() d(tide, foreign):build {target = "npu"} end, {code = "npu-extern", match = "has no model to run"})
end)

t.test("data that decides how often blocks move", function()
  local d = tide.design(function(d)
    local Z, Y = d:stream(i32[4], {block = true}), d:stream(i32[4], {block = true})
    d.go = task {A = i32[3][4], function(A) --@ host
      for k in grid(3) do
        local o = Z:slot()
        for i in grid(4) do o[i] = A[k][i] end
        Z:put(o)
      end
    end}
    d.core = task {function()
      local n = Z:get()[0]
      for k = 0, n do -- luacheck: ignore 213
        local x, o = Z:get(), Y:slot()
        for i in grid(4) do o[i] = x[i] * 2 end
        Y:put(o)
      end
    end}
    d.back = task {B = i32[3][4], function(B) --@ host
      for k in grid(3) do
        local x = Y:get()
        for i in grid(4) do B[k][i] = x[i] end
      end
    end}
  end)
  t.fails(function() d:build {target = "npu"} end, {code = "npu-data"})
end)

t.done()
