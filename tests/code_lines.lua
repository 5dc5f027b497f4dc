-- code_lines.lua - lines of design and schedule of programs for NPUs, counted in the examples: those of code, from
-- where the design begins to where it, or its schedule, ends.
local shell = require "shell"

-- The lines of a file from the one that begins with `from` to the one that begins with `to`.
local function between(file, from, to)
  local list
  for line in shell.read("examples/" .. file):gmatch "[^\n]*" do
    if line:sub(1, #from) == from then list = {} end
    if list and line:find "%S" and not line:find "^%s*%-%-" then list[#list + 1] = line end
    if list and line:sub(1, #to) == to then return list end
  end
  error(("%s: no '%s' to '%s'"):format(file, from, to))
end

-- What leads the design of attention to NPU form; the build adds the rest.
local attention = {
  'local s = tide.schedule(attention):bundle("scores", {axis = 2}):bundle("values", {axis = 2})',
  'for _, name in ipairs {"scores", "softmax", "values", "acc"} do s:bundle(name, {axis = 0}) end',
}
local search = 'local s = tide.schedule(product):search {device = "npu1", reassociate = true}'

local function joined(a, b)
  for _, line in ipairs(b) do a[#a + 1] = line end
  return a
end

--- Lists of lines: a product with its search, attention, a feed-forward layer.
return {
  gemm = joined(between("50_npu_gemm.lua", "local product = ", "end)"), {search}),
  attention = joined(between("51_npu_attention.lua", "local attention = ", "end)"), attention),
  ffn = between("npu/ffn.lua", "local ffn = ", "local s = "),
}
