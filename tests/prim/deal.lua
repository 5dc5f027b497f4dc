-- deal.lua - deal: the tokens of a stream go to streams of their own, by loops around its ends.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, grid = tide.i32, tide.grid

-- A stage that makes elements in turns and one that takes them; `fact` changes one thing.
local function stages(fact)
  return function(z)
    local N, P = z.N or 3, 2
    return tide.kernel {a = i32[N][P][4], b = i32[N][P][4], function(a, b)
      local m = i32[N][P][4]()
      for i, p, k in grid(N, P, 4) do m[i][p][k] = a[i][p][k] * 2 end
      if fact == "fused" then
        for n in grid(N * 8) do b[n // 8][n // 4 % 2][n % 4] = m[n // 8][n // 4 % 2][n % 4] + 1 end
      else
        for j, q, l in grid(N, P, 4) do b[j][q][l] = m[j][q][l] + 1 end
      end
    end}, {i32[N][P][4], i32[N][P][4]}
  end
end

local function relayed(first)
  return function(s) s:relay("m", first) end
end

prim.accepted("one loop deals", {
  of = stages(), before = relayed "j", step = {"deal", "m", {"p"}}, other = {{N = 1}, {N = 5}},
  has = {"d:stream(i32, {P, depth = 2})", "m[p]:put(", "m[q]:get()"},
})
prim.accepted("two loops deal, the inner one first", {
  of = stages(), before = relayed "j", step = {"deal", "m", {"k", "p"}}, other = {{N = 2}},
  has = {"d:stream(i32, {4, P, depth = 2})", "m[k][p]:put(", "m[l][q]:get()"},
})
prim.accepted("then both stages become grids of instances, linked one to one", {
  of = stages(), before = function(s)
    s:relay("m", "j"):deal("m", {"p"}):unfold("i", {loops = {"p"}})
  end, step = {"unfold", "j", {loops = {"q"}}}, has = {"map = {P}", "m[p]:put(", "m[q]:get()"},
}, function(s) t.eq(#s:tasks(), 4) end)
prim.accepted("by a loop whose size no argument has", {
  of = function()
    local N, P = 4, 3
    return tide.kernel {a = i32[N], b = i32[N], function(a, b)
      local m = i32[P]()
      for p = 0, P - 1 do m[p] = a[p] * 2 end
      for q = 0, P - 1 do b[q + 1] = m[q] end
    end}, {i32[N], i32[N]}
  end, before = relayed "q", step = {"deal", "m", {"p"}}, has = {"d:stream(i32, {P, depth = 2})"},
})
prim.refused("nests of different depths", {
  of = stages "fused", before = relayed "n", step = {"deal", "m", {"p"}}, code = "ranges",
})
prim.refused("a loop that does not hold the end", {
  of = stages(), before = relayed "j", step = {"deal", "m", {"q"}}, kind = "usage", code = "loops",
})
prim.refused("loops of other ranges", {
  of = stages(), before = function(s) s:relay("m", "j"):reorder("j", "q", "l"):split("l", 2):fuse("q", "l_o") end,
  step = {"deal", "m", {"p"}}, code = "ranges",
})
prim.refused("a stream that is not there", {
  of = stages(), before = relayed "j", step = {"deal", "none", {"p"}}, kind = "usage", code = "no-stream",
})

-- A stream whose tokens are put in one place or in two.
prim.twins("two places that put", {
  no = 3, yes = 4, code = "ends", kind = "unsupported", step = {"deal", "Z", {"q"}},
  of = function(n)
    return n == 3 and tide.design(function(d)
      local Z = d:stream(i32)
      d.from = tide.task {a = i32[4], function(a)
        for q = 0, 2 do Z:put(a[q]) end
        Z:put(a[3])
      end}
      d.to = tide.task {b = i32[4], function(b) for l = 0, 3 do b[l] = Z:get() end end}
    end) or tide.design(function(d)
      local Z = d:stream(i32)
      d.from = tide.task {a = i32[4], function(a) for q = 0, 3 do Z:put(a[q]) end end}
      d.to = tide.task {b = i32[4], function(b) for l = 0, 3 do b[l] = Z:get() end end}
    end), {i32[4], i32[4]}
  end,
})
-- Puts and gets under a condition each, of the loops that they stand in and of an argument.
local function conditional(put, get)
  return tide.design(function(d)
    local Z = d:stream(i32)
    d.from = tide.task {c = i32[4], a = i32[3][4], function(c, a)
      for i = 0, 2 do
        for q = 0, 3 do
          a[i][q] = a[i][q] + c[q]
          if put(i, q, c) then Z:put(a[i][q]) end
        end
      end
    end}
    d.to = tide.task {c = i32[4], b = i32[3][4], function(c, b)
      for k = 0, 2 do
        for l = 0, 3 do
          b[k][l] = c[l]
          if get(k, l, c) then b[k][l] = Z:get() end
        end
      end
    end}
  end), {i32[4], i32[3][4], i32[3][4]}
end

local function below(i, q) return i * 4 + q < 10 end

prim.accepted("conditions of loops, the same at both ends", {
  of = function() return conditional(below, below) end, step = {"deal", "Z", {"q"}},
})
prim.refused("conditions that differ", {
  of = function() return conditional(below, function(k, l) return k * 4 + l <= 9 end) end,
  step = {"deal", "Z", {"q"}}, code = "ranges",
})
prim.refused("conditions of data", {
  of = function()
    local function data(_, q, c) return c[q] > 0 end
    return conditional(data, data)
  end,
  step = {"deal", "Z", {"q"}}, code = "access",
})

t.done()
