-- Attributes as comments: on every kind of statement, in kernels, functions they call, designs.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local i8, i32, f32, grid = tide.i8, tide.i32, tide.f32, tide.grid

-- The lines of k's text that carry a mark, without their indentation.
local function marked(k)
  local list = {}
  for line in tostring(k):gmatch "[^\n]+" do
    if line:find("--@", 1, true) then list[#list + 1] = line:match "^%s*(.*)" end
  end
  return list
end

local function helper(B, n)
  for i = 0, n - 1 do --@ unroll(2)
    B[i] = B[i] + 1
  end
end

t.test("loops, while, locals, parameters, the kernel, calls of functions", function()
  local k = tide.kernel {
    A = i8[8], --@ partition(0, cyclic, 2) storage(bram)
    B = i32[8], --@ partition(0, complete, 0)
    function(A, B) --@ inline
      local buffer = i32[8](0) --@ storage(lutram) ports(2) latency(1)
      local x, pair = A[0] + 1, i32[2](3) --@ order("m")
      for i = 0, 7 do --@ pipeline(1) rewind
        buffer[i] = A[i] + x --@ at("a.lua", 3, 5)
      end
      for i, j in grid(2, 4, "PE") do --@ unroll(4), dep(B, none)
        B[i * 4 + j] = buffer[i * 4 + j] + pair[0]
      end
      local n = 0
      while n < 3 do --@ bound(8)
        n = n + 1
      end
      repeat --@ bound(3)
        n = n - 1
      until n == 0
      for i = 0, 7 do --@ parallel
        B[i] = B[i] + 1
      end
      helper(B, 4)
      helper(B, 8)
    end,
  }
  local text = tostring(k)
  for _, part in ipairs {"partition(0, cyclic, 2) storage(bram)", "partition(0, complete, 0)",
    "--@ inline", "storage(lutram) ports(2) latency(1)", 'order("m")', "pipeline(1) rewind",
    "band(PE) unroll(4) dep(B, none)", "bound(8)", "bound(3)", "parallel", 'at("a.lua", 3, 5)'} do
    t.has(text, part)
  end
  t.eq(select(2, text:gsub("unroll%(2%)", "")), 2)
  p.same(k, tide.random(i8[8], 1), i32[8](0))
end)

t.test("the marks of one line go to what can carry them", function()
  local k = tide.kernel {A = i32[4], function(A) for i = 0, 3 do A[i] = i end end} --@ pipeline(2)
  t.eq(marked(k), {"for i = 0, 3 do --@ pipeline(2)"})
  local q = tide.kernel {A = i32[4],
    function(A) for i = 0, 3 do local s = i32[2](i) A[i] = s[0] end end} --@ pipeline(2) inline storage(bram)
  t.eq(marked(q), {"function(A) --@ inline", "for i = 0, 3 do --@ pipeline(2)",
    "local s = i32[2](i) --@ storage(bram)"})
  p.same(q, i32[4](0))
end)

t.test("designs: arguments, streams, tasks, their kernels", function()
  local top = tide.design(function(d)
    local A = d:arg(f32[4]) --@ bytes_per_cycle(8)
    local Z = d:stream(f32, {depth = 2}) --@ lanes(2) min_depth(1) impl(srl)
    d.a = tide.task { --@ place(0, 1) autorun
      A = A, --@ partition(0, block, 2)
      function(A) --@ cost(1, 2, 3)
        for i = 0, 3 do --@ pipeline(1)
          Z:put(A[i])
        end
      end,
    }
    d.b = tide.task { --@ host
      B = f32[4], --@ latency(3)
      function(B)
        for i = 0, 3 do B[i] = Z:get() end
      end,
    }
  end) --@ inline
  local text = tostring(top)
  for _, part in ipairs {"bytes_per_cycle(8)", "lanes(2) min_depth(1) impl(srl)",
    "place(0, 1) autorun",
    "partition(0, block, 2)", "cost(1, 2, 3)", "pipeline(1)", "--@ host", "latency(3)"} do
    t.has(text, part)
  end
  p.foreign(top, tide.random(f32[4], 1), f32[4](0))
end)

local weights = tide.tensor(i32[4], {5, 6, 7, 8}) --@ partition(0, cyclic, 2) storage(lutram)
local total = tide.state(i32[2], 1) --@ partition(0, complete, 0)

t.test("constant tables and states, where they are declared", function()
  local big = tide.tensor(i32[100], tide.random(i32[100], 1):table()) --@ partition(0, block, 4)
  local k = tide.kernel {A = i32[4], function(A)
    for i = 0, 3 do total[i % 2] = total[i % 2] + weights[i] * big[i] end
    for i = 0, 3 do A[i] = total[i % 2] end
  end}
  local text = tostring(k)
  for _, part in ipairs {"partition(0, cyclic, 2) storage(lutram)", "partition(0, complete, 0)",
    "partition(0, block, 4)"} do
    t.has(text, part)
  end
  t.eq(tostring(assert(load(text))(k:constants())), text)
  local s = tide.schedule(tide.kernel {A = i32[4], function(A) for i = 0, 3 do A[i] = weights[i] end end})
  s:partition("weights", {0}, {factor = 4})
  t.eq(tostring(load(tostring(s))()), tostring(s))
  local one = tide.tensor(i32[1], {3})
  local c = one local l = tide.kernel {A = i32[1], function(A) A[0] = c[0] end} --@ inline
  t.has(tostring(l), "--@ inline")
  local few = tide.tensor(i32[2], {1, 2}) --@ partition(0, cyclic, 3)
  t.fails(function() tide.kernel {A = i32[2], function(A) A[0] = few[1] end} end, {code = "attribute"})
  local wrong = tide.tensor(i32[2], {1, 2}) --@ pipeline(1)
  t.fails(function() tide.kernel {A = i32[2], function(A) A[0] = wrong[1] end} end, {code = "attribute"})
end)

t.test("comments that are no marks", function()
  local k = tide.kernel {A = i32[4], function(A)
    for i = 0, 3 do -- @ pipeline(1)
      A[i] = 1 --[[@ unroll(2)]]
      local s <const> = "--@ nothing(1)"
      A[i] = #s
    end
    --- @ parallel
  end}
  t.eq(marked(k), {})
end)

p.done()
