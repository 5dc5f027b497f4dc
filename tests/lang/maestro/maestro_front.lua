-- maestro.front: designs whose tasks that load and store are streamers. Values are those of the design, cycles those of
-- a memory that is stepped; what is no streamer is refused, beside a twin that differs in one fact.
local t = require "tap"
local random = require "maestro_systems"
local tide, maestro = require "tide", require "tide.maestro"
local i8, i16, i32, grid, task = tide.i8, tide.i16, tide.i32, tide.grid, tide.task

local memory, copy = random.memory, random.copy_design
local function plain(z, I, i) z:put(I[i]) end
local function kept(O, y, i) O[i] = y:get() end

local function streamers(word, depth, lanes)
  return {
    memory = memory(word), I = maestro.reader { lanes = { lanes or 1 }, loops = 2, depth = depth },
    O = maestro.writer { lanes = { lanes or 1 }, loops = 2, depth = depth },
  }
end

t.test("a depth of 1 takes a word every other cycle, one of 4 every cycle", function()
  local function cycles(n, depth)
    local m = maestro.front(copy(i32, n, plain, kept), streamers(4, depth)):build { device = "ideal" }
    local I, O = tide.random(i32[n], 1), i32[n](0)
    m(I, O)
    t.ok(O:equal(I))
    t.eq(m.memory.access.I, n)
    return m.memory.cycles
  end
  local slow, fast = cycles(100, 1) - 2 * 100, cycles(100, 4) - 100
  for _, n in ipairs { 120, 161, 200 } do
    t.eq(cycles(n, 1) - 2 * n, slow)
    t.eq(cycles(n, 4) - n, fast)
  end
  t.ok(slow < 12 and fast < 12, slow .. " " .. fast)
end)

t.test("words of several tokens, and what is left over", function()
  for _, n in ipairs { 8, 9, 15, 16, 31 } do
    local f = maestro.front(copy(i8, n, plain, kept), streamers(4, 2, 2))
    t.eq(f:stream "I".group, 8)
    local m, I, O = f:build(), tide.random(i8[n], n), i8[n](0)
    m(I, O)
    t.ok(O:equal(I), n)
  end
end)

t.test("twice the same run", function()
  local m = maestro.front(copy(i16, 60, plain, kept), streamers(8, 2)):build()
  local I, O = tide.random(i16[60], 1), i16[60](0)
  m(I, O)
  local first, report = m.memory, tostring(m.report)
  m(I, O)
  t.eq(m.memory.cycles, first.cycles)
  t.eq(tostring(m.memory.conflicts), tostring(first.conflicts))
  t.eq(tostring(m.report), report)
end)

local expected = { ["maestro-access"] = true, ["maestro-field"] = true, ["maestro-memory"] = true }

t.test("random arrays, sizes, words and modes", function()
  local roll, pick = random.new(22)
  local done = 0
  for _ = 1, 40 do
    local ok, f, A, B, C = pcall(random.front, roll, pick)
    if ok then
      f:build()(A, B, C)
      t.ok(C:equal(tide.matmul(A, B)), tostring(f))
      done = done + 1
    else
      t.ok(expected[f.code], tostring(f))
    end
  end
  t.ok(done > 15, done)
end)

