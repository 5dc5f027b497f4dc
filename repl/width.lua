-- width.lua - prints width.def from the Unicode database: lua5.4 repl/width.lua DIR > width.def
-- DIR holds EastAsianWidth.txt, auxiliary/, emoji/ and extracted/ (Debian: unicode-data).
local dir = assert(arg[1], "usage: width.lua DIR")

-- Calls set(cp, value) for each code point of a property file; what `keep` maps to nil is skipped.
local function read(file, keep, set)
  for line in io.lines(dir .. "/" .. file) do
    local lo, hi, value = line:match "^(%x+)%.%.(%x+)%s*;%s*([%w_]+)"
    if not lo then
      lo, value = line:match "^(%x+)%s*;%s*([%w_]+)"
      hi = lo
    end
    local class = lo and keep[value]
    if class then
      for cp = tonumber(lo, 16), tonumber(hi, 16) do set(cp, class) end
    end
  end
end

local class, wide, pict = {}, {}, {}
local function into(t)
  return function(cp, value) t[cp] = value end
end
read("auxiliary/GraphemeBreakProperty.txt", {
  Control = "CONTROL", Extend = "ZERO", ZWJ = "ZERO", V = "ZERO", T = "ZERO", SpacingMark = "MARK",
}, into(class))
read("extracted/DerivedGeneralCategory.txt", {Mc = "MARK"}, function(cp, value)
  if class[cp] == "ZERO" then class[cp] = value end
end)
for cp = 0x1F3FB, 0x1F3FF do class[cp] = nil end -- skin tones are wide when they stand alone
read("EastAsianWidth.txt", {W = "WIDE", F = "WIDE"}, into(wide))
read("emoji/emoji-data.txt", {Extended_Pictographic = "PICT"}, into(pict))

local function flags(cp)
  local one = class[cp] or wide[cp]
  if pict[cp] then return one and one .. " | PICT" or "PICT" end
  return one
end

print "/* width.def - code points that are not one plain cell. By width.lua from Unicode 15.0. */"
local line = ""
local function emit(item)
  if #line + 1 + #item > 100 then
    print(line)
    line = item
  else
    line = line == "" and item or line .. " " .. item
  end
end
local first, held = 0, nil
for cp = 0, 0x110000 do
  local now = cp < 0x110000 and flags(cp) or nil
  if now ~= held then
    if held then emit(("X(0x%04X, 0x%04X, %s)"):format(first, cp - 1, held)) end
    first, held = cp, now
  end
end
print(line)
