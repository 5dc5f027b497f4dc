-- Rewrites that others accept though they change results: four of Exo's, and the seven of the
-- eighty-four of mlir-opt (LLVM 19) on PolyBench that PEQC found not equivalent. The step that would
-- make each is refused, and verify refuses the program that it would give.
local tide = require "tide"
local t = require "tap"
local polybench = require "polybench"
local i32, f64, grid = tide.i32, tide.f64, tide.grid

-- States that two programs are not equivalent, and that a right twin of the second is.
local function apart(p, wrong, right)
  local level, verdict = tide.verify(p, wrong)
  t.eq(level, nil)
  t.has(tostring(verdict), "differs")
  t.eq(tide.verify(p, right), "strict")
end

-- States that a step is refused as illegal.
local function refused(s, ...)
  local ok, e = s:can(...)
  t.eq(ok, nil, table.concat({...}, " "))
  t.eq(e.kind, "illegal")
  return e
end

t.test("Exo 1: fuse of loops with different lower bounds", function()
  local function kernel(body) return tide.kernel {a = i32[8], b = i32[8], body} end
  local two = kernel(function(a, b)
    for i = 0, 7 do a[i] = i end
    for i = 2, 7 do b[i] = i end
  end)
  apart(two, kernel(function(a, b)
    for i = 0, 7 do
      a[i] = i
      b[i] = i
    end
  end), kernel(function(a, b)
    for i = 0, 7 do
      a[i] = i
      if i >= 2 then b[i] = i end
    end
  end))
  refused(tide.schedule(two), "fuse", "i#1", "i#2")
  local alike = tide.schedule(kernel(function(a, b)
    for i = 2, 7 do a[i] = i end
    for i = 2, 7 do b[i] = i end
  end))
  alike:fuse("i#1", "i#2")
  t.eq(alike:verify(), "strict")
end)

t.test("Exo 2: a value put in place though its operand was overwritten", function()
  local function kernel(body) return tide.kernel {a = i32[1], b = i32[1], c = i32[1], body} end
  apart(kernel(function(a, b, c)
    a[0] = b[0]
    b[0] = 3
    c[0] = a[0]
  end), kernel(function(a, b, c)
    a[0] = b[0]
    b[0] = 3
    c[0] = b[0]
  end), kernel(function(a, b, c)
    c[0] = b[0]
    a[0] = c[0]
    b[0] = 3
  end))
  local copy = tide.kernel {x = i32[8], y = i32[8], z = i32[8], function(x, y, z)
    local held = i32[8]()
    for i = 0, 7 do held[i] = x[i] end
    for i = 0, 7 do x[i] = 3 end
    for i = 0, 7 do z[i] = held[i] + y[i] end
  end}
  refused(tide.schedule(copy), "compute_at", "held", "i#3")
  local kept = tide.schedule(tide.kernel {x = i32[8], y = i32[8], z = i32[8], function(x, y, z)
    local held = i32[8]()
    for i = 0, 7 do held[i] = x[i] end
    for i = 0, 7 do y[i] = 3 end
    for i = 0, 7 do z[i] = held[i] + y[i] end
  end})
  kept:compute_at("held", "i#3")
  t.eq(kept:verify(), "strict")
end)

t.test("Exo 3: a factor taken out of a reduction that does not start at zero", function()
  local function kernel(body) return tide.kernel {x = i32[1], y = i32[6], c = i32[1], body} end
  local function sum(start)
    return kernel(function(x, y, c)
      x[0] = start
      for i = 0, 5 do x[0] = x[0] + c[0] * y[i] end
    end), kernel(function(x, y, c)
      x[0] = start
      for i = 0, 5 do x[0] = x[0] + y[i] end
      x[0] = c[0] * x[0]
    end)
  end
  local level, verdict = tide.verify(sum(5))
  t.eq(level, nil)
  t.has(tostring(verdict), "differs")
  t.eq(tide.verify(sum(0)), "ring")
end)