t.test("columns from the last to the first are one word, or refused", function()
  local function made(lanes)
    return maestro.front(copy(i32, 16, plain, function(O, y, i)
      O[i // 4 * 4 + 3 - i % 4] = y:get()
    end), {
      memory = memory(4), I = maestro.reader { lanes = { 1 }, loops = 1, depth = 2 },
      O = maestro.writer { lanes = { lanes }, loops = 2, depth = 2 },
    })
  end
  local m, I, O = made(4):build(), tide.random(i32[16], 1), i32[16](0)
  m(I, O)
  for i in grid(16) do t.eq(O[i // 4 * 4 + 3 - i % 4], I[i]) end
  local ok, e = pcall(made, 2)
  t.ok(not ok and e.code == "maestro-access", e)
  t.has(tostring(e), "task 'store' stores")
end)

-- States that a front is refused with this code and these words.
local function refused(code, make, ...)
  local ok, e = pcall(make)
  t.ok(not ok, "accepted")
  t.eq(e.code, code, tostring(e))
  for _, text in ipairs { ... } do t.has(tostring(e), text) end
end

t.test("what a feeder must not do", function()
  local function with(put, store, more)
    return function()
      local o = streamers(4, 2)
      for k, v in pairs(more or {}) do o[k] = v or nil end
      return maestro.front(copy(i32, 16, put or plain, store or kept), o)
    end
  end
  t.ok(with()())
  refused("maestro-access", with(function(z, I, i) z:put(I[i * i % 16]) end), "streamer I",
    "task 'load' loads are no affine addresses", "put(z, I, i)")
  t.ok(with(function(z, I, i) z:put(I[i * 1 % 16]) end)())
  refused("maestro-access", with(function(z, I, i) z:put(I[15 - i]) end), "counters cannot count down")
  refused("maestro-access", with(function(z, I, i) z:put(I[I[i]]) end), "no streamer makes these addresses")
  refused("maestro-front", with(function(z, I, i) z:put(I[i] + 1) end), "computed, not loaded")
  refused("maestro-front", with(nil, function(O, y, i) O[i] = y:get() * 2 end), "gets what is computed")
  refused("maestro-field", with(nil, nil, { I = maestro.reader { lanes = { 3 }, loops = 1, depth = 2 },
    memory = memory(4), O = false, X = 3 }), "front.X")
  refused("maestro-front", with(nil, nil, { X = maestro.reader { lanes = { 1 }, loops = 1, depth = 2 } }),
    "no tensor 'X'")
  refused("maestro-order", with(nil, nil, { order = { I = "x -> x/2" } }), "the order of 'I'")
  refused("maestro-memory", with(nil, nil, { base = { I = 16380 } }), "a memory of 16384")
  refused("maestro-base", with(nil, nil, { base = { I = 2 } }), "no multiple of a word of 4 bytes")
  refused("maestro-overlap", with(nil, nil, { base = { I = 0, O = 60 } }), "lie on each other")
  t.ok(with(nil, nil, { base = { I = 0, O = 64 } })())
end)

t.test("tasks that do more, kernels, arguments of two", function()
  local function two(both)
    return function()
      return maestro.front(tide.design(function(d)
        local z = d:stream(i32)
        d.load = task { I = i32[8], J = i32[8], function(I, J)
          for i in grid(8) do
            z:put(I[i])
            if both then z:put(J[i]) else z:put(I[i]) end
          end
        end }
        d.store = task { O = i32[16], function(O)
          for i in grid(16) do O[i] = z:get() end
        end }
      end), { memory = memory(4), I = maestro.reader { lanes = { 1 }, loops = 2, depth = 2 } })
    end
  end
  t.ok(two(false)())
  refused("maestro-front", two(true), "elements of 'J', for which there is no reader")
  refused("maestro-front", function()
    maestro.front(tide.kernel { name = "k", I = i32[4], O = i32[4], function(I, O)
      for i in grid(4) do O[i] = I[i] end
    end }, streamers(4, 2))
  end, "'k' is a kernel")
  refused("maestro-front", function()
    maestro.front(tide.design(function(d)
      local z, y = d:stream(i32), d:stream(i32)
      d.load = task { I = i32[8], function(I)
        for i in grid(8) do z:put(I[i]) end
      end }
      d.both = task { O = i32[8], function(O)
        for i in grid(8) do
          O[i] = z:get()
          y:put(O[i])
        end
      end }
      d.eat = task { function() for _ in grid(8) do local _ = y:get() end end }
    end), streamers(4, 2))
  end, "task 'both' puts to a stream", "only gets and stores")
end)

t.test("streamers that wait for each other are told", function()
  local f = maestro.front(tide.design(function(d)
    local z = d:stream(i32, { 2, depth = 1 })
    d.load = task { map = { 2 }, I = i32[2][8], function(I, p)
      for i in grid(8) do z[p]:put(I[p][i]) end
    end }
    d.one = task { O = i32[2][8], function(O)
      for p, i in grid(2, 8) do O[p][i] = z[p]:get() end
    end }
  end), { memory = memory(4), I = maestro.reader { lanes = { 2 }, loops = 1, depth = 1 } })
  local I, O = tide.random(i32[2][8], 1), i32[2][8](0)
  refused("deadlock", function() f:build()(I, O) end, "z[0]")
end)

t.done()
