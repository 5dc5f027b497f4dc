-- [slow] Single faults in designs: a token lost, doubled, changed, reordered, sent elsewhere. Each is
-- refused when the design is made, or verify says that it is another program. What is a fault is
-- told by data: truth.lua.
local tide = require "tide"
local t = require "tap"
local truth = require "truth"
local mutate = require "mutate"
local i8, i16, i32, task = tide.i8, tide.i16, tide.i32, tide.task

-- Designs, the types of their arguments, and the inputs that steer them.
local designs = {}

function designs.pipe()
  return tide.design(function(d)
    local X, Y = d:stream(i32, {depth = 3}), d:stream(i32, {2, depth = 4})
    d.source = task {A = i32[12], function(A)
      for i = 0, 11 do X:put(A[i]) end
    end}
    d.middle = task {function()
      local last = i32(5)
      for _ = 0, 3 do
        local a, b, c = X:get(), X:get(), X:get()
        Y[0]:put(a - b + last)
        Y[1]:put(c)
        last = c
        Y[0]:put(b * 2)
      end
    end}
    d.sink = task {B = i32[4][3], function(B)
      for i = 0, 3 do
        B[i][0] = Y[0]:get()
        B[i][1] = Y[1]:get()
        B[i][2] = Y[0]:get()
      end
    end}
  end), {i32[12], i32[4][3]}
end

function designs.grid()
  return tide.design(function(d)
    local H, V = d:stream(i16, {2, 3, depth = 2}), d:stream(i16, {3, 2, depth = 2})
    d.west = task {A = i16[2][4], function(A)
      for k = 0, 3 do
        H[0][0]:put(A[0][k])
        H[1][0]:put(A[1][k])
      end
    end}
    d.north = task {B = i16[4][2], function(B)
      for k = 0, 3 do
        V[0][0]:put(B[k][0])
        V[0][1]:put(B[k][1])
      end
    end}
    d.pe = task {map = {2, 2}, C = (i32[2][2]):layout "S0S1", function(C, x, y)
      local sum = i32(0)
      for _ = 0, 3 do
        local a, b = H[x][y]:get(), V[x][y]:get()
        sum = sum + a * b
        H[x][y + 1]:put(a)
        V[x + 1][y]:put(b)
      end
      C[0][0] = sum
    end}
    d.east = task {map = {2}, function(x)
      for _ = 0, 3 do local _ = H[x][2]:get() end
    end}
    d.south = task {map = {2}, function(y)
      for _ = 0, 3 do local _ = V[2][y]:get() end
    end}
  end), {i16[2][4], i16[4][2], i32[2][2]}
end

function designs.ring()
  return tide.design(function(d)
    local R = d:stream(i32, {2, depth = 2})
    d.first = task {A = i32[5], B = i32[5], function(A, B)
      local held = i32(1)
      for i = 0, 4 do
        R[0]:put(held + A[i])
        held = R[1]:get()
        B[i] = held
      end
    end}
    d.second = task {C = i32[5], function(C)
      for i = 0, 4 do
        local v = R[0]:get()
        R[1]:put(v - C[i])
      end
    end}
  end), {i32[5], i32[5], i32[5]}
end

function designs.filter()
  return tide.design(function(d)
    local X, Y = d:stream(i32, {depth = 4}), d:stream(i32, {2, depth = 16})
    d.source = task {A = i32[10], function(A)
      for i = 0, 9 do X:put(A[i]) end
    end}
    d.split = task {function()
      for _ = 0, 9 do
        local v = X:get()
        if v > 0 then
          Y[0]:put(v - 1)
          Y[1]:put(1)
        else
          Y[0]:put(v)
          Y[1]:put(0)
        end
      end
    end}
    d.sink = task {B = i32[10], C = i32[10], function(B, C)
      for i = 0, 9 do
        B[i] = Y[0]:get()
        C[i] = Y[1]:get()
      end
    end}
  end), {i32[10], i32[10], i32[10]}, {concrete = {A = tide.random(i32[10], 9)}}
