-- The mappings of a Func that a search goes through: which loops are space, in tiles of which size, or by which matrix;
-- how each operand comes to the elements; where the result goes. A mapping is a list of directives.
local affine = require "tide.t2s.define.affine"
local expr = require "tide.t2s.define.expr"
local func = require "tide.t2s.define.func"

local space = {}

local fail = expr.fail

-- A loop of the Func: {var =, extent = at the sizes of the search, size = its bound if that is a size, sum = whether
-- the result does not have it}.
local function loops_of(def, main, at)
  local left, list = {}, {}
  for _, x in ipairs(main.lhs.idx) do
    expr.walk(x, function(y) if y.op == "var" then left[y.name] = true end end)
  end
  for _, d in ipairs(main.domain) do
    local lo, hi = affine.value(d.lo, {}, at), affine.value(d.hi, {}, at)
    if not (lo and hi) then
      fail(main.place, "t2s-search", ("the search needs the extent of %s"):format(d.var.name),
        ("give sizes values: at = {%s = 16}"):format(d.hi.op == "size" and tostring(d.hi.size) or "N"))
    end
    list[#list + 1] = { var = d.var, name = d.var.name, extent = hi - lo, whole = lo == 0, sum = not left[d.var.name],
      fixed = d.hi.op == "num", size = d.hi.op == "size" and tostring(d.hi.size):match "^[%a_][%w_]*$" and d.hi or nil }
  end
  if #list == 0 then fail(main.place, "t2s-search", ("%s has no loops"):format(def.name)) end
  return list
end

