-- pack.lua - pack: elements side by side in words, up to 1024 bits, and out of them again.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i16, i32, f32, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.grid

-- A table of elements T between two nests.
local function table_of(T)
  return function(z)
    local M, N = z.M or 3, z.N or 16
    return tide.kernel {A = T[M][N], B = T[M][N], function(A, B)
      local P = T[M][N]()
      for i, j in grid(M, N) do P[i][j] = A[i][j] end
      for i, j in grid(M, N) do B[i][j] = P[M - 1 - i][N - 1 - j] end
    end}, {T[M][N], T[M][N]}
  end
end

prim.accepted("four bytes to a word", {
  of = table_of(i8), step = {"pack", "P", 1, 4}, other = {{M = 1, N = 4}, {M = 2, N = 20}},
  has = {"local P = u32[M][N // 4](0)", "tide.assume(N % 4 == 0)",
    "P[i][j // 4] = tide.with_bits(P[i][j // 4], 8 * (j % 4), 8 * (j % 4) + 8, u8(A[i][j]))"},
})
prim.accepted("along the outer dimension", {
  of = table_of(i16), sizes = {M = 6}, step = {"pack", "P", 0, 3},
  has = {"local P = tide.uint(48)[M // 3][N](0)"},
})
prim.accepted("a word of 128 bits", {
  of = table_of(i8), step = {"pack", "P", 1, 16}, has = {"tide.uint(128)[M][N // 16](0)"},
})
prim.accepted("a word of 1024 bits", {
  of = table_of(i32), sizes = {N = 32}, step = {"pack", "P", 1, 32},
  has = {"tide.uint(1024)[M][N // 32](0)"},
})
prim.accepted("odd widths", {
  of = table_of(tide.int(7)), step = {"pack", "P", 1, 8}, has = {"tide.uint(56)[M][N // 8](0)"},
})
prim.accepted("floats", {
  of = table_of(f32), step = {"pack", "P", 1, 4}, has = {"tide.bitcast(u32, A[i][j])", "tide.bitcast(f32, tide.bits("},
})
prim.accepted("fixed point that saturates", {
  of = table_of(tide.fixed(8, 3):with {overflow = "saturate"}), step = {"pack", "P", 1, 4},
})
prim.accepted("one dimension, with a first value", {
  of = function(z)
    local N = z.N or 8
    return tide.kernel {A = i8[N], B = i8[N], function(A, B)
      local P = i8[N](-3)
      for i = 1, N - 1 do P[i] = A[i] end
      for i = 0, N - 1 do B[i] = P[N - 1 - i] end
    end}, {i8[N], i8[N]}
  end, step = {"pack", "P", 0, 2}, other = {{N = 2}, {N = 14}},
})
prim.accepted("three dimensions", {
  of = function()
    return tide.kernel {A = i8[2][3][8], B = i8[2][3][8], function(A, B)
      local P = i8[2][3][8]()
      for x, y, z in grid(2, 3, 8) do P[x][y][z] = A[x][y][z] + 1 end
      for x, y, z in grid(2, 3, 8) do B[x][y][z] = P[1 - x][y][7 - z] end
    end}, {i8[2][3][8], i8[2][3][8]}
  end, step = {"pack", "P", 2, 4}, has = {"local P = u32[2][3][2](0)"},
})
prim.accepted("after split: whole words", {
  of = table_of(i8), before = function(s) s:split("j#1", 4, {tail = "perfect"}):unroll("j_i") end,
  step = {"pack", "P", 1, 4}, has = {"P[i][j_o + j_i // 4]"},
})
prim.accepted("fixed-point words that a constant was written to, out of them: a cast of a value is none of its bits", {
  of = function()
    local T = tide.ufixed(8, 3)
    return tide.kernel {B = tide.u8[5], function(B)
      local P = T[5]()
      P[0] = 6
      B[0] = tide.u8(P[0])
    end}, {tide.u8[5]}
  end,
  before = function(s) s:pack("P", 0, 5) end, step = {"pack", "P", 0, 1},
  has = {"P[0] = 48", "B[0] = u8(tide.bitcast(tide.ufixed(8, 3), P[0]))"},
})
prim.accepted("a buffer, after reorder", {
  of = prim.shape.gemm, sizes = {K = 8}, before = function(s)
    s:reorder("k", "j"):buffer_at("A", "i")
  end, step = {"pack", "A_i", 0, 4}, has = {"local A_i = u32[K // 4](0)"},
})
prim.accepted("in a callee", {
  of = function()
    local turn = tide.kernel {a = i8[8], b = i8[8], function(a, b)
      local P = i8[8]()
      for i = 0, 7 do P[i] = a[i] end
      for i = 0, 7 do b[i] = P[7 - i] end
    end}
    return tide.kernel {A = i8[3][8], B = i8[3][8], function(A, B)
      for r = 0, 2 do turn(A[r], B[r]) end
    end}, {i8[3][8], i8[3][8]}
  end, step = {"pack", "turn:P", 0, 8}, has = {"local P = u64[1](0)"},
})
prim.accepted("sums in place", {
  of = function()
    return tide.kernel {A = i16[4][8], B = i16[8], function(A, B)
      local P = i16[8](0)
      for i, j in grid(4, 8) do P[j] = P[j] + A[i][j] end
      for j = 0, 7 do B[j] = P[j] end
    end}, {i16[4][8], i16[8]}
  end, step = {"pack", "P", 0, 4},
})

