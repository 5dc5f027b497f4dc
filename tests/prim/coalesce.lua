-- coalesce.lua - coalesce: host tasks that move blocks are merged; a memory tile splits or joins the blocks.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid

-- A product on P x Q tasks whose blocks are isolated.
local function tiles(steps)
  return function(z)
    local P, Q, m, n, k = z.P or 2, z.Q or 3, z.m or 2, z.n or 3, z.k or 4
    local top = tide.design(function(d)
      d.pe = task {
        map = {P, Q},
        A = i8[P * m][2 * k]:layout "S0R", B = i8[2 * k][Q * n]:layout "RS1",
        C = i32[P * m][Q * n]:layout "S0S1",
        function(A, B, C, y, w)
          local c = i32[m][n](0)
          for x in grid(2) do
            local a, b = i8[m][k](), i8[k][n]()
            for i, j in grid(m, k) do a[i][j] = A[i][x * k + j] end
            for i, j in grid(k, n) do b[i][j] = B[x * k + i][j] end
            for i, j, l in grid(m, n, k) do c[i][j] = c[i][j] + a[i][l] * b[l][j] end
          end
          for i, j in grid(m, n) do C[i][j] = c[i][j] + y - w end
        end,
      }
    end)
    local s = tide.schedule(top)
    for _, step in ipairs(steps or {"a", "b"}) do s:isolate(step) end
    return load(tostring(s))(s:constants()), {i8[P * m][2 * k], i8[2 * k][Q * n], i32[P * m][Q * n]}
  end
end

prim.accepted("equal blocks along an axis: one of each", {
  of = tiles(), step = {"coalesce", "A_in", {axis = 1}},
  has = {"d.A_in_mem = tide.task { --@ place(0, 1, 1, 0)", "a:set(all)"},
}, function(s, name, stream)
  t.eq({name, stream}, {"A_in_mem", "a_s_1"})
  t.eq(s:graph().nodes, 2 + 2 + 6 + 6)
end)
prim.accepted("equal blocks along the other axis", {of = tiles(), step = {"coalesce", "B_in", {axis = 0}}})
prim.accepted("blocks of neighbours, side by side", {
  of = tiles(), step = {"coalesce", "A_in", {axis = 0}}, has = {"a:set(all[", "A = A:layout \"RR\""},
})
prim.accepted("blocks that are equal already by one axis, by the other", {
  of = tiles(), before = function(s) s:coalesce("A_in", {axis = 1}) end, step = {"coalesce", "A_in", {axis = 0}},
})

-- The same with four tasks along an axis.
local function four(z) return tiles()({P = z.P, Q = 4, n = z.n}) end
prim.accepted("equal blocks, one of each for two neighbours", {
  of = four, step = {"coalesce", "A_in", {axis = 1, factor = 2}}, has = {"map = {2, 2}", "A = A:layout \"S0R\""},
}, function(s) t.eq(s:graph().nodes, 4 + 4 + 8 + 8) end)
prim.accepted("blocks of two neighbours, side by side", {
  of = four, step = {"coalesce", "B_in", {axis = 1, factor = 2}}, has = {"B = B:layout \"RS1\""},
})
prim.refused("a factor that does not divide the axis", {
  of = four, step = {"coalesce", "B_in", {axis = 1, factor = 3}}, kind = "usage", code = "factor",
})

-- A task of rows whose results leave; `fact` changes one thing.
local function rows(fact)
  return function(z)
    local P, n = z.P or 4, z.n or 5
    local top = tide.design(function(d)
      d.pe = task {map = {P}, A = i32[P][n]:layout "S0R", B = i32[P][n]:layout(fact == "copies" and "RR" or "S0R"),
        fact == "copies" and function(A, B)
          local b = i32[P][n](7)
          for j in grid(n) do b[0][j] = b[0][j] + A[0][0] * 0 end
          B:set(b)
        end or fact == "often" and function(A, B, p)
          for i in grid(p + 1) do
            local b = i32[1][n](0)
            for j in grid(n) do b[0][j] = A[0][j] + i + b[0][j] end
            B:set(b)
          end
        end or function(A, B)
          local b = i32[1][n](0)
          for j in grid(n) do b[0][j] = A[0][j] * 2 + b[0][j] end
          B:set(b)
        end}
    end)
    local s = tide.schedule(top):isolate("b")
    return load(tostring(s))(s:constants()), {i32[P][n], i32[P][n]}
  end
end

prim.accepted("results of neighbours leave together", {
  of = rows(), step = {"coalesce", "B_out"}, has = {"all[", "]:set(b)"},
}, function(_, name) t.eq(name, "B_out_mem") end)
prim.accepted("results of two neighbours leave together", {
  of = rows(), step = {"coalesce", "B_out", {factor = 2}}, has = {"* 2]:get()"},
})
prim.refused("a number of blocks that differs along the axis", {
  of = rows "often", step = {"coalesce", "B_out"}, code = "access",
})
prim.refused("an axis that there is not", {
  of = rows(), step = {"coalesce", "B_out", {axis = 1}}, kind = "usage", code = "axis",
})
prim.refused("a task that computes", {of = rows(), step = {"coalesce", "pe"}, code = "not-a-copy"})
prim.refused("no task", {of = rows(), step = {"coalesce", "nobody"}, kind = "usage", code = "no-task"})
prim.refused("a task that is coalesced along all its axes", {
  of = rows(), before = function(s) s:coalesce "B_out" end, step = {"coalesce", "B_out"}, kind = "usage", code = "axis",
})

