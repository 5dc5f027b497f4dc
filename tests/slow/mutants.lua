-- Single faults in PolyBench, plain and scheduled: verify refuses every one that changes a result.
-- What is a fault is told by data: truth.lua.
local tide = require "tide"
local t = require "tap"
local truth = require "truth"
local mutate = require "mutate"
local polybench = require "polybench"

-- Steps that make guards, buffers and tails, for kernels on which they are legal.
local schedules = {
  gemm = function(s) s:split("k", 4) s:buffer_at("C", "i") end,
  atax = function(s) s:split("i#2", 2) end,
  ["jacobi-2d"] = function(s) s:split("j#1", 3) s:split("i#2", 3) end,
  syrk = function(s) s:split("k", 3) end,
  mvt = function(s) s:split("i#1", 4) s:reorder("j#1", "i_i") end,
}

-- Faults without effect on data, and why.
local harmless = {
  ["rounded to f32"] = "the value is 0 or 1",
  ["cut to i8"] = "the value is 0 or 1, or a score of nussinov, which counts pairs of 8",
  ["statements swapped"] = "neither uses what the other assigns",
  ["other array"] = "q[i][0] holds the 1 of the sweep before",
  ["constant changed"] = "no deviation of random data is below 0.1",
  ["first iteration missing"] = "the first iteration runs empty loops, or its term is 0",
  ["subscripts swapped"] = "the table is 0 below its diagonal, and max of a cell's own 0 is that cell",
  ["index one less"] = "the score left of a cell is never above the cell's",
  ["last iteration missing"] = "nussinov's k = j - 1 adds table[j][j], 0, to what the first rule has",
  ["guard one less"] = "row N - 2 takes 0 from below its diagonal",
  ["guard dropped"] = "the guard holds in every iteration that there is",
  ["statement missing"] = "the line is the end of a loop, the next one its own",
}

local tally = {faults = 0, alike = 0, refused = 0, placed = 0, explained = 0, kind = {}, kernel = {}}

local function close(a, b) return a:allclose(b) end

-- Runs of program k of a PolyBench kernel.
local function runs_of(name, k)
  return truth.runs(k, function(seed) return (select(2, polybench.make(name, {seed = seed}))) end)
end

-- Faults that change the operator of one place, whose line the explanation should find.
local placed = {["add for subtract"] = true, ["subtract for add"] = true, ["add for multiply"] = true,
  ["multiply for divide"] = true, ["rounded to f32"] = true}

-- States that the verdict names an element and shows both expressions in at most 40 lines.
local function check_explanation(m, verdict)
  local text = tostring(verdict)
  t.has(text, "differs: ")
  local _, lines = verdict.witness.shown:gsub("\n", "\n")
  t.ok(lines <= 40, "an explanation of " .. lines .. " lines")
  if text:find "the second faults" or not placed[m.kind] then return end
  tally.placed = tally.placed + 1
  if text:find(":" .. m.line .. ":", 1, true) then tally.explained = tally.explained + 1 end
end

-- One mutant of program k of PolyBench kernel `name`, which has these runs.
local function try(name, k, runs, m)
  local loaded, q = pcall(function() return load(m.text, "=mutant")() end)
  if not loaded then
    tally.refused = tally.refused + 1
    return
  end
  local level, verdict = tide.verify(k, q)
  if not truth.differ(runs, q) then
    tally.alike = tally.alike + 1
    t.ok(harmless[m.kind], ("%s: %s changes nothing?\n%s"):format(name, m.kind, m.text))
    print(("# alike: %s, line %d: %s: %s"):format(name, m.line, m.kind, harmless[m.kind]))
    return
  end
  tally.faults = tally.faults + 1
  tally.kind[m.kind] = (tally.kind[m.kind] or 0) + 1
  tally.kernel[name] = true
  t.ok(level == nil, ("%s: %s: verify says %s\n%s"):format(name, m.kind, level, m.text))
  check_explanation(m, verdict)
end

