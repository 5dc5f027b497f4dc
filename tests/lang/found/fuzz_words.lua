-- fuzz_words.lua - packed words and constants that tests/fuzz found to go wrong, each cut to its
-- smallest.
local t = require "tap"
local tide = require "tide"
local i8, u8, i32, i64, f32, f64 = tide.i8, tide.u8, tide.i32, tide.i64, tide.f32, tide.f64

-- States that packing n elements of the local `b` keeps what a kernel computes.
local function packs(kernel, n, dim)
  local s = tide.schedule(kernel)
  s:pack("b", dim or 0, n)
  t.eq((s:verify()), "strict", tostring(s))
end

t.test("constants in words of more than 64 bits come out as they went in", function()
  packs(tide.kernel {
    A = i32[4],
    function(A)
      local b = i64[8](0)
      A[0] = i32(b[0])
    end,
  }, 4)
  packs(tide.kernel {
    A = f64[8],
    function(A)
      local b = f64[8]()
      b[1] = 2.5
      A[0] = b[1]
    end,
  }, 2)
  packs(tide.kernel {
    A = i64[8],
    function(A)
      local b = i64[8]()
      for i = 0, 7 do b[i] = i - 4 end
      for i = 0, 7 do A[i] = b[i] * 3 end
    end,
  }, 8)
end)

t.test("words of more than 64 bits that differ in a constant differ", function()
  local function of(value)
    local s = tide.schedule(tide.kernel {
      name = "k", A = i64[1],
      function(A)
        local b = i64[4](0)
        b[3] = value
        A[0] = b[3] + b[2]
      end,
    })
    s:pack("b", 0, 4)
    return s
  end
  t.eq((tide.verify(of(7), of(7))), "strict")
  t.eq((tide.verify(of(7), of(-7))), nil)
end)

t.test("a packed word that data choose is chosen part by part", function()
  local function k(value)
    return load("local tide, b = ...; local i32 = tide.i32; return tide.kernel { A = i32[4], " ..
      "function(A) local b = i32[8](0); for i = 0, 3 do if A[i] ~= 0 then b[2 * i] = " .. value ..
      " end end for i = 0, 3 do A[i] = b[2 * i] end end }")(tide)
  end
  packs(k "5", 8)
  packs(k "A[3]", 4)
  packs(k "A[i]", 2)
  packs(tide.kernel {
    A = i8:with {overflow = "saturate"}[8],
    function(A)
      local b = i8:with {overflow = "saturate"}[8]()
      for i = 0, 7 do b[i] = A[i] end
      for i = 0, 6 do
        if b[i] < b[i + 1] then b[i] = b[i + 1] end
      end
      for i = 0, 7 do A[i] = b[i] end
    end,
  }, 4)
  local x, y = tide.schedule(k "5"), tide.schedule(k "6")
  x:pack("b", 0, 4)
  y:pack("b", 0, 4)
  t.eq((tide.verify(x, y)), nil)
end)

t.test("many choices of one word are looked at once each", function()
  local s = tide.schedule(tide.kernel {
    A = u8[64],
    function(A)
      local b = u8[4](0)
      for i = 0, 63 do
        if A[i] > 3 then b[i % 4] = A[i] end
      end
      for i = 0, 3 do A[i] = b[i] end
    end,
  })
  s:pack("b", 0, 4)
  t.eq((s:verify()), "strict")
end)

t.test("words of words are taken apart one by one", function()
  local s = tide.schedule(tide.kernel {
    A = u8[8],
    function(A)
      local b = u8[8](0)
      for i = 0, 2 do b[i] = A[i] end
      for i = 0, 2 do A[i] = b[i] end
    end,
  })
  s:pack("b", 0, 2)
  s:pack("b", 0, 4)
  s:pack("b", 0, 1)
  t.eq((s:verify()), "strict", tostring(s))
  t.has(tostring(s), "u16[4]")
  s:pack("b", 0, 1)
  t.eq((s:verify()), "strict", tostring(s))
  t.has(tostring(s), "u8[8]")
end)

t.test("fma of constants counts as a product and a sum where it may", function()
  local function k(source)
    return load("local tide = ...; local f32 = tide.f32; return tide.kernel { A = f32[1], " ..
      "function(A) local b = f32(1.1); A[0] = A[0] + " .. source .. " end }")(tide)
  end
  local sum, fma = k "(b * b + f32(-1.21))", k "tide.fma(b, b, f32(-1.21))"
  t.eq((tide.verify(sum, fma)), "fused")
  t.eq((tide.verify(fma, fma)), "strict")
  t.eq((tide.verify(sum, k "tide.fma(b, b, f32(-1.2))")), nil)
  local s = tide.schedule(tide.kernel {
    A = f32[16],
    function(A)
      for i = 0, 15 do
        local b = f32(1.1)
        for _ = 0, 999 do A[i] = A[i] + (b * b + f32(-1.21)) end
      end
    end,
  })
  s:fma()
  t.eq((s:verify()), "fused")
end)

