-- Random kernels: the reference run, libtcc, the system's compiler (all at once, at the end), Lua
-- itself and the printed form agree bit for bit; tests/slow/hls_random.lua does the same with HLS
-- C++. A failure shows its seed and the
-- least part of its source that still fails.
local t = require "tap"
local batch = require "c_batch"
local campaign = require "campaign"
local generator = require "generator"

local count, first = campaign.range(300)

-- Raises unless two lists of tensors are the same.
local function agree(got, want, what)
  for i, x in ipairs(want) do
    if not got[i]:equal(x) then
      error(("%s, argument %d: got %s, want %s"):format(what, i, tostring(got[i]), tostring(x)), 0)
    end
  end
end

local runs = 0

-- Raises unless all ways of running a program agree.
local function check(program)
  runs = runs + 1
  local k = assert(load(program.text(), "=random" .. runs))()
  local args = program.arguments()
  local want = generator.copies(args)
  k:reference(table.unpack(want))
  local text = tostring(k)
  local loaded = assert(load(text, "=printed" .. runs))()
  if tostring(loaded) ~= text then error("printed again it differs:\n" .. text, 0) end
  local function also(what, fn)
    local got = generator.copies(args)
    fn(table.unpack(got))
    agree(got, want, what)
  end
  also("printed", function(...) loaded:reference(...) end)
  local libtcc = k:build {target = "cpu", tier = "tcc"}
  also("libtcc", libtcc)
  if program.mode == "int" then also("native", function(...) k:native(...) end) end
  return k, args, want
end

-- Takes out of a tree of statements what is not needed for the program to fail.
local function shrink(program, list)
  for i = #list, 1, -1 do
    local s = table.remove(list, i)
    local passed = pcall(check, program)
    if passed then
      table.insert(list, i, s)
      if s.body then shrink(program, s.body) end
    end
  end
end

-- The part of an error that does not depend on places.
local function kind_of(e) return type(e) == "table" and e.code or tostring(e):match "^%a+" end

t.test(("%d random kernels from seed %d"):format(count, first), function()
  for seed = first, first + count - 1 do
    local program = generator.program(seed)
    local passed, why, args, want = pcall(check, program)
    if passed then
      batch.add("seed " .. seed, why, args, want)
    else
      local full = kind_of(why)
      local original = check
      check = function(p)
        local ok, e = pcall(original, p)
        if not ok and kind_of(e) == full then error(e, 0) end
      end
      shrink(program, program.statements)
      t.ok(false, ("seed %d: %s\n%s"):format(seed, tostring(why), program.text()))
    end
  end
  t.eq(batch.count(), count)
end)
batch.test("by the system's compiler: the same results", "-O1")
t.done()
