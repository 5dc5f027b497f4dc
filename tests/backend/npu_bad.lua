-- npu_bad.lua - what no NPU can do, asked of designs: each refusal says where, how much and what would help, beside a
-- design that differs in one fact and is built.
local npu = require "tide.npu"
local npu_case = require "npu_case"
local shell = require "shell"
local t = require "tap"
local tide = require "tide"
local i32 = tide.i32

-- Two tasks behind each other, of elements of type T, with marks as text.
local function pair(T, first, second)
  return load(([[
    local tide, T = ...
    return tide.design(function(d)
      local S = d:stream(T[8], {block = true})
      d.first = tide.task { %s
        A = T[4][8], function(A)
        for i in tide.grid(4) do
          local o = S:slot()
          for j in tide.grid(8) do o[j] = T(A[i][j] * 2) end
          S:put(o)
        end
      end}
      d.second = tide.task { %s
        B = T[4][8], function(B)
        for i in tide.grid(4) do
          local x = S:get()
          for j in tide.grid(8) do B[i][j] = T(x[7 - j] + i) end
        end
      end}
    end)]]):format(first or "", second or ""), "=pair")(tide, T)
end

local types = {i32[4][8], i32[4][8]}

local function refused(d, code, match, options)
  local o = {target = "npu", tool = false}
  for k, v in pairs(options or {}) do o[k] = v end
  local e = t.fails(function() d:build(o) end, {code = code})
  t.has(tostring(e), match)
  return tostring(e)
end

t.test("a ninth column", function()
  local said = refused(pair(i32, "--@ place(8, 2)"), "npu-place", "npu2 has columns 0 to 7", {device = "npu2"})
  t.has(said, "column 8, row 2")
  npu_case.same(pair(i32, "--@ place(7, 2)"), types, {device = "npu2", tool = false})
end)

t.test("two tasks on one core, by marks", function()
  refused(pair(i32, "--@ place(1, 3)", "--@ place(1, 3)"), "npu-place", "a core runs one")
  npu_case.same(pair(i32, "--@ place(1, 3)", "--@ place(1, 4)"), types, {tool = false})
end)

t.test("float64", function()
  refused(pair(tide.f64), "npu-type", "f64, which no NPU computes with")
  npu_case.same(pair(tide.f32), {tide.f32[4][8], tide.f32[4][8]}, {tool = false})
end)

t.test("blocks that nobody puts", function()
  local function asks(ahead)
    return load(([[
      local tide, ahead = ...
      local i32, task, grid = tide.i32, tide.task, tide.grid
      return tide.design(function(d)
        local S, U = d:stream(i32[4], {block = true}), d:stream(i32[4], {block = true})
        d.send = task { --@ host
          A = i32[2][4], function(A)
            for k in grid(2) do
              local o = S:slot()
              for i in grid(4) do o[i] = A[k][i] end
              S:put(o)
            end
          end}
        d.core = task {function()
          %s
          for k in grid(2) do
            local x, o = S:get(), U:slot()
            for i in grid(4) do o[i] = x[i] * 2 end
            U:put(o)
          end
        end}
        d.back = task { --@ host
          B = i32[2][4], function(B)
            for k in grid(2) do
              local x = U:get()
              for i in grid(4) do B[k][i] = x[i] end
            end
          end}
      end)]]):format(ahead and "for _ in grid(1) do local y = S:get() end" or ""), "=asks")(tide, ahead)
  end
  t.fails(function() asks(true):build {target = "npu"} end)
  npu_case.same(asks(false), {i32[2][4], i32[2][4]}, {tool = false})
end)

-- A core whose blocks come back to it by way of a task on the host, or of one in the row of the memories.
local function ring(mark)
  return npu_case.around("S, U, V, W", ([[
      d.core = task {function()
        local x, o = S:get(), U:slot()
        for i in grid(4) do o[i] = x[i] * 2 end
        U:put(o)
        local y, last = V:get(), W:slot()
        for i in grid(4) do last[i] = y[i] + 1 end
        W:put(last)
      end}
      d.around = task { %s
        function()
          local x, o = U:get(), V:slot()
          for i in grid(4) do o[i] = x[i] end
          V:put(o)
        end}]]):format(mark))(tide)
end

t.test("a cycle by way of the host", function()
  refused(ring "--@ host", "npu-copy", "around: copies other than between an argument and a block")
  npu_case.same(ring "--@ place(0, 1)", {i32[4], i32[4]}, {tool = false})
end)

-- Rows of 4 elements through a kernel with n elements of its own, called in a loop that has n of its own too.
local function kept(n)
  return load([[
    local tide, n = ...
    local i32, task, grid = tide.i32, tide.task, tide.grid
    local seen = tide.state(i32[4], 7)
    local turn = tide.kernel {name = "turn", x = i32[4], y = i32[4], function(x, y)
      local u = i32[n](3)
      for i in grid(4) do
        u[n - 1 - i] = u[i] + x[i]
        seen[i] = seen[i] + x[i]
      end
      for i in grid(4) do y[i] = u[n - 4 + i] + seen[i] end
    end}
    return tide.design(function(d)
      d.go = task {A = i32[2][4], B = i32[2][4], function(A, B)
        for r in grid(2) do
          local a, b = i32[4](), i32[4]()
          for i in grid(4) do a[i] = A[r][i] end
          for _ in grid(2) do
            local v = i32[n](1)
            for i in grid(4) do v[i * 2] = v[i * 2] + a[i] end
            turn(v:slice {0, 4}, b)
          end
          for i in grid(4) do B[r][i] = b[i] end
        end
      end}
    end)]], "=kept")(tide, n)
end

t.test("what kernels declare is in the memory of the core, beside stack, state and blocks", function()
  local n = (65536 - 1024 - 5 * 16) // 8
  local said = refused(kept(n + 1), "npu-limit", "has 65536 bytes of memory, and is asked for 65544")
  t.has(said, "column 0, row 2")
  local m = npu_case.same(kept(n), {i32[2][4], i32[2][4]}, {tool = false})
  t.has(m.source, ("%%u = aie.buffer(%%core_0_2) {sym_name = \"u\"} : memref<%dxi32>"):format(n))
end)

t.test("a state of a kernel that is called lasts, and begins again", function()
  local m = kept(16):build {target = "npu", tool = false}
  local A, B = i32[2][4](1), i32[2][4](0)
  local function call()
    m(A, B)
    return B[1][3]
  end
  local first, second = call(), call()
  t.eq(second - first, 4)
  m:reset()
  t.eq(call(), first)
end)

t.test("texts of which bytes are changed are read, or refused at a line and column", function()
  local folder = t.tmp "npu_bad"
  pair(i32):build {target = "npu", tool = false}:write(folder)
  local name = folder .. "/design.generic.mlir"
  local text, seed = shell.read(name), 7
  local function roll(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % n + 1
  end
  local refusals = 0
  for _ = 1, 400 do
    local at, cut = roll(#text), roll(3) - 1
    local new = ({"", string.char(roll(255)), "(", "{", "9", '"', "%x", "\0"})[roll(8)]
    shell.write(name, text:sub(1, at - 1) .. new .. text:sub(at + cut))
    local ok, e = pcall(npu.open, folder)
    if not ok then
      refusals = refusals + 1
      local said = tostring(e)
      t.ok(said:find "design%.generic%.mlir:%d+:%d+: error: " or said:find "are not the same design", said)
      t.ok(said:find "%[[%a%-]+%]", said)
    end
  end
  t.ok(refusals > 200, refusals .. " refused")
  shell.write(name, text)
  npu.open(folder)
end)

t.done()
