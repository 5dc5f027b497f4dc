-- Orders for table.sort that are the same everywhere: Lua's own `<` compares strings as the locale does.
local order = {}

--- Whether string a stands before string b, byte by byte.
function order.bytes(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = a:byte(i), b:byte(i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

return order
