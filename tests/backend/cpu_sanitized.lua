-- cpu_sanitized.lua - the C that is emitted for every kernel and design of the tests of primitives
-- and of PolyBench, compiled with ASan and UBSan, all in one program: on arguments, a room and a
-- state that end where their memory does, it computes what the reference run does.
local tide = require "tide"
local t = require "tap"
local collect = require "collect"
local polybench = require "polybench"
local shell = require "shell"

-- What the CPU does not take, by code.
local excused = {["nested-design"] = true}

local list, refused = {}, {} -- {name =, source =, before = {..}, after = {..}}

-- Argument i as a tensor: a scalar has one element, of the type that the entry takes.
local function boxed(v, i, source)
  if type(v) == "userdata" then return v end
  local name = source:match(("%%*%%(const ([%%w_]+) %%*%%)arg%%[%d%%]"):format(i - 1))
  local types = {float = "f32", double = "f64", bool = "bool", _Bool = "bool"}
  local T = tide[types[name] or name:gsub("int(%d+)_t", "i%1"):gsub("ui", "u")]
  return tide.tensor(T[1], {v})
end

-- Adds a program with its arguments before and after a reference run.
local function record(name, program, inputs)
  local passed, m = pcall(program.build, program, {target = "cpu"})
  if not passed then
    if not excused[m.code] then refused[#refused + 1] = name .. ": " .. tostring(m) end
    return
  end
  if m.source:find("run->table", 1, true) then return end -- constants that the text does not hold
  local before, after = {}, {}
  for i, v in ipairs(inputs) do
    local copy = type(v) == "userdata" and v:copy() or v
    before[i], after[i] = v, copy
  end
  program:reference(table.unpack(after))
  for i in ipairs(before) do
    before[i], after[i] = boxed(before[i], i, m.source), boxed(after[i], i, m.source)
  end
  list[#list + 1] = {name = name, source = m.source, before = before, after = after}
end

-- The C file of program i: its own names, and nothing else, are seen outside.
local function unit(i)
  local renamed = {}
  for _, name in ipairs {"td_entry", "td_reset", "td_room_bytes", "td_state_bytes"} do
    renamed[#renamed + 1] = ("#define %s %s_%d\n"):format(name, name, i)
  end
  return table.concat(renamed) .. list[i].source
end

-- Runs the programs one after another on files of arguments; says which are wrong.
local main = [[
#include <stdint.h>
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
  struct td_run r = {.interrupt = &no_interrupt};
  void *at[32], *room = zeros(room_bytes), *state = zeros(state_bytes);
  size_t bytes[32], n;
  fprintf(stderr, "program %d\n", program);
  for (int i = 0; i < arguments; i++) at[i] = load(program, i, "before", &bytes[i]);
  reset(&r, state);
  entry(&r, room, state, at);
  if (r.fault) printf("FAULT %d\n", program);
  for (int i = 0; i < arguments; i++) {
    void *want = load(program, i, "after", &n);
    if (n != bytes[i] || memcmp(want, at[i], n) != 0) printf("WRONG %d\n", program);
    free(want);
    free(at[i]);
  }
  free(room);
  free(state);
}

]]

-- Writes all files to a folder.
local function write(folder)
  local calls = {}
  local out = {main}
  for i, x in ipairs(list) do
    shell.write(("%s/%d.c"):format(folder, i), unit(i))
    for k, v in ipairs(x.before) do v:save(("%s/%d.%d.before.npy"):format(folder, i, k - 1)) end
    for k, v in ipairs(x.after) do v:save(("%s/%d.%d.after.npy"):format(folder, i, k - 1)) end
    out[#out + 1] = ("Entry td_entry_%d; Reset td_reset_%d;\n" ..
      "extern const uint64_t td_room_bytes_%d, td_state_bytes_%d;\n"):format(i, i, i, i)
    calls[i] = ("  run(%d, %d, td_entry_%d, td_reset_%d, td_room_bytes_%d, td_state_bytes_%d);\n")
      :format(i, #x.before, i, i, i, i)
  end
  out[#out + 1] = "int main(void) {\n" .. table.concat(calls) .. '  puts("DONE");\n  return 0;\n}\n'
  shell.write(folder .. "/main.c", table.concat(out))
end

-- The name of the program that a sanitizer stopped, from what was said.
local function culprit(said)
  local number
  for i in said:gmatch "program (%d+)" do number = tonumber(i) end
  return number and list[number].name .. "\n" .. list[number].source or "?"
end

collect.prim(record)
for _, name in ipairs(polybench.names) do record("PolyBench " .. name, polybench.make(name)) end

t.test("the CPU takes all that it should", function() t.eq(table.concat(refused, "\n"), "") end)

t.test(#list .. " programs with ASan and UBSan: nothing found, the same results", function()
  t.ok(#list > 250, "only " .. #list .. " programs")
  local folder, here = t.tmp "sanitized", shell.output "pwd":gsub("\n", "")
  shell.plant(folder, {})
  write(folder)
  local flags = "-g -O0 -fsanitize=address,undefined -fno-sanitize-recover=all -ffp-contract=off"
  local said = shell.output(("cd '%s' && cc -std=gnu11 %s -w -I'%s' -I'%s/interp' *.c -o all -lm 2>&1")
    :format(folder, flags, here, here))
  t.eq(said, "")
  said = shell.output(("cd '%s' && ./all 2>&1"):format(folder))
  t.ok(said:find "DONE", "stopped in " .. culprit(said) .. "\n" .. said:sub(-3000))
  shell.output("rm -r " .. shell.quote(folder))
  local wrong = {}
  for what, i in said:gmatch "(%u+) (%d+)" do wrong[#wrong + 1] = what .. " " .. list[tonumber(i)].name end
  t.eq(table.concat(wrong, "\n"), "")
end)

t.done()
