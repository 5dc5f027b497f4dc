-- [slow]
-- Graphs of STeP as designs: what does not depend on arrival has the bits of the run on the CPU and in HLS C++; the
-- rest is refused by node.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, i32, fn = tide.f32, tide.i32, step.fn

-- The tensors that a design leaves, beside those of a run; build: also its HLS C++.
local function same(g, stores, build, o)
  g:run()
  local want = {}
  for i, y in ipairs(stores) do
    want[i] = y:copy()
    y:set(0)
  end
  local d, arguments = g:design(o)
  d(table.unpack(arguments))
  for i, y in ipairs(stores) do t.ok(y:equal(want[i]), "the CPU's bits") y:set(0) end
  local text = tostring(d)
  t.eq(tostring(load(text)(d:constants())), text)
  if not build then return d end
  tide.schedule(d):build({ target = "hls" })(table.unpack(arguments))
  for i, y in ipairs(stores) do t.ok(y:equal(want[i]), "the bits of HLS C++") end
  return d
end

-- Fig. 7 of the paper with other extents: rows to experts, each a product in tiles of N rows.
local function simplified(c)
  local x, y = tide.random(f32[c.n][c.D], 1), f32[c.n][c.F](0)
  local list = {}
  for r = 1, c.n do list[r] = { c.expert[r] } end
  local g = step.graph(function()
    local rows = step.load(x, { tile = { 1, c.D } })
    local sel, outs = step.selectors(list, { n = c.E }), {}
    for e, branch in ipairs(rows:partition(sel, { n = c.E, rank = 1 })) do
      local w = tide.random(f32[c.D][c.F], e + 1)
      local packed = branch:flatten(0, 1):reshape { chunk = c.N, pad = f32[1][c.D](0) }
        :accum(fn.retile_row, { rank = 1 })
      local weight = packed:load(w, { tile = { c.D, c.tf } }):flatten(0, 1)
      outs[e] = packed:promote { at = 0 }:expand(weight, { rank = 1 }):zip(weight):map(fn.matmul, { bw = 64 })
        :accum(fn.retile_col, { rank = 1 }):flat_map(fn.split_rows)
    end
    step.reassemble(outs, sel, { rank = 0 }):assume_shape(rows.shape):store(y)
  end)
  return g, y
end

t.test("Fig. 7: an expert without rows, a last tile that is not filled", function()
  local g, y = simplified { n = 7, D = 8, F = 12, tf = 4, N = 3, E = 2, expert = { 0, 1, 1, 0, 0, 1, 0 } }
  same(g, { y }, true)
  g, y = simplified { n = 5, D = 4, F = 4, tf = 4, N = 2, E = 3, expert = { 2, 0, 2, 2, 0 } }
  same(g, { y })
end)

t.test("tiles that are larger than a stack, in loops that also run as bursts", function()
  local g, y = simplified { n = 4, D = 64, F = 64, tf = 64, N = 4, E = 2, expert = { 0, 1, 1, 0 } }
  same(g, { y })
end)

t.test("the SwiGLU layer", function()
  local B, D, F = 8, 8, 16
  for _, c in ipairs { { 4, 8 }, { 8, 4 } } do
    local y = f32[B][D](0)
    local g = require("tide.step.models").swiglu { B = B, D = D, F = F, tm = c[1], tn = c[2], bw = 64,
      x = tide.random(f32[B][D], 1), wg = tide.random(f32[D][F], 2), wu = tide.random(f32[D][F], 3),
      wd = tide.random(f32[F][D], 4), y = y }
    same(g, { y }, c[1] == 4)
  end
end)

