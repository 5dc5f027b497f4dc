-- fuzz_found.lua - programs that tests/fuzz found to go wrong, each cut to its smallest.
local t = require "tap"
local tide = require "tide"

-- States that a kernel's printed form loads back to the same text.
local function reloads(kernel)
  t.eq(tostring(load(tostring(kernel))()), tostring(kernel))
end

t.test("a type with modes is written inside a kernel as it is outside", function()
  local S = tide.i8:with {overflow = "saturate"}
  reloads(tide.kernel {
    A = S[4],
    function(A)
      local b = S[4](0)
      for i = 0, 3 do
        b[i] = S(A[i] * 3)
        A[i] = b[i]
      end
    end,
  })
  local k = tide.kernel {
    A = tide.i8[1],
    function(A) A[0] = tide.i8(tide.i8:with {overflow = "saturate"}(A[0] * 3)) end,
  }
  local x = tide.tensor(tide.i8[1], {100})
  k(x)
  t.eq(x[0], 127)
end)

t.test("modes that a type cannot have are refused inside a kernel", function()
  local function with(source)
    return function()
      load("local tide = require 'tide'; return tide.kernel { A = tide.f32[1], function(A) " ..
        "A[0] = " .. source .. "(A[0]) end }")()
    end
  end
  t.fails(with "tide.f32:with {overflow = 'saturate'}", {kind = "usage", code = "option-value"})
  t.fails(with "tide.i8:with {overflow = 'crash'}", {kind = "usage", code = "option-value"})
  t.fails(with "tide.i8:with {overflows = 'wrap'}", {kind = "usage", code = "option"})
  t.fails(with "tide.i8:without {}", {kind = "usage", code = "method"})
end)

t.test("a guard on a scalar parameter loads as the step made it", function()
  local k = tide.kernel {
    n = tide.u8, A = tide.i8[300],
    function(n, A)
      for i = 0, n - 1 do A[i] = 1 end
    end,
  }
  local s = tide.schedule(k)
  s:split("i", 4)
  reloads(s)
  local again = load(tostring(s))()
  t.ok(tide.schedule(again):can("parallel", "i_o"))
end)

t.test("indices inside indices are simplified as the loader does", function()
  local k = tide.kernel {
    c = tide.u8[40], A = tide.i8[8],
    function(c, A)
      for i = 0, 9 do A[c[2 * i] % 8] = 1 end
    end,
  }
  local s = tide.schedule(k)
  s:split("i", 2)
  reloads(s)
  t.has(tostring(s), "c[i_o * 4 + i_i * 2]")
end)

t.test("a fusion that exchanges sums says so", function()
  local k = tide.kernel {
    c = tide.u8[7], A = tide.i64[7], B = tide.i64[7],
    function(c, A, B)
      for i = 0, 6 do A[c[i] % 7] = A[c[i] % 7] + B[i] end
      for j = 0, 6 do A[j] = A[j] + B[0] end
    end,
  }
  local s = tide.schedule(k)
  s:fuse("i", "j")
  t.has(s:steps()[1].notes[1], "'+' is associative")
end)

t.test("a loop that may end before it begins has no tail when it is cut", function()
  local k = tide.kernel {
    A = tide.i32[8],
    function(A)
      for i = 0, 7 do
        for j = i, 3 do A[j] = A[j] * 3 + 1 end
      end
    end,
  }
  local s = tide.schedule(k)
  s:split("j", 3, {tail = "cut"})
  t.eq(s:verify(), "strict")
end)

t.test("a buffer stores back no more than it holds", function()
  local N, M = 8, 5
  local k = tide.kernel {
    B = tide.f32[N][M],
    function(B)
      for j = 0, M - 1 do B[0][tide.min(j + 1, M - 1)] = B[0][j] end
    end,
  }
  local s = tide.schedule(k)
  s:buffer_at("B", "j")
  t.eq(s:verify(), "strict")
end)

t.test("a buffer is not filled from what was never written", function()
  local function schedule(index)
    local s = tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {
        A = tide.f32[8], C = tide.f32[1],
        function(A, C)
          local b = tide.f32[8]()
          for i = 4, 7 do b[i] = A[i] end
          for i = 4, 7 do C[0] = b[%s] end
        end,
      }]]):format(index))())
    return s
  end
  t.ok(schedule("i"):can("buffer_at", "b", "i#2"))
  local s = schedule "tide.min(i + 1, 7)"
  t.ok(s:can("split", "i#2", 2))
  s:split("i#2", 2)
  local ok, e = s:can("buffer_at", "b", "i_o")
  if ok then
    s:buffer_at("b", "i_o")
    t.eq(s:verify(), "strict")
  else
    t.eq(e.code, "unwritten")
  end
