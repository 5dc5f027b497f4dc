-- [slow] verilog_left.lua - random kernels whose pipelined loops are left by break and return, as Verilog in Icarus:
-- the check compares values and cycles with the timed run.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i32 = tide.i32

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local count, first = require "campaign".range(150)

local values = {"x[i][j]", "w", "i32(x[i][j] * x[i][j])", "z[x[i][j] & 3]", "y[i]", "x[i][j] + x[i][0]",
  "i32(w * x[i][j])", "i32(w // 3)"}
-- A statement each, of values %1, %2 and conditions %3, %4.
local statements = {"y[i] = y[i] + %1", "if %3 then break end", "if %3 then return end", "v[i][j] = %1",
  "z[%1 & 3] = %2", "if %3 then v[i][j] = %1 else y[i] = %2 end", "if %3 then z[0] = %1; if %4 then break end end"}
local frame = [[
local tide = require "tide"
local i32, grid = tide.i32, tide.grid
return tide.kernel {name = "k", x = i32[ROWS][N], y = i32[ROWS], v = i32[ROWS][N], z = i32[4],
  function(x, y, v, z)
    for i in grid(ROWS) do
      local w = 0
      for j in grid(N) do
        w = i32(w + x[i][j])
        BODY
      end
      y[i] = i32(y[i] * 2 + w)
    end
    y[0] = 77
  end}]]

-- The text of a kernel, its interval and its arguments.
local function draw(seed)
  math.randomseed(seed)
  local rows, n, body = math.random(4), math.random(2, 9), {}
  local function pick(list) return list[math.random(#list)] end
  local function condition() return ("%s %s %d"):format(pick(values), pick {"<", ">"}, math.random(-20, 30)) end
  for k = 1, math.random(2, 6) do
    local part = {["1"] = pick(values), ["2"] = pick(values), ["3"] = condition(), ["4"] = condition()}
    body[k] = pick(statements):gsub("%%(%d)", part)
  end
  if math.random(4) == 1 then body[#body + 1] = "do return end" end
  local text = frame:gsub("ROWS", rows):gsub("N", n):gsub("BODY", table.concat(body, "\n        "))
  return text, math.random(4), {tide.random(i32[rows][n], seed, {lo = -9, hi = 9}), tide.random(i32[rows], seed),
    i32[rows][n](0), tide.random(i32[4], seed, {lo = -5, hi = 5})}
end

t.test(("%d random loops that are left run in their cycles"):format(count), function()
  for seed = first, first + count - 1 do
    local text, ii, args = draw(seed)
    local s = tide.schedule(load(text)()):pipeline("j", ii)
    local ok, e = pcall(s:build {target = "verilog", sim = "icarus", most = 100000}, table.unpack(args))
    t.ok(ok, ("seed %d: %s"):format(seed, tostring(e)))
  end
end)

t.done()
