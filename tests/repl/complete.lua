-- complete.lua - completion: names, members, options, files, and inside strings what the very call can take; no user
-- code runs for it.
local t = require "tap"
local shell = require "shell"
local session = require "tide.session"
local tide = require "tide"

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

-- What an argument of each kind, in the words of the registry, can be on three schedules: of a kernel, of one that
-- calls kernels, and of a design. Names in order of their bytes.
assert(session.run [[
add1 = tide.kernel { X = i8[4], Y = i8[4], function(X, Y) for a = 0, 3 do Y[a] = X[a] + 1 end end }
add2 = tide.kernel { X = i8[4], Y = i8[4], function(X, Y) for b = 0, 3 do Y[b] = X[b] + 2 end end }
both = tide.kernel { X = i8[4], Y = i8[4], function(X, Y) local T = i8[4](0) add1(X, T) add2(T, Y) end }
sc = tide.schedule(both)
grid2 = tide.design(function(d)
  local W = d:stream(i8, {2, 2})
  d.from = tide.task { map = {2, 2}, A = i8[2][2]:layout "S0S1", function(A, p, q) W[p][q]:put(A[0][0]) end }
  d.to = tide.task { map = {2, 2}, B = i8[2][2]:layout "S0S1", function(B, p, q) B[0][0] = W[p][q]:get() end }
  d.one = tide.task { C = i8[2], function(C) for c = 0, 1 do C[c] = 1 end end }
end)
sg = tide.schedule(grid2)
]])

local schedules = "box.s s sc sd sg"
local instances = "from[0][0] from[0][1] from[1][0] from[1][1] one to[0][0] to[0][1] to[1][0] to[1][1]"
local devices = "ice40 ideal kv260 pynq-z2 rtl u250 u280 u280-100 u280-csynth zcu104"
local facts = {
  loop = { s = "i j k", sc = "add1:a add2:b", sg = "one:c" },
  band = { s = "PE i j k", sc = "add1:a add2:b", sg = "one:c" },
  array = { s = "A B C", sc = "T X Y", sg = "A B C" },
  ["array local"] = { s = "", sc = "T", sg = "" },
  ["array local|stream"] = { s = "", sc = "T", sg = "W" },
  ["unit task"] = { s = "", sc = "", sg = "from one to" },
  ["unit kernel"] = { s = "", sc = "add1 add2", sg = "" },
  ["unit kernel|loop"] = { s = "i j k", sc = "add1 add1:a add2 add2:b", sg = "one:c" },
  ["unit task|kernel|loop"] = { s = "i j k", sc = "add1 add1:a add2 add2:b", sg = "from one one:c to" },
  unit = { s = "", sc = "add1 add2", sg = "from one to" },
  ["unit task|instance"] = { s = "", sc = "", sg = "from " .. instances:gsub("to.*$", "") .. "to to[0][0] to[0][1] " ..
    "to[1][0] to[1][1]" },
  ["unit instance"] = { s = "", sc = "", sg = instances },
  stream = { s = "", sc = "", sg = "W" },
  name = { s = "", sc = "", sg = "" },
  device = { s = devices, sc = devices, sg = devices },
}
facts["names task|instance"], facts.names = facts["unit task|instance"], facts.name
facts["names loop"], facts["names array"], facts["names stream"] = facts.loop, facts.array, facts.stream

-- What is typed at an argument that is no string.
local values = {
  type = "bf16 bool f16 f32 f64 i16 i32 i64 i8 index u16 u32 u64 u8",
  schedule = schedules:gsub("box.s ", ""), kernel = "add1 add2 both d gemm grid2", flag = "false true",
}

