-- [slow] relay_places.lua - relay: an array that is written, or read, in several places which take their
-- turns, as the line buffers of windows do.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local nn = require "tide.nn"
local i32, f32, grid = tide.i32, tide.f32, tide.grid

-- What comes before a window of R x C places that moves over the result by `by` places. Numbers in a table are no
-- sizes with names, which would need guards where the last window ends.
local function windows(by, R, C, columns)
  columns = columns or false
  return function(z)
    local M, N = z.M or 4, z.N or 5
    local H, W = by * (M - 1) + R, by * (N - 1) + C
    local first = tide.kernel {A = i32[H][W], B = i32[H][W], name = "first", function(A, B)
      if columns then
        for j, i in grid(W, H) do B[i][j] = A[i][j] * 3 end
      else
        for i, j in grid(H, W) do B[i][j] = A[i][j] * 3 end
      end
    end}
    local n = {H = H, W = W, M = M, N = N, R = R, C = C, by = by}
    local second = tide.kernel {B = i32[n.H][n.W], Y = i32[n.M][n.N], name = "second", function(B, Y)
      for y, x in grid(n.M, n.N) do
        local sum = i32(0)
        for r, c in grid(n.R, n.C) do sum = sum * 2 + B[n.by * y + r][n.by * x + c] end
        Y[y][x] = sum
      end
    end}
    return tide.kernel {A = i32[H][W], Y = i32[M][N], name = "both", function(A, Y)
      local B = i32[H][W]()
      first(A, B)
      second(B, Y)
    end}, {i32[H][W], i32[M][N]}
  end
end

local function lines(s)
  local _, line = s:reuse_at("second:B", "second:y")
  s:reuse_at(line, "second:x")
end

local function count(s, part)
  local _, n = tostring(s):gsub(part:gsub("%p", "%%%0"), "")
  return n
end

for _, z in ipairs {{1, 3, 3}, {2, 3, 3}, {1, 2, 4}, {2, 5, 4}, {3, 5, 5}} do
  prim.accepted(("windows of %d x %d, %d places apart"):format(z[2], z[3], z[1]), {
    of = windows(table.unpack(z)), before = lines, step = {"relay", "B", "second"},
    has = {"B:put(A[i][j] * 3)"},
  }, function(s) t.eq(count(s, ":get()"), z[1] == 1 and 3 or 4, "places that read") end)
end
prim.accepted("a window of registers over a row at a time", {
  of = windows(1, 1, 3), before = function(s) s:reuse_at("second:B", "second:x") end,
  step = {"relay", "B", "second"},
})
prim.accepted("the same from tasks that hand over the image", {
  of = windows(1, 3, 3), before = function(s)
    lines(s)
    s:dataflow()
  end, step = {"relay", "B", "second"}, has = {"local B = d:stream(i32, {depth = 2})"},
})
prim.twins("lines along the columns of what is written by rows, and by columns", {
  of = function(columns, z) return windows(1, 3, 3, columns)(z or {}) end, no = false, yes = true,
  before = function(s)
    s:reorder("second:x", "second:y")
    local _, line = s:reuse_at("second:B", "second:x")
    s:reuse_at(line, "second:y")
  end,
  step = {"relay", "B", "second"}, code = "order", witness = "B",
})
prim.twins("what windows leave is still in the stream", {
  of = function(left)
    local n = {7 + left, 6 + left}
    return tide.kernel {A = i32[n[1]], Y = i32[3], name = "both", function(A, Y)
      local B = i32[n[1]]()
      for i = 0, n[2] do B[i] = A[i] end
      for x = 0, 2 do Y[x] = B[2 * x] + B[2 * x + 1] * 5 + B[2 * x + 2] end
    end}, {i32[n[1]], i32[3]}
  end, no = 1, yes = 0, before = function(s)
    s:outline("x", "second")
    s:reuse_at("second:B", "second:x")
  end, has = {"B_x[2] = B_1"},
  step = {"relay", "B", "second"}, code = "order", match = "they would stay in the stream",
})

