-- verilog_mutants.lua - single faults in the text of Verilog builds (an operator, a guard, a sign's extension, arms
-- swapped, a register or wire that stands still): the check against the timed run, of values, tokens, their cycles and
-- those of tasks, finds every one in kernels, and four of five in designs; of the others some change nothing, some
-- stand where these programs never wait.
local shell = require "shell"
local t = require "tap"
local case = require "verilog_case"
local campaign = require "campaign"

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- Programs: Lua that makes a schedule `s` and its arguments `args`.
local programs = {
  {"array", [[
    local R, P, K = 2, 2, 17
    local d = tide.design(function(d)
      local a, b = d:stream(i8, {P, P + 1}, {depth = 2}), d:stream(i8, {P + 1, P}, {depth = 2})
      d.feed_a = task {map = {P}, A = i8[P][K], T = i32[P], function(A, T, i)
        local late = i8(0)
        for r, k in grid(R, K) do
          for w in grid((k // 6 + r) % 2 * T[i]) do late = late + i8(w) end
          a[i][0]:put(A[i][k] + late)
        end
      end}
      d.feed_b = task {map = {P}, B = i8[K][P], U = i32[P], function(B, U, j)
        local late = i8(0)
        for r, k in grid(R, K) do
          for w in grid((k // 4 + r) % 3 // 2 * U[j]) do late = late + i8(w) end
          b[0][j]:put(B[k][j] - late)
        end
      end}
      d.pe = task {map = {P, P}, C = i32[P][P],
        function(C, i, j)
          for _ in grid(R) do
            local c = i32(0)
            for _ in grid(K, "k") do
              local x, y = a[i][j]:get(), b[i][j]:get()
              c = c + x * y
              if j < P - 1 then a[i][j + 1]:put(x) end
              if i < P - 1 then b[i + 1][j]:put(y) end
            end
            C[i][j] = C[i][j] * 3 + c
          end
        end}
    end)
    s = tide.schedule(d):pipeline "pe:k"
    args = {tide.random(i8[P][K], 1), tide.tensor(i32[P], {21, 2}), tide.random(i8[K][P], 2),
      tide.tensor(i32[P], {5, 40}), i32[P][P](0)}]]},
  {"pipe", [[
    local R, n = 3, 46
    local d = tide.design(function(d)
      local z, y = d:stream(i32, {depth = 2}), d:stream(i32, {depth = 1})
      d.src = task {X = i32[R][n], function(X)
        for r in grid(R) do
          for k in grid(n) do z:put(X[r][k] // 5) end
        end
      end}
      d.mid = task {function()
        for r in grid(R) do
          for k in grid(n) do
            local v = z:get()
            if k * k % 23 < 9 then y:put(i32(i32(v * v) * i32(v * 3))) end
          end
        end
      end}
      d.dst = task {Y = i32[R][26], T = i32[R], function(Y, T)
        for r in grid(R) do
          local from = T[r]
          for w in grid(from) do T[r] = T[r] * 3 + w end
          for k in grid(26) do Y[r][k] = y:get() + Y[r][k] end
        end
      end}
    end)
    s = tide.schedule(d):pipeline "src:k":pipeline "mid:k":pipeline "dst:k"
    args = {tide.random(i32[R][n], 3, {lo = -100, hi = 100}), tide.random(i32[R][26], 4),
      tide.tensor(i32[R], {300, 0, 7})}]]},
  {"gemm", [[
    local k = tide.kernel {A = i8[3][5], B = i8[5][4], C = i32[3][4], function(A, B, C)
      for i, j in grid(3, 4) do
        for l = 0, 4 do
          if A[i][l] > -90 then C[i][j] = C[i][j] + A[i][l] * B[l][j] end
        end
      end
    end}
    s = tide.schedule(k):pipeline "l"
    args = {tide.random(i8[3][5], 1), tide.random(i8[5][4], 2), i32[3][4](7)}]], all = true},
  {"rows", [[
    local k = tide.kernel {p = i32[7], x = i32[9], y = i32[6], function(p, x, y)
      local seen = i32[6](0)
      for i in grid(6) do
        for k = p[i], p[i + 1] - 1 do
          y[i] = y[i] + x[k] * (seen[(i + 3) % 4] + 1)
          seen[i] = seen[i] + x[k] // 3
        end
      end
    end}
    s = tide.schedule(k)
    args = {tide.tensor(i32[7], {0, 2, 2, 5, 7, 9, 9}), tide.random(i32[9], 1, {lo = -90, hi = 20}), i32[6](3)}]]},
}

local head = [[
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid
local s, args
]]

-- What is done to a line of text: the kind of fault, and a function of the line, nil where it has none.
local function swap(from, to)
  return function(line)
    local a, b = line:find(from, 1, true)
    return a and line:sub(1, a - 1) .. to .. line:sub(b + 1)
  end
end
local faults = {
  {"add", swap(" + ", " - ")}, {"subtract", swap(" - ", " + ")}, {"multiply", swap(" * ", " + ")},
  {"equal", swap(" == ", " != ")}, {"other", swap(" != ", " == ")}, {"both", swap(" & ", " | ")},
  {"either", swap(" | ", " & ")}, {"not", swap("~", "")}, {"sign", swap("$signed(", "$unsigned(")},
  {"extension", function(line)
    return line:find("{%d+{[%w_]+%[%d+%]}}") and line:gsub("({%d+{)[%w_]+%[%d+%](}})", "%11'd0%2", 1)
  end},
  {"arms", function(line)
    local a, c, x, y = line:match "^(%s*assign [%w_]+ = )([^?]+) %? ([^?:]+) : ([^?:]+);$"
    return a and ("%s%s ? %s : %s;"):format(a, c, y, x)
  end},
  {"register", function(line)
    local indent, name = line:match "^(%s*)([%w_]+) <= [^;]+;$"
    return name and ("%s%s <= %s;"):format(indent, name, name)
  end},
  {"stuck", function(line)
    local head_, name, value = line:match "^(%s*assign )([%w_]+) = (.+);$"
    return name and value ~= "1'd0" and ("%s%s = 0;"):format(head_, name)
  end},
}

-- Whether a line is worth a fault: no declaration, nothing of a reset or of a state that is not reached.
local function counts(lines, i)
  local line, before = lines[i], lines[i - 1] or ""
  if not (line:find "<=" or line:find "assign" or line:find "if %(") then return false end
  if line:find "^%s*//" or line:find "input" or line:find "output" then return false end
  return not (before:find "default:" or before:find "if %(rst" or line:find "if %(rst%) begin$")
end

-- All mutants of a text: {kind, line, text}.
local function mutants_of(text)
  local lines, list = {}, {}
  for line in text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  local reset = false
  for i = 1, #lines do
    if lines[i]:find "if %(rst" then reset = true end
    if lines[i]:find "else" then reset = false end
    if not reset and counts(lines, i) then
      for _, f in ipairs(faults) do
        local changed = f[2](lines[i])
        if changed and changed ~= lines[i] then
          local kept = lines[i]
          lines[i] = changed
          list[#list + 1] = {kind = f[1], line = kept, changed = changed, text = table.concat(lines, "\n") .. "\n"}
          lines[i] = kept
        end
      end
    end
  end
  return list
end

-- The text of a build as its simulation reads it.
local function text_of(m)
  local parts = {}
  for name in m.files["files.f"]:gmatch "[^\n]+" do parts[#parts + 1] = m.files[name] end
  return table.concat(parts)
end

local run = [[
for i = 1, %d do
  os.execute(("cp DIR/%%d.sv DIR/mutant.sv; rm -rf DIR/cache/*"):format(i))
  local m = s:build {target = "verilog", sim = "icarus", most = 20000, seconds = 20}
  local copies = {}
  for k, v in ipairs(args) do copies[k] = v:copy() end
  local ok, e = pcall(m, table.unpack(copies))
  print(i, ok and "alike" or e.code)
end
]]

-- What the check says of each of a list of texts.
local function outcomes(program, list)
  local dir = t.tmp "mutants"
  os.execute(("rm -rf %s && mkdir -p %s/bin %s/cache"):format(dir, dir, dir))
  local real = shell.output("command -v iverilog"):gsub("%s+$", "")
  shell.write(dir .. "/bin/iverilog", ([[#!/bin/sh
for f; do case $f in */design.sv) cp %s/mutant.sv "$f";; esac; done
exec %s "$@"
]]):format(dir, real))
  os.execute(("chmod +x %s/bin/iverilog"):format(dir))
  for i, m in ipairs(list) do shell.write(("%s/%d.sv"):format(dir, i), m.text) end
  shell.write(dir .. "/run.lua", head .. program .. "\n" .. run:format(#list):gsub("DIR", dir))
  local said = shell.output(("PATH=%s/bin:$PATH TIDE_CACHE=%s/cache %s %s 2>&1"):format(dir, dir,
    shell.quote(shell.program), shell.quote(dir .. "/run.lua")))
  local out = {}
  for i, word in said:gmatch "(%d+)\t(%S+)" do out[tonumber(i)] = word end
  if #out < #list then error(said) end
  return out
end

-- Faults that change nothing: a kind, the line, why.
local harmless = {
  {"any", "_re = ", "what is read in further cycles is not looked at"},
  {"any", "_re%d* = ", "the same"},
  {"sign", "", "operands are extended before, and products cut"},
  {"both", "_we = ", "what is stored once more is the same, or stored over later"},
  {"add", "_f%d+_rest = ", "a sum of one bit is a difference"},
  {"add", "1'd1;$", "the same"},
  {"add", "i %+ 1 < D", "what moves into the last place is not looked at"},
  {"extension", "wide_a%[", "ends of loops are not negative"},
}

local function is_harmless(x)
  for _, h in ipairs(harmless) do
    if (x.kind == h[1] or h[1] == "any") and x.line:find(h[2]) then return true end
  end
end

local count, first = campaign.range(40)
for _, p in ipairs(programs) do
  t.test(("%s: %d faults in its text are found"):format(p[1], count), function()
    local m = load(head .. p[2] .. "\nreturn s:build {target = 'verilog'}")()
    local all, list, left, sum = mutants_of(text_of(m)), {}, {}, 0
    math.randomseed(first)
    for _ = 1, count do list[#list + 1] = all[math.random(#all)] end
    list[#list + 1] = {text = text_of(m), sound = true}
    local out = outcomes(p[2], list)
    for i, x in ipairs(list) do
      if x.sound then
        t.eq(out[i], "alike")
      else
        local excused = out[i] == "alike" and is_harmless(x)
        if out[i] == "verilog-tool" or (out[i] == "alike" and not excused) then
          left[#left + 1] = ("%s: %s, %s\n became %s"):format(x.kind, out[i], x.line, x.changed)
        end
        sum = sum + 1
      end
    end
    if p.all then t.eq(table.concat(left, "\n"), "") end
    t.ok(#left <= count / 5, ("%d of %d were not found"):format(#left, count))
    t.eq(sum, count)
  end)
end

t.done()
