-- fuzz_library.lua - kernels of a library in the place of nests, and arrays of other types: what
-- tests/fuzz found to go wrong, each cut to its smallest.
local t = require "tap"
local tide = require "tide"
local i16, i32, f32 = tide.i16, tide.i32, tide.f32

-- States that a schedule is its kernel, and that it loads and replays as it is.
local function is_sound(s, kernel)
  t.eq(tostring(load(tostring(s))()), tostring(s))
  t.eq(tostring(load(s:log())(kernel)), tostring(s))
  t.eq(s:verify(), "strict")
end

t.test("a library may call what the program has already", function()
  local row = tide.kernel {name = "row", A = i32[4], function(A)
    for j = 0, 3 do A[j] = A[j] + 1 end
  end}
  local lib = tide.kernel {name = "lib", A = i32[5][4], function(A)
    for i = 0, 4 do row(A[i]) end
  end}
  local top = tide.kernel {name = "top", A = i32[5][4], B = i32[4], function(A, B)
    for i = 0, 4 do row(A[i]) end
    row(B)
  end}
  local s = tide.schedule(top)
  s:inject("i", lib)
  is_sound(s, top)
  local A, B = i32[5][4](), i32[4]()
  for i = 0, 3 do
    B[i] = i
    for k = 0, 4 do A[k][i] = k end
  end
  load(tostring(s))()(A, B)
  t.eq(A[3][2], 3 + 1)
  t.eq(B[2], 3)
end)

t.test("a tile may not stick out of its array", function()
  local M = 7
  local top = tide.kernel {name = "top", A = i32[M], function(A)
    for i = 0, M - 1 do A[i] = 7 end
  end}
  local guarded = tide.kernel {name = "lib", A = i32[3], n = tide.index, function(A, n)
    for i = 0, 2 do
      if n * 3 + i < 7 then A[i] = 7 end
    end
  end}
  local plain = tide.kernel {name = "lib", A = i32[3], function(A)
    for i = 0, 2 do A[i] = 7 end
  end}
  local s = tide.schedule(top)
  s:split("i", 3)
  t.fails(function() s:inject("i_i", guarded) end, {code = "operands", match = "stick out"})
  s = tide.schedule(top)
  s:split("i", 3, {tail = "cut"})
  s:inject("i_i", plain)
  is_sound(s, top)
end)

t.test("sizes that only a tile depends on are assumed", function()
  local M = 5
  local top = tide.kernel {name = "top", A = i32[M], B = i32[4], c = tide.u8[4], function(A, B, c)
    for i = 0, 3 do B[i] = A[c[i] % 5] end
  end}
  local lib = tide.kernel {name = "lib", A = i32[5], B = i32[4], c = tide.u8[4], function(A, B, c)
    for i = 0, 3 do B[i] = A[c[i] % 5] end
  end}
  local s = tide.schedule(top)
  s:inject("i", lib)
  t.has(tostring(s), "tide.assume(M == 5)")
end)

t.test("sizes that what the nest calls depends on are assumed", function()
  local M, N = 7, 5
  local top = tide.kernel {name = "top", A = i32[M][N], function(A)
    for i = 0, M - 1 do
      for j = 0, N - 1 do A[i][j] = i end
    end
  end}
  local s = tide.schedule(top)
  s:unfold("j", {0})
  local lib = tide.kernel {name = "lib", A = i32[7][5], function(A)
    for i = 0, 6 do
      for j = 0, 4 do A[i][j] = i end
    end
  end}
  s:inject("i", lib)
  t.has(tostring(s), "tide.assume(N == 5)")
  t.eq(s:verify(), "strict")
end)

-- The diagonal of the first 4 x 4 elements, as a kernel whose rows come in vectors of n.
local function diagonal(n)
  return load(([[
    local tide = require "tide"
    return tide.kernel {name = "lib",
      A = tide.f32[4][4], --@ lanes(%d)
      function(A) for j = 0, 3 do A[j][j] = 0.0 end end}
  ]]):format(n))()
end

t.test("an operand that is copied is written whole", function()
  local function schedule(columns)
    return tide.schedule(tide.kernel {name = "top", A = f32[6][columns], function(A)
      for j = 0, 3 do A[j][j] = 0.0 end
    end})
  end
  local s = schedule(8)
  s:inject("j", diagonal(2))
  t.eq(s:verify(), "strict")
  t.fails(function() schedule(7):inject("j", diagonal(2)) end, {kind = "illegal"})
end)

t.test("elements that were never written are not copied for a library", function()
  local lib = load([[
    local tide = require "tide"
    return tide.kernel {name = "lib",
      b = tide.i32[2][2], --@ order("a -> a/2 a%2")
      function(b) for j = 0, 2 do b[j // 2][j % 2] = b[(j + 1) // 2][(j + 1) % 2] end end}
  ]])()
  local function schedule(first)
    return tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {name = "top", A = tide.i32[4], function(A)
        local b = tide.i32[4]()
        for i = %d, 3 do b[i] = A[i] end
        for j = 0, 2 do b[j] = b[j + 1] end
        for k = 0, 3 do A[k] = b[k] end
      end}]]):format(first))())
  end
  t.fails(function() schedule(1):inject("j", lib) end, {code = "operands", match = "never written"})
