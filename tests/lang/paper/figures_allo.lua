-- figures_allo.lua - the examples that show the figures of Allo's paper, at other sizes than their own. Each compares
-- what it computes with plain Lua, and fails where they differ.
-- [slow]
local t = require "tap"
local shell = require "shell"

local function shows(name, sizes, ...)
  local parts = {...}
  t.test(("%s at the sizes %s"):format(name, sizes), function()
    local command = ("%s examples/%s.lua %s 2>&1; echo exit $?"):format(shell.quote(arg[-1]), name, sizes)
    local text = shell.output(command)
    for _, part in ipairs(parts) do t.has(text, part) end
    t.has(text, "exit 0")
  end)
end

shows("03_unroll_gemm", "6 10 16", "#pragma HLS")
shows("12_systolic", "3 5 2", "proved: strict", "map = {M, N}", "so does its HLS C++")
shows("12_systolic", "1 2 7", "proved: strict", "so does its HLS C++")
shows("13_fifo_order", "3 4 5 2", "proved: strict", "gives the same bits", "over j, i", "at i = 0, j = 1")
shows("13_fifo_order", "5 3 2 7", "proved: strict", "gives the same bits", "'first' writes C[i][j] over j, i")
shows("14_cascade", "6 5 9 3 3", "in tiles of 3: right", "whole tiles only", "proved: strict", "plain Lua agree")
shows("41_mlp", "6 5 4 2 2", "proved: strict", "with streams", "so does its HLS C++")
shows("42_resnet_block", "3 4 2", "proved: strict", "with streams", "so does its HLS C++")

t.done()
