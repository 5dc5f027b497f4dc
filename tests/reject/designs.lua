-- Designs whose declarations are refused: arguments, layouts, streams, tasks.
local t = require "tap"
local r = require "refused"

local ends = "local Z = d:stream(i32, {depth = 2})\n"
local put = "d.put = task {function() Z:put(1) end}\n"
local get = "d.get = task {B = i32[1], function(B) B[0] = Z:get() end}"

r.builders {
  -- streams
  {"depth", ends:gsub("d:stream", "d:§stream"):gsub("= 2", "= 0") .. put .. get, ends .. put ..
    get},
  {"depth", ends:gsub("d:stream", "d:§stream"):gsub("= 2", "= '2'") .. put .. get, ends .. put ..
    get},
  {"depth", ends:gsub("d:stream", "d:§stream"):gsub("= 2", "= 3 / 2") .. put .. get,
    ends:gsub("= 2", "= 4 / 2") .. put .. get},
  {"option", ends:gsub("d:stream", "d:§stream"):gsub("depth", "dept") .. put .. get, ends .. put
    .. get},
  {"argument", "local Z = d:stream(tide.§stream(i32))\n" .. put .. get,
    "local Z = d:stream(i32)\n" .. put .. get},
  {"argument", "local Z = d.§stream(i32)\n" .. put .. get, "local Z = d:stream(i32)\n" .. put ..
    get},
  {"rank", "local Z = d:§stream(i32, {1, 1, 1, 1, 1, 1, 1, 1, 1})",
    "d.a = task {A = i32[1], function(A) A[0] = 1 end}"},
  {"no-method", "local Z = d:§stram(i32)\n" .. put .. get, ends .. put .. get, help = "stream"},
  {"rank", "local Z = d:stream(i32, {2})\nd.a = task {function() Z:§put(1) end}",
    "local Z = d:stream(i32, {1})\nd.a = task {function() Z[0]:put(1) end}\n"
      .. "d.b = task {function() local _ = Z[0]:get() end}"},
  {"slot", ends .. "d.a = task {function() local b = Z:§slot() Z:put(b) end}\n" .. get, ends ..
    put .. get},
  {"unused-get", ends .. put .. "d.get = task {function() local §v = Z:get() end}",
    ends .. put .. "d.get = task {function() local _ = Z:get() end}"},

  -- tasks
  {"task-name", ends .. "d.§stream = task {function() Z:put(1) end}\n" .. get, ends .. put .. get},
  {"task-name", ends .. put .. "d.§put = task {function() end}\n" .. get, ends .. put .. get},
  {"argument", ends .. "d.§put = {function() Z:put(1) end}\n" .. get, ends .. put .. get},
  {"task-unplaced", ends .. put .. get .. "\nlocal t = §task {function() end}", ends .. put ..
    get, help =
    "d.name"},
  {"argument", "§task(3)", "d.a = task {A = i32[1], function(A) A[0] = 1 end}"},
  {"no-type", "d.a = task {A = i32[1], function(A, §i) A[0] = 1 end}",
    "d.a = task {map = {1}, A = i32[1], function(A, i) A[0] = 1 end}"},
  {"no-type", "d.a = task {map = {1}, A = i32[1], function(A, §i, k) A[0] = 1 end}",
    "d.a = task {map = {1, 1}, A = i32[1], function(A, i, k) A[0] = 1 end}", help =
    "one for each axis of map (1)"},
  {"task-ids", "d.a = §task {map = {1, 1}, A = i32[1], function(A, i) A[0] = 1 end}",
    "d.a = task {map = {1, 1}, A = i32[1], function(A, i, k) A[0] = 1 end}"},
  {"parameter-order", "d.a = task {map = {1, 1}, A = i32[1], function(i, §A) A[0] = 1 end}",
    "d.a = task {map = {1, 1}, A = i32[1], function(A, i, k) A[0] = 1 end}"},

  -- arguments and layouts
  {"indivisible", "d.a = task {map = {3}, §A = i32[8]:layout \"S0\", function(A, i) A[0] = 1 end}",
    "d.a = task {map = {4}, A = i32[8]:layout \"S0\", function(A, i) A[0] = 1 end}", kind =
      "illegal"},
  {"layout", "d.a = task {map = {2}, §A = i32[8]:layout \"S1\", function(A, i) A[0] = 1 end}",
    "d.a = task {map = {1, 2}, A = i32[8]:layout \"S1\", function(A, i, k) A[0] = 1 end}"},
  {"argument-type",
    "d.a = task {A = i32[1], function(A) A[0] = 1 end}\n"
      .. "d.b = task {§A = i32[2], C = i32[1], function(A, C) C[0] = A[0] end}",
    "d.a = task {A = i32[1], function(A) A[0] = 1 end}\nd.b = task {C = i32[1], function(C) C[0] = 1 end}"},
  {"assign-upvalue", "local k = 0\nd.a = task {A = i32[1], function(A) §k = 1 end}",
    "d.a = task {A = i32[1], function(A) local k = 0 k = 1 A[0] = k end}"},
  {"index-range", "d.a = task {map = {2}, A = i32[8]:layout \"S0\", function(A, i) A[§4] = 1 end}",
    "d.a = task {map = {2}, A = i32[8]:layout \"S0\", function(A, i) A[3] = 1 end}", kind =
      "illegal"},
  {"index-range", "local M = 8\nd.a = task {map = {2}, A = i32[M]:layout \"S0\", B = i32[2]:layout \"S0\",\n"
    .. "function(A, B, i) for k = 0, 4 do B[0] = B[0] + A[§k] end end}",
    "local M = 8\nd.a = task {map = {2}, A = i32[M]:layout \"S0\", B = i32[2]:layout \"S0\",\n"
    .. "function(A, B, i) for k = 0, 3 do B[0] = B[0] + A[k] end end}", kind = "illegal"},
  {"attribute", "d.a = task {\n§A = i32[4], --@ partition(1, block, 2)\nfunction(A) A[0] = 1 end}",
    "d.a = task {\nA = i32[4], --@ partition(0, block, 2)\nfunction(A) A[0] = 1 end}"},
  {"attribute", "Z = d:stream(i32) §--@ lanes(0)\n" .. put .. get, "Z = d:stream(i32) --@ lanes(1)\n" .. put .. get},
  {"attribute", "Z = d:stream(i32) §--@ impl(brm)\n" .. put .. get,
    "Z = d:stream(i32) --@ impl(bram)\n" .. put .. get},
  {"attribute", "d.a = task { §--@ pipeline(1)\nA = i32[1], function(A) A[0] = 1 end}",
    "d.a = task { --@ place(0, 0)\nA = i32[1], function(A) A[0] = 1 end}"},
  {"attribute", "d.a = task {A = i32[1],\nfunction(A) A[0] = 1 end}\n§--@ lanes(1)",
    "d.a = task {A = i32[1],\nfunction(A) A[0] = 1 end}\n-- lanes(1)"},
}

r.chunks {
  {"foreign-stream",
    "local keep\ntide.design(function(d) keep = d:stream(i32) d.a = tide.task {function() "
      .. "keep:put(1) end}\nd.b = tide.task {function() keep:get() end} end)\n"
    .. "tide.kernel {function() §keep:put(1) end}",
    "tide.kernel {keep = tide.stream(i32), function(keep) keep:put(1) end}"},
  {"design-closed",
    "local keep\ntide.design(function(d) keep = d d.a = tide.task {A = i32[1], function(A) A[0] "
      .. "= 1 end} end)\nkeep:§stream(i32)",
    "tide.design(function(d) d.a = tide.task {A = i32[1], function(A) A[0] = 1 end} end)"},
  {"argument", "tide.§design(3)",
    "tide.design(function(d) d.a = tide.task {A = i32[1], function(A) A[0] = 1 end} end)"},
}

t.done()
