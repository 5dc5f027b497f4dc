-- fuzz_loads.lua - steps after which tests/fuzz found a printed form that does not load or a log
-- that does not replay, each cut to its smallest.
local t = require "tap"
local tide = require "tide"

-- States that a schedule's printed form loads back to the same text.
local function reloads(s)
  t.eq(tostring(load(tostring(s))()), tostring(s))
end

-- States that a schedule's log, on its kernel, gives the same program.
local function replays(s, kernel)
  t.eq(tostring(load(s:log())(kernel)), tostring(s))
end

-- A kernel `top` that hands its array to `sub`, and `sub`.
local function called()
  local sub = tide.kernel {name = "sub", X = tide.i16[5][8], function(X) X[0][0] = 1 end}
  return tide.kernel {name = "top", A = tide.i16[5][8], function(A) sub(A) end}, sub
end

t.test("compose partitions what is not partitioned yet, and its log says so", function()
  for _, how in ipairs {{"sub:X"}, {"sub:X", {1}}, {"sub:X", {0}, {kind = "cyclic", factor = 2}}} do
    local top, sub = called()
    local s = tide.schedule(top)
    if #how > 1 then s:partition(table.unpack(how)) end
    s:compose(tide.schedule(sub):partition "X")
    replays(s, top)
    for d = 0, 1 do t.has(tostring(s), ("partition(%d, complete, 0)"):format(d)) end
    s:compose(tide.schedule(sub):partition("X", {1, 0}))
    replays(s, top)
  end
  local top, sub = called()
  local s = tide.schedule(top):partition("A", {1})
  s:compose(tide.schedule(sub):partition "X")
  t.has(s:log(), 's:partition("sub:X", {0})')
end)

t.test("the log of a search gives the names that it gave", function()
  local kernel = tide.kernel {name = "top", A = tide.i32[4][6], function(A)
    for i = 0, 3 do
      local s = tide.i32(0)
      s = s + A[i][0]
      A[i][0] = s
    end
  end}
  local s = tide.schedule(kernel)
  s:unfold("i", {0})
  s:search {pes = 1}
  replays(s, kernel)
  t.eq(s:verify(), "strict")
end)

t.test("what no call may run does not keep a kernel from loading", function()
  local s = tide.schedule(tide.kernel {
    name = "top", B = tide.i32[6],
    function(B)
      for i = 0, 1 do
        for j = 0, 2 do
          if i <= j - 2 then B[2] = B[i] + 1 end
        end
      end
    end,
  })
  s:outline("j", "row")
  s:unroll("row:j", {replace = true})
  t.has(tostring(s), "if i <= -2 then")
  reloads(s)
  t.eq(s:verify(), "strict")
end)

t.test("a guard that scalars decide may go into a kernel", function()
  local function schedule(cond)
    return tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {
        B = tide.i32[7],
        function(B)
          for i = 0, 1 do
            for j = 0, 1 do
              if i %s 0 then B[0] = B[i] end
            end
          end
        end,
      }]]):format(cond))())
  end
  for _, cond in ipairs {">=", "<"} do
    local s = schedule(cond)
    s:outline("j", "row")
    reloads(s)
    t.eq(s:verify(), "strict")
  end
end)

t.test("what never runs in its place is not made a kernel that does not load", function()
  local function schedule(last, at)
    return tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {
        B = tide.i32[7],
        function(B)
          for i = 0, %d do
            for j = 0, 1 do B[j + %d] = i end
          end
        end,
      }]]):format(last, at))())
  end
  local s = schedule(-1, 5)
  s:outline("j", "row")
  reloads(s)
  local ok, e = schedule(-1, 6):can("outline", "j", "row")
  t.ok(not ok)
  t.eq(e.code, "index-range")
end)

t.test("a task of which no instance does anything loads", function()
  local s = tide.schedule(tide.kernel {
    name = "top", B = tide.i32[4],
    function(B) for i = 0, 3 do B[i] = 1 end end,
  })
  s:unfold("i", {0})
  s:place("top_i[2]", {0, 3})
  s:place("top_i[3]", {5, 2})
  s:bundle("top_i", {factor = 2})
  s:place("top_i[0]", {4, 6})
  reloads(s)
  t.eq(s:verify(), "strict")
end)

t.test("what a scalar decides is checked when it runs", function()
  local function past(cond)
    return load(([[
      local tide = require "tide"
      return tide.kernel {n = tide.index, A = tide.i32[4], function(n, A)
        if %s then A[7] = 1 end
      end}]]):format(cond))()
  end
  local k, A = past "n == 2", tide.i32[4]()
  k(1, A)
  t.fails(function() k(2, A) end, {match = "out of range"})
  t.fails(function() k:reference(2, A) end, {match = "out of range"})
  t.fails(function() past "n < 3 or n > 1" end, {code = "index-range"})
end)

