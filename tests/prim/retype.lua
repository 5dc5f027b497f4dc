-- retype.lua - retype: the program that has the new types, what the notes say, and what has no such type.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i16, i32, u8, f16, f32, f64 = tide.i8, tide.i16, tide.i32, tide.u8, tide.f16, tide.f32, tide.f64
local fixed, grid = tide.fixed, tide.grid

-- States that the step makes of `of` (after `before`) the program `want`, that later steps are
-- compared with it, that text and log rebuild it. Returns the schedule and its notes.
local function check(name, c, more)
  t.test(name, function()
    local k = c.of()
    local s = tide.schedule(k)
    if c.before then c.before(s) end
    local text, before = tostring(s), #s:steps()
    t.eq({s:can("retype", table.unpack(c.step))}, {true})
    t.eq(tostring(s), text, "can() changes nothing")
    t.eq((s:retype(table.unpack(c.step))), s)
    t.eq(tide.verify(c.want, s), "strict", tostring(s))
    t.eq(s:verify(), "strict")
    t.eq(tostring(load(tostring(s))(s:constants())), tostring(s))
    t.eq(tostring(load(s:log())(k)), tostring(s))
    for _, part in ipairs(c.has or {}) do t.has(tostring(s), part) end
    local steps = s:steps()
    local notes = table.concat(steps[#steps].notes, "\n")
    for _, part in ipairs(c.notes or {}) do t.has(notes, part) end
    if more then more(s, notes) end
    s:undo(#s:steps() - before)
    t.eq(tostring(s), text)
  end)
end

local M, N, K = 4, 5, 6

-- A product in these types.
local function gemm(TA, TB, TC)
  return tide.kernel {A = TA[M][K], B = TB[K][N], C = TC[M][N], name = "gemm", function(A, B, C)
    for i, j in grid(M, N) do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
end

check("an operand of fewer bits: its products too", {
  of = function() return gemm(i16, i8, i32) end, step = {"A", i8}, want = gemm(i8, i8, i32),
  notes = {"'*' gives i16, was tide.int(24)"},
}, function(s)
  s:reorder("k", "j"):buffer_at("C", "i"):pipeline("j")
  t.eq(s:verify(), "strict", "later steps are compared with the retyped program")
  t.ok(not tide.verify(gemm(i16, i8, i32), s), "which is not the first one")
end)
check("a sum that wraps", {
  of = function() return gemm(i8, i8, i32) end, step = {"C", i16}, want = gemm(i8, i8, i16),
  notes = {"a value becomes i16, was tide.int(17)", "line 39"},
})
check("floats of half the width", {
  of = function() return gemm(f32, f32, f32) end, step = {"C", f16},
  want = tide.kernel {A = f32[M][K], B = f32[K][N], C = f16[M][N], function(A, B, C)
    for i, j in grid(M, N) do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}, notes = {"a value becomes f16, was f32"},
})
check("floats of twice the width lose nothing", {
  of = function() return gemm(f32, f32, f32) end, step = {"C", f64}, want = gemm(f32, f32, f64),
}, function(_, notes) t.eq(notes, "") end)
check("an integer becomes a float", {
  of = function() return gemm(i8, i8, f32) end, step = {"B", f32}, want = gemm(i8, f32, f32),
})
check("a float becomes a fixed point number, which needs a cast in so many words", {
  of = function() return gemm(f32, f32, f32) end, step = {"C", fixed(16, 8)},
  want = tide.kernel {A = f32[M][K], B = f32[K][N], C = fixed(16, 8)[M][N], function(A, B, C)
    for i, j in grid(M, N) do
      for k = 0, K - 1 do C[i][j] = fixed(16, 8)(C[i][j] + A[i][k] * B[k][j]) end
    end
  end}, has = {"tide.fixed(16, 8)(C[i][j] + A[i][k] * B[k][j])"},
})
check("a type that saturates", {
  of = function() return gemm(i8, i8, i32) end, step = {"C", i16:with {overflow = "saturate"}},
  want = gemm(i8, i8, i16:with {overflow = "saturate"}),
})
check("literals beside it are of its type", {
  of = function()
    return tide.kernel {A = f32[N], B = f32[N], function(A, B)
      for i = 0, N - 1 do B[i] = A[i] * 0.1 + 2 end
    end}
  end, step = {"A", f16},
  want = tide.kernel {A = f16[N], B = f32[N], function(A, B)
    for i = 0, N - 1 do B[i] = A[i] * 0.1 + 2 end
  end}, notes = {"'*' gives f16, was f32"},
})
check("a local scalar", {
  of = function()
    return tide.kernel {A = i8[M][N], B = i32[M], function(A, B)
      for i = 0, M - 1 do
        local sum = i32(0)
        for j = 0, N - 1 do sum = sum + A[i][j] end
        B[i] = sum
      end
    end}
  end, step = {"sum", tide.int(11)}, has = {"local sum = tide.int(11)(0)"},
  want = tide.kernel {A = i8[M][N], B = i32[M], function(A, B)
    for i = 0, M - 1 do
      local sum = tide.int(11)(0)
      for j = 0, N - 1 do sum = sum + A[i][j] end
      B[i] = sum
    end
  end},
})
check("a local that takes an element keeps its type", {
  of = function()
    return tide.kernel {A = i32[N], B = i32[N], function(A, B)
      for i = 0, N - 1 do
        local x = A[i]
        x = x + 1
        B[i] = x
      end
    end}
  end, step = {"A", i8}, has = {"local x = i32(A[i])"},
  want = tide.kernel {A = i8[N], B = i32[N], function(A, B)
    for i = 0, N - 1 do
      local x = i32(A[i])
      x = x + 1
      B[i] = x
    end
  end},
})
check("a scalar parameter", {
  of = function()
    return tide.kernel {A = i32[N], x = i32, function(A, x)
      for i = 0, N - 1 do A[i] = A[i] + x end
    end}
  end, step = {"x", i8},
  want = tide.kernel {A = i32[N], x = i8, function(A, x)
    for i = 0, N - 1 do A[i] = A[i] + x end
  end},
})
check("a buffer alone", {
  of = function() return gemm(i8, i8, i32) end, before = function(s) s:buffer_at("C", "i") end,
  step = {"C_i", i16}, has = {"local C_i = i16[N]()", "C = i32[M][N]"},
  want = tide.kernel {A = i8[M][K], B = i8[K][N], C = i32[M][N], function(A, B, C)
    for i = 0, M - 1 do
      local row = i16[N]()
      for j = 0, N - 1 do row[j] = C[i][j] end
      for j, k in grid(N, K) do row[j] = row[j] + A[i][k] * B[k][j] end
      for j = 0, N - 1 do C[i][j] = row[j] end
    end
  end}, notes = {"a value becomes i16, was i32"},
})
check("after split and reorder", {
  of = function() return gemm(i16, i8, i32) end,
  before = function(s) s:split("k", 4):reorder("k_o", "j") end, step = {"A", i8},
  want = tide.schedule(gemm(i8, i8, i32)):split("k", 4):reorder("k_o", "j"),
})
check("an element by element statement", {
  of = function()
    return tide.kernel {A = i16[M][N], B = i32[M][N], function(A, B) B:set(A * 3 - A) end}
  end, step = {"A", i8},
  want = tide.kernel {A = i8[M][N], B = i32[M][N], function(A, B) B:set(A * 3 - A) end},
})
check("all names of an array: rows that are passed on", {
  of = function() return (prim.shape.callee {}) end, step = {"A", i8}, has = {"a = i8[N]", "A = i8[M][N]"},
  want = (function()
    local row = tide.kernel {a = i8[5], b = i32[5], function(a, b)
      for i, j in grid(5, 2) do b[i] = b[i] + a[i] * (j + 1) end
    end}
    return tide.kernel {A = i8[3][5], B = i32[3][5], function(A, B)
      for r = 0, 2 do row(A[r], B[r]) end
    end}
  end)(), notes = {"'a' of 'row' too"},
})
check("from within a callee", {
  of = function() return (prim.shape.callee {}) end, step = {"row:a", i8}, has = {"A = i8[M][N]"},
  want = tide.kernel {A = i8[3][5], B = i32[3][5], function(A, B)
    for r = 0, 2 do
      for i, j in grid(5, 2) do B[r][i] = B[r][i] + A[r][i] * (j + 1) end
    end
  end},
})

-- A test that the step is refused for of(no), and done for its twin of(yes).
local function twins(name, c)
  t.test(name, function()
    local s = tide.schedule(c.of(c.no))
    local text, log = tostring(s), s:log()
    local e = t.fails(function() s:retype(table.unpack(c.step)) end,
      {kind = c.kind or "illegal", code = c.code, prim = "retype"})
    if c.match then t.has(tostring(e), c.match) end
    t.eq({tostring(s), s:log()}, {text, log}, "a refused step changes nothing")
    local twin = tide.schedule(c.of(c.yes)):retype(table.unpack(c.yes_step or c.step))
    t.eq(twin:verify(), "strict")
  end)
end

twins("an index is no float", {
  of = function(index)
    return tide.kernel {p = u8[4], x = i32[256], function(p, x)
      for i = 0, 3 do
        if index then x[p[i]] = i else x[i] = p[i] end
      end
    end}
  end, no = true, yes = false, step = {"p", fixed(8, 4)}, yes_step = {"p", tide.int(9)}, code = "type",
  match = "index",
})
twins("an operator that the type has not", {
  of = function(bits)
    return tide.kernel {A = i32[4], B = f32[4], function(A, B)
      for i = 0, 3 do
        if bits then B[i] = A[i] & 3 else B[i] = A[i] + 3 end
      end
    end}
  end, no = true, yes = false, step = {"A", f32}, code = "type",
})
twins("a narrower word, of whose bits a variable tells the place", {
  of = function(varies)
    return tide.kernel {A = u8[4], W = tide.u64[1], function(A, W)
      for i = 0, 3 do
        if varies then W[0] = tide.with_bits(W[0], i * 16, i * 16 + 8, A[i])
        else W[0] = tide.with_bits(W[0], 16, 24, A[i]) end
      end
    end}
  end, no = true, yes = false, step = {"W", tide.u32}, code = "type", match = "a variable counts",
})
twins("a float put into a word", {
  of = function(bits)
    return tide.kernel {A = u8[4], W = tide.u64[4], function(A, W)
      for i = 0, 3 do
        if bits then W[i] = tide.with_bits(W[i], 16, 24, A[i])
        else W[i] = tide.with_bits(W[i], 16, 24, u8(A[i])) end
      end
    end}
  end, no = true, yes = false, step = {"A", f32},
  code = "type", match = "with_bits cannot take u64, index, index and f32",
})
twins("a constant", {
  of = function()
    local W = tide.tensor(i32[4], {1, 2, 3, 4})
    return tide.kernel {B = i32[4], function(B) for i = 0, 3 do B[i] = W[i] end end}
  end, step = {"W", i8}, yes_step = {"B", i8}, code = "class",
})
twins("the type that it has", {
  of = function() return gemm(i8, i8, i32) end, step = {"C", i32}, yes_step = {"C", i16}, kind = "usage",
  code = "same-type",
})
twins("sums beyond 64 bits", {
  of = function(sum)
    return tide.kernel {A = tide.i64[4], B = tide.i64[4], function(A, B)
      local T = tide.i64[4](0)
      for i = 0, 3 do
        if sum then T[i] = A[i] + A[i] else T[i] = A[i] end
      end
      for i = 0, 3 do B[i] = tide.i64(tide.bits(T[i], 0, 64)) end
    end}
  end, no = true, yes = false, step = {"T", tide.int(70)}, kind = "usage", code = "too-wide",
})
twins("a type of no number", {
  of = function() return gemm(i8, i8, i32) end, step = {"C", tide.bool}, yes_step = {"C", i16},
  kind = "usage", code = "scalar",
})

t.test("how large the error is on given data", function()
  local precision = require "tide.precision"
  local k = gemm(f32, f32, f32)
  local s = tide.schedule(k):retype("C", f16)
  local A, B = tide.random(f32[M][K], 1), tide.random(f32[K][N], 2)
  local C = f32[M][N](0)
  local r = precision(k, s, A, B, C)
  local x, y = f32[M][N](0), f16[M][N](0)
  k(A, B, x)
  s(A, B, y)
  local largest = 0
  for i = 0, M - 1 do
    for j = 0, N - 1 do largest = math.max(largest, math.abs(x[i][j] - y[i][j])) end
  end
  t.ok(largest > 0)
  t.eq({r[1].error, r[2].error, r[3].error}, {0, 0, largest})
  t.eq(math.abs(x[r[3].at[1]][r[3].at[2]] - y[r[3].at[1]][r[3].at[2]]), largest)
  t.has(tostring(r), "C: f16[4][5] instead of f32[4][5]: largest error")
  t.eq(C:table(), f32[M][N](0):table(), "the data are copied")
end)

t.done()
