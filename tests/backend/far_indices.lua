-- [slow] Indices near where 64 bits end: loops, splits and arithmetic are defined in C, the same by libtcc
-- and the system's compiler, and as the reference run has them wherever that has a result.
local tide = require "tide"
local t = require "tap"
local batch = require "c_batch"
local i8, i32, i64, index = tide.i8, tide.i32, tide.i64, tide.index

local MOST <const>, LEAST <const> = math.maxinteger, math.mininteger

-- Copies of arguments.
local function copies(args)
  local list = {}
  for i, v in ipairs(args) do list[i] = type(v) == "userdata" and v:copy() or v end
  return list
end

-- What a run leaves in its first argument, or its code.
local function ends(run, args)
  args = copies(args)
  local passed, e = pcall(run, table.unpack(args))
  if not passed and type(e) == "string" then error(e) end
  return passed and args[1]:table() or e.code
end

local n = 0

-- States that all runs of k agree on each list of arguments, and where the reference run has a
-- result, with it; those are run with UBSan too. Returns what the reference runs gave.
local function agree(k, lists)
  local tcc, cc = k:build {target = "cpu", tier = "tcc"}, k:build {target = "cpu", tier = "cc"}
  local all = {}
  for i, args in ipairs(lists) do
    local want = ends(function(...) k:reference(...) end, args)
    local got = ends(tcc, args)
    t.eq(ends(cc, args), got, "cc and tcc, " .. i)
    if type(want) == "table" then
      t.eq(got, want, "reference, " .. i)
      local after = copies(args)
      k:reference(table.unpack(after))
      n = n + 1
      batch.add("far " .. n, k, copies(args), after)
    end
    all[i] = want
  end
  return all
end

local function counted(step)
  return tide.kernel {name = "counted", A = i32[8], lo = index, hi = index, function(A, lo, hi)
    for i = lo, hi - 1, step do A[i % 8] = A[i % 8] + 1 end
  end}
end

-- Bounds of few iterations, or none.
local function bounds()
  local list = {{0, 5}, {-3, 4}, {MOST - 5, MOST}, {MOST - 4, MOST}, {MOST, MOST}, {LEAST, LEAST + 4},
    {LEAST, LEAST + 9}, {MOST, LEAST + 1}, {7, LEAST + 1}, {MOST - 1, -4}}
  for i, v in ipairs(list) do list[i] = {i32[8](0), v[1], v[2]} end
  return list
end

t.test("loops at both ends, of several steps", function()
  for _, step in ipairs {1, 2, 3, 7, 1 << 40} do
    for _, want in ipairs(agree(counted(step), bounds())) do t.eq(type(want), "table") end
  end
end)

t.test("split adds no overflow", function()
  for _, step in ipairs {1, 3} do
    for _, tail in ipairs {"guard", "cut"} do
      for _, factor in ipairs {2, 4, 100} do
        local k = counted(step)
        local s = tide.schedule(k)
        s:split("i", factor, {tail = tail})
        local want = agree(k, bounds())
        for i, args in ipairs(bounds()) do
          t.eq(ends(function(...) s:reference(...) end, args), want[i], ("%s %d, %d"):format(tail, factor, i))
        end
        agree(s, bounds())
      end
    end
  end
end)

t.test("split of a loop from a number on, whose end is passed or read", function()
  local function of(from)
    return tide.kernel {name = "of", A = i32[8], n = index, function(A, n)
      for i = from, n - 1 do A[i % 8] = A[i % 8] + 1 end
    end}
  end
  for _, from in ipairs {-2, 0, 3} do
    local s = tide.schedule(of(from)):split("i", 4)
    for i, v in ipairs {9, 0, -5, LEAST + 1, from} do
      local args = {i32[8](0), v}
      t.eq(ends(function(...) s:reference(...) end, args),
        ends(function(...) of(from):reference(...) end, args), i)
      agree(s, {args})
    end
  end
  local read = tide.kernel {name = "read", A = i32[8], p = i64[2], function(A, p)
    local lo, hi = index(p[0]), index(p[1])
    for i = lo, hi - 1 do A[i % 8] = A[i % 8] + 1 end
  end}
  local s = tide.schedule(read):split("i", 3)
  local lists = {}
  for i, v in ipairs {{0, 4}, {MOST - 2, MOST}, {MOST, LEAST + 1}} do
    lists[i] = {i32[8](0), tide.tensor(i64[2], v)}
  end
  local want = agree(read, lists)
  for i, args in ipairs(lists) do t.eq(ends(function(...) s:reference(...) end, args), want[i]) end
  agree(s, lists)
end)

