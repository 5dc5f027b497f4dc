-- hoist.lua - hoist: a local that each iteration copies in and out leaves the loop.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, i16, f32, grid, task = tide.i32, tide.i16, tide.f32, tide.grid, tide.task

-- Sums over k in a local that each iteration of k copies from C and back; `fact` changes one thing.
local function sums(fact)
  return function(z)
    local N, K, T = z.N or 5, z.K or 4, z.T or i32
    return tide.kernel {A = T[K][N], C = T[N], D = T[N], function(A, C, D)
      for k = 0, K - 1 do
        local c = T[N]()
        if fact == "half" then
          for i = 0, N - 2 do c[i] = C[i] end
          for i = 0, N - 2 do c[i] = T(c[i] + A[k][i]) end
          for i = 0, N - 2 do C[i] = c[i] end
        elseif fact == "moving" then
          for i = 0, N - 1 do c[i] = A[k][i] end
          for i = 0, N - 1 do c[i] = T(c[i] * 2) end
          for i = 0, N - 1 do A[k][i] = c[i] end
        elseif fact == "elsewhere" then
          for i = 0, N - 1 do c[i] = C[i] end
          for i = 0, N - 1 do c[i] = T(c[i] + A[k][i]) end
          for i = 0, N - 1 do C[N - 1 - i] = c[i] end
        else
          for i = 0, N - 1 do c[i] = C[i] end
          for i = 0, N - 1 do c[i] = T(c[i] + A[k][i]) end
          if fact == "read" then D[k] = C[0] end
          if fact == "written" then C[0] = 7 end
          for i = 0, N - 1 do C[i] = c[i] end
        end
      end
    end}, {T[K][N], T[N], T[N]}
  end
end

prim.accepted("a sum that is copied in and out", {
  of = sums(), step = {"hoist", "c", "k"}, other = {{N = 3, K = 6}, {K = 1}},
}, function(s)
  local text = tostring(s)
  t.ok(text:find "local c = " < text:find "for k = ", "before the loop")
  t.ok(text:find("C[i_1] = c[i_1]", 1, true) or text:find("C%[i_?%d?%] = c%[i_?%d?%]"), "copied back")
end)
prim.accepted("of floats, too: nothing is added in another order", {
  of = function() return sums()({T = f32}) end, step = {"hoist", "c", "k"},
})
prim.accepted("a buffer of buffer_at", {
  of = prim.shape.gemm, before = function(s)
    s:reorder("k", "i", "j"):split("k", 2, {tail = "perfect"}):buffer_at("C", "k_o")
  end, step = {"hoist", "C_k_o", "k_o"}, other = {{M = 2, N = 3, K = 8}},
})
prim.accepted("what is only read, in another order", {
  of = function()
    return tide.kernel {w = i16[4][6], x = i16[8][4], y = i32[8][6], function(w, x, y)
      for r = 0, 7 do
        local t = i16[6][4]()
        for i, j in grid(4, 6) do t[j][i] = w[i][j] end
        for j, i in grid(6, 4) do y[r][j] = y[r][j] + t[j][i] * x[r][i] end
      end
    end}, {i16[4][6], i16[8][4], i32[8][6]}
  end, step = {"hoist", "t", "r"},
})
-- Two loops around a local.
local function deep(fact)
  return function()
    return tide.kernel {A = i32[3][4][5], S = i32[4][5], function(A, S)
      for a = 0, 2 do
        for b = 0, 3 do
          local s = i32[5]()
          for i = 0, 4 do s[i] = S[fact == "outer" and b or 1][i] end
          for i = 0, 4 do s[i] = s[i] + A[a][b][i] end
          for i = 0, 4 do S[fact == "outer" and b or 1][i] = s[i] end
        end
      end
    end}, {i32[3][4][5], i32[4][5]}
  end
end
prim.accepted("out of two loops", {of = deep(), step = {"hoist", "s", "a"}})
prim.accepted("out of the inner one of two", {of = deep(), step = {"hoist", "s", "b"}})
prim.accepted("in a task, a local in the order of a library", {
  of = function()
    return tide.design(function(d)
      d.pe = task {map = {2}, A = i16[8][4]:layout "S0R", C = i32[2][4]:layout "S0R", function(A, C)
        local acc = i32[4](0)
        for x = 0, 3 do
          local c = i32[2][2]()
          for i = 0, 3 do c[i % 2][i // 2] = acc[i] end
          for i, j in grid(2, 2) do c[i][j] = c[i][j] + A[x][j * 2 + i] end
          for i = 0, 3 do acc[i] = c[i % 2][i // 2] end
        end
        for i = 0, 3 do C[0][i] = acc[i] end
      end}
    end), {i16[8][4], i32[2][4]}
  end, step = {"hoist", "c", "x"},
})

local function twin(fact, code, match)
  prim.refused(fact, {of = sums(fact), step = {"hoist", "c", "k"}, code = code, match = match})
end
twin("half", "covers", "elements that are not filled")
twin("moving", "access", "depend on 'k'")
twin("elsewhere", "not-a-copy", "other elements")
twin("read", "shared", "reads 'C' here too")
twin("written", "shared", "writes 'C' here too")
prim.refused("places that the outer loop gives not, the inner one gives", {
  of = deep "outer", step = {"hoist", "s", "b"}, code = "access", match = "depend on 'b'",
})
prim.refused("a loop that it is not in", {
  of = deep(), step = {"hoist", "s", "i#1"}, kind = "usage", code = "scope",
})

-- A local that starts with nothing, filled and read where a loop of K turns may not run.
local function open(fact)
  return function(z)
    local K = tide.size("K", z.K or 3)
    return tide.kernel {A = i32[K][4], y = i32[4], function(A, y)
      local S = i32[4]()
      if fact then S:set(0) end
      for k = 0, K - 1 do
        if not fact then
          for i = 0, 3 do S[i] = A[k][i] end
        end
        for h = 0, 2 do
          local c = i32[4]()
          for i = 0, 3 do c[i] = S[i] end
          for i = 0, 3 do y[i] = y[i] + c[i] * h end
        end
      end
    end}, {i32[z.K or 3][4], i32[4]}
  end
end
prim.refused("filled from what the loop itself writes", {
  of = open(false), step = {"hoist", "c", "k"}, code = "shared",
})
prim.accepted("its twin", {of = open(true), step = {"hoist", "c", "h"}})

t.done()
