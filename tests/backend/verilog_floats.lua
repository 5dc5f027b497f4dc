-- [slow]
-- verilog_floats.lua - floats as Verilog: each core on words of all kinds (subnormals, infinities, none, ties) in
-- each format, PolyBench to the cycle; functions of f64 are refused.
local t = require "tap"
local case = require "verilog_case"
local polybench = require "polybench"
local tide = require "tide"
local i16, i32, grid = tide.i16, tide.i32, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local formats = {
  {tide.f16, tide.u16, 5, 10}, {tide.bf16, tide.u16, 8, 7}, {tide.f32, tide.u32, 8, 23}, {tide.f64, tide.u64, 11, 52},
}

-- n words of a format, most near 1 and each other, some extreme.
local function words(f, n, seed)
  local E, M = f[3], f[4]
  math.randomseed(seed)
  local function word()
    local kind, bias = math.random(6), (1 << (E - 1)) - 1
    local e = kind == 1 and 0 or kind == 2 and (1 << E) - 1 or kind == 3 and math.random(0, (1 << E) - 1) or
      bias + math.random(-M, M) // 2
    local m = math.random(0, (1 << M) - 1)
    if math.random(3) == 1 then m = math.random(2) == 1 and 0 or (1 << M) - 1 end
    return math.random(0, 1) << (E + M) | e << M | m
  end
  local list = {}
  for i = 1, n do list[i] = word() end
  for i = 2, n, 3 do list[i] = (list[i - 1] + math.random(-1, 1)) & ((1 << (E + M + 1)) - 1) end
  return tide.tensor(f[2][n], list)
end

for _, f in ipairs(formats) do
  local T, U = f[1], f[2]
  t.test(("%s: words of all kinds"):format(T), function()
    for _, n in ipairs {40, 97} do
      local k = tide.kernel {
        name = "cores", a = U[n], b = U[n], c = U[n], y = T[n][8], i = i32[n], w = tide.f64[n], h = tide.f16[n],
        p = tide.u8[n],
        function(a, b, c, y, i, w, h, p)
          for k in grid(n) do
            local u, v, s = tide.bitcast(T, a[k]), tide.bitcast(T, b[k]), tide.bitcast(T, c[k])
            y[k][0] = u + v
            y[k][1] = u * v - s
            y[k][2] = u / v
            y[k][3] = tide.fma(u, v, s)
            y[k][4] = tide.sqrt(u)
            y[k][5] = tide.max(tide.min(u, v), -s)
            y[k][6] = tide.floor(u) + tide.ceil(v)
            y[k][7] = T(i[k]) + tide.abs(s)
            w[k] = u
            h[k] = tide.f16(v)
            if u < v then p[k] = 1 end
            if u <= v then p[k] = p[k] + 2 end
            if u == v then p[k] = p[k] + 4 end
          end
        end,
      }
      case.run(k, {words(f, n, 1), words(f, n, 2), words(f, n, 3), T[n][8](0), tide.random(i32[n], 4), tide.f64[n](0),
        tide.f16[n](0), tide.u8[n](0)})
    end
  end)
end

t.test("sums start at 0: of terms that are -0 they are 0; other reductions keep the sign", function()
  for _, f in ipairs(formats) do
    local T = f[1]
    local k = tide.kernel {
      name = "zeros", a = T[2][3], b = T[3][2], y = T[2][2], s = T[2], m = T[2],
      function(a, b, y, s, m)
        y:set(tide.matmul(a, b))
        s:set(tide.reduce(a, "+", 1))
        m:set(tide.reduce(a, "max", 1))
      end,
    }
    local a, b, y, s, m = T[2][3](-0.0), T[3][2](1), T[2][2](1), T[2](1), T[2](1)
    for j = 0, 2 do a[1][j] = 0 end
    b[0][1] = -1
    case.run(k, {a, b, y, s, m})
    k(a, b, y, s, m)
    t.eq(1 / y[0][0] .. " " .. 1 / s[0] .. " " .. 1 / m[0], "inf inf -inf")
  end
end)

t.test("floats become whole and fixed numbers, by their modes", function()
  local Q, S = tide.fixed(16, 5), tide.fixed(12, 3):with {overflow = "saturate", rounding = "nearest"}
  for _, n in ipairs {20, 33} do
    case.run(tide.kernel {
      name = "modes", x = tide.f32[n], a = i16[n], q = Q[n], s = S[n], y = tide.f32[n],
      function(x, a, q, s, y)
        for i in grid(n) do
          a[i] = i16(x[i])
          q[i] = Q(x[i] * 3)
          s[i] = S(x[i] * 90)
          y[i] = q[i] + x[i]
        end
      end,
    }, {tide.random(tide.f32[n], 1, {lo = -200, hi = 200}), i16[n](0), Q[n](0), S[n](0), tide.f32[n](0)})
  end
end)

t.test("PolyBench runs in its cycles", function()
  for _, name in ipairs {"gemm", "durbin", "deriche", "correlation", "nussinov", "gramschmidt"} do
    local k, args = polybench.make(name)
    case.run(k, args)
  end
  local k, args = polybench.make("atax", {size = {M = 4, N = 3}, type = tide.f32})
  case.run(k, args)
end)

t.test("a function without a core is refused, a square root is not", function()
  local T = tide.f64
  local function of(f)
    return tide.kernel {name = "f", x = T[4], function(x) for i in grid(4) do x[i] = f(x[i]) end end}
  end
  local e = t.fails(function() of(tide.exp):build {target = "verilog"} end, {code = "not-built"})
  t.has(e.message, "exp")
  case.run(of(tide.sqrt), {tide.random(T[4], 1, {lo = 0, hi = 9})})
end)

t.done()
