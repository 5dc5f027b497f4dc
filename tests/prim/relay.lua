-- relay.lua - relay: arrays become streams, between stages and along the axes of a task.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i32, f32, grid = tide.i8, tide.i32, tide.f32, tide.grid

-- Along an axis: buffers of what each instance reads, fed from one side.

-- A product with its loops in a given order, before they are put as unfold wants them.
local function product(order)
  return function(z)
    local M, N, K = z.M or 3, z.N or 4, z.K or 5
    local gemm = tide.kernel {A = i8[M][K], B = i8[K][N], C = i32[M][N], function(A, B, C)
      for i, j in grid(M, N, "PE") do
        for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end}
    return gemm, {i8[M][K], i8[K][N], i32[M][N]}, order
  end
end

-- Buffers in the inner of the two unfolded loops, then instances.
local function array(...)
  local names, last = {...}, select("#", ...)
  return function(s)
    for n = 1, last - 2 do s:buffer_at(names[n], names[last - 1]) end
    s:unfold(names[last])
  end
end

prim.accepted("a row that all instances of an axis need: propagate", {
  of = product(), before = array("A", "B", "j", "PE"),
  step = {"relay", "A_j", "PE", {axis = 1, depth = 3}},
  other = {{M = 1, N = 1, K = 2}, {M = 2, N = 5}},
  has = {"A_j = d:stream(i8, {M, N, depth = 3})", "d.A_feed = tide.task {", "if j + 1 < N then"},
}, function(_, stream, feeder) t.eq({stream, feeder}, {"A_j", "A_feed"}) end)
prim.accepted("the other operand along the other axis", {
  of = product(), before = function(s)
    array("A", "B", "j", "PE")(s)
    s:relay("A_j", "PE", {axis = 1})
  end, step = {"relay", "B_j", "PE", {axis = 0}}, other = {{M = 4, N = 2}},
})
t.test("loads and use in one loop: tokens go through as they are needed", function()
  local s = tide.schedule((product() {}))
  array("A", "B", "j", "PE")(s)
  s:relay("A_j", "PE", {axis = 1}):relay("B_j", "PE", {axis = 0})
  local _, both = s:fuse("PE:k_init_1", "PE:k_init")
  s:fuse("PE:" .. both, "PE:k")
  t.eq((s:verify()), "strict")
  local loops = 0
  for _, name in ipairs(s:loops()) do loops = loops + (name:find "^PE:" and 1 or 0) end
  t.eq(loops, 1)
end)
prim.accepted("loops in another order", {
  of = product(), before = function(s)
    s:reorder("j", "i")
    array("A", "i", "PE")(s)
  end, step = {"relay", "A_i", "PE", {axis = 0}},
})
prim.accepted("rows that differ along the axis: scatter", {
  of = product(), before = array("A", "j", "PE"), step = {"relay", "A_j", "PE", {axis = 0}},
  has = {"for i_of = i, M - 1 do", "if i_of == i then"}, other = {{M = 1}, {M = 5, N = 2}},
})
prim.accepted("scatter from the last instance to the first", {
  of = product(), before = array("A", "j", "PE"), step = {"relay", "A_j", "PE", {axis = 0, back = true, name = "send"}},
  has = {"for i_of = 0, i do", "A_j[i - 1][j]:put(token)", "d.send = tide.task {", "A_j[M - 1][j]:put("},
  other = {{M = 1}, {M = 5, N = 2}},
})
prim.accepted("a row that all need, from the last instance to the first", {
  of = product(), before = array("A", "j", "PE"), step = {"relay", "A_j", "PE", {axis = 1, back = true}},
  has = {"if 0 < j then", "A_j[i][j - 1]:put"}, other = {{M = 1, K = 2}},
})
prim.accepted("one task feeds all rows", {
  of = product(), before = array("A", "j", "PE"), step = {"relay", "A_j", "PE", {axis = 1, map = {}}},
  has = {"for i_1 = 0, M - 1 do"}, other = {{M = 1}},
}, function(s) t.eq(#s:tasks(), 13) end)
prim.accepted("each instance is fed by itself", {
  of = product(), before = array("A", "j", "PE"), step = {"relay", "A_j", "PE", {axis = -1}}, other = {{M = 1}},
}, function(s) t.eq(#s:tasks(), 24) end)
prim.accepted("gemv: a vector that all need", {
  of = function(z)
    local M, K = z.M or 4, z.K or 3
    return tide.kernel {A = i32[M][K], x = i32[K], y = i32[M], function(A, x, y)
      for r in grid(M, "row") do
        for k = 0, K - 1 do y[r] = y[r] + A[r][k] * x[k] end
      end
    end}, {i32[M][K], i32[K], i32[M]}
  end,
  before = array("x", "r", "row"), step = {"relay", "x_r", "row"},
  other = {{M = 1}, {M = 6, K = 1}},
})
prim.accepted("a result: gather", {
  of = function(z)
    local N = z.N or 5
    return tide.kernel {a = f32[N], y = f32[N], function(a, y)
      for i in grid(N, "lane") do y[i] = a[i] * 2 end
    end}, {f32[N], f32[N]}
  end,
  before = array("y", "i", "lane"), step = {"relay", "y_i", "lane"},
  has = {"d.y_drain = tide.task {"}, other = {{N = 1}, {N = 3}},
})
prim.accepted("a result, toward the first instance", {
  of = function(z)
    local N = z.N or 5
    return tide.kernel {a = f32[N], y = f32[N], function(a, y)
      for i in grid(N, "lane") do y[i] = a[i] * 2 end
    end}, {f32[N], f32[N]}
  end,
  before = array("y", "i", "lane"), step = {"relay", "y_i", "lane", {back = true}},
  has = {"y_i[i + 1]:get()", "y_i[0]:get()"}, other = {{N = 1}, {N = 3}},
})
prim.accepted("a convolution: taps go to all, windows are scattered", {
  of = function(z)
    local N = z.N or 9
    return tide.kernel {x = i32[N], w = i32[3], y = i32[N], function(x, w, y)
      for i in grid({1, N - 1}, "tap") do
        for k = 0, 2 do y[i] = y[i] + x[i + k - 1] * w[k] end
      end
    end}, {i32[N], i32[3], i32[N]}
  end,
  before = function(s)
    array("w", "x", "i", "tap")(s)
    s:relay("w_i", "tap")
  end, step = {"relay", "x_i", "tap"}, other = {{N = 4}},
})

prim.twins("an argument that the task uses in other ways too", {
  no = "A", yes = "B", code = "access",
  before = function(s) s:buffer_at("A", "k"):unfold("lane") end,
  step = {"relay", "A_k", "lane"}, match = "in other ways too: 'A[n]'",
  of = function(other)
    local used = other == "A" and function()
      return tide.kernel {A = i32[4], B = i32[4], C = i32[3][4], function(A, B, C)
        for i in grid(3, "lane") do
          for k = 0, 3 do C[i][k] = A[k] * 2 + B[k] end
          for n = 0, 1 do C[i][n] = C[i][n] + A[n] end
        end
      end}
    end or function()
      return tide.kernel {A = i32[4], B = i32[4], C = i32[3][4], function(A, B, C)
        for i in grid(3, "lane") do
          for k = 0, 3 do C[i][k] = A[k] * 2 + B[k] end
          for n = 0, 1 do C[i][n] = C[i][n] + B[n] end
        end
      end}
    end
    return used(), {i32[4], i32[4], i32[3][4]}
  end,
})
prim.twins("a result that is loaded first, or set before it is read", {
  no = false, yes = true, code = "not-a-buffer",
  before = array("C", "j", "PE"), step = {"relay", "C_j", "PE", {axis = 0}},
  match = "'C_j' is both loaded from and stored to arguments, and a stream goes one way",
  of = function(is_set)
    local M, N, K = 3, 4, 5
    local sum = tide.kernel {A = i8[M][K], B = i8[K][N], C = i32[M][N], function(A, B, C)
      for i, j in grid(M, N, "PE") do
        if is_set then C[i][j] = 0 end
        for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end}
    return sum, {i8[M][K], i8[K][N], i32[M][N]}
  end,
})
prim.refused("an argument that was not buffered", {
  of = product(), before = array("j", "PE"), step = {"relay", "A", "PE", {axis = 0}},
  kind = "usage", code = "not-a-task",
})
prim.refused("two axes and none named", {
  of = product(), before = array("A", "j", "PE"), step = {"relay", "A_j", "PE"},
  kind = "usage", code = "axis",
})
prim.refused("a stream that holds nothing", {
  of = product(), before = array("A", "j", "PE"),
  step = {"relay", "A_j", "PE", {axis = 1, depth = 0}},
  kind = "usage", code = "depth",
})

-- Five nests, renamed and reordered by a seeded generator: each becomes an array of instances.
local state = 20261120
local function random(n)
  state = (state * 1103515245 + 12345) % 2147483648
  return state // 65536 % n + 1
end

local nests = {
  {sum = "$A[$i][$k] * $B[$k][$j]", to = "$Y[$i][$j]", A = "[3][5]", B = "[5][4]", Y = "[3][4]"},
  {sum = "$A[$k][$i] * $B[$k][$j]", to = "$Y[$i][$j]", A = "[5][3]", B = "[5][4]", Y = "[3][4]"},
  {sum = "$A[$i][$k] * $B[$j][$k]", to = "$Y[$j][$i]", A = "[3][5]", B = "[4][5]", Y = "[4][3]"},
  {sum = "$A[$i + $k] * $B[$k][$j]", to = "$Y[$i][$j]", A = "[7]", B = "[5][4]", Y = "[3][4]"},
  {sum = "$A[$k] * $B[$j + $k]", to = "$Y[$i][$j]", A = "[5]", B = "[8]", Y = "[3][4]"},
}
local orders = {{"i", "j", "k"}, {"j", "i", "k"}, {"k", "i", "j"}, {"i", "k", "j"}, {"j", "k", "i"}}
local extent = {i = 3, j = 4, k = 5}

for n, nest in ipairs(nests) do
  local order, name = orders[random(#orders)], {}
  for _, key in ipairs {"A", "B", "Y", "i", "j", "k"} do name[key] = key:lower() .. random(900) end
  t.test("nest " .. n .. " in the order " .. table.concat(order, " "), function()
    local text = {}
    for _, v in ipairs(order) do
      text[#text + 1] = string.format("for %s = 0, %d do", name[v], extent[v] - 1)
    end
    local body = (nest.to .. " = " .. nest.to .. " + " .. nest.sum):gsub("%$(%a)", name)
    local source = string.format([[local tide = require "tide"
      return tide.kernel {name = "nest", %s = tide.i32%s, %s = tide.i32%s, %s = tide.i32%s,
      function(%s, %s, %s) %s %s end end end end}]], name.A, nest.A, name.B, nest.B, name.Y, nest.Y,
      name.A, name.B, name.Y, table.concat(text, " "), body)
    local k = assert(load(source))()
    local s = tide.schedule(k)
    s:reorder(name.i, name.j, name.k)
    local _, a = s:buffer_at(name.A, name.j)
    local _, b = s:buffer_at(name.B, name.j)
    local _, task = s:unfold(name.i)
    s:relay(a, task):relay(b, task)
    t.eq((s:verify()), "strict")
    t.eq(tostring(load(tostring(s))()), tostring(s))
  end)
end

-- Between stages: the order of writes and of reads.

-- Two products; `turned` swaps the loops of the first.
local function cascade(turned)
  local M, N, P = 3, 4, 2
  local first = turned and function()
    return tide.kernel {name = "first", A = f32[M][N], C = f32[M][N], function(A, C)
      for j, i in grid(N, M) do C[i][j] = A[i][j] * 2 end
    end}
  end or function()
    return tide.kernel {name = "first", A = f32[M][N], C = f32[M][N], function(A, C)
      for i, j in grid(M, N) do C[i][j] = A[i][j] * 2 end
    end}
  end
  local one = first()
  local second = tide.kernel {C = f32[M][N], D = f32[N][P], E = f32[M][P], function(C, D, E)
    for i, k in grid(M, N) do
      for j = 0, P - 1 do E[i][j] = E[i][j] + C[i][k] * D[k][j] end
    end
  end}
  return tide.kernel {A = f32[M][N], D = f32[N][P], E = f32[M][P], function(A, D, E)
    local C = f32[M][N]()
    one(A, C)
    second(C, D, E)
  end}, {f32[M][N], f32[N][P], f32[M][P]}
end

prim.twins("writes by column, reads by row", {
  no = true, yes = false, of = cascade, code = "order", witness = "C",
  step = {"relay", "C", "second"}, match = "over j, i",
})
t.test("and the other way round: what comes later is refused", function()
  local s = tide.schedule((cascade(false)))
  s:relay("C", "second")
  local text = tostring(s)
  local function refused(sides, ...)
    local loops = {...}
    local e = t.fails(function() s:reorder(table.unpack(loops)) end, {kind = "illegal", prim = "reorder"})
    t.eq(e.witness.array, "C")
    t.has(e.message, "'C': " .. sides)
  end
  refused("'first' would put its elements over j, i, and 'second' gets them over i, k",
    "first:j", "first:i")
  refused("'first' puts its elements over i, j, and 'second' would get them over k, i",
    "second:k", "second:i")
  t.eq(tostring(s), text)
  s:split("first:j", 2)
  t.eq((s:verify()), "strict")
end)
t.test("fusing what puts in turn", function()
  local k = tide.kernel {A = i32[4], B = i32[8], function(A, B)
    local C = i32[8]()
    for i = 0, 3 do C[i] = A[i] end
    for j = 0, 3 do C[4 + j] = A[j] * 2 end
    for n = 0, 7 do B[n] = C[n] end
  end}
  local d = tide.design(function(d)
    local Z = d:stream(i32)
    d.put = tide.task {A = i32[4], function(A)
      for i = 0, 3 do Z:put(A[i]) end
      for j = 0, 3 do Z:put(A[j] * 2) end
    end}
    d.get = tide.task {B = i32[8], function(B)
      for n = 0, 7 do B[n] = Z:get() end
    end}
  end)
  t.eq((tide.schedule(k):fuse("i", "j"):verify()), "strict")
  local e = t.fails(function() tide.schedule(d):fuse("put:i", "put:j") end, {code = "dependence"})
  t.has(e.message, "'Z': 'put' puts its elements over i, and 'get' gets them over n")
end)
prim.accepted("loops of one kernel, a fill that is overwritten", {
  of = function()
    return tide.kernel {a = i32[6], b = i32[6], function(a, b)
      local m = i32[6](9)
      for i = 0, 5 do m[i] = a[i] * a[i] end
      for n = 0, 5 do b[n] = m[n] + m[n] end
    end}, {i32[6], i32[6]}
  end,
  step = {"relay", "m", "n", {depth = 1}}, has = {"m:put(a[i] * a[i])"},
})
prim.accepted("a tensor statement is spelt out", {
  of = function()
    return tide.kernel {a = i32[3][4], b = i32[3][4], function(a, b)
      local m = i32[3][4]()
      m:set(a + 1)
      for r, c in grid(3, 4) do b[r][c] = m[r][c] * 2 end
    end}, {i32[3][4], i32[3][4]}
  end,
  step = {"relay", "m", "r"}, has = {"m:put(a[m_0][m_1] + 1)"},
})
prim.refused("a tensor statement that is not one element at a time", {
  of = function()
    return tide.kernel {a = i8[3][4], b = i8[4][2], y = i32[3][2], function(a, b, y)
      local m = i32[3][2]()
      m:set(tide.matmul(a, b))
      for r, c in grid(3, 2) do y[r][c] = m[r][c] end
    end}, {i8[3][4], i8[4][2], i32[3][2]}
  end,
  step = {"relay", "m", "r"}, kind = "unsupported", code = "elements",
})
prim.twins("an element that is written twice", {
  no = 2, yes = 1, code = "order", step = {"relay", "m", "n"}, match = "buffer_at",
  of = function(times)
    return tide.kernel {a = i32[4], b = i32[4], function(a, b)
      local m = i32[4]()
      for i, _ in grid(4, times) do m[i] = a[i] end
      for n = 0, 3 do b[n] = m[n] end
    end}, {i32[4], i32[4]}
  end,
})
prim.twins("elements that are not read", {
  no = 3, yes = 4, code = "order", step = {"relay", "m", "n"},
  of = function(count)
    return tide.kernel {a = i32[4], b = i32[4], function(a, b)
      local m = i32[4]()
      for i = 0, 3 do m[i] = a[i] end
      for n = 0, count - 1 do b[n] = m[n] end
    end}, {i32[4], i32[4]}
  end,
})
-- A row that goes into a longer one, between zeros; its last `lost` elements do not.
local function framed(lost, z)
  local N, before = z and z.N or 5, 1
  return tide.kernel {A = i32[N], B = i32[N + 3], name = "framed", function(A, B)
    local P = i32[N]()
    for i = 0, N - 1 do P[i] = A[i] * 3 end
    for k = 0, N + 2 do
      local x = i32(0)
      if k >= before and k < before + N - lost then x = P[k - before] + 1 end
      B[k] = x
    end
  end}, {i32[N], i32[N + 3]}
end
prim.twins("a frame around what is read: under its condition, all of it", {
  of = framed, no = 1, yes = 0, step = {"relay", "P", "k"}, other = {{N = 1}, {N = 8}}, code = "order", match = "P",
  has = {"if 1 <= k and k < N + 1 then\n          local P_1 = P:get()"},
})
prim.accepted("an image in a frame, between tasks", {
  of = function()
    local nn = require "tide.nn"
    local pad, relu = nn.pad2d {H = 3, W = 2, C = 2}, nn.relu {shape = {3, 2, 2}}
    return tide.kernel {X = f32[3][2][2], Y = f32[5][4][2], function(X, Y)
      local R = f32[3][2][2]()
      relu(X, R)
      pad(R, Y)
    end}, {f32[3][2][2], f32[5][4][2]}
  end, before = function(s) s:dataflow() end, step = {"relay", "R", "pad2d"},
})
prim.twins("neighbours of an element", {
  no = function()
    return tide.kernel {a = i32[5], b = i32[5], function(a, b)
      local m = i32[5]()
      for i = 0, 4 do m[i] = a[i] end
      for n = 1, 4 do b[n] = m[n] + m[n - 1] end
    end}
  end,
  yes = function()
    return tide.kernel {a = i32[5], b = i32[5], function(a, b)
      local m = i32[5]()
      for i = 0, 4 do m[i] = a[i] end
      for n = 0, 4 do b[n] = m[n] + m[n] end
    end}
  end,
  code = "order", step = {"relay", "m", "n"},
  of = function(make) return make(), {i32[5], i32[5]} end,
})
prim.twins("read again after others", {
  no = 2, yes = 1, code = "order", step = {"relay", "m", "round"},
  of = function(rounds)
    return tide.kernel {a = i32[4], b = i32[4], function(a, b)
      local m = i32[4]()
      for i = 0, 3 do m[i] = a[i] end
      for round, n in grid(rounds, 4) do b[n] = b[n] + m[n] + round end
    end}, {i32[4], i32[4]}
  end,
})
prim.refused("a parameter is no array between stages", {
  of = function()
    return tide.kernel {a = i32[4], b = i32[4], function(a, b)
      for i = 0, 3 do a[i] = i end
      for n = 0, 3 do b[n] = a[n] end
    end}, {i32[4], i32[4]}
  end,
  step = {"relay", "a", "n"}, kind = "usage", code = "stage",
})
t.test("tasks that would wait for each other", function()
  local k = tide.kernel {a = i32[8], b = i32[8], function(a, b)
    local c, d = i32[8](), i32[8]()
    for i = 0, 7 do
      c[i] = a[i]
      d[i] = a[i] * 2
    end
    for n = 0, 7 do b[n] = c[n] + d[7 - n] end
  end}
  local s = tide.schedule(k)
  t.fails(function() s:relay("c", "n") end, {kind = "illegal", code = "deadlock"})
  s:relay("c", "n", {depth = 8})
  t.eq((s:verify()), "strict")
end)

-- In a design: an array that one task hands to the next as a whole.

-- Two producers and a consumer that joins what they made; the second product is read `turned` or not.
local function join(turned)
  return function(size)
    local M, N = size.M or 3, size.N or 4
    local function stage(name, by)
      return tide.kernel {a = i32[M][N], b = i32[M][N], name = name, function(a, b)
        for i, j in grid(M, N) do b[i][j] = a[i][j] * by end
      end}
    end
    local up, down = stage("up", 3), stage("down", -2)
    local both = tide.kernel {x = i32[M][N], y = i32[M][N], z = i32[M][N], function(x, y, z)
      for i, j in grid(M, N) do
        if turned then z[i][j] = x[i][j] + y[M - 1 - i][j] else z[i][j] = x[i][j] + y[i][j] end
      end
    end}
    return tide.kernel {A = i32[M][N], E = i32[M][N], D = i32[M][N], function(A, E, D)
      local B, C = i32[M][N](), i32[M][N]()
      up(A, B)
      down(E, C)
      both(B, C, D)
    end}, {i32[M][N], i32[M][N], i32[M][N]}
  end
end

prim.accepted("the other branch of a join, after the first", {
  of = join(false), before = function(s) s:relay("B", "both") end,
  step = {"relay", "C", "both", {depth = 5}}, other = {{M = 1, N = 1}, {M = 5, N = 2}},
  has = {"local C = d:stream(i32, {depth = 5})", "y = tide.stream(i32)"},
}, function(s, stream)
  t.eq(stream, "C")
  t.ok(not tostring(s):find "block = true", "nothing is handed over as a whole")
end)
prim.accepted("after dataflow", {
  of = join(false), before = function(s) s:dataflow() end, step = {"relay", "B", "both"},
  has = {"local B = d:stream(i32, {depth = 2})"},
}, function(s)
  s:relay("C", "both")
  t.eq((s:verify()), "strict")
end)
prim.accepted("between loops, after dataflow", {
  of = function(z)
    local N = z.N or 6
    return tide.kernel {A = i32[N], C = i32[N], function(A, C)
      local B = i32[N]()
      for i = 0, N - 1 do B[i] = A[i] + 1 end
      for n = 0, N - 1 do C[n] = B[n] * 2 end
    end}, {i32[N], i32[N]}
  end, before = function(s) s:dataflow() end, step = {"relay", "B", "n"}, other = {{N = 1}, {N = 9}},
})
t.test("a branch that is read in another order is refused: array, both sides, both orders", function()
  local s = tide.schedule((join(true) {})):relay("B", "both")
  local text = tostring(s)
  local e = t.fails(function() s:relay("C", "both") end, {kind = "illegal", code = "order"})
  t.eq(tostring(s), text)
  t.eq(e.witness.array, "C")
  for _, part in ipairs {"'down' writes", "'both' reads", "over i, j", "C["} do t.has(e.message, part) end
end)
t.test("an array that two tasks get is refused", function()
  local k = tide.kernel {A = i32[4], C = i32[4], D = i32[4], function(A, C, D)
    local B = i32[4]()
    for i = 0, 3 do B[i] = A[i] end
    for n = 0, 3 do C[n] = B[n] end
    for m = 0, 3 do D[m] = B[m] + 1 end
  end}
  local s = tide.schedule(k):dataflow()
  local text = tostring(s)
  for _, task in ipairs {"n", "m"} do
    local no, e = s:can("relay", "B", task)
    t.eq(no, nil)
    t.ok(e.kind ~= "bug" and e.code == "stage" or e.code == "axis" or e.code == "not-a-buffer", e.code)
  end
  t.eq(tostring(s), text)
  t.eq((s:verify()), "strict")
end)

-- Allo's 2mm: a first value that the first product accumulates on. `how`: it stands in the declaration, or in the
-- product; `late`: the product reads something that it has written.
local function two_products(how, late)
  return function(z)
    local P, Q, R, S = z.P or 3, z.Q or 4, z.R or 5, z.S or 2
    local first = tide.kernel {A = i32[P][Q], B = i32[Q][R], X = i32[P][R], name = "first", function(A, B, X)
      if how == "set" then X:set(0) end
      if how == "loops" then
        for u, v in grid(P, R) do X[u][v] = 0 end
      end
      for i, j in grid(P, R) do
        for k = 0, Q - 1 do X[i][j] = X[i][j] + A[i][k] * B[k][j] end
        if late then X[i][j] = X[i][j] + X[i][j // 2] end
      end
    end}
    local second = tide.kernel {X = i32[P][R], C = i32[R][S], Y = i32[P][S], name = "second", function(X, C, Y)
      for i, j in grid(P, S) do
        for k = 0, R - 1 do Y[i][j] = Y[i][j] + X[i][k] * C[k][j] end
      end
    end}
    local types = {i32[P][Q], i32[Q][R], i32[R][S], i32[P][S]}
    local filled = tide.kernel {A = i32[P][Q], B = i32[Q][R], C = i32[R][S], Y = i32[P][S], function(A, B, C, Y)
      local X = i32[P][R](7)
      first(A, B, X)
      second(X, C, Y)
    end}
    if how == "declared" then return filled, types end
    return tide.kernel {A = i32[P][Q], B = i32[Q][R], C = i32[R][S], Y = i32[P][S], function(A, B, C, Y)
      local X = i32[P][R]()
      first(A, B, X)
      second(X, C, Y)
    end}, types
  end
end
local function rows(s)
  s:reorder("first:k", "first:j"):buffer_at("first:X", "first:i"):buffer_at("second:X", "second:i")
end
for _, how in ipairs {"declared", "set", "loops"} do
  prim.accepted("a first value that is accumulated on: " .. how, {
    of = two_products(how), before = rows, step = {"relay", "X", "second"},
    other = {{P = 1, R = 1}, {P = 2, Q = 1, R = 3, S = 4}},
  })
end
prim.refused("what is read back is not the first value", {
  of = two_products("declared", true), before = function(s) s:buffer_at("second:X", "second:i") end,
  step = {"relay", "X", "second"}, code = "order",
})

-- A parameter of a kernel stands for what it is passed: here a number.
prim.refused("a scalar parameter", {
  of = function()
    local sub = tide.kernel {X = tide.i32[4], n = tide.index, function(X, n) X[0] = n end}
    return tide.kernel {B = tide.i32[4], function(B) sub(B, 0) end}, {tide.i32[4]}
  end,
  step = {"relay", "sub:n", "sub"}, kind = "usage", code = "not-an-array",
})

-- A kernel whose last array becomes a stream keeps its sizes, under the names of its caller.
t.test("the sizes of a callee follow those of its caller", function()
  local function made(from, to)
    local R, S = from, to
    local add = tide.kernel {X = i32[R][S], Y = i32[R][S], function(X, Y)
      for r, c in grid(R, S) do Y[r][c] = X[r][c] + 1 end
    end}
    local M, H = from, to
    return tide.kernel {A = i32[M][H], B = i32[M][H], function(A, B)
      local x, y = i32[M][H](), i32[M][H]()
      for i, j in grid(M, H) do x[i][j] = A[i][j] * 2 end
      add(x, y)
      for u, v in grid(M, H) do B[u][v] = y[u][v] * 3 end
    end}
  end
  local s = tide.schedule(made(2, 3))
  s:dataflow():relay("x", "add"):relay("y", "u")
  local verdict, text = s:verify()
  t.eq(verdict, "strict")
  t.ok(tostring(text):find("all sizes", 1, true))
  local A, B, C = tide.random(i32[4][5], 7), i32[4][5](), i32[4][5]()
  load(tostring(s))():at {M = 4, H = 5}(A, B)
  made(4, 5)(A, C)
  t.eq(tostring(B), tostring(C))
end)

t.done()
