-- inline.lua - inline: bodies in the place of calls: views, scalars, sizes, state, names, refusals.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, f32, grid = tide.i32, tide.f32, tide.grid
local shape = prim.shape

local function no_call(s, name)
  t.ok(not tostring(s):find(name .. " =", 1, true), name .. " is still there")
end

prim.accepted("rows", {
  of = shape.callee, step = {"inline", "row"}, has = {"B[r][i] + A[r][i] * (j + 1)"},
  other = {{M = 1, N = 1}, {M = 5, N = 2}},
}, function(s)
  no_call(s, "row")
  t.eq(s:loops(), {"r", "i", "j"})
  s:reorder("j", "i"):parallel "r"
  t.eq(s:verify(), "strict")
end)
prim.accepted("two calls: names of the second get suffixes", {
  of = function(z)
    local N = z.N or 4
    local f = tide.kernel {a = i32[N], b = i32[N], function(a, b)
      local s = i32(0)
      for i = 0, N - 1 do
        s = s + a[i]
        b[i] = s
      end
    end}
    return tide.kernel {name = "prefix", A = i32[N], B = i32[N], function(A, B)
      f(A, B)
      f(B, A)
    end}, {i32[N], i32[N]}
  end, step = {"inline", "f"}, has = {"local s = ", "local s_1 = ", "for i_1 = "},
  other = {{N = 1}},
}, function(s) t.eq(s:loops(), {"i", "i_1"}) end)
prim.accepted("a triangle, whose bound is an argument", {
  of = function(z)
    local N = z.N or 5
    local dot = tide.kernel {a = i32[N], x = i32[N], y = i32[N], n = tide.index, function(a, x, y, n)
      for j = 0, n do y[n] = y[n] + a[j] * x[j] end
    end}
    return tide.kernel {L = i32[N][N], x = i32[N], y = i32[N], function(L, x, y)
      for i = 0, N - 1 do dot(L[i], x, y, i) end
    end}, {i32[N][N], i32[N], i32[N]}
  end, step = {"inline", "dot"}, has = {"for j = 0, i do"}, other = {{N = 1}, {N = 8}},
})
prim.accepted("slices, transposes and fixed dimensions", {
  of = function()
    local f = tide.kernel {a = i32[3][2], b = i32[3], function(a, b)
      for i, j in grid(3, 2) do b[i] = b[i] + a[i][j] end
      b:set(a:slice({}, 1) * 2 + b)
    end}
    return tide.kernel {name = "views", A = i32[4][6], B = i32[2][3], function(A, B)
      f(A:slice({0, 2}, {1, 6, 2}):transpose(), B[1])
    end}, {i32[4][6], i32[2][3]}
  end, step = {"inline", "f"},
})
prim.accepted("scalars: by value, read once", {
  of = function()
    local f = tide.kernel {a = i32[4], x = i32, n = tide.index, function(a, x, n)
      for i = 0, n - 1 do a[i] = a[i] + x end
    end}
    return tide.kernel {name = "scalars", A = i32[4], k = i32, function(A, k)
      f(A, A[0], 4)
      f(A, k + 1, 3)
      for r = 1, 2 do f(A, 7, r) end
    end}, {i32[4], 5}
  end, step = {"inline", "f"}, has = {"local x = A[0]", "A[i] + x"},
})
prim.accepted("a row that data chose stays the row", {
  of = function()
    local f = tide.kernel {a = i32[3], p = i32[2], function(a, p)
      for i = 0, 2 do
        a[i] = a[i] + 1
        p[0] = p[0] + 1
      end
    end}
    return tide.kernel {name = "frozen", A = i32[4][3], p = i32[2], function(A, p)
      p[0] = 0
      f(A[p[0] & 3], p)
    end}, {i32[4][3], i32[2]}
  end, step = {"inline", "f"}, has = {"local p_1 = p[0]"},
})
prim.accepted("other extents, and a name that the caller has", {
  of = function(z)
    local M, N = z.M or 3, z.N or 5
    local f = tide.kernel {a = i32[N], function(a)
      local A = i32[N](1)
      for i = 0, N - 1 do a[i] = a[i] + A[i] end
    end}
    return tide.kernel {name = "caller", A = i32[M][N], function(A)
      for i = 0, M - 1 do f(A[i]) end
    end}, {i32[M][N]}
  end, step = {"inline", "f"}, has = {"local A_1 = i32[N](1)", "for i_1 = 0, N - 1 do"},
  other = {{M = 1, N = 2}},
})
prim.accepted("inside a callee", {
  of = function()
    local g = tide.kernel {a = i32[4], function(a) for i = 0, 3 do a[i] = a[i] * 2 end return end}
    local f = tide.kernel {a = i32[4], function(a)
      g(a)
      a[0] = 1
    end}
    return tide.kernel {name = "top", A = i32[4], B = i32[4], function(A, B)
      f(A)
      g(B)
    end}, {i32[4], i32[4]}
  end, step = {"inline", "f:g"},
}, function(s)
  t.has(tostring(s), "local g = tide.kernel {")
  s:inline "g":inline "f"
  no_call(s, "f")
  no_call(s, "g")
  t.eq(s:verify(), "strict")
  t.eq(tostring(load(tostring(s))()), tostring(s))
end)
prim.accepted("after a split of the callee", {
  of = shape.callee, before = function(s) s:split("row:i", 2) end, step = {"inline", "row"},
  other = {{M = 2, N = 7}},
})
prim.accepted("tables and state move", {
  of = function()
    local W = tide.tensor(i32[3], {5, 6, 7})
    local seen = tide.state(i32[1], 0)
    local f = tide.kernel {a = i32[3], function(a)
      seen[0] = seen[0] + 1
      for i = 0, 2 do a[i] = a[i] * W[i] + seen[0] end
    end}
    return tide.kernel {name = "stateful", A = i32[3], B = i32[3], function(A, B)
      f(A)
      f(B)
      A[0] = W[2]
    end}, {i32[3], i32[3]}
  end, step = {"inline", "f"},
}, function(s)
  t.eq(select(2, tostring(s):gsub("local W", "")), 1)
  t.eq(select(2, tostring(s):gsub("tide.state", "")), 1)
end)
prim.accepted("what the callee assumes of sizes is assumed of the caller's", {
  of = function(z)
    local M = z.M or 8
    local f = tide.kernel {a = i32[M], function(a)
      tide.assume(M % 4 == 0)
      for i = 0, M // 4 - 1 do a[4 * i] = 0 end
    end}
    return tide.kernel {name = "caller", A = i32[2][M], function(A)
      for i = 0, 1 do f(A[i]) end
    end}, {i32[2][M]}
  end, step = {"inline", "f"}, has = {"tide.assume(M % 4 == 0)"}, other = {{M = 12}},
})

