-- layout_values.lua - layouts as values: made of types, texts, digits, banks and words; places, algebra with the
-- published numbers of CuTe, overlaps, conflicts of banks, pictures; each refusal beside a twin that works.
local t = require "tap"
local tide = require "tide"
local i8, i32 = tide.i8, tide.i32

-- A layout as CuTe writes it: the modes of a coordinate, and coordinates, fastest first; here outermost first.
local function cute(shape, stride)
  local list = {}
  for i, n in ipairs(shape) do
    if type(n) == "table" then
      local digits = {}
      for k, m in ipairs(n) do table.insert(digits, 1, { m, stride[i][k] }) end
      table.insert(list, 1, digits)
    else
      table.insert(list, 1, { n, stride[i] })
    end
  end
  return tide.layout(list)
end

-- States that two layouts are the same function with the same coordinates.
local function is(got, want)
  t.eq(tostring(got), tostring(want))
  t.eq(got:addresses(), want:addresses())
end

-- What a call of a layout's method refuses with.
local function refused(code, text, f)
  local e = t.fails(f, { code = code })
  t.has(tostring(e), text)
  return e
end

t.test("kinds of values", function()
  t.eq(type(tide.layout { { 4, 1 } }), "userdata")
  t.eq(type(tide.layout(i8[8], "S0")), "userdata")
  t.eq(type(i8[8]:layout "S0"), "userdata")
end)

