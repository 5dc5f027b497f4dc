-- c_batch.lua - the C that is emitted for many programs, compiled together by the system's compiler
-- and run, with the run time of networks, on arguments, a room and a state that end where their
-- memory does.
--   local batch = require "c_batch"
--   batch.add("name", program, before, after, ..)  -- for each run two lists of arguments: given, and left
--   batch.test("what", "-O1")       -- a test that all that was added leaves them so, with these flags
--   batch.others("what", "-O1", fn) -- or one that hands fn the names of the programs that do not, as a set
-- Tensors that several runs share are written once.
local tide = require "tide"
local t = require "tap"
local shell = require "shell"

local batch = {}

local list = {} -- {name =, source =, {before = {..}, after = {..}}, ..}
local scalars = {} -- tensors of one element, by type and value

-- The root of an emitted text: its name, whether it takes a room and a state, and the types of its numbers by place.
local function root_of(source)
  local name = source:match "td_root = %(void %*%)([%w_]+);"
  local params = source:match("void " .. name .. "(%b()) {\n")
  local function memory(kind) return "struct " .. name .. "_" .. kind .. " *" end
  local root, numbers, n = {name = name, room = params:find(memory "room", 1, true),
    state = params:find(memory "state", 1, true)}, {}, 0
  for param in params:sub(2, -2):gmatch "[^,]+" do
    if not param:find "^ ?struct td_run " and not param:find(memory "room", 1, true) and
      not param:find(memory "state", 1, true) then
      n = n + 1
      numbers[n] = not param:find("*", 1, true) and param:match "^ ?(.-) ?[%w_]+$" or false
    end
  end
  root.numbers = numbers
  return root
end

