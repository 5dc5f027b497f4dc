-- campaign.lua - how long a random campaign of tests/slow is: its count in a run of all tests, given in the file
-- itself, times TIDE_TIMES; and its first seed, TIDE_SEED or 1. `make slow TIMES=20 SEED=5000` sets both.
local campaign = {}

-- The count and the first seed of a campaign that makes n cases in a run of all tests.
function campaign.range(n)
  local times = tonumber(os.getenv "TIDE_TIMES") or 1
  return math.max(1, math.floor(n * times)), tonumber(os.getenv "TIDE_SEED") or 1
end

return campaign
