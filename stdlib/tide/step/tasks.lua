-- The tasks that stand for operators of STeP that load, store, route and reshape: tide.step.design.
local tide = require "tide"
local Lower = require "tide.step.lower"

local ELEMENT, refuse, loops = Lower.ELEMENT, Lower.refuse, Lower.loops
local function passes(self, node, by) return self:passes(node, by) end

local op = {}

-- Where element i, j of tile `number` lies, for tiles of r x k in a tensor of one dimension or more.
local function place(a, number, r, k)
  local extents, outer = {}, ""
  for n in tostring(a.type):gmatch "%[(%d+)%]" do extents[#extents + 1] = tonumber(n) end
  local n = #extents
  local across, down = extents[n] // k, n > 1 and extents[n - 1] // r or 1
  local size = across * down -- tiles of a matrix
  for d = n - 2, 1, -1 do
    outer = ("[%s // %d %% %d]"):format(number, size, extents[d]) .. outer
    size = size * extents[d]
  end
  local row = across == 1 and number or ("%s // %d"):format(number, across)
  if n > 2 then row = ("(%s) %% %d"):format(row, down) end
  row = n > 1 and ("[(%s) * %d + i]"):format(row, r) or ""
  return ("%s%s%s[%s]"):format(a.name, outer, row,
    across == 1 and "j" or ("%s %% %d * %d + j"):format(number, across, k))
end

-- Puts the tiles of a load, lists closed.
local function load_tiles(self, t, node, a)
  local n = #node.shape
  for k = 1, n do
    t:open("for d%d = 0, %d do", k, node.shape[k] - 1)
  end
  local number = {}
  for k = 1, n do
    if node.stride[k] > 0 and node.shape[k] > 1 then number[#number + 1] = ("d%d * %d"):format(k, node.stride[k]) end
  end
  t:line("local at = i32(%s)", #number > 0 and table.concat(number, " + ") or "0")
  t:line("local o = %s[%d][%d](0)", a.type.elem, node.tile[1], node.tile[2])
  loops(t, node.tile[1], node.tile[2])
  t:line("o[i][j] = %s", place(a, "at", node.tile[1], node.tile[2]))
  t:close()
  self:put(t, node, 1, node.tile[1], "o")
  for k = n, 1, -1 do
    t:close()
    if k > 1 or node.has_ref then self:control(t, node, n - k + 1) end
  end
end

function op.load(self, t, node)
  if node.has_valid then refuse(node, "loads as many valid rows as a stream tells") end
  local a = self:argument(node.tensor)
  if not node.has_ref then
    load_tiles(self, t, node, a)
    self:control(t, node, 0)
  else
    self:each(t, node, function() load_tiles(self, t, node, a) end, passes(self, node, #node.shape), self:ends(node))
  end
  return { a }
end

function op.load_at(self, t, node)
  if node.has_valid then refuse(node, "loads as many valid rows as a stream tells") end
  local a = self:argument(node.tensor)
  self:each(t, node, function()
    t:line("local at = i32(c1_t[0][0] + %d)", node.base or 0)
    t:line("local o = %s[%d][%d](0)", a.type.elem, node.tile[1], node.tile[2])
    loops(t, node.tile[1], node.tile[2])
    t:line("o[i][j] = %s", place(a, "at", node.tile[1], node.tile[2]))
    t:close()
    self:put(t, node, 1, node.tile[1], "o")
  end, passes(self, node, 0), self:ends(node))
  return { a }
end

function op.store(self, t, node)
  local a = self:argument(node.tensor, true)
  local x = node.reads[1][1]
  t:line "local at = i32(0)"
  self:each(t, node, function()
    loops(t, x.rows, x.cols)
    t:line("%s = c1_t[i][j]", place(a, "at", x.rows, x.cols))
    t:close()
    t:line "at = i32(at + 1)"
  end)
  return { a }
end

-- Skips what closes lists of an input, to its next element.
local function next_element(self, t, channels, name)
  t:line("%s1 = i32(1)", name)
  t:open("while %s1 > 0 and %s1 < %d do", name, name, ELEMENT)
  self:get(t, channels, name)
  t:close()
end

function op.store_at(self, t, node)
  local a = self:argument(node.tensor, true)
  local lead, other = node.reads[1], node.reads[2]
  local number, x, tile = "c1_t", other[1], "x1_t"
  if node.ack == 1 then
    lead, other = other, lead
    number, x, tile = "x1_t", lead[1], "c1_t"
  end
  self:declare(t, other, "x")
  self:each(t, setmetatable({ reads = { lead } }, { __index = node }), function()
    next_element(self, t, other, "x")
    t:line("local at = i32(%s[0][0] + %d)", number, node.base or 0)
    loops(t, x.rows, x.cols)
    t:line("%s = %s[i][j]", place(a, "at", x.rows, x.cols), tile)
    t:close()
    t:line "local o = bool[1][1](true)"
    self:put(t, node, 1, 1, "o")
  end, passes(self, node, 0), function()
    next_element(self, t, other, "x")
    self:control(t, node, 0)
  end)
  return { a }
end
-- Puts n elements in the lists of `extents`: element(t) makes them of `at`.
local function lists(self, t, node, extents, element)
  local n = #extents
  t:line "local at = i32(0)"
  for k = 1, n do t:open("for d%d = 0, %d do", k, extents[k] - 1) end
  element()
  t:line "at = i32(at + 1)"
  for k = n, 1, -1 do
    t:close()
    if k > 1 then self:control(t, node, n - k + 1) end
  end
  self:control(t, node, 0)
end

function op.selectors(self, t, node)
  local ways, n = node.outs[1].ways, #node.selectors
  local rows = {}
  for i, set in ipairs(node.selectors) do
    rows[i] = {}
    for w = 1, ways do rows[i][w] = 0 end
    for _, w in ipairs(set) do rows[i][w + 1] = 1 end
  end
  if n == 0 then return self:control(t, node, 0) end
  local name = self:constant(tide.tensor(tide.u8[n][ways], rows))
  lists(self, t, node, node.extents, function()
    t:line("local o = u8[%d](0)", ways)
    t:line("for w = 0, %d do o[w] = %s[at][w] end", ways - 1, name)
    self:put(t, node, 1, 1, "o")
  end)
end

function op.values(self, t, node)
  local a, extents = self:argument(node.tensor), {}
  for n in tostring(a.type):gmatch "%[(%d+)%]" do extents[#extents + 1] = tonumber(n) end
  local index = ""
  for k = 1, #extents do index = index .. ("[d%d]"):format(k) end
  lists(self, t, node, extents, function()
    t:line("local o = %s[1][1](0)", a.type.elem)
    t:line("o[0][0] = %s%s", a.name, index)
    self:put(t, node, 1, 1, "o")
  end)
  return { a }
end

function op.sink(self, t, node) self:each(t, node, function() end) end

-- Gets a chunk of `rank` inner dimensions of an input: element(t) for each element, level(t) for what closes lists.
local function chunk(self, t, channels, name, rank, element, level)
  if rank == 0 then
    self:get(t, channels, name)
    element()
    return
  end
  t:line("%s1 = i32(%d)", name, ELEMENT)
  t:open("while %s1 ~= %d do", name, rank)
  self:get(t, channels, name)
  t:open("if %s1 >= %d then", name, ELEMENT)
  element()
  t:close "else"
  t.depth = t.depth + 1
  level()
  t:close()
  t:close()
end

-- Reads the stop of an input that another stream has, too.
local function follow(self, t, channels, name) self:get(t, channels, name) end

function op.partition(self, t, node)
  local rank, x = node.rank or 0, node.reads[1]
  self:declare(t, node.reads[2], "s")
  for i, p in ipairs(x) do
    t:line("local x%d = i32(1)", i)
    t:line("local x%d_t = %s", i, Lower.blank(p.type))
  end
  if #x > 1 then refuse(node, "routes tuples") end
  t:open "while s1 > 0 do"
  self:get(t, node.reads[2], "s")
  t:open("if s1 >= %d then", ELEMENT)
  local function routed(f)
    for w = 1, #node.outs do
      t:open("if s1_t[%d] ~= 0 then", w - 1)
      f(w)
      t:close()
    end
  end
  chunk(self, t, x, "x", rank,
    function() routed(function(w) self:put(t, node, w, ("(x1 - %d)"):format(ELEMENT), "x1_t") end) end,
    function() routed(function(w) self:control(t, node, "x1", w) end) end)
  t:close "else"
  t.depth = t.depth + 1
  follow(self, t, x, "x")
  t:line "if s1 == 0 then"
  t.depth = t.depth + 1
  self:ends(node)(t)
  t:close()
  t:close()
  t:close()
end

function op.reassemble(self, t, node)
  local rank, sel = node.rank or 0, node.reads[#node.ins]
  local from = self.by_id[node.ins[#node.ins][1]]
  local single = from.op == "selectors"
  for _, set in ipairs(from.selectors or {}) do single = single and #set <= 1 end
  if node.order ~= 1 and not single then
    refuse(node, "takes chunks as they arrive", 'order = "index" of reassemble gives one order')
  end
  self:declare(t, sel, "s")
  for i = 1, #node.ins - 1 do
    if #node.reads[i] > 1 then refuse(node, "gathers tuples") end
    self:declare(t, node.reads[i], "x" .. i .. "_")
  end
  t:open "while s1 > 0 do"
  self:get(t, sel, "s")
  t:open("if s1 >= %d then", ELEMENT)
  for i = 1, #node.ins - 1 do
    local name = "x" .. i .. "_"
    t:open("if s1_t[%d] ~= 0 then", i - 1)
    chunk(self, t, node.reads[i], name, rank,
      function() self:put(t, node, 1, ("(%s1 - %d)"):format(name, ELEMENT), name .. "1_t") end,
      function() self:control(t, node, name .. "1") end)
    t:close()
  end
  self:control(t, node, rank + 1)
  t:close "else"
  t.depth = t.depth + 1
  t:open "if s1 > 0 then"
  self:control(t, node, ("s1 + %d"):format(rank + 1))
  t:close "else"
  t.depth = t.depth + 1
  for i = 1, #node.ins - 1 do follow(self, t, node.reads[i], "x" .. i .. "_") end
  self:control(t, node, 0)
  t:close()
  t:close()
  t:close()
end

function op.parallelize(self, t, node)
  local rank, x = node.rank or #node.reads[1][1].stream.dims - 1, node.reads[1]
  if #x > 1 or #x[1].stream.dims ~= rank + 1 then refuse(node, "deals out lists of lists") end
  self:declare(t, x, "c")
  t:line "local way = i32(0)"
  t:open "while c1 > 0 do"
  self:get(t, x, "c")
  t:open "if c1 > 0 then"
  for w = 1, #node.outs do
    t:open("if way == %d then", w - 1)
    t:open("if c1 >= %d then", ELEMENT)
    self:put(t, node, w, ("(c1 - %d)"):format(ELEMENT), "c1_t")
    t:close "else"
    t.depth = t.depth + 1
    self:control(t, node, "c1", w)
    t:close()
    t:close()
  end
  t:line("if %s then way = i32((way + 1) %% %d) end", rank == 0 and ("c1 >= %d"):format(ELEMENT) or "c1 == " .. rank,
    #node.outs)
  t:close "else"
  t.depth = t.depth + 1
  self:ends(node)(t)
  t:close()
  t:close()
end

-- ---- shape ----

-- Puts the element at hand on.
local function pass(self, t, node)
  if #node.reads[1] > 1 then refuse(node, "reshapes tuples") end
  self:put(t, node, 1, ("(c1 - %d)"):format(ELEMENT), "c1_t")
end

function op.flatten(self, t, node)
  self:each(t, node, function() pass(self, t, node) end, function()
    t:open("if c1 <= %d then", node.lo)
    self:control(t, node, "c1")
    t:close()
    t:open("if c1 > %d then", node.hi)
    self:control(t, node, ("c1 - %d"):format(node.hi - node.lo))
    t:close()
  end, self:ends(node))
end

function op.promote(self, t, node)
  local dims = #node.reads[1][1].stream.dims
  local p = node.at or dims
  local outermost = p == dims
  if outermost then t:line "local some = i32(0)" end
  self:each(t, node, function()
    pass(self, t, node)
    if outermost then t:line "some = i32(1)" end
    if p == 0 then self:control(t, node, 1) end
  end, function()
    if outermost then t:line "some = i32(1)" end
    t:open("if c1 < %d then", p)
    self:control(t, node, "c1")
    t:close()
    t:open("if c1 == %d then", p)
    self:control(t, node, "c1")
    t:close()
    t:open("if c1 >= %d then", math.max(p, 1))
    self:control(t, node, "c1 + 1")
    t:close()
  end, function()
    if outermost then
      t:open "if some == 1 then"
      self:control(t, node, p)
      t:close()
    end
    self:control(t, node, 0)
  end)
end

-- The tile that fills a last group, as text of its declaration.
local function declare_fill(self, t, node)
  local x = node.reads[1][1]
  if not node.extra then return end
  t:line("local fill = %s", Lower.blank(x.type))
  if not node.extra.data then return end
  loops(t, x.rows, x.cols)
  t:line("fill[i][j] = %s[i][j]", self:constant(node.extra.data))
  t:close()
end

-- Fills a group of dimension 0 that is begun, and closes it.
local function fill_group(self, t, node)
  if (node.rank or 0) > 0 or not node.extra then return end
  t:open "if n > 0 then"
  t:open("while n < %d do", node.chunk)
  self:put(t, node, 1, 0, "fill")
  t:line "n = i32(n + 1)"
  t:close()
  t:line "n = i32(0)"
  self:control(t, node, 1)
  t:close()
end

-- Counts what a group has; a full one is closed.
local function count_group(self, t, node)
  t:line "n = i32(n + 1)"
  t:open("if n == %d then", node.chunk)
  t:line "n = i32(0)"
  self:control(t, node, (node.rank or 0) + 1)
  t:close()
end

function op.reshape(self, t, node)
  local rank, dims = node.rank or 0, #node.reads[1][1].stream.dims
  if self.readers[node.id .. ".2"] then refuse(node, "tells its padding") end
  t:line "local n, some = i32(0), i32(0)"
  declare_fill(self, t, node)
  self:each(t, node, function()
    t:line "some = i32(1)"
    pass(self, t, node)
    if rank == 0 then count_group(self, t, node) end
  end, function()
    t:line "some = i32(1)"
    if rank == 0 then
      fill_group(self, t, node)
      self:control(t, node, "c1 + 1")
      return
    end
    t:open("if c1 <= %d then", rank)
    self:control(t, node, "c1")
    t:close()
    t:open("if c1 == %d then", rank)
    count_group(self, t, node)
    t:close()
    t:open("if c1 > %d then", rank)
    self:control(t, node, "c1 + 1")
    t:close()
  end, function()
    fill_group(self, t, node)
    if node.outer == 1 then
      t:open "if some == 1 then"
      self:control(t, node, dims + 1)
      t:close()
    end
    self:control(t, node, 0)
  end)
end

function op.rep(self, t, node)
  self:each(t, node, function()
    t:open("for n = 0, %d do", node.n - 1)
    pass(self, t, node)
    t:close()
    self:control(t, node, 1)
  end, passes(self, node, 1), self:ends(node))
end

function op.expand(self, t, node)
  local rank, x, ref = node.rank or 1, node.reads[1], node.reads[2]
  if #x > 1 or #ref > 1 then refuse(node, "repeats tuples") end
  self:declare(t, x, "x")
  self:declare(t, ref, "c")
  t:line "local has = i32(0)"
  local function need()
    t:open "if has == 0 then"
    self:get(t, x, "x")
    t:line "local rows = i32(x1)"
    t:line "held = rows"
    t:line "has = i32(1)"
    t:close()
  end
  local function done()
    t:line "has = i32(0)"
  end
  t:line "local held = i32(0)"
  t:open "while c1 > 0 do"
  self:get(t, ref, "c")
  t:open("if c1 >= %d then", ELEMENT)
  need()
  self:put(t, node, 1, ("(held - %d)"):format(ELEMENT), "x1_t")
  t:close "else"
  t.depth = t.depth + 1
  if rank == #x[1].stream.dims then
    -- One element for all of ref: its lists, and its end.
    t:open "if c1 == 0 then"
    need()
    t:line("x1 = i32(1)")
    t:open "while x1 > 0 do"
    self:get(t, x, "x")
    t:close()
    t:close()
  else
    t:open("if c1 == %d then", rank)
    need()
    for _ = 1, rank do self:get(t, x, "x") end
    done()
    t:close()
    t:open("if c1 > %d or c1 == 0 then", rank)
    self:get(t, x, "x")
    t:close()
  end
  self:control(t, node, "c1")
  t:close()
  t:close()
end

return op
