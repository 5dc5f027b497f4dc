-- chain: a producer and its consumer become one task, the stream between them a local value or
-- buffer.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i32, f32, task, grid = tide.i8, tide.i32, tide.f32, tide.task, tide.grid

-- P pairs over a stream of N tokens each.
local function pairs_of(z)
  local P, N = z.P or 2, z.N or 3
  return tide.design(function(d)
    local Z = d:stream(i32, {P, depth = 2})
    d.send = task {map = {P}, A = i32[P * N]:layout "S0", function(A, p)
      for n in grid(N) do Z[p]:put(A[n] * 2) end
    end}
    d.take = task {map = {P}, B = i32[P * N]:layout "S0", function(B, p)
      for n in grid(N) do B[n] = Z[p]:get() + 1 end
    end}
  end), {i32[P * N], i32[P * N]}
end

prim.accepted("loops that hand over one token in each turn become one", {
  of = pairs_of, step = {"chain", "send", "take"}, has = {"local Z = i32(A[n] * 2)", "B[n] = Z + 1"},
}, function(s, name) t.eq({name, s:tasks()}, {"send", {"send[0]", "send[1]"}}) end)
-- Two tasks that pass on an array each to a third, which takes both turn by turn; of the second's not `all`.
local function beside(all)
  return tide.design(function(d)
    local X, Y = d:stream(i32), d:stream(i32)
    d.one = task {A = i32[3][8], function(A)
      for m = 0, 2 do
        for n = 0, 7 do X:put(A[m][n]) end
      end
    end}
    d.two = task {B = i32[3][8], function(B)
      for m = 0, 2 do
        if all then
          for n = 0, 7 do Y:put(B[m][n] * 3) end
        else
          for n = 0, 3 do Y:put(B[m][n] * 3) end
        end
      end
    end}
    d.both = task {C = i32[3][8], function(C)
      for m = 0, 2 do
        for n = 0, 7 do
          C[m][n] = X:get() + 1
          if all or n <= 3 then C[m][n] = C[m][n] - Y:get() end
        end
      end
    end}
  end), {i32[3][8], i32[3][8], i32[3][8]}
end
prim.accepted("two that feed a third turn by turn: one nest of both", {
  of = function() return beside(true) end, step = {"chain", "one", "two"},
  has = {"X:put(A[m][n])\n          Y:put(B[m][n] * 3)"},
})
prim.twins("two that feed a third, in loops of other extents", {
  of = beside, no = false, yes = true, step = {"chain", "one", "two"}, code = "deadlock",
})
prim.accepted("blocks, one a task", {
  of = function()
    return tide.design(function(d)
      local Z = d:stream(i8[4], {3})
      d.send = task {map = {3}, A = i8[12]:layout "S0", function(A, p) Z[p]:put(A + 1) end}
      d.take = task {map = {3}, B = i8[12]:layout "S0", function(B, p) B:set(Z[p]:get() * 2) end}
    end), {i8[12], i8[12]}
  end,
  step = {"chain", "send", "take"},
})
prim.accepted("a gather of several streams into one sum", {
  of = function()
    return tide.design(function(d)
      local part = d:stream(i32[2][2], {3})
      d.mm = task {A = i32[2][6], B = i32[6][2], function(A, B)
        for k in grid(3) do
          part[k]:put(tide.matmul(A:slice({}, {k * 2, k * 2 + 2}), B:slice({k * 2, k * 2 + 2}, {})))
        end
      end}
      d.sum = task {C = i32[2][2], function(C)
        local s = i32[2][2](0)
        for k in grid(3) do s:set(s + part[k]:get()) end
        C:set(s)
      end}
    end), {i32[2][6], i32[6][2], i32[2][2]}
  end,
  step = {"chain", "mm", "sum"},
}, function(s) t.eq({s:graph().nodes, s:graph().streams}, {1, 0}) end)
prim.accepted("loops of other bounds: a buffer", {
  of = function()
    return tide.design(function(d)
      local Z = d:stream(i32, {depth = 2})
      d.send = task {A = i32[4][6], function(A)
        for r in grid(4) do
          for c in grid(6) do Z:put(A[r][c]) end
        end
      end}
      d.take = task {B = i32[4][6], S = i32[4], function(B, S)
        for r in grid(4) do S[r] = r end
        for r in grid(4) do
          for c in grid(6) do
            local x = Z:get()
            B[r][c] = x + S[r]
          end
        end
      end}
    end), {i32[4][6], i32[4][6], i32[4]}
  end,
  step = {"chain", "send", "take"},
})
-- A pair whose arrays have banks; `e` marks what both read, in each of them.
local function banked(e)
  return function()
    return assert(load(([[local tide = require "tide"
      local i32, task, grid = tide.i32, tide.task, tide.grid
      return tide.design(function(d)
        local Z = d:stream(i32)
        d.send = task {
          A = i32[4][8], --@ partition(1, cyclic, 2)
          E = i32[8], %s
          function(A, E)
            local L = i32[8]() --@ partition(0, complete, 0)
            for c in grid(8) do L[c] = E[c] * 3 end
            for r, c in grid(4, 8) do Z:put(A[r][c] + L[c]) end
          end,
        }
        d.take = task {
          E = i32[8], %s
          B = i32[4][8], --@ partition(0, complete, 0)
          function(E, B)
            local L = i32[8]() --@ partition(0, block, 2)
            for c in grid(8) do L[c] = E[c] - 1 end
            for r, c in grid(4, 8) do B[r][c] = Z:get() * L[c] end
          end,
        }
      end)]]):format(e[1], e[2])))(), {i32[4][8], i32[8], i32[4][8]}
  end
