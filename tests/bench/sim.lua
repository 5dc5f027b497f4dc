-- The figures of simulation: a pipe of tokens, and a systolic array without and with a clock. The peer
-- needs libsystemc-dev.
local tide = require "tide"
local b = require "bench"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid

-- The most work a second of some calls of f, each of so much work, in millions.
local function rate(work, f)
  local best = 0
  for _ = 1, 7 do best = math.max(best, work / b.once(f) / 1e3) end
  return best
end

-- Producer, eight stages, consumer.
local function pipe(N, S)
  return tide.design(function(d)
    local z = d:stream(i32, {S + 1, depth = 16})
    d.source = task {function() for i in grid(N) do z[0]:put(i32(i)) end end}
    d.stage = task {map = {S}, function(s)
      for _ in grid(N) do z[s + 1]:put(i32(z[s]:get() + 1)) end
    end}
    d.sink = task {out = i32[1], function(out)
      local sum = i32(0)
      for _ in grid(N) do sum = i32(sum + z[S]:get()) end
      out[0] = sum
    end}
  end)
end

-- An output-stationary array of P x P for T tiles of depth K.
local function systolic(P, K, T)
  return tide.design(function(d)
    local fa, fb = d:stream(i8, {P, P + 1, depth = 4}), d:stream(i8, {P + 1, P, depth = 4})
    d.feed_a = task {map = {P}, A = i8[P][K], function(A, i)
      for _, k in grid(T, K) do fa[i][0]:put(A[i][k]) end
    end}
    d.feed_b = task {map = {P}, B = i8[K][P], function(B, j)
      for _, k in grid(T, K) do fb[0][j]:put(B[k][j]) end
    end}
    d.pe = task {map = {P, P}, C = i32[P][P], function(C, i, j)
      for _ in grid(T) do
        local c = i32(0)
        for _ in grid(K, "k") do
          local x, y = fa[i][j]:get(), fb[i][j]:get()
          c = c + x * y
          if j < P - 1 then fa[i][j + 1]:put(x) end
          if i < P - 1 then fb[i + 1][j]:put(y) end
        end
        C[i][j] = c
      end
    end}
  end)
end

-- What the same pipe does in SystemC here, or nil.
local function systemc(N)
  local out = os.tmpname()
  local built = os.execute(("c++ -O3 tests/bench/pipe_systemc.cpp -lsystemc -o %s 2>/dev/null"):format(out))
  if not built then return nil end
  local run = assert(io.popen(("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 %s %d"):format(out, N)))
  local v = tonumber(run:read "a":match "[%d.]+%s*$")
  run:close()
  os.remove(out)
  return v
end

local N, P, K, T = 4000000, 16, 256, 200
local tokens = tide.schedule(pipe(N, 8)):build {target = "cpu", tier = "cc"}
local sum = i32[1](0)
tokens(sum)
local moved, peer = rate(N, function() tokens(sum) end), systemc(1000000)
b.row("pipe of ten processes, depth 16", moved, "M tokens/s", 40,
  peer and ("SystemC %.1f here: %.0f times"):format(peer, moved / peer) or "SystemC 7.9", true)

local A, B, C = tide.random(i8[P][K], 1), tide.random(i8[K][P], 2), i32[P][P](0)
local s = tide.schedule(systolic(P, K, T)):pipeline("pe:k")
local plain = s:build {target = "cpu", tier = "cc"}
local timed = s:build {target = "cpu", tier = "cc", timed = true}
plain(A, B, C)
timed(A, B, C)
assert(C:equal(tide.matmul(A, B)))
local work = P * P * K * T
b.row("systolic 16 x 16, K = 256, depth 4", rate(work, function() plain(A, B, C) end), "M MAC/s", 200,
  "SystemC 26", true)
b.row("the same with a clock", rate(work, function() timed(A, B, C) end), "M MAC/s", 150, "", true)
b.row("of it, multipliers busy", timed.report.utilisation * 100, "%")
b.done "simulation"
