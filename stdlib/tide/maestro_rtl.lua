-- Verilog of a system of tide.maestro: its files, runs of jobs in a simulator against the model, a C header of its
-- registers.
local core = require "tide.maestro.core"
local refusal = require "tide.refusal"

local rtl = {}
local build = { __name = "tide.maestro.Build" }
build.__index = build

--- Options of a build: those that are said, checked, beside those of `table`. what: which build.
function rtl.options(table, o, what)
  local r = {}
  for k, v in pairs(table) do r[k] = v end
  for k, v in pairs(o or {}) do
    if table[k] == nil then refusal.raise("maestro-build", ("%s has no option '%s'"):format(what, tostring(k))) end
    if type(v) ~= type(table[k]) then
      refusal.raise("maestro-build", ("%s: %s is a %s"):format(what, k, type(table[k])))
    end
    r[k] = v
  end
  if r.target ~= "verilog" then return r end
  if r.sim ~= "icarus" and r.sim ~= "verilator" then
    refusal.raise("maestro-build", ('%s: sim is "icarus" or "verilator"'):format(what))
  end
  if r.bus ~= "ready_valid" and r.bus ~= "axi_lite" then
    refusal.raise("maestro-build", ('%s: bus is "ready_valid" or "axi_lite"'):format(what))
  end
  r.axi = r.bus == "axi_lite"
  return r
end

local options = { target = "verilog", sim = "icarus", bus = "ready_valid", check = true, seconds = 600 }

--- sys:build { target = "verilog", sim = "icarus" | "verilator", bus = "ready_valid" | "axi_lite", check = true,
--- seconds = 600 }: m:run(job, ..) runs a job and holds every cycle against the model, m:chain runs several behind each
--- other, m:write(folder) writes the files, m.files lists them.
function rtl.build(sys, o)
  local all = rtl.options(options, o, "build")
  if all.target ~= "verilog" then refusal.raise("maestro-build", 'a system builds for target "verilog"') end
  local r = setmetatable({ system = sys, options = all }, build)
  r.files, r.bench = core.files(sys.core, all.axi)
  return r
end

