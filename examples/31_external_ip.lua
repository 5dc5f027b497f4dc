-- 31_external_ip: a C++ function is called like a kernel (Allo, 6: composing with external kernels). Its parameters are
-- read from its source; it runs here behind a wrapper, and goes into the HLS build as it is.
-- Run: tide examples/31_external_ip.lua
local tide = require "tide"
local i12, i32 = tide.int(12), tide.i32

local here = arg and arg[0] and arg[0]:match "^(.*/)" or "examples/"
local moving_sum = tide.extern {source = here .. "31_external_ip.cpp", symbol = "filters::moving_sum"}
print(tostring(moving_sum):match "symbol.*")

-- Two channels through the block, then their difference.
local CHANNELS, N = 2, 32
local compare = tide.kernel {
  X = i12[CHANNELS][N], D = i32[N], P = i32[CHANNELS][1],
  function(X, D, P)
    local S = i12[CHANNELS][N](0)
    for c = 0, CHANNELS - 1 do moving_sum(X[c], S[c], P[c]) end
    for i = 0, N - 1 do --@ pipeline(1)
      D[i] = S[0][i] - S[1][i]
    end
  end,
}

local X = tide.random(i12[CHANNELS][N], 1)
local D, P = i32[N](0), i32[CHANNELS][1](0)
compare(X, D, P)

local m = tide.schedule(compare):build {target = "hls"}
local E, Q = i32[N](0), i32[CHANNELS][1](0)
m(X, E, Q)
print("HLS C++ agrees:", D:equal(E) and P:equal(Q))
print(m.source:match "// filters[^}]*}")

-- What the source says is what counts: the other shape is refused, in the source.
print(select(2, pcall(tide.extern, {source = here .. "31_external_ip.cpp", symbol = "moving_sum", out = i12[16]})))

--> symbol = "filters::moving_sum",...
-->   in_ = tide.int(12)[32],...
--> HLS C++ agrees:	true
--> ...filters::moving_sum(p0, p1, ip_p2[0]);...
--> ...31_external_ip.cpp:9:40: error: 'out' is tide.int(12)[32] here, not tide.int(12)[16] as in tide.extern...
