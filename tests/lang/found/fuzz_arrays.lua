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

t.test("inline, and unify that inlines, say that a view is no longer looked at", function()
  local function notes(place, step)
    local sub = tide.kernel {name = "sub", X = i16[8], Y = i16[5], function(X, Y) end}
    local other = tide.kernel {name = "other", X = i16[8], Y = i16[5], function(X, Y) end}
    local s = tide.schedule(load([[
      local tide, sub, other, i16 = ...
      return tide.kernel {name = "top", A = i16[8], B = i16[6][5], c = tide.u8[6], function(A, B, c)
        for k = 0, 5 do
          sub(A, B[]] .. place .. [[])
          other(A, B[3])
        end
      end}]])(tide, sub, other, i16))
    step(s)
    return table.concat(s:steps()[1].notes, "\n")
  end
  local function inline(s) s:inline "sub" end
  local function unify(s) s:unify("sub", "other", 2) end
  for _, step in ipairs {inline, unify} do
    local said = notes("c[1] % 9", step)
    t.has(said, "no longer checked unless it is used: whether B:slice(c[1] % 9")
    t.has(said, "is within 'B'")
    t.eq(notes("c[1] % 6", step):find("no longer checked", 1, true), nil)
  end
  t.eq(notes("k", inline):find("no longer checked", 1, true), nil)
end)

t.test("collapse of a copy of what need not have been written says so", function()
  local function notes(store)
    local s = tide.schedule(load([[
      local tide, i16 = ...
      return tide.kernel {A = i16[2], c = tide.u8[8], function(A, c)
        local b, from = i16[8](0), i16[8]()
        for v = 0, 7 do
          ]] .. store .. [[

        end
        for v = 0, 7 do b[v] = from[v] end
        A[0] = b[1]
      end}]])(tide, i16))
    s:collapse "b"
    return table.concat(s:steps()[1].notes, "\n")
  end
  t.has(notes "if c[v] % 5 ~= 0 then from[v] = 1 end", "no longer checked: whether each element of 'from' is written")
  t.eq(notes("from[v] = 1"):find("no longer checked", 1, true), nil)
end)

t.test("a search of a nest with many waits halves what lies between", function()
  local s = tide.schedule(tide.kernel {A = tide.i32[256], c = tide.u8[256], function(A, c)
    for i = 0, 255 do
      for j = 0, 3 do A[c[i] + j] = A[c[i]] // (j + 3) + 1 end
    end
  end})
  s:unroll("i", 16)
  local began = os.clock()
  s:auto()
  t.ok(os.clock() - began < 4, os.clock() - began)
end)

t.done()