-- Layers of windows that take their image from the layer before.
for _, z in ipairs {
  {H = 5, W = 6, C = 2, R = 3, S = 3, stride = 1}, {H = 7, W = 5, C = 2, R = 3, S = 3, stride = 2},
  {H = 4, W = 6, C = 3, R = 2, S = 2, stride = 2}, {H = 4, W = 3, C = 2, R = 1, S = 1, stride = 1},
  {H = 3, W = 5, C = 1, R = 3, S = 3, stride = 1}, {H = 1, W = 4, C = 1, R = 1, S = 2, stride = 2},
} do
  local shape = ("%d x %d x %d, %d x %d by %d"):format(z.H, z.W, z.C, z.R, z.S, z.stride)
  t.test("layers of windows over " .. shape, function()
    local P, Q = (z.H - z.R) // z.stride + 1, (z.W - z.S) // z.stride + 1
    local H, W, C = z.H, z.W, z.C
    local relu = nn.relu({shape = {H, W, C}}, "relu")
    local pool = nn.maxpool2d(z, "pool")
    local conv = nn.conv2d({H = H, W = W, C = C, R = z.R, S = z.S, stride = z.stride, O = 2, T = f32}, "conv")
    local pooled = tide.kernel {X = f32[H][W][C], Y = f32[P][Q][C], function(X, Y)
      local image = f32[H][W][C]()
      relu(X, image)
      pool(image, Y)
    end}
    local convolved = tide.kernel {X = f32[H][W][C], F = f32[z.R][z.S][C][2], Y = f32[P][Q][2],
      function(X, F, Y)
        local image = f32[H][W][C]()
        relu(X, image)
        conv(image, F, Y)
      end}
    for layer, whole in pairs {[pool] = pooled, [conv] = convolved} do
      local s = tide.schedule(whole):compose(nn.schedule(relu)):compose(nn.schedule(layer))
      s:dataflow()
      local before = s:build {target = "cpu", timed = true}
      local args = {}
      for i, p in ipairs(whole.params) do args[i] = tide.random(p.type, i) end
      before(table.unpack(args))
      s:relay("image", layer.name)
      t.eq((s:verify()), "strict")
      local after = s:build {target = "cpu", timed = true}
      after(table.unpack(args))
      t.ok(after.report.cycles < before.report.cycles,
        ("%d cycles, %d with whole images"):format(after.report.cycles, before.report.cycles))
    end
  end)
end

-- Random places: an array of `size` elements, cut into pieces that are written, and read, one after
-- the other, each by a loop that goes up, or down, or by two loops. What relay decides must be what
-- the sequences say.
local state = 20261122
local function random(n)
  state = (state * 1103515245 + 12345) % 2147483648
  return state // 65536 % n
end

-- The loops over elements lo to hi of a piece, as text that `use` an index, and the indices.
local function piece(lo, hi, name, use, seq)
  local n, kind = hi - lo, random(4)
  if kind == 0 and n > 1 then
    for e = hi - 1, lo, -1 do seq[#seq + 1] = e end
    return ("for %s = 0, %d do %s end"):format(name, n - 1, use(("%d - %s"):format(hi - 1, name)))
  end
  for e = lo, hi - 1 do seq[#seq + 1] = e end
  if kind > 1 or n % 2 == 1 then
    return ("for %s = 0, %d do %s end"):format(name, n - 1, use(("%d + %s"):format(lo, name)))
  end
  return ("for %s = 0, %d do for %s_i = 0, 1 do %s end end"):format(name, n // 2 - 1, name,
    use(("%d + 2 * %s + %s_i"):format(lo, name, name)))
end

local function side(size, name, use)
  local cut, from, text, seq = {}, 0, {}, {}
  while from < size do
    local to = math.min(size, from + 1 + random(5))
    cut[#cut + 1] = {from, to}
    from = to
  end
  if random(3) == 0 and #cut > 1 then
    local n = 1 + random(#cut - 1)
    cut[n], cut[n + 1] = cut[n + 1], cut[n]
  end
  for n, c in ipairs(cut) do text[n] = piece(c[1], c[2], name .. n, use, seq) end
  return table.concat(text, "\n"), table.concat(seq, " ")
end

t.test("random places: accepted when, and only when, the sequences are the same", function()
  local accepted, refused = 0, 0
  for _ = 1, 150 do
    local size = 2 + random(7)
    local writes, first = side(size, "w", function(i) return ("B[%s] = A[%s] * 2"):format(i, i) end)
    local reads, second = side(size, "r", function(i) return ("Y[%s] = B[%s] + 1"):format(i, i) end)
    local source = ([[local tide = require "tide"
      local i32 = tide.i32
      local put = tide.kernel {A = i32[%d], B = i32[%d], function(A, B) %s end}
      local get = tide.kernel {B = i32[%d], Y = i32[%d], function(B, Y) %s end}
      return tide.kernel {A = i32[%d], Y = i32[%d], name = "both", function(A, Y)
        local B = i32[%d]()
        put(A, B)
        get(B, Y)
      end}]]):format(size, size, writes, size, size, reads, size, size, size)
    local s = tide.schedule(assert(load(source))())
    local ok, e = s:can("relay", "B", "get")
    if first == second then
      t.ok(ok, "refused: " .. tostring(e) .. "\n" .. source)
      s:relay("B", "get")
      t.eq((s:verify()), "strict")
      accepted = accepted + 1
    else
      t.eq({ok, e and e.code}, {nil, "order"}, source)
      refused = refused + 1
    end
  end
  t.ok(accepted > 20 and refused > 20, accepted .. " accepted, " .. refused .. " refused")
end)

t.done()