-- Calls that stand before argument `a` of primitive p: s:name("x", "x", or s:name({a =
local function before(s, p, a)
  local out = {}
  for _, x in ipairs(p.args) do
    if x == a then break end
    if x.place ~= "option" then out[#out + 1] = "'x'" end
  end
  local head = s .. ":" .. p.name .. "(" .. table.concat(out, ", ") .. (#out > 0 and ", " or "")
  return a.place == "option" and head .. "{" .. a.name .. " = " or head
end

-- The key of facts for an argument.
local function kind_of(a)
  local says = a.words and a.kind ~= "word" and a.kind ~= "counts"
  return says and a.kind .. " " .. a.words or a.kind
end

t.test("every argument of every primitive: exactly what it can be, on each kind of schedule", function()
  local n, all = 0, offers ""
  for _, p in ipairs(tide.registry().primitives) do
    for _, a in ipairs(p.args) do
      for _, s in ipairs { "s", "sc", "sg" } do
        local text, kind = before(s, p, a), kind_of(a)
        if a.kind == "word" then
          local words = {}
          for word in a.words:gmatch "[^|]+" do words[#words + 1] = word end
          table.sort(words)
          t.eq(offers(text .. '"'), table.concat(words, " "), text)
        elseif a.kind == "counts" then
          for word in a.words:gmatch "[^|]+" do t.has(offers(text .. "{"), word) end
        elseif a.kind == "int" or a.kind == "ints" or a.kind == "number" or a.kind == "pairs" then
          t.eq(offers(text), all, text)
        elseif values[a.kind] then
          t.eq(offers(text), values[a.kind], text)
        else
          t.eq(offers(text .. '"'), t.ok(facts[kind], kind .. " has no facts")[s], text)
        end
        n = n + 1
      end
    end
  end
  t.ok(n > 150, n)
end)

t.test("what is offered by name is found by the step, and other names are not", function()
  local unknown = { ["no-loop"] = true, ["no-array"] = true, ["no-task"] = true, ["no-stream"] = true,
    ["no-kernel"] = true, ["no-band"] = true, ["no-unit"] = true, instance = true }
  local n = 0
  for _, p in ipairs(tide.registry().primitives) do
    local a = p.args[1]
    for _, s in ipairs(facts[kind_of(a)] and a.place ~= "option" and { "sc", "sg" } or {}) do
      for name in facts[kind_of(a)][s]:gmatch "%S+" do
        local _, e = _G[s]:can(p.name, name, table.unpack(({ split = { 2 }, unify = { "add2", 2 }, chain = { "to" },
          place = { { 0, 0 } }, depth = { 3 }, pack = { 0, 2 }, reshape = { { 2, 2 } }, retype = { tide.i16 },
          buffer_at = { "add1:a" }, reuse_at = { "add1:a" }, relay = { "add2" }, compute_at = { "add2:b" },
          outline = { "fresh" }, hoist = { "add1:a" }, inject = { _G.add1 },
          deal = { "one:c" }, peel = { 1 }, shift = { 1 }, skew = { "add1:a", 1 } })[p.name] or {}))
        t.ok(not e or e.code ~= "argument", p.name .. ": " .. tostring(e))
        local is_unknown = e and unknown[e.code] and e.message:find("'" .. name .. "'", 1, true)
        t.ok(not is_unknown, p.name .. ": " .. tostring(e))
        n = n + 1
      end
    end
  end
  t.ok(n > 60, n)
end)

t.test("tasks, streams, kernels", function()
  offer { ['sd:depth("'] = "Z",
    ['sd:chain("producer", "c'] = "consumer consumer[0] consumer[1] consumer[2] consumer[3]",
    ['sd:bundle({"producer[0]", "producer[1'] = "producer[1]", ['sd:split("'] = "", ['sg:place("o'] = "one",
    ["s:compose(tide.sche"] = "schedule", ["s:compose(s"] = "s sc sd sg", ["s:compose(sel"] = "select",
    ['sg:search {pes = 2, ports = {inp'] = "inputs", ['sg:search {po'] = "ports",
    ["s:pipeline('k', {rewind = t"] = "true" }
end)

t.test("words and names of options", function()
  offer { ['s:split("k", 4, {'] = "names tail", ['s:split("k", 4, {tail = "'] = "cut guard perfect",
    ['s:split("k", 4, {names = {"'] = "", ['s:split("k", 4, {tail = "cut", n'] = "names",
    ['s:partition("A", 0, {kind = "c'] = "complete cyclic", ['random(i8[4], 1, {'] = "hi lo",
    ['gemm:build {target = "'] = "cpu hls npu verilog", ['gemm:build {tar'] = "target", ['x:allclose(x, {a'] = "atol",
    ["s:verify {"] = "concrete seconds", ["tide.verify(s, s, {s"] = "seconds" }
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
  offer { [":re"] = "reload", [":set "] = "check ghost journal pager progress trace", [":set ghost "] = "off on",
    [":check q"] = "quick", [":quit "] = "", [":log gem"] = "gemm", ["?reord"] = "reorder", ["?int-d"] = "int-division",
    ["??no-lo"] = "no-longer-held no-loop",
    ["?:ti"] = "time", [":diff s, s"] = offers "s",
    [':time s:split("'] = "i j k", [":nosuch x"] = "" }
end)

t.test("files in strings of functions that take them, and in commands", function()
  local home = t.tmp "files"
  shell.plant(home, { ["a.lua"] = "", ["b.npy"] = "", ["sub/c.lua"] = "", [".hidden"] = "" })
  for _, before in ipairs { 'dofile("', "tide.load('", "io.open('", ":save ", ":reload ", '!ls "', 's:html "' } do
    t.eq(offers(before .. home .. "/"), home .. "/a.lua " .. home .. "/b.npy " .. home .. "/sub/", before)
    t.eq(offers(before .. home .. "/s"), home .. "/sub/")
  end
  t.eq(offers(":save " .. home .. "/."), home .. "/.hidden")
  t.eq(offers(":save /no/such/"), "")
end)

t.test("words of the shell, with what it would read behind backslashes", function()
  local home = t.tmp "words"
  local plain = home:gsub("[^%w/._-]", "\\%0")
  shell.plant(home, { ["a b.lua"] = "", ["it's"] = "", ["sub dir/c.lua"] = "" })
  offer {
    ["!ls " .. plain .. "/a"] = plain .. "/a\\ b.lua",
    ["!ls x " .. plain .. "/a\\ "] = plain .. "/a\\ b.lua",
    ["!ls 'x y' " .. plain .. "/i"] = plain .. "/it\\'s",
    ["!ls " .. plain .. "/sub\\ dir/"] = plain .. "/sub\\ dir/c.lua",
    ["!ls '" .. home .. "/sub dir/"] = home .. "/sub dir/c.lua",
    ['!ls "' .. home .. "/a "] = home .. "/a b.lua",
    ["!ls " .. plain .. "/a zz"] = "",
  }
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
