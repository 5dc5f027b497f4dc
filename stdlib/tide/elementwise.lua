-- Templates of functions of elements, on arrays of one to three dimensions.
local tide = require "tide"
local template = require "tide.template"

local grid = tide.grid

-- Kernels by number of dimensions: Y = f(X).
local unary = {
  function(name, f, T, N)
    return tide.kernel { name = name, X = T[N], Y = T[N], function(X, Y)
      for i in grid(N) do Y[i] = f(X[i]) end
    end }
  end,
  function(name, f, T, M, N)
    return tide.kernel { name = name, X = T[M][N], Y = T[M][N], function(X, Y)
      for j, i in grid(M, N) do Y[j][i] = f(X[j][i]) end
    end }
  end,
  function(name, f, T, H, W, C)
    return tide.kernel { name = name, X = T[H][W][C], Y = T[H][W][C], function(X, Y)
      for k, j, i in grid(H, W, C) do Y[k][j][i] = f(X[k][j][i]) end
    end }
  end,
}

-- Kernels by number of dimensions: Y = f(A, B).
local binary = {
  function(name, f, T, N)
    return tide.kernel { name = name, A = T[N], B = T[N], Y = T[N], function(A, B, Y)
      for i in grid(N) do Y[i] = f(A[i], B[i]) end
    end }
  end,
  function(name, f, T, M, N)
    return tide.kernel { name = name, A = T[M][N], B = T[M][N], Y = T[M][N], function(A, B, Y)
      for j, i in grid(M, N) do Y[j][i] = f(A[j][i], B[j][i]) end
    end }
  end,
  function(name, f, T, H, W, C)
    return tide.kernel { name = name, A = T[H][W][C], B = T[H][W][C], Y = T[H][W][C], function(A, B, Y)
      for k, j, i in grid(H, W, C) do Y[k][j][i] = f(A[k][j][i], B[k][j][i]) end
    end }
  end,
}

--- The template of a function, an element per cycle: {name =, summary =, inputs = 1 or 2, of = a Lua function of the
--- type of the elements that returns the function, T = parameter for that type, where =}.
return function(spec)
  local kernels = spec.inputs == 1 and unary or binary
  return template {
    name = spec.name, summary = spec.summary, where = spec.where,
    kernel = function(shape, T) return kernels[#shape](spec.name, spec.of(T), T, table.unpack(shape)) end,
    schedule = function(s) s:pipeline "i" end,
    shape = template.shape "extents of the arrays, one to three", T = spec.T,
  }
end
