-- The tasks that stand for operators of STeP with a function: tide.step.design.
local tide = require "tide"
local core = require "tide.step.core"
local Lower = require "tide.step.lower"

local ELEMENT, refuse, loops = Lower.ELEMENT, Lower.refuse, Lower.loops
local function passes(self, node, by) return self:passes(node, by) end

local op = {}

-- ---- functions ----

local f = {}

-- The number of valid rows of part i of an element, as text.
local function rows_of(parts, i) return parts[i].rows_text end

-- Writes into o, of rows x cols, the loop of an elementwise function below v valid rows.
local function elementwise(t, out, v, expression)
  loops(t, out.rows, out.cols)
  t:line("if i < %s then o[i][j] = %s end", v, expression)
  t:close()
end

local function at(p, i, j) return ("%s[%s][%s]"):format(p.tile, p.rows == 1 and "0" or i, p.cols == 1 and "0" or j) end

-- The valid rows of x op y.
local function joint(t, a, b, sums)
  if a.rows ~= b.rows then
    local one, other = a, b
    if b.rows == 1 then one, other = b, a end
    t:line("local v = i32(tide.select(%s > 0, %s, 0))", rows_of({ one }, 1), rows_of({ other }, 1))
  else
    t:line("local v = i32(tide.%s(%s, %s))", sums and "max" or "min", a.rows_text, b.rows_text)
  end
end

local function binary(sign, sums)
  return function(_, t, _, parts, out)
    joint(t, parts[1], parts[2], sums)
    elementwise(t, out, "v", at(parts[1], "i", "j") .. sign .. at(parts[2], "i", "j"))
  end
end
f.add, f.mul, f.div = binary(" + ", true), binary(" * "), binary(" / ")

local function product(transposed)
  return function(_, t, node, parts)
    local b = parts[2]
    if b.partial then refuse(node, "multiplies by tiles of which some rows may not be valid") end
    t:line("local v = i32(%s)", parts[1].rows_text)
    t:line("o:set(tide.matmul(%s, %s%s))", parts[1].tile, b.tile, transposed and ":transpose()" or "")
  end
end
f.matmul, f.matmul_t = product(), product(true)

function f.silu(_, t, _, parts, out)
  t:line("local v = i32(%s)", parts[1].rows_text)
  local x, T = at(parts[1], "i", "j"), out.elem
  elementwise(t, out, "v", ("%s / (%s(1) + tide.exp(%s(0) - %s))"):format(x, T, T, x))
end

function f.exp(_, t, _, parts, out)
  t:line("local v = i32(%s)", parts[1].rows_text)
  elementwise(t, out, "v", ("tide.exp(%s)"):format(at(parts[1], "i", "j")))
end

function f.row_sum(_, t, _, parts, out)
  t:line("local v = i32(%s)", parts[1].rows_text)
  t:open("for i = 0, %d do", out.rows - 1)
  t:line("local sum = %s(0)", out.elem)
  t:line("for j = 0, %d do sum = sum + %s[i][j] end", parts[1].cols - 1, parts[1].tile)
  t:line "if i < v then o[i][0] = sum end"
  t:close()
end

-- The tile as it is, with a number of valid rows.
local function same_tile(t, x)
  loops(t, x.rows, x.cols)
  t:line("o[i][j] = %s[i][j]", x.tile)
  t:close()
end

function f.set_offset(_, t, _, parts)
  same_tile(t, parts[1])
  t:line("local v = i32(tide.min(tide.max(i32(%s[0][0]), 0), %d))", parts[2].tile, parts[1].rows)
end

function f.append_row(_, t, _, parts)
  local x = parts[1]
  same_tile(t, x)
  t:line("local v = i32(%s)", x.rows_text)
  t:line("for j = 0, %d do if v < %d then o[v][j] = %s[0][j] end end", x.cols - 1, x.rows, parts[2].tile)
  t:line("v = i32(tide.min(v + 1, %d))", x.rows)
end

function f.cache_slot(_, t, node, parts, out)
  t:line "local v = i32(1)"
  t:line("o[0][0] = %s(%d * %s[0][0] + %s[0][0])", out.elem, node.factor, parts[1].tile, parts[2].tile)
end

