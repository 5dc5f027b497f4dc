-- refused.lua - tables of programs that are refused, each beside a twin that differs in one fact.
--   r.bodies {{"code", "refused with its place after §", "accepted"}, ...}   -- bodies of a kernel
--   r.chunks {...}                                                           -- whole chunks
-- A row may carry kind = (usage unless told), help = a part of the help. The place of the error,
-- line and column, is exactly where the § stands.
local t = require "tap"

local r = {}

local prelude = [[
local tide = require "tide"
local i8, i16, i32, i64, u8, u16, u64 = tide.i8, tide.i16, tide.i32, tide.i64, tide.u8, tide.u16,
  tide.u64
local f32, f64, bool, index, grid = tide.f32, tide.f64, tide.bool, tide.index, tide.grid
local int, uint, fixed, reduction, matmul = tide.int, tide.uint, tide.fixed, tide.reduction,
  tide.matmul
local N, zero, none, text, list, yes = 8, 0, nil, "abc", {1, 2, at = {3}}, true
local T, S = tide.tensor(i32[4], {1, 2, 3, 4}), tide.state(i32[4], 0)
local function add(x, y) return x + y end
local function loop(x) return loop(x) end
local add4 = tide.kernel {X = i32[4], Y = i32[4], function(X, Y) for i = 0, 3 do Y[i] = X[i] + 1
  end end}
local read4 = tide.kernel {X = i32[4], Y = i32[4], Z = i32[1], function(X, Y, Z) Z[0] = X[0] +
  Y[0] end}
local set4 = tide.kernel {X = i32[4], n = i32, function(X, n) for i = 0, 3 do X[i] = n end end}
local send = tide.kernel {Z = tide.stream(i32), function(Z) Z:put(1) end}
]]

-- Takes the mark out of a text; returns the text, and the line and column where it stood.
local function place(text)
  local at = text:find("§", 1, true)
  if not at then return text end
  local before = text:sub(1, at - 1)
  local line = select(2, before:gsub("\n", "")) + 1
  return before .. text:sub(at + #"§"), line, #before:match "[^\n]*$" + 1
end

local runs = 0

local function run(text)
  runs = runs + 1
  local chunk, why = load(text, "=case" .. runs)
  if not chunk then error(why, 0) end
  return chunk()
end

-- One test for each row, the twin inside it.
local function rows(list, wrap)
  for _, row in ipairs(list) do
    local code, bad, good = row[1], row[2], row[3]
    t.test(code .. ": " .. bad:gsub("§", ""):gsub("%s+", " "):sub(1, 90), function()
      local text, line, col = place(wrap(bad))
      t.ok(line, "the row has no place")
      local e = t.fails(function() run(text) end,
        {kind = row.kind or "usage", code = code, file = "case" .. runs + 1, line = line, col =
          col})
      if row.help then t.has(e.help, row.help) end
      local passed, why = pcall(run, wrap(good))
      t.ok(passed, "the twin is refused: " .. tostring(why))
    end)
  end
end

-- Bodies of a kernel over A = i8[8], B = i32[8], F = f32[8], M = i32[4][4], n = i32, x = f32.
function r.bodies(list)
  rows(list, function(body)
    return prelude ..
      "return tide.kernel {A = i8[8], B = i32[8], F = f32[8], M = i32[4][4], n = i32, "
      .. "x = f32, j = index, function(A, B, F, M, n, x, j)\n" .. body .. "\nend}\n"
  end)
end

-- Bodies of the builder of a design.
function r.builders(list)
  rows(list, function(body)
    return prelude .. "local task = tide.task\nreturn tide.design(function(d)\n" .. body ..
      "\nend)\n"
  end)
end

-- Chunks that begin with the same names.
function r.chunks(list)
  rows(list, function(body) return prelude .. body .. "\n" end)
end

return r
