-- fuzz_arrays.lua - steps on arrays and indices that tests/fuzz found to go wrong, cut to their smallest.
local t = require "tap"
local tide = require "tide"
local i16, i32 = tide.i16, tide.i32

t.test("reshape: a dimension that has one element at these sizes alone keeps its index", function()
  local N = 1
  local s = tide.schedule(tide.kernel {
    A = i32[N][2],
    function(A)
      local T = i32[N][2](0)
      for i = 0, N - 1 do T[i][0], T[i][1] = A[i][1], A[i][0] end
      for i = 0, N - 1 do A[i][0], A[i][1] = T[i][0], T[i][1] end
    end,
  })
  s:reshape("T", {1, 2, 1})
  local x = tide.tensor(i32[3][2], {{1, 2}, {3, 4}, {5, 6}})
  load(tostring(s))():at {N = 3}(x)
  t.eq(tostring(x), tostring(tide.tensor(i32[3][2], {{2, 1}, {4, 3}, {6, 5}})))
end)

t.test("collapse: a loop of one iteration is no digit of an index", function()
  local function collapsed(factor)
    local s = tide.schedule(tide.kernel {
      C = i16[2],
      function(C)
        local b = i16[6][8](0)
        for i = 0, 1 do
          for j = 0, 7 do C[i] = i16(C[i] + b[i][j]) end
        end
      end,
    })
    s:buffer_at("b", "i"):split("j_init", factor):collapse "b_i"
    t.has(tostring(s), "b[i][j]")
    t.ok((s:verify()))
  end
  collapsed(1)
  collapsed(2)
end)

t.test("an index that data decide, and only the second program has, may be out of range", function()
  local function reads(index)
    return load(([[
      local tide = require "tide"
      return tide.kernel {name = "k", A = tide.i32[4], p = tide.i32, function(A, p)
        A[0] = tide.select(true, A[1], A[%s])
      end}]]):format(index))()
  end
  t.has(tostring(select(2, tide.verify(reads "2", reads "p"))), "differs: the second faults")
  t.has(tostring(select(2, tide.verify(reads "p", reads "p + 1"))), "not decided")
  t.has(tostring(select(2, tide.verify(reads "p", reads "2"))), "differs: the first faults")
  t.eq((tide.verify(reads "p", reads "p")), "strict")
end)

t.test("inject: a box that sticks out at other sizes assumes the sizes", function()
  local i16, index = tide.i16, tide.index
  local nest = tide.kernel {
    b = i16[2], A = i16[2], o = index,
    function(b, A, o)
      for k = 0, 1 do
        if o * 2 + k < 5 then b[k] = A[k] + A[k] end
      end
    end,
  }
  local function injected(n)
    local N = n
    local s = tide.schedule(tide.kernel {
      A = i16[N], B = i16[N],
      function(A, B)
        for j = 0, 4 do B[j] = A[j] + A[j] end
      end,
    })
    s:split("j", 2):inject("j_i", nest)
    return s
  end
  local s = injected(6)
  t.has(tostring(s), "tide.assume(N == 6)")
  t.eq(tostring(select(2, s:verify())), "proved: strict, at N = 6; relative to assume N == 6")
  t.fails(function() injected(5) end, {kind = "illegal", code = "operands"})
end)

t.test("bits that are taken as a narrower type than they were put in with are the lowest of it", function()
  local u16, u8, i16 = tide.u16, tide.u8, tide.i16
  local word = tide.kernel {
    A = i16[4], O = u8[4],
    function(A, O)
      local w = u16(0)
      for i = 0, 3 do
        w = tide.with_bits(w, 8, 16, A[i])
        O[i] = tide.bits(w, 8, 16)
      end
    end,
  }
  local plain = tide.kernel {
    A = i16[4], O = u8[4],
    function(A, O)
      for i = 0, 3 do O[i] = u8(A[i]) end
    end,
  }
  t.eq((tide.verify(word, plain)), "strict")
end)

t.test("a size that only a callee's loops have is its caller's of that name and value", function()
  local function make()
    return load([[
      local tide = require "tide"
      local M = 6
      local sub = tide.kernel {X = tide.u8[8], function(X) for i = 0, M - 1 do X[0], X[i] = X[i % 8], 0 end end}
      return tide.kernel {name = "k", B = tide.u8[8], D = tide.u8[M], function(B, D)
        for i = 0, 1 do sub(B) end
      end}]])()
  end
  local s = tide.schedule(make()):buffer_at("B", "i")
  local want, got = tide.random(tide.u8[8], 1), tide.random(tide.u8[8], 1)
  make():at {M = 8}(want, tide.u8[8](0))
  load(tostring(s))():at {M = 8}(got, tide.u8[8](0))
  t.eq(tostring(got), tostring(want))
end)

t.done()
