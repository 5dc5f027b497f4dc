-- parallel.lua - parallel: iterations that may run side by side, and those that may not.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, f32, grid = tide.i32, tide.f32, tide.grid
local shape = prim.shape

local function mark(loop) return {"parallel\n", "for " .. loop .. " = "} end

prim.accepted("a perfect nest, outermost", {
  of = shape.gemm, step = {"parallel", "j"}, has = mark "j", other = {{M = 1, N = 1, K = 1}},
})
prim.accepted("a triangle", {
  of = shape.triangle, step = {"parallel", "i"}, has = mark "i", other = {{N = 9}},
})
prim.accepted("after a split with a tail", {
  of = shape.gemm, before = function(s) s:split("i", 3) end, step = {"parallel", "i_o"},
  has = mark "i_o", other = {{M = 7, N = 2, K = 2}},
})
prim.accepted("inside a callee", {
  of = shape.callee, step = {"parallel", "row:i"}, has = mark "i",
})
prim.accepted("around calls on rows", {
  of = shape.callee, step = {"parallel", "r"}, has = mark "r", other = {{M = 5, N = 2}},
})
prim.accepted("one loop, two arrays", {of = shape.scale, step = {"parallel", "i"}})
prim.accepted("three dimensions, the middle one", {of = shape.cube, step = {"parallel", "y"}})

prim.refused("a sum", {
  of = shape.gemm, step = {"parallel", "k"}, code = "dependence", witness = "C",
})
prim.twins("odd and even elements", {
  of = function(d)
    return tide.kernel {A = i32[12], function(A)
      for i = 0, 4 do A[2 * i] = A[2 * i + d] + 1 end
    end}, {i32[12]}
  end, no = 2, yes = 1, step = {"parallel", "i"}, code = "dependence", witness = "A",
})
prim.twins("a chain from row to row", {
  of = function(d)
    return tide.kernel {A = i32[6][6], function(A)
      for i = 1, 5 do
        for j = 1, 5 do A[i][j] = A[i - d][j] + 1 end
      end
    end}, {i32[6][6]}
  end, no = 1, yes = 0, step = {"parallel", "i"}, code = "dependence", witness = "A",
})
prim.twins("a local of each iteration", {
  of = function(own)
    return tide.kernel {A = i32[6], B = i32[6], function(A, B)
      if own then
        for i = 0, 5 do
          local s = i32[1]()
          s[0] = A[i]
          B[i] = s[0] + 1
        end
      else
        local s = i32[1](0)
        for i = 0, 5 do
          B[i] = s[0] + 1
          s[0] = A[i]
        end
      end
    end}, {i32[6], i32[6]}
  end, no = false, yes = true, step = {"parallel", "i"}, code = "dependence", witness = "s",
})
prim.twins("one element for all", {
  of = function(k)
    return tide.kernel {A = i32[6], B = i32[6], function(A, B)
      for i = 0, 5 do B[k * i] = A[i] end
    end}, {i32[6], i32[6]}
  end, no = 0, yes = 1, step = {"parallel", "i"}, code = "dependence", witness = "B",
})
prim.twins("rows that overlap in calls", {
  of = function(d)
    local row = tide.kernel {a = i32[4], b = i32[4], function(a, b)
      for i = 0, 3 do b[i] = a[i] + 1 end
    end}
    return tide.kernel {A = i32[6][4], function(A)
      for r = 1, 2 do row(A[r - 1], A[r + d]) end
    end}, {i32[6][4]}
  end, no = 0, yes = 2, step = {"parallel", "r"}, code = "dependence", witness = "A",
})
prim.twins("a loop that may end early", {
  of = function(at)
    return tide.kernel {A = i32[6], function(A)
      for i = 0, 5 do
        if at == 4 then break end
        A[i] = i
      end
    end}, {i32[6]}
  end, no = 4, yes = 9, step = {"parallel", "i"}, code = "not-decided",
})
prim.twins("a float sum is no exception", {
  of = function(d)
    return tide.kernel {A = f32[4][4], s = f32[4], function(A, s)
      for i, j in grid(4, 4) do
        if d == 0 then s[j] = s[j] + A[i][j] else s[i] = s[i] + A[i][j] end
      end
    end}, {f32[4][4], f32[4]}
  end, no = 0, yes = 1, step = {"parallel", "i"}, code = "dependence", witness = "s",
})
t.test("an attribute that promises too much is refused with the instances that clash", function()
  local function load(distance)
    return tide.kernel {A = i32[8], function(A)
      for i = 2, 7 do --@ parallel
        A[i] = A[i - distance] + 1
      end
    end}
  end
  local e = t.fails(function() load(2) end, {kind = "illegal", code = "dependence"})
  t.eq(e.witness.array, "A")
  t.eq(e.witness.element, "A[2]")
  t.eq(e.witness.first.at, "i = 2")
  t.eq(e.witness.second.at, "i = 4")
  load(0)
end)