-- y = A x of a sparse matrix in tiles: counts of each row, then columns and values, all from tensors.
local function sparse(counts, columns, T, D)
  local n, pitch = #counts, 0
  for _, k in ipairs(counts) do pitch = math.max(pitch, k) end
  local at = i32[n](0)
  for r = 1, n do at[r - 1] = r - 1 end
  local where, y = i32[n * pitch][1](0), f32[n * T][D](0)
  local k = 0
  for r, c in ipairs(counts) do
    for i = 0, c - 1 do
      k = k + 1
      where[(r - 1) * pitch + i][0] = columns[k]
    end
  end
  local values = tide.random(f32[n * pitch * T][T], 3)
  local x = tide.random(f32[8 * T][D], 4)
  local g = step.graph(function()
    local rows, count = step.values(at), step.values(tide.tensor(i32[n], counts))
    local slots = rows:zip(count):flat_map(fn.cache_addresses(pitch), { rank = 1 })
    local a = slots:load_at(values, { tile = { T, T } })
    local b = slots:load_at(where, { tile = { 1, 1 } }):load_at(x, { tile = { T, D } })
    a:zip(b):map_accum(fn.matmul, { rank = 1, bw = 16 }):store(y)
  end)
  return g, y
end

t.test("SpMM: counts from a tensor, empty rows", function()
  local g, y = sparse({ 2, 0, 3, 1 }, { 0, 5, 1, 2, 7, 3 }, 2, 4)
  same(g, { y }, true)
  g, y = sparse({ 0, 1 }, { 4 }, 4, 2)
  same(g, { y })
end)

t.test("shapes, folds, scans, functions", function()
  local x, y, z = tide.random(f32[12][4], 1), f32[12][4](0), f32[6][4](0)
  local g = step.graph(function()
    local a = step.load(x, { tile = { 1, 4 } }):flatten(0, 1)
    a:map(fn.silu):reshape { chunk = 3 }:scan(fn.add, { rank = 1 }):flatten(0, 1):store(y)
    a:reshape { chunk = 2 }:accum(fn.add, { rank = 1 }):map(fn.exp):store(z)
  end)
  same(g, { y, z }, true)
  local w = f32[24][4](0)
  g = step.graph(function()
    local a = step.load(x, { tile = { 2, 4 } }):flatten(0, 1)
    a:rep(2):promote { at = 1 }:flatten(0, 2):zip(a:rep(2):flatten(0, 1)):map(fn.mul):store(w)
  end)
  same(g, { w })
end)

t.test("tiles whose rows data decides, up to a bound; kernels", function()
  local m, n = tide.size "m", tide.size "n"
  local double = tide.kernel { name = "double", a = f32[m][n], out = f32[m][n], function(a, out)
    for i, j in tide.grid(m, n) do out[i][j] = a[i][j] + a[i][j] + f32(1) end
  end }
  local x, y = tide.random(f32[6][4], 1), f32[6][4](0)
  local list = { { 1 }, { 0 }, { 1 }, { 1 }, { 0 }, { 1 } }
  local g = step.graph(function()
    local sel, outs = step.selectors(list, { n = 3 }), {}
    for e, b in ipairs(step.load(x, { tile = { 1, 4 } }):flatten(0, 1):partition(sel)) do
      outs[e] = b:promote():accum(fn.retile_row, { rank = 1 }):map(double):flat_map(fn.split_rows)
    end
    step.reassemble(outs, sel):store(y)
  end)
  same(g, { y }, true)
end)