end)

t.test("a callee has the sizes of its caller, also where no shape tells", function()
  local N = 6
  local fill = tide.kernel {
    X = tide.i32[16],
    function(X)
      for i = 0, N - 1 do X[i] = X[i] + 1 end
    end,
  }
  local k = tide.kernel {
    A = tide.i32[16], B = tide.i32[N],
    function(A, B)
      fill(A)
      B:set(1)
    end,
  }
  local x, y = tide.i32[16](0), tide.i32[3](0)
  k:at {N = 3}(x, y)
  t.eq(x[2], 1)
  t.eq(x[3], 0)
end)

t.test("inline keeps sizes that the callee shares with its caller", function()
  local N = 6
  local fill = tide.kernel {
    X = tide.i32[16],
    function(X)
      for i = 0, N - 1 do X[i] = X[i] + 1 end
    end,
  }
  local s = tide.schedule(tide.kernel {
    A = tide.i32[16], B = tide.i32[N],
    function(A, B)
      fill(A)
      B:set(1)
    end,
  })
  s:inline("fill")
  t.has(tostring(s), "for i = 0, N - 1 do")
  t.eq(s:verify(), "strict")
end)

t.test("a size that is a whole extent is one in every extent", function()
  local M = 7
  local k = tide.kernel {
    A = tide.i16[M + 1][2], B = tide.i16[M][M + 1],
    function(A, B) A[1][1] = B[1][1] end,
  }
  t.has(tostring(k), "A = i16[M + 1][2],\n  B = i16[M][M + 1],")
  reloads(k)
end)

t.test("a copy made by an earlier step is not taken for its original", function()
  local s = tide.schedule(tide.kernel {
    B = tide.f32[8], C = tide.f32[1],
    function(B, C)
      for i = 0, 7 do
        B[i] = 0.0
        for j = 0, 7 do B[i] = tide.min(C[0], B[i]) end
      end
    end,
  })
  s:reorder("j", "i")
  local ok, e = s:can("fuse", "i_1", "j")
  t.ok(not ok)
  t.eq(e.code, "dependence")
end)

t.test("facts of a step live as long as the program", function()
  local N = 8
  local k = tide.kernel {
    A = tide.i32[N],
    function(A)
      for i = 0, N - 1 do A[i] = i end
    end,
  }
  local s = tide.schedule(k)
  s:unroll("i", {replace = true})
  for _ = 1, 200 do tide.schedule(k):split("i", 2) end
  t.has(tostring(s), "tide.assume(N == 8)")
  reloads(s)
end)

t.test("sizes are declared in order of use, whatever the steps before", function()
  local N, M = 7, 5
  local k = tide.kernel {
    A = tide.i32[5],
    function(A)
      for i = 0, N - 1 do
        for j = 0, M - 1 do A[0] = i + j end
      end
    end,
  }
  local s = tide.schedule(k)
  s:fuse("i", "j")
  reloads(s)
end)

t.test("an accumulation that rounds is not associative", function()
  local function schedule(T, U, sum)
    return tide.schedule(load(([[
      local tide, T, U = ...
      return tide.kernel {
        A = U[4], C = T[1],
        function(A, C)
          for i = 0, 1 do
            for j = 0, 3 do C[0] = T(%s) end
          end
        end,
      }]]):format(sum))(tide, T, U))
  end
  local S = tide.i8:with {overflow = "saturate"}
  local i24, x, y = tide.int(24), tide.fixed(16, 1), tide.fixed(32, 2)
  local function refused(T, U, sum)
    local ok, e = schedule(T, U, sum):can("reorder", "j", "i", {reassociate = true})
    t.ok(not ok, sum)
    t.eq(e and e.code, "dependence")
  end
  local function accepted(T, U, sum, level)
    local s = schedule(T, U, sum)
    s:reorder("j", "i")
    t.eq(s:verify(), level)
  end
  refused(x, y, "C[0] + A[j]")
  accepted(y, x, "C[0] + A[j]", "associative")
  refused(S, i24, "C[0] + A[j]")
  accepted(tide.i8, i24, "C[0] + A[j]", "associative")
  refused(S, i24, "tide.max(C[0], A[j])")
  accepted(S, S, "tide.max(C[0], A[j])", "associative")
end)

