-- fuzz_designs.lua - designs that tests/fuzz found to go wrong, each cut to its smallest.
local t = require "tap"
local tide = require "tide"

-- States that a kernel's printed form loads back to the same text.
local function reloads(kernel)
  t.eq(tostring(load(tostring(kernel))()), tostring(kernel))
end

t.test("tasks of a called design have the sizes of the caller", function()
  local M = 6
  local s = tide.schedule(tide.kernel {
    B = tide.i16[6],
    function(B)
      for _ = 0, M - 1 do
        for j = 0, M - 1 do B[0] = j end
      end
    end,
  })
  s:outline("j", "row")
  s:dataflow("row")
  t.eq(s:verify(), "strict")
end)

t.test("arguments that no task writes may be the same", function()
  local sub = tide.kernel {
    X = tide.i32[6], Y = tide.i32[6], Z = tide.i32[6],
    function(X, Y, Z) X[0] = Y[0] + Z[0] end,
  }
  local function caller(second)
    return load("local tide, sub = ...; return tide.kernel {B = tide.i32[6], C = tide.i32[6], " ..
      "function(B, C) sub(B, C, " .. second .. ") end}")(tide, sub)
  end
  local s = tide.schedule(caller "C")
  s:dataflow("sub")
  t.eq(s:verify(), "strict")
  reloads(s)
  t.fails(function() caller "B" end, {code = "overlap"})
end)

t.test("a loop that holds nothing is unfolded", function()
  local s = tide.schedule(tide.kernel {
    A = tide.i32[2],
    function(A)
      for i = 0, 1 do -- luacheck: ignore
      end
      A[0] = 1
    end,
  })
  s:unfold "i"
  t.eq(s:verify(), "strict")
end)

t.test("a design that takes a stream loads as it is", function()
  local s = tide.schedule(tide.kernel {
    A = tide.i32[4],
    function(A)
      local b = tide.i32[4]()
      for i = 0, 3 do b[i] = i end
      for j = 0, 3 do A[j] = b[j] end
    end,
  })
  s:relay("b", "j")
  s:dataflow(s:tasks()[2])
  reloads(s)
  t.eq(s:verify(), "strict")
end)

t.test("tasks of tasks have names of their own", function()
  local s = tide.schedule(tide.kernel {
    name = "top", C = tide.i8[4],
    function(C) C[0] = 0 end,
  })
  s:dataflow()
  s:dataflow "top_C"
  s:dataflow "top_C"
  reloads(s)
end)

t.test("a design that only gets from a stream is one end of it", function()
  local s = tide.schedule(tide.kernel {
    A = tide.i32[8],
    function(A)
      local b = tide.i32[8]()
      for i = 0, 7 do b[i] = i end
      for j = 0, 7 do A[j] = b[j] end
    end,
  })
  s:relay("b", "j")
  local writer = s:tasks()[1]
  s:outline(writer .. ":i", "outer")
  s:outline("outer:i", "inner")
  s:dataflow "inner"
  reloads(s)
end)

t.test("what a step assumes in a task is assumed of the design's caller", function()
  local M = 6
  local sub = tide.kernel {
    X = tide.f32[7],
    function(X)
      for i = 0, 1 do
        for j = 0, M - 1 do X[i] = X[i] + j end
      end
    end,
  }
  local s = tide.schedule(tide.kernel {
    B = tide.f32[7], D = tide.f32[M],
    function(B, D)
      sub(B)
      D[0] = 0
    end,
  })
  s:dataflow "sub"
  s:fuse("sub_i:i", "sub_i:j")
  t.has(tostring(s), "tide.assume(M == 6)")
  t.eq(s:verify(), "strict")
end)

t.test("the kernel of a task is printed without a name, so it is equal under any", function()
  local s = tide.schedule(tide.kernel {
    name = "top", A = tide.i32[2],
    function(A)
      for i = 0, 1 do A[i] = 1 end
    end,
  })
  s:outline("i", "sub")
  s:dataflow()
  s:dataflow "sub_1"
  reloads(s)
  local k = load(tostring(s))()
  t.eq((tide.verify(k, s)), "strict")
end)

