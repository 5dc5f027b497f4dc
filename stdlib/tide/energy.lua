--- What a run with a clock took: the counts of its operators and of the bits that it moved, times the energy of each.
local energy = {}

--- Energies in pJ, by source: of an operator by class and bits of its widest operand ("mul f32"; the narrowest row that
--- is wide enough counts), of a bit through memories on the chip by the bytes of a bank ("ram 8192"), registers, FIFOs,
--- and memory off the chip.
---
--- asic45: M. Horowitz, Computing's energy problem, ISSCC 2014, 45 nm, 0.9 V: operators; caches of 8 KiB, 32 KiB and
--- 1 MiB, 10, 20 and 100 pJ for 64 bits; DRAM 1300 pJ for 64 bits, the least that it gives. An fma is a product and a
--- sum. A bit in a register takes a sixth of one in a memory of 32 KiB (Chen, Emer, Sze, Eyeriss, ISCA 2016, table IV:
--- a register file 1, a buffer 6).
---
--- fpga: the same with 14 times the energy of operators and registers (I. Kuon, J. Rose, Measuring the gap between
--- FPGAs and ASICs, IEEE TCAD 26(2), 2007: dynamic power of logic).
---
--- fpga_hbm2: the same with HBM2, 3.9 pJ a bit (M. O'Connor et al., Fine-Grained DRAM, MICRO 2017).
energy.tables = {
  asic45 = {
    source = "Horowitz, ISSCC 2014, 45 nm; Chen, Emer, Sze, ISCA 2016",
    ["add i8"] = 0.03, ["add i32"] = 0.1, ["mul i8"] = 0.2, ["mul i32"] = 3.1,
    ["add f16"] = 0.4, ["add f32"] = 0.9, ["mul f16"] = 1.1, ["mul f32"] = 3.7,
    ["fma f16"] = 1.5, ["fma f32"] = 4.6,
    ["ram 8192"] = 10 / 64, ["ram 32768"] = 20 / 64, ["ram 1048576"] = 100 / 64,
    register = 20 / 64 / 6, fifo = 20 / 64 / 6, dram = 1300 / 64,
  },
}

-- With logic of FPGAs.
local function fpga()
  local t = { source = energy.tables.asic45.source .. "; Kuon, Rose, TCAD 2007" }
  for kind, pj in pairs(energy.tables.asic45) do
    local logic = not kind:find "^ram" and kind ~= "dram"
    if kind ~= "source" then t[kind] = logic and 14 * pj or pj end
  end
  return t
end
energy.tables.fpga = fpga()

-- The same whose memory off the chip is HBM2.
local function hbm2()
  local t = {}
  for kind, pj in pairs(energy.tables.fpga) do t[kind] = pj end
  t.source, t.dram = t.source .. "; O'Connor et al., MICRO 2017", 3.9
  return t
end
energy.tables.fpga_hbm2 = hbm2()

--- The table of each device, by name; of others `fpga`.
energy.devices = { ideal = "asic45", rtl = "asic45", u280 = "fpga_hbm2", ["u280-100"] = "fpga_hbm2" }

-- The sum that a kind counts to.
local groups = { ram = "ram", dram = "dram", register = "registers", fifo = "registers" }
local function group_of(kind) return groups[kind:match "^%a+"] or "operations" end

-- The pJ of one of a kind, or nil: that of the least row of its name that is as large.
local function look_up(t, kind)
  if t[kind] then return t[kind] end
  local name, size = kind:match "^(.-)(%d+)$"
  local best
  for row, pj in pairs(t) do
    local of, upto = tostring(row):match "^(.-)(%d+)$"
    upto = tonumber(upto)
    if name and of == name and upto >= tonumber(size) and not (best and best.upto < upto) then
      best = { upto = upto, pj = pj }
    end
  end
  return best and best.pj
end

-- Adds what these counts take by table t to `sums`; kinds without a row go to `unknown`.
local function add(sums, counts, t, unknown)
  for kind, n in pairs(counts) do
    local pj, group = look_up(t, kind), group_of(kind)
    if pj then
      sums[group] = sums[group] + n * pj
      sums.total = sums.total + n * pj
    else
      unknown[kind] = (unknown[kind] or 0) + n
    end
  end
  return sums
end

local function none() return { total = 0.0, operations = 0.0, registers = 0.0, ram = 0.0, dram = 0.0 } end

local methods = {}
local meta = { __index = methods }

local function sum(tasks, t)
  local out = none()
  out.table, out.source, out.unit, out.tasks, out.counts, out.unknown = t, t.source, "pJ", {}, {}, {}
  for i, task in ipairs(tasks) do
    local x = add(none(), task.counts, t, out.unknown)
    x.name, x.counts = task.name, task.counts
    out.tasks[i], out.tasks[task.name] = x, x
    for kind, n in pairs(task.counts) do out.counts[kind] = (out.counts[kind] or 0) + n end
    for _, key in ipairs { "total", "operations", "registers", "ram", "dram" } do out[key] = out[key] + x[key] end
  end
  return setmetatable(out, meta)
end

--- The same run by other energies: rows in pJ that stand in for those of the table, as `{ ["mul f32"] = 2, dram = 4 }`.
function methods:by(rows)
  local t = {}
  for kind, pj in pairs(self.table) do t[kind] = pj end
  for kind, pj in pairs(rows) do
    local known = kind == "source" or kind == "dram" or kind == "register" or kind == "fifo" or
      kind:find "^ram %d+$" or kind:find "^%a+ [fi]%d+$"
    if not known then
      error(("unknown kind %q: write \"mul f32\", \"ram 8192\", register, fifo or dram"):format(kind), 2)
    end
    if kind ~= "source" and not (type(pj) == "number" and pj >= 0) then
      error(("the energy of %q is a number of pJ, not %s"):format(kind, tostring(pj)), 2)
    end
    t[kind] = pj
  end
  t.source = rows.source or self.source .. "; the user's"
  return sum(self.tasks, t)
end

function meta:__tostring()
  local out = { ("energy: %.1f pJ (operations %.1f, registers %.1f, ram %.1f, dram %.1f)"):format(self.total,
    self.operations, self.registers, self.ram, self.dram) }
  for _, x in ipairs(self.tasks) do out[#out + 1] = ("  %-20s %14.1f"):format(x.name, x.total) end
  local names = {}
  for kind, n in pairs(self.unknown) do names[#names + 1] = ("%d x %s"):format(n, kind) end
  table.sort(names)
  if #names > 0 then out[#out + 1] = "not counted, as the table has no row: " .. table.concat(names, ", ") end
  out[#out + 1] = "source: " .. self.source
  return table.concat(out, "\n")
end

--- The energy of a run on a device, of tasks with their counts: `m.report.energy`.
function energy.of(device, tasks)
  return sum(tasks, energy.tables[energy.devices[device] or "fpga"])
end

return energy
