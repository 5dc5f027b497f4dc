-- The pace of a T2S design: the innermost loops of each task are made one, as far as their extents are numbers, and
-- pipelined, an iteration behind the other.
local pace = {}

-- Takes a step if it is taken; what it made.
local function try(s, name, ...)
  local out = table.pack(pcall(s[name], s, ...))
  return out[1] and (out[3] or true) or nil
end

-- The loops of a nest to be fused: the short ones at its end, and one of any extent around them.
local function ends_of(nest)
  local list, n = {}, #nest
  while n > 0 and nest[n].short do
    table.insert(list, 1, nest[n].loop)
    n = n - 1
  end
  return list, n > 0 and nest[n].plain and nest[n].loop
end

-- Fuses the loops at the end of a nest, and pipelines what comes of them.
local function pipeline(s, nest, rewind)
  local list, around = ends_of(nest)
  local name = nest[#nest].loop
  local fused = around and #list > 0 and try(s, "fuse", around, table.unpack(list))
  fused = fused or #list > 1 and try(s, "fuse", table.unpack(list))
  if type(fused) == "string" then name = nest.unit .. ":" .. fused end
  return rewind and try(s, "pipeline", name, { rewind = true }) or try(s, "pipeline", name)
end

--- Takes the steps on all tasks of a schedule; how: {pipeline = false} takes none, {rewind = false} lets the last
--- iteration end before the loop begins again.
function pace.take(s, how)
  for _, nest in ipairs(how.pipeline == false and {} or s:nests()) do pipeline(s, nest, how.rewind ~= false) end
end

return pace
