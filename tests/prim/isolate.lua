-- isolate.lua - isolate: the copy that fills or empties a local becomes a task, the local a token.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i16, i32, task, grid = tide.i8, tide.i16, tide.i32, tide.task, tide.grid

-- Row sums of a product on P x Q tasks, all data through locals. `fact` changes one thing.
local function tiles(fact)
  return function(z)
    local P, Q, m, n, k = z.P or 2, z.Q or 3, z.m or 2, z.n or 3, z.k or 4
    return tide.design(function(d)
      d.pe = task {
        map = {P, Q},
        A = i8[P * m][k]:layout "S0R", B = i8[k][Q * n]:layout "RS1", C = i32[P * m][Q * n]:layout "S0S1",
        fact == "whole" and function(A, B, C)
          local a, c = i8[m][k](), i32[m][n](0)
          a:set(A)
          for i, j, x in grid(m, n, k) do c[i][j] = c[i][j] + a[i][x] * B[x][j] end
          C:set(c)
        end or fact == "written" and function(A, B, C)
          local a = i8[m][k]()
          for i, x in grid(m, k) do a[i][x] = A[i][x] end
          a[0][0] = i8(a[0][0] + 1)
          for i, j in grid(m, n) do C[i][j] = a[i][0] * B[0][j] end
        end or fact == "part" and function(A, B, C)
          local a = i8[m][k]()
          for i, x in grid(m, k - 1) do a[i][x] = A[i][x] end
          for i in grid(m) do a[i][k - 1] = i8(a[i][0] + 1) end
          for i, j in grid(m, n) do C[i][j] = a[i][k - 1] * B[0][j] end
        end or fact == "used" and function(A, B, C)
          local a, c = i8[m][k](), i32[m][n](0)
          for i, x in grid(m, k) do a[i][x] = A[i][x] end
          for i, j, x in grid(m, n, k) do c[i][j] = c[i][j] + a[i][x] * B[x][j] end
          C[0][0] = 0
          for i, j in grid(m, n) do C[i][j] = c[i][j] end
        end or fact == "computed" and function(A, B, C)
          local a, c = i8[m][k](), i32[m][n](0)
          for i, x in grid(m, k) do a[i][x] = i8(A[i][x] + 1) end
          for i, j, x in grid(m, n, k) do c[i][j] = c[i][j] + a[i][x] * B[x][j] end
          for i, j in grid(m, n) do C[i][j] = i32(c[i][j] + 1) end
        end or function(A, B, C)
          local a, c = i8[m][k](), i32[m][n](0)
          for i, x in grid(m, k) do a[i][x] = A[i][x] end
          for i, j, x in grid(m, n, k) do c[i][j] = c[i][j] + a[i][x] * B[x][j] end
          for i, j in grid(m, n) do C[i][j] = c[i][j] end
        end,
      }
    end), {i8[P * m][k], i8[k][Q * n], i32[P * m][Q * n]}
  end
end

