-- What the files that make designs of STeP graphs share: the text, the graph under way, its bounds, channels and
-- arguments.

local ELEMENT = 16

-- A text that is written line by line.
local Text = {}
Text.__index = Text

function Text:line(format, ...)
  self[#self + 1] = ("  "):rep(self.depth) .. (select("#", ...) > 0 and format:format(...) or format)
end

function Text:open(...) self:line(...) self.depth = self.depth + 1 end

function Text:close(word)
  self.depth = self.depth - 1
  self:line(word or "end")
end

-- What is under way: the graph, bounds of its symbols, the streams, the arguments, the values that tasks close over.
local Lower = { ELEMENT = ELEMENT, Text = Text }
Lower.__index = Lower

function Lower.refuse(node, why, help)
  error(("design: '%s' (line %d) %s%s"):format(node.name, node.line, why, help and "\nhelp: " .. help or ""), 0)
end

-- The most that an extent may be, or nil.
function Lower:bound(e)
  local v = math.type(e) and e or e:at(self.bounds)
  return math.type(v) and v or nil
end

function Lower:extent(node, e, what)
  local v = self:bound(e)
  if v then return v end
  Lower.refuse(node, ("has %s %s, and nothing bounds it"):format(e, what), "bound = { " ..
    tostring(e:at(self.bounds)):match "%a%w*" .. " = n } does")
end

-- Bounds of the symbols: a way of a partition has no more chunks than come; others as the caller says.
function Lower:find_bounds(given)
  self.bounds = {}
  for _, s in ipairs(self.graph.symbols) do
    local node = self.by_id[s.node]
    local most = given and given[s.name]
    if not most and node.op == "partition" then
      local x = self:stream_of(node.ins[1])
      most = self:product(x.dims, node.rank or 0)
    elseif not most and node.op == "flat_map" and node.fn == "split_rows" then
      local x = self:stream_of(node.ins[1])
      local n, rows = self:product(x.dims, 0), self:bound(x.rows)
      most = n and rows and n * rows
    elseif not most and node.op == "reassemble" then
      most = 0
      for i = 1, #node.ins - 1 do
        local n = self:product(self:stream_of(node.ins[i]).dims, node.rank or 0)
        most = most and n and most + n
      end
    end
    if most then self.bounds[s.name] = most end
  end
end

-- The most elements of dimensions `from` and outer ones.
function Lower:product(dims, from)
  local n = 1
  for k = from + 1, #dims do
    local v = self:bound(dims[k])
    if not v then return nil end
    n = n * v
  end
  return n
end

function Lower:stream_of(ref) return self.by_id[ref[1]].outs[ref[2]] end

-- ---- channels ----

-- The streams that input i of a node is: one for each part of a tuple.
function Lower:parts(ref)
  local node = self.by_id[ref[1]]
  if node.op ~= "zip" then return { ref } end
  local list = {}
  for _, x in ipairs(node.ins) do table.move(self:parts(x), 1, #self:parts(x), #list + 1, list) end
  return list
end

-- The type of the tokens of a stream, as text, and rows and columns.
function Lower:token(node, s)
  if s.kind == "selector" then return ("u8[%d]"):format(s.ways) end
  if s.kind ~= "tile" then Lower.refuse(node, "passes on buffers") end
  local rows, cols = self:extent(node, s.rows, "rows"), self:extent(node, s.cols, "columns")
  if rows < 1 or cols < 1 then Lower.refuse(node, "makes tiles without elements") end
  return ("%s[%d][%d]"):format(s.type, rows, cols), rows, cols
end

function Lower.variable(name) return (name:gsub("[^%w]", "_")) end

-- Makes the channels: one for each reader of each output.
function Lower:make_channels()
  self.readers = {} -- by id and output: channels
  local function add(ref, node, input)
    local key = ref[1] .. "." .. ref[2]
    self.readers[key] = self.readers[key] or {}
    local from = self.by_id[ref[1]]
    local number = #self.channels + 1
    local channel = { name = ("s%d_%s"):format(number, Lower.variable(from.name)), ref = ref, from = from, to = node,
      stream = from.outs[ref[2]] }
    channel.type, channel.rows, channel.cols = self:token(from, channel.stream)
    table.insert(self.readers[key], channel)
    self.channels[number] = channel
    node.reads[input] = node.reads[input] or {}
    table.insert(node.reads[input], channel)
  end
  for _, node in ipairs(self.graph.nodes) do
    node.reads = {}
    for i, ref in ipairs(node.ins) do
      if node.op ~= "zip" and node.op ~= "assume_shape" then
        for _, part in ipairs(self:parts(ref)) do add(part, node, i) end
      end
    end
  end
end

-- Whether tiles of a stream may have rows that are not valid.
function Lower:find_partial()
  self.partial = {}
  for _, node in ipairs(self.graph.nodes) do
    local any = node.op == "reshape" and node.extra ~= nil or node.has_valid or node.fn == "set_offset"
      or node.fn == "append_row"
    for _, ref in ipairs(node.ins) do any = any or self.partial[ref[1]] end
    if node.op == "load" or node.op == "load_at" then any = node.has_valid end
    for _, s in ipairs(node.outs) do any = any or s.kind == "tile" and not math.type(s.rows) end
    if node.fn == "split_rows" or node.fn == "signal" then any = false end
    self.partial[node.id] = any or nil
  end
end

-- ---- tasks ----

-- Gets control of all parts of an input into c.., and their tiles where an element came.
function Lower.get(_, t, channels, name)
  for i, x in ipairs(channels) do t:line("%s%d = %s_c:get()", name, i, x.name) end
  for i, x in ipairs(channels) do
    t:line("if %s1 >= %d then %s%d_t:set(%s_t:get()) end", name, ELEMENT, name, i, x.name)
  end
end

-- A tile of a type, as text: all its elements are 0.
function Lower.blank(type) return ("%s(%s)"):format(type, type:find "^bool" and "false" or "0") end

-- Declares what get fills.
function Lower.declare(_, t, channels, name)
  for i, x in ipairs(channels) do
    t:line("local %s%d = i32(1)", name, i)
    t:line("local %s%d_t = %s", name, i, Lower.blank(x.type))
  end
end

-- Puts an element to all readers of an output, a control token, or what control variable c says.
function Lower:put(t, node, out, rows, tile)
  for _, x in ipairs(self.readers[node.id .. "." .. out] or {}) do
    t:line("%s_c:put(i32(%s))", x.name, rows and ("%d + %s"):format(ELEMENT, rows) or tile)
    if rows then t:line("%s_t:put(%s)", x.name, tile) end
  end
end

function Lower:control(t, node, code, out) self:put(t, node, out or 1, nil, code) end

-- The body of a task that reads input 1 to its end: element(t) is done for each element, level(t) for what closes
-- lists, where c1 is the level, finish(t) at the end before the control token is passed on.
function Lower:each(t, node, element, level, finish)
  self:declare(t, node.reads[1], "c")
  t:open("while c1 > 0 do")
  self:get(t, node.reads[1], "c")
  t:open("if c1 >= %d then", ELEMENT)
  element(t)
  if level then
    t:close "elseif c1 > 0 then"
    t.depth = t.depth + 1
    level(t)
  end
  if finish then
    t:close "else"
    t.depth = t.depth + 1
    finish(t)
  end
  t:close()
  t:close()
end

--- Passes on what closes lists, `by` levels further out.
function Lower:passes(node, by)
  return function(t) self:control(t, node, by == 0 and "c1" or ("c1 + %d"):format(by or 0)) end
end

function Lower:ends(node)
  return function(t)
    for out = 1, #node.outs do self:control(t, node, "0", out) end
  end
end

-- A tensor argument of the design: one name for each tensor.
function Lower:argument(x, writes)
  local key = x.key or "id" .. x.id
  local a = self.by_tensor[key]
  if not a then
    a = { name = ("T%d"):format(#self.arguments + 1), type = x.type, data = x.data }
    self.by_tensor[key] = a
    self.arguments[#self.arguments + 1] = a
  end
  a[writes and "written" or "read"] = true
  return a
end
-- A constant that tasks close over.
function Lower:constant(value)
  local name = ("K%d"):format(#self.constants + 1)
  self.constants[#self.constants + 1] = { name = name, value = value }
  return name
end

--- Opens loops over the elements of a tile.
function Lower.loops(t, rows, cols) t:open("for i, j in grid(%d, %d) do", rows, cols) end

return Lower
