-- The first lesson at the prompt: a paragraph, what to type, and whether what was typed does it. What is typed may be
-- other words for the same: what it shows counts.
local fences = require "tide.tool.fences"

local tutorial = {}

local FIRST = "examples/lessons/1_first_kernel.md"

-- The lesson under way: {steps =, at =, typed =, tries =}, or nil.
local lesson

-- Output without blanks at the ends of lines.
local function trim(text) return (text:gsub("[ \t]+\n", "\n"):gsub("^%s+", ""):gsub("%s+$", "")) end

-- Code without blanks: what is compared of it.
local function squeeze(code) return (code:gsub("%s+", "")) end

-- Prose as it is read at a prompt: headings and emphasis without their signs.
local function plain(lines)
  local text = trim(table.concat(lines, "\n"))
  return (text:gsub("%f[^\n\0]#+ ", ""):gsub("%*([%w ]+)%*", "%1"))
end

-- The text of a file of Tide.
local function file(path)
  local f = assert(io.open(require "tide".features().home .. "/" .. path))
  local text = f:read "a"
  f:close()
  return text
end

-- The steps of a file: {prose =, code =, want =, fails =}; what stands behind the last fence is a step without code.
local function read(text)
  local steps, prose = {}, {}
  for _, item in ipairs(fences.parse(text)) do
    if item.language == "lua" and not item.flags.hide and not item.flags.skip then
      steps[#steps + 1] = { prose = plain(prose), code = table.concat(item.lines, "\n"), fails = item.flags.error,
        want = item.recorded and trim(table.concat(item.recorded.lines, "\n")) }
      prose = {}
    elseif not item.language then
      prose[#prose + 1] = item.text
    end
  end
  steps[#steps + 1] = { prose = plain(prose) }
  return steps
end

-- What a step tells; the last one ends the lesson.
local function tell(step)
  if not step.code then
    lesson = nil
    return "\n" .. step.prose .. "\n\nThat was the first lesson; the others are in examples/lessons.\n"
  end
  return "\n" .. step.prose .. "\n\n" .. ("\n" .. step.code):gsub("\n", "\n    "):sub(2) .. "\n"
end

-- Goes on to the next step; returns what it tells.
local function go_on()
  lesson.at, lesson.typed, lesson.tries = lesson.at + 1, "", 0
  return tell(lesson.steps[lesson.at])
end

--- What `:tutorial word` says: it begins, tells the step again, goes on (`next`) or ends (`stop`).
function tutorial.command(word)
  if word == "stop" then
    local was = lesson
    lesson = nil
    return was and "The lesson is over; `tutorial` begins it again.\n" or "There is no lesson under way.\n"
  end
  if word == "next" and lesson then return go_on() end
  if lesson then return tell(lesson.steps[lesson.at]) end
  lesson = { steps = read(file(FIRST)), at = 1, typed = "", tries = 0 }
  return "Type what is indented, or the like. `tutorial` tells it again, `:tutorial next` goes on without it, " ..
    "`:tutorial stop` ends.\n" .. tell(lesson.steps[1])
end

-- Whether what was typed since the step began does what it asks for.
local function is_done(step, shown, why)
  if step.fails then
    local message = step.want and step.want:match "error: ([^\n]*)"
    return why ~= nil and (not message or why:find(message, 1, true) ~= nil)
  end
  return why == nil and (step.want ~= nil and trim(shown) == step.want or
    squeeze(lesson.typed):find(squeeze(step.code), 1, true) ~= nil)
end

--- What to say after an input that showed something, or failed for a reason; nil: nothing.
function tutorial.hear(input, shown, why)
  if not lesson then return nil end
  local step = lesson.steps[lesson.at]
  lesson.typed, lesson.tries = lesson.typed .. "\n" .. input, lesson.tries + 1
  if is_done(step, shown, why) then return go_on() end
  local lines = select(2, step.code:gsub("\n", "\n")) + 1
  if not why and lesson.tries < lines then return nil end
  return "(not what the lesson waits for: `tutorial` tells it again, `:tutorial next` goes on)\n"
end

return tutorial