t.test("unpacked, it is what it was", function()
  for _, T in ipairs {i8, tide.u16, f32, tide.fixed(12, 5)} do
    local k, types = table_of(T) {}
    local s = tide.schedule(k)
    s:pack("P", 1, 4)
    s:pack("P", 1, 1)
    local text = tostring(s)
    t.has(text, "local P = " .. tostring(T) .. "[M][N](" .. (T == f32 and "0.0" or "0") .. ")")
    t.has(text, "P[i][j] = A[i][j]")
    t.has(text, "B[i][j] = P[M - i - 1][N - j - 1]")
    t.eq(s:verify(), "strict")
    prim.runs_alike(k, s, types)
  end
end)
prim.accepted("words that the program takes apart itself", {
  of = function()
    local T = tide.uint(96)
    return tide.kernel {A = i32[12], B = i32[12], function(A, B)
      local P = T[4](0)
      for i = 0, 3 do
        for l = 0, 2 do P[i] = tide.with_bits(P[i], 32 * l, 32 * l + 32, tide.u32(A[3 * i + l])) end
      end
      for i = 0, 3 do
        for l = 0, 2 do B[3 * i + l] = i32(tide.bits(P[i], 32 * l, 32 * l + 32)) end
      end
    end}, {i32[12], i32[12]}
  end, step = {"pack", "P", 0, 1}, has = {"local P = i32[12](0)", "P[i * 3 + l] = A[i * 3 + l]"},
})
prim.twins("an extent that the count does not divide", {
  of = function(N, z) return table_of(i8) {N = z and z.N or N} end, no = 18, yes = 20,
  step = {"pack", "P", 1, 4}, code = "not-divisible",
})
prim.twins("words that are too wide", {
  of = function() return table_of(i32) {N = 64} end, step = {"pack", "P", 1, 64},
  yes_step = {"pack", "P", 1, 32}, kind = "usage", code = "too-wide",
})
prim.twins("a parameter", {
  of = function(param)
    return tide.kernel {A = i8[8], B = i8[8], function(A, B)
      local P = i8[8]()
      for i = 0, 7 do if param then B[i] = 1 else P[i] = i end end
      for i = 0, 7 do if param then B[i] = A[i] else B[i] = P[i] end end
    end}, {i8[8], i8[8]}
  end, no = true, yes = false, step = {"pack", "A", 0, 4}, yes_step = {"pack", "P", 0, 4},
  code = "interface",
})
prim.refused("an array that is filled by tokens", {
  of = function()
    return tide.kernel {B = i8[8], Z = tide.stream(i8), function(B, Z)
      local P = i8[8](0)
      for i = 0, 7 do P[i] = Z:get() end
      for i = 0, 7 do B[i] = P[i] end
    end}, {}
  end, step = {"pack", "P", 0, 4}, kind = "unsupported", code = "token"})
prim.twins("words that are used whole", {
  of = function(whole)
    return tide.kernel {A = tide.u32[4], B = tide.u32[4], function(A, B)
      local P = tide.u32[4](0)
      for i = 0, 3 do
        P[i] = tide.with_bits(P[i], 8, 16, tide.bits(A[i], 0, 8))
        if whole then B[i] = P[i] else B[i] = tide.bits(P[i], 8, 16) end
      end
    end}, {tide.u32[4], tide.u32[4]}
  end, no = true, yes = false, step = {"pack", "P", 0, 1}, code = "words",
})
prim.twins("parts of two widths", {
  of = function(two)
    return tide.kernel {A = tide.u32[4], B = tide.u32[4], function(A, B)
      local P = tide.u32[4](0)
      for i = 0, 3 do
        P[i] = tide.with_bits(P[i], 8, 16, tide.bits(A[i], 0, 8))
        if two then B[i] = tide.bits(P[i], 0, 16) else B[i] = tide.bits(P[i], 0, 8) end
      end
    end}, {tide.u32[4], tide.u32[4]}
  end, no = true, yes = false, step = {"pack", "P", 0, 1}, code = "words",
})
prim.refused("no such dimension", {
  of = table_of(i8), step = {"pack", "P", 2, 4}, kind = "usage", code = "dimension"})
prim.refused("no elements", {
  of = table_of(i8), step = {"pack", "P", 1, 0}, kind = "usage", code = "count"})
prim.refused("indices", {
  of = function()
    return tide.kernel {B = tide.bool[4], A = tide.bool[4], function(B, A)
      local P = tide.bool[4](false)
      for i = 0, 3 do P[i] = A[i] end
      for i = 0, 3 do B[i] = P[i] end
    end}, {}
  end, step = {"pack", "P", 0, 4}, kind = "unsupported", code = "element"})

t.done()
