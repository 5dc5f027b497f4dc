-- [slow] npu_lanes.lua - loops of cores as vectors: each with the bits of the CPU, which of them are vectors and why
-- the others are not, the text by two compilers.
local npu_case = require "npu_case"
local shell = require "shell"
local t = require "tap"
local tide = require "tide"
local i8, i16, i32, u8, u16, f32, bf16 = tide.i8, tide.i16, tide.i32, tide.u8, tide.u16, tide.f32, tide.bf16

-- A design whose one task computes a row of y, elements of type R, by each of these lines, from a, b (of type T) and z.
local function rows(T, R, n, lines)
  local text = [[return tide.design(function(d)
    d.go = tide.task {a = T[n], b = T[n], y = R[rows][n], function(a, b, y)
      local u, v, w = T[n](), T[n](), R[rows][n]()
      for i in tide.grid(n) do u[i] = a[i] end
      for i in tide.grid(n) do v[i] = b[i] end
      for r, i in tide.grid(rows, n) do w[r][i] = R(1) end
LINES
      for r, i in tide.grid(rows, n) do y[r][i] = w[r][i] end
    end}
  end)]]
  for r, line in ipairs(lines) do lines[r] = (line:gsub("W%[", ("w[%d]["):format(r - 1))) end
  local env = {T = T, R = R, n = n, rows = #lines, tide = tide, f32 = f32, bf16 = bf16, i32 = i32, i16 = i16, i8 = i8,
    u8 = u8, S = i16:with {overflow = "saturate"}}
  setmetatable(env, {__index = _G})
  local source = text:gsub("LINES", function() return table.concat(lines, "\n") end)
  return assert(load(source, "=rows", "t", env))()
end

-- Numbers of all sizes, zeros and ends of ranges too.
local function numbers(T, seed)
  return tide.random(T, seed)
end

