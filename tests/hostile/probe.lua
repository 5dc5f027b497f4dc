-- probe.lua - after something failed: what the session had made is whole, and new work is possible.
local made = ...
made = made or {}
local tide = made.tide or require "tide"

-- Prints a program and loads it: the text is the same again.
local function is_whole(p)
  local text = tostring(p)
  assert(tostring(assert(load(text, "=printed"))(p:constants())) == text, text)
end

if made.file then os.remove(made.file) end
if made.gemm then is_whole(made.gemm) end
if made.schedule then
  is_whole(made.schedule)
  assert(made.schedule:verify() == "strict")
  made.schedule:split("i", 2)
  assert(made.schedule:verify() == "strict")
  made.schedule:undo()
  is_whole(made.schedule)
end
if made.design then is_whole(made.design) end

local double = tide.kernel {A = tide.i32[5], function(A)
  for i = 0, 4 do A[i] = A[i] * 2 end
end}
local A = tide.tensor(tide.i32[5], {1, 2, 3, 4, 5})
local s = tide.schedule(double)
s:split("i", 2)
s(A)
assert(table.concat(A:table(), " ") == "2 4 6 8 10")
assert(s:verify() == "strict")