prim.accepted("a local that a copy fills", {
  of = tiles(), step = {"isolate", "a"},
  has = {"local a = a_s[id_0][id_1]:slot()", "a_s[id_0][id_1]:put(a)", "local a = a_s[id_0][id_1]:get()", "--@ host",
    "A = A:layout \"S0R\"", "depth = 2, block = true"},
}, function(s, name, stream)
  t.eq({name, stream}, {"A_in", "a_s"})
  t.eq(#s:tasks(), 12)
end)
prim.accepted("a local that a copy empties at last, filled with zeros before", {
  of = tiles(), step = {"isolate", "c", "store", {depth = 1, place = "mem"}},
  has = {"c:set(0)", "c_s[id_0][id_1]:put(c)", "place(0, 1, 1, 0, 0, 0)", "depth = 1"},
}, function(_, name) t.eq(name, "store") end)
prim.accepted("a copy that is a task as others are", {
  of = tiles(), step = {"isolate", "a", {place = "device"}},
}, function(s) t.ok(not tostring(s):find("--@ host", 1, true)) end)
prim.accepted("whole tensors", {of = tiles "whole", step = {"isolate", "a"}})
prim.accepted("a result whose inputs are isolated already", {
  of = tiles "whole", before = function(s) s:isolate "a" end, step = {"isolate", "c"},
})

-- A task that works in turns, under loops and conditions of its own; `fact` changes one thing.
local function turns(fact)
  return function(z)
    local N, T = z.N or 6, z.T or 3
    return tide.design(function(d)
      local Z = d:stream(i16, {depth = 4})
      d.go = task {A = i16[N][T], x = i32[N], y = i16[N], fact == "data" and function(A, x, y)
        for i in grid(N) do
          if x[i] > 0 then
            local row = i16[T]()
            for c in grid(T) do row[c] = A[i][c] end
            y[i] = i16(row[0] + row[T - 1])
          end
        end
      end or fact == "scalar" and function(A, x, y)
        for i in grid(N) do
          local at = i // 2
          local row = i16[T]()
          for c in grid(T) do row[c] = A[at][c] end
          y[i] = i16(row[0] + x[i])
        end
      end or fact == "nested" and function(A, x, y)
        for i in grid(N) do
          if i % 2 == 0 then
            for h in grid(2) do
              local row = i16[T]()
              for c in grid(T) do
                if c > 0 then row[c] = A[i + h][c - 1] else row[c] = 0 end
              end
              y[i + h] = i16(row[0] + row[T - 1] + x[i])
            end
          end
        end
      end or function(A, x, y)
        for i in grid(N) do
          local row = i16[T]()
          for c in grid(T) do row[c] = A[i // 2][c] end
          y[i] = i16(row[0] + x[i])
        end
      end}
      d.nothing = task {function() Z:put(0) end}
      d.more = task {q = i16[1], function(q) q[0] = Z:get() end}
    end), {i16[N][T], i32[N], i16[N], i16[1]}
  end
end

prim.accepted("a copy under loops and conditions on their variables, with a border of zeros", {
  of = turns "nested", step = {"isolate", "row"},
  has = {"if i % 2 == 0 then", "local row = row_s:get()"},
})
prim.accepted("a stream of scalars goes by way of a task", {
  of = turns(), step = {"isolate", "Z"},
}, function(s, name, stream)
  t.eq({name, stream}, {"Z_host", "Z_1"})
  t.has(tostring(s), "q[0] = Z_1:get()")
end)
prim.accepted("a stream of blocks goes by way of a task in the row of the memories", {
  of = tiles(), before = function(s) s:isolate "a" end,
  step = {"isolate", "a_s", {place = "mem", depth = 3}},
  has = {"d.a_s_mem = tide.task { --@ place(0, 1, 1, 0, 0, 0)", "local a = a_s_1[id_0][id_1]:get()"},
})

prim.refused("a local that is written after a part of it was filled", {
  of = tiles "part", step = {"isolate", "a"}, code = "written", match = "after a part of it was filled",
})
prim.accepted("its twin, after all of it was: the token is copied to it", {
  of = tiles "written", step = {"isolate", "a"}, has = {"local a_in = a_s[id_0][id_1]:get()", "a:set(a_in)"},
})
prim.refused("a result that the task writes otherwise too", {
  of = tiles "used", step = {"isolate", "c"}, code = "shared", match = "writes 'C' otherwise too",
})
prim.refused("values that are computed on the way in", {
  of = tiles "computed", step = {"isolate", "a"}, code = "not-a-copy",
})
prim.refused("values that are computed on the way out", {
  of = tiles "computed", step = {"isolate", "c"}, code = "not-a-copy",
})
prim.refused("data that decides whether something moves", {
  of = turns "data", step = {"isolate", "row"}, code = "access",
})
prim.refused("a copy from a place that a scalar holds", {
  of = turns "scalar", step = {"isolate", "row"}, code = "access", match = "depends on 'at'",
})
prim.accepted("its twin, from a place that the loop gives", {of = turns(), step = {"isolate", "row"}})
prim.refused("a parameter", {
  of = tiles(), step = {"isolate", "A"}, kind = "usage", code = "not-an-array",
})
prim.refused("a stream that holds nothing", {
  of = tiles(), step = {"isolate", "a", {depth = 0}}, kind = "usage", code = "depth",
})
prim.refused("a local of a kernel", {
  of = prim.shape.gemm, before = function(s) s:buffer_at("A", "i") end, step = {"isolate", "A_i"},
  kind = "usage", code = "not-a-task",
})
prim.refused("a name that is none", {
  of = tiles(), step = {"isolate", "a", "end"}, kind = "usage", code = "name",
})

-- A local that is filled and never read is a token that is dropped.
prim.accepted("a local that nothing reads", {
  of = function()
    return tide.design(function(d)
      d.go = task {map = {2}, A = i8[4]:layout "S0", C = i8[4]:layout "S0", function(A, C)
        local a = i8[2]()
        for i in grid(2) do a[i] = A[i] end
        for i in grid(2) do C[i] = 3 end
      end}
    end), {i8[4], i8[4]}
  end,
  step = {"isolate", "a"}, has = {"local _ = a_s[id_0]:get()"},
})
prim.accepted("a stream whose new name a local has", {
  of = function()
    return tide.design(function(d)
      local Z = d:stream(i32)
      d.from = task {a = i32[4], function(a) for q in grid(4) do Z:put(a[q]) end end}
      d.to = task {b = i32[4], function(b)
        for l in grid(4) do
          local Z_1 = Z:get()
          b[l] = Z_1 * Z_1
        end
      end}
    end), {i32[4], i32[4]}
  end,
  step = {"isolate", "Z"}, has = {"local Z_1 = Z_2:get()"},
})

-- Arguments that a task changes: a part of them through a local, which goes back. `fact` changes one thing.
local function changed(fact)
  return function(z)
    local P, N, n = z.P or 2, z.N or 3, z.n or 4
    return tide.design(function(d)
      d.scale = task {
        map = {P}, x = i32[P * N * n]:layout "S0", y = i32[P * N * n]:layout "S0", w = i32[P * N * n]:layout "S0",
        function(x, y, w, p)
          for t in grid(N) do
            local v = i32[n]()
            for i in grid(n) do v[i] = y[t * n + i] end
            for i in grid(n) do v[i] = v[i] * 3 + x[t * n + i] - p end
            if fact == "seen" then w[t * n] = y[t * n] end
            if fact == "other" then
              for i in grid(n) do w[t * n + i] = v[i] end
            elseif fact == "carried" then
              for i in grid(n) do y[(t + 1) % N * n + i] = v[i] end
            else
              for i in grid(n) do y[t * n + i] = v[i] end
            end
          end
        end,
      }
    end), {i32[P * N * n], i32[P * N * n], i32[P * N * n]}
  end
end
prim.accepted("a local that goes back where it came from: one task fills and empties it", {
  of = changed(), step = {"isolate", "v"},
  has = {"local v = v_back_s[p]:slot()", "v:set(v_in)", "y[t * 4 + i] = v_back[i]"},
}, function(s, name, stream, back)
  t.eq({name, stream, back}, {"y_io", "v_s", "v_back_s"})
  t.eq(#s:tasks(), 4)
end)
prim.accepted("what goes back is read in a later turn: the task keeps the order", {
  of = changed "carried", step = {"isolate", "v"},
})
prim.accepted("its twin, which goes to another argument: a task each way", {
  of = changed "other", before = function(s) s:isolate "v" end, step = {"isolate", "scale:v"},
}, function(_, name) t.eq(name, "w_out") end)
prim.refused("an argument that the task reads otherwise too", {
  of = changed "seen", step = {"isolate", "v"}, code = "shared", match = "reads 'y' otherwise too",
})

t.done()
