-- lookups.lua - proofs where data choose among the elements of an array: each read is a choice among
-- all that it could mean.
local t = require "tap"
local tide = require "tide"
local i8, u8, i32, grid = tide.i8, tide.u8, tide.i32, tide.grid
local N = 5

-- A table of n elements.
local function squares(n)
  local list = {}
  for i = 1, n do list[i] = (i - 1) * (i - 1) end
  return tide.tensor(i32[n], list)
end

-- B = f(A), elements of A being indices of a table.
local function through(look)
  return tide.kernel {name = "through", A = u8[N], B = i32[N], function(A, B)
    for i in grid(N) do B[i] = look(A[i]) end
  end}
end

local table_of = squares(256)
local plain = through(function(x) return table_of[x] end)

t.test("a table read at what an argument holds", function()
  local s = tide.schedule(plain):split("i", 2):unroll("i_i", {replace = true})
  local level, verdict = s:verify()
  t.eq(level, "strict", tostring(verdict))
  t.eq(tide.verify(plain, through(function(x) return table_of[x] end)), "strict")
end)

t.test("another index, another element, a table of other elements: they differ", function()
  local changed = squares(256)
  changed[17] = -1
  for _, look in ipairs {function(x) return table_of[255 - x] end, function(x) return changed[x] end,
    function(x) return table_of[x] + 1 end} do
    local level, verdict = tide.verify(plain, through(look))
    t.eq(level, nil)
    t.has(tostring(verdict), "differs")
  end
end)

t.test("an index among others, and two of them", function()
  local function kernel(order)
    return tide.kernel {name = "pick", A = i32[N], B = i32[3][4], C = i32[N], function(A, B, C)
      for n in grid(N) do
        local i = order and n or N - 1 - n
        C[i] = B[A[i] % 3][2] + B[A[i] % 3][A[(i + 1) % N] % 4]
      end
    end}
  end
  t.eq(tide.verify(kernel(true), kernel(false)), "strict")
end)

t.test("an array that the program writes before", function()
  local function kernel(by)
    return tide.kernel {name = "rank", A = u8[N], B = i32[N], function(A, B)
      local T = i32[256]()
      for i in grid(256) do T[i] = i * by end
      for i in grid(N) do B[i] = T[A[i]] end
    end}
  end
  t.eq(tide.verify(kernel(3), kernel(3)), "strict")
  t.eq(tide.verify(kernel(3), kernel(5)), nil)
  local s = tide.schedule(kernel(3)):unroll("i#1", 4)
  t.eq(s:verify(), "strict")
end)

t.test("not decided: an element that was not written, a store to a place that data choose", function()
  local some = tide.kernel {A = u8[N], B = i32[N], function(A, B)
    local T = i32[256]()
    for i in grid(200) do T[i] = i end
    for i in grid(N) do B[i] = T[A[i]] end
  end}
  local store = tide.kernel {A = u8[N], H = i32[256], function(A, H)
    for i in grid(N) do H[A[i]] = 1 end
  end}
  for _, k in ipairs {some, store} do
    local level, verdict = tide.schedule(k):verify()
    t.eq(level, nil)
    t.has(tostring(verdict), "not decided: an index depends on symbolic values")
  end
end)

t.test("what a run says of an index out of range is as before", function()
  local k = tide.kernel {A = i8[N], B = i32[N], function(A, B)
    for i in grid(N) do B[i] = table_of[A[i]] end
  end}
  local e = t.fails(function() k:reference(tide.tensor(i8[N], {1, 2, -3, 4, 5}), i32[N]()) end,
    {code = "index-out-of-range"})
  t.has(e.message, "-3 in dimension 0 of table_of")
end)

t.done()
