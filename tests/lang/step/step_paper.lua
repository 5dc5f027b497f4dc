-- The paper's figures 2 to 5, token by token.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, i32, u64, fn = tide.f32, tide.i32, tide.u64, step.fn

-- Lists whose lengths data decides: of v the numbers v .. 2 v - 1.
local function ragged(...)
  local list = { ... }
  local v = step.values(tide.tensor(u64[#list], list))
  return v:zip(v):flat_map(fn.cache_addresses(1), { rank = 1 })
end

t.test("Fig. 2: an affine read for each element of a dimension that data decides", function()
  local stored = tide.random(f32[64][256], 1)
  for _, routing in ipairs { { 0, 1, 0 }, { 1, 1, 1 }, { 0, 0, 0 } } do
    local list, some = {}, 0
    for i, way in ipairs(routing) do
      list[i] = { way }
      some = some + 1 - way
    end
    local g = step.graph(function()
      local ways = step.values(tide.tensor(i32[3], { 7, 8, 9 })):partition(step.selectors(list, { n = 2 }))
      ways[2]:sink()
      return ways[1]:load(stored, { tile = { 64, 64 }, shape = { 1, 4 }, stride = { 4, 1 } })
    end)
    t.has(tostring(g.outputs[1]), "[D0, 1, 4] of [64, 64] f32")
    local out, r = g:run { lists = true }
    t.eq({ #out, r.symbols.D0 }, { some, some })
    for _, once in ipairs(out) do
      t.eq({ #once, #once[1] }, { 1, 4 })
      for k, tile in ipairs(once[1]) do
        for _, at in ipairs { { 0, 0 }, { 63, 63 }, { 5, 17 } } do
          t.eq(tile[at[1]][at[2]], stored[at[1]][64 * (k - 1) + at[2]])
        end
      end
    end
  end
end)

t.test("Fig. 3: a ragged dimension becomes buffers, read as often as a stream says", function()
  local out = step.graph(function()
    local kept = ragged(3, 1, 2):bufferize({ rank = 1 })
    return kept, kept:streamify { ref = ragged(2, 1, 3) }
  end)
  local kept, again = out:run { lists = true }
  t.eq(kept, { { 3, 4, 5 }, { 1 }, { 2, 3 } })
  t.eq(again, { { { 3, 4, 5 }, { 3, 4, 5 } }, { { 1 } }, { { 2, 3 }, { 2, 3 }, { 2, 3 } } })
end)

-- Stream 0 with W (10) and X (11), the second soon after the first, `later` cycles late; stream 7 with Y (20) and Z
-- (21), the second much later; the others are empty.
local function inputs(later)
  local list = {}
  local function chunks(from, ahead)
    return step.load(tide.tensor(i32[2][1], { { from }, { from + 1 } }),
      { tile = { 1, 1 }, shape = { 2, 1 }, stride = { 1, 1 }, ahead = ahead })
  end
  local w = chunks(10, 2)
  for _ = 1, later do w = w:flatten(0, 0) end
  list[1] = w
  for i = 2, 7 do list[i] = step.values(tide.tensor(i32[0][1], {})):flatten(0, 0) end
  list[8] = chunks(20)
  return list
end

t.test("Fig. 4: Reassemble takes chunks whole, in order of arrival; EagerMerge W Y X Z or Y W X Z", function()
  local letters = { [10] = "W", [11] = "X", [20] = "Y", [21] = "Z" }
  local function spelled(list)
    local out = {}
    for i, x in ipairs(list) do out[i] = type(x) == "table" and spelled(x) or letters[x] end
    return "(" .. table.concat(out, " ") .. ")"
  end
  for later, want in pairs { [0] = { "((W) (Y) (X) (Z))", "(((W) (Y)) ((X) (Z)))" },
    [3] = { "((Y) (W) (X) (Z))", "(((Y) (W)) ((X) (Z)))" } } do
    local merged, who = step.graph(function()
      return step.eager_merge(inputs(later), { rank = 1 })
    end):run { lists = true }
    t.eq(spelled(merged), want[1])
    t.eq(who, later == 0 and { { 0 }, { 7 }, { 0 }, { 7 } } or { { 7 }, { 0 }, { 0 }, { 7 } })
    local g = step.graph(function()
      return step.reassemble(inputs(later), step.selectors({ { 0, 7 }, { 0, 7 } }, { n = 8 }), { rank = 1 })
    end)
    t.eq(spelled((g:run { lists = true })), want[2])
    t.eq(spelled((g:run { lists = true, order = "index" })), "(((W) (Y)) ((X) (Z)))")
  end
end)

t.test("Fig. 5: Expand repeats each element along a reference, whose shape it gets", function()
  local out = step.graph(function()
    return step.values(tide.tensor(i32[3][1], { { 5 }, { 6 }, { 7 } })):expand(ragged(3, 0, 2), { rank = 1 })
  end):run { lists = true }
  t.eq(out, { { 5, 5, 5 }, {}, { 7, 7 } })
end)

t.done()