t.test("arithmetic: the reference run ends where the others wrap", function()
  local k = tide.kernel {name = "k", A = i64[8], n = index, p = i64[1], function(A, n, p)
    local q = index(p[0])
    A[0] = n * 4
    A[1] = q * 3 - n
    A[2] = -n
    q = q + n
    A[3] = q
    A[(n - 3) % 8] = 5
    if n + 1 > n then A[7] = 9 end
  end}
  local lists = {}
  for i, v in ipairs {{4, 5}, {MOST, 1}, {LEAST, 1}, {1, MOST}, {LEAST // 4, 0}, {MOST // 4, -7}} do
    lists[i] = {i64[8](0), v[1], tide.tensor(i64[1], {v[2]})}
  end
  local want = agree(k, lists)
  t.eq(type(want[1]), "table")
  t.eq(want[2], "index-overflow")
  t.eq(want[3], "index-overflow")
  t.eq(want[4], "index-overflow")
  t.eq(type(want[6]), "table")
  local mixed = tide.kernel {name = "mixed", A = i32[4], n = index, p = i32[1], function(A, n, p)
    A[0] = i32(p[0] + i32(n))
    A[1] = i32(p[0] * i32(n - 1))
  end}
  agree(mixed, {{i32[4](0), 9, tide.tensor(i32[1], {-4})}, {i32[4](0), MOST, tide.tensor(i32[1], {7})}})
end)

t.test("conditions that a loop could end at", function()
  local k = tide.kernel {name = "k", A = i32[64], n = index, m = index, function(A, n, m)
    for i = 0, 63 do
      if i + n < m then A[i] = A[i] + 1 end
    end
  end}
  agree(k, {{i32[64](0), -9, 20}, {i32[64](0), 0, MOST}, {i32[64](0), MOST - 63, MOST},
    {i32[64](0), LEAST, LEAST + 7}, {i32[64](0), 5, LEAST}})
end)

t.test("loops without a known end look for Ctrl-C in chunks, in parallel too", function()
  local k = tide.kernel {name = "k", A = i8[1 << 20], n = index, function(A, n)
    tide.assume(n <= 1 << 20)
    for i = 0, n - 1, 3 do A[i] = 1 end
  end}
  local far = tide.kernel {name = "far", A = i8[1 << 20], n = index, function(A, n)
    for i = 0, n - 1, 3 do A[i % (1 << 20)] = 1 end
  end}
  for _, x in ipairs {k, far} do
    for _, tier in ipairs {"tcc", "cc"} do
      local A, B = i8[1 << 20](0), i8[1 << 20](0)
      x:build {target = "cpu", tier = tier}(A, 999999)
      for i = 0, 999998, 3 do B[i] = 1 end
      t.ok(A:equal(B))
    end
  end
  local s = tide.schedule(tide.kernel {name = "side", A = i8[1 << 20], n = index, function(A, n)
    for i = 0, n - 1 do A[i] = 1 end
  end})
  s:parallel "i"
  local A = i8[1 << 20](0)
  s:build {target = "cpu", tier = "cc"}(A, 70000)
  t.eq({A[69999], A[70000]}, {1, 0})
end)

t.test("views that data places, and what callees assume", function()
  local f = tide.kernel {name = "f", a = i32[4], b = i32[4], n = index, function(a, b, n)
    tide.assume(n >= 0, n < 4)
    for i = 0, 3 do a[i] = b[i] + a[n] end
  end}
  local k = tide.kernel {A = i32[4][4], p = i64[3], function(A, p) f(A[p[0]], A[p[1]], p[2]) end}
  local lists = {}
  for i, v in ipairs {{0, 1, 2}, {3, 0, 3}, {1, 1, 0}, {0, 1, MOST}} do
    lists[i] = {tide.random(i32[4][4], 1, {lo = 0, hi = 99}), tide.tensor(i64[3], v)}
  end
  local want = agree(k, lists)
  t.eq({want[3], want[4]}, {"overlap", "assume"})
end)

batch.test("with UBSan and ASan: nothing found, the same results",
  "-g -O0 -fsanitize=address,undefined -fno-sanitize-recover=all")
t.done()
