-- [slow] sections_allo.lua - sentences of Allo's paper (PLDI 2024, sections 5 to 8) that no acceptance case covers.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local nn, systolic = require "tide.nn", require "tide.systolic"
local f32 = tide.f32

-- States that a program, its text loaded back and its HLS C++ do what `k` does in plain Lua.
local function same(program, k, what)
  local args, want = {}, {}
  for i, p in ipairs(k.params) do args[i] = tide.random(p.type, i) end
  for i, x in ipairs(args) do want[i] = x:copy() end
  k:native(table.unpack(want))
  local loaded = load(tostring(program))(program:constants())
  for name, run in pairs {run = program, text = loaded, hls = program:build {target = "hls"}} do
    local got = {}
    for i, x in ipairs(args) do got[i] = x:copy() end
    run(table.unpack(got))
    for i, x in ipairs(want) do t.ok(got[i]:equal(x), ("%s: %s, argument %d"):format(what, name, i)) end
  end
end

t.test("5.1: a program at any stage of its schedule is whole: each on the way to the array of Fig. 5", function()
  local k = prim.shape.gemm {M = 3, N = 2, K = 4}
  local s = tide.schedule(k)
  local steps = {{"buffer_at", "A", "j"}, {"buffer_at", "B", "j"}, {"unfold", "PE", {0, 1}}, {"partition", "C", {0, 1}},
    {"partition", "A", 0}, {"partition", "B", 1}, {"relay", "A_j", "PE", {axis = 1, depth = 4}},
    {"relay", "B_j", "PE", {axis = 0, depth = 3}}}
  for n, step in ipairs(steps) do
    s[step[1]](s, table.unpack(step, 2))
    local level, verdict = s:verify()
    t.eq(level, "strict", tostring(verdict))
    same(s, k, ("after step %d, %s"):format(n, step[1]))
  end
  t.eq(#s:steps(), 8, "eight lines of schedule")
  s:undo(5)
  same(s:pipeline "PE:k", k, "another way from the third step on")
end)

t.test("5.1: splits say how many elements there are, further buffers how many levels of memory", function()
  local k = prim.shape.gemm {M = 6, N = 4, K = 5}
  local s = tide.schedule(k)
  s:split("i", 3, {tail = "perfect"}):split("j", 2, {tail = "perfect"}):reorder("i_o", "j_o", "i_i", "j_i")
  local _, row = s:buffer_at("A", "j_i")
  local _, column = s:buffer_at("B", "j_i")
  s:unfold("PE", {2, 3})
  s:relay(row, "PE", {axis = 1}):relay(column, "PE", {axis = 0})
  local _, near = s:buffer_at("A", "A_feed:j_o")
  t.has(tostring(s), ("local %s = i8[K]()"):format(near))
  local level, verdict = s:verify()
  t.eq(level, "strict", tostring(verdict))
  t.eq(#s:tasks(), 3 * 2 + 3 + 2, "the elements, and those that feed their edges")
  same(s, k, "six elements for a product of six by four")
end)

t.test("8.3: layers are tested alone, composed bottom-up with their schedules, then joined by streams", function()
  local M, D, H = 3, 4, 6
  local up, act = nn.linear({M = M, K = D, N = H, T = f32}, "up"), nn.relu({shape = {M, H}}, "act")
  local array = systolic.gemm({M = M, N = 2, K = H, pm = 3, pn = 2, T = f32}, "array")
  for _, layer in ipairs {up, act, array} do t.eq(nn.schedule(layer):verify(), "strict") end
  local k = tide.kernel {
    name = "network", X = f32[M][D], W = f32[D][H], b = f32[H], V = f32[H][2], Y = f32[M][2],
    function(X, W, b, V, Y)
      local h, a = f32[M][H](), f32[M][H]()
      up(X, W, b, h)
      act(h, a)
      array(a, V, Y)
    end,
  }
  local s = tide.schedule(k)
  for _, layer in ipairs {up, act, array} do s:compose(nn.schedule(layer)) end
  s:dataflow():relay("h", "act")
  local level, verdict = s:verify()
  t.eq(level, "strict", tostring(verdict))
  local args, other = {}, {}
  for i, p in ipairs(k.params) do args[i] = tide.random(p.type, i) end
  for i, x in ipairs(args) do other[i] = x:copy() end
  k(table.unpack(args))
  s:build {target = "hls"}(table.unpack(other))
  t.ok(args[5]:equal(other[5]))
  t.ok(s:estimate().cycles < tide.schedule(k):estimate().cycles)
end)

t.done()
