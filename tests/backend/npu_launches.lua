-- [slow] npu_launches.lua - several designs that one host program runs, one after the other: bits of the CPU, both
-- texts the same, mlir-opt; what is no host program is refused.
local npu = require "tide.npu"
local npu_case = require "npu_case"
local shell = require "shell"
local t = require "tap"
local tide = require "tide"
local i16, i32, f32, bf16 = tide.i16, tide.i32, tide.f32, tide.bf16

npu_case.case("N12: launches of designs by one host program, what is between them stays on the device", {
  design = [[local M, N, K = 2 * z.m, 2 * z.n, z.K
    local $first = tide.design(function(d)
      d.mm = task {map = {2, 2}, A = T[M][K]:layout "S0R", B = T[K][N]:layout "RS1", C = R[M][N]:layout "S0S1",
        function(A, B, C)
          local o = R[M // 2][N // 2]()
          o:set(tide.matmul(A, B, {acc = R}))
          for i, j in grid(M // 2, N // 2) do C[i][j] = o[i][j] end
        end}
    end)
    local second = tide.design(function(d)
      d.$scale = task {map = {2}, X = R[M][N]:layout "S0R", by = R, Y = R[M][N]:layout "S0R", function(X, by, Y)
        for i, j in grid(M // 2, N) do Y[i][j] = R(X[i][j] * by - 1) end
      end}
    end)
    return tide.kernel {
      name = "$chain", $A = T[M][K], B = T[K][N], by = R, Y = R[M][N],
      function($A, B, by, Y)
        local $t = R[M][N]()
        $first($A, B, $t)
        second($t, by, Y)
        for _ in grid(z.turns) do
          second(Y, by, $t)
          second($t, by, Y)
        end
      end,
    }]],
  types = function(z)
    return {z.T[2 * z.m][z.K], z.T[z.K][2 * z.n], 3, z.R[2 * z.m][2 * z.n]}
  end,
  sizes = {{T = i16, R = i32, m = 4, n = 4, K = 8, turns = 1},
    {T = i16, R = i32, m = 2, n = 6, K = 4, turns = 2, first = "second_1", scale = "main", A = "X", t = "between"},
    {T = bf16, R = f32, m = 3, n = 2, K = 6, turns = 1, chain = "main", first = "main"}},
  devices = {"npu1", "npu2"},
})

-- A host program of this body, on arrays A to D and a design `add` that adds 1, and the types of its arguments.
local function program(body)
  return load(([[local tide = ...
    local task, grid = tide.task, tide.grid
    local add = tide.design(function(d)
      d.plus = task {x = tide.i32[4], y = tide.i32[4], function(x, y)
        local a, b = tide.i32[4](), tide.i32[4]()
        for i in grid(4) do a[i] = x[i] end
        for i in grid(4) do b[i] = a[i] + 1 end
        for i in grid(4) do y[i] = b[i] end
      end}
    end)
    return tide.kernel {A = tide.i32[4], B = tide.i32[4], C = tide.i32[4], D = tide.i32[4], function(A, B, C, D)
      BODY
    end}]]):gsub("BODY", body), "=program")(tide), {i32[4], i32[4], i32[4], i32[4]}
end

t.test("N12: host programs that do more than launch, parts of arrays, too many arrays", function()
  local calls = "local t = tide.i32[4]() add(A, t) add(t, B) add(B, C) add(C, D)"
  for body, what in pairs {
    ["add(A, B) for i in grid(4) do C[i] = B[i] * 2 end"] = {"npu-form", "does more than call designs"},
    ["local t = tide.i32[4](0) add(A, t) add(t, B)"] = {"npu-form", "does more than call designs"},
    ["local t = tide.i32[2][4]() add(A, t[1]) add(t[1], B)"] = {"npu-form", "a part of an array"},
    ["B:set(A)"] = {"npu-form", "does more than call designs"},
    [calls .. " local u = tide.i32[4]() add(D, u) add(u, D)"] = {"npu-limit", "at most 5 arrays, not 6"},
  } do
    local e = t.fails(function() program(body):build {target = "npu"} end, {code = what[1]})
    t.has(tostring(e), what[2])
  end
  local p, types = program(calls)
  npu_case.same(p, types, {tool = false})
end)

t.test("N12: texts of launches that are corrupt", function()
  local folder = t.tmp "npu_launches"
  local p = program "local t = tide.i32[4]() add(A, t) add(t, B)"
  local m = p:build {target = "npu", tool = false}
  m:write(folder)
  local text = m.source
  local kernels = shell.read(folder .. "/kernels.cc")
  local function open(changed)
    t.ok(changed ~= nil)
    shell.plant(folder, {["design.mlir"] = changed, ["design.generic.mlir"] = changed, ["kernels.cc"] = kernels})
    return npu.open(folder)
  end
  for from, change in pairs {
    ["@add {"] = {"@other {", "names no device"},
    ["@sequence%(%%A%w*, %%t%)"] = {"@begin(%%A, %%t)", "names no sequence"},
    ["@sequence%(%%t, %%B%w*%)"] = {"@sequence(%%t)", "other arguments"},
  } do
    local changed = text:gsub("aiex.configure " .. from, "aiex.configure " .. change[1], 1)
    changed = changed == text and text:gsub(from, change[1], 1) or changed
    if change[2] == "other arguments" then changed = changed:gsub("%(%%t%) : %(memref<4xi32>, ", "(%%t) : (") end
    t.ok(changed ~= text, from)
    t.has(tostring(t.fails(function() open(changed) end)), change[2])
  end
  local a, b, c, e = i32[4](5), i32[4](0), i32[4](0), i32[4](0)
  open(text)(a, b, c, e)
  t.eq(b[3], 7)
end)

t.done()
