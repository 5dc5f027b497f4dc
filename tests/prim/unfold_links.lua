-- unfold with links: values that axes carry go by streams between instances, with and without a driver; what has no
-- constant distance, no way or no order is refused, each beside an accepted twin. [slow]
local t = require "tap"
local campaign = require "campaign"
local tide = require "tide"
local i32 = tide.i32

-- A recurrence over N x M with a table W of its own; `o` has its right side, its result, its reads of X and Y.
local function recurrence(o)
  local text = ([[
    local tide = require "tide"
    local i32 = tide.i32
    %s
    return tide.kernel {name = "cells", X = i32[N], Y = i32[M], Z = i32[%s], function(X, Y, Z)
      %s
      local W = i32[N + 4][M + 4](1)
      for i = 0, N - 1 do
        for j = 0, M - 1 do W[i + 2][j + 2] = %s + X[i] * Y[j] end
      end
      %s
    end}]]):format(o.N and "" or 'local N, M = tide.size "N", tide.size "M"', o.whole and "N][M" or "1",
    o.assume or "", o.right,
    o.whole and "for a = 0, N - 1 do for b = 0, M - 1 do Z[a][b] = W[a + 2][b + 2] end end"
    or "Z[0] = W[N + 1][M + 1]")
  if o.N then text = text:gsub("%f[%w_][NM]%f[^%w_]", {N = o.N, M = o.M}) end
  return tide.schedule(load(text)())
end

-- Splits i by 3 and j by 4, tiles outside.
local function tile(s)
  s:split("i", 3, {names = {"i", "ii"}})
  s:split("j", 4, {names = {"j", "jj"}})
  return s:reorder("i", "j", "ii", "jj")
end

local diagonal = "W[i + 1][j + 1] * 2 - W[i + 1][j + 2] * 3 - W[i + 2][j + 1]"

-- Takes the unfold, states that it is proved, and returns the program's text.
local function proved(s, o, name)
  o.name = "pe"
  s:unfold("i", o)
  local level, verdict = s:verify()
  t.eq(level, "strict", name)
  return tostring(s), tostring(verdict)
end

t.test("all values between neighbours, and past the edge", function()
  for _, loops in ipairs {{"ii", "jj"}, {"ii"}, {"jj"}, {"jj", "ii"}} do
    local text = proved(tile(recurrence {right = diagonal, N = 6, M = 8}), {loops = loops, links = "W"}, loops[1])
    t.has(text, "W_back")
    t.has(text, "W_pass")
  end
end)

t.test("proved for all sizes that the tiles divide", function()
  local s = recurrence {right = diagonal, assume = "tide.assume(N % 3 == 0) tide.assume(M % 4 == 0)"}
  local text, verdict = proved(tile(s), {loops = {"ii", "jj"}, links = {"W", "W", "W", "X", "Y"},
    by = {1, 0, 0, 1, 1, 1, 0, 1, 1, 0}, driver = "edge"})
  t.has(verdict, "all sizes")
  t.has(text, "d.edge = tide.task {")
  t.has(text, "depth = (M + 3) // 4 + 2", "as many as there are tiles in a row")
end)

t.test("a driver gets one result, all of them, or what goes back", function()
  for _, whole in ipairs {false, true} do
    for _, loops in ipairs {{"ii", "jj"}, {"jj"}} do
      proved(tile(recurrence {right = diagonal, N = 6, M = 8, whole = whole}),
        {loops = loops, links = "W", driver = "edge"}, tostring(whole))
    end
  end
end)

t.test("untiled axes, distances of two, a stencil's neighbours on both sides", function()
  for _, right in ipairs {"W[i][j + 2] + W[i + 2][j]", "W[i + 1][j + 1] + W[i + 1][j + 2] * 2 + W[i + 1][j + 3] * 3",
    "W[i + 1][j]"} do
    proved(recurrence {right = right, N = 5, M = 6}, {loops = {"j"}, links = "W"}, right)
    proved(recurrence {right = right, N = 5, M = 6}, {loops = {"j"}, links = "W", driver = "edge"}, right)
  end
end)

