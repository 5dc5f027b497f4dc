-- Kernels with stream parameters in a definition: each stream becomes a tensor of its tokens and a position, so that a
-- call takes what it reads and no more. The text is the kernel's own printed form, in which a get and a put are
-- statements by themselves.
local expr = require "tide.t2s.define.expr"

local port = {}

local function refuse(place, unit, text, help)
  expr.fail(place, "t2s-kernel", ("kernel '%s' %s"):format(unit.name, text), help)
end

-- The lines of a kernel's function, and its head.
local function split(text)
  local head, body, inside = {}, {}, false
  for line in text:gmatch "[^\n]*" do
    if line:match "^  end,$" then break end
    if inside then body[#body + 1] = line
    else head[#head + 1] = line end
    inside = inside or line:match "^  function%(" ~= nil
  end
  return head, body
end

-- The trips of a loop, as text; nil if it is none that counts.
local function trips(line)
  local v, lo, hi = line:match "^%s*for ([%w_]+) = (.-), (.-) do%f[%s\0]"
  if v then return v, ("((%s) - (%s) + 1)"):format(hi, lo), lo, hi end
end

-- The value of a text of sizes, or the text.
local function worth(text, sizes)
  local chunk = load("return " .. text, "=size", "t", sizes)
  local ok, v = pcall(chunk)
  return ok and math.tointeger(v) or text
end

-- Counts the puts on each stream from line n of the body to the end of its block.
local function count(body, n, streams, sizes)
  local counts = {}
  local function plus(name, text) counts[name] = counts[name] and counts[name] .. " + " .. text or text end
  local function through(inner, fn)
    for name, text in pairs(inner) do plus(name, fn(text, name)) end
  end
  while n <= #body do
    local line = body[n]
    local v, many, lo, hi = trips(line)
    local name, idx = line:match "^%s*([%w_]+)(%S-):put%("
    if v then
      local inner
      inner, n = count(body, n + 1, streams, sizes)
      through(inner, function(text, who)
        local extent = streams[who].over and streams[who].over[v]
        local covers = extent and lo == "0"
          and (extent .. " - 1" == hi or worth(extent, sizes) == worth(hi .. " + 1", sizes))
        return covers and text or text:find "data" and "data" or ("%s * (%s)"):format(many, text)
      end)
    elseif line:match "^%s*if " then
      local arms, closed = {}, false
      repeat
        arms[#arms + 1], n = count(body, n + 1, streams, sizes)
        closed = closed or body[n]:match "^%s*else%f[%s\0]" ~= nil
      until not body[n]:match "^%s*else"
      local all = {}
      for _, arm in ipairs(arms) do for who in pairs(arm) do all[who] = true end end
      for who in pairs(all) do
        local same = closed
        for _, arm in ipairs(arms) do same = same and arm[who] == arms[1][who] end
        plus(who, same and arms[1][who] or "data")
      end
    elseif line:match "^%s*while " or line:match "^%s*repeat" then
      local inner
      inner, n = count(body, n + 1, streams, sizes)
      through(inner, function() return "data" end)
    elseif line:match "^%s*for " then
      local inner
      inner, n = count(body, n + 1, streams, sizes)
      through(inner, function() return "data" end)
    elseif line:match "^%s*end" or line:match "^%s*else" or line:match "^%s*until" then return counts, n
    elseif name and streams[name] then
      streams[name].over = streams[name].over or {}
      local k = 0
      for i in idx:gmatch "%[(.-)%]" do
        k = k + 1
        streams[name].over[i] = streams[name].dims[k]
      end
      plus(name, "1")
    end
    n = n + 1
  end
  return counts, n
end

-- The body on tensors: positions in front, gets and puts as reads and writes.
local function rewrite(body, streams, order)
  local out = {}
  for _, name in ipairs(order) do
    local dims = #streams[name].dims > 0 and "[" .. table.concat(streams[name].dims, "][") .. "]" or ""
    out[#out + 1] = ("    local %s = i32%s(0)"):format(streams[name].at, dims)
  end
  for _, line in ipairs(body) do
    local indent, to, name, idx, rest = line:match "^(%s*)(.-) = ([%w_]+)(%S-):get%(%)(.*)$"
    local s = name and streams[name]
    if s then
      out[#out + 1] = ("%s%s = %s[%s%s]%s%s"):format(indent, to, name, s.at, idx, idx, rest)
    else
      local value
      indent, name, idx, value = line:match "^(%s*)([%w_]+)(%S-):put(%b())"
      s = name and streams[name]
      if s then out[#out + 1] = ("%s%s[%s%s]%s = %s"):format(indent, name, s.at, idx, idx, value:sub(2, -2)) end
    end
    if s then out[#out + 1] = ("%s%s%s = %s%s + 1"):format(indent, s.at, idx, s.at, idx)
    else out[#out + 1] = line end
  end
  return out
end

--- What a kernel's ports are: {unit =, name =, params = {{name =, stream =, reads =, puts =}}, lines = its text on
--- tensors}, at the values of its sizes.
function port.open(unit, values, place)
  local at = {}
  for name, has in pairs(unit.sizes) do
    if has == false and values[name] then at[name] = values[name] end
  end
  local bound = next(at) and unit:at(at) or unit
  local printed = tostring(bound)
  local _, kernels = printed:gsub("tide%.kernel {", "")
  if kernels > 1 then
    refuse(place, unit, "calls kernels, which is not taken in a definition", "write it as one kernel")
  end
  local head, body = split(printed)
  local text = table.concat(body, "\n")
  local streams, order, params = {}, {}, {}
  for _, p in ipairs(bound.params) do
    local q = { name = p.name, type = p.type, stream = p.type.kind == "stream" }
    params[#params + 1] = q
    if q.stream or tostring(p.type):find "stream" then
      q.stream = true
      local dims = {}
      local elem, extents = tostring(p.type):match "^tide%.stream(%b())(.*)$"
      for d in (extents or ""):gmatch "%[(.-)%]" do dims[#dims + 1] = d end
      q.elem, q.dims = elem and elem:sub(2, -2), dims
      if not elem or elem:find "[%[,]" then
        refuse(place, unit, "has a stream of blocks, which a definition does not take", "streams of scalars")
      end
      q.reads = text:find("%f[%w_]" .. p.name .. "[^%s:]*:get%(") ~= nil
      q.puts = text:find("%f[%w_]" .. p.name .. "[^%s:]*:put%(") ~= nil
      if q.reads and q.puts then refuse(place, unit, ("reads and writes stream '%s'"):format(p.name)) end
      q.at = p.name .. "_at"
      while text:find("%f[%w_]" .. q.at .. "%f[^%w_]") do q.at = q.at .. "_" end
      streams[p.name] = q
      order[#order + 1] = p.name
    end
  end
  if #order == 0 then
    refuse(place, unit, "has no stream parameter", "a definition calls kernels with stream parameters; a function of "
      .. "scalars is a plain Lua function, which is traced")
  end
  local counts = count(body, 1, streams, bound.sizes)
  for name, q in pairs(streams) do q.count = counts[name] end
  local lines = rewrite(body, streams, order)
  for _, line in ipairs(lines) do
    if line:find ":get%(" or line:find ":put%(" then
      refuse(place, unit, "uses its streams in a way that a definition does not take", "x = p:get() and o:put(x)")
    end
  end
  return { unit = bound, name = bound.name, params = params, streams = streams, head = head, lines = lines }
end

--- The names of sizes in front of a kernel: the line that declares them, or nil.
local function declares(line) return line:match "^local [%w_, ]+ = .*$" and not line:find "tide%.kernel" end

--- Writes the kernel on tensors: `types` has the type of each stream parameter.
function port.write(p, types, out)
  for n = 2, #p.head do
    local line = p.head[n]
    local name = line:match "^  ([%w_]+) = tide%.stream"
    if line:match "^return" then break end
    if name then line = ("  %s = %s,"):format(name, types[name]) end
    if line:match "= tide%.kernel {" then
      out(("local %s = tide.kernel {"):format(p.name))
      out(("  name = %q,"):format(p.name))
    elseif declares(line) and line:find "tide%.size" then out(line)
    elseif line ~= "" then out(line) end
  end
  for _, line in ipairs(p.lines) do out(line) end
  out "  end,"
  out "}"
end

return port
