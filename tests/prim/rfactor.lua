-- rfactor: a sum over several loops as one for each iteration of an inner loop, and their sum.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i32, f32, grid = tide.i8, tide.i32, tide.f32, tide.grid

-- Sums of rows, in a scalar, whose columns are split by 4.
local function rows(z)
  local M, N, T = z.M or 3, z.N or 8, z.T or i32
  return tide.kernel {name = "rows", A = T[M][N], y = T[M], function(A, y)
    for i in grid(M) do
      local s = T(0)
      for j in grid(N) do s = T(s + A[i][j]) end
      y[i] = s
    end
  end}, {T[M][N], T[M]}
end
local function is_near(x, y)
  for i in grid(3) do
    if type(x[i]) == "number" and math.abs(x[i] - y[i]) > 1e-5 then return false end
  end
  return true
end
local function split(s) s:split("j", 4, {tail = "perfect"}) end

prim.accepted("integers in a scalar", {
  of = rows, before = split, step = {"rfactor", "j_i"}, level = "associative", other = {{M = 2, N = 12}},
  has = {"local s_j_i = i32[4](0)", "s_j_i[j_i] = i32(s_j_i[j_i] + A[i][j_o * 4 + j_i])", "s = i32(s + s_j_i["},
}, function(_, part, loop) t.eq({part, loop}, {"s_j_i", "j_i_1"}) end)
prim.accepted("floats, in another order", {
  of = function() return rows {T = f32} end, before = split, step = {"rfactor", "j_i", {reassociate = true}},
  level = "associative", equal = is_near, has = {"f32[4](-0.0)"},
})
prim.accepted("products of bytes, beside other statements", {
  of = function()
    return tide.kernel {name = "dot", a = i8[24], b = i8[24], c = i32[24], y = i32[1], function(a, b, c, y)
      y[0] = 5
      for i in grid(24) do
        c[i] = a[i] - b[i]
        y[0] = y[0] - a[i] * b[i]
      end
    end}, {i8[24], i8[24], i32[24], i32[1]}
  end,
  before = function(s) s:split("i", 8, {tail = "perfect"}) end, step = {"rfactor", "i_i"}, level = "associative",
  has = {"local y_i_i = i32[8](0)"},
})
prim.accepted("three loops, the outermost of which adds to another place", {
  of = function()
    return tide.kernel {name = "planes", A = i32[2][3][4][5], y = i32[2], function(A, y)
      for p, i, j, k in grid(2, 3, 4, 5) do y[p] = y[p] + A[p][i][j][k] end
    end}, {i32[2][3][4][5], i32[2]}
  end, step = {"rfactor", "j"}, level = "associative", has = {"local y_j = i32[4](0)", "y[p] = y[p] + y_j["},
})
prim.accepted("a loop that begins elsewhere, a sum under a condition", {
  of = function()
    return tide.kernel {name = "some", A = i32[6][9], y = i32[1], function(A, y)
      local s = i32(3)
      for i in grid(6) do
        for j = 2, 7 do
          if i > j - 3 then s = s + A[i][j] end
        end
      end
      y[0] = s
    end}, {i32[6][9], i32[1]}
  end, step = {"rfactor", "j"}, level = "associative", has = {"s_j[j - 2]"},
})

local function fact(text)
  return function(which)
    local source = text:gsub("NO%((.-)|(.-)%)", function(no, yes) return which == "no" and no or yes end)
    local k, types = load("local tide = ...\nlocal i8, i32, f32, grid = tide.i8, tide.i32, tide.f32, tide.grid\n" ..
      source, "=twin")(tide)
    return k, types
  end
end
local function twins(name, code, text, match)
  prim.twins(name, {level = "associative", of = fact(text), no = "no", yes = "yes", step = {"rfactor", "j"},
    code = code, match = match})
end
local kernel = [[return tide.kernel {name = "k", A = i32[3][8], y = i32[3], function(A, y)
  BODY
end}, {i32[3][8], i32[3]}]]
local function of(body) return (kernel:gsub("BODY", function() return body end)) end

prim.refused("floats, whose order counts", {
  of = function() return rows {T = f32} end, before = split, step = {"rfactor", "j_i"}, code = "reassociation",
})
twins("no loop around adds to the same place", "not-a-nest",
  of "for i, j in grid(3, 8) do y[NO(i|0)] = y[NO(i|0)] + A[i][j] end", "split it first")
twins("each iteration adds to a place of its own", "no-sum",
  "return tide.kernel {name = 'k', A = i32[3][8], y = i32[8], function(A, y) " ..
  "for i, j in grid(3, 8) do y[NO(j|1)] = y[NO(j|1)] + A[i][j] end end}, {i32[3][8], i32[8]}")
twins("a greatest value", "no-sum",
  of "local s = i32(0) for i, j in grid(3, 8) do s = NO(tide.max(s, A[i][j])|s + A[i][j]) end y[0] = s")
twins("two sums", "several", of [[local s, u = i32(0), i32(0)
  for i, j in grid(3, 8) do
    s = s + A[i][j]
    NO(u|A[i][j]) = NO(u + |2 *) A[i][7 - j]
  end
  y[0] = s + u]])
twins("the sum is read on the way", "no-sum", of [[local s = i32(0)
  for i, j in grid(3, 8) do
    s = s + A[i][j]
    A[i][j] = NO(s|j)
  end
  y[0] = s]])
twins("a loop that may be left", "leaves", of [[local s = i32(0)
  for i in grid(3) do
    for j in grid(8) do s = s + A[i][j] end
    if i > 1 then NO(return|break) end
  end
  y[0] = s]])
twins("as many iterations as there is data for", "count",
  of "local s = i32(0) for i in grid(3) do for j = 0, NO(i|2) do s = s + A[i][j] end end y[0] = s")
twins("what may have no value", "may-fault", of [[local s = i32[1](NO(|1))
  for i, j in grid(3, 8) do
    if i > 0 then s[0] = s[0] + A[i][j] end
  end
  y[0] = s[0] ]])

t.done()