-- Every second mutant of a program, as long as there are not many of its kind.
local function sweep(name, k)
  local runs = runs_of(name, k)
  for i, m in ipairs(mutate.all(tostring(k))) do
    if i % 2 == 0 and (tally.kind[m.kind] or 0) < 90 then try(name, k, runs, m) end
  end
end

for _, name in ipairs(polybench.names) do
  t.test("faults in " .. name, function()
    local k = polybench.make(name)
    sweep(name, k)
    if not schedules[name] then return end
    local s = tide.schedule(k)
    schedules[name](s)
    t.ok(s:verify())
    sweep(name, load(tostring(s))(s:constants()))
  end)
end

t.test("the corpus: at least 500 faults of 12 kinds in 15 kernels, no kind above 15 %", function()
  local kinds, kernels = 0, 0
  for _ in pairs(tally.kernel) do kernels = kernels + 1 end
  t.ok(kernels >= 15, kernels)
  for kind, n in pairs(tally.kind) do
    kinds = kinds + 1
    t.ok(n <= 0.15 * tally.faults, ("%s: %d of %d"):format(kind, n, tally.faults))
  end
  t.ok(tally.faults >= 500, tally.faults)
  t.ok(kinds >= 12, kinds)
  print(("# %d faults, %d refused when loaded, %d alike on five inputs, %d of %d explained at their line")
    :format(tally.faults, tally.refused, tally.alike, tally.explained, tally.placed))
  t.ok(tally.alike <= 60, tally.alike .. " mutants that change nothing: does verify hide behind them?")
  t.ok(tally.explained >= 30 and tally.explained >= 0.9 * tally.placed, tally.explained)
end)

t.test("200 equivalent pairs are accepted as strict", function()
  local pairs_seen = 0
  for _, name in ipairs(polybench.names) do
    local k = polybench.make(name)
    for _, loop in ipairs(tide.schedule(k):loops()) do
      for factor = 2, 3 do
        local s = tide.schedule(k)
        if s:can("split", loop, factor) then
          s:split(loop, factor)
          t.eq(s:verify(), "strict", name .. " " .. loop)
          pairs_seen = pairs_seen + 1
        end
      end
    end
  end
  t.ok(pairs_seen >= 200, pairs_seen)
end)

t.test("with a product and its sum in one rounding, kernels are accepted as fused", function()
  local fused = 0
  for _, name in ipairs(polybench.names) do
    local s = tide.schedule((polybench.make(name)))
    if s:can "fma" then
      t.eq(s:fma():verify(), "fused", name)
      fused = fused + 1
    end
  end
  t.ok(fused >= 15, fused)
end)

-- The program of this text with its loop `n` turned round, or nil when it has fewer loops.
local function reversed(text, n)
  local count = 0
  local new = text:gsub("for ([%w_]+) = ([^\n,]*), ([^\n,]*) do", function(name, first, last)
    count = count + 1
    return count == n and ("for %s = %s, %s, -1 do"):format(name, last, first) or nil
  end)
  if count >= n then return load(new, "=reversed")() end
end

-- Where data does not show that a loop turned round is another program.
local unseen = {["floyd-warshall"] = "paths are the shortest in any order of k while no edge is negative"}

t.test("each loop turned round: strict, associative or another program, as data says", function()
  local tally_of = {strict = 0, associative = 0, none = 0}
  for _, name in ipairs(polybench.names) do
    local k = polybench.make(name)
    local runs, n = runs_of(name, k), 1
    local q = reversed(tostring(k), n)
    while q do
      local level = tide.verify(k, q) or "none"
      local differ = truth.differ(runs, q, level == "associative" and close or nil)
      if level == "none" and unseen[name] then differ = true end
      t.eq(differ, level == "none", ("%s, loop %d: %s"):format(name, n, level))
      tally_of[level] = tally_of[level] + 1
      n = n + 1
      q = reversed(tostring(k), n)
    end
  end
  print(("# %d strict, %d associative, %d others"):format(tally_of.strict, tally_of.associative, tally_of.none))
  t.ok(tally_of.strict >= 50 and tally_of.associative >= 30 and tally_of.none >= 20)
end)

truth.test()

t.done()
