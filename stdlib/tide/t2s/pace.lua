-- The pace of a T2S design: the innermost loops of each task are made one, as far as their extents are numbers, and
-- pipelined, an iteration behind the other also where the loop begins again.
local pace = {}

-- The loops of a task's text, outermost first, lanes left out, each with what it holds: {var =, lo =, hi =, inside =
-- {..}, others = n}.
local function loops_of(lines)
  local root = { inside = {}, others = 0 }
  local open = { root }
  for _, line in ipairs(lines) do
    local indent, rest = line:match "^(%s*)(.-)%s*$"
    local lanes = rest:find "%-%-@.*unroll%("
    rest = rest:gsub("%s*%-%-.*$", "")
    while #open > 1 and #indent <= open[#open].indent do open[#open] = nil end
    local top = open[#open]
    local var, lo, hi = rest:match "^for ([%w_]+) = (.+), (.-) do$"
    if var and not lanes then
      local l = { var = var, lo = lo, hi = hi, indent = #indent, inside = {}, others = 0 }
      top.inside[#top.inside + 1] = l
      open[#open + 1] = l
    elseif rest ~= "end" and rest ~= "" then top.others = top.others + 1 end
  end
  return root
end

-- Calls fn with each chain of loops, of which each holds nothing but the next, that ends innermost.
local function chains(l, above, fn)
  local chain = {}
  if l.var then
    if #above > 0 and #above[#above].inside == 1 and above[#above].others == 0 then
      chain = table.move(above, 1, #above, 1, {})
    end
    chain[#chain + 1] = l
  end
  if l.var and #l.inside == 0 then fn(chain) end
  for _, x in ipairs(l.inside) do chains(x, chain, fn) end
end

-- Whether a loop runs a number of times that a number tells, wherever an id lets it begin.
local function is_short(l) return l.hi:match "^%d+$" and not l.lo:find "[%*/%%]" end

-- Takes a step if it is taken; what it made.
local function try(s, name, ...)
  local out = table.pack(pcall(s[name], s, ...))
  return out[1] and (out[3] or true) or nil
end

-- The loops of a chain to be fused: the short ones at its end, and one of any extent around them.
local function ends_of(task, chain)
  local list, n = {}, #chain
  while n > 0 and is_short(chain[n]) do
    table.insert(list, 1, task .. ":" .. chain[n].var)
    n = n - 1
  end
  local around = n > 0 and chain[n].lo == "0" and not chain[n].hi:find "tide%." and task .. ":" .. chain[n].var
  return list, around
end

-- Fuses the loops at the end of a chain, and pipelines what comes of them.
local function pipeline(s, task, chain)
  local list, around = ends_of(task, chain)
  local name = task .. ":" .. chain[#chain].var
  local fused = around and #list > 0 and try(s, "fuse", around, table.unpack(list))
  fused = fused or #list > 1 and try(s, "fuse", table.unpack(list))
  if type(fused) == "string" then name = fused:find(":", 1, true) and fused or task .. ":" .. fused end
  return try(s, "pipeline", name, { rewind = true }) or try(s, "pipeline", name)
end

--- Takes the steps on all tasks of a schedule.
function pace.take(s)
  local task, lines
  for line in (tostring(s) .. "\n"):gmatch "(.-)\n" do
    task, lines = line:match "^  d%.([%w_]+) = tide%.task {" or task, lines or {}
    if task then lines[#lines + 1] = line end
    if task and line == "  }" then
      chains(loops_of(lines), {}, function(chain) pipeline(s, task, chain) end)
      task, lines = nil, nil
    end
  end
end

return pace
