-- A document as a Jupyter notebook (nbformat 4.5): prose as Markdown cells, blocks of Lua as code cells with the
-- outputs of this run. The kernel is called `tide`.
local drawing = require "tide.drawing"
local fences = require "tide.fences"
local json = require "tide.json"

local notebook = {}

-- Source as the list of lines that the format wants, each but the last with its newline.
local function source(text)
  local lines = fences.split(text)
  for i = 1, #lines - 1 do lines[i] = lines[i] .. "\n" end
  return #lines > 0 and lines or json.list
end

-- What an input put out: a drawing, text, or an error.
local function outputs(step, number)
  if step.class == "tide.graph" then
    return { { output_type = "execute_result", execution_count = number, metadata = {},
      data = { ["image/svg+xml"] = source(drawing.tasks(step.value)), ["text/plain"] = source(step.output) } } }
  elseif step.output == "" then
    return json.list
  elseif step.ok then
    return { { output_type = "stream", name = "stdout", text = source(step.output .. "\n") } }
  end
  return { { output_type = "error", ename = "error", evalue = step.output:match "[^\n]*",
    traceback = source(step.output) } }
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
    kernelspec = { name = "tide", display_name = "Tide", language = "lua" },
    language_info = { name = "lua", file_extension = ".lua", mimetype = "text/x-lua", pygments_lexer = "lua" } } },
    true) .. "\n"
end

return notebook
