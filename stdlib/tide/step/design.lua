-- A graph of STeP as a design of Tide: a task for each operator, for each stream two streams, of control tokens and of
-- tiles. Control: 16 + n is an element with n valid rows, l = 1, 2 .. closes a list of level l, 0 ends the stream. So
-- counts may come from data; what depends on arrival is refused by node. Tiles whose rows data decides are as long as
-- their bound.
--   local d, arguments = g:design()
--   d(table.unpack(arguments))
local tide = require "tide"
local core = require "tide.step.core"
local Lower = require "tide.step.lower"
local op = require "tide.step.tasks"
for _, file in ipairs { "function_tasks", "buffer_tasks" } do
  for name, f in pairs(require("tide.step." .. file)) do op[name] = f end
end

local refuse, Text, variable = Lower.refuse, Lower.Text, Lower.variable

-- ---- the design ----

local aliases = { zip = true, assume_shape = true }

-- The depth of each channel: what a run without limits has in it at most, and a place more; buffers by their tiles.
function Lower:find_depths(g, depth)
  local most = {}
  if not depth then
    for _, s in ipairs(g:simulate({ depth = false }).streams) do
      most[s.name] = math.max(most[s.name] or 0, s.most)
    end
  end
  for _, x in ipairs(self.channels) do
    x.depth = depth or ((most[x.from.name .. " -> " .. x.to.name] or self.fallback) + 2) * self:tiles_of(x)
  end
end

function Lower:task_text(t, node)
  local body = setmetatable({ depth = 3 }, Text)
  local arguments = op[node.op](self, body, node) or {}
  local names, bound = {}, {}
  for i, a in ipairs(arguments) do
    names[i] = a.name
    bound[i] = ("%s = A.%s, "):format(a.name, a.name)
  end
  t:line("d.t%d_%s = tide.task { %sfunction(%s)", node.id, variable(node.name), table.concat(bound),
    table.concat(names, ", "))
  for _, l in ipairs(body) do t[#t + 1] = l end
  t:line "end }"
end

-- An argument that takes what the graph returns where nobody stores it.
function Lower:add_outputs()
  for k, ref in ipairs(self.graph.outputs) do
    for _, part in ipairs(self:parts(ref)) do
      local from = self.by_id[part[1]]
      if not self.readers[part[1] .. "." .. part[2]] then
        local s = from.outs[part[2]]
        local n = self:product(s.dims, 0)
        if s.kind ~= "tile" then refuse(from, "returns selectors: a design stores tiles") end
        for _, extent in ipairs(n and {} or s.dims) do self:extent(from, extent, "elements to return") end
        local type, rows, cols = self:token(from, s)
        local elem = type:match "^%w+"
        local node = { name = ("out%d"):format(k), op = "store", id = self.next_id, line = from.line, ins = { part },
          outs = {}, reads = {}, tensor = { type = tide[elem][math.max(n, 1) * rows][cols], id = -k } }
        self.next_id = self.next_id + 1
        self.by_id[node.id] = node
        table.insert(self.graph.nodes, node)
        local channel = { name = ("s%d_out%d"):format(#self.channels + 1, k), ref = part, from = from, to = node,
          stream = s, type = type, rows = rows, cols = cols }
        self.channels[#self.channels + 1] = channel
        self.readers[part[1] .. "." .. part[2]] = { channel }
        node.reads[1] = { channel }
      end
    end
  end
end

--- The design of a graph, and its arguments: the tensors that it loads and stores, in order of operators.
---@param g any a graph, or a schedule of one
---@param o table? depth: of all streams (default: what a run of the graph needs); bound: the most that symbols are
return function(g, o)
  o = o or {}
  local self = setmetatable({ graph = core.describe(g), by_id = {}, channels = {}, arguments = {}, by_tensor = {},
    constants = {}, fallback = 64, next_id = 1 }, Lower)
  for _, node in ipairs(self.graph.nodes) do
    self.by_id[node.id] = node
    self.next_id = math.max(self.next_id, node.id + 1)
  end
  for _, node in ipairs(self.graph.nodes) do
    if node.op == "eager_merge" then refuse(node, "takes chunks as they arrive") end
    if not op[node.op] and not aliases[node.op] then
      refuse(node, ("is step.%s, which no task stands for"):format(node.op))
    end
  end
  self:spread_buffers()
  self:find_bounds(o.bound)
  self:make_channels()
  self:add_outputs()
  self:find_partial()
  self:find_depths(g, o.depth)
  local t, names = setmetatable({ depth = 1 }, Text), {}
  for _, x in ipairs(self.channels) do
    t:line("local %s_c = d:stream(i32, { depth = %d })", x.name, 4 * x.depth + 8)
    t:line("local %s_t = d:stream(%s, { depth = %d })", x.name, x.type, x.depth)
  end
  for _, node in ipairs(self.graph.nodes) do
    if not aliases[node.op] then self:task_text(t, node) end
  end
  local head = setmetatable({ depth = 0 }, Text)
  head:line "local tide, K = ..."
  head:line "local _ENV <const> = setmetatable({ tide = tide, K = K }, { __index = tide })"
  local values = {}
  for i, c in ipairs(self.constants) do
    head:line("local %s = K[%d]", c.name, i)
    values[i] = c.value
  end
  head:line "return tide.design(function(d)"
  head:line "  local A = {}"
  for _, a in ipairs(self.arguments) do
    head:line("  A.%s = d:arg(%s)", a.name, a.type)
    if a.read and a.written then error(("design: a tensor of %s is loaded and stored"):format(a.type), 0) end
    names[#names + 1] = a.data
    if not a.data then names[#names + 1] = a.type(tostring(a.type.elem) ~= "bool" and 0) end
  end
  head:line "end)"
  local text = table.concat(head, "\n", 1, #head - 1) .. "\n" .. table.concat(t, "\n") .. "\nend)\n"
  if o.text then return text end
  return assert(load(text, "=design of a graph"))(tide, values), names
end
