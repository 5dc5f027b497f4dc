-- newcomer.lua - what a new user types: the first result from README alone, and wrong inputs in a row, after each of
-- which the session goes on.
local shell = require "shell"
local t = require "tap"

t.test("the README's inputs come to a proved schedule and a right product", function()
  local inputs = {}
  for line in io.lines "README.md" do
    local input = line:match "^tide> (.*)$" or line:match "^  %.%.> (.*)$"
    if input and not input:find "perfect" then inputs[#inputs + 1] = input end
  end
  t.ok(#inputs > 10)
  local began = os.time()
  local out = shell.session(table.concat(inputs, "\n") .. "\n")
  t.ok(os.time() - began < 30, "in seconds, after the build")
  t.has(out, "proved: strict, all sizes")
  t.has(out, "\ntrue\n")
  t.ok(not out:find "error:", out)
end)

-- Inputs that a new user gets wrong, one after the other, and a part of what is said: of the cause, or the cure.
local wrong = {
  {"kernel(function(A) A[0] = 1 end)", "tide.kernel { A = i8[M][K], .., function(A, ..) .. end }"},
  {"k = kernel {A: i8[4], function(A) A[0] = 1 end}", "a field of a table is written name = value"},
  {"k = kernel {A = i8[4, 4], function(A) A[0][0] = 1 end}", "each dimension has brackets of its own: [M][N]"},
  {"k = kernel {A = i8[4], function(A) for i = 0, 4 do A[i] = 1 end end}", "indices go from 0 to 3"},
  {"k = kernel {A = i8[4], function(A) for i in range(4) do A[i] = 1 end end}", "in a kernel also for i in grid(n) do"},
  {"k = kernel {A = i8[4], function(A) for i in grid(4) do A[i] += 1 end end}", "Lua has no +=: write x = x + y"},
  {"good({1, 2, 3, 4})", "tide.tensor(i8[4], list) makes a tensor of a list"},
  {"s.pipeline('i')", "methods are called as x:name(...)"},
  {"s:pipeline(i)", 'a loop is named by a string: "i"'},
  {"s:pipelin 'i'", "did you mean 'pipeline'?"},
  {"s:split('j', 4)", "no loop named 'j' in 'good' (loops: i)"},
  {"s:build('cpu')", 'k:build {target = "cpu", ..}'},
  {":sav x.lua", "did you mean ':save'?"},
  {"?splitt", "did you mean '?split'?"},
}

t.test("wrong inputs in a row, without a page: each says what would be right, and the next right one works", function()
  local inputs = {"good = kernel {A = i8[4], function(A) for i in grid(4) do A[i] = A[i] + 1 end end}",
    "s = schedule(good)"}
  for _, x in ipairs(wrong) do inputs[#inputs + 1] = x[1] end
  inputs[#inputs + 1] = "s:split('i', 2)"
  local out = shell.session(table.concat(inputs, "\n") .. "\n")
  for _, x in ipairs(wrong) do t.has(out, x[2]) end
  t.eq(select(2, out:gsub("error: ", "")), #wrong, out)
  t.has(out, "proved: strict\n\"i_o\"\t\"i_i\"\n")
end)

t.done()