-- Halide's blur: the horizontal sums are computed where a row, or a tile, uses them.
local function blur(z)
  local H, W = z.H or 6, z.W or 7
  return tide.kernel {A = i32[H + 2][W + 2], O = i32[H][W], function(A, O)
    local B = i32[H + 2][W]()
    for y, x in grid(H + 2, W) do B[y][x] = A[y][x] + A[y][x + 1] + A[y][x + 2] end
    for v, u in grid(H, W) do O[v][u] = B[v][u] + B[v + 1][u] + B[v + 2][u] end
  end}, {i32[H + 2][W + 2], i32[H][W]}
end
prim.accepted("rows of a blur, computed at each row", {
  of = blur, before = function(s) s:compute_at("B", "v") end, step = {"parallel", "v"}, has = mark "v",
  other = {{H = 1, W = 1}, {H = 9, W = 2}},
})
prim.accepted("tiles of a blur, computed at each tile", {
  of = blur, before = function(s)
    s:split("v", 4, {names = {"vo", "vi"}}):split("u", 4, {names = {"uo", "ui"}})
    s:reorder("vo", "uo", "vi", "ui"):compute_at("B", "uo")
  end, step = {"parallel", "vo"}, other = {{H = 1, W = 1}, {H = 9, W = 5}},
})
prim.twins("a row of which an iteration finds what another has left", {
  of = function(first)
    return tide.kernel {A = i32[8], B = i32[8][4], function(A, B)
      local T = i32[4](0)
      for i = 0, 7 do
        local x = A[i] * 2
        if first == 0 then T[0] = x end
        for j = 1, 3 do T[j] = x + j end
        for j = 0, 3 do B[i][j] = T[j] + x end
      end
    end}, {i32[8], i32[8][4]}
  end, no = 1, yes = 0, step = {"parallel", "i"}, code = "dependence", witness = "T",
})
prim.twins("a row of which the last iteration's is used later", {
  of = function(later)
    return tide.kernel {A = i32[8], B = i32[8], function(A, B)
      local T = i32[4](0)
      for i = 0, 7 do
        for j = 0, 3 do T[j] = A[i] + j end
        B[i] = T[i % 4]
      end
      if later then B[0] = T[3] end
    end}, {i32[8], i32[8]}
  end, no = true, yes = false, step = {"parallel", "i"}, code = "dependence", witness = "T",
})

-- A task that puts, by a loop, to streams of their own; or (fact) writes elements of its own.
prim.twins("iterations that put, each to a stream of its own", {
  no = "put", yes = "write", code = "stream", step = {"parallel", "from:p"},
  of = function(fact)
    return tide.design(function(d)
      local Z = d:stream(tide.i32, {3, depth = 1})
      d.from = tide.task {a = tide.i32[3], c = tide.i32[3], fact == "put" and function(a, c)
        for p = 0, 2 do Z[p]:put(a[p]) end
        c[0] = 1
      end or function(a, c)
        for p = 0, 2 do c[p] = a[p] end
        for q = 0, 2 do Z[q]:put(a[q]) end
      end}
      d.to = tide.task {b = tide.i32[3], function(b) for q = 0, 2 do b[q] = Z[q]:get() end end}
    end), {tide.i32[3], tide.i32[3], tide.i32[3]}
  end,
})

t.done()
