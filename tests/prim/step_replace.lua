-- replace: another program as the function of a node, which is proved to be the same.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, fn, grid = tide.f32, step.fn, tide.grid
local m, n = tide.size "m", tide.size "n"

local function silu(body)
  return tide.kernel { name = "own", a = f32[m][n], out = f32[m][n], body }
end
local good = silu(function(a, out)
  for j = 0, n - 1 do -- columns first
    for i = 0, m - 1 do out[i][j] = a[i][j] / (f32(1) + tide.exp(f32(0) - a[i][j])) end
  end
end)
local wrong = silu(function(a, out)
  for i, j in grid(m, n) do out[i][j] = a[i][j] / (f32(2) + tide.exp(f32(0) - a[i][j])) end
end)

local function product(K, reversed)
  return tide.kernel { name = "product", a = f32[4][K], b = f32[K][4], out = f32[4][4], function(a, b, out)
    for i, j in grid(4, 4) do
      out[i][j] = 0
      for q = 0, K - 1 do
        local p = tide.select(reversed, K - 1 - q, q)
        out[i][j] = out[i][j] + a[i][p] * b[p][j]
      end
    end
  end }
end

local function layer(D)
  local x, w = tide.random(f32[8][D], 1), tide.random(f32[D][4], 2)
  return step.graph(function()
    local weight = step.load(w, { tile = { D, 4 }, shape = { 2 }, stride = { 0 } })
    local y = step.load(x, { tile = { 4, D } }):flatten(0, 1):zip(weight):map(fn.matmul, { bw = 16 })
    return y:map(fn.silu)
  end)
end

t.test("a kernel that computes the same in another order of loops", function()
  for _, D in ipairs { 8, 6 } do
    local g = layer(D)
    local s = tide.schedule(g):replace("map", good)
    t.eq((s:verify()), "strict") -- proved again: in other graphs nobody knows of the step
    local a, b = g:run(), s:run()
    t.ok(a:equal(b))
    t.ok(tostring(s:graph()):find("data[", 1, true))
  end
end)

t.test("a product; its sum in another order with reassociate", function()
  local g = layer(8)
  local s = tide.schedule(g):replace("y", product(8, false))
  t.ok(s:run():equal((g:run())))
  local fork = tide.schedule(g)
  local ok, err = pcall(fork.replace, fork, "y", product(8, true))
  t.ok(not ok and err.code == "step-replace" and tostring(err):find("another order", 1, true), tostring(err))
  fork:replace("y", product(8, true), { reassociate = true })
  t.eq({ (s:verify()), (fork:verify()) }, { "strict", "associative" })
end)

t.test("graphs on kernels that are proved to be one function, or to be none of the other's", function()
  for _, size in ipairs { { 6, 3, 8 }, { 4, 2, 5 } } do
    local rows, part, D = table.unpack(size)
    local x = tide.random(f32[rows][D], 3)
    local function graph(f, fold)
      return step.graph(function()
        local y = step.load(x, { tile = { part, D } }):map(f):accum(fold, { rank = 1 })
        return y:reshape { chunk = rows // part }:scan(fold, { rank = 1 })
      end)
    end
    local function sum(order)
      return tide.kernel { name = "sum", s = f32[m][n], a = f32[m][n], out = f32[m][n], function(s, a, out)
        for i, j in grid(m, n) do out[i][j] = tide.select(order, a[i][j] + s[i][j], a[i][j] - s[i][j]) end
      end }
    end
    local want = graph(fn.silu, fn.add)
    t.eq((tide.verify(want, graph(good, sum(true)))), "strict")
    t.eq((tide.verify(graph(good, sum(true)), want)), "strict")
    for _, other in ipairs { graph(wrong, fn.add), graph(good, sum(false)), graph(fn.exp, sum(true)) } do
      local level, v = tide.verify(want, other)
      t.ok(level == nil and tostring(v):find("differs", 1, true), tostring(v))
    end
  end
end)

local function refused(words, ...)
  local s = tide.schedule(layer(8))
  local ok, err = pcall(s.replace, s, ...)
  t.ok(not ok and tostring(err):find(words, 1, true), tostring(err))
end

t.test("refused: another value, other parameters, other extents, what is no function", function()
  refused("is not fn.silu", "map", wrong)
  refused("has 2 parameters, and fn.matmul 3", "y", good)
  refused("product", "y", product(6, false))
  refused("is no map", "weight", good)
  refused("is not fn.silu", "map", silu(function(a, out) -- silu where all four rows are valid
    for i, j in grid(m, n) do
      out[i][j] = tide.select(m == 4, a[i][j] / (f32(1) + tide.exp(f32(0) - a[i][j])), a[i][j])
    end
  end))
  refused("has no node", "nothing", good)
end)

t.done()
