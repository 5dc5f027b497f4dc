-- cpu_loops.lua - a loop whose body is an `if` that holds up to some iteration ends there in C;
-- others stay as they are. All compute what the reference run does.
local tide = require "tide"
local t = require "tap"
local programs = require "programs"
local i32 = tide.i32

-- The C of a kernel, which runs on random arguments as in all other ways.
local function source(k, ...)
  programs.same(k, ...)
  return k:build {target = "cpu"}.source
end

local function row(n, seed) return tide.random(i32[n], seed, {lo = 0, hi = 9}) end

t.test("the guard of a tail becomes the bound", function()
  local function guarded(m)
    return tide.kernel {A = i32[20], B = i32[20], function(A, B)
      for o = 0, 2 do
        for i = 0, 7 do
          if o * 8 + i < m then B[o * 8 + i] = A[o * 8 + i] + B[o * 8 + i] end
        end
      end
    end}
  end
  for _, m in ipairs {0, 1, 8, 13, 20} do
    local text = source(guarded(m), row(20, 1), row(20, 2))
    t.has(text, "td_min_i64(8, ")
    t.eq(text:find("if (", 1, true), nil, text)
  end
end)

t.test("a guard in a guard", function()
  local text = source(tide.kernel {A = i32[6][7], function(A)
    for i = 0, 9 do
      if i < 6 then
        for j = 0, 9 do
          if j + i < 7 then A[i][j] = A[i][j] + i end
        end
      end
    end
  end}, tide.random(i32[6][7], 3, {lo = 0, hi = 9}))
  t.eq(text:find("if (", 1, true), nil, text)
end)

-- Conditions that are no bound: the loop keeps its `if`.
local kept = {
  ["of what the body changes"] = tide.kernel {A = i32[10], function(A)
    for o = 0, 3 do
      local n = o
      for i = 0, 9 do
        if i < n then
          A[i] = A[i] + 1
          n = n + 2
        end
      end
    end
  end},
  ["from some iteration on"] = tide.kernel {A = i32[10], function(A)
    for i = 0, 9 do
      if 4 < i then A[i] = A[i] + 1 end
    end
  end},
  ["with an else"] = tide.kernel {A = i32[10], function(A)
    for i = 0, 9 do
      if i < 4 then A[i] = A[i] + 1 else A[i] = A[i] * 2 end
    end
  end},
  ["every second"] = tide.kernel {A = i32[10], function(A)
    for i = 0, 9 do
      if 2 * i < 9 then A[i] = A[i] + 1 end
    end
  end},
  ["of memory"] = tide.kernel {A = i32[10], function(A)
    for i = 0, 9 do
      if i < A[0] then A[i] = A[i] + 1 end
    end
  end},
}
for _, name in ipairs {"of what the body changes", "from some iteration on", "with an else",
  "every second", "of memory"} do
  t.test("a condition " .. name .. " stays", function()
    t.has(source(kept[name], row(10, 4)), "if (")
  end)
end

t.done()