-- The loops of a build's report: those of lanes, and why each other one has none.
local function loops(m)
  local folder = t.tmp "npu_lanes"
  m:write(folder)
  local text = io.open(folder .. "/report.json"):read "a"
  local lanes, why = 0, {}
  for line in text:gmatch "{\"loop\"[^}]*}" do
    if line:find '"lanes": 0' then why[#why + 1] = line:match '"why": "([^"]*)"' else lanes = lanes + 1 end
  end
  return lanes, why, folder
end

-- The text of the kernels is C++ without warnings, for two compilers.
local function compiles(folder)
  for _, cxx in ipairs {"g++", "clang++"} do
    if os.execute("command -v " .. cxx .. " >/dev/null 2>&1") then
      local flags = "-std=c++20 -Wall -Wextra -Werror -O1 -c -o /dev/null -Ibackends/npu/include"
      local line = ("%s %s %s/kernels.cc"):format(cxx, flags, shell.quote(folder))
      t.ok(os.execute(line), line)
    end
  end
end

local function case(name, T, R, lines)
  for _, n in ipairs {64, 36, 100} do
    t.test(("%s, %d elements"):format(name, n), function()
      local list = {}
      for i, line in ipairs(lines) do list[i] = line end
      local d = rows(T, R, n, list)
      local m = npu_case.same(d, {{T[n], numbers}, {T[n], numbers}, R[#lines][n]}, {tool = false})
      local lanes, why, folder = loops(m)
      t.eq(lanes, #lines, table.concat(why, "; "))
      compiles(folder)
    end)
  end
end

local each = "for i in tide.grid(n) do W[i] = %s end"
local function elements(list)
  for i, e in ipairs(list) do list[i] = each:format(e) end
  return list
end

case("i8, into itself", i8, i8, elements {
  "i8(u[i] + v[i])", "i8(u[i] * 3 - v[i])", "i8(u[i] * v[i])", "tide.max(u[i], 0)", "tide.min(tide.max(u[i], -5), 9)",
  "i8(-u[i])", "i8(tide.abs(u[i]))", "tide.select(u[i] < v[i], u[i], v[i])", "v[i]"})
case("i8 into i32", i8, i32, elements {
  "u[i] + v[i]", "u[i] * v[i]", "u[i] * v[i] * 1000 - 7", "tide.max(u[i] * v[i], u[i] + 100)", "i8(u[i] * v[i])",
  "i32(u[i]) * 70000"})
case("u8 into i16", u8, i16, elements {
  "u[i] + v[i]", "u[i] - v[i]", "tide.max(u[i], v[i])", "u[i] * 2", "u8(u[i] * v[i])"})
local S, B = i16:with {overflow = "saturate"}, u8:with {overflow = "saturate"}
case("i16, saturating", i16, S, elements {"R(u[i] + v[i])", "R(u[i] * v[i])", "R(u[i] - v[i] * 2)"})
case("i16 into bytes without sign that saturate", i16, B, elements {"R(u[i])", "R(u[i] * 2 - v[i])"})
case("i32, wrapping", i32, i32, elements {
  "i32(u[i] + v[i])", "i32(u[i] * v[i])", "i32(u[i] * 5 - 3)", "tide.max(u[i], v[i])", "tide.min(u[i], 12)"})
case("f32", f32, f32, elements {
  "u[i] + v[i]", "u[i] * v[i] - 0.5", "tide.max(u[i], 0)", "tide.min(tide.max(u[i], -0.5), 0.25)", "-u[i]",
  "tide.abs(u[i] - v[i])", "tide.select(u[i] <= v[i], u[i], f32(2))"})
case("bf16", bf16, bf16, elements {
  "u[i] + v[i]", "u[i] * v[i]", "bf16(f32(u[i]) * 3 + f32(v[i]))", "tide.max(u[i], v[i])", "u[i] * v[i] + u[i]"})
case("bf16 into f32", bf16, f32, elements {"f32(u[i]) * f32(v[i])", "f32(u[i] + v[i])", "f32(u[i]) - 1"})
case("i16 into f32", i16, f32, elements {"f32(u[i])", "f32(u[i]) * 0.25", "f32(u[i] * v[i])"})

-- Sums, and the greatest and least: one element each.
local into = "local s = %s for i in tide.grid(n) do s = %s end W[0] = s"
local function sums(list)
  for i, e in ipairs(list) do list[i] = into:format(e[1], e[2]) end
  return list
end

case("sums of i8", i8, i32, sums {
  {"i32(0)", "i32(s + u[i])"}, {"i32(5)", "i32(s + u[i] * v[i])"}, {"i32(-200)", "tide.max(s, i32(u[i]))"},
  {"i32(9)", "tide.min(s, i32(u[i] + v[i]))"}, {"i32(0)", "i32(s + u[i] * 1000)"},
  {"i32(1)", "i32(s + i32(u[i]) * i32(v[i]))"}})
case("sums of i16 that wrap", i16, i16, sums {{"i16(1)", "i16(s + u[i])"}, {"i16(0)", "i16(s + u[i] * v[i])"}})
case("sums of i16 into i32", i16, i32, sums {{"i32(1)", "i32(s + u[i] * v[i])"}, {"i32(0)", "i32(s + tide.abs(u[i]))"}})
case("the greatest f32", f32, f32, sums {
  {"f32(-1)", "tide.max(s, u[i])"}, {"f32(0)", "tide.max(s, u[i] * v[i])"}, {"f32(3)", "tide.min(s, tide.abs(u[i]))"}})

-- Each loop that is none, why, and the twin that is one.
local function told(name, T, R, line, why, twin, U)
  t.test(name, function()
    local d = rows(T, R, 64, {line})
    local m = npu_case.same(d, {T[64], T[64], R[1][64]}, {tool = false})
    local lanes, said = loops(m)
    t.eq(lanes, 0)
    t.has(said[#said], why)
    m = npu_case.same(rows(U or T, R, 64, {twin}), {(U or T)[64], (U or T)[64], R[1][64]}, {tool = false})
    lanes = loops(m)
    t.ok(lanes > 0, "the twin has lanes")
  end)
end

told("a sum of floats, and sums of every sixteenth", f32, f32,
  "local s = f32(0) for i in tide.grid(n) do s = s + u[i] end W[0] = s", "a sum of floats has an order",
  "for i in tide.grid(16) do W[i] = 0 end for j, i in tide.grid(n // 16, 16) do W[i] = W[i] + u[j * 16 + i] end")
t.test("sums of floats, by a step that reassociates", function()
  local line = "local s = f32(3) for all in tide.grid(n) do s = s + u[all] * v[all] end W[0] = s"
  local d = rows(f32, f32, 64, {line})
  local s = tide.schedule(d):split("go:all", 16, {tail = "perfect"}):rfactor("go:all_i", {reassociate = true})
  local own, want = f32[1][64](0), f32[1][64](0)
  local a, b = tide.random(f32[64], 1), tide.random(f32[64], 2)
  s:build {target = "cpu"}(a, b, want)
  local m = s:build {target = "npu", tool = false}
  m(a, b, own)
  t.ok(own:equal(want), "other bits")
  local lanes, why = loops(m)
  t.ok(lanes > 0, table.concat(why, "; "))
end)
t.test("products of a loop of few turns", function()
  local line = "local s = i32(3) for i in tide.grid(8) do s = s + i32(u[i]) * i32(v[i]) end W[0] = s"
  local d = rows(i8, i32, 64, {line})
  local lanes = loops(npu_case.same(d, {i8[64], i8[64], i32[1][64]}, {tool = false}))
  t.eq(lanes, 1)
end)
told("every second element", i32, i32, "for i in tide.grid(n // 2) do W[i] = u[i * 2] end", "do not lie side by side",
  "for i in tide.grid(n // 2) do W[i] = u[i + 2] end")
told("what the turn before wrote", i32, i32, "for i in tide.grid(n - 1) do W[i + 1] = i32(W[i] + u[i]) end",
  "reads 'w' where another writes it", "for i in tide.grid(n - 1) do W[i] = i32(W[i] + u[i]) end")
told("the loop's own variable", i32, i32, "for i in tide.grid(n) do W[i] = i32(u[i] + i) end", "it computes with 'i'",
  "for j in tide.grid(2) do for i in tide.grid(32) do W[i] = i32(u[i] + j) end end")
told("a root", f32, f32, "for i in tide.grid(n) do W[i] = tide.sqrt(tide.abs(u[i])) end", "'sqrt' has no vector",
  "for i in tide.grid(n) do W[i] = tide.abs(u[i]) end")
told("a float that becomes an integer", f32, i32, "for i in tide.grid(n) do W[i] = i32(u[i] * 10) end",
  "a float becomes an integer", "for i in tide.grid(n) do W[i] = tide.select(u[i] < v[i], i32(1), i32(2)) end")
told("two turns", i32, i32, "for i in tide.grid(2) do W[i] = u[i] end", "it has 2 turns",
  "for i in tide.grid(4) do W[i] = u[i] end")
told("64 bits", tide.i64, i32, "for i in tide.grid(n) do W[i] = i32(u[i]) end", "no vectors of 'i64'",
  "for i in tide.grid(n) do W[i] = i32(u[i]) end", i16)

-- A random expression of u[i], v[i] and constants, of depth at most n, by draws of `pick`.
local function expression(pick, n, casts)
  local leaf = {"u[i]", "v[i]", "3", "-2", "100"}
  if n == 0 then return leaf[pick(#leaf)] end
  local function sub() return expression(pick, n - 1, casts) end
  local k = pick(9)
  if k <= 2 then return ("(%s %s %s)"):format(sub(), ({"+", "-"})[k], sub()) end
  if k == 3 then return ("(i16(%s) * %s)"):format(sub(), leaf[pick(#leaf)]) end
  if k <= 5 then return ("tide.%s(%s, %s)"):format(({"max", "min"})[k - 3], sub(), sub()) end
  if k == 6 then return ("tide.abs(%s)"):format(sub()) end
  if k == 7 then return ("(- %s)"):format(sub()) end
  if k == 8 then return ("tide.select(%s < %s, u[i], v[i])"):format(sub(), sub()) end
  return ("%s(%s)"):format(casts[pick(#casts)], sub())
end

for seed = 1, 24 do
  t.test("random expressions, seed " .. seed, function()
    local state = seed * 7919
    local function pick(n)
      state = (state * 1103515245 + 12345) % 2147483648
      return state // 65536 % n + 1
    end
    local types = {i8, i16, i32, u8, u16}
    local T, R = types[pick(5)], types[pick(5)]
    local list = {}
    for k = 1, 8 do
      list[k] = each:format(("R(i32(%s))"):format(expression(pick, 3, {"i8", "u8", "i16", "i32", "S"})))
    end
    npu_case.same(rows(T, R, 44, list), {T[44], T[44], R[8][44]}, {tool = false})
  end)
end

-- The kernels' text of a design that adds 1 to 16 elements of each row of so many.
local function text(pitch)
  local d = rows(i16, i16, 40, {("for j, i in tide.grid(2, 16) do W[i + j * %d] = i16(u[i + j * %d] + 1) end"):format(
    pitch, pitch)})
  local _, _, folder = loops(npu_case.same(d, {i16[40], i16[40], i16[1][40]}, {tool = false}))
  return io.open(folder .. "/kernels.cc"):read "a"
end

t.test("rows that begin anywhere are loaded as such", function()
  t.has(text(17), "aie::load_unaligned_v<16>")
  t.has(text(16), "aie::load_v<16>")
end)

return t.done()