end)

t.test("an array goes in favour of one that is declared later", function()
  local top = tide.kernel {name = "top", A = i16[6], function(A)
    local b = i16[6]()
    for i = 0, 5 do b[i] = A[5 - i] end
    local c = i16[2][3]()
    for j = 0, 5 do c[j // 3][j % 3] = b[j] end
    for k = 0, 5 do A[k] = c[k // 3][k % 3] end
  end}
  local s = tide.schedule(top)
  s:collapse "b"
  t.ok(not tostring(s):find("local b", 1, true))
  is_sound(s, top)
  local function filled(with)
    return tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {name = "top", A = tide.i16[6], function(A)
        local b = tide.i16[6]()
        for i = 0, 5 do b[i] = A[5 - i] end
        local c = tide.i16[6](%s)
        for j = 0, 5 do c[j] = b[j] end
        for k = 0, 5 do A[k] = c[k] end
      end}]]):format(with))())
  end
  s = filled "3"
  s:collapse "b"
  t.eq(s:verify(), "strict")
end)

t.test("literals take the new type of what they fill", function()
  local top = tide.kernel {name = "top", A = i16[6], function(A)
    local b = i16[6](3)
    A:set(2)
    for i = 0, 5 do A[i] = A[i] + b[i] end
    A[0] = 0
  end}
  for _, name in ipairs {"A", "b"} do
    local s = tide.schedule(top)
    s:retype(name, tide.i64)
    is_sound(s, top)
    s = tide.schedule(top)
    s:retype(name, tide.f32)
    is_sound(s, top)
  end
end)

t.test("a literal that the new type has no value for keeps an array from it", function()
  local function schedule(value)
    return tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {name = "top", A = tide.f32[4], function(A)
        local b = tide.f32[4](0)
        b[0] = %s
        for i = 0, 3 do A[i] = b[i] end
      end}]]):format(value))())
  end
  t.fails(function() schedule "51.875":retype("b", tide.int(5)) end, {code = "type", match = "value"})
  local s = schedule "3.875"
  s:retype("b", tide.int(5))
  t.eq(s:verify(), "strict")
end)

t.test("a loop after what is refused is not looked at", function()
  local s = tide.schedule(tide.kernel {name = "top", A = f32[4], n = tide.index, function(A, n)
    A[n] = 1
    for i = 0, n do A[0] = i end
  end})
  t.fails(function() s:retype("n", tide.u8) end, {code = "type"})
end)

t.test("a scalar that a design hands on to its task takes the new type with it", function()
  local top = tide.kernel {name = "top", A = tide.i8[4], D = i32[4], function(A, D)
    for i = 0, 1 do
      local x = A[0]
      for j = 0, 3 do D[j] = D[j] + x end
    end
  end}
  local s = tide.schedule(top)
  s:unfold "j"
  s:retype("top_j:x", i32)
  t.has(tostring(s), "local x = d:arg(i32)")
  is_sound(s, top)
end)

t.test("an index keeps its type", function()
  local function schedule(body)
    return tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {A = tide.i32[8], n = tide.index, m = tide.index, function(A, n, m)
        %s
      end}]]):format(body))())
  end
  for _, body in ipairs {"A[n] = 1", "A[0] = A[n + 1]", "for i = 0, n do A[0] = 1 end"} do
    t.fails(function() schedule(body):retype("n", tide.u8) end, {code = "type", match = "an index"})
  end
  local s = schedule "A[0] = n"
  s:retype("n", tide.u8)
  t.eq(s:verify(), "strict")
end)

t.test("an argument of a called design takes the new type with the array", function()
  local top = tide.kernel {name = "top", A = i32[4], B = i32[4], function(A, B)
    for i = 0, 3 do B[i] = A[i] + 1 end
    for i = 0, 3 do A[i] = B[i] * 2 end
  end}
  for _, name in ipairs {"B", "top_i:B"} do
    local s = tide.schedule(top)
    s:unfold "i#1"
    s:retype(name, i16)
    t.has(tostring(s), "local B = d:arg(i16[4])")
    is_sound(s, top)
  end
end)

t.test("a kernel does not take the place of a nest in it", function()
  local function kernel(name)
    return tide.kernel {name = name, X = f32[7], function(X)
      for i = 0, 6 do X[i] = f32(X[i] * X[6 - i]) end
    end}
  end
  local inner = kernel "inner"
  local twice = tide.kernel {name = "twice", X = f32[7], function(X)
    inner(X)
    for i = 0, 6 do X[i] = f32(X[i] * X[6 - i]) end
  end}
  local s = tide.schedule(twice)
  local ok, e = s:can("inject", "inner:i", inner)
  t.ok(not ok)
  t.eq(e.kind, "illegal")
  t.eq(e.code, "recursion")
  t.has(tostring(e), "'inner' would call itself")
  t.ok((s:can("inject", "inner:i", kernel "other")))
  s:inject("i", inner)
  is_sound(s, twice)
end)

t.done()
