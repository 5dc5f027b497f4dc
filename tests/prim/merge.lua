-- merge.lua - merge: streams between the same two instances become one, where both ends move their tokens in one order.
local prim = require "prim"
local t = require "tap"
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid

-- Rows of P instances: element q of a row goes by stream [p][q], and is got as `at` says.
local function rows(at)
  return function(z)
    local P, Q = z.P or 2, z.Q or 3
    return tide.design(function(d)
      local Z = d:stream(i32, {P, Q})
      d.from = task {map = {P}, a = i32[P][Q]:layout "S0R", function(a, p)
        for q in grid(Q) do Z[p][q]:put(a[0][q]) end
      end}
      d.to = task {map = {P}, b = i32[P][Q]:layout "S0R", function(b, p)
        for l in grid(Q) do b[0][at(l, Q)] = Z[p][at(l, Q)]:get() end
      end}
    end), {i32[P][Q], i32[P][Q]}
  end
end
local function same(l) return l end

prim.accepted("an axis of an array of streams", {
  of = rows(same), step = {"merge", "Z", {axis = 1}},
  has = {"d:stream(i32, {2, depth = 2})", "Z[p]:put(", "Z[p]:get()"},
})

-- P instances that send tokens of four streams each to their neighbours of another task, two streams to each.
local function some(z)
  local P, n = z.P or 3, 4
  return tide.design(function(d)
    local Z = d:stream(i32, {P * 4})
    d.from = task {map = {P}, a = i32[P][n]:layout "S0R", function(a, p)
      for q in grid(n) do Z[p * n + q]:put(a[0][q]) end
    end}
    d.to = task {map = {P * 2}, b = i32[P * 2][2]:layout "S0R", function(b, p)
      for l in grid(2) do b[0][l] = Z[p * 2 + l]:get() end
    end}
  end), {i32[P][n], i32[P * 2][2]}
end
prim.accepted("some neighbours along an axis", {
  of = some, step = {"merge", "Z", {axis = 0, factor = 2}}, has = {"d:stream(i32, {6, depth = 2})", "Z[p]:get()"},
})
prim.twins("neighbours of other instances", {
  of = function() return some {} end, code = "ends", step = {"merge", "Z", {axis = 0, factor = 4}},
  yes_step = {"merge", "Z", {axis = 0, factor = 2}},
})
prim.refused("a factor that does not divide the axis", {
  of = some, kind = "usage", code = "factor", step = {"merge", "Z", {axis = 0, factor = 5}},
})

-- Two stages of sizes by name, which a stream for each p joins.
local function stages(z)
  local N, P = z.N or 3, 2
  return tide.kernel {a = i32[N][P], b = i32[N][P], function(a, b)
    local m = i32[N][P]()
    for i, p in grid(N, P) do m[i][p] = a[i][p] * 2 end
    for j, q in grid(N, P) do b[j][q] = m[j][q] + 1 end
  end}, {i32[N][P], i32[N][P]}
end

prim.accepted("what deal made, at sizes that it relies on", {
  of = stages, before = function(s) s:relay("m", "j"):deal("m", {"p"}) end, step = {"merge", "m", {axis = 0}},
  has = {"tide.assume(P == 2)", "tide.assume(N == 3)", "d:stream(i32, {depth = 2})"},
})

-- Blocks of two streams from one task to another in turn; if `turned` the second is put first.
local function pair(z)
  local n, turned = z.n or 4, z.turned
  return tide.design(function(d)
    local Z, Y = d:stream(i8[4], {block = true}), d:stream(z.T or i8[4], {block = true, depth = 3})
    d.from = task {a = i8[n][4], b = i8[n][4], function(a, b)
      for x in grid(n) do
        local o = Z:slot()
        local p = Y:slot()
        for i in grid(4) do
          o[i] = a[x][i]
          p[i] = b[x][3 - i]
        end
        if turned then Y:put(p) end
        Z:put(o)
        if not turned then Y:put(p) end
      end
    end}
    d.to = task {c = i32[n], function(c)
      for x in grid(n) do
        local u = Z:get()
        local v = Y:get()
        for i in grid(4) do c[x] = c[x] + u[i] * v[i] end
      end
    end}
  end), {i8[n][4], i8[n][4], i32[n]}
end

prim.accepted("a list of streams of blocks, as deep as the deepest", {
  of = pair, step = {"merge", {"Z", "Y"}},
  has = {"local Z = d:stream(i8[4], {depth = 3, block = true})", "local v = Z:get()"},
})
prim.accepted("a depth of its own", {
  of = pair, step = {"merge", {"Y", "Z"}, {depth = 2}}, has = {"local Y = d:stream(i8[4], {depth = 2, block = true})"},
})

-- Tokens of a triangle of streams, under conditions on loops.
local function triangle(z)
  local n = z.n or 4
  return tide.design(function(d)
    local Z = d:stream(i32, {n, depth = 4})
    d.from = task {a = i32[n][n], function(a)
      for i = 0, n - 1 do
        for j = 0, i do
          if (i + j) % 3 > 0 then Z[j]:put(a[i][j]) end
        end
      end
    end}
    d.to = task {b = i32[n][n], function(b)
      for k = 0, n - 1 do
        for l in grid(n) do
          if l <= k and (k + l) % 3 > 0 then b[k][l] = Z[l]:get() end
        end
      end
    end}
  end), {i32[n][n], i32[n][n]}