t.test("digits: places, size, shape", function()
  local L = tide.layout { { 8, 128 }, { 4, 8 }, { 4, 32 } }
  t.eq(#L, 128)
  t.eq(L(3, 2, 1), 3 * 128 + 2 * 8 + 32)
  t.eq(L(3 * 16 + 2 * 4 + 1), L(3, 2, 1))
  t.eq(L.shape, { 8, 4, 4 })
  local M = tide.layout { { { 4, 8 }, { 2, 4 } }, { 3, 1 }, offset = 5 }
  t.eq(M.shape, { 8, 3 })
  t.eq(M(5, 2), 5 + 2 * 8 + 1 * 4 + 2)
  t.eq(M.digits, { { 4, 8 }, { 2, 4 }, { 3, 1 } })
  t.eq(M.offset, 5)
end)

t.test("what is printed loads back", function()
  for _, L in ipairs { tide.layout { { 8, 128 }, { { 4, 8 }, { 4, 32 } }, offset = 3 }, tide.layout {},
    tide.layout(i8[16][32], "m k -> m/8 k/8 m%8 k%8"), tide.layout(tide.int(9)[16], "S0", { map = { 4 } }),
    tide.layout.partition(i32[8][8], 1, { factor = 4 }), tide.layout.pack(i8[4][16], 8), i8[8][4]:layout "RS0",
    tide.layout(i8[8], "S0", { map = { 4 } }):normal() } do
    local again = load("local tide = require 'tide' return " .. tostring(L))()
    t.eq(tostring(again), tostring(L))
    t.eq(again, L)
  end
end)

t.test("shards: instance and address", function()
  local L = tide.layout(i8[8][6], "S1S0", { map = { 3, 4 } })
  t.eq(L(5, 4), { p0 = 2, p1 = 2, address = 1 * 2 + 0 })
  t.eq(L.place, { { "p0", 3 }, { "p1", 4 }, { "address", 4 } })
  local seen = {}
  for i = 0, 7 do
    for j = 0, 5 do
      local p = L(i, j)
      t.eq({ p.p1, p.p0, p.address }, { i // 2, j // 2, i % 2 * 2 + j % 2 })
      seen[p.p0 * 100 + p.p1 * 10 + p.address] = true
    end
  end
  local n = 0
  for _ in pairs(seen) do n = n + 1 end
  t.eq(n, 48)
  t.eq(tide.layout(i8[8][6], "RS0", { map = { 3 } })(5, 4), { p0 = 2, address = 5 * 2 })
end)

t.test("orders: names of dimensions, digits, pads", function()
  local L = tide.layout(i8[16][32], "m k -> m/8 k/8 m%8 k%8")
  for m = 0, 15 do
    for k = 0, 31 do t.eq(L(m, k), ((m // 8 * 4 + k // 8) * 8 + m % 8) * 8 + k % 8) end
  end
  t.eq(tide.layout(i8[4][8], "m k -> k m")(1, 5), 5 * 4 + 1)
  t.eq(tide.layout(i8[8][8], "m k -> m:9 k")(3, 5), 32)
end)

t.test("banks and words", function()
  local L = tide.layout.partition(i32[8][8], 1, { factor = 4 })
  t.eq(L(3, 6), { bank = 2, address = 3 * 2 + 1 })
  t.eq(tide.layout.partition(i32[8][8], 1, { kind = "block", factor = 4 })(3, 6), { bank = 3, address = 3 * 2 })
  t.eq(tide.layout.partition(i32[8][8], 0)(3, 6), { bank = 3, address = 6 })
  t.eq(tide.layout.partition(i32[8][8], { 0, 1 }, { factor = 2 })(3, 6), { bank0 = 1, bank1 = 0, address = 1 * 4 + 3 })
  t.eq(tide.layout.pack(i8[4][16], 8)(3, 11), { address = 7, lane = 3 })
end)

t.test("published: coalesce", function()
  is(cute({ 2, { 1, 6 } }, { 1, { 6, 2 } }):normal(), cute({ 12 }, { 1 }))
end)

t.test("published: composition", function()
  is(cute({ 6, 2 }, { 8, 2 }):compose(cute({ 4, 3 }, { 3, 1 })), cute({ { 2, 2 }, 3 }, { { 24, 2 }, 8 }))
  is(cute({ 20 }, { 2 }):compose(cute({ 5, 4 }, { 4, 1 })), cute({ 5, 4 }, { 8, 2 }))
  is(cute({ 10, 2 }, { 16, 4 }):compose(cute({ 5, 4 }, { 1, 5 })), cute({ 5, { 2, 2 } }, { 16, { 80, 4 } }))
  local a = cute({ 12, { 4, 8 } }, { 59, { 13, 1 } })
  is(a:compose(cute({ 8 }, { 2 }), cute({ 3 }, { 4 })), cute({ 3, { 2, 4 } }, { 236, { 26, 1 } }))
  is(a:compose(cute({ 8 }, { 1 }), cute({ 3 }, { 1 })), cute({ 3, { 4, 2 } }, { 59, { 13, 1 } }))
end)

t.test("published: complement", function()
  is(cute({ 4 }, { 1 }):complement(24), cute({ 6 }, { 4 }))
  is(cute({ 6 }, { 4 }):complement(24), cute({ 4 }, { 1 }))
  is(cute({ 4, 6 }, { 1, 4 }):complement(24), tide.layout {})
  is(cute({ 4 }, { 2 }):complement(24), cute({ 2, 3 }, { 1, 8 }))
  is(cute({ 2, 4 }, { 1, 6 }):complement(24), cute({ 3 }, { 2 }))
  is(cute({ 2, 2 }, { 1, 6 }):complement(24), cute({ 3, 2 }, { 2, 12 }))
end)

t.test("published: division and product", function()
  local tiles = cute({ { 2, 2 }, { 2, 3 } }, { { 4, 1 }, { 2, 8 } })
  is(cute({ 4, 2, 3 }, { 2, 1, 8 }):divide(cute({ 4 }, { 2 })), tiles)
  local A = cute({ 2, 2 }, { 4, 1 })
  is(A:product(cute({ 6 }, { 1 })), tiles)
  is(A:product(cute({ 4, 2 }, { 2, 1 })), cute({ { 2, 2 }, { 4, 2 } }, { { 4, 1 }, { 8, 2 } }))
end)

t.test("permute, slice, tile", function()
  local L = tide.layout(i8[8][6], "m k -> m k")
  is(L:permute(1, 0), tide.layout { { 6, 1 }, { 8, 6 } })
  is(L:slice(3, nil), tide.layout { { 6, 1 }, offset = 18 })
  is(L:slice({}, { 2, 5 }), tide.layout { { 8, 6 }, { 3, 1 }, offset = 2 })
  is(L:tile(4, 2), tide.layout { { 2, 24 }, { 3, 2 }, { 4, 6 }, { 2, 1 } })
  local S = tide.layout(i8[8][6], "S0R", { map = { 4 } })
  t.eq(S:slice(nil, 2)(5), { p0 = 2, address = 8 })
end)

t.test("inverse: from places to coordinates", function()
  local L = tide.layout(i8[8][6], "m k -> k m")
  local back = L:inverse()
  for i = 0, 47 do t.eq(back(L(i)), i) end
  local S = tide.layout(i8[8], "S0", { map = { 4 } })
  t.eq(S:inverse().shape, { 4, 2 })
  for i = 0, 7 do t.eq(S:inverse()(S(i).p0, S(i).address), i) end
  t.ok(L:compose(back) == tide.layout { { 48, 1 } })
end)

t.test("equality is that of functions", function()
  t.ok(tide.layout { { 4, 2 }, { 2, 1 } } == tide.layout { { 8, 1 } })
  t.ok(tide.layout { { 4, 2 }, { 2, 1 } } ~= tide.layout { { 4, 1 }, { 2, 4 } })
  t.ok(tide.layout(i8[8], "S0", { map = { 4 } }) ~= tide.layout { { 8, 1 } }, "instances are no addresses")
end)

t.test("overlaps", function()
  local L = tide.layout { { 4, 8 }, { 2, 1 } }
  t.eq(L:overlaps(tide.layout { { 4, 8 }, { 2, 1 }, offset = 2 }), false)
  local meets, at = L:overlaps(tide.layout { { 3, 3 }, offset = 3 })
  t.eq(meets, true)
  t.eq(at, { place = 9, left = 3, right = 2 })
end)

t.test("conflicts of banks, with a witness", function()
  local rows = tide.layout(i8[8][8], "m k -> m k")
  t.eq(rows:conflicts { lanes = 8, banks = 8 }, nil)
  local c = rows:permute(1, 0):conflicts { lanes = 8, banks = 8 }
  t.eq({ c.ways, c.cycles, c.bank, c.lanes, c.places }, { 8, 8, 0, { 0, 1 }, { 0, 8 } })
  t.has(tostring(c), "lanes 0 and 1 reach places 0 and 8 of bank 0")
  local padded = tide.layout(i8[8][8], "m k -> m:9 k")
  t.eq(padded:permute(1, 0):conflicts { lanes = 8, banks = 8 }, nil)
  t.eq(padded:conflicts { lanes = 8, banks = 8 }, nil)
  t.eq(rows:permute(1, 0):conflicts { lanes = 8, banks = 8, word = 8 }, nil)
  t.eq(tide.layout { { 4, 0 } }:conflicts { lanes = 4, banks = 2 }, nil, "one word for all is read once")
  local banks = tide.layout.partition(i8[8][8], 1, { factor = 4 })
  t.eq(banks:conflicts { lanes = 4 }, nil)
  t.eq(banks:permute(1, 0):conflicts { lanes = 4 }.ways, 4)
end)

t.test("a value stands where a text stands", function()
  local L = tide.layout(i8[8], "S0")
  local function design(layout)
    return tide.design(function(d)
      d.inc = tide.task { map = { 4 }, A = i8[8]:layout(layout), function(A) A:set(A + 1) end }
    end)
  end
  t.eq(tostring(design(L)), tostring(design "S0"))
  t.eq(tostring(i8[8]:layout(L)), tostring(L))
end)

t.test("a value of another tensor is refused where it stands for a text", function()
  local L = tide.layout(i32[8][6], "S0R")
  t.fails(function() return i32[8][4]:layout(L) end, {kind = "usage", code = "layout"})
  t.ok(i32[8][6]:layout(L) and i8[8][6]:layout(L))
  t.ok(i32[tide.size "n"][6]:layout(L))
  local function design(T)
    return tide.design(function(d)
      local A = d:arg(T)
      d.p = tide.task {map = {2}, A = A:layout(L), function(A, _) A:set(1) end}
    end)
  end
  t.ok(design(i32[8][6]))
  local e = t.fails(function() design(i32[6][8]) end, {kind = "usage", code = "layout"})
  t.has(e.message, "this layout is of i32[8][6], and the tensor is i32[6][8]")
end)

t.test("an order in a comment may be a value", function()
  local text = [[return tide.kernel { name = "copy", A = tide.i8[8][4], --@ order(%s)
    B = tide.i8[8][4], function(A, B)
    for i, j in tide.grid(8, 4) do B[i][j] = A[i][j] end
  end }]]
  local function make(order)
    local env = { tide = tide, L = tide.layout(i8[4][8], "m k -> k m"), T = "m k -> k m" }
    return load(text:format(order), "=orders", "t", env)()
  end
  t.eq(tostring(make "L"), tostring(make '"m k -> k m"'))
  t.eq(tostring(make "T"), tostring(make '"m k -> k m"'))
  local e = t.fails(function() make "M" end, { code = "attribute" })
  t.has(tostring(e), "'order' takes (a text, or a layout")
end)

t.test("partition takes a value", function()
  local function make()
    return tide.schedule(tide.kernel { A = i32[8][8], B = i32[8][8], name = "t", function(A, B)
      for i, j in tide.grid(8, 8) do B[j][i] = A[i][j] end
    end })
  end
  local x, y = make(), make()
  x:partition("A", tide.layout.partition(i32[8][8], 0, { factor = 4 }))
  y:partition("A", 0, { factor = 4 })
  t.eq(tostring(x), tostring(y))
  t.eq(x:log(), y:log())
  t.ok(x:verify())
  t.eq(x:arrays().array[1].layout, tide.layout.partition(i32[8][8], 0, { factor = 4 }))
end)

t.test("pictures", function()
  local L = tide.layout(i8[8], "S0", { map = { 4 } })
  t.eq(L:grid(), "0:0 0:1 1:0 1:1 2:0 2:1 3:0 3:1\n")
  t.has(L:grid(true), "\27[33m1:0\27[0m")
  t.has(L:svg(), "<svg")
  t.has(L:svg(), ">3:1</text>")
  t.has(L:html(), "<!DOCTYPE html>")
  local display = require "tide.display"
  t.eq(display.picture(L, "tide.layout", ""), "image/svg+xml")
  t.eq(display.picture(i8[8]:layout "S0", "tide.layout", ""), nil)
end)

t.test("refused: texts and types", function()
  refused("layout", "order \"m k -> m x\" of i8[4][4]: 'x' is not among its dimensions",
    function() tide.layout(i8[4][4], "m k -> m x") end)
  t.ok(tide.layout(i8[4][4], "m k -> m k"))
  refused("layout", "dimension 0 has 10 elements, which 4 do not divide",
    function() tide.layout(i8[10], "S0", { map = { 4 } }) end)
  t.ok(tide.layout(i8[12], "S0", { map = { 4 } }))
  refused("layout", "cuts dimension 0 by axis 1, and the map has 1",
    function() tide.layout(i8[12], "S1", { map = { 4 } }) end)
  t.ok(tide.layout(i8[12], "S1", { map = { 4, 4 } }))
  refused("layout", "has 1 dimension, i8[4][4] has 2", function() tide.layout(i8[4][4], "S0") end)
  refused("layout", "a tensor type of at most", function() tide.layout(i8, "m -> m") end)
  refused("layout", "a digit has at least 1 value, not -2", function() tide.layout { { -2, 1 } } end)
  refused("layout", "a digit is {values, stride}", function() tide.layout { { 2 } } end)
  refused("layout", "its places are 0 to 7, and the axes have 4",
    function() tide.layout { { 8, 1 }, place = { { "bank", 4 } } } end)
  t.ok(tide.layout { { 8, 1 }, place = { { "bank", 8 } } })
  refused("layout", "offset is an integer, not a string", function() tide.layout { { 8, 1 }, offset = "2" } end)
  refused("layout", "a tensor without elements has none", function() return #tide.layout(i8[0], "m -> m") end)
  refused("carry", "the copies would go to places",
    function() tide.layout { { 4, 1 } }:product(tide.layout { { 2, 1 << 54 } }) end)
  refused("layout", "a layout has no 'ofset'", function() tide.layout { { 8, 1 }, ofset = 2 } end)
end)

t.test("refused: coordinates", function()
  local L = tide.layout { { 4, 2 }, { 2, 1 } }
  refused("layout-index", "coordinate 0 is 4, and goes from 0 to 3", function() return L(4, 0) end)
  refused("layout-index", "3 coordinates are given, and the layout has 2", function() return L(0, 0, 0) end)
  refused("layout-index", "the ordinal is 8, and goes from 0 to 7", function() return L(8) end)
  refused("layout-index", "coordinates are 0 to 1, each once, and 0 is not", function() L:permute(0, 0) end)
  refused("layout-index", "goes from 0 to 3, and 2 to 4 are asked for", function() L:slice({ 2, 5 }) end)
  refused("layout-tile", "coordinate 0 has 4 values, which tiles of 3 do not divide", function() L:tile(3, 1) end)
  t.ok(L:tile(2, 1))
end)

t.test("refused: algebra", function()
  local e = refused("no-inverse", "digit (4, 4) steps by 4 where the digits inside it end at 2",
    function() tide.layout { { 4, 4 }, { 2, 1 } }:inverse() end)
  t.has(e.help, "{{4, 1}, {8, 4}}")
  t.ok(tide.layout { { 4, 2 }, { 2, 1 } }:inverse())
  refused("carry", "the inner layout reaches places 0 to 9, and the outer has 8",
    function() tide.layout { { 8, 1 } }:compose(tide.layout { { 10, 1 } }) end)
  refused("carry", "digit (3, 2) of the inner layout carries",
    function() tide.layout { { 2, 100 }, { 4, 1 } }:compose(tide.layout { { 3, 2 } }) end)
  t.ok(tide.layout { { 2, 100 }, { 4, 1 } }:compose(tide.layout { { 4, 2 } }))
  refused("no-complement", "does not fit", function() tide.layout { { 2, 3 }, { 2, 2 } }:complement(12) end)
  t.ok(tide.layout { { 2, 4 }, { 2, 2 } }:complement(12))
  refused("layout-banks", "lanes says how many", function() tide.layout { { 4, 1 } }:conflicts {} end)
  refused("layout-banks", "no axis of banks", function() tide.layout { { 4, 1 } }:conflicts { lanes = 2 } end)
  refused("too-large", "more places than are looked at",
    function() tide.layout { { 1 << 30, 1 } }:addresses() end)
  t.eq(#tide.layout { { 1 << 3, 1 } }:addresses(), 8)
end)

t.test("sizes without values stay", function()
  local n = tide.size "n"
  local L = tide.layout(i8[n], "S0", { map = { 4 } })
  t.eq(L.known, false)
  refused("layout", "the size of dimension 0 of i8[n] has no value", function() return #L end)
  refused("layout", "the map of the tasks is not given", function() return #tide.layout(i8[8], "S0") end)
end)

t.done()
