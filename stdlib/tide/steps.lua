-- What schedules of templates have in common.
local steps = {}

--- Starts an iteration of each of these loops in each cycle.
function steps.pipeline(s, ...)
  for _, loop in ipairs { ... } do s:pipeline(loop) end
end

--- Spreads a dimension of an array over n banks, in turn; one bank is none.
function steps.banks(s, array, dim, n)
  if n > 1 then s:partition(array, dim, { factor = n }) end
end

--- Unrolls a loop n times; once is not at all.
function steps.unroll(s, loop, n)
  if n > 1 then s:unroll(loop, n) end
end

return steps
