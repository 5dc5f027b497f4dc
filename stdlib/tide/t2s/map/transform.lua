-- Space-time transforms of T2S: loops become processing elements and steps by a matrix, one row for each coordinate.
--   F:space_time_transform(i, j)                          the loops i, j are space; data says when
--   F:space_time_transform({i, j}, {1, 2})                and the next loop k is skewed: t = i + 2 * j + k
--   F:space_time_transform({c, q}, {p, t}, {1, 1, 0, 1})  p = c + q, t = q: all rows but the last are space
--   F:space_time_transform({i, j, k}, {p, t}, {1, 0, 0, 0, K, 1}, {p, t // K, t % K})    with its inverse
-- A square matrix of determinant 1 is a product of an order of the loops, skews and another order (reorder checks both
-- orders); the bounds that these leave are the guards of each PE. With fewer rows than loops, loops of time are fused.
local affine = require "tide.t2s.define.affine"
local directives = require "tide.t2s.define.directives"
local expr = require "tide.t2s.define.expr"

local transform = {}

local fail, position = expr.fail, directives.position

local POINTS = 20000 -- of a domain on which an inverse is tried

-- A list of Vars as names.
local function names_of(list, place)
  local out = {}
  for n, x in ipairs(list) do
    out[n] = directives.var_name(x, place, "space_time_transform")
    if position(out, out[n]) < n then
      fail(place, "t2s-transform", ("Var %s stands twice in space_time_transform"):format(out[n]))
    end
  end
  return out
end

local function is_list(x) return type(x) == "table" and not expr.is(x) and getmetatable(x) == nil end

-- The numbers of a matrix, given flat or by rows, as rows of n.
local function rows_of(list, rows, n, values, place)
  local flat = {}
  for _, x in ipairs(list) do
    if is_list(x) then table.move(x, 1, #x, #flat + 1, flat) else flat[#flat + 1] = x end
  end
  if #flat ~= rows * n then
    fail(place, "t2s-transform", ("the matrix has %d numbers, and takes %d x %d Vars to %d"):format(#flat, rows, n,
      rows * n), "a row for each new Var, in it a number for each old one")
  end
  local out = {}
  for r = 1, rows do
    out[r] = {}
    for c = 1, n do
      out[r][c] = directives.constant(flat[(r - 1) * n + c], values, place, "space_time_transform")
    end
  end
  return out
end

--- The transform of a Func, or nil: {place =, space = names of Vars}.
function transform.of(def)
  local found
  for d in directives.each(def, "space_time_transform") do
    if found then
      fail(d.place, "t2s-transform", ("%s is transformed already"):format(def.name), "one transform for each Func")
    end
    local a, place = d.args, d.place
    found = { place = place, d = d }
    if a.n == 0 then fail(place, "t2s-transform", "space_time_transform takes Vars") end
    if not is_list(a[1]) then
      local list = {}
      for n = 1, a.n do list[n] = a[n] end
      found.src = names_of(list, place)
      found.space = found.src
    elseif a.n == 2 and is_list(a[2]) then
      found.src, found.by = names_of(a[1], place), a[2]
      found.space = found.src
      if #found.by ~= #found.src then
        fail(place, "t2s-transform", ("%d Vars have %d factors"):format(#found.src, #found.by),
          "one for each Var: t = a * i + b * j + the next loop")
      end
    elseif a.n >= 3 and is_list(a[2]) and is_list(a[3]) then
      found.src, found.dst, found.matrix, found.inverse = names_of(a[1], place), names_of(a[2], place), a[3], a[4]
      found.space = table.move(found.dst, 1, #found.dst - 1, 1, {})
      if #found.dst > #found.src then
        fail(place, "t2s-transform", ("%d Vars do not become %d"):format(#found.src, #found.dst))
      end
      if #found.dst < #found.src and not is_list(found.inverse) then
        fail(place, "t2s-transform", ("%d Vars become %d, and which iteration a step is nothing says"):format(
          #found.src, #found.dst), "give the inverse: a list of what each old Var is")
      end
    else
      fail(place, "t2s-transform", "space_time_transform takes Vars; or Vars and factors; or old Vars, new ones and a "
        .. "matrix", "F:space_time_transform({c, q}, {p, t}, {1, 1, 0, 1})")
    end
  end
  return found
end

directives.spaces[#directives.spaces + 1] = function(def)
  local t = transform.of(def)
  if t then return t.space, t.place end
end

-- The old Vars as values where the new ones have values, by the inverse.
local function invert(t, at, values, place)
  local out = {}
  for n, x in ipairs(t.inverse) do
    x = expr.lift(x, place)
    expr.walk(x, function(y)
      if y.op == "var" and not at[y.name] then
        fail(place, "t2s-transform", ("the inverse uses %s, which is no new Var"):format(y.name))
      end
    end)
    out[n] = affine.value(x, at, values)
    if not out[n] then fail(place, "t2s-transform", ("%s has no value"):format(expr.text(x))) end
  end
  return out
end

-- Checks an inverse on the points of the box of the old Vars: all of it, or as far as tried.
local function check_inverse(t, nest, rows, values)
  local place, extents = t.place, {}
  if not is_list(t.inverse) or #t.inverse ~= #t.src then
    fail(place, "t2s-transform", ("the inverse says what each of %d Vars is"):format(#t.src))
  end
  for n, v in ipairs(t.src) do
    local x = nest[position(nest, v, "var")]
    local hi, lo = x.hi and affine.of(x.hi, values), x.lo and affine.of(x.lo, values)
    local size = hi and affine.constant(lo and affine.sub(hi, lo) or hi)
    extents[n] = { lo and affine.constant(lo) or 0, size or 5 }
  end
  local point, left = {}, POINTS
  local function visit(n)
    if n <= #t.src then
      for v = extents[n][1], extents[n][1] + extents[n][2] - 1 do
        point[n] = v
        if not visit(n + 1) then return false end
      end
      return true
    end
    local at = {}
    for r, name in ipairs(t.dst) do
      at[name] = 0
      for c, f in ipairs(rows[r]) do at[name] = at[name] + f * point[c] end
    end
    local back = invert(t, at, values, place)
    for c, v in ipairs(t.src) do
      if back[c] ~= point[c] then
        fail(place, "t2s-transform", ("the inverse gives %s = %d at %s, where it is %d"):format(v, back[c],
          table.concat(t.dst, ", ") .. " = " .. at[t.dst[1]] .. ", ..", point[c]), nil, "illegal")
      end
    end
    left = left - 1
    return left > 0
  end
  visit(1)
end

-- Calls fn on the orders of 1..n, that as it stands first, until fn returns true.
local function orders(n, fn)
  local list, used = {}, {}
  local function grow(k)
    if k > n then return fn(list) end
    for v = 1, n do
      if not used[v] then
        used[v], list[k] = true, v
        if grow(k + 1) then return true end
        used[v], list[k] = nil, nil
      end
    end
  end
  return grow(1)
end

-- An order of the old loops, and the row of each place, in which the matrix is lower triangular with ones; nil if there
-- is none.
local function triangular(rows)
  local n, found, where = #rows, nil, nil
  orders(n, function(order)
    local row_at, taken = {}, {}
    for place = 1, n do
      for r = 1, n do
        local fits = not taken[r] and rows[r][order[place]] == 1
        for later = place + 1, n do fits = fits and rows[r][order[later]] == 0 end
        if fits and not row_at[place] then row_at[place], taken[r] = r, true end
      end
      if not row_at[place] then return false end
    end
    found, where = table.move(order, 1, n, 1, {}), row_at
    return true
  end)
  return found, where
end

-- Puts the loops of a nest at these entries, in this order, into the places that they have.
local function place_loops(nest, entries)
  local places = {}
  for _, x in ipairs(entries) do places[#places + 1] = position(nest, x) end
  table.sort(places)
  for n, k in ipairs(places) do nest[k] = entries[n] end
end

-- Takes the steps of a square matrix: an order, skews, the order of the new loops.
local function take(self, nest, t, rows)
  local order, row_at = triangular(rows)
  if not order then
    fail(t.place, "t2s-transform", "the matrix is no product of skews: in some order of the old Vars each row has a "
      .. "1 behind what it adds", "rows like {1, 0}, {1, 1}; a row may be turned in sign, space be taken along another "
      .. "Var", "unsupported")
  end
  local entries, at = {}, {}
  for n, v in ipairs(t.src) do at[n] = nest[position(nest, v, "var")] end
  for n, c in ipairs(order) do entries[n] = at[c] end
  place_loops(nest, entries)
  self:order(nest, #nest, t.place)
  for place = #order, 1, -1 do
    for k = 1, place - 1 do
      local f = rows[row_at[place]][order[k]]
      if f ~= 0 then self:step(t.place, "skew", entries[k].loop, entries[place].loop, f) end
    end
  end
  local new = {}
  for place = 1, #order do
    local r, x = row_at[place], entries[place]
    new[r] = { var = t.dst[r], loop = x.loop, root = x.root }
    nest[position(nest, x)] = new[r]
  end
  place_loops(nest, new)
end

-- The span of a row over the box of the old loops, as a form.
local function span(nest, src, row, values)
  local sum, domain = nil, {}
  for c, v in ipairs(src) do
    local x = nest[position(nest, v, "var")]
    if not x.hi then return nil end
    domain[#domain + 1] = { var = expr.new { op = "var", name = v }, lo = x.lo or expr.lift(0), hi = x.hi }
    local term = expr.new { op = "*", a = expr.lift(row[c]), b = domain[c].var }
    sum = sum and expr.new { op = "+", a = sum, b = term } or term
  end
  local hi, lo = affine.extreme(sum, domain, 1, values), affine.extreme(sum, domain, -1, values)
  local f = hi and lo and affine.add(affine.sub(hi, lo), affine.form(1))
  return f and (affine.constant(f) or affine.text(f))
end

-- The distances at which stages of a nest read what its stages write: lists {by = {[Var] = n}, earlier =, place =}.
local function distances(nest)
  local list = {}
  for k, s in ipairs(nest.stages) do
    expr.walk(s.rhs, function(r)
      if r.op ~= "ref" then return end
      for n, w in ipairs(nest.stages) do
        if w.func == r.base and #r.idx == #w.lhs.idx then
          local by, known = {}, true
          for m, x in ipairs(r.idx) do
            local a, b = affine.of(x, {}), affine.of(w.lhs.idx[m], {})
            local d = a and b and affine.constant(affine.sub(b, a))
            known = known and d ~= nil and w.lhs.idx[m].op == "var"
            if known then by[nest.name_of[w.lhs.idx[m].name] or w.lhs.idx[m].name] = d end
          end
          if known then list[#list + 1] = { by = by, earlier = n < k, place = s.place, text = expr.text(r) } end
        end
      end
    end)
  end
  return list
end

-- Refuses a schedule by which a value would be there too late: each distance takes a step, or none to a later line.
local function check_schedule(nest, t, vars, row, others)
  for _, d in ipairs(distances(nest)) do
    local steps, moves = 0, false
    for c, v in ipairs(vars) do
      steps = steps + row[c] * (d.by[v] or 0)
      moves = moves or (d.by[v] or 0) ~= 0
    end
    for _, v in ipairs(others) do moves = moves and (d.by[v] or 0) == 0 end
    if moves and (steps < 0 or steps == 0 and not d.earlier) then
      fail(t.place, "t2s-transform", ("%s, which another step makes, would be read %s"):format(d.text,
        steps == 0 and "in the step that makes it" or -steps .. " steps before that"),
        "the row of time has at least one step for each distance", "illegal")
    end
  end
end

-- The loop of time behind the last of the named ones; in front of them, if there is none behind.
local function next_loop(nest, src)
  local last, found = 0, nil
  for k, x in ipairs(nest) do
    if position(src, x.var) then last = k end
  end
  for k = last + 1, #nest do found = found or nest[k] end
  for k = #nest, 1, -1 do
    if not found and not position(src, nest[k].var) then found = nest[k] end
  end
  return found
end

-- Refuses a transform that leaves no loop to time.
local function check_time(def, nest, t)
  for _, x in ipairs(nest) do
    if not position(t.space, x.var) then return end
  end
  fail(t.place, "t2s-unroll", ("all loops of %s are in space"):format(def.name), "at least one loop gives the time")
end

-- Notes how many steps a Func takes, as its schedule counts.
local function note_steps(self, def, nest, src, row)
  self.steps = self.steps or {}
  self.steps[def.name] = span(nest, src, row, self.values)
end

-- t = by . src + the next loop. What nothing carries from PE to PE waits for its operands: its loop begins at the
-- PE's first step.
local function scheduled(self, def, nest, t)
  local x = next_loop(nest, t.src)
  local vars, row = table.move(t.src, 1, #t.src, 2, { x.var }), { 1 }
  for n, f in ipairs(t.by) do
    row[n + 1] = directives.constant(f, self.values, t.place, "space_time_transform")
  end
  local others = {}
  for _, y in ipairs(nest) do
    if not position(vars, y.var) then others[#others + 1] = y.var end
  end
  check_schedule(nest, t, vars, row, others)
  note_steps(self, def, nest, vars, row)
  local entries = {}
  for n, v in ipairs(t.src) do entries[n] = nest[position(nest, v, "var")] end
  entries[#entries + 1] = x
  place_loops(nest, entries)
  self:order(nest, #nest, t.place)
  for n in ipairs(t.src) do
    if row[n + 1] ~= 0 and nest.carried then self:step(t.place, "skew", entries[n].loop, x.loop, row[n + 1]) end
  end
end

-- Loops of time that the last row numbers together: fused once the Func's task is made.
local function numbered(self, def, nest, t, rows)
  local m, unit = #t.dst, {}
  for r = 1, m - 1 do
    for c, f in ipairs(rows[r]) do
      if f == 1 and not unit[c] then unit[c] = r
      elseif f ~= 0 then
        fail(t.place, "t2s-transform", "with fewer rows than Vars each row of space is one of the old Vars", nil,
          "unsupported")
      end
    end
  end
  local list, factor = {}, 1
  for c, v in ipairs(t.src) do
    if not unit[c] then list[#list + 1] = { c = c, entry = nest[position(nest, v, "var")] } end
  end
  for k = #list, 1, -1 do
    local x = list[k].entry
    local size = x.hi and affine.of(x.hi, self.values)
    local n = size and affine.constant(size)
    if rows[m][list[k].c] ~= factor or not n and k > 1 then
      fail(t.place, "t2s-transform", ("the row of time has %d for %s: the loops inside do not take that many steps")
        :format(rows[m][list[k].c], x.var), ("of loops that it counts together each has the extent of those inside: %d")
        :format(factor), "unsupported")
    end
    factor = factor * (n or 1)
  end
  local entries = {}
  for c, v in ipairs(t.src) do
    if unit[c] then
      local x = nest[position(nest, v, "var")]
      x.var = t.dst[unit[c]]
      entries[unit[c]] = x
    end
  end
  for _, x in ipairs(list) do entries[#entries + 1] = x.entry end
  place_loops(nest, entries)
  self:order(nest, #nest, t.place)
  self.fused = self.fused or {}
  self.fused[def] = { place = t.place }
  for k, x in ipairs(list) do self.fused[def][k] = x.entry.loop end
end

-- Takes the transform of a Func's nest.
function transform.take(self, def, d)
  local t, nest = transform.of(def), self.main[def]
  if t.d ~= d then return end
  nest.name_of = {}
  for n, x in ipairs(nest.stages[1].domain) do nest.name_of[x.var.name] = nest.stages[1].vars[n] end
  for _, v in ipairs(t.src) do
    if not position(nest, v, "var") then directives.no_loop(t.place, "t2s-transform", def.name, v, nest) end
  end
  nest.tiled = true
  if not t.dst then
    check_time(def, nest, t)
    if t.by then scheduled(self, def, nest, t) end
    return
  end
  for _, v in ipairs(t.dst) do
    local k = position(nest, v, "var")
    if k and not position(t.src, v) then
      fail(t.place, "t2s-transform", ("%s has a loop %s already"):format(def.name, v))
    end
  end
  local rows = rows_of(t.matrix, #t.dst, #t.src, self.values, t.place)
  local others = {}
  for _, y in ipairs(nest) do
    if not position(t.src, y.var) then others[#others + 1] = y.var end
  end
  check_schedule(nest, t, t.src, rows[#rows], others)
  if t.inverse then check_inverse(t, nest, rows, self.values) end
  note_steps(self, def, nest, t.src, rows[#rows])
  if #t.dst == #t.src then take(self, nest, t, rows) else numbered(self, def, nest, t, rows) end
end

--- Fuses the loops of time that a transform numbers together.
function transform.finish(self, def, task)
  local list = self.fused and self.fused[def]
  if not list or #list < 2 then return end
  local loops = {}
  for n, l in ipairs(list) do loops[n] = task .. ":" .. l end
  self:step(list.place, "fuse", table.unpack(loops))
end

return transform
