-- DataMaestro (arXiv 2504.14091): streamers between a banked memory and an array. A system is described, given a kernel
-- and the order of its tensors in memory, and says what its registers hold and, cycle by cycle, how long it takes.
--   local sys = maestro.reference { arbiter = "priority" }
--   local job = sys:compile(gemm, { m = "m", n = "n", k = "k", order = { A = "m k -> m/8 k/8 m%8 k%8" } })
--   print(job:stream "A", job:simulate().cycles)
-- Bounds are in iterations, strides and addresses in bytes. How a tensor lies in memory is its order.
local tide = require "tide"
local core = require "tide.maestro.core"
local bytes = require "tide.order"
local refusal = require "tide.refusal"
local search = require "tide.maestro_search"
local split = require "tide.maestro_split"
local order = require "tide.maestro_order"
local rtl = require "tide.maestro_rtl"
local front = require "tide.maestro_front"

---@class tide.maestro
local maestro = {}

local streamer, system, job = { __name = "tide.maestro.streamer" }, { __name = "tide.maestro.System" },
  { __name = "tide.maestro.Job" }
system.__index = system

local function fail(code, text, help) refusal.raise(code, text, help) end

-- The keys of a table in an order that is the same everywhere.
local function keys(t)
  local names = {}
  for k in pairs(t) do names[#names + 1] = k end
  table.sort(names, function(a, b) return bytes.bytes(tostring(a), tostring(b)) end)
  return names
end

-- Refuses keys that are not among `known`.
local function check_keys(what, t, known)
  if type(t) ~= "table" then fail("maestro-field", what .. " takes a table of fields") end
  for _, k in ipairs(keys(t)) do
    local found = false
    for _, name in ipairs(known) do found = found or name == k end
    if not found then
      local near = refusal.nearest(tostring(k), known)
      fail("maestro-field", ("%s has no field '%s'"):format(what, tostring(k)),
        near and "did you mean '" .. near .. "'?" or "it has " .. table.concat(known, ", "))
    end
  end
end

local function copy(t)
  local r = {}
  for k, v in pairs(t) do r[k] = v end
  return r
end

--- Banked scratchpad: banks, word (bytes), rows, latency (1); modes = banks of a group by name.
function maestro.memory(m)
  check_keys("memory", m, { "banks", "word", "rows", "latency", "modes" })
  local r, modes = copy(m), m.modes or { fima = m.banks }
  if type(modes) ~= "table" then fail("maestro-field", "memory.modes: banks of a group by the name of a mode") end
  r.modes = {}
  for _, name in ipairs(keys(modes)) do r.modes[#r.modes + 1] = { name = name, banks = modes[name] } end
  for _, mode in ipairs(r.modes) do
    if type(mode.name) ~= "string" or math.type(mode.banks) ~= "integer" then
      fail("maestro-field", "memory.modes: banks of a group by the name of a mode")
    end
  end
  table.sort(r.modes, function(a, b)
    return a.banks > b.banks or a.banks == b.banks and bytes.bytes(a.name, b.name)
  end)
  return r
end

-- Whether each queue is full for one that is popped, as `cut` says: one word, or one by queue.
local function cuts(what, cut, writer)
  local given = type(cut) == "table" and cut or { addr = cut, data = cut }
  check_keys(what .. ".cut", given, { "addr", "data" })
  local full = {}
  for _, queue in ipairs { "addr", "data" } do
    local word = given[queue] or (writer and queue == "data" and "full" or "pipe")
    if word ~= "pipe" and word ~= "full" then fail("maestro-field", what .. '.cut: "pipe" or "full"') end
    full[queue] = word == "full"
  end
  return full
end

local fields = { "lanes", "loops", "depth", "addr_depth", "cut", "mask", "byte_mask", "shares", "from", "ext" }

local function new_streamer(o, writer)
  local what = writer and "writer" or "reader"
  check_keys(what, o, fields)
  if o.byte_mask and not writer then fail("maestro-field", "reader.byte_mask: a reader has no mask of bytes") end
  if o.ext ~= nil and (type(o.ext) ~= "table" or getmetatable(o.ext)) then
    fail("maestro-field", what .. ".ext: a list of extensions")
  end
  local r, full = copy(o), cuts(what, o.cut, writer)
  r.cut, r.writer, r.addr_full, r.data_full = nil, writer, full.addr, full.data
  return setmetatable(r, streamer)
end

--- A read streamer: lanes = spatial bounds, loops = temporal dimensions, depth = FIFO words per channel, addr_depth =
--- addresses per channel (depth), cut = "pipe" | "full" or by queue (addr, data), mask, shares, ext: a list of
--- maestro.ext values and of kernels with one stream in and one out, the first nearest the FIFO.
function maestro.reader(o) return new_streamer(o, false) end
--- A write streamer; the same fields, and byte_mask.
function maestro.writer(o) return new_streamer(o, true) end

--- Output-stationary array: m, n, k; types a, b, acc; lanes of the quantiser.
function maestro.array(o)
  check_keys("array", o, { "m", "n", "k", "a", "b", "acc", "lanes" })
  return copy(o)
end

maestro.ext = {}
for name in pairs(core.exts()) do
  maestro.ext[name] = function(...) return { name = name, ... } end
end

--- The rescaling extension between two types: { from =, to =, efficient = } ; int32 to int8, if nothing is said.
function maestro.ext.rescale(o)
  o = o or {}
  check_keys("rescale", o, { "from", "to", "efficient" })
  local up = o.to == tide.i32 or o.from == tide.i8
  if up and o.efficient then fail("maestro-field", "rescale.efficient: from 32 bits to 8") end
  return { name = up and "rescale_up" or o.efficient and "rescale_efficient" or "rescale_down" }
end

-- What core.system takes: the streamers of o by name; other keys are among `known`.
local function parts(what, o, known)
  if type(o) ~= "table" then fail("maestro-field", what .. " takes a table of fields") end
  for _, key in ipairs { "memory", "array" } do
    if o[key] ~= nil and type(o[key]) ~= "table" then
      fail("maestro-field", ("%s.%s: what maestro.%s makes"):format(what, key, key))
    end
  end
  check_keys(what, { memory = o.memory, array = o.array }, known)
  local t = { memory = o.memory, array = o.array, streamers = {} }
  for _, name in ipairs(keys(o)) do
    local v = o[name]
    local found = false
    for _, k in ipairs(known) do found = found or k == name end
    if getmetatable(v) == streamer then
      if type(name) ~= "string" or not name:find "^%a[%w_]*$" then
        fail("maestro-field", ("%s: '%s' is no name of a streamer: letters, digits, _"):format(what, tostring(name)))
      end
      t.streamers[#t.streamers + 1] = setmetatable(copy(v), nil)
      t.streamers[#t.streamers].name = name
    elseif not found then
      fail("maestro-field", ("%s.%s: neither a streamer nor %s"):format(what, tostring(name),
        table.concat(known, ", ")))
    end
  end
  return t
end

--- Everything together: memory, array, streamers by name, arbiter = "round_robin" | "priority".
function maestro.system(o)
  local t = parts("system", o, { "memory", "array", "arbiter" })
  local arbiter = o.arbiter or "round_robin"
  if arbiter ~= "round_robin" and arbiter ~= "priority" then
    fail("maestro-field", 'system.arbiter: "round_robin" or "priority"')
  end
  t.priority = arbiter == "priority"
  return setmetatable({ core = core.system(t), fields = o, modes = t.memory.modes, memory = t.memory }, system)
end

--- The evaluation system of the paper; o overrides single fields.
function maestro.reference(o)
  local ext, i8, i32 = maestro.ext, tide.i8, tide.i32
  local r = {
    memory = maestro.memory {
      banks = 32, word = 8, rows = 512, modes = { fima = 32, gima16 = 16, gima8 = 8, nima = 1 },
    },
    array = maestro.array { m = 8, n = 8, k = 8, a = i8, b = i8, acc = i32 },
    A = maestro.reader { lanes = { 8 }, loops = 6, depth = 8, ext = { ext.transpose(8, 8, i8) } },
    B = maestro.reader { lanes = { 8 }, loops = 3, depth = 8, ext = { ext.transpose(8, 8, i8) } },
    C = maestro.reader { lanes = { 8, 4 }, loops = 3, depth = 2, mask = true, ext = { ext.broadcast(256, 2048) } },
    D = maestro.writer { lanes = { 8, 4 }, loops = 3, depth = 2, shares = "C" },
    E = maestro.writer { lanes = { 8 }, loops = 3, depth = 2 },
  }
  for name, v in pairs(o or {}) do r[name] = v end
  return maestro.system(r)
end

-- A table of counts that prints itself.
local counts = {
  __tostring = function(t)
    local parts = {}
    for _, name in ipairs(keys(t)) do parts[#parts + 1] = ("%s %d"):format(name, t[name]) end
    return table.concat(parts, ", ")
  end,
}

-- A report of the core with what follows from it.
local function complete(r)
  r.utilisation = r.window > 0 and r.fires / r.window or 0
  r.active = r.cycles > 0 and r.fires / r.cycles or 0
  r.accesses = 0
  for _, n in pairs(r.access) do r.accesses = r.accesses + n end
  for _, key in ipairs { "access", "conflicts", "shared", "occupancy", "most", "stalls" } do
    setmetatable(r[key], counts)
  end
  return r
end

-- How the registers of a streamer print.
local stream = {
  __tostring = function(s)
    local parts, last = {}, #s.bounds
    while last > 1 and s.bounds[last] == 1 do last = last - 1 end
    for i = 1, last do parts[i] = ("(%d, %d)"):format(s.bounds[i], s.strides[i]) end
    return ("%s: lanes %s by %s; %s, innermost first; base %d, %s%s"):format(s.name, table.concat(s.lanes, " x "),
      table.concat(s.lane_strides, ", "), table.concat(parts, " "), s.base, s.mode,
      s.ext[1] and "; " .. table.concat(s.ext, ", ") or "")
  end,
}

--- Streamers of a system in front of the design that s schedules: tasks that only load from one argument and put, or
--- get and store. o.memory, o.order, o.mode, o.base and a maestro.reader or maestro.writer for each such argument, by
--- its name.
function maestro.front(s, o)
  local t = parts("front", o, { "memory", "order", "mode", "base" })
  if #t.streamers == 0 then fail("maestro-field", "front: a reader or writer by the name of an argument") end
  local request = copy(o)
  if type(o.mode) == "string" then
    request.mode = {}
    for _, x in ipairs(t.streamers) do request.mode[x.name] = o.mode end
  end
  return front.new(s, t, request, { stream = stream, report = complete })
end

-- ---- jobs ----

local names = {
  __tostring = function(t)
    local parts = {}
    for _, name in ipairs(keys(t)) do parts[#parts + 1] = ("%s = %q"):format(name, t[name]) end
    return "{ " .. table.concat(parts, ", ") .. " }"
  end,
}

-- The modes that a text or table names, by streamer.
local function modes_of(sys, mode)
  if mode == nil or type(mode) == "table" then return mode end
  local r = {}
  for name, v in pairs(sys.fields) do
    if getmetatable(v) == streamer then r[name] = mode end
  end
  return r
end

local function new_job(sys, kernel, handle, o)
  return setmetatable({ system = sys, kernel = kernel, core = handle, options = o }, job)
end

local options = { "m", "n", "k", "loops", "order", "mode", "base", "overlap", "ext" }

-- What the options of a job are; tables whose keys are streamers.
local kinds = {
  m = "string", n = "string", k = "string", loops = "table", order = "string or table", mode = "string or table",
  base = "table", overlap = "boolean", ext = "table",
}
local by_streamer = { mode = "maestro-mode", base = "maestro-base", ext = "maestro-field" }
local codes = { mode = "maestro-mode", base = "maestro-base", order = "maestro-order", loops = "maestro-loop" }

-- Refuses options that are of another kind, or of streamers that the system does not have.
local function check_options(sys, o)
  for _, key in ipairs(options) do
    local v = o[key]
    if v ~= nil and not kinds[key]:find(type(v), 1, true) then
      fail(codes[key] or "maestro-field", ("compile.%s: a %s"):format(key, kinds[key]))
    end
    for _, name in ipairs(by_streamer[key] and type(v) == "table" and keys(v) or {}) do
      if getmetatable(sys.fields[name]) ~= streamer then
        fail(by_streamer[key], ("compile.%s: the system has no streamer '%s'"):format(key, tostring(name)))
      end
      if key == "mode" and type(v[name]) ~= "string" then
        fail("maestro-mode", ("compile.mode.%s: the name of a mode"):format(name))
      end
      if key == "ext" and type(v[name]) ~= "table" then
        fail("maestro-field", ("compile.ext.%s: a list of names of kernels"):format(name))
      end
    end
  end
end

-- A job of a part of the nest, before modes are solved.
local function compile(sys, kernel, o, mode, part)
  local request = copy(o)
  request.mode = modes_of(sys, mode)
  if part then request.parts, request.sums = part, part.sums end
  local r, told = new_job(sys, kernel, core.compile(sys.core, kernel, request), o), {}
  local orders = core.orders(r.core)
  for _, x in ipairs(orders) do
    if x.padded then told[#told + 1] = ("with room for whole tiles %s %q"):format(x.param, x.text) end
  end
  if orders.trimmed then told[#told + 1] = "of tensors only what the loops touch" end
  r.note = told[1] and table.concat(told, ", ")
  return r
end

-- Fields of a job that are made when they are asked for.
local made = {
  csr = function(self) return core.csr((self.jobs or { self })[1].core) end,
  work = function(self) return core.work((self.jobs or { self })[1].core) end,
}

function job:__index(key)
  if job[key] or not made[key] then return job[key] end
  local v = made[key](self)
  rawset(self, key, v)
  return v
end

-- The job with its operands elsewhere, or nil and why.
local function placed(from, where)
  local handle, why = core.place(from.core, where)
  if not handle then return nil, why end
  local r = new_job(from.system, from.kernel, handle, from.options)
  r.note = from.note
  return r
end

-- A job of a part (nil: of all) with the modes that are asked for.
local function compile_part(sys, kernel, o, part)
  if o.mode ~= "best" then return compile(sys, kernel, o, o.mode, part) end
  return search.best(compile(sys, kernel, o, search.roomy(sys), part), placed)
end

--- A kernel as a job of the system: registers, addresses, a run. What is too large is split: job.jobs. Orders "best"
--- are solved: job.solved is what reproduces them. o.m, o.k: a loop, or parts of two, "y%2 x%4"; o.ext: the kernels
--- among a streamer's extensions that are on, by streamer: { A = { "relu" } }; the rest as in docs/maestro.md.
function system:compile(kernel, o)
  check_keys("compile", o, options)
  check_options(self, o)
  if type(o.order) == "string" and o.order ~= "best" then
    fail("maestro-order", 'order: "best", or a table of orders by parameter')
  end
  if order.is_asked(o) then
    return order.best(o, function(request) return self:compile(kernel, request) end)
  end
  local columns = self.fields.array and self.fields.array.n
  local r = split.compile(kernel, o, columns, function(part) return compile_part(self, kernel, o, part) end)
  if not r.jobs then return r end
  r.system, r.kernel, r.options = self, kernel, o
  return setmetatable(r, job)
end

--- The registers of a streamer: base, lanes, lane_strides, bounds, strides, mode, mask, ext; nil: it is off.
function job:stream(name)
  if self.jobs then return self.jobs[1]:stream(name) end
  local r = core.stream(self.core, name)
  return r and setmetatable(r, stream)
end

--- The system as Verilog: m:run(job, ..), m:write(folder), m.files.
function system:build(o) return rtl.build(self, o) end

--- Its registers as a C header.
function system:header() return rtl.header(self) end

--- What a register image, as job.csr has it or as a list of values, would do: registers by streamer.
function system:decode(csr)
  local values = {}
  for i, v in ipairs(csr) do values[i] = type(v) == "table" and v.value or v end
  local r = core.decode(self.core, values)
  for _, s in pairs(r) do setmetatable(s, stream) end
  return r
end

--- An iterator over the physical addresses of a streamer, in order, channel by channel.
function job:addresses(name)
  if self.jobs then return split.addresses(self.jobs, name) end
  return core.addresses(self.core, name)
end

--- The words to write before the job starts, on tensors by name or in order: a list of { address =, word = }, by
--- physical address; a word is its bytes.
function job:image(...) return core.image((self.jobs or { self })[1].core, ...) end

--- The registers of the array for a call on tensors, by name or in order, which values of columns may be among.
function job:registers(...) return core.work((self.jobs or { self })[1].core, ...) end

--- A run without data: cycles, utilisation (of the MAC window), active (of all cycles), accesses, conflicts by
--- streamer, stalls by cause.
function job:simulate()
  self.report = complete(self.jobs and split.simulate(self.jobs) or core.simulate(self.core))
  return self.report
end

--- The cycles by the law start + tiles * (steps + lost) + drain: { cycles =, window =, lost =, exact = }. What a tile
--- loses to conflicts is measured on the first tiles; exact: there were no more.
function job:predict()
  local sum, known = { cycles = 0, window = 0, lost = 0, exact = true }, {}
  for _, one in ipairs(self.jobs or { self }) do
    local p = known[one.shape or 1] or core.predict(one.core)
    known[one.shape or 1] = p
    sum.cycles, sum.window, sum.exact = sum.cycles + p.cycles, sum.window + p.window, sum.exact and p.exact
    sum.lost = math.max(sum.lost, p.lost)
  end
  return sum
end

--- The run as one with a clock: the array as a task, the FIFOs as streams; r:vcd(file), r:svg(file), r:timeline().
function job:timed() return core.timed((self.jobs or { self })[1].core) end

--- Runs the job on tensors, by name or in order; the results are in those that the kernel writes. Returns the report.
function job:run(...)
  for _, one in ipairs(self.jobs or { self }) do core.run(one.core, ...) end
  return self:simulate()
end

function job:__tostring()
  local lines = self.jobs and { ("%d jobs: %s; the first:"):format(#self.jobs, self.note) } or { self.note }
  for _, name in ipairs(keys(self.system.fields)) do
    local ok, s = pcall(self.stream, self, name)
    if ok and s then lines[#lines + 1] = tostring(s) end
  end
  return table.concat(lines, "\n")
end

-- Kernels that copy a tensor of each rank.
local copies = {
  function(T, n)
    return tide.kernel { name = "relayout", I = T, O = T, function(I, O)
      for i in tide.grid(n) do O[i] = I[i] end
    end }
  end,
  function(T, m, n)
    return tide.kernel { name = "relayout", I = T, O = T, function(I, O)
      for i, j in tide.grid(m, n) do O[i][j] = I[i][j] end
    end }
  end,
  function(T, l, m, n)
    return tide.kernel { name = "relayout", I = T, O = T, function(I, O)
      for i, j, k in tide.grid(l, m, n) do O[i][j][k] = I[i][j][k] end
    end }
  end,
  function(T, h, l, m, n)
    return tide.kernel { name = "relayout", I = T, O = T, function(I, O)
      for g, i, j, k in tide.grid(h, l, m, n) do O[g][i][j][k] = I[g][i][j][k] end
    end }
  end,
}

--- A tensor of a type in another order in memory, as a job of a system that has a path: job:run { I =, O = }. from, to:
--- texts or layouts; o: options of a job.
function maestro.relayout(sys, type_of, from, to, o)
  local shape = type_of.shape
  if not copies[#shape] then fail("maestro-order", "relayout: a tensor of one to four dimensions") end
  local request = copy(o or {})
  request.order = { I = from, O = to }
  return sys:compile(copies[#shape](type_of, table.unpack(shape)), request)
end

--- All combinations of the named modes per streamer, best first: list of { mode = {..}, report = .. }.
function maestro.sweep(sys, kernel, o)
  check_keys("sweep", o, { "m", "n", "k", "loops", "order", "mode", "base", "modes" })
  check_options(sys, o)
  local request = copy(o)
  request.modes = nil
  local list = search.sweep(compile(sys, kernel, request, search.roomy(sys)), placed, o.modes)
  for _, x in ipairs(list) do setmetatable(x.mode, names) end
  return list
end

return maestro
