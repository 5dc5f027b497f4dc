-- [slow] verilog_verilator.lua - examples as Verilog in Verilator, at the sizes that they have: values and cycles are
-- those of the timed run at `device = "rtl"`.
local t = require "tap"
local case = require "verilog_case"

if not case.has "verilator" then t.skip_all "verilator is not here" end

local timed = {'([^%s=]+):build%s*{%s*target = "cpu", timed = true%s*}', "both(%1)"}
local call = {'= s(:build { target = "cpu", timed = true })', "= both(s)"}
local examples = {
  {"01_hello", {{"saxpy%(x, y, 3%)", "both(saxpy)(x, y, 3)"}}},
  {"12_systolic", {timed}},
  {"20_flash_attention", {{"\nrun%(.*", "\nrun(5, 4, 8, true, 1)"}, {"top%(Q, K, V, O%)", "both(top)(Q, K, V, O)"}}},
  {"20_flash_attention", {{"\nrun%(.*", "\nrun(5, 4, 4, true, 1)"},
    {"top%(Q, K, V, O%)", "top(Q, K, V, O) both(hand)(Q, K, V, O:copy())"}}},
  {"30_timed_systolic", {timed}},
  {"32_weight_stationary", {call}},
  {"34_two_level_cache", {call}},
  {"35_bitonic_sort", {{"\nsort%(A%)\n", "\nboth(sort)(A)\n"}}},
}

for _, q in ipairs(examples) do
  t.test(q[1], function()
    t.ok(case.example(q[1], {}, q[2], "verilator"))
  end)
end

t.done()