t.test("Exo 4: a loop removed that may be empty", function()
  local N = 8
  local function kernel(body) return tide.kernel {a = i32[N], body} end
  local guarded = kernel(function(a)
    for _ = N, 7 do a[0] = 3 end
    for i = 1, N - 1 do a[i] = 1 end
  end)
  apart(guarded, kernel(function(a)
    a[0] = 3
    for i = 1, N - 1 do a[i] = 1 end
  end), kernel(function(a)
    if N <= 7 then a[0] = 3 end
    for i = 1, N - 1 do a[i] = 1 end
  end))
end)

-- Every fuse of two loops of PolyBench kernel `name` is refused or leaves an equivalent program;
-- those of `never` are refused. The numbers of accepted and refused ones.
local function fuse_all(name, never)
  local k = polybench.make(name)
  local names, accepted, count = tide.schedule(k):loops(), 0, 0
  for a = 1, #names do
    for b = a + 1, #names do
      local s = tide.schedule(k)
      if s:can("fuse", names[a], names[b]) then
        s:fuse(names[a], names[b])
        t.eq(s:verify(), "strict", names[a] .. " " .. names[b])
        accepted = accepted + 1
      else
        count = count + 1
      end
    end
  end
  for _, pair in ipairs(never) do refused(tide.schedule(k), "fuse", pair[1], pair[2]) end
  return accepted, count
end

-- The printed program of a PolyBench kernel with a piece of its text replaced.
local function rewritten(name, from, to)
  local text = tostring((polybench.make(name)))
  local at, last = text:find(from, 1, true)
  assert(at, "no such text in " .. name)
  return load(text:sub(1, at - 1) .. to .. text:sub(last + 1), "=rewritten")()
end

-- States that a PolyBench kernel with a piece of its text replaced is another program.
local function differs(name, from, to)
  local level, verdict = tide.verify((polybench.make(name)), rewritten(name, from, to))
  t.eq(level, nil)
  t.has(tostring(verdict), "differs")
end

t.test("mlir-opt 1: fusion on covariance", function()
  local _, n = fuse_all("covariance", {{"j#1", "j#2"}, {"i#2", "i#3"}})
  t.ok(n > 5)
  differs("covariance", [[
      mean[j] = mean[j] / 7.0
    end
    for i = 0, N - 1 do
      for j = 0, M - 1 do
        data[i][j] = data[i][j] - mean[j]
      end
    end
]], [[
      for i = 0, N - 1 do
        data[i][j] = data[i][j] - mean[j]
      end
      mean[j] = mean[j] / 7.0
    end
]])
end)

t.test("mlir-opt 2: fusion on deriche", function()
  local accepted, n = fuse_all("deriche", {{"i#3", "j#4"}, {"j#5", "i#6"}})
  t.ok(accepted >= 2 and n > 10)
  differs("deriche", [[
    for i = 0, W - 1 do
      for j = 0, H - 1 do
        out[i][j] = y1[i][j] + y2[i][j]
      end
    end
    for j = 0, H - 1 do
      local tm1 = f64(0.0)
      local ym1 = f64(0.0)
      local ym2 = f64(0.0)
      for i = 0, W - 1 do
]], [[
    for j = 0, H - 1 do
      local tm1 = f64(0.0)
      local ym1 = f64(0.0)
      local ym2 = f64(0.0)
      for i = 0, W - 1 do
        out[i][H - 1 - j] = y1[i][H - 1 - j] + y2[i][H - 1 - j]
]])
end)

t.test("mlir-opt 3: fusion on doitgen", function()
  local _, n = fuse_all("doitgen", {{"p#1", "p#2"}})
  t.ok(n > 3)
  differs("doitgen", [[
        end
        for p = 0, P - 1 do
          A[r][q][p] = sum[p]
        end
]], [[
          A[r][q][p] = sum[p]
        end
]])
end)

