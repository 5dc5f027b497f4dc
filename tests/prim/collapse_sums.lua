-- collapse_sums.lua - collapse: partial sums join their sums, an array that holds two things in turn goes.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, i16, grid = tide.i32, tide.i16, tide.grid

-- Sums of parts: P starts with zeros, is added to, and is added to S at last; `fact` changes one thing.
local function parts(fact)
  return function(z)
    local N, K, T = z.N or 4, z.K or 6, z.T or i32
    return tide.kernel {A = T[K][N], S = T[N], y = T[N], function(A, S, y)
      for h = 0, 1 do
        local P = T[N]()
        if fact ~= "unset" then
          for i = 0, N - 1 do P[i] = 0 end
        else
          for i = 0, N - 1 do P[i] = A[0][i] end
        end
        for k, i in grid(K, N) do P[i] = T(P[i] + A[k][N - 1 - i] * (h + 1)) end
        if fact == "between" then y[h] = S[0] end
        if fact == "half" then
          for i = 0, N - 2 do S[i] = T(S[i] + P[i]) end
        elseif fact == "product" then
          for i = 0, N - 1 do S[i] = T(S[i] * P[i]) end
        else
          for i = 0, N - 1 do S[i] = T(P[N - 1 - i] + S[i]) end
        end
        if fact == "later" then y[h] = P[1] end
      end
    end}, {T[K][N], T[N], T[N]}
  end
end
prim.accepted("a partial sum joins its sum", {
  of = parts(), step = {"collapse", "P"}, level = "associative", other = {{N = 3, K = 2}},
}, function(s) t.ok(not tostring(s):find("P[", 1, true)) end)
prim.accepted("a partial sum of floats, if it may be made in another order", {
  of = function() return parts()({T = tide.f32}) end, step = {"collapse", "P", {reassociate = true}},
  level = "ring", equal = function(a, b) return a:allclose(b, {rtol = 1e-4, atol = 1e-4}) end,
})
prim.accepted("a scalar", {
  of = function()
    return tide.kernel {A = i16[4][6], y = i32[4], function(A, y)
      for i = 0, 3 do
        local s = i32(0)
        for j = 0, 5 do s = s + A[i][j] end
        y[i] = y[i] + s
      end
    end}, {i16[4][6], i32[4]}
  end, step = {"collapse", "s"}, level = "associative", has = {"y[i] = y[i] + A[i][j]"},
})
prim.accepted("a sum of tensors", {
  of = function()
    return tide.kernel {A = i32[3][4][4], y = i32[4][4], function(A, y)
      for x = 0, 2 do
        local P = i32[4][4](0)
        for i, j in grid(4, 4) do P[i][j] = P[i][j] + A[x][j][i] end
        y:set(y + P)
      end
    end}, {i32[3][4][4], i32[4][4]}
  end, step = {"collapse", "P"}, level = "associative",
})
prim.refused("a partial sum of floats", {
  of = function() return parts()({T = tide.f32}) end, step = {"collapse", "P"}, code = "reassociation",
})
for fact, code in pairs {unset = "not-a-copy", between = "order", half = "covers", product = "not-a-copy",
  later = "scope"} do
  prim.refused("a partial sum: " .. fact, {of = parts(fact), step = {"collapse", "P"}, code = code})
end

-- An array that holds two things in turn.
prim.accepted("an array that a copy overwrites: both lives go", {
  of = function()
    return tide.kernel {A = i32[4], y = i32[4], function(A, y)
      local P, Q = i32[4](0), i32[2][2]()
      for i = 0, 3 do Q[i % 2][i // 2] = P[i] end
      for i, j in grid(2, 2) do Q[i][j] = Q[i][j] + A[j * 2 + i] * 3 end
      for i = 0, 3 do P[i] = Q[i % 2][i // 2] end
      for i = 0, 3 do y[3 - i] = P[i] end
    end}, {i32[4], i32[4]}
  end, step = {"collapse", "P"},
}, function(s) t.ok(not tostring(s):find("P[", 1, true)) end)

t.done()