end

prim.accepted("a triangle, under conditions on loops", {
  of = triangle, step = {"merge", "Z", {axis = 0}}, has = {"Z:put(a[i][j])", "Z:get()"},
})
prim.accepted("after a relay and bundle, between nodes of an array", {
  of = prim.shape.gemm, before = function(s)
    s:buffer_at("A", "j"):unfold "PE"
    s:relay("A_j", "PE", {axis = 1}):bundle("PE", {axis = 0}):bundle("A_feed", {axis = 0})
  end, step = {"merge", "A_j", {axis = 0}},
}, function(s) t.ok(not tostring(s):find "A_j = d:stream%(i8, {M") end)

-- Refusals: twins that differ in one fact.
prim.twins("another order at the end that gets", {
  no = "back", yes = "same", code = "order", step = {"merge", "Z", {axis = 1}},
  of = function(how) return rows(how == "same" and same or function(l, n) return n - 1 - l end) {} end,
})
prim.twins("ends at other instances", {
  code = "ends", of = function() return rows(same) {} end, step = {"merge", "Z", {axis = 0}},
  yes_step = {"merge", "Z", {axis = 1}},
})
prim.twins("blocks that are put in another order than they are begun", {
  no = true, yes = false, code = "order", step = {"merge", {"Z", "Y"}},
  of = function(turned) return pair {turned = turned} end,
})
prim.twins("tokens of another type", {
  no = i8[8], yes = i8[4], code = "type", step = {"merge", {"Z", "Y"}}, of = function(T) return pair {T = T} end,
})

-- Tokens one by one, of which the data or a loop says to which stream they go.
local function chosen(by_data)
  return tide.design(function(d)
    local Z = d:stream(i32, {2})
    d.from = task {w = i32[4], function(w)
      for i in grid(4) do
        if by_data then Z[w[i] % 2]:put(i) else Z[i % 2]:put(i) end
      end
    end}
    d.to = task {w = i32[4], y = i32[4], function(w, y)
      for k in grid(4) do
        if by_data then y[k] = Z[w[k] % 2]:get() else y[k] = Z[k % 2]:get() end
      end
    end}
  end), {i32[4], i32[4]}
end

prim.twins("an order that the data decides", {
  no = true, yes = false, code = "data", step = {"merge", "Z", {axis = 0}}, of = chosen,
})

-- Three tokens to each of two streams before what is waited for is put.
local function filled()
  return tide.design(function(d)
    local Z, Y = d:stream(i32, {2, depth = 3}), d:stream(i32, {depth = 3})
    d.from = task {a = i32[2][3], function(a)
      for j, i in grid(2, 3) do Z[j]:put(a[j][i]) end
      for i in grid(3) do Y:put(a[0][i]) end
    end}
    d.to = task {b = i32[2][3], function(b)
      for i in grid(3) do b[0][i] = Y:get() end
      for j, i in grid(2, 3) do b[j][i] = b[j][i] + Z[j]:get() end
    end}
  end), {i32[2][3], i32[2][3]}
end

prim.twins("a depth at which the tasks would wait for each other", {
  code = "deadlock", of = filled, step = {"merge", "Z", {axis = 0, depth = 5}},
  yes_step = {"merge", "Z", {axis = 0, depth = 6}},
})
-- Tokens that a task's own loop gets, or that of a kernel which it calls.
local function called(calls)
  local drain = tide.kernel {Z = tide.stream(i32), b = i32[4], function(Z, b)
    for l in grid(4) do b[l] = Z:get() end
  end}
  return tide.design(function(d)
    local Z = d:stream(i32, {1})
    d.from = task {a = i32[4], function(a) for l in grid(4) do Z[0]:put(a[l]) end end}
    d.to = task {b = i32[4], function(b)
      if calls then
        drain(Z[0], b)
      else
        for l in grid(4) do b[l] = Z[0]:get() end
      end
    end}
  end), {i32[4], i32[4]}
end
prim.twins("tokens that a call gets", {
  of = called, no = true, yes = false, code = "ends", kind = "unsupported", step = {"merge", "Z", {axis = 0}},
})
prim.refused("one stream without an axis", {
  of = rows(same), step = {"merge", "Z"}, kind = "usage", code = "axis",
})
prim.refused("an axis that is not there", {
  of = rows(same), step = {"merge", "Z", {axis = 2}}, kind = "usage", code = "axis",
})
prim.refused("a stream named twice", {
  of = pair, step = {"merge", {"Z", "Z"}}, kind = "usage", code = "names",
})
prim.refused("a depth of nothing", {
  of = pair, step = {"merge", {"Z", "Y"}, {depth = 0}}, kind = "usage", code = "depth",
})
prim.refused("a stream that is not there", {
  of = pair, step = {"merge", {"Z", "W"}}, kind = "usage", code = "no-stream",
})

t.done()
