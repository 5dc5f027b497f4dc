-- matrix.lua - each primitive on programs of one, two and three dimensions, in a callee, after a split and after a
-- reorder: accepted and proved, or refused by the code that stands here.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local f32 = tide.f32

-- The index [i][j + by] of loop variables, the last one moved.
local function index(loops, by)
  return "[" .. table.concat(loops, "][") .. (by and " + " .. by or "") .. "]"
end

-- The text of a kernel `name` of two nests over n^d: T gets sums of neighbours, B what is made of T.
local function two_nests(name, first, second, n)
  local extent = ("[%d]"):format(n)
  local extents, wide = extent:rep(#first), extent:rep(#first - 1) .. ("[%d]"):format(n + 1)
  local grid = ("grid(%s)"):format(table.concat(first, ", "):gsub("%a+", n))
  return ([[
    local @name = tide.kernel {A = f32@wide, B = f32@extents, function(A, B)
      local T = f32@extents()
      for @first in @grid do T@at = A@at + A@next end
      for @second in @grid do B@second_at = T@second_at * 3.0 + 1.0 end
    end}
  ]]):gsub("@([%w_]+)", {
    name = name, wide = wide, extents = extents, grid = grid, first = table.concat(first, ", "),
    second = table.concat(second, ", "), at = index(first), next = index(first, 1), second_at = index(second),
  })
end

local head = "local tide = require 'tide' local grid, f32 = tide.grid, tide.f32 "
local letters = {{"i", "j", "k"}, {"p", "q", "r"}}

-- A case: of(), which makes the program, and the names of its first and last loops.
local function program(dims)
  local first, second = table.move(letters[1], 1, dims, 1, {}), table.move(letters[2], 1, dims, 1, {})
  local case = {dims = dims, first = first[1], last = first[dims], first2 = second[1], last2 = second[dims]}
  case.fused, case.nests = dims == 3 and {"j", "k"}, {first, second}
  function case.of()
    local T, W = f32, f32
    for d = 1, dims do T, W = T[6], W[d == dims and 7 or 6] end
    return load(head .. two_nests("sums", first, second, 6) .. "return sums")(), {W, T}
  end
  return case
end

-- The two-dimensional program as a kernel that another one calls.
local function callee()
  local case = program(2)
  case.unit = "sums"
  function case.of()
    return load(head .. two_nests("sums", {"i", "j"}, {"p", "q"}, 6) .. [[
      return tide.kernel {A = f32[2][6][7], B = f32[2][6][6], function(A, B)
        for n = 0, 1 do sums(A[n], B[n]) end
      end}]])(), {f32[2][6][7], f32[2][6][6]}
  end
  return case
end

local function after_split()
  local case = program(2)
  function case.before(s) s:split("j", 3):split("q", 3) end
  case.last, case.last2, case.fused = "j_i", "q_i", {"j_o", "j_i"}
  case.nests = {{"i", "j_o", "j_i"}, {"p", "q_o", "q_i"}}
  return case
end

local function after_reorder()
  local case = program(2)
  function case.before(s) s:reorder("j", "i"):reorder("q", "p") end
  case.first, case.last, case.first2, case.last2 = "j", "i", "q", "p"
  case.nests = {{"j", "i"}, {"q", "p"}}
  return case
end

local shapes = {program(1), program(2), program(3), callee(), after_split(), after_reorder()}
local names = {"1-D", "2-D", "3-D", "in a callee", "after split", "after reorder"}

local function stages(s, c) s:outline(c.first, "produce") s:outline(c.first2, "consume") end
local function relayed(s, c) stages(s, c) s:relay("T", "consume") s:dataflow(c.unit) end
local function unfolded(s, c) stages(s, c) s:unfold(c.first2, {0}) end
local function buffered(s, c)
  s:outline(c.first, "produce"):buffer_at("B", c.first2):unfold(c.first2, {0})
end
local function deep(s, c) relayed(s, c) s:depth("T", 216) end
local function halves(s, c)
  s:split(c.first2, 4, {tail = "cut"}):outline(c.first2 .. "_o", "most")
  s:outline(c.first2 .. "_t", "rest")
end
local function everywhere(code)
  local refused = {}
  for _, shape in ipairs(names) do refused[shape] = code end
  return refused
end
local function loosely(a, b) return a:allclose(b, {rtol = 1e-2, atol = 1e-2}) end

-- name -> the arguments of the step, what comes before it, and how it is refused where it is.
local rows = {
  bind = {function() return "T", {memory = "uram"} end},
  buffer_at = {function(c) return "A", c.first end},
  collapse = {function(c) return "A_" .. c.first end, function(s, c) s:buffer_at("A", c.first) end},
  fold_storage = {function() return "T" end, function(s, c)
    for d, loop in ipairs(c.nests[1]) do s:fuse(loop, c.nests[2][d]) end
  end},
  pack = {function(c) return "T", c.dims - 1, 2 end},
  partition = {function(c) return "T", c.dims - 1, {factor = 2} end},
  reshape = {function(c) return "T", ({{2, 3}, {36}, {6, 36}})[c.dims] end},
  reuse_at = {function(c) return "A", c.last end, refused = {["after reorder"] = "illegal no-overlap"}},
  auto = {function() return {dsp = 500, steps = 60} end},
  compose = {function(c) return tide.schedule((c.of())):pipeline(c.dims == 1 and "i" or "j") end,
    refused = {["after split"] = "usage no-loop"}},
  dataflow = {function(c) return c.unit end, stages},
  expand = {function() return "T" end, refused = everywhere "usage no-tensor"},
  fma = {function(c) return c.last2 end, level = "fused", equal = loosely},
  inline = {function(c) return (c.unit and c.unit .. ":" or "") .. "produce" end, stages},
  outline = {function(c) return c.first, "produce" end},
  unify = {function() return "most", "rest", 2 end, halves},
  compute_at = {function(c) return c.first, c.last2 end},
  fuse = {function(c) return table.unpack(c.fused or {c.first, c.dims == 1 and c.first2 or c.last}) end},
  parallel = {function(c) return c.first end},
  peel = {function(c) return c.first, 2 end},
  shift = {function(c) return c.last, 2 end},
  skew = {function(c) return c.first, c.dims == 1 and c.first2 or c.last, 1 end,
    refused = {["1-D"] = "illegal not-a-nest"}},
  widen = {function(c) return c.last end, function(s, c) if c.dims > 1 then s:skew(c.first, c.last, 1) end end,
    refused = {["1-D"] = "illegal ranges"}},
  pipeline = {function(c) return c.last end},
  reorder = {function(c) return c.dims == 1 and c.first2 or c.last, c.first end,
    refused = {["1-D"] = "illegal not-a-nest"}},
  rfactor = {function(c) return c.last end, refused = everywhere "illegal no-sum"},
  split = {function(c) return c.last, 2 end},
  unroll = {function(c) return c.last, 3, {replace = true} end},
  depth = {function() return "T", 40 end, relayed},
  relay = {function() return "T", "consume" end, stages},
  wire = {function() return "T" end, refused = {["in a callee"] = "illegal not-an-array"}},
  isolate = {function(c) return "B_" .. c.first2 end, buffered, refused = {["1-D"] = "usage not-an-array"}},
  chain = {function() return "produce", "consume" end, deep},
  place = {function() return "produce", {0, 1} end, relayed},
  search = {function() return {pes = 1} end, deep, refused = {["in a callee"] = "usage not-a-design"}},
  unfold = {function(c) return c.first2, {0} end},
  bundle = {function(c) return "consume_" .. c.first2, {axis = 0} end, unfolded},
  retype = {function() return "T", tide.f16 end, equal = loosely},
}

-- The test of a primitive in one shape.
local function try(name, row, case, shape)
  t.test(name .. ", " .. shape, function()
    local c = {of = case.of, step = {name, row[1](case)}, level = row.level, equal = row.equal}
    function c.before(s)
      if case.before then case.before(s) end
      if row[2] then row[2](s, case) end
    end
    local refusal = row.refused and row.refused[shape]
    if not refusal then return prim.accept(c) end
    c.kind, c.code = refusal:match "(%S+) (%S+)"
    prim.refuse(c)
  end)
end

-- Made for a nest or a task: tests/prim/inject.lua, deal, coalesce, hoist, merge, vectorize.
local left = {inject = true, deal = true, coalesce = true, hoist = true, merge = true, vectorize = true}
for _, p in ipairs(tide.registry().primitives) do
  local row = rows[p.name]
  t.test(p.name .. " has its row", function() t.ok(row or left[p.name]) end)
  for n, shape in ipairs(row and names or {}) do try(p.name, row, shapes[n], shape) end
end

t.done()
