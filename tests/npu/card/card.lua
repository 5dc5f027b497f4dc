-- card.lua - a card that interprets: runs the design in a folder, arg[1], on the files card0, card1, .. there, of
-- so many bytes each.
local tide = require "tide"
local folder = arg[1]
local m = require "tide.npu".open(folder)
local i8 = tide.i8
local tensors = {}
for i = 2, #arg do
  local n = math.tointeger(arg[i])
  local path = ("%s/card%d"):format(folder, i - 2)
  local f = assert(io.open(path, "rb"))
  local bytes = f:read "a"
  f:close()
  assert(#bytes == n, path)
  local x = i8[n]()
  for k = 1, n do x[k - 1] = string.unpack("b", bytes, k) end
  tensors[#tensors + 1] = x
end
m(table.unpack(tensors))
for i, x in ipairs(tensors) do
  local text = {}
  for k = 1, #x do text[k] = string.pack("b", x[k - 1]) end
  local f = assert(io.open(("%s/card%d"):format(folder, i - 1), "wb"))
  f:write(table.concat(text))
  f:close()
end
