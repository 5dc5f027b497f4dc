-- DataMaestro: streamers in front of designs that are no array of it: a systolic array whose operands travel by
-- relays, a stencil that keeps two lines of its image, and a scan that multiplies nothing. Tasks that load and store
-- become streamers of a banked memory, which is stepped cycle by cycle beside the clocks of the other tasks.
-- Run: tide examples/maestro/front.lua [M N K]     (default 4 4 16; M and N in multiples of 4)
local tide, maestro = require "tide", require "tide.maestro"
local i8, i16, i32, grid, task = tide.i8, tide.i16, tide.i32, tide.grid, tide.task
local M, N, K = tonumber(arg[1] or 4), tonumber(arg[2] or 4), tonumber(arg[3] or 16)

local function memory(word)
  return maestro.memory { banks = 8, word = word, rows = 512, modes = { all = 8, half = 4, one = 1 } }
end

-- Prints a run and where its memory lost cycles.
local function told(name, m)
  local r = m.memory
  print(("%s: %d cycles; %s words, %s lost to conflicts"):format(name, m.report.cycles, tostring(r.access),
    tostring(r.conflicts)))
end

-- A systolic array by unfolding and two relays; its feeders were made by the relays.
local function systolic()
  local gemm = tide.kernel {
    A = i8[M][K], B = i8[K][N], C = i16[M][N],
    function(A, B, C)
      for i, j in grid(M, N, "PE") do
        for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end,
  }
  local s = tide.schedule(gemm)
  local _, row = s:buffer_at("A", "j")
  local _, column = s:buffer_at("B", "j")
  local _, pe = s:unfold("PE", { 0, 1 })
  s:partition("C", { 0, 1 }):partition("A", 0):partition("B", 1)
  s:relay(row, pe, { axis = 1, depth = M + 1 })
  s:relay(column, pe, { axis = 0, depth = N + 1 })
  local A, B, want = tide.random(i8[M][K], 1), tide.random(i8[K][N], 2), i16[M][N](0)
  gemm:native(A, B, want)
  for _, mode in ipairs { "all", "half" } do
    local front = maestro.front(s, {
      memory = memory(4), mode = mode,
      A = maestro.reader { lanes = { M }, loops = 3, depth = 4 },     -- a word of four k for each row
      B = maestro.reader { lanes = { N // 4 }, loops = 3, depth = 4 },
    })
    local m, C = front:build { target = "cpu", timed = true }, i16[M][N](0)
    m(A, B, C)
    assert(C:equal(want))
    told("systolic, " .. mode, m)
  end
end

-- Sums of 3 x 3 pixels; each pixel is loaded once.
local function stencil(H, W)
  local s = tide.schedule(tide.design(function(d)
    local pixel, out = d:stream(i16, { depth = 4 }), d:stream(i16, { depth = 4 })
    d.load = task { I = i16[H][W], function(I)
      for y, x in grid(H, W, "pixels") do pixel:put(I[y][x]) end
    end }
    d.blur = task { function()
      local line, window = i16[2][W](0), i16[3][3](0)
      for y, x in grid(H, W, "pixels") do
        local new = pixel:get()
        for r, c in grid(3, 2, "shift") do window[r][c] = window[r][c + 1] end
        window[0][2], window[1][2], window[2][2] = line[0][x], line[1][x], new
        line[0][x] = line[1][x]
        line[1][x] = new
        local sum = i16(0)
        for r, c in grid(3, 3, "window") do sum = i16(sum + window[r][c]) end
        if y >= 2 and x >= 2 then out:put(sum) end
      end
    end }
    d.store = task { O = i16[H - 2][W - 2], function(O)
      for y, x in grid(H - 2, W - 2, "pixels") do O[y][x] = out:get() end
    end }
  end))
  for _, task_of in ipairs { "load", "blur", "store" } do s:pipeline(task_of .. ":pixels/x") end
  local m = maestro.front(s, {
    memory = memory(8),
    I = maestro.reader { lanes = { 1 }, loops = 2, depth = 2 },
    O = maestro.writer { lanes = { 1 }, loops = 2, depth = 2 },
  }):build()
  local I, O = tide.random(i16[H][W], 3, { lo = -99, hi = 99 }), i16[H - 2][W - 2](0)
  m(I, O)
  for y, x in grid(H - 2, W - 2) do
    local sum = 0
    for r, c in grid(3, 3) do sum = sum + I[y + r][x + c] end
    assert(O[y][x] == sum)
  end
  told("stencil", m)
end

-- The greatest so far of each row.
local function scan(H, W)
  local m = maestro.front(tide.design(function(d)
    local value, best = d:stream(i32), d:stream(i32)
    d.load = task { I = i32[H][W], function(I)
      for y, x in grid(H, W) do value:put(I[y][x]) end
    end }
    d.scan = task { function()
      for _ in grid(H) do
        local most = i32(-2147483648)
        for _ in grid(W) do
          most = tide.max(most, value:get())
          best:put(most)
        end
      end
    end }
    d.store = task { O = i32[W][H], function(O)
      for y, x in grid(H, W) do O[x][y] = best:get() end
    end }
  end), {
    memory = memory(4), order = { O = "x y -> y x" },      -- rows of results lie as they come
    I = maestro.reader { lanes = { 2 }, loops = 1, depth = 2 },
    O = maestro.writer { lanes = { 2 }, loops = 1, depth = 2 },
  }):build()
  local I, O = tide.random(i32[H][W], 4), i32[W][H](0)
  m(I, O)
  for y in grid(H) do
    local most = I[y][0]
    for x in grid(W) do
      most = math.max(most, I[y][x])
      assert(O[x][y] == most)
    end
  end
  told("scan", m)
end

systolic()
stencil(12, 20)
scan(6, 10)

--> systolic, all: ... cycles; A ..., B ... words, ...
--> systolic, half: ... cycles; ...
--> stencil: ... cycles; I 60, O 45 words, ...
--> scan: ... cycles; I 60, O 60 words, ...