function f.signal(_, t, _, _, out)
  t:line "local v = i32(1)"
  t:line("o[0][0] = %s(1)", out.elem)
end

function f.kernel(self, t, node, parts, out)
  local types, names, v = {}, {}, {}
  for i = 1, #parts + 1 do
    local p = i == node.result and out or parts[i < node.result and i or i - 1]
    types[i] = tide[tostring(p.elem)][p.rows][p.cols]
    names[i] = i == node.result and "o" or p.tile
    if i ~= node.result and p.has_rows then v[#v + 1] = p.rows_text end
    if i ~= node.result and p.partial and not node.by_rows then
      refuse(node, "calls a kernel that does not treat rows by themselves on tiles of which some may not be valid")
    end
  end
  local text = #v > 0 and v[1] or tostring(out.rows)
  for i = 2, #v do text = ("tide.min(%s, %s)"):format(text, v[i]) end
  t:line("local v = i32(%s)", text)
  t:line("%s(%s)", self:constant(core.kernel_at(node.kernel, table.unpack(types))), table.concat(names, ", "))
  t:open("for i, j in grid(%d, %d) do", out.rows, out.cols)
  t:line "if i >= v then o[i][j] = 0 end"
  t:close()
end

-- The parts of the element at hand of an input.
function Lower:parts_of(channels, name, first)
  local parts = {}
  for i, x in ipairs(channels) do
    local s = x.stream
    parts[i] = { tile = name .. i .. "_t", rows_text = ("(%s%d - %d)"):format(name, i, ELEMENT), rows = x.rows,
      cols = x.cols, elem = s.type, partial = self.partial[x.ref[1]], channel = x, has_rows = true }
  end
  return first and table.move(parts, 1, #parts, 2, { first }) or parts
end

local function result_of(self, node)
  local s = node.outs[1]
  local _, rows, cols = self:token(node, s)
  return { rows = rows, cols = cols, elem = s.type }
end

-- Applies the node's function to parts: o is the result, v its valid rows.
local function apply(self, t, node, parts, out)
  local g = f[node.fn] or refuse(node, ("calls fn.%s"):format(node.fn))
  t:line("local o = %s[%d][%d](0)", out.elem, out.rows, out.cols)
  g(self, t, node, parts, out)
end

function op.map(self, t, node)
  local out = result_of(self, node)
  self:each(t, node, function()
    apply(self, t, node, self:parts_of(node.reads[1], "c"), out)
    self:put(t, node, 1, "v", "o")
  end, passes(self, node, 0), self:ends(node))
end

-- Folds that put tiles beside the state: what of x goes where.
local stacked = {}

function stacked.retile_row(t, x, out)
  t:open("for i, j in grid(%d, %d) do", x.rows, x.cols)
  t:line("if i < %s and held + i < %d then state[held + i][j] = %s[i][j] end", x.rows_text, out.rows, x.tile)
  t:close()
  t:line("held = i32(held + %s)", x.rows_text)
end

function stacked.retile_col(t, x, out)
  t:open("for i, j in grid(%d, %d) do", x.rows, x.cols)
  t:line("if at + j < %d then state[i][at + j] = %s[i][j] end", out.cols, x.tile)
  t:close()
  t:line("at = i32(at + %d)", x.cols)
  t:line("held = i32(tide.max(held, %s))", x.rows_text)
end

-- The state at the start of a group.
local function begin(t, out, start)
  t:line "filled = i32(0)"
  t:line "at = i32(0)"
  t:line("held = i32(%s)", start and out.rows or 0)
  loops(t, out.rows, out.cols)
  t:line("state[i][j] = %s", start and start .. "[i][j]" or "0")
  t:close()
end

-- Takes the element at hand into the state.
local function fold(self, t, node, out, start)
  local parts = self:parts_of(node.reads[1], "c")
  if stacked[node.fn] and node.op ~= "map_accum" then return stacked[node.fn](t, parts[1], out) end
  local state = { tile = "state", rows_text = "held", rows = out.rows, cols = out.cols, elem = out.elem,
    has_rows = true }
  if node.op == "map_accum" then
    apply(self, t, node, parts, out)
    loops(t, out.rows, out.cols)
    t:line "if filled == 0 then state[i][j] = o[i][j] else state[i][j] = state[i][j] + o[i][j] end"
    t:close()
    t:line "held = i32(tide.select(filled == 0, v, tide.max(held, v)))"
  elseif node.fn == "add" and not start then
    t:open "if filled == 0 then"
    t:line("state:set(%s)", parts[1].tile)
    t:line("held = i32(%s)", parts[1].rows_text)
    t:close "else"
    t.depth = t.depth + 1
    apply(self, t, node, { state, parts[1] }, out)
    t:line "state:set(o)"
    t:line "held = v"
    t:close()
  else
    if node.fn == "kernel" and not start then t:line("if filled == 0 then held = i32(%d) end", out.rows) end
    apply(self, t, node, self:parts_of(node.reads[1], "c", state), out)
    t:line "state:set(o)"
    t:line "held = v"
  end
  t:line "filled = i32(1)"
end

local function folds(self, t, node, after)
  local out, rank = result_of(self, node), node.rank or 1
  local start = node.extra and node.extra.data and self:constant(node.extra.data)
  if node.fn == "add" and node.op ~= "map_accum" then
    local x = node.reads[1][1]
    if x.rows ~= out.rows or x.cols ~= out.cols then refuse(node, "adds tiles of several extents") end
  end
  t:line "local filled, at, held = i32(0), i32(0), i32(0)"
  t:line("local state = %s[%d][%d](0)", out.elem, out.rows, out.cols)
  begin(t, out, start)
  after(out, rank, start)
end

function op.accum(self, t, node)
  folds(self, t, node, function(out, rank, start)
    local function emit()
      self:put(t, node, 1, "held", "state")
      begin(t, out, start)
    end
    local whole = rank == #node.reads[1][1].stream.dims
    self:each(t, node, function() fold(self, t, node, out, start) end, function()
      if not whole then
        t:open("if c1 == %d then", rank)
        emit()
        t:close()
      end
      t:open("if c1 > %d then", rank)
      self:control(t, node, ("c1 - %d"):format(rank))
      t:close()
    end, self:ends(node))
  end)
end
op.map_accum = op.accum

function op.scan(self, t, node)
  folds(self, t, node, function(out, rank, start)
    self:each(t, node, function()
      if node.emit == 1 then self:put(t, node, 1, "held", "state") end
      fold(self, t, node, out, start)
      if node.emit ~= 1 then self:put(t, node, 1, "held", "state") end
    end, function()
      t:open("if c1 >= %d then", rank)
      begin(t, out, start)
      t:close()
      self:control(t, node, "c1")
    end, self:ends(node))
  end)
end

-- How many elements flat_map makes of one, and what they are, of n.
local many = {}

function many.split_rows(parts)
  local x = parts[1]
  return x.rows_text, ("for j = 0, %d do o[0][j] = %s[n][j] end"):format(x.cols - 1, x.tile)
end

function many.addresses(parts, node)
  local x = parts[1]
  local find = ("for w = 0, %d do if %s[w] ~= 0 then o[0][0] = u64(w * %d + n) end end"):format(
    x.channel.stream.ways - 1, x.tile, node.factor)
  return tostring(node.factor), find
end

function many.cache_addresses(parts, node)
  return ("i32(%s[0][0])"):format(parts[2].tile),
    ("o[0][0] = u64(%d * %s[0][0] + n)"):format(node.factor, parts[1].tile)
end

function many.last_tile(parts)
  local x = parts[1].tile
  return ("i32(%s[0][0])"):format(x), ("if n == %s[0][0] - 1 then o[0] = 1 else o[1] = 1 end"):format(x)
end

function op.flat_map(self, t, node)
  local rank, s = node.rank or 0, node.outs[1]
  local make = many[node.fn] or refuse(node, ("calls fn.%s"):format(node.fn))
  local type = self:token(node, s)
  self:each(t, node, function()
    local count, body = make(self:parts_of(node.reads[1], "c"), node)
    t:line "local n = i32(0)"
    t:open("while n < %s do", count)
    t:line("local o = %s(0)", type)
    t:line(body)
    self:put(t, node, 1, 1, "o")
    t:line "n = i32(n + 1)"
    t:close()
    if rank == 1 then self:control(t, node, 1) end
  end, passes(self, node, rank), self:ends(node))
end

return op