end

function designs.lanes()
  return tide.design(function(d)
    local Z = d:stream(i8, {2, depth = 3})
    d.spread = task {A = i8[6], B = i8[6], function(A, B)
      for i = 0, 5 do
        Z[0]:put(A[i] - B[i])
        Z[1]:put(A[i])
      end
    end}
    d.join = task {map = {2}, C = (i32[2]):layout "S0", function(C, l)
      local best, n = i32(0), i32(3)
      for _ = 0, 5 do
        local v = Z[l]:get()
        if v > best then best = v end
        n = n + v
      end
      C[0] = best * 1000 + n
    end}
  end), {i8[6], i8[6], i32[2]}
end

-- Faults of statements that no design can hold: they name what is not there.
local nonsense = {["rounded to f32"] = true, ["other array"] = true}

-- Faults without effect, and why.
local harmless = {
  ["tokens swapped"] = "the streams are not the same one, and have room",
  ["statements swapped"] = "they get from streams that are not the same one, and have room",
  ["tokens in reverse"] = "the loop's variable is not used",
  ["neighbour's stream"] = "both streams are emptied by tasks that drop what they get",
  ["put before what changes it"] = "the put does not use what is assigned",
  ["token cut to i8"] = "the stream is of i8, or the token is 0 or 1",
  ["token negated"] = "the token is 0",
  ["cut to i8"] = "the token is 0 or 1",
  ["guard one less"] = "values at which the guards differ are not drawn, or give the same",
  ["statement missing"] = "its value is never used again",
  ["operands swapped"] = "the operands are the same there",
}

local tally = {faults = 0, static = 0, alike = 0, kind = {}}

-- Runs of a design on arguments of these types.
local function runs_of(d, types)
  return truth.runs(d, function(seed)
    local list = {}
    for i, T in ipairs(types) do list[i] = tide.random(T, seed * 10 + i) end
    return list
  end)
end

-- One mutant of design d, which has these runs.
local function try(name, d, runs, options, m)
  local loaded, q = pcall(function() return load(m.text, "=mutant")() end)
  if not loaded then
    t.ok(q.kind == "illegal" or q.code == "unused-get", ("%s: %s: %s\n%s"):format(name, m.kind, q, m.text))
    tally.static = tally.static + 1
    return
  end
  local level, verdict = tide.verify(d, q, options)
  if not truth.differ(runs, q) then
    tally.alike = tally.alike + 1
    t.ok(harmless[m.kind], ("%s: %s changes nothing?\n%s"):format(name, m.kind, m.text))
    print(("# alike: %s, line %d: %s: %s"):format(name, m.line, m.kind, harmless[m.kind]))
    return
  end
  tally.faults = tally.faults + 1
  tally.kind[m.kind] = (tally.kind[m.kind] or 0) + 1
  t.ok(level == nil, ("%s: %s: verify says %s\n%s"):format(name, m.kind, level, m.text))
  t.has(tostring(verdict), "differs")
end

local names = {}
for name in pairs(designs) do names[#names + 1] = name end
table.sort(names)

for _, name in ipairs(names) do
  t.test("faults in the tokens of " .. name, function()
    local d, types, options = designs[name]()
    local runs = runs_of(d, types)
    t.eq(tide.verify(d, load(tostring(d), "=printed")(), options), "strict")
    for _, m in ipairs(mutate.all(tostring(d), mutate.tokens)) do try(name, d, runs, options, m) end
    for _, m in ipairs(mutate.all(tostring(d))) do
      if not nonsense[m.kind] then try(name, d, runs, options, m) end
    end
  end)
end

t.test("the corpus of tokens", function()
  local kinds = 0
  for _ in pairs(tally.kind) do kinds = kinds + 1 end
  print(("# %d faults of %d kinds run and are refused by verify, %d refused when made, %d alike")
    :format(tally.faults, kinds, tally.static, tally.alike))
  t.ok(tally.faults >= 40 and tally.static >= 20 and kinds >= 8)
end)

truth.test()

t.done()