t.test("what is returned and not stored is an argument", function()
  local x = tide.random(f32[4][4], 1)
  local g = step.graph(function() return step.load(x, { tile = { 2, 4 } }):map(fn.silu) end)
  local d, arguments = g:design()
  d(table.unpack(arguments))
  local want = g:run()
  for i, j in tide.grid(4, 4) do
    t.ok(arguments[2][i][j] == want[i // 2][0][i % 2][j], "it has the run's bits")
  end
end)

local function rows(n, x) return step.load(x or f32[n][4], { tile = { 1, 4 } }):flatten(0, 1) end

-- The numbers in tensors and lists, in order.
local function numbers(v, out)
  if type(v) == "number" or type(v) == "boolean" then
    out[#out + 1] = v
  elseif type(v) == "table" then
    for _, x in ipairs(v) do numbers(x, out) end
  else
    local extents = {}
    for n in tostring(v.type):gmatch "%[(%d+)%]" do extents[#extents + 1] = tonumber(n) end
    local function go(x, d)
      if d > #extents then out[#out + 1] = x return end
      for i = 0, extents[d] - 1 do go(x[i], d + 1) end
    end
    go(v, 1)
  end
  return out
end

-- What a graph returns is what its design leaves in the last arguments, which are as long as the bounds.
local function returns(build, o, target)
  local g = step.graph(build)
  local want = table.pack(g:run { lists = true })
  local d, arguments = g:design(o)
  local run = target and tide.schedule(d):build { target = target } or d
  run(table.unpack(arguments))
  for i = 1, want.n - 1 do
    local a, b = numbers(want[i], {}), numbers(arguments[#arguments - want.n + 1 + i], {})
    t.ok(#a > 0 and #a <= #b, "it has them all")
    t.eq(table.move(b, 1, #a, 1, {}), a)
  end
end

t.test("buffers: read again, by shape, by a reference; routed, gathered, reshaped", function()
  for _, size in ipairs { { 6, 4, 2 }, { 3, 6, 3 } } do
    local n, cols, part = table.unpack(size)
    local x, list = tide.random(f32[n][cols], 1), {}
    for i = 1, n do list[i] = i == n and { 1 } or i == 2 and {} or { (i + 1) % 2 } end
    local function buffers() return step.load(x, { tile = { 1, cols // part } }):bufferize { rank = 1 } end
    for _, build in ipairs {
      function() return buffers():streamify(), buffers():streamify { times = { 2, 3 } } end,
      function() return buffers():streamify { shape = { part, 2 }, stride = { 1, 0 }, times = { 2 } } end,
      function() return buffers():streamify { ref = step.values(i32[n][3](1)) } end,
      function() return buffers():streamify { ref = step.values(i32[n][2][2](1)) } end,
      function() return buffers():promote { at = 0 }:promote():flatten(1, 2):streamify { times = { 2 } } end,
      function()
        local a, b = table.unpack(buffers():parallelize(2))
        return a:streamify(), b:streamify { times = { 2 } }
      end,
      function()
        local a, b = table.unpack(buffers():partition(step.selectors(list, { n = 2 })))
        return a:streamify { times = { 2 } }, b:streamify()
      end,
      function()
        local sel = step.selectors(list, { n = 2 })
        return step.reassemble(buffers():partition(sel), sel):streamify { times = { 2 } }
      end,
      function()
        local b = step.load(x, { tile = { 1, cols // part }, shape = { 2, n, part }, stride = { 0, part, 1 } })
          :bufferize { rank = 2 }
        return b:streamify(), b:streamify { shape = { part, n }, stride = { 1, part }, times = { 2 } }
      end,
    } do returns(build) end
    returns(function() return buffers():streamify { times = { 2 } } end, nil, "hls")
  end
end)

t.test("buffers that data fills, of tiles whose rows data decides", function()
  local x = tide.random(f32[6][4], 1)
  local counts = tide.tensor(i32[4], { 2, 0, 3, 1 })
  local function ragged()
    local n = step.values(counts)
    return n:zip(n):flat_map(fn.cache_addresses(1), { rank = 1 }):load_at(x, { tile = { 1, 4 } }):bufferize { rank = 1 }
  end
  returns(function() return ragged():streamify { ref = step.values(i32[4][2](0)) }:accum(fn.add, { rank = 1 }) end,
    { bound = { R0 = 3 } })
  returns(function() return ragged():streamify { times = { 2 } } end, { bound = { R0 = 3, R1 = 3 } })
  returns(function()
    local outs = {}
    for i, r in ipairs(rows(6, x):partition(step.selectors({ { 0 }, { 1 }, { 0 }, { 0 }, { 1 }, { 0 } }, { n = 2 }))) do
      outs[i] = r:reshape { chunk = 3, pad = f32[1][4](0) }:accum(fn.retile_row, { rank = 1 }):promote { at = 0 }
        :bufferize { rank = 1 }:streamify { times = { 2 } }:flat_map(fn.split_rows)
    end
    return table.unpack(outs)
  end)
end)

t.test("acknowledged writes, valid rows by data, tensors of any rank", function()
  for _, n in ipairs { 3, 5 } do
    local x, order, valid = tide.random(f32[2 * n][4], 2), {}, {}
    for i = 1, n do order[i], valid[i] = (i * 2) % n, i % 2 end
    order, valid = tide.tensor(i32[n], order), tide.tensor(i32[n], valid)
    local function tiles() return step.load(x, { tile = { 2, 4 } }):flatten(0, 1) end
    for _, ack in ipairs { "addr", "data" } do
      local y = f32[2 * n][4](0)
      local g = step.graph(function() return step.values(order):store_at(tiles(), y, { ack = ack }) end)
      g:run()
      local want = y:copy()
      y:set(0)
      local d, arguments = g:design()
      d(table.unpack(arguments))
      t.ok(y:equal(want), ack)
      for i = 0, n - 1 do t.eq(arguments[#arguments][i][0], true) end
    end
    local function some() return tiles():zip(step.values(valid)):map(fn.set_offset) end
    returns(function() return some():map(fn.exp) end)
    returns(function()
      local row = step.load(tide.random(f32[n][4], 5), { tile = { 1, 4 } }):flatten(0, 1)
      return some():zip(row):map(fn.append_row):flat_map(fn.split_rows)
    end)
    local z, line = tide.random(f32[2][n][2][4], 3), tide.random(f32[4 * n], 4)
    returns(function() return step.load(z, { tile = { 2, 2 } }), step.load(line, { tile = { 1, 4 } }) end)
    returns(function() return step.values(order):load_at(z, { tile = { 1, 2 }, base = 3 }) end)
  end
end)

-- refused, accepted: builders; words of the refusal.
local function twins(name, words, refused, accepted)
  t.test(name, function()
    local ok, err = pcall(step.graph(refused).design, step.graph(refused))
    t.ok(not ok and tostring(err):find(words, 1, true), tostring(err))
    ok, err = pcall(step.graph(accepted).design, step.graph(accepted))
    t.ok(ok, tostring(err))
  end)
end

local function gathered(o, sets)
  return function()
    local sel = step.selectors(sets, { n = 2 })
    return step.reassemble(rows(3):partition(sel), sel, o)
  end
end
local multi = { { 0, 1 }, { 1 }, { 0 } }
twins("chunks of several branches as they arrive", "takes chunks as they arrive", gathered({}, multi),
  gathered({ order = "index" }, multi))
twins("chunks of several branches, none of them at once", "takes chunks as they arrive", gathered({}, multi),
  gathered({}, { { 0 }, { 1 }, { 0 } }))
twins("a merge", "takes chunks as they arrive",
  function() return step.eager_merge { rows(2), rows(3) } end,
  function() return rows(2), rows(3) end)
twins("buffers where tiles repeat", "reads buffers",
  function() return rows(4):promote():bufferize { rank = 1 }:rep(2):streamify() end,
  function() return rows(4):promote():bufferize { rank = 1 }:streamify():rep(2) end)
twins("a list without a bound is returned", "bound = { R0 = n } does", function()
  local n = step.values(tide.tensor(i32[2], { 2, 1 }))
  return n:zip(n):flat_map(fn.cache_addresses(1), { rank = 1 }):load_at(f32[8][4], { tile = { 1, 4 } })
end, function()
  local n = step.values(tide.tensor(i32[2], { 2, 1 }))
  return n:zip(n):map(fn.cache_slot(1)):load_at(f32[8][4], { tile = { 1, 4 } })
end)
twins("rows without a bound", "nothing bounds it",
  function()
    local n = step.values(tide.tensor(i32[1], { 2 }))
    return n:zip(n):flat_map(fn.cache_addresses(1), { rank = 1 }):load_at(f32[8][4], { tile = { 1, 4 } })
      :accum(fn.retile_row, { rank = 1 })
  end,
  function()
    local n = step.values(tide.tensor(i32[1], { 2 }))
    return n:zip(n):flat_map(fn.cache_addresses(1), { rank = 1 })
      :load_at(f32[8][4], { tile = { 1, 4 } }):accum(fn.add, { rank = 1 })
  end)

t.done()
