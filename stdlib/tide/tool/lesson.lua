-- A Markdown file run in one session: what each block printed, and where that differs from what the file records.
local fences = require "tide.tool.fences"
local session = require "tide.session"

local lesson = {}
lesson.__index = lesson

local known_flags = { error = true, hide = true, skip = true }

-- Output as it is recorded and compared: without blanks at the ends of lines, and blank lines at its own, which editors
-- take away.
local function trim(output) return (output:gsub("[ \t]+\n", "\n"):gsub("%s+$", "")) end

-- The inputs of a transcript, each {input, recorded}: lines behind a prompt, then what followed them.
local function transcript(fence)
  local steps = {}
  for i, line in ipairs(fence.lines) do
    local first, more = line:match "^tide> ?(.*)$", line:match "^  %.%.> ?(.*)$"
    local step = steps[#steps]
    if first then
      steps[#steps + 1] = { input = first, recorded = {}, line = fence.line + i }
    elseif more and step and #step.recorded == 0 then
      step.input = step.input .. "\n" .. more
    elseif step then
      table.insert(step.recorded, line)
    end
  end
  for _, step in ipairs(steps) do step.recorded = trim(table.concat(step.recorded, "\n")) end
  return steps
end

-- The inputs of a fence that is to be run, or nil.
local function steps_of(fence)
  if fence.flags.skip then return nil end
  if fence.language == "tide" then return transcript(fence) end
  if fence.language ~= "lua" then return nil end
  local recorded = fence.recorded and trim(table.concat(fence.recorded.lines, "\n")) or ""
  return { { input = table.concat(fence.lines, "\n"), recorded = recorded, line = fence.line } }
end

--- Reads a file; raises when it cannot be read.
function lesson.read(path)
  local file, why = io.open(path, "rb")
  if not file then error(why, 0) end
  local text = file:read "a"
  file:close()
  return setmetatable({ path = path, text = text, items = fences.parse(text), problems = {} }, lesson)
end

-- Notes what is wrong at a line.
function lesson:complain(line, message, detail)
  table.insert(self.problems, { line = line, message = message, detail = detail or "" })
end

-- Runs one input; a block of Lua must fail exactly when its fence says `error`.
function lesson:run_step(fence, step)
  for key, x in pairs(session.run(step.input)) do step[key] = x end
  local output = step.printed .. (step.page or step.shown or step.error or "")
  step.output = trim(output)
  if fence.language == "tide" then return end
  if not step.ok and not fence.flags.error then
    self:complain(step.line, "this block fails; if it is to, write ```lua error", output)
  elseif step.ok and fence.flags.error then
    self:complain(step.line, "this block is to fail and does not")
  end
end

--- Runs all blocks in order, in a fresh session whose `require` looks beside the file first.
function lesson:run()
  package.path = ("%s/?.lua;"):format(self.path:match "^(.*)/" or ".") .. package.path
  os.exit = function() error("a document does not exit", 2) end -- luacheck: ignore 122
  session.open()
  for i, item in ipairs(self.items) do
    session.progress(i, #self.items)
    for _, flag in ipairs(item.language == "lua" and item.words or {}) do
      if not known_flags[flag] then self:complain(item.line, "there is no flag '" .. flag .. "': error, hide, skip") end
    end
    item.steps = item.language and steps_of(item)
    for _, step in ipairs(item.steps or {}) do self:run_step(item, step) end
  end
  session.progress()
end

--- Compares what was printed with what is recorded; adds to the problems. Returns how many blocks were compared.
function lesson:check()
  local n = 0
  for _, item in ipairs(self.items) do
    for _, step in ipairs(item.steps or {}) do
      n = n + 1
      if step.output ~= step.recorded and not item.flags.hide then
        local diff = session.diff(step.recorded, step.output)
        self:complain(step.line, "the output is not as recorded (- recorded, + now)", diff)
      end
    end
  end
  return n
end

-- The lines of a transcript as it is now.
local function transcript_lines(steps)
  local lines = {}
  for _, step in ipairs(steps) do
    lines[#lines + 1] = "tide> " .. step.input:gsub("\n", "\n  ..> ")
    if step.output ~= "" then lines[#lines + 1] = step.output end
  end
  return fences.split(table.concat(lines, "\n"))
end

-- What stands for a fence that was run, with its output.
local function put_run(out, fence)
  local step = fence.steps[1]
  if fence.language == "tide" then fence.lines = transcript_lines(fence.steps) end
  out[#out + 1] = fences.write(fence)
  if fence.language == "lua" and step.output ~= "" and not fence.flags.hide then
    out[#out + 1] = "\n" .. fences.write(fences.output(fence, step.output))
  end
end

--- The text of the file with what was printed recorded.
function lesson:updated()
  local out, i = {}, 1
  while self.items[i] do
    local item = self.items[i]
    if item.steps then
      put_run(out, item)
      while item.recorded and self.items[i] ~= item.recorded do i = i + 1 end
    else
      out[#out + 1] = item.text or fences.write(item)
    end
    i = i + 1
  end
  return table.concat(out, "\n") .. "\n"
end

return lesson
