-- c_batch.lua - the C that is emitted for many programs, compiled together by the system's compiler
-- and run, with the run time of networks, on arguments, a room and a state that end where their
-- memory does.
--   local batch = require "c_batch"
--   batch.add("name", program, before, after)  -- lists of arguments: given, and as they must be left
--   batch.test("what", "-O1")                  -- a test of all that was added, with these flags
local tide = require "tide"
local t = require "tap"
local shell = require "shell"

local batch = {}

local list = {} -- {name =, source =, before = {..}, after = {..}}

-- Argument i as a tensor: a scalar has one element, of the type that the entry takes.
local function boxed(v, i, source)
  if type(v) == "userdata" then return v end
  local name = source:match(("%%*%%(const ([%%w_]+) %%*%%)arg%%[%d%%]"):format(i - 1))
  local types = {float = "f32", double = "f64", bool = "bool", _Bool = "bool"}
  local T = tide[types[name] or name:gsub("int(%d+)_t", "i%1"):gsub("ui", "u")]
  return tide.tensor(T[1], {v})
end

-- Adds a kernel, schedule or design, unless it has constants or foreign functions that its text does
-- not hold; raises where the CPU does not take it.
function batch.add(name, program, before, after)
  local x = {name = name, source = program:build {target = "cpu"}.source, before = {}, after = {}}
  if x.source:find("run->table", 1, true) or tostring(program):find("tide.extern", 1, true) then return end
  for i, v in ipairs(before) do x.before[i] = boxed(v, i, x.source) end
  for i, v in ipairs(after) do x.after[i] = boxed(v, i, x.source) end
  list[#list + 1] = x
end

function batch.count() return #list end

-- The names that a C text declares outside functions, but for types and the library's functions.
local function names_of(text)
  local found, seen = {}, {}
  local function add(name)
    if name and not seen[name] then
      seen[name] = true
      found[#found + 1] = name
    end
  end
  for line in text:gmatch "[^\n]+" do
    local head = line:match "^static ([^=(]*)%(" or line:match "^void ([^=(]*)%("
      or line:match "^struct ([%w_]+) {" or line:match "^static ([^=(%[]*)[=%[]"
      or line:match "^const uint64_t ([%w_]+)"
    add(head and head:match "([%w_]+)%s*$")
    add(line:match "^enum { ([%w_]+)")
  end
  return found
end

-- The text of program i with names of its own.
local function unit(i)
  local names, out = names_of(list[i].source), {}
  for _, name in ipairs(names) do out[#out + 1] = ("#define %s %s_%d\n"):format(name, name, i) end
  out[#out + 1] = list[i].source
  for _, name in ipairs(names) do out[#out + 1] = ("#undef %s\n"):format(name) end
  return table.concat(out)
end

-- Runs the programs one after another on files of arguments; says which are wrong.
local main = [[
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backends/cpu/runtime.h"
typedef void Entry(struct td_run *, void *, void *, void *const *);
typedef void Reset(struct td_run *, void *);

/* What an .npy file holds, in memory that ends with it; *bytes are there. */
static void *load(int program, int argument, const char *when, size_t *bytes) {
  char name[64];
  unsigned char head[10];
  snprintf(name, sizeof name, "%d.%d.%s.npy", program, argument, when);
  FILE *f = fopen(name, "rb");
  if (!f || fread(head, 1, 10, f) != 10) exit(9);
  fseek(f, 0, SEEK_END);
  long from = 10 + head[8] + 256 * head[9];
  *bytes = (size_t)(ftell(f) - from);
  fseek(f, from, SEEK_SET);
  void *data = malloc(*bytes);
  if (fread(data, 1, *bytes, f) != *bytes) exit(9);
  fclose(f);
  return data;
}

static void *zeros(uint64_t bytes) {
  void *p = NULL;
  if (posix_memalign(&p, 64, bytes)) exit(9);
  return memset(p, 0, bytes);
}

static void run(int program, int arguments, Entry *entry, Reset *reset, uint64_t room_bytes,
                uint64_t state_bytes) {
  static const int no_interrupt;
  struct td_run r = {.interrupt = &no_interrupt, .host = &td_cpu_net_host};
  void *at[32], *room = zeros(room_bytes), *state = zeros(state_bytes);
  size_t bytes[32], n;
  fprintf(stderr, "program %d\n", program);
  for (int i = 0; i < arguments; i++) at[i] = load(program, i, "before", &bytes[i]);
  reset(&r, state);
  entry(&r, room, state, at);
  if (r.fault) fprintf(stderr, "FAULT %d\n", program);
  for (int i = 0; i < arguments; i++) {
    void *want = load(program, i, "after", &n);
    if (n != bytes[i] || memcmp(want, at[i], n) != 0) fprintf(stderr, "WRONG %d\n", program);
    free(want);
    free(at[i]);
  }
  free(room);
  free(state);
}

]]

-- Writes all files to a folder, the programs `each` to a file of C.
local function write(folder, each)
  local out, calls, units = {main}, {}, {}
  for i, x in ipairs(list) do
    units[#units + 1] = unit(i)
    if #units == each or i == #list then
      shell.write(("%s/%d.c"):format(folder, i), table.concat(units))
      units = {}
    end
    for k, v in ipairs(x.before) do v:save(("%s/%d.%d.before.npy"):format(folder, i, k - 1)) end
    for k, v in ipairs(x.after) do v:save(("%s/%d.%d.after.npy"):format(folder, i, k - 1)) end
    out[#out + 1] = ("Entry td_entry_%d; Reset td_reset_%d;\n" ..
      "extern const uint64_t td_room_bytes_%d, td_state_bytes_%d;\n"):format(i, i, i, i)
    calls[i] = ("  run(%d, %d, td_entry_%d, td_reset_%d, td_room_bytes_%d, td_state_bytes_%d);\n")
      :format(i, #x.before, i, i, i, i)
  end
  out[#out + 1] = "int main(void) {\n" .. table.concat(calls) .. '  puts("DONE");\n}\n'
  shell.write(folder .. "/main.c", table.concat(out))
end

-- The last program that began, from what was said.
local function culprit(said)
  local number
  for i in said:gmatch "program (%d+)" do number = tonumber(i) end
  return number and list[number].name .. "\n" .. list[number].source or "?"
end

-- States that all programs compile with these flags and compute what they must.
local function check(flags)
  local folder, here = t.tmp "c_batch", shell.here
  shell.plant(folder, {})
  write(folder, 50)
  local said = shell.output(([[cd '%s' && top='%s' && cc -std=gnu11 -w -ffp-contract=off %s -I"$top" ]]
    .. [[-I"$top/interp" *.c "$top/backends/cpu/cpu_net.c" -o all -lm 2>&1]]):format(folder, here, flags))
  t.eq(said, "")
  said = shell.output(("cd '%s' && ./all 2>&1"):format(folder))
  shell.output("rm -r " .. shell.quote(folder))
  t.ok(said:find "DONE", "stopped in " .. culprit(said) .. "\n" .. said:sub(-3000))
  local wrong = {}
  for what, i in said:gmatch "(%u+) (%d+)" do
    local x = list[tonumber(i)]
    wrong[#wrong + 1] = ("%s %s\n%s"):format(what, x.name, x.source)
  end
  t.ok(#wrong == 0, table.concat(wrong, "\n"))
end

function batch.test(what, flags)
  if not os.execute "command -v cc >/dev/null 2>&1" then
    return t.skip(what, "there is no C compiler")
  end
  t.test(("%d programs %s"):format(#list, what), function() check(flags) end)
end

return batch