-- Blocks whose extent is a size: their places in the argument are what they are at its value.
prim.accepted("blocks of a size", {
  of = function(z)
    local K = z.K or 6
    local top = tide.design(function(d)
      d.pe = task {map = {2}, A = i8[2 * K]:layout "S0", C = i32[4]:layout "S0", function(A, C)
        local a = i8[K]()
        for k in grid(K) do a[k] = A[k] end
        for i in grid(2) do C[i] = a[0] - a[K - 1] end
      end}
    end)
    local s = tide.schedule(top):isolate "a"
    return load(tostring(s))(s:constants()), {i8[2 * K], i32[4]}
  end,
  step = {"coalesce", "A_in"}, has = {"tide.assume(K == 6)", "A[k + id_0 * 6]"},
})

-- A task that takes a copy of its part of an argument first, or of what all have, and sends that.
local function kept(fact)
  return function(z)
    local P, n = z.P or 3, z.n or 4
    local cut = fact == "cut" and "RS0" or "RR"
    return tide.design(function(d)
      local Z = d:stream(i32[n], {P, block = true})
      d.from = task { --@ host
        map = {P}, A = i32[2][fact == "cut" and P * n or n]:layout(cut), function(A, p)
          local keep = i32[2][n]()
          for k, j in grid(2, n) do keep[k][j] = A[1 - k][j] end
          for k in grid(2) do
            local b = Z[p]:slot()
            for j in grid(n) do b[j] = keep[k][j] end
            if fact == "trace" then keep[1][0] = keep[1][0] + p end
            Z[p]:put(b)
          end
        end}
      d.to = task {map = {P}, C = i32[P][n]:layout "S0R", function(C, p)
        for k in grid(2) do
          local b = Z[p]:get()
          for j in grid(n) do C[0][j] = C[0][j] + (k + 1) * b[j] end
        end
      end}
    end), {i32[2][fact == "cut" and P * n or n], i32[P][n]}
  end
end
prim.accepted("a copy of what all instances read", {of = kept(), step = {"coalesce", "from"}})
prim.refused("a copy of what each instance has of an argument", {
  of = kept "cut", step = {"coalesce", "from"}, code = "access",
})
prim.refused("a copy that each instance changes", {of = kept "trace", step = {"coalesce", "from"}, code = "access"})

-- Tasks that move several blocks: an argument that goes there and back, two arguments by one stream. `fact` changes
-- one thing.
local function several(fact)
  return function(z)
    local P, Q, n, N = z.P or 2, z.Q or 3, z.n or 4, z.N or 2
    local top = tide.design(function(d)
      local Z = d:stream(i32[n], {P, Q, block = true})
      d.from = task { --@ host
        map = {P, Q}, A = i32[P][N * n]:layout "S0R", B = i32[Q][N * n]:layout(fact == "same" and "RR" or "S1R"),
        function(A, B, p, q)
          for k in grid(N) do
            if fact == "mixed" then
              local a, b = Z[p][q]:slot(), Z[p][q]:slot()
              for i in grid(n) do
                a[i] = A[0][k * n + i]
                b[i] = B[0][k * n + i]
              end
              Z[p][q]:put(a)
              Z[p][q]:put(b)
            else
              local a = Z[p][q]:slot()
              for i in grid(n) do a[i] = A[0][k * n + i] end
              Z[p][q]:put(a)
              local b = Z[p][q]:slot()
              for i in grid(n) do b[i] = B[0][k * n + i] end
              Z[p][q]:put(b)
            end
          end
        end,
      }
      d.pe = task {map = {P, Q}, C = i32[P][Q * N * n]:layout "S0S1", function(C, p, q)
        for k in grid(N) do
          local x, y, c = Z[p][q]:get(), Z[p][q]:get(), i32[n]()
          for i in grid(n) do c[i] = C[0][k * n + i] end
          for i in grid(n) do c[i] = c[i] * 3 + x[i] - y[n - 1 - i] end
          for i in grid(n) do C[0][k * n + i] = c[i] end
        end
      end}
    end)
    local s = tide.schedule(top):isolate "c"
    return load(tostring(s))(s:constants()), {i32[P][N * n], i32[Q][N * n], i32[P][Q * N * n]}
  end
end
prim.accepted("two blocks of a turn, of one stream, one of which all have", {
  of = several(), step = {"coalesce", "from", {axis = 1}}, has = {"a[q][i] = A[0]", "b[q][i] = B[q]"},
})
prim.accepted("two blocks that all have", {
  of = several "same", step = {"coalesce", "from", {axis = 1}}, has = {"a:set(all)", "b:set(all_1)"},
})
prim.accepted("blocks that go there and back, by a task each way", {
  of = several(), step = {"coalesce", "C_io", {axis = 1}}, has = {"C_io_mem_1"},
}, function(_, one, stream, two, back)
  t.eq({one, stream, two, back}, {"C_io_mem", "c_s_1", "C_io_mem_1", "c_back_s_1"})
end)
prim.refused("two blocks that are filled at a time", {
  of = several "mixed", step = {"coalesce", "from", {axis = 1}}, code = "not-a-copy",
})

t.done()
