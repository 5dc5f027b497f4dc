-- [slow] Pairs of programs that compute the same in other words, and pairs that nearly do: shifts, // and *,
-- & and %, min, max, select and if, De Morgan, nested selects, comparisons turned. Each stands alone,
-- and some behind a loop that has them compiled. Those that are equal are proved, strict unless another
-- level is named; those that differ never are.
local tide = require "tide"
local t = require "tap"

local LETTERS = {
  i8 = "i8", u8 = "u8", i16 = "i16", u16 = "u16", i32 = "i32", u32 = "u32", i64 = "i64", u64 = "u64",
  f32 = "f32", f64 = "f64", bool = "bool",
}

-- The kernel over these parameters with this body.
local function kernel(parameters, body)
  local names, locals = {}, {}
  for name in parameters:gmatch "(%u%w*) =" do names[#names + 1] = name end
  for name in pairs(LETTERS) do locals[#locals + 1] = ("local %s = tide.%s"):format(name, name) end
  table.sort(locals)
  return load(([[
    local tide = require "tide"
    local min, max, select, abs, asr = tide.min, tide.max, tide.select, tide.abs, tide.asr
    %s
    return tide.kernel {%s, function(%s) %s end}]]):format(table.concat(locals, " "), parameters,
    table.concat(names, ", "), body), "=pair")()
end

local S = "A = i32[6], B = i64[6]"
local U = "A = u32[6], B = i64[6]"
local N = "A = i8[6], B = i8[6]"
local F = "A = f32[6], B = f32[6]"
local SAT = 'A = i8[6], B = i8:with {overflow = "saturate"}[6]'

-- name, parameters, the bodies, and what is expected: "equal", a level, or "differs".
local pairs_of = {
  {"shift and product", S, "B[0] = A[0] << 3", "B[0] = A[0] * 8", "equal"},
  {"shift and product by another power", S, "B[0] = A[0] << 3", "B[0] = A[0] * 4", "differs"},
  {"a shift that the store cuts", N, "B[0] = A[0] << 3", "B[0] = i8(A[0] * 8)", "equal"},
  {"a product cut before and after", S, "B[0] = i32(A[0] << 3)", "B[0] = A[0] * 8", "differs"},
  {"asr and //", S, "B[0] = asr(A[0], 2)", "B[0] = A[0] // 4", "equal"},
  {"asr and a quotient toward zero", S, "B[0] = asr(A[0], 2)",
    "B[0] = select(A[0] < 0, -(-A[0] // 4), A[0] // 4)", "differs"},
  {"logical shift and //", U, "B[0] = A[0] >> 5", "B[0] = A[0] // 32", "equal"},
  {"// by a negative power", S, "B[0] = A[0] // -4", "B[0] = (-A[0]) // 4", "equal"},
  {"// by a negative power, and the negated quotient", S, "B[0] = A[0] // -4", "B[0] = -(A[0] // 4)", "differs"},
  {"& and %", S, "B[0] = A[0] & 7", "B[0] = A[0] % 8", "equal"},
  {"& and % of no power", S, "B[0] = A[0] & 6", "B[0] = A[0] % 7", "differs"},
  {"& of one less", S, "B[0] = A[0] & 8", "B[0] = A[0] % 8", "differs"},
  {"% as what // leaves", S, "B[0] = A[0] - (A[0] // 16) * 16", "B[0] = A[0] % 16", "equal"},
  {"% of the absolute value", S, "B[0] = abs(A[0]) % 16", "B[0] = A[0] % 16", "differs"},
  {"rounded down to a power", S, "B[0] = (A[0] // 8) * 8", "B[0] = A[0] & ~i32(7)", "equal"},
  {"quotients of quotients", S, "B[0] = (A[0] // 4) // 8", "B[0] = asr(A[0], 5)", "equal"},
  {"quotients of products", S, "B[0] = (A[0] * 8) // 4", "B[0] = A[0] << 1", "equal"},
  {"products of quotients", S, "B[0] = (A[0] // 4) * 8", "B[0] = A[0] << 1", "differs"},
  {"bits and shifts", U, "B[0] = tide.bits(A[0], 4, 12)", "B[0] = (A[0] >> 4) & 255", "equal"},
  {"bits of a signed number", S, "B[0] = tide.bits(A[0], 4, 12)", "B[0] = A[0] // 16 % 256", "equal"},
  {"bits one further", U, "B[0] = tide.bits(A[0], 4, 12)", "B[0] = (A[0] >> 5) & 255", "differs"},
  {"min and select", S, "B[0] = min(A[0], A[1])", "B[0] = select(A[0] < A[1], A[0], A[1])", "equal"},
  {"min and the other select", S, "B[0] = min(A[0], A[1])", "B[0] = select(A[0] < A[1], A[1], A[0])", "differs"},
  {"min and if", S, "B[0] = min(A[0], A[1])", "if A[1] <= A[0] then B[0] = A[1] else B[0] = A[0] end", "equal"},
  {"max and a local that an if changes", S, "B[0] = max(A[0], A[1])",
    "local m = A[0] if m < A[1] then m = A[1] end B[0] = m", "equal"},
  {"max and a local that another if changes", S, "B[0] = max(A[0], A[1])",
    "local m = A[0] if m < A[1] then m = A[0] end B[0] = m", "differs"},
  {"min turned", S, "B[0] = min(A[0], min(A[1], A[2]))", "B[0] = min(min(A[2], A[0]), A[1])", "equal"},
  {"min by max of negatives", S, "B[0] = min(A[0], A[1])", "B[0] = -max(-A[0], -A[1])", "equal"},
  {"min by max of negatives that are cut", N, "B[0] = min(A[0], A[1])", "B[0] = i8(-max(i8(-A[0]), i8(-A[1])))",
    "differs"},
  {"min and max add up", S, "B[0] = min(A[0], A[1]) + max(A[0], A[1])", "B[0] = A[0] + A[1]", "equal"},
  {"a clamp of two", S, "B[0] = min(max(A[0], -5), 9)",
    "if A[0] < -5 then B[0] = -5 elseif A[0] > 9 then B[0] = 9 else B[0] = A[0] end", "equal"},
  {"a clamp with an open end", S, "B[0] = min(max(A[0], -5), 9)",
    "if A[0] < -5 then B[0] = -5 elseif A[0] > 9 then B[0] = 10 else B[0] = A[0] end", "differs"},
  {"relu", S, "B[0] = max(A[0], 0)", "B[0] = select(A[0] > 0, A[0], 0)", "equal"},
  {"abs and max", S, "B[0] = abs(A[0])", "B[0] = max(A[0], -A[0])", "equal"},
  {"abs and select", S, "B[0] = abs(A[0])", "B[0] = select(A[0] < 0, -A[0], A[0])", "equal"},
  {"abs of the cut negative", S, "B[0] = abs(A[0])", "B[0] = select(A[0] < 0, i32(-A[0]), A[0])", "differs"},
  {"De Morgan", S, "B[0] = select(not (A[0] < 3 and A[1] < 4), 1, 0)",
    "B[0] = select(A[0] >= 3 or A[1] >= 4, 1, 0)", "equal"},
  {"De Morgan with and left", S, "B[0] = select(not (A[0] < 3 and A[1] < 4), 1, 0)",
    "B[0] = select(A[0] >= 3 and A[1] >= 4, 1, 0)", "differs"},
  {"De Morgan of bits", S, "B[0] = ~(A[0] & A[1])", "B[0] = ~A[0] | ~A[1]", "equal"},
  {"De Morgan of bits with & left", S, "B[0] = ~(A[0] & A[1])", "B[0] = ~A[0] & ~A[1]", "differs"},
  {"De Morgan of ifs", S, "if not (A[0] < 3 or A[1] == 4) then B[0] = 7 end",
    "if A[0] >= 3 then if A[1] ~= 4 then B[0] = 7 end end", "equal"},
  {"~ is minus one more", S, "B[0] = ~A[0]", "B[0] = -A[0] - 1", "equal"},
  {"~ is not minus", S, "B[0] = ~A[0]", "B[0] = -A[0]", "differs"},
  {"~ of no sign", U, "B[0] = ~A[0]", "B[0] = -A[0] - 1", "differs"},
  {"exclusive or by and, or", S, "B[0] = A[0] ~ A[1]", "B[0] = (A[0] | A[1]) & ~(A[0] & A[1])", "equal"},
  {"a sum by & and exclusive or", S, "B[0] = A[0] + A[1]", "B[0] = (A[0] ~ A[1]) + ((A[0] & A[1]) << 1)", "equal"},
  {"nested selects of one condition", S, "B[0] = select(A[0] < A[1], A[2], select(A[0] < A[1], A[3], A[4]))",
    "B[0] = select(A[0] < A[1], A[2], A[4])", "equal"},
  {"nested selects and a conjunction", S, "B[0] = select(A[0] < 1, select(A[1] < 1, A[2], A[3]), A[3])",
    "B[0] = select(A[0] < 1 and A[1] < 1, A[2], A[3])", "equal"},
  {"nested selects and a disjunction", S, "B[0] = select(A[0] < 1, select(A[1] < 1, A[2], A[3]), A[3])",
    "B[0] = select(A[0] < 1 or A[1] < 1, A[2], A[3])", "differs"},
  {"a select under not", S, "B[0] = select(not (A[0] == 0), A[1], A[2])", "B[0] = select(A[0] == 0, A[2], A[1])",
    "equal"},
  {"a select of one value", S, "B[0] = select(A[0] < 4, A[1] * 3, A[1] * 3)", "B[0] = A[1] * 3", "equal"},
  {"an operator taken out of a select", S, "B[0] = select(A[0] < 4, A[1] + 5, A[2] + 5)",
    "B[0] = select(A[0] < 4, A[1], A[2]) + 5", "equal"},
  {"if, else and two ifs", S, "if A[0] < 4 then B[0] = 1 else B[0] = 2 end",
    "if A[0] < 4 then B[0] = 1 end if A[0] >= 4 then B[0] = 2 end", "equal"},
  {"if, else and two ifs that both hold", S, "if A[0] < 4 then B[0] = 1 else B[0] = 2 end",
    "if A[0] < 4 then B[0] = 1 end if A[0] >= 3 then B[0] = 2 end", "differs"},
  {"a comparison turned", S, "B[0] = select(A[0] < A[1], 1, 0)", "B[0] = select(not (A[1] <= A[0]), 1, 0)", "equal"},
  {"a comparison turned, of floats", "A = f32[6], B = i64[6]", "B[0] = select(A[0] < A[1], 1, 0)",
    "B[0] = select(not (A[1] <= A[0]), 1, 0)", "differs"},
  {"<= of floats by < and ==", "A = f32[6], B = i64[6]", "B[0] = select(A[0] <= A[1], 1, 0)",
    "B[0] = select(A[0] < A[1] or A[1] == A[0], 1, 0)", "equal"},
  {"at most and less than one more", S, "B[0] = select(A[0] <= 3, 1, 0)", "B[0] = select(A[0] < 4, 1, 0)", "equal"},
  {"at most and less than one more that is cut", S, "B[0] = select(A[0] <= A[1], 1, 0)",
    "B[0] = select(A[0] < i32(A[1] + 1), 1, 0)", "differs"},
  {"at most and less than one more, exact", S, "B[0] = select(A[0] <= A[1], 1, 0)",
    "B[0] = select(A[0] < A[1] + 1, 1, 0)", "equal"},
  {"a difference below 0", S, "B[0] = select(A[0] - A[1] < 0, 1, 0)", "B[0] = select(A[0] < A[1], 1, 0)", "equal"},
  {"a cut difference below 0", S, "B[0] = select(i32(A[0] - A[1]) < 0, 1, 0)", "B[0] = select(A[0] < A[1], 1, 0)",
    "differs"},
  {"odd by & and by %", S, "B[0] = select(A[0] & 1 ~= 0, 5, 6)", "B[0] = select(A[0] % 2 == 1, 5, 6)", "equal"},
  {"the sign bit", S, "B[0] = select(A[0] < 0, 1, 0)", "B[0] = tide.bits(A[0], 31, 32)", "equal"},
  {"the bit below the sign", S, "B[0] = select(A[0] < 0, 1, 0)", "B[0] = tide.bits(A[0], 30, 31)", "differs"},
  {"a bool as a number", S, "B[0] = select(A[0] < 9, 1, 0)", "B[0] = i32(A[0] < 9)", "equal"},
  {"saturation and clamp", SAT, "B[0] = A[0] + A[1]", "B[0] = min(max(A[0] + A[1], -128), 127)", "equal"},
  {"saturation and a narrower clamp", SAT, "B[0] = A[0] + A[1]", "B[0] = min(max(A[0] + A[1], -127), 127)", "differs"},
  {"saturation and wrap", SAT, "B[0] = A[0] + A[1]", "B[0] = i8(A[0] + A[1])", "differs"},
  {"a select among floats", F, "B[0] = select(not (A[0] < A[1]), A[2], A[3])", "B[0] = select(A[0] < A[1], A[3], A[2])",
    "equal"},
  {"min of floats and select", F, "B[0] = min(A[0], A[1])", "B[0] = select(A[0] < A[1], A[0], A[1])", "differs"},
  {"min of floats turned", F, "B[0] = min(A[0], A[1])", "B[0] = min(A[1], A[0])", "associative"},
  {"abs of a float and select", F, "B[0] = abs(A[0])", "B[0] = select(A[0] < 0.0, -A[0], A[0])", "differs"},
  {"a float and itself plus 0.0", F, "B[0] = select(A[0] < 0.0, A[0], A[0] + 0.0)", "B[0] = A[0]", "ring"},
  {"a float over itself", F, "B[0] = A[0] / A[0]", "B[0] = 1.0", "differs"},
  {"twice a float", F, "B[0] = A[0] * 2.0", "B[0] = A[0] + A[0]", "ring"},
  {"a product under other words", S, "B[0] = (A[0] << 1) * A[1]", "B[0] = (A[1] * A[0]) * 2", "equal"},
  {"a quotient under other words", S, "if A[1] ~= 0 then B[0] = (A[0] & 15) // A[1] end",
    "if not (A[1] == 0) then B[0] = A[0] % 16 // A[1] end", "equal"},
  {"a float under other words", F, "B[0] = f32(i32(A[0]) * 4) + A[1]", "B[0] = A[1] + f32(i32(A[0]) << 2)", "equal"},
}

-- Work that has a program compiled.
local LONG = "for r = 0, 4999 do R[r] = r end "

for i, p in ipairs(pairs_of) do
  local name, parameters, first, second, want = table.unpack(p)
  t.test(name, function()
    for _, long in ipairs(i % 4 == 0 and {"", LONG} or {""}) do
      local arguments = long == "" and parameters or parameters .. ", R = i32[5000]"
      local got, verdict = tide.verify(kernel(arguments, long .. first), kernel(arguments, long .. second))
      local is = want == "differs" and "differs" or got and "equal" or "not decided"
      if want ~= "differs" then
        t.eq(is, "equal", tostring(verdict):match "[^\n]*")
        if want ~= "equal" then t.eq(got, want) end
      else
        t.eq(got, nil, tostring(verdict):match "[^\n]*")
        t.ok(not tostring(verdict):find "proved")
      end
    end
  end)
end

t.done()
