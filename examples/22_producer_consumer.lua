-- 22_producer_consumer: producers and consumers over shared-out vectors (Dato, Fig. 2c), on the CPU and as HLS C++.
-- Run: tide examples/22_producer_consumer.lua [M P]     (default 16 2; P divides M)
local tide = require "tide"
local i8, task = tide.i8, tide.task
local M, P = tonumber(arg[1] or 16), tonumber(arg[2] or 2)

local top = tide.design(function(d)
  local Z = d:stream(i8[M // P], { P, depth = 2 })  -- an array of P streams of blocks
  d.producer = task {
    map = { P }, A = i8[M]:layout "S0",             -- instance t has the block t of A
    function(A, t) Z[t]:put(A) end,
  }
  d.consumer = task {
    map = { P }, B = i8[M]:layout "S0",
    function(B, t) B:set(Z[t]:get() + 1) end,
  }
end)
print(top:graph())

local A, B = tide.random(i8[M], 1), i8[M](0)
top(A, B)
assert(B:equal(i8[M](A + 1)))
top { A = A, B = B }                                -- by name

local hls = top:build { target = "hls" }
hls:write "build/producer_consumer"
local C = i8[M](0)
hls(A, C)
assert(C:equal(B))
print "the CPU and the HLS C++ agree"

--> top: 4 nodes, 4 ports, 2 streams, 2 tokens
-->   task producer {2}: 2 nodes  reads A
-->   task consumer {2}: 2 nodes  writes B
--> ...
--> the CPU and the HLS C++ agree
