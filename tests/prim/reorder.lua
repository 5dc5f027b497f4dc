-- reorder.lua - reorder: nests of every shape, distribution, reassociation, refusals with a twin.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, f32, grid = tide.i32, tide.f32, tide.grid
local shape = prim.shape

-- The loops of s, in order.
local function loops(s) return table.concat(s:loops(), " ") end

prim.accepted("a perfect nest, two of three", {
  of = shape.gemm, step = {"reorder", "k", "j"}, other = {{M = 1, N = 1, K = 1}, {M = 3}},
}, function(s) t.eq(loops(s), "i k j") end)
prim.accepted("a perfect nest, all of it turned round", {
  of = shape.gemm, step = {"reorder", "k", "j", "i"}, other = {{M = 2, N = 3, K = 7}},
}, function(s) t.eq(loops(s), "k j i") end)
prim.accepted("a triangle", {
  of = shape.triangle, step = {"reorder", "j", "i"}, other = {{N = 1}, {N = 9}},
  has = {"for i = j, N - 1 do"},
})
prim.accepted("after a split with a tail", {
  of = shape.gemm, before = function(s) s:split("k", 4) end, step = {"reorder", "k_o", "i"},
  other = {{M = 2, N = 2, K = 9}},
}, function(s) t.eq(loops(s), "k_o j i k_i") end)
prim.accepted("tiles", {
  of = shape.gemm, before = function(s) s:split("i", 3):split("j", 2) end,
  step = {"reorder", "i_o", "j_o", "i_i", "j_i"}, other = {{M = 7, N = 3, K = 2}},
}, function(s) t.eq(loops(s), "i_o j_o i_i j_i k") end)
prim.accepted("whole tiles of a triangle", {
  of = function(z)
    local N = z.N or 11
    return tide.kernel {A = i32[N][N], x = i32[N], function(A, x)
      for j = 0, N - 1 do
        for i = 0, j - 1 do A[i][j] = A[i][j] + x[i] * x[j] end
      end
    end}, {i32[N][N], i32[N]}
  end, before = function(s) s:split("i", 4, {tail = "cut"}) end, step = {"reorder", "i_o", "i_i", "j"},
  other = {{N = 1}, {N = 4}, {N = 5}, {N = 19}}, has = {"for j = i_o * 4 + 4, N - 1 do"},
})
prim.accepted("bounds that are quotients, both ways", {
  of = function(z)
    local N = z.N or 9
    return tide.kernel {A = i32[N][2 * N], function(A)
      for i = 0, N - 1 do
        for j = (i - 3) // 2 + 2, (4 * N - 3 * i) // 5 do
          A[i][j] = A[i][j] + i - j
        end
      end
    end}, {i32[N][2 * N]}
  end, step = {"reorder", "j", "i"}, other = {{N = 1}, {N = 2}, {N = 14}},
})
prim.accepted("a bound that is the least of many", {
  of = function()
    return tide.kernel {A = i32[8][8], function(A)
      for i = 0, 7 do
        for j = 0, tide.min(8, i + 20, 2 * i + 19, 3 * i + 18, 4 * i + 17, 5 * i + 16, 6 * i + 15, 7 * i + 14,
                            8 * i + 13, 9 * i + 12, 10 * i + 11, 11 * i + 10, 12 * i + 9, 13 * i + 8, 14 * i + 9,
                            15 * i + 8, 16 * i + 9, 17 * i + 8, i) - 1 do
          A[i][j] = A[i][j] + 1
        end
      end
    end}, {i32[8][8]}
  end, step = {"reorder", "j", "i"}, has = {"for i = j + 1, 7 do"},
})
prim.accepted("bounds within sums and quotients", {
  of = function(z)
    local N = z.N or 7
    return tide.kernel {A = i32[N][N], function(A)
      for i = 0, N - 1 do
        for j = N - tide.min(N, (tide.min(i, 2) + 9) // 2), tide.min(N - 1, i + 1) do A[i][j] = A[i][j] - i end
      end
    end}, {i32[N][N]}
  end, step = {"reorder", "j", "i"}, other = {{N = 8}, {N = 16}},
})
prim.accepted("inside a callee", {
  of = shape.callee, step = {"reorder", "row:j", "row:i"}, other = {{M = 2, N = 8}},
})
prim.accepted("the places that the named loops hold, in three dimensions", {
  of = shape.cube, step = {"reorder", "v", "x"}, other = {{P = 3, Q = 1, R = 2}},
}, function(s) t.eq(loops(s), "v y x") end)
prim.accepted("four dimensions", {
  of = function()
    local A, B = i32[2][3][4][5], i32[2][3][4][5]
    return tide.kernel {A = A, B = B, function(A, B)
      for i, j, k, l in grid(2, 3, 4, 5) do B[i][j][k][l] = A[i][j][k][l] + 1 end
    end}, {A, B}
  end, step = {"reorder", "k", "j"},
}, function(s) t.eq(loops(s), "i k j l") end)
prim.accepted("statements beside the inner loop get loops of their own", {
  of = function(z)
    local N = z.N or 5
    return tide.kernel {A = i32[N][N], x = i32[N], y = i32[N], function(A, x, y)
      for i = 0, N - 1 do
        y[i] = 1
        for j = 0, N - 1 do y[i] = y[i] + A[i][j] * x[j] end
        y[i] = y[i] * 2
      end
    end}, {i32[N][N], i32[N], i32[N]}
  end, step = {"reorder", "j", "i"}, other = {{N = 1}, {N = 7}},
}, function(s) t.eq(loops(s), "i_1 j i i_2") end)

prim.twins("a dependence that would be turned round", {
  of = function(d)
    return tide.kernel {A = i32[6][8], function(A)
      for i = 1, 5 do
        for j = 1, 6 do A[i][j] = A[i - 1][j + d] + 1 end
      end
    end}, {i32[6][8]}
  end, no = 1, yes = -1, step = {"reorder", "j", "i"}, code = "dependence", witness = "A",
})
prim.twins("a value that would be overwritten before it is read", {
  of = function(d)
    return tide.kernel {A = i32[7][8], function(A)
      for i = 0, 5 do
        for j = 1, 6 do A[i][j] = A[i + 1][j + d] + 1 end
      end
    end}, {i32[7][8]}
  end, no = -1, yes = 1, step = {"reorder", "j", "i"}, code = "dependence", witness = "A",
})
prim.twins("another order of a float sum", {
  of = function(T)
    return tide.kernel {A = T[4][4], s = T[1], function(A, s)
      for i, j in grid(4, 4) do s[0] = s[0] + A[i][j] end
    end}, {T[4][4], T[1]}
  end, no = f32, yes = i32, step = {"reorder", "j", "i"}, code = "reassociation", witness = "s",
  level = "associative",
})
prim.accepted("another order of a float sum, asked for", {
  of = function()
    return tide.kernel {A = f32[4][4], s = f32[1], function(A, s)
      for i, j in grid(4, 4) do s[0] = s[0] + A[i][j] end
    end}, {f32[4][4], f32[1]}
  end, step = {"reorder", "j", "i", {reassociate = true}}, level = "associative",
  equal = function(a, b) return a:allclose(b) end,
})
prim.twins("distribution would turn a dependence round", {
  of = function(at)
    return tide.kernel {A = i32[5][5], x = i32[5], y = i32[6], function(A, x, y)
      for i = 0, 4 do
        y[i + at] = 1
        for j = 0, 4 do x[j] = x[j] + A[i][j] * y[i + 1] end
      end
    end}, {i32[5][5], i32[5], i32[6]}
  end, no = 0, yes = 1, step = {"reorder", "j", "i"}, code = "dependence", witness = "y",
})
prim.twins("a local ties the parts together", {
  of = function(outside)
    return tide.kernel {A = i32[5][5], x = i32[5], function(A, x)
      for i = 0, 4 do
        local s = x[i] * 2
        for j = 0, 4 do
          if outside then A[i][j] = x[i] + j else A[i][j] = s + j end
        end
      end
    end}, {i32[5][5], i32[5]}
  end, no = false, yes = true, step = {"reorder", "j", "i"}, code = "scope",
})
prim.twins("a loop that is left by break", {
  of = function(column)
    return tide.kernel {A = i32[4][4], function(A)
      for i = 0, 3 do
        for j = 0, 3 do
          if column == 3 then break end
          A[i][j] = A[i][j] + 1
        end
      end
    end}, {i32[4][4]}
  end, no = 3, yes = 4, step = {"reorder", "j", "i"}, code = "break",
})
for step = 2, 3 do
  for _, upper in ipairs {true, false} do
    prim.accepted(("a triangle whose outer loop has steps of %d"):format(step), {
      of = function(z)
        local N = z.N or 8
        return tide.kernel {A = i32[N][N], function(A)
          if upper then
            for i = 1, N - 1, step do for j = i, N - 1 do A[i][j] = A[i][j] + i end end
          else
            for i = 1, N - 1, step do for j = 0, i do A[i][j] = A[i][j] + i end end
          end
        end}, {i32[N][N]}
      end, step = {"reorder", "j", "i"}, other = {{N = 1}, {N = 2}, {N = 9}, {N = 10}},
    })
  end
end
prim.accepted("a triangle whose loops both have steps", {
  of = function(z)
    local N = z.N or 11
    return tide.kernel {A = i32[N][N], function(A)
      for i = 0, N - 1, 2 do for j = 1, i, 3 do A[i][j] = A[i][j] + i end end
    end}, {i32[N][N]}
  end, step = {"reorder", "j", "i"}, other = {{N = 1}, {N = 2}, {N = 9}, {N = 20}},
})
prim.twins("a triangle whose inner loop has steps from where the outer one says", {
  of = function(wide)
    return tide.kernel {A = i32[8][8], function(A)
      if wide then
        for i = 0, 7 do for j = i, 7, 2 do A[i][j] = A[i][j] + 1 end end
      else
        for i = 0, 7 do for j = i, 7, 1 do A[i][j] = A[i][j] + 1 end end
      end
    end}, {i32[8][8]}
  end, no = true, yes = false, step = {"reorder", "j", "i"}, code = "bounds",
  kind = "unsupported",
})
prim.twins("a triangle whose bounds are remainders", {
  of = function(rest)
    return tide.kernel {A = i32[8][8], function(A)
      for i = 0, 7 do
        if rest then
          for j = i % 3, 7 do A[i][j] = A[i][j] + 1 end
        else
          for j = i // 3, 7 do A[i][j] = A[i][j] + 1 end
        end
      end
    end}, {i32[8][8]}
  end, no = true, yes = false, step = {"reorder", "j", "i"}, code = "bounds",
  kind = "unsupported",
})
prim.twins("a triangle whose bounds are quotients by a negative number", {
  of = function(by)
    return tide.kernel {A = i32[8][8], function(A)
      for i = 0, 7 do
        for j = (by < 0 and i // -2 or -i // 2) + 4, 7 do A[i][j] = A[i][j] + 1 end
      end
    end}, {i32[8][8]}
  end, no = -2, yes = 2, step = {"reorder", "j", "i"}, code = "bounds",
  kind = "unsupported",
})
prim.twins("a condition between the loops", {
  of = function(inside)
    return tide.kernel {A = i32[4][4], x = i32[4], function(A, x)
      for i = 0, 3 do
        if inside then
          for j = 0, 3 do if x[i] > 0 then A[i][j] = 1 end end
        else
          if x[i] > 0 then for j = 0, 3 do A[i][j] = 1 end end
        end
      end
    end}, {i32[4][4], i32[4]}
  end, no = false, yes = true, step = {"reorder", "j", "i"}, code = "not-a-nest", level = "strict",
})
prim.twins("an index that data decides", {
  of = function(own)
    return tide.kernel {A = i32[4][4], p = i32[4], function(A, p)
      for i = 0, 3 do
        for j = 0, 3 do
          if own then A[i][j] = A[i][j] + p[j] else A[p[i] & 3][p[j] & 3] = A[i][j] end
        end
      end
    end}, {i32[4][4], i32[4]}
  end, no = false, yes = true, step = {"reorder", "j", "i"}, code = "dependence", witness = "A",
  match = "may break",
})
prim.refused("one loop", {
  of = shape.gemm, step = {"reorder", "k"}, kind = "usage", code = "arguments"})
prim.refused("a loop twice", {
  of = shape.gemm, step = {"reorder", "k", "k"}, kind = "usage", code = "arguments"})
prim.refused("loops of two nests", {
  of = function()
    return tide.kernel {A = i32[4], function(A)
      for i = 0, 3 do A[i] = 1 end
      for j = 0, 3 do A[j] = 2 end
    end}, {i32[4]}
  end, step = {"reorder", "j", "i"}, code = "not-a-nest"})

t.test("a proof that holds no more goes, and the step says so", function()
  local diagonal = tide.kernel {A = i32[6][6], function(A)
    for i = 1, 5 do
      for j = 1, 5 do A[i][j] = A[i - 1][j - 1] end
    end
  end}
  local s = tide.schedule(diagonal):parallel "j"
  t.has(tostring(s), "for j = 1, 5 do --@ parallel")
  s:reorder("j", "i")
  t.ok(not tostring(s):find "parallel", "still parallel")
  t.has(s:steps()[2].notes[1], "'j' is no longer parallel")
end)

t.done()
