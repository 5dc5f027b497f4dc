-- card.lua - a card that interprets: runs the design in a folder, arg[1], on the files card0, card1, .. there, of
-- so many bytes each; behind a "=" is a scalar.
local tide = require "tide"
local folder = arg[1]
local m = require "tide.npu".open(folder)
local i8 = tide.i8
local values = {}
for i = 2, #arg do
  local f = assert(io.open(("%s/card%d"):format(folder, i - 2), "rb"))
  local bytes = f:read "a"
  f:close()
  local scalar, size = arg[i]:match "^(=?)(%d+)$"
  assert(#bytes == math.tointeger(size), arg[i])
  if scalar == "=" then
    values[#values + 1] = string.unpack("<i4", bytes)
  else
    local x = i8[#bytes]()
    for k = 1, #bytes do x[k - 1] = string.unpack("b", bytes, k) end
    values[#values + 1] = x
  end
end
m(table.unpack(values))
for i, x in ipairs(values) do
  if not math.type(x) then
    local text = {}
    for k = 1, #x do text[k] = string.pack("b", x[k - 1]) end
    local f = assert(io.open(("%s/card%d"):format(folder, i - 1), "wb"))
    f:write(table.concat(text))
    f:close()
  end
end
