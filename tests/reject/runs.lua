-- Programs that are well formed, and refused at other sizes, when they are checked or when they run.
local t = require "tap"
local r = require "refused"
local tide = require "tide"
local i32, f32, task = tide.i32, tide.f32, tide.task

-- Sizes.
r.chunks {
  {"no-size", "return add4:§at {M = 3}", "local M = 4\nreturn tide.kernel {A = i32[M], function(A) A[0] = 1 end}:at {M = 3}"},
  {"two-sizes", [[
local n, m = tide.size "n", tide.size "m"
local row = tide.kernel {a = i32[n], function(a) for i = 0, n - 1 do a[i] = 1 end end}
return tide.kernel {A = i32[m], B = i32[2 * m], function(A, B)
  row(A)
  §row(B)
end}:at {m = 3}]], [[
local n, m = tide.size "n", tide.size "m"
local row = tide.kernel {a = i32[n], function(a) for i = 0, n - 1 do a[i] = 1 end end}
local twice = row:as "twice"
return tide.kernel {A = i32[m], B = i32[2 * m], function(A, B)
  row(A)
  twice(B)
end}:at {m = 3}]], kind = "unsupported", help = "as"},
  {"inlined", [[
local function f0(x) return x end
local function f1(x) return f0(x) + f0(x) + f0(x) + f0(x) + f0(x) + f0(x) + f0(x) + f0(x) end
local function f2(x) return f1(x) + f1(x) + f1(x) + f1(x) + f1(x) + f1(x) + f1(x) + f1(x) end
local function f3(x) return §f2(x) + f2(x) + f2(x) + f2(x) + f2(x) + f2(x) + f2(x) + f2(x) end
local function f4(x) return f3(x) + f3(x) + f3(x) + f3(x) + f3(x) + f3(x) + f3(x) + f3(x) end
local many = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}
return tide.kernel {A = i64[4], function(A)
  for _, i in ipairs(many) do A[i] = f4(A[i]) end
end}]], [[
local function f0(x) return x end
local function f1(x) return f0(x) + f0(x) + f0(x) + f0(x) + f0(x) + f0(x) + f0(x) + f0(x) end
local function f2(x) return f1(x) + f1(x) + f1(x) + f1(x) + f1(x) + f1(x) + f1(x) + f1(x) end
local many = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}
return tide.kernel {A = i64[4], function(A)
  for _, i in ipairs(many) do A[i] = f2(A[i]) end
end}]], kind = "limit"},
}

-- States that run(bad) fails with this code, and run(good) does not.
local function twins(name, code, kind, run, bad, good)
  t.test(code .. ": " .. name, function()
    local e = t.fails(function() run(bad) end, {kind = kind, code = code})
    t.ok(tostring(e):find "\n +%d+ | ", "the error draws no line: " .. tostring(e))
    run(good)
  end)
end

twins("a checked run of a foreign function", "opaque", "unsupported", function(model)
  tide.extern {source = "none.c", symbol = "f", x = i32[4], model = model}:reference(i32[4](0))
end, nil, tide.kernel {x = i32[4], function(x) x[0] = 1 end})

-- What tide.design would refuse is found by a checked run, too.
local unchecked = {check = false}

twins("two instances that put to one stream", "stream-ends", "illegal", function(shared)
  tide.design(function(d)
    local s = d:stream(i32, {2})
    d.a = task {map = {2}, function(i) s[shared and 0 or i]:put(1) end}
    d.b = task {R = i32[2], function(R)
      R[0] = s[0]:get()
      R[1] = s[shared and 0 or 1]:get()
    end}
  end, unchecked):reference(i32[2](0))
end, true, false)

twins("copies that hold different values", "copies-differ", "illegal", function(differ)
  tide.design(function(d)
    d.a = task {map = {2}, R = i32[2]:layout "R", function(R, i) R[0] = differ and i32(i) or 7 end}
  end, unchecked):reference(i32[2](0))
end, true, false)

twins("a store that does not fit, in a run that looks", "overflow", "illegal", function(x)
  tide.kernel {A = tide.i8[4], n = i32, function(A, n) A[0] = n * 2 end}:reference(tide.i8[4](0), x,
    {overflow = true})
end, 64, 63)

twins("a fixed-point number far from 1, as a float", "fixed-point-far", "unsupported", function(f)
  local T = tide.fixed(8, f)
  local k = tide.kernel {A = T[4], B = f32[4], function(A, B) B[0] = f32(A[0]) end}
  t.ok(k:build {target = "hls"}.source)
end, 1000, 4)

twins("more steps taken back than there are", "step", "usage", function(n)
  tide.schedule(tide.kernel {A = i32[4], function(A) for i = 0, 3 do A[i] = i end end}):split("i", 2):undo(n)
end, 2, 1)

t.test("no-run: a build for each target runs, or says that it does not", function()
  local runs = 0
  local k = tide.kernel {A = i32[4], function(A) A[0] = 1 end}
  local unknown = t.fails(function() k:build {target = "none"} end, {kind = "usage", code = "target"})
  for target in unknown.message:match "%((.-)%)":gmatch "%w+" do
    local A = i32[4](0)
    local passed, e = pcall(function() k:build {target = target}(A) end)
    local says = e and (e.code == target .. "-form" and e.code or "no-run") -- it may take designs alone
    if passed then runs = runs + A[0] else t.eq({e.kind, e.code}, {"unsupported", says}) end
  end
  t.ok(runs > 0)
end)

t.test("not-decided: programs that take different ones are not compared", function()
  local function kernel(n) return tide.kernel {A = i32[n], name = "k" .. n, function(A) A[0] = 1 end} end
  local other = tide.kernel {A = f32[2], function(A) A[0] = 1 end}
  local level, verdict = tide.verify(kernel(2), other)
  t.eq(level, nil)
  t.has(tostring(verdict), "not decided: 'k2' and 'other' take different parameters")
  t.eq((tide.verify(kernel(2), kernel(2))), "strict")
end)

t.done()
