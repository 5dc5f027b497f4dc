-- campaign.lua - what the campaigns of the tests have in common.
return {
  -- Primitives whose known faults README.md lists: campaigns over them fail until those are gone.
  without = "outline,unfold,dataflow,relay,depth",
  -- The fuzzer that belongs to a tide: ./tide to build/release, build/san/tide to build/san.
  program = function(tide)
    return (tide:match "^(.*build/%w+)/tide$" or "build/release") .. "/tests/fuzz/fuzz"
  end,
}