t.test("a token that becomes a local has the token's type", function()
  local S = tide.i8:with {overflow = "saturate"}
  local s = tide.schedule(tide.kernel {
    A = tide.i32[4], B = tide.i32[4],
    function(A, B)
      local b = S[4]()
      for i = 0, 3 do b[i] = S(A[i] * 3) end
      for j = 0, 3 do B[j] = b[j] end
    end,
  })
  s:relay("b", "j")
  local tasks = s:tasks()
  s:chain(tasks[1], tasks[2])
  reloads(s)
  t.eq((tide.verify(load(tostring(s))(), s)), "strict")
  t.eq(s:verify(), "strict")
end)

t.test("a guard between the loops of a band is not unfolded away", function()
  local function schedule(N)
    local s = tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {
        A = tide.f32[%d][4],
        function(A)
          for i, j in tide.grid(%d, 4, "B") do A[i][j] = 0.0 end
        end,
      }]]):format(N, N))())
    s:split("i", 4)
    return s
  end
  local ok, e = schedule(5):can("unfold", "B")
  t.ok(not ok)
  t.eq(e.code, "imperfect")
  local s = schedule(8)
  s:unfold "B"
  t.eq(s:verify(), "strict")
end)

t.test("a loop that does not run is no task", function()
  local M = 8
  local s = tide.schedule(tide.kernel {
    A = tide.f32[M],
    function(A)
      for i = 0, M do A[tide.min(i, M - 1)] = 1.0 end
    end,
  })
  local fork = s:fork()
  s:split("i", 3, {tail = "cut"})
  local ok, e = s:can("unfold", "i_t")
  t.ok(not ok)
  t.eq(e.code, "extent")
  fork:split("i", 2, {tail = "cut"})
  fork:unfold "i_t"
  t.eq(fork:verify(), "strict")
end)

t.test("what a task got from a stream stays in the stage that got it", function()
  local s = tide.schedule(tide.kernel {
    name = "top", A = tide.i32[6],
    function(A)
      local b = tide.i32[6](0)
      for i = 0, 5 do b[i] = i end
      for j = 0, 5 do A[j] = b[j] end
    end,
  })
  s:dataflow()
  local ok, e = s:can("dataflow", s:tasks()[2])
  t.ok(not ok)
  t.eq(e.code, "scalar")
end)

t.test("tasks do not take the names of kernels", function()
  local s = tide.schedule(tide.kernel {
    name = "top", A = tide.u8[6], B = tide.u8[6],
    function(A, B)
      for i = 0, 1 do A[i] = 1 end
      for i = 0, 1 do B[i] = 1 end
    end,
  })
  s:unfold "i#1"
  s:unfold "i"
  s:dataflow()
  reloads(s)
end)

t.test("a kernel outlined in a task has no name that its design uses", function()
  local function schedule()
    local s = tide.schedule(tide.kernel {
      name = "top", A = tide.i32[4],
      function(A)
        local b = tide.i32[4]()
        for i = 0, 3 do b[i] = i end
        for j = 0, 3 do A[j] = b[j] end
      end,
    })
    s:relay("b", "j")
    return s
  end
  local ok, e = schedule():can("outline", "top_i:i", "A")
  t.ok(not ok)
  t.eq(e.code, "name")
  local s = schedule()
  s:outline("top_i:i", "fill")
  reloads(s)
end)

t.test("a scalar that may hold nothing is not passed", function()
  local function schedule(guard)
    local s = tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {
        A = tide.i16[6][5], C = tide.i16[7],
        function(A, C)
          for i = 0, 2 do
            for j = 0, 2 do
              %s A[j][i] = C[i] %s
            end
          end
        end,
      }]]):format(guard and "if 2 <= i then" or "", guard and "end" or ""))())
    s:buffer_at("C", "i")
    return s
  end
  local ok, e = schedule(true):can("unfold", "j")
  t.ok(not ok)
  t.eq(e.code, "scalar")
  local s = schedule(false)
  s:unfold "j"
  t.eq(s:verify(), "strict")