prim.accepted("a size that no shape tells is the caller's of that name", {
  of = function(z)
    local N = z.N or 4
    local f = tide.kernel {a = i32[8], function(a)
      for i = 0, N - 1 do a[i] = a[i] + 1 end
    end}
    return tide.kernel {name = "top", A = i32[8], B = i32[N], function(A, B)
      f(A)
      for j = 0, N - 1 do B[j] = A[j] end
    end}, {i32[8], i32[N]}
  end, step = {"inline", "f"}, has = {"for i = 0, N - 1 do"}, other = {{N = 1}, {N = 8}},
})
prim.refused("a size that nothing tells", {
  of = function()
    local n = tide.size "n"
    local f = tide.kernel {a = i32[8], function(a) for i = 0, n - 1 do a[i] = i end end}
    return tide.kernel {name = "top", A = i32[8], function(A) f(A) end}, {i32[8]}
  end, step = {"inline", "f"}, code = "size"})
prim.twins("a return before the end", {
  of = function(early)
    local f = tide.kernel {a = i32[4], function(a)
      for i = 0, 3 do a[i] = a[i] + 1 end
      if early then if a[0] > 0 then return end end
      a[0] = 5
    end}
    return tide.kernel {A = i32[4], function(A) f(A) end}, {i32[4]}
  end, no = true, yes = false, step = {"inline", "f"}, code = "return",
})
prim.refused("a kernel that the root does not call", {
  of = function()
    local g = tide.kernel {a = i32[4], function(a) a[0] = 1 end}
    local f = tide.kernel {a = i32[4], function(a) g(a) end}
    return tide.kernel {name = "top", A = i32[4], function(A) f(A) end}, {i32[4]}
  end, step = {"inline", "g"}, kind = "usage", code = "not-called", match = "\"f:g\""})
prim.refused("the root itself", {
  of = function() return tide.kernel {name = "top", A = i32[4], function(A) A[0] = 1 end} end,
  step = {"inline", "top"}, kind = "usage", code = "not-called"})
prim.refused("nothing of that name", {
  of = shape.callee, step = {"inline", "rwo"}, kind = "usage", code = "no-unit",
  match = "did you mean 'row'?"})
prim.refused("a unit that does not call it", {
  of = shape.callee, step = {"inline", "row:rows"}, kind = "usage", code = "no-unit"})
prim.refused("a foreign function", {
  of = function()
    local f = tide.extern {source = "void f(int *a) { a[0] = 1; }", symbol = "f", a = i32[1]}
    return tide.kernel {name = "top", A = i32[1], function(A) f(A) end}, {i32[1]}
  end, step = {"inline", "f"}, kind = "unsupported", code = "not-a-kernel"})

t.test("state goes on from call to call", function()
  local seen = tide.state(i32[1], 0)
  local f = tide.kernel {a = i32[1], function(a)
    seen[0] = seen[0] + 1
    a[0] = seen[0]
  end}
  local top = tide.kernel {A = i32[1], B = i32[1], function(A, B)
    f(A)
    f(B)
  end}
  local s = tide.schedule(top):inline "f"
  local A, B, C, D = i32[1](0), i32[1](0), i32[1](0), i32[1](0)
  for _ = 1, 2 do
    top(A, B)
    s(C, D)
  end
  t.eq({A[0], B[0]}, {3, 4})
  t.eq({C[0], D[0]}, {3, 4})
  t.ok(f32, "a type")
end)

t.done()