end
local own_banks = {"A = A, --@ partition(1, cyclic, 2)", "B = B, --@ partition(0, complete, 0)",
  "local L = i32[8]() --@ partition(0, complete, 0)", "local L_1 = i32[8]() --@ partition(0, block, 2)"}
for _, e in ipairs {
  {"", "", "E = E,\n"}, {"--@ partition(0, cyclic, 4)", "", "E = E, --@ partition(0, cyclic, 4)"},
  {"", "--@ partition(0, cyclic, 4)", "E = E, --@ partition(0, cyclic, 4)"},
  {"--@ partition(0, cyclic, 2)", "--@ partition(0, cyclic, 4)", "E = E, --@ partition(0, cyclic, 4)"},
  {"--@ partition(0, cyclic, 2)", "--@ partition(0, block, 2)", "E = E, --@ partition(0, complete, 0)"},
} do
  prim.accepted(("banks stay, and those of what both read meet: '%s', '%s'"):format(e[1], e[2]), {
    of = banked(e), step = {"chain", "send", "take"}, has = {e[3], table.unpack(own_banks)},
  })
end
prim.accepted("all tokens before the first is taken: a buffer of all", {
  of = function()
    return tide.design(function(d)
      local Z, last = d:stream(f32[2], {4, depth = 1}), d:stream(f32)
      d.send = task {A = f32[4][2], function(A)
        local m = f32(0)
        for r in grid(4) do
          Z[r]:put(A[r])
          m = tide.max(m, A[r][0])
        end
        last:put(m)
      end}
      d.take = task {B = f32[4][2], function(B)
        local m = last:get()
        for r in grid(4) do B[r]:set(Z[r]:get() * m) end
      end}
    end), {f32[4][2], f32[4][2]}
  end,
  step = {"chain", "send", "take"}, has = {"f32[4][2]()"},
})
prim.accepted("a block stream: its buffers are locals", {
  of = function()
    return tide.kernel {A = i32[4][6], y = i32[4], function(A, y)
      for r = 0, 3 do
        local w = i32[6]()
        for c = 0, 5 do w[c] = A[r][5 - c] * A[r][c] end
        for c = 0, 5 do y[r] = y[r] + w[c] * c end
      end
    end}, {i32[4][6], i32[4]}
  end,
  before = function(s) s:dataflow("r") end, step = {"chain", "of_c", "of_c_1"},
})
prim.accepted("two puts to one stream: it stays, deep enough", {
  of = function()
    return tide.design(function(d)
      local Z = d:stream(i32, {depth = 4})
      d.send = task {A = i32[4], function(A)
        Z:put(A[0])
        for n in grid(3) do Z:put(A[n + 1]) end
      end}
      d.take = task {B = i32[4], function(B)
        for n in grid(4) do B[n] = Z:get() end
      end}
    end), {i32[4], i32[4]}
  end,
  step = {"chain", "send", "take"}, has = {"Z:put(A[0])"},
})
prim.accepted("tasks that nothing connects", {
  of = function()
    return tide.design(function(d)
      d.one = task {A = i32[4], function(A) A:set(A + 1) end}
      d.two = task {B = i32[4], function(B) B:set(B * 2) end}
    end), {i32[4], i32[4]}
  end,
  step = {"chain", "one", "two"},
})
prim.accepted("equal names of different things", {
  of = function()
    return tide.design(function(d)
      local Z = d:stream(i32)
      local A, B = d:arg(i32[2][3]), d:arg(i32[6])
      d.send = task {x = A, function(x)
        local s = i32(0)
        for i in grid(2) do
          for j in grid(3) do s = s + x[i][j] end
        end
        Z:put(s)
      end}
      d.take = task {x = B, function(x)
        local s = Z:get()
        for i in grid(6) do x[i] = s + i end
      end}
    end), {i32[2][3], i32[6]}
  end,
  step = {"chain", "send", "take"},
})
prim.accepted("after it, the rest of a longer chain", {
  of = function()
    return tide.design(function(d)
      local a, b = d:stream(i32), d:stream(i32)
      d.load = task {A = i32[5], function(A) for n in grid(5) do a:put(A[n]) end end}
      d.work = task {function() for _ in grid(5) do b:put(a:get() * 3) end end}
      d.store = task {B = i32[5], function(B) for n in grid(5) do B[n] = b:get() end end}
    end), {i32[5], i32[5]}
  end,
  before = function(s) s:chain("load", "work") end, step = {"chain", "load", "store"},
}, function(s) t.eq(s:graph().streams, 0) end)