end)

t.test("a relay along an axis brings the size of its extent", function()
  local K = 6
  local s = tide.schedule(tide.kernel {
    name = "top", C = tide.i32[7], D = tide.i32[7],
    function(C, D)
      for i = 0, K - 1 do
        local s1 = tide.i32(0)
        s1 = C[2]
        D[i] = s1
      end
    end,
  })
  s:buffer_at("C", "i")
  s:unfold "i"
  s:relay("top_i:C_i", "top_i")
  reloads(s)
  t.eq(s:verify(), "strict")
end)

t.test("a kernel outlined in a task knows the sizes of the streams that it takes", function()
  local N, K = 4, 3
  local s = tide.schedule(tide.kernel {
    name = "top", B = tide.i32[K], C = tide.i32[N][K],
    function(B, C)
      for i = 0, N - 1 do
        for j = 0, K - 1 do C[i][j] = B[j] + 1 end
      end
    end,
  })
  s:buffer_at("B", "i")
  s:unfold "i"
  s:relay("top_i:B_i", "top_i")
  s:outline("B_feed:j_init", "send")
  t.eq((tide.verify(load(tostring(s))(), s)), "strict")
  t.eq(s:verify(), "strict")
end)


t.test("a kernel is not inlined where its callee's name is a parameter's", function()
  local function schedule(name)
    local sub = tide.kernel {
      name = "sub", X = tide.i32[4],
      function(X)
        for i = 0, 3 do X[i] = X[i] + 1 end
      end,
    }
    local s = tide.schedule(tide.kernel {
      name = "top", A = tide.i32[4], B = tide.i32[4],
      function(A, B)
        sub(B)
        A[0] = B[0]
      end,
    })
    s:outline("sub:i", name)
    return s
  end
  local s = schedule "A"
  local e = t.fails(function() s:inline "sub" end, {kind = "illegal", code = "name"})
  t.has(tostring(e), "inline 'A' first")
  s:inline "sub:A"
  s:inline "sub"
  t.eq((s:verify()), "strict")
  s = schedule "inner"
  s:inline "sub"
  t.eq((s:verify()), "strict")
  reloads(s)
end)

t.test("a buffer is not filled from an array that its own call writes first", function()
  local function schedule(filled)
    local s = tide.schedule(load("local tide = ...; return tide.kernel { A = tide.f16[4][6], " ..
      "function(A) local b = tide.f16[4][6](" .. filled .. "); for i = 0, 3 do for j = 0, 5 do " ..
      "b[i][j] = 0.0 end end A:set(b) end }")(tide))
    s:outline("i", "sub")
    s:fuse("sub:i", "sub:j")
    return s
  end
  local s = schedule ""
  t.fails(function() s:buffer_at("sub:b", "sub:i_j") end, {kind = "illegal", code = "unwritten"})
  s = schedule "1.0"
  s:buffer_at("sub:b", "sub:i_j")
  t.eq((s:verify()), "strict")
end)

t.test("a size of a kernel that unify inlines stays a size", function()
  local M = 6
  local first = tide.kernel {
    name = "first", X = tide.u8[9],
    function(X)
      for _ = 0, M - 1 do X[0] = X[0] * 3 end
    end,
  }
  local second = tide.kernel {
    name = "second", X = tide.u8[9],
    function(X) X[1] = 0 end,
  }
  local s = tide.schedule(tide.kernel {
    B = tide.u8[8][9],
    function(B)
      first(B[0])
      second(B[1])
      local b = tide.u8[M]()
      b[0] = 1
      B[2][0] = b[0]
    end,
  })
  s:unify("first", "second", 2)
  local level, verdict = s:verify()
  t.eq(level, "strict", tostring(verdict))
  t.has(tostring(verdict), "proved: strict, all sizes; run at ")
end)