t.test("an index of min is checked where it is taken", function()
  local function design(extent)
    return load(([[
      local tide = require "tide"
      return tide.design(function(d)
        local B = d:arg(tide.i32[7][7])
        d.t = tide.task {map = {2}, B = B,
          function(B, i) B[tide.min(i, 6)][i + %d] = 0 end}
      end)]]):format(extent))()
  end
  t.eq(#design(0).sizes, 0)
  t.fails(function() design(7) end, {code = "index-range"})
end)

t.test("what is assumed of a size is still assumed when the size has gone", function()
  local M, N = 5, 5
  local k = tide.kernel {
    A = tide.u8[M],
    function(A)
      for i = 0, M - 1 do A[i] = 1 end
      for j = 0, N - 1 do A[j] = 2 end
    end,
  }
  local s = tide.schedule(k)
  s:fuse("i", "j")
  t.has(tostring(s), "tide.assume(M == 5)")
  t.fails(function() load(tostring(s))():at {M = 6} end, {code = "assume"})
end)

t.test("maxima and bit operators in another order are proved", function()
  local function kernel(source)
    return load("local tide = require 'tide'; return tide.kernel {A = tide.i32[4], C = tide.i32[1], " ..
      "function(A, C) C[0] = " .. source .. " end}")()
  end
  t.eq(tide.verify(kernel "tide.max(A[0], A[1])", kernel "tide.max(A[1], A[0])"), "associative")
  t.eq(tide.verify(kernel "A[0] & (A[1] & C[0])", kernel "(C[0] & A[0]) & A[1]"), "associative")
  t.eq(tide.verify(kernel "A[0] & A[1]", kernel "A[0] & A[2]"), nil)
  t.eq(tide.verify(kernel "tide.max(A[0], A[1]) * (A[2] + A[3])",
    kernel "A[2] * tide.max(A[1], A[0]) + tide.max(A[0], A[1]) * A[3]"), "ring")
end)

t.test("a size that only conditions of a new kernel hold keeps its value", function()
  local N = 7
  local s = tide.schedule(tide.kernel {
    A = tide.i32[16],
    function(A)
      for j = 0, N - 1 do A[j] = A[j] + 1 end
    end,
  })
  s:split("j", 2)
  s:outline("j_i", "pair")
  t.eq(s:verify(), "strict")
  t.fails(function() load(tostring(s))():at {N = 8} end, {code = "assume"})
end)

t.test("the log of a schedule without steps, composed, is empty", function()
  local sub = tide.kernel {X = tide.i32[4], function(X) X[0] = 1 end}
  local k = tide.kernel {A = tide.i32[4], function(A) sub(A) end}
  local s = tide.schedule(k)
  s:compose(tide.schedule(sub))
  t.eq(tostring(load(s:log())(k)), tostring(s))
end)

t.test("a callee with extents of its own is not called with others", function()
  local N = 6
  local sub = tide.kernel {X = tide.i32[7], function(X) X[6] = 0 end}
  local k = tide.kernel {
    A = tide.i32[N + 1],
    function(A)
      sub(A)
      for i = 0, N - 1 do A[i] = 1 end
    end,
  }
  k(tide.i32[7](0))
  t.fails(function() k:at {N = 5} end, {code = "extents"})
end)

t.test("a lower bound that data decides is an index in the body too", function()
  local s = tide.schedule(tide.kernel {
    c = tide.u8[4], A = tide.i32[300],
    function(c, A)
      for i = 0, c[3] - 1 do A[i] = 1 end
    end,
  })
  s:split("i", 3, {tail = "cut"})
  s:split("i_t", 4)
  reloads(s)
  t.ok(tide.schedule(load(tostring(s))()):can("split", "i_o", 2))
end)

t.test("a return before other statements loads as it is", function()
  local s = tide.schedule(tide.kernel {
    A = tide.i32[2],
    function(A)
      for i = 0, 1 do -- luacheck: ignore 512
        A[i] = 1
        return
      end
    end,
  })
  s:unroll("i", {replace = true})
  reloads(s)
  local a = tide.i32[2](0)
  s(a)
  t.eq(a:table(), {1, 0})
end)

t.test("sums under conditions, and of what is widened, in another order are proved", function()
  local function kernel(loops, source)
    return load("local tide = require 'tide'; local i64, i16 = tide.i64, tide.i16; " ..
      "return tide.kernel {A = tide.uint(3)[4], B = i64[4], C = i64[1], function(A, B, C) " ..
      loops .. source .. " end end end}")()
  end
  local function proved(source, level)
    local i, j = "for i = 0, 1 do ", "for j = 0, 3 do "
    t.eq((tide.verify(kernel(i .. j, source), kernel(j .. i, source))), level, source)
  end
  proved("if B[i] < 3 then C[0] = i64(C[0] + B[j]) end", "ring")
  proved("C[0] = i64(C[0] * tide.select(B[i] < 3, B[j], A[i]))", "associative")
  proved("C[0] = i64(C[0] + i64(i16(A[i])))", "associative")
  proved("if B[i] < 3 then C[0] = B[j] end", "strict")
  proved("if A[j] < B[i] then C[0] = B[j] end", nil)
end)

t.test("a loop is not distributed over a return", function()
  local function schedule(leaves)
    return tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {
        C = tide.i32[4], D = tide.i32[4],
        function(C, D)
          for i = 0, 1 do
            C[i] = C[i] + D[0]
            for j = 0, 1 do %s end
          end
        end,
      }]]):format(leaves))())
  end
  local ok, e = schedule "return":can("reorder", "i", "j")
  t.ok(not ok)
  t.eq(e.code, "not-decided")
  local s = schedule "D[1] = C[3]"
  s:reorder("i", "j")
  t.eq(s:verify(), "strict")
