-- arrays_from_nests.lua - arrays of processing elements from plain nests (Allo, Fig. 5): the same few steps on five
-- nests whose names, loop orders and sizes are drawn, proved and run; and nests whose accesses do not allow them.
-- [slow]
local t = require "tap"
local tide = require "tide"

-- A generator of its own: x |-> a x + c modulo 2^64.
local state
local function draw(n)
  state = state * 6364136223846793005 + 1442695040888963407
  return (state >> 33) % n + 1
end

local function shuffled(list)
  for i = #list, 2, -1 do
    local k = draw(i)
    list[i], list[k] = list[k], list[i]
  end
  return list
end

-- The nests: loops that become axes and those that stay, arrays with their extents, the statement, what starts results
-- at 0, and the loops along which inputs travel. Letters stand for names that are drawn: loops are small, extents and
-- arrays large.
local nests = {
  gemm = {axes = "ij", inner = "k", extents = {i = "M", j = "N", k = "K"},
    A = "[M][K]", B = "[K][N]", C = "[M][N]", body = "C[i][j] = C[i][j] + A[i][k] * B[k][j]",
    fresh = "C[i][j] = 0", along = {A = "j", B = "i"}},
  gemv = {axes = "i", inner = "k", extents = {i = "M", k = "K"},
    A = "[M][K]", B = "[K]", C = "[M]", body = "C[i] = C[i] + A[i][k] * B[k]", fresh = "C[i] = 0", along = {B = "i"}},
  convolution = {axes = "ij", inner = "k", extents = {i = "M", j = "N", k = "K"},
    A = "[M][K]", B = "[N + K]", C = "[M][N]", body = "C[i][j] = C[i][j] + A[i][k] * B[j + k]",
    fresh = "C[i][j] = 0", along = {A = "j", B = "i"}},
  stencil = {axes = "i", inner = "jk", extents = {i = "M", j = "N", k = "K"},
    A = "[M][N + K]", B = "[K]", C = "[M][N]", body = "C[i][j] = C[i][j] + A[i][j + k] * B[k]",
    fresh = "for j = 0, N - 1 do C[i][j] = 0 end", along = {B = "i"}},
  transposed = {axes = "ij", inner = "k", extents = {i = "M", j = "N", k = "K"},
    A = "[K][M]", B = "[K][N]", C = "[M][N]", body = "C[i][j] = C[i][j] + A[k][i] * B[k][j]",
    fresh = "C[i][j] = 0", along = {A = "j", B = "i"}},
}

local inputs = {"A", "B"}
local words = {"lhs", "rhs", "out", "x", "y", "z", "row", "col", "tap", "u", "v", "w", "left", "right", "sum", "weight"}

