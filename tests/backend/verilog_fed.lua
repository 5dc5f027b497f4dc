-- Verilog of gets that earlier gets decide about: each begins a firing of its own, as the schedule cuts them; what a
-- token fills under a condition is chosen of it and of what the array held.
local tide = require "tide"
local t = require "tap"
local case = require "verilog_case"
local i32 = tide.i32

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- A design whose task q reads the controls, and of S what they ask for: `tokens` of it come, n go to Y.
local function routed(q, controls, tokens, n, wide, ends)
  local T = wide and i32[wide] or i32
  return tide.design(function(d)
    local A = d:arg(i32[#controls])
    local C, S = d:stream(i32, { depth = 3 }), d:stream(T, { depth = 2 })
    local R, Q = d:stream(T, { depth = 4 }), ends and d:stream(i32, { depth = 2 })
    d.p = tide.task { A = A, function(A) for i = 0, #controls - 1 do C:put(A[i]) end end }
    if wide then
      d.s = tide.task { function()
        for i = 0, tokens - 1 do
          local v = T(0)
          for j = 0, wide - 1 do v[j] = 5 * i + j + 7 end
          S:put(v)
        end
      end }
      d.r = tide.task { Y = i32[n][wide], function(Y)
        for i = 0, n - 1 do
          local v = R:get()
          for j = 0, wide - 1 do Y[i][j] = v[j] end
        end
      end }
    else
      d.s = tide.task { function() for i = 0, tokens - 1 do S:put(5 * i + 7) end end }
      d.r = tide.task { Y = i32[n][1], function(Y) for i = 0, n - 1 do Y[i][0] = R:get() end end }
    end
    q(d, C, S, R, Q)
    if ends then
      d.u = tide.task { Z = i32[#controls], function(Z) for i = 0, #controls - 1 do Z[i] = Q:get() end end }
    end
  end), { tide.tensor(i32[#controls], controls), i32[n][wide or 1](0), ends and i32[#controls](0) }
end

local function runs(pipeline, ...)
  local d, args = routed(...)
  local s = tide.schedule(d)
  if pipeline then s:pipeline "q:i" end
  case.run(s, args)
end

t.test("numbers: a get under what a get told, in a pipeline and beside it", function()
  for _, controls in ipairs { { 3, 0, 2, 1 }, { 1, 1, 0, 0, 4 } } do
    local n, some = #controls, 0
    for _, c in ipairs(controls) do some = some + (c >= 1 and 1 or 0) end
    for _, pipeline in ipairs { false, true } do
      runs(pipeline, function(d, C, S, R)
        d.q = tide.task { function()
          for i = 0, n - 1 do -- luacheck: ignore 213
            local c = C:get()
            if c >= 1 then
              local v = S:get()
              R:put(v)
            end
          end
        end }
      end, controls, some, some)
      runs(pipeline, function(d, C, S, R)
        d.q = tide.task { function()
          local v = i32(0)
          for i = 0, n - 1 do -- luacheck: ignore 213
            local c = C:get()
            if c >= 1 then v = S:get() end
            R:put(v + c)
          end
        end }
      end, controls, some, n)
    end
    runs(false, function(d, C, S, R)
      d.q = tide.task { function()
        local v, left = i32(0), i32(n)
        while left > 0 do
          local c = C:get()
          if c >= 1 then v = S:get() end
          if c >= 1 then R:put(v + 16) else R:put(0) end
          left = left - 1
        end
      end }
    end, controls, some, n)
  end
end)

t.test("arrays that a token fills under a condition keep what they held", function()
  for _, wide in ipairs { 2, 5 } do
    for _, controls in ipairs { { 3, 2, 1, 2, 3, 2, 0 }, { 2, 3, 0, 0, 3, 3 } } do
      local n, threes = #controls, 0
      for _, c in ipairs(controls) do threes = threes + (c == 3 and 1 or 0) end
      local function keeps(d, C, S, R)
        d.q = tide.task { function()
          local v = i32[wide](4)
          for i = 0, n - 1 do -- luacheck: ignore 213
            local c = C:get()
            if c == 3 then v:set(S:get()) end
            R:put(v)
          end
        end }
      end
      runs(false, keeps, controls, threes, n, wide)
      -- Registers are written at once; a memory's write is not there yet when the next iteration reads.
      if wide == 2 then
        runs(true, keeps, controls, threes, n, wide)
      else
        t.fails(function() runs(true, keeps, controls, threes, n, wide) end,
          { code = "not-built", match = "a token that is read before the array has it" })
      end
    end
    runs(false, function(d, C, S, R, Q)
      d.q = tide.task { function()
        local v, has, c = i32[wide](0), i32(0), i32(1)
        while c > 0 do
          c = C:get()
          if c > 1 then
            if has == 0 then
              v:set(S:get())
              has = i32(1)
            end
            R:put(v)
          else
            if c == 1 then
              v:set(S:get())
              has = i32(0)
            end
          end
          Q:put(c)
        end
      end }
    end, { 2, 2, 1, 2, 0 }, 3, 3, wide, true)
  end
end)

t.test("a get of a stream whose get before it did not take place is not late", function()
  for n = 2, 5 do
    local controls = {}
    for i = 1, n do controls[i] = i % 3 end
    runs(false, function(d, C, S, R)
      d.q = tide.task { function()
        local v, has = i32(0), i32(0)
        for i = 0, n - 1 do -- luacheck: ignore 213
          local c = C:get()
          R:put(v + c)
          if has == 0 then
            v = S:get()
            has = i32(1)
          end
          v = v * 2 + S:get()
        end
      end }
    end, controls, n + 1, n)
    runs(false, function(d, C, S, R)
      d.q = tide.task { function()
        local v, has = i32(0), i32(0)
        for i = 0, n - 1 do -- luacheck: ignore 213
          if has == 1 then v = S:get() end
          if has == 0 then
            v = S:get()
            has = i32(1)
          end
          local c = C:get()
          R:put(v + c)
        end
      end }
    end, controls, n, n)
  end
end)

t.test("a token fills what the next iteration of a pipeline reads: refused; what its own reads is not", function()
  for n = 2, 4 do
    local controls = {}
    for i = 1, n do controls[i] = i end
    t.fails(function()
      runs(true, function(d, C, S, R, Q)
        d.q = tide.task { function()
          local v = i32[2](3)
          for i = 0, n - 1 do -- luacheck: ignore 213
            local c = C:get()
            Q:put(c)
            R:put(v)
            v:set(S:get())
          end
        end }
      end, controls, n, n, 2, true)
    end, { code = "not-built", match = "fills v while iterations beside it read it" })
    runs(true, function(d, C, S, R)
      d.q = tide.task { function()
        local v = i32[2](3)
        for i = 0, n - 1 do -- luacheck: ignore 213
          local c = C:get()
          v:set(S:get())
          if c > 0 then R:put(v) end
        end
      end }
    end, controls, n, n, 2)
  end
end)

t.done()
