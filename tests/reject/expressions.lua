-- Operators, names, indices, types, conversions and tensor expressions that are refused.
local t = require "tap"
local r = require "refused"

r.bodies {
  -- names
  {"undefined", "B[0] = §nosuch", "B[0] = n"},
  {"undefined", "B[0] = §nn", "B[0] = n", help = "'n'"},
  {"undefined", "B[0] = §AA[0]", "B[0] = A[0]", help = "'A'"},
  {"undefined", "for i in §redction(4) do B[i] = 1 end", "for i in reduction(4) do B[i] = 1 end", help = "'reduction'"},
  {"undefined", "B[0] = math.abs(0) + §mth.abs(n)", "B[0] = math.abs(0) + math.abs(n)", help = "'math'"},
  {"nil-upvalue", "B[0] = §none", "B[0] = zero"},
  {"nil-upvalue", "B[0] = §none + 1", "B[0] = (none or 1) + 1"},
  {"nil-upvalue", "if none == 3 then B[0] = none end if zero == 0 then B[0] = §none end", "if none then B[0] = none end"},
  {"no-field", "B[0] = list.§bt[1]", "B[0] = list.at[1]"},
  {"no-field", "B[0] = math.§nosuch(1)", "B[0] = math.abs(1)"},
  {"no-field", "B[0] = tide.§abss(n)", "B[0] = tide.abs(n)", help = "'abs'"},
  {"no-field", "B[0] = list§[4]", "B[0] = list[2]"},
  {"field", "B[0] = A.§length", "B[0] = #A", help = "shape"},
  {"field", "B[0] = n.§x", "B[0] = n"},
  {"variable-index", "B[0] = list§[n]", "B[0] = T[n]"},
  {"rank", "B[0] = A.shape§[2]", "B[0] = A.shape[1]"},
  {"rank", "B[0] = A.shape§[n]", "B[0] = A.shape[1]"},

  -- operators
  {"operator", "F[0] = x §^ x", "F[0] = x * x", help = "multiply"},
  {"operator", "local s = n §.. n", "local s = n + n"},
  {"constant", "B[0] = N §+ text", "B[0] = N + 1"},
  {"constant", "B[0] = N §// zero", "B[0] = N // 2"},
  {"constant", "B[0] = text §< N", "local c = zero < N"},
  {"int-division", "B[0] = n §/ 2", "B[0] = n // 2", help = "//"},
  {"signed-shift", "B[0] = n §>> 1", "B[0] = tide.asr(n, 1)", help = "asr"},
  {"negative-shift", "B[0] = n §<< -1", "B[0] = n << 1"},
  {"float-bits", "F[0] = x §& 1", "B[0] = n & 1"},
  {"float-bits", "F[0] = x §<< 1", "B[0] = n << 1"},
  {"float-bits", "F[0] = §~x", "B[0] = ~n"},
  {"bool-arithmetic", "B[0] = (n > 0) §+ 1", "B[0] = i32(n > 0) + 1"},
  {"bool-arithmetic", "local c = (n > 0) §< (n > 1)", "local c = (n > 0) == (n > 1)"},
  {"bool-arithmetic", "B[0] = §-(n > 0)", "B[0] = -i32(n > 0)"},
  {"bool-arithmetic", "local c = (n > 0) §== 1", "local c = (n > 0) == true"},
  {"fixed-division", "B[0] = i32(fixed(8, 2)(x) §// 2)", "B[0] = i32(fixed(8, 2)(x)) // 2"},
  {"fixed-bits", "B[0] = i32(fixed(8, 2)(x) §& 2)", "B[0] = i32(fixed(8, 2)(x)) & 2"},
  {"too-wide", "local c = i64(n) * i64(n) §> i64(n)", "local c = i64(i64(n) * i64(n)) > i64(n)"},
  {"too-wide", "B[0] = i32(i64(n) * i64(n) §// 3)", "B[0] = i32(i64(i64(n) * i64(n)) // 3)"},
  {"too-wide", "local w = uint(99)(n) §+ 1", "local w = uint(99)(n) & 1"},
  {"too-wide", "local w = int(128)(i64(n) §* i64(n))", "local w = i64(i64(n) * i64(n))"},
  {"too-wide", "local w = uint(99)(n) local v = w & w §<< 3", "local w = uint(99)(n) local v = u64(w & w << 3)"},
  {"too-wide", "B[0] = i32(tide.bits(i64(n) §* i64(n), 60, 70))", "B[0] = i32(tide.bits(i64(n) * i64(n), 40, 50))"},
  {"length", "B[0] = §#n", "B[0] = #A"},
  {"length", "B[0] = §#add", "B[0] = #list"},
  {"not-a-scalar", "B[0] = §A", "B[0] = A[0]", help = "A is i8[8]: an element is A[i]"},
  {"not-a-scalar", "B[0] = §M", "B[0] = M[0][0]", help = "M is i32[4][4]: an element is M[i][j]"},
  {"not-a-scalar", "B[0] = tide.select(n > 0, 1, 2) + i32(M[0][§M[1]])", "B[0] = M[0][1]"},
  {"join", "B[0] = n > 0 and A[n] §or n > 1", "B[0] = n > 0 and A[n % 8] or 1"},
  {"not-a-value", "B[0] = n > 0 and §text or 1", "B[0] = n > 0 and #text or 1"},

  -- indices
  {"index-type", "B[§0.5] = 1", "B[0] = 1"},
  {"index-type", "B[0] = A[§x]", "B[0] = A[n]"},
  {"index-type", "B[0] = A[n §> 0]", "B[0] = A[i32(n > 0)]"},
  {"not-indexable", "B[0] = n[§0]", "B[0] = A[0]", help = "a number, of type i32"},
  {"not-indexable", "B[0] = A[0][§0]", "B[0] = M[0][0]"},
  {"not-indexable", "B[0] = add[§1]", "B[0] = list[1]"},

  -- types
  {"extent", "local v = i32[§n](0)", "local v = i32[N](0)"},
  {"extent", "local v = i32[§-1](0)", "local v = i32[1](0)"},
  {"extent", "for i = 0, 3 do local v = i32[i §+ 1](0) end",
    "for i = 0, 3 do local v = i32[N + 1](0) end"},
  {"extent", "local v = i32[§x](0)", "local v = i32[2](0)"},
  {"rank", "local v = i32[1][1][1][1][1][1][1][1][§1](0)",
    "local v = i32[1][1][1][1][1][1][1][1](0)"},
  {"width", "B[0] = §int(0)(1)", "B[0] = int(1)(0)"},
  {"width", "B[0] = int(§n)(1)", "B[0] = int(N)(1)"},
  {"width", "B[0] = §uint(1025)(1)", "B[0] = i32(uint(1024)(1))"},
  {"arguments", "B[0] = §fixed(8)(1)", "B[0] = i32(fixed(8, 0)(1))"},
  {"arguments", "B[0] = §i32(1, 2)", "B[0] = i32(1)"},
  {"shapes", "B[0] = §i32(A)", "B[0] = i32(A[0])"},
  {"shapes", "local v = i32§[4](A)", "local v = i32[8](A)"},
  {"needs-cast", "local v = i32[4](§x)", "local v = i32[4](i32(x))"},
  {"needs-bool", "local v = §bool(n)", "local v = n ~= 0", help = "~= 0"},
  {"needs-bool", "local v = §bool(1)", "local v = bool(true)"},
  {"not-a-value", "B[0] = i32(§text)", "B[0] = i32(#text)"},

  -- intrinsics
  {"arguments", "B[0] = tide.§min(n)", "B[0] = tide.min(n, 1)"},
  {"arguments", "B[0] = tide.§abs(n, 1)", "B[0] = tide.abs(n)"},
  {"arguments", "F[0] = tide.§fma(x, x)", "F[0] = tide.fma(x, x, x)"},
  {"arguments", "B[0] = tide.§select(n > 0, 1)", "B[0] = tide.select(n > 0, 1, 2)"},
  {"arguments", "B[0] = tide.§bitcast(x)", "B[0] = tide.bitcast(i32, x)"},
  {"arguments", "B[0] = tide.§bitcast(x, i32)", "B[0] = tide.bitcast(i32, x)"},
  {"condition", "B[0] = tide.select(§n, 1, 2)", "B[0] = tide.select(n > 0, 1, 2)"},
  {"needs-cast", "F[0] = tide.§sqrt(n)", "F[0] = tide.sqrt(f32(n))", help = "f32"},
  {"needs-cast", "F[0] = tide.§fma(n, n, n)", "F[0] = tide.fma(x, x, n)"},
  {"bitcast-width", "local v = tide.§bitcast(i16, x)", "local v = tide.bitcast(i32, x)"},
  {"bits-width", "B[0] = tide.§bits(n, 0, n)", "B[0] = tide.bits(n, 0, 4)"},
  {"bits-range", "B[0] = tide.§bits(n, 30, 33)", "B[0] = tide.bits(n, 30, 32)"},
  {"bits-range", "B[0] = tide.§bits(n, 4, 4)", "B[0] = tide.bits(n, 4, 5)"},
  {"bits-range", "n = tide.§with_bits(n, 30, 33, 1)", "n = tide.with_bits(n, 30, 32, 1)"},
  {"needs-cast", "n = tide.§with_bits(n, 0, 8, x)", "n = tide.with_bits(n, 0, 8, i32(x))", help = "cast first"},
  {"index-type", "B[0] = tide.bits(n, §x, 4)", "B[0] = tide.bits(n, 0, 4)"},

  -- tensors
  {"shapes", "F:set(F §+ M)", "F:set(F + F)"},
  {"shapes", "F:§set(M)", "F:set(F)"},
  {"shapes", "local v = §matmul(M, A)", "local v = matmul(M, M)"},
  {"shapes", "local v = §matmul(M, M:slice({0, 2}))", "local v = matmul(M, M:slice({0, 4}))"},
  {"arguments", "local v = §matmul(M)", "local v = matmul(M, M)"},
  {"not-a-tensor", "local v = matmul(M, §n)", "local v = matmul(M, M)"},
  {"accumulator", "local v = matmul(M, M, §{acc = 3})", "local v = matmul(M, M, {acc = i64})"},
  {"accumulator", "local v = matmul(M, M, §{sum = i64})", "local v = matmul(M, M, {acc = i64})"},
  {"reduction", "local v = tide.reduce(M, §\"-\", 0)", "local v = tide.reduce(M, \"+\", 0)"},
  {"rank", "local v = tide.§reduce(M, \"+\", 2)", "local v = tide.reduce(M, \"+\", 1)"},
  {"rank", "local v = tide.§reduce(A, \"+\", 1)", "local v = tide.reduce(A, \"+\", 0)"},
  {"rank", "local v = A:§slice({0, 2}, {0, 2})", "local v = A:slice({0, 2})"},
  {"slice", "local v = A:slice(§{0})", "local v = A:slice({0, 1})"},
  {"slice", "local v = A:slice({0, 8, §0})", "local v = A:slice({0, 8, 1})"},
  {"slice", "local v = A:slice({0, 8, §n})", "local v = A:slice({0, 8, N})"},
  {"slice", "local v = A:slice(§{5, 3})", "local v = A:slice({3, 5})"},
  {"slice", "local v = A:slice(§{lo = 1, hi = 2})", "local v = A:slice({1, 2})"},
  {"extent", "local v = A:§slice({0, n})", "local v = A:slice({n, n + 2})", help = "{0, 0 + 2}"},
  {"extent", "for i = 0, 3 do A:§slice({i, 7, 4}):set(1) end", "for i = 0, 3 do A:slice({i, i + 4, 4}):set(1) end",
    help = "{i, i + 4, 4} has one length wherever it begins: 1"},
  {"extent", "for i = 0, 4 do A:§slice({i, 8, 4}):set(1) end", "for i = 0, 3 do A:slice({i, 8, 4}):set(1) end"},
  {"extent", "for i = 0, n do A:§slice({i, 8, 4}):set(1) end", "for i = 0, 3 do A:slice({i, 8, 4}):set(1) end"},
  {"transpose", "local v = (M + M):§transpose()", "local v = M:transpose()"},
  {"method", "A:§fill(1)", "A:set(1)"},
  {"method", "A:§sett(1)", "A:set(1)", help = "'set'"},
  {"method", "n:§set(1)", "A:set(1)"},
  {"arguments", "A:§set()", "A:set(1)"},
  {"assign-tensor", "(F + F):§set(1)", "F:set(1)"},
  {"needs-cast", "B:§set(F)", "B:set(i32[8](F))"},
  {"needs-cast", "B:set(§x)", "B:set(i32(x))"},

  -- integers beyond 64 bits
  {"needs-cast", "B[0] = n §+ 9223372036854775808", "F[0] = x + 9223372036854775808", help = "9223372036854775807"},
  {"needs-cast", "B[0] = §-9223372036854775808", "B[0] = -9223372036854775807", help = "0x8000000000000000"},
  {"float-bits", "B[0] = n §& 18446744073709551615", "B[0] = n & 0xffffffffffffffff", help = "9223372036854775807"},
  {"index-type", "for i = 0, §9223372036854775808 do B[0] = 1 end", "for i = 0, 922337203685477580 do B[0] = 1 end",
    help = "9223372036854775807"},
}

t.test("an integer beyond 64 bits is told where it stands; a float that is written as one is not", function()
  local function refused(number)
    return t.fails(load("local tide = require 'tide'\nreturn tide.kernel {B = tide.i64[1], function(B)\n  B[0] = B[0] + " ..
      number .. "\nend}", "=long"), {code = "needs-cast", line = 3, col = 15})
  end
  local e = refused "9223372036854775808"
  t.eq({e.notes[1].file, e.notes[1].line, e.notes[1].col}, {"long", 3, 17})
  t.has(tostring(e), "this integer does not fit 64 bits, so Lua reads it as a float")
  t.has(tostring(e), "|                 ^~~~~~~~~~~~~~~~~~~")
  for _, number in ipairs {"9223372036854775808.0", "1e19", "1.5"} do t.eq(#refused(number).notes, 0) end
end)

t.done()