end)

t.test("a buffer is not filled from what no caller has written", function()
  local function schedule(init)
    local s = tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {
        C = tide.i32[7],
        function(C)
          local b = tide.i32[7](%s)
          for i = 0, 3 do b[i %% 2] = C[i] end
          for j = 0, 1 do C[j] = b[j] end
        end,
      }]]):format(init))())
    s:outline("i", "sub")
    s:split("sub:i", 3)
    return s
  end
  local ok, e = schedule "":can("buffer_at", "sub:b", "sub:i_o")
  t.ok(not ok)
  t.eq(e.code, "unwritten")
  local s = schedule "0"
  s:buffer_at("sub:b", "sub:i_o")
  t.eq(s:verify(), "strict")
end)

t.test("a window in a loop that data ends loads as it is", function()
  local s = tide.schedule(tide.kernel {
    D = tide.i32[8], A = tide.i32[1], c = tide.u8[1],
    function(D, A, c)
      for i = 0, c[0] % 4 - 1 do A[0] = A[0] + D[i + 1] * D[i] end
    end,
  })
  s:reuse_at("D", "i")
  reloads(s)
  t.ok(tide.schedule(load(tostring(s))()):can("split", "i", 2))
end)

t.test("an element of another type is packed as what it is stored as", function()
  local k = tide.kernel {
    A = tide.i32[4], q = tide.u8,
    function(A, q)
      local b = tide.fixed(26, 5)[4]()
      for i = 0, 3 do b[i] = q * i end
      for j = 0, 3 do A[j] = tide.i32(b[j]) end
    end,
  }
  local s = tide.schedule(k)
  s:pack("b", 0, 2)
  reloads(s)
  local a, b = tide.i32[4](0), tide.i32[4](0)
  s(a, 7)
  k(b, 7)
  t.ok(a:equal(b))
end)

t.test("a guard stays around each part of a nest that reorder distributes", function()
  local s = tide.schedule(tide.kernel {
    C = tide.i8[5], D = tide.i8[5], E = tide.i8[5][2],
    function(C, D, E)
      for i = 0, 4 do
        for j = 0, 1 do
          for k = 0, 1 do E[i][j] = E[i][j] + k end
          for k = 0, 1 do D[i] = C[i] + k end
        end
      end
    end,
  })
  s:split("i", 4)
  s:reorder("j", "i_i", "k#1")
  t.eq((s:verify()), "strict", tostring(s))
end)

t.test("a nest is not cut when its iterations hand values on in a window", function()
  local function schedule()
    return tide.schedule(tide.kernel {
      A = tide.i64[8], B = tide.i64[8],
      function(A, B)
        local b = tide.i64[8](0)
        for j = 1, 5 do b[j] = B[j - 1] + B[j] end
        for i = 0, 5 do A[i] = b[i] end
      end,
    })
  end
  local s = schedule()
  s:compute_at("b", "i")
  t.eq((s:verify()), "strict")
  s = schedule()
  s:reuse_at("B", "j")
  t.fails(function() s:compute_at("b", "i") end, {kind = "illegal", code = "ranges"})
end)

