-- dataflow.lua - dataflow: stages to tasks, the tensors between them to streams of blocks.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, f32, grid = tide.i32, tide.f32, tide.grid

-- Two products in a row; `turn` has the second one read columns.
local function products(z)
  local M, N, P = z.M or 3, z.N or 4, z.P or 2
  return tide.kernel {A = i32[M][N], D = i32[N][P], E = i32[M][P], function(A, D, E)
    local C = i32[M][N](1)
    for i, j in grid(M, N, "first") do C[i][j] = C[i][j] + A[i][j] * 3 end
    for i, j in grid(M, P, "second") do
      for k = 0, N - 1 do E[i][j] = E[i][j] + C[i][k] * D[k][j] end
    end
  end}, {i32[M][N], i32[N][P], i32[M][P]}
end

prim.accepted("two loops", {
  of = products, step = {"dataflow"}, other = {{M = 1, N = 5, P = 3}},
  has = {
    "block = true", "d.first = tide.task {", "d.second = tide.task {", "C_s:slot()", "C_s:get()",
  },
}, function(_, stream, first, second)
  t.eq({stream, first, second}, {"C_s", "first", "second"})
end)
prim.accepted("calls, one kernel twice", {
  of = function()
    local twice = tide.kernel {a = i32[5], b = i32[5], function(a, b)
      for i = 0, 4 do b[i] = a[i] * 2 end
    end}
    return tide.kernel {x = i32[5], y = i32[5], function(x, y)
      local u, v = i32[5](), i32[5]()
      twice(x, u)
      twice(u, v)
      y:set(v + 1)
    end}, {i32[5], i32[5]}
  end,
  step = {"dataflow"}, has = {"d.twice = ", "d.twice_1 = "},
})
t.test("buffers that are handed over keep their banks", function()
  local double = tide.kernel {a = i32[6], b = i32[6], function(a, b)
    for i = 0, 5 do b[i] = a[i] * 2 end
  end}
  local k = tide.kernel {x = i32[6], y = i32[6], function(x, y)
    local u = i32[6]()
    double(x, u)
    double(u, y)
  end}
  local s = tide.schedule(k):partition("u", 0, {factor = 3}):dataflow()
  t.has(tostring(s), "local u = u_s:slot() --@ partition(0, cyclic, 3)")
  t.has(tostring(s), "local u = u_s:get() --@ partition(0, cyclic, 3)")
  t.eq(s:verify(), "strict")
  t.has(s:build {target = "hls", tool = false}.source, "variable=b type=cyclic dim=1 factor=3")
end)
prim.accepted("two readers of one tensor", {
  of = function()
    return tide.kernel {a = f32[4], y = f32[4], z = f32[4], function(a, y, z)
      local s = f32[4]()
      for i = 0, 3 do s[i] = a[i] * 0.5 end
      for i = 0, 3 do y[i] = s[3 - i] end
      for i = 0, 3 do z[i] = s[i] + 1 end
    end}, {f32[4], f32[4], f32[4]}
  end,
  step = {"dataflow"}, has = {"s_s:put(s)", "s_s_1:put(s)"},
})
prim.accepted("the body of a loop", {
  of = function(z)
    local N = z.N or 4
    return tide.kernel {A = i32[3][N], y = i32[3][N], function(A, y)
      for r = 0, 2 do
        local row = i32[N]()
        for i = 0, N - 1 do row[i] = A[r][i] * A[r][i] end
        for i = 0, N - 1 do y[r][i] = row[N - 1 - i] + row[i] end
      end
    end}, {i32[3][N], i32[3][N]}
  end,
  step = {"dataflow", "r"}, other = {{N = 1}},
})
prim.accepted("a tensor of one stage goes there", {
  of = function()
    return tide.kernel {a = i32[4], b = i32[4], function(a, b)
      local one, two = i32[4](7), i32[4]()
      for i = 0, 3 do one[i] = one[i] + a[i] end
      for i = 0, 3 do two[i] = i end
      for i = 0, 3 do b[i] = two[i] end
    end}, {i32[4], i32[4]}
  end,
  step = {"dataflow"},
})

prim.twins("a parameter between stages", {
  no = true, yes = false, code = "shared", step = {"dataflow"}, match = "through a local tensor",
  of = function(direct)
    return tide.kernel {a = i32[4], b = i32[4], c = i32[4], function(a, b, c)
      if direct then
        for i = 0, 3 do b[i] = a[i] + 1 end
        for i = 0, 3 do c[i] = b[i] * 2 end
      else
        local m = i32[4]()
        for i = 0, 3 do m[i] = a[i] + 1 end
        for i = 0, 3 do c[i] = m[i] * 2 end
      end
    end}, {i32[4], i32[4], i32[4]}
  end,
})
prim.twins("two writers", {
  no = true, yes = false, code = "shared", step = {"dataflow"},
  of = function(twice)
    return tide.kernel {a = i32[4], c = i32[4], function(a, c)
      local m = i32[4](0)
      for i = 0, 3 do m[i] = a[i] + 1 end
      if twice then
        for i = 0, 3 do m[i] = m[i] * 2 end
      end
      for i = 0, 3 do c[i] = m[i] end
    end}, {i32[4], i32[4]}
  end,
})
prim.twins("a scalar between stages", {
  no = function()
    return tide.kernel {a = i32[4], c = i32[4], function(a, c)
      local top = a[0]
      for i = 0, 3 do c[i] = a[i] - top end
    end}
  end,
  yes = function()
    return tide.kernel {a = i32[4], c = i32[4], function(a, c)
      local top = i32[1]()
      top[0] = a[0]
      for i = 0, 3 do c[i] = a[i] - top[0] end
    end}
  end,
  code = "scalar", step = {"dataflow"},
  of = function(make) return make(), {i32[4], i32[4]} end,
})
prim.twins("a dependence from a stage to an earlier one of the next iteration", {
  no = true, yes = false, code = "shared", step = {"dataflow", "r"},
  of = function(back)
    return tide.kernel {a = i32[4], c = i32[4], function(a, c)
      for r = 0, 3 do
        local m = i32[1]()
        if back then
          for i = 0, 0 do m[i] = a[r] + c[3 - r] end
        else
          for i = 0, 0 do m[i] = a[r] end
        end
        for i = 0, 0 do c[r] = m[i] end
      end
    end}, {i32[4], i32[4]}
  end,
})
prim.refused("nothing to take apart", {
  of = function() return tide.kernel {_ = i32[4], function(_) end}, {i32[4]} end,
  step = {"dataflow"}, kind = "usage", code = "stages",
})

t.done()
