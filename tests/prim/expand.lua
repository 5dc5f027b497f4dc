-- expand.lua - expand: statements on tensors become loops.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i32, f32, task = tide.i8, tide.i32, tide.f32, tide.task

-- A kernel of statements on tensors.
local function block(z)
  local M, N, K = z.M or 3, z.N or 4, z.K or 5
  local block = tide.kernel {A = i8[M][K], B = i8[K][N], C = i32[M][N], y = i32[M], function(A, B, C, y)
    local D = i32[M][N]()
    D:set(tide.matmul(A, B))
    C:set(D + C * 2)
    y:set(tide.reduce(C, "+", 1))
  end}
  return block, {i8[M][K], i8[K][N], i32[M][N], i32[M]}
end

prim.accepted("a product of one array", {
  of = block, step = {"expand", "D"}, other = {{M = 1, N = 2, K = 7}},
  has = {"C:set(D + C * 2)", "for k = 0, K - 1 do"},
}, function(_, mul, zeros) t.eq({mul, zeros}, {"i", "i0"}) end)
prim.accepted("all of a kernel", {of = block, step = {"expand", "block"}, other = {{M = 2, N = 2, K = 1}}},
  function(s) t.ok(not tostring(s):find "set") end)
prim.accepted("sums of rows", {of = block, step = {"expand", "y"}})
prim.accepted("floats, k ascending", {
  of = function()
    return tide.kernel {A = f32[3][4], x = f32[4][2], y = f32[3][2], function(A, x, y)
      local part = y * 2.0
      y:set(part + tide.matmul(A, x))
    end}, {f32[3][4], f32[4][2], f32[3][2]}
  end,
  step = {"expand", "y"},
})
prim.accepted("a task whose parts are summed", {
  of = function()
    return tide.design(function(d)
      d.gemm = task {
        map = {2, 2}, A = i8[4][6]:layout "S0S1", B = i8[6][4]:layout "S1R", C = i32[4][4]:layout "S0R",
        function(A, B, C) C:set(tide.allreduce(tide.matmul(A, B), "+", {axis = 1})) end,
      }
    end), {i8[4][6], i8[6][4], i32[4][4]}
  end,
  before = function(s) s:bundle("gemm", {axis = 1}):chain("gemm", "gemm_allreduce") end,
  step = {"expand", "gemm_part"},
})
-- A task that puts tokens: `of` an expression of their elements, or an array that holds them.
local function putting(block, of)
  return load(([[local tide = ...
    return tide.design(function(d)
      local Z = d:stream(tide.f32[4][4], {block = BLOCK})
      d.from = tide.task {A = tide.f32[2][4][4], function(A)
        for i in tide.grid(2) do
          local x = tide.f32[4][4]()
          for r, c in tide.grid(4, 4) do x[r][c] = A[i][r][c] end
          Z:put(OF)
        end
      end}
      d.to = tide.task {B = tide.f32[2][4][4], function(B)
        for i in tide.grid(2) do
          local b = Z:get()
          for r, c in tide.grid(4, 4) do B[i][r][c] = b[r][c] end
        end
      end}
    end)]]):gsub("%u%u+", {BLOCK = tostring(block), OF = of}), "=putting")(tide), {f32[2][4][4], f32[2][4][4]}
end
prim.accepted("a token that is put, in an array first", {
  of = function() return putting(false, "tide.matmul(x, x) * 2") end, step = {"expand", "from"},
  has = {"local Z_out = f32[4][4]()", "Z:put(Z_out)"},
})
prim.accepted("a block that is put, in the slot", {
  of = function() return putting(true, "x + 1") end, step = {"expand", "from"}, has = {"local Z_out = Z:slot()"},
})
prim.twins("a token that an array holds", {
  of = function(of) return putting(false, of) end, no = "x", yes = "x + x", kind = "usage", code = "no-tensor",
  step = {"expand", "from"},
})
prim.refused("an array that loops set", {
  of = prim.shape.gemm, step = {"expand", "C"}, kind = "usage", code = "no-tensor",
})
prim.refused("a kernel of loops", {
  of = prim.shape.scale, step = {"expand", "scale"}, kind = "usage", code = "no-tensor",
})
prim.refused("what is none", {of = block, step = {"expand", "Z"}, kind = "usage", code = "no-unit"})
prim.refused("twice", {
  of = block, before = function(s) s:expand "C" end, step = {"expand", "C"}, kind = "usage", code = "no-tensor",
})
prim.accepted("its twin, once", {of = block, step = {"expand", "C"}})

t.done()