-- States that s, after its steps, prints as text that loads to itself.
local function loads(s)
  t.eq(s:verify(), "strict")
  t.eq(tostring(load(tostring(s))()), tostring(s))
end

t.test("a local whose first value becomes an operator says the type that it had", function()
  local s = tide.schedule(tide.kernel {C = tide.u8[6], function(C)
    local b = tide.u8[6](0)
    for j = 0, 5 do
      b[j] = tide.int(9)(b[j])
      C[j] = b[j]
    end
  end})
  s:buffer_at("b", "j"):pack("b", 0, 3)
  t.has(tostring(s), "local b_j = u8(tide.bits(")
  loads(s)
end)

t.test("an arm that collapse empties is gone", function()
  local s = tide.schedule(tide.kernel {q = tide.i8, B = tide.i8[4], function(q, B)
    local a = tide.i8[4](0)
    for i = 0, 1 do
      local c = tide.i8[4]()
      if q <= 0 then B[i] = 1 else c[2] = a[0] end
    end
  end})
  s:collapse "c"
  t.ok(not tostring(s):find "else", tostring(s))
  loads(s)
end)

-- A kernel that fills b, of type `cell`, from A and then does `body` for i from 0 to 3.
local function cut_kernel(sum, cell, body)
  return load(([[
    local tide = require "tide"
    local sum, cell = tide.%s, tide.%s
    return tide.kernel {name = "k", A = tide.i64[4], O = sum[4], function(A, O)
      local b = cell[4]()
      for i = 0, 3 do b[i] = cell(A[i]) end
      for i = 0, 3 do %s end
    end}]]):format(sum, cell, body))()
end

t.test("sums of what was cut to fewer bits, or to more, in another order are proved", function()
  local up, down = "O[0] = sum(O[0] + b[i])", "O[0] = sum(O[0] + b[3 - i])"
  t.eq((tide.verify(cut_kernel("i64", "u8", up), cut_kernel("i64", "u8", down))), "associative")
  t.eq((tide.verify(cut_kernel("i8", "i32", up), cut_kernel("i8", "i32", down))), "associative")
  local level, verdict = tide.verify(cut_kernel("i64", "u8", up), cut_kernel("i64", "i8", down))
  t.eq(level, nil)
  t.has(tostring(verdict), "differs: O[0]")
end)

t.test("other words for one value are decided bit by bit", function()
  local function verdict(x, y)
    return tostring(select(2, tide.verify(cut_kernel("i64", "i8", x), cut_kernel("i64", "i8", y))))
  end
  t.has(verdict("O[i] = b[i] << 1", "O[i] = b[i] * 2"), "proved: strict")
  t.has(verdict("O[i] = b[i] << 1", "O[i] = b[i] * 3"), "differs: O[0]")
  t.has(verdict("O[i] = b[i] << 1", "O[i] = b[i] * 2 + i // 3"), "differs: O[3]")
end)

t.test("a literal beside one that says its type says its own", function()
  local k = tide.kernel {
    A = tide.f16[8], O = tide.f16[8],
    function(A, O)
      for i = 0, 7 do
        O[i] = tide.select(i > 2, tide.f16(3.25), tide.select(4.25 ~= 6.25, 2.5, 4.25))
        A[i] = tide.select(i > 2, A[i], tide.select(4.25 ~= 6.25, 2.5, 4.25))
      end
    end,
  }
  t.has(tostring(k), "f16(3.25), f32(2.5)")
  t.has(tostring(k), "A[i], f32(2.5)")
  reloads(k)
end)

t.test("a nest is not moved past what may return", function()
  local function can(leave, by)
    local s = tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {C = tide.i32[6], D = tide.i32[6], c = tide.u8, function(C, D, c)
        for i = 0, 5 do C[i] = 0 end
        if c == 0 then %s end
        for j = 0, %d do D[j] = C[j] end
      end}]]):format(leave, by))())
    return s:can("compute_at", "C", "j")
  end
  for by = 4, 5 do
    local ok, e = can("return", by)
    t.ok(not ok)
    t.eq(e.code, "return")
  end
  t.ok((can("D[0] = 1", 5)))
end)

t.done()