t.test("a verdict names different sizes", function()
  local N = 8
  local s = tide.schedule(tide.kernel {
    A = tide.i32[N],
    function(A)
      for i = 0, N - 1 do A[i] = i end
    end,
  })
  s:split("i", 4, {tail = "perfect"})
  local _, verdict = s:verify()
  t.eq(verdict.sizes, "N = 8 (and 12, 16)")
end)

-- A design of one task with `M // 2 * 2` instances, and its schedule.
local function mapped()
  local M = 8
  local s = tide.schedule(tide.kernel {
    name = "top", A = tide.i16[M],
    function(A)
      for i = 0, M - 1 do A[i] = i end
    end,
  })
  s:unfold "i"
  return s
end

t.test("a task bundled by a factor has as many instances as before at the sizes assumed", function()
  local s = mapped()
  s:bundle("top_i", {factor = 4})
  t.has(tostring(s), "tide.assume(M == 8)")
  local level, verdict = s:verify()
  t.eq(level, "strict")
  t.eq(verdict.all_sizes, false)
  s = mapped()
  s:bundle "top_i"
  level, verdict = s:verify()
  t.eq(level, "strict")
  t.has(tostring(verdict), "proved: strict, all sizes; run at ")
end)

t.test("an instance becomes a task of its own once", function()
  local s = mapped()
  s:place("top_i[1]", {2, 4})
  t.has(tostring(s), "tide.assume(M == 8)")
  t.eq((s:verify()), "strict")
  t.fails(function() s:place("top_i[1]", {4, 3}) end, {kind = "usage", code = "instance"})
  s:place("top_i[2]", {4, 3})
  t.eq((s:verify()), "strict")
end)

t.test("a nest that uses both ends of a stream is not outlined", function()
  for code, row in pairs {stream = "for j = 0, 7 do b[i][j] = i + j end", scalar = "b[i][0] = i"} do
    local s = tide.schedule(load(([[local tide, K = ..., 8; return tide.kernel {name = "top", A = tide.i16[K],
      function(A)
        local b = tide.i16[K][8]()
        for i = 0, K - 1 do %s end
        A[0] = b[2][0]
      end}]]):format(row))(tide))
    s:buffer_at("b", "i")
    s:unfold("i", {0})
    s:relay("top_i:b_i", "top_i")
    t.fails(function() s:outline("top_i:i_of", "both") end, {kind = "illegal", code = code})
    s:outline("b_drain:i_of", "one")
    t.eq((s:verify()), "strict")
    reloads(s)
  end
end)

t.test("a buffer of what a design writes first is not filled before", function()
  local K = 8
  local s = tide.schedule(tide.kernel {
    B = tide.f32[6][K], C = tide.f32[6][K],
    function(B, C)
      for i = 1, 2 do
        for j = 0, 1 do B[0][0] = C[i - 1][j] + C[i][j] end
      end
    end,
  })
  s:reuse_at("C", "i")
  s:unfold "j_load"
  t.fails(function() s:buffer_at("C_i", "i") end, {kind = "illegal", code = "unwritten"})
  t.eq((s:verify()), "strict")
end)

t.test("sizes are in the order of their first use also after a callee's assumption came in", function()
  local K, N = 6, 5
  local sub = tide.kernel {
    name = "sub", X = tide.i8[5],
    function(X)
      for i = 0, 1 do
        for j = 0, K - 1 do X[0] = X[0] + i + j end
      end
    end,
  }
  local s = tide.schedule(tide.kernel {
    name = "top", A = tide.i8[5],
    function(A)
      for j = 0, N - 1 do A[j] = 0 end
      sub(A)
      for k = 0, K - 1 do A[1] = k end
    end,
  })
  local inner = tide.schedule(sub)
  inner:fuse("i", "j")
  s:compose(inner)
  reloads(s)
end)