-- A function that calls the root with arguments from an array of places.
local function entry_of(source)
  local root = root_of(source)
  local args = {"run", root.room and "room" or nil}
  if root.state then args[#args + 1] = "state" end
  for i, number in ipairs(root.numbers) do
    args[#args + 1] = number and ("*(const %s *)arg[%d]"):format(number, i - 1) or ("arg[%d]"):format(i - 1)
  end
  return ("void td_entry(struct td_run *run, void *room, void *state, void *const *arg) {\n  %s(%s);\n}\n"):format(
    root.name, table.concat(args, ", "))
end

-- Argument i as a tensor: a scalar has one element, of the type that the root takes.
local function boxed(v, i, source)
  if type(v) == "userdata" then return v end
  local name = root_of(source).numbers[i]
  local types = {float = "f32", double = "f64", bool = "bool", _Bool = "bool"}
  local T = tide[types[name] or name:gsub("int(%d+)_t", "i%1"):gsub("ui", "u")]
  local key = ("%s %s"):format(T, v)
  scalars[key] = scalars[key] or tide.tensor(T[1], {v})
  return scalars[key]
end

local function all_boxed(args, source)
  local boxes = {}
  for i, v in ipairs(args) do boxes[i] = boxed(v, i, source) end
  return boxes
end

-- Adds a kernel, schedule or design, unless it has constants or foreign functions that its text does
-- not hold; raises where the CPU does not take it.
function batch.add(name, program, ...)
  local source = program:build {target = "cpu"}.source
  local x, args = {name = name, source = source .. entry_of(source)}, {...}
  if x.source:find("run->table", 1, true) or tostring(program):find("tide.extern", 1, true) then return end
  for i = 1, #args, 2 do
    x[#x + 1] = {before = all_boxed(args[i], x.source), after = all_boxed(args[i + 1], x.source)}
  end
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
      or line:match "^const uint64_t ([%w_]+)" or line:match "^void %*const ([%w_]+)"
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
#include "backends/c/runtime/runtime.h"
typedef void Entry(struct td_run *, void *, void *, void *const *);
typedef void Reset(struct td_run *, void *);

/* What an .npy file holds, in memory that ends with it; *bytes are there. */
static void *load(int tensor, size_t *bytes) {
  char name[64];
  unsigned char head[10];
  snprintf(name, sizeof name, "%d.npy", tensor);
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

/* What the run time would call of watch.c, which needs all of Tide: nobody watches here. */
void td_cpu_watch_open(struct td_run *run, const struct td_net *n) {
  (void)run, (void)n;
  exit(9);
}

void *td_cpu_watch_touch(struct td_run *run, const void *at, int write, int place) {
  (void)run, (void)at, (void)write, (void)place;
  exit(9);
}

static void *zeros(uint64_t bytes) {
  void *p = NULL;
  if (posix_memalign(&p, 64, bytes)) exit(9);
  return memset(p, 0, bytes);
}

/* The tensors before a run, then those after it. */
static void run(int program, int arguments, const int *tensor, Entry *entry, Reset *reset,
                uint64_t room_bytes, uint64_t state_bytes) {
  static const int no_interrupt;
  struct td_run r = {.interrupt = &no_interrupt, .host = &td_cpu_net_host};
  void *at[32], *room = zeros(room_bytes), *state = zeros(state_bytes);
  size_t bytes[32], n;
  fprintf(stderr, "program %d\n", program);
  for (int i = 0; i < arguments; i++) at[i] = load(tensor[i], &bytes[i]);
  reset(&r, state);
  entry(&r, room, state, at);
  if (r.fault) fprintf(stderr, "FAULT %d\n", program);
  for (int i = 0; i < arguments; i++) {
    void *want = load(tensor[arguments + i], &n);
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
  local number_of, tensors = {}, 0
  local function number(v)
    if not number_of[v] then
      tensors = tensors + 1
      number_of[v] = tensors
      v:save(("%s/%d.npy"):format(folder, tensors))
    end
    return number_of[v]
  end
  for i, x in ipairs(list) do
    units[#units + 1] = unit(i)
    if #units == each or i == #list then
      shell.write(("%s/%d.c"):format(folder, i), table.concat(units))
      units = {}
    end
    out[#out + 1] = ("Entry td_entry_%d; Reset td_reset_%d;\n" ..
      "extern const uint64_t td_room_bytes_%d, td_state_bytes_%d;\n"):format(i, i, i, i)
    for _, r in ipairs(x) do
      local numbers = {}
      for _, v in ipairs(r.before) do numbers[#numbers + 1] = number(v) end
      for _, v in ipairs(r.after) do numbers[#numbers + 1] = number(v) end
      calls[#calls + 1] = ("  run(%d, %d, (const int[]){%s, 0}, td_entry_%d, td_reset_%d, td_room_bytes_%d, " ..
        "td_state_bytes_%d);\n"):format(i, #r.before, table.concat(numbers, ", "), i, i, i, i)
    end
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

-- States that all programs compile with these flags and run to their end; returns those that leave other arguments than
-- they must, or fault: how, by number.
local function run(flags)
  local folder, here = t.tmp "c_batch", shell.here
  shell.plant(folder, {})
  write(folder, 50)
  local said = shell.output(([[cd '%s' && top='%s' && cc -std=gnu11 -w -ffp-contract=off %s -I"$top" ]]
    .. [[-I"$top/interp" *.c "$top/backends/cpu/net.c" -o all -lm 2>&1]]):format(folder, here, flags))
  t.eq(said, "")
  said = shell.output(("cd '%s' && ./all 2>&1"):format(folder))
  shell.output("rm -r " .. shell.quote(folder))
  t.ok(said:find "DONE", "stopped in " .. culprit(said) .. "\n" .. said:sub(-3000))
  local wrong = {}
  for what, i in said:gmatch "(%u+) (%d+)" do wrong[tonumber(i)] = what end
  return wrong
end

local function test(what, fn)
  if not os.execute "command -v cc >/dev/null 2>&1" then
    return t.skip(what, "there is no C compiler")
  end
  t.test(("%d programs %s"):format(#list, what), fn)
end

function batch.test(what, flags)
  test(what, function()
    local wrong = {}
    for i, how in pairs(run(flags)) do
      wrong[#wrong + 1] = ("%s %s\n%s"):format(how, list[i].name, list[i].source)
    end
    t.ok(#wrong == 0, table.concat(wrong, "\n"))
  end)
end

function batch.others(what, flags, fn)
  test(what, function()
    local names = {}
    for i in pairs(run(flags)) do names[list[i].name] = true end
    fn(names)
  end)
end

return batch