local function letters(text)
  local list = {}
  for letter in text:gmatch "%a" do list[#list + 1] = letter end
  return list
end

-- The names that letters have.
local function named(name, list)
  local names = {}
  for n, letter in ipairs(list) do names[n] = name[letter] end
  return names
end

-- A nest with drawn names, sizes and order of loops: its kernel, names (letter -> name), the types of its
-- arguments, its axes in order, and its text. `fresh`: results start at 0, in the axes' loops, which are outermost.
local function make(nest, fresh)
  local name, list = {}, shuffled {table.unpack(words)}
  for n, letter in ipairs {"A", "B", "C", "i", "j", "k", "band"} do name[letter] = list[n] end
  local sizes = {M = 1 + draw(3), N = 1 + draw(4), K = 1 + draw(4)}
  local axes, inner, extents = shuffled(letters(nest.axes)), shuffled(letters(nest.inner)), {}
  for n, loop in ipairs(axes) do extents[n] = nest.extents[loop] end
  local lines = {("for %s in grid(%s, '%s') do"):format(table.concat(named(name, axes), ", "),
    table.concat(extents, ", "), name.band)}
  local outermost = fresh and 1 or 0
  for _, loop in ipairs(inner) do
    local at = outermost + draw(#lines + 1 - outermost)
    table.insert(lines, at, ("for %s = 0, %s - 1 do"):format(name[loop], nest.extents[loop]))
  end
  local ends = ("end "):rep(#lines)
  if fresh then table.insert(lines, 2, nest.fresh) end
  local text = ("local tide, M, N, K = ... local i32, grid = tide.i32, tide.grid "
    .. "return tide.kernel {A = i32%s, B = i32%s, C = i32%s, function(A, B, C) %s %s %s end}"):format(nest.A, nest.B,
    nest.C, table.concat(lines, " "), nest.body, ends)
  text = text:gsub("%f[%w]%a%f[%W]", name)
  local kernel = assert(load(text))(tide, sizes.M, sizes.N, sizes.K)
  local types = {}
  for n, array in ipairs {"A", "B", "C"} do
    types[n] = load("local T, M, N, K = ... return T" .. nest[array])(tide.i32, sizes.M, sizes.N, sizes.K)
  end
  return kernel, name, types, axes, text
end

-- The steps, whatever the nest: axes outermost, inputs in buffers (the result too, if `drained`), axes unfolded,
-- buffers relayed: inputs in along the axis that does not need them, results out along the last one.
local function to_array(s, nest, name, axes, drained)
  local buffers, place, result = {}, {}, nil
  local order = named(name, axes)
  for n, axis in ipairs(axes) do place[axis] = n - 1 end
  for _, loop in ipairs(named(name, letters(nest.inner))) do order[#order + 1] = loop end
  if not drained then s:reorder(table.unpack(order)) end
  for _, array in ipairs(inputs) do
    if nest.along[array] then buffers[array] = select(2, s:buffer_at(name[array], order[#axes])) end
  end
  if drained then result = select(2, s:buffer_at(name.C, order[#axes])) end
  local _, pe = s:unfold(name.band)
  for _, array in ipairs(inputs) do
    if buffers[array] then s:relay(buffers[array], pe, {axis = place[nest.along[array]]}) end
  end
  if drained then s:relay(result, pe, {axis = #axes - 1}) end
  return s
end

-- States that two programs do the same to random data.
local function same(k, s, types)
  local a, b = {}, {}
  for n, T in ipairs(types) do a[n] = tide.random(T, n, {lo = -9, hi = 9}) b[n] = a[n]:copy() end
  k(table.unpack(a))
  s(table.unpack(b))
  for n in ipairs(types) do t.ok(a[n]:equal(b[n]), "argument " .. n) end
end

-- How many tasks have this name, in a schedule.
local function instances(s, name)
  local n = 0
  for _, task in ipairs(s:tasks()) do n = n + (task:match "^[%w_]+" == name and 1 or 0) end
  return n
end

-- States what an array that was made of a drawn nest must be: proved, a design, with a task for each PE and for each
-- line of them that is fed or drained, the same on data. `all`: with a clock and as HLS C++ too.
local function check(kernel, nest, name, types, axes, drained, all)
  local s = tide.schedule(kernel)
  local ok, e = pcall(to_array, s, nest, name, axes, drained)
  t.ok(ok, tostring(e) .. "\n" .. tostring(kernel))
  t.eq(s:verify(), "strict", tostring(kernel))
  t.has(tostring(s), "tide.design")
  local PEs, lines = 1, {}
  for _, axis in ipairs(axes) do PEs = PEs * kernel.sizes[nest.extents[axis]] end
  for n, axis in ipairs(axes) do lines[n] = PEs // kernel.sizes[nest.extents[axis]] lines[axis] = lines[n] end
  t.eq(instances(s, name.band), PEs)
  for array, axis in pairs(nest.along) do t.eq(instances(s, name[array] .. "_feed"), lines[axis], tostring(s)) end
  t.eq(instances(s, name.C .. "_drain"), drained and lines[#axes] or 0, tostring(s))
  same(kernel, s, types)
  if all then
    local timed = s:build {target = "cpu", timed = true}
    same(kernel, timed, types)
    t.ok(timed.report.cycles > 0)
    same(kernel, s:build {target = "hls"}, types)
  end
end

local kinds = {"gemm", "gemv", "convolution", "stencil", "transposed"}
for _, kind in ipairs(kinds) do
  for _, drained in ipairs {false, true} do
    t.test(kind .. ": names, orders and sizes are drawn" .. (drained and ", results drain" or ""), function()
      for seed = 1, drained and 3 or 6 do
        state = seed * 97 + #kind
        local kernel, name, types, axes = make(nests[kind], drained)
        check(kernel, nests[kind], name, types, axes, drained, seed == 1)
      end
    end)
  end
end

-- Nests whose own buffer b of x cannot travel, each beside a twin that differs in one access.
local function refused(name, c)
  t.test(name, function()
    for _, body in ipairs {c.no, c.yes} do
      local k = load(("local tide = ... local i32, grid = tide.i32, tide.grid return tide.kernel {A = i32[4][4], "
        .. "x = i32[4], y = i32[4], function(A, x, y) for i in grid(4, 'PE') do local b = i32[4]() for k = 0, 3 do "
        .. "%s end end end}"):format(body))(tide)
      local s = tide.schedule(k)
      s:unfold "PE"
      if body == c.yes then
        s:relay("b", "PE", {axis = 0})
        t.eq(s:verify(), "strict")
      else
        local e = t.fails(function() s:relay("b", "PE", {axis = 0}) end, {kind = "illegal"})
        t.eq(e.message, c.says)
        t.ok(e.line and e.col, "the place of the access")
      end
    end
  end)
end

local use = " end for k = 0, 3 do y[i] = y[i] + A[i][k] * b[k]"
refused("elements that data chooses", {says = "'x[index(A[0][k] & 3)]' is moved as data decides: 'index(A[0][k] & 3)'",
  no = "b[k] = x[tide.index(A[0][k] & 3)]" .. use, yes = "b[k] = x[(k + 1) & 3]" .. use})
refused("elements that data leaves out", {says = "'x[k]' is moved as data decides: '0 < A[0][k]'",
  no = "b[k] = 0 if A[0][k] > 0 then b[k] = x[k] end" .. use, yes = "b[k] = 0 if k > 0 then b[k] = x[k] end" .. use})
refused("an argument that is used beside the buffer", {says = "the task uses 'x' in other ways too: 'x[0]'",
  no = "b[k] = x[k]" .. use .. " + x[0]", yes = "b[k] = x[k]" .. use .. " + A[0][0]"})
refused("what is no copy", {says = "'b' is not copied from or to an argument, element by element",
  no = "b[k] = x[k] * 2" .. use, yes = "b[k] = x[k]" .. use .. " * 2"})

t.done()
