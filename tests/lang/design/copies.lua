-- [slow] Blocks that several instances hold and write, because their layout leaves out an axis of the map:
-- each has a copy, loaded at the start; the first is stored, and the others must be equal to it.
local tide = require "tide"
local t = require "tap"
local collect = require "collect"
local i32, f32, f16, grid, task = tide.i32, tide.f32, tide.f16, tide.grid, tide.task

local function runner(p, way)
  if way == "reference" then return function(...) p:reference(...) end end
  return way == "hls" and p:build {target = "hls"} or p:build {target = "cpu", tier = way}
end

-- Runs p twice in each of these ways on copies of inputs; what the reference leaves, and all.
local function same(p, list, ...)
  local want
  for _, way in ipairs {"reference", table.unpack(list)} do
    local args = collect.copies(...)
    local f = runner(p, way)
    for _ = 1, 2 do f(table.unpack(args)) end
    want = want or args
    for k = 1, #args do t.ok(args[k]:equal(want[k]), way .. ": " .. tostring(args[k])) end
  end
  return table.unpack(want)
end

t.test("every layout of a matrix on a grid of two axes, read and written in place", function()
  for _, layout in ipairs {"RR", "S0R", "RS0", "S1R", "RS1", "S0S1", "S1S0"} do
    local top = tide.design(function(d)
      d.pe = task {map = {2, 3}, A = i32[6][6]:layout(layout), B = i32[6][6]:layout(layout), function(A, B)
        for r, c in grid(#A, 6 * 6 // #A) do
          if c < 2 then B[r][c] = B[r][c] * 2 + A[r][c] end
        end
      end}
    end)
    same(top, {"tcc", "cc", "hls"}, tide.random(i32[6][6], 1), tide.random(i32[6][6], 2))
  end
end)

t.test("one kernel that is given copies here, and its own block there", function()
  local add = tide.kernel {X = i32[2][4], function(X) for i, j in grid(2, 4) do X[i][j] = X[i][j] + 10 * i + j end end}
  local top = tide.design(function(d)
    d.copied = task {map = {2}, A = i32[2][4]:layout "RR", function(A) add(A) end}
    d.own = task {map = {2}, B = i32[2][8]:layout "RS0", function(B) add(B) end}
  end)
  local outer = tide.kernel {A = i32[2][3][4], B = i32[2][8][2], function(A, B)
    top(A:slice({}, 1, {}), B:slice({}, {}, 1))
  end}
  same(outer, {"tcc", "cc"}, tide.random(i32[2][3][4], 3), tide.random(i32[2][8][2], 4))
end)

t.test("copies of floats are equal by their bits", function()
  for _, T in ipairs {f32, f16, tide.f64} do
    local function top(differ)
      return tide.design(function(d)
        d.pe = task {map = {2}, A = T[3]:layout "R", B = T[3]:layout "R", function(A, B, i)
          for k in grid(3) do B[k] = A[k] / A[k] end
          if differ then
            if i > 0 then B[2] = -B[2] end
          end
        end}
      end, {check = false})
    end
    local A = tide.tensor(T[3], {0, 1, 2})
    same(top(false), {"tcc", "cc", "hls"}, A, T[3](0))
    for _, way in ipairs {"reference", "tcc", "cc"} do
      local e = t.fails(function() runner(top(true), way)(A, T[3](0)) end, {kind = "illegal", code = "copies-differ"})
      t.has(tostring(e), "pe[1]")
    end
  end
end)

t.done()
