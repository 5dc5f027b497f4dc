-- [slow] npu_rules.lua - what hardware allows, asked of texts: each rule refused, and kept by a twin one unit inside;
-- then 300 mutants of texts of builds, which are refused, stop, give other bits, or are known to mean the same.
local npu = require "tide.npu"
local shell = require "shell"
local t = require "tap"
local tide = require "tide"
local i16, i32 = tide.i16, tide.i32

local folder = t.tmp "npu_rules"

-- Opens a design whose text this is, in both files.
local function open(text, kernels)
  text = "// MLIR-AIE, dialect v1.3\n" .. text
  shell.plant(folder, {["design.mlir"] = text, ["design.generic.mlir"] = text, ["kernels.cc"] = kernels or ""})
  return npu.open(folder)
end

local template = [[
module {
  aie.device($device) @main {
    %s = aie.tile(0, 0)
    %s1 = aie.tile(1, 0)
    %s2 = aie.tile(2, 0)
    %s3 = aie.tile(3, 0)
    %m = aie.tile(0, 1)
    %m1 = aie.tile(1, 1)
    %c = aie.tile($col, $row)
    %north = aie.tile(0, 3)
    aie.objectfifo @a0(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<${n}x$T>>
    aie.objectfifo @a1(%m$dims, {%c}, $depth : i32) : !aie.objectfifo<memref<${m}x$T>>
    $half
    aie.objectfifo.link [@a0] -> [@a1${other}]($offsets)
    aie.objectfifo @b(%c$out, {%s}, $depth : i32) : !aie.objectfifo<memref<${n}x$T>>
    $more
    %core = aie.core(%c) {
      %c0 = arith.constant 0 : index
      %ever = arith.constant 9223372036854775807 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant $turns : index
      scf.for %launch = %c0 to %ever step %c1 {
        scf.for %k = %c0 to %n step %c1 {
          %x = aie.objectfifo.acquire @a1(Consume, $acquire) : !aie.objectfifosubview<memref<${m}x$T>>
          %o = aie.objectfifo.acquire @b(Produce, 1) : !aie.objectfifosubview<memref<${n}x$T>>
          aie.objectfifo.release @b(Produce, $release)
          aie.objectfifo.release @a1(Consume, $acquire)
        }
      }
      aie.end
    } {stack_size = $stack : i32}
    aie.runtime_sequence @sequence(%A: memref<${all}x$T>, %B: memref<${all}x$T>$args) {
      $before
      $get
      aiex.npu.dma_memcpy_nd(%B[0, 0, 0, 0][1, 1, 1, $all][0, 0, 0, 1]) {$fifteen, metadata = @b} : memref<${all}x$T>
      $after
      $last
      $wait
    }
  }
}
]]

-- A text: A goes from a shim through a memory tile to a core, and from there to B, in objects of n elements; what z
-- has differs.
local function line(z)
  local d = {device = "npu1", col = 0, row = 2, T = "i32", n = 4, depth = 2, turns = 3, acquire = 1, release = 1,
    stack = 1024, dims = "", out = "", more = "", offsets = "[] []", args = "", half = "", before = "", after = ""}
  for k, v in pairs(z) do d[k] = v end
  d.m = d.m or d.n
  d.all = d.turns * d.n
  d.size = d.size or ("1, 1, 1, %d"):format(d.all)
  d.stride = d.stride or "0, 0, 0, 1"
  d.offset = d.offset or 0
  d.id = d.id or 0
  d.token = d.token or "issue_token = true, "
  d.get = d.get or "aiex.npu.dma_memcpy_nd(%A[0, 0, 0, $offset][$size][$stride]) " ..
    "{id = $id : i64, ${token}metadata = @a0} : memref<${all}x$T>"
  d.fifteen = "id = 15 : i64, issue_token = true"
  d.last = d.last or "aiex.npu.dma_wait {symbol = @b}"
  d.wait = d.wait or "aiex.npu.dma_wait {symbol = @a0}"
  local text = template
  d.other = d.other or ""
  for _ = 1, 2 do text = text:gsub("%${(%w+)}", d):gsub("%$(%w+)", d) end
  return text
end

local function shared(k, depth)
  local list = {}
  for i = 1, k do
    list[i] = ("aie.objectfifo @n%d(%%c, {%%north}, %d : i32) : !aie.objectfifo<memref<1xi32>>"):format(i, depth or 1)
  end
  return table.concat(list, "\n    ")
end

-- k objectFIFOs between tiles of these names.
local function fifos(k, from, to, depth)
  local list = {}
  for i = 1, k do
    list[i] = ("aie.objectfifo @q%d(%%%s, {%%%s}, %d : i32) : !aie.objectfifo<memref<4xi32>>"):format(i,
      from[i] or from[1], to, depth or 1)
  end
  return table.concat(list, "\n    ")
end

local function bytes(n, tile)
  return ("%%data = aie.buffer(%%%s) {sym_name = \"data\"} : memref<%dxi8>"):format(tile, n)
end

local function sent(k, ids)
  local list = {}
  for i = 1, k do
    list[i] = ("aiex.npu.dma_memcpy_nd(%%A[0, 0, 0, 0][1, 1, 1, 4][0, 0, 0, 1]) {id = %d : i64, " ..
      "issue_token = true, metadata = @a0} : memref<${all}xi32>"):format(ids and ids[i] or i - 1)
  end
  return table.concat(list, "\n      ")
end

-- k arguments more of the sequence.
local function parameters(k)
  local list = {}
  for i = 1, k do list[i] = (", %%X%d: memref<4xi32>"):format(i) end
  return table.concat(list)
end

local wait = "aiex.npu.dma_wait {symbol = @a0}"
-- Sizes and strides of an order.
local function dims(list)
  local parts = {}
  for i = 1, #list, 2 do parts[#parts + 1] = ("<size = %d, stride = %d>"):format(list[i], list[i + 1]) end
  return " dimensionsToStream [" .. table.concat(parts, ", ") .. "]"
end

-- Of each rule of the list that the issue refers to: what is refused, with its code and words, and what is not.
for _, x in ipairs {
  {"1: a row that is not there", {row = 6}, "npu-limit", "npu1 has no tile at column 0, row 6", {row = 5}},
  {"1: a ninth column", {col = 8, device = "npu2"},
    "npu-limit", "npu2 has no tile at column 8", {col = 7, device = "npu2"}},
  {"2: two cores on a tile", {more = "%d = aie.core(%c) {\n aie.end\n }"},
    "npu-limit", "has 1 cores, and is asked for 2",
    {more = "%d = aie.core(%north) {\n aie.end\n }"}},
  {"3: memory of a core", {more = bytes(65536 - 1024 - 64 + 1, "c")},
    "npu-limit", "has 65536 bytes of memory, and is asked for 65537",
    {more = bytes(65536 - 1024 - 64, "c")}},
  {"24: a stack that is too small", {stack = 1023}, "npu-limit", "where kernels may use 1024", {stack = 1024}},
  {"3: a stack", {stack = 65536 - 64 + 4}, "npu-limit", "is asked for 65540", {stack = 65536 - 64}},
  {"4: memory of a memory tile", {more = bytes(524288 - 32 + 1, "m")}, "npu-limit", "row 1 has 524288 bytes",
    {more = bytes(524288 - 32, "m")}},
  {"5: channels to a core", {more = fifos(2, {"s1"}, "c")},
    "npu-limit", "has 2 DMA channels to write to it, and is asked for 3",
    {more = fifos(1, {"s1"}, "c")}},
  {"5: channels from a core", {more = fifos(2, {"c"}, "s1")},
    "npu-limit", "has 2 DMA channels to read from it, and is asked for 3",
    {more = fifos(1, {"c"}, "s1")}},
  {"5: channels to a memory tile", {more = fifos(6, {"s1", "s1", "s2", "s2", "s3", "s3"}, "m")}, "npu-limit",
    "has 6 DMA channels to write to it, and is asked for 7", {more = fifos(5, {"s1", "s1", "s2", "s2", "s3"}, "m")}},
  {"5: channels of a shim", {more = fifos(2, {"s"}, "m")}, "npu-limit", "column 0, row 0 has 2 DMA channels to read",
    {more = fifos(1, {"s"}, "m")}},
  {"6: descriptors of a core", {depth = 9}, "npu-limit", "has 16 buffer descriptors, and is asked for 18", {depth = 8}},
  {"6: descriptors of a memory tile", {more = fifos(1, {"s1"}, "m", 45)}, "npu-limit",
    "has 48 buffer descriptors, and is asked for 49", {more = fifos(1, {"s1"}, "m", 44)}},
  {"7: locks of a core", {more = shared(7)}, "npu-limit", "has 16 locks, and is asked for 18", {more = shared(6)}},
  {"7: what a lock counts to", {more = shared(1, 64)}, "npu-limit", "a lock counts to 63, and 'n1' has 64",
    {more = shared(1, 63)}},
  {"8: dimensions of a memory tile", {n = 32, dims = dims {2, 1, 2, 16, 2, 8, 2, 4, 2, 2}},
    "npu-dma", "more dimensions than the DMA has",
    {n = 16, dims = dims {2, 1, 2, 8, 2, 4, 2, 2}}},
  {"8: dimensions of a core", {n = 16, out = dims {2, 1, 2, 8, 2, 4, 2, 2}},
    "npu-dma", "more dimensions than the DMA has",
    {n = 8, out = dims {2, 1, 2, 4, 2, 2}}},
  {"9: a wrap of a shim", {n = 2, turns = 1024, size = "1, 1, 2, 1024", stride = "0, 0, 2000, 1"}, "npu-dma",
    "larger than its wrap", {n = 2, turns = 1023, size = "1, 1, 2, 1023", stride = "0, 0, 2000, 1"}},
  {"9: a wrap of a core", {n = 512, out = dims {2, 256, 256, 1}}, "npu-dma",
    "larger than its wrap", {n = 510, out = dims {2, 255, 255, 1}}},
  {"9: a wrap of a memory tile", {n = 2048, dims = dims {1024, 2, 1, 1, 2, 1}}, "npu-dma", "larger than its wrap",
    {n = 2046, dims = dims {1023, 2, 1, 1, 2, 1}}},
  {"10: a stride of a shim", {size = "1, 1, 3, 4", stride = "0, 0, 1048577, 1"}, "npu-dma", "a stride is longer",
    {size = "1, 1, 3, 4", stride = "0, 0, 1048576, 1"}},
  {"11: words: where it begins", {T = "i16", offset = 1},
    "npu-dma", "does not begin at a word", {T = "i16", offset = 2}},
  {"11: words: a row", {T = "i8", size = "1, 1, 2, 6", stride = "0, 0, 8, 1"}, "npu-dma", "no whole words",
    {T = "i8", size = "1, 1, 3, 4", stride = "0, 0, 8, 1"}},
  {"11: words: a stride", {T = "i16", size = "1, 1, 3, 4", stride = "0, 0, 5, 1"}, "npu-dma", "no multiple of 4 bytes",
    {T = "i16", size = "1, 1, 3, 4", stride = "0, 0, 6, 1"}},
  {"12: an iteration", {turns = 65, size = "65, 1, 1, 4", stride = "4, 0, 0, 1"}, "npu-dma", "more than 64 turns",
    {turns = 64, size = "64, 1, 1, 4", stride = "4, 0, 0, 1"}},
  {"12: stride 0", {size = "1, 3, 1, 4"}, "npu-dma", "a stride is not positive", {size = "3, 1, 1, 4"}},
  {"13: a linear transfer", {more = "aie.objectfifo @big(%m1" .. dims {131072, 1} ..
      ", {%s1}, 1 : i32) : !aie.objectfifo<memref<131072xi32>>"}, "npu-dma", "a linear transfer is longer",
    {more = "aie.objectfifo @big(%m1" .. dims {131071, 1} ..
      ", {%s1}, 1 : i32) : !aie.objectfifo<memref<131071xi32>>"}},
  {"14: a fifth task", {turns = 5, get = sent(5), wait = wait:rep(5, "\n")}, "npu-sequence", "a fifth is lost",
    {turns = 4, get = sent(4), wait = wait:rep(4, "\n")}},
  {"15: a descriptor rewritten", {turns = 2, get = sent(2, {1, 1}), wait = wait:rep(2, "\n")}, "npu-sequence",
    "BD 1 of this shim is rewritten", {turns = 2, get = sent(2, {1, 2}), wait = wait:rep(2, "\n")}},
  {"15: number 16", {id = 16}, "npu-sequence", "asks for number 16", {id = 14}},
  {"15: a wait without a token", {token = ""}, "npu-sequence", "issues no token", {}},
  {"15: a wait for nothing", {before = wait}, "npu-sequence", "none is under way", {}},
  {"15: results that nobody waits for", {last = ""}, "npu-sequence", "ends before 'b' is written", {}},
  {"16: arrays of the host", {args = parameters(4)}, "npu-limit", "at most 5 arrays, not 6", {args = parameters(3)}},
  {"17: offsets", {n = 8, m = 4, other = ", @a2",
      half = "aie.objectfifo @a2(%m, {%north}, 2 : i32) : !aie.objectfifo<memref<4xi32>>",
      offsets = "[] [0, 5]"}, "npu-text", "offsets that do not make up the object",
    nil},
  {"18: bytes of a link", {n = 8, m = 4}, "npu-text", "other bytes on its two sides", {n = 8, m = 8}},
  {"18: whole objects", {size = "1, 1, 1, 10"}, "npu-sequence", "no whole objects of 4", {size = "1, 1, 1, 12"}},
  {"27: more than there are", {acquire = 3, turns = 3}, "npu-limit", "has 2 objects, and 3 are taken", {acquire = 1}},
  {"27: more than are held", {release = 2}, "npu-text", "gives back 2 objects of 'b', and 1 are held", {release = 1}},
  {"28: f64", {T = "f64"}, "npu-type", "f64, which no NPU", {T = "f32"}},
  {"29: a name", {wait = "aiex.npu.dma_wait {symbol = @nobody}"}, "npu-text", "names no objectFIFO", {}},
  {"30: objects put and taken", {size = "1, 1, 1, 16"}, "npu-sequence", "puts 4 objects in 'a1' and takes 3",
    {size = "1, 1, 1, 12"}},
} do
  t.test(x[1], function()
    local e = t.fails(function() open(line(x[2])) end, {code = x[3]})
    t.has(tostring(e), x[4])
    t.has(tostring(e), "design.generic.mlir:")
    if x[5] then open(line(x[5])) end
  end)
end

-- What a mutant that gives the same bits differs in, and why that means the same; "what mutants mean" below shows it.
local harmless = {
  elemNumber = "more or fewer objects under way: the same objects",
  id = "another descriptor, which nothing else runs",
  stack_size = "more memory than kernels may use",
  once = "the stride of a dimension of one turn, or an offset along a stride of 0",
  wait = "for what was sent, which was used when the results came",
  issue_token = "a token that nobody waits for",
}

-- Two builds, with their arguments and what they give.
local function builds()
  local list = {}
  local product = tide.design(function(d)
    d.mul = tide.task {
      map = {2, 2}, X = i16[8][8]:layout "S0R", Y = i16[8][8]:layout "RS1", Z = i32[8][8]:layout "S0S1",
      function(X, Y, Z)
        local sum = i32[4][4](0)
        for l in tide.grid(2) do
          sum:set(sum + tide.matmul(X:slice({}, {l * 4, l * 4 + 4}), Y:slice({l * 4, l * 4 + 4}, {})))
        end
        Z:set(sum)
      end,
    }
  end)
  local rows = tide.design(function(d)
    d.go = tide.task {A = i32[6][8], B = i32[6][8], function(A, B)
      for i, j in tide.grid(6, 8) do B[i][j] = A[i][7 - j] * 3 end
    end}
  end)
  local s = tide.schedule(product):expand "mul":buffer_at("mul:X", "l"):buffer_at("mul:Y", "l")
  local _, x = s:isolate "mul:X_l"
  local _, y = s:isolate "mul:Y_l"
  local _, z = s:isolate "sum"
  s:coalesce(x, {axis = 1}):coalesce(y, {axis = 0}):coalesce(z, {axis = 0})
  for _, b in ipairs {{d = s, types = {i16[8][8], i16[8][8], i32[8][8]}}, {d = rows, types = {i32[6][8], i32[6][8]}}} do
    local m = b.d:build {target = "npu", tool = false}
    b.text, b.kernels = m.files["design.generic.mlir"]:gsub("^[^\n]*\n", ""), m.files["kernels.cc"]
    function b.fresh()
      local args = {}
      for i, T in ipairs(b.types) do args[i] = tide.random(T, i) end
      args[#args] = b.types[#args](0)
      return args
    end
    local args = b.fresh()
    m(table.unpack(args))
    b.want = args[#args]
    list[#list + 1] = b
  end
  return list
end

-- The numbers of a text that a mutation may change: {from, to, what}.
local function sites(text)
  local list = {}
  local function add(what, from, to) list[#list + 1] = {from = from, to = to, what = what} end
  for what in ("elemNumber id size port index value stack_size"):gmatch "%S+" do
    for from, to in text:gmatch("[<%s]" .. what .. " = ()%d+()") do add(what, from, to - 1) end
  end
  for from, to in text:gmatch "stride = ()%d+()" do add("stride", from, to - 1) end
  for what in ("static_offsets static_sizes static_strides src_offsets dst_offsets"):gmatch "%S+" do
    for from, row, to in text:gmatch(what .. " = [^%d%]]*()([%d, :i64]*)()") do
      row = row:gsub("^i64:", "    ")
      for k, n in row:gmatch "()%f[%w](%d+)%f[%W]" do add(what, from + k - 1, from + k + #n - 2) end
      assert(to)
    end
  end
  for from, to in text:gmatch "issue_token = ()true()" do add("issue_token", from, to - 1) end
  for from, to in text:gmatch '()[ ]*"aiex.npu.dma_wait"[^\n]*\n()' do add("wait", from, to - 1) end
  return list
end

-- Another text for that of a site.
local function other(text, site, roll)
  local now = text:sub(site.from, site.to)
  if now == "true" then return "false" end
  local n = math.tointeger(now)
  if not n then return "" end
  return tostring(({n + 1, math.max(n - 1, 0), n * 2 + 1, n // 2, 0, n + 4})[roll(6)])
end

-- Numbers of a list that follows `what` in a line.
local function numbers(line, what)
  local list = {}
  for n in (line:match(what .. " = array<i64: ([%d, ]+)>") or ""):gmatch "%d+" do list[#list + 1] = tonumber(n) end
  return list
end

-- Whether the number of a dimension that a site is adds nothing to any address: a stride that is never taken, or an
-- offset along a stride of 0.
local function is_once(text, site)
  local before = text:sub(1, site.from):match "[^\n]*$"
  local row = before .. text:sub(site.from + 1):match "^[^\n]*"
  local _, n = text:sub(site.from - #before + 1, site.from):match "([%d, ]*)$":gsub(",", "")
  if site.what == "static_strides" then return numbers(row, "static_sizes")[n + 1] == 1 end
  return site.what == "static_offsets" and numbers(row, "static_strides")[n + 1] == 0
end

-- The symbol of the transfer, or wait, that a site stands in.
local function symbol_of(text, site)
  local line = text:sub(1, site.from):match "[^\n]*$" .. text:sub(site.from + 1):match "^[^\n]*"
  return line:match "metadata = @([%w_]+)" or line:match "symbol = @([%w_]+)"
end

-- How a mutant ends.
local function try(b, text)
  local ok, m = pcall(open, text, b.kernels)
  if not ok then return "refused", tostring(m) end
  local args = b.fresh()
  ok, m = pcall(m, table.unpack(args))
  return not ok and "stopped" or args[#args]:equal(b.want) and "same" or "wrong", not ok and tostring(m)
end

-- What each class of mutants does, at all sites of its kind: as `harmless` says, and only so.
t.test("what mutants mean", function()
  for _, b in ipairs(builds()) do
    local function each(what, news, check)
      for _, site in ipairs(sites(b.text)) do
        for _, new in ipairs(site.what == what and news or {}) do
          local how, said = try(b, b.text:sub(1, site.from - 1) .. new .. b.text:sub(site.to + 1))
          check(how, site, new, said or "")
        end
      end
    end
    local sent = {}
    for symbol in b.text:gmatch '"aie.objectfifo"%(%%shim[^\n]-sym_name = "([%w_]+)"' do sent[symbol] = true end
    t.ok(next(sent), "something is sent")
    each("elemNumber", {"1", "2", "3", "4"}, function(how, site, new)
      t.ok(how ~= "wrong", ("%s objects of %s: another result"):format(new, symbol_of(b.text, site) or "?"))
    end)
    each("id", {"0", "1", "5", "15"}, function(how, _, new, said)
      t.ok(how == "same" or how == "refused" and said:find "npu%-sequence",
        ("descriptor %s: %s %s"):format(new, how, said))
    end)
    each("stack_size", {"0", "1023", "1024", "4096"}, function(how, _, new)
      t.eq(how, tonumber(new) < 1024 and "refused" or "same")
    end)
    each("wait", {""}, function(how, site)
      local symbol = symbol_of(b.text, site)
      t.ok(how == "refused" or sent[symbol] and how == "same", ("no wait for %s: %s"):format(symbol, how))
      t.ok(sent[symbol] or how == "refused", "results are waited for")
    end)
    each("issue_token", {"false"}, function(how, site)
      local symbol = symbol_of(b.text, site)
      local waited = b.text:find('"aiex.npu.dma_wait"[^\n]*@' .. symbol .. "[^%w_]") ~= nil
      t.ok(how == "same" and not (waited and sent[symbol]) or how == "refused" and waited,
        ("no token of %s: %s"):format(symbol, how))
    end)
    for _, what in ipairs {"static_strides", "static_offsets"} do
      each(what, {"4", "16"}, function(how, site)
        if is_once(b.text, site) then t.ok(how == "same" or how == "refused", what .. " that adds nothing: " .. how) end
      end)
    end
  end
end)

t.test("300 mutants of texts of builds", function()
  local seed = 11
  local function roll(n)
    seed = (seed * 6364136223846793005 + 1442695040888963407) & (1 << 62) - 1
    return (seed >> 33) % n + 1
  end
  local list = builds()
  local count = {refused = 0, stopped = 0, wrong = 0, same = 0}
  local silent = {}
  for k = 1, 300 do
    local b = list[k % 2 + 1]
    local all = sites(b.text)
    local site, new
    repeat
      site = all[roll(#all)]
      new = other(b.text, site, roll)
    until new ~= b.text:sub(site.from, site.to)
    local text = b.text:sub(1, site.from - 1) .. new .. b.text:sub(site.to + 1)
    local how = try(b, text)
    count[how] = count[how] + 1
    local why = is_once(b.text, site) and "once" or site.what
    if how == "same" and not harmless[why] then
      silent[#silent + 1] = ("%s: %s -> %s in %s"):format(site.what, b.text:sub(site.from, site.to), new,
        b.text:sub(1, site.from):match "[^\n]*$" .. text:sub(site.from + #new):match "^[^\n]*")
    end
  end
  t.eq(table.concat(silent, "\n"), "")
  t.ok(count.refused > 100 and count.wrong + count.stopped > 0 and count.same < 100,
    ("%d refused, %d stopped, %d wrong, %d the same"):format(count.refused, count.stopped, count.wrong, count.same))
end)

t.done()
