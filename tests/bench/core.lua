-- The figures of the core: legality, capture, edit to runnable; verify.lua has those of proofs.
local tide = require "tide"
local b = require "bench"
local polybench = require "polybench"
local i32 = tide.i32

-- Every step that can be tried on a kernel: {primitive, arguments..}.
local function tries(s)
  local list, loops = {}, s:loops()
  for i, loop in ipairs(loops) do
    list[#list + 1] = {"split", loop, 4}
    list[#list + 1] = {"parallel", loop}
    list[#list + 1] = {"pipeline", loop}
    list[#list + 1] = {"unroll", loop}
    if loops[i + 1] then
      list[#list + 1] = {"reorder", loops[i + 1], loop}
      list[#list + 1] = {"fuse", loop, loops[i + 1]}
    end
  end
  return list
end

local asks = {reorder = true, fuse = true, parallel = true}
local times, asked, worst, slowest, accepted = {}, {}, 0, nil, 0
for _, name in ipairs(polybench.names) do
  local k = polybench.make(name, {size = "medium"})
  for _, step in ipairs(tries(tide.schedule(k))) do
    local s = tide.schedule(k)
    local ms = b.once(function()
      if pcall(s[step[1]], s, table.unpack(step, 2)) then accepted = accepted + 1 end
    end)
    times[#times + 1] = ms
    if asks[step[1]] then asked[#asked + 1] = ms end
    if ms > worst then worst, slowest = ms, name .. ": " .. table.concat(step, " ") end
  end
end
b.row(("primitive with legality: %d steps, %d legal"):format(#times, accepted), (b.spread(times)), "ms", 5,
  "Exo 28-65 ms")
b.row(("those that ask for dependences: %d steps"):format(#asked), (b.spread(asked)), "ms", 5)
b.row("the slowest, " .. slowest, worst, "ms", 30, "Exo 221 ms")

local lines = {"local tide = require 'tide'\nreturn function() return tide.kernel {A = tide.i32[1000], function(A)\n"}
for i = 0, 999 do lines[#lines + 1] = ("  A[%d] = A[%d] * 3 + %d\n"):format(i, (i * 7) % 1000, i) end
lines[#lines + 1] = "end} end\n"
local make = assert(load(table.concat(lines), "=thousand"))()
make()
b.row("capture of 1,000 statements", b.median(9, make), "ms", 10)

local tide_path = arg[-1]
b.row("start to exit of an empty script", b.command(9, ("'%s' -e ''"):format(tide_path)), "ms", 20)

-- A kernel that no cache has seen.
local salt = os.time() * 1000
local function fresh()
  salt = salt + 1
  local n = salt
  local k = tide.kernel {A = i32[64], function(A)
    for i = 0, 63 do A[i] = A[i] * 3 + n % 1000003 end
  end}
  return k
end
local A = i32[64](0)
b.row("edit to runnable, in process", b.median(9, function() fresh()(A) end), "ms", 2, "clang 70, gcc 42 ms")
local source = [[local tide = require "tide"
local A = tide.i32[64](0)
tide.schedule(tide.kernel {A = tide.i32[64], function(A)
  for i = 0, 63 do A[i] = A[i] * 3 + 1 end
end}):build {target = "cpu", tier = "cc"}(A)]]
b.row("the same with the system's compiler, from start", b.fresh(9, source), "ms", 60,
  ("the compiler on an empty file %.0f ms"):format(b.compiler()))
local again = fresh()
again(A)
b.row("a call that is compiled already", b.median(9, function() again(A) end), "ms", 0.5)

b.done "core"