t.test("a triangle: instances that have less to do", function()
  local k = tide.kernel {Z = i32[6][6], function(Z)
    for i = 1, 5 do
      for j = i, 5 do Z[i][j] = Z[i - 1][j] * 2 + Z[i][j - 1] + i end
    end
  end}
  local s = tide.schedule(k)
  s:unfold("i", {loops = {"i"}, links = "Z", name = "row"})
  t.eq(s:verify(), "strict")
end)

t.test("clamps: tiles that do not divide the loops, at all sizes", function()
  for _, o in ipairs {{}, {whole = true}} do
    for _, driver in ipairs {false, "edge"} do
      local s = tile(recurrence {right = diagonal, whole = o.whole})
      local _, verdict = proved(s, {loops = {"ii", "jj"}, links = "W", driver = driver or nil})
      t.has(verdict, "all sizes")
    end
  end
  local s = tile(recurrence {right = "W[i + 1][j + 2] + W[i + 1][j + 1]"})
  s:unfold("i", {loops = {"jj"}, links = "W"})
  t.eq(s:verify(), "strict")
  local ahead = recurrence {right = "W[i + 1][j + 3] + W[i + 1][j + 1]"}
  ahead:split("i", 3, {names = {"i", "ii"}})
  t.fails(function() ahead:unfold("i", {loops = {"j"}, links = "W"}) end, {code = "carried"})
end)