--- Runs a job on tensors, by name or in order, in the simulator: results are in those that the kernel writes. Without
--- tensors the memory is undefined, and only cycles are looked at. Returns the report: cycles, jobs.
function build:run(job, ...)
  self:check_job(job)
  local sum = 0
  local list, args = job.jobs or { job }, { ... }
  if select("#", ...) == 0 then args = false elseif type(args[1]) == "table" then args = args[1] end
  for _, one in ipairs(list) do sum = sum + core.sim({ one.core }, { args }, self:simulator()) end
  self.report = { cycles = sum, jobs = #list, sim = self.options.sim }
  return self.report
end

-- Refuses what is no single job of this system.
function build:check_job(job)
  if type(job) ~= "table" or job.system ~= self.system then
    refusal.raise("maestro-job", "the job is of another system")
  end
end

-- What core.sim takes of the options.
function build:simulator()
  local o = self.options
  return { sim = o.sim, check = o.check, seconds = o.seconds, axi = o.axi }
end

--- Runs jobs behind each other in one simulation: registers of the next are written while one runs, and its start
--- waits. args: for each the tensors of its kernel, by name or in order. What a job reads that one before it writes
--- comes from there. writes: what a host writes to the registers, a line of number and value in hexadecimal each, in
--- place of the jobs' own. Returns the report: cycles, jobs.
function build:chain(jobs, args, writes)
  local list = {}
  for i, job in ipairs(jobs) do
    self:check_job(job)
    if job.jobs then
      refusal.raise("maestro-job", "chain: a job that was split runs its parts each on a memory of its own: m:run")
    end
    list[i] = job.core
  end
  local o = self:simulator()
  o.writes = writes
  self.report = { cycles = core.sim(list, args or {}, o), jobs = #list, sim = self.options.sim }
  return self.report
end

--- A C program that starts jobs by the functions of the header, and waits for each; its bus writes what m:chain takes
--- as `writes`. args: of jobs with values of columns among their kernels' arguments, those by name.
function build:host(jobs, args)
  local lines = {
    "/* Starts jobs by tide_maestro.h. The bus of this host is a list of writes, one a line. */",
    '#include "tide_maestro.h"', "#include <stdio.h>", "",
  }
  for i, job in ipairs(jobs) do
    self:check_job(job)
    lines[#lines + 1] = ("static const tide_maestro_write job%d[] = {"):format(i)
    for _, list in ipairs { args and args[i] and job:registers(args[i]) or job.work, job.csr } do
      for _, r in ipairs(list) do lines[#lines + 1] = ("  {%d, 0x%x}, /* %s */"):format(r.number, r.value, r.name) end
    end
    lines[#lines + 1] = "};"
  end
  lines[#lines + 1] = [[

static void put(void *bus, uint16_t number, uint32_t value) {
  fprintf(bus, "%04x%08x\n", (unsigned)number, (unsigned)value);
}

int main(void) {]]
  for i in ipairs(jobs) do
    lines[#lines + 1] = ("  tide_maestro_start(put, stdout, job@, (int)(sizeof job@ / sizeof *job@));"):gsub("@", i)
  end
  lines[#lines + 1] = "  return 0;\n}\n"
  return table.concat(lines, "\n")
end

--- The same registers as C: numbers, and a function that writes a list of them.
function rtl.header(sys)
  local lines = {
    "/* Registers of a system of streamers: write those of the array, then all others, the start last. */",
    "#ifndef TIDE_MAESTRO_H", "#define TIDE_MAESTRO_H", "#include <stdint.h>", "", "enum {",
  }
  local all, first_read = core.registers(sys.core), nil
  for i, r in ipairs(all) do
    lines[#lines + 1] = ("  TIDE_MAESTRO_%s = %d,"):format(r.name:upper():gsub("%.", "_"), r.number)
    if all[i + 1] and all[i + 1].number > r.number + 1 then first_read = r.number + 1 end
  end
  lines[#lines + 1] = ("  TIDE_MAESTRO_BUSY = %d,"):format(first_read)
  lines[#lines + 1] = ("  TIDE_MAESTRO_CYCLES = %d"):format(first_read + 1)
  lines[#lines + 1] = [[
};

typedef struct tide_maestro_write { uint16_t number; uint32_t value; } tide_maestro_write;
typedef void (*tide_maestro_put)(void *bus, uint16_t number, uint32_t value);
typedef uint32_t (*tide_maestro_get)(void *bus, uint16_t number);

/* Writes a job's registers; the write of the start waits while another one runs. */
static inline void tide_maestro_start(tide_maestro_put put, void *bus, const tide_maestro_write *w, int n) {
  for (int i = 0; i < n; i++) put(bus, w[i].number, w[i].value);
}

/* Waits for its end; the cycles that it took. */
static inline uint32_t tide_maestro_wait(tide_maestro_get get, void *bus) {
  while (get(bus, TIDE_MAESTRO_BUSY)) {}
  return get(bus, TIDE_MAESTRO_CYCLES);
}

#endif
]]
  return table.concat(lines, "\n")
end

local function write(path, text)
  local f, why = io.open(path, "w")
  if not f then refusal.raise("maestro-build", ("cannot write %s: %s"):format(path, why)) end
  f:write(text)
  f:close()
end

--- Writes the files of a build and its bench to a folder that is there.
function rtl.write(folder, files, bench)
  for _, file in ipairs(files) do write(folder .. "/" .. file.name, file.text) end
  write(folder .. "/bench.sv", bench)
end

--- Writes the files, a bench and the header of registers to a folder that is there.
function build:write(folder)
  rtl.write(folder, self.files, self.bench)
  write(folder .. "/tide_maestro.h", rtl.header(self.system))
  return self
end

return rtl
