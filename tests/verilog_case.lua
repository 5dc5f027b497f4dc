-- verilog_case.lua - a program built for Verilog and for the timed run: the text is clean under
-- Verilator's and yosys' eyes, the run gives the same values in the same cycles.
--   local case = require "verilog_case"
--   case.run(kernel, {A, B}, {sim = "verilator"})
local t = require "tap"
local tide = require "tide"
local case = {}

-- Whether a program is on PATH.
function case.has(program)
  return os.execute("command -v " .. program .. " >/dev/null 2>&1") == true
end

-- What a command says, and whether it ended well.
local function said(command)
  local f <close> = assert(io.popen(command .. " 2>&1; echo $?"))
  local text = f:read "a"
  return text:match "(%d+)%s*$" == "0", text:sub(1, 400)
end

-- Copies of arguments.
local function copies(args)
  local out = {}
  for i, v in ipairs(args) do out[i] = math.type(v) and v or v:copy() end
  return out
end

-- States that the text of m, written to a new folder, has nothing that linters tell.
function case.lint(m)
  local dir = t.tmp "verilog"
  os.execute(("rm -rf %s"):format(dir))
  m:write(dir)
  local top = m.source:match "module ([%w_]+)"
  local files = io.open(dir .. "/files.f"):read("a"):gsub("\n", " ")
  if case.has "verilator" then
    local good, text = said(("cd %s && verilator --lint-only -Wall --top-module %s %s"):format(dir, top, files))
    t.ok(good, text)
  end
  if case.has "yosys" then
    local script = ("read_verilog -sv %s; hierarchy -check -top %s; proc; check -assert"):format(files, top)
    local good, text = said(("cd %s && yosys -q -p '%s'"):format(dir, script))
    t.ok(good, text)
  end
end

-- States that p runs as Verilog as it does with a clock; returns its cycles and the module.
function case.run(p, args, options)
  options = options or {}
  local device = options.device or "rtl"
  local m = p:build {target = "verilog", sim = options.sim or "icarus", device = device}
  local timed = p:build {target = "cpu", timed = true, device = device, math = "core"}
  local x, y = copies(args), copies(args)
  timed(table.unpack(x))
  m(table.unpack(y))
  for i, v in ipairs(x) do
    if not math.type(v) then t.ok(v:equal(y[i]), ("argument %d: %s, not %s"):format(i, y[i], v)) end
  end
  t.eq(m.report.cycles, timed.report.cycles)
  case.lint(m)
  return m.report.cycles, m
end

-- A build of p for the CPU, timed, which on a call runs it as Verilog, too; the cycles of that in ran[1].
local function both(p, sim, ran)
  local m = p:build {target = "cpu", timed = true, math = "core"}
  local function run(_, ...)
    local list = table.pack(...)
    for i = 1, list.n do
      if type(list[i]) == "userdata" then list[i] = list[i]:copy() end
    end
    local v = p:build {target = "verilog", sim = sim, seconds = 600}
    v(table.unpack(list, 1, list.n))
    ran[1] = v.report.cycles
    return m(...)
  end
  return setmetatable({}, {__call = run, __index = function(_, name) return m[name] end})
end

-- Runs an example with `sizes` as its arguments and edits {pattern, replacement} that each fit once and say both(p)
-- where p is to run as Verilog in `sim`; the cycles of the last such run.
function case.example(name, sizes, edits, sim)
  local text = io.open("examples/" .. name .. ".lua"):read "a"
  for _, edit in ipairs(edits) do
    local edited, n = text:gsub(edit[1], edit[2])
    t.eq(n, 1, edit[1])
    text = edited
  end
  local print_, arg_, ran = print, arg, {}
  _G.print, _G.arg = function() end, sizes -- luacheck: ignore
  function _G.both(p) return both(p, sim or "icarus", ran) end -- luacheck: ignore
  local ok, e = pcall(assert(load(text, "@" .. name)))
  _G.print, _G.arg, _G.both = print_, arg_, nil -- luacheck: ignore
  t.ok(ok, tostring(e))
  return ran[1]
end

-- The array of example 30: P x P elements for K products each, streams of that depth; its design and arguments.
function case.array(P, K, depth)
  local d = tide.design(function(d)
    local a, b = d:stream(tide.i8, {P, P + 1}, {depth = depth}), d:stream(tide.i8, {P + 1, P}, {depth = depth})
    d.feed_a = tide.task {map = {P}, A = tide.i8[P][K],
      function(A, i) for k in tide.grid(K) do a[i][0]:put(A[i][k]) end end}
    d.feed_b = tide.task {map = {P}, B = tide.i8[K][P],
      function(B, j) for k in tide.grid(K) do b[0][j]:put(B[k][j]) end end}
    d.pe = tide.task {map = {P, P}, C = tide.i32[P][P],
      function(C, i, j)
        local c = tide.i32(0)
        for _ in tide.grid(K, "k") do
          local x, y = a[i][j]:get(), b[i][j]:get()
          c = c + x * y
          if j < P - 1 then a[i][j + 1]:put(x) end
          if i < P - 1 then b[i + 1][j]:put(y) end
        end
        C[i][j] = c
      end}
  end)
  return d, {tide.random(tide.i8[P][K], 1), tide.random(tide.i8[K][P], 2), tide.i32[P][P](0)}
end

return case
