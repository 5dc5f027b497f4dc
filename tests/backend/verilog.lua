-- verilog.lua - kernels as Verilog: values and cycles of the timed run, in Icarus and Verilator; what [slow]
-- is not built yet is refused by name, beside what is.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i8, i16, i32, grid = tide.i8, tide.i16, tide.i32, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local function saxpy(n)
  return tide.kernel {
    name = "saxpy", x = i16[n], y = i16[n], a = i16,
    function(x, y, a)
      for i in grid(n) do y[i] = y[i] + a * x[i] end
    end,
  }
end

local function gemm(m, n, k)
  local f = tide.kernel {
    name = "gemm", A = i8[m][k], B = i8[k][n], C = i32[m][n],
    function(A, B, C)
      for i, j in grid(m, n) do
        for l = 0, k - 1 do C[i][j] = C[i][j] + A[i][l] * B[l][j] end
      end
    end,
  }
  return f, {tide.random(i8[m][k], 1), tide.random(i8[k][n], 2), i32[m][n](0)}
end

t.test("example 01 runs in Icarus", function()
  local x, y = tide.tensor(i16[8], {1, 2, 3, 4, 5, 6, 7, 8}), i16[8](100)
  t.eq(case.run(saxpy(8), {x, y, 3}), 25)
  case.run(saxpy(13), {tide.random(i16[13], 1), tide.random(i16[13], 2), -7})
end)

t.test("example 02, each step of it, runs in Icarus", function()
  local f, args = gemm(8, 8, 8)
  local s = tide.schedule(f)
  case.run(s, args)
  local _, i_o, i_i = s:split("i", 4)
  local _, j_o, j_i = s:split("j", 4)
  s:reorder(i_o, j_o, i_i, j_i)
  s:reorder("l", j_i)
  case.run(s, args)
  local _, C_i = s:buffer_at("C", i_i)
  s:partition(C_i, 0)
  s:partition("B", 1, {factor = 4})
  case.run(s, args)
  s:pipeline("l")
  case.run(s, args)
  s:unroll(j_i)
  case.run(s, args)
end)

t.test("elements that stay are kept in registers", function()
  local f, args = gemm(3, 4, 5)
  case.run(tide.schedule(f):pipeline("l"), args)
end)

t.test("a read that waits for its address comes before a later write of the element", function()
  for _, n in ipairs {6, 9} do
    local function swap(ii)
      local k = tide.kernel {
        name = "swap", x = i32[n], b = i32[n], y = i32[n],
        function(x, b, y)
          for i in grid(n) do
            local v = x[b[b[i]]]
            x[i] = i
            y[i] = v
          end
        end,
      }
      local at = {}
      for i = 1, n do at[i] = (i * 5) % n end
      return ii and tide.schedule(k):pipeline("i", ii) or k,
        {tide.random(i32[n], 1), tide.tensor(i32[n], at), i32[n](0)}
    end
    case.run(swap())
    case.run(swap(1))
    case.run(swap(2))
  end
end)

t.test("an index becomes a fixed point number", function()
  local S = tide.fixed(5, 2):with {overflow = "saturate"}
  for _, n in ipairs {2, 3} do
    local k = tide.kernel {name = "k", A = S[n], function(A) for i in grid(n) do A[i] = i - 1 end end}
    case.run(k, {S[n](0)})
  end
end)

t.test("words of Verilog are no names", function()
  local k = tide.kernel {
    name = "design", reg = i16[6], wire = i16[6],
    function(reg, wire)
      for always in grid(6) do wire[always] = reg[always] + always end
    end,
  }
  local _, m = case.run(k, {tide.random(i16[6], 1), i16[6](0)})
  t.has(m.source, "module design_top")
end)

t.test("arrays, scalars, locals and cases of letters that are called like pins", function()
  local function own(f, types, ...)
    types[#types + 1] = f
    return tide.kernel(types), {...}
  end
  local x, y = tide.random(i16[6], 1), tide.random(i16[6], 2)
  case.run(own(function(a, A, y)
    for i in grid(6) do y[i] = a[i] + A[i] end
  end, {a = i16[6], A = i16[6], y = i16[6]}, x, x:copy(), y))
  local _, m = case.run(own(function(x, x_q, y)
    for i in grid(6) do y[i] = x[i] + x_q end
  end, {x = i16[6], x_q = i16, y = i16[6]}, x, 5, y))
  t.has(m.source, "] x_q,")
  case.run(own(function(x, y)
    for i in grid(6) do
      local y_we = i16(x[i])
      if x[i] > 1 then y_we = y_we + 1 end
      y[i] = y_we * y_we
    end
  end, {x = i16[6], y = i16[6]}, x, y))
  local k, args = own(function(x, x_1, y)
    for i in grid(6) do y[i] = x[i] + x_1[i] end
  end, {x = i16[6], x_1 = i16[6], y = i16[6]}, x, x:copy(), y)
  local s = tide.schedule(k)
  s:partition("x", 0, {factor = 2})
  case.run(s, args)
end)

if case.has "verilator" then
  t.test("examples 01 and 02 run in Verilator", function()
    case.run(saxpy(8), {tide.random(i16[8], 1), tide.random(i16[8], 2), 5}, {sim = "verilator"})
    local f, args = gemm(5, 6, 7)
    case.run(tide.schedule(f):pipeline("l"), args, {sim = "verilator"})
  end)
else
  t.skip("examples 01 and 02 run in Verilator", "verilator is not here")
end

t.done()