-- What a stage reads of others: {base =, uses = names of loops}, each once.
local function operands_of(group)
  local list, by = {}, {}
  for _, s in ipairs(group) do
    expr.walk(s.rhs, function(r)
      if r.op ~= "ref" or r.base.kind ~= "param" or #r.idx == 0 then return end
      local o = by[r.base] or { base = r.base, uses = {}, reads = 0 }
      if not by[r.base] then list[#list + 1] = o end
      by[r.base], o.reads = o, o.reads + 1
      for _, x in ipairs(r.idx) do
        expr.walk(x, function(v) if v.op == "var" then o.uses[v.name] = true end end)
      end
    end)
  end
  return list
end

-- What is known of a Func that is mapped: its loops, operands, whether values travel between iterations.
local function read(def, p, at)
  local group, carried = {}, false
  for _, s in ipairs(p.stages) do
    if s.call then fail(s.place, "t2s-search", "what calls kernels is mapped by hand", nil, "unsupported") end
    local all = s.func == def or def.group and s.func.group == def.group
    for _, k in ipairs(s.kinds) do all = all and k == "var" end
    if all then group[#group + 1] = s end
  end
  local main
  for _, s in ipairs(group) do
    if not main or #s.domain >= #main.domain then main = s end
  end
  if not main then fail(def.stages[1].place, "t2s-search", ("%s has no line over Vars"):format(def.name)) end
  for _, s in ipairs(group) do
    expr.walk(s.rhs, function(r)
      for _, w in ipairs(group) do
        if r.op == "ref" and r.base == w.func and (w.func ~= s.func or expr.text(r) ~= expr.text(s.lhs)) then
          carried = true
        end
      end
    end)
  end
  local f = { def = def, main = main, loops = loops_of(def, main, at), operands = operands_of(group),
    carried = carried, work = 1, prefix = "" }
  for _, l in ipairs(f.loops) do f.work = f.work * l.extent end
  return f
end

--- What is known of the Funcs of a program, those that others read first; `def` is the last.
function space.read(def, p, at)
  local list, seen = {}, { [def] = true }
  for _, g in ipairs(def.group or {}) do seen[g] = true end
  for _, s in ipairs(p.stages) do
    if not seen[s.func] then
      local g = s.func.group and s.func.group[1] or s.func
      for _, x in ipairs(s.func.group or { g }) do seen[x] = true end
      list[#list + 1] = read(g, p, at)
    end
  end
  list[#list + 1] = read(def, p, at)
  for n, f in ipairs(#list > 1 and list or {}) do f.prefix, f.inner = f.def.name .. "_", n < #list end
  return list
end

-- Calls fn with each choice of one of each list.
local function product(lists, fn, n, picked)
  n, picked = n or 1, picked or {}
  if n > #lists then return fn(table.move(picked, 1, #lists, 1, {})) end
  for _, x in ipairs(lists[n]) do
    picked[n] = x
    product(lists, fn, n + 1, picked)
  end
end

-- Ways to lay loops out in space by tiles: for each loop none (1), all of it, or a tile that divides it; `alone`: one
-- element, too.
local function tiles(f, most, alone)
  local lists, out = {}, {}
  for n, l in ipairs(f.loops) do
    lists[n] = { 1 }
    for p = 2, math.min(l.extent, most) do
      local fits = l.extent % p == 0 and l.whole and (not l.sum or f.carried)
      if fits and (p == l.extent or l.size or l.fixed) then lists[n][#lists[n] + 1] = p end
    end
  end
  product(lists, function(pick)
    local pes, time = 1, false
    for n, p in ipairs(pick) do
      pes = pes * p
      time = time or p < f.loops[n].extent or f.loops[n].extent == 1
    end
    if (pes > 1 or alone) and pes <= most and time then
      out[#out + 1] = { tile = pick, pes = pes, text = table.concat(pick, "x") }
    end
  end)
  return out
end

-- The span of a row over the loops.
local function span(loops, row)
  local n = 1
  for c, l in ipairs(loops) do n = n + math.abs(row[c]) * (l.extent - 1) end
  return n
end

local function determinant(m)
  if #m == 1 then return m[1][1] end
  local sum = 0
  for c = 1, #m do
    local minor = {}
    for r = 2, #m do
      minor[r - 1] = {}
      for k = 1, #m do
        if k ~= c then minor[r - 1][#minor[r - 1] + 1] = m[r][k] end
      end
    end
    sum = sum + (c % 2 == 1 and 1 or -1) * m[1][c] * determinant(minor)
  end
  return sum
end

-- Matrices of 0 and 1 over some of the loops, all rows but the last in space.
local function matrices(f, most)
  local out = {}
  for set = 1, (1 << #f.loops) - 1 do
    local picked = {}
    for n, l in ipairs(f.loops) do
      if set & 1 << (n - 1) ~= 0 then picked[#picked + 1] = l end
    end
    local m = #picked
    if m > 1 and m <= 3 then
      for bits = 0, (1 << m * m) - 1 do
        local rows, pes = {}, 1
        for r = 1, m do
          rows[r] = {}
          for c = 1, m do rows[r][c] = bits >> ((r - 1) * m + c - 1) & 1 end
          if r < m then pes = pes * span(picked, rows[r]) end
        end
        if pes <= most and pes > 1 and math.abs(determinant(rows)) == 1 then
          out[#out + 1] = { loops = picked, rows = rows, pes = pes, steps = span(picked, rows[m]),
            text = ("%d:%d"):format(set, bits) }
        end
      end
    end
  end
  return out
end

--- The projections and tiles of a Func with at most so many elements; `alone`: one element, too.
function space.layouts(f, most, alone)
  local out = tiles(f, most, alone)
  if f.carried then table.move(matrices(f, most), 1, 1 << 20, #out + 1, out) end
  return out
end

-- A name that no loop has.
local function fresh(f, name)
  local used = {}
  for _, l in ipairs(f.loops) do used[l.name] = true end
  while used[name] do name = name .. name:sub(-1) end
  return name
end

-- The space Vars of a layout by tiles, as {loop =, var =}, and the directives that make them.
local function laid(f, layout, add)
  local outer, inner, sizes, axes = {}, {}, {}, {}
  for n, p in ipairs(layout.tile) do
    local l = f.loops[n]
    if p > 1 and p < l.extent then
      local v = expr.new { op = "var", name = fresh(f, l.name .. l.name:sub(-1)) }
      outer[#outer + 1], inner[#inner + 1], sizes[#sizes + 1] = l.var, v, p
      axes[#axes + 1] = { loop = l, var = v }
    elseif p > 1 then axes[#axes + 1] = { loop = l, var = l.var } end
  end
  if #outer > 0 then
    local args = table.move(inner, 1, #inner, #outer + 1, table.move(outer, 1, #outer, 1, {}))
    add(f.def, "tile", table.unpack(table.move(sizes, 1, #sizes, #args + 1, args)))
  end
  return axes
end

-- The loops in time of a layout by tiles, outermost first, as tile and unroll leave them.
local function in_time(f, layout)
  local before, tiled, behind = {}, {}, {}
  for n, p in ipairs(layout.tile) do
    local l = f.loops[n]
    if p > 1 and p < l.extent then tiled[#tiled + 1] = l
    elseif p == 1 then
      local list = #tiled > 0 and behind or before
      list[#list + 1] = l
    end
  end
  table.move(tiled, 1, #tiled, #before + 1, before)
  return table.move(behind, 1, #behind, #before + 1, before)
end

--- How an operand may come: its elements read it, or a Func sends it, which others along the axes that it depends on
--- pass on; `apart`: such a Func for each element along these. With buffers: the Func keeps it ("pass keep k") from
--- loop k on, a loop that it does not depend on, and another one loads it once for all of that.
function space.ways(f, layout, o, buffers)
  local out = { "own" }
  if layout.rows or f.carried or o.reads > 1 then return out end
  local shared, split = 0, 0
  for n, p in ipairs(layout.tile) do
    if p > 1 and o.uses[f.loops[n].name] then split = split + 1 elseif p > 1 then shared = shared + 1 end
  end
  if shared == 1 then
    out[#out + 1] = "pass"
    if split > 0 then out[#out + 1] = "apart" end
  elseif shared == 0 and split == 1 then out[#out + 1] = "scatter" end
  for n = 2, buffers and #out or 0 do
    for _, l in ipairs(in_time(f, layout)) do
      if not o.uses[l.name] then out[#out + 1] = out[n] .. " keep " .. l.name end
    end
  end
  return out
end

--- How many lanes elements may have: divisors of the extent of the innermost loop in time, up to `most`.
function space.lanes(f, layout, most)
  local out = { 1 }
  if layout.rows or f.carried then return out end
  local time = in_time(f, layout)
  local l = time[#time]
  for n = 2, l and l.whole and (l.size or l.fixed) and math.min(most, l.extent) or 1 do
    if l.extent % n == 0 then out[#out + 1] = n end
  end
  return out
end

-- The orders of the loops in time of a layout by tiles, outermost first, that as written first, as texts.
local function orders(f, layout)
  local names, out = {}, {}
  for n, p in ipairs(layout.tile) do
    if p < f.loops[n].extent then names[#names + 1] = f.loops[n].name end
  end
  local function grow(list, left)
    if #left == 0 then out[#out + 1] = table.concat(list, " ") end
    for n, x in ipairs(left) do
      local rest = table.move(left, 1, #left, 1, {})
      table.remove(rest, n)
      list[#list + 1] = x
      grow(list, rest)
      list[#list] = nil
    end
  end
  grow({}, names)
  out[1] = "own"
  return out
end

--- Where results may go: elements store them, or hand them on to one that does. Of values that travel between
--- iterations: the order of the loops in time.
function space.ends(f, layout)
  local out, axes = { "own" }, 0
  if layout.rows or f.inner then return out end
  if f.carried then return orders(f, layout) end
  for _, p in ipairs(layout.tile) do axes = axes + (p > 1 and 1 or 0) end
  if axes == 1 then out[#out + 1] = "gather" elseif axes == 2 then out[#out + 1] = "columns" end
  return out
end

-- A relay's vector: `step` along the axes of which fn holds.
local function vector(axes, step, fn)
  local out = {}
  for n, a in ipairs(axes) do out[n] = fn(a, n) and step or 0 end
  return out
end

-- The directives of a transform by a matrix.
local function by_matrix(f, layout, add)
  local src, dst, flat = {}, {}, {}
  for n, l in ipairs(layout.loops) do
    src[n] = l.var
    dst[n] = expr.new { op = "var", name = n == #layout.loops and fresh(f, "t")
      or fresh(f, #layout.loops == 2 and "p" or ("pqr"):sub(n, n)) }
  end
  for _, row in ipairs(layout.rows) do table.move(row, 1, #row, #flat + 1, flat) end
  add(f.def, "space_time_transform", src, dst, flat)
end

-- The directives of a chain that brings an operand to the elements: by a way, one or two Funcs.
local function chain(f, layout, o, way, axes, lane, add)
  local def, of = f.def, expr.new { op = "ref", base = o.base, idx = {} }
  local kind, kept = way:match "^(%a+) ?k?e?e?p? ?(.*)$"
  local feed = func.new(fresh(f, f.prefix .. o.base.name .. "_feed"), nil, false, 0, {})
  local load = kept ~= "" and func.new(fresh(f, f.prefix .. o.base.name .. "_load"), nil, false, 0, {})
  if load then add(def, "isolate_producer_chain", of, load, feed)
  else add(def, "isolate_producer_chain", of, feed) end
  add(def, "relay", of, vector(axes, 1, function(a) return (not o.uses[a.loop.name]) == (kind ~= "scatter") end))
  for _, a in ipairs(axes) do
    if kind == "apart" and o.uses[a.loop.name] then add(feed.def, "unroll", a.var) end
  end
  if load then
    local time, gone, at = in_time(f, layout), {}, nil
    for n, l in ipairs(time) do
      if l.name == kept then at = n end
      if at and not o.uses[l.name] then
        gone[#gone + 1] = l.var
        if lane and lane.loop == l and lane.var ~= l.var then gone[#gone + 1] = lane.var end
      end
    end
    add(load.def, "remove", table.unpack(gone))
    if at > 1 then add(feed.def, "buffer", of, time[at - 1].var, "DOUBLE") else add(feed.def, "buffer", of) end
  end
  if lane and o.uses[lane.loop.name] then
    add(feed.def, "vectorize", lane.var)
    if load then add(load.def, "vectorize", lane.var) end
  end
end

-- Gives the innermost loop in time lanes; returns {loop =, var =}.
local function widened(f, layout, n, add)
  local time = in_time(f, layout)
  local l = time[#time]
  if l.fixed and n == l.extent then return { loop = l, var = l.var } end
  local tiled = false
  for k, x in ipairs(f.loops) do tiled = tiled or x == l and layout.tile[k] > 1 end
  local v = expr.new { op = "var", name = fresh(f, l.name .. l.name:sub(-1):rep(tiled and 2 or 1)) }
  add(f.def, "tile", l.var, v, n)
  return { loop = l, var = v }
end

--- A list of directives by Func, {{def =, list =}, ..}, and what adds one to it.
function space.list(place)
  local by, order, seq = {}, {}, 0
  return order, function(def, name, ...)
    if not by[def] then
      by[def] = {}
      order[#order + 1] = { def = def, list = by[def] }
    end
    seq = seq + 1
    table.insert(by[def], { name = name, args = table.pack(...), place = place, seq = seq })
  end
end

--- Adds a mapping of a Func; picks: layout, a way for each operand, the end, lanes.
function space.directives(f, picks, add)
  local layout, def = picks[1], f.def
  if layout.rows then return by_matrix(f, layout, add) end
  local axes, vars = laid(f, layout, add), {}
  for n, a in ipairs(axes) do vars[n] = a.var end
  local last, n_lanes = picks[#f.operands + 2], picks[#f.operands + 3]
  if f.carried then
    local turned = {}
    for name in (last ~= "own" and last or ""):gmatch "%S+" do
      for _, l in ipairs(f.loops) do
        if l.name == name then table.insert(turned, 1, l.var) end
      end
    end
    if #turned > 0 then add(def, "reorder", table.unpack(turned)) end
    if #vars > 0 then add(def, "space_time_transform", table.unpack(vars)) end
    return
  end
  local lane = n_lanes > 1 and widened(f, layout, n_lanes, add)
  if #vars > 0 then add(def, "unroll", table.unpack(vars)) end
  if lane then add(def, "vectorize", lane.var) end
  for n, o in ipairs(f.operands) do
    if picks[n + 1] ~= "own" then chain(f, layout, o, picks[n + 1], axes, lane, add) end
  end
  if last ~= "own" then
    local drain = func.new(fresh(f, f.prefix .. def.name .. "_drain"), nil, false, 0, {})
    local of = expr.new { op = "ref", base = def, idx = {} }
    add(def, "isolate_consumer_chain", of, drain)
    add(def, "relay", of, vector(axes, -1, function(_, n) return n == 1 end))
    if last == "columns" then
      add(drain.def, "unroll", axes[2].var)
      add(drain.def, "relay", of, { -1 })
    end
  end
end

--- Adds the sizes that tiles and lanes of a mapping have to divide: {{size =, by =}, ..}.
function space.divided(f, picks, out)
  local layout, n_lanes = picks[1], picks[#f.operands + 3]
  local function divide(l, by)
    local key = l.size and expr.text(l.size) .. " " .. by
    if key and not out[key] then
      out[#out + 1] = { size = l.size, by = by }
      out[key] = true
    end
  end
  for n, p in ipairs(layout.tile or {}) do
    if p > 1 and p < f.loops[n].extent then divide(f.loops[n], p) end
  end
  if n_lanes > 1 then
    local time, by = in_time(f, layout), n_lanes
    local l = time[#time]
    for n, x in ipairs(f.loops) do
      if x == l and layout.tile[n] > 1 then by = by * layout.tile[n] end
    end
    divide(l, by)
  end
end

--- The sizes that a layout needs values of: those of loops that are in space as a whole.
function space.fixed(f, layout, at)
  local out = {}
  local function fix(l)
    expr.walk(l.size or expr.lift(0), function(x)
      if x.op == "size" then affine.names(x.size, function(name) out[name] = at[name] end) end
    end)
  end
  for n, p in ipairs(layout and layout.tile or {}) do
    if p > 1 and p == f.loops[n].extent then fix(f.loops[n]) end
  end
  for _, l in ipairs(layout and layout.rows and layout.loops or {}) do fix(l) end
  return out
end

return space