t.test("what an id of a task decides is checked when the design is made", function()
  local function design(at, extent)
    return load(([[
      local tide = require "tide"
      return tide.design(function(d)
        local A = d:arg(tide.i32[4])
        d.t = tide.task {map = {%d}, A = A, function(A, i)
          if i == 2 then A[%d] = 1 end
        end}
      end)]]):format(extent, at))()
  end
  t.fails(function() design(7, 3) end, {code = "index-range"})
  t.eq(#design(3, 3).sizes, 0)
  t.eq(#design(7, 2).sizes, 0)
end)

t.test("a conversion of what sizes tell is kept", function()
  for _, value in ipairs {"i8(2 * ((K + 1) // 2))", "i8(K)", "i8(2 * i + 2 * K)", "i8(u8(K) + 1)"} do
    for _, body in ipairs {"A[i] = %s", "local x = %s; A[i] = x", "A[i] = A[i] + %s", "A[i] = tide.min(A[i], %s)"} do
      local k = load(([[
        local tide = require "tide"
        local i8, u8, f32 = tide.i8, tide.u8, tide.f32
        local K = 201
        return tide.kernel {name = "k", A = tide.i16[K], function(A)
          for i = 0, K - 1 do %s end
        end}]]):format(body:format(value)))()
      local again = load(tostring(k))()
      t.eq(tostring(again), tostring(k))
      t.eq((tide.verify(k, again)), "strict", tostring(k))
      local s = tide.schedule(k)
      s:split("i", 4)
      t.eq((tide.verify(k, load(tostring(s))())), "strict", tostring(s))
    end
  end
end)

t.test("a task keeps the sizes in the extents of its arguments", function()
  local M = 5
  local k = tide.kernel {A = tide.i8[M + 1][5], function(A)
    for i = 0, 1 do A[i][0] = 0 end
    for _ = 0, M - 1 do A[2][0] = 0 end
  end}
  local s = tide.schedule(k):unfold "i"
  t.eq(tostring(s):find("assume", 1, true), nil, tostring(s))
  t.eq((tide.verify(k, load(tostring(s))())), "strict")
  t.eq(tostring(load(tostring(s))()), tostring(s))
  t.has(tostring(select(2, s:verify())), "proved: strict, all sizes; run at ")
end)

t.test("a float that does not fit what it is converted to keeps its type", function()
  for _, T in ipairs {"f16", "f32", "f64"} do
    local k = load(([[
      local tide = require "tide"
      local K = 201
      return tide.kernel {name = "top", A = tide.i32[K], function(A)
        A[0] = tide.i8(tide.%s(K))
      end}]]):format(T))()
    t.has(tostring(k), ("i8(%s(201.0))"):format(T))
    reloads(tide.schedule(k))
    t.eq(tide.verify(k, load(tostring(k))()), "strict")
  end
  local fits = tide.kernel {name = "top", A = tide.i32[120], function(A) A[0] = tide.i8(tide.f32(#A)) end}
  t.has(tostring(fits), "A[0] = 120")
  reloads(tide.schedule(fits))
end)

t.test("bits past the end of their word become what they are when a place becomes a number", function()
  for _, T in ipairs {"u8", "i8", "i64", "int(70)", "uint(100)"} do
    local T_of = load("local tide = require 'tide' return tide." .. T)()
    local w = T:match "%d+" + 0
    local k = load(([[
      local tide = require "tide"
      local T, w = ...
      return tide.kernel {name = "top", A = tide.i16[9], B = tide.u8[9], C = tide.u8[9], function(A, B, C)
        for i = 0, 8 do
          local x = T(A[i])
          B[i] = tide.bits(x, i + w - 5, i + w - 2)
          x = tide.with_bits(x, i + w - 5, i + w - 2, A[i])
          C[i] = tide.bits(x, w - 3, w)
        end
      end}]]):format(T))(T_of, w)
    local s = tide.schedule(k):unroll("i", {replace = true})
    reloads(s)
    t.eq(s:verify(), "strict", T)
    local A = tide.random(tide.i16[9], 1, {lo = -9, hi = 0})
    local want = {tide.u8[9](0), tide.u8[9](0)}
    k:reference(A, table.unpack(want))
    t.eq(want[1]:table(), {7, 7, 7, 3, 1, 0, 0, 0, 0})
    for _, tier in ipairs {"tcc", "cc"} do
      for _, p in ipairs {k, s, load(tostring(s))()} do
        local B, C = tide.u8[9](0), tide.u8[9](0)
        p:build {target = "cpu", tier = tier}(A, B, C)
        t.ok(B:equal(want[1]) and C:equal(want[2]), T .. " " .. tier)
      end
    end
  end
end)

t.test("what a task makes has the name of none of its streams", function()
  local function schedule()
    return tide.schedule(tide.kernel {name = "top", A = tide.i32[4], B = tide.i32[4], function(A, B)
      local p = tide.i32[4](0)
      for s = 0, 3 do p[s] = A[s] * 3 end
      for s = 0, 3 do B[s] = p[s] + 1 end
    end}):dataflow()
  end
  local s = schedule()
  t.has(tostring(s), "local p_s = d:stream(")
  local _, name = s:buffer_at("p", "top_s_1:s")
  t.eq(name, "p_s_1")
  reloads(s)
  t.eq(s:verify(), "strict")
  local passed, e = pcall(s.buffer_at, s, "A", "top_s:s", {name = "p_s"})
  t.ok(not passed and e.code == "name", tostring(e))
  s:buffer_at("A", "top_s:s", {name = "A_s"})
  reloads(s)
  t.eq(s:verify(), "strict")
end)

t.test("a token that becomes a local beside gets of its stream that stay", function()
  local i32, N = tide.i32, 6
  local s = tide.schedule(tide.kernel {name = "top", C = i32[4][N], function(C)
    local b = i32[4][N]()
    for i = 0, 3 do
      for j = 0, N - 1 do b[i][j] = 0 end
    end
    for i = 0, 3 do
      for j = 0, N - 1 do C[0][0] = i32(b[i][j]) end
    end
  end})
  s:relay("b", "i#2")
  s:peel("top_i_1:i", 4)
  s:chain("top_i", "top_i_1")
  reloads(s)
  t.eq(s:verify(), "strict")
end)

t.test("a search looks at waits of reads alone: an unrolled loop that only stores ends at once", function()
  local k = tide.kernel {A = tide.i32[8][5], function(A)
    for i = 0, 7 do
      for j = 0, 4 do A[0][j] = 37 end
    end
  end}
  local s = tide.schedule(k)
  s:fuse("i", "j")
  local began = os.clock()
  s:auto()
  t.ok(os.clock() - began < 3, os.clock() - began)
  t.eq(s:verify(), "strict")
end)

t.test("data that tasks of a design use keeps its marks", function()
  local f32, i32 = tide.f32, tide.i32
  local st = tide.state(i32[2], tide.tensor(i32[2], {2, 2}))
  local sub = tide.kernel {name = "sub", X = i32[2], function(X)
    X[0] = 1
    st[0] = 1
  end}
  local s = tide.schedule(tide.kernel {name = "top", A = f32[4], C = i32[2], function(A, C)
    sub(C)
    A[0] = 1
  end})
  s:partition "sub:st":dataflow "sub"
  t.has(tostring(s), "--@ partition(0, complete, 0)")
  reloads(s)
  s:undo(1)
  s:bind("sub:st", {memory = "uram"}):dataflow "sub"
  reloads(s)
end)

t.test("a mark of a design's data that data cannot have is refused", function()
  local text = [[
local tide = require "tide"
return tide.design(function(d)
  local X = d:arg(tide.i32[2])
  local st = tide.state(tide.i32[2], tide.tensor(tide.i32[2], {2, 2})) --@ %s
  d.top = tide.task {
    X = X,
    function(X) X[0] = st[0] end,
  }
end)]]
  t.has(tostring(load(text:format "storage(uram)")()), "storage(uram)")
  t.fails(load(text:format "unroll(2)"), {code = "attribute"})
  t.fails(load(text:format "partition(1, complete, 0)"), {code = "attribute"})
end)

t.test("a loop that begins at data is written out where its variable was data", function()
  local u8 = tide.u8
  local function kernel(n)
    return tide.kernel {A = u8[8], c = u8[4], function(A, c)
      for j = 0, n do
        for w = c[0] % 3, c[0] % 3 + 3 do A[j] = u8(w) end
      end
    end}
  end
  for _, step in ipairs {function(s) s:fuse("j", "w") end, function(s) s:unroll("w", {replace = true}) end} do
    for n = 1, 4, 3 do
      local s = tide.schedule(kernel(n))
      step(s)
      t.has(tostring(s), "u8(index(c[0]) % 3")
      reloads(s)
    end
  end
end)

t.test("retype of what was cast to that type leaves no cast", function()
  local f32, i16 = tide.f32, tide.i16
  local s = tide.schedule(tide.kernel {C = f32[4][2], function(C)
    local b = f32[4][2](0)
    C:set(b)
  end})
  s:retype("C", i16)
  s:retype("b", i16)
  t.has(tostring(s), "C:set(b)")
  reloads(s)
end)

t.done()
