-- complete.lua - completion: names, members, options, files, and inside strings what the very call can take; no user
-- code runs for it.
local t = require "tap"
local shell = require "shell"
local session = require "tide.session"

session.open()
assert(session.run [[
local M, N, K = 4, 4, 8
gemm = tide.kernel { A = i8[M][K], B = i8[K][N], C = i16[M][N], function(A, B, C)
  for i, j in grid(M, N, "PE") do for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end end
end }
s = tide.schedule(gemm)
box = { s = s, inner = { gemm = gemm } }
d = tide.design(function(d)
  local Z = d:stream(i8, {4, depth = 2})
  d.producer = tide.task { map = {4}, A = i8[4]:layout "S0", function(A, t) Z[t]:put(A[0]) end }
  d.consumer = tide.task { map = {4}, B = i8[4]:layout "S0", function(B, t) B[0] = Z[t]:get() end }
end)
sd = tide.schedule(d)
x = i8[4](0)
]])

-- What could stand at the end of a text, as one line.
local function offers(text) return table.concat(session.complete(text), " ") end

-- States that each text offers just the words.
local function offer(cases)
  for text, want in pairs(cases) do t.eq(offers(text), want, text) end
end

t.test("loops, bands, arrays of the very schedule, by the kind of the argument", function()
  offer {
    ['s:split("'] = "i j k", ["s:split('j"] = "j", ['s:unfold("'] = "PE i j k", ['s:partition("'] = "A B C",
    ['s:buffer_at("A", "'] = "i j k", ['s:buffer_at("'] = "A B C", ['s:reorder("k", "'] = "i j k",
    ['s:split "'] = "i j k", ['box.s:split("'] = "i j k", ['s:nothing("'] = "", ['gemm:split("'] = "i j k",
  }
end)

t.test("tasks, streams, kernels", function()
  offer { ['sd:depth("'] = "Z", ['sd:chain("'] = "consumer producer", ['sd:chain("producer", "c'] = "consumer",
    ['sd:bundle("'] = "consumer producer", ['sd:split("'] = "", ['sd:place("p'] = "producer" }
end)

t.test("words and names of options", function()
  offer { ['s:split("k", 4, {'] = "names tail", ['s:split("k", 4, {tail = "'] = "cut guard perfect",
    ['s:split("k", 4, {names = {"'] = "", ['s:split("k", 4, {tail = "cut", n'] = "names",
    ['s:partition("A", 0, {kind = "c'] = "complete cyclic", ['random(i8[4], 1, {'] = "hi lo",
    ['gemm:build {target = "'] = "cpu hls", ['gemm:build {tar'] = "target", ['x:allclose(x, {a'] = "atol" }
  t.has(offers 'gemm:build {target = "cpu", ', "threads")
end)

t.test("in a broken or unfinished line, over several lines, in chains", function()
  offer {
    ['for x = = 3 do s:split("'] = "i j k", ['s:split("k", 2):reorder("'] = "i j k",
    ['s\n  :split("k", 2)\n  :unroll "'] = "i j k", ['tide.schedule(gemm):split("'] = "i j k",
    ['print((s:split("'] = "i j k", ['-- it\'s\ns:split("'] = "i j k", ['y = "unended\ns:split("'] = "i j k",
    ['y = [[ a "quote ]] s:split("'] = "i j k", ['f({1, s:split("'] = "i j k", [')} s:split("'] = "i j k",
    ['s:can("sp'] = "split", ['s:can("split", "'] = "i j k", ['s:fork():split("'] = "i j k",
    ['x = {k = s:split("'] = "i j k", ['(s):split("'] = "i j k",
  }
end)

t.test("nothing in comments, long strings, numbers, and strings of which nothing is known", function()
  offer { ['-- s:split("'] = "", ['y = [[s:split("'] = "", ["x = 0x"] = "", ['y = "'] = "", ['print("'] = "",
    ["nosuch."] = "", ["nosuch:"] = "", ["1 .. "] = offers "" }
end)

t.test("names, fields and methods", function()
  offer { ["gem"] = "gemm", ["whi"] = "while", ["box."] = "inner s", ["box.inner.g"] = "gemm", ["x."] = "shape type",
    ["x:allc"] = "allclose", ["s:reor"] = "reorder", ["tide.sche"] = "schedule", ["math.fl"] = "floor",
    ["('a'):rep"] = "", ['"a":up'] = "upper", ["gemm.s"] = "sizes", ["y = x:eq"] = "equal", ["a..gem"] = "gemm" }
end)

t.test("commands, their arguments, help", function()
  offer { [":re"] = "reload", [":set "] = "check ghost progress trace", [":set ghost "] = "off on",
    [":check q"] = "quick", [":quit "] = "", [":log gem"] = "gemm", ["?reord"] = "reorder",
    ["?:ti"] = "time", [":diff s, s"] = offers "s",
    [':time s:split("'] = "i j k", [":nosuch x"] = "" }
end)

t.test("files in strings of functions that take them, and in commands", function()
  local home = os.getenv "TMPDIR" .. "/files"
  shell.plant(home, { ["a.lua"] = "", ["b.npy"] = "", ["sub/c.lua"] = "", [".hidden"] = "" })
  for _, before in ipairs { 'dofile("', "tide.load('", "io.open('", ":save ", ":reload ", "!ls ", 's:html "' } do
    t.eq(offers(before .. home .. "/"), home .. "/a.lua " .. home .. "/b.npy " .. home .. "/sub/", before)
    t.eq(offers(before .. home .. "/s"), home .. "/sub/")
  end
  t.eq(offers(":save " .. home .. "/."), home .. "/.hidden")
  t.eq(offers(":save /no/such/"), "")
  shell.output("rm -rf " .. shell.quote(home))
end)

t.test("no user code runs, whatever is on the way", function()
  local ran = false
  local function trap() ran = true return trap end
  local traps = {}
  for _, event in ipairs { "__index", "__newindex", "__call", "__len", "__eq", "__concat", "__tostring", "__name",
    "__gc", "__close", "__pairs", "__metatable" } do traps[event] = trap end
  _G.trapped = setmetatable({ inner = setmetatable({}, traps) }, traps)
  _G.methods = debug.setmetatable(io.tmpfile(), setmetatable({}, traps))
  setmetatable(_G, traps)
  for _, text in ipairs { "trapped.", "trapped:", "trapped.inner.x", 'trapped:split("', 'trapped.a.b:split("',
    "trapped(", "trapped[", 'trapped.inner:build {target = "', "methods:", "methods.", 'methods:split("', "unknown.",
    "", 'unknown:split("', ":log trapped.", "?trapped" } do session.complete(text) end
  debug.setmetatable(_G, nil)
  t.eq(ran, false)
  _G.trapped, _G.methods = nil, nil
end)

t.test("any text, cut anywhere, completes to something", function()
  local text = 's:split("k", 4, {tail = "cut"}) -- [[ ]] \\" \' [==[ x ]==] {([ f"x" g{} :: a.b:c"\0\255\n' ..
    ("("):rep(300)
  for i = 0, #text do t.ok(type(session.complete(text, i)) == "table") end
  t.ok(#session.complete(("x = {"):rep(5000)) > 0)
end)

t.done()