t.test("least depths: the feedback holds a row of tiles, where the row's end waits for it", function()
  local way = {1, 0, 0, 1, 1, 1}
  for _, by in ipairs {way, {0, 1, 1, 0, 1, 1}} do
    for _, M in ipairs {8, 12, 16} do
      local s = tile(recurrence {right = diagonal, N = 6, M = M})
      s:unfold("i", {loops = {"ii", "jj"}, links = {"W", "W", "W"}, by = by, driver = "edge", name = "pe"})
      local most = 0
      for _, depth in pairs(load(tostring(s))():depths()) do most = math.max(most, depth) end
      t.eq(most, by == way and M // 4 or math.max(M // 4 - 1, 1), "M = " .. M)
    end
  end
end)

local function refused(name, code, o, twin)
  t.test(name, function()
    local function take(p)
      local s = recurrence {right = p.right or diagonal, N = 6, M = 8, whole = p.whole}
      if p.tile ~= false then tile(s) end
      if p.split then s:split("j", 4, {names = {"j", "jj"}}) end
      s:unfold("i", {loops = p.loops or {"ii", "jj"}, links = p.links or "W", by = p.by, driver = p.driver})
      return s
    end
    local e = t.fails(function() take(o) end, {code = code})
    t.ok(e.line and e.line > 0)
    for k, v in pairs(o) do if twin[k] == nil then twin[k] = v end end
    t.eq(take(twin):verify(), "strict")
  end)
end

refused("a value without its way", "way", {links = {"W", "W"}, by = {1, 0, 0, 1}},
  {links = {"W", "W", "W"}, by = {1, 0, 0, 1, 1, 1}})
refused("a way that no value goes", "way", {links = {"W", "W", "W", "W"}, by = {1, 0, 0, 1, 1, 1, 2, 0}},
  {links = {"W", "W", "W"}, by = {1, 0, 0, 1, 1, 1}})
refused("too few numbers", "way", {links = {"W"}, by = {1}, right = "W[i + 1][j + 2]"}, {by = {1, 0}})
refused("an operand along an axis that it differs by", "way", {links = {"W", "W", "W", "X"}, driver = "edge",
  by = {1, 0, 0, 1, 1, 1, 1, 0}}, {by = {1, 0, 0, 1, 1, 1, 0, 1}})
refused("no constant distance", "carried", {right = "W[i + 1][j // 2]"}, {right = "W[i + 1][j + 1]"})
refused("read before it is written, in the order left", "carried", {right = "W[i + 1][j + 3]", tile = false,
  loops = {"i"}}, {loops = {"j"}})
refused("values that cross the edge backwards, and a driver", "carried", {right = "W[i][j + 3]", driver = "edge",
  tile = false, split = true, loops = {"jj"}}, {right = "W[i][j + 1]"})
refused("an array that is not there", "no-array", {links = "V"}, {links = "W"})
refused("a driver without links", "way", {loops = {"ii"}, links = {}, driver = "edge"}, {links = "W"})
refused("a driver's name", "name", {driver = "i32"}, {driver = "i_32"})

t.test("a kernel's other statements stay around a design without a driver", function()
  local text = proved(tile(recurrence {right = diagonal, N = 6, M = 8}), {loops = {"ii"}, links = "W"})
  t.has(text, "local W = i32[10][12](1)")
end)

t.test("a driver takes a kernel's own statements, not those of a loop around", function()
  local function take(around)
    local s = tide.schedule(load(([[
      local tide = require "tide"
      return tide.kernel {Z = tide.i32[2][5][6], function(Z)
        %s
          for i = 1, 4 do
            for j = 1, 5 do Z[%s][i][j] = Z[%s][i - 1][j] + Z[%s][i][j - 1] end
          end
        %s
      end}]]):format(around and "for b = 0, 1 do" or "", around and "b" or "1", around and "b" or "1",
      around and "b" or "1", around and "end" or ""))())
    s:unfold("i", {loops = {"i"}, links = "Z", driver = "edge"})
    return s
  end
  t.fails(function() take(true) end, {code = "driver"})
  t.eq(take(false):verify(), "strict")
end)

t.test("a driver has no old values: an iteration writes its element before it reads it, always", function()
  local function take(body, driver)
    local s = tide.schedule(load(([[
      local tide = require "tide"
      local i32 = tide.i32
      return tide.kernel {name = "scan", A = i32[9], X = i32[8], function(A, X)
        for i = 0, 7 do %s end
      end}]]):format(body))())
    s:unfold("i", {links = "A", driver = driver})
    return s:verify()
  end
  for bad, good in pairs {
    ["A[i] = A[i] + 1"] = "A[i] = 1 A[i] = A[i] + X[i]",
    ["A[i + 1] = A[i + 1] + A[i]"] = "A[i + 1] = A[i] A[i + 1] = A[i + 1] + A[i]",
    ["if X[i] > 0 then A[i + 1] = A[i] end"] = "if X[i] > 0 then A[i + 1] = A[i] else A[i + 1] = 0 end",
    ["if X[i] > 0 then A[i + 1] = A[i] end A[i + 1] = A[i + 1] * 2"] =
      "A[i + 1] = 3 if X[i] > 0 then A[i + 1] = A[i] end A[i + 1] = A[i + 1] * 2",
    ["for k = 0, X[i] do A[i + 1] = k end A[i + 1] = A[i + 1] + A[i]"] =
      "A[i + 1] = 0 for k = 0, 3 do A[i + 1] = A[i + 1] + k end",
  } do
    t.eq(take(good, "edge"), "strict", good)
    t.fails(function() take(bad, "edge") end, {code = "carried", match = "no old values"})
    if not bad:find "for" then t.eq(take(bad), "strict", bad) end
  end
end)

t.test("a part of a word is written to what the word held: instances have the array, or none is made", function()
  local function take(packs, driver)
    local s = tide.schedule(load [[
      local tide = require "tide"
      return tide.kernel {name = "words", X = tide.u8[8], Y = tide.u8[8], function(X, Y)
        local w = tide.u8[8]()
        for i = 0, 7 do w[i] = X[i] + 3 end
        for i = 0, 7 do Y[i] = w[i] end
      end}]]())
    if packs then s:pack("w", 0, 8) end
    s:unfold("i#1", {0, 0}, {links = {"w"}, driver = driver})
    return s:verify()
  end
  t.eq(take(false, "edge"), "strict")
  t.fails(function() take(true, "edge") end, {code = "carried"})
end)

t.test("a driver and its grid run at once: what one writes is not the other's besides", function()
  local function take(o)
    local s = tide.schedule(load(([[
      local tide = require "tide"
      local i32 = tide.i32
      return tide.kernel {name = "scan", A = i32[9], X = i32[8], Y = i32[8], function(A, X, Y)
        %s
        for i = 0, 7 do A[i + 1] = A[i] + %s end
        %s
      end}]]):format(o.before or "", o.right or "X[i]", o.after or ""))())
    s:unfold("i", {links = o.links or "A", driver = "edge"})
    return s:verify()
  end
  local message = "'X' is used by the driver and by the nest of 'i', and one writes it"
  t.fails(function() take {before = "X[1] = 3"} end, {code = "driver", match = message})
  t.fails(function() take {after = "X[1] = 3"} end, {code = "driver", match = message})
  t.eq(take {before = "Y[1] = 3"}, "strict")
  t.eq(take {before = "Y[1] = X[1]"}, "strict")
  t.eq(take {before = "X[1] = 3", links = {"A", "X"}}, "strict")
end)

t.test("a driver sends what a local holds that it fills; the nest does not read it besides", function()
  local function take(links, scalar)
    local s = tide.schedule(load(([[
      local tide = require "tide"
      local i32 = tide.i32
      return tide.kernel {name = "scan", A = i32[9], X = i32[8], function(A, X)
        %s
        for i = 0, 7 do A[i + 1] = A[i] + %s end
      end}]]):format(scalar or "local held = i32[8](0) for k = 0, 7 do held[k] = X[k] * 2 end",
      scalar and "held" or "held[i]"))())
    s:unfold("i", {links = links, driver = "edge"})
    return s
  end
  local e = t.fails(function() take {"A"} end, {code = "driver", match = "'held' is a local that"})
  t.has(e.help, "links")
  t.eq(take {"A", "held"}:verify(), "strict")
  t.fails(function() take({"A"}, "local held = i32(X[0]) + 1") end, {code = "driver", match = "'held'"})
end)

-- Random recurrences: one to three distances, tiles or none, one axis or two, a loop of pairs around.
local function random(seed)
  math.randomseed(seed)
  local R = math.random
  local step, terms = {R(3) > 1 and R(2, 3) or false, R(3) > 1 and R(2, 4) or false}, {}
  for k = 1, R(1, 3) do
    local a, b
    repeat a, b = R(0, 2), R(-1, 2) until a > 0 or b > 0
    terms[k] = ("W[i + %d][j + %d] * %d"):format(2 - a, 2 - b, k + 1)
  end
  local s = recurrence {right = table.concat(terms, " - "), N = (R(2) + 1) * (step[1] or 2),
    M = (R(2) + 1) * (step[2] or 3), whole = R(2) == 1}
  local loops, order, space = {"i", "j"}, {"i", "j"}, {}
  for n, v in ipairs(loops) do
    if step[n] then
      s:split(v, step[n], {names = {v, v .. v}})
      table.insert(order, #order + 1, v .. v)
    end
  end
  if R(2) == 1 then pcall(function() s:reorder(table.unpack(order)) end) end
  for n, v in ipairs(loops) do if R(3) > 1 then space[#space + 1] = step[n] and v .. v or v end end
  if #space == 0 then space[1] = step[1] and "ii" or "i" end
  local ok, e = pcall(s.unfold, s, "i", {loops = space, links = "W", driver = R(2) == 1 and "edge" or nil})
  if not ok then
    t.ok(e.kind ~= "bug", ("%d: %s"):format(seed, e))
    return false
  end
  t.eq(s:verify(), "strict", "seed " .. seed)
  return true
end

-- Running sums of rows in tiles of P, the load of the operand where its index is below `edge`.
local function apart(P, edge)
  local text = ([[
    local tide = require "tide"
    local i32, H, W = tide.i32, tide.size "H", tide.size "W"
    return tide.kernel {name = "sums", V = i32[H][W], R = i32[H][W], function(V, R)
      for y = 0, H - 1 do
        for x = 0, (W + P - 1) // P - 1 do
          for u = 0, P - 1 do
            local v = i32()
            if x * P + u < EDGE then v = V[y][x * P + u] end
            if x * P + u < W then
              if x * P + u == 0 then R[y][x * P + u] = 1
              else R[y][x * P + u] = R[y][x * P + u - 1] + V[y][x * P + u] end
            end
          end
        end
      end
    end}]]):gsub("EDGE", edge):gsub("%f[%w]P%f[%W]", P)
  return load(text)()
end

t.test("clamps: an operand that is loaded apart, under the same condition", function()
  for P = 2, 4 do
    local k = apart(P, "W")
    local s = tide.schedule(k)
    s:unfold("u", {loops = {"u"}, links = "R", name = "pe"})
    t.eq((s:verify()), "strict")
    local net = load(tostring(s))()
    for W = 1, 3 * P do
      local V, got, want = tide.random(i32[2][W], W), i32[2][W](0), i32[2][W](0)
      k:at {H = 2, W = W}(V, want)
      net:at {H = 2, W = W}(V, got)
      t.ok(got:equal(want), ("%d in tiles of %d"):format(W, P))
    end
    local less = tide.schedule(apart(P, "W - 1"))
    t.fails(function() less:unfold("u", {loops = {"u"}, links = "R"}) end, {code = "carried"})
  end
end)

t.test("random recurrences", function()
  local taken = 0
  local n, first = campaign.range(40)
  for seed = first, first + n - 1 do taken = taken + (random(seed) and 1 or 0) end
  t.ok(taken > 0)
end)

t.test("skewed and turned loops: the iteration that writes an element is solved for", function()
  for _, by in ipairs {1, 3} do
    local s = recurrence {right = diagonal, N = 6, M = 8}
    s:skew("i", "j", by)
    t.has(proved(s, {loops = {"i"}, links = "W"}, "skew"), "W_pass")
  end
  local s = recurrence {right = "W[i + 1][j] - W[i + 2][j]", N = 6, M = 5}
  s:skew("i", "j", 2):reorder("j", "i")
  s:unfold("j", {loops = {"j"}, links = "W", name = "pe"})
  t.eq((s:verify()), "strict", "turned")
  t.has(tostring(s), "map = {15}")
  s = recurrence {right = "W[i + 1][j] - W[i + 2][2 * j]", N = 6, M = 5}
  s:skew("i", "j", 2)
  t.fails(function() s:unfold("i", {loops = {"i"}, links = "W"}) end, {code = "carried"})
end)

t.test("an operand that an iteration reads several elements of does not travel", function()
  local i32 = tide.i32
  local function of(between)
    local s = tide.schedule(load([[
      local tide, i32 = ...
      return tide.kernel {A = i32[4][5], B = i32[4], Z = i32[5], function(A, B, Z)
        for i = 0, 3 do
          ]] .. between .. [[

          for j = 0, 4 do A[i][j] = B[i] + Z[j] end
        end
      end}]])(tide, i32))
    s:unfold("i", {0}, {links = {"Z"}, by = {1}, driver = "edge"})
    return s:verify()
  end
  local e = t.fails(function() of "local b = B[i]" end, {code = "carried", kind = "illegal"})
  t.has(tostring(e), "'j', which its index uses")
  t.fails(function() of("local Z = i32[5](1)") end, {code = "carried", kind = "illegal"})
  t.eq(of "", "strict")
end)

t.done()
