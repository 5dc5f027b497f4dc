-- Buffers of STeP in designs: tide.step.design. A buffer is a list of as many more levels as it has dimensions, on the
-- streams of its tiles, so that what routes and reshapes buffers is what routes and reshapes lists; streamify keeps one
-- buffer in an array of the task.
local Lower = require "tide.step.lower"

local ELEMENT, refuse, loops = Lower.ELEMENT, Lower.refuse, Lower.loops

-- By operator: what counts dimensions from the innermost, and its default (nil: the outermost, which moves by itself).
local counts = {
  flatten = { lo = 0, hi = 0 }, partition = { rank = 0 }, reassemble = { rank = 0 }, promote = {}, parallelize = {},
  bufferize = {}, streamify = {}, sink = {},
}

--- Makes tiles in longer lists of all streams of buffers of a graph; counted dimensions move.
function Lower:spread_buffers()
  for _, node in ipairs(self.graph.nodes) do
    for _, s in ipairs(node.outs) do
      if s.kind == "buffer" then
        local inner = s.parts[1]
        if inner.kind ~= "tile" then refuse(node, "makes buffers of what is no tile") end
        s.buffer, s.kind, s.type, s.rows, s.cols = #s.shape, "tile", inner.type, inner.rows, inner.cols
        s.dims = table.move(s.dims, 1, #s.dims, #s.shape + 1, table.move(s.shape, 1, #s.shape, 1, {}))
      end
    end
  end
  for _, node in ipairs(self.graph.nodes) do
    for i, ref in ipairs(node.ins) do
      local levels = self:stream_of(ref).buffer
      local names = counts[node.op]
      local data = i == 1 or node.op == "reassemble" and i < #node.ins
      if levels and node.op ~= "zip" and node.op ~= "assume_shape" then
        if not names or not data then refuse(node, "reads buffers") end
        if i == 1 then
          for name, default in pairs(names) do node[name] = (node[name] or default) + levels end
          for _, name in ipairs { "at", "rank" } do
            if not names[name] and node[name] and node.op ~= "bufferize" then node[name] = node[name] + levels end
          end
        end
      end
    end
  end
end

--- The most tiles that an element of a channel has.
function Lower:tiles_of(channel)
  local n = 1
  for k = 1, channel.stream.buffer or 0 do
    n = n * self:extent(channel.from, channel.stream.dims[k], "tiles in a buffer")
  end
  return n
end

local op = {}

-- The tiles of the dimensions that become buffers pass as they come.
function op.bufferize(self, t, node)
  if self:stream_of(node.ins[1]).buffer then refuse(node, "makes buffers of buffers") end
  if #node.reads[1] > 1 then refuse(node, "makes buffers of tuples") end
  self:each(t, node, function() self:put(t, node, 1, ("(c1 - %d)"):format(ELEMENT), "c1_t") end,
    self:passes(node, 0), self:ends(node))
end

-- Keeps the tile at hand as the next of the buffer.
local function keep(t, x, most)
  t:open("if n < %d then", most)
  loops(t, x.rows, x.cols)
  t:line "held[n][i][j] = c1_t[i][j]"
  t:close()
  t:line("valid[n] = i32(c1 - %d)", ELEMENT)
  t:close()
  t:line "n = i32(n + 1)"
end

-- Puts kept tile `at`.
local function put_kept(self, t, node, x)
  t:line("local o = %s", Lower.blank(x.type))
  loops(t, x.rows, x.cols)
  t:line "o[i][j] = held[at][i][j]"
  t:close()
  self:put(t, node, 1, "valid[at]", "o")
end

-- Puts the buffer's lists once, and closes them: all of it, whose inner extents are `inner`.
local function put_whole(self, t, node, x, inner)
  t:line "local at = i32(0)"
  t:open "while at < n do"
  put_kept(self, t, node, x)
  t:line "at = i32(at + 1)"
  local size = 1
  for k, extent in ipairs(inner) do
    size = size * extent
    t:open("if at %% %d == 0 then", size)
    self:control(t, node, k)
    t:close()
  end
  t:close()
  self:control(t, node, #inner + 1)
end

-- The same of an affine read.
local function put_view(self, t, node, x)
  local number = {}
  for k, extent in ipairs(node.view) do
    t:open("for d%d = 0, %d do", k, extent - 1)
    number[k] = ("d%d * %d"):format(k, node.stride[k])
  end
  t:line("local at = i32(%s)", table.concat(number, " + "))
  put_kept(self, t, node, x)
  for k = #node.view, 1, -1 do
    t:close()
    self:control(t, node, #node.view - k + 1)
  end
end

-- Puts the buffer as often as `times` says.
local function put_times(self, t, node, x, inner)
  local levels = #node.view > 0 and #node.view or #inner + 1
  for k, n in ipairs(node.shape) do t:open("for q%d = 0, %d do", k, n - 1) end
  if #node.view > 0 then put_view(self, t, node, x) else put_whole(self, t, node, x, inner) end
  for k = #node.shape, 1, -1 do
    t:close()
    self:control(t, node, levels + #node.shape - k + 1)
  end
end

-- One buffer after the other, each read `times` over.
local function by_times(self, t, node, x, inner, most)
  local levels = #inner + 1
  local out = (#node.view > 0 and #node.view or levels) + #node.shape
  self:each(t, node, function() keep(t, x, most) end, function()
    t:open("if c1 == %d then", levels)
    put_times(self, t, node, x, inner)
    t:line "n = i32(0)"
    t:close()
    t:open("if c1 > %d then", levels)
    self:control(t, node, ("c1 + %d"):format(out - levels))
    t:close()
  end, self:ends(node))
end

-- One buffer for each list of `over` levels of a reference, read for each of its elements.
local function by_reference(self, t, node, x, inner, most)
  local levels, ref = #inner + 1, node.reads[2]
  local out = #node.view > 0 and #node.view or levels
  local over = #ref[1].stream.dims - (#x.stream.dims - levels)
  if #ref > 1 then refuse(node, "reads a buffer for each tuple") end
  self:declare(t, node.reads[1], "c")
  self:declare(t, ref, "r")
  t:line "local has = i32(0)"
  local function need()
    t:open "if has == 0 then"
    t:line "n = i32(0)"
    t:line("c1 = i32(%d)", ELEMENT)
    t:open("while c1 ~= %d do", levels)
    self:get(t, node.reads[1], "c")
    t:open("if c1 >= %d then", ELEMENT)
    keep(t, x, most)
    t:close()
    t:close()
    t:line "has = i32(1)"
    t:close()
  end
  t:open "while r1 > 0 do"
  self:get(t, ref, "r")
  t:open("if r1 >= %d then", ELEMENT)
  need()
  put_times(self, t, node, x, inner)
  t:close "else"
  t.depth = t.depth + 1
  t:open("if r1 == %d then", over)
  need()
  t:line "has = i32(0)"
  t:close()
  t:open("if r1 > %d or r1 == 0 then", over)
  self:get(t, node.reads[1], "c")
  t:close()
  t:open "if r1 > 0 then"
  self:control(t, node, ("r1 + %d"):format(out))
  t:close "else"
  t.depth = t.depth + 1
  self:control(t, node, 0)
  t:close()
  t:close()
  t:close()
end

function op.streamify(self, t, node)
  local x, inner = node.reads[1][1], {}
  local levels = x.stream.buffer
  if not levels or #node.reads[1] > 1 then refuse(node, "reads tuples of buffers") end
  local most = self:tiles_of(x)
  for k = 1, levels - 1 do inner[k] = self:bound(x.stream.dims[k]) end
  if most < 1 then refuse(node, "reads buffers without tiles") end
  t:line "local n = i32(0)"
  t:line("local held = %s", Lower.blank(("%s[%d][%d][%d]"):format(x.stream.type, most, x.rows, x.cols)))
  t:line("local valid = i32[%d](0)", most)
  local read = node.has_ref and by_reference or by_times
  read(self, t, node, x, inner, most)
end

return op
