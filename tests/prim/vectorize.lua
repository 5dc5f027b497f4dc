-- vectorize.lua - vectorize: elements of innermost loops as one token, through chains of instances, under conditions;
-- before and after; what lanes would decide is refused beside its twin.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32 = tide.i32

-- Rows that go through `pe`, from task to task, an element at a time.
local function rows()
  return tide.kernel {A = i32[5][4], B = i32[3][5], function(A, B)
    for p = 0, 2 do
      for i = 0, 4 do
        for l = 0, 3 do B[p][i] = B[p][i] + A[i][l] * (p + l + 1) end
      end
    end
  end}, {i32[5][4], i32[3][5]}
end

for _, back in ipairs {false, true} do
  prim.accepted(back and "a chain of instances, the other way" or "a chain of instances", {
    of = rows,
    before = function(s)
      s:buffer_at("A", "l")
      s:unfold("p", {loops = {"p"}, name = "pe"}):relay("A_l", "pe", {axis = 0, back = back})
    end,
    step = {"vectorize", "A_l"}, has = {"A_l = d:stream(i32[4], {", "unroll(0)"},
  })
end

-- A stream between two tasks, put and got in loops of `put` and `get` lanes, where conditions hold.
local function two(o)
  local lane = o.lane or false
  return function()
    return tide.design(function(d)
      local Z = d:stream(i32, {2})
      d.from = tide.task {a = i32[3][8], function(a)
        for i = 0, 2 do
          for l = 0, 7 do
            if lane then
              if l < 7 then Z[0]:put(a[i][l]) end
            elseif i > 0 then
              Z[0]:put(a[i][l] + l)
            end
          end
        end
      end}
      d.to = tide.task {b = i32[3][8], function(b)
        for k = 0, 2 do
          for m = 0, 7 do
            if lane then
              if m < 7 then b[k][m] = Z[0]:get() end
            elseif k > 0 then
              local x = Z[0]:get()
              b[k][m] = x * 2
            end
          end
        end
      end}
    end), {i32[3][8], i32[3][8]}
  end
end
prim.accepted("conditions of the loops around", {
  of = two {}, step = {"vectorize", "Z"}, has = {"Z = d:stream(i32[8], {2"},
})
prim.accepted("fewer lanes than the loops have", {
  of = two {}, step = {"vectorize", "Z", {lanes = 2}}, has = {"Z = d:stream(i32[2], {2", "for l_lane = 0, 1 do"},
})
prim.refused("a number of lanes that does not divide the loops", {
  of = two {}, step = {"vectorize", "Z", {lanes = 3}}, code = "lanes",
})
prim.refused("a condition that a lane decides", {of = two {lane = true}, step = {"vectorize", "Z"}, code = "lanes"})

-- Ends in loops of other lengths, or with a token too many in a lane.
local function uneven(n, again)
  local twice = again == "twice"
  return tide.design(function(d)
    local Z = d:stream(i32)
    d.from = tide.task {a = i32[8], function(a)
      for i = 0, 8 // n - 1 do
        for l = 0, n - 1 do
          if twice then
            if l % 2 == 0 then Z:put(a[i * n + l]) else Z:put(a[i * n + l]) end
          else
            Z:put(a[i * n + l])
          end
        end
      end
    end}
    d.to = tide.task {b = i32[8], function(b)
      for k = 0, 3 do
        for m = 0, 1 do b[k * 2 + m] = Z:get() end
      end
    end}
  end), {i32[8], i32[8]}
end
prim.twins("loops of other lengths", {of = uneven, yes = 2, no = 4, code = "lanes", step = {"vectorize", "Z"}})
prim.refused("two puts in a lane", {
  of = function() return uneven(2, "twice") end, code = "lanes", step = {"vectorize", "Z"},
})
prim.accepted("loops of other lengths, both of which lanes divide", {
  of = function() return uneven(4) end, step = {"vectorize", "Z", {lanes = 2}},
})
prim.refused("tokens of several elements already", {
  of = function() return uneven(2) end, before = function(s) s:vectorize("Z") end, code = "lanes",
  kind = "usage", step = {"vectorize", "Z"},
})
-- Tokens that a task's own loop gets, or that of a kernel which it calls.
local function called(calls)
  local drain = tide.kernel {Z = tide.stream(i32), b = i32[8], function(Z, b)
    for l = 0, 7 do b[l] = Z:get() end
  end}
  return tide.design(function(d)
    local Z = d:stream(i32)
    d.from = tide.task {a = i32[8], function(a)
      for l = 0, 7 do Z:put(a[l]) end
    end}
    d.to = tide.task {b = i32[8], function(b)
      if calls then
        drain(Z, b)
      else
        for l = 0, 7 do b[l] = Z:get() end
      end
    end}
  end), {i32[8], i32[8]}
end
prim.twins("tokens that a call gets", {
  of = called, no = true, yes = false, code = "lanes", kind = "unsupported", step = {"vectorize", "Z"},
})
prim.refused("a stream that is not there", {
  of = function() return uneven(2) end, kind = "usage", code = "no-stream", step = {"vectorize", "Q"},
})

t.done()