-- Tasks one, two, three; `body` has the functions of each over Z, streams of one array of 3 x 2 for 3 instances.
local function three(body, options)
  options = options or {}
  return function()
    return tide.design(function(d)
      local Z = d:stream(i32, {3, 2, depth = options.depth or 2})
      for k, name in ipairs {"one", "two", "three"} do
        local f = body[k]
        d[name] = task {map = {3}, x = d:arg(i32[3][4]):layout "S0R", function(x, p) f(Z[p], x[0]) end}
      end
    end), {i32[3][4], i32[3][4], i32[3][4]}
  end
end

local function first_only(Z, x) for i in grid(4) do Z[0]:put(x[i]) end end
local function second_only(Z, x) for i in grid(4) do Z[1]:put(x[i] * 2) end end
local function both(Z, x)
  for i in grid(4) do
    Z[0]:put(x[i])
    Z[1]:put(x[i] * 2)
  end
end
local function take_first(Z, x) for i in grid(4) do x[i] = Z[0]:get() end end
local function take_second(Z, x) for i in grid(4) do x[i] = Z[1]:get() + 1 end end
local function take_both(Z, x) for i in grid(4) do x[i] = Z[0]:get() - Z[1]:get() end end

-- States that no stream is left when all are one.
local function no_stream(s) t.eq({s:graph().nodes, s:graph().streams}, {3, 0}) end

prim.accepted("elements of one array that go to two tasks: locals", {
  of = three {both, take_first, take_second},
  before = function(s) s:chain("one", "two") end, step = {"chain", "one", "three"},
}, no_stream)
prim.accepted("elements of one array that come from two tasks", {
  of = three {first_only, second_only, take_both},
  before = function(s) s:chain("one", "three") end, step = {"chain", "two", "one"},
}, no_stream)
prim.accepted("two elements of an array between the same two", {
  of = three {both, take_both, function(_, x) x[0] = 1 end}, step = {"chain", "one", "two"},
}, function(s) t.eq(s:graph().streams, 0) end)
prim.accepted("an element with two puts stays a stream, the other becomes a local", {
  of = three({
    function(Z, x)
      Z[0]:put(x[0])
      for i in grid(4) do
        if i > 0 then Z[0]:put(x[i]) end
        Z[1]:put(x[i] * 2)
      end
    end, take_both, function(_, x) x[0] = 1 end,
  }, {depth = 4}),
  step = {"chain", "one", "two"}, has = {"Z[p][0]:put"},
}, function(s) t.eq(s:graph().streams, 3) end)
prim.twins("which needs the depth", {
  no = 3, yes = 4, code = "deadlock", step = {"chain", "one", "two"},
  of = function(depth)
    return three({
      function(Z, x)
        Z[0]:put(x[0])
        for i in grid(3) do Z[0]:put(x[i + 1]) end
        Z[1]:put(x[3])
      end,
      function(Z, x)
        for i in grid(4) do x[i] = Z[0]:get() end
        x[0] = Z[1]:get()
      end, function(_, x) x[0] = 1 end,
    }, {depth = depth})()
  end,
})
prim.accepted("block streams of one array: each slot is a buffer of its own", {
  of = function()
    return tide.design(function(d)
      local Z = d:stream(i32[4], {2, depth = 2, block = true})
      d.fill = task {A = i32[3][4], function(A)
        for n in grid(3) do
          local x, y = Z[0]:slot(), Z[1]:slot()
          for i in grid(4) do
            x[i] = A[n][i]
            y[i] = A[n][3 - i]
          end
          Z[0]:put(x)
          Z[1]:put(y)
        end
      end}
      d.use = task {B = i32[3][4], function(B)
        for n in grid(3) do
          local x, y = Z[0]:get(), Z[1]:get()
          for i in grid(4) do B[n][i] = x[i] * 3 + y[i] end
        end
      end}
    end), {i32[3][4], i32[3][4]}
  end,
  step = {"chain", "fill", "use"},
}, function(s) t.eq(s:graph().streams, 0) end)
prim.accepted("a token that says where the next one goes", {
  of = function()
    return tide.design(function(d)
      local at, value = d:stream(i32), d:stream(i32)
      d.send = task {A = i32[4], function(A)
        for i in grid(4) do
          at:put(3 - i)
          value:put(A[i])
        end
      end}
      d.take = task {B = i32[4], function(B)
        for _ in grid(4) do
          local i = at:get()
          B[i] = value:get()
        end
      end}
    end), {i32[4], i32[4]}
  end,
  step = {"chain", "send", "take"},
})

