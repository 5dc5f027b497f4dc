-- The 260 synthetic workloads that stand in for those of DataMaestro, section IV, whose sizes are not published: in
-- each, every operand fits a quarter of the memory, so that every mode can hold it. Written by these rules:
--   G, T (72 each): K of 64 .. 512, M and N of 16 .. 128, M K and N K of at most 32768, M N of at most 8192; in T, A is
--   stored transposed.
--   V (116): stride 1 and 2, kernels of 1, 3, 5, planes of 4x8 .. 16x16, 16 .. 64 channels, operands of at most 32768
--   bytes, at least 64 products for a result.
-- tide examples/maestro/workloads.lua prints them as CSV.
local workloads = {}

local QUARTER = 32768 -- bytes

local function products(group, list)
  for _, K in ipairs { 64, 128, 256, 512 } do
    for _, M in ipairs { 16, 32, 64, 96, 128 } do
      for _, N in ipairs { 16, 32, 64, 96, 128 } do
        if M * K <= QUARTER and N * K <= QUARTER and 4 * M * N <= QUARTER then
          list[#list + 1] = { group = group, M = M, N = N, K = K }
        end
      end
    end
  end
end

local function convolutions(list)
  for _, s in ipairs { 1, 2 } do
    for _, k in ipairs { 1, 3, 5 } do
      for _, plane in ipairs { { 4, 8 }, { 8, 8 }, { 8, 16 }, { 16, 16 } } do
        for _, ci in ipairs { 16, 32, 64 } do
          for _, co in ipairs { 16, 32, 64 } do
            local OH, OW = plane[1], plane[2]
            local H, W = s * OH + k - 1, s * OW + k - 1
            local most = math.max(H * W * ci, ci * co * k * k, OH * OW * co * 4)
            if most <= QUARTER and ci * k * k >= 64 then
              list[#list + 1] = { group = "V", OH = OH, OW = OW, H = H, W = W, Cin = ci, Cout = co, R = k, s = s }
            end
          end
        end
      end
    end
  end
end

products("G", workloads)
products("T", workloads)
convolutions(workloads)

if arg and (arg[0] or ""):find "workloads.lua$" then
  local columns = { "group", "M", "N", "K", "OH", "OW", "H", "W", "Cin", "Cout", "R", "s" }
  print(table.concat(columns, ","))
  for _, w in ipairs(workloads) do
    local row = {}
    for i, c in ipairs(columns) do row[i] = tostring(w[c] or "") end
    print(table.concat(row, ","))
  end
end

return workloads