t.test("mlir-opt 4: fusion on correlation leaves the arrays", function()
  local accepted, n = fuse_all("correlation", {{"i#3", "i#4"}})
  t.ok(accepted >= 1 and n > 5)
  t.fails(function()
    rewritten("correlation", [[
      for j = i + 1, M - 1 do
        corr[i][j] = 0.0
]], [[
      for j = i + 1, M do
        corr[i][j] = 0.0
]])
  end, {kind = "illegal", code = "index-range"})
end)

-- Every loop of a nest in tiles of b, the loops over tiles outside, whatever depends on what.
local function tiles_of_floyd(N, b)
  return tide.kernel {path = i32[N][N], function(path)
    for ko, io, jo in grid({0, N - 1, b}, {0, N - 1, b}, {0, N - 1, b}) do
      for k = ko, math.min(ko + b - 1, N - 1) do
        for i = io, math.min(io + b - 1, N - 1) do
          for j = jo, math.min(jo + b - 1, N - 1) do
            path[i][j] = tide.min(path[i][j], i32(path[i][k] + path[k][j]))
          end
        end
      end
    end
  end}
end

t.test("mlir-opt 5: tiles of 32 on floyd-warshall", function()
  local N = 40
  local floyd = polybench.make("floyd-warshall", {size = {N = N}})
  apart(floyd, tiles_of_floyd(N, 32), tiles_of_floyd(N, N))
  local s = tide.schedule(floyd)
  for _, loop in ipairs {"k", "i", "j"} do s:split(loop, 32) end
  t.eq(s:verify(), "strict")
  refused(s, "reorder", "k_o", "i_o", "j_o", "k_i", "i_i", "j_i")
  s:reorder("k_o", "k_i", "i_o", "j_o", "i_i", "j_i")
  t.eq(s:verify(), "strict")
end)

-- Seidel's sweeps over A in tiles of b by b of the plane.
local function tiles_of_seidel(S, N, b)
  return tide.kernel {A = f64[N][N], function(A)
    for _ = 1, S do
      for io, jo in grid({1, N - 1, b}, {1, N - 1, b}) do
        for i = io, math.min(io + b - 1, N - 2) do
          for j = jo, math.min(jo + b - 1, N - 2) do
            A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] +
              A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0
          end
        end
      end
    end
  end}
end

t.test("mlir-opt 6: tiles of 32 on seidel-2d", function()
  local S, N = 2, 40
  local seidel = polybench.make("seidel-2d", {size = {S = S, N = N}})
  apart(seidel, tiles_of_seidel(S, N, 32), tiles_of_seidel(S, N, N))
  local s = tide.schedule(seidel)
  s:split("i", 32)
  s:split("j", 32)
  t.eq(s:verify(), "strict")
  local e = refused(s, "reorder", "i_o", "j_o", "i_i", "j_i")
  t.eq(e.code, "dependence")
end)

t.test("mlir-opt 7: unroll-and-jam on floyd-warshall", function()
  local N = 6
  local function kernel(body) return tide.kernel {path = i32[N][N], body} end
  local floyd = polybench.make("floyd-warshall", {size = {N = N}})
  apart(floyd, kernel(function(path)
    for k = 0, N - 1, 2 do
      for i, j in grid(N, N) do
        path[i][j] = tide.min(path[i][j], i32(path[i][k] + path[k][j]))
        path[i][j] = tide.min(path[i][j], i32(path[i][k + 1] + path[k + 1][j]))
      end
    end
  end), kernel(function(path)
    for k = 0, N - 1, 2 do
      for i, j in grid(N, N) do
        path[i][j] = tide.min(path[i][j], i32(path[i][k] + path[k][j]))
      end
      for i, j in grid(N, N) do
        path[i][j] = tide.min(path[i][j], i32(path[i][k + 1] + path[k + 1][j]))
      end
    end
  end))
  refused(tide.schedule(floyd), "reorder", "i", "j", "k")
end)

t.done()
