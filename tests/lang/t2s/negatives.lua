-- negatives.lua - wrong definitions and mappings of T2S by name: each is refused at its own line, with its code, and
-- again the same; the twin that differs in one fact is taken and proved. [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, f32, select = tide.i32, tide.f32, tide.select
local Param, Const, Var, Func = t2s.Param, t2s.Const, t2s.Var, t2s.Func

-- A matrix times a vector of M rows, which `map` maps; v has its names.
local function rows(map)
  local v = {x = Param("x", i32, 2), w = Param("w", i32, 1), N = Param "N", M = Const "M"}
  v.i, v.j, v.k, v.ii = Var "i j k ii"
  v.y, v.f, v.g = Func("y f g", i32)
  v.host = Func("host", t2s.HOST)
  local y, i, j = v.y, v.i, v.j
  y[i] = 0
  y[i] = y[i] + v.x[i][j] * v.w[j]
  y:set_bounds(i, 0, v.M, j, 0, v.N)
  map(v)
  return y
end

-- The line of this file that a function is from.
local function first_line(fn) return debug.getinfo(fn, "S").linedefined end

-- Whether a refusal is told as it should be: at a line of a range and at a column of it, what it is and what helps.
local function told(e, from, to)
  t.ok(e.line >= from and e.line <= to, ("line %s of %d to %s"):format(e.line, from, to))
  t.ok(tostring(e):find("\n[ |]*%^"), "a caret: " .. tostring(e))
  t.ok(#e.message > 8 and e.help and #e.help > 8, "what helps: " .. e.message)
end

-- A wrong mapping, refused where it is written, and its twin.
local function twins(name, code, wrong, right, consts)
  t.test(name, function()
    consts = consts or {M = 4}
    local y
    local function try()
      y = y or rows(wrong)
      t2s.design(y, consts)
    end
    local e = t.fails(try, {code = code})
    told(e, first_line(wrong), debug.getinfo(wrong, "S").lastlinedefined)
    t.eq(t.fails(try, {code = code}).message, e.message, "the Funcs are as they were")
    if right then
      local net, verdict = t2s.design(rows(right), consts)
      t.has(tostring(verdict), "proved: strict")
      t.ok(net)
    end
  end)
end

local function fed(v) v.y:isolate_producer_chain(v.w, v.f):unroll(v.i):relay(v.w, {1}) end
local function far(v) v.y:isolate_producer_chain(v.w, v.g, v.f):unroll(v.i):relay(v.w, {1}) end

twins("isolate: an operand that is not read", "t2s-isolate",
  function(v) v.y:isolate_producer_chain(Param("q", i32, 1), v.f):unroll(v.i) end, fed)
twins("isolate: an operand twice", "t2s-isolate",
  function(v) v.y:isolate_producer_chain(v.w, v.f):isolate_producer_chain(v.w, v.g):unroll(v.i) end,
  function(v) v.y:isolate_producer_chain(v.w, v.f):isolate_producer_chain(v.x, v.g):unroll(v.i) end)
twins("isolate: into a Func that is defined", "t2s-isolate", function(v)
  v.f[v.i] = 1
  v.f:set_bounds(v.i, 0, 4)
  v.y:isolate_producer_chain(v.w, v.f):unroll(v.i)
end, fed)
twins("isolate: into the Func itself", "t2s-isolate",
  function(v) v.y:isolate_producer_chain(v.w, v.y):unroll(v.i) end, fed)
twins("isolate: a stage twice in its chain", "t2s-isolate",
  function(v) v.y:isolate_producer_chain(v.w, v.f, v.f):unroll(v.i) end,
  function(v) v.y:isolate_producer_chain(v.w, v.f, v.g):unroll(v.i) end)
twins("isolate: stages that come before each other", "t2s-isolate",
  function(v) v.y:isolate_producer_chain(v.w, v.f, v.g):isolate_producer_chain(v.x, v.g, v.f):unroll(v.i) end,
  function(v) v.y:isolate_producer_chain(v.w, v.f, v.g):unroll(v.i) end)
twins("isolate: a stage of two operands that go in other loops", "t2s-isolate",
  function(v)
    v.y:isolate_producer_chain(v.w, v.g, v.f):isolate_producer_chain(v.x, v.g, v.f)
    v.f:buffer(v.w)
  end,
  function(v) v.y:isolate_producer_chain(v.w, v.g, v.f):isolate_producer_chain(v.x, v.g, v.f) end)
twins("isolate: consumers of what is only read", "t2s-isolate",
  function(v) v.y:isolate_consumer_chain(v.w, v.f):unroll(v.i) end,
  function(v) v.y:isolate_consumer_chain(v.y, v.f):unroll(v.i) end)
twins("isolate: producers of the Func's own sums", "t2s-isolate",
  function(v) v.y:isolate_producer_chain(v.y, v.f):unroll(v.i) end, fed)
twins("isolate: the host at the near end of consumers", "t2s-isolate",
  function(v) v.y:isolate_consumer_chain(v.y, v.f, v.host):unroll(v.i) end,
  function(v) v.y:isolate_consumer_chain(v.y, v.host, v.f):unroll(v.i) end)
twins("isolate: a chain without stages", "t2s-isolate",
  function(v) v.y:isolate_producer_chain(v.w):unroll(v.i) end, fed)
twins("a HOST Func that is unrolled", "t2s-unroll", function(v)
  v.y:isolate_producer_chain(v.w, v.host, v.f):unroll(v.i):relay(v.w, {1})
  v.host:unroll(v.i)
end, function(v) v.y:isolate_producer_chain(v.w, v.host, v.f):unroll(v.i):relay(v.w, {1}) end)
twins("remove: of a loop of the Func that computes", "t2s-remove", function(v)
  fed(v)
  v.y:remove(v.j)
end, fed)
twins("remove: of a loop that the operand depends on", "t2s-remove", function(v)
  far(v)
  v.g:remove(v.j)
end, far)
twins("remove: of a loop that is not there", "t2s-remove", function(v)
  far(v)
  v.g:remove(v.k)
end, far)

-- The rows in tiles, so that a loop in time is left which the vector does not depend on.
local function tiled(v) v.y:tile(v.i, v.ii, 2):isolate_producer_chain(v.w, v.g, v.f):unroll(v.ii):relay(v.w, {1}) end
local four = {M = 4, N = 3}
twins("remove: without a buffer", "t2s-remove", function(v)
  tiled(v)
  v.g:remove(v.i)
end, function(v)
  tiled(v)
  v.g:remove(v.i)
  v.f:buffer(v.w)
end, four)
twins("buffer: inside of a loop that is removed", "t2s-buffer", function(v)
  tiled(v)
  v.g:remove(v.i)
  v.f:buffer(v.w, v.j)
end, function(v)
  tiled(v)
  v.f:buffer(v.w, v.i)
end, four)
twins("buffer: in a loop that is not there", "t2s-buffer", function(v)
  far(v)
  v.f:buffer(v.w, v.k)
end, function(v)
  far(v)
  v.f:buffer(v.w, v.j)
end)
twins("buffer: of what does not go through", "t2s-buffer", function(v)
  far(v)
  v.f:buffer(v.x, v.j)
end, far)
twins("unroll: twice", "t2s-unroll", function(v) v.y:unroll(v.i, v.i) end, function(v) v.y:unroll(v.i) end)
twins("unroll: a loop that is not there", "t2s-unroll", function(v) v.y:unroll(v.k) end,
  function(v) v.y:unroll(v.i) end)
twins("unroll: all loops", "t2s-unroll", function(v) v.y:unroll(v.i, v.j) end, function(v) v.y:unroll(v.i) end)
twins("relay: of what is not isolated", "t2s-relay", function(v) v.y:unroll(v.i):relay(v.w, {1}) end, fed)
twins("relay: twice", "t2s-relay", function(v)
  fed(v)
  v.y:relay(v.w, {-1})
end, fed)
twins("relay: more numbers than space has axes", "t2s-relay",
  function(v) v.y:isolate_producer_chain(v.w, v.f):unroll(v.i):relay(v.w, {1, 0}) end, fed)
twins("relay: of a Func in no space", "t2s-relay",
  function(v) v.y:isolate_producer_chain(v.w, v.f):relay(v.w, {1}) end,
  function(v) v.y:isolate_producer_chain(v.w, v.f) end)
twins("tile: of a loop that is not there", "t2s-tile", function(v) v.y:tile(v.k, v.ii, 2) end,
  function(v) v.y:tile(v.i, v.ii, 2) end)
twins("tile: by a name that is taken", "t2s-tile", function(v) v.y:tile(v.i, v.j, 2) end,
  function(v) v.y:tile(v.i, v.ii, 2) end)
twins("tile: by a Const without a value", "t2s-const", function(v) v.y:tile(v.i, v.ii, Const "Q") end,
  function(v) v.y:tile(v.i, v.ii, 2) end)
twins("tile: by nothing", "factor", function(v) v.y:tile(v.i, v.ii, 0) end, function(v) v.y:tile(v.i, v.ii, 1) end)
twins("reorder: a loop twice", "t2s-reorder", function(v) v.y:reorder(v.j, v.j) end,
  function(v) v.y:reorder(v.j, v.i) end)
twins("reorder: a loop that is not there", "t2s-reorder", function(v) v.y:reorder(v.k, v.i) end,
  function(v) v.y:reorder(v.j, v.i) end)
twins("vectorize: a loop that is not there", "t2s-vectorize", function(v) v.y:vectorize(v.k) end,
  function(v) v.y:vectorize(v.j) end, four)
twins("vectorize: a loop that is not innermost", "t2s-vectorize", function(v) v.y:vectorize(v.i) end,
  function(v) v.y:vectorize(v.j) end, four)
twins("vectorize: a loop in space", "t2s-vectorize", function(v) v.y:unroll(v.i):vectorize(v.i) end,
  function(v) v.y:unroll(v.i):vectorize(v.j) end, four)
twins("vectorize: a loop of which it is not known how often it runs", "t2s-vectorize",
  function(v) v.y:vectorize(v.j) end)
twins("vectorize: two loops", "t2s-vectorize", function(v) v.y:vectorize(v.j):vectorize(v.i) end,
  function(v) v.y:vectorize(v.j) end, four)
twins("set_min_depth: of no channel", "t2s-depth", function(v)
  fed(v)
  v.y:set_min_depth(v.w, v.g, 3)
end, function(v)
  fed(v)
  v.f:set_min_depth(v.w, v.y, 3)
end)
twins("a directive with a dot", "t2s-method", function(v)
  v.y:unroll(v.i)
  t2s.design(v.y, {M = 4})
  v.y.vectorize(v.j)
end, fed)
twins("a directive after the design", "t2s-directive", function(v)
  v.y:unroll(v.i)
  t2s.design(v.y, {M = 4})
  v.y:vectorize(v.j)
end, fed)

-- Wrong definitions: told where they are written, or where the kernel is made.
local function defined(name, code, wrong, right)
  t.test(name, function()
    local e = t.fails(function() t2s.kernel(wrong()) end, {code = code})
    told(e, first_line(wrong), math.huge)
    t.ok(t2s.kernel(right()))
  end)
end

local A, B, N = Param("A", i32, 2), Param("B", i32, 1), Param "N"
local i, j = Var "i j"

-- Two equations of a system; `second` has the left side of the other.
local function system(second, again)
  return function()
    local U, V = Func("U V", i32)
    U[i][j] = select(j:eq(0), 0, U[i][j - 1]) + A[i][j]
    second(U, V)
    U:set_bounds(i, 0, N, j, 0, N):merge_ures(V)
    if again then again(U, V) end
    return V
  end
end
local function second(U, V) V[i][j] = U[i][j] + 1 end

defined("left: a Var twice", "t2s-left", function()
  local F = Func("F", i32)
  F[i][i] = 1
  return F
end, function()
  local F = Func("F", i32)
  F[i][j] = 1
  return F:set_bounds(i, 0, N, j, 0, N)
end)
defined("left: a sum of Vars", "t2s-left", function()
  local F = Func("F", i32)
  F[i + j] = B[i] + B[j]
  return F
end, function()
  local F = Func("F", i32)
  F[i] = B[i]
  return F:set_bounds(i, 0, N)
end)
defined("left: shifted", "t2s-left", function()
  local F = Func("F", i32)
  F[i - 1] = B[i]
  return F
end, function()
  local F = Func("F", i32)
  F[i] = B[i + 1]
  return F:set_bounds(i, 0, N)
end)
defined("no base case", "t2s-base", function()
  local F = Func("F", i32)
  F[i] = F[i - 1] + B[i]
  return F:set_bounds(i, 0, N)
end, function()
  local F = Func("F", i32)
  F[-1] = 0
  F[i] = F[i - 1] + B[i]
  return F:set_bounds(i, 0, N)
end)
defined("a value that is computed later", "t2s-order", function()
  local F = Func("F", i32)
  F[N] = 0
  F[i] = F[i + 1] + B[i]
  return F:set_bounds(i, 0, N)
end, function()
  local F = Func("F", i32)
  F[-1] = 0
  F[i] = F[i - 1] + B[i]
  return F:set_bounds(i, 0, N)
end)
defined("merge: again", "t2s-merge", system(second, function(U, V) U:merge_ures(V) end), system(second))
defined("merge: with itself", "t2s-merge", function()
  local U = Func("U", i32)
  U[i] = B[i]
  U:set_bounds(i, 0, N):merge_ures(U)
end, system(second))
defined("merge: an equation that reads another iteration's", "t2s-order",
  system(function(U, V) V[i][j] = U[j][i] + 1 end), system(function(U, V) V[j][i] = U[i][j] + 1 end))
defined("merge: an equation that reads what is computed later", "t2s-order",
  system(function(U, V) V[i][j] = select(i:eq(N - 1), 0, U[i + 1][j]) end),
  system(function(U, V) V[i][j] = select(i:eq(0), 0, U[i - 1][j]) end))
-- Two equations of which one reads the other in the same iteration; `reader_first` is the order of their lines.
local function ordered(reader_first)
  return function()
    local U, V, W = Func("U V W", i32)
    local function write() U[i][j] = A[i][j] + select(j:eq(0), 0, U[i][j - 1]) end
    if not reader_first then write() end
    V[i][j] = select(i:eq(0), U[i][j], V[i - 1][j])
    if reader_first then write() end
    W[i][j] = U[i][j] + V[i][j]
    return W:merge_ures(U, V):set_bounds(i, 0, N, j, 0, N)
  end
end
defined("merge: an equation that reads what the same iteration computes later", "t2s-order", ordered(true),
  ordered(false))
defined("merge: a value that is kept where a condition does not hold, and read", "t2s-merge", function()
  local U, V = Func("U V", i32)
  U[i][j] = t2s.select(j:eq(0), A[i][j])
  V[i][j] = U[i][j] + 1
  return V:merge_ures(U):set_bounds(i, 0, N, j, 0, N)
end, function()
  local U, V = Func("U V", i32)
  U[i][j] = select(j:eq(0), A[i][j], 0)
  V[i][j] = t2s.select(j:eq(0), U[i][j])
  return V:merge_ures(U):set_bounds(i, 0, N, j, 0, N)
end)
defined("merge: what is not defined", "t2s-merge", system(function() end), system(second))
defined("merge: other loops", "t2s-merge", system(function(U, V)
  local k = Var "k"
  V[i][j][k] = U[i][j] + k
  V:set_bounds(k, 0, N)
end), system(second))
defined("a Param that is written", "t2s-write", function()
  B[i] = 1
  return B
end, system(second))
defined("bounds twice", "t2s-bounds", function()
  local F = Func("F", i32)
  F[i] = B[i]
  F:set_bounds(i, 0, N):set_bounds(i, 0, N)
end, system(second))
defined("a dimension too many", "t2s-rank", function()
  local F = Func("F", i32)
  F[i] = B[i][i]
  return F:set_bounds(i, 0, N)
end, system(second))

-- An operand read in two places, or in the condition of a case.
local function neighbours(two)
  local w, M, y, f, K = Param("w", f32, 1), Const "M", Func("y", f32), Func "f", Param "K"
  y[i] = 0
  if two then y[i] = y[i] + w[j] * w[j + 1] else y[i] = y[i] + w[j] end
  y:set_bounds(i, 0, M, j, 0, K):unroll(i):isolate_producer_chain(w, f)
  return y
end
t.test("a system: directives are of the Func that merges it", function()
  for _, right in ipairs {false, true} do
    local M, U, V = Const "M", Func("U V", i32)
    U[i][j] = select(j:eq(0), 0, U[i][j - 1]) + A[i][j]
    V[i][j] = U[i][j] + 1
    V:merge_ures(U):set_bounds(i, 0, M, j, 0, N)
    local of = right and V or U
    of:unroll(i)
    local function try() return (t2s.design(V, {M = 3})) end
    if right then t.ok(try()) else t.fails(try, {code = "t2s-merge"}) end
  end
end)

t.test("a space loop that a Const without a value bounds", function()
  local function try(consts)
    local F, M = Func("F", i32), Const "M"
    F[i][j] = A[i][j]
    F:set_bounds(i, 0, N, j, 0, M):unroll(j)
    return t2s.design(F, consts)
  end
  t.has(t.fails(function() try {} end, {code = "t2s-const"}).message, "M has no value")
  t.ok(try {M = 3})
end)

-- Statements of a definition of F, over i, with B, N and plain values `mode`, `wide`: what Lua decides before the
-- definition sees it is refused, what chooses between definitions is not.
local function traced(code, wrong, right)
  t.test("Lua decides: " .. wrong:gsub("%s+", " "), function()
    local function try(text)
      local F = Func("F", i32)
      local env = {F = F, B = B, N = N, i = i, j = j, mode = "sum", wide = true, tide = tide, t2s = t2s, i32 = i32}
      assert(load("local F, B, N, i, mode, wide = F, B, N, i, mode, wide\n" .. text, "=user", "t", env))()
      if #F.def.order == 0 then F:set_bounds(i, 0, N) end
      return t2s.design(F, {N = 4})
    end
    told(t.fails(function() try(wrong) end, {code = code}), 1, math.huge)
    local net, verdict = try(right)
    t.ok(net)
    t.has(tostring(verdict), "proved")
  end)
end

traced("t2s-compare", "F[i] = i == 0 and 1 or B[i]", "F[i] = mode == 'sum' and B[i] or 1")
traced("t2s-compare", "F[i] = N == 4 and 1 or B[i]", "local n = 3\nF[i] = n == 3 and 1 or B[i]")
traced("t2s-compare", "F[i] = B[i] and 1", "F[i] = wide and B[i] or 1")
traced("t2s-compare", "F[i] = not B[i]", "F[i] = not wide and 1 or B[i]")
traced("t2s-compare", "F[i] = tide.select(i == 0, 1, B[i])", "F[i] = tide.select(i:eq(0), 1, B[i])")
traced("t2s-compare", "F[i] = i < 3", "F[i] = tide.select(i:lt(3), 1, 0)")
traced("t2s-compare", "if i == 0 then F[i] = 1\nelse F[i] = B[i] end",
  "if mode == 'sum' then F[i] = 1\nelse F[i] = B[i] end")
traced("t2s-compare", "if B[i] > 3 then F[i] = 1 end", "for k = 0, 2 do if k == 2 then F[i] = k end end")
traced("t2s-field", "F[i] = B[i] F.x = 1", "F[i] = B[i]")
traced("t2s-operand", "F[i] = F + 1", "F[i] = B[i] if not wide then F = 1 end")
traced("t2s-operand", "F[i] = F(i)", "F[i] = B[i]")
traced("t2s-directive", "F[i] = B[i] F:unroll()", "F[i] = B[i]")
traced("t2s-merge", "F[i] = B[i] F:merge_ures()", "F[i] = B[i]")
traced("t2s-depth", "F[i] = B[i] F:set_min_depth(B, F, 4)",
  "F[i] = B[i] local G = t2s.Func 'G' F:isolate_producer_chain(B, G) G:set_min_depth(B, F, 4)")
traced("t2s-depth", "F[i] = B[i] local G = t2s.Func 'G' F:isolate_producer_chain(B, G) G:set_min_depth(B, F, 0)",
  "F[i] = B[i] local G = t2s.Func 'G' F:isolate_producer_chain(B, G) G:set_min_depth(B, F, 1)")
traced("t2s-buffer", "F[i] = B[i] F:buffer(B)",
  "F[i] = B[i] local G, H = t2s.Func 'G H' F:isolate_producer_chain(B, G, H) H:buffer(B)")
traced("t2s-assume", "F[i] = B[i] t2s.assume(i:eq(3))", "F[i] = B[i] t2s.assume(N:le(9))")
traced("t2s-assume", "F[i] = B[i] t2s.assume.divisible(N, 0)", "F[i] = B[i] t2s.assume.divisible(N, 2)")
traced("t2s-type", "F[i] = t2s.cast(3, B[i])", "F[i] = t2s.cast(i32, B[i])")

t.test("options of t2s.design", function()
  local y = rows(fed)
  for _, o in ipairs {{concrete = 3}, {depth = "least"}, {check = 1}, 3} do
    t.fails(function() t2s.design(y, {M = 4}, o) end, {code = "t2s-option"})
  end
  t.fails(function() t2s.design(y, 4) end, {code = "t2s-const"})
  t.ok(t2s.design(y, {M = 4}, {check = false, pipeline = false}))
end)

t.test("isolate: hosts among producers and consumers, as long as the far end of consumers is one", function()
  for _, places in ipairs {"d", "dd", "dddd", "h", "hd", "hh", "hhdd", "dhd", "hdhd"} do
    for _, kind in ipairs {"isolate_producer_chain", "isolate_consumer_chain"} do
      local y, memory = nil, 0
      y = rows(function(v)
        local list = {}
        for n = 1, #places do list[n] = Func("f" .. n, places:sub(n, n) == "h" and t2s.HOST or nil) end
        v.y[kind](v.y, kind:find "producer" and v.w or v.y, table.unpack(list))
      end)
      for n = 1, #places do
        if places:sub(n, n) == "h" or places:sub(n + 1, n + 1) == "h" then memory = memory + 1 end
      end
      local net, verdict = t2s.design(y, {M = 4})
      t.has(tostring(verdict), "proved: strict")
      t.eq(t2s.report(net).memory, memory, places .. " " .. kind)
      t.eq(t2s.report(net).channels, #places - memory, places .. " " .. kind)
    end
  end
end)

t.test("isolate: an operand read in two places names both", function()
  local e = t.fails(function() t2s.schedule(neighbours(true), {M = 2}) end, {code = "t2s-isolate"})
  t.eq(e.kind, "unsupported")
  t.has(e.message, "w[j], w[(j + 1)]")
  t.ok(t2s.schedule(neighbours(false), {M = 2}))
end)

t.done()
