-- A document as a Jupyter notebook (nbformat 4.5): prose as Markdown cells, blocks of Lua as code cells with the
-- outputs of this run. The kernel is called `tide`.
local display = require "tide.display"
local fences = require "tide.tool.fences"
local json = require "tide.json"
local kernel = require "tide.tool.kernel"

local notebook = {}

-- Text as the list of lines that the format wants, each with its newline.
local function source(text)
  local lines = {}
  for line in text:gmatch "[^\n]*\n?" do
    if line ~= "" then lines[#lines + 1] = line end
  end
  return #lines > 0 and lines or json.list
end

-- Text without the newline at its end.
local function chomp(text) return (text:gsub("\n$", "")) end

-- The forms of what an input showed, each as a list of lines.
local function forms(step)
  local data = display.forms(step.value, step.class, chomp(step.shown))
  for mime, text in pairs(data) do data[mime] = source(text) end
  return data
end

-- What an input put out, as the kernel tells it: what it printed, then its value or its error.
local function outputs(step, number)
  local list = {}
  local printed = step.printed .. (step.page or "")
  if printed ~= "" then list[1] = { output_type = "stream", name = "stdout", text = source(printed) } end
  if step.shown then
    list[#list + 1] = { output_type = "execute_result", execution_count = number, metadata = {}, data = forms(step) }
  elseif step.error then
    local trace = fences.split(chomp(step.error))
    list[#list + 1] = { output_type = "error", ename = step.code or "error", evalue = trace[1], traceback = trace }
  end
  return #list > 0 and list or json.list
end

-- The code cell of one input.
local function code(step, flags, number)
  local tags = {}
  if flags.error then tags[#tags + 1] = "raises-exception" end
  if flags.hide then tags[#tags + 1] = "hide-input" end
  local metadata = #tags > 0 and { tags = tags, jupyter = { source_hidden = flags.hide or false } } or {}
  return { cell_type = "code", metadata = metadata, execution_count = number, source = source(step.input),
    outputs = outputs(step, number) }
end

-- The cells of a document, in order; prose between two blocks is one cell.
local function cells_of(work)
  local cells, prose, number = {}, {}, 0
  local function flush()
    local text = table.concat(prose, "\n"):gsub("^%s+", ""):gsub("%s+$", "")
    if text ~= "" then cells[#cells + 1] = { cell_type = "markdown", metadata = {}, source = source(text) } end
    prose = {}
  end
  for _, item in ipairs(work.items) do
    if item.steps then
      flush()
      for _, step in ipairs(item.steps) do
        number = number + 1
        cells[#cells + 1] = code(step, item.flags, number)
      end
    elseif not (item.of and item.of.steps) then
      prose[#prose + 1] = item.text or fences.write(item)
    end
  end
  flush()
  for i, cell in ipairs(cells) do cell.id = ("cell-%d"):format(i) end
  return cells
end

--- The text of the notebook of a document that was run.
function notebook.text(work)
  return json.text({ nbformat = 4, nbformat_minor = 5, cells = cells_of(work), metadata = {
    kernelspec = kernel.spec, language_info = kernel.language } }, true) .. "\n"
end

return notebook