t.test("what a callee assumes of a size that it loses is assumed where the size is left", function()
  local M, N, K = 5, 8, 5
  local sub = tide.kernel {
    name = "sub", X = tide.f32[M], Y = tide.f32[M],
    function(X, Y)
      for i = 0, N - 1 do
        for j = i - 2, K - 1 do X[1] = Y[tide.min(i + 0 * j, M - 1)] end
      end
    end,
  }
  local s = tide.schedule(tide.kernel {
    name = "top", A = tide.f32[M], B = tide.f32[M],
    function(A, B)
      sub(A, B)
      for i = 0, N - 1 do B[0] = i end
    end,
  })
  s:reorder("sub:i", "sub:j")
  local level, verdict = s:verify()
  t.eq(level, "strict", tostring(verdict))
end)

-- A kernel whose nest over b, a task of its own, writes only the element that it then reads; b is filled by `first`.
local function task_on(first)
  local s = tide.schedule(load(([[
    local tide = require "tide"
    return tide.kernel {
      name = "k", C = tide.i16[5][8],
      function(C)
        local b = tide.u8[5][2][4]()
        %s
        for i = 0, 4 do
          for j = 0, 7 do
            b[i][j // 4][j %% 4] = 3
            C[i][j] = b[i][j // 4][j %% 4]
          end
        end
      end}]]):format(first))())
  return s
end

t.test("a buffer in a task is not filled from what no caller of its design has written", function()
  for _, to in ipairs {"unfold", "dataflow"} do
    local function made(first)
      local s = task_on(first)
      if to == "unfold" then return s:unfold "i" end
      return s:outline("i", "z"):dataflow "z"
    end
    local task = to == "unfold" and "k_i" or "z_i"
    local s = made ""
    t.fails(function() s:buffer_at(task .. ":b", task .. ":j") end, {kind = "illegal", code = "unwritten"})
    s = made "b:set(1)"
    s:buffer_at(task .. ":b", task .. ":j")
    t.eq((s:verify()), "strict", tostring(s))
  end
end)

t.test("an array is bound wherever a design that is called sees it", function()
  local s = task_on("b:set(1)"):unfold "i"
  s:bind("b", {memory = "bram"})
  t.eq(select(2, tostring(s):gsub("storage%(bram%)", "")), 3, tostring(s))
  t.eq((s:verify()), "strict")
end)

t.test("sizes that let the last instances of a task idle are assumed when it goes", function()
  local N = 7
  local function most(by_size, n)
    local s = tide.schedule(tide.kernel {A = tide.i32[N], B = tide.i32[8], function(A, B)
      for i in tide.grid(8, "i") do
        if by_size then
          if i < N then A[i] = B[i] end
        elseif i < 5 then
          A[i] = B[i]
        end
      end
    end}):unfold("i", {0})
    local list = {}
    for i = 1, n do list[i] = ("i[%d]"):format(i - 1) end
    s:bundle(list)
    t.eq((s:verify()), "strict", tostring(s))
    return tostring(s)
  end
  t.has(most(true, 7), "tide.assume(N == 7)")
  t.eq(most(false, 5):find("assume", 1, true), nil)
end)

t.test("the names of tasks in a row are settled at once", function()
  local function unfolded()
    return tide.schedule(tide.kernel {A = tide.i32[4], function(A)
      for i in tide.grid(4, "row") do
        local x = A[i]
        A[i] = x + 1
      end
    end}):unfold "row"
  end
  local function settled(s)
    reloads(s)
    t.eq((s:verify()), "strict", tostring(s))
  end
  settled((unfolded():search {pes = 1}))
  local s = unfolded()
  s:chain("row[0]", "row[1]")
  s:chain("row[2]", "row[3]")
  s:bundle {"row_2", "row_0"}
  settled(s)
end)

t.done()
