-- result.lua - what the runner makes of a program that has ended: named results.
-- A result is {name =, state = "pass", "fail" or "skip", why =, notes = {line, ...}}.
local M = {}

-- The last n lines of a text, as a list.
local function tail(text, n)
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  return table.move(lines, math.max(1, #lines - n + 1), #lines, 1, {})
end

-- How a process ended, in words, or nil when it returned 0; status is the shell's.
local function ending(status)
  if status == 0 then return nil end
  if status == 124 or status == 137 then return "stopped at the time limit" end
  if status > 128 then return "killed by signal " .. status - 128 end
  return "exit status " .. status
end

-- One TAP line as a result, or nil.
local function point(line)
  local bad, name = line:match "^(n?o?t? ?)ok%s+%d*%s*%-?%s*(.*)$"
  if not name or bad ~= "" and bad ~= "not " then return nil end
  local before, why = name:match "^(.-)%s*#%s*SKIP%s*(.*)$"
  if bad == "" and before then return {name = before, state = "skip", why = why, notes = {}} end
  return {name = name, state = bad == "" and "pass" or "fail", notes = {}}
end

-- What is wrong with a run as a whole, or nil: its plan, its exit status, the files it left.
local function complaint(results, plan, status, left)
  local failed = false
  for _, r in ipairs(results) do failed = failed or r.state == "fail" end
  local how = ending(status)
  if how and (status ~= 1 or not failed) then return how end
  if not plan then return "ended without a plan" end
  if plan ~= #results then return ("planned %d tests, ran %d"):format(plan, #results) end
  if left ~= "" then return "left temporary files: " .. left:gsub("%s+$", ""):gsub("\n", " ") end
end

-- The results of a program that prints TAP: its output, errors, exit status, and the names of the
-- files that it left in its temporary folder.
function M.tap(out, err, status, left)
  local results, plan, skipped = {}, nil, nil
  for line in out:gmatch "[^\n]+" do
    local n, why = line:match "^1%.%.(%d+)%s*#?%s*S?K?I?P?%s*(.-)$"
    local r = point(line)
    if n then
      plan, skipped = tonumber(n), why ~= "" and why or nil
    elseif r then
      results[#results + 1] = r
    elseif line:match "^Bail out!" then
      results[#results + 1] = {name = line, state = "fail", notes = {}}
    elseif line:sub(1, 1) == "#" and results[#results] then
      table.insert(results[#results].notes, line)
    end
  end
  local wrong = complaint(results, plan, status, left)
  if plan == 0 and not wrong then
    results[1] = {name = "all", state = skipped and "skip" or "fail",
      why = skipped or "states no test", notes = {}}
  elseif wrong then
    results[#results + 1] = {name = wrong, state = "fail", notes = tail(err, 20)}
  end
  return results
end

-- Whether `out` holds each text of `want` in that order; if not, the first that is missing. `...`
-- in a text stands for anything within a line.
function M.in_order(out, want)
  local at = 1
  for _, text in ipairs(want) do
    local pattern = text:gsub("%p", "%%%0"):gsub("%%%.%%%.%%%.", "[^\n]*")
    local _, last = out:find(pattern, at)
    if not last then return false, text end
    at = last + 1
  end
  return true
end

-- The result of an example: it ends well and prints, in order, the text of its `-->` comments.
function M.example(source, out, err, status)
  local want = {}
  for text in source:gmatch "%-%->%s*([^\n]-)%s*\n" do want[#want + 1] = text end
  local name = ("runs and prints its %d `-->` lines"):format(#want)
  local found, missing = M.in_order(out, want)
  local how = ending(status)
  local notes = tail(err, 20)
  if how then table.insert(notes, 1, how) end
  if not found then table.insert(notes, 1, "not printed, or not in this order: " .. missing) end
  return {{name = name, state = how == nil and found and "pass" or "fail", notes = notes}}
end

-- The result of a document that was compared with what it records.
function M.document(err, status)
  local how = ending(status)
  local notes = tail(err, 40)
  if how then table.insert(notes, 1, how) end
  return {{name = "prints what it records", state = how and "fail" or "pass", notes = notes}}
end

return M