-- A product cut into P parts along k, whose partial sums pass from part to part.
local function split_k(P)
  local M, K = 4, 8
  return tide.design(function(d)
    local Z = d:stream(i32[M][M], {P})
    d.mm = task {map = {P}, A = i8[M][K]:layout "RS0", B = i8[K][M]:layout "S0R", C = i32[M][M],
      function(A, B, C, p)
        local sum = i32[M][M](0)
        if p > 0 then sum:set(Z[p - 1]:get()) end
        for i, j in grid(M, M) do
          for k in grid(K // P) do sum[i][j] = sum[i][j] + A[i][k] * B[k][j] end
        end
        if p < P - 1 then Z[p]:put(sum) else C:set(sum) end
      end}
  end), {i8[M][K], i8[K][M], i32[M][M]}
end

prim.accepted("two instances of a task", {
  of = function() return split_k(4) end, step = {"chain", "mm[1]", "mm[2]"},
}, function(s, name) t.eq({name, s:graph().nodes, s:graph().streams}, {"mm_1", 3, 2}) end)
prim.accepted("all instances, one by one", {
  of = function() return split_k(4) end,
  before = function(s) s:chain("mm[0]", "mm[1]"):chain("mm_0", "mm[2]") end,
  step = {"chain", "mm_0", "mm[3]"},
}, function(s) t.eq({s:tasks(), s:graph().streams}, {{"mm_0"}, 0}) end)
prim.accepted("an instance and a task", {
  of = function()
    return tide.design(function(d)
      local Z = d:stream(i32, {2})
      d.send = task {map = {2}, A = i32[2], function(A, p) Z[p]:put(A[p] + p) end}
      d.sum = task {B = i32[1], function(B) B[0] = Z[0]:get() * 2 + Z[1]:get() end}
    end), {i32[2], i32[1]}
  end,
  step = {"chain", "send[1]", "sum"},
}, function(s) t.eq(s:tasks(), {"send[0]", "send_1"}) end)
prim.refused("an instance that feeds its partner by way of others", {
  of = function() return split_k(4) end, step = {"chain", "mm[0]", "mm[3]"},
  code = "path", match = "mm_0 -> mm[1] -> mm[2] -> mm_3",
})
prim.refused("several instances", {
  of = pairs_of, step = {"chain", "send[*]", "take"}, kind = "usage", code = "instance",
})
prim.twins("a kernel with a state that both call", {
  no = true, yes = false, kind = "unsupported", code = "state", step = {"chain", "one", "two"},
  of = function(shared)
    local seen = tide.state(i32[1], 0)
    local first = tide.kernel {a = i32[2], function(a)
      seen[0] = seen[0] + 1
      a[0] = seen[0]
    end}
    local second = tide.kernel {a = i32[2], function(a) a[0] = a[1] end}
    if shared then second = first end
    return tide.design(function(d)
      d.one = task {A = i32[2], function(A) first(A) end}
      d.two = task {B = i32[2], function(B) second(B) end}
    end), {i32[2], i32[2]}
  end,
})

-- x sends to y, and (far) by way of z.
local function triangle(far)
  return tide.design(function(d)
    local a, b, c = d:stream(i32), d:stream(i32), d:stream(i32)
    d.x = task {A = i32[1], function(A)
      a:put(A[0])
      if far then b:put(A[0] + 1) end
    end}
    d.z = task {C = i32[1], function(C)
      if far then c:put(b:get() * 2) else c:put(C[0]) end
    end}
    d.y = task {B = i32[1], function(B) B[0] = a:get() + c:get() end}
  end), {i32[1], i32[1], i32[1]}
end

prim.twins("an indirect path, named", {
  no = true, yes = false, code = "path", match = "an indirect path leads from x to y: x -> z -> y",
  step = {"chain", "x", "y"}, of = triangle,
})
prim.twins("the wrong way round", {
  no = 1, yes = 0, code = "feeds", match = "x feeds y: x -> y", step = {"chain", "y", "x"},
  of = function(linked)
    return tide.design(function(d)
      local a = d:stream(i32)
      d.x = task {A = i32[1], function(A) if linked > 0 then a:put(A[0]) else A[0] = 1 end end}
      d.y = task {B = i32[1], function(B) if linked > 0 then B[0] = a:get() else B[0] = 2 end end}
    end), {i32[1], i32[1]}
  end,
})
prim.twins("other maps", {
  no = 3, yes = 2, code = "map", step = {"chain", "one", "two"},
  of = function(P)
    return tide.design(function(d)
      d.one = task {map = {2}, A = i32[2], function(A, p) A[p] = p end}
      d.two = task {map = {P}, B = i32[6]:layout "S0", function(B) B[0] = 1 end}
    end), {i32[2], i32[6]}
  end,
})
prim.twins("a return of the first", {
  no = true, yes = false, kind = "unsupported", code = "return", step = {"chain", "one", "two"},
  of = function(returns)
    return tide.design(function(d)
      d.one = task {A = i32[2], function(A)
        if A[0] > 0 then
          A[1] = 0
          if returns then return end
        end
        A[0] = 2
      end}
      d.two = task {B = i32[2], function(B) B:set(B + 1) end}
    end), {i32[2], i32[2]}
  end,
})
prim.twins("a stream that stays, not deep enough", {
  no = 2, yes = 4, code = "deadlock", step = {"chain", "send", "take"},
  of = function(depth)
    return tide.design(function(d)
      local Z = d:stream(i32, {depth = depth})
      d.send = task {A = i32[4], function(A)
        Z:put(A[0])
        for n in grid(3) do Z:put(A[n + 1]) end
      end}
      d.take = task {B = i32[4], function(B)
        for n in grid(4) do B[n] = Z:get() end
      end}
    end), {i32[4], i32[4]}
  end,
})
prim.refused("a task and itself", {
  of = pairs_of, step = {"chain", "send", "send"}, kind = "usage", code = "same",
})
prim.refused("no such task", {
  of = pairs_of, step = {"chain", "send", "tak"}, kind = "usage", code = "no-task",
})

prim.accepted("loops that move nothing stay apart, where those around them move blocks", {
  of = function(z)
    local n, N = z.n or 4, z.N or 3
    return tide.design(function(d)
      local x, y = d:stream(i32[n], {block = true}), d:stream(i32[n], {block = true})
      d.send_x = task {A = i32[N * n], function(A)
        for k in grid(N) do
          local a = x:slot()
          for i in grid(n) do a[i] = A[k * n + i] end
          x:put(a)
        end
      end}
      d.send_y = task {B = i32[N * n], function(B)
        for k in grid(N) do
          local b = y:slot()
          for i in grid(n) do b[i] = B[k * n + i] end
          y:put(b)
        end
      end}
      d.take = task {C = i32[N * n], function(C)
        for k in grid(N) do
          local a, b = x:get(), y:get()
          for i in grid(n) do C[k * n + i] = a[i] - b[i] end
        end
      end}
    end), {i32[N * n], i32[N * n], i32[N * n]}
  end,
  step = {"chain", "send_x", "send_y"},
}, function(s)
  t.eq(#s:loops(), 3 + 2)
end)

t.done()