t.test("what is compared with itself needs no data", function()
  local function k(type, op)
    return load("local tide = ...; local T = tide." .. type .. "; return tide.kernel { q = T, " ..
      "A = T[4], function(q, A) for i = 0, 3 do if q " .. op .. " q then A[i] = 1 end end end }")(tide)
  end
  local never = load "local tide = ...; return tide.kernel { q = tide.i16, A = tide.i16[4], \z
    function(q, A) A:set(A) end }"(tide)
  t.eq((tide.verify(k("i16", "<"), never)), "strict")
  t.eq((tide.verify(k("i16", "~="), k("i16", ">"))), "strict")
  t.eq((tide.verify(k("i16", "<="), never)), nil)
  t.eq((tide.verify(k("f32", "=="), k("f32", "<="))), nil, "a NaN is not itself")
  local s = tide.schedule(tide.kernel {
    q = tide.i16, A = tide.i16[4],
    function(q, A)
      for i = 0, 3 do
        if q < q then A[0] = i end
        A[i] = 2
      end
    end,
  })
  s:buffer_at("A", "i")
  t.eq((s:verify()), "strict", tostring(s))
end)

t.test("a bitcast gives a local its type", function()
  local s = tide.schedule(tide.kernel {
    A = tide.ufixed(9, 4)[6],
    function(A)
      local b = tide.ufixed(9, 4)[6](0)
      for i = 0, 5 do b[i] = tide.ufixed(10, 4)(A[i]) end
      for i = 0, 5 do A[i] = b[i] end
    end,
  })
  s:buffer_at("b", "i#1")
  s:pack("b", 0, 3)
  t.eq((s:verify()), "strict", tostring(s))
  t.eq(tostring(load(tostring(s))()), tostring(s))
end)
t.test("a part of what is computed of wide words runs compiled", function()
  local s = tide.schedule(tide.kernel {A = tide.i64[1], function(A)
    local b = tide.i64[6]()
    b[0] = 5
    A[0] = b[0]
  end})
  s:pack("b", 0, 2)
  s:pack("b", 0, 3)
  local A = tide.i64[1]()
  load(tostring(s))()(A)
  t.eq(A[0], 5)
end)

t.test("a partition into more banks than there are words goes when they are packed", function()
  for words, kept in pairs {[2] = true, [4] = false} do
    local s = tide.schedule(tide.kernel {A = tide.u8[4], function(A)
      local b = tide.u8[4](0)
      for i = 0, 3 do b[i] = A[i] end
      for i = 0, 3 do A[i] = b[3 - i] end
    end})
    s:partition("b", {factor = 2}):pack("b", 0, words)
    t.eq((s:verify()), "strict", tostring(s))
    t.eq(tostring(load(tostring(s))()), tostring(s))
    t.eq(tostring(s):find("partition(0, cyclic, 2)", 1, true) ~= nil, kept)
  end
end)

t.test("a word of more than 64 bits that is only declared runs compiled, in a task too", function()
  for _, W in ipairs {tide.uint(80), tide.int(100)} do
    local k = tide.kernel {A = tide.u16[5], function(A)
      local b = W[5](0)
      for i = 0, 4 do b[i] = tide.with_bits(b[i], 16, 32, A[i]) end
      for i = 0, 4 do
        local x = W()
        if i < 7 then x = b[4 - i] end
        A[i] = tide.bits(x, 16, 32)
      end
    end}
    local d = tide.design(function(d)
      local Z = d:stream(W)
      d.from = tide.task {A = tide.u16[5], function(A)
        for i = 0, 4 do Z:put(tide.with_bits(W(0), 16, 32, A[i])) end
      end}
      d.to = tide.task {B = tide.u16[5], function(B)
        for i = 0, 4 do
          local x = W()
          if i < 7 then x = Z:get() end
          B[4 - i] = tide.bits(x, 16, 32)
        end
      end}
    end)
    local A, B = tide.random(tide.u16[5], 1), tide.u16[5]()
    d(A, B)
    for i = 0, 4 do t.eq(B[4 - i], A[i]) end
    k(A)
    t.ok(A:equal(B))
  end
end)

t.done()
